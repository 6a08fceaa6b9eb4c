/* SPDX-License-Identifier: MIT */
/* A provider with every vice, each under a name of its own: isolate.c's tests choose three
 * procedures of it. It must never be loaded into the test itself. */
#include <openperflib/winbase.h>
#include <openperflib/windef.h>
#include <openperflib/winerror.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROCEDURE __attribute__((visibility("default"))) DWORD

static DWORD opened;

/* Writes up to eight characters of the answer. */
static DWORD answer(LPVOID *data, LPDWORD bytes, LPDWORD objects, const char *text)
{
    memcpy(*data, text, strlen(text));
    *data = (char *)*data + strlen(text);
    *bytes = (DWORD)strlen(text);
    *objects = 1;
    return ERROR_SUCCESS;
}

PROCEDURE good_open(LPWSTR names)
{
    opened++;
    return names && names[0] == 'x' ? 5 : ERROR_SUCCESS;
}

PROCEDURE good_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    char text[64];
    snprintf(text, sizeof text, "%c%c:%u:%u:%d", (char)query[0], (char)query[1], (unsigned)*bytes,
             (unsigned)opened, (int)getpid());
    query[0] = query[1] = 'z'; /* the copy is ours */
    return answer(data, bytes, objects, text);
}

PROCEDURE good_close(void)
{
    return 7;
}

/* ---- dying ---- */

PROCEDURE crash_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    return *(volatile DWORD *)0x1234;
}

PROCEDURE crash_open(LPWSTR names)
{
    return *(volatile DWORD *)0x1234;
}

PROCEDURE crash_close(void)
{
    return *(volatile DWORD *)0x1234;
}

PROCEDURE abort_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    abort();
}

PROCEDURE exit_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    exit(3);
}

PROCEDURE _exit_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    _exit(4);
}

PROCEDURE kill_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    kill(getpid(), SIGKILL);
    return ERROR_SUCCESS;
}

PROCEDURE thread_exit_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    pthread_exit(NULL);
}

__attribute__((noinline)) static int deeper(volatile char *above)
{
    volatile char room[4096];
    room[0] = (char)(above ? above[0] + 1 : 0);
    return deeper(room) + room[0];
}

PROCEDURE overflow_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    return (DWORD)deeper(NULL);
}

/* ---- not coming back ---- */

PROCEDURE loop_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    for (volatile int i = 0;; i++)
        ;
}

PROCEDURE nap_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    usleep(300000);
    return answer(data, bytes, objects, "late");
}

PROCEDURE nap_open(LPWSTR names)
{
    usleep(300000);
    return ERROR_SUCCESS;
}

PROCEDURE stop_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    raise(SIGSTOP);
    return ERROR_SUCCESS;
}
