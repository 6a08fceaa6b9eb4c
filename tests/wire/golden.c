/* SPDX-License-Identifier: MIT */
/* Reads golden blocks (expected answers) from files. In .hex files, everything after '#' is a
 * comment. */
#include "golden.h"

#include <stdio.h>
#include <stdlib.h>

const char *const golden_names[] = {
    "hello.hex",
    "parents.hex",
    "codepage1251.hex",
    "codepage65001.hex",
    "codepage_unknown.hex",
    "unique_id.hex",
    "name_lengths.hex",
    "no_instances.hex",
    "metadata.hex",
    "minus_four.hex",
    "big_endian.hex",
    "types.hex",
    "several.hex",
    "empty.hex",
    "truncated.hex",
    "longer.hex",
    "unaligned.hex",
    "windows/s00-0-LogicalDisk.perf",
    "windows/s00-1-TCPv4.perf",
    "windows/s00-2-Memory.perf",
    "windows/s00-3-Network_Interface.perf",
    "windows/s00-4-PhysicalDisk.perf",
    "windows/s00-5-Process.perf",
    "windows/s00-6-Processor.perf",
    "windows/s00-7-System.perf",
    NULL,
};

enum { LARGEST = 65536 };

static FILE *open_golden(const char *name)
{
    char path[4096];
    const char *folder = getenv("GOLDEN");
    snprintf(path, sizeof(path), "%s/%s", folder ? folder : "tests/golden", name);
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("cannot open %s", path);
    return file;
}

static size_t read_hex_line(char *line, unsigned char *out)
{
    size_t count = 0;
    char *end = line;
    line[strcspn(line, "#\n")] = '\0';
    for (char *at = line;; at = end) {
        unsigned long byte = strtoul(at, &end, 16);
        if (end == at)
            break;
        assert_true(byte <= 0xFF);
        out[count++] = (unsigned char)byte;
    }
    assert_int_equal(end[strspn(end, " ")], '\0');
    return count;
}

static size_t read_hex(FILE *file, unsigned char *out)
{
    char line[256];
    size_t size = 0;
    while (fgets(line, sizeof(line), file)) {
        assert_true(size + sizeof(line) < LARGEST);
        size += read_hex_line(line, out + size);
    }
    return size;
}

static void load(const char *name, size_t misalignment, struct golden *ret)
{
    unsigned char *bytes = malloc(LARGEST);
    FILE *file = open_golden(name);
    ret->size = strstr(name, ".hex") ? read_hex(file, bytes) : fread(bytes, 1, LARGEST, file);
    fclose(file);
    ret->memory = malloc(ret->size + misalignment);
    ret->data = (unsigned char *)ret->memory + misalignment;
    memcpy(ret->data, bytes, ret->size);
    free(bytes);
}

void golden_load(const char *name, struct golden *ret)
{
    load(name, 0, ret);
}

void golden_load_odd(const char *name, struct golden *ret)
{
    load(name, 1, ret);
}

void golden_done(struct golden *golden)
{
    free(golden->memory);
}

void golden_open(const char *name, struct golden *ret, opl_block *block)
{
    golden_load(name, ret);
    assert_int_equal(opl_block_init(block, ret->data, ret->size), OPL_BLOCK_GOOD);
}

static bool is_big_endian(const struct golden *golden)
{
    return golden->data[1] == 'P';
}

uint32_t golden_get(const struct golden *golden, size_t offset)
{
    const unsigned char *at = golden->data + offset;
    uint32_t value = at[0] | at[1] << 8 | at[2] << 16 | (uint32_t)at[3] << 24;
    return is_big_endian(golden) ? __builtin_bswap32(value) : value;
}

void golden_set(struct golden *golden, size_t offset, uint32_t value)
{
    uint32_t little = is_big_endian(golden) ? __builtin_bswap32(value) : value;
    for (size_t i = 0; i < 4; i++)
        golden->data[offset + i] = (unsigned char)(little >> 8 * i);
}

opl_object_view object_at(opl_block *block, uint32_t position)
{
    opl_object_view object = {0};
    do
        assert_true(opl_block_next_object(block, &object));
    while (object.position < position);
    return object;
}

opl_counter_view counter_at(opl_block *block, const opl_object_view *object, uint32_t position)
{
    opl_counter_view counter = {0};
    do
        assert_true(opl_object_next_counter(block, object, &counter));
    while (counter.position < position);
    return counter;
}

opl_instance_view instance_at(opl_block *block, const opl_object_view *object, uint32_t position)
{
    opl_instance_view instance = {0};
    do
        assert_true(opl_object_next_instance(block, object, &instance));
    while (instance.position < position);
    return instance;
}
