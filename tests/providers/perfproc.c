/* SPDX-License-Identifier: MIT */
/* perfproc.so with proc files that the test makes: odd names, zombies, unreadable and vanished
 * files, exact values. */
#include "perfproc.h"
#include "../../providers/perfproc/perfproc.h"

enum { FREQUENCY = 10000000, BTIME = 1700000000 };

static uint64_t tick(void)
{
    return FREQUENCY / (uint64_t)sysconf(_SC_CLK_TCK);
}

/* The words of a process's file stat that matter for the tests. Most other words are numbers that
 * show their position. */
struct task {
    int id, parent, threads, priority, nice, realtime, policy;
    char state;
    const char *name;
};

static void write_stat(const char *folder, const struct task *task)
{
    char path[128], text[1024];
    snprintf(path, sizeof path, "proc/%s/stat", folder);
    int length = snprintf(text, sizeof text,
                          "%d (%s) %c %d 5 6 7 8 9 100 11 12 13 1000 500 16 17 %d %d %d 21 2200 "
                          "8192000 300 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 %d %d 42\n",
                          task->id, task->name, task->state, task->parent, task->priority,
                          task->nice, task->threads, task->realtime, task->policy);
    tree_write_bytes(path, text, (size_t)length);
}

static void write_status(const char *folder, bool memory)
{
    char path[128], text[512];
    snprintf(path, sizeof path, "proc/%s/status", folder);
    snprintf(text, sizeof text,
             "Name:\tx\nTgid:\t1\n%svoluntary_ctxt_switches:\t40\n"
             "nonvoluntary_ctxt_switches:\t2\n",
             memory ? "VmPeak:\t   9000 kB\nVmHWM:\t    1300 kB\nVmRSS:\t    1200 kB\n"
                      "RssAnon:\t     700 kB\nVmSwap:\t      60 kB\n"
                    : "");
    tree_write(path, text);
}

static void write_process(const struct task *task)
{
    char folder[64], path[128];
    snprintf(folder, sizeof folder, "%d", task->id);
    write_stat(folder, task);
    write_status(folder, task->state != 'Z');
    snprintf(path, sizeof path, "proc/%d/io", task->id);
    tree_write(path, "rchar: 3000\nwchar: 2000\nsyscr: 30\nsyscw: 20\n"
                     "read_bytes: 8192\nwrite_bytes: 4096\ncancelled_write_bytes: 1024\n");
    for (int i = 0; i < task->threads; i++) {
        struct task thread = *task;
        thread.id = task->id + i;
        snprintf(folder, sizeof folder, "%d/task/%d", task->id, thread.id);
        write_stat(folder, &thread);
        write_status(folder, true);
    }
}

static const struct task ordinary = {100, 1, 1, 20, 0, 0, 0, 'S', "ordinary"};

static int begin(void **state)
{
    static const char *const names[] = {"with blank",  "a) R 1 2 (b", ")",           "(",
                                        "two\nlines",  "\xff\xfe!",   "caf\xc3\xa9", "",
                                        "x (y) z\\1/2"};
    (void)state;
    tree_make();
    tree_write("proc/stat", "cpu  1 2 3 400 50\ncpu0 1 2 3 100 20\ncpu1 1 2 3 300 30\n"
                            "intr 5\nbtime 1700000000\n");
    write_process(&ordinary);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct task odd = {200 + (int)i * 10, 100, 1, 20, 0, 0, 0, 'S', names[i]};
        write_process(&odd);
    }
    struct task zombie = {300, 100, 1, 20, 0, 0, 0, 'Z', "zombie"};
    struct task many = {400, 100, 3, 20, 0, 0, 0, 'R', "many"};
    write_process(&zombie);
    write_process(&many);
    assert_int_equal(OpenSysProcessObject(NULL), 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    CloseSysProcessObject();
    tree_drop("");
    return 0;
}

static void odd_names_are_right(void **state)
{
    (void)state;
    static const char *const names[] = {
        "Idle",        "ordinary", "with blank",  "a] R 1 2 [b",
        "]",           "[",        "two_lines",   "\xef\xbf\xbd\xef\xbf\xbd!",
        "caf\xc3\xa9", "",         "x [y] z_1_2", "zombie",
        "many",        "_Total"};
    struct answer answer = run_query(u"230");
    opl_object_view object;
    opl_instance_view instance = {0};
    char name[256];
    assert_int_equal(answer.types, 1);
    assert_true(answer_object(&answer, 230, &object));
    assert_int_equal(object.type.NumInstances, sizeof names / sizeof *names);
    while (opl_object_next_instance(&answer.block, &object, &instance)) {
        opl_instance_name(&answer.block, &object, &instance, name, sizeof name);
        assert_string_equal(name, names[instance.position]);
        assert_int_equal(instance.definition.UniqueID, -1);
    }
    assert_int_equal(answer.block.fault, OPL_BLOCK_GOOD);
}

