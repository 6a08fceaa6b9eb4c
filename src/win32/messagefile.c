/* SPDX-License-Identifier: MIT */
/*
 * The texts of a program's own events. As on Windows, EventMessageFile of the source's key names
 * files that contain them; a file here is an ELF object (a provider's library) whose section
 * ".openperflib.messages" has a line for each text: language, id, text, separated by tabs, with the
 * escapes \n, \t and \\. openperflib-cc makes it from .mc files. The section is read from the file;
 * the library is not loaded.
 */
#include "messagefile.h"
#include <winbase.h>
#include <winreg.h>

#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_SECTIONS = 4096, MOST_TEXT = 4 << 20, PATHS_SIZE = 4096 };
static const char section_name[] = ".openperflib.messages";

/* ---- the section ---- */

static bool read_at(int file, void *to, size_t bytes, uint64_t offset)
{
    return offset <= INT64_MAX && pread(file, to, bytes, (off_t)offset) == (ssize_t)bytes;
}

/* Returns the section's bytes as text, which the caller must free; NULL: there is none. */
static char *read_section(int file, const ElfW(Ehdr) * head)
{
    ElfW(Shdr) names, section;
    char name[sizeof section_name];
    uint64_t table = head->e_shoff;
    if (head->e_shnum > MOST_SECTIONS || head->e_shentsize != sizeof section ||
        !read_at(file, &names, sizeof names, table + (uint64_t)head->e_shstrndx * sizeof names))
        return NULL;
    for (unsigned i = 0; i < head->e_shnum; i++) {
        if (!read_at(file, &section, sizeof section, table + (uint64_t)i * sizeof section) ||
            !read_at(file, name, sizeof name, (uint64_t)names.sh_offset + section.sh_name) ||
            memcmp(name, section_name, sizeof name) != 0)
            continue;
        char *text = section.sh_size < MOST_TEXT ? calloc(1, (size_t)section.sh_size + 1) : NULL;
        if (text && read_at(file, text, (size_t)section.sh_size, section.sh_offset))
            return text;
        free(text);
        return NULL;
    }
    return NULL;
}

static char *read_messages(const char *path)
{
    struct stat st;
    ElfW(Ehdr) head;
    char *text = NULL;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return NULL;
    if (fstat(file, &st) == 0 && S_ISREG(st.st_mode) && read_at(file, &head, sizeof head, 0) &&
        memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
        head.e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
        text = read_section(file, &head);
    close(file);
    return text;
}

/* ---- the message ---- */

/* Returns the rank of a language, best first: the user's, the same language of another country,
 * English, any other. */
static int rank(LANGID language, LANGID wanted)
{
    return language == wanted                                 ? 4
           : PRIMARYLANGID(language) == PRIMARYLANGID(wanted) ? 3
           : PRIMARYLANGID(language) == LANG_ENGLISH          ? 2
                                                              : 1;
}

/* Returns the text of event `id` in the best language, a part of `messages`; NULL: no line has the
 * id. */
static char *find_message(char *messages, DWORD id)
{
    char *best = NULL, *rest = NULL, *end = NULL;
    int best_rank = 0;
    LANGID wanted = GetUserDefaultUILanguage();
    for (char *line = strtok_r(messages, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        unsigned long language = strtoul(line, &end, 16);
        if (*end != '\t' || strtoul(end + 1, &end, 16) != id || *end != '\t')
            continue;
        if (rank((LANGID)language, wanted) > best_rank) {
            best_rank = rank((LANGID)language, wanted);
            best = end + 1;
        }
    }
    return best;
}

/* Adds the string for an insert such as "%1" or "%2!s!"; `at` is at the digit. Returns the address
 * after the insert. */
static const char *add_insert(struct buffer *text, const char *at, WORD count, char *const *strings)
{
    unsigned number = (unsigned)(at[0] - '0');
    const char *end = at + 1;
    if (*end >= '0' && *end <= '9')
        number = number * 10 + (unsigned)(*end++ - '0');
    if (number > count)
        buffer_printf(text, "%%%u", number);
    else if (strings[number - 1])
        buffer_add_text(text, strings[number - 1]);
    const char *format = *end == '!' ? strchr(end + 1, '!') : NULL;
    return format ? format + 1 : end;
}

/* Adds the message with its inserts, as one line of the log. */
static void add_message(struct buffer *text, const char *at, WORD count, char *const *strings)
{
    for (; *at; at++) {
        if (at[0] == '\\' && at[1]) {
            at++;
            buffer_add_byte(text, *at == 'n' || *at == 't' ? ' ' : *at);
        } else if (at[0] != '%' || !at[1]) {
            buffer_add_byte(text, *at);
        } else if (at[1] >= '1' && at[1] <= '9') {
            at = add_insert(text, at + 1, count, strings) - 1;
        } else if (at[1] == '0') {
            break;
        } else {
            at++;
            buffer_add_byte(text, strchr("nrtb", *at) ? ' ' : *at);
        }
    }
    while (text->len && text->data[text->len - 1] == ' ')
        text->data[--text->len] = '\0';
}

/* ---- the files ---- */

static bool message_paths(const char *source, char paths[static PATHS_SIZE])
{
    static const char *const logs[] = {"Application", "System"};
    BUFFER_AUTO key = {0};
    for (size_t i = 0; i < COUNT(logs) && !strchr(source, '\\'); i++) {
        DWORD size = PATHS_SIZE - 1;
        buffer_clear(&key);
        buffer_printf(&key, "SYSTEM\\CurrentControlSet\\Services\\EventLog\\%s\\%s", logs[i],
                      source);
        if (key.failed)
            return false;
        if (RegGetValueA(HKEY_LOCAL_MACHINE, key.data, "EventMessageFile",
                         RRF_RT_REG_SZ | RRF_RT_REG_EXPAND_SZ | RRF_NOEXPAND, NULL, paths,
                         &size) == ERROR_SUCCESS)
            return true;
    }
    return false;
}

bool message_file_text(struct buffer *text, const char *source, DWORD id, WORD count,
                       char *const *strings)
{
    char paths[PATHS_SIZE], *rest = NULL;
    bool found = false;
    if (!message_paths(source, paths))
        return false;
    for (char *path = strtok_r(paths, ";", &rest); path && !found;
         path = strtok_r(NULL, ";", &rest)) {
        char *messages = path[0] == '/' ? read_messages(path) : NULL;
        const char *message = messages ? find_message(messages, id) : NULL;
        found = message != NULL;
        if (found)
            add_message(text, message, count, strings);
        free(messages);
    }
    return found;
}
