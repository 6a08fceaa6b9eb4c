/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Replaces the winreg interface when Samba's worker registers it. An interface has four functions
 * for a call: pull (parses the request), dispatch (does it), reply, push (writes the answer). Calls
 * that are not ours are passed to Samba's functions.
 */
#include "samba/shim.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include <samba/version.h>

#define SERIES_TEXT(number) #number
#define SERIES(major, minor) SERIES_TEXT(major) "." SERIES_TEXT(minor) "."
#define PUBLIC __attribute__((visibility("default")))

static const uint32_t machine_root = 0x80000002, data_root = 0x80000004;
/* The rights that write: set value, create subkey or link, delete, change rights or owner,
 * generic write, generic all. */
static const uint32_t writing = 0x500d0026;

static struct dcesrv_interface samba, ours;

/* ---- keys ---- */

enum kind { KIND_SAMBA, KIND_ABOVE, KIND_SHARED, KIND_OURS };
#define NT_KEY "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion"
#define NLS_KEY "SYSTEM\\CurrentControlSet\\Control\\Nls"

static const struct {
    const char *path;
    bool below;
    enum kind kind;
} keys[] = {
    {NT_KEY "\\Perflib",   true,  KIND_OURS  },
    {NT_KEY,               false, KIND_SHARED}, /* the daemon's values, else Samba's */
    {NLS_KEY "\\Language", false, KIND_OURS  },
    {NLS_KEY,              false, KIND_OURS  }, /* Samba does not have this key */
};

static enum kind kind_of(const char *path)
{
    for (size_t i = 0; i < COUNT(keys); i++)
        if (keys[i].below ? remote_is_within(path, keys[i].path)
                          : !text_compare_fold(path, keys[i].path))
            return keys[i].kind;
    for (size_t i = 0; i < COUNT(keys); i++)
        if (remote_is_within(keys[i].path, path))
            return KIND_ABOVE;
    return KIND_SAMBA;
}

/* Returns above\name, without a backslash at its end. NULL: too long, or no memory. */
static char *join(TALLOC_CTX *memory, const char *above, const char *name)
{
    name = name ? name : "";
    if (strlen(above) + strlen(name) >= SHIM_MOST_PATH)
        return NULL;
    char *path = talloc_asprintf(memory, "%s%s%s", above, *above && *name ? "\\" : "", name);
    size_t count = path ? strlen(path) : 0;
    if (count && path[count - 1] == '\\')
        path[count - 1] = '\0';
    return path;
}

/* ---- calls ---- */

/* The call with which Samba may open a key above ours, and the path of that key. */
static struct {
    const struct dcesrv_call_state *state;
    char path[SHIM_MOST_PATH + 1];
} watching;

static int call_gone(struct call *call)
{
    if (call->in_line)
        stream_forget(call);
    buffer_done(&call->text);
    buffer_done(&call->out);
    buffer_done(&call->message);
    return 0;
}

static struct call *call_of(void *request)
{
    return talloc_get_type(request, struct call);
}

static NTSTATUS refuse(struct dcesrv_call_state *state, uint32_t fault)
{
    state->fault_code = fault;
    return NT_STATUS_NET_WRITE_FAULT;
}

static NTSTATUS make_call(struct dcesrv_call_state *state, TALLOC_CTX *memory,
                          struct ndr_pull *pull, void **ret)
{
    struct call *call = talloc_zero(memory, struct call);
    struct client *client = client_of(state->conn, true);
    unsigned opnum = state->pkt.u.request.opnum;
    if (!call || !client)
        return NT_STATUS_NO_MEMORY;
    *call = (struct call){.client = client, .state = state, .handle = -1};
    talloc_set_destructor(call, call_gone);
    *ret = call;
    if (!rrp_read_request(opnum, pull->data, pull->data_size, &call->text, &call->request))
        return refuse(state, DCERPC_FAULT_NDR);
    if (!rrp_has_handle(opnum)) {
        call->root = rrp_root_of(opnum);
        call->path = talloc_strdup(call, "");
        return NT_STATUS_OK;
    }
    call->handle = handle_find(client, call->request.handle.bytes);
    if (call->handle >= 0) {
        call->root = client->handles[call->handle].root;
        call->path = talloc_strdup(call, client->handles[call->handle].path);
    }
    return NT_STATUS_OK;
}

