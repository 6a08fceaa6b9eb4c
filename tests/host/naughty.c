/* SPDX-License-Identifier: MIT */
/* A provider that does all kinds of damage, each in a procedure of its own. The tests in isolate.c
 * choose which of these are Open, Collect and Close. It must never be loaded into the test's own
 * process. */
#include <winbase.h>
#include <windef.h>
#include <winerror.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sockios.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROCEDURE __attribute__((visibility("default"))) DWORD

static DWORD opened;

/* The text that a test wrote to the file of this name in OPENPERFLIB_ROOT; "": no file. */
static const char *given(const char *name)
{
    static char text[64];
    char path[512];
    const char *root = getenv("OPENPERFLIB_ROOT");
    snprintf(path, sizeof path, "%s/%s", root ? root : "/nowhere", name);
    FILE *file = fopen(path, "r");
    text[0] = '\0';
    if (file && !fgets(text, sizeof text, file))
        text[0] = '\0';
    if (file)
        fclose(file);
    return text;
}

/* Did the test choose this fault, by writing its name to the file "vice"? These faults happen
 * outside Open, Collect and Close, so a procedure's name cannot choose them. */
static int vice(const char *name)
{
    return strcmp(given("vice"), name) == 0;
}

static void crash(void)
{
    *(volatile int *)0x1234 = 1;
}

__attribute__((constructor)) static void construct(void)
{
    if (vice("constructor"))
        crash();
}

__attribute__((visibility("default"))) BOOL DllMain(HINSTANCE module, DWORD reason, LPVOID more)
{
    if (vice("attach") && reason == DLL_PROCESS_ATTACH)
        crash();
    if (vice("detach") && reason == DLL_PROCESS_DETACH)
        crash();
    return !vice("refuse");
}

static DWORD answer(LPVOID *data, LPDWORD bytes, LPDWORD objects, const char *text)
{
    memcpy(*data, text, strlen(text));
    *data = (char *)*data + strlen(text);
    *bytes = (DWORD)strlen(text);
    *objects = 1;
    return ERROR_SUCCESS;
}

PROCEDURE good_open(LPWSTR names)
{
    opened++;
    return names && names[0] == 'x' ? 5 : ERROR_SUCCESS;
}

PROCEDURE good_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    char text[64];
    snprintf(text, sizeof text, "%c%c:%u:%u:%d", (char)query[0], (char)query[1], (unsigned)*bytes,
             (unsigned)opened, (int)getpid());
    query[0] = query[1] = 'z'; /* changes only this process's copy of the query */
    return answer(data, bytes, objects, text);
}

PROCEDURE good_close(void)
{
    return 7;
}

/* ---- crashes and exits ---- */

PROCEDURE crash_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    crash();
    return ERROR_SUCCESS;
}

PROCEDURE crash_open(LPWSTR names)
{
    crash();
    return ERROR_SUCCESS;
}

PROCEDURE crash_close(void)
{
    crash();
    return ERROR_SUCCESS;
}

PROCEDURE abort_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    abort();
}

PROCEDURE exit_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    exit(3);
}

PROCEDURE _exit_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    _exit(4);
}

PROCEDURE kill_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    kill(getpid(), SIGKILL);
    return ERROR_SUCCESS;
}

/* Kills itself by SIGBUS. It is sent, not caused by a fault, so that no instruction is repeated
 * when the handler returns. */
PROCEDURE kill_bus_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    kill(getpid(), SIGBUS);
    return ERROR_SUCCESS;
}

PROCEDURE thread_exit_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    pthread_exit(NULL);
}

__attribute__((noinline)) static int deeper(volatile char *above)
{
    volatile char storage[4096];
    storage[0] = (char)(above ? above[0] + 1 : 0);
    return deeper(storage) + storage[0];
}

PROCEDURE overflow_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    return (DWORD)deeper(NULL);
}

/* ---- never returning ---- */

PROCEDURE loop_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    for (volatile int i = 0;; i++)
        ;
}

PROCEDURE nap_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    usleep(300000);
    return answer(data, bytes, objects, "late");
}

PROCEDURE nap_open(LPWSTR names)
{
    usleep(300000);
    return ERROR_SUCCESS;
}

