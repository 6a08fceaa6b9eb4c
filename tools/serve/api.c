/* SPDX-License-Identifier: MIT */
/* Answers requests by their paths; docs/serve.md describes them. */
#include "serve.h"

#include "../common/json.h"
#include "../common/options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the function that answers a request gets. */
struct call {
    struct server *server;
    const struct machine *machine; /* that of the request's word "machine" */
    const struct request *request;
    struct reply *reply;
    struct json json;
};

static void fail(struct reply *reply, enum http_status status, const char *why)
{
    reply->status = status;
    reply->type = "text/plain; charset=utf-8";
    fputs(why, reply->out);
}

/* Begins an answer in JSON, an object or an array, which the caller closes. */
static struct json *begin_json(struct call *call, char bracket)
{
    call->json = (struct json){.out = call->reply->out, .flat = true};
    json_open(&call->json, NULL, bracket);
    return &call->json;
}

/* Answers with a stream; viewer NULL: with `why`. */
static void begin_stream(struct call *call, struct viewer *viewer, enum http_status status,
                         const char *why)
{
    call->reply->viewer = viewer;
    if (!viewer)
        fail(call->reply, status, why);
}

static const char no_capture[] = "The server does not have this capture any more: open it again.\n";
static const char nothing_kept[] = "The server keeps no raw values yet: open the chart first.\n";

/* Answers with the secret of a new link, or of a session that a link is exchanged for. */
static void answer_secret(struct call *call)
{
    char secret[SECRET_SIZE + 1];
    struct access *access = call->server->access;
    bool link = !strcmp(call->request->path, "/api/link");
    if (link ? access_link(access, call->request->user, secret)
             : access_session(access, call->request, secret)) {
        struct json *json = begin_json(call, '{');
        json_string(json, "secret", secret);
        if (link)
            json_string(json, "address", call->server->address);
        json_close(json, '}');
    } else {
        fail(call->reply, HTTP_BUSY,
             link ? "Too many links wait to be opened; each is valid for five minutes.\n"
                  : "There are too many sessions, or this link was just used.\n");
        call->reply->retry = link ? "60" : NULL;
    }
    explicit_bzero(secret, sizeof secret);
}

static const char *name_of(const struct machine *machine)
{
    static char host[256];
    if (!machine->name && !*host)
        gethostname(host, sizeof host - 1);
    return machine->name ? machine->name : host;
}

/* Returns the machine that the request names; the first one if it names none; NULL: there is no
 * machine of this name. */
static const struct machine *find_machine(const struct server *server,
                                          const struct request *request)
{
    const char *name = request_word(request, "machine");
    for (size_t i = 0; i < server->machine_count; i++)
        if (!name || !strcmp(name, name_of(&server->machines[i])))
            return &server->machines[i];
    return NULL;
}

static void answer_machine(struct call *call)
{
    const struct server *server = call->server;
    char command[256];
    past_prepare(server->past);
    struct json *json = begin_json(call, '{');
    json_string(json, "name", name_of(server->machines));
    json_double(json, "seconds", live_seconds(server->machines->live));
    json_bool(json, "root", geteuid() == 0);
    json_open(json, "machines", '[');
    for (size_t i = 0; i < server->machine_count; i++)
        json_string(json, NULL, name_of(&server->machines[i]));
    json_close(json, ']');
    if (!server->machines->name && rights_missing(command, sizeof command))
        json_string(json, "missing", command);
    json_close(json, '}');
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
    json_open(json, NULL, '{');
    write_names(json, names, counter->name, counter->explain);
    write_unit(json, &counter->unit);
    json_bool(json, "text", counter->text);
    json_bool(json, "raw", counter->raw);
    json_close(json, '}');
}

