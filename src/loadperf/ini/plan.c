/* SPDX-License-Identifier: MIT */
/*
 * Reads an ini file and its symbol file into a plan: the service, the languages, and the text for
 * each offset. Mistakes that are common in existing files lead to a warning, and the line is
 * skipped; for others the files are refused.
 */
#include "loadperf/inner.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

void plan_done(struct plan *plan)
{
    for (size_t i = 0; i < plan->text_count; i++)
        free(plan->texts[i].text);
    for (size_t i = 0; i < COUNT(plan->functions); i++)
        free(plan->functions[i]);
    free(plan->texts);
    free(plan->languages);
    free(plan->objects);
    *plan = (struct plan){0};
}

static bool plan_has_language(const struct plan *plan, uint32_t language)
{
    for (size_t i = 0; i < plan->language_count; i++)
        if (plan->languages[i] == language)
            return true;
    return false;
}

bool plan_add_text(struct plan *plan, const struct plan_text *text)
{
    if (!text->text ||
        !list_grow(&plan->texts, plan->text_count, &plan->text_capacity, sizeof *plan->texts)) {
        free(text->text);
        return false;
    }
    plan->texts[plan->text_count++] = *text;
    return true;
}

/* ---- keys ---- */

/* Reads a language's id, such as "009", "9", "0409" or "404". An id with a country means the
 * language without it, except for the four ids in docs/windows/queries.md#c2. */
static bool read_language(struct text_span text, uint32_t *ret)
{
    if (text.count > 4 || !text_hex(text.at, text.count, ret))
        return false;
    *ret = names_language(*ret);
    return true;
}

/* Splits the text at its last '_'; *ret_last is what follows. False: the text has no '_'. */
static bool cut_last(struct text_span *text, struct text_span *ret_last)
{
    size_t at = text->count;
    while (at && text->at[at - 1] != '_')
        at--;
    if (!at)
        return false;
    *ret_last = (struct text_span){text->at + at, text->count - at};
    text->count = at - 1;
    return true;
}

bool plan_key(struct text_span key, struct text_span *ret_symbol, uint32_t *ret_language,
              uint32_t *ret_part)
{
    struct text_span part, language;
    if (!cut_last(&key, &part) || !cut_last(&key, &language) || !key.count)
        return false;
    *ret_part = span_is(part, "HELP");
    *ret_symbol = key;
    return (*ret_part || span_is(part, "NAME")) && read_language(language, ret_language);
}

/* ---- values ---- */

static LSTATUS decoded(struct planning *planning, const struct ini_entry *entry, uint32_t language,
                       char **ret)
{
    BUFFER_AUTO text = {0};
    bool bad = false;
    unsigned page = planning->load->options->code_page;
    page = page ? page : decode_code_page(language);
    *ret = NULL;
    if (!planning->ini->raw) {
        *ret = span_copy(entry->value);
        return *ret ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
    }
    LSTATUS status = decode_text(entry->value, page, &text, &bad);
    if (status == ERROR_NOT_SUPPORTED) {
        load_error(planning->load, planning->ini_path, entry->line,
                   "the C library does not know code page %u; save the file as UTF-8", page);
        return ERROR_SUCCESS;
    }
    if (bad)
        load_warning(planning->load, planning->ini_path, entry->line,
                     "bytes that are not valid in code page %u were replaced by U+FFFD", page);
    buffer_add(&text, "", 1);
    if (status || text.failed)
        return ERROR_NOT_ENOUGH_MEMORY;
    *ret = text.data;
    text = (struct buffer){0};
    return ERROR_SUCCESS;
}

/* ---- [info] ---- */

static bool is_service_name(const char *name)
{
    for (const char *at = name; *at; at++)
        if (*at == '\\' || (unsigned char)*at < ' ')
            return false;
    return *name && strlen(name) < SERVICE_SIZE;
}

static LSTATUS read_service(struct planning *planning)
{
    const struct ini_entry *entry = ini_find(planning->ini, "info", "drivername");
    FREE_AUTO char *name = NULL;
    if (!entry || !entry->value.count) {
        load_error(planning->load, planning->ini_path, entry ? entry->line : 0,
                   "drivername is missing in [info]: name the service, as drivername=MyPerf");
        return ERROR_SUCCESS;
    }
    LSTATUS status = decoded(planning, entry, LANGUAGE_ENGLISH, &name);
    if (status || !name)
        return status;
    if (is_service_name(name))
        strcpy(planning->plan->service, name);
    else
        load_error(planning->load, planning->ini_path, entry->line,
                   "\"%.60s\" cannot be the name of a key below Services", name);
    planning->plan->trusted = ini_find(planning->ini, "info", "trusted") != NULL;
    return ERROR_SUCCESS;
}

