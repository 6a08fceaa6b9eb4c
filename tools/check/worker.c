/* SPDX-License-Identifier: MIT */
/*
 * The process that the library runs in. It has the limits and the list of refused system calls of
 * Perflib's helper processes, but an inaccessible page directly after the buffer, and it records
 * the resources that each call left in use.
 */
#include "worker.h"

#include "base/base.h"
#include "host/module.h"
#include "host/isolation/perfhost.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <ucontext.h>
#include <unistd.h>

enum { UNMAPPED_AFTER = 1 << 20 };

/* The buffer of one call: inaccessible page, guard, space for the answer, inaccessible page. */
static struct {
    unsigned char *map, *guard, *start, *end;
    size_t size;
    unsigned char *tail; /* the bytes between the space and the page, at most 7 */
    size_t answered;
} buffer;

static struct worker_channel *channel;
static struct module module;
static const char *library;
static const char *const *procedures;
static const char *export_names;
static const char own_name[] = "openperflib-check"; /* only the address of this variable is used */

/* ---- a crash ---- */

static void note_frame(char out[128], void *address)
{
    Dl_info info = {0};
    if (!dladdr(address, &info) || !info.dli_fname) {
        snprintf(out, 128, "%p", address);
        return;
    }
    const char *file = strrchr(info.dli_fname, '/');
    file = file ? file + 1 : info.dli_fname;
    int used =
        snprintf(out, 128, "%s+0x%zx", file, (size_t)((char *)address - (char *)info.dli_fbase));
    if (info.dli_sname && used > 0 && used < 128)
        snprintf(out + used, 128 - (size_t)used, " (%s+0x%zx)", info.dli_sname,
                 (size_t)((char *)address - (char *)info.dli_saddr));
}

static void note_address(uintptr_t address)
{
    uintptr_t start = (uintptr_t)buffer.start, end = (uintptr_t)buffer.end;
    uintptr_t first = (uintptr_t)buffer.map, last = first + buffer.size;
    channel->crash.address = address;
    channel->crash.in_guard = buffer.map && address >= first && address < last;
    channel->crash.beyond = address >= end ? (int64_t)(address - end) : -(int64_t)(start - address);
}

