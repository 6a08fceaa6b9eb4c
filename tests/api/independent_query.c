/* SPDX-License-Identifier: MIT */
/*
 * The performance keys, tested once more from the documents alone: unusual query strings and calls,
 * languages, counter names that are written to the registry without lodctr, and answers compared
 * with ps, /proc and recorded blocks of Windows.
 */
#include "independent.h"

#include <ctype.h>

INDEPENDENT(numbers_that_are_none)
{
    static const char *const nothing[] = {"4294967298", "18446744073709551618",
                                          "-2",         "+2",
                                          "2a",         "a2",
                                          "0x2",        "2,230",
                                          "2.0",        "2;230",
                                          "٢",          "~2",
                                          "00x",        "1",
                                          "3",          "0",
                                          "4294967295", "2147483648",
                                          "Glo",        "bal",
                                          "Globa",      "Globals",
                                          "_Global",    "\x80\xff"};
    for (size_t i = 0; i < COUNT(nothing); i++) {
        CHECK_IS(run_query(nothing[i]), 0);
        CHECK_IS(answer_type, REG_BINARY);
        DWORD count = answer_objects();
        if (count)
            printf("# \"%s\" brought %u objects\n", nothing[i], count), failures++;
    }
    CHECK_IS(run_query("   2   4294967534 238  "), 0);
    CHECK_IS(answer_objects(), 2);
    CHECK(answer_has(2) && answer_has(238));
    CHECK_IS(run_query("002"), 0);
    CHECK(answer_has(2));
}

INDEPENDENT(queries_of_any_length)
{
    enum { MANY = 1 << 20 };
    char *text = malloc(MANY + 1);
    for (int i = 0; i < MANY; i++)
        text[i] = i % 2 ? ' ' : '2';
    text[MANY] = '\0';
    /* a query string is a value's name, and no name is this long */
    CHECK_IS(run_query(text), ERROR_INVALID_PARAMETER);
    CHECK_IS(answer_size, sizeof(answer));
    text[16000] = '\0';
    CHECK_IS(run_query(text), 0);
    /* object 2 was requested many times, and is in the answer once */
    CHECK_IS(answer_objects(), 1);
    for (const char *unit = "2x٢"; *unit; unit++) {
        memset(text, *unit, 16000);
        CHECK_IS(run_query(text), 0);
        CHECK_IS(answer_objects(), 0);
        memcpy(text, "Counter ", 8);
        CHECK_IS(run_query(text), 0);
        CHECK(answer_name(2) && !strcmp(answer_name(2), "System"));
    }
    for (int i = 0, at = 0; i < 500; i++)
        at += sprintf(text + at, "%d ", 2 + 2 * i);
    CHECK_IS(run_query(text), 0);
    CHECK(answer_has(2) && answer_has(230) && answer_has(238));
    free(text);
}

INDEPENDENT(names_at_their_exact_size)
{
    static const char *const queries[] = {"Counter 009", "EXPLAIN 007", "help 019", "counter"};
    for (size_t i = 0; i < COUNT(queries); i++) {
        DWORD needed = 0, size, type = 0;
        CHECK_IS(RegQueryValueExA(HKEY_PERFORMANCE_DATA, queries[i], NULL, &type, NULL, &needed),
                 0);
        CHECK_IS(type, REG_MULTI_SZ);
        CHECK(needed > 10000);
        BYTE *exact = malloc(needed);
        size = needed;
        CHECK_IS(RegQueryValueExA(HKEY_PERFORMANCE_DATA, queries[i], NULL, &type, exact, &size), 0);
        CHECK_IS(size, needed);
        CHECK_IS(exact[needed - 1] + exact[needed - 2], 0);
        size = needed - 1;
        CHECK_IS(RegQueryValueExA(HKEY_PERFORMANCE_DATA, queries[i], NULL, &type, exact, &size),
                 ERROR_MORE_DATA);
        CHECK_IS(size, needed);
        free(exact);
    }
}

