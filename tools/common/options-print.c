/* SPDX-License-Identifier: MIT */
/* Prints a tool's option table: as --help, and as lines for the build. */
#include "options-print.h"

#include <stdio.h>
#include <string.h>

enum { HELP_COLUMN = 28, HELP_WIDTH = 80 };

/* Prints text, wrapped into the columns [column, HELP_WIDTH); the cursor stands at `column`. */
static void print_wrapped(const char *text, int column)
{
    int at = column;
    while (*text) {
        int count = (int)strcspn(text, " ");
        if (at > column && at + 1 + count > HELP_WIDTH) {
            printf("\n%*s", column, "");
            at = column;
        }
        at += printf("%s%.*s", at > column ? " " : "", count, text);
        text += count;
        text += strspn(text, " ");
    }
    putchar('\n');
}

static void print_row(const struct option_row *row)
{
    char left[64];
    int used = 0;
    if (row->hidden)
        return;
    if (row->word)
        used = snprintf(left, sizeof left, "  -%s%s", row->word, row->name ? ", " : "");
    else if (row->letter)
        used = snprintf(left, sizeof left, "  -%c%s", row->letter, row->name ? ", " : "");
    else
        used = snprintf(left, sizeof left, "      ");
    if (row->name)
        used += snprintf(left + used, sizeof left - (size_t)used, "--%s", row->name);
    if (row->argument && row->argument[0] == '[')
        used += snprintf(left + used, sizeof left - (size_t)used, "[=%s", row->argument + 1);
    else if (row->argument)
        used += snprintf(left + used, sizeof left - (size_t)used, "%s%s", row->name ? "=" : " ",
                         row->argument);
    printf("%-*s", HELP_COLUMN - 2, left);
    if (used > HELP_COLUMN - 4)
        printf("\n%*s", HELP_COLUMN - 2, "");
    print_wrapped(row->help, HELP_COLUMN - 2);
}

static void print_rows(const struct option_row *rows)
{
    for (; rows && (rows->letter || rows->name); rows++)
        print_row(rows);
}

static void print_usage(const struct tool *tool, const struct tool *command)
{
    const char *usage = command ? command->usage : tool->usage;
    const char *lead = "Usage:";
    while (usage && *usage) {
        int count = (int)strcspn(usage, "\n");
        printf("%s %s%s%s%s%.*s\n", lead, tool->name, command ? " " : "",
               command ? command->name : "", count ? " " : "", count, usage);
        lead = "      ";
        usage += count + (usage[count] == '\n');
    }
}

static void print_commands(const struct tool *commands)
{
    printf("\nCommands:\n");
    for (; commands->name; commands++) {
        printf("  %-10s ", commands->name);
        print_wrapped(commands->summary, 13);
    }
}

void options_print_help(const struct tool *tool, const struct tool *command)
{
    print_usage(tool, command);
    printf("%s\n", command ? command->summary : tool->summary);
    if (!command && tool->commands)
        print_commands(tool->commands);
    printf("\nOptions:\n");
    if (command)
        print_rows(command->rows);
    if (!command || !tool->without_command)
        print_rows(tool->rows);
    print_rows(options_common_rows);
    const char *more = command ? command->more : tool->more;
    if (more)
        printf("\n%s", more);
}

void options_print_version(const struct tool *tool)
{
    printf("%s (openperflib) %s\n", tool->name, OPL_TOOLS_VERSION);
}

static void print_row_line(const char *command, const struct option_row *row)
{
    char letter[2] = {row->letter, 0};
    printf("option\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", command, letter, row->name ? row->name : "",
           row->argument ? row->argument : "", row->complete ? row->complete : "", row->help,
           row->word ? row->word : "");
}

static void print_tool_lines(const char *kind, const struct tool *tool, const char *command)
{
    printf("%s\t%s\t%s\t%s\n", kind, tool->name, tool->complete_args ? tool->complete_args : "",
           tool->summary);
    for (const char *usage = tool->usage; usage && *usage;) {
        int count = (int)strcspn(usage, "\n");
        printf("usage\t%s\t%.*s\n", command, count, usage);
        usage += count + (usage[count] == '\n');
    }
    for (const struct option_row *row = tool->rows; row && (row->letter || row->name); row++)
        if (!row->hidden)
            print_row_line(command, row);
}

void options_print_table(const struct tool *tool)
{
    print_tool_lines("tool", tool, "");
    for (const struct option_row *row = options_common_rows; row->name; row++)
        if (!row->hidden)
            print_row_line("", row);
    for (const struct tool *command = tool->commands; command && command->name; command++)
        print_tool_lines("command", command, command->name);
}
