/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzz target once for each file of its corpus, with any compiler: so every input that ever
 * failed is tested in each build. Arguments are files and folders.
 */
#include "target.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static size_t inputs;

static void fail(const char *what, const char *path)
{
    fprintf(stderr, "replay: %s %s: %s\n", what, path, strerror(errno));
    exit(2);
}

/* Copies the input to memory of exactly its size, so that a sanitizer notices a read beyond its
 * end. */
static void replay_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(size);
    if (!file || (!data && size > 0))
        fail("cannot read", path);
    if (fread(data, 1, size, file) != size)
        fail("short read of", path);
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    inputs++;
}

static void replay_path(const char *path);

static void replay_folder(const char *path)
{
    DIR *folder = opendir(path);
    if (!folder)
        fail("cannot open", path);
    for (struct dirent *entry; (entry = readdir(folder));) {
        char name[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        replay_path(name);
    }
    closedir(folder);
}

static void replay_path(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        fail("cannot find", path);
    if (S_ISDIR(status.st_mode))
        replay_folder(path);
    else
        replay_file(path, (size_t)status.st_size);
}

int main(int count, char **arguments)
{
    for (int i = 1; i < count; i++)
        replay_path(arguments[i]);
    printf("%zu inputs replayed\n", inputs);
    return inputs > 0 ? 0 : 1;
}
