#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Converts the templates to C strings: embed.py OUTPUT FILE..."""
import os
import sys


def main():
    output, *paths = sys.argv[1:]
    with open(output, "w", encoding="utf-8") as out:
        out.write('#include "new.h"\n\nconst struct template templates[] = {\n')
        for path in paths:
            out.write(f'    {{"{os.path.basename(path).removesuffix(".in")}",\n')
            with open(path, encoding="utf-8") as file:
                for line in file:
                    text = line.rstrip("\n").replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
                    out.write(f'     "{text}\\n"\n')
            out.write("    },\n")
        out.write("    {0},\n};\n")


main()
