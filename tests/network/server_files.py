#!/usr/bin/env python3
"""Files at a server: jobs whose particles do not cross the network, copies, and what is refused.

usage: server_files.py GDR SNAPSHOT

Bytes are counted, and connections cut, by a TCP proxy in this program. The last part copies through
`gdr relay`; it is left out where network namespaces or TUN devices are not available.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

GDR = str(Path(sys.argv[1]).resolve())
SNAPSHOT = Path(sys.argv[2]).resolve()
UNSUPPORTED = "no Landlock"
SKIPPED = 77
NBODY = "--eps 0.015625 --dt 0.0078125 --t-end 0.0625"

problems: list[str] = []


def check(condition: bool, text: str) -> None:
    print(f"{'ok' if condition else 'FAILED'}: {text}", flush=True)
    if not condition:
        problems.append(text)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "missing"


class Proxy:
    """Forwards connections to a port, counts their bytes, and cuts them."""

    def __init__(self, target: int) -> None:
        self.target, self.bytes, self.cuts, self.pairs = target, 0, 0, []  # type: ignore[var-annotated]
        self.cut_after: list[int] = []  # cut all connections when so many bytes have passed
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            client, _ = self.listener.accept()
            try:
                server = socket.create_connection(("127.0.0.1", self.target), 10)
            except OSError:
                client.close()
                continue
            with self.lock:
                self.pairs.append((client, server))
            for a, b in ((client, server), (server, client)):
                threading.Thread(target=self.pump, args=(a, b), daemon=True).start()

    def pump(self, source: socket.socket, to: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                to.sendall(data)
                with self.lock:
                    self.bytes += len(data)
                    due = bool(self.cut_after) and self.bytes >= self.cut_after[0]
                    if due:
                        self.cut_after.pop(0)
                if due:
                    self.cut()
        except OSError:
            pass
        for end in (source, to):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self) -> None:
        with self.lock:
            pairs, self.pairs = self.pairs, []
            self.cuts += 1
        for pair in pairs:
            for end in pair:
                try:
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass


class Server:
    def __init__(self, folder: Path, options: str) -> None:
        self.folder = folder
        command = [GDR, "serve", "--socket", str(folder / "socket"), "--listen", "127.0.0.1:0", "--insecure"]
        self.log = (folder / "log").open("w+")
        self.process = subprocess.Popen(
            [*command, *shlex.split(options)], stdout=subprocess.PIPE, stderr=self.log, text=True
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"127\.0\.0\.1:(\d+)", line)
        if not found:
            self.process.wait(20)
            error = (folder / "log").read_text(encoding="utf-8")
            if UNSUPPORTED in error:
                print(f"skipped: {error}")
                sys.exit(SKIPPED)
            sys.exit(f"the server does not start: {line}{error}")
        self.port = int(found[1])

    def end(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)
        self.log.close()


def gdr(
    line: str, port: int, folder: Path, options: str = ""
) -> subprocess.CompletedProcess[str]:
    device = f"board:tcp:127.0.0.1:{port},insecure=1{options}"
    return subprocess.run(
        [GDR, *shlex.split(line), "--device", device],
        cwd=folder, capture_output=True, text=True, check=False, timeout=100, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def check_jobs(server: Server, offered: Path, folder: Path) -> None:
    """Commands with files at the server give the same files and texts, without the particles."""
    proxy = Proxy(server.port)
    size = SNAPSHOT.stat().st_size
    for name, line in (
        ("force", "force {} --eps 0.015625 --quiet -o {}"),
        ("nbody", f"nbody {{}} {NBODY} --quiet --out {{}}"),
    ):
        nbody = name == "nbody"
        texts, files, crossed = [], [], []
        there = f"server:/{SNAPSHOT.name}"
        for source, target in ((SNAPSHOT, "local"), (there, "server:/there"), (there, "back")):
            target = f"{target}-{name}" if nbody else f"{target}-{name}.hdf5"
            before = proxy.bytes
            run = gdr(line.format(source, target), proxy.port, folder)
            crossed.append(proxy.bytes - before)
            check(run.returncode == 0, f"gdr {name} {source} {target}: status {run.returncode} {run.stderr}")
            place = offered / target[8:] if target.startswith("server:") else folder / target
            files.append(digest(place / "snapshot_00000008.hdf5" if nbody else place))
            # Without the time that a run took, and the name of its snapshot.
            texts.append(re.sub(r"(in [0-9.e-]+ s of wall time|is \S+)", "", run.stdout))
        check(len(set(files)) == 1 and files[0] != "missing", f"{name}: all three write the same bytes")
        check(len(set(texts)) == 1 and len(texts[0]) > 10, f"{name}: and print the same")
        local, remote, back = crossed
        check(local > 30000, f"{name}: {local} bytes cross with a local snapshot of {size}")
        check(remote < 10000, f"{name}: {remote} bytes cross with one at the server")
        check(remote < back < size + 60000, f"{name}: {back} bytes with the results")
    run = gdr(f"nbody {there} {NBODY} --quiet --out slash/", proxy.port, folder)
    place = folder / "slash" / "snapshot_00000008.hdf5"
    check(run.returncode == 0 and digest(place) == files[0], f"a folder may end with a slash {run.stderr}")
    before = proxy.bytes
    run = gdr(f"force {SNAPSHOT} --eps 0.015625 -o server:/sent.hdf5 --quiet", proxy.port, folder)
    # The file's name is an attribute of the results.
    check(run.returncode == 0 and (offered / "sent.hdf5").is_file(), f"a local snapshot is carried there {run.stderr}")
    check(proxy.bytes - before < size + 10000, f"once: {proxy.bytes - before} bytes")
    kernel = folder / "own.gdk"
    kernel.write_text((SNAPSHOT.parents[2] / "kernels/particle/gravity_potential.gdk").read_text(encoding="utf-8"))
    run = gdr("force server:/c.hdf5 --kernel own.gdk --eps 0.015625 -o server:/own.hdf5 --json", proxy.port, folder)
    check(run.returncode == 0, f"so is a kernel {run.stderr}")
    check(run.returncode == 0 and json.loads(run.stdout)["file"] == "server:/c.hdf5", "names are those of the user")
    check(not list(folder.glob("server:*")), "nothing is written here under a name of the server")


def check_refusals(server: Server, offered: Path, folder: Path) -> None:
    secret = folder / "secret.hdf5"
    secret.write_bytes(SNAPSHOT.read_bytes())
    (offered / "link.hdf5").symlink_to(secret)
    (offered / "inside.hdf5").symlink_to("c.hdf5")
    (offered / "way").symlink_to(folder)
    os.mkfifo(offered / "pipe")
    os.mkfifo(folder / "fifo")
    (offered / "dir").mkdir()
    force = "force {} --eps 0.1 -o {}"
    for line, word in (
        (force.format("server:/link.hdf5", "x.hdf5"), "symbolic link"),
        (force.format("server:/inside.hdf5", "x.hdf5"), "symbolic link"),
        (force.format("server:/way/secret.hdf5", "x.hdf5"), "symbolic link"),
        (force.format("server:/../secret.hdf5", "x.hdf5"), "must not contain '..'"),
        (force.format("server:/dir/../../secret.hdf5", "x.hdf5"), "must not contain '..'"),
        (force.format(f"server:/{secret}", "x.hdf5"), "No such file"),
        (force.format("server:/pipe", "x.hdf5"), "no regular file"),
        (force.format("server:/dir", "x.hdf5"), "no regular file"),
        (force.format("server:/c.hdf5", "server:/link.hdf5"), "symbolic link"),
        (force.format("server:/c.hdf5", "server:/way/x.hdf5"), "symbolic link"),
        (force.format("server:/c.hdf5", "server:/no/x.hdf5"), "No such file"),
        (force.format("server:/c.hdf5", "server:/pipe"), "no regular file"),
        (force.format("server:/c.hdf5", "fifo"), "no regular file"),
        (force.format("server:/c.hdf5", "/no/such/x.hdf5"), "/no/such/x.hdf5"),
        (force.format("none.hdf5", "server:/x.hdf5"), "none.hdf5"),
        (f"nbody server:/c.hdf5 {NBODY} --out server:/way/x", "symbolic link"),
        (f"nbody server:/c.hdf5 {NBODY} --out server:/x --trace server:/link.hdf5", "symbolic link"),
        ("copy server:/link.hdf5 x", "symbolic link"),
        ("copy server:/pipe x", "no regular file"),
        ("copy server:/dir x", "folder"),
        ("copy server:/c.hdf5 fifo", "no regular file"),
        ("copy server:/none x", "no such file"),
        ("copy secret.hdf5 server:/way/x", "symbolic link"),
        ("copy secret.hdf5 server:/link.hdf5", "symbolic link"),
        ("copy secret.hdf5 server:/dir/../x", "must not contain '..'"),
        ("copy secret.hdf5 x", "server:/NAME"),
        ("copy none server:/x", "No such file"),
    ):
        run = gdr(line, server.port, folder)
        check(run.returncode in (1, 2) and word in run.stderr, f"gdr {line}: {run.stderr.strip()}")
    check(digest(secret) == digest(SNAPSHOT), "files outside are as before")
    check((folder / "fifo").is_fifo(), "a pipe is not replaced by a file")
    check(not (folder / "x.hdf5").exists() and not (folder / "x").exists(), "and nothing was written")
    run = subprocess.run(
        [GDR, *shlex.split(force.format("server:/c.hdf5", "x.hdf5"))],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    check(run.returncode == 2 and "board:tcp" in run.stderr, f"without a device: {run.stderr.strip()}")


def check_confinement(server: Server, offered: Path, folder: Path) -> None:
    """A snapshot in HDF5 whose data lie in a file outside of the folder is not read."""
    try:
        import h5py
        import numpy as np
    except ImportError:
        print("not tested with data in other files: h5py is not installed")
        return
    numbers = folder / "numbers"
    numbers.write_bytes(np.arange(30.0).tobytes())
    places = {"outside": numbers, "within": offered / "numbers"}
    shared = Path("/dev/shm") / f"{folder.name}-numbers"  # of other programs, for example
    if os.access(shared.parent, os.W_OK):
        places["shared"] = shared
    for name, path in places.items():
        path.write_bytes(numbers.read_bytes())
        with h5py.File(offered / f"{name}.hdf5", "w") as file:
            group = file.create_group("PartType1")
            group.create_dataset("Coordinates", (10, 3), "f8", external=[(str(path), 0, 240)])
            group.create_dataset("Velocities", data=np.zeros((10, 3)))
            group.create_dataset("Masses", data=np.ones(10))
            group.create_dataset("ParticleIDs", data=np.arange(10))
            header = file.create_group("Header")
            header.attrs["Time"] = 0.0
            header.attrs["NumPart_ThisFile"] = header.attrs["NumPart_Total"] = np.array([0, 10, 0, 0, 0, 0])
            header.attrs["MassTable"] = np.zeros(6)
        line = f"force {{}}{name}.hdf5 --eps 0.1 -o {name}.hdf5 --quiet"
        run = gdr(line.format(f"{offered}/"), server.port, folder)
        check(run.returncode == 0, f"data {name}: the file is valid {run.stderr}")
        run = gdr(line.format("server:/"), server.port, folder)
        good = (run.returncode == 0) == (name == "within")
        check(good, f"data {name} the folder: status {run.returncode} {run.stderr.strip()}")
    shared.unlink(missing_ok=True)


def check_interrupts(server: Server, folder: Path) -> None:
    """Ctrl-C and SIGTERM end a run at the server after the current step, with the status of a run here; so does the
    end of its client."""
    device = f"board:tcp:127.0.0.1:{server.port},insecure=1"
    for name, sent in (("stopped", signal.SIGINT), ("terminated", signal.SIGTERM), ("killed", signal.SIGKILL)):
        line = f"nbody server:/c.hdf5 --eps 0.015625 --dt 0.001 --t-end 1000 --energy-every 1steps --out {name}"
        with subprocess.Popen(
            [GDR, *shlex.split(line), "--device", device], cwd=folder, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            while (text := process.stdout.readline()) and not re.match(r"\s+3 ", text):
                pass
            check(bool(text) and len(jobs_of(server)) == 1, "energies are printed while a run goes on")
            process.send_signal(sent)
            if sent == signal.SIGKILL:
                continue
            text = process.stdout.read()
        check(process.returncode == 128 + sent, f"a run that is {name} has status {process.returncode}")
        check("snapshots" in text and len(list((folder / name).iterdir())) == 1, "and a snapshot")
    end = time.monotonic() + 60
    while time.monotonic() < end and jobs_of(server):
        time.sleep(0.1)
    check(not jobs_of(server), "the job of a client that was killed ends")


def jobs_of(server: Server) -> list[str]:
    """Processes of jobs of the server."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[1:2] == [b"job"] and str(server.folder).encode() in b" ".join(words):
            found.append(path.parent.name)
    return found