/* Reads the names of Open, Collect and Close, because libraries from Windows often use other names.
 * lodctr has options for these names, too, but not for the ini files of packages. */
static LSTATUS read_functions(struct planning *planning)
{
    static const char *const keys[] = {"open", "collect", "close"};
    LSTATUS status = ERROR_SUCCESS;
    for (size_t i = 0; !status && i < COUNT(keys); i++) {
        const struct ini_entry *entry = ini_find(planning->ini, "info", keys[i]);
        if (entry && entry->value.count)
            status = decoded(planning, entry, LANGUAGE_ENGLISH, &planning->plan->functions[i]);
    }
    return status;
}

/* ---- [languages] ---- */

static LSTATUS read_languages(struct planning *planning)
{
    struct plan *plan = planning->plan;
    for (size_t i = 0; i < planning->ini->count; i++) {
        const struct ini_entry *entry = &planning->ini->entries[i];
        uint32_t language;
        if (!span_is(entry->section, "languages"))
            continue;
        if (!read_language(entry->key, &language)) {
            load_warning(planning->load, planning->ini_path, entry->line,
                         "\"%.*s\" is not a language id such as 009", (int)entry->key.count,
                         entry->key.at);
            continue;
        }
        if (plan_has_language(plan, language))
            continue;
        if (!list_grow(&plan->languages, plan->language_count, &plan->language_capacity,
                       sizeof *plan->languages))
            return ERROR_NOT_ENOUGH_MEMORY;
        plan->languages[plan->language_count++] = language;
    }
    if (!plan->language_count)
        load_error(planning->load, planning->ini_path, 0,
                   "[languages] is missing or empty: list each language, as 009=English");
    return ERROR_SUCCESS;
}

/* ---- [text] ---- */

static bool is_safe(const struct ini_entry *entry)
{
    return !entry->has_value &&
           (*entry->key.at == '#' || (entry->key.count > 1 && !memcmp(entry->key.at, "//", 2)));
}

static const struct symbol *symbol_of(struct planning *planning, const struct ini_entry *entry,
                                      struct text_span name)
{
    const struct symbol *symbol = symbols_find(planning->symbols, name);
    if (!symbol)
        load_warning(planning->load, planning->ini_path, entry->line,
                     "%.*s is not defined in %s: this line is ignored", (int)name.count, name.at,
                     planning->symbol_path);
    else if (!symbol->is_number && symbol->text.count > 1 && *symbol->text.at == '0')
        load_error(planning->load, planning->symbol_path, symbol->line,
                   "%.*s is %.*s: write the offset in decimal", (int)name.count, name.at,
                   (int)symbol->text.count, symbol->text.at);
    else if (!symbol->is_number)
        load_warning(planning->load, planning->symbol_path, symbol->line,
                     "%.*s is not a decimal number: its text is ignored", (int)name.count, name.at);
    return symbol && symbol->is_number ? symbol : NULL;
}

static bool remember_used(struct planning *planning, const struct symbol *symbol)
{
    if (planning->used_count && planning->used[planning->used_count - 1] == symbol)
        return true;
    if (!list_grow(&planning->used, planning->used_count, &planning->used_capacity,
                   sizeof *planning->used))
        return false;
    planning->used[planning->used_count++] = symbol;
    return true;
}

/* Returns the symbol of a key, its language and part; NULL: the key is invalid, which was
 * reported. */
static const struct symbol *judge_text(struct planning *planning, const struct ini_entry *entry,
                                       uint32_t *ret_language, uint32_t *ret_part)
{
    struct load *load = planning->load;
    int length = (int)entry->key.count;
    struct text_span name;
    if (!entry->has_value) {
        if (!is_safe(entry))
            load_warning(load, planning->ini_path, entry->line, "the line has no =: it is ignored");
        return NULL;
    }
    if (!plan_key(entry->key, &name, ret_language, ret_part)) {
        load_warning(load, planning->ini_path, entry->line,
                     "\"%.*s\" is not SYMBOL_LANGUAGE_NAME or _HELP: it is ignored", length,
                     entry->key.at);
        return NULL;
    }
    if (!plan_has_language(planning->plan, *ret_language)) {
        load_warning(load, planning->ini_path, entry->line,
                     "\"%.*s\": the language is not listed in [languages]: it is ignored", length,
                     entry->key.at);
        return NULL;
    }
    if (!*ret_part && !entry->value.count) {
        load_warning(load, planning->ini_path, entry->line, "\"%.*s\" has no text: it is ignored",
                     length, entry->key.at);
        return NULL;
    }
    return symbol_of(planning, entry, name);
}

