/* SPDX-License-Identifier: MIT */
/*
 * All captures of a set of logman, read as one. A set has hundreds of files, so only the beginning
 * of each is read when the set is opened: its first time and its columns. The files are in the
 * order of these times. A file is opened when reading comes to its first time, and closed at its
 * end.
 */
#include "base/base.h"
#include "log/formats/zst.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    /* bytes of a capture that are read to find its first time: twice as many until it is there; of
     * a BLG, the first 64 KiB have the catalogue */
    HEAD_BYTES = 128 << 10,
    LONG_HEAD_BYTES = 1 << 20,
    INPUT_BYTES = 16 << 10, /* bytes of a compressed file that are read at once */
    NEWEST = 8, /* number of the last files that stay open at their end, because they may grow */
    /* files of each series that begin before a range and are read for it: more than one, because
     * the files overlap after the clock was set back */
    EARLIER = 2
};

/* ---- the names ---- */

static bool is_capture(const char *name)
{
    static const char *const ends[] = {".blg", ".blg.zst", ".csv", ".tsv"};
    size_t length = strlen(name);
    for (size_t i = 0; i < COUNT(ends); i++)
        if (*name != '.' && length > strlen(ends[i]) &&
            strcmp(name + length - strlen(ends[i]), ends[i]) == 0)
            return true;
    return false;
}

/* Returns a hash of the file's name without number and extension. Files with the same hash have the
 * same counters; each was written after the one before. */
static uint64_t series_of(const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    size_t length = strcspn(name, ".");
    while (length && strchr("0123456789-_", name[length - 1]))
        length--;
    return text_hash_fold(name, length);
}

static uint64_t catalogue_of(const struct file *file)
{
    uint64_t hash = file->mapped;
    for (size_t i = 0; i < file->mapped; i++)
        hash = (hash ^ file->map[i]) * UINT64_C(1099511628211);
    return hash;
}

/* When a file or folder was changed last; 0: it is missing. */
static struct timespec changed(const char *path)
{
    struct stat st = {0};
    return stat(path, &st) ? (struct timespec){0} : st.st_mtim;
}

/* Notes a change after which the set must be opened again. */
static bool add_stamp(struct log_set *set, const char *path, struct timespec when)
{
    struct set_stamp *stamps = reallocarray(set->stamps, set->stamp_count + 1, sizeof *stamps);
    if (!stamps)
        return false;
    set->stamps = stamps;
    stamps[set->stamp_count] = (struct set_stamp){strdup(path), when};
    return stamps[set->stamp_count++].path;
}

bool captures_are_current(const struct log *log)
{
    for (size_t i = 0; log->set && i < log->set->stamp_count; i++) {
        const struct set_stamp *stamp = &log->set->stamps[i];
        struct timespec now = changed(stamp->path);
        if (now.tv_sec != stamp->changed.tv_sec || now.tv_nsec != stamp->changed.tv_nsec)
            return false;
    }
    return true;
}

static bool add_name(struct log_set *set, const char *folder, const char *name)
{
    struct set_file *files = reallocarray(set->files, set->count + 1, sizeof *files);
    if (!files)
        return false;
    set->files = files;
    files[set->count] = (struct set_file){.path = text_format("%s/%s", folder, name)};
    return files[set->count++].path;
}

/* While a compressed file replaces a BLG both may be there: only the BLG is read then. */
static bool is_doubled(const char *folder, const char *name)
{
    const char *end = strstr(name, ".zst");
    FREE_AUTO char *plain = end ? text_format("%s/%.*s", folder, (int)(end - name), name) : NULL;
    return plain && access(plain, F_OK) == 0;
}

/* True if the name is that of a file of a collector that records to `begin`: after it follows a
 * version or the extension. */
static bool is_of(const char *name, const char *begin)
{
    size_t length = strlen(begin);
    bool same = strncmp(name, begin, length) == 0;
    return same && (name[length] == '.' ||
                    (name[length] == '_' && strspn(name + length + 1, "0123456789") > 0));
}

/* Adds the captures in a folder; in one that the user has named, only those of the collectors,
 * because others may be there. `begins`: how their names begin; NULL: all are the set's. */
