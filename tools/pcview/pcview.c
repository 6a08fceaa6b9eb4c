/* SPDX-License-Identifier: MIT */
/*
 * pcview: shows performance blocks, live or saved: lists objects, shows one object with its
 * counters, types, instances and values, dumps the bytes, or writes JSON. It has no built-in
 * knowledge of any object.
 */
#include "pcview.h"
#include "../common/beside.h"
#include "../common/last-event.h"
#include "../common/machine-message.h"
#include "../common/machines.h"
#include "../common/missing.h"
#include "../common/status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <openperflib/load.h>
#include <winerror.h>

enum { EVENTS_SHOWN = 20, EVENTS_MOST = 100000 };
enum { PLAIN_WIDTH = 100, LEAST_WIDTH = 60 };

static const char more[] =
    "OBJECT is a name in English or any installed language, or an index; Process(b*)\n"
    "shows only the instances that match. Without OBJECT, all objects are listed.\n"
    "Counters are also shown by their PATH, through PDH: '\\Object(instance)\\Counter', or\n"
    "'Object(instance)::Counter', each part of which may be a pattern.\n"
    "\n"
    "Examples:\n"
    "  pcview                          list all objects\n"
    "  pcview Processor                everything about the processors\n"
    "  pcview -v 'Process(bash)'       the values of one process\n"
    "  pcview 'Processor(*)::% Processor Time'\n"
    "                                  one counter of every processor\n"
    "  pcview --save now.perf 2 4      save the bytes of System and Memory\n"
    "  pcview --block now.perf --hex   show them later\n"
    "  pcview --watch Process          watch the processes, with perfmon\n"
    "\n"
    "Exit codes: 0 success, 1 failure or damage, 2 usage, 3 an object is missing.\n";

static const struct tool tool = {
    .name = "pcview",
    .summary = "Show performance objects: counters, types, instances, values.",
    .usage = "[OPTION]... [OBJECT]...\n[--json] PATH...\n--watch[=SECONDS] [OBJECT]\n--events[=N]",
    .rows = pcview_rows,
    .more = more,
    .complete_args = "@objects",
};

static bool take_language(struct pcview *view, const char *text)
{
    static char language[8];
    size_t size = strlen(text);
    if (size == 0 || size > 4 || strspn(text, "0123456789abcdefABCDEF") != size)
        return false;
    snprintf(language, sizeof language, "%03lX", strtoul(text, NULL, 16));
    view->language = language;
    return true;
}

static bool take_seconds(struct pcview *view, const char *text)
{
    char *end = NULL;
    double seconds = text ? strtod(text, &end) : 1;
    view->seconds = text ? text : view->seconds;
    return !text || (end != text && !*end && seconds >= 0.1 && seconds <= 3600);
}

static bool take_events(struct pcview *view, const char *text)
{
    char *end = NULL;
    unsigned long count = text ? strtoul(text, &end, 10) : EVENTS_SHOWN;
    view->events = (unsigned)count;
    return !text || (end != text && !*end && count > 0 && count <= EVENTS_MOST);
}

static bool take_word(struct pcview *view, const char *text)
{
    if (view->wanted_count == MAX_WANTED)
        return false;
    view->wanted[view->wanted_count++].text = text;
    return true;
}

static int take_block(struct pcview *view, const struct options *options)
{
    if (view->block_count == 2)
        return options_complain(options, "%s may be given at most twice, to compare two blocks",
                                options->spelled);
    view->blocks[view->block_count++] = options->value;
    return EXIT_GOOD;
}

static int take_option(struct pcview *view, const struct options *options, int id)
{
    if (id == OPTION_SET)
        return options_set(options, view);
    if (id == BLOCK)
        return take_block(view, options);
    if (id == OPTION_ARGUMENT && !take_word(view, options->value))
        return options_complain(options, "more than %d objects", MAX_WANTED);
    if (id == LANGUAGE && !take_language(view, options->value))
        return options_complain(options, "not a language id like 009 or 019: %s", options->value);
    if ((id == WATCH || id == INTERVAL) && !take_seconds(view, options->value))
        return options_complain(options, "not a number of seconds from 0.1 to 3600: %s",
                                options->value);
    if (id == EVENTS && !take_events(view, options->value))
        return options_complain(options, "not a number from 1 to %d: %s", EVENTS_MOST,
                                options->value);
    view->watch |= id == WATCH;
    return EXIT_GOOD;
}

