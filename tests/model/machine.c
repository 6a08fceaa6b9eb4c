/* SPDX-License-Identifier: MIT */
/*
 * The model with the real library: processes and threads of a frozen machine (saved proc files)
 * that the test changes; a machine that cannot be reached; captures, compared with relog's output;
 * damaged and long captures.
 */
#include "catalogue.h"
#include "model.h"
#include "process-list.h"

#include <math.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "../pdh/frozen.h"

static struct model *model;
static const char *relog;

static void pass(long milliseconds)
{
    nanosleep(&(struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000}, NULL);
}

/* Makes the frozen machine once for all tests, because a provider that is loaded keeps the machine
 * whose files it found first. */
static int make_machine(void **state)
{
    setenv("TZ", "America/New_York", 1); /* times in captures are local times */
    tzset();
    return frozen_make(state);
}

static int begin(void **state)
{
    model = model_new(0.05);
    return model == NULL;
}

static int end(void **state)
{
    model_free(model);
    return 0;
}

static const struct table *after(unsigned table, uint64_t tick)
{
    for (int i = 0; i < 5000; i++) {
        model_update(model);
        if (model_table(model, table)->tick > tick)
            return model_table(model, table);
        pass(2);
    }
    fail_msg("no sample");
    return NULL;
}

static struct model_source source_now(size_t number)
{
    struct model_source source;
    model_source(model, number, &source);
    return source;
}

static void complete(size_t number)
{
    for (int i = 0; i < 30000; i++) {
        model_update(model);
        if (source_now(number).state == MODEL_COMPLETE)
            return;
        pass(1);
    }
    fail_msg("it was not read to its end");
}

/* ---- the frozen machine ---- */

static const char *const process_paths[] = {"\\Process(*)\\ID Process",
                                            "\\Process(*)\\Thread Count"};
static const char *const thread_paths[] = {"\\Thread(*)\\ID Thread"};

static uint64_t identity_of_id(const struct table *table, double id)
{
    for (size_t i = 0; i < table->row_count; i++)
        if (table_cell(table, i, 0)->number == id)
            return table->rows[i].identity;
    return 0;
}

/* Stops sampling, so that no sample sees the machine half changed. */
static void hold(void)
{
    model_pause(model, true);
    pass(300);
}

static const struct table *go_on(unsigned table)
{
    model_pause(model, false);
    model_update(model);
    uint64_t tick = source_now(0).tick;
    return after(table, tick + 1);
}

static const struct catalogue_object *find_process(struct catalogue *catalogue, size_t *ret)
{
    size_t ready, count;
    do {
        pass(10);
        count = catalogue_count(catalogue, &ready);
    } while (!count || ready < count);
    for (*ret = 0; strcmp(catalogue_object(catalogue, *ret)->name, "Process") != 0;)
        (*ret)++;
    return catalogue_object(catalogue, *ret);
}

static bool has_instance(const struct catalogue_object *object, const char *name)
{
    for (size_t i = 0; i < object->instance_count; i++)
        if (!strcmp(object->instances[i], name))
            return true;
    return false;
}

static void the_catalogue_reads_instances_anew(void **state)
{
    size_t at;
    frozen_process(41, "elder", 1, 100);
    struct catalogue *catalogue = catalogue_new(NULL, NULL, 0);
    const struct catalogue_object *object = find_process(catalogue, &at);
    assert_true(has_instance(object, "elder"));
    assert_false(object->single);
    frozen_process(42, "younger", 1, 200);
    for (int i = 0; i < 3000 && !has_instance(object, "younger"); i++) {
        catalogue_watch(catalogue, at);
        pass(10);
    }
    assert_true(has_instance(object, "younger"));
    assert_true(has_instance(object, "elder"));
    size_t other = at + 1, ready; /* another object, which the catalogue keeps up to date, too */
    size_t count = catalogue_count(catalogue, &ready);
    while (other + 1 < count && strcmp(catalogue_object(catalogue, other)->name, "Thread") != 0)
        other++;
    frozen_process(44, "youngest", 1, 300);
    for (int i = 0; i < 3000 && !(has_instance(object, "youngest") &&
                                  has_instance(catalogue_object(catalogue, other), "youngest/0"));
         i++) {
        catalogue_watch(catalogue, at);
        catalogue_watch(catalogue, other);
        pass(10);
    }
    assert_true(has_instance(object, "youngest"));
    assert_true(has_instance(catalogue_object(catalogue, other), "youngest/0"));
    catalogue_free(catalogue);
    frozen_end_process(42);
    frozen_end_process(44);
}

