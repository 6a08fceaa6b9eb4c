/* SPDX-License-Identifier: MIT */
/* A provider made with the macro OPL_PROVIDER: its numbers come from its registration, its values
 * and texts from variables in its own memory. */
#include "tree.h"

#include "../temp.h"
#include <windows.h>

#define SERVICE "SYSTEM\\CurrentControlSet\\Services\\Zoo"
enum { VISITORS = 2, MOTTO = 4, TICKETS = 6, ANIMAL = 8, WEIGHT = 10, NAME = 12, LEGS = 14 };
enum { FIRST = 1848, FIRST_HELP = 1849 };

static uint64_t visitors = 5000000000;
static uint16_t tickets = 40000;
static char motto[20] = "Bitte nicht f\xc3\xbcttern";

static struct animal {
    char name[8]; /* without a NUL if all 8 bytes are used */
    uint32_t weight;
    unsigned char legs;
} animals[] = {
    {"Hippo",    1500, 4},
    {"Ostrichs", 120,  2}
};
static size_t animal_count = 2;

/* clang-format off */
static const opl_counter zoo_rows[] = {
    {VISITORS, VISITORS, PERF_COUNTER_LARGE_RAWCOUNT, 0, 100, OPL_VARIABLE(visitors), .name = "Visitors", .help = "V."},
    {MOTTO, MOTTO, PERF_COUNTER_TEXT, 0, 100, OPL_VARIABLE(motto), .name = "Motto", .help = "M."},
    {TICKETS, TICKETS, PERF_COUNTER_RAWCOUNT, 0, 100, OPL_VARIABLE(tickets), .name = "Tickets", .help = "T."},
};
static const opl_counter animal_rows[] = {
    {WEIGHT, WEIGHT, PERF_COUNTER_RAWCOUNT, 0, 100, OPL_FIELD(struct animal, weight), .name = "Weight", .help = "W."},
    {NAME, NAME, PERF_COUNTER_TEXT, 0, 100, OPL_FIELD(struct animal, name), .name = "Name", .help = "N."},
    {LEGS, LEGS, PERF_COUNTER_RAWCOUNT, 0, 100, OPL_FIELD(struct animal, legs), .name = "Legs", .help = "L."},
};
/* clang-format on */

static void list_animals(opl_listing *listing)
{
    static const char *const names[] = {"the hippo", "the ostriches"};
    for (size_t i = 0; i < animal_count; i++)
        opl_listing_item(listing, names[i], &animals[i]);
}

static const opl_object zoo = {0, 0, "Zoo", "A zoo.", OPL_COUNTERS(zoo_rows)};
static const opl_object animal = {ANIMAL,
                                  ANIMAL,
                                  "Animal",
                                  "Who lives there.",
                                  OPL_COUNTERS(animal_rows),
                                  .instances = true,
                                  .total = "_Total",
                                  .list = list_animals};
static const opl_object *const objects[] = {&zoo, &animal};
OPL_PROVIDER("Zoo", objects);

/* ---- the registry ---- */

static char root[64];

static void set_dword(const char *name, DWORD value)
{
    HKEY key;
    assert_int_equal(RegCreateKeyExA(HKEY_LOCAL_MACHINE, SERVICE "\\Performance", 0, NULL, 0,
                                     KEY_WRITE, NULL, &key, NULL),
                     0);
    assert_int_equal(RegSetValueExA(key, name, 0, REG_DWORD, (const BYTE *)&value, sizeof value),
                     0);
    RegCloseKey(key);
}

static void load(DWORD last_offset)
{
    set_dword("First Counter", FIRST);
    set_dword("Last Counter", FIRST + last_offset);
    set_dword("First Help", FIRST_HELP);
    set_dword("Last Help", FIRST_HELP + last_offset);
}

static int begin(void **state)
{
    (void)state;
    temp_make(root);
    return setenv("OPENPERFLIB_ROOT", root, 1);
}

static int end(void **state)
{
    (void)state;
    temp_remove(root);
    return 0;
}

static int unload(void **state)
{
    (void)state;
    Close();
    animal_count = 2;
    RegDeleteTreeA(HKEY_LOCAL_MACHINE, SERVICE);
    char path[96];
    snprintf(path, sizeof path, "%s/events", root);
    unlink(path);
    return 0;
}

