#!/usr/bin/env bash
# Integrates a cluster of 1024 stars for one time unit with forces from the emulated chip; then films
# the merger of two clusters, on the same chip compiled for this CPU.
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

# Draw the snapshots and the film if the Python package was built and matplotlib is installed.
package=${2:-}
if [ -n "$package" ] && [ -f "$package/interpreter" ]; then
  echo
  export PYTHONPATH=$package
  python=$(cat "$package/interpreter")
  if "$python" -m gdr show "$out"/snapshot_*.hdf5 -o "$out/stars.png"; then
    echo
    echo "Two clusters fall towards each other and merge; the engine \"native\" computes the same"
    echo "kernel among doubles, at the speed of hand-written SIMD code:"
    echo
    "$python" -m gdr demo --out "$out" --device emulator:engine=native --quiet
    echo
    echo "merger.gif is the film, merger.png its first and last picture."
  else
    echo "No picture was drawn (install python3-matplotlib, python3-h5py and python3-pil)."
  fi
fi
