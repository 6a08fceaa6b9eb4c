/* SPDX-License-Identifier: MIT */
/*
 * Open, Collect and Close of a provider that is described by tables. Open determines once what
 * exists on this machine; Collect requests the objects that the query needs, reads them, and writes
 * them if all of them fit.
 */
#include "object/object.h"
#include "registry/registry.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* ---- priority ---- */

/*
 * Costly objects are collected at a lowered priority of the calling thread.
 * (docs/windows/providers.md#d2) Without rights, Linux lets a thread lower its priority but not
 * raise it: in that case the thread only becomes a batch thread (SCHED_BATCH), which needs no
 * rights to undo.
 */

enum { STEPS_DOWN = 5 };
struct priority {
    /* what was lowered: the nice value, or the scheduling policy; both false: nothing */
    bool niced, batch;
    int nice; /* the nice value before it was lowered */
};

/* True if the thread may raise its priority: tries to raise it by one step. (Thread 0 is the
 * calling one.) */
static bool may_rise(int nice)
{
    return setpriority(PRIO_PROCESS, 0, nice - 1) == 0;
}

static bool change_policy(int from, int to)
{
    static const struct sched_param none;
    return sched_getscheduler(0) == from && sched_setscheduler(0, to, &none) == 0;
}

/* Lowers the priority only if the thread may raise it again afterwards. */
static struct priority priority_lower(void)
{
    struct priority usual = {0};
    errno = 0;
    usual.nice = getpriority(PRIO_PROCESS, 0);
    if (errno)
        return usual;
    usual.niced = may_rise(usual.nice);
    if (usual.niced)
        setpriority(PRIO_PROCESS, 0, usual.nice + STEPS_DOWN);
    else
        usual.batch = change_policy(SCHED_OTHER, SCHED_BATCH);
    return usual;
}

static void priority_restore(struct priority usual)
{
    if (usual.niced)
        setpriority(PRIO_PROCESS, 0, usual.nice);
    if (usual.batch)
        change_policy(SCHED_BATCH, SCHED_OTHER);
}

/* ---- requested objects ---- */

static struct object *provider_object(opl_provider *provider, const opl_object *address)
{
    for (size_t i = 0; i < provider->object_count; i++)
        if (provider->objects[i].address == address)
            return &provider->objects[i];
    return NULL;
}

/* Requests the object, the object that lists its instances, its related object, and the objects
 * that these need. */
static void object_request(opl_provider *provider, struct object *object)
{
    for (size_t steps = 0; object && steps <= provider->object_count; steps++) {
        if (!object->row_count)
            return;
        object->listing.requested = true;
        if (object->listed_with && object->listed_with != object->related)
            object_request(provider, object->listed_with);
        object = object->related;
    }
}

/* If the query names counters of this object, marks the object's other rows as unwanted. */
static void object_want(struct object *object, const opl_provider *provider)
{
    const struct wanted_list *wanted = &wanted_here;
    uint32_t first = provider->first_counter;
    bool any = false;
    for (size_t i = 0; i < wanted->count && !any; i++)
        any = wanted->list[i].object == object->is->index + first;
    for (size_t r = 0; r < object->row_count; r++) {
        object->rows[r].unwanted = any;
        for (size_t i = 0; i < wanted->count && object->rows[r].unwanted; i++) {
            const struct wanted_counter *one = &wanted->list[i];
            object->rows[r].unwanted = (one->object && one->object != object->is->index + first) ||
                                       one->counter != object->rows[r].is->index + first;
        }
    }
}

/* Parses the query, and requests the objects that it needs. *ret_any: it needs one. *ret_costly:
 * one of the objects is costly. */
static LSTATUS provider_select(opl_provider *provider, LPCWSTR text, bool *ret_any,
                               bool *ret_costly)
{
    const uint16_t *units = (const uint16_t *)text;
    const struct query *query = &provider->query;
    size_t capacity = sizeof provider->query_text - 1;
    size_t bytes =
        text ? utf16_to_8(units, utf16_length(units), provider->query_text, capacity) : 0;
    *ret_any = *ret_costly = false;
    if (bytes > capacity)
        return ERROR_INVALID_PARAMETER;
    provider->query_text[bytes] = 0;
    LSTATUS status = query_parse(provider->query_text, &provider->query);
    if (status)
        return status;
    for (size_t i = 0; i < provider->object_count; i++)
        provider->objects[i].listing.requested = false;
    for (size_t i = 0; i < provider->object_count; i++) {
        const opl_object *is = provider->objects[i].is;
        bool wanted = query->kind == QUERY_GLOBAL ? !is->costly
                      : query->kind == QUERY_COSTLY
                          ? is->costly
                          : query->kind == QUERY_OBJECTS &&
                                query_wants_object(query, is->index + provider->first_counter);
        if (!provider->objects[i].row_count || !wanted)
            continue;
        object_request(provider, &provider->objects[i]);
        *ret_any = true;
    }
    for (size_t i = 0; i < provider->object_count; i++) {
        if (!provider->objects[i].listing.requested)
            continue;
        object_want(&provider->objects[i], provider);
        *ret_costly |= provider->objects[i].is->costly;
    }
    return ERROR_SUCCESS;
}

