/* SPDX-License-Identifier: MIT */
/*
 * Mistakes of third-party providers, one row for each kind: what Collect (or Open, Close, the
 * library) does, and for the test levels 1 to 4 (ExtCounterTestLevel: 1 makes all checks, 4 none)
 * whether the data is kept and which event is written (docs/windows/providers.md#d4,
 * docs/experiments.md). In every case, System and another third-party provider still answer the
 * same query. docs/third-party.md is generated from these rows.
 */
#include "kinds.h"

/* clang-format off */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define K(event) {KEPT, event, 0}
#define D(event) {DROPPED, event, 0}
#define D2(event, or_event) {DROPPED, event, or_event}
#define ANY {EITHER, WHATEVER, 0}
#define NO {NOT_RUN, 0, 0}
/* ALWAYS: the same outcome at every level; ALL_CHECKS: an outcome at level 1, which makes all
 * checks; GUARDED: an outcome at the levels 1 to 3, which check the guards (known bytes around the
 * provider's buffer) */
#define ALWAYS(...) {__VA_ARGS__, __VA_ARGS__, __VA_ARGS__, __VA_ARGS__}
#define ALL_CHECKS(...) {__VA_ARGS__, ANY, ANY, ANY}
#define GUARDED(...) {__VA_ARGS__, __VA_ARGS__, __VA_ARGS__, NO}

