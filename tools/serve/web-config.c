/* SPDX-License-Identifier: MIT */
/*
 * --web.config.file, in the format that Prometheus' exporters share: the certificate of this
 * server, the authority that signs those of clients, and users with bcrypt hashes of passwords.
 * Settings that are not known or not supported are refused, because without them less would be
 * protected than the file says.
 */
#include "web-config.h"

#include "../common/clock.h"
#include "../common/options.h"

#include <crypt.h>
#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <yaml.h>

enum {
    USERS_MOST = 64,
    BCRYPT_SIZE = 60,
    COST_LEAST = 4,
    COST_MOST = 14, /* a second of processor time for each attempt */
    SUM_SIZE = 32,
    GUESSERS_MOST = 8
};
/* After a wrong password none from the same address is tried for PAUSE_TIMES as long as its hash
 * took, so that all those who guess get a fifth of the only thread, and for PAUSE_LEAST seconds, so
 * that they guess little. */
static const double PAUSE_LEAST = 0.25, PAUSE_TIMES = 4 * GUESSERS_MOST;
enum setting { CERT, KEY, CLIENT_CA, CLIENT_AUTH, MIN_VERSION, SETTINGS };
static const char *const names[SETTINGS] = {"cert_file", "key_file", "client_ca_file",
                                            "client_auth_type", "min_version"};
static const char tls_section[] = "tls_server_config", user_section[] = "basic_auth_users";

struct user {
    char *name, *hash;
    bool known; /* `sum` is that of a header with the right password, which need not be hashed */
    unsigned char sum[SUM_SIZE];
};
struct web_config {
    const char *path;
    char *settings[SETTINGS];
    struct user users[USERS_MOST];
    size_t user_count;
    struct http_tls tls;
    char *cert, *key, *trust;
    /* addresses from which no password is tried before this time */
    struct guesser {
        uint64_t address;
        double not_before;
    } guessers[GUESSERS_MOST];
};

/* ---- the file ---- */

__attribute__((format(printf, 3, 4))) static bool wrong(const struct web_config *config,
                                                        size_t line, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "openperflib-serve: --web.config.file: %s: ", text_seen(config->path));
    if (line)
        fprintf(stderr, "line %zu: ", line);
    fprintf(stderr, "%s\n", text_seen(text));
    return false;
}

static bool is_bcrypt(const char *hash)
{
    int cost = 0;
    return strlen(hash) == BCRYPT_SIZE && hash[0] == '$' && hash[1] == '2' &&
           strchr("aby", hash[2]) && sscanf(hash + 3, "$%2d$", &cost) == 1 && cost >= COST_LEAST &&
           cost <= COST_MOST;
}

/* Sets a setting or a user. False, after a message: it is wrong. */
static bool set(struct web_config *config, const char *section, const char *key, const char *value,
                size_t line)
{
    char **place = NULL;
    if (section == user_section) {
        for (size_t i = 0; i < config->user_count; i++)
            if (!strcmp(config->users[i].name, key))
                return wrong(config, line, "the user %s is given twice", key);
        if (config->user_count == USERS_MOST || !*key || strchr(key, ':'))
            return wrong(config, line, "at most %d users, without a colon in the name", USERS_MOST);
        if (!is_bcrypt(value))
            return wrong(
                config, line,
                "expected a bcrypt hash of cost %d to %d, such as htpasswd -nBC 10 \"\" prints",
                COST_LEAST, COST_MOST);
        struct user *user = &config->users[config->user_count++];
        user->name = strdup(key);
        user->hash = strdup(value);
        return user->name && user->hash;
    }
    for (size_t i = 0; i < SETTINGS; i++)
        if (!strcmp(names[i], key))
            place = &config->settings[i];
    if (!place)
        return wrong(config, line,
                     "%s is not supported; cert_file, key_file, client_auth_type, client_ca_file "
                     "and min_version are",
                     key);
    if (*place)
        return wrong(config, line, "%s is given twice", key);
    *place = strdup(value);
    return *place;
}

struct place {
    int depth;
    bool has_key;
    const char *section; /* one of the two names above */
    char key[256];
};

