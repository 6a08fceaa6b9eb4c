/* SPDX-License-Identifier: MIT */
/*
 * Process Details (102000), costly: texts about each process. Texts seldom change, so they are
 * kept, by process number and start time. They are read again after ten seconds, or when the
 * process has executed another program, which changes the addresses of code and stack, and usually
 * the name. (For other users' processes these addresses may be 0; the kernel's records have a count
 * instead.) Only the state is read each time.
 *
 * Command lines may have secrets: openperflib-winregd hides this object unless it has a list of its
 * own (src/remote/server/access.c).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "perfproc.h"

enum { CHARACTERS = 64, COMMAND_CHARACTERS = 256, KEPT_SECONDS = 10 };
enum { USER = 102002, STATE = 102004, GROUP = 102006, UNIT = 102008, COMMAND = 102010 };
static const uint32_t kept_counters[] = {USER, GROUP, UNIT, COMMAND}; /* in the order of texts */
/* Number of bytes that a text of at most this number of UTF-16 units has in UTF-8, with a
 * terminator. */
#define UTF8_SIZE(characters) ((characters)*3 + 1)
/* Words of proc/PID/stat. */
enum { STAT_START = 22, STAT_CODE = 26, STAT_STACK = 28 };

/* The file proc/PID/status, also of kernel threads, for which perfproc_status is not read. */
static const opl_source status = {"proc/*/status"};
static const opl_source cgroup = {"proc/*/cgroup"};
static const opl_source command_line = {"proc/*/cmdline"};
static const opl_source users = {"etc/passwd"};

/* What is read of one process. */
struct details {
    uint64_t id, creation;
    char user[UTF8_SIZE(CHARACTERS)], group[UTF8_SIZE(CHARACTERS)], unit[UTF8_SIZE(CHARACTERS)];
    char command[UTF8_SIZE(COMMAND_CHARACTERS)], state[24];
};
/* What is kept of one process: texts that follow each other, because most are short. */
struct kept {
    uint32_t process, bytes;    /* bytes: size of this entry with its texts, a multiple of 8 */
    uint64_t creation, program; /* `program` changes when it executes another program */
    int64_t read;               /* when the texts were read */
    char texts[];               /* user, control group, unit and command line, each with its NUL */
};
/* The entries of one collection, sorted by process number. The next collection copies the entries
 * that it keeps to a second store. */
struct details_store {
    uint64_t turn; /* number of the collection that wrote the store */
    size_t used;   /* bytes of all entries */
    char entries[];
};
enum { MOST_BYTES = sizeof(struct kept) + sizeof(struct details) + 7 };

/* ---- texts ---- */

/* The number of bytes of the first character of `text`. A byte that is not valid UTF-8 is one
 * character, and is shown as U+FFFD. */
static size_t character_bytes(const char *text, size_t most)
{
    unsigned char first = (unsigned char)*text;
    size_t bytes = first < 0xc2 || first > 0xf4 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    for (size_t i = 1; i < bytes; i++)
        if (i >= most || ((unsigned char)text[i] & 0xc0) != 0x80)
            return 1;
    return bytes;
}

/* Copies a text into storage of UTF8_SIZE(most) bytes. A text of more than `most` characters is cut
 * and gets an ellipsis at its end. NULs and other control characters become blanks. */
static void put_text(char *to, size_t most, const char *text, size_t bytes)
{
    size_t at = 0, count = 0, cut = 0; /* `cut`: bytes that remain before an ellipsis */
    while (at < bytes) {
        size_t length = character_bytes(text + at, bytes - at);
        count += length == 4 ? 2 : 1;
        if (count > most)
            break;
        at += length;
        cut = count < most ? at : cut;
    }
    size_t used = at < bytes ? cut : bytes;
    for (size_t i = 0; i < used; i++)
        to[i] = (unsigned char)text[i] < ' ' || text[i] == 0x7f ? ' ' : text[i];
    strcpy(to + used, at < bytes ? "\xe2\x80\xa6" : ""); /* an ellipsis */
}

/* Writes the name of the process's user, if the password file has it, else the number: asking a
 * directory service for a name may take seconds. */
