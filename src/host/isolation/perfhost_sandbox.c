/* SPDX-License-Identifier: MIT */
/*
 * Keeps a provider's mistakes from harming other processes, their memory and mounts: by resource
 * limits, a list of system calls that fail with EPERM, and a scope for signals. This stops
 * accidents, not a malicious provider, which has the rights of the caller.
 */
#include "host/isolation/perfhost.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static const rlim_t mib = 1 << 20;

/* Sets the soft and the hard limit to `most`, or to the present hard limit if that is lower. The
 * program's soft limit is not kept, because it was not meant for this process. */
static void limit(int what, rlim_t most)
{
    struct rlimit now;
    if (getrlimit(what, &now))
        return;
    now.rlim_max = now.rlim_max > most ? most : now.rlim_max;
    now.rlim_cur = now.rlim_max;
    setrlimit(what, &now);
}

/* Makes the kernel choose this process before others when memory runs out. */
static void prefer_for_oom_kill(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (write(fd, "500", 3) != 3)
        errno = 0; /* ignore a failure: a container may forbid it */
    close(fd);
}

static void limit_all(void)
{
    /* with this value the kernel writes no core file, not even to a pipe */
    limit(RLIMIT_CORE, 1);
    limit(RLIMIT_STACK, 8 * mib);
    limit(RLIMIT_NOFILE, 1024); /* select() cannot use higher descriptor numbers */
    limit(RLIMIT_FSIZE, 1024 * mib);
}

/* ---- capabilities that root's helpers keep ---- */

enum { CAPABILITY_PERFMON = 38 }; /* since Linux 5.8 */

/* Returns the capabilities that are kept: those for reading other users' files, for measuring, and
 * for dropping capabilities. With CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE a helper could map the
 * memory of all other channels, with CAP_SYS_PTRACE write to the program's memory; an observer
 * keeps CAP_SYS_PTRACE, to read other users' processes. */
static uint64_t kept_capabilities(bool observes)
{
    uint64_t kept = UINT64_C(1) << CAP_DAC_READ_SEARCH | UINT64_C(1) << CAP_SETUID |
                    UINT64_C(1) << CAP_SETGID | UINT64_C(1) << CAPABILITY_PERFMON;
    return observes ? kept | UINT64_C(1) << CAP_SYS_PTRACE : kept;
}

static void drop_capabilities(uint64_t kept)
{
    enum { LAST = 63, AMBIENT_CLEAR_ALL = 4 };
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
    for (unsigned long number = 0; number <= LAST; number++)
        if (!(kept >> number & 1) && prctl(PR_CAPBSET_DROP, number, 0, 0, 0) && errno == EINVAL)
            break; /* the kernel has no capabilities with higher numbers */
    prctl(PR_CAP_AMBIENT, AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (syscall(SYS_capget, &header, data))
        return;
    for (size_t i = 0; i < COUNT(data); i++) {
        data[i].permitted &= (uint32_t)(kept >> 32 * i);
        data[i].effective &= data[i].permitted;
        data[i].inheritable = 0;
    }
    if (syscall(SYS_capset, &header, data))
        _exit(EXIT_FAILURE);
}

/* ---- Landlock: Linux 6.12 ---- */

/* Observers get no Landlock ruleset: a process with a ruleset, even an empty one, must not trace
 * processes without one, and reading /proc/PID/exe, fd, io and maps requires the right to trace. */

struct landlock_attributes {
    uint64_t files, network, scoped;
};
enum { LANDLOCK_VERSION = 1, LANDLOCK_WITH_SCOPES = 6, LANDLOCK_SIGNALS = 2 };
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_restrict_self 446
#endif

bool sandbox_scope_signals(void)
{
    if (syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_VERSION) < LANDLOCK_WITH_SCOPES)
        return false;
    struct landlock_attributes attributes = {.scoped = LANDLOCK_SIGNALS};
    int rules = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof(attributes), 0);
    if (rules < 0)
        return false;
    bool scoped = !syscall(SYS_landlock_restrict_self, rules, 0);
    close(rules);
    return scoped;
}

void sandbox_prepare(void)
{
    struct sched_param ordinary = {0};
    if (chdir("/"))
        errno = 0; /* ignore a failure: the working folder only stays as it is */
    if (sched_getscheduler(0) != SCHED_OTHER)
        sched_setscheduler(0, SCHED_OTHER, &ordinary); /* an ordinary process cannot keep others
                                                        * from running */
    limit_all();
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    seccomp_deny_calls();
}

void sandbox_enter(bool observes, bool children)
{
    prctl(PR_SET_DUMPABLE, 1); /* undone in helpers: only the keeper is protected from them */
    prefer_for_oom_kill();
    if (observes || !sandbox_scope_signals())
        seccomp_deny_signals();
    seccomp_deny_priorities();
    if (!children)
        seccomp_deny_processes();
    drop_capabilities(kept_capabilities(observes));
}
