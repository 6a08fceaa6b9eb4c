/* SPDX-License-Identifier: MIT */
/*
 * Registers a provider (docs/windows/registration.md#e3): the provider gets the numbers after the
 * highest ones in use, and all is written to one file, so that one rename registers it. The file is
 * NAME.reg; if other files would hide its content, because they delete its values or have values
 * written by hand, the file is manual.reg, which is merged last.
 */
#include "loadperf/inner.h"
#include "loadperf/store/stored.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct install {
    struct layer_change change;
    const char *ini_path;
    struct plan plan;
    struct service_view view; /* the service in this layer and those below it */
    struct registration registration;
    unsigned char validation[VALIDATION_BYTES];
    /* the service is loaded with a library that does not exist, or from a package's earlier file,
     * so this call repairs it */
    bool repairs;
    bool same;               /* nothing had to be written */
    const char *file;        /* the file to be written */
    struct buffer old, text; /* old and new content of `file` */
    struct file_scan scan;   /* result of scanning the new content */
};

/* ---- numbers ---- */

/* Sets *ret to the highest index in all other files, and in this file without the service's old
 * numbers, which rewrite_without has removed. */
static LSTATUS highest_in_use(struct install *install, uint32_t *ret)
{
    enum registry_layer layer = install->change.load->layer;
    scan_done(&install->scan);
    LSTATUS status = scan_registry(&install->text, &install->scan);
    if (status)
        return status;
    uint32_t left = layer == LAYER_USER ? install->scan.user_top : install->scan.machine_top;
    *ret = known_top(&install->change.known, layer, install->file);
    *ret = left > *ret ? left : *ret;
    return ERROR_SUCCESS;
}

/* Adds the service and its new numbers to install->scan, because the text was scanned before they
 * were written. */
static LSTATUS complete_scan(struct install *install)
{
    const char *service = install->plan.service;
    uint32_t last = install->registration.number[LAST_COUNTER],
             all = install->registration.reserved;
    last = all > last ? all : last;
    bool user = install->change.load->layer == LAYER_USER;
    uint32_t *top = user ? &install->scan.user_top : &install->scan.machine_top;
    *top = last > *top ? last : *top; /* kept numbers may be lower than *top */
    return scan_add_service(&install->scan, (struct text_span){service, strlen(service)})
               ? ERROR_SUCCESS
               : ERROR_NOT_ENOUGH_MEMORY;
}

/* In a repair, keeps the present numbers if the ini file needs exactly as many. False: the caller
 * must assign new ones. */
static bool keep_numbers(struct install *install)
{
    const uint32_t *old = install->view.number;
    if (!install->repairs || install->change.load->options->drop_in ||
        old[LAST_COUNTER] - old[FIRST_COUNTER] != install->plan.last_offset ||
        old[FIRST_HELP] != old[FIRST_COUNTER] + 1 || old[LAST_HELP] != old[LAST_COUNTER] + 1)
        return false;
    memcpy(install->registration.number, old, sizeof install->registration.number);
    return true;
}

/* Returns the first number for a package's service: its present first number, if all its numbers
 * fit into those that are reserved for it or if no number above these is in use. Reserves more
 * numbers than needed, for the counters of later versions. */
static uint32_t reserve_numbers(struct install *install, uint32_t top, uint32_t highest)
{
    enum { STEP = 100 };
    uint32_t *reserved = &install->registration.reserved, offset = install->plan.last_offset;
    uint32_t old = install->view.number[FIRST_COUNTER], kept;
    FREE_AUTO char *key = here_key(install->plan.service);
    if (!key || registry_get_dword(key, VALUE_RESERVED, &kept))
        kept = install->view.number[LAST_COUNTER];
    bool alone = top < old, stays = install->repairs && (alone || old + offset <= kept);
    uint32_t first = stays ? old : top + 2, end = first + offset / STEP * STEP + STEP - 2;
    *reserved = !stays || (alone && end > kept) ? end : kept;
    *reserved = *reserved < highest ? *reserved : highest;
    return first;
}

