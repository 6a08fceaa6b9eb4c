/* SPDX-License-Identifier: MIT */
/* A helper process: forked by the keeper, for one channel and one provider. */
#include "host/isolation/perfhost.h"
#include "base/base.h"
#include "host/module.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- crashes ---- */

/* Finds where a helper crashed: the chain of calls, with names as far as the libraries' symbol
 * tables have them. */

enum { MOST = 8 }; /* maximum number of recorded frames, including those of the handler */

static void crash_prepare(void)
{
    void *frame;
    backtrace(&frame, 1); /* loads backtrace's library now, because after a crash that may fail */
}

/* Writes a place such as "farm.so+0x1234 (CollectFarm+0x20)"; outside of libraries, the address. */
static int write_place(char *to, size_t capacity, const char *before, void *place,
                       const Dl_info *info)
{
    uintptr_t at = (uintptr_t)place;
    if (!info->dli_fname)
        return snprintf(to, capacity, "%s0x%" PRIxPTR, before, at);
    const char *slash = strrchr(info->dli_fname, '/');
    const char *name = slash ? slash + 1 : info->dli_fname;
    uintptr_t offset = at - (uintptr_t)info->dli_fbase;
    if (!info->dli_sname)
        return snprintf(to, capacity, "%s%s+0x%" PRIxPTR, before, name, offset);
    return snprintf(to, capacity, "%s%s+0x%" PRIxPTR " (%s+0x%" PRIxPTR ")", before, name, offset,
                    info->dli_sname, at - (uintptr_t)info->dli_saddr);
}

/* True if `place` is in perfhost's own code, which handles the signal and called the provider. */
static bool is_own(void *place)
{
    Dl_info own, info;
    return dladdr((void *)(uintptr_t)crash_prepare, &own) && dladdr(place, &info) &&
           info.dli_fbase == own.dli_fbase;
}

/* Called in a signal handler: writes the address of the crash and its callers, innermost first. */
static void crash_write_calls(char *to, size_t capacity)
{
    void *frames[MOST];
    int count = backtrace(frames, MOST), used = 0, i = 0;
    while (i < count && !is_own(frames[i])) /* skip frames of a sanitizer */
        i++;
    while (i < count && is_own(frames[i]))
        i++;
    i++; /* skip the frame by which the kernel returns from the handler */
    for (; i < count && (size_t)used < capacity && !is_own(frames[i]); i++) {
        Dl_info info = {0};
        dladdr(frames[i], &info);
        used += write_place(to + used, capacity - (size_t)used, used ? ", called by " : "",
                            frames[i], &info);
    }
}

/* ---- the provider ---- */

/* Loads the provider, finds its procedures and calls them. Everything here may crash, hang or end
 * the process, so `stage` is set before each step. (docs/windows/articles.md#c39,
 * docs/windows/providers.md#d2) */

static struct {
    struct module module;
    uint16_t *export_names;
    char *path;
    bool opened;
} provider;

static bool is_loaded(void)
{
    return provider.module.handle != NULL;
}

/* A copy of the current stage outside of the channel, so that a provider that overwrites the
 * channel does not overwrite it. */
static enum isolate_stage running;

/* Ends the helper if the provider has overwritten the channel. Then only the exit code, which
 * contains the stage, can inform the client. */
static void check_marks(const struct channel *channel)
{
    if (!channel_is_marked(channel))
        _exit(CHANNEL_EXIT_OVERWRITTEN + (int)running);
}

static void enter_stage(struct channel *channel, enum isolate_stage stage)
{
    check_marks(channel);
    running = stage;
    atomic_store(&channel->stage.value, stage);
}

static const char *text_of(struct channel *channel, const struct channel_text *text)
{
    return text->bytes ? channel_texts(channel) + text->offset : NULL;
}

/* Makes a private copy of a text for each call, because the provider may write to the copy. */
static void *copy_of(struct channel *channel, const struct channel_text *text)
{
    void *copy = text->bytes ? malloc(text->bytes) : NULL;
    return copy ? memcpy(copy, text_of(channel, text), text->bytes) : NULL;
}

static void reply(struct channel *channel, enum isolate_stage stage, LSTATUS status,
                  const char *text)
{
    check_marks(channel);
    channel->reply.stage = stage;
    channel->reply.status = (uint32_t)status;
    memccpy(channel->reply.text, text, 0, CHANNEL_TEXT - 1);
}

static void unload(void)
{
    module_unload(&provider.module);
    provider.opened = false;
}

static bool load(struct channel *channel)
{
    char text[MODULE_TEXT] = "no memory";
    enter_stage(channel, ISOLATE_LOAD);
    free(provider.path);
    provider.path = copy_of(channel, &channel->order.library);
    LSTATUS status = provider.path ? module_load(&provider.module, provider.path, text)
                                   : ERROR_NOT_ENOUGH_MEMORY;
    if (status)
        reply(channel, ISOLATE_LOAD, status, text);
    return !status;
}

