/* SPDX-License-Identifier: MIT */
/*
 * Starting perfhost inside a stranger's program, and ending it. Everything that needs descriptors
 * happens apart (apart.c): the program's own table never has one of ours, neither for a moment nor
 * for ever. (house section 0a)
 */
#include "host/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((no_sanitize("address", "undefined")))

extern char **environ;

/* What the child apart is given, and what it leaves. */
struct start {
    const char *file;
    char **environment;
    pid_t client, pid;
    uint64_t identity;
    struct channel *channel;
    const char *step; /* what was being done when `error` came */
    int error;
};

APART static int give_memory_size(int fd)
{
    /* the program's limit on files is not meant for this, and the child's is its own */
    struct rlimit limit;
    if (!getrlimit(RLIMIT_FSIZE, &limit)) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    if (ftruncate(fd, CHANNEL_BYTES))
        return -1;
    return fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
}

APART static bool make_memory(struct start *start)
{
    start->step = "memfd_create";
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u /* Linux 6.3; some systems demand it */
#endif
    int fd = memfd_create("openperflib", MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
    if (fd < 0 && errno == EINVAL)
        fd = memfd_create("openperflib", MFD_ALLOW_SEALING);
    if (fd < 0)
        return false;
    start->step = "sealing shared memory";
    if (give_memory_size(fd) || (fd != CHANNEL_FD && dup2(fd, CHANNEL_FD) < 0))
        return false;
    start->step = "mapping shared memory";
    void *memory =
        mmap(NULL, CHANNEL_ROOM_OFFSET, PROT_READ | PROT_WRITE, MAP_SHARED, CHANNEL_FD, 0);
    if (memory == MAP_FAILED)
        return false;
    start->channel = memory;
    return madvise(memory, CHANNEL_ROOM_OFFSET, MADV_DONTFORK) == 0;
}

/* 0, 1 and 2 lead nowhere; a chroot may have no /dev. */
APART static bool occupy_standard(void)
{
    int fd = open("/dev/null", O_RDWR);
    if (fd < 0)
        fd = open("/", O_PATH);
    return fd == 0 && dup(0) == 1 && dup(0) == 2;
}

APART static int become_helper(void *argument)
{
    struct start *start = argument;
    char *const arguments[] = {"perfhost", "3", "4", NULL};
    execve(start->file, arguments, start->environment);
    start->error = errno;
    _exit(127);
}

APART static void start_apart(void *argument)
{
    struct start *start = argument;
    start->error = 0;
    start->step = "standard descriptors";
    bool good = occupy_standard() && make_memory(start);
    if (good) {
        /* where the kernel has none the helper looks who maps its memory */
        int client = (int)syscall(SYS_pidfd_open, start->client, 0);
        if (client >= 0)
            fcntl(client, F_SETFD, 0);
        start->channel->mark = start->channel->end_mark = CHANNEL_MARK;
        start->channel->version = CHANNEL_VERSION;
        start->channel->answer.value = CHANNEL_OWED;
        start->step = "clone";
        start->pid = apart_spawn(become_helper, start);
        good = start->pid > 0;
        if (good)
            start->step = "exec";
        if (good && !start->error)
            start->identity = apart_identity(start->pid);
    }
    if (!good)
        start->error = errno ? errno : EIO;
    if (start->error && start->channel)
        munmap(start->channel, CHANNEL_ROOM_OFFSET);
}

/* LD_* would load into the helper what belongs to the program. */
static char **helper_environment(void)
{
    size_t count = 0, kept = 0;
    while (environ && environ[count])
        count++;
    char **environment = calloc(count + 1, sizeof(*environment));
    for (size_t i = 0; environment && i < count; i++)
        if (strncmp(environ[i], "LD_", 3) != 0 && strncmp(environ[i], "GLIBC_TUNABLES=", 15) != 0)
            environment[kept++] = environ[i];
    return environment;
}

static void explain(const struct start *start, char *text, size_t room)
{
    bool file_is_at_fault = strcmp(start->step, "exec") == 0;
    snprintf(
        text, room, "%s%s%s: %s; %s", start->step, file_is_at_fault ? " of " : "",
        file_is_at_fault ? start->file : "", status_text(status_from_errno(start->error)),
        file_is_at_fault
            ? "the program may not start it here: install it, let the program start processes, "
              "or set Performance\\Isolation to 0"
            : "let the program do this, or set Performance\\Isolation to 0");
}

/* One at a time, and no fork() meanwhile: a child must not inherit half a channel. */
static LSTATUS run_start(struct start *start)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    lock_take(&lock);
    start->step = "clone";
    int error = apart_run(start_apart, start);
    lock_release(&lock);
    if (error)
        start->error = error;
    return status_from_errno(start->error);
}

LSTATUS helper_start(struct helper **ret, char *text, size_t room)
{
    FREE_AUTO char *file = text_format("%s/helper/perfhost", place_vendor());
    FREE_AUTO char **environment = helper_environment();
    struct helper *helper = calloc(1, sizeof(*helper));
    if (!file || !environment || !helper) {
        free(helper);
        snprintf(text, room, "no memory");
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    struct start start = {
        .file = file, .environment = environment, .client = getpid(), .error = EIO};
    LSTATUS status = run_start(&start);
    if (status) {
        explain(&start, text, room);
        free(helper);
        return status;
    }
    *helper = (struct helper){.channel = start.channel,
                              .mapped = CHANNEL_ROOM_OFFSET,
                              .pid = start.pid,
                              .client = start.client,
                              .identity = start.identity};
    *ret = helper;
    return ERROR_SUCCESS;
}

/* Grows without a descriptor: the mapping knows its file. */
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
    return helper->client == getpid();
}

struct look {
    const struct helper *helper;
    bool kill, found;
};

APART static void look_apart(void *argument)
{
    struct look *look = argument;
    pid_t pid = look->helper->pid;
    /* opened before it is identified: what is signalled then is what was identified */
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    uint64_t identity = look->helper->identity;
    look->found = identity ? apart_identity(pid) == identity : !look->kill && !kill(pid, 0);
    if (!look->found || !look->kill)
        return;
    if (fd < 0 || syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0))
        kill(pid, SIGKILL);
    kill(-pid, SIGKILL); /* what it started: it leads a group of its own */
}

static bool look_for(const struct helper *helper, bool kill_it)
{
    struct look look = {.helper = helper, .kill = kill_it};
    if (apart_run(look_apart, &look))
        look_apart(&look);
    return look.found;
}

bool helper_exists(const struct helper *helper)
{
    return look_for(helper, false);
}

void helper_end(struct helper *helper)
{
    if (helper_is_ours(helper)) {
        if (look_for(helper, true))
            waitpid(helper->pid, NULL, WNOHANG); /* orphans are ours where we are init */
        munmap(helper->channel, helper->mapped);
    }
    free(helper);
}
