/* SPDX-License-Identifier: MIT */
/* The options /S (saves all names and settings), /R (restores or rebuilds names and settings), and
 * /C /H /L (replace names of a language). */
#include "lodctr.h"

#include "../view/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct backup_tool {
    const struct lodctr *opts;
    struct json json;
    unsigned errors;
};

static void take_remark(void *self, const opl_load_remark *remark)
{
    struct backup_tool *backup = self;
    backup->errors += remark->error;
    if (!backup->opts->json) {
        status_remark("lodctr", remark);
        return;
    }
    json_open_flat(&backup->json, NULL);
    json_string(&backup->json, "level", remark->error ? "error" : "warning");
    json_string(&backup->json, "file", remark->file);
    json_integer(&backup->json, "line", remark->line);
    json_string(&backup->json, "text", remark->text);
    json_close_flat(&backup->json);
}

static void begin(struct backup_tool *backup, const struct lodctr *opts, const char *action)
{
    *backup = (struct backup_tool){.opts = opts, .json.out = stdout};
    if (!opts->json)
        return;
    json_open(&backup->json, NULL, '{');
    json_string(&backup->json, "action", action);
    json_string(&backup->json, "file", opts->subject);
    json_bool(&backup->json, "dryRun", opts->dry_run);
    json_open(&backup->json, "remarks", '[');
}

static DWORD end(struct backup_tool *backup, DWORD status, const opl_load_restored *result)
{
    struct json *json = &backup->json;
    const char *subject = backup->opts->subject ? backup->opts->subject : "the registry";
    if (status && !backup->errors)
        status_complain("lodctr", subject, status);
    if (!backup->opts->json)
        return status;
    json_close(json, ']');
    json_integer(json, "status", status);
    json_string(json, "statusText", status_message(status));
    if (!status) {
        json_integer(json, "providers", (int64_t)result->providers);
        json_integer(json, "restored", (int64_t)result->restored);
        json_integer(json, "same", (int64_t)result->same);
        json_integer(json, "moved", (int64_t)result->moved);
        json_integer(json, "left", (int64_t)result->left);
        json_integer(json, "languages", (int64_t)result->languages);
        json_integer(json, "texts", (int64_t)result->texts);
    }
    json_close(json, '}');
    putchar('\n');
    return status;
}

static opl_load_options options_of(struct backup_tool *backup)
{
    return (opl_load_options){.user = backup->opts->user,
                              .dry_run = backup->opts->dry_run,
                              .remark = take_remark,
                              .self = backup};
}

DWORD save_all(const struct lodctr *opts)
{
    struct backup_tool backup;
    opl_load_restored result = {0};
    begin(&backup, opts, "save");
    opl_load_options options = options_of(&backup);
    DWORD status = opl_load_backup(opts->subject, NULL, &options, &result);
    if (!status && !opts->quiet && !opts->json)
        printf("%s: %zu providers, %zu languages, %zu texts\n", text_seen(opts->subject),
               result.providers, result.languages, result.texts);
    return end(&backup, status, &result);
}

DWORD restore_all(const struct lodctr *opts)
{
    struct backup_tool backup;
    opl_load_restored result = {0};
    begin(&backup, opts, opts->subject ? "restore" : "rebuild");
    opl_load_options options = options_of(&backup);
    DWORD status = opl_load_restore(opts->subject, NULL, &options, &result);
    if (!status && !opts->quiet && !opts->json)
        printf("%s: %zu providers: %zu %s, %zu unchanged, %zu skipped; %zu have "
               "other index numbers than %s%s\n",
               opts->subject ? text_seen(opts->subject) : "the registry", result.providers,
               result.restored, opts->subject ? "restored" : "rebuilt", result.same, result.left,
               result.moved, opts->subject ? "in the file" : "before",
               opts->dry_run ? "; dry run" : "");
    return end(&backup, status, &result);
}

DWORD replace_base(const struct lodctr *opts)
{
    struct backup_tool backup = {.opts = opts};
    struct lodctr plain = *opts;
    plain.json = false; /* the caller of this function prints the JSON document */
    backup.opts = &plain;
    opl_load_options options = options_of(&backup);
    DWORD status = opl_load_replace(opts->counters, opts->helps, opts->subject, &options);
    if (status && !backup.errors)
        return status_complain("lodctr", opts->subject, status);
    if (!status && !opts->quiet && !opts->json)
        printf("%s: base names %s\n", text_seen(opts->subject),
               opts->dry_run ? "not replaced: a dry run" : "replaced");
    return status;
}
