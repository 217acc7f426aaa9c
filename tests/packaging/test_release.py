#!/usr/bin/env python3
"""Tries the files of a release as users get them: nothing but these files, each in an empty environment.

Checksums and bill of materials are compared with the files; every wheel for this machine is installed in a virtual
environment of its Python and used; Debian packages are unpacked, and their command runs; archives contain what they
should, and a second collection has the same bytes. What cannot be tried here is named. Installing the source
distribution takes minutes (test_sdist.py), as does running arm64's wheel (test_arm64.sh).

usage: test_release.py SOURCE_DIR BUILD_DIR RELEASE_DIR
       test_release.py --self-test SOURCE_DIR         with small parts that it makes itself
"""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

from test_wheel import NOT_RUN, run

PARTS = ["wheel", "wheel-arm64", "sdist", "deb", "site", "playground"]


def check_sums(folder: pathlib.Path) -> list[str]:
    """Every file but the sums has its sum, and the bill of materials names all but itself."""
    rows = dict(row.split()[::-1] for row in (folder / "SHA256SUMS").read_text().splitlines())
    names = sorted(p.name for p in folder.iterdir() if p.name != "SHA256SUMS")
    assert sorted(rows) == names, (rows, names)
    for name, digest in rows.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest, name
    (bill,) = folder.glob("*.cdx.json")
    content = json.loads(bill.read_text())
    assert content["bomFormat"] == "CycloneDX" and content["metadata"]["component"]["name"] == "gdr"
    stated = {
        c["name"]: c["hashes"][0]["content"] for c in content["components"] if c["type"] == "file"
    }
    assert stated == {name: rows[name] for name in names if name != bill.name}
    references = [c["bom-ref"] for c in content["components"]]
    assert len(references) == len(set(references))
    return names


def interpreter(version: str) -> str | None:
    """A Python of this version on this machine."""
    places = [
        shutil.which(f"python{version}"),
        *map(str, pathlib.Path.home().glob(f".pyenv/versions/{version}.*/bin/python")),
    ]
    return next((place for place in places if place), None)


def try_wheel(wheel: pathlib.Path, source: pathlib.Path) -> str:
    version = re.search(r"-cp3(\d+)-", wheel.name)
    assert version, wheel.name
    if platform.machine() not in wheel.name:
        with zipfile.ZipFile(wheel) as packed:
            names = packed.namelist()
        assert "gdr/bin/gdr" in names and any(n.startswith("gdr/_core") for n in names), names
        return "contents only, for another machine"
    python = interpreter(f"3.{version[1]}")
    if python is None:
        return f"not tried, there is no Python 3.{version[1]}"
    with tempfile.TemporaryDirectory() as folder:
        environment = pathlib.Path(folder) / "environment"
        run([python, "-m", "venv", str(environment)])
        run(
            [
                str(environment / "bin/pip"),
                "install",
                "--quiet",
                "--disable-pip-version-check",
                str(wheel),
            ]
        )
        checker = str(pathlib.Path(__file__).with_name("test_wheel.py").resolve())
        run([str(environment / "bin/python"), checker, "--installed", str(source)], cwd=folder)
    return "installed and used"


def try_packages(packages: list[pathlib.Path]) -> str:
    """Unpacked into one folder, as an installation has them."""
    if not shutil.which("dpkg-deb"):
        return "not tried, there is no dpkg-deb"
    with tempfile.TemporaryDirectory() as folder:
        for package in packages:
            run(["dpkg-deb", "--extract", str(package), folder])
        (library,) = pathlib.Path(folder).glob("usr/lib/*/libgdr.so.0")
        environment = {"LD_LIBRARY_PATH": str(library.parent), "GDR_CACHE_DIR": "none"}
        assert run([f"{folder}/usr/bin/gdr", "--version"], env=environment).startswith("gdr ")
    return "unpacked, the command runs"


def try_archive(archive: pathlib.Path, wanted: str) -> str:
    with tarfile.open(archive) as packed:
        names = [name.partition("/")[2] for name in packed.getnames()]
    assert wanted in names, (archive.name, wanted)
    assert not [n for n in names if n.startswith("/") or ".." in n.split("/")]
    return f"{len(names)} entries"


def check(source: pathlib.Path, build: pathlib.Path, folder: pathlib.Path) -> int:
    names = check_sums(folder)
    without = [part for part in PARTS if not part_of(names, part)]
    for name in names:
        path = folder / name
        if name.endswith(".whl"):
            said = try_wheel(path, source)
        elif name.endswith(("-site.tar.gz", "-playground.tar.gz")):
            said = try_archive(path, "index.html")
        elif name.endswith(".tar.gz"):
            said = try_archive(path, "third_party/fmt/include/fmt/format.h")
        else:
            continue
        print(f"{name}: {said}")
    if packages := sorted(folder.glob("*.deb")):
        print(f"{len(packages)} Debian packages: {try_packages(packages)}")
    # Collected again, the parts have the same bytes.
    with tempfile.TemporaryDirectory() as other:
        collect(source, build, pathlib.Path(other) / "again", without)
        again = (pathlib.Path(other) / "again" / "SHA256SUMS").read_text()
        assert again == (folder / "SHA256SUMS").read_text(), "a second collection differs"
    if without:
        print(f"parts that this release lacks: {', '.join(without)}")
    print("1 passed, 0 failed")
    return 0


