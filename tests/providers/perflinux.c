/* SPDX-License-Identifier: MIT */
/*
 * perflinux.so on the frozen machines. The generated ones follow the rules that stand in
 * tests/roots/generate.
 */
#include "answer.h"

enum { PRESSURE = 100100, WHOLE = 10000 };

static void ask(const char *root, const char *query)
{
    static const char *const perflinux[] = {"perflinux", "OpenLinuxObject",
                                            "CollectLinuxObjectData", "CloseLinuxObject"};
    ask_root(perflinux, root, query);
}

/* ---- Pressure ---- */

static void pressure_averages(const char *name, unsigned first, unsigned resource, unsigned line)
{
    for (unsigned k = 0; k < 3; k++) {
        VALUE(PRESSURE, name, first + 2 * k, (10 * resource + k) * 100 + 5 * line);
        BASE(PRESSURE, name, first + 2 * k, WHOLE);
    }
}

static void laptop_pressure(void **state)
{
    static const char *const names[] = {"cpu", "memory", "io"};
    ask("laptop4", "100100");
    assert_string_equal(answer_names(PRESSURE), "cpu,memory,io,irq,");
    for (unsigned r = 0; r < 3; r++) {
        VALUE(PRESSURE, names[r], 100102, (r + 1) * 10000000);
        VALUE(PRESSURE, names[r], 100104, (r + 1) * 10000000 + 10);
        pressure_averages(names[r], 100106, r, 0);
        pressure_averages(names[r], 100112, r, 1);
    }
    VALUE(PRESSURE, "irq", 100102, 0); /* there is no such line */
    VALUE(PRESSURE, "irq", 100106, 0);
    VALUE(PRESSURE, "irq", 100104, 40000010);
    pressure_averages("irq", 100112, 3, 1);
}

static void pressure_of_older_kernels(void **state)
{
    ask("cpu128", "100100");
    assert_string_equal(answer_names(PRESSURE), "cpu,memory,io,");
    VALUE(PRESSURE, "cpu", 100102, 10000000);
    VALUE(PRESSURE, "cpu", 100104, 0);
    VALUE(PRESSURE, "io", 100104, 20000010);
    ask("old419", "Global");
    assert_string_equal(answer_names(PRESSURE), "no object");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(laptop_pressure),
        cmocka_unit_test(pressure_of_older_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
