/* SPDX-License-Identifier: MIT */
/* For builds without libcurl and libsnappy: nothing can be pushed. */
#include "push.h"

#include <stdio.h>

bool push_check(const struct push_options *options, char why[static PUSH_WHY])
{
    (void)options;
    (void)why;
    return true;
}

struct push *push_new(const struct push_options *options, const struct metrics_settings *settings)
{
    (void)options;
    (void)settings;
    fputs("openperflib-serve: --push is not possible: this program was built without libcurl and "
          "libsnappy\n",
          stderr);
    return NULL;
}

void push_free(struct push *push)
{
    (void)push;
}

void push_emit(struct push *push, struct metric_sink *sink)
{
    (void)push;
    (void)sink;
}
