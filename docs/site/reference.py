"""Pages of the C++, C, Fortran and Python interfaces, from headers and docstrings."""

from __future__ import annotations

import inspect
import pathlib
import re
import sys
from typing import NamedTuple

# Headers of the C++ interface, in the order of a reader; those that are not named follow.
FIRST = "device kernel gravity sets set_list matrix linear batch moving_sources hermite machine debugger"


class Entity(NamedTuple):
    """A declaration with the comment above it."""

    name: str
    comment: list[str]
    code: list[str]


def without_text(line: str) -> str:
    """A line without strings and comments, for counting braces."""
    line = re.sub(r'"(\\.|[^"\\])*"', '""', line)
    return re.sub(r"//.*|/\*.*?\*/", "", line)


def name_of(code: str) -> str:
    """What a declaration declares."""
    code = re.sub(r"^template\s*<[^{;]*?>\s*(?=(class|struct|using|inline|constexpr|\w))", "", code)
    for pattern in (
        r"(?:typedef\s+)?(?:class|struct|enum class|enum|union)\s+(?:alignas\(\d+\)\s+)?(\w+)",
        r"using\s+(\w+)\s*=",
        r"#define\s+(\w+)",
        r"[^(=]*?\b(operator\S+|\w+)\s*\(",
        r"[^=;{]*?\b(\w+)\s*(?:\[\w*\])?\s*(?:=|\{|;)",
    ):
        match = re.match(pattern, code)
        if match:
            return match[1]
    return ""


def entities(lines: list[str]) -> list[Entity]:
    """The declarations of a header that are not inside of others, with their comments."""
    found: list[Entity] = []
    comment: list[str] = []
    code: list[str] = []
    depth = hidden = 0
    in_comment = False
    for line in lines:
        text = line.strip()
        if not code and (in_comment or text.startswith(("//", "/*"))):
            if text.startswith("/*"):
                comment = []
            in_comment = (in_comment or text.startswith("/*")) and "*/" not in text
            comment.append(re.sub(r"^(///?<?|/\*\*?|\*/?)\s?|\s*\*/$", "", text))
            continue
        bare = without_text(line)
        if not code and re.match(r"(inline )?namespace|extern \"C\"", text):
            hidden += 1 if re.search(r"namespace (\w+::)?detail", text) else 0
            comment = []
            continue
        if not code and (not text or text.startswith(("#", "}", "GDR_", "static_assert"))):
            if text.startswith("}") and hidden:
                hidden -= 1
            comment = comment if text.startswith("#") else []
            continue
        code.append(line.rstrip())
        depth += bare.count("{") + bare.count("(") - bare.count("}") - bare.count(")")
        if depth == 0 and re.search(r"[;}]\s*$", bare.rstrip()):
            name = name_of(" ".join(part.strip() for part in code))
            forward = re.match(r"(class|struct|enum class|friend)\b[^{]*;$", " ".join(code).strip())
            if name and not hidden and not forward:
                found.append(Entity(name, comment, code))
            comment, code = [], []
    return found


def public(code: list[str]) -> list[str]:
    """A class without its private part."""
    kept: list[str] = []
    shown = True
    for line in code:
        label = re.match(r"\s*(public|private|protected):", line)
        if label:
            shown = label[1] == "public"
            if not shown:
                continue
        if shown or line.startswith("}"):
            kept.append(line)
    while len(kept) > 1 and not kept[-2].strip():
        del kept[-2]
    return kept


def page(title: str, introduction: list[str], found: list[Entity], language: str) -> str:
    out = [f"# {title}", ""]
    if introduction:
        out += ["```text", *introduction, "```", ""]
    before = ""
    for entity in found:
        if entity.name != before:
            out += [f"## {entity.name}", ""]
        before = entity.name
        # Formulas are indented in comments; they keep their lines.
        out += [("    " + c if c.startswith("  ") else c) for c in entity.comment] + [""]
        out += [f"```{language}", *public(entity.code), "```", ""]
    return "\n".join(out)


def header_introduction(lines: list[str]) -> list[str]:
    """The comment at the top of a header."""
    top: list[str] = []
    for line in lines:
        if not line.startswith(("//", "/*", " *")):
            break
        top.append(re.sub(r"^(//|/\*| \*/?)\s?|\s*\*/$", "", line.rstrip()))
    return top


def public_names(text: str) -> set[str]:
    """The names that a Fortran module makes public."""
    statements = re.sub(r"&[ ]*\n", " ", re.sub(r"!.*", "", text))
    names: set[str] = set()
    for items in re.findall(r"^  [^\n]*\bpublic\b *::(.*)$", statements, re.M):
        names.update(re.findall(r"(?:^|,)\s*(\w+)", items))
    return names