static const struct kind lies[] = {
    {"good", "returns a valid object", ALWAYS(K(NONE)), 0},
    {"nothing", "returns no objects", ALWAYS(D(NONE)), 0},
    {"forgets", "returns success without setting its outputs", {D(2000), D(2000), ANY, ANY}, DISABLES},
    {"error_31", "returns ERROR_GEN_FAILURE", ALWAYS(D(1014)), 0},
    {"error_5", "returns ERROR_ACCESS_DENIED", ALWAYS(D(1014)), 0},
    {"error_with_data", "returns an error and data", ALWAYS(D(1014)), 0},
    {"error_ntstatus", "returns 0xC0000005", ALWAYS(D(1014)), 0},
    {"error_minus_1", "returns -1", ALWAYS(D(1014)), 0},
    {"more_data", "returns ERROR_MORE_DATA for every buffer size", ALWAYS(D(SOME)), 0},
    {"more_data_with_data", "returns ERROR_MORE_DATA and data", ALWAYS(D(SOME)), 0},

    {"length_plus_8", "returns a length 8 bytes too large; the pointer is right", {K(2000), K(2000), ANY, ANY}, 0},
    {"length_minus_8", "returns a length 8 bytes too small; the pointer is right", {K(2000), K(2000), ANY, ANY}, 0},
    {"length_0", "returns length 0; the pointer is right", {K(2000), K(2000), ANY, ANY}, 0},
    {"length_3", "returns length 3; the pointer is right", {K(2000), K(2000), ANY, ANY}, 0},
    {"length_negative", "returns length 0x80000000; the pointer is right", {K(2000), K(2000), ANY, ANY}, 0},
    {"length_enormous", "returns length 0xffffffff; the pointer is right", {K(2000), K(2000), ANY, ANY}, 0},
    {"pointer_plus_8", "moves the pointer 8 bytes too far", {D(2000), D(2000), ANY, ANY}, 0},
    {"pointer_stays", "does not move the pointer", {D(2000), D(2000), ANY, ANY}, DISABLES},
    {"pointer_null", "returns a NULL pointer", GUARDED(D(1013)), 0},
    {"pointer_1", "returns the pointer 1", GUARDED(D(1013)), 0},
    {"pointer_minus_1", "returns the pointer -1", GUARDED(D(1013)), 0},
    {"pointer_below", "returns a pointer 8 bytes below the buffer", GUARDED(D2(1013, 2000)), 0},
    {"pointer_well_below", "returns a pointer 64 MiB below the buffer", GUARDED(D(1013)), 0},
    {"pointer_elsewhere", "returns a pointer into memory of its own", GUARDED(D2(1013, 2000)), 0},
    {"pointer_in_guard", "returns a pointer into the guard above", GUARDED(D(1001)), 0},
    {"pointer_after_guard", "returns a pointer after the guard", GUARDED(D(1013)), 0},
    {"pointer_well_above", "returns a pointer 2 GiB above", GUARDED(D(1013)), 0},
    {"claim_odd", "returns one byte too many, pointer and length agree", GUARDED(D(1016)), 0},
    {"claim_plus_2", "returns two bytes too many", GUARDED(D(1016)), 0},
    {"claim_capacity", "returns the whole capacity as length of one small object", {D(1003), NO, NO, NO}, 0},
    {"claim_8_over_capacity", "returns 8 bytes more than the capacity", GUARDED(D(1001)), 0},
    {"claim_guard_too", "returns 8 bytes more than capacity and guard", GUARDED(D(1013)), 0},
    {"claim_enormous", "returns length 4 GiB", GUARDED(D(1013)), 0},
    {"claim_4_bytes", "returns 4 bytes, which are not an object", ALL_CHECKS(D(SOME)), 0},
    {"claim_half", "returns half of the object", ALL_CHECKS(D(1003)), 0},
    {"multiple_of_4", "returns a valid object whose length is a multiple of 4 but not of 8", {K(1016), K(WHATEVER), K(WHATEVER), ANY}, 0},

    {"objects_0", "returns an object count of 0", ALL_CHECKS(D(1003)), 0},
    {"objects_2", "returns an object count of 2 instead of 1", ALL_CHECKS(D(1003)), 0},
    {"objects_minus_1", "returns an object count of -1", ALL_CHECKS(D(1003)), 0},
    {"objects_enormous", "returns an object count of 2,147,483,647", ALL_CHECKS(D(1003)), 0},

    {"total_0", "TotalByteLength 0: the object follows itself", ALL_CHECKS(D(1003)), 0},
    {"total_8", "TotalByteLength 8: shorter than the header", ALL_CHECKS(D(1003)), 0},
    {"total_odd", "TotalByteLength one byte short", ALL_CHECKS(D(1003)), 0},
    {"total_plus_8", "TotalByteLength 8 too long", ALL_CHECKS(D(1003)), 0},
    {"total_minus_8", "TotalByteLength 8 too short", ALL_CHECKS(D(1003)), 0},
    {"total_negative", "TotalByteLength 0x80000000", ALL_CHECKS(D(1003)), 0},
    {"total_enormous", "TotalByteLength 0xfffffff8", ALL_CHECKS(D(1003)), 0},
    {"definition_0", "DefinitionLength 0", ALL_CHECKS(D(1019)), 0},
    {"definition_60", "DefinitionLength 60: shorter than the header", ALL_CHECKS(D(1019)), 0},
    {"definition_plus_8", "DefinitionLength 8 too long", ALL_CHECKS(D(1019)), 0},
    {"definition_enormous", "DefinitionLength 0xffffffff", ALL_CHECKS(D(1019)), 0},
    {"header_0", "HeaderLength 0", ALL_CHECKS(D(1019)), 0},
    {"header_60", "HeaderLength 60", ALL_CHECKS(D(1019)), 0},
    {"header_enormous", "HeaderLength 0x7fffffff", ALL_CHECKS(D(1019)), 0},
    {"counters_0", "NumCounters 0 instead of 1", ALL_CHECKS(D(1019)), 0},
    {"counters_2", "NumCounters 2 instead of 1", ALL_CHECKS(D(1019)), 0},
    {"counters_minus_1", "NumCounters -1", ALL_CHECKS(D(1019)), 0},
    {"counters_enormous", "NumCounters 0x40000000", ALL_CHECKS(D(1019)), 0},
    {"instances_0", "NumInstances 0: unused bytes after the definitions", ALWAYS(K(NONE)), 0},
    {"instances_2", "NumInstances 2 instead of 1", ALL_CHECKS(D(1004)), 0},
    {"instances_minus_4", "NumInstances -4", ALL_CHECKS(D(SOME)), 0},
    {"instances_enormous", "NumInstances 2,147,483,647", ALL_CHECKS(D(1004)), 0},
    {"code_page_enormous", "a code page that does not exist", ALWAYS(K(NONE)), 0},

    {"counter_length_0", "a definition of 0 bytes: it follows itself", ALL_CHECKS(D(1019)), 0},
    {"counter_length_39", "a definition of 39 bytes", ALL_CHECKS(D(1019)), 0},
    {"counter_length_enormous", "a definition of 4 GiB", ALL_CHECKS(D(1019)), 0},
    {"counter_outside", "CounterOffset outside its block", ALL_CHECKS(ANY), 0},
    {"counter_offset_negative", "CounterOffset 0x80000000", ALL_CHECKS(ANY), 0},
    {"counter_size_enormous", "CounterSize 0x7fffffff", ALL_CHECKS(ANY), 0},
    {"counter_type_unknown", "a counter type without meaning", ALWAYS(K(NONE)), 0},

    {"instance_length_0", "an instance of 0 bytes: it follows itself", ALL_CHECKS(D(1004)), 0},
    {"instance_length_8", "an instance of 8 bytes", ALL_CHECKS(D(1004)), 0},
    {"instance_length_plus_8", "an instance 8 bytes too long", ALL_CHECKS(D(1004)), 0},
    {"instance_length_negative", "an instance of 0x80000000 bytes", ALL_CHECKS(D(1004)), 0},
    {"instance_length_enormous", "an instance of 0xfffffff8 bytes", ALL_CHECKS(D(1004)), 0},
    {"block_length_0", "a counter block of 0 bytes", ALL_CHECKS(D(1004)), 0},
    {"block_length_2", "a counter block of 2 bytes", ALL_CHECKS(D(1004)), 0},
    {"block_length_plus_8", "a counter block 8 bytes too long", ALL_CHECKS(D(1004)), 0},
    {"block_length_enormous", "a counter block of 4 GiB", ALL_CHECKS(D(1004)), 0},
    {"name_outside", "a name outside its instance", ALL_CHECKS(ANY), 0},
    {"name_offset_negative", "NameOffset 0x80000000", ALL_CHECKS(ANY), 0},
    {"name_length_enormous", "NameLength 0x7ffffffe", ALL_CHECKS(ANY), 0},
    {"name_without_end", "a name without terminator", ALWAYS(K(NONE)), 0},
    {"name_odd_length", "a name of 3.5 characters", ALL_CHECKS(ANY), 0},
    {"name_not_utf16", "a name of lone surrogates", ALWAYS(K(NONE)), 0},
    {"parent_out_of_range", "a parent instance that does not exist", ALWAYS(K(NONE)), 0},
    {"parent_is_itself", "an instance that is its own parent", ALWAYS(K(NONE)), 0},
    {"unique_id", "an instance named by a number", ALWAYS(K(NONE)), 0},

    {"unasked_object", "returns an object that was not requested", ALWAYS(K(NONE)), 0},
    {"slack_4", "leaves 4 bytes unused after the last instance", ALWAYS(K(NONE)), 0},
    {"slack_8", "leaves 8 bytes unused after the last instance", ALL_CHECKS(D(1004)), 0},
    {"unaligned_large", "puts an 8-byte value at an odd offset", ALWAYS(K(NONE)), 0},
    {"two_objects", "returns its object twice", ALL_CHECKS(D(4006)), 0},
    {"fills_the_capacity", "writes to the whole buffer, but returns less", GUARDED(K(NONE)), 0},

    {"writes_4_below", "writes below the buffer", {D(1002), D(1002), ANY, NO}, 0},
    {"writes_1024_below", "writes over the guard below", {D(1002), D(1002), ANY, NO}, 0},
    {"writes_4_above", "writes above the buffer", {D(1002), D(1002), ANY, NO}, 0},
    {"writes_1024_above", "writes over the guard above", {D(1002), D(1002), ANY, NO}, 0},
    {"writes_the_first_guard_byte", "writes the first byte of the guard below", {D(1002), D(1002), ANY, NO}, 0},
    {"writes_the_last_guard_byte", "writes the last byte of the guard above", {D(1002), D(1002), ANY, NO}, 0},
    {"writes_over_the_query", "overwrites the query string", ALWAYS(K(NONE)), 0},
};

