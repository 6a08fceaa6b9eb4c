/* SPDX-License-Identifier: MIT */
/* Shared by the parts of reg: the options, keys by name, values as text. */
#ifndef OPL_TOOLS_REG_H
#define OPL_TOOLS_REG_H

#include <stdbool.h>
#include <stddef.h>

#include <windows.h>

#include "option-rows.h"

/* ---- key.c ---- */
struct named_key {
    HKEY root;
    char *path; /* path below the root; "" for the root itself */
    char *full; /* HKEY_LOCAL_MACHINE\... */
    bool connected;
    bool is_elsewhere; /* the key is on another machine, so it is read-only */
};
LSTATUS key_parse(const char *name, struct named_key *ret);
void key_done(struct named_key *key);
LSTATUS key_open(const struct named_key *key, REGSAM access, HKEY *ret);
void key_close(HKEY key); /* closes a key of key_open, also a performance key */
/* Prints "reg: KEY: what happened; what to do"; returns the status. */
LSTATUS complain(const char *about, LSTATUS status);
LSTATUS complain_elsewhere(const char *about);
/* Asks the user at the terminal. Without a terminal the answer is no, with a hint at `option`. */
bool confirmed(const char *question, const char *about, const char *option);

/* ---- value.c ---- */
struct value {
    DWORD type, size;
    unsigned char *data;
};
LSTATUS value_read(HKEY key, const char *name, struct value *ret);
void value_done(struct value *value);
void value_print(const char *name, const struct value *value);
/* Finds the number of a type such as REG_SZ, SZ or sz; false: unknown type. */
bool value_type(const char *name, DWORD *ret);
LSTATUS value_parse(DWORD type, const char *text, const char *separator, struct value *ret);

/* The names of all subkeys or values of a key, read before anything is changed; free with
 * names_done. */
struct key_names {
    char **names;
    size_t count;
};
LSTATUS key_names_read(HKEY key, bool values, struct key_names *ret);
void key_names_done(struct key_names *names);

/* ---- the commands ---- */
LSTATUS reg_query(const struct reg *reg);
LSTATUS reg_add(const struct reg *reg);
LSTATUS reg_delete(const struct reg *reg);
LSTATUS reg_export(const struct reg *reg);
LSTATUS reg_import(const struct reg *reg);

#endif