def check_copies(server: Server, offered: Path, folder: Path) -> None:
    content = random.Random(5).randbytes(12_345_678)
    big = folder / "big"
    big.write_bytes(content)
    for size in (0, 1, 1 << 20, (1 << 20) + 1):
        part = folder / f"of{size}"
        part.write_bytes(content[:size])
        sent = gdr(f"copy {part} server:/dir/", server.port, folder)
        back = gdr(f"copy server:/dir/of{size} back", server.port, folder)
        good = sent.returncode == 0 and back.returncode == 0 and digest(folder / "back") == digest(part)
        check(good, f"{size} bytes are copied there and back {sent.stderr}{back.stderr}")
    (folder / "alias").symlink_to("behind")
    for state in ("missing", "old"):
        run = gdr("copy server:/c.hdf5 alias", server.port, folder)
        good = run.returncode == 0 and digest(folder / "behind") == digest(SNAPSHOT)
        check(good and (folder / "alias").is_symlink(), f"a link to a {state} file stays one {run.stderr}")
        (folder / "behind").write_text("old")
    proxy = Proxy(server.port)
    for k, line in enumerate(("copy big server:/cut --json", "copy server:/cut back --json")):
        proxy.cut_after = [proxy.bytes + 500_000 * (n + 1) for n in range(20)]
        proxy.cuts = 0
        run = gdr(line, proxy.port, folder, ",streams=4,resume=60")
        check(run.returncode == 0 and proxy.cuts == 20, f"gdr {line} with {proxy.cuts} cuts: {run.stderr}")
        check(digest(offered / "cut" if k == 0 else folder / "back") == digest(big), "without an error")
    # A copy that ended before is resumed by the next command.
    (offered / "again.gdr-part").write_bytes(content[: 5 << 20] + b"\0" * 1000)
    run = gdr("copy big server:/again --json", server.port, folder)
    resumed = json.loads(run.stdout)["resumed_bytes"] if run.returncode == 0 else -1
    check(resumed == 5 << 20, f"a copy goes on where another one ended: {resumed} bytes {run.stderr}")
    check(digest(offered / "again") == digest(big), "and is right")
    damaged = bytearray(content)
    damaged[3 << 20] ^= 1
    (folder / "fetched.gdr-part").write_bytes(damaged)
    run = gdr("copy server:/again fetched --json", server.port, folder)
    resumed = json.loads(run.stdout)["resumed_bytes"] if run.returncode == 0 else -1
    check(resumed == len(content) - (1 << 20), f"a damaged chunk is copied again: {len(content) - resumed} bytes")
    check(digest(folder / "fetched") == digest(big), "and is right")
    check(not list(folder.glob("*.gdr-part")) and not list(offered.rglob("*.gdr-part")), "no parts are left")


