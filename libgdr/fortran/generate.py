#!/usr/bin/env python3
"""Writes the Fortran module from the C header: generate.py gdr.h gdr.f90.in gdr.f90

The template has the parts that no declaration implies, and lines "!@ declarations",
"!@ interfaces" and "!@ procedures" that are replaced. A procedure that the template has itself is
not generated. The rules by which a declaration becomes a procedure:

gdr_x* x                 type(gdr_x); created by gdr_x**; set to null by what frees or closes it
gdr_status               the last argument, `status`
const char*              character(len=*), without trailing blanks; or an allocatable result
size_t, int, unsigned    integer; a result of type int is a logical
index, first, *_pivot    counted from 1 instead of 0 (and 0 instead of -1); pivots, places and offsets
                         likewise
enum                     integer, or a letter of BLAS for those in BLAS_LETTERS
gdr_input* x, count      arrays made by gdr_array
struct* x, size          type(struct); members of x_options are 0 unless they are set
T* x, capacity, count    allocatable array
double* x, ldx           matrix x(ldx, *)
"x(n, m)" in the comment the shape of x; with a parameter step_x, x(n, m, :) gives all sizes
int* periodic            logical periodic(3)
"Null for arrays" in the comment: the interface to C takes addresses
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

# Enumerations that BLAS names by letters: the letters of the values 0 and 1.
BLAS_LETTERS = {"gdr_transpose": "NT", "gdr_side": "LR", "gdr_triangle": "LU", "gdr_diagonal": "NU"}

# C types of the same representation in Fortran.
SCALARS = {
    "double": "real(c_double)",
    "float": "real(c_float)",
    "int": "integer(c_int)",
    "unsigned": "integer(c_int)",
    "size_t": "integer(c_size_t)",
    "ptrdiff_t": "integer(c_intptr_t)",
    "int32_t": "integer(c_int32_t)",
    "int64_t": "integer(c_int64_t)",
    "uint64_t": "integer(c_int64_t)",
    "constchar*": "type(c_ptr)",
    "void*": "type(c_ptr)",
    "constvoid*": "type(c_ptr)",
    "constsize_t*": "type(c_ptr)",
}


class Parameter(NamedTuple):
    type: str  # without blanks
    name: str

    @property
    def is_const(self) -> bool:
        return self.type.startswith("const")

    @property
    def is_pointer(self) -> bool:
        return self.type.endswith("*")

    @property
    def pointee(self) -> str:
        return self.type.removeprefix("const").split("*")[0]

    @property
    def intent(self) -> str:
        return ", intent(in)" if self.is_const else ", intent(inout)"


class Function(NamedTuple):
    result: str
    name: str
    doc: str
    parameters: list[Parameter]


def squeeze(text: str) -> str:
    return " ".join(text.split())


def match(pattern: str, text: str) -> re.Match[str]:
    found = re.fullmatch(pattern, text)
    if not found:
        sys.exit(f"generate.py: cannot parse: {text}")
    return found


def wrap(text: str, first: str, following: str, glue: str) -> list[str]:
    """Text in lines of at most 97 columns; continued lines end with `glue`."""
    lines = [first]
    empty = True
    for word in text.split():
        if not empty and len(lines[-1]) + len(word) + len(glue) > 97:
            lines[-1] += glue
            lines.append(following)
            empty = True
        lines[-1] += ("" if empty else " ") + word
        empty = False
    return lines


def statement(text: str, indent: str) -> list[str]:
    return wrap(text, indent, indent + "     ", " &")


def comment(text: str) -> list[str]:
    return wrap(text, "  ! ", "  ! ", "") if text else []


def parse_variable(text: str) -> Parameter:
    """ "const double* a" as type and name; an array's length follows the name."""
    callback = re.fullmatch(r".*\(\*(\w+)\)\(.*\)", text)
    if callback:
        return Parameter("callback", callback[1])
    plain = match(r"(.*?)(\w+(?:\[\d+\])?)", text)
    return Parameter(plain[1].replace(" ", ""), plain[2])


