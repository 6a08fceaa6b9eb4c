/* SPDX-License-Identifier: MIT */
/* Finds a control group's container, by the names that container programs give to groups. */
#include "group.h"

#include <string.h>

enum { SHORT_ID = 12, WHOLE_ID = 64 };
static const char ellipsis[] = "\xe2\x80\xa6";

/* A part of a path that names a container: `before`, then 64 hexadecimal digits or (`named`) a
 * name, then `after` or nothing. `above`: the part before it must be this one. */
static const struct {
    const char *above, *before, *after;
    bool named;
} patterns[] = {
    {NULL,          "docker-",         ".scope",   false},
    {NULL,          "libpod-",         ".scope",   false},
    {NULL,          "cri-containerd-", ".scope",   false},
    {NULL,          "crio-",           ".scope",   false},
    {NULL,          "nerdctl-",        ".scope",   false},
    {NULL,          "",                "",         false}, /* docker/ID, kubepods/podUID/ID, ecs/TASK/ID */
    {NULL,          "machine-",        ".scope",   true },
    {NULL,          "systemd-nspawn@", ".service", true },
    {NULL,          "lxc.payload.",    "",         true },
    {"lxc.payload", "",                "",         true },
    {"lxc",         "",                "",         true },
 /* the pod, if the group's text ends before the container's part */
    {"kubepods",    "pod",             "",         true },
    {"burstable",   "pod",             "",         true },
    {"besteffort",  "pod",             "",         true },
};

static size_t digits_of(const char *text)
{
    size_t count = 0;
    while ((text[count] >= '0' && text[count] <= '9') || (text[count] >= 'a' && text[count] <= 'f'))
        count++;
    return count;
}

/* Returns the length of the container's name at the start of `text`, the rest of a part of
 * `length` bytes; 0: none. Digits may be cut off by an ellipsis. */
static size_t name_length(const char *text, size_t length, const char *after, bool named)
{
    size_t end = strlen(after), digits = named ? 0 : digits_of(text);
    bool ends = end && length > end && !memcmp(text + length - end, after, end);
    if (named)
        return end && !ends ? 0 : length - end;
    if (digits < SHORT_ID)
        return 0;
    bool cut = digits < WHOLE_ID && !strncmp(text + digits, ellipsis, strlen(ellipsis));
    bool whole = digits == WHOLE_ID && (length == WHOLE_ID || (ends && length == WHOLE_ID + end));
    return cut || whole ? SHORT_ID : 0;
}

static bool is_part(const char *part, size_t length, const char *name)
{
    return length == strlen(name) && !memcmp(part, name, length);
}

const char *container_of(const char *path, size_t *ret_length)
{
    const char *found = NULL, *above = path;
    size_t length, above_length = 0;
    for (const char *part = path; *part; above = part, above_length = length, part += length) {
        part += strspn(part, "/|");
        length = strcspn(part, "/|");
        for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
            if (*patterns[i].before && *patterns[i].before != *part)
                continue; /* most parts end here, at once */
            size_t skip = strlen(patterns[i].before);
            if (length <= skip || memcmp(part, patterns[i].before, skip) != 0 ||
                (patterns[i].above && !is_part(above, above_length, patterns[i].above)))
                continue;
            size_t name =
                name_length(part + skip, length - skip, patterns[i].after, patterns[i].named);
            if (!name)
                continue;
            found = part + skip;
            *ret_length = name;
            break;
        }
    }
    return found;
}
