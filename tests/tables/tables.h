/* SPDX-License-Identifier: MIT */
/*
 * Reads data/base-counters.tsv, data/base-names.tsv and providers/NAME/absent.tsv for the test of
 * the providers' tables.
 */
#ifndef TABLES_H
#define TABLES_H

#include <stdbool.h>
#include <stddef.h>

#include <openperflib/unstable.h>
#include <winerror.h>
#include <winperf.h>

struct base_counter {
    /* help 0: the number of the explanation is not known */
    unsigned object, index, type, level, help;
    int order, scale;
    char name[96];
};
extern struct base_counter base_counters[];
extern size_t base_counter_count;

void base_load(void);                  /* ends the program if a file is missing or damaged */
const char *base_name(unsigned index); /* NULL: Windows has no such number */
const struct base_counter *base_counter(unsigned object, unsigned index); /* NULL: none */
/* does absent.tsv have a reason why Linux lacks this counter? */
bool is_absent(unsigned object, unsigned index);
const char *source_root(void);

#endif