class Header:
    """The declarations of gdr.h: constants and types in Fortran, and functions."""

    def __init__(self, text: str) -> None:
        self.declarations: list[str] = []
        self.functions: list[Function] = []
        self.handles: set[str] = set()
        self.enums: set[str] = set()
        self.structs: set[str] = set()
        text = re.sub(r'\A[\s\S]*?extern "C" \{\s*#endif', "", text)
        text = re.sub(r"#ifdef[\s\S]*\Z", "", text)
        item = r"\s*(?:/\*([\s\S]*?)\*/)?\s*(typedef [^;{]*\{[\s\S]*?\}[^;]*|[^;/]+);"
        for doc, raw in re.findall(item, text):
            self.parse(squeeze(re.sub(r"\n \* ?", "\n", doc)), raw)
        for name in sorted(self.handles):
            self.declarations += [
                "  type, public :: " + name,
                "     private",
                "     type(c_ptr) :: handle = c_null_ptr",
                "  end type " + name,
            ]

    def parse(self, doc: str, raw: str) -> None:
        line = squeeze(raw)
        if line.startswith("typedef enum"):
            name, values = match(r"typedef enum (\w+) GDR_INT \{(.*)\} \w+", line).groups()
            self.enums.add(name)
            self.declarations += comment(doc)
            constants = "integer, parameter, public :: " + squeeze(values).lower()
            self.declarations += statement(constants, "  ")
        elif line.startswith("typedef struct") and "{" in line:
            self.parse_struct(doc, raw)
        elif line.startswith("typedef struct"):
            self.handles.add(match(r"typedef struct (\w+) \w+", line)[1])
        else:
            result, name, parameters = match(r"(.*?)(gdr_\w+)\((.*)\)", line).groups()
            # Commas within the parentheses of a callback separate no parameters.
            parts = [] if parameters == "void" else re.split(r",(?![^()]*\)[^(]*$)", parameters)
            variables = [parse_variable(squeeze(part)) for part in parts]
            self.functions.append(Function(result.replace(" ", ""), name, doc, variables))

    def parse_struct(self, doc: str, body: str) -> None:
        """`body` still has its comments, which become those of the members."""
        name, members = match(r"typedef struct (\w+) \{([\s\S]*)\} \w+", body).groups()
        if name in ("gdr_input", "gdr_result"):  # c_array of the template
            return
        self.structs.add(name)
        self.declarations += [*comment(doc), "  type, bind(c), public :: " + name]
        for member, remark in re.findall(r"([^;]+);\s*(?:/\*([\s\S]*?)\*/)?", members):
            v = parse_variable(squeeze(member))
            array = re.fullmatch(r"(\w+)\[(\d+)\]", v.name)
            letters = array and v.type == "char"
            declared = "character(kind=c_char)" if letters else self.fortran_type(v.type)
            name_and_size = f"{array[1]}({array[2]})" if array else v.name
            if name.endswith("_options"):
                name_and_size += " = 0"
            note = f"  ! {squeeze(remark)}" if remark else ""
            self.declarations.append(f"     {declared} :: {name_and_size}{note}")
        self.declarations.append("  end type " + name)

    def fortran_type(self, c_type: str) -> str:
        if c_type in self.enums:
            return "integer(c_int)"
        if c_type not in SCALARS:
            sys.exit(f"generate.py: no Fortran type for {c_type}")
        return SCALARS[c_type]


