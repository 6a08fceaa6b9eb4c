# SPDX-License-Identifier: MIT
# Sourced by scripts/package: packages of third-party providers, which install their ini files in
# the folder registry.d.
# shellcheck shell=bash disable=SC2154,SC2016

# third NAME VERSION COUNTERS [ARCHITECTURE]: builds a package with one provider and installs it in the root "third".
# The functions of the provider "second" have names of their own.
third() {
    local name=$1 folder=$place/third-party architecture=${4-amd64} triplet=x86_64-linux-gnu flags=() functions='' i
    [ "$name" != second ] || { flags=(-DOpen=MineOpen -DCollect=MineCollect -DClose=MineClose) && functions='open=MineOpen\ncollect=MineCollect\nclose=MineClose\n'; }
    [ "$architecture" = amd64 ] || { triplet=i386-linux-gnu && flags+=(-m32); }
    rm -rf "$folder" && mkdir -p "$folder"/{DEBIAN,usr/share/openperflib/registry.d,"usr/lib/$triplet/openperflib"}
    rm -rf "$place/to-link" && dpkg-deb -x "$(ls "$place"/{first,i386}/libopenperflib0_*"_$architecture.deb" 2>/dev/null)" "$place/to-link" || return 1
    gcc "${flags[@]}" -shared -fPIC -fvisibility=hidden -Iinclude -DVALUE="${#triplet}" -DCOUNTERS="$3" "-DSERVICE=\"$name\"" \
        tests/packages/third.c "$place/to-link/usr/lib/$triplet/libopenperflib.so.0" \
        -o "$folder/usr/lib/$triplet/openperflib/$name.so" || return 1
    {
        printf "[info]\ndrivername=%s\nsymbolfile=%s.h\n${functions}[languages]\n009=English\n[objects]\nALL_009_NAME=\n[text]\n" "$name" "$name"
        printf 'ALL_009_NAME=%s\nALL_009_HELP=A third party.\n' "$name"
        for i in Answer Second; do printf '%s_009_NAME=%s\n%s_009_HELP=A number.\n' "$i" "$i" "$i"; done | head -n $(($3 * 2))
    } >"$folder/usr/share/openperflib/registry.d/$name.ini"
    printf '#define ALL 0\n#define Answer 2\n#define Second 4\n' | head -n $(($3 + 1)) >"$folder/usr/share/openperflib/registry.d/$name.h"
    printf 'Package: %s\nVersion: %s\nArchitecture: %s\nMulti-Arch: same\nDepends: libopenperflib0\nMaintainer: %s\nDescription: a provider\n' \
        "$name" "$2" "$architecture" "A. Author <author@example.org>" >"$folder/DEBIAN/control"
    dpkg-deb --root-owner-group -b "$folder" "$place/third/debs/${name}_${2}_$architecture.deb"
}

# first_is NAME NUMBER: the provider's First Counter is this number. answers NAME [COUNTER]: a 64-bit program reads the
# counter's value, 16.
first_is() { inside third lodctr "/Q:$1" | tee /dev/stderr | grep -F "First Counter ID: $(printf '0x%08X (%d)' "$2" "$2")"; }
answers() { as_user third typeperf -sc 1 "\\$1\\${2-Answer}" | tee /dev/stderr | grep -F '"16.000000"'; }
unpack() { inside third dpkg -i "${@/#//debs/}"; }

come_before_the_tools() {
    make_root third && third first 1 1 && install third libopenperflib0 && unpack first_1_amd64.deb &&
        install third openperflib && first_is first 1848 && answers first
}
come_after_the_tools() { third second 1 1 && unpack second_1_amd64.deb && first_is second 1948 && answers second; }
upgraded_with_a_counter() { third first 2 2 && unpack first_2_amd64.deb && first_is first 1848 && answers first Second; }
gone() { ! inside third lodctr "/Q:$1" | grep 'DLL Name: .*\.so' && ! as_user third typeperf -sc 1 "\\$1\\Answer"; }
removed_and_back() {
    inside third dpkg -r first && gone first && first_is first 1848 && answers second && third third 1 1 &&
        unpack third_1_amd64.deb && first_is third 2048 && unpack first_2_amd64.deb && first_is first 1848 && answers first &&
        inside third dpkg -P first && gone first && unpack first_2_amd64.deb && first_is first 1848 && answers first Second
}
with_mistakes() {
    third faulty 1 1 && echo '[info]' >"$place/third-party/usr/share/openperflib/registry.d/faulty.ini" &&
        dpkg-deb --root-owner-group -b "$place/third-party" "$place/third/debs/faulty_2_amd64.deb" && third fourth 1 1 &&
        unpack faulty_2_amd64.deb fourth_1_amd64.deb 2>&1 | tee /dev/stderr | grep 'faulty.ini' &&
        inside third dpkg --audit && answers fourth && answers first
}
tools_removed_meanwhile() {
    inside third dpkg -r openperflib && inside third dpkg -r fourth && unpack openperflib_0.1.0_amd64.deb && gone fourth &&
        first_is fourth 2148 && answers second
}
purged() {
    inside third apt-get -qqy --autoremove purge libopenperflib0 openperflib first second third faulty && diff <(files_of base) <(files_of third)
}

# Follows the example in docs/packaging.md, in a root with a compiler.
the_example_of_the_documents() {
    local sources=$place/author/src/demo
    make_root author && inside author apt-get -qqy install --no-install-recommends build-essential debhelper pkg-config &&
        install author libopenperflib0 libopenperflib-dev openperflib && mkdir "$place/author/src" &&
        inside author sh -c 'cd /src && openperflib-new demo' && mkdir -p "$sources/debian/source" &&
        awk -v place="$sources/" '/^`debian\//{split($0, part, "`"); file = place part[2]} /^```/{inside = !inside && file
            if (!inside) file = ""; next} inside{print >file}' docs/packaging.md &&
        inside author sh -c 'cd /src/demo && chmod 755 debian/rules && dpkg-buildpackage -us -uc -b && dpkg -i ../*.deb' &&
        as_user author typeperf -sc 1 '\Demo\*' && inside author lodctr /Q:Demo | grep 'DLL Name: demo.so'
}

check_drop_ins() {
    try "packages: a third-party provider that is installed before the tools answers" come_before_the_tools
    try "packages: one that is installed after them, too" come_after_the_tools
    try "packages: upgraded with one more counter, it has its number" upgraded_with_a_counter
    try "packages: removed, purged and installed again, too" removed_and_back
    try "packages: a drop-in file with mistakes is reported, dpkg goes on" with_mistakes
    try "packages: one that is removed without the tools is unregistered when they come" tools_removed_meanwhile
    try "packages: all purged, nothing is left" purged
    try "packages: the example of docs/packaging.md is built and answers" the_example_of_the_documents
    drop_root third
}