/* The thread of the catalogue waits for a machine that does not answer. */
static void a_catalogue_is_freed_at_once(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char machine[160];
    snprintf(address.sun_path, sizeof address.sun_path, "%s/silent", frozen_folder);
    snprintf(machine, sizeof machine, "unix:%s", address.sun_path);
    int silent = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(silent, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(silent, 8), 0);
    struct catalogue *catalogue = catalogue_new(machine, NULL, 0);
    assert_int_equal(poll(&(struct pollfd){.fd = silent, .events = POLLIN}, 1, 20000), 1);
    double before = model_now();
    catalogue_free(catalogue);
    assert_true(model_now() - before < 0.5);
    close(silent);
}

static void processes_keep_their_identity(void **state)
{
    static const int ids[] = {41, 42, 43};
    uint64_t processes[3], threads[3];
    for (size_t i = 0; i < 3; i++)
        frozen_process(ids[i], "twin", 1, 100 + i);
    model_add_machine(model, NULL);
    unsigned table = model_add_table(model, 0, process_paths, 2, true);
    unsigned other = model_add_table(model, 0, thread_paths, 1, true);
    const struct table *now = after(table, 2), *tasks = after(other, 2);
    for (size_t i = 0; i < 3; i++) {
        processes[i] = identity_of_id(now, ids[i]);
        threads[i] = identity_of_id(tasks, ids[i]);
        assert_true(processes[i] != 0 && threads[i] != 0);
    }
    assert_true(processes[0] != processes[1] && processes[1] != processes[2]);
    hold();
    frozen_end_process(41); /* the processes after it move up to other positions */
    now = go_on(table);
    tasks = after(other, source_now(0).tick);
    now = model_table(model, table);
    assert_int_equal(identity_of_id(now, 41), 0);
    assert_true(table_row(now, processes[0]) == (size_t)-1);
    for (size_t i = 1; i < 3; i++) {
        assert_true(identity_of_id(now, ids[i]) == processes[i]);
        assert_true(identity_of_id(tasks, ids[i]) == threads[i]);
    }
    hold();
    /* the same process id and name, but another process, as its start time shows */
    frozen_process(41, "twin", 1, 5000);
    frozen_process(42, "other", 1, 101); /* the same process, which executed another program */
    frozen_process(43, "twin", 77, 102);
    now = go_on(table);
    assert_true(identity_of_id(now, 41) != 0 && identity_of_id(now, 41) != processes[0]);
    assert_true(identity_of_id(now, 42) != processes[1]);
    assert_true(identity_of_id(now, 43) == processes[2]);
    const struct history *history = now->rows[table_row(now, processes[2])].history;
    assert_string_equal(history->name, "twin");
    assert_true(history->born <= 2 && history->seen == now->tick);
}

/* The name of a kernel worker has its present work, which changes. */
static void workers_keep_their_identity(void **state)
{
    static const char *const paths[] = {"\\Process V2(*)\\ID Process"};
    frozen_process(71, "kworker/0:1-events", 1, 100);
    frozen_process(72, "kworker/u8:2", 1, 101);
    model_add_machine(model, NULL);
    unsigned table = model_add_table(model, 0, process_paths, 1, true);
    unsigned other = model_add_table(model, 0, paths, 1, true);
    const struct table *now = after(table, 2), *v2 = after(other, 2);
    uint64_t first = identity_of_id(now, 71), second = identity_of_id(v2, 72);
    assert_true(first && second && first != identity_of_id(now, 72));
    hold();
    frozen_process(71, "kworker/0:1-rcu_gp", 1, 100);
    frozen_process(72, "kworker/u8:2-flush", 1, 101);
    now = go_on(table);
    v2 = after(other, source_now(0).tick);
    assert_int_equal(identity_of_id(v2, 72), second);
    assert_string_equal(v2->rows[table_row(v2, second)].name, "kworker_u8:2-flush:72");
    assert_int_equal(identity_of_id(model_table(model, table), 71), first);
    hold();
    frozen_process(71, "kworker/0:1-rcu_gp", 1, 900); /* another worker has the number */
    go_on(table);
    assert_true(identity_of_id(model_table(model, table), 71) != first);
    frozen_end_process(71);
    frozen_end_process(72);
}

