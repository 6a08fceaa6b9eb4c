/* SPDX-License-Identifier: MIT */
/* Live data: which machines, which objects, which numbers. */
#include "pdh/capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one object ---- */

/* Numbers as a query for exactly these objects. */
static void query_of(const uint32_t *numbers, size_t count, char *ret, size_t room)
{
    size_t at = 0;
    for (size_t i = 0; i < count && at < room; i++)
        at += (size_t)snprintf(ret + at, room - at, "%s%u", i ? " " : "", (unsigned)numbers[i]);
}

static struct offer *offer_on_shelf(struct machine *machine, enum offer_age age, uint32_t number)
{
    struct offer *offer = NULL;
    if (age == OFFER_KEPT)
        return machine_offer(machine, SHELF_KEPT, number);
    if (age == OFFER_RECENT)
        offer = machine_offer(machine, SHELF_RECENT, number);
    if (offer && clock_ticks() - offer->inside->taken_ticks > CLOCK_TICKS_PER_SECOND) {
        offer_release(offer);
        offer = NULL;
    }
    return offer;
}

static PDH_STATUS ask_for_offer(struct machine *machine, const uint32_t *numbers, size_t count,
                                enum offer_age age, struct offer **ret)
{
    char query[MOST_NUMBERS * 11 + 1];
    struct picture picture = {0};
    const struct picture_object *object = NULL;
    query_of(numbers, count, query, sizeof query);
    PDH_STATUS status = machine_ask(machine, query, &picture);
    for (size_t i = 0; !status && !object && i < count; i++)
        object = picture_object(&picture, numbers[i]);
    if (!status && !object)
        status = (PDH_STATUS)PDH_CSTATUS_NO_OBJECT;
    if (!status) {
        *ret = offer_of_object(machine, &picture, object);
        status = *ret ? 0 : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    }
    if (!status && age != OFFER_KEPT)
        machine_put_offer(machine, SHELF_RECENT, *ret);
    if (!status && (age == OFFER_KEPT || age == OFFER_RENEWED))
        machine_put_offer(machine, SHELF_KEPT, *ret);
    picture_done(&picture);
    return status;
}

static PDH_STATUS find_offer(struct machine *machine, const char *name, enum title_stage stage,
                             enum offer_age age, struct offer **ret)
{
    uint32_t numbers[MOST_NUMBERS];
    size_t count = machine_numbers(machine, stage, name, numbers);
    for (size_t i = 0; i < count; i++)
        if ((*ret = offer_on_shelf(machine, age, numbers[i])))
            return 0;
    if (!count)
        return (PDH_STATUS)PDH_CSTATUS_NO_OBJECT;
    return ask_for_offer(machine, numbers, count, age, ret);
}

static PDH_STATUS find_offer_at_any_stage(struct machine *machine, const char *name, bool english,
                                          enum offer_age age, struct offer **ret)
{
    PDH_STATUS status = (PDH_STATUS)PDH_CSTATUS_NO_OBJECT;
    enum title_stage first = english ? STAGE_ENGLISH : STAGE_USER;
    enum title_stage last = english ? STAGE_NUMBER : STAGE_OTHERS;
    for (enum title_stage stage = first; status && stage <= last; stage++)
        status = find_offer(machine, name, stage, age, ret);
    return status;
}

/* An object that is not found may have been registered since its machine's titles were read. */
static PDH_STATUS live_offer(const char *machine_name, const char *object, bool english,
                             enum offer_age age, struct offer **ret)
{
    struct machine *machine;
    PDH_STATUS status = machine_find(machine_name, &machine);
    if (status)
        return status;
    status = find_offer_at_any_stage(machine, object, english, age, ret);
    if (status && machine_renew_titles(machine))
        status = find_offer_at_any_stage(machine, object, english, age, ret);
    return status;
}

PDH_STATUS source_offer(struct pdh_from from, const char *machine, const char *object, bool english,
                        enum offer_age age, struct offer **ret)
{
    PDH_STATUS status = capture_resolve_from(&from);
    if (status)
        return status;
    return from.file || from.log ? capture_offer(from, machine, object, ret)
                                 : live_offer(machine, object, english, age, ret);
}

/* ---- all objects ---- */

static bool is_listed(const struct offers *offers, uint32_t number)
{
    for (size_t i = 0; i < offers->count; i++)
        if (offers->items[i]->index == number)
            return true;
    return false;
}

