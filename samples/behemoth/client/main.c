/* SPDX-License-Identifier: MIT */
/* behemoth-client: shows the herd once, or repeatedly on a terminal in full-screen mode. When the
 * program ends it restores the terminal, with ANSI sequences and termios, also after a signal that
 * it can handle. The signal handler calls only functions that are allowed in signal handlers:
 * write, tcsetattr, signal, raise. */
#include "../common/program.h"
#include "view.h"

#include <machine-message.h>

#include <err.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* LINES: most lines of a screen; LOW: a terminal with fewer lines is low */
enum { LINES = 512, LOW = 12, KEY_MS = 25 };
enum { KEY_NONE = -1, KEY_END = -2, KEY_RESIZE = -3, KEY_REDRAW = 'L' - 64 };
enum { KEY_UP = 256, KEY_DOWN, KEY_RIGHT, KEY_LEFT }; /* then Home, End, Page Up, Page Down */

static const char *const view_names[VIEW_KINDS] = {"field", "tree", "list"};

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

static struct termios before;
static volatile sig_atomic_t active, resized;

/* ---- the terminal ---- */

static void put(const char *text, size_t size)
{
    while (size > 0) {
        ssize_t count = write(STDOUT_FILENO, text, size);
        if (count < 0 && errno != EINTR)
            return;
        text += count > 0 ? count : 0;
        size -= count > 0 ? (size_t)count : 0;
    }
}

/* Switches to the alternate screen, without cursor and wrapping; the terminal then passes each key
 * at once, without echo. */
static void enter(void)
{
    static const char sequence[] = "\033[?1049h\033[?25l\033[?7l\033[2J";
    struct termios raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | IEXTEN);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    put(sequence, sizeof sequence - 1);
    active = 1;
}

static void leave(void)
{
    static const char sequence[] = "\033[0m\033[?7h\033[?25h\033[?1049l";
    if (!active)
        return;
    active = 0;
    put(sequence, sizeof sequence - 1);
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

/* Restores the terminal and raises the signal again, so that the parent process sees which signal
 * ended the program. This happens at once, even while the program waits for another machine's
 * answer. */
static void handle(int number)
{
    int kept = errno;
    if (number != SIGWINCH)
        leave();
    if (number == SIGTSTP) {
        raise(SIGSTOP);
        enter();
    } else if (number != SIGWINCH) {
        signal(number, SIG_DFL);
        raise(number);
    }
    resized = 1;
    errno = kept;
}

static void terminal_size(int *ret_columns, int *ret_rows)
{
    struct winsize size = {0};
    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    *ret_columns = size.ws_col > 0 ? size.ws_col : 80;
    *ret_rows = size.ws_row > 0 ? size.ws_row : 24;
}

static bool input_within(int milliseconds)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&input, 1, milliseconds) > 0;
}

/* Waits at most `milliseconds` for a key; returns a byte, or one of the constants. */
static int next_key(int milliseconds)
{
    static const char keys[] = "ABCDHF56"; /* the last bytes of KEY_UP and those after it */
    unsigned char byte;
    char text[16] = "", last = 0;
    size_t used = 0;
    bool pressed = !resized && input_within(milliseconds);
    if (resized) {
        resized = 0;
        return KEY_RESIZE;
    }
    ssize_t count = pressed ? read(STDIN_FILENO, &byte, 1) : -1;
    if (!pressed || (count < 0 && errno == EINTR))
        return KEY_NONE;
    if (count <= 0)
        return KEY_END;
    if (byte != '\033')
        return byte;
    /* the rest of "[A", "OA", "[5~" follows the escape at once */
    while (used + 1 < sizeof text && input_within(KEY_MS) && read(STDIN_FILENO, &last, 1) == 1) {
        text[used++] = last;
        if (used > 1 && last >= '@' && last <= '~')
            break;
    }
    if (used > 2 && last == '~')
        last = text[1] == '1' ? 'H' : text[1] == '4' ? 'F' : text[1];
    const char *found = used > 1 ? strchr(keys, last) : NULL;
    return found ? KEY_UP + (int)(found - keys) : KEY_NONE;
}

/* ---- drawing ---- */

