/* SPDX-License-Identifier: MIT */
/*
 * The columns of all files of a capture. Equal paths in two files are one column; the same path
 * twice in one file stays two. A path is taken apart by the rules of F.3: the object ends at the
 * first bracket or backslash, the instance at the last ")" before a backslash.
 */
#include "log/inner.h"

#include <stdlib.h>

void columns_done(struct columns *columns)
{
    for (size_t i = 0; i < columns->count; i++)
        free(columns->list[i]);
    free(columns->list);
    free(columns->table);
    *columns = (struct columns){0};
}

void columns_begin(struct columns *columns)
{
    columns->stamp++;
}

static size_t hash_of(const char *path)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *path; path++) {
        unsigned char c = (unsigned char)*path;
        /* only ASCII is folded: what differs in more is compared */
        c = c >= 0x80 ? 0 : c >= 'a' && c <= 'z' ? (unsigned char)(c - 32) : c;
        hash = c ? (hash ^ c) * UINT64_C(1099511628211) : hash;
    }
    return (size_t)(hash ^ hash >> 32);
}

/* ---- a path's parts ---- */

/* Cuts "#n" off when all digits follow the last "#" up to the end. */
static void split_index(char *instance, DWORD *ret)
{
    char *hash = strrchr(instance, '#');
    uint32_t number;
    if (!hash || hash == instance || !text_decimal(hash + 1, strlen(hash + 1), &number))
        return;
    *hash = '\0';
    *ret = number;
}

static void split_instance(char *whole, struct log_column *ret)
{
    char *slash = strchr(whole, '/');
    ret->instance = whole;
    if (slash && slash != whole && slash[1]) {
        *slash = '\0';
        ret->parent = whole;
        ret->instance = slash + 1;
    }
    split_index((char *)ret->instance, &ret->index);
}

/* The last ")" that a backslash follows. */
static char *closing_bracket(char *text)
{
    char *found = NULL;
    for (char *c = strchr(text, ')'); c; c = strchr(c + 1, ')'))
        if (c[1] == '\\')
            found = c;
    return found;
}

/* `copy` is a copy of the path that may be cut; what is no path has no parts. */
static void split_path(char *copy, struct log_column *ret)
{
    char *object = copy;
    if (copy[0] == '\\' && copy[1] == '\\') {
        object = strchr(copy + 2, '\\');
        if (!object)
            return;
        ret->machine = copy;
    }
    if (*object != '\\')
        return;
    *object++ = '\0';
    char *open = strpbrk(object, "(\\");
    char *close = open && *open == '(' ? closing_bracket(open) : NULL;
    char *counter = close ? close + 1 : strchr(object, '\\');
    if (!counter)
        return;
    if (close) {
        *open = *close = '\0';
        split_instance(open + 1, ret);
    }
    *counter = '\0';
    ret->object = object;
    ret->counter = counter + 1;
}

/* ---- the list ---- */

static bool grow_table(struct columns *columns)
{
    size_t size = columns->table_size ? columns->table_size * 2 : 64;
    uint32_t *table = calloc(size, sizeof(*table));
    if (!table)
        return false;
    for (size_t i = 0; i < columns->count; i++) {
        uint32_t *head = &table[hash_of(columns->list[i]->door.path) & (size - 1)];
        columns->list[i]->next = *head;
        *head = (uint32_t)i + 1;
    }
    free(columns->table);
    columns->table = table;
    columns->table_size = size;
    return true;
}

static bool grow_list(struct columns *columns)
{
    if (columns->count < columns->room)
        return true;
    size_t room = columns->room ? columns->room * 2 : 32;
    struct column **list = realloc(columns->list, room * sizeof(*list));
    if (!list)
        return false;
    columns->list = list;
    columns->room = room;
    return true;
}

/* An equal one that this catalogue has not named yet; UINT32_MAX: none. *ret_twice: it has named
 * another. */
