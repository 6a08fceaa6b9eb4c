/* SPDX-License-Identifier: MIT */
/*
 * lodctr: registers a provider's names and explanations, and has Windows' other options for names.
 * The exit code is the Win32 code of the error, or 0.
 */
#include "lodctr.h"

#include "../common/last-event.h"
#include "../view/text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const char more[] =
    "FILE is an ini file; its symbol file is in the same folder. Options may be written as\n"
    "on Windows: /E:SERVICE, /D:SERVICE, /Q, /Q:SERVICE, /L:ID, /S:FILE,\n"
    "/R, /R:FILE, /T:SERVICE, /C:FILE /H:FILE /L:ID, in any case.\n"
    "\n"
    "Examples:\n"
    "  lodctr myperf.ini                      load the names of a registered provider\n"
    "  lodctr -u --library=my.so myperf.ini   also register the library, for yourself\n"
    "  lodctr --check myperf.ini              look for mistakes\n"
    "  lodctr --dry-run --json myperf.ini     what would be written, for programs\n"
    "  lodctr /Q:MyPerf                       what is registered\n"
    "  lodctr /S:saved.ini                    save all, for lodctr /R:saved.ini\n"
    "  lodctr doctor --dry-run                what is damaged\n"
    "\n"
    "The exit code is 0, or the Win32 code of the error: 2 not found, 5 no\n"
    "rights, 13 mistakes in the files, 87 usage. \"Loaded already\" is not an error. The\n"
    "exit code of doctor is 1 as long as something is wrong.\n";

static const struct tool tool = {
    .name = "lodctr",
    .summary = "Load a provider's counter names and explanations into the registry.",
    .usage = "[OPTION]... FILE...\n"
             "/E:SERVICE | /D:SERVICE | /T:SERVICE | /Q[:SERVICE] | /L:ID [--remove]\n"
             "doctor [--dry-run] [--json] | --drop-ins[=FOLDER] [--dry-run]\n"
             "/S:FILE | /R[:FILE] | [/C:FILE] [/H:FILE] /L:ID\n"
             "--register LIB | --unregister LIB",
    .rows = lodctr_rows,
    .more = more,
    .complete_args = "@ini",
};

static int take_code_page(struct lodctr *opts, const struct options *options)
{
    const char *text = options->value;
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    opts->code_page = (unsigned)number;
    if (end != text && !*end && number > 0 && number <= 65535)
        return 0;
    return options_complain(options, "not a code page number: %s", text);
}

static int refuse(const struct options *options)
{
    return options_complain(options,
                            "%s: manifests describe counter sets, which are not supported yet; "
                            "register the provider with an ini file",
                            options->spelled);
}

static int take_arg(struct lodctr *opts, const struct options *options)
{
    char *word = (char *)options->value; /* points into argv, which may be modified */
    if (opts->arg_count == sizeof opts->args / sizeof *opts->args)
        return options_complain(options, "too many arguments: %s", word);
    opts->args[opts->arg_count++] = word;
    return 0;
}

/* "\\\\server" before the ini file: this machine's name is ignored, another name is refused. */
static int take_machine(const struct options *options, const char *word)
{
    char own[256] = "";
    const char *name = word + 2;
    gethostname(own, sizeof own - 1);
    size_t first = strcspn(own, ".");
    bool here = !strcmp(name, ".") || !strcasecmp(name, "localhost") || !strcasecmp(name, own) ||
                (strlen(name) == first && !strncasecmp(name, own, first));
    if (here)
        return 0;
    return options_complain(
        options,
        "%s: lodctr changes only the machine that it runs on; run it there, for "
        "example with ssh",
        word);
}

/* Handles an option that chooses the command. *mode: the command that was chosen; 0: none yet. */
static int take_command(struct lodctr *opts, const struct options *options, int id, int *mode)
{
    const char *word = options->value;
    if (id == QUERY && word && take_arg(opts, options))
        return EXIT_USAGE;
    if (word && !*word)
        return options_complain(options, "this option needs a value: %s", options->spelled);
    if (*mode && (*mode != QUERY || id != QUERY))
        return options_complain(
            options, "%s cannot be combined with the option before it; use one command at a time",
            options->spelled);
    *mode = id;
    opts->subject = word;
    return 0;
}

static int take_option(struct lodctr *opts, const struct options *options, int id, int *mode)
{
    const char *word = options->value;
    bool first = id == OPTION_ARGUMENT && !*mode && !opts->arg_count;
    if (id == REFUSED)
        return refuse(options);
    if (first && !strncmp(word, "\\\\", 2) && word[2])
        return take_machine(options, word);
    if (first && strcmp(word, "doctor") == 0 && access(word, F_OK) != 0)
        return take_command(opts, options, DOCTOR, mode);
    if (id == OPTION_ARGUMENT)
        return take_arg(opts, options);
    if (id == CODEPAGE)
        return take_code_page(opts, options);
    return id == OPTION_SET ? options_set(options, opts) : take_command(opts, options, id, mode);
}

static int check_files(const struct lodctr *opts, const struct options *options)
{
    if (!opts->arg_count)
        return options_complain(options, "FILE is missing");
    if (opts->library && opts->arg_count > 1)
        return options_complain(options, "--library needs exactly one FILE");
    return 0;
}

