/* SPDX-License-Identifier: MIT */
/*
 * Lazy values: they stay in their file until they are used. The texts of a service in five
 * languages are fifty times as large as the rest of its file. Programs that read counters do not
 * need them, and reading those of a thousand services would take seconds. A key is lazy only if no
 * other file has values for it.
 */
#include "registry/hive.h"
#include "registry/store.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* guards the members `lazy` and the values of lazy keys; taken after other locks of the registry */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct owned {
    struct lazy lazy;
    struct file_state state;
    char text[];
};

static struct lazy *make(const struct lazy *like)
{
    size_t folder_size = strlen(like->folder) + 1, name_size = strlen(like->name) + 1;
    struct owned *owned = malloc(sizeof *owned + folder_size + name_size);
    if (!owned)
        return NULL;
    owned->lazy = *like;
    owned->state = *like->state;
    owned->lazy.state = &owned->state;
    owned->lazy.folder = memcpy(owned->text, like->folder, folder_size);
    owned->lazy.name = memcpy(owned->text + folder_size, like->name, name_size);
    return &owned->lazy; /* `lazy` is the first member of *owned */
}

struct lazy *lazy_new(const char *folder, const char *name, const struct file_state *state,
                      const struct hive_section *section)
{
    return make(&(struct lazy){.state = state,
                               .folder = folder,
                               .name = name,
                               .offset = (off_t)section->offset,
                               .size = section->size,
                               .line = section->line});
}

struct lazy *lazy_copy(const struct lazy *lazy)
{
    return make(lazy);
}

bool tree_is_lazy(const struct tree_key *key)
{
    return __atomic_load_n(&key->lazy, __ATOMIC_ACQUIRE) != NULL;
}

/* Reads the section as if it were a file of its own. If the file was replaced meanwhile it returns
 * ERROR_FILE_NOT_FOUND, and the merged view is rebuilt at the next call. */
static LSTATUS read_section(const struct lazy *lazy, struct buffer *ret)
{
    struct stat st;
    struct file_state now = {0};
    buffer_clear(ret);
    buffer_add_text(ret, HIVE_HEADER "\n");
    if (!buffer_reserve(ret, lazy->size + 1))
        return ERROR_NOT_ENOUGH_MEMORY;
    FREE_AUTO char *path = text_format("%s/%s", lazy->folder, lazy->name);
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
    if (fd >= 0 && fstat(fd, &st) == 0)
        file_state_of(&st, &now);
    ssize_t count = file_state_same(&now, lazy->state)
                        ? pread(fd, ret->data + ret->len, lazy->size, lazy->offset)
                        : -1;
    if (fd >= 0)
        close(fd);
    if (count != (ssize_t)lazy->size) {
        store_invalidate();
        return ERROR_FILE_NOT_FOUND;
    }
    ret->len += lazy->size;
    ret->data[ret->len] = '\0';
    return ERROR_SUCCESS;
}

LSTATUS lazy_text(const struct tree_key *key, struct buffer *ret, struct lazy **ret_lazy)
{
    lock_take(&lock);
    *ret_lazy = key->lazy ? lazy_copy(key->lazy) : NULL;
    LSTATUS status = *ret_lazy   ? read_section(*ret_lazy, ret)
                     : key->lazy ? ERROR_NOT_ENOUGH_MEMORY
                                 : ERROR_NOT_FOUND;
    lock_release(&lock);
    return status;
}

/* entry->line counts from the header line that read_section put before the section. */
void lazy_report_damaged(const struct lazy *lazy, const opl_reg_entry *entry)
{
    opl_reg_entry there = *entry;
    there.line += lazy->line - 2;
    file_report_damaged(lazy->name, &there);
}

struct filling {
    struct tree_key *key;
    bool failed;
};

static bool fill_entry(void *self, const opl_reg_entry *entry)
{
    struct filling *filling = self;
    if (entry->kind == OPL_REG_VALUE)
        filling->failed |=
            !tree_put(filling->key, entry->name, entry->type, entry->data, entry->size);
    else if (entry->kind == OPL_REG_DELETE_VALUE)
        filling->failed |= !tree_put_gone(filling->key, entry->name);
    else if (entry->kind == OPL_REG_DAMAGED)
        lazy_report_damaged(filling->key->lazy, entry);
    return !filling->failed;
}

bool tree_fill(const struct tree_key *given)
{
    BUFFER_AUTO text = {0};
    struct filling filling = {.key = (struct tree_key *)given};
    if (!tree_is_lazy(given))
        return true;
    lock_take(&lock);
    struct lazy *lazy = given->lazy;
    LSTATUS status = lazy ? read_section(lazy, &text) : ERROR_NOT_FOUND;
    if (!status)
        status = opl_reg_read(text.data, text.len, 0, fill_entry, &filling);
    if (!status && !filling.failed) {
        __atomic_store_n(&filling.key->lazy, NULL, __ATOMIC_RELEASE);
        if (!given->image)
            free(lazy);
    }
    lock_release(&lock);
    return status != ERROR_NOT_ENOUGH_MEMORY && !filling.failed;
}