/* Answers with all objects that have been read so far; `complete`: these are all. */
static void answer_objects(struct call *call)
{
    struct catalogue *catalogue = call->machine->catalogue;
    size_t ready, count = catalogue_count(catalogue, &ready);
    const char *language = request_word(call->request, "language");
    bool known = language && strlen(language) == 3 && strspn(language, "0123456789ABCDEF") == 3;
    struct view_names names = {0};
    names_load(&names, known ? language : "009");
    struct json *json = begin_json(call, '{');
    json_bool(json, "complete", count && ready == count);
    json_open(json, "objects", '[');
    for (size_t i = 0; i < ready; i++) {
        const struct catalogue_object *object = catalogue_object(catalogue, i);
        json_open(json, NULL, '{');
        write_names(json, &names, object->name, object->explain);
        json_string(json, "why", object->why);
        json_bool(json, "single", object->single);
        json_bool(json, "costly", object->costly);
        json_integer(json, "instances", (int64_t)object->instance_count);
        json_open(json, "counters", '[');
        for (size_t c = 0; c < object->counter_count; c++)
            write_counter(json, &names, &object->counters[c]);
        json_close(json, ']');
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
    names_done(&names);
}

static void answer_instances(struct call *call)
{
    const char *name = request_word(call->request, "object");
    struct catalogue *catalogue = call->machine->catalogue;
    size_t ready;
    catalogue_count(catalogue, &ready);
    for (size_t i = 0; name && i < ready; i++) {
        const struct catalogue_object *object = catalogue_object(catalogue, i);
        if (strcasecmp(object->name, name) != 0)
            continue;
        catalogue_watch(catalogue, i);
        struct json *json = begin_json(call, '{');
        json_string(json, "why", object->why);
        json_open(json, "instances", '[');
        for (size_t n = 0; n < object->instance_count; n++)
            json_string(json, NULL, object->instances[n]);
        json_close(json, ']');
        json_close(json, '}');
        return;
    }
    fail(call->reply, HTTP_MISSING, "There is no such object, or it has not been read yet.\n");
}

/* Answers with the English titles for the titles in the lines of the body, which may be in any
 * language. Each title gets an array, because several counters may have the same title in a
 * language. */
static void answer_titles(struct call *call)
{
    struct view_names names;
    char *lines = strdup(call->request->body), *rest = lines;
    names_load(&names, "009");
    struct json *json = begin_json(call, '[');
    for (char *line; (line = strsep(&rest, "\n"));) {
        uint32_t found[16];
        size_t count = names_find(&names, line, found, 16);
        count = count ? count : names_find_elsewhere(line, found, 16);
        json_open(json, NULL, '[');
        for (size_t i = 0; i < count && i < 16; i++)
            json_string(json, NULL, names_english(&names, found[i]));
        json_close(json, ']');
    }
    json_close(json, ']');
    names_done(&names);
    free(lines);
}

/* Returns why a list of counter paths is refused; NULL: it is not. PDH connects to the machine that
 * a path names, with the rights and passwords of the server's user. */
static const char *list_refused(const struct request *request)
{
    const char *list = request->body;
    if (strlen(list) != request->size)
        return "The list of counters contains a zero byte.\n";
    for (list += strspn(list, "+=@ \t\r\n"); *list; list += strspn(list, "+=@ \t\r\n")) {
        if (!strncmp(list, "\\\\", 2))
            return "A path names a machine: machine=NAME in the address chooses one of those that "
                   "the server was started with.\n";
        list += strcspn(list, "\n");
    }
    return NULL;
}

static void answer_live(struct call *call)
{
    const char *why = list_refused(call->request);
    struct viewer *viewer =
        why ? NULL : live_viewer(call->machine->live, call->request->body, &why);
    begin_stream(call, viewer, HTTP_BAD, why);
}

static void answer_history(struct call *call)
{
    const char *why = list_refused(call->request);
    bool busy = false;
    if (call->machine->name) {
        fail(call->reply, HTTP_MISSING,
             "Recorded values exist for the server's own machine only, in the set \"base\".\n");
        return;
    }
    struct viewer *viewer =
        why ? NULL : past_viewer(call->server->past, call->request, &why, &busy);
    call->reply->retry = busy ? "2" : NULL;
    begin_stream(call, viewer, busy ? HTTP_BUSY : HTTP_BAD, why);
}

/* ---- captures ---- */

int api_upload(const struct request *request)
{
    bool upload = !strcmp(request->path, "/api/captures") && !strcmp(request->method, "POST");
    return upload ? captures_file() : -1;
}

/* Keeps the capture in the request's body, and answers with its id. */
static void answer_captures(struct call *call)
{
    const char *id = call->request->file < 0
                         ? NULL
                         : captures_add(call->server->captures, call->request->file,
                                        request_word(call->request, "name"));
    if (!id) {
        fail(call->reply, HTTP_BUSY,
             "There is no place for another capture: at most 16 are kept, each until it "
             "was not used for an hour.\n");
        return;
    }
    struct json *json = begin_json(call, '{');
    json_string(json, "capture", id);
    json_close(json, '}');
}

static void answer_capture(struct call *call)
{
    bool remove = !strcmp(call->request->method, "DELETE");
    const char *id = request_word(call->request, "capture");
    const char *name = captures_name(call->server->captures, id);
    if (!name) {
        fail(call->reply, HTTP_MISSING, no_capture);
    } else if (remove) {
        captures_remove(call->server->captures, id);
        call->reply->status = HTTP_NONE;
    } else {
        struct json *json = begin_json(call, '{');
        json_string(json, "name", name);
        json_close(json, '}');
    }
}

/* Reads a capture, or for /api/live/blg what is kept of the machine. The first call starts a job
 * and lets the request wait; when the job has ended, the second call answers the request. */
static void answer_reading(struct call *call)
{
    const struct request *request = call->request;
    const char *what = strrchr(request->path, '/') + 1;
    if (request->job) {
        captures_answer(request->job, call->reply);
        return;
    }
    enum http_status status = HTTP_MISSING;
    bool live = !strcmp(request->path, "/api/live/blg");
    int file = live ? live_kept(call->machine->live) : -1;
    if (!live || file >= 0)
        call->reply->job = captures_start(call->server->captures, request, file, what, &status);
    if (file >= 0)
        close(file);
    if (call->reply->job)
        return;
    fail(call->reply, status,
         status != HTTP_MISSING ? "Too many captures are being read at once.\n"
         : live                 ? nothing_kept
                                : no_capture);
    call->reply->retry = status == HTTP_BUSY ? "1" : NULL;
}

/* Answers with a file of the page. These are no secret, so no session is needed. False: no file. */
static bool answer_file(const struct request *request, struct reply *reply)
{
    const char *name = strcmp(request->path, "/") != 0 ? request->path + 1 : "page.html";
    const struct page_file *file = page_files;
    while (file->name && strcmp(file->name, name) != 0)
        file++;
    reply->type = file->type;
    reply->fixed = file->bytes;
    reply->fixed_size = file->size;
    return file->name;
}

void api_answer(void *context, const struct request *request, struct reply *reply)
{
    static const struct route {
        const char *method, *path;
        void (*answer)(struct call *call);
        const char *type; /* of the answer, unless it is a refusal */
    } routes[] = {
        {"POST",   "/api/link",             answer_secret,    "application/json"        },
        {"POST",   "/api/session",          answer_secret,    "application/json"        },
        {"GET",    "/api/machine",          answer_machine,   "application/json"        },
        {"GET",    "/api/objects",          answer_objects,   "application/json"        },
        {"GET",    "/api/instances",        answer_instances, "application/json"        },
        {"POST",   "/api/titles",           answer_titles,    "application/json"        },
        {"POST",   "/api/live",             answer_live,      "text/event-stream"       },
        {"POST",   "/api/live/blg",         answer_reading,   "application/octet-stream"},
        {"POST",   "/api/history",          answer_history,   "text/event-stream"       },
        {"POST",   "/api/captures",         answer_captures,  "application/json"        },
        {"GET",    "/api/capture",          answer_capture,   "application/json"        },
        {"DELETE", "/api/capture",          answer_capture,   NULL                      },
        {"POST",   "/api/capture/counters", answer_reading,   "application/json"        },
        {"POST",   "/api/capture/values",   answer_reading,   "application/json"        },
        {"POST",   "/api/capture/csv",      answer_reading,   "text/csv; charset=utf-8" },
        {"POST",   "/api/capture/blg",      answer_reading,   "application/octet-stream"},
    };
    bool known = false;
    struct server *server = context;
    const char *method = strcmp(request->method, "HEAD") != 0 ? request->method : "GET";
    struct call call = {server, find_machine(server, request), request, reply, {0}};
    access_user(server->access, request, &reply->user);
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        if (strcmp(routes[i].path, request->path) != 0)
            continue;
        known = true;
        if (strcmp(routes[i].method, method) != 0)
            continue;
        reply->type = routes[i].type;
        if (call.machine)
            routes[i].answer(&call);
        else
            fail(reply, HTTP_MISSING, "This server does not show that machine.\n");
        return;
    }
    if (!strcmp(method, "GET") && answer_file(request, reply))
        return;
    if (known)
        fail(reply, HTTP_METHOD, "This address does not accept this method.\n");
    else
        fail(reply, HTTP_MISSING, "There is nothing at this address.\n");
}
