/* SPDX-License-Identifier: MIT */
/*
 * Input: bytes of an ini file. Its entries must be inside the text and be found by their names;
 * each text is converted from every code page to UTF-8.
 */
#include "target.h"

#include "loadperf/inner.h"

#include <stdlib.h>
#include <string.h>

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static void demand_inside(const struct buffer *text, struct text_span span)
{
    if (span.count)
        demand(span.at >= text->data && span.at + span.count <= text->data + text->len);
}

static void decode(const struct ini *ini, struct text_span value, unsigned page)
{
    BUFFER_AUTO text = {0};
    bool bad;
    LSTATUS status = ini->raw ? decode_text(value, page, &text, &bad) : ERROR_NOT_SUPPORTED;
    demand(status == ERROR_SUCCESS || status == ERROR_NOT_SUPPORTED);
    if (!status)
        demand(utf8_valid(text.data ? text.data : "", text.len));
}

static void judge(const struct ini *ini, const struct ini_entry *entry)
{
    static const unsigned pages[] = {1252, 1251, 932, 20866};
    struct text_span symbol;
    uint32_t language, part;
    demand(entry->line > 0);
    demand_inside(&ini->text, entry->section);
    demand_inside(&ini->text, entry->key);
    demand_inside(&ini->text, entry->value);
    if (plan_key(entry->key, &symbol, &language, &part))
        demand(symbol.count && part <= 1 && language <= 0xffff);
    for (size_t i = 0; i < COUNT(pages); i++)
        decode(ini, entry->value, pages[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ini ini;
    demand(ini_parse(data, size, &ini) == ERROR_SUCCESS);
    for (size_t i = 0; i < ini.count; i++)
        judge(&ini, &ini.entries[i]);
    const struct ini_entry *found = ini_find(&ini, "info", "drivername");
    if (found)
        demand(span_is(found->key, "DRIVERNAME") && span_is(found->section, "INFO"));
    ini_done(&ini);
    return 0;
}
