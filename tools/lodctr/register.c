/* SPDX-License-Identifier: MIT */
/*
 * Does regsvr32's work: calls a library's DllRegisterServer or DllUnregisterServer in a child
 * process, so that a crash, an exit or a call that does not return becomes a message here. The
 * child reports each step by a pipe. What the child prints is copied up to a limit, and processes
 * that it has left are ended.
 */
#include "lodctr.h"

#include "../common/child.h"
#include "../view/text.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <winbase.h>

struct register_report {
    enum register_step step; /* the step that was begun; STEP_DONE: the function returned
                              * `result` */
    LONG result;
    char text[512]; /* why loading failed */
};

typedef HRESULT WINAPI register_procedure(void);
typedef BOOL WINAPI attach_procedure(HINSTANCE, DWORD, LPVOID);

/* ---- signals that end this program: first the child, and what it started, has to end ---- */

static volatile sig_atomic_t interruption; /* the signal's number; 0: none */

static void note(int number)
{
    interruption = number;
}

static void handle_signals(void (*handler)(int))
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction old, action = {.sa_handler = handler};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (!sigaction(signals[i], NULL, &old) && old.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
}

/* ---- the child ---- */

static void send_report(int pipe, struct register_report *report, enum register_step step)
{
    report->step = step;
    if (write(pipe, report, sizeof *report) != sizeof *report)
        _exit(1);
}

/* Converts dlsym's data pointer to a function pointer. */
static bool find(void *handle, const char *name, void *ret)
{
    void *symbol = dlsym(handle, name);
    memcpy(ret, &symbol, sizeof symbol);
    return symbol != NULL;
}

/* Calls the function `name`; NULL: only loads the library. */
static void call(const char *path, const char *name, int pipe)
{
    struct register_report report = {0};
    attach_procedure *attach;
    register_procedure *procedure;
    send_report(pipe, &report, STEP_LOAD);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        snprintf(report.text, sizeof report.text, "%s", dlerror());
        send_report(pipe, &report, STEP_LOAD);
        return;
    }
    send_report(pipe, &report, name ? STEP_ATTACH : STEP_DONE);
    if (!name)
        return;
    if (find(handle, "DllMain", &attach) && !attach(handle, DLL_PROCESS_ATTACH, NULL))
        return;
    send_report(pipe, &report, STEP_FIND);
    if (!find(handle, name, &procedure))
        return;
    send_report(pipe, &report, STEP_CALL);
    report.result = procedure();
    send_report(pipe, &report, STEP_DONE);
    if (attach)
        attach(handle, DLL_PROCESS_DETACH, NULL);
}

/* ---- the parent ---- */

enum { DEADLINE_MS = 10000, SLICE_MS = 5, OUTPUT_MOST = 64 << 10 };
enum { REPORTS, OUTPUT, ERRORS, STREAMS };

struct running {
    pid_t child;
    int state;                           /* the child's status as waitpid returns it */
    int most_ms;                         /* the deadline */
    bool overdue;                        /* the child was ended, because it missed the deadline */
    int left;                            /* number of processes that the child had left */
    struct pollfd from[STREAMS];         /* pipes from the child; not blocking */
    FILE *to[STREAMS];                   /* the streams to which the child's output is copied */
    size_t kept[STREAMS], dropped;       /* bytes of the child's output: copied, and dropped */
    struct register_report report, next; /* the last report, and the report that is being read */
    size_t next_size;
};

static void take_report(struct running *running, const char *bytes, size_t size)
{
    for (; size > 0; size--) {
        ((char *)&running->next)[running->next_size++] = *bytes++;
        if (running->next_size < sizeof running->next)
            continue;
        running->next_size = 0;
        running->next.text[sizeof running->next.text - 1] = '\0';
        /* any other number: the library wrote to the pipe */
        if ((unsigned)running->next.step <= STEP_DONE)
            running->report = running->next;
    }
}