PROCEDURE stop_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    raise(SIGSTOP);
    return ERROR_SUCCESS;
}

PROCEDURE hang_close(void)
{
    for (;;)
        pause();
}

/* ---- attacks on other processes ---- */

/* Tries to kill the client and the keeper, to read the client's memory, and to mount. Answers with
 * the errno of each attempt; 0: it was allowed. */
PROCEDURE reach_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    char text[128], byte;
    struct iovec here = {&byte, 1}, there = {text, 1};
    int client = atoi(given("client"));
    int keeper = kill(getppid(), SIGKILL) ? errno : 0;
    int others = kill(client, SIGTERM) ? errno : 0;
    int memory = process_vm_readv(client, &here, 1, &there, 1, 0) < 0 ? errno : 0;
    int mounts = mount("none", "/tmp", "tmpfs", 0, NULL) ? errno : 0;
    int traced = ptrace(PTRACE_ATTACH, client, NULL, NULL) ? errno : 0;
    int own = kill(getpid(), 0) ? errno : 0;
    snprintf(text, sizeof text, "%d %d %d %d %d %d", keeper, others, memory, mounts, traced, own);
    return answer(data, bytes, objects, text);
}

/* The same attempts through the system calls of 32-bit programs. */
PROCEDURE reach32_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    char text[64];
    long mounted = -EPERM, killed = -EPERM;
#ifdef __x86_64__
    enum { MOUNT = 21, KILL = 37 };
    __asm__ volatile("int $0x80" : "=a"(mounted) : "a"(MOUNT), "b"(0), "c"(0), "d"(0) : "memory");
    __asm__ volatile("int $0x80"
                     : "=a"(killed)
                     : "a"(KILL), "b"(getppid()), "c"(SIGKILL)
                     : "memory");
#endif
    snprintf(text, sizeof text, "%d %d", (int)-mounted, (int)-killed);
    return answer(data, bytes, objects, text);
}

PROCEDURE kill0_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    kill(0, SIGTERM);
    return ERROR_SUCCESS;
}

/* Answers with what a helper process finds in its environment. */
PROCEDURE look_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    char text[256], target[64] = "";
    int descriptors = 0, blocked = 0, ignored = 0;
    sigset_t mask;
    for (int fd = 0; fd < 1024; fd++)
        descriptors += fcntl(fd, F_GETFD) >= 0;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    for (int number = 1; number < 32; number++) {
        struct sigaction action;
        blocked += sigismember(&mask, number) == 1;
        ignored += !sigaction(number, NULL, &action) && action.sa_handler == SIG_IGN;
    }
    if (readlink("/proc/self/fd/1", target, sizeof target - 1) < 0)
        target[0] = '\0';
    snprintf(text, sizeof text, "%d %d %d %s %s %s %d %d", descriptors, blocked, ignored, target,
             getenv("LD_LIBRARY_PATH") ? "LD" : "clear", given("client"), getsid(0) == getpid(),
             (int)getppid());
    return answer(data, bytes, objects, text);
}

/* Tries to open the files that it has mapped, and the keeper's memory and shared file through
 * /proc. Answers with how many of each could be opened, which should be 0. */
PROCEDURE files_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    static const char *const keepers[] = {"mem", "fd/3"};
    char text[64], path[320];
    int mapped = 0, of_keeper = 0;
    DIR *folder = opendir("/proc/self/map_files");
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        snprintf(path, sizeof path, "/proc/self/map_files/%s", entry->d_name);
        mapped += entry->d_name[0] != '.' && open(path, O_RDWR) >= 0;
    }
    for (size_t i = 0; i < sizeof keepers / sizeof keepers[0]; i++) {
        snprintf(path, sizeof path, "/proc/%d/%s", (int)getppid(), keepers[i]);
        of_keeper += open(path, O_RDONLY) >= 0;
    }
    snprintf(text, sizeof text, "%d %d", mapped, of_keeper);
    return answer(data, bytes, objects, text);
}

/* Tries to reach the keeper's page: maps its own channel (the memory that it shares with the
 * client) a second time, points this second mapping at the start of the shared memory, where that
 * page is, and enlarges the mapping. */
