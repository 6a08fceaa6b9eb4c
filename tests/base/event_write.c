/* SPDX-License-Identifier: MIT */
/* Tests of base/events/event_write.c: the file with events, which several processes write, and
 * which is replaced when it is full; and the sockets of journald and syslog. */
#include "test.h"
#include "../temp.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include "../skip.h"

static char folder[64], events[128], old_events[128], journal[128], syslog_path[128];

static int set_up(void **state)
{
    temp_make(folder);
    setenv("OPENPERFLIB_ROOT", folder, 1);
    place_forget();
    snprintf(events, sizeof events, "%s/events", folder);
    snprintf(old_events, sizeof old_events, "%s/events.old", folder);
    snprintf(journal, sizeof journal, "%s/journal", folder);
    snprintf(syslog_path, sizeof syslog_path, "%s/syslog", folder);
    event_journal_path = journal;
    event_syslog_path = syslog_path;
    return 0;
}

/* Without OPENPERFLIB_ROOT, so that events go to the sockets. */
static int set_up_sockets(void **state)
{
    set_up(state);
    unsetenv("OPENPERFLIB_ROOT");
    place_forget();
    return 0;
}

static int tear_down(void **state)
{
    chmod(folder, 0755);
    temp_remove(folder);
    place_forget();
    return 0;
}

static LSTATUS write_text(const char *text)
{
    return event_write(&(struct event_record){
        .source = "S", .service = "", .text = text, .advice = "", .id = 1, .level = EVENT_ERROR});
}

static size_t lines_of(const char *path)
{
    BUFFER_AUTO log = {0};
    size_t count = 0;
    if (file_read(AT_FDCWD, path, &log) != ERROR_SUCCESS)
        return 0;
    for (size_t i = 0; i < log.len; i++)
        count += log.data[i] == '\n';
    return count;
}

static int64_t size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? st.st_size : -1;
}

/* ---- the file ---- */

static void the_file_holds_clean_utf8(void **state)
{
    BUFFER_AUTO log = {0};
    assert_int_equal(write_text("a\x1b[1mb\x7f\r\n\xc2\x9b\xffz\xed\xa0\x80\xd0\xb6\xf0\x9f\x98\x80"
                                "\xe2\x82"),
                     0);
    assert_int_equal(file_read(AT_FDCWD, events, &log), 0);
    assert_string_equal(log.data + 20, "\tS\t1\terror\t\ta [1mb    "
                                       "\xef\xbf\xbdz\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
                                       "\xd0\xb6\xf0\x9f\x98\x80\xef\xbf\xbd\xef\xbf\xbd\n");
}

static void at_four_megabytes_the_file_turns_over(void **state)
{
    static char text[60001];
    memset(text, 't', sizeof text - 1);
    size_t each = sizeof text - 1 + strlen("2026-01-01T00:00:00Z\tS\t1\terror\t\t\n");
    size_t fit = (4 << 20) / each;
    for (size_t i = 0; i < fit; i++)
        assert_int_equal(write_text(text), 0);
    assert_int_equal(size_of(events), fit * each);
    assert_int_equal(size_of(old_events), -1);
    assert_int_equal(write_text(text), 0);
    assert_int_equal(size_of(old_events), fit * each);
    assert_int_equal(size_of(events), each);
    for (size_t i = 0; i < fit; i++)
        assert_int_equal(write_text(text), 0);
    assert_int_equal(lines_of(old_events), fit); /* only one old file is kept */
    assert_int_equal(lines_of(events), 1);
}

static void a_file_that_cannot_be_renamed_is_emptied(void **state)
{
    static char text[1 << 20];
    memset(text, 't', sizeof text - 1);
    mkdir(old_events, 0755); /* a folder has this name, so the full file cannot be renamed to it */
    for (int i = 0; i < 8; i++)
        assert_int_equal(write_text(text), 0);
    assert_in_range(size_of(events), 1 << 20, 4 << 20);
}

