#!/usr/bin/env bash
# Installs programs from PyPI into an environment of their own, build/NAME, unless it has them. If that fails, prints
# the reason, and leaves no environment: what needs one is skipped.
# usage: cmake/python_tools.sh NAME REQUIREMENTS
set -u
cd "$(dirname "$0")/.." || exit

place=build/$1 requirements=$2
installed=$place/$(basename "$requirements")
cmp -s "$requirements" "$installed" && exit 0
mkdir -p build
if ! { python3 -m venv "$place" && "$place/bin/pip" install --quiet -r "$requirements" &&
  cp "$requirements" "$installed"; } >"$place.log" 2>&1; then
  rm -rf "$place"
  echo "setup: no $place (reason: $place.log)"
fi
