/* SPDX-License-Identifier: MIT */
/* behemoth-client: takes the first answer, or explains why there is no answer; shows the herd once
 * or repeatedly. If a later query fails, the last data stays on the screen, with a message. */
#include "../common/program.h"
#include "terminal.h"
#include "view.h"

#include <machine-message.h>

#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* a terminal with fewer than LOW lines is low */
enum { EXIT_AWAY = EXIT_MISSING, KEY_REDRAW = 'L' - 64, LOW = 12 };
enum { MACHINE = 1, LANGUAGE, INTERVAL, SORT, ROWS, ONCE, JSON };

static const char *const view_names[VIEW_KINDS] = {"field", "tree", "list"};

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

static const char help_text[] =
    "f  the field          l  the list          t  the family tree\n"
    "z  Z                  zoom the field in, out; arrows: move to another part\n"
    "arrows, Page Up, Page Down, Home, End   scroll; left and right: columns of the list\n"
    "<  >  r               sort the list by another column; reverse the order\n"
    "+  -                  query less often, more often\n"
    "Ctrl-L                redraw the screen\n"
    "q                     end\n"
    "\n"
    "All data comes from HKEY_PERFORMANCE_DATA. Rates need two answers. While behemoth-server is\n"
    "not running, its last answer is shown.\n";

#define KEYS(more) WEAK "q end   f field   t tree   l list   " more "   + - interval   ? help" PLAIN

static struct client {
    struct options options;
    const char *machine, *sort; /* machine NULL: this machine; sort NULL: unsorted */
    char language[8];
    double interval;
    int64_t rows; /* number of rows to show; 0: all */
    bool once, json, has_kind, help;
    struct text_style style;
    struct reader reader;
    struct view view;
} client = {.language = "009", .interval = 1};

/* ---- drawing ---- */

/* Draws the view, in at most `lines` lines on a screen. */
static void draw_view(FILE *out, struct view *view, int lines)
{
    int64_t rows = client.rows > 0 ? client.rows + 2 : 0;
    lines -= summary_draw(out, view);
    lines -= trouble_draw(out, view);
    if (view->kind == VIEW_FIELD) {
        field_draw(out, view, view->columns, lines);
        return;
    }
    if (view->rows == 0 || view->rows >= LOW) {
        fputc('\n', out);
        lines--;
    }
    table_draw(out, view, view->rows == 0 ? (int)rows : lines > 3 ? lines : 3);
}

/* Draws once. On a terminal a line stays free for the prompt; lines of a file have any length. */
static void show_once(struct view *view)
{
    int columns, lines;
    bool terminal = isatty(STDOUT_FILENO);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return;
    terminal_size(&columns, &lines);
    view->columns = terminal || view->kind == VIEW_FIELD ? columns : 0;
    draw_view(out, view, lines - terminal);
    if (fclose(out) == 0)
        text_lines(stdout, text, 0, client.style);
    free(text);
}

static void draw(bool whole)
{
    struct view *view = &client.view;
    bool field = view->kind == VIEW_FIELD;
    FILE *out = terminal_frame();
    if (!out)
        return;
    terminal_size(&view->columns, &view->rows);
    fprintf(out, TITLE "%s" PLAIN " %s  ", reader_title(&client.reader, BEHEMOTH),
            text_seen(client.reader.machine));
    for (int i = 0; i < VIEW_KINDS; i++)
        fprintf(out, (int)view->kind == i ? "  " STRONG "[%s]" PLAIN : "  " WEAK " %s " PLAIN,
                view_names[i]);
    fprintf(out, "    " WEAK "every %g s" PLAIN "\n", client.interval);
    if (client.help)
        fputs(help_text, out);
    else
        draw_view(out, view, view->rows - 2);
    terminal_show(client.help ? WEAK "any key: back" PLAIN
                  : field     ? KEYS("z Z zoom")
                              : KEYS("arrows scroll"),
                  whole);
}

