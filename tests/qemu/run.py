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


def start(boards, **options):
    """A guest with these boards, the tests' driver, and a snapshot."""
    programs = [("/bin/gdr_vfio_client", BUILD / "tests/gdr_vfio_client")]
    return virtual.Guest(BUILD, boards, programs, [("/root/cluster.hdf5", SNAPSHOT)], accel=ACCEL, **options)


def force(device, output="/tmp/forces.hdf5"):
    return f"gdr force /root/cluster.hdf5 --eps 0.015625 -o {output} -q --device {device}"


def host_forces(geometry):
    """SHA-256 of the forces that the host computes."""
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "forces.hdf5"
        subprocess.run([BUILD / "libgdr/gdr", "force", SNAPSHOT, "--eps", "0.015625", "-o", output, "-q", "--device",
                        f"emulator:{geometry}" if geometry else "emulator"], check=True, capture_output=True)
        return hashlib.sha256(output.read_bytes()).hexdigest()


def guest_forces(guest, output="/tmp/forces.hdf5"):
    return guest.check(f"sha256sum {output}").split()[0]


def addresses(guest):
    """PCI addresses of the boards, in their order."""
    return guest.check("ls /sys/bus/pci/drivers/vfio-pci | grep :").split()


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

    def test_function_level_resets_leave_the_initial_state(self):
        for address in addresses(self.guest):
            self.assertEqual(self.guest.check(f"gdr_vfio_client {address} reset"), "20 resets\n")
            self.guest.check(f"echo 1 >/sys/bus/pci/devices/{address}/reset")
        self.guest.check(force("board:0,boards=3"))
        self.assertEqual(guest_forces(self.guest), self.expected)

    def test_dma_outside_of_the_mapped_memory_is_stopped_by_the_iommu(self):
        for address in addresses(self.guest):
            self.guest.check("dmesg -c >/dev/null")
            self.assertEqual(self.guest.check(f"gdr_vfio_client {address} outside"), "6 errors\n")
            faults = self.guest.check("dmesg | grep DMAR").replace("0000:", "")
            self.assertIn("fault addr", faults)
            self.assertIn(address.removeprefix("0000:"), faults)
            self.assertRegex(faults, "DMA Read")
            self.assertRegex(faults, "DMA Write")
        self.guest.check(force("board:0"))
        self.assertEqual(guest_forces(self.guest), self.expected)

    def test_a_board_has_one_owner_at_a_time(self):
        status, output = self.guest.run(
            f"{force('board:0', '/tmp/a')} & {force('board:0', '/tmp/b')}; b=$?; wait $!; echo $? $b")
        self.assertEqual((status, output.splitlines()[-1]), (0, "0 0"), output)
        self.assertEqual(guest_forces(self.guest, "/tmp/a"), self.expected)
        self.assertEqual(guest_forces(self.guest, "/tmp/b"), self.expected)


class SlowBoard(unittest.TestCase):
    """A board whose engine takes seconds for a list, and a fast one."""

    @classmethod
    def setUpClass(cls):
        cls.guest = start([{"engine": "reference"}, SMALL], slots=3)
        cls.expected = host_forces(SMALL["geometry"])

    @classmethod
    def tearDownClass(cls):
        cls.guest.kill()

    def start_job(self, device, output="/tmp/job.hdf5"):
        """Starts a job in the background, and returns when its board executes a list."""
        self.guest.check(f"{force(device, output)} >/tmp/job.log & echo $! >/tmp/job")
        time.sleep(2)
        self.guest.check("kill -0 $(cat /tmp/job)")

    def test_a_killed_owner_leaves_a_board_that_works(self):
        self.start_job("board:0,self_test=0")
        self.guest.check("kill -9 $(cat /tmp/job); ! wait $(cat /tmp/job)")
        begin = time.monotonic()
        self.guest.check("gdr info --device board:0,self_test=0,queue_timeout=30 >/dev/null")
        self.assertLess(time.monotonic() - begin, 20, "the board works on the killed owner's list")
        self.guest.check(force("board:1"))
        self.assertEqual(guest_forces(self.guest), self.expected)

    def test_a_removed_board_disappears_and_returns(self):
        self.guest.qmp("device_del", id="board1")
        self.assertTrue(wait_until(lambda: not self.guest.has_device("board1")))
        self.assertEqual(len(addresses(self.guest)), 1)
        status, output = self.guest.run("gdr force cluster.hdf5 --eps 0.1 -o /tmp/x --device board:1")
        self.assertNotEqual(status, 0)
        self.assertIn("there is no board 1; this host has 1", output)
        self.add_small_board("board1", "slot2")
        self.guest.check(force("board:1"))
        self.assertEqual(guest_forces(self.guest), self.expected)

    def test_a_board_that_is_removed_during_a_job_leaves_after_it(self):
        name = next(name for name in ("board1", "board2") if self.guest.has_device(name))
        self.start_job("board:1,self_test=0")
        self.guest.qmp("device_del", id=name)

    def add_small_board(self, name, slot):
        self.guest.qmp("device_add", driver="gdr-board", id=name, bus=slot, library=str(self.guest.library), **SMALL)
        self.assertTrue(wait_until(lambda: len(addresses(self.guest)) == 2), self.guest.text())


class Machines(unittest.TestCase):
    """Ends of whole guests."""

    def test_a_guest_killed_during_a_run_leaves_nothing_behind(self):
        guest = start([{"engine": "reference"}])
        self.addCleanup(lambda: guest.process.poll() is None and guest.kill())
        guest.check(f"{force('board:0,self_test=0')} >/dev/null & sleep 2; kill -0 $!")
        guest.kill()
        with start([{}]) as other:
            other.check(force("board:0"))
            self.assertEqual(guest_forces(other), host_forces(""))

    def test_qemu_ends_orderly_during_a_run(self):
        with contextlib.ExitStack() as stack:
            guest = start([{"engine": "reference"}])
            stack.callback(guest.kill)
            guest.check(f"{force('board:0,self_test=0')} >/dev/null & sleep 2; kill -0 $!")
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
