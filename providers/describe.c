/* SPDX-License-Identifier: MIT */
/*
 * Prints documents from the tables of provider libraries: docs/counters/, the explanations for the
 * English language base, or the registry file that a package installs to register a provider whose
 * numbers are the project's. This program has no knowledge of objects: all data is in the rows.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openperflib/block.h>
#include <openperflib/unstable.h>
#include <winerror.h>
#include <winperf.h>

enum { MOST_OBJECTS = 256, MOST_TEXTS = 65536, MOST_LISTS = 16 };

static const opl_object *objects[MOST_OBJECTS];
static size_t object_count;
static const opl_table_list *last_tables; /* the tables of the library loaded last */

static bool load_tables(const char *library)
{
    char why[OPL_TABLES_WHY];
    const opl_table_list *tables = opl_tables_load(library, why);
    if (!tables) {
        fprintf(stderr, "describe: %s: %s\n", library, why);
        return false;
    }
    last_tables = tables;
    for (size_t i = 0; i < tables->count && object_count < MOST_OBJECTS; i++)
        objects[object_count++] = tables->objects[i];
    return true;
}

static bool counters_differ(const opl_object *object)
{
    for (size_t i = 1; i < object->counter_count; i++)
        for (size_t before = 0; before < i; before++)
            if (object->counters[i].index == object->counters[before].index) {
                fprintf(stderr,
                        "describe: %s: counter number %u is both \"%s\" and \"%s\": give one of "
                        "the rows a number of its own\n",
                        object->name, (unsigned)object->counters[i].index,
                        object->counters[before].name, object->counters[i].name);
                return false;
            }
    return true;
}

/* Returns false, with a message, if two objects have the same number, because queries would find
 * only the first. `objects` is sorted by number. */
static bool numbers_differ(void)
{
    for (size_t i = 0; i < object_count; i++)
        if (!counters_differ(objects[i]))
            return false;
    for (size_t i = 1; i < object_count; i++)
        if (objects[i]->index == objects[i - 1]->index) {
            fprintf(stderr,
                    "describe: object number %u is both \"%s\" and \"%s\": give one of the rows a "
                    "number of its own\n",
                    (unsigned)objects[i]->index, objects[i - 1]->name, objects[i]->name);
            return false;
        }
    return true;
}

static int by_index(const void *left, const void *right)
{
    const opl_object *one = *(const opl_object *const *)left;
    const opl_object *other = *(const opl_object *const *)right;
    return (one->index > other->index) - (one->index < other->index);
}

/* ---- names and explanations: number, TAB, text ---- */

static const char *texts[MOST_TEXTS];
static const char shared[] = ""; /* marks a number that has several texts: none is printed */

/* Collects the text of a number. Numbers of the packaged block are skipped: their texts are in the
 * registry files of their providers. */
static void add_text(DWORD index, const char *text)
{
    if (index >= MOST_TEXTS)
        return;
    if (!texts[index])
        texts[index] = text;
    else if (strcmp(texts[index], text) != 0)
        texts[index] = shared;
}

static void print_texts(void)
{
    for (size_t i = 0; i < object_count; i++) {
        const opl_object *object = objects[i];
        add_text(object->index, object->name);
        add_text(object->help_index, object->help);
        for (size_t row = 0; row < object->counter_count; row++) {
            add_text(object->counters[row].index, object->counters[row].name);
            add_text(object->counters[row].help_index, object->counters[row].help);
        }
    }
    for (size_t index = 1; index < MOST_TEXTS; index++)
        if (texts[index] && *texts[index])
            printf("%zu\t%s\n", index, texts[index]);
}

/* ---- a registry file of a package: settings, numbers, texts ---- */

#define SERVICES "HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services\\"
/* The packaged block: indices that belong to this project. PerfForeign has the second part. */
enum { BLOCK_FIRST = 100000, SECOND_FIRST = 109000, BLOCK_END = 110000 };

static void print_value_text(const char *name, const char *text)
{
    printf("\"%s\"=\"", name);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
    puts("\"");
}

