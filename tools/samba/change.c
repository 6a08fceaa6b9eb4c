/* SPDX-License-Identifier: MIT */
/*
 * The only change to the system is one file, a drop-in for Samba's unit. Enabling writes this file;
 * disabling removes it, and its folder if the folder is empty then.
 */
#include "samba.h"
#include "../common/options.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char content[] = "# openperflib-samba: written by 'enable', removed by 'disable'\n"
                              "[Unit]\n"
                              "Wants=openperflib-samba.socket\n"
                              "After=openperflib-samba.socket\n"
                              "\n"
                              "[Service]\n"
                              "Environment=LD_PRELOAD=%s\n";

static int complain_of(const char *path)
{
    return samba_complain("%s: %s%s", path, strerror(errno),
                          errno == EACCES || errno == EPERM ? "; run it as root" : "");
}

/* ---- the file ---- */

static bool make_folders(const char *path)
{
    char part[2 * SAMBA_PATH];
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
        if (mkdir(part, 0755) && errno != EEXIST)
            return false;
    }
    return true;
}

static bool write_text(FILE *file, const struct samba *samba)
{
    bool good = fprintf(file, content, samba->shim) > 0 && !fflush(file) && !fsync(fileno(file)) &&
                !fchmod(fileno(file), 0644);
    return !fclose(file) && good;
}

static int write_drop_in(const struct samba *samba)
{
    char temporary[SAMBA_PATH + 8];
    snprintf(temporary, sizeof temporary, "%s.new", samba->drop_in);
    FILE *file = make_folders(samba->drop_in) ? fopen(temporary, "we") : NULL;
    if (!file)
        return complain_of(samba->drop_in);
    if (write_text(file, samba) && !rename(temporary, samba->drop_in))
        return EXIT_GOOD;
    int code = complain_of(samba->drop_in);
    unlink(temporary);
    return code;
}

static int remove_drop_in(const struct samba *samba)
{
    char folder[SAMBA_PATH];
    if (unlink(samba->drop_in))
        return complain_of(samba->drop_in);
    snprintf(folder, sizeof folder, "%s", samba->drop_in);
    rmdir(dirname(folder)); /* fails if the folder has other files */
    return EXIT_GOOD;
}

/* ---- systemd ---- */

static int systemctl(bool dry, const char *verb, const char *unit)
{
    char program[] = "systemctl", word[32], name[64];
    char *arguments[] = {program, word, *unit ? name : NULL, NULL};
    snprintf(word, sizeof word, "%s", verb);
    snprintf(name, sizeof name, "%s", unit);
    samba_print("systemctl %s%s%s", verb, *unit ? " " : "", unit);
    if (dry || !samba_run(arguments, NULL, 0))
        return EXIT_GOOD;
    return samba_complain("systemctl %s %s failed; see journalctl -u %s", verb, unit,
                          *unit ? unit : "init.scope");
}

/* Restarts Samba. Without systemd, or for another root, the user must restart Samba. */
static int restart(const struct samba *samba, bool dry, bool now)
{
    if (!samba->is_live) {
        samba_print("restart Samba, so that the change takes effect");
        return EXIT_GOOD;
    }
    int code = systemctl(dry, "daemon-reload", "");
    if (code || now)
        return code ? code : systemctl(dry, "try-restart", samba->unit);
    samba_print("restart Samba, so that the change takes effect: systemctl restart %s",
                samba->unit);
    return EXIT_GOOD;
}

/* ---- enable, disable ---- */

static int judge(const struct samba *samba)
{
    if (!*samba->version) {
        samba_complain("there is no smbd in %s/usr/sbin; on Debian: apt install samba",
                       samba->root);
        return EXIT_MISSING;
    }
    if (!samba->has_shim) {
        samba_complain("this is Samba %s; there are libraries for series %s, but none for %s",
                       samba->version, *samba->made_for ? samba->made_for : "(none)",
                       *samba->series ? samba->series : "that");
        return EXIT_MISSING;
    }
    if (samba->is_built) {
        samba_complain("%s is in a build folder, which smbd must not depend on: install it first, "
                       "then run the installed openperflib-samba",
                       samba->shim);
        return EXIT_MISSING;
    }
    if (samba->has_drop_in && !samba->is_ours)
        return samba_complain("%s was not written by openperflib-samba: move it away first",
                              samba->drop_in);
    return EXIT_GOOD;
}

int samba_enable(const struct samba *samba, bool dry, bool now)
{
    int code = judge(samba);
    if (code)
        return code;
    if (samba->has_drop_in && samba->is_this_shim) {
        samba_print("%s already exists", samba->drop_in);
    } else {
        samba_print("write %s", samba->drop_in);
        code = dry ? EXIT_GOOD : write_drop_in(samba);
    }
    if (!code)
        code = restart(samba, dry, now);
    if (!code)
        samba_print("the firewall: %s", samba_firewall(samba));
    return code;
}

int samba_disable(const struct samba *samba, bool dry, bool now)
{
    if (!samba->has_drop_in) {
        samba_print("openperflib is not enabled in Samba");
        return EXIT_GOOD;
    }
    if (!samba->is_ours)
        return samba_complain("%s was not written by openperflib-samba, so it is not removed",
                              samba->drop_in);
    samba_print("remove %s", samba->drop_in);
    int code = dry ? EXIT_GOOD : remove_drop_in(samba);
    if (!code)
        code = restart(samba, dry, now);
    if (!code && samba->is_live && now)
        code = systemctl(dry, "stop", "openperflib-samba.socket");
    return code;
}
