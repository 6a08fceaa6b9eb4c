/* SPDX-License-Identifier: MIT */
/*
 * Redirector (262): this machine as a client of file servers, from the counts of the kernel's SMB
 * client for each share, and of its NFS client for each mounted file system. Server (330): this
 * machine as a file server, from the kernel's SMB server. A share is counted from its mount on, so
 * the sums decrease when a share is unmounted.
 *
 * proc/fs/cifs/Stats has for each share the lines "1) \\host\share" and "SMBs: 9". With SMB 1 the
 * lines "Reads:  2 Bytes: 5" and "Writes: 1 Bytes: 5" follow; with later versions of SMB, the lines
 * "Bytes read: 5  Bytes written: 5", "Reads: 2 total 0 failed", "Writes: 1 total 0 failed".
 */
#include <string.h>

#include "perfnet.h"

static const opl_source smb = {.path = "proc/fs/cifs/Stats"};
/* Lists all mounted file systems; most lines have no statistics. */
static const opl_source nfs = {.path = "proc/self/mountstats"};
/* Exists if the NFS client is loaded. */
static const opl_source nfs_servers = {.path = "proc/fs/nfsfs/servers"};
/* Exists since Linux 7.0; only root can read it. */
static const opl_source smb_server = {.path = "proc/fs/ksmbd/server"};

static uint64_t number_at(const char *at)
{
    uint64_t number = 0;
    for (at += strspn(at, " \t"); *at >= '0' && *at <= '9'; at++)
        number = number * 10 + (uint64_t)(*at - '0');
    return number;
}

/* The text after the key, if the line begins with it after blanks; else NULL. */
static const char *text_after(const char *line, const char *key)
{
    size_t length = strlen(key);
    line += strspn(line, " \t");
    return strncmp(line, key, length) == 0 ? line + length : NULL;
}

/* The text after the key anywhere in the line; else NULL. */
static const char *within(const char *line, const char *key)
{
    const char *end = strchrnul(line, '\n'), *found = strstr(line, key);
    return found && found < end ? found + strlen(key) : NULL;
}

/* ---- SMB ---- */

struct share_keys {
    /* the words before the requests, and (SMB 1) before the bytes in the same line */
    const char *begin, *bytes;
    const char *bytes_later;
};
static const struct share_keys reads = {"Reads:", "Bytes:", "Bytes read:"};
static const struct share_keys writes = {"Writes:", "Bytes:", "Bytes written:"};

/* Adds the requests and bytes of all shares to *requests and *bytes, each of which may be NULL.
 * False: there is no SMB client. */
static bool add_shares(opl_reading *reading, const struct share_keys *keys, uint64_t *requests,
                       uint64_t *bytes)
{
    const char *line = opl_reading_text(reading, &smb, NULL), *at;
    if (!line)
        return false;
    for (; *line; line = opl_next_line(line)) {
        if ((at = text_after(line, keys->begin)) != NULL) {
            if (requests)
                *requests += number_at(at);
            if (bytes && (at = within(at, keys->bytes)) != NULL)
                *bytes += number_at(at);
        } else if (bytes && (at = within(line, keys->bytes_later)) != NULL) {
            *bytes += number_at(at);
        }
    }
    return true;
}

/* The sum of the numbers after the key, over all lines that begin with it; false: there is no such
 * line. */
static bool add_lines(opl_reading *reading, const char *key, uint64_t *ret)
{
    const char *line = opl_reading_text(reading, &smb, NULL), *at;
    bool found = false;
    for (*ret = 0; line && *line; line = opl_next_line(line))
        if ((at = text_after(line, key)) != NULL) {
            *ret += number_at(at);
            found = true;
        }
    return found;
}

/* The requests that were sent; 0 if the SMB client is loaded but no share is mounted. */
static bool requests_sent(opl_reading *reading, uint64_t *ret)
{
    return add_lines(reading, "SMBs:", ret) || opl_reading_text(reading, &smb, NULL);
}

