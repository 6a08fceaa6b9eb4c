/* SPDX-License-Identifier: MIT */
/* The block that docs/format.md shows must be the golden block tests/golden/hello.hex. */
#include "golden.h"

#include <stdio.h>
#include <stdlib.h>

/* Copies the hexadecimal part of the page to a file in the format that golden_load reads. */
static void extract_hex(const char *page, FILE *to)
{
    char line[256];
    bool inside = false;
    FILE *from = fopen(page, "r");
    if (!from)
        fail_msg("cannot open %s", page);
    while (fgets(line, sizeof(line), from)) {
        if (strncmp(line, "```", 3) == 0)
            inside = strcmp(line, "```hex\n") == 0;
        else if (inside)
            fputs(line, to);
    }
    fclose(from);
}

static void the_page_shows_the_golden_block(void **state)
{
    struct golden golden, shown;
    char page[4096], part[] = "/tmp/opl-docs-XXXXXX.hex";
    const char *root = getenv("SOURCE_ROOT");
    FILE *file = fdopen(mkstemps(part, 4), "w");
    assert_non_null(file);
    snprintf(page, sizeof(page), "%s/docs/format.md", root ? root : ".");
    extract_hex(page, file);
    fclose(file);
    golden_load("hello.hex", &golden);
    /* if this variable is empty, golden_load takes the name as a whole path */
    setenv("GOLDEN", "", 1);
    golden_load(part, &shown);
    remove(part);
    assert_int_equal(shown.size, golden.size);
    assert_memory_equal(shown.data, golden.data, golden.size);
    golden_done(&golden);
    golden_done(&shown);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_page_shows_the_golden_block)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