static bool list_folder(struct log_set *set, const char *folder, const char *const *begins)
{
    bool good = add_stamp(set, folder, changed(folder));
    DIR *directory = opendir(folder);
    if (!directory && errno == EACCES && !set->denied)
        set->denied = strdup(folder);
    for (struct dirent *entry; directory && good && (entry = readdir(directory));) {
        bool own = !begins;
        for (size_t i = 0; begins && begins[i]; i++)
            own |= is_of(entry->d_name, begins[i]);
        if (own && is_capture(entry->d_name) && !is_doubled(folder, entry->d_name))
            good = add_name(set, folder, entry->d_name);
    }
    if (directory)
        closedir(directory);
    return good;
}

/* Cuts the text of the next element of this name out of the XML that logman has written, and moves
 * *xml behind it. NULL: there are no more. */
static char *next_element(char **xml, const char *begin, const char *end)
{
    static const char *const entities[] = {"&lt;<", "&gt;>", "&quot;\"", "&amp;&"};
    char *text = strstr(*xml, begin), *stop = text ? strstr(text, end) : NULL, *to;
    if (!stop)
        return NULL;
    *xml = stop + strlen(end);
    *stop = 0;
    to = text += strlen(begin);
    for (const char *from = text; *from; to++) {
        *to = *from++;
        for (size_t i = 0; i < COUNT(entities) && *to == '&'; i++) {
            size_t length = strlen(entities[i]) - 1;
            if (strncmp(from - 1, entities[i], length) == 0) {
                *to = entities[i][length];
                from += length - 1;
                break;
            }
        }
    }
    *to = 0;
    return text;
}

/* Adds the captures that the set records to a folder of the user (-o). */
static bool list_elsewhere(struct log_set *set, bool user, const char *name)
{
    enum { MOST = 1 << 20, COLLECTORS = 64 };
    BUFFER_AUTO bytes = {0};
    const char *begins[COLLECTORS + 1] = {0};
    size_t count = 0;
    FREE_AUTO char *path = set_path(user, name, PLACE_SET);
    if (!path)
        return true;
    if (!add_stamp(set, path, changed(path)))
        return false;
    if (file_read_most(AT_FDCWD, path, MOST, &bytes) || !bytes.len)
        return true;
    char *at = bytes.data, *file;
    const char *folder = next_element(&at, "<RootPath>", "</RootPath>");
    while (folder && count < COLLECTORS && (file = next_element(&at, "<FileName>", "</FileName>")))
        begins[count++] = *file ? file : name;
    if (!count)
        begins[count++] = name;
    return !folder || *folder != '/' || list_folder(set, folder, begins);
}

static bool list_captures(struct log_set *set, bool user, const char *name)
{
    FREE_AUTO char *folder = set_path(user, name, PLACE_CAPTURES);
    if (!folder)
        return user; /* without a home, as in a unit of systemd, a user has no sets */
    return list_folder(set, folder, NULL) && list_elsewhere(set, user, name);
}

/* Lists the captures of the set, if the name says whose it is. Else lists those of this user's set,
 * or if the user has no set of that name and no captures of one, those of the system's. Root's sets
 * are those of the system, as for logman. */
static bool find_captures(struct log_set *set, const char *name)
{
    set->own = geteuid() != 0;
    const char *bare = set_owner(name, &set->own);
    if (!list_captures(set, set->own, bare))
        return false;
    FREE_AUTO char *file = set_path(set->own, bare, PLACE_SET);
    set->made = file && access(file, F_OK) == 0;
    if (set->count || set->made || bare != name)
        return true;
    set->own = !set->own;
    return list_captures(set, set->own, bare);
}

static bool is_set(const char *name)
{
    bool user = false;
    const char *bare = set_owner(name, &user);
    bool both = bare == name, found = strcmp(bare, "base") == 0;
    for (int i = 0; i < 4; i++) {
        bool own = i < 2;
        FREE_AUTO char *path = set_path(own, bare, i % 2 ? PLACE_CAPTURES : PLACE_SET);
        found |= (both || own == user) && path && access(path, F_OK) == 0;
    }
    return found;
}

bool captures_are_meant(const char *name)
{
    return *name && *name != '.' && strcmp(name, "-") != 0 && !strchr(name, '/') &&
           access(name, F_OK) != 0 && errno == ENOENT && is_set(name);
}

