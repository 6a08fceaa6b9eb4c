/* SPDX-License-Identifier: MIT */
/* One performance block: queried from the system or read from a file, kept unchanged. */
#include "view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <winbase.h>
#include <winerror.h>

enum { FIRST_ROOM = 256 * 1024, LAST_ROOM = 1 << 29, BUSY_TRIES = 10, BUSY_MILLISECONDS = 10 };

/* ---- the machine ---- */

static HKEY remote_key;
static const char *far_machine;

LSTATUS view_connect(const char *machine)
{
    far_machine = machine;
    return RegConnectRegistryA(machine, HKEY_PERFORMANCE_DATA, &remote_key);
}

void view_disconnect(void)
{
    RegCloseKey(view_key());
    remote_key = NULL;
    far_machine = NULL;
}

bool view_is_far(void)
{
    return remote_key;
}

HKEY view_key(void)
{
    return remote_key ? remote_key : HKEY_PERFORMANCE_DATA;
}

LSTATUS view_root(HKEY *ret)
{
    *ret = HKEY_LOCAL_MACHINE;
    return remote_key ? RegConnectRegistryA(far_machine, HKEY_LOCAL_MACHINE, ret) : ERROR_SUCCESS;
}

/* ---- its bytes ---- */

static bool picture_reserve(struct picture *picture, size_t room)
{
    if (room <= picture->room)
        return true;
    unsigned char *data = realloc(picture->data, room);
    if (!data)
        return false;
    picture->data = data;
    picture->room = room;
    return true;
}

static void keep_fault(struct picture *picture)
{
    if (picture->fault == OPL_BLOCK_GOOD && picture->block.fault != OPL_BLOCK_GOOD) {
        picture->fault = picture->block.fault;
        picture->fault_offset = picture->block.fault_offset;
    }
}

/* A file that was cut off: zeros replace the missing bytes, and the walk ends before them. */
static opl_block_fault begin_cut_off(struct picture *picture)
{
    PERF_DATA_BLOCK header;
    size_t whole;
    if (picture->size < sizeof header)
        return OPL_BLOCK_HEADER;
    memcpy(&header, picture->data, sizeof header);
    whole = header.LittleEndian == 1 ? header.TotalByteLength : 0;
    if (whole <= picture->size || whole > LAST_ROOM || !picture_reserve(picture, whole))
        return OPL_BLOCK_HEADER;
    memset(picture->data + picture->size, 0, whole - picture->size);
    return opl_block_init(&picture->block, picture->data, whole);
}

bool picture_begin(struct picture *picture)
{
    picture->fault = opl_block_init(&picture->block, picture->data, picture->size);
    picture->fault_offset = picture->block.fault_offset;
    if (picture->fault == OPL_BLOCK_HEADER && begin_cut_off(picture) == OPL_BLOCK_GOOD) {
        picture->fault = OPL_BLOCK_SHORT;
        picture->fault_offset = picture->size;
        return true;
    }
    return picture->fault == OPL_BLOCK_GOOD;
}

LSTATUS picture_query(struct picture *picture, const char *query)
{
    size_t room = picture->room ? picture->room : FIRST_ROOM;
    for (int busy = 0; room <= LAST_ROOM;) {
        if (!picture_reserve(picture, room))
            return ERROR_NOT_ENOUGH_MEMORY;
        DWORD size = (DWORD)room;
        LSTATUS status = RegQueryValueExA(view_key(), query, NULL, NULL, picture->data, &size);
        if (status == ERROR_MORE_DATA) {
            room *= 2;
        } else if (status == ERROR_BUSY && busy++ < BUSY_TRIES) {
            Sleep(BUSY_MILLISECONDS);
        } else {
            picture->size = status ? 0 : size;
            return status;
        }
    }
    return ERROR_MORE_DATA;
}

static int read_all(struct picture *picture, int fd)
{
    picture->size = 0;
    for (;;) {
        if (!picture_reserve(picture, picture->size + FIRST_ROOM))
            return ENOMEM;
        ssize_t count = read(fd, picture->data + picture->size, picture->room - picture->size);
        if (count == 0)
            return 0;
        if (count < 0 && errno != EINTR)
            return errno;
        if (count > 0)
            picture->size += (size_t)count;
        if (picture->size > LAST_ROOM)
            return EFBIG;
    }
}

int picture_read(struct picture *picture, const char *path)
{
    bool standard = strcmp(path, "-") == 0;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int error = read_all(picture, fd);
    if (!standard)
        close(fd);
    return error;
}

int picture_save(const struct picture *picture, const char *path)
{
    FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "we");
    if (!file)
        return errno;
    errno = 0;
    bool good = fwrite(picture->data, 1, picture->size, file) == picture->size;
    good = (file == stdout ? fflush(file) : fclose(file)) == 0 && good;
    return good ? 0 : errno ? errno : EIO;
}

bool picture_next_object(struct picture *picture, opl_object_view *object)
{
    bool more = opl_block_next_object(&picture->block, object);
    keep_fault(picture);
    return more && object->offset + object->type.HeaderLength <= picture->size;
}

bool picture_next_counter(struct picture *picture, const opl_object_view *object,
                          opl_counter_view *counter)
{
    bool more = opl_object_next_counter(&picture->block, object, counter);
    keep_fault(picture);
    return more && counter->offset + counter->definition.ByteLength <= picture->size;
}

bool picture_next_instance(struct picture *picture, const opl_object_view *object,
                           opl_instance_view *instance)
{
    bool more = opl_object_next_instance(&picture->block, object, instance);
    keep_fault(picture);
    return more && instance->end <= picture->size;
}

void picture_done(struct picture *picture)
{
    free(picture->data);
    *picture = (struct picture){0};
}
