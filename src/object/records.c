/* SPDX-License-Identifier: MIT */
/*
 * Reads binary records from the kernel. A BPF iterator that an administrator has pinned is a file;
 * reading it returns the present state of all tasks. The file is used only if no user but root can
 * have put it there, and if proc shows the same processes.
 */
#include "object/object.h"
#include "registry/registry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#ifndef BPF_FS_MAGIC
#define BPF_FS_MAGIC 0xcafe4a11
#endif
enum { OTHERS_MAY_WRITE = 022, FIRST_SIZE = 1 << 18, FEW_TIMES = 16 };

static bool trace_reason(struct records *records, const char *why)
{
    if (records->reported != why)
        trace("object", "records \"%s\" are not used: %s", records->is->name, why);
    records->reported = why;
    return false;
}

static void report_used(struct records *records)
{
    static const char used[] = "used";
    if (records->reported != used)
        trace("object", "records \"%s\" are used: /%s/%s, %zu bytes", records->is->name,
              OPL_RECORDS_FOLDER, records->is->name, records->length);
    records->reported = used;
}

/* ---- checks ---- */

/* True if the administrator has switched records off. The registry is read again only when it has
 * changed. */
static bool is_switched_off(opl_provider *provider)
{
    uint64_t generation = registry_generation();
    if (!provider->switch_known || provider->switch_generation != generation) {
        uint32_t setting = 1;
        registry_get_dword(REGISTRY_PERFLIB, "Kernel Records", &setting);
        provider->switched_off = setting == 0;
        provider->switch_generation = generation;
        provider->switch_known = true;
    }
    return provider->switched_off;
}

/* True if this proc shows our pid namespace. NSpid lists one number for each namespace from that of
 * proc down to ours: a single one means that both are the same. */
static bool proc_is_ours(opl_provider *provider)
{
    char text[4096];
    int fd = source_openat(provider_root(provider), "proc/self/status", O_RDONLY);
    if (fd < 0)
        return false;
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    text[length > 0 ? length : 0] = 0;
    const char *line = strstr(text, "\nNSpid:");
    if (!line)
        return length > 0; /* true: a kernel without pid namespaces has no line NSpid */
    char *end;
    unsigned long number = strtoul(line + strlen("\nNSpid:"), &end, 10);
    return *end == '\n' && number == (unsigned long)getpid();
}

static bool proc_shows_us(opl_provider *provider)
{
    if (provider->proc_known_for != provider->pid) {
        provider->proc_is_ours = proc_is_ours(provider);
        provider->proc_known_for = provider->pid;
    }
    return provider->proc_is_ours;
}

static bool is_roots(const struct stat *file)
{
    return file->st_uid == 0 && !(file->st_mode & OTHERS_MAY_WRITE);
}

/* Returns why the opened file is not trusted; NULL: it is trusted. */
static const char *why_not_trusted(int fd)
{
    struct stat file;
    struct statfs system;
    if (fstatfs(fd, &system) != 0 || (uint32_t)system.f_type != BPF_FS_MAGIC)
        return "the file is not in a BPF file system";
    if (fstat(fd, &file) != 0 || !is_roots(&file))
        return "the file does not belong to root, or others may write it";
    return NULL;
}

static const char *why_not_opened(int error)
{
    if (error == ENOENT || error == ENOTDIR)
        return "nothing is pinned; run openperflib-bpf pin";
    return error == EACCES || error == EPERM ? "this user may not read them"
                                             : "they cannot be opened";
}

/* Returns why records cannot be used at all; NULL: nothing forbids it. If nothing is pinned, this
 * costs one stat. */
static const char *why_none(opl_provider *provider)
{
    struct stat folder;
    if (!provider->live)
        return "OPENPERFLIB_SYSROOT is not /, and the records are those of the running system";
    if (fstatat(provider_root(provider), OPL_RECORDS_FOLDER, &folder, 0) != 0)
        return why_not_opened(errno);
    if (!is_roots(&folder))
        return "the folder does not belong to root, or others may write it";
    if (is_switched_off(provider))
        return "\"Kernel Records\" of Perflib is 0";
    return proc_shows_us(provider) ? NULL : "proc is of another pid namespace";
}

