/* SPDX-License-Identifier: MIT */
/*
 * Which files are trusted, and whose code may run: a user who can change or replace a file
 * determines what the process that reads it does. So a library and every folder up to "/" must
 * belong to root or to the effective user, and be writable by no others. In a user namespace,
 * owners that the namespace does not map are accepted too if "/" has such an owner, because real
 * root is one of them. (docs/security.md)
 */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns true if this user namespace maps the owner. All unmapped users have the same number here,
 * and real root is one of them. Outside of a namespace every user is mapped. */
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
    /* a sticky folder such as /tmp: other users may add files but cannot replace those of the
     * caller */
    return folder_of_caller_entry && S_ISDIR(st->st_mode) && (st->st_mode & S_ISVTX) &&
           is_root(st->st_uid);
}

/* ---- writing in place ---- */

const char *file_fault(const struct stat *st, off_t most)
{
    const char *kind = file_kind_of(st);
    return kind                       ? kind
           : st->st_nlink > 1         ? "it has a second name (a hard link)"
           : !file_trusted(st, false) ? "it belongs to another user, or others may write it"
           : st->st_size > most       ? "it is too large"
                                      : NULL;
}

int file_open_to_write(int dir_fd, const char *path, off_t most, bool make_folder)
{
    enum { FLAGS = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK };
    struct stat st;
    int fd = openat(dir_fd, path, FLAGS, 0644);
    if (fd < 0 && make_folder) {
        FREE_AUTO char *folder = text_format("%.*s", (int)(strrchr(path, '/') - path), path);
        if (folder && !mkdir(folder, geteuid() == 0 ? 0755 : 0700))
            fd = openat(dir_fd, path, FLAGS, 0644);
    }
    if (fd < 0)
        return fd;
    if (!fstat(fd, &st) && !file_fault(&st, most) && st.st_uid == geteuid() &&
        (st.st_size || !fchmod(fd, 0644)))
        return fd;
    close(fd);
    return -1;
}

/* ---- a path ---- */

static LSTATUS explain(const char *path, const struct stat *st, char why[static TRUST_TEXT])
{
    if (S_ISLNK(st->st_mode))
        snprintf(why, TRUST_TEXT, "%.200s is a symbolic link; use the path that it leads to", path);
    else if (st->st_uid != geteuid() && !is_root(st->st_uid))
        snprintf(why, TRUST_TEXT,
                 "%.200s belongs to user %lu, not to root or to the user of this program (%lu); "
                 "change its owner with chown, or use another path",
                 path, (unsigned long)st->st_uid, (unsigned long)geteuid());
    else
        snprintf(why, TRUST_TEXT,
                 "others may write %.200s (mode %04o); run chmod go-w on it, or use another path",
                 path, (unsigned)st->st_mode & 07777);
    return ERROR_ACCESS_DENIED;
}

/* ---- the walk down to the path ---- */

/* A walk from "/" down to a path. No other user may change the folders that were checked before, so
 * no entry can be replaced between its check and its use. The walk opens no descriptors, because
 * the program may have none left. */
struct walk {
    struct stat st; /* stat data of the last entry that exists; links are not followed */
    mode_t ignored; /* mode bits that are accepted for the caller's own group */
    bool makes;     /* true: a missing entry in a folder like /tmp is created */
    char path[PATH_MAX];
    const char *rest; /* the components of `path` that do not exist */
};

/* True if `st` describes a folder like /tmp, in which every user may create the next entry. */
static bool is_shared(const struct stat *st)
{
    return (st->st_mode & S_ISVTX) && (st->st_mode & (S_IWGRP | S_IWOTH));
}

static LSTATUS enter(struct walk *walk, char why[static TRUST_TEXT])
{
    struct stat st;
    int found = lstat(walk->path, &st);
    if (found && errno == ENOENT && walk->makes && is_shared(&walk->st) &&
        (!mkdir(walk->path, 0755) || errno == EEXIST))
        found = lstat(walk->path, &st);
    if (!found) {
        walk->st = st;
        return ERROR_SUCCESS;
    }
    LSTATUS status = status_from_errno(errno);
    snprintf(why, TRUST_TEXT, "%.200s: %s", walk->path, status_text(status));
    return status;
}

