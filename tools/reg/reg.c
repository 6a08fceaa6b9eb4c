/* SPDX-License-Identifier: MIT */
/*
 * reg: reads and writes the registry from the command line, as on Windows. The exit code is the
 * Win32 code of the error, or 0.
 */
#include "reg.h"

#include "../view/view.h"
#include "../common/last-event.h"
#include "../common/options.h"

#include <stdio.h>
#include <string.h>

enum { QUERY = 1, ADD, DELETE_, EXPORT, IMPORT };

/* clang-format off */
static const struct tool commands[] = {
    {.name = "query", .summary = "Show a key's values and subkeys.",
     .usage = "KEY [/v NAME | /ve] [/s] [/t TYPE]", .rows = query_rows, .id = QUERY},
    {.name = "add", .summary = "Create a key, or write a value.",
     .usage = "KEY [/v NAME | /ve] [/t TYPE] [/s CHAR] [/d DATA] [/f]", .rows = add_rows, .id = ADD},
    {.name = "delete", .summary = "Delete a key with all its subkeys, or values.",
     .usage = "KEY [/v NAME | /ve | /va] [/f]", .rows = delete_rows, .id = DELETE_},
    {.name = "export", .summary = "Write a key and all its subkeys to a .reg file (version 5).",
     .usage = "KEY FILE [/y]", .rows = export_rows, .complete_args = "@files", .id = EXPORT},
    {.name = "import", .summary = "Read a .reg file (REGEDIT4 or version 5) into the registry.",
     .usage = "FILE", .rows = import_rows, .complete_args = "@files", .id = IMPORT},
    {0},
};
/* clang-format on */

static const char more[] =
    "KEY is [\\\\MACHINE\\]ROOT[\\SUBKEY]. ROOT is HKLM, HKCU, HKU, HKCR, HKCC or its long name, "
    "or\n"
    "one of HKEY_PERFORMANCE_DATA, HKEY_PERFORMANCE_TEXT, HKEY_PERFORMANCE_NLSTEXT. FILE may be -\n"
    "for standard input and output. Options may be written /v, -v or --value, /ve or --ve.\n"
    "\n"
    "Examples:\n"
    "  reg query 'HKLM\\SYSTEM\\CurrentControlSet\\Services' /s\n"
    "  reg query HKEY_PERFORMANCE_DATA /v 'Counter 009'\n"
    "  reg add 'HKCU\\Software\\Mine' /v Answer /t REG_DWORD /d 42\n"
    "  reg export 'HKCU\\Software\\Mine' mine.reg\n"
    "\n"
    "The exit code is 0, or the Win32 code of the error: 2 not found, 5 no rights, 87 usage,\n"
    "50 not supported: query /f /k /d /c /e /se /z, and copy, save, load, unload, restore,\n"
    "compare, flags.\n";

static const struct tool tool = {
    .name = "reg",
    .summary = "Read and write the registry.",
    .usage = "COMMAND KEY [OPTION]...",
    .commands = commands,
    .more = more,
};

static void take_option(struct reg *reg, const struct options *options, int id)
{
    if (id == OPTION_SET)
        options_set(options, reg);
    else if (id == DEFAULT)
        reg->value_name = "";
}

static int refuse_word(const struct options *options)
{
    options_complain(options, "unexpected argument: %s", options->value);
    return ERROR_INVALID_PARAMETER;
}

/* Stores an argument: a command has KEY, KEY and FILE, or FILE. False: one too many. */
static bool take_arg(struct reg *reg, int command, const char *word)
{
    const char **first = command == IMPORT ? &reg->file_name : &reg->key_name;
    const char **second = command == EXPORT ? &reg->file_name : first;
    const char **place = *first ? second : first;
    if (*place)
        return false;
    *place = word;
    return true;
}

static int run(const struct options *options, const struct reg *reg)
{
    static LSTATUS (*const functions[])(const struct reg *) = {
        [QUERY] = reg_query,   [ADD] = reg_add,       [DELETE_] = reg_delete,
        [EXPORT] = reg_export, [IMPORT] = reg_import,
    };
    int command = options->command->id;
    bool complete = (reg->key_name || command == IMPORT) &&
                    (reg->file_name || (command != IMPORT && command != EXPORT));
    if (!complete) {
        options_complain(options, "%s is missing",
                         reg->key_name || command == IMPORT ? "FILE" : "KEY");
        return ERROR_INVALID_PARAMETER;
    }
    if (reg->type && !value_type(reg->type, &(DWORD){0})) {
        options_complain(options, "unknown type: %s", reg->type);
        return ERROR_INVALID_PARAMETER;
    }
    return functions[command](reg);
}

static int refuse_left_out(const char *what, const char *instead)
{
    fprintf(stderr, "reg: %s is not supported; %s\n", what, instead);
    return ERROR_NOT_SUPPORTED;
}

/* Reports the commands of Windows' reg that are missing here: those for hives and copies. */
static int refuse_command(const char *word)
{
    static const char *const names[] = {"copy",    "save",    "load", "unload",
                                        "restore", "compare", "flags"};
    for (size_t i = 0; word && i < sizeof names / sizeof *names; i++)
        if (!strcasecmp(word, names[i]))
            return refuse_left_out(names[i], "reg export and reg import copy keys as text");
    return 0;
}

/* Replaces "-ve" by "/ve", because "-ve" would be -v with the name "e". */
static void spell_out(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "-ve"))
            argv[i] = "--ve";
        else if (!strcmp(argv[i], "-va"))
            argv[i] = "--va";
}

int main(int argc, char **argv)
{
    struct options options;
    struct reg reg = {0};
    if (refuse_command(argc > 1 ? argv[1] : NULL))
        return ERROR_NOT_SUPPORTED;
    text_begin();
    spell_out(argc, argv);
    int id = options_begin(&options, &tool, argc, argv);
    while (id > 0 && (id = options_next(&options)) > 0)
        if (id == LEFT_OUT)
            return refuse_left_out("searching (/f /k /d /c /e /se)", "pipe reg query /s into grep");
        else if (id == NUMBER)
            return refuse_left_out("/z", "reg query shows the type by its name");
        else if (id != OPTION_ARGUMENT)
            take_option(&reg, &options, id);
        else if (!take_arg(&reg, options.command->id, options.value))
            return refuse_word(&options);
    if (id < 0)
        return id == OPTION_WRONG ? ERROR_INVALID_PARAMETER : options_status(id);
    last_event_root_refused("reg");
    int status = run(&options, &reg);
    if (fflush(stdout) != 0 && !status)
        status = (int)complain("standard output", ERROR_WRITE_FAULT);
    return status > 255 ? 255 : status;
}
