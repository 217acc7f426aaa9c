#!/usr/bin/env bash
# Integrates a cluster of 1024 stars for one time unit with forces from the emulated chip.
# usage: demo.sh GDR_PROGRAM [DIRECTORY OF THE PYTHON PACKAGE]
set -eu
gdr=$1
here=$(cd "$(dirname "$0")" && pwd)
out=${GDR_DEMO_OUT:-out/demo}
mkdir -p "$out"

"$gdr" info
echo
echo "A Plummer sphere of 1024 stars (N-body units), leapfrog with steps of 1/1024, softening 1/64;"
echo "the emulated chip computes every force, bit-exactly."
echo
"$gdr" nbody "$here/data/plummer_1024.hdf5" --eps 0.015625 --dt 0.0009765625 --t-end 1 \
       --snapshot-every 0.25 --out "$out"
echo
echo "1024 stars were integrated for one time unit with forces from 512 emulated PEs, in 25 and 61"
echo "significant bits, bit- and cycle-exact. The energy error is that of leapfrog in double precision"
echo "(--compare shows both). Snapshots and the final state are in $out/."

# Draw the snapshots if the Python package was built and matplotlib is installed.
package=${2:-}
if [ -n "$package" ] && [ -f "$package/interpreter" ]; then
  echo
  PYTHONPATH=$package "$(cat "$package/interpreter")" -m gdr show "$out"/snapshot_*.hdf5 \
    -o "$out/stars.png" || echo "No picture was drawn (install python3-matplotlib and python3-h5py)."
fi
