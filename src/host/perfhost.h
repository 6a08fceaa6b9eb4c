/* SPDX-License-Identifier: MIT */
/* What the files of perfhost share: a small program that links only the parts of the library that
 * it calls. It is started once by a client, and forks for each provider. */
#ifndef OPL_HOST_PERFHOST_H
#define OPL_HOST_PERFHOST_H

#include "host/channel.h"

/* ---- perfhost_watch.c: the keeper's second thread ---- */
/* From now on the client notices the keeper's end, however it ends, and `event_fd` becomes readable
 * when the client makes a request. */
bool watch_start(struct keeper_page *page, int event_fd);

/* ---- perfhost_sandbox.c ---- */
/* Limits, and barriers against a provider's mistakes. Not a security boundary. */
void sandbox_prepare(void); /* called in the keeper; its helpers inherit the limits */
/* Restricts a helper; the keeper itself is not restricted. `observes`: no Landlock, which would
 * hide other processes' data in /proc; signals are refused by the seccomp list alone. Without
 * `children` it can start threads, but no processes. */
void sandbox_enter(bool observes, bool children);
/* Keeps signals within the helper and its children; false: this kernel's Landlock cannot do
 * that. */
bool sandbox_scope_signals(void);

/* ---- perfhost_seccomp.c: calls that fail with EPERM ---- */
void seccomp_deny_calls(void);
void seccomp_deny_signals(void);
void seccomp_deny_processes(void); /* threads may be started */
/* Makes each start of a process wait for a decision, which is made through the returned descriptor;
 * -1: this kernel cannot do that. */
int seccomp_watch_processes(void);
void seccomp_deny_priorities(void); /* denies changing other processes' priorities and limits */
/* denies moving this memory by mremap; only once */
void seccomp_deny_moving(const void *memory, size_t size);

/* ---- perfhost_crash.c ---- */
void crash_prepare(void);
/* In a signal handler: writes the place and its callers, innermost first. */
void crash_write_calls(char *to, size_t capacity);

/* ---- perfhost_memory.c ---- */
/* MiB that are resident; 0: unknown. */
uint32_t memory_resident_mib(pid_t pid);
/* The memory limit of a helper: `registered_mib`, and more with sanitizers, which need much memory
 * themselves. */
uint32_t memory_limit_mib(uint32_t registered_mib);

/* ---- perfhost_helper.c ---- */
/* Installs the signal handler that records the address of a crash; called once, in the keeper. */
void helper_prepare(void);
/* Serves one channel in a process that was forked for it. `title`: where ps finds its name. */
_Noreturn void helper_serve(pid_t keeper, uint32_t slot, char *title, size_t title_bytes);

/* ---- perfhost_provider.c ---- */
/* Each returns when the provider's function has returned; its result is in channel->reply. */
void provider_collect(struct channel *channel);
void provider_close(struct channel *channel, bool and_unload);
/* instead of provider_collect, if the buffer cannot be made large enough */
void provider_has_no_capacity(struct channel *channel);

#endif
