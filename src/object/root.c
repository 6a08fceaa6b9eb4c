/* SPDX-License-Identifier: MIT */
/*
 * The folder below which a provider opens all its files ("/", or the root of an archived tree), and
 * descriptors that stay open between collections.
 */
#include "object/object.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- kept descriptors ---- */

bool kept_is_ours(const struct kept *kept)
{
    struct stat now;
    return kept->fd >= 0 && fstat(kept->fd, &now) == 0 && now.st_dev == kept->device &&
           now.st_ino == kept->inode;
}

/* true: since the last call of source_lacked an open failed for lack of descriptors or memory */
static _Thread_local bool lacked;

/* openat with close-on-exec. Records a failure for lack of descriptors, because that does not mean
 * that this machine lacks the file. */
int source_openat(int dir_fd, const char *path, int flags)
{
    int fd = openat(dir_fd, path, flags | O_CLOEXEC);
    if (fd < 0 && status_is_passing(status_from_errno(errno)))
        lacked = true;
    return fd;
}

bool source_lacked(void)
{
    bool reported = lacked;
    lacked = false;
    return reported;
}

/* Returns a copy of the descriptor that is not 0, 1 or 2: a program that closed these may still
 * print, and its text would go into the kept file. */
static int away_from_stdio(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(fd);
    lacked |= moved < 0;
    return moved;
}

/* Returns the descriptor; opens the file first if it is not open yet or the program has closed it.
 * -1 with errno: that failed. */
int kept_open(struct kept *kept, int dir_fd, const char *path, int flags)
{
    if (kept_is_ours(kept))
        return kept->fd;
    struct stat now;
    kept->fd = away_from_stdio(source_openat(dir_fd, path, flags));
    if (kept->fd < 0)
        return -1;
    if (fstat(kept->fd, &now) == 0) {
        kept->device = now.st_dev;
        kept->inode = now.st_ino;
    }
    return kept->fd;
}

void kept_close(struct kept *kept)
{
    if (kept_is_ours(kept))
        close(kept->fd);
    kept->fd = -1;
}

/* ---- the root ---- */

bool provider_live(void)
{
    return strcmp(place_sysroot(), "/") == 0;
}

/* Checks once per collection whether the program has closed the descriptor. */
int provider_root(opl_provider *provider)
{
    if (provider->root_checked_for == provider->collection && provider->root.fd >= 0)
        return provider->root.fd;
    provider->root_checked_for = provider->collection;
    return kept_open(&provider->root, AT_FDCWD, place_sysroot(), O_PATH | O_DIRECTORY);
}

/* Parses the inode number in the link "net:[4026531840]", which is read once per collection. */
uint64_t provider_namespace(opl_provider *provider)
{
    char text[32];
    if (provider->net_checked_for == provider->collection)
        return provider->net;
    provider->net_checked_for = provider->collection;
    provider->net = 0;
    ssize_t length =
        readlinkat(provider_root(provider), "proc/thread-self/ns/net", text, sizeof text - 1);
    if (length > 0 && (text[length] = 0, strchr(text, '[')))
        provider->net = strtoull(strchr(text, '[') + 1, NULL, 10);
    return provider->net;
}