static PDH_STATUS add_offers(struct machine *machine, const char *query, struct offers *ret)
{
    struct picture picture = {0};
    PDH_STATUS status = machine_ask(machine, query, &picture);
    struct offer **items = NULL;
    if (!status) {
        items = reallocarray(ret->items, ret->count + picture.object_count + 1, sizeof *items);
        status = items ? 0 : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    }
    if (items)
        ret->items = items;
    if (!status && !ret->default_object)
        ret->default_object = (uint32_t)picture.block.header.DefaultObject;
    for (uint32_t i = 0; !status && i < picture.object_count; i++) {
        const struct picture_object *object = &picture.objects[i];
        if (is_listed(ret, object->view.type.ObjectNameTitleIndex))
            continue;
        struct offer *offer = offer_of_object(machine, &picture, object);
        if (!offer)
            status = (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
        else {
            offer->inside->listed = true;
            offer->costly = text_equal_fold(query, "Costly");
            ret->items[ret->count++] = offer;
        }
    }
    picture_done(&picture);
    return status;
}

PDH_STATUS source_offers(struct pdh_from from, const char *machine_name, enum offer_age age,
                         struct offers *ret)
{
    struct machine *machine;
    PDH_STATUS status = capture_resolve_from(&from);
    if (!status && (from.file || from.log))
        return capture_offers(from, machine_name, ret);
    if (!status)
        status = machine_find(machine_name, &machine);
    if (status || (age == OFFER_KEPT && machine_list_offers(machine, ret)))
        return status;
    machine_renew_titles(machine);
    status = add_offers(machine, "Global", ret);
    PDH_STATUS costly = status ? status : add_offers(machine, "Costly", ret);
    if (costly != (PDH_STATUS)PDH_NO_DATA) /* a machine may have none: stock Samba returns 2 */
        status = costly;
    if (!status)
        machine_put_list(machine, ret);
    return status;
}

/* ---- machines ---- */

PDH_STATUS source_machine(struct pdh_from from, const char *machine_name, struct buffer *ret)
{
    struct machine *machine;
    PDH_STATUS status = capture_resolve_from(&from);
    if (!status && (from.file || from.log))
        return capture_label(from, machine_name, ret);
    if (!status)
        status = machine_find(machine_name, &machine);
    if (!status)
        buffer_add_text(ret, machine_label(machine));
    return status;
}

PDH_STATUS source_machines(struct pdh_from from, struct buffer *ret)
{
    PDH_STATUS status = capture_resolve_from(&from);
    if (!status && (from.file || from.log))
        return capture_machines(from, ret);
    if (!status)
        machine_list(ret);
    return status;
}

/* ---- titles ---- */

PDH_STATUS source_title(const char *machine_name, uint32_t index, struct buffer *ret)
{
    struct machine *machine;
    PDH_STATUS status = machine_find(machine_name, &machine);
    if (status)
        return status;
    if (machine_title(machine, index, ret) || machine_explain(machine, index, ret) ||
        (machine_renew_titles(machine) &&
         (machine_title(machine, index, ret) || machine_explain(machine, index, ret))))
        return 0;
    return (PDH_STATUS)PDH_STRING_NOT_FOUND;
}

static bool first_number(struct machine *machine, const char *title, uint32_t *ret)
{
    static const enum title_stage stages[] = {STAGE_USER, STAGE_ENGLISH, STAGE_OTHERS};
    uint32_t numbers[MOST_NUMBERS];
    for (size_t i = 0; i < COUNT(stages); i++)
        if (machine_numbers(machine, stages[i], title, numbers)) {
            *ret = numbers[0];
            return true;
        }
    return false;
}

PDH_STATUS source_index(const char *machine_name, const char *title, uint32_t *ret)
{
    struct machine *machine;
    PDH_STATUS status = machine_find(machine_name, &machine);
    if (status)
        return status;
    if (first_number(machine, title, ret) ||
        (machine_renew_titles(machine) && first_number(machine, title, ret)))
        return 0;
    return (PDH_STATUS)PDH_STRING_NOT_FOUND;
}

PDH_STATUS source_explain(const char *machine_name, uint32_t help, struct buffer *ret)
{
    struct machine *machine;
    PDH_STATUS status = machine_find(machine_name, &machine);
    if (!status)
        machine_explain(machine, help, ret);
    return status;
}
