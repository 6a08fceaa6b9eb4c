/* SPDX-License-Identifier: MIT */
/* Process-wide state that a library must not change: saved before the library is loaded,
 * compared after each call. Without isolation all of it belongs to the calling program. */
#include "worker.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <fenv.h>
#include <float.h>
#include <locale.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

extern char **environ;

static uint64_t noted[STATE_COUNT];

/* Adds data to an FNV-1a hash: equal states have equal hashes. */
static uint64_t mix(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
    return mix(hash, text ? text : "", text ? strlen(text) + 1 : 1);
}

static uint64_t handlers(void)
{
    uint64_t hash = 0;
    for (int number = 1; number < NSIG; number++) {
        struct sigaction action = {0};
        if (sigaction(number, NULL, &action) == 0)
            hash = mix(mix(hash, &action.sa_handler, sizeof action.sa_handler), &action.sa_flags,
                       sizeof action.sa_flags);
    }
    return hash;
}

static uint64_t blocked(void)
{
    sigset_t set;
    uint64_t bits = 0;
    pthread_sigmask(SIG_BLOCK, NULL, &set);
    for (int number = 1; number < NSIG; number++)
        bits |= (uint64_t)(sigismember(&set, number) == 1) << (number - 1);
    return bits;
}

static uint64_t limits(void)
{
    uint64_t hash = 0;
    for (int what = 0; what < RLIM_NLIMITS; what++) {
        struct rlimit now = {0};
        getrlimit(what, &now);
        hash =
            mix(mix(hash, &now.rlim_cur, sizeof now.rlim_cur), &now.rlim_max, sizeof now.rlim_max);
    }
    return hash;
}

static uint64_t streams(void)
{
    uint64_t hash = 0;
    for (int fd = 0; fd < 3; fd++) {
        struct stat file = {0};
        fstat(fd, &file);
        hash = mix(mix(hash, &file.st_dev, sizeof file.st_dev), &file.st_ino, sizeof file.st_ino);
    }
    return hash;
}

static uint64_t folder(void)
{
    char path[1024] = "";
    return mix_text(0, getcwd(path, sizeof path));
}

static uint64_t mask(void)
{
    mode_t now = umask(077);
    umask(now);
    return now;
}

static uint64_t timer(void)
{
    struct itimerval now = {0};
    getitimer(ITIMER_REAL, &now);
    return (now.it_interval.tv_sec | now.it_interval.tv_usec | now.it_value.tv_sec |
            now.it_value.tv_usec) != 0;
}

static uint64_t environment(void)
{
    uint64_t hash = 0;
    for (char **at = environ; at && *at; at++)
        hash = mix_text(hash, *at);
    return hash;
}

static uint64_t user(void)
{
    return (uint64_t)geteuid() << 32 | getegid();
}

static uint64_t name(void)
{
    char text[16] = "";
    prctl(PR_GET_NAME, text);
    return mix_text(0, text) + (uint64_t)prctl(PR_GET_DUMPABLE);
}

/* Returns the two control words of x86 (x87 and SSE): fegetround reads only one of them, and no
 * function reads the precision of the x87. Flags of exceptions that occurred are left out. */
static uint64_t float_settings(void)
{
    uint64_t settings = 0;
#if defined __x86_64__ || defined __i386__
    unsigned short control;
    __asm__ volatile("fnstcw %0" : "=m"(control));
    settings = control;
#endif
#ifdef __SSE__
    enum { OCCURRED = 0x3f };
    settings |= (uint64_t)(__builtin_ia32_stmxcsr() & ~(unsigned)OCCURRED) << 16;
#endif
    return settings;
}

/* Returns the state of the floating-point environment: rounding, precision, exceptions that are
 * signals, and whether numbers near 0 become 0, as in programs that are linked with -ffast-math. */
static uint64_t floats(void)
{
    volatile double least = DBL_MIN;
    uint64_t rest = (uint64_t)fegetround() << 32 | (uint64_t)fegetexcept() << 1 | (least / 2 > 0);
    uint64_t settings = float_settings();
    return mix(mix(0, &rest, sizeof rest), &settings, sizeof settings);
}

static uint64_t look_at(enum worker_state state)
{
    switch (state) {
    case STATE_HANDLERS:
        return handlers();
    case STATE_BLOCKED:
        return blocked();
    case STATE_FOLDER:
        return folder();
    case STATE_UMASK:
        return mask();
    case STATE_PRIORITY:
        return (uint64_t)getpriority(PRIO_PROCESS, 0);
    case STATE_LIMITS:
        return limits();
    case STATE_TIMER:
        return timer();
    case STATE_LOCALE:
        return mix_text(0, setlocale(LC_ALL, NULL));
    case STATE_ENVIRONMENT:
        return environment();
    case STATE_USER:
        return user();
    case STATE_NAME:
        return name();
    case STATE_STREAMS:
        return streams();
    case STATE_FLOATS:
        return floats();
    default:
        return 0;
    }
}

