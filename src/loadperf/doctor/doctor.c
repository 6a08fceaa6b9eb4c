/* SPDX-License-Identifier: MIT */
/*
 * lodctr doctor finds out what each registration should be: from the ini file that it was loaded
 * from, or, if that is missing, from those of its numbers and texts that are consistent.
 * Differences are reported, and corrected in one change of manual.reg. A provider gets new numbers
 * only if another one has the same numbers.
 */
#include "loadperf/doctor/doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

void doctor_report(struct doctor *doctor, bool repaired, const opl_load_finding *finding,
                   const char *format, ...)
{
    char text[4096]; /* the finding's text; large enough for commands with a path each */
    va_list list;
    opl_load_finding callbacks = *finding;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    callbacks.text = text;
    callbacks.repaired = repaired;
    if (!repaired)
        doctor->result->left++;
    if (doctor->callbacks->found)
        doctor->callbacks->found(doctor->callbacks->self, &callbacks);
}

/* ---- the correct numbers ---- */

struct checked {
    struct doctor *doctor;
    const struct here *here;
    struct plan plan;
    bool has_plan;
    struct stored_texts texts;
    uint32_t first, last;
};

/* Finds the longest run of English texts whose indices differ by at most `reach` from one to the
 * next: names far from the others prove nothing. 0 and 0: there are no texts. */
static void find_run(const struct stored_texts *texts, uint32_t reach, uint32_t *ret_low,
                     uint32_t *ret_high)
{
    size_t at = stored_texts_from(texts, LANGUAGE_ENGLISH, 0), best = 0, count = 0;
    uint32_t low = 0, last = 0;
    *ret_low = *ret_high = 0;
    for (; at < texts->count && texts->list[at].language == LANGUAGE_ENGLISH; at++) {
        uint32_t index = texts->list[at].index;
        if (!count || index - last > reach) {
            count = 0;
            low = index;
        }
        last = index;
        if (++count <= best)
            continue;
        best = count;
        *ret_low = low & ~1u;
        *ret_high = last & ~1u;
    }
}

static bool is_possible(uint32_t first)
{
    return first % 2 == 0 && first > NAMES_BASE_INDEX && first <= USER_HIGHEST;
}

/* Returns the most frequent number that is a possible index of offset 0; of several, the first; 0:
 * none. */
static uint32_t most_named(const uint32_t *named, size_t count)
{
    size_t best = 0;
    uint32_t found = 0;
    for (size_t i = 0; i < count; i++) {
        size_t votes = 0;
        for (size_t k = 0; k < count; k++)
            votes += named[k] == named[i];
        if (is_possible(named[i]) && votes > best) {
            best = votes;
            found = named[i];
        }
    }
    return found;
}

static uint32_t lowest_offset(const struct plan *plan)
{
    for (size_t i = 0; i < plan->text_count; i++)
        if (plan->texts[i].language == LANGUAGE_ENGLISH)
            return plan->texts[i].offset & ~1u;
    return 0;
}

/* Returns the index of offset 0 on which most names agree: each registered text that equals a text
 * of the ini file shows which index belongs to offset 0. */
static uint32_t first_by_names(const struct checked *checked)
{
    const struct plan *plan = &checked->plan;
    uint32_t named[64];
    size_t count = 0;
    for (size_t i = 0; i < plan->text_count && count < COUNT(named); i++)
        for (size_t k = 0; k < checked->texts.count && count < COUNT(named); k++) {
            const struct stored_text *text = &checked->texts.list[k];
            if (text->language == plan->texts[i].language && *text->text &&
                !strcmp(text->text, plan->texts[i].text))
                named[count++] = text->index - plan->texts[i].offset;
        }
    return most_named(named, count);
}

/* Returns the index of offset 0 if names and numbers are lost: the first number of the Object List
 * is that of the service's first object. 0: unknown. */
