/* SPDX-License-Identifier: MIT */
/* Each golden block is also a seed (first input) of the fuzz target `block`. Checks that the seeds
 * are current; `test-wire-seeds write` writes them. */
#include "golden.h"

#include <stdio.h>
#include <stdlib.h>

static FILE *open_seed(const char *name, const char *mode)
{
    char path[4096];
    const char *root = getenv("SOURCE_ROOT"), *slash = strrchr(name, '/');
    snprintf(path, sizeof(path), "%s/fuzz/corpus/block/%s", root ? root : ".",
             slash ? slash + 1 : name);
    if (strstr(path, ".hex"))
        *strstr(path, ".hex") = '\0';
    FILE *file = fopen(path, mode);
    if (!file)
        fail_msg("cannot open %s", path);
    return file;
}

static void write_seed(const char *name)
{
    struct golden golden;
    golden_load(name, &golden);
    FILE *file = open_seed(name, "wb");
    fwrite(golden.data, 1, golden.size, file);
    fclose(file);
    golden_done(&golden);
}

static void compare_seed(const char *name)
{
    struct golden golden;
    golden_load(name, &golden);
    unsigned char *seed = malloc(golden.size + 1);
    FILE *file = open_seed(name, "rb");
    assert_int_equal(fread(seed, 1, golden.size + 1, file), golden.size);
    assert_memory_equal(seed, golden.data, golden.size);
    fclose(file);
    free(seed);
    golden_done(&golden);
}

static void every_golden_block_is_a_seed(void **state)
{
    for (const char *const *name = golden_names; *name; name++)
        compare_seed(*name);
}

static void seeds_are_written(void **state)
{
    for (const char *const *name = golden_names; *name; name++)
        write_seed(*name);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest compare[] = {cmocka_unit_test(every_golden_block_is_a_seed)};
    const struct CMUnitTest write[] = {cmocka_unit_test(seeds_are_written)};
    if (count > 1 && strcmp(arguments[1], "write") == 0)
        return cmocka_run_group_tests(write, NULL, NULL);
    return cmocka_run_group_tests(compare, NULL, NULL);
}
