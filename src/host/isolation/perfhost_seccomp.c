/* SPDX-License-Identifier: MIT */
/*
 * Makes a list of system calls fail with EPERM. On x86 a process can make both 64-bit and 32-bit
 * calls, and so can the programs that it starts. So both kinds are checked, each by its own
 * numbers; all calls of the x32 kind, which nothing here uses, are refused.
 */
#include "host/isolation/perfhost.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NO_CALL = 0xffff }; /* the number for a call that does not exist in this kind */
#if defined(__x86_64__) || defined(__i386__)
enum { KINDS = 2 };
static const uint32_t kinds[KINDS] = {AUDIT_ARCH_X86_64, AUDIT_ARCH_I386};
#define CALL(name, number, number_32) {number, number_32},
#define NEW_CALL(name, number) {number, number},
#define CALL_32(name, number_32) {NO_CALL, number_32},
#define CALL_64(name, number) {number, NO_CALL},
#define TARGET(name, number, number_32)                                                            \
    {                                                                                              \
        number, number_32                                                                          \
    }
#define X32_BIT 0x40000000u
#define FCNTL_CALLS                                                                                \
    {72, 55},                                                                                      \
    {                                                                                              \
        NO_CALL, 221                                                                               \
    }
#define DEVICE_CALL                                                                                \
    {                                                                                              \
        16, 54                                                                                     \
    }
#define CLONE_CALL                                                                                 \
    {                                                                                              \
        56, 120                                                                                    \
    }
#define CLONE3_CALL                                                                                \
    {                                                                                              \
        435, 435                                                                                   \
    }
#define REMAP_CALL                                                                                 \
    {                                                                                              \
        25, 163                                                                                    \
    }
#define MAKING_CALLS                                                                               \
    CLONE_CALL,                                                                                    \
    {                                                                                              \
        272, 310                                                                                   \
    } /* clone, unshare */
#define FORK_CALLS                                                                                 \
    {57, 2},                                                                                       \
    {                                                                                              \
        58, 190                                                                                    \
    } /* fork, vfork */
#elif defined(__aarch64__)
enum { KINDS = 1 };
static const uint32_t kinds[KINDS] = {AUDIT_ARCH_AARCH64};
#define CALL(name, number, number_32) {SYS_##name},
#define NEW_CALL(name, number) {number},
#define TARGET(name, number, number_32)                                                            \
    {                                                                                              \
        SYS_##name                                                                                 \
    }
#define FCNTL_CALLS                                                                                \
    {                                                                                              \
        SYS_fcntl                                                                                  \
    }
#define DEVICE_CALL                                                                                \
    {                                                                                              \
        SYS_ioctl                                                                                  \
    }
#define CLONE_CALL                                                                                 \
    {                                                                                              \
        SYS_clone                                                                                  \
    }
#define CLONE3_CALL                                                                                \
    {                                                                                              \
        435                                                                                        \
    }
#define REMAP_CALL                                                                                 \
    {                                                                                              \
        SYS_mremap                                                                                 \
    }
#define MAKING_CALLS                                                                               \
    CLONE_CALL,                                                                                    \
    {                                                                                              \
        SYS_unshare                                                                                \
    }
#define FORK_CALLS                                                                                 \
    {                                                                                              \
        NO_CALL                                                                                    \
    } /* machines of this kind have clone, but not fork and vfork */
#else
/* a machine whose call numbers are not listed here has only limits and Landlock */
enum { KINDS = 0 };
#endif

#if !defined(CALL)
void seccomp_deny_calls(void)
{
}

void seccomp_deny_signals(void)
{
}

void seccomp_deny_processes(void)
{
}

int seccomp_watch_processes(void)
{
    return -1;
}

void seccomp_deny_priorities(void)
{
}

void seccomp_deny_moving(const void *memory, size_t size)
{
}
#else

static const unsigned short denied[][KINDS] = {
#include "host/isolation/perfhost_calls.inc"
};
/* Calls that send a signal to the process in their first argument. */
static const unsigned short signals[][KINDS] = {
#include "host/isolation/perfhost_signals.inc"
};
static const unsigned short send_by_descriptor[][KINDS] = {NEW_CALL(pidfd_send_signal, 424)};

/* Calls whose target process is the argument at `position`. If `users` is not 0, argument 0 is the
 * kind of target; the value `users`, which means all processes of a user, is always refused. */
