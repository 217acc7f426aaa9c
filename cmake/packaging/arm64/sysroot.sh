#!/usr/bin/env bash
# Extracts Debian's arm64 packages that a cross build of GDR, and Python under qemu, need. The system's own
# package lists are left alone: apt works with lists of its own in DIR.
# usage: sysroot.sh DIR [PACKAGE...]
# PACKAGE: more of Debian's packages.
set -eu
mkdir -p "$1"
dir=$(cd "$1" && pwd)
shift
packages=(libc6-dev libstdc++-12-dev libgomp1 libfmt-dev libhdf5-dev libaec-dev zlib1g-dev
          libeigen3-dev libcli11-dev nlohmann-json3-dev
          libpython3-dev python3-minimal python3-numpy "$@")

[ ! -e "$dir/complete" ] || exit 0
state=$dir/apt
mkdir -p "$state"/{lists/partial,archives/partial} "$dir/root"
: >"$state/status"
options=(-o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Get::Assume-Yes=true
         -o Dir::State="$state" -o Dir::State::status="$state/status" -o Dir::Cache="$state"
         -o Debug::NoLocking=1 -o APT::Install-Recommends=false -o APT::Sandbox::User=root)
{
  apt-get "${options[@]}" update
  apt-get "${options[@]}" --download-only install "${packages[@]}"
} >"$dir/apt.log" 2>&1 || { tail -20 "$dir/apt.log" >&2; exit 1; }
# The links of a merged /usr first: packages have files under /lib, too.
mkdir -p "$dir/root/usr/bin" "$dir/root/usr/lib"
ln -sfn usr/lib "$dir/root/lib"
ln -sfn usr/bin "$dir/root/bin"
for package in "$state"/archives/*.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar -C "$dir/root" -xf - --keep-directory-symlink
done
# Absolute links lead into the sysroot.
find "$dir/root" -type l -lname '/*' | while read -r link; do
  ln -sfn "$dir/root$(readlink "$link")" "$link"
done
rm -rf "$state"
touch "$dir/complete"
