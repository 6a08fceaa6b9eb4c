/* SPDX-License-Identifier: MIT */
/*
 * A provider of misdeeds: each Collect procedure does something to its own process, or tries to
 * reach another process. Only in a helper process can such a provider run without harm; see
 * kinds.c. Every deed is limited in time and memory, and none can harm more than the helper
 * process, the querying program and the test's folder.
 */
#include "third_party.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>

/* DEED(name, statement...) defines a procedure that does this, then returns a correct answer. */
#define DEED(name, ...)                                                                            \
    COLLECT(deed_##name);                                                                          \
    COLLECT(deed_##name)                                                                           \
    {                                                                                              \
        unsigned char *start = *data;                                                              \
        DWORD capacity = *bytes;                                                                   \
        (void)start, (void)capacity;                                                               \
        __VA_ARGS__;                                                                               \
        return third_party_answer(data, bytes, types);                                             \
    }
#define OPEN_DEED(name, ...)                                                                       \
    EXPORT DWORD open_##name(LPWSTR names);                                                        \
    DWORD open_##name(LPWSTR names)                                                                \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        return ERROR_SUCCESS;                                                                      \
    }
#define CLOSE_DEED(name, ...)                                                                      \
    EXPORT DWORD close_##name(void);                                                               \
    DWORD close_##name(void)                                                                       \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        return ERROR_SUCCESS;                                                                      \
    }

static void *volatile nowhere;
static volatile int zero;
static jmp_buf left_frame;
static const struct timespec tick = {0, 1000000};

static void crash(void)
{
    *(volatile int *)nowhere = 1;
}

static void loop(void)
{
    for (;;)
        zero = 0;
}

static void sleep_for_ever(void)
{
    for (;;)
        sleep(3600);
}

/* Appends to $OPENPERFLIB_ROOT/notes whether an attempt was refused, as it should be, or
 * allowed. */
static void note_refusal(long result)
{
    third_party_note(result < 0 ? "refused" : "allowed");
}

/* ---- crashes and exits ---- */

static unsigned char *recurse(unsigned char *above)
{
    volatile unsigned char frame[4096];
    frame[0] = *above;
    return zero ? above : recurse((unsigned char *)frame) + frame[0];
}

/* Takes at most 1.5 GiB, and writes to every page. */
static void eat_memory(void)
{
    for (int i = 0; i < 24; i++) {
        void *piece = malloc(64 << 20);
        if (!piece)
            return;
        memset(piece, 1, 64 << 20);
    }
}

static void jump_wild(void)
{
    void (*volatile wild)(void);
    uintptr_t address = 8;
    memcpy((void *)&wild, &address, sizeof wild);
    wild();
}

static void unload_itself(void)
{
    Dl_info info;
    void *self = dladdr(&left_frame, &info) ? dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
    for (int i = 0; self && i < 3; i++)
        dlclose(self);
}

DEED(crash, crash())
DEED(jumps_wild, jump_wild())
DEED(divides_by_0, zero = 7 / zero)
DEED(illegal_instruction, __builtin_trap())
DEED(aborts, abort())
DEED(exits, exit(0))
DEED(exits_at_once, _exit(3))
DEED(kills_itself, kill(getpid(), SIGKILL))
DEED(overflows_the_stack, unsigned char seed = 1; recurse(&seed))
DEED(eats_memory, eat_memory())
DEED(unloads_itself, unload_itself())
DEED(jumps_out, longjmp(left_frame, 1))
DEED(ends_its_thread, pthread_exit(NULL))
DEED(frees_the_buffer, free(start))
DEED(unmaps_the_buffer, munmap((void *)((uintptr_t)start & ~(uintptr_t)4095), capacity))
DEED(protects_the_buffer,
     mprotect((void *)((uintptr_t)start & ~(uintptr_t)4095), capacity, PROT_NONE))
DEED(strict_seccomp, prctl(PR_SET_SECCOMP, 1))
DEED(writes_well_below, memset(start - (256 << 20), 0x5a, 4096))
DEED(writes_well_above, memset(start + capacity + (256 << 20), 0x5a, 4096))
OPEN_DEED(fine, setjmp(left_frame))
OPEN_DEED(crash, crash())
OPEN_DEED(exits, exit(0))
OPEN_DEED(denied, return ERROR_ACCESS_DENIED)
CLOSE_DEED(fine, )
CLOSE_DEED(crash, crash())
CLOSE_DEED(exits, exit(0))
CLOSE_DEED(fails, return ERROR_GEN_FAILURE)

