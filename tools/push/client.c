/* SPDX-License-Identifier: MIT */
/* Delivers batches by libcurl, which brings TLS, proxies and time limits. It is not linked, because
 * it needs 3 MB and twenty libraries more that a server without --push does not use. */
#include "push.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <snappy-c.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    CONNECT_SECONDS = 10,
    ANSWER_SECONDS = 30,
    PAUSE_MOST = 3600, /* longer values of Retry-After are not honoured */
    AUTH_SIZE = 4096,
    ANSWER_KEPT = 200,
    ANSWER_MOST = 64 << 10,
    HTTP_MANY = 429
};

/* ---- the libraries ---- */

static struct {
    __typeof__(&curl_global_init) global_init;
    __typeof__(&curl_easy_init) easy_init;
    __typeof__(&curl_easy_setopt) easy_setopt;
    __typeof__(&curl_easy_perform) easy_perform;
    __typeof__(&curl_easy_getinfo) easy_getinfo;
    __typeof__(&curl_easy_strerror) easy_strerror;
    __typeof__(&curl_easy_cleanup) easy_cleanup;
    __typeof__(&curl_slist_append) slist_append;
    __typeof__(&curl_slist_free_all) slist_free_all;
} curl;
static struct {
    __typeof__(&snappy_max_compressed_length) max_compressed_length;
    __typeof__(&snappy_compress) compress;
    __typeof__(&snappy_validate_compressed_buffer) validate_compressed_buffer;
} snappy;

/* The functions of each library, and where their addresses are stored. */
struct found_function {
    const char *name;
    void *place;
};
#define FIND(library, name)                                                                        \
    {                                                                                              \
#library "_" #name, &library.name                                                          \
    }
static const struct found_function http_functions[] = {
    FIND(curl, global_init),    FIND(curl, easy_init),
    FIND(curl, easy_setopt),    FIND(curl, easy_perform),
    FIND(curl, easy_getinfo),   FIND(curl, easy_strerror),
    FIND(curl, easy_cleanup),   FIND(curl, slist_append),
    FIND(curl, slist_free_all), {NULL, NULL},
};
static const struct found_function compression_functions[] = {
    FIND(snappy, max_compressed_length),
    FIND(snappy, compress),
    FIND(snappy, validate_compressed_buffer),
    {NULL, NULL},
};

static bool find_functions(void *library, const struct found_function *functions)
{
    for (; library && functions->name; functions++) {
        void *function = dlsym(library, functions->name);
        if (!function)
            return false;
        memcpy(functions->place, &function, sizeof function);
    }
    return library;
}

static bool load_libraries(void)
{
    void *http = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!http) /* the name in other distributions */
        http = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    void *compression = dlopen("libsnappy.so.1", RTLD_NOW | RTLD_LOCAL);
    return find_functions(http, http_functions) &&
           find_functions(compression, compression_functions);
}

void *client_compress(const void *bytes, size_t size, size_t *ret_size)
{
    *ret_size = snappy.max_compressed_length(size);
    char *out = malloc(*ret_size);
    if (out && snappy.compress(bytes, size, out, ret_size) == SNAPPY_OK)
        return out;
    free(out);
    return NULL;
}

bool client_is_compressed(const void *bytes, size_t size)
{
    return size && snappy.validate_compressed_buffer(bytes, size) == SNAPPY_OK;
}

/* ---- who may read the password ---- */

/* Is it the address of a receiver on this machine? Other machines do not see what it gets. */
static bool is_local(const char *host)
{
    struct in_addr address;
    return !strcmp(host, "localhost") || !strcmp(host, "[::1]") ||
           (inet_pton(AF_INET, host, &address) == 1 && ntohl(address.s_addr) >> 24 == 127);
}

const char *client_check_url(const struct push_options *options, bool *ret_local)
{
    char host[256];
    const char *url = options->url;
    bool encrypted = !strncmp(url, "https://", 8);
    if (!encrypted && strncmp(url, "http://", 7) != 0)
        return "it must begin with https:// or http://";
    url += encrypted ? 8 : 7;
    size_t size = strcspn(url, "/?#\\");
    snprintf(host, sizeof host, "%.*s", (int)size, url);
    if (size == 0 || size >= sizeof host || strchr(host, '@'))
        return "after // it must have a host name; a user and password belong into a file: "
               "--push-auth";
    char *port = strrchr(host, ':');
    if (port && !strchr(port, ']'))
        *port = '\0';
    *ret_local = is_local(host);
    if (options->auth && !encrypted && !options->insecure && !*ret_local)
        return "it would get the password unencrypted; use https://, or add --insecure";
    return NULL;
}

/* Reads the first line of the file. Returns NULL or the reason. */
static const char *read_auth(const char *path, char text[static AUTH_SIZE])
{
    /* systemd gives a file to one user by an access control list, whose mask is the group's mode */
    const char *given = getenv("CREDENTIALS_DIRECTORY");
    mode_t others = given && !strncmp(path, given, strlen(given)) ? S_IRWXO : S_IRWXG | S_IRWXO;
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) != 0)
        return strerror(errno);
    ssize_t size = -1;
    bool good = S_ISREG(st.st_mode) && !(st.st_mode & others);
    if (good)
        size = read(fd, text, AUTH_SIZE - 1);
    close(fd);
    if (!good)
        return "it must be a file that only its owner can read: chmod 600";
    text[size > 0 ? size : 0] = '\0';
    text[strcspn(text, "\r\n")] = '\0';
    return strchr(text, ':') || !strncmp(text, "Bearer ", 7)
               ? NULL
               : "its first line must be USER:PASSWORD or \"Bearer TOKEN\"";
}

