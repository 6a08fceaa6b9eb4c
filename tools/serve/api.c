/* SPDX-License-Identifier: MIT */
/* Answers requests by their paths; docs/serve.md describes them. */
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

static const char no_capture[] = "The server does not have this capture any more: open it again.\n";
static const char nothing_kept[] = "The server keeps no raw values yet: open the chart first.\n";

/* `address` NULL: the reply has no address. */
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
        fail(reply, HTTP_BUSY, "There are too many sessions, or this link was just used.\n");
    explicit_bzero(secret, sizeof secret);
}

static const char *name_of(const struct machine *machine)
{
    static char host[256];
    if (!machine->name && !*host)
        gethostname(host, sizeof host - 1);
    return machine->name ? machine->name : host;
}

struct machine *api_machine(struct server *server, const struct request *request)
{
    const char *name = request_word(request, "machine");
    for (size_t i = 0; i < server->machine_count; i++)
        if (!name || !strcmp(name, name_of(&server->machines[i])))
            return &server->machines[i];
    return NULL;
}

static void answer_machine(struct server *server, const struct request *request,
                           struct reply *reply)
{
    char command[256];
    struct json json = {.out = reply->out, .flat = true};
    (void)request;
    past_prepare(server->past);
    reply->type = "application/json";
    json_open(&json, NULL, '{');
    json_string(&json, "name", name_of(server->machines));
    json_double(&json, "seconds", live_seconds(server->machines->live));
    json_bool(&json, "root", geteuid() == 0);
    json_open(&json, "machines", '[');
    for (size_t i = 0; i < server->machine_count; i++)
        json_string(&json, NULL, name_of(&server->machines[i]));
    json_close(&json, ']');
    if (!server->machines->name && rights_missing(command, sizeof command))
        json_string(&json, "missing", command);
    json_close(&json, '}');
}

/* Writes the English name, and title and explanation in the language of `names`, or in English if
 * that language lacks them. */
static void write_names(struct json *json, struct view_names *names, const char *name,
                        const char *explain)
{
    uint32_t indices[8];
    const char *title = NULL, *help = NULL;
    size_t count = names_find(names, name, indices, 8);
    for (size_t i = 0; i < count && i < 8 && !(help && *help); i++) {
        title = names_title(names, indices[i]);
        help = names_help(names, indices[i] + 1);
    }
    json_string(json, "name", name);
    json_string(json, "title", title ? title : name);
    json_string(json, "explain", help && *help ? help : explain);
}

