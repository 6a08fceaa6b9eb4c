/* SPDX-License-Identifier: MIT */
/*
 * Texts that were written by hand over a provider's own: the text of its ini file (or of its
 * registration if that is missing) for the same index and language is kept, and the text by hand is
 * removed. A translation that the provider itself does not have is no mistake and stays.
 */
#include "loadperf/doctor.h"

#include <stdlib.h>
#include <string.h>

struct judging {
    struct doctor *doctor;
    uint32_t language;
    struct stored_texts hand, left; /* the existing texts, the texts to keep */
    LSTATUS status;
};

static const struct stored_provider *owner_of(const struct doctor *doctor, uint32_t index)
{
    const struct stored *wanted = &doctor->wanted;
    for (size_t i = 0; i < wanted->provider_count; i++) {
        const uint32_t *number = wanted->providers[i].number;
        if (index >= number[FIRST_COUNTER] && index <= number[LAST_HELP])
            return &wanted->providers[i];
    }
    return NULL;
}

/* The provider's own text, or NULL: it has none for that index. */
static LSTATUS own_text(const struct judging *judging, const struct stored_provider *owner,
                        uint32_t language, uint32_t index, char **ret)
{
    struct stored_texts texts = {0};
    LSTATUS status = owner->complete ? ERROR_SUCCESS : stored_texts_of_service(owner->name, &texts);
    const char *text = stored_texts_find(owner->complete ? &judging->doctor->wanted.texts : &texts,
                                         language, index);
    *ret = text ? strdup(text) : NULL;
    if (text && !*ret)
        status = ERROR_NOT_ENOUGH_MEMORY;
    stored_texts_done(&texts);
    return status;
}

static void report_manual(const struct judging *judging, const struct stored_provider *owner,
                          const struct stored_text *text, const char *own)
{
    const opl_load_finding finding = {.kind = "texts-by-hand", .service = owner->name};
    if (own)
        doctor_report(
            judging->doctor, true, &finding,
            "text %u of language %03X was written by hand as \"%.120s\": it is \"%.120s\"",
            (unsigned)text->index, (unsigned)text->language & 0xffff, text->text, own);
    else
        doctor_report(judging->doctor, true, &finding,
                      "text %u of language %03X was written by hand as \"%.120s\", but it has none "
                      "there: removed",
                      (unsigned)text->index, (unsigned)text->language & 0xffff, text->text);
}

/* *ret_stays: it belongs to no provider, is the same, or adds something: a translation, or the
 * meaning of a name. */
static LSTATUS judge(struct judging *judging, const struct stored_text *text, bool *ret_stays)
{
    const struct stored_provider *owner = owner_of(judging->doctor, text->index);
    FREE_AUTO char *own = NULL, *english = NULL;
    *ret_stays = true;
    if (!owner)
        return ERROR_SUCCESS;
    LSTATUS status = own_text(judging, owner, text->language, text->index, &own);
    if (!status)
        status = own_text(judging, owner, LANGUAGE_ENGLISH, text->index & ~1u, &english);
    if (status)
        return status;
    if (own)
        *ret_stays = strcmp(own, text->text) == 0;
    /* a number within its range; without an ini file it is unknown whether the provider has it */
    else
        *ret_stays = english || !owner->complete;
    if (!*ret_stays)
        report_manual(judging, owner, text, own);
    return ERROR_SUCCESS;
}

static LSTATUS store(const struct judging *judging, uint32_t part)
{
    BUFFER_AUTO multi = {0};
    for (size_t i = 0; i < judging->left.count; i++) {
        const struct stored_text *text = &judging->left.list[i];
        if (text->index % 2 != part)
            continue;
        buffer_printf(&multi, "%u", (unsigned)text->index);
        buffer_add_byte(&multi, '\0');
        buffer_add(&multi, text->text, strlen(text->text) + 1);
    }
    buffer_add_byte(&multi, '\0');
    return multi.failed ? ERROR_NOT_ENOUGH_MEMORY
                        : names_store(part ? NAMES_HELP : NAMES_COUNTER, judging->language,
                                      multi.data, multi.len);
}

static LSTATUS judge_language(struct judging *judging)
{
    struct stored_texts *hand = &judging->hand;
    LSTATUS status = stored_texts_by_hand(judging->language, hand);
    if (!status && !stored_texts_sort(hand))
        status = ERROR_NOT_ENOUGH_MEMORY;
    for (size_t i = 0; !status && i < hand->count; i++) {
        bool stays;
        const struct stored_text *text = &hand->list[i];
        status = judge(judging, text, &stays);
        if (!status && stays &&
            !stored_texts_add(&judging->left, text->language, text->index, strdup(text->text)))
            status = ERROR_NOT_ENOUGH_MEMORY;
    }
    bool changed = judging->left.count != hand->count;
    if (!status && changed)
        judging->doctor->result->restored++;
    for (uint32_t part = 0; !status && changed && part <= 1; part++)
        if (!judging->doctor->load->options->dry_run && (status = store(judging, part)))
            load_language_event(EVENT_NAMES_NOT_WRITTEN + part, judging->language, status);
    return status;
}

static bool take_language(void *self, const char *id)
{
    struct judging *judging = self;
    if (!text_hex(id, strlen(id), &judging->language))
        return true;
    judging->status = judge_language(judging);
    stored_texts_done(&judging->hand);
    stored_texts_done(&judging->left);
    judging->hand = judging->left = (struct stored_texts){0};
    return !judging->status;
}

/* They are in the machine's layer only. */
LSTATUS repair_manual(struct doctor *doctor)
{
    struct judging judging = {.doctor = doctor};
    if (doctor->load->layer != LAYER_MACHINE)
        return ERROR_SUCCESS;
    LSTATUS status = names_each_language(take_language, &judging);
    return status ? status : judging.status;
}
