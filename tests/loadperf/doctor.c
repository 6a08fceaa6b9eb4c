/* SPDX-License-Identifier: MIT */
/* lodctr doctor finds and repairs damaged registrations. Each test does damage of one kind (with
 * several random seeds), or of two random kinds. After the repair, the registry answers exactly as
 * before the damage: names in every language, and every number. */
#include "../skip.h"
#include "machine.h"

#include <dirent.h>
#include <winperf.h>
#include <winreg.h>

enum { PROVIDERS_HURT = 8, SEEDS = 5, QUICK_SEEDS = 1, QUICK_PAIRS = 30, TURNS = 40 };

/* ---- the doctor's findings ---- */

static struct buffer findings;
static opl_load_restored cured;

static void take_finding(void *self, const opl_load_finding *finding)
{
    buffer_printf(&findings, "%s %s %s: %s: %s\n", finding->repaired ? "repaired" : "left",
                  finding->kind, finding->service ? finding->service : "-",
                  finding->file ? finding->file : "-", finding->text);
}

static DWORD doctor_as(opl_load_options options)
{
    const opl_load_doctor_options finding_copy = {.found = take_finding};
    buffer_clear(&findings);
    cured = (opl_load_restored){0};
    return opl_load_doctor(&finding_copy, &options, &cured);
}

static DWORD doctor_with(bool dry_run)
{
    opl_load_options options = options_of();
    options.dry_run = dry_run;
    return doctor_as(options);
}

static void assert_found(const char *text)
{
    if (!strstr(findings.data ? findings.data : "", text))
        fail_msg("no finding \"%s\" in:\n%s", text, findings.data ? findings.data : "");
}

/* ---- providers that answer ---- */

/* First Counter of each provider: the number of its object */
static uint32_t firsts[PROVIDERS_HURT];

/* First Counter of a provider; the providers' Open functions call this. */
__attribute__((visibility("default"))) DWORD first_number(int provider);
DWORD first_number(int provider)
{
    char name[32];
    snprintf(name, sizeof name, "Svc %d", provider);
    return number_of(name, "First Counter");
}

/* Makes a copy of the library for one provider, because providers that load the same file would
 * share its variables. */
static void put_library(const char *name)
{
    BUFFER_AUTO bytes = {0};
    char from[4096];
    snprintf(from, sizeof from, "%s/tests/loadperf/answers.so", getenv("BUILD_ROOT"));
    assert_int_equal(file_read(AT_FDCWD, from, &bytes), ERROR_SUCCESS);
    put_bytes(name, bytes.data, bytes.len);
}

static void copy_libraries(void)
{
    char name[32];
    for (int i = 0; i < PROVIDERS_HURT; i++) {
        snprintf(name, sizeof name, "svc-%d.so", i);
        put_library(name);
    }
}

static bool has_object(const BYTE *data, uint32_t index)
{
    const PERF_DATA_BLOCK *block = (const PERF_DATA_BLOCK *)data;
    const BYTE *at = data + block->HeaderLength;
    for (DWORD i = 0; i < block->NumObjectTypes; i++) {
        const PERF_OBJECT_TYPE *object = (const PERF_OBJECT_TYPE *)at;
        if (object->ObjectNameTitleIndex == index)
            return true;
        at += object->TotalByteLength;
    }
    return false;
}

/* Returns the number of the first provider that should answer but does not; PROVIDERS_HURT: all
 * answer. Svc 0 is disabled, so it should not answer. */
static int first_silent(void)
{
    static BYTE data[1 << 16] __attribute__((aligned(8)));
    BUFFER_AUTO query = {0};
    DWORD size = sizeof data, type;
    for (int i = 0; i < PROVIDERS_HURT; i++)
        buffer_printf(&query, i ? " %u" : "%u", (unsigned)firsts[i]);
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    assert_int_equal(RegQueryValueExA(HKEY_PERFORMANCE_DATA, query.data, NULL, &type, data, &size),
                     0);
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    for (int i = 1; i < PROVIDERS_HURT; i++)
        if (!has_object(data, firsts[i]))
            return i;
    return has_object(data, firsts[0]) ? 0 : PROVIDERS_HURT;
}

static void make_answering_machine(void)
{
    static char folder[64];
    strcpy(folder, test_root);
    library_folder = folder;
    copy_libraries();
    make_machine(PROVIDERS_HURT);
    library_folder = NULL;
    for (int i = 0; i < PROVIDERS_HURT; i++) {
        static const uint32_t here = 0;
        FREE_AUTO char *path = text_format("%s\\Svc %d\\Performance", REGISTRY_SERVICES, i);
        assert_int_equal(
            registry_set(LAYER_MACHINE, path, "Isolation", REG_DWORD, &here, sizeof here), 0);
        firsts[i] = first_number(i);
    }
    assert_int_equal(first_silent(), PROVIDERS_HURT);
}

/* ---- damage ---- */

static unsigned seed;

static uint32_t below(uint32_t limit)
{
    return (uint32_t)rand_r(&seed) % limit;
}

static char service[32], key[256];

static void choose_service(uint32_t number)
{
    snprintf(service, sizeof service, "Svc %u", (unsigned)number);
    snprintf(key, sizeof key, "%s\\%s\\Performance", REGISTRY_SERVICES, service);
}

static void set_value(const char *value, uint32_t type, const void *data, size_t size)
{
    assert_int_equal(registry_set(LAYER_MACHINE, key, value, type, data, size), ERROR_SUCCESS);
}

static void set_number(const char *value, uint32_t number)
{
    set_value(value, REG_DWORD, &number, sizeof number);
}

static void set_name_as(const char *language, uint32_t index, uint32_t type, const void *data,
                        size_t size)
{
    char name[16];
    FREE_AUTO char *names = text_format("%s\\Names\\%s", key, language);
    snprintf(name, sizeof name, "%u", (unsigned)index);
    assert_int_equal(registry_set(LAYER_MACHINE, names, name, type, data, size), ERROR_SUCCESS);
}

static void set_name(const char *language, uint32_t index, const char *text)
{
    set_name_as(language, index, REG_SZ, text, strlen(text) + 1);
}

static const char *language_at(unsigned which)
{
    return languages[which % COUNT(languages)];
}

static uint32_t other_provider(void)
{
    return below(PROVIDERS_HURT);
}

/* ---- numbers ---- */

enum { ZERO, ODD, OF_WINDOWS, TOO_BIG, ALL_BITS, A_BIT_OFF, DISTANT, RESERVED, OTHERS };

