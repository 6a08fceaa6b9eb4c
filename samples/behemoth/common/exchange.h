/* SPDX-License-Identifier: MIT */
/*
 * What goes over the herd's socket, a Unix stream socket. All numbers are in the machine's own
 * order, since both ends are on one machine; every structure is a multiple of 8 bytes without gaps.
 *
 * The client sends a head and `bytes` of body, at most BEHEMOTH_REQUEST_MAX; the server answers
 * each request in turn with a head whose `what` is a status and whose `number` is the request's,
 * and `bytes` of body. If a client sends anything else, the server closes the connection.
 *
 * One method is for all clients that show values: BEHEMOTH_HERD, without a body, is answered by a
 * struct behemoth_herd and `count` times a struct behemoth, all of one moment. BEHEMOTH_SUMMARY is
 * the same without those, for clients that do not need single behemoths. The others change the
 * herd; they are for root and for the user that the server runs as.
 */
#ifndef BEHEMOTH_EXCHANGE_H
#define BEHEMOTH_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    BEHEMOTH_MAGIC = 0x314D4842, /* "BHM1" where the low byte comes first */
    BEHEMOTH_REQUEST_MAX = 256,
    BEHEMOTH_HERD_MAX = 200000,
    BEHEMOTH_NAME = 24,        /* bytes of a name, with the NUL */
    BEHEMOTH_SECOND = 10000000 /* times are FILETIMEs: 100 ns since 1601 */
};
#define BEHEMOTH_NONE UINT32_MAX
#define BEHEMOTH_1970 INT64_C(11644473600) /* seconds from 1601 to 1970 */

enum behemoth_request {
    BEHEMOTH_HERD = 1,   /* -> struct behemoth_herd, struct behemoth... */
    BEHEMOTH_CREATE,     /* struct behemoth_create -> struct behemoth */
    BEHEMOTH_KILL,       /* uint64_t id -> nothing */
    BEHEMOTH_PARAMETERS, /* -> struct behemoth_parameter... */
    BEHEMOTH_SET,        /* struct behemoth_parameter (name, value) -> nothing */
    BEHEMOTH_FORWARD,    /* uint64_t seconds of the herd's time, at most 100,000 -> nothing;
                          * answered when it is done, and others are meanwhile */
    BEHEMOTH_SAVE,       /* -> nothing; it is on the disk then */
    BEHEMOTH_STOP,       /* -> nothing; the server saves and ends then */
    BEHEMOTH_SUMMARY     /* -> struct behemoth_herd; a server of an older build: BEHEMOTH_BAD */
};
enum behemoth_status {
    BEHEMOTH_OK,
    BEHEMOTH_BAD,       /* such a request makes no sense */
    BEHEMOTH_REFUSED,   /* not for this user */
    BEHEMOTH_UNKNOWN,   /* there is no such behemoth, or parameter */
    BEHEMOTH_FULL,      /* the field is full */
    BEHEMOTH_TAKEN,     /* the name is another one's */
    BEHEMOTH_FAILED,    /* the server could not do it: the disk, memory */
    BEHEMOTH_NAME_BAD,  /* not printable ASCII, or with a meaning in the path of a counter */
    BEHEMOTH_NO_MOTHER, /* but male */
    BEHEMOTH_YOUNGER    /* the mother, than the child would be */
};

struct behemoth_head {
    uint32_t magic;
    uint32_t what;   /* a request; in answers a status */
    uint32_t bytes;  /* of the body after it */
    uint32_t number; /* from the client, returned in the answer */
};

enum { BEHEMOTH_MALE, BEHEMOTH_FEMALE };

struct behemoth {
    uint64_t id;
    uint64_t mother;          /* her id; 0: none, or dead */
    int64_t birthday;         /* in the herd's time */
    uint32_t mother_position; /* among the herd, before her children; BEHEMOTH_NONE */
    uint32_t sex;
    uint32_t x, y;       /* metres */
    uint32_t weight;     /* kg */
    uint32_t volume;     /* litres */
    uint32_t generation; /* 0: came from elsewhere */
    uint32_t children;   /* born so far, living or not */
    char name[BEHEMOTH_NAME];
};

struct behemoth_herd {
    uint32_t each;                    /* sizeof(struct behemoth) */
    uint32_t count;                   /* how many follow */
    int64_t moment;                   /* when this was true */
    int64_t time;                     /* the herd's time then: it has a speed of its own */
    uint64_t ticks;                   /* seconds of life so far */
    uint64_t founded, births, deaths; /* count is founded + births - deaths */
    uint64_t weight;                  /* of all, kg */
    uint64_t ages;                    /* of all, seconds of the herd's time */
    /* Each walk has as many left steps as right ones, so one number is sufficient. */
    uint64_t left_steps, right_steps;
    uint32_t width, height; /* of the field, metres */
    uint64_t lifetime;      /* mean, in seconds */
    uint64_t process;       /* the server's */
};

struct behemoth_create {
    char name[BEHEMOTH_NAME]; /* empty: the server finds one */
    uint64_t mother;          /* 0: none */
    uint32_t sex;             /* BEHEMOTH_NONE: as it happens */
    uint32_t age;             /* in seconds of the herd's time; no more than the mother's */
    uint32_t x, y;            /* on the field; BEHEMOTH_NONE: beside the mother, or anywhere */
};

struct behemoth_parameter {
    char name[BEHEMOTH_NAME];
    int64_t value, least, most;
};

_Static_assert(sizeof(struct behemoth) == 80, "no gaps");
_Static_assert(sizeof(struct behemoth_herd) == 112, "no gaps");
_Static_assert(sizeof(struct behemoth_create) == 48, "no gaps");

/* ---- the client side ---- */

/* A connection, opened when needed; initialize with {.socket = -1}. */
struct behemoth_line {
    int socket;
    pid_t owner; /* a child after fork opens its own */
    /* These identify the socket: a program that closes all descriptors of its process closes this
     * one, too, and its number may be reused. */
    dev_t device;
    ino_t inode;
    struct behemoth_head request; /* the last one */
    struct behemoth_head head;    /* of the last answer */
    unsigned char *body;
    size_t capacity;
};

/* Milliseconds of a monotonic clock. */
int64_t behemoth_now(void);
/* The socket's path: `wanted`, or else $BEHEMOTH_SOCKET, which no provider in a helper gets, or
 * else $OPENPERFLIB_ROOT/herd.sock, or else $XDG_RUNTIME_DIR/behemoth/herd.sock, the user's
 * own: for a server (`listen`) unless it is root's, for a client if it exists; or else
 * /run/behemoth/herd.sock. False: too long. */
bool behemoth_place(const char *wanted, bool listen, char *ret, size_t bytes);
/* Sends a request, on a new connection if there is none, and waits for its answer until `until`.
 * True: line->head and line->body are it. False: errno is the reason, and the line is closed.
 * The server must run as the caller, root or the user `behemoth`, else EACCES. */
bool behemoth_exchange(struct behemoth_line *line, const char *path, uint32_t what,
                       const void *body, uint32_t bytes, int64_t until);
/* The answer to BEHEMOTH_HERD or BEHEMOTH_SUMMARY, after checks: counts, sexes, mothers before
 * their children, terminated names. NULL: invalid. */
const struct behemoth_herd *behemoth_herd_of(const struct behemoth_line *line);
const struct behemoth *behemoth_all(const struct behemoth_herd *herd);
void behemoth_hang_up(struct behemoth_line *line);
/* The same, and frees what was received. */
void behemoth_line_end(struct behemoth_line *line);

#endif
