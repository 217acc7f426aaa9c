"""Snapshots of other codes, in several files, and exchanged with the command ``gdr``."""

import dataclasses
import re
import shutil
import struct
import subprocess
import sys

import numpy as np
import pytest
from conftest import COMMAND, DATA, direct_gravity, error

import gdr
from gdr import nbody

h5py = pytest.importorskip("h5py")


def gadget(path, parts, **header):
    """Write a file with these groups; ``parts`` maps a type to a dictionary of datasets."""
    with h5py.File(path, "w") as file:
        attributes = file.create_group("Header").attrs
        for name, value in header.items():
            attributes[name] = value
        for kind, datasets in parts.items():
            group = file.create_group(f"PartType{kind}")
            for name, value in datasets.items():
                group[name] = value
    return path


def stars(n, first=0, **more):
    rng = np.random.default_rng(n)
    return {
        "Coordinates": rng.normal(size=(n, 3)).astype("f4"),
        "Velocities": rng.normal(size=(n, 3)),
        "ParticleIDs": np.arange(first, first + n, dtype="u4"),
        **more,
    }


def test_particle_types_and_header_masses_are_read(tmp_path):
    gas, halo, disk = stars(3), stars(4, 10), stars(2, 20, Masses=np.ones((2, 1), ">f4"))
    path = gadget(
        tmp_path / "a.hdf5",
        {0: gas, 1: halo, 2: disk, 4: {}},
        MassTable=[0.5, 2.0, 7.0, 0, 0, 0],
        Time=np.array([0.25]),
        NumPart_ThisFile=np.array([3, 4, 2, 0, 0, 0], "i4"),
        BoxSize=100.0,
    )
    s = nbody.read(path)
    assert s.types.tolist() == [0] * 3 + [1] * 4 + [2] * 2
    assert s.mass.tolist() == [0.5] * 3 + [2.0] * 4 + [1.0] * 2  # a dataset goes before the table
    assert s.ids.tolist() == [0, 1, 2, 10, 11, 12, 13, 20, 21] and s.time == 0.25
    assert np.array_equal(s.pos[3:7], halo["Coordinates"].astype(float))
    nbody.write(tmp_path / "b.hdf5", s)
    assert nbody.read(tmp_path / "b.hdf5").header == {"BoxSize": 100.0}


def test_a_file_without_a_header_is_read(tmp_path):
    with h5py.File(tmp_path / "a.hdf5", "w") as file:
        for name, value in stars(5, Masses=np.ones(5)).items():
            if name != "ParticleIDs":
                file[f"PartType1/{name}"] = value
    s = nbody.read(tmp_path / "a.hdf5")
    assert s.time == 0 and s.ids.tolist() == [1, 2, 3, 4, 5]


def test_a_multi_file_snapshot_is_read_from_any_of_its_files(tmp_path):
    for k in range(3):
        gadget(
            tmp_path / f"part.{k}.hdf5",
            {0: stars(2, 10 * k), 1: stars(1 + k, 100 + 10 * k)},
            MassTable=[1.0, 2.0, 0, 0, 0, 0],
            NumFilesPerSnapshot=3,
            NumPart_Total=np.array([6, 6, 0, 0, 0, 0], "u4"),
            Time=1.5,
        )
    s = nbody.read(tmp_path / "part.1.hdf5")
    assert s.ids.tolist() == [0, 1, 10, 11, 20, 21, 100, 110, 111, 120, 121, 122]
    assert s.types.tolist() == [0] * 6 + [1] * 6 and s.time == 1.5
    for k in range(3):
        with h5py.File(tmp_path / f"part.{k}.hdf5", "r+") as file:
            file["Header"].attrs["NumPart_Total"] = np.array([6, 9, 0, 0, 0, 0], "u4")
    with pytest.raises(gdr.InputError, match="9 particles of type 1, but its files have 6"):
        nbody.read(tmp_path / "part.0.hdf5")
    (tmp_path / "part.2.hdf5").unlink()
    with pytest.raises(gdr.FileError, match=r"part\.2\.hdf5"):
        nbody.read(tmp_path / "part.0.hdf5")
    (tmp_path / "part.1.hdf5").rename(tmp_path / "alone.hdf5")
    with pytest.raises(gdr.InputError, match="one of 3 files.*the name of the file must"):
        nbody.read(tmp_path / "alone.hdf5")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Velocities": np.zeros((2, 3))}, r"PartType1/Velocities has shape \(2, 3\)"),
        ({"Masses": np.zeros(7)}, r"PartType1/Masses has shape \(7\); expected \(3\)"),
        ({"Masses": np.array([b"x"] * 3)}, "PartType1/Masses does not hold numbers"),
        ({"Coordinates": np.zeros(3)}, "Coordinates has shape"),
        ({"Coordinates": np.full((3, 3), np.nan)}, "x position of particle 0 .* is nan"),
        ({"ParticleIDs": np.zeros(3)}, "PartType1/ParticleIDs does not hold integers"),
    ],
)
def test_invalid_datasets_raise_input_error_with_their_name(tmp_path, change, message):
    path = gadget(tmp_path / "a.hdf5", {1: stars(3, **{"Masses": np.ones(3), **change})})
    with pytest.raises(gdr.InputError, match=message):
        nbody.read(path)