/* Several processes write at the moment when the file is full, and one of them renames it. Each
 * process numbers its lines, so that the test sees that none is missing, incomplete or there
 * twice. */
enum { ROUNDS = 40, WRITERS = 4, LINES_EACH = 5, LINE_LENGTH = 1500 };

static void write_some(int writer, int start)
{
    char text[LINE_LENGTH + 1], go;
    if (read(start, &go, 1) < 0)
        _exit(1);
    for (int i = 0; i < LINES_EACH; i++) {
        memset(text, 'a' + writer, LINE_LENGTH);
        text[LINE_LENGTH] = '\0';
        text[snprintf(text, 32, "<%d,%d>", writer, i)] = ' ';
        if (write_text(text) != ERROR_SUCCESS)
            _exit(1);
    }
    _exit(0);
}

static void note_lines(const char *path, bool seen[WRITERS][LINES_EACH])
{
    BUFFER_AUTO log = {0};
    size_t whole = 20 + strlen("\tS\t1\terror\t\t") + LINE_LENGTH;
    assert_int_equal(file_read(AT_FDCWD, path, &log), 0);
    const char *at = memchr(log.data, '\n', log.len);
    /* the old file begins with the long line of fill_the_file, which is skipped */
    at = path == events ? log.data : at + 1;
    for (const char *end; at < log.data + log.len; at = end + 1) {
        int writer, number;
        end = strchr(at, '\n');
        assert_non_null(end);
        assert_int_equal(end - at, whole);
        assert_int_equal(sscanf(strchr(at, '<'), "<%d,%d>", &writer, &number), 2);
        assert_false(seen[writer][number]);
        seen[writer][number] = true;
    }
}

/* Writes one line so long that the file has space for only three more. */
static void fill_the_file(void)
{
    int fd = open(events, O_RDWR | O_CREAT | O_TRUNC, 0644);
    assert_int_equal(pwrite(fd, "\n", 1, (4 << 20) - 3 * (LINE_LENGTH + 100)), 1);
    close(fd);
}

static void several_processes_turn_one_file_over(void **state)
{
    for (int round = 0; round < ROUNDS; round++) {
        bool seen[WRITERS][LINES_EACH] = {{false}};
        int start[2], failed = 0, status;
        pid_t children[WRITERS];
        fill_the_file();
        assert_int_equal(pipe(start), 0);
        for (int i = 0; i < WRITERS; i++)
            if ((children[i] = fork()) == 0)
                write_some(i, start[0]);
        assert_int_equal(write(start[1], "gogo", WRITERS), WRITERS);
        for (int i = 0; i < WRITERS; i++)
            failed += waitpid(children[i], &status, 0) != children[i] || status;
        close(start[0]);
        close(start[1]);
        assert_int_equal(failed, 0);
        note_lines(old_events, seen);
        note_lines(events, seen);
        for (int i = 0; i < WRITERS * LINES_EACH; i++)
            assert_true(seen[i / LINES_EACH][i % LINES_EACH]);
    }
}

static void a_stopped_lock_holder_delays_nobody(void **state)
{
    struct timespec start, end;
    assert_int_equal(write_text("one"), 0);
    int fd = open(events, O_RDONLY);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    clock_gettime(CLOCK_MONOTONIC, &start);
    assert_int_equal(write_text("two"), 0);
    clock_gettime(CLOCK_MONOTONIC, &end);
    close(fd);
    assert_true(end.tv_sec - start.tv_sec < 5);
    assert_int_equal(lines_of(events), 2);
}

/* Only the process that has locked the full event file may rename it, because if two processes did,
 * a file would be lost. While another process keeps the lock, the file grows. */
static void without_the_lock_a_full_file_grows(void **state)
{
    fill_the_file();
    int fd = open(events, O_RDWR);
    assert_int_equal(pwrite(fd, "\n", 1, 4 << 20), 1);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(write_text("in spite of it"), 0);
    assert_int_equal(size_of(old_events), -1);
    close(fd);
    assert_int_equal(write_text("one turn later"), 0);
    assert_int_equal(lines_of(old_events), 3);
    assert_int_equal(lines_of(events), 1);
}

