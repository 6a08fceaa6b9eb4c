# SPDX-License-Identifier: MIT
# Sourced by scripts/package: libopenperflib0:i386 beside that of amd64. It is put together here from a build with
# gcc -m32 and the other package's documents, because the packages to build all of ours for i386 are not needed for that.
# shellcheck shell=bash disable=SC2154

make_i386() {
    local folder=$place/i386-package build=$place/m32 all=$place/m32-root deb=$place/first/libopenperflib0_0.1.0_amd64.deb
    local -x CC='gcc -m32' CXX='g++ -m32' PKG_CONFIG_LIBDIR=/usr/lib/i386-linux-gnu/pkgconfig
    configure "$build" --buildtype=plain \
        -Doptimization=2 --prefix=/usr --libdir=lib/i386-linux-gnu -Dtests=false -Ddocs=false -Dbpf=disabled -Dsamba=disabled \
        -Dsmb=disabled && ninja -C "$build" && DESTDIR=$all meson install -C "$build" --no-rebuild --quiet || return 1
    rm -rf "$folder" "$place/i386" && mkdir "$place/i386" && dpkg-deb -R "$deb" "$folder" && rm -r "$folder/usr/lib" && mkdir -p "$folder/usr/lib/i386-linux-gnu" &&
        cp -a "$all"/usr/lib/i386-linux-gnu/{libopenperflib.so.*,openperflib} "$folder/usr/lib/i386-linux-gnu" &&
        sed -i 's/^Architecture: .*/Architecture: i386/' "$folder/DEBIAN/control" && sed -i '/ usr\/lib\//d' "$folder/DEBIAN/md5sums" &&
        dpkg-deb --root-owner-group -b "$folder" "$place/i386/libopenperflib0_0.1.0_i386.deb" &&
        diff <(paths_of "$deb") <(paths_of "$place/i386/libopenperflib0_0.1.0_i386.deb")
}
paths_of() { dpkg-deb -c "$1" | sed 's/.* \.//; s/x86_64-linux-gnu\|i386-linux-gnu/TRIPLET/' | sort; }

both_are_installed() {
    make_root third && inside third dpkg --add-architecture i386 || return 1
    inside third apt-get -qq -o Acquire::Retries=0 update || true # a mirror may lack a part that is not needed
    install third libopenperflib0 openperflib &&
        cp "$place/i386/libopenperflib0_0.1.0_i386.deb" "$place/third/debs" &&
        inside third apt-get -qqy install --no-install-recommends /debs/libopenperflib0_0.1.0_i386.deb &&
        inside third dpkg --verify && cp "$place/m32/tools/typeperf" "$place/third/usr/bin/typeperf-32"
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
one_goes() {
    inside third dpkg -r both:amd64 && first_is both 1848 && answers_32 'both\Answer' 14.000000 && inside third dpkg -r both &&
        gone both && first_is both 1848
}
one_library_goes() {
    inside third apt-get -qqy purge libopenperflib0:i386 && first_is both 1848 && as_user third typeperf -sc 1 '\System\Processes'
}

check_i386() {
    runs_32_bit || { skip "packages: i386 beside amd64" "32-bit programs cannot be built or do not run here" && return; }
    try "packages: libopenperflib0:i386 has the same files" make_i386
    try "packages: it is installed beside that of amd64" both_are_installed
    try "packages: a 32-bit program uses the providers of its own architecture" shipped_of_its_own
    try "packages: and third-party ones of its own" third_party_of_its_own
    try "packages: one architecture's provider goes, the other's stays" one_goes
    try "packages: one architecture's library is purged, the numbers stay" one_library_goes
    drop_root third
}
