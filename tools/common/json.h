/* SPDX-License-Identifier: MIT */
/* Writes JSON, member by member, for every tool with --json. */
#ifndef OPL_TOOLS_JSON_H
#define OPL_TOOLS_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The state: whether a comma is needed, and the depth. Initialize with {.out = FILE}. */
struct json {
    FILE *out;
    int depth;
    bool filled; /* the open object or array has a member */
    bool flat;   /* all on one line */
};

/* `key` is NULL for a member of an array and for the outermost value; it has no character that
 * needs an escape. */
void json_open(struct json *json, const char *key, char bracket);
void json_close(struct json *json, char bracket);
/* Begins an object that is on one line, without nested objects or arrays. */
void json_open_flat(struct json *json, const char *key);
void json_close_flat(struct json *json);
void json_integer(struct json *json, const char *key, int64_t value);
void json_bool(struct json *json, const char *key, bool value);
/* writes null if `value` is not finite */
void json_double(struct json *json, const char *key, double value);
/* Writes a text in UTF-8; invalid bytes become U+FFFD. NULL becomes null. */
void json_string(struct json *json, const char *key, const char *value);

#endif