static uint32_t first_by_objects(const struct checked *checked)
{
    FREE_AUTO char *list = here_text(checked->here->name, "Object List");
    const struct plan *plan = &checked->plan;
    const char *cursor = list;
    size_t count;
    uint32_t index;
    const char *word = list && plan->object_count ? text_word(&cursor, &count) : NULL;
    return word && text_decimal(word, count, &index) ? index - plan->objects[0] : 0;
}

static void find_numbers(struct checked *checked)
{
    const uint32_t *number = checked->here->number;
    uint32_t run_low, run_high, length = checked->has_plan ? checked->plan.last_offset : 0;
    find_run(&checked->texts, checked->has_plan ? length + 2 : 64, &run_low, &run_high);
    uint32_t by_text = run_low - (checked->has_plan ? lowest_offset(&checked->plan) : 0);
    /* the index by names is entered three times, because many names confirm it */
    uint32_t by_names = checked->has_plan ? first_by_names(checked) : 0;
    const uint32_t firsts[] = {by_names,
                               by_names,
                               by_names,
                               number[FIRST_COUNTER],
                               number[FIRST_HELP] - 1,
                               by_text,
                               checked->has_plan ? number[LAST_COUNTER] - length : 0,
                               checked->has_plan ? number[LAST_HELP] - 1 - length : 0,
                               checked->has_plan ? first_by_objects(checked) : 0};
    const uint32_t lasts[] = {number[LAST_COUNTER], number[LAST_HELP] - 1, run_high};
    checked->first = most_named(firsts, COUNT(firsts));
    checked->last = checked->has_plan ? checked->first + length : most_named(lasts, COUNT(lasts));
    if (checked->last < checked->first)
        checked->first = 0;
}

/* ---- differences ---- */

static void report_numbers(struct checked *checked)
{
    const uint32_t *number = checked->here->number;
    const bool *has = checked->here->has;
    const opl_load_finding finding = {.kind = "wrong-numbers", .service = checked->here->name};
    const uint32_t must[NUMBERS] = {[FIRST_COUNTER] = checked->first,
                                    [LAST_COUNTER] = checked->last,
                                    [FIRST_HELP] = checked->first + 1,
                                    [LAST_HELP] = checked->last + 1};
    for (size_t i = 0; i < NUMBERS; i++) {
        if (!has[i])
            doctor_report(checked->doctor, true, &finding,
                          "%s was missing; the correct value is %u", number_names[i],
                          (unsigned)must[i]);
        else if (number[i] != must[i])
            doctor_report(checked->doctor, true, &finding, "%s was %u; the correct value is %u",
                          number_names[i], (unsigned)number[i], (unsigned)must[i]);
    }
}

static void put_count(struct checked *checked, const char *kind, size_t count, const char *what)
{
    const opl_load_finding finding = {.kind = kind, .service = checked->here->name};
    if (count)
        doctor_report(checked->doctor, true, &finding, "%zu %s %s", count,
                      count == 1 ? "text was" : "texts were", what);
}

static void report_texts(struct checked *checked)
{
    const struct plan *plan = &checked->plan;
    size_t missing = 0, wrong = 0, orphans = 0;
    for (size_t i = 0; checked->has_plan && i < plan->text_count; i++) {
        const struct plan_text *text = &plan->texts[i];
        const char *here =
            stored_texts_find(&checked->texts, text->language, checked->first + text->offset);
        const struct plan_text *english = plan_find(plan, LANGUAGE_ENGLISH, text->offset);
        bool stands_in =
            text->language != LANGUAGE_ENGLISH && english && !strcmp(english->text, text->text);
        missing += !here && !stands_in;
        wrong += here && strcmp(here, text->text) != 0;
    }
    for (size_t i = 0; i < checked->texts.count; i++) {
        const struct stored_text *text = &checked->texts.list[i];
        bool inside = text->index >= checked->first && text->index <= checked->last + 1;
        orphans += !inside;
        wrong += inside && checked->has_plan && *text->text &&
                 !plan_find(plan, text->language, text->index - checked->first);
    }
    put_count(checked, "missing-texts", missing, "missing");
    put_count(checked, "wrong-texts", wrong, "different from those in its ini file");
    put_count(checked, "orphan-texts", orphans,
              "outside of the service's range of numbers; lodctr doctor removes such texts");
}

