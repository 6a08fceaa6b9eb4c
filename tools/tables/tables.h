/* SPDX-License-Identifier: MIT */
/* Shared by the parts of openperflib-tables: a library's tables, and texts of an older ini file. */
#ifndef OPL_TOOLS_TABLES_H
#define OPL_TOOLS_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <openperflib/object.h>
#include <winerror.h>
#include <winperf.h>

/* One number of the registration: an object or a counter. */
struct table_entry {
    DWORD index;
    bool object;
    const char *name, *help;
    char *symbol; /* DEMO_VISITORS */
};
struct entries {
    const opl_table_list *tables;
    struct table_entry *list; /* sorted by index */
    size_t count;
};
/* Reads the tables. False, after a message: the tables cannot be registered. */
bool entries_read(const char *library, const opl_table_list *tables, struct entries *ret);
void entries_done(struct entries *entries);

/* The translated texts of an existing ini file (--merge), which are copied to the new ini file. */
struct old_text {
    char *symbol, *language, *text;
    bool help;
};
struct old_language {
    char *id, *comment;
};
struct old {
    struct old_text *texts;
    size_t text_count;
    struct old_language *languages;
    size_t language_count;
};
/* Reads the file; a missing file is empty. False, after a message: not readable, or no UTF-8. */
bool old_read(const char *path, struct old *ret);
void old_add_language(struct old *old, const char *id, const char *comment);
void old_add_text(struct old *old, const char *symbol, const char *language, bool help,
                  const char *text);
bool old_is_language(const char *id); /* true if `id` is hexadecimal, but not English */
/* Returns the text of a symbol in a language. NULL: there is none. */
const char *old_text(const struct old *old, const char *symbol, const char *language, bool help);
void old_done(struct old *old);

/* ---- the files ---- */
void print_header(FILE *out, const struct entries *entries);
void print_ini(FILE *out, const struct entries *entries, const struct old *old,
               const char *symbol_file);
void print_list(FILE *out, const struct entries *entries);

#endif