/* ---- keys ---- */

static void change_interval(bool longer)
{
    static const double steps[] = {0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60};
    double now = client.interval;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (longer ? steps[i] > now && client.interval == now : steps[i] < now)
            client.interval = steps[i];
    }
}

/* Handles a key; table_draw limits the position to the table. False: the user wants to leave. */
static bool take_key(int key)
{
    static const char tabs[] = "ftl"; /* a key for each view, in their order */
    struct view *view = &client.view;
    const char *tab = key > 0 && key < KEY_UP ? strchr(tabs, key) : NULL;
    bool field = view->kind == VIEW_FIELD;
    int right = (key == KEY_RIGHT) - (key == KEY_LEFT), left = view->left + right;
    int64_t page = (int64_t)view->table_rows, all = (int64_t)view->table_count;
    const int64_t rows[] = {-1, 1, 0, 0, -all, all, -page, page}; /* in the order of the keys */
    if (key == 'q' || key == KEY_END)
        return false;
    if (client.help || key == '?' || key == 'h') {
        client.help = !client.help;
    } else if (tab) {
        view->kind = (enum view_kind)(tab - tabs);
        view->left = 0;
        view->top = 0;
    } else if (key == '+' || key == '-') {
        change_interval(key == '+');
    } else if (field && key >= KEY_UP) {
        field_move(view, right, (key == KEY_DOWN) - (key == KEY_UP));
    } else if (key >= KEY_UP) {
        view->top += rows[key - KEY_UP];
        view->left = left < 0 ? 0 : left < COLUMNS - 1 ? left : COLUMNS - 2;
    } else if (field && (key == 'z' || key == 'Z')) {
        field_zoom(view, key == 'z');
    } else if (!field && (key == '<' || key == '>')) {
        view->sort = (view->sort + (key == '>' ? 1 : COLUMNS - 1)) % COLUMNS;
    } else if (!field && key == 'r') {
        view->descending = !view->descending;
    }
    return true;
}

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Shows the herd until the user leaves. False: there is no terminal to draw on. */
static bool show_live(void)
{
    if (!terminal_begin(client.style))
        return false;
    client.view.rates = true;
    draw(true);
    for (bool going = true; going;) {
        double begun = now_seconds(), left;
        while (going && (left = begun + client.interval - now_seconds()) > 0) {
            int key = terminal_key((int)(left * 1000) + 1);
            bool whole = key == KEY_RESIZE || key == KEY_REDRAW;
            going = whole || key == KEY_NONE || take_key(key);
            if (key != KEY_NONE)
                draw(whole);
        }
        if (going) {
            client.view.failed = reader_read(&client.reader);
            draw(false);
        }
    }
    terminal_end();
    return true;
}

/* ---- options ---- */

/* clang-format off */
static const struct option_target targets[] = {
    [MACHINE] = OPTION_TEXT(client.machine), [SORT] = OPTION_TEXT(client.sort),
    [INTERVAL] = OPTION_SECONDS(client.interval, 0.1, 3600), [ROWS] = OPTION_WHOLE(client.rows, 1, 1000000),
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
    client.style = style_begin();
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
    view->sort = UINT32_MAX;
    if (status)
        code = explain(status, registered);
    else if (client.sort && !table_sort_by(view, client.sort))
        code = options_complain(&client.options, "%s: no column; columns are %s", client.sort,
                                option_rows[SORT - 1].complete);
    else if (client.json)
        json_write(stdout, view);
    else if (client.once || !show_live())
        show_once(view);
    if (code < 0 && (fflush(stdout) != 0 || ferror(stdout))) {
        warn("standard output");
        code = EXIT_FAILED;
    } else if (code < 0) {
        code = reader_raw(view->reader, BEHEMOTHS_SUMMARY_STATUS) ? EXIT_GOOD : EXIT_AWAY;
    }
    reader_close(&client.reader);
    return code;
}
