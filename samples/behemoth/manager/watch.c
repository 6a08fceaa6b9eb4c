/* SPDX-License-Identifier: MIT */
/* Queries repeatedly, and prints a line for each birth and death. If the server ends, the program
 * waits for it. */
#include "manager.h"

#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <time.h>

__attribute__((format(printf, 2, 3))) static void report(char sign, const char *format, ...)
{
    char text[16];
    time_t now = time(NULL);
    va_list list;
    strftime(text, sizeof text, "%H:%M:%S", localtime(&now));
    if (manager.style.colours)
        fputs(sign == '+' ? GREEN : sign == '-' ? RED : WEAK, stdout);
    printf("%s %c ", text, sign);
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    puts(manager.style.colours ? PLAIN : "");
}

/* Compares two lists sorted by id: a behemoth that is in only one of the lists was born or has
 * died. */
static void compare(const struct behemoth_herd *before, const struct behemoth_herd *herd)
{
    const struct behemoth *all = behemoth_all(herd), *is = all, *end = is + herd->count;
    const struct behemoth *was = behemoth_all(before), *was_end = was + before->count;
    uint64_t counted = herd->births + herd->founded - before->births - before->founded, came = 0;
    while (is < end || was < was_end) {
        if (was < was_end && (is == end || was->id < is->id)) {
            report('-', "%s (%" PRIu64 "), %s, at the age of %s", was->name, was->id,
                   sex_word(was->sex),
                   age_text((double)(herd->time - was->birthday) / BEHEMOTH_SECOND));
            was++;
        } else if (was == was_end || is->id < was->id) {
            bool child = is->mother_position != BEHEMOTH_NONE;
            report('+', "%s (%" PRIu64 "), %s%s%s", is->name, is->id, sex_word(is->sex),
                   child ? ", of " : "", child ? all[is->mother_position].name : "");
            came++;
            is++;
        } else {
            is++, was++;
        }
    }
    if (counted > came)
        report(' ', "%" PRIu64 " were born and died between two queries", counted - came);
}

int command_watch(void)
{
    struct behemoth_line kept = {0}, answer; /* `kept` has the last herd */
    const struct behemoth_herd *herd = manager_look(BEHEMOTH_HERD), *before = herd;
    int64_t until = behemoth_now() + manager.seconds * 1000;
    if (!herd)
        return manager_complain();
    setvbuf(stdout, NULL, _IOLBF, 0);
    report(' ', "%u behemoths", (unsigned)herd->count);
    for (bool there = true; manager.seconds == 0 || behemoth_now() < until; there = herd != NULL) {
        if (herd) {
            answer = manager.line;
            manager.line = kept;
            kept = answer;
            before = herd;
        }
        poll(NULL, 0, (int)(manager.interval * 1000));
        herd = manager_look(BEHEMOTH_HERD);
        if (there && !herd)
            report(' ', "the server does not answer any more; waiting for it");
        if (herd && !there)
            report(' ', "the server is back, process %" PRIu64, herd->process);
        if (herd && herd->process != before->process &&
            (herd->ticks < before->ticks || herd->births < before->births))
            report(' ', "the server continues from a saved, earlier state");
        else if (herd)
            compare(before, herd);
    }
    behemoth_line_end(&kept);
    return EXIT_GOOD;
}