INDEPENDENT(data_at_their_exact_size_and_unaligned)
{
    CHECK_IS(run_query("238"), 0);
    DWORD needed = answer_size, size;
    for (int shift = 0; shift < 8; shift++) {
        BYTE *storage = malloc(needed + 8);
        opl_block block;
        memset(storage, 0xa5, needed + 8);
        size = needed;
        CHECK_IS(
            RegQueryValueExW(HKEY_PERFORMANCE_DATA, u"238", NULL, NULL, storage + shift, &size), 0);
        CHECK_IS(size, needed);
        CHECK_IS(opl_block_init(&block, storage + shift, size), OPL_BLOCK_GOOD);
        for (int i = shift; i < 8; i++)
            CHECK_IS(storage[needed + i], 0xa5);
        size = needed - 1;
        CHECK_IS(
            RegQueryValueExW(HKEY_PERFORMANCE_DATA, u"238", NULL, NULL, storage + shift, &size),
            ERROR_MORE_DATA);
        CHECK_IS(size, needed - 1);
        free(storage);
    }
}

static void odd_calls_on(HKEY root)
{
    HKEY result = NULL;
    DWORD disposition = 77;
    FILETIME time;
    CHECK(RegCreateKeyExA(root, "x", 0, NULL, 0, KEY_ALL_ACCESS, NULL, &result, &disposition));
    CHECK_IS(disposition, 77);
    CHECK(RegDeleteValueA(root, "Global"));
    CHECK(RegDeleteValueW(root, u"Counter"));
    CHECK(RegDeleteKeyA(root, "009"));
    CHECK(RegDeleteTreeA(root, NULL));
    CHECK(RegDeleteTreeW(root, u"x"));
    CHECK(set_dword(root, "x", 1));
    CHECK(RegSetValueExW(root, u"Counter", 0, REG_MULTI_SZ, (const BYTE *)u"2\0", 6));
    RegFlushKey(root);
    RegQueryInfoKeyA(root, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &time);
    CHECK_IS(RegCloseKey(root), 0);
}

INDEPENDENT(odd_calls_change_nothing)
{
    static const DWORD values[] = {0x80000004, 0x80000050, 0x80000060};
    char path[128];
    for (size_t i = 0; i < COUNT(values); i++) {
        odd_calls_on(OPL_ROOT_KEY(values[i]));
        odd_calls_on((HKEY)(uintptr_t)values[i]);
    }
    CHECK_IS(run_query("2"), 0);
    CHECK(answer_has(2));
    snprintf(path, sizeof(path), "%s/machine", test_root);
    CHECK_IS(access(path, F_OK), -1); /* no file was written */
}

INDEPENDENT(a_connected_key_has_its_own_life)
{
    HKEY one = NULL, two = NULL;
    CHECK_IS(RegConnectRegistryA(NULL, HKEY_PERFORMANCE_DATA, &one), 0);
    CHECK_IS(RegConnectRegistryA("\\\\.", HKEY_PERFORMANCE_DATA, &two), 0);
    CHECK_IS(query_key(one, "2"), 0);
    CHECK(answer_has(2));
    CHECK_IS(RegCloseKey(one), 0);
    CHECK_IS(query_key(two, "238"), 0);
    CHECK(answer_has(238));
    CHECK_IS(RegCloseKey(two), 0);
    CHECK_IS(run_query("4"), 0);
    CHECK(answer_has(4));
    CHECK_IS(RegCloseKey(HKEY_PERFORMANCE_DATA), 0);
    CHECK_IS(run_query("4"), 0);
    CHECK(answer_has(4));
    CHECK(RegConnectRegistryA("no-such-machine", HKEY_PERFORMANCE_DATA, &one) != 0);
}

/* Combinations of environment variables, and what each selects: the value InstallLanguage (NULL:
 * not compared), the name of the object Process, the language. An empty variable counts as not
 * set. */
static const struct {
    const char *lc_all, *lc_messages, *lang, *install, *processor_name;
    LANGID primary;
} languages[] = {
    {NULL,          NULL,          "de_DE.UTF-8", "0407", "Prozess",        0x07},
    {NULL,          "ru_RU.UTF-8", "de_DE.UTF-8", "0419", "Процесс", 0x19},
    {"es_ES.UTF-8", "ru_RU.UTF-8", "de_DE.UTF-8", NULL,   "Proceso",        0x0a},
    {"fr_FR",       NULL,          NULL,          "040C", "Processus",      0x0c},
    {"C",           "de_DE",       "de_DE",       "0409", "Process",        0x09},
    {"",            "de_AT@euro",  "ru_RU",       NULL,   "Prozess",        0x07},
    {"tlh_XX",      NULL,          NULL,          NULL,   "Process",        0x00},
    {NULL,          NULL,          NULL,          "0409", "Process",        0x09},
};
static size_t language;

