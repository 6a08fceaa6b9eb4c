/* SPDX-License-Identifier: MIT */
/*
 * Each part of an MS-RRP message has one function for both directions. The function writes the
 * value that it gets to `out`, or reads the value from `in`, and returns the value. So the layout
 * of each call is described only once.
 */
#include "remote/rrp.h"
#include "remote/proto.h"

#include <string.h>

struct coder {
    /* receives the message that is written; NULL: the message is read from `in` */
    struct buffer *out;
    const unsigned char *in;
    size_t size, at;
    struct buffer *text; /* receives the name that is read */
    bool is_reply;       /* false: the message is a request */
    bool bad;            /* the message is malformed */
    bool is_name_broken; /* the name in the reply contains a NUL */
};

/* ---- numbers, pointers, arrays ---- */

static const unsigned char *take(struct coder *coder, size_t count)
{
    if (coder->bad || count > coder->size - coder->at) {
        coder->bad = true;
        return NULL;
    }
    coder->at += count;
    return coder->in + coder->at - count;
}

static void align(struct coder *coder, size_t to)
{
    static const char zero[4];
    if (coder->out)
        buffer_add(coder->out, zero, -coder->out->len & (to - 1));
    else
        take(coder, -coder->at & (to - 1));
}

static uint32_t code_number(struct coder *coder, size_t size, uint32_t number)
{
    align(coder, size);
    if (coder->out) {
        const char bytes[4] = {(char)number, (char)(number >> 8), (char)(number >> 16),
                               (char)(number >> 24)};
        buffer_add(coder->out, bytes, size);
        return number;
    }
    const unsigned char *bytes = take(coder, size);
    number = 0;
    for (size_t i = 0; bytes && i < size; i++)
        number |= (uint32_t)bytes[i] << 8 * i;
    return number;
}

static uint16_t code_16(struct coder *coder, size_t number)
{
    return (uint16_t)code_number(coder, 2, (uint32_t)number);
}

static uint32_t code_32(struct coder *coder, uint32_t number)
{
    return code_number(coder, 4, number);
}

/* Codes a pointer; returns whether it is not NULL. The pointer's value has no meaning, but all
 * pointers must have different values. */
static bool code_pointer(struct coder *coder, bool there)
{
    align(coder, 4);
    return code_32(coder, coder->out && there ? 0x20000 + (uint32_t)coder->out->len : 0) != 0;
}

static void code_handle(struct coder *coder, struct rrp_handle *handle)
{
    const unsigned char *bytes = coder->out ? NULL : take(coder, RRP_HANDLE_BYTES);
    if (coder->out)
        buffer_add(coder->out, handle->bytes, RRP_HANDLE_BYTES);
    else if (bytes)
        memcpy(handle->bytes, bytes, RRP_HANDLE_BYTES);
}

/* Codes the head of an array, of which only a part may be sent: the array's size, an offset, and
 * the number of elements that follow. Returns that number. */
static uint32_t code_array(struct coder *coder, uint32_t size, uint32_t count)
{
    size = code_32(coder, size);
    uint32_t offset = code_32(coder, 0);
    count = code_32(coder, count);
    if (offset || (!coder->out && count > size))
        coder->bad = true;
    return coder->bad ? 0 : count;
}

/* ---- texts ---- */

/* Stores a name as UTF-8, up to its NUL, which may be missing. Returns false if there is no
 * memory. */
static bool keep_text(struct coder *coder, const unsigned char *units, size_t count)
{
    size_t length = 0;
    while (length < count && (units[2 * length] || units[2 * length + 1]))
        length++;
    for (size_t i = 2 * length; i < 2 * count; i++)
        coder->is_name_broken |= units[i] != 0;
    size_t size = utf16_to_8(units, length, NULL, 0);
    buffer_clear(coder->text);
    if (!buffer_reserve(coder->text, size + 1))
        return false;
    utf16_to_8(units, length, coder->text->data, size);
    coder->text->data[coder->text->len = size] = '\0';
    return true;
}

/* Reads the text of an RRP_UNICODE_STRING: `count` units, of which `used` bytes are the text. */
static void read_text(struct coder *coder, const char **text, const struct rrp_capacity *capacity,
                      uint32_t count, uint32_t used)
{
    bool fits = coder->is_reply ? used % 2 == 0 && used / 2 <= count
                                : used <= capacity->bytes && used / 2 == count;
    const unsigned char *bytes =
        fits && count <= RRP_NAME_UNITS ? take(coder, (size_t)count * 2) : NULL;
    if (!bytes || (text && !keep_text(coder, bytes, used / 2)))
        coder->bad = true;
    else if (text)
        *text = coder->text->data;
}

