/* SPDX-License-Identifier: MIT */
/* The server's side of a dozen calls, as MS-RRP describes them; each handle contains a number. */
#include "smb_machine.h"

#include <openperflib/block.h>
#include <winperf.h>
#include <winreg.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 256, HANDLE_AT = 4 };
static struct {
    uint32_t root;
    char path[300];
    bool open;
} keys[KEYS];
/* number of the connection, which is also written into each handle: handles of an earlier
 * connection are invalid */
static uint32_t generation;

static void put(struct buffer *ret, uint32_t number)
{
    char bytes[4];
    proto_put_number(bytes, number);
    while (ret->len % 4)
        buffer_add_byte(ret, 0);
    buffer_add(ret, bytes, 4);
}

static void put_half(struct buffer *ret, uint32_t number)
{
    buffer_add_byte(ret, (char)number);
    buffer_add_byte(ret, (char)(number >> 8));
}

static void put_text(struct buffer *ret, const char *text)
{
    BUFFER_AUTO wide = {0};
    utf8_add_as_16(&wide, text, strlen(text) + 1);
    put_half(ret, (uint32_t)wide.len);
    put_half(ret, (uint32_t)wide.len);
    put(ret, 0x20000);
    put(ret, (uint32_t)wide.len / 2);
    put(ret, 0);
    put(ret, (uint32_t)wide.len / 2);
    buffer_add(ret, wide.data, wide.len);
}

static void put_handle(struct buffer *ret, uint32_t number)
{
    char bytes[RRP_HANDLE_BYTES] = {0};
    proto_put_number(bytes + HANDLE_AT, number);
    proto_put_number(bytes + HANDLE_AT + 4, generation);
    buffer_add(ret, bytes, sizeof bytes);
}

static uint32_t number_at(const struct buffer *request, size_t at)
{
    return at + 4 <= request->len ? proto_number(request->data + at) : 0;
}

/* Returns the number in the request's handle; 0: the handle is not valid. */
static uint32_t handle_of(const struct buffer *request)
{
    uint32_t number = number_at(request, HANDLE_AT);
    bool known = number_at(request, HANDLE_AT + 4) == generation && number < KEYS;
    return known && keys[number].open ? number : 0;
}

/* Reads a counted string at `at`; *ret_end is the aligned position after it. */
static void text_at(const struct buffer *request, size_t at, char ret[300], size_t *ret_end)
{
    size_t count = number_at(request, at + 16);
    size_t size = utf16_to_8(request->data + at + 20, count, ret, 299);
    ret[size < 299 ? size : 299] = '\0';
    *ret_end = (at + 20 + 2 * count + 3) / 4 * 4;
}

/* ---- the calls ---- */

static void open_key(struct fake_machine *machine, uint32_t root, const char *path,
                     struct buffer *reply)
{
    uint32_t number = 1;
    while (number < KEYS && keys[number].open)
        number++;
    bool missing = !strcmp(path, "missing");
    uint32_t status = machine->open_status ? machine->open_status
                      : missing            ? ERROR_FILE_NOT_FOUND
                                           : 0;
    if (!status) {
        keys[number].root = root;
        keys[number].open = true;
        strcpy(keys[number].path, path);
        machine->opened++;
        machine->open_handles++;
    }
    put_handle(reply, status ? 0 : number);
    put(reply, status);
}

static void close_key(struct fake_machine *machine, uint32_t number, struct buffer *reply)
{
    keys[number].open = false;
    machine->open_handles--;
    put_handle(reply, 0);
    put(reply, 0);
}

static void put_nothing(struct buffer *reply, uint32_t capacity, uint32_t needed, uint32_t status)
{
    put(reply, 0);
    put(reply, 0);
    put(reply, 1);
    put(reply, needed);
    put(reply, 1);
    put(reply, 0);
    put(reply, status);
}