static LSTATUS read_text(struct planning *planning, const struct ini_entry *entry)
{
    uint32_t language, part;
    const struct symbol *symbol = judge_text(planning, entry, &language, &part);
    if (!symbol)
        return ERROR_SUCCESS;
    if (!remember_used(planning, symbol))
        return ERROR_NOT_ENOUGH_MEMORY;
    if (symbol->value < 0 || symbol->value > MOST_OFFSET)
        return ERROR_SUCCESS; /* refuse_offsets() reports the offset */
    char *text;
    LSTATUS status = decoded(planning, entry, language, &text);
    if (status || !text)
        return status;
    struct plan_text planned = {.language = language,
                                .offset = (uint32_t)symbol->value + part,
                                .line = entry->line,
                                .text = text};
    return plan_add_text(planning->plan, &planned) ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
}

static LSTATUS read_texts(struct planning *planning)
{
    LSTATUS status = ERROR_SUCCESS;
    for (size_t i = 0; !status && i < planning->ini->count; i++)
        if (span_is(planning->ini->entries[i].section, "text"))
            status = read_text(planning, &planning->ini->entries[i]);
    return status;
}

/* ---- the symbol file: in the folder of the ini file, in upper or lower case ---- */

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? strndup(path, (size_t)(slash - path) + 1) : strdup("");
}

static char *find_in_folder(const char *folder, const char *name)
{
    char *found = NULL;
    DIR *listing = opendir(*folder ? folder : ".");
    for (struct dirent *entry; listing && !found && (entry = readdir(listing));)
        if (text_equal_fold(entry->d_name, name))
            found = text_format("%s%s", folder, entry->d_name);
    if (listing)
        closedir(listing);
    return found;
}

/* Returns the path without its folders, because the symbol file must be in the ini file's
 * folder. */
static const char *last_part(const char *path)
{
    const char *name = path;
    for (const char *at = path; *at; at++)
        if (*at == '/' || *at == '\\')
            name = at + 1;
    return name;
}

static LSTATUS read_symbol_file(struct planning *planning, const char *given, struct symbols *ret,
                                char **ret_path)
{
    BUFFER_AUTO bytes = {0};
    FREE_AUTO char *folder = folder_of(planning->ini_path);
    FREE_AUTO char *path = folder ? text_format("%s%s", folder, last_part(given)) : NULL;
    if (!path)
        return ERROR_NOT_ENOUGH_MEMORY;
    LSTATUS status = load_file(path, &bytes);
    if (status == ERROR_FILE_NOT_FOUND) {
        char *other = find_in_folder(folder, last_part(given));
        if (other) {
            free(path);
            path = other;
            status = load_file(path, &bytes);
        }
    }
    if (!status && planning->load->careful && !load_believes(path))
        status = ERROR_ACCESS_DENIED;
    status = status ? status : symbols_parse(bytes.data ? bytes.data : "", bytes.len, ret);
    *ret_path = path;
    path = NULL;
    return status;
}

static LSTATUS read_symbols(struct planning *planning, struct symbols *ret, char **ret_path)
{
    const struct ini_entry *entry = ini_find(planning->ini, "info", "symbolfile");
    FREE_AUTO char *given = NULL;
    if (!entry || !entry->value.count) {
        load_error(
            planning->load, planning->ini_path, entry ? entry->line : 0,
            "symbolfile is missing in [info]: name the .h file, which must be in the same folder");
        return ERROR_INVALID_DATA;
    }
    LSTATUS status = decoded(planning, entry, LANGUAGE_ENGLISH, &given);
    if (status || !given)
        return status ? status : ERROR_INVALID_DATA;
    status = read_symbol_file(planning, given, ret, ret_path);
    if (status && status != ERROR_NOT_ENOUGH_MEMORY)
        load_error(planning->load, planning->ini_path, entry->line,
                   "the symbol file \"%s\" must be in the folder of the ini file: %s", given,
                   load_file_reason(*ret_path, status));
    planning->symbols = ret;
    planning->symbol_path = *ret_path;
    return status;
}

