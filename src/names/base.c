/* SPDX-License-Identifier: MIT */
/*
 * The merged language bases, kept per process and rebuilt when the registry changed.
 * Searches use the base's lists (list.c), which processes keep for each other in files.
 *
 * Three sources: texts written by hand (Perflib\LLL\Manual), the vendor's names/LLL.names, and the
 * texts of every registered service (Services\X\Performance\Names\LLL). If several have a text for
 * an index, the first of these sources counts; of several services, the first in registry order.
 */
#include "names/table.h"
#include "registry/registry.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;

/* The vendor's files, listed once per process; each is read when its language is needed. */
#define VENDOR_FOLDER "%s/data/names"
static struct vendor_file {
    uint32_t id;
    char name[sizeof "FFFF.names"];
} vendor[MOST_LANGUAGES];
static struct stat vendor_states[MOST_LANGUAGES]; /* states of the files when they were listed */
static size_t vendor_count;
static bool vendor_listed;

struct name_language *names_languages[MOST_LANGUAGES];
size_t names_language_count;
static int64_t vendor_time; /* modification time of the newest vendor file */
static uint64_t built_from; /* generation of the registry when the bases were built */
static bool built;

/* Converts the name of a language's file or key, such as "009" or "0416"; false: it is not such a
 * name. */
static bool language_of(const char *name, size_t count, uint32_t *ret)
{
    return (count == 3 || count == 4) && text_hex(name, count, ret);
}

/* ---- the vendor's files ---- */

/* Adds the text of a line "index<TAB>text". False: the line has another form. *failed: no
 * memory. */
static bool add_vendor_line(struct name_language *base, const char *line, size_t count,
                            bool *failed)
{
    const char *tab = memchr(line, '\t', count);
    uint32_t index;
    if (!tab || !text_decimal(line, (size_t)(tab - line), &index))
        return false;
    *failed |= !name_table_add(&base->given[names_part_of(index)], index, tab + 1,
                               count - (size_t)(tab + 1 - line));
    return true;
}

static bool add_vendor_text(struct name_language *base, const struct buffer *content,
                            const char *file)
{
    const char *line = content->data;
    bool failed = false;
    for (unsigned number = 1; line && *line && !failed; number++) {
        size_t count = strcspn(line, "\n");
        if (!add_vendor_line(base, line, count, &failed))
            trace("names", "%s:%u is not \"index<TAB>text\"", file, number);
        line += count + (line[count] == '\n');
    }
    return !failed;
}

static LSTATUS list_vendor_file(int folder, const char *name)
{
    static const char ending[] = ".names";
    const char *dot = strrchr(name, '.');
    uint32_t id;
    if (!dot || strcmp(dot, ending) != 0 || !language_of(name, (size_t)(dot - name), &id))
        return ERROR_SUCCESS;
    struct stat st;
    LSTATUS status = ERROR_BUFFER_OVERFLOW;
    if (vendor_count < MOST_LANGUAGES)
        status = fstatat(folder, name, &st, 0) || faccessat(folder, name, R_OK, AT_EACCESS)
                     ? status_from_errno(errno)
                     : ERROR_SUCCESS;
    if (status != ERROR_SUCCESS) {
        trace("names", "cannot read %s: %s", name, status_text(status));
        return status;
    }
    if (clock_filetime_of(&st.st_mtim) > vendor_time)
        vendor_time = clock_filetime_of(&st.st_mtim);
    vendor_states[vendor_count] = st;
    struct vendor_file *file = &vendor[vendor_count++];
    file->id = id;
    memcpy(file->name, name, strlen(name) + 1); /* language_of has limited the name's length */
    return ERROR_SUCCESS;
}

static void forget_vendor(void)
{
    vendor_count = 0;
    vendor_time = 0;
    vendor_listed = false;
}

/* Lists the vendor's files; a missing file has no effect on the others. If there are no descriptors
 * or no memory left, nothing is kept, and the next call tries again. */
static LSTATUS list_vendor(void)
{
    LSTATUS status = ERROR_SUCCESS;
    FREE_AUTO char *path = text_format(VENDOR_FOLDER, place_vendor());
    DIR *folder = path ? opendir(path) : NULL;
    if (!folder)
        status = status_from_errno(errno);
    if (!folder)
        trace("names", "no language bases in %s", path ? path : "the vendor's folder");
    for (struct dirent *entry; folder && !status_is_passing(status) && (entry = readdir(folder));)
        status = list_vendor_file(dirfd(folder), entry->d_name);
    if (folder)
        closedir(folder);
    vendor_listed = !status_is_passing(status);
    if (!vendor_listed)
        forget_vendor();
    return vendor_listed ? ERROR_SUCCESS : status;
}

/* Reads one of the files; a damaged file has no effect on the others. False: there are no
 * descriptors or no memory left. */
static bool read_vendor(size_t number, struct name_language *base)
{
    BUFFER_AUTO content = {0};
    struct stat st, *listed = &vendor_states[number];
    const char *name = vendor[number].name;
    FREE_AUTO char *path = text_format(VENDOR_FOLDER "/%s", place_vendor(), name);
    LSTATUS status = path ? file_read(AT_FDCWD, path, &content) : ERROR_NOT_ENOUGH_MEMORY;
    if (status_is_passing(status) || !add_vendor_text(base, &content, name))
        return false;
    if (status || stat(path, &st) || st.st_ino != listed->st_ino || st.st_size != listed->st_size ||
        clock_filetime_of(&st.st_ctim) != clock_filetime_of(&listed->st_ctim))
        /* the file was replaced since it was listed: lists made from it are not kept for other
         * processes */
        *listed = (struct stat){0};
    return true;
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
        name_list_drop(base->lists[part]);
        buffer_done(&base->wide[part]);
    }
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
    return name_table_add(self, index, text, strlen(text));
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

