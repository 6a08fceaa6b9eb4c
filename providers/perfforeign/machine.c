/* SPDX-License-Identifier: MIT */
/*
 * The machines that were queried. The registry key of each machine stays open, and with the key the
 * connection to the machine; the library reconnects a lost connection, but not too often.
 * (docs/windows/articles.md#c120, docs/windows/articles.md#c121)
 */
#include "perfforeign.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_MACHINES = 1000, MOST_KEPT_BYTES = 4 << 20 };
static const ULONGLONG longest_kept = 600000000; /* a minute, in 100 ns */

static struct foreign_machine *machines;
static unsigned machine_count;

/* ---- time ---- */

static ULONGLONG now_filetime(void)
{
    FILETIME now;
    GetSystemTimeAsFileTime(&now);
    return (ULONGLONG)now.dwHighDateTime << 32 | now.dwLowDateTime;
}

static DWORD now_milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (DWORD)((ULONGLONG)now.tv_sec * 1000 + (ULONGLONG)now.tv_nsec / 1000000);
}

/* ---- finding ---- */

/* Names of machines are compared ignoring ASCII case. */
static WCHAR fold(WCHAR unit)
{
    return unit >= 'a' && unit <= 'z' ? (WCHAR)(unit - 'a' + 'A') : unit;
}

static bool is_called(const struct foreign_machine *machine, const WCHAR *name, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fold(machine->name[i]) != fold(name[i]))
            return false;
    return machine->name[count] == 0;
}

static void machine_free(struct foreign_machine *machine)
{
    if (machine->key)
        RegCloseKey(machine->key);
    free(machine->kept);
    free(machine->kept_request);
    free(machine);
}

/* Removes the least recently queried machine. */
static void forget_last(void)
{
    struct foreign_machine **at = &machines;
    while ((*at)->next)
        at = &(*at)->next;
    machine_free(*at);
    *at = NULL;
    machine_count--;
}

/* Writes the instance's name: the machine's, with '?' for characters that are not ASCII. */
static void write_label(struct foreign_machine *machine)
{
    char *to = machine->label;
    for (const WCHAR *from = machine->name; *from; from++)
        *to++ = *from < 0x80 ? (char)*from : '?';
    *to = '\0';
    opl_sanitize_name(machine->label, sizeof machine->label, machine->label,
                      (size_t)(to - machine->label), false);
}

static struct foreign_machine *add(const WCHAR *name, size_t count)
{
    if (machine_count >= MOST_MACHINES)
        forget_last();
    struct foreign_machine *machine = calloc(1, sizeof *machine);
    if (!machine)
        return NULL;
    memcpy(machine->name, name, count * sizeof *name);
    machine->since = now_filetime();
    write_label(machine);
    machine->next = machines;
    machines = machine;
    machine_count++;
    return machine;
}

struct foreign_machine *machine_find(const WCHAR *name, size_t count)
{
    if (count > 2 && name[0] == '\\' && name[1] == '\\') {
        name += 2;
        count -= 2;
    }
    if (!count || count >= MACHINE_NAME_SIZE)
        return NULL;
    struct foreign_machine **at = &machines, *machine;
    while (*at && !is_called(*at, name, count))
        at = &(*at)->next;
    machine = *at;
    if (!machine)
        return add(name, count);
    *at = machine->next;
    machine->next = machines;
    return machines = machine;
}

struct foreign_machine *machine_first(void)
{
    return machines;
}

void machine_forget_all(void)
{
    while (machines) {
        struct foreign_machine *machine = machines;
        machines = machine->next;
        machine_free(machine);
    }
    machine_count = 0;
}

/* ---- queries ---- */

static size_t length_of(const WCHAR *text)
{
    size_t count = 0;
    while (text[count])
        count++;
    return count;
}

static bool same_text(const WCHAR *left, const WCHAR *right)
{
    size_t count = length_of(left);
    return count == length_of(right) && !memcmp(left, right, count * sizeof *left);
}

static void keep(struct foreign_machine *machine, const WCHAR *request, const void *data,
                 DWORD size)
{
    size_t bytes = (length_of(request) + 1) * sizeof *request;
    unsigned char *kept = size <= MOST_KEPT_BYTES ? realloc(machine->kept, size) : NULL;
    WCHAR *kept_request = kept ? realloc(machine->kept_request, bytes) : NULL;
    if (kept)
        machine->kept = kept;
    machine->kept_size = 0;
    if (!kept_request)
        return;
    machine->kept_request = memcpy(kept_request, request, bytes);
    memcpy(machine->kept, data, size);
    machine->kept_size = size;
}

static void note_answer(struct foreign_machine *machine, DWORD size, DWORD began)
{
    machine->status = ERROR_SUCCESS;
    machine->milliseconds = now_milliseconds() - began;
    machine->answers++;
    machine->answer_bytes += size;
    machine->since = now_filetime();
}

static DWORD copy_kept(const struct foreign_machine *machine, const WCHAR *request, void *data,
                       DWORD *size)
{
    ULONGLONG age = now_filetime() - machine->since;
    bool good =
        machine->kept_size && age < longest_kept && same_text(machine->kept_request, request);
    if (good && machine->kept_size > *size)
        return ERROR_MORE_DATA;
    *size = good ? machine->kept_size : 0;
    if (good)
        memcpy(data, machine->kept, machine->kept_size);
    return ERROR_SUCCESS;
}

DWORD machine_query(struct foreign_machine *machine, const WCHAR *request, void *data, DWORD *size)
{
    DWORD began = now_milliseconds(), capacity = *size, type = REG_NONE;
    LSTATUS status = ERROR_SUCCESS;
    if (!machine->key)
        status = RegConnectRegistryW(machine->name, HKEY_PERFORMANCE_DATA, &machine->key);
    if (!status)
        status = RegQueryValueExW(machine->key, request, NULL, &type, data, size);
    if (status == ERROR_MORE_DATA)
        return ERROR_MORE_DATA;
    if (!status && type != REG_BINARY)
        status = ERROR_INVALID_DATA;
    if (!status) {
        note_answer(machine, *size, began);
        keep(machine, request, data, *size);
        return ERROR_SUCCESS;
    }
    machine->status = (DWORD)status;
    machine->failures++;
    *size = capacity;
    return copy_kept(machine, request, data, size);
}