PROCEDURE remap_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    enum { PAGE = 4096, BEYOND = 128 << 20 };
    char *page = (char *)((uintptr_t)*data & ~(uintptr_t)(PAGE - 1)), text[64];
    char *twin = mremap(page, 0, BEYOND, MREMAP_MAYMOVE);
    int mapped_twice = twin != MAP_FAILED;
    if (!mapped_twice)
        twin = page;
    int moved = syscall(SYS_remap_file_pages, twin, PAGE, 0, 0, 0) == 0;
    int grown = mremap(twin, PAGE, BEYOND, MREMAP_MAYMOVE) != MAP_FAILED;
    snprintf(text, sizeof text, "%d %d %d", mapped_twice, moved, grown);
    return answer(data, bytes, objects, text);
}

static char *channel_start(void)
{
    char line[512];
    void *first = NULL;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && !first && fgets(line, sizeof line, maps))
        if (!strstr(line, "memfd:openperflib") || sscanf(line, "%p-", &first) != 1)
            first = NULL;
    if (maps)
        fclose(maps);
    return first;
}

/* Like remap_collect, but maps a page just below the channel, moves both with one call of mremap,
 * which is possible since Linux 6.17, and then tries to enlarge the channel. */
PROCEDURE remap_from_below_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    enum { PAGE = 4096, BOTH = 2 * PAGE, BEYOND = 128 << 20, MOVE = MREMAP_MAYMOVE | MREMAP_FIXED };
    char *below = channel_start() - PAGE, text[64];
    mmap(below, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    char *to = mmap(NULL, BOTH, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int error = mremap(below, BOTH, BOTH, MOVE, to) == MAP_FAILED ? errno : 0, grown = 0;
    if (!error) {
        grown = mremap(to + PAGE, 0, BEYOND, MREMAP_MAYMOVE) != MAP_FAILED;
        mremap(to, BOTH, BOTH, MOVE, below);
    }
    snprintf(text, sizeof text, "%d %d", error, grown);
    return answer(data, bytes, objects, text);
}

PROCEDURE rights_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    char text[256] = "", line[256], value[32];
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "Cap%*[A-Za-z]: %31s", value) == 1)
            strcat(strcat(text, " "), value);
    return answer(data, bytes, objects, text);
}

static int error_of(long result)
{
    return result < 0 ? errno : 0;
}

/* Tries to change priority, processors and limits of the client, and of itself. */
PROCEDURE rank_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    enum { IOPRIO_PROCESS = 1, IOPRIO_USER = 3, BEST_EFFORT = 2 << 13 | 7 };
    int client = atoi(given("client")), pipes[2], rank = getpriority(PRIO_PROCESS, 0);
    struct rlimit limit;
    struct sched_param param = {0};
    char text[256];
    cpu_set_t set;
    if (pipe(pipes))
        return 1;
    getrlimit(RLIMIT_NOFILE, &limit);
    sched_getaffinity(0, sizeof set, &set);
    const int of_others[] = {
        error_of(setpriority(PRIO_PROCESS, (id_t)client, 1)),
        error_of(setpriority(PRIO_USER, 0, 1)),
        error_of(setpriority(PRIO_PGRP, (id_t)getpgid(client), 1)),
        error_of(prlimit(client, RLIMIT_NOFILE, &limit, NULL)),
        error_of(sched_setaffinity(client, sizeof set, &set)),
        error_of(sched_setscheduler(client, SCHED_OTHER, &param)),
        error_of(sched_setparam(client, &param)),
        error_of(syscall(SYS_ioprio_set, IOPRIO_PROCESS, client, BEST_EFFORT)),
        error_of(syscall(SYS_ioprio_set, IOPRIO_USER, 0, BEST_EFFORT)),
        error_of(fcntl(pipes[0], F_SETOWN, client)),
        error_of(ioctl(pipes[0], FIOSETOWN, &client)),
        error_of(unshare(CLONE_NEWUSER)),
    };
    const int own[] = {
        error_of(setpriority(PRIO_PROCESS, 0, rank + 1)),
        error_of(setpriority(PRIO_PROCESS, (id_t)getpid(), rank + 2)),
        error_of(prlimit(0, RLIMIT_NOFILE, &limit, NULL)),
        error_of(sched_setaffinity(getpid(), sizeof set, &set)),
        error_of(sched_setscheduler(0, SCHED_BATCH, &param)),
        error_of(syscall(SYS_ioprio_set, IOPRIO_PROCESS, 0, BEST_EFFORT)),
    };
    int refused = 0, allowed = 0;
    for (size_t i = 0; i < sizeof of_others / sizeof of_others[0]; i++)
        refused += of_others[i] == EPERM;
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        allowed += own[i] == 0;
    snprintf(text, sizeof text, "%d of %d, %d of %d", refused,
             (int)(sizeof of_others / sizeof of_others[0]), allowed,
             (int)(sizeof own / sizeof own[0]));
    return answer(data, bytes, objects, text);
}

