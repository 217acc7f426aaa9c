#!/usr/bin/env bash
# Installs a build into a fresh prefix, moves it, and builds a client against it outside the tree:
# with find_package, with pkg-config in every language, with the link names of the original library, and runs the
# installed program.
# usage: run.sh BUILD_DIR SOURCE_DIR
set -eu
build=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/first" >"$work/log" || { cat "$work/log"; exit 1; }
mv "$work/first" "$work/moved"  # nothing in it may remember where it was

cp -r "$source/tests/install/client" "$work/client"
cmake -S "$work/client" -B "$work/client/build" -DCMAKE_PREFIX_PATH="$work/moved" \
      -DGDR_SOURCE_DIR="$source" >"$work/log" 2>&1 ||
  { cat "$work/log"; exit 1; }
cmake --build "$work/client/build" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$work/client/build/client"
"$work/client/build/product"
[ ! -e "$work/client/build/eigen" ] || "$work/client/build/eigen"
# The client finds the Fortran module and the libraries for other codes that are installed.
if [ -n "$(find "$work/moved" -name libgdr_fortran.a)" ]; then "$work/client/build/forces"; fi

pc=$(dirname "$(find "$work/moved" -name gdr.pc)")
libdir=$(PKG_CONFIG_PATH=$pc pkg-config --variable=libdir gdr)
"$source/tests/install/pkg_config.sh" "$pc" "$source" | tee "$work/languages"
if [ -n "$(find "$work/moved" -name libgdr_fortran.a)" ]; then grep -q Fortran "$work/languages"; fi
if pkg-config --exists eigen3; then grep -q Eigen "$work/languages"; fi

# Without the libraries for other codes find_package finds the rest.
for component in library development; do
  cmake --install "$build" --prefix "$work/parts" --component "$component" >"$work/log" || { cat "$work/log"; exit 1; }
done
mkdir "$work/small"
cat >"$work/small/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.22)
project(small LANGUAGES CXX)
find_package(gdr REQUIRED)
add_executable(client ../client/client.cpp)
target_link_libraries(client PRIVATE gdr::gdr)
END
cmake -S "$work/small" -B "$work/small/build" -DCMAKE_PREFIX_PATH="$work/parts" >"$work/log" 2>&1 &&
  cmake --build "$work/small/build" >>"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$work/small/build/client"

# A component that does not exist is named, and what to write instead.
mkdir "$work/components"
cat >"$work/components/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.22)
project(components LANGUAGES CXX)
find_package(gdr REQUIRED COMPONENTS core)
END
if cmake -S "$work/components" -B "$work/components/build" -DCMAKE_PREFIX_PATH="$work/parts" >"$work/log" 2>&1; then
  echo "find_package(gdr REQUIRED COMPONENTS core) succeeds"; exit 1
fi
tr -s ' \n' ' ' <"$work/log" | grep -q 'gdr has no component core: use find_package(gdr) without COMPONENTS' ||
  { cat "$work/log"; echo "the missing component is not named"; exit 1; }

# Packages of distributions are assembled below DESTDIR, and find their own files there.
DESTDIR=$work/root cmake --install "$build" --prefix /opt/gdr >"$work/log" || { cat "$work/log"; exit 1; }
staged=$(dirname "$(find "$work/root" -name gdr.pc)")
[ "$(PKG_CONFIG_PATH=$staged pkg-config --variable=libdir gdr | xargs realpath)" = "$(realpath "$staged/..")" ]
"$source/tests/install/pkg_config.sh" "$staged" "$source" quickly

# The original's library names, as its Makefiles link them.
${CC:-cc} "$work/client/product.c" -I"$work/moved/include" -L"$libdir" -lsing -lhib -o "$work/product"
LD_LIBRARY_PATH=$libdir "$work/product"

# The GRAPE libraries, by their pkg-config entries and by all names of headers and libraries.
for name in g6lib sapporo_light; do
  read -ra flags <<<"$(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs "$name")"
  ${CXX:-c++} -std=c++20 "$source/tests/grape/client.cpp" "${flags[@]}" \
              -Wl,-rpath-link,"$libdir" -o "$work/grape_client"
  LD_LIBRARY_PATH=$libdir "$work/grape_client"
done
${CC:-cc} "$source/tests/grape/names.c" -I"$work/moved/include" -L"$libdir" \
          -lsapporo -lpg5 -lg5a -lg75 -lphibdma -lgpunb -lm -Wl,-rpath-link,"$libdir" -o "$work/grape_names"
LD_LIBRARY_PATH=$libdir "$work/grape_names"
# The static archives, by the flags of their entries, in C and C++: the program needs none of their shared libraries.
archives=$work/archives
mkdir "$archives"
find "$libdir" -maxdepth 1 \( -name '*.a' -o -name 'libgdr.so*' \) -exec cp -P {} "$archives" \;
read -ra private <<<"$(PKG_CONFIG_PATH=$pc pkg-config --static --libs-only-l g6lib)"
${CC:-cc} "$source/tests/grape/names.c" -I"$work/moved/include" -L"$archives" \
          -lsapporo -lpg5 -lg5a -lg75 -lphibdma -lgpunb "${private[@]}" -o "$work/grape_static"
${CXX:-c++} -std=c++11 "$source/tests/grape/sapporo_client.cpp" -I"$work/moved/include" -L"$archives" \
            -lsapporo "${private[@]}" -o "$work/sapporo_static"
for program in grape_static sapporo_static; do
  if readelf -d "$work/$program" | grep -E 'NEEDED.*lib(g5|g6|gpunb)'; then
    echo "$program needs a shared library beside its archives"
    exit 1
  fi
  LD_LIBRARY_PATH=$libdir "$work/$program"
done

# The BLAS, as the system's and before it, for a program that knows of neither.
system=$build/tests/blas/blas_system
if [ -x "$system" ]; then
  for way in LD_PRELOAD="$libdir/libgdrblas.so" LD_LIBRARY_PATH="$libdir/gdr/blas"; do
    env GDR_BLAS_STATS=1 GDR_BLAS_THRESHOLD=0 "$way" "$system" 2>&1 | grep -q 'device=2 host=0' ||
      { echo "$way does not lead to the device"; exit 1; }
  done
fi

# Manual pages and completion scripts, where man and the shells look for them.
for file in man/man1/gdr.1 man/man1/gdr-nbody.1 bash-completion/completions/gdr zsh/site-functions/_gdr \
            fish/vendor_completions.d/gdr.fish; do
  [ -s "$work/moved/share/$file" ] || { echo "share/$file is not installed"; exit 1; }
done
if command -v man >/dev/null; then
  MANPATH=$work/moved/share/man man -P cat gdr-nbody | grep -q -e '--t-end' ||
    { echo "man does not show the installed page"; exit 1; }
fi

env -u LD_LIBRARY_PATH "$work/moved/bin/gdr" --version
echo "1 passed, 0 failed"
