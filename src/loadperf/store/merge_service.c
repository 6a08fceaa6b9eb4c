/* SPDX-License-Identifier: MIT */
/* Writes the differences between a provider in a backup and in the registry as lines of
 * manual.reg. */
#include "loadperf/store/merge.h"

#include <openperflib/regfile.h>
#include <winreg.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct merged_service {
    struct merge *merge;
    struct merge_target *target;
    struct stored_texts current; /* the texts that are registered here */
    uint32_t current_first;      /* the index of offset 0 in `current` */
    struct plan plan;
    struct registration registration;
    char *kept[TEXTS]; /* present values Library, Open, Collect, Close, Object List */
    struct buffer validation;
    uint32_t disabled; /* the present value of Disable Performance Counters */
    bool set_disabled; /* the value must change */
};

/* ---- texts ---- */

/* True if the texts are equal. Newlines and other control characters count as blanks, because the
 * backup has blanks in their place. */
static bool same_line(const char *left, const char *right)
{
    for (; *left && *right; left++, right++) {
        char l = (unsigned char)*left < ' ' && *left != '\t' ? ' ' : *left;
        char r = (unsigned char)*right < ' ' && *right != '\t' ? ' ' : *right;
        if (l != r)
            return false;
    }
    return *left == *right;
}

static LSTATUS plan_text(struct merged_service *service, uint32_t language, uint32_t offset,
                         const char *text)
{
    struct plan_text planned = {.language = language, .offset = offset, .text = strdup(text)};
    return plan_add_text(&service->plan, &planned) ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
}

/* Adds a text of the backup to the plan. An English text that the backup has in place of a missing
 * one is not a text of the language, so it is not added. A text written by hand is not the
 * provider's, so it is not added either; the provider's present text, if there is one, is added
 * instead. */
static LSTATUS plan_stored(struct merged_service *service, const struct stored_text *text)
{
    const struct stored_texts *file = &service->merge->stored->texts;
    uint32_t offset = text->index - service->target->provider->number[FIRST_COUNTER];
    const char *here =
        stored_texts_find(&service->current, text->language, service->current_first + offset);
    const char *english = stored_texts_find(file, LANGUAGE_ENGLISH, text->index);
    if (stored_texts_find(&service->merge->stored->hand, text->language, text->index))
        return here ? plan_text(service, text->language, offset, here) : ERROR_SUCCESS;
    bool same = here && same_line(here, text->text);
    if (text->language != LANGUAGE_ENGLISH && english && !strcmp(english, text->text)) {
        same |= here && !*here;
        if (!same)
            return ERROR_SUCCESS;
    }
    if (text->index % 2 == 0 && !*text->text)
        return ERROR_SUCCESS;
    return plan_text(service, text->language, offset, same ? here : text->text);
}

static LSTATUS plan_file(struct merged_service *service)
{
    const struct stored_texts *texts = &service->merge->stored->texts;
    const uint32_t *number = service->target->provider->number;
    size_t cursor = 0;
    uint32_t language;
    LSTATUS status = ERROR_SUCCESS;
    while (!status && stored_texts_language(texts, &cursor, &language)) {
        size_t at = stored_texts_from(texts, language, number[FIRST_COUNTER]);
        for (; !status && at < texts->count && texts->list[at].language == language &&
               texts->list[at].index <= number[LAST_COUNTER] + 1;
             at++)
            status = plan_stored(service, &texts->list[at]);
    }
    return status;
}

static bool file_has_language(const struct merged_service *service, uint32_t language)
{
    const struct stored_texts *texts = &service->merge->stored->texts;
    const uint32_t *number = service->target->provider->number;
    size_t at = stored_texts_from(texts, language, number[FIRST_COUNTER]);
    return at < texts->count && texts->list[at].language == language &&
           texts->list[at].index <= number[LAST_COUNTER] + 1;
}

/* Adds to the plan the present texts that stay. If the backup is complete, present texts that it
 * lacks are removed in those languages that it has for this provider; otherwise they stay. */
