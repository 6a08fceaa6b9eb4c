/* SPDX-License-Identifier: MIT */
/* The capture that Windows made, in its three formats, and a table of all values that a query reads
 * from such a capture. */
#ifndef OPL_TESTS_PDH_TABLE_H
#define OPL_TESTS_PDH_TABLE_H

#define STATUS(name) ((PDH_STATUS)PDH_##name)
enum { SAMPLES = 25, COLUMNS = 10 };
static char blg[512], csv[512], tsv[512];

static void table_names(void)
{
    const char *golden = getenv("GOLDEN");
    snprintf(blg, sizeof blg, "%s/perfmon-logs/CounterSamples.blg", golden);
    snprintf(csv, sizeof csv, "%s/perfmon-logs/CounterSamples.csv", golden);
    snprintf(tsv, sizeof tsv, "%s/perfmon-logs/CounterSamples.tsv", golden);
}

static struct pdh_from file(const char *path)
{
    return (struct pdh_from){.file = path};
}

struct table {
    size_t rows, columns;
    LONGLONG times[SAMPLES];
    PDH_FMT_COUNTERVALUE cells[SAMPLES][COLUMNS];
    PDH_STATUS statuses[SAMPLES][COLUMNS];
};

static void read_query(PDH_HQUERY query, const PDH_HCOUNTER *counters, struct table *ret)
{
    PDH_STATUS status;
    for (ret->rows = 0; ret->rows < SAMPLES; ret->rows++) {
        status = query_collect(query, &ret->times[ret->rows]);
        if (status)
            break;
        for (size_t i = 0; i < ret->columns; i++)
            ret->statuses[ret->rows][i] = counter_value(
                counters[i], PDH_FMT_DOUBLE | PDH_FMT_NOCAP100, NULL, &ret->cells[ret->rows][i]);
    }
    if (ret->rows == SAMPLES)
        assert_int_equal(query_collect(query, NULL), STATUS(NO_MORE_DATA));
}

static void read_table(struct pdh_from from, const char *const *paths, size_t count,
                       struct table *ret)
{
    PDH_HQUERY query;
    PDH_HCOUNTER counters[COLUMNS];
    assert_int_equal(query_open(from, 0, &query), 0);
    assert_false(query_is_real_time(query));
    ret->columns = count;
    for (size_t i = 0; i < count; i++)
        assert_int_equal(counter_add(query, paths[i], false, 0, &counters[i]), 0);
    read_query(query, counters, ret);
    assert_int_equal(query_close(query), 0);
}

#endif
