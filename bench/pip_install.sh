#!/usr/bin/env bash
# Time of `pip install .` from clean to import: a clone of this tree, a new environment, no compiler cache.
# Processor time is that of all processes, user and system; other work on the machine affects it least.
#
# usage: bench/pip_install.sh [PYTHON]      (python3; the packages are fetched, too)
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
git clone -q "$top" "$place/source"
export CCACHE_DISABLE=1
install_and_import() {
  "${1:-python3}" -m venv "$place/environment"
  (cd "$place/source" && "$place/environment/bin/pip" install -q .)
  cd "$place"
  "$place/environment/bin/python" -c '
import gdr, numpy
gdr.gravity(numpy.random.rand(100, 3), numpy.ones(100), 0.1)'
}
TIMEFORMAT="pip install and import: %R seconds; processor: %U user and %S system"
time install_and_import "$@"