/* Runs in a mount namespace of its own, with a full disk. */
static int write_to_full_disk(void)
{
    static char block[64 << 10];
    char filler[128];
    snprintf(filler, sizeof filler, "%s/filler", folder);
    if (unshare(CLONE_NEWNS) || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) ||
        mount("none", folder, "tmpfs", 0, "size=16k,mode=755"))
        return 77;
    int fd = open(filler, O_WRONLY | O_CREAT, 0600);
    while (write(fd, block, sizeof block) > 0)
        ;
    if (write_text("x") != ERROR_DISK_FULL)
        return 1;
    unlink(filler);
    close(fd);
    return write_text("x") == 0 && lines_of(events) == 1 ? 0 : 2;
}

static void a_full_disk_is_reported(void **state)
{
    pid_t child = fork();
    if (child == 0)
        _exit(write_to_full_disk());
    int status;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        report_skipped("no mount namespace here");
    else
        assert_int_equal(status, 0);
}

/* A file that belongs to another user, or has a second name (a link), is not written to. */
static void f_c9_the_event_file_follows_no_link(void **state)
{
    char other[128];
    snprintf(other, sizeof other, "%s/other", folder);
    temp_write(folder, "other", "");
    assert_int_equal(symlink(other, events), 0);
    assert_int_not_equal(write_text("x"), 0);
    assert_int_equal(unlink(events), 0);
    assert_int_equal(link(other, events), 0);
    assert_int_not_equal(write_text("x"), 0);
    assert_int_equal(unlink(events), 0);
    assert_int_equal(symlink("/dev/full", events), 0);
    assert_int_equal(write_text("x"), ERROR_CANTOPEN);
    assert_int_equal(unlink(events), 0);
    assert_int_equal(size_of(other), 0);
    assert_int_equal(write_text("x"), 0);
    assert_int_equal(chmod(events, 0666), 0);
    assert_int_equal(write_text("y"), ERROR_ACCESS_DENIED);
    assert_int_equal(lines_of(events), 1);
}

static void set_file_limit(rlim_t limit)
{
    struct rlimit storage;
    getrlimit(RLIMIT_FSIZE, &storage);
    storage.rlim_cur = limit;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &storage), 0);
}

/* With RLIMIT_FSIZE, a write stores only half of a line, and SIGXFSZ would end the program. The
 * library must survive the signal and remove the half line. */
static void half_a_line_is_taken_back(void **state)
{
    assert_int_equal(write_text("whole"), 0);
    int64_t size = size_of(events);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_DFL);
        set_file_limit((rlim_t)size + 10);
        LSTATUS torn = write_text("does not fit");
        set_file_limit((rlim_t)size);
        LSTATUS none = write_text("does not fit");
        _exit(torn != ERROR_DISK_FULL ? 1 : none != ERROR_DISK_FULL ? 2 : 0);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(size_of(events), size);
    assert_int_equal(write_text("more"), 0);
    assert_int_equal(lines_of(events), 2);
}

static void a_root_that_cannot_be_written_is_reported(void **state)
{
    chmod(folder, 0555);
    if (geteuid() != 0)
        assert_int_equal(write_text("x"), ERROR_ACCESS_DENIED);
    setenv("OPENPERFLIB_ROOT", "/proc/nowhere", 1); /* even root cannot write there */
    place_forget();
    assert_int_not_equal(write_text("x"), 0);
}

static void a_pipe_is_not_waited_for(void **state)
{
    assert_int_equal(mkfifo(events, 0600), 0);
    for (int i = 0; i < 3; i++)
        write_text("x"); /* the result does not matter, only that the call returns */
}

/* The program has closed 0, 1 and 2, and these are the only free descriptors. The library must not
 * open the event file as one of them, because the program's printf would then write to it: the
 * event is lost instead. */
