/* SPDX-License-Identifier: MIT */
/* A process for each machine that is read over SMB: how they begin and end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "remote/smb/smb.h"

static int control;
static pid_t starter;

/* Stands for a machine's process: answers each byte with its process number and the machine. */
static int answer_bytes(const char *machine, int stream)
{
    struct {
        pid_t pid;
        char machine[60];
    } answer = {.pid = getpid()};
    char byte;
    strncpy(answer.machine, machine, sizeof answer.machine - 1);
    while (read(stream, &byte, 1) == 1)
        if (write(stream, &answer, sizeof answer) != sizeof answer)
            break;
    return 0;
}

static int begin(void **state)
{
    int pair[2];
    signal(SIGPIPE, SIG_IGN);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return -1;
    control = pair[0];
    starter = fork();
    if (!starter) {
        close(pair[0]);
        smb_start_processes(pair[1], answer_bytes);
        _exit(0);
    }
    close(pair[1]);
    return starter > 0 ? 0 : -1;
}

static int end(void **state)
{
    int status;
    close(control);
    alarm(60); /* a starter that does not end fails the test */
    bool good = !starter || (waitpid(starter, &status, 0) == starter && !status);
    alarm(0);
    return good ? 0 : -1;
}

/* Returns the stream to a machine's process, or -1 with errno. */
static int connect_to(const char *machine)
{
    int pair[2];
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } rights = {.bytes = {0}};
    struct iovec part = {(char *)machine, strlen(machine)};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &rights, .msg_controllen = sizeof rights};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    rights.head = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(&rights.head), &pair[1], sizeof(int));
    ssize_t sent = sendmsg(control, &message, MSG_NOSIGNAL);
    int error = errno;
    close(pair[1]);
    if (sent >= 0)
        return pair[0];
    close(pair[0]);
    errno = error;
    return -1;
}

/* Returns the number of the process that answers, 0: the stream has ended. */
static pid_t process_of(int stream, const char *machine)
{
    struct {
        pid_t pid;
        char machine[60];
    } answer;
    if (write(stream, "x", 1) != 1)
        return 0;
    ssize_t size = recv(stream, &answer, sizeof answer, MSG_WAITALL);
    if (size != sizeof answer)
        return 0;
    assert_string_equal(answer.machine, machine);
    return answer.pid;
}

static void each_machine_has_a_process(void **state)
{
    int first = connect_to("FIRST"), second = connect_to("user@second:4450");
    pid_t one = process_of(first, "FIRST"), other = process_of(second, "user@second:4450");
    assert_true(one > 0 && other > 0 && one != other && one != starter && other != starter);
    kill(one, SIGKILL);
    assert_int_equal(recv(first, &(char){0}, 1, 0), 0);
    assert_int_equal(process_of(second, "user@second:4450"), other);
    close(first);
    first = connect_to("FIRST");
    pid_t again = process_of(first, "FIRST");
    assert_true(again > 0 && again != one && again != other);
    close(first);
    close(second);
}

static void machines_outlive_their_starter(void **state)
{
    int stream = connect_to("M");
    pid_t one = process_of(stream, "M");
    kill(starter, SIGKILL);
    assert_int_equal(waitpid(starter, NULL, 0), starter);
    starter = 0;
    assert_int_equal(connect_to("N"), -1);
    assert_int_equal(errno, EPIPE);
    assert_int_equal(process_of(stream, "M"), one);
    close(stream);
}

/* The starter ends after the last machine's process. What it accepted before is served; what it did
 * not accept fails at once, so that the library starts another. */
static void nothing_is_lost_when_the_last_machine_ends(void **state)
{
    unsigned served = 0, refused = 0;
    for (int round = 0; round < 300; round++) {
        int stream = connect_to("A"), next;
        assert_true(stream >= 0);
        assert_true(process_of(stream, "A") > 0);
        close(stream);
        if (round % 3)
            usleep((useconds_t)(round * 5));
        next = connect_to("B");
        if (next >= 0) {
            served++;
            assert_true(process_of(next, "B") > 0);
            close(next);
        } else {
            refused++;
            assert_int_equal(errno, EPIPE);
        }
        assert_int_equal(end(state), 0);
        assert_int_equal(begin(state), 0);
    }
    print_message("# %u served, %u refused\n", served, refused);
}

static void messages_without_a_stream_are_ignored(void **state)
{
    assert_int_equal(send(control, "M", 1, MSG_NOSIGNAL), 1);
    int stream = connect_to("M");
    assert_true(process_of(stream, "M") > 0);
    close(stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_machine_has_a_process, begin, end),
        cmocka_unit_test_setup_teardown(machines_outlive_their_starter, begin, end),
        cmocka_unit_test_setup_teardown(nothing_is_lost_when_the_last_machine_ends, begin, end),
        cmocka_unit_test_setup_teardown(messages_without_a_stream_are_ignored, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
