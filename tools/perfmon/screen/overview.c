/* SPDX-License-Identifier: MIT */
/*
 * The machine at a glance: processors, memory, pressure, disks, network, temperature, and one
 * sentence that says what its tasks wait for. The tables below say which counters are read; a
 * counter that this machine lacks, or that this user may not read, is left out.
 */
#include "screen.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum table_id {
    CPU,
    CPU_ALONE,
    MEMORY,
    USAGE,
    PRESSURE,
    DISK,
    SPACE,
    NETWORK,
    SYSTEM,
    HEAT,
    BATTERY,
    TABLES
};
enum { CPU_BUSY, CPU_USER, CPU_SYSTEM, CPU_WAIT, CPU_STOLEN, CPU_FREQUENCY };
enum { MEMORY_AVAILABLE, MEMORY_CACHE, MEMORY_COMMITTED };
enum { USAGE_MEMORY, USAGE_SWAP, USAGE_SWAP_FREE };
enum { PRESSURE_SOME, PRESSURE_FULL };
enum { DISK_IDLE, DISK_READ, DISK_WRITE, DISK_SECONDS };
enum { NETWORK_IN, NETWORK_OUT, NETWORK_DROPPED_IN, NETWORK_DROPPED_OUT };
enum { SYSTEM_UP, SYSTEM_PROCESSES, SYSTEM_THREADS, SYSTEM_LOAD };
enum { MOST_COLUMNS = 6, MEBI = 1024 * 1024, LEAST_PRESSURE = 5, LEAST_IDLE = 20 };

/* clang-format off */
#define CPU_COUNTERS \
    {"% Processor Time", "% User Time", "% Privileged Time", "% IO Wait Time", "% Steal Time", \
     "Processor Frequency"}
static const struct {
    const char *prefix, *counters[MOST_COLUMNS + 1];
} definitions[TABLES] = {
    [CPU] = {"\\Processor Information(*)\\", CPU_COUNTERS},
    /* for captures, which often have only this object */
    [CPU_ALONE] = {"\\Processor(*)\\", CPU_COUNTERS},
    [MEMORY] = {"\\Memory\\", {"Available Bytes", "Cache Bytes", "Committed Bytes"}},
    [USAGE] = {"\\Memory Usage\\", {"% Used Memory", "% Used Swap Space", "Available MBytes Swap"}},
    /* its instances "cpu", "memory" and "io" have translations */
    [PRESSURE] = {"\\Pressure(*)\\", {"% Some Time", "% Full Time"}},
    [DISK] = {"\\PhysicalDisk(*)\\",
              {"% Idle Time", "Disk Read Bytes/sec", "Disk Write Bytes/sec", "Avg. Disk sec/Transfer"}},
    [SPACE] = {"\\LogicalDisk(*)\\", {"% Free Space", "Free Megabytes"}},
    [NETWORK] = {"\\Network Interface(*)\\",
                 {"Bytes Received/sec", "Bytes Sent/sec", "Packets Received Discarded",
                  "Packets Outbound Discarded"}},
    [SYSTEM] = {"\\System\\", {"System Up Time", "Processes", "Threads", "Load Average 1 min", "Load Average 5 min",
               "Load Average 15 min"}},
    [HEAT] = {"\\Thermal Zone Information(*)\\", {"Temperature"}},
    [BATTERY] = {"\\Battery Status(*)\\", {"Remaining Capacity", "Discharge Rate"}},
};
/* clang-format on */

struct overview {
    struct model *model;
    size_t source;
    unsigned tables[TABLES];
};

void overview_free(struct overview *overview)
{
    for (size_t i = 0; i < TABLES; i++)
        model_remove_table(overview->model, overview->tables[i]);
    free(overview);
}

struct overview *overview_new(struct model *model, size_t source)
{
    struct overview *overview = calloc(1, sizeof *overview);
    if (!overview)
        return NULL;
    overview->model = model;
    overview->source = source;
    struct model_source of;
    model_source(model, source, &of);
    for (size_t t = 0; t < TABLES; t++) {
        if (t == CPU_ALONE && !of.capture)
            continue;
        char texts[MOST_COLUMNS][96];
        const char *paths[MOST_COLUMNS];
        size_t count = 0;
        for (; definitions[t].counters[count]; count++) {
            snprintf(texts[count], sizeof texts[count], "%s%s", definitions[t].prefix,
                     definitions[t].counters[count]);
            paths[count] = texts[count];
        }
        overview->tables[t] = model_add_table(model, source, paths, count, t <= CPU_ALONE);
    }
    return overview;
}