static void print_number(const char *name, unsigned number)
{
    printf("\"%s\"=dword:%08x\n", name, number);
}

static bool is_second; /* the registration is of the second part of the packaged block */

static void print_indexed(DWORD index, const char *text)
{
    char name[16];
    snprintf(name, sizeof name, "%u", (unsigned)index);
    if (index >= BLOCK_FIRST && index < BLOCK_END && (index >= SECOND_FIRST) == is_second)
        print_value_text(name, text);
}

/* Are the objects' numbers in the packaged block? If not, the files LLL.names have their texts. */
static bool in_packaged_block(void)
{
    return object_count && objects[0]->index >= BLOCK_FIRST;
}

static void print_record(const char *library)
{
    static const char *const names[] = {"Open", "Collect", "Close"};
    print_value_text("Library", library);
    for (size_t i = 0; i < 3; i++)
        print_value_text(names[i], last_tables->procedures[i]);
    printf("\"Object List\"=\"");
    for (size_t i = 0; i < object_count; i++)
        printf(i ? " %u" : "%u", (unsigned)objects[i]->index);
    puts("\"");
    if (!in_packaged_block())
        return;
    is_second = objects[0]->index >= SECOND_FIRST;
    unsigned first = is_second ? SECOND_FIRST : BLOCK_FIRST;
    unsigned end = is_second ? BLOCK_END : SECOND_FIRST;
    print_number("First Counter", first);
    print_number("Last Counter", end - 2);
    print_number("First Help", first + 1);
    print_number("Last Help", end - 1);
}

/* Prints a setting such as "Isolation=2" as a registry value. */
static void print_setting(const char *setting)
{
    const char *equals = strchr(setting, '=');
    char name[64];
    if (!equals)
        return;
    snprintf(name, sizeof name, "%.*s", (int)(equals - setting), setting);
    print_number(name, (unsigned)strtoul(equals + 1, NULL, 10));
}

static void print_names(void)
{
    for (size_t i = 0; i < object_count; i++) {
        const opl_object *object = objects[i];
        print_indexed(object->index, object->name);
        print_indexed(object->help_index, object->help);
        for (size_t row = 0; row < object->counter_count; row++) {
            print_indexed(object->counters[row].index, object->counters[row].name);
            print_indexed(object->counters[row].help_index, object->counters[row].help);
        }
    }
}

/* For each row of the library whose number is in the packaged block, prints the number and the
 * name. Other libraries than perflinux.so may have such numbers, too. */
static bool print_names_of(const char *library)
{
    object_count = 0;
    bool loaded = load_tables(library);
    print_names();
    return loaded;
}

/* Prints one language of a list: a line that names the languages ("index TAB 007 TAB 019"), then a
 * line for each index, in which texts may be missing. False: the list has no column with the number
 * `column`. */
static bool print_language(FILE *file, const char *service, int column)
{
    char line[1024];
    bool found = false;
    rewind(file);
    while (fgets(line, sizeof line, file)) {
        char *rest = line, *index = strsep(&rest, "\t\n"), *text = NULL;
        for (int i = 0; i < column; i++)
            text = strsep(&rest, "\t\n");
        if (!text || !*text || *index == '#')
            continue;
        if (strcmp(index, "index") == 0)
            printf("\n[" SERVICES "%s\\Performance\\Names\\%s]\n", service, text);
        else
            print_indexed((DWORD)strtoul(index, NULL, 10), text);
        found = true;
    }
    return found;
}

static bool print_languages(const char *list, const char *service)
{
    int column = 1;
    FILE *file = fopen(list, "r");
    if (!file)
        return perror(list), false;
    while (print_language(file, service, column))
        column++;
    return fclose(file) == 0;
}

static bool print_more(const char *word, const char *service)
{
    size_t length = strlen(word);
    if (strchr(word, '='))
        return true; /* a setting, which was printed before */
    if (length > 4 && strcmp(word + length - 4, ".tsv") == 0)
        return print_languages(word, service);
    return print_names_of(word);
}

