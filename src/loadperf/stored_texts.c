/* SPDX-License-Identifier: MIT */
/* Texts by language and index, from a backup or from the registry. */
#include "loadperf/stored.h"

#include <stdlib.h>
#include <string.h>

void stored_texts_done(struct stored_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        free(texts->list[i].text);
    free(texts->list);
    *texts = (struct stored_texts){0};
}

bool stored_texts_add(struct stored_texts *texts, uint32_t language, uint32_t index, char *text)
{
    if (!text || !list_grow(&texts->list, texts->count, &texts->capacity, sizeof *texts->list)) {
        free(text);
        return false;
    }
    texts->list[texts->count++] = (struct stored_text){language, index, text};
    return true;
}

static int compare(const struct stored_text *text, uint32_t language, uint32_t index)
{
    if (text->language != language)
        return text->language < language ? -1 : 1;
    return text->index < index ? -1 : text->index > index;
}

/* Merge sort is stable, and needs one pass if the texts are sorted already. */
static void merge_halves(struct stored_text *list, size_t half, size_t count,
                         struct stored_text *storage)
{
    size_t left = 0, right = half, at = 0;
    memcpy(storage, list, half * sizeof *list);
    while (left < half) {
        bool take_right =
            right < count && compare(&list[right], storage[left].language, storage[left].index) < 0;
        list[at++] = take_right ? list[right++] : storage[left++];
    }
}

static void sort(struct stored_text *list, size_t count, struct stored_text *storage)
{
    size_t half = count / 2;
    if (count < 2)
        return;
    sort(list, half, storage);
    sort(list + half, count - half, storage);
    if (compare(&list[half - 1], list[half].language, list[half].index) > 0)
        merge_halves(list, half, count, storage);
}

static bool in_order(const struct stored_texts *texts)
{
    for (size_t i = 1; i < texts->count; i++)
        if (compare(&texts->list[i - 1], texts->list[i].language, texts->list[i].index) >= 0)
            return false;
    return true;
}

bool stored_texts_sort(struct stored_texts *texts)
{
    size_t kept = 0;
    if (in_order(texts))
        return true;
    FREE_AUTO struct stored_text *storage = calloc(texts->count, sizeof *storage);
    if (!storage)
        return false;
    sort(texts->list, texts->count, storage);
    for (size_t i = 0; i < texts->count; i++) {
        struct stored_text *text = &texts->list[i];
        if (kept && !compare(&texts->list[kept - 1], text->language, text->index))
            free(text->text);
        else
            texts->list[kept++] = *text;
    }
    texts->count = kept;
    return true;
}

