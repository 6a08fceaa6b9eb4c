/* SPDX-License-Identifier: MIT */
/* All objects, their counters and instances as a tree, with a search and with explanations;
 * counters that are added here are shown in the chart. */
#include "screen.h"

#include "keys.h"

#include <pdh.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { ESCAPE = 27, EXPLAIN_LINES = 5, INSTANCES_SHOWN = 200 };
enum { NOTHING = -1 };

/* A row of the tree: an object, one of its counters, or one of the instances for that counter. */
struct node {
    int object, counter, instance;
    /* for an instance: its place in the tree; a heading is a parent that is no instance */
    struct place place;
};

struct tree {
    struct catalogue *catalogue;
    struct node *nodes; /* the rows that are shown */
    size_t count, capacity;
    struct cursor cursor;
    /* the object and the counter whose children are shown; NOTHING: none */
    int open_object, open_counter;
    struct identities folded; /* instances with others below them, of all objects */
    struct field filter;
};

struct tree *tree_new(const char *machine, const char *files, int64_t time)
{
    struct tree *tree = calloc(1, sizeof *tree);
    if (!tree)
        return NULL;
    *tree = (struct tree){.open_object = NOTHING, .open_counter = NOTHING};
    tree->catalogue = catalogue_new(machine, files, time);
    if (tree->catalogue)
        return tree;
    free(tree);
    return NULL;
}

void tree_go(struct tree *tree, int64_t time)
{
    catalogue_go(tree->catalogue, time);
}

void tree_free(struct tree *tree)
{
    catalogue_free(tree->catalogue);
    free(tree->folded.of);
    free(tree->nodes);
    free(tree);
}

/* ---- what is shown ---- */

static void add_node(struct tree *tree, int object, int counter, int instance)
{
    if (tree->count == tree->capacity) {
        size_t capacity = tree->capacity ? 2 * tree->capacity : 256;
        struct node *nodes = realloc(tree->nodes, capacity * sizeof *nodes);
        if (!nodes)
            return;
        tree->nodes = nodes;
        tree->capacity = capacity;
    }
    tree->nodes[tree->count++] = (struct node){object, counter, instance, {0}};
}

/* Returns the identity of an instance or heading among the folded ones: that of the names of its
 * object and of itself. */
static uint64_t identity_of(const void *context, const struct place *place)
{
    const struct catalogue_object *object = context;
    const char *name = object->instances[place->at];
    return 31 * branches_identity(object->name, false) + branches_identity(name, place->heading);
}

static void add_counter(struct tree *tree, const struct catalogue_object *object, int o, int c)
{
    add_node(tree, o, c, NOTHING);
    if (tree->open_object != o || tree->open_counter != c)
        return;
    struct place *places;
    size_t count = branches_of_names(object->instances, object->instance_count, true, &places);
    count = branches_fold(places, count, &tree->folded, identity_of, object);
    for (size_t i = 0, before; i < count && i < INSTANCES_SHOWN; i++) {
        before = tree->count;
        add_node(tree, o, c, (int)places[i].at);
        if (tree->count > before)
            tree->nodes[before].place = places[i];
    }
    free(places);
}

/* Returns where the filter is found best in the object and its counters. */
static enum catalogue_rank best_rank(const struct tree *tree, const struct catalogue_object *object)
{
    enum catalogue_rank best = catalogue_rank(object, NULL, tree->filter.text);
    for (size_t c = 0; c < object->counter_count && best > RANK_OBJECT; c++) {
        enum catalogue_rank rank = catalogue_rank(object, &object->counters[c], tree->filter.text);
        best = rank < best ? rank : best;
    }
    return best;
}

/* Adds the object and its counters, if it is open; in a search, those that match. */
static void add_object(struct tree *tree, const struct catalogue_object *object, int o)
{
    const char *text = tree->filter.text;
    bool open = tree->open_object == o;
    bool all = open || (*text && catalogue_rank(object, NULL, text) == RANK_NONE);
    add_node(tree, o, NOTHING, NOTHING);
    for (size_t c = 0; c < object->counter_count && all; c++)
        if (!*text || catalogue_rank(object, &object->counters[c], text) < RANK_NONE)
            add_counter(tree, object, o, (int)c);
}

/* Makes the rows: all objects, and the counters of the open object; in a search, the counters that
 * match, below their objects, of which those that match best come first. */
