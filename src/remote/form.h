/* SPDX-License-Identifier: MIT */
/*
 * The protocol between machines: one request, one reply, over any stream of bytes. Numbers are
 * little-endian, texts UTF-8 with their NUL; docs/remote.md has the layout. Neither side trusts the
 * other: a message whose lengths do not add up is rejected.
 */
#ifndef OPL_REMOTE_FORM_H
#define OPL_REMOTE_FORM_H

#include "base/base.h"

enum {
    FORM_MARK = 0x314b504f, /* "OPK1": the protocol and its version */
    FORM_REQUEST_HEAD = 36,
    FORM_REPLY_HEAD = 32,
    FORM_START = 8, /* size and mark: enough to know how much follows */
    FORM_PATH_BYTES = 16384,
    FORM_NAME_BYTES = 65536,
    FORM_DATA_BYTES = 64 << 20,
    FORM_INFO_BYTES = 28,
    FORM_TIME_BYTES = 8
};
enum { FORM_REQUEST_BYTES = FORM_REQUEST_HEAD + FORM_PATH_BYTES + FORM_NAME_BYTES };
enum form_operation {
    FORM_OPEN = 1, /* does the key exist? */
    FORM_QUERY,
    FORM_ENUM_KEY,
    FORM_ENUM_VALUE,
    FORM_INFO,
    FORM_CLOSE, /* the performance data is not needed any more */
    /* the user on whose behalf the next requests are made: path is the name, name the SIDs */
    FORM_CALLER,
    FORM_OPERATIONS
};
enum form_flag { FORM_WIDE = 1, FORM_NO_DATA = 2, FORM_NO_SIZE = 4, FORM_FLAGS = 7 };
/* How a caller's connection is protected, in `index`: the level of its RPC (6: encrypted), and of
 * its SMB. */
enum form_protection { FORM_LEVEL = 0xff, FORM_PRIVACY = 6, FORM_ENCRYPTED = 0x100 };

struct form_request {
    uint32_t id;
    uint16_t operation, flags;
    uint32_t root;           /* the low half of the predefined key's number */
    uint32_t index;          /* of an enumeration */
    uint32_t room;           /* the client's buffer size */
    const char *path, *name; /* below the root, "": the root itself; name NULL: none */
};
struct form_reply {
    uint32_t id, status, type;
    uint32_t needed;  /* the size that the operation returned */
    const char *name; /* of an enumeration, else NULL */
    const void *data;
    size_t data_size;
};

/* The whole size, from the start of a message; 0: not a message, or larger than `most`. */
size_t form_size(const void *start, size_t most);
/* Both replace the content of `ret`. The reply's data is not copied: the caller sends it after the
 * header. */
bool form_write_request(const struct form_request *request, struct buffer *ret);
bool form_write_reply(const struct form_reply *reply, struct buffer *ret);
/* The whole message; texts and data point into it. False: malformed. */
bool form_read_request(const void *message, size_t size, struct form_request *ret);
bool form_read_reply(const void *message, size_t size, struct form_reply *ret);

uint32_t form_number(const void *at); /* little-endian, at any alignment */
void form_put_number(void *at, uint32_t number);

#endif