/* Waits until the list has the texts of the process with this number, or has none. */
static void await_texts(struct process_list *list, double pid, bool texts)
{
    for (int i = 0; i < 3000; i++) {
        model_update(model);
        process_list_read(list);
        for (size_t l = 0; l < list->line_count; l++)
            if (list->lines[l].values[PID] == pid && !list->lines[l].texts == !texts)
                return;
        pass(2);
    }
    fail_msg("%s", texts ? "no texts" : "texts of another process");
}

/* A new process has the name and the number of one that ended: its texts are not known until they
 * are read again. */
static void texts_are_those_of_the_process(void **state)
{
    struct process_list list;
    char line[256];
    unsigned long boot = 0;
    snprintf(line, sizeof line, "%s/machine-root/proc/stat", frozen_folder);
    FILE *file = fopen(line, "r");
    while (fgets(line, sizeof line, file) && !sscanf(line, "btime %lu", &boot)) {
    }
    fclose(file);
    assert_true(boot > 0);
    frozen_process(73, "again", 1, 100);
    model_add_machine(model, NULL);
    assert_true(process_list_begin(&list, model, 0));
    await_texts(&list, 73, true);
    pass(2500);
    frozen_process(73, "again", 1, ((unsigned long)time(NULL) - boot) * 100);
    await_texts(&list, 73, false);
    model_want(model, list.texts);
    await_texts(&list, 73, true);
    process_list_end(&list);
    frozen_end_process(73);
}

static void write_bytes(int pid, int read, int written)
{
    char file[64], text[256];
    snprintf(file, sizeof file, "proc/%d/io", pid);
    snprintf(text, sizeof text,
             "rchar: 0\nwchar: 0\nsyscr: 0\nsyscw: 0\nread_bytes: %d\nwrite_bytes: %d\n"
             "cancelled_write_bytes: 0\n",
             read, written);
    frozen_write(file, text);
}

/* PDH compares the samples of an instance name such as "same#1". When the first process of that
 * name ends, "same#1" means another process. The rates of the other processes must be known all the
 * same, and a new process must have none. */
static void an_end_leaves_no_gap_in_other_rates(void **state)
{
    static const char *const paths[] = {
        "\\Process IO(*)\\ID Process", "\\Process IO(*)\\IO Disk Read Bytes/sec",
        "\\Process IO(*)\\IO Disk Write Bytes/sec", "\\Process IO(*)\\Elapsed Time"};
    for (int pid = 61; pid < 65; pid++)
        frozen_process(pid, "same", 1, 100);
    for (int pid = 62; pid < 65; pid++)
        write_bytes(pid, pid * 1000, pid * 5000);
    model_add_machine(model, NULL);
    unsigned table = model_add_table(model, 0, paths, 4, false);
    const struct table *now = after(table, 2);
    uint64_t last = identity_of_id(now, 64), tick;
    hold();
    frozen_end_process(61);
    frozen_process(62, "same", 1, 900); /* a new process has the number of one that ended */
    frozen_process(65, "same", 1, 900);
    for (int pid = 62; pid < 66; pid++)
        write_bytes(pid, pid * 2000, pid * 8000);
    tick = source_now(0).tick;
    model_pause(model, false);
    /* the first sample in which the byte counts have grown, which must have a rate */
    now = after(table, tick);
    while (table_cell(now, table_row(now, last), 2)->number == 0)
        now = after(table, now->tick);
    for (size_t r = 0; r < now->row_count; r++) {
        double pid = table_cell(now, r, 0)->number, read = table_cell(now, r, 1)->number;
        if (pid == 63 || pid == 64)
            assert_true(fabs(table_cell(now, r, 2)->number / read - 3) < 1e-9 && read > 0);
        else if (pid == 62 || pid == 65)
            assert_true(isnan(read) && table_cell(now, r, 1)->status == PDH_CSTATUS_INVALID_DATA);
        assert_true(isnan(table_cell(now, r, 0)->number) || table_cell(now, r, 3)->number >= 0);
    }
    now = after(table, now->tick);
    assert_true(table_cell(now, table_row(now, identity_of_id(now, 65)), 1)->number == 0);
}

