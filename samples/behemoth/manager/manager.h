/* SPDX-License-Identifier: MIT */
/* Shared by the commands of behemoth-manager: the options, and the connection to the server. */
#ifndef BEHEMOTH_MANAGER_MANAGER_H
#define BEHEMOTH_MANAGER_MANAGER_H

#include <options.h>
#include "../common/exchange.h"

#include <stdio.h>

/* besides those of every tool; EXIT_MISSING is a behemoth or a parameter */
enum { EXIT_NO_SERVER = 4, EXIT_NO_RIGHT = 5 };
enum { SERVER_OPTIONS = 16, ANSWER_MS = 10000 };
enum { PLACE = 108, LOG_PLACE = PLACE + 4 }; /* a socket has no longer path */

struct manager {
    struct options options;
    const char *socket; /* as wanted; NULL: where it usually is */
    char place[PLACE];  /* where it is */
    struct behemoth_line line;
    bool json, reverse, colours;
    const char *sort;
    struct behemoth_create create;
    const char *mother;
    double interval;
    int64_t seconds; /* of watching; 0: for ever */
    char *server_options[SERVER_OPTIONS];
    size_t server_option_count;
    const char **words;
    size_t word_count;
};

/* ---- ask.c: all of these report errors on stderr ---- */

/* Sends a request; the exit code, EXIT_GOOD: manager->line has the answer. */
int manager_ask(struct manager *manager, uint32_t what, const void *body, uint32_t bytes);
/* The same, for what may take longer. */
int manager_ask_within(struct manager *manager, uint32_t what, const void *body, uint32_t bytes,
                       int64_t milliseconds);
/* The herd; it lives in the line until the next request. */
int manager_herd(struct manager *manager, const struct behemoth_herd **ret);
/* "manager: why" by errno; its exit code. */
int manager_complain(const struct manager *manager);
/* A behemoth by number, or by name in any case. NULL: none, or several. */
const struct behemoth *manager_find(const struct behemoth_herd *herd, const char *word);

/* ---- words.c ---- */

const char *sex_word(uint32_t sex);
/* "1:02:03"; the buffer has at least 24 bytes. */
const char *age_text(int64_t age, char *storage);
/* "2026-11-22 16:30:05" of a FILETIME, UTC; the same size. */
const char *time_words(int64_t filetime, char *storage);
/* A number from `least` to `most`; false: it is none. */
bool number_of(const char *text, int64_t least, int64_t most, int64_t *ret);

/* ---- the commands: their exit codes ---- */

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
