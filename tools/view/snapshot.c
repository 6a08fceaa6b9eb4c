/* SPDX-License-Identifier: MIT */
/* One performance block: queried from the system or read from a file, kept unchanged. */
#include "view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <winbase.h>
#include <winerror.h>

enum { FIRST_SIZE = 256 * 1024, LAST_SIZE = 1 << 29, BUSY_TRIES = 10, BUSY_MILLISECONDS = 10 };

/* ---- the machine ---- */

static HKEY remote_key;
static const char *remote_machine;
static _Thread_local HKEY used_key;

LSTATUS view_connect(const char *machine)
{
    remote_machine = machine;
    return RegConnectRegistryA(machine, HKEY_PERFORMANCE_DATA, &remote_key);
}

void view_disconnect(void)
{
    RegCloseKey(view_key());
    remote_key = NULL;
    remote_machine = NULL;
}

bool view_is_remote(void)
{
    return remote_key;
}

void view_use(HKEY key)
{
    used_key = key;
}

HKEY view_key(void)
{
    return used_key ? used_key : remote_key ? remote_key : HKEY_PERFORMANCE_DATA;
}

LSTATUS view_root(HKEY *ret)
{
    *ret = HKEY_LOCAL_MACHINE;
    return remote_key ? RegConnectRegistryA(remote_machine, HKEY_LOCAL_MACHINE, ret)
                      : ERROR_SUCCESS;
}

/* ---- the bytes of a snapshot ---- */

static bool snapshot_reserve(struct view_snapshot *snapshot, size_t capacity)
{
    if (capacity <= snapshot->capacity)
        return true;
    unsigned char *data = realloc(snapshot->data, capacity);
    if (!data)
        return false;
    snapshot->data = data;
    snapshot->capacity = capacity;
    return true;
}

static void keep_fault(struct view_snapshot *snapshot)
{
    if (snapshot->fault == OPL_BLOCK_GOOD && snapshot->block.fault != OPL_BLOCK_GOOD) {
        snapshot->fault = snapshot->block.fault;
        snapshot->fault_offset = snapshot->block.fault_offset;
    }
}

/* Prepares the block of a file that was cut off: appends zeros, and the walk ends before them. */
static opl_block_fault begin_cut_off(struct view_snapshot *snapshot)
{
    PERF_DATA_BLOCK header;
    size_t whole;
    if (snapshot->size < sizeof header)
        return OPL_BLOCK_HEADER;
    memcpy(&header, snapshot->data, sizeof header);
    whole = header.LittleEndian == 1 ? header.TotalByteLength : 0;
    if (whole <= snapshot->size || whole > LAST_SIZE || !snapshot_reserve(snapshot, whole))
        return OPL_BLOCK_HEADER;
    memset(snapshot->data + snapshot->size, 0, whole - snapshot->size);
    return opl_block_init(&snapshot->block, snapshot->data, whole);
}

bool snapshot_begin(struct view_snapshot *snapshot)
{
    snapshot->fault = opl_block_init(&snapshot->block, snapshot->data, snapshot->size);
    snapshot->fault_offset = snapshot->block.fault_offset;
    if (snapshot->fault == OPL_BLOCK_HEADER && begin_cut_off(snapshot) == OPL_BLOCK_GOOD) {
        snapshot->fault = OPL_BLOCK_SHORT;
        snapshot->fault_offset = snapshot->size;
        return true;
    }
    return snapshot->fault == OPL_BLOCK_GOOD;
}

LSTATUS snapshot_query(struct view_snapshot *snapshot, const char *query)
{
    size_t capacity = snapshot->capacity ? snapshot->capacity : FIRST_SIZE;
    size_t most = snapshot->most ? snapshot->most : LAST_SIZE;
    for (int busy = 0; capacity <= most;) {
        if (!snapshot_reserve(snapshot, capacity))
            return ERROR_NOT_ENOUGH_MEMORY;
        DWORD size = (DWORD)capacity;
        LSTATUS status = RegQueryValueExA(view_key(), query, NULL, NULL, snapshot->data, &size);
        if (status == ERROR_MORE_DATA) {
            capacity *= 2;
        } else if (status == ERROR_BUSY && busy++ < BUSY_TRIES) {
            Sleep(BUSY_MILLISECONDS);
        } else {
            snapshot->size = status ? 0 : size;
            return status;
        }
    }
    return ERROR_MORE_DATA;
}

static int read_all(struct view_snapshot *snapshot, int fd)
{
    snapshot->size = 0;
    for (;;) {
        if (!snapshot_reserve(snapshot, snapshot->size + FIRST_SIZE))
            return ENOMEM;
        ssize_t count =
            read(fd, snapshot->data + snapshot->size, snapshot->capacity - snapshot->size);
        if (count == 0)
            return 0;
        if (count < 0 && errno != EINTR)
            return errno;
        if (count > 0)
            snapshot->size += (size_t)count;
        if (snapshot->size > LAST_SIZE)
            return EFBIG;
    }
}

int snapshot_read(struct view_snapshot *snapshot, const char *path)
{
    bool standard = strcmp(path, "-") == 0;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int error = read_all(snapshot, fd);
    if (!standard)
        close(fd);
    return error;
}

int snapshot_save(const struct view_snapshot *snapshot, const char *path)
{
    FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "we");
    if (!file)
        return errno;
    errno = 0;
    bool good = fwrite(snapshot->data, 1, snapshot->size, file) == snapshot->size;
    good = (file == stdout ? fflush(file) : fclose(file)) == 0 && good;
    return good ? 0 : errno ? errno : EIO;
}

bool snapshot_next_object(struct view_snapshot *snapshot, opl_object_view *object)
{
    bool more = opl_block_next_object(&snapshot->block, object);
    keep_fault(snapshot);
    return more && object->offset + object->type.HeaderLength <= snapshot->size;
}

bool snapshot_next_counter(struct view_snapshot *snapshot, const opl_object_view *object,
                           opl_counter_view *counter)
{
    bool more = opl_object_next_counter(&snapshot->block, object, counter);
    keep_fault(snapshot);
    return more && counter->offset + counter->definition.ByteLength <= snapshot->size;
}

bool snapshot_next_instance(struct view_snapshot *snapshot, const opl_object_view *object,
                            opl_instance_view *instance)
{
    bool more = opl_object_next_instance(&snapshot->block, object, instance);
    keep_fault(snapshot);
    return more && instance->end <= snapshot->size;
}

void snapshot_done(struct view_snapshot *snapshot)
{
    free(snapshot->data);
    *snapshot = (struct view_snapshot){.most = snapshot->most};
}

void snapshot_rest(struct view_snapshot *snapshot, size_t kept)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), data = (uintptr_t)snapshot->data;
    uintptr_t first = (data + kept + page - 1) / page * page;
    uintptr_t last = (data + snapshot->capacity) / page * page;
    if (first < last)
        madvise((void *)first, last - first, MADV_DONTNEED);
}
