/* SPDX-License-Identifier: MIT */
/*
 * Reads and prints the text of a registry file, entry by entry.
 *
 * Reads "REGEDIT4" and "Windows Registry Editor Version 5.00", in UTF-16LE with its mark, UTF-8, or
 * code page 1252. A damaged line is reported and skipped; after a damaged key line its values are
 * skipped too, because their key is unknown. (docs/registry.md)
 */
#ifndef OPENPERFLIB_REGFILE_H
#define OPENPERFLIB_REGFILE_H

#include <openperflib/base.h>

typedef enum opl_reg_kind {
    OPL_REG_KEY,          /* [key] */
    OPL_REG_DELETE_KEY,   /* [-key] */
    OPL_REG_VALUE,        /* "name"=... */
    OPL_REG_DELETE_VALUE, /* "name"=- */
    OPL_REG_COMMENT,      /* `name` is the line's text */
    OPL_REG_DAMAGED       /* `name` is the line's text, `why` the reason, without period */
} opl_reg_kind;

typedef struct opl_reg_entry {
    opl_reg_kind kind;
    unsigned line;    /* the entry's first line, from 1 */
    const char *key;  /* the entry's key, with its root's long name: HKEY_LOCAL_MACHINE\... */
    const char *name; /* the value's name, "" for the default value; UTF-8 */
    uint32_t type;
    const void *data; /* text types in UTF-8, with the terminators that the file gives */
    size_t size;
    const char *why;
} opl_reg_entry;

/* Flags of opl_reg_read. */
#define OPL_REG_STRICT_HEADER                                                                      \
    1u /* without a header line: ERROR_NOT_REGISTRY_FILE, and `each` is not called */
#define OPL_REG_ONE_ENCODING 2u /* if any byte is not UTF-8, the whole file is code page 1252 */

OPL_BEGIN_DECLS

/* Calls `each` for every entry in the file's order, until it returns false; pointers are valid
 * during the call. Errors: ERROR_NOT_REGISTRY_FILE, ERROR_NOT_ENOUGH_MEMORY. */
int32_t opl_reg_read(const void *bytes, size_t size, unsigned flags,
                     bool (*each)(void *self, const opl_reg_entry *entry), void *self);

/* Writes the file's entries to the registry: HKEY_LOCAL_MACHINE's part in one durable step, then
 * HKEY_CURRENT_USER's; each is written completely or not at all. Deleting absent keys and values
 * succeeds. `report`, which may be NULL, is called with ERROR_INVALID_DATA for each damaged line,
 * which is skipped, and with the returned status for the entry that could not be written. */
int32_t opl_reg_import(const void *bytes, size_t size, unsigned flags,
                       void (*report)(void *self, const opl_reg_entry *entry, int32_t status),
                       void *self);

/* Writes the entry as lines of a version 5 file in UTF-8 with "\n" ends and a terminator. *size
 * in: capacity, out: bytes needed with the terminator; ERROR_MORE_DATA if the capacity is too
 * small, ERROR_INVALID_PARAMETER for an entry that cannot be written as text. */
int32_t opl_reg_print(const opl_reg_entry *entry, char *text, size_t *size);

OPL_END_DECLS

#endif