static LSTATUS number(struct install *install)
{
    struct load *load = install->change.load;
    uint32_t top, highest = load->layer == LAYER_USER ? USER_HIGHEST : MACHINE_HIGHEST;
    uint32_t *numbers = install->registration.number;
    LSTATUS status = highest_in_use(install, &top);
    if (status || keep_numbers(install))
        return status;
    uint32_t first = load->options->drop_in ? reserve_numbers(install, top, highest) : top + 2;
    if (first > highest || install->plan.last_offset > highest - first) {
        load_error(
            load, install->ini_path, 0,
            "no free numbers: indices up to %u are in use, offsets go up to %u, %u is the highest "
            "possible index",
            (unsigned)top, (unsigned)install->plan.last_offset, (unsigned)highest);
        return ERROR_INVALID_DATA;
    }
    numbers[FIRST_COUNTER] = first;
    numbers[LAST_COUNTER] = first + install->plan.last_offset;
    numbers[FIRST_HELP] = numbers[FIRST_COUNTER] + 1;
    numbers[LAST_HELP] = numbers[LAST_COUNTER] + 1;
    return ERROR_SUCCESS;
}

static LSTATUS list_objects(struct install *install)
{
    BUFFER_AUTO list = {0};
    const struct plan *plan = &install->plan;
    free(install->registration.objects);
    install->registration.objects = NULL;
    if (!plan->has_objects)
        return ERROR_SUCCESS;
    for (size_t i = 0; i < plan->object_count; i++)
        buffer_printf(&list, i ? " %u" : "%u",
                      (unsigned)(install->registration.number[FIRST_COUNTER] + plan->objects[i]));
    install->registration.objects = list.data;
    list.data = NULL;
    return list.failed ? ERROR_NOT_ENOUGH_MEMORY : ERROR_SUCCESS;
}

/* ---- [info], value trusted ---- */

static void validate(struct install *install, const char *library)
{
    if (load_validation(library, install->validation))
        install->registration.validation = install->validation;
    else
        load_warning(install->change.load, install->ini_path, 0,
                     "the library \"%s\" does not exist, so the registration has no \"Library "
                     "Validation Code\", by which a changed library is noticed",
                     library);
}

/* ---- the file ---- */

static bool same_text(const char *wanted, const char *found)
{
    return !wanted || (found && !strcmp(wanted, found));
}

/* True if every program would see the registration. Texts are compared by their number and the sum
 * of their indices only. */
static bool is_seen(const struct install *install, const struct service_view *view)
{
    const struct plan *plan = &install->plan;
    const struct registration *wanted = &install->registration;
    size_t texts = plan->text_count, found;
    uint64_t sum = 0, found_sum;
    bool same = view->exists && same_text(wanted->objects, view->text[OBJECT_LIST]);
    for (size_t i = 0; i < NUMBERS; i++)
        same &= view->has[i] && view->number[i] == wanted->number[i];
    for (size_t i = 0; wanted->record[LIBRARY] && i < OBJECT_LIST; i++)
        same &= same_text(wanted->record[i], view->text[i]);
    for (size_t i = 0; i < plan->text_count; i++) {
        const struct plan_text *text = &plan->texts[i];
        sum += wanted->number[FIRST_COUNTER] + text->offset;
        if (text->language == LANGUAGE_ENGLISH && text->offset % 2 == 0 &&
            !plan_find(plan, text->language, text->offset + 1)) {
            sum += wanted->number[FIRST_COUNTER] + text->offset + 1;
            texts++;
        }
    }
    view_totals(view, &found, &found_sum);
    return same && texts == found && sum == found_sum;
}

static LSTATUS refuse_taken(struct install *install, uint32_t object, const char *owner)
{
    load_error(install->change.load, install->ini_path, 0,
               "Object List in the Performance key of %s has %u, an object of %s, and the ini file "
               "has no [objects]: correct or delete Object List; if this service shall replace %s, "
               "set Shared Objects = 1 in its Performance key",
               install->plan.service, (unsigned)object, owner, owner);
    return ERROR_ALREADY_EXISTS;
}

