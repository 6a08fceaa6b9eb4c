/* SPDX-License-Identifier: MIT */
/* The user's files in $XDG_CONFIG_HOME/openperflib. */
#include "screen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool config_path(const char *below, char ret[CONFIG_PATH_SIZE])
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    bool own = config && *config == '/';
    *ret = 0;
    if (!own && !(home && *home == '/'))
        return errno = ENOENT, false;
    int length = snprintf(ret, CONFIG_PATH_SIZE, "%s%s/openperflib/%s", own ? config : home,
                          own ? "" : "/.config", below);
    return length < CONFIG_PATH_SIZE || (errno = ENAMETOOLONG, false);
}

/* Creates the missing folders of a path of a file; false: errno is the reason. */
static bool make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        int failed = mkdir(path, 0700);
        *slash = '/';
        if (failed && errno != EEXIST)
            return false;
    }
    return true;
}

/* Removes the incomplete file, without changing errno. */
static bool abandon(const struct config_file *file)
{
    int error = errno;
    unlink(file->partial);
    errno = error;
    return false;
}

bool config_begin(struct config_file *file, const char *path)
{
    snprintf(file->path, sizeof file->path, "%s", path);
    snprintf(file->partial, sizeof file->partial, "%s.XXXXXX", path);
    int fd = make_folders(file->path) ? mkostemp(file->partial, O_CLOEXEC) : -1;
    file->file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file->file && fd >= 0)
        close(fd);
    return file->file || (fd >= 0 && abandon(file));
}

bool config_end(struct config_file *file)
{
    bool good = !ferror(file->file) && fflush(file->file) == 0 && fsync(fileno(file->file)) == 0;
    int error = errno;
    fclose(file->file);
    errno = error;
    return (good && rename(file->partial, file->path) == 0) || abandon(file);
}
