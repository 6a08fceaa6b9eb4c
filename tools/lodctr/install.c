/* SPDX-License-Identifier: MIT */
/* lodctr FILE...: loads one file after the other by opl_load_install; a file that fails does
 * not affect the others. Remarks are printed at once, or become part of the JSON document. */
#include "lodctr.h"

#include "../common/child.h"
#include "../view/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BAR_COLUMNS = 30, BAR_DELAY = 1000 }; /* BAR_DELAY: milliseconds */

struct install_run {
    const struct lodctr *opts;
    unsigned errors; /* number of remarks about the present file that are errors */
    struct json json;
    struct install_plan *plan;
    bool planned; /* the registry file was parsed into the plan */
    size_t done;
    bool bar; /* a progress bar is shown */
    int64_t bar_due;
};

/* ---- a progress bar below the lines, if loading takes longer than a second ---- */

static void bar_clear(const struct install_run *install)
{
    if (!install->bar)
        return;
    fflush(stdout);
    fputs("\r\033[K", stderr);
}

static void bar_draw(const struct install_run *install)
{
    char bar[BAR_COLUMNS + 1] = "";
    size_t all = install->opts->arg_count, full = install->done * BAR_COLUMNS / all;
    if (!install->bar || now_ms() < install->bar_due)
        return;
    memset(bar, '.', BAR_COLUMNS);
    memset(bar, '#', full);
    fflush(stdout);
    fprintf(stderr, "\r\033[K[%s] %zu of %zu files", bar, install->done, all);
}

/* ---- remarks of the library ---- */

static void take_remark(void *self, const opl_load_remark *remark)
{
    struct install_run *install = self;
    install->errors += remark->error;
    if (!install->opts->json) {
        bar_clear(install);
        status_remark("lodctr", remark);
        return;
    }
    json_open_flat(&install->json, NULL);
    json_string(&install->json, "level", remark->error ? "error" : "warning");
    json_string(&install->json, "file", remark->file);
    json_integer(&install->json, "line", remark->line);
    json_string(&install->json, "text", remark->text);
    json_close_flat(&install->json);
}

static void take_text(void *self, const char *text, size_t size)
{
    struct install_run *install = self;
    install->planned = install->plan && plan_read(install->plan, text, size);
}

/* ---- the result ---- */

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/* Returns the service's highest number. An explanation has the number of its name plus 1. */
static DWORD last_index(const opl_load_result *result)
{
    return result->last_help > result->last_counter ? result->last_help : result->last_counter;
}

static void print_already(const struct install_run *install, const opl_load_result *result)
{
    printf("%s: %" PRIu32 " to %" PRIu32 ": loaded already, unchanged (unlodctr%s %s removes it)\n",
           text_seen(result->service), result->first_counter, last_index(result),
           opl_load_is_users(result->service) ? " --user" : "", text_seen(result->service));
}

static void print_result(const struct install_run *install, const opl_load_result *result)
{
    const struct lodctr *opts = install->opts;
    if (result->already && !opts->check) {
        print_already(install, result);
        return;
    }
    printf("%s: ", text_seen(result->service));
    if (!opts->check)
        printf("%" PRIu32 " to %" PRIu32 ": ", result->first_counter, last_index(result));
    printf("%zu object%s, %zu name%s, %zu explanation%s, %zu language%s%s\n", result->objects,
           plural(result->objects), result->names, plural(result->names), result->helps,
           plural(result->helps), result->languages, plural(result->languages),
           opts->check     ? "; no mistakes found"
           : opts->dry_run ? "; dry run"
                           : "");
    if (opts->dry_run && install->planned)
        plan_print(install->plan);
}

/* Prints why a file failed, unless a remark gave the reason already. */
static void print_failure(const struct install_run *install, const char *file, DWORD status)
{
    if (!install->errors)
        status_complain("lodctr", file, status);
    else if (install->opts->check)
        fprintf(stderr, "lodctr: %s: %u mistake%s to correct (error %lu)\n", text_seen(file),
                install->errors, plural(install->errors), (unsigned long)status);
    else
        fprintf(stderr, "lodctr: %s: not loaded (error %lu)\n", text_seen(file),
                (unsigned long)status);
}

