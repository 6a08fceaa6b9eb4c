/* SPDX-License-Identifier: MIT */
/*
 * Reads proc/self/mountinfo as a list of the file systems that LogicalDisk shows. A device is
 * listed once, with the mount that shows all of its content. File systems in memory, virtual file
 * systems of the kernel, images that are always full, bind mounts and mounts hidden by later ones
 * are omitted.
 *
 * A line: "36 35 98:0 /root /mount/point rw,noatime master:1 - ext3 /dev/root rw,errors=continue".
 */
#include <stdio.h>
#include <string.h>

#include "mounts.h"

const opl_source perfdisk_mountinfo = {.path = "proc/self/mountinfo", .watched = true};

/* File systems without a block device of their own that keep files on a disk. */
static const char *const on_disk[] = {"btrfs", "zfs", "bcachefs", "ubifs", "jffs2", "bcache", NULL};
/* File systems that show the files of other file systems: listed only if one is a container's
 * root. */
static const char *const layered[] = {"overlay", "aufs", "fuse.fuse-overlayfs", NULL};
/* File systems that are served by another machine or a program. */
static const char *const elsewhere[] = {
    "nfs",    "nfs4",      "cifs",     "smb3",   "smbfs",  "ncpfs",   "afs",   "ceph",
    "coda",   "9p",        "virtiofs", "lustre", "beegfs", "gpfs",    "pvfs2", "panfs",
    "vboxsf", "glusterfs", "orangefs", "vmhgfs", "prl_fs", "fuseblk", "fuse",  NULL};
/* Read-only images on a block device, which never have free space. */
static const char *const always_full[] = {"squashfs", "erofs", "cramfs", "romfs",
                                          "iso9660",  "udf",   NULL};

/* ---- a line ---- */

struct mount_line {
    unsigned major, minor;
    const char *root, *point, *type, *source, *options;
    size_t root_length, point_length, type_length, source_length, options_length;
};

static const char *word(const char **at, size_t *ret_length)
{
    *at += strspn(*at, " ");
    const char *begin = *at;
    *at += *ret_length = strcspn(begin, " \n");
    return begin;
}

static bool is_word(const char *text, size_t length, const char *expected)
{
    return strlen(expected) == length && memcmp(text, expected, length) == 0;
}

static bool is_one_of(const struct mount_line *line, const char *const *types)
{
    for (; *types; types++)
        if (is_word(line->type, line->type_length, *types))
            return true;
    return false;
}

static bool read_line(const char *at, struct mount_line *ret)
{
    size_t length;
    word(&at, &length), word(&at, &length);
    if (sscanf(at, "%u:%u", &ret->major, &ret->minor) != 2)
        return false;
    word(&at, &length);
    ret->root = word(&at, &ret->root_length);
    ret->point = word(&at, &ret->point_length);
    for (const char *field = word(&at, &length); !is_word(field, length, "-");
         field = word(&at, &length))
        if (length == 0)
            return false;
    ret->type = word(&at, &ret->type_length);
    ret->source = word(&at, &ret->source_length);
    ret->options = word(&at, &ret->options_length);
    return *ret->point == '/' && ret->source_length > 0;
}

/* ---- selecting lines ---- */

static bool is_at_root(const struct mount_line *line)
{
    return line->point_length == 1;
}

/* Is the mount a whole subvolume of btrfs, which counts as a file system? Then the option "subvol="
 * and the mount's root are the same path. */
static bool is_subvolume(const struct mount_line *line)
{
    static const char key[] = "subvol=";
    const char *at = line->options, *end = at + line->options_length;
    for (; at < end; at += strcspn(at, ", \n") + 1) {
        size_t length = strcspn(at, ", \n");
        if (length >= sizeof key - 1 && memcmp(at, key, sizeof key - 1) == 0)
            return length - (sizeof key - 1) == line->root_length &&
                   memcmp(at + sizeof key - 1, line->root, line->root_length) == 0;
    }
    return false;
}

static bool waits(const struct mount_line *line)
{
    return is_one_of(line, elsewhere) ||
           (line->type_length > 5 && memcmp(line->type, "fuse.", 5) == 0);
}

