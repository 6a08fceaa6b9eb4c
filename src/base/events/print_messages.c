/* SPDX-License-Identifier: MIT */
/*
 * Prints the message catalog, for people and for journald:
 *
 *     print-messages catalog     what `journalctl -x` shows (systemd's catalog format)
 *     print-messages markdown    the tables of docs/events.md
 *     print-messages man         the list of openperflib-events(7), in scdoc format
 */
#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 78 };

/* Adds the text, with each {Field} replaced by the field's name between `before` and `after`, or by
 * journald's @NAME@ if `before` and `after` are NULL. */
static void add_text(struct buffer *out, const char *text, const char *before, const char *after)
{
    char name[64], field[64];
    const char *brace;
    for (; (brace = strchr(text, '{')); text = strchr(brace, '}') + 1) {
        buffer_add(out, text, (size_t)(brace - text));
        snprintf(name, sizeof name, "%.*s", (int)(strchr(brace, '}') - brace - 1), brace + 1);
        event_field_name(name, field);
        if (before)
            buffer_printf(out, "%s%s%s", before, name, after);
        else
            buffer_printf(out, "%s@%s@", strcmp(name, "Win32Error") ? "" : "error ", field);
    }
    buffer_add_text(out, text);
}

/* Prints the text as a sentence, in lines of at most WIDTH characters. */
static void print_sentence(const char *start, const char *text)
{
    BUFFER_AUTO filled = {0};
    size_t column = 0, length;
    buffer_add_text(&filled, start);
    add_text(&filled, text, NULL, NULL);
    if (filled.data[0] >= 'a' && filled.data[0] <= 'z')
        filled.data[0] = (char)(filled.data[0] - 'a' + 'A');
    const char *cursor = filled.data, *word;
    while ((word = text_word(&cursor, &length))) {
        bool wraps = column && column + 1 + length > WIDTH;
        printf("%s%.*s", !column ? "" : wraps ? "\n" : " ", (int)length, word);
        column = wraps || !column ? length : column + 1 + length;
    }
    puts(".");
}

static void print_catalog_head(const char *source, unsigned id, const char *subject)
{
    char message_id[33];
    event_message_id(source, id, message_id);
    printf("\n-- %s\nSubject: %s\nDefined-By: openperflib\n"
           "Documentation: man:openperflib-events(7)\n\n",
           message_id, subject);
}

static void print_catalog(void)
{
    char subject[200];
    puts("# SPDX-License-Identifier: MIT\n"
         "# The texts of openperflib's events for journalctl -x; made from "
         "src/base/events/messages.c");
    for (size_t i = 0; i < event_message_count; i++) {
        const struct event_message *row = &event_messages[i];
        snprintf(subject, sizeof subject, "%s %s %u%s", row->source, event_level_name(row->level),
                 row->id, strstr(row->fields, "Service") ? ": @OPENPERFLIB_SERVICE@" : "");
        print_catalog_head(row->source, row->id, subject);
        print_sentence("", row->text);
        if (*row->advice)
            print_sentence("What to do: ", row->advice);
    }
    print_catalog_head("", 0, "@OPENPERFLIB_SOURCE@ @OPENPERFLIB_LEVEL@ @OPENPERFLIB_ID@");
    print_sentence("", "a program reported this under a name of its own, with ReportEvent or "
                       "MessageBox; see its documentation");
}

static void print_fields(const char *fields)
{
    const char *word;
    size_t length;
    for (int i = 0; (word = text_word(&fields, &length)); i++)
        printf("%s%.*s", i ? ", " : "", (int)length, word);
}

static void print_markdown(void)
{
    const char *source = "";
    for (size_t i = 0; i < event_message_count; i++) {
        const struct event_message *row = &event_messages[i];
        BUFFER_AUTO text = {0};
        add_text(&text, row->text, "*", "*");
        buffer_add_text(&text, " | ");
        add_text(&text, row->advice, "*", "*");
        if (strcmp(source, row->source))
            printf("%s## Events of %s\n\n| id | level | fields | text | what to do |\n"
                   "|---|---|---|---|---|\n",
                   i ? "\n" : "", row->source);
        source = row->source;
        printf("| %u | %s | ", row->id, event_level_name(row->level));
        print_fields(row->fields);
        printf(" | %s |\n", text.data);
    }
}

static void print_man(void)
{
    const char *source = "";
    for (size_t i = 0; i < event_message_count; i++) {
        const struct event_message *row = &event_messages[i];
        BUFFER_AUTO text = {0};
        add_text(&text, row->text, "_", "_");
        if (*row->advice)
            buffer_add_text(&text, ".++\nWhat to do: ");
        add_text(&text, row->advice, "_", "_");
        if (strcmp(source, row->source))
            printf("%s# EVENTS OF %s\n\n", i ? "\n" : "",
                   *row->source == 'P' ? "PERFLIB" : "LOADPERF");
        source = row->source;
        printf("*%u* %s%s", row->id, event_level_name(row->level), *row->fields ? ": " : "");
        print_fields(row->fields);
        printf("\n\t%s.\n\n", text.data);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc == 2 ? argv[1] : "";
    if (!strcmp(what, "catalog"))
        print_catalog();
    else if (!strcmp(what, "markdown"))
        print_markdown();
    else if (!strcmp(what, "man"))
        print_man();
    else
        return fprintf(stderr, "usage: print-messages catalog | markdown | man\n"), 2;
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
