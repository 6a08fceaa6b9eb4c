/* SPDX-License-Identifier: MIT */
/*
 * The provider Visitor, which shows the process that runs it: an object with the number of the
 * process and how often it was queried there. It is object 22222, or the one that Linkage\Export
 * names, so that many services may share the library. Its other procedures crash, sleep or never
 * return, after they have appended the process's number to the file "notes" in OPENPERFLIB_ROOT.
 */
#include <openperflib/build.h>
#include <winerror.h>
#include <winperf.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__declspec(dllexport) PM_OPEN_PROC visitor_open;
__declspec(dllexport) PM_CLOSE_PROC visitor_close;
__declspec(dllexport) PM_COLLECT_PROC visitor_collect, visitor_crash, visitor_hang, visitor_nap;

static DWORD visits, object = 22222;

DWORD APIENTRY visitor_open(LPWSTR devices)
{
    if (devices && *devices)
        for (object = 0; *devices >= '0' && *devices <= '9'; devices++)
            object = object * 10 + (DWORD)(*devices - '0');
    return ERROR_SUCCESS;
}

DWORD APIENTRY visitor_close(void)
{
    return ERROR_SUCCESS;
}

DWORD APIENTRY visitor_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    const opl_build_object_info info = {object, object + 1, 100, 0, true, 0, 0, 0};
    const opl_build_counter counters[] = {
        {object + 2, object + 3, PERF_COUNTER_RAWCOUNT, 0, 100, 0, 0},
        {object + 4, object + 5, PERF_COUNTER_RAWCOUNT, 0, 100, 0, 0},
    };
    (void)query;
    opl_build build;
    opl_build_init(&build, *data, *bytes);
    opl_build_object(&build, &info, counters, 2);
    opl_build_dword(&build, 0, (DWORD)getpid());
    opl_build_dword(&build, 1, ++visits);
    return opl_build_collect(&build, data, bytes, types);
}

static void note(void)
{
    char line[32], path[512];
    int length = snprintf(line, sizeof line, "%d\n", (int)getpid());
    const char *root = getenv("OPENPERFLIB_ROOT");
    snprintf(path, sizeof path, "%s/notes", root ? root : "/nowhere");
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd >= 0 && write(fd, line, (size_t)length) == length)
        close(fd);
}

DWORD APIENTRY visitor_crash(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    (void)query, (void)data, (void)bytes, (void)types;
    note();
    abort();
}

DWORD APIENTRY visitor_hang(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    (void)query, (void)data, (void)bytes, (void)types;
    note();
    for (;;)
        pause();
}

DWORD APIENTRY visitor_nap(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    usleep(200000);
    return visitor_collect(query, data, bytes, types);
}
