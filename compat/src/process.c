/* SPDX-License-Identifier: MIT */
/*
 * Processes and their modules, from /proc. A handle is the kernel's pidfd, so that a process that
 * reuses a number is never mistaken for the first one. A module's handle is its address.
 */
#include "shims.h"

#include <psapi.h>

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NAME_SIZE = 4096 };

BOOL WINAPI EnumProcesses(DWORD *numbers, DWORD bytes, LPDWORD ret_bytes)
{
    DIR *list = opendir("/proc");
    DWORD count = 0, capacity = bytes / sizeof *numbers;
    if (!list)
        return opl_shim_fail(ERROR_NOT_READY);
    for (const struct dirent *entry; count < capacity && (entry = readdir(list));)
        if (isdigit((unsigned char)entry->d_name[0]))
            numbers[count++] = (DWORD)strtoul(entry->d_name, NULL, 10);
    closedir(list);
    *ret_bytes = count * (DWORD)sizeof *numbers;
    return TRUE;
}

HANDLE WINAPI OpenProcess(DWORD access, BOOL inherit, DWORD number)
{
    int process = (int)syscall(SYS_pidfd_open, (pid_t)number, 0);
    if (process < 0) {
        SetLastError(errno == ESRCH || errno == EINVAL ? ERROR_INVALID_PARAMETER
                     : errno == ENOSYS                 ? ERROR_NOT_SUPPORTED
                     : errno == EPERM                  ? ERROR_ACCESS_DENIED
                                                       : ERROR_TOO_MANY_OPEN_FILES);
        return NULL;
    }
    return opl_shim_handle(process, SHIM_PROCESS);
}

HANDLE WINAPI GetCurrentProcess(void)
{
    return (HANDLE)(intptr_t)-1;
}

/* The process id of a handle; 0: not a process, or it has ended. */
static pid_t number_of(HANDLE handle)
{
    char path[64], line[128];
    int file, number = 0;
    if (handle == GetCurrentProcess())
        return getpid();
    enum opl_shim_kind kind = opl_shim_kind(handle, &file);
    if (kind != SHIM_EVENT && kind != SHIM_PROCESS)
        return 0;
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", file);
    FILE *info = fopen(path, "re");
    while (info && fgets(line, sizeof line, info))
        if (sscanf(line, "Pid: %d", &number) == 1)
            break;
    if (info)
        fclose(info);
    return number > 0 ? number : 0;
}

/* Has the process ended? Check this after reading from /proc/PID: otherwise the data may be from
 * another process that got the number. */
static bool has_ended(HANDLE handle)
{
    int file;
    struct pollfd look = {.events = POLLIN};
    if (handle == GetCurrentProcess())
        return false;
    look.fd = opl_shim_kind(handle, &file) ? file : -1;
    return look.fd < 0 || poll(&look, 1, 0) != 0;
}

DWORD WINAPI GetPriorityClass(HANDLE process)
{
    pid_t number = number_of(process);
    int policy = number ? sched_getscheduler(number) : -1;
    errno = 0;
    int nice = number ? getpriority(PRIO_PROCESS, (id_t)number) : 0;
    if (policy < 0 || errno || has_ended(process)) {
        SetLastError(ERROR_INVALID_HANDLE);
        return 0;
    }
    return policy == SCHED_FIFO || policy == SCHED_RR ? REALTIME_PRIORITY_CLASS
           : policy == SCHED_IDLE || nice >= 10       ? IDLE_PRIORITY_CLASS
           : nice >= 5                                ? BELOW_NORMAL_PRIORITY_CLASS
           : nice > -5                                ? NORMAL_PRIORITY_CLASS
           : nice > -10                               ? ABOVE_NORMAL_PRIORITY_CLASS
                                                      : HIGH_PRIORITY_CLASS;
}

/* ---- modules ---- */

struct loaded_module {
    uintptr_t start;
    char path[NAME_SIZE];
};

/* Reads on to the next file that is mapped from offset 0. False: there are no more. */
static bool next_module(FILE *maps, struct loaded_module *ret)
{
    char line[NAME_SIZE + 128];
    while (fgets(line, sizeof line, maps)) {
        unsigned long long start, offset;
        int path = 0;
        if (sscanf(line, "%llx-%*x %*s %llx %*s %*s %n", &start, &offset, &path) < 2 || !path)
            continue;
        line[strcspn(line, "\n")] = '\0';
        if (offset || line[path] != '/')
            continue;
        ret->start = (uintptr_t)start;
        snprintf(ret->path, sizeof ret->path, "%s", line + path);
        return true;
    }
    return false;
}

