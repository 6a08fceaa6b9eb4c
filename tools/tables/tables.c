/* SPDX-License-Identifier: MIT */
/*
 * openperflib-tables: generates the files for lodctr from the tables of a provider library, so that
 * each counter is defined only once. The library is loaded, but its open function is not called.
 */
#include "tables.h"
#include "../common/options.h"
#include "../common/refused.h"
#include "../view/text.h"
#include <openperflib/unstable.h>

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { INI = 1, HEADER, MERGE, LANGUAGE, SYMBOLS, OUTPUT, TRUST };

/* clang-format off */
static const struct option_row rows[] = {
    {'i', "ini", NULL, INI, "Print the ini file: the service, its objects, and all names and explanations.", NULL, 0},
    {'s', "symbols", NULL, HEADER, "Print the symbol file, a C header.", NULL, 0},
    {'m', "merge", "FILE", MERGE, "With --ini: keep the other languages of this ini file (UTF-8); the file need not exist.", "@files", 0},
    {'l', "language", "ID", LANGUAGE,
     "With --ini: add a language, such as 007, with English texts to translate. May be given more than once.",
     "004 007 00A 00C 010 011 019 404 416 804 816", 0},
    {0, "symbolfile", "NAME", SYMBOLS, "With --ini: the symbol file's name. Default: SERVICE.h in lower case.", NULL, 0},
    {'o', "output", "FILE", OUTPUT, "Write to FILE instead of standard output, all or nothing; FILE may be the file of --merge.", "@files", 0},
    {0, "trust", NULL, TRUST, "Load the library even if another user can change it: its code runs as you.", NULL, 0},
    {0},
};
/* clang-format on */

static const struct tool tool = {
    .name = "openperflib-tables",
    .summary = "Print the files for lodctr from a provider's tables.",
    .usage = "[OPTION]... LIBRARY",
    .rows = rows,
    .more =
        "LIBRARY is a provider made with OPL_PROVIDER (openperflib/object.h). Without --ini and\n"
        "--symbols its objects and counters are listed.\n"
        "\n"
        "Examples:\n"
        "  openperflib-tables ./demo.so\n"
        "  openperflib-tables --symbols --output demo.h ./demo.so\n"
        "  openperflib-tables --ini --merge demo.ini --output demo.ini ./demo.so\n",
    .complete_args = "@files",
};

struct table_options {
    int what; /* INI, HEADER or 0 */
    const char *library, *merge, *symbol_file, *output;
    struct old languages;
    bool trust;
};

static const opl_table_list *load(const char *library, bool trust)
{
    char why[REFUSED_TEXT], *real = realpath(library, NULL);
    const opl_table_list *tables = NULL;
    if (!real)
        snprintf(why, sizeof why, "%s", strerror(errno));
    else if (trust || !library_refused(real, why))
        tables = opl_tables_load(real, why);
    free(real);
    if (tables && !tables->service)
        snprintf(why, sizeof why, "its numbers are absolute, so lodctr is not needed");
    else if (tables)
        return tables;
    fprintf(stderr, "openperflib-tables: %s: %s\n", text_seen(library), text_seen(why));
    return NULL;
}

static char *default_symbol_file(const char *service)
{
    char *name = malloc(strlen(service) + 3);
    if (!name)
        exit(EXIT_FAILED);
    sprintf(name, "%s.h", service);
    for (char *c = name; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return name;
}

/* Writes a file. The text is written to a temporary file in the same folder first, so that a full
 * disk does not damage the old file. */
static int write_file(const char *path, const char *text, size_t size)
{
    char *temporary = malloc(strlen(path) + 8);
    if (!temporary)
        return EXIT_FAILED;
    sprintf(temporary, "%s.new", path);
    FILE *file = fopen(temporary, "w");
    bool good = file && fwrite(text, 1, size, file) == size;
    good = file && fclose(file) == 0 && good && rename(temporary, path) == 0;
    if (!good) {
        fprintf(stderr, "openperflib-tables: %s: %s\n", text_seen(path), strerror(errno));
        remove(temporary);
    }
    free(temporary);
    return good ? EXIT_GOOD : EXIT_FAILED;
}

static int write_result(const struct table_options *opts, const char *text, size_t size)
{
    if (opts->output)
        return write_file(opts->output, text, size);
    text_put_output(stdout, text, size);
    if (fflush(stdout) == 0)
        return EXIT_GOOD;
    fprintf(stderr, "openperflib-tables: standard output: %s\n", strerror(errno));
    return EXIT_FAILED;
}

static int print(const struct table_options *opts, const struct entries *entries,
                 const struct old *old)
{
    char *text = NULL;
    size_t size = 0;
    char *symbol_file = default_symbol_file(entries->tables->service);
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return EXIT_FAILED;
    if (opts->what == INI)
        print_ini(out, entries, old, opts->symbol_file ? opts->symbol_file : symbol_file);
    else if (opts->what == HEADER)
        print_header(out, entries);
    else
        print_list(out, entries);
    free(symbol_file);
    int result = fclose(out) == 0 ? write_result(opts, text, size) : EXIT_FAILED;
    free(text);
    return result;
}

static int run(const struct table_options *opts)
{
    struct entries entries = {0};
    struct old old = {0};
    int result = EXIT_FAILED;
    const opl_table_list *tables = load(opts->library, opts->trust);
    if (tables && entries_read(opts->library, tables, &entries) &&
        (!opts->merge || old_read(opts->merge, &old))) {
        for (size_t i = 0; i < opts->languages.language_count; i++)
            old_add_language(&old, opts->languages.languages[i].id, "");
        result = print(opts, &entries, &old);
    }
    entries_done(&entries);
    old_done(&old);
    return result;
}

static int take_option(struct table_options *opts, const struct options *options, int id)
{
    const char **texts[] = {
        [MERGE] = &opts->merge, [SYMBOLS] = &opts->symbol_file, [OUTPUT] = &opts->output};
    if (id == INI || id == HEADER) {
        if (opts->what && opts->what != id)
            return options_complain(
                options, "--ini and --symbols cannot be used together; give one of them");
        opts->what = id;
    } else if (id == LANGUAGE) {
        if (!old_is_language(options->value))
            return options_complain(options,
                                    "not a language to add: %s; ids are hexadecimal, like 007",
                                    options->value);
        old_add_language(&opts->languages, options->value, "");
    } else if (id == OPTION_ARGUMENT) {
        if (opts->library)
            return options_complain(options, "only one library is allowed; remove %s",
                                    options->value);
        opts->library = options->value;
    } else if (id == TRUST) {
        opts->trust = true;
    } else {
        *texts[id] = options->value;
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct table_options opts = {0};
    struct options options;
    int wrong = 0, id = options_begin(&options, &tool, argc, argv);
    while (id > 0 && !wrong && (id = options_next(&options)) > 0)
        wrong = take_option(&opts, &options, id);
    if (id < 0)
        return options_status(id);
    if (!wrong && !opts.library)
        wrong = options_complain(&options, "LIBRARY is missing");
    if (!wrong && opts.what != INI &&
        (opts.merge || opts.symbol_file || opts.languages.language_count))
        wrong = options_complain(&options, "--merge, --language and --symbolfile need --ini");
    int result = wrong ? wrong : run(&opts);
    old_done(&opts.languages);
    return result;
}