static uint32_t find(struct columns *columns, const char *path, enum log_column_kind kind,
                     bool *ret_twice)
{
    *ret_twice = false;
    if (!columns->table_size)
        return UINT32_MAX;
    uint32_t found = UINT32_MAX;
    uint32_t next = columns->table[hash_of(path) & (columns->table_size - 1)];
    for (; next; next = columns->list[next - 1]->next) {
        const struct column *column = columns->list[next - 1];
        if (column->door.kind != kind || !text_equal_fold(column->door.path, path))
            continue;
        if (column->stamp == columns->stamp)
            *ret_twice = true;
        else
            found = next - 1; /* chains begin with the newest: the oldest is meant */
    }
    return found;
}

static PDH_STATUS insert(struct columns *columns, struct column *column, uint32_t *ret)
{
    if (columns->count >= LIMIT_COLUMNS || !grow_list(columns) ||
        (columns->count >= columns->table_size && !grow_table(columns))) {
        free(column);
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    }
    uint32_t *head = &columns->table[hash_of(column->door.path) & (columns->table_size - 1)];
    column->next = *head;
    *ret = (uint32_t)columns->count;
    columns->list[columns->count++] = column;
    *head = *ret + 1;
    column->stamp = columns->stamp;
    return 0;
}

/* Knows it already? */
static bool known(struct columns *columns, const char *path, enum log_column_kind kind,
                  uint32_t *ret, bool *ret_twice)
{
    uint32_t found = find(columns, path, kind, ret_twice);
    if (found == UINT32_MAX)
        return false;
    columns->list[found]->stamp = columns->stamp;
    *ret = found;
    return true;
}

PDH_STATUS columns_add_path(struct columns *columns, enum log_column_kind kind, const char *path,
                            size_t size, uint32_t *ret)
{
    struct column *column = calloc(1, sizeof(*column) + 2 * (size + 1));
    if (!column)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    memcpy(column->text, path, size);
    bool twice;
    if (known(columns, column->text, kind, ret, &twice)) {
        free(column);
        return 0;
    }
    memcpy(column->text + size + 1, path, size);
    column->door = (struct log_column){.kind = kind, .path = column->text, .twice = twice};
    split_path(column->text + size + 1, &column->door);
    return insert(columns, column, ret);
}

static const char *keep(char **cursor, const char *text)
{
    if (!text)
        return NULL;
    char *start = *cursor;
    *cursor = stpcpy(start, text) + 1;
    return start;
}

static size_t room_for(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

static void make_path(const struct log_column *like, struct buffer *ret)
{
    if (like->machine)
        buffer_add_text(ret, like->machine);
    buffer_printf(ret, "\\%s", like->object ? like->object : "");
    if (like->instance) {
        buffer_printf(ret, "(%s%s%s", like->parent ? like->parent : "", like->parent ? "/" : "",
                      like->instance);
        if (like->index)
            buffer_printf(ret, "#%u", like->index);
        buffer_add_byte(ret, ')');
    }
    buffer_printf(ret, "\\%s", like->counter ? like->counter : "");
}

PDH_STATUS columns_add(struct columns *columns, const struct log_column *like, uint32_t *ret)
{
    BUFFER_AUTO path = {0};
    make_path(like, &path);
    if (path.failed)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    bool twice;
    if (known(columns, path.data, like->kind, ret, &twice))
        return 0;
    size_t size = path.len + 1 + room_for(like->machine) + room_for(like->object) +
                  room_for(like->parent) + room_for(like->instance) + room_for(like->counter);
    struct column *column = calloc(1, sizeof(*column) + size);
    if (!column)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    char *cursor = column->text;
    column->door = *like;
    column->door.twice = twice;
    column->door.path = keep(&cursor, path.data);
    column->door.machine = keep(&cursor, like->machine);
    column->door.object = keep(&cursor, like->object);
    column->door.parent = keep(&cursor, like->parent);
    column->door.instance = keep(&cursor, like->instance);
    column->door.counter = keep(&cursor, like->counter);
    return insert(columns, column, ret);
}
