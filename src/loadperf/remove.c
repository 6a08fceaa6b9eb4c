/* SPDX-License-Identifier: MIT */
/*
 * Removes a registration: deletes its numbers, its Object List and its texts from the service's
 * file, and the file if nothing is left in it. The same entries in other files are deleted by
 * manual.reg. What Perflib recorded about the service (such as a quarantine) is deleted too, in
 * both layers.
 */
#include "loadperf/inner.h"
#include "loadperf/store/stored.h"

#include <string.h>

struct removal {
    struct layer_change change;
    const char *service;
    bool record; /* remove Library, Open, Collect and Close too */
    /* removes from the user's layer; the machine's layer has no library for the service */
    bool users;
    bool state; /* Perflib may have stored values about failures of the service */
    struct buffer own, own_left, manual, manual_left;
    bool own_empty, manual_changed, manual_empty;
};

static LSTATUS refuse(struct removal *removal, const char *text)
{
    load_error(removal->change.load, NULL, 0, "%s: %s", removal->service, text);
    return ERROR_FILE_NOT_FOUND;
}

/* Finds what is to be removed. ERROR_FILE_NOT_FOUND: this layer has nothing of the service. */
static LSTATUS find(struct removal *removal, opl_load_result *ret)
{
    const struct known_files *known = &removal->change.known;
    enum registry_layer layer = removal->change.load->layer;
    struct service_view view, below = {0};
    LSTATUS status = view_read(known, removal->service, layer, NULL, &view);
    if (status)
        return status;
    if (layer == LAYER_USER)
        status = view_read(known, removal->service, LAYER_MACHINE, NULL, &below);
    if (status) {
        view_done(&view);
        return status;
    }
    bool others = view_has_any(&below);
    removal->users = layer == LAYER_USER && !below.text[LIBRARY];
    removal->state = view.state || known_above(known, removal->service, layer);
    if (others)
        status = refuse(removal,
                        "is loaded for the machine, not for the user; run unlodctr without --user");
    else if (!view_has_any(&view) && !(removal->record && view.text[LIBRARY]))
        status = refuse(removal, view.exists ? "is not loaded" : "there is no such service");
    else if (!removal->change.load->options->dry_run && view_has_any(&view))
        load_lacking_events(removal->service, view.has);
    view_result(&view, removal->service, ret);
    view_done(&view);
    view_done(&below);
    return status;
}

static LSTATUS compose(struct removal *removal)
{
    struct layer_change *change = &removal->change;
    LSTATUS status = change_read(change, change->file.data, &removal->own);
    status = status ? status
                    : rewrite_without(&removal->own, removal->service, removal->record,
                                      change->load->options->drop_in, &removal->own_left,
                                      &removal->own_empty);
    const struct known_file *manual = known_find(&change->known, change->load->layer, MANUAL_REG);
    if (status || !manual || !scan_mentions(manual->row.services, removal->service))
        return status;
    status = change_read(change, MANUAL_REG, &removal->manual);
    status = status ? status
                    : rewrite_without(&removal->manual, removal->service, removal->record,
                                      change->load->options->drop_in, &removal->manual_left,
                                      &removal->manual_empty);
    removal->manual_changed =
        removal->manual_left.len != removal->manual.len ||
        memcmp(removal->manual_left.data, removal->manual.data, removal->manual.len) != 0;
    return status;
}

/* Adds lines to manual.reg, which is merged last, that delete entries of the service in other files
 * of the layer. */
static LSTATUS write_tombstones(struct removal *removal)
{
    struct layer_change *change = &removal->change;
    enum registry_layer layer = change->load->layer;
    struct service_view view;
    const struct buffer *own = removal->own_empty ? NULL : &removal->own_left;
    const char *manual = removal->manual_changed ? MANUAL_REG : NULL;
    const struct replaced replaced[] = {
        {layer, change->file.data, own},
        {layer,  manual, &removal->manual_left},
        {0}
    };
    LSTATUS status = view_read(&change->known, removal->service, layer, replaced, &view);
    if (status)
        return status;
    bool rest = view_has_any(&view) && !change->load->options->drop_in;
    view_done(&view);
    if (!rest)
        return ERROR_SUCCESS;
    if (!removal->manual_changed) {
        status = change_read(change, MANUAL_REG, &removal->manual);
        status = status ? status
                        : rewrite_without(&removal->manual, removal->service, removal->record,
                                          false, &removal->manual_left, &removal->manual_empty);
    }
    removal->manual_changed = true;
    removal->manual_empty = false;
    return status ? status : rewrite_tombstone(removal->service, true, &removal->manual_left);
}