/* ---- values ---- */

static const struct table *table_of(const struct overview *overview, enum table_id id)
{
    static const struct table nothing;
    const struct table *table = model_table(overview->model, overview->tables[id]);
    if (id == CPU && overview->tables[CPU_ALONE] && table && !table->row_count)
        table = model_table(overview->model, overview->tables[CPU_ALONE]);
    return table ? table : &nothing;
}

static double value(const struct table *table, size_t row, size_t column)
{
    return row < table->row_count && column < table->column_count
               ? table_cell(table, row, column)->number
               : NAN;
}

static size_t row_named(const struct table *table, const char *name)
{
    for (size_t r = 0; r < table->row_count; r++)
        if (!strcasecmp(table->rows[r].name, name))
            return r;
    return (size_t)-1;
}

static double value_of(const struct overview *overview, enum table_id id, const char *row,
                       size_t column)
{
    const struct table *table = table_of(overview, id);
    return value(table, row ? row_named(table, row) : 0, column);
}

/* True for the instance of a single processor, disk or network card, such as "0,1", but not
 * "_Total" or "0,_Total". */
static bool single(const char *name)
{
    return !strcasestr(name, "_Total");
}

void overview_disk_bytes(const struct overview *overview, double *ret_read, double *ret_written)
{
    *ret_read = value_of(overview, DISK, "_Total", DISK_READ);
    *ret_written = value_of(overview, DISK, "_Total", DISK_WRITE);
}

bool overview_ready(const struct overview *overview)
{
    return !isnan(value_of(overview, CPU, "_Total", CPU_BUSY));
}

/* ---- the sentence ---- */

const char overview_rule[] =
    "The line names the resources for which some task waited during 5 % or more of the last "
    "interval (Pressure, % Some Time), the longest wait first. If there is none, it names a disk "
    "that was busy for 80 % or more; else the processors if they were busy for 90 % or more; else "
    "memory or swap if 95 % or more of it is used; else nothing. If tasks waited for processors "
    "that were idle, the line says how busy these were: then a limit of a group or a task's own "
    "choice of processors holds tasks up; the groups (2, then G) show THROTTLE and CPU WAIT.";

/* If tasks waited for processors much longer than these were busy, adds how busy they were: their
 * number is not what holds the tasks up. */
static void add_idle(const struct overview *overview, char *ret, size_t capacity)
{
    double waited = value_of(overview, PRESSURE, "cpu", PRESSURE_SOME);
    double busy = value_of(overview, CPU, "_Total", CPU_BUSY);
    if (waited >= busy + LEAST_IDLE)
        snprintf(ret, capacity, local("; processors are busy %.0f %%"), busy);
}

/* Writes all resources that tasks waited for, the one with the longest waits first. Returns false
 * if tasks waited for no resource. */
static bool verdict_pressure(const struct overview *overview, char *ret, size_t capacity)
{
    const struct table *table = table_of(overview, PRESSURE);
    uint64_t named = 0; /* a bit for each row */
    size_t used = 0;
    while (used < capacity) {
        double longest = LEAST_PRESSURE;
        size_t at = table->row_count;
        for (size_t r = table->row_count; r-- > 0;)
            if (r < 64 && !(named >> r & 1) && value(table, r, PRESSURE_SOME) >= longest) {
                longest = value(table, r, PRESSURE_SOME);
                at = r;
            }
        if (at == table->row_count)
            break;
        named |= UINT64_C(1) << at;
        used += (size_t)snprintf(ret + used, capacity - used, "%s%s %.0f %%", used ? ", " : "",
                                 local(table->rows[at].name), fmin(longest, 100));
    }
    if (used && used < capacity)
        used += (size_t)snprintf(ret + used, capacity - used, "%s",
                                 local(" of the time some task waited"));
    if (used && used < capacity)
        add_idle(overview, ret + used, capacity - used);
    return used > 0;
}