static void standard_output_is_left_alone(void **state)
{
    const char *preload = getenv("LD_PRELOAD");
    if (preload && strstr(preload, "vgpreload"))
        return; /* valgrind opens files for the program with descriptors of its own */
    pid_t child = fork();
    if (child == 0) {
        close(STDIN_FILENO);
        close(STDOUT_FILENO);
        LSTATUS status = write_text("x");
        struct rlimit only_these = {3, 3};
        setrlimit(RLIMIT_NOFILE, &only_these);
        _exit(status ? 1 : write_text("y") == ERROR_SUCCESS ? 2 : 0);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(lines_of(events), 1);
}

/* ---- sockets ---- */

static int listen_at(const char *path, int kind)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, kind | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

/* Receives one message. If it passes a descriptor (as long messages to journald do), reads the
 * content of that file instead. */
static void receive(int fd, struct buffer *ret)
{
    static char storage[1 << 18];
    char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(sizeof(size_t))));
    struct iovec part = {storage, sizeof storage};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    struct pollfd ready = {fd, POLLIN, 0};
    assert_int_equal(poll(&ready, 1, 5000), 1);
    ssize_t length = recvmsg(fd, &message, 0);
    assert_true(length >= 0);
    buffer_add(ret, storage, (size_t)length);
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (!head)
        return;
    int passed;
    memcpy(&passed, CMSG_DATA(head), sizeof passed);
    int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
    assert_int_equal(fcntl(passed, F_GET_SEALS), seals);
    assert_int_equal(lseek(passed, 0, SEEK_SET), 0);
    assert_int_equal(file_read_fd(passed, ret), 0);
    close(passed);
}

/* The value of the field `name` in an entry, by the rules of journald's protocol; NULL: there is no
 * such field. */
static const char *entry_value(const struct buffer *entry, const char *name)
{
    static char value[1 << 18];
    const char *at = entry->data, *end = at + entry->len;
    while (at < end) {
        const char *line = memchr(at, '\n', (size_t)(end - at)), *equal;
        assert_non_null(line);
        uint64_t length = 0;
        size_t name_length = (size_t)(line - at);
        const char *start = line + 9;
        if ((equal = memchr(at, '=', (size_t)(line - at)))) {
            name_length = (size_t)(equal - at);
            start = equal + 1;
            length = (uint64_t)(line - start);
        } else {
            for (int i = 0; i < 8; i++)
                length |= (uint64_t)(unsigned char)line[1 + i] << 8 * i;
        }
        assert_true(length < sizeof value && start + length < end && start[length] == '\n');
        snprintf(value, sizeof value, "%.*s", (int)length, start);
        if (name_length == strlen(name) && !memcmp(at, name, name_length))
            return value;
        at = start + length + 1;
    }
    return NULL;
}

static void assert_entry(const struct buffer *entry, const char *name, const char *wanted)
{
    const char *value = entry_value(entry, name);
    if (!value)
        fail_msg("no %s", name);
    assert_string_equal(value, wanted);
}

