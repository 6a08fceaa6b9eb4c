/* SPDX-License-Identifier: MIT */
/*
 * The command lines of LoadPerfCounterTextStrings and UnloadPerfCounterTextStrings: a first word
 * that is ignored, as if it were a program's name (docs/windows/articles.md#c68), then one
 * argument, in quotation marks if it contains blanks.
 */
#include "loadperf/inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads the next word; false: no more words, or a quotation mark is not closed. */
static bool take_word(const char **cursor, struct text_span *ret)
{
    const char *at = *cursor + strspn(*cursor, " \t");
    char end = *at == '"' ? '"' : ' ';
    at += end == '"';
    size_t count = end == '"' ? strcspn(at, "\"") : strcspn(at, " \t");
    *ret = (struct text_span){at, count};
    *cursor = at + count + (end == '"' && at[count]);
    return count > 0 && (end != '"' || at[count]);
}

/* Receives the messages of a command; prints only the first problem, as one line. */
struct listening {
    bool heard;
    char text[512];
};

static void listen(void *self, const opl_load_remark *remark)
{
    struct listening *listening = self;
    char line[24] = "";
    if (!remark->error || listening->heard)
        return;
    listening->heard = true;
    if (remark->line)
        snprintf(line, sizeof line, "%u: ", remark->line);
    snprintf(listening->text, sizeof listening->text, "%s%s%s%s", remark->file ? remark->file : "",
             remark->file ? (remark->line ? ":" : ": ") : "", line, remark->text);
}

static LSTATUS read_line(const char *line, char **ret, struct listening *listening)
{
    struct text_span dummy, argument;
    *ret = NULL;
    if (!take_word(&line, &dummy) || !take_word(&line, &argument) || line[strspn(line, " \t")]) {
        listening->heard = true;
        snprintf(listening->text, sizeof listening->text,
                 "the command line must have two words, such as: lodctr \"my counters.ini\", or "
                 "unlodctr "
                 "MyPerf");
        return ERROR_INVALID_PARAMETER;
    }
    *ret = span_copy(argument);
    return *ret ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
}

static DWORD finish(bool quiet, const char *tool, LSTATUS status, const char *good,
                    const struct listening *listening)
{
    if (quiet)
        return (DWORD)status;
    if (status)
        fprintf(stderr, "%s: %s\n", tool, listening->heard ? listening->text : status_text(status));
    else
        printf("%s\n", good);
    return (DWORD)status;
}

static DWORD load_path(const char *path, bool quiet)
{
    struct listening listening = {0};
    opl_load_options options = {.remark = listen, .self = &listening};
    opl_load_result result = {0};
    char good[512];
    LSTATUS status = (LSTATUS)opl_load_install(path, &options, &result);
    snprintf(good, sizeof good, "%s: %s, counters %u to %u, explanations %u to %u", result.service,
             result.already ? "loaded before" : "loaded", (unsigned)result.first_counter,
             (unsigned)result.last_counter, (unsigned)result.first_help,
             (unsigned)result.last_help);
    return finish(quiet, "lodctr", status, good, &listening);
}

DWORD load_command(const char *command_line, bool quiet)
{
    struct listening listening = {0};
    FREE_AUTO char *path = NULL;
    LSTATUS status = read_line(command_line, &path, &listening);
    return status ? finish(quiet, "lodctr", status, "", &listening) : load_path(path, quiet);
}

DWORD install_command(const char *computer, const char *ini_path, ULONG_PTR flags)
{
    const ULONG_PTR all = LOADPERF_FLAGS_DELETE_MOF_ON_EXIT | LOADPERF_FLAGS_LOAD_REGISTRY_ONLY |
                          LOADPERF_FLAGS_CREATE_MOF_ONLY | LOADPERF_FLAGS_DISPLAY_USER_MSGS;
    const ULONG_PTR both = LOADPERF_FLAGS_LOAD_REGISTRY_ONLY | LOADPERF_FLAGS_CREATE_MOF_ONLY;
    HKEY key;
    if (!ini_path || flags & ~all || (flags & both) == both)
        return ERROR_INVALID_PARAMETER;
    if (computer && *computer) {
        if (key_connect(computer, HKEY_LOCAL_MACHINE, &key) != ERROR_SUCCESS)
            return ERROR_NOT_SUPPORTED;
        key_close(key);
    }
    if (flags & LOADPERF_FLAGS_CREATE_MOF_ONLY)
        return ERROR_SUCCESS; /* MOF files are not supported; the call succeeds without doing
                               * anything */
    return load_path(ini_path, !(flags & LOADPERF_FLAGS_DISPLAY_USER_MSGS));
}

DWORD unload_command(const char *command_line, bool quiet)
{
    struct listening listening = {0};
    opl_load_options options = {.remark = listen, .self = &listening};
    opl_load_result result = {0};
    FREE_AUTO char *service = NULL;
    char good[512];
    LSTATUS status = read_line(command_line, &service, &listening);
    status = status ? status : (LSTATUS)opl_load_remove(service, &options, &result);
    snprintf(good, sizeof good, "%s: unloaded", result.service);
    return finish(quiet, "unlodctr", status, good, &listening);
}