/* Checks an Object List that was written by hand, which is kept. It is refused if it has an object
 * of another service, because answers with that object would be dropped. */
static LSTATUS check_list(struct install *install, const char *list)
{
    const char *service = install->plan.service;
    FREE_AUTO char *key = here_key(service);
    struct here_list all = {0};
    uint32_t shares = 0, object;
    size_t count;
    LSTATUS status = key ? here_read(&all) : ERROR_NOT_ENOUGH_MEMORY;
    if (!status && registry_get_dword(key, "Shared Objects", &shares))
        shares = 0;
    for (const char *word; !status && !shares && (word = text_word(&list, &count));) {
        const struct here *other =
            text_decimal(word, count, &object) ? here_other_owner(&all, service, object) : NULL;
        if (other)
            status = refuse_taken(install, object, other->name);
    }
    here_done(&all);
    return status;
}

static LSTATUS look_whether_seen(struct install *install, bool *ret_seen)
{
    struct layer_change *change = &install->change;
    enum registry_layer layer = change->load->layer;
    struct service_view view;
    const struct replaced replaced[] = {
        {layer,           install->file, &install->text},
        {0}
    };
    *ret_seen = !known_elsewhere(&change->known, install->plan.service, layer, install->file);
    if (*ret_seen) /* no other file mentions the service */
        return ERROR_SUCCESS;
    LSTATUS status = view_read(&change->known, install->plan.service, LAYER_USER, replaced, &view);
    if (status)
        return status;
    *ret_seen = is_seen(install, &view);
    if (!install->plan.has_objects && view.text[OBJECT_LIST])
        status = check_list(install, view.text[OBJECT_LIST]);
    view_done(&view);
    return status;
}

/* Makes the file's new text; with `tombstone` it also deletes what files merged before it have.
 * *ret_seen: every program would see the registration. */
static LSTATUS compose(struct install *install, const char *file, bool tombstone, bool *ret_seen)
{
    const char *service = install->plan.service;
    bool record = install->registration.record[LIBRARY] != NULL, empty;
    install->file = file;
    LSTATUS status = change_read(&install->change, file, &install->old);
    if (!status)
        status = rewrite_without(&install->old, service, record, false, &install->text, &empty);
    status = status ? status : number(install);
    status = status ? status : list_objects(install);
    if (!status && tombstone)
        status = rewrite_tombstone(service, false, &install->text);
    status = status ? status : rewrite_add(&install->registration, &install->text);
    status = status ? status : complete_scan(install);
    return status ? status : look_whether_seen(install, ret_seen);
}

static LSTATUS write_file(struct install *install)
{
    struct load *load = install->change.load;
    bool seen;
    LSTATUS status = compose(install, install->change.file.data, false, &seen);
    if (!status && !seen)
        status = compose(install, MANUAL_REG, true, &seen);
    if (status)
        return status;
    if (!seen) {
        load_error(load, NULL, 0,
                   "%s: the registry files of a user have other values for this service and would "
                   "hide what is registered for the machine",
                   install->plan.service);
        return ERROR_ACCESS_DENIED;
    }
    install->same = load->options->drop_in && install->text.len == install->old.len &&
                    !memcmp(install->text.data, install->old.data, install->old.len);
    if (install->same)
        return ERROR_SUCCESS;
    if (load->options->written)
        load->options->written(load->options->self, install->text.data, install->text.len);
    status = change_commit(&install->change, install->file, &install->text, &install->scan);
    if (status)
        load_event(EVENT_NUMBERS_NOT_WRITTEN, install->plan.service, status);
    return status;
}

/* ---- the present registration ---- */

