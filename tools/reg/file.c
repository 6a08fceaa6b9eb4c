/* SPDX-License-Identifier: MIT */
/*
 * reg export and reg import: the library parses and prints the file (regfile.h); keys are read and
 * written by the public Reg functions.
 */
#include "reg.h"

#include "../view/view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openperflib/regfile.h>
#include <winreg.h>

/* ---- export ---- */

/* Writes a unit of UTF-16. Like Windows, the file has a byte order mark, and CR LF as line ends. */
static void put_unit(FILE *file, unsigned unit)
{
    putc((int)(unit & 0xff), file);
    putc((int)(unit >> 8), file);
}

static void put_code_point(FILE *file, unsigned code)
{
    if (code < 0x10000) {
        put_unit(file, code);
    } else {
        put_unit(file, 0xd800 + ((code - 0x10000) >> 10));
        put_unit(file, 0xdc00 + ((code - 0x10000) & 0x3ff));
    }
}

/* Writes a text. The library prints well-formed UTF-8, except that surrogates may be unpaired. */
static void put_text(FILE *file, const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        unsigned more = *at < 0x80 ? 0 : *at < 0xe0 ? 1 : *at < 0xf0 ? 2 : 3;
        unsigned code = *at++ & (more ? 0x3fu >> more : 0x7fu);
        for (; more && *at; more--)
            code = code << 6 | (*at++ & 0x3f);
        if (code == '\n')
            put_unit(file, '\r');
        put_code_point(file, code);
    }
}

static LSTATUS put_entry(FILE *file, const opl_reg_entry *entry)
{
    size_t size = 0;
    LSTATUS status = opl_reg_print(entry, NULL, &size);
    char *text = status == ERROR_MORE_DATA ? malloc(size) : NULL;
    if (!text)
        return status == ERROR_MORE_DATA ? ERROR_OUTOFMEMORY : status;
    status = opl_reg_print(entry, text, &size);
    if (!status)
        put_text(file, text);
    free(text);
    return status;
}

static LSTATUS export_values(FILE *file, HKEY key)
{
    struct key_names names;
    LSTATUS status = key_names_read(key, true, &names);
    for (size_t i = 0; !status && i < names.count; i++) {
        struct value value;
        status = value_read(key, names.names[i], &value);
        if (!status)
            status = put_entry(file, &(opl_reg_entry){.kind = OPL_REG_VALUE,
                                                      .name = names.names[i],
                                                      .type = value.type,
                                                      .data = value.data,
                                                      .size = value.size});
        value_done(&value);
    }
    key_names_done(&names);
    return status;
}

static LSTATUS export_key(FILE *file, HKEY key, const char *full)
{
    struct key_names names;
    LSTATUS status = put_entry(file, &(opl_reg_entry){.kind = OPL_REG_KEY, .key = full});
    status = status ? status : export_values(file, key);
    if (status)
        return status;
    status = key_names_read(key, false, &names);
    for (size_t i = 0; !status && i < names.count; i++) {
        HKEY sub = NULL;
        size_t capacity = strlen(full) + strlen(names.names[i]) + 2;
        char *path = malloc(capacity);
        status = path ? RegOpenKeyExA(key, names.names[i], 0, KEY_READ, &sub) : ERROR_OUTOFMEMORY;
        if (!status) {
            snprintf(path, capacity, "%s\\%s", full, names.names[i]);
            status = export_key(file, sub, path);
        }
        key_close(sub);
        free(path);
    }
    key_names_done(&names);
    return status;
}

static LSTATUS write_file(FILE *file, const struct named_key *name)
{
    HKEY key = NULL;
    LSTATUS status = key_open(name, KEY_READ, &key);
    if (!status) {
        put_unit(file, 0xfeff);
        put_text(file, "Windows Registry Editor Version 5.00\n");
        status = export_key(file, key, name->full);
        put_text(file, "\n");
    }
    key_close(key);
    return status;
}