/* Reports a service for which no ini file with its names exists here, so that its counters would be
 * shown as numbers. */
static void report_unnamed(struct checked *checked)
{
    const char *service = checked->here->name;
    FREE_AUTO char *ini = here_text(service, VALUE_INI);
    const opl_load_finding finding = {.kind = "missing-texts", .service = service};
    if (checked->has_plan || here_is_reserved(service))
        return;
    for (uint32_t index = checked->first; index <= checked->last; index += 2)
        if (names_lookup(index, LANGUAGE_ENGLISH, NULL))
            return;
    if (ini)
        doctor_report(
            checked->doctor, false, &finding,
            "none of its numbers has a name, and its ini file %s is gone, has mistakes, or "
            "can be changed by others: restore it, then run lodctr doctor again",
            ini);
    else
        doctor_report(checked->doctor, false, &finding,
                      "none of its numbers has a name, and its ini file is unknown: add its "
                      "path as the value PerfIniFile of the service's Performance key, with reg "
                      "add, then run lodctr doctor again");
}

static LSTATUS report_objects(struct checked *checked)
{
    FREE_AUTO char *must = NULL, *here = here_text(checked->here->name, "Object List");
    const opl_load_finding finding = {.kind = "wrong-objects", .service = checked->here->name};
    if (!checked->has_plan)
        return ERROR_SUCCESS;
    LSTATUS status = restore_objects(&checked->plan, checked->first, &must);
    if (!status && must && (!here || strcmp(must, here) != 0))
        doctor_report(checked->doctor, true, &finding,
                      "Object List was \"%s\"; the correct value is \"%s\"", here ? here : "",
                      must);
    return status;
}

/* True if the quarantine is permanent, or its time is not over. */
static bool is_due_later(const char *why)
{
    struct tm end = {0};
    const char *rest = strptime(why, "until %Y-%m-%dT%H:%M:%SZ", &end);
    return rest ? timegm(&end) > time(NULL) : !strncmp(why, "permanently", strlen("permanently"));
}

/* True if the library was replaced after the event that is given. The file's ctime is compared,
 * because packages set its mtime to an older time. */
static bool was_replaced(const char *path, const struct event_last *event)
{
    struct stat st;
    return event->when && path && !stat(path, &st) && clock_filetime_of(&st.st_ctim) > event->when;
}

static void report_held(struct doctor *doctor, const char *service, const char *path,
                        const char *why, const struct event_last *event)
{
    const opl_load_finding finding = {.kind = "quarantine", .service = service};
    FREE_AUTO char *last = !event->when ? strdup("none is recorded")
                           : strstr(event->text, why)
                               ? text_format("%u", event->id)
                               : text_format("%u, %s", event->id, event->text);
    doctor_report(doctor, false, &finding,
                  "is disabled %s; last event: %s; test it: openperflib-check %s; when it is "
                  "repaired: lodctr%s /E:%s",
                  why, last ? last : "", path ? path : "LIBRARY",
                  doctor->load->layer == LAYER_USER ? " --user" : "", service);
}

/* Reports a quarantine that is permanent or not over, unless the library was replaced. Any other
 * quarantine is ended when all is repaired (end_quarantines). */
static void report_quarantine(struct checked *checked)
{
    struct doctor *doctor = checked->doctor;
    const char *service = checked->here->name;
    FREE_AUTO char *why = here_text(service, "Quarantine"), *key = here_key(service);
    FREE_AUTO char *library = here_text(service, text_names[LIBRARY]);
    FREE_AUTO char *path = library ? trust_path(library) : NULL;
    const opl_load_finding finding = {.kind = "quarantine", .service = service};
    struct event_last event = {0};
    uint32_t disabled = 0;
    if (!why || !key)
        return;
    registry_get_dword(key, VALUE_DISABLED, &disabled);
    event_last(service, &event);
    if (disabled & 1 && is_due_later(why) && !was_replaced(path, &event)) {
        report_held(doctor, service, path, why, &event);
        return;
    }
    doctor_report(doctor, true, &finding, "was in quarantine (%s) and is enabled again", why);
    buffer_add(&doctor->quarantined, service, strlen(service) + 1);
}

