/* SPDX-License-Identifier: MIT */
/*
 * Last words: which signal at which address, or which exit code. Nobody can wait for a helper, so
 * it must say it itself; what leaves no time for words (SIGKILL) leaves the mark of its robust
 * words. A crashed helper leaves by exit, not by the signal: no core is written, nobody is delayed.
 */
#include "host/perfhost.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct channel *written_to;
static pid_t owner; /* a child that the provider forked is not the helper */
static atomic_flag said = ATOMIC_FLAG_INIT;

static bool in_child(void)
{
    return syscall(SYS_getpid) != owner;
}

void last_words(enum channel_end end, int code, uint64_t address, const char *text)
{
    if (in_child() || atomic_flag_test_and_set(&said))
        return;
    written_to->last.code = (uint32_t)code;
    written_to->last.address = address;
    for (size_t i = 0; i < CHANNEL_WORDS - 1 && text[i]; i++)
        written_to->last.text[i] = text[i];
    *(volatile uint32_t *)&written_to->last.end = end;
}

_Noreturn void leave(int code)
{
    for (;;)
        syscall(SYS_exit_group, code);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    bool by_kernel = info->si_code > 0;
    if (in_child()) {
        signal(number, SIG_DFL);
        if (!by_kernel)
            raise(number);
        return; /* and here it comes again */
    }
    bool has_address = by_kernel && (number == SIGSEGV || number == SIGBUS || number == SIGFPE ||
                                     number == SIGILL || number == SIGTRAP);
    last_words(CHANNEL_END_SIGNAL, number, has_address ? (uintptr_t)info->si_addr : 0, "");
    leave(128 + number);
}

static void on_exit_call(int code, void *argument)
{
    last_words(CHANNEL_END_EXIT, code, 0, "exit");
}

/* A provider's calls of these come here, because the program is searched before libc. */
__attribute__((visibility("default"))) _Noreturn void _exit(int code)
{
    last_words(CHANNEL_END_EXIT, code, 0, "_exit");
    leave(code);
}

__attribute__((visibility("default"))) _Noreturn void _Exit(int code)
{
    last_words(CHANNEL_END_EXIT, code, 0, "_Exit");
    leave(code);
}

static void on_quick_exit(void)
{
    last_words(CHANNEL_END_EXIT, 0, 0, "quick_exit");
}

/* The provider's thread ended itself: then nobody is left who could answer. */
static void on_thread_end(void *value)
{
    last_words(CHANNEL_END_EXIT, 0, 0, "pthread_exit");
    if (!in_child())
        leave(0);
}

/* All whose default is the end of the process. */
static const int signals[] = {SIGHUP,  SIGINT,  SIGQUIT,   SIGILL,  SIGTRAP, SIGABRT, SIGBUS,
                              SIGFPE,  SIGUSR1, SIGSEGV,   SIGUSR2, SIGPIPE, SIGALRM, SIGTERM,
                              SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF, SIGIO,   SIGSYS};

static void take_signals(void)
{
    static unsigned char stack[64 << 10]; /* for the handler, when the other one is full */
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
    sigaltstack(&alternate, NULL);
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    struct sigaction standard = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++)
        sigaction(number, &standard, NULL);
    for (size_t i = 0; i < COUNT(signals); i++)
        sigaction(signals[i], &action, NULL);
}

void last_words_prepare(struct channel *channel)
{
    written_to = channel;
    owner = getpid();
    take_signals();
    on_exit(on_exit_call, NULL);
    at_quick_exit(on_quick_exit);
    pthread_key_t key;
    if (!pthread_key_create(&key, on_thread_end))
        pthread_setspecific(key, channel);
}
