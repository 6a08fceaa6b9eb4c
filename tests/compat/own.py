#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each of our own headers, alone, defines no macro but OPL_..., in C and C++; and the constants of
format.h have the values of winperf.h.

usage: own.py SOURCE_ROOT [FLAG]...
"""
import os
import re
import shutil
import subprocess
import sys

# beginnings of the macros that our own headers may define
OURS = re.compile(r"_|OPL_|opl_|OPENPERFLIB_")


def macros(command, text):
    answer = subprocess.run([*command, "-dM", "-E", "-"], input=text, capture_output=True, text=True)
    if answer.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {answer.stderr}")
    return set(re.findall(r"^#define (\w+)", answer.stdout, flags=re.M))


def numbers(root):
    """Returns the constants that have one value in format.h and another in winperf.h."""
    def read(path):
        with open(os.path.join(root, "include", path), encoding="utf-8") as file:
            return file.read()
    ours = dict(re.findall(r"^    (PERF_\w+) = ([-\w]+)", read("openperflib/format.h"), flags=re.M))
    windows = dict(re.findall(r"^#define (PERF_\w+) \(?([-\w]+)\)?$", read("openperflib-windows/winperf.h"), flags=re.M))
    windows = {name: windows.get(value, value) for name, value in windows.items()}
    faults = [f"{name}: {value} in format.h, {windows.get(name)} in winperf.h"
              for name, value in ours.items()
              if name not in windows or int(windows[name], 0) != int(ours.get(value, value), 0)]
    return faults if len(ours) >= 80 else [*faults, f"format.h has {len(ours)} numbers, not 80"]


def main():
    root, *flags = sys.argv[1:]
    include = os.path.join(root, "include")
    names = sorted(os.listdir(os.path.join(include, "openperflib")))
    faults, count = numbers(root), 0
    for compiler, *language in (("gcc", "-xc", "-std=c11"), ("g++", "-xc++", "-std=c++11")):
        if not shutil.which(compiler):
            continue
        command = [compiler, *language, *flags, "-pedantic-errors", "-I" + include]
        known = macros(command, "#include <stdint.h>\n#include <stddef.h>\n#include <stdbool.h>\n")
        for name in names:
            count += 1
            found = macros(command, f"#include <openperflib/{name}>\n") - known
            faults += [f"{compiler}: {name} defines {macro}" for macro in sorted(found)
                       if not OURS.match(macro)]
        # checks the test itself: winperf.h defines macros that it must find
        windows = macros([*command, "-I" + os.path.join(include, "openperflib-windows")],
                         "#include <winperf.h>\n")
        if "PERF_DETAIL_NOVICE" not in windows or "FAR" not in windows:
            faults.append(f"{compiler}: winperf.h was not read")
    print("\n".join(faults) or f"{count} times a header alone, no macro but ours")
    return 77 if not count else 1 if faults else 0


sys.exit(main())
