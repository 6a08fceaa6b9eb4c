/* SPDX-License-Identifier: MIT */
/*
 * The compiled index: the merged keys and values of the vendor's and the machine's files in one
 * file, so that a new process need not parse a thousand .reg files. The index replaces only the
 * parsing: every file and folder is still checked for owner, mode and changes, and if anything is
 * unexpected, the .reg files are read instead. Texts of services are not in the index; they stay in
 * their files as lazy values.
 *
 * The file is a head, then arrays of files, keys, values and lazy sections, then the texts. The
 * subkeys of each key are consecutive, and so are its values, in the order of the keys. So the
 * arrays need no references to each other, and a damaged file cannot lead to endless loops. The
 * file is read, not mapped, because truncating a mapped file would crash the processes that use it.
 */
#include "registry/store/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INDEX_FILE "registry" REGISTRY_INDEX_ENDING
/* the number in each text must be increased if the layout changes */
static const char index_magic[8] = "OPLIDX2", derived_magic[8] = "OPLDRV2";
enum { INDEX_LAYERS = LAYER_MACHINE + 1, BYTE_ORDER_MARK = 0x01020304 };
static const int64_t old_temporary_100ns = (int64_t)60 * CLOCK_TICKS_PER_SECOND;

struct disk_state {
    uint64_t device, inode, size;
    int64_t modified_s, changed_s;
    uint32_t modified_ns, changed_ns;
};
struct disk_head {
    char magic[sizeof index_magic];
    uint64_t check;     /* hash of all bytes after this member */
    uint32_t order;     /* BYTE_ORDER_MARK */
    uint32_t text_size; /* size of the texts in bytes; the last byte is 0 */
    uint32_t files, keys, values, lazies;
    uint32_t paths[INDEX_LAYERS]; /* the folders' paths, as offsets in the texts */
    struct disk_state folders[INDEX_LAYERS];
};
struct disk_file {
    uint32_t layer, name;
    struct disk_state state;
};
struct disk_key {
    uint32_t name, keys, values;
    uint32_t flags;
    int64_t last_write;
};
enum { KEY_ALIVE = 1, KEY_LAZY = 2 };
struct disk_value {
    uint32_t name, type, data, size;
};
struct disk_lazy {
    uint32_t file, line;
    uint64_t offset, size;
};

/* Addresses of the index's parts in the bytes of the file. */
struct parts {
    const struct disk_head *head;
    const struct disk_file *files;
    const struct disk_key *keys;
    const struct disk_value *values;
    const struct disk_lazy *lazies;
    const char *text;
};

enum { LANES = 4 };
struct lanes {
    uint64_t sums[LANES];
};

