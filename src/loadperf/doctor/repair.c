/* SPDX-License-Identifier: MIT */
/* Damaged lines of registry files become comments, as they do when manual.reg is written: their
 * text can still be read, and they are not reported again. The rest of the file is not changed. */
#include "loadperf/doctor/doctor.h"

#include <openperflib/regfile.h>
#include <winreg.h>

#include <stdlib.h>
#include <string.h>

#define REGISTRY_HEADER "Windows Registry Editor Version 5.00\n"
enum { MOST_PASSES = 8, MOST_REMARK = 400 };

struct damage {
    unsigned *lines; /* ascending */
    size_t count, capacity;
    bool failed;
};

static bool take_damage(void *self, const opl_reg_entry *entry)
{
    struct damage *damage = self;
    if (entry->kind != OPL_REG_DAMAGED)
        return true;
    if (!list_grow(&damage->lines, damage->count, &damage->capacity, sizeof *damage->lines)) {
        damage->failed = true;
        return false;
    }
    damage->lines[damage->count++] = entry->line;
    return true;
}

/* Adds the line as a comment, without control characters and invalid UTF-8. */
static void add_remark(struct buffer *out, const char *line, size_t count)
{
    bool text = utf8_valid(line, count);
    buffer_add_text(out, "; damaged: ");
    for (size_t i = 0; i < count && i < MOST_REMARK; i++) {
        unsigned char byte = (unsigned char)line[i];
        bool cut = byte >= 0x80 && count > MOST_REMARK; /* cutting the line may have split a
                                                         * character */
        buffer_add_byte(
            out, byte < ' ' || byte == 0x7f || (byte >= 0x80 && (!text || cut)) ? '?' : (char)byte);
    }
    buffer_add_byte(out, '\n');
}

/* Adds the missing header before a damaged first line. If that line does not begin like a key, a
 * value or a comment, it becomes a comment. */
static void add_header(struct buffer *out, const char *line, size_t count)
{
    buffer_add_text(out, REGISTRY_HEADER);
    if (count && strchr("[\"@;", *line)) {
        buffer_add(out, line, count);
        buffer_add_byte(out, '\n');
    } else {
        add_remark(out, line, count);
    }
}

static void rewrite(const struct buffer *text, const struct damage *damage, struct buffer *out)
{
    const char *at = text->data, *end = text->data + text->len;
    size_t next = 0;
    for (unsigned number = 1; at < end; number++) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        size_t count = line_end ? (size_t)(line_end - at) : (size_t)(end - at);
        bool damaged = next < damage->count && damage->lines[next] == number;
        while (next < damage->count && damage->lines[next] <= number)
            next++;
        if (damaged && number == 1)
            add_header(out, at, count);
        else if (damaged)
            add_remark(out, at, count);
        else
            buffer_add(out, at, count);
        if (!damaged && line_end)
            buffer_add_byte(out, '\n');
        at = line_end ? line_end + 1 : end;
    }
}

/* Turns the damaged lines into comments, in several passes, because a damaged line may have
 * continued on the next one. *ret_clean: no damage is left after MOST_PASSES passes at most. */
static LSTATUS clean(struct buffer *text, bool *ret_changed, bool *ret_clean)
{
    LSTATUS status = ERROR_SUCCESS;
    *ret_changed = *ret_clean = false;
    for (int pass = 0; !status && !*ret_clean && pass < MOST_PASSES; pass++) {
        struct damage damage = {0};
        struct buffer fresh = {0};
        status = opl_reg_read(text->data ? text->data : "", text->len, 0, take_damage, &damage);
        status = damage.failed ? ERROR_NOT_ENOUGH_MEMORY : status;
        *ret_clean = !status && !damage.count;
        if (!status && damage.count) {
            rewrite(text, &damage, &fresh);
            status = buffer_status(&fresh);
            *ret_changed = true;
            buffer_done(text);
            *text = fresh;
        }
        free(damage.lines);
    }
    return status;
}

static bool is_utf16(const struct buffer *text)
{
    return text->len >= 2 && memchr(text->data, 0, text->len) &&
           (!memcmp(text->data, "\xff\xfe", 2) || !memcmp(text->data, "\xfe\xff", 2));
}

