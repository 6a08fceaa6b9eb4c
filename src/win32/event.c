/* SPDX-License-Identifier: MIT */
/* The event functions of winbase.h, with which programs log events under names of their own. */
#include "base/base.h"
#include <winbase.h>
#include <winreg.h>

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- message files ---- */

/*
 * The texts of a program's own events. As on Windows, EventMessageFile of the source's key names
 * files that contain them; a file here is an ELF object (a provider's library) whose section
 * ".openperflib.messages" has a line for each text: language, id, text, separated by tabs, with the
 * escapes \n, \t and \\. openperflib-cc makes it from .mc files. The section is read from the file;
 * the library is not loaded.
 */

enum { MOST_SECTIONS = 4096, MOST_TEXT = 4 << 20, PATHS_SIZE = 4096 };
static const char section_name[] = ".openperflib.messages";

/* ---- the section ---- */

static bool read_at(int file, void *to, size_t bytes, uint64_t offset)
{
    return offset <= INT64_MAX && pread(file, to, bytes, (off_t)offset) == (ssize_t)bytes;
}

/* Returns the section's bytes as text, which the caller must free; NULL: the file has no such
 * section. */
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

/* Returns a language's rank: 4 for the user's language, 3 for that language of another country, 2
 * for English, 1 for any other. */
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

/* Appends the text of event `id`, from the files in EventMessageFile of the source; false: no file
 * has it. */
