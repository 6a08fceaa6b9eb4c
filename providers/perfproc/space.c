/* SPDX-License-Identifier: MIT */
/*
 * Reads proc/PID/maps: a line is "from-to rwxp offset device inode   path". Lines with the same
 * path belong to one image; they usually follow each other.
 */
#include "space.h"

#include <stdbool.h>
#include <string.h>

struct mapping {
    uint64_t bytes;
    bool read, write, execute, shared;
    const char *path; /* "": none */
    size_t path_bytes;
};

static const char *read_hex(const char *at, uint64_t *ret)
{
    *ret = 0;
    for (;; at++) {
        unsigned digit = (unsigned char)*at;
        if (digit >= '0' && digit <= '9')
            digit -= '0';
        else if (digit >= 'a' && digit <= 'f')
            digit -= 'a' - 10;
        else
            return at;
        *ret = *ret << 4 | digit;
    }
}

static const char *skip_word(const char *at)
{
    at += strcspn(at, " \n");
    return at + strspn(at, " ");
}

/* Parses the line at *cursor, and moves *cursor to the next line. False: the text has ended, or the
 * line does not have this format. */
static bool next_mapping(const char **cursor, struct mapping *ret)
{
    uint64_t from, to;
    const char *at = read_hex(*cursor, &from);
    if (*at++ != '-')
        return false;
    at = read_hex(at, &to);
    if (*at++ != ' ' || to < from || strnlen(at, 4) < 4)
        return false;
    *ret = (struct mapping){.bytes = to - from};
    ret->read = at[0] == 'r';
    ret->write = at[1] == 'w';
    ret->execute = at[2] == 'x';
    ret->shared = at[3] == 's';
    for (int word = 0; word < 4; word++) /* protection, offset, device, inode */
        at = skip_word(at);
    ret->path = at;
    ret->path_bytes = strcspn(at, "\n");
    at += ret->path_bytes;
    *cursor = *at ? at + 1 : at;
    return true;
}

static bool has_path(const struct mapping *mapping, const char *path)
{
    return mapping->path_bytes == strlen(path) && !memcmp(mapping->path, path, mapping->path_bytes);
}

static bool is_file(const struct mapping *mapping)
{
    return mapping->path_bytes > 0 && *mapping->path == '/';
}

/* Does this line make its file an image? True for the kernel's own image ([vdso]), and for every
 * file that is mapped privately and may be executed. */
static bool makes_image(const struct mapping *mapping)
{
    return has_path(mapping, "[vdso]") ||
           (is_file(mapping) && mapping->execute && !mapping->shared);
}

static enum protection protection_of(const struct mapping *mapping)
{
    if (mapping->write) {
        bool copies = is_file(mapping) && !mapping->shared;
        if (mapping->execute)
            return copies ? EXECUTE_WRITE_COPY : EXECUTE_READ_WRITE;
        return copies ? WRITE_COPY : READ_WRITE;
    }
    if (mapping->execute)
        return mapping->read ? EXECUTE_READ : EXECUTE;
    return mapping->read ? READ_ONLY : NO_ACCESS;
}

static struct image *find_image(struct space *space, const struct mapping *mapping)
{
    for (size_t i = space->image_count; i-- > 0;) {
        struct image *image = &space->images[i];
        if (image->path_bytes == mapping->path_bytes &&
            !memcmp(image->path, mapping->path, mapping->path_bytes))
            return image;
    }
    return NULL;
}

static void add_image(struct space *space, const struct mapping *mapping)
{
    if (space->image_count < MOST_IMAGES && !find_image(space, mapping))
        space->images[space->image_count++] =
            (struct image){.path = mapping->path, .path_bytes = mapping->path_bytes};
}

static void count_mapping(struct space *space, const struct mapping *mapping)
{
    enum protection protection = protection_of(mapping);
    struct image *image = mapping->path_bytes ? find_image(space, mapping) : NULL;
    if (image) {
        image->bytes[protection] += mapping->bytes;
        space->image[protection] += mapping->bytes;
    } else if (is_file(mapping) || mapping->shared) {
        space->mapped[protection] += mapping->bytes;
    } else if (protection == NO_ACCESS) {
        space->reserved += mapping->bytes;
    } else {
        space->unassigned[protection] += mapping->bytes;
    }
}

void space_count(struct space *space, const char *maps)
{
    struct mapping mapping;
    memset(space, 0, offsetof(struct space, images));
    for (const char *cursor = maps; next_mapping(&cursor, &mapping);)
        if (makes_image(&mapping))
            add_image(space, &mapping);
    for (const char *cursor = maps; next_mapping(&cursor, &mapping);)
        if (!has_path(&mapping, "[vsyscall]")) /* one page of the kernel, the same in all
                                                * processes */
            count_mapping(space, &mapping);
}

size_t image_path_bytes(const struct image *image)
{
    static const char remark[] = " (deleted)";
    size_t bytes = image->path_bytes, length = sizeof remark - 1;
    return bytes > length && !memcmp(image->path + bytes - length, remark, length) ? bytes - length
                                                                                   : bytes;
}

const char *image_name(const struct image *image, size_t *ret_bytes)
{
    size_t bytes = image_path_bytes(image);
    const char *slash = memrchr(image->path, '/', bytes);
    const char *name = slash ? slash + 1 : image->path;
    *ret_bytes = bytes - (size_t)(name - image->path);
    return name;
}
