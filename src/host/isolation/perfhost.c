/* SPDX-License-Identifier: MIT */
/*
 * perfhost, the program that third-party providers run in. keeper.c of the library starts it once
 * per client, with two descriptors (the shared memory and the client's pidfd) and all others
 * closed. This process, the keeper, runs no provider; it forks a helper for each provider, which is
 * several times faster than an exec, and records the helpers' states in its page. It exits when its
 * client ends, or when it had no helper for 30 s.
 */
#include "host/isolation/perfhost.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- the keeper's second thread ---- */

/*
 * The keeper's second thread: it waits at the futex that the client increments for each request,
 * and makes a descriptor readable that the first thread polls. The word `life` is on its robust
 * list, so the kernel marks the word when the process ends, even by SIGKILL or for lack of memory.
 */

static struct keeper_page *watched;
static int call_fd;
static _Atomic uint32_t ready; /* a futex: 1 when the thread runs */

/* The kernel finds each futex of a robust list at the address of its entry plus an offset that is
 * the same for the whole list. libc's list has another offset, so this thread uses a list of its
 * own. */
static struct robust_list life_entry;
static struct robust_list_head head;

static void promise_last_sign(void)
{
    head.list.next = &life_entry;
    life_entry.next = &head.list;
    head.futex_offset = (long)((intptr_t)&watched->life - (intptr_t)&life_entry);
    syscall(SYS_set_robust_list, &head, sizeof(head));
    atomic_store(&watched->life.value, (uint32_t)syscall(SYS_gettid) | FUTEX_WAITERS);
}

static void *watch(void *argument)
{
    promise_last_sign();
    atomic_store(&ready, 1);
    channel_wake(&ready);
    for (uint32_t seen = 0;;) {
        uint32_t number = atomic_load(&watched->request.value);
        uint64_t one = 1;
        if (number == seen)
            channel_sleep(&watched->request.value, seen, INT64_MAX);
        else if (write(call_fd, &one, sizeof(one)) == sizeof(one))
            seen = number;
    }
    return argument;
}

/* Starts the thread, and returns only when it runs: a fork() while the thread is being created
 * could give the child a lock (such as a sanitizer's) that no thread of the child can release. */
static bool watch_start(struct keeper_page *page, int event_fd)
{
    watched = page;
    call_fd = event_fd;
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
#ifndef __SANITIZE_ADDRESS__
    pthread_attr_setstacksize(&attributes, 64 << 10);
#endif
    bool started = pthread_create(&thread, &attributes, watch, NULL) == 0;
    while (started && !atomic_load(&ready))
        channel_sleep(&ready, 0, INT64_MAX);
    return started;
}

/* ---- memory ---- */

/* Returns the resident memory of a helper in MiB; 0: unknown. The kernel's limits RLIMIT_AS and
 * RLIMIT_DATA cannot be used, because they also count memory that managed code and sanitizers only
 * reserve. */

uint32_t memory_resident_mib(pid_t pid)
{
    char path[32];
    unsigned long pages = 0;
    snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%*u %lu", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return (uint32_t)((uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) >> 20);
}

/* ---- the keeper ---- */

static struct {
    struct keeper_page *page;
    pid_t self;
    pid_t pids[KEEPER_SLOTS]; /* pids of the helpers; 0: the slot has no process */
    uint32_t limits_mib[KEEPER_SLOTS];
    bool children; /* some helper may start processes */
    int pagemap;
    char *title; /* the part of the arguments in which ps finds the process name */
    size_t title_bytes;
    size_t alive;
    int64_t idle_since;
} keeper;

/* Maps the keeper's page so that helpers do not inherit it. */
static bool map_page(void)
{
    void *memory =
        mmap(NULL, CHANNEL_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, KEEPER_MEMORY_FD, 0);
    if (memory == MAP_FAILED)
        return false;
    keeper.page = memory;
    return !madvise(memory, CHANNEL_PAGE, MADV_DONTFORK) &&
           keeper.page->version == CHANNEL_VERSION && keeper.page->slot_count <= KEEPER_SLOTS;
}

/* ---- starting and ending helpers ---- */

/* Stores CHANNEL_DIED in the channel, because the client may be waiting for an answer that will not
 * come. */
static void mark_dead(uint32_t slot)
{
    void *memory = mmap(NULL, CHANNEL_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, KEEPER_MEMORY_FD,
                        keeper_slot_offset(slot));
    if (memory == MAP_FAILED)
        return;
    struct channel *channel = memory;
    atomic_store(&channel->answer.value, CHANNEL_DIED);
    channel_wake(&channel->answer.value);
    munmap(memory, CHANNEL_PAGE);
}

/* Reads what the keeper needs of the client's request, before a helper runs that could overwrite
 * it. */
static bool read_order(uint32_t slot)
{
    struct channel *channel =
        mmap(NULL, CHANNEL_PAGE, PROT_READ, MAP_SHARED, KEEPER_MEMORY_FD, keeper_slot_offset(slot));
    if (channel == MAP_FAILED)
        return false;
    keeper.limits_mib[slot] = channel->order.memory_mib;
    keeper.children |= channel->order.children != 0;
    munmap(channel, CHANNEL_PAGE);
    return true;
}

