/* SPDX-License-Identifier: MIT */
/*
 * A provider library with Windows' ABI that does not include our headers: three functions, and
 * structures that are written here as Windows has them. Such a library runs without being built
 * again.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { OBJECT = 30000, COUNTER = 30002 };
struct answer {
    struct {
        uint32_t total, definition, header, name, name_text, help, help_text, level, counters;
        int32_t default_counter, instances;
        uint32_t code_page;
        int64_t time, frequency;
    } object;
    struct {
        uint32_t length, name, name_text, help, help_text;
        int32_t scale;
        uint32_t level, type, size, offset;
    } counter;
    struct {
        uint32_t length, value;
    } block;
};

#define EXPORT __attribute__((visibility("default")))
EXPORT uint32_t Open(void *devices);
EXPORT uint32_t Collect(const void *query, void **data, uint32_t *bytes, uint32_t *types);
EXPORT uint32_t Close(void);

uint32_t Open(void *devices)
{
    return 0;
}

uint32_t Collect(const void *query, void **data, uint32_t *bytes, uint32_t *types)
{
    const struct answer answer = {
        .object = {sizeof answer,         offsetof(struct answer, block), sizeof answer.object, OBJECT,
                   .help = OBJECT + 1, .level = 100, .counters = 1, .instances = -1},
        .counter = {sizeof answer.counter, COUNTER,                 .help = COUNTER + 1, .level = 100,
                   .type = 0x00010000, .size = 4, .offset = 4},
        .block = {sizeof answer.block,         1993                 },
    };
    uint32_t capacity = *bytes;
    *bytes = *types = 0;
    if (capacity < sizeof answer)
        return 234;
    memcpy(*data, &answer, sizeof answer);
    *data = (char *)*data + sizeof answer;
    *bytes = sizeof answer;
    *types = 1;
    return 0;
}

uint32_t Close(void)
{
    return 0;
}