static LSTATUS plan_current(struct merged_service *service)
{
    LSTATUS status = ERROR_SUCCESS;
    const struct stored *stored = service->merge->stored;
    uint32_t first = service->target->provider->number[FIRST_COUNTER];
    uint32_t length = service->target->last - service->target->first;
    for (size_t i = 0; !status && i < service->current.count; i++) {
        const struct stored_text *text = &service->current.list[i];
        uint32_t offset = text->index - service->current_first;
        if (text->index < service->current_first || offset > length)
            continue;
        bool reported =
            service->target->provider->complete ||
            (stored->whole || stored->repair
                 ? file_has_language(service, text->language)
                 : stored_texts_find(&stored->texts, text->language, first + offset) != NULL);
        if (!reported)
            status = plan_text(service, text->language, offset, text->text);
    }
    return status;
}

/* Adds an empty English explanation to each name that has none, as rewrite_add does. */
static LSTATUS plan_helps(struct merged_service *service)
{
    LSTATUS status = ERROR_SUCCESS;
    size_t count = service->plan.text_count;
    for (size_t i = 0; !status && i < count; i++) {
        uint32_t offset = service->plan.texts[i].offset;
        if (service->plan.texts[i].language != LANGUAGE_ENGLISH || offset % 2)
            continue;
        bool has = i + 1 < count && service->plan.texts[i + 1].language == LANGUAGE_ENGLISH &&
                   service->plan.texts[i + 1].offset == offset + 1;
        if (!has)
            status = plan_text(service, LANGUAGE_ENGLISH, offset + 1, "");
    }
    return status;
}

static LSTATUS plan_texts(struct merged_service *service)
{
    LSTATUS status = plan_file(service);
    status = status ? status : plan_current(service);
    plan_sort(&service->plan);
    status = status ? status : plan_helps(service);
    plan_sort(&service->plan);
    return status;
}

/* ---- settings ---- */

/* Writes the Object List; if First Counter has changed, its numbers change by the same
 * difference. */
static LSTATUS set_objects(struct merged_service *service)
{
    const struct merge_target *target = service->target;
    bool file = target->provider->text[OBJECT_LIST] != NULL;
    const char *cursor = file ? target->provider->text[OBJECT_LIST] : service->kept[OBJECT_LIST];
    uint32_t from = file ? target->provider->number[FIRST_COUNTER] : service->current_first, index;
    const char *word;
    size_t count;
    BUFFER_AUTO list = {0};
    if (!cursor)
        return ERROR_SUCCESS;
    if (from == target->first) {
        service->registration.objects = strdup(cursor);
        return service->registration.objects ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
    }
    buffer_add_text(&list, "");
    while ((word = text_word(&cursor, &count))) {
        bool own = text_decimal(word, count, &index) && index >= from &&
                   index - from <= target->last - target->first;
        buffer_printf(&list, list.len ? " " : "");
        if (own)
            buffer_printf(&list, "%u", (unsigned)(index - from + target->first));
        else
            buffer_add(&list, word, count);
    }
    service->registration.objects = list.data;
    list.data = NULL;
    return list.failed ? ERROR_NOT_ENOUGH_MEMORY : ERROR_SUCCESS;
}

static LSTATUS read_here(struct merged_service *service)
{
    const struct merge_target *target = service->target;
    const char *name = target->provider->name;
    uint32_t type;
    FREE_AUTO char *key = here_key(name), *quarantine = here_text(name, "Quarantine");
    if (!key)
        return ERROR_NOT_ENOUGH_MEMORY;
    for (size_t i = 0; i < TEXTS; i++)
        service->kept[i] = here_text(name, text_names[i]);
    registry_get_dword(key, VALUE_DISABLED, &service->disabled);
    service->set_disabled = !quarantine && service->disabled != target->provider->disabled;
    registry_get(key, "Library Validation Code", &type, &service->validation);
    service->registration.ini = here_text(name, VALUE_INI);
    service->current_first = target->provider->texts_first ? target->provider->texts_first
                             : target->here && target->here->loaded
                                 ? target->here->number[FIRST_COUNTER]
                                 : target->provider->number[FIRST_COUNTER];
    return stored_texts_of_service(name, &service->current);
}

