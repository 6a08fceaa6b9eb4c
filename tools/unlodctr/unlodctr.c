/* SPDX-License-Identifier: MIT */
/* unlodctr: removes what lodctr loaded for a service. The exit code is the Win32 code of the
 * first error, or 0. */
#include "../common/json.h"
#include "../common/options.h"
#include "../common/service.h"
#include "../common/status.h"

#include <inttypes.h>
#include <stdio.h>

enum { USER = 1, QUIET, DRY_RUN, JSON, LIBRARY, REFUSED };

/* clang-format off */
static const struct option_row rows[] = {
    {'n', "dry-run", NULL, DRY_RUN, "Show what would be removed, and write nothing.", NULL, 0},
    {'j', "json", NULL, JSON, "Print one JSON document.", NULL, 0},
    {0, "quiet", NULL, QUIET, "Print errors and warnings only.", NULL, 0},
    {0, "library", NULL, LIBRARY, "Also unregister the library: remove what lodctr --library wrote.", NULL, 0},
    {'u', "user", NULL, USER, "Remove what lodctr --user loaded.", NULL, 0},
    {'M', NULL, "MANIFEST", REFUSED, "Remove a manifest.", NULL, true},
    {'G', NULL, "GUID", REFUSED, "Remove a counter set.", NULL, true},
    {'P', NULL, "PROVIDER", REFUSED, "Remove a provider.", NULL, true},
    {0},
};
/* clang-format on */

static const char more[] =
    "SERVICE is the ini file's drivername. Its numbers and texts are removed; its\n"
    "library (without --library) and other settings stay. The indices of other\n"
    "services never change.\n"
    "\n"
    "The exit code is 0, or the Win32 code of the error: 2 not loaded, 5 no\n"
    "rights, 87 usage.\n";

static const struct tool tool = {
    .name = "unlodctr",
    .summary = "Remove a provider's counter names and explanations from the registry.",
    .usage = "[OPTION]... SERVICE...",
    .rows = rows,
    .more = more,
    .complete_words = "@services",
};

struct unlodctr {
    opl_load_options options;
    bool quiet, as_json;
    struct json json;
    unsigned errors; /* remarks about this service */
    char **services;
    int service_count;
};

static void take_remark(void *self, const opl_load_remark *remark)
{
    struct unlodctr *asked = self;
    asked->errors += remark->error;
    if (!asked->as_json) {
        status_remark("unlodctr", remark);
        return;
    }
    json_open_flat(&asked->json, NULL);
    json_string(&asked->json, "level", remark->error ? "error" : "warning");
    json_string(&asked->json, "file", remark->file);
    json_integer(&asked->json, "line", remark->line);
    json_string(&asked->json, "text", remark->text);
    json_close_flat(&asked->json);
}

static bool is_loaded(const char *name)
{
    struct service service;
    bool loaded = service_read(name, &service) == ERROR_SUCCESS && service.loaded;
    service_done(&service);
    return loaded;
}

/* Without write access, a missing service is reported as missing, not as a lack of rights. */
static DWORD look_and_remove(const struct unlodctr *asked, const char *service,
                             opl_load_result *ret)
{
    opl_load_options look = asked->options;
    look.dry_run = true;
    look.remark = NULL;
    if (opl_load_remove(service, &look, NULL) != ERROR_FILE_NOT_FOUND)
        return opl_load_remove(service, &asked->options, ret);
    look.remark = asked->options.remark;
    return opl_load_remove(service, &look, ret);
}

static void print_removed(const struct unlodctr *asked, const char *service,
                          const opl_load_result *result)
{
    if (!result->last_help)
        printf("%s: its library is %s\n", service,
               asked->options.dry_run ? "not removed: a dry run" : "removed");
    else
        printf("%s: %" PRIu32 " to %" PRIu32 ": %s\n", service, result->first_counter,
               result->last_help > result->last_counter ? result->last_help : result->last_counter,
               asked->options.dry_run ? "dry run, would be removed" : "removed");
}

