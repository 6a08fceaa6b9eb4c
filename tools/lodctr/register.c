/* SPDX-License-Identifier: MIT */
/*
 * Does regsvr32's work: calls a library's DllRegisterServer or DllUnregisterServer in a child
 * process, so that a crash or exit there becomes a message here. The child reports each step by a
 * pipe.
 */
#include "lodctr.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
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
    send_report(pipe, &report, STEP_ATTACH);
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

/* Returns the last complete report of the child. */
static struct register_report listen_to(int pipe)
{
    struct register_report report = {0}, next;
    size_t used = 0;
    ssize_t count;
    while ((count = read(pipe, (char *)&next + used, sizeof next - used)) != 0) {
        if (count < 0 && errno != EINTR)
            break;
        used += count > 0 ? (size_t)count : 0;
        if (used == sizeof next) {
            report = next;
            used = 0;
        }
    }
    return report;
}

/* The Win32 code inside an HRESULT of FACILITY_WIN32; any other failure as it is. */
static DWORD win32_code(LONG result)
{
    DWORD code = (DWORD)result;
    if (SUCCEEDED(result))
        return ERROR_SUCCESS;
    return (code & 0xffff0000u) == 0x80070000u ? code & 0xffff : code;
}

static const char *step_text(enum register_step step)
{
    static const char *const args[] = {"while it was loaded", "in DllMain",
                                       "while its functions were looked up", "in the call",
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
                TOOL, path, name, (unsigned long)code);
    return code;
}

static DWORD judge(const char *path, const char *name, const struct register_report *report,
                   int state)
{
    if (report->step == STEP_DONE && !WIFSIGNALED(state))
        return judge_result(path, name, report->result);
    if (WIFSIGNALED(state))
        fprintf(stderr, "%s: %s: crashed %s: %s; no other process was affected\n", TOOL, path,
                step_text(report->step), strsignal(WTERMSIG(state)));
    else if (*report->text)
        fprintf(stderr, "%s: cannot load it: %s\n", TOOL, report->text);
    else if (report->step == STEP_ATTACH)
        return status_complain(TOOL, path, ERROR_DLL_INIT_FAILED);
    else if (report->step == STEP_FIND)
        fprintf(stderr, "%s: %s: it has no %s; if it needs none, load its ini file with lodctr\n",
                TOOL, path, name);
    else
        fprintf(stderr, "%s: %s: it ended the process itself %s\n", TOOL, path,
                step_text(report->step));
    return *report->text               ? ERROR_MOD_NOT_FOUND
           : report->step == STEP_FIND ? ERROR_PROC_NOT_FOUND
                                       : ERROR_GEN_FAILURE;
}

static DWORD call_detached(const char *path, const char *name, bool json,
                           enum register_step *reached)
{
    int ends[2], state = 0;
    fflush(NULL);
    if (pipe(ends) != 0)
        return status_complain(TOOL, path, ERROR_NO_SYSTEM_RESOURCES);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        if (json) /* standard output is for the JSON document */
            dup2(STDERR_FILENO, STDOUT_FILENO);
        call(path, name, ends[1]);
        fflush(NULL); /* the library may have printed something */
        _exit(0);
    }
    close(ends[1]);
    struct register_report report = listen_to(ends[0]);
    close(ends[0]);
    if (child < 0)
        return status_complain(TOOL, path, ERROR_NO_SYSTEM_RESOURCES);
    while (waitpid(child, &state, 0) < 0 && errno == EINTR)
        ;
    *reached = report.step;
    return judge(path, name, &report, state);
}

DWORD register_library(const struct lodctr *opts, bool remove, enum register_step *reached)
{
    const char *name = remove ? "DllUnregisterServer" : "DllRegisterServer";
    char *path = library_path(opts->subject);
    DWORD status = path ? library_check(path) : ERROR_NOT_ENOUGH_MEMORY;
    *reached = STEP_LOAD;
    if (!status)
        status = call_detached(path, name, opts->json, reached);
    if (!status && !opts->quiet && !opts->json)
        printf("%s: %s succeeded\n", opts->subject, name);
    free(path);
    return status;
}
