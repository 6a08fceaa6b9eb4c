/* SPDX-License-Identifier: MIT */
/* The three outputs: the symbol file, the ini file, and a readable list. */
#include "tables.h"

#include <string.h>
#include <strings.h>

void print_header(FILE *out, const struct entries *entries)
{
    fprintf(out, "/* The symbol file of %s: what lodctr adds to First Counter and First Help. */\n",
            entries->tables->service);
    for (size_t i = 0; i < entries->count; i++)
        fprintf(out, "#define %s %u\n", entries->list[i].symbol, (unsigned)entries->list[i].index);
}

/* Prints a text, in quotation marks if it has blanks or quotation marks at its ends. */
static void print_text(FILE *out, const char *text)
{
    size_t length = strlen(text);
    bool quote =
        length > 0 && (text[0] == ' ' || text[length - 1] == ' ' ||
                       (length > 1 && text[0] == text[length - 1] && strchr("\"'", text[0])));
    fprintf(out, quote ? "\"%s\"\n" : "%s\n", text);
}

static void print_texts(FILE *out, const struct table_entry *entry, const char *language,
                        const char *name, const char *help)
{
    fprintf(out, "%s_%s_NAME=", entry->symbol, language);
    print_text(out, name);
    fprintf(out, "%s_%s_HELP=", entry->symbol, language);
    print_text(out, help);
}

/* Prints an entry in all languages. Where a translation is missing, the English text is printed,
 * which lodctr would use too, so that translators notice it. */
static void print_entry(FILE *out, const struct table_entry *entry, const struct old *old)
{
    fputc('\n', out);
    print_texts(out, entry, "009", entry->name, entry->help);
    for (size_t i = 0; i < old->language_count; i++) {
        const char *language = old->languages[i].id;
        if (strcmp(language, "009") == 0)
            continue;
        const char *name = old_text(old, entry->symbol, language, false);
        const char *help = old_text(old, entry->symbol, language, true);
        print_texts(out, entry, language, name ? name : entry->name, help ? help : entry->help);
    }
}

void print_ini(FILE *out, const struct entries *entries, const struct old *old,
               const char *symbol_file)
{
    fprintf(out, "; The names of %s, for lodctr.\n", entries->tables->service);
    fprintf(out, "[info]\ndrivername=%s\nsymbolfile=%s\n\n[languages]\n009=English\n",
            entries->tables->service, symbol_file);
    for (size_t i = 0; i < old->language_count; i++)
        if (strcmp(old->languages[i].id, "009") != 0)
            fprintf(out, "%s=%s\n", old->languages[i].id, old->languages[i].comment);
    fputs("\n[objects]\n", out);
    for (size_t i = 0; i < entries->count; i++)
        if (entries->list[i].object)
            fprintf(out, "%s_009_NAME=\n", entries->list[i].symbol);
    fputs("\n[text]", out);
    for (size_t i = 0; i < entries->count; i++)
        print_entry(out, &entries->list[i], old);
}

void print_list(FILE *out, const struct entries *entries)
{
    const opl_table_list *tables = entries->tables;
    fprintf(out, "service %s: %s, %s, %s\n", tables->service, tables->procedures[0],
            tables->procedures[1], tables->procedures[2]);
    for (size_t i = 0; i < entries->count; i++) {
        const struct table_entry *entry = &entries->list[i];
        fprintf(out, "%6u  %s%s\n        %s%s\n", (unsigned)entry->index, entry->object ? "" : "  ",
                entry->name, entry->object ? "" : "  ", entry->help);
    }
}
