/* SPDX-License-Identifier: MIT */
/*
 * The remote registry's calls as bytes (MS-RRP over NDR, 32 bits, little-endian): requests are
 * written, replies are parsed. A reply is untrusted: everything in it is checked, and what is
 * returned lies inside it.
 */
#ifndef OPL_REMOTE_SMB_NDR_H
#define OPL_REMOTE_SMB_NDR_H

#include "base/base.h"

enum winreg_call {
    WINREG_OPEN_LOCAL_MACHINE = 2,
    WINREG_OPEN_PERFORMANCE_DATA = 3,
    WINREG_OPEN_USERS = 4,
    WINREG_CLOSE_KEY = 5,
    WINREG_ENUM_KEY = 9,
    WINREG_ENUM_VALUE = 10,
    WINREG_OPEN_KEY = 15,
    WINREG_QUERY_INFO_KEY = 16,
    WINREG_QUERY_VALUE = 17,
    WINREG_GET_VERSION = 26,
    WINREG_OPEN_PERFORMANCE_TEXT = 32,
    WINREG_OPEN_PERFORMANCE_NLSTEXT = 33
};
enum { WINREG_HANDLE_BYTES = 20, WINREG_MOST_BYTES = 64 << 20 };

struct winreg_handle {
    unsigned char bytes[WINREG_HANDLE_BYTES];
};
struct winreg_value {
    uint32_t status, type;
    uint32_t needed;  /* the required size it states, after 234: not trusted */
    const char *data; /* NULL: absent */
    size_t size;
    const char *name; /* of an enumeration: UTF-16LE, at any alignment */
    size_t name_count;
};
struct winreg_subkey {
    uint32_t status;
    const char *name;
    size_t name_count;
    uint32_t time[2];
};
enum { WINREG_INFO_NUMBERS = 7 };
struct winreg_info {
    uint32_t status;
    /* subkeys, longest subkey, longest class, values, longest name, largest value, security */
    uint32_t numbers[WINREG_INFO_NUMBERS];
    uint32_t time[2];
};

/* Requests: replace the content of `ret`. False: no memory, or a name that is too long. */
bool winreg_put_open_root(struct buffer *ret);
bool winreg_put_handle(const struct winreg_handle *key, struct buffer *ret); /* close, version */
bool winreg_put_open_key(const struct winreg_handle *key, const char *path, struct buffer *ret);
bool winreg_put_query(const struct winreg_handle *key, const char *name, uint32_t capacity,
                      struct buffer *ret);
bool winreg_put_enum_key(const struct winreg_handle *key, uint32_t index, struct buffer *ret);
bool winreg_put_enum_value(const struct winreg_handle *key, uint32_t index, uint32_t capacity,
                           struct buffer *ret);
bool winreg_put_info(const struct winreg_handle *key, struct buffer *ret);

/* Replies. False: malformed. If the status is not 0, the other members are not set. */
bool winreg_take_handle(const struct buffer *reply, struct winreg_handle *ret,
                        uint32_t *ret_status);
bool winreg_take_number(const struct buffer *reply, uint32_t *ret, uint32_t *ret_status);
bool winreg_take_value(const struct buffer *reply, uint32_t capacity, struct winreg_value *ret);
bool winreg_take_enum_value(const struct buffer *reply, uint32_t capacity,
                            struct winreg_value *ret);
bool winreg_take_enum_key(const struct buffer *reply, struct winreg_subkey *ret);
bool winreg_take_info(const struct buffer *reply, struct winreg_info *ret);

#endif