static bool message_file_text(struct buffer *text, const char *source, DWORD id, WORD count,
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

/* ---- events ---- */

enum { MOST_STRINGS = 256, MOST_CHARACTERS = 31839, MOST_DATA = 61440, SOURCE_TABLE_TAG = 2 };
enum { FIXED_FIELDS = 3 }; /* the fields after the strings: EventId, Category, Data */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct handle_table sources = {.tag = SOURCE_TABLE_TAG}; /* handles of event sources; each
                                                                 * refers to the source's name */

static BOOL answer(LSTATUS status)
{
    if (status)
        SetLastError((DWORD)status);
    return !status;
}

static size_t units(const char *text)
{
    return utf8_to_16(text, strlen(text), NULL, 0);
}

static LSTATUS narrow(LPCWSTR wide, char **ret)
{
    BUFFER_AUTO text = {0};
    *ret = NULL;
    if (!wide)
        return ERROR_SUCCESS;
    if (!utf16_add_as_8(&text, (const uint16_t *)wide, utf16_length((const uint16_t *)wide)))
        return ERROR_NOT_ENOUGH_MEMORY;
    *ret = text.data;
    text = (struct buffer){0};
    return ERROR_SUCCESS;
}

/* ---- sources ---- */

static LSTATUS open_source(const char *server, const char *name, HANDLE *ret)
{
    uintptr_t handle;
    if (!machine_is_own(server))
        return RPC_S_SERVER_UNAVAILABLE;
    if (!name || !*name || units(name) > LIMIT_KEY_NAME)
        return ERROR_INVALID_PARAMETER;
    if (text_equal_fold(name, "Security"))
        return ERROR_ACCESS_DENIED;
    char *copy = strdup(name);
    if (!copy)
        return ERROR_NOT_ENOUGH_MEMORY;
    LSTATUS status = handle_new(&sources, copy, &handle);
    if (status)
        free(copy);
    else
        *ret = (HANDLE)handle;
    return status;
}

/* Copies the name of the source, because another thread may close the handle. */
static LSTATUS source_name(HANDLE log, char **ret)
{
    lock_take(&lock);
    const char *name = handle_get(&sources, (uintptr_t)log);
    *ret = name ? strdup(name) : NULL;
    lock_release(&lock);
    return *ret ? ERROR_SUCCESS : name ? ERROR_NOT_ENOUGH_MEMORY : ERROR_INVALID_HANDLE;
}

HANDLE WINAPI RegisterEventSourceA(LPCSTR server, LPCSTR source)
{
    HANDLE log = NULL;
    answer(open_source(server, source, &log));
    return log;
}

HANDLE WINAPI RegisterEventSourceW(LPCWSTR server, LPCWSTR source)
{
    FREE_AUTO char *own_server = NULL;
    FREE_AUTO char *name = NULL;
    HANDLE log = NULL;
    LSTATUS status = narrow(server, &own_server);
    status = status ? status : narrow(source, &name);
    answer(status ? status : open_source(own_server, name, &log));
    return log;
}

BOOL WINAPI DeregisterEventSource(HANDLE log)
{
    lock_take(&lock);
    char *name = handle_take(&sources, (uintptr_t)log);
    lock_release(&lock);
    free(name);
    return answer(name ? ERROR_SUCCESS : ERROR_INVALID_HANDLE);
}

/* ---- events ---- */

/* The arguments of ReportEvent; its strings are UTF-8. */
struct written {
    WORD type, category, count;
    DWORD id, size;
    char *const *strings;
    const unsigned char *data;
};

struct event_report {
    struct event_record record;
    struct event_field *fields;
    char (*names)[16]; /* the names of the strings' fields; the longest is "String256" */
    struct buffer text, data;
};

static void report_done(struct event_report *report)
{
    free(report->fields);
    free(report->names);
    buffer_done(&report->text);
    buffer_done(&report->data);
}
#define REPORT_AUTO __attribute__((cleanup(report_done))) struct event_report

static LSTATUS fault_of(const struct written *written)
{
    WORD known = EVENTLOG_ERROR_TYPE | EVENTLOG_WARNING_TYPE | EVENTLOG_INFORMATION_TYPE |
                 EVENTLOG_AUDIT_SUCCESS | EVENTLOG_AUDIT_FAILURE;
    if (written->type & ~known || written->type & (written->type - 1))
        return ERROR_INVALID_PARAMETER;
    if ((written->count && !written->strings) || (written->size && !written->data))
        return ERROR_INVALID_PARAMETER;
    if (written->count > MOST_STRINGS || written->size > MOST_DATA)
        return RPC_S_INVALID_BOUND;
    for (WORD i = 0; i < written->count; i++)
        if (written->strings[i] && units(written->strings[i]) > MOST_CHARACTERS)
            return RPC_S_INVALID_BOUND;
    return ERROR_SUCCESS;
}

static enum event_level level_of(WORD type)
{
    if (type == EVENTLOG_ERROR_TYPE)
        return EVENT_ERROR;
    return type == EVENTLOG_WARNING_TYPE || type == EVENTLOG_AUDIT_FAILURE ? EVENT_WARNING
                                                                           : EVENT_INFO;
}

/* Names the fields of the strings: first with the words of `fields`, which the event catalog has
 * for this event, then "StringN". */
static void name_fields(struct event_report *report, const struct written *written,
                        const char *fields)
{
    for (WORD i = 0; i < written->count; i++) {
        size_t length = 0;
        const char *word = text_word(&fields, &length);
        if (word)
            snprintf(report->names[i], sizeof *report->names, "%.*s", (int)length, word);
        else
            snprintf(report->names[i], sizeof *report->names, "String%u", i + 1);
        report->fields[i] = EVENT_TEXT(report->names[i], written->strings[i]);
        if (!strcmp(report->names[i], "Service") && written->strings[i])
            report->record.service = written->strings[i];
    }
    struct event_field *fixed = report->fields + written->count;
    *fixed++ = EVENT_HEX("EventId", written->id);
    *fixed++ = EVENT_NUMBER("Category", written->category);
    if (written->size)
        *fixed++ = EVENT_TEXT("Data", report->data.data);
}

static void join_strings(struct buffer *text, const struct written *written)
{
    for (WORD i = 0; i < written->count; i++) {
        const char *string = written->strings[i] ? written->strings[i] : "";
        buffer_printf(text, "%s%s", text->len && *string ? ": " : "", string);
    }
}

static void compose(struct event_report *report, const struct written *written)
{
    const struct event_message *row = event_message(report->record.source, report->record.id);
    for (DWORD i = 0; i < written->size; i++)
        buffer_printf(&report->data, "%02x", written->data[i]);
    name_fields(report, written, row ? row->fields : "");
    if (row)
        event_add_message(&report->text, row->text, report->record.service, report->fields);
    else if (!message_file_text(&report->text, report->record.source, written->id, written->count,
                                written->strings))
        join_strings(&report->text, written);
    if (written->size)
        buffer_printf(&report->text, "%s[%s]", report->text.len ? " " : "", report->data.data);
}

static LSTATUS write_report(const char *source, const struct written *written)
{
    REPORT_AUTO report = {
        .record = {.source = source, .service = "", .advice = "", .text = ""},
        .fields = calloc(written->count + FIXED_FIELDS + 1, sizeof *report.fields),
        .names = calloc(written->count + 1, sizeof *report.names),
    };
    if (!report.fields || !report.names || !buffer_reserve(&report.data, 2 * written->size))
        return ERROR_NOT_ENOUGH_MEMORY;
    report.record.id = written->id & 0xffff;
    report.record.level = level_of(written->type);
    report.record.fields = report.fields;
    compose(&report, written);
    if (report.text.failed)
        return ERROR_NOT_ENOUGH_MEMORY;
    if (report.text.data)
        report.record.text = report.text.data;
    trace("event", "%s %u: %s", source, report.record.id, report.record.text);
    return event_write(&report.record);
}

static LSTATUS report_event(HANDLE log, const struct written *written)
{
    FREE_AUTO char *source = NULL;
    LSTATUS status = source_name(log, &source);
    status = status ? status : fault_of(written);
    return status ? status : write_report(source, written);
}

BOOL WINAPI ReportEventA(HANDLE log, WORD type, WORD category, DWORD id, PSID user, WORD count,
                         DWORD size, LPCSTR *strings, LPVOID data)
{
    const struct written written = {type, category, count, id, size, (char *const *)strings, data};
    return answer(report_event(log, &written));
}

BOOL WINAPI ReportEventW(HANDLE log, WORD type, WORD category, DWORD id, PSID user, WORD count,
                         DWORD size, LPCWSTR *strings, LPVOID data)
{
    LSTATUS status = ERROR_SUCCESS;
    WORD converted = strings && count <= MOST_STRINGS ? count : 0;
    char **texts = calloc(converted + 1u, sizeof *texts);
    if (!texts)
        return answer(ERROR_NOT_ENOUGH_MEMORY);
    for (WORD i = 0; i < converted && !status; i++)
        status = narrow(strings[i], &texts[i]);
    const struct written written = {type, category, count, id, size, strings ? texts : NULL, data};
    if (!status)
        status = report_event(log, &written);
    for (WORD i = 0; i < converted; i++)
        free(texts[i]);
    free(texts);
    return answer(status);
}
