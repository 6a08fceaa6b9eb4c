/* SPDX-License-Identifier: MIT */
/*
 * The sizes of file systems. statfs() on a disk returns at once. On a file system that another
 * machine or a program serves, statfs() may hang for ever, so another process calls it: perfspace,
 * which the program does not notice (base/detached.c), one process for all file systems that are
 * due. The memory shared with perfspace stays mapped until perfspace has answered for all these
 * file systems; a file system that has not answered is not requested again before.
 */
#include "object/object.h"
#include "object/space/perfspace.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { AGAIN_MS = 10 * 1000, STALE_MS = 60 * 1000, FIRST_WAIT_MS = 200 };

/* ---- local ---- */

/* OPENPERFLIB_SYSROOT has a file "statfs" with a line for each file system: block size, blocks,
 * free, available, and the mount point as in proc/self/mountinfo, where a blank is written
 * "\\040". */
static const opl_source archive = {"statfs"};

static uint64_t next_number(const char **line)
{
    *line += strspn(*line, " ");
    return text_number(line);
}

static char next_character(const char **line)
{
    const char *at = *line;
    if (*at != '\\' || strspn(at + 1, "01234567") < 3)
        return *(*line)++;
    *line += 4;
    return (char)((at[1] - '0') * 64 + (at[2] - '0') * 8 + (at[3] - '0'));
}

static bool is_place(const char *line, const char *path)
{
    while (*path)
        if (*line == '\n' || next_character(&line) != *path++)
            return false;
    return *line == '\n' || !*line;
}

static bool space_of_archive(opl_reading *reading, const char *path, opl_space *ret)
{
    struct source *source = source_of(reading->provider, &archive);
    if (!source || source_load(reading, source))
        return false;
    for (const char *line = source->text; *line; line = opl_next_line(line)) {
        uint64_t block = next_number(&line), size = next_number(&line);
        uint64_t free = next_number(&line), available = next_number(&line);
        line += strspn(line, " ");
        if (!is_place(line, path))
            continue;
        *ret = (opl_space){block * size, block * free, block * available};
        return true;
    }
    return false;
}

bool opl_reading_space(opl_reading *reading, const char *path, opl_space *ret)
{
    struct statfs now;
    if (!reading->provider->live)
        return space_of_archive(reading, path, ret);
    if (statfs(path, &now) != 0)
        return false;
    uint64_t block = (uint64_t)(now.f_frsize ? now.f_frsize : now.f_bsize);
    *ret = (opl_space){block * now.f_blocks, block * now.f_bfree, block * now.f_bavail};
    return true;
}

/* ---- remote: what is recorded for a file system ---- */

struct remote_fs_round {
    struct space_page *page;
    size_t bytes;
    struct remote_fs_round *next;
};
struct remote_fs_place {
    char *path;
    bool wanted; /* this collection needs the file system's size */
    bool answered, waited;
    /* the trace has a line that the file system does not answer */
    bool reported;
    int64_t requested_ms, answered_ms; /* 0: never */
    opl_space space;
    struct remote_fs_round *round; /* the round that is reading the size; NULL: none */
    uint32_t slot;
};
struct remote_fs_reader {
    struct remote_fs_place *places;
    size_t count;
    struct remote_fs_round *rounds;
    int pid;
};

static int64_t now_ms(void)
{
    return clock_ticks() / (CLOCK_TICKS_PER_SECOND / 1000);
}

