/* SPDX-License-Identifier: MIT */
/*
 * tlhelp32.h: a snapshot is a file in memory with three tables, from one query of the performance
 * data. Its handle is the file's descriptor; the read position of each table is in the file.
 */
#include "counters.h"
#include <tlhelp32.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROCESS = 230, THREAD = 232, ADDRESS_SPACE = 786, FULL_IMAGE = 1408 };
enum table { PROCESSES, THREADS, MODULES, TABLES };

struct head {
    struct {
        uint32_t there, next, count;
    } tables[TABLES];
};

struct process_rows {
    unsigned char *rows;
    size_t count, capacity;
    bool failed;
};

struct making {
    opl_block block;
    struct process_rows tables[TABLES];
    bool found; /* the process whose modules are requested exists */
};

static const size_t row_bytes[TABLES] = {sizeof(PROCESSENTRY32W), sizeof(THREADENTRY32),
                                         sizeof(MODULEENTRY32W)};

static void add_row(struct process_rows *rows, const void *row, size_t bytes)
{
    if (rows->count == rows->capacity) {
        size_t capacity = rows->capacity ? rows->capacity * 2 : 256;
        unsigned char *grown = reallocarray(rows->rows, capacity, bytes);
        rows->failed = rows->failed || !grown;
        if (!grown)
            return;
        rows->rows = grown;
        rows->capacity = capacity;
    }
    memcpy(rows->rows + rows->count++ * bytes, row, bytes);
}

/* Copies a text, truncated to `capacity` and always terminated. */
static void put_text(const char *text, WCHAR *to, int capacity)
{
    WCHAR wide[PATH_MAX];
    int count = MultiByteToWideChar(CP_UTF8, 0, text, -1, wide, PATH_MAX);
    if (count > capacity)
        wide[capacity - 1] = 0;
    memcpy(to, wide, (size_t)(count > capacity ? capacity : count > 0 ? count : 0) * sizeof *wide);
}

/* ---- from the counters ---- */

static void add_processes(struct making *making, DWORD wanted)
{
    static const DWORD titles[] = {784, 680, 1410, 682};
    opl_block *block = &making->block;
    opl_object_view object = {0};
    opl_instance_view instance = {0};
    opl_counter_view counters[4];
    char name[PATH_MAX];
    uint64_t values[4];
    if (!opl_block_find_object(block, PROCESS, &object))
        return;
    opl_shim_counters(block, &object, titles, 4, counters);
    while (opl_object_next_instance(block, &object, &instance)) {
        opl_instance_name(block, &object, &instance, name, sizeof name);
        for (size_t i = 0; i < 4; i++)
            opl_shim_number(block, &instance, &counters[i], &values[i]);
        if (!strcmp(name, "_Total"))
            continue;
        making->found = making->found || values[0] == wanted;
        PROCESSENTRY32W row = {.dwSize = sizeof row,
                               .th32ProcessID = (DWORD)values[0],
                               .cntThreads = (DWORD)values[1],
                               .th32ParentProcessID = (DWORD)values[2],
                               .pcPriClassBase = (LONG)values[3]};
        put_text(name, row.szExeFile, MAX_PATH);
        add_row(&making->tables[PROCESSES], &row, sizeof row);
    }
}

static void add_threads(struct making *making)
{
    static const DWORD titles[] = {804, 784, 682, 694};
    opl_block *block = &making->block;
    opl_object_view object = {0};
    opl_instance_view instance = {0};
    opl_counter_view counters[4];
    uint64_t values[4];
    char name[16];
    if (!opl_block_find_object(block, THREAD, &object))
        return;
    opl_shim_counters(block, &object, titles, 4, counters);
    while (opl_object_next_instance(block, &object, &instance)) {
        opl_instance_name(block, &object, &instance, name, sizeof name);
        for (size_t i = 0; i < 4; i++)
            opl_shim_number(block, &instance, &counters[i], &values[i]);
        if (!strcmp(name, "_Total"))
            continue;
        THREADENTRY32 row = {.dwSize = sizeof row,
                             .th32ThreadID = (DWORD)values[0],
                             .th32OwnerProcessID = (DWORD)values[1],
                             .tpBasePri = (LONG)values[2],
                             .tpDeltaPri = (LONG)values[3] - (LONG)values[2]};
        add_row(&making->tables[THREADS], &row, sizeof row);
    }
}

static void add_module(struct making *making, const char *path, uintptr_t start, DWORD process,
                       uint64_t bytes)
{
    const char *slash = strrchr(path, '/');
    MODULEENTRY32W row = {.dwSize = sizeof row,
                          .th32ModuleID = 1,
                          .th32ProcessID = process,
                          .modBaseAddr = (BYTE *)start,
                          .hModule = (HMODULE)start,
                          .modBaseSize = bytes > UINT32_MAX ? UINT32_MAX : (DWORD)bytes};
    put_text(slash ? slash + 1 : path, row.szModule, MAX_MODULE_NAME32 + 1);
    put_text(path, row.szExePath, MAX_PATH);
    add_row(&making->tables[MODULES], &row, sizeof row);
}

