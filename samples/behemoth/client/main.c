/* SPDX-License-Identifier: MIT */
/* The options, the first answer, and what to do when there is none. */
#include "live.h"
#include "terminal.h"
#include "text.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_GOOD, EXIT_FAILED, EXIT_USAGE, EXIT_AWAY };
enum { SNAPSHOT_COLUMNS = 80, SNAPSHOT_ROWS = 24, INTERVAL_MOST = 3600 };

struct settings {
    const char *machine, *language, *sort;
    double interval;
    int rows; /* of a table; 0: all */
    bool once, json, has_kind;
    enum view_kind kind;
};

static void help(void)
{
    puts("usage: behemoth-client [OPTION]... [field | tree | list]\n"
         "Shows a herd of behemoths as HKEY_PERFORMANCE_DATA tells of it, of this machine or of\n"
         "another one. On a terminal it asks again and again, until q is pressed; ? lists the "
         "keys.\n"
         "Elsewhere it shows what is true now, once.\n\n"
         "  field    from above: everybody at X and Y, by sex and size (what a terminal gets)\n"
         "  tree     families: children below their mothers\n"
         "  list     a row for each, with all values (what a file or a pipe gets)\n\n"
         "  -m, --machine=NAME     another machine: a NAME that the registry lists, ssh://HOST,\n"
         "                         unix:/PATH of an openperflib-winregd --socket\n"
         "  -l, --language=ID      titles in this language: 009 English (the default), 019, 007\n"
         "  -i, --interval=SECONDS how often to ask (1)\n"
         "  -s, --sort=COLUMN      order the list: name, sex, age, x, y, weight, volume, birthday\n"
         "                         or a title; -COLUMN the largest first\n"
         "  -n, --rows=N           at most N rows of the tree or the list\n"
         "  -1, --once             once, on a terminal too\n"
         "  -j, --json             the list for programs\n"
         "  -h, --help             print this help\n"
         "  -V, --version          print the version\n\n"
         "Examples:\n"
         "  behemoth-client\n"
         "  behemoth-client tree --machine=ssh://web1 --once\n"
         "  behemoth-client list --language=019 --sort=-weight --rows=10\n"
         "  behemoth-client --json | jq '.herd[] | select(.mother == null) | .name'\n\n"
         "Environment: NO_COLOR, unless it is empty, takes the colours away.\n"
         "Exit status: 0 shown, 1 there was nothing to show, 2 a wrong option, 3 shown, but the\n"
         "behemoths' server is away: it is what it said last.");
}

static _Noreturn void complain(const char *what, const char *about)
{
    fprintf(stderr, "behemoth-client: %s: %s\nTry behemoth-client --help.\n", about, what);
    exit(EXIT_USAGE);
}

/* ---- options ---- */

static double number(const char *text, double least, double most, const char *what)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= least && value <= most))
        complain(what, text);
    return value;
}

/* "19" is 019: name bases are called by three digits. */
static const char *language_of(const char *text)
{
    static char language[TITLES_ID];
    size_t digits = strspn(text, "0123456789abcdefABCDEF");
    if (digits == 0 || digits > 4 || text[digits])
        complain("no language like 009, 019 or 007", text);
    snprintf(language, sizeof language, "%03lX", strtoul(text, NULL, 16));
    return language;
}

static void take_option(struct settings *settings, int option)
{
    switch (option) {
    case 'm':
        settings->machine = optarg;
        break;
    case 'l':
        settings->language = language_of(optarg);
        break;
    case 'i':
        settings->interval = number(optarg, 0.1, INTERVAL_MOST, "not 0.1 to 3600 seconds");
        break;
    case 's':
        settings->sort = optarg;
        break;
    case 'n':
        settings->rows = (int)number(optarg, 1, 1000000, "no number of rows");
        break;
    case '1':
        settings->once = true;
        break;
    default:
        settings->json = true;
    }
}

static void take_view(struct settings *settings, const char *word)
{
    for (int i = 0; i < VIEW_KINDS; i++) {
        if (strcmp(word, view_names[i]) != 0)
            continue;
        if (settings->has_kind)
            complain("one view at a time", word);
        settings->kind = (enum view_kind)i;
        settings->has_kind = true;
        return;
    }
    complain("not one of field, tree, list", word);
}

static void read_settings(struct settings *settings, int argc, char **argv)
{
    static const struct option options[] = {
        {"machine",          required_argument, NULL, 'm'},
        {"language",              required_argument, NULL, 'l'},
        {"interval",                  required_argument, NULL, 'i'},
        {"sort",required_argument, NULL, 's'},
        {"rows",               required_argument, NULL, 'n'},
        {"once",         no_argument, NULL, '1'},
        {"json",              no_argument, NULL, 'j'},
        {"help",                  no_argument, NULL, 'h'},
        {"version",              no_argument, NULL, 'V'},
        {0              }
    };
    int option;
    *settings = (struct settings){.language = "009", .interval = 1};
    while ((option = getopt_long(argc, argv, "m:l:i:s:n:1jhV", options, NULL)) != -1) {
        if (option == 'h' || option == 'V') {
            option == 'h' ? help() : (void)puts("behemoth-client (openperflib) " BEHEMOTH_VERSION);
            exit(EXIT_GOOD);
        }
        if (option == '?') {
            fputs("Try behemoth-client --help.\n", stderr); /* getopt_long said the rest */
            exit(EXIT_USAGE);
        }
        take_option(settings, option);
    }
    for (; optind < argc; optind++)
        take_view(settings, argv[optind]);
    if (settings->json && settings->has_kind && settings->kind != VIEW_LIST)
        complain("only the list is there for programs", "--json");
    settings->once |= settings->json || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO);
    if (!settings->has_kind)
        settings->kind = settings->once ? VIEW_LIST : VIEW_FIELD;
}

