/* SPDX-License-Identifier: MIT */
/* What the files of perfhost share: a small program that links no more of the library than it
 * calls, because it is started sixty times in a row. */
#ifndef OPL_HOST_PERFHOST_H
#define OPL_HOST_PERFHOST_H

#include "host/channel.h"

/* ---- perfhost_sandbox.c ---- */
/* Limits, and what a provider's mistake must not reach. Not a security boundary. */
void sandbox_enter(void);
/* Its parts: signals stay among us and our children (false: this kernel has no Landlock that can
 * do so), and the list of calls that are refused, in perfhost_seccomp.c. */
bool sandbox_scope_signals(void);
void sandbox_deny(bool signals_too);

/* ---- perfhost_watch.c ---- */
/* Starts the thread that says that we live, and ends us when the client is gone. */
bool watch_start(struct channel *channel);

/* ---- perfhost_last.c ---- */
/* From now on whatever ends the process leaves word of it. */
void last_words_prepare(struct channel *channel);
void last_words(enum channel_end end, int code, uint64_t address, const char *text);
_Noreturn void leave(int code);

/* ---- perfhost_provider.c ---- */
/* Each runs until the provider lets it and leaves its result in channel->reply. */
void provider_collect(struct channel *channel);
void provider_close(struct channel *channel);
bool provider_is_loaded(void);

#endif
