#!/usr/bin/env python3
"""The documentation site: builds it, and opens every page.

usage: site.py SOURCE_DIR BUILD_DIR

Runs where GDR_TEST_SITE names a Python with the packages of docs/site/requirements.txt
(`make site` makes one: build/site-tools/bin/python). Links and anchors of all pages must lead
somewhere, every public name of C++ and C must be on a page of the reference, as must every name
that the Python package exports, and no page may report an error to the console of a browser
(chromium, if there is one).
"""

from __future__ import annotations

import concurrent.futures
import functools
import html.parser
import http.server
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

SKIPPED = 77
SOURCE, BUILD = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
sys.path.insert(0, str(SOURCE / "tests/python"))

from cpp_symbols import public_functions_of_c, public_symbols  # noqa: E402


class Page(html.parser.HTMLParser):
    """The text, links and anchors of a page."""

    def __init__(self, path: pathlib.Path) -> None:
        super().__init__()
        self.text: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if value is None:
                continue
            if name in ("id", "name"):
                self.anchors.add(value)
            elif name in ("href", "src"):
                self.links.append(value)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


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


def missing_names(site: pathlib.Path, pages: dict[pathlib.Path, Page]) -> list[str]:
    def words(folder: str) -> set[str]:
        shown = [" ".join(p.text) for f, p in pages.items() if f.is_relative_to(site / folder)]
        return set(re.findall(r"\w+", " ".join(shown)))

    cpp, c, python = words("api/cpp"), words("api/c"), words("api/python")
    sys.path.insert(0, str(BUILD / "python"))
    import gdr

    return (
        [f"C++: {s}" for s in sorted(public_symbols(SOURCE)) if s.split(".")[-1] not in cpp]
        + [f"C: {f}" for f in sorted(public_functions_of_c(SOURCE)) if f not in c]
        + [f"Python: {n}" for n in gdr.__all__ if n not in python and not n.startswith("_")]
    )


def console_errors(site: pathlib.Path, pages: list[pathlib.Path]) -> list[str]:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        print("no chromium: pages are not opened")
        return []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    serve = functools.partial(Handler, directory=str(site))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def errors_of(path: pathlib.Path) -> list[str]:
        place = path.relative_to(site).as_posix().removesuffix("index.html")
        with tempfile.TemporaryDirectory() as profile:
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
    python = os.environ.get("GDR_TEST_SITE")
    if not python:
        print("skipped: GDR_TEST_SITE names no Python with the packages of docs/site")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        site = pathlib.Path(folder) / "site"
        subprocess.run([python, SOURCE / "docs/site/build.py", BUILD, site], check=True)
        pages = {p.resolve(): Page(p) for p in sorted(site.rglob("*.html"))}
        assert len(pages) > 60, f"only {len(pages)} pages"
        problems = broken_links(site, pages) + missing_names(site, pages)
        problems += console_errors(site, list(pages))
    print("\n".join(problems) or f"{len(pages)} pages")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
