/* SPDX-License-Identifier: MIT */
/*
 * Paths of files and folders. The environment is read once, at the first use: a program with more
 * rights than its caller ignores it. A folder that the environment names is used only if no user
 * but root and the effective user may change its content, because its files determine which code
 * runs. HOME is taken from the user database, which the caller cannot change.
 */
#include "base/base.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef OPL_VENDOR_DIR
#define OPL_VENDOR_DIR "/usr/lib/openperflib"
#endif
#define STATE_DIR "/var/lib/openperflib"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool known;
static struct {
    char *vendor, *beside, *machine, *user, *root, *events, *answers, *sysroot;
    bool root_refused;
} places;
/* Variables whose folders were refused; they are logged later, when the lock is free. */
static struct refusal {
    const char *variable;
    char why[TRUST_TEXT + 256]; /* the value, and what is wrong with it or a folder above it */
} refusals[2];
static size_t refused;

/* Returns a copy of the path of the folder that the variable names. NULL: the variable is not set,
 * or the folder is not trusted, which is noted in `refusals`. */
static char *trusted_folder(const char *variable)
{
    const char *value = environment_get(variable);
    if (!value || !*value)
        return NULL;
    char why[TRUST_TEXT];
    if (!trust_check_folder(value, why))
        return strdup(value);
    /* false if `why` names another folder than the variable does: one above it, or the target of a
     * link */
    bool named = strstr(why, value) != NULL;
    struct refusal *refusal = &refusals[refused++];
    refusal->variable = variable;
    snprintf(refusal->why, sizeof refusal->why, "%.200s%s%s", named ? "" : value, named ? "" : ": ",
             why);
    return NULL;
}

/* Returns an absolute copy of a path in the environment: the program may change its working folder
 * later. */
static char *from_environment(const char *variable)
{
    const char *value = environment_get(variable);
    if (!value || !*value)
        return NULL;
    if (*value == '/')
        return strdup(value);
    FREE_AUTO char *here = getcwd(NULL, 0);
    return here ? text_format("%s/%s", here, value) : NULL;
}

static char *home_of_passwd(void)
{
    struct passwd entry, *found = NULL;
    char storage[4096];
    if (getpwuid_r(geteuid(), &entry, storage, sizeof storage, &found) != 0 || !found)
        return NULL;
    return entry.pw_dir && *entry.pw_dir == '/' ? strdup(entry.pw_dir) : NULL;
}

static char *user_folder(void)
{
    const char *data = environment_get("XDG_DATA_HOME");
    if (data && *data == '/') /* relative paths are ignored, as the XDG specification requires */
        return text_format("%s/openperflib", data);
    FREE_AUTO char *home = home_of_passwd();
    return home ? text_format("%s/.local/share/openperflib", home) : NULL;
}

/* Returns the path of the file of answers (host/answers.c) if OPENPERFLIB_ROOT is not set. The
 * system removes root's file when the machine starts, and another user's file when that user logs
 * out. */
static char *runtime_answers(void)
{
    const char *runtime = environment_get("XDG_RUNTIME_DIR");
    if (geteuid() == 0)
        return strdup(PLACE_ANSWERS_OF_ROOT);
    return runtime && *runtime == '/' ? text_format("%s/openperflib/answers", runtime) : NULL;
}

/* Returns the folder openperflib beside the library itself, so that an unpacked archive runs
 * wherever it lies; NULL: no such folder, as in a build folder. The library's path is not used if
 * it is relative, because the program may have changed its working folder since the library was
 * loaded. */
static char *beside_library(void)
{
    Dl_info library;
    char file[PATH_MAX];
    if (!dladdr(&places, &library) || library.dli_fname[0] != '/' ||
        !realpath(library.dli_fname, file))
        return NULL;
    *strrchr(file, '/') = '\0';
    FREE_AUTO char *data = text_format("%s/openperflib/data", file);
    return data && access(data, F_OK) == 0 ? text_format("%s/openperflib", file) : NULL;
}

static void find_out(void)
{
    const char *root = environment_get("OPENPERFLIB_ROOT");
    refused = 0;
    places.vendor = trusted_folder("OPENPERFLIB_VENDOR");
    places.beside = beside_library();
    places.sysroot = from_environment("OPENPERFLIB_SYSROOT");
    places.root = trusted_folder("OPENPERFLIB_ROOT");
    places.root_refused = root && *root && !places.root;
    if (places.root) {
        places.machine = text_format("%s/machine", places.root);
        places.user = text_format("%s/user", places.root);
        places.events = text_format("%s/events", places.root);
        places.answers = text_format("%s/answers", places.root);
    } else if (!places.root_refused) {
        places.user = user_folder();
        places.answers = runtime_answers();
    }
}

static const char *lookup(char *const *place, const char *otherwise)
{
    lock_take(&lock);
    if (!known)
        find_out();
    known = true;
    const char *answer = *place ? *place : otherwise;
    lock_release(&lock);
    return answer;
}

/* Logs the refused variables. The lock is released first, because the event log calls functions of
 * this file. */
static void report_refusal(void)
{
    lock_take(&lock);
    size_t count = refused;
    refused = 0; /* refused variables are logged once; `refusals` does not change any more, because
                  * the environment is read only once */
    lock_release(&lock);
    for (size_t i = 0; i < count; i++)
        event_log("Perflib", 4013, refusals[i].variable,
                  EVENT_FIELDS(EVENT_TEXT("Variable", refusals[i].variable),
                               EVENT_TEXT("Reason", refusals[i].why)),
                  NULL);
}

const char *place_vendor(void)
{
    const char *folder = lookup(&places.vendor, NULL);
    report_refusal();
    return folder ? folder : lookup(&places.beside, OPL_VENDOR_DIR);
}

