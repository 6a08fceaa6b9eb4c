/* SPDX-License-Identifier: MIT */
/*
 * Private to loadperf. An ini file and a symbol file are read into a plan, which says what is to be
 * registered. The registry's files give a view of one service, which says what is registered; a
 * cache saves scanning most of them. From plan and view the new text of one file is made.
 */
#ifndef OPL_LOADPERF_INNER_H
#define OPL_LOADPERF_INNER_H

#include "loadperf/loadperf.h"
#include "names/names.h"
#include "registry/registry.h"

#define SOURCE "LoadPerf"
#define LANGUAGES_KEY NAMES_LANGUAGES_KEY

/* The events are described in docs/windows/registration.md#e7. */
enum {
    EVENT_LOADED = 1000,
    EVENT_REMOVED = 1001,
    EVENT_ALREADY = 1002,
    EVENT_NO_OBJECTS = 2000,
    EVENT_DAMAGED_TEXT = 2004,
    EVENT_NO_TEXTS = 2005,
    EVENT_OVERLAP = 2006,
    EVENT_MOVED = 2007,
    EVENT_NO_PERFLIB = 3000,
    EVENT_DAMAGED_NAMES = 3001, /* 3001 for names, 3002 for explanations */
    EVENT_NO_PERFORMANCE_KEY = 3003,
    EVENT_NO_FIRST_COUNTER = 3004,
    EVENT_NO_FIRST_HELP = 3005,
    EVENT_NO_NAMES = 3006, /* 3006 for names, 3007 for explanations */
    EVENT_NO_MEMORY = 3008,
    EVENT_INSTALL_FAILED = 3009,
    EVENT_REMOVE_FAILED = 3011,
    EVENT_CORRUPT = 3012,
    EVENT_NAMES_NOT_WRITTEN = 3013, /* 3013 for names, 3014 for explanations */
    EVENT_NUMBERS_NOT_WRITTEN = 3017,
    EVENT_NUMBERS_NOT_REMOVED = 3018
};

/* Indices of names are even. The project's own block follows the range for the machine's
 * registrations; the range for users' registrations begins far after it. */
enum { USER_FIRST = 1000000, MACHINE_HIGHEST = NAMES_BLOCK_FIRST - 2, USER_HIGHEST = 0x7ffffffc };
enum { SERVICE_SIZE = 256, MOST_FILE_BYTES = 64 << 20, MOST_OFFSET = 0x7ffffff0 };

/* ---- library.c: a library's file ---- */
enum { VALIDATION_BYTES = 16 };
/* Returns ERROR_SUCCESS if programs of this user would load the file: its owner and mode, and those
 * of the folders above it, must permit that. If not, `why` has the reason and what to do. */
LSTATUS load_check_file(const char *path, char why[static TRUST_TEXT]);
/* Computes the validation code of the library's file, in the format that is registered; false: the
 * file does not exist. */
bool load_validation(const char *library, unsigned char ret[static VALIDATION_BYTES]);

/* ---- library.c: exported functions, read from the file without loading it ---- */
struct exports {
    bool known;
    struct buffer symbols, strings; /* the library's symbol table and its strings */
};
/* Returns false only if it is certain that no program for this processor type can load the
 * library. */
bool exports_read(const char *path, struct exports *ret);
void exports_done(struct exports *exports);
/* Returns true only if it is certain that the library does not export the function. */
bool exports_lack(const struct exports *exports, const char *name);

/* ---- load.c: one call of the API, and its messages ---- */
struct load {
    const opl_load_options *options;
    enum registry_layer layer;
    size_t errors;
    bool careful; /* only files that no other user can have written are read */
};
/* True if no other user may write or replace the file. */
bool load_believes(const char *path);
/* Reads a whole file. ERROR_FILE_TOO_LARGE: it is larger than MOST_FILE_BYTES; ERROR_ACCESS_DENIED
 * also: it is empty because it is a folder, a pipe or a device. */
LSTATUS load_file(const char *path, struct buffer *ret);
/* returns the reason why load_file failed, as text for a message */
const char *load_file_reason(const char *path, LSTATUS status);
void load_init(struct load *load, const opl_load_options *options);
void load_error(struct load *load, const char *file, unsigned line, const char *format, ...)
    PRINTF_LIKE(4, 5);
