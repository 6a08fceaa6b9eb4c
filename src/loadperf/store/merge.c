/* SPDX-License-Identifier: MIT */
/*
 * Restores a backup without breaking registrations that work. A provider gets the numbers in the
 * backup if they are free; if not, it keeps its own; if it has none, it gets new ones. All changes
 * are written to manual.reg, which is merged last, so that one rename restores everything.
 */
#include "loadperf/store/merge.h"

#include <stdlib.h>
#include <string.h>

/* ---- which providers can be restored ---- */

static bool texts_between(const struct stored_texts *texts, uint32_t language, uint32_t first,
                          uint32_t last)
{
    size_t at = stored_texts_from(texts, language, first);
    return at < texts->count && texts->list[at].language == language &&
           texts->list[at].index <= last;
}

/* Returns what is wrong with the provider's numbers on any machine; NULL: nothing. */
static const char *number_mistake(const struct stored_provider *provider)
{
    const uint32_t *number = provider->number;
    if (!stored_has_numbers(provider))
        return "one of First Counter, Last Counter, First Help, Last Help is missing or not a "
               "number";
    if (number[FIRST_COUNTER] > number[LAST_COUNTER] || number[LAST_COUNTER] > USER_HIGHEST)
        return "Last Counter is below First Counter, or too large";
    if (number[FIRST_COUNTER] % 2 || number[LAST_COUNTER] % 2)
        return "names must have even numbers";
    if (number[FIRST_COUNTER] <= NAMES_BASE_INDEX)
        return "these numbers are reserved for the system";
    return number[FIRST_HELP] != number[FIRST_COUNTER] + 1 ? "First Help must follow First Counter"
                                                           : NULL;
}

static bool overlap(uint32_t first, uint32_t last, uint32_t other_first, uint32_t other_last)
{
    return first <= other_last && other_first <= last;
}

static const struct merge_target *earlier_overlap(const struct merge *merge,
                                                  const struct merge_target *target)
{
    for (const struct merge_target *other = merge->targets; other < target; other++)
        if (other->place != LEFT && overlap(target->first, target->last, other->first, other->last))
            return other;
    return NULL;
}

static void leave(struct merge *merge, struct merge_target *target, const char *why)
{
    target->place = LEFT;
    merge->result->left++;
    load_warning(merge->load, merge->stored->path, target->provider->line, "%s was not changed: %s",
                 target->provider->name, why);
}

/* True if backup and registry have names for the same offsets, or if the registry has no texts,
 * which proves nothing. */
static bool same_offsets(const struct merge *merge, const struct merge_target *target,
                         const struct stored_texts *current)
{
    const struct stored_texts *texts = &merge->stored->texts;
    uint32_t file_first = target->provider->number[FIRST_COUNTER];
    uint32_t here_first = target->here->number[FIRST_COUNTER];
    for (size_t i = 0; i < current->count; i++) {
        const struct stored_text *text = &current->list[i];
        if (text->language == LANGUAGE_ENGLISH && text->index % 2 == 0 &&
            (text->index < here_first ||
             !stored_texts_find(texts, LANGUAGE_ENGLISH, text->index - here_first + file_first)))
            return false;
    }
    size_t at = stored_texts_from(texts, LANGUAGE_ENGLISH, target->first);
    bool any = texts_between(current, LANGUAGE_ENGLISH, 0, UINT32_MAX);
    for (; any && at < texts->count && texts->list[at].language == LANGUAGE_ENGLISH &&
           texts->list[at].index <= target->last;
         at++)
        if (texts->list[at].index % 2 == 0 &&
            !stored_texts_find(current, LANGUAGE_ENGLISH,
                               texts->list[at].index - file_first + here_first))
            return false;
    return true;
}

/* Decides whether the backup is for this version of the provider. If the provider has another count
 * of numbers here than in the backup, one of the two is damaged or belongs to another version of
 * the provider. Another version, which has names for other offsets, is left as it is. */
static LSTATUS judge_version(struct merge *merge, struct merge_target *target)
{
    struct stored_texts current = {0};
    const uint32_t *here = target->here->number, *file = target->provider->number;
    if (here[LAST_COUNTER] - here[FIRST_COUNTER] == file[LAST_COUNTER] - file[FIRST_COUNTER])
        return ERROR_SUCCESS;
    LSTATUS status = stored_texts_of_service(target->here->name, &current);
    if (!status && !same_offsets(merge, target, &current))
        leave(merge, target, "another version of it, with other counters, is loaded here");
    stored_texts_done(&current);
    return status;
}

/* True if a package determines the provider's registration: its numbers in the file or here are in
 * the block of numbers for packages. */
static bool is_of_package(const struct merge_target *target)
{
    const struct stored_provider *provider = target->provider;
    const struct here *here = target->here;
    return (provider->number[FIRST_COUNTER] <= NAMES_BLOCK_LAST &&
            provider->number[LAST_COUNTER] >= NAMES_BLOCK_FIRST) ||
           (here && here->loaded && here->number[FIRST_COUNTER] <= NAMES_BLOCK_LAST &&
            here->number[FIRST_COUNTER] >= NAMES_BLOCK_FIRST);
}