static const char *events(void)
{
    static char text[4096];
    char path[96];
    snprintf(path, sizeof path, "%s/events", root);
    FILE *file = fopen(path, "r");
    size_t count = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[count] = 0;
    return text;
}

static void c67_c100_numbers_are_added_to_the_registration(void **state)
{
    (void)state;
    load(LEGS);
    assert_int_equal(Open(NULL), 0);
    struct answer answer = query_function(Collect, u"Global", ANSWER_SIZE);
    assert_int_equal(answer.types, 2);
    opl_object_view view;
    opl_counter_view counter;
    assert_true(answer_object(&answer, FIRST + ANIMAL, &view));
    assert_int_equal(view.type.ObjectHelpTitleIndex, FIRST_HELP + ANIMAL);
    assert_true(object_counter(&answer, &view, FIRST + WEIGHT, &counter));
    assert_int_equal(counter.definition.CounterHelpTitleIndex, FIRST_HELP + WEIGHT);
    assert_int_equal(query_function(Collect, u"1848", ANSWER_SIZE).types, 1);
    assert_int_equal(query_function(Collect, u"0", ANSWER_SIZE).types, 0);
}

static void c100_without_a_registration_open_says_what_to_do(void **state)
{
    (void)state;
    assert_int_equal(Open(NULL), ERROR_FILE_NOT_FOUND);
    assert_non_null(strstr(events(), "\tPerflib\t3004\terror\tZoo\t"
                                     "the value First Counter in the"));
    assert_non_null(strstr(events(), "run lodctr"));
    struct answer answer = query_function(Collect, u"Global", ANSWER_SIZE);
    assert_int_equal(answer.status, ERROR_NOT_READY);
    assert_int_equal(answer.bytes, 0);
    set_dword("First Counter", FIRST);
    assert_int_equal(Open(NULL), ERROR_FILE_NOT_FOUND);
    assert_non_null(strstr(events(), "the value Last Counter in the"));
}

static void c101_a_registration_with_fewer_counters_is_refused(void **state)
{
    (void)state;
    load(LEGS - 2);
    assert_int_equal(Open(NULL), ERROR_INVALID_DATA);
    assert_non_null(strstr(events(), "the value Last Counter in the Performance key of Zoo"));
    assert_non_null(strstr(events(), "it is 1860, but the library has counters up to 1862"));
    set_dword("Last Counter", FIRST + LEGS);
    assert_int_equal(Open(NULL), ERROR_INVALID_DATA);
    assert_non_null(strstr(events(), "the value Last Help in the"));
    load(LEGS);
    assert_int_equal(Open(NULL), 0);
}

static void open_is_counted(void **state)
{
    (void)state;
    load(LEGS);
    assert_int_equal(Open(NULL), 0);
    assert_int_equal(Open(NULL), 0);
    assert_int_equal(Close(), 0);
    assert_int_equal(query_function(Collect, u"Global", ANSWER_SIZE).types, 2);
    assert_int_equal(Close(), 0);
    assert_int_equal(query_function(Collect, u"Global", ANSWER_SIZE).status, ERROR_NOT_READY);
    assert_int_equal(Close(), 0);
}

/* ---- values ---- */

static void text_of(struct answer *answer, DWORD object, uint32_t position, DWORD index, char *out,
                    size_t capacity)
{
    opl_object_view view;
    opl_instance_view instance;
    opl_counter_view counter;
    assert_true(answer_object(answer, object, &view));
    assert_true(object_instance(answer, &view, position, &instance));
    assert_true(object_counter(answer, &view, index, &counter));
    assert_true(opl_counter_text(&answer->block, &view, &instance, &counter, out, capacity) > 0);
}

static void variables_are_read_at_each_query(void **state)
{
    (void)state;
    load(LEGS);
    assert_int_equal(Open(NULL), 0);
    struct answer answer = query_function(Collect, u"Global", ANSWER_SIZE);
    assert_int_equal(value_of(&answer, FIRST, NULL, FIRST + VISITORS), 5000000000);
    assert_int_equal(value_of(&answer, FIRST, NULL, FIRST + TICKETS), 40000);
    visitors++;
    tickets--;
    answer = query_function(Collect, u"Global", ANSWER_SIZE);
    assert_int_equal(value_of(&answer, FIRST, NULL, FIRST + VISITORS), 5000000001);
    assert_int_equal(value_of(&answer, FIRST, NULL, FIRST + TICKETS), 39999);
}

