#!/usr/bin/env python3
"""Boards of QEMU in a guest with Debian's kernel: VFIO, IOMMU, interrupts, resets, removal.

Without QEMU in build/qemu (`make qemu`) the tests are skipped. GDR_TEST_QEMU_ACCEL=tcg runs them without
KVM.

usage: run.py BUILD_DIR [unittest's arguments]
"""

import contextlib
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

SOURCES = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCES / "emulator/board/qemu"))

import guest as virtual  # noqa: E402

SKIPPED = 77
BUILD = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else SOURCES / "build/release"
ACCEL = os.environ.get("GDR_TEST_QEMU_ACCEL", "")
SMALL = {"geometry": "chips=2,blocks=4,pes=8,dram=16777216"}
SNAPSHOT = SOURCES / "examples/data/plummer_1024.hdf5"
LARGE = SOURCES / "examples/data/plummer_4096.hdf5"  # half a minute for the reference engine


def start(boards, **options):
    """A guest with these boards, the tests' driver, and a snapshot."""
    programs = [("/bin/gdr_vfio_client", BUILD / "tests/gdr_vfio_client")]
    return virtual.Guest(BUILD, boards, programs, [("/root/cluster.hdf5", SNAPSHOT), ("/root/large.hdf5", LARGE)],
                         accel=ACCEL, **options)


def force(device, output="/tmp/forces.hdf5", snapshot="cluster"):
    return f"gdr force /root/{snapshot}.hdf5 --eps 0.015625 -o {output} -q --device {device}"


def host_forces(geometry, engine="vector"):
    """SHA-256 of the forces that the host computes."""
    with tempfile.TemporaryDirectory() as folder:
        output, snapshot = pathlib.Path(folder) / "forces.hdf5", pathlib.Path(folder) / "cluster.hdf5"
        snapshot.symlink_to(SNAPSHOT)  # the output has its name
        device = f"emulator:{geometry}" if geometry else "emulator"
        command = [BUILD / "libgdr/gdr", "force", snapshot, "--eps", "0.015625", "-o", output, "-q"]
        command += ["--engine", engine, "--device", device]
        subprocess.run(command, check=True, capture_output=True)
        return hashlib.sha256(output.read_bytes()).hexdigest()


def guest_forces(guest, output="/tmp/forces.hdf5"):
    return guest.check(f"sha256sum {output}").split()[0]


def addresses(guest):
    """PCI addresses of the boards, in their order."""
    return guest.check("ls /sys/bus/pci/drivers/vfio-pci | grep :").split()


def start_job(guest, board, snapshot):
    """Starts a job in the background, and returns its process when it has used its board for a moment."""
    command = force(f"{board},self_test=0", "/tmp/job.hdf5", snapshot)
    process = guest.check(f"{command} >/tmp/job.log & echo $!").strip()
    guest.check(f"until ls -l /proc/{process}/fd | grep -q vfio-device; do sleep 0.05; done; sleep 0.2")
    guest.check(f"kill -0 {process}")
    return process


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


class Interrupts(unittest.TestCase):
    """Three boards with different interrupts."""

    KINDS = ["msix", "msi", "pin"]

    @classmethod
    def setUpClass(cls):
        cls.guest = start([{**SMALL, "interrupts": kind} for kind in cls.KINDS])
        cls.expected = host_forces(SMALL["geometry"])

    @classmethod
    def tearDownClass(cls):
        cls.guest.kill()

    def test_boards_are_listed_and_pass_their_tests(self):
        listed = self.guest.check("gdr boards")
        self.assertEqual([line.split()[0] for line in listed.splitlines()], ["board:0", "board:1", "board:2"], listed)
        for k in range(3):
            output = self.guest.check(f"gdr boards --test 2 --device board:{k}")
            self.assertEqual(output.count("works"), 1, output)

    def test_forces_have_the_bits_of_the_host(self):
        for k, kind in enumerate(self.KINDS):
            with self.subTest(kind):
                self.guest.check(force(f"board:{k}"))
                self.assertEqual(guest_forces(self.guest), self.expected)

    def test_three_boards_share_a_job(self):
        output = self.guest.check(force("board:0,boards=3"))
        self.assertEqual(guest_forces(self.guest), self.expected, output)

    def test_one_interrupt_arrives_for_each_list(self):
        for kind, address in zip(self.KINDS, addresses(self.guest)):
            with self.subTest(kind):
                output = self.guest.check(f"gdr_vfio_client {address} interrupts")
                self.assertTrue(output.startswith(f"{kind}: 200 interrupts"), output)
                print(output.strip(), file=sys.stderr)

    def test_libgdr_waits_for_interrupts(self):
        for k, (kind, address) in enumerate(zip(self.KINDS, addresses(self.guest))):
            with self.subTest(kind):
                process = self.guest.check(f"gdr boards --test 40 --device board:{k} >/tmp/test.log & echo $!").strip()
                name = "vfio-intx" if kind == "pin" else f"vfio-{kind}"
                count = f"awk '/{name}.*{address}/ {{ print $2 + $3 }}' /proc/interrupts"
                self.assertTrue(wait_until(lambda: int(self.guest.check(count).strip() or 0) > 10), self.guest.text())
                self.guest.check(f"wait {process}")

    def test_function_level_resets_leave_the_initial_state(self):
        for address in addresses(self.guest):
            self.assertEqual(self.guest.check(f"gdr_vfio_client {address} reset"), "20 resets\n")
            self.guest.check(f"echo 1 >/sys/bus/pci/devices/{address}/reset")
        self.guest.check(force("board:0,boards=3"))
        self.assertEqual(guest_forces(self.guest), self.expected)

    def test_dma_outside_of_the_mapped_memory_is_stopped_by_the_iommu(self):
        self.guest.check("dmesg -c >/dev/null")
        for address in addresses(self.guest):
            self.assertEqual(self.guest.check(f"gdr_vfio_client {address} outside"), "6 errors\n")
        # Linux reports the first few faults of five seconds.
        faults = self.guest.check("dmesg | grep DMAR")
        first = addresses(self.guest)[0].removeprefix("0000:")
        self.assertRegex(faults, rf"DMA Read .*Request device \[{first}\] fault addr 0x100080000")
        self.assertRegex(faults, rf"DMA Write .*Request device \[{first}\] fault addr 0x1000000000")
        self.guest.check(force("board:0"))
        self.assertEqual(guest_forces(self.guest), self.expected)

    def test_a_board_has_one_owner_at_a_time(self):
        status, output = self.guest.run(
            f"{force('board:0', '/tmp/a')} & {force('board:0', '/tmp/b')}; b=$?; wait $!; echo $? $b")
        self.assertEqual((status, output.splitlines()[-1]), (0, "0 0"), output)
        self.assertEqual(guest_forces(self.guest, "/tmp/a"), self.expected)
        self.assertEqual(guest_forces(self.guest, "/tmp/b"), self.expected)


