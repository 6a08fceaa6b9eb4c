/* SPDX-License-Identifier: MIT */
/*
 * The calls of the remote registry (MS-RRP) as bytes: 32-bit NDR, little-endian. openperflib-smb
 * writes requests and reads replies; the part inside Samba reads requests and writes replies.
 * Received bytes are not trusted: each length is read once and compared with the number of
 * available bytes. docs/remote-protocol.md names the documents.
 */
#ifndef OPL_REMOTE_RRP_H
#define OPL_REMOTE_RRP_H

#include "base/base.h"

enum rrp_call {
    RRP_OPEN_CLASSES,
    RRP_OPEN_CURRENT_USER,
    RRP_OPEN_LOCAL_MACHINE,
    RRP_OPEN_DATA,
    RRP_OPEN_USERS,
    RRP_CLOSE,
    RRP_CREATE,
    RRP_ENUM_KEY = 9,
    RRP_ENUM_VALUE = 10,
    RRP_GET_SECURITY = 12,
    RRP_OPEN_KEY = 15,
    RRP_INFO = 16,
    RRP_QUERY = 17,
    RRP_VERSION = 26,
    RRP_OPEN_CURRENT_CONFIG = 27,
    RRP_QUERY_MANY = 29,
    RRP_OPEN_TEXT = 32,
    RRP_OPEN_NLS_TEXT = 33,
    RRP_QUERY_MANY_2 = 34,
    RRP_CALLS = 36
};
/* Limits of what is read and written. Lengths of names include the NUL. */
enum {
    RRP_HANDLE_BYTES = 20,
    RRP_NAME_UNITS = LIMIT_VALUE_NAME + 1,
    RRP_KEY_NAME_UNITS = LIMIT_KEY_NAME + 1,
    RRP_DATA_BYTES = LIMIT_VALUE_BYTES
};
/* Properties of a call. */
bool rrp_has_handle(unsigned opnum);      /* true: the request begins with an open key's handle */
uint16_t rrp_operation(unsigned opnum);   /* the same operation's number in proto.h; 0: none */
uint32_t rrp_root_of(unsigned opnum);     /* the predefined key that the call opens; 0: none */
enum rrp_call rrp_open_of(uint32_t root); /* the call that opens this key; RRP_CALLS: none */

struct rrp_handle {
    unsigned char bytes[RRP_HANDLE_BYTES];
};
/* The client's buffer for a text. The reply states the same numbers in the same place. */
struct rrp_capacity {
    bool has_text;
    uint16_t bytes;
};
struct rrp_request {
    unsigned opnum;
    struct rrp_handle handle;
    const char *name; /* name in UTF-8; NULL: none */
    uint32_t index, access, capacity;
    bool has_type, has_data, has_size, has_length, has_class, has_time;
    struct rrp_capacity name_capacity, class_capacity;
};
struct rrp_reply {
    uint32_t status, type;
    uint32_t size;    /* size of the value; with status 234 (ERROR_MORE_DATA) the size that is
                       * needed */
    const void *data; /* the value's data; NULL: absent */
    uint32_t data_size;
    const char *name;    /* name of the enumerated key or value in UTF-8; NULL: none */
    uint32_t numbers[7]; /* numbers of RRP_INFO in the order of remote/proto.h; the last two are the
                          * time */
    struct rrp_handle handle;
};

/* Both functions append to `ret`, and return false if there is no memory, the name is too long, or
 * the call can only be answered by a fault. A request always asks for all that the call can return;
 * its members has_... and ..._capacity are ignored. */
bool rrp_write_request(const struct rrp_request *request, struct buffer *ret);
bool rrp_write_reply(const struct rrp_request *request, const struct rrp_reply *reply,
                     struct buffer *ret);
/* Both functions return false if the message is malformed. The name is stored in `text`; the data
 * stays in the message. From calls that would write, only the handle is read. From a reply whose
 * status is not 0, only `size` is read. */
bool rrp_read_request(unsigned opnum, const void *message, size_t size, struct buffer *text,
                      struct rrp_request *ret);
bool rrp_read_reply(const struct rrp_request *request, const void *message, size_t size,
                    struct buffer *text, struct rrp_reply *ret);

#endif