/* Takes a text: the name of a section or setting, or a value. */
static bool take_text(struct web_config *config, struct place *place, const char *text, size_t line)
{
    if (place->depth == 0 || (place->depth == 1 && place->has_key))
        return wrong(config, line,
                     place->depth == 0 ? "expected a section"
                                       : "expected the settings of the section, indented below it");
    if (place->has_key) {
        place->has_key = false;
        return set(config, place->section, place->key, text, line);
    }
    if (place->depth == 1 && strcmp(text, tls_section) != 0 && strcmp(text, user_section) != 0)
        return wrong(config, line, "%s is not supported; %s and %s are", text, tls_section,
                     user_section);
    if (strlen(text) >= sizeof place->key)
        return wrong(config, line, "the name is too long");
    if (place->depth == 1)
        place->section = !strcmp(text, tls_section) ? tls_section : user_section;
    snprintf(place->key, sizeof place->key, "%s", text);
    place->has_key = true;
    return true;
}

static bool take_event(struct web_config *config, struct place *place, const yaml_event_t *event)
{
    size_t line = event->start_mark.line + 1;
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        if (strlen((const char *)event->data.scalar.value) != event->data.scalar.length)
            return wrong(config, line, "a zero byte");
        return take_text(config, place, (const char *)event->data.scalar.value, line);
    case YAML_MAPPING_START_EVENT:
        if (place->depth == 2 || place->has_key != (place->depth == 1))
            return wrong(config, line, "expected a text, not further settings");
        place->depth++;
        place->has_key = false;
        return true;
    case YAML_MAPPING_END_EVENT:
        place->depth--;
        place->has_key = false;
        return true;
    case YAML_SEQUENCE_START_EVENT:
    case YAML_ALIAS_EVENT:
        return wrong(config, line, "expected a text, not a list or an alias");
    default:
        return true;
    }
}

