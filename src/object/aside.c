/* SPDX-License-Identifier: MIT */
/* What a provider's functions may ask beside rows and sources: small files read once, memory that
 * stays, and the room that a file system has. */
#include "object/object.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

bool opl_reading_file(opl_reading *reading, const char *path, char *room, size_t bytes)
{
    char place[OBJECT_MAX_PATH];
    ssize_t count = -1;
    if (bytes == 0)
        return false;
    *room = 0;
    path = source_place(reading, path, place);
    int fd = path ? source_openat(provider_root(reading->provider), path, O_RDONLY) : -1;
    if (fd < 0)
        return false;
    do
        count = read(fd, room, bytes - 1);
    while (count < 0 && errno == EINTR);
    close(fd);
    room[count > 0 ? count : 0] = 0;
    return count >= 0;
}

/* ---- memory ---- */

void *opl_reading_memory(opl_reading *reading, unsigned slot, size_t bytes)
{
    if (slot >= OBJECT_MEMORIES)
        return NULL;
    struct memory *memory = &reading->provider->memories[slot];
    if (memory->at && bytes <= memory->bytes)
        return memory->at;
    char *grown = realloc(memory->at, bytes ? bytes : 1);
    if (!grown) {
        reading->provider->failed = true;
        return NULL;
    }
    memset(grown + memory->bytes, 0, bytes - memory->bytes);
    memory->at = grown;
    memory->bytes = bytes;
    return grown;
}

void memories_done(opl_provider *provider)
{
    for (size_t i = 0; i < OBJECT_MEMORIES; i++)
        free(provider->memories[i].at);
}

/* ---- the room of a file system ---- */

/* Archives have a file "statfs": block size, blocks, free, available, and where it is mounted, as
 * proc/self/mountinfo writes it: blanks and the like are three octal digits, "\\040". */
static const opl_source archive = {"statfs"};

static uint64_t next_number(const char **line)
{
    *line += strspn(*line, " ");
    return text_number(line);
}

static char next_character(const char **line)
{
    const char *at = *line;
    if (*at != '\\' || strspn(at + 1, "01234567") < 3)
        return *(*line)++;
    *line += 4;
    return (char)((at[1] - '0') * 64 + (at[2] - '0') * 8 + (at[3] - '0'));
}

static bool is_place(const char *line, const char *path)
{
    while (*path)
        if (*line == '\n' || next_character(&line) != *path++)
            return false;
    return *line == '\n' || !*line;
}

static bool space_of_archive(opl_reading *reading, const char *path, opl_space *ret)
{
    struct source *source = source_of(reading->provider, &archive);
    if (!source || source_load(reading, source))
        return false;
    for (const char *line = source->text; *line; line = text_line(line)) {
        uint64_t block = next_number(&line), size = next_number(&line);
        uint64_t free = next_number(&line), available = next_number(&line);
        line += strspn(line, " ");
        if (!is_place(line, path))
            continue;
        *ret = (opl_space){block * size, block * free, block * available};
        return true;
    }
    return false;
}

bool opl_reading_space(opl_reading *reading, const char *path, opl_space *ret)
{
    struct statfs now;
    if (!provider_live())
        return space_of_archive(reading, path, ret);
    if (statfs(path, &now) != 0)
        return false;
    uint64_t block = (uint64_t)(now.f_frsize ? now.f_frsize : now.f_bsize);
    *ret = (opl_space){block * now.f_blocks, block * now.f_bfree, block * now.f_bavail};
    return true;
}
