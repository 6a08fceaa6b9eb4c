/* SPDX-License-Identifier: MIT */
/*
 * Reads blocks of a machine, this one or a remote one, and titles of remote ones, through the
 * public performance key. Titles and objects are kept after they were read. The machine's lock
 * guards them, and is never held during a query.
 */
#include "pdh/live/machine.h"
#include "names/names.h"
#include "registry/registry.h"

#include <openperflib/machine.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LANGUAGES = 64, LABEL_SIZE = 2 + 256 };

struct language {
    uint32_t id;
    const struct name_list *titles; /* the language's titles; NULL: not read yet */
    bool absent;                    /* the machine does not have this language */
};
struct machine {
    struct machine *next;
    char label[LABEL_SIZE];
    HKEY key;
    pthread_mutex_t lock; /* guards the members below */
    struct language user, english;
    struct language explanations;
    struct language others[MOST_LANGUAGES];
    size_t other_count;
    bool others_known;
    int64_t titles_ticks;             /* when the titles were read, or last found up to date */
    uint32_t last_counter, last_help; /* values of a remote machine, as last read */
    struct object_infos caches[CACHES];
    size_t cache_capacity[CACHES];
    bool listed; /* caches[CACHE_STABLE] is the complete list */
};

static struct machine own = {.key = HKEY_PERFORMANCE_DATA, .lock = PTHREAD_MUTEX_INITIALIZER};
static struct machine *machines; /* all machines but `own`, newest first */
static pthread_mutex_t machines_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- search ---- */

static struct machine *find_connected(const char *name)
{
    struct machine *machine = machines;
    while (machine && !text_equal_fold(path_machine_name(machine->label), name))
        machine = machine->next;
    return machine;
}

/* Adds a machine that was just connected. Takes ownership of the key. */
static PDH_STATUS take_machine(const char *name, HKEY key, struct machine **ret)
{
    lock_take(&machines_lock);
    /* not NULL if another thread has connected to the machine meanwhile */
    struct machine *machine = find_connected(name);
    bool ours = !machine && (machine = calloc(1, sizeof *machine));
    if (ours) {
        snprintf(machine->label, sizeof machine->label, "\\\\%s", name);
        machine->key = key;
        pthread_mutex_init(&machine->lock, NULL);
        machine->next = machines;
        machines = machine;
    }
    lock_release(&machines_lock);
    if (!ours)
        key_close(key);
    *ret = machine;
    return machine ? 0 : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
}

static struct machine *own_machine(void)
{
    lock_take(&machines_lock);
    if (!own.label[0]) {
        char name[16 * 4];
        machine_name(NULL, name);
        snprintf(own.label, sizeof own.label, "\\\\%s", name);
    }
    lock_release(&machines_lock);
    return &own;
}

/* Finds a machine that is connected already; NULL: the machine is not connected. */
static struct machine *known_machine(const char *name)
{
    if (machine_is_own(name))
        return own_machine();
    lock_take(&machines_lock);
    struct machine *machine = find_connected(path_machine_name(name));
    lock_release(&machines_lock);
    return machine;
}

/* Finds the pending connection to `name`; entries with the same name share one. */
static struct pending_connect *pending_of(struct pending_connect *pendings, size_t count,
                                          const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (text_equal_fold(pendings[i].machine, name))
            return &pendings[i];
    return NULL;
}

/* Connects to the machines that are not known yet; returns how many machines these are. */
static size_t connect_to(struct machine_wanted *wanted, size_t count,
                         struct pending_connect *pendings)
{
    size_t begun = 0;
    for (size_t i = 0; i < count; i++) {
        wanted[i].machine = known_machine(wanted[i].name);
        const char *name = wanted[i].machine ? "" : path_machine_name(wanted[i].name);
        if (!wanted[i].machine && strlen(name) + 3 <= LABEL_SIZE &&
            !pending_of(pendings, begun, name))
            pendings[begun++] =
                (struct pending_connect){.machine = name, .root = HKEY_PERFORMANCE_DATA};
    }
    if (begun)
        key_connect_all(pendings, begun);
    return begun;
}

