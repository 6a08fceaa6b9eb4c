/* SPDX-License-Identifier: MIT */
/*
 * Which requests are allowed. A link carries a secret that works once, for a few minutes. The page
 * exchanges it for the secret of a session and sends that with every request. The headers Host,
 * Origin and Sec-Fetch-Site are checked to refuse pages of other sites in the same browser, even if
 * a site's name leads to this machine's address (DNS rebinding).
 */
#include "serve.h"
#include "../common/clock.h"

#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LINK_SECONDS = 300, SESSION_SECONDS = 12 * 3600, USER_LINKS_MOST = 8 };

struct secret {
    char text[SECRET_SIZE + 1]; /* "": the place is free */
    time_t until;
    uid_t user; /* the user who requested the link */
};

struct access {
    const char *const *hosts;
    gid_t group;
    char path[PATH_MAX]; /* where sessions are kept; "": nowhere */
    struct secret links[LINKS_MOST], sessions[SESSIONS_MOST];
};

static time_t seconds_now(void)
{
    return (time_t)clock_seconds(CLOCK_BOOTTIME);
}

/* ---- sessions outlive this process, in a file of its user alone ---- */

/* Opens the file of sessions if it is this user's alone and was written since the boot, because its
 * times count from the boot. */
static FILE *open_sessions(const char *path)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    bool own = fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid() &&
               !(about.st_mode & 077) && about.st_mtime >= time(NULL) - seconds_now();
    FILE *file = own ? fdopen(fd, "r") : NULL;
    if (!file)
        close(fd);
    return file;
}

static void load_sessions(struct access *access)
{
    struct secret next;
    long long until;
    FILE *file = open_sessions(access->path);
    for (size_t count = 0; file && count < SESSIONS_MOST;) {
        if (fscanf(file, "%lld %u %43[A-Za-z0-9_-] ", &until, &next.user, next.text) != 3)
            break;
        next.until = until;
        if (strlen(next.text) == SECRET_SIZE && until <= seconds_now() + SESSION_SECONDS)
            access->sessions[count++] = next;
    }
    if (file)
        fclose(file);
}

/* Saves the sessions. A failure is not reported: it only means that pages need a new link after a
 * restart. */
static void save_sessions(const struct access *access)
{
    char path[PATH_MAX + 4];
    if (!*access->path)
        return;
    snprintf(path, sizeof path, "%s.new", access->path);
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!file)
        return;
    for (size_t i = 0; i < SESSIONS_MOST; i++)
        if (*access->sessions[i].text && access->sessions[i].until > seconds_now())
            fprintf(file, "%lld %u %s\n", (long long)access->sessions[i].until,
                    access->sessions[i].user, access->sessions[i].text);
    if (fclose(file) != 0 || rename(path, access->path) != 0)
        unlink(path);
}

struct access *access_new(const char *const *hosts, gid_t group, const char *path)
{
    struct access *access = calloc(1, sizeof *access);
    if (!access)
        return NULL;
    access->hosts = hosts;
    access->group = group;
    if (strlen(path) < sizeof access->path)
        strcpy(access->path, path);
    load_sessions(access);
    return access;
}

void access_free(struct access *access)
{
    if (access)
        explicit_bzero(access, sizeof *access);
    free(access);
}

/* ---- secrets ---- */

/* Compares all bytes, so that the duration does not show how many of them are right. */
static bool is_equal(const char *secret, const char *given)
{
    unsigned different = 0;
    for (size_t i = 0; i < SECRET_SIZE; i++)
        different |= (unsigned char)secret[i] ^ (unsigned char)given[i];
    return !different;
}

/* Returns the valid secret that equals `given`; NULL: there is none. Always compares all secrets,
 * so that the duration does not show where it is. */
static struct secret *find(struct secret *list, size_t count, const char *given)
{
    struct secret *found = NULL;
    time_t now = seconds_now();
    if (!given || strlen(given) != SECRET_SIZE)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (is_equal(list[i].text, given) && list[i].until > now)
            found = &list[i];
    return found;
}

/* Makes a secret of 256 random bits, in a free place of the list, or in that of an expired secret.
 * NULL: the list is full, or there are no random bits. */
static struct secret *add(struct secret *list, size_t count, uid_t user, time_t seconds)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    unsigned char bytes[SECRET_SIZE];
    time_t now = seconds_now();
    for (size_t i = 0; i < count; i++) {
        if (*list[i].text && list[i].until > now)
            continue;
        if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
            return NULL;
        for (size_t b = 0; b < SECRET_SIZE; b++)
            list[i].text[b] = digits[bytes[b] % 64];
        list[i].text[SECRET_SIZE] = '\0';
        list[i].until = now + seconds;
        list[i].user = user;
        return &list[i];
    }
    return NULL;
}

static const char *bearer(const struct request *request)
{
    const char *header = request_header(request, "Authorization");
    return header && !strncasecmp(header, "Bearer ", 7) ? header + 7 : NULL;
}

