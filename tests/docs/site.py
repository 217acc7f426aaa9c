#!/usr/bin/env python3
"""The documentation site: builds it, and opens every page.

usage: site.py SOURCE_DIR BUILD_DIR

Runs where there is a Python with the packages of docs/site/requirements.txt: the one that
`make test` and `make site` make, build/site-tools/bin/python, or that of GDR_TEST_SITE. Notebooks are not
executed, which is the test of the Python package. Links and anchors of all pages must lead somewhere, every
public name of C++, C, Fortran and Python must have its place in the reference, and no page may report an error
to the console of a browser, where there is one (browser.py).
"""

from __future__ import annotations

import concurrent.futures
import functools
import html.parser
import http.server
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

SKIPPED = 77
SOURCE, BUILD = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
sys.path.insert(0, str(SOURCE / "tests/python"))

from browser import BROWSERS, find_browser  # noqa: E402
from cpp_symbols import public_functions_of_c, public_symbols  # noqa: E402


class Page(html.parser.HTMLParser):
    """Links, anchors and sections of a page."""

    def __init__(self, path: pathlib.Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.sections: dict[str, list[str]] = {}  # texts below each heading with an anchor
        self.section: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if value is None:
                continue
            if name in ("id", "name"):
                self.anchors.add(value)
                if tag in ("h1", "h2"):
                    self.section = self.sections.setdefault(value, [])
            elif name in ("href", "src"):
                self.links.append(value)

    def handle_data(self, data: str) -> None:
        self.section.append(data)


def broken_links(site: pathlib.Path, pages: dict[pathlib.Path, Page]) -> list[str]:
    found = []
    for path, page in pages.items():
        if path.name == "404.html":  # its links are absolute
            continue
        for link in page.links:
            if re.match(r"[a-z]+:|//", link):
                continue
            file, _, anchor = link.partition("#")
            target = (path.parent / file.partition("?")[0]).resolve() if file else path
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                found.append(f"{path.relative_to(site)}: {link}: no such page")
            elif anchor and target in pages and anchor not in pages[target].anchors:
                found.append(f"{path.relative_to(site)}: {link}: no such heading")
    return found


def fortran_names() -> set[str]:
    """What the statements of the Fortran module make public; empty if it was not built."""
    module = BUILD / "libgdr/gdr.f90"
    if not module.exists():
        return set()
    names: set[str] = set()
    statement = ""
    for line in module.read_text(encoding="utf-8").splitlines():
        statement += line.partition("!")[0].rstrip()
        if statement.endswith("&"):
            statement = statement[:-1]
            continue
        attributes, colons, items = statement.partition("::")
        if colons and re.search(r"\bpublic\b", attributes):
            names |= {item.partition("=")[0].strip() for item in items.split(",")}
        statement = ""
    assert "gdr_gravity_compute" in names and "gdr_error_rank_failure" in names
    return names


def python_names() -> set[str]:
    """The names that the public modules export: "gdr.gravity", "gdr.linalg.lu"; without functions
    of other packages, such as ``math.exp`` in ``gdr.functions``."""
    sys.path.insert(0, str(BUILD / "python"))
    import gdr

    modules = [gdr, gdr.chemistry, gdr.errors, gdr.functions, gdr.linalg, gdr.nbody]
    modules += [gdr.results, gdr.sph]
    return {
        f"{m.__name__}.{name}"
        for m in modules
        for name in m.__all__
        if (getattr(getattr(m, name), "__module__", None) or "gdr").startswith("gdr")
    }


def missing_names(site: pathlib.Path, pages: dict[pathlib.Path, Page]) -> list[str]:
    """Public names without a heading of their own, or, for members, without mention below that of
    their class."""

    def sections(place: str) -> dict[str, set[str]]:
        """The words below each heading of the pages in a folder."""
        found: dict[str, set[str]] = {}
        for path, page in pages.items():
            if path.is_relative_to(site / place):
                for anchor, text in page.sections.items():
                    # A second heading of the same text has the anchor NAME_1.
                    key = re.sub(r"_\d+$", "", anchor)
                    found.setdefault(key, set()).update(re.findall(r"\w+", " ".join(text)))
        return found

    cpp, c, fortran = sections("api/cpp"), sections("api/c"), sections("api/fortran")
    python = {a for f, p in pages.items() if f.is_relative_to(site / "api/python") for a in p.anchors}
    kernels = set(sections("api/python/kernels"))

    def in_cpp(symbol: str) -> bool:
        owner, *members = symbol.split(".")
        if owner.lower() not in cpp:
            return False
        return not members or members[-1] in cpp[owner.lower()]

    def in_python(name: str) -> bool:
        return (
            name in python
            or name.removeprefix("gdr.") in kernels
            or (site / f"api/python/{name}/index.html").exists()
            or name.replace("gdr.", "gdr.errors.", 1) in python
        )

    constants = fortran.get("constants", set())
    return (
        [f"C++: {s}" for s in sorted(public_symbols(SOURCE)) if not in_cpp(s)]
        + [f"C: {f}" for f in sorted(public_functions_of_c(SOURCE)) if f not in c]
        + [f"Fortran: {n}" for n in sorted(fortran_names()) if n not in {*fortran, *constants}]
        + [f"Python: {n}" for n in sorted(python_names()) if not in_python(n)]
    )


def console_errors(browser: str, site: pathlib.Path, pages: list[pathlib.Path]) -> list[str]:
    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    serve = functools.partial(Handler, directory=str(site))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def errors_of(path: pathlib.Path) -> list[str]:
        place = path.relative_to(site).as_posix().removesuffix("index.html")
        # Processes of the browser may write there until after its end.
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            run = subprocess.run(
                [browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
                 "--v=0", f"--user-data-dir={profile}", "--virtual-time-budget=3000", "--dump-dom",
                 f"http://127.0.0.1:{server.server_port}/{place}"],
                capture_output=True, text=True, timeout=120, check=False,
            )  # fmt: skip
        lines = [x for x in run.stderr.splitlines() if "CONSOLE" in x]
        if "</html>" not in run.stdout:
            lines.append("the page did not load")
        return [f"{place}: {line}" for line in lines]

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [line for lines in pool.map(errors_of, pages) for line in lines]


def main() -> int:
    made = SOURCE / "build/site-tools/bin/python"
    python = os.environ.get("GDR_TEST_SITE") or (made if made.exists() else None)
    if python is None:
        print("skipped: no Python with the packages of docs/site (`make site-tools` makes one)")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        site = pathlib.Path(folder) / "site"
        build = [python, SOURCE / "docs/site/build.py", "--without-notebooks", BUILD, site]
        subprocess.run(build, check=True)
        pages = {p.resolve(): Page(p) for p in sorted(site.rglob("*.html"))}
        assert len(pages) > 60, f"only {len(pages)} pages"
        problems = broken_links(site, pages) + missing_names(site, pages)
        browser = find_browser()
        if browser is not None:
            problems += console_errors(browser, site, list(pages))
    print("\n".join(problems) or f"{len(pages)} pages")
    if browser is None:
        print(f"no page was opened, because none of these is in PATH: {', '.join(BROWSERS)}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
