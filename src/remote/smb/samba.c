/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The only file that calls Samba: it connects to \pipe\winreg, with signing and SMB 3 encryption
 * and never SMB 1, and makes calls. Other files write the bytes of requests and read those of
 * replies. A process has only one connection, because Samba's settings are global and must be those
 * of the connection.
 */
#include "remote/smb/smb.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <talloc.h>
#include <tevent.h>

/* Samba defines a type HRESULT that differs from ours */
#define HRESULT samba_hresult
#include <core/ntstatus.h>
#include <core/werror.h>
#include <credentials.h>
#include <dcerpc.h>
#include <ndr.h>
#include <param.h>
#include <util/data_blob.h>
#undef HRESULT

/* libndr-standard exports this table, but no header declares it */
extern const struct ndr_interface_table ndr_table_winreg;

static const int64_t second = CLOCK_TICKS_PER_SECOND;

static LSTATUS fail(struct smb_samba *samba, enum smb_step step, LSTATUS status, const char *reason)
{
    samba->step = step;
    samba->status = status;
    snprintf(samba->reason, sizeof samba->reason, "%s", reason);
    return status;
}

/* ---- can the port be reached? ---- */

static int wait_until_connected(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};
    int error = 0;
    socklen_t size = sizeof error;
    if (poll(&poll_fd, 1, SMB_CONNECT_SECONDS * 1000) <= 0)
        return ETIMEDOUT;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) ? errno : error;
}

/* Connects to the port; returns 0 or errno. The port is tried first, because Samba would wait for a
 * minute and report less. */
static int try_address(const struct addrinfo *address)
{
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return errno;
    int error = connect(fd, address->ai_addr, address->ai_addrlen) ? errno : 0;
    error = error == EINPROGRESS ? wait_until_connected(fd) : error;
    close(fd);
    return error;
}

static LSTATUS find_peer(struct smb_samba *samba)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV}, *all = NULL;
    char port[8];
    snprintf(port, sizeof port, "%u", samba->address.port);
    int failed = getaddrinfo(samba->address.host, port, &hints, &all);
    if (failed)
        return fail(samba, SMB_STEP_NAME, ERROR_BAD_NETPATH, gai_strerror(failed));
    int error = EHOSTUNREACH, tried = 0;
    for (const struct addrinfo *at = all; at && error && tried < SMB_MOST_ADDRESSES;
         at = at->ai_next, tried++) {
        error = try_address(at);
        getnameinfo(at->ai_addr, at->ai_addrlen, samba->peer, sizeof samba->peer, NULL, 0,
                    NI_NUMERICHOST);
    }
    freeaddrinfo(all);
    if (error)
        return fail(samba, SMB_STEP_PORT, RPC_S_SERVER_UNAVAILABLE, strerror(error));
    return ERROR_SUCCESS;
}

/* ---- settings and credentials, set once ---- */

static bool set_up_settings(struct smb_samba *samba)
{
    char port[8];
    snprintf(port, sizeof port, "%u", samba->address.port);
    /* the session of an anonymous user has no key, so the session cannot be signed */
    bool anonymous = samba->login.anonymous;
    const char *signing = anonymous ? "if_required" : "required";
    const char *encryption = anonymous ? "off" : samba->login.may_be_clear ? "desired" : "required";
    const char *const options[][2] = {
        {"client min protocol",     "SMB2_02" },
        {"client ipc min protocol", "SMB2_02" },
        {"client max protocol",     "SMB3"    },
        {"client ipc max protocol", "SMB3"    },
        {"client signing",          signing   },
        {"client ipc signing",      signing   },
        {"client smb encrypt",      encryption},
        {"log level",               "0"       },
        {"name resolve order",      "host"    },
        {"smb ports",               port      },
    };
    bool good = samba->settings != NULL;
    for (size_t i = 0; good && i < COUNT(options); i++)
        good = lpcfg_set_cmdline(samba->settings, options[i][0], options[i][1]);
    return good;
}

static bool set_up_password(struct smb_samba *samba)
{
    const struct smb_login *login = &samba->login;
    struct cli_credentials *credentials = samba->credentials;
    cli_credentials_set_kerberos_state(credentials, CRED_USE_KERBEROS_DISABLED, CRED_SPECIFIED);
    return cli_credentials_set_username(credentials, login->user, CRED_SPECIFIED) &&
           cli_credentials_set_domain(credentials, login->domain, CRED_SPECIFIED) &&
           cli_credentials_set_password(credentials, login->password, CRED_SPECIFIED);
}

