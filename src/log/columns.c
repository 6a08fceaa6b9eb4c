/* SPDX-License-Identifier: MIT */
/*
 * The columns of all files of a capture. The same path in two files is one column; a path that is
 * twice in one file has two columns. A path is split by the rules of docs/windows/pdh.md#f3: the
 * object ends at the first bracket or backslash, the instance at the last ")" before a backslash.
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

/* Returns the head of the hash chain for a path. */
static uint32_t *chain_of(const struct columns *columns, const char *path)
{
    uint64_t hash = text_hash_fold(path, strlen(path));
    return &columns->table[hash & (columns->table_size - 1)];
}

/* ---- a path's parts ---- */

/* Cuts off "#n" if n consists of digits, and stores n. */
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

/* Finds the last ")" that is followed by a backslash. */
static char *closing_bracket(char *text)
{
    char *found = NULL;
    for (char *c = strchr(text, ')'); c; c = strchr(c + 1, ')'))
        if (c[1] == '\\')
            found = c;
    return found;
}

/* Sets the parts of the path in `ret`. `copy` is a copy of the path, which is modified. If `copy`
 * is not a path, `ret` gets no parts. */
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
    struct columns grown = {.table_size = columns->table_size ? columns->table_size * 2 : 64};
    grown.table = calloc(grown.table_size, sizeof(*grown.table));
    if (!grown.table)
        return false;
    for (size_t i = 0; i < columns->count; i++) {
        struct column *column = columns->list[i];
        if (!column->last) /* of several columns with one path, only the first is in the table */
            continue;
        uint32_t *head = chain_of(&grown, column->info.path);
        column->next = *head;
        *head = (uint32_t)i + 1;
    }
    free(columns->table);
    columns->table = grown.table;
    columns->table_size = grown.table_size;
    return true;
}

#define NO_COLUMN UINT32_MAX

/* Finds the first column with that path and kind; NO_COLUMN: none. */
static uint32_t find(const struct columns *columns, const char *path, enum log_column_kind kind)
{
    uint32_t next = columns->table_size ? *chain_of(columns, path) : 0;
    while (next) {
        const struct column *column = columns->list[next - 1];
        if (column->info.kind == kind && text_equal_fold(column->info.path, path))
            return next - 1;
        next = column->next;
    }
    return NO_COLUMN;
}

/* True if there is a column with this path that the current catalogue has not named yet; *ret is
 * its number. *ret_first is the first column with the path, or NO_COLUMN. */
static bool known(const struct columns *columns, const char *path, enum log_column_kind kind,
                  uint32_t *ret, uint32_t *ret_first)
{
    uint32_t number = *ret_first = find(columns, path, kind);
    if (number == NO_COLUMN)
        return false;
    struct column *first = columns->list[number];
    if (first->stamp == columns->stamp && !first->turn)
        return false;
    *ret = first->stamp == columns->stamp ? first->turn - 1 : number;
    first->stamp = columns->stamp;
    first->turn = columns->list[*ret]->twin;
    return true;
}

static PDH_STATUS insert(struct columns *columns, struct column *column, uint32_t first,
                         uint32_t *ret)
{
    if (columns->count >= LIMIT_COLUMNS ||
        !list_grow(&columns->list, columns->count, &columns->capacity, sizeof(*columns->list)) ||
        (columns->count >= columns->table_size && !grow_table(columns))) {
        free(column);
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    }
    *ret = (uint32_t)columns->count;
    columns->list[columns->count++] = column;
    if (first != NO_COLUMN) {
        uint32_t *last = &columns->list[first]->last;
        columns->list[*last - 1]->twin = *ret + 1;
        *last = *ret + 1;
        return 0;
    }
    uint32_t *head = chain_of(columns, column->info.path);
    column->next = *head;
    column->last = *head = *ret + 1;
    column->stamp = columns->stamp;
    return 0;
}

PDH_STATUS columns_add_path(struct columns *columns, enum log_column_kind kind, const char *path,
                            size_t size, uint32_t *ret)
{
    struct column *column = calloc(1, sizeof(*column) + 2 * (size + 1));
    if (!column)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    memcpy(column->text, path, size);
    uint32_t first;
    if (known(columns, column->text, kind, ret, &first)) {
        free(column);
        return 0;
    }
    memcpy(column->text + size + 1, path, size);
    column->info =
        (struct log_column){.kind = kind, .path = column->text, .twice = first != NO_COLUMN};
    split_path(column->text + size + 1, &column->info);
    return insert(columns, column, first, ret);
}

static const char *keep(char **cursor, const char *text)
{
    if (!text)
        return NULL;
    char *start = *cursor;
    *cursor = stpcpy(start, text) + 1;
    return start;
}

static size_t capacity_for(const char *text)
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
    uint32_t first;
    if (known(columns, path.data, like->kind, ret, &first))
        return 0;
    size_t size = path.len + 1 + capacity_for(like->machine) + capacity_for(like->object) +
                  capacity_for(like->parent) + capacity_for(like->instance) +
                  capacity_for(like->counter);
    struct column *column = calloc(1, sizeof(*column) + size);
    if (!column)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    char *cursor = column->text;
    column->info = *like;
    column->info.twice = first != NO_COLUMN;
    column->info.path = keep(&cursor, path.data);
    column->info.machine = keep(&cursor, like->machine);
    column->info.object = keep(&cursor, like->object);
    column->info.parent = keep(&cursor, like->parent);
    column->info.instance = keep(&cursor, like->instance);
    column->info.counter = keep(&cursor, like->counter);
    return insert(columns, column, first, ret);
}
