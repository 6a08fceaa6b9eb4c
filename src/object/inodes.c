/* SPDX-License-Identifier: MIT */
/* How many files a file system can have, and how many more it can take: the counts of its
 * inodes. */
#include "object/object.h"

#include <string.h>
#include <sys/statfs.h>

/* Archives of another system have them in a file "statfs.inodes": all, free, and the mount
 * point. */
static const opl_source archive = {"statfs.inodes"};

static bool inodes_of_archive(opl_reading *reading, const char *path, uint64_t *ret_all,
                              uint64_t *ret_free)
{
    struct source *source = source_of(reading->provider, &archive);
    if (!source || source_load(reading, source))
        return false;
    for (const char *line = source->text; *line; line = opl_next_line(line)) {
        *ret_all = text_number(&line);
        line += strspn(line, " ");
        *ret_free = text_number(&line);
        line += strspn(line, " ");
        if (strcspn(line, "\n") == strlen(path) && strncmp(line, path, strlen(path)) == 0)
            return *ret_all > 0;
    }
    return false;
}

bool opl_reading_inodes(opl_reading *reading, const char *path, uint64_t *ret_all,
                        uint64_t *ret_free)
{
    struct statfs now;
    if (!provider_live())
        return inodes_of_archive(reading, path, ret_all, ret_free);
    if (statfs(path, &now) != 0)
        return false;
    *ret_all = (uint64_t)now.f_files;
    *ret_free = (uint64_t)now.f_ffree;
    return *ret_all > 0;
}
