/* SPDX-License-Identifier: MIT */
/* Names of a set's files, and which of them are deleted. */
#include "runner.h"

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

/* Is `name` a file of the set? `base` is the set's name of files without version and extension.
 * *ret_number is the number of its version, or 0. */
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
            *ret_number = (uint32_t)strtoul(name + 1, NULL, 10);
        name += 1 + digits;
        if (digits == DATE_DIGITS && *name == '-' && isdigit((unsigned char)name[1]))
            name += 1 + strspn(name + 1, "0123456789");
    }
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
        if (strcmp(name, extensions[i]) == 0)
            return true;
    return false;
}

/* ---- the next name ---- */

/* Returns the number after the largest one of the set's files, at least set->serial. */
static uint32_t next_number(const struct set *set, char *base)
{
    char *copy = strdup(base), *name = strrchr(base, '/') + 1;
    DIR *folder = copy ? opendir(dirname(copy)) : NULL;
    uint32_t next = set->serial ? (uint32_t)set->serial : 1, number;
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (is_file_of(entry->d_name, name, &number) && number >= next)
            next = number + 1;
    if (folder)
        closedir(folder);
    free(copy);
    return next;
}

/* Returns the name with month, day, hour and minute; a second file of the same minute has a further
 * number. */
static char *dated_name(const char *base, const char *extension)
{
    char *path = NULL, date[DATE_DIGITS + 1], more[16] = "";
    time_t now = time(NULL);
    struct tm parts;
    strftime(date, sizeof date, "%m%d%H%M", localtime_r(&now, &parts));
    for (unsigned i = 2; i < 100000; i++) {
        if (asprintf(&path, "%s_%s%s.%s", base, date, more, extension) < 0)
            return NULL;
        if (access(path, F_OK) != 0)
            break;
        free(path);
        path = NULL;
        snprintf(more, sizeof more, "-%u", i);
    }
    return path;
}

char *files_next(const struct active *active)
{
    const struct set *set = active->runner->set;
    const struct collector *collector = active->collector;
    FREE_AUTO char *base = base_of(active);
    const char *end = extension(collector);
    if (!base)
        return NULL;
    if (collector->version == VERSION_MONTH_DAY_HOUR_MINUTE)
        return dated_name(base, end);
    /* several files need different names, even if no version was asked for */
    if (collector->version == VERSION_NUMBER || set->segment || set->new_file)
        return text_format("%s_%0*u.%s", base, NUMBER_DIGITS, next_number(set, base), end);
    return text_format("%s.%s", base, end);
}

void files_share(const struct runner *runner, const char *path)
{
    const struct group *group = runner->user ? NULL : getgrnam("openperflib");
    if (group && geteuid() == 0)
        (void)!chown(path, (uid_t)-1, group->gr_gid);
}

/* ---- deleting ---- */

struct old_file {
    char *path;
    time_t changed;
};

static int by_time(const void *left, const void *right)
{
    time_t one = ((const struct old_file *)left)->changed,
           other = ((const struct old_file *)right)->changed;
    return one < other ? -1 : one > other;
}

/* Lists the collector's files, oldest first, without the current one. */
static size_t list_files(const struct active *active, const char *folder, const char *name,
                         struct old_file **ret)
{
    size_t count = 0;
    uint32_t number;
    DIR *open = opendir(folder);
    for (struct dirent *entry; open && (entry = readdir(open));) {
        struct stat st;
        char *path = NULL;
        struct old_file *grown = NULL;
        if (is_file_of(entry->d_name, name, &number) &&
            asprintf(&path, "%s/%s", folder, entry->d_name) > 0 && lstat(path, &st) == 0 &&
            S_ISREG(st.st_mode) && !(active->file && strcmp(path, active->file) == 0))
            grown = reallocarray(*ret, count + 1, sizeof *grown);
        if (!grown) {
            free(path);
            continue;
        }
        *ret = grown;
        grown[count++] = (struct old_file){path, st.st_mtime};
    }
    if (open)
        closedir(open);
    if (count)
        qsort(*ret, count, sizeof **ret, by_time);
    return count;
}

static bool is_too_full(const char *folder, double percent)
{
    struct statvfs disk;
    return percent > 0 && statvfs(folder, &disk) == 0 && disk.f_blocks &&
           (double)disk.f_bavail < (double)disk.f_blocks * percent / 100;
}

void files_clean(const struct active *active)
{
    const struct set *set = active->runner->set;
    FREE_AUTO char *base = base_of(active);
    char *slash = base ? strrchr(base, '/') : NULL;
    struct old_file *files = NULL;
    if (!slash || !(set->retention || set->keep_free > 0))
        return;
    *slash = 0;
    size_t count = list_files(active, base, slash + 1, &files);
    for (size_t i = 0; i < count; free(files[i++].path)) {
        bool old = set->retention && files[i].changed < time(NULL) - (time_t)set->retention;
        if (old || is_too_full(base, set->keep_free))
            unlink(files[i].path);
    }
    free(files);
}