/* Reports that the line was ignored; with `strict` this is an error. */
void load_warning(struct load *load, const char *file, unsigned line, const char *format, ...)
    PRINTF_LIKE(4, 5);
/* Reports information that is not about a mistake. */
void load_note(struct load *load, const char *file, unsigned line, const char *format, ...)
    PRINTF_LIKE(4, 5);
/* Logs an event about a service; `status` is used if the event has that field. */
void load_event(unsigned id, const char *service, LSTATUS status);
/* Logs an event about a language. */
void load_language_event(unsigned id, uint32_t language, LSTATUS status);
/* Logs one event each if First Counter or First Help is missing in a service that has a number or a
 * text. */
void load_lacking_events(const char *service, const bool *has);
/* Returns the call's result for `status`; for a lack of memory it logs an event first. */
DWORD load_end(const struct load *load, LSTATUS status);

/* A part of a text; it does not own the memory. */
struct text_span {
    const char *at;
    size_t count;
};
struct text_span span_trim(struct text_span text);     /* removes blanks and tabs at both ends */
bool span_is(struct text_span span, const char *text); /* compares without regard to case */
int span_compare(struct text_span left, struct text_span right);
char *span_copy(struct text_span span);

/* ---- ini/ini.c: bytes to UTF-8 ---- */
/* Converts a file to UTF-8. *ret_raw: the file is in a code page that only the caller knows, and
 * was not converted. */
LSTATUS decode_file(const void *bytes, size_t size, struct buffer *ret, bool *ret_raw);
/* Returns Windows' ANSI code page for texts in this language. */
unsigned decode_code_page(uint32_t language);
/* Appends the text in UTF-8; a byte that the code page does not have becomes U+FFFD and sets
 * *ret_bad. ERROR_NOT_SUPPORTED: the C library does not know the code page. */
LSTATUS decode_text(struct text_span text, unsigned code_page, struct buffer *ret, bool *ret_bad);

/* ---- ini/ini.c: sections and keys, by the rules of GetPrivateProfileString ---- */
struct ini_entry {
    struct text_span section, key, value; /* `value` is without surrounding blanks and quotation
                                           * marks */
    unsigned line, order;
    bool has_value; /* the line has an equals sign */
};
struct ini {
    struct buffer text;
    bool raw;                  /* the values are in a code page, not in UTF-8 */
    struct ini_entry *entries; /* entries in the order of the file */
    size_t count, capacity;
};
LSTATUS ini_parse(const void *bytes, size_t size, struct ini *ret);
void ini_done(struct ini *ini);
/* Returns the first entry with that name; NULL: no such entry. */
const struct ini_entry *ini_find(const struct ini *ini, const char *section, const char *key);

/* ---- ini/ini.c: the #define lines of a C header ---- */
struct symbol {
    struct text_span name;
    int64_t value;
    struct text_span text; /* the text after the name in the file */
    unsigned line, order;
    bool is_number;
};
struct symbols {
    struct buffer text;
    /* sorted by name without regard to case; equal names in the order of the file */
    struct symbol *list;
    size_t count, capacity;
};
LSTATUS symbols_parse(const void *bytes, size_t size, struct symbols *ret);
void symbols_done(struct symbols *symbols);
/* Returns the symbol with exactly this name, else the first one that differs only in case; NULL:
 * none. */
const struct symbol *symbols_find(const struct symbols *symbols, struct text_span name);

/* ---- ini/plan.c: what ini and symbol file request ---- */
struct plan_text {
    uint32_t language, offset; /* `offset` is even for a name, odd for an explanation */
    unsigned line;
    char *text; /* UTF-8 */
};
struct plan {
    char service[SERVICE_SIZE];
    bool trusted, has_objects;
    uint32_t *languages; /* languages in the order of [languages] */
    size_t language_count, language_capacity;
    struct plan_text *texts; /* texts, sorted by language and offset, without duplicates */
    size_t text_count, text_capacity;
    uint32_t *objects; /* offsets of the objects, ascending, without duplicates */
    size_t object_count, object_capacity;
    uint32_t last_offset; /* highest offset of a name */
    char *functions[3];   /* names of Open, Collect and Close in the library; NULL: not given */
};
LSTATUS plan_read(struct load *load, const char *ini_path, struct plan *ret);
void plan_done(struct plan *plan);
void plan_sort(struct plan *plan);
/* Finds a text in the sorted plan; NULL: no such text. */
const struct plan_text *plan_find(const struct plan *plan, uint32_t language, uint32_t offset);

