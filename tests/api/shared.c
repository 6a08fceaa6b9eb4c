/* SPDX-License-Identifier: MIT */
/*
 * Named objects that several processes share: file mappings and mutexes, what is left when a
 * process is killed, and which handles are accepted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <psapi.h>
#include <windows.h>

#include "../temp.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[64];

static int prepare(void **state)
{
    temp_make(root);
    setenv("OPENPERFLIB_ROOT", root, 1);
    return 0;
}

static int clean(void **state)
{
    temp_remove(root);
    return 0;
}

#define NAME "Global\\openperflib test, shared"

static HANDLE create(const char *name, DWORD bytes)
{
    return CreateFileMappingA(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0, bytes, name);
}

/* ---- a process that does something and then waits to be killed ---- */

struct other {
    pid_t number;
    int reported;
};

static struct other start(void (*act)(void))
{
    int pipes[2];
    char byte;
    struct other other;
    assert_int_equal(pipe(pipes), 0);
    other.number = fork();
    if (other.number == 0) {
        act();
        if (write(pipes[1], "x", 1) == 1)
            for (;;)
                pause();
        _exit(1);
    }
    close(pipes[1]);
    other.reported = pipes[0];
    assert_int_equal(read(other.reported, &byte, 1), 1);
    return other;
}

static void end(struct other other)
{
    kill(other.number, SIGKILL);
    waitpid(other.number, NULL, 0);
    close(other.reported);
}

static void other_creates(void)
{
    char *view = MapViewOfFile(create(NAME, 100000), FILE_MAP_ALL_ACCESS, 0, 0, 0);
    if (!view)
        _exit(2);
    strcpy(view, "from the other one");
    view[99999] = 'z';
}

static void c122_a_mapping_is_shared_by_name(void **state)
{
    struct other other = start(other_creates);
    HANDLE mapping = OpenFileMappingA(FILE_MAP_READ, FALSE, "openperflib test, shared");
    assert_non_null(mapping);
    const char *view = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0);
    assert_non_null(view);
    assert_string_equal(view, "from the other one");
    assert_int_equal(view[99999], 'z');
    assert_null(MapViewOfFile(mapping, FILE_MAP_WRITE, 0, 0, 0));
    assert_int_equal(GetLastError(), ERROR_ACCESS_DENIED);
    end(other);
    /* the process that created the memory was killed, but this process still has a handle to it */
    HANDLE again = OpenFileMappingA(FILE_MAP_ALL_ACCESS, FALSE, NAME);
    assert_non_null(again);
    assert_true(CloseHandle(again));
    assert_true(CloseHandle(mapping));
    /* a view without a handle keeps the memory, too */
    mapping = create(NAME, 5);
    assert_int_equal(GetLastError(), ERROR_ALREADY_EXISTS);
    char *long_view = MapViewOfFile(mapping, FILE_MAP_WRITE, 0, 65536, 0);
    assert_int_equal(long_view[99999 - 65536], 'z');
    assert_true(UnmapViewOfFile(long_view));
    assert_true(CloseHandle(mapping));
    assert_true(UnmapViewOfFile(view));
    assert_null(OpenFileMappingA(FILE_MAP_READ, FALSE, NAME));
    assert_int_equal(GetLastError(), ERROR_FILE_NOT_FOUND);
}

static unsigned objects(void)
{
    char path[4096];
    unsigned count = 0;
    snprintf(path, sizeof path, "%s/objects", root);
    DIR *list = opendir(path);
    for (const struct dirent *entry; list && (entry = readdir(list));)
        count += entry->d_name[0] != '.';
    if (list)
        closedir(list);
    return count;
}

static void a_killed_owner_takes_it_along(void **state)
{
    end(start(other_creates));
    /* the file of the killed process's object still exists; the next open of this name removes
     * it */
    assert_int_equal(objects(), 1);
    assert_null(OpenFileMappingA(FILE_MAP_READ, FALSE, NAME));
    assert_int_equal(GetLastError(), ERROR_FILE_NOT_FOUND);
    assert_int_equal(objects(), 0);
    end(start(other_creates));
    /* a new object of this name contains nothing of the dead one */
    HANDLE mapping = create(NAME, 10);
    assert_int_equal(GetLastError(), ERROR_SUCCESS);
    char *view = MapViewOfFile(mapping, FILE_MAP_WRITE, 0, 0, 10);
    for (int i = 0; i < 10; i++)
        assert_int_equal(view[i], 0);
    assert_null(MapViewOfFile(mapping, FILE_MAP_WRITE, 0, 0, 11));
    assert_int_equal(GetLastError(), ERROR_ACCESS_DENIED);
    assert_null(MapViewOfFile(mapping, FILE_MAP_WRITE, 0, 4096, 1));
    assert_int_equal(GetLastError(), ERROR_MAPPED_ALIGNMENT);
    UnmapViewOfFile(view);
    CloseHandle(mapping);
    assert_int_equal(objects(), 0);
    assert_false(UnmapViewOfFile(view));
    assert_int_equal(GetLastError(), ERROR_INVALID_ADDRESS);
}