bool log_captures_folder(const char *name, char *ret, size_t capacity, bool *ret_own)
{
    struct log_set *set = captures_are_meant(name) ? calloc(1, sizeof *set) : NULL;
    bool found = set && find_captures(set, name) && set->count;
    if (found) {
        const char *path = set->files[0].path;
        snprintf(ret, capacity, "%.*s", (int)(strrchr(path, '/') - path), path);
        *ret_own = set->own;
    }
    captures_free(set);
    return found;
}

/* ---- the beginning of each file ---- */

/* Opens a capture of the set; -1: `why` has the reason. A program that may write into the folder
 * can put a pipe there, which must not block the reader. */
static int open_capture(const char *path, struct stat *st, struct buffer *why)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    int error = fd < 0 || fstat(fd, st) ? errno : 0;
    const char *kind = error ? file_kind(path) : file_kind_of(st);
    if (!error && !kind)
        return fd;
    buffer_printf(why, "%s: %s", path, kind ? kind : status_text(status_from_errno(error)));
    if (fd >= 0)
        close(fd);
    return -1;
}

struct heads {
    char packed[INPUT_BYTES], bytes[LONG_HEAD_BYTES];
    size_t got; /* bytes of the present file */
    bool is_packed;
    uint64_t at; /* bytes that were read of its compressed form */
    ZSTD_inBuffer input;
    ZSTD_DCtx *context; /* NULL: not needed yet */
};

/* Decompresses more of the beginning of a file, up to `size` bytes. The checksum of a frame is
 * compared only when the file is opened. */
static void read_packed_head(int fd, struct heads *heads, size_t size)
{
    const struct zst_library *library = zst_library();
    if (library && !heads->context)
        heads->context = library->createDCtx();
    if (!heads->context)
        return;
    if (!heads->at)
        library->DCtx_reset(heads->context, ZSTD_reset_session_only);
    ZSTD_outBuffer output = {heads->bytes, size, heads->got};
    size_t more = 1;
    while (more && !library->isError(more) && output.pos < output.size) {
        if (heads->input.pos == heads->input.size) {
            size_t count = read_at(fd, heads->packed, INPUT_BYTES, heads->at);
            heads->input = (ZSTD_inBuffer){heads->packed, count, 0};
            heads->at += count;
        }
        if (!heads->input.size)
            break;
        more = library->decompressStream(heads->context, &output, &heads->input);
    }
    heads->got = output.pos;
}

/* Reads more of the beginning of the capture in a file, up to `size` bytes. False: there is no
 * more. */
static bool read_head(int fd, struct heads *heads, size_t size)
{
    size_t before = heads->got;
    if (!before) {
        heads->at = 0;
        heads->input = (ZSTD_inBuffer){0};
        heads->is_packed =
            zst_matches((const unsigned char *)heads->bytes, read_at(fd, heads->bytes, 4, 0));
    }
    if (heads->is_packed)
        read_packed_head(fd, heads, size);
    else
        heads->got += read_at(fd, heads->bytes + before, size - before, before);
    return heads->got > before;
}

static void keep_facts(struct log *log, const struct file *file)
{
    struct log_set *set = log->set;
    const struct log_facts *facts = &file->facts;
    log->facts = *facts;
    snprintf(set->zone, sizeof set->zone, "%s", facts->zone ? facts->zone : "");
    log->facts.zone = set->zone;
    if (facts->zone_rule)
        log->facts.zone_rule = memcpy(set->zone_rule, facts->zone_rule, sizeof set->zone_rule);
    log->facts.caption = NULL;
}

/* Opens the file as far as its first sample. False: it has none; `why` has the reason, or is empty
 * if it has only no sample yet. */
static bool read_first(struct log *log, struct file *file, LSTATUS opened, struct buffer *why)
{
    PDH_STATUS status = log_open_file(log, file, opened);
    bool found = !status && file->pending;
    buffer_clear(why);
    if (!found && (status || (DWORD)file->ended != PDH_NO_MORE_DATA || file->problem.len))
        buffer_add_text(why, file->problem.len ? file->problem.data : "cannot be read");
    return found;
}

/* Finds the first sample of a file in its first bytes, or else in all of it. */
static bool find_first(struct log *log, const char *path, int fd, struct heads *heads,
                       struct file *file, struct buffer *why)
{
    static const struct file blind = {
        .stream = {.fd = -1, .pipe = -1},
          .blind = true, .glance = true
    };
    heads->got = 0;
    for (size_t size = HEAD_BYTES; size <= LONG_HEAD_BYTES && read_head(fd, heads, size);
         size *= 2) {
        *file = blind;
        LSTATUS opened = stream_lend(&file->stream, heads->bytes, heads->got, path);
        if (read_first(log, file, opened, why))
            return true;
        file_done(file);
    }
    *file = blind;
    int other = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return other >= 0 && read_first(log, file, stream_open(&file->stream, other, path), why);
}