static LSTATUS judge(struct merge *merge, struct merge_target *target)
{
    const struct stored_provider *provider = target->provider;
    const char *mistake = number_mistake(provider);
    target->here = here_find(&merge->here, provider->name);
    if (mistake) {
        leave(merge, target, mistake);
        return ERROR_SUCCESS;
    }
    target->first = provider->number[FIRST_COUNTER];
    target->last = provider->number[LAST_COUNTER] + 1;
    target->place = FROM_FILE;
    if (is_of_package(target)) {
        target->place = LEFT;
        merge->result->same++;
    } else if (!target->here && !provider->text[LIBRARY] && !merge->stored->repair)
        leave(merge, target, "there is no such service here");
    else if (known_above(&merge->change.known, provider->name, merge->load->layer))
        leave(merge, target, "a user's registry files have other values for it");
    else if (earlier_overlap(merge, target) && merge->stored->repair)
        target->place = AT_END;
    else if (earlier_overlap(merge, target))
        leave(merge, target, "its numbers overlap those of another provider in the file");
    else if (target->here && target->here->loaded && !merge->stored->repair)
        return judge_version(merge, target);
    return ERROR_SUCCESS;
}

/* ---- which numbers ---- */

static const struct merge_target *target_of(const struct merge *merge, const struct here *here)
{
    for (size_t i = 0; i < merge->target_count; i++)
        if (merge->targets[i].here == here)
            return &merge->targets[i];
    return NULL;
}

/* True if a text that was written by hand here, and is not in the backup, has an index in the
 * target's range. Texts for the provider's own present indices do not count. */
static bool hand_has(const struct merge *merge, const struct merge_target *target)
{
    const struct here *here = target->here;
    for (size_t i = 0; i < merge->hand.count; i++) {
        const struct stored_text *text = &merge->hand.list[i];
        bool own = here && here->loaded && text->index >= here->number[FIRST_COUNTER] &&
                   text->index <= here->number[LAST_HELP];
        if (text->index >= target->first && text->index <= target->last && !own &&
            !stored_texts_find(&merge->stored->hand, text->language, text->index))
            return true;
    }
    return false;
}

/* True if the numbers from `first` to `last` are outside the range from which the layer gives
 * numbers. */
static bool is_outside(const struct merge *merge, uint32_t first, uint32_t last)
{
    bool user = merge->load->layer == LAYER_USER;
    return user != (first >= USER_FIRST) || (!user && last > MACHINE_HIGHEST + 1);
}

/* True if the provider cannot get the numbers of the backup: they are outside the layer's range and
 * not the provider's own, or in use here by another provider that keeps its numbers, or by texts
 * written by hand. */
static bool is_taken(const struct merge *merge, const struct merge_target *target)
{
    bool has_them = target->here && target->here->loaded &&
                    target->here->number[FIRST_COUNTER] == target->first;
    if (is_outside(merge, target->first, target->last) && !has_them)
        return true;
    for (size_t i = 0; i < merge->here.count; i++) {
        const struct here *here = &merge->here.list[i];
        const struct merge_target *other = target_of(merge, here);
        bool stays = here->loaded && here != target->here && (!other || other->place != FROM_FILE);
        if (stays && overlap(target->first, target->last, here->number[FIRST_COUNTER],
                             here->number[LAST_HELP]))
            return true;
    }
    return hand_has(merge, target);
}

/* Decides for each provider which numbers it gets. A provider that cannot get its numbers of the
 * backup keeps its present ones; these may be numbers that another provider was to get, so the
 * decision is repeated. */
static void choose_places(struct merge *merge)
{
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < merge->target_count; i++) {
            struct merge_target *target = &merge->targets[i];
            if (target->place != FROM_FILE || !is_taken(merge, target))
                continue;
            again = true;
            target->place = target->here && target->here->loaded ? AS_HERE : AT_END;
        }
    }
}

static void remark_moved(const struct merge *merge, const struct merge_target *target)
{
    uint32_t first = target->provider->number[FIRST_COUNTER];
    uint32_t last = target->provider->number[LAST_COUNTER] + 1;
    load_warning(merge->load, merge->stored->path, target->provider->line,
                 "%s: its numbers %u to %u are %s; it %s %u to %u", target->provider->name,
                 (unsigned)first, (unsigned)last,
                 is_outside(merge, first, last) ? "outside of the range that it may have here"
                                                : "already used by other providers",
                 target->place == AS_HERE ? "keeps" : "gets", (unsigned)target->first,
                 (unsigned)target->last);
}

static uint32_t highest_wanted(const struct merge *merge)
{
    uint32_t top = known_top(&merge->change.known, merge->load->layer, NULL);
    for (size_t i = 0; i < merge->target_count; i++)
        if (merge->targets[i].place == FROM_FILE && merge->targets[i].last - 1 > top &&
            !is_outside(merge, merge->targets[i].first, merge->targets[i].last))
            top = merge->targets[i].last - 1;
    return top;
}

