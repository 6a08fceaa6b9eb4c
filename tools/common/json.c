/* SPDX-License-Identifier: MIT */
/* Writes JSON with commas, indentation and escapes; invalid UTF-8 is replaced. */
#include "json.h"

#include "../view/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static void json_lead(struct json *json, const char *key)
{
    if (json->flat)
        fputs(json->filled ? ", " : "", json->out);
    else if (json->depth)
        fprintf(json->out, "%s\n%*s", json->filled ? "," : "", json->depth * 2, "");
    if (key)
        fprintf(json->out, "\"%s\": ", key);
    json->filled = true;
}

void json_open(struct json *json, const char *key, char bracket)
{
    json_lead(json, key);
    fputc(bracket, json->out);
    json->depth++;
    json->filled = false;
}

void json_close(struct json *json, char bracket)
{
    json->depth--;
    if (json->filled && !json->flat)
        fprintf(json->out, "\n%*s", json->depth * 2, "");
    fputc(bracket, json->out);
    json->filled = true;
}

void json_open_flat(struct json *json, const char *key)
{
    json_open(json, key, '{');
    json->flat = true;
}

void json_close_flat(struct json *json)
{
    json_close(json, '}');
    json->flat = false;
}

void json_integer(struct json *json, const char *key, int64_t value)
{
    json_lead(json, key);
    fprintf(json->out, "%" PRId64, value);
}

void json_bool(struct json *json, const char *key, bool value)
{
    json_lead(json, key);
    fputs(value ? "true" : "false", json->out);
}

/* 2.36 is "2.36": 17 digits are printed only if the number needs them. */
void json_double(struct json *json, const char *key, double value)
{
    char text[32] = "null";
    json_lead(json, key);
    if (isfinite(value) && snprintf(text, sizeof text, "%.15g", value) > 0 &&
        strtod(text, NULL) != value)
        snprintf(text, sizeof text, "%.17g", value);
    fputs(text, json->out);
}

/* Returns the length of the UTF-8 sequence at `text`; 0: invalid. Surrogates are accepted. */
static size_t utf8_length(const unsigned char *text)
{
    size_t count = *text < 0x80 ? 1 : *text < 0xc2 ? 0 : *text < 0xe0 ? 2 : *text < 0xf0 ? 3 : 4;
    if (*text > 0xf4)
        return 0;
    for (size_t i = 1; i < count; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    if ((*text == 0xe0 && text[1] < 0xa0) || (*text == 0xf0 && text[1] < 0x90) ||
        (*text == 0xf4 && text[1] > 0x8f))
        return 0;
    return count;
}

/* Returns the code of a character of at most three bytes; 0xffff: the character has more. */
static wchar_t code_of(const unsigned char *text, size_t count)
{
    return count == 1   ? text[0]
           : count == 2 ? (text[0] & 0x1f) << 6 | (text[1] & 0x3f)
           : count == 3 ? (text[0] & 0xf) << 12 | (text[1] & 0x3f) << 6 | (text[2] & 0x3f)
                        : 0xffff;
}

static size_t json_character(FILE *out, const unsigned char *text)
{
    size_t count = utf8_length(text);
    if (count == 0)
        fputs("\\ufffd", out);
    else if (*text == 0xed && text[1] >= 0xa0)
        fprintf(out, "\\ud%x%02x", 8 + ((text[1] & 0x1c) >> 2),
                (text[1] & 3) << 6 | (text[2] & 0x3f));
    else if (*text == '"' || *text == '\\')
        fprintf(out, "\\%c", *text);
    else if (text_steers(code_of(text, count)))
        fprintf(out, "\\u%04x", (unsigned)code_of(text, count));
    else
        fwrite(text, 1, count, out);
    return count ? count : 1;
}

void json_string(struct json *json, const char *key, const char *value)
{
    json_lead(json, key);
    if (!value) {
        fputs("null", json->out);
        return;
    }
    fputc('"', json->out);
    for (const unsigned char *at = (const unsigned char *)value; *at;)
        at += json_character(json->out, at);
    fputc('"', json->out);
}