/* ---- collecting ---- */

/* A forked child shares the positions in its parent's open folders, and the kernel reports a change
 * of a watched file to only one of them: so the child opens the folders and files itself. */
static void provider_after_fork(opl_provider *provider)
{
    provider->pid = (int)getpid();
    for (size_t i = 0; i < OBJECT_LEVELS; i++)
        kept_close(&provider->folders[i].kept);
    for (size_t i = 0; i < provider->source_count; i++)
        if (provider->sources[i]->is->watched)
            kept_close(&provider->sources[i]->kept);
    kept_close(&provider->processes);
}

/* True if the program may open only few files: all providers share the descriptors, so a provider
 * that keeps dozens open leaves none for others. */
static bool descriptors_are_few(void)
{
    enum { FEW = 64 };
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < FEW;
}

/* Called when an open failed for lack of descriptors: closes all files of this provider, and from
 * then on keeps none open. */
static void provider_become_frugal(opl_provider *provider)
{
    trace("object", "descriptors ran out: files are opened anew for each query");
    provider->frugal = true;
    for (size_t i = 0; i < provider->source_count; i++) {
        struct source *source = provider->sources[i];
        kept_close(&source->kept);
        for (size_t k = 0; k < COUNT(source->persistent); k++)
            kept_close(&source->persistent[k].kept);
    }
}

/* Reads the requested objects: once more if descriptors ran out. */
static void provider_read(opl_provider *provider)
{
    if (provider->pid != (int)getpid())
        provider_after_fork(provider);
    for (;;) {
        source_lacked = false;
        provider->collection = ++provider->serial;
        provider->time = clock_filetime();
        provider->failed = false;
        for (size_t i = 0; i < provider->object_count; i++) {
            struct object *object = &provider->objects[i];
            object->listing.count = object->listing.names_used = 0;
            object->listing.reading =
                (opl_reading){.provider = provider, .folder = "", .serial = ++provider->serial};
            for (size_t row = 0; row < object->row_count; row++)
                object->rows[row].denied = object->rows[row].unread = false;
        }
        for (size_t i = 0; i < provider->object_count; i++) {
            const opl_object *is = provider->objects[i].is;
            opl_listing *listing = &provider->objects[i].listing;
            if (listing->requested && !is->instances)
                listing_single(listing);
            else if (listing->requested && is->lines.source)
                listing_lines(listing);
            else if (listing->requested && is->list)
                is->list(listing);
        }
        if (provider->frugal || !source_lacked)
            return;
        provider_become_frugal(provider);
    }
}

/* Sets the objects' clock, hides what is denied, and adds the totals; returns the answer's size.
 * The clock is a FILETIME that does not jump when the system's time is set, so that elapsed times,
 * which count from opl_boot_time, stay right. */
static size_t provider_totals(opl_provider *provider)
{
    size_t size = 0;
    struct timespec uptime;
    provider->time = clock_filetime();
    if (provider->live && provider->boot && clock_gettime(CLOCK_BOOTTIME, &uptime) == 0)
        provider->time = provider->boot + (LONGLONG)uptime.tv_sec * CLOCK_TICKS_PER_SECOND +
                         uptime.tv_nsec / 100;
    for (size_t i = 0; i < provider->object_count; i++) {
        struct object *object = &provider->objects[i];
        if (object->is->only_with_instances && object->listing.count == 0)
            object->listing.requested = false;
        if (object->listing.requested && !object_hide_denied(object, provider))
            object->listing.requested = false;
        if (object->listing.requested && object->is->instances && object->is->total)
            listing_total(&object->listing);
        if (object->listing.requested)
            size += object_size(object);
    }
    return size;
}

/* Records the size that an answer needs, and its largest object, because the status that the caller
 * gets only says that its buffer is too small. */
