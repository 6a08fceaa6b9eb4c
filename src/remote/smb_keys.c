/* SPDX-License-Identifier: MIT */
/*
 * The machine's open keys, and its connection. An attempt to reach the registry service of Windows
 * starts it, so a service that is not there is retried for some seconds; a machine that cannot be
 * reached is not retried for longer each time.
 */
#include "remote/smb.h"

#include <winreg.h>
#include <stdlib.h>
#include <string.h>

static const int64_t second = CLOCK_TICKS_PER_SECOND;
enum { WAKING_MS = 6000, FIRST_PAUSE_MS = 100, LONGEST_PAUSE_MS = 1600 };
enum { LONGEST_REST_SECONDS = 30 };

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
}

/* ---- connecting ---- */

/* One second, two, four, ... */
static void note_failure(struct smb_machine *machine)
{
    int64_t rest = machine->failures < 5 ? 1 << machine->failures : LONGEST_REST_SECONDS;
    machine->failures++;
    machine->not_before = clock_ticks() + rest * second;
}

static bool is_asleep(LSTATUS status)
{
    return status == ERROR_FILE_NOT_FOUND || status == SMB_PIPE_BUSY;
}

static LSTATUS wake(struct smb_machine *machine, int64_t deadline)
{
    unsigned waited = 0;
    for (unsigned pause = FIRST_PAUSE_MS;; pause *= pause < LONGEST_PAUSE_MS ? 2 : 1) {
        LSTATUS status = machine->wire->connect(machine->wire, deadline);
        if (!is_asleep(status))
            return status;
        if (waited + pause > WAKING_MS || clock_ticks() + pause * (second / 1000) >= deadline)
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
    LSTATUS status = wake(machine, deadline);
    machine->connected = !status;
    if (status)
        note_failure(machine);
    else
        machine->failures = 0;
    return status == WAIT_TIMEOUT || status == RPC_S_CALL_FAILED ? RPC_S_SERVER_UNAVAILABLE
                                                                 : status;
}

LSTATUS machine_call(struct smb_machine *machine, enum winreg_call operation, int64_t deadline)
{
    if (machine->request.failed)
        return ERROR_NOT_ENOUGH_MEMORY;
    LSTATUS status =
        machine->wire->call(machine->wire, operation, &machine->request, deadline, &machine->reply);
    if (status == RPC_S_CALL_FAILED || status == WAIT_TIMEOUT)
        machine_lose(machine);
    else
        machine->answered = true;
    return status == WAIT_TIMEOUT ? ERROR_TIMEOUT : status;
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
    if (winreg_put_handle(&key->handle, &machine->request))
        machine_call(machine, WINREG_CLOSE_KEY, deadline);
}

/* A free slot, or that of the least recently used key. */
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

static LSTATUS open_key(struct smb_machine *machine, enum winreg_call operation, uint32_t root,
                        const char *path, int64_t deadline, struct winreg_handle *ret)
{
    uint32_t remote = 0;
    LSTATUS status = machine_call(machine, operation, deadline);
    if (!status && !winreg_take_handle(&machine->reply, ret, &remote))
        status = ERROR_INVALID_DATA;
    status = status ? status : (LSTATUS)remote;
    if (status)
        return status;
    struct smb_key *key = place_for(machine, deadline);
    if (!machine->connected) /* the connection was lost just now */
        return RPC_S_CALL_FAILED;
    *key = (struct smb_key){.root = root, .path = strdup(path), .handle = *ret, .open = true};
    key->used = ++machine->clock;
    if (!key->path) {
        close_there(machine, key, deadline);
        forget(key);
    }
    return ERROR_SUCCESS;
}

static LSTATUS open_root(struct smb_machine *machine, uint32_t root, int64_t deadline,
                         struct winreg_handle *ret)
{
    static const struct {
        HKEY key;
        enum winreg_call operation;
    } roots[] = {
        {HKEY_PERFORMANCE_DATA,    WINREG_OPEN_PERFORMANCE_DATA   },
        {HKEY_PERFORMANCE_TEXT,    WINREG_OPEN_PERFORMANCE_TEXT   },
        {HKEY_PERFORMANCE_NLSTEXT, WINREG_OPEN_PERFORMANCE_NLSTEXT},
        {HKEY_LOCAL_MACHINE,       WINREG_OPEN_LOCAL_MACHINE      },
        {HKEY_USERS,               WINREG_OPEN_USERS              },
    };
    for (size_t i = 0; i < COUNT(roots); i++)
        if ((uint32_t)(uintptr_t)roots[i].key == root) {
            if (!winreg_put_open_root(&machine->request))
                return ERROR_NOT_ENOUGH_MEMORY;
            return open_key(machine, roots[i].operation, root, "", deadline, ret);
        }
    return ERROR_INVALID_HANDLE;
}

LSTATUS machine_key(struct smb_machine *machine, uint32_t root, const char *path, int64_t deadline,
                    struct winreg_handle *ret)
{
    struct winreg_handle above;
    LSTATUS status = connect_machine(machine, deadline);
    if (status)
        return status;
    struct smb_key *key = find_key(machine, root, path);
    if (key) {
        key->used = ++machine->clock;
        *ret = key->handle;
        return ERROR_SUCCESS;
    }
    if (!*path)
        return open_root(machine, root, deadline, ret);
    status = machine_key(machine, root, "", deadline, &above);
    if (status)
        return status;
    if (!winreg_put_open_key(&above, path, &machine->request))
        return ERROR_INVALID_PARAMETER;
    return open_key(machine, WINREG_OPEN_KEY, root, path, deadline, ret);
}

/* The machine does not know a handle any more: then those above and below it are invalid, too. */
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
            forget(key); /* whether or not closing it succeeded */
        }
    }
}