/* Returns the address of the crash; NULL: this processor's registers are not known. */
static void *place_of(const ucontext_t *context)
{
#if defined __x86_64__
    return (void *)(uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined __i386__
    return (void *)(uintptr_t)context->uc_mcontext.gregs[REG_EIP];
#elif defined __aarch64__
    return (void *)(uintptr_t)context->uc_mcontext.pc;
#else
    (void)context;
    return NULL;
#endif
}

static bool is_own(void *address)
{
    Dl_info info = {0}, own = {0};
    return dladdr(address, &info) && dladdr(own_name, &own) && info.dli_fbase == own.dli_fbase;
}

/* Notes the stack frames from the place of the crash to the call in this program. */
static void note_frames(void *place)
{
    enum { HANDLERS = 4 };
    void *frames[HANDLERS + WORKER_FRAMES];
    int first = 0, count = backtrace(frames, HANDLERS + WORKER_FRAMES);
    while (first < count && frames[first] != place)
        first++;
    if (first == count) { /* the crash jumped to an address without code */
        note_frame(channel->crash.frames[0], place);
        return;
    }
    for (int i = 0; i < WORKER_FRAMES && first + i < count && !is_own(frames[first + i]); i++)
        note_frame(channel->crash.frames[i], frames[first + i]);
}

/* Records the crash; then the signal is raised again and ends the process, so that the parent sees
 * its number. */
static void on_crash(int number, siginfo_t *info, void *context)
{
    signal(number, SIG_DFL);
    note_address(info->si_code > 0 ? (uintptr_t)info->si_addr : 0);
    channel->crash.signal = (uint32_t)number;
    note_frames(place_of(context));
    raise(number);
}

static void catch_crashes(void)
{
    enum {
        STACK_BYTES = 256 << 10
    }; /* the handler's own stack, because the thread's may have overflowed */
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
    void *stack =
        mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t alternate = {.ss_sp = stack, .ss_size = STACK_BYTES};
    struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    void *frame;
    backtrace(&frame, 1); /* loads libraries now, which the signal handler must not do */
    if (stack != MAP_FAILED)
        sigaltstack(&alternate, NULL);
    for (size_t i = 0; i < COUNT(crashes); i++)
        sigaction(crashes[i], &action, NULL);
}

/* ---- the buffer ---- */

static bool make_buffer(size_t capacity)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (capacity + 8 + page - 1) / page * page;
    if (buffer.map)
        munmap(buffer.map, buffer.size);
    buffer.size = page + GUARD_BELOW + whole + UNMAPPED_AFTER;
    buffer.map =
        mmap(NULL, buffer.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    buffer.answered = 0;
    if (buffer.map == MAP_FAILED ||
        mprotect(buffer.map + page, GUARD_BELOW + whole, PROT_READ | PROT_WRITE))
        return false;
    buffer.guard = buffer.map + page;
    buffer.tail = buffer.guard + GUARD_BELOW + whole;
    buffer.start = buffer.guard + (((size_t)(buffer.tail - buffer.guard) - capacity) & ~(size_t)7);
    buffer.end = buffer.start + capacity;
    size_t below = (size_t)(buffer.start - buffer.guard);
    below = below < GUARD_BELOW ? below : GUARD_BELOW;
    memset(buffer.start - below, GUARD_PATTERN, below);
    memset(buffer.end, GUARD_PATTERN, (size_t)(buffer.tail - buffer.end));
    return true;
}

static void check_guards(struct worker_reply *reply)
{
    for (int64_t i = 1; i <= GUARD_BELOW && !reply->below; i++)
        if (buffer.start[-i] != GUARD_PATTERN)
            reply->below = i;
    for (unsigned char *at = buffer.end; at < buffer.tail && !reply->above; at++)
        if (*at != GUARD_PATTERN)
            reply->above = at - buffer.end + 1;
}

/* ---- one call ---- */

static uint16_t *utf16(const char *text, size_t *ret_bytes)
{
    size_t units = utf8_to_16(text, strlen(text), NULL, 0);
    uint16_t *wide = calloc(units + 1, sizeof *wide);
    if (wide)
        utf8_to_16(text, strlen(text), wide, units);
    *ret_bytes = (units + 1) * sizeof *wide;
    return wide;
}

/* Returns the duration of a call, without the time in which the call waited for a processor. If the
 * wait is longer than the duration, it happened after the call, while the wait was read, and is not
 * subtracted. */
static int64_t took_ns(int64_t begin, int64_t waited_before)
{
    int64_t took = (clock_ticks() - begin) * 100, waited = waited_ns() - waited_before;
    return waited < took ? took - waited : took;
}

static void keep_answer(struct worker_reply *reply)
{
    int64_t capacity = buffer.end - buffer.start;
    if (reply->status || reply->end <= 0 || reply->end > capacity || reply->end > WORKER_SIZE)
        return;
    buffer.answered = (size_t)reply->end;
    memcpy(channel->data, buffer.start, buffer.answered);
}

static void collect(struct worker_reply *reply)
{
    size_t query_bytes;
    bool nothing = channel->request.null_buffer;
    uint16_t *query = utf16(channel->request.query, &query_bytes), *again;
    if (!query || !make_buffer(channel->request.capacity))
        _exit(EXIT_FAILURE);
    again = malloc(query_bytes);
    memcpy(again, query, query_bytes);
    void *start = nothing ? NULL : buffer.start, *end = start;
    DWORD bytes = channel->request.capacity, objects = 0;
    int64_t waited = waited_ns(), begin = clock_ticks();
    reply->status = module.collect((LPWSTR)query, &end, &bytes, &objects);
    reply->took_ns = took_ns(begin, waited);
    reply->bytes = bytes;
    reply->objects = objects;
    reply->end = (int64_t)((intptr_t)end - (intptr_t)start);
    reply->outputs_kept = end == start && bytes == channel->request.capacity && objects == 0;
    reply->query_changed = memcmp(query, again, query_bytes) != 0;
    check_guards(reply);
    if (!nothing)
        keep_answer(reply);
    free(query);
    free(again);
}

static void *collect_in_thread(void *reply)
{
    collect(reply);
    return NULL;
}

static void collect_somewhere(struct worker_reply *reply)
{
    pthread_t thread;
    if (channel->request.own_thread && !pthread_create(&thread, NULL, collect_in_thread, reply))
        pthread_join(thread, NULL);
    else
        collect(reply);
}

static void load(struct worker_reply *reply)
{
    char text[MODULE_TEXT] = "";
    enum module_procedure missing;
    reply->status = (uint32_t)module_load(&module, library, text);
    snprintf(reply->text, sizeof reply->text, "%s", text);
    if (reply->status)
        return;
    reply->status = (uint32_t)module_find(&module, procedures, &missing);
    if (reply->status)
        reply->missing = 1 + (uint32_t)missing;
}

static uint32_t open_library(void)
{
    size_t bytes;
    uint16_t *names = export_names ? utf16(export_names, &bytes) : NULL;
    DWORD status = module.open ? module.open((LPWSTR)names) : ERROR_SUCCESS;
    free(names);
    return status;
}

static void follow_order(enum worker_order order, struct worker_reply *reply)
{
    int64_t waited = waited_ns(), begin = clock_ticks();
    if (order == ORDER_COLLECT) {
        collect_somewhere(reply);
        return;
    }
    if (order == ORDER_LOAD)
        load(reply);
    else if (order == ORDER_OPEN)
        reply->status = open_library();
    else if (order == ORDER_CLOSE)
        reply->status = module.close ? module.close() : ERROR_SUCCESS;
    else if (order == ORDER_UNLOAD)
        module_unload(&module);
    reply->took_ns = took_ns(begin, waited);
}

/* ---- the loop of orders ---- */

static bool transfer(ssize_t (*move)(int, void *, size_t), uint64_t *number)
{
    return move(WORKER_LINE_FD, number, sizeof *number) == sizeof *number;
}

/* The first message to the tool carries the descriptor on which the kernel reports to it that the
 * library starts a process. */
static int listener = -1;

static ssize_t send_bytes(int line, void *data, size_t size)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec part = {data, size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (listener < 0)
        return write(line, data, size);
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(head), &listener, sizeof listener);
    ssize_t sent = sendmsg(line, &message, MSG_NOSIGNAL);
    close(listener);
    listener = -1;
    return sent;
}

