/* SPDX-License-Identifier: MIT */
/* Tests of base's clock, handles, machine name, places and status table. */
#include "test.h"
#include "../temp.h"

#include <errno.h>
#include <limits.h>
#include <time.h>

static void ticks_go_on(void **state)
{
    int64_t first = clock_ticks();
    assert_true(clock_ticks() >= first);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t distance = clock_filetime() - clock_filetime_of(&now);
    assert_true(distance >= 0 && distance < 10 * CLOCK_TICKS_PER_SECOND);
}

static void known_moments_convert(void **state)
{
    SYSTEMTIME time;
    struct timespec epoch = {0};
    assert_true(clock_filetime_of(&epoch) == INT64_C(116444736000000000));
    clock_systemtime(INT64_C(116444736000000000), &time);
    assert_int_equal(time.wYear, 1970);
    assert_int_equal(time.wDayOfWeek, 4); /* a Thursday */
    clock_systemtime(0, &time);
    assert_int_equal(time.wYear, 1601);
    assert_int_equal(time.wMonth, 1);
    assert_int_equal(time.wDay, 1);
    assert_int_equal(time.wDayOfWeek, 1);
    clock_systemtime(-5, &time);
    assert_int_equal(time.wYear, 1601);
}

static void every_day_agrees_with_the_c_library(void **state)
{
    for (int64_t day = -134774; day < 200000; day += 13) {
        struct timespec moment = {.tv_sec = day * 86400 + 3723, .tv_nsec = 987654321};
        struct tm tm;
        SYSTEMTIME time;
        clock_systemtime(clock_filetime_of(&moment), &time);
        gmtime_r(&moment.tv_sec, &tm);
        assert_int_equal(time.wYear, tm.tm_year + 1900);
        assert_int_equal(time.wMonth, tm.tm_mon + 1);
        assert_int_equal(time.wDay, tm.tm_mday);
        assert_int_equal(time.wDayOfWeek, tm.tm_wday);
        assert_int_equal(time.wHour * 10000 + time.wMinute * 100 + time.wSecond, 10203);
        assert_int_equal(time.wMilliseconds, 987);
        moment.tv_nsec = 987000000;
        assert_true(clock_filetime_from(&time) == clock_filetime_of(&moment));
    }
}

static void stale_handles_are_refused(void **state)
{
    struct handle_table table = {.tag = 1}, other = {.tag = 2};
    int a, b;
    uintptr_t first = 0, second = 0, third = 0;
    assert_int_equal(handle_new(&table, &a, &first), ERROR_SUCCESS);
    assert_int_equal(handle_new(&table, &b, &second), ERROR_SUCCESS);
    assert_ptr_equal(handle_get(&table, first), &a);
    assert_ptr_equal(handle_get(&table, second), &b);
    assert_int_equal(handle_new(&other, &a, &third), ERROR_SUCCESS);
    assert_null(handle_get(&table, third));
    assert_null(handle_get(&other, first));
    assert_ptr_equal(handle_take(&table, first), &a);
    assert_null(handle_take(&table, first));
    assert_int_equal(handle_new(&table, &b, &third), ERROR_SUCCESS);
    assert_true(third != first); /* the slot is used again, but the handle differs */
    assert_null(handle_get(&table, first));
    free(table.slots);
    free(other.slots);
}

static void stray_pointers_are_refused(void **state)
{
    struct handle_table table = {.tag = 3};
    static const uint32_t predefined[] = {0x80000000, 0x80000004, 0x80000050, 0x80000060};
    uintptr_t handle = 0;
    int object;
    assert_int_equal(handle_new(&table, NULL, &handle), ERROR_INVALID_PARAMETER);
    assert_null(handle_get(&table, 0));
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(handle_new(&table, &object, &handle), ERROR_SUCCESS);
        assert_true(handle != 0 && !(handle & 0x80000000u));
        assert_null(handle_get(&table, handle + 1));
    }
    assert_null(handle_get(&table, (uintptr_t)&object));
    assert_null(handle_get(&table, UINTPTR_MAX));
    for (size_t i = 0; i < COUNT(predefined); i++) {
        assert_null(handle_get(&table, predefined[i]));
        assert_null(handle_get(&table, (uintptr_t)(intptr_t)(int32_t)predefined[i]));
    }
    free(table.slots);
}

