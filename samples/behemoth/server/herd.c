/* SPDX-License-Identifier: MIT */
/* Simulates the herd in steps of one second, and saves it. */
#include "herd.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const struct behemoth_parameter herd_parameters[HERD_PARAMETERS] = {
    [HERD_CAPACITY] = {"capacity", 100,  2,  BEHEMOTH_HERD_MAX},
    [HERD_LIFETIME] = {"lifetime", 600,  20, 100000000        },
    [HERD_CHILDREN] = {"children", 20,   0,  1000             },
    [HERD_SPEED] = {"speed",    1000, 0,  100000000        },
    [HERD_WIDTH] = {"width",    1000, 10, 1000000          },
    [HERD_HEIGHT] = {"height",   500,  10, 1000000          },
};

/* A random number: splitmix64 (Vigna), a counter whose bits are mixed. */
static uint64_t chance(struct herd *herd)
{
    uint64_t z = herd->chance += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

static uint64_t below(struct herd *herd, uint64_t limit)
{
    return limit > 0 ? chance(herd) % limit : 0;
}

/* ---- a behemoth ---- */

static int64_t now(const struct herd *herd)
{
    return herd->start + (int64_t)herd->ticks * BEHEMOTH_SECOND;
}

static uint64_t age_of(const struct herd *herd, const struct animal *animal)
{
    return (uint64_t)(now(herd) - animal->is.birthday) / BEHEMOTH_SECOND;
}

static uint64_t grown_at(const struct herd *herd)
{
    return (uint64_t)herd->parameters[HERD_LIFETIME] / 10;
}

/* Sets the weight: 45 kg at birth, more than 1500 kg as an adult. Behemoths are a little lighter
 * than water. */
static void grow(const struct herd *herd, struct animal *animal)
{
    uint64_t grown = grown_at(herd), age = age_of(herd, animal);
    uint64_t full = 1400 + animal->is.id * 37 % 700;
    animal->is.weight = (uint32_t)(45 + full * (age < grown ? age : grown) / grown);
    animal->is.volume = animal->is.weight + animal->is.weight / 50;
}

static uint32_t step(struct herd *herd, uint32_t from, int64_t limit)
{
    uint64_t to = from + below(herd, 5);
    to = to >= 2 ? to - 2 : 0;
    return (uint32_t)(to < (uint64_t)limit ? to : (uint64_t)limit - 1);
}

/* Adds a behemoth at the end; `mother` is a position or BEHEMOTH_NONE; `sex` BEHEMOTH_NONE:
 * random. */
static struct animal *add(struct herd *herd, uint32_t mother, uint32_t sex)
{
    static const char *const names[2][12] = {
        {"Anton", "Boris", "Carl",  "Darius", "Emil", "Fjodor", "Gustav", "Hugo",  "Igor",  "Jakob",
         "Kasimir", "Leo" },
        {"Anna",  "Berta", "Clara", "Dora",   "Emma", "Frida",  "Greta",  "Helga", "Irina", "Jelena",
         "Katja",   "Lena"},
    };
    struct animal *animal = &herd->all[herd->count++];
    struct behemoth *is = &animal->is;
    uint64_t lifetime = (uint64_t)herd->parameters[HERD_LIFETIME];
    *is = (struct behemoth){.id = herd->next_id++, .mother_position = mother};
    is->birthday = now(herd);
    is->sex = (uint32_t)below(herd, 2);
    is->sex = sex == BEHEMOTH_NONE ? is->sex : sex;
    animal->dies = herd->ticks + lifetime / 2 + below(herd, lifetime) + 1;
    if (mother != BEHEMOTH_NONE) {
        struct behemoth *her = &herd->all[mother].is;
        is->mother = her->id;
        is->generation = ++her->children > 0 ? her->generation + 1 : 0;
        is->x = her->x;
        is->y = her->y;
    } else {
        is->x = (uint32_t)below(herd, (uint64_t)herd->parameters[HERD_WIDTH]);
        is->y = (uint32_t)below(herd, (uint64_t)herd->parameters[HERD_HEIGHT]);
    }
    snprintf(is->name, sizeof is->name, "%.8s %llu", names[is->sex][is->id % 12],
             (unsigned long long)(is->id % 100000000000));
    grow(herd, animal);
    return animal;
}

/* Makes the behemoth `age` seconds older, but leaves at least one tick of its life. */
static void make_older(const struct herd *herd, struct animal *animal, uint64_t age)
{
    uint64_t left = animal->dies - herd->ticks;
    animal->is.birthday -= (int64_t)age * BEHEMOTH_SECOND;
    animal->dies = herd->ticks + 1 + (age < left ? left - age : 0);
    grow(herd, animal);
}

/* Adds an adult without a mother, in the middle of its life. */
static void found(struct herd *herd, uint32_t sex)
{
    struct animal *animal = add(herd, BEHEMOTH_NONE, sex);
    make_older(herd, animal, grown_at(herd) + below(herd, animal->dies - herd->ticks));
    herd->founded++;
}

/* ---- the herd ---- */

bool herd_allocate(struct herd *herd)
{
    herd->all = malloc(BEHEMOTH_HERD_MAX * sizeof *herd->all);
    herd->moved = malloc(BEHEMOTH_HERD_MAX * sizeof *herd->moved);
    return herd->all && herd->moved;
}

bool herd_begin(struct herd *herd, const struct herd_beginning *beginning)
{
    *herd = (struct herd){.chance = beginning->seed, .start = beginning->start, .next_id = 1};
    memcpy(herd->parameters, beginning->parameters, sizeof herd->parameters);
    if (beginning->count > (uint64_t)herd->parameters[HERD_CAPACITY] || !herd_allocate(herd))
        return false;
    for (uint64_t i = 0; i < beginning->count; i++)
        found(herd, (uint32_t)(i % 2));
    return true;
}

void herd_end(struct herd *herd)
{
    free(herd->all);
    free(herd->moved);
    herd->all = NULL;
    herd->moved = NULL;
}

/* Removes the behemoths that died, without changing the order; their children no longer have a
 * mother. */
static void tombstone(struct herd *herd)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < herd->count; i++) {
        struct animal *animal = &herd->all[i];
        bool alive = animal->dies > herd->ticks;
        herd->moved[i] = alive ? kept : BEHEMOTH_NONE;
        if (!alive)
            continue;
        if (animal->is.mother_position != BEHEMOTH_NONE) {
            animal->is.mother_position = herd->moved[animal->is.mother_position];
            if (animal->is.mother_position == BEHEMOTH_NONE)
                animal->is.mother = 0;
        }
        herd->all[kept++] = *animal;
    }
    herd->deaths += herd->count - kept;
    herd->count = kept;
}