static const struct stored_provider *overlapping(const struct checked *checked)
{
    const struct stored *wanted = &checked->doctor->wanted;
    for (size_t i = 0; i < wanted->provider_count; i++)
        if (wanted->providers[i].number[FIRST_COUNTER] <= checked->last + 1 &&
            checked->first <= wanted->providers[i].number[LAST_HELP])
            return &wanted->providers[i];
    return NULL;
}

/* ---- one provider ---- */

static LSTATUS want(struct checked *checked)
{
    struct stored *wanted = &checked->doctor->wanted;
    const uint32_t number[NUMBERS] = {[FIRST_COUNTER] = checked->first,
                                      [LAST_COUNTER] = checked->last,
                                      [FIRST_HELP] = checked->first + 1,
                                      [LAST_HELP] = checked->last + 1};
    const struct stored_provider *other = overlapping(checked);
    const opl_load_finding finding = {.kind = "overlap", .service = checked->here->name};
    if (other)
        doctor_report(checked->doctor, true, &finding,
                      "had the numbers %u to %u, which belong to %s; it gets other numbers",
                      (unsigned)checked->first, (unsigned)checked->last + 1, other->name);
    if (other && !checked->doctor->load->options->dry_run)
        event_log(SOURCE, EVENT_OVERLAP, checked->here->name,
                  EVENT_FIELDS(EVENT_TEXT("Other", other->name)), "the doctor gave it new numbers");
    /* texts of two sources must not be mixed: this provider's texts are those in the registry, not
     * those of its ini file */
    LSTATUS status = restore_add(wanted, checked->here->name, number,
                                 checked->has_plan && !other ? &checked->plan : NULL);
    if (!status) {
        wanted->providers[wanted->provider_count - 1].texts_first = checked->first;
        wanted->providers[wanted->provider_count - 1].complete = checked->has_plan && !other;
    }
    return status;
}

static LSTATUS examine(struct checked *checked)
{
    struct doctor *doctor = checked->doctor;
    const struct here *here = checked->here;
    const opl_load_finding finding = {.kind = "wrong-numbers", .service = here->name};
    if (here->users != (doctor->load->layer == LAYER_USER))
        return ERROR_SUCCESS; /* nothing to do: the registration belongs to another layer */
    LSTATUS status = stored_texts_of_service(here->name, &checked->texts);
    if (status)
        return status;
    bool any = checked->texts.count || checked->has_plan;
    for (size_t i = 0; i < NUMBERS; i++)
        any |= here->has[i];
    if (any)
        find_numbers(checked);
    doctor->result->providers++;
    scan_library(doctor, here->name);
    report_quarantine(checked);
    if (!any || (checked->first >= NAMES_BLOCK_FIRST && checked->first <= NAMES_BLOCK_LAST))
        /* the service's counters were never loaded with lodctr, or its package registered it */
        return ERROR_SUCCESS;
    if (!checked->first) {
        doctor_report(doctor, false, &finding,
                      "its numbers are lost and cannot be derived from its texts: remove it "
                      "with unlodctr, then load its ini file again");
        return ERROR_SUCCESS;
    }
    report_numbers(checked);
    report_texts(checked);
    report_unnamed(checked);
    status = report_objects(checked);
    return status ? status : want(checked);
}

/* Examines either the services with an ini file that has their names (`owners`), or the other
 * ones. */
static LSTATUS examine_some(struct doctor *doctor, const struct here_list *list, bool owners)
{
    LSTATUS status = ERROR_SUCCESS;
    for (size_t i = 0; !status && i < list->count; i++) {
        struct checked checked = {.doctor = doctor, .here = &list->list[i]};
        status = restore_plan(doctor->load, checked.here->name, &checked.plan, &checked.has_plan);
        if (!status && checked.has_plan == owners)
            status = examine(&checked);
        plan_done(&checked.plan);
        stored_texts_done(&checked.texts);
    }
    return status;
}

