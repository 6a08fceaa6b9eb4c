/* SPDX-License-Identifier: MIT */
/*
 * Objects that not all users may read: values of Remote\Objects, named by the object's number, each
 * hold a list. Objects that the peer may not read are removed from its blocks; their names stay,
 * because names reveal nothing about this machine.
 */
#include "remote/internal.h"
#include "remote/winregd.h"

#include <openperflib/block.h>
#include <winperf.h>

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define OBJECTS "SOFTWARE\\openperflib\\Remote\\Objects"
enum { LIST_BYTES = 64 << 10, MOST_HIDDEN = LIMIT_QUERY_OBJECTS };

static struct hidden {
    uint32_t numbers[MOST_HIDDEN];
    size_t count;
    bool all; /* the lists cannot be read, or hide too many objects */
} hidden;

static void hide(uint32_t number)
{
    if (hidden.count == MOST_HIDDEN)
        hidden.all = true;
    else
        hidden.numbers[hidden.count++] = number;
}

/* A list that cannot be read hides its object. False: no more lists. */
static bool read_list(HKEY key, DWORD index, const struct peer *peer)
{
    static char list[LIST_BYTES + 2];
    char name[32] = "";
    uint32_t number;
    DWORD count = sizeof name, size = LIST_BYTES, type = REG_NONE;
    LSTATUS status = RegEnumValueA(key, index, name, &count, NULL, &type, (LPBYTE)list, &size);
    if (status && status != ERROR_MORE_DATA) { /* a name that is too long is not a number */
        hidden.all = hidden.all || status != ERROR_NO_MORE_ITEMS;
        return false;
    }
    if (!text_decimal(name, strlen(name), &number))
        return true;
    bool readable = !status && (type == REG_SZ || type == REG_MULTI_SZ);
    if (readable)
        memset(list + size, 0, 2);
    if (!readable || !list_allows(list, size + 1, peer))
        hide(number);
    return true;
}

bool objects_are_hidden(const struct peer *peer)
{
    HKEY key;
    hidden.count = 0;
    LSTATUS status = RegOpenKeyExA(HKEY_LOCAL_MACHINE, OBJECTS, 0, KEY_READ, &key);
    hidden.all = status && status != ERROR_FILE_NOT_FOUND;
    if (status)
        return hidden.all;
    for (DWORD i = 0; read_list(key, i, peer); i++)
        continue;
    RegCloseKey(key);
    return hidden.count || hidden.all;
}

static bool is_hidden(uint32_t number)
{
    for (size_t i = 0; i < hidden.count; i++)
        if (hidden.numbers[i] == number)
            return true;
    return hidden.all;
}

/* In the block's byte order: that of a foreign machine may differ. */
static void put_number(const opl_block *block, char *data, size_t offset, uint32_t number)
{
    number = block->swapped ? __builtin_bswap32(number) : number;
    memcpy(data + offset, &number, sizeof number);
}

/* Closes the gaps between the remaining objects. */
size_t objects_hide(char *data, size_t size)
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
        if (is_hidden(number))
            continue;
        memmove(data + end, data + object.offset, length);
        /* the walk continues where the object was */
        end += length;
        first = count++ ? first : number;
        default_stays = default_stays || (LONG)number == block.header.DefaultObject;
    }
    if (block.fault)
        return 0;
    put_number(&block, data, offsetof(PERF_DATA_BLOCK, TotalByteLength), (uint32_t)end);
    put_number(&block, data, offsetof(PERF_DATA_BLOCK, NumObjectTypes), count);
    if (!default_stays)
        put_number(&block, data, offsetof(PERF_DATA_BLOCK, DefaultObject), first);
    return end;
}
