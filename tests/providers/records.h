/* SPDX-License-Identifier: MIT */
/* Shared by the tests of process records, which BPF programs of the kernel write: a BPF file system
 * for the test, running the program that pins them into it, choosing between records and /proc, and
 * a look at the trace. */
#ifndef OPL_TEST_RECORDS_H
#define OPL_TEST_RECORDS_H

#include "../skip.h"
#include "../temp.h"
#include "perfproc.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <winreg.h>

#define PERFLIB "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib"

/* Sets a setting of the registry, 0: providers read /proc; 1: they read the records. */
static inline void use_records(DWORD setting)
{
    HKEY key;
    assert_int_equal(
        RegCreateKeyExA(HKEY_LOCAL_MACHINE, PERFLIB, 0, NULL, 0, KEY_WRITE, NULL, &key, NULL), 0);
    assert_int_equal(RegSetValueExA(key, "Kernel Records", 0, REG_DWORD, (const BYTE *)&setting, 4),
                     0);
    RegCloseKey(key);
}

static inline int run_pin(const char *const more[])
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        const char *args[8] = {PIN_PROGRAM};
        for (int i = 0; i < 6 && more[i]; i++)
            args[i + 1] = more[i];
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        execv(PIN_PROGRAM, (char **)args);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Makes records available in this process and its children. Returns NULL, or the reason why that is
 * impossible. */
static inline const char *records_prepare(void)
{
    if (geteuid() != 0)
        return "needs root, to pin a BPF program";
    if (access("/sys/kernel/btf/vmlinux", R_OK) != 0)
        return "this kernel has no types (/sys/kernel/btf/vmlinux)";
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        return "a mount namespace of one's own is not allowed here";
    if (mount("bpf", "/sys/fs/bpf", "bpf", 0, "mode=0755") != 0)
        return "no BPF file system can be mounted here";
    return run_pin((const char *const[]){"pin", NULL}) == 0 ? NULL : "no BPF program can be pinned";
}

/* Runs `deed` in a child process with tracing switched on. Returns whether the trace contains the
 * text. */
static inline bool trace_has(void (*deed)(void), const char *wanted)
{
    static char text[1 << 16];
    int ends[2], status;
    size_t used = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        setenv("CMOCKA_TEST_ABORT", "1", 1);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        deed();
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t got; (got = read(ends[0], text + used, sizeof text - 1 - used)) > 0;)
        used += (size_t)got;
    close(ends[0]);
    text[used] = 0;
    waitpid(pid, &status, 0);
    if (status != 0 || !strstr(text, wanted))
        fprintf(stderr, "status %d, and the trace says:\n%s", status, text);
    return status == 0 && strstr(text, wanted);
}

#endif
