/* SPDX-License-Identifier: MIT */
/*
 * The merged name base of every language, kept per process and rebuilt when the registry changed.
 *
 * Three sources: texts written by hand (Perflib\LLL\Manual), the vendor's names/LLL.names, and the
 * texts of every registered service (Services\X\Performance\Names\LLL). If several have a text for
 * one index the first source counts, among services the first in registry order.
 */
#include "names/table.h"
#include "registry/registry.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;

/* The vendor's texts, read once per process. */
static struct vendor_base {
    uint32_t id;
    struct name_table table;
} vendor[MOST_LANGUAGES];
static size_t vendor_count;
static bool vendor_read;

struct name_language *names_languages[MOST_LANGUAGES];
size_t names_language_count;
static int64_t vendor_time; /* modification time of the newest vendor file */
static uint64_t built_from; /* generation of the registry from which the bases were built */
static bool built;

/* Converts the name of a language's file or key, such as "009" or "0416"; false: it is none. */
static bool language_of(const char *name, size_t count, uint32_t *ret)
{
    return (count == 3 || count == 4) && text_hex(name, count, ret);
}

/* ---- the vendor's files ---- */

static bool add_vendor_line(struct name_table *table, const char *line, size_t count)
{
    const char *tab = memchr(line, '\t', count);
    uint32_t index;
    if (!tab || !text_decimal(line, (size_t)(tab - line), &index))
        return false;
    const char *text = name_intern(tab + 1, count - (size_t)(tab + 1 - line));
    return text && name_table_add(table, index, text);
}

static void add_vendor_text(struct name_table *table, const struct buffer *content,
                            const char *file)
{
    const char *line = content->data;
    for (unsigned number = 1; line && *line; number++) {
        size_t count = strcspn(line, "\n");
        if (!add_vendor_line(table, line, count))
            trace("names", "%s:%u is not \"index<TAB>text\"", file, number);
        line += count + (line[count] == '\n');
    }
}

static LSTATUS read_vendor_file(int folder, const char *file)
{
    static const char ending[] = ".names";
    const char *dot = strrchr(file, '.');
    uint32_t id;
    BUFFER_AUTO content = {0};
    if (!dot || strcmp(dot, ending) != 0 || !language_of(file, (size_t)(dot - file), &id))
        return ERROR_SUCCESS;
    LSTATUS status =
        vendor_count < MOST_LANGUAGES ? file_read(folder, file, &content) : ERROR_BUFFER_OVERFLOW;
    if (status != ERROR_SUCCESS) {
        trace("names", "cannot read %s: %s", file, status_text(status));
        return status;
    }
    struct stat st;
    if (fstatat(folder, file, &st, 0) == 0 && clock_filetime_of(&st.st_mtim) > vendor_time)
        vendor_time = clock_filetime_of(&st.st_mtim);
    struct vendor_base *base = &vendor[vendor_count++];
    base->id = id;
    add_vendor_text(&base->table, &content, file);
    return ERROR_SUCCESS;
}

static void forget_vendor(void)
{
    for (size_t i = 0; i < vendor_count; i++)
        name_table_done(&vendor[i].table);
    memset(vendor, 0, sizeof vendor);
    vendor_count = 0;
    vendor_time = 0;
    vendor_read = false;
}

/* Reads the vendor's files; a damaged or missing one affects only itself. If descriptors or memory
 * are lacking, nothing is kept, and the next call tries again. */
static LSTATUS read_vendor(void)
{
    LSTATUS status = ERROR_SUCCESS;
    FREE_AUTO char *path = text_format("%s/data/names", place_vendor());
    DIR *folder = path ? opendir(path) : NULL;
    if (!folder)
        status = status_from_errno(errno);
    if (!folder)
        trace("names", "no name bases in %s", path ? path : "the vendor's folder");
    for (struct dirent *entry; folder && !status_is_passing(status) && (entry = readdir(folder));)
        status = read_vendor_file(dirfd(folder), entry->d_name);
    if (folder)
        closedir(folder);
    vendor_read = !status_is_passing(status);
    if (!vendor_read)
        forget_vendor();
    return vendor_read ? ERROR_SUCCESS : status;
}

