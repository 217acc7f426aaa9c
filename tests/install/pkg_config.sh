#!/usr/bin/env bash
# Builds and runs a program in C++, C, Fortran and with Eigen by the pkg-config entries of an installation.
# Fortran only if the installation has its module, Eigen only if pkg-config finds it.
# With "quickly" it leaves out C++ and Eigen, whose headers take seconds to compile: the entries find their files.
# usage: pkg_config.sh DIRECTORY_OF_GDR_PC SOURCE_DIR [quickly]
set -eu
export PKG_CONFIG_PATH=$1
source=$2
quickly=${3:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

libdir=$(pkg-config --variable=libdir gdr)
# build ENTRY COMPILER... : compiles with the entry's flags and runs the program.
build() {
  local entry=$1 flags
  shift
  read -ra flags <<<"$(pkg-config --cflags --libs "$entry")"
  "$@" "${flags[@]}" -o "$work/program"
  LD_LIBRARY_PATH=$libdir "$work/program" >"$work/output" ||
    { cat "$work/output"; echo "the program of $entry in $PKG_CONFIG_PATH failed"; exit 1; }
}

[ "$(pkg-config --modversion gdr)" = "$(sed -n 's/^project(gdr VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")" ]
build "gdr >= 0.1" "${CC:-cc}" -std=c99 "$source/examples/forces.c" -lm
built="C"
if [ -z "$quickly" ]; then
  build gdr "${CXX:-c++}" -std=c++20 "$source/tests/install/client/client.cpp"
  built+=" C++"
fi
if [ -z "$quickly" ] && pkg-config --exists eigen3; then
  build gdr-eigen "${CXX:-c++}" -std=c++20 "$source/examples/eigen.cpp"
  built+=" Eigen"
fi
if pkg-config --exists gdr-fortran; then
  build gdr-fortran "${FC:-gfortran}" "$source/examples/forces.f90"
  built+=" Fortran"
fi
echo "pkg-config entries in $1: $built"
