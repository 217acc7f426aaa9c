#!/usr/bin/env bash
# Installs what a wheel needs in an image of manylinux, whose distribution is older: the versions that
# dependencies.toml names, built from their sources. cibuildwheel runs this script once in its image
# (pyproject.toml, before-all).
# usage: manylinux.sh
set -eu
packaging=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=$(command -v python3.11 || command -v /opt/python/cp311-cp311/bin/python)

"$python" - "$packaging/dependencies.toml" >"$work/sources" <<'END'
import sys, tomllib
for name, row in tomllib.load(open(sys.argv[1], "rb")).items():
    if "source" in row:
        print(name, row["debian"], *row["source"])
END

# Only what the command uses of them: no tests, tools or examples.
options=(-DCMAKE_BUILD_TYPE=Release -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_TESTING=OFF
         -DFMT_TEST=OFF -DFMT_DOC=OFF -DBUILD_SHARED_LIBS=OFF -DJSON_BuildTests=OFF
         -DCLI11_BUILD_TESTS=OFF -DCLI11_BUILD_EXAMPLES=OFF -DCLI11_BUILD_DOCS=OFF
         -DHDF5_BUILD_TOOLS=OFF -DHDF5_BUILD_EXAMPLES=OFF -DHDF5_BUILD_HL_LIB=OFF -DHDF5_BUILD_CPP_LIB=OFF
         -DHDF5_ENABLE_Z_LIB_SUPPORT=ON -DEIGEN_BUILD_DOC=OFF -DEIGEN_TEST_NOQT=ON)
while read -r name package repository tag; do
  git clone --quiet --depth 1 --branch "$tag" "$repository" "$work/$name"
  cmake -S "$work/$name" -B "$work/$name-build" "${options[@]}"
  cmake --build "$work/$name-build" -j "$(nproc)"
  cmake --install "$work/$name-build" --prefix /usr/local
  # For licences.cmake: the first file with one of the usual names.
  licence=$(find "$work/$name" -maxdepth 2 -type f \( -iname 'licen[cs]e*' -o -iname 'copy*' \) | sort | head -n 1)
  install -D -m 644 "$licence" "/usr/local/share/doc/$package/copyright"
done <"$work/sources"
