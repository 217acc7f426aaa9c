#!/usr/bin/env python3
"""Builds wheels, installs each into a fresh virtual environment, and uses what it contains there.

A long test, which runs if GDR_TEST_PACKAGES names "wheel". Programs run without compilers in PATH; a program in C++
is then compiled against the headers and the library of the wheel.

usage: test_wheel.py SOURCE_DIR OUTPUT_DIR [PYTHON...]   builds and tests
       test_wheel.py --installed SOURCE_DIR              tests the package of this Python
"""

from __future__ import annotations

import os
import pathlib
import pkgutil
import re
import shutil
import subprocess
import sys
import tempfile

NOT_RUN = 77


def run(command: list[str], **options: object) -> str:
    result = subprocess.run(command, capture_output=True, text=True, **options)  # type: ignore[call-overload]
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{result.stdout}{result.stderr}")
    return str(result.stdout)


def check_package(scratch: pathlib.Path) -> None:
    """Import, a force, and nothing that only this tree has."""
    import gdr
    import numpy as np

    position = np.array([[0.0, 0, 0], [2.0, 0, 0]])
    acceleration, potential = gdr.gravity(position, np.ones(2), eps=0.0)
    assert abs(acceleration[0, 0] - 0.25) < 1e-6 and abs(potential[0] + 0.5) < 1e-6, (
        acceleration,
        potential,
    )
    with gdr.open("emulator", engine="native") as device:
        fast, _ = gdr.gravity(position, np.ones(2), eps=0.0, device=device)
    assert np.allclose(fast, acceleration, rtol=1e-6), fast
    modules = {module.name for module in pkgutil.walk_packages(gdr.__path__, "gdr.")}
    assert "gdr.linalg" in modules and not any("libgdr" in name for name in modules), modules
    assert (pathlib.Path(gdr.__file__).parent / "docs/guides/python.md").exists()
    prefix = pathlib.Path(gdr.get_prefix())
    assert prefix == pathlib.Path(gdr.__file__).parent, prefix
    for option, directory in [
        ("--prefix", gdr.get_prefix()),
        ("--include-dir", gdr.get_include()),
        ("--library-dir", gdr.get_library_dir()),
        ("--cmake-dir", gdr.get_cmake_dir()),
        ("--pkgconfig-dir", gdr.get_pkgconfig_dir()),
    ]:
        assert os.path.isdir(directory), directory
        printed = run([sys.executable, "-m", "gdr", option], cwd=scratch).strip()
        assert printed == directory, (option, printed, directory)


def check_command(source: pathlib.Path, scratch: pathlib.Path) -> None:
    command = str(pathlib.Path(sys.executable).parent / "gdr")
    bare = {"PATH": "/nowhere", "HOME": str(scratch), "GDR_CACHE_DIR": "none"}
    # The script that starts the program needs dirname and readlink.
    bare["PATH"] = str(scratch / "bin")
    (scratch / "bin").mkdir()
    for name in ("sh", "dirname", "readlink"):
        (scratch / "bin" / name).symlink_to(shutil.which(name) or name)
    import gdr

    assert run([command, "--version"], env=bare).strip() == f"gdr {gdr.__version__}"
    assert "instruction sets" in run([command, "info"], env=bare)
    cluster = source / "examples/data/plummer_1024.hdf5"
    written = scratch / "forces.hdf5"
    run([command, "force", str(cluster), "--eps", "0.015625", "-o", str(written)], env=bare)
    assert written.stat().st_size > 20000
    run([command, "selftest", "--minutes", "0.02"], env=bare)
    # The library for boards of other hosts is loaded, with its OpenSSL; nobody listens there.
    key = scratch / "key"
    key.write_text("test:0123456789abcdef0123456789abcdef\n")
    key.chmod(0o600)
    nowhere = [command, "boards", "--test", "1", "--device", f"board:tcp:127.0.0.1:9,psk={key}"]
    refused = subprocess.run(nowhere, env=bare, capture_output=True, text=True)
    assert "Connection refused" in refused.stderr, refused.stderr
    # Started by a link from elsewhere, as by pipx.
    link = scratch / "bin" / "gdr"
    link.symlink_to(command)
    assert run([str(link), "--version"], env=bare).startswith("gdr ")