/* ---- building ---- */

struct name_language *names_base_exactly(uint32_t language)
{
    for (size_t i = 0; i < names_language_count; i++)
        if (names_languages[i]->id == language)
            return names_languages[i];
    return NULL;
}

static struct name_language *make_language(uint32_t id)
{
    struct name_language *base = names_base_exactly(id);
    if (base || names_language_count == MOST_LANGUAGES || !(base = calloc(1, sizeof *base)))
        return base;
    base->id = id;
    size_t at = names_language_count++;
    for (; at > 0 && names_languages[at - 1]->id > id; at--)
        names_languages[at] = names_languages[at - 1];
    names_languages[at] = base;
    return base;
}

static void free_language(struct name_language *base)
{
    for (int part = 0; part < NAMES_PARTS; part++) {
        name_table_done(&base->hand[part]);
        name_table_done(&base->given[part]);
        name_table_done(&base->merged[part]);
        buffer_done(&base->text[part][false]);
        buffer_done(&base->text[part][true]);
    }
    free(base->by_name);
    free(base);
}

static void drop_languages(void)
{
    while (names_language_count)
        free_language(names_languages[--names_language_count]);
    built = false;
}

static bool add_hand_pair(void *self, uint32_t index, const char *text)
{
    const char *kept = name_intern(text, strlen(text));
    return kept && name_table_add(self, index, kept);
}

static bool add_hand_part(struct name_language *base, enum names_part part, const char *key)
{
    uint32_t type = 0;
    BUFFER_AUTO multi = {0};
    const char *value = part == NAMES_COUNTER ? "Counter" : "Help";
    LSTATUS status = registry_get(key, value, &type, &multi);
    if (status != ERROR_SUCCESS || type != REG_MULTI_SZ || !multi.len)
        return true;
    return name_pairs_each(multi.data, multi.len + 1, add_hand_pair, &base->hand[part]);
}

/* Each key Perflib\LLL is an installed language, with or without a vendor's file. */
static bool add_perflib_key(void *self, const char *name)
{
    bool *complete = self;
    uint32_t id;
    if (!language_of(name, strlen(name), &id))
        return true; /* _V2Providers and similar keys */
    struct name_language *base = make_language(id);
    FREE_AUTO char *key = text_format("%s\\%s\\Manual", REGISTRY_PERFLIB, name);
    *complete = base && key && add_hand_part(base, NAMES_COUNTER, key) &&
                add_hand_part(base, NAMES_HELP, key);
    if (base)
        base->installed = true;
    return *complete;
}

static bool add_vendor(void)
{
    for (size_t i = 0; i < vendor_count; i++) {
        const struct name_table *table = &vendor[i].table;
        struct name_language *base = make_language(vendor[i].id);
        bool added = base != NULL;
        for (size_t k = 0; added && k < table->count; k++) {
            const struct name_entry *entry = &table->entries[k];
            struct name_table *part = &base->given[names_part_of(entry->index)];
            added = name_table_add(part, entry->index, entry->text);
        }
        if (!added)
            return false;
        base->installed = base->stands = true;
    }
    return true;
}

/* One walk through the services' texts of one language. */
struct service_walk {
    struct name_language *base;
    bool keep; /* true: the texts are kept; false: only the highest indices are needed */
    bool complete;
};

/* An index is in use even when its text is empty. */
static void note_index(struct name_language *base, uint32_t index)
{
    uint32_t *highest = &base->highest[names_part_of(index)];
    if (index > *highest)
        *highest = index;
}

static bool add_service_text(void *self, const struct registry_value *value)
{
    struct service_walk *walk = self;
    uint32_t index;
    if (value->type != REG_SZ || !text_decimal(value->name, strlen(value->name), &index))
        return true;
    note_index(walk->base, index);
    size_t size = strnlen(value->data, value->size);
    if (!size || !walk->keep)
        return true; /* empty: no explanation was written; the English one, if any, is used */
    const char *text = name_intern(value->data, size);
    walk->complete = text && name_table_add(&walk->base->given[names_part_of(index)], index, text);
    return walk->complete;
}

