/* SPDX-License-Identifier: MIT */
/*
 * The machines. All keys of a machine share one connection, which is made at the first request, and
 * again after it was lost. Each request has a deadline. A machine that cannot be reached is retried
 * only after a pause.
 */
#include "remote/client/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HOST_CHARACTERS = 255 };
enum { DEADLINE_MS = 15000, SHORTEST_DEADLINE_MS = 100, LONGEST_DEADLINE_MS = 60000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct target *targets;

/* ---- names ---- */

static bool has_scheme(const char *name, const char *scheme)
{
    return text_starts_fold(name, scheme);
}

/* True if the text is a port number, such as "22". */
static bool is_port(const char *text)
{
    uint32_t number;
    return text_decimal(text, strlen(text), &number) && number > 0 && number <= UINT16_MAX;
}

/* False if an IPv6 address, which has several colons, is followed by a port but not in brackets. */
static bool has_good_colons(const char *host)
{
    const char *bracket = strchr(host, ']'), *colon = strchr(bracket ? bracket : host, ':');
    if (bracket)
        return *host == '[' && (!bracket[1] || (colon == bracket + 1 && is_port(colon + 1)));
    return !colon || (colon != host && is_port(colon + 1)) || strchr(colon + 1, ':');
}

/* True if the text is [USER@]HOST[:PORT]. */
static bool is_host(const char *text)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "._-@%:[]";
    size_t count = strlen(text);
    const char *user_end = strrchr(text, '@'), *host = user_end ? user_end + 1 : text;
    return count <= HOST_CHARACTERS && *text != '-' && *host && *host != '-' &&
           strspn(text, allowed) == count && has_good_colons(host);
}

static bool is_url(const char *name)
{
    if (has_scheme(name, "unix:"))
        return name[5] == '/';
    bool remote = has_scheme(name, "ssh://") || has_scheme(name, "smb://");
    return remote && is_host(name + 6);
}

/* Returns the path of openperflib-smb: the path in the registry; else the program in the build
 * folder, if the library runs from there; else the installed program. NULL: the program does not
 * exist or is not trusted. */
static const char *smb_program(struct buffer *storage)
{
    const char *path = OPL_BIN_DIR "/openperflib-smb";
    bool named = !registry_get_text(REMOTE_SETTINGS, "Smb", storage) && *storage->data == '/';
    if (!named) {
        buffer_clear(storage);
        buffer_printf(storage, "%s/tools/openperflib-smb", place_vendor());
    }
    if (named || (!storage->failed && !access(storage->data, X_OK)))
        path = storage->data;
    char why[TRUST_TEXT] = "";
    if (!access(path, X_OK) && !trust_check_program(path, why))
        return path;
    trace("remote", "%s cannot be started: %s", path, *why ? why : "no such program");
    return NULL;
}

/* Makes the URL smb://NAME for a machine that is not in the list, if openperflib-smb exists. */
static LSTATUS smb_url_of(const char *name, struct buffer *ret)
{
    BUFFER_AUTO capacity = {0};
    buffer_clear(ret);
    if (!is_host(name) || !smb_program(&capacity))
        return ERROR_BAD_NETPATH;
    buffer_printf(ret, "smb://%s", name);
    return buffer_status(ret);
}

/* Returns the URL for a name: the name itself if it is a URL, else the URL in the list of machines.
 * The name may begin with \\. */
