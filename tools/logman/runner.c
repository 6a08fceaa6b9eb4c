/* SPDX-License-Identifier: MIT */
/* Does what a set says. */
#include "set.h"

#include "../common/options.h"
#include "../view/text.h"

#include <stdio.h>

static int not_built(const struct set *set)
{
    fprintf(stderr, "logman: %s: running sets is not built yet\n", text_seen(set->name));
    return EXIT_FAILED;
}

int set_start(struct set *set, bool user)
{
    (void)user;
    return not_built(set);
}

int set_stop(struct set *set, bool user)
{
    (void)user;
    return not_built(set);
}

int set_run(struct set *set, bool user)
{
    (void)user;
    return not_built(set);
}

bool set_is_running(const char *name, bool user)
{
    (void)name, (void)user;
    return false;
}

void set_print_status(const struct set *set, bool user)
{
    (void)set, (void)user;
}
