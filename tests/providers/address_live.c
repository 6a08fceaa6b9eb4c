/* SPDX-License-Identifier: MIT */
/* Address spaces of this machine's processes: all kinds of mappings add up to the size that the
 * kernel counts; mappings that the test makes appear with their exact sizes; the instruction
 * address of a waiting thread is right; the thread that queries has its old priority afterwards. */
#include "../skip.h"
#include "perfproc.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

static const DWORD kinds[] = {710, 712, 714, 716, 718, 720, 722, 726, 746, 748, 752,
                              754, 756, 760, 762, 764, 766, 768, 770, 772, 774};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void read_kinds(uint64_t values[KINDS])
{
    struct answer answer = run_query(u"786");
    opl_object_view object;
    opl_instance_view instance;
    assert_true(answer_object(&answer, 786, &object));
    memset(&instance, 0, sizeof instance);
    while (opl_object_next_instance(&answer.block, &object, &instance))
        if (value_at(&answer, &object, &instance, 784) == (uint64_t)getpid()) {
            for (int i = 0; i < KINDS; i++)
                values[i] = value_at(&answer, &object, &instance, kinds[i]);
            return;
        }
    fail_msg("this process is missing");
}

static uint64_t own_size(void)
{
    char line[256];
    unsigned long long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "VmSize: %llu", &kib) == 1)
            break;
    fclose(file);
    return kib * 1024;
}

static void all_kinds_together_are_the_size_that_the_kernel_counts(void **state)
{
    uint64_t values[KINDS], sum = 0;
    (void)state;
    read_kinds(values); /* the first query allocates memory that later ones use again */
    uint64_t before = own_size();
    read_kinds(values);
    uint64_t after = own_size();
    for (int i = 0; i < KINDS; i++)
        sum += values[i];
    assert_in_range(sum, before, after);
}

static const struct made {
    DWORD index;
    int protection, flags;
    bool file;
} mades[] = {
    {726, PROT_NONE,              MAP_PRIVATE | MAP_ANONYMOUS, false},
    {748, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, false},
    {746, PROT_READ,              MAP_PRIVATE | MAP_ANONYMOUS, false},
    {754, PROT_READ | PROT_EXEC,  MAP_PRIVATE | MAP_ANONYMOUS, false},
    {714, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,  false},
    {712, PROT_READ,              MAP_SHARED,                  true },
    {716, PROT_READ | PROT_WRITE, MAP_PRIVATE,                 true },
    {770, PROT_READ | PROT_EXEC,  MAP_PRIVATE,                 true },
};

static void mappings_made_here_appear_to_the_byte(void **state)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = 321 * page;
    (void)state;
    for (size_t i = 0; i < sizeof mades / sizeof *mades; i++) {
        uint64_t before[KINDS], after[KINDS];
        char path[] = "/tmp/opl-mapped-XXXXXX";
        int fd = mades[i].file ? mkstemp(path) : -1;
        if (mades[i].file) {
            unlink(path);
            assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
        }
        uint64_t own_before, own_after;
        void *memory = NULL;
        do { /* again if the library, too, has allocated memory between the two queries */
            if (memory)
                munmap(memory, bytes);
            own_before = own_size();
            read_kinds(before);
            memory = mmap(NULL, bytes, mades[i].protection, mades[i].flags, fd, 0);
            assert_true(memory != MAP_FAILED);
            read_kinds(after);
            own_after = own_size();
        } while (own_after - own_before != bytes);
        for (int kind = 0; kind < KINDS; kind++)
            assert_int_equal(after[kind] - before[kind], kinds[kind] == mades[i].index ? bytes : 0);
        munmap(memory, bytes);
        if (fd >= 0)
            close(fd);
    }
}

/* ---- instruction addresses of threads ---- */

static uint64_t user_pc(pid_t child)
{
    struct answer answer = run_query(u"816");
    opl_object_view details, processes;
    opl_instance_view detail = {0}, process;
    assert_true(answer_object(&answer, 816, &details) && answer_object(&answer, 230, &processes));
    while (opl_object_next_instance(&answer.block, &details, &detail))
        if (object_instance(&answer, &processes, detail.definition.ParentObjectInstance,
                            &process) &&
            value_at(&answer, &processes, &process, 784) == (uint64_t)child)
            return value_at(&answer, &details, &detail, 708);
    return 0;
}

/* Is the address in executable code of this program? A forked child has the same addresses. */
static bool is_executable(uint64_t address)
{
    char line[512], protection[8];
    unsigned long long from, to;
    bool found = false;
    FILE *file = fopen("/proc/self/maps", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "%llx-%llx %7s", &from, &to, protection) == 3 && address >= from &&
            address < to)
            found = protection[2] == 'x';
    fclose(file);
    return found;
}

static void two_that_wait_alike_are_at_the_same_place(void **state)
{
    pid_t children[2];
    uint64_t places[2] = {0};
    (void)state;
    for (int i = 0; i < 2; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        while (children[i] == 0)
            pause();
    }
    for (int tries = 0; tries < 100 && (!places[0] || !places[1]); tries++) {
        usleep(20000);
        for (int i = 0; i < 2; i++)
            places[i] = user_pc(children[i]);
    }
    for (int i = 0; i < 2; i++) {
        kill(children[i], SIGKILL);
        waitpid(children[i], NULL, 0);
    }
    if (!places[0] && access("/proc/self/syscall", R_OK) != 0) {
        report_skipped("this kernel has no /proc/PID/syscall");
        return;
    }
    assert_true(is_executable(places[0]));
    assert_true(places[0] == places[1]);
}

static void the_thread_gets_its_priority_back(void **state)
{
    (void)state;
    int nice = getpriority(PRIO_PROCESS, 0), policy = sched_getscheduler(0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(run_query(u"Costly").status, 0);
        assert_int_equal(getpriority(PRIO_PROCESS, 0), nice);
        assert_int_equal(sched_getscheduler(0), policy);
    }
}

static int begin(void **state)
{
    (void)state;
    return (int)OpenSysProcessObject(NULL);
}

static int end(void **state)
{
    (void)state;
    return (int)CloseSysProcessObject();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds_together_are_the_size_that_the_kernel_counts),
        cmocka_unit_test(mappings_made_here_appear_to_the_byte),
        cmocka_unit_test(two_that_wait_alike_are_at_the_same_place),
        cmocka_unit_test(the_thread_gets_its_priority_back),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
