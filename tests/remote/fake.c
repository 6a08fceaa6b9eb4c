/* SPDX-License-Identifier: MIT */
/* A simulated machine: a process with blocks, titles and a byte order of its own. */
#include "fake.h"
#include "stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <openperflib/build.h>
#include <winerror.h>
#include <winperf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../experiments/lab.h"
#include "remote/proto.h"

enum { SIZE = 64 << 10 };

/* ---- a block ---- */

static int64_t clock_of(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return now.tv_sec * INT64_C(10000000) + now.tv_nsec / 100;
}

static void build_object(const struct fake *fake, opl_build *build, int64_t elapsed)
{
    const opl_build_counter counters[] = {
        {.name_index = fake->base + 2,
         .help_index = fake->base + 3,
         .type = PERF_COUNTER_RAWCOUNT,
         .level = PERF_DETAIL_NOVICE},
        {.name_index = fake->base + 4,
         .help_index = fake->base + 5,
         .type = PERF_COUNTER_BULK_COUNT,
         .level = PERF_DETAIL_NOVICE},
    };
    const opl_build_object_info info = {.name_index = fake->base, .help_index = fake->base + 1};
    opl_build_object(build, &info, counters, COUNT(counters));
    for (DWORD i = 0; i < 2; i++) {
        opl_build_instance(build, i ? "two" : "one");
        opl_build_dword(build, 0, fake->state->level + i);
        opl_build_large(build, 1, (ULONGLONG)(elapsed / 100000));
    }
}

static DWORD make_block(const struct fake *fake, BYTE *data)
{
    static const int64_t unix_epoch = INT64_C(116444736000000000);
    int64_t ticks = clock_of(CLOCK_MONOTONIC) + fake->ahead_100ns;
    PERF_DATA_BLOCK header = {
        .Signature = {'P',           'E',         'R',        'F'            },
        .LittleEndian = 1,
        .Version = 1,
        .Revision = 1,
        .NumObjectTypes = 1,
        .HeaderLength = sizeof header,
        .SystemTime = {.wYear = 2024, .wMonth = 2, .wDay = 29, .wDayOfWeek = 4},
        .PerfFreq.QuadPart = fake->frequency,
        .PerfTime100nSec.QuadPart = clock_of(CLOCK_REALTIME) + unix_epoch + fake->ahead_100ns
    };
    opl_build build;
    LPVOID cursor = data + sizeof header;
    DWORD bytes = SIZE - sizeof header, types = 0;
    opl_build_init(&build, cursor, bytes);
    build_object(fake, &build, ticks);
    if (opl_build_collect(&build, &cursor, &bytes, &types))
        _exit(9);
    header.PerfTime.QuadPart = (LONGLONG)((long double)ticks * fake->frequency / 1e7L);
    header.TotalByteLength = (DWORD)sizeof header + bytes;
    memcpy(data, &header, sizeof header);
    return header.TotalByteLength;
}

/* ---- the other byte order ---- */

/* Reverses the bytes of the fields at `at`; each digit of `widths` is the size of a field in
 * bytes. */
static BYTE *turn(BYTE *at, const char *widths)
{
    for (; *widths; widths++) {
        int width = *widths - '0';
        for (int i = 0; i < width / 2; i++) {
            BYTE byte = at[i];
            at[i] = at[width - 1 - i];
            at[width - 1 - i] = byte;
        }
        at += width;
    }
    return at;
}

static void turn_instance(BYTE *at, const PERF_INSTANCE_DEFINITION *old)
{
    BYTE *name = turn(at, "444444");
    for (DWORD i = 0; i < old->NameLength / 2; i++)
        name = turn(name, "2");
}

/* Converts a block from build_object to the other byte order. (Its object has two counters, of 4
 * and of 8 bytes.) */
static void turn_block(BYTE *data)
{
    PERF_DATA_BLOCK *header = (PERF_DATA_BLOCK *)(void *)data;
    BYTE *at = data + sizeof *header;
    PERF_OBJECT_TYPE object;
    DWORD offsets[2];
    memcpy(&object, at, sizeof object);
    at = turn(at, "44444444444488");
    for (int i = 0; i < 2; i++) {
        memcpy(&offsets[i], at + offsetof(PERF_COUNTER_DEFINITION, CounterOffset), 4);
        at = turn(at, "4444444444");
    }
    for (LONG i = 0; i < object.NumInstances; i++) {
        PERF_INSTANCE_DEFINITION instance;
        DWORD block_size;
        memcpy(&instance, at, sizeof instance);
        turn_instance(at, &instance);
        at += instance.ByteLength;
        memcpy(&block_size, at, sizeof block_size);
        turn(at, "4");
        turn(at + offsets[0], "4");
        turn(at + offsets[1], "8");
        at += block_size;
    }
    header->LittleEndian = 0;
    turn(data, "2222"
               "4444444"
               "22222222"
               "4"
               "888"
               "44");
}

/* ---- answers ---- */

static void add_title(struct buffer *ret, uint32_t number, const char *text)
{
    buffer_printf(ret, "%u", (unsigned)number);
    buffer_add_byte(ret, '\0');
    buffer_add(ret, text, strlen(text) + 1);
}

