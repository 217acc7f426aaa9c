#!/usr/bin/env bash
# The build of the conda package.
set -eu
cmake -S . -B build -G Ninja ${CMAKE_ARGS:-} \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_INSTALL_LIBDIR=lib \
  -DCCACHE=OFF -DMPICH_COMPILER=OFF -DGDR_ULFM_MPICC=OFF \
  -DGDR_TESTS=OFF -DGDR_BENCH=OFF -DGDR_PYTHON=ON -DGDR_PYTHON_EXECUTABLE="$PYTHON" \
  -DGDR_PYTHON_INSTALL_DIR="${SP_DIR#"$PREFIX"/}"
cmake --build build -j "${CPU_COUNT:-2}" --target gdr_installed
cmake --install build
