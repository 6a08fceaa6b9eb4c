/* SPDX-License-Identifier: MIT */
/* The laboratory: a root folder for tests. Writes registry values, reads the events and what
 * providers noted. */
#include "lab.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "../temp.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

char lab_root[64];

/* Runs in a detached process without open files: waits until the test process ends, even by a
 * signal, and then removes the test's folder. `test` is the test's pidfd. */
static void be_the_keeper(int test)
{
    struct pollfd end = {.fd = test, .events = POLLIN};
    setsid();
    for (int fd = 0; fd < 64; fd++)
        if (fd != test)
            close(fd);
    while (poll(&end, 1, -1) < 0 && errno == EINTR)
        ;
    for (int i = 0; i < 50 && !access(lab_root, F_OK); i++) {
        temp_remove(lab_root); /* processes that the test started may still be ending */
        usleep(100000);
    }
    _exit(0);
}

/* If the kernel has no pidfd_open, no process is started, and the folder of an aborted test is not
 * removed. */
void lab_keep(void)
{
    fflush(NULL);
    int test = (int)syscall(SYS_pidfd_open, getpid(), 0);
    pid_t middle = test < 0 ? -1 : fork();
    if (!middle) {
        if (!fork())
            be_the_keeper(test);
        _exit(0);
    }
    if (middle > 0)
        waitpid(middle, NULL, 0);
    if (test >= 0)
        close(test);
}

void lab_open(void)
{
    temp_make(lab_root);
    if (!lab_root[0] || setenv("OPENPERFLIB_ROOT", lab_root, 1))
        abort();
}

void lab_close(void)
{
    temp_remove(lab_root);
}

static HKEY key_of(const char *path)
{
    HKEY key;
    LSTATUS status =
        RegCreateKeyExA(HKEY_LOCAL_MACHINE, path, 0, NULL, 0, KEY_ALL_ACCESS, NULL, &key, NULL);
    if (status) {
        fprintf(stderr, "cannot open %s: error %d\n", path, (int)status);
        abort();
    }
    return key;
}

static void set(const char *path, const char *name, DWORD type, const void *data, size_t bytes)
{
    HKEY key = key_of(path);
    LSTATUS status = RegSetValueExA(key, name, 0, type, data, (DWORD)bytes);
    RegCloseKey(key);
    if (status) {
        fprintf(stderr, "cannot set %s of %s: error %d\n", name, path, (int)status);
        abort();
    }
}

void lab_set_text(const char *key, const char *name, const char *text)
{
    set(key, name, REG_SZ, text, strlen(text) + 1);
}

void lab_set_dword(const char *key, const char *name, DWORD value)
{
    set(key, name, REG_DWORD, &value, sizeof value);
}

void lab_unset(const char *path, const char *name)
{
    HKEY key = key_of(path);
    RegDeleteValueA(key, name);
    RegCloseKey(key);
}

long long lab_get_dword(const char *key, const char *name)
{
    DWORD value, bytes = sizeof value;
    LSTATUS status =
        RegGetValueA(HKEY_LOCAL_MACHINE, key, name, RRF_RT_REG_DWORD, NULL, &value, &bytes);
    return status ? -1 : (long long)value;
}

const char *lab_performance(const char *service)
{
    static char path[256];
    snprintf(path, sizeof path, LAB_SERVICES "%s\\Performance", service);
    return path;
}

static void set_if(const char *key, const char *name, const char *text)
{
    if (text)
        lab_set_text(key, name, text);
}

void lab_register(const struct lab_service *service)
{
    const char *key = lab_performance(service->name);
    set_if(key, "Library", service->library);
    set_if(key, "Open", service->open);
    set_if(key, "Collect", service->collect);
    set_if(key, "Close", service->close);
    set_if(key, "Object List", service->list);
    if (service->isolation == LAB_IN_PROCESS)
        lab_set_dword(key, "Isolation", 0);
}

void lab_unregister(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, LAB_SERVICES "%s", name);
    RegDeleteTreeA(HKEY_LOCAL_MACHINE, path);
}

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", lab_root, name);
    return path;
}

char *lab_read(const char *name)
{
    static char text[1 << 17];
    FILE *file = fopen(path_of(name), "r");
    size_t count = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[count] = '\0';
    return text;
}

void lab_remove(const char *name)
{
    unlink(path_of(name));
}

/* an event's fields: time, source, id, level, service, text, separated by tabs */
static bool split_event(char *line, char *fields[6])
{
    for (int i = 0; i < 6; i++) {
        fields[i] = line;
        line = i < 5 ? strchr(line, '\t') : NULL;
        if (line)
            *line++ = '\0';
        else if (i < 5)
            return false;
    }
    return strcmp(fields[1], "Perflib") == 0;
}

const char *lab_events(const char *service, bool ids_only)
{
    static char list[4096];
    char *rest = lab_read("events"), *fields[6];
    size_t used = 0;
    list[0] = '\0';
    for (char *line; (line = strsep(&rest, "\n")) && used < sizeof list - 64;) {
        if (!split_event(line, fields) || (service && strcmp(fields[4], service) != 0))
            continue;
        const char *gap = used == 0 ? "" : ids_only ? " " : ", ";
        used += (size_t)snprintf(list + used, sizeof list - used, ids_only ? "%s%s%s" : "%s%s %s",
                                 gap, ids_only ? "" : fields[3], fields[2]);
    }
    return list;
}

bool lab_has_event(const char *service, unsigned id)
{
    char wanted[16], all[4098];
    snprintf(all, sizeof all, " %s ", lab_events(service, true));
    snprintf(wanted, sizeof wanted, " %u ", id);
    return strstr(all, wanted) != NULL;
}

long long lab_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
