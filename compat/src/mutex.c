/* SPDX-License-Identifier: MIT */
/*
 * Mutexes between threads and, with a name, between processes: the C library's robust mutexes, in
 * shared memory (object.c). If an owner is killed, the next waiter gets the mutex with
 * WAIT_ABANDONED.
 */
#include "shims.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A mutex that this module has mapped. The memory must stay mapped while the mutex is held. */
struct page {
    struct page *next;
    dev_t device;
    ino_t inode;
    unsigned handles, held;
    void *memory;
};
static struct page *pages;

static pthread_mutex_t *mutex_in(const struct page *page)
{
    return (pthread_mutex_t *)((char *)page->memory + SHIM_MUTEX_AT);
}

/* Finds a mutex that this module has mapped; NULL: it is not mapped. The caller holds
 * opl_shim_lock. */
static struct page *find(int file)
{
    struct stat st;
    struct page *page = fstat(file, &st) == 0 ? pages : NULL;
    while (page && (page->device != st.st_dev || page->inode != st.st_ino))
        page = page->next;
    return page;
}

static struct page *map(int file)
{
    struct stat st;
    struct page *page = fstat(file, &st) == 0 ? calloc(1, sizeof *page) : NULL;
    if (!page)
        return NULL;
    *page = (struct page){.next = pages, .device = st.st_dev, .inode = st.st_ino};
    page->memory = mmap(NULL, SHIM_HEADER, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (page->memory == MAP_FAILED) {
        free(page);
        return NULL;
    }
    pages = page;
    return page;
}

/* ---- creating ---- */

bool opl_shim_mutex_prepare(int file)
{
    pthread_mutexattr_t kind;
    char *memory = mmap(NULL, SHIM_HEADER, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
        return false;
    bool good = pthread_mutexattr_init(&kind) == 0;
    if (good) {
        good = pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED) == 0 &&
               pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST) == 0 &&
               pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE) == 0 &&
               pthread_mutex_init((pthread_mutex_t *)(memory + SHIM_MUTEX_AT), &kind) == 0;
        pthread_mutexattr_destroy(&kind);
    }
    munmap(memory, SHIM_HEADER);
    return good;
}

/* Maps the mutex. A mutex of a process with another word size is refused, because its layout
 * differs. */
static DWORD enter(int file)
{
    struct opl_shim_header header;
    if (!opl_shim_header(file, &header))
        return ERROR_INVALID_HANDLE;
    if (header.pointer_bytes != sizeof(void *))
        return ERROR_NOT_SUPPORTED;
    opl_shim_lock();
    struct page *page = find(file);
    page = page ? page : map(file);
    if (page)
        page->handles++;
    opl_shim_unlock();
    return page ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
}

static HANDLE finish(int file, bool existed, DWORD status, BOOL owned)
{
    status = status ? status : enter(file);
    HANDLE handle = status ? NULL : opl_shim_handle(file, SHIM_MUTEX);
    if (status && file >= 0)
        close(file);
    if (handle && owned && !existed)
        WaitForSingleObject(handle, 0);
    SetLastError(status ? status : existed ? ERROR_ALREADY_EXISTS : ERROR_SUCCESS);
    return handle;
}

HANDLE WINAPI CreateMutexA(LPSECURITY_ATTRIBUTES security, BOOL owned, LPCSTR name)
{
    int file = -1;
    bool existed = false;
    struct opl_shim_object desired = {.name = name, .kind = SHIM_MUTEX};
    DWORD status = opl_shim_create(&desired, &file, &existed);
    return finish(file, existed, status, owned);
}

HANDLE WINAPI CreateMutexW(LPSECURITY_ATTRIBUTES security, BOOL owned, LPCWSTR name)
{
    char *narrow = name ? opl_shim_narrow(name) : NULL;
    HANDLE handle = CreateMutexA(security, owned, narrow);
    free(narrow);
    return handle;
}

HANDLE WINAPI OpenMutexA(DWORD access, BOOL inherit, LPCSTR name)
{
    int file = -1;
    DWORD status = opl_shim_open(name, SHIM_MUTEX, true, &file);
    HANDLE handle = finish(file, true, status, FALSE);
    if (handle)
        SetLastError(ERROR_SUCCESS);
    return handle;
}

HANDLE WINAPI OpenMutexW(DWORD access, BOOL inherit, LPCWSTR name)
{
    char *narrow = name ? opl_shim_narrow(name) : NULL;
    HANDLE handle = OpenMutexA(access, inherit, narrow);
    free(narrow);
    return handle;
}

/* Called when a handle is closed. A held mutex stays mapped, because the C library's list of held
 * robust mutexes points to it. */
void opl_shim_mutex_leave(int file)
{
    opl_shim_lock();
    struct page *page = find(file);
    if (page && page->handles && --page->handles == 0 && !page->held) {
        struct page **link = &pages;
        while (*link != page)
            link = &(*link)->next;
        *link = page->next;
        munmap(page->memory, SHIM_HEADER);
        free(page);
    }
    opl_shim_unlock();
}

/* ---- waiting ---- */

static void count_held(struct page *page, int difference)
{
    opl_shim_lock();
    page->held += (unsigned)difference;
    opl_shim_unlock();
}

static int lock_until(pthread_mutex_t *mutex, DWORD milliseconds)
{
    struct timespec end;
    if (milliseconds == 0)
        return pthread_mutex_trylock(mutex);
    if (milliseconds == INFINITE)
        return pthread_mutex_lock(mutex);
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += milliseconds / 1000;
    end.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    if (end.tv_nsec >= 1000000000) {
        end.tv_sec++;
        end.tv_nsec -= 1000000000;
    }
    return pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &end);
}

/* Finds the mutex, or maps it if another module of the process created the handle. */
static struct page *known(int file)
{
    opl_shim_lock();
    struct page *page = find(file);
    page = page ? page : map(file);
    opl_shim_unlock();
    return page;
}

DWORD opl_shim_mutex_wait(int file, DWORD milliseconds)
{
    struct page *page = known(file);
    int error = page ? lock_until(mutex_in(page), milliseconds) : EINVAL;
    if (error == EBUSY || error == ETIMEDOUT)
        return WAIT_TIMEOUT;
    if (error && error != EOWNERDEAD) {
        SetLastError(ERROR_INVALID_HANDLE);
        return WAIT_FAILED;
    }
    if (error)
        pthread_mutex_consistent(mutex_in(page));
    count_held(page, 1);
    return error ? WAIT_ABANDONED : WAIT_OBJECT_0;
}

BOOL WINAPI ReleaseMutex(HANDLE handle)
{
    int file;
    struct page *page = opl_shim_kind(handle, &file) == SHIM_MUTEX ? known(file) : NULL;
    if (!page)
        return opl_shim_fail(ERROR_INVALID_HANDLE);
    if (pthread_mutex_unlock(mutex_in(page)) != 0)
        return opl_shim_fail(ERROR_NOT_OWNER);
    count_held(page, -1);
    return TRUE;
}