/* Handles the opening of a key below one of Samba's handles: the key may be ours, or above ours. */
static NTSTATUS pull_open(struct dcesrv_call_state *state, TALLOC_CTX *memory,
                          struct ndr_pull *pull, const char *above, void **ret)
{
    struct rrp_request request;
    BUFFER_AUTO text = {0};
    if (!rrp_read_request(RRP_OPEN_KEY, pull->data, pull->data_size, &text, &request))
        return samba.ndr_pull(state, memory, pull, ret);
    char *path = join(memory, above, request.name);
    enum kind kind = path ? kind_of(path) : KIND_SAMBA;
    if (kind == KIND_OURS) {
        NTSTATUS status = make_call(state, memory, pull, ret);
        struct call *call = NT_STATUS_IS_OK(status) ? call_of(*ret) : NULL;
        if (call) {
            call->root = machine_root;
            call->path = path; /* freed with the same memory context */
        }
        return status;
    }
    if (kind != KIND_SAMBA) {
        watching.state = state;
        strcpy(watching.path, path);
    }
    return samba.ndr_pull(state, memory, pull, ret);
}

/* Handles a value of a key that both the daemon and Samba have. */
static NTSTATUS pull_shared(struct dcesrv_call_state *state, TALLOC_CTX *memory,
                            struct ndr_pull *pull, const char *path, void **ret)
{
    void *theirs = NULL;
    NTSTATUS status = samba.ndr_pull(state, memory, pull, &theirs);
    if (!NT_STATUS_IS_OK(status))
        return status;
    status = make_call(state, memory, pull, ret);
    if (!NT_STATUS_IS_OK(status))
        return status;
    struct call *call = call_of(*ret);
    call->samba = theirs;
    call->root = machine_root;
    call->path = talloc_strdup(call, path);
    return NT_STATUS_OK;
}

/* Is the request in 32-bit NDR and little-endian? Others are left to Samba. */
static bool is_plain(const struct ndr_pull *pull)
{
    return !(pull->flags & (LIBNDR_FLAG_BIGENDIAN | LIBNDR_FLAG_NDR64));
}

/* Handles a request with one of Samba's handles; `path` is its key. */
static NTSTATUS pull_watched(struct dcesrv_call_state *state, TALLOC_CTX *memory,
                             struct ndr_pull *pull, struct client *client, const char *path,
                             void **ret)
{
    unsigned opnum = state->pkt.u.request.opnum;
    if (opnum == RRP_OPEN_KEY)
        return pull_open(state, memory, pull, path, ret);
    if (opnum == RRP_QUERY && kind_of(path) == KIND_SHARED)
        return pull_shared(state, memory, pull, path, ret);
    if (opnum == RRP_CLOSE)
        watched_forget(client, pull->data);
    return samba.ndr_pull(state, memory, pull, ret);
}

static NTSTATUS our_pull(struct dcesrv_call_state *state, TALLOC_CTX *memory, struct ndr_pull *pull,
                         void **ret)
{
    unsigned opnum = state->pkt.u.request.opnum;
    struct client *client = client_of(state->conn, opnum == RRP_OPEN_LOCAL_MACHINE);
    watching.state = NULL;
    if (caller_is_samba(state))
        return samba.ndr_pull(state, memory, pull, ret);
    if (opnum == RRP_OPEN_DATA || opnum == RRP_OPEN_TEXT || opnum == RRP_OPEN_NLS_TEXT)
        return is_plain(pull) ? make_call(state, memory, pull, ret)
                              : refuse(state, DCERPC_FAULT_NDR);
    if (!is_plain(pull))
        return samba.ndr_pull(state, memory, pull, ret);
    if (client && opnum == RRP_OPEN_LOCAL_MACHINE) {
        watching.state = state;
        watching.path[0] = '\0';
    } else if (client && rrp_has_handle(opnum) && pull->data_size >= RRP_HANDLE_BYTES) {
        if (handle_find(client, pull->data) >= 0)
            return make_call(state, memory, pull, ret);
        const char *path = watched_find(client, pull->data);
        if (path)
            return pull_watched(state, memory, pull, client, path, ret);
    }
    return samba.ndr_pull(state, memory, pull, ret);
}

/* ---- answers ---- */

static void take_open(struct call *call)
{
    int place = handle_make(call->client, call->root, call->path);
    if (place < 0)
        call->answer.status = STATUS_NO_SPACE;
    else
        call->answer.handle = call->client->handles[place].wire;
}

static void take_value(struct call *call, const struct proto_reply *reply)
{
    const struct rrp_request *request = &call->request;
    struct rrp_reply *answer = &call->answer;
    answer->type = reply->type;
    answer->size = 0;
    if (answer->status == STATUS_MORE)
        answer->size = reply->needed > request->capacity ? reply->needed : request->capacity;
    else if (!answer->status)
        answer->size = request->has_data ? (uint32_t)reply->data_size : reply->needed;
    answer->data = reply->data;
    answer->data_size = answer->status ? 0 : (uint32_t)reply->data_size;
}