static void values_are_those_of_the_files(void **state)
{
    (void)state;
    struct answer answer = run_query(u"230");
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t boot = (BTIME + 11644473600ull) * FREQUENCY;
    const struct expected {
        DWORD index;
        uint64_t value;
    } expected[] = {
        {6,      1500 * tick()       },
        {142,    1000 * tick()       },
        {144,    500 * tick()        },
        {172,    9000 * 1024         },
        {174,    8192000             },
        {28,     112                 },
        {178,    1300 * 1024         },
        {180,    300 * page          },
        {184,    60 * 1024           },
        {186,    760 * 1024          },
        {680,    1                   },
        {682,    8                   },
        {784,    100                 },
        {1410,   1                   },
        {1412,   30                  },
        {1414,   20                  },
        {1416,   50                  },
        {1420,   3000                },
        {1422,   2000                },
        {1424,   5000                },
        {101802, 8192                },
        {101804, 4096                },
        {1478,   700 * 1024          },
        {684,    boot + 2200 * tick()},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_int_equal(process_value(&answer, 100, expected[i].index), expected[i].value);
    /* these proc files include no folders fd, so there is no Handle Count */
    assert_false(answer_has(&answer, 230, 952));
    assert_false(answer_has(&answer, 230, 56));
}

/* The value of the first counter if only these are requested. */
static uint64_t value_alone(const char *name, const struct wanted_counter *list, size_t count)
{
    wanted_here = (struct wanted_list){count ? list : NULL, count};
    struct answer answer = run_query(u"230");
    wanted_here = (struct wanted_list){0};
    return value_of(&answer, 230, name, list[0].counter);
}

static uint64_t working_set(size_t wanted, const char *name)
{
    static const struct wanted_counter list[] = {
        {230, 180},
        {230, 172}
    };
    return value_alone(name, list, wanted);
}

/* The working set is read from the file status, together with other sizes. If it is requested
 * alone, it is read from statm, if that file exists. (Only here do the two files differ.) */
static void the_working_set_alone_is_read_from_statm(void **state)
{
    (void)state;
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), kib = 1024;
    tree_write("proc/100/statm", "2000 350 80 10 0 100 0\n");
    assert_int_equal(working_set(0, "ordinary"), 1200 * kib);
    assert_int_equal(working_set(2, "ordinary"), 1200 * kib);
    assert_int_equal(working_set(1, "ordinary"), 350 * page);
    assert_int_equal(working_set(1, "zombie"), 0);
    assert_int_equal(working_set(1, "many"), 1200 * kib);
    tree_drop("proc/100/statm");
}

static uint64_t private_size(DWORD counter, const char *name)
{
    const struct wanted_counter list[] = {
        {230, counter},
        {230, 784    }
    };
    return value_alone(name, list, 2);
}

/* The private sizes, too, are read from statm if they are requested alone; Private Bytes only where
 * nothing can be in a paging file. */
static void private_sizes_alone_are_read_from_statm(void **state)
{
    (void)state;
    enum { PRIVATE_BYTES = 186, PRIVATE_SET = 1478 };
    static const char *const not_sure[][2] = {
        {"SwapTotal: 4 kB\n", "pswpin 0\npswpout 0\nzswpout 0\n"},
        {"SwapTotal: 0 kB\n", "pswpin 0\npswpout 1\nzswpout 0\n"},
        {"SwapTotal: 0 kB\n", "pswpin 0\npswpout 0\nzswpout 1\n"},
        {"SwapTotal: 0 kB\n", "pswpin 0\n"                      },
        {"MemTotal: 9 kB\n",  "pswpin 0\npswpout 0\n"           },
    };
    static const struct wanted_counter with_peak[] = {
        {230, 186},
        {230, 172}
    };
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), kib = 1024;
    tree_write("proc/100/statm", "2000 350 80 10 0 100 0\n");
    assert_int_equal(private_size(PRIVATE_SET, "ordinary"), (350 - 80) * page);
    assert_int_equal(private_size(PRIVATE_SET, "zombie"), 0);
    assert_int_equal(private_size(PRIVATE_SET, "many"), 700 * kib);
    for (size_t i = 0; i < sizeof not_sure / sizeof *not_sure; i++) {
        tree_write("proc/meminfo", not_sure[i][0]);
        tree_write("proc/vmstat", not_sure[i][1]);
        assert_int_equal(private_size(PRIVATE_BYTES, "ordinary"), 760 * kib);
    }
    tree_write("proc/meminfo", "SwapTotal: 0 kB\n");
    for (int zswap = 0; zswap < 2; zswap++) {
        tree_write("proc/vmstat", zswap ? "pswpout 0\nzswpout 0\n" : "pswpin 7\npswpout 0\n");
        assert_int_equal(private_size(PRIVATE_BYTES, "ordinary"), (350 - 80) * page);
        assert_int_equal(private_size(PRIVATE_BYTES, "zombie"), 0);
        assert_int_equal(private_size(PRIVATE_BYTES, "many"), 700 * kib); /* it has no statm */
        assert_int_equal(value_alone("ordinary", with_peak, 2), 760 * kib);
    }
    tree_drop("proc/meminfo");
    tree_drop("proc/vmstat");
    tree_drop("proc/100/statm");
}

