/* SPDX-License-Identifier: MIT */
/*
 * Processor time of one query for the system objects, together and one by one, beside a reader that
 * only reads the same files through descriptors that stay open. One line per result.
 */
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <openperflib/winerror.h>
#include <openperflib/winperf.h>

DWORD APIENTRY OpenOSObject(LPWSTR devices);
DWORD APIENTRY CollectOSObjectData(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types);
DWORD APIENTRY CloseOSObject(void);

enum { ROUNDS = 501, MOST_FILES = 1024 };

static unsigned char room[8 << 20];
static int files[MOST_FILES];
static size_t file_count;

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int by_size(const void *left, const void *right)
{
    double one = *(const double *)left, other = *(const double *)right;
    return (one > other) - (one < other);
}

/* The median over all rounds of one round's processor time. */
static double measure(void (*round_of)(void *self), void *self)
{
    static double times[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        double start = now_us();
        round_of(self);
        times[i] = now_us() - start;
    }
    qsort(times, ROUNDS, sizeof *times, by_size);
    return times[ROUNDS / 2];
}

static void query(void *self)
{
    LPVOID data = room;
    DWORD bytes = sizeof room, types;
    if (CollectOSObjectData(self, &data, &bytes, &types) || !types)
        fputs("bench: no answer\n", stderr), exit(1);
}

static void read_files(void *self)
{
    for (size_t i = 0; i < file_count; i++)
        for (off_t at = 0, got; (got = pread(files[i], room, sizeof room, at)) > 0;)
            at += got;
}

static void open_files(const char *pattern)
{
    glob_t found;
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc && file_count < MOST_FILES; i++)
            if ((files[file_count] = open(found.gl_pathv[i], O_RDONLY | O_CLOEXEC)) >= 0)
                file_count++;
    globfree(&found);
}

static void report(const char *name, const char *words)
{
    WCHAR wide[64] = {0};
    for (size_t i = 0; words[i] && i < 63; i++)
        wide[i] = (WCHAR)words[i];
    printf("system %-12s %8.2f us\n", name, measure(query, wide));
}

int main(void)
{
    static const char *const read_too[] = {
        "/proc/stat",
        "/proc/loadavg",
        "/proc/meminfo",
        "/proc/vmstat",
        "/proc/interrupts",
        "/proc/softirqs",
        "/proc/swaps",
        "/proc/sysvipc/sem",
        "/sys/devices/system/cpu/cpu[0-9]*/cpuidle/state[1-9]/time",
        "/sys/devices/system/cpu/cpu[0-9]*/cpuidle/state[1-9]/usage"};
    if (OpenOSObject(NULL))
        return fputs("bench: perfos does not open\n", stderr), 1;
    report("together", "2 4 86 238 260 700");
    for (size_t i = 0; i < sizeof read_too / sizeof *read_too; i++)
        open_files(read_too[i]);
    printf("system %-12s %8.2f us\n", "bare-reader", measure(read_files, NULL));
    report("System", "2");
    report("Memory", "4");
    report("Cache", "86");
    report("Processor", "238");
    report("Objects", "260");
    report("Paging-File", "700");
    return CloseOSObject() ? 1 : 0;
}
