/* SPDX-License-Identifier: MIT */
/*
 * Checks every row (counter) in the tables of every provider library: numbers, names, types and
 * order are as on Windows, texts are sentences, and at least one frozen machine (saved proc files
 * in tests/roots) has the counter. usage: tables LIBRARY...
 */
#include "tables.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <openperflib/block.h>
#include <winperf.h>

enum { MOST_LIBRARIES = 32, MOST_ROWS = 2048, ANSWER_BYTES = 4 << 20, BASE_LAST = 1847 };

static struct library {
    const char *path;
    /* `tables`: a checked copy; `own`: the tables inside the library */
    const opl_table_list *tables, *own;
} libraries[MOST_LIBRARIES];
static size_t library_count;
static unsigned problems;

__attribute__((format(printf, 1, 2))) static void wrong(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fputs("# ", stdout);
    vprintf(format, list);
    putchar('\n');
    va_end(list);
    problems++;
}

static void finish(const char *name)
{
    static unsigned number;
    printf("%sok %u - %s\n", problems ? "not " : "", ++number, name);
    problems = 0;
}

/* ---- walking over all rows ---- */

typedef void (*row_check)(const opl_object *object, const opl_counter *row);

static void each_object(void (*check)(const opl_object *object))
{
    for (size_t i = 0; i < library_count; i++)
        for (size_t k = 0; k < libraries[i].tables->count; k++)
            check(libraries[i].tables->objects[k]);
}

static row_check checking;

static void check_rows(const opl_object *object)
{
    for (size_t i = 0; i < object->counter_count; i++)
        checking(object, &object->counters[i]);
}

static void each_row(row_check check)
{
    checking = check;
    each_object(check_rows);
}

/* ---- the rules ---- */

static void names_even_helps_odd(const opl_object *object)
{
    if (object->index % 2 || object->help_index % 2 == 0)
        wrong("%s: object %u, help %u", object->name, (unsigned)object->index,
              (unsigned)object->help_index);
    for (size_t i = 0; i < object->counter_count; i++) {
        const opl_counter *row = &object->counters[i];
        if (row->index % 2 || row->help_index % 2 == 0)
            wrong("%s: row %u, help %u", object->name, (unsigned)row->index,
                  (unsigned)row->help_index);
    }
}

static void no_row_twice(const opl_object *object)
{
    for (size_t i = 0; i < object->counter_count; i++)
        for (size_t k = 0; k < i; k++)
            if (object->counters[i].index == object->counters[k].index)
                wrong("%s: row %u is there twice", object->name,
                      (unsigned)object->counters[i].index);
}

static void type_scale_level(const opl_object *object, const opl_counter *row)
{
    opl_type_info info;
    opl_type_describe(row->type, &info);
    if (!info.name || info.is_base)
        wrong("%s: row %u: type %08x", object->name, (unsigned)row->index, (unsigned)row->type);
    if (row->scale < -7 || row->scale > 7)
        wrong("%s: row %u: scale %d", object->name, (unsigned)row->index, (int)row->scale);
    if (row->level % 100 || row->level < 100 || row->level > 400)
        wrong("%s: row %u: level %u", object->name, (unsigned)row->index, (unsigned)row->level);
}

static bool is_sentence(const char *text)
{
    size_t length = text ? strlen(text) : 0;
    return length > 8 && text[length - 1] == '.' && !strstr(text, "  ");
}

static void help_is_sentence(const opl_object *object, const opl_counter *row)
{
    if (!is_sentence(row->help) || !is_sentence(object->help))
        wrong("%s: row %u: the help is no sentence", object->name, (unsigned)row->index);
}

static void value_has_place(const opl_object *object, const opl_counter *row)
{
    if (row->value.function && !row->where)
        wrong("%s: row %u: computed, but nothing says from what", object->name,
              (unsigned)row->index);
}

/* ---- Windows' own numbers ---- */

static void name_is_windows(const opl_object *object, const opl_counter *row)
{
    const char *name = row->index < BASE_LAST ? base_name(row->index) : row->name;
    if (!name || strcmp(name, row->name) != 0)
        wrong("%s: row %u is \"%s\", Windows says \"%s\"", object->name, (unsigned)row->index,
              row->name, name ? name : "nothing");
}

static void object_name_is_windows(const opl_object *object)
{
    const char *name = object->index < BASE_LAST ? base_name(object->index) : object->name;
    if (!name || strcmp(name, object->name) != 0)
        wrong("object %u is \"%s\"", (unsigned)object->index, object->name);
}

static void row_is_windows(const opl_object *object, const opl_counter *row)
{
    const struct base_counter *base = base_counter(object->index, row->index);
    if (!base)
        return;
    if (base->type != row->type || base->level != row->level || base->scale != row->scale)
        wrong("%s: row %u: type, level or scale is not %08x, %u, %d", object->name,
              (unsigned)row->index, base->type, base->level, base->scale);
    if (base->help && base->help != row->help_index)
        wrong("%s: row %u: the help is not %u", object->name, (unsigned)row->index, base->help);
}

