/* SPDX-License-Identifier: MIT */
/*
 * The text that describes a capture's damage, and the list of what cannot be shown of it. For the
 * first PDH has only a status, for the second nothing; and a capture that cannot be opened has no
 * handle. So both are kept for each thread, like errno.
 */
#include "pdh/log/capture.h"
#include <openperflib/capture.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROBLEM_SIZE = 1024 };
static _Thread_local char current[PROBLEM_SIZE];

/* Allocated when first needed, because a library that is loaded at run time has little thread-local
 * storage. */
struct unshown {
    struct log_losses losses;
    char text[2 * PROBLEM_SIZE];
};
static pthread_key_t unshown_key;
static pthread_once_t unshown_once = PTHREAD_ONCE_INIT;
static bool unshown_good;

static void make_key(void)
{
    unshown_good = pthread_key_create(&unshown_key, free) == 0;
}

/* Returns this thread's list; NULL: nothing was recorded. */
static struct unshown *unshown_here(void)
{
    pthread_once(&unshown_once, make_key);
    return unshown_good ? pthread_getspecific(unshown_key) : NULL;
}

void problem_clear(void)
{
    struct unshown *unshown = unshown_here();
    current[0] = '\0';
    if (unshown)
        unshown->losses.any = false;
}

void problem_lose(const struct log_losses *losses)
{
    struct unshown *unshown = losses->any ? unshown_here() : NULL;
    if (losses->any && !unshown && unshown_good) {
        unshown = calloc(1, sizeof *unshown);
        if (pthread_setspecific(unshown_key, unshown)) {
            free(unshown);
            return;
        }
    }
    if (!unshown)
        return;
    if (!unshown->losses.any)
        unshown->losses = (struct log_losses){0};
    losses_join(&unshown->losses, losses);
}

void problem_losses(const struct log_losses *losses)
{
    struct unshown *unshown = unshown_here();
    if (unshown)
        unshown->losses.any = false;
    problem_lose(losses);
}

/* If a text is too long its end is kept: it begins with the path, and the problem comes after
 * that. */
void problem_note(const char *text)
{
    size_t size = text ? strlen(text) : 0;
    if (size >= sizeof current)
        snprintf(current, sizeof current, "...%s", text + size - (sizeof current - 4));
    else if (size)
        memcpy(current, text, size + 1);
}

const char *opl_capture_problem(void)
{
    return current[0] ? current : NULL;
}

const char *opl_capture_unshown(void)
{
    BUFFER_AUTO text = {0};
    struct unshown *unshown = unshown_here();
    if (unshown)
        losses_print(&unshown->losses, &text);
    if (!text.len)
        return NULL;
    snprintf(unshown->text, sizeof unshown->text, "%s", text.data);
    return unshown->text;
}
