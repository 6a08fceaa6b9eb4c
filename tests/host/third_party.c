/* SPDX-License-Identifier: MIT */
/*
 * A correct third-party provider. Its registration defines what it does: the value Linkage\Export
 * has the number of its object, and then words: "gate" waits while the file "gate" exists in the
 * folder OPENPERFLIB_ROOT, "sleep N" takes N ms in Collect, "open N" in Open, "big N" writes N
 * bytes, "hog" as many as fit, "leak" keeps 100 MiB each time, "crash" and "exit" end the process
 * in Collect, "fall" crashes in Close, "lost" acts as if Open found no First Counter, "observe"
 * reads /proc files of the process whose number is in the file "observed" of that folder. The file
 * "notes" there gets a line for each call, and one if two threads call at the same time.
 */
#include <openperflib/build.h>
#include <windows.h>
#include <winperf.h>

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
EXPORT BOOL WINAPI DllMain(HINSTANCE instance, DWORD reason, LPVOID reserved);
EXPORT DWORD third_party_open(LPWSTR names);
EXPORT DWORD third_party_close(void);
EXPORT DWORD third_party_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types);

enum { MOST_INSTANCES = 4096 };
static struct {
    unsigned object, sleep_ms, open_ms, big;
    bool gate, crash, exit, fall, lost, hog, leak, observe;
} mode;
static atomic_int inside;

static FILE *open_file(const char *name, const char *how)
{
    char path[512];
    const char *root = getenv("OPENPERFLIB_ROOT");
    snprintf(path, sizeof path, "%s/%s", root ? root : "/nowhere", name);
    return fopen(path, how);
}

static void note(const char *what)
{
    char line[128];
    FILE *file = open_file("notes", "a");
    if (!file)
        return;
    snprintf(line, sizeof line, "%u %d %s\n", mode.object, (int)getpid(), what);
    fputs(line, file);
    fclose(file);
}

BOOL WINAPI DllMain(HINSTANCE instance, DWORD reason, LPVOID reserved)
{
    note(reason == DLL_PROCESS_ATTACH ? "attach" : "detach");
    return TRUE;
}

static void take_word(const char *word)
{
    sscanf(word, "%u", &mode.object);
    sscanf(word, "sleep %u", &mode.sleep_ms);
    sscanf(word, "open %u", &mode.open_ms);
    sscanf(word, "big %u", &mode.big);
    mode.gate |= !strcmp(word, "gate");
    mode.crash |= !strcmp(word, "crash");
    mode.exit |= !strcmp(word, "exit");
    mode.fall |= !strcmp(word, "fall");
    mode.lost |= !strcmp(word, "lost");
    mode.hog |= !strcmp(word, "hog");
    mode.leak |= !strcmp(word, "leak");
    mode.observe |= !strcmp(word, "observe");
}

DWORD third_party_open(LPWSTR names)
{
    char word[32];
    size_t used = 0;
    memset(&mode, 0, sizeof mode);
    for (; names && *names; names++) {
        for (used = 0; *names && used + 1 < sizeof word; names++)
            word[used++] = (char)*names;
        word[used] = '\0';
        take_word(word);
    }
    note("open");
    usleep(mode.open_ms * 1000);
    return mode.lost ? ERROR_FILE_NOT_FOUND : ERROR_SUCCESS;
}

DWORD third_party_close(void)
{
    note("close");
    if (mode.fall)
        raise(SIGSEGV);
    return ERROR_SUCCESS;
}

static void leak(void)
{
    enum { LEAK = 100 << 20 };
    char *memory = mmap(NULL, LEAK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED)
        memset(memory, 1, LEAK);
}

static bool can_read(const char *process, const char *name)
{
    char path[64], text[256];
    snprintf(path, sizeof path, "/proc/%s/%s", process, name);
    FILE *file = fopen(path, "r");
    bool read = file && fread(text, 1, sizeof text, file) > 0;
    if (file)
        fclose(file);
    return read;
}

static void observe(void)
{
    char target[256], line[96], process[16] = "";
    FILE *file = open_file("observed", "r");
    if (!file || !fgets(process, sizeof process, file))
        return;
    fclose(file);
    snprintf(line, sizeof line, "/proc/%s/exe", process);
    bool link = readlink(line, target, sizeof target) > 0;
    snprintf(line, sizeof line, "observe: exe %s, io %s, stat %s, signal %s",
             link ? "seen" : "refused", can_read(process, "io") ? "seen" : "refused",
             can_read(process, "stat") ? "seen" : "refused",
             kill(atoi(process), SIGCONT) ? "refused" : "sent");
    note(line);
}

static void spend_time(void)
{
    if (mode.observe)
        observe();
    for (FILE *gate; mode.gate && (gate = open_file("gate", "r")); usleep(2000))
        fclose(gate);
    usleep(mode.sleep_ms * 1000);
    if (mode.crash)
        raise(SIGSEGV);
    if (mode.exit)
        exit(3);
    if (mode.leak)
        leak();
}

DWORD third_party_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    const opl_build_counter counter = {.name_index = mode.object + 2,
                                       .help_index = mode.object + 3,
                                       .type = PERF_COUNTER_RAWCOUNT};
    const opl_build_object_info object = {.name_index = mode.object, .help_index = mode.object + 1};
    char text[64];
    opl_build build;
    if (atomic_fetch_add(&inside, 1) != 0)
        note("overlap");
    snprintf(text, sizeof text, "collect %p %u", *data, *bytes);
    note(text);
    spend_time();
    opl_build_init(&build, *data, *bytes);
    opl_build_object(&build, &object, &counter, 1);
    unsigned most = mode.hog ? (*bytes - 64 - 40) / 40 : MOST_INSTANCES;
    for (unsigned i = 0; i == 0 || (i < most && (mode.hog || i * 48 < mode.big)); i++) {
        opl_build_instance(&build, "one");
        opl_build_dword(&build, 0, i);
    }
    DWORD status = opl_build_collect(&build, data, bytes, types);
    atomic_fetch_sub(&inside, 1);
    return status;
}