static void journald_gets_a_field_for_each_value(void **state)
{
    BUFFER_AUTO entry = {0};
    char message_id[33];
    int fd = listen_at(journal, SOCK_DGRAM);
    event_log("Perflib", 1009, "My\nPerf",
              EVENT_FIELDS(EVENT_TEXT("Library", "/l/\xff.so"), EVENT_HEX("ExceptionCode", 11),
                           EVENT_NUMBER("ObjectIndex", 3), EVENT_STATUS(5)),
              "and\nmore");
    receive(fd, &entry);
    event_message_id("Perflib", 1009, message_id);
    assert_entry(&entry, "MESSAGE", "Open of My\nPerf in /l/\xef\xbf\xbd.so crashed: ?: and\nmore");
    assert_entry(&entry, "MESSAGE_ID", message_id);
    assert_entry(&entry, "PRIORITY", "3");
    assert_entry(&entry, "SYSLOG_IDENTIFIER", "openperflib");
    assert_entry(&entry, "OPENPERFLIB_SOURCE", "Perflib");
    assert_entry(&entry, "OPENPERFLIB_ID", "1009");
    assert_entry(&entry, "OPENPERFLIB_LEVEL", "error");
    assert_entry(&entry, "OPENPERFLIB_SERVICE", "My\nPerf");
    assert_entry(&entry, "OPENPERFLIB_LIBRARY", "/l/\xef\xbf\xbd.so");
    assert_entry(&entry, "OPENPERFLIB_EXCEPTION_CODE", "0xb");
    assert_entry(&entry, "OPENPERFLIB_OBJECT_INDEX", "3");
    assert_entry(&entry, "OPENPERFLIB_WIN_ERROR", "5");
    assert_null(entry_value(&entry, "OPENPERFLIB_REPEATED"));
    close(fd);
}

/* The entry that reports a count of held-back events has the same fields as the last held-back
 * event, so that journalctl -x shows that event's explanation. */
static void a_count_has_the_fields_of_the_last_event(void **state)
{
    BUFFER_AUTO entry = {0};
    int fd = listen_at(journal, SOCK_DGRAM);
    for (int i = 0; i < 12; i++) {
        event_log("Perflib", 1023, "Counted",
                  EVENT_FIELDS(EVENT_TEXT("Library", "/l.so"), EVENT_STATUS(126)), NULL);
        if (i < 10)
            receive(fd, &entry);
    }
    event_close();
    receive(fd, &entry);
    assert_entry(&entry, "OPENPERFLIB_REPEATED", "2");
    assert_entry(&entry, "OPENPERFLIB_LIBRARY", "/l.so");
    assert_entry(&entry, "OPENPERFLIB_WIN_ERROR", "126");
    close(fd);
}

static void what_no_datagram_holds_is_passed_as_a_file(void **state)
{
    BUFFER_AUTO entry = {0};
    static char text[240001];
    memset(text, 'l', sizeof text - 1);
    int fd = listen_at(journal, SOCK_DGRAM), small = 4096;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    assert_int_equal(write_text(text), 0);
    receive(fd, &entry);
    assert_int_equal(strlen(entry_value(&entry, "MESSAGE")), sizeof text - 1);
    close(fd);
}

/* Without a reader the queue fills, but no writer waits. Lost events are counted and reported. */
static void a_journal_that_does_not_read_is_not_waited_for(void **state)
{
    BUFFER_AUTO entry = {0};
    char message[64];
    int fd = listen_at(journal, SOCK_DGRAM), lost = 0;
    for (int i = 0; i < 100000 && lost < 5; i++)
        lost += write_text("x") != ERROR_SUCCESS;
    assert_int_equal(lost, 5);
    event_log("Perflib", 1017, "Lost", NULL, NULL);
    event_log("Perflib", 1017, "Lost", NULL, NULL);
    while (recv(fd, message, sizeof message, MSG_DONTWAIT) >= 0)
        ;
    event_log("Perflib", 1017, "Lost", NULL, NULL);
    receive(fd, &entry);
    assert_entry(&entry, "OPENPERFLIB_REPEATED", "2");
    assert_non_null(strstr(entry_value(&entry, "MESSAGE"), "(and 2 more like this)"));
    close(fd);
}

/* The line must be "<27>Jan 1 00:00:00 openperflib[PID]: text; advice". */
static void assert_syslog_line(const char *line, size_t length)
{
    char wanted[64];
    assert_memory_equal(line, "<27>", 4);
    assert_true(line[7] == ' ' && line[10] == ' ' && line[13] == ':' && line[19] == ' ');
    snprintf(wanted, sizeof wanted, "openperflib[%d]: Perflib 3002: internal error", (int)getpid());
    assert_true(length > 20 + strlen(wanted));
    assert_memory_equal(line + 20, wanted, strlen(wanted));
    assert_non_null(memmem(line, length, "; report it", 11));
    assert_null(memchr(line, '\n', length));
}

