/* SPDX-License-Identifier: MIT */
/* Where the server keeps its socket and its herd, and that there is only one for each. */
#ifndef BEHEMOTH_SERVER_SERVICE_H
#define BEHEMOTH_SERVER_SERVICE_H

#include "herd.h"

#include <signal.h>

struct settings {
    char socket[4096], state[4096];
    struct herd_beginning beginning;
    bool since;                           /* the herd's beginning was given */
    uint64_t forward;                     /* ticks before anybody is served */
    int64_t save_every;                   /* seconds; 0: only at the end */
    bool has_parameters[HERD_PARAMETERS]; /* given now: they hold for a restored herd too */
};

/* Ends the process with a message and a status of its own if something is wrong, or asked for. */
void settings_read(struct settings *settings, int argc, char **argv);
/* What systemd hands over (sd_listen_fds(3)), or else a socket of our own, -1: said why.
 * `ret_own`: to be removed at the end. */
int service_listen(const struct settings *settings, bool *ret_own);
/* Takes the lock beside a file, for as long as the process lives. False: somebody has it, or it
 * cannot be: said which. */
bool service_lock(const char *path, const char *what);
/* A FILETIME. */
int64_t service_time(void);

enum { EXIT_USAGE = 2, EXIT_SECOND = 3 };

#endif
