#!/usr/bin/env bash
# Builds the Debian packages of a source tree, in a copy of the files that git knows.
# usage: deb.sh SOURCE_DIR OUTPUT_DIR
# EXTRA_CMAKE_FLAGS adds options of CMake, DEB_BUILD_OPTIONS is Debian's (parallel=4 nostrip ...).
set -eu
source=$(cd "$1" && pwd)
mkdir -p "$2"
output=$(cd "$2" && pwd)
packaging=$source/cmake/packaging

version=$(sed -n 's/^project(gdr VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
work=$output/gdr-$version
rm -rf "$work"
mkdir -p "$work"
# Packages of another version must not get into a release.
rm -f "$output"/*.deb "$output"/*.buildinfo "$output"/*.changes
# A released archive has no git: its files are those outside of build folders.
files() {
  git -c safe.directory="$source" -C "$source" ls-files -z --cached 2>/dev/null ||
    (cd "$source" && find . -path './build*' -prune -o -path ./out -prune -o -type f -print0)
}
files | (cd "$source" && while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done |
  tar --null -T - -cf -) | tar -C "$work" -xf -

# The packaging of Debian is in debian/ of the copy only.
cp -r "$packaging/debian" "$work/debian"
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$source" log -1 --format=%ct 2>/dev/null || stat -c %Y "$source/CHANGELOG.md")}
maintainer=$(sed -n 's/^Maintainer: //p' "$packaging/debian/control")
cat >"$work/debian/changelog" <<END
gdr ($version) unstable; urgency=medium

  * Version $version: CHANGELOG.md has the changes.

 -- $maintainer  $(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")
END
copyright=$(sed -n 's/^Copyright (c) //p' "$source/LICENSE")
{
  sed "s/@COPYRIGHT@/$copyright/" "$packaging/debian/copyright"
  sed -e '1,4d' -e 's/^$/./' -e 's/^/ /' "$source/LICENSE"
} >"$work/debian/copyright"

# debhelper gives the build another home, in which ccache finds neither its configuration nor its files.
if command -v ccache >/dev/null; then
  export CCACHE_DIR=${CCACHE_DIR:-$(ccache --get-config cache_dir)}
  export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$output} CCACHE_NOHASHDIR=1
fi

log=$output/build.log
if ! (cd "$work" && DEB_BUILD_OPTIONS="nocheck parallel=${JOBS:-$(nproc)} ${DEB_BUILD_OPTIONS:-}" \
        dpkg-buildpackage -us -uc -b) >"$log" 2>&1; then
  tail -60 "$log" >&2
  echo "deb: the packages were not built; $log has the whole output" >&2
  exit 1
fi
rm -rf "$work"
ls "$output"/*.deb