static void put_value(struct fake_machine *machine, const struct fake_value *value,
                      uint32_t capacity, struct buffer *reply)
{
    if (machine->size_count < FAKE_CALLS)
        machine->sizes[machine->size_count++] = capacity;
    if (!value || !value->name) {
        put_nothing(reply, capacity, 0, ERROR_FILE_NOT_FOUND);
        return;
    }
    if (value->size > capacity && !machine->cuts) {
        uint32_t needed = machine->only_size ? 1 : (uint32_t)value->size;
        put_nothing(reply, capacity, needed, ERROR_MORE_DATA);
        return;
    }
    uint32_t size = value->size > capacity ? capacity : (uint32_t)value->size;
    put(reply, 0x20004);
    put(reply, value->type);
    put(reply, 0x20008);
    put(reply, capacity);
    put(reply, 0);
    put(reply, size);
    buffer_add(reply, value->data, size);
    put(reply, 0x2000c);
    put(reply, size);
    put(reply, 0x20010);
    put(reply, size);
    put(reply, 0);
}

static const struct fake_value *find_value(const struct fake_machine *machine, uint32_t key,
                                           const char *name)
{
    for (size_t i = 0; i < FAKE_VALUES; i++) {
        const struct fake_value *value = &machine->values[i];
        if (value->name && value->root == keys[key].root && !strcmp(value->path, keys[key].path) &&
            text_equal_fold(value->name, name))
            return value;
    }
    return NULL;
}

/* Answers a query for a value. After the name, the request has a pointer and the type, then the
 * pointer to the array, then the array's capacity. */
static void query_value(struct fake_machine *machine, const struct buffer *request, uint32_t key,
                        struct buffer *reply)
{
    char name[300];
    size_t at;
    text_at(request, RRP_HANDLE_BYTES, name, &at);
    put_value(machine, find_value(machine, key, name), number_at(request, at + 12), reply);
}

static void enum_value(struct fake_machine *machine, const struct buffer *request, uint32_t key,
                       struct buffer *reply)
{
    uint32_t index = number_at(request, RRP_HANDLE_BYTES);
    const struct fake_value *value = index < FAKE_VALUES ? &machine->values[index] : NULL;
    bool there = value && value->name;
    put_text(reply, there ? value->name : "");
    if (there)
        put_value(machine, value, number_at(request, RRP_HANDLE_BYTES + 4 + 20 + 12), reply);
    else
        put_nothing(reply, 0, 0, ERROR_NO_MORE_ITEMS);
}

static void enum_key(const struct buffer *request, struct buffer *reply)
{
    uint32_t index = number_at(request, RRP_HANDLE_BYTES);
    put_text(reply, index ? "" : "00ä");
    put(reply, 0); /* the key has no class */
    put(reply, 0x20004);
    put(reply, 0x11223344);
    put(reply, 0x01020304);
    put(reply, index ? ERROR_NO_MORE_ITEMS : 0);
}

static void info(struct buffer *reply)
{
    put_text(reply, "class");
    for (uint32_t i = 1; i <= 7; i++)
        put(reply, i * 100);
    put(reply, 7);
    put(reply, 8);
    put(reply, 0);
}