/* Stores the name; the status says if it does not fit into the client's buffer with its NUL. */
static void take_name(struct call *call, const struct proto_reply *reply)
{
    size_t units = reply->name ? utf8_to_16(reply->name, strlen(reply->name), NULL, 0) : 0;
    call->answer.name = reply->name;
    if (!call->answer.status && (units + 1) * sizeof(uint16_t) > call->request.name_capacity.bytes)
        call->answer.status = STATUS_MORE;
}

static void take_numbers(struct call *call, const struct proto_reply *reply)
{
    uint32_t *numbers = call->answer.numbers;
    if (reply->data_size == PROTO_INFO_BYTES)
        for (int i = 0; i < 7; i++)
            numbers[i] = proto_number((const char *)reply->data + 4 * i);
    else if (reply->data_size == PROTO_TIME_BYTES)
        for (int i = 0; i < 2; i++)
            numbers[5 + i] = proto_number((const char *)reply->data + 4 * i);
}

static void take_reply(struct call *call, const struct proto_reply *reply)
{
    call->answer = (struct rrp_reply){.status = reply->status};
    uint16_t operation = rrp_operation(call->request.opnum);
    if (operation == PROTO_QUERY || operation == PROTO_ENUM_VALUE)
        take_value(call, reply);
    if (operation == PROTO_ENUM_KEY || operation == PROTO_ENUM_VALUE)
        take_name(call, reply);
    if (operation == PROTO_ENUM_KEY || operation == PROTO_INFO)
        take_numbers(call, reply);
    if (operation == PROTO_OPEN && !reply->status)
        take_open(call);
    if (operation == PROTO_CLOSE) /* the key is closed, whatever the providers returned */
        call->answer.status = 0;
}

void call_answered(struct call *call, const struct proto_reply *reply)
{
    struct dcesrv_call_state *state = call->state;
    bool pending = state->state_flags & DCESRV_CALL_STATE_FLAG_ASYNC;
    call->done = true;
    if (call->samba && reply->status) {
        state->state_flags &= ~(uint32_t)DCESRV_CALL_STATE_FLAG_ASYNC;
        samba.dispatch(state, state, call->samba);
    } else {
        call->samba = NULL;
        take_reply(call, reply);
        rrp_write_reply(&call->request, &call->answer, &call->out);
    }
    if (pending) {
        NTSTATUS status = dcesrv_reply(state);
        if (!NT_STATUS_IS_OK(status))
            syslog(LOG_DAEMON | LOG_WARNING, "openperflib: an answer could not be given: 0x%08x",
                   NT_STATUS_V(status));
    }
}

static void answer_at_once(struct call *call, uint32_t status)
{
    call_answered(call, &(struct proto_reply){.status = status});
}

/* ---- dispatch ---- */

static bool send_request(struct call *call, uint16_t operation)
{
    const struct rrp_request *request = &call->request;
    bool value = operation == PROTO_QUERY || operation == PROTO_ENUM_VALUE;
    struct proto_request forwarded = {
        .operation = operation,
        .flags = value ? PROTO_WIDE : 0,
        .root = call->root,
        .index = request->index,
        .path = call->path,
        .name = operation == PROTO_QUERY ? request->name : NULL,
    };
    if (value && !request->has_data)
        forwarded.flags |= PROTO_NO_DATA | (request->has_size ? 0 : PROTO_NO_SIZE);
    else if (value)
        forwarded.capacity =
            request->capacity < PROTO_DATA_BYTES ? request->capacity : PROTO_DATA_BYTES;
    if (!call->path || !proto_write_request(&forwarded, &call->message))
        return false;
    stream_call(call);
    return true;
}

/* Closes a key. With the client's last handle of the performance data, the daemon closes its
 * providers. */
static bool close_key(struct call *call)
{
    bool last = call->root == data_root && handle_count(call->client, data_root) == 1;
    handle_free(call->client, call->handle);
    if (last)
        return send_request(call, PROTO_CLOSE);
    answer_at_once(call, 0);
    return true;
}

