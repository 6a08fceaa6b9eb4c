/* SPDX-License-Identifier: MIT */
/*
 * Which files are trusted, and whose code may run: a user who can change a file, or replace it,
 * determines what the reader does. So a library and every folder up to "/" must belong to root or
 * the reader, and be writable by no others; in a user namespace also users that it cannot map are
 * accepted, if "/" belongs to them: real root is one of them.
 * (docs/security.md)
 */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Does this user namespace map the owner? All unmapped users look alike, and real root is among
 * them. Outside of a namespace every user is mapped; without /proc it is unknown. */
static bool has_number(uid_t owner)
{
    char text[4096];
    int fd = open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (size < 0)
        return true;
    text[size] = '\0';
    unsigned long first, count;
    int used;
    for (const char *at = text; sscanf(at, "%lu %*u %lu%n", &first, &count, &used) == 2; at += used)
        if (owner >= first && owner - first < count)
            return true;
    return false;
}

static bool is_root(uid_t owner)
{
    struct stat top;
    return owner == 0 || (stat("/", &top) == 0 && owner == top.st_uid && !has_number(owner));
}

bool file_trusted(const struct stat *st, bool folder_of_caller_entry)
{
    if (st->st_uid != geteuid() && !is_root(st->st_uid))
        return false;
    if (!(st->st_mode & (S_IWGRP | S_IWOTH)))
        return true;
    /* /tmp: others may add files but cannot change the caller's */
    return folder_of_caller_entry && S_ISDIR(st->st_mode) && (st->st_mode & S_ISVTX) &&
           is_root(st->st_uid);
}

/* ---- a path ---- */

static LSTATUS explain(const char *path, const struct stat *st, char why[static TRUST_TEXT])
{
    if (S_ISLNK(st->st_mode))
        snprintf(why, TRUST_TEXT, "%.200s is a symbolic link; use the path that it leads to", path);
    else if (st->st_uid != geteuid() && !is_root(st->st_uid))
        snprintf(why, TRUST_TEXT,
                 "%.200s belongs to user %lu, who is neither root nor the reader (%lu); chown it, "
                 "or move the library",
                 path, (unsigned long)st->st_uid, (unsigned long)geteuid());
    else
        snprintf(why, TRUST_TEXT,
                 "others may write %.200s (mode %04o); chmod go-w it, or move the library", path,
                 (unsigned)st->st_mode & 07777);
    return ERROR_ACCESS_DENIED;
}

static LSTATUS look(const char *path, struct stat *ret, char why[static TRUST_TEXT])
{
    if (!lstat(path, ret))
        return ERROR_SUCCESS;
    LSTATUS status = status_from_errno(errno);
    snprintf(why, TRUST_TEXT, "%.200s: %s", path, status_text(status));
    return status;
}

/* Shortens the path to the folder above it. */
static void shorten(char *path)
{
    char *last = strrchr(path, '/');
    last[last == path] = '\0'; /* "/" is kept */
}

static LSTATUS copy_path(const char *from, char path[static PATH_MAX], char why[static TRUST_TEXT])
{
    if (snprintf(path, PATH_MAX, "%s", from) < PATH_MAX && path[0] == '/')
        return ERROR_SUCCESS;
    snprintf(why, TRUST_TEXT, "%.200s is not an absolute path", from);
    return ERROR_INVALID_PARAMETER;
}

/* In root's sticky folders (/tmp) others add files, but cannot change those of other users: the
 * entry on the way was checked before its folder. */
static LSTATUS judge_above(char *path, mode_t ignored, char why[static TRUST_TEXT])
{
    LSTATUS status = ERROR_SUCCESS;
    while (!status && path[1]) {
        struct stat st;
        shorten(path);
        status = look(path, &st, why);
        if (status)
            break;
        if (st.st_gid == getegid())
            st.st_mode &= ~ignored;
        if (S_ISLNK(st.st_mode) || !file_trusted(&st, true))
            status = explain(path, &st, why);
    }
    return status;
}

LSTATUS trust_check(const char *real_path, char why[static TRUST_TEXT])
{
    char path[PATH_MAX];
    struct stat st;
    LSTATUS status = copy_path(real_path, path, why);
    status = status ? status : look(path, &st, why);
    if (status)
        return status;
    if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode)) {
        snprintf(why, TRUST_TEXT, "%.200s is not a regular file", path);
        return ERROR_ACCESS_DENIED; /* as LoadLibrary of a folder */
    }
    if (S_ISLNK(st.st_mode) || !file_trusted(&st, false))
        return explain(path, &st, why);
    return judge_above(path, 0, why);
}

/* Behind a missing folder ".." leads nowhere yet, but could lead anywhere once the folder was
 * created. */
static LSTATUS refuse_up(const char *folder, const char *found, char why[static TRUST_TEXT])
{
    for (const char *at = folder + strlen(found); (at = strstr(at, "/..")); at += 3)
        if (!at[3] || at[3] == '/') {
            snprintf(why, TRUST_TEXT, "%.200s has \"..\" behind a folder that does not exist",
                     folder);
            return ERROR_INVALID_PARAMETER;
        }
    return ERROR_SUCCESS;
}

/* The folder, or the nearest existing one above it; if any user may create it, the folder
 * itself. */
static LSTATUS look_for_folder(char *path, struct stat *ret, char why[static TRUST_TEXT])
{
    for (size_t end = strlen(path); end > 1 && path[end - 1] == '/'; end--)
        path[end - 1] = '\0'; /* a slash behind a link would follow it */
    bool missing = false;
    LSTATUS status;
    while ((status = look(path, ret, why)) == ERROR_FILE_NOT_FOUND && path[1]) {
        missing = true;
        shorten(path);
    }
    return !status && missing && (ret->st_mode & S_ISVTX) ? ERROR_FILE_NOT_FOUND : status;
}

/* Trees made with umask 002 let the group write; the reader's own group is the user's
 * responsibility. */
LSTATUS trust_check_folder(const char *folder, char why[static TRUST_TEXT])
{
    char path[PATH_MAX];
    struct stat st;
    LSTATUS status = copy_path(folder, path, why);
    status = status ? status : look_for_folder(path, &st, why);
    LSTATUS up = status && status != ERROR_FILE_NOT_FOUND ? status : refuse_up(folder, path, why);
    if (up || status)
        return up ? up : status;
    if (st.st_gid == getegid())
        st.st_mode &= ~(mode_t)S_IWGRP;
    if (!S_ISDIR(st.st_mode) && !S_ISLNK(st.st_mode)) {
        snprintf(why, TRUST_TEXT, "%.200s is not a folder", path);
        return ERROR_DIRECTORY;
    }
    if (S_ISLNK(st.st_mode) || !file_trusted(&st, false))
        return explain(path, &st, why);
    return judge_above(path, S_IWGRP, why);
}
