/* SPDX-License-Identifier: MIT */
/*
 * costly: one object that answers both kinds of query, with more counters for a query that may take
 * longer. Global returns the number of entries of a folder, which needs one read of that folder.
 * Costly, and a query of the object's number, also return the number and size of the files below
 * the folder, which needs a walk through all subfolders. The walk runs at a lower priority, so that
 * it does not slow down other programs.
 *
 * The folder is the value Folder of Services\CostlyFolder\Parameters, or else /etc.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* SCHED_BATCH, nftw */
#endif
#include "../common/sample.h"
#include <openperflib/build.h>
#include <winerror.h>
#include <winperf.h>

#include "offsets.h"

#include <dirent.h>
#include <ftw.h>
#include <pthread.h>
#include <sched.h>

static DWORD name, help; /* the registry values First Counter and First Help */
static char folder[4096] = "/etc";

static void readFolder(void)
{
    DWORD size = sizeof folder;
    RegGetValueA(HKEY_LOCAL_MACHINE,
                 "SYSTEM\\CurrentControlSet\\Services\\CostlyFolder\\Parameters", "Folder",
                 RRF_RT_REG_SZ, NULL, folder, &size);
}

/* ---- counting ---- */

static DWORD entries(void)
{
    DWORD count = 0;
    DIR *dir = opendir(folder);
    if (!dir)
        return 0;
    while (readdir(dir))
        count++;
    closedir(dir);
    return count > 2 ? count - 2 : 0; /* not "." and ".." */
}

/* nftw passes no data to its callback, so only one walk at a time is possible. */
static pthread_mutex_t walking = PTHREAD_MUTEX_INITIALIZER;
static ULONGLONG files, fileBytes;

static int visit(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)path, (void)place;
    if (kind == FTW_F) {
        files++;
        fileBytes += (ULONGLONG)status->st_size;
    }
    return 0;
}

static void walk(ULONGLONG *retFiles, ULONGLONG *retBytes)
{
    pthread_mutex_lock(&walking);
    files = fileBytes = 0;
    nftw(folder, visit, 16, FTW_PHYS | FTW_MOUNT);
    *retFiles = files;
    *retBytes = fileBytes;
    pthread_mutex_unlock(&walking);
}

/* ---- the thread's priority ---- */

/* SCHED_BATCH is the only lower priority that a thread without rights can undo: a nice value may
 * only be raised, and leaving SCHED_IDLE needs RLIMIT_NICE. A thread with another policy than
 * SCHED_OTHER keeps its policy. */
static BOOL lowerPriority(void)
{
    const struct sched_param none = {0};
    return sched_getscheduler(0) == SCHED_OTHER && sched_setscheduler(0, SCHED_BATCH, &none) == 0;
}

static void restorePriority(BOOL lowered)
{
    const struct sched_param none = {0};
    if (lowered)
        sched_setscheduler(0, SCHED_OTHER, &none);
}

/* ---- the provider ---- */

DWORD CALLBACK Open(LPWSTR devices)
{
    (void)devices;
    readFolder();
    return sampleNumbers(PERFORMANCE_KEY("CostlyFolder"), &name, &help);
}

static void writeObject(opl_build *build, BOOL everything)
{
    /* clang-format off */
    const opl_build_counter counters[] = {
        {name + COSTLY_ENTRIES, help + COSTLY_ENTRIES, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_NOVICE, 0, 0},
        {name + COSTLY_FILES, help + COSTLY_FILES, PERF_COUNTER_LARGE_RAWCOUNT, -3, PERF_DETAIL_ADVANCED, 0, 0},
        {name + COSTLY_BYTES, help + COSTLY_BYTES, PERF_COUNTER_LARGE_RAWCOUNT, -6, PERF_DETAIL_ADVANCED, 0, 0},
    };
    /* clang-format on */
    opl_build_object_info object = {0};
    object.name_index = name + COSTLY_FOLDER;
    object.help_index = help + COSTLY_FOLDER;
    object.single = true;
    opl_build_object(build, &object, counters, everything ? 3 : 1);
    opl_build_dword(build, 0, entries());
    if (everything) {
        ULONGLONG below, bytes;
        BOOL lowered = lowerPriority();
        walk(&below, &bytes);
        restorePriority(lowered);
        opl_build_large(build, 1, below);
        opl_build_large(build, 2, bytes);
    }
}

DWORD WINAPI Collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    opl_build build;
    Request request = sampleRequest(query, name + COSTLY_FOLDER);
    opl_build_init(&build, *data, *bytes);
    if (request != NOT_REQUESTED)
        writeObject(&build, request != REQUEST_GLOBAL);
    return opl_build_collect(&build, data, bytes, types);
}

DWORD WINAPI Close(void)
{
    return ERROR_SUCCESS;
}
