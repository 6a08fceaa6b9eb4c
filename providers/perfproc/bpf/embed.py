#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles the BPF program and makes a C array of it: embed.py OUTPUT NAME DEPFILE COMPILER..."""
import subprocess
import sys


def main():
    output, name, depfile, *compiler = sys.argv[1:]
    elf = output + ".elf"
    subprocess.run([*compiler, "-MD", "-MF", depfile, "-MT", output, "-o", elf], check=True)
    with open(elf, "rb") as file:
        content = file.read()
    with open(output, "w", encoding="ascii") as out:
        out.write("#include <stddef.h>\n")
        out.write(f"extern const unsigned char {name}[];\nextern const size_t {name}_bytes;\n")
        out.write(f"_Alignas(8) const unsigned char {name}[] = {{\n")
        for at in range(0, len(content), 24):
            out.write(",".join(str(byte) for byte in content[at:at + 24]) + ",\n")
        out.write(f"}};\nconst size_t {name}_bytes = sizeof {name};\n")


main()