def test_inconsistent_headers_raise_input_error(tmp_path):
    wrong = {"NumPart_ThisFile": [0, 4, 0, 0, 0, 0]}
    path = gadget(tmp_path / "a.hdf5", {1: stars(3, Masses=np.ones(3))}, **wrong)
    with pytest.raises(gdr.InputError, match="gives 4 particles of type 1, but PartType1 has 3"):
        nbody.read(path)
    path = gadget(tmp_path / "b.hdf5", {1: stars(3)}, MassTable=[0.0] * 6)
    with pytest.raises(gdr.InputError, match="no mass in MassTable"):
        nbody.read(path)
    one = stars(3, Masses=np.ones(3))
    two = {k: v for k, v in one.items() if k != "ParticleIDs"}
    with pytest.raises(gdr.InputError, match="some particles have ids and some have none"):
        nbody.read(gadget(tmp_path / "c.hdf5", {1: one, 2: two}))


def test_ids_above_63_bits_are_preserved(tmp_path):
    ids = np.array([1, 2**64 - 1], np.uint64)
    s = nbody.Snapshot(np.eye(3)[:2], np.zeros((2, 3)), 1.0, ids=ids)
    nbody.write(tmp_path / "a.hdf5", s)
    assert nbody.read(tmp_path / "a.hdf5").ids.tolist() == ids.tolist()


def test_an_invalid_time_raises_input_error(tmp_path):
    (tmp_path / "a.txt").write_text("#gdr: time = soon\n1 0 0 0 0 0 0\n")
    with pytest.raises(gdr.InputError, match="a.txt:1:14: 'soon' is not a number"):
        nbody.read(tmp_path / "a.txt")


def test_a_missing_package_raises_import_error_with_the_remedy(tmp_path, monkeypatch):
    s = nbody.plummer(4)
    for module in ("h5py", "tqdm.auto", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match="a snapshot in HDF5 needs h5py.*pip install h5py"):
        nbody.read(DATA / "plummer_1024.hdf5")
    with pytest.raises(ImportError, match="pip install h5py"):
        nbody.write(tmp_path / "a.hdf5", s)
    assert not list(tmp_path.iterdir())
    with pytest.raises(ImportError, match="progress=True needs tqdm.*pip install tqdm"):
        next(nbody.leapfrog(s, eps=1, dt=1, t_end=1, progress=True))
    with pytest.raises(ImportError, match="a picture needs matplotlib.*pip install matplotlib"):
        nbody.plots.projection(s)


@pytest.mark.skipif(not COMMAND.exists(), reason="the command was not built")
@pytest.mark.parametrize("end", ["hdf5", "txt"])
def test_command_and_python_integrate_bit_identically_from_each_others_files(tmp_path, end):
    eps, dt, steps = 1 / 32, 1 / 128, 8
    start = nbody.merger(60, seed=4)
    nbody.write(tmp_path / f"start.{end}", start)
    arguments = ["--eps", str(eps), "--dt", str(dt), "--t-end", str(steps * dt)]
    run = ["nbody", tmp_path / f"start.{end}", *arguments, "--out", tmp_path]
    subprocess.run([COMMAND, *run], check=True, capture_output=True)
    by_command = nbody.read(tmp_path / f"snapshot_{steps:08d}.{end}")
    for state in nbody.leapfrog(start, eps=eps, dt=dt, t_end=steps * dt):
        pass
    assert by_command.time == state.time == steps * dt
    assert np.array_equal(by_command.pos, state.pos)
    assert np.array_equal(by_command.vel, state.vel)
    if end == "hdf5":
        assert np.array_equal(by_command.types, start.types)
        forces = tmp_path / "forces.hdf5"
        command = [COMMAND, "force", tmp_path / "start.hdf5", "--eps", str(eps), "-o", forces]
        subprocess.run(command, check=True, capture_output=True)
        with h5py.File(forces) as file:
            acc, pot = gdr.gravity(start.pos, start.mass, eps)
            assert np.array_equal(file["Acceleration"][:], acc)
            assert np.array_equal(file["Potential"][:], pot)
            want = direct_gravity(start.pos, start.mass, eps)
            assert error(acc, want[0]) < 1e-7 and error(pot, want[1]) < 1e-7


