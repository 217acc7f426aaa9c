#!/usr/bin/env python3
"""A virtual machine with emulated boards: Debian's kernel, busybox and the gdr command behind an IOMMU.

As a program it gives a shell in such a guest:

    emulator/board/qemu/guest.py --boards 2 --engine native --add my_driver.ko

`make qemu` builds what it needs.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid

import initramfs

SOURCES = pathlib.Path(__file__).resolve().parents[3]
# Boards of guests without options: they are tested in milliseconds.
SMALL_BOARD = {"geometry": "chips=2,blocks=4,dram=16777216"}


class GuestError(Exception):
    """The guest ended, or did not answer in time."""


def qemu_program(cache):
    return cache / "source/build/qemu-system-x86_64"


def working_accelerator(build):
    """"kvm" if a guest starts with KVM within 20 seconds, else "tcg". The answer is kept until the host is
    started again: some hosts, above all virtual machines themselves, have a /dev/kvm that does not work."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg"
    boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    kept = SOURCES / f"build/qemu/accelerator.{boot}"
    with contextlib.suppress(FileNotFoundError):
        return kept.read_text().strip()
    try:
        Guest(build, [], accel="kvm", boot_timeout=20).kill()
        answer = "kvm"
    except GuestError:
        answer = "tcg"
    kept.write_text(answer)
    return answer


def device_option(board, number, library):
    """Text for -device: `board` has the properties of the board (see gdr_board.c)."""
    options = {"library": library, **board, "id": f"board{number}", "bus": f"slot{number}"}
    return "gdr-board," + ",".join(f"{key}={str(value).replace(',', ',,')}" for key, value in options.items())


def command_line(cache, library, boards, shell, initrd, accel, memory_mb=1024, slots=None):
    """QEMU's command line: a PC of type q35 with an IOMMU, and every board behind a root port of its
    own, so that each is in an IOMMU group of its own and can be removed. accel: "kvm" or "tcg", on which a
    busy host delays the guest's timer, so that the kernel must not test it (no_timer_check)."""
    [kernel] = (cache / "kernel/boot").glob("vmlinuz-*")
    line = [str(qemu_program(cache)), "-L", str(cache / "seabios/usr/share/seabios"),
            "-L", str(cache / "data/usr/share/qemu"), "-nodefaults", "-no-user-config",
            "-display", "none", "-no-reboot",
            "-machine", "q35", "-cpu", "max,arch-capabilities=off", "-m", str(memory_mb), "-smp", "2",
            "-accel", "kvm,kernel-irqchip=split" if accel == "kvm" else accel, "-device", "intel-iommu,intremap=on"]
    for number in range(max(len(boards), slots or 0)):
        line += ["-device", f"pcie-root-port,id=slot{number},chassis={number + 1}"]
    for number, board in enumerate(boards):
        line += ["-device", device_option(board, number, library)]
    return line + ["-kernel", str(kernel), "-initrd", str(initrd), "-append",
                   f"console=ttyS0 quiet panic=-1 intel_iommu=on no_timer_check gdr_shell={shell}"]