/* A fault that damages the library's own process has the same outcome at the test levels 1 to 3; at
 * level 4 it is not tested. */
#define DEED(name, what, outcome, flags) \
    {name, what, GUARDED(outcome), flags, "open_fine", NULL, "close_fine", NULL}
#define OPEN(name, what, outcome, flags) \
    {"open_" name, "Open " what, GUARDED(outcome), flags, "open_" name, "deed_sleeps_50_ms", "close_fine", NULL}
#define CLOSE(name, what, outcome, flags) \
    {"close_" name, "Close " what, GUARDED(outcome), flags, "open_fine", "deed_sleeps_50_ms", "close_" name, NULL}
#define PARENT(name, what, outcome, flags) \
    {"parent_" name, what ", with Children = 1", GUARDED(outcome), (flags) | CHILDREN, "open_fine", "deed_" name, "close_fine", NULL}

static const struct kind deeds[] = {
    DEED("crash", "writes to address 0", D(1010), 0),
    DEED("jumps_wild", "calls address 8", D(1010), 0),
    DEED("divides_by_0", "divides by 0", D(1010), 0),
    DEED("illegal_instruction", "executes an illegal instruction", D(1010), 0),
    DEED("aborts", "calls abort", D(1010), 0),
    DEED("exits", "calls exit(0)", D(4011), 0),
    DEED("exits_at_once", "calls _exit(3)", D(4011), 0),
    DEED("kills_itself", "sends itself SIGKILL", D(1010), 0),
    DEED("overflows_the_stack", "calls itself for ever", D(1010), 0),
    DEED("eats_memory", "allocates 1.5 GiB and fills it", ANY, HANGS),
    DEED("unloads_itself", "unloads its own library", ANY, 0),
    DEED("jumps_out", "longjmps into a frame that has ended", ANY, HANGS),
    DEED("ends_its_thread", "calls pthread_exit", D2(4011, 1015), HANGS),
    DEED("frees_the_buffer", "frees the buffer", D2(1010, 4011), 0),
    DEED("unmaps_the_buffer", "unmaps the buffer", D(1010), 0),
    DEED("protects_the_buffer", "makes the buffer unreadable", D(1010), 0),
    DEED("strict_seccomp", "blocks all its own system calls", ANY, HANGS),
    DEED("writes_well_below", "writes 256 MiB below the buffer", ANY, 0),
    DEED("writes_well_above", "writes 256 MiB above the buffer", ANY, 0),
    OPEN("crash", "writes to address 0", D(1009), 0),
    OPEN("exits", "calls exit(0)", D(4011), 0),
    OPEN("denied", "returns ERROR_ACCESS_DENIED", D(1008), 0),
    CLOSE("crash", "writes to address 0", K(1011), AT_CLOSE),
    CLOSE("exits", "calls exit(0)", K(4011), AT_CLOSE),
    CLOSE("fails", "returns ERROR_GEN_FAILURE", K(WHATEVER), AT_CLOSE),

    DEED("loops", "loops for ever", D(1015), HANGS),
    DEED("loops_deaf", "blocks and ignores all signals and loops for ever", D(1015), HANGS),
    DEED("sleeps", "sleeps for ever", D(1015), HANGS_LONG),
    DEED("stops_itself", "sends itself SIGSTOP", D(1015), HANGS),
    DEED("becomes_another_program", "executes another program", D2(4011, 1015), HANGS),
    DEED("sleeps_50_ms", "takes 50 ms", K(NONE), 0),
    OPEN("loops", "loops for ever", D(2002), HANGS),
    OPEN("sleeps", "sleeps for ever", D(2002), HANGS_LONG),
    CLOSE("loops", "loops for ever", K(WHATEVER), AT_CLOSE),
    CLOSE("sleeps", "sleeps for ever", K(WHATEVER), AT_CLOSE),

    DEED("closes_all", "closes all descriptors", ANY, HANGS),
    DEED("replaces_all", "puts /dev/zero in place of all descriptors", ANY, HANGS),
    DEED("writes_to_all", "writes junk to all descriptors", ANY, HANGS),
    DEED("truncates_all", "truncates all descriptors, the shared memory too", K(NONE), REFUSED),
    DEED("overwrites_ones", "fills all shared memory with ones", ANY, HANGS),
    DEED("overwrites_zeros", "fills all shared memory with zeros", ANY, HANGS),
    DEED("overwrites_and_dies", "overwrites shared memory and exits", ANY, HANGS),
    DEED("overwrites_and_sleeps", "overwrites shared memory and sleeps for ever", ANY, HANGS),
    DEED("overwrites_in_a_thread", "overwrites shared memory for 300 ms in a thread", ANY, HANGS | SOUND),
    DEED("prints", "prints half a megabyte", K(NONE), 0),
    DEED("prints_errors", "prints to standard error", K(NONE), 0),
    DEED("reads_input", "reads standard input to its end", K(NONE), 0),

    DEED("changes_during", "changes its answer while it is checked", ANY, SOUND),
    DEED("changes_after", "changes its answer long after it was returned", ANY, SOUND),
    DEED("leaves_threads", "leaves three busy threads running", K(NONE), 0),
    DEED("leaves_a_child", "forks a child that overwrites all that is shared", K(NONE), REFUSED),
    DEED("leaves_many_children", "forks 100 children", K(NONE), REFUSED),
    DEED("child_dies", "forks a child that dies", K(NONE), REFUSED),
    PARENT("leaves_a_child", "forks a child that overwrites all that is shared", ANY, HANGS),
    PARENT("leaves_many_children", "forks 100 children", ANY, 0),
    PARENT("child_dies", "forks a child that dies", K(NONE), 0),

    DEED("handles_signals", "sets a handler for every signal", K(NONE), 0),
    DEED("ignores_signals", "ignores every signal", K(NONE), 0),
    DEED("blocks_signals", "blocks every signal", K(NONE), 0),
    DEED("limits_descriptors", "allows itself no descriptors", K(NONE), 0),
    DEED("limits_memory", "allows itself no memory", K(NONE), 0),
    DEED("limits_files", "allows itself no file sizes", K(NONE), 0),
    DEED("limits_processes", "allows itself no processes", K(NONE), 0),
    DEED("changes_folder", "changes folder and umask", K(NONE), 0),
    DEED("changes_environment", "clears the environment", K(NONE), 0),
    DEED("changes_locale", "sets another locale", K(NONE), 0),
    DEED("changes_user", "becomes another user", ANY, 0),
    DEED("lowers_priority", "lowers its priority", K(NONE), 0),
    DEED("sets_a_timer", "sets a timer that kills", ANY, 0),
    DEED("changes_its_name", "calls itself init and cannot be inspected", K(NONE), 0),

    DEED("kills_its_group", "kills its process group", ANY, 0),
    DEED("kills_its_parent", "kills its parent", K(NONE), REFUSED),
    DEED("kills_the_client", "kills the querying process", K(NONE), REFUSED),
    DEED("kills_the_client_by_thread", "kills the querying process by tgkill", K(NONE), REFUSED),
    DEED("kills_the_client_by_descriptor", "kills the querying process by pidfd", K(NONE), REFUSED),
    DEED("queues_a_signal", "kills the querying process by sigqueue", K(NONE), REFUSED),
    DEED("traces_the_client", "traces the querying process", K(NONE), REFUSED),
    DEED("writes_into_the_client", "writes into the querying process's memory", K(NONE), REFUSED),
    DEED("mounts", "mounts a file system", K(NONE), REFUSED),
    DEED("uses_bpf", "calls bpf", K(NONE), REFUSED),
    DEED("loads_a_module", "loads a kernel module", K(NONE), REFUSED),
};