/* An attempt that would do no harm if it were allowed. `error` is its errno; 0: it succeeded. */
struct attack {
    const char *name;
    int error;
};

static void list_refused(char *text, size_t size, const struct attack *attacks, size_t count)
{
    size_t used = 0;
    for (size_t i = 0; i < count && used < size; i++)
        if (attacks[i].error != EPERM && attacks[i].error != EACCES)
            used += (size_t)snprintf(text + used, size - used, " %s:%d", attacks[i].name,
                                     attacks[i].error);
    if (used == 0)
        snprintf(text, size, "%zu refused", count);
}

/* Attacks the client and other processes. */
PROCEDURE attack_client_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    int client = atoi(given("client")), handle = (int)syscall(SYS_pidfd_open, client, 0);
    char word[8] = "word", text[512], memory[64];
    struct iovec vector = {word, sizeof word};
    union {
        siginfo_t signal;
        char bytes[128];
    } info = {
        .signal = {.si_signo = SIGCONT, .si_code = SI_QUEUE}
    };
    snprintf(memory, sizeof memory, "/proc/%d/mem", client);
    const struct attack attacks[] = {
  /* clang-format off */
        {"ptrace", error_of(ptrace(PTRACE_SEIZE, client, 0, 0))},
        {"process_vm_readv", error_of(process_vm_readv(client, &vector, 1, &vector, 1, 0))},
        {"process_vm_writev", error_of(process_vm_writev(client, &vector, 1, &vector, 1, 0))},
        {"mem", error_of(open(memory, O_RDWR))},
        {"kill", error_of(kill(client, SIGCONT))},
        {"tkill", error_of(syscall(SYS_tkill, client, SIGCONT))},
        {"tgkill", error_of(syscall(SYS_tgkill, client, client, SIGCONT))},
        {"sigqueue", error_of(syscall(SYS_rt_sigqueueinfo, client, SIGCONT, &info))},
        {"pidfd_send_signal", error_of(syscall(SYS_pidfd_send_signal, handle, SIGCONT, NULL, 0))},
        {"pidfd_getfd", error_of(syscall(SYS_pidfd_getfd, handle, 0, 0))},
        {"process_madvise", error_of(syscall(SYS_process_madvise, handle, &vector, 1, 0, 0))},
        {"kcmp", error_of(syscall(SYS_kcmp, client, client, 0, 0, 0))},
        {"fork", error_of(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0))},
  /* clang-format on */
    };
    list_refused(text, sizeof text, attacks, sizeof attacks / sizeof attacks[0]);
    return answer(data, bytes, objects, text);
}

/* Attacks things that all processes of the machine share (mounts, clock, modules ...), and tries to
 * raise its own limits. */