/* True if an option needs blocks or definitions. */
static bool shows_blocks(const struct pcview *view)
{
    return view->hex || view->save || view->watch || view->events || view->counters ||
           view->explain || view->names_only || view->block_count || view->values ||
           strcmp(view->language, "009") != 0;
}

/* Checks the options for counter paths, which PDH reads: there are no blocks or definitions. */
static int check_paths(struct pcview *view, const struct options *options)
{
    size_t paths = 0;
    for (size_t i = 0; i < view->wanted_count; i++)
        paths += path_is(view->wanted[i].text);
    view->paths = paths > 0;
    if (paths && paths < view->wanted_count)
        return options_complain(options, "use either counter paths or objects, not both");
    if (paths && shows_blocks(view))
        return options_complain(options, "with counter paths only --json and -m are allowed");
    return EXIT_GOOD;
}

static int check_options(const struct pcview *view, const struct options *options)
{
    int outputs = view->hex + view->json + view->watch + (view->save != NULL) + (view->events != 0);
    if (outputs > 1)
        return options_complain(options,
                                "only one of --hex, --json, --save, --watch, --events can be used");
    if (view->watch && view->block_count)
        return options_complain(options, "--watch cannot be used with a saved block");
    if (view->seconds && !view->watch)
        return options_complain(options, "--interval needs --watch");
    if (view->watch && strcmp(view->language, "009") != 0)
        return options_complain(options, "--watch cannot be used with --language; it shows names "
                                         "in the language of LC_MESSAGES");
    if (view->machine && (view->block_count || view->events))
        return options_complain(options,
                                "--block and --events cannot be used with another machine");
    if (view->watch && view->wanted_count > 1)
        return options_complain(options,
                                "--watch takes one object; '%s' was the second (an interval is "
                                "written --watch=SECONDS or -wSECONDS)",
                                view->wanted[1].text);
    return EXIT_GOOD;
}

/* Fills the view from the command line; -1: continue, else the exit code. */
static int read_options(struct pcview *view, int argc, char **argv)
{
    struct options options;
    int id = options_begin(&options, &tool, argc, argv);
    while (id > 0 && (id = options_next(&options)) > 0) {
        int code = take_option(view, &options, id);
        if (code)
            return code;
    }
    if (id < 0)
        return options_status(id);
    int code = check_options(view, &options);
    if (!code)
        code = check_paths(view, &options);
    return code ? code : -1;
}

static void look_at_output(struct pcview *view)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    view->utf8 = text_begin();
    view->terminal = status_terminal(STDOUT_FILENO);
    view->colours = status_colours(STDOUT_FILENO);
    view->style = style_make(view->colours);
    view->width = columns && atoi(columns) > 0 ? atoi(columns) : PLAIN_WIDTH;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col) /* dumb terminals have a
                                                                      * size too */
        view->width = size.ws_col;
    view->width = view->width < LEAST_WIDTH ? LEAST_WIDTH : view->width;
}

/* Prints a text without trailing blanks, which only a terminal's colours need. */
static void print_trimmed(const char *text, FILE *out)
{
    while (*text) {
        size_t count = strcspn(text, "\n"), shown = count;
        while (shown && text[shown - 1] == ' ')
            shown--;
        fwrite(text, 1, shown, out);
        if (text[count])
            fputc('\n', out);
        text += count + (text[count] != 0);
    }
}

/* Output that is not for a terminal, which is buffered to remove trailing blanks. */
static char *collected;
static size_t collected_size;

static void output_begin(struct pcview *view)
{
    view->out = NULL;
    if (!view->terminal && !view->json)
        view->out = open_memstream(&collected, &collected_size);
    if (!view->out)
        view->out = stdout;
}

/* Ends the output. False: the output could not be written, which is reported once. */
static bool output_end(struct pcview *view)
{
    static bool reported;
    if (view->out != stdout && fclose(view->out) == 0) {
        print_trimmed(collected, stdout);
        free(collected);
    }
    view->out = stdout;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    if (!reported)
        fprintf(stderr, "pcview: cannot write: %s\n", strerror(errno));
    reported = true;
    return false;
}

