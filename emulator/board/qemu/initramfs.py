"""The initial file system of a guest: busybox, the VFIO modules, and programs of the host with their
shared libraries, as a cpio archive in the format "newc" (Linux, driver-api/early-userspace/buffer-format).
"""

import pathlib
import re
import stat
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
MODULES = ["virt/lib/irqbypass", "drivers/vfio/vfio", "drivers/vfio/vfio_virqfd",
           "drivers/vfio/vfio_iommu_type1", "drivers/vfio/pci/vfio-pci-core",
           "drivers/vfio/pci/vfio-pci"]


class Archive:
    """Files of an archive by absolute path."""

    def __init__(self):
        self._entries = {}  # path: (mode, bytes)

    def folder(self, path):
        """Adds a folder and those above it."""
        path = pathlib.PurePosixPath(path)
        for part in [*reversed(path.parents), path]:
            if str(part) != "/":
                self._entries.setdefault(str(part), (stat.S_IFDIR | 0o755, b""))

    def file(self, path, content, mode=0o644):
        self.folder(pathlib.PurePosixPath(path).parent)
        self._entries[str(path)] = (stat.S_IFREG | mode, content)

    def copy(self, path, source):
        """Adds a file of the host."""
        source = pathlib.Path(source)
        self.file(path, source.read_bytes(), source.stat().st_mode & 0o777)

    def program(self, path, source):
        """Adds a program or library of the host, and the libraries that it needs at their paths."""
        self.copy(path, source)
        listed = subprocess.run(["ldd", source], capture_output=True, text=True)
        for library in re.findall(r"(/\S+) \(0x", listed.stdout):
            if library not in self._entries:
                self.copy(library, library)

    def content(self):
        """The archive."""
        parts = []
        for number, (path, (mode, data)) in enumerate([*self._entries.items(), ("TRAILER!!!", (0, b""))], 1):
            name = path.lstrip("/").encode() + b"\0"
            # inode, mode, user, group, links, time, size, device, special device, name's size, checksum
            fields = [number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0]
            head = b"070701" + b"".join(b"%08X" % field for field in fields) + name
            for part in (head, data):
                parts.append(part + b"\0" * (-len(part) % 4))
        return b"".join(parts)


def guest_archive(cache, programs, files=()):
    """The file system of a guest.

    cache: folder of cmake/qemu.sh; programs and files: pairs of a path in the guest and a file of the
    host, with the libraries that it needs, or alone.
    """
    archive = Archive()
    for folder in ("/bin", "/sbin", "/usr/bin", "/usr/sbin", "/proc", "/sys", "/dev"):
        archive.folder(folder)
    archive.copy("/bin/busybox", cache / "busybox/bin/busybox")
    archive.copy("/init", HERE / "init")
    [kernel] = (cache / "kernel/lib/modules").iterdir()
    for module in MODULES:
        archive.copy(f"/modules/{pathlib.PurePath(module).name}.ko", kernel / f"kernel/{module}.ko")
    for path, source in programs:
        archive.program(path, source)
    for path, source in files:
        archive.copy(path, source)
    return archive.content()
