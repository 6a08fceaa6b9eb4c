/* SPDX-License-Identifier: MIT */
/*
 * How another machine is asked: one request, one reply, over any stream of bytes. Numbers are
 * little-endian, texts UTF-8 with their NUL; docs/remote.md draws both. Neither side believes the
 * other: what does not add up is no message.
 */
#ifndef OPL_REMOTE_FORM_H
#define OPL_REMOTE_FORM_H

#include "base/base.h"

enum {
    FORM_MARK = 0x314b504f, /* "OPK1": the form and its version */
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
    FORM_OPEN = 1, /* is the key there? */
    FORM_QUERY,
    FORM_ENUM_KEY,
    FORM_ENUM_VALUE,
    FORM_INFO,
    FORM_CLOSE,  /* the performance data are not wanted any more */
    FORM_CALLER, /* for whom the stream asks from now on: path is his name, name his SIDs */
    FORM_OPERATIONS
};
enum form_flag { FORM_WIDE = 1, FORM_NO_DATA = 2, FORM_NO_SIZE = 4, FORM_FLAGS = 7 };
/* How a caller is protected, in `index`: the level of his RPC (6: encrypted), and of his SMB. */
enum form_protection { FORM_LEVEL = 0xff, FORM_PRIVACY = 6, FORM_ENCRYPTED = 0x100 };

struct form_request {
    uint32_t id;
    uint16_t operation, flags;
    uint32_t root;           /* the low half of the predefined key's number */
    uint32_t index;          /* of an enumeration */
    uint32_t room;           /* how much data the asker has place for */
    const char *path, *name; /* below the root, "": itself; name NULL: none */
};
struct form_reply {
    uint32_t id, status, type;
    uint32_t needed;  /* the size that the operation left */
    const char *name; /* of an enumeration, else NULL */
    const void *data;
    size_t data_size;
};

/* The whole size that a message begins with; 0: it is none, or larger than `most`. */
size_t form_size(const void *start, size_t most);
/* Both replace the content of `ret`. The reply's data are not copied: they follow it. */
bool form_write_request(const struct form_request *request, struct buffer *ret);
bool form_write_reply(const struct form_reply *reply, struct buffer *ret);
/* The whole message; texts and data point into it. False: it is not one. */
bool form_read_request(const void *message, size_t size, struct form_request *ret);
bool form_read_reply(const void *message, size_t size, struct form_reply *ret);

uint32_t form_number(const void *at); /* little-endian, wherever it lies */
void form_put_number(void *at, uint32_t number);

#endif