static void make_nodes(struct tree *tree)
{
    size_t ready;
    catalogue_count(tree->catalogue, &ready);
    enum catalogue_rank *ranks = calloc(ready + 1, sizeof *ranks);
    tree->count = 0;
    for (size_t o = 0; ranks && o < ready; o++)
        ranks[o] = best_rank(tree, catalogue_object(tree->catalogue, o));
    for (enum catalogue_rank rank = RANK_OBJECT; ranks && rank < RANK_NONE; rank++)
        for (size_t o = 0; o < ready; o++)
            if (ranks[o] == rank)
                add_object(tree, catalogue_object(tree->catalogue, o), (int)o);
    free(ranks);
}

/* Returns the name of an instance or heading in the tree, and its length. */
static const char *instance_name(const struct tree *tree, const struct node *node, int *ret_length)
{
    const char *name =
        catalogue_object(tree->catalogue, (size_t)node->object)->instances[node->instance];
    *ret_length = (int)(node->place.heading ? parent_length(name) : strlen(name));
    return name;
}

/* Moves the cursor to the row of the instance `name`, which was `at` before the rows were made
 * again; if there are several, to the nearest one. */
static void select_again(struct tree *tree, const struct node *at, const char *name, int length)
{
    size_t old = tree->cursor.at, least = tree->count;
    for (size_t i = 0; i < tree->count; i++) {
        const struct node *node = &tree->nodes[i];
        size_t distance = i < old ? old - i : i - old;
        int other;
        if (distance < least && node->instance != NOTHING && node->object == at->object &&
            node->place.heading == at->place.heading &&
            !strncmp(instance_name(tree, node, &other), name, (size_t)length) && other == length) {
            tree->cursor.at = i;
            least = distance;
        }
    }
}

/* Takes over the instances that the visible objects have now (of costly objects, the open one), and
 * makes the rows; the selection stays on the same instance. */
static void renew_nodes(struct tree *tree)
{
    char name[PDH_MAX_INSTANCE_NAME];
    struct node at = {NOTHING, NOTHING, NOTHING, {0}};
    struct cursor *cursor = &tree->cursor;
    int length = 0;
    if (cursor->at < tree->count)
        at = tree->nodes[cursor->at];
    if (at.instance != NOTHING)
        snprintf(name, sizeof name, "%s", instance_name(tree, &at, &length));
    for (size_t i = cursor->first; i < tree->count && i < cursor->first + cursor->page; i++) {
        int of = tree->nodes[i].object;
        bool wanted =
            of == tree->open_object || !catalogue_object(tree->catalogue, (size_t)of)->costly;
        if (wanted && (i == cursor->first || tree->nodes[i - 1].object != of))
            catalogue_watch(tree->catalogue, (size_t)of);
    }
    make_nodes(tree);
    if (at.instance != NOTHING)
        select_again(tree, &at, name, length);
}

/* ---- drawing ---- */

static void draw_object(const struct tree *tree, struct canvas *canvas, int row, int number)
{
    const struct catalogue_object *object = catalogue_object(tree->catalogue, (size_t)number);
    const char *mark = tree->open_object == number ? "-" : "+";
    int used =
        canvas_print(canvas, row, 0, canvas->columns, STYLE_TITLE, "%s %s", mark, object->name);
    if (object->why)
        canvas_text(canvas, row, used + 2, canvas->columns - used - 2, STYLE_WARN,
                    local("does not answer"));
    else if (!object->single)
        used += 2 + canvas_print(canvas, row, used + 2, canvas->columns - used - 2, STYLE_WEAK,
                                 object->instance_count == 1 ? "%zu instance" : "%zu instances",
                                 object->instance_count);
    if (object->costly && !object->why)
        canvas_text(canvas, row, used + 2, canvas->columns - used - 2, STYLE_WEAK, local("costly"));
}