/* Threads of a process start and end; the others keep their identity, and no thread is listed
 * twice. */
static void threads_of_one_process(void **state)
{
    char path[256];
    frozen_process(50, "app", 1, 100);
    snprintf(path, sizeof path, "sed -i 's/ 20 0 1 0 / 20 0 6 0 /' '%s/machine-root/proc/50/stat'",
             frozen_folder);
    frozen_run("%s%s", path, "");
    for (int task = 51; task < 56; task++) {
        snprintf(path, sizeof path,
                 "cd '%s/machine-root/proc/50/task' && cp -R 50 %d && sed -i 's/^50 /%d /' %d/stat",
                 frozen_folder, task, task, task);
        frozen_run("%s%s", path, "");
    }
    model_add_machine(model, NULL);
    unsigned table = model_add_table(model, 0, thread_paths, 1, true);
    const struct table *now = after(table, 2);
    uint64_t last = identity_of_id(now, 55), first = identity_of_id(now, 51);
    assert_true(first && last && first != last);
    for (size_t a = 0; a < now->row_count; a++)
        assert_int_equal(table_row(now, now->rows[a].identity), a);
    hold();
    snprintf(path, sizeof path, "%s/machine-root/proc/50/task/51", frozen_folder);
    temp_remove(path);
    now = go_on(table);
    assert_true(table_row(now, first) == (size_t)-1);
    assert_true(identity_of_id(now, 55) == last);
}

static void a_machine_that_cannot_be_reached(void **state)
{
    static const char *const paths[] = {"\\System\\Processor Queue Length"};
    model_add_machine(model, NULL);
    model_add_machine(model, "no-such-machine.invalid");
    unsigned here = model_add_table(model, 0, paths, 1, true);
    unsigned there = model_add_table(model, 1, paths, 1, true);
    for (int i = 0; i < 5000 && source_now(1).state != MODEL_AWAY; i++) {
        model_update(model);
        pass(2);
    }
    assert_int_equal(source_now(1).state, MODEL_AWAY);
    assert_true(source_now(1).status != 0);
    assert_int_equal(model_table(model, there)->row_count, 0);
    assert_int_equal((DWORD)model_table(model, there)->columns[0].status, PDH_CSTATUS_NO_MACHINE);
    const struct table *now = after(here, model_table(model, here)->tick + 3);
    assert_int_equal(now->row_count, 1);
    assert_string_equal(now->rows[0].name, "");
    assert_int_equal(source_now(0).state, MODEL_GOOD);
}

/* ---- captures ---- */

enum { COLUMNS = 10, MOST_SAMPLES = 30 };
static char headers[COLUMNS][256];
static double wanted[MOST_SAMPLES][COLUMNS]; /* one row per sample; NaN: blank */
static char times[MOST_SAMPLES][64];
static size_t sample_count;

static void next_field(char **cursor, char *ret, size_t size)
{
    char *start = *cursor + (**cursor == ',') + 1, *quote = strchr(start, '"');
    *quote = '\0';
    *cursor = quote + 1;
    assert_true(strlen(start) < size);
    memcpy(ret, start, strlen(start) + 1);
}

static void read_csv(const char *name)
{
    char line[8192];
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    char *cursor = line;
    char field[256];
    next_field(&cursor, field, sizeof field);
    for (size_t c = 0; c < COLUMNS; c++)
        next_field(&cursor, headers[c], sizeof headers[c]);
    for (sample_count = 0; fgets(line, sizeof line, file) && *line == '"'; sample_count++) {
        cursor = line;
        next_field(&cursor, times[sample_count], sizeof times[0]);
        for (size_t c = 0; c < COLUMNS; c++) {
            next_field(&cursor, field, sizeof field);
            wanted[sample_count][c] = strcmp(field, " ") == 0 ? NAN : strtod(field, NULL);
        }
    }
    fclose(file);
}

