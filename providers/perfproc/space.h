/* SPDX-License-Identifier: MIT */
/* An address space from proc/PID/maps, by Windows' kinds of memory. */
#ifndef OPL_PERFPROC_SPACE_H
#define OPL_PERFPROC_SPACE_H

#include <stddef.h>
#include <stdint.h>

/* The protection of a page. In a private mapping of a file, pages are copied before they are
 * written. */
enum protection {
    NO_ACCESS,
    READ_ONLY,
    READ_WRITE,
    WRITE_COPY,
    EXECUTE,
    EXECUTE_READ,
    EXECUTE_READ_WRITE,
    EXECUTE_WRITE_COPY,
    PROTECTIONS
};

enum { MOST_IMAGES = 4096 };

/* A program or library in one address space; `path` ends at `path_bytes`. */
struct image {
    const char *path;
    size_t path_bytes;
    uint64_t bytes[PROTECTIONS];
};

/* Bytes by kind. An image is a file of which some part is mapped privately and may be executed, as
 * loaders map it; mapped is any other file and memory that can be shared; unassigned is private
 * memory without a file; reserved is unassigned memory without access rights. */
struct space {
    uint64_t image[PROTECTIONS], mapped[PROTECTIONS], unassigned[PROTECTIONS];
    uint64_t reserved;
    size_t image_count;
    struct image images[MOST_IMAGES]; /* further images count as mapped */
};

/* Resets `space` and counts the lines of `maps`, the text of a proc/PID/maps. The images' paths
 * point into `maps`. */
void space_count(struct space *space, const char *maps);
/* The last part of the path, without the kernel's remark that the file was deleted. */
const char *image_name(const struct image *image, size_t *ret_bytes);
size_t image_path_bytes(const struct image *image); /* length of the path without " (deleted)" */

#endif
