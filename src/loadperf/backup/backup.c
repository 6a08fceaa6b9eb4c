/* SPDX-License-Identifier: MIT */
/*
 * Writes a backup (docs/windows/registration.md#e5): the numbers and settings of all providers and
 * the texts of all installed languages, in the format of Windows. What that format lacks
 * (libraries, texts written by hand, the number of texts) is in additional values and sections,
 * which Windows ignores.
 */
#include "loadperf/store/stored.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct backup {
    struct load *load;
    struct buffer text;
    struct here_list here;
    const struct here *owner; /* the service that the last text belongs to */
    size_t texts;
    opl_load_restored *result;
    LSTATUS status;
};

/* ---- lines ---- */

static bool is_blank(char character)
{
    return character == ' ' || character == '\t';
}

/* True if the text needs quotation marks, because readers remove blanks, then one pair of marks. */
static bool needs_marks(const char *text)
{
    size_t count = strlen(text);
    char last = count ? text[count - 1] : '\0';
    return count && (is_blank(*text) || is_blank(last) ||
                     (count > 1 && (*text == '"' || *text == '\'') && last == *text));
}

static bool is_one_line(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' && *text != '\t')
            return false;
    return true;
}

/* Adds KEY=text. Control characters become blanks, because they would end the line or the file. */
static void add_text(struct buffer *out, const char *key, const char *text)
{
    const char *mark = needs_marks(text) ? "\"" : "";
    buffer_printf(out, "%s=%s", key, mark);
    for (; *text; text++)
        buffer_add_byte(out, (unsigned char)*text < ' ' && *text != '\t' ? ' ' : *text);
    buffer_printf(out, "%s\r\n", mark);
}

static void add_number(struct buffer *out, const char *key, uint32_t number)
{
    buffer_printf(out, "%s=%u\r\n", key, (unsigned)number);
}

/* ---- providers ---- */

static bool has_section_name(const char *service)
{
    size_t count = strlen(service);
    return !strchr(service, ']') && is_one_line(service) && !is_blank(*service) &&
           !is_blank(service[count ? count - 1 : 0]);
}

static bool has_index(const struct here *here, uint32_t index)
{
    return here && here->loaded && index >= here->number[FIRST_COUNTER] &&
           index <= here->number[LAST_HELP];
}

/* True if the text of the index belongs to the backup's layer. A text belongs to the layer of the
 * service that has the index; if no service has it, the index decides (USER_FIRST). */
static bool is_in_layer(struct backup *backup, uint32_t index)
{
    bool users = index >= USER_FIRST, found = has_index(backup->owner, index);
    for (size_t i = 0; !found && i < backup->here.count; i++)
        if ((found = has_index(&backup->here.list[i], index)))
            backup->owner = &backup->here.list[i];
    return (backup->load->layer == LAYER_USER) == (found ? backup->owner->users : users);
}

/* Adds the value with which an administrator disabled the provider. It is not saved for a provider
 * in quarantine, because then Perflib set it. */
static void add_disabled(struct backup *backup, const char *service)
{
    uint32_t disabled = 0;
    FREE_AUTO char *key = here_key(service), *quarantine = here_text(service, "Quarantine");
    if (key && !quarantine)
        registry_get_dword(key, VALUE_DISABLED, &disabled);
    if (disabled)
        add_number(&backup->text, VALUE_DISABLED, disabled);
}

/* Reports a service that cannot be saved, because First Counter, Last Counter, First Help or
 * Last Help is missing and the format requires all. */
static void leave_half(struct backup *backup, const struct here *here)
{
    bool any = false;
    for (size_t i = 0; i < NUMBERS; i++)
        any |= here->has[i];
    if (!any)
        return;
    load_warning(
        backup->load, NULL, 0,
        "%s: not saved, because it lacks First Counter, Last Counter, First Help or Last Help; "
        "lodctr doctor repairs that",
        here->name);
    backup->result->left++;
    if (!backup->load->options->dry_run)
        load_lacking_events(here->name, here->has);
}

static void add_provider(struct backup *backup, const struct here *here)
{
    struct buffer *out = &backup->text;
    if (here->users != (backup->load->layer == LAYER_USER))
        return;
    if (!here->loaded) {
        leave_half(backup, here);
        return;
    }
    if (!has_section_name(here->name)) {
        load_warning(
            backup->load, NULL, 0,
            "%s is not saved: the format of backups cannot store a service with such a name",
            here->name);
        backup->result->left++;
        return;
    }
    buffer_printf(out, "[" SECTION_PROVIDER "%s]\r\n", here->name);
    add_number(out, "First Counter", here->number[FIRST_COUNTER]);
    add_number(out, "First Help", here->number[FIRST_HELP]);
    add_number(out, "Last Counter", here->number[LAST_COUNTER]);
    add_number(out, "Last Help", here->number[LAST_HELP]);
    add_disabled(backup, here->name);
    for (size_t i = 0; i < TEXTS; i++) {
        FREE_AUTO char *text = here_text(here->name, text_names[i]);
        if (text && is_one_line(text))
            add_text(out, text_names[i], text);
    }
    backup->result->providers++;
}

