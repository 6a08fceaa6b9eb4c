/* SPDX-License-Identifier: MIT */
/* Shared by the commands of behemoth-manager: the options, and the connection to the server. */
#ifndef BEHEMOTH_MANAGER_MANAGER_H
#define BEHEMOTH_MANAGER_MANAGER_H

#include "../common/exchange.h"
#include "../common/program.h"
#include "../common/text.h"

/* exit codes in addition to those of every tool; EXIT_MISSING: no such behemoth or parameter */
enum { EXIT_NO_SERVER = 4, EXIT_NO_RIGHT = 5 };
enum { ANSWER_MS = 10000 };

struct manager {
    struct options options;
    const char *socket; /* --socket; NULL: the usual place */
    char place[108];    /* the path of the socket that is used */
    struct behemoth_line line;
    bool json, reverse;
    const char *sort;
    /* sex, age, place and mother of the behemoth to create; age, x and y: -1 if not given */
    uint32_t sex;
    int64_t age, x, y;
    const char *mother;
    double interval;
    int64_t seconds; /* how long to watch; 0: for ever */
    bool for_server; /* there were options for the server, which `start` passes on */
    const char **args;
    size_t arg_count;
    struct text_style style;
};

/* Sends a request, reports errors, returns the exit code; EXIT_GOOD: manager->line has the
 * answer. */
int manager_request(struct manager *manager, uint32_t what, const void *body, uint32_t bytes,
                    int64_t milliseconds);
/* Requests the herd, like manager_request. *ret is valid until the next request. */
int manager_herd(struct manager *manager, const struct behemoth_herd **ret);
/* Prints a message for errno; returns the exit code. */
int manager_complain(const struct manager *manager);
const char *sex_word(uint32_t sex);

/* ---- the commands; each returns its exit code ---- */

int command_start(struct manager *manager);
int command_stop(struct manager *manager);
int command_status(struct manager *manager);
int command_list(struct manager *manager);
int command_create(struct manager *manager);
int command_kill(struct manager *manager);
int command_parameters(struct manager *manager);
int command_forward(struct manager *manager);
int command_save(struct manager *manager);
int command_watch(struct manager *manager);

#endif