/* ---- never returning ---- */

static void block_everything(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
}

static void ignore_everything(void)
{
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_IGN);
}

static void become_sleep(void)
{
    execl("/bin/sleep", "sleep", "3", (char *)NULL);
}

DEED(loops, loop())
DEED(loops_deaf, block_everything(); ignore_everything(); loop())
DEED(sleeps, sleep_for_ever())
DEED(stops_itself, kill(getpid(), SIGSTOP))
DEED(becomes_another_program, become_sleep())
DEED(sleeps_50_ms, usleep(50000))
OPEN_DEED(loops, loop())
OPEN_DEED(sleeps, sleep_for_ever())
CLOSE_DEED(loops, loop())
CLOSE_DEED(sleeps, sleep_for_ever())

/* ---- descriptors and shared memory ---- */

static void each_descriptor(void (*act)(int descriptor))
{
    for (int i = 0; i < 1024; i++)
        if (fcntl(i, F_GETFD) >= 0)
            act(i);
}

static void truncate_it(int descriptor)
{
    note_refusal(ftruncate(descriptor, 0));
}

static void fill_it(int descriptor)
{
    char junk[4096];
    memset(junk, 0xff, sizeof junk);
    for (int i = 0; i < 4; i++)
        if (write(descriptor, junk, sizeof junk) < 0)
            return;
}

static void replace_all(void)
{
    closefrom(0);
    for (int i = 0; i < 64; i++)
        open("/dev/zero", O_RDWR);
}

/* Overwrites all memory that the process shares with other processes. */
static void overwrite(int byte)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512], rights[5];
    uintptr_t from, to;
    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &from, &to, rights) == 3 &&
            strcmp(rights, "rw-s") == 0)
            memset((void *)from, byte, to - from);
    if (maps)
        fclose(maps);
}

static void *overwrite_repeatedly(void *unused)
{
    for (int i = 0; i < 300; i++) {
        overwrite(i);
        nanosleep(&tick, NULL);
    }
    return unused;
}

static void start_thread(void *(*body)(void *), void *argument)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, body, argument) == 0)
        pthread_detach(thread);
}

DEED(closes_all, closefrom(0))
DEED(replaces_all, replace_all())
DEED(writes_to_all, each_descriptor(fill_it))
DEED(truncates_all, each_descriptor(truncate_it))
DEED(overwrites_ones, overwrite(0xff))
DEED(overwrites_zeros, overwrite(0))
DEED(overwrites_and_dies, overwrite(0x7f); _exit(0))
DEED(overwrites_and_sleeps, overwrite(1); sleep_for_ever())
DEED(overwrites_in_a_thread, start_thread(overwrite_repeatedly, NULL))
DEED(prints, for (int i = 0; i < 20000; i++) printf("a provider should not print %d\n", i);
     fflush(stdout))
DEED(prints_errors, for (int i = 0; i < 2000; i++) fprintf(stderr, "nor complain %d\n", i))
DEED(reads_input, char line[64]; while (fgets(line, sizeof line, stdin)) continue)

/* ---- changing the answer later ---- */

struct changed {
    unsigned char *start;
    int rounds;
};

static void *change_answer(void *argument)
{
    struct changed *changed = argument;
    for (int i = 0; i < changed->rounds; i++)
        for (int field = 0; field < ANSWER_SIZE; field += 4)
            *(volatile DWORD *)(changed->start + field) = i & 1 ? 0xffffffff : 0;
    return NULL;
}

static void change_soon(unsigned char *start, int rounds)
{
    static struct changed changed;
    changed = (struct changed){start, rounds};
    start_thread(change_answer, &changed);
}

DEED(changes_during, change_soon(start, 100000))
DEED(changes_after, change_soon(start, 1000000))

/* ---- processes and threads that outlive Collect ---- */

static void *run_on(void *unused)
{
    struct timespec now, end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while (now.tv_sec < end.tv_sec + 2);
    return unused;
}

static void leave_threads(int count)
{
    for (int i = 0; i < count; i++)
        start_thread(run_on, NULL);
}

static pid_t start_child(void)
{
    pid_t child = fork();
    if (child != 0)
        note_refusal(child);
    return child;
}

static void leave_child(void)
{
    if (start_child() != 0)
        return;
    for (int i = 0; i < 20; i++) {
        usleep(10000);
        overwrite(0xff);
        each_descriptor(fill_it);
    }
    _exit(0);
}

