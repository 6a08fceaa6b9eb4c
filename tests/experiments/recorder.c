/* SPDX-License-Identifier: MIT */
/*
 * The minimal provider of the second source article. Where the article's provider opens a message
 * box, this one appends a line to $OPENPERFLIB_ROOT/notes: the ids of the process and thread, and
 * the call. The procedure names in the registration choose its answers. It is built twice: the
 * second library (SECOND) marks its notes and has another object.
 */
#include <openperflib/build.h>
#include <windows.h>
#include <winperf.h>

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifdef SECOND
#define SIGN "second "
#define OBJECT 33332
#else
#define SIGN ""
#define OBJECT 22222
#endif
#define EXPORT __declspec(dllexport)
#define COLLECT(name) EXPORT DWORD name(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)

EXPORT BOOL APIENTRY DllMain(HINSTANCE self, DWORD reason, LPVOID reserved);
EXPORT DWORD record_open(LPWSTR names);
EXPORT DWORD record_open_denied(LPWSTR names);
EXPORT DWORD record_close(void);
COLLECT(record_forgets);
COLLECT(record_nothing);
COLLECT(record_object);
COLLECT(record_details);
COLLECT(record_system);
COLLECT(record_error);
COLLECT(record_more_data);
COLLECT(record_slow);
COLLECT(record_very_slow);
COLLECT(record_hangs);
COLLECT(record_below);
COLLECT(record_exclusive);
COLLECT(record_unparented);

static void note(const char *what, const WCHAR *text)
{
    char path[256], line[512];
    const char *root = getenv("OPENPERFLIB_ROOT");
    snprintf(path, sizeof path, "%s/notes", root ? root : "/nonexistent");
    int length = snprintf(line, sizeof line, "%d %d " SIGN "%s", getpid(), gettid(), what);
    if (text) {
        line[length++] = ' ';
        line[length++] = '"';
        for (; *text && length < 500; text++)
            line[length++] = *text < 128 ? (char)*text : '?';
        line[length++] = '"';
    }
    line[length++] = '\n';
    int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file >= 0 && write(file, line, (size_t)length) == length)
        close(file);
}

BOOL APIENTRY DllMain(HINSTANCE self, DWORD reason, LPVOID reserved)
{
    static const char *const reasons[] = {"detach", "attach", "thread attach", "thread detach"};
    note(reason < 4 ? reasons[reason] : "unknown", NULL);
    return TRUE;
}

DWORD record_open(LPWSTR names)
{
    note("Open", names);
    return ERROR_SUCCESS;
}

DWORD record_open_denied(LPWSTR names)
{
    note("Open", names);
    return ERROR_ACCESS_DENIED;
}

DWORD record_close(void)
{
    note("Close", NULL);
    return ERROR_SUCCESS;
}

/* The article's first version of Collect: it sets neither length nor count. */
COLLECT(record_forgets)
{
    note("Collect", query);
    return ERROR_SUCCESS;
}

COLLECT(record_nothing)
{
    note("Collect", query);
    *bytes = *types = 0;
    return ERROR_SUCCESS;
}

static DWORD answer(DWORD object, DWORD counters, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    const opl_build_counter definitions[] = {
        {object + 2, object + 3, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_NOVICE, 0, 0},
        {object + 4, object + 5, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_NOVICE, 0, 0},
    };
    const opl_build_object_info info = {
        .name_index = object, .help_index = object + 1, .default_counter = 0, .single = true};
    opl_build build;
    opl_build_init(&build, *data, *bytes);
    opl_build_object(&build, &info, definitions, counters);
    for (DWORD i = 0; i < counters; i++)
        opl_build_dword(&build, i, 42 + i);
    return opl_build_collect(&build, data, bytes, types);
}

COLLECT(record_object)
{
    note("Collect", query);
    return answer(OBJECT, 1, data, bytes, types);
}

/* Returns two counters for the query Costly, and one for other queries. */
COLLECT(record_details)
{
    note("Collect", query);
    return answer(OBJECT, *query == 'C' ? 2 : 1, data, bytes, types);
}

/* Returns another provider's object. */
COLLECT(record_system)
{
    note("Collect", query);
    return answer(2, 1, data, bytes, types);
}

COLLECT(record_error)
{
    note("Collect", query);
    *bytes = *types = 0;
    return ERROR_GEN_FAILURE;
}

COLLECT(record_more_data)
{
    note("Collect", query);
    *bytes = *types = 0;
    return ERROR_MORE_DATA;
}

COLLECT(record_slow)
{
    note("Collect", query);
    usleep(300000);
    return answer(OBJECT, 1, data, bytes, types);
}

COLLECT(record_very_slow)
{
    note("Collect", query);
    usleep(1500000);
    return answer(OBJECT, 1, data, bytes, types);
}

COLLECT(record_hangs)
{
    note("Collect", query);
    for (;;)
        sleep(3600);
}

/* Writes before the buffer, and so damages the guard. */
COLLECT(record_below)
{
    note("Collect", query);
    ((unsigned char *)*data)[-1] ^= 1;
    return answer(OBJECT, 1, data, bytes, types);
}

/* Appends "entered twice" to the notes if it is called while another thread is in it, which must
 * not happen. Other calls are not noted. */
COLLECT(record_exclusive)
{
    static atomic_int inside;
    if (atomic_fetch_add(&inside, 1))
        note("entered twice", NULL);
    usleep(500);
    atomic_fetch_sub(&inside, 1);
    return answer(OBJECT, 1, data, bytes, types);
}

/* Switches off the signal that ends this helper process when its parent ends. (A provider that
 * calls setuid() has the same effect.) */
COLLECT(record_unparented)
{
    note("Collect", query);
    prctl(PR_SET_PDEATHSIG, 0);
    return answer(OBJECT, 1, data, bytes, types);
}
