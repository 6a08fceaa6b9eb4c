/* SPDX-License-Identifier: MIT */
/* Input: bytes read as CSV or TSV, after a valid head if they have none, and as a number. */
#include "capture.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char head[] = "\"(PDH-CSV 4.0)\",\"\\\\M\\O\\c\"\r\n";
    double number;
    BUFFER_AUTO text = {0};
    number_parse((const char *)data, size, &number);
    if (!capture_try(data, size) && buffer_add_text(&text, head) && buffer_add(&text, data, size))
        capture_try((const uint8_t *)text.data, text.len);
    return 0;
}