static void idle_and_total(void **state)
{
    (void)state;
    struct answer answer = run_query(u"230");
    opl_object_view object;
    assert_true(answer_object(&answer, 230, &object));
    assert_int_equal(object.type.DefaultCounter, 0);
    assert_int_equal(object.type.PerfFreq.QuadPart, FREQUENCY);
    assert_int_equal(value_of(&answer, 230, "Idle", 784), 0);
    assert_int_equal(value_of(&answer, 230, "Idle", 6), 450 * tick());
    assert_int_equal(value_of(&answer, 230, "Idle", 680), 2);
    assert_int_equal(value_of(&answer, 230, "Idle", 684), (BTIME + 11644473600ull) * FREQUENCY);
    assert_int_equal(value_of(&answer, 230, "_Total", 784), 0);
    assert_int_equal(value_of(&answer, 230, "_Total", 682), 0);
    assert_int_equal(value_of(&answer, 230, "_Total", 6), (450 + 12 * 1500) * tick());
    assert_int_equal(value_of(&answer, 230, "_Total", 680), 2 + 11 + 3);
    assert_int_equal(value_of(&answer, 230, "_Total", 684), object.type.PerfTime.QuadPart);
}

static void zombies_have_no_memory_but_a_name(void **state)
{
    (void)state;
    struct answer answer = run_query(u"230");
    assert_int_equal(value_of(&answer, 230, "zombie", 172), 0);
    assert_int_equal(value_of(&answer, 230, "zombie", 784), 300);
    assert_int_equal(value_of(&answer, 230, "_Total", 172), 11 * 9000 * 1024);
}

/* When a process has ended and the kernel has released it, its stat file shows 0 threads. */
static void a_process_without_threads_has_ended(void **state)
{
    (void)state;
    opl_object_view object;
    opl_instance_view instance;
    write_process(&(struct task){500, 100, 0, 20, 0, 0, 0, 'X', "ended"});
    struct answer answer = run_query(u"230");
    assert_true(answer_object(&answer, 230, &object));
    assert_false(object_named(&answer, &object, "ended", &instance));
    assert_true(object_named(&answer, &object, "many", &instance));
    tree_drop("proc/500");
}

/* If the file io of one process cannot be read (here it is a folder, which even root cannot read as
 * a file), the counter has no definition in the whole answer, and the process is not in Process
 * IO. */
static void f_b1_what_may_not_be_read_of_one_process_is_absent(void **state)
{
    (void)state;
    opl_object_view object;
    opl_instance_view instance;
    tree_drop("proc/400/io");
    tree_write("proc/400/io/folder", "no file to read: fails for root too");
    struct answer answer = run_query(u"230 101800");
    for (DWORD index = 1412; index <= 1424; index++)
        assert_false(answer_has(&answer, 230, index));
    assert_false(answer_has(&answer, 230, 101802) || answer_has(&answer, 230, 101804));
    assert_int_equal(value_of(&answer, 101800, "ordinary", 101804), 4096);
    assert_int_equal(value_of(&answer, 230, "many", 142), 1000 * tick());
    assert_int_equal(value_of(&answer, 230, "many", 1478), 700 * 1024);
    assert_int_equal(value_of(&answer, 230, "_Total", 142), 12 * 1000 * tick());
    assert_int_equal(value_of(&answer, 101800, "ordinary", 1412), 30);
    assert_int_equal(value_of(&answer, 101800, "ordinary", 784),
                     value_of(&answer, 230, "ordinary", 784));
    assert_int_equal(value_of(&answer, 101800, "ordinary", 684),
                     value_of(&answer, 230, "ordinary", 684));
    assert_true(answer_object(&answer, 101800, &object));
    assert_int_equal(object.type.NumInstances, 11);
    assert_false(object_named(&answer, &object, "many", &instance));
    tree_drop("proc/400/io");
    write_process(&(struct task){400, 100, 3, 20, 0, 0, 0, 'R', "many"});
    answer = run_query(u"230");
    assert_int_equal(value_of(&answer, 230, "_Total", 1412), 12 * 30);
}

/* ---- input and output of children ---- */

static void write_io(int id, int creation, unsigned children, unsigned bytes)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "proc/%d/stat", id);
    snprintf(text, sizeof text,
             "%d (shell) S 1 5 6 7 8 9 100 %u 12 0 1000 500 0 0 20 0 1 21 %d 8192000 300 25 26 27 "
             "28 29 30 31 32 33 34 35 36 37 38 39 0 0 42\n",
             id, children, creation);
    tree_write(path, text);
    snprintf(path, sizeof path, "proc/%d/io", id);
    snprintf(text, sizeof text,
             "rchar: %u\nwchar: %u\nsyscr: %u\nsyscw: %u\nread_bytes: %u\nwrite_bytes: %u\n"
             "cancelled_write_bytes: %u\n",
             bytes, bytes * 2, bytes / 10, bytes / 5, bytes * 3, bytes * 4, bytes);
    tree_write(path, text);
}

