/* SPDX-License-Identifier: MIT */
/* The list of processes in the German article (docs/windows/articles.md#c105): the article's sample
 * is run as a program, and the article's loop over the objects and instances of a block is repeated
 * here. */
#include "../skip.h"
#include <setjmp.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <windows.h>

enum { PROCESS_OBJECT = 230, MOST_LINES = 100000 };

static char *lines[MOST_LINES];
static size_t line_count;

static int run_sample(void **state)
{
    char command[4096], line[2048];
    snprintf(command, sizeof command, "%s/samples/enum_process/enum_process", getenv("BUILD_ROOT"));
    FILE *output = popen(command, "r");
    if (!output)
        return -1;
    while (line_count < MOST_LINES && fgets(line, sizeof line, output))
        lines[line_count++] = strdup(line);
    return pclose(output) == 0 ? 0 : -1;
}

static int forget_lines(void **state)
{
    while (line_count)
        free(lines[--line_count]);
    return 0;
}

static bool line_is(const char *line, unsigned id, const char *name)
{
    unsigned got_id;
    char got_name[1024];
    return sscanf(line, "%u %1023[^\n]", &got_id, got_name) == 2 && got_id == id &&
           strcmp(got_name, name) == 0;
}

static void c113_idle_first_and_total_last_have_id_0(void **state)
{
    assert_true(line_count >= 3);
    assert_true(line_is(lines[0], 0, "Idle"));
    assert_true(line_is(lines[line_count - 1], 0, "_Total"));
}

static void c113_this_process_is_listed_with_its_id(void **state)
{
    unsigned id, found = 0;
    for (size_t i = 0; i < line_count; i++)
        if (sscanf(lines[i], "%u", &id) == 1 && id == (unsigned)getpid())
            found++;
    assert_int_equal(found, 1);
}

/* Queries with a growing buffer as in the document: 40,960 bytes, and as much more after each
 * ERROR_MORE_DATA. */
static BYTE *answer_to(const char *query, DWORD *ret_size)
{
    for (DWORD capacity = 40960;; capacity += 40960) {
        BYTE *data = malloc(capacity);
        DWORD type, size = capacity;
        LSTATUS status = RegQueryValueExA(HKEY_PERFORMANCE_DATA, query, NULL, &type, data, &size);
        *ret_size = size;
        if (status == ERROR_SUCCESS)
            return data;
        assert_int_equal(status, ERROR_MORE_DATA);
        assert_int_equal(size, capacity);
        free(data);
    }
}

static void c114_instances_follow_their_counter_blocks(void **state)
{
    DWORD size;
    BYTE *data = answer_to("230", &size);
    PERF_DATA_BLOCK *block = (PERF_DATA_BLOCK *)data;
    PERF_OBJECT_TYPE *object = (PERF_OBJECT_TYPE *)(data + block->HeaderLength);
    assert_int_equal(object->ObjectNameTitleIndex, PROCESS_OBJECT);
    BYTE *instance = (BYTE *)object + object->DefinitionLength;
    for (LONG i = 0; i < object->NumInstances; i++) {
        instance += ((PERF_INSTANCE_DEFINITION *)instance)->ByteLength;
        instance += ((PERF_COUNTER_BLOCK *)instance)->ByteLength;
    }
    assert_ptr_equal(instance, (BYTE *)object + object->TotalByteLength);
    free(data);
}

static void a_full_disk_is_no_success(void **state)
{
    char command[4096];
    if (access("/dev/full", W_OK) != 0) {
        report_skipped("there is no /dev/full");
        return;
    }
    snprintf(command, sizeof command, "%s/samples/enum_process/enum_process >/dev/full 2>/dev/null",
             getenv("BUILD_ROOT"));
    assert_int_not_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c113_idle_first_and_total_last_have_id_0),
        cmocka_unit_test(c113_this_process_is_listed_with_its_id),
        cmocka_unit_test(c114_instances_follow_their_counter_blocks),
        cmocka_unit_test(a_full_disk_is_no_success),
    };
    return cmocka_run_group_tests_name("api-enum-process", tests, run_sample, forget_lines);
}
