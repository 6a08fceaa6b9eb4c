/* SPDX-License-Identifier: MIT */
/* A frozen machine that tests can change: a copy of tests/roots/vm2 (files of proc and sys that the
 * providers read), with processes added. */
#ifndef OPL_TEST_PDH_FROZEN_H
#define OPL_TEST_PDH_FROZEN_H

#include <sys/stat.h>

#include "../temp.h"

/* the test's OPENPERFLIB_ROOT; the machine's files are in its folder "machine-root" */
static char frozen_folder[64];

static inline void frozen_run(const char *format, const char *first, const char *second)
{
    char command[1024];
    snprintf(command, sizeof command, format, first, second);
    if (system(command) != 0)
        abort();
}

static inline int frozen_make(void **state)
{
    char path[512];
    (void)state;
    temp_make(frozen_folder);
    frozen_run("cp -R '%s/tests/roots/vm2' '%s/machine-root'", getenv("SOURCE_ROOT"),
               frozen_folder);
    snprintf(path, sizeof path, "%s/machine-root", frozen_folder);
    setenv("OPENPERFLIB_ROOT", frozen_folder, 1);
    setenv("OPENPERFLIB_SYSROOT", path, 1);
    setenv("LC_ALL", "C", 1);
    return 0;
}

static inline int frozen_remove(void **state)
{
    (void)state;
    temp_remove(frozen_folder);
    return 0;
}

/* Writes a file of the machine; `name` is below machine-root. */
static inline void frozen_write(const char *name, const char *content)
{
    char path[128];
    snprintf(path, sizeof path, "machine-root/%s", name);
    temp_write(frozen_folder, path, content);
}

/* Writes a process with one thread, or changes it if it exists. `cpu` (processor time) and `start`
 * are in ticks of 10 ms. */
static inline void frozen_process(int pid, const char *name, unsigned long cpu,
                                  unsigned long long start)
{
    char line[512], file[64];
    snprintf(line, sizeof line,
             "cd '%s/machine-root/proc' && mkdir -p %d/task/%d && cp 8/status 8/statm 8/io %d && "
             "cp 8/status %d/task/%d",
             frozen_folder, pid, pid, pid, pid, pid);
    frozen_run("%s%s", line, "");
    snprintf(line, sizeof line,
             "%d (%s) S 1 1 1 0 -1 0 10 0 0 0 %lu 0 0 0 20 0 1 0 %llu 1000000 100 "
             "18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
             pid, name, cpu, start);
    snprintf(file, sizeof file, "proc/%d/stat", pid);
    frozen_write(file, line);
    snprintf(file, sizeof file, "proc/%d/task/%d/stat", pid, pid);
    frozen_write(file, line);
    snprintf(line, sizeof line, "%s\n", name);
    snprintf(file, sizeof file, "proc/%d/comm", pid);
    frozen_write(file, line);
}

static inline void frozen_end_process(int pid)
{
    char path[128];
    snprintf(path, sizeof path, "%s/machine-root/proc/%d", frozen_folder, pid);
    temp_remove(path);
}

#endif