PROCEDURE attack_machine_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    static const char nowhere[] = "/nonexistent/place";
    struct timespec never = {0, -1};
    struct timex clock = {.modes = ADJ_TICK};
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct all[2] = {
        {~0u, ~0u, 0},
        {~0u, ~0u, 0}
    };
    struct rlimit limit;
    char text[1024], device[96], *root = getenv("OPENPERFLIB_ROOT");
    snprintf(device, sizeof device, "%.64s/device", root ? root : nowhere);
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_max++;
    const struct attack attacks[] = {
  /* clang-format off */
        {"mount", error_of(mount("none", nowhere, "tmpfs", 0, NULL))},
        {"umount", error_of(umount2(nowhere, MNT_DETACH))},
        {"fsopen", error_of(syscall(SYS_fsopen, "nothing", 0))},
        {"open_tree", error_of(syscall(SYS_open_tree, AT_FDCWD, nowhere, 1))},
        {"unshare", error_of(unshare(CLONE_NEWNS))},
        {"setns", error_of(setns(-1, 0))},
        {"chroot", error_of(chroot("/"))},
        {"bpf", error_of(syscall(SYS_bpf, 0, NULL, 0))},
        {"userfaultfd", error_of(syscall(SYS_userfaultfd, ~0))},
        {"open_by_handle_at", error_of(syscall(SYS_open_by_handle_at, -1, NULL, 0))},
        {"init_module", error_of(syscall(SYS_init_module, NULL, 0, ""))},
        {"finit_module", error_of(syscall(SYS_finit_module, -1, "", 0))},
        {"delete_module", error_of(syscall(SYS_delete_module, nowhere, 0))},
        {"kexec_load", error_of(syscall(SYS_kexec_load, 0, 0, NULL, ~0L))},
        {"reboot", error_of(syscall(SYS_reboot, 0, 0, 0, NULL))},
        {"swapoff", error_of(swapoff(nowhere))},
        {"acct", error_of(acct(nowhere))},
        {"quotactl", error_of(syscall(SYS_quotactl, ~0, nowhere, 0, NULL))},
        {"clock_settime", error_of(syscall(SYS_clock_settime, CLOCK_REALTIME, &never))},
        {"adjtimex", error_of(adjtimex(&clock))},
        {"sethostname", error_of(syscall(SYS_sethostname, nowhere, -1))},
        {"syslog", error_of(klogctl(8, NULL, 0))},
        {"vhangup", error_of(vhangup())},
        {"TIOCSTI", error_of(ioctl(-1, TIOCSTI, ""))},
        {"fanotify", error_of(syscall(SYS_fanotify_init, 4, 0))},
        {"mknod", error_of(mknod(device, S_IFCHR | 0600, makedev(1, 3)))},
        {"chown", error_of(chown(root ? root : nowhere, 12345, (gid_t)-1))},
        {"raw socket", error_of(socket(AF_INET, SOCK_RAW, 1))},
        {"rank", error_of(setpriority(PRIO_PROCESS, 0, -20))},
        {"limit", error_of(setrlimit(RLIMIT_NOFILE, &limit))},
        {"capset", error_of(syscall(SYS_capset, &header, all))},
  /* clang-format on */
    };
    list_refused(text, sizeof text, attacks, sizeof attacks / sizeof attacks[0]);
    return answer(data, bytes, objects, text);
}

static void *nothing(void *argument)
{
    return argument;
}

/* Starts a thread, and processes by fork and by system. Answers with the results. */
PROCEDURE start_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    char text[64];
    pthread_t thread;
    int started = !pthread_create(&thread, NULL, nothing, NULL) && !pthread_join(thread, NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    int forked = error_of(child);
    snprintf(text, sizeof text, "%d %d %d", started, forked, system("true"));
    return answer(data, bytes, objects, text);
}

/* Starts a detached process in a session of its own, whose parent has ended. */
PROCEDURE daemon_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    char text[32] = "";
    int pipes[2];
    pid_t daemon = 0;
    if (pipe(pipes))
        return 1;
    pid_t child = fork();
    if (child == 0) {
        setsid();
        daemon = fork();
        if (daemon == 0)
            for (;;)
                pause();
        if (write(pipes[1], &daemon, sizeof daemon) < 0)
            _exit(1);
        if (query[0] == 'O') /* query "Orphan": the daemon's parent ends now, else it stays */
            _exit(0);
        for (;;)
            pause();
    }
    if (read(pipes[0], &daemon, sizeof daemon) == sizeof daemon)
        snprintf(text, sizeof text, "%d", (int)daemon);
    return answer(data, bytes, objects, text);
}

PROCEDURE leak_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    enum { LEAK = 200 << 20 };
    char *memory = mmap(NULL, LEAK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return 1;
    memset(memory, 1, LEAK);
    return answer(data, bytes, objects, "leaked");
}

PROCEDURE leak_on_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    enum { LEAK = 16 << 20 };
    for (;; usleep(10000)) {
        char *memory = mmap(NULL, LEAK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory != MAP_FAILED)
            memset(memory, 1, LEAK);
    }
}

