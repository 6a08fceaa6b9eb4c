/* SPDX-License-Identifier: MIT */
/*
 * The protocol between machines: one reply for each request, over any stream of bytes. Numbers are
 * little-endian, texts are UTF-8 with their NUL; docs/remote-protocol.md has the layout. Neither
 * side trusts the other: a message whose lengths do not add up is rejected.
 */
#ifndef OPL_REMOTE_PROTO_H
#define OPL_REMOTE_PROTO_H

#include "base/base.h"

#include <string.h>

enum {
    PROTO_MARK = 0x314b504f, /* "OPK1": the protocol and its version */
    PROTO_REQUEST_HEAD = 36,
    PROTO_REPLY_HEAD = 32,
    PROTO_START = 8, /* bytes at the start of a message: its size and PROTO_MARK */
    PROTO_PATH_BYTES = 16384,
    PROTO_NAME_BYTES = 65536,
    PROTO_DATA_BYTES = 64 << 20,
    PROTO_INFO_BYTES = 28,
    PROTO_TIME_BYTES = 8
};
enum { PROTO_REQUEST_BYTES = PROTO_REQUEST_HEAD + PROTO_PATH_BYTES + PROTO_NAME_BYTES };
enum proto_operation {
    PROTO_OPEN = 1, /* tests whether the key exists */
    PROTO_QUERY,
    PROTO_ENUM_KEY,
    PROTO_ENUM_VALUE,
    PROTO_INFO,
    PROTO_CLOSE, /* says that the performance data is not needed any more */
    /* names the user of the requests that follow: `path` is the user's name, `name` the
     * SIDs */
    PROTO_CALLER,
    PROTO_OPERATIONS
};
enum proto_flag { PROTO_WIDE = 1, PROTO_NO_DATA = 2, PROTO_NO_SIZE = 4, PROTO_FLAGS = 7 };
/* Bits of `index` in PROTO_CALLER: how the caller's connection is protected. The lowest byte is the
 * level of its RPC (6: encrypted); PROTO_ENCRYPTED: its SMB is encrypted. */
enum proto_protection { PROTO_LEVEL = 0xff, PROTO_PRIVACY = 6, PROTO_ENCRYPTED = 0x100 };

struct proto_request {
    uint32_t id;
    uint16_t operation, flags;
    uint32_t root;           /* lower 32 bits of the predefined key's number */
    uint32_t index;          /* position of the key or value in an enumeration */
    uint32_t capacity;       /* size of the client's buffer in bytes */
    const char *path, *name; /* `path` "": the root itself; `name` NULL: no name */
};
struct proto_reply {
    uint32_t id, status, type;
    uint32_t needed;  /* the size that the operation returned (that of the value or the needed
                       * buffer) */
    const char *name; /* name of the enumerated key or value; NULL in other replies */
    const void *data;
    size_t data_size;
};

/* Returns the size of a whole message, read from its first PROTO_START bytes. 0: the bytes are not
 * a message, or the message is larger than `most`. */
size_t proto_size(const void *start, size_t most);
/* Both functions replace the content of `ret`; false: no memory, or the message is not valid. The
 * data of a reply is not copied, because the caller sends it after the header. */
bool proto_write_request(const struct proto_request *request, struct buffer *ret);
bool proto_write_reply(const struct proto_reply *reply, struct buffer *ret);
/* Both functions parse a whole message. Texts and data in *ret point into the message. False: the
 * message is malformed. */
bool proto_read_request(const void *message, size_t size, struct proto_request *ret);
bool proto_read_reply(const void *message, size_t size, struct proto_reply *ret);

uint32_t proto_number(const void *at); /* reads 4 bytes, little-endian, at any alignment */
void proto_put_number(void *at, uint32_t number);

/* ---- limits of the client and of openperflib-smb; samba/shim.h has those inside
 * Samba, docs/remote.md those of the server ---- */
/* clang-format off */
enum {
    REMOTE_FIRST_BYTES = 64 << 10, /* buffer for a value of unknown size; the server's, too */
    REMOTE_CLOSE_SECONDS = 3, REMOTE_REST_SECONDS = 30, /* closing; the longest pause */

    CLIENT_CLAIM_SECONDS = 15, CLIENT_CONNECT_SECONDS = 3, /* other threads' calls; the stream */
    /* a reply, without the setting Deadline; the range of that; the factor for Costly */
    CLIENT_REPLY_MS = 15000, CLIENT_LEAST_REPLY_MS = 100, CLIENT_MOST_REPLY_MS = 60000,
    CLIENT_COSTLY_TIMES = 3,
    CLIENT_OVERDUE_SECONDS = 60, CLIENT_REMEMBERED_SECONDS = 60, /* overdue reply; slow machine */
    CLIENT_RECHECK_MS = 5, /* between looks at a call that waits for no event of its stream */
    CLIENT_LEAST_RECEIVED = 16 << 10, CLIENT_MOST_RECEIVED = 256 << 10, /* bytes at once */

    SMB_PORT = 445, SMB_MOST_ADDRESSES = 4, SMB_CONNECT_SECONDS = 5, /* for each address */
    /* until the machine has started its registry service, and the pauses between attempts */
    SMB_START_MS = 6000, SMB_FIRST_START_PAUSE_MS = 100, SMB_LONGEST_START_PAUSE_MS = 1600,
    SMB_ANSWER_SECONDS = 30, SMB_COSTLY_SECONDS = 60, SMB_GRACE_SECONDS = 5, /* then it exits */
    /* until a busy machine accepts the request, and the pauses between attempts */
    SMB_BUSY_MS = 3000, SMB_FIRST_BUSY_PAUSE_MS = 50, SMB_LONGEST_BUSY_PAUSE_MS = 800,
    SMB_IDLE_MS = 100, SMB_CHECK_SECONDS = 30, /* until memory of answers is freed; option -c */
    SMB_KEPT_KEYS = 16, SMB_HINTS = 16, /* open keys; remembered sizes of answers */
    SMB_ADDRESS_BYTES = 600, SMB_CREDENTIALS_BYTES = 1 << 20, SMB_MEMORY_BYTES = 512 << 20
};
/* clang-format on */
/* Counts a failure to connect; returns when to try again, in clock_ticks. */
static inline int64_t remote_try_again(unsigned *failures)
{
    int64_t seconds = *failures < 5 ? 1 << *failures : REMOTE_REST_SECONDS;
    ++*failures;
    return clock_ticks() + seconds * CLOCK_TICKS_PER_SECOND;
}
static inline bool remote_is_costly(const char *value_name)
{
    return value_name && text_starts_fold(value_name, "Costly");
}

/* True if the key's path is `above` or below it; every path is below "". */
static inline bool remote_is_within(const char *path, const char *above)
{
    size_t count = strlen(above);
    return !count || (text_starts_fold(path, above) && (!path[count] || path[count] == '\\'));
}

/* ---- stream.c: the server's end of a stream ---- */
/* Receives a request and returns its size. 0: the client disconnected, or sent nothing until
 * `until`. SIZE_MAX: the request is malformed, or took longer than `seconds` (0: no limit). */
size_t stream_receive(int in, char message[static PROTO_REQUEST_BYTES], int64_t until,
                      unsigned seconds);
bool stream_send(int out, const struct proto_reply *reply, unsigned seconds);

#endif