static bool add_service(void *self, const char *name)
{
    struct service_walk *walk = self;
    FREE_AUTO char *key = text_format("%s\\%s\\Performance\\Names\\%03X", REGISTRY_SERVICES, name,
                                      (unsigned)walk->base->id & 0xffff);
    walk->complete = key != NULL;
    if (key)
        registry_each_value(key, add_service_text, walk);
    return walk->complete;
}

/* Reads the texts that services have in this language. A language that is not installed may have
 * some, too: they are used once it is installed. False: no memory. */
static bool walk_services(struct name_language *base, bool keep)
{
    struct service_walk walk = {.base = base, .keep = keep, .complete = true};
    registry_each_key(REGISTRY_SERVICES, add_service, &walk);
    return walk.complete;
}

/* Applies a value of SOFTWARE\openperflib\Languages: 1 if the language was installed, 0 if it was
 * removed. */
static bool add_choice(void *self, const struct registry_value *value)
{
    bool *complete = self;
    uint32_t id, choice;
    if (!language_of(value->name, strlen(value->name), &id) || value->type != REG_DWORD ||
        value->size != sizeof choice || id == LANGUAGE_ENGLISH)
        return true;
    memcpy(&choice, value->data, sizeof choice);
    struct name_language *base = make_language(id);
    *complete = base != NULL;
    if (base)
        base->installed = base->stands = choice != 0;
    return *complete;
}

static bool merge(struct name_language *base, const struct name_language *english)
{
    bool merged = true;
    for (int part = 0; part < NAMES_PARTS; part++) {
        struct name_table *table = &base->merged[part];
        merged = merged && name_table_add_all(table, &base->hand[part]) &&
                 name_table_add_all(table, &base->given[part]) &&
                 name_table_add_all(table, &english->hand[part]) &&
                 name_table_add_all(table, &english->given[part]);
        name_table_sort(&base->hand[part]);
        name_table_sort(&base->given[part]);
        name_table_sort(table);
    }
    return merged;
}

/* Services' texts are read when their language is first needed; those in English with any
 * language. */
bool names_load(struct name_language *base)
{
    struct name_language *english = names_base_exactly(LANGUAGE_ENGLISH);
    if (!base || base->loaded)
        return base != NULL;
    if (base != english && !names_load(english))
        return false;
    base->loaded = walk_services(base, true) && merge(base, english);
    if (!base->loaded)
        drop_languages(); /* an incomplete base is dropped; the next call starts again */
    return base->loaded;
}

struct name_language *names_base(uint32_t language)
{
    struct name_language *base = names_base_exactly(names_language(language));
    if (!base || !base->installed)
        base = names_base_exactly(LANGUAGE_ENGLISH);
    return names_load(base) ? base : NULL;
}

bool names_note_highest(struct name_language *base)
{
    base->noted = base->noted || base->loaded || walk_services(base, false);
    return base->noted;
}

static bool build(void)
{
    bool complete = true;
    struct name_language *english = make_language(LANGUAGE_ENGLISH);
    if (english)
        english->installed = english->stands = true; /* always, even without any text */
    complete = english && add_vendor();
    if (complete)
        registry_each_key(REGISTRY_PERFLIB, add_perflib_key, &complete);
    if (complete)
        registry_each_value(NAMES_LANGUAGES_KEY, add_choice, &complete);
    return complete;
}

LSTATUS names_refresh(void)
{
    uint64_t generation = registry_generation();
    if (built && generation == built_from)
        return ERROR_SUCCESS;
    LSTATUS status = vendor_read ? ERROR_SUCCESS : read_vendor();
    if (status)
        return status;
    drop_languages();
    if (!build()) {
        drop_languages();
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    built_from = generation;
    built = true;
    trace("names", "%zu languages", names_language_count);
    return ERROR_SUCCESS;
}

int64_t names_last_write(void)
{
    int64_t time = registry_last_write();
    lock_take(&names_lock);
    if (names_refresh() == ERROR_SUCCESS && vendor_time > time)
        time = vendor_time;
    lock_release(&names_lock);
    return time;
}

void names_forget(void)
{
    lock_take(&names_lock);
    drop_languages();
    forget_vendor();
    name_intern_forget();
    lock_release(&names_lock);
}
