/* SPDX-License-Identifier: MIT */
/*
 * The message catalog: one row for each event that the library or logman writes. The lines of the
 * event log, the catalog of `journalctl -x` and docs/events.md are made from these rows.
 *
 * Numbers, levels and fields are Windows' own (docs/windows/providers.md#d5,
 * docs/windows/registration.md#e7); texts and advice are this project's own, and so are the numbers
 * from 4000 on. {Field} stands for the field's value. Windows' events that never occur on this
 * system have rows too, so that a reader of a Windows log finds them.
 */
#include "base/base.h"

#include <stdio.h>
#include <string.h>

#define REINSTALL "unload and load its counters again: unlodctr {Service}, lodctr FILE.ini"
#define VENDOR                                                                                     \
    "the library has a bug: report it to its author. If you are the author, see \"Debugging\" in " \
    "docs/provider-guide.md"
#define FINDING "{Field} of {Part} (byte {Offset} of the answer) is {Found}, expected {Expected}; "
#define FINDING_FIELDS " Part Field Found Expected Offset"
#define DROPPED FINDING "the answer of {Service} in {Library} was dropped"
#define RIGHTS "run lodctr or unlodctr as root, or with --user to change only your own registration"

const struct event_message event_messages[] = {
  /* clang-format off */
    {"Perflib", 1000, EVENT_ERROR, "User Module",
     "{Module} did not let {User} read performance data",
     "run the query as a user with that right"},
    {"Perflib", 1001, EVENT_ERROR, "Library Service Size",
     "Collect of {Service} in {Library} wrote {Size} bytes beyond the end of its buffer; its data was dropped",
     VENDOR},
    {"Perflib", 1002, EVENT_ERROR, "Library Service",
     "Collect of {Service} in {Library} wrote outside its buffer; its data was dropped",
     VENDOR},
    {"Perflib", 1003, EVENT_ERROR, "Library Service ObjectCount" FINDING_FIELDS,
     DROPPED,
     VENDOR},
    {"Perflib", 1004, EVENT_ERROR, "Library Service ObjectIndex" FINDING_FIELDS,
     DROPPED,
     VENDOR},
    {"Perflib", 1005, EVENT_ERROR, "ProcName Library Service Win32Error",
     "the Open procedure {ProcName} of {Service} is not in {Library}: {Win32Error}",
     "compare the value Open of its Performance key with the library's exported names"},
    {"Perflib", 1006, EVENT_ERROR, "ProcName Library Service Win32Error",
     "the Collect procedure {ProcName} of {Service} is not in {Library}: {Win32Error}",
     "compare the value Collect of its Performance key with the library's exported names"},
    {"Perflib", 1007, EVENT_ERROR, "ProcName Library Service Win32Error",
     "the Close procedure {ProcName} of {Service} is not in {Library}: {Win32Error}",
     "compare the value Close of its Performance key with the library's exported names"},
    {"Perflib", 1008, EVENT_ERROR, "Service Library Win32Error",
     "Open of {Service} in {Library} failed: {Win32Error}",
     "Open is called again at the next query; check that the program or service that the provider reads is running; an event 4004 before it names a "
     "wrong row of the provider's table"},
    {"Perflib", 1009, EVENT_ERROR, "Library Service ExceptionCode ExceptionAddress Crash",
     "Open of {Service} in {Library} crashed: {Crash}",
     VENDOR},
    {"Perflib", 1010, EVENT_ERROR, "Library Service ExceptionCode ExceptionAddress Crash",
     "Collect of {Service} in {Library} crashed: {Crash}",
     VENDOR},
    {"Perflib", 1011, EVENT_ERROR, "Library Service ExceptionCode ExceptionAddress Crash",
     "Close of {Service} in {Library} crashed: {Crash}",
     VENDOR},
    {"Perflib", 1013, EVENT_ERROR, "Library Service Size",
     "Collect of {Service} in {Library} returned a pointer {Size} bytes beyond its buffer and may have damaged memory",
     "restart the program that queried {Service}; " VENDOR},
    {"Perflib", 1014, EVENT_WARNING, "Service Library Win32Error",
     "Collect of {Service} in {Library} failed: {Win32Error}",
     "the provider is queried again the next time; check that the program or service that it reads is running"},
    {"Perflib", 1015, EVENT_WARNING, "Service Library",
     "Collect of {Service} in {Library} did not answer in time; its objects are missing until it does",
     "find out what Collect waits for; Collect Timeout (in ms) in the Performance key of {Service} can allow more time"},
    {"Perflib", 1016, EVENT_WARNING, "Library Service Buffer BytesLeft",
     "the length of the answer of {Service} in {Library}, or of an object in it, is not a multiple of 8 (the answer has {Buffer} bytes, {BytesLeft} too many)",
     VENDOR},
    {"Perflib", 1017, EVENT_ERROR, "Service",
     "{Service} was put in quarantine",
     "to end the quarantine when the cause is corrected: lodctr /E:{Service}, or lodctr --user /E:{Service} if it is registered with --user"},
    {"Perflib", 1018, EVENT_ERROR, "Service",
     "{Service} is not queried by this program",
     "when the cause is corrected, restart the program"},
    {"Perflib", 1019, EVENT_ERROR, "Library Service ObjectIndex" FINDING_FIELDS,
     DROPPED,
     VENDOR},
    {"Perflib", 1020, EVENT_ERROR, "Library Service BufferSize RequiredSize",
     "{Service} in {Library} needs more than its buffer of {BufferSize} bytes",
     VENDOR},
    {"Perflib", 1021, EVENT_ERROR, "Library Win32Error",
     "{Library} cannot be loaded: it is a 32-bit library and the loading process has 64 bits",
     "install the library's 64-bit build"},
    {"Perflib", 1022, EVENT_ERROR, "Library Win32Error",
     "{Library} cannot be loaded: it is a 64-bit library and the loading process has 32 bits",
     "install the library's 32-bit build"},
    {"Perflib", 1023, EVENT_ERROR, "Library Win32Error Remedy",
     "{Library} cannot be loaded: {Win32Error}",
     "{Remedy}"},
    {"Perflib", 2000, EVENT_WARNING, "Library Service BytesLeft BytesAvailable",
     "pointer and length returned by Collect of {Service} in {Library} disagree ({BytesLeft} bytes by the length, {BytesAvailable} by the pointer)",
     VENDOR},
    {"Perflib", 2001, EVENT_WARNING, "Service Win32Error NTSTATUS",
     "the Performance key of {Service} is missing or cannot be read: {Win32Error}",
     REINSTALL},
    {"Perflib", 2002, EVENT_ERROR, "Service Library",
     "Open of {Service} in {Library} did not return in time",
     "find out what Open waits for; Open Timeout (in ms) in the Performance key of {Service} can allow more time"},
    {"Perflib", 2003, EVENT_WARNING, "Library Service",
     "{Library} of {Service} is not the file that was registered",
     "if you replaced the file yourself, trust the new one: lodctr /T:{Service}"},
    {"Perflib", 3002, EVENT_ERROR, "",
     "internal error in the library",
     "report it with this text"},
    {"Perflib", 3003, EVENT_ERROR, "ProcName Service",
     "the value {ProcName}, a procedure's name, is missing in the Performance key of {Service}",
     REINSTALL},
    {"Perflib", 3004, EVENT_ERROR, "Value Service",
     "the value {Value} in the Performance key of {Service} is wrong or missing",
     "correct it, or " REINSTALL},
    /* events that Windows does not have */
    {"Perflib", 4001, EVENT_WARNING, "Path Owner Mode",
     "{Path} is ignored: its owner {Owner} or its mode {Mode} allows another user to write it",
     "make root or yourself its owner and remove the write permission of others; see docs/registry.md"},
    {"Perflib", 4002, EVENT_WARNING, "Path Win32Error",
     "{Path} is ignored: {Win32Error}",
     "make sure that it is a text file of registry entries that you may read"},
    {"Perflib", 4003, EVENT_WARNING, "Path Line Reason Entry",
     "line {Line} of {Path}: {Reason}: {Entry}",
     "correct the line; the other lines are in use; see docs/registry.md"},
    {"Perflib", 4004, EVENT_ERROR, "Object Counter Reason",
     "the table of the object {Object} cannot be used, because of {Counter}: {Reason}",
     "correct the row and rebuild the provider; see openperflib-object(3)"},
    {"Perflib", 4005, EVENT_ERROR, "Path Win32Error",
     "{Path} cannot be read, so the operating system's own objects are missing: {Win32Error}",
     "install openperflib; a program that calls chroot needs an installation inside its new root, too"},
    {"Perflib", 4006, EVENT_ERROR, "Library Service ObjectIndex" FINDING_FIELDS,
     DROPPED,
     "each object needs its own number: define a symbol for each in the symbol file; " VENDOR},
    {"Perflib", 4007, EVENT_ERROR, "Library Service ObjectIndex" FINDING_FIELDS,
     DROPPED ", because the counter's value would be false",
     "the base must directly follow its counter; " VENDOR},
    {"Perflib", 4008, EVENT_WARNING, "Library Service ObjectIndex" FINDING_FIELDS,
     FINDING "this value of {Service} in {Library} is not shown",
     VENDOR},
    {"Perflib", 4009, EVENT_ERROR, "Library Service Owner" FINDING_FIELDS,
     "{Part} in the answer of {Service} in {Library} belongs to {Owner}; the answer was dropped",
     "the provider's numbers must begin at First Counter of {Service}; if they do, load its counters again: unlodctr {Service}, lodctr FILE.ini; if {Service} "
     "shall replace {Owner}, set Shared Objects = 1 in the Performance key of {Service}"},
    {"Perflib", 4010, EVENT_WARNING, "Library Service ObjectIndex" FINDING_FIELDS,
     FINDING "the number is shown in place of a name",
     "a number is First Counter of {Service} plus an offset from the symbol file: build the library with the loaded symbol file, or load its ini file again"},
    {"Perflib", 4011, EVENT_ERROR, "Library Service ProcName ExitCode",
     "{ProcName} of {Service} in {Library} ended its helper process with exit code {ExitCode}",
     "a provider must return an error, not call exit or end its thread; " VENDOR},
    {"Perflib", 4013, EVENT_ERROR, "Variable Reason",
     "the environment variable {Variable} is not used: {Reason}",
     "use the real path of a folder that belongs to root or to you; see docs/security.md"},
    {"Perflib", 4014, EVENT_ERROR, "Library Service Resident Limit",
     "the helper process of {Service} in {Library} had {Resident} MiB of memory and was ended; its limit is {Limit} MiB",
     "if the library needs so much memory, set Memory Limit (in MiB) in the Performance key of {Service}; else it has a memory leak"},
    {"Perflib", 4016, EVENT_WARNING, "Library Service Tries BufferSize Needs",
     "{Tries} queries in a row ended with ERROR_MORE_DATA: the last buffer had {BufferSize} bytes after PERF_DATA_BLOCK; {Service} needs {Needs}",
     "double the buffer, or query single objects; if an object has too many instances, find what creates them (zombie processes: ps -eo ppid,stat, state Z)"},
    {"Perflib", 4017, EVENT_ERROR, "Library Service Win32Error",
     "{Library} of {Service} was built for an unreleased version of openperflib and must be built again",
     "build it with the headers of the installed openperflib, or get a newer one from its author; see openperflib-object(3), VERSIONS"},
    {"Perflib", 4018, EVENT_ERROR, "Reason",
     "a provider passed a list of tables (opl_table_list) that cannot be used: {Reason}",
     "update openperflib to the version that the provider was built for, or build the provider again; see openperflib-object(3)"},

    {"LoadPerf", 1000, EVENT_INFO, "Service FirstCounter LastCounter FirstHelp LastHelp",
     "the counters of {Service} were loaded: names {FirstCounter} to {LastCounter}, explanations {FirstHelp} to {LastHelp}",
     ""},
    {"LoadPerf", 1001, EVENT_INFO, "Service LastCounter LastHelp",
     "the counters of {Service} were removed; the last name is {LastCounter}, the last explanation {LastHelp}",
     ""},
    {"LoadPerf", 1002, EVENT_INFO, "Service",
     "the counters of {Service} were loaded before; nothing was changed",
     "to load other texts, run unlodctr {Service} first"},
    {"LoadPerf", 2000, EVENT_WARNING, "Service",
     "the ini file of {Service} has no [objects]: {Service} is queried for every index that no other provider lists",
     "list the provider's objects in [objects], and load the ini file again"},
    {"LoadPerf", 2004, EVENT_WARNING, "Index Language",
     "text {Index} of language {Language} is damaged and was skipped",
     "find the service whose numbers, First Counter to Last Help, include {Index}, and load its counters again (unlodctr, lodctr)"},
    {"LoadPerf", 2005, EVENT_WARNING, "Service Language",
     "{Service} has no texts in language {Language}; those of another language are used",
     "add the language to its ini file"},
    {"LoadPerf", 2006, EVENT_WARNING, "Service Other",
     "the index ranges of {Service} and {Other} overlap",
     "unload both and load them again, one after the other"},
    {"LoadPerf", 2007, EVENT_WARNING, "Service Library",
     "the registration of {Service} was copied or moved from another service, or {Library} is registered twice",
     "unload the service that is not wanted: unlodctr SERVICE"},
    {"LoadPerf", 3000, EVENT_ERROR, "Win32Error",
     "the key Perflib cannot be opened: {Win32Error}",
     RIGHTS},
    {"LoadPerf", 3001, EVENT_ERROR, "Language",
     "the list of names of language {Language} is damaged",
     "load the counters of that language again"},
    {"LoadPerf", 3002, EVENT_ERROR, "Language",
     "the list of explanations of language {Language} is damaged",
     "load the counters of that language again"},
    {"LoadPerf", 3003, EVENT_ERROR, "Service Win32Error",
     "the Performance key of {Service} cannot be opened: {Win32Error}",
     "register the service first, or check its name"},
    {"LoadPerf", 3004, EVENT_ERROR, "Service Win32Error",
     "First Counter of {Service} cannot be read: {Win32Error}",
     REINSTALL},
    {"LoadPerf", 3005, EVENT_ERROR, "Service Win32Error",
     "First Help of {Service} cannot be read: {Win32Error}",
     REINSTALL},
    {"LoadPerf", 3006, EVENT_ERROR, "Language Win32Error",
     "the names of language {Language} cannot be read: {Win32Error}",
     "install the language: lodctr /L:{Language}"},
    {"LoadPerf", 3007, EVENT_ERROR, "Language Win32Error",
     "the explanations of language {Language} cannot be read: {Win32Error}",
     "install the language: lodctr /L:{Language}"},
    {"LoadPerf", 3008, EVENT_ERROR, "",
     "there is not enough memory; nothing was changed",
     "try again when more is free"},
    {"LoadPerf", 3009, EVENT_ERROR, "Service Win32Error",
     "the counters of {Service} were not loaded: {Win32Error}; nothing was changed",
     "correct the problem that lodctr reports and run it again"},
    {"LoadPerf", 3011, EVENT_ERROR, "Service Win32Error",
     "the counters of {Service} were not removed: {Win32Error}; nothing was changed",
     "correct the problem that unlodctr reports and run it again"},
    {"LoadPerf", 3012, EVENT_ERROR, "BaseIndex LastCounter LastHelp",
     "the database of texts is damaged: Base Index {BaseIndex}, Last Counter {LastCounter}, Last Help {LastHelp}",
     "correct the files that earlier events name"},
    {"LoadPerf", 3013, EVENT_ERROR, "Language Win32Error",
     "the names of language {Language} could not be written: {Win32Error}",
     RIGHTS},
    {"LoadPerf", 3014, EVENT_ERROR, "Language Win32Error",
     "the explanations of language {Language} could not be written: {Win32Error}",
     RIGHTS},
    {"LoadPerf", 3017, EVENT_ERROR, "Service Win32Error",
     "the numbers of {Service} could not be written to its Performance key: {Win32Error}",
     RIGHTS},
    {"LoadPerf", 3018, EVENT_ERROR, "Service Win32Error",
     "the numbers of {Service} could not be removed from its Performance key: {Win32Error}",
     RIGHTS},

    {"PLA", 2031, EVENT_WARNING, "Service Counter Value Relation Limit",
     "alert of {Service}: {Counter} is {Value}, {Relation} the limit of {Limit}",
     "logman query {Service} shows the limits of the alert; perfmon shows what the machine does now"},
    /* events that Windows does not have */
    {"PLA", 4101, EVENT_ERROR, "Service Path Reason",
     "{Service} loses samples, because they cannot be written to {Path}: {Reason}",
     "writing is tried again with each sample; make space, or correct the folder's rights"},
    {"PLA", 4102, EVENT_ERROR, "Service Command Reason",
     "the command {Command} of {Service} failed: {Reason}",
     "run it as the same user, without a shell and with the environment that logman(1) describes"},
    {"PLA", 4103, EVENT_WARNING, "Service Path Reason", "{Path} of {Service} stays uncompressed: {Reason}",
     "it is tried again when the set closes its next file, and when it starts"},
  /* clang-format on */
};
const size_t event_message_count = COUNT(event_messages);

