# SPDX-License-Identifier: MIT
# Sourced by scripts/package: an ordinary user of the system with the installed packages runs every example of the
# README and of docs/tour.md. The one sample that they need is built from the sources in openperflib-doc.
# shellcheck shell=bash disable=SC2154,SC2016

readme_by_a_user() {
    local author=$place/author
    { [ -e "$author/src" ] || the_example_of_the_documents; } && install author openperflib-doc &&
        mkdir -p "$author/debs/tests/style" && cp --parents README.md docs/tour.md tests/style/{readme,tree.py} "$author/debs" &&
        inside author sh -c 'cd /usr/share/doc/openperflib*/examples/samples/enum_process &&
            g++ -std=gnu++11 -fshort-wchar -fpermissive -w enum_process.cpp -o /usr/local/bin/enum_process \
                $(pkg-config --cflags --libs openperflib-win32)' &&
        inside author sh -c 'id author 2>/dev/null || useradd --create-home author' &&
        inside author setpriv --reuid=author --regid=author --init-groups env HOME=/home/author \
            PATH=/usr/local/bin:/usr/bin:/bin /debs/tests/style/readme installed
}

check_readme() {
    try "packages: an ordinary user runs the examples of the README" readme_by_a_user
}
