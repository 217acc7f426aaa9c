"""Messages about Python functions that cannot become kernels, and about their arrays."""

import math
import re

import numpy as np
import pytest

import gdr


def refuse(function, message, marked):
    with pytest.raises(gdr.ProgramError, match=message) as raised:
        gdr.kernel(function)
    lines = str(raised.value).splitlines()
    assert "test_decorator_messages.py:" in lines[0]
    begin = lines[2].index("^")
    assert lines[1][begin : lines[2].rindex("^") + 1] == marked


def test_unsupported_code_raises_an_error_with_the_source_line():
    def loops(i, j):
        while j.x > 0:
            i.f += 1

    def calls(i, j):
        i.f += math.gamma(j.x)

    def reads(i, j):
        i.f += j.x
        i.g += i.f

    def assigns(i, j):
        i.f = j.x

    def source(i, j):
        j.x = i.x

    def unknown(i, j):
        i.f += j.x * undefined_name  # noqa: F821

    def power(i, j):
        i.f += j.x ** "a"

    def strings(i, j):
        i.f += "text"

    def whole(i, j):
        i.f += j

    def parameter(i, j, k):
        k = 2.0
        i.f += k * j.x

    def returns(i, j):
        return j.x, i.x

    def text(i, j):
        i.f += f"{j.x}"

    def prints(i, j):
        print(j.x)

    def breaks(i, j):
        for k in range(3):
            if j.x > k:
                break

    def method(self, i, j):
        i.f += j.x

    def any_number(i, j, *rest):
        i.f += j.x

    def divides(i, j):
        i.f += j.x * (1 / (3 - 3))

    def local(i, j):
        def twice(q):
            return 2 * q

        i.f += twice(j.x)

    def inlined(i, j):
        i.f += endless(j.x)

    def module(i, j):
        import no_such_module

        i.f += no_such_module.x

    def mean(i, j, k="a"):
        i.f += j.x

    def deep(i, j):
        i.f += j.pos.x

    refuse(returns, "cannot return a value", "return j.x, i.x")
    refuse(text, "not supported .*f-string", 'f"{j.x}"')
    refuse(prints, "a call must have a result", "print(j.x)")
    refuse(breaks, "loops are unrolled", "break")
    refuse(method, "@staticmethod above", "self")
    refuse(any_number, "named arguments only", "rest")
    refuse(divides, "ZeroDivisionError", "1 / (3 - 3)")
    refuse(local, "define the function outside", "def twice(q):")
    refuse(inlined, "calls itself", "endless(q - 1)")
    refuse(module, "No module named", "import no_such_module")
    refuse(mean, "default of a parameter", '"a"')
    refuse(deep, "without nesting", "j.pos.x")
    refuse(loops, "not supported .*while", "while j.x > 0:")
    refuse(calls, "a kernel supports the functions", "math.gamma")
    refuse(reads, "results cannot be read", "i.f")
    refuse(assigns, "a result supports", "i.f = j.x")
    refuse(source, "read-only", "j.x")
    refuse(unknown, "is not defined", "undefined_name")
    refuse(power, "exponent must be a number", '"a"')
    refuse(strings, "expected a number", '"text"')
    refuse(whole, "is a particle", "j")
    refuse(parameter, "is an argument", "k")


def endless(q):
    return endless(q - 1)


def message_of(function, **options):
    """The lines of the error about a function that cannot be compiled."""
    with pytest.raises(gdr.ProgramError) as raised:
        gdr.kernel(**options)(function)
    return str(raised.value).splitlines()


def marked(lines, number=0):
    """The part of a source line that is underlined."""
    text, carets = lines[number + 1 : number + 3]
    return text[carets.index("^") : carets.rindex("^") + 1]


def test_a_refused_expression_is_underlined_alone():
    def wrong(i, j):
        i.f += 2 * j.x + t  # noqa: F821
        t = j.x  # noqa: F841

    lines = message_of(wrong)
    assert re.match(
        r".*test_decorator_messages.py:\d+:26: error\[GDR7003\]: `t` is read before", lines[0]
    )
    assert marked(lines) == "t"
    assert not any("translated" in line for line in lines)


def square_of_condition(q):
    return 2 + (q > 1) * q


def test_help_of_a_refused_expression_is_in_python():
    def condition(i, j):
        i.f += j.m * (3.0 if j.m else 2.0)

    lines = message_of(condition)
    assert marked(lines) == "j.m"
    assert lines[-1].strip() == "help: use a comparison, for example `x != 0`"

    def sums(i, j):
        d = j.x - i.x
        i.f += d[0] * (np.cross(d, d) + np.dot(d, d))

    lines = message_of(sums)
    assert "a vector and a number cannot be added" in lines[0]
    assert marked(lines) == "np.cross(d, d) + np.dot(d, d)"
    assert lines[-1].strip() == (
        "help: a number for all components is `np.array([s, s, s])` or `s * np.eye(3)`"
    )

    def called(i, j):
        i.f += square_of_condition(j.x - i.x)

    lines = message_of(called)
    assert marked(lines) == "(q > 1) * q"
    assert lines[-1].strip() == "help: use `1 if condition else 0`"


def test_messages_name_attributes_as_the_function_does():
    def partly(i, j):
        if j.mass > 1:
            weight = 2.0
        i.f += weight * j.mass

    lines = message_of(partly)
    assert "`weight` is assigned under a condition only" in lines[0]
    assert marked(lines) == "weight"

    def kinds(i, j):
        i.f += np.dot(j.x, i.x)

    text = "\n".join(message_of(kinds, types={"x": "int"}))
    assert "`j.x`" in text and "xj" not in text and "vec3" not in text


def test_a_wrong_array_is_reported_under_the_caller_s_name_not_the_variable_s():
    def weights(i, j, k=1.0):
        i.f += k * j.m * j.x

    kernel = gdr.kernel(weights)
    for value, category, message in (
        ([1.0, 2.0], ValueError, "sources: m: expected 3 values, got 2"),
        ([1.0, 2.0, math.nan], ValueError, "sources: m[2] is not a number"),
        (["a", "b", "c"], TypeError, "sources: m: expected an array of numbers, got <U1"),
    ):
        with pytest.raises(category) as caught:
            kernel(targets=2, sources={"x": [0.0, 0.0, 0.0], "m": value})
        assert str(caught.value) == message
