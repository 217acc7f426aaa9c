#!/usr/bin/env python3
"""Makes a wheel of what the build tree has, installs it into an empty virtual environment, and computes there.

The wheel has the files of one that pip builds (pyproject.toml), but for scripts and libraries with the interfaces of
earlier accelerators. NumPy comes from PyPI; the test is skipped where that cannot be reached. Building wheels as pip
does takes minutes (test_wheel.py).

usage: test_environment.py SOURCE_DIR BUILD_DIR      (with the Python of the build)
"""

from __future__ import annotations

import base64
import hashlib
import pathlib
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

from test_wheel import NOT_RUN, run

COMPONENTS = ["library", "development"]
CHECK = """
import pathlib, sys
sys.path.append(sys.argv[1])
import test_wheel
test_wheel.check_package(pathlib.Path.cwd())
import gdr
assert pathlib.Path(gdr.__file__).is_relative_to(sys.prefix), gdr.__file__
"""


def install(build: pathlib.Path, stage: pathlib.Path) -> None:
    """What a wheel contains, as it is unpacked."""
    places = [("wheel", stage)] + [(component, stage / "gdr") for component in COMPONENTS]
    for component, prefix in places:
        run(["cmake", "--install", str(build), "--component", component, "--prefix", str(prefix)])


def pack(stage: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """The wheel of the files in `stage`, which have to include METADATA."""
    info = next(stage.glob("*.dist-info"))
    tag = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    tags = f"{tag}-{tag}-{platform}"
    (info / "WHEEL").write_text(f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tags}\n")
    wheel = folder / f"{info.stem}-{tags}.whl"
    rows = []
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(path for path in stage.rglob("*") if path.is_file()):
            name = path.relative_to(stage).as_posix()
            archive.write(path, name)
            digest = hashlib.sha256(path.read_bytes()).digest()
            coded = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
            rows.append(f"{name},sha256={coded},{path.stat().st_size}\n")
        record = f"{info.name}/RECORD"
        archive.writestr(record, "".join(rows) + f"{record},,\n")
    return wheel


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    source, build = (pathlib.Path(name).resolve() for name in sys.argv[1:])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        install(build, folder / "stage")
        wheel = pack(folder / "stage", folder)
        environment = folder / "environment"
        run([sys.executable, "-m", "venv", str(environment)])
        pip = [str(environment / "bin/pip"), "install", "--quiet", "--disable-pip-version-check"]
        numpy = subprocess.run([*pip, "--only-binary", ":all:", "numpy"], capture_output=True, text=True)
        if numpy.returncode != 0:
            print(f"skipped: NumPy could not be installed: {numpy.stderr.strip().splitlines()[-1:]}")
            return NOT_RUN
        run([*pip, "--no-index", str(wheel)])
        bare = {"PATH": "/nowhere", "HOME": name, "GDR_CACHE_DIR": "none"}
        tests = str(source / "tests/packaging")
        run([str(environment / "bin/python"), "-c", CHECK, tests], cwd=name, env=bare)
    print(f"{wheel.name}: passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
