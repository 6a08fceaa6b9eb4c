/* SPDX-License-Identifier: MIT */
/*
 * Where things are. The environment is read once, at the first question and through secure_getenv:
 * a setuid program ignores it. HOME is that of passwd, which the caller cannot bend.
 */
#include "base/base.h"

#include <pthread.h>
#include <pwd.h>
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
    char *vendor, *machine, *user, *root, *events, *answers, *sysroot;
} places;

/* An absolute copy of a folder that the environment names: the program may change its folder later.
 */
static char *from_environment(const char *variable)
{
    const char *value = secure_getenv(variable);
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
    char room[4096];
    if (getpwuid_r(geteuid(), &entry, room, sizeof room, &found) != 0 || !found)
        return NULL;
    return entry.pw_dir && *entry.pw_dir == '/' ? strdup(entry.pw_dir) : NULL;
}

static char *user_folder(void)
{
    const char *data = secure_getenv("XDG_DATA_HOME");
    if (data && *data == '/') /* the XDG paper: relative ones are to be ignored */
        return text_format("%s/openperflib", data);
    FREE_AUTO char *home = home_of_passwd();
    return home ? text_format("%s/.local/share/openperflib", home) : NULL;
}

/* Emptied when the machine starts or the user leaves. */
static char *runtime_answers(void)
{
    const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
    if (geteuid() == 0)
        return strdup(PLACE_ANSWERS_OF_ROOT);
    return runtime && *runtime == '/' ? text_format("%s/openperflib/answers", runtime) : NULL;
}

static void find_out(void)
{
    places.vendor = from_environment("OPENPERFLIB_VENDOR");
    places.sysroot = from_environment("OPENPERFLIB_SYSROOT");
    places.root = from_environment("OPENPERFLIB_ROOT");
    if (places.root) {
        places.machine = text_format("%s/machine", places.root);
        places.user = text_format("%s/user", places.root);
        places.events = text_format("%s/events", places.root);
        places.answers = text_format("%s/answers", places.root);
    } else {
        places.user = user_folder();
        places.answers = runtime_answers();
    }
}

static const char *ask(char *const *place, const char *otherwise)
{
    lock_take(&lock);
    if (!known)
        find_out();
    known = true;
    const char *answer = *place ? *place : otherwise;
    lock_release(&lock);
    return answer;
}

const char *place_vendor(void)
{
    return ask(&places.vendor, OPL_VENDOR_DIR);
}

const char *place_machine(void)
{
    return ask(&places.machine, STATE_DIR);
}

const char *place_user(void)
{
    return ask(&places.user, NULL);
}

const char *place_events(void)
{
    return ask(&places.events, NULL);
}

const char *place_sysroot(void)
{
    return ask(&places.sysroot, "/");
}

const char *place_answers(void)
{
    return ask(&places.answers, NULL);
}

void place_forget(void)
{
    char **all[] = {&places.vendor, &places.machine, &places.user,   &places.root,
                    &places.events, &places.answers, &places.sysroot};
    lock_take(&lock);
    for (size_t i = 0; i < COUNT(all); i++) {
        free(*all[i]);
        *all[i] = NULL;
    }
    known = false;
    lock_release(&lock);
}