static uint32_t bad_number(unsigned sort, const char *value)
{
    uint32_t there = number_of(service, value);
    switch (sort) {
    case ZERO:
        return 0;
    case ODD:
        return there ^ 1;
    case OF_WINDOWS:
        return 1846;
    case TOO_BIG:
        return 0x7fffffff;
    case ALL_BITS:
        return 0xffffffff;
    case A_BIT_OFF:
        return there + 2 * (1 + below(5));
    case DISTANT:
        return 4000 + 2 * below(20000);
    case RESERVED:
        return 99998;
    default:
        return first_number((int)other_provider());
    }
}

/* Gives one number a wrong value. `which` selects the number and the kind of the value. */
static void wrong_number(unsigned which)
{
    const char *value = number_names[which % NUMBERS];
    set_number(value, bad_number(which / NUMBERS, value));
}

static void number_of_wrong_type(unsigned which)
{
    set_value(number_names[which % NUMBERS], which / NUMBERS ? REG_BINARY : REG_SZ, "18", 3);
}

/* Deletes numbers; `which` has a bit for each number. */
static void lost_numbers(unsigned which)
{
    for (unsigned i = 0; i < NUMBERS; i++)
        if (which & 1u << i)
            registry_delete_value(LAYER_MACHINE, key, number_names[i]);
}

/* Adds `by` to all numbers, so that they still agree with each other. */
static void shifted_numbers(unsigned by)
{
    for (unsigned i = 0; i < NUMBERS; i++)
        set_number(number_names[i], number_of(service, number_names[i]) + by);
}

static void swapped_numbers(unsigned unused)
{
    uint32_t first = number_of(service, number_names[FIRST_COUNTER]);
    set_number(number_names[FIRST_COUNTER], number_of(service, number_names[LAST_COUNTER]));
    set_number(number_names[LAST_COUNTER], first);
}

/* ---- objects ---- */

enum { LOST, WRONG, EMPTY, WORDS, TWICE, OTHERS_LIST, AS_NUMBER };

static void hurt_objects(unsigned which)
{
    static const uint32_t number = 7;
    BUFFER_AUTO there = {0};
    char text[64] = "2 4";
    if (registry_get_text(key, "Object List", &there))
        return; /* the service has no Object List */
    if (which == EMPTY)
        *text = 0;
    else if (which == WORDS)
        snprintf(text, sizeof text, "none, at all");
    else if (which == TWICE)
        snprintf(text, sizeof text, "%.20s %.20s", there.data, there.data);
    else if (which == OTHERS_LIST)
        snprintf(text, sizeof text, "%u", (unsigned)first_number((int)other_provider()));
    if (which == LOST)
        registry_delete_value(LAYER_MACHINE, key, "Object List");
    else if (which == AS_NUMBER)
        set_value("Object List", REG_DWORD, &number, sizeof number);
    else
        set_value("Object List", REG_SZ, text, strlen(text) + 1);
}

/* ---- texts ---- */

static void lost_language(unsigned which)
{
    FREE_AUTO char *names = text_format("%s\\Names\\%s", key, language_at(which));
    registry_delete_tree(LAYER_MACHINE, names);
}

static void lost_names(unsigned unused)
{
    FREE_AUTO char *names = text_format("%s\\Names", key);
    registry_delete_tree(LAYER_MACHINE, names);
}

static void lost_text(unsigned which)
{
    char name[16];
    FREE_AUTO char *names = text_format("%s\\Names\\%s", key, language_at(which));
    snprintf(name, sizeof name, "%u", (unsigned)number_of(service, "First Counter") + below(14));
    registry_delete_value(LAYER_MACHINE, names, name);
}

static void wrong_text(unsigned which)
{
    set_name(language_at(which), number_of(service, "First Counter") + below(2), "Nonsense");
}

static uint32_t any_index(void)
{
    uint32_t first = number_of(service, "First Counter");
    return first + below(number_of(service, "Last Help") - first + 1);
}

static void empty_text(unsigned which)
{
    set_name(language_at(which), any_index(), "");
}

static void text_of_wrong_type(unsigned which)
{
    set_name_as(language_at(which), any_index(), REG_DWORD, "abc", 4);
}

/* Swaps the texts of a name and its explanation. */
static void swapped_texts(unsigned which)
{
    uint32_t first = number_of(service, "First Counter");
    set_name(language_at(which), first, "What it explains");
    set_name(language_at(which), first + 1, "Its name");
}

/* Gives an object the name of another provider's object. */
static void text_of_another(unsigned which)
{
    set_name(language_at(which), number_of(service, "First Counter"), "Object 3");
}

static void distant_orphan(unsigned which)
{
    set_name(language_at(which), 5000 + below(500), "Orphan");
}

static void near_orphan(unsigned which)
{
    uint32_t last = number_of(service, "Last Help"), first = number_of(service, "First Counter");
    set_name(language_at(which), below(2) ? last + 1 + below(4) : first - 1 - below(4), "Orphan");
}

/* Gives the service that is first in the registry a text for another service's number, which hides
 * the text of the other service. */
static void hiding_orphan(unsigned which)
{
    uint32_t index = number_of(service, "First Counter");
    choose_service(0);
    set_name(language_at(which), index, "Hides");
}

/* Writes names for a service that does not exist, as if the line with the right service's name were
 * damaged. */
static void names_of_no_service(unsigned which)
{
    uint32_t index = number_of(service, "First Counter");
    snprintf(key, sizeof key, "%s\\Aaa %u\\Performance", REGISTRY_SERVICES, (unsigned)below(3));
    set_name(language_at(which), index, "Nowhere's");
}

/* ---- damage by other services ---- */

/* Gives a service the four numbers of another service, plus `by`, so that the ranges of both
 * services overlap. */
static void overlap(unsigned by)
{
    uint32_t numbers[NUMBERS];
    char name[32];
    snprintf(name, sizeof name, "Svc %u", (unsigned)other_provider());
    for (size_t i = 0; i < NUMBERS; i++)
        numbers[i] = number_of(name, number_names[i]);
    for (size_t i = 0; i < NUMBERS; i++)
        if (numbers[i])
            set_number(number_names[i], numbers[i] + by);
}

static const char *const reasons[] = {"until later", "",
                                      "until 2099-01-02T03:04:05Z, time 3: crashed",
                                      "until 1999-01-02T03:04:05Z, time 1: hung"};

/* With reasons[ENABLED_SINCE], an administrator has enabled the provider although its quarantine is
 * not over. */
enum { ENABLED_SINCE = 2 };

static void quarantine(unsigned which)
{
    const char *why = reasons[which % COUNT(reasons)];
    if (!strcmp(service, "Svc 0"))
        return; /* Svc 0 is disabled already */
    set_number("Disable Performance Counters", which != ENABLED_SINCE);
    set_value("Quarantine", REG_SZ, why, strlen(why) + 1);
}

