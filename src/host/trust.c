/* SPDX-License-Identifier: MIT */
/*
 * Whose code may run: whoever can alter a library, or put another in its place, decides what the
 * reader does. So the file and every folder up to "/" must be in the hands of root, the reader or
 * the owner of "/" (who stands for root in a user namespace). (house section 0a)
 */
#include "host/internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static LSTATUS explain(const char *path, const struct stat *st, char why[static TRUST_TEXT])
{
    if (st->st_mode & (S_IWGRP | S_IWOTH))
        snprintf(why, TRUST_TEXT,
                 "others may write %.200s (mode %04o); chmod go-w it, or move the library", path,
                 (unsigned)st->st_mode & 07777);
    else
        snprintf(
            why, TRUST_TEXT,
            "%.200s belongs to user %lu, who is neither root nor the reader (%lu); chown it, or "
            "move the library",
            path, (unsigned long)st->st_uid, (unsigned long)geteuid());
    return ERROR_ACCESS_DENIED;
}

/* In root's sticky folders (/tmp) others add files, but cannot touch those of others: the entry on
 * the way was judged before its folder. */
static LSTATUS judge_path(const char *path, bool folder, char why[static TRUST_TEXT])
{
    struct stat st;
    if (stat(path, &st)) {
        LSTATUS status = status_from_errno(errno);
        snprintf(why, TRUST_TEXT, "%.200s: %s", path, status_text(status));
        return status;
    }
    return file_trusted(&st, folder) ? ERROR_SUCCESS : explain(path, &st, why);
}

LSTATUS trust_check(const char *real_path, char why[static TRUST_TEXT])
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof(path), "%s", real_path) >= (int)sizeof(path) || path[0] != '/') {
        snprintf(why, TRUST_TEXT, "%.200s is no absolute path", real_path);
        return ERROR_INVALID_PARAMETER;
    }
    LSTATUS status = judge_path(path, false, why);
    while (!status && path[1]) {
        char *last = strrchr(path, '/');
        last[last == path] = '\0'; /* "/" stays */
        status = judge_path(path, true, why);
    }
    return status;
}
