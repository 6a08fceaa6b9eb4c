/* SPDX-License-Identifier: MIT */
/*
 * A list of calls that fail with EPERM. On x86 a 64-bit process can make 32-bit calls and the other
 * way round, and so can the programs that it starts: both kinds are judged, each by its own
 * numbers, and the x32 kind, which nothing here uses, is refused as a whole.
 */
#include "host/perfhost.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
enum { KINDS = 2 };
static const uint32_t kinds[KINDS] = {AUDIT_ARCH_X86_64, AUDIT_ARCH_I386};
#define CALL(name, number, number_32) {number, number_32},
#define NEW_CALL(name, number) {number, number},
#define X32_BIT 0x40000000u
#elif defined(__aarch64__)
enum { KINDS = 1 };
static const uint32_t kinds[KINDS] = {AUDIT_ARCH_AARCH64};
#define CALL(name, number, number_32) {SYS_##name},
#define NEW_CALL(name, number) {number},
#else
enum { KINDS = 0 }; /* a machine whose kinds of calls nobody has listed: limits and Landlock only */
#endif

#if !defined(CALL)
void seccomp_deny_calls(void)
{
}

void seccomp_deny_signals(void)
{
}
#else

static const unsigned short denied[][KINDS] = {
#include "host/perfhost_calls.inc"
};
/* Who they may be sent to is their first argument. */
static const unsigned short signals[][KINDS] = {
#include "host/perfhost_signals.inc"
};
static const unsigned short send_by_descriptor[][KINDS] = {NEW_CALL(pidfd_send_signal, 424)};

static struct sock_filter program[300];
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

/* The half of a 64-bit argument that a number of a process lies in. */
static size_t argument(size_t position)
{
    size_t low = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : 4;
    return offsetof(struct seccomp_data, args) + position * sizeof(uint64_t) + low;
}

static void deny_all(const unsigned short calls[][KINDS], size_t count, size_t kind)
{
    for (size_t i = 0; i < count; i++) {
        equal(calls[i][kind], 0, 1);
        end_with(SECCOMP_RET_ERRNO | EPERM);
    }
}

/* To itself and its group; anybody may be asked whether he lives, by signal 0. */
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

static void deny_calls(size_t kind)
{
#ifdef X32_BIT
    add(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1);
    end_with(SECCOMP_RET_ERRNO | EPERM);
#endif
    deny_all(denied, COUNT(denied), kind);
}

static void deny_signals(size_t kind)
{
    deny_all(send_by_descriptor, COUNT(send_by_descriptor), kind);
    for (size_t i = 0; i < COUNT(signals); i++)
        deny_signals_to_others(signals[i], kind);
}

/* One list for each kind of call; the other kind's is jumped over. */
static void install(void (*list)(size_t kind))
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
    struct sock_fprog filter = {length, program};
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
#endif
