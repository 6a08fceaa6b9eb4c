/* SPDX-License-Identifier: MIT */
/*
 * Completes a plan: invalid offsets are refused with file and line, where the original tool
 * overwrote other providers' texts (docs/windows/articles.md#c66); every offset gets an English
 * name, so that every language has one (docs/windows/articles.md#c82); the objects are listed once
 * each (docs/windows/articles.md#c65).
 */
#include "loadperf/inner.h"

#include <stdlib.h>
#include <string.h>

/* ---- texts sorted and without duplicates ---- */

static int compare_texts(const void *left, const void *right)
{
    const struct plan_text *l = left, *r = right;
    if (l->language != r->language)
        return l->language < r->language ? -1 : 1;
    if (l->offset != r->offset)
        return l->offset < r->offset ? -1 : 1;
    return l->line < r->line ? -1 : l->line > r->line;
}

void plan_sort(struct plan *plan)
{
    if (plan->text_count)
        qsort(plan->texts, plan->text_count, sizeof *plan->texts, compare_texts);
}

const struct plan_text *plan_find(const struct plan *plan, uint32_t language, uint32_t offset)
{
    size_t low = 0, high = plan->text_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct plan_text *text = &plan->texts[middle];
        if (text->language < language || (text->language == language && text->offset < offset))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == plan->text_count)
        return NULL;
    const struct plan_text *text = &plan->texts[low];
    bool found = text->language == language && text->offset == offset;
    return found ? text : NULL;
}

/* Of two texts with one key the first counts, as for GetPrivateProfileString. */
static void drop_repeated(struct planning *planning)
{
    struct plan *plan = planning->plan;
    size_t kept = 0;
    plan_sort(plan);
    for (size_t i = 0; i < plan->text_count; i++) {
        struct plan_text *text = &plan->texts[i], *last = kept ? &plan->texts[kept - 1] : NULL;
        if (!last || last->language != text->language || last->offset != text->offset) {
            plan->texts[kept++] = *text;
            continue;
        }
        load_warning(planning->load, planning->ini_path, text->line,
                     "line %u has the same text already: this one is ignored", last->line);
        free(text->text);
    }
    plan->text_count = kept;
}

/* ---- offsets ---- */

static int compare_used(const void *left, const void *right)
{
    const struct symbol *l = *(const struct symbol *const *)left,
                        *r = *(const struct symbol *const *)right;
    if (l->value != r->value)
        return l->value < r->value ? -1 : 1;
    return l->order < r->order ? -1 : l->order > r->order;
}

static const char *offset_mistake(int64_t value)
{
    if (value < 0)
        return "negative: it would overwrite another provider's texts";
    if (value > MOST_OFFSET)
        return "too large for an index";
    return value % 2 ? "odd: names have even numbers, explanations the odd ones behind" : NULL;
}

static void refuse_offset(struct planning *planning, const struct symbol *symbol)
{
    const char *mistake = offset_mistake(symbol->value);
    if (mistake)
        load_error(planning->load, planning->symbol_path, symbol->line, "the offset of %.*s is %s",
                   (int)symbol->name.count, symbol->name.at, mistake);
}

static void refuse_offsets(struct planning *planning)
{
    const struct symbol *last = NULL;
    if (planning->used_count)
        qsort(planning->used, planning->used_count, sizeof *planning->used, compare_used);
    for (size_t i = 0; i < planning->used_count; i++) {
        const struct symbol *symbol = planning->used[i];
        if (symbol == last)
            continue;
        refuse_offset(planning, symbol);
        if (last && symbol->value == last->value)
            load_error(planning->load, planning->symbol_path, symbol->line,
                       "%.*s has the offset %lld of %.*s in line %u", (int)symbol->name.count,
                       symbol->name.at, (long long)symbol->value, (int)last->name.count,
                       last->name.at, last->line);
        last = symbol;
    }
}

