/* SPDX-License-Identifier: MIT */
/*
 * The addresses of machines, and how each kind is reached: a row of `transports`. A name without a
 * scheme is in the list of machines, or a host that openperflib-smb finds.
 */
#include "remote/client/internal.h"

#include <openperflib/unstable.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

enum { HOST_CHARACTERS = 255 };

/* ---- unix:/PATH ---- */

static bool is_path(const char *text)
{
    return *text == '/';
}

static LSTATUS connect_socket(const char *path, struct link *ret)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path)
        return ERROR_BAD_NETPATH;
    strcpy(address.sun_path, path);
    return link_open_socket((struct sockaddr *)&address, sizeof address, ret);
}

/* ---- ssh://[USER@]HOST[:PORT] ---- */

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

static LSTATUS connect_shell(const char *address, struct link *ret)
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
    snprintf(host, sizeof host, "%s", address);
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
    return link_open_program(shell_program(&capacity), arguments, SOCK_STREAM, ret);
}

/* ---- smb://[USER@]HOST[:PORT] ---- */

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

/* One openperflib-smb serves all machines of this program: it is started for the first of them, and
 * starts a process for each. It is started anew if it has ended, if this process is a child of the
 * one that started it, or if the user has changed, because each user has own credentials. */
static LSTATUS connect_smb(const char *address, struct link *ret)
{
    static struct claim in_use; /* its holder uses the members below */
    static struct link starter;
    static uid_t user;
    static char *const arguments[] = {(char *)"openperflib-smb", (char *)"--machines", NULL};
    BUFFER_AUTO capacity = {0};
    UNCANCELLED;
    if (!claim_take_until(&in_use, 0))
        return WAIT_TIMEOUT;
    bool same = starter.pid && user == geteuid();
    LSTATUS status = same ? link_open_through(&starter, address, ret) : RPC_S_CALL_FAILED;
    if (status == RPC_S_CALL_FAILED) {
        const char *program = smb_program(&capacity);
        link_close(&starter);
        user = geteuid();
        status = program ? link_open_program(program, arguments, SOCK_SEQPACKET, &starter)
                         : ERROR_NOT_SUPPORTED;
        status = status ? status : link_open_through(&starter, address, ret);
    }
    claim_release(&in_use);
    return status;
}

/* ---- all addresses ---- */

static const struct transport {
    const char *scheme, *example; /* what follows the scheme, for messages */
    bool (*is_address)(const char *text);
    LSTATUS (*connect)(const char *address, struct link *ret); /* without the scheme */
} transports[] = {
    {"ssh://", "HOST",  is_host, connect_shell },
    {"smb://", "HOST",  is_host, connect_smb   },
    {"unix:",  "/PATH", is_path, connect_socket},
};

void opl_machine_addresses(char ret[OPL_ADDRESSES_SIZE])
{
    size_t used = 0;
    for (size_t i = 0; i < COUNT(transports); i++)
        used += (size_t)snprintf(ret + used, OPL_ADDRESSES_SIZE - used, "%s%s%s",
                                 !i                          ? ""
                                 : i + 1 < COUNT(transports) ? ", "
                                                             : " or ",
                                 transports[i].scheme, transports[i].example);
}

/* Returns the row of the scheme with which the name begins; NULL: it has none. */
static const struct transport *transport_of(const char *name)
{
    for (size_t i = 0; i < COUNT(transports); i++)
        if (text_starts_fold(name, transports[i].scheme))
            return &transports[i];
    return NULL;
}

static bool is_url(const char *name)
{
    const struct transport *transport = transport_of(name);
    return transport && transport->is_address(name + strlen(transport->scheme));
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

LSTATUS address_of(const char *name, struct buffer *ret)
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

LSTATUS address_connect(const char *url, struct link *ret)
{
    const struct transport *transport = transport_of(url);
    return transport->connect(url + strlen(transport->scheme), ret);
}
