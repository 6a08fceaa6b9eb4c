/* SPDX-License-Identifier: MIT */
/* Input: bytes of a symbol file. The symbols must be inside the text, in order, and be found by
 * their names. */
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
    demand(span.count && span.at >= text->data && span.at + span.count <= text->data + text->len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct symbols symbols;
    demand(symbols_parse(data, size, &symbols) == ERROR_SUCCESS);
    for (size_t i = 0; i < symbols.count; i++) {
        const struct symbol *symbol = &symbols.list[i];
        demand_inside(&symbols.text, symbol->name);
        demand_inside(&symbols.text, symbol->text);
        demand(symbol->line > 0);
        const struct symbol *found = symbols_find(&symbols, symbol->name);
        demand(found && found->name.count == symbol->name.count &&
               !memcmp(found->name.at, symbol->name.at, symbol->name.count));
        if (i)
            demand(span_compare(symbols.list[i - 1].name, symbol->name) <= 0);
    }
    symbols_done(&symbols);
    return 0;
}
