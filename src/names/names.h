/* SPDX-License-Identifier: MIT */
/*
 * API of names: titles and explanations of every index, in every installed language.
 *
 * A language's base merges the vendor's names/LLL.names, every service's texts
 * (Services\NAME\Performance\Names\LLL) and texts written by hand. The English text is used for a
 * text that a language lacks. (docs/windows/articles.md#c21, docs/windows/registration.md#e2)
 */
#ifndef OPL_NAMES_H
#define OPL_NAMES_H

#include "base/base.h"

enum names_part { NAMES_COUNTER, NAMES_HELP };
enum { LANGUAGE_ENGLISH = 0x009, NAMES_BASE_INDEX = 1847 };
/* The index of the first pair, whose text is the number of the pairs, as in Windows, and not a
 * name. */
enum { NAMES_FIRST_PAIR = 1 };
/* The indices of this project's own packages; no other registration gets them. */
enum { NAMES_BLOCK_FIRST = 100000, NAMES_BLOCK_LAST = 109999 };

/* A key with a value named LLL (such as 007) for each language that was installed (1) or removed
 * (0) by lodctr. */
#define NAMES_LANGUAGES_KEY "HKEY_LOCAL_MACHINE\\SOFTWARE\\openperflib\\Languages"

/* Returns the language id of LC_ALL, LC_MESSAGES or LANG: a full LANGID such as 0x0419; 0x0409 if
 * none is set. names_language turns it into the id of a base: 0x0419 into 0x019; 0x404, 0x804,
 * 0x416 and 0x816 stay as they are. */
uint32_t names_user_langid(void);
uint32_t names_language(uint32_t langid);
bool names_language_installed(uint32_t language);
LSTATUS names_each_language(bool (*each)(void *self, const char *id), void *self); /* id: "009" */

/* Copies all names or all explanations (`part`) of the language as REG_MULTI_SZ, in UTF-16 (`wide`)
 * or UTF-8; *size becomes its size in bytes. `data` NULL: only *size is set. ERROR_MORE_DATA:
 * `data` is too small. For a language that is not installed the English base is copied. */
LSTATUS names_text(enum names_part part, uint32_t language, bool wide, void *data, DWORD *size);
/* A list of the names or the explanations of one language. It never changes, so it needs no lock; a
 * user of the list holds a reference. A list of this machine may be read from a file when it is
 * searched: if the file is damaged, name_list_failed is true after a search, which must then be
 * repeated with another list of names_hold. */
struct name_list;
/* Returns the present list of this machine, or the English one if the language is not installed;
 * must be released. NULL: no memory. */
const struct name_list *names_hold(enum names_part part, uint32_t language);
/* Makes a list from a multi-string of pairs, which may be unsorted and damaged. NULL: no memory. */
const struct name_list *name_list_make(const char *multi, size_t size);
const struct name_list *name_list_hold(const struct name_list *list);
bool name_list_failed(const struct name_list *list); /* `list` may be NULL */
void name_list_drop(const struct name_list *list);
const char *name_list_text(const struct name_list *list, uint32_t index); /* NULL: no text */
/* Finds the numbers of a name (without regard to case), in ascending order. Returns how many there
 * are, but writes at most `capacity`. */
size_t name_list_numbers(const struct name_list *list, const char *name, uint32_t *ret,
                         size_t capacity);
/* Appends the text of the index to `ret`, which may be NULL. False: the index has no text. */
bool names_lookup(uint32_t index, uint32_t language, struct buffer *ret);
/* Gets the highest even and the highest odd index in use: Last Counter and Last Help. An index of
 * the packaged block counts as the block's last, so that programs that choose the next numbers
 * themselves do not use it. */
LSTATUS names_last(uint32_t *ret_counter, uint32_t *ret_help);
/* Returns the FILETIME of the newest source of names; it changes whenever a name changes. */
int64_t names_last_write(void);
/* Compares a whole base that a program wrote with the merged one; texts that differ are stored as
 * texts written by hand. */
LSTATUS names_store(enum names_part part, uint32_t language, const char *multi, size_t size);

#endif