static void order_is_windows(const opl_object *object)
{
    int last = -1;
    for (size_t i = 0; i < object->counter_count; i++) {
        const struct base_counter *base = base_counter(object->index, object->counters[i].index);
        if (!base)
            continue;
        if (base->order <= last)
            wrong("%s: row %u comes too late", object->name, (unsigned)object->counters[i].index);
        last = base->order;
    }
}

static bool has_row(const opl_object *object, unsigned index)
{
    for (size_t i = 0; i < object->counter_count; i++)
        if (object->counters[i].index == index)
            return true;
    return false;
}

/* Each counter of a Windows object must be a row, or providers/NAME/absent.tsv must say why Linux
 * lacks it. */
static void absent_has_reason(const opl_object *object)
{
    for (size_t i = 0; i < base_counter_count; i++) {
        const struct base_counter *base = &base_counters[i];
        if (base->object != object->index)
            continue;
        if (has_row(object, base->index) == is_absent(base->object, base->index))
            wrong("%s: \"%s\" (%u) must be either a row or absent with a reason", object->name,
                  base->name, base->index);
    }
}

/* ---- the numbers of this project: 100000 to 109999 ---- */

enum { BLOCK_FIRST = 100000, BLOCK_END = 110000, BLOCK_OF_OBJECT = 100 };

static bool in_block(DWORD index)
{
    return index >= BLOCK_FIRST && index < BLOCK_END;
}

/* Each object that Windows lacks has a number that is a multiple of 100; the numbers of its own
 * counters are in the hundred that begins there. Numbers of Windows may be used, too. */
static void object_in_its_hundred(const opl_object *object)
{
    if (object->index <= BASE_LAST && object->help_index <= BASE_LAST)
        return;
    if (!in_block(object->index) || object->index % BLOCK_OF_OBJECT ||
        object->help_index != object->index + 1)
        wrong("%s: object %u, help %u", object->name, (unsigned)object->index,
              (unsigned)object->help_index);
}

/* Returns the first of the hundred numbers for this project's own counters of an object. Of
 * Windows' objects, System and Job Object have a hundred each; the objects of processes use that of
 * Process IO. */
static unsigned hundred_of(unsigned object)
{
    return object == 2                                           ? 101400
           : object == 1500                                      ? 102100
           : object == 230 || object == 1548 || object == 101900 ? 101800
                                                                 : object;
}

static void row_in_its_hundred(const opl_object *object, const opl_counter *row)
{
    if (row->index <= BASE_LAST && row->help_index <= BASE_LAST)
        return;
    if (row->index / BLOCK_OF_OBJECT != hundred_of(object->index) / BLOCK_OF_OBJECT ||
        row->index % BLOCK_OF_OBJECT == 0 || row->help_index != row->index + 1)
        wrong("%s: row %u, help %u", object->name, (unsigned)row->index, (unsigned)row->help_index);
}

/* If Windows has a counter with the same name, the row must use Windows' number. */
static void name_is_our_own(const opl_object *object, const opl_counter *row)
{
    for (unsigned index = 2; index < BASE_LAST && in_block(row->index); index += 2)
        if (base_name(index) && strcasecmp(base_name(index), row->name) == 0)
            wrong("%s: \"%s\" is Windows' %u", object->name, row->name, index);
}

static bool has_forbidden(const char *name)
{
    return strpbrk(name, "\\()/#*") != NULL;
}

/* Paths find objects and counters by name. So the name of an object that Windows lacks must be
 * valid in a path and must not be a name of Windows, and its counters must have different names. */
static void names_are_clear(const opl_object *object)
{
    if (!in_block(object->index))
        return;
    if (has_forbidden(object->name))
        wrong("\"%s\" cannot stand in a path", object->name);
    for (unsigned index = 2; index < BASE_LAST; index += 2)
        if (base_name(index) && strcasecmp(base_name(index), object->name) == 0)
            wrong("object \"%s\" is Windows' %u", object->name, index);
    for (size_t i = 0; i < object->counter_count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcasecmp(object->counters[i].name, object->counters[k].name) == 0)
                wrong("%s: \"%s\" is there twice", object->name, object->counters[i].name);
}

/* ---- the frozen machines in tests/roots ---- */

struct seen {
    unsigned object, counter;
};
static struct seen seen[MOST_ROWS * 8];
static size_t seen_count;

static void look_at(opl_block *block, const opl_object_view *object, const char *root, int out)
{
    opl_counter_view counter = {0};
    while (opl_object_next_counter(block, object, &counter)) {
        struct seen one = {object->type.ObjectNameTitleIndex,
                           counter.definition.CounterNameTitleIndex};
        opl_instance_view instance = {0};
        uint64_t value;
        while (opl_object_next_instance(block, object, &instance))
            if (opl_counter_text(block, object, &instance, &counter, NULL, 0))
                continue;
            else if (!opl_counter_number(block, &instance, &counter, &value) ||
                     ((counter.definition.CounterType & 0xc00) == PERF_TYPE_NUMBER &&
                      counter.definition.CounterSize == 4 && value == UINT32_MAX))
                printf("# %s: %u of %u does not fit\n", root, one.counter, one.object), exit(1);
        if (write(out, &one, sizeof one) != sizeof one)
            exit(1);
    }
}

