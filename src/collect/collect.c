/* SPDX-License-Identifier: MIT */
/*
 * One query, on one page: parse, ask the providers behind a header, finish the header.
 * (C2-C4, C12, reference C.2-C.8)
 */
#include "collect/collect.h"
#include "collect/header.h"
#include "host/host.h"
#include "query/query.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A query is too big for a thread's stack; spent ones are kept, so that a steady query allocates
 * nothing. */
struct question {
    struct query query;
    struct question *next;
};
static struct question *spent;
static pthread_mutex_t spent_lock = PTHREAD_MUTEX_INITIALIZER;

static struct question *question_take(void)
{
    lock_take(&spent_lock);
    struct question *question = spent;
    if (question)
        spent = question->next;
    lock_release(&spent_lock);
    return question ? question : malloc(sizeof(*question));
}

static void question_return(struct question *question)
{
    lock_take(&spent_lock);
    question->next = spent;
    spent = question;
    lock_release(&spent_lock);
}

static const char *kind_text(enum query_kind kind)
{
    static const char *const texts[] = {[QUERY_NOTHING] = "nothing known",
                                        [QUERY_GLOBAL] = "Global",
                                        [QUERY_COSTLY] = "Costly",
                                        [QUERY_FOREIGN] = "Foreign",
                                        [QUERY_OBJECTS] = "objects",
                                        [QUERY_NAMES] = "names",
                                        [QUERY_HELPS] = "helps"};
    return texts[kind];
}

static LSTATUS collect_block(const struct query *query, unsigned char *data, DWORD *size)
{
    char name[16 * 4];
    size_t used = 0;
    uint32_t objects = 0;
    bool whole = false;
    machine_name(name);
    size_t header = header_size(name);
    if (!data || *size < header)
        return ERROR_MORE_DATA;
    LSTATUS status = host_collect(query, data + header, *size - header, &used, &objects, &whole);
    if (status)
        return status;
    if (whole) {
        memmove(data, data + header, used);
        *size = (DWORD)used;
        return ERROR_SUCCESS;
    }
    header_write(data, name, header + used, objects);
    *size = (DWORD)(header + used);
    return ERROR_SUCCESS;
}

LSTATUS collect_query(const char *text, void *data, DWORD *size)
{
    if (!size)
        return ERROR_INVALID_PARAMETER;
    struct question *question = question_take();
    if (!question)
        return ERROR_NOT_ENOUGH_MEMORY;
    LSTATUS status = query_parse(text, &question->query);
    if (!status) {
        trace("query", "\"%s\" asks for %s, %zu indices; room for %u bytes", question->query.text,
              kind_text(question->query.kind), question->query.object_count,
              data ? (unsigned)*size : 0);
        status = collect_block(&question->query, data, size);
        trace("collect", "%s, %u bytes", status_text(status), status ? 0 : (unsigned)*size);
    }
    question_return(question);
    return status;
}

void collect_close(void)
{
    host_close();
}
