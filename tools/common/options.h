/* SPDX-License-Identifier: MIT */
/*
 * One table per tool: parsing, --help, completions and the manual page's option list come from it.
 *
 *     struct pcview { const char *save; ... };
 *     static const struct option_row rows[] = {
 *         {'o', "save", "FILE", 0, "Write the unchanged block to FILE.", "@files", 0,
 *          .sets = OPTION_TEXT(struct pcview, save)},
 *         {'b', "block", "FILE", BLOCK, "Read a saved block instead of asking the system."},
 *         {0}
 *     };
 *     static const struct tool tool = {"pcview", "summary", "[OPTION]... [OBJECT]...", rows};
 *
 *     struct options options;
 *     int id = options_begin(&options, &tool, argc, argv);
 *     while (id > 0 && (id = options_next(&options)) > 0)
 *         switch (id) {
 *         case OPTION_SET: wrong = options_set(&options, &pcview); break;
 *         case BLOCK: ... options.value ...
 *         case OPTION_ARGUMENT: ...
 *         }
 *     if (id < 0)
 *         return options_status(id);
 *
 * The rows stand next to the structure that they set, in option-rows.h if the tool has several
 * files: an option is written there and where it is used, and nowhere else.
 *
 * Every tool has --help (also /?), -V/--version and the hidden --print-options for the build.
 */
#ifndef OPL_TOOLS_OPTIONS_H
#define OPL_TOOLS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The member of the tool's structure that an option sets. */
struct option_variable {
    enum {
        OPTION_NO_VARIABLE,
        OPTION_IS_FLAG,
        OPTION_IS_TEXT,
        OPTION_IS_WHOLE,
        OPTION_IS_SECONDS
    } kind;
    size_t offset;
    double least, most; /* limits of a number */
};
/* The offset of the member, which must have this type. */
#define OPTION_OFFSET(structure, member, type)                                                     \
    (offsetof(structure, member) + _Generic(((structure *)0)->member, type : 0))
#define OPTION_FLAG(structure, member)                                                             \
    {                                                                                              \
        OPTION_IS_FLAG, OPTION_OFFSET(structure, member, bool), 0, 0                               \
    }
#define OPTION_TEXT(structure, member)                                                             \
    {                                                                                              \
        OPTION_IS_TEXT, OPTION_OFFSET(structure, member, const char *), 0, 0                       \
    }
#define OPTION_WHOLE(structure, member, least, most)                                               \
    {                                                                                              \
        OPTION_IS_WHOLE, OPTION_OFFSET(structure, member, int64_t), least, most                    \
    }
#define OPTION_SECONDS(structure, member, least, most)                                             \
    {                                                                                              \
        OPTION_IS_SECONDS, OPTION_OFFSET(structure, member, double), least, most                   \
    }

struct option_row {
    char letter;      /* 0: none */
    const char *name; /* NULL: no long name, and `letter` is not 0 */
    /* the argument's name in --help: "FILE"; "[SECONDS]": may be omitted, and follows only after
     * '='; NULL: no argument */
    const char *argument;
    int id;           /* the program's number for the option: below OPTION_ARGUMENT; 0: `sets` */
    const char *help; /* one or more sentences; wrapped by --help */
    const char
        *complete; /* completes the argument: "@files", "@ini", "@services", "a b", or NULL */
    bool hidden;
    const char *word; /* Windows' name of several letters, written with one dash: "cf" */
    /* "--" before the letter or the word, or "--no-" before the name, cancels the option:
     * OPTION_BACK is then added to the id */
    bool can_be_taken_back;
    struct option_variable sets;
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
    int id; /* a command's number, chosen by the tool */
    /* the tool also works without a command: if the first word that is no option is missing or
     * names none, all words are the tool's own options and arguments, and only then its rows count
     */
    bool without_command;
};

/* ids of a plain word, which is in .value, and of an option whose row has `sets` */
enum { OPTION_ARGUMENT = 1000, OPTION_SET };
enum { OPTION_BACK = 10000 };
enum { OPTION_END = 0, OPTION_SHOWN = -1, OPTION_WRONG = -2 };
/* exit codes of every tool that does not have Windows' exit codes: docs/style.md says when which */
enum { EXIT_GOOD = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_MISSING = 3, EXIT_NO_RIGHTS = 4 };

struct options {
    const struct tool *tool;
    const struct tool *command; /* NULL until a command is chosen */
    char **argv;
    int argc, at;
    const struct option_row *row; /* the row of the option just returned */
    const char *cluster;          /* the letters of "-abc" that were not returned yet */
    const char *value;   /* value of the option or word just returned; NULL: none was given */
    const char *spelled; /* the option as the user wrote it, for messages */
    bool args_only;      /* "--" was seen */
    bool scan;           /* only find where options end: print nothing */
};

/* Starts parsing and reads the command, if the tool has any. Returns 1, OPTION_SHOWN or
 * OPTION_WRONG. */
int options_begin(struct options *options, const struct tool *tool, int argc, char **argv);
/* Returns the next option's id, OPTION_ARGUMENT, OPTION_END, or one of: OPTION_SHOWN (help or
 * version was printed), OPTION_WRONG (a message was printed on stderr). */
int options_next(struct options *options);
/* Parses a whole number from `least` to `most`; false: the text is no such number. */
bool options_number(const char *text, int64_t least, int64_t most, int64_t *ret);
/* After OPTION_SET: sets the member of the tool's structure that the row names. Returns 0, or
 * EXIT_USAGE after a message. */
int options_set(const struct options *options, void *structure);
/* Returns the exit code for OPTION_SHOWN and OPTION_WRONG: 0 and 2. */
int options_status(int id);
/* Prints "TOOL: message" and "Try ..." on stderr; returns EXIT_USAGE. */
int options_complain(const struct options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Prints "TOOL: message" on stderr, if the command line is right but cannot be followed, because of
 * a file that does not exist, for example; returns EXIT_FAILED. */
int tool_failed(const char *tool, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
