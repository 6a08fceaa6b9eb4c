/* SPDX-License-Identifier: MIT */
/* Functions that OPL_FN rows may call, and the time at which the system started. */
#include "object/object.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef PROC_SUPER_MAGIC
#define PROC_SUPER_MAGIC 0x9fa0
#endif
/* bytes: two reads with a buffer of this size return all entries of proc before those of
 * processes */
enum { FEW_ENTRIES = 1024 };

bool opl_reading_column(opl_reading *reading, const opl_source *is, unsigned column, uint64_t *ret)
{
    struct source *source = source_of(reading->provider, is);
    if (!source || column == 0 || source_load_words(reading, source, column) ||
        !source_has_number(source, column))
        return false;
    *ret = source->words[column];
    return true;
}

bool opl_reading_key(opl_reading *reading, const opl_source *is, const char *text, uint64_t *ret)
{
    struct source *source = source_of(reading->provider, is);
    struct source_key *key = source ? source_add_key(source, text, strlen(text)) : NULL;
    if (!key || source_load_keys(reading, source) || !key->at)
        return false;
    *ret = key->number;
    return true;
}

const char *opl_reading_text(opl_reading *reading, const opl_source *is, size_t *ret_bytes)
{
    struct source *source = source_of(reading->provider, is);
    if (!source || source_load(reading, source))
        return NULL;
    if (ret_bytes)
        *ret_bytes = source->length;
    return source->text;
}

uint64_t opl_reading_namespace(opl_reading *reading)
{
    return provider_namespace(reading->provider);
}

uint64_t opl_reading_version(opl_reading *reading, const opl_source *is)
{
    struct source *source = source_of(reading->provider, is);
    return source && !source_load(reading, source) ? source->version : 0;
}

bool opl_reading_has(opl_reading *reading, const opl_source *is)
{
    const struct source *source = source_of(reading->provider, is);
    return source && source->read_for == reading->serial;
}

uint32_t opl_reading_position(const opl_reading *reading)
{
    return reading->position;
}

const char *opl_reading_folder(const opl_reading *reading)
{
    return reading->folder;
}

int64_t opl_reading_time(const opl_reading *reading)
{
    return reading->provider->time;
}

uint64_t opl_reading_note(const opl_reading *reading)
{
    return reading->note;
}

const void *opl_reading_item(const opl_reading *reading)
{
    return reading->item;
}

/* ---- the number of files in a folder ---- */

static uint64_t entries_count(const char *entries, long bytes)
{
    uint64_t count = 0;
    for (long at = 0; at < bytes;) {
        const struct folder_entry *entry = (const void *)(entries + at);
        count += strcmp(entry->name, ".") != 0 && strcmp(entry->name, "..") != 0;
        at += entry->length;
    }
    return count;
}

static bool count_by_reading(opl_provider *provider, const char *path, uint64_t *ret)
{
    long bytes;
    int fd = source_openat(provider_root(provider), path, O_RDONLY | O_DIRECTORY);
    provider->denied |= fd < 0 && status_from_errno(errno) == ERROR_ACCESS_DENIED;
    if (fd < 0)
        return false;
    *ret = 0;
    while ((bytes = syscall(SYS_getdents64, fd, provider->entries, sizeof provider->entries)) > 0)
        *ret += entries_count(provider->entries, bytes);
    close(fd);
    return bytes == 0;
}

/* Since Linux 6.2 the size of /proc/PID/fd is the number of descriptors, readable by all users; in
 * older kernels, and below another OPENPERFLIB_SYSROOT, that size has another meaning. */
static bool sizes_are_counts(opl_provider *provider)
{
    struct stat own;
    if (provider->fd_sizes == FD_SIZES_UNKNOWN)
        provider->fd_sizes = provider->live && stat("/proc/self/fd", &own) == 0 && own.st_size > 0
                                 ? FD_SIZES_COUNT
                                 : FD_SIZES_OTHER;
    return provider->fd_sizes == FD_SIZES_COUNT;
}

bool opl_reading_folder_count(opl_reading *reading, const char *path, uint64_t *ret)
{
    char storage[OBJECT_MAX_PATH];
    struct stat folder;
    path = source_place(reading, path, storage);
    if (!path)
        return false;
    if (!sizes_are_counts(reading->provider))
        return count_by_reading(reading->provider, path, ret);
    if (fstatat(provider_root(reading->provider), path, &folder, 0) != 0) {
        reading->provider->denied |= status_from_errno(errno) == ERROR_ACCESS_DENIED;
        return false;
    }
    *ret = (uint64_t)folder.st_size;
    return true;
}

/* ---- the number of processes ---- */

/* Counts the folders of proc that are not processes. Stops at the first process, because the kernel
 * lists the processes last. */
