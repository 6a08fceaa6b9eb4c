/* SPDX-License-Identifier: MIT */
/* The Library Validation Code (docs/windows/providers.md#d1): if a library's file was replaced
 * after its code was recorded, the library is not trusted. */
#include "loadperf/store/stored.h"
#include "loadperf/inner.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VALIDATION "Library Validation Code"

char *trust_path(const char *library)
{
    BUFFER_AUTO path = {0};
    bool shipped;
    if (strchr(library, '%'))
        registry_expand(library, &path);
    else
        buffer_add_text(&path, library);
    if (path.data && !strchr(path.data, '/'))
        return place_library(path.data, &shipped);
    char *taken = path.data;
    path = (struct buffer){0};
    return taken;
}

DWORD opl_load_library_path(const char *library, char *path, size_t size)
{
    if (!library || !*library || !path)
        return ERROR_INVALID_PARAMETER;
    FREE_AUTO char *found = trust_path(library);
    if (!found)
        return ERROR_NOT_ENOUGH_MEMORY;
    size_t length = strlen(found);
    if (length >= size)
        return ERROR_MORE_DATA;
    memcpy(path, found, length + 1);
    return ERROR_SUCCESS;
}

LSTATUS load_check_file(const char *path, char why[static TRUST_TEXT])
{
    /* place_vendor is called first, because it may change errno */
    FREE_AUTO char *folder = text_format("%s/", place_vendor());
    FREE_AUTO char *real = folder ? realpath(path, NULL) : NULL;
    LSTATUS status = !folder ? ERROR_NOT_ENOUGH_MEMORY
                     : real  ? ERROR_SUCCESS
                             : status_from_errno(errno);
    bool shipped = folder && !strncmp(path, folder, strlen(folder));
    if (!status)
        return (shipped ? trust_check_shipped : trust_check)(real, why);
    snprintf(why, TRUST_TEXT, "%s",
             status == ERROR_FILE_NOT_FOUND ? "no such file" : status_text(status));
    return status;
}

DWORD opl_load_library_check(const char *library, const opl_load_options *options)
{
    struct load load;
    char why[TRUST_TEXT] = "it is not a library for this machine";
    load_init(&load, options);
    if (!library || !*library)
        return ERROR_INVALID_PARAMETER;
    FREE_AUTO char *path = trust_path(library);
    if (!path)
        return ERROR_NOT_ENOUGH_MEMORY;
    LSTATUS status = load_check_file(path, why);
    struct exports exports = {0};
    if (!status && !exports_read(path, &exports))
        status = ERROR_BAD_EXE_FORMAT;
    exports_done(&exports);
    if (status)
        load_error(&load, path, 0, "%s", why);
    return status;
}

/* Writes the validation code: time and size of the library's file, 8 bytes each, little-endian. */
bool load_validation(const char *library, unsigned char ret[static VALIDATION_BYTES])
{
    struct stat st;
    FREE_AUTO char *path = trust_path(library);
    if (!path || stat(path, &st) != 0)
        return false;
    uint64_t parts[2] = {(uint64_t)clock_filetime_of(&st.st_mtim), (uint64_t)st.st_size};
    for (size_t i = 0; i < VALIDATION_BYTES; i++)
        ret[i] = (unsigned char)(parts[i / 8] >> i % 8 * 8);
    return true;
}

DWORD opl_load_trust(const char *service, const opl_load_options *options)
{
    struct load load;
    unsigned char code[VALIDATION_BYTES];
    load_init(&load, options);
    if (!service || !*service || strchr(service, '\\'))
        return ERROR_INVALID_PARAMETER;
    FREE_AUTO char *key = here_key(service), *library = here_text(service, "Library");
    if (!key)
        return ERROR_NOT_ENOUGH_MEMORY;
    if (!library || !load_validation(library, code)) {
        if (library)
            load_error(&load, NULL, 0, "%s: its library \"%s\" does not exist", service, library);
        else
            load_error(&load, NULL, 0, "%s: there is no such service, or it has no library",
                       service);
        return ERROR_FILE_NOT_FOUND;
    }
    if (load.options->dry_run)
        return ERROR_SUCCESS;
    LSTATUS status = registry_set(load.layer, key, VALIDATION, REG_BINARY, code, sizeof code);
    if (status)
        load_error(&load, registry_folder(load.layer), 0, "cannot be written: %s",
                   status_text(status));
    return (DWORD)status;
}

/* ---- exported functions ---- */

/* Finds out whether a library can be loaded, and whether it exports a function. Only its file is
 * read, because a check must not run the library. If the file does not show it clearly, the library
 * is assumed to be good. */

enum { MOST_BYTES = 16 << 20 };

static bool take(int fd, uint64_t at, void *ret, size_t size)
{
    return at <= INT64_MAX && pread(fd, ret, size, (off_t)at) == (ssize_t)size;
}

/* Returns the processor type of this program by its ELF number; EM_NONE: unknown. */
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
        return true; /* other kinds of programs may be able to load the library */
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
