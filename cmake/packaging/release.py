#!/usr/bin/env python3
"""Collects what a release consists of in one folder, with checksums and a bill of materials.

The parts are those that other targets of the Makefile have built; a missing one is named with its target. Folders
become archives. SHA256SUMS is for `sha256sum --check`, gdr-VERSION.cdx.json the bill of materials (CycloneDX 1.5):
every file with its checksum, and of whom the libraries are that the files contain. Equal parts give equal bytes on
one host: times are those of the last commit, or SOURCE_DATE_EPOCH; the bill has the versions of this host's packages.
Files of another version are refused.

usage: release.py SOURCE_DIR BUILD_DIR OUTPUT_DIR [--without PART]...
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import time
import tomllib
import uuid
import zipfile

from sdist import commit_time

#: The files of a part, below the folder of builds; a folder becomes an archive.
PARTS = {
    "wheel": "wheels/gdr-{version}-*manylinux*_x86_64.whl",
    "wheel-arm64": "arm64/gdr-{version}-*manylinux*_aarch64.whl",
    "sdist": "sdist/gdr-{version}.tar.gz",
    "deb": "deb/*_{version}_*.deb",
    "site": "site",
    "playground": "playground",
}
CARRIED, LINKED = "headers in the source distribution", "compiled in, or linked"
#: Licences of what the files contain (SPDX), by the row of dependencies.toml.
LICENCES = {
    "fmt": "MIT", "xbyak": "BSD-3-Clause", "cli11": "BSD-3-Clause", "nlohmann_json": "MIT",
    "asio": "BSL-1.0", "openssl": "Apache-2.0", "hdf5": "BSD-3-Clause", "zlib": "Zlib", "pybind11": "BSD-3-Clause",
}  # fmt: skip


def version_of(source: pathlib.Path) -> str:
    found = re.search(r"^project\(gdr VERSION (\S+)", (source / "CMakeLists.txt").read_text(), re.M)
    assert found, "CMakeLists.txt has no version"
    return found[1]


def archive(folder: pathlib.Path, to: pathlib.Path, seconds: int) -> None:
    """The folder as .tar.gz, in the order of names, with one time and no owner."""

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = seconds, 0, 0, "", ""
        entry.mode = 0o755 if entry.isdir() else 0o644
        return entry

    stored = io.BytesIO()
    with tarfile.open(fileobj=stored, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted(folder.rglob("*")):
            name = f"{to.name.removesuffix('.tar.gz')}/{path.relative_to(folder).as_posix()}"
            tar.add(path, name, recursive=False, filter=plain)
    with to.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=seconds) as packed:
        packed.write(stored.getvalue())


def files_of(part: str, build: pathlib.Path, version: str) -> list[pathlib.Path]:
    """The files of a part and a version; "*" is any."""
    found = build.glob(PARTS[part].format(version=version))
    return [path for path in found if "-dbgsym_" not in path.name]


def collect(
    part: str, build: pathlib.Path, output: pathlib.Path, version: str, seconds: int
) -> bool:
    """Copy or pack a part; whether there is one."""
    found = sorted(files_of(part, build, version))
    if others := sorted(set(files_of(part, build, "*")).difference(found)):
        names = " ".join(map(str, others))
        sys.exit(f"release.py: the version is {version}; delete files of other versions: {names}")
    for path in found:
        if path.is_dir():
            archive(path, output / f"gdr-{version}-{part}.tar.gz", seconds)
        else:
            shutil.copy2(path, output / path.name)
    return bool(found)


def digest(path: pathlib.Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def stated_version(package: str) -> dict[str, str]:
    """The version of a package of Debian on this host, with which the files were built; empty if it is unknown."""
    command = ["dpkg-query", "-W", "-f", "${Version}", package]
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return {}
    return {"version": found} if found else {}


def bundled(path: pathlib.Path) -> list[dict[str, object]]:
    """The shared libraries of others in a wheel, which auditwheel has put there."""
    with zipfile.ZipFile(path) as wheel:
        return [
            {
                "type": "library",
                "name": pathlib.PurePosixPath(name).name,
                "bom-ref": f"{path.name}#{name}",
                "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(wheel.read(name)).hexdigest()}],
                "description": "copied from this distribution by auditwheel",
            }
            for name in sorted(wheel.namelist())
            if "gdr.libs/" in name and not name.endswith("/")
        ]  # fmt: skip


def materials(source: pathlib.Path, files: list[pathlib.Path], version: str, seconds: int) -> str:
    table = tomllib.loads((source / "cmake/packaging/dependencies.toml").read_text())
    libraries = [
        {
            "type": "library",
            "name": name,
            "bom-ref": name,
            **stated_version(table[name]["debian"]),
            "licenses": [{"license": {"id": licence}}],
            "description": CARRIED if "carried" in table[name] else LINKED,
        }
        for name, licence in LICENCES.items()
    ]  # fmt: skip
    contents = [
        {
            "type": "file",
            "name": path.name,
            "bom-ref": path.name,
            "hashes": [{"alg": "SHA-256", "content": digest(path)}],
            "components": bundled(path) if path.suffix == ".whl" else [],
        }
        for path in files
    ]
    sums = "".join(str(row["hashes"]) for row in contents)
    product = {"type": "application", "name": "gdr", "version": version, "bom-ref": "gdr"}
    product["licenses"] = [{"license": {"id": "MIT"}}]  # type: ignore[assignment]
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, sums)}",
        "version": 1,
        "metadata": {"timestamp": stamp, "component": product},
        "components": libraries + contents,
        "dependencies": [{"ref": "gdr", "dependsOn": sorted(LICENCES)}],
    }
    return json.dumps(bill, indent=1) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    for name in ("source", "build", "output"):
        parser.add_argument(name, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--without", action="append", default=[], choices=PARTS, metavar="PART")
    given = parser.parse_args()
    seconds, version = int(commit_time(given.source)), version_of(given.source)
    shutil.rmtree(given.output, ignore_errors=True)
    given.output.mkdir(parents=True)
    wanted = [part for part in PARTS if part not in given.without]
    missing = [p for p in wanted if not collect(p, given.build, given.output, version, seconds)]
    if missing:
        targets = " ".join(missing)
        sys.exit(
            f"release.py: parts are missing; build them (make {targets}) or leave them out (--without)"
        )
    files = sorted(given.output.iterdir())
    bill = given.output / f"gdr-{version}.cdx.json"
    bill.write_text(materials(given.source, files, version, seconds))
    sums = "".join(f"{digest(path)}  {path.name}\n" for path in [*files, bill])
    (given.output / "SHA256SUMS").write_text(sums)
    for path in sorted(given.output.iterdir()):
        print(f"{path} ({path.stat().st_size / 1e6:.1f} MB)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
