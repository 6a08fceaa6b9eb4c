/* SPDX-License-Identifier: MIT */
/* Included by every test of this folder: the root folder `test_root` of each test, and functions
 * that write files of the layers. */
#ifndef OPL_REGISTRY_TEST_H
#define OPL_REGISTRY_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../temp.h"
#include "registry/registry.h"
#include "registry/store/store.h"

#define HEADER "Windows Registry Editor Version 5.00\n\n"
#define KEY "HKEY_LOCAL_MACHINE\\SOFTWARE\\Test"
#define USER_KEY "HKEY_CURRENT_USER\\Test"

static char test_root[64];

static inline int set_up(void **state)
{
    char vendor[96], folder[128];
    temp_make(test_root);
    snprintf(vendor, sizeof vendor, "%s/vendor", test_root);
    static const char *const parts[] = {"", "/data", "/data/registry.d"};
    for (size_t i = 0; i < COUNT(parts); i++) {
        snprintf(folder, sizeof folder, "%s%s", vendor, parts[i]);
        assert_int_equal(mkdir(folder, 0755), 0);
    }
    setenv("OPENPERFLIB_ROOT", test_root, 1);
    setenv("OPENPERFLIB_VENDOR", vendor, 1);
    store_forget();
    place_forget();
    return 0;
}

static inline int tear_down(void **state)
{
    store_forget();
    place_forget();
    temp_remove(test_root);
    return 0;
}

static inline const char *path_of(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", test_root, name);
    return path;
}

/* Writes a file such as "machine/registry.d/a.reg" below test_root, and makes its folders. The file
 * is written in place, not replaced. */
static inline void put_bytes(const char *name, const void *bytes, size_t size)
{
    char folder[256];
    strcpy(folder, path_of(name));
    *strrchr(folder, '/') = 0;
    assert_int_equal(file_make_folders(folder, 0755), ERROR_SUCCESS);
    int fd = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_int_not_equal(fd, -1);
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
    close(fd);
}

static inline void put(const char *name, const char *text)
{
    put_bytes(name, text, strlen(text));
}

static inline void assert_text(const char *path, const char *value, const char *expected)
{
    BUFFER_AUTO text = {0};
    LSTATUS status = registry_get_text(path, value, &text);
    if (expected) {
        assert_int_equal(status, ERROR_SUCCESS);
        assert_string_equal(text.data, expected);
    } else {
        assert_int_equal(status, ERROR_FILE_NOT_FOUND);
    }
}

static inline void assert_file_has(const char *name, const char *text)
{
    BUFFER_AUTO content = {0};
    assert_int_equal(file_read(AT_FDCWD, path_of(name), &content), ERROR_SUCCESS);
    if (!strstr(content.data, text))
        fail_msg("%s lacks \"%s\":\n%s", name, text, content.data);
}

#define ROOT_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

/* A replacement for file_steps.write: writes half of the bytes, and at the next call reports a full
 * disk. */
static inline ssize_t full_disk(int fd, const void *data, size_t size)
{
    static bool some;
    some = !some;
    if (some)
        return write(fd, data, size / 2);
    errno = ENOSPC;
    return -1;
}

#endif