def fortran_entities(text: str) -> list[Entity]:
    """The public constants, types, interfaces and procedures of the Fortran module, with their
    comments; of procedures the arguments."""
    names = public_names(text)
    declarations, procedures = text.split("\ncontains\n", 1)
    statement = r"[^\n]*?(?:& *\n[^\n]*?)*\n"
    constants = re.compile(rf"((?:^  !.*\n)*)^(  integer, parameter, public ::{statement})", re.M)
    block = re.compile(
        r"((?:^  !.*\n)*)^(  (type|(?:abstract )?interface)\b[^\n]*\n(?:.*\n)*?  end \3?[^\n]*\n)",
        re.M,
    )
    procedure = re.compile(
        rf"((?:^  !.*\n)*)^(  (?:subroutine|function) (\w+){statement}"
        r"(?:    (?:type|character|integer|real|logical|class|procedure|complex)\b[^\n]*\n)*)",
        re.M,
    )

    def entity(name: str, comment: str, code: str) -> Entity:
        lines = [re.sub(r"^  !\s?", "", line) for line in comment.splitlines()]
        return Entity(name, lines, code.rstrip().splitlines())

    found = [entity("Constants", *match) for match in constants.findall(declarations)]
    for comment, code, kind in block.findall(declarations):
        if kind == "abstract interface":
            name = re.findall(r"subroutine (\w+)", code)[0]
        else:
            name = (re.findall(r"^  (?:type\b.*::|interface) *(\w+)", code) or [""])[0]
        if name in names:
            # Private components are left out.
            code = re.sub(r"(?s)^(     private\n).*(?=^  end)", "", code, flags=re.M)
            found.append(entity(name, comment, code))
    for comment, code, name in procedure.findall(procedures):
        if name in names:
            found.append(entity(name, comment, code))
    return found


def python_pages(build: pathlib.Path, pages: pathlib.Path) -> list[tuple[str, str]]:
    """A page for each public module, which mkdocstrings fills."""
    sys.path.insert(0, str(build / "python"))
    modules = ["gdr", "gdr.results", "gdr.functions", "gdr.errors", "gdr.linalg", "gdr.chemistry"]
    modules += ["gdr.sph", "gdr.nbody", "gdr.nbody.plots", "gdr.jax", "gdr.torch"]
    places = []
    for module in modules:
        place = f"api/python/{module}.md"
        (pages / place).parent.mkdir(parents=True, exist_ok=True)
        (pages / place).write_text(f"# {module}\n\n::: {module}\n    options:\n"
                                   "      show_root_heading: false\n")  # fmt: skip
        places.append((f"Python: {module}", place))
    import gdr

    kernels = [n for n in gdr.__all__ if isinstance(getattr(gdr, n), gdr.ParticleKernel)]
    text = ["# Kernels", "", "The kernels of the library as functions of gdr.", ""]
    for name in sorted(kernels):
        text += [f"## {name}", "", "```text", *inspect.getdoc(getattr(gdr, name)).splitlines()]
        text += ["```", ""]
    place = "api/python/kernels.md"
    (pages / place).write_text("\n".join(text))
    return [*places, ("Python: kernels", place)]


def write(source: pathlib.Path, build: pathlib.Path, pages: pathlib.Path) -> list[tuple[str, str]]:
    """Writes all pages; returns their titles and places."""
    include = source / "libgdr/include"
    places = []

    def put(title: str, place: str, text: str) -> None:
        path = pages / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        places.append((title, place))

    headers = {p.stem: p for p in (include / "gdr").glob("*.hpp")}
    headers["kernels/typed"] = include / "gdr/kernels/typed.hpp"
    headers.update({p.stem: p for p in (source / "emulator/include/gdr").glob("*.hpp")})
    order = FIRST.split() + sorted(set(headers) - set(FIRST.split()) - {"gdr", "version"})
    parts = []
    for stem in [*order, "version"]:
        lines = headers[stem].read_text(encoding="utf-8").splitlines()
        found = entities(lines[len(header_introduction(lines)) :])
        if found:
            name = f"gdr/{stem}.hpp"
            put(f"C++: {name}", f"api/cpp/{stem}.md",
                page(f"&lt;{name}&gt;", header_introduction(lines), found, "cpp"))  # fmt: skip
            parts.append(stem)
    lines = (include / "gdr.h").read_text(encoding="utf-8").splitlines()
    put("C: gdr.h", "api/c.md", page("&lt;gdr.h&gt;", header_introduction(lines),
        entities(lines[len(header_introduction(lines)) :]), "c"))  # fmt: skip
    module = build / "libgdr/gdr.f90"
    if module.exists():
        text = module.read_text(encoding="utf-8")
        top = [re.sub(r"^! ?", "", x) for x in text[: text.index("module gdr")].splitlines()]
        put("Fortran: module gdr", "api/fortran.md",
            page("Module gdr", top, fortran_entities(text), "fortran"))  # fmt: skip
    return places + python_pages(build, pages)