/* ---- checks ---- */

/* Checks and completes a plan. Invalid offsets are refused with file and line; Windows' tool
 * overwrites other providers' texts in that case (docs/windows/articles.md#c66). Every offset gets
 * an English name, which is used for languages without one (docs/windows/articles.md#c82). Each
 * object is listed once (docs/windows/articles.md#c65). */

/* ---- texts sorted and without duplicates ---- */

static int compare_texts(const void *left, const void *right)
{
    const struct plan_text *l = left, *r = right;
    if (l->language != r->language)
        return l->language < r->language ? -1 : 1;
    if (l->offset != r->offset)
        return l->offset < r->offset ? -1 : 1;
    return l->line < r->line ? -1 : l->line > r->line;
}

void plan_sort(struct plan *plan)
{
    if (plan->text_count)
        qsort(plan->texts, plan->text_count, sizeof *plan->texts, compare_texts);
}

const struct plan_text *plan_find(const struct plan *plan, uint32_t language, uint32_t offset)
{
    size_t low = 0, high = plan->text_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct plan_text *text = &plan->texts[middle];
        if (text->language < language || (text->language == language && text->offset < offset))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == plan->text_count)
        return NULL;
    const struct plan_text *text = &plan->texts[low];
    bool found = text->language == language && text->offset == offset;
    return found ? text : NULL;
}

/* Drops repeated texts: of several with the same key the first counts, as with
 * GetPrivateProfileString. */
static void drop_repeated(struct planning *planning)
{
    struct plan *plan = planning->plan;
    size_t kept = 0;
    plan_sort(plan);
    for (size_t i = 0; i < plan->text_count; i++) {
        struct plan_text *text = &plan->texts[i], *last = kept ? &plan->texts[kept - 1] : NULL;
        if (!last || last->language != text->language || last->offset != text->offset) {
            plan->texts[kept++] = *text;
            continue;
        }
        load_warning(planning->load, planning->ini_path, text->line,
                     "line %u has a text for the same index and language; this line is ignored",
                     last->line);
        free(text->text);
    }
    plan->text_count = kept;
}

/* ---- offsets ---- */

static int compare_used(const void *left, const void *right)
{
    const struct symbol *l = *(const struct symbol *const *)left,
                        *r = *(const struct symbol *const *)right;
    if (l->value != r->value)
        return l->value < r->value ? -1 : 1;
    return l->order < r->order ? -1 : l->order > r->order;
}

static const char *offset_mistake(int64_t value)
{
    if (value < 0)
        return "negative: it would overwrite another provider's texts";
    if (value > MOST_OFFSET)
        return "too large for an index";
    return value % 2 ? "odd: names have even numbers, explanations the odd ones after them" : NULL;
}

static void refuse_offset(struct planning *planning, const struct symbol *symbol)
{
    const char *mistake = offset_mistake(symbol->value);
    if (mistake)
        load_error(planning->load, planning->symbol_path, symbol->line, "the offset of %.*s is %s",
                   (int)symbol->name.count, symbol->name.at, mistake);
}

static void refuse_offsets(struct planning *planning)
{
    const struct symbol *last = NULL;
    if (planning->used_count)
        qsort(planning->used, planning->used_count, sizeof *planning->used, compare_used);
    for (size_t i = 0; i < planning->used_count; i++) {
        const struct symbol *symbol = planning->used[i];
        if (symbol == last)
            continue;
        refuse_offset(planning, symbol);
        if (last && symbol->value == last->value)
            load_error(planning->load, planning->symbol_path, symbol->line,
                       "%.*s has the offset %lld, which %.*s in line %u has already",
                       (int)symbol->name.count, symbol->name.at, (long long)symbol->value,
                       (int)last->name.count, last->name.at, last->line);
        last = symbol;
    }
}

/* Warns of names that are defined twice. A header may do that in conditional branches, which are
 * not evaluated here. */
static void warn_of_redefinitions(struct planning *planning)
{
    const struct symbols *symbols = planning->symbols;
    for (size_t i = 1; i < symbols->count; i++) {
        const struct symbol *first = &symbols->list[i - 1], *next = &symbols->list[i];
        bool same = first->name.count == next->name.count &&
                    !memcmp(first->name.at, next->name.at, next->name.count);
        if (same && first->is_number && next->is_number && first->value != next->value)
            load_warning(planning->load, planning->symbol_path, next->line,
                         "%.*s is defined in line %u already; the definition in that line is used",
                         (int)next->name.count, next->name.at, first->line);
    }
}