def command(*arguments):
    return subprocess.run([COMMAND, *map(str, arguments)], check=True, capture_output=True)


@pytest.mark.skipif(not COMMAND.exists(), reason="the command was not built")
@pytest.mark.parametrize("engine", ["native", "vector"])
@pytest.mark.parametrize("end", ["hdf5", "txt"])
def test_command_and_python_continue_each_others_runs_with_block_steps(tmp_path, end, engine):
    nbody.write(tmp_path / f"start.{end}", nbody.merger(30, seed=4))
    options = ["--integrator", "hermite4", "--eps", 1 / 64, "--dt", 1 / 16, "--eta", 0.01]
    places = ["--engine", engine, "--snapshot-every", "1steps", "--out"]
    command("nbody", tmp_path / f"start.{end}", *options, "--t-end", 0.25, *places, tmp_path)
    by_command = [nbody.read(tmp_path / f"snapshot_{step:08d}.{end}") for step in range(5)]
    start = nbody.read(tmp_path / f"start.{end}")
    with gdr.open(engine=engine) as device:
        whole = list(nbody.hermite(start, eps=1 / 64, eta=0.01, t_end=0.25, device=device))
        for state, file in zip(whole, by_command):
            assert file.time == state.time and file.run.cycle == state.step
            for a, b in zip(file.run.arrays, state.run.arrays):
                assert np.array_equal(a, b)
            assert file.run.start_energy == pytest.approx(state.run.start_energy, rel=1e-12)
        # Python continues the command's run.
        for rest in nbody.hermite(by_command[2], t_end=0.25, device=device):
            pass
        assert rest.step == 4 and np.array_equal(rest.pos, whole[4].pos)
        assert all(np.array_equal(a, b) for a, b in zip(rest.run.arrays, whole[4].run.arrays))
    # The command continues Python's run.
    nbody.write(tmp_path / f"half.{end}", whole[2])
    command("nbody", tmp_path / f"half.{end}", "--t-end", 0.25, *places, tmp_path / "rest")
    rest = nbody.read(tmp_path / "rest" / f"snapshot_00000004.{end}")
    assert np.array_equal(rest.pos, whole[4].pos) and np.array_equal(rest.vel, whole[4].vel)
    assert all(np.array_equal(a, b) for a, b in zip(rest.run.arrays, whole[4].run.arrays))


def test_a_run_that_ended_within_an_interval_continues_with_the_same_bits(native):
    """As after Ctrl-C of the command, which stops between block steps."""
    whole = list(nbody.hermite(nbody.plummer(30, seed=4), eps=1 / 64, t_end=0.25, device=native))
    run = whole[3].run
    # No step ends before this time: the state of the stars is still that of step 3, and the positions
    # of the snapshot, which are predicted ones, have no effect.
    now = float(run.steps.min()) / 2
    ended = dataclasses.replace(run, now=now)
    partial = nbody.Snapshot(run.pos + 0.001, run.vel, run.mass, time=ended.time, run=ended)
    states = list(nbody.hermite(partial, t_end=0.25, device=native))
    assert [state.step for state in states] == [3, 4]
    assert states[0].time == partial.time and states[0].run.now == now
    assert np.array_equal(states[-1].pos, whole[4].pos)


#: Attributes of the group GDR, values that they cannot have, and messages.
DAMAGED_ATTRIBUTES = [
    ("Step", np.nan, "expected a finite number, got nan"),
    ("Step", "x", "does not hold a number"),
    ("Step", 2.5, "expected an integer, got 2.5"),
    ("Step", -1, "expected at least 0, got -1"),
    ("Eta", np.empty(0), "has no attribute Eta"),
    ("Eta", 0.0, "expected a number above 0, got 0"),
    ("Eta", h5py.Empty("f8"), "has no attribute Eta"),
    ("EtaStart", [1.0, 2.0], "expected a number, got 2"),
    ("G", -1.0, "expected a number above 0, got -1"),
    ("Softening", -0.5, "expected at least 0, got -0.5"),
    ("TimeStep", 0.0, "expected a number above 0, got 0"),
    ("StepFraction", 1.5, "expected at most 1, got 1.5"),
]


