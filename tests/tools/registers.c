/* SPDX-License-Identifier: MIT */
/* A library for the test of "lodctr --register": the environment variable REGISTERS_HOW defines
 * what its functions do. */
#include <windows.h>

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((visibility("default"))) BOOL WINAPI DllMain(HINSTANCE, DWORD, LPVOID);
__attribute__((visibility("default"))) HRESULT WINAPI DllRegisterServer(void);
__attribute__((visibility("default"))) HRESULT WINAPI DllUnregisterServer(void);

/* Crashes even if a sanitizer handles signals. */
static void crash(void)
{
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

static bool how(const char *what)
{
    const char *text = getenv("REGISTERS_HOW");
    return text && strcmp(text, what) == 0;
}

__attribute__((visibility("default"))) BOOL WINAPI DllMain(HINSTANCE module, DWORD why,
                                                           LPVOID unused)
{
    if (how("crash in DllMain"))
        crash();
    if (why == DLL_PROCESS_DETACH)
        puts("detached");
    return !how("refuse");
}

/* Starts a process in a new session, which outlives the call and keeps the caller's descriptors
 * open. */
static void leave_a_process(void)
{
    if (fork() == 0) {
        setsid();
        execlp("sleep", "sleep", getenv("REGISTERS_SECONDS"), (char *)NULL);
        _exit(1);
    }
}

static void flood(bool endless)
{
    static char line[8192];
    memset(line, 'x', sizeof line);
    for (int i = 0; i < 256 || endless; i++)
        if (write(STDOUT_FILENO, line, sizeof line) < 0)
            _exit(1);
}

__attribute__((constructor)) static void at_start(void)
{
    if (how("hang at start"))
        pause();
}

HRESULT WINAPI DllRegisterServer(void)
{
    if (how("hang"))
        for (;;)
            pause();
    if (how("leave a process") || how("leave a process and hang"))
        leave_a_process();
    while (how("leave a process and hang"))
        pause();
    if (how("flood") || how("flood for ever"))
        flood(how("flood for ever"));
    if (how("crash"))
        crash();
    if (how("exit"))
        _exit(0);
    if (how("denied"))
        return (HRESULT)0x80070005;
    if (how("fail"))
        return (HRESULT)0x80004005;
    puts(how("steer") ? "\033[31mred\n\xc2\x9b\r2J" : "registered");
    return S_OK;
}

HRESULT WINAPI DllUnregisterServer(void)
{
    puts("unregistered");
    return 1; /* S_FALSE, which means success, too */
}
