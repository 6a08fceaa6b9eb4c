/* SPDX-License-Identifier: MIT */
/* When the kernel refuses a BPF program, openperflib-bpf names the cause. Tested with messages that
 * libbpf 1.1 and Linux 6.1 and 6.18 have really printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pin/pin.h"

static void expect_cause(const char *const warnings[], const char *cause)
{
    bpf_cause_take(NULL);
    for (int i = 0; warnings[i]; i++)
        bpf_cause_take(warnings[i]);
    assert_string_equal(bpf_cause(), cause);
}

static void f_d17_the_verifiers_own_words(void **state)
{
    (void)state;
    expect_cause(
        (const char *const[]){
            "libbpf: prog 'processes': BPF program load failed: Invalid argument\n",
            "libbpf: prog 'processes': -- BEGIN PROG LOAD LOG --\n"
            "172: (79) r2 = *(u64 *)(r1 +192)\n"
            "182: (79) r4 = *(u64 *)(r1 +752)\n"
            "Type 'atomic_long_t' is not a struct\n"
            "verification time 912 usec\n"
            "stack depth 344+0\n"
            "processed 173 insns (limit 1000000) max_states_per_insn 0\n"
            "-- END PROG LOAD LOG --\n",
            "libbpf: prog 'processes': failed to load: -22\n", "libbpf: failed to load object ''\n",
            NULL},
        "Type 'atomic_long_t' is not a struct");
}

static void without_them_the_first_of_libbpf(void **state)
{
    (void)state;
    expect_cause((const char *const[]){"libbpf: failed to find valid kernel BTF\n",
                                       "libbpf: Error loading vmlinux BTF: -3\n", NULL},
                 "failed to find valid kernel BTF");
    expect_cause(
        (const char *const[]){"libbpf: x\n", "libbpf: prog 'a': -- BEGIN PROG LOAD LOG --\n", NULL},
        "x");
    expect_cause((const char *const[]){"", "no line's end", NULL}, "no line's end");
    expect_cause((const char *const[]){NULL}, "");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(f_d17_the_verifiers_own_words),
        cmocka_unit_test(without_them_the_first_of_libbpf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