/* Examines all services. Of two services with the same numbers, the one that is examined first
 * keeps them. So services with an ini file that has their names come first; a service without such
 * a file may be a copy. */
static LSTATUS examine_all(struct doctor *doctor)
{
    struct here_list list = {0};
    LSTATUS status = here_read(&list);
    status = status ? status : examine_some(doctor, &list, true);
    status = status ? status : examine_some(doctor, &list, false);
    here_done(&list);
    return status;
}

/* ---- names of services that do not exist, which a damaged key line can cause ---- */

static bool any_value(void *self, const struct registry_value *value)
{
    *(bool *)self = true;
    return false;
}

static bool is_registered(const char *service)
{
    FREE_AUTO char *key = here_key(service), *library = here_text(service, text_names[LIBRARY]);
    bool any = !key || library;
    uint32_t number;
    for (size_t i = 0; !any && i < NUMBERS; i++)
        any = !registry_get_dword(key, number_names[i], &number);
    return any;
}

static bool any_other_key(void *self, const char *name)
{
    *(bool *)self |= !text_equal_fold(name, "Performance");
    return true;
}

static bool has_owner(const struct doctor *doctor, uint32_t index)
{
    for (size_t i = 0; i < doctor->wanted.provider_count; i++) {
        const uint32_t *number = doctor->wanted.providers[i].number;
        if (index >= number[FIRST_COUNTER] && index <= number[LAST_HELP])
            return true;
    }
    return false;
}

static void judge_orphan(struct doctor *doctor, const char *name, const struct stored_texts *texts)
{
    const opl_load_finding finding = {.kind = "orphan-names", .service = name};
    bool owned = true;
    for (size_t i = 0; i < texts->count; i++)
        owned &= has_owner(doctor, texts->list[i].index);
    if (owned)
        buffer_add(&doctor->orphans, name, strlen(name) + 1);
    doctor_report(doctor, owned, &finding,
                  owned ? "has only %zu texts, for numbers of another provider; they are removed"
                        : "has only %zu texts, and no numbers: load its ini file, or run unlodctr",
                  texts->count);
}

static bool take_orphan(void *self, const char *name)
{
    struct doctor *doctor = self;
    struct stored_texts texts = {0};
    bool more = false;
    FREE_AUTO char *key = here_key(name), *service = text_format("%s\\%s", REGISTRY_SERVICES, name);
    if (!key || !service) {
        doctor->status = ERROR_NOT_ENOUGH_MEMORY;
        return false;
    }
    registry_each_value(key, any_value, &more);
    if (more && !is_registered(name))
        buffer_add(&doctor->unregistered, name, strlen(name) + 1);
    registry_each_key(service, any_other_key, &more);
    if (more)
        return true;
    doctor->status = stored_texts_of_service(name, &texts);
    if (!doctor->status && texts.count)
        judge_orphan(doctor, name, &texts);
    stored_texts_done(&texts);
    return !doctor->status;
}

static LSTATUS remove_orphans(struct doctor *doctor)
{
    const struct buffer *names = &doctor->orphans;
    LSTATUS status = ERROR_SUCCESS;
    for (size_t at = 0; !status && at < names->len; at += strlen(names->data + at) + 1) {
        FREE_AUTO char *key = text_format("%s\\%s", REGISTRY_SERVICES, names->data + at);
        status = !key                             ? ERROR_NOT_ENOUGH_MEMORY
                 : doctor->load->options->dry_run ? ERROR_SUCCESS
                                                  : registry_delete_tree(doctor->load->layer, key);
        doctor->result->restored++;
    }
    return status;
}

/* ---- state of services that are not registered any more ---- */

static bool list_state(void *self, const struct registry_value *value)
{
    struct buffer *names = self;
    if (state_is(value->name) || text_equal_fold(value->name, VALUE_DISABLED))
        buffer_printf(names, "%s\"%s\"", names->len ? ", " : "", value->name);
    return true;
}