static void draw_node(const struct tree *tree, struct canvas *canvas, int row,
                      const struct node *node)
{
    const struct catalogue_object *object = catalogue_object(tree->catalogue, (size_t)node->object);
    if (node->counter == NOTHING) {
        draw_object(tree, canvas, row, node->object);
    } else if (node->instance == NOTHING) {
        const struct catalogue_counter *counter = &object->counters[node->counter];
        const char *type = counter->unit.type.name;
        int used = canvas_text(canvas, row, 4, canvas->columns - 4, STYLE_PLAIN, counter->name);
        if (counter->raw)
            canvas_print(canvas, row, 6 + used, canvas->columns - 6 - used, STYLE_WEAK, "%s%s",
                         counter->text ? local("text") : local("raw: "),
                         counter->text ? ""
                         : type        ? type
                                       : local("a type without a name"));
    } else {
        char prefix[256];
        const struct place *place = &node->place;
        int length;
        const char *name = instance_name(tree, node, &length);
        branch_prefix(place->depth, place->bars, canvas->utf8, canvas->columns / 2, prefix,
                      sizeof prefix);
        if (place->depth) {
            length -= (int)(own_name(name) - name);
            name = own_name(name);
        }
        int used = 8 + canvas_print(canvas, row, 8, canvas->columns - 8, STYLE_PLAIN, "%s%.*s",
                                    prefix, length, name);
        if (place->hidden)
            canvas_print(canvas, row, used, canvas->columns - used, STYLE_PLAIN, " (+%u)",
                         place->hidden);
    }
}

static void draw_explanation(const struct tree *tree, struct canvas *canvas, int row)
{
    if (tree->cursor.at >= tree->count)
        return;
    const struct node *node = &tree->nodes[tree->cursor.at];
    const struct catalogue_object *object = catalogue_object(tree->catalogue, (size_t)node->object);
    const char *explain =
        node->counter == NOTHING ? object->explain : object->counters[node->counter].explain;
    char why[REASON_SIZE], costly[2 * REASON_SIZE];
    snprintf(why, sizeof why, local("It %s"), object->why ? object->why : "");
    explain = explain ? explain : local("There is no explanation.");
    if (object->costly && node->counter == NOTHING) {
        snprintf(costly, sizeof costly, "%s %s",
                 local("Costly: it takes longer to read than other objects, and is read only while "
                       "something of it is shown."),
                 explain);
        explain = costly;
    }
    for (int c = 0; c < canvas->columns; c++)
        canvas_put(canvas, row, c, STYLE_WEAK, canvas->utf8 ? 0x2500 : L'-');
    canvas_wrap(canvas, row + 1, 1, canvas->columns - 2, EXPLAIN_LINES - 1, STYLE_PLAIN,
                object->why ? why : explain);
}

static bool is_filtered(const struct tree *tree)
{
    return tree->filter.open || *tree->filter.text;
}

/* Draws how many objects have been read. False: all have. */
static bool draw_reading(const struct tree *tree, struct canvas *canvas, int row)
{
    size_t ready, count = catalogue_count(tree->catalogue, &ready);
    if (ready < count || !count)
        canvas_print(canvas, row, 0, canvas->columns, STYLE_WEAK, "reading %zu of %zu objects",
                     ready, count);
    return ready < count || !count;
}

static void draw_title(const struct tree *tree, struct canvas *canvas, int row)
{
    size_t ready;
    if (is_filtered(tree))
        canvas_print(canvas, row, 0, canvas->columns, STYLE_TITLE, "search: %s%s   %s",
                     tree->filter.text, tree->filter.open ? "_" : "", local("Escape shows all"));
    else if (!draw_reading(tree, canvas, row))
        canvas_print(canvas, row, 0, canvas->columns, STYLE_WEAK,
                     "%zu objects   / search   right: open   Enter: add to the chart   o: table",
                     catalogue_count(tree->catalogue, &ready));
}

/* Draws why a search has found nothing. */
static void draw_no_match(const struct tree *tree, struct canvas *canvas)
{
    if (!tree->count && is_filtered(tree) && !draw_reading(tree, canvas, tree->cursor.row) &&
        *tree->filter.text)
        canvas_text(canvas, tree->cursor.row, 0, canvas->columns, STYLE_WEAK,
                    local("nothing matches the filter"));
}

void tree_draw(struct tree *tree, struct canvas *canvas, int row, int last)
{
    renew_nodes(tree);
    draw_title(tree, canvas, row);
    int end = last - row > 2 * EXPLAIN_LINES ? last - EXPLAIN_LINES : last;
    cursor_fit(&tree->cursor, tree->count, end - row > 1 ? (size_t)(end - row - 1) : 1);
    tree->cursor.row = row + 1;
    for (size_t i = tree->cursor.first; i < tree->count && ++row < end; i++) {
        draw_node(tree, canvas, row, &tree->nodes[i]);
        if (i == tree->cursor.at)
            canvas_style(canvas, row, 0, canvas->columns, STYLE_SELECTED);
    }
    draw_no_match(tree, canvas);
    if (end < last)
        draw_explanation(tree, canvas, end);
}