static void write_counter(struct json *json, struct view_names *names,
                          const struct catalogue_counter *counter)
{
    static const char *const units[] = {"", "B", "KiB", "MiB"};
    json_open(json, NULL, '{');
    write_names(json, names, counter->name, counter->explain);
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

/* Answers with all objects that have been read so far; `complete`: these are all. */
static void answer_objects(struct server *server, const struct request *request,
                           struct reply *reply)
{
    struct catalogue *catalogue = api_machine(server, request)->catalogue;
    size_t ready, count = catalogue_count(catalogue, &ready);
    struct json json = {.out = reply->out, .flat = true};
    const char *language = request_word(request, "language");
    bool known = language && strlen(language) == 3 && strspn(language, "0123456789ABCDEF") == 3;
    struct view_names names = {0};
    names_load(&names, known ? language : "009");
    reply->type = "application/json";
    json_open(&json, NULL, '{');
    json_bool(&json, "complete", count && ready == count);
    json_open(&json, "objects", '[');
    for (size_t i = 0; i < ready; i++) {
        const struct catalogue_object *object = catalogue_object(catalogue, i);
        json_open(&json, NULL, '{');
        write_names(&json, &names, object->name, object->explain);
        json_string(&json, "why", object->why);
        json_bool(&json, "single", object->single);
        json_integer(&json, "instances", (int64_t)object->instance_count);
        json_open(&json, "counters", '[');
        for (size_t c = 0; c < object->counter_count; c++)
            write_counter(&json, &names, &object->counters[c]);
        json_close(&json, ']');
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
    names_done(&names);
}

static void answer_instances(struct server *server, const struct request *request,
                             struct reply *reply)
{
    const char *name = request_word(request, "object");
    struct catalogue *catalogue = api_machine(server, request)->catalogue;
    size_t ready;
    catalogue_count(catalogue, &ready);
    for (size_t i = 0; name && i < ready; i++) {
        const struct catalogue_object *object = catalogue_object(catalogue, i);
        if (strcasecmp(object->name, name) != 0)
            continue;
        struct json json = {.out = reply->out, .flat = true};
        reply->type = "application/json";
        catalogue_watch(catalogue, i);
        json_open(&json, NULL, '{');
        json_string(&json, "why", object->why);
        write_instances(&json, object);
        json_close(&json, '}');
        return;
    }
    fail(reply, HTTP_MISSING, "There is no such object, or it has not been read yet.\n");
}

/* Answers with the English titles for the titles in the lines of the body, which may be in any
 * language. Each title gets an array, because several counters may have the same title in a
 * language. */
static void answer_titles(struct server *server, const struct request *request, struct reply *reply)
{
    struct json json = {.out = reply->out, .flat = true};
    struct view_names names;
    char *lines = strdup(request->body), *rest = lines;
    (void)server;
    names_load(&names, "009");
    reply->type = "application/json";
    json_open(&json, NULL, '[');
    for (char *line; (line = strsep(&rest, "\n"));) {
        uint32_t found[16];
        size_t count = names_find(&names, line, found, 16);
        count = count ? count : names_find_elsewhere(line, found, 16);
        json_open(&json, NULL, '[');
        for (size_t i = 0; i < count && i < 16; i++)
            json_string(&json, NULL, names_english(&names, found[i]));
        json_close(&json, ']');
    }
    json_close(&json, ']');
    names_done(&names);
    free(lines);
}

static void answer_live(struct server *server, const struct request *request, struct reply *reply)
{
    const char *why = NULL;
    if (strlen(request->body) != request->size) {
        fail(reply, HTTP_BAD, "The list of counters contains a zero byte.\n");
        return;
    }
    reply->viewer = live_viewer(api_machine(server, request)->live, request->body, &why);
    if (reply->viewer)
        reply->type = "text/event-stream";
    else
        fail(reply, HTTP_BAD, why);
}

static void answer_history(struct server *server, const struct request *request,
                           struct reply *reply)
{
    const struct machine *machine = api_machine(server, request);
    const char *why = NULL;
    if (!machine || machine->name) {
        fail(reply, HTTP_MISSING,
             "Recorded values exist for the server's own machine only, in the set \"base\".\n");
        return;
    }
    bool busy;
    reply->viewer = past_query_new(server->past, request, &why, &busy);
    reply->retry = busy ? "2" : NULL;
    if (reply->viewer)
        reply->type = "text/event-stream";
    else
        fail(reply, busy ? HTTP_BUSY : HTTP_BAD, why);
}

/* ---- captures ---- */

int api_upload(const struct request *request)
{
    bool upload = !strcmp(request->path, "/api/captures") && !strcmp(request->method, "POST");
    return upload ? captures_file() : -1;
}

/* Keeps the capture in the request's body, and answers with its id. */
static void answer_captures(struct server *server, const struct request *request,
                            struct reply *reply)
{
    struct json json = {.out = reply->out, .flat = true};
    const char *id = request->file < 0 ? NULL
                                       : captures_add(server->captures, request->file,
                                                      request_word(request, "name"));
    if (!id) {
        fail(reply, HTTP_BUSY,
             "There is no place for another capture: at most 16 are kept, each until it "
             "was not used for an hour.\n");
        return;
    }
    reply->type = "application/json";
    json_open(&json, NULL, '{');
    json_string(&json, "capture", id);
    json_close(&json, '}');
}

static void answer_capture(struct server *server, const struct request *request,
                           struct reply *reply)
{
    const char *id = request_word(request, "capture");
    const char *name = captures_name(server->captures, id);
    if (!name) {
        fail(reply, HTTP_MISSING, no_capture);
    } else if (!strcmp(request->method, "DELETE")) {
        captures_remove(server->captures, id);
        reply->status = HTTP_NONE;
    } else {
        struct json json = {.out = reply->out, .flat = true};
        reply->type = "application/json";
        json_open(&json, NULL, '{');
        json_string(&json, "name", name);
        json_close(&json, '}');
    }
}

/* Reads a capture, or for /api/live/blg what is kept of the machine. The first call starts a job
 * and lets the request wait; when the job has ended, the second call answers the request. */
static void answer_reading(struct server *server, const struct request *request,
                           struct reply *reply)
{
    const char *what = strrchr(request->path, '/') + 1;
    bool binary = !strcmp(what, "blg"), csv = !strcmp(what, "csv");
    if (request->job) {
        captures_answer(request->job,
                        binary ? "application/octet-stream"
                        : csv  ? "text/csv; charset=utf-8"
                               : "application/json",
                        reply);
        return;
    }
    enum http_status status = HTTP_MISSING;
    bool live = !strcmp(request->path, "/api/live/blg");
    int file = live ? live_kept(api_machine(server, request)->live) : -1;
    if (!live || file >= 0)
        reply->job = captures_start(server->captures, request, file, what, &status);
    if (file >= 0)
        close(file);
    if (reply->job)
        return;
    fail(reply, status,
         status != HTTP_MISSING ? "Too many captures are being read at once.\n"
         : live                 ? nothing_kept
                                : no_capture);
    reply->retry = status == HTTP_BUSY ? "1" : NULL;
}

/* Answers with a file of the page. These are no secret, so no session is needed. False: no file. */
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
        {"POST",   "/api/link",             answer_link     },
        {"POST",   "/api/session",          answer_session  },
        {"GET",    "/api/machine",          answer_machine  },
        {"GET",    "/api/objects",          answer_objects  },
        {"GET",    "/api/instances",        answer_instances},
        {"POST",   "/api/titles",           answer_titles   },
        {"POST",   "/api/live",             answer_live     },
        {"POST",   "/api/live/blg",         answer_reading  },
        {"POST",   "/api/history",          answer_history  },
        {"POST",   "/api/captures",         answer_captures },
        {"GET",    "/api/capture",          answer_capture  },
        {"DELETE", "/api/capture",          answer_capture  },
        {"POST",   "/api/capture/counters", answer_reading  },
        {"POST",   "/api/capture/values",   answer_reading  },
        {"POST",   "/api/capture/csv",      answer_reading  },
        {"POST",   "/api/capture/blg",      answer_reading  },
    };
    bool known = false;
    const char *method = strcmp(request->method, "HEAD") != 0 ? request->method : "GET";
    access_user(server->access, request, &reply->user);
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        if (strcmp(routes[i].path, request->path) != 0)
            continue;
        known = true;
        if (!strcmp(routes[i].method, method)) {
            if (api_machine(server, request))
                routes[i].answer(server, request, reply);
            else
                fail(reply, HTTP_MISSING, "This server does not show that machine.\n");
            return;
        }
    }
    if (!strcmp(method, "GET") && answer_file(request, reply))
        return;
    if (known)
        fail(reply, HTTP_METHOD, "This address does not accept this method.\n");
    else
        fail(reply, HTTP_MISSING, "There is nothing at this address.\n");
}
