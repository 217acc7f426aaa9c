#!/usr/bin/env python3
"""Builds the documentation site: pages of docs/, programs of the examples, executed notebooks, and
the reference of the C++, C, Fortran and Python interfaces from their headers and docstrings.

usage: docs/site/build.py BUILD OUTPUT [--without-notebooks]

BUILD is a build of GDR with the Python package and the command. Needs the packages of
requirements.txt, and to execute notebooks those of notebooks.txt. Links between pages must lead
somewhere (mkdocs --strict).
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
sys.path.insert(0, str(HERE))

import reference  # noqa: E402

from playground import assets  # noqa: E402

LINK = re.compile(r"(\]\(|src=\"|href=\")([^)\s#\"]+)((?:#[^)\s\"]*)?[)\"])")
LANGUAGES = {
    ".cpp": "cpp", ".hpp": "cpp", ".c": "c", ".h": "c", ".f90": "fortran", ".py": "python",
    ".gds": "text", ".gdk": "text", ".sh": "bash", ".json": "json", ".slurm": "bash",
}  # fmt: skip


class Site:
    """The pages of the site, in a folder of its own."""

    def __init__(self, pages: pathlib.Path) -> None:
        self.pages = pages
        #: Why the site begins with the README and not with the playground; empty: it does not.
        self.lacks = assets.missing()
        self.waiting: list[pathlib.Path] = []  # files outside of docs/ that pages link to
        self.known: set[pathlib.Path] = set()

    def place_of(self, file: pathlib.Path) -> pathlib.Path:
        """Where a file or folder of the sources is in the site."""
        docs = SOURCE / "docs"
        if file == SOURCE / "README.md":
            return pathlib.Path("index.md" if self.lacks else "about.md")
        if file in (docs, docs / "README.md"):
            return pathlib.Path("overview.md")
        if file.is_relative_to(docs):
            return file.relative_to(docs)
        if file.name == "README.md":
            file = file.parent
        place = pathlib.Path("source") / file.relative_to(SOURCE)
        if file.is_dir():
            return place / "index.md"
        return place if file.suffix in (".md", ".svg", ".png") else place.parent / f"{place.name}.md"

    def linked(self, text: str, page: pathlib.Path, place: pathlib.Path | None = None) -> str:
        """A text whose links lead to places in the site; `page` is the file it comes from, `place`
        where it will be, if that does not follow from the file."""

        def replace(match: re.Match[str]) -> str:
            target = match[2]
            if re.match(r"[a-z]+:", target):
                return match[0]
            file = (page.parent / target).resolve()
            if not file.exists() or not file.is_relative_to(SOURCE):
                return match[0]  # mkdocs reports it
            if file not in self.known:
                self.known.add(file)
                self.waiting.append(file)
            here = (place or self.place_of(page)).parent
            return match[1] + os.path.relpath(self.place_of(file), here) + match[3]

        parts = re.split(r"(^\s*```.*?^\s*```)", text, flags=re.M | re.S)
        return "".join(p if k % 2 else LINK.sub(replace, p) for k, p in enumerate(parts))

    def write(self, place: pathlib.Path | str, text: str) -> None:
        path = self.pages / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def add(self, file: pathlib.Path) -> None:
        """Adds a file of the sources, as the page that shows it."""
        place = self.place_of(file)
        if file.is_dir():
            readme = file / "README.md"
            if readme.exists():
                return self.write(place, self.linked(readme.read_text(encoding="utf-8"), readme))
            names = sorted(p for p in file.iterdir() if p.suffix in LANGUAGES)
            self.known.update(names)
            self.waiting += names
            title = file.relative_to(SOURCE)
            rows = [f"- [{p.name}]({self.place_of(p).name})" for p in names]
            return self.write(place, "\n".join([f"# {title}", "", *rows, ""]))
        if file.suffix == ".md":
            return self.write(place, self.linked(file.read_text(encoding="utf-8"), file))
        if file.suffix in (".svg", ".png"):
            (self.pages / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, self.pages / place)
            return None
        text = file.read_text(encoding="utf-8")
        fence = "````" if "```" in text else "```"
        language = LANGUAGES.get(file.suffix, "text")
        return self.write(
            place, f"# {file.relative_to(SOURCE)}\n\n{fence}{language}\n{text}{fence}\n"
        )

    def add_all(self) -> None:
        for file in sorted((SOURCE / "docs").rglob("*")):
            hidden = file.is_relative_to(HERE) or file.is_relative_to(SOURCE / "docs/generator")
            if file.is_file() and not hidden and file.name != "CMakeLists.txt":
                self.known.add(file)
                if file.suffix in (".json", ".gds"):
                    (self.pages / self.place_of(file)).parent.mkdir(exist_ok=True)
                    shutil.copy(file, self.pages / self.place_of(file))
                else:
                    self.add(file)
        while self.waiting:
            file = self.waiting.pop()
            if file.suffix != ".ipynb" and not file.is_relative_to(SOURCE / "docs"):
                self.add(file)


def add_notebooks(site: Site, build: pathlib.Path, run: bool) -> list[str]:
    """Executed notebooks with their pictures; returns their places."""
    places = []
    for notebook in sorted((SOURCE / "examples/notebooks").glob("*.ipynb")):
        execute = run and notebook.stem != "mpi"  # that one needs mpirun
        place = site.place_of(notebook)
        folder = (site.pages / place).parent
        folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "nbconvert", "--to", "markdown", str(notebook)]
        command += ["--output-dir", str(folder), "--output", place.stem]
        if execute:
            command.append("--execute")
        environment = os.environ | {
            "PYTHONPATH": str(build / "python"),
            "PATH": f"{build / 'libgdr'}:{os.environ['PATH']}",
        }
        done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{notebook.name} failed:\n{done.stderr}")
        written = site.pages / place
        written.write_text(site.linked(written.read_text(encoding="utf-8"), notebook))
        places.append(str(place))
    return places


def add_playground(site: Site) -> None:
    """The first page, with the engine in WebAssembly; without emscripten the site has none."""
    if site.lacks:
        print(f"the site has no playground: {site.lacks}")
        return
    assets.write(site.pages / "playground")
    page, place = HERE / "playground/page.md", pathlib.Path("index.md")
    text = site.linked(page.read_text(encoding="utf-8"), page, place)
    site.write(place, text.replace("PLAYGROUND", assets.markup("playground/")).replace("EXERCISES", assets.exercises()))
    # Addresses of sources that were shared before lead to the first page, with what is after the #.
    moved = '<script>location.replace("../" + location.hash)</script>'
    site.write("playground.md", f"# Playground\n\n[The first page](index.md)\n\n{moved}\n")


def navigation(site: Site, notebooks: list[str], interfaces: list[tuple[str, str]]) -> list[object]:
    """The tables of docs/README.md as sections."""
    readme = str(site.place_of(SOURCE / "README.md"))
    sections: list[object] = [] if site.lacks else [{"Playground": "index.md"}]
    sections.append({"GDR": readme})
    for section in re.split(r"^## ", (site.pages / "overview.md").read_text(), flags=re.M)[1:]:
        title = section.splitlines()[0]
        pages: list[object] = [
            {name: file} for name, file in re.findall(r"^\| \[([^\]]+)\]\(([^)]+)\)", section, re.M)
        ]
        if title == "Reference":
            groups: dict[str, list[object]] = {}
            for name, file in interfaces:
                language, _, rest = name.partition(": ")
                groups.setdefault(language, []).append({rest: file})
            pages = [{language: of} for language, of in groups.items()] + pages
        sections.append({title: pages})
        if title == "Guides":
            sections.append({"Notebooks": notebooks})
    sections.append({"Glossary": "glossary.md"})
    return sections


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--without-notebooks", action="store_true", help="do not execute notebooks")
    options = parser.parse_args()
    build, output = options.build.resolve(), options.output.resolve()
    pages = output.parent / f"{output.name}-pages"
    shutil.rmtree(pages, ignore_errors=True)
    pages.mkdir(parents=True)
    site = Site(pages)
    site.add(SOURCE / "README.md")
    site.known.add(SOURCE / "README.md")
    site.add_all()
    notebooks = add_notebooks(site, build, not options.without_notebooks)
    site.add_all()  # what notebooks link to
    interfaces = reference.write(SOURCE, build, pages)
    add_playground(site)
    import yaml

    configuration = (HERE / "mkdocs.yml").read_text().replace("PYTHON", str(build / "python"))
    added = {
        "docs_dir": str(pages),
        "site_dir": str(output),
        "nav": navigation(site, notebooks, interfaces),
    }
    file = pages.parent / "mkdocs.yml"
    file.write_text(configuration + yaml.safe_dump(added, sort_keys=False))
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-f", str(file)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    sys.exit(subprocess.run(command, check=False, env=environment).returncode)


if __name__ == "__main__":
    main()