static void set_or_not(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static void language_body(void)
{
    char install[16] = "";
    DWORD size = sizeof(install);
    set_or_not("LC_ALL", languages[language].lc_all);
    set_or_not("LC_MESSAGES", languages[language].lc_messages);
    set_or_not("LANG", languages[language].lang);
    unsetenv("LANGUAGE");
    CHECK_IS(query_key(HKEY_PERFORMANCE_NLSTEXT, "Counter"), 0);
    const char *name = answer_name(230);
    CHECK(name && !strcmp(name, languages[language].processor_name));
    if (name)
        printf("# %zu: %s\n", language, name);
    CHECK_IS(query_key(HKEY_PERFORMANCE_TEXT, "Counter"), 0);
    CHECK(answer_name(230) && !strcmp(answer_name(230), "Process"));
    CHECK_IS(RegGetValueA(HKEY_LOCAL_MACHINE, "SYSTEM\\CurrentControlSet\\Control\\Nls\\Language",
                          "InstallLanguage", RRF_RT_REG_SZ, NULL, install, &size),
             0);
    if (languages[language].install)
        CHECK(!strcasecmp(install, languages[language].install));
    if (languages[language].primary) {
        CHECK_IS(GetUserDefaultUILanguage() & 0x3ff, languages[language].primary);
        CHECK_IS(strtoul(install, NULL, 16) & 0x3ff, languages[language].primary);
    }
}

static void languages_follow_the_locale(void **state)
{
    for (language = 0; language < COUNT(languages); language++)
        in_child(language_body);
}

/* Reads a language base (the list of all indices with their texts) as the library OSHI does,
 * appends an index with its text, and writes the base back. Returns the new size in bytes. */
static DWORD append_pair(HKEY key, const char *value, unsigned index, const char *text)
{
    static char base[1 << 20];
    DWORD size = sizeof(base) - 512, type = 0;
    CHECK_IS(RegQueryValueExA(key, value, NULL, &type, (BYTE *)base, &size), 0);
    CHECK_IS(type, REG_MULTI_SZ);
    CHECK(size > 2);
    size -= 1; /* removes the zero that ends the list */
    size += (DWORD)sprintf(base + size, "%u", index) + 1;
    size += (DWORD)sprintf(base + size, "%s", text) + 1;
    base[size++] = '\0';
    CHECK_IS(RegSetValueExA(key, value, 0, REG_MULTI_SZ, (const BYTE *)base, size), 0);
    return size;
}

/* Installs names as docs/windows/articles.md#c80 describes: adds them to every language's subkey of
 * Perflib, with indices from Last Counter + 2 on, then raises Last Counter and Last Help. */
INDEPENDENT(c80_names_by_hand_in_every_language)
{
    char code[16], query[32], text[64];
    DWORD capacity, count = 0;
    HKEY perflib = NULL, key;
    CHECK_IS(RegOpenKeyExA(HKEY_LOCAL_MACHINE, PERFLIB, 0, KEY_ALL_ACCESS, &perflib), 0);
    DWORD name = dword_of(perflib, "Last Counter") + 2, help = dword_of(perflib, "Last Help") + 2;
    CHECK(name % 2 == 0 && help % 2 == 1 && name >= 1848);
    for (;; count++) {
        capacity = sizeof(code);
        if (RegEnumKeyExA(perflib, count, code, &capacity, NULL, NULL, NULL, NULL))
            break;
        CHECK_IS(RegOpenKeyExA(perflib, code, 0, KEY_QUERY_VALUE | KEY_SET_VALUE, &key), 0);
        snprintf(text, sizeof(text), "Meine Größe %s", code);
        append_pair(key, "Counter", name, text);
        append_pair(key, "Help", help, "Wozu?");
        CHECK_IS(RegCloseKey(key), 0);
    }
    CHECK(count >= 5);
    CHECK_IS(set_dword(perflib, "Last Counter", name), 0);
    CHECK_IS(set_dword(perflib, "Last Help", help), 0);
    CHECK_IS(dword_of(perflib, "Last Counter"), name);
    for (DWORD i = 0; i < count; i++) {
        capacity = sizeof(code);
        CHECK_IS(RegEnumKeyExA(perflib, i, code, &capacity, NULL, NULL, NULL, NULL), 0);
        snprintf(query, sizeof(query), "Counter %s", code);
        snprintf(text, sizeof(text), "Meine Größe %s", code);
        CHECK_IS(run_query(query), 0);
        CHECK(answer_name(name) && !strcmp(answer_name(name), text));
        CHECK(answer_name(230) && answer_name(2));
        snprintf(query, sizeof(query), "eXpLaIn %s", code);
        CHECK_IS(run_query(query), 0);
        CHECK(answer_name(help) && !strcmp(answer_name(help), "Wozu?"));
        CHECK_IS(RegOpenKeyExA(perflib, code, 0, KEY_READ, &key), 0);
        CHECK_IS(query_key(key, "Counter"), 0);
        CHECK(answer_name(name) && !strcmp(answer_name(name), text));
        RegCloseKey(key);
    }
    CHECK_IS(RegCloseKey(perflib), 0);
}

/* Reads all names of one language (019: Russian) as UTF-16: the W function must return the same
 * texts as the A function. */
INDEPENDENT(wide_names_are_the_same_names)
{
    static WCHAR wide[1 << 20];
    DWORD size = sizeof(wide), type = 0;
    CHECK_IS(
        RegQueryValueExW(HKEY_PERFORMANCE_DATA, u"counter 019", NULL, &type, (BYTE *)wide, &size),
        0);
    CHECK_IS(size % 2, 0);
    CHECK_IS(run_query("Counter 019"), 0);
    char *narrow = malloc(size * 2);
    int count =
        WideCharToMultiByte(CP_UTF8, 0, wide, (int)(size / 2), narrow, (int)size * 2, NULL, NULL);
    CHECK_IS(count, answer_size);
    CHECK(count == (int)answer_size && !memcmp(narrow, answer, answer_size));
    free(narrow);
}

/* Compares a block recorded on Windows with ours: objects and counters that are in both blocks must
 * be equal in everything except their values. */
static void like_windows(const char *file, const char *query, DWORD index, bool has_default)
{
    static unsigned char theirs[1 << 20];
    char path[512];
    opl_block windows, ours;
    opl_object_view old = {0}, new = {0};
    opl_counter_view theirs_at = {0}, found;
    snprintf(path, sizeof(path), "%s/windows/%s", getenv("GOLDEN"), file);
    FILE *stream = fopen(path, "rb");
    size_t size = stream ? fread(theirs, 1, sizeof(theirs), stream) : 0;
    if (stream)
        fclose(stream);
    CHECK_IS(run_query(query), 0);
    CHECK_IS(opl_block_init(&windows, theirs, size), OPL_BLOCK_GOOD);
    CHECK_IS(opl_block_init(&ours, answer, answer_size), OPL_BLOCK_GOOD);
    CHECK(opl_block_find_object(&windows, index, &old));
    CHECK(opl_block_find_object(&ours, index, &new));
    CHECK_IS(new.type.ObjectHelpTitleIndex, old.type.ObjectHelpTitleIndex);
    CHECK_IS(new.type.DetailLevel, old.type.DetailLevel);
    CHECK_IS(new.type.PerfFreq.QuadPart != 0, old.type.PerfFreq.QuadPart != 0);
    CHECK_IS(new.type.PerfTime.QuadPart != 0, old.type.PerfTime.QuadPart != 0);
    CHECK_IS(new.type.HeaderLength, 64);
    DWORD last = 0, default_theirs = 0, default_ours = 1, matched = 0, own = 0;
    for (memset(&found, 0, sizeof(found)); opl_object_next_counter(&ours, &new, &found);)
        /* indices from 100000 on are counters that only we have */
        own += found.definition.CounterNameTitleIndex >= 100000;
    while (opl_object_next_counter(&windows, &old, &theirs_at)) {
        if (theirs_at.position == (DWORD)old.type.DefaultCounter)
            default_theirs = theirs_at.definition.CounterNameTitleIndex;
        memset(&found, 0, sizeof(found));
        while (opl_object_next_counter(&ours, &new, &found)) {
            if (found.position == (DWORD) new.type.DefaultCounter)
                default_ours = found.definition.CounterNameTitleIndex;
            if (found.definition.CounterNameTitleIndex !=
                    theirs_at.definition.CounterNameTitleIndex ||
                found.definition.CounterType != theirs_at.definition.CounterType)
                continue;
            CHECK_IS(found.definition.CounterHelpTitleIndex,
                     theirs_at.definition.CounterHelpTitleIndex);
            CHECK_IS(found.definition.DefaultScale, theirs_at.definition.DefaultScale);
            CHECK_IS(found.definition.DetailLevel, theirs_at.definition.DetailLevel);
            CHECK_IS(found.definition.CounterSize, theirs_at.definition.CounterSize);
            /* our counters are in the order in which Windows has them */
            CHECK(matched == 0 || found.position > last);
            last = found.position;
            matched++;
        }
    }
    if (has_default)
        CHECK_IS(default_ours, default_theirs);
    printf("# %s: %u of %u counters of Windows, %u ours\n", file, matched, old.type.NumCounters,
           new.type.NumCounters);
    CHECK_IS(matched, new.type.NumCounters - own);
    CHECK(own == 0 || (index == 2 && own == 6) || (index == 230 && own == 2));
    CHECK((DWORD) new.type.DefaultCounter < new.type.NumCounters);
}

INDEPENDENT(definitions_are_those_of_windows)
{
    like_windows("s00-7-System.perf", "2", 2, false) /* Linux has no File Data Operations */;
    like_windows("s00-2-Memory.perf", "4", 4, true);
    like_windows("s00-6-Processor.perf", "238", 238, true);
    like_windows("s00-5-Process.perf", "230", 230, true);
    like_windows("s00-1-TCPv4.perf", "638", 638, true);
    like_windows("s00-3-Network_Interface.perf", "510", 510, true);
}

static uint64_t number_of(opl_block *block, opl_object_view *object, opl_instance_view *instance,
                          DWORD title)
{
    opl_counter_view counter = {0};
    uint64_t value = ~0ull;
    while (opl_object_next_counter(block, object, &counter))
        if (counter.definition.CounterNameTitleIndex == title) {
            CHECK(opl_counter_number(block, instance, &counter, &value));
            break;
        }
    return value;
}

/* In one answer, the parent of each instance of the object Thread is an instance of Process, and
 * each process is the parent of as many threads as its counter Thread Count says. */
INDEPENDENT(threads_and_their_processes)
{
    opl_block block;
    opl_object_view threads = {0}, processes = {0}, parent_object;
    opl_instance_view thread = {0}, parent, process = {0};
    static unsigned counted[1 << 16];
    CHECK_IS(run_query("232"), 0);
    CHECK_IS(opl_block_init(&block, answer, answer_size), OPL_BLOCK_GOOD);
    CHECK(opl_block_find_object(&block, 232, &threads));
    CHECK(opl_block_find_object(&block, 230, &processes));
    while (opl_object_next_instance(&block, &threads, &thread)) {
        CHECK_IS(thread.definition.ParentObjectTitleIndex, 230);
        CHECK_IS(thread.definition.UniqueID, -1);
        if (!opl_instance_parent(&block, &thread, &parent_object, &parent)) {
            CHECK(!"a thread without its process");
            continue;
        }
        CHECK_IS(number_of(&block, &threads, &thread, 784),
                 number_of(&block, &processes, &parent, 784));
        counted[parent.position % COUNT(counted)]++;
    }
    while (opl_object_next_instance(&block, &processes, &process)) {
        char name[256];
        opl_instance_name(&block, &processes, &process, name, sizeof(name));
        uint64_t reported = number_of(&block, &processes, &process, 680);
        if (process.position == (DWORD)processes.type.NumInstances - 1)
            /* _Total of Process is the parent of a single instance of Thread, named _Total, too */
            CHECK_IS(counted[process.position], 1);
        else if (counted[process.position] != reported)
            printf("# %s: %u threads, says %llu\n", name, counted[process.position],
                   (unsigned long long)reported),
                failures++;
    }
}

/* Counters of Process for which _Total is not the sum: the ids of the process (784) and of its
 * parent (1410), Priority Base (682) and Elapsed Time (684). */
static bool is_no_sum(DWORD title)
{
    return title == 784 || title == 1410 || title == 682 || title == 684;
}

INDEPENDENT(total_is_the_sum_of_all_processes)
{
    opl_block block;
    opl_object_view object = {0};
    opl_counter_view counter = {0};
    CHECK_IS(run_query("230"), 0);
    CHECK_IS(opl_block_init(&block, answer, answer_size), OPL_BLOCK_GOOD);
    CHECK(opl_block_find_object(&block, 230, &object));
    while (opl_object_next_counter(&block, &object, &counter)) {
        opl_instance_view instance = {0};
        uint64_t sum = 0, value = 0;
        while (opl_object_next_instance(&block, &object, &instance)) {
            sum += value;
            CHECK(opl_counter_number(&block, &instance, &counter, &value));
        }
        if (counter.definition.CounterSize == 4)
            sum &= 0xffffffff;
        if (!is_no_sum(counter.definition.CounterNameTitleIndex) && sum != value)
            printf("# %u: _Total is %llu, the sum %llu\n", counter.definition.CounterNameTitleIndex,
                   (unsigned long long)value, (unsigned long long)sum),
                failures++;
    }
}

struct seen {
    unsigned pid, parent, threads;
    unsigned long long rss, vsz;
    char name[32];
};

/* Changes a name as openperflib changes names of instances: \ / # * and control characters are
 * replaced, and round brackets become square. (docs/windows/providers.md#d6) */
static void as_an_instance(char *name)
{
    for (char *at; (at = strpbrk(name, "()")) != NULL;)
        *at = *at == '(' ? '[' : ']';
    for (char *at = name; *at; at++)
        if (strchr("\\/#*", *at) || iscntrl((unsigned char)*at))
            *at = '_';
}

static size_t read_ps(struct seen *list, size_t capacity)
{
    FILE *ps = popen("ps -eo pid=,ppid=,nlwp=,rss=,vsz=,comm= 2>/dev/null", "r");
    size_t count = 0;
    char line[512];
    while (ps && count < capacity && fgets(line, sizeof(line), ps)) {
        struct seen *one = &list[count];
        if (sscanf(line, "%u %u %u %llu %llu %15[^\n]", &one->pid, &one->parent, &one->threads,
                   &one->rss, &one->vsz, one->name) == 6) {
            as_an_instance(one->name);
            count++;
        }
    }
    if (ps)
        pclose(ps);
    return count;
}

static const struct seen *seen_pid(const struct seen *list, size_t count, uint64_t pid)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].pid == pid)
            return &list[i];
    return NULL;
}

