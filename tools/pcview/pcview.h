/* SPDX-License-Identifier: MIT */
/* What the parts of pcview share: what was asked, what was found, and where it is shown. */
#ifndef OPL_TOOLS_PCVIEW_H
#define OPL_TOOLS_PCVIEW_H

#include "../common/options.h"
#include "../view/view.h"

enum { WANTED_INDICES = 32, MAX_WANTED = 64, SAMPLE_MILLISECONDS = 250 };
enum { TITLE_LINES = 4, TITLE_ROOM = 48 };

/* One OBJECT of the command line: "Process", "230", "Process(bash*)". */
struct wanted {
    const char *text;
    char title[256];
    const char *instances; /* a pattern, NULL: all */
    uint32_t indices[WANTED_INDICES];
    size_t index_count;
    bool found;
    bool matched; /* an instance was shown */
};

/* Escape sequences, all "" without colours. */
struct style {
    const char *strong, *weak, *title, *good, *warn, *bad, *reverse, *off;
};

struct pcview {
    FILE *out;
    int width;
    bool terminal, utf8, colours;
    struct style style;
    const char *language;
    const char *blocks[2]; /* --block: the older one first */
    int block_count;
    const char *save;
    const char *machine; /* NULL: this one */
    bool counters, values, explain, hex, json, watch, names_only;
    bool paths;      /* the words are paths of counters */
    unsigned events; /* --events: how many */
    double seconds;
    struct wanted wanted[MAX_WANTED];
    size_t wanted_count;
    struct names names;
    LSTATUS names_status;
    struct picture now, before;
    bool has_before;
};

/* ---- find.c: from words to objects ---- */
void find_indices(const struct names *names, struct wanted *wanted);
/* The query for HKEY_PERFORMANCE_DATA; malloc. NULL: none of the words has an index. */
char *find_query(const struct pcview *view);
/* Marks what the current picture answers; true: all was found. */
bool find_mark(struct pcview *view);
/* The wish that this object fulfils; NULL: it was not asked for. With no wishes at all:
 * *ret_all. */
struct wanted *find_wish(struct pcview *view, const opl_object_view *object, bool *ret_all);
/* Says on stderr what is missing and what is similar. */
void find_report(struct pcview *view);
/* Says on stderr which instance patterns matched nothing; false: there are such. */
bool find_matched(const struct pcview *view);
/* Is this instance among those wished for? */
bool find_instance(struct wanted *wish, const struct view_object *object,
                   const struct view_instance *instance);

/* ---- registered.c: what the registry promises ---- */
struct registered {
    uint32_t index;
    const char *service;
    bool enabled;
};
/* Calls back for every object of every service's list. */
void registered_each(void (*each)(void *self, const struct registered *object), void *self);
/* The objects of the service of this name; how many there are of them. */
size_t registered_objects(const char *service, uint32_t *indices, size_t room);
/* Who promises this object? false: nobody, or the service's name does not fit. */
bool registered_by(uint32_t index, char *service, size_t room, bool *ret_enabled);

/* ---- paths.c: counters by their paths ---- */
/* Is the word the path of counters, not an object's name? */
bool path_is(const char *word);
/* Prints what the words, which are paths, stand for; an exit code. */
int paths_print(struct pcview *view);

/* ---- events.c ---- */
/* Prints the last events of the log; an exit code. */
int events_print(struct pcview *view);

/* ---- what is printed ---- */
void list_objects(struct pcview *view);
void list_names(struct pcview *view);
/* Both say that there was not enough memory and return false. */
bool show_objects(struct pcview *view);
bool json_objects(struct pcview *view);
void hex_objects(struct pcview *view);
void show_values(struct pcview *view, const struct view_object *object, struct wanted *wish);

/* ---- words.c ---- */
const char *level_word(DWORD level);
/* "PERF_COUNTER_COUNTER", "" if it has no name */
const char *type_word(const struct view_counter *counter);
/* "DWORD COUNTER RATE TIMER_TICK DELTA_COUNTER /sec" */
void type_fields(const struct view_counter *counter, char *out, size_t room);
/* "2026-11-21 16:36:12" of the block's SystemTime */
void block_time(const opl_block *block, char *out, size_t room);
void block_system(const opl_block *block, char *out, size_t room);
struct style style_make(bool colours);
/* Cuts a title into lines of at most `width` columns where its blanks allow; how many lines. */
size_t title_lines(const char *title, int width, char lines[TITLE_LINES][TITLE_ROOM]);

/* ---- watch.c ---- */
int watch_run(struct pcview *view);

#endif