static uint64_t read_bytes_of(uint64_t id)
{
    struct answer answer = run_query(u"230 101800");
    uint64_t bytes = process_value(&answer, id, 1420);
    assert_int_equal(process_value(&answer, id, 1412), bytes / 10);
    assert_int_equal(process_value(&answer, id, 1414), bytes / 5);
    assert_int_equal(process_value(&answer, id, 1416), bytes / 10 + bytes / 5);
    assert_int_equal(process_value(&answer, id, 1422), bytes * 2);
    assert_int_equal(process_value(&answer, id, 1424), bytes * 3);
    assert_int_equal(process_value(&answer, id, 101802), bytes * 3);
    assert_int_equal(process_value(&answer, id, 101804), bytes * 4);
    assert_int_equal(value_of(&answer, 230, "shell", 1420), bytes);
    assert_int_equal(value_of(&answer, 230, "_Total", 1420), 12 * 3000 + bytes);
    return bytes;
}

/* The bytes with those of children that have ended: as in the file io. */
static uint64_t all_read_bytes(void)
{
    struct answer answer = run_query(u"101800");
    uint64_t bytes = value_of(&answer, 101800, "shell", 101806);
    assert_int_equal(value_of(&answer, 101800, "shell", 101808), bytes / 3 * 4);
    return bytes;
}

/* When a process waits for a child that has ended, the kernel adds the child's bytes to the io file
 * of the process, and the child's faults to its stat file. These bytes must not be counted as the
 * parent's input and output. */
static void f_b2_what_children_did_is_not_counted_again(void **state)
{
    (void)state;
    write_io(600, 2200, 0, 1000);
    assert_int_equal(read_bytes_of(600), 1000);
    assert_int_equal(all_read_bytes(), 3000);
    write_io(600, 2200, 0, 1500);
    assert_int_equal(read_bytes_of(600), 1500);
    write_io(600, 2200, 7, 8000000);
    assert_int_equal(read_bytes_of(600), 1500);
    assert_int_equal(all_read_bytes(), 24000000);
    assert_int_equal(read_bytes_of(600), 1500);
    write_io(600, 2200, 7, 8000100);
    assert_int_equal(read_bytes_of(600), 1600);
    /* the process has waited for a child that read nothing, so all bytes are its own */
    write_io(600, 2200, 9, 8000100);
    assert_int_equal(read_bytes_of(600), 1600);
    write_io(600, 2300, 9, 50); /* another process with the same number */
    assert_int_equal(read_bytes_of(600), 50);
    tree_drop("proc/600");
    run_query(u"230");
    run_query(u"230");
}

/* Many processes come and go, and wait for children: each must have only its own bytes, which the
 * test computes in another way. A number that was unused for one round belongs to another process
 * afterwards. */
static void f_b2_many_processes_that_come_and_go(void **state)
{
    enum { FIRST = 700, MANY = 400, ROUNDS = 8 };
    static unsigned bytes[MANY], children[MANY], lives[MANY];
    static uint64_t expected[MANY];
    static bool there[MANY];
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < MANY; i++) {
            bool was = there[i], child = (i + round) % 5 == 0;
            char folder[32];
            snprintf(folder, sizeof folder, "proc/%d", FIRST + i);
            there[i] = (i + round) % 7 != 0;
            lives[i] += there[i] && !was;
            bytes[i] += child ? 5000000 : 10;
            children[i] += child;
            expected[i] = !was ? bytes[i] : expected[i] + (child ? 0 : 10);
            if (there[i])
                write_io(FIRST + i, 3000 + (int)lives[i], children[i], bytes[i]);
            else
                tree_drop(folder);
        }
        struct answer answer = run_query(round % 2 ? u"230 101800" : u"101800");
        for (int i = 0; i < MANY; i++)
            if (there[i])
                assert_int_equal(process_value(&answer, (uint64_t)(FIRST + i), 1420), expected[i]);
    }
    for (int i = 0; i < MANY; i++) {
        char folder[32];
        snprintf(folder, sizeof folder, "proc/%d", FIRST + i);
        tree_drop(folder);
    }
    run_query(u"230");
}

/* ---- Process Details ---- */

enum { DETAILS = 102000, USER = 102002, STATE = 102004, GROUP = 102006, UNIT = 102008 };
enum { COMMAND = 102010 };

static const uint16_t *details_query = u"102000";

static const char *text_of(const char *name, DWORD index)
{
    static char text[4096];
    struct answer answer = run_query(details_query);
    opl_object_view object;
    opl_instance_view instance;
    opl_counter_view counter = {0};
    assert_true(answer_object(&answer, DETAILS, &object));
    if (!object_named(&answer, &object, name, &instance))
        return "no such instance";
    while (opl_object_next_counter(&answer.block, &object, &counter))
        if (counter.definition.CounterNameTitleIndex == index) {
            assert_int_not_equal(
                opl_counter_text(&answer.block, &object, &instance, &counter, text, sizeof text),
                0);
            return text;
        }
    return "no such counter";
}

static void write_details(int id, const char *name, char state, int start, int stack,
                          const char *arguments, size_t bytes)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "proc/%d/stat", id);
    snprintf(text, sizeof text,
             "%d (%s) %c 1 5 6 7 8 9 100 0 12 0 1000 500 0 0 20 0 1 21 %d 8192000 300 25 26 27 %d "
             "29 30 31 32 33 34 35 36 37 38 39 0 0 42\n",
             id, name, state, start, stack);
    tree_write(path, text);
    snprintf(path, sizeof path, "proc/%d/cmdline", id);
    tree_write_bytes(path, arguments, bytes);
}

