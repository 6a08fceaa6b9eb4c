/* SPDX-License-Identifier: MIT */
/* Private to openperflib-samba: the scan of the system, and the changes. */
#ifndef OPL_TOOLS_SAMBA_H
#define OPL_TOOLS_SAMBA_H

#include <stdbool.h>

enum { SAMBA_PATH = 1024 };

/* What was found below the root: Samba, the library for it, and the drop-in. */
struct samba {
    const char *root;      /* path of the root; "" for this system */
    char version[64];      /* "4.17.12-Debian"; "": there is no smbd */
    char series[16];       /* "4.17" */
    char unit[32];         /* "smbd.service" */
    char shim[SAMBA_PATH]; /* the path from which smbd loads the library, without the root */
    /* Samba series for which an openperflib library is installed, comma-separated */
    char made_for[128];
    char drop_in[SAMBA_PATH]; /* path of the drop-in, with the root */
    bool has_unit, has_shim, has_drop_in, is_ours, is_this_shim;
    bool is_live;  /* systemd runs, and the root is this system */
    bool is_built; /* the library is in a build folder that the environment names */
    /* a process of the unit has loaded the library (without systemd: any process); false: another
     * root */
    bool is_loaded;
    /* unknown whether the library is loaded: smbd belongs to root, this program does not */
    bool is_hidden;
    struct samba_user {
        int pid;               /* 0: no process has loaded a library of this name */
        char name[32];         /* "rpcd_winreg" */
        char path[SAMBA_PATH]; /* path of the loaded library */
        bool of_unit;          /* the process belongs to Samba's unit */
    } user; /* a process that has loaded the library, if possible one of the unit */
};

/* ---- look.c ---- */
bool samba_look(const char *root, struct samba *ret); /* false: the root's path is too long */
/* returns a command that opens the firewall, or a text with what to do */
const char *samba_firewall(const struct samba *samba);
/* Reads a program's output; returns its exit code, 127: it could not be started. */
int samba_run(char *const *arguments, char *output, unsigned capacity);

/* ---- change.c ---- */
/* enable and disable print each step and do it, or with --dry-run only print. Return exit codes. */
int samba_enable(const struct samba *samba, bool dry, bool now);
int samba_disable(const struct samba *samba, bool dry, bool now);

/* ---- openperflib-samba.c ---- */
#define samba_complain(...) tool_failed("openperflib-samba", __VA_ARGS__)
/* Prints one step, as text or as a member of a JSON array. */
void samba_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
