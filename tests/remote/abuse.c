/* SPDX-License-Identifier: MIT */
/* A server that sends false replies to its client, and clients that send false requests to their
 * server (openperflib-winregd). */
#include "remote/proto.h"

#include <setjmp.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <openperflib/block.h>
#include <winperf.h>

#include "server.h"
#include "stream.h"

enum { SIZE = 1 << 20, GUARD = 64 };
static BYTE honest[SIZE];
static DWORD honest_size;
static char liar_url[160];

/* ---- connections ---- */

static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

/* ---- the false server: each of its replies to queries has an error, by the reply's number ---- */

enum { CASES = 700, HEAD_BITS = PROTO_REPLY_HEAD * 8 };

static void lie_about(struct proto_reply *reply, int number)
{
    switch (number) {
    case 0:
        break;
    case 1:
        reply->id++;
        break;
    case 2:
        reply->needed = 0xffffffff;
        break;
    case 3:
        reply->needed--;
        break;
    case 4:
        reply->data_size = 0;
        break;
    case 5:
        reply->type = REG_SZ;
        break;
    case 6:
        reply->name = "Global";
        break;
    case 7:
        reply->status = ERROR_MORE_DATA;
        break;
    case 8:
        reply->status = 0xffffffff;
        break;
    case 9:
        reply->data_size = 100;
        break;
    default:
        break;
    }
}

/* Sends false reply number `number`. From number 10 on the replies are: one bit of the head
 * flipped; then changed bytes of the block; then truncated replies. */
static void send_lie(int fd, uint32_t id, int number)
{
    BUFFER_AUTO bytes = {0};
    struct proto_reply reply = {.id = id,
                                .type = REG_BINARY,
                                .needed = honest_size,
                                .data = honest,
                                .data_size = honest_size};
    lie_about(&reply, number);
    if (!proto_write_reply(&reply, &bytes) || !buffer_add(&bytes, reply.data, reply.data_size))
        _exit(1);
    size_t size = bytes.len;
    if (number >= 10 && number < 10 + HEAD_BITS)
        bytes.data[(number - 10) / 8] ^= (char)(1 << (number - 10) % 8);
    else if (number >= 10 + HEAD_BITS && number < CASES - 50)
        bytes.data[PROTO_REPLY_HEAD + (size_t)(number - 10 - HEAD_BITS)] ^= (char)0x81;
    else if (number >= CASES - 50)
        size = size * (size_t)(number - CASES + 50) / 50;
    send_all(fd, bytes.data, size);
}

static void be_a_liar(int fd, int number)
{
    char message[PROTO_REQUEST_BYTES];
    struct proto_request request;
    for (;;) {
        BUFFER_AUTO bytes = {0};
        if (!receive_all(fd, message, PROTO_START))
            return;
        size_t size = proto_size(message, sizeof message);
        if (!size || !receive_all(fd, message + PROTO_START, size - PROTO_START) ||
            !proto_read_request(message, size, &request))
            _exit(1);
        if (request.operation == PROTO_QUERY) {
            send_lie(fd, request.id, number);
            return;
        }
        proto_write_reply(&(struct proto_reply){.id = request.id}, &bytes);
        send_all(fd, bytes.data, bytes.len);
    }
}

static int listening;
/* in shared memory, because the client (another process) chooses the number */
static volatile int *lie_number;

static int lie(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* ends the server also if the test fails before it does */
    for (;;) {
        int fd = accept(listening, NULL, NULL);
        if (fd < 0)
            return 1;
        be_a_liar(fd, *lie_number);
        close(fd);
    }
}

static void listen_at(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", lab_root, name);
    snprintf(liar_url, sizeof liar_url, "unix:%s", address.sun_path);
    listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listening, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listening, 64), 0);
}

static bool is_sound(const BYTE *data, DWORD size)
{
    opl_block block;
    opl_object_view object = {0};
    if (opl_block_init(&block, data, size))
        return false;
    while (opl_block_next_object(&block, &object)) {
        opl_instance_view instance = {0};
        while (opl_object_next_instance(&block, &object, &instance))
            ;
    }
    return block.fault == OPL_BLOCK_GOOD;
}