void herd_tick(struct herd *herd)
{
    const uint64_t capacity = (uint64_t)herd->parameters[HERD_CAPACITY];
    const uint64_t lifetime = (uint64_t)herd->parameters[HERD_LIFETIME];
    const uint64_t children = (uint64_t)herd->parameters[HERD_CHILDREN];
    uint64_t grown[2] = {0};
    bool deaths = false;
    herd->ticks++;
    for (uint64_t i = 0; i < herd->count; i++) {
        struct animal *animal = &herd->all[i];
        if (animal->dies <= herd->ticks) {
            deaths = true;
            continue;
        }
        animal->is.x = step(herd, animal->is.x, herd->parameters[HERD_WIDTH]);
        animal->is.y = step(herd, animal->is.y, herd->parameters[HERD_HEIGHT]);
        herd->left_steps++;
        herd->right_steps++;
        grow(herd, animal);
        grown[animal->is.sex] += age_of(herd, animal) >= grown_at(herd);
    }
    if (deaths)
        tombstone(herd);
    /* births are rarer the fuller the field */
    uint64_t living = grown[BEHEMOTH_MALE] > 0 ? herd->count : 0;
    for (uint32_t i = 0; i < living && herd->count < capacity; i++) {
        if (herd->all[i].is.sex == BEHEMOTH_FEMALE &&
            age_of(herd, &herd->all[i]) >= grown_at(herd) &&
            below(herd, capacity * lifetime) < children * (capacity - herd->count)) {
            add(herd, i, BEHEMOTH_NONE);
            herd->births++;
        }
    }
    /* a sex without adults gets an adult, so that the herd does not die out */
    for (uint32_t sex = 0; sex < 2; sex++) {
        if (grown[sex] == 0 && herd->count < capacity)
            found(herd, sex);
    }
}

/* ---- changes from outside ---- */

static int by_id(const void *id, const void *animal)
{
    uint64_t one = *(const uint64_t *)id, other = ((const struct animal *)animal)->is.id;
    return (one > other) - (one < other);
}

static struct animal *find(const struct herd *herd, uint64_t id)
{
    return herd->count > 0 ? bsearch(&id, herd->all, herd->count, sizeof *herd->all, by_id) : NULL;
}

