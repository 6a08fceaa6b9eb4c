#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes openperflib-cc from its template: make.py TEMPLATE NAMES VERSION OUTPUT"""
import os
import sys


def main():
    template, names, version, output = sys.argv[1:]
    with open(template, encoding="utf-8") as file:
        text = file.read()
    with open(names, encoding="utf-8") as file:
        rows = "".join(line for line in file if line.count("\t") == 3)
    with open(output, "w", encoding="utf-8") as file:
        file.write(text.replace("@VERSION@", version).replace("@NAMES@", rows))
    os.chmod(output, 0o755)


main()
