/* SPDX-License-Identifier: MIT */
/*
 * OPENPERFLIB_TRACE=1: each step of a query prints its decision to stderr. A line is one write, so
 * that lines of several threads are not mixed.
 */
#include "base/base.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_SIZE = 2048 };

bool trace_on(void)
{
    static atomic_int known; /* state of the trace: 0: not checked yet, 1: off, 2: on */
    int state = atomic_load_explicit(&known, memory_order_relaxed);
    if (state == 0) {
        const char *setting = environment_get("OPENPERFLIB_TRACE");
        state = setting && *setting && strcmp(setting, "0") != 0 ? 2 : 1;
        atomic_store_explicit(&known, state, memory_order_relaxed);
    }
    return state == 2;
}

void trace(const char *station, const char *format, ...)
{
    if (!trace_on())
        return;
    int saved = errno;
    char line[LINE_SIZE];
    int length = snprintf(line, sizeof line, "openperflib: %s: ", station);
    va_list list;
    va_start(list, format);
    length += vsnprintf(line + length, sizeof line - (size_t)length, format, list);
    va_end(list);
    if (length > (int)sizeof line - 2)
        length = (int)sizeof line - 2;
    line[length++] = '\n';
    if (write(STDERR_FILENO, line, (size_t)length) < 0)
        errno = saved; /* the trace has no reader any more (EPIPE): ignore it */
    errno = saved;
}

/* ---- what this thread's last answers lacked ---- */

/*
 * A query whose buffer is too small returns only a status that says so
 * (docs/windows/articles.md#c118). The sizes that were needed are kept here, for the event that
 * reports endless retries. An answer also does not state which counters are missing because this
 * user may not read them: the names of these counters are kept here, for tools.
 */

_Thread_local struct shortage shortage_here;
_Thread_local char denied_here[DENIED_SIZE];
_Thread_local struct wanted_list wanted_here;
