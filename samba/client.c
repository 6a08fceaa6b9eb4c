/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One connection of a client: its handles, which are private to the connection, limited in number
 * and freed with it; and the client's name and SIDs, and how its calls were protected, as Samba
 * knows them after the login.
 */
#include "samba/shim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static struct client *clients;

static int client_gone(struct client *client)
{
    struct client **at = &clients;
    while (*at && *at != client)
        at = &(*at)->next;
    if (*at)
        *at = client->next;
    stream_abandon(client);
    buffer_done(&client->stream.in);
    buffer_done(&client->stream.out);
    buffer_done(&client->stream.sent_caller);
    return 0;
}

struct client *client_of(struct dcesrv_connection *connection, bool make)
{
    for (struct client *client = clients; client; client = client->next)
        if (client->connection == connection)
            return client;
    struct client *client = make ? talloc_zero(connection, struct client) : NULL;
    if (!client)
        return NULL;
    client->connection = connection;
    client->stream.fd = -1;
    client->next = clients;
    clients = client;
    talloc_set_destructor(client, client_gone);
    return client;
}

int handle_find(const struct client *client, const void *wire)
{
    for (int i = 0; i < SHIM_MOST_HANDLES; i++)
        if (client->handles[i].root &&
            !memcmp(client->handles[i].wire.bytes, wire, RRP_HANDLE_BYTES))
            return i;
    return -1;
}

/* Makes a handle that cannot be guessed: type 0 and 16 random bytes. */
static bool make_wire(struct rrp_handle *wire)
{
    enum { TYPE_BYTES = 4 };
    memset(wire->bytes, 0, TYPE_BYTES);
    return getrandom(wire->bytes + TYPE_BYTES, RRP_HANDLE_BYTES - TYPE_BYTES, GRND_NONBLOCK) ==
           RRP_HANDLE_BYTES - TYPE_BYTES;
}

int handle_make(struct client *client, uint32_t root, const char *path)
{
    for (int i = 0; i < SHIM_MOST_HANDLES; i++) {
        struct handle *handle = &client->handles[i];
        if (handle->root)
            continue;
        handle->path = talloc_strdup(client, path);
        if (!handle->path || !make_wire(&handle->wire)) {
            TALLOC_FREE(handle->path);
            return -1;
        }
        handle->root = root;
        return i;
    }
    return -1;
}

void handle_free(struct client *client, int place)
{
    TALLOC_FREE(client->handles[place].path);
    client->handles[place] = (struct handle){.root = 0};
}

unsigned handle_count(const struct client *client, uint32_t root)
{
    unsigned count = 0;
    for (int i = 0; i < SHIM_MOST_HANDLES; i++)
        count += client->handles[i].root == root;
    return count;
}

/* ---- Samba's handles ---- */

static int place_of(const struct client *client, const void *wire)
{
    for (int i = 0; i < SHIM_MOST_WATCHED; i++)
        if (client->watched[i].path &&
            !memcmp(client->watched[i].wire.bytes, wire, RRP_HANDLE_BYTES))
            return i;
    return -1;
}

const char *watched_find(const struct client *client, const void *wire)
{
    int place = place_of(client, wire);
    return place < 0 ? NULL : client->watched[place].path;
}

/* Remembers Samba's handle of a key above ours. If there is no free place, keys opened below it are
 * handled by Samba alone. */
void watched_add(struct client *client, const void *wire, const char *path)
{
    for (int i = 0; i < SHIM_MOST_WATCHED; i++)
        if (!client->watched[i].path) {
            client->watched[i].path = talloc_strdup(client, path);
            memcpy(client->watched[i].wire.bytes, wire, RRP_HANDLE_BYTES);
            return;
        }
}

void watched_forget(struct client *client, const void *wire)
{
    int place = place_of(client, wire);
    if (place >= 0)
        TALLOC_FREE(client->watched[place].path);
}

/* ---- the caller ---- */

static uint64_t authority_of(const struct dom_sid *sid)
{
    uint64_t number = 0;
    for (size_t i = 0; i < sizeof sid->id_auth; i++)
        number = number << 8 | sid->id_auth[i];
    return number;
}

static void add_sid(struct buffer *text, const struct dom_sid *sid)
{
    int count = sid->num_auths < 0 ? 0 : sid->num_auths > 15 ? 15 : sid->num_auths;
    buffer_printf(text, "%sS-%u-%llu", text->len ? " " : "", sid->sid_rev_num,
                  (unsigned long long)authority_of(sid));
    for (int i = 0; i < count; i++)
        buffer_printf(text, "-%u", (unsigned)sid->sub_auths[i]);
}

static bool is_sid(const struct dom_sid *sid, uint64_t authority, uint32_t first)
{
    return authority_of(sid) == authority && sid->num_auths >= 1 && sid->sub_auths[0] == first;
}

bool caller_is_samba(struct dcesrv_call_state *state)
{
    enum { NT_AUTHORITY = 5, LOCAL_SYSTEM = 18 };
    const struct auth_session_info *session = dcesrv_call_session_info(state);
    const struct security_token *token = session ? session->security_token : NULL;
    return token && token->num_sids && token->sids[0].num_auths == 1 &&
           is_sid(&token->sids[0], NT_AUTHORITY, LOCAL_SYSTEM);
}

/* Is it Samba's own SID that marks an encrypted session? It contains dialect, signing and
 * cipher. */
static bool marks_encrypted(const struct dom_sid *sid)
{
    enum { UNIX_AUTHORITY = 22, SMB3_MARK = 1397571891, CIPHER = 3 };
    return is_sid(sid, UNIX_AUTHORITY, SMB3_MARK) && sid->num_auths > CIPHER &&
           sid->sub_auths[CIPHER] != 0;
}

static bool add_token(struct buffer *sids, const struct auth_session_info *session)
{
    const struct security_token *token = session->security_token;
    bool encrypted = false;
    for (uint32_t i = 0; token && i < token->num_sids && i < SHIM_MOST_SIDS; i++) {
        add_sid(sids, &token->sids[i]);
        encrypted = encrypted || marks_encrypted(&token->sids[i]);
    }
    return encrypted;
}

static void copy_name(char ret[static SHIM_NAME_BYTES], const struct auth_session_info *session)
{
    const struct auth_user_info *info = session->info;
    const char *domain = info && info->domain_name ? info->domain_name : "";
    const char *name = info && info->account_name ? info->account_name : "";
    int count = snprintf(ret, SHIM_NAME_BYTES, "%s%s%s", domain, *domain ? "\\" : "", name);
    if (count < 0 || count >= SHIM_NAME_BYTES || !utf8_valid(ret, strlen(ret)))
        snprintf(ret, SHIM_NAME_BYTES, "?");
}

bool caller_message(struct dcesrv_call_state *state, struct buffer *ret)
{
    BUFFER_AUTO sids = {0};
    char name[SHIM_NAME_BYTES];
    enum dcerpc_AuthType type = DCERPC_AUTH_TYPE_NONE;
    enum dcerpc_AuthLevel level = DCERPC_AUTH_LEVEL_NONE;
    const struct auth_session_info *session = dcesrv_call_session_info(state);
    if (!session || !session->security_token)
        return false;
    dcesrv_call_auth_info(state, &type, &level);
    bool encrypted = add_token(&sids, session);
    copy_name(name, session);
    const struct proto_request request = {
        .operation = PROTO_CALLER,
        .index = ((uint32_t)level & PROTO_LEVEL) | (encrypted ? PROTO_ENCRYPTED : 0),
        .path = name,
        .name = sids.data ? sids.data : "",
    };
    return !sids.failed && proto_write_request(&request, ret);
}
