#!/usr/bin/env python3
"""Makes the source distribution twice, compares the bytes, and installs it as a user without root would.

The installation is a long test, which runs if GDR_TEST_PACKAGES names "sdist": the host's headers of all libraries but
those of the compiler and of Python are hidden (in a mount namespace of this user), and pip builds in an empty virtual
environment with what PyPI has. Its processor time is printed. Skipped where namespaces or PyPI are not to be had.

usage: test_sdist.py SOURCE_DIR OUTPUT_DIR       makes it and installs it
       test_sdist.py --installed SOURCE_DIR      tests the package of this Python
"""

from __future__ import annotations

import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tarfile
import tempfile

from test_wheel import NOT_RUN, check_library, check_package, run

HIDDEN = (
    "eigen3 fmt nlohmann CLI xbyak hdf5 openssl asio asio.hpp zlib.h zconf.h mpi.h openmpi mpich"
)
# What pip builds and imports; the package is then used like one of a wheel.
INSTALL = """
set -eu
include=$1 archive=$2 environment=$3 checker=$4 source=$5
mount --bind "$include" /usr/include
for folder in /usr/{lib,share}/cmake /usr/share/pkgconfig /usr/lib/*/{cmake,pkgconfig,openmpi/include}; do
  [ ! -d "$folder" ] || mount -t tmpfs none "$folder"
done
for program in $(ls /usr/bin/h5*cc /usr/bin/mpicc* /usr/bin/ccache /usr/bin/cmake /usr/bin/ninja 2>/dev/null); do
  mount --bind /dev/null "$program"
done
env -u PYTHONPATH "$environment/bin/pip" install --quiet --no-cache-dir --disable-pip-version-check "$archive"
cd /
"$environment/bin/python" "$checker" --installed "$source"
"""


def make(source: pathlib.Path, output: pathlib.Path) -> pathlib.Path:
    command = [sys.executable, str(source / "cmake/packaging/sdist.py"), str(source), str(output)]
    made = subprocess.run(command, capture_output=True, text=True)
    if "cannot be installed" in made.stderr:
        print(f"skipped: {made.stderr}")
        sys.exit(NOT_RUN)
    assert made.returncode == 0, made.stderr
    (archive,) = output.glob("gdr-*.tar.gz")
    return archive


def check_contents(archive: pathlib.Path) -> None:
    """Sources, headers with licences, and nothing of builds."""
    with tarfile.open(archive) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    for name in ("pyproject.toml", "LICENSE", "third_party/fmt/include/fmt/format.h"):
        assert name in names, name
    for folder in ("fmt", "nlohmann_json", "cli11", "xbyak"):
        assert f"third_party/{folder}/copyright" in names, folder
    assert not [name for name in names if name.startswith(("build/", ".git/"))]


def check_chosen_files(source: pathlib.Path, scratch: pathlib.Path) -> None:
    """Files that git does not know, such as notes and keys, stay out; changed files are as they are now."""
    sys.path.insert(0, str(source / "cmake/packaging"))
    from sdist import copy_sources

    shutil.rmtree(scratch, ignore_errors=True)
    tree = scratch / "tree"
    tree.mkdir(parents=True)
    for name in ("known.txt", "deleted.txt", "private.key"):
        (tree / name).write_text("old")
    run(["git", "init", "--quiet", str(tree)])
    run(["git", "-C", str(tree), "add", "known.txt", "deleted.txt"])
    (tree / "known.txt").write_text("new")
    (tree / "deleted.txt").unlink()
    copy_sources(tree, scratch / "copy")
    copied = {path.name: path.read_text() for path in (scratch / "copy").iterdir()}
    assert copied == {"known.txt": "new"}, copied
    # A release that was unpacked has no repository, or stands in another one.
    (tree / "unpacked").mkdir()
    (tree / "unpacked/source.txt").write_text("source")
    copy_sources(tree / "unpacked", scratch / "copy of unpacked")
    assert (scratch / "copy of unpacked/source.txt").read_text() == "source"