def check_library(source: pathlib.Path, scratch: pathlib.Path) -> None:
    """A program in C++ by its directories, by pkg-config and by CMake, and one in C."""
    import gdr

    compiler = shutil.which("c++")
    if compiler is None:
        print("no C++ compiler: programs against the wheel's library were not compiled")
        return
    client = source / "tests/install/client"
    library = gdr.get_library_dir()
    program = str(scratch / "client")
    run(
        [compiler, "-std=c++20", str(client / "client.cpp"), f"-I{gdr.get_include()}"]
        + [f"-L{library}", f"-Wl,-rpath,{library}", "-lgdr", "-o", program]
    )
    assert run([program]) == "0.250000 -0.500000\n-0.250000 0.500000\n"
    if shutil.which("pkg-config"):
        print(
            run(
                [str(source / "tests/install/pkg_config.sh"), gdr.get_pkgconfig_dir(), str(source)]
            ),
            end="",
        )
    if shutil.which("cmake"):
        build = scratch / "build"
        run(
            [
                "cmake",
                "-S",
                str(client),
                "-B",
                str(build),
                f"-DCMAKE_PREFIX_PATH={gdr.get_prefix()}",
            ]
        )
        run(["cmake", "--build", str(build)])
        run([str(build / "client")])
        run([str(build / "product")])


def check_installed(source: pathlib.Path) -> int:
    os.environ["GDR_CACHE_DIR"] = "none"
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        check_package(scratch)
        check_command(source, scratch)
        check_library(source, scratch)
    return 0


def check_contents(wheel: pathlib.Path, scratch: pathlib.Path) -> None:
    """Every program and library finds what it needs in the wheel or in what manylinux guarantees."""
    assert re.search(
        r"-manylinux_2_\d+_x86_64\.", wheel.name.replace(".manylinux", "-manylinux")
    ), wheel.name
    run(["python3", "-m", "zipfile", "-e", str(wheel), str(scratch)])
    for library in ("fmt", "xbyak", "cli11", "nlohmann_json", "hdf5", "pybind11"):
        (notice,) = scratch.glob(f"gdr-*.dist-info/licenses/third_party/{library}/copyright")
        assert "opyright" in notice.read_text(encoding="utf-8"), notice
    for path in scratch.rglob("*"):
        if path.is_file() and path.read_bytes()[:4] == b"\x7fELF":
            dynamic = run(["readelf", "-d", str(path)])
            for folder in re.findall(r"R(?:UN)?PATH.*\[(.*)\]", dynamic):
                assert all(part.startswith("$ORIGIN") for part in folder.split(":")), (path, folder)


def main() -> int:
    arguments = sys.argv[1:]
    if len(arguments) == 2 and arguments[0] == "--installed":
        return check_installed(pathlib.Path(arguments[1]).resolve())
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    if "wheel" not in os.environ.get("GDR_TEST_PACKAGES", "").split(","):
        print("skipped: GDR_TEST_PACKAGES does not name wheel")
        return NOT_RUN
    source, output = (pathlib.Path(name).resolve() for name in arguments[:2])
    build = [
        sys.executable,
        str(source / "cmake/packaging/wheel/build.py"),
        str(source),
        str(output),
    ]
    subprocess.run([*build, *arguments[2:]], check=True)
    wheels = sorted(output.glob("*.whl"))
    assert wheels, f"no wheel in {output}"
    for wheel in wheels:
        match = re.search(r"-cp3(\d+)-", wheel.name)
        assert match, wheel.name
        # The environment in which the wheel was built has the interpreter.
        base = run(
            [
                str(output / f"build-cp3{match[1]}/bin/python"),
                "-c",
                "import sys; print(sys._base_executable)",
            ]
        )
        with tempfile.TemporaryDirectory() as folder:
            check_contents(wheel, pathlib.Path(folder) / "contents")
            environment = pathlib.Path(folder) / "environment"
            run([base.strip(), "-m", "venv", str(environment)])
            run([str(environment / "bin/pip"), "install", "--quiet", str(wheel)])
            print(
                run(
                    [str(environment / "bin/python"), __file__, "--installed", str(source)],
                    cwd=folder,
                ),
                end="",
            )
        print(f"{wheel.name}: passed")
    print(f"{len(wheels)} passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
