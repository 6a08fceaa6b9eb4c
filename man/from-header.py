#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a section 3 page: a line @FUNCTIONS folder/name.h@ becomes all functions of that public header with
their comments, so that page and header cannot disagree.

    from-header.py SOURCE-ROOT PAGE.scd SCDOC OUTPUT [LIST]    @LIST@ stands for the file LIST
    from-header.py --names HEADER...     prints the functions' names, for the tests
"""
import os
import re
import subprocess
import sys

SOURCE = re.compile(r"(?:\s*\n \*)?\s*\(docs/[^()]*\)")
SKIPPED = re.compile(r"^\s*#(?:[^\\\n]|\\\n|\\.)*$", re.M)


def scd(text):
    return re.sub(r"([_*\\#~`\[\]<>|])", r"\\\1", text)


def pieces(text):
    """Yields the comments and statements of a header, in their order."""
    text = SKIPPED.sub("", text)
    text = re.sub(r"OPL_(BEGIN|END)_(DECLS|SHIMS)", "", text)
    at, start, depth = 0, 0, 0
    while at < len(text):
        if text.startswith("/*", at):
            end = text.index("*/", at) + 2
            if depth == 0 and not text[start:at].strip():
                yield "comment", text[at:end]
                start = end
            at = end
            continue
        if text[at] in "({":
            depth += 1
        elif text[at] in ")}":
            depth -= 1
            if depth == 0 and text[at] == "}" and "static inline" in text[start:at]:
                start = at + 1
        elif text[at] == ";" and depth == 0:
            yield "statement", text[start:at]
            start = at + 1
        at += 1


def clean(statement):
    statement = re.sub(r"/\*.*?\*/", "", statement, flags=re.S)
    statement = re.sub(r"\bOPL_(?:SYMBOL|SHIM)\(\w+\)|\bWINAPI\b|__attribute__\(\(.*\)\)", "", statement)
    return " ".join(statement.split())


def functions(statement):
    """Returns (name, prototype) for each function that the statement declares."""
    statement = clean(statement)
    pair = re.fullmatch(r"OPL_AW\((\w+), ?\((.*)\), ?\((.*)\)\)", statement)
    if pair:
        name, narrow, wide = pair.groups()
        return [(name + suffix, f"LSTATUS {name}{suffix}({arguments})")
                for suffix, arguments in (("A", narrow), ("W", wide))]
    if statement.startswith(("typedef", "enum", "struct", "extern", "static", "DECLARE", "union")):
        return []
    match = re.fullmatch(r"[\w \*]*?(\w+) ?\(.*\)", statement)
    return [(match.group(1), statement)] if match else []


def comment_lines(comment):
    body = re.sub(r"^/\*+ ?|\s*\*/$", "", comment)
    return [re.sub(r"^\s*\* ?", "", line).rstrip() for line in body.split("\n")]


def comment_text(comment):
    """Formats a paragraph; a line that is indented by two to six blanks starts a new line, as in a list."""
    out, listed = [], False
    for line in comment_lines(SOURCE.sub("", comment)):
        indent = len(line) - len(line.lstrip())
        text = scd(re.sub(r"(?<=\S) {2,}", ": ", line.strip()))
        if not text:
            continue
        begins = 2 <= indent <= 6 or (listed and indent == 0)
        listed = indent > 0 and (listed or begins)
        if out and not begins:
            out[-1] += " " + text
        else:
            out.append(text)
    return "++\n".join(out)


def prototype(name, text):
    before, after = text.split(name, 1)
    return f"{scd(before)}*{scd(name)}*{scd(after)}"


def header_groups(path):
    """Returns [(comment, [(name, prototype)])]; a comment belongs to all functions below it, up to the next comment."""
    groups, heading = [], None
    with open(path, encoding="utf-8") as file:
        for kind, text in pieces(file.read()):
            title = re.fullmatch(r"/\* -+ (.*?) -+ \*/", text)
            if kind == "comment" and title:
                heading = title.group(1)
            elif kind == "comment":
                groups.append([heading, text, []])
                heading = None
            elif groups:
                found = functions(text)
                groups[-1][2] += found
                if not found and not groups[-1][2]:
                    groups[-1][1] = ""
    return [group for group in groups if group[2] or group[0]]


def expand(path):
    lines = []
    for heading, comment, found in header_groups(path):
        if heading:
            lines.append(f"## {scd(heading)}\n")
        if found:
            lines.append("++\n".join(prototype(*one) for one in found))
            lines.append("\t" + comment_text(comment) + "\n" if comment else "\tAs above.\n")
    return "\n".join(lines)


def names(paths):
    return sorted(name for path in paths for group in header_groups(path) for name, _ in group[2])


def main():
    if sys.argv[1] == "--names":
        print("\n".join(names(sys.argv[2:])))
        return
    folder, page, scdoc, output, *lists = sys.argv[1:]
    with open(page, encoding="utf-8") as file:
        text = re.sub(r"^@FUNCTIONS (\S+)@$", lambda match: expand(os.path.join(folder, match[1])),
                      file.read(), flags=re.M)
    for path in lists:
        with open(path, encoding="utf-8") as file:
            text = text.replace("@LIST@\n", file.read())
    with open(output, "w", encoding="utf-8") as out:
        subprocess.run([scdoc], input=text.encode(), stdout=out, check=True)


main()