def check_arm64(archive: pathlib.Path, scratch: pathlib.Path) -> None:
    """For arm64, the sources for x86 are left out, though the archive carries xbyak. Configured, not compiled."""
    shutil.rmtree(scratch, ignore_errors=True)
    with tarfile.open(archive) as packed:
        packed.extractall(scratch)
    (tree,) = scratch.iterdir()
    build = scratch / "build"
    command = ["cmake", "-S", str(tree), "-B", str(build), "-DGDR_COMPILE_TOGETHER=OFF"]
    command += ["-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=aarch64"]
    run([*command, *(f"-DGDR_{part}=OFF" for part in "TESTS BENCH FORTRAN PYTHON COMMAND".split())])
    compiled = (build / "compile_commands.json").read_text()
    assert "/codegen/arm64/compile.cpp" in compiled
    assert "/x86/" not in compiled and "/no_jit" not in compiled and "xbyak" not in compiled


def hidden_headers(folder: pathlib.Path) -> pathlib.Path:
    """The host's headers without those of the libraries that a build could use."""
    include = folder / "include"
    shutil.rmtree(include, ignore_errors=True)
    hidden = shutil.ignore_patterns(*HIDDEN.split())
    shutil.copytree("/usr/include", include, symlinks=True, ignore=hidden)
    return include


def check_command(source: pathlib.Path, scratch: pathlib.Path) -> None:
    """The command without HDF5: text is read and written, and HDF5 is refused with what to do."""
    command = str(pathlib.Path(sys.executable).parent / "gdr")
    assert "instruction sets" in run([command, "info"])
    run([command, "selftest", "--minutes", "0.02"])
    stars = scratch / "stars.txt"
    stars.write_text("0.5 -1 0 0  0 -0.5 0\n0.5 1 0 0  0 0.5 0\n")
    run([command, "nbody", str(stars), "--eps", "0", "--dt", "0.125", "--t-end", "1"], cwd=scratch)
    refused = [command, "force", str(source / "examples/data/plummer_1024.hdf5")]
    refused += ["--eps", "0.01", "-o", str(scratch / "forces.hdf5")]
    message = subprocess.run(refused, capture_output=True, text=True).stderr
    assert "plummer_1024.hdf5: this gdr was built without HDF5" in message, message


def check_installed(source: pathlib.Path) -> int:
    os.environ["GDR_CACHE_DIR"] = "none"
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        check_package(scratch)
        check_command(source, scratch)
        check_library(source, scratch)
    return 0


def main() -> int:
    if sys.argv[1] == "--installed":
        return check_installed(pathlib.Path(sys.argv[2]).resolve())
    source, output = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    check_chosen_files(source, output / "chosen")
    (output / "first").mkdir(parents=True, exist_ok=True)
    (output / "first/gdr-0.0.1.tar.gz").write_bytes(b"of an older version")
    first, second = (make(source, output / name) for name in ("first", "second"))
    assert first.read_bytes() == second.read_bytes(), f"{first} and {second} differ"
    check_contents(first)
    check_arm64(first, output / "arm64")
    if "sdist" not in os.environ.get("GDR_TEST_PACKAGES", ""):
        return 0
    user = ["unshare", "--user", "--map-root-user", "--mount"]
    if subprocess.run([*user, "true"], capture_output=True).returncode:
        print("test_sdist.py: skipped, this user may not have namespaces")
        return NOT_RUN
    environment = output / "environment"
    run([sys.executable, "-m", "venv", "--clear", str(environment)])
    checker = pathlib.Path(__file__).resolve()
    arguments = [hidden_headers(output), first, environment, checker, source]
    print(run([*user, "bash", "-c", INSTALL, "install", *map(str, arguments)]))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"processor time of all: {(used.ru_utime + used.ru_stime) / 60:.1f} minutes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
