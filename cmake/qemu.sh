#!/usr/bin/env bash
# Builds QEMU with the device gdr-board (emulator/board/qemu) from Debian's source package, and
# fetches what a guest consists of: Debian's cloud kernel, busybox, and the firmware. Everything is
# kept in build/qemu, and nothing is installed; `make qemu` installs the packages that this needs.
# The first run takes some twenty minutes. A later one compiles the device again if it has changed.
# $1: number of parallel jobs.
set -eu
cd "$(dirname "$0")/.."

jobs=${1:-2} place=build/qemu device=$PWD/emulator/board/qemu
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
mkdir -p $place
cd $place
log=$PWD/setup.log

exec 3>&2  # for messages of functions whose output goes to the log
fail() {
  echo "qemu: $1 (log: $log)" >&3
  exit 1
}

# apt with a configuration of its own: the host's package lists have no sources.
fetch_source() {
  command -v apt-get >/dev/null || fail "Debian's source package is needed, and this host has no apt-get"
  mkdir -p apt/lists/partial apt/cache/archives/partial
  apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Origin: Debian' 'Component: main' 'Created-By: Packages' |
    sort -u | while read -r uri release; do echo "deb-src [signed-by=$keyring] $uri $release main"; done >apt/sources.list
  [ -s apt/sources.list ] || fail "this host has no package lists of Debian; run apt-get update"
  local options=(-o Dir::Etc::sourcelist="$PWD/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null
                 -o Dir::State::lists="$PWD/apt/lists" -o Dir::Cache="$PWD/apt/cache" -o APT::Sandbox::User=)
  apt-get "${options[@]}" update && apt-get "${options[@]}" source --download-only qemu && ls qemu_7.2*.dsc
}

configure() {
  local compiler=cc
  command -v ccache >/dev/null && compiler="ccache cc"
  (cd source && ./configure --cc="$compiler" --meson=meson --ninja=ninja --target-list=x86_64-softmmu \
    --without-default-features --enable-kvm --enable-tcg --enable-fdt=system --disable-docs \
    --disable-tools --disable-guest-agent --disable-install-blobs --audio-drv-list= \
    --with-pkgversion=gdr)
}

# Unpacks a Debian package into the folder $2; "apt-get download" needs no root.
unpack() {
  mkdir -p packages
  (cd packages && rm -f "$1"_*.deb && apt-get -o APT::Sandbox::User= download "$1")
  rm -rf "$2"
  dpkg-deb -x packages/"$1"_*.deb "$2"
}

fetch_guest() {
  local kernel
  kernel=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
  [ -n "$kernel" ] || fail "the package lists have no linux-image-cloud-amd64; run apt-get update"
  unpack "$kernel" kernel && unpack busybox-static busybox && unpack seabios seabios &&
    unpack qemu-system-data data
}

if [ ! -d source ]; then
  echo "qemu: fetching the source package"
  fetch_source >"$log" 2>&1 || fail "Debian has no source package of QEMU 7.2 for this host"
  rm -rf unpacked
  dpkg-source --no-check -x qemu_7.2*.dsc unpacked >>"$log" 2>&1 || fail "the source package cannot be unpacked"
  mv unpacked source
fi
if [ ! -f guest.complete ]; then
  echo "qemu: fetching kernel, busybox and firmware of the guest"
  fetch_guest >"$log" 2>&1 || fail "the packages of the guest cannot be fetched"
  touch guest.complete
fi

# The device joins the sources; files keep their times if they have not changed.
for file in gdr_board.c board_device.h; do
  cmp -s "$device/$file" source/hw/misc/$file || cp "$device/$file" source/hw/misc/$file
done
rule="softmmu_ss.add(when: 'CONFIG_PCI', if_true: files('gdr_board.c'))"
grep -qF "$rule" source/hw/misc/meson.build || echo "$rule" >>source/hw/misc/meson.build

if [ ! -f source/build/build.ninja ]; then
  echo "qemu: configuring"
  configure >"$log" 2>&1 || fail "QEMU cannot be configured"
fi
[ -x source/build/qemu-system-x86_64 ] || echo "qemu: compiling"
nice -n 15 ninja -C source/build -j "$jobs" qemu-system-x86_64 >"$log" 2>&1 || fail "QEMU cannot be compiled"