/* ---- files ---- */

static const char *file_of_service(void)
{
    static char name[128];
    snprintf(name, sizeof name, "machine/registry.d/%s.reg", service);
    return name;
}

static void files_changed(void)
{
    usleep(2000); /* so that the next change gives the file a different time */
    store_forget();
    names_forget();
}

/* The position after the part of a file that says from which ini file it was made; 0: the file has
 * no such part. */
static size_t after_record(const struct buffer *text)
{
    const char *head = text->data ? strstr(text->data, "PerfIniFile") : NULL;
    head = head ? strchr(head, '\n') : NULL;
    return head && (size_t)(head - text->data) + 41 < text->len ? (size_t)(head + 1 - text->data)
                                                                : 0;
}

enum { CUT, HASHES, ZEROS, CUT_AT_LINE, LATIN, NO_BRACKET, LOST_LINE };

static void hurt_text(unsigned which, struct buffer *text, size_t from)
{
    size_t at = from + below((uint32_t)(text->len - from - 30));
    char *line = strchr(text->data + at, '\n');
    char *next = line ? strchr(line + 1, '\n') : NULL, *bracket = strchr(text->data + at, ']');
    if (which == CUT)
        text->len = at;
    else if (which == CUT_AT_LINE && line)
        text->len = (size_t)(line + 1 - text->data);
    else if (which == NO_BRACKET && bracket)
        *bracket = ' ';
    else if (which == LOST_LINE && next) {
        memmove(line, next, text->len - (size_t)(next - text->data));
        text->len -= (size_t)(next - line);
    } else if (which == HASHES || which == ZEROS || which == LATIN)
        memset(text->data + at, which == HASHES ? '#' : which == ZEROS ? 0 : 0xe4, 25);
}

/* Damages a file after the part that names its ini file, because that part is needed for the
 * repair. */
static void hurt_file(unsigned which)
{
    BUFFER_AUTO text = {0};
    if (file_read(AT_FDCWD, path_of(file_of_service()), &text) || !text.data)
        return;
    buffer_add_byte(&text, 0);
    text.len--;
    size_t from = after_record(&text);
    if (!from)
        return;
    hurt_text(which, &text, from);
    put_bytes(file_of_service(), text.data, text.len);
    files_changed();
}

static void add_to_file(const char *name, const char *more)
{
    BUFFER_AUTO text = {0};
    file_read(AT_FDCWD, path_of(name), &text);
    if (!text.len)
        buffer_add_text(&text, HEADER);
    buffer_add_text(&text, more);
    put_bytes(name, text.data, text.len);
    files_changed();
}

static const char *const garbage[] = {"garbage\n",
                                      "\"First Counter\"=dword:xyz\n",
                                      "[HKEY_LOCAL_MACHINE\\SYSTEM\n\"a\"=\"b\"\n",
                                      "\"a\"=hex:01,02,\\\n",
                                      "[HKEY_NOWHERE\\X]\n\"x\"=dword:1\n",
                                      "\"Library\"=\"no end\n"};

static void garbage_in_manual(unsigned which)
{
    add_to_file("machine/registry.d/manual.reg", garbage[which]);
}

static void garbage_in_file(unsigned which)
{
    add_to_file(file_of_service(), garbage[which]);
}

/* Writes a file that is read after the service's file, and has another number for the service. */
static void later_file(unsigned which)
{
    BUFFER_AUTO text = {0};
    uint32_t first = number_of(service, "First Counter");
    buffer_printf(&text, "\n[%s]\n", key);
    if (which == 0)
        buffer_printf(&text, "\"First Counter\"=dword:%08x\n", (unsigned)first + 40);
    else if (which == 1)
        buffer_printf(&text, "\"First Counter\"=-\n\"Last Help\"=-\n");
    else if (which == 2)
        buffer_printf(&text, "\n[%s\\Names\\009]\n\"%u\"=\"Stale\"\n", key, (unsigned)first);
    else
        buffer_printf(&text, "\n[-%s\\Names]\n", key);
    add_to_file("machine/registry.d/zz.reg", text.data);
}

static void no_header(unsigned unused)
{
    BUFFER_AUTO text = {0};
    if (file_read(AT_FDCWD, path_of(file_of_service()), &text) || text.len < 40)
        return;
    put_bytes(file_of_service(), text.data + 5, text.len - 5);
    files_changed();
}

#define NUMBER_KIND(sort) (sort) * NUMBERS
#define NUMBER_KINDS(name, sort)                                                                   \
    {"First Counter " name, wrong_number, NUMBER_KIND(sort) + FIRST_COUNTER},                      \
        {"Last Counter " name, wrong_number, NUMBER_KIND(sort) + LAST_COUNTER},                    \
        {"First Help " name, wrong_number, NUMBER_KIND(sort) + FIRST_HELP},                        \
    {                                                                                              \
        "Last Help " name, wrong_number, NUMBER_KIND(sort) + LAST_HELP                             \
    }
#define LANGUAGE_KINDS(name, hurt)                                                                 \
    {"English " name, hurt, 0}, {"German " name, hurt, 1},                                         \
    {                                                                                              \
        "Russian " name, hurt, 4                                                                   \
    }

