/* SPDX-License-Identifier: MIT */
/*
 * The application of appshare: a workshop that does ten jobs a second and publishes its numbers in
 * named shared memory. It does not use counters. `appshare_workshop SECONDS` ends by itself;
 * without a number it runs until it is stopped.
 */
#include "shared.h"

#include <stdio.h>
#include <stdlib.h>

/* Creates the named memory and its guard. NULL: another workshop runs already, or there is no
 * memory. */
static struct appshare *openMemory(HANDLE *guard)
{
    HANDLE memory;
    *guard = CreateMutexA(NULL, FALSE, APPSHARE_GUARD);
    memory = CreateFileMappingA(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0,
                                sizeof(struct appshare), APPSHARE_MEMORY);
    if (!*guard || !memory || GetLastError() == ERROR_ALREADY_EXISTS)
        return NULL;
    /* the handle stays open, because the name exists only as long as a handle is open */
    return (struct appshare *)MapViewOfFile(memory, FILE_MAP_ALL_ACCESS, 0, 0, 0);
}

static void work(struct appshare *shared, HANDLE guard)
{
    WaitForSingleObject(guard, INFINITE);
    shared->version = 1;
    shared->done++;
    shared->waiting = (DWORD)(rand() % 8);
    shared->sum = shared->done + shared->waiting;
    ReleaseMutex(guard);
}

int main(int argc, char **argv)
{
    HANDLE guard;
    struct appshare *shared;
    int seconds = argc > 1 ? atoi(argv[1]) : 0;
    long jobs;
    if (argc > 2 || (argc == 2 && seconds <= 0)) {
        fputs("Usage: appshare_workshop [SECONDS]\n", stderr);
        return 2;
    }
    shared = openMemory(&guard);
    if (!shared) {
        fprintf(
            stderr,
            "appshare_workshop: another workshop is running, or there is no memory (error %u)\n",
            (unsigned)GetLastError());
        return 1;
    }
    for (jobs = 0; seconds <= 0 || jobs < 10L * seconds; jobs++) {
        work(shared, guard);
        if (jobs == 0) {
            puts("working");
            fflush(stdout);
        }
        Sleep(100);
    }
    return 0;
}
