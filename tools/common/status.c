/* SPDX-License-Identifier: MIT */
/* One row for each code that loading counters can return; the exit code is the code itself. */
#include "status.h"

#include "../view/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *status_message(DWORD status)
{
    static char unknown[64];
    static const struct {
        DWORD status;
        const char *text;
    } rows[] = {
        {ERROR_SUCCESS,                "success"                                                         },
        {ERROR_FILE_NOT_FOUND,         "no such file or service; \"lodctr /Q\" shows what is registered" },
        {ERROR_PATH_NOT_FOUND,         "no such folder"                                                  },
        {ERROR_ACCESS_DENIED,          "access denied; become root, or register for yourself with --user"},
        {ERROR_NOT_ENOUGH_MEMORY,      "not enough memory"                                               },
        {ERROR_OUTOFMEMORY,            "not enough memory"                                               },
        {ERROR_INVALID_DATA,           "the files have mistakes; nothing was changed"                    },
        {ERROR_WRITE_PROTECT,          "read-only file system; set OPENPERFLIB_ROOT to a writable folder"},
        {ERROR_WRITE_FAULT,            "cannot be written"                                               },
        {ERROR_READ_FAULT,             "cannot be read"                                                  },
        {ERROR_HANDLE_DISK_FULL,       "the disk is full; nothing was changed"                           },
        {ERROR_DISK_FULL,              "the disk is full; nothing was changed"                           },
        {ERROR_INVALID_PARAMETER,      "wrong usage, or a name that cannot be used"                      },
        {ERROR_CALL_NOT_IMPLEMENTED,   "this version of openperflib cannot do that yet"                  },
        {ERROR_NOT_SUPPORTED,          "this version of openperflib cannot do that yet"                  },
        {ERROR_MOD_NOT_FOUND,          "the library, or a library that it needs, cannot be loaded"       },
        {ERROR_PROC_NOT_FOUND,         "the library does not export that function"                       },
        {ERROR_BAD_EXE_FORMAT,         "the file is not a library for this processor"                    },
        {ERROR_ARITHMETIC_OVERFLOW,    "no free indices left; remove unneeded services with unlodctr"    },
        {ERROR_DLL_INIT_FAILED,        "the library's DllMain refused to start"                          },
        {ERROR_REGISTRY_CORRUPT,       "the registry's files are damaged; the event log names the line"  },
        {ERROR_TIMEOUT,                "the library's function did not return in time"                   },
        {ERROR_SERVICE_DOES_NOT_EXIST, "no such service; \"lodctr /Q\" shows what is registered"         },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].status == status)
            return rows[i].text;
    snprintf(unknown, sizeof unknown, "the operation failed; OPENPERFLIB_TRACE=1 shows more");
    return unknown;
}

bool status_terminal(int descriptor)
{
    const char *term = getenv("TERM");
    return isatty(descriptor) && term && *term && strcmp(term, "dumb") != 0;
}

bool status_colours(int descriptor)
{
    const char *no = getenv("NO_COLOR");
    return status_terminal(descriptor) && !(no && *no);
}

/* Prints "error: " in red, or "warning: " in yellow. */
static void put_level(bool error)
{
    bool colours = status_colours(STDERR_FILENO);
    fprintf(stderr, "%s%s:%s ",
            !colours ? ""
            : error  ? "\033[1;31m"
                     : "\033[1;33m",
            error ? "error" : "warning", colours ? "\033[0m" : "");
}

DWORD status_complain(const char *tool, const char *about, DWORD status)
{
    fflush(stdout);
    fprintf(stderr, "%s: %s: %s (error %lu)\n", tool, text_seen(about), status_message(status),
            (unsigned long)status);
    return status;
}

void status_remark(const char *tool, const opl_load_remark *remark)
{
    fflush(stdout);
    if (remark->file && remark->line)
        fprintf(stderr, "%s:%u: ", text_seen(remark->file), remark->line);
    else
        fprintf(stderr, "%s: ", remark->file ? text_seen(remark->file) : tool);
    put_level(remark->error);
    fprintf(stderr, "%s\n", text_seen(remark->text));
}

int status_exit(const char *tool, DWORD status)
{
    if ((fflush(stdout) != 0 || ferror(stdout)) && !status)
        status = status_complain(tool, "standard output", ERROR_WRITE_FAULT);
    return status > 255 ? 255 : (int)status;
}