/* Is the number given (not BEHEMOTH_NONE), and not below the limit? */
static bool too_large(uint32_t number, int64_t limit)
{
    return number != BEHEMOTH_NONE && number >= limit;
}

enum behemoth_status herd_create(struct herd *herd, const struct behemoth_create *wanted,
                                 struct behemoth *ret)
{
    const struct animal *mother = wanted->mother ? find(herd, wanted->mother) : NULL;
    const char *name = wanted->name;
    if (!memchr(name, 0, sizeof wanted->name))
        return BEHEMOTH_BAD;
    for (const char *at = name; *at; at++) {
        if (*at < ' ' || *at > '~' || strchr("\\/()#*", *at))
            return BEHEMOTH_NAME_BAD;
    }
    for (uint64_t i = 0; *name && i < herd->count; i++) {
        if (strcmp(herd->all[i].is.name, name) == 0)
            return BEHEMOTH_TAKEN;
    }
    if (wanted->mother && !mother)
        return BEHEMOTH_UNKNOWN;
    if (mother && mother->is.sex != BEHEMOTH_FEMALE)
        return BEHEMOTH_NO_MOTHER;
    if (mother && wanted->age > age_of(herd, mother))
        return BEHEMOTH_YOUNGER;
    if (too_large(wanted->sex, BEHEMOTH_FEMALE + 1) ||
        too_large(wanted->x, herd->parameters[HERD_WIDTH]) ||
        too_large(wanted->y, herd->parameters[HERD_HEIGHT]) ||
        wanted->age > (uint32_t)herd_parameters[HERD_LIFETIME].most)
        return BEHEMOTH_BAD;
    if (herd->count >= (uint64_t)herd->parameters[HERD_CAPACITY])
        return BEHEMOTH_FULL;
    struct animal *animal =
        add(herd, mother ? (uint32_t)(mother - herd->all) : BEHEMOTH_NONE, wanted->sex);
    herd->births++;
    animal->is.x = wanted->x == BEHEMOTH_NONE ? animal->is.x : wanted->x;
    animal->is.y = wanted->y == BEHEMOTH_NONE ? animal->is.y : wanted->y;
    if (wanted->age > 0)
        make_older(herd, animal, wanted->age);
    if (wanted->name[0])
        memcpy(animal->is.name, wanted->name, sizeof animal->is.name);
    *ret = animal->is;
    return BEHEMOTH_OK;
}

enum behemoth_status herd_kill(struct herd *herd, uint64_t id)
{
    struct animal *animal = find(herd, id);
    if (!animal)
        return BEHEMOTH_UNKNOWN;
    animal->dies = herd->ticks;
    tombstone(herd);
    return BEHEMOTH_OK;
}

enum behemoth_status herd_set(struct herd *herd, const struct behemoth_parameter *wanted)
{
    if (!memchr(wanted->name, 0, sizeof wanted->name))
        return BEHEMOTH_BAD;
    for (int i = 0; i < HERD_PARAMETERS; i++) {
        if (strcmp(herd_parameters[i].name, wanted->name) != 0)
            continue;
        if (wanted->value < herd_parameters[i].least || wanted->value > herd_parameters[i].most)
            return BEHEMOTH_BAD;
        herd->parameters[i] = wanted->value;
        return BEHEMOTH_OK;
    }
    return BEHEMOTH_UNKNOWN;
}

void herd_earlier(struct herd *herd, uint64_t seconds)
{
    int64_t shift = (int64_t)seconds * BEHEMOTH_SECOND;
    herd->start -= shift;
    for (uint64_t i = 0; i < herd->count; i++)
        herd->all[i].is.birthday -= shift;
}

void herd_summary(const struct herd *herd, struct behemoth_herd *ret)
{
    *ret = (struct behemoth_herd){
        .each = sizeof(struct behemoth),
        .count = (uint32_t)herd->count,
        .time = now(herd),
        .ticks = herd->ticks,
        .founded = herd->founded,
        .births = herd->births,
        .deaths = herd->deaths,
        .left_steps = herd->left_steps,
        .right_steps = herd->right_steps,
        .width = (uint32_t)herd->parameters[HERD_WIDTH],
        .height = (uint32_t)herd->parameters[HERD_HEIGHT],
        .lifetime = (uint64_t)herd->parameters[HERD_LIFETIME],
    };
    for (uint64_t i = 0; i < herd->count; i++) {
        ret->weight += herd->all[i].is.weight;
        ret->ages += age_of(herd, &herd->all[i]);
    }
}

