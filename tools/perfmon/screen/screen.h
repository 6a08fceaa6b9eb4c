/* SPDX-License-Identifier: MIT */
/*
 * perfmon on a terminal. Each view draws what the model has into a canvas and handles its keys;
 * none of them calls PDH or waits.
 *
 * terminal   ncurses: keys, signals, showing a canvas
 *
 * window     the main loop; which view is shown
 *
 * overview   the first view: the machine at a glance, and the busiest processes
 *
 * processes  the list or tree of processes, or groups; one process alone (processes.h)
 *
 * chart      chosen counters as lines, bars or a report, with a legend
 *
 * machines   a line for each of several machines
 *
 * plain      what changes, as lines of text
 *
 * moment     a set at one time
 *
 * sets       the sets of logman
 *
 * settings   what keys have set: a list, and the file that keeps it (config)
 *
 * language   the language of counters, and own texts
 *
 * selections saved ones: lists of counters for the chart
 *
 * branches   trees of processes, and of instances below their parents
 *
 * tree       all objects, counters and instances, with explanations; adds to the chart
 *
 * object     the table of one object
 */
#ifndef OPL_PERFMON_SCREEN_H
#define OPL_PERFMON_SCREEN_H

#include "canvas.h"
#include "../../common/text-list.h"
#include "../../model/catalogue.h"
#include "../../model/model.h"

#include <sys/types.h>

/* ---- terminal.c ---- */
enum {
    TERMINAL_NOTHING = -1, /* no key: samples have arrived, or the time is over */
    TERMINAL_CHARACTER =
        1 << 24, /* added to a character that is not ASCII, because KEY_ values begin at 256 */
    TERMINAL_CLICK = 1 << 25,
    TERMINAL_END = -2 /* the terminal is gone, or a signal ends the program */
};
/* Starts to use the terminal. False: this terminal cannot be used; a message was printed. */
bool terminal_begin(bool colours);
void terminal_end(void);
/* Sets the colours; `colour_blind`: those that people with any colour blindness can distinguish. */
void terminal_palette(bool colour_blind);
/* Returns the signal that ends the program; 0: none. */
int terminal_signal(void);
/* True if the line to the terminal carries at most 9,600 bits a second. */
bool terminal_slow(void);
void terminal_size(int *ret_rows, int *ret_columns);
/* Makes the next canvas be sent as a whole, because something else wrote to the terminal. */
void terminal_redraw(void);
/* Asks the terminal to copy the text to the clipboard (OSC 52). Some terminals ignore this. */
void terminal_copy(const char *text);
/* Shows the canvas, unless earlier output still waits to be sent. */
void terminal_show(const struct canvas *canvas);
/* Waits for a key until `descriptor` is readable or the time is over. Returns an ASCII character,
 * another character with TERMINAL_CHARACTER added, a KEY_ value or a TERMINAL_ value. */
int terminal_key(int descriptor, int milliseconds);
/* Gets the mouse's position when terminal_key returned TERMINAL_CLICK. */
void terminal_click(int *ret_row, int *ret_column);

/* ---- language.c ---- */
/* Returns the text in the user's language, if there is a translation. */
const char *local(const char *text) __attribute__((format_arg(1)));
/* Finds the user's language. Own texts are in it only if the terminal shows more than ASCII. */
void language_begin(bool utf8);
/* Called before there are other threads, so that language_set is safe while they run. */
void language_prepare(void);
/* Sets the language, a value of SET_LANGUAGE, for what is read from now on. */
void language_set(int language, bool utf8);
/* Returns the installed language after the present one. */
int language_next(void);
const char *language_name(int language);

/* ---- text.c ---- */
/* Write short texts: 12.3k (number), 123 (whole), 12.3 (percent), 1.50 GiB (bytes), 3 d 4:05 or
 * 4:05:06 (duration). "-" if the number is NaN, or if a duration is negative. */
