#!/usr/bin/env bash
# The main job: a cluster of 1024 stars for one time unit, every force computed by the emulated chip.
# usage: demo.sh GDR_PROGRAM [FOLDER OF THE PYTHON PACKAGE]
set -eu
gdr=$1
here=$(cd "$(dirname "$0")" && pwd)
out=${GDR_DEMO_OUT:-out/demo}
mkdir -p "$out"

"$gdr" info
echo
echo "A Plummer sphere of 1024 stars (N-body units), leapfrog with steps of 1/1024, softening 1/64;"
echo "every force is computed by the emulated chip, exact to the last bit."
echo
"$gdr" nbody "$here/data/plummer_1024.hdf5" --eps 0.015625 --dt 0.0009765625 --t-end 1 \
       --snapshot-every 0.25 --out "$out"
echo
echo "What this showed: 1024 stars moved for one time unit under forces that 512 emulated PEs computed in"
echo "25 and 61 significant bits, exact to the last bit and clock; energy kept as leapfrog in double keeps"
echo "it (add --compare to see both). Snapshots and the last state are in $out/."

# The picture at the end, where the Python package was built and has matplotlib.
package=${2:-}
if [ -n "$package" ] && [ -f "$package/interpreter" ]; then
  echo
  PYTHONPATH=$package "$(cat "$package/interpreter")" -m gdr show "$out"/snapshot_*.hdf5 \
    -o "$out/stars.png" || echo "No picture was drawn (python3-matplotlib and python3-h5py would do)."
fi
