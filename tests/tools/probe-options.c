/* SPDX-License-Identifier: MIT */
/* Prints how the tools' option parser understands a command line, for the test "options". */
#include "options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ALPHA = 1, VALUE, MAYBE, OTHER };

/* clang-format off */
static const struct option_row rows[] = {
    {'a', "alpha", NULL, ALPHA, "A.", NULL, false},
    {'v', "value", "TEXT", VALUE, "V.", "one two", false},
    {'m', "maybe", "[TEXT]", MAYBE, "M.", NULL, false},
    {0},
};

struct probe {
    int64_t whole;
    bool flag;
    const char *text;
    double seconds;
};
static const struct option_row set_rows[] = {
    {'a', "alpha", NULL, 0, "A.", NULL, false, .sets = OPTION_FLAG(struct probe, flag)},
    {'v', "value", "TEXT", 0, "V.", NULL, false, .sets = OPTION_TEXT(struct probe, text)},
    {'m', "maybe", "[TEXT]", OTHER, "M.", NULL, false},
    {'n', "number", "N", 0, "N.", NULL, false, .sets = OPTION_WHOLE(struct probe, whole, -5, 1000000000000)},
    {'s', "seconds", "N", 0, "S.", NULL, false, .sets = OPTION_SECONDS(struct probe, seconds, 0.5, 60)},
    {0},
};
/* clang-format on */

static const struct tool commands[] = {
    {.name = "query", .summary = "Q.", .usage = "KEY", .rows = rows},
    {.name = NULL},
};

static const struct tool plain = {
    .name = "probe", .summary = "Probes.", .usage = "[OPTION]... [WORD]...", .rows = rows};
static const struct tool setting = {
    .name = "probe", .summary = "Probes.", .usage = "[OPTION]... [WORD]...", .rows = set_rows};
static const struct tool either = {.name = "probe",
                                   .summary = "Probes.",
                                   .usage = "[OPTION]... [WORD]...\nCOMMAND [OPTION]...",
                                   .rows = set_rows,
                                   .commands = commands,
                                   .without_command = true};
static const struct tool with_commands = {
    .name = "probe", .summary = "Probes.", .usage = "COMMAND [OPTION]...", .commands = commands};

/* Prints the members that options_set has set, and the number of arguments (words, and options
 * whose row names no member) that set none. */
static int print_set(int argc, char **argv)
{
    struct options options;
    struct probe probe = {.text = "-"};
    int code = 0, others = 0, id = options_begin(&options, &setting, argc, argv);
    while (id > 0 && !code && (id = options_next(&options)) > 0) {
        others += id != OPTION_SET;
        code = id == OPTION_SET ? options_set(&options, &probe) : 0;
    }
    if (code)
        return code;
    printf("%d %s %" PRId64 " %g, %d others\n", probe.flag, probe.text, probe.whole, probe.seconds,
           others);
    return id < 0 ? options_status(id) : 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "set") == 0)
        return print_set(argc - 1, argv + 1);
    static const char names[] = "?avm";
    struct options options;
    bool commands_wanted = argc > 1 && argv[1][0] == '!';
    bool either_wanted = argc > 1 && argv[1][0] == '~';
    int skipped = commands_wanted || either_wanted;
    const struct tool *tool = commands_wanted ? &with_commands : either_wanted ? &either : &plain;
    int id = options_begin(&options, tool, argc - skipped, argv + skipped);
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