static void compare(opl_block *block, opl_object_view *object, opl_instance_view *instance,
                    const struct seen *seen)
{
    char name[256];
    opl_instance_name(block, object, instance, name, sizeof(name));
    CHECK_IS(number_of(block, object, instance, 1410), seen->parent);
    CHECK_IS(number_of(block, object, instance, 680), seen->threads);
    CHECK_IS(number_of(block, object, instance, 174), (uint64_t)seen->vsz * 1024);
    long long set = (long long)number_of(block, object, instance, 180) / 1024;
    CHECK(llabs(set - (long long)seen->rss) <= (long long)seen->rss / 20 + 1024);
    /* ps shows a kernel thread's work after "-" or "+": it changes, so only the part before it is
     * compared */
    size_t same = strcspn(seen->name, "-+");
    same = same > 15 ? 15 : same;
    CHECK(!strpbrk(name, "\\/#*()"));
    if (seen->vsz == 0 && strncmp(name, seen->name, same) != 0) /* no memory: a kernel thread */
        printf("# %u is %s, ps says %s\n", seen->pid, name, seen->name), failures++;
}

static void compare_with_ps(void)
{
    static struct seen before[8192], after[8192];
    bool listed[8192] = {false};
    opl_block block;
    opl_object_view object = {0};
    opl_instance_view instance = {0};
    size_t then = read_ps(before, COUNT(before));
    CHECK_IS(run_query("230"), 0);
    size_t now = read_ps(after, COUNT(after));
    if (then == 0)
        skipped("no ps here");
    CHECK_IS(opl_block_init(&block, answer, answer_size), OPL_BLOCK_GOOD);
    CHECK(opl_block_find_object(&block, 230, &object));
    while (opl_object_next_instance(&block, &object, &instance)) {
        uint64_t pid = number_of(&block, &object, &instance, 784);
        const struct seen *one = seen_pid(before, then, pid), *two = seen_pid(after, now, pid);
        if (one)
            listed[one - before] = true;
        if (one && two && one->parent == two->parent && one->threads == two->threads &&
            one->vsz == two->vsz && one->rss == two->rss)
            compare(&block, &object, &instance, one);
    }
    for (size_t i = 0; i < then; i++)
        if (seen_pid(after, now, before[i].pid) && !listed[i])
            printf("# %u %s is missing\n", before[i].pid, before[i].name), failures++;
}