/* Prints the provider's registration in the format of a .reg file. `more` has settings (with a
 * '='), then other libraries whose names and explanations are added, then lists of texts in other
 * languages (.tsv). */
static bool print_registration(const char *service, const char *path, char **more)
{
    const char *slash = strrchr(path, '/');
    bool good = true;
    printf("Windows Registry Editor Version 5.00\n\n; SPDX-License-Identifier: MIT\n"
           "; Made from the provider's tables by the build.\n\n"
           "[" SERVICES "%s\\Performance]\n",
           service);
    print_record(slash ? slash + 1 : path);
    for (char **setting = more; *setting; setting++)
        print_setting(*setting);
    if (!in_packaged_block())
        return true;
    printf("\n[" SERVICES "%s\\Performance\\Names\\009]\n", service);
    print_names();
    for (; *more && good; more++)
        good = print_more(*more, service);
    return good;
}

/* ---- docs/counters: a page for each object ---- */

static const char *type_name(DWORD type)
{
    opl_type_info info;
    opl_type_describe(type, &info);
    return info.name ? info.name : "?";
}

static void print_unit(const opl_unit *unit)
{
    if (unit->parts == OPL_RUNTIME_HZ)
        printf(", ticks to 100 ns");
    else if (unit->parts == OPL_RUNTIME_PAGE)
        printf(", to pages");
    else if (unit->times == OPL_RUNTIME_PAGE)
        printf(", pages to bytes");
    else if (unit->times == 1024 && unit->parts == 1)
        printf(", KiB to bytes");
    else if (unit->times > 1)
        printf(", times %lld", (long long)unit->times);
    if (unit->parts > 1)
        printf(", divided by %lld", (long long)unit->parts);
}

static void print_value(const opl_value *value)
{
    if (!value->source)
        return;
    printf("`%s`:", value->source->path);
    if (value->key)
        printf(" %s", value->key);
    if (value->column)
        printf(" word %u", value->column);
    if (value->plus)
        printf(" + %u", value->plus);
    print_unit(&value->unit);
}

static void print_row(const opl_object *object, const opl_counter *row)
{
    static const char *const totals[] = {"sum", "mean", "none", "now"};
    printf("| %u | %s | %s | ", (unsigned)row->index, row->name, type_name(row->type));
    if (object->total)
        printf("%s | ", totals[row->total]);
    if (row->where)
        printf("%s", row->where);
    else
        print_value(&row->value);
    if (row->base.source && !row->where) {
        printf("; divided by ");
        print_value(&row->base);
    }
    if (row->item.size)
        printf("; or the kernel's record");
    printf(" | %s |\n", row->help);
}

static bool is_remark(const char *index, const char *why)
{
    if (strcmp(index, "0") != 0)
        return false;
    printf("\n%s\n", why);
    return true;
}

static void print_absent(FILE *file, DWORD object)
{
    char line[1024];
    bool heading = false;
    rewind(file);
    while (fgets(line, sizeof line, file)) {
        char *rest = NULL, *numbers = strtok_r(line, "\t", &rest);
        char *index = strtok_r(NULL, "\t", &rest), *name = strtok_r(NULL, "\t", &rest);
        char *why = strtok_r(NULL, "\n", &rest);
        if (!why || *numbers == '#' || strtoul(numbers, NULL, 10) != object)
            continue;
        if (is_remark(index, why))
            continue;
        if (!heading)
            printf("\nAbsent counters:\n\n| index | counter | why |\n|---|---|---|\n");
        heading = true;
        printf("| %s | %s | %s |\n", index, name, why);
    }
}

/* ---- counters not tested on hardware: lines of oracles.tsv with "frozen" and UNTRIED ---- */

#define UNTRIED "not tried on hardware"
enum { MOST_ROWS = 256 };
static FILE *oracles; /* tests/tables/oracles.tsv */

/* Does the list "6 142 144" contain the index? "*" stands for all indices that no earlier line
 * contains; `known`: an earlier line contains `index`. */