static void write_group(int id, const char *text)
{
    char path[64];
    snprintf(path, sizeof path, "proc/%d/cgroup", id);
    tree_write(path, text);
}

static void details_are_those_of_the_files(void **state)
{
    (void)state;
    static const char arguments[] = "/bin/server\0-x\0two words\0line\nend\0";
    tree_write("etc/passwd", "root:x:0:0::/root:/bin/sh\nwww:x:33:33::/:/bin/false\nbroken\n"
                             "long:x:331:33::/:/bin/false\n:x\n");
    write_details(800, "server", 'D', 2200, 28, arguments, sizeof arguments - 1);
    write_group(800, "0::/system.slice/nginx.service/inner\n");
    tree_write("proc/800/status", "Name:\tserver\nUid:\t0\t33\t33\t33\n");
    assert_string_equal(text_of("server:800", USER), "www");
    assert_string_equal(text_of("server:800", STATE), "waiting for disk");
    assert_string_equal(text_of("server:800", GROUP), "/system.slice/nginx.service/inner");
    assert_string_equal(text_of("server:800", UNIT), "nginx.service");
    assert_string_equal(text_of("server:800", COMMAND), "/bin/server -x two words line end");
    struct answer answer = run_query(u"102000");
    assert_int_equal(value_of(&answer, DETAILS, "server:800", 784), 800);
    assert_int_equal(value_of(&answer, DETAILS, "server:800", 684),
                     (BTIME + 11644473600ull) * FREQUENCY + 2200 * tick());
    assert_string_equal(text_of("zombie:300", COMMAND), "[zombie]");
    assert_string_equal(text_of("zombie:300", STATE), "ended");
    assert_string_equal(text_of("zombie:300", UNIT), "");
    answer = run_query(u"Global");
    assert_false(answer_has(&answer, DETAILS, 784));
    answer = run_query(u"Costly");
    assert_true(answer_has(&answer, DETAILS, COMMAND));
}

/* Control groups of version 1 together with version 2, and a user number that has no name. */
static void groups_and_users_of_other_kinds(void **state)
{
    (void)state;
    write_details(810, "old", 'S', 2200, 28, "old", 3);
    write_group(810, "4:memory:/\n1:name=systemd:/user.slice/user@7.service/a.scope\n0::/\n");
    tree_write("proc/810/status", "Name:\told\nUid:\t3\t3\t3\t3\n");
    assert_string_equal(text_of("old:810", USER), "3");
    assert_string_equal(text_of("old:810", GROUP), "/user.slice/user@7.service/a.scope");
    assert_string_equal(text_of("old:810", UNIT), "a.scope");
    write_details(811, "none", 'S', 2200, 28, "", 0);
    write_group(811, "0::/\n");
    assert_string_equal(text_of("none:811", GROUP), "/");
    assert_string_equal(text_of("none:811", UNIT), "");
    assert_string_equal(text_of("none:811", USER), "");
    assert_string_equal(text_of("none:811", COMMAND), "[none]");
}

static void drop_from(int first, int last)
{
    char folder[32];
    for (int id = first; id <= last; id++) {
        snprintf(folder, sizeof folder, "proc/%d", id);
        tree_drop(folder);
    }
}

/* Checks that the text has exactly this many UTF-16 units, the last of which is an ellipsis. */
static void assert_cut(const char *text, size_t characters)
{
    size_t units = 0;
    for (const char *at = text; *at; at++)
        units += ((unsigned char)*at & 0xc0) == 0x80 ? 0 : (unsigned char)*at >= 0xf0 ? 2 : 1;
    assert_int_equal(units, characters);
    assert_string_equal(text + strlen(text) - 3, "\xe2\x80\xa6");
}

static void long_texts_end_with_an_ellipsis(void **state)
{
    (void)state;
    static const char *const letters[] = {"a", "\xc3\xa4", "\xe4\xb8\xad"};
    static char arguments[256 * 4 + 8], group[256];
    for (size_t i = 0; i < 3; i++) {
        *arguments = 0;
        for (int k = 0; k < 256; k++)
            strcat(arguments, letters[i]);
        write_details(820, "long", 'S', 2300 + (int)i, 28, arguments, strlen(arguments) + 1);
        assert_string_equal(text_of("long:820", COMMAND), arguments); /* all 256 characters */
        strcat(arguments, "b");
        write_details(820, "long", 'S', 2400 + (int)i, 28, arguments, strlen(arguments) + 1);
        assert_cut(text_of("long:820", COMMAND), 256);
    }
    /* each character takes two UTF-16 units, so only 255 of the 256 units can be used */
    *arguments = 0;
    for (int k = 0; k < 200; k++)
        strcat(arguments, "\xf0\x9f\x98\x80");
    write_details(820, "long", 'S', 2500, 28, arguments, strlen(arguments));
    assert_cut(text_of("long:820", COMMAND), 255);
    memset(arguments, '\xe4', sizeof arguments); /* bytes that are not UTF-8 */
    write_details(820, "long", 'S', 2600, 28, arguments, sizeof arguments);
    assert_cut(text_of("long:820", COMMAND), 256);
    snprintf(group, sizeof group, "0::/%0100d.service\n", 7);
    write_details(820, "long", 'S', 2700, 28, "x", 1);
    write_group(820, group);
    assert_cut(text_of("long:820", GROUP), 64);
    assert_cut(text_of("long:820", UNIT), 64);
}

