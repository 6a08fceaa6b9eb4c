/* SPDX-License-Identifier: MIT */
/* Loading and pinning: the only place of this project that makes system calls of bpf(2). */
#include "pin.h"
#include "../common/options.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#ifndef BPF_FS_MAGIC
#define BPF_FS_MAGIC 0xcafe4a11
#endif
#define FRESH "_new" /* ending of an unfinished file; names in a BPF file system have no dot */
enum { PATH_SIZE = 128, MOST_PROCESSORS = 512 };

const char *const bpf_names[] = {"processes", "threads", NULL};

/* ---- the embedded program ---- */

/* Keeps warnings for complain_of_load; ignores libbpf's debug messages. */
static int keep_warning(enum libbpf_print_level level, const char *format, va_list list)
{
    char *text = NULL;
    if (level == LIBBPF_WARN && vasprintf(&text, format, list) >= 0)
        bpf_cause_take(text);
    free(text);
    return 0;
}

struct bpf_object *bpf_open(bool verbose)
{
    if (!verbose)
        libbpf_set_print(keep_warning);
    struct bpf_object *object = bpf_object__open_mem(bpf_tasks, bpf_tasks_bytes, NULL);
    if (!object)
        bpf_complain("the built-in program is damaged: %s", strerror(errno));
    return object;
}

static struct bpf_map *settings_map(const struct bpf_object *object, size_t *ret_bytes)
{
    struct bpf_map *map;
    bpf_object__for_each_map(map, object)
    {
        const char *name = bpf_map__name(map);
        size_t length = strlen(name), tail = strlen(".rodata");
        if (length >= tail && strcmp(name + length - tail, ".rodata") == 0 &&
            bpf_map__initial_value(map, ret_bytes))
            return map;
    }
    return NULL;
}

bool bpf_settings(const struct bpf_object *object, uint32_t settings[SETTINGS])
{
    size_t bytes = 0;
    struct bpf_map *map = settings_map(object, &bytes);
    if (!map || bytes != SETTINGS * sizeof *settings)
        return false;
    memcpy(settings, bpf_map__initial_value(map, &bytes), bytes);
    return true;
}

static bool write_settings(struct bpf_object *object, const uint32_t settings[SETTINGS])
{
    size_t bytes = 0;
    struct bpf_map *map = settings_map(object, &bytes);
    return map && bpf_map__set_initial_value(map, settings, bytes) == 0;
}

/* ---- the folder of the pinned files ---- */

bool bpf_is_mounted(void)
{
    struct statfs system;
    return statfs(BPF_PLACE, &system) == 0 && (uint32_t)system.f_type == BPF_FS_MAGIC;
}