/* Codes an RRP_UNICODE_STRING: two sizes in bytes, which include the NUL, and a pointer to the
 * text. In a request the buffer is as large as the text. In a reply a text that is larger than the
 * client's buffer is left out, and the status says so. `text` NULL: the text is a class, which is
 * neither sent nor stored. */
static void code_text(struct coder *coder, const char **text, struct rrp_capacity *capacity)
{
    BUFFER_AUTO units = {0};
    if (coder->out && text && *text) {
        coder->out->failed |= !utf8_add_as_16(&units, *text, strlen(*text) + 1);
        if (!coder->is_reply)
            *capacity = (struct rrp_capacity){.has_text = true, .bytes = (uint16_t)units.len};
        coder->bad |= !coder->is_reply && units.len > 2 * RRP_NAME_UNITS;
        units.len = units.len > capacity->bytes ? 0 : units.len;
    }
    align(coder, 4);
    uint32_t used = code_16(coder, units.len);
    capacity->bytes = code_16(coder, capacity->bytes);
    capacity->has_text = code_pointer(coder, capacity->has_text);
    if (!coder->out && text)
        *text = NULL;
    if (!capacity->has_text)
        return;
    uint32_t count = code_array(coder, capacity->bytes / 2u, used / 2);
    if (coder->out)
        buffer_add(coder->out, units.data ? units.data : "", units.len);
    else
        read_text(coder, text, capacity, count, used);
}

/* ---- values ---- */

/* Codes type, data, size and length, each after a pointer; what belongs to a NULL pointer is
 * absent. */
static void code_value(struct coder *coder, struct rrp_request *request, struct rrp_reply *reply)
{
    request->has_type = code_pointer(coder, request->has_type);
    reply->type = request->has_type ? code_32(coder, reply->type) : 0;
    request->has_data = code_pointer(coder, request->has_data);
    reply->data_size = request->has_data ? code_array(coder, reply->size, reply->data_size) : 0;
    if (coder->is_reply && !coder->out && reply->data_size > request->capacity)
        coder->bad = true;
    else if (request->has_data && !coder->out)
        reply->data = take(coder, reply->data_size);
    else if (reply->data_size)
        buffer_add(coder->out, reply->data, reply->data_size);
    request->has_size = code_pointer(coder, request->has_size);
    reply->size = request->has_size ? code_32(coder, reply->size) : 0;
    request->has_length = code_pointer(coder, request->has_length);
    uint32_t length = request->has_length ? code_32(coder, reply->data_size) : reply->data_size;
    reply->data_size = length < reply->data_size ? length : reply->data_size;
}

/* ---- the calls ---- */

typedef void coding(struct coder *coder, struct rrp_request *request, struct rrp_reply *reply);

/* Codes a server's name and access rights; both are ignored. */
static void request_root(struct coder *coder, struct rrp_request *request, struct rrp_reply *reply)
{
    code_pointer(coder, false);
    request->access = code_32(coder, request->access);
}

static void request_key(struct coder *coder, struct rrp_request *request, struct rrp_reply *reply)
{
    code_text(coder, &request->name, &request->name_capacity);
    code_32(coder, 0); /* the options, always 0 */
    request->access = code_32(coder, request->access);
}

/* Codes the client's buffer for a value: only its size, no bytes. */
static void request_value(struct coder *coder, struct rrp_request *request, struct rrp_reply *reply)
{
    reply->size = request->capacity;
    code_value(coder, request, reply);
    request->capacity = reply->size;
}

static void request_query(struct coder *coder, struct rrp_request *request, struct rrp_reply *reply)
{
    code_text(coder, &request->name, &request->name_capacity);
    request_value(coder, request, reply);
}

static void request_enum_value(struct coder *coder, struct rrp_request *request,
                               struct rrp_reply *reply)
{
    request->index = code_32(coder, request->index);
    code_text(coder, NULL, &request->name_capacity);
    request_value(coder, request, reply);
}

static void code_class_and_time(struct coder *coder, struct rrp_request *request,
                                struct rrp_reply *reply)
{
    request->has_class = code_pointer(coder, request->has_class);
    if (request->has_class)
        code_text(coder, NULL, &request->class_capacity);
    request->has_time = code_pointer(coder, request->has_time);
    for (int i = 5; request->has_time && i < 7; i++)
        reply->numbers[i] = code_32(coder, reply->numbers[i]);
}