/* State while a plan is read. */
struct planning {
    struct load *load;
    struct plan *plan;
    const struct ini *ini;
    const struct symbols *symbols;
    const char *ini_path, *symbol_path;
    const struct symbol **used; /* the symbols that occur in texts */
    size_t used_count, used_capacity;
};
/* Splits a key like SYMBOL_009_NAME; false: it has another form. *ret_part: 0 a name, 1 an
 * explanation. */
bool plan_key(struct text_span key, struct text_span *ret_symbol, uint32_t *ret_language,
              uint32_t *ret_part);
/* takes ownership of text->text */
bool plan_add_text(struct plan *plan, const struct plan_text *text);

/* ---- store/scan.c: the indices, services and languages in one registry file ---- */
struct file_scan {
    uint32_t machine_top, user_top; /* highest even index that is used in the machine's and in the
                                     * users' range */
    bool languages;                 /* the file mentions installed languages */
    struct buffer services;         /* names as "\tNAME\tNAME\t"; an empty name stands for all
                                     * services */
};
void scan_done(struct file_scan *scan);
LSTATUS scan_registry(const struct buffer *text, struct file_scan *ret);
/* scans a file LLL.names of the vendor */
LSTATUS scan_names(const struct buffer *text, struct file_scan *ret);
/* True for a key Services\NAME and the keys below it. *ret_below: what follows the name, "" or
 * "\...". */
bool scan_service_key(const char *key, struct text_span *ret_name, const char **ret_below);
/* True if `key` is the key `path` or a key above it. */
bool scan_key_covers(const char *key, const char *path);
/* True for a key `path`\LLL and the keys below it. *ret: the language; *ret_below: what follows. */
bool scan_language_key(const char *key, const char *path, uint32_t *ret, const char **ret_below);
bool scan_add_service(struct file_scan *scan, struct text_span name);
bool scan_mentions(const char *services, const char *service);

/* ---- store/known.c: the scan results of every file of the layers ---- */
/* one row of the cache, the file .ranges */
struct range_row {
    struct registry_file file;
    uint32_t machine_top, user_top;
    bool languages;
    const char *services; /* the services that the file mentions, as in struct file_scan */
};
struct range_cache {
    struct buffer text;
    struct range_row *rows;
    uint32_t *places; /* hash table of row numbers + 1 */
    size_t count, capacity, place_count;
    bool whole; /* the whole file must be rewritten, because appending is not enough */
};
#define SHIPPED_NAMES "names/" /* prefix of the vendor's language bases in known_files */
struct known_file {
    struct range_row row;
    char *name, *services; /* memory of the row's texts, if the cache does not own them */
    bool fresh;            /* the cache file lacks this row */
};
struct known_files {
    struct known_file *files; /* files in the order in which they are merged */
    size_t count, capacity;
    struct range_cache cache;
};
LSTATUS known_read(enum registry_layer layer, struct known_files *ret);
void known_done(struct known_files *known);
/* Records the new content of a file that this process wrote; takes ownership of `scan`. */
LSTATUS known_update(struct known_files *known, const struct registry_file *file,
                     struct file_scan *scan);
void known_forget(struct known_files *known, enum registry_layer layer, const char *name);
/* Saves the results of scans if possible; otherwise the next process scans the files again. */
void known_save(const struct known_files *known, const struct registry_edit *edit);
/* Returns the highest even index that is used in the layer's range, except in the file `without`
 * (NULL: in all files). */
uint32_t known_top(const struct known_files *known, enum registry_layer layer, const char *without);
const struct known_file *known_find(const struct known_files *known, enum registry_layer layer,
                                    const char *name);
/* True if a file of `layer` other than `without` mentions the service. */
bool known_elsewhere(const struct known_files *known, const char *service,
                     enum registry_layer layer, const char *without);

/* True if a file of a higher layer mentions the service or languages. */
bool known_above(const struct known_files *known, const char *service, enum registry_layer layer);

