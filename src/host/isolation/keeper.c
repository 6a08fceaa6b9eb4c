/* SPDX-License-Identifier: MIT */
/*
 * Starts a keeper from within a third-party program, and requests helpers from it. Everything that
 * needs descriptors runs in a detached child (src/base/detached.c), so the program's own descriptor
 * table never contains one of this library. (docs/isolation.md)
 */
#include "host/isolation/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct keeper {
    struct keeper_page *page; /* the keeper's page, followed by the first page of each channel that
                               * is not in use yet */
    pid_t pid, client;
    /* number of slots, and how many of them were used already; each slot is used only once */
    uint32_t slot_count, used;
    /* number of references to this keeper: from helpers, and from `current` */
    uint32_t users;
};

/* The arguments and results of the detached child. */
struct keeper_start {
    const char *file;
    char **environment;
    pid_t client, pid;
    struct keeper_page *page;
    uint32_t slot_count;
    const char *step; /* text of the step that failed with `error` */
    int error, exec_error;
};

/* ---- in the detached child ---- */

/* Opens /dev/null as descriptors 0, 1 and 2. Without /dev, as in a chroot, it opens "/" with
 * O_PATH, which can be neither read nor written. */
DETACHED static bool occupy_standard(void)
{
    int fd = open("/dev/null", O_RDWR);
    if (fd < 0)
        fd = open("/", O_PATH);
    return fd == 0 && dup(0) == 1 && dup(0) == 2;
}

/* Raises a limit to its hard limit: the program's soft limits are not meant for perfhost, which
 * sets its own. */
DETACHED static void raise_limit(int what)
{
    struct rlimit limit;
    if (getrlimit(what, &limit))
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(what, &limit);
}

/* Sets the size of the shared memory. If RLIMIT_FSIZE is too small for all slots, the memory gets
 * fewer slots. */
