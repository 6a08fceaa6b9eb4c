/* SPDX-License-Identifier: MIT */
/*
 * The door of registry: keys and values, a mount table over layered text files.
 *
 * Paths inside are UTF-8, begin with the root's long name ("HKEY_LOCAL_MACHINE\\SYSTEM\\...") and are
 * compared without regard to case. Data of REG_SZ, REG_EXPAND_SZ and REG_MULTI_SZ is kept as UTF-8
 * with whatever terminators its writer gave; other types are bytes.
 * Layers, later ones win: vendor, machine, user; in each registry.d/NAME.reg, then manual.reg.
 */
#ifndef OPL_REGISTRY_H
#define OPL_REGISTRY_H

#include "base/base.h"
#include <openperflib/winreg.h>

#define REGISTRY_SERVICES "HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services"
#define REGISTRY_PERFLIB "HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib"

enum registry_layer { LAYER_VENDOR, LAYER_MACHINE, LAYER_USER };

struct registry_value {
    const char *name;
    uint32_t type;
    const void *data; /* valid during the call back only */
    size_t size;
};

/* ---- reading, for the rooms above; never takes a file lock ---- */
/* ERROR_FILE_NOT_FOUND if key or value is absent. ret's content is replaced. */
LSTATUS registry_get(const char *path, const char *value, uint32_t *ret_type, struct buffer *ret);
/* REG_SZ or REG_EXPAND_SZ (expanded), NUL-terminated; ERROR_INVALID_DATA for other types. */
LSTATUS registry_get_text(const char *path, const char *value, struct buffer *ret);
LSTATUS registry_get_dword(const char *path, const char *value, uint32_t *ret);
/* Calls back for every subkey's name, in registry order (by name, case folded); stops when it
 * returns false. The call back must not write the registry. */
LSTATUS registry_each_key(const char *path, bool (*each)(void *self, const char *name), void *self);
LSTATUS registry_each_value(const char *path,
                            bool (*each)(void *self, const struct registry_value *value), void *self);
/* A number that changes when what the files say changed. Looks at the layers' folders each time, at
 * every file at most once a second (files edited in place). No allocation while nothing changed. */
uint64_t registry_generation(void);

/* ---- writing, for the rooms above (loadperf, host's quarantine) and the keys below ---- */
/* One value into manual.reg of `layer`; makes the key. Durable on return. */
LSTATUS registry_set(enum registry_layer layer, const char *path, const char *value, uint32_t type,
                     const void *data, size_t size);
LSTATUS registry_delete_value(enum registry_layer layer, const char *path, const char *value);

/* ---- mounts: how other rooms answer for a key; handed in by the doors as one constant table ---- */
struct mount {
    const char *path;      /* "HKEY_PERFORMANCE_DATA", or a key path; "*" as last part: any one subkey */
    HKEY predefined;       /* the handle value of a predefined key, or NULL */
    /* RegQueryValueEx: all size rules are the mount's. `wide`: the form of text in the answer. */
    LSTATUS (*query)(const char *path, const char *name, bool wide, DWORD *type, void *data,
                     DWORD *size);
    /* RegSetValueEx by a key opened with KEY_SET_VALUE; NULL: `set_status` */
    LSTATUS (*set)(const char *path, const char *name, uint32_t type, const void *data, size_t size);
    LSTATUS set_status;       /* RegSetValueEx refused with this when set is NULL */
    LSTATUS open_status;      /* RegOpenKeyEx below a predefined mount */
    LSTATUS enum_key_status;  /* RegEnumKeyEx */
    const char *const *names; /* RegEnumValue and RegQueryInfoKey: the values' names, NULL-ended */
    LSTATUS (*close)(void);   /* RegCloseKey; NULL: nothing to do */
    HKEY opens_as;            /* RegOpenKeyEx without KEY_SET_VALUE answers this predefined key */
};
/* Values that are computed, merged over what the files say: Last Counter, InstallLanguage, ... */
struct registry_computed {
    const char *path, *name;
    uint32_t type; /* REG_DWORD or REG_SZ */
    LSTATUS (*get)(uint32_t *ret_number, struct buffer *ret_text);
    bool under_files; /* a value in a file wins over the computed one */
};
/* Keys that exist because another room says so (the languages below Perflib). */
struct registry_virtual_keys {
    const char *path;
    LSTATUS (*each)(bool (*each)(void *self, const char *name), void *self);
};
struct registry_tables {
    const struct mount *mounts; /* ended by path NULL */
    const struct registry_computed *computed;
    const struct registry_virtual_keys *virtual_keys;
};
extern const struct registry_tables registry_tables; /* defined in win32/tables.c (tests: their own) */

#endif
