/* SPDX-License-Identifier: MIT */
/* Parses a command line by a table: -x, -xVALUE, --long, --long=value, --long value, -word
 * value, and Windows' /x, /word, /long, /long:value. A word with a slash is an option only if
 * the table has it and no such file exists. */
#include "options.h"

#include "../view/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "options-print.h"

enum { HELP = 2000, VERSION, PRINT };

const struct option_row options_common_rows[] = {
    {'h',                 "help", NULL, HELP, "Print this help.", NULL, false},
    {'V',               "version", NULL, VERSION, "Print the version.", NULL, false},
    {0, "print-options", NULL, PRINT, "Print the option table for the build.", NULL, true},
    {0             },
};

static bool row_ends(const struct option_row *row)
{
    return !row->letter && !row->name;
}

typedef bool row_matcher(const struct option_row *row, const char *text, size_t count);

static bool letter_matches(const struct option_row *row, const char *text, size_t count)
{
    return count == 1 && row->letter == *text;
}

static bool letter_matches_any_case(const struct option_row *row, const char *text, size_t count)
{
    return count == 1 && row->letter &&
           tolower((unsigned char)row->letter) == tolower((unsigned char)*text);
}

static bool name_matches(const struct option_row *row, const char *text, size_t count)
{
    return row->name && strlen(row->name) == count && strncasecmp(row->name, text, count) == 0;
}

static bool word_matches(const struct option_row *row, const char *text, size_t count)
{
    return row->word && strlen(row->word) == count && strncasecmp(row->word, text, count) == 0;
}

static const struct option_row *rows_find(const struct option_row *rows, row_matcher *matches,
                                          const char *text, size_t count)
{
    for (; rows && !row_ends(rows); rows++)
        if (matches(rows, text, count))
            return rows;
    return NULL;
}

static const struct option_row *find(const struct options *options, row_matcher *matches,
                                     const char *text, size_t count)
{
    const struct tool *tool = options->tool, *command = options->command;
    const struct option_row *lists[] = {command ? command->rows : NULL,
                                        command && tool->without_command ? NULL : tool->rows,
                                        options_common_rows};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const struct option_row *row = rows_find(lists[i], matches, text, count);
        if (row)
            return row;
    }
    return NULL;
}

static void complain(const char *tool, const char *format, va_list list)
{
    char *text = NULL;
    if (vasprintf(&text, format, list) < 0)
        text = NULL;
    fprintf(stderr, "%s: %s\n", tool, text ? text_seen(text) : "no memory");
    free(text);
}

int options_complain(const struct options *options, const char *format, ...)
{
    const struct tool *command = options->command;
    va_list list;
    va_start(list, format);
    complain(options->tool->name, format, list);
    va_end(list);
    fprintf(stderr, "Try '%s%s%s --help'.\n", options->tool->name, command ? " " : "",
            command ? command->name : "");
    return EXIT_USAGE;
}

int tool_failed(const char *tool, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    complain(tool, format, list);
    va_end(list);
    return EXIT_FAILED;
}

static int wrong(const struct options *options, const char *what, const char *word)
{
    if (!options->scan)
        options_complain(options, "%s: %s", what, word);
    return OPTION_WRONG;
}

static int accept_row(struct options *options, const struct option_row *row)
{
    switch (options->scan ? 0 : row->id) {
    case HELP:
        options_print_help(options->tool, options->command);
        return OPTION_SHOWN;
    case VERSION:
        options_print_version(options->tool);
        return OPTION_SHOWN;
    case PRINT:
        options_print_table(options->tool);
        return OPTION_SHOWN;
    default:
        options->row = row;
        return row->id ? row->id : OPTION_SET;
    }
}

/* Sets the option's argument: the text attached to the option (NULL: none), else the next word. */
static int accept_argument(struct options *options, const struct option_row *row,
                           const char *attached)
{
    options->value = attached;
    if (!row->argument) {
        if (attached)
            return wrong(options, "this option takes no value", options->spelled);
    } else if (!attached && row->argument[0] != '[') {
        if (options->at >= options->argc)
            return wrong(options, "this option needs a value", options->spelled);
        options->value = options->argv[options->at++];
    }
    return accept_row(options, row);
}

/* Returns the row of the option that "--name" cancels: `name` is "no-" and the name, the word or
 * the letter of that option. NULL: there is none. */
static const struct option_row *taken_back(const struct options *options, const char *name)
{
    size_t count = strlen(name);
    bool no = strncasecmp(name, "no-", 3) == 0;
    const struct option_row *row = no ? find(options, name_matches, name + 3, count - 3)
                                      : find(options, word_matches, name, count);
    if (!row && !no)
        row = find(options, letter_matches, name, count);
    return row && row->can_be_taken_back ? row : NULL;
}

static int take_long(struct options *options, const char *word)
{
    const char *name = word + 2;
    const char *equals = strchr(name, '=');
    size_t count = equals ? (size_t)(equals - name) : strlen(name);
    const struct option_row *row = find(options, name_matches, name, count);
    const struct option_row *back = row ? NULL : taken_back(options, name);
    options->value = NULL;
    if (back)
        return back->id + OPTION_BACK;
    if (!row)
        return wrong(options, "unknown option", word);
    return accept_argument(options, row, equals ? equals + 1 : NULL);
}

static int take_letter(struct options *options)
{
    const char *letter = options->cluster++;
    const struct option_row *row = find(options, letter_matches, letter, 1);
    if (*options->cluster == 0)
        options->cluster = NULL;
    if (!row)
        return wrong(options, "unknown option", options->spelled);
    const char *attached = row->argument ? options->cluster : NULL;
    if (attached) {
        options->cluster = NULL;
        attached += *attached == '=';
    }
    return accept_argument(options, row, attached);
}

