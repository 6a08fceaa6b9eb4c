/* SPDX-License-Identifier: MIT */
/* A helper process as the files of isolate.c see it: started, looked at, ended. Not for host's
 * others, whose door is isolate.h. */
#ifndef OPL_HOST_HELPER_H
#define OPL_HOST_HELPER_H

#include "host/channel.h"

struct helper {
    struct channel *channel;
    size_t mapped; /* bytes of the channel that are mapped; more when more room is asked for */
    pid_t pid, client;
    uint64_t identity; /* tells pid's process from a later one with the same number */
    uint32_t number;   /* of the last request */
    struct helper *next;
};

/* ---- apart.c: a moment in a process of our own that shares our memory and nothing else ---- */
/* Runs `function` on another stack in a child that has its own descriptors, which begin empty, and
 * that neither SIGCHLD nor wait() tell the program about. 0 or errno. */
int apart_run(void (*function)(void *argument), void *argument);
/* Inside: starts `function` as a child process whose exit nobody here waits for; returns when that
 * has called exec or exited. The process's number, or -1 and errno. */
pid_t apart_spawn(int (*function)(void *argument), void *argument);
/* Tells processes with the same number apart; 0: there is no such process, or nobody can tell. */
uint64_t apart_identity(pid_t pid);

/* ---- helper.c ---- */
/* Starts perfhost; on failure `text` says which step was refused and what to do. */
LSTATUS helper_start(struct helper **ret, char *text, size_t room);
/* Makes `room` bytes behind the channel's start usable here; false: no memory. */
bool helper_map(struct helper *helper, size_t bytes);
bool helper_is_ours(const struct helper *helper); /* false in a child of fork() */
bool helper_exists(const struct helper *helper);  /* is the process there? */
/* Ends the process and what it started in its group, and forgets it. */
void helper_end(struct helper *helper);

/* ---- helper_pool.c: empty helpers wait here for whoever starts next ---- */
struct helper *helper_pool_take(void); /* NULL: there is none */
void helper_pool_put(struct helper *helper);

#endif