static bool find(struct channel *channel)
{
    const char *names[MODULE_PROCEDURES];
    enum module_procedure missing;
    enter_stage(channel, ISOLATE_FIND);
    for (size_t i = 0; i < COUNT(names); i++)
        names[i] = text_of(channel, &channel->order.procedures[i]);
    LSTATUS status = module_find(&provider.module, names, &missing);
    if (status) {
        reply(channel, ISOLATE_FIND, status, names[missing] ? names[missing] : "");
        unload();
    }
    return !status;
}

static bool open_provider(struct channel *channel)
{
    enter_stage(channel, ISOLATE_OPEN);
    free(provider.export_names);
    provider.export_names = copy_of(channel, &channel->order.export_names);
    LSTATUS status = ERROR_SUCCESS;
    if (provider.module.open)
        status = (LSTATUS)provider.module.open((LPWSTR)provider.export_names);
    provider.opened = !status;
    if (status) {
        reply(channel, ISOLATE_OPEN, status, "");
        unload();
    }
    return provider.opened;
}

static bool make_ready(struct channel *channel)
{
    if (provider.opened)
        return true;
    bool ready = (is_loaded() || (load(channel) && find(channel))) && open_provider(channel);
    /* wakes the client to read `stage`, because Collect has another deadline than Open */
    enter_stage(channel, ready ? ISOLATE_COLLECT : channel->reply.stage);
    if (ready)
        channel_wake(&channel->answer.value);
    return ready;
}

/* Called instead of provider_collect if the buffer cannot be made large enough */
static void provider_has_no_capacity(struct channel *channel)
{
    memset(&channel->reply, 0, sizeof(channel->reply));
    reply(channel, ISOLATE_COLLECT, ERROR_NOT_ENOUGH_MEMORY,
          "no memory to call it; see ulimit -v of the program");
}

/* Each of the next functions runs one of the provider's functions and writes the result to
 * channel->reply. */
static void provider_collect(struct channel *channel)
{
    memset(&channel->reply, 0, sizeof(channel->reply));
    if (!make_ready(channel))
        return;
    enter_stage(channel, ISOLATE_COLLECT);
    uint16_t *query = copy_of(channel, &channel->order.query);
    if (!query) {
        provider_has_no_capacity(channel);
        return;
    }
    void *start = channel_buffer(channel), *end = start;
    DWORD bytes = channel->order.capacity, objects = 0;
    int64_t begin = clock_ticks();
    DWORD status = provider.module.collect((LPWSTR)query, &end, &bytes, &objects);
    channel->reply.took_100ns = clock_ticks() - begin;
    free(query);
    channel->reply.bytes = bytes;
    channel->reply.objects = objects;
    channel->reply.end_offset = (int64_t)((intptr_t)end - (intptr_t)start);
    reply(channel, ISOLATE_COLLECT, (LSTATUS)status, "");
}

static void provider_close(struct channel *channel, bool and_unload)
{
    memset(&channel->reply, 0, sizeof(channel->reply));
    enter_stage(channel, ISOLATE_CLOSE);
    LSTATUS status = ERROR_SUCCESS;
    if (provider.opened && provider.module.close)
        status = (LSTATUS)provider.module.close();
    provider.opened = false;
    if (and_unload)
        unload();
    reply(channel, ISOLATE_CLOSE, status, "");
}

/* ---- the helper ---- */

static struct channel *served;
static size_t reserved, usable; /* bytes of the channel: how many are reserved, and how many of
                                 * these are writable */
static pid_t owner;             /* pid of this helper; a child that it forks has no channel */
static pid_t parent;

/* Records the crash, then raises the signal again, which ends the process: so its parent learns the
 * signal's number. */
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
    /* stack of the signal handler, because the main stack may have overflowed */
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

/* Reserves address space for the channel. If RLIMIT_AS does not allow that, halves the size
 * until it does, which limits the size of buffers. Some address space is left for the library. */
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

/* Maps the channel. The whole channel is reserved at once and nothing is mapped right after it, so
 * a write far beyond the buffer crashes. Children that the provider forks do not get the
 * mapping. */
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

/* Makes the channel writable up to the end of a buffer of `capacity` bytes, and no more. */
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

/* Gives the process the name of the service that it runs, for ps. */
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

/* Checks this process's memory after each Collect; during a Collect the keeper checks it. The
 * present size is read only if the peak was ever above the limit. */
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

/* Waits for the next request. When the keeper ends, the kernel ends this process too
 * (helper_serve), unless the provider undid that, for example by setuid: so an idle helper checks
 * from time to time whether its parent is still the keeper. */
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
    serve(served->order.memory_mib);
}

#ifdef __SANITIZE_ADDRESS__
/* Turns off LeakSanitizer, which would trace its own process; the sandbox refuses that, and
 * LeakSanitizer would then end the process with its own exit code. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return 1;
}
#endif
