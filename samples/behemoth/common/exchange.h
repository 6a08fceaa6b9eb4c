/* SPDX-License-Identifier: MIT */
/*
 * The protocol of the herd's socket, a Unix stream socket. All numbers are in the machine's byte
 * order, since both ends are on one machine; every structure is a multiple of 8 bytes without gaps.
 *
 * A connection is for one request. The client sends a head and `bytes` of body, at most
 * BEHEMOTH_REQUEST_MAX; the server answers with a head whose `what` is a status and whose `number`
 * is the request's, and `bytes` of body, and closes the connection. If a client sends anything
 * else, the server closes the connection without an answer.
 *
 * Clients that show values need one request only: BEHEMOTH_HERD, without a body, is answered by a
 * struct behemoth_herd and `count` structs behemoth, all of one moment; BEHEMOTH_SUMMARY by struct
 * behemoth_herd alone. Only root and the server's user may send requests that change the herd.
 */
#ifndef BEHEMOTH_EXCHANGE_H
#define BEHEMOTH_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    BEHEMOTH_MAGIC = 0x314D4842, /* "BHM1" on little-endian machines */
    BEHEMOTH_REQUEST_MAX = 256,
    BEHEMOTH_HERD_MAX = 200000,
    BEHEMOTH_NAME = 24,        /* bytes of a name, with the NUL */
    BEHEMOTH_SECOND = 10000000 /* times are FILETIMEs: 100 ns since 1601 */
};
#define BEHEMOTH_NONE UINT32_MAX
#define BEHEMOTH_1970 INT64_C(11644473600) /* seconds from 1601 to 1970 */

/* Requests. Each comment has the body of the request, then -> and the body of the answer. */
enum behemoth_request {
    BEHEMOTH_HERD = 1,   /* -> struct behemoth_herd, struct behemoth... */
    BEHEMOTH_CREATE,     /* struct behemoth_create -> struct behemoth */
    BEHEMOTH_KILL,       /* uint64_t id -> nothing */
    BEHEMOTH_PARAMETERS, /* -> struct behemoth_parameter... */
    BEHEMOTH_SET,        /* struct behemoth_parameter (name, value) -> nothing */
    BEHEMOTH_FORWARD,    /* uint64_t, at most 100,000 seconds of the herd's time, which pass without
                          * waiting; meanwhile, other requests are served -> nothing */
    BEHEMOTH_SAVE,       /* -> nothing, as soon as the herd is on the disk */
    BEHEMOTH_STOP,       /* -> nothing; then the server saves the herd and ends */
    BEHEMOTH_SUMMARY     /* -> struct behemoth_herd; a server of an older build: BEHEMOTH_BAD */
};
enum behemoth_status {
    BEHEMOTH_OK,
    BEHEMOTH_BAD,       /* the request is invalid */
    BEHEMOTH_REFUSED,   /* this user may not do what was requested */
    BEHEMOTH_UNKNOWN,   /* there is no such behemoth or parameter */
    BEHEMOTH_FULL,      /* the field is full */
    BEHEMOTH_TAKEN,     /* another behemoth has the name */
    BEHEMOTH_FAILED,    /* the server failed, because the disk or memory is full */
    BEHEMOTH_NAME_BAD,  /* not printable ASCII, or a character with a meaning in counter paths */
    BEHEMOTH_NO_MOTHER, /* the behemoth given as mother is male */
    BEHEMOTH_YOUNGER    /* the mother is younger than the child would be */
};

struct behemoth_head {
    uint32_t magic;
    uint32_t what;   /* a request; in answers a status */
    uint32_t bytes;  /* size of the body after the head */
    uint32_t number; /* chosen by the client, returned in the answer */
};

enum { BEHEMOTH_MALE, BEHEMOTH_FEMALE };

struct behemoth {
    uint64_t id;
    uint64_t mother;          /* her id; 0: none, or dead */
    int64_t birthday;         /* in the herd's time */
    uint32_t mother_position; /* in the answer, before her children; BEHEMOTH_NONE: no mother */
    uint32_t sex;
    uint32_t x, y;       /* metres */
    uint32_t weight;     /* kg */
    uint32_t volume;     /* litres */
    uint32_t generation; /* 0: a founder, or placed by a client; not born */
    uint32_t children;   /* born so far, living or not */
    char name[BEHEMOTH_NAME];
};

struct behemoth_herd {
    uint32_t each;                    /* sizeof(struct behemoth) */
    uint32_t count;                   /* number of struct behemoth that follow */
    int64_t moment;                   /* time of day of this answer */
    int64_t time;                     /* the herd's time at that moment, which has its own speed */
    uint64_t ticks;                   /* seconds of life so far */
    uint64_t founded, births, deaths; /* count is founded + births - deaths */
    uint64_t weight;                  /* sum, kg */
    uint64_t ages;                    /* sum of all ages, in seconds of the herd's time */
    uint64_t left_steps, right_steps; /* always equal: a walk has as many left as right steps */
    uint32_t width, height;           /* size of the field, metres */
    uint64_t lifetime;                /* mean lifetime, in seconds */
    uint64_t process;                 /* process number of the server */
};

struct behemoth_create {
    char name[BEHEMOTH_NAME]; /* empty: the server chooses one */
    uint64_t mother;          /* 0: none */
    uint32_t sex;             /* BEHEMOTH_NONE: random */
    uint32_t age;             /* in seconds of the herd's time; not higher than the mother's */
    uint32_t x, y;            /* BEHEMOTH_NONE: beside the mother; anywhere if there is none */
};

struct behemoth_parameter {
    char name[BEHEMOTH_NAME];
    int64_t value, least, most;
};

_Static_assert(sizeof(struct behemoth) == 80, "no gaps");
_Static_assert(sizeof(struct behemoth_herd) == 112, "no gaps");
_Static_assert(sizeof(struct behemoth_create) == 48, "no gaps");

/* ---- the client side ---- */

/* A request and its answer; initialize with {0}. */
struct behemoth_line {
    struct behemoth_head request; /* the last request */
    struct behemoth_head head;    /* head of its answer */
    unsigned char *body;
    size_t capacity;
};

/* Milliseconds of a monotonic clock. */
int64_t behemoth_now(void);
/* The socket's path: `wanted`, or else $BEHEMOTH_SOCKET (which a provider in a helper process does
 * not get), or else $OPENPERFLIB_ROOT/herd.sock, or else the user's own
 * $XDG_RUNTIME_DIR/behemoth/herd.sock (for a server, `listen`, if it does not run as root; for a
 * client, if the file exists), or else /run/behemoth/herd.sock. False: the path is too long. */
bool behemoth_place(const char *wanted, bool listen, char *ret, size_t bytes);
/* Sends a request and waits for its answer until the time `until` (see behemoth_now). True: the
 * answer is in line->head and line->body. False: errno is the reason. The server must run as the
 * caller's user, root or the user `behemoth`, else errno is EACCES. */
bool behemoth_exchange(struct behemoth_line *line, const char *path, uint32_t what,
                       const void *body, uint32_t bytes, int64_t until);
/* The answer to BEHEMOTH_HERD or BEHEMOTH_SUMMARY, after checks: counts, sexes, mothers before
 * their children, terminated names. NULL: invalid. */
const struct behemoth_herd *behemoth_herd_of(const struct behemoth_line *line);
const struct behemoth *behemoth_all(const struct behemoth_herd *herd);
void behemoth_line_end(struct behemoth_line *line);

#endif