/* Queries, and checks that the program receives nothing impossible, whatever the false reply
 * was. */
static LSTATUS judge_query(HKEY key, DWORD capacity)
{
    BYTE *data = malloc(capacity + GUARD);
    DWORD size = capacity, type = 77;
    assert_non_null(data);
    memset(data, 0x5a, capacity + GUARD);
    LSTATUS status = RegQueryValueExA(key, "2", NULL, &type, data, &size);
    for (size_t i = 0; i < GUARD; i++)
        assert_int_equal(data[capacity + i], 0x5a);
    if (!status && type == REG_BINARY) {
        assert_true(size <= capacity);
        assert_true(is_sound(data, size));
    } else if (status) {
        for (size_t i = 0; i < capacity; i++)
            assert_int_equal(data[i], 0x5a);
    }
    free(data);
    return status;
}

static void lies_are_seen(void **state)
{
    int good = 0, seen = 0;
    listen_at("liar");
    lie_number = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(lie_number != MAP_FAILED);
    pid_t liar = server_fork(lie);
    for (int i = 0; i < CASES; i++) {
        HKEY key;
        *lie_number = i;
        assert_int_equal(RegConnectRegistryA(liar_url, HKEY_PERFORMANCE_DATA, &key), 0);
        LSTATUS status = judge_query(key, honest_size + 100);
        good += !status;
        seen += status != 0;
        if (i == 0)
            assert_int_equal(status, 0);
        else if (i < 10 && i != 5)
            assert_int_not_equal(status, 0);
        RegCloseKey(key);
    }
    kill(liar, SIGKILL);
    server_join(liar);
    close(listening);
    assert_true(seen > 200);
    assert_true(good > 1);
}

/* ---- thousands of randomly changed replies, to every kind of request ---- */

static uint32_t seed;

static uint32_t chance(uint32_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed % below;
}

/* Changes a reply at random: flips bits, changes bytes, sets 32-bit numbers to all ones or close to
 * a size, repeats parts, truncates, extends. */
static void mutate(struct buffer *bytes)
{
    static const uint32_t numbers[] = {0,          1,          0x7fffffff, 0x80000000,
                                       0xffffffff, 0x04000000, 36,         31};
    for (uint32_t times = 1 + chance(4); times && bytes->len > 8; times--) {
        size_t at = chance((uint32_t)bytes->len), head = chance(64) & ~3u;
        switch (chance(6)) {
        case 0:
            bytes->data[at] ^= (char)(1 << chance(8));
            break;
        case 1:
            bytes->data[at] = (char)chance(256);
            break;
        case 2:
            if (head + 4 <= bytes->len)
                memcpy(bytes->data + head, &numbers[chance(COUNT(numbers))], 4);
            break;
        case 3:
            memmove(bytes->data + at / 2, bytes->data + at, bytes->len - at);
            break;
        case 4:
            bytes->len = chance(4) ? bytes->len : at;
            break;
        default:
            buffer_add(bytes, bytes->data + at, 0);
            for (uint32_t more = chance(16); more; more--)
                buffer_add_byte(bytes, (char)chance(256));
        }
    }
}

/* Sends a changed reply. In half of the replies, the size and the request's number are corrected
 * afterwards, so that the client does not stop there and also checks the parts after them. */
static void send_mutated(int fd, uint32_t id, const struct proto_reply *honestly)
{
    BUFFER_AUTO bytes = {0};
    struct proto_reply reply = *honestly;
    reply.id = id;
    if (!proto_write_reply(&reply, &bytes) || !buffer_add(&bytes, reply.data, reply.data_size))
        _exit(1);
    mutate(&bytes);
    if (bytes.len >= PROTO_REPLY_HEAD && chance(2)) {
        proto_put_number(bytes.data, (uint32_t)bytes.len);
        proto_put_number(bytes.data + 4, PROTO_MARK);
        proto_put_number(bytes.data + 8, id);
        proto_put_number(bytes.data + 12, 0);
    }
    send_all(fd, bytes.data, bytes.len);
}

static const char some_titles[] = "1\0001847\0002\0System\0004\0Memory\0";

