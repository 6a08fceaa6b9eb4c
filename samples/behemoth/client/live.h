/* SPDX-License-Identifier: MIT */
/* Shows and updates the views on a terminal until the user presses q. */
#ifndef BEHEMOTH_CLIENT_LIVE_H
#define BEHEMOTH_CLIENT_LIVE_H

#include "view.h"

struct live {
    const char *machine; /* NULL: this one */
    double interval;     /* seconds */
    struct shown shown;  /* read once already */
    struct titles titles;
    struct view view;
    bool help;
};

/* False: there is no terminal to draw on. */
bool live_run(struct live *live);

#endif
