/* SPDX-License-Identifier: MIT */
/* Translates errno to a Win32 status, and a status to its text: two tables. */
#include "base/base.h"

#include <errno.h>
#include <stdio.h>

static const struct {
    int error;
    LSTATUS status;
} errnos[] = {
    {0,            ERROR_SUCCESS             },
    {ENOENT,       ERROR_FILE_NOT_FOUND      },
    {ENXIO,        ERROR_FILE_NOT_FOUND      },
    {ENODEV,       ERROR_FILE_NOT_FOUND      },
    {ESRCH,        ERROR_NOT_FOUND           },
    {ENOTDIR,      ERROR_PATH_NOT_FOUND      },
    {ELOOP,        ERROR_CANTOPEN            },
    {EACCES,       ERROR_ACCESS_DENIED       },
    {EPERM,        ERROR_ACCESS_DENIED       },
    {EISDIR,       ERROR_ACCESS_DENIED       },
    {EROFS,        ERROR_WRITE_PROTECT       },
    {EEXIST,       ERROR_ALREADY_EXISTS      },
    {ENOMEM,       ERROR_NOT_ENOUGH_MEMORY   },
    {ENOSPC,       ERROR_DISK_FULL           },
    {EDQUOT,       ERROR_DISK_FULL           },
    {EFBIG,        ERROR_DISK_FULL           },
    {EMFILE,       ERROR_TOO_MANY_OPEN_FILES },
    {ENFILE,       ERROR_TOO_MANY_OPEN_FILES },
    {EBADF,        ERROR_INVALID_HANDLE      },
    {EBUSY,        ERROR_BUSY                },
    {EAGAIN,       ERROR_NOT_READY           },
    {EINVAL,       ERROR_INVALID_PARAMETER   },
    {ENAMETOOLONG, ERROR_FILENAME_EXCED_RANGE},
    {ETXTBSY,      ERROR_SHARING_VIOLATION   },
    {ENOTEMPTY,    ERROR_BUSY                },
    {EXDEV,        ERROR_NOT_SUPPORTED       },
    {EPIPE,        ERROR_BROKEN_PIPE         },
    {EIO,          ERROR_IO_DEVICE           },
    {ETIMEDOUT,    ERROR_TIMEOUT             },
    {ENOEXEC,      ERROR_BAD_EXE_FORMAT      },
    {ENOSYS,       ERROR_CALL_NOT_IMPLEMENTED},
    {EOPNOTSUPP,   ERROR_NOT_SUPPORTED       },
    {ERANGE,       ERROR_ARITHMETIC_OVERFLOW },
    {EOVERFLOW,    ERROR_ARITHMETIC_OVERFLOW },
    {EFAULT,       ERROR_INVALID_ADDRESS     },
    {ENOLCK,       ERROR_LOCK_FAILED         },
    {EDEADLK,      ERROR_LOCK_FAILED         },
};

static const struct {
    LSTATUS status;
    const char *text;
} texts[] = {
#include "base/status.inc"
};

LSTATUS status_from_errno(int error)
{
    for (size_t i = 0; i < COUNT(errnos); i++)
        if (errnos[i].error == error)
            return errnos[i].status;
    return ERROR_GEN_FAILURE;
}

const char *status_text(LSTATUS status)
{
    static _Thread_local char unknown[32];
    for (size_t i = 0; i < COUNT(texts); i++)
        if (texts[i].status == status)
            return texts[i].text;
    snprintf(unknown, sizeof unknown, "status %lu", (unsigned long)(uint32_t)status);
    return unknown;
}

bool status_is_passing(LSTATUS status)
{
    return status == ERROR_TOO_MANY_OPEN_FILES || status == ERROR_NOT_ENOUGH_MEMORY ||
           status == ERROR_OUTOFMEMORY || status == ERROR_NO_SYSTEM_RESOURCES;
}