static void take_output(struct running *running, int stream, const char *bytes, size_t size)
{
    size_t left = OUTPUT_MOST - running->kept[stream], kept = size < left ? size : left;
    text_put_output(running->to[stream], bytes, kept);
    running->kept[stream] += kept;
    running->dropped += size - kept;
}

/* Reads what the pipe holds, but not endlessly while it is being filled. */
static void read_stream(struct running *running, int stream)
{
    static char bytes[64 << 10];
    for (int i = 0; i < 16 && running->from[stream].fd >= 0; i++) {
        ssize_t count = read(running->from[stream].fd, bytes, sizeof bytes);
        if (count < 0)
            return;
        if (count == 0) {
            close(running->from[stream].fd);
            running->from[stream].fd = -1;
        } else if (stream == REPORTS) {
            take_report(running, bytes, (size_t)count);
        } else {
            take_output(running, stream, bytes, (size_t)count);
        }
    }
}

/* Waits until the child ends, its time is over, or a signal is to end this program. Does not wait
 * for the end of the pipes, because a process that the child started may hold them. */
static void wait_for_child(struct running *running)
{
    int64_t end = now_ms() + running->most_ms;
    siginfo_t ended = {0};
    while (!ended.si_pid && !running->overdue && !interruption) {
        poll(running->from, STREAMS, SLICE_MS);
        waitid(P_PID, (id_t)running->child, &ended, WEXITED | WNOHANG | WNOWAIT);
        running->overdue = !ended.si_pid && now_ms() >= end;
        for (int i = 0; i < STREAMS; i++)
            read_stream(running, i);
    }
    running->left = child_end(running->child, &running->state);
    for (int i = 0; i < STREAMS; i++) {
        read_stream(running, i);
        if (running->from[i].fd >= 0)
            close(running->from[i].fd);
    }
}

/* Returns the Win32 code inside an HRESULT of FACILITY_WIN32; returns other failures unchanged. */
static DWORD win32_code(LONG result)
{
    DWORD code = (DWORD)result;
    if (SUCCEEDED(result))
        return ERROR_SUCCESS;
    return (code & 0xffff0000u) == 0x80070000u ? code & 0xffff : code;
}

static const char *step_text(enum register_step step)
{
    static const char *const args[] = {"while it was being loaded", "in DllMain",
                                       "while its functions were being looked up", "in the call",
                                       "after the call"};
    return args[step];
}

/* Turns the result of a call that returned into a Win32 code. */
static DWORD judge_result(const char *path, const char *name, LONG result)
{
    DWORD code = win32_code(result);
    if (code && code != (DWORD)result)
        return status_complain(TOOL, path, code);
    if (code)
        fprintf(stderr,
                "%s: %s: %s failed with HRESULT 0x%08lX; see the library's documentation for "
                "its meaning\n",
                TOOL, text_seen(path), name, (unsigned long)code);
    return code;
}

static DWORD judge(const char *path, const char *name, const struct running *running)
{
    const struct register_report *report = &running->report;
    if (running->overdue)
        fprintf(stderr, "%s: %s: it did not end within %g s %s, and was ended\n", TOOL,
                text_seen(path), running->most_ms / 1000.0, step_text(report->step));
    else if (report->step == STEP_DONE && !WIFSIGNALED(running->state))
        return judge_result(path, name, report->result);
    else if (WIFSIGNALED(running->state))
        fprintf(stderr, "%s: %s: crashed %s: %s; no other process was affected\n", TOOL,
                text_seen(path), step_text(report->step), strsignal(WTERMSIG(running->state)));
    else if (*report->text)
        fprintf(stderr, "%s: cannot load it: %s\n", TOOL, text_seen(report->text));
    else if (report->step == STEP_ATTACH)
        return status_complain(TOOL, path, ERROR_DLL_INIT_FAILED);
    else if (report->step == STEP_FIND)
        fprintf(stderr, "%s: %s: it has no %s; if it needs none, load its ini file with lodctr\n",
                TOOL, text_seen(path), name);
    else
        fprintf(stderr, "%s: %s: it ended the process itself %s\n", TOOL, text_seen(path),
                step_text(report->step));
    return running->overdue            ? ERROR_TIMEOUT
           : *report->text             ? ERROR_MOD_NOT_FOUND
           : report->step == STEP_FIND ? ERROR_PROC_NOT_FOUND
                                       : ERROR_GEN_FAILURE;
}