static struct proto_reply honest_reply(uint16_t operation, bool text)
{
    static const char zeros[PROTO_INFO_BYTES];
    if (operation == PROTO_QUERY && !text)
        return (struct proto_reply){
            .type = REG_BINARY, .needed = honest_size, .data = honest, .data_size = honest_size};
    if (operation == PROTO_QUERY)
        return (struct proto_reply){.type = REG_MULTI_SZ,
                                    .needed = sizeof some_titles,
                                    .data = some_titles,
                                    .data_size = sizeof some_titles};
    if (operation == PROTO_INFO)
        return (struct proto_reply){.data = zeros, .data_size = PROTO_INFO_BYTES};
    return (struct proto_reply){.name = "009", .data = zeros, .data_size = PROTO_TIME_BYTES};
}

static void be_a_mutant(int fd, int number)
{
    char message[PROTO_REQUEST_BYTES];
    struct proto_request request;
    seed = (uint32_t)number * 2654435761u + 1;
    for (;;) {
        BUFFER_AUTO bytes = {0};
        if (!receive_all(fd, message, PROTO_START))
            return;
        size_t size = proto_size(message, sizeof message);
        if (!size || !receive_all(fd, message + PROTO_START, size - PROTO_START) ||
            !proto_read_request(message, size, &request))
            _exit(1);
        if (request.operation != PROTO_OPEN && request.operation != PROTO_CLOSE) {
            bool text = request.name && text_starts_fold(request.name, "Counter");
            struct proto_reply reply = honest_reply(request.operation, text);
            send_mutated(fd, request.id, &reply);
            return;
        }
        proto_write_reply(&(struct proto_reply){.id = request.id}, &bytes);
        send_all(fd, bytes.data, bytes.len);
    }
}

static int mutants(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        int fd = accept(listening, NULL, NULL);
        if (fd < 0)
            return 1;
        be_a_mutant(fd, *lie_number);
        close(fd);
    }
}

static LSTATUS judge_titles(HKEY key)
{
    WCHAR titles[256];
    DWORD size = sizeof titles - GUARD, type = 77;
    memset(titles, 0x5a, sizeof titles);
    LSTATUS status = RegQueryValueExW(key, u"Counter 009", NULL, &type, (LPBYTE)titles, &size);
    for (size_t i = 0; i < GUARD / sizeof *titles; i++)
        assert_int_equal(titles[COUNT(titles) - 1 - i], 0x5a5a);
    if (!status)
        assert_true(size <= sizeof titles - GUARD);
    return status;
}

static LSTATUS judge_name(HKEY key)
{
    char name[16];
    DWORD size = sizeof name - 4;
    memset(name, 0x5a, sizeof name);
    LSTATUS status = RegEnumKeyExA(key, 0, name, &size, NULL, NULL, NULL, NULL);
    for (int i = 12; i < 16; i++)
        assert_int_equal(name[i], 0x5a);
    if (!status)
        assert_true(size < 12 && name[size] == 0 && utf8_valid(name, size));
    return status;
}

static LSTATUS query_mutant(int number)
{
    HKEY key;
    DWORD count;
    bool tree = number % 4 > 1;
    *lie_number = number;
    assert_int_equal(
        RegConnectRegistryA(liar_url, tree ? HKEY_LOCAL_MACHINE : HKEY_PERFORMANCE_DATA, &key), 0);
    LSTATUS status = number % 4 == 0   ? judge_query(key, honest_size + 100)
                     : number % 4 == 1 ? judge_titles(key)
                     : number % 4 == 2 ? judge_name(key)
                                       : RegQueryInfoKeyA(key, NULL, NULL, NULL, &count, NULL, NULL,
                                                          NULL, NULL, NULL, NULL, NULL);
    RegCloseKey(key);
    return status;
}

static int mutations = 1000;

static long kib_of(pid_t pid)
{
    char path[64], line[128];
    long kib = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmRSS: %ld", &kib) == 1)
            break;
    if (file)
        fclose(file);
    return kib;
}

