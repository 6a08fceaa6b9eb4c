/* SPDX-License-Identifier: MIT */
/* Prints how the tools' option parser understands a command line, for the test "options". */
#include "options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ALPHA = 1, VALUE, MAYBE, WHOLE, SECONDS };

/* clang-format off */
static const struct option_row rows[] = {
    {'a', "alpha", NULL, ALPHA, "A.", NULL, false},
    {'v', "value", "TEXT", VALUE, "V.", "one two", false},
    {'m', "maybe", "[TEXT]", MAYBE, "M.", NULL, false},
    {'n', "number", "N", WHOLE, "N.", NULL, true},
    {'s', "seconds", "N", SECONDS, "S.", NULL, true},
    {0},
};
/* clang-format on */

static const struct tool commands[] = {
    {.name = "query", .summary = "Q.", .usage = "KEY", .rows = rows},
    {.name = NULL},
};

static const struct tool plain = {
    .name = "probe", .summary = "Probes.", .usage = "[OPTION]... [WORD]...", .rows = rows};
static const struct tool with_commands = {
    .name = "probe", .summary = "Probes.", .usage = "COMMAND [OPTION]...", .commands = commands};

/* Prints the variables that options_set has set, and the number of arguments (words, and options
 * without a variable) that set none. */
static int print_set(int argc, char **argv)
{
    struct options options;
    bool flag = false;
    const char *text = "-";
    int64_t whole = 0;
    double seconds = 0;
    const struct option_target targets[] = {
        [ALPHA] = OPTION_FLAG(flag),
        [VALUE] = OPTION_TEXT(text),
        [WHOLE] = OPTION_WHOLE(whole, -5, 1000000000000),
        [SECONDS] = OPTION_SECONDS(seconds, 0.5, 60),
    };
    int others = 0, id = options_begin(&options, &plain, argc, argv);
    while (id > 0 && (id = options_next(&options)) > 0) {
        int code = options_set(&options, id, OPTION_TARGETS(targets));
        others += code == OPTION_OTHER;
        if (code > 0)
            return code;
    }
    printf("%d %s %" PRId64 " %g, %d others\n", flag, text, whole, seconds, others);
    return id < 0 ? options_status(id) : 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "set") == 0)
        return print_set(argc - 1, argv + 1);
    static const char names[] = "?avm";
    struct options options;
    bool commands_wanted = argc > 1 && argv[1][0] == '!';
    const struct tool *tool = commands_wanted ? &with_commands : &plain;
    int id = options_begin(&options, tool, argc - commands_wanted, argv + commands_wanted);
    if (id > 0 && options.command)
        printf("<%s>", options.command->name);
    while (id > 0 && (id = options_next(&options)) > 0)
        printf("%c[%s]", id == OPTION_ARGUMENT ? 'w' : names[id],
               options.value ? options.value : "");
    if (id < 0)
        return options_status(id);
    printf("\n");
    return 0;
}
