/* SPDX-License-Identifier: MIT */
/* Shared by the tests of the sample behemoth: starts its server, reads its counters, and compares
 * the two. */
#ifndef OPL_SAMPLES_PASTURE_H
#define OPL_SAMPLES_PASTURE_H

#include "../../samples/behemoth/client/reader.h"
#include "../../samples/behemoth/common/exchange.h"
#include "../experiments/lab.h"

#include <stdbool.h>
#include <sys/types.h>

#define PARAMETERS LAB_SERVICES "Behemoth\\Parameters"

enum { SECOND_MS = 1000, EXIT_SECOND = 3 };

extern char place[108], herd_file[128];
extern pid_t server;
extern bool inside; /* the provider runs in this process, not in a helper process */

/* ---- the server ---- */

/* Starts a program, which is ended when this process ends. */
pid_t spawn(char **argv);
/* Waits for the end of a process. Returns its exit code; if a signal ended it, 1000 + the signal's
 * number. */
int end_of(pid_t pid);
void program(char *path, size_t bytes);
bool send_request(uint32_t what, const void *body, uint32_t bytes, struct behemoth_line *line);
void wait_for_server(void);
/* Starts the server with up to three options, and waits until it listens. */
void start(const char *first, const char *second, const char *third);
void stop(void);
void set(const char *name, int64_t value);

uint64_t ticks_now(void);
/* Asks the server to let this many seconds of the herd's time pass at once. */
void forward(uint64_t seconds);

/* ---- the counters ---- */

struct reader opened(void);
void look(struct reader *reader);
uint64_t summary(const struct reader *reader, unsigned symbol);
void assert_same_snapshot(const struct behemoth_herd *herd, const struct reader *reader);

/* ---- for cmocka ---- */

int begin(void **state);
/* Removes what a failed test has left, so that the next test can run. */
int after_each(void **state);
int end(void **state);

#endif