/* Replaces `path`, an instance's name, by the real path: instance names have _ for the characters
 * that have a meaning in counter paths. Also finds the lowest address where the file is mapped.
 * False: the process has mapped no such file, for example if the image is the kernel's [vdso]. */
static bool restore_path(DWORD process, char path[static PATH_MAX], uintptr_t *ret_start)
{
    char line[PATH_MAX + 128], name[64];
    bool found = false;
    snprintf(name, sizeof name, "/proc/%u/maps", (unsigned)process);
    FILE *maps = fopen(name, "re");
    while (maps && !found && fgets(line, sizeof line, maps)) {
        char *file = strchr(line, '/');
        size_t at = 0;
        line[strcspn(line, "\n")] = '\0';
        while (file && file[at] && (path[at] == file[at] || path[at] == '_'))
            at++;
        found = file && !file[at] && !path[at];
        if (found) {
            strcpy(path, file);
            *ret_start = (uintptr_t)strtoull(line, NULL, 16);
        }
    }
    if (maps)
        fclose(maps);
    return found;
}

/* Adds the modules of process `wanted`: images whose parent is its address space. */
static void add_modules(struct making *making, DWORD wanted)
{
    static const DWORD sizes[] = {788, 790, 792, 794, 796, 798, 800, 802}, number[] = {784};
    opl_block *block = &making->block;
    opl_object_view images = {0}, parents = {0};
    opl_instance_view image = {0}, parent = {0};
    opl_counter_view counters[8], id;
    char path[PATH_MAX];
    uintptr_t start;
    uint64_t value, process, bytes;
    if (!opl_block_find_object(block, FULL_IMAGE, &images) ||
        !opl_block_find_object(block, ADDRESS_SPACE, &parents))
        return;
    opl_shim_counters(block, &images, sizes, 8, counters);
    opl_shim_counters(block, &parents, number, 1, &id);
    while (opl_object_next_instance(block, &images, &image)) {
        if (!opl_instance_parent(block, &image, &parents, &parent) ||
            !opl_shim_number(block, &parent, &id, &process) || process != wanted)
            continue;
        opl_instance_name(block, &images, &image, path, sizeof path);
        if (!restore_path((DWORD)process, path, &start))
            continue;
        bytes = 0;
        for (size_t i = 0; i < 8; i++) {
            opl_shim_number(block, &image, &counters[i], &value);
            bytes += value;
        }
        add_module(making, path, start, wanted, bytes);
    }
}

/* ---- the file ---- */

static DWORD write_file(const struct making *making, const bool there[static TABLES], int *ret)
{
    struct head head = {0};
    uint64_t bytes = sizeof head;
    bool existed, good;
    for (int i = 0; i < TABLES; i++) {
        if (making->tables[i].failed)
            return ERROR_NOT_ENOUGH_MEMORY;
        head.tables[i].there = there[i];
        head.tables[i].count = (uint32_t)making->tables[i].count;
        bytes += making->tables[i].count * row_bytes[i];
    }
    const struct opl_shim_object desired = {.kind = SHIM_SNAPSHOT, .bytes = bytes};
    DWORD status = opl_shim_create(&desired, ret, &existed);
    if (status)
        return status;
    off_t at = SHIM_HEADER;
    good = pwrite(*ret, &head, sizeof head, at) == (ssize_t)sizeof head;
    at += (off_t)sizeof head;
    for (int i = 0; good && i < TABLES; i++) {
        size_t size = making->tables[i].count * row_bytes[i];
        good = !size || pwrite(*ret, making->tables[i].rows, size, at) == (ssize_t)size;
        at += (off_t)size;
    }
    if (!good)
        close(*ret);
    return good ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
}

static DWORD fill_tables(struct making *making, const bool there[static TABLES], DWORD process)
{
    add_processes(making, process);
    if (there[THREADS])
        add_threads(making);
    if (there[MODULES])
        add_modules(making, process);
    if (!making->tables[PROCESSES].count)
        return ERROR_NOT_SUPPORTED;
    if (there[MODULES] && !making->tables[MODULES].count)
        return making->found ? ERROR_ACCESS_DENIED : ERROR_INVALID_PARAMETER;
    if (!there[PROCESSES])
        making->tables[PROCESSES].count = 0;
    return ERROR_SUCCESS;
}

static DWORD make(DWORD flags, DWORD process, int *ret)
{
    const bool there[TABLES] = {flags & TH32CS_SNAPPROCESS, flags & TH32CS_SNAPTHREAD,
                                flags & (TH32CS_SNAPMODULE | TH32CS_SNAPMODULE32)};
    struct making making = {0};
    char query[40];
    void *data;
    if (!there[PROCESSES] && !there[THREADS] && !there[MODULES])
        return flags & TH32CS_SNAPHEAPLIST ? ERROR_NOT_SUPPORTED : ERROR_INVALID_PARAMETER;
    snprintf(query, sizeof query, "230%s%s", there[THREADS] ? " 232" : "",
             there[MODULES] ? " 786 1408" : "");
    DWORD status = opl_shim_query(query, &making.block, &data);
    if (status)
        return status;
    status = fill_tables(&making, there, process);
    if (!status)
        status = write_file(&making, there, ret);
    for (int i = 0; i < TABLES; i++)
        free(making.tables[i].rows);
    free(data);
    return status;
}

