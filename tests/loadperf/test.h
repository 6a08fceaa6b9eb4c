/* SPDX-License-Identifier: MIT */
/* Shared by the tests of this folder: a new root folder (OPENPERFLIB_ROOT), ini files, and the
 * remarks (errors and warnings) of a call. */
#ifndef OPL_LOADPERF_TEST_H
#define OPL_LOADPERF_TEST_H

#include "../names/name.h"
#include "../registry/test.h"
#include "loadperf/inner.h"

#define LIBRARY_PATH "/nowhere/my.so"
#define SERVICE_KEY REGISTRY_SERVICES "\\MyPerf"
#define PERFORMANCE_KEY SERVICE_KEY "\\Performance"

static const char symbols_text[] = "#define OBJ 0\n#define ONE 2\n#define TWO 4\n";
static const char ini_head[] = "[info]\ndrivername=MyPerf\nsymbolfile=my.h\n[languages]\n009=\n";
static const char ini_texts[] = "[objects]\nOBJ_009_NAME=\n"
                                "[text]\nOBJ_009_NAME=Mine\nOBJ_009_HELP=My object.\n"
                                "ONE_009_NAME=First\nONE_009_HELP=My first.\n"
                                "TWO_009_NAME=Second\nTWO_009_HELP=My second.\n";

static inline int load_set_up(void **state)
{
    names_forget();
    set_up(state);
    put("vendor/data/names/009.names", "1\t1847\n2\tSystem\n1846\tEnd Marker\n1847\tEnd Marker\n");
    return 0;
}

static inline int load_tear_down(void **state)
{
    names_forget();
    return tear_down(state);
}

/* ---- remarks ---- */

static struct buffer remarks; /* lines such as "error my.h:2: text\n" */
static struct buffer written;

static inline void hear(void *self, const opl_load_remark *remark)
{
    const char *file = remark->file ? strrchr(remark->file, '/') : NULL;
    buffer_printf(&remarks, "%s %s:%u: %s\n", remark->error ? "error" : "warning",
                  file ? file + 1 : "-", remark->line, remark->text);
}

static inline void take_written(void *self, const char *text, size_t size)
{
    buffer_clear(&written);
    buffer_add(&written, text, size);
}

static inline opl_load_options options_of(void)
{
    buffer_clear(&remarks);
    buffer_clear(&written);
    return (opl_load_options){.remark = hear, .written = take_written};
}

static inline void assert_remark(const char *text)
{
    if (!strstr(remarks.data ? remarks.data : "", text))
        fail_msg("no remark \"%s\" in:\n%s", text, remarks.data ? remarks.data : "");
}

static inline void assert_no_remark(const char *text)
{
    if (strstr(remarks.data ? remarks.data : "", text))
        fail_msg("an unwanted remark \"%s\" in:\n%s", text, remarks.data);
}

/* ---- loading ---- */

static opl_load_result result;

static inline DWORD load_with(const char *ini, opl_load_options options)
{
    char path[256];
    snprintf(path, sizeof path, "%s", path_of(ini));
    result = (opl_load_result){0};
    return opl_load_install(path, &options, &result);
}

static inline DWORD load(const char *ini)
{
    return load_with(ini, options_of());
}

static inline DWORD load_library(const char *ini)
{
    opl_load_options options = options_of();
    options.library = LIBRARY_PATH;
    return load_with(ini, options);
}

static inline DWORD unload(const char *service)
{
    opl_load_options options = options_of();
    return opl_load_remove(service, &options, &result);
}

/* Writes my.ini with these parts, and my.h. */
static inline void put_ini(const char *head, const char *texts)
{
    BUFFER_AUTO text = {0};
    buffer_printf(&text, "%s%s", head, texts);
    put("my.h", symbols_text);
    put("my.ini", text.data);
}

/* Writes an ini file for another service, with the same symbols. */
static inline void put_service_ini(const char *service)
{
    char name[64];
    BUFFER_AUTO text = {0};
    snprintf(name, sizeof name, "%s.ini", service);
    buffer_printf(&text, "[info]\ndrivername=%s\nsymbolfile=my.h\n[languages]\n009=\n%s", service,
                  ini_texts);
    put("my.h", symbols_text);
    put(name, text.data);
}

/* ---- checking the result ---- */

static inline uint32_t number_of(const char *service, const char *value)
{
    uint32_t number = 0;
    FREE_AUTO char *key = text_format("%s\\%s\\Performance", REGISTRY_SERVICES, service);
    registry_get_dword(key, value, &number);
    return number;
}

static inline void assert_loaded(const char *service, uint32_t first, uint32_t last)
{
    assert_int_equal(number_of(service, "First Counter"), first);
    assert_int_equal(number_of(service, "Last Counter"), last);
    assert_int_equal(number_of(service, "First Help"), first + 1);
    assert_int_equal(number_of(service, "Last Help"), last + 1);
}

static inline void assert_not_loaded(const char *service)
{
    uint32_t number;
    FREE_AUTO char *key = text_format("%s\\%s\\Performance", REGISTRY_SERVICES, service);
    for (size_t i = 0; i < NUMBERS; i++)
        assert_int_equal(registry_get_dword(key, number_names[i], &number), ERROR_FILE_NOT_FOUND);
    assert_text(key, "Object List", NULL);
}

static inline void assert_last(uint32_t counter)
{
    uint32_t last_counter, last_help;
    assert_int_equal(names_last(&last_counter, &last_help), ERROR_SUCCESS);
    assert_int_equal(last_counter, counter);
    assert_int_equal(last_help, counter + 1);
}

static inline bool event_was(const char *text)
{
    BUFFER_AUTO events = {0};
    return file_read(AT_FDCWD, path_of("events"), &events) == ERROR_SUCCESS && events.data &&
           strstr(events.data, text);
}

#define LOAD_TEST(function) cmocka_unit_test_setup_teardown(function, load_set_up, load_tear_down)

/* Moves a service's registry file from the machine's folder to the user's, or back, as an
 * administrator can do by hand. */
static inline void move_registration(const char *service, bool to_user)
{
    FREE_AUTO char *name =
        text_format("%s/registry.d/%s.reg", to_user ? "machine" : "user", service);
    FREE_AUTO char *moved =
        text_format("%s/registry.d/%s.reg", to_user ? "user" : "machine", service);
    BUFFER_AUTO text = {0};
    assert_int_equal(file_read(AT_FDCWD, path_of(name), &text), ERROR_SUCCESS);
    unlink(path_of(name));
    put(moved, text.data);
    store_forget();
    names_forget();
}

#endif
