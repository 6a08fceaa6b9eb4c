/* SPDX-License-Identifier: MIT */
/*
 * A list: the names or the explanations of one language, searched by index and by name. It is one
 * piece of memory without pointers, so that it can be kept in a file: a head, the items in
 * ascending order of their indices, a hash table of names, and the multi-string to which the items
 * refer. Of a file only those blocks are read that a search needs: most programs want a few names
 * of many thousands.
 */
#include "names/table.h"
#include "registry/registry.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct list_head {
    uint32_t layout;
    uint32_t count, mask, text_size; /* the hash table has mask + 1 places */
};
struct list_item {
    uint32_t index;
    uint32_t next; /* position + 1 of the next item with the same hash; 0: none */
    uint32_t text; /* offset in the multi-string */
};
struct name_list {
    unsigned holders;
    struct buffer bytes; /* the members below point into these bytes */
    const struct list_head *head;
    struct list_item *items;
    uint32_t *table; /* for each hash: position + 1 of the first item; 0: none */
    const char *multi;
    struct registry_content *content; /* the file; NULL: `bytes` has everything */
    pthread_mutex_t lock;             /* guards reading from the file */
    atomic_bool *loaded; /* for each block of the file: true if it was read into `bytes` */
    atomic_bool failed;
};
enum { LAYOUT = 1 }; /* to be increased if the layout or the hash changes */

static bool read_block(struct name_list *list, size_t block)
{
    lock_take(&list->lock);
    bool good = atomic_load(&list->loaded[block]) ||
                registry_derived_block(list->content, block,
                                       list->bytes.data + block * (size_t)REGISTRY_BLOCK);
    atomic_store(&list->loaded[block], good);
    lock_release(&list->lock);
    if (!good)
        atomic_store(&list->failed, true);
    return good;
}

/* Reads the blocks that have these bytes. False: the file is damaged. */
static bool need(const struct name_list *list, const void *from, size_t size)
{
    size_t offset = (size_t)((const char *)from - list->bytes.data);
    size_t last = (offset + size - 1) / REGISTRY_BLOCK;
    for (size_t block = offset / REGISTRY_BLOCK; list->content && block <= last; block++)
        if (!atomic_load(&list->loaded[block]) && !read_block((struct name_list *)list, block))
            return false;
    return true;
}

/* Finds the parts of the list in list->bytes. False: the sizes of the parts do not fit the
 * bytes. */
static bool find_parts(struct name_list *list)
{
    const struct buffer *bytes = &list->bytes;
    const struct list_head *head = list->head = (const void *)bytes->data;
    if (bytes->len < sizeof *head || !need(list, head, sizeof *head) ||
        !need(list, bytes->data + bytes->len - 1, 1) || head->layout != LAYOUT || !head->text_size)
        return false;
    uint64_t places = (uint64_t)head->mask + 1,
             table = sizeof *head + (uint64_t)head->count * sizeof *list->items,
             multi = table + places * sizeof *list->table;
    if (places & head->mask || multi + head->text_size != bytes->len || bytes->data[bytes->len - 1])
        return false;
    list->items = (void *)(bytes->data + sizeof *head);
    list->table = (void *)(bytes->data + table);
    list->multi = bytes->data + multi;
    return true;
}

const struct name_list *name_list_of_bytes(struct buffer *bytes)
{
    struct name_list *list = calloc(1, sizeof *list);
    if (list)
        *list = (struct name_list){.holders = 1, .bytes = *bytes};
    else
        buffer_done(bytes);
    *bytes = (struct buffer){0};
    if (list && find_parts(list))
        return list;
    name_list_drop(list);
    return NULL;
}

const struct name_list *name_list_of_content(struct registry_content *content, size_t size)
{
    struct name_list *list = calloc(1, sizeof *list);
    if (!list) {
        registry_derived_close(content);
        return NULL;
    }
    list->holders = 1;
    list->content = content;
    pthread_mutex_init(&list->lock, NULL);
    list->loaded = calloc(size / REGISTRY_BLOCK + 1, sizeof *list->loaded);
    /* memory of the list's size costs nothing until it is used */
    if (list->loaded && buffer_reserve(&list->bytes, size)) {
        list->bytes.len = size;
        if (find_parts(list))
            return list;
    }
    name_list_drop(list);
    return NULL;
}

bool name_list_failed(const struct name_list *list)
{
    return list && atomic_load(&list->failed);
}

/* ---- making a list ---- */

static uint32_t *place_of(const struct name_list *list, const char *name)
{
    return &list->table[(uint32_t)text_hash_fold(name, strlen(name)) & list->head->mask];
}

/* Inserts the names from last to first, so that those with the same hash are in ascending order.
 * The text of the first pair is a number, not a name. */
static void fill_table(struct name_list *list)
{
    for (uint32_t i = list->head->count; i-- > 0;) {
        struct list_item *item = &list->items[i];
        uint32_t *place = place_of(list, list->multi + item->text);
        if (item->index == NAMES_FIRST_PAIR)
            continue;
        item->next = *place;
        *place = i + 1;
    }
}

