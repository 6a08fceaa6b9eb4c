#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks each name of docs/windows-names.tsv: either our headers declare it and it can be linked, or the table
gives a reason why it is not supported, and it does not exist.

usage: names.py SOURCE_ROOT BUILD_ROOT COMPILER [FLAG]...
"""
import os
import shutil
import subprocess
import sys
import tempfile

HEADERS = ("windows.h", "winperf.h", "pdh.h", "pdhmsg.h", "loadperf.h", "psapi.h", "strsafe.h", "tchar.h")
# macros or overloaded functions, whose name alone cannot be linked: they are called
GENERIC = {"wprintf": 'wprintf(L"x")', "wcscpy_s": 'wcscpy_s((WCHAR *)words, 1, L"x")',
           "wcsncpy_s": 'wcsncpy_s((WCHAR *)words, 1, L"x", 1)'}


def rows(root):
    with open(os.path.join(root, "docs", "windows-names.tsv"), encoding="utf-8") as file:
        for line in file:
            if line.strip() and line[0] != "#":
                fields = line.rstrip("\n").split("\t")
                yield fields[0], fields[3] if len(fields) > 3 else ""


def source_of(names):
    lines = [f"#include <{header}>" for header in HEADERS]
    lines += ["typedef void (*any)(void);", "int main(int count, char **words)", "{", "    (void)words;",
              "    any calls[] = {"]
    lines += [f"        (any)(&{name})," for name in names if name not in GENERIC]
    lines += ["    };", "    if (count > 1000)", "        calls[count]();"]
    lines += [f"    if (count > 1000) {GENERIC[name]};" for name in names if name in GENERIC]
    return "\n".join([*lines, "    return 0;", "}", ""])


def build(place, compiler, source, *flags):
    language = "c++" if "++" in compiler[0] else "c"
    path = os.path.join(place, "names." + language)
    with open(path, "w", encoding="utf-8") as file:
        file.write(source)
    # -w: a warning, for example of a wrong type, does not matter, only whether the name exists
    return subprocess.run([*compiler, "-x", language, path, "-x", "none", "-w", "-o",
                           os.path.join(place, "names"), *flags], stderr=subprocess.PIPE, text=True)


def main():
    root, build_root, *compiler = sys.argv[1:]
    if not shutil.which(compiler[0]):
        print(f"{compiler[0]} is not installed")
        return 77
    here = [name for name, why in rows(root) if not why]
    refused = [name for name, why in rows(root) if why]
    faults = []
    compiler += ["-fshort-wchar", f"-I{root}/include", f"-I{root}/include/openperflib-windows",
                 f"-I{root}/compat/include"]
    if "++" not in compiler[0]:
        compiler.append("-Werror=implicit-function-declaration")
    with tempfile.TemporaryDirectory() as place:
        for mode in ([], ["-DUNICODE", "-D_UNICODE"]):
            built = build(place, compiler, source_of(here), *mode, f"-L{build_root}/compat", f"-L{build_root}/src", "-lopenperflib-win32",
                          "-lopenperflib", "-Wl,--unresolved-symbols=ignore-in-shared-libs",
                          *os.environ.get("SANITIZE", "").split())
            if built.returncode != 0:
                faults.append(f"{mode}: {built.stderr}")
        for name in refused:
            if build(place, compiler, source_of([name]), "-fsyntax-only").returncode == 0:
                faults.append(f"{name}: refused, yet declared")
    print("\n".join(faults) or f"{len(here)} names, {len(refused)} refused")
    return 1 if faults or len(here) < 60 else 0


sys.exit(main())
