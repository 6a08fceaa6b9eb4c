/* SPDX-License-Identifier: MIT */
/*
 * Finds and checks a provider's library; and, for code that runs in this process, loads it and
 * calls Open and Close. The real path of its file decides where the code runs: libraries of the
 * shipped folder run here, third-party ones only if their registration requests that with Isolation
 * = 0. (docs/windows/articles.md#c39, docs/windows/providers.md#d2, docs/isolation.md)
 */
#include "host/internal.h"
#include "registry/registry.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the buffer for Collect ---- */

/*
 * The buffer a provider writes to: private, with 1 KiB of a known pattern on both sides. Writing
 * and checking the patterns takes 0.06 us, so there is no variant without them.
 * (docs/windows/articles.md#c125, docs/windows/articles.md#c126)
 */

enum { GUARD_PATTERN = 0xA5 };

/* Makes the buffer at least `capacity` bytes large and writes both patterns. A buffer that is large
 * because of one rare query is made smaller. */
static LSTATUS guard_arm(struct guarded *guarded, size_t capacity)
{
    enum { LARGE = 1 << 20 };
    size_t needed = capacity + 2 * (size_t)GUARD_BYTES;
    if (needed < capacity)
        return ERROR_NOT_ENOUGH_MEMORY;
    if (needed > guarded->allocated ||
        (guarded->allocated > LARGE && needed <= guarded->allocated / 2)) {
        free(guarded->memory);
        guarded->memory = malloc(needed);
        guarded->allocated = guarded->memory ? needed : 0;
        if (!guarded->memory)
            return ERROR_NOT_ENOUGH_MEMORY;
    }
    guarded->capacity = capacity;
    memset(guarded->memory, GUARD_PATTERN, GUARD_BYTES);
    memset(guarded->memory + GUARD_BYTES + capacity, GUARD_PATTERN, GUARD_BYTES);
    return ERROR_SUCCESS;
}

static void guard_done(struct guarded *guarded)
{
    free(guarded->memory);
    *guarded = (struct guarded){0};
}

_Thread_local bool provider_inside;

LSTATUS library_new(struct library **ret)
{
    struct library *library = calloc(1, sizeof(*library));
    if (!library)
        return ERROR_NOT_ENOUGH_MEMORY;
    pthread_mutex_init(&library->lock, NULL);
    *ret = library;
    return ERROR_SUCCESS;
}

/* ---- the library's file, and where it may run ---- */

/* Returns the real path of the folder of shipped providers; NULL: it does not exist. */
static const char *shipped_folder(void)
{
    static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
    static char *folder;
    static bool known;
    lock_take(&once);
    if (!known) {
        FREE_AUTO char *path = text_format("%s/providers", place_vendor());
        folder = path ? realpath(path, NULL) : NULL;
        known = true;
    }
    lock_release(&once);
    return folder;
}

/* True if the file is in the folder of shipped providers; the service's name does not matter. */
static bool library_is_shipped(const char *real_path)
{
    const char *folder = shipped_folder();
    size_t length = folder ? strlen(folder) : 0;
    return length && strncmp(real_path, folder, length) == 0 &&
           strrchr(real_path, '/') == real_path + length;
}

bool library_named_as_shipped(const char *library)
{
    bool shipped;
    if (library[0] == '/')
        return library_is_shipped(library);
    FREE_AUTO char *path = place_library(library, &shipped);
    return path && shipped;
}

/* Finds the library's real path. A name without slash is a file in the folder of shipped providers;
 * any other path must be absolute. */
static LSTATUS find_file(const char *library, char real_path[PATH_MAX])
{
    bool shipped;
    FREE_AUTO char *path = library[0] == '/'      ? strdup(library)
                           : strchr(library, '/') ? NULL
                                                  : place_library(library, &shipped);
    return path && realpath(path, real_path) ? ERROR_SUCCESS : ERROR_MOD_NOT_FOUND;
}

/* Returns the number of the event for a failure to load. Libraries for the other word size (64 or
 * 32 bits) have events of their own. (docs/windows/providers.md#d5) */
static unsigned load_event(LSTATUS status)
{
    if (status == ERROR_PROC_NOT_FOUND)
        return 4017;
    if (status != ERROR_BAD_EXE_FORMAT)
        return 1023;
    return sizeof(void *) == 8 ? 1021 : 1022;
}

/* Returns what to do about the failure; `why`: the dynamic loader's message, "" if there is no
 * file. */