static bool line_has(const char *words, DWORD index, bool known)
{
    char *end;
    if (strcmp(words, "*") == 0)
        return !known;
    for (; *words; words = end + (*end == ' '))
        if (strtoul(words, &end, 10) == index)
            return true;
        else if (end == words)
            return false;
    return false;
}

static size_t find_untried(const opl_object *object, bool *untried)
{
    bool known[MOST_ROWS] = {false};
    char line[1024];
    size_t count = 0;
    rewind(oracles);
    while (fgets(line, sizeof line, oracles)) {
        char *rest = NULL, *number = strtok_r(line, "\t\n", &rest);
        char *words = strtok_r(NULL, "\t\n", &rest), *how = strtok_r(NULL, "\t\n", &rest);
        if (!how || *number == '#' || strtoul(number, NULL, 10) != object->index)
            continue;
        strtok_r(NULL, "\t\n", &rest);
        const char *why = strtok_r(NULL, "\t\n", &rest);
        bool is = strcmp(how, "frozen") == 0 && why && strncmp(why, UNTRIED, strlen(UNTRIED)) == 0;
        for (size_t i = 0; i < object->counter_count && i < MOST_ROWS; i++)
            if (line_has(words, object->counters[i].index, known[i])) {
                known[i] = true;
                untried[i] = is;
                count += is;
            }
    }
    return count;
}

static void print_untried(const opl_object *object)
{
    bool untried[MOST_ROWS] = {false};
    size_t count = oracles ? find_untried(object, untried) : 0;
    const char *between = ": ";
    if (!count)
        return;
    printf("\nNot tested on hardware, only with archived copies of `/proc` and `/sys`");
    for (size_t i = 0; i < object->counter_count && count < object->counter_count; i++)
        if (untried[i]) {
            printf("%s%s", between, object->counters[i].name);
            between = ", ";
        }
    puts(".");
}

/* "TCPv4" is on the page tcpv4.md, "Network Interface" on network-interface.md. */
static void page_name(const opl_object *object, char *ret, size_t capacity)
{
    size_t used = 0;
    for (const char *at = object->name; *at && used + 4 < capacity; at++)
        ret[used++] = *at == ' ' ? '-' : (char)tolower((unsigned char)*at);
    snprintf(ret + used, capacity - used, ".md");
}

/* Redirects standard output to the file of the page `name`. */
static bool begin_page(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!freopen(path, "w", stdout))
        return perror(path), false;
    puts("<!-- SPDX-License-Identifier: MIT -->");
    return true;
}

static void print_object(const opl_object *object, FILE *const *absent, size_t absent_count)
{
    printf("# %s (%u)\n\n%s\n\n", object->name, (unsigned)object->index, object->help);
    printf("| index | counter | type |%s source | explanation |\n|---|---|---|---|---|%s\n",
           object->total ? " `_Total` |" : "", object->total ? "---|" : "");
    for (size_t row = 0; row < object->counter_count; row++)
        print_row(object, &object->counters[row]);
    print_untried(object);
    for (size_t i = 0; i < absent_count; i++)
        print_absent(absent[i], object->index);
}

/* Returns the first number after the hundreds of the packaged block that are in use. */
static unsigned next_hundred(void)
{
    DWORD last = BLOCK_FIRST;
    for (size_t i = 0; i < object_count; i++) {
        DWORD most = objects[i]->index;
        for (size_t row = 0; row < objects[i]->counter_count; row++)
            if (objects[i]->counters[row].index > most)
                most = objects[i]->counters[row].index;
        if (objects[i]->index < SECOND_FIRST && most > last)
            last = most;
    }
    return (unsigned)(last / 100 + 1) * 100;
}

