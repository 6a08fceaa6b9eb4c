/* SPDX-License-Identifier: MIT */
/* Shared by the tests of names: each test has a root folder, and lists of names that it writes. */
#ifndef OPL_NAMES_TEST_H
#define OPL_NAMES_TEST_H

#include "../registry/test.h"
#include "name.h"

#define SERVICE(name, language) REGISTRY_SERVICES "\\" name "\\Performance\\Names\\" language

static inline int names_set_up(void **state)
{
    names_forget();
    return set_up(state);
}

static inline int names_tear_down(void **state)
{
    names_forget();
    return tear_down(state);
}

/* Sets up a test that uses the lists of names in the build folder, instead of its own. */
static inline int built_set_up(void **state)
{
    names_set_up(state);
    setenv("OPENPERFLIB_VENDOR", getenv("BUILD_ROOT"), 1);
    place_forget();
    return 0;
}

/* Writes the registry file of a service with texts. (In .reg files backslashes are doubled in
 * strings, but not in keys.) */
static inline void put_service(const char *name, const char *language, const char *values)
{
    char file[96];
    BUFFER_AUTO text = {0};
    snprintf(file, sizeof file, "machine/registry.d/%s-%s.reg", name, language);
    buffer_printf(&text, "%s[%s\\%s\\Performance\\Names\\%s]\n%s", HEADER, REGISTRY_SERVICES, name,
                  language, values);
    put(file, text.data);
}

/* Returns the lowest index with this name; 0: none. */
static inline uint32_t names_find(const char *name, uint32_t language)
{
    uint32_t index = 0;
    const struct name_list *list = names_hold(NAMES_COUNTER, language);
    assert_non_null(list);
    name_list_numbers(list, name, &index, 1);
    name_list_drop(list);
    return index;
}

#define NAMES_TEST(function)                                                                       \
    cmocka_unit_test_setup_teardown(function, names_set_up, names_tear_down)
#define BUILT_TEST(function)                                                                       \
    cmocka_unit_test_setup_teardown(function, built_set_up, names_tear_down)

#endif
