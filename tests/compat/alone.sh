#!/bin/sh
# SPDX-License-Identifier: MIT
# Compiles every public header alone; there must be no warning: alone.sh SOURCE_ROOT COMPILER [FLAG...]
# (the flags set language, standard and mode). Also compiles system.h, which includes the system's headers
# after ours: they must still work.
root=$1
shift
command -v "$1" >/dev/null || { echo "$1 is not installed"; exit 77; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failed=0

compile() { # NAME FLAG...: standard input is the source
    name=$1
    shift
    if ! "$@" -Wall -Wextra -Wshadow -pedantic -Werror -fsyntax-only - 2>"$folder/log"; then
        echo "$name: $*"
        head -20 "$folder/log"
        failed=1
    fi
}

echo 'int main(void) { return 0; }' | "$@" -fsyntax-only - 2>/dev/null || {
    echo "$* cannot compile at all"
    exit 77
}
# first only our own headers are in the search path; then also Windows' headers and those of compat/, in the
# order of the .pc file
set -- "$@" -I"$root/include"
for path in "$root"/include/openperflib/*.h; do
    echo "#include <openperflib/${path##*/}>" | compile "${path##*/}" "$@"
done
set -- "$@" -I"$root/include/openperflib-windows" -I"$root/compat/include"
for path in "$root"/include/openperflib-windows/*.h "$root"/compat/include/*.h; do
    echo "#include <${path##*/}>" | compile "${path##*/}" "$@"
done
compile "system headers behind ours" "$@" <"$root/tests/compat/system.h"
exit $failed