/* Returns the row for "x", or with `value` for "x:value"; NULL: none. */
static const struct option_row *windows_letter(const struct options *options, const char *name,
                                               size_t count, bool value)
{
    const struct option_row *row = find(options, letter_matches, name, count);
    /* Windows accepts /V for /v, but the tool's own letters come first */
    if (!row || row->id >= HELP)
        row = find(options, letter_matches_any_case, name, count);
    if (!row || !value || row->argument || count != 1 || !isalpha((unsigned char)*name))
        return row;
    char other = (char)(*name ^ ('a' ^ 'A')); /* /c:FILE means -C if -c takes no argument */
    return find(options, letter_matches, &other, 1);
}

/* Returns the row for "/x", "/long" or "/long:value"; NULL: the word is no option. */
static const struct option_row *windows_row(const struct options *options, const char *word,
                                            const char **ret_attached)
{
    const char *name = word + 1;
    const char *colon = strchr(name, ':');
    size_t count = colon ? (size_t)(colon - name) : strlen(name);
    *ret_attached = colon ? colon + 1 : NULL;
    if (count == 0 || access(word, F_OK) == 0)
        return NULL;
    if (strcmp(name, "?") == 0)
        return find(options, name_matches, "help", 4);
    const struct option_row *row = windows_letter(options, name, count, colon);
    if (!row)
        row = find(options, word_matches, name, count);
    if (!row)
        row = find(options, name_matches, name, count);
    return row && (!colon || row->argument) ? row : NULL;
}

/* Parses what follows one dash: a Windows option word, "?", or letters. */
static int take_short(struct options *options, const char *text)
{
    const struct option_row *row = find(options, word_matches, text, strlen(text));
    if (!row && strcmp(text, "?") == 0)
        row = find(options, name_matches, "help", 4);
    if (row)
        return accept_argument(options, row, NULL);
    options->cluster = text;
    return take_letter(options);
}

int options_next(struct options *options)
{
    if (options->cluster)
        return take_letter(options);
    if (options->at >= options->argc)
        return OPTION_END;
    const char *word = options->argv[options->at++], *attached;
    options->spelled = options->value = word;
    if (!options->args_only && strcmp(word, "--") == 0) {
        options->args_only = true;
        return options_next(options);
    }
    if (options->args_only || (word[0] != '-' && word[0] != '/') || !word[1])
        return OPTION_ARGUMENT;
    if (word[0] == '/') {
        const struct option_row *row = windows_row(options, word, &attached);
        return row ? accept_argument(options, row, attached) : OPTION_ARGUMENT;
    }
    if (word[1] == '-')
        return take_long(options, word);
    return take_short(options, word + 1);
}

static const struct tool *command_find(const struct tool *commands, const char *name)
{
    for (; commands->name; commands++)
        if (strcasecmp(commands->name, name) == 0)
            return commands;
    return NULL;
}

/* Moves the command to the front if it is the first plain word. Options before it may be those of
 * the command, so the words before each name of a command are tried as its options. */
static bool move_command(const struct options *options)
{
    for (const struct tool *command = options->tool->commands; command->name; command++) {
        struct options scan = *options;
        scan.command = command;
        scan.scan = true;
        int id = options_next(&scan);
        while (id > 0 && id != OPTION_ARGUMENT)
            id = options_next(&scan);
        if (id != OPTION_ARGUMENT || scan.args_only || strcasecmp(scan.value, command->name) != 0)
            continue;
        char *name = options->argv[scan.at - 1];
        memmove(&options->argv[2], &options->argv[1], (size_t)(scan.at - 2) * sizeof name);
        options->argv[1] = name;
        return true;
    }
    return false;
}

int options_begin(struct options *options, const struct tool *tool, int argc, char **argv)
{
    *options = (struct options){.tool = tool, .argv = argv, .argc = argc, .at = 1};
    if (!tool->commands || (tool->without_command && !move_command(options)))
        return 1;
    int id = options_next(options);
    if (id == OPTION_END)
        return wrong(options, "a command is missing", tool->usage);
    if (id != OPTION_ARGUMENT)
        return id < 0 ? id : wrong(options, "give the command before", options->spelled);
    options->command = command_find(tool->commands, options->value);
    return options->command ? 1 : wrong(options, "unknown command", options->value);
}

bool options_number(const char *text, int64_t least, int64_t most, int64_t *ret)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end || value < least || value > most)
        return false;
    *ret = value;
    return true;
}

static bool set_seconds(const char *text, double least, double most, double *ret)
{
    char *end;
    *ret = strtod(text, &end);
    return end != text && !*end && *ret >= least && *ret <= most;
}

int options_set(const struct options *options, void *structure)
{
    const struct option_variable *sets = &options->row->sets;
    void *member = (char *)structure + sets->offset;
    bool good = true;
    if (sets->kind == OPTION_IS_FLAG)
        *(bool *)member = true;
    else if (sets->kind == OPTION_IS_TEXT)
        *(const char **)member = options->value;
    else if (sets->kind == OPTION_IS_WHOLE)
        good = options_number(options->value, (int64_t)sets->least, (int64_t)sets->most, member);
    else
        good = set_seconds(options->value, sets->least, sets->most, member);
    return good
               ? 0
               : options_complain(options, "%s: not a number%s from %.15g to %.15g", options->value,
                                  sets->kind == OPTION_IS_SECONDS ? " of seconds" : "", sets->least,
                                  sets->most);
}

int options_status(int id)
{
    return id == OPTION_WRONG ? EXIT_USAGE : EXIT_GOOD;
}