static void json_result(struct install_run *install, DWORD status, const opl_load_result *result)
{
    struct json *json = &install->json;
    json_close(json, ']');
    json_integer(json, "status", status);
    json_string(json, "statusText", status_message(status));
    if (!status) {
        json_string(json, "service", result->service);
        json_bool(json, "already", result->already);
        json_integer(json, "firstCounter", result->first_counter);
        json_integer(json, "lastCounter", result->last_counter);
        json_integer(json, "firstHelp", result->first_help);
        json_integer(json, "lastHelp", result->last_help);
        json_integer(json, "objects", (int64_t)result->objects);
        json_integer(json, "names", (int64_t)result->names);
        json_integer(json, "helps", (int64_t)result->helps);
        json_integer(json, "languages", (int64_t)result->languages);
        if (install->planned)
            plan_json(install->plan, json);
    }
    json_close(json, '}');
}

static void print_outcome(struct install_run *install, const char *file, DWORD status,
                          const opl_load_result *result)
{
    bar_clear(install);
    if (install->opts->json)
        json_result(install, status, result);
    else if (status)
        print_failure(install, file, status);
    else if (!install->opts->quiet)
        print_result(install, result);
}

/* ---- files ---- */

/* Installs a package's file; FOLDER/X.ini has the library X.so. A missing library is only reported,
 * because the library may be installed for another architecture. */
static DWORD install_drop_in(const char *file, opl_load_options options, opl_load_result *ret)
{
    const char *name = strrchr(file, '/') + 1;
    char *library = NULL;
    if (asprintf(&library, "%.*s.so", (int)strlen(name) - 4, name) < 0)
        return ERROR_NOT_ENOUGH_MEMORY;
    options.library = library;
    options.drop_in = true;
    DWORD status = opl_load_install(file, &options, ret);
    if (!status)
        library_check(library);
    free(library);
    return status;
}

static DWORD install_file(struct install_run *install, const opl_load_options *options,
                          const char *file)
{
    opl_load_result result = {0};
    if (install->opts->json) {
        json_open(&install->json, NULL, '{');
        json_string(&install->json, "file", file);
        json_open(&install->json, "remarks", '[');
    }
    install->plan = plan_new();
    install->planned = false;
    install->errors = 0;
    DWORD status = install->opts->drop_ins ? install_drop_in(file, *options, &result)
                                           : opl_load_install(file, options, &result);
    print_outcome(install, file, status, &result);
    plan_free(install->plan);
    install->done++;
    bar_draw(install);
    return status;
}

static DWORD install_all(struct install_run *install, const opl_load_options *options)
{
    DWORD first = ERROR_SUCCESS;
    const struct lodctr *opts = install->opts;
    for (size_t i = 0; i < opts->arg_count; i++) {
        DWORD status = install_file(install, options, opts->args[i]);
        first = first ? first : status;
    }
    bar_clear(install);
    return first;
}

static void json_begin(struct install_run *install)
{
    json_open(&install->json, NULL, '{');
    json_bool(&install->json, "check", install->opts->check);
    json_bool(&install->json, "dryRun", install->opts->dry_run);
    json_open(&install->json, "files", '[');
}

static void json_end(struct install_run *install, DWORD status)
{
    json_close(&install->json, ']');
    json_integer(&install->json, "status", status);
    json_close(&install->json, '}');
    putchar('\n');
}

DWORD install_files(const struct lodctr *opts)
{
    struct install_run install = {.opts = opts,
                                  .json.out = stdout,
                                  .bar = opts->arg_count > 1 && !opts->json && !opts->quiet &&
                                         status_terminal(STDERR_FILENO),
                                  .bar_due = now_ms() + BAR_DELAY};
    char *library = opts->library ? library_path(opts->library) : NULL;
    opl_load_options options = {.user = opts->user,
                                .dry_run = opts->dry_run,
                                .strict = opts->check,
                                .code_page = opts->code_page,
                                .library = library,
                                .open = opts->open,
                                .collect = opts->collect,
                                .close = opts->close,
                                .remark = take_remark,
                                .written = take_text,
                                .self = &install};
    /* refused before anything is written: the registration would only give each program an error */
    DWORD status = library ? library_check(library) : ERROR_SUCCESS;
    if (library && !status)
        status = register_test(opts, library);
    if (status)
        fprintf(stderr, "lodctr: %s: not loaded, nothing was changed (error %lu)\n",
                text_seen(opts->args[0]), (unsigned long)status);
    if (opts->json)
        json_begin(&install);
    if (!status)
        status = install_all(&install, &options);
    if (opts->json)
        json_end(&install, status);
    free(library);
    return status;
}
