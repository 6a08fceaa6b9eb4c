/* SPDX-License-Identifier: MIT */
/* The connection to the server, and error messages. */
#include "manager.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

int manager_complain(const struct manager *manager)
{
    int reason = errno;
    fprintf(stderr, "behemoth-manager: ");
    switch (reason) {
    case ENOENT:
    case ECONNREFUSED:
        fprintf(stderr,
                "no server listens at %s.\n'behemoth-manager start' starts one; --socket or "
                "BEHEMOTH_SOCKET names another place.\n",
                manager->place);
        return EXIT_NO_SERVER;
    case EACCES:
        fprintf(stderr,
                "%s is not for this user, or who listens there is not believed: neither you, nor "
                "root, nor the user behemoth.\n",
                manager->place);
        return EXIT_NO_RIGHT;
    case ETIMEDOUT:
    case EAGAIN:
        fprintf(stderr, "the server at %s does not answer.\n", manager->place);
        return EXIT_NO_SERVER;
    case EPROTO:
    case ECONNRESET:
    case EPIPE:
        fprintf(stderr, "who listens at %s hung up, or speaks another language.\n", manager->place);
        return EXIT_NO_SERVER;
    default:
        fprintf(stderr, "%s: %s.\n", manager->place, strerror(reason));
        return EXIT_FAILED;
    }
}

static int refused(uint32_t status)
{
    fprintf(stderr, "behemoth-manager: %s.\n", behemoth_status_text(status));
    return status == BEHEMOTH_REFUSED   ? EXIT_NO_RIGHT
           : status == BEHEMOTH_UNKNOWN ? EXIT_MISSING
                                        : EXIT_FAILED;
}

int manager_ask_within(struct manager *manager, uint32_t what, const void *body, uint32_t bytes,
                       int64_t milliseconds)
{
    if (!behemoth_ask(&manager->line, manager->place, what, body, bytes,
                      behemoth_now() + milliseconds))
        return manager_complain(manager);
    uint32_t status = manager->line.head.what;
    return status == BEHEMOTH_OK ? EXIT_GOOD : refused(status);
}

int manager_ask(struct manager *manager, uint32_t what, const void *body, uint32_t bytes)
{
    return manager_ask_within(manager, what, body, bytes, ANSWER_MS);
}

int manager_herd(struct manager *manager, const struct behemoth_herd **ret)
{
    int code = manager_ask(manager, BEHEMOTH_HERD, NULL, 0);
    if (code)
        return code;
    *ret = behemoth_herd_of(&manager->line);
    if (*ret)
        return EXIT_GOOD;
    errno = EPROTO;
    return manager_complain(manager);
}

/* ---- one of them ---- */

static const struct behemoth *by_number(const struct behemoth_herd *herd, const char *word)
{
    int64_t id;
    const struct behemoth *all = behemoth_all(herd);
    if (!number_of(word, 1, INT64_MAX, &id))
        return NULL;
    for (uint32_t i = 0; i < herd->count; i++) {
        if (all[i].id == (uint64_t)id)
            return &all[i];
    }
    return NULL;
}

/* How many have this name, or a name that begins so; the first of them. */
static uint32_t by_name(const struct behemoth_herd *herd, const char *word, bool whole,
                        const struct behemoth **ret)
{
    uint32_t count = 0;
    size_t length = strlen(word);
    const struct behemoth *all = behemoth_all(herd);
    for (uint32_t i = 0; i < herd->count; i++) {
        if (whole ? strcasecmp(all[i].name, word) != 0 : strncasecmp(all[i].name, word, length))
            continue;
        if (count++ == 0)
            *ret = &all[i];
    }
    return count;
}

static void list_candidates(const struct behemoth_herd *herd, const char *word, bool whole)
{
    enum { MOST = 8 };
    uint32_t shown = 0, count = 0;
    const struct behemoth *all = behemoth_all(herd);
    size_t length = strlen(word);
    for (uint32_t i = 0; i < herd->count; i++) {
        if (whole ? strcasecmp(all[i].name, word) != 0 : strncasecmp(all[i].name, word, length))
            continue;
        if (count++ < MOST) {
            fprintf(stderr, "%s%s (%llu)", shown++ ? ", " : "", all[i].name,
                    (unsigned long long)all[i].id);
        }
    }
    if (count > MOST)
        fprintf(stderr, " and %u more", (unsigned)(count - MOST));
    fputs(".\n", stderr);
}

const struct behemoth *manager_find(const struct behemoth_herd *herd, const char *word)
{
    const struct behemoth *found = by_number(herd, word);
    uint32_t same = found ? 1 : by_name(herd, word, true, &found);
    if (same == 1)
        return found;
    if (same > 1) {
        fprintf(stderr, "behemoth-manager: %u have the name '%s'; say the number: ", (unsigned)same,
                word);
        list_candidates(herd, word, true);
        return NULL;
    }
    fprintf(stderr, "behemoth-manager: no living behemoth has the name or number '%s'", word);
    if (*word && by_name(herd, word, false, &found) > 0) {
        fprintf(stderr, "; those whose names begin so: ");
        list_candidates(herd, word, false);
    } else {
        fputs("; 'behemoth-manager list' shows all.\n", stderr);
    }
    return NULL;
}