@pytest.mark.parametrize("end", ["hdf5", "txt"])
def test_files_of_damaged_runs_raise_input_error_with_the_place(tmp_path, native, end):
    path = tmp_path / f"a.{end}"
    for state in nbody.hermite(nbody.plummer(3), eps=0.1, t_end=0.125, device=native):
        pass
    nbody.write(path, state)
    if end == "hdf5":
        with h5py.File(path, "r+") as file:
            del file["GDR/Jerk"]
        with pytest.raises(gdr.InputError, match="a.hdf5: GDR has no dataset Jerk"):
            nbody.read(path)
        with h5py.File(path, "r+") as file:
            file["GDR/Jerk"] = np.zeros((2, 3))
        with pytest.raises(gdr.InputError, match=r"GDR/Jerk has shape \(2, 3\); expected \(3, 3\)"):
            nbody.read(path)
        with h5py.File(path, "r+") as file:
            del file["GDR"].attrs["Eta"]
        with pytest.raises(gdr.InputError, match="GDR has no attribute Eta"):
            nbody.read(path)
        for name, value, message in DAMAGED_ATTRIBUTES:
            nbody.write(path, state)
            with h5py.File(path, "r+") as file:
                file["GDR"].attrs[name] = value
            with pytest.raises(gdr.InputError, match=f"a.hdf5: GDR(/{name}:?)? {message}"):
                nbody.read(path)
        nbody.write(path, state)
        with h5py.File(path, "r+") as file:
            file["GDR/Jerk"][1, 2] = np.inf
        with pytest.raises(gdr.InputError, match=r"a.hdf5: GDR/Jerk\[1, 2\] is infinite"):
            nbody.read(path)
        return
    text = path.read_text()
    for name, value, message in (
        ("gravity", "-1", "gravity: expected a number above 0, got -1"),
        ("eta", "0", "eta: expected a number above 0"),
        ("softening", "-0.1", "softening: expected at least 0"),
        ("step", "2.5", "step = 2.5 is not a number of steps"),
        ("step", "nan", "'nan' is not a finite number"),
        ("eta", "", "'' is not a number"),
    ):
        path.write_text(re.sub(f"(?m)^#gdr: {name} = .*$", f"#gdr: {name} = {value}", text))
        with pytest.raises(gdr.InputError, match=f"a.txt.*{message}"):
            nbody.read(path)
    path.write_text(re.sub("(?m)^(#hermite4: .*) \\S+$", r"\1 nan", text))
    with pytest.raises(gdr.InputError, match=r"a.txt:\d+:\d+: 'nan' is not a finite number"):
        nbody.read(path)
    path.write_text(text.rpartition("#hermite4:")[0])
    with pytest.raises(gdr.InputError, match="2 '#hermite4:' lines for 3 particles"):
        nbody.read(path)
    path.write_text(re.sub("#hermite4: \\S+", "#hermite4:", text))
    with pytest.raises(gdr.InputError, match=r"a.txt:\d+:\d+: .* has 14 numbers: time and step"):
        nbody.read(path)
    path.write_text(text.replace("#gdr: eta =", "# eta ="))
    with pytest.raises(gdr.InputError, match="no line '#gdr: eta = ...'"):
        nbody.read(path)


def test_runs_are_written_in_the_order_of_types(tmp_path, native):
    s = nbody.plummer(6, seed=2)
    s.types[:] = [4, 1, 4, 0, 1, 1]
    for state in nbody.hermite(s, eps=0.1, t_end=0.125, device=native):
        pass
    nbody.write(tmp_path / "a.hdf5", state)
    read = nbody.read(tmp_path / "a.hdf5")
    order = [3, 1, 4, 5, 0, 2]
    assert read.types.tolist() == [0, 1, 1, 1, 4, 4] and read.run.describes(read)
    assert all(np.array_equal(a, b[order]) for a, b in zip(read.run.arrays, state.run.arrays))
    for end in nbody.hermite(read, t_end=0.25, device=native):
        pass
    assert end.step == 4


