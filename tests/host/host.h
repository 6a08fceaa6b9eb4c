/* SPDX-License-Identifier: MIT */
/* Shared by the tests of the module host: a new root folder (OPENPERFLIB_ROOT), in which one
 * service is registered. */
#ifndef OPL_TESTS_HOST_H
#define OPL_TESTS_HOST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../temp.h"
#include "host/internal.h"
#include "registry/store/store.h"

#define PERFORMANCE REGISTRY_SERVICES "\\MyPerf\\Performance"

static char test_root[64];
static struct service_table *table;

static inline void set_text(const char *path, const char *name, uint32_t type, const char *text)
{
    assert_int_equal(registry_set(LAYER_MACHINE, path, name, type, text, strlen(text) + 1), 0);
}

static inline void set_dword(const char *path, const char *name, uint32_t number)
{
    assert_int_equal(registry_set(LAYER_MACHINE, path, name, REG_DWORD, &number, sizeof(number)),
                     0);
}

/* Reads a number of the service; -1: there is none. */
static inline long long number_of(const char *name)
{
    uint32_t number;
    return registry_get_dword(PERFORMANCE, name, &number) ? -1 : (long long)number;
}

/* Reads the services again, and returns the one of this name. */
static inline struct service *service_now(const char *name)
{
    service_table_release(table);
    table = NULL;
    assert_int_equal(service_table_hold(&table), 0);
    for (size_t i = 0; i < table->count; i++)
        if (!strcmp(table->services[i].name, name))
            return &table->services[i];
    return NULL;
}

static inline struct service *myperf(void)
{
    return service_now("MyPerf");
}

static inline const char *events(void)
{
    static char text[65536];
    char path[96];
    snprintf(path, sizeof path, "%s/events", test_root);
    FILE *file = fopen(path, "r");
    size_t count = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[count] = '\0';
    if (file)
        fclose(file);
    return text;
}

static inline bool event_seen(unsigned id)
{
    char wanted[32];
    snprintf(wanted, sizeof wanted, "\tPerflib\t%u\t", id);
    return strstr(events(), wanted) != NULL;
}

static inline void forget_events(void)
{
    char path[96];
    snprintf(path, sizeof path, "%s/events", test_root);
    unlink(path);
}

/* Registers one service, whose library does not exist. */
static inline int set_up_myperf(void **state)
{
    temp_make(test_root);
    setenv("OPENPERFLIB_ROOT", test_root, 1);
    store_forget();
    place_forget();
    set_text(PERFORMANCE, "Library", REG_SZ, "/nonexistent/myperf.so");
    set_text(PERFORMANCE, "Collect", REG_SZ, "Collect");
    return 0;
}

static inline int tear_down_myperf(void **state)
{
    service_table_release(table);
    table = NULL;
    host_close(); /* forgets what the session knew of the service */
    temp_remove(test_root);
    return 0;
}

#endif