/* A header may define a name twice in conditional branches, which are not evaluated here. */
static void warn_of_redefinitions(struct planning *planning)
{
    const struct symbols *symbols = planning->symbols;
    for (size_t i = 1; i < symbols->count; i++) {
        const struct symbol *first = &symbols->list[i - 1], *next = &symbols->list[i];
        bool same = first->name.count == next->name.count &&
                    !memcmp(first->name.at, next->name.at, next->name.count);
        if (same && first->is_number && next->is_number && first->value != next->value)
            load_warning(planning->load, planning->symbol_path, next->line,
                         "%.*s is defined in line %u already: that definition is used",
                         (int)next->name.count, next->name.at, first->line);
    }
}

/* ---- languages ---- */

static bool add_copy(struct plan *plan, const struct plan_text *from)
{
    struct plan_text copy = *from;
    copy.language = LANGUAGE_ENGLISH;
    copy.text = strdup(from->text);
    return plan_add_text(plan, &copy);
}

/* English gets names that only this language has, with their explanations. */
static LSTATUS fill_english_from(struct plan *plan, uint32_t language)
{
    size_t count = plan->text_count;
    for (size_t i = 0; i < count; i++) {
        struct plan_text name = plan->texts[i];
        if (name.language != language || name.offset % 2)
            continue;
        struct plan sorted = *plan;
        sorted.text_count = count;
        if (plan_find(&sorted, LANGUAGE_ENGLISH, name.offset))
            continue;
        bool has_help = plan_find(&sorted, LANGUAGE_ENGLISH, name.offset + 1);
        const struct plan_text *help = plan_find(&sorted, language, name.offset + 1);
        struct plan_text help_copy = help ? *help : name;
        if (!add_copy(plan, &name) || (help && !has_help && !add_copy(plan, &help_copy)))
            return ERROR_NOT_ENOUGH_MEMORY;
    }
    if (plan->text_count > count)
        plan_sort(plan);
    return ERROR_SUCCESS;
}

static LSTATUS fill_english(struct plan *plan)
{
    LSTATUS status = ERROR_SUCCESS;
    for (size_t i = 0; !status && i < plan->language_count; i++)
        if (plan->languages[i] != LANGUAGE_ENGLISH)
            status = fill_english_from(plan, plan->languages[i]);
    return status;
}

static void warn_of_languages(struct planning *planning)
{
    const struct plan *plan = planning->plan;
    for (size_t i = 0; i < plan->language_count; i++) {
        bool used = false;
        for (size_t k = 0; !used && k < plan->text_count; k++)
            used = plan->texts[k].language == plan->languages[i];
        if (!used)
            load_warning(planning->load, planning->ini_path, 0,
                         "language %03X is listed but has no text: it gets the English ones",
                         (unsigned)plan->languages[i]);
    }
}

/* An English text that was copied from another language: the original line was checked already. */
static bool is_copy(const struct plan *plan, const struct plan_text *text)
{
    for (size_t i = 0; text->language == LANGUAGE_ENGLISH && i < plan->text_count; i++)
        if (plan->texts[i].language != LANGUAGE_ENGLISH && plan->texts[i].line == text->line &&
            plan->texts[i].offset == text->offset)
            return true;
    return false;
}

/* A name without explanation gets an empty one; an explanation without a name is dropped. */
static void pair_up(struct planning *planning)
{
    struct plan *plan = planning->plan;
    size_t kept = 0;
    for (size_t i = 0; i < plan->text_count; i++) {
        struct plan_text *text = &plan->texts[i];
        bool is_help = text->offset % 2;
        if (!is_help && !plan_find(plan, text->language, text->offset + 1) && !is_copy(plan, text))
            load_warning(planning->load, planning->ini_path, text->line,
                         "\"%s\" has no explanation (_HELP): it gets an empty one", text->text);
        if (!is_help || plan_find(plan, LANGUAGE_ENGLISH, text->offset - 1))
            continue;
        if (!is_copy(plan, text))
            load_warning(planning->load, planning->ini_path, text->line,
                         "an explanation without a name (_NAME): it is ignored");
        free(text->text);
        text->text = NULL;
    }
    for (size_t i = 0; i < plan->text_count; i++)
        if (plan->texts[i].text)
            plan->texts[kept++] = plan->texts[i];
    plan->text_count = kept;
}