static LSTATUS add_providers(struct backup *backup)
{
    LSTATUS status = here_read(&backup->here);
    for (size_t i = 0; !status && i < backup->here.count; i++)
        add_provider(backup, &backup->here.list[i]);
    return status;
}

/* ---- texts ---- */

static void add_texts(struct backup *backup, const char *section, const char *id,
                      const struct stored_texts *texts)
{
    bool begun = false;
    for (size_t i = 0; i < texts->count; i++) {
        const struct stored_text *text = &texts->list[i];
        char key[16];
        if (!is_in_layer(backup, text->index))
            continue;
        if (!begun)
            buffer_printf(&backup->text, "[%s%s]\r\n", section, id);
        begun = true;
        snprintf(key, sizeof key, "%u", (unsigned)text->index);
        add_text(&backup->text, key, text->text);
        backup->texts++;
        if (!is_one_line(text->text))
            load_warning(backup->load, NULL, 0,
                         "text %u of language %s has line breaks; they are saved as spaces",
                         text->index, id);
    }
}

static bool add_language(void *self, const char *id)
{
    struct backup *backup = self;
    struct stored_texts texts = {0}, hand = {0};
    uint32_t language;
    if (!text_hex(id, strlen(id), &language))
        return true;
    LSTATUS status = stored_texts_of_language(language, &texts);
    if (!status && backup->load->layer == LAYER_MACHINE)
        status = stored_texts_by_hand(language, &hand);
    if (!status && (!stored_texts_sort(&texts) || !stored_texts_sort(&hand)))
        status = ERROR_NOT_ENOUGH_MEMORY;
    if (!status) {
        add_texts(backup, SECTION_TEXTS, id, &texts);
        add_texts(backup, SECTION_HAND, id, &hand);
        backup->result->languages++;
        backup->result->texts += texts.count;
    }
    stored_texts_done(&texts);
    stored_texts_done(&hand);
    backup->status = status;
    return !status;
}

/* ---- the file ---- */

/* Adds the user's comment; each of its lines becomes a comment of the file. */
static void add_comment(struct buffer *out, const char *comment)
{
    while (comment && *comment) {
        size_t count = strcspn(comment, "\r\n");
        buffer_printf(out, "; %.*s\r\n", (int)count, comment);
        comment += count;
        comment += strspn(comment, "\r\n");
    }
}

static LSTATUS compose(struct backup *backup, const char *comment)
{
    uint32_t counter = 0, help = 0;
    LSTATUS status = names_last(&counter, &help);
    add_comment(&backup->text, comment);
    buffer_add_text(&backup->text, "[" SECTION_OURS "]\r\nVersion=1\r\n[" SECTION_PERFLIB "]\r\n");
    add_number(&backup->text, "Base Index", NAMES_BASE_INDEX);
    add_number(&backup->text, "Last Counter", counter);
    add_number(&backup->text, "Last Help", help);
    status = status ? status : add_providers(backup);
    status = status ? status : names_each_language(add_language, backup);
    status = status ? status : backup->status;
    buffer_add_text(&backup->text, "[" SECTION_OURS "]\r\n");
    add_number(&backup->text, VALUE_TEXTS, (uint32_t)backup->texts);
    return status ? status : buffer_status(&backup->text);
}

static LSTATUS write_file(struct backup *backup, const char *path)
{
    static const char mark[] = {'\xff', '\xfe'};
    BUFFER_AUTO wide = {0};
    buffer_add(&wide, mark, sizeof mark);
    if (!utf8_add_as_16(&wide, backup->text.data, backup->text.len))
        return ERROR_NOT_ENOUGH_MEMORY;
    if (backup->load->options->dry_run)
        return ERROR_SUCCESS;
    LSTATUS status = file_replace(AT_FDCWD, path, 0644, wide.data, wide.len, NULL, NULL);
    if (status)
        load_error(backup->load, path, 0, "cannot be written: %s", status_text(status));
    return status;
}

DWORD opl_load_backup(const char *path, const char *comment, const opl_load_options *options,
                      opl_load_restored *ret)
{
    struct load load;
    opl_load_restored result = {0};
    struct backup backup = {.load = &load, .result = &result};
    load_init(&load, options);
    if (!path || !*path)
        return ERROR_INVALID_PARAMETER;
    LSTATUS status = compose(&backup, comment);
    status = status ? status : write_file(&backup, path);
    buffer_done(&backup.text);
    here_done(&backup.here);
    if (!status && ret)
        *ret = result;
    return load_end(&load, status);
}
