#!/usr/bin/env bash
# Builds the wheel for arm64, and runs under qemu what it contains: self-test, forces with the bits of this machine, a
# native engine, and the Python package with arm64's Python and NumPy.
# A long test, which runs if GDR_TEST_PACKAGES names "arm64".
# usage: test_arm64.sh SOURCE_DIR OUTPUT_DIR [GDR]
# GDR is the command of this machine, with which forces are compared.
set -eu
source=$(cd "$1" && pwd)
mkdir -p "$2"
output=$(cd "$2" && pwd)
host=${3:-}
case ",${GDR_TEST_PACKAGES:-}," in
  *,arm64,*) ;;
  *) echo "skipped: GDR_TEST_PACKAGES does not name arm64"; exit 77 ;;
esac
"$source/cmake/setup.sh" g++-aarch64-linux-gnu qemu-user-static python3-dev python3-venv
"$source/cmake/packaging/arm64/wheel.sh" "$source" "$output"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wheel=$(ls "$output"/gdr-*manylinux*_aarch64.whl)
python3 -m zipfile -e "$wheel" "$work/package"
chmod +x "$work/package/gdr/bin/gdr"
root=$output/sysroot/root
libraries=$root/usr/lib/aarch64-linux-gnu
run() { GDR_CACHE_DIR=none qemu-aarch64-static -L "$root" "$@"; }
gdr=$work/package/gdr/bin/gdr

file -L "$gdr" "$work"/package/gdr/_core*.so | grep -vc aarch64 | grep -qx 0
run "$gdr" --version
run "$gdr" info | grep -q "instruction sets *neon portable "
run "$gdr" selftest --minutes 0.1
cluster=$source/examples/data/plummer_1024.hdf5
for engine in vector native; do
  run "$gdr" force "$cluster" --eps 0.015625 --engine $engine --isa neon -o "$work/$engine.hdf5" >"$work/$engine.txt"
done
if [ -n "$host" ]; then
  "$host" force "$cluster" --eps 0.015625 --isa avx2 -o "$work/host.hdf5" >/dev/null 2>&1 ||
    "$host" force "$cluster" --eps 0.015625 -o "$work/host.hdf5" >/dev/null
  cmp "$work/vector.hdf5" "$work/host.hdf5"
  echo "the forces have the bits of this machine's"
  run "$gdr" selftest --isa neon --cases 50 --states "$work/neon.txt"
  "$host" selftest --cases 50 --states "$work/host.txt"
  cmp "$work/neon.txt" "$work/host.txt"
  echo "so have the states that random programs leave"
fi

version=$(basename "$(readlink -f "$root/usr/bin/python3")")
export PYTHONHOME=$root/usr PYTHONPATH=$work/package:$root/usr/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1
QEMU_SET_ENV=LD_LIBRARY_PATH=$libraries:$libraries/blas:$libraries/lapack \
  run "$root/usr/bin/$version" -c '
import platform, gdr, numpy as np
assert platform.machine() == "aarch64"
position = np.random.default_rng(1).normal(size=(50, 3))
acc, pot = gdr.gravity(position, np.full(50, 0.02), eps=0.1)
d = position[None] - position[:, None]
r2 = (d**2).sum(-1) + 0.01
want = (0.02 * d * r2[..., None] ** -1.5).sum(1)
assert np.abs(acc - want).max() < 1e-6, np.abs(acc - want).max()
print("gdr", gdr.__version__, "on", platform.machine())'
echo "1 passed, 0 failed"