/* ---- objects ---- */

static int compare_numbers(const void *left, const void *right)
{
    uint32_t l = *(const uint32_t *)left, r = *(const uint32_t *)right;
    return (l > r) - (l < r);
}

static LSTATUS read_object(struct planning *planning, const struct ini_entry *entry)
{
    struct plan *plan = planning->plan;
    struct span name;
    uint32_t language, part;
    bool is_key = plan_key(entry->key, &name, &language, &part) && !part;
    const struct symbol *symbol = is_key ? symbols_find(planning->symbols, name) : NULL;
    const char *mistake = !is_key   ? "is not SYMBOL_LANGUAGE_NAME"
                          : !symbol ? "names no symbol"
                                    : NULL;
    if (!mistake && (!symbol->is_number || symbol->value < 0 || symbol->value > MOST_OFFSET ||
                     symbol->value % 2 != 0))
        mistake = "is not an even number from 0";
    if (!mistake && !plan_find(plan, LANGUAGE_ENGLISH, (uint32_t)symbol->value))
        load_warning(
            planning->load, planning->ini_path, entry->line,
            "[objects]: \"%.*s\" has no text in [text]: it is listed, and shown as a number",
            (int)entry->key.count, entry->key.at);
    if (mistake) {
        load_warning(planning->load, planning->ini_path, entry->line,
                     "[objects]: \"%.*s\" %s: it is ignored", (int)entry->key.count, entry->key.at,
                     mistake);
        return ERROR_SUCCESS;
    }
    if (!list_grow(&plan->objects, plan->object_count, &plan->object_capacity,
                   sizeof *plan->objects))
        return ERROR_NOT_ENOUGH_MEMORY;
    plan->objects[plan->object_count++] = (uint32_t)symbol->value;
    return ERROR_SUCCESS;
}

static LSTATUS read_objects(struct planning *planning)
{
    struct plan *plan = planning->plan;
    LSTATUS status = ERROR_SUCCESS;
    size_t kept = 0;
    for (size_t i = 0; !status && i < planning->ini->count; i++) {
        const struct ini_entry *entry = &planning->ini->entries[i];
        bool is_remark = *entry->key.at == '#' || *entry->key.at == '/';
        if (span_is(entry->section, "objects") && entry->key.count && !is_remark)
            status = read_object(planning, entry);
    }
    if (plan->object_count)
        qsort(plan->objects, plan->object_count, sizeof *plan->objects, compare_numbers);
    for (size_t i = 0; i < plan->object_count; i++)
        if (!kept || plan->objects[kept - 1] != plan->objects[i])
            plan->objects[kept++] = plan->objects[i];
    plan->object_count = kept;
    plan->has_objects = kept > 0;
    /* an unnamed number is used as it is */
    if (kept && plan->objects[kept - 1] > plan->last_offset)
        plan->last_offset = plan->objects[kept - 1];
    return status;
}

LSTATUS plan_complete(struct planning *planning)
{
    struct plan *plan = planning->plan;
    drop_repeated(planning);
    refuse_offsets(planning);
    warn_of_redefinitions(planning);
    warn_of_languages(planning);
    LSTATUS status = fill_english(plan);
    if (status)
        return status;
    pair_up(planning);
    for (size_t i = 0; i < plan->text_count; i++)
        if (plan->texts[i].offset % 2 == 0 && plan->texts[i].offset > plan->last_offset)
            plan->last_offset = plan->texts[i].offset;
    if (!plan->text_count && !planning->load->errors)
        load_error(planning->load, planning->ini_path, 0,
                   "[text] contains no text that can be loaded");
    return read_objects(planning);
}
