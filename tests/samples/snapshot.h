/* SPDX-License-Identifier: MIT */
/* A snapshot of everything that a sample must restore: all that the registry answers, all lists of
 * names, and the registry's files. */
#ifndef OPL_SAMPLES_SNAPSHOT_H
#define OPL_SAMPLES_SNAPSHOT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../experiments/lab.h"
#include <windows.h>

enum { SNAPSHOT_SIZE = 1 << 20 };

struct snapshot {
    char *text;
    size_t size;
};

static inline void add_values(FILE *out, HKEY key)
{
    static BYTE data[SNAPSHOT_SIZE];
    char name[512];
    for (DWORD i = 0;; i++) {
        DWORD size = sizeof data, length = sizeof name, type;
        if (RegEnumValueA(key, i, name, &length, NULL, &type, data, &size))
            return;
        fprintf(out, "%s %u:", name, (unsigned)type);
        for (DWORD at = 0; at < size; at++)
            fprintf(out, "%02x", data[at]);
        fputc('\n', out);
    }
}

static inline void add_key(FILE *out, HKEY above, const char *name, const char *path)
{
    char below[512], whole[2048];
    HKEY key;
    if (RegOpenKeyExA(above, name, 0, KEY_READ, &key))
        return;
    fprintf(out, "[%s]\n", path);
    add_values(out, key);
    for (DWORD i = 0;; i++) {
        DWORD length = sizeof below;
        if (RegEnumKeyExA(key, i, below, &length, NULL, NULL, NULL, NULL))
            break;
        snprintf(whole, sizeof whole, "%.1400s\\%s", path, below);
        add_key(out, key, below, whole);
    }
    RegCloseKey(key);
}

static inline void add_base(FILE *out, const char *query)
{
    static BYTE data[SNAPSHOT_SIZE];
    DWORD size = sizeof data, type;
    assert_int_equal(RegQueryValueExA(HKEY_PERFORMANCE_DATA, query, NULL, &type, data, &size), 0);
    fprintf(out, "%s: ", query);
    fwrite(data, 1, size, out);
    fputc('\n', out);
}

static const char *const languages[] = {"009", "007", "00A", "00C", "019"};
enum { LANGUAGES = sizeof languages / sizeof *languages };

/* Takes a snapshot: the registry as programs see it, all lists of names, and the files of the
 * registry's machine layer. */
static inline struct snapshot take_snapshot(void)
{
    static const char *const files[] = {"machine/registry.d/manual.reg",
                                        "machine/registry.d/PerfOS.reg",
                                        "machine/registry.d/AtlPerf.reg"};
    struct snapshot snapshot;
    char query[32];
    FILE *out = open_memstream(&snapshot.text, &snapshot.size);
    assert_non_null(out);
    add_key(out, HKEY_LOCAL_MACHINE, "SYSTEM", "SYSTEM");
    add_key(out, HKEY_LOCAL_MACHINE, "SOFTWARE", "SOFTWARE");
    for (size_t i = 0; i < LANGUAGES; i++) {
        snprintf(query, sizeof query, "Counter %s", languages[i]);
        add_base(out, query);
        snprintf(query, sizeof query, "Explain %s", languages[i]);
        add_base(out, query);
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        fprintf(out, "%s: %s\n", files[i], lab_read(files[i]));
    fclose(out);
    return snapshot;
}

static inline void assert_same_snapshot(const struct snapshot *left, const struct snapshot *right)
{
    size_t at = 0;
    while (at < left->size && at < right->size && left->text[at] == right->text[at])
        at++;
    if (at < left->size || at < right->size)
        fail_msg("at %zu: was \"%.200s\", is \"%.200s\"", at,
                 left->text + (at < 100 ? 0 : at - 100), right->text + (at < 100 ? 0 : at - 100));
}

static inline char *name_of(DWORD index, const char *language, const char *part)
{
    static char found[512];
    static char base[SNAPSHOT_SIZE];
    char query[32];
    DWORD size = sizeof base - 2, type;
    snprintf(query, sizeof query, "%s %s", part, language);
    assert_int_equal(
        RegQueryValueExA(HKEY_PERFORMANCE_DATA, query, NULL, &type, (BYTE *)base, &size), 0);
    base[size] = base[size + 1] = 0;
    for (char *at = base; *at;) {
        char *text = at + strlen(at) + 1;
        if ((DWORD)atol(at) == index)
            return snprintf(found, sizeof found, "%s", text), found;
        at = text + strlen(text) + 1;
    }
    return NULL;
}

#endif
