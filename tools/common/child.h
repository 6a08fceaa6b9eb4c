/* SPDX-License-Identifier: MIT */
/* Processes that run a provider's code for a tool, and their end. */
#ifndef OPL_TOOLS_CHILD_H
#define OPL_TOOLS_CHILD_H

#include <stdint.h>
#include <sys/types.h>

int64_t now_ms(void); /* the time of the monotonic clock in ms */
/* Returns the factor, 1 to 10, by which other load on this machine makes everything slower. */
int machine_is_busy(void);
/* Forks a child that leads a session of its own and is killed when this process ends. This process
 * becomes a subreaper: processes that the child starts and leaves become children of it. */
pid_t child_fork(void);
/* Kills the child, if it still runs, and all processes that it started, and waits for them (not for
 * those outside its session if this process had other children before). *ret_state: the status of
 * the child as waitpid returns it. `child` 0: the child was waited for already. Returns how many of
 * its processes still ran. */
int child_end(pid_t child, int *ret_state);

#endif
