/* SPDX-License-Identifier: MIT */
/* Checks a library's file by Perflib's rules, so that a problem is reported now and not only in
 * the event log when a program loads it. */
#include "lodctr.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The path is made absolute even if the library does not exist yet. */
char *library_path(const char *name)
{
    char here[PATH_MAX], *absolute = NULL, *path = realpath(name, NULL);
    if (path || *name == '/' || !strchr(name, '/') || !getcwd(here, sizeof here))
        return path ? path : strdup(name);
    return asprintf(&absolute, "%s/%s", here, name) < 0 ? NULL : absolute;
}

/* Root, the caller, or the user that is root in this user namespace. */
static bool owner_trusted(uid_t owner)
{
    struct stat top;
    return owner == 0 || owner == geteuid() || (stat("/", &top) == 0 && owner == top.st_uid);
}

static DWORD judge_place(const char *path, const char *what)
{
    struct stat place;
    if (stat(path, &place) != 0) {
        fprintf(stderr, "%s: %s: %s\n", TOOL, path, strerror(errno));
        return errno == EACCES ? ERROR_ACCESS_DENIED : ERROR_FILE_NOT_FOUND;
    }
    bool sticky = S_ISDIR(place.st_mode) && place.st_mode & S_ISVTX && owner_trusted(place.st_uid);
    const char *why = !owner_trusted(place.st_uid)                     ? "belongs to another user"
                      : place.st_mode & (S_IWGRP | S_IWOTH) && !sticky ? "can be written by others"
                                                                       : NULL;
    if (!why)
        return ERROR_SUCCESS;
    fprintf(stderr,
            "%s: %s: the %s %s, so no program would load the library; chmod go-w it, or chown it "
            "to root or yourself\n",
            TOOL, path, what, why);
    return ERROR_ACCESS_DENIED;
}

DWORD library_judge(const char *path)
{
    char folder[PATH_MAX];
    DWORD status = judge_place(path, "file");
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash; !status && (slash = strrchr(folder, '/')) && folder[1];) {
        slash[slash == folder] = '\0';
        status = judge_place(folder, "folder");
    }
    return status;
}