static bool verdict_disk(const struct overview *overview, char *ret, size_t capacity)
{
    const struct table *table = table_of(overview, DISK);
    double most = 80;
    bool found = false;
    for (size_t r = 0; r < table->row_count; r++) {
        double busy = 100 - value(table, r, DISK_IDLE);
        if (!single(table->rows[r].name) || !(busy >= most))
            continue;
        most = busy;
        found = true;
        snprintf(ret, capacity, local("disk %s is busy %.0f %% of the time"), table->rows[r].name,
                 busy);
    }
    return found;
}

/* Returns why the state of the machine is not known; NULL: it is. */
static const char *unknown_because(const struct overview *overview,
                                   const struct model_source *source)
{
    if (overview_ready(overview))
        return NULL;
    if (source->at)
        return table_of(overview, CPU)->row_count
                   ? local("not known: there are no rates of this sample")
                   : local("not known: nothing was recorded then");
    if (source->capture)
        return local("not known: the capture has no such counters");
    return source->state == MODEL_STARTING || source->state == MODEL_GOOD
               ? local("the first sample is being taken")
               : local("not known: there is no sample");
}

void overview_verdict(const struct overview *overview, char *ret, size_t capacity)
{
    double busy = value_of(overview, CPU, "_Total", CPU_BUSY);
    double memory = value_of(overview, USAGE, NULL, USAGE_MEMORY);
    double swap = value_of(overview, USAGE, NULL, USAGE_SWAP);
    struct model_source source;
    model_source(overview->model, overview->source, &source);
    const char *unknown = unknown_because(overview, &source);
    if (unknown)
        snprintf(ret, capacity, "%s", unknown);
    else if (verdict_pressure(overview, ret, capacity) || verdict_disk(overview, ret, capacity))
        return;
    else if (busy >= 90)
        snprintf(ret, capacity, local("processors are busy %.0f %% of the time"), busy);
    else if (memory >= 95)
        snprintf(ret, capacity, local("memory: %.0f %% is used"), memory);
    else if (swap >= 95)
        snprintf(ret, capacity, local("swap: %.0f %% is used"), swap);
    else if (source.capture &&
             (isnan(memory) || isnan(value_of(overview, DISK, "_Total", DISK_IDLE))))
        snprintf(ret, capacity, "%s", local("nothing in those counters that the capture has"));
    else
        snprintf(ret, capacity, "%s", local("nothing"));
}

PDH_STATUS overview_problem(const struct overview *overview)
{
    struct model_source source;
    const struct table *table = table_of(overview, CPU);
    model_source(overview->model, overview->source, &source);
    return source.status && table->column_count && table->columns[0].status
               ? table->columns[0].status
               : source.status;
}

void overview_shares(const struct overview *overview, double *ret_processors, double *ret_memory)
{
    *ret_processors = value_of(overview, CPU, "_Total", CPU_BUSY);
    *ret_memory = value_of(overview, USAGE, NULL, USAGE_MEMORY);
}

static double hottest(const struct overview *overview)
{
    const struct table *table = table_of(overview, HEAT);
    double kelvin = NAN;
    for (size_t r = 0; r < table->row_count; r++)
        kelvin = fmax(kelvin, value(table, r, 0));
    return kelvin - 273;
}

void overview_facts(const struct overview *overview, char *ret, size_t capacity)
{
    char up[TEXT_SIZE];
    double processes = value_of(overview, SYSTEM, NULL, SYSTEM_PROCESSES);
    double threads = value_of(overview, SYSTEM, NULL, SYSTEM_THREADS);
    double frequency = value_of(overview, CPU, "_Total", CPU_FREQUENCY);
    double degrees = hottest(overview), charge = value_of(overview, BATTERY, NULL, 0);
    text_duration(value_of(overview, SYSTEM, NULL, SYSTEM_UP), up);
    *ret = 0;
    if (*up != '-')
        text_append(ret, capacity, local("up %s"), up);
    if (!isnan(value_of(overview, SYSTEM, NULL, SYSTEM_LOAD)))
        text_append(ret, capacity, local("   load %.2f %.2f %.2f"),
                    value_of(overview, SYSTEM, NULL, SYSTEM_LOAD),
                    value_of(overview, SYSTEM, NULL, SYSTEM_LOAD + 1),
                    value_of(overview, SYSTEM, NULL, SYSTEM_LOAD + 2));
    if (!isnan(processes))
        text_append(ret, capacity, local("   %.0f processes"), processes);
    if (!isnan(threads))
        text_append(ret, capacity, local(", %.0f threads"), threads);
    if (frequency > 0)
        text_append(ret, capacity, "   %.2f GHz", frequency / 1000);
    if (degrees > -50)
        text_append(ret, capacity, "   %.0f \u00b0C", degrees);
    if (!isnan(charge))
        text_append(ret, capacity, local("   battery %.0f mWh"), charge);
}