DETACHED static bool set_size(struct keeper_start *start)
{
    raise_limit(RLIMIT_FSIZE);
    for (start->slot_count = KEEPER_SLOTS; start->slot_count; start->slot_count /= 2)
        if (!ftruncate(KEEPER_MEMORY_FD, keeper_slot_offset(start->slot_count)))
            break;
    return start->slot_count &&
           !fcntl(KEEPER_MEMORY_FD, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
}

DETACHED static bool make_memory(struct keeper_start *start)
{
    start->step = "memfd_create";
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u /* flag of Linux 6.3, which some systems require */
#endif
    int fd = memfd_create("openperflib", MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
    if (fd < 0 && errno == EINVAL)
        fd = memfd_create("openperflib", MFD_ALLOW_SEALING);
    if (fd != KEEPER_MEMORY_FD)
        return false;
    start->step = "sealing shared memory";
    return set_size(start);
}

/* Maps the keeper's page and the first page of each channel, one after the other. */
DETACHED static bool map_memory(struct keeper_start *start)
{
    start->step = "mapping shared memory";
    size_t size = (1 + (size_t)start->slot_count) * CHANNEL_PAGE;
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, KEEPER_MEMORY_FD, 0);
    if (memory == MAP_FAILED)
        return false;
    start->page = (struct keeper_page *)(void *)memory;
    for (uint32_t slot = 1; slot < start->slot_count; slot++)
        if (mmap(memory + (1 + (size_t)slot) * CHANNEL_PAGE, CHANNEL_PAGE, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_FIXED, KEEPER_MEMORY_FD, keeper_slot_offset(slot)) == MAP_FAILED)
            return false;
    start->page->version = CHANNEL_VERSION;
    start->page->slot_count = start->slot_count;
    return madvise(memory, size, MADV_DONTFORK) == 0;
}

DETACHED static int become_keeper(void *argument)
{
    struct keeper_start *start = argument;
    /* helpers overwrite the last argument with their service's name, for ps */
    char *const arguments[] = {"perfhost", "3", "4", KEEPER_TITLE_SIZE, NULL};
    execve(start->file, arguments, start->environment);
    start->exec_error = errno;
    _exit(127);
}

DETACHED static bool spawn_keeper(struct keeper_start *start)
{
    /* without a pidfd the keeper checks whether another process, the client, still maps the
     * keeper's memory */
    int client = (int)syscall(SYS_pidfd_open, start->client, 0);
    if (client == KEEPER_CLIENT_FD)
        fcntl(client, F_SETFD, 0);
    start->step = "clone";
    start->pid = detached_spawn(become_keeper, start);
    return start->pid > 0;
}

DETACHED static void start_detached(void *argument)
{
    struct keeper_start *start = argument;
    start->step = "opening the standard descriptors";
    raise_limit(RLIMIT_NOFILE);
    if (!occupy_standard() || !make_memory(start) || !map_memory(start) || !spawn_keeper(start)) {
        start->error = errno ? errno : EIO;
    } else {
        start->step = "exec";
        start->error = start->exec_error;
    }
    if (start->error && start->page)
        munmap(start->page, (1 + (size_t)start->slot_count) * CHANNEL_PAGE);
}

/* ---- in the program ---- */

static LSTATUS explain(const struct keeper_start *start, char *text, size_t size)
{
    LSTATUS status = status_from_errno(start->error);
    bool exec = strcmp(start->step, "exec") == 0;
    snprintf(text, size,
             "%s%s%s: %s; install perfhost and let the program start it, or set "
             "Performance\\Isolation to 0",
             start->step, exec ? " of " : "", exec ? start->file : "", status_text(status));
    return status;
}

static void run_start(struct keeper_start *start)
{
    start->step = "clone into a PID namespace that has no process 1 yet";
    start->error = EPERM;
    if (detached_would_be_process_1())
        return;
    start->step = "clone";
    start->error = EIO; /* this error stays if the detached child is killed */
    int error = detached_run(start_detached, start);
    start->error = error ? error : start->error;
}

static LSTATUS keeper_new(struct keeper **ret, char *text, size_t size)
{
    char why[TRUST_TEXT];
    FREE_AUTO char *file = text_format("%s/helper/perfhost", place_vendor());
    LSTATUS status = file ? trust_check_program(file, why) : ERROR_SUCCESS;
    if (status) {
        snprintf(text, size, "%s", why);
        return status;
    }
    FREE_AUTO char **environment = environment_new(ENVIRONMENT_FOR_HELPER);
    struct keeper *keeper = calloc(1, sizeof(*keeper));
    struct keeper_start start = {.file = file, .environment = environment, .client = getpid()};
    start.step = "allocation";
    start.error = ENOMEM;
    if (file && environment && keeper)
        run_start(&start);
    if (start.error) {
        free(keeper);
        return explain(&start, text, size);
    }
    *keeper = (struct keeper){.page = start.page,
                              .pid = start.pid,
                              .client = start.client,
                              .slot_count = start.slot_count};
    *ret = keeper;
    return ERROR_SUCCESS;
}

/* Held while keepers and channels change. fork() waits for this lock, so that a child never has a
 * half-made channel. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct keeper *current;

static char *first_page(const struct keeper *keeper, uint32_t slot)
{
    return (char *)keeper->page + (1 + (size_t)slot) * CHANNEL_PAGE;
}

/* Frees the keeper's data after its last user. Only the process that mapped the pages unmaps them:
 * a child of fork() does not have them, and may have something else at their addresses. */
static void drop_user(struct keeper *keeper)
{
    if (--keeper->users)
        return;
    if (keeper->client == getpid()) {
        for (uint32_t slot = keeper->used; slot < keeper->slot_count; slot++)
            munmap(first_page(keeper, slot), CHANNEL_PAGE);
        munmap(keeper->page, CHANNEL_PAGE);
    }
    free(keeper);
}

/* True if the keeper's page was overwritten, or its memory released: then the keeper is not trusted
 * any more. */
static bool is_broken(const struct keeper *keeper)
{
    return keeper->page->version != CHANNEL_VERSION ||
           keeper->page->slot_count != keeper->slot_count;
}

static bool has_left(const struct keeper *keeper)
{
    return is_broken(keeper) || atomic_load(&keeper->page->request.value) == KEEPER_LEFT ||
           atomic_load(&keeper->page->life.value) & FUTEX_OWNER_DIED;
}

/* Wakes the keeper by incrementing the request; false: it has exited. */
static bool keeper_call(struct keeper *keeper)
{
    _Atomic uint32_t *request = &keeper->page->request.value;
    uint32_t number = atomic_load(request), next;
    do {
        if (number == KEEPER_LEFT)
            return false;
        next = number + 1 == KEEPER_LEFT ? 0 : number + 1;
    } while (!atomic_compare_exchange_weak(request, &number, next));
    channel_wake(request);
    return true;
}

static LSTATUS find_keeper(char *text, size_t size)
{
    if (current && (current->client != getpid() || current->used == current->slot_count ||
                    has_left(current))) {
        if (current->client == getpid())
            /* a keeper with a damaged page notices the damage when it wakes, and exits */
            keeper_call(current);
        drop_user(current);
        current = NULL;
    }
    LSTATUS status = current ? ERROR_SUCCESS : keeper_new(&current, text, size);
    if (!status && !current->users)
        current->users = 1;
    return status;
}

static LSTATUS take_slot(struct helper *helper, char *text, size_t size)
{
    LSTATUS status = find_keeper(text, size);
    if (status)
        return status;
    *helper =
        (struct helper){.keeper = current,
                        .channel = (struct channel *)(void *)first_page(current, current->used),
                        .mapped = CHANNEL_PAGE,
                        .slot = current->used};
    helper->channel->mark = helper->channel->end_mark = CHANNEL_MARK;
    current->used++;
    current->users++;
    return ERROR_SUCCESS;
}

LSTATUS helper_new(struct helper **ret, char *text, size_t size)
{
    struct helper *helper = calloc(1, sizeof(*helper));
    if (!helper) {
        snprintf(text, size, "%s", status_text(ERROR_NOT_ENOUGH_MEMORY));
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    lock_take(&lock);
    LSTATUS status = take_slot(helper, text, size);
    lock_release(&lock);
    if (status)
        free(helper);
    else
        *ret = helper;
    return status;
}

bool helper_start(struct helper *helper)
{
    atomic_store(&helper->keeper->page->slots[helper->slot].command, KEEPER_START);
    return keeper_call(helper->keeper);
}

/* Maps more of the channel by mremap, which needs no descriptor: the mapping itself refers to the
 * file. */
bool helper_map(struct helper *helper, size_t bytes)
{
    size_t wanted = (bytes + CHANNEL_PAGE - 1) / CHANNEL_PAGE * CHANNEL_PAGE;
    if (wanted <= helper->mapped)
        return true;
    void *memory = mremap(helper->channel, helper->mapped, wanted, MREMAP_MAYMOVE);
    if (memory == MAP_FAILED)
        return false;
    helper->channel = memory;
    helper->mapped = wanted;
    return true;
}

bool helper_is_ours(const struct helper *helper)
{
    return helper->keeper->client == getpid();
}

/* True if the process has ended. If this process is init or a subreaper, the ended process is its
 * child now and is reaped here. */
static bool has_ended(pid_t pid)
{
    int stands_for_init = getpid() == 1;
    if (!stands_for_init)
        prctl(PR_GET_CHILD_SUBREAPER, &stands_for_init);
    return (kill(pid, 0) && errno == ESRCH) ||
           (stands_for_init && waitpid(pid, NULL, WNOHANG) == pid);
}

bool helper_lost(const struct helper *helper, bool *ret_was_alive)
{
    const struct keeper *keeper = helper->keeper;
    uint32_t life = atomic_load(&keeper->page->life.value);
    *ret_was_alive = life != 0;
    return life ? (life & FUTEX_OWNER_DIED) != 0 : has_ended(keeper->pid);
}

void helper_watch(const struct helper *helper)
{
    keeper_call(helper->keeper);
}

enum keeper_state helper_state(const struct helper *helper, uint32_t *ret_status,
                               uint32_t *ret_resident_mib)
{
    const struct keeper_slot *slot = &helper->keeper->page->slots[helper->slot];
    uint32_t state = atomic_load(&slot->state);
    *ret_status = slot->status;
    *ret_resident_mib = slot->resident_mib;
    return (enum keeper_state)state;
}

void helper_end(struct helper *helper)
{
    if (helper_is_ours(helper)) {
        atomic_store(&helper->keeper->page->slots[helper->slot].command, KEEPER_RELEASE);
        keeper_call(helper->keeper);
        munmap(helper->channel, helper->mapped);
    }
    lock_take(&lock);
    drop_user(helper->keeper);
    lock_release(&lock);
    free(helper);
}