static void put_user(opl_reading *reading, struct details *details)
{
    const char *text = opl_reading_text(reading, &status, NULL), *file;
    const char *uid = text ? strstr(text, "\nUid:") : NULL;
    char *at, number[16];
    if (!uid)
        return;
    strtoul(uid + 5, &at, 10); /* skips the real user; the effective user follows */
    int length = snprintf(number, sizeof number, "%lu", strtoul(at, NULL, 10));
    put_text(details->user, CHARACTERS, number, (size_t)length);
    for (file = opl_reading_text(reading, &users, NULL); file && *file;
         file = opl_next_line(file)) {
        size_t name = strcspn(file, ":\n");
        const char *id = file[name] == ':' ? file + name + 1 : "";
        id += strcspn(id, ":\n"); /* skips the password */
        if (*id == ':' && strncmp(id + 1, number, (size_t)length) == 0 && id[1 + length] == ':')
            put_text(details->user, CHARACTERS, file, name);
    }
}

/* Writes the last part of `path` that is a service or a scope of systemd. */
static void put_unit(struct details *details, const char *path, size_t bytes)
{
    static const char *const endings[] = {".service", ".scope"};
    for (const char *part = path; part < path + bytes;) {
        size_t length = strcspn(part, "/\n");
        for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
            size_t end = strlen(endings[i]);
            if (length > end && memcmp(part + length - end, endings[i], end) == 0)
                put_text(details->unit, CHARACTERS, part, length);
        }
        part += length + 1;
    }
}

/* Writes the process's control group: from the line "0::/path" of version 2, or where only version
 * 1 is used, from the line of systemd's own hierarchy. */
static void put_group(opl_reading *reading, struct details *details)
{
    static const char two[] = "0::", one[] = ":name=systemd:";
    const char *text = opl_reading_text(reading, &cgroup, NULL), *path = NULL;
    for (; text && *text; text = opl_next_line(text)) {
        size_t digits = strspn(text, "0123456789");
        if (strncmp(text, two, strlen(two)) == 0 && (!path || text[strlen(two) + 1] != '\n'))
            path = text + strlen(two);
        else if (strncmp(text + digits, one, strlen(one)) == 0)
            path = text + digits + strlen(one);
    }
    if (!path)
        return;
    put_text(details->group, CHARACTERS, path, strcspn(path, "\n"));
    put_unit(details, path, strcspn(path, "\n"));
}

/* The position of the ')' that ends the name in proc/PID/stat, before " S ..."; NULL:
 * unreadable. */
static const char *after_name(opl_reading *reading)
{
    size_t bytes;
    const char *text = opl_reading_text(reading, &perfproc_stat, &bytes);
    return text ? memrchr(text, ')', bytes) : NULL;
}

/* Writes the command line. Kernel threads and ended processes have only a name: "[kthreadd]". */
static void put_command(opl_reading *reading, struct details *details)
{
    size_t bytes = 0;
    const char *text = opl_reading_text(reading, &command_line, &bytes);
    while (text && bytes > 0 && text[bytes - 1] == 0)
        bytes--;
    if (text && bytes > 0) {
        put_text(details->command, COMMAND_CHARACTERS, text, bytes);
        return;
    }
    char name[UTF8_SIZE(CHARACTERS)];
    const char *to = after_name(reading), *from = opl_reading_text(reading, &perfproc_stat, NULL);
    from = from ? strchr(from, '(') : NULL;
    if (!from || !to || from > to)
        return;
    put_text(name, CHARACTERS, from + 1, (size_t)(to - from - 1));
    snprintf(details->command, sizeof details->command, "[%s]", name);
}

const char *perfproc_state_words(char letter)
{
    static const char *const words[] = {"R running", "S sleeping", "D waiting for disk",
                                        "T stopped", "t traced",   "I idle",
                                        "P parked",  "Z ended",    "X ended"};
    const char *word = "? unknown";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i][0] == letter)
            word = words[i];
    return word + 2;
}

/* ---- entries that are kept ---- */

/* A number that changes when the process executes another program. */
static uint64_t program_of(opl_reading *reading)
{
    uint64_t sum = 0, code = 0, stack = 0;
    const char *end = after_name(reading);
    opl_reading_column(reading, &perfproc_stat, STAT_CODE, &code);
    opl_reading_column(reading, &perfproc_stat, STAT_STACK, &stack);
    for (const char *at = opl_reading_text(reading, &perfproc_stat, NULL); at && at < end; at++)
        sum = (sum ^ (unsigned char)*at) * 1099511628211u;
    return (sum ^ code) * 1099511628211u ^ stack;
}

