/* SPDX-License-Identifier: MIT */
/* Address spaces in a tree of proc files that the test makes: every kind of mapping, files that are
 * longer than one read, unreadable files, names with characters that have a meaning in counter
 * paths. */
#include "perfproc.h"

enum { PAGE = 4096, ID = 784 };

static void write_process(int id, const char *name, const char *maps)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "proc/%d/stat", id);
    snprintf(
        text, sizeof text,
        "%d (%s) S 1 5 6 7 8 9 100 11 12 13 1000 500 16 17 20 0 1 21 2200 8192000 300 25 26 27 "
        "28 29 30 31 32 33 34 35 36 37 38 39 0 0 42\n",
        id, name);
    tree_write(path, text);
    snprintf(path, sizeof path, "proc/%d/maps", id);
    if (maps)
        tree_write(path, maps);
}

static const char kinds[] = "00400000-00401000 r--p 00000000 fe:00 1 /opt/my app/pro(1)#2\n"
                            "00401000-00403000 r-xp 00001000 fe:00 1 /opt/my app/pro(1)#2\n"
                            "00403000-00406000 rw-p 00003000 fe:00 1 /opt/my app/pro(1)#2\n"
                            "00406000-0040a000 ---p 00003000 fe:00 1 /opt/my app/pro(1)#2\n"
                            "0040a000-0040f000 --xp 00003000 fe:00 1 /opt/my app/pro(1)#2\n"
                            "0040f000-00415000 rwxp 00003000 fe:00 1 /opt/my app/pro(1)#2\n"
                            "01000000-01001000 rw-p 00000000 00:00 0 [heap]\n"
                            "02000000-02010000 ---p 00000000 00:00 0 \n"
                            "02010000-02012000 r--p 00000000 00:00 0 \n"
                            "02020000-02023000 --xp 00000000 00:00 0 [anon: jit (deleted)]\n"
                            "02030000-02034000 r-xp 00000000 00:00 0 \n"
                            "02040000-02045000 rwxp 00000000 00:00 0 \n"
                            "03000000-03001000 r--p 00000000 fe:00 2 /data\n"
                            "03001000-03003000 rw-p 00001000 fe:00 2 /data\n"
                            "03003000-03006000 ---p 00001000 fe:00 2 /data\n"
                            "04000000-04001000 rw-s 00000000 00:01 3 /dev/shm/x (deleted)\n"
                            "04001000-04003000 r-xs 00000000 00:01 4 /memfd:jit (deleted)\n"
                            "04003000-04006000 --xs 00000000 00:01 4 /memfd:jit (deleted)\n"
                            "04006000-0400a000 rwxs 00000000 00:01 4 /memfd:jit (deleted)\n"
                            "05000000-05003000 r-xp 00000000 fe:00 5 /usr/lib/old.so (deleted)\n"
                            "7fff00000000-7fff00002000 r-xp 00000000 00:00 0 [vdso]\n"
                            "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n";

enum { LIBRARIES = 900 };

/* Writes a file that is longer than any single read. */
static void write_long(void)
{
    static char text[LIBRARIES * 96];
    size_t length = 0;
    for (unsigned i = 0; i < LIBRARIES; i++)
        length += (size_t)snprintf(text + length, sizeof text - length,
                                   "%08x-%08x r-xp 00000000 fe:00 %u /usr/lib/lib%03u.so\n",
                                   0x10000000 + i * 0x2000, 0x10001000 + i * 0x2000, i, i);
    write_process(30, "long", text);
}