static const struct {
    const char *name;
    void (*hurt)(unsigned which);
    unsigned which;
} kinds[] = {
  /* clang-format off */
    NUMBER_KINDS("zero", ZERO), NUMBER_KINDS("odd", ODD), NUMBER_KINDS("of Windows", OF_WINDOWS),
    NUMBER_KINDS("too big", TOO_BIG), NUMBER_KINDS("all bits", ALL_BITS), NUMBER_KINDS("near", A_BIT_OFF),
    NUMBER_KINDS("far", DISTANT), NUMBER_KINDS("another one's", OTHERS), /* 32 kinds so far */
    {"First Counter reserved", wrong_number, NUMBER_KIND(RESERVED) + FIRST_COUNTER},
    {"First Counter a text", number_of_wrong_type, FIRST_COUNTER},
    {"Last Help a text", number_of_wrong_type, LAST_HELP},
    {"Last Counter three bytes", number_of_wrong_type, NUMBERS + LAST_COUNTER},
    {"First Help three bytes", number_of_wrong_type, NUMBERS + FIRST_HELP},
    {"no First Counter", lost_numbers, 1}, {"no Last Counter", lost_numbers, 2},
    {"no First Help", lost_numbers, 4}, {"no Last Help", lost_numbers, 8},
    {"no first numbers", lost_numbers, 5}, {"no last numbers", lost_numbers, 10},
    {"no counters' numbers", lost_numbers, 3}, {"no helps' numbers", lost_numbers, 12},
    {"three numbers lost", lost_numbers, 14}, {"no numbers", lost_numbers, 15},
    {"numbers moved by 2", shifted_numbers, 2}, {"numbers moved by 1000", shifted_numbers, 1000},
    {"numbers swapped", swapped_numbers, 0},
    /* 50 kinds so far */
    {"no Object List", hurt_objects, LOST}, {"Object List", hurt_objects, WRONG},
    {"Object List empty", hurt_objects, EMPTY}, {"Object List of words", hurt_objects, WORDS},
    {"Object List twice", hurt_objects, TWICE}, {"Object List another one's", hurt_objects, OTHERS_LIST},
    {"Object List a number", hurt_objects, AS_NUMBER},
    /* 57 kinds so far */
    LANGUAGE_KINDS("lost", lost_language), {"no names", lost_names, 0},
    LANGUAGE_KINDS("text lost", lost_text), LANGUAGE_KINDS("text wrong", wrong_text),
    LANGUAGE_KINDS("text empty", empty_text), LANGUAGE_KINDS("text a number", text_of_wrong_type),
    LANGUAGE_KINDS("texts swapped", swapped_texts), LANGUAGE_KINDS("text another one's", text_of_another),
    /* 79 kinds so far */
    {"far orphan", distant_orphan, 0}, {"far French orphan", distant_orphan, 3}, {"near orphan", near_orphan, 0},
    {"near German orphan", near_orphan, 1}, {"hiding orphan", hiding_orphan, 0}, {"hiding Russian orphan", hiding_orphan, 4},
    {"names of no service", names_of_no_service, 0}, {"German names of no service", names_of_no_service, 1},
    {"overlap", overlap, 0}, {"half an overlap", overlap, 2},
    /* 89 kinds so far */
    {"quarantine", quarantine, 0}, {"quarantine without reason", quarantine, 1},
    {"quarantine of an enabled one", quarantine, ENABLED_SINCE}, {"quarantine that is over", quarantine, 3},
    /* 93 kinds so far */
    {"torn file", hurt_file, CUT}, {"file torn at a line", hurt_file, CUT_AT_LINE},
    {"overwritten file", hurt_file, HASHES}, {"zeros in a file", hurt_file, ZEROS},
    {"Latin-1 in a file", hurt_file, LATIN}, {"a key without bracket", hurt_file, NO_BRACKET},
    {"a line lost", hurt_file, LOST_LINE}, {"a file without header", no_header, 0},
    /* 101 kinds so far */
    {"garbage in manual.reg", garbage_in_manual, 0}, {"a bad value in manual.reg", garbage_in_manual, 1},
    {"half a key in manual.reg", garbage_in_manual, 2}, {"a cut value in manual.reg", garbage_in_manual, 3},
    {"garbage in a file", garbage_in_file, 0}, {"a bad value in a file", garbage_in_file, 1},
    {"an unknown root in a file", garbage_in_file, 4}, {"a text without end in a file", garbage_in_file, 5},
    /* 109 kinds so far */
    {"numbers in a file behind", later_file, 0}, {"deletions in a file behind", later_file, 1},
    {"a stale name in a file behind", later_file, 2}, {"no names by a file behind", later_file, 3},
    /* 113 kinds so far */
  /* clang-format on */
};
_Static_assert(COUNT(kinds) >= 100, "a hundred kinds of damage");

static void hurt(size_t kind)
{
    choose_service(below(PROVIDERS_HURT));
    kinds[kind].hurt(kinds[kind].which);
}

/* ---- the machine's files, as they were before the doctor ---- */

enum { MOST_FILES = 16 };
static struct {
    char *name;
    struct buffer text;
} files[MOST_FILES];
static size_t file_count;

static void forget_files(void)
{
    for (size_t i = 0; i < file_count; i++) {
        buffer_done(&files[i].text);
        free(files[i].name);
    }
    memset(files, 0, sizeof files);
    file_count = 0;
}

static bool is_reg(const char *name)
{
    return strlen(name) > 4 && !strcmp(name + strlen(name) - 4, ".reg");
}

static void keep_files(void)
{
    DIR *folder = opendir(path_of("machine/registry.d"));
    assert_non_null(folder);
    forget_files();
    for (struct dirent *entry; (entry = readdir(folder));)
        if (is_reg(entry->d_name)) {
            assert_true(file_count < MOST_FILES);
            files[file_count].name = text_format("machine/registry.d/%s", entry->d_name);
            assert_int_equal(
                file_read(AT_FDCWD, path_of(files[file_count].name), &files[file_count].text),
                ERROR_SUCCESS);
            file_count++;
        }
    closedir(folder);
}

static void bring_back_files(void)
{
    for (size_t i = 0; i < file_count; i++)
        put_bytes(files[i].name, files[i].text.data, files[i].text.len);
    unlink(path_of("machine/registry.d/zz.reg"));
    files_changed();
}

/* Expects that the doctor finds nothing more in the repaired registry. */
static void assert_no_damaged_line(const char *what, const char *other)
{
    assert_int_equal(doctor_with(true), ERROR_SUCCESS);
    if (findings.len)
        fail_msg("%s, %s (seed %u): after the doctor there is left:\n%s", what, other, seed,
                 findings.data);
}

/* A part of a snapshot, in which characters that a message cannot contain are replaced. */
static const char *part_of(const struct buffer *snapshot, size_t at)
{
    static char parts[2][260];
    static int turn;
    char *part = parts[turn ^= 1];
    size_t count = snapshot->len - at < 250 ? snapshot->len - at : 250;
    memcpy(part, snapshot->data + at, count);
    part[count] = 0;
    for (size_t i = 0; i < count; i++)
        part[i] = part[i] ? part[i] : '|';
    return part;
}

static void assert_cured(const struct buffer *before, const char *what, const char *other)
{
    BUFFER_AUTO now = {0};
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    take_snapshot(&now);
    if (now.len != before->len || memcmp(now.data, before->data, now.len)) {
        size_t at = 0;
        while (at < now.len && at < before->len && now.data[at] == before->data[at])
            at++;
        at -= at > 60 ? 60 : at;
        fail_msg("%s, %s (seed %u): was \"%s\", is \"%s\"\n%s", what, other, seed,
                 part_of(before, at), part_of(&now, at), findings.data ? findings.data : "");
    }
    int silent = first_silent();
    if (silent != PROVIDERS_HURT)
        fail_msg("%s, %s (seed %u): Svc %d does not answer\n%s", what, other, seed, silent,
                 findings.data);
    assert_no_damaged_line(what, other);
}

/* Damages providers until the doctor finds something: some providers have nothing that this kind
 * could damage. */
