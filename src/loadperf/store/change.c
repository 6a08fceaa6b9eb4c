/* SPDX-License-Identifier: MIT */
/* Changes the files of one layer: takes the lock, reads the scan results of all files, and writes
 * files. */
#include "loadperf/inner.h"

#include <string.h>
#include <unistd.h>

static const char *advice(const struct load *load, LSTATUS status)
{
    if (status != ERROR_ACCESS_DENIED)
        return "";
    if (!place_machine())
        return "; OPENPERFLIB_ROOT is not used; event 4013 says why";
    if (load->options->user)
        return "; set XDG_DATA_HOME to use another folder (HOME is ignored)";
    return geteuid() == 0 ? "; check the owners of the folder and of .lock in it, and that no "
                            "other user may write it"
                          : "; run it as root, or with --user for yourself only";
}

static LSTATUS begin_edit(struct layer_change *change)
{
    struct load *load = change->load;
    if (load->options->dry_run)
        return ERROR_SUCCESS;
    LSTATUS status = registry_edit_begin(load->layer, &change->edit);
    const char *folder = registry_folder(load->layer);
    if (status)
        load_event(EVENT_NO_PERFLIB, NULL, status);
    if (status)
        load_error(load, folder, 0, "cannot be written: %s%s", status_text(status),
                   advice(load, status));
    return status;
}

LSTATUS change_begin(struct layer_change *change, struct load *load, const char *service)
{
    *change = (struct layer_change){.load = load};
    LSTATUS status = begin_edit(change);
    status = status ? status : known_read(load->layer, &change->known);
    status =
        status ? status : rewrite_file_name(&change->known, load->layer, service, &change->file);
    if (status)
        change_end(change);
    return status;
}

LSTATUS change_read(struct layer_change *change, const char *name, struct buffer *ret)
{
    buffer_clear(ret);
    if (!known_find(&change->known, change->load->layer, name))
        return ERROR_SUCCESS;
    LSTATUS status = registry_read_file(change->load->layer, name, ret);
    if (status == ERROR_FILE_NOT_FOUND)
        return ERROR_SUCCESS;
    if (status)
        load_error(change->load, name, 0,
                   "cannot be read or is not trusted: %s; see docs/registry.md",
                   status_text(status));
    return status;
}

/* Records the result of a file's scan. If there is no memory nothing is recorded, and the next
 * process scans the file again. */
static void remember(struct layer_change *change, const struct registry_file *file,
                     const struct buffer *text, struct file_scan *scan)
{
    struct file_scan found = {0};
    if (!scan && scan_registry(text, &found) == ERROR_SUCCESS)
        scan = &found;
    if (!scan || known_update(&change->known, file, scan))
        known_forget(&change->known, file->layer, file->name);
}

LSTATUS change_commit(struct layer_change *change, const char *name, const struct buffer *text,
                      struct file_scan *scan)
{
    struct registry_file file;
    enum registry_layer layer = change->load->layer;
    if (!change->edit)
        return ERROR_SUCCESS;
    LSTATUS status = text ? registry_edit_replace(change->edit, name, text->data, text->len, &file)
                          : registry_edit_remove(change->edit, name);
    if (!text && status == ERROR_FILE_NOT_FOUND)
        status = ERROR_SUCCESS;
    if (status) {
        load_error(change->load, registry_folder(layer), 0, "%s cannot be written: %s", name,
                   status_text(status));
        return status;
    }
    if (!text)
        known_forget(&change->known, layer, name);
    else
        remember(change, &file, text, scan);
    return ERROR_SUCCESS;
}

void change_end(struct layer_change *change)
{
    if (change->edit)
        known_save(&change->known, change->edit);
    registry_edit_end(change->edit);
    known_done(&change->known);
    buffer_done(&change->file);
    change->edit = NULL;
}