/* ---- panels ---- */

/* A panel's part of the canvas, which is filled line by line. */
struct area {
    struct canvas *canvas;
    int row, last, column, width;
};

static bool area_next(struct area *area, int *ret_row)
{
    *ret_row = area->row;
    return area->row++ < area->last;
}

static void draw_head(struct area *area, const char *title, const char *legend)
{
    int row, used;
    if (!area_next(area, &row))
        return;
    used = canvas_text(area->canvas, row, area->column, area->width, STYLE_TITLE, local(title));
    canvas_right(area->canvas, row, area->column + used + 1, area->width - used - 1, STYLE_WEAK,
                 local(legend));
}

enum { LABEL = 8, NUMBER = 7, SHARES = 4 };
static const struct {
    const char *name;
    enum style style;
} shares[SHARES] = {
    {"user",    STYLE_GOOD    },
    {"system",  STYLE_BAD     },
    {"waiting", STYLE_WARN    },
    {"stolen",  STYLE_LINE + 2}
};

/* Draws the title, and the legend of the bars at the right: the name of each part in the style of
 * that part. Where both do not fit, the title is cut. */
static void draw_shares(struct area *area)
{
    bool marks = area->canvas->marks;
    int row, at = area->column + area->width + 1;
    if (!area_next(area, &row))
        return;
    for (size_t i = 0; i < SHARES; i++)
        at -= text_width(local(shares[i].name)) + 1 + marks;
    canvas_text(area->canvas, row, area->column, at - area->column - 1, STYLE_TITLE,
                local("Processors"));
    for (size_t i = 0; i < SHARES; i++) {
        if (marks)
            canvas_put(area->canvas, row, at++, shares[i].style,
                       canvas_mark(area->canvas, shares[i].style));
        at += 1 + canvas_text(area->canvas, row, at, area->column + area->width - at,
                              shares[i].style, local(shares[i].name));
    }
}

static void draw_processor(struct area *area, const struct table *table, size_t r,
                           const char *label)
{
    int row, left = area->column + LABEL, width = area->width - LABEL - NUMBER - 1;
    double done = 0, busy = value(table, r, CPU_BUSY);
    char text[TEXT_SIZE];
    if (!area_next(area, &row))
        return;
    canvas_text(area->canvas, row, area->column, LABEL - 1, STYLE_PLAIN, label);
    if (isnan(value(table, r, CPU_USER)) && isnan(value(table, r, CPU_SYSTEM)))
        canvas_bar(area->canvas, row, left, width, 0, busy / 100, style_of_percent(busy));
    for (size_t part = 0; part < SHARES; part++) {
        double share = value(table, r, CPU_USER + part);
        share = isnan(share) ? 0 : share / 100;
        canvas_bar(area->canvas, row, left, width, done, done + share, shares[part].style);
        done += share;
    }
    text_percent(busy, text);
    canvas_right(area->canvas, row, left + width, NUMBER, style_of_percent(busy), text);
    canvas_text(area->canvas, row, left + width + NUMBER, 1, STYLE_PLAIN, "%");
}

/* Draws the processors' total in the last samples, one column for each, the newest at the right. */
static void draw_history(struct area *area, const struct overview *overview, size_t r)
{
    static const wchar_t levels[] = L" \u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588";
    const struct table *table = table_of(overview, CPU);
    const struct history *history = r < table->row_count ? table->rows[r].history : NULL;
    struct model_source source;
    int row, width = area->width - LABEL - NUMBER - 1;
    if (!history || !area->canvas->utf8 || !area_next(area, &row))
        return;
    model_source(overview->model, overview->source, &source);
    uint64_t newest = source.state == MODEL_AWAY ? source.tick : history->seen;
    for (int c = 0; c < width; c++) {
        struct span span;
        uint64_t back = (uint64_t)(width - 1 - c);
        if (back >= newest)
            continue;
        model_span(history, CPU_BUSY, newest - back, newest - back + 1, &span);
        if (!isnan(span.last))
            canvas_put(area->canvas, row, area->column + LABEL + c, style_of_percent(span.last),
                       levels[lround(fmin(fmax(span.last, 0), 100) / 100 * 8)]);
    }
}