static void hurt_really(size_t kind)
{
    for (int times = 0; times < TURNS; times++) {
        hurt(kind);
        assert_int_equal(doctor_with(true), ERROR_SUCCESS);
        if (findings.len)
            return;
    }
    fail_msg("%s does nothing that the doctor would find", kinds[kind].name);
}

static void every_kind_of_damage_is_repaired(void **state)
{
    BUFFER_AUTO before = {0};
    unsigned seeds = getenv("LOADPERF_PAIRS") ? SEEDS : QUICK_SEEDS;
    make_answering_machine();
    keep_files();
    take_snapshot(&before);
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    assert_int_equal(cured.restored, 0);
    for (size_t kind = 0; kind < COUNT(kinds); kind++)
        for (unsigned i = 0; i < seeds; i++) {
            bring_back_files();
            seed = (unsigned)kind * 100 + i;
            hurt_really(kind);
            assert_cured(&before, kinds[kind].name, "alone");
        }
}

/* Does the doctor report numbers that it cannot restore? It may do so only for Svc 0 and Svc 7,
 * because these have no Object List from which the numbers could be restored. */
static bool no_witness(void)
{
    assert_int_equal(doctor_with(true), ERROR_SUCCESS);
    const char *found = findings.data ? strstr(findings.data, "left wrong-numbers Svc ") : NULL;
    int provider = found ? found[strlen("left wrong-numbers Svc ")] - '0' : 0;
    if (found && provider != 0 && provider != 7)
        fail_msg("Svc %d had witnesses:\n%s", provider, findings.data);
    return found;
}

/* Does damage of two random kinds at the same time, and repairs it. LOADPERF_PAIRS sets how many
 * pairs are tried; by default few. */
static void pairs_of_damage_are_repaired(void **state)
{
    BUFFER_AUTO before = {0};
    const char *requested = getenv("LOADPERF_PAIRS");
    unsigned pairs = requested ? (unsigned)atoi(requested) : QUICK_PAIRS, without = 0;
    make_answering_machine();
    keep_files();
    take_snapshot(&before);
    for (unsigned i = 0; i < pairs; i++) {
        if (i % 3 == 0) /* other rounds continue with the files that the doctor has repaired */
            bring_back_files();
        seed = 7000 + i;
        size_t one = below(COUNT(kinds)), two = below(COUNT(kinds));
        hurt(one);
        hurt(two);
        if (no_witness()) {
            without++;
            bring_back_files();
        } else {
            assert_cured(&before, kinds[one].name, kinds[two].name);
        }
    }
    assert_true(without <= 1 + pairs / 50);
}

static void a_dry_run_changes_nothing(void **state)
{
    BUFFER_AUTO before = {0};
    make_machine(3);
    choose_service(1);
    wrong_number(LAST_COUNTER);
    take_snapshot(&before);
    assert_int_equal(doctor_with(true), ERROR_SUCCESS);
    assert_found("repaired wrong-numbers Svc 1");
    assert_same(&before);
}

/* Without an ini file, values that agree with each other are trusted. */
static void without_an_ini_file(void **state)
{
    put_ini(ini_head, ini_texts);
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    unlink(path_of("my.ini"));
    choose_service(0);
    snprintf(key, sizeof key, "%s", PERFORMANCE_KEY);
    snprintf(service, sizeof service, "MyPerf");
    for (unsigned i = 0; i < NUMBERS * OTHERS; i++) {
        seed = i;
        wrong_number(i);
        assert_int_equal(doctor_with(false), ERROR_SUCCESS);
        assert_loaded("MyPerf", 1848, 1852);
    }
    for (unsigned i = 0; i < NUMBERS; i++) {
        lost_numbers(1u << i);
        assert_int_equal(doctor_with(false), ERROR_SUCCESS);
        assert_loaded("MyPerf", 1848, 1852);
    }
}

/* A service's registration is a copy of another service's, with the same numbers: the doctor gives
 * the second service new numbers, and moves all its texts to these. */
static void a_provider_with_taken_numbers_gets_new_ones(void **state)
{
    BUFFER_AUTO text = {0}, copy = {0};
    put_ini(ini_head, ini_texts);
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    assert_int_equal(file_read(AT_FDCWD, path_of("machine/registry.d/MyPerf.reg"), &text), 0);
    for (const char *at = text.data; *at;) {
        const char *found = strstr(at, "\\MyPerf\\");
        size_t count = found ? (size_t)(found - at) : strlen(at);
        buffer_add(&copy, at, count);
        at += count;
        if (found) {
            buffer_add_text(&copy, "\\AtTwin\\");
            at += strlen("\\MyPerf\\");
        }
    }
    put("machine/registry.d/AtTwin.reg", copy.data);
    store_forget();
    names_forget();
    assert_loaded("AtTwin", 1848, 1852);
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    assert_found("overlap AtTwin");
    assert_loaded("MyPerf", 1848, 1852);
    assert_loaded("AtTwin", 1854, 1858);
    assert_text(REGISTRY_SERVICES "\\AtTwin\\Performance", "Object List", "1854");
    assert_name(1859, 9, "My second.");
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    assert_int_equal(cured.restored, 0);
}

/* A registration stays in its layer (the machine's or the user's registry files), even if it has
 * numbers from the other layer's range. */
static void a_layer_keeps_numbers_of_the_others_range(void **state)
{
    const uint32_t wrong = 5;
    opl_load_options user = options_of();
    user.user = true;
    user.library = LIBRARY_PATH;
    for (int users = 0; users < 2; users++) {
        uint32_t first = users ? 1848 : USER_FIRST;
        opl_load_options of_layer = options_of(), of_other = options_of();
        of_layer.user = users;
        of_other.user = !users;
        put_ini(ini_head, ini_texts);
        assert_int_equal(users ? load_library("my.ini") : load_with("my.ini", user), 0);
        move_registration("MyPerf", users);
        assert_int_equal(opl_load_is_users("MyPerf"), users);
        registry_set(users ? LAYER_USER : LAYER_MACHINE, PERFORMANCE_KEY, "Last Help", REG_DWORD,
                     &wrong, sizeof wrong);
        assert_int_equal(doctor_as(of_other), ERROR_SUCCESS);
        assert_int_equal(cured.providers, 0);
        assert_int_equal(doctor_as(of_layer), ERROR_SUCCESS);
        assert_found("repaired wrong-numbers MyPerf");
        assert_loaded("MyPerf", first, first + 4);
        of_layer.library = LIBRARY_PATH;
        assert_int_equal(opl_load_remove("MyPerf", &of_layer, &result), ERROR_SUCCESS);
    }
}