/* Appends the table's pairs to `multi`, and an item for each to `items`. */
static void add_pairs(const struct name_table *table, struct buffer *items, struct buffer *multi)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct name_entry *entry = &table->entries[i];
        const char *text = table->texts.data + entry->text;
        buffer_printf(multi, "%u", (unsigned)entry->index);
        buffer_add_byte(multi, '\0');
        const struct list_item item = {.index = entry->index, .text = (uint32_t)multi->len};
        buffer_add(multi, text, strlen(text) + 1);
        buffer_add(items, &item, sizeof item);
    }
    /* a multi-string ends with an empty string; the second 0 ends the list */
    buffer_add(multi, "\0", 2);
}

const struct name_list *name_list_of_table(const struct name_table *table)
{
    BUFFER_AUTO multi = {0};
    struct list_head head = {.layout = LAYOUT, .count = (uint32_t)table->count, .mask = 15};
    while (head.mask < head.count / 2)
        head.mask = head.mask * 2 + 1;
    size_t table_size = ((size_t)head.mask + 1) * sizeof(uint32_t);
    struct name_list *list = calloc(1, sizeof *list);
    if (!list)
        return NULL;
    list->holders = 1;
    struct buffer *bytes = &list->bytes;
    buffer_add(bytes, &head, sizeof head);
    add_pairs(table, bytes, &multi);
    if (multi.failed || multi.len > UINT32_MAX || !buffer_reserve(bytes, table_size + multi.len)) {
        name_list_drop(list);
        return NULL;
    }
    memset(bytes->data + bytes->len, 0, table_size);
    bytes->len += table_size;
    buffer_add(bytes, multi.data, multi.len);
    ((struct list_head *)bytes->data)->text_size = (uint32_t)multi.len;
    find_parts(list);
    fill_table(list);
    return list;
}

static bool add_pair(void *self, uint32_t index, const char *text)
{
    return name_table_add(self, index, text, strlen(text));
}

const struct name_list *name_list_make(const char *multi, size_t size)
{
    struct name_table table = {0};
    bool complete = name_pairs_each(multi, size, add_pair, &table);
    name_table_sort(&table);
    const struct name_list *list = complete ? name_list_of_table(&table) : NULL;
    name_table_done(&table);
    return list;
}

const struct name_list *name_list_hold(const struct name_list *list)
{
    __atomic_add_fetch(&((struct name_list *)list)->holders, 1, __ATOMIC_RELAXED);
    return list;
}

void name_list_drop(const struct name_list *given)
{
    struct name_list *list = (struct name_list *)given;
    if (!list || __atomic_sub_fetch(&list->holders, 1, __ATOMIC_ACQ_REL))
        return;
    if (list->content)
        pthread_mutex_destroy(&list->lock);
    registry_derived_close(list->content);
    free(list->loaded);
    buffer_done(&list->bytes);
    free(list);
}

/* ---- search: no offset in the list is trusted, because the bytes may come from a file ---- */

/* Returns the item's text; "" if its block is damaged. */
static const char *text_of(const struct name_list *list, const struct list_item *item)
{
    if (item->text >= list->head->text_size)
        return "";
    const char *text = list->multi + item->text, *end = list->bytes.data + list->bytes.len;
    for (const char *at = text; list->content && at < end;) {
        size_t left = REGISTRY_BLOCK - (size_t)(at - list->bytes.data) % REGISTRY_BLOCK;
        left = left < (size_t)(end - at) ? left : (size_t)(end - at);
        if (!need(list, at, 1))
            return "";
        if (memchr(at, '\0', left))
            break;
        at += left;
    }
    return text;
}

const struct buffer *name_list_bytes(const struct name_list *list)
{
    return &list->bytes;
}

const char *name_list_multi(const struct name_list *list, size_t *ret_size)
{
    *ret_size = list->head->text_size - 1;
    return need(list, list->bytes.data, list->bytes.len) ? list->multi : NULL;
}

const char *name_list_text(const struct name_list *list, uint32_t index)
{
    uint32_t low = 0, high = list->head->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (!need(list, &list->items[middle], sizeof *list->items))
            return NULL;
        if (list->items[middle].index < index)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < list->head->count && need(list, &list->items[low], sizeof *list->items) &&
                 list->items[low].index == index;
    return found ? text_of(list, &list->items[low]) : NULL;
}

size_t name_list_numbers(const struct name_list *list, const char *name, uint32_t *ret,
                         size_t capacity)
{
    size_t count = 0;
    const uint32_t *place = place_of(list, name);
    uint32_t at = need(list, place, sizeof *place) ? *place : 0, next;
    for (; at && at <= list->head->count; at = next > at ? next : 0) {
        const struct list_item *item = &list->items[at - 1];
        if (!need(list, item, sizeof *item))
            break;
        next = item->next;
        if (text_compare_fold(text_of(list, item), name) != 0)
            continue;
        if (count < capacity)
            ret[count] = item->index;
        count++;
    }
    return count;
}