static _Noreturn void serve(void)
{
    for (uint64_t number; transfer(read, &number);) {
        struct worker_reply reply = {0};
        reply.delayed_writes =
            buffer.answered && memcmp(buffer.start, channel->data, buffer.answered) != 0;
        follow_order((enum worker_order)channel->request.order, &reply);
        if (!*reply.text)
            snprintf(reply.text, sizeof reply.text, "%s", status_text((LSTATUS)reply.status));
        reply.changed = state_changes();
        reply.signals = signals_refused();
        reply.usage = usage_now();
        reply.usage.mapped -= (int64_t)buffer.size;
        reply.waited_ns = waited_ns();
        channel->reply = reply;
        if (!transfer(send_bytes, &number))
            break;
    }
    _exit(WORKER_LOST);
}

/* Sets the limits and the system call filter. A sanitizer needs more address space than the limits
 * leave. */
static void enter_sandbox(bool sanitized)
{
    if (sanitized) {
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        seccomp_deny_calls();
    } else {
        sandbox_prepare();
    }
    listener = seccomp_watch_processes();
    sandbox_enter(true, listener >= 0);
}

_Noreturn void worker_main(const char *path, const char *const names[3], const char *exported,
                           bool sanitized)
{
    library = path;
    procedures = names;
    export_names = exported;
    channel = mmap(NULL, sizeof *channel, PROT_READ | PROT_WRITE, MAP_SHARED, WORKER_MEMORY_FD, 0);
    if (channel == MAP_FAILED || channel->mark != WORKER_MARK)
        _exit(EXIT_FAILURE);
    close(WORKER_MEMORY_FD);
    fcntl(WORKER_LINE_FD, F_SETFD, FD_CLOEXEC);
    enter_sandbox(sanitized);
    if (!sanitized)
        catch_crashes();
    state_note();
    signals_refuse();
    serve();
}
