/* SPDX-License-Identifier: MIT */
/*
 * Events are the kernel's: a handle is the number of an eventfd, never 0 to 2. An auto-reset event
 * is read by the waiter, without blocking; a manual-reset event is only polled.
 */
#include "shims.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static HANDLE create_event(BOOL stays_set, BOOL is_set, BOOL named)
{
    if (named) {
        SetLastError(ERROR_NOT_SUPPORTED);
        return NULL;
    }
    int first = eventfd(is_set ? 1 : 0, EFD_CLOEXEC | (stays_set ? 0 : EFD_NONBLOCK));
    int event = first >= 0 && first < 3 ? fcntl(first, F_DUPFD_CLOEXEC, 3) : first;
    if (event != first)
        close(first);
    if (event < 0)
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
    return event < 0 ? NULL : (HANDLE)(intptr_t)event;
}

HANDLE WINAPI CreateEventA(LPSECURITY_ATTRIBUTES security, BOOL manual_reset, BOOL initial_state,
                           LPCSTR name)
{
    return create_event(manual_reset, initial_state, name != NULL);
}

HANDLE WINAPI CreateEventW(LPSECURITY_ATTRIBUTES security, BOOL manual_reset, BOOL initial_state,
                           LPCWSTR name)
{
    return create_event(manual_reset, initial_state, name != NULL);
}

/* The descriptor of an event; -1 and ERROR_INVALID_HANDLE for anything else, so that nothing else
 * is read, written or closed. An eventfd is recognized by its missing file type. */
static int event_of(HANDLE handle)
{
    struct stat st;
    intptr_t event = (intptr_t)handle;
    if (event < 3 || event > INT32_MAX || fstat((int)event, &st) != 0 || st.st_mode & S_IFMT) {
        SetLastError(ERROR_INVALID_HANDLE);
        return -1;
    }
    return (int)event;
}

BOOL WINAPI SetEvent(HANDLE handle)
{
    const uint64_t one = 1;
    int event = event_of(handle);
    if (event < 0)
        return FALSE;
    if (write(event, &one, sizeof one) < 0 && errno != EAGAIN) /* EAGAIN: already set many times */
        return opl_shim_fail(ERROR_INVALID_HANDLE);
    return TRUE;
}

BOOL WINAPI ResetEvent(HANDLE handle)
{
    uint64_t count;
    int event = event_of(handle);
    struct pollfd look = {.fd = event, .events = POLLIN};
    if (event < 0)
        return FALSE;
    /* a read of an unset manual-reset event would block; no other thread reads it in between */
    if (poll(&look, 1, 0) > 0 && read(event, &count, sizeof count) < 0 && errno != EAGAIN)
        return opl_shim_fail(ERROR_INVALID_HANDLE);
    return TRUE;
}

/* ---- waiting ---- */

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Takes an event that was set. False: another waiter took it first (auto-reset). */
static BOOL take(int event)
{
    uint64_t count;
    int flags = fcntl(event, F_GETFL);
    return flags < 0 || !(flags & O_NONBLOCK) || read(event, &count, sizeof count) > 0;
}

static DWORD wait_for(int event, DWORD milliseconds)
{
    int64_t end = now_ms() + milliseconds;
    for (;;) {
        struct pollfd awaited = {.fd = event, .events = POLLIN};
        int64_t left = milliseconds == INFINITE ? -1 : end - now_ms();
        if (left < 0 && milliseconds != INFINITE)
            left = 0;
        int count = poll(&awaited, 1, left > INT32_MAX ? INT32_MAX : (int)left);
        if (count < 0 && errno != EINTR) {
            SetLastError(ERROR_INVALID_HANDLE);
            return WAIT_FAILED;
        }
        if (count > 0 && take(event))
            return WAIT_OBJECT_0;
        if (count == 0 && left == 0)
            return WAIT_TIMEOUT;
    }
}

DWORD WINAPI WaitForSingleObject(HANDLE handle, DWORD milliseconds)
{
    int descriptor;
    switch (opl_shim_kind(handle, &descriptor)) {
    case SHIM_EVENT:
    case SHIM_PROCESS:
        return wait_for(descriptor, milliseconds);
    case SHIM_MUTEX:
        return opl_shim_mutex_wait(descriptor, milliseconds);
    default:
        SetLastError(ERROR_INVALID_HANDLE);
        return WAIT_FAILED;
    }
}
