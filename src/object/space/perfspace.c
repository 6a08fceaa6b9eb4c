/* SPDX-License-Identifier: MIT */
/*
 * perfspace, the program that reads the sizes of file systems served by other machines or programs,
 * so that only this program can hang. space.c of the library starts it, with the shared memory as
 * its only descriptor besides 0, 1 and 2; it forks a child for each file system, and exits when the
 * last child has ended. A child that has not answered in time is killed, if the kernel allows that.
 */
#include "object/space/perfspace.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t children[SPACE_MOST];

static void finish(struct space_page *page, struct space_slot *slot, enum space_state state)
{
    atomic_store(&slot->state, state);
    atomic_fetch_add(&page->done, 1);
    syscall(SYS_futex, &page->done, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void read_slot(struct space_page *page, struct space_slot *slot)
{
    struct statfs now;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (statfs(slot->path, &now) != 0) {
        finish(page, slot, SPACE_REFUSED);
        return;
    }
    uint64_t block = (uint64_t)(now.f_frsize ? now.f_frsize : now.f_bsize);
    slot->size = block * now.f_blocks;
    slot->free = block * now.f_bfree;
    slot->available = block * now.f_bavail;
    finish(page, slot, SPACE_ANSWERED);
}

static void read_slots(struct space_page *page)
{
    for (uint32_t i = 0; i < page->count; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            read_slot(page, &page->slots[i]);
            _exit(0);
        }
        if (children[i] < 0)
            finish(page, &page->slots[i], SPACE_REFUSED);
    }
}

static void kill_all(struct space_page *page)
{
    for (uint32_t i = 0; i < page->count; i++)
        if (children[i] > 0)
            kill(children[i], SIGKILL);
}

/* Marks the request of a child that ended without an answer as refused. */
static void forget(struct space_page *page, pid_t pid)
{
    for (uint32_t i = 0; i < page->count; i++) {
        if (children[i] != pid)
            continue;
        children[i] = 0;
        if (atomic_load(&page->slots[i].state) == SPACE_REQUESTED)
            finish(page, &page->slots[i], SPACE_REFUSED);
    }
}

static void time_out(int signal)
{
    (void)signal;
}

/* Undoes what this process inherited: signal handling and the signal mask (all signals are blocked
 * at first), the session, and the working folder, whose file system could not be unmounted. */
static void begin_anew(void)
{
    struct sigaction alarms = {.sa_handler = time_out}, usual = {.sa_handler = SIG_DFL};
    sigset_t none;
    sigaction(SIGALRM, &alarms, NULL);
    sigaction(SIGCHLD, &usual, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    if (chdir("/") != 0)
        _exit(1);
}

static int serve(void)
{
    struct stat memory;
    if (fstat(SPACE_MEMORY_FD, &memory) != 0)
        return 1;
    struct space_page *page =
        mmap(NULL, (size_t)memory.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, SPACE_MEMORY_FD, 0);
    if (page == MAP_FAILED || page->count > SPACE_MOST ||
        (size_t)memory.st_size < sizeof *page + page->count * sizeof *page->slots)
        return 1;
    begin_anew();
    read_slots(page);
    alarm(SPACE_TIMEOUT_S);
    for (pid_t pid; (pid = wait(NULL)) > 0 || errno == EINTR;) {
        if (pid > 0)
            forget(page, pid);
        else
            kill_all(page);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "3") == 0)
        return serve();
    puts("perfspace reads the free space of network file systems for openperflib, which starts "
         "it; it is not meant to be run by hand");
    return argc != 2 || strcmp(argv[1], "--help") != 0;
}
