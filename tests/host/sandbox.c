/* SPDX-License-Identifier: MIT */
/* Each part of the sandbox (what a helper process may not do) is tested alone. For example, signals
 * are refused both by Landlock and by a list of system calls: only a test without Landlock notices
 * an error in the list. */
#include "host/isolation/perfhost.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* checks that the numbers in the list of system calls are those of the kernel's headers */
#ifdef __x86_64__
#include <asm/unistd_64.h>
#define CALL(name, number, number_32) _Static_assert(__NR_##name == (number), #name);
#elif defined(__i386__)
#include <asm/unistd_32.h>
#define CALL(name, number, number_32) _Static_assert(__NR_##name == (number_32), #name);
#else
#define CALL(name, number, number_32) _Static_assert(__NR_##name > 0, #name);
#endif
#ifdef __x86_64__
#define CALL_64(name, number) _Static_assert(__NR_##name == (number), #name);
#define CALL_32(name, number_32)
#elif defined(__i386__)
#define CALL_64(name, number)
#define CALL_32(name, number_32) _Static_assert(__NR_##name == (number_32), #name);
#endif
#define NEW_CALL(name, number) _Static_assert(__NR_##name == (number), #name);
#include "host/isolation/perfhost_calls.inc"
#include "host/isolation/perfhost_signals.inc"

static pid_t third_party; /* a child of the test, which the helper process must not signal */

static int in_child(int (*test)(void))
{
    pid_t pid = fork();
    if (pid == 0) {
        setsid();
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        _exit(test());
    }
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static bool refused(long result)
{
    return result == -1 && errno == EPERM;
}

static bool others_are_out_of_reach(void)
{
    return refused(kill(third_party, SIGKILL)) && refused(kill(-1, SIGCONT)) &&
           refused(syscall(SYS_tgkill, third_party, third_party, SIGKILL)) &&
           refused(syscall(SYS_tkill, third_party, SIGKILL));
}

static bool own_signals_come(void)
{
    signal(SIGUSR1, SIG_IGN);
    return !raise(SIGUSR1) && !kill(getpid(), SIGUSR1) && !kill(0, SIGUSR1) &&
           !kill(-getpid(), SIGUSR1);
}

static int with_list(void)
{
    seccomp_deny_signals();
    siginfo_t info = {.si_code = SI_QUEUE};
    /* signal 0, which only tests whether the process exists, is allowed */
    bool requested = !kill(third_party, 0);
    bool queued = refused(syscall(SYS_rt_sigqueueinfo, third_party, SIGKILL, &info)) &&
                  refused(syscall(SYS_rt_tgsigqueueinfo, third_party, third_party, SIGKILL, &info));
    bool by_descriptor = refused(syscall(SYS_pidfd_send_signal, 0, SIGKILL, NULL, 0));
    return !(others_are_out_of_reach() && own_signals_come() && requested && queued &&
             by_descriptor);
}

static int with_landlock(void)
{
    enum { NO_LANDLOCK = 77 };
    if (!sandbox_scope_signals())
        return NO_LANDLOCK;
    pid_t child = fork();
    if (child == 0)
        for (;;)
            pause();
    bool own_child = !kill(child, SIGKILL) && waitpid(child, NULL, 0) == child;
    return !(refused(kill(third_party, SIGKILL)) && own_signals_come() && own_child);
}

static int with_calls_denied(void)
{
    seccomp_deny_calls();
    bool here = refused(ptrace(PTRACE_TRACEME, 0, NULL, NULL)) &&
                refused(mount("none", "/nowhere", "tmpfs", 0, NULL)) &&
                refused(syscall(SYS_bpf, 0, NULL, 0)) && refused(syscall(SYS_setns, -1, 0)) &&
                refused(syscall(SYS_reboot, 0, 0, 0, NULL));
    return !(here && getppid() > 0 && fork() >= 0);
}

enum { GROUP = 1 }; /* a kind of process that setpriority and ioprio_set know */

/* Calls that change another process, and where their argument for the process is. */
static const struct {
    long call, call_32; /* call_32: the number for 32-bit programs on x86 */
    int position;
} calls_on_processes[] = {
  /* clang-format off */
    {SYS_prlimit64, 340, 0},      {SYS_sched_setaffinity, 241, 0}, {SYS_sched_setscheduler, 156, 0},
    {SYS_sched_setparam, 154, 0}, {SYS_sched_setattr, 351, 0},     {SYS_migrate_pages, 294, 0},
    {SYS_move_pages, 317, 0},     {SYS_setpriority, 97, 1},        {SYS_ioprio_set, 289, 1},
  /* clang-format on */
};

static int with_priorities_denied(void)
{
    bool all = true;
    seccomp_deny_priorities();
    for (size_t i = 0; i < COUNT(calls_on_processes); i++) {
        int position = calls_on_processes[i].position; /* 1: the kind of the process comes first */
        all &= refused(syscall(calls_on_processes[i].call, position ? GROUP : third_party,
                               position ? third_party : 0, 0, 0, 0, 0));
    }
    return !all;
}

#ifdef __x86_64__
static int call_32(long number, long first, long second)
{
    long result;
    __asm__ volatile("int $0x80"
                     : "=a"(result)
                     : "a"(number), "b"(first), "c"(second), "d"(0L), "S"(0L), "D"(0L)
                     : "memory", "r8", "r9", "r10", "r11");
    return (int)result;
}

/* A 64-bit program can make the calls of 32-bit programs, too. */
static int with_priorities_denied_32(void)
{
    enum { GETPID = 20 };
    bool all = true;
    pid_t probe = fork();
    int status;
    if (probe == 0)
        _exit(call_32(GETPID, 0, 0) != getpid());
    if (waitpid(probe, &status, 0) != probe || status)
        return 0; /* this kernel has no calls for 32-bit programs */
    seccomp_deny_priorities();
    for (size_t i = 0; i < COUNT(calls_on_processes); i++) {
        int position = calls_on_processes[i].position;
        all &= call_32(calls_on_processes[i].call_32, position ? GROUP : third_party,
                       position ? third_party : 0) == -EPERM;
    }
    return !all;
}
#endif

static void other_processes_keep_their_priorities(void **state)
{
    assert_int_equal(in_child(with_priorities_denied), 0);
#ifdef __x86_64__
    assert_int_equal(in_child(with_priorities_denied_32), 0);
#endif
}

static void signals_stay_at_home(void **state)
{
    assert_int_equal(in_child(with_list), 0);
    int landlock = in_child(with_landlock);
    assert_true(landlock == 0 || landlock == 77);
    assert_int_equal(waitpid(third_party, NULL, WNOHANG), 0);
}

static void calls_are_refused(void **state)
{
    assert_int_equal(in_child(with_calls_denied), 0);
}

static int start_third_party(void **state)
{
    third_party = fork();
    if (third_party == 0)
        for (;;)
            pause();
    return third_party < 0;
}

static int end_third_party(void **state)
{
    return kill(third_party, SIGKILL) || waitpid(third_party, NULL, 0) != third_party;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signals_stay_at_home),
        cmocka_unit_test(calls_are_refused),
        cmocka_unit_test(other_processes_keep_their_priorities),
    };
    return cmocka_run_group_tests(tests, start_third_party, end_third_party);
}