/* A process may change between ps and the query, and change back before ps reads it again. So the
 * test succeeds if one of ten rounds agrees for all processes. */
INDEPENDENT(processes_beside_ps)
{
    int wrong = 1, others = failures;
    for (int i = 0; i < 10 && wrong; i++) {
        failures = others;
        compare_with_ps();
        wrong = failures - others;
    }
}

/* Compares System's counts with the lists of processes and threads in the same answer. Other
 * programs start and end processes while these are read, so the test succeeds if one of twenty
 * answers agrees (up to a difference of 8). */
INDEPENDENT(system_agrees_with_the_lists)
{
    opl_block block;
    opl_object_view system, processes, processors;
    long long reported = 0, listed = 0;
    for (int i = 0; i < 20 && (i == 0 || llabs(reported - listed) > 8); i++) {
        opl_instance_view only = {0};
        system = processes = processors = (opl_object_view){0};
        CHECK_IS(run_query("238 2 230"), 0);
        CHECK_IS(opl_block_init(&block, answer, answer_size), OPL_BLOCK_GOOD);
        CHECK(opl_block_find_object(&block, 2, &system));
        CHECK(opl_block_find_object(&block, 230, &processes));
        CHECK(opl_block_find_object(&block, 238, &processors));
        CHECK(opl_object_next_instance(&block, &system, &only));
        CHECK_IS(system.type.NumInstances, PERF_NO_INSTANCES);
        CHECK_IS(processors.type.NumInstances, sysconf(_SC_NPROCESSORS_ONLN) + 1);
        reported = (long long)number_of(&block, &system, &only, 248);
        listed = processes.type.NumInstances - 1;
        printf("# System says %lld, Process lists %lld\n", reported, listed);
    }
    CHECK(reported >= listed - 8);
    CHECK(reported <= listed + 8 || !sees_all_processes());
    CHECK_IS(block.header.PerfFreq.QuadPart, 10000000);
    CHECK_IS(block.header.DefaultObject, 238);
}