static LSTATUS count_other_folders(opl_provider *provider, int fd, uint64_t *ret)
{
    *ret = 0;
    if (lseek(fd, 0, SEEK_SET) < 0)
        return status_from_errno(errno);
    for (;;) {
        long bytes = syscall(SYS_getdents64, fd, provider->entries, FEW_ENTRIES);
        if (bytes <= 0)
            return bytes < 0 ? status_from_errno(errno) : ERROR_SUCCESS;
        for (long at = 0; at < bytes;) {
            const struct folder_entry *entry = (const void *)(provider->entries + at);
            if (*entry->name >= '0' && *entry->name <= '9')
                return ERROR_SUCCESS;
            *ret += entry->type == DT_DIR && *entry->name != '.';
            at += entry->length;
        }
    }
}

/* Returns in *ret the number of folders of proc that are not processes. They are counted again
 * after a minute, because loading a driver may add one. False: the number is not known. */
static bool other_folders(opl_provider *provider, int fd, uint64_t *ret)
{
    LONGLONG age = provider->time - provider->other_folders_time;
    if (age < 0 || age > 60LL * CLOCK_TICKS_PER_SECOND || !provider->other_folders) {
        if (count_other_folders(provider, fd, &provider->other_folders))
            return false;
        provider->other_folders_time = provider->time;
    }
    *ret = provider->other_folders;
    /* a proc mounted with subset=pid has no other folders: then the link count cannot be used */
    return *ret > 0;
}

/* Returns in *ret the number of processes. They are counted once per collection, because several
 * objects show it. */
