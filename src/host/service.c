/* SPDX-License-Identifier: MIT */
/*
 * Reads a provider's registration: HKLM\SYSTEM\CurrentControlSet\Services\NAME\Performance and
 * NAME\Linkage. A service without the value Library is not a provider.
 * (docs/windows/articles.md#c39, docs/windows/providers.md#d1)
 */
#include "host/internal.h"
#include "registry/registry.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Values of Disable Performance Counters: 1 for all programs, 2 for 32-bit ones, 4 for 64-bit ones
 * (docs/windows/providers.md#d1). */
enum { DISABLED_ALL = 1, DISABLED_32_BIT = 2, DISABLED_64_BIT = 4 };
enum { DEFAULT_ERROR_LIMIT = 5 };

enum kind { TEXT, NUMBER, OBJECT_LIST, VALIDATION };
#define FIELD(name) offsetof(struct service, name)
/* First those that most services have, in the order in which lodctr writes them. */
static const struct value_row {
    const char *name;
    enum kind kind;
    size_t field;
} wanted_values[] = {
    {"Library",                      TEXT,        FIELD(library)        },
    {"Open",                         TEXT,        FIELD(open)           },
    {"Collect",                      TEXT,        FIELD(collect)        },
    {"Close",                        TEXT,        FIELD(close)          },
    {"First Counter",                NUMBER,      FIELD(first_counter)  },
    {"Last Counter",                 NUMBER,      FIELD(last_counter)   },
    {"Object List",                  OBJECT_LIST, 0                     },
    {"Disable Performance Counters", NUMBER,      FIELD(disable_flags)  },
    {"Keep Resident",                NUMBER,      FIELD(keep_resident)  },
    {"Isolation",                    NUMBER,      FIELD(isolation)      },
    {"Observe",                      NUMBER,      FIELD(observe)        },
    {"Children",                     NUMBER,      FIELD(children)       },
    {"Memory Limit",                 NUMBER,      FIELD(memory_mib)     },
    {"On Demand",                    NUMBER,      FIELD(on_demand)      },
    {"Shared Objects",               NUMBER,      FIELD(shares)         },
    {"Open Timeout",                 NUMBER,      FIELD(open_timeout)   },
    {"Collect Timeout",              NUMBER,      FIELD(collect_timeout)},
    {"Quarantine",                   TEXT,        FIELD(quarantine)     },
    {"Unanswered",                   TEXT,        FIELD(unanswered)     },
    {"Library Validation Code",      VALIDATION,  0                     },
};

static int compare_indices(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* The state of reading one key. */
struct service_reading {
    struct service *service;
    size_t next; /* position in wanted_values after the value that was found last */
    LSTATUS status;
};

/* Reads an Object List such as "2 4 86 238". Words that are not numbers are skipped, as on
 * Windows. */
static LSTATUS take_object_list(struct service *service, const char *list)
{
    service->has_list = true;
    service->objects = calloc(strlen(list) / 2 + 1, sizeof(uint32_t));
    if (!service->objects)
        return ERROR_NOT_ENOUGH_MEMORY;
    const char *word;
    size_t count;
    while ((word = text_word(&list, &count)))
        if (text_decimal(word, count, &service->objects[service->object_count]))
            service->object_count++;
    qsort(service->objects, service->object_count, sizeof(uint32_t), compare_indices);
    return ERROR_SUCCESS;
}

/* Returns a copy of the text of a REG_SZ, or of a REG_EXPAND_SZ with its variables replaced. NULL:
 * no memory. */
static char *value_text(const struct registry_value *value)
{
    BUFFER_AUTO plain = {0};
    char *text = strndup(value->data, value->size);
    if (!text || value->type != REG_EXPAND_SZ)
        return text;
    registry_expand(text, &plain);
    free(text);
    buffer_reserve(&plain, 1); /* an empty text has data "", not NULL */
    return plain.failed ? NULL : strdup(plain.data);
}

static bool is_of_kind(const struct registry_value *value, enum kind kind)
{
    switch (kind) {
    case NUMBER:
        return value->type == REG_DWORD && value->size == sizeof(uint32_t);
    case VALIDATION:
        return value->type == REG_BINARY && value->size == VALIDATION_BYTES;
    default:
        return value->type == REG_SZ || value->type == REG_EXPAND_SZ;
    }
}

static LSTATUS take_text(struct service *service, const struct value_row *wanted,
                         const struct registry_value *value)
{
    char *text = value_text(value);
    if (!text)
        return ERROR_NOT_ENOUGH_MEMORY;
    if (wanted->kind == TEXT) {
        memcpy((char *)service + wanted->field, &text, sizeof(text));
        return ERROR_SUCCESS;
    }
    LSTATUS status = take_object_list(service, text);
    free(text);
    return status;
}

static LSTATUS take(struct service *service, const struct value_row *wanted,
                    const struct registry_value *value)
{
    if (!is_of_kind(value, wanted->kind)) {
        verdict_report(service, 3004, EVENT_FIELDS(EVENT_TEXT("Value", wanted->name)),
                       "it has a wrong type or size");
        return ERROR_SUCCESS;
    }
    if (wanted->kind == NUMBER) {
        memcpy((char *)service + wanted->field, value->data, sizeof(uint32_t));
        return ERROR_SUCCESS;
    }
    if (wanted->kind == VALIDATION) {
        memcpy(service->validation, value->data, VALIDATION_BYTES);
        service->has_validation = true;
        return ERROR_SUCCESS;
    }
    return take_text(service, wanted, value);
}

/* Returns the row of a value. The search begins after the row found last, because most files have
 * the values in the order of the table. NULL: the value is not wanted. */
static const struct value_row *row_of(struct service_reading *reading, const char *name)
{
    unsigned char first = (unsigned char)*name; /* most names differ in the first byte */
    for (size_t i = 0; i < COUNT(wanted_values); i++) {
        size_t at = (reading->next + i) % COUNT(wanted_values);
        const struct value_row *row = &wanted_values[at];
        if ((first >= 0x80 || !((first ^ *row->name) & ~0x20)) &&
            (!strcmp(name, row->name) || text_equal_fold(name, row->name))) {
            reading->next = at + 1;
            return row;
        }
    }
    return NULL;
}

static bool take_value(void *self, const struct registry_value *value)
{
    struct service_reading *reading = self;
    const struct value_row *row = row_of(reading, value->name);
    if (row)
        reading->status = take(reading->service, row, value);
    return !reading->status;
}

/* Reads Linkage\Export, whose strings are passed to Open; if it is missing, export_names stays
 * NULL. (docs/windows/articles.md#c41) */
static bool take_export(void *self, const struct registry_value *value)
{
    struct service_reading *reading = self;
    struct buffer wide = {0};
    if (!text_equal_fold(value->name, "Export") ||
        (value->type != REG_MULTI_SZ && value->type != REG_SZ))
        return true;
    utf8_add_as_16(&wide, value->data, value->size);
    buffer_add(&wide, "\0\0\0", 4); /* adds terminators, which the stored value may lack */
    reading->status = buffer_status(&wide);
    reading->service->export_units = wide.len / sizeof(uint16_t);
    reading->service->export_names = (uint16_t *)wide.data;
    return false;
}

/* Sets whether the service is disabled, or on probation because its quarantine has ended. */
static void decide_state(struct service *service)
{
    uint32_t here = sizeof(void *) == 8 ? DISABLED_64_BIT : DISABLED_32_BIT;
    bool forbidden = service->disable_flags & (DISABLED_ALL | here);
    quarantine_read(service->quarantine, &service->quarantine_end);
    service->unanswered_times = quarantine_read(service->unanswered, &service->unanswered_end);
    service->on_probation = forbidden && service->quarantine_end &&
                            quarantine_clock.filetime() >= service->quarantine_end;
    service->disabled = forbidden && !service->on_probation;
}

static LSTATUS read_service(struct service *service, const char *name,
                            const struct registry_subkey *subkey)
{
    *service = (struct service){.name = strdup(name), .isolation = 1};
    if (!service->name)
        return ERROR_NOT_ENOUGH_MEMORY;
    struct service_reading reading = {.service = service};
    LSTATUS status = registry_each_value_below(subkey, "Performance", take_value, &reading);
    status = status ? status : reading.status;
    if (!status && !service->library)
        status = ERROR_FILE_NOT_FOUND;
    decide_state(service);
    if (!status)
        registry_each_value_below(subkey, "Linkage", take_export, &reading);
    return status ? status : reading.status;
}

static void service_free(struct service *service)
{
    free(service->name);
    free(service->library);
    free(service->open);
    free(service->collect);
    free(service->close);
    free(service->export_names);
    free(service->objects);
    free(service->quarantine);
    free(service->unanswered);
}

static void services_free(struct service *services, size_t count)
{
    for (size_t i = 0; i < count; i++)
        service_free(&services[i]);
    free(services);
}

struct services_reading {
    struct service *services;
    size_t count, capacity;
    LSTATUS status;
};

/* Adds a service, unless it cannot be read or has no library. */
static bool add_service(void *self, const char *name, const struct registry_subkey *subkey)
{
    struct services_reading *reading = self;
    if (!list_grow(&reading->services, reading->count, &reading->capacity,
                   sizeof *reading->services)) {
        reading->status = ERROR_NOT_ENOUGH_MEMORY;
        return false;
    }
    struct service *service = &reading->services[reading->count];
    LSTATUS status = read_service(service, name, subkey);
    if (!status)
        reading->count++;
    else
        service_free(service);
    if (status == ERROR_NOT_ENOUGH_MEMORY)
        reading->status = status;
    return !reading->status;
}

/* Returns an array sorted by name; services without Library are left out. */
static LSTATUS services_read(struct service **ret, size_t *ret_count)
{
    struct services_reading reading = {0};
    LSTATUS status = registry_each_subkey(REGISTRY_SERVICES, add_service, &reading);
    status = status == ERROR_FILE_NOT_FOUND ? ERROR_SUCCESS : status;
    status = status ? status : reading.status;
    if (status)
        services_free(reading.services, reading.count);
    *ret = status ? NULL : reading.services;
    *ret_count = status ? 0 : reading.count;
    return status;
}

static bool same_text(const char *left, const char *right)
{
    return left == right || (left && right && strcmp(left, right) == 0);
}

static bool same_export(const struct service *left, const struct service *right)
{
    return left->export_units == right->export_units &&
           (!left->export_units || memcmp(left->export_names, right->export_names,
                                          left->export_units * sizeof(uint16_t)) == 0);
}

/* True if both services load the same functions, so that loaded code may be kept when the registry
 * has changed. */
static bool service_same_code(const struct service *left, const struct service *right)
{
    return same_text(left->library, right->library) && same_text(left->open, right->open) &&
           same_text(left->collect, right->collect) && same_text(left->close, right->close) &&
           left->isolation == right->isolation && left->observe == right->observe &&
           left->children == right->children && left->memory_mib == right->memory_mib &&
           same_export(left, right) && left->has_validation == right->has_validation &&
           memcmp(left->validation, right->validation, VALIDATION_BYTES) == 0;
}

static uint32_t dword_or(const char *value, uint32_t absent)
{
    uint32_t number;
    return registry_get_dword(REGISTRY_PERFLIB, value, &number) == ERROR_SUCCESS ? number : absent;
}

static void settings_read(struct host_settings *ret)
{
    *ret = (struct host_settings){
        .test_level = dword_or("ExtCounterTestLevel", 1),
        .configuration = dword_or("Configuration Flags", 0),
        .disabled = dword_or("Disable Performance Counters", 0),
        .event_level = dword_or("EventLogLevel", 3),
        .slow_open = dword_or("OpenProcedureWaitTime", 0),
        .error_limit = dword_or("Error Count Limit", DEFAULT_ERROR_LIMIT),
    };
    if (ret->test_level < 1 || ret->test_level > 4)
        ret->test_level = 1;
}

int64_t service_open_ms(const struct service *service)
{
    return service->open_timeout ? service->open_timeout : DEFAULT_OPEN_MS;
}

int64_t service_collect_ms(const struct service *service, const struct query *query)
{
    if (service->collect_timeout)
        return service->collect_timeout;
    return query->kind == QUERY_COSTLY ? DEFAULT_COSTLY_MS : DEFAULT_COLLECT_MS;
}

/* ---- the service table ---- */

/*
 * The service table: all services at one time. When the registry changes, a new table is made; a
 * table never changes. So a query keeps the table that was current when it began, and needs no lock
 * while it waits. Code of unchanged services is taken over by the new table; code of removed
 * services is closed with the last table that has it. (docs/windows/articles.md#c39,
 * docs/windows/queries.md#c5)
 *
 * The array of listed objects is sorted here, once, so that the time of a query by index does not
 * depend on the number of registered objects.
 */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards `current` and all `holders` */
static struct service_table *current;

/* ---- listed objects ---- */

static int compare_listed(const void *left, const void *right)
{
    const struct listed_object *a = left, *b = right;
    if (a->object != b->object)
        return (a->object > b->object) - (a->object < b->object);
    return (a->position > b->position) - (a->position < b->position);
}

LSTATUS service_table_index(struct service_table *table)
{
    size_t objects = 1;
    for (size_t i = 0; i < table->count; i++)
        objects += table->services[i].object_count;
    table->enabled = calloc(table->count + 1, sizeof(*table->enabled));
    table->listless = calloc(table->count + 1, sizeof(*table->listless));
    table->listed = calloc(objects, sizeof(*table->listed));
    if (!table->enabled || !table->listless || !table->listed)
        return ERROR_NOT_ENOUGH_MEMORY;
    for (uint32_t position = 0; position < table->count; position++) {
        const struct service *service = &table->services[position];
        if (service->disabled)
            continue;
        table->enabled[table->enabled_count++] = position;
        if (!service->has_list)
            table->listless[table->listless_count++] = position;
        for (size_t i = 0; i < service->object_count; i++)
            table->listed[table->listed_count++] =
                (struct listed_object){service->objects[i], position};
    }
    qsort(table->listed, table->listed_count, sizeof(*table->listed), compare_listed);
    return ERROR_SUCCESS;
}

void service_table_index_done(struct service_table *table)
{
    free(table->enabled);
    free(table->listless);
    free(table->listed);
    table->enabled = table->listless = NULL;
    table->listed = NULL;
    table->enabled_count = table->listless_count = table->listed_count = 0;
}

size_t select_listed(const struct service_table *table, uint32_t object)
{
    size_t low = 0, high = table->listed_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->listed[middle].object < object)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- order and code ---- */

/* Moves the shipped services to the front: they answer first, as the system's own objects do on
 * Windows (docs/windows/queries.md#c5, 6). */
static LSTATUS put_shipped_first(struct service_table *table)
{
    struct service *ordered = calloc(table->count + 1, sizeof(*ordered));
    if (!ordered)
        return ERROR_NOT_ENOUGH_MEMORY;
    size_t filled = 0;
    for (int shipped = 1; shipped >= 0; shipped--) {
        for (size_t i = 0; i < table->count; i++)
            if (library_named_as_shipped(table->services[i].library) == shipped)
                ordered[filled++] = table->services[i];
        if (shipped)
            table->shipped = filled;
    }
    free(table->services);
    table->services = ordered;
    return ERROR_SUCCESS;
}

static int compare_names(const void *left, const void *right)
{
    return text_compare_fold(((const struct service *)left)->name,
                             ((const struct service *)right)->name);
}

static const struct service *find_service(const struct service_table *table,
                                          const struct service *wanted)
{
    const struct service *found = NULL;
    if (table && table->shipped)
        found = bsearch(wanted, table->services, table->shipped, sizeof(*wanted), compare_names);
    if (!found && table && table->count > table->shipped)
        found = bsearch(wanted, table->services + table->shipped, table->count - table->shipped,
                        sizeof(*wanted), compare_names);
    return found;
}

/* Takes over the code of the previous table if the same functions are registered. If an
 * administrator has enabled the service, its failures are forgotten. */
static LSTATUS take_code(struct service *service, const struct service *before)
{
    if (before && before->code && service_same_code(before, service)) {
        service->code = before->code;
        if (before->disabled && !service->disabled)
            atomic_store(&service->code->enabled, true);
    } else if (library_new(&service->code)) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    service->code->holders++;
    return ERROR_SUCCESS;
}

/* Sets valid_until, because when the next quarantine ends the table must be rebuilt although the
 * registry has not changed. */
static void note_quarantines(struct service_table *table)
{
    table->valid_until = INT64_MAX;
    for (size_t i = 0; i < table->count; i++) {
        const struct service *service = &table->services[i];
        if (service->disabled && service->quarantine_end &&
            service->quarantine_end < table->valid_until)
            table->valid_until = service->quarantine_end;
    }
}

/* ---- life ---- */

/* Releases the table's references to code. Code that another table holds is removed from this one;
 * the rest is freed with this table. The caller holds the lock. */
static void let_go_of_code(struct service_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        struct library **code = &table->services[i].code;
        if (*code && --(*code)->holders > 0)
            *code = NULL;
    }
}

/* Frees the table. The lock must not be held, because this closes providers. */
static void service_table_free(struct service_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        library_free(&table->services[i]);
    services_free(table->services, table->count);
    service_table_index_done(table);
    free(table);
}

void service_table_release(struct service_table *table)
{
    if (!table)
        return;
    lock_take(&lock);
    bool last = --table->holders == 0;
    if (last)
        let_go_of_code(table);
    lock_release(&lock);
    if (last)
        service_table_free(table);
}

static LSTATUS fill(struct service_table *table)
{
    LSTATUS status = services_read(&table->services, &table->count);
    if (!status)
        status = put_shipped_first(table);
    for (size_t i = 0; !status && i < table->count; i++)
        status = take_code(&table->services[i], find_service(current, &table->services[i]));
    if (!status)
        status = service_table_index(table);
    note_quarantines(table);
    return status;
}

/* Makes a new table; the caller holds the lock. *ret_old is the previous table, which the caller
 * must release after unlocking. */
static LSTATUS make(uint64_t generation, struct service_table **ret_old)
{
    struct service_table *table = calloc(1, sizeof(*table));
    if (!table)
        return ERROR_NOT_ENOUGH_MEMORY;
    *table = (struct service_table){.holders = 1, .generation = generation};
    settings_read(&table->settings);
    table->settings.table = table;
    verdict_set_level(table->settings.event_level);
    LSTATUS status = fill(table);
    *ret_old = status ? table : current;
    if (status)
        return status;
    current = table;
    trace("host", "%zu services registered, test level %u", table->count,
          table->settings.test_level);
    return ERROR_SUCCESS;
}

LSTATUS service_table_hold(struct service_table **ret)
{
    uint64_t generation = registry_generation();
    struct service_table *old = NULL;
    LSTATUS status = ERROR_SUCCESS;
    lock_take(&lock);
    if (!current || current->generation != generation ||
        quarantine_clock.filetime() >= current->valid_until)
        status = make(generation, &old);
    *ret = status ? NULL : current;
    if (!status)
        current->holders++;
    lock_release(&lock);
    service_table_release(old);
    return status;
}

struct service_table *service_table_last(void)
{
    lock_take(&lock);
    struct service_table *table = current;
    if (table)
        table->holders++;
    lock_release(&lock);
    return table;
}