static void relog_to_csv(const char *capture)
{
    char line[1024], out[512];
    snprintf(out, sizeof out, "%s/relog.csv", frozen_folder);
    snprintf(line, sizeof line, "'%s' '%s' -f CSV -o '%s' -y >/dev/null", relog, capture, out);
    frozen_run("%s%s", line, "");
    read_csv(out);
    assert_int_equal(sample_count, 25);
}

/* Splits a column's heading \\machine\object(instance)\counter into the path \object(*)\counter and
 * the instance. */
static void split(const char *header, char *path, char *instance)
{
    const char *object = strchr(header + 2, '\\'), *counter = strrchr(header, '\\');
    const char *bracket = strchr(object, '(');
    bool has = bracket && bracket < counter;
    sprintf(path, "%.*s%s%s", (int)((has ? bracket : counter) - object), object, has ? "(*)" : "",
            counter);
    sprintf(instance, "%.*s", has ? (int)(counter - bracket - 2) : 0, has ? bracket + 1 : "");
}

static const struct history *history_of(unsigned table, const char *name)
{
    size_t count;
    const struct history *const *histories = model_histories(model, table, &count);
    for (size_t i = 0; i < count; i++)
        if (histories[i] && strcasecmp(histories[i]->name, name) == 0)
            return histories[i];
    return NULL;
}

/* Checks that the model's time of a sample, as local time, is the time in the capture. */
static void assert_time(size_t number, uint64_t tick)
{
    char text[64];
    int64_t time = model_time(model, number, tick);
    time_t seconds = (time_t)(time / 10000000 - 11644473600);
    size_t length = strftime(text, sizeof text, "%m/%d/%Y %H:%M:%S", localtime(&seconds));
    snprintf(text + length, sizeof text - length, ".%03d", (int)(time / 10000 % 1000));
    assert_string_equal(text, times[tick - 1]);
}

static void assert_capture(const char *capture)
{
    char path[COLUMNS][256], instance[COLUMNS][256];
    unsigned tables[COLUMNS];
    int number = model_add_capture(model, capture, NULL);
    assert_true(number >= 0);
    for (size_t c = 0; c < COLUMNS; c++) {
        if (c == COLUMNS / 2)
            /* the other tables are added after the whole capture was read */
            complete((size_t)number);
        split(headers[c], path[c], instance[c]);
        const char *one = path[c];
        tables[c] = model_add_table(model, (size_t)number, &one, 1, true);
    }
    after(tables[COLUMNS - 1], sample_count - 1);
    complete((size_t)number);
    assert_int_equal(source_now((size_t)number).tick, sample_count);
    assert_int_equal(source_now((size_t)number).status, 0);
    assert_true(model_time(model, (size_t)number, sample_count) == source_now((size_t)number).time);
    for (size_t c = 0; c < COLUMNS; c++) {
        const struct table *table = model_table(model, tables[c]);
        const struct history *history = history_of(tables[c], instance[c]);
        assert_int_equal(table->tick, sample_count);
        assert_int_equal(table->columns[0].status, 0);
        for (uint64_t t = 1; t <= sample_count; t++) {
            struct span span = {NAN, NAN, NAN, NAN};
            double value = wanted[t - 1][c];
            if (history)
                model_span(history, 0, t, t + 1, &span);
            if (isnan(value) != (bool)isnan(span.last) ||
                fabs((double)span.last - value) > 1e-6 * fabs(value))
                fail_msg("%s at %d: %g instead of %g", headers[c], (int)t, (double)span.last,
                         value);
            assert_time((size_t)number, t);
        }
    }
}

static void golden(const char *kind)
{
    char capture[512];
    snprintf(capture, sizeof capture, "%s/perfmon-logs/CounterSamples.%s", getenv("GOLDEN"), kind);
    relog_to_csv(capture);
    assert_capture(capture);
}

static void captures_equal_what_relog_writes(void **state)
{
    golden("blg");
    golden("csv");
    golden("tsv");
}