INDEPENDENT(a_process_that_comes_and_goes)
{
    for (int round = 0; round < 20; round++) {
        pid_t child = fork();
        if (child == 0) {
            pause();
            _exit(0);
        }
        opl_block block;
        opl_object_view object = {0};
        opl_instance_view instance = {0};
        int found = 0;
        CHECK_IS(run_query("230"), 0);
        CHECK_IS(opl_block_init(&block, answer, answer_size), OPL_BLOCK_GOOD);
        CHECK(opl_block_find_object(&block, 230, &object));
        while (opl_object_next_instance(&block, &object, &instance))
            found += number_of(&block, &object, &instance, 784) == (uint64_t)child;
        CHECK_IS(found, 1);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        CHECK_IS(run_query("230"), 0);
        found = 0;
        memset(&instance, 0, sizeof(instance));
        memset(&object, 0, sizeof(object));
        CHECK_IS(opl_block_init(&block, answer, answer_size), OPL_BLOCK_GOOD);
        CHECK(opl_block_find_object(&block, 230, &object));
        while (opl_object_next_instance(&block, &object, &instance))
            found += number_of(&block, &object, &instance, 784) == (uint64_t)child;
        CHECK_IS(found, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_that_are_none),
        cmocka_unit_test(queries_of_any_length),
        cmocka_unit_test(names_at_their_exact_size),
        cmocka_unit_test(data_at_their_exact_size_and_unaligned),
        cmocka_unit_test(odd_calls_change_nothing),
        cmocka_unit_test(a_connected_key_has_its_own_life),
        cmocka_unit_test(languages_follow_the_locale),
        cmocka_unit_test(c80_names_by_hand_in_every_language),
        cmocka_unit_test(wide_names_are_the_same_names),
        cmocka_unit_test(definitions_are_those_of_windows),
        cmocka_unit_test(threads_and_their_processes),
        cmocka_unit_test(total_is_the_sum_of_all_processes),
        cmocka_unit_test(processes_beside_ps),
        cmocka_unit_test(system_agrees_with_the_lists),
        cmocka_unit_test(a_process_that_comes_and_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
