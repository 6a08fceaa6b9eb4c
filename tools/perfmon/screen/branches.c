/* SPDX-License-Identifier: MIT */
/* Trees: of things that name their parents, and of instances whose names begin with their parent's
 * name, as "bash/0" or "mother/child". */
#include "screen.h"

#include <stdlib.h>
#include <string.h>

enum { INDENT = 2, NAME_WIDTH = 8, LEVELS = 64 };

size_t branches_walk(const struct branch *branches, size_t first, struct place *ret)
{
    uint64_t bars = 0;
    unsigned depth = 0;
    size_t at = first, count = 0;
    while (at != NOWHERE) {
        uint64_t bit = depth < LEVELS ? (uint64_t)1 << depth : 0;
        bars = branches[at].next != NOWHERE ? bars | bit : bars & ~bit;
        ret[count++] = (struct place){at, depth, bars};
        if (branches[at].child != NOWHERE) {
            at = branches[at].child;
            depth++;
            continue;
        }
        while (at != NOWHERE && branches[at].next == NOWHERE) {
            at = branches[at].parent;
            depth--;
        }
        at = at == NOWHERE ? NOWHERE : branches[at].next;
    }
    return count;
}

void branch_prefix(unsigned depth, uint64_t bars, bool utf8, int width, char *ret, size_t capacity)
{
    /* if the name column is too narrow, the outermost levels are not drawn */
    unsigned most = width > NAME_WIDTH ? (unsigned)(width - NAME_WIDTH) / INDENT : 0;
    unsigned level = depth > most ? depth - most : 0;
    size_t used = 0;
    *ret = 0;
    while (level++ < depth) {
        bool more = level < LEVELS && bars >> level & 1, own = level == depth;
        const char *fancy = own ? more ? "\u251c\u2500" : "\u2514\u2500" : more ? "\u2502 " : "  ";
        const char *simple = own ? more ? "|-" : "`-" : more ? "| " : "  ";
        if (used < capacity)
            used += (size_t)snprintf(ret + used, capacity - used, "%s", utf8 ? fancy : simple);
    }
}

/* ---- folding ---- */

bool identities_have(const struct identities *identities, uint64_t identity)
{
    for (size_t i = 0; i < identities->count; i++)
        if (identities->of[i] == identity)
            return true;
    return false;
}

void identities_toggle(struct identities *identities, uint64_t identity)
{
    for (size_t i = 0; i < identities->count; i++)
        if (identities->of[i] == identity) {
            identities->of[i] = identities->of[--identities->count];
            return;
        }
    uint64_t *of = realloc(identities->of, (identities->count + 1) * sizeof *of);
    if (!of)
        return;
    of[identities->count++] = identity;
    identities->of = of;
}

size_t branches_fold(struct place *places, size_t count, const struct identities *folded,
                     uint64_t (*identity)(const void *, const struct place *), const void *context)
{
    size_t used = 0;
    for (size_t i = 0; i < count;) {
        struct place place = places[i++];
        bool parent = i < count && places[i].depth > place.depth;
        bool fold = parent && identities_have(folded, identity(context, &place));
        for (; fold && i < count && places[i].depth > place.depth; i++)
            place.hidden += !places[i].heading;
        places[used++] = place;
    }
    return used;
}

bool branches_key(int key)
{
    return key == '-' || key == '+' || key == '=' || key == '*';
}

uint64_t branches_identity(const char *name, bool heading)
{
    uint64_t sum = heading;
    for (size_t i = heading ? parent_length(name) : strlen(name); i-- > 0;)
        sum = (sum ^ (unsigned char)name[i]) * 0x100000001b3;
    return sum;
}

/* ---- instances ---- */

size_t parent_length(const char *name)
{
    size_t length = strcspn(name, "/");
    const char *own = name + length + 1;
    bool total = name[length] && !strncmp(own, name, length) && !own[length]; /* "_Total/_Total" */
    return name[length] && *own && !total ? length : 0;
}

const char *own_name(const char *name)
{
    size_t length = parent_length(name);
    return length ? name + length + 1 : name;
}

static int compare_own(const void *left, const void *right, void *names)
{
    const char *const *of = names;
    size_t l = *(const size_t *)left, r = *(const size_t *)right;
    int order = strcmp(own_name(of[l]), own_name(of[r]));
    return order ? order : (l > r) - (l < r);
}