static void machine_names_are_short_and_upper(void **state)
{
    static const struct {
        const char *host, *name;
    } cases[] = {
        {"web7.example.org",                                       "WEB7"                                         },
        {"a-very-long-host-name",                                  "A-VERY-LONG-HOS"                              },
        {"käse",                                                  "KÄSE"                                        },
        {"",                                                       "LOCALHOST"                                    },
        {".domain",                                                "LOCALHOST"                                    },
        {"12345678901234\xf0\x9f\x98\x80",                         "12345678901234"                               },
        {"\xff",                                                   "\xef\xbf\xbd"                                 },
        {"€€€€€€€€€€€€€€€€€€", "€€€€€€€€€€€€€€€"},
    };
    char name[16 * 4];
    for (size_t i = 0; i < COUNT(cases); i++) {
        machine_name(cases[i].host, name);
        assert_string_equal(name, cases[i].name);
    }
    machine_name(NULL, name);
    assert_true(name[0] && strlen(name) <= 60);
}

static void one_variable_moves_all_state(void **state)
{
    char here[PATH_MAX], path[PATH_MAX + 16];
    setenv("OPENPERFLIB_ROOT", "/some/root", 1);
    setenv("OPENPERFLIB_SYSROOT", "tree", 1);
    setenv("OPENPERFLIB_VENDOR", "", 1);
    place_forget();
    assert_string_equal(place_machine(), "/some/root/machine");
    assert_string_equal(place_user(), "/some/root/user");
    assert_string_equal(place_events(), "/some/root/events");
    assert_non_null(getcwd(here, sizeof here));
    snprintf(path, sizeof path, "%s/tree", here);
    /* an absolute path, because the program may change its folder */
    assert_string_equal(place_sysroot(), path);
    assert_true(place_vendor()[0] == '/');
    setenv("OPENPERFLIB_ROOT", "/other", 1); /* the variable is read only once */
    assert_string_equal(place_machine(), "/some/root/machine");
}

static void without_it_the_usual_places(void **state)
{
    unsetenv("OPENPERFLIB_ROOT");
    unsetenv("OPENPERFLIB_SYSROOT");
    setenv("XDG_DATA_HOME", "/xdg", 1);
    setenv("HOME", "/bent", 1);
    place_forget();
    assert_string_equal(place_machine(), "/var/lib/openperflib");
    assert_string_equal(place_user(), "/xdg/openperflib");
    assert_null(place_events());
    assert_string_equal(place_sysroot(), "/");
    setenv("XDG_DATA_HOME", "relative", 1);
    place_forget();
    /* a relative XDG_DATA_HOME is ignored, and HOME as well: the home folder is read from
     * /etc/passwd */
    assert_true(!place_user() || !strstr(place_user(), "bent"));
    assert_true(!place_user() || !strstr(place_user(), "relative"));
    place_forget();
}

static void every_status_has_words(void **state)
{
    assert_string_equal(status_text(ERROR_SUCCESS), "success");
    assert_string_equal(status_text(12345), "status 12345");
    assert_string_equal(status_text((LSTATUS)0xC0000BC6), "status 3221228486");
    assert_int_equal(status_from_errno(0), ERROR_SUCCESS);
    for (int error = 1; error < 140; error++) {
        LSTATUS status = status_from_errno(error);
        assert_true(status > 0);
        assert_true(strncmp(status_text(status), "status ", 7) != 0);
    }
    assert_int_equal(status_from_errno(ENOENT), ERROR_FILE_NOT_FOUND);
    assert_int_equal(status_from_errno(EACCES), ERROR_ACCESS_DENIED);
    assert_int_equal(status_from_errno(EDQUOT), ERROR_DISK_FULL);
    assert_int_equal(status_from_errno(9999), ERROR_GEN_FAILURE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_go_on),
        cmocka_unit_test(known_moments_convert),
        cmocka_unit_test(every_day_agrees_with_the_c_library),
        cmocka_unit_test(stale_handles_are_refused),
        cmocka_unit_test(stray_pointers_are_refused),
        cmocka_unit_test(machine_names_are_short_and_upper),
        cmocka_unit_test(one_variable_moves_all_state),
        cmocka_unit_test(without_it_the_usual_places),
        cmocka_unit_test(every_status_has_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
