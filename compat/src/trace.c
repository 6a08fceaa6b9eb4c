/* SPDX-License-Identifier: MIT */
/* The calling process's name, and trace lines. */
#include "shims.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

void opl_shim_process(char ret[static 64])
{
    snprintf(ret, 64, "%.50s[%d]", program_invocation_short_name, (int)getpid());
}

/* A single write, so that lines of several threads are not mixed. */
void opl_shim_trace(const char *station, const char *text)
{
    const char *setting = secure_getenv("OPENPERFLIB_TRACE");
    if (!setting || !*setting || !strcmp(setting, "0"))
        return;
    size_t length = strlen(text);
    while (length && (text[length - 1] == '\n' || text[length - 1] == '\r'))
        length--;
    struct iovec parts[] = {
        {(void *)"openperflib: ", 13             },
        {(void *)station,         strlen(station)},
        {(void *)": ",            2              },
        {(void *)text,            length         },
        {(void *)"\n",            1              },
    };
    int saved = errno;
    if (writev(STDERR_FILENO, parts, sizeof parts / sizeof *parts) < 0)
        errno = saved; /* standard error is closed: nothing to do */
    errno = saved;
}

char *opl_shim_narrow(LPCWSTR text)
{
    int size = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
    char *narrow = size > 0 ? malloc((size_t)size) : NULL;
    if (narrow)
        WideCharToMultiByte(CP_UTF8, 0, text, -1, narrow, size, NULL, NULL);
    return narrow;
}

DWORD WINAPI GetCurrentProcessId(void)
{
    return (DWORD)getpid();
}

DWORD WINAPI GetCurrentThreadId(void)
{
    return (DWORD)syscall(SYS_gettid);
}

void WINAPI OutputDebugStringA(LPCSTR text)
{
    opl_shim_trace("debug", text ? text : "");
}

void WINAPI OutputDebugStringW(LPCWSTR text)
{
    char *narrow = text ? opl_shim_narrow(text) : NULL;
    OutputDebugStringA(narrow);
    free(narrow);
}
