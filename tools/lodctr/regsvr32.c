/* SPDX-License-Identifier: MIT */
/*
 * openperflib-regsvr32: a library registers itself, as with Windows' regsvr32. It does the same as
 * lodctr --register, with regsvr32's command line and exit codes.
 */
#include "lodctr.h"

#include "../common/last-event.h"

enum { UNDO = 1, SILENT, UNKNOWN };
/* regsvr32's exit codes; 2 would be a failure of COM, which is not used here. */
enum { DONE = 0, FAIL_ARGUMENTS = 1, FAIL_LOAD = 3, FAIL_ENTRY = 4, FAIL_REGISTER = 5 };

/* clang-format off */
static const struct option_row rows[] = {
    {'u', "unregister", NULL, UNDO, "Call DllUnregisterServer, which undoes DllRegisterServer.", NULL, 0},
    {'s', "silent", NULL, SILENT, "Print errors only.", NULL, 0},
    {'i', NULL, "[TEXT]", UNKNOWN, "Call DllInstall.", NULL, true},
    {'n', NULL, NULL, UNKNOWN, "Do not call DllRegisterServer.", NULL, true},
    {0},
};
/* clang-format on */

static const char more[] =
    "Options may be written as on Windows: /u, /s, in any case.\n"
    "\n"
    "Examples:\n"
    "  openperflib-regsvr32 ./myperf.so       the library writes its key\n"
    "  lodctr myperf.ini                      then loads names and numbers\n"
    "  unlodctr MyPerf                        removes them, before /u\n"
    "  openperflib-regsvr32 /u ./myperf.so\n"
    "\n"
    "The exit code is 0, 1 wrong usage, 3 the library cannot be loaded, 4 it has no\n"
    "such function, 5 the function failed; of several libraries, the first one's.\n";

static const struct tool tool = {
    .name = "openperflib-regsvr32",
    .summary = "Let a library register itself: DllRegisterServer, in a separate process.",
    .usage = "[/u] [/s] LIB...",
    .rows = rows,
    .more = more,
    .complete_args = "@files",
};

static int register_one(const char *library, bool quiet, bool remove)
{
    static struct lodctr opts;
    enum register_step reached;
    opts.subject = library;
    opts.quiet = quiet;
    if (register_library(&opts, remove, &reached) == ERROR_SUCCESS)
        return DONE;
    return reached <= STEP_ATTACH ? FAIL_LOAD : reached == STEP_FIND ? FAIL_ENTRY : FAIL_REGISTER;
}

int main(int argc, char **argv)
{
    struct options options;
    bool quiet = false, remove = false;
    int count = 0, first = DONE, id = options_begin(&options, &tool, argc, argv);
    while (id > 0 && (id = options_next(&options)) > 0) {
        quiet |= id == SILENT;
        remove |= id == UNDO;
        if (id == OPTION_ARGUMENT)
            argv[count++] = (char *)options.value; /* reuses argv, which was parsed up to here */
        if (id == UNKNOWN) {
            options_complain(&options, "%s: calling DllInstall is not supported", options.spelled);
            return FAIL_ARGUMENTS;
        }
    }
    if (id == OPTION_END && count == 0) {
        options_complain(&options, "LIB is missing");
        id = OPTION_WRONG;
    }
    if (id == OPTION_WRONG)
        return FAIL_ARGUMENTS;
    if (id == OPTION_END)
        last_event_root_refused(TOOL);
    for (int i = 0; id == OPTION_END && i < count; i++) {
        int code = register_one(argv[i], quiet, remove);
        first = first ? first : code;
    }
    /* output that could not be written must be reported */
    return first ? first : status_exit(TOOL, ERROR_SUCCESS);
}
