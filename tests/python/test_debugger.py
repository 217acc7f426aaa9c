"""gdr.debug: movements in both directions, breakpoints, watches, values, display."""

import numpy as np
import pytest

import gdr

DEVICE = "emulator:blocks=2,pes=2"
X = np.array([0.5, -1.0, 2.0, 0.25, 3.0, -2.5])


@gdr.kernel
def spring(i, j, k=1.0):
    i.f += k * (j.x - i.x)


def spring_debugger(**more):
    return gdr.debug(spring, targets={"x": X}, sources={"x": X}, k=2.0, device=DEVICE, **more)


def state(debugger):
    """All memories of the chip."""
    core = debugger._core
    return [core.memory(name).copy() for name in ("registers", "local", "t", "masks", "broadcast")]


def same(first, second):
    return all(np.array_equal(a, b) for a, b in zip(first, second))


def test_states_and_results_are_those_of_machine_and_of_a_call():
    debugger = spring_debugger()
    machine = gdr.Machine(DEVICE)
    machine.load(spring)
    machine.set(k=2.0)
    machine.sources(xj=X)
    machine.targets(xi=X)
    steps = 0
    while machine.step():
        assert debugger.step().reason == "steps"
        steps += 1
        for name in ("registers", "local", "t", "broadcast"):
            assert (debugger._core.memory(name) == machine._core.memory(name)).all()
    assert debugger.at_end and debugger.position == steps
    assert debugger.step().reason == "end"
    called = spring(targets={"x": X}, sources={"x": X}, k=2.0)
    assert (debugger.results()["f"] == called["f"]).all()
    assert (debugger.read("f").ravel()[: len(X)] == called["f"]).all()


def test_going_back_and_forth_restores_every_state():
    debugger = spring_debugger()
    states = [state(debugger)]
    while debugger.step().reason == "steps":
        states.append(state(debugger))
    for position in (3, 11, 0, len(states) - 1, 7):
        assert debugger.go_to(position).reason == "steps"
        assert debugger.position == position
        assert same(state(debugger), states[position])
    assert debugger.back(4).reason == "steps"
    assert same(state(debugger), states[3])
    assert debugger.back(10).reason == "beginning"
    assert same(state(debugger), states[0])


def test_breakpoints_and_passes_stop_at_the_same_positions_in_both_directions():
    debugger = spring_debugger()
    number = debugger.break_at("body", 1)
    forwards, backwards = [], []
    while debugger.run().reason == "condition":
        at = debugger.at
        assert (at.section, at.instruction) == ("body", 1)
        assert at.iteration == len(forwards)
        forwards.append(debugger.position)
    assert len(forwards) == debugger.iterations == len(X)
    while debugger.run_back().reason == "condition":
        backwards.append(debugger.position)
    assert backwards == forwards[::-1]
    assert [(c.number, c.kind, c.hits) for c in debugger.conditions] == [
        (number, "instruction", 2 * len(X))
    ]
    debugger.enable(number, False)
    assert debugger.run().reason == "end"
    debugger.remove(number)
    assert debugger.conditions == ()
    debugger.break_at("body", iteration=3)
    assert debugger.run_back().conditions == (2,)
    assert (debugger.at.iteration, debugger.at.instruction) == (3, 0)
    debugger.next_pass()
    assert (debugger.at.iteration, debugger.at.instruction) == (4, 0)
    debugger.step()
    debugger.previous_pass()
    assert (debugger.at.iteration, debugger.at.instruction) == (4, 0)
    debugger.break_at_clock(debugger.at.clock + 1)
    clock = debugger.at.clock
    assert debugger.run().reason == "condition" and debugger.at.clock > clock
    before = debugger.at.clock
    debugger.step_clocks(9)
    assert debugger.at.clock - before >= 9


def test_breakpoints_at_source_lines():
    kernel = gdr.assemble(
        ".kernel k\nivar long xi f64to72\njvar long xj f64to72\n"
        "fvar long s f64to72 fadd at $lr24v\n.start\n upass s 0\n.body\n vlen 1\n bget $lr0 xj\n"
        " vlen 4\n fadd s s $lr0\n",
        "k.gds",
    )
    debugger = gdr.debug(kernel, targets={"xi": [0.0]}, sources={"xj": X}, device=DEVICE)
    debugger.break_at_line(9, "k.gds")
    assert debugger.run().reason == "condition"
    assert (debugger.at.line, debugger.at.text) == (9, "bget $lr0 xj")
    assert debugger.read("xj").tolist() == [[0.5], [0.5]]
    with pytest.raises(gdr.UsageError, match="line 8 of k.gds has no instructions"):
        debugger.break_at_line(8)