static bool read_yaml(struct web_config *config, FILE *file)
{
    yaml_parser_t parser;
    yaml_event_t event;
    struct place place = {0};
    bool good = yaml_parser_initialize(&parser), end = false;
    if (!good)
        return wrong(config, 0, "%s", strerror(ENOMEM));
    yaml_parser_set_input_file(&parser, file);
    while (good && !end) {
        if (!yaml_parser_parse(&parser, &event)) {
            good = wrong(config, parser.problem_mark.line + 1, "%s",
                         parser.problem ? parser.problem : "no YAML");
            break;
        }
        end = event.type == YAML_STREAM_END_EVENT;
        good = take_event(config, &place, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return good;
}

/* Reads a file that is named in the configuration, from its folder; NULL, after a message. */
static char *read_pem(const struct web_config *config, enum setting setting)
{
    const char *name = config->settings[setting], *slash = strrchr(config->path, '/');
    char *path = NULL, *text = NULL;
    size_t size = 0;
    int folder = *name == '/' || !slash ? 0 : (int)(slash + 1 - config->path);
    if (asprintf(&path, "%.*s%s", folder, config->path, name) < 0)
        return NULL;
    errno = 0;
    FILE *file = fopen(path, "re");
    if (!file || getdelim(&text, &size, '\0', file) <= 0) {
        wrong(config, 0, "%s: %s: %s", names[setting], path, errno ? strerror(errno) : "empty");
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    free(path);
    return text;
}

static bool is_one_of(const char *text, const char *const *all)
{
    while (*all && strcmp(text, *all) != 0)
        all++;
    return *all;
}

/* Returns why the settings cannot be used, or NULL. */
static const char *settings_wrong(const struct web_config *config)
{
    static const char *const auths[] = {"NoClientCert", "VerifyClientCertIfGiven",
                                        "RequireAndVerifyClientCert", NULL};
    static const char *const versions[] = {"TLS12", "TLS13", NULL};
    const char *const *settings = (const char *const *)config->settings;
    const char *auth = settings[CLIENT_AUTH];
    bool verifies = auth && strcmp(auth, auths[0]) != 0;
    if (!settings[CERT] != !settings[KEY])
        return "cert_file and key_file need each other";
    if (!settings[CERT] && (settings[CLIENT_CA] || auth || settings[MIN_VERSION]))
        return "client_ca_file, client_auth_type and min_version need cert_file and key_file";
    if (auth && !is_one_of(auth, auths))
        return "only the client_auth_type NoClientCert, VerifyClientCertIfGiven and "
               "RequireAndVerifyClientCert are supported";
    if (verifies != (settings[CLIENT_CA] != NULL))
        return "client_ca_file and a client_auth_type that verifies need each other";
    if (settings[MIN_VERSION] && !is_one_of(settings[MIN_VERSION], versions))
        return "only the min_version TLS12 and TLS13 are supported";
    return NULL;
}

/* Sets what libmicrohttpd needs. False, after a message: the settings are wrong. */
static bool set_tls(struct web_config *config)
{
    const char *why = settings_wrong(config), *least = config->settings[MIN_VERSION];
    if (why || !config->settings[CERT])
        return !why || wrong(config, 0, "%s", why);
    config->cert = read_pem(config, CERT);
    config->key = read_pem(config, KEY);
    config->trust = config->settings[CLIENT_CA] ? read_pem(config, CLIENT_CA) : NULL;
    if (!config->cert || !config->key || (config->settings[CLIENT_CA] && !config->trust))
        return false;
    config->tls = (struct http_tls){
        .cert = config->cert,
        .key = config->key,
        .trust = config->trust,
        .priorities = least && !strcmp(least, "TLS13")
                          ? "NORMAL:-VERS-ALL:+VERS-TLS1.3"
                          : "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2",
    };
    return MHD_is_feature_supported(MHD_FEATURE_TLS) ||
           wrong(config, 0, "libmicrohttpd was built without TLS");
}

struct web_config *web_config_read(const char *path)
{
    struct web_config *config = calloc(1, sizeof *config);
    FILE *file = fopen(path, "re");
    if (!config) {
        if (file)
            fclose(file);
        return NULL;
    }
    config->path = path;
    bool good = file ? read_yaml(config, file) : wrong(config, 0, "%s", strerror(errno));
    if (file)
        fclose(file);
    if (good && set_tls(config))
        return config;
    web_config_free(config);
    return NULL;
}

void web_config_free(struct web_config *config)
{
    if (!config)
        return;
    for (size_t i = 0; i < SETTINGS; i++)
        free(config->settings[i]);
    for (size_t i = 0; i < config->user_count; i++) {
        free(config->users[i].name);
        free(config->users[i].hash);
    }
    if (config->key)
        explicit_bzero(config->key, strlen(config->key));
    free(config->cert);
    free(config->key);
    free(config->trust);
    free(config);
}

const struct http_tls *web_config_tls(const struct web_config *config)
{
    return config && config->tls.cert ? &config->tls : NULL;
}

/* ---- a request ---- */

/* True if the client's certificate is as the file demands. */
static bool client_verified(const struct web_config *config, const struct request *request)
{
    gnutls_typed_vdata_st purpose = {.type = GNUTLS_DT_KEY_PURPOSE_OID,
                                     .data = (unsigned char *)GNUTLS_KP_TLS_WWW_CLIENT};
    unsigned count = 0, status = 0;
    if (!config->trust)
        return true;
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(
        (struct MHD_Connection *)request->connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    if (!info)
        return false;
    gnutls_session_t session = info->tls_session;
    if (!gnutls_certificate_get_peers(session, &count) || !count)
        return strcmp(config->settings[CLIENT_AUTH], "RequireAndVerifyClientCert") != 0;
    return gnutls_certificate_verify_peers(session, &purpose, 1, &status) == 0 && !status;
}

/* Compares the password by its hash; for an unknown user with that of another one, always the same
 * for one name, so that how long it takes does not show whether a user exists. */
static bool password_right(const struct web_config *config, const struct user *user,
                           const char *name, const char *password)
{
    static struct crypt_data data;
    unsigned char sum[SUM_SIZE];
    gnutls_hmac_fast(GNUTLS_MAC_SHA256, config->users[0].hash, BCRYPT_SIZE, name, strlen(name),
                     sum);
    const char *hash = user ? user->hash : config->users[sum[0] % config->user_count].hash;
    /* not crypt_r, which AddressSanitizer replaces by one that needs libcrypt linked first */
    const char *made = crypt_rn(password, hash, &data, (int)sizeof data);
    bool right = made && strlen(made) == BCRYPT_SIZE && !gnutls_memcmp(made, hash, BCRYPT_SIZE);
    explicit_bzero(&data, sizeof data);
    return right && user;
}

/* Returns the client's address, that of its network with IPv6; 0: a Unix socket. */
static uint64_t address_of(const struct request *request)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(
        (struct MHD_Connection *)request->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *peer = info ? info->client_addr : NULL;
    const struct in6_addr *wide = &((const struct sockaddr_in6 *)peer)->sin6_addr;
    uint64_t address = 0;
    if (peer && peer->sa_family == AF_INET)
        address = ((const struct sockaddr_in *)peer)->sin_addr.s_addr;
    else if (peer && peer->sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(wide))
        memcpy(&address, &wide->s6_addr[12], 4);
    else if (peer && peer->sa_family == AF_INET6)
        memcpy(&address, wide, sizeof address);
    return address;
}

/* Returns the record of an address, or one that another address no longer needs. NULL: passwords
 * from there must not be tried now. */
static struct guesser *may_guess(struct web_config *config, uint64_t address, double now)
{
    struct guesser *free_one = NULL;
    for (struct guesser *at = config->guessers; at < config->guessers + GUESSERS_MOST; at++) {
        bool waits = now < at->not_before;
        if (waits && at->address == address)
            return NULL;
        free_one = waits ? free_one : at;
    }
    return free_one;
}

/* A right password is hashed once. Since hashing is slow, few wrong ones are tried. */
static enum http_status check_password(struct web_config *config, const struct request *request,
                                       const char *header, char *login, const char **ret_why)
{
    struct user *user = NULL;
    unsigned char sum[SUM_SIZE];
    char *password = strchr(login, ':');
    double begun = clock_seconds(CLOCK_MONOTONIC);
    uint64_t address = address_of(request);
    struct guesser *guesser = may_guess(config, address, begun);
    if (password)
        *password++ = '\0';
    for (size_t i = 0; password && i < config->user_count; i++)
        if (!strcmp(config->users[i].name, login))
            user = &config->users[i];
    gnutls_hash_fast(GNUTLS_DIG_SHA256, header, strlen(header), sum);
    if (user && user->known && !gnutls_memcmp(user->sum, sum, SUM_SIZE))
        return HTTP_GOOD;
    *ret_why = "Too many passwords were wrong: try again in some seconds.\n";
    if (!guesser)
        return HTTP_BUSY;
    *ret_why = "The user or the password is wrong.\n";
    if (!password)
        return HTTP_NO_SECRET;
    if (!password_right(config, user, login, password)) {
        double end = clock_seconds(CLOCK_MONOTONIC), pause = PAUSE_TIMES * (end - begun);
        *guesser = (struct guesser){address, end + (pause > PAUSE_LEAST ? pause : PAUSE_LEAST)};
        return HTTP_NO_SECRET;
    }
    memcpy(user->sum, sum, SUM_SIZE);
    user->known = true;
    return HTTP_GOOD;
}

enum http_status web_config_check(struct web_config *config, const struct request *request,
                                  const char **ret_why)
{
    const char *header = request_header(request, "Authorization");
    gnutls_datum_t coded, login = {0};
    *ret_why = "This server needs a certificate of the client.\n";
    if (!client_verified(config, request))
        return HTTP_FORBIDDEN;
    if (!config->user_count)
        return HTTP_GOOD;
    *ret_why = "This server needs a user and a password.\n";
    if (!header || strncasecmp(header, "Basic ", 6) != 0)
        return HTTP_NO_SECRET;
    coded = (gnutls_datum_t){(unsigned char *)header + 6, (unsigned)strlen(header + 6)};
    if (gnutls_base64_decode2(&coded, &login) != 0)
        return HTTP_NO_SECRET;
    char *text = strndup((char *)login.data, login.size);
    explicit_bzero(login.data, login.size);
    gnutls_free(login.data);
    enum http_status status =
        text ? check_password(config, request, header, text, ret_why) : HTTP_NO_SECRET;
    if (text)
        explicit_bzero(text, strlen(text));
    free(text);
    return status;
}
