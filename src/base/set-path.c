/* SPDX-License-Identifier: MIT */
/* The folders of logman's sets. */
#include "base/set-path.h"

#include "base/base.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns the variable, or the folder below the user's home if it is not set or not absolute. */
static char *user_folder(const char *variable, const char *below)
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
    static const char *const variables[] = {"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"};
    static const char *const below_home[] = {".config", ".local/state", ".local/state"};
    static const char *const below_user[] = {"sets", "captures", "sets"};
    const char *root = environment_get("OPENPERFLIB_ROOT");
    if (root && *root)
        return text_format("%s/%s", root, below_root[place]);
    if (!user)
        return strdup(system[place]);
    FREE_AUTO char *folder = user_folder(variables[place], below_home[place]);
    return folder ? text_format("%s/openperflib/%s", folder, below_user[place]) : NULL;
}

char *set_path(bool user, const char *name, enum set_place place)
{
    FREE_AUTO char *folder = place_folder(user, place);
    if (!folder)
        return NULL;
    return name ? text_format("%s/%s%s", folder, name, place == PLACE_SET ? ".xml" : "")
                : strdup(folder);
}