/* ---- no answer ---- */

static const char *words_of(LSTATUS status)
{
    static const struct {
        LSTATUS status;
        const char *words;
    } rows[] = {
        {ERROR_ACCESS_DENIED,      "access is denied"                                             },
        {ERROR_INVALID_DATA,       "the reply is not in the expected format"                      },
        {ERROR_BAD_NETPATH,        "no machine is known under this name"                          },
        {ERROR_LOGON_FAILURE,      "user or password is wrong"                                    },
        {ERROR_MORE_DATA,          "the answer is too large"                                      },
        {ERROR_NOT_ENOUGH_MEMORY,  "there is no memory left"                                      },
        {RPC_S_SERVER_UNAVAILABLE, "it does not answer; openperflib-winregd must run there"       },
        {RPC_S_CALL_FAILED,        "the connection was lost, or the answer did not arrive in time"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].status == status)
            return rows[i].words;
    }
    return "it cannot be read";
}

static int explain(const struct settings *settings, LSTATUS status, bool registered)
{
    const char *machine = settings->machine ? settings->machine : "this machine";
    fprintf(stderr, "behemoth-client: %s: ", machine);
    if (status != ERROR_FILE_NOT_FOUND)
        fprintf(stderr, "%s (error %ld)\n", words_of(status), (long)status);
    else if (registered)
        fprintf(stderr,
                "the provider Behemoth is registered, but does not answer;\n"
                "`perfmon status Behemoth`%s says why\n",
                settings->machine ? " there" : "");
    else
        fprintf(
            stderr,
            "the provider Behemoth is not registered; register it%s with\n"
            "  lodctr --user --library=FOLDER/behemoth.so FOLDER/behemoth.ini\n"
            "where FOLDER is where it was built; --user is for who may not register it for all\n",
            settings->machine ? " there" : "");
    return EXIT_FAILED;
}

static int refuse_language(const struct settings *settings)
{
    char languages[TITLES_LANGUAGES];
    titles_languages(settings->machine, languages);
    fprintf(stderr, "behemoth-client: language %s is not installed%s; there are: %s\n",
            settings->language, settings->machine ? " there" : "", languages);
    return EXIT_FAILED;
}

/* A machine that does not list its languages is assumed to have all of them. */
static bool has_language(const struct settings *settings)
{
    char languages[TITLES_LANGUAGES], wanted[TITLES_ID + 2], all[TITLES_LANGUAGES + 2];
    if (strcmp(settings->language, "009") == 0)
        return true;
    titles_languages(settings->machine, languages);
    snprintf(all, sizeof all, " %s ", languages);
    snprintf(wanted, sizeof wanted, " %s ", settings->language);
    return !*languages || strstr(all, wanted);
}

/* ---- showing ---- */

/* A line is left for the shell's prompt; a file's lines are as long as they are. */
static void show_once(struct view *view, const struct settings *settings)
{
    int columns = SNAPSHOT_COLUMNS, rows = SNAPSHOT_ROWS;
    bool terminal = isatty(STDOUT_FILENO), field = view->kind == VIEW_FIELD;
    if (settings->json) {
        json_write(stdout, view);
        return;
    }
    if (terminal)
        terminal_size(&columns, &rows);
    view->columns = terminal || field ? columns : 0;
    int used = summary_draw(stdout, view);
    used += trouble_draw(stdout, view);
    if (field) {
        field_draw(stdout, view, columns, rows - terminal - used);
        return;
    }
    putchar('\n');
    table_draw(stdout, view, settings->rows > 0 ? settings->rows + 2 : 0);
}

static void begin_view(struct live *live, const struct settings *settings, bool utf8)
{
    const char *plain = getenv("NO_COLOR");
    bool colours = isatty(STDOUT_FILENO) && !(plain && *plain) && !settings->json;
    live->view = (struct view){.shown = &live->shown,
                               .titles = &live->titles,
                               .look = look_of(utf8, colours),
                               .kind = settings->kind,
                               .sort = UINT32_MAX};
}

static int show(struct live *live, const struct settings *settings, bool utf8)
{
    begin_view(live, settings, utf8);
    if (settings->sort && !table_sort_by(&live->view, settings->sort))
        complain("no column; there are name, sex, age, x, y, weight, volume, birthday",
                 settings->sort);
    if (settings->once || !live_run(live))
        show_once(&live->view, settings);
    kin_free(&live->view.kin);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("behemoth-client: standard output");
        return EXIT_FAILED;
    }
    return shown_server_there(&live->shown) ? EXIT_GOOD : EXIT_AWAY;
}

int main(int argc, char **argv)
{
    struct settings settings;
    bool utf8 = text_begin(), registered;
    read_settings(&settings, argc, argv);
    struct live live = {.machine = settings.machine, .interval = settings.interval};
    LSTATUS status = shown_open(&live.shown, settings.machine);
    registered = status == ERROR_SUCCESS;
    int code = EXIT_FAILED;
    if (!status && !has_language(&settings)) {
        code = refuse_language(&settings);
    } else {
        if (!status)
            status = shown_read(&live.shown);
        if (!status)
            status = titles_load(&live.titles, &live.shown, settings.language);
        code = status ? explain(&settings, status, registered) : show(&live, &settings, utf8);
    }
    titles_free(&live.titles);
    shown_close(&live.shown);
    return code;
}
