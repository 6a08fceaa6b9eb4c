/* SPDX-License-Identifier: MIT */
/*
 * Calls Collect in this process; nowhere else does a provider's code write to this process's
 * memory. Collect gets a private buffer between guards; at ExtCounterTestLevel 4 it gets the
 * caller's own buffer. (docs/windows/providers.md#d3)
 */
#include "host/internal.h"

#include <stdlib.h>
#include <string.h>

/* Writes the query as UTF-16, again for every call, because the provider may change its copy. */
static LSTATUS write_query_text(struct library *code, const char *text)
{
    size_t bytes = strlen(text), units = utf8_to_16(text, bytes, NULL, 0);
    if (units + 1 > code->query_capacity) {
        free(code->query_text);
        code->query_text = calloc(units + 1, sizeof(uint16_t));
        code->query_capacity = code->query_text ? units + 1 : 0;
        if (!code->query_text)
            return ERROR_NOT_ENOUGH_MEMORY;
    }
    utf8_to_16(text, bytes, code->query_text, units);
    code->query_text[units] = 0;
    return ERROR_SUCCESS;
}

static void run_collect(struct library *code, unsigned char *start, struct answer *answer)
{
    void *end = start;
    DWORD bytes = answer->capacity > UINT32_MAX ? UINT32_MAX : (DWORD)answer->capacity, objects = 0;
    answer->status =
        (LSTATUS)code->module.collect((LPWSTR)code->query_text, &end, &bytes, &objects);
    answer->bytes = bytes;
    answer->objects = objects;
    answer->end = (int64_t)((uintptr_t)end - (uintptr_t)start);
}

static void copy_from_guarded(void *self, void *to, size_t size)
{
    memcpy(to, guard_start(self), size);
}

static LSTATUS run_guarded(struct library *code, const struct host_settings *settings,
                           struct answer *answer)
{
    LSTATUS status = guard_arm(&code->buffer, answer->capacity);
    if (status)
        return status;
    run_collect(code, guard_start(&code->buffer), answer);
    if (settings->test_level <= 2 && !(settings->configuration & CONFIGURATION_NO_GUARDS))
        answer->guards_intact = guard_intact(&code->buffer);
    answer->copy = copy_from_guarded;
    answer->self = &code->buffer;
    return ERROR_SUCCESS;
}

/* Reports a Collect that took too long. In this process it cannot be interrupted, so its answer is
 * kept. Not reported for shipped providers, which may be slow on a busy machine. */
static void report_overdue(struct service *service, const struct host_settings *settings,
                           const struct query *query, int64_t ms)
{
    bool tested = service->code->place != PLACE_SHIPPED || service->collect_timeout;
    if (tested && !(settings->configuration & CONFIGURATION_NO_HANG_TEST) &&
        ms > service_collect_ms(service, query))
        verdict_keep(service, settings,
                     &(struct fault_finding){FAULT_OVERDUE, .numbers = {(uint64_t)ms}});
}

static LSTATUS collect(struct service *service, const struct host_settings *settings,
                       const struct query *query, struct piece *piece)
{
    struct library *code = service->code;
    struct answer answer = {.capacity = piece->capacity,
                            .guards_intact = true,
                            .foreign = query->kind == QUERY_FOREIGN};
    LSTATUS status = library_open(service, settings);
    if (status) {
        piece->size = 0;
        return ERROR_SUCCESS; /* the error was reported; other providers' objects are returned */
    }
    status = write_query_text(code, query->text);
    int64_t start = clock_ticks();
    if (!status && settings->test_level >= 4)
        run_collect(code, piece->data, &answer);
    else if (!status)
        status = run_guarded(code, settings, &answer);
    if (status)
        return status;
    answer.took_100ns = clock_ticks() - start;
    trace("host", "%s: Collect(\"%s\") returned %d, %u bytes, %u objects", service->name,
          query->text, (int)answer.status, answer.bytes, answer.objects);
    report_overdue(service, settings, query, answer.took_100ns / TICKS_PER_MS);
    return judge(service, settings, &answer, piece);
}

LSTATUS call_collect(struct service *service, const struct host_settings *settings,
                     const struct query *query, struct piece *piece)
{
    LSTATUS status = ERROR_SUCCESS;
    piece->size = 0;
    lock_take(&service->code->lock);
    provider_enter();
    if (!quarantine_waits(service) && !library_place(service) &&
        service->code->place != PLACE_HELPER)
        status = collect(service, settings, query, piece);
    provider_leave();
    lock_release(&service->code->lock);
    return status;
}