/* Queries in a child process for each machine, because the library reads only once which machine's
 * files to use. */
static void query_root(const struct library *library, const char *root, int out)
{
    static unsigned char answer[sizeof(PERF_DATA_BLOCK) + ANSWER_BYTES];
    static const WCHAR costly[] = {'C', 'o', 's', 't', 'l', 'y', 0}, global[] = {0};
    const LPCWSTR queries[] = {global, costly};
    opl_entry *provider = NULL;
    setenv("OPENPERFLIB_SYSROOT", root, 1);
    if (opl_entry_open_1(&provider, library->own, NULL))
        exit(1);
    for (int i = 0; i < 2; i++) {
        DWORD types, bytes = ANSWER_BYTES;
        LPVOID data = answer + sizeof(PERF_DATA_BLOCK);
        if (opl_entry_collect_1(provider, queries[i], &data, &bytes, &types))
            exit(1);
        PERF_DATA_BLOCK header = {
            .Signature = {'P', 'E', 'R', 'F'},
            .LittleEndian = 1,
            .Version = 1,
            .HeaderLength = sizeof header,
            .NumObjectTypes = types,
            .TotalByteLength = (DWORD)sizeof header + bytes
        };
        memcpy(answer, &header, sizeof header);
        opl_block block;
        opl_object_view object = {0};
        if (types && opl_block_init(&block, answer, header.TotalByteLength) == OPL_BLOCK_GOOD)
            while (opl_block_next_object(&block, &object))
                look_at(&block, &object, root, out);
    }
    opl_entry_close_1(&provider);
    exit(0);
}

static void look_at_root(const struct library *library, const char *root)
{
    int ends[2], status;
    if (pipe(ends))
        abort();
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        query_root(library, root, ends[1]);
    close(ends[1]);
    while (seen_count < MOST_ROWS * 8 &&
           read(ends[0], &seen[seen_count], sizeof *seen) == sizeof *seen)
        seen_count++;
    close(ends[0]);
    if (waitpid(child, &status, 0) != child || status != 0)
        wrong("%s: %s failed", root, library->path);
}

static void look_at_roots(void)
{
    char folder[1024], root[2048];
    snprintf(folder, sizeof folder, "%s/tests/roots", source_root());
    /* static, so that no leak is reported if a child process ends inside of this loop */
    static DIR *roots;
    roots = opendir(folder);
    if (!roots)
        wrong("%s cannot be read", folder);
    for (struct dirent *entry; roots && (entry = readdir(roots));) {
        snprintf(root, sizeof root, "%s/%s/proc", folder, entry->d_name);
        if (*entry->d_name == '.' || access(root, X_OK) != 0)
            continue;
        root[strlen(root) - strlen("/proc")] = 0;
        for (size_t i = 0; i < library_count; i++)
            look_at_root(&libraries[i], root);
    }
    if (roots)
        closedir(roots);
}

static void row_was_seen(const opl_object *object, const opl_counter *row)
{
    for (size_t i = 0; i < seen_count; i++)
        if (seen[i].object == object->index && seen[i].counter == row->index)
            return;
    wrong("%s: row %u (%s): on no frozen machine", object->name, (unsigned)row->index, row->name);
}

/* ---- main ---- */

static void load(const char *path)
{
    char why[OPL_TABLES_WHY];
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const opl_table_list *tables = opl_tables_load(path, why);
    if (tables && library_count < MOST_LIBRARIES)
        libraries[library_count++] = (struct library){path, tables, dlsym(handle, "opl_tables_1")};
    else
        wrong("%s: %s", path, why);
}

int main(int argc, char **argv)
{
    puts("1..13");
    base_load();
    for (int i = 1; i < argc; i++)
        load(argv[i]);
    each_object(names_even_helps_odd), finish("names are even, helps odd");
    each_object(no_row_twice), finish("no row is there twice");
    each_row(type_scale_level), finish("types are known, scales and levels in range");
    each_row(help_is_sentence), finish("helps are sentences");
    each_row(value_has_place), finish("computed rows say from what");
    each_row(name_is_windows), each_object(object_name_is_windows), finish("names are Windows'");
    each_row(row_is_windows), finish("type, level, scale and help number are Windows'");
    each_object(order_is_windows), finish("rows are in Windows' order");
    each_object(absent_has_reason), finish("each of Windows' counters is there or has a reason");
    each_object(object_in_its_hundred), each_row(row_in_its_hundred);
    finish("what is not Windows' lies in its object's hundred of the packaged block");
    each_row(name_is_our_own), each_object(names_are_clear), finish("own names are clear");
    look_at_roots(), finish("every library answers on every frozen machine, and numbers fit");
    each_row(row_was_seen), finish("each row is there on some frozen machine");
    return 0;
}
