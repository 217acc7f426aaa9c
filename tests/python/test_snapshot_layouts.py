"""Layouts of snapshots of other codes, read by the package through h5py and by the command with the
HDF5 library: both read the same numbers, or both refuse the file."""

import subprocess

import numpy as np
import pytest
from conftest import COMMAND

import gdr
from gdr import nbody

h5py = pytest.importorskip("h5py")


def particles(n, ids, **more):
    """The datasets of a type with ``n`` particles; None leaves one out."""
    rng = np.random.default_rng(n)
    datasets = {
        "Coordinates": rng.normal(size=(n, 3)),
        "Velocities": rng.normal(size=(n, 3)).astype("f4"),
        "Masses": np.full(n, 0.5, "f4"),
        "ParticleIDs": np.asarray(ids),
        **more,
    }
    return {name: values for name, values in datasets.items() if values is not None}


def write(path, types, header, **options):
    """Write a file; ``types`` maps the number of a type to its datasets."""
    with h5py.File(path, "w", **options) as file:
        attributes = file.create_group("Header").attrs
        for name, value in header.items():
            attributes[name] = value
        for kind, datasets in types.items():
            group = file.create_group(f"PartType{kind}")
            for name, values in datasets.items():
                group[name] = values
    return path


U32, U64, I64 = (lambda *v, t=t: np.array(v, t) for t in ("u4", "u8", "i8"))


def gadget2(folder):
    """Masses in the header's table, numbers in 32 bits, float32 throughout."""
    types = {
        0: particles(2, U32(1, 2), Masses=None, InternalEnergy=np.ones(2, "f4")),
        1: particles(3, U32(3, 4, 5)),
    }
    header = {
        "NumPart_ThisFile": np.array([2, 3, 0, 0, 0, 0], "i4"),
        "NumPart_Total": np.array([2, 3, 0, 0, 0, 0], "u4"),
        "NumPart_Total_HighWord": np.zeros(6, "u4"),
        "MassTable": [0.25, 0, 0, 0, 0, 0],
        "NumFilesPerSnapshot": np.int32(1),
        "Time": 0.5,
        "BoxSize": 0.0,
        "Redshift": 1.0,
    }
    return write(folder / "snapshot_007.hdf5", types, header)


def gadget4(folder):
    """Numbers in 64 bits, without a HighWord."""
    header = {
        "NumPart_ThisFile": U64(0, 3),
        "NumPart_Total": U64(0, 3),
        "MassTable": [0.0, 0.0],
        "NumFilesPerSnapshot": np.int32(1),
        "Time": 0.5,
        "BoxSize": 100.0,
    }
    return write(
        folder / "snapshot_007.hdf5", {1: particles(3, U64(2**53 + 1, 2**63 + 3, 7))}, header
    )


def swift(folder):
    """Every attribute an array, seven types, signed ids, three edges, names for groups."""
    header = {
        "NumPart_ThisFile": I64(2, 3, 0, 0, 0, 0, 0),
        "NumPart_Total": np.array([2, 3, 0, 0, 0, 0, 0], "u4"),
        "NumPart_Total_HighWord": np.zeros(7, "u4"),
        "MassTable": np.zeros(7),
        "NumFilesPerSnapshot": np.array([1], "i4"),
        "Time": np.array([0.25]),
        "Redshift": np.array([0.0]),
        "BoxSize": np.array([10.0, 20.0, 30.0]),
    }
    types = {0: particles(2, I64(2**53 + 1, 9)), 1: particles(3, I64(-5, 2**62 + 1, 3))}
    path = write(folder / "swift_0001.hdf5", types, header)
    with h5py.File(path, "a") as file:
        file["GasParticles"] = h5py.SoftLink("/PartType0")
    return path


def mixed_ids(folder):
    """Signed and unsigned ids that fit unsigned ones."""
    types = {1: particles(2, I64(2**62 + 1, 2)), 2: particles(2, U64(2**63 + 1, 2**53 + 1))}
    return write(folder / "a.hdf5", types, {})


def unsigned_beside_negative_ids(folder):
    """Signed and unsigned ids that fit signed ones."""
    types = {1: particles(2, I64(-1, 2**62 + 1)), 2: particles(2, U64(2**53 + 1, 2**62 + 3))}
    return write(folder / "a.hdf5", types, {})


def big_endian_ids(folder):
    return write(folder / "a.hdf5", {1: particles(2, np.array([2**63 + 1, 5], ">u8"))}, {})


def user_block(folder):
    path = write(folder / "a.hdf5", {1: particles(3, U32(1, 2, 3))}, {}, userblock_size=1024)
    with open(path, "r+b") as file:
        file.write(b"\x00\x01\x00\x00 any bytes\n")
    return path