/* Removes Perflib's state of the service. A provider that an administrator disabled stays disabled,
 * because only a person knows whether that is still wanted. */
static void forget_unregistered(struct doctor *doctor, const char *service)
{
    const opl_load_finding finding = {.kind = "left-over", .service = service};
    BUFFER_AUTO before = {0}, after = {0};
    FREE_AUTO char *key = here_key(service);
    bool dry = doctor->load->options->dry_run;
    if (!key || registry_each_value(key, list_state, &before) || !before.len)
        return;
    if (!dry)
        state_forget(key);
    registry_each_value(key, list_state, &after);
    bool good = !after.len || (dry && strcmp(after.data, "\"" VALUE_DISABLED "\"") != 0);
    if (good)
        doctor_report(doctor, true, &finding,
                      "is not registered any more, but %s was left; it is removed", before.data);
    else
        doctor_report(
            doctor, false, &finding,
            "is not registered any more, but %s was left; to delete it, run with the right "
            "to write there: reg delete 'HKLM\\%s' /f",
            after.data, strchr(key, '\\') + 1);
    doctor->result->restored += good;
}

/* ---- the whole repair ---- */

static LSTATUS end_quarantines(struct doctor *doctor)
{
    const struct buffer *names = &doctor->quarantined;
    LSTATUS status = ERROR_SUCCESS;
    for (size_t at = 0; !status && at < names->len; at += strlen(names->data + at) + 1)
        if (!(status = (LSTATUS)opl_load_enable(names->data + at, true, doctor->load->options)))
            doctor->result->restored++;
    return status ? status : remove_orphans(doctor);
}

static LSTATUS cure(struct doctor *doctor)
{
    opl_load_restored merged = {0};
    if (!stored_texts_sort(&doctor->wanted.texts))
        return ERROR_NOT_ENOUGH_MEMORY;
    LSTATUS status = merge_stored(doctor->load, &doctor->wanted, &merged);
    doctor->result->restored = merged.restored;
    doctor->result->same = merged.same;
    doctor->result->left += merged.left;
    doctor->result->moved = merged.moved;
    status = status ? status : repair_manual(doctor);
    status = status ? status : end_quarantines(doctor);
    const struct buffer *gone = &doctor->unregistered;
    for (size_t at = 0; !status && at < gone->len; at += strlen(gone->data + at) + 1)
        forget_unregistered(doctor, gone->data + at);
    return status ? status : repair_files(doctor);
}

DWORD opl_load_state(const opl_load_doctor_options *callbacks)
{
    opl_load_restored result = {0};
    scan_state(&(struct doctor){.callbacks = callbacks, .result = &result});
    return (DWORD)result.left;
}

DWORD opl_load_doctor(const opl_load_doctor_options *callbacks, const opl_load_options *options,
                      opl_load_restored *ret)
{
    static const opl_load_doctor_options no_finding = {0};
    struct load load;
    opl_load_restored result = {0};
    load_init(&load, options);
    struct doctor doctor = {
        .load = &load, .callbacks = callbacks ? callbacks : &no_finding, .result = &result};
    doctor.wanted.path = NULL;
    doctor.wanted.repair = true;
    scan_state(&doctor);
    if (!scan_files(&doctor)) {
        if (ret)
            *ret = result;
        return ERROR_SUCCESS; /* no file is trusted, so no registration can be examined */
    }
    LSTATUS status = examine_all(&doctor);
    if (!status) {
        status = registry_each_key(REGISTRY_SERVICES, take_orphan, &doctor);
        status = status == ERROR_FILE_NOT_FOUND ? ERROR_SUCCESS : status;
    }
    status = status ? status : doctor.status;
    status = status ? status : cure(&doctor);
    stored_done(&doctor.wanted);
    buffer_done(&doctor.quarantined);
    buffer_done(&doctor.orphans);
    buffer_done(&doctor.unregistered);
    buffer_done(&doctor.torn);
    if (!status && ret)
        *ret = result;
    return load_end(&load, status);
}
