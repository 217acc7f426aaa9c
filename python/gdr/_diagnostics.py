"""The kernel compiler's messages about a translated function, in terms of its Python source."""

from __future__ import annotations

import ast
import re
from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ._source import Source

#: Characters that mark the text of an expression during the translation. Each opening one stands
#: for a node; there is one closing one.
_FIRST_MARK, _LAST_MARK, _END = 0xF0000, 0xFFFFD, "\ue000"


class Span(NamedTuple):
    """The columns of a translated line that an expression became."""

    begin: int
    end: int
    node: ast.AST


class Marks:
    """Marks in translated text by node."""

    def __init__(self) -> None:
        self._nodes: List[ast.AST] = []
        self._numbers: Dict[int, int] = {}

    def marked(self, node: ast.AST, text: str) -> str:
        """The translation of a node with marks around it."""
        number = self._numbers.setdefault(id(node), len(self._nodes))
        if number == len(self._nodes):
            self._nodes.append(node)  # which keeps its id
        if _FIRST_MARK + number > _LAST_MARK:
            return text
        return f"{chr(_FIRST_MARK + number)}{text}{_END}"

    def split(self, text: str) -> Tuple[str, List[Span]]:
        """The text without marks, and the spans of the nodes."""
        out: List[str] = []
        spans: List[Span] = []
        opened: List[Tuple[int, ast.AST]] = []
        for letter in text:
            if letter == _END:
                begin, node = opened.pop()
                spans.append(Span(begin, len(out), node))
            elif ord(letter) >= _FIRST_MARK:
                opened.append((len(out), self._nodes[ord(letter) - _FIRST_MARK]))
            else:
                out.append(letter)
        return "".join(out), spans


class Line(NamedTuple):
    """Where a line of the translation comes from."""

    source: Source
    number: int  #: in the source
    spans: Sequence[Span] = ()


_HEADER = re.compile(r"(?P<name>.*?):(?P<line>\d+):(?P<column>\d+): (?P<message>.*)")
_EXCERPT = re.compile(r"\s*\d+ \| ")
_CARETS = re.compile(r"\s*\| *(\^~*)$")
_HELP = re.compile(r"\s*help: ")


def python_message(message: str, lines: Mapping[int, Line], names: Mapping[str, str]) -> str:
    """The compiler's message with the places, names and operators of Python.

    ``lines`` are those of the translation; ``names`` maps its variables to expressions of Python.
    """
    out: List[str] = []
    texts = message.splitlines()
    k = 0
    while k < len(texts):
        text = texts[k]
        k += 1
        header = _HEADER.fullmatch(text)
        line = lines.get(int(header["line"])) if header else None
        if header is None or line is None:
            out.append(_in_python(text, names) if _HELP.match(text) else text)
            continue
        width = 1
        while k < len(texts) and (_EXCERPT.match(texts[k]) or _CARETS.match(texts[k])):
            carets = _CARETS.match(texts[k])
            width = len(carets[1]) if carets else width
            k += 1
        node = _innermost(line.spans, int(header["column"]) - 1, width)
        what = _in_python(header["message"], names)
        out.append(_at(line, node, what))
    return "\n".join(out).rstrip("\n")


def _innermost(spans: Sequence[Span], begin: int, width: int) -> Optional[ast.AST]:
    """The smallest expression around some columns of its translation."""
    around = [s for s in spans if s.begin <= begin and begin + width <= s.end]
    return min(around, key=lambda s: s.end - s.begin).node if around else None


def _at(line: Line, node: Optional[ast.AST], message: str) -> str:
    source = line.source
    if node is not None:
        return source.message(node, message)
    text = source.lines[line.number - 1]
    begin = len(text) - len(text.lstrip())
    where = f"{source.file}:{source.first + line.number - 1}"
    return f"{where}: {message}\n" + source.excerpt(line.number, begin, len(text.rstrip()))


_SYNTAX = (
    (r"`(\S+) \? (\S+) : (\S+)`", r"`\2 if \1 else \3`"),
    (r" ?&& ?", " and "),
    (r" ?\|\| ?", " or "),
    (r"`s\*identity`", "`s * np.eye(3)`"),
    (r"\bvec[23]\(([^()]*)\)", r"np.array([\1])"),
    (r"\bvec2\b", "vector of two components"),
    (r"\bvec3\b", "vector"),
    (r"\bsym3\b", "symmetric tensor"),
    (r"`\.x`", "`[0]`"),
    (r"`(\w[\w.]*) append= \.\.\.;`", r"`\1 += ...`"),
    (r";`", "`"),
    (r"combine conditions with  and and  or ", "combine conditions with and, or"),
)


def _in_python(text: str, names: Mapping[str, str]) -> str:
    """A message with the operators and names of Python."""

    def renamed(code: "re.Match[str]") -> str:
        return re.sub(r"\b[A-Za-z_]\w*\b", lambda word: names.get(word[0], word[0]), code[0])

    text = re.sub(r"`[^`]*`", renamed, text)
    for pattern, replacement in _SYNTAX:
        text = re.sub(pattern, replacement, text)
    return text