/* `others`: rows of the panels that come below; the total is drawn alone where all do not fit. */
static void draw_processors(struct area *area, const struct overview *overview, int others)
{
    const struct table *table = table_of(overview, CPU);
    size_t total = row_named(table, "_Total"), count = 0;
    for (size_t r = 0; r < table->row_count; r++)
        count += single(table->rows[r].name);
    draw_shares(area);
    draw_processor(area, table, total, local("all"));
    int more = area->last - area->row - others; /* rows for more than the total */
    if (more > 0)
        draw_history(area, overview, total);
    if (count < 2 || more <= (int)count)
        return;
    for (size_t r = 0; r < table->row_count; r++)
        if (single(table->rows[r].name)) {
            const char *comma = strchr(table->rows[r].name, ',');
            draw_processor(area, table, r, comma ? comma + 1 : table->rows[r].name);
        }
}

static void draw_share(struct area *area, const char *label, double percent, const char *detail)
{
    int row, detail_width = 20, width = area->width - LABEL - NUMBER - 1 - detail_width;
    char text[TEXT_SIZE];
    if (!area_next(area, &row))
        return;
    text_percent(percent, text);
    canvas_text(area->canvas, row, area->column, LABEL - 1, STYLE_PLAIN, label);
    canvas_bar(area->canvas, row, area->column + LABEL, width, 0, percent / 100,
               style_of_percent(percent));
    canvas_right(area->canvas, row, area->column + LABEL + width, NUMBER, STYLE_PLAIN, text);
    canvas_text(area->canvas, row, area->column + LABEL + width + NUMBER, 1, STYLE_PLAIN, "%");
    canvas_right(area->canvas, row, area->column + area->width - detail_width, detail_width,
                 STYLE_WEAK, detail);
}

static void draw_memory(struct area *area, const struct overview *overview)
{
    char bytes[TEXT_SIZE], detail[2 * TEXT_SIZE];
    double available = value_of(overview, MEMORY, NULL, MEMORY_AVAILABLE);
    /* a capture may be without these counters; before the first sample the place is kept */
    if (!table_of(overview, USAGE)->row_count && isnan(available) &&
        table_of(overview, CPU)->row_count)
        return;
    draw_head(area, "Memory", "used, available");
    text_bytes(available, bytes);
    snprintf(detail, sizeof detail, local("%s available"), bytes);
    draw_share(area, local("memory"), value_of(overview, USAGE, NULL, USAGE_MEMORY), detail);
    double swap = value_of(overview, USAGE, NULL, USAGE_SWAP);
    double free_swap = value_of(overview, USAGE, NULL, USAGE_SWAP_FREE) * MEBI;
    int row;
    text_bytes(free_swap, bytes);
    snprintf(detail, sizeof detail, local("%s available"), bytes);
    if (swap > 0 || free_swap > 0)
        draw_share(area, local("swap"), swap, detail);
    else if (swap == 0 && area_next(area, &row))
        canvas_text(area->canvas, row, area->column, area->width, STYLE_WEAK, local("no swap"));
}

static void draw_pressure(struct area *area, const struct overview *overview)
{
    const struct table *table = table_of(overview, PRESSURE);
    if (table->row_count)
        draw_head(area, "Pressure", "share of time that tasks waited");
    for (size_t r = 0; r < table->row_count; r++) {
        char detail[TEXT_SIZE] = "", text[TEXT_SIZE];
        double full = value(table, r, PRESSURE_FULL);
        text_percent(full, text);
        if (!isnan(full))
            snprintf(detail, sizeof detail, local("all: %.8s %%"), text);
        /* the share may be above 100, because the kernel's waiting time may jump ahead a little */
        double some = value(table, r, PRESSURE_SOME);
        draw_share(area, local(table->rows[r].name), some > 100 ? 100 : some, detail);
    }
}

