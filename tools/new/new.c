/* SPDX-License-Identifier: MIT */
/*
 * openperflib-new: writes a complete provider into a new folder: source, ini and symbol file,
 * Makefile, test and README. The provider can be built and answers without changes. Existing files
 * are never overwritten.
 */
#include "new.h"
#include "../common/options.h"

#include "../view/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <winreg.h>

enum { INSTANCES = 1, LANGUAGE, WINDOWS };

/* clang-format off */
static const struct option_row rows[] = {
    {'i', "instances", NULL, INSTANCES, "Write an object with instances and a _Total.", NULL, 0},
    {'l', "language", "ID", LANGUAGE,
     "Add texts in this language, such as 007; texts without a translation are English. May be given more than once.",
     "004 007 00A 00C 010 011 019 404 416 804 816", 0},
    {'w', "windows", NULL, WINDOWS, "Write the provider as for Windows, with the structures of winperf.h instead of a table.", NULL, 0},
    {0},
};
/* clang-format on */

static const struct tool tool = {
    .name = "openperflib-new",
    .summary = "Write a provider of performance counters into a new folder.",
    .usage = "[OPTION]... NAME",
    .rows = rows,
    .more = "NAME is the name of the folder and, with a capital first letter, of the service and "
            "the object.\n"
            "\n"
            "Example:\n"
            "  openperflib-new demo && cd demo && make && make install-user && pcview Demo\n",
};

/* ---- is NAME valid? ---- */

static const char *judge_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t length = strlen(name);
    if (strchr(name, '/'))
        return "NAME must not be a path; change to the folder in which to create it";
    if (length == 0 || !strchr(letters, name[0]))
        return "a name begins with a letter from A to Z";
    if (length > 63)
        return "a name has at most 63 letters";
    if (strspn(name + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") !=
        length - 1)
        return "a name has only letters from A to Z, digits, '_' and '-'";
    return NULL;
}

static char *english_names(void)
{
    for (DWORD capacity = 1 << 20; capacity <= 1 << 26; capacity *= 2) {
        DWORD size = capacity;
        char *names = malloc(capacity);
        LSTATUS status = names ? RegQueryValueExA(HKEY_PERFORMANCE_DATA, "Counter 009", NULL, NULL,
                                                  (LPBYTE)names, &size)
                               : ERROR_NOT_ENOUGH_MEMORY;
        if (status == ERROR_SUCCESS)
            return names;
        free(names);
        if (status != ERROR_MORE_DATA)
            break;
    }
    return NULL;
}

/* True if another service has an object named `service`: programs that query by name would confuse
 * the two. An earlier provider of `service` does not count, because the new one replaces it. */
static bool object_exists(const char *service)
{
    HKEY key;
    char path[160];
    snprintf(path, sizeof path, "SYSTEM\\CurrentControlSet\\Services\\%s\\Performance", service);
    if (RegOpenKeyExA(HKEY_LOCAL_MACHINE, path, 0, KEY_READ, &key) == ERROR_SUCCESS) {
        RegCloseKey(key);
        return false;
    }
    char *names = english_names();
    bool found = false;
    for (const char *at = names; at && *at && !found;) {
        const char *name = at + strlen(at) + 1;
        found = strcasecmp(name, service) == 0;
        at = name + strlen(name) + 1;
    }
    free(names);
    return found;
}

static bool is_shipped(const char *service)
{
    static const char *const shipped[] = {"PerfOS", "PerfProc", "PerfDisk", "PerfNet"};
    for (size_t i = 0; i < sizeof shipped / sizeof *shipped; i++)
        if (strcasecmp(shipped[i], service) == 0)
            return true;
    return false;
}

/* ---- writing ---- */

struct made {
    const char *ending, *template; /* NULL: the text is made from the example */
    bool program;
};

static void print_content(FILE *out, const struct made *made, const struct chosen *chosen,
                          const struct example *example)
{
    char symbol_file[96];
    snprintf(symbol_file, sizeof symbol_file, "%s.h", chosen->file);
    if (made->template)
        template_print(out, made->template, chosen, example);
    else if (strcmp(made->ending, ".h") == 0)
        print_header(out, &example->entries);
    else
        print_ini(out, &example->entries, &example->texts, symbol_file);
}

