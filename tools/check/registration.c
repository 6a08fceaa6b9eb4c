/* SPDX-License-Identifier: MIT */
/*
 * The library's registration: made by its ini file or its DllRegisterServer in a temporary registry
 * that is removed afterwards, or else the registration of the service that uses the library.
 */
#include "check.h"

#include "../lodctr/lodctr.h"
#include "../view/text.h"

#include <openperflib/load.h>
#include <winerror.h>

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SERVICES "SYSTEM\\CurrentControlSet\\Services\\"
enum { OPEN_MS = 2000, COLLECT_MS = 1000, REGISTER_MS = 1000 };

static const struct place nowhere;

/* ---- the temporary registry ---- */

static int remove_one(const char *path, const struct stat *state, int kind, struct FTW *level)
{
    (void)state, (void)kind, (void)level;
    return remove(path);
}

/* Makes the temporary registry, before the registry is first read. False, after a message:
 * failed. */
static bool make_root(struct registration *is)
{
    char path[64];
    const char *above = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/openperflib-check-XXXXXX",
             above && strlen(above) < 32 ? above : "/tmp");
    if (!mkdtemp(path)) {
        fprintf(stderr, "openperflib-check: %s: %s\n", text_seen(path), strerror(errno));
        return false;
    }
    is->root = strdup(path);
    return is->root && setenv("OPENPERFLIB_ROOT", path, 1) == 0;
}

/* ---- how the library is registered ---- */

/* Returns the path of demo.ini beside demo.so or libdemo.so, which the caller frees; NULL: none. */
static char *ini_beside(const char *library)
{
    char path[PATH_MAX + 8];
    for (int cut = 0; cut < 2; cut++) {
        const char *name = strrchr(library, '/') + 1;
        if (cut && strncmp(name, "lib", 3) != 0)
            break;
        int folder = (int)(name - library), length = (int)strcspn(name + 3 * cut, ".");
        snprintf(path, sizeof path, "%.*s%.*s.ini", folder, library, length, name + 3 * cut);
        if (access(path, R_OK) == 0)
            return strdup(path);
    }
    return NULL;
}

static bool has_text(const unsigned char *file, size_t size, void *text)
{
    return memmem(file, size, text, strlen(text) + 1) != NULL;
}

static void take_remark(void *self, const opl_load_remark *remark)
{
    struct finding *finding =
        report_add(self, remark->error ? MISTAKE : WARNING, &nowhere, "ini file", IN_NAMES,
                   "no warnings and no errors", "%s:%u: %s", remark->file ? remark->file : "",
                   remark->line, remark->text);
    /* report_add only counted the finding again: keep the line, too */
    if (finding && finding->times > 1) {
        size_t used = strlen(finding->details);
        snprintf(finding->details + used, sizeof finding->details - used, "%s:%u: %s\n",
                 remark->file ? remark->file : "", remark->line, remark->text);
    }
}

static void load_ini(struct registration *is, const struct wanted *wanted, struct report *report)
{
    opl_load_result result = {0};
    opl_load_options options = {.library = is->library,
                                .open = wanted->procedures[0],
                                .collect = wanted->procedures[1],
                                .close = wanted->procedures[2],
                                .remark = take_remark,
                                .self = report};
    DWORD status = opl_load_install(is->ini, &options, &result);
    if (!status)
        is->service = strdup(result.service);
    else if (!report_mistakes(report))
        report_add(report, MISTAKE, &nowhere, "ini file", IN_NAMES, "a file that lodctr loads",
                   "%s: %s", is->ini, status_message(status));
}

struct registration_search {
    const char *library;
    char *found;
};

static bool look_at(void *self, const char *name)
{
    struct registration_search *search = self;
    struct service_settings service;
    char path[PATH_MAX], real[PATH_MAX];
    if (service_read(name, &service) == ERROR_SUCCESS && service.library &&
        opl_load_library_path(service.library, path, sizeof path) == ERROR_SUCCESS &&
        realpath(path, real) && strcmp(real, search->library) == 0 && !search->found)
        search->found = strdup(name);
    service_done(&service);
    return !search->found;
}

static void find_service(struct registration *is)
{
    struct registration_search search = {is->library, NULL};
    service_each(look_at, &search);
    is->service = search.found;
}

/* ---- reading the registration ---- */