/* Ends this program by the signal, so that the calling shell sees that signal. */
static void end_interrupted(const char *path, const struct running *running)
{
    handle_signals(SIG_DFL);
    if (!interruption)
        return;
    fprintf(stderr, "%s: %s: interrupted (%s) %s; all processes that it had started were ended\n",
            TOOL, text_seen(path), strsignal(interruption), step_text(running->report.step));
    raise(interruption);
}

static void report_rest(const char *path, const struct running *running)
{
    if (running->dropped)
        fprintf(stderr, "%s: %s: it printed too much: %zu bytes are not shown\n", TOOL,
                text_seen(path), running->dropped);
    if (running->left)
        fprintf(stderr, "%s: %s: it left %d process%s running; %s ended\n", TOOL, text_seen(path),
                running->left, running->left == 1 ? "" : "es",
                running->left == 1 ? "it was" : "they were");
}

static _Noreturn void be_child(const char *path, const char *name, const int to[STREAMS])
{
    handle_signals(SIG_DFL);
    dup2(to[OUTPUT], STDOUT_FILENO);
    dup2(to[ERRORS], STDERR_FILENO);
    close(to[OUTPUT]);
    close(to[ERRORS]);
    call(path, name, to[REPORTS]);
    fflush(NULL); /* writes what the library has printed */
    _exit(0);
}

static DWORD call_detached(const struct lodctr *opts, const char *path, const char *name,
                           enum register_step *reached)
{
    /* with --json, standard output is for the JSON document */
    struct running running = {
        .most_ms = opts->deadline_ms ? opts->deadline_ms : DEADLINE_MS,
        .to = {NULL, opts->json ? stderr : stdout, stderr}
    };
    int to[STREAMS];
    for (int i = 0; i < STREAMS; i++) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0)
            return status_complain(TOOL, path, ERROR_NO_SYSTEM_RESOURCES);
        running.from[i] = (struct pollfd){.fd = ends[0], .events = POLLIN};
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        to[i] = ends[1];
    }
    handle_signals(note);
    running.child = child_fork();
    if (running.child == 0)
        be_child(path, name, to);
    for (int i = 0; i < STREAMS; i++)
        close(to[i]);
    if (running.child < 0)
        return status_complain(TOOL, path, ERROR_NO_SYSTEM_RESOURCES);
    wait_for_child(&running);
    end_interrupted(path, &running);
    *reached = running.report.step;
    report_rest(path, &running);
    return judge(path, name, &running);
}

DWORD register_library(const struct lodctr *opts, bool remove, enum register_step *reached)
{
    const char *name = remove ? "DllUnregisterServer" : "DllRegisterServer";
    char *path = library_path(opts->subject);
    DWORD status = path ? library_check(path) : ERROR_NOT_ENOUGH_MEMORY;
    *reached = STEP_LOAD;
    if (!status)
        status = call_detached(opts, path, name, reached);
    if (!status && !opts->quiet && !opts->json)
        printf("%s: %s succeeded\n", text_seen(opts->subject), name);
    free(path);
    return status;
}

/* True if a library of the other word size (64 or 32 bits) is at `path`: this program cannot load
 * it, but others may. */
static bool other_word_size(const char *path)
{
    char start[EI_NIDENT] = "";
    FILE *file = fopen(path, "re");
    bool whole = file && fread(start, sizeof start, 1, file) == 1;
    if (file)
        fclose(file);
    return whole && start[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32);
}

DWORD register_test(const struct lodctr *opts, const char *library)
{
    char path[PATH_MAX];
    enum register_step reached;
    DWORD status = opl_load_library_path(library, path, sizeof path);
    if (!status && !other_word_size(path))
        status = call_detached(opts, path, NULL, &reached);
    return status == ERROR_MOD_NOT_FOUND ? status : ERROR_SUCCESS;
}