static const char *remedy(LSTATUS status, const char *why)
{
    switch (status) {
    case ERROR_MOD_NOT_FOUND:
        return strstr(why, ": file too short") || strstr(why, ": invalid ELF header")
                   ? "the file is damaged, empty or not a library: install it again"
               : *why ? "ldd -r lists what is missing: install it, or link the library with it"
                      : "install the file, or correct the value Library of the provider's "
                        "Performance key";
    case ERROR_ACCESS_DENIED:
        return "correct the owner and mode of the file and of the folders above it";
    case ERROR_DLL_INIT_FAILED:
        return "see the library's documentation for what its DllMain needs";
    case ERROR_PROCESS_ABORTED:
        return "report it to its author; openperflib-check shows where it failed";
    default:
        return "it is tried again at the next query";
    }
}

void library_report_load(const struct service *service, LSTATUS status, const char *why)
{
    verdict_report(service, load_event(status),
                   EVENT_FIELDS(EVENT_STATUS(status), EVENT_TEXT("Remedy", remedy(status, why))),
                   *why && status != ERROR_PROC_NOT_FOUND ? why : NULL);
}

/* True if the file has the time and size that were recorded when it was installed or first trusted,
 * or if none were recorded (docs/windows/providers.md#d1). */
static bool matches_code(const struct service *service, const char *real_path)
{
    struct stat st;
    unsigned char now[VALIDATION_BYTES];
    if (!service->has_validation)
        return true;
    if (stat(real_path, &st))
        return false;
    int64_t numbers[2] = {clock_filetime_of(&st.st_mtim), st.st_size};
    for (size_t i = 0; i < sizeof(now); i++)
        now[i] = (unsigned char)((uint64_t)numbers[i / 8] >> (i % 8 * 8));
    return memcmp(now, service->validation, sizeof(now)) == 0;
}

static void check_code(struct service *service, const char *real_path)
{
    struct library *code = service->code;
    code->unproven = !matches_code(service, real_path);
    if (code->unproven)
        verdict_report(service, 2003, NULL, "it runs in a helper process, and all checks are made");
}

static enum placement place_of(const struct service *service, const char *real_path)
{
    enum { ALWAYS = 2 };
    if (library_is_shipped(real_path))
        return service->isolation == ALWAYS ? PLACE_HELPER : PLACE_SHIPPED;
    return service->isolation == 0 && !service->code->unproven ? PLACE_INSIDE : PLACE_HELPER;
}

LSTATUS library_place(struct service *service)
{
    struct library *code = service->code;
    char real_path[PATH_MAX], why[TRUST_TEXT] = "";
    if (code->place != PLACE_UNKNOWN)
        return ERROR_SUCCESS;
    LSTATUS status = find_file(service->library, real_path);
    if (!status)
        status =
            (library_is_shipped(real_path) ? trust_check_shipped : trust_check)(real_path, why);
    char *path = status ? NULL : strdup(real_path);
    if (!status && !path)
        status = ERROR_NOT_ENOUGH_MEMORY;
    if (status) {
        library_report_load(service, status, why);
        return status;
    }
    check_code(service, real_path);
    free(code->path);
    code->path = path;
    code->place = place_of(service, real_path);
    trace("host", "%s: %s runs %s", service->name, path,
          code->place == PLACE_HELPER ? "in a helper process" : "in this process");
    return ERROR_SUCCESS;
}

/* ---- in this process ---- */

void library_report_missing(const struct service *service, enum module_procedure missing)
{
    static const char *const values[] = {"Open", "Collect", "Close"};
    const char *const names[] = {service->open, service->collect, service->close};
    const char *name = names[missing] ? names[missing] : values[missing];
    verdict_report(service, names[missing] ? 1005 + (unsigned)missing : 3003,
                   EVENT_FIELDS(EVENT_TEXT("ProcName", name), EVENT_STATUS(ERROR_PROC_NOT_FOUND)),
                   NULL);
}

/* True if the service has a number for its first counter, which most providers read in Open. */
static bool has_numbers(const struct service *service)
{
    uint32_t first;
    FREE_AUTO char *path = text_format("%s\\%s\\Performance", REGISTRY_SERVICES, service->name);
    return !path || !registry_get_dword(path, "First Counter", &first);
}

