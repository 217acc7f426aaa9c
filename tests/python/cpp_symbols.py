"""The public names of the C++ and C headers, extracted from their text.

A simple parser for headers in this project's style; test_api_table.py tests it on a small header.
"""

from __future__ import annotations

import pathlib
import re
from typing import List, NamedTuple, Set


class Scope(NamedTuple):
    kind: str  # "namespace", "class", "struct", "enum", or "body" of a function
    name: str
    public: bool


def without_comments(text: str) -> str:
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"//[^\n]*", " ", text)
    text = re.sub(r'"(\\.|[^"\\])*"', '""', text)
    text = re.sub(r"=\s*\{[^{}]*\}", "= 0", text)
    return re.sub(r"^\s*#(.*\\\n)*.*$", "", text, flags=re.M)


def symbols_of_cpp(text: str) -> Set[str]:
    """"Device", "Device.open", "Role.Target", ... in namespace gdr, including `gdr::kernels`."""
    found: Set[str] = set()
    scopes: List[Scope] = []
    statement = ""
    for part in re.split(r"([{};]|\b(?:public|private|protected)\s*:)", without_comments(text)):
        if part == "{":
            scope = opened(statement)
            if scope.kind in ("class", "struct", "enum"):
                note(found, scopes, scope.name)
            elif scope.kind == "body":
                declared(found, scopes, statement)
            scopes.append(scope)
            # The body of `Name x{...};` or of a function ends at its brace.
            statement = ""
        elif part == "}":
            if scopes[-1].kind == "enum":
                enumerators(found, scopes, statement)
            scopes.pop()
            statement = ""
        elif part == ";":
            declared(found, scopes, statement)
            statement = ""
        elif part.endswith(":") and part[:-1].strip() in ("public", "private", "protected"):
            scopes[-1] = scopes[-1]._replace(public=part.startswith("public"))
        else:
            statement += part
    return found


def opened(statement: str) -> Scope:
    """What a brace behind this text opens."""
    text = re.sub(r"template\s*<.*?>\s*(?=(class|struct)\b)", "", statement.strip(), flags=re.S)
    match = re.match(r"(?:inline\s+)?namespace\s+([\w:]*)$", text)
    if match:
        return Scope("namespace", match[1], True)
    match = re.match(r"enum\s+(?:class\s+)?(\w+)", text)
    if match:
        return Scope("enum", match[1], True)
    match = re.match(r"(class|struct)\s+(\w+)[^()=]*$", text)
    if match:
        return Scope(match[1], match[2], match[1] == "struct")
    return Scope("body", "", False)


def path(scopes: List[Scope]) -> str | None:
    """Names of the classes around; None where nobody outside sees it."""
    names = []
    for scope in scopes:
        if scope.kind == "namespace":
            if scope.name not in ("gdr", "gdr::kernels", ""):
                return None
            if scope.name == "":
                return None
        elif scope.kind == "body" or not scope.public:
            return None
        else:
            names.append(scope.name)
    return ".".join(names)


def note(found: Set[str], scopes: List[Scope], name: str) -> None:
    around = path(scopes)
    if around is None or not any(s.kind == "namespace" for s in scopes):
        return
    if name == around.split(".")[-1]:  # a constructor
        return
    found.add(f"{around}.{name}" if around else name)


def enumerators(found: Set[str], scopes: List[Scope], statement: str) -> None:
    for entry in statement.split(","):
        match = re.match(r"\s*(\w+)", entry)
        if match:
            note(found, scopes, match[1])


def declared(found: Set[str], scopes: List[Scope], statement: str) -> None:
    """A function, a member or an alias."""
    text = " ".join(statement.split())
    if scopes and scopes[-1].kind == "enum":
        return
    text = re.sub(r"^(template\s*<[^()]*?>\s*)+(requires \S+ )?", "", text)
    if not text or re.match(r"(friend|static_assert|class \w+$|struct \w+$|extern)", text):
        return
    alias = re.match(r"using (\w+) =", text)
    if alias:
        return note(found, scopes, alias[1])
    if text.startswith("using "):
        return
    if "operator" in text or "~" in text:
        return
    text = re.sub(r"std::function<.*\)>", "std::function", text)
    call = re.search(r"(\w+)\s*\(", text)
    if call and "=" not in text[: call.start()]:
        return note(found, scopes, call[1])
    # Several members of one type stand behind one another: `double begin = 0, end = 0`.
    members = re.sub(r"<[^<>]*(<[^<>]*>)?[^<>]*>", "", text).split(",")
    for member in members:
        match = re.search(r"(\w+)\s*(=.*|\[.*)?$", member.strip())
        if match and not match[1].isdigit():
            note(found, scopes, match[1])


def functions_of_c(text: str) -> Set[str]:
    # A pointer to a function, gdr_status (*work)(void*), is none.
    return set(re.findall(r"\b(gdr_\w+)\s*\((?!\*)", without_comments(text)))


def public_symbols(root: pathlib.Path) -> Set[str]:
    headers = sorted((root / "libgdr/include/gdr").rglob("*.hpp"))
    headers += sorted((root / "emulator/include/gdr").glob("*.hpp"))
    found: Set[str] = set()
    for header in headers:
        found |= symbols_of_cpp(header.read_text())
    return found


def public_functions_of_c(root: pathlib.Path) -> Set[str]:
    return functions_of_c((root / "libgdr/include/gdr.h").read_text())
