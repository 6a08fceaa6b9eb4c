/* SPDX-License-Identifier: MIT */
/* The names of a set's files, and the deletion and compression of old files. */
#include "runner.h"

#include "../common/options.h"

#include <openperflib/capture.h>
#include <openperflib/unstable.h>

#include <ctype.h>
#include <dirent.h>
#include <grp.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { NUMBER_DIGITS = 6, DATE_DIGITS = 8 };

static const char *extension(const struct collector *collector)
{
    return collector->format == SET_CSV ? "csv" : collector->format == SET_TSV ? "tsv" : "blg";
}

const char *set_file_name(const struct set *set, const struct collector *collector)
{
    return collector->file && *collector->file ? collector->file : set->name;
}

char *set_output(const struct set *set, const struct collector *collector, bool user)
{
    bool given = set->folder && *set->folder == '/';
    FREE_AUTO char *folder =
        given ? strdup(set->folder) : set_path(user, set->name, PLACE_CAPTURES);
    return folder ? text_format("%s/%s", folder, set_file_name(set, collector)) : NULL;
}

static char *base_of(const struct active *active)
{
    return set_output(active->runner->set, active->collector, active->runner->user);
}

/* Is `name` a file of the collector? `base` is the collector's file name without version and
 * extension. *ret_number becomes the number in the name's version; 0: it has none. */
static bool is_file_of(const char *name, const char *base, uint32_t *ret_number)
{
    static const char *const extensions[] = {".blg", ".csv", ".tsv", ".blg.zst"};
    size_t length = strlen(base);
    *ret_number = 0;
    if (strncmp(name, base, length) != 0)
        return false;
    name += length;
    if (*name == '_') {
        size_t digits = strspn(name + 1, "0123456789");
        if (digits < NUMBER_DIGITS)
            return false;
        if (digits != DATE_DIGITS)
            *ret_number = digits < 10 ? (uint32_t)strtoul(name + 1, NULL, 10) : 0;
        name += 1 + digits;
        if (digits == DATE_DIGITS && *name == '-' && isdigit((unsigned char)name[1]))
            name += 1 + strspn(name + 1, "0123456789");
    }
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
        if (strcmp(name, extensions[i]) == 0)
            return true;
    return false;
}

/* Do the file names need numbers? Yes, if there may be several files, even if no version was
 * requested. A circular file cannot be continued after an error, so a second file may follow. */
static bool is_numbered(const struct active *active)
{
    const struct set *set = active->runner->set;
    const struct collector *collector = active->collector;
    bool several =
        set->segment || set->new_file || (collector->format == SET_BINCIRC && active->files);
    return collector->version == VERSION_NUMBER || (collector->version == VERSION_NONE && several);
}

/* May the file be deleted or compressed, because the set has written it? is_file_of is true for it.
 * In the set's own folder all such files are the set's. In a folder that the user named, other
 * programs may have such files, so format and version must be those of the collector. `name`: the
 * part of the file name after the collector's name. */
static bool is_own(const struct active *active, const char *name, uint32_t number)
{
    const char *folder = active->runner->set->folder, *own = extension(active->collector);
    size_t digits = *name == '_' ? strspn(name + 1, "0123456789") : 0, length = strlen(own);
    const char *end = strchr(name, '.') + 1;
    bool dated = active->collector->version == VERSION_MONTH_DAY_HOUR_MINUTE;
    bool versioned = dated ? digits == DATE_DIGITS : is_numbered(active) ? number > 0 : !digits;
    bool same = strncmp(end, own, length) == 0 && (!end[length] || end[length] == '.');
    return !folder || *folder != '/' || (versioned && same);
}

/* ---- the files that are there ---- */

struct old_file {
    char *path;
    time_t changed;
    uint32_t number; /* of its version */
    bool closed;     /* a regular file that the set wrote and does not write any more */
};

static int by_time(const void *left, const void *right)
{
    time_t one = ((const struct old_file *)left)->changed,
           other = ((const struct old_file *)right)->changed;
    return one < other ? -1 : one > other;
}

/* Fills *ret if the collector has written a file of this name; the caller frees its path. `prefix`:
 * how the names of the collector's files begin. */
static bool read_file(const struct active *active, const char *folder, const char *name,
                      const char *prefix, struct old_file *ret)
{
    struct stat st;
    struct old_file file = {0};
    if (!is_file_of(name, prefix, &file.number))
        return false;
    file.path = text_format("%s/%s", folder, name);
    if (!file.path || lstat(file.path, &st)) {
        free(file.path);
        return false;
    }
    file.changed = st.st_mtime;
    file.closed = S_ISREG(st.st_mode) && is_own(active, name + strlen(prefix), file.number) &&
                  !(active->file && strcmp(file.path, active->file) == 0);
    *ret = file;
    return true;
}

/* Lists the collector's files, oldest first. */
static size_t list_files(const struct active *active, struct old_file **ret)
{
    size_t count = 0;
    FREE_AUTO char *base = base_of(active), *folder = base ? strdup(base) : NULL;
    const char *name = base ? strrchr(base, '/') + 1 : NULL;
    DIR *open = folder ? opendir(dirname(folder)) : NULL;
    for (struct dirent *entry; open && (entry = readdir(open));) {
        struct old_file file;
        if (!read_file(active, folder, entry->d_name, name, &file))
            continue;
        struct old_file *grown = reallocarray(*ret, count + 1, sizeof file);
        if (!grown) {
            free(file.path);
            break;
        }
        *ret = grown;
        grown[count++] = file;
    }
    if (open)
        closedir(open);
    if (count)
        qsort(*ret, count, sizeof **ret, by_time);
    return count;
}