bool opl_reading_process_count(opl_reading *reading, uint64_t *ret)
{
    opl_provider *provider = reading->provider;
    struct stat proc;
    struct statfs system;
    uint64_t others;
    *ret = provider->process_count;
    if (provider->processes_counted_for == provider->collection)
        return true;
    int fd =
        kept_open(&provider->processes, provider_root(provider), "proc", O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        return false;
    /* the link count of the folder proc: one link each for "." and "..", for each other folder, and
     * for each process */
    if (fstatfs(fd, &system) == 0 && system.f_type == PROC_SUPER_MAGIC && fstat(fd, &proc) == 0 &&
        other_folders(provider, fd, &others) && proc.st_nlink > 2 + others) {
        *ret = proc.st_nlink - 2 - others;
    } else { /* below OPENPERFLIB_SYSROOT: count the numbered folders */
        long bytes = lseek(fd, 0, SEEK_SET) < 0 ? -1 : 1;
        *ret = 0;
        while (bytes > 0) {
            bytes = syscall(SYS_getdents64, fd, provider->entries, sizeof provider->entries);
            for (long at = 0; at < bytes;) {
                const struct folder_entry *entry = (const void *)(provider->entries + at);
                uint32_t number;
                *ret += text_decimal(entry->name, strlen(entry->name), &number);
                at += entry->length;
            }
        }
        /* at least this process must be there; otherwise the folder is not a proc file system */
        if (bytes < 0 || *ret == 0)
            return false;
    }
    provider->processes_counted_for = provider->collection;
    provider->process_count = *ret;
    return true;
}

/* ---- the start of the system ---- */

static int64_t clock_100ns(clockid_t which)
{
    struct timespec now;
    clock_gettime(which, &now);
    return (int64_t)now.tv_sec * CLOCK_TICKS_PER_SECOND + now.tv_nsec / 100;
}

/* Returns the system's start, computed from two clocks. The kernel adjusts both alike, so their
 * difference changes only when the time is set. The result is rounded to 1/100 s, the unit of
 * processes' start times, so all programs get the same result. */
static int64_t boot_of_clocks(void)
{
    const int64_t hundredth = CLOCK_TICKS_PER_SECOND / 100;
    int64_t before = clock_100ns(CLOCK_BOOTTIME);
    int64_t now = clock_filetime();
    int64_t uptime = (before + clock_100ns(CLOCK_BOOTTIME)) / 2;
    return (now - uptime + hundredth / 2) / hundredth * hundredth;
}

static const opl_source system_stat = {"proc/stat"};

static int64_t boot_of_archive(opl_reading *reading)
{
    uint64_t seconds;
    if (!opl_reading_key(reading, &system_stat, "btime", &seconds))
        return 0;
    struct timespec btime = {.tv_sec = (time_t)seconds};
    return clock_filetime_of(&btime);
}

int64_t opl_boot_time(opl_reading *reading)
{
    opl_provider *provider = reading->provider;
    /* the start of the system, computed once for all providers of this process */
    static int64_t live;
    if (provider->boot)
        return provider->boot;
    if (!provider->live)
        return provider->boot = boot_of_archive(reading);
    int64_t boot = __atomic_load_n(&live, __ATOMIC_RELAXED);
    if (!boot) {
        int64_t first = 0;
        boot = boot_of_clocks();
        if (!__atomic_compare_exchange_n(&live, &first, boot, false, __ATOMIC_RELAXED,
                                         __ATOMIC_RELAXED))
            boot = first;
    }
    return provider->boot = boot;
}

/* ---- small files, and memory that lasts until Close ---- */

/* What the functions of a provider may use besides rows and sources: small files that are read
 * once, and memory that lasts until Close. */

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

/* Copies to memory that is 0. Zeros are not copied: pages that are not written take no memory. */
static void copy_used(char *to, const char *from, size_t bytes)
{
    static const char zeros[4096];
    for (size_t at = 0, part; at < bytes; at += part) {
        part = bytes - at < sizeof zeros ? bytes - at : sizeof zeros;
        if (memcmp(from + at, zeros, part) != 0)
            memcpy(to + at, from + at, part);
    }
}

void *opl_reading_memory(opl_reading *reading, unsigned slot, size_t bytes)
{
    if (slot >= OBJECT_MEMORIES)
        return NULL;
    struct provider_memory *memory = &reading->provider->memories[slot];
    if (memory->at && bytes <= memory->bytes)
        return memory->at;
    char *grown = calloc(1, bytes ? bytes : 1);
    if (!grown) {
        reading->provider->failed = true;
        return NULL;
    }
    copy_used(grown, memory->at, memory->bytes);
    free(memory->at);
    memory->at = grown;
    memory->bytes = bytes;
    return grown;
}

void memories_done(opl_provider *provider)
{
    for (size_t i = 0; i < OBJECT_MEMORIES; i++)
        free(provider->memories[i].at);
}

/* ---- inodes: how many files a file system can have, and how many more it can take ---- */

/* An archived tree (OPENPERFLIB_SYSROOT) has the counts in a file "statfs.inodes", with a line for
 * each file system: all inodes, free ones, and the mount point. */
static const opl_source archive = {"statfs.inodes"};

static bool inodes_of_archive(opl_reading *reading, const char *path, uint64_t *ret_all,
                              uint64_t *ret_free)
{
    struct source *source = source_of(reading->provider, &archive);
    if (!source || source_load(reading, source))
        return false;
    for (const char *line = source->text; *line; line = opl_next_line(line)) {
        *ret_all = text_number(&line);
        line += strspn(line, " ");
        *ret_free = text_number(&line);
        line += strspn(line, " ");
        if (strcspn(line, "\n") == strlen(path) && strncmp(line, path, strlen(path)) == 0)
            return *ret_all > 0;
    }
    return false;
}

bool opl_reading_inodes(opl_reading *reading, const char *path, uint64_t *ret_all,
                        uint64_t *ret_free)
{
    struct statfs now;
    if (!reading->provider->live)
        return inodes_of_archive(reading, path, ret_all, ret_free);
    if (statfs(path, &now) != 0)
        return false;
    *ret_all = (uint64_t)now.f_files;
    *ret_free = (uint64_t)now.f_ffree;
    return *ret_all > 0;
}

/* ---- names ---- */

/* Makes the names of instances from the system's names. (docs/windows/providers.md#d6) */

static bool is_ordinary(unsigned c)
{
    static const uint64_t special =
        0xffffffff | 1ull << '(' | 1ull << ')' | 1ull << '#' | 1ull << '*' | 1ull << '/';
    return c < 64 ? !(special >> c & 1) : c != '\\';
}

/* Returns the replacement for `c`, a byte of UTF-8 or a unit of UTF-16; most stay as they are. */
static unsigned sanitized(unsigned c, bool is_path)
{
    if (is_ordinary(c) || (is_path && c == '/'))
        return c;
    return c == '(' ? '[' : c == ')' ? ']' : '_';
}

/* Returns how many bytes to keep of a name that is too long, so that no character is cut. */
static size_t whole_characters(const char *name, size_t bytes)
{
    size_t whole = bytes;
    while (whole > 0 && bytes - whole < 3 && ((unsigned char)name[whole] & 0xc0) == 0x80)
        whole--;
    /* a name that is not UTF-8 keeps all its bytes */
    return ((unsigned char)name[whole] & 0xc0) == 0x80 ? bytes : whole;
}

size_t opl_sanitize_name(char *to, size_t capacity, const char *name, size_t bytes, bool is_path)
{
    if (capacity == 0)
        return 0;
    if (bytes >= capacity)
        bytes = whole_characters(name, capacity - 1);
    for (size_t i = 0; i < bytes; i++)
        to[i] = (char)sanitized((unsigned char)name[i], is_path);
    to[bytes] = 0;
    return bytes;
}

void name_sanitize(uint16_t *units, size_t count)
{
    for (size_t i = 0; i < count; i++)
        units[i] = (uint16_t)sanitized(units[i], false);
}

static bool is_octal(const char *word, size_t bytes)
{
    return bytes >= 4 && word[0] == '\\' && word[1] >= '0' && word[1] <= '3' && word[2] >= '0' &&
           word[2] <= '7' && word[3] >= '0' && word[3] <= '7';
}

size_t opl_octal_name(char *to, size_t capacity, const char *word, size_t bytes)
{
    size_t used = 0;
    if (capacity == 0)
        return 0;
    for (size_t at = 0; at < bytes && used + 1 < capacity; used++)
        if (is_octal(word + at, bytes - at)) {
            to[used] =
                (char)((word[at + 1] - '0') * 64 + (word[at + 2] - '0') * 8 + word[at + 3] - '0');
            at += 4;
        } else {
            to[used] = word[at++];
        }
    to[used] = 0;
    return used;
}