static void leave_children(int count)
{
    for (int i = 0; i < count; i++)
        if (start_child() == 0) {
            usleep(300000);
            _exit(0);
        }
}

DEED(leaves_threads, leave_threads(3))
DEED(leaves_a_child, leave_child())
DEED(leaves_many_children, leave_children(100))
DEED(child_dies, if (start_child() == 0) crash())

/* ---- changing the state of the process ---- */

static void on_signal(int number)
{
    third_party_note("a provider's handler ran");
}

static void handle_everything(void)
{
    for (int number = 1; number < NSIG; number++)
        signal(number, on_signal);
}

static void limit(int resource)
{
    struct rlimit none = {0, 0};
    setrlimit(resource, &none);
}

static void set_timer(void)
{
    struct itimerval soon = {
        {0, 0    },
        {0, 20000}
    };
    setitimer(ITIMER_REAL, &soon, NULL);
}

DEED(handles_signals, handle_everything())
DEED(ignores_signals, ignore_everything())
DEED(blocks_signals, block_everything())
DEED(limits_descriptors, limit(RLIMIT_NOFILE))
DEED(limits_memory, limit(RLIMIT_AS))
DEED(limits_files, limit(RLIMIT_FSIZE))
DEED(limits_processes, limit(RLIMIT_NPROC))
DEED(changes_folder, if (chdir("/proc") == 0) umask(0777))
DEED(changes_environment, clearenv(); setenv("LC_ALL", "tr_TR.UTF-8", 1))
DEED(changes_locale, setlocale(LC_ALL, "de_DE.UTF-8"))
DEED(changes_user, if (setgid(65534) || setuid(65534)) third_party_note("no other user"))
DEED(lowers_priority, setpriority(PRIO_PROCESS, 0, 19))
DEED(sets_a_timer, set_timer())
DEED(changes_its_name, prctl(PR_SET_NAME, "init"); prctl(PR_SET_DUMPABLE, 0))

/* ---- attacks on other processes ---- */

/* The querying process, whose number the test has written to a file. */
static pid_t client(void)
{
    char path[256], number[16] = "";
    snprintf(path, sizeof path, "%s/client", getenv("OPENPERFLIB_ROOT"));
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0 && read(file, number, sizeof number - 1) > 0)
        close(file);
    pid_t pid = atoi(number);
    return pid > 1 ? pid : getpid();
}

static long write_into(pid_t pid)
{
    char byte = 'x';
    struct iovec from = {&byte, 1}, to = {(void *)0x1000, 1};
    long result = process_vm_writev(pid, &from, 1, &to, 1, 0);
    return result < 0 && errno == EPERM ? -1 : 0;
}

static long send_by_descriptor(pid_t pid)
{
    int descriptor = (int)syscall(SYS_pidfd_open, pid, 0);
    return syscall(SYS_pidfd_send_signal, descriptor, SIGKILL, NULL, 0);
}

static long trace(pid_t pid)
{
    long result = ptrace(PTRACE_ATTACH, pid, NULL, NULL);
    if (result == 0)
        ptrace(PTRACE_DETACH, pid, NULL, NULL);
    return result;
}

DEED(kills_its_group, kill(0, SIGTERM))
DEED(kills_its_parent, note_refusal(kill(getppid(), SIGTERM)))
DEED(kills_the_client, note_refusal(kill(client(), SIGKILL)))
DEED(kills_the_client_by_thread, note_refusal(syscall(SYS_tgkill, client(), client(), SIGKILL)))
DEED(kills_the_client_by_descriptor, note_refusal(send_by_descriptor(client())))
DEED(queues_a_signal, note_refusal(sigqueue(client(), SIGTERM, (union sigval){0})))
DEED(traces_the_client, note_refusal(trace(client())))
DEED(writes_into_the_client, note_refusal(write_into(client())))
DEED(mounts,
     note_refusal(mount("none", "/nonexistent", "tmpfs", 0, NULL) == 0 || errno != EPERM ? 0 : -1))
DEED(uses_bpf, note_refusal(syscall(SYS_bpf, 0, NULL, 0) < 0 && errno == EPERM ? -1 : 0))
DEED(loads_a_module,
     note_refusal(syscall(SYS_finit_module, -1, "", 0) < 0 && errno == EPERM ? -1 : 0))