#define LOAD(name, what, outcome, flags) \
    {name, what, GUARDED(outcome), flags, NULL, "lie_good", NULL, "broken-" name ".so"}

static const struct kind loads[] = {
    LOAD("construct_crash", "the library's constructor writes to address 0", D(1023), 0),
    LOAD("construct_exit", "the constructor calls exit(0)", D(1023), 0),
    LOAD("construct_sleep", "the constructor sleeps for ever", D2(2002, 1023), HANGS),
    LOAD("attach_crash", "DllMain writes to address 0 when attached", D(SOME), 0),
    LOAD("attach_refuse", "DllMain returns FALSE", D(1023), 0),
    LOAD("attach_sleep", "DllMain sleeps for ever", D(SOME), HANGS),
    LOAD("detach_crash", "DllMain writes to address 0 when detached", K(WHATEVER), AT_CLOSE),
    LOAD("detach_sleep", "DllMain sleeps for ever when detached", K(WHATEVER), AT_CLOSE),
    LOAD("destruct_crash", "the destructor writes to address 0", K(WHATEVER), AT_CLOSE),
    LOAD("destruct_exit", "the destructor calls _exit", K(WHATEVER), AT_CLOSE),
    LOAD("undefined", "the library needs a function that does not exist", D2(1023, 1010), 0),
    {"throws", "Collect throws a C++ exception", {D(1010), D(1010), D(1010), NO}, CPP, NULL, "lie_good", NULL, "thrower.so"},
};

