/* SPDX-License-Identifier: MIT */
/* Checks what one Collect returned: status, pointer, counts, guards; lengths in the data. */
#include "check.h"

#include "wire/wire.h"

#include <inttypes.h>
#include <stdlib.h>

static const struct place nowhere;

static void returned(struct report *report, const struct check_answer *answer, const char *field,
                     const char *expected, const char *found, int64_t number)
{
    report_add(report, MISTAKE, &nowhere, field, IN_RETURNS, expected,
               "%s%" PRId64 " (query \"%.100s\", %" PRIu32 " bytes of space)", found, number,
               answer->query, answer->capacity);
}

/* Checks the outputs of a Collect that failed. When Collect fails, it must set both counts to 0 and
 * leave *lppData unchanged. */
static void check_error_outputs(const struct check_answer *answer, struct report *report)
{
    const struct worker_reply *reply = &answer->reply;
    const char *expected = "0, because Collect returned an error";
    if (reply->bytes != 0)
        returned(report, answer, "*lpcbTotalBytes after a failure", expected, "", reply->bytes);
    if (reply->objects != 0)
        returned(report, answer, "*lpNumObjectTypes after a failure", expected, "", reply->objects);
    if (reply->end != 0)
        returned(report, answer, "*lppData after a failure", "an unchanged pointer", "moved by ",
                 reply->end);
}

static void check_guards(const struct check_answer *answer, struct report *report)
{
    const struct worker_reply *reply = &answer->reply;
    if (reply->below)
        returned(report, answer, "buffer", "nothing written before its start",
                 "written before its start, at byte -", reply->below);
    if (reply->above)
        returned(report, answer, "buffer", "nothing written after its end",
                 "written after its end, at byte ", reply->above - 1);
}

static bool check_pointer(const struct check_answer *answer, struct report *report)
{
    const struct worker_reply *reply = &answer->reply;
    if (reply->end >= 0 && reply->end <= (int64_t)answer->capacity) {
        if (reply->bytes == (uint64_t)reply->end)
            return true;
        returned(report, answer, "*lpcbTotalBytes",
                 "the number of bytes by which *lppData was moved", "", reply->bytes);
        return reply->end > 0;
    }
    returned(report, answer, "*lppData", "moved to the end of the answer, inside the buffer",
             "moved by ", reply->end);
    return false;
}

static void check_counts(const struct check_answer *answer, struct report *report)
{
    const struct worker_reply *reply = &answer->reply;
    if (reply->end > 0 && reply->objects == 0)
        returned(report, answer, "*lpNumObjectTypes", "the number of objects in the answer", "",
                 reply->objects);
    if (reply->end == 0 && reply->objects != 0)
        returned(report, answer, "*lpNumObjectTypes", "0 if no bytes are returned", "",
                 reply->objects);
    if (reply->end % 8 != 0)
        returned(report, answer, "*lpcbTotalBytes", "a multiple of 8", "", reply->end);
}

bool answer_check_returns(const struct check_answer *answer, struct report *report)
{
    const struct worker_reply *reply = &answer->reply;
    check_guards(answer, report);
    if (reply->query_changed)
        report_add(report, WARNING, &nowhere, "query", IN_RETURNS, "Collect only reads it",
                   "Collect wrote to it");
    if (reply->delayed_writes)
        report_add(report, MISTAKE, &nowhere, "buffer", IN_RETURNS,
                   "no writes after Collect returned", "the answer was changed later");
    if (reply->status) {
        check_error_outputs(answer, report);
        if (reply->status != ERROR_MORE_DATA)
            report_add(report, MISTAKE, &nowhere, "status", IN_RETURNS,
                       "ERROR_SUCCESS, also when there is nothing to answer",
                       "%" PRIu32 ", %s (query \"%.100s\")", reply->status, reply->text,
                       answer->query);
        return false;
    }
    if (reply->outputs_kept && answer->capacity > 0) {
        returned(report, answer, "*lpcbTotalBytes", "0 when there is nothing to answer",
                 "not set by Collect, still ", reply->bytes);
        return false;
    }
    if (!check_pointer(answer, report))
        return false;
    check_counts(answer, report);
    return reply->end > 0;
}

size_t answer_count(struct check_answer *answer)
{
    opl_object_view object = {0};
    size_t count = 0;
    while (opl_block_next_object(&answer->block, &object))
        count += 1 + (object.type.NumInstances > 0 ? (size_t)object.type.NumInstances : 0);
    return count;
}

/* Checks only lengths and alignment. fields.c checks bases, offsets and duplicate numbers. */
bool answer_check_lengths(struct check_answer *answer, struct report *report)
{
    struct wire_finding finding;
    char found[WIRE_TEXT], expected[WIRE_TEXT];
    enum wire_fault fault =
        wire_check_objects(answer->data, answer->size, answer->reply.objects, &finding);
    bool broken = fault != WIRE_GOOD && fault <= WIRE_FAULT_INSTANCES;
    if (broken || fault == WIRE_FAULT_ALIGNMENT) {
        wire_finding_text(&finding, found, expected);
        struct place place = {finding.object, finding.has_counter ? finding.counter : 0,
                              finding.has_instance ? finding.instance : NULL};
        report_add(report, MISTAKE, &place, finding.field,
                   fault == WIRE_FAULT_DEFINITIONS ? IN_COUNTERS
                   : fault == WIRE_FAULT_INSTANCES ? IN_INSTANCES
                                                   : IN_OBJECTS,
                   expected, "%s, in object %" PRIu32 " of the answer, at byte %zu", found,
                   finding.position, finding.offset);
    }
    answer->block = (opl_block){.data = answer->data, .size = answer->size};
    answer->block.header.NumObjectTypes = broken ? 0 : answer->reply.objects;
    return !broken;
}

void answer_done(struct check_answer *answer)
{
    free(answer->data);
    *answer = (struct check_answer){0};
}