static void print_index(void)
{
    char page[256];
    puts(
        "# The counters\n\n"
        "One page for each object, printed from the providers' tables by\n"
        "`ninja -C build counters`; a test fails when a page is out of date. Sources lie below\n"
        "`/`; `*` stands for the instance.\n"
        "A counter whose source a machine lacks is absent on that machine. 32-bit counters wrap\n"
        "around, as on Windows.\n\n"
        "A value that a user may not read is absent too, never 0: a counter that was denied for\n"
        "one of the instances has no definition in that answer, and an instance of which nothing\n"
        "may be read is not listed. \"Needs rights\" on a page says where that happens; root sees\n"
        "everything. pcview and typeperf print once what they had to leave out for that reason.\n"
        "Where an instance is a device that may be silent (batteries, frequencies), a value that\n"
        "cannot be read for another reason is absent as well; a remark says where it is 0 "
        "instead.\n\n"
        "| object | number | what it shows |\n|---|---|---|");
    for (size_t i = 0; i < object_count; i++) {
        page_name(objects[i], page, sizeof page);
        printf("| [%s](%s) | %u | %s |\n", objects[i]->name, page, (unsigned)objects[i]->index,
               objects[i]->help);
    }
    printf("\nAn object that Windows does not have takes a hundred numbers for itself and its "
           "counters. The next free hundred\nbegins at %u.\n",
           next_hundred());
}

static bool print_pages(const char *folder, FILE *const *absent, size_t absent_count)
{
    char page[256];
    if (!begin_page(folder, "README.md"))
        return false;
    print_index();
    for (size_t i = 0; i < object_count; i++) {
        page_name(objects[i], page, sizeof page);
        if (!begin_page(folder, page))
            return false;
        print_object(objects[i], absent, absent_count);
    }
    return true;
}

static int usage(FILE *out)
{
    fputs(
        "usage: describe texts FILE...\n"
        "       describe counters FOLDER FILE...\n"
        "       describe registration SERVICE LIBRARY [NAME=NUMBER]... [LIBRARY]... [TEXTS.tsv]\n\n"
        "texts: prints the names and explanations of the tables. counters: writes a page for each "
        "object to FOLDER.\n"
        "registration: prints the packaged file that registers the library, with the texts of the "
        "numbers from 100000\n"
        "on, of this library and of the given ones, and the given values of the service's "
        "record.\n"
        "FILE: a provider library (*.so), or a list of counters that are missing (*.tsv); "
        "oracles.tsv lists what was\n"
        "not tested. TEXTS.tsv has the texts in other languages.\n",
        out);
    return out == stdout ? 0 : 2;
}

static int registration(const char *service, const char *library, char **more)
{
    if (!load_tables(library))
        return 1;
    qsort(objects, object_count, sizeof *objects, by_index);
    bool good = print_registration(service, library, more);
    return !good || fflush(stdout) ? 1 : 0;
}

/* Loads a library, a list of absent counters, or oracles.tsv, the list of the counters' tests. */
static bool load(const char *path, FILE **absent, size_t *absent_count)
{
    size_t length = strlen(path);
    const char *slash = strrchr(path, '/');
    if (length < 4 || strcmp(path + length - 4, ".tsv") != 0)
        return load_tables(path);
    FILE *file = *absent_count < MOST_LISTS ? fopen(path, "r") : NULL;
    if (!file)
        return perror(path), false;
    if (strcmp(slash ? slash + 1 : path, "oracles.tsv") == 0)
        oracles = file;
    else
        absent[(*absent_count)++] = file;
    return true;
}

int main(int argc, char **argv)
{
    FILE *absent[MOST_LISTS];
    size_t absent_count = 0;
    if (argc < 2)
        return usage(stderr);
    if (strcmp(argv[1], "--help") == 0)
        return usage(stdout);
    if (strcmp(argv[1], "registration") == 0)
        return argc >= 4 ? registration(argv[2], argv[3], argv + 4) : usage(stderr);
    bool pages = strcmp(argv[1], "counters") == 0;
    if (pages ? argc < 4 : strcmp(argv[1], "texts") != 0)
        return usage(stderr);
    for (int i = 2 + pages; i < argc; i++)
        if (!load(argv[i], absent, &absent_count))
            return 1;
    qsort(objects, object_count, sizeof *objects, by_index);
    if (!numbers_differ())
        return 1;
    if (pages && !print_pages(argv[2], absent, absent_count))
        return 1;
    if (!pages)
        print_texts();
    return fflush(stdout) ? 1 : 0;
}