#define MISSING {EITHER, 1007, 0}
#define FILE_ROW(name, what, outcome) {name, what, ALWAYS(outcome), 0, NULL, "lie_good", NULL, name}

static const struct kind files[] = {
    FILE_ROW("missing.so", "the library does not exist", D(1023)),
    FILE_ROW("text.so", "the library is a text file", D(1023)),
    FILE_ROW("empty.so", "the library is an empty file", D(1023)),
    FILE_ROW("folder.so", "the library is a folder", D(1023)),
    FILE_ROW("otherclass.so", "the library is for the other word size",
             D(sizeof(void *) == 8 ? 1021 : 1022)),
    {"no_open", "Open is not in the library", ALWAYS(D(1005)), 0, "nowhere", "lie_good", NULL, NULL},
    {"no_collect", "Collect is not in the library", ALWAYS(D(1006)), 0, NULL, "nowhere", NULL, NULL},
    {"no_close", "Close is not in the library", ALWAYS(MISSING), 0, NULL, "lie_good", "nowhere", NULL},
    {"empty_collect", "the name of Collect is empty", ALWAYS(D(SOME)), 0, NULL, "", NULL, NULL},
};

const struct kind_table kind_tables[] = {
    {"What Collect returns", "lies.so", "lie_", 1, lies, COUNT(lies)},
    {"What the library is", "lies.so", "lie_", 1, files, COUNT(files)},
    {"What the library does when it is loaded and unloaded", "lies.so", "lie_", 0, loads, COUNT(loads)},
    {"What the library does", "deeds.so", "deed_", 0, deeds, COUNT(deeds)},
};
const size_t kind_table_count = COUNT(kind_tables);
/* clang-format on */
