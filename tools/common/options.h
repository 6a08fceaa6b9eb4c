/* SPDX-License-Identifier: MIT */
/*
 * One table per tool: parsing, --help, completions and the manual page's option list come from it.
 *
 *     static const struct option_row rows[] = {
 *         {'b', "block", "FILE", BLOCK, "Read a saved block instead of asking the system."},
 *         {0}
 *     };
 *     static const struct tool tool = {"pcview", "summary", "[OPTION]... [OBJECT]...", rows};
 *
 *     struct options options;
 *     int id = options_begin(&options, &tool, argc, argv);
 *     while (id > 0 && (id = options_next(&options)) > 0)
 *         switch (id) { case BLOCK: path = options.value; break; case OPTION_ARGUMENT: ... }
 *     if (id < 0)
 *         return options_status(id);
 *
 * Every tool has --help (also /?), -V/--version and the hidden --print-options for the build.
 */
#ifndef OPL_TOOLS_OPTIONS_H
#define OPL_TOOLS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct option_row {
    char letter;      /* 0: none */
    const char *name; /* NULL: no long name, and `letter` is not 0 */
    /* the argument's name in --help: "FILE"; "[SECONDS]": may be omitted, and follows only after
     * '='; NULL: no argument */
    const char *argument;
    int id;           /* the program's number for the option: above 0, not OPTION_ARGUMENT */
    const char *help; /* one or more sentences; wrapped by --help */
    const char
        *complete; /* completes the argument: "@files", "@ini", "@services", "a b", or NULL */
    bool hidden;
    const char *word; /* Windows' name of several letters, written with one dash: "cf" */
    /* "--" before the letter or the word, or "--no-" before the name, cancels the option:
     * OPTION_BACK is then added to the id */
    bool can_be_taken_back;
};

/* A tool, or one of its commands ("query" of reg). */
struct tool {
    const char *name;
    const char *summary; /* one sentence */
    const char *usage;   /* what follows the name; several variants are separated by '\n' */
    const struct option_row *rows; /* ended by a zeroed row; NULL: there are no options */
    /* ended by a row whose name is NULL; the first word chooses a command */
    const struct tool *commands;
    const char *more; /* printed by --help after the options, with its own line
                                    * breaks */
    /* how plain words are completed: a value of `complete`, or "@objects" */
    const char *complete_args;
    int id;               /* a command's number, chosen by the tool */
    bool without_command; /* the tool has a meaning of its own if the first word is no command */
};

enum { OPTION_ARGUMENT = 1000 }; /* id of a plain word, which is in .value */
enum { OPTION_BACK = 10000 };
enum { OPTION_END = 0, OPTION_SHOWN = -1, OPTION_WRONG = -2 };
/* exit codes of every tool that does not have Windows' exit codes */
enum { EXIT_GOOD = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_MISSING = 3 };

struct options {
    const struct tool *tool;
    const struct tool *command; /* NULL until a command is chosen */
    char **argv;
    int argc, at;
    const char *cluster; /* the letters of "-abc" that were not returned yet */
    const char *value;   /* value of the option or word just returned; NULL: none was given */
    const char *spelled; /* the option as the user wrote it, for messages */
    bool args_only;      /* "--" was seen */
};

/* Starts parsing and reads the command, if the tool has any. Returns 1, OPTION_SHOWN or
 * OPTION_WRONG. */
int options_begin(struct options *options, const struct tool *tool, int argc, char **argv);
/* Returns the next option's id, OPTION_ARGUMENT, OPTION_END, or one of: OPTION_SHOWN (help or
 * version was printed), OPTION_WRONG (a message was printed on stderr). */
int options_next(struct options *options);
/* Parses a whole number from `least` to `most`; false: the text is no such number. */
bool options_number(const char *text, int64_t least, int64_t most, int64_t *ret);
/* The variable that an option sets: the member that is not NULL. */
struct option_target {
    bool *flag;
    const char **text;
    int64_t *whole;
    double *seconds;
    double least, most; /* limits of `whole` and `seconds` */
};
/* clang-format off */
#define OPTION_FLAG(variable)    {.flag = &(variable)}
#define OPTION_TEXT(variable)    {.text = &(variable)}
#define OPTION_WHOLE(variable, from, to)   {.whole = &(variable), .least = from, .most = to}
#define OPTION_SECONDS(variable, from, to) {.seconds = &(variable), .least = from, .most = to}
#define OPTION_TARGETS(rows) rows, sizeof(rows) / sizeof *(rows)
/* clang-format on */
enum { OPTION_OTHER = -1 };
/* Sets the variable of the option that options_next returned; `targets` are indexed by the options'
 * ids. Returns 0; EXIT_USAGE after a message; OPTION_OTHER: the table has no variable for `id`. */
int options_set(const struct options *options, int id, const struct option_target *targets,
                size_t count);
/* Returns the exit code for OPTION_SHOWN and OPTION_WRONG: 0 and 2. */
int options_status(int id);
/* Prints "TOOL: message" and "Try ..." on stderr; returns EXIT_USAGE. */
int options_complain(const struct options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
