/* SPDX-License-Identifier: MIT */
/* JSON, member by member, for every tool with --json. */
#ifndef OPL_TOOLS_JSON_H
#define OPL_TOOLS_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Knows only whether a comma is due and how deep it is. Begin with {.out = FILE}. */
struct json {
    FILE *out;
    int depth;
    bool filled; /* the open object or array has a member */
    bool flat;   /* all on one line */
};

/* `key` is NULL in an array and at the top, and has no character that needs an escape. */
void json_open(struct json *json, const char *key, char bracket);
void json_close(struct json *json, char bracket);
/* An object on one line; nothing opens inside. */
void json_open_flat(struct json *json, const char *key);
void json_close_flat(struct json *json);
void json_integer(struct json *json, const char *key, int64_t value);
void json_bool(struct json *json, const char *key, bool value);
/* null where it is no number */
void json_double(struct json *json, const char *key, double value);
/* UTF-8; bytes that are none become U+FFFD. NULL is null. */
void json_string(struct json *json, const char *key, const char *value);

#endif
