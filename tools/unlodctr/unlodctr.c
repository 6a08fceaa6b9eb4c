/* SPDX-License-Identifier: MIT */
/* unlodctr: removes what lodctr loaded for a service. The exit code is a Win32 code: 0, or the
 * first error. */
#include "../common/json.h"
#include "../common/last-event.h"
#include "../common/options.h"
#include "../common/service.h"
#include "../common/status.h"

#include "../view/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
    .complete_args = "@services",
};

struct unlodctr {
    opl_load_options options;
    bool quiet, as_json;
    struct json json;
    unsigned errors; /* number of remarks about this service that are errors */
    char **services;
    int service_count;
};

static void take_remark(void *self, const opl_load_remark *remark)
{
    struct unlodctr *opts = self;
    opts->errors += remark->error;
    if (!opts->as_json) {
        status_remark("unlodctr", remark);
        return;
    }
    json_open_flat(&opts->json, NULL);
    json_string(&opts->json, "level", remark->error ? "error" : "warning");
    json_string(&opts->json, "file", remark->file);
    json_integer(&opts->json, "line", remark->line);
    json_string(&opts->json, "text", remark->text);
    json_close_flat(&opts->json);
}

static bool is_loaded(const char *name)
{
    struct service_settings service;
    bool loaded = service_read(name, &service) == ERROR_SUCCESS && service.loaded;
    service_done(&service);
    return loaded;
}

/* Removes a service. If it does not exist, says that, even without write access. */
static DWORD look_and_remove(const struct unlodctr *opts, const char *service, opl_load_result *ret)
{
    opl_load_options look = opts->options;
    look.dry_run = true;
    look.remark = NULL;
    if (opl_load_remove(service, &look, NULL) != ERROR_FILE_NOT_FOUND)
        return opl_load_remove(service, &opts->options, ret);
    look.remark = opts->options.remark;
    return opl_load_remove(service, &look, ret);
}

static void print_removed(const struct unlodctr *opts, const char *service,
                          const opl_load_result *result)
{
    if (!result->last_help)
        printf("%s: the registration of its library is %s\n", text_seen(service),
               opts->options.dry_run ? "not removed: a dry run" : "removed");
    else
        printf("%s: %" PRIu32 " to %" PRIu32 ": %s\n", text_seen(service), result->first_counter,
               result->last_help > result->last_counter ? result->last_help : result->last_counter,
               opts->options.dry_run ? "dry run, would be removed" : "removed");
}

/* Removes a service, and prints why that failed, if no remark did. */
static DWORD remove_service(struct unlodctr *opts, const char *service, opl_load_result *ret)
{
    opts->errors = 0;
    DWORD status = look_and_remove(opts, service, ret);
    if (status == ERROR_FILE_NOT_FOUND && !opts->options.user && is_loaded(service)) {
        fprintf(stderr, "unlodctr: %s: it was loaded with --user; use 'unlodctr --user %s'\n",
                text_seen(service), text_seen(service));
        return status;
    }
    if (status && opts->errors)
        return status;
    if (status == ERROR_FILE_NOT_FOUND) {
        fprintf(stderr,
                "unlodctr: %s: is not loaded%s; \"lodctr /Q\" shows what is loaded (error 2)\n",
                text_seen(service), opts->options.user ? " for this user" : "");
        return status;
    }
    if (status)
        return status_complain("unlodctr", service, status);
    if (!opts->quiet && !opts->as_json)
        print_removed(opts, service, ret);
    return status;
}

static void json_result(struct json *json, DWORD status, const opl_load_result *result)
{
    json_close(json, ']');
    json_integer(json, "status", status);
    json_string(json, "statusText", status_message(status));
    if (!status && result->last_help) {
        json_integer(json, "firstCounter", result->first_counter);
        json_integer(json, "lastCounter", result->last_counter);
        json_integer(json, "firstHelp", result->first_help);
        json_integer(json, "lastHelp", result->last_help);
    }
    json_close(json, '}');
}

static DWORD remove_and_report(struct unlodctr *opts, const char *service)
{
    opl_load_result result = {0};
    if (!opts->as_json)
        return remove_service(opts, service, &result);
    json_open(&opts->json, NULL, '{');
    json_string(&opts->json, "service", service);
    json_open(&opts->json, "remarks", '[');
    DWORD status = remove_service(opts, service, &result);
    json_result(&opts->json, status, &result);
    return status;
}

static DWORD remove_all(struct unlodctr *opts)
{
    DWORD first = ERROR_SUCCESS;
    if (opts->as_json) {
        json_open(&opts->json, NULL, '{');
        json_bool(&opts->json, "dryRun", opts->options.dry_run);
        json_open(&opts->json, "services", '[');
    }
    for (int i = 0; i < opts->service_count; i++) {
        DWORD status = remove_and_report(opts, opts->services[i]);
        first = first ? first : status;
    }
    if (opts->as_json) {
        json_close(&opts->json, ']');
        json_integer(&opts->json, "status", first);
        json_close(&opts->json, '}');
        putchar('\n');
    }
    return first;
}

static int refuse(const struct options *options, const char *why)
{
    options_complain(options, "%s: %s", options->spelled, why);
    return ERROR_INVALID_PARAMETER;
}

/* Reads the command line. Returns 0 to continue (or end, without services), else the exit code. */
static int read_options(struct unlodctr *opts, int argc, char **argv)
{
    struct options options;
    int id = options_begin(&options, &tool, argc, argv);
    opts->services = argv; /* reuses argv, which was parsed up to here */
    while (id > 0 && (id = options_next(&options)) > 0) {
        opts->options.user |= id == USER;
        opts->options.dry_run |= id == DRY_RUN;
        opts->quiet |= id == QUIET;
        opts->as_json |= id == JSON;
        if (id == LIBRARY)
            opts->options.library = "";
        if (id == OPTION_ARGUMENT)
            opts->services[opts->service_count++] = (char *)options.value;
        if (id == REFUSED)
            return refuse(&options, "manifests are not supported yet; name the service");
        if (id == OPTION_ARGUMENT && !strncmp(options.value, "\\\\", 2))
            return refuse(&options, "unlodctr changes only the machine that it runs on; run it "
                                    "there, for example with ssh");
    }
    if (id == OPTION_END && !opts->service_count)
        options_complain(&options, "SERVICE is missing");
    bool wrong = id == OPTION_WRONG || (id == OPTION_END && !opts->service_count);
    opts->service_count = id == OPTION_END ? opts->service_count : 0;
    return wrong ? ERROR_INVALID_PARAMETER : ERROR_SUCCESS;
}

int main(int argc, char **argv)
{
    struct unlodctr opts = {.options.remark = take_remark, .json.out = stdout};
    opts.options.self = &opts;
    int wrong = read_options(&opts, argc, argv);
    if (wrong)
        return wrong;
    if (opts.service_count)
        last_event_root_refused("unlodctr");
    return status_exit("unlodctr", opts.service_count ? remove_all(&opts) : ERROR_SUCCESS);
}
