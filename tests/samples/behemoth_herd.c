/* SPDX-License-Identifier: MIT */
/* The simulated herd of the sample behemoth, and the file in which it is saved: an hour of life of
 * ten thousand animals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../samples/behemoth/server/herd.h"
#include "../temp.h"

static char folder[64], path[96];

static struct herd_beginning beginning(uint64_t seed, uint64_t count, int64_t capacity)
{
    struct herd_beginning ret = {.seed = seed, .count = count, .start = 134000000000000000};
    for (int i = 0; i < HERD_PARAMETERS; i++)
        ret.parameters[i] = herd_parameters[i].value;
    ret.parameters[HERD_CAPACITY] = capacity;
    return ret;
}

static void assert_same(const struct herd *left, const struct herd *right)
{
    assert_memory_equal(left, right, offsetof(struct herd, all));
    assert_memory_equal(left->all, right->all, left->count * sizeof *left->all);
}

/* Searches for a behemoth in the list, without the index that the herd keeps itself. */
static const struct behemoth *somebody(const struct herd *herd, uint64_t id)
{
    for (uint64_t low = 0, high = herd->count; low < high;) {
        uint64_t middle = (low + high) / 2;
        if (herd->all[middle].is.id == id)
            return &herd->all[middle].is;
        if (herd->all[middle].is.id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static void assert_sound(const struct herd *herd)
{
    assert_int_equal(herd->count, herd->founded + herd->births - herd->deaths);
    assert_int_equal(herd->left_steps, herd->right_steps);
    for (uint64_t i = 0; i < herd->count; i++) {
        const struct behemoth *is = &herd->all[i].is;
        assert_true(i == 0 || herd->all[i - 1].is.id < is->id);
        assert_true(herd->all[i].dies > herd->ticks);
        assert_in_range(is->weight, 45, 45 + 2100);
        assert_true(is->x < (uint64_t)herd->parameters[HERD_WIDTH]);
        assert_true(is->y < (uint64_t)herd->parameters[HERD_HEIGHT]);
        if (is->mother_position == BEHEMOTH_NONE) {
            assert_int_equal(is->mother, 0);
            continue;
        }
        const struct behemoth *mother = somebody(herd, is->mother);
        assert_non_null(mother);
        assert_ptr_equal(mother, &herd->all[is->mother_position].is);
        assert_int_equal(mother->sex, BEHEMOTH_FEMALE);
        assert_true(mother->birthday <= is->birthday && mother->children > 0);
        assert_int_equal(is->generation, mother->generation + 1);
    }
}

static uint64_t orphans(const struct herd *herd)
{
    uint64_t ret = 0;
    for (uint64_t i = 0; i < herd->count; i++)
        ret += herd->all[i].is.generation > 0 && herd->all[i].is.mother_position == BEHEMOTH_NONE;
    return ret;
}

static void c87_an_hour_of_ten_thousand(void **state)
{
    (void)state;
    struct herd herd;
    struct herd_beginning wanted = beginning(7, 10000, 11500);
    assert_true(herd_begin(&herd, &wanted));
    for (int second = 0; second < 3600; second++) {
        herd_tick(&herd);
        if (second % 60 == 0)
            assert_sound(&herd);
    }
    assert_sound(&herd);
    print_message("# %llu live, %llu born, %llu died, %llu have no mother any more\n",
                  (unsigned long long)herd.count, (unsigned long long)herd.births,
                  (unsigned long long)herd.deaths, (unsigned long long)orphans(&herd));
    assert_in_range(herd.count, 9000, 11500); /* the herd's size stays about the same */
    assert_true(herd.births > 30000 && herd.deaths > 30000);
    assert_true(orphans(&herd) > 100);
    herd_end(&herd);
}

static void the_same_seed_the_same_herd(void **state)
{
    (void)state;
    struct herd left, right, other;
    struct herd_beginning wanted = beginning(3, 60, 100), another = beginning(4, 60, 100);
    assert_true(herd_begin(&left, &wanted) && herd_begin(&right, &wanted));
    assert_true(herd_begin(&other, &another));
    for (int i = 0; i < 2000; i++)
        herd_tick(&left), herd_tick(&right), herd_tick(&other);
    assert_same(&left, &right);
    assert_int_not_equal(memcmp(&left.all[0], &other.all[0], sizeof left.all[0]), 0);
    herd_end(&left), herd_end(&right), herd_end(&other);
}

/* A herd that was saved and restored must continue exactly like one that was not. */
static void what_is_restored_lives_on(void **state)
{
    (void)state;
    struct herd saved, restored;
    struct herd_beginning wanted = beginning(5, 300, 500);
    assert_true(herd_begin(&saved, &wanted));
    for (int i = 0; i < 500; i++)
        herd_tick(&saved);
    assert_int_equal(state_save(&saved, path), STATE_DONE);
    assert_int_equal(state_load(&restored, path), STATE_DONE);
    assert_same(&saved, &restored);
    for (int i = 0; i < 500; i++)
        herd_tick(&saved), herd_tick(&restored);
    assert_same(&saved, &restored);
    herd_end(&saved), herd_end(&restored);
}

static size_t read_file(unsigned char *storage, size_t bytes)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t ret = fread(storage, 1, bytes, file);
    fclose(file);
    return ret;
}

static void write_file(const unsigned char *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static void a_damaged_file_is_no_herd(void **state)
{
    (void)state;
    static unsigned char bytes[65536];
    struct herd herd, none;
    struct herd_beginning wanted = beginning(5, 5, 20);
    assert_true(herd_begin(&herd, &wanted));
    assert_int_equal(state_save(&herd, path), STATE_DONE);
    size_t size = read_file(bytes, sizeof bytes);
    for (size_t cut = 0; cut < size; cut++) {
        write_file(bytes, cut);
        assert_int_equal(state_load(&none, path), STATE_DAMAGED);
    }
    for (size_t bit = 0; bit < size * 8; bit += 3) {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        write_file(bytes, size);
        assert_int_equal(state_load(&none, path), STATE_DAMAGED);
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    remove(path);
    assert_int_equal(state_load(&none, path), STATE_NONE);
    herd_end(&herd);
}

/* If a herd has no adult female or no adult male, one is added, so that the herd never dies out. */
static void it_never_dies_out(void **state)
{
    (void)state;
    struct herd herd;
    struct herd_beginning wanted = beginning(9, 0, 2);
    assert_true(herd_begin(&herd, &wanted));
    for (int i = 0; i < 20000; i++) {
        herd_tick(&herd);
        assert_true(herd.count <= 2);
    }
    assert_sound(&herd);
    assert_true(herd.founded > 10);
    herd_end(&herd);
}

static void changes_from_outside(void **state)
{
    (void)state;
    struct herd herd;
    struct behemoth eve, child;
    struct herd_beginning wanted = beginning(1, 0, 3);
    struct behemoth_create make = {.name = "Eve", .sex = BEHEMOTH_FEMALE};
    assert_true(herd_begin(&herd, &wanted));
    assert_int_equal(herd_create(&herd, &make, &eve), BEHEMOTH_OK);
    assert_string_equal(eve.name, "Eve");
    assert_int_equal(herd_create(&herd, &make, &child), BEHEMOTH_TAKEN);
    make = (struct behemoth_create){.mother = eve.id, .sex = BEHEMOTH_MALE};
    assert_int_equal(herd_create(&herd, &make, &child), BEHEMOTH_OK);
    assert_int_equal(child.mother_position, 0);
    make = (struct behemoth_create){.mother = child.id, .sex = BEHEMOTH_MALE};
    assert_int_equal(herd_create(&herd, &make, &child), BEHEMOTH_NO_MOTHER);
    make = (struct behemoth_create){.name = "a/b", .sex = BEHEMOTH_MALE};
    assert_int_equal(herd_create(&herd, &make, &child), BEHEMOTH_NAME_BAD);
    make = (struct behemoth_create){.mother = 999, .sex = BEHEMOTH_MALE};
    assert_int_equal(herd_create(&herd, &make, &child), BEHEMOTH_UNKNOWN);
    make = (struct behemoth_create){.sex = BEHEMOTH_NONE};
    assert_int_equal(herd_create(&herd, &make, &child), BEHEMOTH_OK);
    assert_int_equal(herd_create(&herd, &make, &child), BEHEMOTH_FULL);
    assert_sound(&herd);
    assert_int_equal(herd_kill(&herd, eve.id), BEHEMOTH_OK);
    assert_int_equal(herd_kill(&herd, eve.id), BEHEMOTH_UNKNOWN);
    assert_sound(&herd);
    assert_int_equal(herd.all[0].is.mother_position, BEHEMOTH_NONE);
    herd_end(&herd);
}

static int begin(void **state)
{
    (void)state;
    temp_make(folder);
    snprintf(path, sizeof path, "%s/herd", folder);
    return folder[0] ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    temp_remove(folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c87_an_hour_of_ten_thousand),
        cmocka_unit_test(the_same_seed_the_same_herd),
        cmocka_unit_test(what_is_restored_lives_on),
        cmocka_unit_test(a_damaged_file_is_no_herd),
        cmocka_unit_test(it_never_dies_out),
        cmocka_unit_test(changes_from_outside),
    };
    return cmocka_run_group_tests_name("behemoth-herd", tests, begin, end);
}
