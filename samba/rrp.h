/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The calls of the remote registry protocol (MS-RRP) as bytes: what a client sent, and the answers.
 * Independent of Samba. Data from a client is not trusted: each length is read once and compared
 * with the available bytes.
 */
#ifndef OPL_SAMBA_RRP_H
#define OPL_SAMBA_RRP_H

#include "base/base.h"

enum { RRP_HANDLE_BYTES = 20, RRP_NAME_UNITS = 16384, RRP_NO_NAME = -1 };
enum rrp_call {
    RRP_OPEN_LOCAL_MACHINE = 2,
    RRP_OPEN_DATA = 3,
    RRP_CLOSE = 5,
    RRP_CREATE = 6,
    RRP_ENUM_KEY = 9,
    RRP_ENUM_VALUE = 10,
    RRP_GET_SECURITY = 12,
    RRP_OPEN_KEY = 15,
    RRP_INFO = 16,
    RRP_QUERY = 17,
    RRP_VERSION = 26,
    RRP_QUERY_MANY = 29,
    RRP_OPEN_TEXT = 32,
    RRP_OPEN_NLS_TEXT = 33,
    RRP_QUERY_MANY_2 = 34,
    RRP_CALLS = 36
};

/* A buffer for a text that the client describes; the answer has one in the same place. */
struct rrp_capacity {
    bool there;
    bool has_text;
    uint16_t bytes; /* its capacity */
};
struct rrp_request {
    unsigned opnum;
    unsigned char handle[RRP_HANDLE_BYTES];
    const char *name; /* UTF-8, NULL: none; points into the buffer given to rrp_read */
    uint32_t index, access, capacity;
    bool has_type, has_data, has_size, has_length, has_class, has_time;
    struct rrp_capacity name_capacity, class_capacity;
};
struct rrp_answer {
    uint32_t status, type;
    uint32_t size; /* the stated size of the data; the data has it, or is absent */
    const void *data;
    uint32_t data_size;
    const char *name;    /* of an enumeration, UTF-8 */
    uint32_t numbers[7]; /* of RRP_INFO, as in the protocol of winregd; the last two: the time */
    unsigned char handle[RRP_HANDLE_BYTES];
};

/* False: not such a call. `text` holds the name. For calls that would write, only the handle is
 * read. */
bool rrp_read(unsigned opnum, const void *bytes, size_t size, struct buffer *text,
              struct rrp_request *ret);
/* Does the call begin with a handle from an open? Calls without a handle do not. */
bool rrp_has_handle(unsigned opnum);
/* Appends the answer; false: no memory, or this call can only be answered by a fault. */
bool rrp_write(const struct rrp_request *request, const struct rrp_answer *answer,
               struct buffer *out);

#endif