/* Runs in each of twenty processes, which create, use and close the same shared memory at the same
 * time. No process ever sees memory that is only half created. */
static void race(void)
{
    for (int i = 0; i < 50; i++) {
        HANDLE mapping = create("race", 65536 * 2);
        uint64_t *view = mapping ? MapViewOfFile(mapping, FILE_MAP_WRITE, 0, 65536, 0) : NULL;
        if (!view || (*view != 0 && *view != 0x1234567890abcdef))
            _exit(1);
        *view = 0x1234567890abcdef;
        if (i == 49 && getpid() % 2)
            kill(getpid(), SIGKILL);
        UnmapViewOfFile(view);
        CloseHandle(mapping);
    }
    _exit(0);
}

static void many_at_once(void **state)
{
    pid_t numbers[20];
    for (int i = 0; i < 20; i++) {
        numbers[i] = fork();
        if (numbers[i] == 0)
            race();
    }
    for (int i = 0; i < 20; i++) {
        int status;
        waitpid(numbers[i], &status, 0);
        assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0);
    }
    assert_null(OpenFileMappingA(FILE_MAP_READ, FALSE, "race"));
    assert_int_equal(objects(), 0);
}

static void names(void **state)
{
    char too_long[300];
    HANDLE mapping = create("Local\\\xd0\x98\xd0\xbc\xd1\x8f / \xc3\xa4", 1);
    assert_non_null(mapping);
    HANDLE same = OpenFileMappingW(FILE_MAP_READ, FALSE, u"Global\\\x418\x43c\x44f / \xe4");
    assert_non_null(same);
    assert_null(OpenFileMappingW(FILE_MAP_READ, FALSE, u"\x438\x43c\x44f / \xe4"));
    CloseHandle(same);
    assert_null(CreateMutexA(NULL, FALSE, "\xd0\x98\xd0\xbc\xd1\x8f / \xc3\xa4"));
    assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
    CloseHandle(mapping);
    assert_null(create("Global\\a\\b", 1));
    assert_int_equal(GetLastError(), ERROR_PATH_NOT_FOUND);
    memset(too_long, 'x', sizeof too_long);
    too_long[260] = '\0';
    assert_null(create(too_long, 1));
    assert_int_equal(GetLastError(), ERROR_FILENAME_EXCED_RANGE);
    too_long[259] = '\0';
    mapping = create(too_long, 1);
    assert_non_null(mapping);
    too_long[258] = 'y'; /* another name, whose file name begins with the same characters */
    assert_null(OpenFileMappingA(FILE_MAP_READ, FALSE, too_long));
    CloseHandle(mapping);
    assert_null(create("empty", 0));
    assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
    assert_null(OpenFileMappingA(FILE_MAP_READ, FALSE, NULL));
    assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
    assert_null(OpenFileMappingA(FILE_MAP_READ, FALSE, "../passwd"));
    assert_int_equal(GetLastError(), ERROR_FILE_NOT_FOUND);
}

static void no_other_user_may(void **state)
{
    char path[4096];
    struct stat st;
    HANDLE mapping = create("mode", 1);
    snprintf(path, sizeof path, "%s/objects", root);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    strcat(path, "/mode");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    CloseHandle(mapping);
    /* a folder that other users may enter is not trusted */
    *strrchr(path, '/') = '\0';
    assert_int_equal(chmod(path, 0755), 0);
    assert_null(create("mode", 1));
    assert_int_equal(GetLastError(), ERROR_ACCESS_DENIED);
    assert_int_equal(chmod(path, 0700), 0);
    HANDLE read_only = CreateFileMappingA(INVALID_HANDLE_VALUE, NULL, PAGE_READONLY, 0, 9, "r");
    assert_null(MapViewOfFile(read_only, FILE_MAP_WRITE, 0, 0, 0));
    assert_int_equal(GetLastError(), ERROR_ACCESS_DENIED);
    char *copy = MapViewOfFile(read_only, FILE_MAP_COPY, 0, 0, 0);
    assert_non_null(copy);
    copy[0] = 'x';
    const char *shared = MapViewOfFile(read_only, FILE_MAP_READ, 0, 0, 0);
    assert_int_equal(shared[0], 0);
    assert_ptr_equal(MapViewOfFileEx(read_only, FILE_MAP_READ, 0, 0, 0, copy), NULL);
    UnmapViewOfFile(copy);
    UnmapViewOfFile(shared);
    CloseHandle(read_only);
}