/* Draws the view, in at most `lines` lines on a screen. */
static void draw_view(FILE *out, struct view *view, int lines)
{
    lines -= summary_draw(out, view);
    if (view->kind == VIEW_FIELD) {
        field_draw(out, view, view->columns, lines);
        return;
    }
    if (view->rows == 0 || view->rows >= LOW) {
        fputc('\n', out);
        lines--;
    }
    table_draw(out, view,
               view->rows > 0   ? lines > 3 ? lines : 3
               : view->most > 0 ? (int)view->most + 2
                                : 0);
}

/* Prints the view once. If the output is not a terminal, lines are not cut to its width. */
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
    draw_view(out, view, lines - terminal); /* a line stays free for the prompt */
    if (fclose(out) == 0)
        text_line(stdout, text, size, 0, view->style);
    free(text);
}

/* Draws the screen, and writes all changed lines at once, against flicker; `whole`: all lines. */
static void draw(struct view *view, bool whole)
{
    static char *shown[LINES]; /* the screen's lines, as they were drawn last */
    char *text = NULL, *screen = NULL;
    size_t size = 0;
    const char *keys = view->help                 ? WEAK "any key: back" PLAIN
                       : view->kind == VIEW_FIELD ? KEYS("z Z zoom")
                                                  : KEYS("arrows scroll");
    FILE *frame = open_memstream(&text, &size), *out = open_memstream(&screen, &size);
    if (!frame || !out)
        return;
    terminal_size(&view->columns, &view->rows);
    fprintf(frame, TITLE "%s" PLAIN " %s  ", reader_title(view->reader, BEHEMOTH),
            text_seen(view->reader->machine));
    for (int i = 0; i < VIEW_KINDS; i++)
        fprintf(frame, (int)view->kind == i ? "  " STRONG "[%s]" PLAIN : "  " WEAK " %s " PLAIN,
                view_names[i]);
    fprintf(frame, "    " WEAK "every %g s" PLAIN "\n", view->interval);
    if (view->help)
        fputs(help_text, frame);
    else
        draw_view(frame, view, view->rows - 2);
    fclose(frame);
    fputs(whole ? "\033[2J" : "", out);
    const char *next = text ? text : "";
    for (int row = 0; row < view->rows && row < LINES; row++) {
        const char *line = row + 1 < view->rows ? next : keys;
        size_t bytes = strcspn(line, "\n");
        next += row + 1 < view->rows ? bytes + (next[bytes] == '\n') : 0;
        if (!whole && shown[row] && strlen(shown[row]) == bytes &&
            memcmp(shown[row], line, bytes) == 0)
            continue;
        fprintf(out, "\033[%d;1H\033[0m\033[K", row + 1);
        text_line(out, line, bytes, view->columns, view->style);
        free(shown[row]);
        shown[row] = strndup(line, bytes);
    }
    if (fclose(out) == 0)
        put(screen, size);
    free(screen);
    free(text);
}

/* ---- keys ---- */

/* Handles a key; table_draw limits the position to the table. False: the user wants to leave. */
static bool take_key(struct view *view, int key)
{
    static const char tabs[] = "ftl"; /* a key for each view, in their order */
    static const double steps[] = {0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60};
    double now = view->interval;
    const char *tab = key > 0 && key < KEY_UP ? strchr(tabs, key) : NULL;
    bool field = view->kind == VIEW_FIELD;
    int right = (key == KEY_RIGHT) - (key == KEY_LEFT), left = view->left + right;
    int64_t page = (int64_t)view->table_rows, all = (int64_t)view->table_count;
    const int64_t rows[] = {-1, 1, 0, 0, -all, all, -page, page}; /* in the order of the keys */
    if (key == 'q' || key == KEY_END)
        return false;
    if (view->help || key == '?' || key == 'h') {
        view->help = !view->help;
    } else if (tab) {
        view->kind = (enum view_kind)(tab - tabs);
        view->left = 0;
        view->top = 0;
    } else if (key == '+' || key == '-') {
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
            if (key == '-' ? steps[i] < now : steps[i] > now && view->interval == now)
                view->interval = steps[i];
        }
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

/* Shows the view until the user leaves; if a later query fails, the last data stays, with a
 * message. False: there is no terminal. */
static bool show_live(struct view *view)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGSEGV,
                                  SIGBUS, SIGFPE,  SIGILL, SIGABRT, SIGTSTP, SIGWINCH};
    if (!isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &before) != 0)
        return false;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], handle);
    enter();
    view->rates = true;
    draw(view, true);
    for (bool going = true; going;) {
        double begun = now_seconds(), left;
        while (going && (left = begun + view->interval - now_seconds()) > 0) {
            int key = next_key((int)(left * 1000) + 1);
            bool whole = key == KEY_RESIZE || key == KEY_REDRAW;
            going = whole || key == KEY_NONE || take_key(view, key);
            if (key != KEY_NONE)
                draw(view, whole);
        }
        if (going) {
            view->failed = reader_read(view->reader);
            draw(view, false);
        }
    }
    leave();
    return true;
}

