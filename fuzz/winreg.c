/* SPDX-License-Identifier: MIT */
/* Input: a reply of the remote registry. The first byte selects the call, the second the buffer
 * size. */
#include "target.h"

#include "remote/smb/smb.h"

#include <string.h>

static void must(bool good)
{
    if (!good)
        __builtin_trap();
}

/* Demands that what is returned is inside the reply. */
static void must_lie_in(const struct buffer *reply, const char *at, size_t size)
{
    if (!at)
        return;
    must(at >= reply->data && at <= reply->data + reply->len);
    must(size <= (size_t)(reply->data + reply->len - at));
}

static void try_value(const struct buffer *reply, const struct rrp_reply *value, uint32_t capacity)
{
    BUFFER_AUTO data = {0};
    must_lie_in(reply, value->data, value->data_size);
    must(value->data_size <= capacity);
    if (!value->data || !buffer_add(&data, value->data, value->data_size))
        return;
    if (!rules_block(&data, capacity))
        must(!rules_block(&data, data.len + 1)); /* a valid block remains valid */
    must(rules_list(&data) && data.len % 2 == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const enum rrp_call calls[] = {RRP_QUERY, RRP_ENUM_VALUE, RRP_ENUM_KEY, RRP_INFO,
                                          RRP_OPEN_KEY};
    BUFFER_AUTO reply = {0}, text = {0};
    struct rrp_reply value;
    if (size < 2 || !buffer_add(&reply, bytes + 2, size - 2))
        return 0;
    const struct rrp_request request = {.opnum = calls[bytes[0] % COUNT(calls)],
                                        .capacity = (uint32_t)bytes[1] << 8};
    if (!rrp_read_reply(&request, reply.data, reply.len, &text, &value))
        return 0;
    must(!value.name || (value.name == text.data && utf8_valid(text.data, text.len)));
    must(!value.name || strlen(value.name) == text.len);
    if (request.opnum == RRP_QUERY || request.opnum == RRP_ENUM_VALUE)
        try_value(&reply, &value, request.capacity);
    return 0;
}