/* Details of a process are read again after it has executed another program, if another process has
 * its number, and after ten seconds. Only the state is read at each query. */
static void details_are_kept_for_ten_seconds(void **state)
{
    (void)state;
    write_details(830, "kept", 'S', 2200, 28, "one", 3);
    assert_string_equal(text_of("kept:830", COMMAND), "one");
    write_details(830, "kept", 'R', 2200, 28, "two", 3);
    assert_string_equal(text_of("kept:830", COMMAND), "one");
    assert_string_equal(text_of("kept:830", STATE), "running");
    write_details(830, "kept", 'R', 2200, 29, "three", 5); /* another stack: exec */
    assert_string_equal(text_of("kept:830", COMMAND), "three");
    write_details(830, "other", 'R', 2200, 29, "four", 4); /* another name */
    assert_string_equal(text_of("other:830", COMMAND), "four");
    write_details(830, "other", 'R', 2201, 29, "five", 4); /* another process */
    assert_string_equal(text_of("other:830", COMMAND), "five");
    write_details(830, "other", 'R', 2201, 29, "six", 3);
    assert_string_equal(text_of("other:830", COMMAND), "five");
    sleep(11);
    assert_string_equal(text_of("other:830", COMMAND), "six");
    drop_from(800, 830);
}

/* Processes start and end between others: each process must have its own texts. */
static void details_of_processes_that_come_and_go(void **state)
{
    enum { FIRST = 1000, MANY = 60, ROUNDS = 6 };
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < MANY; i++) {
            char folder[32], command[32];
            snprintf(folder, sizeof folder, "proc/%d", FIRST + i);
            int length = snprintf(command, sizeof command, "command %d", i);
            if ((i + round) % 3 == 0)
                tree_drop(folder);
            else
                write_details(FIRST + i, "many", 'S', 3000, 28, command, (size_t)length);
        }
        for (int i = 0; i < MANY; i += 7) {
            char name[32], command[32];
            snprintf(name, sizeof name, "many:%d", FIRST + i);
            snprintf(command, sizeof command, "command %d", i);
            assert_string_equal(text_of(name, COMMAND),
                                (i + round) % 3 ? command : "no such instance");
        }
    }
    drop_from(FIRST, FIRST + MANY);
}

/* If Process V2 is requested, too, both are made from one reading of the files. */
static void details_are_the_same_beside_process_v2(void **state)
{
    enum { V2 = 101900, FIRST = 840, MANY = 3 };
    (void)state;
    for (int i = 0; i < MANY; i++)
        write_details(FIRST + i, "same", 'S', 2200, 28, "same", 4);
    struct answer answer = run_query(u"101900 102000");
    assert_int_equal(value_of(&answer, V2, "same:841", 784), 841);
    assert_int_equal(value_of(&answer, DETAILS, "same:841", 784), 841);
    assert_int_equal(value_of(&answer, DETAILS, "same:841", 684),
                     value_of(&answer, V2, "same:841", 684));
    details_query = u"101900 102000";
    details_are_those_of_the_files(state);
    details_of_processes_that_come_and_go(state);
    details_query = u"102000";
    drop_from(FIRST, FIRST + MANY);
    drop_from(800, 800);
}

static void c18_c111_threads_bring_their_processes(void **state)
{
    (void)state;
    struct answer answer = run_query(u"232");
    opl_object_view processes, threads, parent_object;
    opl_instance_view instance = {0}, parent;
    char name[64];
    unsigned ordinal = 0, last = 0;
    assert_int_equal(answer.types, 2);
    assert_true(answer_object(&answer, 230, &processes));
    assert_true(answer_object(&answer, 232, &threads));
    assert_int_equal(threads.type.NumInstances, 2 + 11 + 3 + 1);
    while (opl_object_next_instance(&answer.block, &threads, &instance)) {
        assert_int_equal(instance.definition.ParentObjectTitleIndex, 230);
        assert_true(opl_instance_parent(&answer.block, &instance, &parent_object, &parent));
        assert_int_equal(value_at(&answer, &processes, &parent, 784),
                         value_at(&answer, &threads, &instance, 784));
        ordinal = parent.position == last ? ordinal : 0;
        last = parent.position;
        opl_instance_name(&answer.block, &threads, &instance, name, sizeof name);
        if (strcmp(name, "_Total") != 0)
            assert_int_equal(atoi(name), ordinal++);
        else
            assert_int_equal(parent.position, processes.type.NumInstances - 1);
    }
}

