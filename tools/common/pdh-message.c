/* SPDX-License-Identifier: MIT */
/* Messages for PDH's statuses. A tool prints the counter path or file before the message. */
#include "pdh-message.h"

#include "../view/text.h"

#include <openperflib/capture.h>
#include <windef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAILED = 1, NO_RIGHTS = 4 };

static const struct {
    DWORD status;
    const char *text;
} rows[] = {
    {PDH_CSTATUS_NO_MACHINE,        "the machine cannot be reached; \"pcview -m MACHINE\" shows why"},
    {PDH_CANNOT_CONNECT_MACHINE,    "the machine cannot be reached; \"pcview -m MACHINE\" shows why"},
    {PDH_CSTATUS_NO_OBJECT,
     "there is no such object, or it does not answer; 'typeperf -q' lists the objects, "
     "'pcview OBJECT' shows the reason"                                                             },
    {PDH_CSTATUS_NO_COUNTER,
     "the object has no such counter; 'typeperf -q OBJECT' lists its counters"                      },
    {PDH_CSTATUS_NO_INSTANCE,
     "there is no such instance now; 'typeperf -qx OBJECT' lists the instances"                     },
    {PDH_CSTATUS_BAD_COUNTERNAME,
     "this is not a counter path; paths look like '\\Object(instance)\\Counter' or "
     "'Object(instance)::Counter'"                                                                  },
    {PDH_CSTATUS_NO_COUNTERNAME,    "the path is empty"                                             },
    {PDH_INVALID_PATH,
     "invalid path: it is malformed, or names instances of an object that has none"                 },
    {PDH_CSTATUS_INVALID_DATA,
     "the value is not a number: it is a text, which 'pcview OBJECT' shows, or "
     "its samples cannot be combined"                                                               },
    {PDH_NO_DATA,                   "there is no data: no counter could be read"                    },
    {PDH_NO_COUNTERS,               "there is no counter"                                           },
    {PDH_INVALID_ARGUMENT,          "invalid argument"                                              },
    {PDH_MEMORY_ALLOCATION_FAILURE, "there is no memory left"                                       },
    {PDH_ACCESS_DENIED,             "access is denied"                                              },
    {PDH_FILE_NOT_FOUND,            "no such file"                                                  },
    {PDH_FILE_ALREADY_EXISTS,       "the file already exists; -y overwrites it"                     },
    {PDH_LOG_FILE_OPEN_ERROR,       "the file cannot be opened"                                     },
    {PDH_LOG_FILE_CREATE_ERROR,
     "the file cannot be written: no such folder, no rights, or the disk is full"                   },
    {PDH_UNKNOWN_LOG_FORMAT,
     "this is not a capture: neither BLG nor CSV nor TSV in Windows' format"                        },
    {PDH_LOG_TYPE_NOT_FOUND,
     "this is not a capture: neither BLG nor CSV nor TSV in Windows' format"                        },
    {PDH_UNABLE_READ_LOG_HEADER,    "the capture's first line or buffer cannot be read"             },
    {PDH_BINARY_LOG_CORRUPT,        "the capture is damaged"                                        },
    {PDH_ENTRY_NOT_IN_LOG_FILE,     "the capture has no such counter"                               },
    {PDH_UNMATCHED_APPEND_COUNTER,  "the capture has different counters; nothing was appended"      },
    {PDH_INCORRECT_APPEND_TIME,     "the capture has later samples; nothing was appended"           },
    {PDH_LOG_FILE_TOO_SMALL,
     "a sample needs more than half of the circular file: make the file larger, or record fewer "
     "counters"                                                                                     },
    {PDH_END_OF_LOG_FILE,           "the capture has reached its maximum size"                      },
    {ERROR_DISK_FULL,               "the disk is full"                                              },
    {ERROR_WRITE_FAULT,             "write error"                                                   },
    {PDH_NOT_IMPLEMENTED,           "this is not implemented yet"                                   },
};

const char *pdh_message(PDH_STATUS status)
{
    static char other[48];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].status == (DWORD)status)
            return rows[i].text;
    snprintf(other, sizeof other, "status 0x%08X", (unsigned)status);
    return other;
}

bool pdh_lines(const char *tool, const char *text)
{
    fflush(stdout);
    for (const char *at = text; at && *at; at += strspn(at, "\n")) {
        size_t size = strcspn(at, "\n");
        char *line = strndup(at, size);
        fprintf(stderr, "%s: %s\n", tool, line ? text_seen(line) : "?");
        free(line);
        at += size;
    }
    return text;
}

bool pdh_remark(const char *tool)
{
    return pdh_lines(tool, opl_capture_problem());
}

bool pdh_unshown(const char *tool)
{
    return pdh_lines(tool, opl_capture_unshown());
}

int pdh_complain(const char *tool, const char *about, PDH_STATUS status)
{
    if (!pdh_remark(tool))
        fprintf(stderr, "%s: %s: %s (0x%08X)\n", tool, text_seen(about), pdh_message(status),
                (unsigned)status);
    return (DWORD)status == PDH_ACCESS_DENIED ? NO_RIGHTS : FAILED;
}
