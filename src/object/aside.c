/* SPDX-License-Identifier: MIT */
/* What the functions of a provider may use besides rows and sources: small files that are read
 * once, and memory that lasts until Close. */
#include "object/object.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool opl_reading_file(opl_reading *reading, const char *path, char *storage, size_t bytes)
{
    char place[OBJECT_MAX_PATH];
    ssize_t count = -1;
    if (bytes == 0)
        return false;
    *storage = 0;
    path = source_place(reading, path, place);
    int fd = path ? source_openat(provider_root(reading->provider), path, O_RDONLY) : -1;
    if (fd < 0)
        return false;
    do
        count = read(fd, storage, bytes - 1);
    while (count < 0 && errno == EINTR);
    close(fd);
    storage[count > 0 ? count : 0] = 0;
    return count >= 0;
}

/* ---- memory ---- */

void *opl_reading_memory(opl_reading *reading, unsigned slot, size_t bytes)
{
    if (slot >= OBJECT_MEMORIES)
        return NULL;
    struct provider_memory *memory = &reading->provider->memories[slot];
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