static void texts_are_utf_16_with_an_end(void **state)
{
    (void)state;
    char text[64];
    load(LEGS);
    assert_int_equal(Open(NULL), 0);
    struct answer answer = query_function(Collect, u"Global", ANSWER_SIZE);
    text_of(&answer, FIRST, 0, FIRST + MOTTO, text, sizeof text);
    assert_string_equal(text, "Bitte nicht f\xc3\xbcttern");
    text_of(&answer, FIRST + ANIMAL, 0, FIRST + NAME, text, sizeof text);
    assert_string_equal(text, "Hippo");
    text_of(&answer, FIRST + ANIMAL, 1, FIRST + NAME, text, sizeof text);
    assert_string_equal(text, "Ostrich"); /* cut off, because the terminator takes one unit */
    text_of(&answer, FIRST + ANIMAL, 2, FIRST + NAME, text, sizeof text);
    assert_string_equal(text, ""); /* _Total */
}

static void instances_are_things_of_the_provider(void **state)
{
    (void)state;
    load(LEGS);
    assert_int_equal(Open(NULL), 0);
    struct answer answer = query_function(Collect, u"Global", ANSWER_SIZE);
    assert_int_equal(value_of(&answer, FIRST + ANIMAL, "the hippo", FIRST + WEIGHT), 1500);
    assert_int_equal(value_of(&answer, FIRST + ANIMAL, "the ostriches", FIRST + LEGS), 2);
    assert_int_equal(value_of(&answer, FIRST + ANIMAL, "_Total", FIRST + WEIGHT), 1620);
    assert_int_equal(value_of(&answer, FIRST + ANIMAL, "_Total", FIRST + LEGS), 6);
}

static void an_empty_list_at_open_keeps_all_rows(void **state)
{
    (void)state;
    load(LEGS);
    animal_count = 0;
    assert_int_equal(Open(NULL), 0);
    animal_count = 1;
    struct answer answer = query_function(Collect, u"Global", ANSWER_SIZE);
    assert_int_equal(value_of(&answer, FIRST + ANIMAL, "the hippo", FIRST + LEGS), 4);
}

static void wrong_tables_are_refused_with_a_reason(void **state)
{
    static uint32_t number;
    static char letters[3];
    static const opl_source file = {.path = "proc/stat"};
    /* clang-format off */
    static const struct {
        const char *why;
        opl_counter row;
    } wrong[] = {
        {"a text needs OPL_VARIABLE", {2, 2, PERF_COUNTER_TEXT, 0, 100, {.size = 0}, .name = "x", .help = "."}},
        {"a text must have at most 1024 bytes", {2, 2, PERF_COUNTER_TEXT, 0, 100, {.variable = &number, .size = 1u << 20}, .name = "x", .help = "."}},
        {"1, 2, 4 or 8 bytes", {2, 2, PERF_COUNTER_RAWCOUNT, 0, 100, OPL_VARIABLE(letters), .name = "x", .help = "."}},
        {"tables do not support this counter type", {2, 2, PERF_COUNTER_NODATA, 0, 100, OPL_VARIABLE(number), .name = "x", .help = "."}},
        {"not a fraction", {2, 2, PERF_COUNTER_RAWCOUNT, 0, 100, OPL_KEY(&file, "cpu", {1, 0}), .name = "x", .help = "."}},
        {"more than four keys", {2, 2, PERF_COUNTER_RAWCOUNT, 0, 100, OPL_KEY(&file, "a + b + c + d + e", OPL_ONE), .name = "x", .help = "."}},
        {"+ or -", {2, 2, PERF_COUNTER_RAWCOUNT, 0, 100, OPL_KEY(&file, "a b", OPL_ONE), .name = "x", .help = "."}},
        {"a key is missing", {2, 2, PERF_COUNTER_RAWCOUNT, 0, 100, OPL_KEY(&file, "a +", OPL_ONE), .name = "x", .help = "."}},
        {"a word must be 1 to 64", {2, 2, PERF_COUNTER_RAWCOUNT, 0, 100, OPL_COLUMN(&file, 65, OPL_ONE), .name = "x", .help = "."}},
    };
    /* clang-format on */
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        opl_provider *provider;
        const opl_object object = {
            0, 0, "Wrong", ".", .counters = &wrong[i].row, .counter_count = 1};
        const opl_object *const list[] = {&object};
        unload(NULL);
        assert_int_equal(tree_open(OPL_OBJECTS(list), 0, 0, &provider), ERROR_INVALID_PARAMETER);
        assert_non_null(strstr(events(), "\tPerflib\t4004\terror\t\t"
                                         "the table of the object Wrong "
                                         "cannot be used, because of x: "));
        if (!strstr(events(), wrong[i].why))
            fail_msg("\"%s\" is not in: %s", wrong[i].why, events());
    }
}

