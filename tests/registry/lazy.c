/* SPDX-License-Identifier: MIT */
/*
 * The texts of services are read from their file only when they are needed. No caller can notice
 * this: the tests read in all ways, with layers and deletions over the texts, and while files
 * change. Then tests of the functions that list, replace and remove single files.
 */
#include "test.h"

#include <time.h>

#define TEXTS REGISTRY_SERVICES "\\Svc\\Performance\\Names\\009"
#define NUMBERS_KEY REGISTRY_SERVICES "\\Svc\\Performance"
#define NAMES_KEY "SYSTEM\\CurrentControlSet\\Services\\Svc\\Performance\\Names\\009"

static const char service[] =
    HEADER "[" NUMBERS_KEY "]\n\"First Counter\"=dword:00000738\n[" TEXTS "]\n\"1848\"=\"One\"\n"
           "\"1849\"=\"Help\"\n[" REGISTRY_SERVICES
           "\\Svc\\Performance\\Names\\007]\n\"1848\"=\"Eins\"\n[" KEY "]\n\"behind\"=\"x\"\n";

static bool add_value(void *self, const struct registry_value *value)
{
    buffer_printf(self, "%s=%s ", value->name, (const char *)value->data);
    return true;
}

static void assert_values(const char *key, const char *expected)
{
    BUFFER_AUTO text = {0};
    assert_int_equal(registry_each_value(key, add_value, &text), ERROR_SUCCESS);
    assert_string_equal(text.data ? text.data : "", expected);
}

static void every_way_of_asking_finds_the_texts(void **state)
{
    HKEY key;
    char name[16], data[16];
    DWORD name_size = sizeof name, data_size = sizeof data, type;
    struct key_info info;
    put("machine/registry.d/Svc.reg", service);
    assert_values(TEXTS, "1848=One 1849=Help "); /* now read from the file */
    assert_text(TEXTS, "1849", "Help");          /* now read from memory */
    assert_values(TEXTS, "1848=One 1849=Help ");
    assert_text(KEY, "behind", "x");
    store_forget();
    assert_int_equal(key_open(HKEY_LOCAL_MACHINE, NAMES_KEY, KEY_READ, &key), ERROR_SUCCESS);
    assert_int_equal(key_info(key, false, &info), ERROR_SUCCESS);
    assert_int_equal(info.values, 2);
    store_forget();
    assert_int_equal(key_enum_value(key, 1, false, name, &name_size, &type, data, &data_size), 0);
    assert_string_equal(name, "1849");
    assert_string_equal(data, "Help");
    key_close(key);
}

static void other_files_lie_over_them(void **state)
{
    put("machine/registry.d/Svc.reg", service);
    put("machine/registry.d/Svc2.reg", HEADER "[" TEXTS "]\n\"1849\"=\"Later\"\n");
    assert_values(TEXTS, "1848=One 1849=Later ");
    assert_int_equal(registry_set(LAYER_MACHINE, TEXTS, "1850", REG_SZ, "Hand", 5), 0);
    assert_int_equal(registry_delete_value(LAYER_MACHINE, TEXTS, "1848"), ERROR_SUCCESS);
    assert_values(TEXTS, "1849=Later 1850=Hand ");
    put("user/registry.d/Svc.reg", HEADER "[" TEXTS "]\n\"1850\"=\"User\"\n");
    assert_values(TEXTS, "1849=Later 1850=User ");
    assert_int_equal(registry_delete_tree(LAYER_MACHINE, REGISTRY_SERVICES "\\Svc"),
                     /* refused: with the user's file, the service would still exist */
                     ERROR_ACCESS_DENIED);
    unlink(path_of("user/registry.d/Svc.reg"));
    assert_int_equal(registry_delete_tree(LAYER_MACHINE, REGISTRY_SERVICES "\\Svc"), ERROR_SUCCESS);
    assert_int_equal(registry_each_value(TEXTS, add_value, NULL), ERROR_FILE_NOT_FOUND);
}

static void a_section_that_comes_twice(void **state)
{
    put("machine/registry.d/Svc.reg",
        HEADER "[" TEXTS "]\n\"1\"=\"a\"\n\"2\"=\"b\"\n[" KEY "]\n[" TEXTS
               "]\n\"2\"=\"c\"\n[-" REGISTRY_SERVICES "\\Svc\\Performance\\Names\\007]\n");
    assert_values(TEXTS, "1=a 2=c ");
    put("machine/registry.d/Svc.reg", HEADER "[" TEXTS "]\n\"1\"=\"a\"\n[-" NUMBERS_KEY "]\n");
    store_refresh_all();
    assert_int_equal(registry_each_value(TEXTS, add_value, NULL), ERROR_FILE_NOT_FOUND);
}

/* If a file is edited in place, the positions of its texts that were noted earlier are not used any
 * more. */
static void a_file_that_changed_meanwhile(void **state)
{
    BUFFER_AUTO text = {0};
    put("machine/registry.d/Svc.reg", service);
    assert_text(NUMBERS_KEY, "Library", NULL);
    buffer_printf(&text, "%s[%s\\x]\n", service, KEY);
    memcpy(strstr(text.data, "Help"), "Mine", 4);
    put("machine/registry.d/Svc.reg", text.data);
    /* this first read may find nothing, but it notices the change, so the next one reads the new
     * file */
    registry_each_value(TEXTS, add_value, &text);
    assert_text(TEXTS, "1849", "Mine");
}

