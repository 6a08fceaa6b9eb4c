/* SPDX-License-Identifier: MIT */
/*
 * All frozen machines (tests/roots: folders with files of proc and sys) with all providers of this
 * project: each provider answers with a valid block, whose names are valid in counter paths. Also
 * every number of those machines that the providers' own tests omit: many nodes, ARM, old control
 * groups. The values follow rules in tests/roots/generate.
 */
#include "answer.h"

#include <dirent.h>

enum {
    SYSTEM = 2,
    MEMORY = 4,
    PROCESS = 230,
    THREAD = 232,
    PHYSICAL = 234,
    LOGICAL = 236,
    PROCESSOR = 238,
    INTERFACE = 510,
    PAGING_FILE = 700,
    SPACE = 786,
    DETAILS = 816,
    JOB_DETAILS = 1548,
    JOB = 1500,
    NODE = 1814,
    ADAPTER = 1820,
    INFORMATION = 100000,
    PRESSURE = 100100,
    INTERRUPT = 100300,
    SOFTNET = 100400,
    ZONE = 100500,
    LIMITS = 100700,
    UNIT = 100900
};
static const uint64_t KIB = 1024;

static void run_query(const char *name, const char *root, const char *query)
{
    for (size_t i = 0; i < SHIPPED_PROVIDERS; i++)
        if (strcmp(shipped_providers[i][0], name) == 0)
            query_root(shipped_providers[i], root, query);
}

static uint64_t tick(void)
{
    return 10000000 / (uint64_t)sysconf(_SC_CLK_TCK);
}

static unsigned count_of(unsigned index)
{
    opl_object_view object;
    assert_true(answer_object(index, &object));
    return (unsigned)object.type.NumInstances;
}

/* ---- every machine, every provider ---- */

/* Is the name valid in a counter path? Names that are paths keep their slashes. */
static bool name_is_sanitized(const char *name)
{
    return !strpbrk(name, name[0] == '/' ? "\\()#*" : "\\()/#*");
}

static size_t values_of(const opl_object_view *object, const opl_instance_view *instance)
{
    opl_counter_view counter = {0};
    uint64_t value;
    size_t count = 0;
    while (opl_object_next_counter(&answer_block, object, &counter))
        count += opl_counter_number(&answer_block, instance, &counter, &value) ||
                 opl_counter_text(&answer_block, object, instance, &counter, NULL, 0);
    return count;
}

/* Walks through an object. Returns how many values were read: one for each counter of each
 * instance. */
static size_t walk_object(const char *where, const opl_object_view *object)
{
    opl_instance_view instance = {0};
    char name[2048];
    size_t values = 0, instances = 0;
    while (opl_object_next_instance(&answer_block, object, &instance)) {
        opl_instance_name(&answer_block, object, &instance, name, sizeof name);
        if (!name_is_sanitized(name))
            fail_msg("%s: %u has \"%s\"", where, (unsigned)object->type.ObjectNameTitleIndex, name);
        size_t count = values_of(object, &instance);
        assert_int_equal(count, object->type.NumCounters);
        values += count;
        instances++;
    }
    assert_int_equal(instances, object->type.NumInstances < 0 ? 1 : object->type.NumInstances);
    return values;
}

static size_t walk(const char *root, const char *const provider[4], const char *query)
{
    char where[512];
    opl_object_view object = {0};
    size_t values = 0, objects = 0;
    snprintf(where, sizeof where, "%s of %s", provider[0], root);
    query_root(provider, root, query);
    for (; opl_block_next_object(&answer_block, &object); objects++)
        values += walk_object(where, &object);
    assert_int_equal(objects, answer.header.NumObjectTypes);
    return values;
}

static size_t walk_tree(const char *root)
{
    size_t costly = 0;
    for (size_t i = 0; i < SHIPPED_PROVIDERS; i++) {
        bool nothing = strcmp(root, "vm2") == 0 && strcmp(shipped_providers[i][0], "perfdisk") == 0;
        if ((walk(root, shipped_providers[i], "Global") == 0) !=
            nothing) /* of vm2 no disks were captured, so perfdisk must answer with nothing there */
            fail_msg("%s of %s: all or nothing", shipped_providers[i][0], root);
        costly += walk(root, shipped_providers[i], "Costly");
    }
    return costly;
}

