/* SPDX-License-Identifier: MIT */
/* Writes the blocks (files with answers) that the tests of pcview read: odd names, texts, parents,
 * equal names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openperflib/build.h>
#include <openperflib/unstable.h>
#include <winerror.h>
#include <winperf.h>

enum { SIZE = 65536, HEADER = 104 };
enum { SECOND_100NS = 10000000 };

static unsigned char storage[SIZE];

static void put_header(size_t bytes, DWORD objects, int seconds)
{
    PERF_DATA_BLOCK header = {
        .Signature = {'P', 'E', 'R',          'F'},
        .LittleEndian = 1,
        .Version = 1,
        .Revision = 1,
        .TotalByteLength = (DWORD)(HEADER + bytes),
        .HeaderLength = HEADER,
        .NumObjectTypes = objects,
        .DefaultObject = 238,
        .SystemTime = { 2026, 1, 4, 1,   12, 30, (WORD)seconds, 5},
        .SystemNameLength = 8,
        .SystemNameOffset = 88,
    };
    static const WCHAR name[] = {'B', 'O', 'X', 0};
    header.PerfTime.QuadPart = 1000000000 + (LONGLONG)seconds * SECOND_100NS;
    header.PerfFreq.QuadPart = SECOND_100NS;
    header.PerfTime100nSec.QuadPart = 134000000000000000 + (LONGLONG)seconds * SECOND_100NS;
    memcpy(storage, &header, sizeof header);
    memcpy(storage + 88, name, sizeof name);
}

static void save(opl_build *build, const char *folder, const char *file, int seconds)
{
    char path[4096];
    DWORD bytes = 0, objects = 0;
    LPVOID data = storage + HEADER;
    if (opl_build_collect(build, &data, &bytes, &objects))
        abort();
    put_header(bytes, objects, seconds);
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *out = fopen(path, "w");
    if (!out || fwrite(storage, 1, HEADER + bytes, out) != HEADER + bytes || fclose(out))
        abort();
    memset(storage, 0, sizeof storage);
}

static opl_build begin(void)
{
    opl_build build;
    opl_build_init(&build, storage + HEADER, SIZE - HEADER);
    return build;
}

/* docs/windows/articles.md#c36: a text counter such as "Hello, World!", a hexadecimal number, and a
 * counter type without a name. */
static void write_texts(const char *folder)
{
    static const opl_build_object_info info = {5000, 5001, 100, 0, true, 0, 0, 0};
    static const opl_build_counter counters[] = {
        {5002, 5003, PERF_COUNTER_TEXT,         0, 100, 64, 0},
        {5004, 5005, PERF_COUNTER_RAWCOUNT_HEX, 0, 100, 0,  0},
        {5006, 5007, 0x000d0500,                0, 100, 8,  0},
        {5008, 5009, PERF_COUNTER_NODATA,       0, 100, 0,  0},
    };
    opl_build build = begin();
    opl_build_object(&build, &info, counters, 4);
    opl_build_text(&build, 0, "Hello, \033[31mWorld!");
    opl_build_dword(&build, 1, 0xbeef);
    opl_build_large(&build, 2, 77);
    save(&build, folder, "texts.perf", 0);
}

/* docs/windows/articles.md#c18, docs/windows/articles.md#c19: instances with parents, with
 * UniqueIDs instead of names, with equal names, and with names that contain control characters of
 * terminals. */
static void write_names(const char *folder)
{
    static const opl_build_object_info parent = {230, 231, 100, 0, false, 0, 0, 0};
    static const opl_build_object_info child = {232, 233, 100, 0, false, 0, 0, 0};
    static const opl_build_counter counter = {680, 681, PERF_COUNTER_RAWCOUNT, 0, 100, 0, 0};
    static const char *const parents[] = {"bash", "bash", "ev\033[2Jil\n",
                                          "\xe6\x97\xa5\xe6\x9c\xac"};
    opl_build build = begin();
    opl_build_object(&build, &parent, &counter, 1);
    for (DWORD i = 0; i < 4; i++) {
        opl_build_instance(&build, parents[i]);
        opl_build_dword(&build, 0, i + 1);
    }
    opl_build_object(&build, &child, &counter, 1);
    for (DWORD i = 0; i < 4; i++) {
        opl_build_instance_full(&build, "0", 1, 230, i, i == 3 ? 4711 : PERF_NO_UNIQUE_ID);
        opl_build_dword(&build, 0, 10 * i);
    }
    save(&build, folder, "names.perf", 0);
}

struct process {
    const char *name;
    DWORD number;
    LONGLONG start, time;
};

/* Writes a sample of processes. In the second sample, one new process has the name of an earlier
 * process, and another one has the number of an earlier process. */
static void write_processes(const char *folder, const char *file, int seconds,
                            const struct process *processes, size_t count)
{
    const opl_build_object_info info = {
        230,         231, 100, 0, false, 0, 134000000000000000 + (LONGLONG)seconds * SECOND_100NS,
        SECOND_100NS};
    static const opl_build_counter counters[] = {
        {6,   7,   PERF_100NSEC_TIMER,    0, 100, 0, 0},
        {684, 685, PERF_ELAPSED_TIME,     0, 100, 0, 0},
        {784, 785, PERF_COUNTER_RAWCOUNT, 0, 100, 0, 0},
    };
    opl_build build = begin();
    opl_build_object(&build, &info, counters, 3);
    for (size_t i = 0; i < count; i++) {
        opl_build_instance(&build, processes[i].name);
        opl_build_large(&build, 0, (ULONGLONG)processes[i].time);
        opl_build_large(&build, 1, (ULONGLONG)processes[i].start);
        opl_build_dword(&build, 2, processes[i].number);
    }
    save(&build, folder, file, seconds);
}

int main(int argc, char **argv)
{
    static const struct process first[] = {
        {"sh",                 10, 133999999000000000, 5000000  },
        {"sh",                 11, 133999999000000000, 90000000 },
        {"worker",             12, 133999999000000000, 70000000 },
        {"kworker/0:1-events", 14, 133999999000000000, 10000000 },
        {"_Total",             0,  134000000000000000, 175000000},
    };
    static const struct process second[] = {
  /* the first process "sh" has ended; this one was the second, "sh#1", before */
        {"sh",          11, 133999999000000000, 95000000 },
 /* a new process with the number of an earlier one */
        {"worker",      12, 134000000005000000, 80000000 },
        {"sh",          13, 134000000005000000, 1000     }, /* a new process */
  /* the same kernel thread as before, whose name shows its new work */
        {"kworker/0:1", 14, 133999999000000000, 12000000 },
 /* _Total has the present time as its start */
        {"_Total",      0,  134000000010000000, 187001000},
    };
    if (argc != 2)
        return 2;
    write_texts(argv[1]);
    write_names(argv[1]);
    write_processes(argv[1], "first.perf", 0, first, 5);
    write_processes(argv[1], "second.perf", 1, second, 5);
    return 0;
}