static void instances_that_are_not_listed_are_refused(void **state)
{
    (void)state;
    opl_provider *provider;
    const opl_object object = {0, 0, "Lost", ".", OPL_COUNTERS(animal_rows), .instances = true};
    const opl_object *const list[] = {&object};
    assert_int_equal(tree_open(OPL_OBJECTS(list), 0, 0, &provider), ERROR_INVALID_PARAMETER);
    assert_non_null(strstr(events(), "nothing lists its instances"));
}

/* ---- tables that state wrong sizes ---- */

static const opl_object nameless = {2, 2, NULL, ".", OPL_COUNTERS(zoo_rows)};
static const opl_object rowless = {2, 2, "Rowless", ".", .counter_count = 3};
static const opl_object endless = {2, 2, "Endless", ".", zoo_rows, (size_t)-1};
static const opl_object *const wrong_objects[] = {&zoo, NULL, &nameless, &rowless, &endless};

/* Tables with wrong sizes and counts are refused before anything outside of them is read. */
static void tables_that_lie_are_refused_with_a_reason(void **state)
{
    const opl_table_list good = OPL_TABLE_LIST(NULL, objects, NULL, Open, Collect, Close);
    enum { COUNT = 17 };
    opl_table_list list[COUNT];
    const char *why[COUNT] = {"the list has 0 bytes",
                              "the list has ",
                              "the list has 4294967295 bytes",
                              "an object has 0 bytes",
                              "an object has 4294967288 bytes",
                              "an object has ",
                              "a row has 1 bytes",
                              "a row has 4294967295 bytes",
                              "a row has 4104",
                              "it uses something",
                              "it uses something",
                              "more than 1024 objects",
                              "more than 1024 objects",
                              "one of its objects is NULL",
                              "one of its objects has no name",
                              "the array is NULL",
                              "at most 256"};
    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        list[i] = good;
    list[0].size = 0;
    list[1].size = (uint32_t)(sizeof good - sizeof(void *));
    list[2].size = UINT32_MAX;
    list[3].object_size = 0;
    list[4].object_size = UINT32_MAX - 7;
    list[5].object_size++;
    list[6].counter_size = 1;
    list[7].counter_size = UINT32_MAX;
    list[8].counter_size = 4104;
    list[9].flags = 1;
    list[10].reserved[3] = 1;
    list[11].objects = NULL;
    list[12].count = (size_t)-1;
    list[13].objects = wrong_objects;
    list[14].objects = wrong_objects + 2;
    list[14].count = 1;
    list[15].objects = wrong_objects + 3;
    list[15].count = 1;
    list[16].objects = wrong_objects + 4;
    list[16].count = 1;
    for (size_t i = 0; i < COUNT; i++) {
        struct tables tables;
        struct table_fault fault = {.why = ""};
        assert_int_equal(tables_copy(&list[i], &tables, &fault), ERROR_INVALID_PARAMETER);
        if (!strstr(fault.why, why[i]))
            fail_msg("%zu: \"%s\" is not in: %s", i, why[i], fault.why);
    }
    opl_entry *entry = NULL;
    assert_int_equal(opl_entry_open_1(&entry, &list[7], NULL), ERROR_INVALID_PARAMETER);
    assert_null(entry);
    assert_non_null(strstr(events(), "\tPerflib\t4018\terror\t"));
    assert_non_null(strstr(events(), "cannot be used: a row has 4294967295 bytes"));
}

