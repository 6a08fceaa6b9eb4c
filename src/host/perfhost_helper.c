/* SPDX-License-Identifier: MIT */
/* A helper: forked by the keeper, with one channel and one provider. */
#include "host/perfhost.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct channel *served;
static size_t reserved, usable; /* bytes of the channel: reserved, and of these writable */
static pid_t owner;             /* this process; a child that it forks has no channel */
static pid_t parent;

/* Records the crash. The signal is raised again and ends the process, so its parent knows which
 * signal it was. */
static void on_crash(int number, siginfo_t *info, void *context)
{
    if (served && syscall(SYS_getpid) == owner) {
        served->last.address = info->si_code > 0 ? (uintptr_t)info->si_addr : 0;
        served->last.has_address = info->si_code > 0;
        served->last.signal = (uint32_t)number;
    }
    signal(number, SIG_DFL);
    if (served && syscall(SYS_getpid) == owner)
        crash_write_calls(served->last.calls, sizeof(served->last.calls));
    if (info->si_code <= 0)
        raise(number);
}

void helper_prepare(void)
{
    /* stack of the signal handler, used when the main stack is full */
    enum { STACK_BYTES = 64 << 10 };
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    void *stack =
        mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t alternate = {.ss_sp = stack, .ss_size = STACK_BYTES};
    struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    if (stack != MAP_FAILED)
        sigaltstack(&alternate, NULL);
    crash_prepare();
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    for (size_t i = 0; i < COUNT(crashes); i++)
        sigaction(crashes[i], &action, NULL);
}

/* Reserves address space for the channel. If the program has little (RLIMIT_AS), tries half as much
 * again and again, which leads to smaller buffers; some must be left for the library. */
static char *reserve_place(void)
{
    enum { UNMAPPED_AFTER = 1 << 20, LEFT = 4 << 20 };
    for (reserved = CHANNEL_BYTES; reserved > CHANNEL_BUFFER_OFFSET; reserved /= 2) {
        reserved &= ~(size_t)(CHANNEL_PAGE - 1);
        char *place = mmap(NULL, reserved + UNMAPPED_AFTER + LEFT, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (place == MAP_FAILED)
            continue;
        munmap(place + reserved + UNMAPPED_AFTER, LEFT);
        return place;
    }
    return NULL;
}

/* The provider gets none of our descriptors, and a child that it forks none of the memory. The
 * whole channel is reserved at once with nothing mapped right after it: a write far beyond the
 * buffer crashes. */
static struct channel *map_channel(uint32_t slot)
{
    char *place = reserve_place();
    if (!place)
        return NULL;
    void *memory = mmap(place, reserved, PROT_NONE, MAP_SHARED | MAP_FIXED, KEEPER_MEMORY_FD,
                        keeper_slot_offset(slot));
    if (memory == MAP_FAILED || madvise(memory, reserved, MADV_DONTFORK) ||
        mprotect(memory, CHANNEL_BUFFER_OFFSET, PROT_READ | PROT_WRITE))
        return NULL;
    usable = CHANNEL_BUFFER_OFFSET;
    return memory;
}

/* Makes the requested size writable, and no more. */
static bool grow(size_t capacity)
{
    size_t pages = (capacity + CHANNEL_GUARD + CHANNEL_PAGE - 1) / CHANNEL_PAGE;
    size_t size = CHANNEL_BUFFER_OFFSET + pages * CHANNEL_PAGE;
    if (size <= usable)
        return true;
    if (size > reserved || mprotect(served, size, PROT_READ | PROT_WRITE))
        return false;
    usable = size;
    return true;
}

static void close_from_3(void)
{
#ifdef SYS_close_range
    if (!syscall(SYS_close_range, 3u, ~0u, 0u))
        return;
#endif
    for (int fd = 3; fd < 16; fd++) /* closes inherited descriptors: the keeper has only a few */
        close(fd);
}

/* In `ps` each helper has the name of the service that it runs. */
static void take_name(struct channel *channel, char *title, size_t title_bytes)
{
    const struct channel_text *service = &channel->order.service;
    const char *name = service->bytes ? channel_texts(channel) + service->offset : "";
    if (*name)
        prctl(PR_SET_NAME, name);
    memset(title, 0, title_bytes);
    if (title_bytes)
        snprintf(title, title_bytes, "perfhost: %s", name);
}

/* Called after each Collect; the current size is read only if the peak was once above the limit.
 * During a Collect the keeper checks it. */
static void check_memory(struct channel *channel, uint32_t limit_mib)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) || usage.ru_maxrss >> 10 <= (long)limit_mib)
        return;
    uint32_t resident_mib = memory_resident_mib(owner);
    if (resident_mib <= limit_mib)
        return;
    channel->last.resident_mib = resident_mib;
    _exit(CHANNEL_EXIT_MEMORY);
}

/* When the keeper ends, the kernel ends this process (helper_serve), unless the provider undid
 * that, as setuid does: so an idle helper checks from time to time who its parent is. */
static uint32_t next_request(struct channel *channel, uint32_t seen)
{
    static const int64_t look_every = 10 * (int64_t)CLOCK_TICKS_PER_SECOND;
    uint32_t number;
    while ((number = atomic_load(&channel->request.value)) == seen) {
        if (getppid() != parent)
            _exit(EXIT_FAILURE);
        channel_sleep(&channel->request.value, seen, clock_ticks() + look_every);
    }
    return number;
}

static void answer(struct channel *channel, uint32_t number)
{
    channel->reply.number = number;
    atomic_store(&channel->answer.value, CHANNEL_ANSWERED);
    channel_wake(&channel->answer.value);
}

static _Noreturn void serve(uint32_t limit_mib)
{
    for (uint32_t number = 0;;) {
        number = next_request(served, number);
        uint32_t order = served->order.order;
        if (order == CHANNEL_CLOSE || order == CHANNEL_CLOSE_AND_STAY)
            provider_close(served, order == CHANNEL_CLOSE);
        else if (grow(served->order.capacity))
            provider_collect(served);
        else
            provider_has_no_capacity(served);
        check_memory(served, limit_mib);
        answer(served, number);
    }
}

_Noreturn void helper_serve(pid_t keeper, uint32_t slot, char *title, size_t title_bytes)
{
    sigset_t none;
    sigemptyset(&none);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setsid();
    owner = getpid();
    parent = keeper;
    served = map_channel(slot);
    close_from_3();
    if (getppid() != keeper || !served || served->mark != CHANNEL_MARK)
        _exit(EXIT_FAILURE);
    take_name(served, title, title_bytes);
    seccomp_deny_moving(served, reserved);
    sandbox_enter(served->order.observes, served->order.children);
    sigprocmask(SIG_SETMASK, &none, NULL);
    serve(memory_limit_mib(served->order.memory_mib));
}

#ifdef __SANITIZE_ADDRESS__
/* Turns off LeakSanitizer: it traces its own process, which the sandbox refuses, and would then
 * exit with a code of its own. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return 1;
}
#endif