const char *state_text(enum worker_state state)
{
    static const char *const texts[] = {"signal handlers",
                                        "blocked signals",
                                        "current folder",
                                        "umask",
                                        "priority",
                                        "resource limits",
                                        "interval timer",
                                        "locale",
                                        "environment variables",
                                        "user",
                                        "process name or dumpable flag",
                                        "standard input and output",
                                        "floating-point environment"};
    return texts[state];
}

void state_note(void)
{
    for (int state = 0; state < STATE_COUNT; state++)
        noted[state] = look_at((enum worker_state)state);
}

uint32_t state_changes(void)
{
    uint32_t changed = 0;
    for (int state = 0; state < STATE_COUNT; state++)
        if (look_at((enum worker_state)state) != noted[state])
            changed |= UINT32_C(1) << state;
    return changed;
}

/* ---- resources in use ---- */

static int32_t count_entries(const char *path)
{
    DIR *dir = opendir(path);
    int32_t count = 0;
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;)
        count += entry->d_name[0] != '.';
    if (dir)
        closedir(dir);
    return count;
}

/* Returns the number of child processes of all threads; 0: the kernel has no files "children". */
static int32_t count_children(void)
{
    int32_t count = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *entry; tasks && (entry = readdir(tasks)) != NULL;) {
        char path[300];
        snprintf(path, sizeof path, "/proc/self/task/%s/children", entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "re");
        for (int c; file && (c = fgetc(file)) != EOF;)
            count += c == ' ';
        if (file)
            fclose(file);
    }
    if (tasks)
        closedir(tasks);
    return count;
}

/* Counts the segments that this process made and that stay when it ends, not those that disappear
 * with their last user. The kernel does not note who made a semaphore or a queue. */
static int32_t count_segments(int32_t *ret_id)
{
    enum { DISAPPEARS = 01000 };
    int32_t count = 0, maker, id;
    unsigned mode;
    FILE *file = fopen("/proc/sysvipc/shm", "re");
    if (file && fscanf(file, "%*[^\n]") != EOF) /* skips the headings */
        while (fscanf(file, "%*s %d %o %*s %d%*[^\n]", &id, &mode, &maker) == 3)
            if (maker == getpid() && !(mode & DISAPPEARS)) {
                *ret_id = id;
                count++;
            }
    if (file)
        fclose(file);
    return count;
}

/* Returns the bytes in use by malloc. Under a sanitizer, the sanitizer's allocator reports the
 * sum. */
static int64_t heap_now(void)
{
    size_t (*allocated)(void);
    void *symbol = dlsym(RTLD_DEFAULT, "__sanitizer_get_current_allocated_bytes");
    memcpy(&allocated, &symbol, sizeof allocated);
    if (allocated)
        return (int64_t)allocated();
#if defined __GLIBC__ && __GLIBC_PREREQ(2, 33)
    struct mallinfo2 info = mallinfo2();
    return (int64_t)info.uordblks + (int64_t)info.hblkhd;
#else
    return 0;
#endif
}

static int64_t address_space(void)
{
    long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file && fscanf(file, "%lld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

/* Returns the size of all mappings in bytes. This size is exact, while the kernel counts resident
 * pages only roughly. A sanitizer keeps large freed blocks mapped, so if the size has grown, the
 * sanitizer is asked to unmap them. */
static int64_t mapped_now(void)
{
    static int64_t last;
    void (*purge)(void);
    void *symbol = dlsym(RTLD_DEFAULT, "__sanitizer_purge_allocator");
    memcpy(&purge, &symbol, sizeof purge);
    int64_t now = address_space();
    if (purge && last && now > last) {
        purge();
        now = address_space();
    }
    return last = now;
}

int64_t waited_ns(void)
{
    long long ran, waited = 0;
    FILE *file = fopen("/proc/thread-self/schedstat", "re");
    if (file && fscanf(file, "%lld %lld", &ran, &waited) != 2)
        waited = 0;
    if (file)
        fclose(file);
    return waited;
}

struct usage usage_now(void)
{
    int32_t id = 0, segments = count_segments(&id);
    return (struct usage){.heap = heap_now(),
                          .mapped = mapped_now(),
                          .descriptors = count_entries("/proc/self/fd"),
                          .threads = count_entries("/proc/self/task"),
                          .children = count_children(),
                          .segments = segments,
                          .segment_id = id};
}