/* Open copies the tables, so that the provider may change or free its own afterwards. */
static void tables_may_go_when_they_are_open(void **state)
{
    unsigned char data[4096];
    LPVOID at = data;
    DWORD bytes = sizeof data, types;
    opl_counter rows[3];
    opl_object object = zoo;
    const opl_object *one[] = {&object};
    opl_table_list list = OPL_TABLE_LIST(NULL, one, NULL, Open, Collect, Close);
    opl_entry *entry = NULL;
    (void)state;
    memcpy(rows, zoo_rows, sizeof rows);
    object.counters = rows;
    assert_int_equal(opl_entry_open_1(&entry, &list, NULL), 0);
    memset(rows, 0xff, sizeof rows);
    memset(&object, 0xff, sizeof object);
    memset(&list, 0xff, sizeof list);
    assert_int_equal(opl_entry_collect_1(entry, NULL, &at, &bytes, &types), 0);
    assert_int_equal(types, 1);
    opl_entry_close_1(&entry);
    assert_null(entry);
    assert_int_equal(opl_entry_collect_1(entry, NULL, &at, &bytes, &types), ERROR_NOT_READY);
    assert_int_equal(opl_entry_close_1(&entry), 0);
}

/* ---- DllRegisterServer ---- */

static void register_text(const char *name, char *text, DWORD capacity)
{
    assert_int_equal(RegGetValueA(HKEY_LOCAL_MACHINE, SERVICE "\\Performance", name, RRF_RT_REG_SZ,
                                  NULL, text, &capacity),
                     0);
}

static void registering_writes_four_values_and_takes_them_back(void **state)
{
    (void)state;
    char text[4096], self[4096];
    HKEY key;
    assert_int_equal(DllRegisterServer(), S_OK);
    register_text("Open", text, sizeof text);
    assert_string_equal(text, "Open");
    register_text("Collect", text, sizeof text);
    assert_string_equal(text, "Collect");
    register_text("Close", text, sizeof text);
    assert_string_equal(text, "Close");
    register_text("Library", text, sizeof text);
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length] = 0;
    assert_string_equal(text, self);

    set_dword("Disable Performance Counters", 1);
    assert_int_equal(DllUnregisterServer(), S_OK);
    assert_int_equal(
        RegOpenKeyExA(HKEY_LOCAL_MACHINE, SERVICE "\\Performance", 0, KEY_ALL_ACCESS, &key),
        0); /* the key is kept, because another program has a value in it */
    assert_int_equal(RegDeleteValueA(key, "Disable Performance Counters"), 0);
    RegCloseKey(key);
    assert_int_equal(DllRegisterServer(), S_OK);
    assert_int_equal(DllUnregisterServer(), S_OK);
    assert_int_equal(RegOpenKeyExA(HKEY_LOCAL_MACHINE, SERVICE, 0, KEY_READ, &key),
                     ERROR_FILE_NOT_FOUND);
    assert_int_equal(DllUnregisterServer(), (HRESULT)0x80070002u);
}

static void the_tables_name_themselves(void **state)
{
    (void)state;
    assert_string_equal(opl_tables_1.service, "Zoo");
    assert_string_equal(opl_tables_1.procedures[1], "Collect");
    assert_int_equal(opl_tables_1.count, 2);
}

#define ZOO_TEST(function) cmocka_unit_test_teardown(function, unload)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ZOO_TEST(c67_c100_numbers_are_added_to_the_registration),
        ZOO_TEST(c100_without_a_registration_open_says_what_to_do),
        ZOO_TEST(c101_a_registration_with_fewer_counters_is_refused),
        ZOO_TEST(open_is_counted),
        ZOO_TEST(variables_are_read_at_each_query),
        ZOO_TEST(texts_are_utf_16_with_an_end),
        ZOO_TEST(instances_are_things_of_the_provider),
        ZOO_TEST(an_empty_list_at_open_keeps_all_rows),
        ZOO_TEST(wrong_tables_are_refused_with_a_reason),
        ZOO_TEST(instances_that_are_not_listed_are_refused),
        ZOO_TEST(tables_that_lie_are_refused_with_a_reason),
        ZOO_TEST(tables_may_go_when_they_are_open),
        ZOO_TEST(registering_writes_four_values_and_takes_them_back),
        ZOO_TEST(the_tables_name_themselves),
    };
    return cmocka_run_group_tests_name("entry", tests, begin, end);
}
