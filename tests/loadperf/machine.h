/* SPDX-License-Identifier: MIT */
/* Makes a machine with many providers in five languages, and takes a snapshot of everything that
 * the registry answers. */
#ifndef OPL_LOADPERF_MACHINE_H
#define OPL_LOADPERF_MACHINE_H

#include "test.h"

static const char *const languages[] = {"009", "007", "00A", "00C", "019"};

/* ---- a machine ---- */

static inline DWORD install_language(const char *id)
{
    opl_load_options options = options_of();
    return opl_load_language(id, false, &options);
}

/* Writes the ini file of provider i: 1 to 4 counters with gaps, some without texts in some
 * languages. */
static inline void put_provider(int i)
{
    char name[64];
    BUFFER_AUTO ini = {0}, symbols = {0};
    buffer_printf(&symbols, "#define OBJ 0\n");
    buffer_printf(&ini, "[info]\ndrivername=Svc %d\nsymbolfile=s%d.h\n[languages]\n", i, i);
    for (size_t l = 0; l < COUNT(languages); l++)
        buffer_printf(&ini, "%s=\n", languages[l]);
    if (i % 7)
        buffer_printf(&ini, "[objects]\nOBJ_009_NAME=\n");
    buffer_printf(&ini, "[text]\nOBJ_009_NAME=Object %d\nOBJ_009_HELP=Help, = \"%d\"\n", i, i);
    for (int k = 1; k <= 1 + i % 4; k++) {
        buffer_printf(&symbols, "#define C%d %d\n", k, k * 2 + (i % 3) * 4);
        buffer_printf(&ini, "C%d_009_NAME=\"  Counter %d; of %d  \"\n", k, k, i);
        if (k % 2)
            buffer_printf(&ini, "C%d_009_HELP=What %d counts\n", k, k);
        for (size_t l = 1; l < COUNT(languages); l++)
            if ((i + k + (int)l) % 3)
                buffer_printf(&ini, "C%d_%s_NAME=Zähler Ж %d %s\nC%d_%s_HELP=%s\n", k, languages[l],
                              i, languages[l], k, languages[l], k % 3 ? "Erklärung" : "");
    }
    snprintf(name, sizeof name, "s%d.h", i);
    put(name, symbols.data);
    snprintf(name, sizeof name, "s%d.ini", i);
    put(name, ini.data);
}

/* The folder of the providers' libraries, "FOLDER/svc-N.so"; NULL: they have no library. */
static const char *library_folder;

static inline void load_provider(int i)
{
    char name[64], library[256];
    opl_load_options options = options_of();
    snprintf(name, sizeof name, "s%d.ini", i);
    snprintf(library, sizeof library, "%s/svc-%d.so", library_folder ? library_folder : "", i);
    options.library = library_folder ? library : LIBRARY_PATH;
    assert_int_equal(load_with(name, options), ERROR_SUCCESS);
}

static inline void make_machine(int count)
{
    static const char by_hand[] = "2\0System\0002000\0By Hand\0";
    for (size_t l = 1; l < COUNT(languages); l++)
        assert_int_equal(install_language(languages[l]), ERROR_SUCCESS);
    for (int i = 0; i < count; i++) {
        put_provider(i);
        load_provider(i);
    }
    assert_int_equal(names_store(NAMES_COUNTER, 7, by_hand, sizeof by_hand), ERROR_SUCCESS);
    opl_load_options options = options_of();
    assert_int_equal(opl_load_enable("Svc 0", false, &options), ERROR_SUCCESS);
}

/* ---- all that the registry answers ---- */

static inline bool note_any(void *self, const struct registry_value *value)
{
    *(bool *)self = true;
    return false;
}

static inline bool note_any_key(void *self, const char *name)
{
    *(bool *)self = true;
    return false;
}

static inline bool add_service(void *self, const char *name)
{
    struct buffer *text = self;
    uint32_t number = 0;
    FREE_AUTO char *key = text_format("%s\\%s\\Performance", REGISTRY_SERVICES, name);
    FREE_AUTO char *names = text_format("%s\\Names", key);
    bool any = false;
    registry_each_value(key, note_any, &any);
    registry_each_key(names, note_any_key, &any);
    if (!any)
        return true; /* skips a service without counters */
    buffer_printf(text, "[%s]", name);
    for (size_t i = 0; i < NUMBERS; i++)
        buffer_printf(text, " %u", registry_get_dword(key, number_names[i], &number) ? 0 : number);
    number = 0;
    registry_get_dword(key, "Disable Performance Counters", &number);
    buffer_printf(text, " disabled %u", number);
    for (size_t i = 0; i < TEXTS; i++) {
        BUFFER_AUTO value = {0};
        LSTATUS status = registry_get_text(key, text_names[i], &value);
        buffer_printf(text, " \"%s\"", status ? "-" : value.data);
    }
    return buffer_add_byte(text, '\n');
}

static inline bool add_language(void *self, const char *id)
{
    uint32_t language = (uint32_t)strtoul(id, NULL, 16);
    for (int part = 0; part < 2; part++) {
        DWORD size = 0;
        assert_int_equal(names_text((enum names_part)part, language, true, NULL, &size), 0);
        buffer_printf(self, "%s %d %u\n", id, part, (unsigned)size);
        assert_true(buffer_reserve(self, size));
        struct buffer *text = self;
        names_text((enum names_part)part, language, true, text->data + text->len, &size);
        text->len += size;
    }
    return true;
}

static inline void take_snapshot(struct buffer *ret)
{
    uint32_t counter, help;
    buffer_clear(ret);
    registry_each_key(REGISTRY_SERVICES, add_service, ret);
    names_each_language(add_language, ret);
    names_last(&counter, &help);
    buffer_printf(ret, "%u %u\n", counter, help);
    assert_false(ret->failed);
}

static inline bool same_snapshot(const struct buffer *before)
{
    BUFFER_AUTO now = {0};
    take_snapshot(&now);
    return now.len == before->len && !memcmp(now.data, before->data, now.len);
}

static inline void assert_same(const struct buffer *before)
{
    BUFFER_AUTO now = {0};
    take_snapshot(&now);
    size_t count = now.len < before->len ? now.len : before->len, at = 0;
    while (at < count && now.data[at] == before->data[at])
        at++;
    if (now.len != before->len || at < count)
        fail_msg("differs at %zu (%zu, %zu bytes): was \"%.300s\", is \"%.300s\"", at, before->len,
                 now.len, before->data + at, now.data + at);
}

#endif