/* ---- options ---- */

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

enum { LANGUAGE = 1, SORT_ROW = 3 }; /* an option, and the place of a row below */

/* clang-format off */
static const struct option_row option_rows[] = {
    {'m', "machine", "NAME", 0, "Query another machine: a NAME in the registry, ssh://HOST, or unix:/PATH, the socket of openperflib-winregd.", NULL, 0,
     .sets = OPTION_TEXT(struct client, machine)},
    {'l', "language", "ID", LANGUAGE, "Titles in this language: 009 English (the default), 019, 007.", "009 019 007", 0},
    {'i', "interval", "SECONDS", 0, "The time between two queries. Default: 1.", NULL, 0, .sets = OPTION_SECONDS(struct client, view.interval, 0.1, 3600)},
    {'s', "sort", "COLUMN", 0, "Sort the list by name, sex, age, x, y, weight, volume, birthday or a title. -COLUMN: descending.",
     "name sex age x y weight volume birthday", 0, .sets = OPTION_TEXT(struct client, sort)},
    {'n', "rows", "N", 0, "Show at most N rows of the tree or the list.", NULL, 0, .sets = OPTION_WHOLE(struct client, view.most, 1, 1000000)},
    {'1', "once", NULL, 0, "Show the view once and end, also on a terminal.", NULL, 0, .sets = OPTION_FLAG(struct client, once)},
    {'j', "json", NULL, 0, "Print the list as JSON.", NULL, 0, .sets = OPTION_FLAG(struct client, json)},
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

int main(int argc, char **argv)
{
    struct view *view = &client.view;
    char installed[READER_LANGUAGES];
    view->style = style_begin();
    int code = options_read(&client.options, &tool, argc, argv, &client, take);
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
    const char *machine = client.machine ? client.machine : "this machine";
    const char *why = client.machine ? machine_message(machine, status) : NULL;
    if (status == ERROR_FILE_NOT_FOUND && registered)
        why = "the provider Behemoth is registered, but does not answer;\n"
              "`perfmon status Behemoth` on that machine shows the reason";
    else if (status == ERROR_FILE_NOT_FOUND)
        why = "the provider Behemoth is not registered; register it on that machine with\n"
              "  lodctr --user --library=FOLDER/behemoth.so FOLDER/behemoth.ini\n"
              "FOLDER is where it was built; --user registers it for the current user only";
    code = status ? EXIT_FAILED : code;
    if (status)
        warnx("%s: %s (error %ld)", machine, why ? why : "the counters cannot be read",
              (long)status);
    else if (client.sort && !table_sort_by(view, client.sort))
        code = options_complain(&client.options, "%s: no column; columns are %s", client.sort,
                                option_rows[SORT_ROW].complete);
    else if (client.json)
        json_write(stdout, view);
    else if (client.once || !show_live(view))
        show_once(view);
    if (code < 0 && (fflush(stdout) != 0 || ferror(stdout))) {
        warn("standard output");
        code = EXIT_FAILED;
    } else if (code < 0) {
        code = reader_raw(view->reader, BEHEMOTHS_SUMMARY_STATUS) ? EXIT_GOOD : EXIT_MISSING;
    }
    reader_close(&client.reader);
    return code;
}