static void request_enum_key(struct coder *coder, struct rrp_request *request,
                             struct rrp_reply *reply)
{
    request->index = code_32(coder, request->index);
    code_text(coder, NULL, &request->name_capacity);
    code_class_and_time(coder, request, reply);
}

static void request_info(struct coder *coder, struct rrp_request *request, struct rrp_reply *reply)
{
    code_text(coder, NULL, &request->class_capacity);
}

static void reply_handle(struct coder *coder, struct rrp_request *request, struct rrp_reply *reply)
{
    code_handle(coder, &reply->handle);
}

static void reply_create(struct coder *coder, struct rrp_request *request, struct rrp_reply *reply)
{
    code_handle(coder, &reply->handle);
    code_pointer(coder, false); /* the disposition, which is never returned */
}

static void reply_enum_value(struct coder *coder, struct rrp_request *request,
                             struct rrp_reply *reply)
{
    code_text(coder, &reply->name, &request->name_capacity);
    code_value(coder, request, reply);
}

static void reply_enum_key(struct coder *coder, struct rrp_request *request,
                           struct rrp_reply *reply)
{
    code_text(coder, &reply->name, &request->name_capacity);
    code_class_and_time(coder, request, reply);
}

/* Codes the reply of RRP_INFO. The lengths of the longest names are in bytes in the message, but in
 * characters in `numbers`. */
static void reply_info(struct coder *coder, struct rrp_request *request, struct rrp_reply *reply)
{
    uint32_t *number = reply->numbers;
    code_text(coder, NULL, &request->class_capacity);
    number[0] = code_32(coder, number[0]);
    number[1] = code_32(coder, number[1] * 2) / 2;
    code_32(coder, 0); /* length of the longest class, always 0 */
    number[2] = code_32(coder, number[2]);
    number[3] = code_32(coder, number[3] * 2) / 2;
    number[4] = code_32(coder, number[4]);
    code_32(coder, 0); /* size of the security descriptor, always 0 */
    number[5] = code_32(coder, number[5]);
    number[6] = code_32(coder, number[6]);
}

static void reply_version(struct coder *coder, struct rrp_request *request, struct rrp_reply *reply)
{
    enum { VERSION = 5 };
    code_32(coder, VERSION);
}

/* Codes an empty security descriptor: a pointer and two sizes. */
static void reply_security(struct coder *coder, struct rrp_request *request,
                           struct rrp_reply *reply)
{
    for (int i = 0; i < 3; i++)
        code_32(coder, 0);
}

/* clang-format off */
static const struct {
    uint32_t root;     /* predefined key that the call opens; 0: none, the request has a handle */
    uint16_t operation; /* number of the same operation in remote/proto.h; 0: none */
    /* codes what follows the handle; NULL: nothing follows the handle, or it is neither read nor
     * sent */
    coding *request;
    coding *reply;     /* codes what precedes the status; NULL: nothing */
    /* the call can only be answered by a fault, because a reply would have to repeat the whole
     * request */
    bool only_faults;
} calls[RRP_CALLS] = {
    [RRP_OPEN_CLASSES]        = {0x80000000, 0,                request_root,       reply_handle},
    [RRP_OPEN_CURRENT_USER]   = {0x80000001, 0,                request_root,       reply_handle},
    [RRP_OPEN_LOCAL_MACHINE]  = {0x80000002, PROTO_OPEN,       request_root,       reply_handle},
    [RRP_OPEN_DATA]           = {0x80000004, PROTO_OPEN,       request_root,       reply_handle},
    [RRP_OPEN_USERS]          = {0x80000003, PROTO_OPEN,       request_root,       reply_handle},
    [RRP_CLOSE]               = {0,          PROTO_CLOSE,      NULL,               reply_handle},
    [RRP_CREATE]              = {0,          0,                NULL,               reply_create},
    [RRP_ENUM_KEY]            = {0,          PROTO_ENUM_KEY,   request_enum_key,   reply_enum_key},
    [RRP_ENUM_VALUE]          = {0,          PROTO_ENUM_VALUE, request_enum_value, reply_enum_value},
    [RRP_GET_SECURITY]        = {0,          0,                NULL,               reply_security},
    [RRP_OPEN_KEY]            = {0,          PROTO_OPEN,       request_key,        reply_handle},
    [RRP_INFO]                = {0,          PROTO_INFO,       request_info,       reply_info},
    [RRP_QUERY]               = {0,          PROTO_QUERY,      request_query,      code_value},
    [RRP_VERSION]             = {0,          0,                NULL,               reply_version},
    [RRP_OPEN_CURRENT_CONFIG] = {0x80000005, 0,                request_root,       reply_handle},
    [RRP_QUERY_MANY]          = {0,          0,                NULL,               NULL, true},
    [RRP_OPEN_TEXT]           = {0x80000050, PROTO_OPEN,       request_root,       reply_handle},
    [RRP_OPEN_NLS_TEXT]       = {0x80000060, PROTO_OPEN,       request_root,       reply_handle},
    [RRP_QUERY_MANY_2]        = {0,          0,                NULL,               NULL, true},
};
/* clang-format on */