/* ---- the file: a head with a checksum, the fixed part of struct herd, and the animals ---- */

struct head {
    char magic[8];
    uint64_t bytes; /* number of bytes after the head */
    uint64_t sum;   /* FNV-1a hash of the bytes after the head */
};
static const char magic[8] = "BHMHERD2";
enum { FIXED = offsetof(struct herd, all) };

static uint64_t sum_of(const struct herd *herd)
{
    const unsigned char *parts[] = {(const unsigned char *)herd, (const unsigned char *)herd->all};
    const size_t counts[] = {FIXED, (size_t)herd->count * sizeof *herd->all};
    uint64_t sum = 0xCBF29CE484222325;
    for (int part = 0; part < 2; part++) {
        for (size_t i = 0; i < counts[part]; i++)
            sum = (sum ^ parts[part][i]) * 0x100000001B3;
    }
    return sum;
}

enum state_result state_save(const struct herd *herd, const char *path)
{
    char beside[4096 + 4], folder[4096];
    size_t count = (size_t)herd->count;
    struct head head = {.bytes = FIXED + count * sizeof *herd->all, .sum = sum_of(herd)};
    memcpy(head.magic, magic, sizeof magic);
    snprintf(beside, sizeof beside, "%s.new", path);
    snprintf(folder, sizeof folder, "%s", path);
    int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!file)
        return STATE_FAILED;
    bool good = fwrite(&head, sizeof head, 1, file) == 1 && fwrite(herd, FIXED, 1, file) == 1 &&
                (count == 0 || fwrite(herd->all, sizeof *herd->all, count, file) == count) &&
                fflush(file) == 0 && fsync(fd) == 0;
    good = fclose(file) == 0 && good && rename(beside, path) == 0;
    int reason = errno;
    /* only when the folder is synced, too, the file's new name is durable */
    fd = good ? open(dirname(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    if (!good)
        unlink(beside);
    errno = reason;
    return good ? STATE_DONE : STATE_FAILED;
}

/* Is the herd of a file usable? A checksum does not protect against a malicious file, so values
 * that could do harm are checked. */
static bool is_sensible(const struct herd *herd)
{
    if (herd->start < 0 || herd->start > INT64_MAX / 2 ||
        herd->ticks > (uint64_t)(INT64_MAX / 2 / BEHEMOTH_SECOND))
        return false;
    for (int i = 0; i < HERD_PARAMETERS; i++) {
        if (herd->parameters[i] < herd_parameters[i].least ||
            herd->parameters[i] > herd_parameters[i].most)
            return false;
    }
    uint64_t last = 0;
    int64_t now = herd->start + (int64_t)(herd->ticks * BEHEMOTH_SECOND);
    for (uint64_t i = 0; i < herd->count; i++) {
        const struct behemoth *is = &herd->all[i].is;
        if (is->id <= last || is->id >= herd->next_id || is->sex > BEHEMOTH_FEMALE ||
            is->birthday > now || !memchr(is->name, 0, sizeof is->name) ||
            (is->mother_position != BEHEMOTH_NONE && is->mother_position >= i))
            return false;
        last = is->id;
    }
    return true;
}

/* Reads a herd, if the file is as long as its beginning says, has its sum, and is sensible. */
static bool read_herd(struct herd *herd, FILE *file)
{
    struct head head;
    struct stat status;
    if (fstat(fileno(file), &status) < 0 || !S_ISREG(status.st_mode) ||
        fread(&head, sizeof head, 1, file) != 1 || fread(herd, FIXED, 1, file) != 1 ||
        memcmp(head.magic, magic, sizeof magic) != 0 || herd->count > BEHEMOTH_HERD_MAX ||
        head.bytes != FIXED + herd->count * sizeof *herd->all ||
        (uint64_t)status.st_size != sizeof head + head.bytes)
        return false;
    size_t count = (size_t)herd->count;
    return herd_allocate(herd) && fread(herd->all, sizeof *herd->all, count, file) == count &&
           sum_of(herd) == head.sum && is_sensible(herd);
}

enum state_result state_load(struct herd *herd, const char *path)
{
    struct herd saved = {0};
    /* without O_NONBLOCK, opening a pipe could block for ever */
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? STATE_NONE : STATE_FAILED;
    FILE *file = fdopen(fd, "r");
    bool good = file && read_herd(&saved, file);
    if (file)
        fclose(file);
    if (good)
        *herd = saved;
    else
        herd_end(&saved);
    return good ? STATE_DONE : STATE_DAMAGED;
}