/* Checks the last entry of the walk. In sticky folders of root, other users may add files but
 * cannot change those of others. */
static LSTATUS judge(const struct walk *walk, char why[static TRUST_TEXT])
{
    struct stat st = walk->st;
    if (st.st_gid == getegid())
        st.st_mode &= ~walk->ignored;
    if (S_ISLNK(st.st_mode) || !file_trusted(&st, *walk->rest))
        return explain(walk->path, &walk->st, why);
    return ERROR_SUCCESS;
}

/* Checks each entry of `path` from "/" on. Stops at the first entry that is missing or not
 * trusted. */
static LSTATUS walk_down(struct walk *walk, const char *path, char why[static TRUST_TEXT])
{
    size_t used = 0, length;
    if (path[0] != '/' || strlen(path) >= PATH_MAX) {
        snprintf(why, TRUST_TEXT, "%.200s is not an absolute path", path);
        return ERROR_INVALID_PARAMETER;
    }
    strcpy(walk->path, "/");
    walk->rest = path + strspn(path, "/");
    LSTATUS status = enter(walk, why);
    status = status ? status : judge(walk, why);
    while (!status && (length = strcspn(walk->rest, "/"))) {
        used += (size_t)sprintf(walk->path + used, "/%.*s", (int)length, walk->rest);
        walk->rest += length + strspn(walk->rest + length, "/");
        status = enter(walk, why);
        status = status ? status : judge(walk, why);
    }
    return status;
}

static LSTATUS check_file(const char *real_path, mode_t ignored, char why[static TRUST_TEXT])
{
    struct walk walk = {.ignored = ignored};
    LSTATUS status = walk_down(&walk, real_path, why);
    if (status || S_ISREG(walk.st.st_mode))
        return status;
    snprintf(why, TRUST_TEXT, "%.200s is not a regular file", real_path);
    return ERROR_ACCESS_DENIED; /* Windows' LoadLibrary returns this status for a folder */
}

LSTATUS trust_check(const char *real_path, char why[static TRUST_TEXT])
{
    return check_file(real_path, 0, why);
}

LSTATUS trust_check_shipped(const char *real_path, char why[static TRUST_TEXT])
{
    return check_file(real_path, S_IWGRP, why);
}

LSTATUS trust_check_program(const char *file, char why[static TRUST_TEXT])
{
    char real[PATH_MAX];
    return realpath(file, real) ? trust_check_shipped(real, why) : ERROR_SUCCESS;
}

/* ".." after a missing folder cannot be resolved: the folder may be created later, also as a link
 * to anywhere. Such a path is refused. */
static LSTATUS refuse_up(const char *folder, const char *rest, char why[static TRUST_TEXT])
{
    for (size_t length; (length = strcspn(rest, "/")); rest += length + strspn(rest + length, "/"))
        if (length == 2 && rest[0] == '.' && rest[1] == '.') {
            snprintf(why, TRUST_TEXT, "%.200s has \"..\" after a folder that does not exist",
                     folder);
            return ERROR_INVALID_PARAMETER;
        }
    return ERROR_SUCCESS;
}

/* Accepts folders that the group may write, because umask 002 makes them. Who else belongs to the
 * group is not checked. */
LSTATUS trust_check_folder(const char *folder, char why[static TRUST_TEXT])
{
    struct walk walk = {.ignored = S_IWGRP, .makes = true};
    LSTATUS status = walk_down(&walk, folder, why);
    if (status == ERROR_FILE_NOT_FOUND && !is_shared(&walk.st))
        return refuse_up(folder, walk.rest, why);
    if (status || S_ISDIR(walk.st.st_mode))
        return status;
    snprintf(why, TRUST_TEXT, "%.200s is not a folder", folder);
    return ERROR_DIRECTORY;
}