static void set_registration(struct merged_service *service)
{
    const struct merge_target *target = service->target;
    struct registration *registration = &service->registration;
    uint32_t *number = registration->number;
    number[FIRST_COUNTER] = target->first;
    number[FIRST_HELP] = target->first + 1;
    number[LAST_COUNTER] = target->last - 1;
    number[LAST_HELP] = target->last;
    registration->plan = &service->plan;
    snprintf(service->plan.service, sizeof service->plan.service, "%s",
             target->here ? target->here->name : target->provider->name);
    if (service->validation.len == VALIDATION_BYTES)
        registration->validation = (const unsigned char *)service->validation.data;
    for (size_t i = 0; !service->kept[LIBRARY] && i < OBJECT_LIST; i++)
        registration->record[i] =
            target->provider->text[i] ? target->provider->text[i] : text_names[i];
    if (!target->provider->text[LIBRARY])
        registration->record[LIBRARY] = NULL;
}

/* ---- comparison ---- */

static bool same_texts(const struct merged_service *service)
{
    const struct plan *plan = &service->plan;
    bool same = plan->text_count == service->current.count;
    for (size_t i = 0; same && i < plan->text_count; i++) {
        const struct plan_text *text = &plan->texts[i];
        const char *here = stored_texts_find(&service->current, text->language,
                                             service->target->first + text->offset);
        same = here && !strcmp(here, text->text);
    }
    return same;
}

static bool is_same(const struct merged_service *service)
{
    const struct here *here = service->target->here;
    const char *objects = service->registration.objects, *kept = service->kept[OBJECT_LIST];
    bool same = here && here->loaded && !service->set_disabled;
    for (size_t i = 0; same && i < NUMBERS; i++)
        same = here->number[i] == service->registration.number[i];
    same &= objects && kept ? !strcmp(objects, kept) : !objects && !kept;
    return same && !service->registration.record[LIBRARY] && same_texts(service);
}

/* ---- into manual.reg ---- */

/* Removes the service's lines from the new text of manual.reg. The first call first converts the
 * text to UTF-8. */
static LSTATUS begin_change(struct merge *merge, const char *name, bool record)
{
    BUFFER_AUTO text = {0};
    bool empty;
    const struct known_file *manual =
        known_find(&merge->change.known, merge->load->layer, MANUAL_REG);
    if (merge->changed && !(manual && scan_mentions(manual->row.services, name)))
        return ERROR_SUCCESS;
    LSTATUS status = rewrite_without(&merge->manual, name, record, false, &text, &empty);
    if (status)
        return status;
    merge->changed = true;
    buffer_clear(&merge->manual);
    buffer_add(&merge->manual, text.data, text.len);
    return buffer_status(&merge->manual);
}

static LSTATUS write_service(struct merge *merge, struct merged_service *service)
{
    bool record = service->registration.record[LIBRARY] != NULL;
    LSTATUS status = begin_change(merge, service->plan.service, record);
    status = status ? status : rewrite_tombstone(service->plan.service, false, &merge->manual);
    status = status ? status : rewrite_add(&service->registration, &merge->manual);
    if (!status && service->set_disabled) {
        uint32_t disabled = service->target->provider->disabled;
        buffer_printf(&merge->manual, "\n[" REGISTRY_SERVICES "\\%s\\Performance]\n",
                      service->plan.service);
        if (disabled)
            buffer_printf(&merge->manual, "\"" VALUE_DISABLED "\"=dword:%08x\n",
                          (unsigned)disabled);
        else
            buffer_add_text(&merge->manual, "\"" VALUE_DISABLED "\"=-\n");
    }
    return status;
}

static void service_done(struct merged_service *service)
{
    stored_texts_done(&service->current);
    plan_done(&service->plan);
    for (size_t i = 0; i < TEXTS; i++)
        free(service->kept[i]);
    free(service->registration.objects);
    free(service->registration.ini);
    buffer_done(&service->validation);
}

LSTATUS merge_service(struct merge *merge, struct merge_target *target)
{
    struct merged_service service = {.merge = merge, .target = target};
    LSTATUS status = read_here(&service);
    status = status ? status : plan_texts(&service);
    status = status ? status : set_objects(&service);
    if (!status) {
        set_registration(&service);
        target->changed = !is_same(&service);
        *(target->changed ? &merge->result->restored : &merge->result->same) += 1;
        merge->result->texts += service.plan.text_count;
        if (target->changed)
            status = write_service(merge, &service);
    }
    service_done(&service);
    return status;
}

