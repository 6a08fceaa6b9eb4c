/* SPDX-License-Identifier: MIT */
/*
 * Objects that not everybody may see: values of Remote\Objects, named by the object's number, hold
 * a list each. What the asker may not see is taken out of his blocks; the names stay, as a name
 * says nothing of this machine.
 */
#include "remote/internal.h"
#include "remote/winregd.h"

#include <openperflib/block.h>

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define OBJECTS "SOFTWARE\\openperflib\\Remote\\Objects"
enum { LIST_BYTES = 64 << 10, MOST_HIDDEN = LIMIT_QUERY_OBJECTS };

struct hidden {
    uint32_t numbers[MOST_HIDDEN];
    size_t count;
};

/* A list that cannot be read hides its object. */
static void read_hidden(HKEY key, const struct peer *peer, struct hidden *ret)
{
    static char list[LIST_BYTES + 2];
    ret->count = 0;
    for (DWORD i = 0; ret->count < MOST_HIDDEN; i++) {
        char name[32];
        uint32_t number;
        DWORD count = sizeof name, size = LIST_BYTES, type = REG_NONE;
        LSTATUS status = RegEnumValueA(key, i, name, &count, NULL, &type, (LPBYTE)list, &size);
        if (status == ERROR_NO_MORE_ITEMS)
            return;
        if (!text_decimal(name, strlen(name), &number))
            continue;
        bool readable = !status && (type == REG_SZ || type == REG_MULTI_SZ);
        if (readable)
            memset(list + size, 0, 2);
        if (!readable || !list_allows(list, size + 1, peer))
            ret->numbers[ret->count++] = number;
    }
}

static bool is_hidden(const struct hidden *hidden, uint32_t number)
{
    for (size_t i = 0; i < hidden->count; i++)
        if (hidden->numbers[i] == number)
            return true;
    return false;
}

/* Moves together what stays; a block that cannot be walked is given to nobody. */
static size_t take_out(const struct hidden *hidden, char *data, size_t size)
{
    opl_block block;
    opl_object_view object = {0};
    if (opl_block_init(&block, data, size) != OPL_BLOCK_GOOD)
        return 0;
    DWORD count = 0, first = 0;
    size_t end = block.header.HeaderLength;
    bool default_stays = false;
    while (opl_block_next_object(&block, &object)) {
        DWORD number = object.type.ObjectNameTitleIndex, length = object.type.TotalByteLength;
        if (is_hidden(hidden, number))
            continue;
        memmove(data + end, data + object.offset, length);
        /* the walk goes on from where the object was */
        end += length;
        first = count++ ? first : number;
        default_stays = default_stays || (LONG)number == block.header.DefaultObject;
    }
    if (block.fault)
        return 0;
    PERF_DATA_BLOCK header = block.header;
    header.TotalByteLength = (DWORD)end;
    header.NumObjectTypes = count;
    if (!default_stays)
        header.DefaultObject = (LONG)first;
    memcpy(data, &header, sizeof header);
    return end;
}

void objects_hide(const struct peer *peer, const struct form_request *request,
                  struct form_reply *reply)
{
    static struct hidden hidden;
    static const char mark[] = {'P', 0, 'E', 0, 'R', 0, 'F', 0};
    HKEY key;
    bool is_block = request->root == (uint32_t)(uintptr_t)HKEY_PERFORMANCE_DATA &&
                    reply->data_size >= sizeof(PERF_DATA_BLOCK) &&
                    !memcmp(reply->data, mark, sizeof mark);
    if (peer_is_trusted(peer) || !is_block ||
        RegOpenKeyExA(HKEY_LOCAL_MACHINE, OBJECTS, 0, KEY_READ, &key))
        return;
    read_hidden(key, peer, &hidden);
    RegCloseKey(key);
    if (!hidden.count)
        return;
    reply->data_size = take_out(&hidden, (char *)(uintptr_t)reply->data, reply->data_size);
    reply->needed = (uint32_t)reply->data_size;
    if (!reply->data_size)
        reply->status = ERROR_INVALID_DATA;
}
