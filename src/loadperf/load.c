/* SPDX-License-Identifier: MIT */
/* Used by all parts of loadperf: messages, events, parts of texts. */
#include "loadperf/inner.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool load_believes(const char *path)
{
    char why[TRUST_TEXT];
    FREE_AUTO char *real = realpath(path, NULL);
    return real && !trust_check(real, why);
}

LSTATUS load_file(const char *path, struct buffer *ret)
{
    LSTATUS status = file_read_most(AT_FDCWD, path, MOST_FILE_BYTES, ret);
    return !status && !ret->len && file_kind(path) ? ERROR_ACCESS_DENIED : status;
}

const char *load_file_reason(const char *path, LSTATUS status)
{
    const char *kind = status != ERROR_FILE_TOO_LARGE ? file_kind(path) : NULL;
    return kind ? kind : status_text(status);
}

void load_init(struct load *load, const opl_load_options *options)
{
    static const opl_load_options none = {0};
    *load = (struct load){.options = options ? options : &none};
    load->layer = load->options->user ? LAYER_USER : LAYER_MACHINE;
}

static void remark(struct load *load, bool error, const char *file, unsigned line,
                   const char *format, va_list list)
{
    char text[1024];
    load->errors += error;
    if (!load->options->remark)
        return;
    vsnprintf(text, sizeof text, format, list);
    opl_load_remark callbacks = {.error = error, .file = file, .line = line, .text = text};
    load->options->remark(load->options->self, &callbacks);
}

void load_error(struct load *load, const char *file, unsigned line, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    remark(load, true, file, line, format, list);
    va_end(list);
}

void load_warning(struct load *load, const char *file, unsigned line, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    remark(load, load->options->strict, file, line, format, list);
    va_end(list);
}

void load_note(struct load *load, const char *file, unsigned line, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    remark(load, false, file, line, format, list);
    va_end(list);
}

void load_event(unsigned id, const char *service, LSTATUS status)
{
    event_log(SOURCE, id, service, EVENT_FIELDS(EVENT_STATUS(status)), NULL);
}

void load_language_event(unsigned id, uint32_t language, LSTATUS status)
{
    char text[8];
    snprintf(text, sizeof text, "%03X", (unsigned)language & 0xffff);
    event_log(SOURCE, id, NULL, EVENT_FIELDS(EVENT_TEXT("Language", text), EVENT_STATUS(status)),
              NULL);
}

void load_lacking_events(const char *service, const bool *has)
{
    if (!has[FIRST_COUNTER])
        load_event(EVENT_NO_FIRST_COUNTER, service, ERROR_FILE_NOT_FOUND);
    if (!has[FIRST_HELP])
        load_event(EVENT_NO_FIRST_HELP, service, ERROR_FILE_NOT_FOUND);
}

DWORD load_end(const struct load *load, LSTATUS status)
{
    if (status == ERROR_NOT_ENOUGH_MEMORY && !load->options->dry_run)
        event_log(SOURCE, EVENT_NO_MEMORY, NULL, NULL, NULL);
    return (DWORD)status;
}

/* ---- parts of texts ---- */

static bool is_blank(char character)
{
    return character == ' ' || character == '\t';
}

struct text_span span_trim(struct text_span text)
{
    while (text.count && is_blank(*text.at)) {
        text.at++;
        text.count--;
    }
    while (text.count && is_blank(text.at[text.count - 1]))
        text.count--;
    return text;
}

int span_compare(struct text_span left, struct text_span right)
{
    return text_compare_fold_n(left.at, left.count, right.at, right.count);
}

bool span_is(struct text_span span, const char *text)
{
    return span_compare(span, (struct text_span){text, strlen(text)}) == 0;
}

char *span_copy(struct text_span span)
{
    return strndup(span.count ? span.at : "", span.count);
}
