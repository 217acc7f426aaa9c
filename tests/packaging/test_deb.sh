#!/usr/bin/env bash
# Builds the Debian packages, checks them with lintian, installs them with apt in a new root folder of Debian, and
# uses there what they contain: command, Python package, pkg-config entries in all languages, CMake package.
# A long test, which runs as root if GDR_TEST_PACKAGES names "deb". Needs debootstrap and lintian.
# usage: test_deb.sh SOURCE_DIR OUTPUT_DIR
set -eu
source=$1
output=$2
case ",${GDR_TEST_PACKAGES:-}," in
  *,deb,*) ;;
  *) echo "skipped: GDR_TEST_PACKAGES does not name deb"; exit 77 ;;
esac
[ "$(id -u)" -eq 0 ] || { echo "skipped: chroot needs root"; exit 77; }
"$source/cmake/setup.sh" debhelper dh-python dpkg-dev fakeroot lintian debootstrap python3-dev python3-numpy \
  python3-pybind11 pybind11-dev

"$source/cmake/packaging/deb.sh" "$source" "$output"
found=$(lintian --allow-root --fail-on none "$output"/gdr_*.changes 2>&1 | grep '^[EW]: ' || true)
[ -z "$found" ] || { echo "$found"; echo "lintian found the above"; exit 1; }

. /etc/os-release
root=$output/root
clean() { rm -rf --one-file-system "$root"; }
trap clean EXIT
clean
debootstrap --variant=minbase "$VERSION_CODENAME" "$root" >"$output/debootstrap.log" 2>&1 ||
  { tail -5 "$output/debootstrap.log"; exit 1; }
mkdir -p "$root/packages" "$root/src/tests" "$root/src/examples/data"
cp "$output"/*.deb "$root/packages"
rm -f "$root"/packages/*-dbgsym_*
cp -r "$source/tests/install" "$root/src/tests"
cp "$source/CMakeLists.txt" "$root/src"
cp "$source"/examples/*.{c,cpp,f90} "$root/src/examples"
cp "$source/examples/data/plummer_1024.hdf5" "$root/src/examples/data"

inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 HOME=/root GDR_CACHE_DIR=none "$@"; }
inside sh -c 'DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends /packages/*.deb \
  cmake make g++ gfortran libeigen3-dev pkg-config' >"$output/install.log" 2>&1 || { tail "$output/install.log"; exit 1; }

inside gdr --version
inside gdr selftest --minutes 0.02 >/dev/null
inside gdr force /src/examples/data/plummer_1024.hdf5 --eps 0.015625 -o /tmp/forces.hdf5 >/dev/null
inside python3 -c 'import gdr, numpy as np
acc, pot = gdr.gravity(np.array([[0., 0, 0], [2, 0, 0]]), np.ones(2), eps=0.0)
assert abs(acc[0, 0] - 0.25) < 1e-6, acc
import importlib.metadata
assert importlib.metadata.version("gdr") == gdr.__version__
assert (gdr.get_prefix(), gdr.get_include()) == ("/usr", "/usr/include")
assert gdr.get_pkgconfig_dir().endswith("/pkgconfig") and gdr.get_cmake_dir().endswith("/cmake/gdr")'
# The library for boards of other hosts is loaded; nobody listens there.
inside sh -c 'echo test:0123456789abcdef0123456789abcdef >/tmp/key && chmod 600 /tmp/key'
refused=$(inside gdr boards --test 1 --device board:tcp:127.0.0.1:9,psk=/tmp/key 2>&1 || true)
[[ $refused == *"Connection refused"* ]] || { echo "$refused"; exit 1; }
pc=$(inside sh -c 'dirname /usr/lib/*/pkgconfig/gdr.pc')
entries=$(inside /src/tests/install/pkg_config.sh "$pc" /src)
echo "$entries"
[[ $entries == *"C++ C Eigen Fortran" ]]
inside sh -c 'cmake -S /src/tests/install/client -B /tmp/client -DGDR_SOURCE_DIR=/src && cmake --build /tmp/client &&
  /tmp/client/client && /tmp/client/product && /tmp/client/eigen && /tmp/client/forces' >"$output/client.log" 2>&1 ||
  { tail -20 "$output/client.log"; exit 1; }
# Existing programs link the interfaces of earlier libraries by their names.
inside sh -c 'cc /src/tests/install/client/product.c -lsing -lhib -o /tmp/product && /tmp/product'
inside sh -c 'apt-get purge -y gdr libgdr0 libgdr-grape0 python3-gdr && ! ls /usr/lib/*/libg[56dp]* /usr/lib/python3/dist-packages/gdr' \
  >"$output/purge.log" 2>&1 || { tail "$output/purge.log"; exit 1; }
echo "1 passed, 0 failed"
