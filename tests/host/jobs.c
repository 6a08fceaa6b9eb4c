/* SPDX-License-Identifier: MIT */
/* A third-party provider with the numbers that Windows NT uses for these objects. A query for Job
 * Object Details (1548) also returns Job Object (1500). */
#include <openperflib/object.h>

#include <string.h>

static const opl_counter job_counters[] = {
    {.index = 1502,
     .help_index = 1503,
     .type = PERF_COUNTER_RAWCOUNT,
     .level = PERF_DETAIL_NOVICE,
     .name = "Process Count - Active",
     .help = "How many processes the job has."},
};
static const opl_counter detail_counters[] = {
    {.index = 784,
     .help_index = 785,
     .type = PERF_COUNTER_RAWCOUNT,
     .level = PERF_DETAIL_NOVICE,
     .total = OPL_NONE,
     .name = "ID Process",
     .help = "The number of the process."},
};

static void list_jobs(opl_listing *listing)
{
    opl_listing_add(listing, "nightly", strlen("nightly"));
}

static void list_details(opl_listing *listing)
{
    opl_listing_add(listing, "backup", strlen("backup"));
    opl_listing_add(listing, "report", strlen("report"));
}

static const opl_object jobs = {.index = 1500,
                                .help_index = 1501,
                                .name = "Job Object",
                                .help = "Processes that belong together.",
                                OPL_COUNTERS(job_counters),
                                .instances = true,
                                .list = list_jobs};
static const opl_object details = {.index = 1548,
                                   .help_index = 1549,
                                   .name = "Job Object Details",
                                   .help = "The processes of each job.",
                                   OPL_COUNTERS(detail_counters),
                                   .related = &jobs,
                                   .instances = true,
                                   .list = list_details};
static const opl_object *const objects[] = {&jobs, &details};
OPL_PROVIDER_NT(objects, NULL, JobsOpen, JobsCollect, JobsClose);