static int check_command(const struct lodctr *opts, const struct options *options, int mode)
{
    bool dry = opts->dry_run && mode < RESTORE && !opts->counters && !opts->helps;
    if (mode != QUERY && opts->arg_count)
        return options_complain(options, "unexpected argument: %s", opts->args[0]);
    if (opts->check || dry || opts->library || opts->code_page)
        return options_complain(options, "--check, --dry-run, --codepage, --library need FILE");
    if (opts->json && mode == NAMES)
        return options_complain(options, "--json cannot be combined with --names");
    return 0;
}

static int check_options(const struct lodctr *opts, const struct options *options, int mode)
{
    if ((opts->counters || opts->helps) && (mode != LANGUAGE || opts->remove || opts->user))
        return options_complain(options, "/C and /H need /L, the language, and nothing else");
    if (mode ? check_command(opts, options, mode) : check_files(opts, options))
        return EXIT_USAGE;
    if (!opts->library && (opts->open || opts->collect || opts->close))
        return options_complain(options, "--open, --collect, --close need --library");
    if (opts->remove && mode != LANGUAGE)
        return options_complain(options, "--remove needs --language; unlodctr removes counters");
    return 0;
}

/* ---- changes of a single service or language ---- */

struct change_result {
    const struct lodctr *opts;
    bool reported; /* a remark has given the reason of the failure */
};

static void take_remark(void *self, const opl_load_remark *remark)
{
    struct change_result *change = self;
    change->reported |= remark->error;
    status_remark("lodctr", remark);
}

static DWORD finish(const struct change_result *change, const char *text, DWORD status)
{
    if (status == ERROR_ACCESS_DENIED && change->reported && !change->opts->user &&
        !change->opts->refused)
        fprintf(stderr,
                "lodctr: %s: if it was loaded with --user, repeat the command with --user\n",
                text_seen(change->opts->subject));
    if (status)
        return change->reported ? status : status_complain("lodctr", change->opts->subject, status);
    if (!change->opts->quiet && !change->opts->json)
        printf("%s: %s\n", text_seen(change->opts->subject), text);
    return status;
}

static DWORD enable(const struct lodctr *opts, bool on)
{
    struct change_result change = {.opts = opts};
    opl_load_options options = {.user = opts->user, .remark = take_remark, .self = &change};
    DWORD status = opl_load_enable(opts->subject, on, &options);
    return finish(&change, on ? "is enabled" : "is disabled", status);
}

static DWORD trust(const struct lodctr *opts)
{
    struct change_result change = {.opts = opts};
    opl_load_options options = {.user = opts->user, .remark = take_remark, .self = &change};
    DWORD status = opl_load_trust(opts->subject, &options);
    return finish(&change, "its library is trusted as it is now", status);
}

static DWORD change_language(const struct lodctr *opts)
{
    struct change_result change = {.opts = opts};
    opl_load_options options = {.user = opts->user, .remark = take_remark, .self = &change};
    DWORD status = opl_load_language(opts->subject, opts->remove, &options);
    return finish(&change, opts->remove ? "is removed" : "is installed", status);
}

static DWORD change_one(const struct lodctr *opts, int mode)
{
    enum register_step reached;
    if (mode == LANGUAGE)
        return opts->counters || opts->helps ? replace_base(opts) : change_language(opts);
    if (mode == TRUST)
        return trust(opts);
    if (mode == ENABLE || mode == DISABLE)
        return enable(opts, mode == ENABLE);
    return register_library(opts, mode == UNREGISTER, &reached);
}

/* Makes the change; an error is also reported on standard error. */
static DWORD change_and_report(const struct lodctr *opts, int mode)
{
    static const char *const names[] = {
        [ENABLE] = "enable", [DISABLE] = "disable",   [LANGUAGE] = "language",
        [TRUST] = "trust",   [REGISTER] = "register", [UNREGISTER] = "unregister"};
    struct json json = {.out = stdout};
    DWORD status = change_one(opts, mode);
    if (!opts->json)
        return status;
    json_open(&json, NULL, '{');
    json_string(&json, "action", names[mode]);
    json_string(&json, "subject", opts->subject);
    if (mode == LANGUAGE)
        json_bool(&json, "remove", opts->remove);
    json_integer(&json, "status", status);
    json_string(&json, "statusText", status_message(status));
    json_close(&json, '}');
    putchar('\n');
    return status;
}

static DWORD run(const struct lodctr *opts, int mode)
{
    if (mode == NAMES)
        return query_names();
    if (mode == QUERY)
        return query_services(opts);
    if (mode == DOCTOR)
        return doctor(opts);
    if (mode == DROP_INS)
        return install_drop_ins(opts);
    if (mode == SAVE || mode == RESTORE)
        return mode == SAVE ? save_all(opts) : restore_all(opts);
    return mode ? change_and_report(opts, mode) : install_files(opts);
}

int main(int argc, char **argv)
{
    static struct lodctr opts;
    struct options options;
    int mode = 0, wrong = 0, id = options_begin(&options, &tool, argc, argv);
    while (id > 0 && !wrong && (id = options_next(&options)) > 0)
        wrong = take_option(&opts, &options, id, &mode);
    if (id == OPTION_SHOWN)
        return status_exit("lodctr", ERROR_SUCCESS);
    if (wrong || id < 0 || check_options(&opts, &options, mode))
        return ERROR_INVALID_PARAMETER;
    opts.refused = last_event_root_refused("lodctr");
    return status_exit("lodctr", run(&opts, mode));
}