static void libraries_and_owners_are_reported(void **state)
{
    char library[256];
    put_library("my.so");
    snprintf(library, sizeof library, "%s", path_of("my.so"));
    opl_load_options options = options_of();
    options.library = library;
    put_ini(ini_head, ini_texts);
    assert_int_equal(load_with("my.ini", options), ERROR_SUCCESS);
    assert_int_equal(opl_load_trust("MyPerf", NULL), ERROR_SUCCESS);
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    assert_int_equal(findings.len, 0);
    put("my.so", "another one");
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    assert_found("left library-replaced MyPerf");
    assert_found("left library-broken MyPerf: -: \"");
    unlink(library);
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    assert_found("left library-gone MyPerf");
    put("machine/registry.d/x.reg", HEADER "[HKEY_LOCAL_MACHINE\\X]\n\"a\"=nonsense\n");
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    assert_found("x.reg: 1 line is damaged, the first is line 4");
    chmod(path_of("machine/registry.d/x.reg"), 0666);
    put("my.h", "#define OBJ 0\n#define ONE 2\n#define TWO 400\n");
    chmod(path_of("my.ini"), 0666); /* an ini file that others may write is not trusted, either */
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    assert_found("left foreign-owner");
    assert_loaded("MyPerf", 1848, 1852);
}

/* A damaged library is reported even if nothing was ever loaded for its service. */
static void libraries_are_looked_into(void **state)
{
    static const char minimal[] = HEADER "[" PERFORMANCE_KEY "]\n\"Library\"=\"%s\"\n"
                                         "\"Open\"=\"Open\"\n\"Collect\"=\"%s\"\n";
    char library[256], text[1024];
    put_library("my.so");
    snprintf(library, sizeof library, "%s", path_of("my.so"));
    snprintf(text, sizeof text, minimal, library, "Collect");
    put("machine/registry.d/MyPerf.reg", text);
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    assert_int_equal(findings.len, 0);
    assert_int_equal(cured.providers, 1);
    chmod(library, 0666);
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    assert_found("left foreign-owner MyPerf: -: its library is not loaded: others may write");
    chmod(library, 0644);
    snprintf(text, sizeof text, minimal, library, "Kollekt");
    put("machine/registry.d/MyPerf.reg", text);
    files_changed();
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    assert_found("left library-broken MyPerf: -: the library has no function \"Kollekt\"");
    unlink(library);
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    assert_found("left library-gone MyPerf");
}

/* The doctor turns damaged lines into comments, but not in a file of which it can read nothing:
 * then the next run would find no damage, and the loss would be forgotten. It reports such a file
 * in each run. */
static void what_cannot_be_read_is_not_forgotten(void **state)
{
    for (int times = 0; times < 2; times++) {
        put("machine/registry.d/x.reg", "");
        put("machine/registry.d/y.reg", "\1\2\3\nnonsense\n");
        symlink("/nowhere", path_of("machine/registry.d/z.reg"));
        assert_int_equal(doctor_with(false), ERROR_SUCCESS);
        assert_found("x.reg: is empty: load its provider again");
        assert_found("y.reg: nothing in it can be read");
        assert_found("z.reg: is a link to a file that does not exist");
        assert_int_equal(cured.restored, 0);
        assert_int_equal(cured.left, 3);
    }
    chmod(path_of("machine/registry.d"), 0777);
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    assert_found("registry.d: others may write this folder");
    assert_int_equal(cured.left, 1);
    chmod(path_of("machine/registry.d"), 0755);
}

/* A provider whose names are lost is reported. When its ini file is known, the doctor restores the
 * names. */
static void a_provider_without_names_is_reported(void **state)
{
    put_ini(ini_head, ini_texts);
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    registry_delete_tree(LAYER_MACHINE, PERFORMANCE_KEY "\\Names");
    registry_delete_value(LAYER_MACHINE, PERFORMANCE_KEY, "PerfIniFile");
    for (int times = 0; times < 2; times++) {
        assert_int_equal(doctor_with(false), ERROR_SUCCESS);
        assert_found("left missing-texts MyPerf: -: none of its numbers has a name");
        assert_found("PerfIniFile");
    }
    const char *ini = path_of("my.ini");
    assert_int_equal(
        registry_set(LAYER_MACHINE, PERFORMANCE_KEY, "PerfIniFile", REG_SZ, ini, strlen(ini) + 1),
        ERROR_SUCCESS);
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    assert_found("repaired missing-texts MyPerf");
    assert_loaded("MyPerf", 1848, 1852);
    assert_name(1848, 9, "Mine");
}

/* ---- events ---- */

static bool has_event(const char *start)
{
    BUFFER_AUTO text = {0};
    return !file_read(AT_FDCWD, path_of("events"), &text) && text.data &&
           buffer_add_byte(&text, 0) && strstr(text.data, start);
}

/* ---- quarantines that are not over ---- */

static void assert_held(const char *why)
{
    DWORD disabled = 0;
    registry_get_dword(PERFORMANCE_KEY, "Disable Performance Counters", &disabled);
    assert_int_equal(disabled, 1);
    assert_text(PERFORMANCE_KEY, "Quarantine", why);
}

static void a_quarantine_that_lasts_stays(void **state)
{
    static const char *const records[] = {"until 2099-01-02T03:04:05Z (first quarantine): it hung",
                                          "permanently: Collect changed none of its outputs"};
    char library[256];
    put_library("my.so");
    snprintf(library, sizeof library, "%s", path_of("my.so"));
    opl_load_options options = options_of();
    options.library = library;
    put_ini(ini_head, ini_texts);
    assert_int_equal(load_with("my.ini", options), ERROR_SUCCESS);
    snprintf(key, sizeof key, "%s", PERFORMANCE_KEY);
    for (size_t i = 0; i < COUNT(records); i++) {
        set_number("Disable Performance Counters", 1);
        set_value("Quarantine", REG_SZ, records[i], strlen(records[i]) + 1);
        usleep(20000); /* so that the next change gives the file a different time */
        event_log("Perflib", 1017, "MyPerf", NULL, NULL);
        for (int times = 0; times < 2; times++) {
            assert_int_equal(doctor_with(false), ERROR_SUCCESS);
            assert_found("left quarantine MyPerf: -: is disabled ");
            assert_found(records[i]);
            assert_found("last event: 1017, ");
            assert_found("my.so; when it is repaired: lodctr /E:MyPerf");
            assert_int_equal(cured.left, 1);
            assert_int_equal(cured.restored, 0);
            assert_held(records[i]);
        }
        usleep(20000);
        put_library("my.so"); /* a new version of the library ends the quarantine */
        assert_int_equal(doctor_with(false), ERROR_SUCCESS);
        assert_found("repaired quarantine MyPerf");
        assert_int_equal(cured.restored, 1);
        assert_text(PERFORMANCE_KEY, "Quarantine", NULL);
    }
}

