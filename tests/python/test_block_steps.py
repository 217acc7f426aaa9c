"""Hermite integration with block time steps, and its restart."""

import dataclasses

import numpy as np
import pytest
from conftest import DATA, error

import gdr
from gdr import nbody


def test_block_steps_conserve_energy(native):
    s = nbody.read(DATA / "plummer_1024.hdf5")
    history = nbody.History()
    for state in nbody.hermite(s, eps=1 / 64, t_end=0.25, device=native):
        history.add(state)
    assert history.time == [0, 0.0625, 0.125, 0.1875, 0.25]
    assert abs(history.energy_error).max() < 1e-6
    blocks = state.blocks
    assert 10 < blocks.mean_block < 500
    assert blocks.mean_block == blocks.particle_steps / blocks.block_steps
    assert blocks.smallest_step < blocks.largest_step <= 1 / 16 and blocks.limited_steps == 0


def test_states_have_the_forces_at_their_positions(native):
    s = nbody.plummer(50, seed=2)
    for state in nbody.hermite(s, eps=0.1, t_end=0.3, G=2.0, device=native):
        acc, pot = gdr.gravity(state.pos, s.mass * 2, 0.1, device=native)
        assert error(state.acc, acc) < 1e-7 and error(state.pot, pot) < 1e-7
    assert state.time == 0.3 and state.step == 5


def test_the_steps_follow_eta_and_dt_min(native):
    s = nbody.plummer(50, seed=2)

    def last(**more):
        return list(nbody.hermite(s, eps=0.01, t_end=0.25, device=native, **more))[-1].blocks

    usual = last()
    assert last(eta=0.005).particle_steps > 1.5 * usual.particle_steps
    assert last(eta_start=1e-6).smallest_step < usual.smallest_step
    limited = last(dt_min=1 / 64)
    assert limited.smallest_step == 1 / 64 and limited.limited_steps > 0


def test_changes_of_the_latest_state_change_the_run(native):
    s = nbody.plummer(20, seed=1)

    def run(change):
        for state in nbody.hermite(s, eps=0.1, t_end=0.25, device=native):
            if state.step == 2:
                change(state)
        return state

    def kick(state):
        state.vel[0] += 10.0

    moved, same = run(kick), run(lambda state: None)
    assert np.linalg.norm(moved.pos[0] - same.pos[0]) > 0.5


def same_stars(a, b):
    """Whether two states, and all that determines how their runs go on, have the same bits."""
    return all(
        np.array_equal(getattr(a, name), getattr(b, name)) for name in ("pos", "vel", "acc", "pot")
    ) and all(np.array_equal(x, y) for x, y in zip(a.run.arrays, b.run.arrays))


HERMITE = {"eps": 0.01, "G": 1.5, "eta": 0.01, "dt_min": 2.0**-20}


@pytest.mark.parametrize("engine", ["native", "vector"])
@pytest.mark.parametrize("name", ["half.hdf5", "half.txt"])
def test_a_run_with_block_steps_continues_with_the_same_bits(engine, name, tmp_path):
    s = nbody.merger(24, seed=1)
    s.time = 3.0
    with gdr.open(engine=engine) as device:
        whole = list(nbody.hermite(s, t_end=3.25, device=device, **HERMITE))
        assert [state.step for state in whole] == [0, 1, 2, 3, 4]
        half = list(nbody.hermite(s, t_end=3.125, device=device, **HERMITE))[-1]
        nbody.write(tmp_path / name, half)
        read = nbody.read(tmp_path / name)
        assert read.run.start_time == 3 and read.run.cycle == 2 and read.run.now == 0
        for start in (half, half.snapshot(), read):
            for parameters in ({}, HERMITE):
                rest = list(nbody.hermite(start, t_end=3.25, device=device, **parameters))
                assert [state.step for state in rest] == [2, 3, 4]
                assert [state.time for state in rest] == [state.time for state in whole[2:]]
                assert all(same_stars(a, b) for a, b in zip(rest, whole[2:]))
                assert rest[-1].run.start_energy == whole[-1].run.start_energy
        # The initial conditions alone give other steps, and so other bits.
        fresh = nbody.Snapshot(half.pos, half.vel, half.mass, half.time)
        new = list(nbody.hermite(fresh, t_end=3.25, device=device, **HERMITE))[-1]
        assert new.step == 2 and not np.array_equal(new.pos, whole[-1].pos)


