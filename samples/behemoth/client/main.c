/* SPDX-License-Identifier: MIT */
/* behemoth-client: takes the first answer, or explains why there is no answer; shows the herd once
 * or repeatedly. If a later query fails, the last data stays on the screen, with a message. */
#include "../common/program.h"
#include "view.h"

#include <machine-message.h>

#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_AWAY = EXIT_MISSING };
enum { MACHINE = 1, LANGUAGE, INTERVAL, SORT, ROWS, ONCE, JSON };

/* clang-format off */
static const struct option_row option_rows[] = {
    {'m', "machine", "NAME", MACHINE, "Query another machine: a NAME in the registry, ssh://HOST, or unix:/PATH, the socket of openperflib-winregd.", NULL, 0},
    {'l', "language", "ID", LANGUAGE, "Titles in this language: 009 English (the default), 019, 007.", "009 019 007", 0},
    {'i', "interval", "SECONDS", INTERVAL, "The time between two queries. Default: 1.", NULL, 0},
    {'s', "sort", "COLUMN", SORT, "Sort the list by name, sex, age, x, y, weight, volume, birthday or a title. -COLUMN: descending.",
     "name sex age x y weight volume birthday", 0},
    {'n', "rows", "N", ROWS, "Show at most N rows of the tree or the list.", NULL, 0},
    {'1', "once", NULL, ONCE, "Show the view once and end, also on a terminal.", NULL, 0},
    {'j', "json", NULL, JSON, "Print the list as JSON.", NULL, 0},
    {0},
};
/* clang-format on */

static const struct tool tool = {
    .name = "behemoth-client",
    .summary = "Show a herd of behemoths with the values of HKEY_PERFORMANCE_DATA.",
    .usage = "[OPTION]... [field | tree | list]",
    .rows = option_rows,
    .complete_args = "field tree list",
    .more =
        "On a terminal it queries repeatedly, until q is pressed; ? lists the keys. Without a\n"
        "terminal it queries once.\n"
        "\n"
        "  field    seen from above: each behemoth at X and Y (the default on a terminal)\n"
        "  tree     families: children below their mothers\n"
        "  list     a row for each, with all values (the default without a terminal)\n"
        "\n"
        "Examples:\n"
        "  behemoth-client tree --machine=ssh://web1 --once\n"
        "  behemoth-client list --language=019 --sort=-weight --rows=10\n"
        "  behemoth-client --json | jq '.herd[] | select(.mother == null) | .name'\n"
        "\n"
        "Environment: if NO_COLOR is not empty, no colours are used.\n"
        "Exit status: 0 success, 1 no data, 2 wrong usage, 3 behemoth-server is not running, so\n"
        "its last answer was shown.\n",
};

static struct client {
    struct options options;
    const char *machine, *sort; /* machine NULL: this machine; sort NULL: unsorted */
    char language[8];
    bool once, json, has_kind;
    struct reader reader;
    struct view view;
} client = {
    .language = "009", .view = {.interval = 1, .sort = UINT32_MAX}
};

/* ---- options ---- */

/* clang-format off */
static const struct option_target targets[] = {
    [MACHINE] = OPTION_TEXT(client.machine), [SORT] = OPTION_TEXT(client.sort),
    [INTERVAL] = OPTION_SECONDS(client.view.interval, 0.1, 3600), [ROWS] = OPTION_WHOLE(client.view.most, 1, 1000000),
    [ONCE] = OPTION_FLAG(client.once), [JSON] = OPTION_FLAG(client.json),
};
/* clang-format on */

static const char *take(int id, const char *value)
{
    if (id == LANGUAGE) {
        size_t digits = strspn(value, "0123456789abcdefABCDEF");
        if (digits == 0 || digits > 4 || value[digits])
            return "not a language id such as 009, 019 or 007";
        /* language bases have names of three digits: "19" is 019 */
        snprintf(client.language, sizeof client.language, "%03lX", strtoul(value, NULL, 16));
        return NULL;
    }
    for (int i = 0; i < VIEW_KINDS && !client.has_kind; i++) {
        client.has_kind = strcmp(value, view_names[i]) == 0;
        client.view.kind = (enum view_kind)i;
        if (client.has_kind)
            return NULL;
    }
    return "not a view; give one of field, tree, list";
}

/* ---- no answer ---- */

static int explain(LSTATUS status, bool registered)
{
    const char *machine = client.machine ? client.machine : "this machine";
    const char *why = client.machine ? machine_message(machine, status) : NULL;
    if (status == ERROR_FILE_NOT_FOUND && registered)
        why = "the provider Behemoth is registered, but does not answer;\n"
              "`perfmon status Behemoth` on that machine shows the reason";
    else if (status == ERROR_FILE_NOT_FOUND)
        why = "the provider Behemoth is not registered; register it on that machine with\n"
              "  lodctr --user --library=FOLDER/behemoth.so FOLDER/behemoth.ini\n"
              "FOLDER is where it was built; --user registers it for the current user only";
    warnx("%s: %s (error %ld)", machine, why ? why : "the counters cannot be read", (long)status);
    return EXIT_FAILED;
}

int main(int argc, char **argv)
{
    struct view *view = &client.view;
    char installed[READER_LANGUAGES];
    view->style = style_begin();
    int code = options_read(&client.options, &tool, argc, argv, OPTION_TARGETS(targets), take);
    if (code >= 0)
        return code;
    if (client.json && client.has_kind && view->kind != VIEW_LIST)
        return options_complain(&client.options, "--json cannot be combined with field or tree");
    client.once |= client.json || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO);
    if (!client.has_kind)
        view->kind = client.once ? VIEW_LIST : VIEW_FIELD;
    if (strcmp(client.language, "009") != 0 &&
        !language_installed(client.machine, client.language, installed))
        errx(EXIT_FAILED, "language %s is not installed%s; installed are:%s", client.language,
             client.machine ? " there" : "", installed);
    LSTATUS status = reader_open(&client.reader, client.machine, client.language);
    bool registered = status == ERROR_SUCCESS;
    if (!status)
        status = reader_read(&client.reader);
    view->reader = &client.reader;
    if (status)
        code = explain(status, registered);
    else if (client.sort && !table_sort_by(view, client.sort))
        code = options_complain(&client.options, "%s: no column; columns are %s", client.sort,
                                option_rows[SORT - 1].complete);
    else if (client.json)
        json_write(stdout, view);
    else if (client.once || !screen_live(view))
        screen_once(view);
    if (code < 0 && (fflush(stdout) != 0 || ferror(stdout))) {
        warn("standard output");
        code = EXIT_FAILED;
    } else if (code < 0) {
        code = reader_raw(view->reader, BEHEMOTHS_SUMMARY_STATUS) ? EXIT_GOOD : EXIT_AWAY;
    }
    reader_close(&client.reader);
    return code;
}