/* Prints the reason of the failure, if no remark did. */
static DWORD remove_service(struct unlodctr *asked, const char *service, opl_load_result *ret)
{
    asked->errors = 0;
    DWORD status = look_and_remove(asked, service, ret);
    if (status == ERROR_FILE_NOT_FOUND && !asked->options.user && is_loaded(service)) {
        fprintf(stderr, "unlodctr: %s: it was loaded with --user; use 'unlodctr --user %s'\n",
                service, service);
        return status;
    }
    if (status && asked->errors)
        return status;
    if (status == ERROR_FILE_NOT_FOUND) {
        fprintf(stderr, "unlodctr: %s: is not loaded%s; \"lodctr /Q\" shows what is (error 2)\n",
                service, asked->options.user ? " for this user" : "");
        return status;
    }
    if (status)
        return status_complain("unlodctr", service, status);
    if (!asked->quiet && !asked->as_json)
        print_removed(asked, service, ret);
    return status;
}

static void json_result(struct json *json, DWORD status, const opl_load_result *result)
{
    json_close(json, ']');
    json_integer(json, "status", status);
    json_string(json, "statusText", status_words(status));
    if (!status && result->last_help) {
        json_integer(json, "firstCounter", result->first_counter);
        json_integer(json, "lastCounter", result->last_counter);
        json_integer(json, "firstHelp", result->first_help);
        json_integer(json, "lastHelp", result->last_help);
    }
    json_close(json, '}');
}

static DWORD remove_and_tell(struct unlodctr *asked, const char *service)
{
    opl_load_result result = {0};
    if (!asked->as_json)
        return remove_service(asked, service, &result);
    json_open(&asked->json, NULL, '{');
    json_string(&asked->json, "service", service);
    json_open(&asked->json, "remarks", '[');
    DWORD status = remove_service(asked, service, &result);
    json_result(&asked->json, status, &result);
    return status;
}

static DWORD remove_all(struct unlodctr *asked)
{
    DWORD first = ERROR_SUCCESS;
    if (asked->as_json) {
        json_open(&asked->json, NULL, '{');
        json_bool(&asked->json, "dryRun", asked->options.dry_run);
        json_open(&asked->json, "services", '[');
    }
    for (int i = 0; i < asked->service_count; i++) {
        DWORD status = remove_and_tell(asked, asked->services[i]);
        first = first ? first : status;
    }
    if (asked->as_json) {
        json_close(&asked->json, ']');
        json_integer(&asked->json, "status", first);
        json_close(&asked->json, '}');
        putchar('\n');
    }
    return first;
}

static int refuse(const struct options *options)
{
    options_complain(options, "%s: manifests are not supported yet; name the service",
                     options->spelled);
    return ERROR_INVALID_PARAMETER;
}

/* 0: continue, or end if there are no services; else the exit code. */
static int read_options(struct unlodctr *asked, int argc, char **argv)
{
    struct options options;
    int id = options_begin(&options, &tool, argc, argv);
    asked->services = argv; /* reuses argv, which was parsed up to here */
    while (id > 0 && (id = options_next(&options)) > 0) {
        asked->options.user |= id == USER;
        asked->options.dry_run |= id == DRY_RUN;
        asked->quiet |= id == QUIET;
        asked->as_json |= id == JSON;
        if (id == LIBRARY)
            asked->options.library = "";
        if (id == OPTION_WORD)
            asked->services[asked->service_count++] = (char *)options.value;
        if (id == REFUSED)
            return refuse(&options);
    }
    if (id == OPTION_END && !asked->service_count)
        options_complain(&options, "SERVICE is missing");
    bool wrong = id == OPTION_WRONG || (id == OPTION_END && !asked->service_count);
    asked->service_count = id == OPTION_END ? asked->service_count : 0;
    return wrong ? ERROR_INVALID_PARAMETER : ERROR_SUCCESS;
}

int main(int argc, char **argv)
{
    struct unlodctr asked = {.options.remark = take_remark, .json.out = stdout};
    asked.options.self = &asked;
    int wrong = read_options(&asked, argc, argv);
    if (wrong)
        return wrong;
    return status_exit("unlodctr", asked.service_count ? remove_all(&asked) : ERROR_SUCCESS);
}
