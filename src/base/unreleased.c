/* SPDX-License-Identifier: MIT */
/*
 * Detects libraries that were built before the first release, when the symbol opl_tables had no
 * version. The functions that they call no longer exist, so they cannot be loaded, and the linker's
 * own message does not say what to do.
 */
#include "base/base.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* True if the file refers to opl_tables without a version. A symbol's name in an ELF file has a NUL
 * before and after it. */
static bool names_tables(const void *file, size_t size)
{
    static const char old[] = "\0opl_tables", versioned[] = "\0opl_tables_1";
    return memmem(file, size, old, sizeof old) && !memmem(file, size, versioned, sizeof versioned);
}

bool library_is_unreleased(const char *path)
{
    struct stat st;
    void *file = MAP_FAILED;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (file == MAP_FAILED)
        return false;
    bool is = names_tables(file, (size_t)st.st_size);
    munmap(file, (size_t)st.st_size);
    return is;
}
