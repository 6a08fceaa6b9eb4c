/* SPDX-License-Identifier: MIT */
/*
 * Damaged blocks: each bit of each golden block (tests/golden) is flipped, and each length and
 * count is set to the values that .NET's own tests use. The functions that walk through a block may
 * return anything, but must not read outside the block (sanitizers check this), and must end. With
 * the argument "all" every bit is flipped; otherwise only every 13th bit of large blocks.
 */
#include "everything.h"
#include "golden.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static size_t step_of_large = 13;
enum { LARGE_BLOCK = 1500 };

/* Passes the block to the functions that walk through it, and to the check. */
static void try_everything(const struct golden *golden)
{
    struct everything found;
    struct wire_finding finding;
    walk_everything(golden->data, golden->size, &found);
    uint32_t header = golden_get(golden, 24), objects = golden_get(golden, 28);
    if (header >= 88 && header <= golden->size)
        wire_check_objects(golden->data + header, golden->size - header, objects, &finding);
}

static void flip_each_bit(struct golden *golden)
{
    size_t step = golden->size > LARGE_BLOCK ? step_of_large : 1;
    for (size_t bit = 0; bit < golden->size * 8; bit += step) {
        golden->data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        try_everything(golden);
        golden->data[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
}

static void every_bit_flipped(void **state)
{
    for (const char *const *name = golden_names; *name; name++) {
        struct golden golden;
        golden_load(*name, &golden);
        flip_each_bit(&golden);
        golden_done(&golden);
    }
}

static void every_bit_flipped_at_an_odd_address(void **state)
{
    for (const char *const *name = golden_names; *name; name++) {
        struct golden golden;
        golden_load_odd(*name, &golden);
        if (golden.size <= LARGE_BLOCK || step_of_large == 1)
            flip_each_bit(&golden);
        golden_done(&golden);
    }
}

/* ---- lengths and counts ---- */

static void try_values(struct golden *golden, size_t offset)
{
    uint32_t good = golden_get(golden, offset), size = (uint32_t)golden->size;
    const uint32_t values[] = {0,         1,           UINT32_MAX,
                               good - 1,  good + 1,    size - 1,
                               size + 1,  1000,        INT32_MAX - 56,
                               INT32_MAX, 0x80000000u, 3,
                               4,         23,          24,
                               39,        40,          63,
                               64,        87,          88};
    for (size_t i = 0; i < COUNT(values); i++) {
        golden_set(golden, offset, values[i]);
        try_everything(golden);
    }
    golden_set(golden, offset, good);
}

static void try_fields(struct golden *golden, size_t start, const size_t *fields, size_t count)
{
    for (size_t i = 0; i < count; i++)
        try_values(golden, start + fields[i]);
}

static void try_instances(struct golden *golden, opl_block *block, const opl_object_view *object)
{
    static const size_t fields[] = {0, 4, 8, 12, 16, 20};
    opl_instance_view instance = {0};
    while (opl_object_next_instance(block, object, &instance)) {
        if (object->type.NumInstances > 0)
            try_fields(golden, instance.offset, fields, COUNT(fields));
        try_values(golden, instance.counters);
        if (instance.position > 1 && golden->size > LARGE_BLOCK && step_of_large > 1)
            break;
    }
}

static void try_object(struct golden *golden, opl_block *block, const opl_object_view *object)
{
    static const size_t of_object[] = {0, 4, 8, 32, 40, 44}, of_counter[] = {0, 28, 32, 36};
    opl_counter_view counter = {0};
    try_fields(golden, object->offset, of_object, COUNT(of_object));
    while (opl_object_next_counter(block, object, &counter))
        try_fields(golden, counter.offset, of_counter, COUNT(of_counter));
    try_instances(golden, block, object);
}

static void every_length_and_count_wrong(void **state)
{
    static const size_t of_header[] = {8, 12, 16, 20, 24, 28, 80, 84};
    for (const char *const *name = golden_names; *name; name++) {
        struct golden golden;
        opl_block block;
        opl_object_view object = {0};
        golden_open(*name, &golden, &block);
        try_fields(&golden, 0, of_header, COUNT(of_header));
        while (opl_block_next_object(&block, &object))
            try_object(&golden, &block, &object);
        golden_done(&golden);
    }
}

/* A block that is cut off at any byte; its memory has exactly the remaining size. */
static void every_shorter_size(void **state)
{
    for (const char *const *name = golden_names; *name; name++) {
        struct golden golden, part;
        golden_load(*name, &golden);
        for (part.size = 0; part.size < golden.size; part.size += 1 + part.size / 200) {
            struct everything found;
            part.data = malloc(part.size);
            memcpy(part.data, golden.data, part.size);
            walk_everything(part.data, part.size, &found);
            assert_int_not_equal(found.fault, OPL_BLOCK_GOOD);
            free(part.data);
        }
        golden_done(&golden);
    }
}

/* ---- bytes that change while they are read ---- */

/* Writes good and bad values into lengths and counts without end, as a malicious process could do
 * in shared memory. */
static void keep_changing(const struct golden *golden)
{
    static const size_t fields[] = {20,  24,  28,  80,  84,  112, 116,
                                    120, 144, 152, 176, 208, 212, 256};
    struct golden shared = *golden;
    uint32_t good[COUNT(fields)];
    for (size_t i = 0; i < COUNT(fields); i++)
        good[i] = golden_get(golden, fields[i]);
    for (uint32_t round = 1;; round = round * 1664525 + 1013904223) {
        size_t i = (round >> 8) % COUNT(fields);
        golden_set(&shared, fields[i], round & 0x10000 ? round >> (round & 31) : good[i]);
        golden_set(&shared, fields[i], good[i]);
    }
}

/* Copies a block to the end of a mapping, so that reading beyond it crashes. */
static struct golden share(const char *name, unsigned char **ret_mapping, size_t page)
{
    struct golden golden, shared;
    golden_load(name, &golden);
    *ret_mapping = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(*ret_mapping != MAP_FAILED);
    assert_int_equal(mprotect(*ret_mapping + page, page, PROT_NONE), 0);
    shared = (struct golden){*ret_mapping + page - golden.size, golden.size, NULL};
    memcpy(shared.data, golden.data, golden.size);
    golden_done(&golden);
    return shared;
}

static void bytes_that_change_meanwhile(void **state)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), faults[OPL_BLOCK_TRUNCATED + 1] = {0};
    unsigned char *mapping;
    struct golden shared = share("hello.hex", &mapping, page);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        keep_changing(&shared);
    }
    for (size_t i = 0; i < 30000; i++) {
        struct everything found;
        struct wire_finding finding;
        walk_everything(shared.data, shared.size, &found);
        wire_check_objects(shared.data + 112, shared.size - 112, 1, &finding);
        faults[found.fault]++;
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_true(faults[OPL_BLOCK_GOOD] > 0);
    munmap(mapping, 2 * page);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bit_flipped),
        cmocka_unit_test(every_bit_flipped_at_an_odd_address),
        cmocka_unit_test(every_length_and_count_wrong),
        cmocka_unit_test(every_shorter_size),
        cmocka_unit_test(bytes_that_change_meanwhile),
    };
    if (count > 1 && strcmp(arguments[1], "all") == 0)
        step_of_large = 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