def refused(path):
    """The message with which a file is refused."""
    with pytest.raises(gdr.Error) as caught:
        nbody.read(path)
    return str(caught.value)


def test_datasets_that_were_never_written_are_not_read_as_zeros(tmp_path):
    for chunks in (None, (1,)):
        path = gadget(tmp_path / "a.hdf5", {1: stars(3)})
        with h5py.File(path, "a") as file:
            masses = file.create_dataset("PartType1/Masses", (3,), "f8", chunks=chunks)
            if chunks:
                masses[1] = 1.0
        message = refused(path)
        assert "PartType1/Masses" in message and "never written" in message


def test_a_virtual_dataset_with_a_missing_part_is_not_read_as_zeros(tmp_path):
    with h5py.File(tmp_path / "part.hdf5", "w") as file:
        file["m"] = np.full(3, 2.0)
    path = gadget(tmp_path / "meta.hdf5", {1: stars(3)})
    layout = h5py.VirtualLayout((3,), "f8")
    layout[:] = h5py.VirtualSource("part.hdf5", "m", (3,))
    with h5py.File(path, "a") as file:
        file.create_virtual_dataset("PartType1/Masses", layout)
    assert nbody.read(path).mass.tolist() == [2.0, 2.0, 2.0]
    (tmp_path / "part.hdf5").rename(tmp_path / "moved.hdf5")
    message = refused(path)
    assert "PartType1/Masses" in message and "'part.hdf5' is missing" in message


def test_a_link_to_nothing_and_a_time_that_is_no_number_are_not_called_damage(tmp_path):
    name = str(tmp_path / "odd.hdf5")
    nbody.write(name, nbody.plummer(8, seed=1))
    with h5py.File(name, "r+") as file:
        (kind,) = [group for group in file if group.startswith("PartType")]
        file["Header"].attrs["Time"] = np.nan
    with pytest.raises(gdr.InputError, match="Header/Time is not a finite number"):
        nbody.read(name)
    with h5py.File(name, "r+") as file:
        file["Header"].attrs["Time"] = 0.0
        del file[kind]["Coordinates"]
        file[kind]["Coordinates"] = h5py.SoftLink("/nowhere")
    with pytest.raises(gdr.InputError, match="Coordinates is a link to something that does not"):
        nbody.read(name)


def test_a_damaged_binary_snapshot_is_named_as_one(tmp_path):
    path = tmp_path / "snapshot_000"
    for length in (b"\x00\x01\x00\x00", b"\x00\x00\x01\x00", b"\x08\x00\x00\x00HEAD"):
        path.write_bytes(length + bytes(300))
        assert "GADGET's binary format" in refused(path)
        assert "damaged" in refused(path)


def tipsy(path, order, stars):
    """Write a file of TIPSY: ``stars`` has the records of gas, dark matter and stars."""
    numbers = dict(zip(("gas", "dark", "star"), (12, 9, 11)))
    counts = [len(stars[kind]) for kind in numbers]
    with open(path, "wb") as file:
        file.write(struct.pack(order + "d6i", 0.25, sum(counts), 3, *counts, 0))
        for kind, width in numbers.items():
            records = np.zeros((len(stars[kind]), width), order + "f4")
            records[:, :7] = stars[kind]
            file.write(records.tobytes())
    return path


@pytest.mark.parametrize("order", ["<", ">"])
def test_a_tipsy_file_has_types_times_and_quantities(tmp_path, order):
    rng = np.random.default_rng(4)
    records = {
        "gas": rng.normal(size=(5, 7)).astype("f4"),
        "dark": rng.normal(size=(7, 7)).astype("f4"),
        "star": rng.normal(size=(2, 7)).astype("f4"),
    }
    read = nbody.read(tipsy(tmp_path / "galaxy.std", order, records))
    every = np.concatenate(list(records.values()))
    assert read.time == 0.25
    np.testing.assert_array_equal(read.mass, every[:, 0])
    np.testing.assert_array_equal(read.pos, every[:, 1:4])
    np.testing.assert_array_equal(read.vel, every[:, 4:7])
    np.testing.assert_array_equal(read.types, [0] * 5 + [1] * 7 + [4] * 2)
    left = nbody.read(tmp_path / "galaxy.std", omit=[0, 4])
    np.testing.assert_array_equal(left.mass, records["dark"][:, 0])


