/* SPDX-License-Identifier: MIT */
/* Titles and explanations, read as any program reads them: "Counter 009" and "Explain 009". The
 * pairs may be in any order, with gaps and duplicates; the first of equal indices is used.
 * (docs/windows/articles.md#c21) */
#include "view.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <winerror.h>

enum { DISTANCE_SIZE = 64, TITLES_MOST = 8 << 20 };

static int by_index(const void *left, const void *right)
{
    const struct name_row *a = left, *b = right;
    if (a->index != b->index)
        return a->index < b->index ? -1 : 1;
    return a->text < b->text ? -1 : a->text > b->text;
}

/* Fills rows from the multi-string (`rows` NULL: only counts them); returns how many there are. */
static size_t table_fill(const char *data, size_t size, struct name_row *rows)
{
    size_t count = 0;
    const char *end = data + size;
    while (data < end && *data) {
        const char *number = data;
        const char *text = data + strlen(data) + 1;
        if (text >= end)
            break;
        if (rows)
            rows[count] = (struct name_row){(uint32_t)strtoul(number, NULL, 10), text};
        count++;
        data = text + strlen(text) + 1;
    }
    return count;
}

static void table_sort(struct view_titles *table)
{
    size_t kept = 0;
    qsort(table->rows, table->count, sizeof *table->rows, by_index);
    for (size_t i = 0; i < table->count; i++)
        if (kept == 0 || table->rows[kept - 1].index != table->rows[i].index)
            table->rows[kept++] = table->rows[i];
    table->count = kept;
}

static LSTATUS table_read(const char *query, char **ret_data, DWORD *ret_size)
{
    DWORD size = 0;
    LSTATUS status = RegQueryValueExA(view_key(), query, NULL, NULL, NULL, &size);
    for (int tries = 0; status == ERROR_SUCCESS || status == ERROR_MORE_DATA; tries++) {
        char *data = size <= TITLES_MOST ? malloc((size_t)size + 2) : NULL;
        if (size > TITLES_MOST)
            return ERROR_INVALID_DATA;
        if (!data || tries == 8) {
            free(data);
            return data ? ERROR_MORE_DATA : ERROR_NOT_ENOUGH_MEMORY;
        }
        status = RegQueryValueExA(view_key(), query, NULL, NULL, (LPBYTE)data, &size);
        if (status == ERROR_SUCCESS) {
            data[size] = data[size + 1] = 0;
            *ret_data = data;
            *ret_size = size;
            return ERROR_SUCCESS;
        }
        free(data);
    }
    return status;
}

static LSTATUS table_load(struct view_titles *table, const char *part, const char *language)
{
    char query[32];
    DWORD size;
    snprintf(query, sizeof query, "%s %s", part, language);
    LSTATUS status = table_read(query, &table->data, &size);
    if (status)
        return status;
    table->count = table_fill(table->data, size, NULL);
    table->rows = calloc(table->count + 1, sizeof *table->rows);
    if (!table->rows)
        table->count = 0;
    table_fill(table->data, table->rows ? size : 0, table->rows);
    table_sort(table);
    return ERROR_SUCCESS;
}

static const char *table_get(const struct view_titles *table, uint32_t index)
{
    struct name_row key = {index, NULL};
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->rows[middle].index < key.index)
            low = middle + 1;
        else
            high = middle;
    }
    return low < table->count && table->rows[low].index == index ? table->rows[low].text : NULL;
}

LSTATUS names_load(struct view_names *names, const char *language)
{
    *names = (struct view_names){0};
    snprintf(names->language, sizeof names->language, "%s", language);
    LSTATUS status = table_load(&names->english, "Counter", "009");
    if (!status && strcmp(language, "009") != 0)
        status = table_load(&names->chosen, "Counter", language);
    return status;
}

static void table_done(struct view_titles *table)
{
    free(table->data);
    free(table->rows);
}

void names_done(struct view_names *names)
{
    table_done(&names->english);
    table_done(&names->chosen);
    table_done(&names->helps);
    *names = (struct view_names){0};
}

const char *names_english(const struct view_names *names, uint32_t index)
{
    return table_get(&names->english, index);
}

const char *names_title(const struct view_names *names, uint32_t index)
{
    const char *title = table_get(&names->chosen, index);
    return title ? title : names_english(names, index);
}

const char *names_help(struct view_names *names, uint32_t index)
{
    if (!names->helps_loaded)
        table_load(&names->helps, "Explain", names->language);
    names->helps_loaded = true;
    const char *help = table_get(&names->helps, index);
    return help && *help ? help : NULL;
}

bool names_fell_back(const struct view_names *names)
{
    if (!names->chosen.count)
        return false;
    for (size_t i = 0; i < names->chosen.count; i++) {
        const char *english = names_english(names, names->chosen.rows[i].index);
        if (!english || strcmp(english, names->chosen.rows[i].text) != 0)
            return false;
    }
    return true;
}

static size_t table_find(const struct view_titles *table, const char *title, uint32_t *ret,
                         size_t capacity)
{
    size_t found = 0;
    for (size_t i = 0; i < table->count && found < capacity; i++)
        if (table->rows[i].index > 1 && text_equal(table->rows[i].text, title))
            ret[found++] = table->rows[i].index;
    return found;
}

size_t names_find(const struct view_names *names, const char *title, uint32_t *ret, size_t capacity)
{
    size_t found = 0;
    const struct view_titles *tables[] = {&names->chosen, &names->english};
    for (size_t t = 0; t < 2; t++)
        found += table_find(tables[t], title, ret + found, capacity - found);
    return found;
}

/* Tries all installed languages, which are the subkeys of Perflib. */
size_t names_find_elsewhere(const char *title, uint32_t *ret, size_t capacity)
{
    HKEY root, perflib;
    char language[16];
    size_t found = 0;
    DWORD size = sizeof language;
    if (view_root(&root))
        return 0;
    LSTATUS status = RegOpenKeyExA(root, "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib",
                                   0, KEY_READ, &perflib);
    RegCloseKey(root);
    for (DWORD i = 0; !status && !found; i++, size = sizeof language) {
        struct view_titles table = {0};
        if (RegEnumKeyExA(perflib, i, language, &size, NULL, NULL, NULL, NULL))
            break;
        if (!table_load(&table, "Counter", language))
            found = table_find(&table, title, ret, capacity);
        table_done(&table);
    }
    if (!status)
        RegCloseKey(perflib);
    return found;
}

static unsigned least(unsigned a, unsigned b, unsigned c)
{
    unsigned ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Returns the edit distance of the first DISTANCE_SIZE bytes; 1 if one text contains the other. */
unsigned names_distance(const char *left, const char *right)
{
    unsigned row[DISTANCE_SIZE + 1];
    size_t columns = strnlen(right, DISTANCE_SIZE);
    if (text_equal(left, right))
        return 0;
    if (text_contains(left, right) || text_contains(right, left))
        return 1;
    for (size_t j = 0; j <= columns; j++)
        row[j] = (unsigned)j;
    for (size_t i = 0; i < DISTANCE_SIZE && left[i]; i++) {
        unsigned corner = row[0];
        row[0] = (unsigned)i + 1;
        for (size_t j = 0; j < columns; j++) {
            bool same = toupper((unsigned char)left[i]) == toupper((unsigned char)right[j]);
            unsigned next = least(row[j] + 1, row[j + 1] + 1, corner + !same);
            corner = row[j + 1];
            row[j + 1] = next;
        }
    }
    return row[columns];
}