/* Finds the first time and the columns of a file. False: it cannot be read, or if `why` is empty it
 * has no sample yet. */
static bool peek(struct log *log, struct set_file *entry, struct heads *heads, struct buffer *why)
{
    struct stat st;
    struct file file = {0};
    buffer_clear(why);
    int fd = open_capture(entry->path, &st, why);
    if (fd < 0)
        return false;
    bool found = st.st_size && find_first(log, entry->path, fd, heads, &file, why);
    close(fd);
    entry->first = file.sample.time;
    entry->size = (uint64_t)st.st_size;
    entry->series = series_of(entry->path);
    entry->catalogue = catalogue_of(&file);
    if (found && entry->first >= log->set->newest) {
        log->set->newest = entry->first;
        keep_facts(log, &file);
    }
    if (st.st_size)
        file_done(&file);
    return found;
}

static int compare_files(const void *left, const void *right)
{
    const struct set_file *a = left, *b = right;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return strcmp(a->path, b->path);
}

/* Leaves out files that have no sample yet, and counts those that cannot be read. */
void captures_add_lost(struct log_losses *losses, const char *path, const char *why)
{
    losses_add(losses, LOSS_FILE, 1, "%s", (why ? why : path) + (strrchr(path, '/') + 1 - path));
}

static PDH_STATUS peek_all(struct log *log)
{
    struct log_set *set = log->set;
    size_t kept = 0;
    BUFFER_AUTO why = {0};
    struct heads *heads = malloc(sizeof *heads);
    if (!heads)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    heads->context = NULL;
    for (size_t i = 0; i < set->count; i++) {
        struct set_file entry = set->files[i];
        struct timespec when = changed(entry.path);
        if (peek(log, &entry, heads, &why)) {
            set->files[kept++] = entry;
            continue;
        }
        if (why.len)
            captures_add_lost(&set->skipped, entry.path, why.data);
        else
            add_stamp(set, entry.path, when);
        free(entry.path);
    }
    if (heads->context)
        zst_library()->freeDCtx(heads->context);
    free(heads);
    set->count = kept;
    if (kept)
        qsort(set->files, kept, sizeof *set->files, compare_files);
    return 0;
}

/* Adds that there are no captures, and what to do. */
static void add_nothing(const struct log_set *set, const char *system, struct buffer *out)
{
    bool user = true, mine = set->own && set->made;
    bool other =
        mine && set_owner(set->name, &user) == set->name && system && access(system, F_OK) == 0;
    struct event_last refused;
    if (!place_machine() && event_last("OPENPERFLIB_ROOT", &refused))
        buffer_add_text(out, refused.text);
    else
        buffer_printf(out, "nothing was recorded%s: start it with `logman start %s`%s%s",
                      mine ? " by this user's set" : "", set->name,
                      other ? "; the system's is system:" : "", other ? set->name : "");
}

/* Returns the status of a set without samples. Adds the reason to `problem`, unless it is NULL. */
static PDH_STATUS explain_nothing(const struct log_set *set, struct buffer *problem)
{
    BUFFER_AUTO unused = {0};
    bool user;
    FREE_AUTO char *system = set_path(false, set_owner(set->name, &user), PLACE_CAPTURES);
    struct buffer *out = problem ? problem : &unused;
    losses_print(&set->skipped, out);
    buffer_printf(out, "%s%s: ", out->len ? "\n" : "", set->name);
    if (set->denied) {
        buffer_printf(out, "the captures in %s cannot be read: access denied", set->denied);
        if (system && strcmp(set->denied, system) == 0)
            buffer_add_text(out, "; only root and the members of the group openperflib may read "
                                 "the system's captures");
        return (PDH_STATUS)PDH_ACCESS_DENIED;
    }
    if (set->skipped.any)
        buffer_add_text(out, "none of its captures can be read");
    else
        add_nothing(set, system, out);
    return (PDH_STATUS)PDH_NO_DATA;
}