static LSTATUS url_of(const char *name, struct buffer *ret)
{
    buffer_clear(ret);
    if (is_url(name)) {
        buffer_add_text(ret, name);
        return buffer_status(ret);
    }
    name += strncmp(name, "\\\\", 2) ? 0 : 2;
    if (!*name)
        return ERROR_BAD_NETPATH;
    if (registry_get_text(REMOTE_MACHINES, name, ret))
        return smb_url_of(name, ret);
    return is_url(ret->data) ? ERROR_SUCCESS : ERROR_BAD_NETPATH;
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

/* True if the machine must be kept although it has no open keys: it missed a deadline, and a new
 * entry would wait as long again. */
static bool is_remembered(const struct target *target)
{
    enum { REMEMBERED_SECONDS = 60 };
    return target->missed &&
           clock_ticks() < target->not_before + REMEMBERED_SECONDS * CLOCK_TICKS_PER_SECOND;
}

static void forget_target(struct target **at)
{
    struct target *target = *at;
    *at = target->next;
    target_disconnect(target);
    free(target);
}

static void forget_old_targets(void)
{
    struct target **at = &targets;
    while (*at)
        if (!(*at)->users && !is_remembered(*at))
            forget_target(at);
        else
            at = &(*at)->next;
}

LSTATUS target_hold(const char *name, struct target **ret)
{
    BUFFER_AUTO url = {0};
    LSTATUS status = url_of(name, &url);
    if (status)
        return status;
    lock_take(&lock);
    forget_old_targets();
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
    if (last && !is_remembered(target))
        forget_target(at);
    lock_release(&lock);
}

/* ---- connecting ---- */

/* Returns the program that the registry names in place of ssh, or ssh. The environment has no
 * influence on the result. */
static const char *shell_program(struct buffer *storage)
{
    if (!registry_get_text(REMOTE_SETTINGS, "Shell", storage) && *storage->data == '/')
        return storage->data;
    return "/usr/bin/ssh";
}

/* Cuts ":PORT" off a text such as "[::1]:22" or "user@host:22" and returns PORT; NULL: the text has
 * no port. */
static char *take_port(char *host)
{
    char *bracket = strchr(host, ']'), *colon = strrchr(bracket ? bracket : host, ':');
    if (!colon || (!bracket && strchr(host, ':') != colon))
        return NULL;
    *colon = '\0';
    return colon + 1;
}

/* Removes the brackets around an address, because ssh expects an address without brackets. */
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
    BUFFER_AUTO capacity = {0};
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
    return link_open_program(shell_program(&capacity), arguments, ret);
}

static LSTATUS connect_smb(const char *url, struct link *ret)
{
    BUFFER_AUTO capacity = {0};
    const char *program = smb_program(&capacity);
    char *arguments[] = {(char *)"openperflib-smb", (char *)"--stdio",
                         (char *)url + strlen("smb://"), NULL};
    return program ? link_open_program(program, arguments, ret) : ERROR_NOT_SUPPORTED;
}

/* Forgets the overdue reply. In a child of fork() the reply is not freed, because the parent may
 * have been writing to its memory. */
void target_forget_overdue(struct target *target)
{
    if (target->overdue.pid == getpid())
        buffer_done(&target->overdue.message);
    target->overdue = (struct overdue_reply){0};
}

void target_disconnect(struct target *target)
{
    link_close(&target->link);
    target_forget_overdue(target);
    target->answered = target->data_wanted = false;
}

static uint32_t deadline_setting(void)
{
    uint32_t ms;
    if (registry_get_dword(REMOTE_SETTINGS, "Deadline", &ms))
        return DEADLINE_MS;
    return ms < SHORTEST_DEADLINE_MS  ? SHORTEST_DEADLINE_MS
           : ms > LONGEST_DEADLINE_MS ? LONGEST_DEADLINE_MS
                                      : ms;
}

LSTATUS target_connect(struct target *target)
{
    target->deadline_ms = deadline_setting();
    if (has_scheme(target->url, "unix:"))
        return link_open_socket(target->url + 5, &target->link);
    if (has_scheme(target->url, "smb://"))
        return connect_smb(target->url, &target->link);
    return connect_shell(target->url, &target->link);
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
    UNCANCELLED;
    CALL_AUTO call = {
        .target = target,
        .request = {.operation = PROTO_CLOSE,
                    .root = (uint32_t)(uintptr_t)HKEY_PERFORMANCE_DATA,
                    .path = ""}
    };
    lock_take(&lock);
    bool last = --target->data_users == 0;
    lock_release(&lock);
    if (last && target->data_wanted)
        call_run(&call);
}