/* Reads the texts of a process into an entry. */
static void read_texts(opl_reading *reading, struct details *details, struct kept *ret)
{
    const char *const texts[] = {details->user, details->group, details->unit, details->command};
    char *to = ret->texts;
    *details->user = *details->group = *details->unit = *details->command = 0;
    put_user(reading, details);
    put_group(reading, details);
    put_command(reading, details);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        to = stpcpy(to, texts[i]) + 1;
    ret->bytes = (uint32_t)((size_t)(to - (char *)ret) + 7) / 8 * 8;
}

/* Writes the entry of the present process; `before`: its entry of the previous collection, or
 * NULL. */
static void write_entry(opl_reading *reading, struct details *details, uint64_t program,
                        const struct kept *before, struct kept *ret)
{
    int64_t now = opl_reading_time(reading), age = before ? now - before->read : 0;
    if (before && before->creation == details->creation && before->program == program && age >= 0 &&
        age < KEPT_SECONDS * (int64_t)10000000) {
        memcpy(ret, before, before->bytes);
        return;
    }
    ret->process = (uint32_t)details->id;
    read_texts(reading, details, ret);
    ret->creation = details->creation;
    ret->program = program;
    ret->read = now;
}

/* Gets the store of the previous collection, and a store for this one with space for the longest
 * texts of `count` processes; its unused part takes no memory. False: no memory. */
static bool find_stores(opl_reading *reading, size_t count, struct details_store **ret_before,
                        struct details_store **ret_now)
{
    enum { STORES = 2, STEP = 256 };
    struct details_store *stores[STORES];
    size_t bytes = sizeof **stores + (count / STEP + 1) * STEP * MOST_BYTES;
    for (unsigned i = 0; i < STORES; i++)
        if (!(stores[i] = opl_reading_memory(reading, PERFPROC_SLOT_DETAILS + i, bytes)))
            return false;
    bool second = stores[1]->turn > stores[0]->turn; /* the second store is the newer one */
    *ret_before = stores[second];
    *ret_now = stores[!second];
    (*ret_now)->turn = (*ret_before)->turn + 1;
    (*ret_now)->used = 0;
    return true;
}

/* Returns the process's entry, which is at or after *at; NULL: none. Sets *at to the place where
 * the search for the next process begins. */
static const struct kept *find_entry(const struct details_store *store, uint32_t process,
                                     size_t *at)
{
    while (*at < store->used) {
        const struct kept *kept = (const struct kept *)(store->entries + *at);
        if (kept->process >= process)
            return kept->process == process ? kept : NULL;
        *at += kept->bytes;
    }
    return NULL;
}

/* ---- the object ---- */

static void set_texts(opl_listing *listing, const struct kept *kept, const char *state)
{
    const char *text = kept->texts;
    for (size_t i = 0; i < sizeof kept_counters / sizeof *kept_counters; i++) {
        opl_listing_set(listing, kept_counters[i], (uint64_t)(uintptr_t)text);
        text += strlen(text) + 1;
    }
    opl_listing_set(listing, STATE, (uint64_t)(uintptr_t)state);
}

bool perfproc_begin_texts(struct perfproc_texts *texts, size_t count)
{
    if (texts)
        texts->left = count;
    return !texts ||
           find_stores(opl_listing_reading(texts->listing), count, &texts->before, &texts->now);
}

void perfproc_end_texts(struct perfproc_texts *texts)
{
    struct details_store *store = texts ? texts->before : NULL;
    if (!store)
        return;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)store->entries;
    uintptr_t first = (begin + page - 1) / page * page, last = (begin + store->used) / page * page;
    store->used = 0;
    if (first < last)
        madvise((void *)first, last - first, MADV_DONTNEED);
}

/* Fills `ret` from the file stat of the process in `folder`. False: it has ended. */
static bool look_at_files(opl_listing *listing, const char *folder, struct perfproc_look *ret)
{
    opl_reading *reading = opl_listing_at(listing, folder);
    const char *end = after_name(reading);
    if (!end || !perfproc_creation(reading, &ret->creation))
        return false;
    ret->program = program_of(reading);
    ret->state = perfproc_state_words(end[2]);
    return true;
}