/* Stores the result of a connection in the entry `one`. The first entry with a name takes ownership
 * of the key; later entries with that name find the machine among the known ones. */
static void take_connect(struct machine_wanted *one, struct pending_connect *pending)
{
    one->reason = pending ? pending->status : ERROR_BAD_NETPATH;
    one->status = one->reason ? (PDH_STATUS)PDH_CSTATUS_NO_MACHINE : 0;
    if (!one->reason && pending->key)
        one->status = take_machine(pending->machine, pending->key, &one->machine);
    else if (!one->reason && !(one->machine = known_machine(one->name)))
        one->status = (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    if (pending)
        pending->key = NULL;
}

void machine_find_all(struct machine_wanted *wanted, size_t count)
{
    FREE_AUTO struct pending_connect *pendings = calloc(count + 1, sizeof *pendings);
    size_t begun = pendings ? connect_to(wanted, count, pendings) : 0;
    for (size_t i = 0; i < count; i++) {
        struct machine_wanted *one = &wanted[i];
        one->status = pendings ? 0 : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
        one->reason = pendings ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
        if (pendings && !one->machine)
            take_connect(one, pending_of(pendings, begun, path_machine_name(one->name)));
    }
}

PDH_STATUS machine_find(const char *name, struct machine **ret)
{
    struct machine_wanted wanted = {.name = name};
    *ret = known_machine(name);
    if (*ret)
        return 0;
    machine_find_all(&wanted, 1);
    *ret = wanted.machine;
    return wanted.status;
}

const char *machine_label(const struct machine *machine)
{
    return machine->label;
}

void machine_list(struct buffer *ret)
{
    const char *label = own_machine()->label; /* the first call of own_machine makes the label */
    buffer_add(ret, label, strlen(label) + 1);
    lock_take(&machines_lock);
    for (const struct machine *machine = machines; machine; machine = machine->next)
        buffer_add(ret, machine->label, strlen(machine->label) + 1);
    lock_release(&machines_lock);
}

/* ---- queries ---- */

static PDH_STATUS status_of_query(const struct machine *machine, LSTATUS status)
{
    if (status == ERROR_NOT_ENOUGH_MEMORY || status == ERROR_OUTOFMEMORY)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    bool away = status == RPC_S_SERVER_UNAVAILABLE || status == RPC_S_CALL_FAILED ||
                status == ERROR_BUSY || status == ERROR_BAD_NETPATH;
    if (machine != &own && away)
        return (PDH_STATUS)PDH_CSTATUS_NO_MACHINE;
    return (PDH_STATUS)PDH_NO_DATA;
}

void machine_query_all(struct machine_request *requests, size_t count)
{
    struct key_request few[FEW_MACHINES];
    FREE_AUTO struct key_request *many = count > FEW_MACHINES ? calloc(count, sizeof *many) : NULL;
    struct key_request *pending_all = count > FEW_MACHINES ? many : few;
    for (size_t i = 0; i < count; i++) {
        requests[i].status = (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
        if (pending_all)
            pending_all[i] = (struct key_request){.key = requests[i].machine->key,
                                                  .name = requests[i].query,
                                                  .data = &requests[i].snapshot->bytes};
    }
    if (!pending_all)
        return;
    key_query_all(pending_all, count);
    for (size_t i = 0; i < count; i++)
        requests[i].status = pending_all[i].status
                                 ? status_of_query(requests[i].machine, pending_all[i].status)
                                 : snapshot_parse(requests[i].snapshot);
}

/* Sends one query. The buffer is from the start as large as the last answer, because the providers
 * must collect again if it is too small. */
PDH_STATUS machine_query(struct machine *machine, const char *query, struct snapshot *ret)
{
    static _Atomic size_t usual_bytes;
    buffer_reserve(&ret->bytes, usual_bytes);
    struct machine_request request = {.machine = machine, .query = query, .snapshot = ret};
    machine_query_all(&request, 1);
    usual_bytes = ret->bytes.capacity ? ret->bytes.capacity - 1 : 0;
    return request.status;
}

/* ---- titles ---- */

static LSTATUS read_multi(HKEY key, const char *query, struct buffer *ret)
{
    enum { MOST_TRIES = 10 };
    LSTATUS status;
    DWORD size = 0;
    int tries = 0;
    do { /* the text may grow between two calls */
        buffer_clear(ret);
        if (!buffer_reserve(ret, size))
            return ERROR_NOT_ENOUGH_MEMORY;
        size = (DWORD)ret->capacity;
        status = key_query(key, query, false, NULL, ret->data, &size);
    } while (status == ERROR_MORE_DATA && size > ret->capacity && ++tries < MOST_TRIES);
    if (status == ERROR_MORE_DATA)
        trace("pdh", "\"%s\": %u bytes are needed, %zu are offered after %d tries", query,
              (unsigned)size, ret->capacity, tries);
    ret->len = status ? 0 : size;
    return status;
}

/* Reads titles: this machine's from the lists of names/names.h, those of others through their
 * performance key. */
static LSTATUS load_titles(const struct machine *machine, enum names_part part, uint32_t language,
                           const struct name_list **ret)
{
    char query[32];
    BUFFER_AUTO multi = {0};
    LSTATUS status = ERROR_SUCCESS;
    if (machine == &own) {
        *ret = names_hold(part, language);
        return *ret ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
    }
    snprintf(query, sizeof query, "%s %03X", part == NAMES_COUNTER ? "Counter" : "Explain",
             (unsigned)language & 0xffff);
    status = read_multi(machine->key, query, &multi);
    *ret = status ? NULL : name_list_make(multi.data, multi.len);
    return status || *ret ? status : ERROR_NOT_ENOUGH_MEMORY;
}

/* Returns the title of an index. The first pair has the number of pairs and is not a title. */
static const char *title_of(const struct name_list *titles, uint32_t index)
{
    return titles && index != NAMES_FIRST_PAIR ? name_list_text(titles, index) : NULL;
}

static bool are_held(const struct language *language, uint32_t id)
{
    return language->id == id && !name_list_failed(language->titles) &&
           (language->titles || language->absent);
}

/* Returns the titles; NULL: they cannot be read. The machine's lock is held on return, so that no
 * other thread frees them; it must be released by let_go. */
static const struct name_list *hold_titles(struct machine *machine, struct language *language,
                                           enum names_part part, uint32_t id)
{
    const struct name_list *titles = NULL;
    lock_take(&machine->lock);
    if (are_held(language, id))
        return language->titles;
    lock_release(&machine->lock);
    LSTATUS status = load_titles(machine, part, id, &titles);
    lock_take(&machine->lock);
    if (language->titles &&
        are_held(language, id)) { /* another thread has read the titles meanwhile */
        name_list_drop(titles);
        return language->titles;
    }
    /* frees the titles of the previous language if the environment variables have changed */
    name_list_drop(language->titles);
    *language = (struct language){id, titles, status == ERROR_FILE_NOT_FOUND};
    if (!machine->titles_ticks)
        machine->titles_ticks = clock_ticks();
    return titles;
}

/* Ends the use of titles. True: the list was damaged, so it must be searched again after it was
 * made anew. */
static bool let_go(struct machine *machine, const struct name_list *titles)
{
    bool failed = name_list_failed(titles);
    lock_release(&machine->lock);
    return failed;
}

static uint32_t user_language(void)
{
    return names_language(names_user_langid());
}

static const struct name_list *hold_english(struct machine *machine)
{
    return hold_titles(machine, &machine->english, NAMES_COUNTER, LANGUAGE_ENGLISH);
}

/* Returns English titles if the machine does not have the user's language. */
static const struct name_list *hold_user(struct machine *machine)
{
    uint32_t id = user_language();
    if (id == LANGUAGE_ENGLISH)
        return hold_english(machine);
    const struct name_list *titles = hold_titles(machine, &machine->user, NAMES_COUNTER, id);
    if (titles)
        return titles;
    lock_release(&machine->lock);
    return hold_english(machine);
}

/* Finds the installed languages; each is a subkey of Perflib. */
static void find_languages(struct machine *machine)
{
    HKEY root = HKEY_LOCAL_MACHINE, perflib;
    uint32_t ids[MOST_LANGUAGES];
    size_t count = 0;
    if (machine != &own && key_connect(machine->label, HKEY_LOCAL_MACHINE, &root))
        return;
    if (!key_open(root, strchr(REGISTRY_PERFLIB, '\\') + 1, KEY_READ, &perflib)) {
        char name[256];
        DWORD size = sizeof name;
        for (DWORD i = 0;
             count < MOST_LANGUAGES && !key_enum_key(perflib, i, false, name, &size, NULL);
             i++, size = sizeof name)
            count += text_hex(name, strlen(name), &ids[count]);
        key_close(perflib);
    }
    if (root != HKEY_LOCAL_MACHINE)
        key_close(root);
    lock_take(&machine->lock);
    for (size_t i = 0; i < count && !machine->others_known; i++) {
        name_list_drop(machine->others[machine->other_count].titles);
        machine->others[machine->other_count++] = (struct language){.id = ids[i]};
    }
    machine->others_known = true;
    lock_release(&machine->lock);
}

/* Returns true, with the machine's lock held, if there is a language with that number. */
static bool hold_other(struct machine *machine, size_t number, const struct name_list **ret)
{
    lock_take(&machine->lock);
    bool known = machine->others_known;
    lock_release(&machine->lock);
    if (!known)
        find_languages(machine);
    lock_take(&machine->lock);
    bool there = number < machine->other_count;
    uint32_t id = machine->others[there ? number : 0].id;
    lock_release(&machine->lock);
    if (there)
        *ret = hold_titles(machine, &machine->others[number], NAMES_COUNTER, id);
    return there;
}

static size_t numbers_of_others(struct machine *machine, const char *name,
                                uint32_t ret[static MOST_NUMBERS])
{
    const struct name_list *titles;
    size_t count = 0;
    for (size_t i = 0; !count && hold_other(machine, i, &titles);) {
        count = titles ? name_list_numbers(titles, name, ret, MOST_NUMBERS) : 0;
        i += !let_go(machine, titles);
    }
    return count;
}

size_t machine_numbers(struct machine *machine, enum title_stage stage, const char *name,
                       uint32_t ret[static MOST_NUMBERS])
{
    size_t count = 0;
    if (stage == STAGE_NUMBER)
        return text_decimal(name, strlen(name), &ret[0]);
    if (stage == STAGE_OTHERS)
        count = numbers_of_others(machine, name, ret);
    else {
        const struct name_list *titles;
        do {
            titles = stage == STAGE_USER ? hold_user(machine) : hold_english(machine);
            count = titles ? name_list_numbers(titles, name, ret, MOST_NUMBERS) : 0;
        } while (let_go(machine, titles));
    }
    return count < MOST_NUMBERS ? count : MOST_NUMBERS;
}

static bool title_fits(const struct name_list *titles, uint32_t index, const char *pattern)
{
    const char *text = title_of(titles, index);
    return text && text_match(pattern, text);
}

static bool other_title_fits(struct machine *machine, uint32_t index, const char *pattern)
{
    const struct name_list *titles;
    bool found = false;
    for (size_t i = 0; !found && hold_other(machine, i, &titles);) {
        found = title_fits(titles, index, pattern);
        i += !let_go(machine, titles);
    }
    return found;
}

bool machine_title_fits(struct machine *machine, enum title_stage stage, uint32_t index,
                        const char *pattern)
{
    if (stage == STAGE_OTHERS)
        return other_title_fits(machine, index, pattern);
    if (stage == STAGE_NUMBER)
        return false;
    const struct name_list *titles;
    bool found;
    do {
        titles = stage == STAGE_USER ? hold_user(machine) : hold_english(machine);
        found = title_fits(titles, index, pattern);
    } while (let_go(machine, titles));
    return found;
}

bool machine_title(struct machine *machine, uint32_t index, struct buffer *ret)
{
    const struct name_list *titles;
    const char *text;
    do {
        titles = hold_user(machine);
        text = title_of(titles, index);
        if (text && !name_list_failed(titles))
            buffer_add_text(ret, text);
    } while (let_go(machine, titles));
    return text;
}

bool machine_explain(struct machine *machine, uint32_t index, struct buffer *ret)
{
    const struct name_list *titles;
    const char *text;
    do {
        titles = hold_titles(machine, &machine->explanations, NAMES_HELP, user_language());
        text = title_of(titles, index);
        if (text && !name_list_failed(titles))
            buffer_add_text(ret, text);
    } while (let_go(machine, titles));
    return text;
}

static void forget_titles(struct machine *machine)
{
    name_list_drop(machine->user.titles);
    name_list_drop(machine->english.titles);
    name_list_drop(machine->explanations.titles);
    /* frees all, because another thread may have read titles beyond other_count */
    for (size_t i = 0; i < MOST_LANGUAGES; i++)
        name_list_drop(machine->others[i].titles);
    machine->user = machine->english = machine->explanations = (struct language){0};
    memset(machine->others, 0, sizeof machine->others);
    machine->other_count = 0;
    machine->others_known = false;
    machine->titles_ticks = 0;
}

/* Reads Last Counter and Last Help, which grow when counters are registered. Reading two numbers is
 * cheaper than reading all titles. Returns false if the machine does not have them. */
static bool read_last(const struct machine *machine, uint32_t *ret_counter, uint32_t *ret_help)
{
    HKEY root, perflib;
    DWORD size = sizeof *ret_counter, type = REG_NONE, help_type = REG_NONE;
    if (machine == &own || key_connect(machine->label, HKEY_LOCAL_MACHINE, &root))
        return false;
    LSTATUS status = key_open(root, strchr(REGISTRY_PERFLIB, '\\') + 1, KEY_READ, &perflib);
    key_close(root);
    if (status)
        return false;
    status = key_query(perflib, "Last Counter", false, &type, ret_counter, &size);
    size = sizeof *ret_help;
    if (!status)
        status = key_query(perflib, "Last Help", false, &help_type, ret_help, &size);
    key_close(perflib);
    return !status && type == REG_DWORD && help_type == REG_DWORD;
}

static bool titles_are_old(struct machine *machine)
{
    lock_take(&machine->lock);
    bool old = clock_ticks() - machine->titles_ticks > CLOCK_TICKS_PER_SECOND;
    lock_release(&machine->lock);
    return old;
}

bool machine_renew_titles(struct machine *machine)
{
    uint32_t counter = 0, help = 0;
    if (!titles_are_old(machine))
        return false;
    bool known = read_last(machine, &counter, &help);
    lock_take(&machine->lock);
    bool same = known && counter == machine->last_counter && help == machine->last_help;
    bool old = !same && clock_ticks() - machine->titles_ticks > CLOCK_TICKS_PER_SECOND;
    if (old)
        forget_titles(machine);
    else if (same)
        machine->titles_ticks = clock_ticks();
    if (known) {
        machine->last_counter = counter;
        machine->last_help = help;
    }
    lock_release(&machine->lock);
    return old;
}

/* ---- cached objects ---- */

static struct object_info **object_info_place(struct object_infos *cache, uint32_t index)
{
    for (size_t i = 0; i < cache->count; i++)
        if (cache->items[i]->index == index)
            return &cache->items[i];
    return NULL;
}

struct object_info *machine_cached_info(struct machine *machine, enum info_cache cache,
                                        uint32_t index)
{
    lock_take(&machine->lock);
    struct object_info **place = object_info_place(&machine->caches[cache], index);
    struct object_info *info = place ? object_info_ref(*place) : NULL;
    lock_release(&machine->lock);
    return info;
}

static struct object_info **new_place(struct machine *machine, enum info_cache which)
{
    struct object_infos *cache = &machine->caches[which];
    if (cache->count == machine->cache_capacity[which]) {
        size_t capacity = cache->count ? cache->count * 2 : 16;
        struct object_info **items = reallocarray(cache->items, capacity, sizeof *items);
        if (!items)
            return NULL;
        cache->items = items;
        machine->cache_capacity[which] = capacity;
    }
    return &cache->items[cache->count++];
}

void machine_cache_info(struct machine *machine, enum info_cache cache, struct object_info *info)
{
    struct object_info *spare = NULL;
    lock_take(&machine->lock);
    struct object_info **place = object_info_place(&machine->caches[cache], info->index);
    if (place)
        spare = *place;
    else
        place = new_place(machine, cache);
    if (place)
        *place = object_info_ref(info);
    lock_release(&machine->lock);
    object_info_unref(spare);
}

void machine_drop_recent(struct machine *machine)
{
    size_t kept = 0;
    lock_take(&machine->lock);
    struct object_infos *cache = &machine->caches[CACHE_RECENT];
    for (size_t i = 0; i < cache->count; i++)
        if (object_info_is_recent(cache->items[i]))
            cache->items[kept++] = cache->items[i];
        else
            object_info_unref(cache->items[i]);
    cache->count = kept;
    lock_release(&machine->lock);
}

bool machine_list_objects(struct machine *machine, struct object_infos *ret)
{
    lock_take(&machine->lock);
    const struct object_infos *kept = &machine->caches[CACHE_STABLE];
    bool done = machine->listed;
    if (done) {
        ret->items = reallocarray(NULL, kept->count + 1, sizeof *ret->items);
        ret->default_object = kept->default_object;
        done = ret->items;
    }
    for (size_t i = 0; done && i < kept->count; i++)
        if (kept->items[i]->listed)
            ret->items[ret->count++] = object_info_ref(kept->items[i]);
    lock_release(&machine->lock);
    return done;
}

void machine_put_list(struct machine *machine, const struct object_infos *infos)
{
    lock_take(&machine->lock);
    struct object_infos old = machine->caches[CACHE_STABLE];
    machine->caches[CACHE_STABLE] = (struct object_infos){.default_object = infos->default_object};
    machine->cache_capacity[CACHE_STABLE] = 0;
    machine->listed = true;
    for (size_t i = 0; i < infos->count; i++) {
        struct object_info **place = new_place(machine, CACHE_STABLE);
        if (place)
            *place = object_info_ref(infos->items[i]);
    }
    lock_release(&machine->lock);
    object_infos_done(&old);
}

/* ---- many at once ---- */

PDH_STATUS opl_connect_machines(const char *const *names, size_t count, LSTATUS *ret_reasons)
{
    FREE_AUTO struct machine_wanted *wanted = calloc(count + 1, sizeof *wanted);
    PDH_STATUS status = 0;
    if (!names && count)
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    if (!wanted)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    for (size_t i = 0; i < count; i++)
        wanted[i].name = names[i];
    machine_find_all(wanted, count);
    for (size_t i = 0; i < count; i++) {
        if (wanted[i].status)
            status = (PDH_STATUS)PDH_CSTATUS_NO_MACHINE;
        if (ret_reasons)
            ret_reasons[i] = wanted[i].reason;
    }
    return status;
}
