/* SPDX-License-Identifier: MIT */
/* The doors of loadperf.h: command lines in UTF-8 or UTF-16. */
#include "loadperf/loadperf.h"
#include "base/base.h"

static DWORD with_wide(DWORD (*command)(const char *, bool), LPCWSTR line, BOOL quiet)
{
    BUFFER_AUTO text = {0};
    if (!line)
        return ERROR_INVALID_PARAMETER;
    if (!utf16_add_as_8(&text, line, utf16_length(line)))
        return ERROR_NOT_ENOUGH_MEMORY;
    return command(text.data ? text.data : "", quiet);
}

DWORD LoadPerfCounterTextStringsA(LPSTR command_line, BOOL quiet)
{
    return command_line ? load_command(command_line, quiet) : ERROR_INVALID_PARAMETER;
}

DWORD LoadPerfCounterTextStringsW(LPWSTR command_line, BOOL quiet)
{
    return with_wide(load_command, command_line, quiet);
}

DWORD UnloadPerfCounterTextStringsA(LPSTR command_line, BOOL quiet)
{
    return command_line ? unload_command(command_line, quiet) : ERROR_INVALID_PARAMETER;
}

DWORD UnloadPerfCounterTextStringsW(LPWSTR command_line, BOOL quiet)
{
    return with_wide(unload_command, command_line, quiet);
}