static int begin(void **state)
{
    (void)state;
    tree_make();
    tree_write("proc/stat", "cpu  1 2 3 400 50\nbtime 1700000000\n");
    write_process(10, "kinds", kinds);
    write_process(11, "kernel", "");
    write_process(12, "forbidden", NULL);
    write_process(13, "torn", "00400000-00402000 r-xp 0 0 1 /a\n0040");
    write_long();
    assert_int_equal(OpenSysProcessObject(NULL), 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    CloseSysProcessObject();
    tree_drop("");
    return 0;
}

static void every_mapping_is_of_one_kind(void **state)
{
    static const struct expected {
        DWORD index;
        unsigned pages;
    } all[] = {
        {710, 3 },
        {712, 1 },
        {714, 1 },
        {716, 2 },
        {718, 3 },
        {720, 2 },
        {722, 4 },
        {726, 16},
        {746, 2 },
        {748, 1 },
        {752, 3 },
        {754, 4 },
        {756, 5 },
        {760, 4 },
        {762, 1 },
        {764, 0 },
        {766, 3 },
        {768, 5 },
        {770, 7 },
        {772, 0 },
        {774, 6 },
        {780, 16}
    };
    (void)state;
    struct answer answer = run_query(u"786");
    assert_int_equal(answer.types, 1);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (value_of(&answer, 786, "kinds", all[i].index) != all[i].pages * PAGE)
            fail_msg("%u is %u pages", (unsigned)all[i].index,
                     (unsigned)(value_of(&answer, 786, "kinds", all[i].index) / PAGE));
    assert_int_equal(value_of(&answer, 786, "kinds", ID), 10);
}

static void images_have_their_process_as_parent(void **state)
{
    opl_object_view images;
    opl_instance_view image;
    (void)state;
    struct answer answer = run_query(u"740");
    assert_int_equal(answer.types, 2); /* the objects Image and Process Address Space */
    assert_true(answer_object(&answer, 740, &images));
    assert_true(object_named(&answer, &images, "pro[1]_2", &image));
    assert_int_equal(image.definition.ParentObjectTitleIndex, 786);
    assert_int_equal(image.definition.ParentObjectInstance, 0);
    static const DWORD pages[][2] = {
        {788, 4},
        {790, 1},
        {792, 0},
        {794, 3},
        {796, 5},
        {798, 2},
        {800, 0},
        {802, 6}
    };
    for (DWORD i = 0; i < 8; i++)
        assert_int_equal(value_at(&answer, &images, &image, pages[i][0]), pages[i][1] * PAGE);
    assert_true(object_named(&answer, &images, "[vdso]", &image));
    assert_true(object_named(&answer, &images, "old.so", &image));
    assert_int_equal(value_at(&answer, &images, &image, 798), 3 * PAGE);
    assert_false(object_named(&answer, &images, "data", &image));
    assert_false(object_named(&answer, &images, "memfd:jit", &image));
}

static void full_images_are_named_by_their_path(void **state)
{
    (void)state;
    static const DWORD rows[] = {788, 790, 792, 794, 796, 798, 800, 802};
    struct answer answer = run_query(u"740 1408");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(value_of(&answer, 1408, "_opt_my app_pro[1]_2", rows[i]),
                         value_of(&answer, 740, "pro[1]_2", rows[i]));
    assert_int_equal(value_of(&answer, 1408, "_opt_my app_pro[1]_2", 798), 2 * PAGE);
    assert_int_equal(value_of(&answer, 1408, "_usr_lib_old.so", 798), 3 * PAGE);
}

static void a_file_that_comes_in_pieces_is_read_whole(void **state)
{
    opl_object_view images;
    opl_instance_view image;
    (void)state;
    struct answer answer = run_query(u"740 786");
    assert_int_equal(value_of(&answer, 786, "long", 770), LIBRARIES * PAGE);
    assert_true(answer_object(&answer, 740, &images));
    assert_true(object_named(&answer, &images, "lib899.so", &image));
    assert_int_equal(image.definition.ParentObjectInstance, 3);
}

/* A process whose file maps cannot be read does not appear as an instance: an address space of 0
 * bytes would be false. */
static void f_b1_what_cannot_be_read_is_no_instance(void **state)
{
    opl_object_view spaces;
    opl_instance_view instance;
    (void)state;
    struct answer answer = run_query(u"Costly");
    assert_true(answer_object(&answer, 786, &spaces));
    assert_false(object_named(&answer, &spaces, "forbidden", &instance));
    assert_int_equal(value_of(&answer, 786, "kernel", 770), 0);
    assert_int_equal(value_of(&answer, 786, "torn", 770), 2 * PAGE);
}

static void global_does_not_ask_them(void **state)
{
    opl_object_view object;
    (void)state;
    struct answer answer = run_query(u"Global");
    assert_false(answer_object(&answer, 786, &object));
    assert_false(answer_object(&answer, 740, &object));
    answer = run_query(u"Costly");
    assert_true(answer_object(&answer, 786, &object));
    assert_true(answer_object(&answer, 740, &object));
    assert_true(answer_object(&answer, 1408, &object));
    assert_true(answer_object(&answer, 816, &object));
    /* the answer also has Process (230), because processes are the parents in Thread Details */
    assert_true(answer_object(&answer, 230, &object));
    assert_false(answer_object(&answer, 232, &object));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mapping_is_of_one_kind),
        cmocka_unit_test(images_have_their_process_as_parent),
        cmocka_unit_test(full_images_are_named_by_their_path),
        cmocka_unit_test(a_file_that_comes_in_pieces_is_read_whole),
        cmocka_unit_test(f_b1_what_cannot_be_read_is_no_instance),
        cmocka_unit_test(global_does_not_ask_them),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