def empty_types(folder):
    empty = {"Coordinates": np.empty(0), "Velocities": np.empty(0), "Masses": np.empty(0)}
    null = {"Coordinates": h5py.Empty("f8"), "ParticleIDs": h5py.Empty("u8")}
    types = {
        0: empty,
        1: particles(3, U32(1, 2, 3)),
        2: null,
        3: {},
        4: {"Coordinates": np.empty((0, 3))},
    }
    return write(folder / "a.hdf5", types, {"BoxSize": h5py.Empty("f8"), "Redshift": np.empty(0)})


def in_parts(folder, pattern, count=3, first=0, **changes):
    """A snapshot in several files with two particles each; ``changes`` of the header of file 1."""
    for k in range(count):
        header = {
            "NumPart_ThisFile": np.array([0, 2, 0, 0, 0, 0], "i4"),
            "NumPart_Total": np.array([0, 2 * count, 0, 0, 0, 0], "u4"),
            "NumFilesPerSnapshot": count,
            "Time": 0.5,
            "BoxSize": [1.0, 2.0, 3.0],
        }
        if k == 1:
            header.update(changes)
        write(folder / pattern.format(k), {1: particles(2, U64(2**60 + k, k))}, header)
    return folder / pattern.format(first)


def parts(folder):
    return in_parts(folder, "snap_007.{}.hdf5")


def parts_with_three_digits(folder):
    return in_parts(folder, "snap.{:03}.hdf5", first=2)


def twelve_parts(folder):
    return in_parts(folder, "snap.{}.hdf5", 12, 10)


ACCEPTED = [
    gadget2,
    gadget4,
    swift,
    mixed_ids,
    unsigned_beside_negative_ids,
    big_endian_ids,
    user_block,
    empty_types,
    parts,
    parts_with_three_digits,
    twelve_parts,
]


@pytest.mark.skipif(not COMMAND.exists(), reason="the command was not built")
@pytest.mark.parametrize("layout", ACCEPTED)
def test_layouts_of_other_codes_are_read_alike_by_package_and_command(layout, tmp_path):
    path = layout(tmp_path)
    here = nbody.read(path)
    run = ["nbody", path, "--eps", 0.5, "--dt", 0.125, "--t-end", here.time + 0.125]
    run += ["--snapshot-every", "1steps", "--out", tmp_path / "out"]
    subprocess.run([COMMAND, *map(str, run)], check=True, capture_output=True)
    there = nbody.read(tmp_path / "out" / "snapshot_00000000.hdf5")
    for array in ("pos", "vel", "mass", "types", "ids"):
        assert np.array_equal(getattr(here, array), getattr(there, array)), array
        assert getattr(here, array).dtype == getattr(there, array).dtype, array
    assert here.time == there.time
    kept = {"BoxSize": 0.0, "Redshift": 0.0, **here.header}  # the command always writes these
    assert kept == there.header
    nbody.write(tmp_path / "again.hdf5", here)
    again = nbody.read(tmp_path / "again.hdf5")
    assert np.array_equal(again.ids, here.ids) and again.header == here.header


def test_ids_and_edges_of_layouts_keep_all_bits(tmp_path):
    assert nbody.read(gadget4(tmp_path)).ids.tolist() == [2**53 + 1, 2**63 + 3, 7]
    stars = nbody.read(swift(tmp_path))
    assert stars.ids.tolist() == [2**53 + 1, 9, -5, 2**62 + 1, 3]
    assert stars.header["BoxSize"] == (10.0, 20.0, 30.0) and stars.header["Redshift"] == 0.0
    assert nbody.read(mixed_ids(tmp_path)).ids.tolist() == [2**62 + 1, 2, 2**63 + 1, 2**53 + 1]
    stars = nbody.read(unsigned_beside_negative_ids(tmp_path))
    assert stars.ids.tolist() == [-1, 2**62 + 1, 2**53 + 1, 2**62 + 3]
    assert nbody.read(big_endian_ids(tmp_path)).ids.tolist() == [2**63 + 1, 5]
    assert nbody.read(empty_types(tmp_path)).types.tolist() == [1, 1, 1]
    stars = nbody.read(parts_with_three_digits(tmp_path))
    assert stars.ids.tolist() == [2**60, 0, 2**60 + 1, 1, 2**60 + 2, 2]


def ids_without_a_common_type(folder):
    types = {1: particles(2, I64(-1, 2)), 2: particles(2, U64(2**63, 1))}
    return write(folder / "a.hdf5", types, {})


def other_time(folder):
    return in_parts(folder, "snap.{}.hdf5", Time=0.25)


def other_box(folder):
    return in_parts(folder, "snap.{}.hdf5", BoxSize=1.0)