/* ---- the next name ---- */

/* Returns the next file's number: above those of all the collector's files, at least the serial. */
static uint32_t next_number(const struct active *active)
{
    uint64_t serial = active->runner->set->serial;
    uint32_t next = serial ? (uint32_t)serial : 1;
    struct old_file *files = NULL;
    size_t count = list_files(active, &files);
    for (size_t i = 0; i < count; free(files[i++].path))
        if (files[i].number >= next)
            next = files[i].number + 1;
    free(files);
    return next;
}

bool files_exists(const char *path)
{
    FREE_AUTO char *packed = text_format("%s.zst", path);
    return access(path, F_OK) == 0 || (packed && access(packed, F_OK) == 0);
}

/* Returns base_MMDDhhmm.extension, in local time; if that file exists, with "-2" and so on. */
static char *dated_name(const char *base, const char *extension)
{
    char date[DATE_DIGITS + 1];
    time_t now = time(NULL);
    struct tm parts;
    strftime(date, sizeof date, "%m%d%H%M", localtime_r(&now, &parts));
    char *path = text_format("%s_%s.%s", base, date, extension);
    for (unsigned i = 2; path && i < 100000 && files_exists(path); i++) {
        free(path);
        path = text_format("%s_%s-%u.%s", base, date, i, extension);
    }
    return path;
}

char *files_next(const struct active *active)
{
    const struct collector *collector = active->collector;
    FREE_AUTO char *base = base_of(active);
    const char *end = extension(collector);
    if (!base)
        return NULL;
    if (collector->version == VERSION_MONTH_DAY_HOUR_MINUTE)
        return dated_name(base, end);
    if (is_numbered(active))
        return text_format("%s_%0*u.%s", base, NUMBER_DIGITS, next_number(active), end);
    return text_format("%s.%s", base, end);
}

void files_share(bool user, const char *path)
{
    const struct group *group = user ? NULL : getgrnam("openperflib");
    if (group && geteuid() == 0)
        (void)!lchown(path, (uid_t)-1, group->gr_gid);
}

/* ---- deleting and compressing ---- */

static bool is_too_full(const char *path, double percent)
{
    struct statvfs disk;
    return percent > 0 && statvfs(path, &disk) == 0 && disk.f_blocks &&
           (double)disk.f_bavail < (double)disk.f_blocks * percent / 100;
}

/* Returns for how long the clock must have been right (believed_time) before files are deleted by
 * age. */
static time_t trial_of(const struct set *set)
{
    enum { DAY = 24 * 3600 };
    return set->retention < 2 * DAY ? (time_t)set->retention / 2 : DAY;
}

/* Returns the present time for computing the age of files. A clock that is far ahead would make all
 * files old, so its time counts only if the set has a closed file that is at least `trial` old;
 * else the result is earlier. `files` are sorted by time. */
static time_t believed_time(const struct old_file *files, size_t count, time_t trial)
{
    time_t now = time(NULL), settled = 0;
    for (size_t i = 0; i < count && files[i].changed <= now - trial; i++)
        settled = files[i].closed ? files[i].changed : settled;
    return settled + trial < now ? settled + trial : now;
}

/* Returns when the file was written. If its time is in the future, because the clock was ahead,
 * returns the earliest time of a file with a higher number, which was written later. */
static time_t time_of(const struct old_file *files, size_t count, const struct old_file *file)
{
    time_t ret = file->changed;
    for (size_t i = 0; i < count && file->number && file->changed > time(NULL); i++)
        if (files[i].number > file->number && files[i].changed < ret)
            ret = files[i].changed;
    return ret;
}

void files_clean(const struct active *active)
{
    const struct set *set = active->runner->set;
    struct old_file *files = NULL;
    size_t count = set->retention || set->keep_free > 0 ? list_files(active, &files) : 0;
    time_t oldest = believed_time(files, count, trial_of(set)) - (time_t)set->retention;
    for (size_t i = 0; i < count; i++) {
        bool old = set->retention && time_of(files, count, &files[i]) < oldest;
        if (files[i].closed && (old || is_too_full(files[i].path, set->keep_free)))
            unlink(files[i].path);
    }
    for (size_t i = 0; i < count; i++)
        free(files[i].path);
    free(files);
}

void files_compress(const struct active *active)
{
    struct text_list plain = {0};
    struct old_file *files = NULL;
    size_t count = active->runner->set->compress ? list_files(active, &files) : 0;
    for (size_t i = 0; i < count; free(files[i++].path)) {
        const char *end = strrchr(files[i].path, '.');
        if (files[i].closed && end && strcmp(end, ".blg") == 0)
            text_list_add(&plain, files[i].path);
    }
    free(files);
    if (plain.count)
        command_compress(active->runner, &plain);
    text_list_done(&plain);
}

int set_compress(const char *name, char *const *files, bool quiet)
{
    int code = EXIT_GOOD;
    for (; *files; files++) {
        FREE_AUTO char *to = text_format("%s.zst", *files);
        const char *problem = "no memory";
        if (access(*files, F_OK) != 0)
            continue;
        /* opl_capture_compress has the new file on the disk before the old one is deleted */
        if (to && !opl_capture_compress(*files, to)) {
            unlink(*files);
            continue;
        }
        if (to)
            problem = opl_capture_problem();
        if (!quiet)
            event_log("PLA", 4103, name,
                      EVENT_FIELDS(EVENT_TEXT("Path", *files), EVENT_TEXT("Reason", problem)),
                      NULL);
        code = EXIT_FAILED;
        quiet = true;
    }
    return code;
}
