"""Traces and drawings of the debugger: read back by other programs, and compared with steps of the machine."""

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import gdr

LAW = "VARI x; VARJ y; VARF f; f += (x - y)^2;"


@pytest.fixture
def debugger():
    targets, sources = {"x": [1.0, 2.0]}, {"y": [3.0, 4.0, 7.0]}
    return gdr.debug(
        gdr.compile(LAW), targets=targets, sources=sources, device="emulator:blocks=2,pes=2"
    )


def read_dump(path):
    """A value change dump by the rules of IEEE 1364, with GTKWave's extension for texts (s...): the changes of each
    signal by name, as (time, text)."""
    head, _, body = path.read_text().partition("$enddefinitions $end")
    names, scope = {}, []
    for command, rest in re.findall(r"\$(\w+)\s+(.*?)\s*\$end", head, re.S):
        if command == "scope":
            scope.append(rest.split()[1])
        elif command == "upscope":
            scope.pop()
        elif command == "var":
            _, _, code, name = rest.split()
            assert code not in names
            names[code] = ".".join([*scope, name])
    assert not scope
    changes, time = {name: [] for name in names.values()}, None
    for word in body.strip().splitlines():
        if word.startswith("#"):
            assert time is None or int(word[1:]) > time
            time = int(word[1:])
            continue
        value, code = word.rsplit(" ", 1) if word[0] in "rbs" else (word[0], word[1:])
        changes[names[code]].append((time, value))
    return changes, time


def at(changes, time):
    """The last value at a time or before."""
    return [value for begin, value in changes if begin <= time][-1]


def test_a_trace_has_the_values_of_every_step(debugger, tmp_path):
    debugger.step(3)
    debugger.write_vcd(tmp_path / "a.vcd", pe=0)
    assert debugger.position == 3
    changes, end = read_dump(tmp_path / "a.vcd")
    debugger.go_to(0)
    steps = 0
    while True:
        time = 2 * debugger.at.clock
        assert at(changes["program.section"], time)[1:] == (debugger.at.section or "ended")
        for k, value in enumerate(debugger.read("f")[0, 0]):
            assert float(at(changes[f"pe.f_{k}"], time)[1:]) == value
        assert float(at(changes["pe.y"], time)[1:]) == debugger.read("y")[0, 0]
        assert int(at(changes["program.iteration"], time)[1:], 2) == debugger.at.iteration
        if debugger.at_end:
            break
        steps += debugger.step().reason == "steps"
    assert steps == 12 and end == time + 2
    # The multiplier works in clocks 4 to 7 of the body, of which every iteration has eight.
    busy = [value for _, value in changes["program.multiplier"]]
    assert busy[0] == "0" and busy.count("1") == 4


def test_words_that_are_no_numbers_are_traced_by_their_bits(tmp_path):
    law = gdr.compile("VARI x; VARJ y; VARJ int n; VARI int m; VARF f; skip if (n == m); f += x*y;")
    debugger = gdr.debug(
        law, targets={"x": [1.0], "m": [5]}, sources={"y": [1.0, 2.0], "n": [5, 9]}
    )
    debugger.write_vcd(tmp_path / "a.vcd", ["n", "m[0]"])
    changes, _ = read_dump(tmp_path / "a.vcd")
    assert [int(value[1:], 2) for _, value in changes["pe.n"]][1:3] == [5, 9]
    assert [int(value[1:], 2) for _, value in changes["pe.m_0"]] == [5]


def test_every_element_has_one_row_of_its_own(debugger, tmp_path):
    debugger.write_vcd(tmp_path / "once.vcd", ["f"])
    debugger.write_vcd(tmp_path / "twice.vcd", ["f", "f[0]", "f"])
    assert (tmp_path / "twice.vcd").read_text() == (tmp_path / "once.vcd").read_text()
    debugger.write_vcd(tmp_path / "none.vcd", [])
    assert not [name for name in read_dump(tmp_path / "none.vcd")[0] if name.startswith("pe.")]
    law = gdr.compile("VARI x; VARJ y, f_0; VARF f; f += x*y + f_0;")
    sources = {"y": [3.0, 4.0], "f_0": [0.5, 0.25]}
    debugger = gdr.debug(law, targets={"x": [2.0]}, sources=sources)
    debugger.write_vcd(tmp_path / "a.vcd")
    changes, _ = read_dump(tmp_path / "a.vcd")
    assert {float(value[1:]) for _, value in changes["pe.f_0"]} >= {0.5, 0.25}
    assert float(changes["pe.f__0"][-1][1][1:]) == 14.75