static LSTATUS open_target(const struct reg *reg, FILE **ret)
{
    bool standard = !strcmp(reg->file_name, "-");
    *ret = NULL;
    if (!standard && !reg->force && access(reg->file_name, F_OK) == 0 &&
        !confirmed("Overwrite", reg->file_name, "/y"))
        return ERROR_CANCELLED;
    *ret = standard ? stdout : fopen(reg->file_name, "wb");
    if (*ret)
        return ERROR_SUCCESS;
    fprintf(stderr, "reg: %s: %s\n", text_seen(reg->file_name), strerror(errno));
    return ERROR_CANCELLED;
}

LSTATUS reg_export(const struct reg *reg)
{
    struct named_key name;
    HKEY key = NULL;
    FILE *file;
    LSTATUS status = key_parse(reg->key_name, &name);
    status = status ? status : key_open(&name, KEY_READ, &key);
    key_close(key);
    if (status) {
        key_done(&name);
        return complain(reg->key_name, status);
    }
    status = open_target(reg, &file);
    if (!status) {
        status = write_file(file, &name);
        bool failed = fflush(file) != 0 || ferror(file);
        failed |= file != stdout && fclose(file) != 0;
        status = status ? status : failed ? ERROR_WRITE_FAULT : ERROR_SUCCESS;
        if (status)
            complain(reg->file_name, status);
        else if (file != stdout)
            puts("The operation completed successfully.");
    }
    key_done(&name);
    return status;
}

/* ---- import ---- */

struct import_result {
    const char *file;
    unsigned damaged;
    bool reported; /* the key that could not be written was reported */
};

static void report_import(void *self, const opl_reg_entry *entry, LSTATUS status)
{
    struct import_result *import = self;
    if (entry->kind == OPL_REG_DAMAGED) {
        import->damaged++;
        fprintf(stderr, "reg: %s:%u: %s: %s\n", text_seen(import->file), entry->line, entry->why,
                text_seen(entry->name));
    } else {
        import->reported = true;
        complain(entry->key, status);
    }
}

static LSTATUS read_file(const char *name, char **ret, size_t *ret_size)
{
    bool standard = !strcmp(name, "-");
    FILE *file = standard ? stdin : fopen(name, "rb");
    size_t capacity = 65536, count = 0, got = 1;
    *ret = file ? malloc(capacity) : NULL;
    while (*ret && got) {
        got = fread(*ret + count, 1, capacity - count, file);
        count += got;
        char *more = count == capacity ? realloc(*ret, capacity *= 2) : *ret;
        if (!more)
            free(*ret);
        *ret = more;
    }
    bool failed = !*ret || ferror(file);
    if (failed)
        fprintf(stderr, "reg: %s: %s\n", text_seen(name), strerror(errno));
    if (file && !standard)
        fclose(file);
    *ret_size = count;
    return !failed ? ERROR_SUCCESS : file ? ERROR_READ_FAULT : ERROR_FILE_NOT_FOUND;
}

/* Returns the size of the file without a Ctrl-Z, which old editors write as the end of a file; in
 * UTF-16 the Ctrl-Z has two bytes. */
static size_t without_ctrl_z(const char *bytes, size_t size)
{
    bool wide = size >= 2 && ((unsigned char)bytes[0] == 0xff && (unsigned char)bytes[1] == 0xfe);
    size_t unit = wide ? 2 : 1;
    if (size >= unit && bytes[size - unit] == 0x1a && (!wide || !bytes[size - 1]))
        return size - unit;
    return size;
}

LSTATUS reg_import(const struct reg *reg)
{
    char *bytes;
    size_t size;
    struct import_result import = {.file = reg->file_name};
    LSTATUS status = read_file(reg->file_name, &bytes, &size);
    if (status) {
        free(bytes);
        return status;
    }
    size = without_ctrl_z(bytes, size);
    status = opl_reg_import(bytes, size, OPL_REG_STRICT_HEADER | OPL_REG_ONE_ENCODING,
                            report_import, &import);
    free(bytes);
    if (status)
        return import.reported ? status : complain(reg->file_name, status);
    if (import.damaged)
        return complain(reg->file_name, ERROR_INVALID_DATA);
    puts("The operation completed successfully.");
    return ERROR_SUCCESS;
}
