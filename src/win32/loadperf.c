/* SPDX-License-Identifier: MIT */
/* The functions of loadperf.h: command lines and paths in UTF-8 or UTF-16. */
#include "loadperf/loadperf.h"
#include "base/base.h"
#include "host/host.h"

#include <string.h>

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

/* Converts to UTF-8 in `ret`; *ret_text is NULL if `text` is NULL. False: no memory. */
static bool narrow(LPCWSTR text, struct buffer *ret, const char **ret_text)
{
    *ret_text = NULL;
    if (!text)
        return true;
    if (!utf16_add_as_8(ret, text, utf16_length(text)))
        return false;
    *ret_text = ret->data ? ret->data : "";
    return true;
}

DWORD InstallPerfDllA(LPCSTR computer, LPCSTR ini_path, ULONG_PTR flags)
{
    return install_command(computer, ini_path, flags);
}

DWORD InstallPerfDllW(LPCWSTR computer, LPCWSTR ini_path, ULONG_PTR flags)
{
    BUFFER_AUTO first = {0}, second = {0};
    const char *name, *path;
    if (!narrow(computer, &first, &name) || !narrow(ini_path, &second, &path))
        return ERROR_NOT_ENOUGH_MEMORY;
    return install_command(name, path, flags);
}

DWORD UpdatePerfNameFilesA(LPCSTR counter_path, LPCSTR help_path, LPSTR language, ULONG_PTR flags)
{
    return flags ? ERROR_INVALID_PARAMETER
                 : opl_load_replace(counter_path, help_path, language, NULL);
}

DWORD UpdatePerfNameFilesW(LPCWSTR counter_path, LPCWSTR help_path, LPWSTR language,
                           ULONG_PTR flags)
{
    BUFFER_AUTO first = {0}, second = {0}, third = {0};
    const char *counters, *helps, *id;
    if (!narrow(counter_path, &first, &counters) || !narrow(help_path, &second, &helps) ||
        !narrow(language, &third, &id))
        return ERROR_NOT_ENOUGH_MEMORY;
    return flags ? ERROR_INVALID_PARAMETER : opl_load_replace(counters, helps, id, NULL);
}

DWORD SetServiceAsTrustedA(LPCSTR reserved, LPCSTR service)
{
    return reserved ? ERROR_INVALID_PARAMETER : opl_load_trust(service, NULL);
}

DWORD SetServiceAsTrustedW(LPCWSTR reserved, LPCWSTR service)
{
    BUFFER_AUTO text = {0};
    const char *name;
    if (!narrow(service, &text, &name))
        return ERROR_NOT_ENOUGH_MEMORY;
    return reserved ? ERROR_INVALID_PARAMETER : opl_load_trust(name, NULL);
}

DWORD BackupPerfRegistryToFileW(LPCWSTR path, LPCWSTR comment)
{
    BUFFER_AUTO first = {0}, second = {0};
    const char *file, *text;
    if (!narrow(path, &first, &file) || !narrow(comment, &second, &text))
        return ERROR_NOT_ENOUGH_MEMORY;
    return opl_load_backup(file, text, NULL, NULL);
}

DWORD RestorePerfRegistryFromFileW(LPCWSTR path, LPCWSTR language)
{
    BUFFER_AUTO first = {0}, second = {0};
    const char *file, *id;
    if (!narrow(path, &first, &file) || !narrow(language, &second, &id))
        return ERROR_NOT_ENOUGH_MEMORY;
    return file ? opl_load_restore(file, id, NULL, NULL) : ERROR_INVALID_PARAMETER;
}

DWORD opl_load_last_answer(const char *service, opl_load_answer *ret)
{
    struct host_answer answer;
    if (!service || !ret)
        return ERROR_INVALID_PARAMETER;
    LSTATUS status = host_last_answer(service, &answer);
    if (!status)
        *ret = (opl_load_answer){answer.when, (ULONGLONG)answer.took, answer.by_root};
    return (DWORD)status;
}

const char *opl_load_denied(void)
{
    return *denied_here ? denied_here : NULL;
}

DWORD opl_load_last_event(const char *service, opl_load_event *ret)
{
    struct event_last last;
    if (!service || !ret)
        return ERROR_INVALID_PARAMETER;
    if (!event_last(service, &last))
        return ERROR_FILE_NOT_FOUND;
    ret->when = last.when;
    ret->id = last.id;
    memcpy(ret->level, last.level, sizeof ret->level);
    memcpy(ret->text, last.text, sizeof ret->text);
    memcpy(ret->advice, last.advice, sizeof ret->advice);
    return ERROR_SUCCESS;
}