def other_total(folder):
    return in_parts(folder, "snap.{:03}.hdf5", NumPart_Total=U64(0, 7, 0, 0, 0, 0))


def lost_part(folder):
    path = in_parts(folder, "snap.{:03}.hdf5")
    (folder / "snap.002.hdf5").unlink()
    return path


def renamed_part(folder):
    return parts(folder).rename(folder / "alone.hdf5")


def no_velocities(folder):
    return write(folder / "a.hdf5", {1: particles(2, U32(1, 2), Velocities=None)}, {})


def flat_coordinates(folder):
    types = {1: particles(2, U32(1, 2), Coordinates=np.zeros(6))}
    return write(folder / "a.hdf5", types, {})


def group_for_a_dataset(folder):
    path = write(folder / "a.hdf5", {1: particles(2, U32(1, 2), Masses=None)}, {})
    with h5py.File(path, "a") as file:
        file.create_group("PartType1/Masses")
    return path


def null_masses(folder):
    types = {1: particles(2, U32(1, 2), Masses=h5py.Empty("f8"))}
    return write(folder / "a.hdf5", types, {})


def counted_but_empty(folder):
    types = {1: particles(2, U32(1, 2)), 2: {"Coordinates": h5py.Empty("f8")}}
    return write(folder / "a.hdf5", types, {"NumPart_ThisFile": I64(0, 2, 4, 0, 0, 0)})


def unknown_number_of_files(folder):
    types = {1: particles(2, U32(1, 2))}
    return write(folder / "a.hdf5", types, {"NumFilesPerSnapshot": np.nan})


def unknown_number_of_particles(folder):
    types = {1: particles(2, U32(1, 2))}
    return write(folder / "a.hdf5", types, {"NumPart_ThisFile": [0, np.nan, 0, 0, 0, 0]})


def cut_short(folder):
    path = gadget2(folder)
    path.write_bytes(path.read_bytes()[:1000])
    return path


REFUSED = [
    (cut_short, ["damaged HDF5 file", "fetch it again"]),
    (unknown_number_of_files, ["Header/NumFilesPerSnapshot", "nan"]),
    (unknown_number_of_particles, ["Header/NumPart_ThisFile", "nan"]),
    (ids_without_a_common_type, ["ParticleIDs", "renumber"]),
    (other_time, ["snap.1.hdf5", "Header/Time", "0.25", "0.5", "different snapshots"]),
    (other_box, ["snap.1.hdf5", "Header/BoxSize", "different snapshots"]),
    (other_total, ["snap.001.hdf5", "Header/NumPart_Total", "different snapshots"]),
    (lost_part, ["one of 3 files", "snap.002.hdf5", "missing"]),
    (renamed_part, ["alone.hdf5", "one of 3 files", "snapshot.0.hdf5"]),
    (no_velocities, ["PartType1", "Velocities"]),
    (flat_coordinates, ["PartType1/Coordinates", "(n, 3)"]),
    (group_for_a_dataset, ["PartType1/Masses", "a dataset"]),
    (null_masses, ["PartType1/Masses"]),
    (counted_but_empty, ["Header/NumPart_ThisFile", "4 particles of type 2"]),
]


@pytest.mark.parametrize(("layout", "words"), REFUSED)
def test_files_that_are_refused_are_so_by_package_and_command(layout, words, tmp_path):
    path = layout(tmp_path)
    with pytest.raises(gdr.Error) as caught:
        nbody.read(path)
    texts = [str(caught.value)]
    if COMMAND.exists():
        run = ["nbody", path, "--eps", 0.5, "--dt", 0.125, "--t-end", 1, "--out", tmp_path / "out"]
        done = subprocess.run([COMMAND, *map(str, run)], capture_output=True, text=True)
        assert done.returncode == 1
        texts.append(done.stderr)
    for text in texts:
        for word in words:
            assert word in text
        assert "internal error" not in text


def test_a_file_without_velocities_is_read_on_request(tmp_path):
    path = no_velocities(tmp_path)
    with pytest.raises(gdr.InputError, match="velocities=False"):
        nbody.read(path)
    stars = nbody.read(path, velocities=False)
    assert stars.ids.tolist() == [1, 2] and np.array_equal(stars.vel, np.zeros((2, 3)))
    stars = nbody.read(gadget2(tmp_path), velocities=False)
    assert not stars.vel.any() and stars.pos.any()
    (tmp_path / "a.txt").write_text("1 0 0 0 4 5 6\n")
    assert not nbody.read(tmp_path / "a.txt", velocities=False).vel.any()
    if COMMAND.exists():  # forces need none
        run = ["force", path, "--eps", 0.5, "-o", tmp_path / "forces.hdf5"]
        subprocess.run([COMMAND, *map(str, run)], check=True, capture_output=True)
