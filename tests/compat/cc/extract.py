#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Takes the printed programs out of the source documents: extract.py FOLDER OUTPUT

Only characters that typesetting lost are put back: the line end between a comment and the code after
it, the blank in `extern"C"`. What the documents leave to the reader (the registry's two numbers, the data) is ours, and
so are the ini files. The document on lodctr has only a sketch of a
program; just its table of structures is used.
"""
import glob
import os
import re
import sys

NUMBERS = """
#include <stdlib.h>
#include <string.h>
namespace Registry
{
static DWORD Read(const char *name, DWORD *value)
{
    HKEY key;
    DWORD size = sizeof(*value);
    DWORD result = RegOpenKeyExA(HKEY_LOCAL_MACHINE, "SYSTEM\\\\CurrentControlSet\\\\Services\\\\" SERVICE "\\\\Performance",
                                 0, KEY_READ, &key);
    if (result != ERROR_SUCCESS)
        return result;
    result = RegQueryValueExA(key, name, NULL, NULL, (LPBYTE)value, &size);
    RegCloseKey(key);
    return result;
}
static DWORD GetFirst(DWORD *name, DWORD *help)
{
    DWORD result = Read("First Counter", name);
    return result ? result : Read("First Help", help);
}
}
inline DWORD UpTo8(DWORD v) { return (v + 7) & ~7u; }
"""
DATA = """
#include <stdlib.h>
namespace Data
{
static int get_instances_count() { return 2; }
static void get_name(int i, WCHAR **name, int *length)
{
    const WCHAR *text = i ? L"second" : L"first";
    *length = lstrlenW(text);
    *name = (WCHAR *)malloc((*length + 1) * sizeof(WCHAR));
    lstrcpyW(*name, text);
}
static DWORD get_data(int i) { return 40 + i; }
}
"""
DEVICE = """
#include <windows.h>
#include <winperf.h>
#include <string.h>
typedef struct {
    PERF_OBJECT_TYPE object;
    PERF_COUNTER_DEFINITION first, second;
} MY_DEVICE_CTR_DEFINITION;
#define DEVICE_COUNTER_1_DATA_OFFSET sizeof(PERF_COUNTER_BLOCK)
#define DEVICE_COUNTER_2_DATA_OFFSET (DEVICE_COUNTER_1_DATA_OFFSET + sizeof(DWORD))
#define SIZE_OF_CTR_DATA 16
"""
DEVICE_CALLS = """
static DWORD first(const char *name)
{
    HKEY key;
    DWORD value = 0, size = sizeof value;
    if (RegOpenKeyExA(HKEY_LOCAL_MACHINE, "SYSTEM\\\\CurrentControlSet\\\\Services\\\\DriverName\\\\Performance", 0,
                      KEY_READ, &key) == ERROR_SUCCESS) {
        RegQueryValueExA(key, name, NULL, NULL, (LPBYTE)&value, &size);
        RegCloseKey(key);
    }
    return value;
}
__declspec(dllexport) DWORD APIENTRY Open(LPWSTR devices)
{
    DWORD name = first("First Counter"), help = first("First Help"), i;
    MyDeviceCtrDefinition.object.ObjectNameTitleIndex += name;
    MyDeviceCtrDefinition.object.ObjectHelpTitleIndex += help;
    MyDeviceCtrDefinition.object.NumInstances = PERF_NO_INSTANCES;
    for (i = 0; i < MyDeviceCtrDefinition.object.NumCounters; i++) {
        (&MyDeviceCtrDefinition.first)[i].CounterNameTitleIndex += name;
        (&MyDeviceCtrDefinition.first)[i].CounterHelpTitleIndex += help;
    }
    return ERROR_SUCCESS;
}
__declspec(dllexport) DWORD APIENTRY Collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    static DWORD values[SIZE_OF_CTR_DATA / sizeof(DWORD)] = {SIZE_OF_CTR_DATA, 7, 8};
    DWORD capacity = *bytes;
    *bytes = *types = 0;
    if (capacity < MyDeviceCtrDefinition.object.TotalByteLength)
        return ERROR_MORE_DATA;
    memcpy(*data, &MyDeviceCtrDefinition, sizeof MyDeviceCtrDefinition);
    memcpy((BYTE *)*data + sizeof MyDeviceCtrDefinition, values, sizeof values);
    *bytes = MyDeviceCtrDefinition.object.TotalByteLength;
    *data = (BYTE *)*data + *bytes;
    *types = 1;
    return ERROR_SUCCESS;
}
__declspec(dllexport) DWORD APIENTRY Close(void) { return ERROR_SUCCESS; }
"""


def document(folder, mark):
    for path in sorted(glob.glob(os.path.join(folder, "*.txt"))):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if mark in text:
            return text
    sys.exit(f"{folder}: no document has '{mark}'")


def write(output, name, text):
    with open(os.path.join(output, name), "w", encoding="utf-8") as file:
        file.write(text)


def rejoin(text):
    """Returns the text with the lost line ends after comments, and with the lost blank in extern "C"."""
    text = re.sub(r'extern\s*"C"\s*__declspec', 'extern "C" __declspec', text)
    text = re.sub(r'(//[^\n]*?)((?:extern "C"|return |for \(|int count = |counter\.Counter|#include ?"))', r"\1\n\2", text)
    text = re.sub(r'(#include ?"[^"]+")(//)', r"\1 \2", text)
    while re.search(r'(#include ?"[^"\n]+"[^\n]*?)(#include ?")', text):
        text = re.sub(r'(#include ?"[^"\n]+"[^\n]*?)(#include ?")', r"\1\n\2", text)
    # a statement directly after a comment: the comment ends where Cyrillic letters end, and Latin ones begin
    text = re.sub(r"(// [^\n]*[а-яё.\"])(?=(?:counter|instance|type|bl)\.)", r"\1\n", text)
    return text


def ini(output, name, service, symbols, texts):
    lines = ["[info]", f"drivername={service}", f"symbolfile={symbols}", "[languages]", "009=English", "[objects]",
             f"{texts[0][0]}_009_NAME=", "[text]"]
    for symbol, text in texts:
        lines += [f"{symbol}_009_NAME={text}", f"{symbol}_009_HELP={text}."]
    write(output, name + ".ini", "\n".join(lines) + "\n")


def article(folder, output):
    text = document(folder, "Registry::GetFirst")
    starts = [match.start() for match in re.finditer(r'^ *#include <windows\.h> *$', text, re.MULTILINE)]
    minimal, single, many = starts[:3]

    def until(start, end_mark):
        end = text.index(end_mark, start)
        close = text.rindex("}", start, end) + 1
        return rejoin(text[start:close])

    write(output, "minimal.cpp", until(minimal, "\nКак видите"))
    write(output, "myperf1.cpp", '#define SERVICE "Printed1"\n' + until(single, "\nСогласитесь"))
    write(output, "myperf1_inst.cpp", '#define SERVICE "Printed2"\n' + until(many, "\nВ общем, опять"))
    write(output, "registry.h", NUMBERS)
    write(output, "data_provider.h", DATA)
    write(output, "offset.h", "#define TYPE_OFFSET 0\n#define COUNTER1_OFFSET 2\n#define COUNTER2_OFFSET 4\n"
          "#define COUNTER_OFFSET 2\n")
    ini(output, "myperf1", "Printed1", "offset.h",
        [("TYPE_OFFSET", "Printed 1"), ("COUNTER1_OFFSET", "Greeting"), ("COUNTER2_OFFSET", "Digit")])
    ini(output, "myperf1_inst", "Printed2", "offset.h", [("TYPE_OFFSET", "Printed 2"), ("COUNTER_OFFSET", "Luck")])


def paper(folder, output):
    text = document(folder, "begin devdef.H file")
    lines = [line for line in text.splitlines() if line.strip() not in ("|", "|||")]
    lines = [re.sub(r"^\|+\s?", "", line) for line in lines]
    body = "\n".join(lines)
    symbols = re.search(r"// begin devdef\.H file\n(.*?)// end devdef", body, re.DOTALL).group(1)
    table = re.search(r"(MY_DEVICE_CTR_DEFINITION MyDeviceCtrDefinition = \{.*?\n\};)", body, re.DOTALL).group(1)
    # corrects a misplaced parenthesis of the document
    table = table.replace("(sizeof(MY_DEVICE_CTR_DEFINITION-sizeof", "(sizeof(MY_DEVICE_CTR_DEFINITION)-sizeof")
    names = re.search(r"// begin \.INI file example\n(.*?)// end \.INI", body, re.DOTALL).group(1)
    write(output, "devdef.h", symbols)
    write(output, "devdef.ini", names)
    write(output, "devdef.c", DEVICE + '#include "devdef.h"\n' + table + "\n" + DEVICE_CALLS)


def process_list(folder, output):
    text = document(folder, "enum_process.cpp")
    start = text.index("#include <windows.h>")
    end = text.index("Ausgabe des Pro")
    write(output, "enum_process.cpp", text[start:end])


def main():
    folder, output = sys.argv[1:]
    article(folder, output)
    paper(folder, output)
    process_list(folder, output)


main()