/* A capture that is cut off at any byte: the complete samples are read, in order, then the capture
 * ends. */
static void torn_captures(void **state)
{
    static const char *const paths[] = {"\\Memory\\% Committed Bytes In Use"};
    char capture[512], torn[128];
    unsigned tables[24];
    size_t most = 0;
    snprintf(capture, sizeof capture, "%s/perfmon-logs/CounterSamples.blg", getenv("GOLDEN"));
    relog_to_csv(capture);
    for (unsigned i = 0; i < 24; i++) {
        snprintf(torn, sizeof torn, "%s/torn%u.blg", frozen_folder, i);
        char line[1024];
        snprintf(line, sizeof line, "head -c %u '%s' >'%s'", i * 4999, capture, torn);
        frozen_run("%s%s", line, "");
        assert_int_equal(model_add_capture(model, torn, NULL), i);
        tables[i] = model_add_table(model, i, paths, 1, true);
        complete(i);
        uint64_t count = source_now(i).tick;
        assert_true(count <= sample_count);
        assert_true(count > 0 || source_now(i).status != 0);
        assert_true(count == sample_count || source_now(i).loss || source_now(i).status);
        const struct history *history = history_of(tables[i], "");
        for (uint64_t t = 1; history && t <= count; t++) {
            struct span span;
            model_span(history, 0, t, t + 1, &span);
            assert_true(fabs((double)span.last - wanted[t - 1][6]) < 1e-4);
        }
        most = count > most ? count : most;
    }
    assert_true(most > 5);
}

/* Every third line of the capture is damaged: the others are read, in order, until the damage is
 * more than the reader accepts. */
static void f_h14_damaged_places_are_skipped(void **state)
{
    enum { LINES = 600, MOST = 100 };
    static const char *const paths[] = {"\\Thing\\Count"};
    for (unsigned lines = 30; lines <= LINES; lines += LINES - 30) {
        char capture[128];
        snprintf(capture, sizeof capture, "%s/damaged%u.csv", frozen_folder, lines);
        FILE *file = fopen(capture, "w");
        fputs("\"(PDH-CSV 4.0) (UTC)(0)\",\"\\\\m\\Thing\\Count\"\n", file);
        for (unsigned t = 0; t < lines; t++)
            fprintf(file, "\"%s2/2003 %02u:%02u:%02u.000\",\"%u\"\n", t % 3 ? "01/0" : "x",
                    t / 3600, t / 60 % 60, t % 60, t);
        fclose(file);
        size_t number = (size_t)model_add_capture(model, capture, NULL);
        unsigned table = model_add_table(model, number, paths, 1, true);
        complete(number);
        bool all = lines / 3 <= MOST;
        const struct model_source now = source_now(number);
        assert_int_equal(now.tick, all ? lines / 3 * 2 : MOST * 2);
        assert_int_equal((DWORD)now.status, PDH_BINARY_LOG_CORRUPT);
        assert_non_null(strstr(now.loss, "line 2, "));
        assert_non_null(strstr(now.loss, "line 29, "));
        assert_int_equal(strstr(now.loss, "more than 100 damaged places") == NULL, all);
        for (uint64_t t = 1; t <= now.tick; t++) {
            struct span span;
            model_span(history_of(table, ""), 0, t, t + 1, &span);
            assert_true(span.last == (double)((t - 1) / 2 * 3 + (t - 1) % 2 + 1));
        }
    }
}

static void a_capture_that_is_not_there(void **state)
{
    static const char *const paths[] = {"\\Memory\\% Committed Bytes In Use"};
    PDH_HQUERY query;
    PDH_STATUS status = PdhOpenQueryA("/no/such/file.blg", 0, &query);
    assert_true(status != 0);
    assert_int_equal(model_add_capture(model, "/no/such/file.blg", NULL), 0);
    unsigned table = model_add_table(model, 0, paths, 1, true);
    for (int i = 0; i < 1000 && source_now(0).status == 0; i++) {
        model_update(model);
        pass(2);
    }
    assert_int_equal((DWORD)source_now(0).status, (DWORD)status);
    assert_int_equal(source_now(0).tick, 0);
    assert_int_equal(model_table(model, table)->row_count, 0);
    model_add_table(model, 0, paths, 1, true);
    pass(100);
    model_update(model);
    assert_int_equal((DWORD)source_now(0).status, (DWORD)status);
}