PDH_STATUS captures_open(const char *name, struct log **ret, struct buffer *problem)
{
    struct log *log = calloc(1, sizeof *log);
    struct log_set *set = log ? log->set = calloc(1, sizeof *set) : NULL;
    bool good = set && (set->name = strdup(name)) && find_captures(set, name);
    PDH_STATUS status = good ? peek_all(log) : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    if (!status && !set->count)
        status = explain_nothing(set, problem);
    if (!status && !log_make_files(log, set->count))
        status = (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    if (status) {
        log_close(log);
        return status;
    }
    log->file_count = set->count;
    log->facts.name = set->name;
    log->facts.machine = log->columns.count ? log->columns.list[0]->info.machine : NULL;
    captures_rewind(log);
    *ret = log;
    return 0;
}

void captures_free(struct log_set *set)
{
    for (size_t i = 0; set && i < set->count; i++)
        free(set->files[i].path);
    for (size_t i = 0; set && i < set->stamp_count; i++)
        free(set->stamps[i].path);
    if (set) {
        free(set->stamps);
        free(set->files);
        free(set->denied);
        free(set->name);
    }
    free(set);
}

/* ---- opening and closing files ---- */

static void close_file(struct log *log, size_t number)
{
    struct file *file = &log->files[number];
    file_done(file);
    *file = (struct file){
        .log = log, .stream = {.fd = -1, .pipe = -1},
             .ended = (PDH_STATUS)PDH_NO_MORE_DATA
    };
}

PDH_STATUS captures_open_file(struct log *log, size_t number)
{
    struct file *file = &log->files[number];
    const char *path = log->set->files[number].path;
    file_done(file);
    *file = (struct file){
        .stream = {.fd = -1, .pipe = -1}
    };
    struct stat st;
    BUFFER_AUTO why = {0};
    int fd = open_capture(path, &st, &why);
    PDH_STATUS status = fd < 0 ? (PDH_STATUS)PDH_LOG_FILE_OPEN_ERROR
                               : log_open_file(log, file, stream_open(&file->stream, fd, path));
    if (!status && (log->from || log->until)) { /* starts again, with the sections known */
        status = file_mark(file);
        if (!status)
            status = file->format->rewind(file);
        file->pending = false;
        file->ended = 0;
    }
    if (status) {
        captures_add_lost(&log->losses, path, fd < 0 ? why.data : file->problem.data);
        close_file(log, number);
    }
    return status;
}

void captures_close_file(struct log *log, size_t number)
{
    close_file(log, number);
}

/* True if the range needs this file: it begins in the range, or is one of the last of its series
 * that begin before it. */
static bool is_in_range(const struct log *log, size_t number)
{
    const struct log_set *set = log->set;
    LONGLONG first = set->files[number].first;
    size_t later = 0;
    if (log->until && first > log->until + MERGE_SPAN)
        return false;
    for (size_t i = number + 1;
         i < set->count && log->from && set->files[i].first <= log->from && later < EARLIER; i++)
        later += set->files[i].series == set->files[number].series;
    return later < EARLIER;
}

void captures_rewind(struct log *log)
{
    struct log_set *set = log->set;
    for (size_t i = 0; i < set->count; i++) {
        close_file(log, i);
        set->files[i].passed = !is_in_range(log, i);
    }
    set->next = 0;
    log->losses = set->skipped;
}

void captures_advance(struct log *log, LONGLONG time)
{
    struct log_set *set = log->set;
    for (size_t i = 0; i < set->next; i++) {
        struct file *file = &log->files[i];
        if (!file->format || file->pending || (DWORD)file->ended != PDH_NO_MORE_DATA ||
            i + NEWEST >= set->count)
            continue;
        if (file->problem.len) /* the file's last record was cut off when its writer ended */
            losses_add(&log->losses, LOSS_RECORD, 1, "%s", strrchr(file->problem.data, '/') + 1);
        close_file(log, i);
    }
    for (; set->next < set->count; set->next++) {
        if (!set->files[set->next].passed && set->files[set->next].first > time)
            return;
        if (!set->files[set->next].passed)
            captures_open_file(log, set->next);
    }
}

LONGLONG captures_next_time(const struct log *log)
{
    const struct log_set *set = log->set;
    for (size_t i = set->next; i < set->count; i++)
        if (!set->files[i].passed)
            return set->files[i].first;
    return INT64_MAX;
}