static void damage_in_a_late_section_is_an_event(void **state)
{
    put("machine/registry.d/Svc.reg",
        HEADER "[" TEXTS "]\n\"1848\"=\"One\"\nrubbish\n\"1849\"=\"Help\"\n");
    assert_values(TEXTS, "1848=One 1849=Help ");
    assert_file_has("events", "rubbish");
    assert_file_has("events", "Svc.reg");
}

static void utf16_files_are_read_at_once(void **state)
{
    BUFFER_AUTO wide = {0};
    buffer_add(&wide, "\xff\xfe", 2);
    utf8_add_as_16(&wide, service, strlen(service));
    put_bytes("machine/registry.d/Svc.reg", wide.data, wide.len);
    assert_values(TEXTS, "1848=One 1849=Help ");
}

/* ---- single files ---- */

static bool add_file(void *self, const struct registry_file *file)
{
    buffer_printf(self, "%d:%s:%u ", (int)file->layer, file->name, (unsigned)file->size);
    return strcmp(file->name, "stop.reg") != 0;
}

static void assert_files(const char *expected)
{
    BUFFER_AUTO files = {0};
    assert_int_equal(registry_each_file(add_file, &files), ERROR_SUCCESS);
    assert_string_equal(files.data ? files.data : "", expected);
}

static void files_come_in_merging_order(void **state)
{
    assert_files("");
    put("machine/registry.d/z.reg", "");
    put("machine/registry.d/manual.reg", "12");
    put("machine/registry.d/a.reg", "1");
    put("machine/registry.d/.hidden.reg", "1");
    put("machine/registry.d/readme", "1");
    put("vendor/data/registry.d/v.reg", "123");
    put("user/registry.d/u.reg", "1234");
    assert_files("0:v.reg:3 1:a.reg:1 1:z.reg:0 1:manual.reg:2 2:u.reg:4 ");
    put("machine/registry.d/stop.reg", "");
    assert_files("0:v.reg:3 1:a.reg:1 1:stop.reg:0 ");
}

static void a_file_of_somebody_else_is_not_read(void **state)
{
    BUFFER_AUTO text = {0};
    put("machine/registry.d/a.reg", "1");
    assert_int_equal(registry_read_file(LAYER_MACHINE, "a.reg", &text), ERROR_SUCCESS);
    assert_string_equal(text.data, "1");
    assert_int_equal(chmod(path_of("machine/registry.d/a.reg"), 0666), 0);
    assert_int_equal(registry_read_file(LAYER_MACHINE, "a.reg", &text), ERROR_ACCESS_DENIED);
    assert_int_equal(registry_read_file(LAYER_MACHINE, "b.reg", &text), ERROR_FILE_NOT_FOUND);
    assert_int_equal(registry_read_file(LAYER_USER, "b.reg", &text), ERROR_FILE_NOT_FOUND);
}

static void replacing_and_removing(void **state)
{
    struct registry_edit *edit;
    struct registry_file file;
    static const char *const bad[] = {"",        ".reg",     "a",        ".a.reg",
                                      "a/b.reg", "../a.reg", "a.reg.tmp"};
    assert_int_equal(registry_edit_begin(LAYER_VENDOR, &edit), ERROR_ACCESS_DENIED);
    assert_int_equal(registry_edit_begin(LAYER_MACHINE, &edit), ERROR_SUCCESS);
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(registry_edit_replace(edit, bad[i], "x", 1, NULL), ERROR_INVALID_NAME);
        assert_int_equal(registry_edit_remove(edit, bad[i]), ERROR_INVALID_NAME);
    }
    assert_int_equal(registry_edit_remove(edit, "a.reg"), ERROR_FILE_NOT_FOUND);
    assert_int_equal(registry_edit_replace(edit, "a.reg", service, strlen(service), &file), 0);
    assert_int_equal(file.size, strlen(service));
    assert_values(TEXTS, "1848=One 1849=Help "); /* other callers can read while the edit is open */
    assert_int_equal(registry_edit_replace(edit, "a.reg", HEADER, strlen(HEADER), NULL), 0);
    assert_int_equal(registry_each_value(TEXTS, add_value, NULL), ERROR_FILE_NOT_FOUND);
    assert_int_equal(registry_edit_remove(edit, "a.reg"), ERROR_SUCCESS);
    registry_edit_end(edit);
    registry_edit_end(NULL);
    assert_files("");
    assert_int_equal(registry_set(LAYER_MACHINE, KEY, "a", REG_SZ, "1", 2), ERROR_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ROOT_TEST(every_way_of_asking_finds_the_texts),
        ROOT_TEST(other_files_lie_over_them),
        ROOT_TEST(a_section_that_comes_twice),
        ROOT_TEST(a_file_that_changed_meanwhile),
        ROOT_TEST(damage_in_a_late_section_is_an_event),
        ROOT_TEST(utf16_files_are_read_at_once),
        ROOT_TEST(files_come_in_merging_order),
        ROOT_TEST(a_file_of_somebody_else_is_not_read),
        ROOT_TEST(replacing_and_removing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