/* A text capture has no raw values such as start times; processes keep their identities all the
 * same as long as they exist. */
static void processes_in_a_text_capture(void **state)
{
    char capture[128];
    snprintf(capture, sizeof capture, "%s/processes.csv", frozen_folder);
    FILE *file = fopen(capture, "w");
    fputs("\"(PDH-CSV 4.0) (UTC)(0)\"", file);
    for (int i = 0; i < 3; i++)
        fprintf(file, ",\"\\\\m\\Process(p%d)\\ID Process\",\"\\\\m\\Process(p%d)\\Elapsed Time\"",
                i, i);
    for (int t = 0; t < 30; t++) {
        fprintf(file, "\n\"01/02/2003 04:05:%02d.000\"", t);
        for (int i = 0; i < 3; i++)
            if (i == 1 && t > 10 && t < 20)
                fputs(",\" \",\" \"", file);
            else
                fprintf(file, ",\"%d\",\"%d.5\"", 100 + i, 50 + t);
    }
    fputs("\n", file);
    fclose(file);
    model_add_capture(model, capture, NULL);
    unsigned table = model_add_table(model, 0, process_paths, 1, true);
    complete(0);
    size_t count, histories = 0;
    const struct history *const *all = model_histories(model, table, &count);
    for (size_t i = 0; i < count; i++)
        histories += all[i] != NULL;
    assert_int_equal(histories, 3);
    const struct history *gap = history_of(table, "p1");
    for (uint64_t t = 1; t <= 30; t++) {
        struct span span;
        model_span(gap, 0, t, t + 1, &span);
        assert_true(t > 11 && t < 21 ? isnan(span.last) : span.last == 101);
    }
}

static void a_capture_of_many_samples(void **state)
{
    enum { SAMPLES = 70000 };
    static const char *const paths[] = {"\\Thing\\Count"};
    char capture[128];
    snprintf(capture, sizeof capture, "%s/long.csv", frozen_folder);
    FILE *file = fopen(capture, "w");
    fputs("\"(PDH-CSV 4.0) (UTC)(0)\",\"\\\\m\\Thing\\Count\"\n", file);
    for (int t = 1; t <= SAMPLES; t++)
        fprintf(file, "\"01/%02d/2003 %02d:%02d:%02d.000\",\"%d\"\n", 2 + t / 86400, t / 3600 % 24,
                t / 60 % 60, t % 60, t);
    fclose(file);
    model_add_capture(model, capture, NULL);
    unsigned table = model_add_table(model, 0, paths, 1, true);
    complete(0);
    assert_int_equal(source_now(0).tick, SAMPLES);
    const struct history *history = history_of(table, "");
    assert_int_equal(history->step, 2);
    struct span span;
    model_span(history, 0, 1, SAMPLES + 1, &span);
    assert_true(span.most == SAMPLES && span.least <= 2);
    assert_true(fabs((double)span.average - SAMPLES / 2.0) < 100);
    for (uint64_t t = 1; t <= SAMPLES; t += 1234) {
        model_span(history, 0, t, t + 1, &span);
        assert_true(fabs((double)span.last - (double)t) <= 2);
    }
}

int main(int argc, char **argv)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        CASE(processes_keep_their_identity),
        CASE(a_catalogue_is_freed_at_once),
        CASE(workers_keep_their_identity),
        CASE(texts_are_those_of_the_process),
        CASE(the_catalogue_reads_instances_anew),
        CASE(an_end_leaves_no_gap_in_other_rates),
        CASE(threads_of_one_process),
        CASE(a_machine_that_cannot_be_reached),
        CASE(captures_equal_what_relog_writes),
        CASE(torn_captures),
        CASE(f_h14_damaged_places_are_skipped),
        CASE(a_capture_that_is_not_there),
        CASE(processes_in_a_text_capture),
        CASE(a_capture_of_many_samples),
    };
    relog = argv[argc - 1];
    return cmocka_run_group_tests(tests, make_machine, frozen_remove);
}
