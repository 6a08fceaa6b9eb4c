/* SPDX-License-Identifier: MIT */
/* Private to openperflib-samba: what is there, what is changed. */
#ifndef OPL_TOOLS_SAMBA_H
#define OPL_TOOLS_SAMBA_H

#include <stdbool.h>

enum { SAMBA_PATH = 1024 };

/* What was found below the root. */
struct samba {
    const char *root;         /* "" for this system */
    char version[64];         /* "4.17.12-Debian", "": there is no smbd */
    char series[16];          /* "4.17" */
    char unit[32];            /* "smbd.service" */
    char shim[SAMBA_PATH];    /* as smbd will load it, without the root */
    char made_for[128];       /* the series that there are libraries for, with commas */
    char drop_in[SAMBA_PATH]; /* with the root */
    bool has_unit, has_shim, has_drop_in, is_ours, is_this_shim;
    bool is_live;   /* systemd runs, and it is this system */
    bool is_built;  /* the library is a build folder's, which the environment names */
    bool is_loaded; /* the unit's processes have it, or without systemd any; of this system only */
    bool is_hidden; /* whether it is loaded cannot be seen: smbd is root's, and we are not */
    struct samba_user {
        int pid;               /* 0: nobody has a library of this name */
        char name[32];         /* "rpcd_winreg" */
        char path[SAMBA_PATH]; /* of the library that it has */
        bool of_unit;          /* it belongs to the unit above */
    } user;                    /* one who has it loaded, rather one of the unit */
};

/* ---- look.c ---- */
bool samba_look(const char *root, struct samba *ret);  /* false: the root's path is too long */
const char *samba_firewall(const struct samba *samba); /* a command, or what to do */
/* What a program says; its exit code, 127: it could not be started. */
int samba_run(char *const *arguments, char *output, unsigned room);

/* ---- change.c ---- */
/* Exit codes. What is done is said, or only said. */
int samba_enable(const struct samba *samba, bool dry, bool now);
int samba_disable(const struct samba *samba, bool dry, bool now);

int samba_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* One step, for people or as a member of an array. */
void samba_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
