#!/usr/bin/env bash
# The two parts of `make demo`.
# usage: demo.sh merger DIRECTORY_OF_THE_PYTHON_PACKAGE
#          films the merger of two clusters of stars, on the chip's kernel compiled for this CPU
#        demo.sh cluster GDR_PROGRAM [DIRECTORY_OF_THE_PYTHON_PACKAGE]
#          integrates a cluster of 1024 stars for one time unit with forces in doubles, and for a quarter with
#          forces from the emulated chip
# Pictures need the Python package and matplotlib; without them, `merger` does nothing.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${GDR_DEMO_OUT:-out/demo}
mkdir -p "$out"

# Sets `python` to the interpreter of the package in directory $1, and finds the package there.
use_package() {
  [ -n "$1" ] && [ -f "$1/interpreter" ] || return 1
  python=$(cat "$1/interpreter")
  export PYTHONPATH=$1
}

# Runs a command of the package that draws; explains what is missing if it fails.
draw() {
  "$python" -m gdr "$@" || {
    echo "No picture was drawn (install python3-matplotlib, python3-h5py and python3-pil)."
    return 1
  }
}

merger() {
  use_package "$1" || return 0
  echo "Two clusters of stars fall towards each other and merge; the engine \"native\" computes the"
  echo "forces among doubles, with the chip's kernel compiled for this CPU:"
  echo
  draw demo --out "$out" --device emulator:engine=native --quiet || return 0
  echo
  echo "merger.png shows three moments of the merger, and merger.gif is the film. The program \"gdr\" is"
  echo "built next."
  echo
}

cluster() {
  local gdr=$1
  "$gdr" info
  echo
  local start=("$here/data/plummer_1024.hdf5" --eps 0.015625 --dt 0.0009765625)
  echo "A Plummer sphere of 1024 stars (N-body units), leapfrog with steps of 1/1024, softening 1/64;"
  echo "the default engine, native, computes every force among doubles on this CPU."
  echo
  "$gdr" nbody "${start[@]}" --t-end 1 --snapshot-every 0.25 --out "$out"
  echo
  echo "The same to t = 0.25 with --exact: forces from 512 emulated PEs, in 25 and 61 significant bits,"
  echo "exact in every bit and clock."
  echo
  "$gdr" nbody "${start[@]}" --t-end 0.25 --exact --out "$out/exact"
  echo
  echo "The energy error is that of leapfrog (--compare shows that of doubles beside it). Snapshots and"
  echo "the final state are in $out/."
  if use_package "${2:-}"; then
    echo
    draw show "$out"/snapshot_*.hdf5 -o "$out/stars.png" || true
  fi
}

case ${1:-} in
merger | cluster) "$@" ;;
*)
  sed -n '2,7s/^# //p' "$0" >&2
  exit 2
  ;;
esac