static void mutated_replies(void **state)
{
    int good = 0;
    unlink(liar_url + strlen("unix:"));
    listen_at("liar");
    pid_t liar = server_fork(mutants);
    query_mutant(0);
    long before = kib_of(getpid());
    for (int i = 0; i < mutations; i++)
        good += !query_mutant(i);
#ifndef __SANITIZE_ADDRESS__ /* the sanitizer keeps freed memory */
    assert_true(kib_of(getpid()) - before < 16384);
#endif
    assert_true(before > 0);
    kill(liar, SIGKILL);
    server_join(liar);
    close(listening);
    assert_true(good > mutations / 100);
    assert_true(good < mutations);
}

/* ---- false requests ---- */

static struct proto_request query_of(const char *name)
{
    return (struct proto_request){.id = 1,
                                  .operation = PROTO_QUERY,
                                  .root = (uint32_t)(uintptr_t)HKEY_PERFORMANCE_DATA,
                                  .capacity = SIZE,
                                  .path = "",
                                  .name = name};
}

static void server_still_answers(void)
{
    HKEY key;
    DWORD size = SIZE;
    static BYTE data[SIZE];
    assert_int_equal(RegConnectRegistryA(server_url, HKEY_PERFORMANCE_DATA, &key), 0);
    assert_int_equal(RegQueryValueExA(key, "2", NULL, NULL, data, &size), 0);
    assert_true(is_sound(data, size));
    RegCloseKey(key);
}

/* Sends bytes, and returns the reply's status; -1: the server closed the connection. */
static long long query_raw(int fd, const void *bytes, size_t size)
{
    static char message[PROTO_REPLY_HEAD + PROTO_NAME_BYTES + SIZE];
    struct proto_reply reply;
    if (!send_all(fd, bytes, size) || !receive_all(fd, message, PROTO_START))
        return -1;
    size_t whole = proto_size(message, sizeof message);
    assert_true(whole > 0);
    assert_true(receive_all(fd, message + PROTO_START, whole - PROTO_START));
    assert_true(proto_read_reply(message, whole, &reply));
    return reply.status;
}

static void requests_with_wrong_bits(void **state)
{
    BUFFER_AUTO bytes = {0};
    struct proto_request request = query_of("2");
    int hung_up = 0, answered = 0;
    assert_true(proto_write_request(&request, &bytes));
    int fd = connect_to(server_socket);
    for (size_t bit = 64; bit < bytes.len * 8; bit++) {
        bytes.data[bit / 8] ^= (char)(1 << bit % 8);
        /* a false length can make the server wait for more bytes, so most of these bits are
         * skipped */
        bool waits = bit >= 28 * 8 && bit < 36 * 8;
        if (!waits || bit % 8 == 7) {
            long long status = query_raw(fd, bytes.data, bytes.len);
            hung_up += status < 0;
            answered += status >= 0;
            if (status < 0) {
                close(fd);
                fd = connect_to(server_socket);
            }
        }
        bytes.data[bit / 8] ^= (char)(1 << bit % 8);
    }
    close(fd);
    assert_true(hung_up > 10);
    assert_true(answered > 50);
    server_still_answers();
}

/* ---- thousands of randomly changed requests ---- */

static struct proto_request some_request(void)
{
    static const char perflib[] = "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib";
    static const char *const names[] = {"2",           "238 4", "Counter 009",
                                        "Explain 009", "22222", "Absent"};
    struct proto_request request = query_of(names[chance(COUNT(names))]);
    request.flags = (uint16_t)(chance(2) ? PROTO_WIDE : chance(8));
    if (chance(2))
        return request;
    request.operation = (uint16_t)(1 + chance(6));
    request.root = 0x80000002 + chance(3);
    request.path = request.root == 0x80000002 ? perflib : "";
    request.name = request.operation == PROTO_QUERY ? "Last Counter" : NULL;
    request.index = chance(5);
    return request;
}

/* Sends bytes, and then closes this direction of the connection, so that a server that waits for
 * more bytes notices the end. Returns the reply's status; -1: the server closed the connection. */