enum { TEXT_SIZE = 32 };
void text_number(double number, char out[TEXT_SIZE]);
void text_whole(double number, char out[TEXT_SIZE]);
void text_percent(double number, char out[TEXT_SIZE]);
void text_bytes(double bytes, char out[TEXT_SIZE]);
void text_duration(double seconds, char out[TEXT_SIZE]);
/* Appends to a text as much as fits. */
void text_append(char *ret, size_t capacity, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Writes a time, in 100 ns since 1601, by a format of strftime; "" if it is 0. */
void text_time(int64_t time, const char *format, char *ret, size_t capacity);
enum style style_of_percent(double percent);

/* Writes why a table has no rows: what is recorded of its provider, or what PDH returned for its
 * counters, or "there is no such instance now". "": it has rows, or there was no sample yet. */
enum { REASON_SIZE = 4096, REASON_LINES = 6 };
void text_reason(struct model *model, const struct table *table, char out[REASON_SIZE]);

/* ---- list.c ---- */
struct cursor {
    size_t at, first;   /* the selected row, and the first row on the screen */
    size_t count, page; /* number of rows in all, and on the screen */
    int row;            /* row of the screen in which the list begins, for the mouse */
};
/* Moves the selection; false: the key does not move it. */
bool cursor_key(struct cursor *cursor, int key);
/* True if the key is Enter, or a click on the selected row. */
bool cursor_enter(const struct cursor *cursor, int key);
/* Sets the number of rows, in all and on the screen; keeps the selected row on the screen. */
void cursor_fit(struct cursor *cursor, size_t count, size_t page);
struct field {
    char text[64];
    bool open; /* keys are typed into the field */
};
/* Handles a key. False: the field is not open, and the key has another meaning. */
bool field_key(struct field *field, int key);
/* True for the keys that search: / and, as in htop, F3 and F4. */
bool is_search_key(int key);
/* Opens the field if the key is one that searches. */
bool field_search_key(struct field *field, int key);

/* ---- branches.c ---- */
#define NOWHERE ((size_t)-1)
struct branch {
    size_t parent, child, next; /* positions of the parent, the first child and the next sibling */
    bool kept;                  /* processes: the filter matches this one or one below it */
};
struct place {
    size_t at; /* position of the branch; for a heading, that of its first child */
    unsigned depth;
    /* bit n: the ancestor of depth n, or the branch itself, is followed by a sibling */
    uint64_t bars;
    bool heading;    /* a parent that has no position of its own */
    unsigned hidden; /* instances below it that are folded away */
};
/* Writes the places of a tree from the root `first` on; returns their number. */
size_t branches_walk(const struct branch *branches, size_t first, struct place *ret);
/* Puts instances below their parents, in the order of the names; with `headings` also makes
 * headings for parents that are no instances. Returns the number of places, to be freed; 0: no
 * memory. */
size_t branches_of_names(const char *const *names, size_t count, bool headings, struct place **ret);
/* Identities of a few things: those that are marked, or those that are folded. */
struct identities {
    uint64_t *of;
    size_t count;
};
bool identities_have(const struct identities *identities, uint64_t identity);
/* Adds the identity, or removes it if the list has it already. */
void identities_toggle(struct identities *identities, uint64_t identity);
/* Removes the places below those whose identities are in `folded`; returns how many are left. */
size_t branches_fold(struct place *places, size_t count, const struct identities *folded,
                     uint64_t (*identity)(const void *context, const struct place *place),
                     const void *context);
/* True if the key folds or unfolds: '-', '+' or '*', which unfolds all. */
bool branches_key(int key);
/* Returns a hash of the name; of a heading, whose first child has this name, that of its part. */
uint64_t branches_identity(const char *name, bool heading);
/* Writes the lines of the tree that stand before a name in a column of this width. */
void branch_prefix(unsigned depth, uint64_t bars, bool utf8, int width, char *ret, size_t capacity);
/* Returns the length of the parent's name in an instance's name such as "parent/own"; 0: none. */
size_t parent_length(const char *name);
const char *own_name(const char *name);

/* ---- views ---- */
/* Selections of counters that the user saved under a name. */
struct selections {
    /* the name under which the chart is to be saved, while the field is open */
    struct field name;
    struct text_list names; /* names of the saved selections when the list was opened */
    struct cursor cursor;
    bool listed; /* the list is shown in place of the chart */
};

enum {
    VIEW_OVERVIEW,
    VIEW_PROCESSES,
    VIEW_CHART,
    VIEW_TREE,
    VIEW_OBJECT,
    VIEWS,
    VIEW_MACHINES = VIEWS
};
/* A machine or a capture with its views. */
struct machine {
    size_t source;
    const char *name, *files; /* machine and capture files; NULL: this machine, live */
    bool at;                  /* `files` is a set that is shown at one time */
    bool own;                 /* the set is this user's, not the system's */
    struct overview *overview;
    struct processes *processes;
    struct tree *tree;     /* NULL until the tree is first shown */
    struct object *object; /* NULL until an object is chosen */
};

/* What the user's keys have set, and a file keeps. */
enum setting {
    SET_PALETTE,
    SET_LANGUAGE,
    SET_INTERVAL, /* seconds between samples */
    SET_SORT,     /* enum line_value, of the list of processes */
    SET_ORDER,    /* 1: ascending */
    SET_TREE,
    SET_TREE_SORT,
    SET_TREE_ORDER,
    SET_GROUPS, /* enum grouping */
    SET_KERNEL, /* 1: kernel threads are shown */
    SETTINGS
};
struct settings {
    double values[SETTINGS]; /* numbers, or positions of the choice */
};
struct settings_view {
    bool open;
    struct cursor cursor;
};

/* The list of logman's sets, and the program that is running: logman, "perfmon open" or
 * journalctl. */
struct sets_view {
    bool open;
    struct field name; /* the name of a new set, while it is typed */
    struct text_list rows;
    struct cursor cursor;
    enum sets_purpose { SETS_QUERY, SETS_CHANGE, SETS_PAGE, SETS_ALERT } purpose;
    pid_t child; /* 0: none runs */
    int output;
    char text[8192]; /* what it has printed */
    size_t used;
};

struct window {
    struct model *model;
    struct machine *machines, *now; /* all machines, and the machine that is shown */
    size_t machine_count;
    struct cursor machine_cursor;
    struct chart *chart; /* of all machines */
    struct selections selections;
    struct settings_view settings;
    struct sets_view sets;
    double seconds;
    int palette, language; /* values of SET_PALETTE and SET_LANGUAGE */
    bool utf8;
    /* `rule`: the rule for the sentence "held up by" is shown in place of the help */
    bool paused, help, rule;
    struct cursor help_line;
    int rows; /* rows of the screen */
    int view; /* the view that is shown: VIEW_OVERVIEW and so on */
    /* for each view: the column after its name in the bottom line; 0: not shown */
    int view_ends[VIEWS];
    int keys_end, quit_end; /* the columns after "? keys" and "q quit"; 0: not shown */
    size_t loss_hidden;     /* size of the text about losses that the last key has hidden */
    char message[2048];     /* message in the bottom line until the next key */
};

struct overview *overview_new(struct model *model, size_t source);
void overview_free(struct overview *overview);
/* True once the first sample with rates has arrived. */
bool overview_ready(const struct overview *overview);
/* Draws from `row` on; returns the row after the last row used. */
int overview_draw(const struct overview *overview, struct canvas *canvas, int row, int last);
/* Writes the sentence that says what the machine's tasks wait for. overview_rule: its rule. */
void overview_verdict(const struct overview *overview, char *ret, size_t capacity);
extern const char overview_rule[];
/* Returns why the last sample failed: the status of a counter, else that of the whole query. */
PDH_STATUS overview_problem(const struct overview *overview);
/* Gets the used shares of processors and memory in percent; NaN: unknown. */
void overview_shares(const struct overview *overview, double *ret_processors, double *ret_memory);
/* Gets the bytes that all disks read and write per second; NaN: unknown. */
void overview_disk_bytes(const struct overview *overview, double *ret_read, double *ret_written);
/* Writes those facts that are known, such as "up 3:05, load 0.50, 250 processes, 2.9 GHz, 45 C". */
void overview_facts(const struct overview *overview, char *ret, size_t capacity);

/* `overview`: of the same source. */
struct processes *processes_new(struct model *model, size_t source,
                                const struct overview *overview);
void processes_free(struct processes *processes);
/* Gets and sets those settings that the list of processes has. */
void processes_settings(const struct processes *processes, struct settings *ret);
void processes_apply(struct processes *processes, const struct settings *settings);
/* True once the processes' texts and the bytes that they read and write are known, as far as they
 * can be. */
bool processes_ready(struct processes *processes);
/* With `rest` processes are not read, which saves time while they are not shown. */
void processes_rest(struct processes *processes, bool rest);
/* Draws in the rows from `row` up to but without `last`; `active`: one row is selected. */
void processes_draw(struct processes *processes, struct canvas *canvas, int row, int last,
                    bool active);
/* Draws the list with a selected row, or the details of one process. */
void processes_view(struct processes *processes, struct canvas *canvas, int row, int last);
/* True if the details of a process were drawn last, not the list. */
bool processes_detailed(const struct processes *processes);
/* Returns what is wrong with the list's filter; "": nothing. */
const char *processes_problem(const struct processes *processes);
/* Returns the list's filter while the list is shown; an empty one otherwise. */
const struct field *processes_filter(const struct processes *processes);
/* Handles a key, and may write a message for the bottom line. False: the key means nothing here. */
bool processes_key(struct processes *processes, int key, struct window *window);

/* `named`: the machine is shown before each path. */
struct chart *chart_new(struct model *model, bool named);
void chart_free(struct chart *chart);
bool chart_add(struct chart *chart, size_t source, const char *path);
/* Removes all counters. */
void chart_clear(struct chart *chart);
/* True once the texts among the counters have been read. */
bool chart_ready(struct chart *chart);
/* True if the newest sample has all chosen counters, or does not say why it lacks one. */
bool chart_whole(struct chart *chart);
/* Shows the counters as a report from now on. */
void chart_report(struct chart *chart);
/* Finds the chart's lines; returns their number. */
size_t chart_lines(struct chart *chart);
/* Writes "PATH: VALUE" for a line that chart_lines found. */
void chart_line(const struct chart *chart, size_t at, char *ret, size_t capacity);
/* Writes the path of the `at`-th counter that was added; false: fewer were added. */
bool chart_path(const struct chart *chart, size_t at, char *ret, size_t capacity);
void chart_draw(struct chart *chart, struct canvas *canvas, int row, int last);
bool chart_key(struct chart *chart, int key, struct window *window);

/* Makes the tree of a machine or a capture. `machine` and `files` NULL: this machine. `time`: that
 * of the set `files`; 0: it is no set. */
struct tree *tree_new(const char *machine, const char *files, int64_t time);
/* Goes to another time of the set. */
void tree_go(struct tree *tree, int64_t time);
void tree_free(struct tree *tree);
void tree_draw(struct tree *tree, struct canvas *canvas, int row, int last);
bool tree_key(struct tree *tree, int key, struct window *window);

/* Makes the table of the object `of`, which must stay valid. `instances`: a pattern; NULL: all.
 * Returns NULL if there is no memory. */
struct object *object_new(struct model *model, size_t source, const struct catalogue_object *of,
                          const char *instances);
void object_free(struct object *object);
void object_draw(struct object *object, struct canvas *canvas, int row, int last);
const struct field *object_filter(const struct object *object);
bool object_key(struct object *object, int key, struct window *window);
/* With `rest`, the table is not sampled for now. */
void object_rest(struct object *object, bool rest);
/* True once the first sample with rates has arrived. */
bool object_ready(const struct object *object);
/* Prints the whole table; columns that do not fit side by side follow below. False: no memory. */
bool object_print(struct object *object, bool utf8, int columns, FILE *out);

/* Draws the list of selections. False: the list is not open, so nothing was drawn. */
bool selections_draw(struct selections *selections, struct canvas *canvas, int row, int last);
bool selections_key(struct selections *selections, int key, struct window *window);

/* ---- config.c ---- */
enum { CONFIG_PATH_SIZE = 2000 };
/* Writes the path of a file or folder below $XDG_CONFIG_HOME/openperflib; false: errno is the
 * reason, ENOENT if the user has no home folder. */
bool config_path(const char *below, char ret[CONFIG_PATH_SIZE]);
struct config_file {
    FILE *file;
    char path[CONFIG_PATH_SIZE], partial[CONFIG_PATH_SIZE + 8];
};
/* Begins to write a file that only the user may read. It has another name until config_end, so that
 * a file with this name is always complete. False: errno is the reason, and nothing has changed. */
bool config_begin(struct config_file *file, const char *path);
bool config_end(struct config_file *file);

/* ---- settings.c ---- */
/* Reads the user's file into `settings`. Writes into `problem` what is wrong with it; "":
 * nothing. */
void settings_read(struct settings *settings, char *problem, size_t capacity);
/* Saves the settings that changed. Returns the errno if that fails, else 0. */
int settings_write(const struct settings *before, const struct settings *now);
void settings_draw(struct settings_view *view, const struct settings *settings,
                   struct canvas *canvas, int row, int last);
/* Handles a key; true: a setting has changed. */
bool settings_key(struct settings_view *view, struct settings *settings, int key);

/* ---- moment.c ---- */
/* Writes why there are no values at the time that is shown, or what lies between that time and the
 * previous one. False: there is nothing to write. */
bool moment_text(const struct window *window, char *ret, size_t capacity);
/* Handles a key that goes to another time. */
bool moment_key(struct window *window, int key);
/* Goes to the time at which the first line of journalctl begins, if it is not empty. */
void moment_take_alert(struct window *window, const char *lines);

/* ---- sets.c ---- */
/* Draws the list of sets. False: the list is not open, so nothing was drawn. */
bool sets_draw(struct window *window, struct canvas *canvas, int row, int last);
bool sets_key(struct window *window, int key);
/* Starts "perfmon open": the page in the browser, or a link to it in the last line. */
void sets_open_page(struct window *window);
/* Takes over the running program's output, and its end. */
void sets_update(struct window *window);
void sets_done(struct sets_view *sets);
/* Searches the journal for the first alert since this time, in seconds since 1970, and goes to it;
 * sets_end_search ends that. */
void sets_find_alert(struct window *window, int64_t since);
void sets_end_search(struct sets_view *sets);

/* ---- machines.c ---- */
struct window_options;
/* Adds a machine or the capture of the options to the model, and its views if `views` is set;
 * false: no memory. */
bool machine_begin(struct machine *machine, struct model *model, const char *name,
                   const struct window_options *options, bool views);
void machine_end(struct machine *machine);
/* Frees the views that show names of counters, because the language has changed. */
void machine_forget(struct machine *machine);
/* Returns the machine's name, the capture's, or for this machine the host's. */
const char *machine_title(const struct machine *machine);
void machines_draw(struct window *window, struct canvas *canvas, int row, int last);
bool machines_key(struct window *window, int key);

/* ---- plain.c ---- */
/* Prints lines of text when they change, until standard output is closed. Returns an exit code. */
int plain_run(struct window *window);

/* ---- window.c ---- */
/* Set the message in the bottom line, or add to it, in the user's language if there is a
 * translation of `format`. */
void window_report(struct window *window, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void window_append(struct window *window, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Writes why no new samples of a machine arrive, or what a capture lost. False: samples do
 * arrive. */
bool window_problem(const struct window *window, const struct machine *machine, char *ret,
                    size_t capacity);
/* Returns the next shorter or longer interval between samples. */
double window_seconds(double seconds, bool shorter);
/* Adds a counter to the chart, for the machine in the path or else the machine that is shown. */
bool window_add_counter(struct window *window, const char *path);
/* Adds a chosen counter to the chart (`all`: for all machines), with a message in the bottom
 * line. */
void window_choose_counter(struct window *window, const char *path, bool all);
/* Shows the table of the object `of`. */
void window_open_object(struct window *window, const struct catalogue_object *of,
                        const char *instances);
struct window_options {
    const char **machines; /* names of machines; an element NULL: this machine */
    size_t machine_count;  /* number of machines, at least 1 */
    const char *files;     /* NULL: live */
    int64_t at;            /* `files` is a set, shown at this local time; 0: it is no set */
    char **paths;          /* counters to chart */
    size_t path_count;
    struct catalogue **objects; /* for each machine the object whose table is shown; NULL: none */
    const char *instances;      /* pattern of that object's instances; NULL: all */
    bool several;               /* the capture has several machines */
    double seconds;             /* 0: not given */
    bool colours, utf8, braille, console, plain;
    bool chart; /* the chart is shown first */
};
/* Runs perfmon on a terminal, or with `plain` as lines of text, to its end. Returns an exit
 * code. */
int window_run(const struct window_options *options);
/* Prints as text: the charted counters as a report, the table of the object, or the first view. */
int window_snapshot(const struct window_options *options, int columns);

#endif
