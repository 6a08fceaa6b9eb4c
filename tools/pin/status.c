/* SPDX-License-Identifier: MIT */
/* openperflib-bpf status: what is pinned, who may read it, and what it returns now. */
#include "pin.h"
#include "../common/options.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 128, READ_SIZE = 1 << 16, FLAGS_AT = 16, ROUGH_SIZES = 8 };

struct seen {
    uint32_t version;
    unsigned records, rough;
    bool damaged;
};

/* Counts the records in the bytes. A record begins with version, length, two numbers and flags. */
static void look_at(struct seen *seen, const unsigned char *bytes, size_t length)
{
    uint32_t head[2], flags;
    for (size_t at = 0; at < length; at += head[1]) {
        memcpy(head, bytes + at, sizeof head);
        seen->damaged = length - at < FLAGS_AT + sizeof flags ||
                        head[1] < FLAGS_AT + sizeof flags || head[1] > length - at;
        if (seen->damaged)
            return;
        memcpy(&flags, bytes + at + FLAGS_AT, sizeof flags);
        seen->version = head[0];
        seen->records++;
        seen->rough += (flags & ROUGH_SIZES) != 0;
    }
}

/* Reads the file to its end. Each read returns whole records. */
static int read_records(const char *path, struct seen *seen)
{
    static unsigned char bytes[READ_SIZE];
    ssize_t length;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return errno;
    while ((length = read(fd, bytes, sizeof bytes)) > 0)
        look_at(seen, bytes, (size_t)length);
    int error = length < 0 ? errno : 0;
    close(fd);
    return error;
}

static uint32_t own_version(void)
{
    uint32_t settings[SETTINGS] = {0};
    struct bpf_object *object = bpf_open(false);
    if (object)
        bpf_settings(object, settings);
    bpf_object__close(object);
    return settings[SETTING_VERSION];
}

static void print_owner(const char *path)
{
    struct stat file;
    if (stat(path, &file) != 0)
        return;
    const struct group *group = getgrgid(file.st_gid);
    printf(", mode %04o", (unsigned)file.st_mode & 07777);
    if (file.st_uid != 0)
        printf(", owner %u: NOT ROOT, so no program will trust it", (unsigned)file.st_uid);
    if (file.st_mode & 0040)
        printf(", group %s", group ? group->gr_name : "unknown");
}

static int print_file(const char *name)
{
    char path[PATH_SIZE];
    struct seen seen = {0};
    snprintf(path, sizeof path, BPF_FOLDER "/%s", name);
    int error = read_records(path, &seen);
    printf("%s: ", path);
    if (error == ENOENT || error == ENOTDIR) {
        printf("not pinned\n");
        return EXIT_MISSING;
    }
    if (error) {
        printf("cannot be read: %s%s\n", strerror(error),
               error == EACCES ? "; root may read it, and members of the group " BPF_GROUP
                                 " after openperflib-bpf pin --grant"
                               : "");
        return EXIT_FAILED;
    }
    bool old = seen.version != own_version();
    printf("%u records", seen.records);
    print_owner(path);
    if (seen.rough)
        printf(", memory sizes approximate");
    if (seen.damaged || old)
        printf(", of another version: openperflib-bpf pin replaces it");
    printf("\n");
    return seen.damaged || old ? EXIT_FAILED : EXIT_GOOD;
}

int bpf_status(void)
{
    int worst = EXIT_GOOD;
    if (access(BPF_TYPES, R_OK) != 0)
        printf(BPF_TYPES ": missing, nothing can be loaded\n");
    if (access(BPF_PLACE "/.", X_OK) == 0 && !bpf_is_mounted())
        printf(BPF_PLACE ": no BPF file system is mounted\n");
    for (size_t i = 0; bpf_names[i]; i++) {
        int code = print_file(bpf_names[i]);
        worst = code == EXIT_GOOD || worst == EXIT_FAILED ? worst : code;
    }
    return worst;
}
