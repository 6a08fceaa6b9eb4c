/* SPDX-License-Identifier: MIT */
/*
 * A program that watches a machine through PCP: it keeps its context and fetches the same metrics
 * repeatedly. bench/objects-setup compiles it against the library that it unpacked.
 *
 *   pcp-fetch local|HOST COUNT METRIC...
 */
#include <pcp/pmapi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int status, const char *what)
{
    char text[PM_MAXERRMSGLEN];
    if (status >= 0)
        return;
    fprintf(stderr, "pcp-fetch: %s: %s\n", what, pmErrStr_r(status, text, sizeof text));
    exit(1);
}

/* Loads PCP's agents into this process; environment variables contain their paths. */
static void open_local(void)
{
    check(pmLoadNameSpace(getenv("PCP_FETCH_NAMES")), "the names");
    for (const char *const *name = (const char *[]){"PCP_FETCH_LINUX", "PCP_FETCH_PROC", NULL};
         *name; name++) {
        char *complaint = pmSpecLocalPMDA(getenv(*name));
        if (complaint) {
            fprintf(stderr, "pcp-fetch: %s: %s\n", *name, complaint);
            exit(1);
        }
    }
    check(pmNewContext(PM_CONTEXT_LOCAL, NULL), "the local context");
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: pcp-fetch local|HOST COUNT METRIC...\n");
        return 2;
    }
    int metrics = argc - 3, values = 0;
    pmID *ids = calloc((size_t)metrics, sizeof *ids);
    pmResult *result;
    if (!ids)
        return 1;
    if (strcmp(argv[1], "local") == 0)
        open_local();
    else
        check(pmNewContext(PM_CONTEXT_HOST, argv[1]), argv[1]);
    check(pmLookupName(metrics, (const char **)argv + 3, ids), "a metric");
    for (int i = atoi(argv[2]); i > 0; i--) {
        check(pmFetch(metrics, ids, &result), "fetching");
        values = 0;
        for (int j = 0; j < result->numpmid; j++)
            values += result->vset[j]->numval > 0 ? result->vset[j]->numval : 0;
        pmFreeResult(result);
    }
    printf("%d values\n", values);
    free(ids);
    return values > 0 ? 0 : 1;
}