static LSTATUS refuse_missing_service(struct install *install)
{
    const char *service = install->plan.service;
    load_error(install->change.load, install->ini_path, 0,
               "the service has no key Services\\%s\\Performance: register its library first",
               service);
    if (!install->change.load->options->dry_run)
        load_event(EVENT_NO_PERFORMANCE_KEY, service, ERROR_FILE_NOT_FOUND);
    return ERROR_FILE_NOT_FOUND;
}

static bool names_other_library(const struct install *install, const struct service_view *view)
{
    const char *library = install->change.load->options->library;
    return library && !same_text(library, view->text[LIBRARY]);
}

static LSTATUS report_already(struct install *install, const struct service_view *view,
                              opl_load_result *ret)
{
    struct load *load = install->change.load;
    const char *service = install->plan.service, *library = view->text[LIBRARY];
    view_result(view, service, ret);
    ret->already = true;
    if (names_other_library(install, view)) {
        load_error(load, install->ini_path, 0,
                   "%s is loaded with the library \"%s\": to replace it, run unlodctr%s --library "
                   "%s first",
                   service, library ? library : "", here_is_users(service) ? " --user" : "",
                   service);
        return ERROR_ALREADY_EXISTS;
    }
    if (!load->options->dry_run && !install->same)
        load_event(EVENT_ALREADY, ret->service, ERROR_SUCCESS);
    return ERROR_SUCCESS;
}

/* True if the service was loaded in this layer with a library that does not exist, and this call
 * names another library. */
