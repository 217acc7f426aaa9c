"""Every public C++ name has a Python equivalent or a reason: api_table.py is up to date."""

import dataclasses
import functools
import inspect
import re

import pytest
from api_table import C_FUNCTIONS, PYTHON, WITHOUT
from conftest import ROOT
from cpp_symbols import public_functions_of_c, public_symbols, symbols_of_cpp

import gdr

SYMBOLS = public_symbols(ROOT)


def test_table_lists_exactly_the_public_cpp_names():
    table = set(PYTHON) | set(WITHOUT)
    assert not set(PYTHON) & set(WITHOUT)
    assert sorted(SYMBOLS - table) == [], "new in the headers: add them to api_table.py"
    assert sorted(table - SYMBOLS) == [], "no longer in the headers"
    assert all(len(reason) > 10 for reason in WITHOUT.values())


def test_every_c_function_maps_to_a_cpp_name():
    functions = public_functions_of_c(ROOT)
    assert len(functions) > 50
    assert functions == set(C_FUNCTIONS)
    assert set(C_FUNCTIONS.values()) <= set(PYTHON)


def attribute(where, name):
    """An attribute, or None for a dataclass field without a class attribute."""
    if dataclasses.is_dataclass(where) and name in {f.name for f in dataclasses.fields(where)}:
        return None
    return getattr(where, name)


@pytest.mark.parametrize("python", sorted(set(PYTHON.values())))
def test_every_python_name_in_the_table_exists(python):
    place, parameter, option = re.fullmatch(
        r"([\w.]+)(?:\((\w+)\))?(?:\[([\w=]+)\])?", python
    ).groups()
    found = functools.reduce(attribute, place.split("."), gdr)
    if parameter:
        assert parameter in inspect.signature(found).parameters
    if option:
        name, _, value = option.partition("=")
        if value:
            found("emulator", **{name: value}).close()
        else:
            with pytest.raises(gdr.UsageError) as refused:
                found("emulator", **{name: "?"})
            assert "unknown device option" not in str(refused.value)


def test_every_public_name_has_a_docstring():
    without = []
    for module in (gdr, gdr.linalg, gdr.errors, gdr.functions):
        for name in module.__all__:
            thing = getattr(module, name)
            things = {name: thing}
            if inspect.isclass(thing):
                things.update(
                    {f"{name}.{n}": x for n, x in vars(thing).items() if not n.startswith("_")}
                )
            for full, x in things.items():
                if (callable(x) or isinstance(x, property)) and not inspect.getdoc(x):
                    without.append(full)
    assert without == []


HEADER = """
#pragma once
// class Nobody {};
namespace gdr {
struct Forward;
enum class Colour : std::uint8_t { Red, Green = 2 };  ///< of what
template <typename Number>
struct Pair {
  Number first{}, second = 0;
  friend bool operator==(const Pair&, const Pair&) = default;
};
/// A thing.
class Thing final : public Base {
 public:
  explicit Thing(const Options& options = {});
  ~Thing();
  Thing& operator=(Thing&&) noexcept;
  static Thing make(std::string_view name = {}, const Options& options = {});
  double half() const noexcept { return size > 0 ? 0.5 : f(size); }
  const std::vector<int>& list() const;

 private:
  int hidden();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};
template <typename T>
T helper(T x, const char* text = "{};");
namespace detail { int inner(); }
using Short = std::vector<int>;
inline int twice(int x) { if (x) { return 2 * x; } return 0; }
}
int outside();
"""


def test_header_parser_finds_public_names_only():
    assert symbols_of_cpp(HEADER) == {
        *("Colour", "Colour.Red", "Colour.Green", "Pair", "Pair.first", "Pair.second"),
        *("Thing", "Thing.make", "Thing.half", "Thing.list", "helper", "Short", "twice"),
    }
    assert len(SYMBOLS) > 250 and {"Device.open", "Reuse.Both", "GridTimes.hidden"} <= SYMBOLS