/* ---- languages ---- */

static bool add_copy(struct plan *plan, const struct plan_text *from)
{
    struct plan_text copy = *from;
    copy.language = LANGUAGE_ENGLISH;
    copy.text = strdup(from->text);
    return plan_add_text(plan, &copy);
}

/* Copies names that only this language has, with their explanations, to English. */
static LSTATUS fill_english_from(struct plan *plan, uint32_t language)
{
    size_t count = plan->text_count;
    for (size_t i = 0; i < count; i++) {
        struct plan_text name = plan->texts[i];
        if (name.language != language || name.offset % 2)
            continue;
        struct plan sorted = *plan;
        sorted.text_count = count;
        if (plan_find(&sorted, LANGUAGE_ENGLISH, name.offset))
            continue;
        bool has_help = plan_find(&sorted, LANGUAGE_ENGLISH, name.offset + 1);
        const struct plan_text *help = plan_find(&sorted, language, name.offset + 1);
        struct plan_text help_copy = help ? *help : name;
        if (!add_copy(plan, &name) || (help && !has_help && !add_copy(plan, &help_copy)))
            return ERROR_NOT_ENOUGH_MEMORY;
    }
    if (plan->text_count > count)
        plan_sort(plan);
    return ERROR_SUCCESS;
}

static LSTATUS fill_english(struct plan *plan)
{
    LSTATUS status = ERROR_SUCCESS;
    for (size_t i = 0; !status && i < plan->language_count; i++)
        if (plan->languages[i] != LANGUAGE_ENGLISH)
            status = fill_english_from(plan, plan->languages[i]);
    return status;
}

static void warn_of_languages(struct planning *planning)
{
    const struct plan *plan = planning->plan;
    for (size_t i = 0; i < plan->language_count; i++) {
        bool used = false;
        for (size_t k = 0; !used && k < plan->text_count; k++)
            used = plan->texts[k].language == plan->languages[i];
        if (!used)
            load_warning(planning->load, planning->ini_path, 0,
                         "language %03X is listed but has no texts: the English texts are used",
                         (unsigned)plan->languages[i]);
    }
}

/* True for an English text that was copied from another language, whose line was checked
 * already. */
static bool is_copy(const struct plan *plan, const struct plan_text *text)
{
    for (size_t i = 0; text->language == LANGUAGE_ENGLISH && i < plan->text_count; i++)
        if (plan->texts[i].language != LANGUAGE_ENGLISH && plan->texts[i].line == text->line &&
            plan->texts[i].offset == text->offset)
            return true;
    return false;
}

/* Adds an empty explanation to a name without one; drops an explanation without a name. */
static void pair_up(struct planning *planning)
{
    struct plan *plan = planning->plan;
    size_t kept = 0;
    for (size_t i = 0; i < plan->text_count; i++) {
        struct plan_text *text = &plan->texts[i];
        bool is_help = text->offset % 2;
        if (!is_help && !plan_find(plan, text->language, text->offset + 1) && !is_copy(plan, text))
            load_warning(planning->load, planning->ini_path, text->line,
                         "\"%s\" has no explanation (_HELP): an empty one is stored", text->text);
        if (!is_help || plan_find(plan, LANGUAGE_ENGLISH, text->offset - 1))
            continue;
        if (!is_copy(plan, text))
            load_warning(planning->load, planning->ini_path, text->line,
                         "an explanation without a name (_NAME): it is ignored");
        free(text->text);
        text->text = NULL;
    }
    for (size_t i = 0; i < plan->text_count; i++)
        if (plan->texts[i].text)
            plan->texts[kept++] = plan->texts[i];
    plan->text_count = kept;
}

/* ---- objects ---- */

static int compare_numbers(const void *left, const void *right)
{
    uint32_t l = *(const uint32_t *)left, r = *(const uint32_t *)right;
    return (l > r) - (l < r);
}

