/* SPDX-License-Identifier: MIT */
/* A reply of the remote registry: the first byte selects the call, the second the buffer size. */
#include "target.h"

#include "remote/smb_ndr.h"
#include "remote/smb_rules.h"

#include <string.h>

static void must(bool good)
{
    if (!good)
        __builtin_trap();
}

/* What is returned lies inside the reply. */
static void must_lie_in(const struct buffer *reply, const char *at, size_t size)
{
    if (!at)
        return;
    must(at >= reply->data && at <= reply->data + reply->len);
    must(size <= (size_t)(reply->data + reply->len - at));
}

static void try_value(const struct buffer *reply, uint32_t capacity, bool named)
{
    struct winreg_value value;
    BUFFER_AUTO data = {0};
    bool good = named ? winreg_take_enum_value(reply, capacity, &value)
                      : winreg_take_value(reply, capacity, &value);
    if (!good)
        return;
    must_lie_in(reply, value.data, value.size);
    must_lie_in(reply, value.name, 2 * value.name_count);
    must(value.size <= capacity);
    if (!value.data || !buffer_add(&data, value.data, value.size))
        return;
    if (!rules_block(&data, capacity))
        must(!rules_block(&data, data.len + 1)); /* a valid one stays valid */
    must(rules_list(&data) && data.len % 2 == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    uint32_t status, number;
    struct winreg_handle handle;
    struct winreg_subkey subkey;
    struct winreg_info info;
    BUFFER_AUTO reply = {0};
    if (size < 2 || !buffer_add(&reply, bytes + 2, size - 2))
        return 0;
    uint32_t capacity = (uint32_t)bytes[1] << 8;
    if (bytes[0] % 5 == 0)
        try_value(&reply, capacity, false);
    else if (bytes[0] % 5 == 1)
        try_value(&reply, capacity, true);
    else if (bytes[0] % 5 == 2 && winreg_take_enum_key(&reply, &subkey))
        must_lie_in(&reply, subkey.name, 2 * subkey.name_count);
    else if (bytes[0] % 5 == 3)
        winreg_take_info(&reply, &info);
    else if (winreg_take_handle(&reply, &handle, &status))
        winreg_take_number(&reply, &number, &status);
    return 0;
}