static struct remote_fs_place *remote_fs_place(struct remote_fs_reader *remote_fs, const char *path)
{
    for (size_t i = 0; i < remote_fs->count; i++)
        if (strcmp(remote_fs->places[i].path, path) == 0)
            return &remote_fs->places[i];
    struct remote_fs_place *grown =
        realloc(remote_fs->places, (remote_fs->count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    remote_fs->places = grown;
    char *copy = strdup(path);
    if (!copy)
        return NULL;
    grown[remote_fs->count] = (struct remote_fs_place){.path = copy};
    return &grown[remote_fs->count++];
}

/* ---- rounds ---- */

static void take_answer(struct remote_fs_place *place)
{
    struct space_slot *slot = &place->round->page->slots[place->slot];
    uint32_t state = atomic_load(&slot->state);
    if (state == SPACE_REQUESTED)
        return;
    place->answered = state == SPACE_ANSWERED;
    if (place->answered)
        place->space = (opl_space){slot->size, slot->free, slot->available};
    place->answered_ms = now_ms();
    place->round = NULL;
}

static void round_free(struct remote_fs_round *round)
{
    munmap(round->page, round->bytes);
    free(round);
}

static void take_answers(struct remote_fs_reader *remote_fs)
{
    for (struct remote_fs_round **at = &remote_fs->rounds; *at;) {
        struct remote_fs_round *round = *at;
        /* `done` is read before the answers are taken: if an answer arrives in between, the round
         * stays, and the next call takes that answer */
        bool done = atomic_load(&round->page->done) >= round->page->count;
        for (struct remote_fs_place *place = remote_fs->places;
             place < remote_fs->places + remote_fs->count; place++)
            if (place->round == round) {
                take_answer(place);
                place->round = done ? NULL : place->round;
            }
        if (!done) {
            at = &round->next;
            continue;
        }
        *at = round->next;
        round_free(round);
    }
}

/* The arguments and results of the detached child. */
struct space_start {
    const char *file;
    size_t bytes;
    struct space_page *page;
    int exec_error;
};

DETACHED static int become_perfspace(void *argument)
{
    static char *const nothing[] = {NULL};
    struct space_start *start = argument;
    char *const arguments[] = {"perfspace", "3", NULL};
    execve(start->file, arguments, nothing);
    start->exec_error = errno;
    _exit(127);
}

/* Makes the shared memory. Runs in the detached child, whose descriptor table is empty: 0, 1 and 2
 * become /dev/null, 3 the memory. */
DETACHED static bool make_memory(struct space_start *start)
{
    int fd = open("/dev/null", O_RDWR);
    if (fd < 0)
        fd = open("/", O_PATH);
    if (fd != 0 || dup(0) != 1 || dup(0) != 2)
        return false;
    if (memfd_create("openperflib", 0) != SPACE_MEMORY_FD ||
        ftruncate(SPACE_MEMORY_FD, (off_t)start->bytes))
        return false;
    void *page = mmap(NULL, start->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, SPACE_MEMORY_FD, 0);
    if (page == MAP_FAILED)
        return false;
    madvise(page, start->bytes, MADV_DONTFORK);
    start->page = page;
    return true;
}

struct space_errand {
    struct space_start start;
    struct remote_fs_reader *remote_fs;
    int64_t due_ms; /* file systems that were requested last before this time are due */
};

static bool is_due(const struct remote_fs_place *place, int64_t due_ms)
{
    return place->wanted && !place->round && (!place->requested_ms || place->requested_ms < due_ms);
}

DETACHED static void fill_page(struct space_errand *errand)
{
    struct space_page *page = errand->start.page;
    for (size_t i = 0; i < errand->remote_fs->count && page->count < SPACE_MOST; i++)
        if (is_due(&errand->remote_fs->places[i], errand->due_ms))
            memcpy(page->slots[page->count++].path, errand->remote_fs->places[i].path,
                   strlen(errand->remote_fs->places[i].path) + 1);
}

DETACHED static void start_detached(void *argument)
{
    struct space_errand *errand = argument;
    if (!make_memory(&errand->start))
        return;
    fill_page(errand);
    if (detached_spawn(become_perfspace, &errand->start) < 0 || errand->start.exec_error) {
        munmap(errand->start.page, errand->start.bytes);
        errand->start.page = NULL;
    }
}

static size_t count_due(const struct remote_fs_reader *remote_fs, int64_t due_ms)
{
    size_t count = 0;
    for (size_t i = 0; i < remote_fs->count && count < SPACE_MOST; i++)
        count += is_due(&remote_fs->places[i], due_ms);
    return count;
}

static void join_round(struct remote_fs_reader *remote_fs, struct remote_fs_round *round,
                       int64_t due_ms)
{
    uint32_t slot = 0;
    for (size_t i = 0; i < remote_fs->count && slot < round->page->count; i++)
        if (is_due(&remote_fs->places[i], due_ms)) {
            remote_fs->places[i].round = round;
            remote_fs->places[i].slot = slot++;
        }
    round->next = remote_fs->rounds;
    remote_fs->rounds = round;
}

static void start_round(struct remote_fs_reader *remote_fs)
{
    int64_t now = now_ms(), due_ms = now - AGAIN_MS;
    size_t count = count_due(remote_fs, due_ms);
    if (count == 0)
        return;
    FREE_AUTO char *file = text_format("%s/helper/perfspace", place_vendor());
    struct remote_fs_round *round = malloc(sizeof *round);
    struct space_errand errand = {.remote_fs = remote_fs, .due_ms = due_ms};
    errand.start.file = file;
    errand.start.bytes = sizeof(struct space_page) + count * sizeof(struct space_slot);
    char why[TRUST_TEXT] = "";
    LSTATUS status = file ? trust_check_program(file, why) : ERROR_NOT_ENOUGH_MEMORY;
    if (!status && round && !detached_would_be_process_1())
        detached_run(start_detached, &errand);
    if (errand.start.page) {
        *round = (struct remote_fs_round){.page = errand.start.page, .bytes = errand.start.bytes};
        join_round(remote_fs, round, due_ms);
    } else {
        trace("object", "%s could not be started: %s", file ? file : "perfspace",
              *why ? why : strerror(errand.start.exec_error));
        free(round);
        round = NULL;
    }
    for (size_t i = 0; i < remote_fs->count; i++)
        if (is_due(&remote_fs->places[i], due_ms) || (round && remote_fs->places[i].round == round))
            remote_fs->places[i].requested_ms = now;
}

/* ---- answers ---- */

static bool has_new_request(const struct remote_fs_reader *remote_fs)
{
    for (size_t i = 0; i < remote_fs->count; i++)
        if (remote_fs->places[i].round && !remote_fs->places[i].waited)
            return true;
    return false;
}

static void wait_for_new(struct remote_fs_reader *remote_fs)
{
    int64_t until = now_ms() + FIRST_WAIT_MS;
    while (has_new_request(remote_fs)) {
        struct space_page *page =
            remote_fs->rounds->page; /* the newest round has all new requests */
        uint32_t done = atomic_load(&page->done);
        int64_t left = until - now_ms();
        if (left <= 0)
            break;
        struct timespec wait = {.tv_nsec = left * 1000000};
        if (done < page->count)
            syscall(SYS_futex, &page->done, FUTEX_WAIT, done, &wait, NULL, 0);
        take_answers(remote_fs);
    }
    for (size_t i = 0; i < remote_fs->count; i++)
        remote_fs->places[i].waited = true;
}

/* Called in a child after a fork: forgets the requests to perfspace that the parent made. */
static void remote_fs_notice_fork(struct remote_fs_reader *remote_fs)
{
    if (remote_fs->pid == (int)getpid())
        return;
    remote_fs->pid = (int)getpid();
    for (struct remote_fs_round *round = remote_fs->rounds, *next; round; round = next) {
        next = round->next;
        free(round);
    }
    remote_fs->rounds = NULL;
    for (size_t i = 0; i < remote_fs->count; i++) {
        remote_fs->places[i].round = NULL;
        remote_fs->places[i].requested_ms = 0;
    }
}

static void places_of_archive(opl_reading *reading, opl_place *places, size_t count)
{
    for (size_t i = 0; i < count; i++)
        places[i].known = space_of_archive(reading, places[i].path, &places[i].space);
}

static void remote_fs_want(opl_provider *provider, struct remote_fs_reader *remote_fs,
                           const opl_place *places, size_t count)
{
    for (size_t i = 0; i < remote_fs->count; i++)
        remote_fs->places[i].wanted = false;
    for (size_t i = 0; i < count; i++) {
        struct remote_fs_place *place = remote_fs_place(remote_fs, places[i].path);
        provider->failed |= !place;
        if (place)
            place->wanted = strlen(place->path) < SPACE_PATH;
    }
}

/* Prints one trace line for each period in which the file system does not answer. */
static void report_silence(struct remote_fs_place *place, bool silent)
{
    if (silent && !place->reported)
        trace("object", "%s: its file system does not answer; it is not shown", place->path);
    place->reported = silent;
}

static void remote_fs_copy(struct remote_fs_reader *remote_fs, opl_place *places, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct remote_fs_place *place = remote_fs_place(remote_fs, places[i].path);
        places[i].known = place && place->answered && now_ms() - place->answered_ms < STALE_MS;
        if (places[i].known)
            places[i].space = place->space;
        if (place)
            report_silence(place, !places[i].known);
    }
}

void opl_reading_remote_spaces(opl_reading *reading, opl_place *places, size_t count)
{
    opl_provider *provider = reading->provider;
    if (!provider->live) {
        places_of_archive(reading, places, count);
        return;
    }
    if (!provider->remote_fs && !(provider->remote_fs = calloc(1, sizeof *provider->remote_fs)))
        provider->failed = true;
    struct remote_fs_reader *remote_fs = provider->remote_fs;
    if (!remote_fs || count == 0)
        return;
    remote_fs_notice_fork(remote_fs);
    remote_fs_want(provider, remote_fs, places, count);
    take_answers(remote_fs);
    start_round(remote_fs);
    wait_for_new(remote_fs);
    remote_fs_copy(remote_fs, places, count);
}

void remote_fs_done(struct remote_fs_reader *remote_fs)
{
    if (!remote_fs)
        return;
    remote_fs_notice_fork(remote_fs);
    for (struct remote_fs_round *round = remote_fs->rounds, *next; round; round = next) {
        next = round->next;
        round_free(round);
    }
    for (size_t i = 0; i < remote_fs->count; i++)
        free(remote_fs->places[i].path);
    free(remote_fs->places);
    free(remote_fs);
}
