/* SPDX-License-Identifier: MIT */
/* Which request gets what: docs/serve.md. */
#include "serve.h"

#include "../common/json.h"
#include "../common/options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void fail(struct reply *reply, enum http_status status, const char *why)
{
    reply->status = status;
    reply->type = "text/plain; charset=utf-8";
    fputs(why, reply->out);
}

/* `address` NULL: not of interest. */
static void write_secret(struct reply *reply, const char *secret, const char *address)
{
    struct json json = {.out = reply->out, .flat = true};
    reply->type = "application/json";
    json_open(&json, NULL, '{');
    json_string(&json, "secret", secret);
    if (address)
        json_string(&json, "address", address);
    json_close(&json, '}');
}

static void answer_link(struct server *server, const struct request *request, struct reply *reply)
{
    char secret[SECRET_SIZE + 1];
    if (access_link(server->access, request->user, secret)) {
        write_secret(reply, secret, server->address);
    } else {
        fail(reply, HTTP_BUSY,
             "Too many links wait to be opened; each is valid for five minutes.\n");
        reply->retry = "60";
    }
    explicit_bzero(secret, sizeof secret);
}

static void answer_session(struct server *server, const struct request *request,
                           struct reply *reply)
{
    char secret[SECRET_SIZE + 1];
    if (access_session(server->access, request, secret))
        write_secret(reply, secret, NULL);
    else
        fail(reply, HTTP_NO_SECRET,
             "This link was used already or is too old: run \"perfmon open\" for a new one.\n");
    explicit_bzero(secret, sizeof secret);
}

static void answer_machine(struct server *server, const struct request *request,
                           struct reply *reply)
{
    char name[256] = "";
    struct json json = {.out = reply->out, .flat = true};
    (void)request;
    if (server->machine)
        snprintf(name, sizeof name, "%s", server->machine);
    else
        gethostname(name, sizeof name - 1);
    reply->type = "application/json";
    json_open(&json, NULL, '{');
    json_string(&json, "name", name);
    json_double(&json, "seconds", live_seconds(server->live));
    json_bool(&json, "root", geteuid() == 0);
    json_close(&json, '}');
}

static void write_counter(struct json *json, const struct catalogue_counter *counter)
{
    static const char *const units[] = {"", "B", "KiB", "MiB"};
    json_open(json, NULL, '{');
    json_string(json, "name", counter->name);
    json_string(json, "explain", counter->explain);
    json_string(json, "type", counter->unit.type.name);
    json_string(json, "suffix", counter->unit.type.suffix);
    json_string(json, "unit", units[counter->unit.unit]);
    json_bool(json, "text", counter->text);
    json_bool(json, "raw", counter->raw);
    json_close(json, '}');
}

static void write_instances(struct json *json, const struct catalogue_object *object)
{
    json_open(json, "instances", '[');
    for (size_t i = 0; i < object->instance_count; i++)
        json_string(json, NULL, object->instances[i]);
    json_close(json, ']');
}

/* All objects that have been read so far; `complete` says whether these are all. */
static void answer_objects(struct server *server, const struct request *request,
                           struct reply *reply)
{
    size_t ready, count = catalogue_count(server->catalogue, &ready);
    struct json json = {.out = reply->out, .flat = true};
    (void)request;
    reply->type = "application/json";
    json_open(&json, NULL, '{');
    json_bool(&json, "complete", count && ready == count);
    json_open(&json, "objects", '[');
    for (size_t i = 0; i < ready; i++) {
        const struct catalogue_object *object = catalogue_object(server->catalogue, i);
        json_open(&json, NULL, '{');
        json_string(&json, "name", object->name);
        json_string(&json, "explain", object->explain);
        json_string(&json, "why", object->why);
        json_bool(&json, "single", object->single);
        json_integer(&json, "instances", (int64_t)object->instance_count);
        json_open(&json, "counters", '[');
        for (size_t c = 0; c < object->counter_count; c++)
            write_counter(&json, &object->counters[c]);
        json_close(&json, ']');
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
}

static void answer_instances(struct server *server, const struct request *request,
                             struct reply *reply)
{
    const char *name = request_word(request, "object");
    size_t ready;
    catalogue_count(server->catalogue, &ready);
    for (size_t i = 0; name && i < ready; i++) {
        const struct catalogue_object *object = catalogue_object(server->catalogue, i);
        if (strcasecmp(object->name, name) != 0)
            continue;
        struct json json = {.out = reply->out, .flat = true};
        reply->type = "application/json";
        catalogue_watch(server->catalogue, i);
        json_open(&json, NULL, '{');
        json_string(&json, "why", object->why);
        write_instances(&json, object);
        json_close(&json, '}');
        return;
    }
    fail(reply, HTTP_MISSING, "There is no such object, or it has not been read yet.\n");
}

static void answer_live(struct server *server, const struct request *request, struct reply *reply)
{
    const char *why = NULL;
    if (strlen(request->body) != request->size) {
        fail(reply, HTTP_BAD, "The list of counters contains a zero byte.\n");
        return;
    }
    reply->viewer = live_viewer(server->live, request->body, &why);
    if (reply->viewer)
        reply->type = "text/event-stream";
    else
        fail(reply, HTTP_BAD, why);
}

/* The page's files are no secret, and so need no session. */
static bool answer_file(const struct request *request, struct reply *reply)
{
    static const char *const types[][2] = {
        {".html", "text/html; charset=utf-8"      },
        {".css",  "text/css; charset=utf-8"       },
        {".js",   "text/javascript; charset=utf-8"}
    };
    const char *name = strcmp(request->path, "/") != 0 ? request->path + 1 : "page.html";
    for (const struct page_file *file = page_files; file->name; file++) {
        if (strcmp(file->name, name) != 0)
            continue;
        reply->fixed = file->bytes;
        reply->fixed_size = file->size;
        for (size_t i = 0; i < sizeof types / sizeof *types; i++)
            if (!strcmp(strrchr(name, '.'), types[i][0]))
                reply->type = types[i][1];
        return true;
    }
    return false;
}

void api_answer(struct server *server, const struct request *request, struct reply *reply)
{
    static const struct route {
        const char *method, *path;
        void (*answer)(struct server *, const struct request *, struct reply *);
    } routes[] = {
        {"POST", "/api/link",      answer_link     },
        {"POST", "/api/session",   answer_session  },
        {"GET",  "/api/machine",   answer_machine  },
        {"GET",  "/api/objects",   answer_objects  },
        {"GET",  "/api/instances", answer_instances},
        {"POST", "/api/live",      answer_live     },
    };
    bool known = false;
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        if (strcmp(routes[i].path, request->path) != 0)
            continue;
        known = true;
        if (!strcmp(routes[i].method, request->method)) {
            routes[i].answer(server, request, reply);
            return;
        }
    }
    if (!strcmp(request->method, "GET") && answer_file(request, reply))
        return;
    if (known)
        fail(reply, HTTP_METHOD, "This method is not possible here.\n");
    else
        fail(reply, HTTP_MISSING, "There is nothing at this address.\n");
}