def test_types_to_omit_are_checked(tmp_path):
    path = gadget(tmp_path / "s.hdf5", {1: stars(3, Masses=np.ones(3)), 0: {}})
    for wrong in ([16], [-1]):
        with pytest.raises(ValueError, match="omit: .*0 to 15"):
            nbody.read(path, omit=wrong)
    with pytest.raises(gdr.InputError, match="left out"):
        nbody.read(path, omit=[1])


@pytest.mark.parametrize("option", [["--omit", "0"], []])
def test_the_command_leaves_out_types_too(tmp_path, option):
    lacking = {"Coordinates": np.zeros((4, 3))}  # gas without masses and velocities
    path = gadget(tmp_path / "s.hdf5", {1: stars(30, Masses=np.ones(30)), 0: lacking})
    out = tmp_path / "forces.hdf5"
    command = [COMMAND, "force", str(path), "--eps", "0.1", "-o", str(out), *option]
    done = subprocess.run(command, capture_output=True, text=True)
    if not option:
        assert "PartType0" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    with h5py.File(out) as file:
        assert file["Acceleration"].shape == (30, 3)


def packed(path, **filters):
    """A snapshot whose datasets go through a filter."""
    gadget(path, {1: stars(64, Masses=np.ones(64))})
    with h5py.File(path, "a") as file:
        group = file["PartType1"]
        for name in list(group):
            values = group[name][...]
            del group[name]
            group.create_dataset(name, data=values, chunks=values.shape, **filters)
    return path


@pytest.mark.parametrize("name", ["lzf", "Blosc", "Zstd", "LZ4"])
def test_the_command_advised_for_packed_datasets_unpacks_them(tmp_path, name):
    """h5repack has none of these filters, and loses the datasets."""
    if not COMMAND.exists():
        pytest.skip("the command gdr was not built")
    plugin = None if name == "lzf" else pytest.importorskip("hdf5plugin")
    filters = {"compression": "lzf"} if plugin is None else getattr(plugin, name)()
    path = packed(tmp_path / "a.hdf5", **filters)
    force = [COMMAND, "force", "--eps", "0.1", "-o", "forces.hdf5"]
    done = subprocess.run([*force, path], capture_output=True, text=True, cwd=tmp_path, check=False)
    if done.returncode == 0:
        pytest.skip("the HDF5 library of the command has this filter")
    assert "which this HDF5 library lacks; unpack the file" in done.stderr
    advised = done.stderr.split("gdr: python3 -c ", 1)[1].strip().strip('"')
    subprocess.run([sys.executable, "-c", advised], cwd=tmp_path, check=True)
    subprocess.run([*force, "unpacked.hdf5"], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    assert np.array_equal(nbody.read(tmp_path / "unpacked.hdf5").pos, nbody.read(path).pos)


WRITER = """
import h5py, os, sys
file = h5py.File(sys.argv[1], "a", libver="latest")
if "swmr" in sys.argv:
    file.swmr_mode = True
file.flush()
print("open", flush=True)
sys.stdin.read(1)
os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("mode", ["alone", "swmr"])
def test_a_file_that_a_program_writes_is_not_called_damaged(tmp_path, mode):
    old = gadget(tmp_path / "a.hdf5", {1: stars(3, Masses=np.ones(3))})
    path = tmp_path / "b.hdf5"
    with h5py.File(old) as source, h5py.File(path, "w", libver="latest") as copy:
        for name in source:
            source.copy(name, copy)
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, path, mode], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout.readline() == b"open\n"
        with pytest.raises(gdr.FileError, match="b.hdf5 is open in a program that writes it"):
            nbody.read(path)
        writer.communicate(b".")
    message = "or that program ended without closing it; .* run h5clear -s .*b.hdf5"
    with pytest.raises(gdr.FileError, match=message):
        nbody.read(path)
    if shutil.which("h5clear"):
        subprocess.run(["h5clear", "-s", path], check=True)
        assert len(nbody.read(path).mass) == 3


def test_a_filter_that_no_package_has_is_refused_without_their_advice():
    from gdr.nbody._storage import missing_filter

    class Properties:
        def get_nfilters(self):
            return 1

        def get_filter(self, index):
            return 32999, 0, (), b"packer; version 7"

    class Dataset:
        class id:
            get_create_plist = Properties

    message = missing_filter(Dataset)
    assert "filter 32999 (packer)" in message and "hdf5plugin lacks it, too" in message
