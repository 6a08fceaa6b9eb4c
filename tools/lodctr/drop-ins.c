/* SPDX-License-Identifier: MIT */
/*
 * lodctr --drop-ins: registers the ini files that packages put into one folder, renews those that
 * changed, and unregisters services whose file is gone. The numbers of such services stay reserved.
 * An ini file X.ini names the library X.so, which each architecture has in a folder of its own.
 */
#include "lodctr.h"

#include "../view/text.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct drop_ins {
    const struct lodctr *opts;
    const char *folder;
    DWORD status; /* status of the first removal that failed */
};

static void print_remark(void *self, const opl_load_remark *remark)
{
    (void)self;
    status_remark(TOOL, remark);
}

/* True if the service was loaded from a file of this folder that is gone. */
static bool is_gone(const struct drop_ins *drop_ins, const struct service_settings *service)
{
    size_t count = strlen(drop_ins->folder);
    return service->library && service->ini && !strncmp(service->ini, drop_ins->folder, count) &&
           service->ini[count] == '/' && access(service->ini, F_OK) != 0 && errno == ENOENT;
}

static bool remove_if_gone(void *self, const char *name)
{
    struct drop_ins *drop_ins = self;
    const struct lodctr *opts = drop_ins->opts;
    const opl_load_options options = {.user = opts->user,
                                      .dry_run = opts->dry_run,
                                      .drop_in = true,
                                      .library = "",
                                      .remark = print_remark};
    struct service_settings service;
    if (!service_read(name, &service) && is_gone(drop_ins, &service)) {
        DWORD status = opl_load_remove(name, &options, NULL);
        drop_ins->status = drop_ins->status ? drop_ins->status : status;
        if (!status && !opts->quiet && !opts->json)
            printf("%s: removed, because its file %s no longer exists; its numbers stay reserved\n",
                   text_seen(name), text_seen(service.ini));
    }
    service_done(&service);
    return true;
}

static int is_ini(const struct dirent *entry)
{
    const char *end = strrchr(entry->d_name, '.');
    return end && !strcmp(end, ".ini");
}

/* Adds the folder's ini files, in the order of their names. */
static DWORD find_files(const char *folder, struct lodctr *opts)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_ini, alphasort);
    for (int i = 0; i < count; i++) {
        if (opts->arg_count < sizeof opts->args / sizeof *opts->args &&
            asprintf(&opts->args[opts->arg_count], "%s/%s", folder, entries[i]->d_name) > 0)
            opts->arg_count++;
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return count >= 0 || errno == ENOENT ? ERROR_SUCCESS
                                         : status_complain(TOOL, folder, ERROR_ACCESS_DENIED);
}

DWORD install_drop_ins(const struct lodctr *opts)
{
    struct lodctr files = *opts;
    const char *folder = opts->subject ? opts->subject : OPL_DROP_INS;
    char *real = realpath(folder, NULL); /* the path as registrations have it */
    struct drop_ins drop_ins = {.opts = opts, .folder = real ? real : folder};
    service_each(remove_if_gone, &drop_ins);
    files.drop_ins = true;
    DWORD status = find_files(drop_ins.folder, &files);
    if (!status && (files.arg_count || files.json))
        status = install_files(&files);
    while (files.arg_count)
        free(files.args[--files.arg_count]);
    free(real);
    return drop_ins.status ? drop_ins.status : status;
}
