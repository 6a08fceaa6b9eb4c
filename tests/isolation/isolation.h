/* SPDX-License-Identifier: MIT */
/* Shared by the tests of programs with unusual properties: installs services, queries them, and
 * looks at processes and events. */
#ifndef OPL_TEST_ISOLATION_H
#define OPL_TEST_ISOLATION_H

#include "../api/independent.h"

#include <dirent.h>
#include <fcntl.h>

#define SERVICES "SYSTEM\\CurrentControlSet\\Services\\"
#define VISITOR 22222

static char notes[96]; /* the file in which the provider Visitor writes its process number */

static inline void visitor_install(const char *service, const char *collect)
{
    char path[128];
    snprintf(path, sizeof path, SERVICES "%s\\Performance", service);
    snprintf(notes, sizeof notes, "%s/notes", test_root);
    HKEY key = created(HKEY_LOCAL_MACHINE, path);
    set_text(key, "Library", getenv("VISITOR"));
    set_text(key, "Open", "visitor_open");
    set_text(key, "Collect", collect);
    set_text(key, "Close", "visitor_close");
    CHECK_IS(RegCloseKey(key), 0);
}

/* Is the object in the answer to the query? */
static inline bool answers(const char *query, DWORD object)
{
    CHECK_IS(run_query(query), 0);
    return answer_has(object);
}

/* The id of the process in which Visitor answers a query; 0: its object is not in the answer. */
static inline pid_t visitor_process(void)
{
    opl_block block;
    opl_object_view object;
    opl_counter_view counter = {0};
    opl_instance_view single = {0};
    uint64_t value = 0;
    CHECK_IS(run_query("22222"), 0);
    if (opl_block_init(&block, answer, answer_size) != OPL_BLOCK_GOOD ||
        !opl_block_find_object(&block, VISITOR, &object) ||
        !opl_object_next_counter(&block, &object, &counter) ||
        !opl_object_next_instance(&block, &object, &single))
        return 0;
    opl_counter_number(&block, &single, &counter, &value);
    return (pid_t)value;
}

/* The process id that the provider Visitor wrote last to its notes file; waits at most 5 s for it;
 * 0: none. */
static inline pid_t noted_process(void)
{
    for (int i = 0; i < 500; i++, usleep(10000)) {
        FILE *file = fopen(notes, "r");
        int pid = 0, last = 0;
        while (file && fscanf(file, "%d", &pid) == 1)
            last = pid;
        if (file)
            fclose(file);
        if (last)
            return last;
    }
    return 0;
}

/* Does the process run? A zombie does not. */
static inline bool process_runs(pid_t pid)
{
    char path[64], line[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    bool read = file && fgets(line, sizeof line, file);
    if (file)
        fclose(file);
    const char *state = strrchr(line, ')');
    return read && state && state[2] != 'Z' && state[2] != 'X';
}

static inline bool process_ends_within(pid_t pid, int milliseconds)
{
    for (int i = 0; i <= milliseconds / 10 && process_runs(pid); i++)
        usleep(10000);
    return !process_runs(pid);
}

/* Does the event file have a line with this event number and this text? */
static inline bool event_has(unsigned id, const char *text)
{
    char path[96], line[2048], number[32];
    bool found = false;
    snprintf(path, sizeof path, "%s/events", test_root);
    snprintf(number, sizeof number, "\t%u\t", id);
    FILE *file = fopen(path, "r");
    while (file && !found && fgets(line, sizeof line, file))
        found = strstr(line, number) && strstr(line, text);
    if (file)
        fclose(file);
    return found;
}

/* The number of entries in a folder of /proc/self: descriptors, threads. */
static inline size_t entries_of(const char *path)
{
    size_t count = 0;
    DIR *folder = opendir(path);
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

#endif