/* Starts a call of ours. Returns false if the call can only be answered by a fault. */
static bool begin(struct call *call)
{
    const struct rrp_request *request = &call->request;
    uint16_t operation = rrp_operation(request->opnum);
    uint32_t status = 0;
    if (operation == PROTO_CLOSE)
        return close_key(call);
    if (request->opnum == RRP_OPEN_KEY && call->handle >= 0)
        call->path = join(call, call->path, request->name);
    if (request->opnum != RRP_VERSION && (!operation || request->access & writing))
        status = STATUS_DENIED; /* the call would write */
    else if ((operation == PROTO_QUERY || operation == PROTO_ENUM_VALUE) && request->has_data &&
             !request->has_size)
        status = STATUS_WRONG;
    else if (operation)
        return send_request(call, operation);
    answer_at_once(call, status);
    return true;
}

static NTSTATUS our_dispatch(struct dcesrv_call_state *state, TALLOC_CTX *memory, void *request)
{
    struct call *call = call_of(request);
    if (!call)
        return samba.dispatch(state, memory, request);
    if (!begin(call))
        return refuse(state, DCERPC_FAULT_ACCESS_DENIED);
    if (!call->done && !(state->state_flags & DCESRV_CALL_STATE_FLAG_MAY_ASYNC))
        stream_wait(call);
    if (!call->done)
        state->state_flags |= DCESRV_CALL_STATE_FLAG_ASYNC;
    else if (!call->samba && !call->out.len)
        return refuse(state, DCERPC_FAULT_ACCESS_DENIED);
    return NT_STATUS_OK;
}

static NTSTATUS our_reply(struct dcesrv_call_state *state, TALLOC_CTX *memory, void *request)
{
    struct call *call = call_of(request);
    if (call && !call->samba)
        return NT_STATUS_OK;
    return samba.reply(state, memory, call ? call->samba : request);
}

/* If Samba has opened the key of `watching`, remembers its handle. */
static void watch(struct dcesrv_call_state *state, const struct ndr_push *push, uint32_t begin_at)
{
    static const unsigned char good[4];
    struct client *client = client_of(state->conn, false);
    const unsigned char *answer = push->data + begin_at;
    if (client && push->offset - begin_at >= RRP_HANDLE_BYTES + sizeof good &&
        !memcmp(answer + RRP_HANDLE_BYTES, good, sizeof good))
        watched_add(client, answer, watching.path);
}

static NTSTATUS our_push(struct dcesrv_call_state *state, TALLOC_CTX *memory, struct ndr_push *push,
                         const void *request)
{
    struct call *call = call_of((void *)request);
    uint32_t begin_at = push->offset;
    if (!call || call->samba) {
        NTSTATUS status = samba.ndr_push(state, memory, push, call ? call->samba : request);
        if (!call && NT_STATUS_IS_OK(status) && watching.state == state)
            watch(state, push, begin_at);
        watching.state = NULL;
        return status;
    }
    if (call->out.failed ||
        ndr_push_bytes(push, (const uint8_t *)call->out.data, (uint32_t)call->out.len))
        return refuse(state, DCERPC_FAULT_NDR);
    return NT_STATUS_OK;
}

/* ---- replacing the interface ---- */

/* Is this Samba of the series whose headers were used? In others the structures differ. */
static bool is_known_series(void)
{
    const char *(*version)(void);
    *(void **)&version = dlsym(RTLD_DEFAULT, "samba_version_string");
    const char *text = version ? version() : "unknown";
    static const char wanted[] = SERIES(4, 17);
    if (!strncmp(text, wanted, sizeof wanted - 1))
        return true;
    syslog(LOG_DAEMON | LOG_WARNING,
           "openperflib: made for Samba %sx, this is %s: performance counters are left to Samba",
           wanted, text);
    return false;
}

#if SAMBA_VERSION_MAJOR != 4 || SAMBA_VERSION_MINOR != 17
#error "the shim knows the structures of Samba 4.17 only"
#endif

typedef NTSTATUS registering(struct dcesrv_context *, const char *, const char *,
                             const struct dcesrv_interface *, const struct security_descriptor *);

PUBLIC NTSTATUS dcesrv_interface_register(struct dcesrv_context *context, const char *endpoint,
                                          const char *second,
                                          const struct dcesrv_interface *interface,
                                          const struct security_descriptor *descriptor)
{
    registering *next;
    *(void **)&next = dlsym(RTLD_NEXT, "dcesrv_interface_register");
    if (!next)
        return NT_STATUS_INTERNAL_ERROR;
    if (interface->name && !strcmp(interface->name, "winreg") && is_known_series()) {
        samba = *interface;
        ours = *interface;
        ours.ndr_pull = our_pull;
        ours.dispatch = our_dispatch;
        ours.reply = our_reply;
        ours.ndr_push = our_push;
        interface = &ours;
    }
    return next(context, endpoint, second, interface, descriptor);
}