/* ---- damaged lines ---- */

static void assert_file(const char *name, const char *expected)
{
    BUFFER_AUTO text = {0};
    assert_int_equal(file_read(AT_FDCWD, path_of(name), &text), ERROR_SUCCESS);
    buffer_add_byte(&text, 0);
    assert_string_equal(text.data, expected);
}

static void damaged_lines_become_remarks(void **state)
{
    static const char damaged[] =
        HEADER "[" KEY "]\n\"a\"=\"1\"\nnonsense\n\"b\"=hex:01,\\\n  02,\\\n  xx\n"
               "\"c\"=\"3\"\n[HKEY_LOCAL_MACHINE\\Half\n\"d\"=\"4\"\n"
               "[" KEY "\\Sub]\n\"e\"=\"\xe4\x01\"\n";
    static const char repaired[] =
        HEADER "[" KEY "]\n\"a\"=\"1\"\n; damaged: nonsense\n; damaged: \"b\"=hex:01,\\\n"
               "; damaged:   02,\\\n; damaged:   xx\n"
               "\"c\"=\"3\"\n; damaged: [HKEY_LOCAL_MACHINE\\Half\n; damaged: \"d\"=\"4\"\n"
               "[" KEY "\\Sub]\n; damaged: \"e\"=\"?\?\"\n";
    /* earlier tests have written many equal events, so further ones would be held back */
    event_forget();
    put("machine/registry.d/x.reg", damaged);
    assert_int_equal(doctor_with(true), ERROR_SUCCESS);
    assert_found("repaired torn-file");
    assert_file("machine/registry.d/x.reg", damaged);
    assert_false(has_event("\tLoadPerf\t3012\t"));
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    assert_int_equal(cured.restored, 1);
    assert_file("machine/registry.d/x.reg", repaired);
    assert_true(has_event("\tLoadPerf\t3012\terror\t"));
    assert_text(KEY, "c", "3");
    assert_text(KEY, "d", NULL);
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    assert_int_equal(findings.len, 0);
}

static void a_first_line_that_is_no_header(void **state)
{
    put("machine/registry.d/x.reg", "[" KEY "]\n\"a\"=\"1\"\n");
    put("machine/registry.d/y.reg",
        "indows Registry Editor Version 5.00\n[" KEY "]\n\"b\"=\"2\"\n");
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    assert_int_equal(cured.restored, 2);
    assert_text(KEY, "a", "1");
    assert_text(KEY, "b", "2");
    assert_file("machine/registry.d/x.reg",
                "Windows Registry Editor Version 5.00\n[" KEY "]\n\"a\"=\"1\"\n");
    assert_file(
        "machine/registry.d/y.reg",
        "Windows Registry Editor Version 5.00\n; damaged: indows Registry Editor Version 5.00\n"
        "[" KEY "]\n\"b\"=\"2\"\n");
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    assert_int_equal(findings.len, 0);
}

static void a_file_in_utf_16_is_left(void **state)
{
    BUFFER_AUTO wide = {0};
    static const char text[] = HEADER "[" KEY "]\nnonsense\n";
    buffer_add(&wide, "\xff\xfe", 2);
    utf8_add_as_16(&wide, text, strlen(text));
    put_bytes("machine/registry.d/x.reg", wide.data, wide.len);
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    assert_found("left torn-file");
    assert_found("UTF-16");
}

/* If the doctor gives a service new numbers, because its numbers are in use, it logs an event. In a
 * dry run (which changes nothing) it logs none. */
static void overlaps_and_moves_are_events(void **state)
{
    put_service_ini("A");
    put_service_ini("B");
    assert_int_equal(load_library("A.ini"), ERROR_SUCCESS);
    assert_int_equal(load_library("B.ini"), ERROR_SUCCESS);
    choose_service(0);
    snprintf(key, sizeof key, "%s\\B\\Performance", REGISTRY_SERVICES);
    unlink(path_of("B.ini"));
    for (unsigned i = 0; i < NUMBERS; i++)
        set_number(number_names[i], number_of("A", number_names[i]));
    FREE_AUTO char *names = text_format("%s\\Names", key);
    registry_delete_tree(LAYER_MACHINE, names);
    assert_int_equal(doctor_with(true), ERROR_SUCCESS);
    assert_false(has_event("\tLoadPerf\t2006\t"));
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    assert_found("overlap B");
    assert_true(has_event("\tLoadPerf\t2006\twarning\tB\t"));
    assert_true(has_event("\tLoadPerf\t2007\twarning\tB\t"));
    assert_loaded("A", 1848, 1852);
}

/* ---- texts that programs wrote to the registry themselves ---- */

#define HAND(language) REGISTRY_PERFLIB "\\" language "\\Manual"
#define BY_HAND(language, value, multi)                                                            \
    assert_int_equal(                                                                              \
        registry_set(LAYER_MACHINE, HAND(language), value, REG_MULTI_SZ, multi, sizeof(multi)),    \
        ERROR_SUCCESS)

/* Loads MyPerf with the numbers 1848 to 1855, of which 1852 is unused. */
static void load_two_languages(void)
{
    put("my.h", "#define OBJ 0\n#define ONE 2\n#define TWO 6\n");
    put("my.ini", "[info]\ndrivername=MyPerf\nsymbolfile=my.h\n[languages]\n009=\n007=\n"
                  "[objects]\nOBJ_009_NAME=\n[text]\nOBJ_009_NAME=Mine\nONE_009_NAME=First\n"
                  "TWO_009_NAME=Second\nTWO_009_HELP=My second.\nONE_007_NAME=Erstes\n");
    assert_int_equal(opl_load_language("007", false, NULL), ERROR_SUCCESS);
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    assert_loaded("MyPerf", 1848, 1854);
}

static void write_by_hand(void)
{
    BY_HAND("009", "Counter", "2\0Changed\0001850\0Fist\0001852\0Absent\0005000\0Later\0");
    BY_HAND("009", "Help", "1851\0What the first is.\0001855\0Wrong.\0");
    BY_HAND("007", "Counter", "1850\0Zuerst\0001854\0Zweites\0");
}

static void assert_repaired(void)
{
    assert_name(1850, 9, "First");
    assert_name(1852, 9, NULL);
    assert_name(1855, 9, "My second.");
    assert_name(1850, 7, "Erstes");
    assert_name(1854, 7, "Zweites");            /* a translation that the ini file does not have */
    assert_name(1851, 9, "What the first is."); /* an explanation that the ini file does not have */
    assert_name(2, 9, "Changed");
    assert_name(5000, 9, "Later");
}