const char *event_level_name(enum event_level level)
{
    return level == EVENT_ERROR ? "error" : level == EVENT_WARNING ? "warning" : "information";
}

const struct event_message *event_message(const char *source, unsigned id)
{
    for (size_t i = 0; i < COUNT(event_messages); i++)
        if (event_messages[i].id == id && strcmp(event_messages[i].source, source) == 0)
            return &event_messages[i];
    return NULL;
}

/* The first 24 digits are the same random digits for all events; the last 8 identify the event. */
void event_message_id(const char *source, unsigned id, char ret[static 33])
{
    unsigned number = strcmp(source, "Perflib") == 0    ? 1
                      : strcmp(source, "LoadPerf") == 0 ? 2
                      : strcmp(source, "PLA") == 0      ? 3
                                                        : 0;
    snprintf(ret, 33, "8d3e1f6ac25b4c7f9a60d7b2%04x%04x", number, number ? id & 0xffff : 0);
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

void event_field_name(const char *name, char ret[static 64])
{
    size_t length = (size_t)snprintf(ret, 64, "OPENPERFLIB_");
    for (const char *c = name; *c && length < 62; c++) {
        if (*c >= '0' && *c <= '9') /* journald's catalog allows only letters in field names */
            continue;
        if (c > name && is_upper(*c) && !is_upper(c[-1]))
            ret[length++] = '_';
        ret[length++] = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
    }
    ret[length] = '\0';
}
