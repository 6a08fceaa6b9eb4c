/* SPDX-License-Identifier: MIT */
/* Shared by the commands of behemoth-manager: the options, and the connection to the server. */
#ifndef BEHEMOTH_MANAGER_MANAGER_H
#define BEHEMOTH_MANAGER_MANAGER_H

#include "../common/exchange.h"
#include "../common/program.h"
#include "../common/text.h"

/* exit codes in addition to those of every tool; EXIT_MISSING: no such behemoth or parameter */
enum { EXIT_NO_SERVER = 4, EXIT_NO_RIGHT = 5 };
enum { ANSWER_MS = 10000, FORWARD_MS = 3600 * 1000 };

extern struct manager {
    struct options options;
    const char *socket; /* --socket; NULL: the usual place */
    char place[108];    /* the path of the socket that is used */
    struct behemoth_line line;
    bool json, reverse;
    const char *sort;
    /* sex, age, place and mother of the behemoth to create; x and y: -1 if not given */
    const char *sex, *mother;
    int64_t age, x, y;
    double interval;
    int64_t seconds; /* how long to watch; 0: for ever */
    bool for_server; /* there were options for the server, which `start` passes on */
    const char **args;
    size_t arg_count;
    struct text_style style;
} manager;

/* Sends a request, reports errors, returns the exit code; EXIT_GOOD: manager.line has the
 * answer. */
int manager_request(uint32_t what, const void *body, uint32_t bytes);
/* Requests BEHEMOTH_HERD or BEHEMOTH_SUMMARY; the result is valid until the next request. NULL:
 * errno is the reason. */
const struct behemoth_herd *manager_look(uint32_t what);
/* Prints a message for errno; returns the exit code. */
int manager_complain(void);
const char *sex_word(uint32_t sex);

/* ---- the commands; each returns its exit code ---- */

int command_start(void);
int command_stop(void);
int command_status(void);
int command_list(void);
int command_create(void);
int command_kill(void);
int command_parameters(void);
int command_forward(void);
int command_save(void);
int command_watch(void);

#endif
