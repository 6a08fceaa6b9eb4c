/* SPDX-License-Identifier: MIT */
/* Tests of base/events/trace.c with OPENPERFLIB_TRACE=1; tests/base/event.c has it off. */
#include "test.h"
#include "../temp.h"

#include <errno.h>
#include <fcntl.h>

/* Sets `ret` to what trace writes on stderr for this text. */
static void catch_trace(struct buffer *ret, const char *text)
{
    char folder[64];
    temp_make(folder);
    int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int file = openat(dir, "trace", O_RDWR | O_CREAT | O_CLOEXEC, 0600), saved = dup(2);
    dup2(file, 2);
    errno = 4711;
    trace("parse", "[%s]", text);
    int error = errno;
    dup2(saved, 2);
    LSTATUS status = file_read(dir, "trace", ret);
    close(saved);
    close(file);
    close(dir);
    temp_remove(folder);
    assert_int_equal(status, ERROR_SUCCESS);
    assert_int_equal(error, 4711);
}

static void a_station_is_one_line(void **state)
{
    BUFFER_AUTO line = {0};
    assert_true(trace_on());
    catch_trace(&line, "2 230");
    assert_string_equal(line.data, "openperflib: parse: [2 230]\n");
}

static void a_long_line_is_cut_but_ends(void **state)
{
    BUFFER_AUTO line = {0};
    char text[10000];
    memset(text, 't', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    catch_trace(&line, text);
    assert_true(line.len > 1000 && line.len < 4096);
    assert_int_equal(line.data[line.len - 1], '\n');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_station_is_one_line),
        cmocka_unit_test(a_long_line_is_cut_but_ends),
    };
    setenv("OPENPERFLIB_TRACE", "1", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
