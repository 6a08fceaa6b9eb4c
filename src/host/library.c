/* SPDX-License-Identifier: MIT */
/*
 * A provider's library: found, judged, loaded, opened, closed. Code of ours runs in the caller's
 * process only from the shipped folder; a stranger's only where its registration asks for that with
 * Isolation = 0. (C39, C57, C58, D.2; house section 0a)
 */
#include "host/internal.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

LSTATUS library_new(struct library **ret)
{
    struct library *library = calloc(1, sizeof(*library));
    if (!library)
        return ERROR_NOT_ENOUGH_MEMORY;
    pthread_mutex_init(&library->lock, NULL);
    *ret = library;
    return ERROR_SUCCESS;
}

const char *library_shipped_folder(void)
{
    static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
    static char *folder;
    static bool known;
    lock_take(&once);
    if (!known) {
        FREE_AUTO char *path = text_format("%s/providers", place_vendor());
        folder = path ? realpath(path, NULL) : NULL;
        known = true;
    }
    lock_release(&once);
    return folder;
}

/* By the real path, never by the service's name. */
bool library_is_shipped(const char *real_path)
{
    const char *folder = library_shipped_folder();
    size_t length = folder ? strlen(folder) : 0;
    return length && strncmp(real_path, folder, length) == 0 && real_path[length] == '/' &&
           !strchr(real_path + length + 1, '/');
}

/* A bare file name is one of the shipped folder; any other path must be absolute. */
static LSTATUS find_file(const char *library, char real_path[PATH_MAX])
{
    if (library[0] == '/')
        return realpath(library, real_path) ? ERROR_SUCCESS : ERROR_MOD_NOT_FOUND;
    const char *folder = library_shipped_folder();
    if (!folder || strchr(library, '/'))
        return ERROR_MOD_NOT_FOUND;
    FREE_AUTO char *path = text_format("%s/%s", folder, library);
    return path && realpath(path, real_path) ? ERROR_SUCCESS : ERROR_MOD_NOT_FOUND;
}

/* Whoever may write the file or its folder could run code in the reader's process. */
static LSTATUS check_trust(const char *real_path)
{
    struct stat file, folder;
    char parent[PATH_MAX];
    strcpy(parent, real_path);
    *strrchr(parent, '/') = '\0';
    if (stat(real_path, &file) || stat(*parent ? parent : "/", &folder))
        return status_from_errno(errno);
    return file_trusted(&file, false) && file_trusted(&folder, true) ? ERROR_SUCCESS
                                                                     : ERROR_ACCESS_DENIED;
}

static LSTATUS check_place(struct service *service, const char *real_path)
{
    if (library_is_shipped(real_path))
        return ERROR_SUCCESS;
    if (!service->in_process) {
        event_report("Perflib", 1018, EVENT_ERROR, service->name,
                     "%s is not a shipped library and would run in a helper process, which this "
                     "version does not have yet; set Performance\\Isolation to 0 to load it into "
                     "the reading process",
                     real_path);
        service->code->off_for_session = true;
        return ERROR_NOT_SUPPORTED;
    }
    return check_trust(real_path);
}

static LSTATUS load_module(struct service *service)
{
    char real_path[PATH_MAX], why[MODULE_TEXT] = "";
    LSTATUS status = find_file(service->library, real_path);
    if (!status)
        status = check_place(service, real_path);
    if (!status)
        status = module_load(&service->code->module, real_path, why);
    if (status && status != ERROR_NOT_SUPPORTED)
        event_report("Perflib", 1023, EVENT_ERROR, service->name,
                     "cannot load %s: %s (%d); check the value Library of the service's "
                     "Performance key, and the file's owner and mode",
                     service->library, *why ? why : status_text(status), (int)status);
    return status;
}

static LSTATUS find_procedures(struct service *service)
{
    const char *const names[] = {service->open, service->collect, service->close};
    enum module_procedure missing;
    LSTATUS status = module_find(&service->code->module, names, &missing);
    if (!status)
        return ERROR_SUCCESS;
    bool named = names[missing] != NULL;
    event_report("Perflib", named ? 1005 + (unsigned)missing : 3003, EVENT_ERROR, service->name,
                 named ? "procedure %s is not in %s"
                       : "the procedure's name is missing in the registry (%s%s)",
                 named ? names[missing] : service->library, named ? service->library : "");
    return status;
}

static LSTATUS call_open(struct service *service)
{
    PM_OPEN_PROC *open = service->code->module.open;
    LSTATUS status = open ? (LSTATUS)open((LPWSTR)service->export_names) : ERROR_SUCCESS;
    trace("host", "%s: Open returned %d", service->name, (int)status);
    if (status)
        event_report("Perflib", 1008, EVENT_ERROR, service->name,
                     "Open of %s failed: %s (%d); it is tried again at the next query",
                     service->library, status_text(status), (int)status);
    return status;
}

LSTATUS library_open(struct service *service)
{
    struct library *code = service->code;
    if (code->opened)
        return ERROR_SUCCESS;
    if (code->off_for_session)
        return ERROR_NOT_READY;
    LSTATUS status = code->module.handle ? ERROR_SUCCESS : load_module(service);
    if (!status)
        status = find_procedures(service);
    if (!status)
        status = call_open(service);
    if (status)
        module_unload(&code->module);
    code->opened = !status;
    return status;
}

void library_close(struct service *service, bool unload_too)
{
    struct library *code = service->code;
    if (!code)
        return;
    if (code->opened && code->module.close) {
        DWORD status = code->module.close();
        trace("host", "%s: Close returned %u", service->name, (unsigned)status);
    }
    code->opened = false;
    code->off_for_session = false;
    if (unload_too)
        module_unload(&code->module);
}

void library_free(struct service *service)
{
    if (!service->code)
        return;
    library_close(service, true);
    guard_done(&service->code->buffer);
    free(service->code->query_text);
    pthread_mutex_destroy(&service->code->lock);
    free(service->code);
    service->code = NULL;
}
