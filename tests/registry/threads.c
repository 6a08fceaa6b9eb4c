/* SPDX-License-Identifier: MIT */
/* Threads of one process read, enumerate, open and close keys while others write and delete. */
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>

enum { READERS = 3, WRITERS = 2, WRITES = 40 };
static atomic_bool stopped;

static void *write_and_delete(void *argument)
{
    char sub[64];
    LSTATUS status = ERROR_SUCCESS;
    snprintf(sub, sizeof sub, "SOFTWARE\\Test\\%zu", (size_t)(uintptr_t)argument);
    for (DWORD i = 0; !status && i < WRITES; i++) {
        HKEY key;
        bool existed;
        status = key_create(HKEY_LOCAL_MACHINE, sub, KEY_ALL_ACCESS, &key, &existed);
        if (!status)
            status = key_set(key, "number", false, REG_DWORD, &i, sizeof i);
        if (!status && i % 8 == 7)
            status = key_delete_tree(HKEY_LOCAL_MACHINE, sub);
        key_close(key);
    }
    return (void *)(intptr_t)status;
}

static bool good(LSTATUS status)
{
    return status == ERROR_SUCCESS || status == ERROR_FILE_NOT_FOUND ||
           status == ERROR_KEY_DELETED || status == ERROR_NO_MORE_ITEMS;
}

static LSTATUS read_once(void)
{
    HKEY key = NULL;
    char name[64];
    DWORD number, size = sizeof number, name_size = sizeof name;
    struct key_info info;
    LSTATUS status = key_open(HKEY_LOCAL_MACHINE, "SOFTWARE\\Test\\1", KEY_READ, &key);
    if (!status)
        status = key_query(key, "number", false, NULL, &number, &size);
    if (good(status) && key)
        status = key_enum_value(key, 0, true, name, &name_size, NULL, NULL, NULL);
    if (good(status) && key)
        status = key_info(key, true, &info);
    if (key)
        key_close(key);
    registry_generation();
    return good(status) ? ERROR_SUCCESS : status;
}

static void *read_until_stopped(void *argument)
{
    LSTATUS status = ERROR_SUCCESS;
    while (!status && !atomic_load(&stopped))
        status = read_once();
    return (void *)(intptr_t)status;
}

static void readers_and_writers_at_once(void **state)
{
    pthread_t readers[READERS], writers[WRITERS];
    void *status;
    for (size_t i = 0; i < READERS; i++)
        pthread_create(&readers[i], NULL, read_until_stopped, NULL);
    for (size_t i = 0; i < WRITERS; i++)
        pthread_create(&writers[i], NULL, write_and_delete, (void *)(uintptr_t)i);
    for (size_t i = 0; i < WRITERS; i++) {
        pthread_join(writers[i], &status);
        assert_int_equal((intptr_t)status, ERROR_SUCCESS);
    }
    atomic_store(&stopped, true);
    for (size_t i = 0; i < READERS; i++) {
        pthread_join(readers[i], &status);
        assert_int_equal((intptr_t)status, ERROR_SUCCESS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {ROOT_TEST(readers_and_writers_at_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