static void without_a_name_and_of_files(void **state)
{
    char path[4096], text[16] = "0123456789";
    HANDLE mapping = create(NULL, 70000);
    char *one = MapViewOfFile(mapping, FILE_MAP_WRITE, 0, 0, 0);
    const char *two = MapViewOfFile(mapping, FILE_MAP_READ, 0, 65536, 4464);
    one[69999] = 'q';
    assert_int_equal(two[4463], 'q');
    assert_true(CloseHandle(mapping));
    one[65536] = 'p';
    assert_int_equal(two[0], 'p');
    assert_true(FlushViewOfFile(one, 0));
    UnmapViewOfFile(one);
    UnmapViewOfFile(two);
    snprintf(path, sizeof path, "%s\\file", root);
    HANDLE file = CreateFileA(path, GENERIC_READ | GENERIC_WRITE, 0, NULL, CREATE_NEW, 0, NULL);
    assert_ptr_not_equal(file, INVALID_HANDLE_VALUE);
    assert_null(CreateFileMappingA(file, NULL, PAGE_READWRITE, 0, 0, NULL));
    assert_int_equal(GetLastError(), ERROR_FILE_INVALID);
    mapping = CreateFileMappingA(file, NULL, PAGE_READWRITE, 0, 10, NULL);
    assert_non_null(mapping);
    assert_true(CloseHandle(file));
    one = MapViewOfFile(mapping, FILE_MAP_WRITE, 0, 0, 0);
    memcpy(one, text, 10);
    assert_true(UnmapViewOfFile(one) && CloseHandle(mapping));
    *strrchr(path, '\\') = '/';
    FILE *in = fopen(path, "r");
    assert_int_equal(fread(text, 1, 16, in), 10);
    fclose(in);
    assert_memory_equal(text, "0123456789", 10);
    assert_ptr_equal(CreateFileA("C:\\file", 0, 0, NULL, OPEN_EXISTING, 0, NULL),
                     INVALID_HANDLE_VALUE);
    assert_int_equal(GetLastError(), ERROR_PATH_NOT_FOUND);
    assert_ptr_equal(CreateFileA("/dev/null", 0, 0, NULL, OPEN_EXISTING, 0, NULL),
                     INVALID_HANDLE_VALUE);
}

/* ---- mutexes ---- */

static void other_owns(void)
{
    HANDLE mutex = CreateMutexA(NULL, TRUE, "shared mutex");
    WaitForSingleObject(mutex, 0); /* a second wait: now it owns the mutex twice */
}

static void c122_a_killed_owner_is_reported(void **state)
{
    struct other other = start(other_owns);
    HANDLE mutex = OpenMutexA(MUTEX_ALL_ACCESS, FALSE, "shared mutex");
    assert_non_null(mutex);
    assert_int_equal(WaitForSingleObject(mutex, 0), WAIT_TIMEOUT);
    assert_int_equal(WaitForSingleObject(mutex, 30), WAIT_TIMEOUT);
    assert_false(ReleaseMutex(mutex));
    assert_int_equal(GetLastError(), ERROR_NOT_OWNER);
    end(other);
    assert_int_equal(WaitForSingleObject(mutex, INFINITE), WAIT_ABANDONED);
    assert_true(ReleaseMutex(mutex));
    assert_int_equal(WaitForSingleObject(mutex, 10), WAIT_OBJECT_0);
    assert_int_equal(WaitForSingleObject(mutex, 10), WAIT_OBJECT_0);
    assert_true(ReleaseMutex(mutex) && ReleaseMutex(mutex));
    assert_false(ReleaseMutex(mutex));
    assert_true(CloseHandle(mutex));
    assert_null(OpenMutexW(MUTEX_ALL_ACCESS, FALSE, u"shared mutex"));
    assert_int_equal(GetLastError(), ERROR_FILE_NOT_FOUND);
}

static int both;
static void *count(void *mutex)
{
    for (int i = 0; i < 20000; i++) {
        assert_int_equal(WaitForSingleObject(mutex, INFINITE), WAIT_OBJECT_0);
        both++;
        ReleaseMutex(mutex);
    }
    return NULL;
}

static void *take_and_end(void *mutex)
{
    WaitForSingleObject(mutex, INFINITE);
    return NULL;
}