void perfproc_add_texts(struct perfproc_texts *texts, uint32_t number,
                        const struct perfproc_look *look)
{
    char folder[16];
    struct perfproc_look files;
    struct details details;
    if (!texts || texts->left == 0)
        return;
    opl_listing *listing = texts->listing;
    snprintf(folder, sizeof folder, "%u", (unsigned)number);
    if (!look && !look_at_files(listing, folder, &files))
        return;
    details.id = number;
    details.creation = look ? look->creation : files.creation;
    if (look ? !opl_listing_read_known(listing, folder, look->name, look->length, 0, &details)
             : !opl_listing_read_with(listing, folder, "", 0, 0, &details))
        return;
    opl_listing_append_name(listing, &perfproc_process_details, ":");
    opl_listing_append_name(listing, &perfproc_process_details, folder);
    struct kept *kept = (struct kept *)(texts->now->entries + texts->now->used);
    write_entry(opl_listing_reading(listing), &details, look ? look->program : files.program,
                find_entry(texts->before, number, &texts->at), kept);
    texts->now->used += kept->bytes;
    texts->left--;
    set_texts(listing, kept, look ? look->state : files.state);
}

static void list_details(opl_listing *listing)
{
    struct perfproc_texts texts = {.listing = listing};
    const uint32_t *numbers;
    size_t count;
    if (opl_listing_count(listing) > 0) /* already listed with the processes of Process V2 */
        return;
    if (opl_listing_numbers(listing, "proc", 0, &numbers, &count) &&
        perfproc_begin_texts(&texts, count))
        for (size_t i = 0; i < count; i++)
            perfproc_add_texts(&texts, numbers[i], NULL);
    perfproc_end_texts(&texts);
}

#define WORDS(member, characters)                                                                  \
    PERF_COUNTER_TEXT, 0, PERF_DETAIL_NOVICE,                                                      \
    {                                                                                              \
        .offset = offsetof(struct details, member), .size = sizeof(((struct details *)0)->member), \
        .unit = OPL_TIMES((characters) + 1)                                                        \
    }
/* clang-format off */
static const opl_counter counters[] = {
    {784, 785, PERF_COUNTER_RAWCOUNT, -1, PERF_DETAIL_NOVICE, OPL_COLUMN(&perfproc_stat, 1, OPL_ONE),
     .item = OPL_FIELD(struct details, id), .name = "ID Process",
     .help = "The number that identifies the process as long as it exists. It may be given to another process "
             "later."},
    {684, 685, PERF_ELAPSED_TIME, -4, PERF_DETAIL_ADVANCED, OPL_FN(perfproc_creation),
     .item = OPL_FIELD(struct details, creation), .name = "Elapsed Time",
     .help = "The time, in seconds, since the process or thread was started.", .where = "`proc/*/stat`: word 22, as in Process"},
    {USER, USER + 1, WORDS(user, CHARACTERS), .name = "User", .where = "`proc/*/status`: the second number of Uid; its name in `etc/passwd`",
     .help = "The user whose rights the process has: a name, or a number if /etc/passwd has no name for it."},
    {STATE, STATE + 1, WORDS(state, 23), .name = "State", .where = "`proc/*/stat`: word 3; or the kernel's record",
     .help = "What the process is doing: running (or ready to run), sleeping, waiting for disk, stopped, traced, idle, parked, or ended."},
    {GROUP, GROUP + 1, WORDS(group, CHARACTERS), .name = "Control Group", .where = "`proc/*/cgroup`",
     .help = "The control group that the process is in: the first 64 characters of its path."},
    {UNIT, UNIT + 1, WORDS(unit, CHARACTERS), .name = "Unit", .where = "`proc/*/cgroup`: the last part that ends with .service or .scope",
     .help = "The innermost service or scope of systemd that the process belongs to, in the first 64 characters; empty if it belongs to none."},
    {COMMAND, COMMAND + 1, WORDS(command, COMMAND_CHARACTERS), .name = "Command Line",
     .where = "`proc/*/cmdline`; without one, word 2 of `proc/*/stat` in brackets",
     .help = "The program and its arguments, the first 256 characters. A process without a command line, such as a thread of the kernel, shows its name in "
             "brackets."},
};
/* clang-format on */

const opl_object perfproc_process_details = {
    .index = 102000,
    .help_index = 102001,
    .name = "Process Details",
    .help = "The Process Details object shows each process's user, state, control group, unit and "
            "command line as texts, and its number and age.",
    OPL_COUNTERS(counters),
    .default_counter = COMMAND,
    .clock = true,
    .costly = true,
    .needs = "proc",
    .instances = true,
    .list = list_details,
};
