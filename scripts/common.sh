# SPDX-License-Identifier: MIT
# Sourced by ./run, ./test and the scripts here: quiet commands, sections with durations, and the
# folder of the project in $top.
# shellcheck shell=bash

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

die() {
    echo "${0##*/}: $1" >&2
    exit "${2:-1}"
}

# Ends the script with exit code 77: scripts/ci counts its row as skipped, because it cannot run on this machine.
cannot() { die "$1" 77; }

# limit SECONDS ARGUMENT...: starts the script again with these arguments, and ends it after that time with exit code 124.
limit() {
    [ "${LIMITED-}" != "$0" ] || return 0
    LIMITED=$0 exec timeout --verbose --kill-after=20 "$1" "$0" "${@:2}"
}

# higher_version DEB FOLDER: writes the same package with the version 0.1.0+upgrade to the folder.
higher_version() {
    local name unpacked
    name=$(basename "$1")
    unpacked=$(mktemp -d)
    dpkg-deb -R "$1" "$unpacked/package" && sed -i 's/\(0\.1\.0\)/\1+upgrade/' "$unpacked/package/DEBIAN/control" &&
        quietly dpkg-deb --root-owner-group -b "$unpacked/package" "$2/${name/_0.1.0_/_0.1.0+upgrade_}" && rm -rf "$unpacked"
}

# Fills the array `sources` with the files of apt's package sources on this machine, for mmdebstrap.
find_sources() {
    # shellcheck disable=SC2034
    mapfile -t sources < <(find /etc/apt -maxdepth 2 -name '*.sources' -o -maxdepth 2 -name '*.list' -size +0)
}

# Runs a command without its output, and prints all of it if the command fails.
quietly() {
    local log status=0
    log=$(mktemp)
    "$@" >"$log" 2>&1 </dev/null || status=$?
    [ "$status" = 0 ] || cat "$log" >&2
    rm -f "$log"
    return "$status"
}

# configure FOLDER OPTION...: creates the build folder, or sets these options in an existing one.
configure() {
    local folder=$1
    shift
    if [ -f "$folder/build.ninja" ]; then
        quietly meson configure "$folder" "$@"
    else
        quietly meson setup "$folder" "$top" "$@"
    fi
}

build() {
    quietly ninja --quiet -C "$1"
}

# Builds. On a terminal ninja shows its progress; without one, one line is printed, but none if all is up to date.
build_visibly() {
    local folder=$1 steps
    steps=$(ninja -C "$folder" -n 2>/dev/null | sed -n 's,^\[[0-9]*/\([0-9]*\)\].*,\1,p' | tail -n 1)
    [ -n "$steps" ] || { build "$folder"; return; }
    if [ -t 1 ] && [ "${TERM-dumb}" != dumb ]; then
        (cd "$folder" && NINJA_STATUS='building openperflib [%f/%t, %es] ' ninja) && printf '\r\033[K'
    else
        echo "building openperflib in ${folder##*/}/: $steps steps, usually less than a minute"
        build "$folder"
    fi
}

# Sets the environment variables with which programs of a build folder run without being installed.
enter_environment() {
    local dump
    dump=$(meson devenv -C "$1" --dump) || die "meson devenv -C $1 failed; delete that folder and try again"
    set +u # the variables that $dump extends may be unset
    eval "$dump"
    set -u
    # meson ends an empty list with a colon, which would mean the current folder
    LD_LIBRARY_PATH=${LD_LIBRARY_PATH%:}
}

# Can 32-bit programs be built and run here? Some kernels and containers run 64-bit programs only.
runs_32_bit() {
    local folder status=0
    folder=$(mktemp -d)
    echo 'int main(void) { return 0; }' | gcc -m32 -x c -o "$folder/program" - && "$folder/program" || status=$?
    rm -rf "$folder"
    return $status
}
