/* SPDX-License-Identifier: MIT */
/*
 * Damaged lines of registry files become comments, as whenever manual.reg is written: their text
 * can still be read, and they are not reported again. The rest of the file stays.
 */
#include "loadperf/doctor.h"

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

/* A comment contains no control characters, and only valid UTF-8. */
static void add_remark(struct buffer *out, const char *line, size_t count)
{
    bool text = utf8_valid(line, count);
    buffer_add_text(out, "; damaged: ");
    for (size_t i = 0; i < count && i < MOST_REMARK; i++) {
        unsigned char byte = (unsigned char)line[i];
        bool cut = byte >= 0x80 && count > MOST_REMARK; /* not in the middle of a character */
        buffer_add_byte(
            out, byte < ' ' || byte == 0x7f || (byte >= 0x80 && (!text || cut)) ? '?' : (char)byte);
    }
    buffer_add_byte(out, '\n');
}

/* The reader accepts a first line that is not a header, if it looks like anything else. */
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

/* *ret_clean: no damage is left. Lines that continued in the next one need several passes. */
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

/* Works on the current content of the file, not on what the scan saw. */
static LSTATUS mend_file(struct doctor *doctor, const char *name)
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
            status = mend_file(doctor, names->data + at);
        doctor->result->restored++;
    }
    return status;
}
