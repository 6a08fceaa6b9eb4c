# SPDX-License-Identifier: MIT
# Sourced by scripts/package: an ordinary user of the system with the installed packages runs every example of the
# README and of docs/tour.md, and builds and runs a sample of openperflib-doc.
# shellcheck shell=bash disable=SC2154,SC2016

readme_by_a_user() {
    local author=$place/author
    { [ -e "$author/src" ] || the_example_of_the_documents; } && install author openperflib-doc &&
        mkdir -p "$author/debs/tests/style" && cp --parents README.md docs/tour.md tests/style/{readme,tree.py} "$author/debs" &&
        inside author sh -c 'id author 2>/dev/null || useradd --create-home author' && by_author /debs/tests/style/readme installed
}

by_author() {
    inside author setpriv --reuid=author --regid=author --init-groups env HOME=/home/author PATH=/usr/bin:/bin "$@"
}

a_sample_is_built() {
    by_author sh -c 'cd /usr/share/doc/openperflib*/examples/samples/enum_process &&
        g++ -std=gnu++11 -fshort-wchar -fpermissive -w enum_process.cpp -o ~/enum_process \
            $(pkg-config --cflags --libs openperflib-win32) && ~/enum_process | grep -w 1'
}

check_readme() {
    try "packages: an ordinary user runs the examples of the README" readme_by_a_user
    try "packages: that user builds a sample of openperflib-doc" a_sample_is_built
}