HANDLE WINAPI CreateToolhelp32Snapshot(DWORD flags, DWORD process)
{
    int file = -1;
    DWORD status = make(flags, process ? process : GetCurrentProcessId(), &file);
    HANDLE handle = status ? NULL : opl_shim_handle(file, SHIM_SNAPSHOT);
    if (status)
        SetLastError(status);
    return handle ? handle : INVALID_HANDLE_VALUE;
}

/* ---- reading ---- */

static BOOL next_row(HANDLE snapshot, enum table table, bool first, void *row)
{
    struct head head;
    int file;
    off_t at = SHIM_HEADER + (off_t)sizeof head;
    if (opl_shim_kind(snapshot, &file) != SHIM_SNAPSHOT ||
        pread(file, &head, sizeof head, SHIM_HEADER) != (ssize_t)sizeof head)
        return opl_shim_fail(ERROR_INVALID_HANDLE);
    if (first)
        head.tables[table].next = 0;
    if (!head.tables[table].there || head.tables[table].next >= head.tables[table].count)
        return opl_shim_fail(ERROR_NO_MORE_FILES);
    for (int i = 0; i < (int)table; i++)
        at += (off_t)(head.tables[i].count * row_bytes[i]);
    at += (off_t)(head.tables[table].next++ * row_bytes[table]);
    if (pread(file, row, row_bytes[table], at) != (ssize_t)row_bytes[table] ||
        pwrite(file, &head, sizeof head, SHIM_HEADER) != (ssize_t)sizeof head)
        return opl_shim_fail(ERROR_INVALID_HANDLE);
    return TRUE;
}

/* Reads the next entry and copies it to `entry`; `narrow`: the structure that has UTF-8 texts. The
 * members before the first text are the same in both structures. */
static BOOL next_entry(HANDLE snapshot, enum table table, bool narrow, bool first, void *entry)
{
    static const size_t narrow_bytes[TABLES] = {sizeof(PROCESSENTRY32), 0, sizeof(MODULEENTRY32)};
    static const struct {
        size_t wide_at, at;
        int capacity;
    } texts[TABLES][2] = {
        [PROCESSES] = {{offsetof(PROCESSENTRY32W, szExeFile), offsetof(PROCESSENTRY32, szExeFile),
                        MAX_PATH}},
        [MODULES] = { {offsetof(MODULEENTRY32W, szModule), offsetof(MODULEENTRY32, szModule),
                      MAX_MODULE_NAME32 + 1},
                       {offsetof(MODULEENTRY32W, szExePath), offsetof(MODULEENTRY32, szExePath),
                      MAX_PATH}},
    };
    union {
        PROCESSENTRY32W process;
        THREADENTRY32 thread;
        MODULEENTRY32W module;
        char bytes[1];
    } row;
    const DWORD bytes = (DWORD)(narrow ? narrow_bytes[table] : row_bytes[table]);
    if (!entry || *(DWORD *)entry < bytes)
        return opl_shim_fail(ERROR_INSUFFICIENT_BUFFER);
    if (!next_row(snapshot, table, first, &row))
        return FALSE;
    if (!narrow) {
        memcpy(entry, &row, bytes);
        return TRUE;
    }
    memset(entry, 0, bytes);
    memcpy(entry, &row, texts[table][0].at);
    *(DWORD *)entry = bytes;
    for (int i = 0; i < 2 && texts[table][i].capacity; i++)
        WideCharToMultiByte(CP_UTF8, 0, (LPCWSTR)(void *)(row.bytes + texts[table][i].wide_at), -1,
                            (char *)entry + texts[table][i].at, texts[table][i].capacity - 1, NULL,
                            NULL);
    return TRUE;
}

#define FIRST_AND_NEXT(name, suffix, type, table, narrow)                                          \
    BOOL WINAPI name##First##suffix(HANDLE snapshot, type entry)                                   \
    {                                                                                              \
        return next_entry(snapshot, table, narrow, true, entry);                                   \
    }                                                                                              \
    BOOL WINAPI name##Next##suffix(HANDLE snapshot, type entry)                                    \
    {                                                                                              \
        return next_entry(snapshot, table, narrow, false, entry);                                  \
    }
FIRST_AND_NEXT(Process32, , LPPROCESSENTRY32, PROCESSES, true)
FIRST_AND_NEXT(Process32, W, LPPROCESSENTRY32W, PROCESSES, false)
FIRST_AND_NEXT(Thread32, , LPTHREADENTRY32, THREADS, false)
FIRST_AND_NEXT(Module32, , LPMODULEENTRY32, MODULES, true)
FIRST_AND_NEXT(Module32, W, LPMODULEENTRY32W, MODULES, false)
