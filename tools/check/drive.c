/* SPDX-License-Identifier: MIT */
/* Controls the worker: starts it, sends one order at a time, kills it with all its children. */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUTPUT_MOST = 1 << 20 };

/* ---- the sanitizer that the library was built with ---- */

/* Finds in the library's file the runtime whose name begins with `begin`; false: none. */
static bool needed(const unsigned char *file, size_t size, const char *begin, char out[64])
{
    const char *at = memmem(file, size, begin, strlen(begin));
    if (at)
        snprintf(out, 64, "%s", at);
    return at != NULL;
}

bool library_read(const char *library, bool (*find)(const unsigned char *, size_t, void *),
                  void *self)
{
    struct stat state;
    bool found = false;
    int file = open(library, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (file >= 0 && fstat(file, &state) == 0 && S_ISREG(state.st_mode) && state.st_size > 0) {
        size_t size = (size_t)state.st_size;
        void *map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
        found = map != MAP_FAILED && find(map, size, self);
        if (map != MAP_FAILED)
            munmap(map, size);
    }
    if (file >= 0)
        close(file);
    return found;
}

/* Finds the runtime that must be loaded before the library. False: the library needs no runtime. */
static bool find_runtime(const unsigned char *file, size_t size, void *out)
{
    return needed(file, size, "libasan.so.", out) || needed(file, size, "libtsan.so.", out) ||
           needed(file, size, "libhwasan.so.", out);
}

static void prepare_environment(const char *runtime)
{
    /* malloc's cache for each thread (seven blocks of each size) would count as memory in use */
    setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", 1);
    const char *before = getenv("LD_PRELOAD");
    char both[4096];
    if (runtime) {
        snprintf(both, sizeof both, "%s%s%s", runtime, before ? ":" : "", before ? before : "");
        setenv("LD_PRELOAD", both, 1);
    }
    /* LeakSanitizer needs ptrace, which a worker may not use; the worker itself counts memory */
    setenv("ASAN_OPTIONS", "detect_leaks=0:abort_on_error=0", 0);
    setenv("UBSAN_OPTIONS", "print_stacktrace=1", 0);
}

/* ---- start ---- */

static _Noreturn void become_worker(struct worker *worker, int memory, int line,
                                    const struct registration *is, const char *runtime)
{
    char sanitized[] = {worker->sanitized ? '1' : '0', '\0'};
    const char *args[] = {"openperflib-check",
                          "--worker",
                          sanitized,
                          is->library,
                          is->procedures[0] ? is->procedures[0] : "",
                          is->procedures[1],
                          is->procedures[2] ? is->procedures[2] : "",
                          NULL};
    int nothing = open("/dev/null", O_RDONLY);
    /* these descriptors may be 3 or 4, which dup2 replaces below */
    memory = fcntl(memory, F_DUPFD, 16);
    line = fcntl(line, F_DUPFD, 16);
    int output = fcntl(worker->output_file, F_DUPFD, 16);
    if (dup2(nothing, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0 ||
        dup2(memory, WORKER_MEMORY_FD) < 0 || dup2(line, WORKER_LINE_FD) < 0)
        _exit(EXIT_FAILURE);
    closefrom(WORKER_LINE_FD + 1);
    prepare_environment(runtime);
    execv("/proc/self/exe", (char **)args);
    _exit(EXIT_FAILURE);
}

/* Makes a file in memory that cannot grow: a write beyond its end fails. */
static int new_memory(const char *name, size_t size)
{
    int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file >= 0 &&
        (ftruncate(file, (off_t)size) != 0 || fcntl(file, F_ADD_SEALS, F_SEAL_GROW) != 0)) {
        close(file);
        return -1;
    }
    return file;
}

bool worker_start(struct worker *worker, const struct registration *registration,
                  struct report *report)
{
    char runtime[64];
    int lines[2] = {-1, -1}, memory = new_memory("channel", sizeof *worker->channel);
    (void)report;
    *worker = (struct worker){
        .output_file = new_memory("output", OUTPUT_MOST), .socket = -1, .listener = -1};
/* if this tool is built with a sanitizer, its worker has the runtime already */
#ifndef __SANITIZE_ADDRESS__
    worker->sanitized = library_read(registration->library, find_runtime, runtime);
#else
    (void)find_runtime, (void)runtime;
#endif
    if (memory >= 0)
        worker->channel =
            mmap(NULL, sizeof *worker->channel, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (!worker->channel || worker->channel == MAP_FAILED || worker->output_file < 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, lines) != 0)
        return false;
    worker->channel->mark = worker->channel->end_mark = WORKER_MARK;
    worker->process = child_fork();
    if (worker->process == 0)
        become_worker(worker, memory, lines[1], registration, worker->sanitized ? runtime : NULL);
    close(lines[1]);
    close(memory);
    worker->socket = lines[0];
    return worker->process > 0;
}

/* ---- one order ---- */

/* Lets the worker's system call that starts a process fail with EPERM, as in a helper process. */
static void refuse_process(struct worker *worker)
{
    struct seccomp_notif requested = {0};
    if (ioctl(worker->listener, SECCOMP_IOCTL_NOTIF_RECV, &requested) != 0)
        return;
    struct seccomp_notif_resp answer = {.id = requested.id, .error = -EPERM};
    worker->starts++;
    ioctl(worker->listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

/* Waits until the socket can be read, and refuses processes meanwhile; false: the time is over. */
static bool await(struct worker *worker, int most_ms)
{
    struct pollfd ends[] = {
        {.fd = worker->socket,   .events = POLLIN},
        {.fd = worker->listener, .events = POLLIN}
    };
    int64_t start = now_ms(), left = most_ms;
    while (left > 0) {
        int ready = poll(ends, 2, (int)left);
        if (ready > 0 && ends[1].revents & POLLIN)
            refuse_process(worker);
        else if (ready > 0 && ends[1].revents) /* all processes of the worker have ended */
            ends[1].fd = -1;
        if (ready > 0 && ends[0].revents)
            return true;
        left = most_ms - (now_ms() - start);
    }
    return false;
}

/* Sets worker->end to the way in which the process ended, after it sent no reply. */
static void find_out(struct worker *worker)
{
    char path[64], own[4096] = "", its[4096] = "";
    int status = 0;
    for (int i = 0; i < 20; i++) { /* the socket closes shortly before the process ends */
        if (waitpid(worker->process, &status, WNOHANG) == worker->process) {
            worker->process = 0;
            worker->end = WIFSIGNALED(status) ? WORKER_CRASHED : WORKER_EXITED;
            worker->code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
            if (worker->end == WORKER_EXITED && worker->code == WORKER_LOST)
                worker->end = WORKER_DUMB;
            return;
        }
        usleep(5000);
    }
    snprintf(path, sizeof path, "/proc/%d/exe", worker->process);
    if (readlink(path, its, sizeof its - 1) > 0 &&
        readlink("/proc/self/exe", own, sizeof own - 1) > 0)
        worker->end = strcmp(own, its) == 0 ? WORKER_DUMB : WORKER_LEFT;
    else
        worker->end = WORKER_DUMB;
}

/* Receives the number of the order that was carried out; the first message also carries the
 * descriptor of the listener. False: nothing was received. */
static bool receive(struct worker *worker, uint64_t *ret_number)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec part = {ret_number, sizeof *ret_number};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    bool first = worker->number == 1; /* the library is not loaded yet */
    if (first) {
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
    }
    if (recvmsg(worker->socket, &message, MSG_WAITALL | MSG_NOSIGNAL | MSG_CMSG_CLOEXEC) !=
        sizeof *ret_number)
        return false;
    struct cmsghdr *head = first ? CMSG_FIRSTHDR(&message) : NULL;
    if (head && head->cmsg_type == SCM_RIGHTS)
        memcpy(&worker->listener, CMSG_DATA(head), sizeof worker->listener);
    return true;
}

static bool is_intact(const struct worker *worker)
{
    return worker->channel->mark == WORKER_MARK && worker->channel->end_mark == WORKER_MARK;
}

bool worker_send(struct worker *worker, enum worker_order order, int most_ms, int left_ms,
                 struct worker_reply *ret)
{
    uint64_t number = ++worker->number, answer = 0;
    /* half as long again, because on a busy machine a reply may be late */
    int whole_ms = most_ms * machine_is_busy() + most_ms / 2;
    *ret = (struct worker_reply){0};
    worker->channel->request.order = order;
    worker->end = WORKER_ANSWERED;
    if (send(worker->socket, &number, sizeof number, MSG_NOSIGNAL) == sizeof number &&
        !await(worker, whole_ms < left_ms ? whole_ms : left_ms)) {
        worker->end = whole_ms <= left_ms ? WORKER_OVERDUE : WORKER_CUT;
        return false;
    }
    if (!receive(worker, &answer) || answer != number) {
        find_out(worker);
        worker->end = is_intact(worker) ? worker->end : WORKER_OVERWRITTEN;
        return false;
    }
    *ret = worker->channel->reply;
    ret->text[sizeof ret->text - 1] = '\0';
    worker->end = is_intact(worker) ? WORKER_ANSWERED : WORKER_OVERWRITTEN;
    return is_intact(worker);
}

/* ---- the end of the worker ---- */

/* Copies the first line of a sanitizer's report; returns the text after it. NULL: none. */
static const char *sanitizer_summary(const char *text, char summary[FINDING_TEXT])
{
    static const char *const marks[] = {"ERROR: AddressSanitizer: ", "WARNING: ThreadSanitizer: ",
                                        "ERROR: HWAddressSanitizer: ", "runtime error: "};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *at = strstr(text, marks[i]);
        if (!at)
            continue;
        while (at > text && at[-1] != '\n')
            at--;
        size_t length = strcspn(at, "\n");
        size_t kept = length < FINDING_TEXT ? length : FINDING_TEXT - 1;
        memcpy(summary, at, kept);
        summary[kept] = '\0';
        return at + length;
    }
    return NULL;
}

static void report_output(struct worker *worker, struct report *report)
{
    static char text[32768];
    char summary[FINDING_TEXT];
    /* the worker writes through this file position, so it is the size of the output */
    off_t size = lseek(worker->output_file, 0, SEEK_CUR);
    ssize_t count = pread(worker->output_file, text, sizeof text - 1, 0);
    if (count <= 0 || size <= 0)
        return;
    text[size < count ? size : count] = '\0';
    const char *rest = sanitizer_summary(text, summary);
    if (rest) {
        struct finding *finding = report_add(report, MISTAKE, &(struct place){0}, "memory", IN_LIFE,
                                             "no complaint by a sanitizer", "%s", summary);
        if (finding)
            snprintf(finding->details, sizeof finding->details, "%s", rest + (*rest == '\n'));
        return;
    }
    report_add(report, WARNING, &(struct place){0}, "output", IN_PROCESS,
               "nothing on standard output and standard error, which belong to the calling program",
               "%lld bytes%s, beginning with \"%.*s\"", (long long)size,
               size >= OUTPUT_MOST ? " (further ones were dropped)" : "", (int)strcspn(text, "\n"),
               text);
}

void worker_end(struct worker *worker, struct report *report)
{
    child_end(worker->process, NULL);
    report_output(worker, report);
    if (worker->socket >= 0)
        close(worker->socket);
    if (worker->listener >= 0)
        close(worker->listener);
    close(worker->output_file);
    munmap(worker->channel, sizeof *worker->channel);
}