static DWORD number_or(const char *service, const char *name, DWORD otherwise)
{
    char key[PATH_MAX];
    DWORD value, size = sizeof value;
    snprintf(key, sizeof key, SERVICES "%s\\Performance", service);
    LSTATUS status =
        RegGetValueA(HKEY_LOCAL_MACHINE, key, name, RRF_RT_REG_DWORD, NULL, &value, &size);
    return status || !value ? otherwise : value;
}

static char *choose(const char *given, const char *registered, const char *otherwise)
{
    const char *text = given ? given : registered ? registered : otherwise;
    return text ? strdup(text) : NULL;
}

static bool read_service(struct registration *is, const struct wanted *wanted)
{
    static const char *const usual[] = {"Open", "Collect", "Close"};
    struct service_settings service = {0};
    bool registered = is->service != NULL;
    if (registered && service_read(is->service, &service)) {
        fprintf(stderr, "openperflib-check: %s: no such service; 'lodctr /Q' lists the services\n",
                text_seen(is->service));
        service_done(&service);
        return false;
    }
    const char *names[] = {service.open, service.collect, service.close};
    for (int i = 0; i < 3; i++)
        is->procedures[i] =
            choose(wanted->procedures[i], names[i], registered && i != 1 ? NULL : usual[i]);
    is->object_list = choose(NULL, service.object_list, NULL);
    is->first_counter = service.first_counter;
    is->last_counter = service.last_counter;
    is->first_help = service.first_help;
    is->last_help = service.last_help;
    is->open_ms = registered ? number_or(is->service, "Open Timeout", OPEN_MS) : OPEN_MS;
    is->collect_ms =
        registered ? number_or(is->service, "Collect Timeout", COLLECT_MS) : COLLECT_MS;
    is->may_start = registered && (!service.isolated || number_or(is->service, "Children", 0) == 1);
    is->has_names = registered;
    service_done(&service);
    return true;
}

static bool register_it(struct registration *is, const struct wanted *wanted, struct report *report)
{
    bool itself = !*is->refused && !is->ini && !wanted->service &&
                  library_read(is->library, has_text, "DllRegisterServer");
    if ((is->ini || itself) && !make_root(is))
        return false;
    if (is->ini)
        load_ini(is, wanted, report);
    else if (itself) {
        char *subject = strdup(is->library);
        struct lodctr requested = {.subject = subject,
                                   .quiet = true,
                                   .json = wanted->json,
                                   .deadline_ms = REGISTER_MS * machine_is_busy()};
        enum register_step reached;
        DWORD status = register_library(&requested, false, &reached);
        if (status)
            report_add(report, MISTAKE, &nowhere, "DllRegisterServer", IN_NAMES, "S_OK", "%s",
                       status == ERROR_TIMEOUT ? "it did not return in time" : "it failed");
        free(subject);
    }
    if (wanted->service)
        is->service = strdup(wanted->service);
    else if (!is->service)
        find_service(is);
    if (!is->service)
        report_add(
            report, WARNING, &nowhere, "registration", IN_NAMES,
            "an ini file beside the library or given with --ini, DllRegisterServer, or a service",
            "there is none, so names and numbers are not checked");
    return true;
}

bool registration_make(const struct wanted *wanted, struct registration *ret, struct report *report,
                       int *ret_code)
{
    char *path = realpath(wanted->library, NULL);
    *ret = (struct registration){.library = path};
    *ret_code = EXIT_MISSING;
    if (!path || (wanted->ini && access(wanted->ini, R_OK) != 0)) {
        fprintf(stderr, "openperflib-check: %s: %s\n",
                text_seen(path ? wanted->ini : wanted->library), strerror(errno));
        return false;
    }
    if (!library_refused(path, ret->refused))
        *ret->refused = '\0';
    ret->ini = wanted->ini ? strdup(wanted->ini) : wanted->service ? NULL : ini_beside(path);
    return register_it(ret, wanted, report) && read_service(ret, wanted);
}

void registration_done(struct registration *registration)
{
    if (registration->root)
        nftw(registration->root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free((char *)registration->library);
    free((char *)registration->ini);
    free(registration->service);
    free(registration->object_list);
    free(registration->root);
    for (int i = 0; i < 3; i++)
        free(registration->procedures[i]);
}