def part_of(names: list[str], part: str) -> bool:
    endings = {
        "wheel": "_x86_64.whl", "wheel-arm64": "_aarch64.whl", "deb": ".deb",
        "site": "-site.tar.gz", "playground": "-playground.tar.gz",
    }  # fmt: skip
    if part == "sdist":
        return any(re.fullmatch(r"gdr-[\d.]+\.tar\.gz", name) for name in names)
    return any(name.endswith(endings[part]) for name in names)


def collect(
    source: pathlib.Path, build: pathlib.Path, to: pathlib.Path, without: list[str]
) -> None:
    command = [
        sys.executable,
        str(source / "cmake/packaging/release.py"),
        str(source),
        str(build),
        str(to),
    ]
    run([*command, *(f"--without={part}" for part in without)])


def check_versions(source: pathlib.Path, build: pathlib.Path, folder: pathlib.Path) -> None:
    """Files of another version do not get into a release, with those of this one or alone."""
    text = (source / "CMakeLists.txt").read_text()
    version = re.search(r"^project\(gdr VERSION (\S+)", text, re.M)[1]  # type: ignore[index]
    names = {
        "wheel": "wheels/gdr-{}-cp311-cp311-manylinux_2_36_x86_64.whl",
        "wheel-arm64": "arm64/gdr-{}-cp311-cp311-manylinux2014_aarch64.whl",
        "sdist": "sdist/gdr-{}.tar.gz",
        "deb": "deb/libgdr-dev_{}_amd64.deb",
    }
    for part, name in names.items():
        old, new = build / name.format("0.0.9"), build / name.format(version)
        old.parent.mkdir()
        without = [f"--without={other}" for other in PARTS if other != part]
        command = [sys.executable, str(source / "cmake/packaging/release.py")]
        command += [*map(str, (source, build, folder)), *without]
        for present in ([old], [old, new]):
            for path in present:
                with zipfile.ZipFile(path, "w"):
                    pass
            refused = subprocess.run(command, capture_output=True, text=True)
            assert refused.returncode and f"of other versions: {old}\n" in refused.stderr, refused
        old.unlink()
        run(command)
        assert (folder / new.name).exists(), sorted(folder.iterdir())
        shutil.rmtree(new.parent)


def self_test(source: pathlib.Path) -> int:
    """Collects small parts in two orders of creation; a changed file and a missing part are found."""
    with tempfile.TemporaryDirectory() as scratch:
        build, folder = pathlib.Path(scratch) / "build", pathlib.Path(scratch) / "files"
        for name in ("index.html", "b/second.html", "a/first.html"):
            (build / "site" / name).parent.mkdir(parents=True, exist_ok=True)
            (build / "site" / name).write_text(name)
        shutil.copytree(build / "site", build / "playground")
        others = ["wheel", "wheel-arm64", "sdist", "deb"]
        refused = subprocess.run(
            [sys.executable, str(source / "cmake/packaging/release.py"), str(source), str(build), str(folder)],
            capture_output=True, text=True,
        )  # fmt: skip
        assert refused.returncode and "make wheel wheel-arm64 sdist deb" in refused.stderr, refused
        check_versions(source, build, folder)
        collect(source, build, folder, others)
        first = (folder / "SHA256SUMS").read_text()
        check(source, build, folder)
        shutil.move(build / "site", build / "old")
        for name in ("a/first.html", "b/second.html", "index.html"):
            (build / "site" / name).parent.mkdir(parents=True, exist_ok=True)
            (build / "site" / name).write_text(name)
        collect(source, build, folder, others)
        assert (folder / "SHA256SUMS").read_text() == first
        (next(folder.glob("*-site.tar.gz"))).write_bytes(b"changed")
        try:
            check_sums(folder)
        except AssertionError:
            return 0
        sys.exit("a changed file was not found")


def main() -> int:
    arguments = sys.argv[1:]
    if sys.version_info < (3, 11):
        print("test_release.py: skipped, Python has no tomllib (3.11 has)")
        return NOT_RUN
    if len(arguments) == 2 and arguments[0] == "--self-test":
        return self_test(pathlib.Path(arguments[1]).resolve())
    if len(arguments) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    os.environ.setdefault("GDR_CACHE_DIR", "none")
    return check(*(pathlib.Path(name).resolve() for name in arguments))


if __name__ == "__main__":
    sys.exit(main())