static bool is_at_work(uint32_t slot)
{
    struct channel *channel =
        mmap(NULL, CHANNEL_PAGE, PROT_READ, MAP_SHARED, KEEPER_MEMORY_FD, keeper_slot_offset(slot));
    if (channel == MAP_FAILED)
        return false;
    bool owed = atomic_load(&channel->answer.value) == CHANNEL_OWED;
    munmap(channel, CHANNEL_PAGE);
    return owed;
}

static void end_slot(uint32_t slot, enum keeper_state state, int status)
{
    struct keeper_slot *shared = &keeper.page->slots[slot];
    shared->status = (uint32_t)status;
    atomic_store(&shared->state, state);
    mark_dead(slot);
}

static void start_helper(uint32_t slot)
{
    pid_t pid = read_order(slot) ? fork() : -1;
    if (pid == 0)
        helper_serve(keeper.self, slot, keeper.title, keeper.title_bytes);
    if (pid < 0) {
        end_slot(slot, KEEPER_FAILED, errno);
        return;
    }
    keeper.pids[slot] = pid;
    keeper.alive++;
    atomic_store(&keeper.page->slots[slot].state, KEEPER_RUNS);
}

/* Returns the memory of an unused channel to the kernel. */
static void empty_slot(uint32_t slot)
{
    fallocate(KEEPER_MEMORY_FD, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
              keeper_slot_offset(slot), CHANNEL_BYTES);
}

/* Kills a helper with its process group. The helper leads a session of its own, and its pid is not
 * reused until it is reaped. */
static void kill_with_group(pid_t pid)
{
    kill(pid, SIGKILL);
    kill(-pid, SIGKILL);
}

/* Ends helpers that exceed their memory limit. Returns whether any helper has not answered yet. */
static bool look_at_memory(void)
{
    bool any = false;
    for (uint32_t slot = 0; slot < KEEPER_SLOTS; slot++) {
        if (!keeper.pids[slot] || !is_at_work(slot))
            continue;
        uint32_t resident_mib = memory_resident_mib(keeper.pids[slot]);
        any = true;
        if (resident_mib <= keeper.limits_mib[slot])
            continue;
        keeper.page->slots[slot].resident_mib = resident_mib;
        kill_with_group(keeper.pids[slot]);
    }
    return any;
}

static bool is_helper(pid_t pid)
{
    for (uint32_t slot = 0; slot < KEEPER_SLOTS; slot++)
        if (keeper.pids[slot] == pid)
            return true;
    return false;
}

/* Ends processes that helpers started and that lost their parent: they are children of this process
 * now, even if they have sessions of their own. */
static void end_orphans(void)
{
    char path[64];
    int pid;
    snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)keeper.self);
    FILE *file = keeper.children ? fopen(path, "re") : NULL;
    while (file && fscanf(file, "%d", &pid) == 1)
        if (!is_helper(pid))
            kill_with_group(pid);
    if (file)
        fclose(file);
}

static void follow_order(uint32_t slot)
{
    struct keeper_slot *shared = &keeper.page->slots[slot];
    uint32_t command = atomic_exchange(&shared->command, KEEPER_NOTHING);
    if (command == KEEPER_START)
        start_helper(slot);
    if (command == KEEPER_RELEASE && keeper.pids[slot])
        kill_with_group(keeper.pids[slot]);
    if (command == KEEPER_RELEASE)
        empty_slot(slot);
}

static void follow_orders(void)
{
    for (uint32_t slot = 0; slot < keeper.page->slot_count; slot++)
        if (atomic_load(&keeper.page->slots[slot].command))
            follow_order(slot);
}

static void fetch(pid_t pid)
{
    int status;
    uint32_t slot = 0;
    while (slot < KEEPER_SLOTS && keeper.pids[slot] != pid)
        slot++;
    bool helper = slot < KEEPER_SLOTS;
    if (helper)
        kill_with_group(pid); /* ends the processes that the helper started and left running */
    if (waitpid(pid, &status, 0) != pid || !helper)
        return;
    keeper.pids[slot] = 0;
    keeper.alive--;
    end_slot(slot, KEEPER_ENDED, status);
}

/* Reaps all children that have ended. This process is a subreaper, so the orphans of helpers become
 * its children too, not those of the client or of init. */
static void fetch_all(void)
{
    siginfo_t ended = {0};
    while (!waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) && ended.si_pid) {
        fetch(ended.si_pid);
        ended.si_pid = 0;
    }
}

/* ---- the end ---- */

/* Ends all helpers and the processes that they started, then exits. When a process ends, its
 * children become children of this process, which ends them in turn. */
