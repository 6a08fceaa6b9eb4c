/* SPDX-License-Identifier: MIT */
/* lodctr doctor: what opl_load_doctor finds, a line each, or one JSON document. */
#include "lodctr.h"

enum { DOCTOR_SOMETHING_LEFT = 1 };

struct visit {
    const struct lodctr *asked;
    struct json json;
    unsigned findings, errors;
};

static void take_finding(void *self, const opl_load_finding *finding)
{
    struct visit *visit = self;
    const struct lodctr *asked = visit->asked;
    visit->findings++;
    if (asked->json) {
        json_open_flat(&visit->json, NULL);
        json_string(&visit->json, "kind", finding->kind);
        json_string(&visit->json, "service", finding->service);
        json_string(&visit->json, "file", finding->file);
        json_string(&visit->json, "text", finding->text);
        json_bool(&visit->json, "repaired", finding->repaired && !asked->dry_run);
        json_bool(&visit->json, "canBeRepaired", finding->repaired);
        json_close_flat(&visit->json);
        return;
    }
    if (asked->quiet && finding->repaired)
        return;
    printf("%s: %s: %s\n", finding->service ? finding->service : finding->file, finding->kind,
           finding->text);
}

static void take_remark(void *self, const opl_load_remark *remark)
{
    struct visit *visit = self;
    visit->errors += remark->error;
    status_remark("lodctr", remark);
}

static void print_end(const struct lodctr *asked, unsigned findings,
                      const opl_load_restored *result)
{
    const char *many = result->providers == 1 ? "" : "s";
    if (!findings)
        printf("%zu provider%s: nothing to mend\n", result->providers, many);
    else
        printf("%zu provider%s: %zu %s, %zu thing%s left for you\n", result->providers, many,
               result->restored, asked->dry_run ? "would be repaired" : "repaired", result->left,
               result->left == 1 ? "" : "s");
}

DWORD doctor(const struct lodctr *asked)
{
    struct visit visit = {.asked = asked, .json.out = stdout};
    const opl_load_doctor_options told = {.found = take_finding, .self = &visit};
    const opl_load_options options = {
        .user = asked->user, .dry_run = asked->dry_run, .remark = take_remark, .self = &visit};
    opl_load_restored result = {0};
    if (asked->json) {
        json_open(&visit.json, NULL, '{');
        json_bool(&visit.json, "dryRun", asked->dry_run);
        json_open(&visit.json, "findings", '[');
    }
    DWORD status = opl_load_doctor(&told, &options, &result);
    if (status && !visit.errors)
        status_complain("lodctr", "doctor", status);
    if (asked->json) {
        json_close(&visit.json, ']');
        json_integer(&visit.json, "providers", (int64_t)result.providers);
        json_integer(&visit.json, "restored", (int64_t)result.restored);
        json_integer(&visit.json, "left", (int64_t)result.left);
        json_integer(&visit.json, "status", status);
        json_string(&visit.json, "statusText", status_words(status));
        json_close(&visit.json, '}');
        putchar('\n');
    } else if (!status && !asked->quiet) {
        print_end(asked, visit.findings, &result);
    }
    /* what a watcher wants to know: is anything still wrong? */
    bool wrong = result.left || (asked->dry_run && visit.findings);
    return status || !wrong ? status : DOCTOR_SOMETHING_LEFT;
}