static void threads_have_their_values(void **state)
{
    (void)state;
    struct answer answer = run_query(u"232");
    opl_object_view threads;
    opl_instance_view instance = {0};
    unsigned found = 0;
    assert_true(answer_object(&answer, 232, &threads));
    while (opl_object_next_instance(&answer.block, &threads, &instance)) {
        if (value_at(&answer, &threads, &instance, 784) != 400)
            continue;
        assert_int_equal(value_at(&answer, &threads, &instance, 804), 400 + found++);
        assert_int_equal(value_at(&answer, &threads, &instance, 146), 42);
        assert_int_equal(value_at(&answer, &threads, &instance, 46), 2);
        assert_int_equal(value_at(&answer, &threads, &instance, 694), 8);
        assert_int_equal(value_at(&answer, &threads, &instance, 6), 1500 * tick());
    }
    assert_int_equal(found, 3);
    /* schedstat is tried before the file status, because it is cheaper to read */
    tree_write("proc/400/task/401/schedstat", "5000 600 77\n");
    /* as on a kernel without scheduler statistics */
    tree_write("proc/400/task/402/schedstat", "0 0 0\n");
    answer = run_query(u"232");
    assert_int_equal(value_of(&answer, 232, "_Total", 146), 13 * 42 + 77);
    tree_drop("proc/400/task/401/schedstat");
    tree_drop("proc/400/task/402/schedstat");
    answer = run_query(u"232");
    assert_false(answer_has(&answer, 232, 706));
    assert_int_equal(value_of(&answer, 232, "_Total", 146), 14 * 42);
    assert_int_equal(value_of(&answer, 232, "_Total", 46), 0);
}

static void priorities_and_states(void **state)
{
    (void)state;
    static const struct expected {
        int priority, nice, realtime, policy;
        uint64_t current, base;
        char letter;
        uint64_t state;
    } expected[] = {
        {20,   0,   0,  0, 8,  8,  'R', 2},
        {0,    -20, 0,  0, 15, 15, 'S', 5},
        {39,   19,  0,  0, 1,  1,  'D', 5},
        {21,   1,   0,  0, 8,  8,  'I', 5},
        {-2,   0,   1,  1, 16, 16, 'T', 5},
        {-100, 0,   99, 2, 31, 31, 't', 5},
        {39,   0,   0,  5, 1,  1,  'Z', 4},
        {-101, 0,   0,  6, 31, 31, 'X', 4},
        {-51,  0,   0,  0, 23, 8,  'W', 7},
        {30,   10,  0,  3, 4,  4,  'K', 7},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const struct expected *one = &expected[i];
        write_process(&(struct task){500, 1, 1, one->priority, one->nice, one->realtime,
                                     one->policy, one->letter, "here"});
        struct answer answer = run_query(u"232");
        opl_object_view threads;
        opl_instance_view instance;
        assert_true(answer_object(&answer, 232, &threads));
        assert_true(object_instance(&answer, &threads, 16, &instance));
        assert_int_equal(value_at(&answer, &threads, &instance, 804), 500);
        assert_int_equal(value_at(&answer, &threads, &instance, 694), one->current);
        assert_int_equal(value_at(&answer, &threads, &instance, 682), one->base);
        assert_int_equal(value_at(&answer, &threads, &instance, 46), one->state);
        assert_int_equal(process_value(&answer, 500, 682), one->base);
        tree_drop("proc/500");
    }
}

static LONG instances(const char16_t *query, DWORD index)
{
    struct answer answer = run_query(query);
    opl_object_view object;
    assert_true(answer_object(&answer, index, &object));
    return object.type.NumInstances;
}

static void the_vanished_are_left_out_of_both(void **state)
{
    (void)state;
    write_process(&(struct task){500, 1, 2, 20, 0, 0, 0, 'S', "gone"});
    assert_int_equal(instances(u"230", 230), 15);
    assert_int_equal(instances(u"232", 232), 19);
    tree_drop("proc/500/task/501");
    assert_int_equal(instances(u"232", 232), 18);
    assert_int_equal(instances(u"232", 230), 15);
    tree_drop("proc/500/task"); /* the process has a stat file, but its threads have ended */
    assert_int_equal(instances(u"232", 230), 14);
    assert_int_equal(instances(u"232", 232), 17);
    tree_drop("proc/500/stat");
    assert_int_equal(instances(u"230", 230), 14);
    tree_drop("proc/500");
}

static void damaged_files_do_no_harm(void **state)
{
    static const char *const texts[] = {
        "",          "\n",
        "500",       "500 (",
        "500 (x",    "500 (x)",
        "500 (x) ",  "500 x) S 1",
        "500 )x( S", "(500) (x) S 1 2 3 4 5 6 7 8 9 99999999999999999999999 -5 - x 5 6 1"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        write_process(&(struct task){500, 1, 1, 20, 0, 0, 0, 'S', "damaged"});
        tree_write("proc/500/stat", texts[i]);
        tree_write("proc/500/status", texts[i]);
        tree_write("proc/500/task/500/stat", texts[i]);
        struct answer answer = run_query(u"232");
        opl_object_view object = {0};
        while (opl_block_next_object(&answer.block, &object))
            ;
        assert_int_equal(answer.block.fault, OPL_BLOCK_GOOD);
        assert_int_equal(answer.types, 2);
    }
    tree_drop("proc/500");
}

