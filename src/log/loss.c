/* SPDX-License-Identifier: MIT */
/* Counts what cannot be shown of a capture, by reason, with the first example of each. */
#include "log/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const reasons[LOSSES] = {
    [LOSS_OBJECT] = "objects that have no name in the capture's name tables",
    [LOSS_COUNTER] = "counters that have no name in the capture's name tables",
    [LOSS_TYPE] = "counters whose type has no numeric value",
    [LOSS_FORMULA] = "counters whose type has no formula",
    [LOSS_ENTRY] = "catalogue entries without object or counter",
    [LOSS_TWICE] = "counters that the catalogue names a second time",
    [LOSS_PATTERN] = "counters whose instance has * or ? in its name",
    [LOSS_RECORD] = "records that are incomplete or of an unknown kind",
    [LOSS_BUFFER] = "buffers that are missing in the file",
    [LOSS_TIME] = "samples with an impossible time",
    [LOSS_ORDER] = "samples that are earlier than the one before them",
    [LOSS_NAMES] = "texts without a number in the tables of names",
    [LOSS_VALUE] = "values that are damaged or of an unknown kind",
    [LOSS_SURPLUS] = "values beyond the last column",
    [LOSS_BLOCK] = "blocks that are damaged",
    [LOSS_TEXT] = "values that are neither a number nor blank",
    [LOSS_COMMENT] = "comments of samples",
    [LOSS_FILE] = "files that cannot be read",
};

/* Replaces newlines, which names may have, because losses_print prints one line for each reason. */
static void one_line(char *text)
{
    while ((text = strchr(text, '\n')))
        *text = ' ';
}

void losses_add(struct log_losses *losses, enum log_loss reason, uint64_t count,
                const char *example, ...)
{
    struct log_lost *lost = &losses->list[reason];
    if (!lost->count && count) {
        va_list arguments;
        va_start(arguments, example);
        vsnprintf(lost->example, sizeof(lost->example), example, arguments);
        va_end(arguments);
        one_line(lost->example);
    }
    lost->count += count;
    losses->any |= count > 0;
}

void losses_join(struct log_losses *losses, const struct log_losses *more)
{
    for (int i = 0; more->any && i < LOSSES; i++)
        losses_add(losses, (enum log_loss)i, more->list[i].count, "%s", more->list[i].example);
}

void losses_print(const struct log_losses *losses, struct buffer *ret)
{
    for (int i = 0; losses->any && i < LOSSES; i++)
        if (losses->list[i].count)
            buffer_printf(ret, "%snot shown: %s: %llu, the first is %s", ret->len ? "\n" : "",
                          reasons[i], (unsigned long long)losses->list[i].count,
                          losses->list[i].example);
}