static void answer(struct fake_machine *machine, enum rrp_call operation,
                   const struct buffer *request, struct buffer *reply)
{
    static const uint32_t roots[] = {[RRP_OPEN_LOCAL_MACHINE] = 0x80000002,
                                     [RRP_OPEN_USERS] = 0x80000003,
                                     [RRP_OPEN_DATA] = 0x80000004,
                                     [RRP_OPEN_TEXT] = 0x80000050,
                                     [RRP_OPEN_NLS_TEXT] = 0x80000060};
    char path[300];
    size_t end;
    uint32_t key = handle_of(request);
    bool refuses = machine->refusals > 0;
    if ((size_t)operation < COUNT(roots) && roots[operation]) {
        open_key(machine, roots[operation], "", reply);
    } else if (!key || refuses) {
        machine->refusals -= key && refuses;
        put_nothing(reply, 0, 0, key ? machine->refuse_with : ERROR_INVALID_HANDLE);
    } else if (operation == RRP_OPEN_KEY) {
        text_at(request, RRP_HANDLE_BYTES, path, &end);
        open_key(machine, keys[key].root, path, reply);
    } else if (operation == RRP_CLOSE) {
        close_key(machine, key, reply);
    } else if (operation == RRP_QUERY) {
        query_value(machine, request, key, reply);
    } else if (operation == RRP_ENUM_VALUE) {
        enum_value(machine, request, key, reply);
    } else if (operation == RRP_ENUM_KEY) {
        enum_key(request, reply);
    } else if (operation == RRP_INFO) {
        info(reply);
    }
}

/* ---- the connection, through which the tested code sends and receives ---- */

static struct fake_machine *machine_of(struct smb_wire *wire)
{
    return (struct fake_machine *)wire;
}

static LSTATUS connect_fake(struct smb_wire *wire, int64_t deadline)
{
    struct fake_machine *machine = machine_of(wire);
    unsigned attempt = machine->connected++;
    memset(keys, 0, sizeof keys);
    machine->open_handles = 0;
    generation++;
    return attempt < FAKE_CONNECTS ? machine->connects[attempt] : ERROR_SUCCESS;
}

static LSTATUS call_fake(struct smb_wire *wire, enum rrp_call operation,
                         const struct buffer *request, int64_t deadline, struct buffer *ret)
{
    struct fake_machine *machine = machine_of(wire);
    machine->seen[operation]++;
    buffer_clear(ret);
    if (machine->calls++ == machine->lose_at && machine->lose_with)
        return machine->lose_with;
    answer(machine, operation, request, ret);
    if (machine->damage)
        machine->damage(machine, ret);
    return ERROR_SUCCESS;
}

static void close_fake(struct smb_wire *wire)
{
    machine_of(wire)->closed++;
}

static void pause_fake(struct smb_wire *wire, unsigned ms)
{
    machine_of(wire)->paused_ms += ms;
}

void fake_machine_init(struct fake_machine *machine)
{
    memset(keys, 0, sizeof keys);
    generation++;
    *machine = (struct fake_machine){
        .wire = {connect_fake, call_fake, close_fake, pause_fake}
    };
}

/* Builds a block; each object has one counter of 4 bytes, and no instances. */
void fake_block(struct buffer *ret, unsigned objects)
{
    PERF_OBJECT_TYPE type = {.TotalByteLength = sizeof(type) + sizeof(PERF_COUNTER_DEFINITION) + 8,
                             .DefinitionLength = sizeof(type) + sizeof(PERF_COUNTER_DEFINITION),
                             .HeaderLength = sizeof(type),
                             .NumCounters = 1,
                             .NumInstances = PERF_NO_INSTANCES};
    PERF_COUNTER_DEFINITION counter = {.ByteLength = sizeof counter,
                                       .CounterType = PERF_COUNTER_RAWCOUNT,
                                       .CounterSize = 4,
                                       .CounterOffset = 4};
    const uint32_t values[2] = {8, 42};
    PERF_DATA_BLOCK head = {
        .Signature = {'P', 'E', 'R', 'F'},
        .LittleEndian = 1,
        .Version = 1,
        .Revision = 1,
        .TotalByteLength = sizeof head + objects * type.TotalByteLength,
        .HeaderLength = sizeof head,
        .NumObjectTypes = objects
    };
    buffer_clear(ret);
    buffer_add(ret, &head, sizeof head);
    for (unsigned i = 0; i < objects; i++) {
        type.ObjectNameTitleIndex = 2 * (i + 1);
        buffer_add(ret, &type, sizeof type);
        buffer_add(ret, &counter, sizeof counter);
        buffer_add(ret, values, sizeof values);
    }
}