size_t stored_texts_from(const struct stored_texts *texts, uint32_t language, uint32_t index)
{
    size_t low = 0, high = texts->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (compare(&texts->list[middle], language, index) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const char *stored_texts_find(const struct stored_texts *texts, uint32_t language, uint32_t index)
{
    size_t at = stored_texts_from(texts, language, index);
    bool found = at < texts->count && !compare(&texts->list[at], language, index);
    return found ? texts->list[at].text : NULL;
}

bool stored_texts_language(const struct stored_texts *texts, size_t *cursor, uint32_t *ret)
{
    if (*cursor >= texts->count)
        return false;
    *ret = texts->list[*cursor].language;
    *cursor = stored_texts_from(texts, *ret + 1, 0);
    return true;
}

/* ---- of a service ---- */

struct collecting {
    struct stored_texts *texts;
    const char *names_key;
    uint32_t language;
    LSTATUS status;
};

static bool take_value(void *self, const struct registry_value *value)
{
    struct collecting *collecting = self;
    uint32_t index;
    if (value->type != REG_SZ || !text_decimal(value->name, strlen(value->name), &index))
        return true;
    char *text = strndup(value->size ? value->data : "", value->size);
    if (!stored_texts_add(collecting->texts, collecting->language, index, text))
        collecting->status = ERROR_NOT_ENOUGH_MEMORY;
    return !collecting->status;
}

static bool take_language(void *self, const char *name)
{
    struct collecting *collecting = self;
    if (!text_hex(name, strlen(name), &collecting->language))
        return true;
    FREE_AUTO char *key = text_format("%s\\%s", collecting->names_key, name);
    LSTATUS status =
        key ? registry_each_value(key, take_value, collecting) : ERROR_NOT_ENOUGH_MEMORY;
    if (status && status != ERROR_FILE_NOT_FOUND)
        collecting->status = status;
    return !collecting->status;
}

LSTATUS stored_texts_of_service(const char *service, struct stored_texts *ret)
{
    FREE_AUTO char *key = text_format("%s\\%s\\Performance\\Names", REGISTRY_SERVICES, service);
    struct collecting collecting = {.texts = ret, .names_key = key};
    LSTATUS status =
        key ? registry_each_key(key, take_language, &collecting) : ERROR_NOT_ENOUGH_MEMORY;
    if (status == ERROR_FILE_NOT_FOUND)
        status = ERROR_SUCCESS;
    status = status ? status : collecting.status;
    if (!status && !stored_texts_sort(ret))
        status = ERROR_NOT_ENOUGH_MEMORY;
    return status;
}

/* ---- of a language ---- */

static LSTATUS add_pairs(uint32_t language, const struct buffer *multi, struct stored_texts *ret)
{
    const char *cursor = multi->data, *end = multi->data + multi->len, *text;
    uint32_t index = 0;
    bool wants_index = true;
    if (!multi->data)
        return ERROR_SUCCESS;
    while ((text = text_multi_next(&cursor, end))) {
        if (wants_index) {
            wants_index = !text_decimal(text, strlen(text), &index);
            continue;
        }
        wants_index = true;
        if (!stored_texts_add(ret, language, index, strdup(text)))
            return ERROR_NOT_ENOUGH_MEMORY;
    }
    return ERROR_SUCCESS;
}

static LSTATUS read_base(enum names_part part, uint32_t language, struct buffer *ret)
{
    DWORD size = 0;
    LSTATUS status = names_text(part, language, false, NULL, &size);
    while (!status) {
        buffer_clear(ret);
        if (!buffer_reserve(ret, size + 1))
            return ERROR_NOT_ENOUGH_MEMORY;
        status = names_text(part, language, false, ret->data, &size);
        if (!status)
            break;
        status = status == ERROR_MORE_DATA ? ERROR_SUCCESS : status;
    }
    ret->len = status ? 0 : size;
    return status;
}

LSTATUS stored_texts_of_language(uint32_t language, struct stored_texts *ret)
{
    LSTATUS status = ERROR_SUCCESS;
    for (int part = NAMES_COUNTER; !status && part <= NAMES_HELP; part++) {
        BUFFER_AUTO multi = {0};
        status = read_base((enum names_part)part, language, &multi);
        if (status)
            load_language_event(EVENT_NO_NAMES + (part == NAMES_HELP), language, status);
        status = status ? status : add_pairs(language, &multi, ret);
    }
    return status;
}

LSTATUS stored_texts_by_hand(uint32_t language, struct stored_texts *ret)
{
    static const char *const values[] = {"Counter", "Help"};
    LSTATUS status = ERROR_SUCCESS;
    FREE_AUTO char *key =
        text_format("%s\\%03X\\Manual", REGISTRY_PERFLIB, (unsigned)language & 0xffff);
    if (!key)
        return ERROR_NOT_ENOUGH_MEMORY;
    for (size_t i = 0; !status && i < COUNT(values); i++) {
        uint32_t type;
        BUFFER_AUTO multi = {0};
        status = registry_get(key, values[i], &type, &multi);
        if (!status && type == REG_MULTI_SZ)
            status = add_pairs(language, &multi, ret);
        status = status == ERROR_FILE_NOT_FOUND ? ERROR_SUCCESS : status;
    }
    return status;
}