/* ---- store/view.c: one service and the languages, merged from the files that have them ---- */
enum { FIRST_COUNTER, LAST_COUNTER, FIRST_HELP, LAST_HELP, NUMBERS };
extern const char *const number_names[NUMBERS];
enum { LIBRARY, OPEN, COLLECT, CLOSE, OBJECT_LIST, TEXTS };
extern const char *const text_names[TEXTS];
#define VALUE_RESERVED "Reserved Counter"
enum { VIEW_LANGUAGES = 64 };
struct view_language {
    uint32_t id;
    /* `chosen`: LANGUAGES_KEY has a value for the language, which is `choice` */
    bool shipped, has_key, chosen, choice;
    size_t names, helps;
    uint64_t sum; /* sum of the indices of the language's texts */
};
struct service_view {
    bool exists; /* the service has a Performance key */
    bool state;  /* a file has values that Perflib stored because the service failed */
    bool has[NUMBERS];
    uint32_t number[NUMBERS];
    char *text[TEXTS];
    struct view_language languages[VIEW_LANGUAGES];
    size_t language_count;
};
/* A file, and its content after the change. */
struct replaced {
    enum registry_layer layer;
    const char *name;
    const struct buffer *text; /* the new content; NULL: the file will be removed */
};
/* Reads the service from the layers up to `highest` as if the files in `replaced` had been changed
 * already. `replaced` ends with a row whose name is NULL; NULL: no file is changed. */
LSTATUS view_read(const struct known_files *known, const char *service, enum registry_layer highest,
                  const struct replaced *replaced, struct service_view *ret);
void view_done(struct service_view *view);
bool view_is_loaded(const struct service_view *view);
bool view_has_any(const struct service_view *view); /* true if the service has a number or a text */
bool view_has_language(const struct service_view *view, uint32_t language);
void view_totals(const struct service_view *view, size_t *ret_texts, uint64_t *ret_sum);
void view_result(const struct service_view *view, const char *service, opl_load_result *ret);

/* ---- store/rewrite.c: a file's text with a service's registration replaced ---- */
struct registration {
    const struct plan *plan;
    uint32_t number[NUMBERS];
    /* values Library, Open, Collect, Close; record[0] NULL: these values are not changed */
    const char *record[OBJECT_LIST];
    const unsigned char *validation; /* the validation code of 16 bytes, or NULL */
    uint32_t reserved; /* last number that is reserved for a package's service; 0: none */
    char *objects;     /* value Object List, or NULL */
    char *ini;         /* value PerfIniFile, the path of the ini file, or NULL */
};
/* Sets *ret to the content of `old` without the service's numbers (unless `numbers` keeps them) and
 * texts and, with `record`, without Library, Open, Collect and Close. *ret_empty: only comments are
 * left. */
LSTATUS rewrite_without(const struct buffer *old, const char *service, bool record, bool numbers,
                        struct buffer *ret, bool *ret_empty);
struct opl_reg_entry;
LSTATUS rewrite_print(struct buffer *out, const struct opl_reg_entry *entry);
LSTATUS rewrite_add(const struct registration *registration, struct buffer *ret);
/* Appends lines that delete the service's texts, and with `numbers` also its numbers, in files that
 * are merged before the one with these lines. */
LSTATUS rewrite_tombstone(const char *service, bool numbers, struct buffer *ret);

/* ---- store/rewrite.c: shared by installing and removing ---- */
#define MANUAL_REG "manual.reg"
struct layer_change {
    struct load *load;
    struct registry_edit *edit; /* the edit in progress; NULL: dry run, nothing is written */
    struct known_files known;
    struct buffer file; /* name of the service's file, NAME.reg */
};
LSTATUS change_begin(struct layer_change *change, struct load *load, const char *service);
/* Reads a file of the layer; a missing file counts as empty. */
LSTATUS change_read(struct layer_change *change, const char *name, struct buffer *ret);
/* Replaces the file, or removes it if `text` is NULL, and updates the scan results. `scan` is what
 * scanning `text` gave, and belongs to this function from now on; NULL: it scans `text` itself. */
LSTATUS change_commit(struct layer_change *change, const char *name, const struct buffer *text,
                      struct file_scan *scan);
void change_end(struct layer_change *change);

#endif
