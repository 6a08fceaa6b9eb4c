/* SPDX-License-Identifier: MIT */
/* Each part of the sandbox (what a helper process may not do) is tested alone. For example, signals
 * are refused both by Landlock and by a list of system calls: only a test without Landlock notices
 * an error in the list. */
#include "host/perfhost.h"

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
#include "host/perfhost_calls.inc"
#include "host/perfhost_signals.inc"

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
    };
    return cmocka_run_group_tests(tests, start_third_party, end_third_party);
}