static void every_provider_walks_every_machine(void **state)
{
    char path[1024];
    size_t trees = 0, costly = 0;
    snprintf(path, sizeof path, "%s/tests/roots", getenv("SOURCE_ROOT"));
    DIR *folder = opendir(path);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.') {
            costly += walk_tree(entry->d_name);
            trees++;
        }
    closedir(folder);
    assert_true(trees >= 11);
    assert_true(costly > 0);
}

/* ---- missing counters ---- */

/* Reads what a provider prints to standard error during three collections. */
static void read_trace(const char *const provider[4], const char *root, char *ret, size_t capacity)
{
    char path[1024];
    FILE *file = tmpfile();
    assert_non_null(file);
    pid_t child = fork();
    if (child == 0) {
        struct library library;
        snprintf(path, sizeof path, "%s/tests/roots/%s", getenv("SOURCE_ROOT"), root);
        setenv("OPENPERFLIB_SYSROOT", path, 1);
        setenv("OPENPERFLIB_TRACE", "1", 1);
        dup2(fileno(file), STDERR_FILENO);
        library_load(&library, provider[0], provider[1], provider[2], provider[3]);
        bool good = library.open(NULL) == 0;
        for (int i = 0; i < 3 && good; i++)
            good = library_query(&library, "Global") == 0;
        library.close();
        _exit(good ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    rewind(file);
    ret[fread(ret, 1, capacity - 1, file)] = 0;
    fclose(file);
}

static void is_reported_once(const char *text, const char *what)
{
    const char *found = strstr(text, what);
    if (!found || strstr(found + 1, what))
        fail_msg("%s: \"%s\"", found ? "twice" : "never", what);
}

static void what_is_missing_is_reported_once(void **state)
{
    static char text[1 << 20];
    /* this machine has no proc/vmstat */
    read_trace(shipped_providers[0], "container", text, sizeof text);
    is_reported_once(text, "Memory: no \"Page Faults/sec\" here");
    is_reported_once(text, "Processor: no \"Interrupts/sec\" here");
    read_trace(shipped_providers[4], "laptop4", text,
               sizeof text); /* one file of this machine lacks one of its lines */
    is_reported_once(text,
                     "\"% Some Time\" cannot be read for some instances (\"irq\" is the first)");
}

/* ---- processors ---- */

static void processor_values(unsigned object, const char *name, uint64_t cpu)
{
    VALUE(object, name, 6, (9000 + 2 * cpu) * tick());
    VALUE(object, name, 142, (3000 + 2 * cpu) * tick());
    VALUE(object, name, 144, (16000 + 3 * cpu) * tick());
    VALUE(object, name, 696, (7000 + cpu) * tick());
    VALUE(object, name, 698, (6000 + cpu) * tick());
    VALUE(object, name, 1746, (9000 + 2 * cpu) * tick());
}

/* Checks all online processors in both objects. Their numbers are 0 to count - 1; `node_of` returns
 * the NUMA node of a processor. */
static void all_processors(const char *root, unsigned count, unsigned (*node_of)(unsigned cpu))
{
    char name[16];
    run_query("perfos", root, "238");
    assert_int_equal(count_of(PROCESSOR), count + 1);
    for (unsigned cpu = 0; cpu < count; cpu++) {
        snprintf(name, sizeof name, "%u", cpu);
        processor_values(PROCESSOR, name, cpu);
    }
    VALUE(PROCESSOR, "_Total", 6, (9000 * count + count * (count - 1)) * tick() / count);
    run_query("perflinux", root, "100000");
    for (unsigned cpu = 0; cpu < count; cpu++) {
        snprintf(name, sizeof name, "%u,%u", node_of(cpu), cpu);
        processor_values(INFORMATION, name, cpu);
        VALUE(INFORMATION, name, 100006, (8000 + cpu) * tick());
    }
    VALUE(INFORMATION, "_Total", 6, (9000 * count + count * (count - 1)) * tick() / count);
}

static unsigned node_of_64(unsigned cpu)
{
    return cpu % 32 / 8;
}

static unsigned node_of_256(unsigned cpu)
{
    return cpu / 32;
}

static unsigned only_node(unsigned cpu)
{
    (void)cpu;
    return 0;
}

static void all_64_processors(void **state)
{
    all_processors("cpu64", 64, node_of_64);
    assert_int_equal(count_of(INFORMATION), 64 + 4 + 1);
    VALUE(INFORMATION, "2,_Total", 6, (9000 * 16 + 2 * (8 * 16 + 8 * 48 + 2 * 28)) * tick() / 16);
    VALUE(INFORMATION, "3,63", 100010, 2064); /* 2063.5 MHz in proc/cpuinfo */
    run_query("perfos", "cpu64", "238");
    VALUE(PROCESSOR, "63", 148, 280 + 8 * 63);
    VALUE(PROCESSOR, "_Total", 148, 64 * 280 + 8 * 63 * 32);
    VALUE(PROCESSOR, "63", 1334, 4500 + 10 * 63);
}

static void all_250_of_256_processors(void **state)
{
    all_processors("cpu256", 250, node_of_256);
    assert_int_equal(count_of(INFORMATION), 250 + 8 + 1); /* node 12 has no processors */
    VALUE(INFORMATION, "7,_Total", 6, (9000 * 26 + 2 * (26 * 224 + 25 * 13)) * tick() / 26);
    run_query("perfos", "cpu256", "238");
    /* proc/interrupts of this machine is longer than 64 KiB, the most that is read, so the counter
     * is absent */
    assert_false(answer_has(PROCESSOR, 148));
    VALUE(PROCESSOR, "249", 1334, 4500 + 10 * 249);
    VALUE(PROCESSOR, "_Total", 1334, 250 * 4500 + 10 * 249 * 125);
}

/* The fast processors of this machine have at most 2.4 GHz, the others 1.8 GHz. */
static void fast_and_slow_processors(void **state)
{
    static const char *const names[] = {"0,0", "0,1", "0,2", "0,3", "0,4", "0,5", "0,6"};
    all_processors("arm64", 7, only_node);
    for (unsigned cpu = 0; cpu < 7; cpu++) {
        VALUE(INFORMATION, names[cpu], 100010, 1000 + 100 * cpu);
        VALUE(INFORMATION, names[cpu], 100012, 1000000 + 100000 * cpu);
        BASE(INFORMATION, names[cpu], 100012, cpu < 4 ? 1800000 : 2400000);
    }
    VALUE(INFORMATION, "_Total", 100010, 1300);
    BASE(INFORMATION, "_Total", 100012, (4 * 1800000 + 3 * 2400000) / 7);
}

static void interrupts_of_arm(void **state)
{
    run_query("perfos", "arm64", "238");
    VALUE(PROCESSOR, "0", 148, 10 + 20 + 30);
    VALUE(PROCESSOR, "6", 148, 10 + 20 + 30 + 4 * 6);
    VALUE(PROCESSOR, "_Total", 148, 7 * 60 + 4 * 21);
    run_query("perflinux", "arm64", "100300");
    assert_string_equal(answer_names(INTERRUPT),
                        "11 arch_timer,14 nvme0q0,IPI0 Rescheduling interrupts,"
                        "IPI1 Function call interrupts,_Total,");
    VALUE(INTERRUPT, "14 nvme0q0", 148, 7 * 10 + 21);
    VALUE(INTERRUPT, "_Total", 148, 7 * 60 + 4 * 21);
}

/* ---- memory ---- */

static void nodes_values(const char *root, const char *const *names, size_t count)
{
    run_query("perfos", root, "1814");
    assert_int_equal(count_of(NODE), count);
    for (size_t i = 0; i < count; i++) {
        uint64_t times = strtoul(names[i], NULL, 10) + 1;
        VALUE(NODE, names[i], 1816, 4096 * times);
        VALUE(NODE, names[i], 1818, 1024 * times);
        VALUE(NODE, names[i], 1822, times);
        VALUE(NODE, names[i], 1824, 1025 * times);
    }
}

static void memory_of_nodes(void **state)
{
    static const char *const names[] = {"0", "1", "2", "3", "4", "5", "6", "7", "12"};
    nodes_values("laptop4", names, 1);
    nodes_values("cpu128", names, 2);
    nodes_values("cpu64", names, 4);
    nodes_values("cpu256", names, 9);
    run_query("perflinux", "cpu256", "100500");
    assert_int_equal(count_of(ZONE), 10); /* with _Total */
    run_query("perflinux", "cpu64", "100500");
    assert_int_equal(count_of(ZONE), 6);
}

static void no_swap(void **state)
{
    static const char *const roots[] = {"cpu64", "cgroup1", "old419", "cpu128"};
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        run_query("perfos", roots[i], "700");
        assert_string_equal(answer_names(PAGING_FILE), "no object");
    }
    run_query("perfos", "arm64", "Global"); /* a kernel without swap */
    assert_string_equal(answer_names(PAGING_FILE), "no object");
    assert_false(answer_has(MEMORY, 48));
    VALUE(MEMORY, NULL, 28, 70);
    VALUE(MEMORY, NULL, 24, 32000000 * KIB);
    run_query("perfos", "cpu256", "700");
    VALUE(PAGING_FILE, "/dev/dm-9", 702, 250000);
    BASE(PAGING_FILE, "/dev/dm-9", 702, 1000000);
}

/* ---- other values of each machine ---- */

static void system_values(const char *root, uint64_t ctxt, uint64_t waiting, uint64_t processes,
                          uint64_t threads, uint64_t faults)
{
    run_query("perfos", root, "2 4");
    VALUE(SYSTEM, NULL, 146, ctxt);
    VALUE(SYSTEM, NULL, 44, waiting);
    VALUE(SYSTEM, NULL, 248, processes);
    VALUE(SYSTEM, NULL, 250, threads);
    VALUE(MEMORY, NULL, 28, faults);
    VALUE(MEMORY, NULL, 24, 32000000 * KIB);
    VALUE(MEMORY, NULL, 1676, 16000000 * KIB);
}

static void how_much_there_is_to_do(void **state)
{
    system_values("cpu64", 64000, 80 - 64, 2, 900, 640);
    system_values("cpu256", 256000, 251 - 250, 2, 9000, 2560);
    system_values("arm64", 7000, 0, 2, 300, 70);
    system_values("cgroup1", 2000, 0, 1, 70, 20);
}

static void processes_of(const char *root, const char *names, const char *server, unsigned threads,
                         unsigned processors)
{
    run_query("perfproc", root, "230 232");
    assert_string_equal(answer_names(PROCESS), names);
    VALUE(PROCESS, "Idle", 680, processors);
    VALUE(PROCESS, server, 680, threads);
    VALUE(PROCESS, server, 142, 100 * tick());
    VALUE(PROCESS, server, 144, 50 * tick());
    VALUE(PROCESS, server, 180, 1200 * KIB);
    /* the thread of systemd, and the instance _Total */
    assert_int_equal(count_of(THREAD),
                     processors + 1 + (strcmp(server, "systemd") ? threads : 0) + 1);
}

static void runner(void **state)
{
    processes_of("cpu64", "Idle,systemd,server,_Total,", "server", 5, 64);
    processes_of("cpu256", "Idle,systemd,server,_Total,", "server", 3, 250);
    VALUE(PROCESS, "server", 784, 4000000);
    processes_of("arm64", "Idle,systemd,app,_Total,", "app", 2, 7);
    processes_of("cgroup1", "Idle,systemd,_Total,", "systemd", 1, 2);
}

static void disk_line(unsigned object, const char *name, uint64_t line)
{
    VALUE(object, name, 198, 9000 + line);
    VALUE(object, name, 214, 1000 + line);
    VALUE(object, name, 216, 5000 + line);
    VALUE(object, name, 220, (3000 + line) * 512);
    VALUE(object, name, 222, (7000 + line) * 512);
}

static void disks_and_places(void **state)
{
    run_query("perfdisk", "cpu64", "234 236");
    assert_int_equal(count_of(PHYSICAL), 8 + 1);
    disk_line(PHYSICAL, "nvme7n1", 7);
    VALUE(PHYSICAL, "_Total", 214, 8 * 1000 + 28);
    disk_line(LOGICAL, "/", 0);
    run_query("perfdisk", "cpu256", "234 236");
    assert_string_equal(answer_names(LOGICAL), "/,/mnt/pmem0,_Total,");
    disk_line(LOGICAL, "/mnt/pmem0", 1);
    VALUE(LOGICAL, "/mnt/pmem0", 410, 0);
    run_query("perfdisk", "arm64", "234 236");
    /* zram is memory, so it is no disk */
    assert_string_equal(answer_names(PHYSICAL), "mmcblk0,sda,_Total,");
    disk_line(PHYSICAL, "sda", 2);
    disk_line(LOGICAL, "/", 1);
    run_query("perfdisk", "cgroup1", "234 236");
    assert_string_equal(answer_names(PHYSICAL), "vda,_Total,");
    assert_string_equal(answer_names(LOGICAL), "/,_Total,");
    disk_line(LOGICAL, "/", 1);
}

static void interface_line(const char *name, uint64_t line)
{
    VALUE(INTERFACE, name, 264, 1000 + line);
    VALUE(INTERFACE, name, 506, 9000 + line);
    VALUE(INTERFACE, name, 388, 10000 + 2 * line);
}

static void interfaces(void **state)
{
    run_query("perfnet", "cpu64", "510 1820");
    assert_string_equal(answer_names(INTERFACE), "lo,ens1f0,ens1f1,ens2f0,ens2f1,");
    assert_string_equal(answer_names(ADAPTER), "ens1f0,ens1f1,ens2f0,ens2f1,");
    interface_line("ens2f1", 4);
    VALUE(INTERFACE, "ens1f0", 520, 25000000000);
    run_query("perfnet", "cpu256", "510");
    interface_line("eth0", 1);
    VALUE(INTERFACE, "eth0", 520, 400000000000);
    run_query("perfnet", "arm64", "510 1820");
    assert_string_equal(answer_names(ADAPTER), "end0,wlan0,");
    interface_line("rmnet_ipa0", 3);
    run_query("perfnet", "cgroup1", "510 638");
    interface_line("eth0", 1);
    VALUE(638, NULL, 644, 3050);
}

static void old_control_groups_are_no_jobs(void **state)
{
    run_query("perflinux", "cgroup1", "Global");
    assert_string_equal(answer_names(UNIT), "no object");
    assert_string_equal(answer_names(JOB), "no object");
    assert_string_equal(answer_names(PRESSURE), "no object");
    run_query("perflinux", "cgroup1", "Costly");
    assert_string_equal(answer_names(UNIT), "no object");
    assert_string_equal(answer_names(JOB), "no object");
}

static void pressure_and_limits(void **state)
{
    run_query("perflinux", "cpu64", "100100 100400");
    assert_string_equal(answer_names(PRESSURE), "cpu,memory,io,");
    VALUE(PRESSURE, "io", 100102, 30000000);
    assert_int_equal(count_of(SOFTNET), 64 + 1);
    run_query("perflinux", "cpu256", "100400 100700");
    assert_int_equal(count_of(SOFTNET), 250 + 1);
    VALUE(LIMITS, NULL, 100702, 9000);
    VALUE(LIMITS, NULL, 100712, 7000);
    VALUE(LIMITS, NULL, 100714, 9000000);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_provider_walks_every_machine),
        cmocka_unit_test(what_is_missing_is_reported_once),
        cmocka_unit_test(all_64_processors),
        cmocka_unit_test(all_250_of_256_processors),
        cmocka_unit_test(fast_and_slow_processors),
        cmocka_unit_test(interrupts_of_arm),
        cmocka_unit_test(memory_of_nodes),
        cmocka_unit_test(no_swap),
        cmocka_unit_test(how_much_there_is_to_do),
        cmocka_unit_test(runner),
        cmocka_unit_test(disks_and_places),
        cmocka_unit_test(interfaces),
        cmocka_unit_test(old_control_groups_are_no_jobs),
        cmocka_unit_test(pressure_and_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