static bool sessions(opl_reading *reading, uint64_t *ret)
{
    return add_lines(reading, "CIFS Session:", ret);
}

static bool commands(opl_reading *reading, uint64_t *ret)
{
    return add_lines(reading, "Operations (MIDs):", ret);
}

/* The number of session reconnects, in the line "0 session 0 share reconnects". */
static bool reconnects(opl_reading *reading, uint64_t *ret)
{
    const char *line = opl_reading_text(reading, &smb, NULL);
    for (; line && *line; line = opl_next_line(line))
        if (within(line, " share reconnects")) {
            *ret = number_at(line);
            return true;
        }
    return false;
}

/* ---- NFS ---- */

/* Is this the first line of an NFS file system? "device host:/path mounted on /place with fstype
 * nfs4 statvers=1.1" */
static bool is_nfs(const char *line)
{
    return text_after(line, "device ") && within(line, " with fstype nfs") &&
           within(line, "statvers=");
}

static const char *next_device(const char *line)
{
    do
        line = opl_next_line(line);
    while (*line && !text_after(line, "device "));
    return line;
}

/* Do two entries of mountstats describe the same file system? A file system that is mounted at
 * several places has an entry for each place, with the same numbers. */
static bool is_same(const char *one, const char *other)
{
    const char *a = opl_next_line(one), *b = opl_next_line(other);
    size_t bytes = (size_t)(next_device(one) - a);
    return strcspn(one + 7, " \n") == strcspn(other + 7, " \n") &&
           strncmp(one, other, 7 + strcspn(one + 7, " \n")) == 0 &&
           (size_t)(next_device(other) - b) == bytes && memcmp(a, b, bytes) == 0;
}

static bool was_counted(const char *text, const char *device)
{
    for (; text < device; text = next_device(text))
        if (is_nfs(text) && is_same(text, device))
            return true;
    return false;
}

static uint64_t word_at(const char *at, unsigned word)
{
    for (at += strspn(at, " \t"); word > 1; word--) {
        at += strcspn(at, " \t\n");
        at += strspn(at, " \t");
    }
    return number_at(at);
}

/* Adds up word number `word` of the lines that begin with one of the keys (a list ended by NULL),
 * over all file systems. False: there is no NFS client. */
static bool add_mounts(opl_reading *reading, const char *const *keys, unsigned word, uint64_t *sum)
{
    const char *text = opl_reading_text(reading, &nfs_servers, NULL)
                           ? opl_reading_text(reading, &nfs, NULL)
                           : NULL;
    for (const char *device = text; device && *device; device = next_device(device)) {
        if (!is_nfs(device) || was_counted(text, device))
            continue;
        const char *end = next_device(device), *at;
        for (const char *line = opl_next_line(device); line < end; line = opl_next_line(line))
            for (const char *const *key = keys; *key; key++)
                if ((at = text_after(line, *key)) != NULL)
                    *sum += word_at(at, word);
    }
    return text != NULL;
}

/* ---- SMB and NFS together ---- */

/* Positions of numbers. In a line "bytes: ...", the fifth number is the bytes read from the server,
 * and the sixth is the bytes written to it. In a line "READ: ...", the second number is how often
 * the request was sent. */
enum { FROM_SERVER = 5, TO_SERVER = 6, SENT = 2 };
static const char *const nfs_bytes[] = {"bytes:", NULL};
static const char *const nfs_reads[] = {"READ:", "READ_PLUS:", NULL};
static const char *const nfs_writes[] = {"WRITE:", NULL};

static bool read_bytes(opl_reading *reading, uint64_t *ret)
{
    *ret = 0;
    bool found = add_shares(reading, &reads, NULL, ret);
    return add_mounts(reading, nfs_bytes, FROM_SERVER, ret) || found;
}

static bool written_bytes(opl_reading *reading, uint64_t *ret)
{
    *ret = 0;
    bool found = add_shares(reading, &writes, NULL, ret);
    return add_mounts(reading, nfs_bytes, TO_SERVER, ret) || found;
}

