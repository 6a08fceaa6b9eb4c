/* SPDX-License-Identifier: MIT */
/*
 * Can a library be loaded, and does it export a function? Read from its file, because a check must
 * not run the library. If the file gives no definite answer, the library is assumed to be good.
 */
#include "loadperf/inner.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 16 << 20 };

static bool take(int fd, uint64_t at, void *ret, size_t size)
{
    return at <= INT64_MAX && pread(fd, ret, size, (off_t)at) == (ssize_t)size;
}

/* This processor's, as in the running program; EM_NONE: unknown. */
static unsigned own_machine(void)
{
    ElfW(Ehdr) own;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    bool whole = fd >= 0 && take(fd, 0, &own, sizeof own);
    if (fd >= 0)
        close(fd);
    return whole ? own.e_machine : EM_NONE;
}

static bool read_section(int fd, const ElfW(Shdr) * section, struct buffer *ret)
{
    buffer_clear(ret);
    if (section->sh_size > MOST_BYTES || !buffer_reserve(ret, section->sh_size + 1))
        return false;
    ret->len = section->sh_size;
    return take(fd, section->sh_offset, ret->data, section->sh_size);
}

static bool read_symbols(int fd, const ElfW(Ehdr) * head, struct exports *ret)
{
    ElfW(Shdr) symbols, strings;
    for (unsigned i = 0; i < head->e_shnum; i++) {
        if (!take(fd, head->e_shoff + (uint64_t)i * sizeof symbols, &symbols, sizeof symbols))
            return false;
        if (symbols.sh_type != SHT_DYNSYM)
            continue;
        uint64_t at = head->e_shoff + (uint64_t)symbols.sh_link * sizeof strings;
        return symbols.sh_link < head->e_shnum && take(fd, at, &strings, sizeof strings) &&
               read_section(fd, &symbols, &ret->symbols) &&
               read_section(fd, &strings, &ret->strings);
    }
    return false;
}

static bool read_library(int fd, struct exports *ret)
{
    ElfW(Ehdr) head;
    if (!take(fd, 0, &head, sizeof head) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
        return false;
    if (head.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
        return true; /* other programs may load it */
    unsigned own = own_machine();
    ret->known = head.e_shentsize == sizeof(ElfW(Shdr)) && read_symbols(fd, &head, ret);
    return head.e_type == ET_DYN && (own == EM_NONE || head.e_machine == own);
}

bool exports_read(const char *path, struct exports *ret)
{
    *ret = (struct exports){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return true;
    bool good = read_library(fd, ret);
    close(fd);
    return good;
}

void exports_done(struct exports *exports)
{
    buffer_done(&exports->symbols);
    buffer_done(&exports->strings);
}

bool exports_lack(const struct exports *exports, const char *name)
{
    const struct buffer *symbols = &exports->symbols, *strings = &exports->strings;
    size_t length = strlen(name) + 1;
    ElfW(Sym) symbol;
    for (size_t at = 0; exports->known && at + sizeof symbol <= symbols->len; at += sizeof symbol) {
        memcpy(&symbol, symbols->data + at, sizeof symbol);
        if (symbol.st_shndx != SHN_UNDEF && symbol.st_name < strings->len &&
            length <= strings->len - symbol.st_name &&
            !memcmp(strings->data + symbol.st_name, name, length))
            return false;
    }
    return exports->known;
}
