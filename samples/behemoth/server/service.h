/* SPDX-License-Identifier: MIT */
/* The server's socket and state file, and the locks that allow only one server for each. */
#ifndef BEHEMOTH_SERVER_SERVICE_H
#define BEHEMOTH_SERVER_SERVICE_H

#include "herd.h"

#include <signal.h>

struct settings {
    char socket[4096], state[4096];
    struct herd_beginning beginning;
    bool since;                           /* the herd's beginning was given */
    uint64_t forward;                     /* ticks before the first client is served */
    int64_t save_every;                   /* seconds; 0: only at the end */
    bool has_parameters[HERD_PARAMETERS]; /* given as options: they also apply to a restored herd */
};

/* Ends the process with a message and an exit code after errors, --help and --version. */
void settings_read(struct settings *settings, int argc, char **argv);
/* The socket from systemd (sd_listen_fds(3)), or else a new one; -1 after a message. `ret_own`:
 * remove it at the end. */
int service_listen(const struct settings *settings, bool *ret_own);
/* Takes a file's lock until the process ends. False, after a message: another process has it, or
 * an error. */
bool service_lock(const char *path, const char *what);
/* A FILETIME. */
int64_t service_time(void);

enum { EXIT_USAGE = 2, EXIT_SECOND = 3 };

#endif
