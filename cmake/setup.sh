#!/usr/bin/env bash
# Installs the Debian packages that the build needs and that are not there yet; further names may be
# given as arguments. Where the user may not install, says what to install, and stops.
set -eu

packages=(cmake ninja-build g++ gfortran pkg-config ccache python3 catch2 libeigen3-dev libhdf5-dev
          libcli11-dev libfmt-dev libxbyak-dev nlohmann-json3-dev libmpfr-dev libgmp-dev zlib1g-dev
          libopenmpi-dev openmpi-bin
          "$@")

if ! command -v dpkg-query >/dev/null; then
  # Another distribution: CMake will name what it does not find.
  command -v cmake >/dev/null && exit 0
  echo "set-up: this is no Debian or Ubuntu. Please install what these packages hold:" >&2
  echo "  ${packages[*]}" >&2
  exit 1
fi

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' ||
    missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
  if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root=sudo
  else
    echo "set-up: packages are missing, and this user may not install them. Please run:" >&2
    echo "  sudo apt-get install ${missing[*]}" >&2
    exit 1
  fi
fi

echo "set-up: installing ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() { $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"; }
# The package lists of a new machine are empty or old; they are fetched once if the first try fails.
if ! install "${missing[@]}" >"$log" 2>&1; then
  if ! { $as_root apt-get update && install "${missing[@]}"; } >"$log" 2>&1; then
    cat "$log" >&2
    echo "set-up: could not install ${missing[*]}" >&2
    exit 1
  fi
fi
