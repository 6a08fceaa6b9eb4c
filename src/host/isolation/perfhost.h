/* SPDX-License-Identifier: MIT */
/* What the files of perfhost share. perfhost is a small program, linked only with the parts of the
 * library that it calls. A client starts it once; it forks for each provider. */
#ifndef OPL_HOST_PERFHOST_H
#define OPL_HOST_PERFHOST_H

#include "host/isolation/channel.h"

/* ---- perfhost_sandbox.c ---- */
/* Sets limits and restrictions that stop a provider's mistakes. They are not a security
 * boundary. */
void sandbox_prepare(void); /* called in the keeper; its helpers inherit the limits */
/* Restricts a helper; the keeper itself is not restricted. `observes`: Landlock is not used,
 * because it would hide other processes' data in /proc; only the seccomp list refuses signals then.
 * Without `children` it can start threads, but no processes. */
void sandbox_enter(bool observes, bool children);
/* Limits signals to the helper and its children; false: this kernel's Landlock cannot do that. */
bool sandbox_scope_signals(void);

/* ---- perfhost_seccomp.c: calls that fail with EPERM ---- */
void seccomp_deny_calls(void);
void seccomp_deny_signals(void);
void seccomp_deny_processes(void); /* threads can still be started */
/* Makes each start of a process wait for a decision, which is sent through the returned descriptor;
 * -1: this kernel cannot do that. */
int seccomp_watch_processes(void);
void seccomp_deny_priorities(void); /* denies changing other processes' priorities and limits */
/* denies mremap for this memory; may be called once */
void seccomp_deny_moving(const void *memory, size_t size);

/* ---- perfhost.c: memory ---- */
/* Resident memory of the process in MiB; 0: unknown. */
uint32_t memory_resident_mib(pid_t pid);

/* ---- perfhost_helper.c ---- */
/* Installs the signal handler that records the address of a crash; called once, in the keeper. */
void helper_prepare(void);
/* Serves one channel, in a process that was forked for it; never returns. `title`: the memory in
 * which ps finds the process name. */
_Noreturn void helper_serve(pid_t keeper, uint32_t slot, char *title, size_t title_bytes);

#endif