/* Sets up the use of the Kerberos tickets from kinit; fails if there are no tickets. */
static LSTATUS set_up_kerberos(struct smb_samba *samba)
{
    const char *why = NULL;
    struct cli_credentials *credentials = samba->credentials;
    cli_credentials_set_kerberos_state(credentials, CRED_USE_KERBEROS_REQUIRED, CRED_SPECIFIED);
    if (cli_credentials_set_ccache(credentials, samba->settings, NULL, CRED_SPECIFIED, &why))
        return fail(samba, SMB_STEP_SETTINGS, ERROR_LOGON_FAILURE,
                    why ? why : "no Kerberos ticket");
    return ERROR_SUCCESS;
}

static LSTATUS set_up(struct smb_samba *samba)
{
    if (samba->set_up)
        return ERROR_SUCCESS;
    samba->memory = talloc_new(NULL);
    samba->events = tevent_context_init(samba->memory);
    samba->settings = loadparm_init_global(false);
    samba->credentials = cli_credentials_init(samba->memory);
    if (!samba->events || !samba->credentials || !set_up_settings(samba) ||
        !NT_STATUS_IS_OK(dcerpc_init()) ||
        !cli_credentials_set_conf(samba->credentials, samba->settings))
        return fail(samba, SMB_STEP_SETTINGS, ERROR_NOT_ENOUGH_MEMORY,
                    "Samba's libraries could not be initialized");
    LSTATUS status = ERROR_SUCCESS;
    if (samba->login.anonymous)
        cli_credentials_set_anonymous(samba->credentials);
    else if (samba->login.kerberos)
        status = set_up_kerberos(samba);
    else if (!set_up_password(samba))
        status = ERROR_NOT_ENOUGH_MEMORY;
    samba->set_up = !status;
    return status;
}

/* ---- statuses ---- */

/* Converts Samba's status. If our table lacks the status, Samba's own conversion is used, but the
 * result is never success. */
static LSTATUS status_of(NTSTATUS status)
{
    const struct {
        NTSTATUS from;
        LSTATUS to;
    } known[] = {
        {NT_STATUS_OBJECT_NAME_NOT_FOUND,   ERROR_FILE_NOT_FOUND    },
        {NT_STATUS_PIPE_NOT_AVAILABLE,      ERROR_FILE_NOT_FOUND    },
        {NT_STATUS_PIPE_BUSY,               SMB_PIPE_BUSY           },
        {NT_STATUS_INSTANCE_NOT_AVAILABLE,  SMB_PIPE_BUSY           },
        {NT_STATUS_PIPE_CLOSING,            RPC_S_CALL_FAILED       },
        {NT_STATUS_PIPE_DISCONNECTED,       RPC_S_CALL_FAILED       },
        {NT_STATUS_PIPE_BROKEN,             RPC_S_CALL_FAILED       },
        {NT_STATUS_LOGON_FAILURE,           ERROR_LOGON_FAILURE     },
        {NT_STATUS_WRONG_PASSWORD,          ERROR_LOGON_FAILURE     },
        {NT_STATUS_NO_SUCH_USER,            ERROR_LOGON_FAILURE     },
        {NT_STATUS_ACCESS_DENIED,           ERROR_ACCESS_DENIED     },
        {NT_STATUS_PROTOCOL_NOT_SUPPORTED,  ERROR_NOT_SUPPORTED     },
        {NT_STATUS_TIME_DIFFERENCE_AT_DC,   ERROR_TIME_SKEW         },
        {NT_STATUS_IO_TIMEOUT,              WAIT_TIMEOUT            },
        {NT_STATUS_NO_MEMORY,               ERROR_NOT_ENOUGH_MEMORY },
        {NT_STATUS_CONNECTION_REFUSED,      RPC_S_SERVER_UNAVAILABLE},
        {NT_STATUS_HOST_UNREACHABLE,        RPC_S_SERVER_UNAVAILABLE},
        {NT_STATUS_NETWORK_UNREACHABLE,     RPC_S_SERVER_UNAVAILABLE},
        {NT_STATUS_CONNECTION_DISCONNECTED, RPC_S_CALL_FAILED       },
        {NT_STATUS_CONNECTION_RESET,        RPC_S_CALL_FAILED       },
        {NT_STATUS_CONNECTION_ABORTED,      RPC_S_CALL_FAILED       },
        {NT_STATUS_CONNECTION_INVALID,      RPC_S_CALL_FAILED       },
        {NT_STATUS_END_OF_FILE,             RPC_S_CALL_FAILED       },
        {NT_STATUS_RPC_SERVER_UNAVAILABLE,  RPC_S_SERVER_UNAVAILABLE},
        {NT_STATUS_RPC_CALL_FAILED,         RPC_S_CALL_FAILED       },
    };
    for (size_t i = 0; i < COUNT(known); i++)
        if (NT_STATUS_EQUAL(known[i].from, status))
            return known[i].to;
    LSTATUS made = (LSTATUS)W_ERROR_V(ntstatus_to_werror(status));
    return made ? made : RPC_S_CALL_FAILED;
}

/* ---- the transport ---- */