/* Opens the file; the records are those of this moment. -1: the file cannot be used, and the reason
 * was traced. */
static int records_open(opl_provider *provider, struct records *records)
{
    char path[OBJECT_MAX_PATH];
    const char *why = why_none(provider);
    if (why)
        return trace_reason(records, why), -1;
    snprintf(path, sizeof path, "%s/%s", OPL_RECORDS_FOLDER, records->is->name);
    int fd = source_openat(provider_root(provider), path, O_RDONLY);
    if (fd < 0)
        return trace_reason(records, why_not_opened(errno)), -1;
    why = why_not_trusted(fd);
    if (!why)
        return fd;
    close(fd);
    return trace_reason(records, why), -1;
}

/* ---- reading the records ---- */

static bool records_grow(opl_provider *provider, struct records *records)
{
    size_t capacity = records->capacity ? records->capacity * 2 : FIRST_SIZE;
    unsigned char *grown = realloc(records->bytes, capacity);
    if (!grown) {
        provider->failed = true;
        return false;
    }
    records->bytes = grown;
    records->capacity = capacity;
    return true;
}

/* Checks the complete records from *at on, and moves *at past them. This function is called after
 * each read, while the bytes are still in the processor's cache. Returns what is wrong with them;
 * NULL: nothing. */
static const char *records_fault(const struct records *records, size_t *at)
{
    DWORD head[2];
    while (records->length - *at >= sizeof head) {
        memcpy(head, records->bytes + *at, sizeof head);
        if (head[0] != records->is->version)
            return "they are of another version; run openperflib-bpf pin";
        if (head[1] < records->is->least || head[1] < sizeof head || head[1] % 8)
            return "a record has a wrong length";
        if (head[1] > records->length - *at)
            break;
        *at += head[1];
    }
    return NULL;
}

/* Reads all records. One read returns only as much as fits into the kernel's own buffer, or fails
 * with EAGAIN if the kernel had to skip many tasks, so reads are repeated. Returns what is wrong
 * with the records; NULL: nothing. */
static const char *records_read(opl_provider *provider, struct records *records, int fd)
{
    const char *fault = NULL;
    unsigned again = 0;
    size_t at = 0;
    memory_populate(records->bytes, records->length); /* the size of the last collection */
    records->length = 0;
    while (!fault) {
        if (records->length == records->capacity && !records_grow(provider, records))
            return "there is no memory for them";
        ssize_t count =
            read(fd, records->bytes + records->length, records->capacity - records->length);
        if (count == 0)
            break;
        if (count > 0)
            records->length += (size_t)count;
        else if ((errno != EINTR && errno != EAGAIN) || ++again > FEW_TIMES)
            return "they cannot be read";
        fault = records_fault(records, &at);
    }
    if (!fault && at != records->length)
        fault = "a record is cut off";
    return fault || records->length ? fault : "there are no records";
}

static struct records *records_of(opl_provider *provider, const opl_records *is)
{
    for (size_t i = 0; i < OBJECT_RECORDS; i++) {
        struct records *records = &provider->records[i];
        if (!records->is)
            records->is = is;
        if (records->is == is)
            return records;
    }
    return NULL;
}

bool opl_listing_records(opl_listing *listing, const opl_records *is, const void **ret,
                         size_t *ret_bytes)
{
    opl_provider *provider = listing->provider;
    struct records *records = records_of(provider, is);
    if (!records || provider->opening) /* during Open the files are read, because they show which
                                        * rows exist */
        return false;
    int fd = records_open(provider, records);
    if (fd < 0)
        return false;
    const char *fault = records_read(provider, records, fd);
    close(fd);
    if (fault)
        return trace_reason(records, fault);
    report_used(records);
    *ret = records->bytes;
    *ret_bytes = records->length;
    return true;
}

void records_unused(const struct records *records)
{
    memory_unused(records->bytes, records->capacity);
}

void records_done(struct records *records)
{
    free(records->bytes);
}
