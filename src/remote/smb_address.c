/* SPDX-License-Identifier: MIT */
/* [\\][smb://][USER@]HOST[:PORT], with an IPv6 address in brackets. */
#include "remote/smb.h"

#include <stdio.h>
#include <string.h>

enum { SMB_PORT = 445, MOST_PORT = 65535 };

static const char *after(const char *text, const char *prefix)
{
    return text_starts_fold(text, prefix) ? text + strlen(prefix) : text;
}

static bool copy(char *ret, size_t capacity, const char *text, size_t count)
{
    if (!count || count >= capacity)
        return false;
    memcpy(ret, text, count);
    ret[count] = '\0';
    return true;
}

static bool read_port(const char *text, struct smb_address *ret)
{
    uint32_t port;
    if (!text_decimal(text, strlen(text), &port) || !port || port > MOST_PORT)
        return false;
    ret->port = (uint16_t)port;
    ret->named_port = true;
    return true;
}

bool smb_address_read(const char *text, struct smb_address *ret)
{
    *ret = (struct smb_address){.port = SMB_PORT};
    text = after(after(text, "\\\\"), "smb://");
    const char *at = strrchr(text, '@');
    if (at && !copy(ret->user, sizeof ret->user, text, (size_t)(at - text)))
        return false;
    text = at ? at + 1 : text;
    size_t count;
    const char *rest;
    if (*text == '[') {
        count = strcspn(++text, "]");
        rest = text[count] ? text + count + 1 : NULL;
    } else {
        const char *colon = strchr(text, ':');
        bool several = colon && strchr(colon + 1, ':'); /* an IPv6 address without brackets */
        count = several || !colon ? strlen(text) : (size_t)(colon - text);
        rest = text + count;
    }
    if (!rest || *text == '-' || !copy(ret->host, sizeof ret->host, text, count))
        return false;
    return !*rest || (*rest == ':' && read_port(rest + 1, ret));
}

void smb_address_name(const struct smb_address *address, char *ret, size_t capacity)
{
    if (address->named_port)
        snprintf(ret, capacity, strchr(address->host, ':') ? "[%s]:%u" : "%s:%u", address->host,
                 address->port);
    else
        snprintf(ret, capacity, "%s", address->host);
}