class Procedure:
    """A function as an interface to C, and as a procedure that converts its arguments."""

    def __init__(self, header: Header, function: Function) -> None:
        self.header = header
        self.function = function
        self.parameters = function.parameters
        self.c_name = "c_" + function.name.removeprefix("gdr_")
        self.batched = any(p.name.startswith("step_") for p in self.parameters)
        self.sized = any(p.type == "size_t" for p in self.parameters)
        self.matrix = ""  # the last array of a batch
        self.sizes: set[str] = set()  # sizes of a batch that an array has given
        self.checks = False
        # The parts of the procedure.
        self.arguments: list[str] = []
        self.declarations: list[str] = []
        self.locals: list[str] = []
        self.before: list[str] = []
        self.call: list[str] = []
        self.after: list[str] = []

    def is_handle(self, p: Parameter) -> bool:
        return p.pointee in self.header.handles

    def is_struct(self, p: Parameter) -> bool:
        return p.pointee in self.header.structs

    @staticmethod
    def is_named_array(p: Parameter) -> bool:
        return p.pointee in ("gdr_input", "gdr_result")

    def is_list(self, p: Parameter) -> bool:
        """A result whose length the call returns: a parameter `capacity` follows."""
        following = self.parameters[self.parameters.index(p) :]
        return p.is_pointer and any(q.name == "capacity" for q in following)

    def is_array(self, p: Parameter) -> bool:
        """A pointer to several values: without a size among the parameters there are none."""
        if not p.is_pointer or self.is_handle(p):
            return False
        several = p.type in ("constchar*", "constvoid*") or p.name in ("pivots", "places", "offsets")
        sized = self.sized and p.pointee in ("double", "float")
        shaped = bool(self.shape_of(p.name))
        return several or sized or shaped or self.is_named_array(p) or self.is_list(p)

    def pointee_type(self, p: Parameter) -> str:
        return f"type({p.pointee})" if self.is_struct(p) else self.header.fortran_type(p.pointee)

    def c_declaration(self, p: Parameter) -> str:
        fixed = {
            "callback": "type(c_funptr), value",
            "void*": "type(c_ptr), value",
            "constvoid*": "integer(c_int8_t), intent(in)",
            "constchar*": "character(kind=c_char), intent(in)",
        }
        if p.type in fixed:
            return fixed[p.type]
        if self.is_named_array(p):
            return "type(c_array), intent(in)"
        if self.is_handle(p):
            return "type(c_ptr), " + ("intent(out)" if p.type.endswith("**") else "value")
        if not p.is_pointer:
            return self.header.fortran_type(p.type) + ", value"
        return self.pointee_type(p) + p.intent

    def interface_lines(self) -> list[str]:
        """The Fortran interface of the C function."""
        f = self.function
        kind, result = ("subroutine", "") if f.result == "void" else ("function", " result(returned)")
        names = ", ".join(p.name for p in self.parameters)
        lines = statement(f'{kind} {self.c_name}({names}) bind(c, name="{f.name}"){result}', "     ")
        lines.append("       import")
        for p in self.parameters:
            if self.is_array(p) and "Null for arrays" in f.doc:
                lines.append(f"       type(c_ptr), value :: {p.name}")
                continue
            shape = "(*)" if self.is_array(p) else ""
            lines.append(f"       {self.c_declaration(p)} :: {p.name}{shape}")
        if result:
            status = f.result == "gdr_status"
            returned = "integer(c_int)" if status else self.header.fortran_type(f.result)
            lines.append(f"       {returned} :: returned")
        return [*lines, f"     end {kind} {self.c_name}"]

    def procedure_lines(self) -> list[str]:
        f = self.function
        k = 0
        while k < len(self.parameters):
            k += self.convert(k)
        status = f.result == "gdr_status" and bool(self.parameters)
        if status:
            self.argument("status", "integer, intent(out)")
        call = f"{self.c_name}({', '.join(self.call)})"
        results = {
            "int": ("logical", f"{call} /= 0"),
            "constchar*": ("character(len=:), allocatable", f"gdr_text({call})"),
        }
        kind, result = "subroutine", ""
        if status:
            action = "status = " + call
        elif f.result == "void":
            action = "call " + call
        else:
            kind, result = "function", " result(returned)"
            result_type, value = results.get(f.result, ("integer", f"int({call})"))
            self.declarations.append(f"    {result_type} :: returned")
            action = "returned = " + value
        return [
            *comment(f.doc),
            *statement(f"{kind} {f.name}({', '.join(self.arguments)}){result}", "  "),
            *self.declarations,
            *self.locals,
            *self.before,
            *statement(action, "    "),
            *self.after,
            f"  end {kind} {f.name}",
        ]

    def argument(self, name: str, declaration: str, shape: str = "") -> None:
        self.arguments.append(name)
        self.declarations += statement(f"{declaration} :: {name}{shape}", "    ")

    def pass_on(self, name: str, declaration: str, shape: str = "") -> None:
        self.argument(name, declaration, shape)
        self.call.append(name)

    def add_local(self, declaration: str) -> None:
        self.locals.append("    " + declaration)

    def add_before(self, text: str) -> None:
        self.before += statement(text, "    ")

    def add_after(self, text: str) -> None:
        self.after += statement(text, "    ")

    def name_after(self, k: int) -> str:
        return self.parameters[k + 1].name if k + 1 < len(self.parameters) else ""

    def shape_of(self, name: str) -> list[str]:
        """Dimensions of "name(n, m)" in the comment; empty if it has none."""
        found = re.search(rf"\b{name}\(([\w, ]+)\)", self.function.doc)
        return [part.strip() for part in found[1].split(",")] if found else []

    def convert(self, k: int) -> int:
        """Declares parameter k and passes it on; returns how many parameters that takes."""
        p = self.parameters[k]
        if self.batched and p.type == "size_t":
            self.convert_batch_size(p.name)
        elif self.is_handle(p):
            self.convert_handle(p)
        elif p.type == "constchar*":
            self.argument(p.name, "character(len=*), intent(in)")
            self.call.append(f"trim({p.name})//c_null_char")
        elif self.is_named_array(p):
            self.argument(p.name, "type(gdr_named_array), intent(in), target", "(:)")
            self.call += [f"c_arrays({p.name})", f"size({p.name}, kind=c_size_t)"]
            return 2
        elif self.is_list(p):
            return self.convert_list(k)
        elif self.is_struct(p):
            self.pass_on(p.name, f"type({p.pointee}), intent({'in' if p.is_const else 'out'})")
            if self.name_after(k).endswith("size"):
                self.call.append(f"c_sizeof({p.name})")
                return 2
        elif p.type in self.header.enums:
            letters = BLAS_LETTERS.get(p.type)
            self.argument(p.name, ("character" if letters else "integer") + ", intent(in)")
            code = f'letter_code({p.name}, "{letters}")' if letters else f"int({p.name},c_int)"
            self.call.append(code)
        elif p.name == "pivots":
            self.convert_pivots(p)
        elif p.name == "places":
            self.argument("places", "integer(c_int32_t), intent(in)", "(n)")
            self.call.append("places - 1")
        elif p.name == "offsets":
            self.argument("offsets", "integer(c_int64_t), intent(in)", "(sets + 1)")
            self.call.append("offsets - 1")
        elif p.name == "periodic":
            self.argument("periodic", "logical, intent(in)", "(3)")
            self.call.append("merge(1_c_int, 0_c_int, periodic)")
        elif self.is_array(p):
            self.convert_array(k)
        elif p.is_pointer:
            self.convert_result(p)
        elif p.type in ("double", "float"):
            self.pass_on(p.name, SCALARS[p.type] + ", intent(in)")
        else:
            self.argument(p.name, "integer, intent(in)")
            minus = " - 1" if p.name in ("index", "first") else ""
            kind = "c_size_t" if p.type == "size_t" else "c_int"
            self.call.append(f"int({p.name}{minus},{kind})")
        return 1

    def convert_batch_size(self, name: str) -> None:
        """A size of a batch, which is that of an array."""
        self.call.append(name)
        self.add_local("integer(c_size_t) :: " + name)
        rows = f"size({self.matrix}, 1, c_size_t)"
        if name.startswith("ld"):
            self.add_before(f"{name} = max({rows}, 1_c_size_t)")
        if name.startswith("step_"):
            self.add_before(f"{name} = {rows} * size({self.matrix}, 2, c_size_t)")

    def convert_handle(self, p: Parameter) -> None:
        frees = self.function.result == "void"
        intent = "out" if p.type.endswith("**") else "inout" if frees else "in"
        self.argument(p.name, f"type({p.pointee}), intent({intent})")
        self.call.append(p.name + "%handle")
        if frees:
            self.add_after(p.name + "%handle = c_null_ptr")

    def convert_list(self, k: int) -> int:
        """Results whose length the call returns: at most one entry for each rank."""
        p = self.parameters[k]
        declared = self.pointee_type(p) if self.is_struct(p) else "integer"
        self.argument(p.name, declared + ", allocatable, intent(out)", "(:)")
        self.add_local(self.pointee_type(p) + ", allocatable :: list(:)")
        self.add_local("integer(c_size_t) :: count")
        self.add_before("allocate (list(max(1, gdr_device_ranks(device))))")
        self.add_before("count = 0")
        has_size = self.name_after(k) == "size"
        self.call += ["list"] + (["c_sizeof(list(1))"] if has_size else [])
        self.call += ["size(list, kind=c_size_t)", "count"]
        self.add_after(p.name + " = list(1:count)")
        return 4 if has_size else 3

    def convert_pivots(self, p: Parameter) -> None:
        count = "min(m, n)" if any(q.name == "m" for q in self.parameters) else "n"
        section = "" if self.batched else f"(1:max({count}, 0))"
        contiguous = ", contiguous" if self.batched else ""
        shape = "(:, :)" if self.batched else "(*)"
        self.argument("pivots", f"integer(c_int64_t){contiguous}{p.intent}", shape)
        if self.batched:
            self.check_shape("pivots", self.shape_of("pivots"))
        if p.is_const:
            rank = "(:, :)" if self.batched else "(:)"
            self.add_local("integer(c_int64_t), allocatable :: from_zero" + rank)
            self.add_before(f"from_zero = pivots{section} - 1")
            self.call.append("from_zero")
        else:
            self.call.append("pivots")
            self.add_after(f"if (status == gdr_ok) pivots{section} = pivots{section} + 1")

    def convert_array(self, k: int) -> None:
        p = self.parameters[k]
        declared = "integer(c_int8_t)" if p.type == "constvoid*" else self.pointee_type(p)
        shape = self.shape_of(p.name)
        dimensions = f"({', '.join(shape)})" if shape else "(*)"
        if self.name_after(k).startswith("ld"):
            dimensions = f"({self.name_after(k)}, *)"
        if self.batched:
            dimensions = "(:, :, :)"
            self.matrix = p.name
            self.check_shape(p.name, shape)
        contiguous = ", contiguous" if self.batched else ""
        self.pass_on(p.name, declared + contiguous + p.intent, dimensions)

    def check_shape(self, name: str, shape: list[str]) -> None:
        """Takes sizes that are not known yet from the shape of an array of a batch, and compares
        the others."""
        if not shape:
            sys.exit(f"generate.py: {self.function.name}: the comment lacks a shape of {name}")
        for d, size in enumerate([*shape, "count"], start=1):
            extent = f"size({name}, {d}, c_size_t)"
            if size not in self.sizes:
                self.sizes.add(size)
                self.add_before(f"{size} = {extent}")
                continue
            if not self.checks:
                self.add_before("status = gdr_error_usage")
                self.checks = True
            self.add_before(f"if ({extent} /= {size}) return")

    def convert_result(self, p: Parameter) -> None:
        """A number that is a result; one that counts from 0 is -1 where there is none."""
        if p.pointee == "double":
            self.pass_on(p.name, "real(c_double), intent(out)")
            return
        index = p.name.endswith("_pivot")
        self.argument(p.name, "integer, intent(out)")
        c = "c_" + p.name
        self.add_local(f"{self.pointee_type(p)} :: {c}")
        self.before[:0] = [f"    {p.name} = 0", f"    {c} = {-1 if index else 0}"]
        self.call.append(c)
        self.add_after(f"{p.name} = int({c}){' + 1' if index else ''}")


def main() -> None:
    header_path, template_path, out_path = map(Path, sys.argv[1:])
    header = Header(header_path.read_text())
    template = template_path.read_text()
    names, interfaces, procedures = [], [], []
    for f in header.functions:
        names.append("  public :: " + f.name)
        interfaces += Procedure(header, f).interface_lines()
        if not re.search(rf"(subroutine|function) {f.name}\(", template):
            procedures += [*Procedure(header, f).procedure_lines(), ""]
    parts = {
        "!@ declarations": header.declarations + names,
        "!@ interfaces": interfaces,
        "!@ procedures": procedures,
    }
    lines = ["! Generated from gdr.h by libgdr/fortran/generate.py."]
    for line in template.splitlines():
        lines += parts.get(line, [line])
    out_path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
