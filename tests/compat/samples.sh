#!/bin/sh
# SPDX-License-Identifier: MIT
# Every C++ sample compiles and links for Windows too: samples.sh SOURCE_ROOT COMPILER
root=$1 compiler=$2
command -v "$compiler" >/dev/null || { echo "$compiler is not installed"; exit 77; }
program=$(mktemp) || exit 1
trap 'rm -f "$program"' EXIT
for source in "$root"/samples/*/*.cpp; do
    "$compiler" -fpermissive -w "$source" -o "$program" -ladvapi32 || exit 1
    echo "${source#"$root"/}"
done
