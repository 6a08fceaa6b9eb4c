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
#include <sys/utsname.h>
#include <unistd.h>

#ifndef BPF_FS_MAGIC
#define BPF_FS_MAGIC 0xcafe4a11
#endif
#define FRESH "_new" /* a pinned file's name has no dot */
enum { PATH_ROOM = 128, MOST_PROCESSORS = 512 };

const char *const bpf_names[] = {"processes", "threads", NULL};

/* ---- the embedded program ---- */

static int say_nothing(enum libbpf_print_level level, const char *format, va_list list)
{
    (void)level;
    (void)format;
    (void)list;
    return 0;
}

struct bpf_object *bpf_open(bool verbose)
{
    if (!verbose)
        libbpf_set_print(say_nothing);
    struct bpf_object *object = bpf_object__open_mem(bpf_tasks, bpf_tasks_bytes, NULL);
    if (!object)
        bpf_complain("the program that is built in is damaged: %s", strerror(errno));
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

/* ---- where it is pinned ---- */

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
        return bpf_complain("no BPF file system is mounted at " BPF_PLACE "; openperflib-bpf pin "
                            "--mount mounts one, as does\n    mount -t bpf bpf " BPF_PLACE);
    if (mount("bpf", BPF_PLACE, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0711") != 0)
        return bpf_complain("cannot mount a BPF file system at " BPF_PLACE ": %s", strerror(errno));
    return EXIT_GOOD;
}

/* -1: root only. */
static int find_group(const char *name, gid_t *ret)
{
    const struct group *group = getgrnam(name ? name : BPF_GROUP);
    *ret = group ? group->gr_gid : (gid_t)-1;
    if (group || !name)
        return EXIT_GOOD;
    return bpf_complain("there is no group \"%s\"; groupadd --system %s makes it", name, name);
}

static int make_folder(gid_t group)
{
    bool shared = group != (gid_t)-1;
    if (mkdir(BPF_FOLDER, 0700) != 0 && errno != EEXIST)
        return bpf_complain("cannot make " BPF_FOLDER ": %s", strerror(errno));
    if (chown(BPF_FOLDER, 0, shared ? group : 0) != 0 ||
        chmod(BPF_FOLDER, shared ? 0750 : 0700) != 0)
        return bpf_complain("cannot give " BPF_FOLDER " away: %s", strerror(errno));
    return EXIT_GOOD;
}

/* systemd mounts the file system for root alone: then the group can read the file but not reach it.
 * */
static int open_passage(gid_t group, bool grant)
{
    struct stat place;
    if (group == (gid_t)-1 || stat(BPF_PLACE, &place) != 0 || place.st_mode & 0001 ||
        (place.st_gid == group && place.st_mode & 0010))
        return EXIT_GOOD;
    if (!grant) {
        bpf_complain("warning: the group cannot pass " BPF_PLACE
                     " (mode %04o), so only root can read; openperflib-bpf pin --grant lets it",
                     (unsigned)place.st_mode & 07777);
        return EXIT_GOOD;
    }
    if (place.st_gid != 0)
        return bpf_complain(BPF_PLACE " belongs to another group already (%u): not changed",
                            (unsigned)place.st_gid);
    if (chown(BPF_PLACE, (uid_t)-1, group) != 0 ||
        chmod(BPF_PLACE, (place.st_mode & 07707) | 0010) != 0)
        return bpf_complain("cannot let the group pass " BPF_PLACE ": %s", strerror(errno));
    return EXIT_GOOD;
}

/* ---- loading ---- */

static int complain_of_load(int error)
{
    struct utsname system;
    if (error == EPERM)
        return bpf_complain("the kernel does not allow it: it needs root (CAP_BPF and "
                            "CAP_PERFMON), and neither lockdown nor a container may forbid it");
    if (uname(&system) != 0)
        system.release[0] = 0;
    return bpf_complain("the kernel refuses the program: %s. It needs Linux 5.17 or later (this "
                        "is %s); --verbose shows why",
                        strerror(error), system.release);
}

static struct bpf_program *program_named(const struct bpf_object *object, const char *name)
{
    return bpf_object__find_program_by_name(object, name);
}

/* What a kernel may be too old for, or may not need: without the processors' own parts sizes are
 * marked as rough; without direct loads the program is slower. */
struct ability {
    bool processors, direct;
};

static int load(struct bpf_object *object, const struct bpf_wish *wish, struct ability with)
{
    uint32_t settings[SETTINGS];
    int processors = libbpf_num_possible_cpus();
    if (!bpf_settings(object, settings))
        return EINVAL;
    if (wish->version)
        settings[SETTING_VERSION] = wish->version;
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

static struct bpf_object *load_somehow(const struct bpf_wish *wish)
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
        struct bpf_object *object = bpf_open(wish->verbose);
        if (!object)
            return NULL;
        with.direct &= !wish->indirect;
        error = load(object, wish, with);
        if (!error)
            return object;
        bpf_object__close(object);
    }
    complain_of_load(error);
    return NULL;
}

/* ---- pinning ---- */

static int pin_link(struct bpf_link *link, const char *name, gid_t group)
{
    char path[PATH_ROOM], fresh[PATH_ROOM + sizeof FRESH];
    bool shared = group != (gid_t)-1;
    snprintf(path, sizeof path, BPF_FOLDER "/%s", name);
    snprintf(fresh, sizeof fresh, "%s" FRESH, path);
    unlink(fresh);
    if (bpf_link__pin(link, fresh) != 0)
        return bpf_complain("cannot pin %s: %s", fresh, strerror(errno));
    if (chown(fresh, 0, shared ? group : 0) != 0 || chmod(fresh, shared ? 0440 : 0400) != 0 ||
        rename(fresh, path) != 0) {
        int error = errno;
        unlink(fresh);
        return bpf_complain("cannot make %s: %s", path, strerror(error));
    }
    return EXIT_GOOD;
}

static int pin_program(const struct bpf_object *object, const char *name, gid_t group)
{
    struct bpf_program *program = program_named(object, name);
    struct bpf_link *link = program ? bpf_program__attach_iter(program, NULL) : NULL;
    if (!link)
        return bpf_complain("the kernel has no iterator of tasks: %s", strerror(errno));
    int code = pin_link(link, name, group);
    bpf_link__destroy(link); /* the pinned file keeps it */
    return code;
}

static int pin_all(const struct bpf_wish *wish, gid_t group)
{
    struct bpf_object *object = load_somehow(wish);
    int code = object ? EXIT_GOOD : EXIT_FAILED;
    for (size_t i = 0; bpf_names[i] && code == EXIT_GOOD; i++)
        code = pin_program(object, bpf_names[i], group);
    bpf_object__close(object);
    return code;
}

int bpf_pin(const struct bpf_wish *wish)
{
    gid_t group;
    if (geteuid() != 0)
        return bpf_complain("pin needs root: try sudo openperflib-bpf pin");
    if (access(BPF_TYPES, R_OK) != 0)
        return bpf_complain(BPF_TYPES " is missing: this kernel tells no types "
                                      "(CONFIG_DEBUG_INFO_BTF), so that nothing can be loaded");
    int code = find_group(wish->group, &group);
    if (code == EXIT_GOOD)
        code = find_place(wish->mount);
    if (code == EXIT_GOOD)
        code = make_folder(group);
    if (code == EXIT_GOOD)
        code = pin_all(wish, group);
    if (code == EXIT_GOOD)
        code = open_passage(group, wish->grant);
    if (code == EXIT_GOOD)
        printf("pinned in " BPF_FOLDER ", readable by %s\n",
               group == (gid_t)-1 ? "root only" : "root and the group");
    return code;
}

int bpf_unpin(void)
{
    char path[PATH_ROOM];
    unsigned removed = 0;
    for (size_t i = 0; bpf_names[i]; i++) {
        snprintf(path, sizeof path, BPF_FOLDER "/%s", bpf_names[i]);
        if (unlink(path) == 0)
            removed++;
        else if (errno != ENOENT && errno != ENOTDIR)
            return bpf_complain("cannot remove %s: %s", path, strerror(errno));
    }
    if (!removed) {
        bpf_complain("nothing is pinned in " BPF_FOLDER);
        return EXIT_MISSING;
    }
    rmdir(BPF_FOLDER); /* if nothing else is in it */
    printf("removed\n");
    return EXIT_GOOD;
}