static bool write_one(const struct made *made, const struct chosen *chosen,
                      const struct example *example)
{
    char path[160];
    const char *name = made->ending[0] == '.' && made->ending[1] != 'g' ? chosen->file : "";
    snprintf(path, sizeof path, "%s/%s%s", chosen->file, name, made->ending);
    FILE *out = fopen(path, "wx");
    bool good = out != NULL;
    if (out) {
        print_content(out, made, chosen, example);
        good = !ferror(out) && (!made->program || fchmod(fileno(out), 0755) == 0);
        good = fclose(out) == 0 && good;
    }
    if (!good)
        fprintf(stderr, "openperflib-new: %s: %s\n", text_seen(path), strerror(errno));
    return good;
}

static const struct made files[] = {
    {".c",         NULL,        false}, /* which template is used depends on --windows */
    {".h",         NULL,        false},
    {".ini",       NULL,        false},
    {"Makefile",   "Makefile",  false},
    {"test.sh",    "test.sh",   true },
    {"README.md",  "README.md", false},
    {".gitignore", "gitignore", false},
};

static bool write_all(const struct chosen *chosen, const struct example *example)
{
    struct made source = {".c", chosen->windows ? "windows.c" : "table.c", false};
    bool good = write_one(&source, chosen, example);
    for (size_t i = 1; i < sizeof files / sizeof *files && good; i++)
        good = write_one(&files[i], chosen, example);
    return good;
}

/* Removes the new folder with its files, which are only those that write_all created. */
static void remove_all(const char *folder)
{
    char path[160];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *ending = files[i].ending;
        snprintf(path, sizeof path, "%s/%s%s", folder,
                 ending[0] == '.' && ending[1] != 'g' ? folder : "", ending);
        remove(path);
    }
    rmdir(folder);
}

static int make_provider(const struct chosen *chosen)
{
    struct example example;
    if (mkdir(chosen->file, 0777) != 0) {
        fprintf(stderr, "openperflib-new: %s: %s; nothing was written\n", text_seen(chosen->file),
                errno == EEXIST ? "the folder already exists" : strerror(errno));
        return EXIT_FAILED;
    }
    bool good = example_make(chosen, &example) && write_all(chosen, &example);
    example_done(&example);
    if (!good) {
        remove_all(chosen->file);
        return EXIT_FAILED;
    }
    printf("%s: a provider for the service %s. Go on with:\n"
           "  cd %s && make && make test\n"
           "  make install-user && pcview %s\n",
           text_seen(chosen->file), chosen->service, text_seen(chosen->file), chosen->service);
    return fflush(stdout) == 0 ? EXIT_GOOD : EXIT_FAILED;
}

static int take_option(struct chosen *chosen, const struct options *options, int id)
{
    switch (id) {
    case INSTANCES:
        chosen->instances = true;
        return 0;
    case WINDOWS:
        chosen->windows = true;
        return 0;
    case LANGUAGE:
        if (!old_is_language(options->value))
            return options_complain(options,
                                    "not a language to add: %s; ids are hexadecimal, like 007",
                                    options->value);
        old_add_language(&chosen->languages, options->value, "");
        return 0;
    default:
        if (chosen->file)
            return options_complain(options, "only one NAME is allowed; remove %s", options->value);
        chosen->file = options->value;
        return 0;
    }
}

static int check_name(struct chosen *chosen, const struct options *options)
{
    if (!chosen->file)
        return options_complain(options, "NAME is missing");
    const char *why = judge_name(chosen->file);
    if (why)
        return options_complain(options, "%s: %s", chosen->file, why);
    snprintf(chosen->service, sizeof chosen->service, "%s", chosen->file);
    if (chosen->service[0] >= 'a')
        chosen->service[0] = (char)(chosen->service[0] - 'a' + 'A');
    if (is_shipped(chosen->service))
        return options_complain(options,
                                "%s: the system has a service of this name; choose another name",
                                chosen->service);
    if (object_exists(chosen->service))
        return options_complain(options,
                                "%s: the system has an object or a counter of this name; "
                                "choose another name",
                                chosen->service);
    return 0;
}

int main(int argc, char **argv)
{
    struct chosen chosen = {0};
    struct options options;
    int wrong = 0, id = options_begin(&options, &tool, argc, argv);
    while (id > 0 && !wrong && (id = options_next(&options)) > 0)
        wrong = take_option(&chosen, &options, id);
    if (id < 0)
        return options_status(id);
    if (!wrong)
        wrong = check_name(&chosen, &options);
    int result = wrong ? wrong : make_provider(&chosen);
    old_done(&chosen.languages);
    return result;
}