static void samba_close(struct smb_wire *wire)
{
    struct smb_samba *samba = (struct smb_samba *)wire;
    talloc_free(samba->pipe_memory);
    samba->pipe_memory = NULL;
    samba->pipe = NULL;
}

static struct dcerpc_binding *make_binding(struct smb_samba *samba)
{
    static const uint32_t flags[] = {
        [SMB_SESSION_ONLY] = 0, [SMB_RPC_SIGNED] = DCERPC_SIGN, [SMB_RPC_PRIVATE] = DCERPC_SEAL};
    struct dcerpc_binding *binding = NULL;
    NTSTATUS status = dcerpc_parse_binding(samba->pipe_memory, "ncacn_np:", &binding);
    uint32_t wanted = flags[samba->login.rpc];
    wanted |= wanted ? DCERPC_AUTH_SPNEGO : 0;
    if (NT_STATUS_IS_OK(status))
        status = dcerpc_binding_set_string_option(binding, "host", samba->peer);
    if (NT_STATUS_IS_OK(status))
        status = dcerpc_binding_set_string_option(binding, "target_hostname", samba->address.host);
    if (NT_STATUS_IS_OK(status))
        status = dcerpc_binding_set_string_option(binding, "endpoint", "\\pipe\\winreg");
    if (NT_STATUS_IS_OK(status))
        status = dcerpc_binding_set_flags(binding, wanted, 0);
    return NT_STATUS_IS_OK(status) ? binding : NULL;
}

static LSTATUS samba_connect(struct smb_wire *wire, int64_t deadline)
{
    struct smb_samba *samba = (struct smb_samba *)wire;
    LSTATUS status = find_peer(samba);
    status = status ? status : set_up(samba);
    if (status)
        return status;
    samba_close(wire);
    samba->pipe_memory = talloc_new(samba->memory);
    struct dcerpc_binding *binding = make_binding(samba);
    if (!binding)
        return fail(samba, SMB_STEP_SETTINGS, ERROR_NOT_ENOUGH_MEMORY, "no binding");
    NTSTATUS made =
        dcerpc_pipe_connect_b(samba->pipe_memory, &samba->pipe, binding, &ndr_table_winreg,
                              samba->credentials, samba->events, samba->settings);
    if (NT_STATUS_IS_OK(made))
        return ERROR_SUCCESS;
    samba_close(wire);
    /* Samba returns this status if there are no Kerberos tickets */
    if (samba->login.kerberos && NT_STATUS_EQUAL(made, NT_STATUS_INVALID_PARAMETER))
        return fail(samba, SMB_STEP_SETTINGS, ERROR_LOGON_FAILURE, "there is no Kerberos ticket");
    return fail(samba, SMB_STEP_LOGIN, status_of(made), nt_errstr(made));
}

static LSTATUS samba_call(struct smb_wire *wire, enum rrp_call operation,
                          const struct buffer *request, int64_t deadline, struct buffer *ret)
{
    struct smb_samba *samba = (struct smb_samba *)wire;
    uint8_t *data = NULL;
    size_t size = 0;
    uint32_t flags = 0;
    int64_t left = (deadline - clock_ticks()) / second;
    if (!samba->pipe)
        return RPC_S_CALL_FAILED;
    struct dcerpc_binding_handle *handle = samba->pipe->binding_handle;
    dcerpc_binding_handle_set_timeout(handle, left > 0 ? (uint32_t)left : 1);
    void *memory = talloc_new(samba->pipe_memory);
    NTSTATUS called = dcerpc_binding_handle_raw_call(handle, NULL, (uint32_t)operation, 0,
                                                     (const uint8_t *)request->data, request->len,
                                                     memory, &data, &size, &flags);
    LSTATUS status = ERROR_SUCCESS;
    buffer_clear(ret);
    if (!NT_STATUS_IS_OK(called))
        status = fail(samba, SMB_STEP_CALL, status_of(called), nt_errstr(called));
    else if (flags)
        status = fail(samba, SMB_STEP_CALL, ERROR_INVALID_DATA, "a reply in another byte order");
    else if (!buffer_add(ret, data, size))
        status = ERROR_NOT_ENOUGH_MEMORY;
    talloc_free(memory);
    return status;
}

static void samba_pause(struct smb_wire *wire, unsigned ms)
{
    poll(NULL, 0, (int)ms);
}

void smb_samba_prepare(void)
{
    loadparm_init_global(false);
    dcerpc_init();
}

void smb_samba_init(struct smb_samba *samba, const struct smb_address *address,
                    const struct smb_login *login)
{
    *samba = (struct smb_samba){
        .wire = {samba_connect, samba_call, samba_close, samba_pause},
        .address = *address,
        .login = *login
    };
}

void smb_samba_done(struct smb_samba *samba)
{
    samba_close(&samba->wire);
    talloc_free(samba->memory);
    samba->memory = NULL;
    samba->set_up = false;
}