class Removal(unittest.TestCase):
    """Boards that are removed, and owners that are killed: two fast boards, and one with a slow engine."""

    @classmethod
    def setUpClass(cls):
        cls.guest = start([SMALL, SMALL, {**SMALL, "engine": "reference"}])
        cls.expected = host_forces(SMALL["geometry"])

    @classmethod
    def tearDownClass(cls):
        cls.guest.kill()


    def test_a_killed_owner_leaves_a_board_that_works(self):
        process = start_job(self.guest, "board:2", "large")
        time.sleep(1)
        self.guest.check(f"kill -9 {process}; ! wait {process}")
        begin = time.monotonic()
        self.guest.check("gdr info --device board:2,self_test=0 >/dev/null")
        self.assertLess(time.monotonic() - begin, 10, "the board works on the killed owner's list")
        self.guest.check(force("board:2"))
        self.assertEqual(guest_forces(self.guest), host_forces(SMALL["geometry"], "reference"))

    def test_a_removed_board_disappears_and_returns(self):
        self.guest.qmp("device_del", id="board1")
        self.assertTrue(wait_until(lambda: not self.guest.has_device("board1")), self.guest.text())
        self.assertEqual(len(addresses(self.guest)), 2)
        status, output = self.guest.run(force("board:2"))
        self.assertNotEqual(status, 0)
        self.assertIn("there is no board 2; this host has 2", output)
        self.add_board("board1", "slot1", SMALL, 3)
        self.guest.check(force("board:1"))
        self.assertEqual(guest_forces(self.guest), self.expected)

    def test_a_board_that_is_removed_during_a_job_leaves_when_the_job_is_done(self):
        process = start_job(self.guest, "board:2", "cluster")
        self.guest.qmp("device_del", id="board2")
        self.guest.check(f"kill -0 {process}")
        self.assertTrue(self.guest.has_device("board2"))
        self.guest.check(f"wait {process}")
        self.assertEqual(guest_forces(self.guest, "/tmp/job.hdf5"), host_forces(SMALL["geometry"], "reference"))
        self.assertTrue(wait_until(lambda: not self.guest.has_device("board2")), self.guest.text())
        self.add_board("board2", "slot2", {**SMALL, "engine": "reference"}, 3)

    def add_board(self, name, slot, board, total):
        self.guest.qmp("device_add", driver="gdr-board", id=name, bus=slot, library=str(self.guest.library), **board)
        self.assertTrue(wait_until(lambda: len(addresses(self.guest)) == total), self.guest.text())


class Machines(unittest.TestCase):
    """Ends of whole guests."""

    def test_a_guest_killed_during_a_run_leaves_nothing_behind(self):
        guest = start([{"engine": "reference"}])
        self.addCleanup(lambda: guest.process.poll() is None and guest.kill())
        start_job(guest, "board:0", "large")
        guest.kill()
        with start([{}]) as other:
            other.check(force("board:0"))
            self.assertEqual(guest_forces(other), host_forces(""))

    def test_qemu_ends_orderly_during_a_run(self):
        with contextlib.ExitStack() as stack:
            guest = start([{"engine": "reference"}])
            stack.callback(guest.kill)
            start_job(guest, "board:0", "large")
            begin = time.monotonic()
            self.assertEqual(guest.shut_down(), 0, guest.text())
            self.assertLess(time.monotonic() - begin, 10)

    def test_invalid_options_of_the_device_are_errors(self):
        for board, message in [({"geometry": "wheels=4"}, "geometry wheels=4"),
                               ({"interrupts": "smoke"}, "interrupts=smoke is not msix, msi or pin"),
                               ({"engine": "steam"}, "steam")]:
            with self.subTest(message), self.assertRaises(virtual.GuestError) as caught:
                start([board])
            self.assertIn(message, str(caught.exception))


if __name__ == "__main__":
    if not virtual.qemu_program(SOURCES / "build/qemu").exists():
        print("skipped: no QEMU with the device gdr-board (make qemu)")
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