def test_watches_report_values_before_and_after():
    debugger = spring_debugger()
    number = debugger.watch("f[1]", pe=0)
    stop = debugger.run()
    assert stop.reason == "condition" and stop.conditions == (number,)
    (change,) = stop.changes
    assert (change.condition, change.memory, change.block, change.pe) == (number, "registers", 0, 0)
    shorts = debugger.memory("registers", 0, 0, "raw", long=False)
    after = int(shorts[change.address]) << 36 | int(shorts[change.address + 1])
    assert change.after == after != change.before
    debugger.back()
    assert debugger.memory("registers", 0, 0, "raw")[change.address // 2] == change.before
    everywhere = debugger.watch("f", block=0)
    stop = debugger.run()
    assert set(stop.conditions) == {number, everywhere}
    assert len([c for c in stop.changes if c.condition == everywhere]) > 1
    debugger.watch_word("broadcast", debugger.variables["xj"].address)
    assert debugger.go_to(0).reason == "steps"
    assert debugger.run().changes[0].memory == "broadcast"


def test_variables_registers_and_memories_are_arrays():
    debugger = gdr.debug(
        gdr.lennard_jones,
        targets={"xi": X, "yi": 0.0, "zi": 1.0},
        sources={"xj": X, "yj": 1.0, "zj": 2.0},
        rc2=9.0,
        device=DEVICE,
    )
    debugger.next_pass()
    assert {name: v.kind for name, v in debugger.variables.items()}["fx"] == "fvar"
    assert debugger.variables["xi"].words == 4
    assert debugger.read("xi").shape == (2, 2, 4)
    assert debugger["xi"].ravel()[: len(X)].tolist() == X.tolist()
    assert debugger["xi[1]"].tolist() == [[[-1.0], [-2.5]], [[0.0], [0.0]]]
    assert debugger.read("rc2").tolist() == [[9.0], [9.0]]
    assert debugger.read("rc2", "raw")[0, 0] == 0x402200000000000000
    assert debugger.registers().shape == (32,)
    assert debugger.registers(1, 1, "raw", long=False).shape == (64,)
    assert debugger.memory("masks").shape == (8, 4)
    address = debugger.variables["xi"].address // 2
    assert debugger.memory(debugger.variables["xi"].memory)[address : address + 4].tolist() == [
        0.5,
        -1.0,
        2.0,
        0.25,
    ]
    assert debugger.reduce("xi").tolist() == [[0.5, -1.0, 2.0, 0.25], [3.0, -2.5, 0.0, 0.0]]
    assert not any(debugger.flags())


def test_words_that_are_set_stay_in_the_run():
    debugger = spring_debugger()
    debugger.go_to(5)
    debugger.write("f[2]", 1.5, pe=1)
    assert debugger["f"][0, 1, 2] == 1.5
    debugger.go_to(0)
    assert debugger["f"][0, 1, 2] == 0
    debugger.go_to(5)
    assert debugger["f"][0, 1, 2] == 1.5
    debugger.write("f", 0x3FF << 60, format="raw")
    assert debugger["f"][0, 0].tolist() == [1.0] * 4


def test_displays_show_position_program_and_changed_values():
    debugger = spring_debugger()
    assert repr(debugger) == "<gdr.Debugger of spring: start 0, clock 0>"
    assert "background" not in debugger._repr_html_()
    sources = debugger["xj"][0]
    number = debugger.watch("f", pe=0)
    debugger.run()
    html = debugger._repr_html_()
    assert f"iteration {debugger.at.iteration} of {len(X)}" in html
    texts = debugger.instructions(debugger.at.section)
    assert f"<td>\u25b6</td><td>{debugger.at.instruction}</td>" in html
    assert texts[debugger.at.instruction] in html
    changed = np.count_nonzero(debugger["f"][0, 0]) + (debugger["xj"][0] != sources).sum()
    assert html.count("background") == changed
    debugger.look_at(1, 1)
    assert "block 1, PE 1" in debugger._repr_html_()
    assert "background" not in debugger._repr_html_()
    debugger.remove(number)
    debugger.run()
    assert "end of the program" in debugger._repr_html_()
    assert "end of the program" in repr(debugger)


def test_wrong_arguments_raise_errors_that_name_them():
    debugger = spring_debugger()
    cases = [
        (gdr.UsageError, "unknown variable 'g'", lambda: debugger.read("g")),
        (gdr.UsageError, "did you mean 'xi'", lambda: debugger.read("xii")),
        (gdr.UsageError, "f has elements 0 to 3", lambda: debugger.read("f[4]")),
        (ValueError, "format: expected", lambda: debugger.read("f", "octal")),
        (gdr.UsageError, 'did you mean "body"', lambda: debugger.break_at("boby")),
        (gdr.UsageError, "has no instruction 999", lambda: debugger.break_at("body", 999)),
        (gdr.UsageError, "number 9", lambda: debugger.remove(9)),
        (ValueError, "instructions: expected at least 0", lambda: debugger.step(-1)),
        (TypeError, "clocks: expected an integer", lambda: debugger.step_clocks(1.5)),
        (ValueError, "block: expected at most 1", lambda: debugger.registers(2)),
        (ValueError, "pe: expected at most 1", lambda: debugger.look_at(0, 2)),
        (ValueError, "memory: expected", lambda: debugger.memory("cache")),
        (gdr.UsageError, "even address", lambda: debugger.watch_word("local", 3)),
        (ValueError, "does not fit", lambda: debugger.write("f", 2**72, format="raw")),
        (gdr.UsageError, "unknown reduction", lambda: debugger.reduce("f", "add")),
        (TypeError, "kernel: expected", lambda: gdr.debug(3, targets=1, sources=1)),
        (
            TypeError,
            "sources: missing: x",
            lambda: gdr.debug(spring, targets={"x": X}, sources={}),
        ),
        (
            gdr.UnsupportedError,
            "cannot be stepped",
            lambda: gdr.debug(
                spring, targets={"x": X}, sources={"x": X}, device="emulator:engine=native"
            ),
        ),
    ]
    for kind, text, call in cases:
        with pytest.raises(kind, match=text):
            call()
    assert debugger.conditions == () and debugger.position == 0


def test_missing_params_are_an_error_and_defaults_are_used():
    default = gdr.debug(spring, targets={"x": X}, sources={"x": X}, device=DEVICE)
    assert default.read("k").tolist() == [[1.0], [1.0]]
    with pytest.raises(gdr.UsageError, match="missing params: rc2"):
        gdr.debug(
            gdr.lennard_jones,
            targets={"xi": X, "yi": 0, "zi": 0},
            sources={"xj": X, "yj": 0, "zj": 0},
        )