def check_limits(folder: Path) -> None:
    """A server that offers no files, one that only reads, and small files."""
    offered = folder / "small"
    offered.mkdir()
    (offered / "c.hdf5").write_bytes(SNAPSHOT.read_bytes())
    (folder / "large").write_bytes(b"x" * (3 << 20))
    lines = "-0.5 1 0 0 0 0 0\n" * 120000
    (offered / "large.txt").write_text(lines)
    for options, expected in (
        ("", [("copy server:/c.hdf5 x", "offers no files")]),
        (
            f"--files {offered}",
            [
                ("copy large server:/x", "read-only"),
                ("force server:/c.hdf5 --eps 0.1 -o server:/x.hdf5", "read-only"),
                ("force server:/c.hdf5 --eps 0.1 -o here.hdf5", ""),
            ],
        ),
        (
            f"--files {offered} --files-writable --files-limit 1",
            [
                ("copy large server:/x", "exceeds"),
                ("force large --eps 0.1 -o server:/x.hdf5", "exceeds"),
                ("copy server:/large.txt x", ""),
                ("force server:/large.txt --eps 0.1 -o x.hdf5", "exceeds"),
            ],
        ),
        # Less memory than two chunks.
        (
            f"--files {offered} --files-writable --memory 1",
            [("copy large server:/y", ""), ("copy server:/y y", "")],
        ),
    ):
        server = Server(folder, options)
        for line, word in expected:
            run = gdr(line, server.port, folder)
            good = run.returncode == 0 if not word else run.returncode == 1 and word in run.stderr
            check(good, f"gdr serve {options[:40]}: gdr {line}: {run.stderr.strip()}")
        server.end()
    for options, word in (
        ("--listen 127.0.0.1:0 --insecure --files /no/such", "no folder"),
        ("--files .", "--listen"),
        ("--files-writable", "--files FOLDER"),
    ):
        run = subprocess.run([GDR, "serve", "--socket", str(folder / "no"), *shlex.split(options)],
                             capture_output=True, text=True, check=False, timeout=20)  # fmt: skip
        check(run.returncode == 2 and word in run.stderr, f"gdr serve {options}: {run.stderr.strip()}")


