/* SPDX-License-Identifier: MIT */
/*
 * The calls of the remote registry (MS-RRP) as bytes: NDR of 32 bits, little-endian. Both
 * directions are here: openperflib-smb writes requests and reads replies, the part inside Samba
 * reads requests and writes replies. What is read is not trusted: each length is read once and
 * compared with the available bytes. docs/remote-protocol.md names the documents.
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
/* Limits of what is read and written; a name is counted with its NUL. */
enum {
    RRP_HANDLE_BYTES = 20,
    RRP_NAME_UNITS = LIMIT_VALUE_NAME + 1,
    RRP_KEY_NAME_UNITS = LIMIT_KEY_NAME + 1,
    RRP_DATA_BYTES = LIMIT_VALUE_BYTES
};
/* What each call is, whichever side makes it. */
bool rrp_has_handle(unsigned opnum);      /* does the request begin with a handle from an open? */
uint16_t rrp_operation(unsigned opnum);   /* the operation of remote/proto.h, 0: none */
uint32_t rrp_root_of(unsigned opnum);     /* the predefined key that it opens, 0: none */
enum rrp_call rrp_open_of(uint32_t root); /* the call that opens it, RRP_CALLS: none */

struct rrp_handle {
    unsigned char bytes[RRP_HANDLE_BYTES];
};
/* A buffer for a text that the client describes; the reply has one in the same place. */
struct rrp_capacity {
    bool has_text;
    uint16_t bytes;
};
struct rrp_request {
    unsigned opnum;
    struct rrp_handle handle;
    const char *name; /* UTF-8, NULL: none */
    uint32_t index, access, capacity;
    bool has_type, has_data, has_size, has_length, has_class, has_time;
    struct rrp_capacity name_capacity, class_capacity;
};
struct rrp_reply {
    uint32_t status, type;
    uint32_t size; /* the stated size of the data; a reply with 234 states the one that is needed */
    const void *data; /* NULL: absent */
    uint32_t data_size;
    const char *name;    /* of an enumeration, UTF-8, NULL: none */
    uint32_t numbers[7]; /* of RRP_INFO, as in remote/proto.h; the last two: the time */
    struct rrp_handle handle;
};

/* Both append to `ret`. False: no memory, a name that is too long, or a call to which only a fault
 * is an answer. A request always asks for everything that the call can return: its has_... and
 * ..._capacity members are ignored. */
bool rrp_write_request(const struct rrp_request *request, struct buffer *ret);
bool rrp_write_reply(const struct rrp_request *request, const struct rrp_reply *reply,
                     struct buffer *ret);
/* False: malformed. The name is kept in `text`, the data inside the message. Of calls that would
 * write only the handle is read; a reply with a status other than 0 has no member but size. */
bool rrp_read_request(unsigned opnum, const void *message, size_t size, struct buffer *text,
                      struct rrp_request *ret);
bool rrp_read_reply(const struct rrp_request *request, const void *message, size_t size,
                    struct buffer *text, struct rrp_reply *ret);

#endif