bool repair_is_possible(const struct buffer *text)
{
    return !is_utf16(text);
}

/* Repairs the present content of the file, which may differ from what scan_files saw. */
static LSTATUS repair_file(struct doctor *doctor, const char *name)
{
    struct layer_change change;
    BUFFER_AUTO text = {0};
    bool changed = false, is_clean = false;
    LSTATUS status = change_begin(&change, doctor->load, "manual");
    if (status)
        return status;
    status = change_read(&change, name, &text);
    if (!status && !is_utf16(&text))
        status = clean(&text, &changed, &is_clean);
    if (!status && changed && is_clean)
        status = change_commit(&change, name, &text, NULL);
    change_end(&change);
    return status;
}

static void report_corrupt(void)
{
    uint32_t counter = 0, help = 0;
    names_last(&counter, &help);
    event_log(SOURCE, EVENT_CORRUPT, "",
              EVENT_FIELDS(EVENT_NUMBER("BaseIndex", NAMES_BASE_INDEX),
                           EVENT_NUMBER("LastCounter", counter), EVENT_NUMBER("LastHelp", help)),
              "its damaged lines are comments now");
}

LSTATUS repair_files(struct doctor *doctor)
{
    const struct buffer *names = &doctor->torn;
    LSTATUS status = ERROR_SUCCESS;
    if (names->len && !doctor->load->options->dry_run)
        report_corrupt();
    for (size_t at = 0; !status && at < names->len; at += strlen(names->data + at) + 1) {
        if (!doctor->load->options->dry_run)
            status = repair_file(doctor, names->data + at);
        doctor->result->restored++;
    }
    return status;
}

/* ---- texts that were written by hand ---- */

/* Removes texts by hand for which a provider has a text of the same index and language, in its ini
 * file or, if that is missing, in its registration: the provider's text counts. A text by hand in a
 * language that the provider lacks is not a mistake; it stays. */

struct judging {
    struct doctor *doctor;
    uint32_t language;
    struct stored_texts hand, left; /* the existing texts by hand, and those that stay */
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

/* Sets *ret to a copy of the provider's own text; NULL: the provider has no text for that index. */
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
        doctor_report(judging->doctor, true, &finding,
                      "text %u of language %03X was written by hand as \"%.120s\"; the correct "
                      "text is \"%.120s\"",
                      (unsigned)text->index, (unsigned)text->language & 0xffff, text->text, own);
    else
        doctor_report(judging->doctor, true, &finding,
                      "text %u of language %03X was written by hand as \"%.120s\", but the "
                      "provider has no such text; it is removed",
                      (unsigned)text->index, (unsigned)text->language & 0xffff, text->text);
}

/* Decides whether a text by hand stays. *ret_stays: the text stays, because it belongs to no
 * provider, equals the provider's text, or adds a translation or explanation that the provider
 * lacks. */
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
    /* the provider has no such text: the text by hand stays if the provider has an English name for
     * the index; or if there is no ini file, because then it is unknown whether the provider uses
     * the index */
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

/* Collects in judging->left the texts of the language that stay. */
static LSTATUS judge_texts(struct judging *judging)
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
    return status;
}

static LSTATUS judge_language(struct judging *judging)
{
    LSTATUS status = judge_texts(judging);
    if (status || judging->left.count == judging->hand.count)
        return status;
    judging->doctor->result->restored++;
    if (judging->doctor->load->options->dry_run)
        return ERROR_SUCCESS;
    for (uint32_t part = 0; !status && part <= 1; part++)
        if ((status = store(judging, part)))
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

/* Does nothing for a layer other than the machine's, because only the machine's layer has texts
 * that were written by hand. */
LSTATUS repair_manual(struct doctor *doctor)
{
    struct judging judging = {.doctor = doctor};
    if (doctor->load->layer != LAYER_MACHINE)
        return ERROR_SUCCESS;
    LSTATUS status = names_each_language(take_language, &judging);
    return status ? status : judging.status;
}
