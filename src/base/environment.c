/* SPDX-License-Identifier: MIT */
/*
 * The environment: which variables are trusted, and which are passed to programs that we start. A
 * program with more rights than its caller (setuid) trusts none and passes none on, because the
 * started program could not know that they come from the less privileged caller.
 */
#include "base/base.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

extern char **environ;

static bool ids_differed;

/* A setuid program may change its real user id before its first query, so the ids are recorded when
 * the library is loaded. */
__attribute__((constructor)) static void note_ids(void)
{
    uid_t real, effective, saved;
    gid_t real_group, effective_group, saved_group;
    ids_differed = getresuid(&real, &effective, &saved) || real != effective || real != saved ||
                   getresgid(&real_group, &effective_group, &saved_group) ||
                   real_group != effective_group || real_group != saved_group;
}

/* False if the program has more rights than its caller: then nothing of the environment is
 * trusted. */
static bool environment_is_callers(void)
{
    return ids_differed || getauxval(AT_SECURE);
}

const char *environment_get(const char *name)
{
    return environment_is_callers() ? NULL : secure_getenv(name);
}

/* ---- for programs that are started ---- */

struct text_array {
    struct buffer texts; /* NAME=value texts, each ended by a NUL */
    size_t count;
};

static void add(struct text_array *list, const char *name, const char *value)
{
    if (!value)
        return;
    buffer_printf(&list->texts, "%s=%s", name, value);
    buffer_add_byte(&list->texts, '\0');
    list->count++;
}

/* True for the name of a language or a time zone; false for a path, which would name a file to be
 * read. */
static bool is_plain(const char *value)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    for (const char *at = value; *at; at++)
        if (!strchr(letters, *at) && !strchr("_-+,.@/<>", *at))
            return false;
    return *value != '/' && !strstr(value, "..") && strlen(value) < 256;
}

static void add_languages(struct text_array *list)
{
    bool callers = environment_is_callers();
    for (char **entry = environ; entry && *entry; entry++) {
        const char *value = strchr(*entry, '=');
        bool wanted = value && (strncmp(*entry, "LC_", 3) == 0 ||
                                strncmp(*entry, "LANG=", 5) == 0 || strncmp(*entry, "TZ=", 3) == 0);
        if (!wanted || (callers && !is_plain(value + 1)))
            continue;
        buffer_add(&list->texts, *entry, strlen(*entry) + 1);
        list->count++;
    }
}

/* Adds HOME, USER and the like from the user database, not from the caller's environment. */
static void add_user(struct text_array *list)
{
    enum { ENTRY_BYTES = 16 << 10 };
    struct passwd entry, *found = NULL;
    char runtime[64];
    struct stat st;
    FREE_AUTO char *storage = malloc(ENTRY_BYTES);
    if (storage && !getpwuid_r(geteuid(), &entry, storage, ENTRY_BYTES, &found) && found) {
        add(list, "USER", entry.pw_name);
        add(list, "LOGNAME", entry.pw_name);
        add(list, "HOME", entry.pw_dir && *entry.pw_dir == '/' ? entry.pw_dir : NULL);
    }
    snprintf(runtime, sizeof runtime, "/run/user/%lu", (unsigned long)geteuid());
    if (!lstat(runtime, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
        !(st.st_mode & (S_IRWXG | S_IRWXO)))
        add(list, "XDG_RUNTIME_DIR", runtime);
}

static void add_honoured(struct text_array *list, const char *const *names)
{
    for (; *names; names++)
        add(list, *names, environment_get(*names));
}

char **environment_new(enum environment_for purpose)
{
    static const char *const ours[] = {"OPENPERFLIB_ROOT",
                                       "OPENPERFLIB_SYSROOT",
                                       "OPENPERFLIB_TRACE",
                                       "XDG_CONFIG_HOME",
                                       "XDG_DATA_HOME",
#ifdef __SANITIZE_ADDRESS__
                                       "ASAN_OPTIONS",
                                       "LSAN_OPTIONS",
                                       "UBSAN_OPTIONS",
#endif
                                       NULL};
    static const char *const credentials[] = {"SSH_AUTH_SOCK", "KRB5CCNAME", "KRB5_CONFIG", NULL};
    struct text_array list = {0};
    add(&list, "PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    add_languages(&list);
    add_user(&list);
    add_honoured(&list, ours);
    if (place_honours_vendor())
        add(&list, "OPENPERFLIB_VENDOR", place_vendor());
    if (purpose == ENVIRONMENT_FOR_LOGIN)
        add_honoured(&list, credentials);
    size_t pointers = (list.count + 1) * sizeof(char *);
    char **environment = list.texts.failed ? NULL : malloc(pointers + list.texts.len);
    if (environment) {
        char *text = (char *)environment + pointers;
        memcpy(text, list.texts.data, list.texts.len);
        for (size_t i = 0; i < list.count; i++, text += strlen(text) + 1)
            environment[i] = text;
        environment[list.count] = NULL;
    }
    buffer_done(&list.texts);
    return environment;
}