def check_relay(folder: Path) -> None:
    """Parallel streams over a long path, with and without cuts, at a reduced rate and size."""
    if subprocess.run([GDR, "relay", "--check"], capture_output=True, check=False).returncode == SKIPPED:
        print("not tested through gdr relay: namespaces are not available")
        return
    offered = folder / "far"
    offered.mkdir()
    source, key = folder / "source", folder / "key"
    key.write_text("test:" + "5a" * 32 + "\n")
    key.chmod(0o600)
    source.write_bytes(random.Random(6).randbytes(16_000_000))
    for cuts in (0, 20):
        counts = folder / "counts.json"
        options = f"--rate 80M --rtt 50ms --queue 4M --buffers 4M --time-limit 80s --quiet --json {counts}"
        if cuts:
            options += f" --cut-bytes 400k --cuts {cuts} --seed 3"
        server = f"{GDR} serve --quiet --socket {folder}/far.socket --listen 10.77.0.2:7326 --psk {key}"
        device = f"board:tcp:10.77.0.2:7326,psk={key},bandwidth=80e6,streams=8,resume=60"
        run = subprocess.run(
            [GDR, "relay", *shlex.split(options), "--port", "7326",
             "--server", f"{server} --files {offered} --files-writable",
             "--client", f"{GDR} copy {source} server:/ --json --device {device}"],
            capture_output=True, text=True, check=False, timeout=100, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        check(run.returncode == 0, f"a copy through the relay with {cuts} cuts: {run.stderr}")
        if run.returncode:
            return
        result = json.loads(run.stdout)
        share = result["bits_per_second"] / 80e6  # a matter of the host's speed, too
        seen = json.loads(counts.read_text(encoding="utf-8"))["cuts"]
        check(seen == cuts, f"{seen} connections were cut; {share:.2f} of the rate")
        check(result["bytes"] == source.stat().st_size, f"{result['bytes']} bytes were copied")
        check(digest(offered / "source") == digest(source), "the copy is right")
        (offered / "source").unlink()


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="gdr-test-") as name:
        folder = Path(name)
        offered = folder / "offered"
        offered.mkdir()
        for copy in ("c.hdf5", SNAPSHOT.name):  # results have the name of the file
            (offered / copy).write_bytes(SNAPSHOT.read_bytes())
        server = Server(folder, f"--files {offered} --files-writable")
        try:
            for part in (check_jobs, check_refusals, check_confinement, check_copies):
                start = time.monotonic()
                part(server, offered, folder)
                print(f"{part.__name__}: {time.monotonic() - start:.1f} s")
        finally:
            server.end()
        server = Server(folder, f"--files {offered} --resume 1")
        try:
            check_interrupts(server, folder)
        finally:
            server.end()
        check_limits(folder)
        check_relay(folder)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
