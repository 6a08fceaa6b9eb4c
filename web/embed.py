#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes files as arrays of a C source: embed.py OUTPUT FILE..."""
import os
import sys

TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}

with open(sys.argv[1], "w", encoding="ascii") as out:
    out.write("#include <stddef.h>\nextern const struct page_file { const char *name, *type, *bytes; size_t size; } page_files[];\n")
    names = []
    for path in sys.argv[2:]:
        name = os.path.basename(path)
        data = open(path, "rb").read()
        array = "file_" + name.replace(".", "_")
        out.write("static const char %s[] = {%s};\n" % (array, ",".join(str(b if b < 128 else b - 256) for b in data)))
        names.append('{"%s", "%s; charset=utf-8", %s, sizeof %s}' % (name, TYPES[os.path.splitext(name)[1]], array, array))
    out.write("const struct page_file page_files[] = {%s, {0}};\n" % ", ".join(names))