static int find_place(bool may_mount)
{
    if (bpf_is_mounted())
        return EXIT_GOOD;
    if (access(BPF_PLACE, F_OK) != 0)
        return bpf_complain(BPF_PLACE " is missing: this kernel was built without BPF, or /sys is "
                                      "not mounted");
    if (!may_mount)
        return bpf_complain(
            "no BPF file system is mounted at " BPF_PLACE "; openperflib-bpf pin "
            "--mount mounts one, as does: mount -t bpf -o mode=0755 bpf " BPF_PLACE);
    if (mount("bpf", BPF_PLACE, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0711") != 0)
        return bpf_complain("cannot mount a BPF file system at " BPF_PLACE ": %s", strerror(errno));
    return EXIT_GOOD;
}

/* Finds the group that may read the files; *ret -1: root only. Returns an exit code. */
static int find_group(const char *name, gid_t *ret)
{
    const struct group *group = getgrnam(name ? name : BPF_GROUP);
    *ret = group ? group->gr_gid : (gid_t)-1;
    if (group || !name)
        return EXIT_GOOD;
    return bpf_complain("there is no group \"%s\"; create it with: groupadd --system %s", name,
                        name);
}

/* Opens BPF_PLACE, if no other user can replace files in it. -1 after a message. */
static int open_place(void)
{
    struct stat st;
    int place = open(BPF_PLACE, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool good = place >= 0 && fstat(place, &st) == 0;
    if (good && st.st_uid == 0 && (!(st.st_mode & 0022) || st.st_mode & S_ISVTX))
        return place;
    if (good)
        bpf_complain(
            BPF_PLACE
            " belongs to user %u with mode %04o: other users may change what is in it. Mount it "
            "anew with -o mode=0755, or: chown root " BPF_PLACE "; chmod 0755 " BPF_PLACE,
            (unsigned)st.st_uid, (unsigned)st.st_mode & 07777);
    else
        bpf_complain("cannot open " BPF_PLACE ": %s", strerror(errno));
    if (place >= 0)
        close(place);
    return -1;
}

/* Opens the folder of openperflib in BPF_PLACE, if it belongs to root: if all users may write to
 * BPF_PLACE, the folder can be a link or another user's folder. -1: the folder does not exist
 * (errno is ENOENT), or a message was printed. */
static int open_folder(int place)
{
    struct stat st;
    int folder = openat(place, BPF_NAME, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int error = folder < 0 ? errno : fstat(folder, &st) != 0 ? errno : st.st_uid != 0 ? EPERM : 0;
    if (!error)
        return folder;
    if (error == EPERM)
        bpf_complain(BPF_FOLDER
                     " belongs to user %u, not to root: not used. Remove it, and try again",
                     (unsigned)st.st_uid);
    else if (error == ELOOP || error == ENOTDIR)
        bpf_complain(BPF_FOLDER
                     " is a link or a file, not a folder: not used. Remove it (rm " BPF_FOLDER
                     "), and try again");
    else if (error != ENOENT)
        bpf_complain("cannot open " BPF_FOLDER ": %s", strerror(error));
    if (folder >= 0)
        close(folder);
    errno = error;
    return -1;
}

static int make_folder(int place, gid_t group)
{
    bool shared = group != (gid_t)-1;
    if (mkdirat(place, BPF_NAME, 0700) != 0 && errno != EEXIST) {
        bpf_complain("cannot create " BPF_FOLDER ": %s", strerror(errno));
        return -1;
    }
    int folder = open_folder(place);
    if (folder >= 0 && fchown(folder, 0, shared ? group : 0) == 0 &&
        fchmod(folder, shared ? 0750 : 0700) == 0)
        return folder;
    if (folder >= 0) {
        bpf_complain("cannot give " BPF_FOLDER " to the group: %s", strerror(errno));
        close(folder);
    }
    return -1;
}

/* Checks that the group can reach the pinned files, or with `grant` changes the rights of BPF_PLACE
 * so that it can. systemd mounts BPF_PLACE for root only: then a group that may read a pinned file
 * still cannot open its path. */
static int open_passage(int fd, gid_t group, bool grant)
{
    struct stat place;
    if (group == (gid_t)-1 || fstat(fd, &place) != 0 || place.st_mode & 0001 ||
        (place.st_gid == group && place.st_mode & 0010))
        return EXIT_GOOD;
    if (!grant) {
        bpf_complain("warning: the group cannot enter " BPF_PLACE
                     " (mode %04o), so only root can read the pinned files; openperflib-bpf pin "
                     "--grant lets the group enter",
                     (unsigned)place.st_mode & 07777);
        return EXIT_GOOD;
    }
    if (place.st_gid != 0)
        return bpf_complain(BPF_PLACE " belongs to another group already (%u): not changed",
                            (unsigned)place.st_gid);
    if (fchown(fd, (uid_t)-1, group) != 0 || fchmod(fd, (place.st_mode & 07707) | 0010) != 0)
        return bpf_complain("cannot let the group enter " BPF_PLACE ": %s", strerror(errno));
    return EXIT_GOOD;
}

/* ---- loading ---- */

/* Reports the message of the kernel's verifier or of libbpf. A needed kernel version is not named,
 * because it would be a guess. */
static int complain_of_load(int error)
{
    const char *cause = bpf_cause();
    if (error == EPERM)
        return bpf_complain("the kernel does not allow the program: it needs root (CAP_BPF and "
                            "CAP_PERFMON), and neither lockdown nor a container may forbid it");
    return bpf_complain("the kernel refuses the program: %s%s%s%s; --verbose shows all messages",
                        cause, *cause ? " (" : "", strerror(error), *cause ? ")" : "");
}

static struct bpf_program *program_named(const struct bpf_object *object, const char *name)
{
    return bpf_object__find_program_by_name(object, name);
}

/* Features that an older kernel may lack. `processors`: reading per-CPU values; without it memory
 * sizes are marked as approximate. `direct`: direct loads; without it the program is slower. */
struct ability {
    bool processors, direct;
};

static int load(struct bpf_object *object, const struct pin_request *request, struct ability with)
{
    uint32_t settings[SETTINGS];
    int processors = libbpf_num_possible_cpus();
    if (!bpf_settings(object, settings))
        return EINVAL;
    if (request->version)
        settings[SETTING_VERSION] = request->version;
    with.processors = with.processors && processors > 0 && processors <= MOST_PROCESSORS;
    settings[SETTING_PROCESSORS] = with.processors ? (uint32_t)processors : 0;
    settings[SETTING_DIRECT] = with.direct;
    struct bpf_program *finder = program_named(object, "find_processors");
    if (!finder || !write_settings(object, settings))
        return EINVAL;
    bpf_program__set_autoload(finder, with.processors);
    int error = -bpf_object__load(object);
    if (error || !with.processors)
        return error;
    struct bpf_test_run_opts run = {.sz = sizeof run};
    error = -bpf_prog_test_run_opts(bpf_program__fd(finder), &run);
    return error ? error : run.retval ? ENXIO : 0;
}

static struct bpf_object *load_somehow(const struct pin_request *request)
{
    static const struct ability abilities[] = {
        {.processors = true, .direct = true},
        {.processors = true                 },
        {.direct = true},
        {0                 },
    };
    int error = 0;
    for (size_t i = 0; i < sizeof abilities / sizeof *abilities; i++) {
        struct ability with = abilities[i];
        struct bpf_object *object = bpf_open(request->verbose);
        if (!object)
            return NULL;
        with.direct &= !request->indirect;
        bpf_cause_take(NULL);
        error = load(object, request, with);
        if (!error)
            return object;
        bpf_object__close(object);
    }
    complain_of_load(error);
    return NULL;
}

/* ---- pinning ---- */

/* Pins a link. libbpf needs a path: the path below /proc/self/fd leads to the opened folder even if
 * another folder has that folder's name now. */
static int pin_link(int folder, struct bpf_link *link, const char *name, gid_t group)
{
    char path[PATH_SIZE], fresh[PATH_SIZE / 2];
    bool shared = group != (gid_t)-1;
    snprintf(fresh, sizeof fresh, "%s" FRESH, name);
    snprintf(path, sizeof path, "/proc/self/fd/%d/%s", folder, fresh);
    unlinkat(folder, fresh, 0);
    if (bpf_link__pin(link, path) != 0)
        return bpf_complain("cannot pin " BPF_FOLDER "/%s: %s", fresh, strerror(errno));
    if (fchownat(folder, fresh, 0, shared ? group : 0, AT_SYMLINK_NOFOLLOW) != 0 ||
        fchmodat(folder, fresh, shared ? 0440 : 0400, 0) != 0 ||
        renameat(folder, fresh, folder, name) != 0) {
        int error = errno;
        unlinkat(folder, fresh, 0);
        return bpf_complain("cannot create " BPF_FOLDER "/%s: %s", name, strerror(error));
    }
    return EXIT_GOOD;
}

static int pin_program(int folder, const struct bpf_object *object, const char *name, gid_t group)
{
    struct bpf_program *program = program_named(object, name);
    struct bpf_link *link = program ? bpf_program__attach_iter(program, NULL) : NULL;
    if (!link)
        return bpf_complain("the kernel cannot list processes by BPF (task iterators): %s",
                            strerror(errno));
    int code = pin_link(folder, link, name, group);
    bpf_link__destroy(link); /* the pinned file keeps the link alive */
    return code;
}

static int pin_all(int folder, const struct pin_request *request, gid_t group)
{
    struct bpf_object *object = load_somehow(request);
    int code = object ? EXIT_GOOD : EXIT_FAILED;
    for (size_t i = 0; bpf_names[i] && code == EXIT_GOOD; i++)
        code = pin_program(folder, object, bpf_names[i], group);
    bpf_object__close(object);
    return code;
}

static int pin_in(int place, const struct pin_request *request, gid_t group)
{
    int folder = make_folder(place, group);
    int code = folder < 0 ? EXIT_FAILED : pin_all(folder, request, group);
    if (folder >= 0)
        close(folder);
    if (folder >= 0 && code != EXIT_GOOD) /* every query would look into an empty folder */
        unlinkat(place, BPF_NAME, AT_REMOVEDIR);
    return code == EXIT_GOOD ? open_passage(place, group, request->grant) : code;
}

int bpf_pin(const struct pin_request *request)
{
    gid_t group;
    if (geteuid() != 0)
        return bpf_complain("pin needs root: try sudo openperflib-bpf pin");
    if (access(BPF_TYPES, R_OK) != 0)
        return bpf_complain(BPF_TYPES " is missing: this kernel has no type information "
                                      "(CONFIG_DEBUG_INFO_BTF), so that nothing can be loaded");
    int code = find_group(request->group, &group);
    if (code == EXIT_GOOD)
        code = find_place(request->mount);
    if (code != EXIT_GOOD)
        return code;
    int place = open_place();
    if (place < 0)
        return EXIT_FAILED;
    code = pin_in(place, request, group);
    close(place);
    if (code == EXIT_GOOD)
        printf("pinned in " BPF_FOLDER ", readable by %s\n",
               group != (gid_t)-1 ? "root and the folder's group"
               : request->grant   ? "root only: there is no group " BPF_GROUP
                                  "; create it with groupadd --system " BPF_GROUP ", and pin again"
                                : "root only");
    return code;
}

/* Removes the pinned files. Returns how many were removed; -1 after a message. */
static int unpin_in(int place)
{
    int removed = 0, folder = open_folder(place);
    if (folder < 0)
        return errno == ENOENT ? 0 : -1;
    for (size_t i = 0; bpf_names[i] && removed >= 0; i++)
        if (unlinkat(folder, bpf_names[i], 0) == 0) {
            removed++;
        } else if (errno != ENOENT) {
            bpf_complain("cannot remove " BPF_FOLDER "/%s: %s", bpf_names[i], strerror(errno));
            removed = -1;
        }
    close(folder);
    unlinkat(place, BPF_NAME, AT_REMOVEDIR); /* fails if the folder is not empty */
    return removed;
}

int bpf_unpin(void)
{
    int place = open(BPF_PLACE, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (place < 0 && errno != ENOENT)
        return bpf_complain("cannot open " BPF_PLACE ": %s", strerror(errno));
    int removed = place < 0 ? 0 : unpin_in(place);
    if (place >= 0)
        close(place);
    if (removed < 0)
        return EXIT_FAILED;
    if (!removed) {
        bpf_complain("nothing is pinned in " BPF_FOLDER);
        return EXIT_MISSING;
    }
    printf("removed\n");
    return EXIT_GOOD;
}
