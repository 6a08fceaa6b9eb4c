/* SPDX-License-Identifier: MIT */
/*
 * The sums of groups in a file, so that they go on after a restart of the exporter. The file holds
 * until the next boot, with which all processes end; so it is not flushed to the disk. It is
 * replaced as a whole, and a checksum detects damage.
 */
#include "groups.h"

#include "../common/options.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct head {
    char format[32], boot[40];
    uint64_t group_count, process_count, sum;
};
static const char format[32] = "openperflib process groups 1\n";

static void read_boot(char ret[static 40])
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    memset(ret, 0, 40);
    if (file && !fgets(ret, 40, file))
        *ret = '\0';
    if (file)
        fclose(file);
}

static uint64_t sum_of_table(const struct group_table *table)
{
    uint64_t sum =
        model_hash(MODEL_HASH, table->groups, table->group_count * sizeof *table->groups);
    return model_hash(sum, table->processes, table->process_count * sizeof *table->processes);
}

/* Reads the tables after the head; *ret is theirs even if they are damaged. */
static bool read_tables(FILE *file, const struct head *head, struct group_table *ret)
{
    if (head->group_count > GROUPS_MOST || head->process_count > GROUP_PROCESSES_MOST)
        return false;
    ret->group_count = head->group_count;
    ret->process_count = head->process_count;
    ret->groups = calloc(GROUPS_MOST, sizeof *ret->groups);
    ret->processes = calloc(ret->process_count + 1, sizeof *ret->processes);
    bool good =
        ret->groups && ret->processes &&
        fread(ret->groups, sizeof *ret->groups, ret->group_count, file) == ret->group_count &&
        fread(ret->processes, sizeof *ret->processes, ret->process_count, file) ==
            ret->process_count &&
        fgetc(file) == EOF && sum_of_table(ret) == head->sum;
    for (size_t i = 0; good && i < ret->group_count; i++)
        good = memchr(ret->groups[i].name, '\0', GROUP_NAME_SIZE) != NULL;
    return good;
}

/* Reads the file; of an earlier boot, nothing. False: it is damaged, or is not this user's. */
static bool read_file(FILE *file, struct group_table *ret)
{
    struct head head;
    struct stat about;
    char boot[40];
    if (fstat(fileno(file), &about) != 0 || !S_ISREG(about.st_mode) || about.st_uid != geteuid() ||
        fread(&head, sizeof head, 1, file) != 1 || memcmp(head.format, format, sizeof format) != 0)
        return false;
    read_boot(boot);
    return memcmp(head.boot, boot, sizeof boot) != 0 || read_tables(file, &head, ret);
}

void group_state_read(const char *path, struct group_table *table)
{
    struct group_table found = {0}, before = *table;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (!file && fd < 0 && errno == ENOENT)
        return;
    bool good = file && read_file(file, &found);
    if (good && found.groups) {
        *table = found;
        found = before;
    }
    if (!good)
        fprintf(stderr,
                "openperflib-serve: %s is damaged, or was not written by this user's exporter: "
                "the counters of process groups begin anew\n",
                text_seen(path));
    free(found.groups);
    free(found.processes);
    if (file)
        fclose(file);
}

bool group_state_write(const char *path, const struct group_table *table)
{
    struct head head = {.group_count = table->group_count,
                        .process_count = table->process_count,
                        .sum = sum_of_table(table)};
    char fresh[PATH_MAX];
    snprintf(fresh, sizeof fresh, "%s.new", path);
    memcpy(head.format, format, sizeof format);
    read_boot(head.boot);
    int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!file) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    fwrite(&head, sizeof head, 1, file);
    fwrite(table->groups, sizeof *table->groups, table->group_count, file);
    fwrite(table->processes, sizeof *table->processes, table->process_count, file);
    bool good = !ferror(file);
    good &= fclose(file) == 0;
    return good && rename(fresh, path) == 0;
}

bool group_state_lock(const char *path)
{
    char lock[PATH_MAX];
    snprintf(lock, sizeof lock, "%s.lock", path);
    int fd = open(lock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
        return true; /* the descriptor stays open until the program ends */
    if (fd >= 0)
        close(fd);
    return false;
}