static inline void add_to_lanes(struct lanes *lanes, const char *bytes)
{
    uint64_t words[LANES];
    memcpy(words, bytes, sizeof words);
    for (int i = 0; i < LANES; i++) {
        uint64_t sum = (lanes->sums[i] ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
        lanes->sums[i] = sum ^ sum >> 29;
    }
}

/* Returns a hash: four sums side by side, which a processor computes in the time of one. */
static uint64_t check_of(const char *bytes, size_t size)
{
    struct lanes lanes = {
        {size, 1, 2, 3}
    };
    char last[sizeof lanes] = {0};
    size_t at = 0;
    for (; size - at >= sizeof lanes; at += sizeof lanes)
        add_to_lanes(&lanes, bytes + at);
    if (at < size)
        memcpy(last, bytes + at, size - at);
    add_to_lanes(&lanes, last);
    for (int i = 1; i < LANES; i++)
        lanes.sums[0] = (lanes.sums[0] ^ lanes.sums[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return lanes.sums[0] | 1; /* never 0 */
}

static uint64_t check_of_index(const void *bytes, size_t size)
{
    const size_t start = offsetof(struct disk_head, order);
    return check_of((const char *)bytes + start, size - start);
}

void index_seal(void *bytes, size_t size)
{
    uint64_t check = check_of_index(bytes, size);
    memcpy((char *)bytes + offsetof(struct disk_head, check), &check, sizeof check);
}

/* ---- reading ---- */

/* Finds the parts; false: the bytes are not a complete index of this version. */
static bool find_parts(const struct buffer *bytes, struct parts *ret)
{
    const struct disk_head *head = (const void *)bytes->data;
    if (bytes->len < sizeof *head || memcmp(head->magic, index_magic, sizeof index_magic) ||
        head->order != BYTE_ORDER_MARK || !head->keys || !head->text_size)
        return false;
    uint64_t files = sizeof *head, keys = files + (uint64_t)head->files * sizeof *ret->files,
             values = keys + (uint64_t)head->keys * sizeof *ret->keys,
             lazies = values + (uint64_t)head->values * sizeof *ret->values,
             text = lazies + (uint64_t)head->lazies * sizeof *ret->lazies;
    if (text + head->text_size != bytes->len || bytes->data[bytes->len - 1] ||
        head->check != check_of_index(bytes->data, bytes->len))
        return false;
    *ret = (struct parts){.head = head,
                          .files = (const void *)(bytes->data + files),
                          .keys = (const void *)(bytes->data + keys),
                          .values = (const void *)(bytes->data + values),
                          .lazies = (const void *)(bytes->data + lazies),
                          .text = bytes->data + text};
    return true;
}

static bool same_state(const struct disk_state *disk, const struct file_state *state)
{
    return disk->device == state->device && disk->inode == state->inode &&
           disk->size == (uint64_t)state->size && disk->modified_s == state->mtime.tv_sec &&
           disk->modified_ns == (uint32_t)state->mtime.tv_nsec &&
           disk->changed_s == state->ctime.tv_sec &&
           disk->changed_ns == (uint32_t)state->ctime.tv_nsec;
}

/* True if the file in the folder is as the index says, and trusted: the file has the folder's
 * `owner`, who is trusted, or is checked itself. */
static bool check_file(const struct parts *parts, const struct disk_file *file, int folder_fd,
                       uid_t owner, struct layer_file *ret)
{
    struct stat st;
    if (file->name >= parts->head->text_size || folder_fd < 0 ||
        fstatat(folder_fd, parts->text + file->name, &st, 0) != 0 || !S_ISREG(st.st_mode))
        return false;
    bool trusted = (st.st_uid == owner && !(st.st_mode & (S_IWGRP | S_IWOTH))) ||
                   layer_trusts((enum registry_layer)file->layer, &st);
    file_state_of(&st, &ret->state);
    return trusted && same_state(&file->state, &ret->state);
}

/* Adds the index's list of files to the folder. ERROR_FILE_NOT_FOUND: the folder or one of its
 * files has changed since the index was written, or is not trusted. */
static LSTATUS check_folder(const struct parts *parts, struct layer_folder *folder)
{
    const struct disk_head *head = parts->head;
    struct stat st = {0};
    const char *path = folder->path ? folder->path : "";
    if (head->paths[folder->layer] >= head->text_size ||
        strcmp(parts->text + head->paths[folder->layer], path))
        return ERROR_FILE_NOT_FOUND;
    int fd = *path ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    bool good = fd < 0 || (fstat(fd, &st) == 0 && layer_trusts(folder->layer, &st));
    file_state_of(&st, &folder->state);
    good = good && same_state(&head->folders[folder->layer], &folder->state);
    LSTATUS status = good ? ERROR_SUCCESS : ERROR_FILE_NOT_FOUND;
    for (uint32_t i = 0; !status && i < head->files; i++) {
        const struct disk_file *file = &parts->files[i];
        if (file->layer != (uint32_t)folder->layer)
            continue;
        struct layer_file found = {0};
        status = check_file(parts, file, fd, st.st_uid, &found)
                     ? folder_add(folder, parts->text + file->name, &found)
                     : ERROR_FILE_NOT_FOUND;
    }
    if (fd >= 0)
        close(fd);
    folder->settled = true;
    return status;
}

/* Returns the text at `offset`; NULL: the text would not end within the index's texts. */
static const char *text_at(const struct parts *parts, uint32_t offset, uint32_t size)
{
    return (uint64_t)offset + size < parts->head->text_size ? parts->text + offset : NULL;
}

/* The memory of a tree that is made from an index. Names and data of the tree point into the bytes
 * of the index. */
struct image {
    struct tree_key *keys, **children;
    struct tree_value *values;
    struct lazy *lazies;
    struct file_state *states; /* states of the files that the index describes */
    size_t used_keys, used_values, used_lazies;
};

static struct lazy *make_lazy(const struct parts *parts, struct image *image)
{
    if (image->used_lazies == parts->head->lazies)
        return NULL;
    const struct disk_lazy *disk = &parts->lazies[image->used_lazies];
    if (disk->file >= parts->head->files || disk->offset > STATE_LISTS_MOST ||
        disk->size > STATE_LISTS_MOST)
        return NULL;
    const struct disk_file *file = &parts->files[disk->file];
    struct lazy *lazy = &image->lazies[image->used_lazies++];
    *lazy = (struct lazy){.state = &image->states[disk->file],
                          .folder = file->layer < INDEX_LAYERS
                                        ? text_at(parts, parts->head->paths[file->layer], 0)
                                        : NULL,
                          .name = text_at(parts, file->name, 0),
                          .offset = (off_t)disk->offset,
                          .size = (size_t)disk->size,
                          .line = disk->line};
    return lazy->folder && lazy->name ? lazy : NULL;
}

/* Makes key number `number`; its subkeys and values are the next subkeys and values that no earlier
 * key has taken. False: the index is damaged. */
static bool make_key(const struct parts *parts, struct image *image, size_t number)
{
    const struct disk_key *disk = &parts->keys[number];
    struct tree_key *key = &image->keys[number];
    if (disk->keys > parts->head->keys - image->used_keys ||
        disk->values > parts->head->values - image->used_values)
        return false;
    key->image = true;
    key->name = (char *)text_at(parts, disk->name, 0);
    key->alive = disk->flags & KEY_ALIVE;
    key->last_write = disk->last_write;
    key->keys = image->children + image->used_keys;
    key->key_count = disk->keys;
    key->values = image->values + image->used_values;
    key->value_count = disk->values;
    if (!key->name || (disk->flags & KEY_LAZY && !(key->lazy = make_lazy(parts, image))))
        return false;
    for (size_t i = 0; i < disk->keys; i++) {
        struct tree_key *child = key->keys[i] = &image->keys[image->used_keys++];
        child->parent = key;
    }
    for (size_t i = 0; i < disk->values; i++) {
        const struct disk_value *value = &parts->values[image->used_values++];
        const char *name = text_at(parts, value->name, 0);
        const char *data = text_at(parts, value->data, value->size);
        if (!name || !data)
            return false;
        key->values[i] = (struct tree_value){.name = (char *)name,
                                             .data = (void *)data,
                                             .size = value->size,
                                             .type = value->type,
                                             .image = true};
    }
    return true;
}

static LSTATUS make_tree(const struct parts *parts, struct index *ret)
{
    const struct disk_head *head = parts->head;
    struct image image = {.used_keys = 1};
    size_t sizes[] = {head->keys * sizeof *image.keys, head->keys * sizeof *image.children,
                      head->values * sizeof *image.values, head->lazies * sizeof *image.lazies,
                      head->files * sizeof *image.states};
    char *memory = ret->memory = calloc(1, sizes[0] + sizes[1] + sizes[2] + sizes[3] + sizes[4]);
    if (!memory)
        return ERROR_NOT_ENOUGH_MEMORY;
    memory_populate(memory, sizes[0] + sizes[1] + sizes[2] + sizes[3] + sizes[4]);
    image.keys = (void *)memory;
    image.states = (void *)(memory + sizes[0]);
    image.lazies = (void *)(memory + sizes[0] + sizes[4]);
    image.values = (void *)(memory + sizes[0] + sizes[4] + sizes[3]);
    image.children = (void *)(memory + sizes[0] + sizes[4] + sizes[3] + sizes[2]);
    for (size_t i = 0; i < head->files; i++) {
        const struct disk_state *disk = &parts->files[i].state;
        image.states[i] = (struct file_state){
            .device = (dev_t)disk->device,
            .inode = (ino_t)disk->inode,
            .size = (off_t)disk->size,
            .mtime = {(time_t)disk->modified_s, (long)disk->modified_ns},
            .ctime = {(time_t)disk->changed_s,  (long)disk->changed_ns }
        };
    }
    bool good = true;
    for (size_t i = 0; good && i < head->keys; i++)
        good = i < image.used_keys && make_key(parts, &image, i);
    good = good && image.used_keys == head->keys && image.used_values == head->values &&
           image.used_lazies == head->lazies;
    ret->root = good ? image.keys : NULL;
    return good ? ERROR_SUCCESS : ERROR_INVALID_DATA;
}

LSTATUS index_parse(struct index *index)
{
    struct parts parts;
    return find_parts(&index->bytes, &parts) ? make_tree(&parts, index) : ERROR_INVALID_DATA;
}

uint64_t index_identity(const struct index *index)
{
    return index->root ? ((const struct disk_head *)index->bytes.data)->check : 0;
}

void index_done(struct index *index)
{
    free(index->memory);
    buffer_done(&index->bytes);
    *index = (struct index){0};
}

/* Opens a file if the file and its folder are trusted by the rules for the machine's files. Links
 * are not followed. -1: it cannot be used. */
static int open_trusted(const char *place, const char *name)
{
    struct stat st;
    int folder = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = -1;
    if (folder >= 0 && fstat(folder, &st) == 0 && layer_trusts(LAYER_MACHINE, &st))
        fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
    bool good = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
                st.st_size <= STATE_LISTS_MOST && layer_trusts(LAYER_MACHINE, &st);
    if (folder >= 0)
        close(folder);
    if (good)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

LSTATUS index_read(const char *place, struct layer_folder *folders, struct index *ret)
{
    struct parts parts;
    *ret = (struct index){0};
    for (int i = 0; i < INDEX_LAYERS; i++)
        folder_forget(&folders[i]);
    int fd = open_trusted(place, INDEX_FILE);
    LSTATUS status = fd >= 0 ? file_read_fd(fd, &ret->bytes) : ERROR_FILE_NOT_FOUND;
    if (fd >= 0)
        close(fd);
    if (!status && !find_parts(&ret->bytes, &parts))
        status = ERROR_INVALID_DATA;
    for (int i = 0; !status && i < INDEX_LAYERS; i++)
        status = check_folder(&parts, &folders[i]);
    if (!status && folders[0].count + folders[1].count != parts.head->files)
        status = ERROR_INVALID_DATA;
    status = status ? status : make_tree(&parts, ret);
    for (int i = 0; status && i < INDEX_LAYERS; i++) {
        folder_forget(&folders[i]);
        folders[i].state = (struct file_state){0};
    }
    if (status)
        index_done(ret);
    trace("registry", "index in %s: %s", place, status_text(status));
    return status;
}

/* ---- writing ---- */

struct writer {
    const struct layer_folder *folders;
    struct buffer files, keys, values, lazies, text;
    const struct tree_key **queue; /* keys in breadth-first order, so that the subkeys of each key
                                    * are consecutive */
    size_t count, capacity;
    bool failed;
};

static uint32_t add_text(struct writer *writer, const void *text, size_t size)
{
    size_t offset = writer->text.len;
    buffer_add(&writer->text, text, size);
    writer->failed |= writer->text.len > STATE_LISTS_MOST / 2;
    return (uint32_t)offset;
}

static struct disk_state disk_state_of(const struct file_state *state)
{
    return (struct disk_state){.device = state->device,
                               .inode = state->inode,
                               .size = (uint64_t)state->size,
                               .modified_s = state->mtime.tv_sec,
                               .changed_s = state->ctime.tv_sec,
                               .modified_ns = (uint32_t)state->mtime.tv_nsec,
                               .changed_ns = (uint32_t)state->ctime.tv_nsec};
}

/* Sets *ret to the number of the file that has the section: files of the vendor's folder are
 * counted first, then the machine's. False: no such file has the section. */
static bool file_number(const struct writer *writer, const struct lazy *lazy, uint32_t *ret)
{
    size_t before = 0;
    for (int i = 0; i < INDEX_LAYERS; i++) {
        const struct layer_folder *folder = &writer->folders[i];
        const struct layer_file *file = folder->path && !strcmp(folder->path, lazy->folder)
                                            ? folder_file(folder, lazy->name)
                                            : NULL;
        if (file) {
            *ret = (uint32_t)(before + (size_t)(file - folder->files));
            return true;
        }
        before += folder->count;
    }
    return false;
}

static void write_key(struct writer *writer, const struct tree_key *key)
{
    struct disk_key disk = {.keys = (uint32_t)key->key_count,
                            .values = (uint32_t)key->value_count,
                            .flags = (key->alive ? KEY_ALIVE : 0u) | (key->lazy ? KEY_LAZY : 0u),
                            .last_write = key->last_write};
    const char *name = key->name ? key->name : "";
    disk.name = add_text(writer, name, strlen(name) + 1);
    buffer_add(&writer->keys, &disk, sizeof disk);
    for (size_t i = 0; i < key->value_count; i++) {
        const struct tree_value *value = &key->values[i];
        struct disk_value of = {.type = value->type, .size = (uint32_t)value->size};
        of.name = add_text(writer, value->name, strlen(value->name) + 1);
        of.data = add_text(writer, value->data, value->size);
        buffer_add(&writer->values, &of, sizeof of);
    }
    if (key->lazy) {
        struct disk_lazy of = {.line = key->lazy->line,
                               .offset = (uint64_t)key->lazy->offset,
                               .size = key->lazy->size};
        writer->failed |= !file_number(writer, key->lazy, &of.file);
        buffer_add(&writer->lazies, &of, sizeof of);
    }
}

static void write_keys(struct writer *writer, const struct tree_key *root)
{
    size_t capacity = 1;
    writer->queue = malloc(sizeof *writer->queue);
    if (writer->queue)
        writer->queue[writer->count++] = root;
    for (size_t at = 0; writer->queue && at < writer->count && !writer->failed; at++) {
        const struct tree_key *key = writer->queue[at];
        write_key(writer, key);
        if (writer->count + key->key_count > capacity) {
            capacity = (writer->count + key->key_count) * 2;
            const struct tree_key **more = reallocarray(writer->queue, capacity, sizeof *more);
            writer->failed |= !more;
            if (!more)
                return;
            writer->queue = more;
        }
        for (size_t i = 0; i < key->key_count; i++)
            writer->queue[writer->count++] = key->keys[i];
    }
    writer->failed |= !writer->queue;
}

static void write_files(struct writer *writer, struct disk_head *head)
{
    for (int i = 0; i < INDEX_LAYERS; i++) {
        const struct layer_folder *folder = &writer->folders[i];
        const char *path = folder->path ? folder->path : "";
        head->paths[i] = add_text(writer, path, strlen(path) + 1);
        head->folders[i] = disk_state_of(&folder->state);
        for (size_t k = 0; k < folder->count; k++) {
            const struct layer_file *file = &folder->files[k];
            struct disk_file disk = {.layer = (uint32_t)i, .state = disk_state_of(&file->state)};
            disk.name = add_text(writer, file->name, strlen(file->name) + 1);
            buffer_add(&writer->files, &disk, sizeof disk);
            head->files++;
        }
    }
}

static bool print_index(const struct layer_folder *folders, const struct tree_key *root,
                        struct buffer *ret)
{
    struct writer writer = {.folders = folders};
    struct disk_head head = {.order = BYTE_ORDER_MARK};
    memcpy(head.magic, index_magic, sizeof head.magic);
    write_files(&writer, &head);
    write_keys(&writer, root);
    add_text(&writer, "", 1);
    head.keys = (uint32_t)writer.count;
    head.values = (uint32_t)(writer.values.len / sizeof(struct disk_value));
    head.lazies = (uint32_t)(writer.lazies.len / sizeof(struct disk_lazy));
    head.text_size = (uint32_t)writer.text.len;
    struct buffer *const parts[] = {&writer.files, &writer.keys, &writer.values, &writer.lazies,
                                    &writer.text};
    buffer_add(ret, &head, sizeof head);
    for (size_t i = 0; i < COUNT(parts); i++) {
        writer.failed |= parts[i]->failed;
        buffer_add(ret, parts[i]->data, parts[i]->len);
        buffer_done(parts[i]);
    }
    free(writer.queue);
    if (ret->failed || writer.failed)
        return false;
    index_seal(ret->data, ret->len);
    return true;
}

/* True if the file's last change is so long ago that another change would give the file other
 * times: two changes within one tick of the file system's clock have the same times. */
static bool is_old(const struct file_state *state)
{
    static const int64_t fine_100ns = 50 * 10000, coarse_100ns = 21 * 1000000;
    const struct timespec *times[] = {&state->mtime, &state->ctime};
    bool coarse = !state->mtime.tv_nsec && !state->ctime.tv_nsec, old = true;
    for (size_t i = 0; state->inode && i < COUNT(times); i++) {
        int64_t age = clock_filetime() - clock_filetime_of(times[i]);
        old &= age < -coarse_100ns || age > (coarse ? coarse_100ns : fine_100ns);
    }
    return old;
}

/* True if an index may be made of these files. Every user must be allowed to read the files,
 * because every user reads the index; reading the files must have logged no event, because other
 * programs would not log that event again; and the files must not have keys of HKEY_USERS or
 * HKEY_CURRENT_USER, which differ between users. */
static bool is_suitable(const struct layer_folder *folders, const struct tree_key *root)
{
    bool good = !tree_find(root, "HKEY_USERS") && !tree_find(root, "HKEY_CURRENT_USER");
    for (int i = 0; good && i < INDEX_LAYERS; i++) {
        const struct file_state *state = &folders[i].state;
        good = !folders[i].refused && is_old(state) &&
               (!state->inode || (state->mode & (S_IROTH | S_IXOTH)) == (S_IROTH | S_IXOTH));
        for (size_t k = 0; good && k < folders[i].count; k++) {
            const struct layer_file *file = &folders[i].files[k];
            good = file->tree && !file->damaged && is_old(&file->state) &&
                   (file->state.mode & S_IROTH);
        }
    }
    return good;
}

/* Replaces the file `name`. The file is not synced: an incomplete index has a wrong hash and is
 * ignored. All writers use one name for the temporary file, so only one process writes at a time.
 * False: not replaced. */
static bool replace_file(int folder, const char *name, const struct buffer *bytes)
{
    struct stat st;
    char temporary[NAME_MAX + 1];
    snprintf(temporary, sizeof temporary, ".%s.tmp", name);
    int fd = file_steps.open(folder, temporary,
                             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        if (errno == EEXIST && !fstatat(folder, temporary, &st, AT_SYMLINK_NOFOLLOW) &&
            clock_filetime() - clock_filetime_of(&st.st_mtim) > old_temporary_100ns)
            file_steps.unlink(folder, temporary); /* the writer of the temporary file was killed */
        return false;
    }
    size_t written = 0;
    for (ssize_t count = 1; count > 0 && written < bytes->len; written += (size_t)count) {
        count = file_steps.write(fd, bytes->data + written, bytes->len - written);
        if (count < 0)
            break;
    }
    bool good = written == bytes->len && fchmod(fd, 0644) == 0;
    good = close(fd) == 0 && good;
    good = good && file_steps.rename(folder, temporary, folder, name) == 0;
    if (!good)
        file_steps.unlink(folder, temporary);
    return good;
}

/* Opens the folder for writing; -1: this process may not write there, or the folder is not
 * trusted. */
static int open_writable(const char *place)
{
    struct stat st;
    if (faccessat(AT_FDCWD, place, W_OK | X_OK, AT_EACCESS) != 0)
        return -1;
    int folder = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0 && (fstat(folder, &st) != 0 || !layer_trusts(LAYER_MACHINE, &st))) {
        close(folder);
        return -1;
    }
    return folder;
}

/* Removes the index and the derived files, because they may contain what only some users may read
 * now. Does not close `folder`. */
static void remove_all(int folder)
{
    static const char ending[] = ".index";
    int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = own < 0 ? NULL : fdopendir(own);
    for (struct dirent *entry; listing && (entry = readdir(listing));) {
        const char *dot = strrchr(entry->d_name, '.');
        if (dot && !strcmp(dot, ending))
            file_steps.unlink(folder, entry->d_name);
    }
    if (listing)
        closedir(listing);
    else if (own >= 0)
        close(own);
}

uint64_t index_write(const char *place, const struct layer_folder *folders,
                     const struct tree_key *root)
{
    BUFFER_AUTO bytes = {0};
    int folder = open_writable(place);
    bool made = folder >= 0 && is_suitable(folders, root) && print_index(folders, root, &bytes);
    bool written = made && replace_file(folder, INDEX_FILE, &bytes);
    if (folder >= 0 && !made)
        remove_all(folder);
    if (folder >= 0)
        close(folder);
    trace("registry", "index of %zu bytes %s", bytes.len, written ? "written" : "not written");
    return written ? ((const struct disk_head *)bytes.data)->check : 0;
}

/* ---- what was derived from the files of an index ---- */

/* The head is followed by a hash of each block of the content, then by the content. So a process
 * reads only the blocks that it needs, and none that is damaged. */
struct derived_head {
    char magic[sizeof derived_magic];
    uint64_t check; /* a hash of the blocks' hashes */
    uint64_t files; /* `check` of the index that describes the same files */
    uint64_t sources;
    uint64_t size; /* of the content */
};
struct registry_content {
    int fd;
    struct derived_head head;
    uint64_t sums[];
};

static size_t block_count(uint64_t size)
{
    return (size_t)((size + REGISTRY_BLOCK - 1) / REGISTRY_BLOCK);
}

static size_t block_size(uint64_t size, size_t block)
{
    uint64_t left = size - (uint64_t)block * REGISTRY_BLOCK;
    return left < REGISTRY_BLOCK ? (size_t)left : REGISTRY_BLOCK;
}

void derived_seal(void *bytes, size_t size)
{
    struct derived_head *head = bytes;
    size_t count = block_count(head->size);
    uint64_t *sums = (uint64_t *)(head + 1);
    if (size != sizeof *head + count * sizeof *sums + head->size)
        return;
    for (size_t i = 0; i < count; i++)
        sums[i] = check_of((char *)(sums + count) + i * REGISTRY_BLOCK, block_size(head->size, i));
    head->check = check_of((char *)sums, count * sizeof *sums);
}

/* Makes the head of a derived file, without `check` and `size`. False: the files have changed, or
 * no index describes them. */
static bool make_head(const struct registry_derived *derived, struct derived_head *ret)
{
    *ret = (struct derived_head){.files = store_identity(derived->generation)};
    memcpy(ret->magic, derived_magic, sizeof ret->magic);
    for (size_t i = 0; i < derived->source_count; i++) {
        struct file_state state;
        file_state_of(&derived->sources[i], &state);
        struct disk_state disk = disk_state_of(&state);
        ret->sources = ret->sources * 31 + check_of((const char *)&disk, sizeof disk);
    }
    return ret->files;
}

/* Reads the blocks' hashes of a file whose head is as wanted. NULL: the file is damaged. */
static struct registry_content *read_sums(int fd, const struct derived_head *head)
{
    size_t size = block_count(head->size) * sizeof(uint64_t);
    struct stat st;
    if (head->size > STATE_LISTS_MOST || fstat(fd, &st) != 0 ||
        (uint64_t)st.st_size != sizeof *head + size + head->size)
        return NULL;
    struct registry_content *content = malloc(sizeof *content + size);
    if (!content)
        return NULL;
    content->fd = fd;
    content->head = *head;
    if (read(fd, content->sums, size) == (ssize_t)size &&
        head->check == check_of((const char *)content->sums, size))
        return content;
    free(content);
    return NULL;
}

struct registry_content *registry_derived_open(const struct registry_derived *derived,
                                               size_t *ret_size)
{
    struct registry_content *content = NULL;
    struct derived_head head = {0}, wanted;
    const char *place = place_machine();
    int fd = place && make_head(derived, &wanted) ? open_trusted(place, derived->name) : -1;
    if (fd >= 0 && read(fd, &head, sizeof head) == (ssize_t)sizeof head) {
        wanted.check = head.check;
        wanted.size = head.size;
        content = memcmp(&head, &wanted, sizeof head) ? NULL : read_sums(fd, &head);
    }
    if (fd >= 0 && !content)
        close(fd);
    *ret_size = content ? (size_t)content->head.size : 0;
    trace("registry", "%s in %s: %s", derived->name, place, content ? "used" : "not used");
    return content;
}

bool registry_derived_block(const struct registry_content *content, size_t block, void *ret)
{
    size_t count = block_count(content->head.size);
    if (block >= count)
        return false;
    size_t size = block_size(content->head.size, block);
    off_t place = (off_t)(sizeof content->head + count * sizeof *content->sums +
                          block * (size_t)REGISTRY_BLOCK);
    return pread(content->fd, ret, size, place) == (ssize_t)size &&
           check_of(ret, size) == content->sums[block];
}

void registry_derived_close(struct registry_content *content)
{
    if (content)
        close(content->fd);
    free(content);
}

void registry_derived_write(const struct registry_derived *derived, const struct buffer *bytes)
{
    BUFFER_AUTO all = {0};
    struct derived_head head;
    const char *place = place_machine();
    bool good = place && make_head(derived, &head);
    for (size_t i = 0; good && i < derived->source_count; i++) {
        struct file_state state;
        file_state_of(&derived->sources[i], &state);
        good = is_old(&state) && state.mode & S_IROTH;
    }
    int folder = good ? open_writable(place) : -1;
    if (folder < 0)
        return;
    head.size = bytes->len;
    size_t sums = block_count(bytes->len) * sizeof(uint64_t);
    good = buffer_add(&all, &head, sizeof head) && buffer_reserve(&all, sums + bytes->len);
    all.len += good ? sums : 0;
    good = good && buffer_add(&all, bytes->data, bytes->len);
    if (good) {
        derived_seal(all.data, all.len);
        good = replace_file(folder, derived->name, &all);
    }
    close(folder);
    trace("registry", "%s of %zu bytes %s", derived->name, all.len,
          good ? "written" : "not written");
}