static LSTATUS read_object(struct planning *planning, const struct ini_entry *entry)
{
    struct plan *plan = planning->plan;
    struct text_span name;
    uint32_t language, part;
    bool is_key = plan_key(entry->key, &name, &language, &part) && !part;
    const struct symbol *symbol = is_key ? symbols_find(planning->symbols, name) : NULL;
    const char *mistake = !is_key   ? "is not SYMBOL_LANGUAGE_NAME"
                          : !symbol ? "is not in the symbol file"
                                    : NULL;
    if (!mistake && (!symbol->is_number || symbol->value < 0 || symbol->value > MOST_OFFSET ||
                     symbol->value % 2 != 0))
        mistake = "is not an even number from 0";
    if (!mistake && !plan_find(plan, LANGUAGE_ENGLISH, (uint32_t)symbol->value))
        load_warning(
            planning->load, planning->ini_path, entry->line,
            "[objects]: \"%.*s\" has no text in [text]: it is listed, and shown as a number",
            (int)entry->key.count, entry->key.at);
    if (mistake) {
        load_warning(planning->load, planning->ini_path, entry->line,
                     "[objects]: \"%.*s\" %s: it is ignored", (int)entry->key.count, entry->key.at,
                     mistake);
        return ERROR_SUCCESS;
    }
    if (!list_grow(&plan->objects, plan->object_count, &plan->object_capacity,
                   sizeof *plan->objects))
        return ERROR_NOT_ENOUGH_MEMORY;
    plan->objects[plan->object_count++] = (uint32_t)symbol->value;
    return ERROR_SUCCESS;
}

static LSTATUS read_objects(struct planning *planning)
{
    struct plan *plan = planning->plan;
    LSTATUS status = ERROR_SUCCESS;
    size_t kept = 0;
    for (size_t i = 0; !status && i < planning->ini->count; i++) {
        const struct ini_entry *entry = &planning->ini->entries[i];
        bool is_remark = *entry->key.at == '#' || *entry->key.at == '/';
        if (span_is(entry->section, "objects") && entry->key.count && !is_remark)
            status = read_object(planning, entry);
    }
    if (plan->object_count)
        qsort(plan->objects, plan->object_count, sizeof *plan->objects, compare_numbers);
    for (size_t i = 0; i < plan->object_count; i++)
        if (!kept || plan->objects[kept - 1] != plan->objects[i])
            plan->objects[kept++] = plan->objects[i];
    plan->object_count = kept;
    plan->has_objects = kept > 0;
    /* an object without a name may have a larger offset than all names */
    if (kept && plan->objects[kept - 1] > plan->last_offset)
        plan->last_offset = plan->objects[kept - 1];
    return status;
}

static LSTATUS plan_complete(struct planning *planning)
{
    struct plan *plan = planning->plan;
    drop_repeated(planning);
    refuse_offsets(planning);
    warn_of_redefinitions(planning);
    warn_of_languages(planning);
    LSTATUS status = fill_english(plan);
    if (status)
        return status;
    pair_up(planning);
    for (size_t i = 0; i < plan->text_count; i++)
        if (plan->texts[i].offset % 2 == 0 && plan->texts[i].offset > plan->last_offset)
            plan->last_offset = plan->texts[i].offset;
    if (!plan->text_count && !planning->load->errors)
        load_error(planning->load, planning->ini_path, 0,
                   "[text] contains no text that can be loaded");
    return read_objects(planning);
}

/* ---- the whole file ---- */

static LSTATUS read_sections(struct planning *planning)
{
    struct symbols symbols = {0};
    FREE_AUTO char *symbol_path = NULL;
    LSTATUS status = read_service(planning);
    status = status ? status : read_functions(planning);
    status = status ? status : read_languages(planning);
    status = status ? status : read_symbols(planning, &symbols, &symbol_path);
    status = status ? status : read_texts(planning);
    status = status ? status : plan_complete(planning);
    symbols_done(&symbols);
    free(planning->used);
    return !status && planning->load->errors ? ERROR_INVALID_DATA : status;
}

LSTATUS plan_read(struct load *load, const char *ini_path, struct plan *ret)
{
    BUFFER_AUTO bytes = {0};
    struct ini ini = {0};
    *ret = (struct plan){0};
    struct planning planning = {.load = load, .plan = ret, .ini = &ini, .ini_path = ini_path};
    LSTATUS status = load_file(ini_path, &bytes);
    if (status) {
        load_error(load, ini_path, 0, "cannot be read: %s", load_file_reason(ini_path, status));
        return status;
    }
    status = ini_parse(bytes.data ? bytes.data : "", bytes.len, &ini);
    status = status ? status : read_sections(&planning);
    ini_done(&ini);
    if (status)
        plan_done(ret);
    return status;
}
