/* SPDX-License-Identifier: MIT */
/* behemoth-client: takes the first answer, or explains why there is no answer; shows the herd once
 * or repeatedly. If a later query fails, the last data stays on the screen, with a message. */
#include "../common/program.h"
#include "terminal.h"
#include "view.h"

#include <machine-message.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* a terminal with fewer than LOW lines is low */
enum { EXIT_AWAY = EXIT_MISSING, KEY_REDRAW = 'L' - 64, LOW = 12 };
enum { MACHINE = 1, LANGUAGE, INTERVAL, SORT, ROWS, ONCE, JSON };

static const char *const view_names[VIEW_KINDS] = {"field", "tree", "list"};

/* clang-format off */
static const struct option_row rows[] = {
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
    .rows = rows,
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

static struct client {
    struct options options;
    const char *machine, *sort; /* machine NULL: this machine; sort NULL: unsorted */
    char language[8];
    double interval;
    int64_t rows; /* number of rows to show; 0: all */
    bool once, json, has_kind, help;
    struct text_style style;
    struct reader reader;
    struct titles titles;
    struct view view;
} client = {.language = "009", .interval = 1};

/* ---- once ---- */

/* Draws once. On a terminal a line stays free for the prompt; lines of a file have any length. */
static void show_once(struct view *view)
{
    int columns = 80, lines = 24;
    bool terminal = isatty(STDOUT_FILENO), field = view->kind == VIEW_FIELD;
    char *text = NULL;
    size_t size;
    if (client.json) {
        json_write(stdout, view);
        return;
    }
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return;
    if (terminal)
        terminal_size(&columns, &lines);
    view->columns = terminal || field ? columns : 0;
    int used = summary_draw(out, view);
    used += trouble_draw(out, view);
    if (field) {
        field_draw(out, view, columns, lines - terminal - used);
    } else {
        fputc('\n', out);
        table_draw(out, view, client.rows > 0 ? (int)client.rows + 2 : 0);
    }
    if (fclose(out) == 0)
        text_lines(stdout, text, 0, client.style);
    free(text);
}

/* ---- again and again ---- */

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void draw(bool whole)
{
    struct view *view = &client.view;
    char machine[READER_NAME * 3], keys[160];
    FILE *out = terminal_frame();
    if (!out)
        return;
    terminal_size(&view->columns, &view->rows);
    text_clean(client.reader.machine, machine, sizeof machine);
    fprintf(out, TITLE "%s" PLAIN " %s  ", titles_get(&client.titles, BEHEMOTH), machine);
    for (int i = 0; i < VIEW_KINDS; i++)
        fprintf(out, (int)view->kind == i ? "  " STRONG "[%s]" PLAIN : "  " WEAK " %s " PLAIN,
                view_names[i]);
    fprintf(out, "    " WEAK "every %g s" PLAIN "\n", client.interval);
    int left = view->rows - 2 - summary_draw(out, view);
    left -= trouble_draw(out, view);
    if (view->kind != VIEW_FIELD && view->rows >= LOW) {
        fputc('\n', out);
        left--;
    }
    if (client.help)
        fputs(help_text, out);
    else if (view->kind == VIEW_FIELD)
        field_draw(out, view, view->columns, left);
    else
        table_draw(out, view, left > 3 ? left : 3);
    snprintf(keys, sizeof keys,
             client.help ? WEAK "any key: back" PLAIN
                         : WEAK
                 "q end   f field   t tree   l list   %s   + - interval   ? help" PLAIN,
             view->kind == VIEW_FIELD ? "z Z zoom" : "arrows scroll");
    terminal_show(keys, whole);
}

static void change_interval(bool longer)
{
    static const double steps[] = {0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60};
    int count = sizeof steps / sizeof *steps, i = longer ? 0 : count - 1;
    while (i >= 0 && i < count &&
           (longer ? steps[i] <= client.interval : steps[i] >= client.interval))
        i += longer ? 1 : -1;
    if (i >= 0 && i < count)
        client.interval = steps[i];
}

/* Moves the view by a key such as Page Up; table_draw limits the position to the table. */
static void move(struct view *view, int key)
{
    int right = (key == KEY_RIGHT) - (key == KEY_LEFT), down = (key == KEY_DOWN) - (key == KEY_UP);
    size_t up = key == KEY_UP ? 1 : key == KEY_PAGE_UP ? view->table_rows : view->table_count;
    if (view->kind == VIEW_FIELD)
        field_move(view, right, down);
    else if (key == KEY_DOWN || key == KEY_PAGE_DOWN)
        view->top += key == KEY_DOWN ? 1 : view->table_rows;
    else if (key == KEY_LAST)
        view->top = view->table_count;
    else if (right > 0)
        view->left += view->left + 2 < COLUMNS;
    else if (right < 0)
        view->left -= view->left > 0;
    else
        view->top -= view->top < up ? view->top : up;
}

/* Handles the keys of one view: zooms the field, or orders the list. */
static void change_view(struct view *view, int key)
{
    bool field = view->kind == VIEW_FIELD;
    unsigned from = view->sort < COLUMNS ? view->sort : key == '>' ? COLUMNS - 1 : 0;
    if (field && (key == 'z' || key == 'Z'))
        field_zoom(view, key == 'z');
    else if (!field && (key == '<' || key == '>'))
        view->sort = (from + (key == '>' ? 1 : COLUMNS - 1)) % COLUMNS;
    else if (!field && key == 'r')
        view->descending = !view->descending;
}

/* Handles a key. False: the user wants to leave. */
static bool take_key(int key)
{
    struct view *view = &client.view;
    static const char tabs[] = "ftl"; /* a key for each view, in their order */
    const char *tab = key > 0 && key < KEY_UP ? strchr(tabs, key) : NULL;
    if (key == 'q' || key == KEY_END)
        return false;
    if (client.help || key == '?' || key == 'h') {
        client.help = !client.help;
    } else if (key >= KEY_UP) {
        move(view, key);
    } else if (tab) {
        view->kind = (enum view_kind)(tab - tabs);
        view->left = 0;
        view->top = 0;
    } else if (key == '+' || key == '-') {
        change_interval(key == '+');
    } else {
        change_view(view, key);
    }
    return true;
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

/* Returns the exit code; -1: continue. */
static int read_options(int argc, char **argv)
{
    int code = options_read(&client.options, &tool, argc, argv, OPTION_TARGETS(targets), take);
    if (code >= 0)
        return code;
    if (client.json && client.has_kind && client.view.kind != VIEW_LIST)
        return options_complain(&client.options, "--json cannot be combined with field or tree");
    client.once |= client.json || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO);
    if (!client.has_kind)
        client.view.kind = client.once ? VIEW_LIST : VIEW_FIELD;
    return -1;
}

/* ---- no answer ---- */

static int explain(LSTATUS status, bool registered)
{
    const char *text = client.machine ? machine_message(client.machine, status) : NULL;
    const char *there = client.machine ? " there" : "";
    fprintf(stderr, "behemoth-client: %s: ", client.machine ? client.machine : "this machine");
    if (status != ERROR_FILE_NOT_FOUND)
        fprintf(stderr, "%s (error %ld)\n", text ? text : "the counters cannot be read",
                (long)status);
    else if (registered)
        fprintf(stderr,
                "the provider Behemoth is registered, but does not answer;\n"
                "`perfmon status Behemoth`%s shows the reason\n",
                there);
    else
        fprintf(stderr,
                "the provider Behemoth is not registered; register it%s with\n"
                "  lodctr --user --library=FOLDER/behemoth.so FOLDER/behemoth.ini\n"
                "FOLDER is where it was built; --user registers it for the current user only\n",
                there);
    return EXIT_FAILED;
}

static bool has_language(void)
{
    char installed[READER_LANGUAGES];
    if (strcmp(client.language, "009") == 0 ||
        titles_installed(client.machine, client.language, installed))
        return true;
    fprintf(stderr, "behemoth-client: language %s is not installed%s; installed are:%s\n",
            client.language, client.machine ? " there" : "", installed);
    return false;
}

static int show(void)
{
    client.view.reader = &client.reader;
    client.view.titles = &client.titles;
    client.view.sort = UINT32_MAX;
    if (client.sort && !table_sort_by(&client.view, client.sort))
        return options_complain(&client.options, "%s: no column; columns are %s", client.sort,
                                rows[SORT - 1].complete);
    if (client.once || !show_live())
        show_once(&client.view);
    kin_free(&client.view.kin);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("behemoth-client: standard output");
        return EXIT_FAILED;
    }
    return reader_raw(&client.reader, BEHEMOTHS_SUMMARY_STATUS) ? EXIT_GOOD : EXIT_AWAY;
}

int main(int argc, char **argv)
{
    client.style = style_begin();
    int code = read_options(argc, argv);
    if (code >= 0)
        return code;
    LSTATUS status = reader_open(&client.reader, client.machine);
    bool registered = status == ERROR_SUCCESS;
    code = EXIT_FAILED;
    if (status || has_language()) {
        if (!status)
            status = reader_read(&client.reader);
        if (!status)
            status = titles_load(&client.titles, &client.reader, client.language);
        code = status ? explain(status, registered) : show();
    }
    titles_free(&client.titles);
    reader_close(&client.reader);
    return code;
}
