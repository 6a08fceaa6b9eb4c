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
#include <unistd.h>

/* ---- opening ---- */

/* Is this the status of a full disk or of lacking memory? Such a problem may end by itself. */
static bool may_go_away(PDH_STATUS status)
{
    DWORD code = (DWORD)status;
    return code == ERROR_DISK_FULL || code == ERROR_WRITE_FAULT ||
           code == PDH_MEMORY_ALLOCATION_FAILURE;
}

static PDH_STATUS open_log(struct active *active, DWORD mode)
{
    static const DWORD types[] = {[SET_BIN] = PDH_LOG_TYPE_BINARY,
                                  [SET_BINCIRC] = PDH_LOG_TYPE_BINARY,
                                  [SET_CSV] = PDH_LOG_TYPE_CSV,
                                  [SET_TSV] = PDH_LOG_TYPE_TSV};
    enum set_format format = active->collector->format;
    bool circular = format == SET_BINCIRC;
    uint64_t most = circular ? active->runner->set->most << 20 : 0;
    DWORD type = types[format];
    return PdhOpenLogA(
        active->file, PDH_LOG_WRITE_ACCESS | mode | (circular ? PDH_LOG_OPT_CIRCULAR : 0), &type,
        active->query, (DWORD)(most < UINT32_MAX ? most : UINT32_MAX), NULL, &active->log);
}

static DWORD mode_of(const struct active *active)
{
    const struct collector *collector = active->collector;
    if (collector->format == SET_BINCIRC && active->resumes && !active->file_samples)
        /* a circular file cannot be continued, but one that is still empty can be made anew */
        return PDH_LOG_CREATE_ALWAYS;
    if (collector->append || active->resumes || (active->files && !collector->overwrite))
        return PDH_LOG_OPEN_ALWAYS;
    return collector->overwrite ? PDH_LOG_CREATE_ALWAYS : PDH_LOG_CREATE_NEW;
}

/* Makes the file's folder, for root and the group openperflib, and the folders above it. */
static void make_folder(const struct active *active)
{
    FREE_AUTO char *folder = strdup(active->file), *above = NULL;
    struct stat st;
    if (!folder || stat(dirname(folder), &st) == 0 || !(above = strdup(folder)))
        return;
    mode_t mask = umask(022);
    file_make_folders(dirname(above), 0755);
    umask(mask);
    if (file_make_folders(folder, 0750) == 0)
        files_share(active->runner->user, folder);
}

/* Is it safe for root to write into the file's folder? If other users may write there, they could
 * replace the file by a link to any file. False: active->problem has the reason. */
static bool folder_is_safe(struct active *active)
{
    char why[TRUST_TEXT];
    struct stat st;
    FREE_AUTO char *file = strdup(active->file),
                   *folder = file ? realpath(dirname(file), NULL) : NULL;
    if (geteuid() != 0 || !folder) /* if the folder is missing, opening the file fails anyway */
        return true;
    bool shared = stat(folder, &st) == 0 && st.st_mode & S_ISVTX && file_trusted(&st, true);
    if (trust_check_folder(shared ? dirname(folder) : folder, why) == 0)
        return true;
    snprintf(active->problem, sizeof active->problem, "%s", why);
    return false;
}

/* Stores the reason why samples are lost, and logs an event for the first sample of a series. */
static void note_problem(struct active *active, PDH_STATUS status)
{
    bool first = !*active->problem;
    const char *problem = active->other_kind ? active->other_kind : opl_capture_problem();
    snprintf(active->problem, sizeof active->problem, "%s",
             problem ? problem : pdh_message(status));
    if (first)
        event_log("PLA", 4101, active->runner->set->name,
                  EVENT_FIELDS(EVENT_TEXT("Path", active->file ? active->file : ""),
                               EVENT_TEXT("Reason", active->problem)),
                  NULL);
}

static void print_failure(const struct active *active, PDH_STATUS status)
{
    if ((DWORD)status == PDH_FILE_ALREADY_EXISTS)
        fprintf(stderr,
                "logman: %s: the file exists; -a continues it, -ow replaces it, and -v gives each "
                "file a name of its own\n",
                active->file);
    else if (active->other_kind || *active->problem)
        fprintf(stderr, "logman: %s: %s\n", active->file,
                active->other_kind ? active->other_kind : active->problem);
    else
        pdh_complain("logman", active->file, status);
}