/* ---- written by hand ---- */

/* Sets *ret to the texts by hand that the language shall have: those of the backup, then the
 * present ones that it lacks, except those for the system's own indices. */
static LSTATUS hand_wanted(const struct merge *merge, uint32_t language, struct stored_texts *ret)
{
    const struct stored_texts *both[] = {&merge->stored->hand, &merge->hand};
    for (size_t k = 0; k < COUNT(both); k++) {
        size_t at = stored_texts_from(both[k], language, 0);
        for (; at < both[k]->count && both[k]->list[at].language == language; at++) {
            const struct stored_text *text = &both[k]->list[at];
            if (k && text->index <= NAMES_BASE_INDEX)
                continue;
            if (!stored_texts_add(ret, language, text->index, strdup(text->text)))
                return ERROR_NOT_ENOUGH_MEMORY;
        }
    }
    return stored_texts_sort(ret) ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
}

static bool same_hand(const struct merge *merge, uint32_t language,
                      const struct stored_texts *wanted)
{
    size_t at = stored_texts_from(&merge->hand, language, 0);
    size_t end = stored_texts_from(&merge->hand, language + 1, 0);
    bool same = end - at == wanted->count;
    for (size_t i = 0; same && i < wanted->count; i++)
        same = merge->hand.list[at + i].index == wanted->list[i].index &&
               same_line(merge->hand.list[at + i].text, wanted->list[i].text);
    return same;
}

static LSTATUS write_hand(struct merge *merge, uint32_t part, const char *value,
                          const struct stored_texts *wanted)
{
    BUFFER_AUTO multi = {0};
    for (size_t i = 0; i < wanted->count; i++) {
        const char *text = wanted->list[i].text;
        if (wanted->list[i].index % 2 != part)
            continue;
        buffer_printf(&multi, "%u", (unsigned)wanted->list[i].index);
        buffer_add_byte(&multi, '\0');
        buffer_add(&multi, text, strlen(text) + 1);
    }
    buffer_add_byte(&multi, '\0');
    if (multi.failed)
        return ERROR_NOT_ENOUGH_MEMORY;
    opl_reg_entry entry = {.kind = multi.len > 1 ? OPL_REG_VALUE : OPL_REG_DELETE_VALUE,
                           .name = value,
                           .type = REG_MULTI_SZ,
                           .data = multi.data,
                           .size = multi.len};
    return rewrite_print(&merge->manual, &entry);
}

static bool merge_hand_language(void *self, const char *id)
{
    struct merge *merge = self;
    struct stored_texts wanted = {0};
    uint32_t language;
    if (!text_hex(id, strlen(id), &language) ||
        (merge->stored->language && merge->stored->language != language))
        return true;
    LSTATUS status = hand_wanted(merge, language, &wanted);
    if (!status && !same_hand(merge, language, &wanted)) {
        status = begin_change(merge, "", false);
        buffer_printf(&merge->manual, "\n[" REGISTRY_PERFLIB "\\%s\\Manual]\n", id);
        status = status ? status : write_hand(merge, 0, "Counter", &wanted);
        status = status ? status : write_hand(merge, 1, "Help", &wanted);
    }
    stored_texts_done(&wanted);
    merge->status = status;
    return !status;
}

/* Installs a language that the backup has, because it was installed when the backup was made. */
static LSTATUS install_language(struct merge *merge, uint32_t language)
{
    char id[8];
    snprintf(id, sizeof id, "%03X", (unsigned)language & 0xffff);
    LSTATUS status = begin_change(merge, "", false);
    buffer_printf(&merge->manual, "\n[" LANGUAGES_KEY "]\n\"%s\"=dword:00000001\n", id);
    merge->status = status;
    if (!status)
        merge_hand_language(merge, id);
    return merge->status;
}

LSTATUS merge_hand(struct merge *merge)
{
    size_t cursor = 0;
    uint32_t language;
    LSTATUS status = names_each_language(merge_hand_language, merge);
    status = status ? status : merge->status;
    while (!status && stored_texts_language(&merge->stored->texts, &cursor, &language))
        if (!names_language_installed(language))
            status = install_language(merge, language);
    return status;
}