void library_report_open(const struct service *service, LSTATUS status)
{
    FREE_AUTO char *more = NULL;
    /* probably the service has no numbers, or its code reads the key of another service */
    if (status == ERROR_FILE_NOT_FOUND && !has_numbers(service))
        more = text_format("its names were never loaded; run lodctr FILE.ini");
    else if (status == ERROR_FILE_NOT_FOUND)
        more = text_format("if it reads First Counter itself, the key in its code must be "
                           "Services\\%s\\Performance; drivername in the ini file names that key",
                           service->name);
    verdict_report(service, 1008, EVENT_FIELDS(EVENT_STATUS(status)), more);
}

static LSTATUS load(struct service *service)
{
    struct library *code = service->code;
    const char *const names[] = {service->open, service->collect, service->close};
    enum module_procedure missing;
    char why[MODULE_TEXT] = "";
    if (code->module.handle)
        return ERROR_SUCCESS;
    LSTATUS status = module_load(&code->module, code->path, why);
    if (status) {
        library_report_load(service, status, why);
        return status;
    }
    status = module_find(&code->module, names, &missing);
    if (status)
        library_report_missing(service, missing);
    return status;
}

void library_report_slow_open(const struct service *service, int64_t ms)
{
    char more[48];
    snprintf(more, sizeof(more), "%lld ms have passed", (long long)ms);
    verdict_report(service, 2002, NULL, more);
}

static LSTATUS call_open(struct service *service, const struct host_settings *settings)
{
    PM_OPEN_PROC *open = service->code->module.open;
    int64_t limit = service->open_timeout ? service->open_timeout : settings->slow_open;
    if (!limit && service->code->place != PLACE_SHIPPED)
        limit = DEFAULT_OPEN_MS;
    int64_t start = clock_ticks();
    LSTATUS status = open ? (LSTATUS)open((LPWSTR)service->export_names) : ERROR_SUCCESS;
    int64_t ms = (clock_ticks() - start) / TICKS_PER_MS;
    trace("host", "%s: Open returned %d", service->name, (int)status);
    if (limit && ms > limit && !(settings->configuration & CONFIGURATION_NO_HANG_TEST))
        library_report_slow_open(service, ms);
    if (status)
        library_report_open(service, status);
    return status;
}

/* Loads the library and calls Open in this process. A failure is reported, what was done is undone,
 * and the next query tries again. */
static LSTATUS library_open(struct service *service, const struct host_settings *settings)
{
    struct library *code = service->code;
    LSTATUS status = load(service);
    if (!status)
        status = call_open(service, settings);
    if (status) {
        module_unload(&code->module);
        code->place = PLACE_UNKNOWN; /* check the file again in the next session, because it may be
                                      * replaced */
    }
    code->opened = !status;
    return status;
}

/* ---- the end of a session ---- */

static void close_inside(struct service *service, bool unload)
{
    struct library *code = service->code;
    provider_inside = true;
    if (code->opened && code->module.close) {
        DWORD status = code->module.close();
        trace("host", "%s: Close returned %u", service->name, (unsigned)status);
    }
    code->opened = false;
    if (unload) {
        module_unload(&code->module);
        code->place = PLACE_UNKNOWN;
    }
    provider_inside = false;
}

void library_close(struct service *service, const struct host_settings *settings, bool unload)
{
    struct library *code = service->code;
    claim_take(&code->claim);
    isolated_close(service, settings, unload);
    lock_take(&code->lock);
    close_inside(service, unload);
    quarantine_take(service, settings, PROVIDER_CLOSED, NULL);
    code->reported = 0;
    code->titles = 0;
    atomic_store(&code->twice_reported, false);
    atomic_store(&code->awake, false);
    atomic_store(&code->filled, 0);
    atomic_store(&code->least_filled, 0);
    lock_release(&code->lock);
    claim_release(&code->claim);
}

void library_free(struct service *service)
{
    struct library *code = service->code;
    if (!code)
        return;
    library_close(service, NULL, true);
    isolate_free(code->isolated.isolated);
    free(code->isolated.reply);
    guard_done(&code->buffer);
    free(code->query_text);
    free(code->path);
    pthread_mutex_destroy(&code->lock);
    free(code);
    service->code = NULL;
}

/* ---- Collect ---- */

/*
 * Calls Collect in this process; nowhere else does a provider's code write to this process's
 * memory. Collect gets a private buffer between guards; at ExtCounterTestLevel 4 it gets the
 * caller's own buffer. (docs/windows/providers.md#d3)
 */

/* Gives each part back to the system once it is copied, so that the two copies of a large answer do
 * not need twice its memory. */
