/* SPDX-License-Identifier: MIT */
/* The titles of a machine, and what is known of the counters with these titles. Machines with the
 * same titles share both, so that a thousand equal machines need them once. */
#include "metrics.h"

#include <stdlib.h>
#include <string.h>
#include <winerror.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct titles *all; /* those that are shared */

static void titles_free(struct titles *titles)
{
    walk_free(titles->walk);
    names_done(&titles->names);
    pthread_mutex_destroy(&titles->lock);
    free(titles);
}

static bool same_table(const struct view_titles *left, const struct view_titles *right)
{
    if (left->count != right->count)
        return false;
    for (size_t i = 0; i < left->count; i++)
        if (left->rows[i].index != right->rows[i].index ||
            strcmp(left->rows[i].text, right->rows[i].text) != 0)
            return false;
    return true;
}

/* Returns the shared titles that are equal to these, with one user more; NULL: there are none, and
 * these are shared from now on. */
static struct titles *share(struct titles *titles)
{
    pthread_mutex_lock(&lock);
    struct titles *equal = all;
    while (equal && (!same_table(&equal->names.english, &titles->names.english) ||
                     !same_table(&equal->names.helps, &titles->names.helps)))
        equal = equal->next;
    if (equal) {
        equal->users++;
    } else {
        titles->shared = true;
        titles->next = all;
        all = titles;
    }
    pthread_mutex_unlock(&lock);
    return equal;
}

LSTATUS titles_take(bool shared, struct titles **ret)
{
    struct titles *titles = calloc(1, sizeof *titles);
    if (titles && !(titles->walk = walk_new(&titles->names))) {
        free(titles);
        titles = NULL;
    }
    if (!titles)
        return ERROR_NOT_ENOUGH_MEMORY;
    pthread_mutex_init(&titles->lock, NULL);
    titles->users = 1;
    LSTATUS status = names_load(&titles->names, "009");
    if (status && shared) {
        titles_free(titles);
        return status;
    }
    *ret = titles;
    if (!shared)
        return ERROR_SUCCESS;
    names_help(&titles->names, 0); /* reads the explanations before others may wait for the lock */
    struct titles *equal = share(titles);
    if (equal) {
        titles_free(titles);
        *ret = equal;
    }
    return ERROR_SUCCESS;
}

void titles_drop(struct titles *titles)
{
    if (!titles)
        return;
    pthread_mutex_lock(&lock);
    bool last = --titles->users == 0;
    struct titles **at = &all;
    while (last && titles->shared && *at != titles)
        at = &(*at)->next;
    if (last && titles->shared)
        *at = titles->next;
    pthread_mutex_unlock(&lock);
    if (last)
        titles_free(titles);
}