/* ---- damage to the helper process itself ---- */

PROCEDURE close_all_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    for (int fd = 0; fd < 1024; fd++)
        close(fd);
    return answer(data, bytes, objects, "closed");
}

/* Truncates every file that has a descriptor in this process. */
PROCEDURE truncate_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    char text[64], path[64];
    int cut = 0;
    for (int fd = 0; fd < 64; fd++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        cut += ftruncate(fd, 0) == 0 || truncate(path, 0) == 0;
    }
    snprintf(text, sizeof text, "cut %d", cut);
    return answer(data, bytes, objects, text);
}

/* Overwrites all shared memory before the buffer, with a byte chosen by the query's first
 * character. */
PROCEDURE overwrite_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    char *start = *data;
    size_t below = (1 << 20) + 2 * 4096;
    int value = query[0] == 'G' ? 'A' : query[0] == '0' ? 0 : 255;
    memset(start - below, value, below);
    return ERROR_SUCCESS;
}

/* Overwrites the page of the channel that both sides share. Open has no pointer to the buffer, so
 * the page is found in /proc/self/maps. */
static DWORD overwrite_page(int value)
{
    char line[512];
    unsigned long start;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, "rw-s") && strstr(line, "/memfd:") && sscanf(line, "%lx-", &start) == 1)
            memset((void *)start, value, 4096);
    if (maps)
        fclose(maps);
    return ERROR_SUCCESS;
}

PROCEDURE overwrite_0_open(LPWSTR names)
{
    return overwrite_page(0);
}

PROCEDURE overwrite_255_open(LPWSTR names)
{
    return overwrite_page(255);
}

/* Writes to the channel (the memory that it shares with the client) that this process has died,
 * which only the keeper should write. */
PROCEDURE lie_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    enum { ANSWER_OFFSET = 128, DIED = 2 };
    char *channel = (char *)*data - (1 << 20) - 2 * 4096;
    *(volatile int *)(void *)(channel + ANSWER_OFFSET) = DIED;
    for (;;)
        pause();
}

/* Overwrites for ever, also while the client reads. */
static void *overwrite_repeatedly(void *memory)
{
    for (;;)
        memset(memory, rand(), 4096);
    return memory;
}

PROCEDURE overwrite_later_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    pthread_t thread;
    pthread_create(&thread, NULL, overwrite_repeatedly, (char *)*data - (1 << 20) - 2 * 4096);
    return answer(data, bytes, objects, "later");
}

PROCEDURE below_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    ((char *)*data)[-1] = 1;
    return answer(data, bytes, objects, "below");
}

PROCEDURE above_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    ((char *)*data)[*bytes] = 1;
    return answer(data, bytes, objects, "above");
}

static void quit(int number)
{
    _exit(9);
}

PROCEDURE handler_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    for (int number = 1; number < NSIG; number++)
        signal(number, quit);
    crash();
    return ERROR_SUCCESS;
}

PROCEDURE talk_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    static const char line[] = "a provider talks\n";
    ssize_t written = write(1, line, sizeof line - 1) + write(2, line, sizeof line - 1);
    return answer(data, bytes, objects, written > 0 ? "talked" : "silent");
}

PROCEDURE bomb_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    for (size_t size = 1 << 20;;) {
        char *memory = malloc(size);
        if (!memory)
            return answer(data, bytes, objects, "full");
        memset(memory, 1, size);
    }
}

static void *run_on(void *argument)
{
    for (volatile int i = 0;; i++)
        ;
    return argument;
}

PROCEDURE thread_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    char text[32];
    pthread_t thread;
    pthread_create(&thread, NULL, run_on, NULL);
    snprintf(text, sizeof text, "%d", (int)getpid());
    return answer(data, bytes, objects, text);
}

/* Starts a child that writes to the buffer 100 ms later, long after the answer. */
PROCEDURE fork_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    char text[32], *start = *data;
    pid_t child = fork();
    if (child == 0) {
        usleep(100000);
        memset(start, 'X', 64);
        _exit(0);
    }
    snprintf(text, sizeof text, "%d", (int)child);
    return answer(data, bytes, objects, text);
}
