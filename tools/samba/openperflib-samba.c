/* SPDX-License-Identifier: MIT */
/*
 * openperflib-samba: enables or disables Samba's answers to Windows' performance queries from this
 * machine's counters. Samba itself is not changed: its unit gets a drop-in that loads a library.
 */
#include "samba.h"
#include "../common/json.h"
#include "../common/options.h"

#include "../view/text.h"

#include <stdarg.h>
#include <stdio.h>

enum { ROOT = 1, DRY, NOW, JSON };
enum { ENABLE = 1, DISABLE, STATUS };

/* clang-format off */
static const struct option_row change_rows[] = {
    {0, "now", NULL, NOW, "Also restart Samba; this closes its connections."},
    {'n', "dry-run", NULL, DRY, "Change nothing, print what would be done."},
    {0, "json", NULL, JSON, "Print the result as JSON."},
    {0, "root", "DIR", ROOT, "Use the system below DIR instead of this one; nothing is started or stopped.", "@files"},
    {0},
};
static const struct option_row status_rows[] = {
    {0, "json", NULL, JSON, "Print the result as JSON."},
    {0, "root", "DIR", ROOT, "Use the system below DIR instead of this one.", "@files"},
    {0},
};
static const struct tool commands[] = {
    {.name = "enable", .summary = "Let Samba load the library from its next start on.",
     .usage = "[OPTION]...", .rows = change_rows, .id = ENABLE},
    {.name = "disable", .summary = "Remove everything that enable wrote.", .usage = "[OPTION]...",
     .rows = change_rows, .id = DISABLE},
    {.name = "status", .summary = "Show whether the library is enabled, loaded, and built for this Samba.",
     .usage = "[OPTION]...", .rows = status_rows, .id = STATUS},
    {0},
};
/* clang-format on */

static const char more[] =
    "openperflib-winregd(1) describes who may read, and from where. Exit codes: 0 done, or\n"
    "enabled (status); 1 failed, with a message; 2 wrong usage; 3 there\n"
    "is no Samba, no library for its series, or (status) the library is not enabled.\n";

static const struct tool tool = {
    .name = "openperflib-samba",
    .summary = "Let Windows machines read this machine's counters, through Samba.",
    .usage = "COMMAND [OPTION]...",
    .commands = commands,
    .more = more,
};

static struct json json = {0};

void samba_print(const char *format, ...)
{
    char line[2 * SAMBA_PATH];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    if (json.out)
        json_string(&json, NULL, line);
    else
        puts(line);
}

/* ---- status ---- */

static bool is_good(const struct samba *samba)
{
    return samba->has_drop_in && samba->is_ours && samba->is_this_shim && samba->has_shim;
}

static const char *or_null(const char *text)
{
    return *text ? text : NULL;
}

static void status_json(const struct samba *samba)
{
    json_bool(&json, "enabled", is_good(samba));
    if (samba->is_hidden)
        json_string(&json, "loaded", NULL);
    else
        json_bool(&json, "loaded", samba->is_loaded);
    json_string(&json, "samba", or_null(samba->version));
    json_string(&json, "series", or_null(samba->series));
    json_string(&json, "made_for", or_null(samba->made_for));
    json_string(&json, "library", samba->has_shim ? samba->shim : NULL);
    json_string(&json, "unit", samba->has_unit ? samba->unit : NULL);
    json_string(&json, "drop_in", samba->has_drop_in ? samba->drop_in : NULL);
    json_bool(&json, "built", samba->is_built);
    json_string(&json, "loaded_library", or_null(samba->user.path));
    json_string(&json, "loaded_by", or_null(samba->user.name));
    json_string(&json, "firewall", samba_firewall(samba));
}

static void print_library(const struct samba *samba)
{
    const char *none = *samba->made_for ? "none for this series" : "none; it was not built";
    printf("library  %s%s\n", samba->has_shim ? samba->shim : none,
           samba->has_shim && samba->is_built ? " (in a build folder, not installed)" : "");
}

/* Prints whether Samba has loaded the library. A Samba process that does not belong to the unit
 * does not show whether the drop-in works. */
static void print_loaded(const struct samba *samba)
{
    const struct samba_user *user = &samba->user;
    if (samba->is_loaded)
        printf("loaded   yes, by %s (process %d)\n", text_seen(user->name), user->pid);
    else if (samba->is_hidden)
        printf("loaded   unknown: only root can see what Samba's processes have loaded\n");
    else if (user->pid)
        printf("loaded   no; but %s (process %d, %s) has loaded %s\n", text_seen(user->name),
               user->pid, user->of_unit ? samba->unit : "not part of the service",
               text_seen(user->path));
    else
        printf("loaded   %s\n",
               is_good(samba) ? "not yet: restart Samba with systemctl, or wait for the first query"
                              : "no");
}

static void status_text(const struct samba *samba)
{
    bool good = is_good(samba);
    printf("Samba    %s\n", *samba->version ? text_seen(samba->version) : "not installed");
    print_library(samba);
    printf("enabled  %s\n", good                 ? "yes"
                            : samba->has_drop_in ? "no: the drop-in loads another library"
                                                 : "no");
    if (!*samba->root)
        print_loaded(samba);
    printf("firewall %s\n", samba_firewall(samba));
}

static int status(const struct samba *samba)
{
    if (json.out)
        status_json(samba);
    else
        status_text(samba);
    return is_good(samba) ? EXIT_GOOD : EXIT_MISSING;
}

/* ---- commands ---- */

struct opts {
    const char *root;
    bool dry, now, json;
};

static int change(int command, const struct samba *samba, const struct opts *opts)
{
    if (json.out)
        json_open(&json, "steps", '[');
    int code = command == ENABLE ? samba_enable(samba, opts->dry, opts->now)
                                 : samba_disable(samba, opts->dry, opts->now);
    if (json.out) {
        json_close(&json, ']');
        json_bool(&json, "done", !code && !opts->dry);
    }
    return code;
}

static int run(int command, const struct opts *opts)
{
    struct samba samba;
    if (!samba_look(opts->root, &samba))
        return samba_complain("%s: the path is too long", opts->root);
    if (opts->json) {
        json.out = stdout;
        json_open(&json, NULL, '{');
    }
    int code = command == STATUS ? status(&samba) : change(command, &samba, opts);
    if (opts->json) {
        json_close(&json, '}');
        putchar('\n');
    }
    return code;
}

int main(int argc, char **argv)
{
    struct options options;
    struct opts opts = {.root = ""};
    int id = options_begin(&options, &tool, argc, argv);
    while (id > 0 && (id = options_next(&options)) > 0) {
        if (id == OPTION_ARGUMENT)
            return options_complain(&options, "unexpected argument: \"%s\"", options.value);
        opts.dry |= id == DRY;
        opts.now |= id == NOW;
        opts.json |= id == JSON;
        opts.root = id == ROOT ? options.value : opts.root;
    }
    if (id < 0)
        return options_status(id);
    if (!options.command)
        return options_complain(&options, "a command is missing: enable, disable or status");
    int code = run(options.command->id, &opts);
    if (fflush(stdout) != 0 || ferror(stdout))
        return samba_complain("standard output could not be written");
    return code;
}