/* Adds the titles of all registered numbers, up to Last Counter. */
static void add_titles(const struct fake *fake, struct buffer *ret)
{
    add_title(ret, 1, "1847");
    add_title(ret, fake->base, "Fake Thing");
    add_title(ret, fake->base + 2, "Level");
    add_title(ret, fake->base + 4, "Steps/sec");
    if (fake->state->last >= fake->base + 100)
        add_title(ret, fake->base + 100, "Newcomer");
    buffer_add_byte(ret, '\0');
    fake->state->names_read++;
}

static uint32_t query_data(const struct fake *fake, const struct proto_request *request,
                           struct buffer *ret, uint32_t *type)
{
    BUFFER_AUTO text = {0};
    *type = REG_MULTI_SZ;
    if (text_equal_fold(request->name, "Counter 009")) {
        add_titles(fake, &text);
        if (request->flags & PROTO_WIDE)
            utf8_add_as_16(ret, text.data, text.len);
        else
            buffer_add(ret, text.data, text.len);
        return 0;
    }
    if (text_starts_fold(request->name, "Counter") || text_starts_fold(request->name, "Explain"))
        return ERROR_FILE_NOT_FOUND;
    if (fake->turned && text_equal_fold(request->name, "Costly"))
        return ERROR_FILE_NOT_FOUND; /* as Samba does without our part */
    static BYTE data[SIZE] __attribute__((aligned(8)));
    *type = REG_BINARY;
    fake->state->queries++;
    usleep((useconds_t)fake->state->delay_ms * 1000);
    while (fake->state->hang)
        usleep(5000);
    DWORD size = make_block(fake, data);
    if (fake->turned)
        turn_block(data);
    buffer_add(ret, data, size);
    return 0;
}

static uint32_t query_number(const struct fake *fake, const char *name, struct buffer *ret,
                             uint32_t *type)
{
    if (!text_equal_fold(name, "Last Counter") && !text_equal_fold(name, "Last Help"))
        return ERROR_FILE_NOT_FOUND;
    uint32_t number = fake->state->last + text_equal_fold(name, "Last Help");
    *type = REG_DWORD;
    buffer_add(ret, &number, sizeof number);
    return 0;
}

static void answer(const struct fake *fake, int fd, const struct proto_request *request)
{
    BUFFER_AUTO data = {0}, bytes = {0};
    struct proto_reply reply = {.id = request->id};
    while (fake->state->mute)
        usleep(5000);
    bool query = request->operation == PROTO_QUERY && request->name;
    if (query && request->root == (uint32_t)(uintptr_t)HKEY_PERFORMANCE_DATA)
        reply.status = query_data(fake, request, &data, &reply.type);
    else if (query)
        reply.status = query_number(fake, request->name, &data, &reply.type);
    else if (request->operation != PROTO_OPEN && request->operation != PROTO_CLOSE)
        reply.status = ERROR_NO_MORE_ITEMS;
    reply.needed = (uint32_t)data.len;
    if (!reply.status && data.len > request->capacity && !(request->flags & PROTO_NO_DATA))
        reply.status = ERROR_MORE_DATA;
    if (!reply.status && !(request->flags & PROTO_NO_DATA)) {
        reply.data = data.data;
        reply.data_size = data.len;
    }
    proto_write_reply(&reply, &bytes);
    buffer_add(&bytes, reply.data, reply.data_size);
    if (!send_all(fd, bytes.data, bytes.len))
        _exit(0);
}

static void serve(const struct fake *fake, int fd)
{
    static char message[PROTO_REQUEST_BYTES];
    struct proto_request request;
    for (;;) {
        if (!receive_all(fd, message, PROTO_START))
            return;
        size_t size = proto_size(message, sizeof message);
        if (!size || !receive_all(fd, message + PROTO_START, size - PROTO_START) ||
            !proto_read_request(message, size, &request))
            return;
        answer(fake, fd, &request);
    }
}

static void run(const struct fake *fake, int listening)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* ends the machine also if the test fails before it does */
    signal(SIGCHLD, SIG_IGN);
    for (;;) {
        int fd = accept(listening, NULL, NULL);
        if (fd < 0)
            _exit(1);
        fake->state->connections++;
        if (!fork()) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            serve(fake, fd);
            _exit(0);
        }
        close(fd);
    }
}

/* ---- starting and ending a machine ---- */

static int listen_as(const char *name, char *url, size_t capacity)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", lab_root, name);
    snprintf(url, capacity, "unix:%s", address.sun_path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

void fake_start(struct fake *fake)
{
    char url[160];
    int fd = listen_as(fake->name, url, sizeof url);
    assert_int_equal(listen(fd, 64), 0);
    fake->state =
        mmap(NULL, sizeof *fake->state, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(fake->state != MAP_FAILED);
    fake->state->last = fake->base + 4;
    fake->state->level = 7;
    lab_set_text("SOFTWARE\\openperflib\\Remote\\Machines", fake->name, url);
    fflush(NULL);
    fake->pid = fork();
    assert_true(fake->pid >= 0);
    if (!fake->pid)
        run(fake, fd);
    close(fd);
}

void fake_stop(struct fake *fake)
{
    char path[128];
    kill(fake->pid, SIGKILL);
    waitpid(fake->pid, NULL, 0);
    munmap((void *)fake->state, sizeof *fake->state);
    snprintf(path, sizeof path, "%s/%s", lab_root, fake->name);
    unlink(path);
}

void fake_absent(const char *name)
{
    char url[160];
    close(listen_as(name, url, sizeof url));
    lab_set_text("SOFTWARE\\openperflib\\Remote\\Machines", name, url);
}