static LSTATUS commit(struct removal *removal)
{
    struct layer_change *change = &removal->change;
    const opl_load_options *options = change->load->options;
    LSTATUS status = ERROR_SUCCESS;
    if (!removal->own.len && !removal->manual_changed) /* the service is registered in another
                                                        * layer */
        status = refuse(removal, change->load->layer == LAYER_USER
                                     ? "is registered for the machine, not for the user"
                                     : "is registered for a user, or by a package");
    if (!status && removal->own.len) {
        if (options->written && !removal->own_empty)
            options->written(options->self, removal->own_left.data, removal->own_left.len);
        status = change_commit(change, change->file.data,
                               removal->own_empty ? NULL : &removal->own_left, NULL);
    }
    if (!status && removal->manual_changed) {
        if (options->written)
            options->written(options->self, removal->manual_left.data, removal->manual_left.len);
        status = change_commit(change, MANUAL_REG,
                               removal->manual_empty ? NULL : &removal->manual_left, NULL);
    }
    return status;
}

static LSTATUS remove_service(struct removal *removal, opl_load_result *ret)
{
    LSTATUS status = find(removal, ret);
    status = status ? status : compose(removal);
    status = status ? status : write_tombstones(removal);
    if (!status && (status = commit(removal)) && status != ERROR_FILE_NOT_FOUND)
        load_event(EVENT_NUMBERS_NOT_REMOVED, removal->service, status);
    buffer_done(&removal->own);
    buffer_done(&removal->own_left);
    buffer_done(&removal->manual);
    buffer_done(&removal->manual_left);
    return status;
}

/* ---- what Perflib recorded about a service ---- */

const char *const state_values[STATE_VALUES] = {"Quarantine", "Unanswered", "Error Count"};

bool state_is(const char *value)
{
    for (size_t i = 0; i < STATE_VALUES; i++)
        if (text_equal_fold(value, state_values[i]))
            return true;
    return false;
}

static void forget_value(const char *key, const char *value)
{
    if (registry_is_users(key, value))
        registry_delete_last_value(LAYER_USER, key, value, SERVICE_KEYS);
    registry_delete_last_value(LAYER_MACHINE, key, value, SERVICE_KEYS);
}

void state_forget(const char *key)
{
    BUFFER_AUTO quarantine = {0};
    uint32_t disabled = 1;
    registry_get_dword(key, VALUE_DISABLED, &disabled);
    if (!disabled || !registry_get_text(key, state_values[0], &quarantine))
        forget_value(key, VALUE_DISABLED);
    for (size_t i = 0; i < STATE_VALUES; i++)
        forget_value(key, state_values[i]);
}

struct leftovers {
    const char *key;
    bool record;
    struct buffer names;
};

/* Lists what is not removed: settings for the machine, and values that this user must not
 * delete. */
static bool list_leftover(void *self, const struct registry_value *value)
{
    struct leftovers *left = self;
    if ((state_is(value->name) || left->record) && !registry_is_users(left->key, value->name))
        buffer_printf(&left->names, "%s\"%s\"", left->names.len ? ", " : "", value->name);
    return true;
}

/* Removes Perflib's state from both layers, because Perflib writes to the machine's layer where it
 * may. A remark names what stays. If no file has such state, no file is read. */
static void forget_state(const struct removal *removal)
{
    if (!removal->state && !(removal->record && removal->users))
        return;
    FREE_AUTO char *key = here_key(removal->service);
    struct leftovers left = {.key = key, .record = removal->record && removal->users};
    if (!key)
        return;
    state_forget(key);
    registry_each_value(key, list_leftover, &left);
    if (left.names.len)
        load_note(removal->change.load, NULL, 0,
                  "%s: the machine's registry still has %s for it; to delete that, run with the "
                  "right to write there: reg delete 'HKLM\\%s' /f",
                  removal->service, left.names.data, strchr(key, '\\') + 1);
    buffer_done(&left.names);
}

static void report_removed(const struct removal *removal)
{
    uint32_t top = known_top(&removal->change.known, removal->change.load->layer, NULL);
    event_log(SOURCE, EVENT_REMOVED, removal->service,
              EVENT_FIELDS(EVENT_NUMBER("LastCounter", top), EVENT_NUMBER("LastHelp", top + 1)),
              NULL);
}

static bool is_name_of_service(const char *service)
{
    return service && *service && strlen(service) < SERVICE_SIZE && !strchr(service, '\\');
}

DWORD opl_load_remove(const char *service, const opl_load_options *options, opl_load_result *ret)
{
    struct load load;
    struct removal removal = {.service = service};
    opl_load_result result = {0};
    load_init(&load, options);
    removal.record = load.options->library != NULL;
    if (!is_name_of_service(service))
        return ERROR_INVALID_PARAMETER;
    LSTATUS status = change_begin(&removal.change, &load, service);
    if (!status) {
        status = remove_service(&removal, &result);
        if (!status && removal.change.edit)
            report_removed(&removal);
        bool forget =
            !status && removal.change.edit && (removal.users || load.layer == LAYER_MACHINE);
        change_end(&removal.change);
        if (forget)
            forget_state(&removal);
    }
    strcpy(result.service, service);
    if (status && status != ERROR_FILE_NOT_FOUND && !load.options->dry_run)
        load_event(EVENT_REMOVE_FAILED, service, status);
    result.objects = result.names = result.helps = result.languages = 0;
    if (!status && ret)
        *ret = result;
    return load_end(&load, status);
}