static void copy_from_guarded(void *self, void *to, size_t size)
{
    enum { PART = 256 << 10 };
    const struct guarded *guarded = self;
    for (size_t at = 0, part; at < size; at += part) {
        part = size - at < PART ? size - at : PART;
        memcpy((char *)to + at, guarded->memory + GUARD_BYTES + at, part);
        memory_unused(guarded->memory + GUARD_BYTES + at, part);
    }
}

/* Calls Collect with the buffer that the test level requires: one between guards, or the `own` one
 * of the caller. */
static LSTATUS run_collect(struct library *code, const struct host_settings *settings,
                           unsigned char *own, struct answer *answer)
{
    bool guarded = settings->test_level < 4;
    if (guarded && guard_arm(&code->buffer, answer->capacity))
        return ERROR_NOT_ENOUGH_MEMORY;
    unsigned char *start = guarded ? code->buffer.memory + GUARD_BYTES : own;
    void *end = start;
    DWORD bytes = answer->capacity > UINT32_MAX ? UINT32_MAX : (DWORD)answer->capacity, objects = 0;
    answer->status =
        (LSTATUS)code->module.collect((LPWSTR)code->query_text, &end, &bytes, &objects);
    answer->bytes = bytes;
    answer->objects = objects;
    answer->end = (int64_t)((uintptr_t)end - (uintptr_t)start);
    if (!guarded)
        return ERROR_SUCCESS;
    const unsigned char *before = start - GUARD_BYTES, *after = start + answer->capacity;
    if (settings->test_level <= 2 && !(settings->configuration & CONFIGURATION_NO_GUARDS))
        answer->guards_intact = before[0] == GUARD_PATTERN &&
                                memcmp(before, before + 1, GUARD_BYTES - 1) == 0 &&
                                memcmp(before, after, GUARD_BYTES) == 0;
    answer->copy = copy_from_guarded;
    answer->self = &code->buffer;
    return ERROR_SUCCESS;
}

static LSTATUS collect(struct service *service, const struct host_settings *settings,
                       const struct query *query, struct piece *piece)
{
    struct library *code = service->code;
    struct answer answer = {.capacity = piece->capacity,
                            .guards_intact = true,
                            .foreign = query->kind == QUERY_FOREIGN};
    if (!code->opened && library_open(service, settings)) {
        piece->size = 0;
        return ERROR_SUCCESS; /* the error was reported; other providers' objects are returned */
    }
    /* the query as UTF-16 is written for every call, because the provider may change its copy */
    size_t bytes = strlen(query->text), units = utf8_to_16(query->text, bytes, NULL, 0);
    if (units + 1 > code->query_capacity) {
        free(code->query_text);
        code->query_text = calloc(units + 1, sizeof(uint16_t));
        code->query_capacity = code->query_text ? units + 1 : 0;
        if (!code->query_text)
            return ERROR_NOT_ENOUGH_MEMORY;
    }
    utf8_to_16(query->text, bytes, code->query_text, units);
    code->query_text[units] = 0;
    int64_t start = clock_ticks();
    LSTATUS status = run_collect(code, settings, piece->data, &answer);
    if (status)
        return status;
    answer.took_100ns = clock_ticks() - start;
    trace("host", "%s: Collect(\"%s\") returned %d, %u bytes, %u objects", service->name,
          query->text, (int)answer.status, answer.bytes, answer.objects);
    /* In this process a Collect that takes too long cannot be interrupted, so its answer is kept.
     * Shipped providers may be slow on a busy machine. */
    int64_t ms = answer.took_100ns / TICKS_PER_MS;
    bool tested = code->place != PLACE_SHIPPED || service->collect_timeout;
    if (tested && !(settings->configuration & CONFIGURATION_NO_HANG_TEST) &&
        ms > service_collect_ms(service, query))
        verdict_keep(service, settings,
                     &(struct fault_finding){FAULT_OVERDUE, .numbers = {(uint64_t)ms}});
    status = judge(service, settings, &answer, piece);
    memory_unused(code->buffer.memory, code->buffer.allocated);
    return status;
}

LSTATUS call_collect(struct service *service, const struct host_settings *settings,
                     const struct query *query, struct piece *piece)
{
    LSTATUS status = ERROR_SUCCESS;
    piece->size = 0;
    lock_take(&service->code->lock);
    provider_inside = true;
    if (!quarantine_waits(service) && !library_place(service) &&
        service->code->place != PLACE_HELPER)
        status = collect(service, settings, query, piece);
    provider_inside = false;
    lock_release(&service->code->lock);
    return status;
}