static long long query_once(const void *bytes, size_t size)
{
    static char message[PROTO_REPLY_HEAD + PROTO_NAME_BYTES + SIZE];
    struct proto_reply reply;
    size_t have = 0;
    ssize_t count;
    int fd = connect_to(server_socket);
    send_all(fd, bytes, size);
    shutdown(fd, SHUT_WR);
    while (have < sizeof message &&
           (count = recv(fd, message + have, sizeof message - have, 0)) > 0)
        have += (size_t)count;
    close(fd);
    if (!have)
        return -1;
    size_t whole = have >= PROTO_START ? proto_size(message, sizeof message) : 0;
    assert_true(whole > 0 && whole <= have);
    assert_true(proto_read_reply(message, whole, &reply));
    return reply.status;
}

/* Sends a changed request. If it is still a valid request, it must get an answer, which shows that
 * the server process has not crashed. */
static void judge_mutated(bool *ret_answered)
{
    BUFFER_AUTO bytes = {0};
    struct proto_request request = some_request(), read;
    assert_true(proto_write_request(&request, &bytes));
    mutate(&bytes);
    if (chance(2) && bytes.len >= PROTO_REQUEST_HEAD) {
        proto_put_number(bytes.data, (uint32_t)bytes.len);
        proto_put_number(bytes.data + 4, PROTO_MARK);
    }
    size_t size = bytes.len >= PROTO_START ? proto_size(bytes.data, PROTO_REQUEST_BYTES) : 0;
    bool whole = size && size <= bytes.len && proto_read_request(bytes.data, size, &read);
    long long status = query_once(bytes.data, bytes.len);
    if (whole && read.operation <= PROTO_CLOSE)
        assert_true(status >= 0);
    *ret_answered = status >= 0;
}

static int children_of(pid_t pid)
{
    char path[64], line[4096] = "";
    int count = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    FILE *file = fopen(path, "r");
    if (file && fgets(line, sizeof line, file))
        for (const char *at = line; (at = strchr(at, ' ')); at++)
            count++;
    if (file)
        fclose(file);
    return count;
}

static void mutated_requests(void **state)
{
    int answered = 0;
    long before = kib_of(server_pid);
    seed = 20261122;
    for (int i = 0; i < mutations; i++) {
        bool one;
        judge_mutated(&one);
        answered += one;
    }
    assert_true(answered > mutations / 20);
    assert_true(answered < mutations);
    server_still_answers();
    for (int i = 0; i < 500 && children_of(server_pid); i++)
        usleep(10000);
    assert_int_equal(children_of(server_pid), 0);
    assert_true(before > 0);
#ifndef __SANITIZE_ADDRESS__ /* the sanitizer keeps freed memory */
    assert_true(kib_of(server_pid) - before < 4096);
#endif
}

static void what_is_no_request_is_hung_up_on(void **state)
{
    static const char *const texts[] = {"GET / HTTP/1.0\r\n\r\n", "\377\377\377\377OPK1xxxxxxxxxx",
                                        "SSH-2.0-OpenSSH\r\n"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        int fd = connect_to(server_socket);
        assert_int_equal(query_raw(fd, texts[i], strlen(texts[i])), -1);
        close(fd);
    }
    for (size_t i = 1; i < 30; i++) { /* truncated requests of clients that disconnect */
        BUFFER_AUTO bytes = {0};
        struct proto_request request = query_of("Global");
        int fd = connect_to(server_socket);
        assert_true(proto_write_request(&request, &bytes));
        assert_true(send_all(fd, bytes.data, i));
        close(fd);
    }
    server_still_answers();
}

