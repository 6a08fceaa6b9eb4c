/* SPDX-License-Identifier: MIT */
/*
 * What a provider's mistake must not reach: everybody else's memory, processes and mounts. Limits
 * that let a runaway hurt itself first, a list of system calls that fail with EPERM, and a scope
 * for signals. It stops accidents; whoever means harm has the caller's rights and finds a way.
 */
#include "host/perfhost.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

static const rlim_t mib = 1 << 20;

/* Never above what the program itself may have; what it chose for itself below that, by a soft
 * limit, was not meant for us. */
static void limit(int what, rlim_t most)
{
    struct rlimit now;
    if (getrlimit(what, &now))
        return;
    now.rlim_max = now.rlim_max > most ? most : now.rlim_max;
    now.rlim_cur = now.rlim_max;
    setrlimit(what, &now);
}

#ifndef __SANITIZE_ADDRESS__ /* whose shadow memory is larger than any of these */
/* A quarter of the machine's memory, at least 512 MiB and at most 4 GiB, may be written to. */
static rlim_t data_limit(void)
{
    struct sysinfo machine;
    if (sysinfo(&machine))
        return 512 * mib;
    rlim_t quarter = (rlim_t)machine.totalram / 4 * machine.mem_unit;
    rlim_t most = sizeof(long) > 4 ? 4096 * mib : 2048 * mib;
    return quarter < 512 * mib ? 512 * mib : quarter > most ? most : quarter;
}

static void limit_memory(void)
{
    limit(RLIMIT_DATA, data_limit());
    if (sizeof(long) > 4)
        limit(RLIMIT_AS, 16384 * mib); /* shared mappings and reservations count here too */
}
#else
static void limit_memory(void)
{
}
#endif

/* When memory ends, the kernel ends us before anybody else of this user. */
static void offer_ourselves(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (write(fd, "500", 3) != 3)
        errno = 0; /* a container may forbid it */
    close(fd);
}

static void limit_all(void)
{
    limit(RLIMIT_CORE, 1); /* the kernel's word for none, not even to a program that takes them */
    limit(RLIMIT_STACK, 8 * mib);
    limit(RLIMIT_NOFILE, 1024); /* what select() can take */
    limit(RLIMIT_NPROC, 4096);  /* of all processes of this user, so it cannot be small */
    limit(RLIMIT_FSIZE, 1024 * mib);
    limit_memory();
}

/* ---- Landlock: Linux 6.12 ---- */

/* Whatever a ruleset says, whoever has one may not trace processes that have not: the kernel's hook
 * compares domains only. /proc/PID/exe, fd, io and maps ask for the right to trace, too. */

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
        errno = 0; /* it may not even be there */
    if (sched_getscheduler(0) != SCHED_OTHER)
        sched_setscheduler(0, SCHED_OTHER, &ordinary); /* an endless loop must leave others time */
    limit_all();
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    seccomp_deny_calls();
}

void sandbox_enter(bool observes)
{
    offer_ourselves();
    if (observes || !sandbox_scope_signals())
        seccomp_deny_signals();
}
