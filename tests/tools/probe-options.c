/* SPDX-License-Identifier: MIT */
/* Prints how the option parser understands a command line, for the test "options". */
#include "options.h"

#include <stdio.h>

enum { ALPHA = 1, VALUE, MAYBE };

/* clang-format off */
static const struct option_row rows[] = {
    {'a', "alpha", NULL, ALPHA, "A.", NULL, false},
    {'v', "value", "TEXT", VALUE, "V.", "one two", false},
    {'m', "maybe", "[TEXT]", MAYBE, "M.", NULL, false},
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

int main(int argc, char **argv)
{
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
