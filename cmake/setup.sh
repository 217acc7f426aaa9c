#!/usr/bin/env bash
# Installs missing Debian packages: those that the build needs, and those given as arguments. If the
# user may not install packages, prints the command that installs them, and fails.
set -eu

packages=(cmake ninja-build g++ gfortran pkg-config ccache python3 catch2 libeigen3-dev libhdf5-dev
          libcli11-dev libfmt-dev libxbyak-dev nlohmann-json3-dev libmpfr-dev libgmp-dev zlib1g-dev
          libopenmpi-dev openmpi-bin libssl-dev libasio-dev
          "$@")

if ! command -v dpkg-query >/dev/null; then
  # Another distribution: CMake reports what is missing.
  command -v cmake >/dev/null && exit 0
  echo "setup: this is not Debian or Ubuntu. Please install the equivalents of these packages:" >&2
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
    echo "setup: packages are missing, and this user may not install them. Please run:" >&2
    echo "  sudo apt-get install ${missing[*]}" >&2
    exit 1
  fi
fi

echo "setup: installing ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() { $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"; }
# On a new machine the package lists are empty or outdated: update them if the first attempt fails.
if ! install "${missing[@]}" >"$log" 2>&1; then
  if ! { $as_root apt-get update && install "${missing[@]}"; } >"$log" 2>&1; then
    cat "$log" >&2
    echo "setup: could not install ${missing[*]}" >&2
    exit 1
  fi
fi
