/* SPDX-License-Identifier: MIT */
/* The herd as HKEY_PERFORMANCE_DATA returns it, of this machine or of another one. */
#ifndef BEHEMOTH_CLIENT_READER_H
#define BEHEMOTH_CLIENT_READER_H

#include <windows.h>

#include <openperflib/block.h>

#include <stdbool.h>
#include <stdint.h>

#include <behemoth.h>

enum {
    NO_MOTHER = -1,
    READER_NAME = 64, /* bytes of a name, with the NUL; longer names are truncated */
    READER_SYMBOLS = BEHEMOTHS_SUMMARY_FOUNDERS / 2 + 1, /* arrays are indexed by symbol / 2 */
    READER_VALUES = BEHEMOTH_BIRTHDAY / 2 + 1,
    READER_LANGUAGES = 128
};

struct reader_behemoth {
    char name[READER_NAME];
    int64_t mother; /* her position as in the block, not checked; or NO_MOTHER */
    uint64_t values[READER_VALUES];
};

/* A counter of the summary in the newest answer and in the answer before: a rate needs both. */
struct reader_pair {
    bool there, was_there;
    opl_sample now, before; /* all 0 if the counter was not there */
};

struct reader {
    HKEY data;     /* HKEY_PERFORMANCE_DATA of this machine or of another one */
    DWORD first;   /* the provider's First Counter, to which symbols are added */
    LONGLONG time; /* the clock of the object Behemoth; `frequency`: its ticks per second */
    LONGLONG frequency;
    char machine[READER_NAME]; /* the machine's name in the answer */
    bool has[READER_VALUES];   /* has[n]: values[n] is known for all behemoths */
    struct reader_behemoth *all;
    size_t count;
    struct reader_pair pairs[READER_SYMBOLS];
    char language[8];
    char *titles[READER_SYMBOLS]; /* NULL: no title in the language or in English */
    BYTE *block;
    DWORD capacity;
};

/* Opens the performance data of `machine` (NULL: this machine), and reads all titles in a language:
 * 009, 019, ...; English ones replace missing ones. Returns a Windows status; ERROR_FILE_NOT_FOUND:
 * the provider is not registered on that machine. reader_close may be called after any status. */
LSTATUS reader_open(struct reader *reader, const char *machine, const char *language);
/* Queries the objects Behemoth and Behemoths Summary at once. ERROR_FILE_NOT_FOUND: they are not in
 * the answer; ERROR_INVALID_DATA: the answer is damaged. After an error the old data is kept. */
LSTATUS reader_read(struct reader *reader);
/* Like reader_read, with an answer that the caller already has. The answer is checked. */
LSTATUS reader_take(struct reader *reader, const void *block, size_t size);
void reader_close(struct reader *reader);

/* A value of the summary as the answer has it; 0: there is none. Status is 1 if the server answers
 * the provider (else all data is from its last answer), Data Age 0 if it never did. */
int64_t reader_raw(const struct reader *reader, unsigned symbol);
/* A value of the summary by its type: a count, a rate, a percentage, seconds. NaN: there is no
 * value; a rate needs two answers. */
double reader_summary(const struct reader *reader, unsigned symbol);
/* How old a behemoth is, in seconds; negative: unknown. */
double reader_age(const struct reader *reader, const struct reader_behemoth *one);

/* ---- the language bases of the machine: "Counter 019": index, title, index, ... ---- */

struct base {
    char *text;
    DWORD size;
};
struct base_title {
    uint32_t index;
    const char *text;
    const char *next; /* the beginning of the next title */
};
/* Steps to the next title; start with a zeroed *title. False: there are no more titles. */
bool base_next(const struct base *base, struct base_title *title);

/* The title of a symbol; the number as text, if there is no title. */
const char *reader_title(const struct reader *reader, unsigned symbol);
/* The unit "kg", "l", "m" or "s" in the titles' language. */
const char *reader_unit(const struct reader *reader, const char *english);
/* Are there titles in this language? If not, `out` lists the machine's languages, " 007 009". */
bool language_installed(const char *machine, const char *language, char out[READER_LANGUAGES]);

#endif