static bool needs_repair(struct install *install)
{
    struct stat st;
    const char *library = install->view.text[LIBRARY];
    if (!names_other_library(install, &install->view) || !library ||
        !known_find(&install->change.known, install->change.load->layer, install->change.file.data))
        return false;
    FREE_AUTO char *path = trust_path(library);
    return path && stat(path, &st) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

/* True if the service was loaded from this ini file of a package or from a file that is gone, or if
 * its package was removed. */
static bool needs_renewal(const struct install *install)
{
    FREE_AUTO char *ini = here_text(install->plan.service, VALUE_INI);
    FREE_AUTO char *own = realpath(install->ini_path, NULL);
    return ini ? (own && !strcmp(own, ini)) || access(ini, F_OK) != 0
               : !install->view.text[LIBRARY];
}

static bool has_texts(const struct plan *plan, uint32_t language)
{
    for (size_t i = 0; i < plan->text_count; i++)
        if (plan->texts[i].language == language)
            return true;
    return false;
}

static void report_language(struct install *install, uint32_t language)
{
    char id[8];
    snprintf(id, sizeof id, "%03X", (unsigned)language & 0xffff);
    if (!has_texts(&install->plan, language) && !install->change.load->options->dry_run)
        event_log(SOURCE, EVENT_NO_TEXTS, install->plan.service,
                  EVENT_FIELDS(EVENT_TEXT("Language", id)), NULL);
}

static void note_languages(struct install *install)
{
    const struct plan *plan = &install->plan;
    for (size_t i = 0; i < plan->language_count; i++) {
        report_language(install, plan->languages[i]);
        if (!view_has_language(&install->view, plan->languages[i]))
            load_warning(install->change.load, install->ini_path, 0,
                         "language %03X is not installed: run lodctr /L:%03X to show its texts",
                         (unsigned)plan->languages[i], (unsigned)plan->languages[i]);
    }
}

static void note_objects(struct install *install)
{
    if (install->plan.has_objects)
        return;
    load_note(install->change.load, install->ini_path, 0,
              "[objects] is missing or lists no object: %s will be queried for every index that no "
              "other provider lists",
              install->plan.service);
    if (!install->change.load->options->dry_run)
        load_event(EVENT_NO_OBJECTS, install->plan.service, ERROR_SUCCESS);
}

/* Returns the name of the function OPEN, COLLECT or CLOSE; NULL: neither an option nor the ini file
 * gives one. */
static const char *given_function(const struct install *install, int which)
{
    const opl_load_options *options = install->change.load->options;
    const char *const given[] = {
        [OPEN] = options->open, [COLLECT] = options->collect, [CLOSE] = options->close};
    return given[which] ? given[which] : install->plan.functions[which - OPEN];
}

static void set_record(struct install *install)
{
    const opl_load_options *options = install->change.load->options;
    const char **record = install->registration.record;
    record[LIBRARY] = options->library;
    for (int i = OPEN; i <= CLOSE; i++) {
        const char *given = given_function(install, i);
        record[i] = given ? given : text_names[i];
    }
    install->registration.plan = &install->plan;
    install->registration.ini = realpath(install->ini_path, NULL);
}

/* Fills in what the plan would register on a machine with the languages of `view`; NULL: with all
 * languages of the plan. */
static void result_of_plan(const struct plan *plan, const struct service_view *view,
                           opl_load_result *ret)
{
    strcpy(ret->service, plan->service);
    ret->objects = plan->object_count;
    for (size_t i = 0; i < plan->language_count; i++)
        ret->languages += has_texts(plan, plan->languages[i]) &&
                          (!view || view_has_language(view, plan->languages[i]));
    for (size_t i = 0; i < plan->text_count; i++) {
        bool english = plan->texts[i].language == LANGUAGE_ENGLISH;
        ret->names += english && plan->texts[i].offset % 2 == 0;
        ret->helps += english && plan->texts[i].offset % 2 && *plan->texts[i].text;
    }
}

static void report_loaded(struct install *install, opl_load_result *ret)
{
    const uint32_t *number = install->registration.number;
    result_of_plan(&install->plan, &install->view, ret);
    ret->first_counter = number[FIRST_COUNTER];
    ret->last_counter = number[LAST_COUNTER];
    ret->first_help = number[FIRST_HELP];
    ret->last_help = number[LAST_HELP];
    if (!install->change.load->options->dry_run)
        event_log(SOURCE, EVENT_LOADED, ret->service,
                  EVENT_FIELDS(EVENT_NUMBER("FirstCounter", ret->first_counter),
                               EVENT_NUMBER("LastCounter", ret->last_counter),
                               EVENT_NUMBER("FirstHelp", ret->first_help),
                               EVENT_NUMBER("LastHelp", ret->last_help)),
                  NULL);
}

/* Refuses the name of a service that openperflib itself has, because another registration would
 * hide that service or change its numbers (a registration in the user's layer: for the user's
 * programs). */
static LSTATUS refuse_shipped(struct install *install)
{
    struct service_view shipped;
    bool is_shipped = false;
    const char *service = install->plan.service;
    LSTATUS status = view_read(&install->change.known, service, LAYER_VENDOR, NULL, &shipped);
    if (status)
        return status;
    const char *library = shipped.text[LIBRARY];
    FREE_AUTO char *path =
        library && !strchr(library, '/') ? place_library(library, &is_shipped) : NULL;
    view_done(&shipped);
    /* the service is not in the vendor's layer, or its library is not openperflib's own */
    if (!path || !is_shipped || access(path, F_OK) != 0)
        return ERROR_SUCCESS;
    load_error(install->change.load, install->ini_path, 0,
               "%s is a service of openperflib itself: choose another name for drivername",
               service);
    return ERROR_ALREADY_EXISTS;
}

/* Reads what is registered already. *ret_already: every program sees the service as loaded, and it
 * needs no repair. */
static LSTATUS look_at_registry(struct install *install, bool *ret_already, opl_load_result *ret)
{
    const struct known_files *known = &install->change.known;
    const char *service = install->plan.service;
    struct service_view all;
    LSTATUS status = refuse_shipped(install);
    if (!status)
        status = view_read(known, service, install->change.load->layer, NULL, &install->view);
    if (status)
        return status;
    bool drop_in = install->change.load->options->drop_in;
    if (drop_in || !known_above(known, service, install->change.load->layer)) {
        bool loaded = view_is_loaded(&install->view) && install->view.exists;
        loaded |= drop_in && install->view.text[LIBRARY]; /* a shipped service has no numbers */
        install->repairs = loaded && (drop_in ? needs_renewal(install) : needs_repair(install));
        *ret_already = loaded && !install->repairs;
        return *ret_already ? report_already(install, &install->view, ret) : ERROR_SUCCESS;
    }
    status = view_read(known, service, LAYER_USER, NULL, &all);
    if (status)
        return status;
    *ret_already = view_is_loaded(&all) && all.exists;
    if (*ret_already)
        status = report_already(install, &all, ret);
    view_done(&all);
    return status;
}

/* Refuses a procedure that the options or the ini file name but that the library lacks, because a
 * later installation would not correct the name. */
static LSTATUS check_procedures(struct install *install)
{
    const opl_load_options *options = install->change.load->options;
    FREE_AUTO char *path = options->library ? trust_path(options->library) : NULL;
    struct exports exports = {0};
    LSTATUS status = ERROR_SUCCESS;
    if (path && exports_read(path, &exports))
        for (int i = OPEN; i <= CLOSE; i++) {
            const char *given = given_function(install, i);
            if (given && exports_lack(&exports, given)) {
                load_error(install->change.load, path, 0,
                           "the library has no function \"%s\": check with nm -D", given);
                status = ERROR_PROC_NOT_FOUND;
            }
        }
    exports_done(&exports);
    return status;
}

/* Says that a repair replaced a library that does not exist. */
static void note_repair(const struct install *install)
{
    const opl_load_options *options = install->change.load->options;
    if (install->repairs && !options->drop_in)
        load_note(install->change.load, install->ini_path, 0,
                  "the library \"%s\" of %s does not exist; now \"%s\" is registered in its place",
                  install->view.text[LIBRARY], install->plan.service, options->library);
}

static LSTATUS install_plan(struct install *install, opl_load_result *ret)
{
    bool already = false;
    LSTATUS status = look_at_registry(install, &already, ret);
    if (status || already)
        return status;
    set_record(install);
    const char *library = install->registration.record[LIBRARY];
    library = library ? library : install->view.text[LIBRARY];
    if (!install->view.exists && !install->registration.record[LIBRARY])
        return refuse_missing_service(install);
    status = check_procedures(install);
    if (status)
        return status;
    /* with drop_in there is a library for each architecture, so no file is recorded */
    if (install->plan.trusted && !install->change.load->options->drop_in)
        validate(install, library ? library : "");
    status = write_file(install);
    if (status || install->same)
        return status ? status : report_already(install, &install->view, ret);
    note_languages(install);
    note_repair(install);
    note_objects(install);
    report_loaded(install, ret);
    return ERROR_SUCCESS;
}

static void install_done(struct install *install)
{
    plan_done(&install->plan);
    view_done(&install->view);
    free(install->registration.objects);
    free(install->registration.ini);
    buffer_done(&install->old);
    buffer_done(&install->text);
    scan_done(&install->scan);
}

DWORD opl_load_install(const char *ini_path, const opl_load_options *options, opl_load_result *ret)
{
    struct load load;
    struct install install = {.ini_path = ini_path};
    opl_load_result result = {0};
    load_init(&load, options);
    if (!ini_path || !*ini_path)
        return ERROR_INVALID_PARAMETER;
    LSTATUS status = plan_read(&load, ini_path, &install.plan);
    if (!status && load.options->strict)
        /* the result does not depend on this machine */
        result_of_plan(&install.plan, NULL, &result);
    else if (!status && !(status = change_begin(&install.change, &load, install.plan.service))) {
        status = install_plan(&install, &result);
        change_end(&install.change);
    }
    if (status && status != ERROR_FILE_NOT_FOUND && !load.options->dry_run && !load.options->strict)
        load_event(EVENT_INSTALL_FAILED, *install.plan.service ? install.plan.service : ini_path,
                   status);
    install_done(&install);
    if (!status && ret)
        *ret = result;
    return load_end(&load, status);
}