/* ---- requests ---- */

struct client {
    CURL *curl;
    struct curl_slist *headers;
    const atomic_bool *stop;
    char answer[ANSWER_KEPT + 1]; /* the beginning of the last one */
    size_t kept, received;
};

static size_t receive(char *bytes, size_t one, size_t count, void *context)
{
    struct client *client = context;
    size_t size = one * count, left = ANSWER_KEPT - client->kept;
    size_t more = size < left ? size : left;
    memcpy(client->answer + client->kept, bytes, more);
    client->kept += more;
    client->received += size;
    return client->received <= ANSWER_MOST ? size : 0;
}

static int progress(void *context, curl_off_t total_in, curl_off_t in, curl_off_t total_out,
                    curl_off_t out)
{
    (void)total_in, (void)in, (void)total_out, (void)out;
    return atomic_load(((struct client *)context)->stop);
}

static bool add_header(struct client *client, const char *text)
{
    struct curl_slist *longer = curl.slist_append(client->headers, text);
    if (longer)
        client->headers = longer;
    return longer;
}

/* Sets what all requests have in common. `auth`: as in the file; "": nothing. */
static bool prepare(struct client *client, const char *url, const char *auth, bool local)
{
    static const char *const headers[] = {
        "Content-Type: application/x-protobuf", "Content-Encoding: snappy",
        "X-Prometheus-Remote-Write-Version: 0.1.0", "User-Agent: openperflib", "Expect:"};
    char bearer[AUTH_SIZE + 32];
    bool good = true;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        good &= add_header(client, headers[i]);
    bool token = !strncmp(auth, "Bearer ", 7);
    snprintf(bearer, sizeof bearer, "Authorization: %s", auth);
    good &= !token || add_header(client, bearer);
    explicit_bzero(bearer, sizeof bearer);
#define SET(option, value) (good &= curl.easy_setopt(client->curl, option, value) == CURLE_OK)
    SET(CURLOPT_URL, url);
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    if (local) /* a proxy is another machine, which would see the password */
        SET(CURLOPT_NOPROXY, "*");
    SET(CURLOPT_HTTPHEADER, client->headers);
    if (*auth && !token)
        SET(CURLOPT_USERPWD, auth);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_POST, 1L);
    SET(CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    SET(CURLOPT_TIMEOUT, (long)ANSWER_SECONDS);
    SET(CURLOPT_WRITEFUNCTION, receive);
    SET(CURLOPT_WRITEDATA, client);
    SET(CURLOPT_NOPROGRESS, 0L);
    SET(CURLOPT_XFERINFOFUNCTION, progress);
    SET(CURLOPT_XFERINFODATA, client);
    return good;
}

struct client *client_new(const struct push_options *options, const atomic_bool *stop,
                          char why[static PUSH_WHY])
{
    char auth[AUTH_SIZE] = "";
    bool local = false;
    const char *reason = options->auth ? read_auth(options->auth, auth) : NULL;
    snprintf(why, PUSH_WHY, "--push%s: %s", reason ? "-auth" : "", reason ? reason : "no memory");
    client_check_url(options, &local);
    if (!reason && !load_libraries()) {
        reason = "--push needs libcurl-gnutls.so.4 and libsnappy.so.1: install the packages "
                 "libcurl3-gnutls and libsnappy1v5";
        snprintf(why, PUSH_WHY, "%s", reason);
    }
    struct client *client = reason ? NULL : calloc(1, sizeof *client);
    if (client) {
        curl.global_init(CURL_GLOBAL_DEFAULT);
        client->stop = stop;
        client->curl = curl.easy_init();
        if (!client->curl || !prepare(client, options->url, auth, local)) {
            client_free(client);
            client = NULL;
        }
    }
    explicit_bzero(auth, sizeof auth);
    return client;
}

void client_free(struct client *client)
{
    if (!client)
        return;
    if (client->curl)
        curl.easy_cleanup(client->curl);
    curl.slist_free_all(client->headers);
    free(client);
}

enum delivery client_send(struct client *client, const void *bytes, size_t size, long *ret_status,
                          double *ret_seconds, char why[static PUSH_WHY])
{
    char seen[PUSH_WHY - 64];
    curl_off_t pause = 0;
    long status = 0;
    client->kept = client->received = 0;
    curl.easy_setopt(client->curl, CURLOPT_POSTFIELDS, bytes);
    curl.easy_setopt(client->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
    CURLcode code = curl.easy_perform(client->curl);
    bool answered = !code || client->received > ANSWER_MOST; /* or it would not end */
    if (answered) {
        curl.easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &status);
        curl.easy_getinfo(client->curl, CURLINFO_RETRY_AFTER, &pause);
    }
    *ret_status = status;
    *ret_seconds = (double)(pause < PAUSE_MOST ? pause : PAUSE_MOST);
    client->answer[client->kept] = '\0';
    client->answer[strcspn(client->answer, "\r\n")] = '\0';
    text_clean(answered ? client->answer : curl.easy_strerror(code), seen, sizeof seen);
    if (answered)
        snprintf(why, PUSH_WHY, "status %ld%s%s", status, *seen ? ": " : "", seen);
    else
        snprintf(why, PUSH_WHY, "%s", seen);
    if (answered && status / 100 == 2)
        return DELIVERY_DONE;
    return !answered || status == HTTP_MANY || status >= 500 ? DELIVERY_AGAIN : DELIVERY_REFUSED;
}