/* ---- keys ---- */

static void open_node(struct tree *tree, const struct node *node)
{
    if (node->counter == NOTHING) {
        tree->open_object = node->object;
        tree->open_counter = NOTHING;
    } else if (node->instance == NOTHING) {
        tree->open_object = node->object;
        tree->open_counter = node->counter;
    }
}

/* Closes the open counter or object, and selects it. */
static void close_node(struct tree *tree)
{
    struct node to = tree->nodes[tree->cursor.at];
    if (to.instance != NOTHING || tree->open_counter == to.counter) {
        tree->open_counter = NOTHING;
        to.counter = to.instance == NOTHING ? NOTHING : to.counter;
    } else {
        tree->open_object = NOTHING;
        to.counter = NOTHING;
    }
    make_nodes(tree);
    for (size_t i = 0; i < tree->count; i++)
        if (tree->nodes[i].object == to.object && tree->nodes[i].counter == to.counter &&
            tree->nodes[i].instance == NOTHING)
            tree->cursor.at = i;
}

/* Folds the selected parent, or unfolds it; an instance that has nothing to fold leads to its
 * parent. */
static void fold(struct tree *tree, bool open)
{
    size_t at = tree->cursor.at;
    const struct node *node = &tree->nodes[at];
    const struct place *place = &node->place;
    if (node->instance == NOTHING)
        return;
    bool parent = at + 1 < tree->count && node[1].place.depth > place->depth;
    if (open ? place->hidden > 0 : parent)
        identities_toggle(
            &tree->folded,
            identity_of(catalogue_object(tree->catalogue, (size_t)node->object), place));
    else if (!open && place->depth)
        while (tree->nodes[tree->cursor.at].place.depth >= place->depth)
            tree->cursor.at--;
}

/* Adds the counter to the chart, for all instances or for the selected one. */
static void add_selected(struct tree *tree, struct window *window, bool all)
{
    char path[PDH_MAX_COUNTER_PATH], name[PDH_MAX_INSTANCE_NAME];
    const struct node *node = &tree->nodes[tree->cursor.at];
    if (node->counter == NOTHING) {
        open_node(tree, node);
        return;
    }
    const struct catalogue_object *object = catalogue_object(tree->catalogue, (size_t)node->object);
    int length = 1;
    const char *instance = node->instance == NOTHING ? "*" : instance_name(tree, node, &length);
    snprintf(name, sizeof name, "%.*s%s", length, instance, node->place.heading ? "/*" : "");
    catalogue_path(object, name, object->counters[node->counter].name, path, sizeof path);
    window_choose_counter(window, path, all);
}

static void open_table(const struct tree *tree, struct window *window)
{
    const struct catalogue_object *object =
        catalogue_object(tree->catalogue, (size_t)tree->nodes[tree->cursor.at].object);
    if (object->counter_count)
        window_open_object(window, object, NULL);
    else
        window_report(window, "%s does not answer", object->name);
}

/* Handles the keys for the selected row. */
static bool node_key(struct tree *tree, int key, struct window *window)
{
    if (key == 'a' || key == 'A' || cursor_enter(&tree->cursor, key))
        add_selected(tree, window, key == 'A');
    else if (key == KEY_RIGHT || key == 'l')
        open_node(tree, &tree->nodes[tree->cursor.at]);
    else if (key == KEY_LEFT)
        close_node(tree);
    else if (key == 'o')
        open_table(tree, window);
    else if (key == '*')
        tree->folded.count = 0;
    else if (branches_key(key))
        fold(tree, key != '-');
    else
        return false;
    return true;
}

bool tree_key(struct tree *tree, int key, struct window *window)
{
    if (field_key(&tree->filter, key)) {
        tree->cursor = (struct cursor){.page = 1};
        tree->open_object = tree->open_counter = NOTHING;
        return true;
    }
    if (cursor_key(&tree->cursor, key))
        return true;
    if (tree->cursor.at < tree->count && node_key(tree, key, window))
        return true;
    if (key == ESCAPE)
        tree->filter.text[0] = 0;
    return key == ESCAPE || field_search_key(&tree->filter, key);
}