static void leave(void)
{
    enum { GENERATIONS = 200 };
    for (uint32_t slot = 0; slot < KEEPER_SLOTS; slot++)
        if (keeper.pids[slot])
            kill_with_group(keeper.pids[slot]);
    for (int i = 0; keeper.children && i < GENERATIONS; i++) {
        const struct timespec moment = {0, 5000000};
        int status;
        pid_t pid;
        while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
            for (uint32_t slot = 0; slot < KEEPER_SLOTS; slot++)
                if (keeper.pids[slot] == pid)
                    keeper.pids[slot] = 0;
        if (pid < 0)
            break;
        end_orphans();
        nanosleep(&moment, NULL);
    }
    _exit(0);
}

/* True if no other process maps our page: the client has called exec, or has ended on a kernel
 * without pidfds. Bit 56 of a pagemap entry shows that, if this process may read it. */
static bool client_has_unmapped(void)
{
    uint64_t entry = 0;
    off_t at = (off_t)((uintptr_t)keeper.page / CHANNEL_PAGE * sizeof(entry));
    bool read_it =
        keeper.pagemap >= 0 && pread(keeper.pagemap, &entry, sizeof(entry), at) == sizeof(entry);
    return read_it && entry >> 63 && (entry >> 56 & 1);
}

/* Exits if there are no helpers. The client increments the word `request` to send a request, this
 * process stores KEEPER_LEFT in that word to exit: whichever comes first counts. */
static void leave_if_idle(void)
{
    int64_t now = clock_ticks();
    if (keeper.alive)
        keeper.idle_since = now;
    if (now - keeper.idle_since < KEEPER_IDLE_SECONDS * (int64_t)CLOCK_TICKS_PER_SECOND)
        return;
    uint32_t number = atomic_load(&keeper.page->request.value);
    for (uint32_t slot = 0; slot < keeper.page->slot_count; slot++)
        if (atomic_load(&keeper.page->slots[slot].command))
            return;
    if (atomic_compare_exchange_strong(&keeper.page->request.value, &number, KEEPER_LEFT))
        leave();
}

/* ---- the work ---- */

enum { EVERY_MILLISECONDS = 5000, CALLS = 0, ENDS, CLIENT, SOURCES };
enum { AT_WORK_MILLISECONDS = 100, CHILDREN_MILLISECONDS = 1000 };

static void work(struct pollfd sources[SOURCES])
{
    static bool at_work;
    char read_away[sizeof(struct signalfd_siginfo)];
    poll(sources, SOURCES,
         at_work           ? AT_WORK_MILLISECONDS
         : keeper.children ? CHILDREN_MILLISECONDS
                           : EVERY_MILLISECONDS);
    if (sources[CLIENT].revents & POLLIN || keeper.page->version != CHANNEL_VERSION)
        leave();
    for (size_t i = CALLS; i <= ENDS; i++)
        if (sources[i].revents & POLLIN && read(sources[i].fd, read_away, sizeof(read_away)) < 0)
            sources[i].revents = 0; /* check all sources, because poll() may also return for another
                                     * reason */
    fetch_all();
    follow_orders();
    at_work = look_at_memory();
    end_orphans();
    leave_if_idle();
    if (!sources[CALLS].revents && !sources[ENDS].revents && client_has_unmapped())
        leave();
}

static int start_keeper(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setsid();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    keeper.self = getpid();
    if (!map_page())
        return EXIT_FAILURE;
    bool client_is_known = fcntl(KEEPER_CLIENT_FD, F_GETFD) >= 0;
    keeper.pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    prctl(PR_SET_DUMPABLE,
          0); /* no core dump; helpers of the same user cannot access our memory through /proc */
    helper_prepare();
    sandbox_prepare();
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    struct pollfd sources[SOURCES] = {
        [CLIENT] = {.fd = KEEPER_CLIENT_FD, .events = POLLIN},
        [CALLS] = {                 .fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),                      .events = POLLIN},
        [ENDS] = { .fd = signalfd(-1,    &child,                      SFD_CLOEXEC | SFD_NONBLOCK), .events = POLLIN},
    };
    if (!client_is_known)
        sources[CLIENT].fd = -1;
    if (!watch_start(keeper.page, sources[CALLS].fd))
        return EXIT_FAILURE;
    keeper.idle_since = clock_ticks();
    follow_orders();
    for (;;)
        work(sources);
}

int main(int argc, char **argv)
{
    static char name[] = "perfhost";
    if (argc == 4 && strcmp(argv[1], "3") == 0 && strcmp(argv[2], "4") == 0) {
        /* libc's names of the program point into the title, which is overwritten next; error
         * messages of providers should still begin with the program's name */
        program_invocation_short_name = program_invocation_name = name;
        keeper.title = argv[0];
        keeper.title_bytes = (size_t)(argv[3] + strlen(argv[3]) - argv[0]);
        memset(keeper.title, 0, keeper.title_bytes);
        snprintf(keeper.title, keeper.title_bytes, "perfhost: starts helpers");
        return start_keeper();
    }
    puts("perfhost runs performance-counter providers for openperflib, which starts it; it is "
         "not meant to be run by hand");
    return argc != 2 || strcmp(argv[1], "--help") != 0;
}