static void note_need(const opl_provider *provider, size_t size, size_t capacity)
{
    const struct object *largest = NULL;
    struct shortage *shortage = &shortage_here;
    for (size_t i = 0; i < provider->object_count; i++) {
        const struct object *object = &provider->objects[i];
        if (object->listing.requested && (!largest || object_size(object) > object_size(largest)))
            largest = object;
    }
    if (!largest)
        return;
    *shortage = (struct shortage){.needed = size, .instances = largest->listing.count};
    snprintf(shortage->object, sizeof shortage->object, "%s", largest->is->name);
    trace("object", "%zu bytes are needed, the buffer has %zu; %s has %zu instances in %zu bytes",
          size, capacity, largest->is->name, largest->listing.count, object_size(largest));
}

/* Gives the memory of the records back, unless the program asks often: new memory for them takes a
 * tenth of a query. */
static void drop_records(opl_provider *provider)
{
    bool often = provider->time - provider->answered < CLOCK_TICKS_PER_SECOND / 2;
    provider->answered = provider->time;
    for (size_t i = 0; i < OBJECT_RECORDS && !often; i++)
        records_unused(&provider->records[i]);
}

DWORD opl_entry_collect_1(opl_entry *entry, LPCWSTR query, LPVOID *data, LPDWORD bytes,
                          LPDWORD types)
{
    if (!data || !bytes || !types)
        return ERROR_INVALID_PARAMETER;
    opl_provider *provider = entry ? entry->provider : NULL;
    size_t capacity = *bytes;
    *bytes = *types = 0;
    if (!provider)
        return ERROR_NOT_READY;
    bool any, costly;
    LSTATUS status = provider_select(provider, query, &any, &costly);
    if (!any)
        return (DWORD)status;
    struct priority usual = costly ? priority_lower() : (struct priority){0};
    provider_read(provider);
    size_t size = provider_totals(provider);
    priority_restore(usual);
    if (provider->failed)
        return ERROR_NOT_ENOUGH_MEMORY;
    if (source_lacked) /* some values are 0 only because a file could not be opened */
        return ERROR_TOO_MANY_OPEN_FILES;
    if (size > capacity) {
        note_need(provider, size, capacity);
        return ERROR_MORE_DATA;
    }
    enum { SMALL = 128 << 10 }; /* a smaller answer leaves no large listing behind */
    for (size_t i = 0; i < provider->object_count; i++)
        if (provider->objects[i].listing.requested) {
            *data = object_write(&provider->objects[i], *data, provider->time);
            if (size >= SMALL)
                listing_unused(&provider->objects[i].listing);
            ++*types;
        }
    drop_records(provider);
    *bytes = (DWORD)size;
    return ERROR_SUCCESS;
}

/* ---- opening and closing ---- */

static void report_fault(const struct table_fault *fault)
{
    if (fault->object)
        event_log("Perflib", 4004, NULL,
                  EVENT_FIELDS(EVENT_TEXT("Object", fault->object),
                               EVENT_TEXT("Counter", fault->part),
                               EVENT_TEXT("Reason", fault->why)),
                  NULL);
    else
        event_log("Perflib", 4018, NULL, EVENT_FIELDS(EVENT_TEXT("Reason", fault->why)), NULL);
}

LSTATUS provider_new(const opl_table_list *theirs, opl_provider **ret)
{
    struct table_fault fault;
    opl_provider *provider = *ret = calloc(1, sizeof *provider);
    if (!provider)
        return ERROR_NOT_ENOUGH_MEMORY;
    provider->root.fd = provider->processes.fd = -1;
    for (size_t i = 0; i < OBJECT_LEVELS; i++)
        provider->folders[i].kept.fd = -1;
    provider->frugal = descriptors_are_few();
    provider->pid = (int)getpid();
    provider->live = strcmp(place_sysroot(), "/") == 0;
    LSTATUS status = tables_copy(theirs, &provider->tables, &fault);
    if (status == ERROR_INVALID_PARAMETER)
        report_fault(&fault);
    if (!status)
        provider->objects = calloc(provider->tables.list.count + 1, sizeof *provider->objects);
    return status || provider->objects ? status : ERROR_NOT_ENOUGH_MEMORY;
}

static bool is_there(opl_provider *provider, struct source *source)
{
    opl_reading none = {.provider = provider, .folder = "", .serial = provider->serial};
    return source_load(&none, source) == ERROR_SUCCESS;
}

/* True if the file can be read, or the folder opened. */
static bool is_readable(opl_provider *provider, const char *path)
{
    char byte;
    int fd = source_openat(provider_root(provider), path, O_RDONLY);
    if (fd < 0)
        return false;
    bool readable = pread(fd, &byte, 1, 0) >= 0 || errno == EISDIR;
    close(fd);
    return readable;
}

/* True if instances may appear later: the file with their lines exists, and so does the object that
 * lists them. */
