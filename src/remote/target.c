/* SPDX-License-Identifier: MIT */
/*
 * A machine that is asked. Its keys share one connection, made at the first question and made anew
 * when it was lost; each question has a deadline. Who cannot be reached is not tried again at once.
 */
#include "remote/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int64_t second = CLOCK_TICKS_PER_SECOND;
enum { SOCKET_SECONDS = 3, ANSWER_SECONDS = 15, COSTLY_SECONDS = 45, CLOSE_SECONDS = 3 };
enum { LONGEST_PAUSE_SECONDS = 30, HOST_CHARACTERS = 255 };

struct target {
    struct target *next;
    unsigned users, data_users;
    struct claim asking; /* link, number and pauses are its holder's */
    struct link link;
    bool answered; /* on this link */
    bool data_asked;
    uint32_t number;
    unsigned failures;
    int64_t not_before;
    char url[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct target *targets;

/* ---- names ---- */

static bool has_scheme(const char *name, const char *scheme)
{
    return text_starts_fold(name, scheme);
}

static bool is_host(const char *text, size_t count)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "._-@%:[]";
    return count && count <= HOST_CHARACTERS && *text != '-' && strspn(text, allowed) >= count;
}

static bool is_url(const char *name)
{
    if (has_scheme(name, "unix:"))
        return name[5] == '/';
    return has_scheme(name, "ssh://") && is_host(name + 6, strlen(name + 6));
}

/* "NAME" or "\\\\NAME" may stand in the list of machines. */
static LSTATUS url_of(const char *name, struct buffer *ret)
{
    buffer_clear(ret);
    if (is_url(name)) {
        buffer_add_text(ret, name);
        return buffer_status(ret);
    }
    name += strncmp(name, "\\\\", 2) ? 0 : 2;
    if (!*name || registry_get_text(REMOTE_MACHINES, name, ret) || !is_url(ret->data))
        return ERROR_BAD_NETPATH;
    return ERROR_SUCCESS;
}

static struct target *find_target(const char *url)
{
    struct target *target = targets;
    while (target && strcmp(target->url, url) != 0)
        target = target->next;
    return target;
}

static struct target *new_target(const char *url)
{
    struct target *target = calloc(1, sizeof *target + strlen(url) + 1);
    if (!target)
        return NULL;
    strcpy(target->url, url);
    target->next = targets;
    targets = target;
    return target;
}

LSTATUS target_hold(const char *name, struct target **ret)
{
    BUFFER_AUTO url = {0};
    LSTATUS status = url_of(name, &url);
    if (status)
        return status;
    lock_take(&lock);
    *ret = find_target(url.data);
    if (!*ret)
        *ret = new_target(url.data);
    if (*ret)
        (*ret)->users++;
    lock_release(&lock);
    return *ret ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
}

void target_hold_again(struct target *target)
{
    lock_take(&lock);
    target->users++;
    lock_release(&lock);
}

void target_release(struct target *target)
{
    lock_take(&lock);
    bool last = --target->users == 0;
    struct target **at = &targets;
    while (last && *at != target)
        at = &(*at)->next;
    if (last)
        *at = target->next;
    lock_release(&lock);
    if (!last)
        return;
    link_close(&target->link);
    free(target);
}

/* ---- connecting ---- */

/* The program in place of ssh, from the registry: never from the environment. */
static const char *shell_program(struct buffer *room)
{
    if (!registry_get_text(REMOTE_SETTINGS, "Shell", room) && *room->data == '/')
        return room->data;
    return "/usr/bin/ssh";
}

/* "[::1]:22" and "user@host:22": where the port begins, or NULL. */
static char *take_port(char *host)
{
    char *bracket = strchr(host, ']'), *colon = strrchr(bracket ? bracket : host, ':');
    if (!colon || (!bracket && strchr(host, ':') != colon))
        return NULL;
    *colon = '\0';
    return colon + 1;
}

/* ssh wants an address without its brackets. */
static void drop_brackets(char *host)
{
    char *to = host;
    for (const char *from = host; *from; from++)
        if (*from != '[' && *from != ']')
            *to++ = *from;
    *to = '\0';
}

static LSTATUS connect_shell(const char *url, struct link *ret)
{
    BUFFER_AUTO room = {0};
    char host[HOST_CHARACTERS + 1], *arguments[20];
    static const char *const options[] = {"ssh",
                                          "-T",
                                          "-x",
                                          "-a",
                                          "-oBatchMode=yes",
                                          "-oConnectTimeout=10",
                                          "-oServerAliveInterval=15",
                                          "-oServerAliveCountMax=2"};
    snprintf(host, sizeof host, "%s", url + strlen("ssh://"));
    char *port = take_port(host);
    uint32_t number;
    if (port && !text_decimal(port, strlen(port), &number))
        return ERROR_BAD_NETPATH;
    drop_brackets(host);
    size_t count = 0;
    for (; count < COUNT(options); count++)
        arguments[count] = (char *)options[count];
    if (port) {
        arguments[count++] = (char *)"-p";
        arguments[count++] = port;
    }
    arguments[count++] = (char *)"--";
    arguments[count++] = host;
    arguments[count++] = (char *)"openperflib-winregd --stdio";
    arguments[count] = NULL;
    return link_open_program(shell_program(&room), arguments, ret);
}

static LSTATUS connect_target(struct target *target)
{
    int64_t now = clock_ticks();
    link_close(&target->link);
    target->answered = target->data_asked = false;
    if (now < target->not_before)
        return RPC_S_SERVER_UNAVAILABLE;
    if (has_scheme(target->url, "unix:"))
        return link_open_socket(target->url + 5, now + SOCKET_SECONDS * second, &target->link);
    return connect_shell(target->url, &target->link);
}

/* One second, two, four, ... */
static void note_failure(struct target *target)
{
    int64_t pause = target->failures < 5 ? 1 << target->failures : LONGEST_PAUSE_SECONDS;
    target->failures++;
    target->not_before = clock_ticks() + pause * second;
}

/* ---- asking ---- */

static int64_t seconds_for(const struct form_request *request)
{
    if (request->operation == FORM_CLOSE)
        return CLOSE_SECONDS;
    bool costly = request->name && text_starts_fold(request->name, "Costly");
    return costly ? COSTLY_SECONDS : ANSWER_SECONDS;
}

static LSTATUS receive_reply(const struct link *link, uint32_t id, size_t room, int64_t deadline,
                             struct buffer *message, struct form_reply *ret)
{
    buffer_clear(message);
    LSTATUS status = link_receive(link, FORM_REPLY_HEAD, deadline, message);
    if (status)
        return status;
    size_t size = form_size(message->data, FORM_REPLY_HEAD + FORM_NAME_BYTES + room);
    if (!size)
        return ERROR_INVALID_DATA;
    status = link_receive(link, size - FORM_REPLY_HEAD, deadline, message);
    if (status)
        return status;
    bool good = form_read_reply(message->data, size, ret) && ret->id == id;
    return good ? ERROR_SUCCESS : ERROR_INVALID_DATA;
}

static size_t room_for(const struct form_request *request)
{
    return request->room > FORM_INFO_BYTES ? request->room : FORM_INFO_BYTES;
}

static LSTATUS converse(struct target *target, struct form_request *request, struct buffer *message,
                        struct form_reply *ret)
{
    int64_t deadline = clock_ticks() + seconds_for(request) * second;
    request->id = ++target->number;
    if (!form_write_request(request, message))
        return message->failed ? ERROR_NOT_ENOUGH_MEMORY : ERROR_INVALID_PARAMETER;
    LSTATUS status = link_send(&target->link, message->data, message->len, deadline);
    if (!status)
        status =
            receive_reply(&target->link, request->id, room_for(request), deadline, message, ret);
    if (!status)
        target->answered = true;
    else
        link_close(&target->link); /* the stream stands in the middle of something */
    return status == WAIT_TIMEOUT ? RPC_S_CALL_FAILED : status;
}

/* What was lost before it ever answered was never there. */
static LSTATUS ask_anew(struct target *target, struct form_request *request, struct buffer *message,
                        struct form_reply *ret)
{
    bool paused = clock_ticks() < target->not_before;
    LSTATUS status = connect_target(target);
    bool connected = !status;
    status = status ? status : converse(target, request, message, ret);
    if (!status)
        target->failures = 0;
    else if (!paused)
        note_failure(target);
    trace("remote", "%s: %s: %s", target->url, connected ? "new connection" : "no connection",
          status_text(status));
    return connected && status == RPC_S_CALL_FAILED ? RPC_S_SERVER_UNAVAILABLE : status;
}

/* A server that was started anew lost nothing of ours: the question is asked once more. */
static LSTATUS ask_held(struct target *target, struct form_request *request, struct buffer *message,
                        struct form_reply *ret)
{
    if (!link_is_ours(&target->link)) {
        bool close_only = request->operation == FORM_CLOSE;
        return close_only ? RPC_S_CALL_FAILED : ask_anew(target, request, message, ret);
    }
    bool answered = target->answered;
    int64_t began = clock_ticks();
    LSTATUS status = converse(target, request, message, ret);
    bool lost_at_once = status == RPC_S_CALL_FAILED && clock_ticks() - began < second;
    if (answered && lost_at_once && request->operation != FORM_CLOSE)
        status = ask_anew(target, request, message, ret);
    return status;
}

LSTATUS target_ask(struct target *target, struct form_request *request, struct buffer *message,
                   struct form_reply *ret)
{
    if (!claim_take_until(&target->asking, clock_ticks() + ANSWER_SECONDS * second))
        return ERROR_BUSY;
    LSTATUS status = ask_held(target, request, message, ret);
    target->data_asked |= !status && request->operation == FORM_QUERY;
    claim_release(&target->asking);
    return status;
}

/* ---- the performance data ---- */

void target_use_data(struct target *target)
{
    lock_take(&lock);
    target->data_users++;
    lock_release(&lock);
}

void target_leave_data(struct target *target)
{
    BUFFER_AUTO message = {0};
    struct form_reply reply;
    struct form_request request = {
        .operation = FORM_CLOSE, .root = (uint32_t)(uintptr_t)HKEY_PERFORMANCE_DATA, .path = ""};
    lock_take(&lock);
    bool last = --target->data_users == 0;
    lock_release(&lock);
    if (last && target->data_asked)
        target_ask(target, &request, &message, &reply);
}