/* Compares the name of the parent of `name` with another name. */
static int compare_parent(const char *name, const char *other)
{
    size_t length = parent_length(name);
    int order = strncmp(name, other, length);
    return order ? order : other[length] ? -1 : 0;
}

/* Returns the position of the first instance with the name of the parent of `name`; NOWHERE: the
 * object has none. `order`: the positions, sorted by own names. */
static size_t find_parent(const char *const *names, const size_t *order, size_t count,
                          const char *name)
{
    size_t low = 0, high = parent_length(name) ? count : 0, found = NOWHERE;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int side = compare_parent(name, own_name(names[order[middle]]));
        if (side == 0)
            found = order[middle];
        if (side > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return found;
}

/* True if the parents of an instance lead back to it, or are too many. */
static bool is_circle(const struct branch *branches, size_t at)
{
    size_t parent = branches[at].parent;
    for (int i = 0; i < LEVELS && parent != NOWHERE && parent != at; i++)
        parent = branches[parent].parent;
    return parent != NOWHERE;
}

static int compare_parents(const void *left, const void *right, void *names)
{
    const char *const *of = names;
    size_t l = *(const size_t *)left, r = *(const size_t *)right;
    size_t one = parent_length(of[l]), two = parent_length(of[r]);
    int order = strncmp(of[l], of[r], one < two ? one : two);
    order = order ? order : (one > two) - (one < two);
    return order ? order : (l > r) - (l < r);
}

/* Makes headings for parents that are no instances of the object. Until link_names, a heading's
 * parent is the position of its first child. `order`: memory for positions. */
static void add_headings(const char *const *names, size_t count, struct branch *branches,
                         size_t *order)
{
    size_t orphans = 0, headings = 0;
    for (size_t i = 0; i < count; i++)
        if (branches[i].parent == NOWHERE && parent_length(names[i]))
            order[orphans++] = i;
    qsort_r(order, orphans, sizeof *order, compare_parents, (void *)names);
    for (size_t i = 0; i < orphans; i++) {
        const char *name = names[order[i]], *before = i ? names[order[i - 1]] : "";
        size_t length = parent_length(name);
        if (length != parent_length(before) || strncmp(name, before, length) != 0)
            branches[count + headings++] = (struct branch){order[i], NOWHERE, NOWHERE, false};
        branches[order[i]].parent = count + headings - 1;
    }
}

/* Links the instances to their parents in the order of the names; a heading comes where its first
 * child would. Returns the first root. */
static size_t link_names(struct branch *branches, size_t count)
{
    size_t first = NOWHERE;
    for (size_t i = count; i-- > 0;) {
        size_t parent = branches[i].parent;
        size_t *link = parent == NOWHERE ? &first : &branches[parent].child;
        branches[i].next = *link;
        *link = i;
        if (parent == NOWHERE || parent < count || branches[parent].parent != i)
            continue;
        branches[parent] = (struct branch){NOWHERE, i, first, false};
        first = parent;
    }
    return first;
}

size_t branches_of_names(const char *const *names, size_t count, bool headings, struct place **ret)
{
    size_t used = 0;
    struct branch *branches = calloc(2 * count + 1, sizeof *branches);
    size_t *order = calloc(count + 1, sizeof *order);
    *ret = calloc(2 * count + 1, sizeof **ret);
    if (branches && order && *ret) {
        for (size_t i = 0; i < count; i++)
            order[i] = i;
        qsort_r(order, count, sizeof *order, compare_own, (void *)names);
        for (size_t i = 0; i < count; i++)
            branches[i] = (struct branch){find_parent(names, order, count, names[i]), NOWHERE,
                                          NOWHERE, false};
        for (size_t i = 0; i < count; i++)
            if (is_circle(branches, i))
                branches[i].parent = NOWHERE;
        if (headings)
            add_headings(names, count, branches, order);
        used = branches_walk(branches, link_names(branches, count), *ret);
        for (size_t i = 0; i < used; i++) {
            struct place *place = &(*ret)[i];
            place->heading = place->at >= count;
            place->at = place->heading ? branches[place->at].child : place->at;
        }
    }
    free(branches);
    free(order);
    return used;
}