static bool instances_possible(opl_provider *provider, const struct object *object)
{
    if (object->is->needs && !is_readable(provider, object->is->needs))
        return false;
    if (object->is->lines.source)
        return is_there(provider, source_of(provider, object->is->lines.source));
    for (size_t i = 0; i < provider->object_count; i++)
        if (object->is->listed_with == provider->objects[i].address &&
            provider->objects[i].definition)
            return provider->objects[i].row_count > 0;
    return true;
}

static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (text += strspn(text, " \n"); *text; text += strspn(text, " \n")) {
        size_t bytes = strcspn(text, " \n");
        if (bytes == length && memcmp(text, word, length) == 0)
            return true;
        text += bytes;
    }
    return false;
}

/* True if the kernel collects the row's statistic: `if_word` is in the file `if_source`. A row
 * without `if_source` has no such condition. */
static bool row_is_on(opl_provider *provider, const struct row *row)
{
    if (!row->is->if_source)
        return true;
    struct source *source = source_of(provider, row->is->if_source);
    if (!source) {
        provider->failed = true;
        return false;
    }
    return is_there(provider, source) && has_word(source->text, row->is->if_word);
}

/* True if the object `rows_as`, which has the same rows, has kept this row, or if there is no such
 * object. */
static bool row_is_elsewhere(opl_provider *provider, const struct object *object, DWORD index)
{
    const struct object *other =
        object->is->rows_as ? provider_object(provider, object->is->rows_as) : NULL;
    for (size_t i = 0; other && i < other->row_count; i++)
        if (other->rows[i].is->index == index)
            return true;
    return !other;
}

/* Decides whether the object has the row. `possible`: it has no instances yet, but may have some:
 * those have the row if its file exists, or if each instance has a file of its own. */
static void switch_row(opl_provider *provider, const struct object *object, struct row *row,
                       bool possible)
{
    if (!object->listing.count)
        row->seen =
            possible && (!row->source || row->source->star || is_there(provider, row->source));
    row->seen =
        row->seen && row_is_on(provider, row) && row_is_elsewhere(provider, object, row->is->index);
}

/* Reads everything once and drops the rows that no instance has. The rows of an object that has no
 * instances yet stay, unless their file is missing. */
static LSTATUS provider_find_out(opl_provider *provider)
{
    LSTATUS status = ERROR_SUCCESS;
    provider->opening = true;
    for (size_t i = 0; i < provider->object_count; i++) {
        const opl_object *is = provider->objects[i].is;
        bool listed = is->list || is->listed_with;
        provider->objects[i].listing.requested = !is->costly || !listed;
    }
    provider_read(provider);
    provider->opening = false;
    for (size_t i = 0; i < provider->object_count && !status; i++) {
        struct object *object = &provider->objects[i];
        bool possible = object->listing.count == 0 && instances_possible(provider, object);
        for (size_t row = 0; row < object->row_count; row++)
            switch_row(provider, object, &object->rows[row], possible);
        status = object_fix(object, provider);
        listing_unused(&object->listing);
    }
    if (source_lacked)
        return ERROR_TOO_MANY_OPEN_FILES; /* missing files may be readable at the next attempt */
    return provider->failed ? ERROR_NOT_ENOUGH_MEMORY : status;
}

LSTATUS provider_open(opl_provider *provider, DWORD first_counter, DWORD first_help)
{
    const struct tables *tables = &provider->tables;
    LSTATUS status = ERROR_SUCCESS;
    provider->first_counter = first_counter;
    provider->first_help = first_help;
    for (size_t i = 0; i < tables->list.count && !status; i++, provider->object_count++)
        status =
            object_init(&provider->objects[i], provider, tables->objects[i], tables->addresses[i]);
    for (size_t i = 0; i < provider->object_count; i++) {
        struct object *object = &provider->objects[i];
        object->related = provider_object(provider, object->is->related);
        object->listed_with = provider_object(provider, object->is->listed_with);
    }
    return status ? status : provider_find_out(provider);
}

void provider_close(opl_provider *provider)
{
    if (!provider)
        return;
    for (size_t i = 0; i < provider->object_count; i++)
        object_done(&provider->objects[i]);
    for (size_t i = 0; i < provider->source_count; i++)
        source_done(provider->sources[i]);
    for (size_t i = 0; i < OBJECT_LEVELS; i++)
        folder_done(&provider->folders[i]);
    tree_done(&provider->tree);
    for (size_t i = 0; i < OBJECT_RECORDS; i++)
        records_done(&provider->records[i]);
    kept_close(&provider->processes);
    kept_close(&provider->root);
    memories_done(provider);
    remote_fs_done(provider->remote_fs);
    free(provider->sources);
    free(provider->objects);
    tables_done(&provider->tables);
    free(provider);
}

