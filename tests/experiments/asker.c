/* SPDX-License-Identifier: MIT */
/*
 * A program that queries HKEY_PERFORMANCE_DATA: each argument is a query, for which it prints a
 * line on standard output:
 *
 *     Global: status 0, 1 try, 2:17 4:33 22222:1
 *
 * This line has the status, how many calls the query needed, and the objects with their number of
 * counters. The argument "grow QUERY" begins with a buffer of 1 KiB and doubles it while it is too
 * small, as programs do; "close" closes the key, "wait 1000" waits a second. At the end the program
 * closes the key. Each time it closes the key, it appends "key closed" to $OPENPERFLIB_ROOT/notes.
 */
#include <openperflib/block.h>
#include <windows.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIZE = 32 << 20 };
static unsigned char data[SIZE];
static DWORD size;

static void print_objects(void)
{
    opl_block block;
    opl_object_view object = {0};
    if (opl_block_init(&block, data, size) != OPL_BLOCK_GOOD)
        printf(" damaged");
    while (opl_block_next_object(&block, &object))
        printf(" %u:%u", object.type.ObjectNameTitleIndex, object.type.NumCounters);
    if (block.fault)
        printf(" damaged: %s", opl_block_fault_text(block.fault));
}

static LSTATUS query_with(const char *question, DWORD capacity)
{
    size = capacity;
    return RegQueryValueExA(HKEY_PERFORMANCE_DATA, question, NULL, NULL, data, &size);
}

static void run_query(const char *question, DWORD capacity)
{
    unsigned tries = 1;
    LSTATUS status;
    while ((status = query_with(question, capacity)) == ERROR_MORE_DATA && capacity < SIZE) {
        capacity *= 2;
        tries++;
    }
    printf("%s: status %d, %u %s,", question, (int)status, tries, tries == 1 ? "try" : "tries");
    if (status == 0)
        print_objects();
    printf("\n");
}

static void close_key(void)
{
    char path[256], line[64];
    snprintf(path, sizeof path, "%s/notes", getenv("OPENPERFLIB_ROOT"));
    int length = snprintf(line, sizeof line, "%d %d key closed\n", getpid(), gettid());
    int file = open(path, O_WRONLY | O_APPEND | O_CREAT, 0666);
    if (file < 0 || write(file, line, (size_t)length) != length || close(file))
        abort();
    RegCloseKey(HKEY_PERFORMANCE_DATA);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "close") == 0)
            close_key();
        else if (strncmp(argv[i], "wait ", 5) == 0)
            usleep((useconds_t)atoi(argv[i] + 5) * 1000);
        else if (strncmp(argv[i], "grow ", 5) == 0)
            run_query(argv[i] + 5, 1 << 10);
        else
            run_query(argv[i], SIZE);
    }
    close_key();
    return 0;
}
