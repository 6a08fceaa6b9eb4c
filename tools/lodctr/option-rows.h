/* SPDX-License-Identifier: MIT */
/* The options of lodctr, and the structure that they set. */
#ifndef OPL_TOOLS_LODCTR_OPTION_ROWS_H
#define OPL_TOOLS_LODCTR_OPTION_ROWS_H

#include "../common/options.h"

struct lodctr {
    const char *subject; /* argument of /E, /D, /L, --register, --unregister */
    bool refused;        /* OPENPERFLIB_ROOT was refused and is not used; this was reported */
    bool check, dry_run, json, quiet, user, remove;
    bool drop_ins; /* the files belong to packages */
    unsigned code_page;
    int deadline_ms; /* deadline for loading the library and DllRegisterServer; 0: 10 seconds */
    const char *library, *open, *collect, *close, *counters, *helps;
    char *args[4096]; /* ini files, or services after /Q */
    size_t arg_count;
};

enum {
    CODEPAGE = 1,
    NAMES,
    /* the commands; without one, ini files are loaded */
    ENABLE,
    DISABLE,
    QUERY,
    LANGUAGE,
    REGISTER,
    UNREGISTER,
    TRUST,
    SAVE,
    RESTORE,
    DOCTOR,
    DROP_INS,
    REFUSED
};

/* clang-format off */
static const struct option_row lodctr_rows[] = {
    {'c', "check", NULL, 0, "Check the ini and symbol files only: warnings are errors, nothing is written.", NULL, 0,
     .sets = OPTION_FLAG(struct lodctr, check)},
    {'n', "dry-run", NULL, 0, "Show what would be written: the numbers, and the texts of each language.", NULL, 0, .sets = OPTION_FLAG(struct lodctr, dry_run)},
    {'j', "json", NULL, 0, "Print one JSON document; the output of a library then goes to standard error.", NULL, 0, .sets = OPTION_FLAG(struct lodctr, json)},
    {0, "quiet", NULL, 0, "Print errors and warnings only.", NULL, 0, .sets = OPTION_FLAG(struct lodctr, quiet)},
    {'u', "user", NULL, 0, "Use the user's own layer of the registry: this needs no special rights, but only the user's programs see it.", NULL, 0,
     .sets = OPTION_FLAG(struct lodctr, user)},
    {0, "codepage", "N", CODEPAGE,
     "The code page of ini files that are neither UTF-16 nor UTF-8. Default: that of each text's language.",
     "1252 1251 1250 1253 1254 1257 932 936 949 950 65001", 0},
    {0, "library", "LIB", 0, "Also register LIB as the provider's library, in the same step; creates the service if needed.", "@files", 0,
     .sets = OPTION_TEXT(struct lodctr, library)},
    {0, "open", "NAME", 0, "With --library: the name of the open function. Default: Open.", NULL, 0, .sets = OPTION_TEXT(struct lodctr, open)},
    {0, "collect", "NAME", 0, "With --library: the name of the collect function. Default: Collect.", NULL, 0, .sets = OPTION_TEXT(struct lodctr, collect)},
    {0, "close", "NAME", 0, "With --library: the name of the close function. Default: Close.", NULL, 0, .sets = OPTION_TEXT(struct lodctr, close)},
    {'e', "enable", "SERVICE", ENABLE, "Enable the service's provider, and end its quarantine.", "@services", 0},
    {'d', "disable", "SERVICE", DISABLE, "Disable the service's provider: it is not queried any more.", "@services", 0},
    {'q', "query", "[SERVICE]", QUERY, "Show the indices in use and every service with counters, or only SERVICE.", NULL, 0},
    {'l', "language", "ID", LANGUAGE,
     "Install a language, such as 007: every index gets its text in this language, else its English text.", "004 007 00A 00C 010 011 019 404 416 804 816", 0},
    {0, "remove", NULL, 0, "With --language: remove the language and its texts.", NULL, 0, .sets = OPTION_FLAG(struct lodctr, remove)},
    {0, "register", "LIB", REGISTER, "Call a library's DllRegisterServer, in a separate process.", "@files", 0},
    {0, "unregister", "LIB", UNREGISTER, "Call a library's DllUnregisterServer, in a separate process.", "@files", 0},
    {0, "names", NULL, NAMES, "Print the services' names only, for completions.", NULL, true},
    {'S', "save", "FILE", SAVE, "Save all names, numbers and settings in the format of Windows' PerfStringBackup.INI.", "@files", 0},
    {'R', "restore", "[FILE]", RESTORE, "Restore a file of --save in one step; without FILE, rebuild all from the ini files that were loaded.", "@files", 0},
    {'T', "trust", "SERVICE", TRUST, "Trust the service's library file as it is now; a changed file runs in a helper process.", "@services", 0},
    {0, "doctor", NULL, DOCTOR, "Find, explain and repair damaged registrations; also \"lodctr doctor\".", NULL, 0},
    {0, "drop-ins", "[FOLDER]", DROP_INS,
     "Register the providers whose packages put ini files into FOLDER, renew changed ones, unregister removed ones. Default: " OPL_DROP_INS ".", "@files", 0},
    {'C', "base-names", "FILE", 0, "With --language: replace base names by those of a file like perfc009.dat.", "@files", 0,
     .sets = OPTION_TEXT(struct lodctr, counters)},
    {'H', "base-helps", "FILE", 0, "With --language: replace base explanations by those of a file like perfh009.dat.", "@files", 0,
     .sets = OPTION_TEXT(struct lodctr, helps)},
    {'M', NULL, "MANIFEST", REFUSED, "Install a manifest.", NULL, true},
    {0},
};
/* clang-format on */

#endif
