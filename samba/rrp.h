/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The calls of the remote registry protocol (MS-RRP) as bytes: what a client sent, and what it is
 * answered. Knows nothing of Samba. What a client sent is believed nowhere: each length is read
 * once and compared with what is there.
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

/* A place for a text that the client offers; the answer has one in the same place. */
struct rrp_room {
    bool there;
    bool has_text;
    uint16_t bytes; /* how much it holds */
};
struct rrp_request {
    unsigned opnum;
    unsigned char handle[RRP_HANDLE_BYTES];
    const char *name; /* UTF-8, NULL: none; lies in the buffer given to rrp_read */
    uint32_t index, access, room;
    bool has_type, has_data, has_size, has_length, has_class, has_time;
    struct rrp_room name_room, class_room;
};
struct rrp_answer {
    uint32_t status, type;
    uint32_t size; /* what is said to be the data's; the data have it, or there are none */
    const void *data;
    uint32_t data_size;
    const char *name;    /* of an enumeration, UTF-8 */
    uint32_t numbers[7]; /* of RRP_INFO, as the form tells them; the last two: when */
    unsigned char handle[RRP_HANDLE_BYTES];
};

/* False: it is no such call. `text` keeps the name. Of calls that would write only the handle. */
bool rrp_read(unsigned opnum, const void *bytes, size_t size, struct buffer *text,
              struct rrp_request *ret);
/* Begins with the handle that an open gave? Those that need none do not. */
bool rrp_has_handle(unsigned opnum);
/* Adds the answer; false: no memory, or there is no way to answer this call but by a fault. */
bool rrp_write(const struct rrp_request *request, const struct rrp_answer *answer,
               struct buffer *out);

#endif