char *place_library(const char *name, bool *ret_shipped)
{
    char *shipped = text_format("%s/providers/%s", place_vendor(), name), *other = NULL;
    if (shipped && access(shipped, F_OK) != 0)
        other = text_format("%s/%s", place_vendor(), name);
    *ret_shipped = !other || access(other, F_OK) != 0;
    free(*ret_shipped ? other : shipped);
    return *ret_shipped ? shipped : other;
}

bool place_honours_vendor(void)
{
    return lookup(&places.vendor, NULL) != NULL;
}

/* Returns NULL if OPENPERFLIB_ROOT is refused: the machine's own state must not be used in its
 * place. */
const char *place_machine(void)
{
    const char *folder = lookup(&places.machine, STATE_DIR);
    report_refusal();
    return places.root_refused ? NULL : folder;
}

const char *place_user(void)
{
    return lookup(&places.user, NULL);
}

const char *place_events(void)
{
    return lookup(&places.events, NULL);
}

const char *place_sysroot(void)
{
    return lookup(&places.sysroot, "/");
}

const char *place_answers(void)
{
    return lookup(&places.answers, NULL);
}

void place_forget(void)
{
    char **all[] = {&places.vendor, &places.beside, &places.machine, &places.user,
                    &places.root,   &places.events, &places.answers, &places.sysroot};
    lock_take(&lock);
    for (size_t i = 0; i < COUNT(all); i++) {
        free(*all[i]);
        *all[i] = NULL;
    }
    known = places.root_refused = false;
    lock_release(&lock);
}

/* ---- this machine's name ---- */

/* The computer's name in performance data: first label of the host name, upper case, at most 15
 * UTF-16 units. */

enum { MOST_UNITS = 15 };

void machine_name(const char *host, char name[static 16 * 4])
{
    char own[256];
    uint16_t units[MOST_UNITS];
    if (!host) {
        host = own;
        if (gethostname(own, sizeof own) != 0)
            own[0] = '\0';
        own[sizeof own - 1] = '\0';
    }
    size_t count = utf8_to_16(host, strcspn(host, "."), units, MOST_UNITS);
    count = count < MOST_UNITS ? count : MOST_UNITS;
    /* a surrogate pair that the limit would split is dropped */
    if (count && (units[count - 1] & 0xfc00) == 0xd800)
        count--;
    for (size_t i = 0; i < count; i++) {
        uint32_t upper = unicode_upper(units[i]);
        units[i] = upper > 0xffff ? units[i] : (uint16_t)upper;
    }
    size_t length = utf16_to_8(units, count, name, 16 * 4 - 1);
    name[length] = '\0';
    if (!length)
        strcpy(name, "LOCALHOST");
}

bool machine_is_own(const char *name)
{
    char host[256] = "", label[16 * 4];
    if (!name)
        return true;
    if (!strncmp(name, "\\\\", 2))
        name += 2;
    gethostname(host, sizeof host - 1);
    machine_name(NULL, label);
    size_t first = strcspn(host, ".");
    return !*name || !strcmp(name, ".") || !strcmp(name, "127.0.0.1") || !strcmp(name, "::1") ||
           text_equal_fold(name, "localhost") || text_equal_fold(name, host) ||
           text_equal_fold(name, label) || !text_compare_fold_n(name, strlen(name), host, first);
}

/* ---- the folders of logman's sets ---- */

/* Returns the variable, or the folder below the user's home if it is not set or not absolute. */
static char *variable_folder(const char *variable, const char *below)
{
    const char *value = environment_get(variable), *home = environment_get("HOME");
    struct passwd entry, *found = NULL;
    char storage[4096];
    if (value && *value == '/')
        return strdup(value);
    if ((!home || *home != '/') &&
        getpwuid_r(geteuid(), &entry, storage, sizeof storage, &found) == 0)
        home = found ? found->pw_dir : NULL;
    return home ? text_format("%s/%s", home, below) : NULL;
}

static char *place_folder(bool user, enum set_place place)
{
    static const char *const below_root[] = {"sets", "captures", "run"};
    static const char *const system[] = {"/etc/openperflib/sets", "/var/log/openperflib",
                                         "/run/openperflib/sets"};
    /* The lock of a running set is not in $XDG_RUNTIME_DIR: the variable is set under systemd and
     * in a terminal, but not in a job of cron, which would not find the lock and start the set a
     * second time. */
    static const char *const variables[] = {"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_STATE_HOME"};
    static const char *const below_home[] = {".config", ".local/state", ".local/state"};
    static const char *const below_user[] = {"sets", "captures", "sets"};
    const char *root = environment_get("OPENPERFLIB_ROOT");
    if (root && *root)
        return text_format("%s/%s", root, below_root[place]);
    if (!user)
        return strdup(system[place]);
    FREE_AUTO char *folder = variable_folder(variables[place], below_home[place]);
    return folder ? text_format("%s/openperflib/%s", folder, below_user[place]) : NULL;
}

const char *set_owner(const char *name, bool *user)
{
    static const char *const owners[] = {"system:", "user:"};
    for (size_t i = 0; i < COUNT(owners); i++)
        if (strncmp(name, owners[i], strlen(owners[i])) == 0) {
            *user = i == 1;
            return name + strlen(owners[i]);
        }
    return name;
}

char *set_path(bool user, const char *name, enum set_place place)
{
    FREE_AUTO char *folder = place_folder(user, place);
    if (!folder)
        return NULL;
    return name ? text_format("%s/%s%s", folder, name, place == PLACE_SET ? ".xml" : "")
                : strdup(folder);
}
