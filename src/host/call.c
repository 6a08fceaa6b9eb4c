/* SPDX-License-Identifier: MIT */
/*
 * One Collect, and what we think of it: the only place where a provider's code writes data. It gets
 * a private buffer between guards, its answer is judged in the order of reference D.4, and only
 * bytes that passed are copied to the caller. (C115-C118, C123-C129)
 */
#include "host/internal.h"

#include <stdlib.h>
#include <string.h>

/* What Collect was given and what it left. */
struct answer {
    unsigned char *start, *end;
    size_t room;
    DWORD status, bytes, objects;
};

/* The string as UTF-16, fresh for every call. */
static LSTATUS write_query_text(struct library *code, const char *text)
{
    size_t bytes = strlen(text), units = utf8_to_16(text, bytes, NULL, 0);
    if (units + 1 > code->query_room) {
        free(code->query_text);
        code->query_text = calloc(units + 1, sizeof(uint16_t));
        code->query_room = code->query_text ? units + 1 : 0;
        if (!code->query_text)
            return ERROR_NOT_ENOUGH_MEMORY;
    }
    utf8_to_16(text, bytes, code->query_text, units);
    code->query_text[units] = 0;
    return ERROR_SUCCESS;
}

static void ask(struct library *code, struct answer *answer)
{
    void *end = answer->start;
    answer->bytes = answer->room > UINT32_MAX ? UINT32_MAX : (DWORD)answer->room;
    answer->objects = 0;
    answer->status =
        code->module.collect((LPWSTR)code->query_text, &end, &answer->bytes, &answer->objects);
    answer->end = end;
}

/* Checks 1 to 3: pointer and length. */
static enum mistake judge_pointer(const struct answer *answer, uint64_t *detail)
{
    uintptr_t start = (uintptr_t)answer->start, end = (uintptr_t)answer->end;
    uintptr_t limit = start + answer->room;
    if (end < start || end > limit + GUARD_BYTES) {
        *detail = end < start ? start - end : end - limit;
        return MISTAKE_HEAP;
    }
    *detail = end > limit ? end - limit : end - start;
    if (end > limit)
        return MISTAKE_OVERRUN;
    if (answer->bytes == end - start)
        return MISTAKE_NONE;
    if (end != start)
        return MISTAKE_LENGTH;
    *detail = answer->room;
    return MISTAKE_SILENT;
}

/* Checks 5 to 8: lengths inside. */
static enum mistake judge_content(const struct answer *answer, size_t size, uint64_t *detail)
{
    static const enum mistake mistakes[] = {
        [WIRE_GOOD] = MISTAKE_NONE,
        [WIRE_FAULT_OBJECTS] = MISTAKE_OBJECTS,
        [WIRE_FAULT_DEFINITIONS] = MISTAKE_DEFINITIONS,
        [WIRE_FAULT_INSTANCES] = MISTAKE_INSTANCES,
        [WIRE_FAULT_ALIGNMENT] = MISTAKE_ALIGNMENT,
    };
    uint32_t object = 0;
    enum wire_fault fault = wire_check_objects(answer->start, size, answer->objects, &object);
    *detail = fault == WIRE_FAULT_OBJECTS     ? answer->objects
              : fault == WIRE_FAULT_ALIGNMENT ? size
                                              : object;
    return mistakes[fault];
}

/* Is what it wrote kept? *ret_size: how much that is. */
static bool judge(struct service *service, const struct host_settings *settings,
                  const struct answer *answer, size_t *ret_size)
{
    uint64_t detail = 0;
    bool basic = settings->test_level <= 2, all = settings->test_level <= 1;
    bool guards = basic && !(settings->configuration & CONFIGURATION_NO_GUARDS);
    enum mistake pointer = judge_pointer(answer, &detail);
    if (pointer == MISTAKE_OVERRUN || pointer == MISTAKE_HEAP || (basic && pointer)) {
        if (!verdict_keep(service, settings, pointer, detail))
            return false;
    }
    if (guards && !guard_intact(&service->code->buffer))
        return verdict_keep(service, settings, MISTAKE_GUARD, answer->room);
    *ret_size = (size_t)(answer->end - answer->start);
    if (*ret_size % 4)
        return verdict_keep(service, settings, MISTAKE_ODD_LENGTH, *ret_size);
    enum mistake content =
        all || pointer == MISTAKE_LENGTH ? judge_content(answer, *ret_size, &detail) : MISTAKE_NONE;
    if (content == MISTAKE_ALIGNMENT && settings->configuration & CONFIGURATION_NO_ALIGNMENT)
        content = MISTAKE_NONE;
    return verdict_keep(service, settings, content, detail);
}

LSTATUS call_collect(struct service *service, const struct host_settings *settings,
                     const struct query *query, void *data, size_t room, size_t *ret_size,
                     uint32_t *ret_objects)
{
    struct library *code = service->code;
    struct answer answer = {.room = room};
    *ret_size = 0;
    *ret_objects = 0;
    LSTATUS status = write_query_text(code, query->text);
    if (!status)
        status = guard_arm(&code->buffer, room);
    if (status)
        return status;
    answer.start = guard_start(&code->buffer);
    ask(code, &answer);
    trace("host", "%s: Collect(\"%s\") returned %u, %u bytes, %u objects", service->name,
          query->text, (unsigned)answer.status, (unsigned)answer.bytes, (unsigned)answer.objects);
    if (answer.status == ERROR_MORE_DATA)
        return guard_intact(&code->buffer) || verdict_keep(service, settings, MISTAKE_GUARD, room)
                   ? ERROR_MORE_DATA
                   : ERROR_SUCCESS;
    if (answer.status) {
        verdict_keep(service, settings, MISTAKE_STATUS, answer.status);
        return ERROR_SUCCESS;
    }
    size_t size = 0;
    if (!judge(service, settings, &answer, &size) || !size)
        return ERROR_SUCCESS;
    trace("host", "%s: %zu bytes passed the checks of test level %u", service->name, size,
          settings->test_level);
    memcpy(data, answer.start, size);
    *ret_size = size;
    *ret_objects = answer.objects;
    return ERROR_SUCCESS;
}
