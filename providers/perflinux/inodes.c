/* SPDX-License-Identifier: MIT */
/*
 * Filesystem Inodes (100200): how many more files the mounted file systems can have. Not shown are
 * file systems without a fixed number of files, and file systems served by another machine or
 * program, which might not answer.
 *
 * A line: "36 35 98:0 /root /mount/point rw,noatime master:1 - ext3 /dev/root rw,errors=continue".
 */
#include <string.h>

#include "perflinux.h"

enum { POINT_SIZE = 512 };

static const opl_source mountinfo = {.path = "proc/self/mountinfo", .watched = true};

struct inode_mount {
    uint64_t major, minor;
    const char *point, *type;
    size_t point_bytes, type_bytes;
};

static const char *word(const char **at, size_t *ret_bytes)
{
    *at += strspn(*at, " ");
    const char *begin = *at;
    *at += *ret_bytes = strcspn(begin, " \n");
    return begin;
}

static bool read_mount(const char *at, struct inode_mount *ret)
{
    size_t bytes;
    word(&at, &bytes), word(&at, &bytes);
    at += strspn(at, " ");
    ret->major = perflinux_number(&at);
    if (*at++ != ':')
        return false;
    ret->minor = perflinux_number(&at);
    word(&at, &bytes);
    ret->point = word(&at, &ret->point_bytes);
    for (const char *field = word(&at, &bytes); bytes != 1 || *field != '-';
         field = word(&at, &bytes))
        if (bytes == 0)
            return false;
    ret->type = word(&at, &ret->type_bytes);
    return *ret->point == '/' && ret->type_bytes > 0;
}

static bool is_one_of(const struct inode_mount *mount, const char *const *types)
{
    for (; *types; types++)
        if (strlen(*types) == mount->type_bytes &&
            memcmp(*types, mount->type, mount->type_bytes) == 0)
            return true;
    return false;
}

static bool begins(const struct inode_mount *mount, const char *prefix)
{
    size_t bytes = strlen(prefix);
    return mount->type_bytes >= bytes && memcmp(mount->type, prefix, bytes) == 0;
}

/* Is the file system served by another machine or by a program? */
static bool is_network(const struct inode_mount *mount)
{
    static const char *const network[] = {
        "cifs",   "smb3",      "afs",      "ceph",   "coda",  "9p",    "lustre", "beegfs",   "gpfs",
        "vboxsf", "glusterfs", "orangefs", "vmhgfs", "ncpfs", "smbfs", "pvfs2",  "virtiofs", NULL};
    return begins(mount, "nfs") || begins(mount, "fuse") || is_one_of(mount, network);
}

static bool is_wanted(const struct inode_mount *mount)
{
    static const char *const full[] = {"squashfs", "erofs", "iso9660", "udf",
                                       "cramfs",   "romfs", NULL}; /* read-only */
    static const char *const in_memory[] = {"tmpfs", "zfs", "btrfs", "bcachefs", "ubifs", NULL};
    static const char *const layered[] = {"overlay", "aufs", NULL};
    if (is_network(mount) || is_one_of(mount, full))
        return false;
    if (is_one_of(mount, layered))
        return mount->point_bytes == 1;
    return mount->major > 0 || is_one_of(mount, in_memory);
}

static bool is_below(const struct inode_mount *mount, const struct inode_mount *above)
{
    return mount->point_bytes > above->point_bytes &&
           memcmp(mount->point, above->point, above->point_bytes) == 0 &&
           mount->point[above->point_bytes] == '/';
}

static bool same_point(const struct inode_mount *one, const struct inode_mount *other)
{
    return one->point_bytes == other->point_bytes &&
           memcmp(one->point, other->point, one->point_bytes) == 0;
}

/* Is the file system already listed for an earlier mount, hidden by a later mount, or below a mount
 * that might not answer? */
static bool is_needless(const struct inode_mount *mount, const char *text, const char *line)
{
    struct inode_mount other;
    for (const char *at = text; *at; at = opl_next_line(at)) {
        if (at == line || !read_mount(at, &other))
            continue;
        if (at < line && is_wanted(&other) && other.major == mount->major &&
            other.minor == mount->minor)
            return true;
        if ((at > line && same_point(mount, &other)) ||
            (is_network(&other) && is_below(mount, &other)))
            return true;
    }
    return false;
}

struct inodes {
    uint64_t all, free, used;
};

static void add(opl_listing *listing, const struct inode_mount *mount)
{
    char point[POINT_SIZE];
    struct inodes inodes;
    if (mount->point_bytes >= sizeof point)
        return;
    opl_octal_name(point, sizeof point, mount->point, mount->point_bytes);
    if (!opl_reading_inodes(opl_listing_reading(listing), point, &inodes.all, &inodes.free))
        return;
    inodes.used = inodes.all - (inodes.free < inodes.all ? inodes.free : inodes.all);
    opl_sanitize_name(point, sizeof point, point, strlen(point), true);
    opl_listing_item(listing, point, &inodes);
}

static void list(opl_listing *listing)
{
    struct inode_mount mount;
    const char *text = opl_reading_text(opl_listing_reading(listing), &mountinfo, NULL);
    for (const char *line = text; line && *line; line = opl_next_line(line))
        if (read_mount(line, &mount) && is_wanted(&mount) && !is_needless(&mount, text, line))
            add(listing, &mount);
}

#define OF(member, text)                                                                           \
    OPL_FIELD(struct inodes, member), .total = OPL_SUM, .where = "statfs(2): " text

/* clang-format off */
static const opl_counter counters[] = {
    {100202, 100203, PERF_COUNTER_LARGE_RAWCOUNT, -5, PERF_DETAIL_ADVANCED, OF(all, "f_files"), .name = "Inodes",
     .help = "Files and folders that the file system can have, including those that it has already."},
    {100204, 100205, PERF_COUNTER_LARGE_RAWCOUNT, -5, PERF_DETAIL_NOVICE, OF(free, "f_ffree"), .name = "Free Inodes",
     .help = "Files and folders that the file system can still take."},
    {100206, 100207, PERF_COUNTER_LARGE_RAWCOUNT, -5, PERF_DETAIL_NOVICE, OF(used, "f_files less f_ffree"), .name = "Used Inodes",
     .help = "Files and folders that the file system has."},
    {100208, 100209, PERF_LARGE_RAW_FRACTION, 0, PERF_DETAIL_NOVICE, OF(used, "used, of f_files"), .base = OPL_FIELD(struct inodes, all),
     .name = "% Used Inodes", .help = "Files and folders that the file system has, as a share of those that it can have."},
    {100210, 100211, PERF_LARGE_RAW_FRACTION, 0, PERF_DETAIL_NOVICE, OF(free, "f_ffree, of f_files"), .base = OPL_FIELD(struct inodes, all),
     .name = "% Free Inodes", .help = "Files and folders that the file system can still take, as a share of those that it can have."},
};
/* clang-format on */

const opl_object perflinux_inodes = {
    100200,
    100201,
    "Filesystem Inodes",
    "How many more files the mounted file systems can take, independent of the free space.",
    OPL_COUNTERS(counters),
    .default_counter = 100208,
    .needs = "proc/self/mountinfo",
    .instances = true,
    .total = "_Total",
    .list = list};