static void refused_requests(void **state)
{
    static const struct {
        uint32_t root;
        uint16_t operation;
        const char *path, *name;
        LSTATUS status;
    } rows[] = {
        {0x80000004, 99,             "",                                                         "2",                         ERROR_INVALID_FUNCTION},
        {0x80000004, 0,              "",                                                         "2",                         ERROR_INVALID_FUNCTION},
        {0x80000001, PROTO_OPEN,     "",                                                         NULL,                        ERROR_INVALID_HANDLE  },
        {0x00000004, PROTO_OPEN,     "",                                                         NULL,                        ERROR_INVALID_HANDLE  },
        {0x80000004, PROTO_QUERY,    "SOFTWARE",                                                 "2",                         ERROR_INVALID_HANDLE  },
        {0x80000002, PROTO_OPEN,     "SYSTEM\\CurrentControlSet\\Services",                      NULL,                        ERROR_ACCESS_DENIED   },
        {0x80000002, PROTO_OPEN,     "\\SOFTWARE",                                               NULL,                        ERROR_BAD_PATHNAME    },
        {0x80000002, PROTO_OPEN,     "SOFTWARE\\\\Microsoft",                                    NULL,                        ERROR_BAD_PATHNAME    },
        {0x80000002, PROTO_OPEN,     "SOFTWARE",                                                 NULL,                        ERROR_SUCCESS         },
        {0x80000002, PROTO_OPEN,     "SOFTWAREX",                                                NULL,                        ERROR_ACCESS_DENIED   },
        {0x80000002, PROTO_ENUM_KEY, "SOFTWARE",                                                 NULL,                        ERROR_ACCESS_DENIED   },
        {0x80000002, PROTO_INFO,     "",                                                         NULL,                        ERROR_ACCESS_DENIED   },
        {0x80000002, PROTO_QUERY,    "software\\microsoft\\windows nt\\currentversion\\perflib",
         "last counter",                                                                                                      0                     },
        {0x80000004, PROTO_QUERY,    "",                                                         "Foreign ssh://elsewhere",   ERROR_ACCESS_DENIED   },
        {0x80000004, PROTO_QUERY,    "",                                                         " foreign  \\\\elsewhere 2", ERROR_ACCESS_DENIED   },
        {0x80000004, PROTO_QUERY,    "",                                                         "Foreign",                   0                     },
        {0x80000003, PROTO_ENUM_KEY, "",                                                         NULL,                        ERROR_ACCESS_DENIED   },
        {0x80000003, PROTO_OPEN,     "S-1-5-18",                                                 NULL,                        ERROR_FILE_NOT_FOUND  },
    };
    int fd = connect_to(server_socket);
    for (size_t i = 0; i < COUNT(rows); i++) {
        BUFFER_AUTO bytes = {0};
        struct proto_request request = query_of(rows[i].name);
        request.root = rows[i].root;
        request.operation = rows[i].operation;
        request.path = rows[i].path;
        assert_true(proto_write_request(&request, &bytes));
        assert_int_equal(query_raw(fd, bytes.data, bytes.len), rows[i].status);
    }
    close(fd);
}

/* A request may state a capacity of 4 GiB: the server must not allocate that much. */
static void space_is_not_trusted(void **state)
{
    BUFFER_AUTO bytes = {0};
    struct proto_request request = query_of("2");
    request.capacity = 0xffffffff;
    int fd = connect_to(server_socket);
    assert_true(proto_write_request(&request, &bytes));
    assert_int_equal(query_raw(fd, bytes.data, bytes.len), 0);
    close(fd);
}

static void only_so_many_clients(void **state)
{
    enum { MANY = 134 };
    int fds[MANY], served = 0;
    BUFFER_AUTO bytes = {0};
    struct proto_request request = query_of(NULL);
    request.operation = PROTO_OPEN;
    assert_true(proto_write_request(&request, &bytes));
    for (int i = 0; i < MANY; i++) {
        fds[i] = connect_to(server_socket);
        served += query_raw(fds[i], bytes.data, bytes.len) == 0;
    }
    int wanted = geteuid() == 0 ? 128 : 32;
    assert_in_range(served, wanted - 4, wanted); /* clients of earlier cases may still be ending */
    for (int i = 0; i < MANY; i++)
        close(fds[i]);
    usleep(500000);
    server_still_answers();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lies_are_seen),
        cmocka_unit_test(mutated_replies),
        cmocka_unit_test(mutated_requests),
        cmocka_unit_test(requests_with_wrong_bits),
        cmocka_unit_test(what_is_no_request_is_hung_up_on),
        cmocka_unit_test(refused_requests),
        cmocka_unit_test(space_is_not_trusted),
        cmocka_unit_test(only_so_many_clients),
    };
    mutations = argc > 1 ? atoi(argv[1]) : mutations;
    server_lab("record_object");
    honest_size = SIZE;
    if (RegQueryValueExA(HKEY_PERFORMANCE_DATA, "2", NULL, NULL, honest, &honest_size))
        return 1;
    server_way("unix");
    server_start();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    server_stop();
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    lab_close();
    return failed;
}
