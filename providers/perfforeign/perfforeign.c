/* SPDX-License-Identifier: MIT */
/*
 * perfforeign.so: answers "Foreign NAME [numbers]" with the block of any machine that
 * RegConnectRegistry reaches, and reports on those machines in its object Foreign Machine (109000).
 * It runs in a helper process, because a machine may be slow. (docs/windows/articles.md#c32,
 * docs/windows/articles.md#c116)
 */
#include "perfforeign.h"

#include <openperflib/block.h>
#include <winperf.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* clang-format off */
static const opl_counter counters[] = {
    {109002, 109003, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_NOVICE, OPL_FIELD(struct foreign_machine, status), .total = OPL_NONE, .name = "Status",
     .help = "How the last query to the machine ended: 0 if it answered, else the Windows error code. While this is not 0, the counters of its last answer are "
             "still shown, for a minute.",
     .where = "RegConnectRegistry, RegQueryValueEx"},
    {109004, 109005, PERF_COUNTER_BULK_COUNT, 0, PERF_DETAIL_NOVICE, OPL_FIELD(struct foreign_machine, answers), .name = "Answers/sec",
     .help = "The rate at which the machine answered queries.", .where = "RegQueryValueEx"},
    {109006, 109007, PERF_COUNTER_LARGE_RAWCOUNT, 0, PERF_DETAIL_NOVICE, OPL_FIELD(struct foreign_machine, failures), .name = "Failures",
     .help = "How many queries the machine did not answer.", .where = "RegConnectRegistry, RegQueryValueEx"},
    {109008, 109009, PERF_COUNTER_BULK_COUNT, -4, PERF_DETAIL_ADVANCED, OPL_FIELD(struct foreign_machine, answer_bytes),
     .name = "Answer Bytes/sec", .help = "The rate at which bytes of answers came from the machine.", .where = "RegQueryValueEx"},
    {109010, 109011, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_FIELD(struct foreign_machine, milliseconds), .total = OPL_NONE,
     .name = "Answer Time",
     .help = "How long the machine's last answer took, in milliseconds, including the time to connect.",
     .where = "RegConnectRegistry, RegQueryValueEx"},
    {109012, 109013, PERF_ELAPSED_TIME, 0, PERF_DETAIL_ADVANCED, OPL_FIELD(struct foreign_machine, since), .total = OPL_NONE,
     .name = "Time Since Answer",
     .help = "The time, in seconds, since the machine's last answer or, if it has never answered, since the first query to it.",
     .where = "the clock"},
};
/* clang-format on */

static void list(opl_listing *listing)
{
    for (const struct foreign_machine *machine = machine_first(); machine; machine = machine->next)
        opl_listing_item(listing, machine->label, machine);
}

static const opl_object foreign_machine = {
    .index = 109000,
    .help_index = 109001,
    .name = "Foreign Machine",
    .help = "Other machines whose counters this program queried through this machine, with queries "
            "that begin with Foreign, and how each of them answered.",
    OPL_COUNTERS(counters),
    .default_counter = 109002,
    .clock = true,
    .instances = true,
    .list = list,
};

static const opl_object *const objects[] = {&foreign_machine};
OPL_TABLES(NULL, objects, NULL, OpenForeignData, CollectForeignData, CloseForeignData);
static opl_entry *entry;

/* ---- the query ---- */

static bool is_blank(WCHAR unit)
{
    return unit == ' ' || unit == '\t';
}

static const WCHAR *skip_blanks(const WCHAR *at)
{
    while (is_blank(*at))
        at++;
    return at;
}

static const WCHAR *skip_word(const WCHAR *at)
{
    while (*at && !is_blank(*at))
        at++;
    return at;
}

/* Returns the text after "Foreign", which Perflib always passes in this spelling; NULL: the query
 * does not begin with that word. */
static const WCHAR *text_after_foreign(LPCWSTR query)
{
    static const char word[] = "Foreign";
    size_t i = 0;
    while (word[i] && query[i] == (WCHAR)word[i])
        i++;
    return !word[i] && is_blank(query[i]) ? skip_blanks(query + i) : NULL;
}

/* Answers "NAME [numbers]" with the block of machine NAME: these objects, or those of Global. */
static DWORD answer_for(const WCHAR *name, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    static const WCHAR global[] = {'G', 'l', 'o', 'b', 'a', 'l', 0};
    const WCHAR *end = skip_word(name), *numbers = skip_blanks(end);
    struct foreign_machine *machine = machine_find(name, (size_t)(end - name));
    DWORD size = *bytes, status = ERROR_SUCCESS;
    opl_block block;
    *bytes = *types = 0;
    if (machine)
        status = machine_query(machine, *numbers ? numbers : global, *data, &size);
    if (!machine || status || !size || opl_block_init(&block, *data, size))
        return status;
    *data = (char *)*data + size;
    *bytes = size;
    *types = block.header.NumObjectTypes;
    return ERROR_SUCCESS;
}

/* ---- the three functions ---- */

OPL_EXPORTED DWORD APIENTRY OpenForeignData(LPWSTR devices);
OPL_EXPORTED DWORD APIENTRY CollectForeignData(LPWSTR query, LPVOID *data, LPDWORD bytes,
                                               LPDWORD types);
OPL_EXPORTED DWORD APIENTRY CloseForeignData(void);

/* The connection to a machine may be a program (ssh, openperflib-smb) whose parent ends at once.
 * Orphans of a helper process are killed, so this process adopts such programs as their
 * subreaper. */
DWORD APIENTRY OpenForeignData(LPWSTR devices)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    return opl_entry_open_1(&entry, &opl_tables_1, devices);
}

DWORD APIENTRY CollectForeignData(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    const WCHAR *name = query ? text_after_foreign(query) : NULL;
    while (waitpid(-1, NULL, WNOHANG) > 0) /* reaps the programs of lost connections */
        ;
    return name ? answer_for(name, data, bytes, types)
                : opl_entry_collect_1(entry, query, data, bytes, types);
}

DWORD APIENTRY CloseForeignData(void)
{
    DWORD status = opl_entry_close_1(&entry);
    if (!entry)
        machine_forget_all();
    return status;
}