/* Draws the label, a bar of `percent`, and two rates; no bar if `percent` is NaN. */
static void draw_rates(struct area *area, const char *label, double percent, double in, double out,
                       const char *arrows[2])
{
    int row, each = 13, left = area->column + LABEL + 4;
    int width = area->width - LABEL - 4 - NUMBER - 1 - 2 * each;
    char text[TEXT_SIZE], shown[2 * TEXT_SIZE];
    if (!area_next(area, &row))
        return;
    int label_width = isnan(percent) ? LABEL + width + NUMBER : LABEL + 3;
    canvas_text(area->canvas, row, area->column, label_width, STYLE_PLAIN, label);
    if (!isnan(percent)) {
        text_percent(percent, text);
        snprintf(shown, sizeof shown, "%s%%", text);
        canvas_bar(area->canvas, row, left, width, 0, percent / 100, style_of_percent(percent));
        canvas_right(area->canvas, row, left + width, NUMBER + 1, STYLE_PLAIN, shown);
    }
    for (int i = 0; i < 2; i++) {
        text_bytes(i ? out : in, text);
        snprintf(shown, sizeof shown, "%s %s", local(arrows[i]), text);
        canvas_right(area->canvas, row, area->column + area->width - (2 - i) * each, each,
                     STYLE_PLAIN, shown);
    }
}

static void draw_disks(struct area *area, const struct overview *overview)
{
    static const char *arrows[2] = {"r", "w"};
    const struct table *table = table_of(overview, DISK), *space = table_of(overview, SPACE);
    if (table->row_count)
        draw_head(area, "Disks", "busy, bytes read and written per second");
    for (size_t r = 0; r < table->row_count; r++)
        if (single(table->rows[r].name))
            draw_rates(area, table->rows[r].name, 100 - value(table, r, DISK_IDLE),
                       value(table, r, DISK_READ), value(table, r, DISK_WRITE), arrows);
    for (size_t r = 0; r < space->row_count; r++) {
        char detail[2 * TEXT_SIZE], bytes[TEXT_SIZE];
        if (!single(space->rows[r].name))
            continue;
        text_bytes(value(space, r, 1) * MEBI, bytes);
        snprintf(detail, sizeof detail, local("%s free"), bytes);
        draw_share(area, space->rows[r].name, 100 - value(space, r, 0), detail);
    }
}

static double traffic(const struct table *table, size_t row)
{
    double bytes = value(table, row, NETWORK_IN) + value(table, row, NETWORK_OUT);
    return !strcmp(table->rows[row].name, "lo") ? -1 : isnan(bytes) ? 0 : bytes;
}

/* Returns how many networks are busier than that of the row; this machine's own comes last. */
static int busier(const struct table *table, size_t row)
{
    int count = 0;
    for (size_t r = 0; r < table->row_count; r++)
        if (single(table->rows[r].name)) {
            double more = traffic(table, r) - traffic(table, row);
            count += more > 0 || (!(more < 0) && r < row);
        }
    return count;
}

/* Draws all networks or, without place for all, the busiest. */
static void draw_network(struct area *area, const struct overview *overview)
{
    const char *arrows[2] = {"in", "out"};
    const struct table *table = table_of(overview, NETWORK);
    if (table->row_count)
        draw_head(area, "Network", "bytes received and sent per second");
    int rows = area->last - area->row;
    for (size_t r = 0; r < table->row_count; r++)
        if (single(table->rows[r].name) && busier(table, r) < rows)
            draw_rates(area, table->rows[r].name, NAN, value(table, r, NETWORK_IN),
                       value(table, r, NETWORK_OUT), arrows);
}

int overview_draw(const struct overview *overview, struct canvas *canvas, int row, int last)
{
    enum { WIDE = 100, GAP = 3 };
    bool wide = canvas->columns >= WIDE;
    int width = wide ? (canvas->columns - GAP) / 2 : canvas->columns;
    /* below the canvas nothing is written: rows are only counted */
    struct area left = {canvas, row, last, 0, width},
                below = {canvas, canvas->rows, INT_MAX, 0, width};
    if (!wide) {
        draw_memory(&below, overview);
        draw_pressure(&below, overview);
        draw_disks(&below, overview);
        draw_network(&below, overview);
    }
    draw_processors(&left, overview, below.row - canvas->rows);
    struct area right = {canvas, wide ? row : left.row, last, wide ? width + GAP : 0, width};
    draw_memory(&right, overview);
    draw_pressure(&right, overview);
    struct area *next = wide && left.row < right.row ? &left : &right;
    draw_disks(next, overview);
    next = wide && left.row < right.row ? &left : &right;
    draw_network(next, overview);
    int used = left.row > right.row || !wide ? left.row : right.row;
    used = right.row > used ? right.row : used;
    return used < last ? used : last;
}