static bool read_requests(opl_reading *reading, uint64_t *ret)
{
    *ret = 0;
    bool found = add_shares(reading, &reads, ret, NULL);
    return add_mounts(reading, nfs_reads, SENT, ret) || found;
}

static bool write_requests(opl_reading *reading, uint64_t *ret)
{
    *ret = 0;
    bool found = add_shares(reading, &writes, ret, NULL);
    return add_mounts(reading, nfs_writes, SENT, ret) || found;
}

#define EXPERT PERF_DETAIL_EXPERT
#define BYTES PERF_COUNTER_BULK_COUNT, -4, EXPERT
#define PACKETS PERF_COUNTER_BULK_COUNT, 0, EXPERT
#define STATS "proc/fs/cifs/Stats: "
#define MOUNTS "; proc/self/mountstats: "

/* clang-format off */
static const opl_counter redirector_counters[] = {
    {274, 275, BYTES, OPL_FN(read_bytes), .name = "Read Bytes Network/sec",
     .help = "Bytes of files per second that came from file servers, because they were not in this machine's cache.",
     .where = STATS "Bytes read of each share" MOUNTS "bytes, word 5, of each NFS file system"},
    {278, 279, PERF_COUNTER_BULK_COUNT, 0, EXPERT, OPL_FN_OF(&smb, requests_sent), .name = "Packets Transmitted/sec",
     .help = "SMB requests per second that were sent to servers for their shares. Requests that belong to no share, such as those to log on, are not counted.",
     .where = STATS "SMBs of each share"},
    {286, 287, BYTES, OPL_FN(written_bytes), .name = "Write Bytes Network/sec",
     .help = "Bytes of files per second that were sent to file servers.",
     .where = STATS "Bytes written of each share" MOUNTS "bytes, word 6, of each NFS file system"},
    {292, 293, PACKETS, OPL_FN(read_requests), .name = "Read Packets/sec",
     .help = "Requests per second that asked file servers for bytes of files.",
     .where = STATS "Reads of each share" MOUNTS "READ and READ_PLUS, word 2, of each NFS file system"},
    {302, 303, PACKETS, OPL_FN(write_requests), .name = "Write Packets/sec",
     .help = "Requests per second that sent bytes of files to file servers.",
     .where = STATS "Writes of each share" MOUNTS "WRITE, word 2, of each NFS file system"},
    {314, 315, PERF_COUNTER_RAWCOUNT, 0, EXPERT, OPL_FN_OF(&smb, sessions), .name = "Server Sessions",
     .help = "Sessions with SMB servers that exist now: each user whose shares are mounted has one with each server.",
     .where = STATS "CIFS Session"},
    {316, 317, PERF_COUNTER_RAWCOUNT, 0, EXPERT, OPL_FN_OF(&smb, reconnects), .name = "Server Reconnects",
     .help = "How often a connection with an SMB server was lost and made again.", .where = STATS "session reconnects"},
    {392, 393, PERF_COUNTER_RAWCOUNT, 0, EXPERT, OPL_FN_OF(&smb, commands), .name = "Current Commands",
     .help = "Requests to SMB servers that are on their way now, or wait for their answer.",
     .where = STATS "Operations (MIDs)"},
};

static const opl_counter server_counters[] = {
    {314, 315, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_NOVICE, OPL_KEY(&smb_server, "sessions", OPL_ONE), .name = "Server Sessions",
     .help = "Sessions that clients have with the SMB server of this machine's kernel now."},
};
/* clang-format on */

const opl_object perfnet_redirector = {
    .index = 262,
    .help_index = 263,
    .name = "Redirector",
    .help = "The Redirector object shows what this machine requests from file servers, by SMB and "
            "by NFS.",
    OPL_COUNTERS(redirector_counters),
    .default_counter = 274,
};

const opl_object perfnet_server = {
    .index = 330,
    .help_index = 331,
    .name = "Server",
    .help = "The Server object shows how this machine serves files to others by SMB.",
    OPL_COUNTERS(server_counters),
    .default_counter = 314,
};