static void equal_names_stay_equal(void **state)
{
    (void)state;
    write_process(&(struct task){500, 1, 1, 20, 0, 0, 0, 'S', "ordinary"});
    struct answer answer = run_query(u"230");
    opl_object_view object;
    opl_instance_view instance = {0};
    char name[64];
    unsigned found = 0;
    assert_true(answer_object(&answer, 230, &object));
    while (opl_object_next_instance(&answer.block, &object, &instance)) {
        opl_instance_name(&answer.block, &object, &instance, name, sizeof name);
        found += strcmp(name, "ordinary") == 0;
    }
    assert_int_equal(found, 2);
    tree_drop("proc/500");
}

static void thread_details_are_those_of_the_threads(void **state)
{
    opl_object_view details, threads;
    opl_instance_view detail, thread;
    (void)state;
    tree_write("proc/400/task/400/syscall",
               "35 0x7ffd 0x0 0x0 0x0 0x0 0x0 0x7ffc1 0x7f0012345678\n");
    tree_write("proc/400/task/401/syscall", "running\n");
    tree_write("proc/400/task/402/syscall", "-1 0x7ffc2 0x55aa00000001\n");
    struct answer answer = run_query(u"816 232");
    assert_int_equal(answer.types, 3);
    assert_true(answer_object(&answer, 816, &details));
    assert_true(answer_object(&answer, 232, &threads));
    /* of three threads, one runs and so has no instruction address */
    assert_int_equal(details.type.NumInstances, 2);
    memset(&detail, 0, sizeof detail);
    static const uint64_t expected[] = {0x7f0012345678, 0x55aa00000001};
    static const uint64_t numbers[] = {400, 402};
    for (unsigned seen = 0; opl_object_next_instance(&answer.block, &details, &detail); seen++) {
        char name[16];
        assert_int_equal(detail.definition.ParentObjectTitleIndex, 230);
        assert_int_equal(value_at(&answer, &details, &detail, 708), expected[seen]);
        opl_instance_name(&answer.block, &details, &detail, name, sizeof name);
        assert_int_equal(strtoul(name, NULL, 10), numbers[seen] - 400);
        memset(&thread, 0, sizeof thread);
        while (opl_object_next_instance(&answer.block, &threads, &thread))
            if (value_at(&answer, &threads, &thread, 804) == numbers[seen])
                assert_int_equal(thread.definition.ParentObjectInstance,
                                 detail.definition.ParentObjectInstance);
    }
    answer = run_query(u"Global");
    assert_false(answer_object(&answer, 816, &details));
}

/* Every program that reads proc fixes a split there, and this provider fixes its own at other
 * moments. Neither may make the sum of both parts greater than the run time. */
static void the_parts_of_a_time_are_its_sum(void **state)
{
    (void)state;
    srand(1);
    for (int history = 0; history < 2000; history++) {
        struct perfproc_cputime none = {0}, ticks = none, proc = none, shown = none;
        uint64_t run = 0;
        for (int step = 0; step < 100; step++) {
            run += (uint64_t)(rand() % 9000000);
            *(rand() % 2 ? &ticks.user : &ticks.system) += (uint64_t)(rand() % 2) * 10000000;
            if (rand() % 4 == 0)
                proc = perfproc_split(ticks, run, proc, none);
            if (rand() % 2)
                continue;
            struct perfproc_cputime now = perfproc_split(ticks, run, proc, shown);
            assert_true(now.user >= shown.user && now.system >= shown.system);
            assert_int_equal(now.user + now.system, run);
            shown = now;
        }
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(odd_names_are_right),
        cmocka_unit_test(values_are_those_of_the_files),
        cmocka_unit_test(the_working_set_alone_is_read_from_statm),
        cmocka_unit_test(private_sizes_alone_are_read_from_statm),
        cmocka_unit_test(idle_and_total),
        cmocka_unit_test(zombies_have_no_memory_but_a_name),
        cmocka_unit_test(a_process_without_threads_has_ended),
        cmocka_unit_test(f_b1_what_may_not_be_read_of_one_process_is_absent),
        cmocka_unit_test(f_b2_what_children_did_is_not_counted_again),
        cmocka_unit_test(f_b2_many_processes_that_come_and_go),
        cmocka_unit_test(details_are_those_of_the_files),
        cmocka_unit_test(groups_and_users_of_other_kinds),
        cmocka_unit_test(long_texts_end_with_an_ellipsis),
        cmocka_unit_test(details_are_kept_for_ten_seconds),
        cmocka_unit_test(details_of_processes_that_come_and_go),
        cmocka_unit_test(details_are_the_same_beside_process_v2),
        cmocka_unit_test(c18_c111_threads_bring_their_processes),
        cmocka_unit_test(threads_have_their_values),
        cmocka_unit_test(priorities_and_states),
        cmocka_unit_test(thread_details_are_those_of_the_threads),
        cmocka_unit_test(the_vanished_are_left_out_of_both),
        cmocka_unit_test(damaged_files_do_no_harm),
        cmocka_unit_test(equal_names_stay_equal),
        cmocka_unit_test(the_parts_of_a_time_are_its_sum),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
