/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The handles of one connection: private to it, limited in number, freed with it. */
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
        if (client->handles[i].root && !memcmp(client->handles[i].wire, wire, RRP_HANDLE_BYTES))
            return i;
    return -1;
}

/* Type 0 and 16 random bytes that cannot be guessed. */
static bool make_wire(unsigned char wire[static RRP_HANDLE_BYTES])
{
    enum { TYPE_BYTES = 4 };
    memset(wire, 0, TYPE_BYTES);
    return getrandom(wire + TYPE_BYTES, RRP_HANDLE_BYTES - TYPE_BYTES, GRND_NONBLOCK) ==
           RRP_HANDLE_BYTES - TYPE_BYTES;
}

int handle_make(struct client *client, uint32_t root, const char *path)
{
    for (int i = 0; i < SHIM_MOST_HANDLES; i++) {
        struct handle *handle = &client->handles[i];
        if (handle->root)
            continue;
        handle->path = talloc_strdup(client, path);
        if (!handle->path || !make_wire(handle->wire)) {
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
        if (client->watched[i].path && !memcmp(client->watched[i].wire, wire, RRP_HANDLE_BYTES))
            return i;
    return -1;
}

const char *watched_find(const struct client *client, const void *wire)
{
    int place = place_of(client, wire);
    return place < 0 ? NULL : client->watched[place].path;
}

/* Without a free place the key below is handled by Samba alone. */
void watched_add(struct client *client, const void *wire, const char *path)
{
    for (int i = 0; i < SHIM_MOST_WATCHED; i++)
        if (!client->watched[i].path) {
            client->watched[i].path = talloc_strdup(client, path);
            memcpy(client->watched[i].wire, wire, RRP_HANDLE_BYTES);
            return;
        }
}

void watched_forget(struct client *client, const void *wire)
{
    int place = place_of(client, wire);
    if (place >= 0)
        TALLOC_FREE(client->watched[place].path);
}