/* May the file be opened? A pipe of that name would block the runner when it is full. */
static PDH_STATUS check_file(struct active *active)
{
    active->other_kind = file_kind(active->file);
    if (active->other_kind)
        return (PDH_STATUS)PDH_ACCESS_DENIED;
    if (active->runner->set->compress && !active->resumes && !active->collector->overwrite &&
        files_exists(active->file))
        return (PDH_STATUS)PDH_FILE_ALREADY_EXISTS;
    return active->files || folder_is_safe(active) ? 0 : (PDH_STATUS)PDH_ACCESS_DENIED;
}

/* Opens the next file; after an error, opens the current file again. */
static PDH_STATUS open_file(struct active *active)
{
    if (!active->resumes || !active->file) {
        free(active->file);
        active->file = files_next(active);
    }
    if (!active->file)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    make_folder(active);
    PDH_STATUS status = check_file(active);
    if (!status)
        status = open_log(active, mode_of(active));
    if (status && active->resumes && !may_go_away(status)) {
        /* this file cannot be continued (circular, or other columns): the next one is tried */
        active->resumes = false;
        active->files++;
        return status;
    }
    if (status) {
        active->resumes = may_go_away(status);
        return status;
    }
    files_share(active->runner->user, active->file);
    if (!active->resumes) {
        active->files++;
        active->file_samples = 0;
        active->file_began = run_clock();
    }
    active->resumes = false;
    active->size = active->growth = 0;
    files_clean(active);
    if (active->files == 1) /* an earlier run may have left files that are not compressed */
        files_compress(active);
    return 0;
}

/* ---- closing ---- */

static void close_log(struct active *active)
{
    PDH_STATUS status = active->log ? PdhCloseLog(active->log, 0) : 0;
    if (status)
        note_problem(active, status);
    active->log = NULL;
}

void record_close(struct active *active)
{
    const char *command = active->runner->set->command;
    FREE_AUTO char *file = active->file;
    close_log(active);
    active->file = NULL;
    active->resumes = false;
    if (!file)
        return;
    files_compress(active);
    if (active->file_samples && command && *command)
        command_run(active->runner, command, NULL, &(struct command_about){.file = file});
}

/* ---- samples ---- */

/* Would the file exceed its size limit with one more sample? */
static bool is_full(const struct active *active)
{
    const struct set *set = active->runner->set;
    if (!set->most || active->collector->format == SET_BINCIRC)
        return false;
    return active->file_samples && active->size + active->growth > (int64_t)set->most << 20;
}

static void measure(struct active *active)
{
    LONGLONG size = 0;
    if (PdhGetLogFileSize(active->log, &size))
        return;
    if (active->size && size - active->size > active->growth)
        active->growth = size - active->size;
    active->size = size;
}

void record_more(struct active *active)
{
    if (active->log && active->collector->format == SET_BIN) {
        close_log(active);
        active->resumes = true;
    }
}

static void lose(struct active *active, PDH_STATUS status)
{
    bool too_small = (DWORD)status == PDH_LOG_FILE_TOO_SMALL;
    if (!active->samples && (too_small || (!active->log && !may_go_away(status)))) {
        print_failure(active, status);
        active->runner->failed = true;
        return;
    }
    active->runner->lost++;
    note_problem(active, status);
    if (active->log && !too_small) {
        close_log(active);
        active->resumes = true;
    }
}

bool record_sample(struct active *active)
{
    const struct set *set = active->runner->set;
    double age = run_clock() - active->file_began;
    bool old = set->new_file && age >= (double)set->new_file - active->collector->interval / 2;
    if (active->file && active->file_samples && (is_full(active) || old))
        record_close(active);
    PDH_STATUS status = active->log ? 0 : open_file(active);
    if (!status)
        status = PdhUpdateLogA(active->log, NULL);
    if (!status) {
        active->problem[0] = 0;
        active->samples++;
        active->file_samples++;
        measure(active);
    } else if ((DWORD)status != PDH_NO_DATA) {
        lose(active, status);
    }
    return !active->runner->failed && (set->segment || set->new_file || !is_full(active));
}