@pytest.mark.parametrize(
    ("dt_max", "middle", "end"), [(0.07, 0.21, 0.91), (0.07, 0.63, 0.91), (0.3, 0.9, 1.8)]
)
def test_intervals_that_are_no_binary_fractions_continue_on_the_same_times(
    native, tmp_path, dt_max, middle, end
):
    """The sum of the intervals is less or more than the time of the state by a rounding error."""
    s = nbody.plummer(20, seed=3)
    run = {"eps": 0.1, "dt_max": dt_max, "device": native}
    whole = list(nbody.hermite(s, t_end=end, **run))
    part = list(nbody.hermite(s, t_end=middle, **run))[-1]
    assert part.time == middle != part.run.time
    nbody.write(tmp_path / "a.txt", part)
    for start in (part, nbody.read(tmp_path / "a.txt")):
        assert len(list(nbody.hermite(start, t_end=middle, device=native))) == 1
        rest = list(nbody.hermite(start, t_end=end, device=native))
        assert [state.step for state in rest] == list(range(part.step, len(whole)))
        assert same_stars(rest[-1], whole[-1]) and rest[-1].time == whole[-1].time == end


def test_other_parameters_or_changed_stars_begin_a_new_run(native, tmp_path):
    s = nbody.plummer(20, seed=1)
    half = list(nbody.hermite(s, eps=0.1, t_end=0.125, device=native))[-1]

    def first(start, **parameters):
        return next(nbody.hermite(start, device=native, **{"t_end": 0.25, **parameters}))

    assert first(half).step == first(half, dt_max=1 / 16, eta=0.02).step == 2
    changes = ({"eps": 0.2}, {"eta": 0.01}, {"eta_start": 0.1}, {"G": 2.0}, {"dt_max": 1 / 32})
    for change in (*changes, {"dt_min": 1e-9}, {"t_end": 0.26}):
        new = first(half, **change)
        assert new.step == 0 and new.run.start_time == 0.125 and new.run.cycle == 0
    assert first(half, eta=0.01).run.eta_start == 0.005
    for field in ("pos", "vel", "mass"):
        changed = half.snapshot()
        getattr(changed, field)[0] *= 2
        assert first(changed).step == 0
        nbody.write(tmp_path / "a.hdf5", changed)  # the file has no state of a run either
        assert nbody.read(tmp_path / "a.hdf5").run is None
    changed = half.snapshot()
    changed.time = 0.0
    assert first(changed).step == 0
    assert next(nbody.hermite(s, t_end=1.0, device=native)).run.eps == 0
    with pytest.raises(ValueError, match="t_end: 0.1 is before the state's time, 0.125"):
        nbody.hermite(half, t_end=0.1, device=native)


@pytest.mark.parametrize(
    ("name", "value"),
    [("G", -1.0), ("eta", 0.0), ("eps", -0.1), ("eta_start", -1.0), ("dt_min", np.nan)],
)
def test_invalid_parameters_of_a_run_are_named(native, name, value):
    state = next(nbody.hermite(nbody.plummer(4), eps=0.1, t_end=1, device=native))
    state.run = dataclasses.replace(state.run, **{name: value})
    with pytest.raises(ValueError, match=f"^snapshot.run.{name}: expected"):
        nbody.hermite(state, t_end=1, device=native)


def test_a_run_with_moved_stars_continues_with_the_same_bits(native):
    s = nbody.plummer(20, seed=1)

    def states(start, t_end):
        for state in nbody.hermite(start, eps=0.1, t_end=t_end, device=native):
            yield state
            if state.step == 1:
                state.vel[0] += 1.0

    whole = list(states(s, 0.25))
    rest = list(states(list(states(s, 0.125))[-1], 0.25))
    assert rest[-1].step == 4 and same_stars(rest[-1], whole[-1])
    energies = [state.run.start_energy for state in whole]
    assert energies[0] == energies[1] == pytest.approx(nbody.energies(whole[0]).total, rel=1e-12)
    assert energies[2] == energies[4] and energies[2] - energies[1] > 0.02