/* Marks language LLL of a key Perflib\LLL as installed, with or without a file. False: no
 * memory. */
static bool add_perflib_key(void *self, const char *name)
{
    bool *complete = self;
    uint32_t id;
    if (!language_of(name, strlen(name), &id))
        return true; /* skips other keys, such as _V2Providers */
    struct name_language *base = make_language(id);
    FREE_AUTO char *key = text_format("%s\\%s\\Manual", REGISTRY_PERFLIB, name);
    *complete = base && key && add_hand_part(base, NAMES_COUNTER, key) &&
                add_hand_part(base, NAMES_HELP, key);
    if (base)
        base->installed = true;
    return *complete;
}

static bool add_vendor_languages(void)
{
    for (size_t i = 0; i < vendor_count; i++) {
        struct name_language *base = make_language(vendor[i].id);
        if (!base)
            return false;
        base->installed = base->stands = true;
    }
    return true;
}

/* Adds the vendor's texts; false: no memory. */
static bool add_vendor_texts(struct name_language *base)
{
    for (size_t i = 0; i < vendor_count && !base->vended; i++)
        if (vendor[i].id == base->id && !read_vendor(i, base))
            return false;
    return base->vended = true;
}

/* The state of one walk through the services' texts of one language. */
struct service_walk {
    struct name_language *base;
    bool keep; /* true: the texts are kept; false: only the highest indices are recorded */
    bool complete;
};

/* Called also for an empty text: its index is in use. */
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
    struct name_table *table = &walk->base->given[names_part_of(index)];
    walk->complete = name_table_add(table, index, value->data, size);
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

/* Reads the texts that services have in this language, even if the language is not installed: the
 * texts are used once it is installed. False: no memory. */
static bool walk_services(struct name_language *base, bool keep)
{
    struct service_walk walk = {.base = base, .keep = keep, .complete = true};
    registry_each_key(REGISTRY_SERVICES, add_service, &walk);
    return walk.complete;
}

/* Applies a value of SOFTWARE\openperflib\Languages: 1 if the language was installed, 0 if it was
 * removed. False: no memory. */
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

/* Reads the texts of a language when they are first needed. False: there is no memory, or no
 * descriptor; then all languages are dropped, `base` too, so that the next call builds them
 * again. */
bool names_load(struct name_language *base)
{
    if (!base || base->loaded)
        return base != NULL;
    bool loaded = add_vendor_texts(base) && walk_services(base, true);
    if (!loaded) {
        drop_languages();
        return false;
    }
    for (int part = 0; part < NAMES_PARTS; part++) {
        name_table_sort(&base->hand[part]);
        name_table_sort(&base->given[part]);
    }
    return base->loaded = true;
}

struct name_language *names_base(uint32_t language)
{
    struct name_language *base = names_base_exactly(names_language(language));
    return base && base->installed ? base : names_base_exactly(LANGUAGE_ENGLISH);
}

bool names_note_highest(struct name_language *base)
{
    base->noted =
        base->noted || base->loaded || (add_vendor_texts(base) && walk_services(base, false));
    return base->noted;
}

/* ---- lists ---- */

/* Makes the list of a language's texts, with the English text where the language has none. */
static const struct name_list *make_list(struct name_language *base, enum names_part part)
{
    struct name_language *english = names_base_exactly(LANGUAGE_ENGLISH);
    struct name_table merged = {0};
    const struct name_list *list = NULL;
    if (!names_load(english) || !names_load(base))
        return NULL;
    if (name_table_add_all(&merged, &base->hand[part]) &&
        name_table_add_all(&merged, &base->given[part]) &&
        name_table_add_all(&merged, &english->hand[part]) &&
        name_table_add_all(&merged, &english->given[part])) {
        name_table_sort(&merged);
        list = name_list_of_table(&merged);
    }
    name_table_done(&merged);
    if (!list)
        drop_languages();
    return list;
}

/* A list that an earlier process wrote is used if it was made from the same files, so that not
 * every process reads a thousand services' texts to find one name. */
const struct name_list *names_list(struct name_language *base, enum names_part part)
{
    char name[32];
    size_t size;
    const struct name_list *list = base->lists[part];
    bool failed = name_list_failed(list);
    if (list && !failed)
        return list;
    name_list_drop(list);
    base->lists[part] = NULL;
    snprintf(name, sizeof name, "%s.%03X" REGISTRY_INDEX_ENDING,
             part == NAMES_COUNTER ? "names" : "explanations", (unsigned)base->id & 0xffff);
    const struct registry_derived derived = {name, built_from, vendor_states, vendor_count};
    struct registry_content *content = failed ? NULL : registry_derived_open(&derived, &size);
    if (content)
        base->lists[part] = name_list_of_content(content, size);
    if (base->lists[part])
        return base->lists[part];
    list = make_list(base, part);
    if (list) {
        base->lists[part] = list;
        registry_derived_write(&derived, name_list_bytes(list));
    }
    return list;
}

const struct name_list *names_list_whole(struct name_language *base, enum names_part part)
{
    size_t size;
    const struct name_list *list = names_list(base, part);
    return list && !name_list_multi(list, &size) ? names_list(base, part) : list;
}

static bool build(void)
{
    bool complete = true;
    struct name_language *english = make_language(LANGUAGE_ENGLISH);
    if (english)
        /* English is always installed, even without any text */
        english->installed = english->stands = true;
    complete = english && add_vendor_languages();
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
    LSTATUS status = vendor_listed ? ERROR_SUCCESS : list_vendor();
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
    lock_release(&names_lock);
}
