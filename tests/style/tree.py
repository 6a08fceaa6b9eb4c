# SPDX-License-Identifier: MIT
"""Shared by the style tests: finding files, reading C without comments, reporting."""
import os
import re
import shlex
import shutil
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
# files that others recorded or generated: their text is not checked
FOREIGN = ("data", "tests/golden", "tests/roots", "fuzz/corpus", "LICENSES", "web/vendor", "web/built", "tests/tools/browser/vendor")
SKIPPED = 77  # the exit code from which Meson knows that a test could not run here


def is_build_folder(name):
    return name == "build" or name.startswith("build-")


def files(*folders):
    """Paths below the project of every file of our own, sorted; all of it when no folder is named."""
    found = []
    for folder in folders or (".",):
        for here, subfolders, names in os.walk(os.path.join(ROOT, folder)):
            below = os.path.relpath(here, ROOT)
            subfolders[:] = [name for name in subfolders
                             if name not in (".git", "__pycache__", "node_modules")
                             and not (below == "." and is_build_folder(name))
                             and os.path.normpath(os.path.join(below, name)) not in FOREIGN]
            found += [os.path.normpath(os.path.join(below, name)) for name in names
                      if name != ".git"]
    return sorted(found)


def c_files(*folders):
    return [path for path in files(*folders) if path.endswith((".c", ".h"))]


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as file:
        return file.read()


def first_line(path):
    with open(os.path.join(ROOT, path), "rb") as file:
        return file.readline(200)


def shell_scripts():
    return [path for path in files()
            if path.endswith(".sh") or re.match(rb"#!.*\b(ba|da)?sh\b", first_line(path))]


NOISE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def keep_lines(match):
    text = match.group(0)
    filler = "\n" * text.count("\n")
    return '""' + filler if text[0] == '"' else "0" + filler if text[0] == "'" else " " + filler


def without_comments(text):
    """C source with strings emptied and comments gone; every line keeps its number."""
    return NOISE.sub(keep_lines, text)


def finish(problems, done):
    """Prints what is wrong, or what was looked at; the exit code for the test."""
    for problem in problems:
        print(problem)
    if not problems:
        print(done)
        return 0
    print(f"{len(problems)} to correct")
    return 0 if os.environ.get("STYLE_REPORT_ONLY") else 1


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def write_compiler(folder, sanitize, compiler):
    """Makes `cc` in the folder, this build's compiler: what is used with a sanitized library must be
    compiled alike."""
    # as an absolute path: if ccache searched "cc" in PATH, it would find this script
    compiler = [shutil.which(word) or word for word in compiler]
    if sanitize != "none":
        compiler = [*compiler, f"-fsanitize={sanitize}"]
    path = os.path.join(folder, "cc")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nexec {shlex.join(compiler)} "$@"\n')
    os.chmod(path, 0o755)