bool rrp_has_handle(unsigned opnum)
{
    return opnum < RRP_CALLS && !calls[opnum].root;
}

uint16_t rrp_operation(unsigned opnum)
{
    return opnum < RRP_CALLS ? calls[opnum].operation : 0;
}

uint32_t rrp_root_of(unsigned opnum)
{
    return opnum < RRP_CALLS ? calls[opnum].root : 0;
}

enum rrp_call rrp_open_of(uint32_t root)
{
    unsigned opnum = 0;
    while (opnum < RRP_CALLS && !(calls[opnum].operation && root && calls[opnum].root == root))
        opnum++;
    return (enum rrp_call)opnum;
}

/* ---- messages ---- */

bool rrp_write_request(const struct rrp_request *request, struct buffer *ret)
{
    struct coder coder = {.out = ret};
    struct rrp_request whole = *request;
    struct rrp_reply none = {0};
    bool is_key = request->opnum == RRP_ENUM_KEY;
    whole.has_type = whole.has_data = whole.has_size = whole.has_length = true;
    whole.has_class = whole.has_time = true;
    whole.name_capacity = (struct rrp_capacity){
        .has_text = true, .bytes = 2 * (is_key ? RRP_KEY_NAME_UNITS : RRP_NAME_UNITS)};
    /* Samba requires a buffer for the class in requests that enumerate keys */
    whole.class_capacity =
        (struct rrp_capacity){.has_text = is_key, .bytes = 2 * RRP_KEY_NAME_UNITS};
    if (rrp_has_handle(request->opnum))
        code_handle(&coder, &whole.handle);
    if (calls[request->opnum].request)
        calls[request->opnum].request(&coder, &whole, &none);
    return !coder.bad && !ret->failed;
}

/* Requests that open a predefined key are not parsed, because the server's name and the rights are
 * ignored. */
bool rrp_read_request(unsigned opnum, const void *message, size_t size, struct buffer *text,
                      struct rrp_request *ret)
{
    struct coder coder = {.in = message, .size = size, .text = text};
    struct rrp_reply none = {0};
    *ret = (struct rrp_request){.opnum = opnum};
    if (opnum >= RRP_CALLS)
        return false;
    if (rrp_has_handle(opnum)) {
        code_handle(&coder, &ret->handle);
        if (calls[opnum].request && !coder.bad)
            calls[opnum].request(&coder, ret, &none);
    }
    return !coder.bad;
}

bool rrp_write_reply(const struct rrp_request *request, const struct rrp_reply *reply,
                     struct buffer *ret)
{
    struct coder coder = {.out = ret, .is_reply = true};
    struct rrp_request described = *request;
    struct rrp_reply given = *reply;
    if (request->opnum >= RRP_CALLS || calls[request->opnum].only_faults)
        return false;
    if (reply->status)
        given.handle = (struct rrp_handle){{0}};
    if (calls[request->opnum].reply)
        calls[request->opnum].reply(&coder, &described, &given);
    code_32(&coder, reply->status);
    return !coder.bad && !ret->failed;
}

bool rrp_read_reply(const struct rrp_request *request, const void *message, size_t size,
                    struct buffer *text, struct rrp_reply *ret)
{
    struct coder coder = {.in = message, .size = size, .text = text, .is_reply = true};
    struct rrp_request described = *request;
    *ret = (struct rrp_reply){0};
    if (calls[request->opnum].reply)
        calls[request->opnum].reply(&coder, &described, ret);
    ret->status = code_32(&coder, 0);
    if (ret->status)
        *ret = (struct rrp_reply){.status = ret->status, .size = ret->size};
    else
        coder.bad |= coder.is_name_broken;
    return !coder.bad;
}