static const struct target_rule {
    unsigned short call[KINDS];
    unsigned char position, users; /* `users`: value of argument 0 that is refused; 0: argument 0 is
                                    * not checked */
} target_rules[] = {
  /* clang-format off */
    {TARGET(prlimit64, 302, 340), 0, 0},
    {TARGET(sched_setaffinity, 203, 241), 0, 0},
    {TARGET(sched_setscheduler, 144, 156), 0, 0},
    {TARGET(sched_setparam, 142, 154), 0, 0},
    {TARGET(sched_setattr, 314, 351), 0, 0},
    {TARGET(migrate_pages, 256, 294), 0, 0},
    {TARGET(move_pages, 279, 317), 0, 0},
    {TARGET(setpriority, 141, 97), 1, 2},
    {TARGET(ioprio_set, 251, 289), 1, 3},
  /* clang-format on */
};

static struct sock_filter program[400];
static unsigned short length;

static void add(unsigned short code, uint32_t value, unsigned char yes, unsigned char no)
{
    program[length++] = (struct sock_filter){code, yes, no, value};
}

static void load(size_t offset)
{
    add(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void equal(uint32_t value, unsigned char yes, unsigned char no)
{
    add(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no);
}

static void end_with(uint32_t action)
{
    add(BPF_RET | BPF_K, action, 0, 0);
}

static const size_t low_half = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : 4;

/* Offset of the low half of a 64-bit argument; a process number fits into that half. */
static size_t argument(size_t position)
{
    return offsetof(struct seccomp_data, args) + position * sizeof(uint64_t) + low_half;
}

static void deny_all(const unsigned short calls[][KINDS], size_t count, size_t kind)
{
    for (size_t i = 0; i < count; i++) {
        equal(calls[i][kind], 0, 1);
        end_with(SECCOMP_RET_ERRNO | EPERM);
    }
}

/* Allows signals to the process itself and to its group, and signal 0, which only tests whether a
 * process exists, to any process. */
static void deny_signals_to_others(const unsigned short call[KINDS], size_t kind)
{
    uint32_t self = (uint32_t)getpid();
    bool is_kill = call == signals[0];
    unsigned char rest = is_kill ? 8 : 6;
    equal(call[kind], 0, rest);
    if (is_kill) {
        load(argument(1));
        equal(0, 4, 0);
    }
    load(argument(0));
    equal(0, 2, 0);
    equal(self, 1, 0);
    equal(0 - self, 0, 1);
    end_with(SECCOMP_RET_ALLOW);
    end_with(SECCOMP_RET_ERRNO | EPERM);
}

static const uint32_t namespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |
                                   CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;

/* Denies new namespaces. A filter cannot check the flags of clone3, because they are in memory. So
 * clone3 fails with ENOSYS, as on old kernels, and libc uses clone instead. */
static void deny_namespaces(size_t kind)
{
    static const unsigned short clone3[KINDS] = CLONE3_CALL, makes[][KINDS] = {MAKING_CALLS};
    equal(clone3[kind], 0, 1);
    end_with(SECCOMP_RET_ERRNO | ENOSYS);
    for (size_t i = 0; i < COUNT(makes); i++) {
        equal(makes[i][kind], 0, 4);
        load(argument(0));
        add(BPF_JMP | BPF_JSET | BPF_K, namespaces, 0, 1);
        end_with(SECCOMP_RET_ERRNO | EPERM);
        load(offsetof(struct seccomp_data, nr));
    }
}

static void deny_calls(size_t kind)
{
#ifdef X32_BIT
    add(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1);
    end_with(SECCOMP_RET_ERRNO | EPERM);
#endif
    deny_all(denied, COUNT(denied), kind);
    deny_namespaces(kind);
}

/* Denies the call unless its target is the process itself (0 or its own pid). The numbers in the
 * code are jump distances of the filter. */
static void deny_of_others(const struct target_rule *rule, size_t kind)
{
    equal(rule->call[kind], 0, rule->users ? 7 : 5);
    if (rule->users) {
        load(argument(0));
        add(BPF_JMP | BPF_JGE | BPF_K, rule->users, 3, 0);
    }
    load(argument(rule->position));
    equal(0, 2, 0);
    equal((uint32_t)getpid(), 1, 0);
    end_with(SECCOMP_RET_ERRNO | EPERM);
    end_with(SECCOMP_RET_ALLOW);
}

/* Denies the commands that set the owner of a descriptor: the owner receives signals, and could be
 * any process. */
static void deny_owner(uint32_t call, uint32_t position, const uint32_t *commands, size_t count)
{
    equal(call, 0, (unsigned char)(2 * count + 2));
    load(argument(position));
    for (size_t i = 0; i < count; i++) {
        equal(commands[i], 0, 1);
        end_with(SECCOMP_RET_ERRNO | EPERM);
    }
    end_with(SECCOMP_RET_ALLOW);
}

static void deny_owners(size_t kind)
{
    static const unsigned short controls[][KINDS] = {FCNTL_CALLS}, devices[KINDS] = DEVICE_CALL;
    static const uint32_t of_fcntl[] = {F_SETOWN, F_SETOWN_EX},
                          of_ioctl[] = {FIOSETOWN, SIOCSPGRP, TIOCSTI};
    for (size_t i = 0; i < COUNT(controls); i++)
        deny_owner(controls[i][kind], 1, of_fcntl, COUNT(of_fcntl));
    deny_owner(devices[kind], 1, of_ioctl, COUNT(of_ioctl));
}

static void deny_signals(size_t kind)
{
    deny_all(send_by_descriptor, COUNT(send_by_descriptor), kind);
    for (size_t i = 0; i < COUNT(signals); i++)
        deny_signals_to_others(signals[i], kind);
}

static void deny_priorities(size_t kind)
{
    for (size_t i = 0; i < COUNT(target_rules); i++)
        deny_of_others(&target_rules[i], kind);
    deny_owners(kind);
}

static void deny_processes(size_t kind)
{
    static const unsigned short forks[][KINDS] = {FORK_CALLS}, clone[KINDS] = CLONE_CALL;
    deny_all(forks, sizeof(forks) / sizeof(forks[0]), kind);
    equal(clone[kind], 0, 4);
    load(argument(0));
    add(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0);
    end_with(SECCOMP_RET_ERRNO | EPERM);
    end_with(SECCOMP_RET_ALLOW);
}

/* addresses of the first and last byte of the memory that must not be moved */
static uint64_t unmovable, unmovable_end;

/* Denies mremap for those addresses of the memory whose upper 32 bits are `half`. */
static void deny_moving_part(uint32_t call, uint32_t half)
{
    uint32_t first = unmovable >> 32 == half ? (uint32_t)unmovable : 0;
    uint32_t last = unmovable_end >> 32 == half ? (uint32_t)unmovable_end : UINT32_MAX;
    equal(call, 0, 7);
    load(offsetof(struct seccomp_data, args) + 4 - low_half);
    equal(half, 0, 4);
    load(argument(0));
    add(BPF_JMP | BPF_JGE | BPF_K, first, 0, 2);
    add(BPF_JMP | BPF_JGT | BPF_K, last, 1, 0);
    end_with(SECCOMP_RET_ERRNO | EPERM);
    load(offsetof(struct seccomp_data, nr));
}

/* Since Linux 6.17 one move to a fixed address may include several mappings, and its first address
 * does not show whether the channel is one of them. So all moves to a fixed address are denied. */
static void deny_moving(size_t kind)
{
    static const unsigned short remap[KINDS] = REMAP_CALL;
    equal(remap[kind], 0, 4);
    load(argument(3));
    add(BPF_JMP | BPF_JSET | BPF_K, MREMAP_FIXED, 0, 1);
    end_with(SECCOMP_RET_ERRNO | EPERM);
    load(offsetof(struct seccomp_data, nr));
    deny_moving_part(remap[kind], (uint32_t)(unmovable >> 32));
    deny_moving_part(remap[kind], (uint32_t)(unmovable_end >> 32));
}

/* Composes a filter. `list` adds its instructions once for each kind of call (64-bit and 32-bit),
 * and a jump skips those for the other kind. */
static struct sock_fprog compose(void (*list)(size_t kind))
{
    length = 0;
    for (size_t kind = 0; kind < KINDS; kind++) {
        load(offsetof(struct seccomp_data, arch));
        equal(kinds[kind], 1, 0);
        unsigned short jump = length;
        add(BPF_JMP | BPF_JA, 0, 0, 0);
        load(offsetof(struct seccomp_data, nr));
        list(kind);
        end_with(SECCOMP_RET_ALLOW);
        program[jump].k = (uint32_t)(length - jump - 1);
    }
    end_with(SECCOMP_RET_ERRNO | EPERM);
    return (struct sock_fprog){length, program};
}

static void install(void (*list)(size_t kind))
{
    struct sock_fprog filter = compose(list);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
}

void seccomp_deny_calls(void)
{
    install(deny_calls);
}

void seccomp_deny_signals(void)
{
    install(deny_signals);
}

void seccomp_deny_processes(void)
{
    install(deny_processes);
}

int seccomp_watch_processes(void)
{
    struct sock_fprog filter = compose(deny_processes);
    for (size_t i = 0; i < length; i++)
        if (program[i].code == (BPF_RET | BPF_K) && program[i].k == (SECCOMP_RET_ERRNO | EPERM))
            program[i].k = SECCOMP_RET_USER_NOTIF;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                        &filter);
}

void seccomp_deny_priorities(void)
{
    install(deny_priorities);
}

void seccomp_deny_moving(const void *memory, size_t size)
{
    unmovable = (uintptr_t)memory;
    unmovable_end = unmovable + size - 1;
    install(deny_moving);
}
#endif
