# SPDX-License-Identifier: MIT
# Sourced by scripts/package: installs libopenperflib0:i386 beside that of amd64. It is built by dpkg-buildpackage in an
# i386 Debian.
# shellcheck shell=bash disable=SC2154,SC2016

# Makes an i386 Debian with the packages of Build-Depends. Only packages of the release itself are used, because mirrors
# may have incomplete updates.
make_i386_root() {
    local root=$place/i386-root uri needs
    [ ! -d "$root" ] || return 0
    uri=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: bookworm' 'Component: main' | head -n 1)
    uri=${uri:-http://deb.debian.org/debian}
    needs=$(sed -n '/^Build-Depends:/,/^Standards/{s/^Build-Depends://; /^Standards/d; s/([^)]*)//g; s/\[[^]]*\]//g; p}' debian/control |
        sed 's/:[a-z]*//g; s/debhelper-compat/debhelper/' | tr -d ' \n')
    rm -rf "$root.new" && mmdebstrap --quiet --architectures=i386 --variant=apt --mode=root --include="build-essential,$needs" \
        bookworm "$root.new" "deb $uri bookworm main" && mv "$root.new" "$root"
}

build_i386() {
    local build=$place/i386-root/build name
    rm -rf "$build" "$place/i386" && mkdir "$place/i386" && copy_sources "$build" &&
        env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin unshare --mount sh -c 'mount -t proc proc "$0/proc" &&
            chroot "$0" linux32 sh -c "cd /build/openperflib && dpkg-buildpackage -us -uc -B"' "$place/i386-root" && mv "$build"/*.deb "$place/i386" || return 1
    for name in libopenperflib0 libopenperflib-dev; do
        diff <(paths_of "$place/first/${name}_0.1.0_amd64.deb") <(paths_of "$place/i386/${name}_0.1.0_i386.deb") || return 1
    done
}
paths_of() { dpkg-deb -c "$1" | sed 's/.* \.//; s/x86_64-linux-gnu\|i386-linux-gnu/TRIPLET/' | sort; }

both_are_installed() {
    make_root third && inside third dpkg --add-architecture i386 || return 1
    inside third apt-get -qq -o Acquire::Retries=0 update || true # ignores errors: a mirror may lack a part that is not needed here
    install third libopenperflib0 openperflib &&
        cp "$place/i386/libopenperflib0_0.1.0_i386.deb" "$place/third/debs" &&
        inside third apt-get -qqy install --no-install-recommends /debs/libopenperflib0_0.1.0_i386.deb &&
        inside third dpkg --verify && dpkg-deb --fsys-tarfile "$place/i386/openperflib_0.1.0_i386.deb" |
        tar -xOf - ./usr/bin/typeperf | command install -m 755 /dev/stdin "$place/third/usr/bin/typeperf-32"
}
answers_32() { as_user third typeperf-32 -sc 1 "\\$1" | tee /dev/stderr | grep -F "\"$2"; }
shipped_of_its_own() {
    as_user third sh -c 'OPENPERFLIB_TRACE=1 typeperf-32 -sc 1 "\Memory\Available Bytes" 2>&1' | tee /dev/stderr |
        grep -F '/usr/lib/i386-linux-gnu/openperflib/providers/perfos.so runs' && answers_32 'System\Processes' ''
}
third_party_of_its_own() {
    third both 1 1 && third both 1 1 i386 && unpack both_1_amd64.deb both_1_i386.deb && first_is both 1848 &&
        answers both && answers_32 'both\Answer' 14.000000
}
an_index_for_each() {
    local index=$place/third/var/lib/openperflib/registry before
    sleep 3 # waits, because files that changed just now are not put into an index
    inside third typeperf -sc 1 '\System\Processes' && inside third typeperf-32 -sc 1 '\System\Processes' &&
        before=$(stat -c '%i %z' "$index.index" "$index.32.index") &&
        inside third typeperf-32 -sc 1 '\System\Processes' && inside third typeperf -sc 1 '\System\Processes' &&
        [ "$(stat -c '%i %z' "$index.index" "$index.32.index")" = "$before" ]
}
one_goes() {
    inside third dpkg -r both:amd64 && first_is both 1848 && answers_32 'both\Answer' 14.000000 && inside third dpkg -r both &&
        gone both && first_is both 1848
}
one_library_goes() {
    inside third apt-get -qqy purge libopenperflib0:i386 && first_is both 1848 && as_user third typeperf -sc 1 '\System\Processes'
}

check_i386() {
    runs_32_bit || { skip "packages: i386 beside amd64" "32-bit programs cannot be built or do not run here" && return; }
    quietly make_i386_root || { skip "packages: i386 beside amd64" "Debian's archive of i386 cannot be read, see above" && return; }
    try "packages: built for i386 by dpkg-buildpackage, they have the same files" build_i386
    try "packages: it is installed beside that of amd64" both_are_installed
    try "packages: a 32-bit program uses the providers of its own architecture" shipped_of_its_own
    try "packages: and third-party ones of its own" third_party_of_its_own
    try "packages: each architecture's programs write a compiled index once" an_index_for_each
    try "packages: one architecture's provider goes, the other's stays" one_goes
    try "packages: one architecture's library is purged, the numbers stay" one_library_goes
    drop_root third
}