/* ---- the functions of a library ---- */

/* Open, Collect and Close as a library exports them: Open gives the counters the numbers that
 * lodctr assigned to the service. (docs/windows/articles.md#c40, docs/windows/articles.md#c67) */

static LSTATUS report_unregistered(const char *service, const char *value)
{
    event_log("Perflib", 3004, service, EVENT_FIELDS(EVENT_TEXT("Value", value)),
              "it is missing, so the counters have no numbers and no names yet; run lodctr with "
              "the provider's ini file");
    return ERROR_FILE_NOT_FOUND;
}

static LSTATUS report_too_few(const char *service, const char *value, DWORD needed, DWORD there)
{
    char more[160];
    snprintf(more, sizeof more,
             "it is %u, but the library has counters up to %u and is newer than its registration",
             (unsigned)there, (unsigned)needed);
    event_log("Perflib", 3004, service, EVENT_FIELDS(EVENT_TEXT("Value", value)), more);
    return ERROR_INVALID_DATA;
}

/* Reads the value `first` (such as "First Counter") of a service. Reports an error if it is
 * missing, or if the value `last` is less than `first` + `last_offset`. */
static LSTATUS numbers_read(const char *service, const char *first, const char *last,
                            DWORD last_offset, DWORD *ret)
{
    DWORD highest;
    FREE_AUTO char *path = text_format("%s\\%s\\Performance", REGISTRY_SERVICES, service);
    if (!path)
        return ERROR_NOT_ENOUGH_MEMORY;
    if (registry_get_dword(path, first, ret))
        return report_unregistered(service, first);
    if (registry_get_dword(path, last, &highest))
        return report_unregistered(service, last);
    if (highest < *ret || highest - *ret < last_offset)
        return report_too_few(service, last, *ret + last_offset, highest);
    return ERROR_SUCCESS;
}

/* Reads First Counter and First Help of a service, as lodctr wrote them; `service` NULL: both are
 * 0. Each failure is logged as an event that says what to do. */
static LSTATUS service_numbers(const char *service, DWORD last_offset, DWORD *ret_first_counter,
                               DWORD *ret_first_help)
{
    *ret_first_counter = *ret_first_help = 0;
    if (!service)
        return ERROR_SUCCESS;
    LSTATUS status =
        numbers_read(service, "First Counter", "Last Counter", last_offset, ret_first_counter);
    if (!status)
        status = numbers_read(service, "First Help", "Last Help", last_offset, ret_first_help);
    return status;
}

static void raise_to(DWORD *highest, DWORD number)
{
    if (number > *highest)
        *highest = number;
}

static DWORD tables_last_offset(const opl_table_list *tables)
{
    DWORD last = 0;
    for (size_t i = 0; i < tables->count; i++) {
        const opl_object *object = tables->objects[i];
        raise_to(&last, object->index);
        raise_to(&last, object->help_index);
        for (size_t row = 0; row < object->counter_count; row++) {
            raise_to(&last, object->counters[row].index);
            raise_to(&last, object->counters[row].help_index);
        }
    }
    return last;
}

static LSTATUS entry_open(struct opl_entry *entry, const opl_table_list *theirs)
{
    DWORD first_counter, first_help;
    LSTATUS status = provider_new(theirs, &entry->provider);
    if (status)
        return status;
    const opl_table_list *tables = &entry->provider->tables.list;
    status =
        service_numbers(tables->service, tables_last_offset(tables), &first_counter, &first_help);
    if (status)
        return status;
    if (tables->begin)
        tables->begin();
    return provider_open(entry->provider, first_counter, first_help);
}

DWORD opl_entry_open_1(opl_entry **entry, const opl_table_list *tables, LPCWSTR devices)
{
    (void)devices;
    if (*entry) {
        (*entry)->opened++;
        return ERROR_SUCCESS;
    }
    struct opl_entry *made = calloc(1, sizeof *made);
    LSTATUS status = made ? entry_open(made, tables) : ERROR_NOT_ENOUGH_MEMORY;
    if (status) {
        provider_close(made ? made->provider : NULL);
        free(made);
        return (DWORD)status;
    }
    made->opened = 1;
    *entry = made;
    return ERROR_SUCCESS;
}

DWORD opl_entry_close_1(opl_entry **entry)
{
    if (*entry && --(*entry)->opened == 0) {
        provider_close((*entry)->provider);
        free(*entry);
        *entry = NULL;
    }
    return ERROR_SUCCESS;
}
