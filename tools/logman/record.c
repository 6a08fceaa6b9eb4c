/* SPDX-License-Identifier: MIT */
/* Records a set: opens files, takes samples, begins new files. */
#include "runner.h"

#include "../common/pdh-message.h"

#include <openperflib/capture.h>

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- opening ---- */

/* Statuses of a disk without space: they may go away. */
static bool may_go_away(PDH_STATUS status)
{
    DWORD code = (DWORD)status;
    return code == ERROR_DISK_FULL || code == ERROR_WRITE_FAULT ||
           code == PDH_MEMORY_ALLOCATION_FAILURE;
}

static PDH_STATUS open_log(struct runner *runner, DWORD mode)
{
    static const DWORD types[] = {[SET_BIN] = PDH_LOG_TYPE_BINARY,
                                  [SET_BINCIRC] = PDH_LOG_TYPE_BINARY,
                                  [SET_CSV] = PDH_LOG_TYPE_CSV,
                                  [SET_TSV] = PDH_LOG_TYPE_TSV};
    const struct set *set = runner->set;
    bool circular = set->format == SET_BINCIRC;
    uint64_t most = circular ? (uint64_t)set->most << 20 : 0;
    DWORD type = types[set->format];
    return PdhOpenLogA(
        runner->file, PDH_LOG_WRITE_ACCESS | mode | (circular ? PDH_LOG_OPT_CIRCULAR : 0), &type,
        runner->query, (DWORD)(most < UINT32_MAX ? most : UINT32_MAX), NULL, &runner->log);
}

static DWORD mode_of(const struct runner *runner)
{
    const struct set *set = runner->set;
    if (set->append || runner->resumes || (runner->files && !set->overwrite))
        return PDH_LOG_OPEN_ALWAYS;
    return set->overwrite ? PDH_LOG_CREATE_ALWAYS : PDH_LOG_CREATE_NEW;
}

/* Makes the folder of the file, for root and the group, and those above it. */
static void make_folder(const struct runner *runner)
{
    FREE_AUTO char *folder = strdup(runner->file), *above = NULL;
    struct stat st;
    if (!folder || stat(dirname(folder), &st) == 0 || !(above = strdup(folder)))
        return;
    mode_t mask = umask(022);
    file_make_folders(dirname(above), 0755);
    umask(mask);
    if (file_make_folders(folder, 0750) == 0)
        files_share(runner, folder);
}

/* Notes that samples are lost, and logs the first of a series. */
static void note_problem(struct runner *runner, PDH_STATUS status)
{
    bool first = !*runner->problem;
    const char *problem = opl_capture_problem();
    snprintf(runner->problem, sizeof runner->problem, "%s",
             problem ? problem : pdh_message(status));
    if (first)
        event_log("PLA", 4101, runner->set->name,
                  EVENT_FIELDS(EVENT_TEXT("Path", runner->file ? runner->file : ""),
                               EVENT_TEXT("Reason", runner->problem)),
                  NULL);
}

static void print_failure(const struct runner *runner, PDH_STATUS status)
{
    if ((DWORD)status == PDH_FILE_ALREADY_EXISTS)
        fprintf(stderr,
                "logman: %s: the file exists; -a continues it, -ow replaces it, and -v gives each "
                "file a name of its own\n",
                runner->file);
    else
        pdh_complain("logman", runner->file, status);
}

/* Opens the next file, or after an error the current one again. */
static PDH_STATUS open_file(struct runner *runner)
{
    const struct set *set = runner->set;
    if (!runner->resumes || !runner->file) {
        free(runner->file);
        runner->file = files_next(set, runner->user);
    }
    if (!runner->file)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    make_folder(runner);
    PDH_STATUS status = open_log(runner, mode_of(runner));
    if (status && runner->resumes && !may_go_away(status)) {
        /* a circular file or a text file with other columns stays as it is; the next is tried */
        runner->resumes = false;
        runner->files++;
        return status;
    }
    if (status) {
        runner->resumes = may_go_away(status);
        return status;
    }
    files_share(runner, runner->file);
    if (!runner->resumes) {
        runner->files++;
        runner->file_samples = 0;
        runner->file_began = run_clock();
    }
    runner->resumes = false;
    runner->size = runner->growth = 0;
    files_clean(runner);
    return 0;
}

/* ---- closing ---- */

static void close_log(struct runner *runner)
{
    PDH_STATUS status = runner->log ? PdhCloseLog(runner->log, 0) : 0;
    if (status)
        note_problem(runner, status);
    runner->log = NULL;
}

void record_close(struct runner *runner)
{
    const struct set *set = runner->set;
    close_log(runner);
    if (runner->file && runner->file_samples && set->command && *set->command)
        command_run(runner, set->command, NULL, &(struct command_about){.file = runner->file});
    free(runner->file);
    runner->file = NULL;
    runner->resumes = false;
}

/* ---- samples ---- */

/* Would one more sample be too much for the file? */
static bool is_full(const struct runner *runner)
{
    const struct set *set = runner->set;
    if (!set->most || set->format == SET_BINCIRC)
        return false;
    if (set->most_unit == UNIT_SAMPLES)
        return runner->file_samples >= set->most;
    return runner->file_samples && runner->size + runner->growth > (int64_t)set->most << 20;
}

static void measure(struct runner *runner)
{
    LONGLONG size = 0;
    if (PdhGetLogFileSize(runner->log, &size))
        return;
    if (runner->size && size - runner->size > runner->growth)
        runner->growth = size - runner->size;
    runner->size = size;
}

void record_more(struct runner *runner)
{
    if (runner->log && runner->set->format == SET_BIN) {
        close_log(runner);
        runner->resumes = true;
    }
}

static void lose(struct runner *runner, PDH_STATUS status)
{
    if (!runner->samples && !runner->log && !may_go_away(status)) {
        print_failure(runner, status);
        runner->failed = true;
        return;
    }
    runner->lost++;
    note_problem(runner, status);
    if (runner->log) {
        close_log(runner);
        runner->resumes = true;
    }
}

bool record_sample(struct runner *runner)
{
    const struct set *set = runner->set;
    bool by_time = set->new_unit == UNIT_SECONDS && set->new_file;
    bool old = by_time && run_clock() - runner->file_began >= set->new_file - set->interval / 2;
    if (runner->file && runner->file_samples && (is_full(runner) || old))
        record_close(runner);
    PDH_STATUS status = runner->log ? 0 : open_file(runner);
    if (!status)
        status = PdhUpdateLogA(runner->log, NULL);
    if (!status) {
        runner->problem[0] = 0;
        runner->samples++;
        runner->file_samples++;
        measure(runner);
    } else if ((DWORD)status != PDH_NO_DATA) {
        lose(runner, status);
    }
    return !runner->failed && (set->segment || by_time || !is_full(runner));
}