def test_the_debugger_is_where_it_was_after_an_interrupted_trace(debugger, tmp_path, monkeypatch):
    debugger.step(3)

    class Interrupted:
        """The debugger's core, of which one movement is interrupted when it is done."""

        def __init__(self, core, name):
            self._core, self._name = core, name

        def __getattr__(self, name):
            if name != self._name:
                return getattr(self._core, name)
            self._name = ""

            def moved(*arguments):
                getattr(self._core, name)(*arguments)
                raise KeyboardInterrupt

            return moved

    core = debugger._core
    for name in ("go_to", "step"):
        monkeypatch.setattr(debugger, "_core", Interrupted(core, name))
        with pytest.raises(KeyboardInterrupt):
            debugger.write_vcd(tmp_path / "a.vcd")
        assert debugger.position == 3


def test_another_program_reads_a_trace(debugger, tmp_path):
    reader = pytest.importorskip("vcd.reader")
    debugger.write_vcd(tmp_path / "a.vcd")
    with (tmp_path / "a.vcd").open("rb") as file:
        tokens = list(reader.tokenize(file))
    declared = [t.var.reference for t in tokens if t.kind is reader.TokenKind.VAR]
    assert declared[:2] == ["section", "text"] and "f_3" in declared
    code = next(
        t.var.id_code for t in tokens if t.kind is reader.TokenKind.VAR and t.var.reference == "f_0"
    )
    values = [
        t.real_change.value
        for t in tokens
        if t.kind is reader.TokenKind.CHANGE_REAL and t.real_change.id_code == code
    ]
    assert values == [0.0, 4.0, 13.0, 49.0]


def test_a_drawing_has_the_operations_and_the_sum_of_the_network(debugger, tmp_path):
    debugger.run()
    debugger.write_svg(tmp_path / "a.svg", "f")
    root = ElementTree.parse(tmp_path / "a.svg").getroot()
    space = "{http://www.w3.org/2000/svg}"
    tips = [title.text for title in root.iter(f"{space}title")]
    for section in ("start", "body", "end"):
        for text in debugger.instructions(section):
            for operation in text.split(";"):
                assert any(tip.endswith(": " + " ".join(operation.split())) for tip in tips), (
                    operation
                )
    values = debugger.read("f[0]")[:, 0, 0]
    assert [tip for tip in tips if tip.startswith("block ")] == [
        f"block {k}: {float(v)!r}" for k, v in enumerate(values)
    ]
    assert tips[-1] == f"fadd of all blocks: {float(debugger.reduce('f[0]')[0, 0])!r}"
    assert float(debugger.reduce("f[0]")[0, 0]) == values.sum()


def test_drawings_of_all_kernels_of_the_library_are_well_formed(tmp_path):
    for name in ("gravity", "gauss_sum", "lennard_jones"):
        law = gdr.builtin(name)
        given = {
            role: {v.name: np.ones(2, v.dtype) for v in law.variables if v.role == role}
            for role in ("target", "source")
        }
        params = {v.name: 0.5 for v in law.variables if v.role == "param"}
        debugger = gdr.debug(law, targets=given["target"], sources=given["source"], params=params)
        debugger.next_pass()
        debugger.write_svg(tmp_path / "a.svg")
        ElementTree.parse(tmp_path / "a.svg")
        debugger.write_vcd(tmp_path / "a.vcd")
        assert read_dump(tmp_path / "a.vcd")[1] > 0


def test_the_energy_of_a_kernel_agrees_with_power_and_peak_of_the_chip():
    gravity = gdr.builtin("gravity")
    given = {"xj": [1.0], "yj": [0.0], "zj": [0.0], "mj": [1.0]}
    debugger = gdr.debug(
        gravity, targets={"xi": [0.0], "yi": [0.0], "zi": [0.0]}, sources=given, eps2=0.01
    )
    body = [e for e in debugger.energy() if e.section == "body"]
    assert [e.text for e in body] == debugger.instructions("body")
    joules, clocks = sum(e.joules for e in body), sum(e.clocks for e in body)
    assert joules / (clocks / 500e6) == pytest.approx(65)  # W at 500 MHz
    # 512 Gflops of the peak at 65 W are 7.9 Gflops/W.
    assert 1e-9 * clocks * 512 * 2 / joules == pytest.approx(512 / 65)


def test_names_and_files_of_traces_are_checked(debugger, tmp_path):
    with pytest.raises(gdr.UsageError, match="unknown variable 'g'"):
        debugger.write_vcd(tmp_path / "a.vcd", ["g"])
    with pytest.raises(ValueError, match="pe"):
        debugger.write_svg(tmp_path / "a.svg", pe=2)
    debugger.step(2)
    with pytest.raises(OSError):
        debugger.write_vcd(tmp_path / "missing" / "a.vcd")
    assert debugger.position == 2
