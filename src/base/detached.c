/* SPDX-License-Identifier: MIT */
/*
 * Runs a function in a child made by clone() that shares our memory, has its own descriptors, and
 * sends no signal when it ends. The child runs for a few microseconds while this thread waits, so
 * the program sees no descriptor come and go, no SIGCHLD, and nothing in waitpid(-1).
 */
#include "base/base.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK_BYTES = 64 << 10 };

struct detached_call {
    void (*function)(void *argument);
    void *argument;
    int kept; /* the only descriptor that stays open, or -1 */
};

/* For kernels before 5.9, which have no close_range. Closes numbers up to the hard limit, because a
 * descriptor may be above the soft limit if that was lowered. */
DETACHED static void close_one_by_one(int kept)
{
    struct rlimit limit = {1024, 1024};
    getrlimit(RLIMIT_NOFILE, &limit);
    for (rlim_t fd = 0; fd < limit.rlim_max && fd < 1 << 20; fd++)
        if ((int)fd != kept)
            close((int)fd);
}

DETACHED static bool close_ranges(int kept)
{
#ifdef SYS_close_range
    unsigned next = (unsigned)(kept + 1);
    return (kept <= 0 || !syscall(SYS_close_range, 0u, (unsigned)kept - 1, 0u)) &&
           !syscall(SYS_close_range, next, ~0u, 0u);
#else
    return false;
#endif
}

DETACHED static int do_errand(void *argument)
{
    struct detached_call *errand = argument;
    if (!close_ranges(errand->kept))
        close_one_by_one(errand->kept);
    errand->function(errand->argument);
    _exit(0);
}

/* Blocks all signals, even those that libc reserves: no handler may run in the child, which shares
 * our memory. */
static void block_all_signals(uint64_t *ret_before)
{
    uint64_t all = ~(uint64_t)0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, ret_before, sizeof(all));
}

static void *new_stack(void)
{
    void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    return stack == MAP_FAILED ? NULL : stack;
}

int detached_run_keeping(int kept, void (*function)(void *argument), void *argument)
{
    struct detached_call errand = {function, argument, kept};
    char *stack = new_stack();
    if (!stack)
        return ENOMEM;
    uint64_t before;
    block_all_signals(&before);
    pid_t pid = clone(do_errand, stack + STACK_BYTES, CLONE_VM | CLONE_VFORK, &errand);
    int error = pid < 0 ? errno : 0;
    if (!error)
        while (waitpid(pid, NULL, __WCLONE) < 0 && errno == EINTR)
            ;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
    munmap(stack, STACK_BYTES);
    return error;
}

int detached_run(void (*function)(void *argument), void *argument)
{
    return detached_run_keeping(-1, function, argument);
}

/* After unshare(CLONE_NEWPID) our first child would be process 1 of the new namespace, and after
 * its end the program could have no further child. The link /proc/self/ns/pid_for_children is
 * dangling until process 1 exists. */
bool detached_would_be_process_1(void)
{
    char name[64];
    return readlink("/proc/self/ns/pid", name, sizeof(name)) > 0 &&
           readlink("/proc/self/ns/pid_for_children", name, sizeof(name)) < 0 && errno == ENOENT;
}

DETACHED pid_t detached_spawn(int (*function)(void *argument), void *argument)
{
    char *stack = new_stack();
    if (!stack)
        return -1;
    pid_t pid = clone(function, stack + STACK_BYTES, CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD,
                      argument);
    int error = errno;
    munmap(stack, STACK_BYTES);
    errno = error;
    return pid;
}