static void threads_exclude_each_other(void **state)
{
    pthread_t thread;
    HANDLE mutex = CreateMutexW(NULL, FALSE, NULL);
    assert_int_equal(pthread_create(&thread, NULL, count, mutex), 0);
    count(mutex);
    pthread_join(thread, NULL);
    assert_int_equal(both, 40000);
    assert_int_equal(pthread_create(&thread, NULL, take_and_end, mutex), 0);
    pthread_join(thread, NULL);
    assert_int_equal(WaitForSingleObject(mutex, 0), WAIT_ABANDONED);
    assert_true(CloseHandle(mutex)); /* the handle is closed while the mutex is held */
    HANDLE other = CreateMutexA(NULL, TRUE, "another");
    assert_true(CloseHandle(other));
    other = CreateMutexA(NULL, FALSE, "another");
    /* a held mutex exists even without a handle */
    assert_int_equal(GetLastError(), ERROR_ALREADY_EXISTS);
    assert_true(ReleaseMutex(other));
    assert_true(CloseHandle(other));
}

/* ---- handles ---- */

static void only_what_is_ours_is_closed(void **state)
{
    int pipes[2], file = open("/proc/self/exe", O_RDONLY);
    assert_int_equal(pipe(pipes), 0);
    const int not_ours[] = {file, pipes[0], pipes[1], 0, 1, 2, -1, 99999};
    for (size_t i = 0; i < sizeof not_ours / sizeof *not_ours; i++) {
        assert_false(CloseHandle((HANDLE)(intptr_t)not_ours[i]));
        assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
        assert_int_equal(WaitForSingleObject((HANDLE)(intptr_t)not_ours[i], 0), WAIT_FAILED);
    }
    assert_true(fcntl(file, F_GETFD) >= 0 && fcntl(pipes[1], F_GETFD) >= 0);
    close(file);
    close(pipes[0]);
    close(pipes[1]);
    HANDLE event = CreateEventA(NULL, FALSE, TRUE, NULL);
    assert_null(MapViewOfFile(event, FILE_MAP_READ, 0, 0, 0));
    assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
    assert_false(ReleaseMutex(event));
    assert_true(CloseHandle(event));
}

static void nothing(void)
{
}

static void processes(void **state)
{
    static DWORD numbers[1 << 16];
    DWORD bytes;
    HMODULE modules[512];
    char name[64];
    bool found = false;
    struct other other = start(nothing);
    assert_true(EnumProcesses(numbers, sizeof numbers, &bytes));
    for (DWORD i = 0; i < bytes / sizeof *numbers; i++)
        found = found || numbers[i] == (DWORD)other.number;
    assert_true(found);
    HANDLE process =
        OpenProcess(PROCESS_QUERY_INFORMATION | PROCESS_VM_READ, FALSE, (DWORD)other.number);
    assert_non_null(process);
    assert_int_equal(WaitForSingleObject(process, 0), WAIT_TIMEOUT);
    assert_true(EnumProcessModules(process, modules, sizeof modules, &bytes));
    assert_true(bytes >= 2 * sizeof *modules);
    assert_int_equal(GetModuleBaseNameA(process, NULL, name, sizeof name),
                     strlen("test-api-shared"));
    assert_string_equal(name, "test-api-shared");
    found = false;
    for (DWORD i = 0; i < bytes / sizeof *modules; i++)
        if (GetModuleBaseNameA(process, modules[i], name, sizeof name))
            found = found || !strncmp(name, "libc", 4);
    assert_true(found);
    WCHAR wide[5];
    assert_int_equal(GetModuleBaseNameW(process, NULL, wide, 5), 4);
    assert_memory_equal(wide, u"test", 10);
    end(other);
    assert_int_equal(WaitForSingleObject(process, INFINITE), WAIT_OBJECT_0);
    assert_false(EnumProcessModules(process, modules, sizeof modules, &bytes));
    assert_true(CloseHandle(process));
    assert_null(OpenProcess(0, FALSE, 0x7fffffff));
    assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c122_a_mapping_is_shared_by_name),
        cmocka_unit_test(a_killed_owner_takes_it_along),
        cmocka_unit_test(many_at_once),
        cmocka_unit_test(names),
        cmocka_unit_test(no_other_user_may),
        cmocka_unit_test(without_a_name_and_of_files),
        cmocka_unit_test(c122_a_killed_owner_is_reported),
        cmocka_unit_test(threads_exclude_each_other),
        cmocka_unit_test(only_what_is_ours_is_closed),
        cmocka_unit_test(processes),
    };
    return cmocka_run_group_tests(tests, prepare, clean);
}
