/* SPDX-License-Identifier: MIT */
/* NUMA Node Memory of perfos.so, read from files that the test makes: online nodes with gaps in
 * their numbers. */
#include "tree.h"

PM_OPEN_PROC OpenOSObject;
PM_COLLECT_PROC CollectOSObjectData;
PM_CLOSE_PROC CloseOSObject;

static void write_node(int node, unsigned long total, unsigned long unused, unsigned long inactive)
{
    char path[96], text[512];
    snprintf(path, sizeof path, "sys/devices/system/node/node%d/meminfo", node);
    snprintf(text, sizeof text,
             "Node %d MemTotal:       %8lu kB\nNode %d MemFree:        %8lu kB\n"
             "Node %d MemUsed:        %8lu kB\nNode %d Inactive:             7 kB\n"
             "Node %d Inactive(file): %8lu kB\n",
             node, total, node, unused, node, total - unused, node, node, inactive);
    tree_write(path, text);
}

static struct answer run_query(const char16_t *query)
{
    return query_function(CollectOSObjectData, query, ANSWER_SIZE);
}

static int begin(void **state)
{
    (void)state;
    tree_make();
    tree_write("sys/devices/system/node/online", "0-1,12\n");
    write_node(0, 8 << 20, 1 << 20, 512 << 10);
    write_node(1, (8 << 20) + 1023, 2 << 20, 1 << 10);
    write_node(2, 1, 1, 1); /* node 2 is offline */
    write_node(12, 1024UL * 1024 * 1024, 0, 3 << 10);
    return (int)OpenOSObject(NULL);
}

static int end(void **state)
{
    (void)state;
    CloseOSObject();
    tree_drop("");
    return 0;
}

static void each_node_that_is_on_tells_its_memory(void **state)
{
    static const struct node {
        const char *name;
        uint64_t total, unused, standby;
    } nodes[] = {
        {"0",  8192,    1024, 512},
        {"1",  8192,    2048, 1  },
        {"12", 1048576, 0,    3  }
    };
    opl_object_view object;
    opl_instance_view none;
    (void)state;
    struct answer answer = run_query(u"1814");
    assert_int_equal(answer.types, 1);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(value_of(&answer, 1814, nodes[i].name, 1816), nodes[i].total);
        assert_int_equal(value_of(&answer, 1814, nodes[i].name, 1818), nodes[i].unused);
        assert_int_equal(value_of(&answer, 1814, nodes[i].name, 1822), nodes[i].standby);
        assert_int_equal(value_of(&answer, 1814, nodes[i].name, 1824),
                         nodes[i].unused + nodes[i].standby);
    }
    assert_true(answer_object(&answer, 1814, &object));
    assert_int_equal(object.type.NumInstances, 3);
    assert_false(object_named(&answer, &object, "2", &none));
}

static void a_node_that_is_switched_off_is_gone(void **state)
{
    (void)state;
    tree_write("sys/devices/system/node/online", "1\n");
    struct answer answer = run_query(u"1814");
    opl_object_view object;
    assert_true(answer_object(&answer, 1814, &object));
    assert_int_equal(object.type.NumInstances, 1);
    assert_int_equal(value_of(&answer, 1814, "1", 1818), 2048);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_node_that_is_on_tells_its_memory),
        cmocka_unit_test(a_node_that_is_switched_off_is_gone),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
