/* SPDX-License-Identifier: MIT */
/*
 * Input: the number of a remote registry call in the first byte, then the bytes of its request.
 * What is parsed must be inside the bytes, and every answer must fit into the client's buffer.
 */
#include "target.h"

#include "remote/rrp.h"

#include <stdlib.h>
#include <string.h>

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static uint32_t number_at(const struct buffer *bytes, size_t at)
{
    uint32_t number;
    demand(at + sizeof number <= bytes->len);
    memcpy(&number, bytes->data + at, sizeof number);
    return number;
}

static void answer_it(const struct rrp_request *request, uint32_t status, const char *name)
{
    static const char data[64] = "data of a value";
    BUFFER_AUTO out = {0};
    struct rrp_reply answer = {.status = status, .type = 3, .name = name, .data = data};
    answer.data_size = status || request->capacity > sizeof data ? 0 : request->capacity;
    answer.size = answer.data_size;
    if (!rrp_write_reply(request, &answer, &out)) {
        demand(request->opnum == RRP_QUERY_MANY || request->opnum == RRP_QUERY_MANY_2);
        return;
    }
    demand(out.len >= 4 && out.len % 4 == 0 && number_at(&out, out.len - 4) == status);
    /* a name must fit into its buffer, and a parameter with a NULL pointer keeps it */
    if (request->opnum == RRP_ENUM_KEY || request->opnum == RRP_ENUM_VALUE) {
        uint32_t sizes = number_at(&out, 0);
        demand((sizes & 0xffff) <= sizes >> 16 && sizes >> 16 == request->name_capacity.bytes);
        demand((number_at(&out, 4) != 0) == request->name_capacity.has_text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    BUFFER_AUTO text = {0};
    struct rrp_request request;
    if (!size)
        return 0;
    /* a copy of its own, so that a sanitizer notices a read of one byte too many */
    unsigned char *copy = malloc(size);
    demand(copy != NULL);
    memcpy(copy, data + 1, size - 1);
    bool good = rrp_read_request(data[0], copy, size - 1, &text, &request);
    if (good) {
        demand(request.opnum == data[0] && request.opnum < RRP_CALLS);
        demand(!request.name || (request.name == text.data && utf8_valid(text.data, text.len)));
        demand(!rrp_has_handle(request.opnum) || size - 1 >= RRP_HANDLE_BYTES);
        answer_it(&request, 0, "Last Counter");
        answer_it(&request, 5, NULL);
        answer_it(&request, 234, request.name);
    }
    free(copy);
    return 0;
}
