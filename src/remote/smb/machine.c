/* SPDX-License-Identifier: MIT */
/*
 * The connection to the machine, and its open keys. On Windows the first attempt to use the
 * registry service starts it, so for some seconds a missing service is tried again. While the
 * machine cannot be reached, the pauses between attempts become longer.
 */
#include "remote/smb/smb.h"

#include <stdlib.h>
#include <string.h>

static const int64_t second = CLOCK_TICKS_PER_SECOND;

void machine_init(struct smb_machine *machine, struct smb_wire *wire)
{
    *machine = (struct smb_machine){.wire = wire};
}

static void forget(struct smb_key *key)
{
    free(key->path);
    *key = (struct smb_key){0};
}

void machine_lose(struct smb_machine *machine)
{
    for (size_t i = 0; i < SMB_KEPT_KEYS; i++)
        forget(&machine->keys[i]);
    if (machine->connected)
        machine->wire->close(machine->wire);
    machine->connected = machine->answered = false;
}

void machine_done(struct smb_machine *machine)
{
    machine_lose(machine);
    buffer_done(&machine->request);
    buffer_done(&machine->reply);
    buffer_done(&machine->name);
}

/* ---- connecting ---- */

static bool is_service_stopped(LSTATUS status)
{
    return status == ERROR_FILE_NOT_FOUND || status == SMB_PIPE_BUSY;
}

static LSTATUS connect_when_ready(struct smb_machine *machine, int64_t deadline)
{
    unsigned waited = 0;
    for (unsigned pause = SMB_FIRST_START_PAUSE_MS;;
         pause *= pause < SMB_LONGEST_START_PAUSE_MS ? 2 : 1) {
        LSTATUS status = machine->wire->connect(machine->wire, deadline);
        if (!is_service_stopped(status))
            return status;
        if (waited + pause > SMB_START_MS || clock_ticks() + pause * (second / 1000) >= deadline)
            return RPC_S_SERVER_UNAVAILABLE;
        machine->wire->pause(machine->wire, pause);
        waited += pause;
    }
}

static LSTATUS connect_machine(struct smb_machine *machine, int64_t deadline)
{
    if (machine->connected)
        return ERROR_SUCCESS;
    if (clock_ticks() < machine->not_before)
        return RPC_S_SERVER_UNAVAILABLE;
    LSTATUS status = connect_when_ready(machine, deadline);
    machine->connected = !status;
    if (status)
        machine->not_before = remote_try_again(&machine->failures);
    else
        machine->failures = 0;
    return status == WAIT_TIMEOUT || status == RPC_S_CALL_FAILED ? RPC_S_SERVER_UNAVAILABLE
                                                                 : status;
}

LSTATUS machine_call(struct smb_machine *machine, const struct rrp_request *request,
                     int64_t deadline, struct rrp_reply *ret)
{
    buffer_clear(&machine->request);
    if (!rrp_write_request(request, &machine->request))
        return machine->request.failed ? ERROR_NOT_ENOUGH_MEMORY : ERROR_INVALID_PARAMETER;
    LSTATUS status = machine->wire->call(machine->wire, (enum rrp_call)request->opnum,
                                         &machine->request, deadline, &machine->reply);
    if (status == RPC_S_CALL_FAILED || status == WAIT_TIMEOUT)
        machine_lose(machine);
    else
        machine->answered = true;
    if (status)
        return status == WAIT_TIMEOUT ? ERROR_TIMEOUT : status;
    if (!rrp_read_reply(request, machine->reply.data, machine->reply.len, &machine->name, ret))
        return ERROR_INVALID_DATA;
    return (LSTATUS)ret->status;
}

/* ---- keys ---- */

static struct smb_key *find_key(struct smb_machine *machine, uint32_t root, const char *path)
{
    for (size_t i = 0; i < SMB_KEPT_KEYS; i++) {
        struct smb_key *key = &machine->keys[i];
        if (key->open && key->root == root && text_equal_fold(key->path, path))
            return key;
    }
    return NULL;
}

static void close_there(struct smb_machine *machine, const struct smb_key *key, int64_t deadline)
{
    struct rrp_reply reply;
    machine_call(machine, &(struct rrp_request){.opnum = RRP_CLOSE, .handle = key->handle},
                 deadline, &reply);
}

/* Returns a free slot; if no slot is free, closes the key that was unused for the longest time.
 * Root keys stay open. */
static struct smb_key *place_for(struct smb_machine *machine, int64_t deadline)
{
    struct smb_key *oldest = &machine->keys[0];
    for (size_t i = 0; i < SMB_KEPT_KEYS; i++) {
        struct smb_key *key = &machine->keys[i];
        if (!key->open)
            return key;
        bool older = *key->path && (!*oldest->path || key->used < oldest->used);
        oldest = older ? key : oldest;
    }
    close_there(machine, oldest, deadline);
    forget(oldest);
    return oldest;
}

LSTATUS machine_key(struct smb_machine *machine, uint32_t root, const char *path, int64_t deadline,
                    struct rrp_handle *ret)
{
    enum { KEY_READ_ONLY = 0x20019, MAXIMUM_ALLOWED_ACCESS = 0x02000000 };
    struct rrp_reply reply;
    struct rrp_request request = {.opnum = rrp_open_of(root), .access = MAXIMUM_ALLOWED_ACCESS};
    LSTATUS status = connect_machine(machine, deadline);
    struct smb_key *key = status ? NULL : find_key(machine, root, path);
    if (key) {
        key->used = ++machine->clock;
        *ret = key->handle;
        return ERROR_SUCCESS;
    }
    if (!status && request.opnum == RRP_CALLS)
        status = ERROR_INVALID_HANDLE;
    if (!status && *path) {
        request =
            (struct rrp_request){.opnum = RRP_OPEN_KEY, .name = path, .access = KEY_READ_ONLY};
        status = machine_key(machine, root, "", deadline, &request.handle);
    }
    status = status ? status : machine_call(machine, &request, deadline, &reply);
    if (status)
        return status;
    *ret = reply.handle;
    key = place_for(machine, deadline);
    if (!machine->connected) /* place_for may have lost the connection while it closed a key */
        return RPC_S_CALL_FAILED;
    *key = (struct smb_key){.root = root, .path = strdup(path), .handle = *ret, .open = true};
    key->used = ++machine->clock;
    if (!key->path) {
        close_there(machine, key, deadline);
        forget(key);
    }
    return ERROR_SUCCESS;
}

/* Called when the machine rejects a handle: forgets the key, and its root, because the root's
 * handle is invalid, too. */
void machine_forget_key(struct smb_machine *machine, uint32_t root, const char *path)
{
    for (size_t i = 0; i < SMB_KEPT_KEYS; i++) {
        struct smb_key *key = &machine->keys[i];
        if (key->open && key->root == root && (!*key->path || text_equal_fold(key->path, path)))
            forget(key);
    }
}

void machine_close_root(struct smb_machine *machine, uint32_t root, int64_t deadline)
{
    for (size_t i = 0; i < SMB_KEPT_KEYS && machine->connected; i++) {
        struct smb_key *key = &machine->keys[i];
        if (key->open && key->root == root) {
            close_there(machine, key, deadline);
            forget(key); /* forget the key even if closing it failed */
        }
    }
}