class Guest:
    """A running guest, whose shell takes commands.

    build: build tree with libgdr/gdr and libgdr/libgdr_board.so; boards: dictionaries of properties of
    the device gdr-board; programs and files: see initramfs.guest_archive; accel: "kvm", "tcg", or empty
    for KVM where it works; boot_timeout: seconds. Other arguments are those of command_line.
    """

    def __init__(self, build, boards, programs=(), files=(), accel="", boot_timeout=300, **options):
        cache = SOURCES / "build/qemu"
        self.library = build / "libgdr/libgdr_board.so"
        self._folder = tempfile.TemporaryDirectory(prefix="gdr-qemu-")
        folder = pathlib.Path(self._folder.name)
        self.console = folder / "console.log"
        self.log = folder / "qemu.log"
        archive = initramfs.guest_archive(cache, [("/bin/gdr", build / "libgdr/gdr"), *programs], files)
        (folder / "initrd").write_bytes(archive)
        line = command_line(cache, self.library, boards, "ttyS1", folder / "initrd",
                            accel or working_accelerator(build), **options)
        line += ["-serial", f"file:{self.console}", "-d", "guest_errors", "-D", str(self.log)]
        line += ["-chardev", f"socket,id=shell,path={folder}/shell,server=on,wait=off", "-serial", "chardev:shell",
                 "-qmp", f"unix:{folder}/qmp,server=on,wait=off"]
        self._output = open(folder / "output", "w+b")
        self.process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=self._output, stderr=self._output)
        self._received = b""
        self._connections = contextlib.ExitStack()
        try:
            self._shell = self._connections.enter_context(self._connect(folder / "shell"))
            monitor = self._connections.enter_context(self._connect(folder / "qmp"))
            self._qmp = self._connections.enter_context(monitor.makefile("rw"))
            self._qmp.readline()  # the greeting
            self.qmp("qmp_capabilities")
            self._read_until(rb"ready\n", boot_timeout)
        except (OSError, ValueError, GuestError):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(1)  # its messages are complete
            text = self.text()
            self.kill()
            raise GuestError(f"the guest did not start\n{text}") from None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def kill(self):
        """Ends QEMU at once, as a crash of the host would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self._connections.close()
        self._output.close()
        self._folder.cleanup()

    def shut_down(self, timeout=60):
        """Ends QEMU orderly, and returns its exit status."""
        self.qmp("quit")
        return self.process.wait(timeout)

    def text(self):
        """Everything that QEMU and the guest's kernel have reported, for messages."""
        self._output.seek(0)
        parts = [self._output.read()]
        parts += [path.read_bytes() for path in (self.console, self.log) if path.exists()]
        return b"\n".join(parts).decode(errors="replace")

    def run(self, command, timeout=120):
        """Runs a command of the shell, one line, and returns its exit status and its output as text."""
        mark = uuid.uuid4().hex
        self._shell.sendall(f"{mark}\n{command}\n".encode())
        match = self._read_until(rb"(?s)(.*?)" + mark.encode() + rb" (\d+)\n", timeout)
        return int(match[2]), match[1].decode(errors="replace")

    def check(self, command, timeout=120):
        """Runs a command that must succeed, and returns its output."""
        status, output = self.run(command, timeout)
        if status != 0:
            raise GuestError(f"status {status} of {command}\n{output}\n{self.text()}")
        return output

    def qmp(self, command, **arguments):
        """Executes a command of QEMU's monitor protocol, and returns its result."""
        self._qmp.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self._qmp.flush()
        while True:
            answer = json.loads(self._qmp.readline())
            if "error" in answer:
                raise GuestError(f"{command}: {answer['error']['desc']}")
            if "return" in answer:
                return answer["return"]

    def has_device(self, name):
        """Whether QEMU has the device with this id."""
        return any(item["name"] == name for item in self.qmp("qom-list", path="/machine/peripheral"))

    def _connect(self, path):
        end = time.monotonic() + 30
        while True:
            client = socket.socket(socket.AF_UNIX)
            with contextlib.suppress(OSError):
                client.connect(str(path))
                return client
            client.close()
            if self.process.poll() is not None or time.monotonic() > end:
                raise GuestError(f"QEMU does not answer at {path}")
            time.sleep(0.02)

    def _read_until(self, pattern, timeout):
        """Reads from the shell until the pattern matches."""
        end = time.monotonic() + timeout
        while not (match := re.search(pattern, self._received)):
            self._shell.settimeout(max(0.01, end - time.monotonic()))
            try:
                data = self._shell.recv(1 << 16)
            except TimeoutError:
                raise GuestError(f"no answer within {timeout} s; received {self._received!r}\n{self.text()}") from None
            if not data:
                raise GuestError(f"the guest ended; received {self._received!r}\n{self.text()}")
            self._received += data
        self._received = self._received[match.end():]
        return match


def main():
    parser = argparse.ArgumentParser(description="A shell in a guest with emulated boards.")
    parser.add_argument("--build", type=pathlib.Path, default=SOURCES / "build/release", help="build tree of GDR")
    parser.add_argument("--boards", type=int, default=1, help="number of boards")
    parser.add_argument("--engine", default="vector", help="engine of the boards")
    parser.add_argument("--geometry", default="", help="sizes of the boards, as for gdr serve: chips=2,blocks=4")
    parser.add_argument("--interrupts", default="msix", choices=["msix", "msi", "pin"])
    parser.add_argument("--memory", type=int, default=1024, help="memory of the guest in MB")
    parser.add_argument("--accel", default="", choices=["", "kvm", "tcg"], help="default: KVM where it works")
    parser.add_argument("--add", type=pathlib.Path, action="append", default=[], metavar="FILE",
                        help="file or program for the guest's folder /root; repeatable")
    arguments = parser.parse_args()
    cache = SOURCES / "build/qemu"
    if not qemu_program(cache).exists():
        sys.exit("QEMU with the device gdr-board is missing; build it with make qemu")
    board = {"engine": arguments.engine, "interrupts": arguments.interrupts}
    if arguments.geometry:
        board["geometry"] = arguments.geometry
    with tempfile.TemporaryDirectory(prefix="gdr-qemu-") as folder:
        initrd = pathlib.Path(folder) / "initrd"
        programs = [("/bin/gdr", arguments.build / "libgdr/gdr")]
        programs += [(f"/root/{path.name}", path) for path in arguments.add]
        initrd.write_bytes(initramfs.guest_archive(cache, programs))
        line = command_line(cache, arguments.build / "libgdr/libgdr_board.so", [board] * arguments.boards, "ttyS0",
                            initrd, arguments.accel or working_accelerator(arguments.build), arguments.memory)
        sys.exit(subprocess.run(line + ["-serial", "mon:stdio"], check=False).returncode)


if __name__ == "__main__":
    main()