static void without_journald_the_system_log_gets_a_line(void **state)
{
    BUFFER_AUTO line = {0};
    int fd = listen_at(syslog_path, SOCK_DGRAM);
    event_log("Perflib", 3002, NULL, NULL, "a\nb");
    receive(fd, &line);
    assert_syslog_line(line.data, line.len);
    close(fd);
}

static void a_system_log_of_streams_gets_it_too(void **state)
{
    char line[512];
    int fd = listen_at(syslog_path, SOCK_STREAM);
    assert_int_equal(listen(fd, 1), 0);
    event_log("Perflib", 3002, "Stream", NULL, NULL);
    int accepted = accept(fd, NULL, NULL);
    ssize_t length = read(accepted, line, sizeof line);
    assert_true(length > 1 && line[length - 1] == '\0');
    assert_syslog_line(line, (size_t)length - 1);
    close(accepted);
    close(fd);
}

static void long_lines_of_the_system_log_are_shortened(void **state)
{
    BUFFER_AUTO line = {0};
    static char text[9001];
    for (size_t i = 0; i + 3 < sizeof text; i += 3)
        memcpy(text + i, "\xe2\x82\xac", 3);
    int fd = listen_at(syslog_path, SOCK_DGRAM);
    assert_int_equal(write_text(text), 0);
    receive(fd, &line);
    assert_in_range(line.len, 2000, 2048);
    assert_string_equal(line.data + line.len - 3, "...");
    assert_true(utf8_valid(line.data, line.len));
    close(fd);
}

static void no_log_at_all_is_reported(void **state)
{
    static char long_path[300];
    memset(long_path, 'p', sizeof long_path - 1);
    assert_int_equal(write_text("x"), ERROR_NOT_READY);
    event_journal_path = event_syslog_path = long_path;
    assert_int_equal(write_text("x"), ERROR_NOT_READY);
    errno = 4711;
    event_log("Perflib", 1017, "Nowhere", NULL, NULL);
    assert_int_equal(errno, 4711);
}

/* Writing an event leaves no descriptor open: the next free number is the same as before. */
static void no_descriptor_stays_open(void **state)
{
    int fd = listen_at(journal, SOCK_DGRAM), before = dup(fd);
    close(before);
    write_text("x");
    int after = dup(fd);
    assert_int_equal(before, after);
    close(after);
    close(fd);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define SOCKET_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_sockets, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(the_file_holds_clean_utf8),
        TEST(at_four_megabytes_the_file_turns_over),
        TEST(a_file_that_cannot_be_renamed_is_emptied),
        TEST(several_processes_turn_one_file_over),
        TEST(a_stopped_lock_holder_delays_nobody),
        TEST(without_the_lock_a_full_file_grows),
        TEST(a_full_disk_is_reported),
        TEST(f_c9_the_event_file_follows_no_link),
        TEST(half_a_line_is_taken_back),
        TEST(a_root_that_cannot_be_written_is_reported),
        TEST(a_pipe_is_not_waited_for),
        TEST(standard_output_is_left_alone),
        SOCKET_TEST(journald_gets_a_field_for_each_value),
        SOCKET_TEST(a_count_has_the_fields_of_the_last_event),
        SOCKET_TEST(what_no_datagram_holds_is_passed_as_a_file),
        SOCKET_TEST(a_journal_that_does_not_read_is_not_waited_for),
        SOCKET_TEST(without_journald_the_system_log_gets_a_line),
        SOCKET_TEST(a_system_log_of_streams_gets_it_too),
        SOCKET_TEST(long_lines_of_the_system_log_are_shortened),
        SOCKET_TEST(no_log_at_all_is_reported),
        SOCKET_TEST(no_descriptor_stays_open),
    };
    unsetenv("OPENPERFLIB_TRACE");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
