/* SPDX-License-Identifier: MIT */
/* errno becomes a Win32 status here, and a status becomes words: two tables. */
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
    {ERROR_SUCCESS,                "success"                                         },
    {ERROR_INVALID_FUNCTION,       "invalid function"                                },
    {ERROR_FILE_NOT_FOUND,         "not found"                                       },
    {ERROR_PATH_NOT_FOUND,         "path not found"                                  },
    {ERROR_TOO_MANY_OPEN_FILES,    "too many open files"                             },
    {ERROR_ACCESS_DENIED,          "access denied"                                   },
    {ERROR_INVALID_HANDLE,         "invalid handle"                                  },
    {ERROR_NOT_ENOUGH_MEMORY,      "not enough memory"                               },
    {ERROR_INVALID_DATA,           "the data is invalid"                             },
    {ERROR_OUTOFMEMORY,            "out of memory"                                   },
    {ERROR_NO_MORE_FILES,          "no more files"                                   },
    {ERROR_WRITE_PROTECT,          "the medium is write-protected"                   },
    {ERROR_NOT_READY,              "not ready"                                       },
    {ERROR_WRITE_FAULT,            "cannot write"                                    },
    {ERROR_READ_FAULT,             "cannot read"                                     },
    {ERROR_GEN_FAILURE,            "a system call failed"                            },
    {ERROR_SHARING_VIOLATION,      "in use by another program"                       },
    {ERROR_LOCK_VIOLATION,         "locked by another program"                       },
    {ERROR_HANDLE_EOF,             "end of file"                                     },
    {ERROR_HANDLE_DISK_FULL,       "the disk is full"                                },
    {ERROR_NOT_SUPPORTED,          "not supported"                                   },
    {ERROR_BAD_NETPATH,            "no such machine in the network"                  },
    {ERROR_FILE_EXISTS,            "the file exists"                                 },
    {ERROR_CANNOT_MAKE,            "cannot make the file or folder"                  },
    {ERROR_INVALID_PARAMETER,      "invalid parameter"                               },
    {ERROR_BROKEN_PIPE,            "broken pipe"                                     },
    {ERROR_DISK_FULL,              "the disk is full"                                },
    {ERROR_CALL_NOT_IMPLEMENTED,   "not implemented"                                 },
    {ERROR_INSUFFICIENT_BUFFER,    "the buffer is too small"                         },
    {ERROR_INVALID_NAME,           "invalid name"                                    },
    {ERROR_MOD_NOT_FOUND,          "library not found"                               },
    {ERROR_PROC_NOT_FOUND,         "function not found in the library"               },
    {ERROR_BAD_PATHNAME,           "invalid path"                                    },
    {ERROR_LOCK_FAILED,            "cannot lock"                                     },
    {ERROR_BUSY,                   "busy"                                            },
    {ERROR_ALREADY_EXISTS,         "exists already"                                  },
    {ERROR_BAD_EXE_FORMAT,         "not a library for this machine"                  },
    {ERROR_FILENAME_EXCED_RANGE,   "the name is too long"                            },
    {ERROR_FILE_TOO_LARGE,         "the file is too large, or has no end"            },
    {ERROR_MORE_DATA,              "more data than the buffer holds"                 },
    {WAIT_TIMEOUT,                 "the wait timed out"                              },
    {ERROR_NO_MORE_ITEMS,          "no more items"                                   },
    {ERROR_DIRECTORY,              "invalid folder name"                             },
    {ERROR_INVALID_ADDRESS,        "invalid address"                                 },
    {ERROR_ARITHMETIC_OVERFLOW,    "arithmetic overflow"                             },
    {ERROR_DLL_INIT_FAILED,        "the library failed to start"                     },
    {ERROR_IO_DEVICE,              "the device reports an input or output error"     },
    {ERROR_BADDB,                  "the registry is damaged"                         },
    {ERROR_BADKEY,                 "invalid registry key"                            },
    {ERROR_CANTOPEN,               "cannot open"                                     },
    {ERROR_CANTREAD,               "cannot read the registry key"                    },
    {ERROR_CANTWRITE,              "cannot write the registry key"                   },
    {ERROR_REGISTRY_CORRUPT,       "a registry file is damaged"                      },
    {ERROR_REGISTRY_IO_FAILED,     "cannot read or write a registry file"            },
    {ERROR_NOT_REGISTRY_FILE,      "not a registry file"                             },
    {ERROR_KEY_DELETED,            "the registry key has been deleted"               },
    {ERROR_KEY_HAS_CHILDREN,       "the registry key has subkeys"                    },
    {ERROR_CHILD_MUST_BE_VOLATILE, "a subkey of a volatile key must be volatile"     },
    {ERROR_SERVICE_DOES_NOT_EXIST, "no such service"                                 },
    {ERROR_PROCESS_ABORTED,        "the process ended unexpectedly"                  },
    {ERROR_NO_UNICODE_TRANSLATION, "invalid characters"                              },
    {ERROR_NOT_FOUND,              "no such element"                                 },
    {ERROR_PRIVILEGE_NOT_HELD,     "a needed privilege is missing"                   },
    {ERROR_NO_SYSTEM_RESOURCES,    "not enough system resources"                     },
    {ERROR_TIMEOUT,                "timed out"                                       },
    {ERROR_UNSUPPORTED_TYPE,       "unsupported type"                                },
    {ERROR_LOGON_FAILURE,          "unknown user or wrong password"                  },
    {ERROR_TIME_SKEW,              "the clocks of the two machines are too far apart"},
    {RPC_S_SERVER_UNAVAILABLE,     "the remote machine does not answer"              },
    {RPC_S_CALL_FAILED,            "the remote call failed"                          },
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