/* Returns how many valid secrets of the list are the user's, and the one that ends first. */
static size_t count_secrets(struct secret *list, size_t count, uid_t user, struct secret **ret)
{
    size_t found = 0;
    time_t now = seconds_now();
    *ret = list;
    for (size_t i = 0; i < count; i++)
        if (*list[i].text && list[i].user == user && list[i].until > now)
            *ret = !found++ || list[i].until < (*ret)->until ? &list[i] : *ret;
    return found;
}

bool access_link(struct access *access, uid_t user, char secret[static SECRET_SIZE + 1])
{
    struct secret *first, *link = NULL;
    if (count_secrets(access->links, LINKS_MOST, user, &first) < USER_LINKS_MOST)
        link = add(access->links, LINKS_MOST, user, LINK_SECONDS);
    if (link)
        memcpy(secret, link->text, SECRET_SIZE + 1);
    return link != NULL;
}

bool access_session(struct access *access, const struct request *request,
                    char secret[static SECRET_SIZE + 1])
{
    struct secret *link = find(access->links, LINKS_MOST, bearer(request)), *first;
    if (!link)
        return false;
    /* a user with a quarter of all places loses the oldest session, not another user */
    if (count_secrets(access->sessions, SESSIONS_MOST, link->user, &first) >= SESSIONS_MOST / 4)
        explicit_bzero(first, sizeof *first);
    const struct secret *session =
        add(access->sessions, SESSIONS_MOST, link->user, SESSION_SECONDS);
    if (!session)
        return false;
    explicit_bzero(link, sizeof *link);
    memcpy(secret, session->text, SECRET_SIZE + 1);
    save_sessions(access);
    return true;
}

bool access_user(struct access *access, const struct request *request, uid_t *ret)
{
    const struct secret *session = find(access->sessions, SESSIONS_MOST, bearer(request));
    if (session)
        *ret = session->user;
    return session;
}

/* ---- requests ---- */

/* True if the user is in the group now: groups may have changed since the user's process began. */
static bool in_group(uid_t user, gid_t group)
{
    gid_t groups[256];
    int count = sizeof groups / sizeof *groups;
    const struct passwd *entry = getpwuid(user);
    if (!entry || group == (gid_t)-1 ||
        getgrouplist(entry->pw_name, entry->pw_gid, groups, &count) < 0)
        return false;
    for (int i = 0; i < count; i++)
        if (groups[i] == group)
            return true;
    return false;
}

bool access_may_link(const struct access *access, const struct request *request)
{
    return request->local && (request->user == 0 || request->user == geteuid() ||
                              in_group(request->user, access->group));
}

/* True if `host` is a name of this server. Any port may follow, as ssh -L may forward another
 * one. */
static bool is_host(const struct access *access, const char *host)
{
    static const char *const own[] = {"127.0.0.1", "localhost", "[::1]", NULL};
    const char *const *lists[] = {own, access->hosts};
    for (size_t list = 0; list < 2; list++)
        for (const char *const *name = lists[list]; name && *name; name++) {
            size_t length = strlen(*name);
            if (!strncasecmp(host, *name, length) &&
                (!host[length] || (host[length] == ':' && strspn(host + length + 1, "0123456789") ==
                                                              strlen(host + length + 1))))
                return true;
        }
    return false;
}

/* True if the request comes from our own page, or from a program that is no browser. */
static bool is_own_origin(const struct request *request, const char *host)
{
    const char *origin = request_header(request, "Origin");
    const char *site = request_header(request, "Sec-Fetch-Site");
    if (site && strcasecmp(site, "same-origin") != 0 && strcasecmp(site, "none") != 0)
        return false;
    if (!origin)
        return true;
    const char *name = strstr(origin, "://");
    return name && !strcasecmp(name + 3, host);
}

enum http_status access_check(struct access *access, const struct request *request,
                              const char **ret_why)
{
    const char *host = request_host(request);
    uid_t user;
    bool api = !strncmp(request->path, "/api/", 5);
    if (!host || !is_host(access, host)) {
        *ret_why = "This host name is not allowed. For a reverse proxy, start perfmon serve "
                   "with --host NAME.\n";
        return HTTP_MISDIRECTED;
    }
    if (api && !is_own_origin(request, host)) {
        *ret_why = "Requests from pages of other sites are refused.\n";
        return HTTP_FORBIDDEN;
    }
    bool link = !strcmp(request->path, "/api/link"),
         session = !strcmp(request->path, "/api/session");
    if (link && !access_may_link(access, request)) {
        *ret_why = "Links are given only on the Unix socket: to the server's user, to root and to "
                   "members of the group that --group names. Run \"perfmon open\".\n";
        return HTTP_FORBIDDEN;
    }
    if (session && !find(access->links, LINKS_MOST, bearer(request))) {
        *ret_why =
            "This link was used already or is too old: run \"perfmon open\" for a new one.\n";
        return HTTP_NO_SECRET;
    }
    if (api && !link && !session && !access_user(access, request, &user)) {
        *ret_why = "There is no valid session: run \"perfmon open\" for a new link.\n";
        return HTTP_NO_SECRET;
    }
    return HTTP_GOOD;
}