static bool is_kept(const struct mount_line *line)
{
    if (is_one_of(line, layered))
        return is_at_root(line);
    if (waits(line))
        return true;
    if (is_one_of(line, always_full) || (!line->major && !is_one_of(line, on_disk)))
        return false;
    return is_word(line->root, line->root_length, "/") || is_at_root(line) || is_subvolume(line);
}

/* Does a line after `line` mount another file system at the same place? */
static bool is_hidden(const struct mount_line *line, const char *rest)
{
    struct mount_line later;
    for (; *rest; rest = opl_next_line(rest))
        if (read_line(rest, &later) && later.point_length == line->point_length &&
            memcmp(later.point, line->point, line->point_length) == 0)
            return true;
    return false;
}

/* ---- the list ---- */

static struct perfdisk_mounts *mounts_capacity(opl_reading *reading, size_t capacity)
{
    struct perfdisk_mounts *mounts = opl_reading_memory(
        reading, PERFDISK_MOUNTS, sizeof *mounts + capacity * sizeof *mounts->list);
    if (mounts && mounts->capacity < capacity)
        mounts->capacity = capacity;
    return mounts;
}

static struct perfdisk_mount *same_device(struct perfdisk_mounts *mounts,
                                          const struct mount_line *line)
{
    for (size_t i = 0; i < mounts->count; i++)
        if (mounts->list[i].major == line->major && mounts->list[i].minor == line->minor)
            return &mounts->list[i];
    return NULL;
}

static void mount_set(struct perfdisk_mount *mount, const struct mount_line *line)
{
    *mount = (struct perfdisk_mount){.major = line->major, .minor = line->minor};
    opl_octal_name(mount->point, sizeof mount->point, line->point, line->point_length);
    opl_octal_name(mount->source, sizeof mount->source, line->source, line->source_length);
    mount->name_length = opl_sanitize_name(mount->name, sizeof mount->name, mount->point,
                                           strlen(mount->point), true);
    mount->waits = waits(line);
}

/* Adds the file system of a line. A device has only one entry: its mount at "/", or else its first.
 * False: no memory. */
static bool mounts_add(opl_reading *reading, struct perfdisk_mounts **mounts,
                       const struct mount_line *line)
{
    struct perfdisk_mount *same = same_device(*mounts, line);
    if (same && !is_at_root(line))
        return true;
    if (!same) {
        size_t count = (*mounts)->count;
        if (count == (*mounts)->capacity)
            *mounts = mounts_capacity(reading, count * 2 + 8);
        if (!*mounts)
            return false;
        same = &(*mounts)->list[(*mounts)->count++];
    }
    mount_set(same, line);
    return true;
}

static bool is_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || length == 1) &&
           strcmp(path, folder) != 0;
}

/* Marks mounts below a mount that may hang, because queries to them may hang, too. */
static void mounts_wait_for_each_other(struct perfdisk_mounts *mounts)
{
    for (size_t i = 0; i < mounts->count; i++)
        for (size_t k = 0; k < mounts->count && !mounts->list[i].waits; k++)
            mounts->list[i].waits =
                mounts->list[k].waits && is_below(mounts->list[i].point, mounts->list[k].point);
}

struct perfdisk_mounts *perfdisk_mounts_read(opl_reading *reading)
{
    uint64_t version = opl_reading_version(reading, &perfdisk_mountinfo);
    const char *text = opl_reading_text(reading, &perfdisk_mountinfo, NULL);
    struct perfdisk_mounts *mounts = text ? mounts_capacity(reading, 8) : NULL;
    if (!mounts)
        return NULL;
    if (mounts->version == version)
        return mounts;
    mounts->changed = true;
    mounts->count = 0;
    struct mount_line line;
    for (; *text; text = opl_next_line(text))
        if (read_line(text, &line) && is_kept(&line) && !is_hidden(&line, opl_next_line(text)) &&
            !mounts_add(reading, &mounts, &line))
            return NULL;
    mounts_wait_for_each_other(mounts);
    mounts->version = version;
    return mounts;
}