static void load_names(struct pcview *view)
{
    view->names_status = names_load(&view->names, view->language);
    if (view->names_status)
        fprintf(stderr,
                "pcview: the names cannot be read (error %d); numbers are shown instead.\n"
                "OPENPERFLIB_TRACE=1 shows which step of the query fails.\n",
                (int)view->names_status);
    else if (view->names.english.count == 0)
        last_event_no_names("pcview");
    else if (names_fell_back(&view->names))
        fprintf(stderr, "pcview: there are no names in language %s; English is used.\n",
                text_seen(view->language));
    else
        view_unit_language(view->language);
    for (size_t i = 0; i < view->wanted_count; i++)
        find_indices(&view->names, &view->wanted[i]);
}

/* Reports damage in the block. `usable`: a part of it could be read and is shown. */
static void report_damage(const struct pcview *view, bool usable)
{
    const char *what =
        view->block_count ? text_seen(view->blocks[view->block_count - 1]) : "the answer";
    if (!usable && view->block_count &&
        missing_is_capture("pcview", view->blocks[view->block_count - 1]))
        return;
    if (!usable)
        fprintf(stderr, "pcview: %s cannot be read as a performance block: %s\n", what,
                opl_block_fault_text(view->now.fault));
    else if (view->now.fault == OPL_BLOCK_SHORT)
        fprintf(stderr, "pcview: %s is truncated at offset 0x%zx; its header announces %u bytes\n",
                what, view->now.size, view->now.block.header.TotalByteLength);
    else
        fprintf(stderr, "pcview: %s is damaged at offset 0x%zx: %s\n", what, view->now.fault_offset,
                opl_block_fault_text(view->now.fault));
}

static int read_blocks(struct pcview *view)
{
    struct view_snapshot *snapshots[] = {view->block_count == 2 ? &view->before : &view->now,
                                         &view->now};
    for (int i = 0; i < view->block_count; i++) {
        int error = snapshot_read(snapshots[i], view->blocks[i]);
        if (error) {
            fprintf(stderr, "pcview: %s: %s\n", text_seen(view->blocks[i]), strerror(error));
            return EXIT_FAILED;
        }
    }
    view->has_before = view->block_count == 2 && snapshot_begin(&view->before);
    if (snapshot_begin(&view->now))
        return EXIT_GOOD;
    report_damage(view, false);
    return EXIT_FAILED;
}

static bool needs_two_samples(struct pcview *view)
{
    opl_object_view object = {0};
    while (opl_block_next_object(&view->now.block, &object)) {
        bool all;
        opl_counter_view counter = {0};
        if (!find_requested(view, &object, &all) && !all)
            continue;
        while (snapshot_next_counter(&view->now, &object, &counter)) {
            opl_type_info type;
            opl_type_describe(counter.definition.CounterType, &type);
            if (type.needs_two_samples)
                return true;
        }
    }
    return false;
}

static void complain_of_machine(const struct pcview *view, LSTATUS status)
{
    const char *message = machine_message(view->machine, status);
    fprintf(stderr, "pcview: %s: %s (error %d)\n", text_seen(view->machine),
            message ? text_seen(message) : "it cannot be read", (int)status);
}

static int query_once(struct pcview *view, const char *query)
{
    LSTATUS status = snapshot_query(&view->now, query);
    if (status && view->machine)
        complain_of_machine(view, status);
    else if (status) {
        fprintf(stderr,
                "pcview: the query '%s' failed with error %d.\n"
                "%s.\n",
                text_seen(query), (int)status,
                status == ERROR_MORE_DATA
                    ? "'pcview --events' shows the buffer size and which provider needs more"
                    : "OPENPERFLIB_TRACE=1 shows which step fails");
    }
    if (status)
        return EXIT_FAILED;
    if (snapshot_begin(&view->now))
        return EXIT_GOOD;
    report_damage(view, false);
    return EXIT_FAILED;
}

/* Takes one sample, and a second one if a shown value needs it. */
static int query_system(struct pcview *view)
{
    static const struct timespec pause = {0, SAMPLE_MILLISECONDS * 1000000L};
    bool only_texts = (view->counters || view->explain) && !view->values && !view->json;
    char *query = find_query(view);
    int code = query_once(view, query ? query : "none");
    if (!code && !view->names_only && !view->hex && !only_texts && !view->save &&
        needs_two_samples(view)) {
        struct view_snapshot older = view->now;
        view->now = view->before;
        view->before = older;
        nanosleep(&pause, NULL);
        code = query_once(view, query);
        view->has_before = code == EXIT_GOOD;
    }
    free(query);
    return code;
}