/* Is the mapped file an ELF object? Data files are mapped, too. */
static bool is_module(const struct loaded_module *module)
{
    const char *name = strrchr(module->path, '/') + 1;
    return strstr(name, ".so") != NULL;
}

static FILE *open_maps(HANDLE process, char program[static NAME_SIZE])
{
    char path[64];
    pid_t number = number_of(process);
    snprintf(path, sizeof path, "/proc/%d/exe", (int)number);
    ssize_t length = number ? readlink(path, program, NAME_SIZE - 1) : -1;
    program[length > 0 ? length : 0] = '\0';
    snprintf(path, sizeof path, "/proc/%d/maps", (int)number);
    FILE *maps = number ? fopen(path, "re") : NULL;
    if (!maps)
        SetLastError(!number || errno == ENOENT ? ERROR_INVALID_HANDLE : ERROR_ACCESS_DENIED);
    return maps;
}

BOOL WINAPI EnumProcessModules(HANDLE process, HMODULE *modules, DWORD bytes, LPDWORD ret_bytes)
{
    char program[NAME_SIZE];
    struct loaded_module module;
    DWORD count = 0, capacity = bytes / sizeof *modules;
    FILE *maps = open_maps(process, program);
    if (!maps)
        return FALSE;
    while (next_module(maps, &module)) {
        if (strcmp(module.path, program) != 0 && !is_module(&module))
            continue;
        if (count < capacity)
            modules[count] = (HMODULE)module.start;
        count++;
    }
    fclose(maps);
    *ret_bytes = count * (DWORD)sizeof *modules;
    if (!count) /* a kernel thread */
        return opl_shim_fail(ERROR_PARTIAL_COPY);
    return has_ended(process) ? opl_shim_fail(ERROR_INVALID_HANDLE) : TRUE;
}

/* Finds a module of a process by its address; NULL: the program. False: there is no such module. */
static bool find_module(HANDLE process, HMODULE wanted, struct loaded_module *ret)
{
    FILE *maps = open_maps(process, ret->path);
    if (!wanted && ret->path[0]) {
        if (maps)
            fclose(maps);
        return true;
    }
    bool found = false;
    while (maps && !found && next_module(maps, ret))
        found = (HMODULE)ret->start == wanted;
    if (maps) {
        fclose(maps);
        if (!found)
            SetLastError(wanted ? ERROR_INVALID_HANDLE : ERROR_PARTIAL_COPY);
    }
    return found;
}

static const char *base_name(HANDLE process, HMODULE wanted, struct loaded_module *module)
{
    if (!find_module(process, wanted, module))
        return NULL;
    if (has_ended(process)) {
        SetLastError(ERROR_INVALID_HANDLE);
        return NULL;
    }
    const char *slash = strrchr(module->path, '/');
    return slash ? slash + 1 : module->path;
}

DWORD WINAPI GetModuleBaseNameA(HANDLE process, HMODULE wanted, LPSTR name, DWORD capacity)
{
    struct loaded_module module;
    const char *found = base_name(process, wanted, &module);
    if (!found || !name || !capacity) {
        if (found)
            SetLastError(ERROR_INSUFFICIENT_BUFFER);
        return 0;
    }
    size_t length = strlen(found), fit = length < capacity ? length : capacity - 1;
    memcpy(name, found, fit);
    name[fit] = '\0';
    return (DWORD)fit;
}

DWORD WINAPI GetModuleBaseNameW(HANDLE process, HMODULE wanted, LPWSTR name, DWORD capacity)
{
    struct loaded_module module;
    WCHAR wide[NAME_SIZE];
    const char *found = base_name(process, wanted, &module);
    int count = found ? MultiByteToWideChar(CP_UTF8, 0, found, -1, wide, NAME_SIZE) : 0;
    if (count <= 0 || !name || !capacity) {
        if (count > 0)
            SetLastError(ERROR_INSUFFICIENT_BUFFER);
        return 0;
    }
    DWORD fit = (DWORD)count <= capacity ? (DWORD)count - 1 : capacity - 1;
    memcpy(name, wide, fit * sizeof *wide);
    name[fit] = 0;
    return fit;
}