static void number_moved(struct merge *merge)
{
    uint32_t top = highest_wanted(merge);
    uint32_t highest = merge->load->layer == LAYER_USER ? USER_HIGHEST : MACHINE_HIGHEST;
    for (size_t i = 0; i < merge->target_count; i++) {
        struct merge_target *target = &merge->targets[i];
        uint32_t length = target->last - target->first;
        if (target->place != AS_HERE && target->place != AT_END)
            continue;
        if (target->place == AT_END && (top > highest - 2 || length > highest - 2 - top)) {
            leave(merge, target, "there are no free numbers for it");
            continue;
        }
        target->first = target->place == AS_HERE ? target->here->number[FIRST_COUNTER] : top + 2;
        target->last = target->first + length;
        if (target->place == AT_END)
            top = target->last - 1;
        merge->result->moved += target->first != target->provider->number[FIRST_COUNTER];
        if (target->first != target->provider->number[FIRST_COUNTER])
            remark_moved(merge, target);
    }
}

/* ---- the whole merge ---- */

static bool add_hand(void *self, const char *id)
{
    struct merge *merge = self;
    uint32_t language;
    if (text_hex(id, strlen(id), &language))
        merge->status = stored_texts_by_hand(language, &merge->hand);
    return !merge->status;
}

static LSTATUS look_around(struct merge *merge)
{
    LSTATUS status = here_read(&merge->here);
    status = status ? status : names_each_language(add_hand, merge);
    status = status ? status : merge->status;
    if (!status && !stored_texts_sort(&merge->hand))
        status = ERROR_NOT_ENOUGH_MEMORY;
    merge->target_count = merge->stored->provider_count;
    merge->targets = calloc(merge->target_count + 1, sizeof *merge->targets);
    if (!merge->targets)
        return ERROR_NOT_ENOUGH_MEMORY;
    for (size_t i = 0; !status && i < merge->target_count; i++) {
        merge->targets[i].provider = &merge->stored->providers[i];
        status = judge(merge, &merge->targets[i]);
    }
    return status;
}

static LSTATUS write_all(struct merge *merge)
{
    const opl_load_options *options = merge->load->options;
    LSTATUS status = change_read(&merge->change, MANUAL_REG, &merge->manual);
    for (size_t i = 0; !status && i < merge->target_count; i++)
        if (merge->targets[i].place != LEFT)
            status = merge_service(merge, &merge->targets[i]);
    if (!status && merge->stored->whole && merge->load->layer == LAYER_MACHINE)
        status = merge_hand(merge);
    status = status ? status : buffer_status(&merge->manual);
    if (status || !merge->changed)
        return status;
    if (options->written)
        options->written(options->self, merge->manual.data, merge->manual.len);
    status = change_commit(&merge->change, MANUAL_REG, &merge->manual, NULL);
    for (size_t i = 0; status && i < merge->target_count; i++)
        if (merge->targets[i].changed)
            load_event(EVENT_NUMBERS_NOT_WRITTEN, merge->targets[i].provider->name, status);
    return status;
}

static void report_moved(const struct merge_target *target)
{
    FREE_AUTO char *library = here_text(target->provider->name, text_names[LIBRARY]);
    if (target->place == AT_END && target->here && target->here->loaded)
        event_log(SOURCE, EVENT_MOVED, target->provider->name,
                  EVENT_FIELDS(EVENT_TEXT("Library", library ? library : "")),
                  "other providers use its old numbers, so it got new ones");
}

static void report(const struct merge *merge)
{
    for (size_t i = 0; merge->change.edit && i < merge->target_count; i++) {
        const struct merge_target *target = &merge->targets[i];
        if (target->changed)
            event_log(SOURCE, EVENT_LOADED, target->provider->name,
                      EVENT_FIELDS(EVENT_NUMBER("FirstCounter", target->first),
                                   EVENT_NUMBER("LastCounter", target->last - 1),
                                   EVENT_NUMBER("FirstHelp", target->first + 1),
                                   EVENT_NUMBER("LastHelp", target->last)),
                      NULL);
        if (target->changed)
            report_moved(target);
    }
}

LSTATUS merge_stored(struct load *load, const struct stored *stored, opl_load_restored *ret)
{
    struct merge merge = {.load = load, .stored = stored, .result = ret};
    ret->providers = stored->provider_count;
    LSTATUS status = change_begin(&merge.change, load, "manual");
    if (status)
        return status;
    status = look_around(&merge);
    if (!status) {
        if (!stored->repair)
            choose_places(&merge);
        number_moved(&merge);
        status = write_all(&merge);
    }
    if (!status)
        report(&merge);
    change_end(&merge.change);
    here_done(&merge.here);
    stored_texts_done(&merge.hand);
    free(merge.targets);
    buffer_done(&merge.manual);
    return status;
}