static void texts_by_hand_over_its_own_go(void **state)
{
    load_two_languages();
    write_by_hand();
    assert_name(1850, 9, "Fist");
    assert_int_equal(doctor_with(true), ERROR_SUCCESS);
    assert_found("repaired texts-by-hand MyPerf");
    assert_found(
        "text 1850 of language 009 was written by hand as \"Fist\"; the correct text is \"First\"");
    assert_found("text 1850 of language 007 was written by hand as \"Zuerst\"; the correct text is "
                 "\"Erstes\"");
    assert_found("text 1855 of language 009 was written by hand as \"Wrong.\"; the correct text is "
                 "\"My second.\"");
    assert_found("text 1852 of language 009 was written by hand as \"Absent\", but the provider "
                 "has no such text");
    assert_name(1850, 9, "Fist");
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    assert_int_equal(cured.left, 1); /* the library does not exist */
    assert_repaired();
    assert_loaded("MyPerf", 1848, 1854);
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    assert_null(memmem(findings.data, findings.len, "by-hand", 7));
    assert_repaired();
}

static void without_its_ini_file_its_registration_tells(void **state)
{
    load_two_languages();
    unlink(path_of("my.ini"));
    write_by_hand();
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    assert_found(
        "text 1850 of language 009 was written by hand as \"Fist\"; the correct text is \"First\"");
    assert_name(1850, 9, "First");
    assert_name(1850, 7, "Erstes");
    /* 1852 is in MyPerf's range, so this text may belong to MyPerf, and stays */
    assert_name(1852, 9, "Absent");
}

/* The manual texts of a service that was registered without lodctr are its only texts, and are
 * kept. */
static void a_provider_with_manual_texts_only_keeps_them(void **state)
{
    static const uint32_t numbers[NUMBERS] = {1848, 1850, 1849, 1851};
    BY_HAND("009", "Counter", "1848\0Own\0001850\0Own one\0");
    registry_set(LAYER_MACHINE, PERFORMANCE_KEY, "Library", REG_SZ, "x", 2);
    for (size_t i = 0; i < NUMBERS; i++)
        registry_set(LAYER_MACHINE, PERFORMANCE_KEY, number_names[i], REG_DWORD, &numbers[i], 4);
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    assert_name(1850, 9, "Own one");
    assert_int_equal(number_of("MyPerf", "First Counter"), 1848);
}

/* ---- owners of files ---- */

enum { THIRD_PARTY = 54321 };

static void load_and_lose_number(void)
{
    put_ini(ini_head, ini_texts);
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    /* when my.ini was loaded, TWO was 4 */
    put("my.h", "#define OBJ 0\n#define ONE 2\n#define TWO 400\n");
    choose_service(0);
    snprintf(key, sizeof key, "%s", PERFORMANCE_KEY);
    lost_numbers(2);
}

static void assert_not_believed(void)
{
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    assert_loaded("MyPerf", 1848, 1852); /* repaired from the registry, not from my.ini and my.h */
    assert_int_equal(unload("MyPerf"), ERROR_SUCCESS);
}

static void what_others_may_write_is_not_trusted(void **state)
{
    static const char *const names[] = {"my.ini", "my.h"};
    for (size_t i = 0; i < COUNT(names); i++) {
        load_and_lose_number();
        chmod(path_of(names[i]), 0666);
        assert_not_believed();
        unlink(path_of(names[i]));
    }
    load_and_lose_number();
    chmod(test_root, 0777); /* a user who may write the folder may replace its files */
    assert_not_believed();
    chmod(test_root, 0700);
    load_and_lose_number();
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    /* 2248: now my.h is trusted, in which TWO is 400 */
    assert_int_equal(number_of("MyPerf", "Last Counter"), 2248);
}

static void what_belongs_to_a_third_party_is_not_trusted(void **state)
{
    static const char *const names[] = {"my.ini", "my.h"};
    if (geteuid() != 0) {
        report_skipped("only root can give files to another user");
        return;
    }
    for (size_t i = 0; i < COUNT(names); i++) {
        load_and_lose_number();
        assert_int_equal(chown(path_of(names[i]), THIRD_PARTY, THIRD_PARTY), 0);
        assert_not_believed();
        unlink(path_of(names[i]));
    }
    put("machine/registry.d/x.reg", HEADER "[" KEY "]\nnonsense\n");
    assert_int_equal(chown(path_of("machine/registry.d/x.reg"), THIRD_PARTY, THIRD_PARTY), 0);
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    assert_found("left foreign-owner");
    assert_found(
        "belongs to user 54321, so it is not used: read it; if its content is right: chown 0 '");
    assert_found("x.reg' && chmod go-w '");
    assert_found("x.reg'; if not: rm '");
    assert_int_equal(chmod(path_of("machine/registry.d/x.reg"), 0666), 0);
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    assert_found("belongs to user 54321, and others may write it, so it is not used");
    assert_file("machine/registry.d/x.reg", HEADER "[" KEY "]\nnonsense\n");
}

static int free_all(void **state)
{
    buffer_done(&remarks);
    buffer_done(&written);
    buffer_done(&findings);
    forget_files();
    return 0;
}

/* Replaces fsync and does nothing, because the tests write thousands of files, and need not wait
 * for the disk. */
static int no_sync(int fd)
{
    return 0;
}

int main(void)
{
    file_steps.sync = no_sync;
    const struct CMUnitTest tests[] = {
        LOAD_TEST(every_kind_of_damage_is_repaired),
        LOAD_TEST(pairs_of_damage_are_repaired),
        LOAD_TEST(a_dry_run_changes_nothing),
        LOAD_TEST(without_an_ini_file),
        LOAD_TEST(a_provider_with_taken_numbers_gets_new_ones),
        LOAD_TEST(a_layer_keeps_numbers_of_the_others_range),
        LOAD_TEST(libraries_and_owners_are_reported),
        LOAD_TEST(libraries_are_looked_into),
        LOAD_TEST(what_cannot_be_read_is_not_forgotten),
        LOAD_TEST(a_provider_without_names_is_reported),
        LOAD_TEST(a_quarantine_that_lasts_stays),
        LOAD_TEST(damaged_lines_become_remarks),
        LOAD_TEST(a_first_line_that_is_no_header),
        LOAD_TEST(a_file_in_utf_16_is_left),
        LOAD_TEST(overlaps_and_moves_are_events),
        LOAD_TEST(texts_by_hand_over_its_own_go),
        LOAD_TEST(without_its_ini_file_its_registration_tells),
        LOAD_TEST(a_provider_with_manual_texts_only_keeps_them),
        LOAD_TEST(what_others_may_write_is_not_trusted),
        LOAD_TEST(what_belongs_to_a_third_party_is_not_trusted),
    };
    return cmocka_run_group_tests(tests, NULL, free_all);
}
