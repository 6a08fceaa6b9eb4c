/* SPDX-License-Identifier: MIT */
/* /S, /R, and /C /H /L: saves, restores, rebuilds or replaces all names and settings. */
#include "lodctr.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct backup {
    const struct lodctr *asked;
    struct json json;
    unsigned errors;
};

static void take_remark(void *self, const opl_load_remark *remark)
{
    struct backup *backup = self;
    backup->errors += remark->error;
    if (!backup->asked->json) {
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

static void begin(struct backup *backup, const struct lodctr *asked, const char *action)
{
    *backup = (struct backup){.asked = asked, .json.out = stdout};
    if (!asked->json)
        return;
    json_open(&backup->json, NULL, '{');
    json_string(&backup->json, "action", action);
    json_string(&backup->json, "file", asked->subject);
    json_bool(&backup->json, "dryRun", asked->dry_run);
    json_open(&backup->json, "remarks", '[');
}

static DWORD end(struct backup *backup, DWORD status, const opl_load_restored *result)
{
    struct json *json = &backup->json;
    const char *subject = backup->asked->subject ? backup->asked->subject : "the registry";
    if (status && !backup->errors)
        status_complain("lodctr", subject, status);
    if (!backup->asked->json)
        return status;
    json_close(json, ']');
    json_integer(json, "status", status);
    json_string(json, "statusText", status_words(status));
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

static opl_load_options options_of(struct backup *backup)
{
    return (opl_load_options){.user = backup->asked->user,
                              .dry_run = backup->asked->dry_run,
                              .remark = take_remark,
                              .self = backup};
}

DWORD save_all(const struct lodctr *asked)
{
    struct backup backup;
    opl_load_restored result = {0};
    begin(&backup, asked, "save");
    opl_load_options options = options_of(&backup);
    DWORD status = opl_load_backup(asked->subject, NULL, &options, &result);
    if (!status && !asked->quiet && !asked->json)
        printf("%s: %zu providers, %zu languages, %zu texts\n", asked->subject, result.providers,
               result.languages, result.texts);
    return end(&backup, status, &result);
}

DWORD restore_all(const struct lodctr *asked)
{
    struct backup backup;
    opl_load_restored result = {0};
    begin(&backup, asked, asked->subject ? "restore" : "rebuild");
    opl_load_options options = options_of(&backup);
    DWORD status = opl_load_restore(asked->subject, NULL, &options, &result);
    if (!status && !asked->quiet && !asked->json)
        printf("%s: %zu providers: %zu %s, %zu unchanged, %zu skipped; %zu have "
               "different numbers%s\n",
               asked->subject ? asked->subject : "the registry", result.providers, result.restored,
               asked->subject ? "restored" : "rebuilt", result.same, result.left, result.moved,
               asked->dry_run ? "; dry run" : "");
    return end(&backup, status, &result);
}

DWORD replace_base(const struct lodctr *asked)
{
    struct backup backup = {.asked = asked};
    struct lodctr plain = *asked;
    plain.json = false; /* the caller prints the document */
    backup.asked = &plain;
    opl_load_options options = options_of(&backup);
    DWORD status = opl_load_replace(asked->counters, asked->helps, asked->subject, &options);
    if (status && !backup.errors)
        return status_complain("lodctr", asked->subject, status);
    if (!status && !asked->quiet && !asked->json)
        printf("%s: base names %s\n", asked->subject,
               asked->dry_run ? "not replaced: a dry run" : "replaced");
    return status;
}