static bool print_snapshot(struct pcview *view)
{
    bool sections = view->counters || view->values || view->explain;
    if (view->json)
        return json_objects(view);
    if (view->hex)
        hex_objects(view);
    else if (view->names_only)
        list_names(view);
    else if (view->wanted_count == 0 && !sections)
        list_objects(view);
    else
        return show_objects(view);
    return true;
}

static int save_snapshot(struct pcview *view)
{
    int error = snapshot_save(&view->now, view->save);
    if (error)
        fprintf(stderr, "pcview: %s: %s\n", text_seen(view->save), strerror(error));
    else if (isatty(STDERR_FILENO))
        fprintf(stderr, "%zu bytes saved to %s\n", view->now.size, text_seen(view->save));
    return error ? EXIT_FAILED : EXIT_GOOD;
}

/* Is one of the objects in the block that the user named, or did the user name none? */
static bool any_found(const struct pcview *view)
{
    bool some = view->wanted_count == 0;
    for (size_t i = 0; i < view->wanted_count; i++)
        some |= view->wanted[i].found;
    return some;
}

static bool shows_instances(const struct pcview *view)
{
    return view->values || view->json || view->hex || (!view->counters && !view->explain);
}

/* Prints the requested output; the exit code is that of the worst problem. */
static int show_snapshot(struct pcview *view)
{
    bool all = find_mark(view), some = any_found(view);
    int code = EXIT_GOOD;
    if (view->save)
        code = some ? save_snapshot(view) : EXIT_GOOD;
    else if ((some || view->json) && !print_snapshot(view)) {
        fprintf(stderr, "pcview: there is not enough memory\n");
        code = EXIT_FAILED;
    }
    if (!output_end(view))
        code = EXIT_FAILED;
    if (view->now.fault != OPL_BLOCK_GOOD) {
        report_damage(view, true);
        code = EXIT_FAILED;
    }
    if (!view->save && shows_instances(view) && !find_matched(view))
        all = false;
    if (!find_mark(view))
        find_report(view);
    return code ? code : all ? EXIT_GOOD : EXIT_MISSING;
}

static void done(struct pcview *view)
{
    names_done(&view->names);
    snapshot_done(&view->now);
    snapshot_done(&view->before);
}

/* Runs perfmon with the same options. */
static int watch(const struct pcview *view)
{
    char *args[8] = {NULL};
    size_t count = 1;
    if (view->machine) {
        args[count++] = (char *)"--machine";
        args[count++] = (char *)view->machine;
    }
    if (view->seconds) {
        args[count++] = (char *)"--interval";
        args[count++] = (char *)view->seconds;
    }
    if (view->wanted_count) {
        args[count++] = (char *)"--";
        args[count++] = (char *)view->wanted[0].text;
    }
    return beside_run("pcview", "perfmon", args);
}

/* Connects to the machine, except for counter paths: PDH connects by itself. */
static bool connect_machine(const struct pcview *view)
{
    if (!view->machine || view->paths)
        return true;
    machines_show_wait(view->machine, 0);
    LSTATUS status = view_connect(view->machine);
    machines_show_wait(NULL, 0);
    if (status)
        complain_of_machine(view, status);
    return !status;
}

/* Connects to the machine, if one is given. False: the events or the machine cannot be read. */
static bool begin(const struct pcview *view)
{
    bool refused = !view->block_count && last_event_root_refused("pcview");
    return !(refused && view->events) && connect_machine(view);
}

int main(int argc, char **argv)
{
    static struct pcview view;
    view.language = "009";
    look_at_output(&view);
    int code = read_options(&view, argc, argv);
    if (code >= 0)
        return code;
    if (view.watch)
        return watch(&view);
    if (!begin(&view))
        return EXIT_FAILED;
    if (!view.events && !view.paths)
        load_names(&view);
    output_begin(&view);
    if (view.events)
        code = events_print(&view);
    else if (view.paths)
        code = paths_print(&view);
    else
        code = view.block_count ? read_blocks(&view) : query_system(&view);
    if (!code && !view.events && !view.paths)
        code = show_snapshot(&view);
    if (!output_end(&view))
        code = EXIT_FAILED;
    if (!view.block_count)
        view_disconnect();
    done(&view);
    return code;
}
