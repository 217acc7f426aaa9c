#!/usr/bin/env python3
"""A board of another host, through gdr relay, as a table.

usage: remote_board.py BUILD_DIRECTORY [--only WORD] [--rate R] [--rtt T] [--loss P] [--seed N]

"transfer" is the rate at which the board's memory is filled (bench_remote_transfer), relative to
the rate of the network; headers of packets and of TLS take 0.8 % of it. "gravity" is the time of gravity
on 65536 targets and as many resident sources (native engine), relative to that on the same server's Unix
socket: calls in alternation with processes of the same host are not possible, so both are the least of
several calls. Needs the package gdr in PYTHONPATH.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PORT = 7326
TARGETS = 65536


@dataclass(frozen=True)
class Case:
    """A row: what is measured, with which options of the relay and of the device."""

    name: str
    measure: str  # "transfer" or "gravity"
    relay: str
    device: str


TUNED = "--buffers 128M"


def cases(loss: str) -> list[Case]:
    return [
        Case("transfer, default sockets", "transfer", "", ""),
        Case("transfer, one stream", "transfer", TUNED, "bandwidth=1e9,streams=1"),
        Case(
            "transfer, one stream, paced", "transfer", TUNED, "bandwidth=1e9,streams=1,pacing=9.85e8"
        ),
        Case("transfer, pacing by estimate", "transfer", TUNED, "bandwidth=1e9,streams=1,pacing=auto"),
        Case("transfer, default sockets, streams by bandwidth", "transfer", "", "bandwidth=1e9"),
        Case(
            f"transfer, loss {loss}, reno, one stream",
            "transfer",
            f"{TUNED} --mtu 1500 --loss {loss},0",
            "bandwidth=1e9,congestion=reno,streams=1",
        ),
        Case(
            f"transfer, loss {loss}, reno, 8 streams",
            "transfer",
            f"{TUNED} --mtu 1500 --loss {loss},0",
            "bandwidth=1e9,congestion=reno,streams=8",
        ),
        Case("gravity", "gravity", TUNED, "bandwidth=1e9"),
        Case("gravity, default sockets", "gravity", "", ""),
    ]


def columns(points: Any, end: str) -> dict[str, Any]:
    """The coordinates of points as variables of the kernel gravity."""
    return {axis + end: points[:, k] for k, axis in enumerate("xyz")}


def gravity(device: Any, calls: int) -> dict[str, float]:
    """The least time of a call with resident sources."""
    import gdr
    import numpy as np

    points = np.random.default_rng(2).standard_normal((TARGETS, 3))
    job = device.job(gdr.builtin("gravity"))
    job.set(eps2=0.01)
    job.sources(**columns(points, "j"), mj=1.0 / TARGETS)
    times = []
    for _ in range(calls + 1):
        job.targets(**columns(points, "i"))
        begin = time.perf_counter()
        job.run()
        times.append(time.perf_counter() - begin)
    return {"seconds": min(times[1:])}


def client(device_name: str, calls: int, output: str) -> None:
    """The process behind the relay."""
    import gdr

    with gdr.open(device_name) as device:
        result = gravity(device, calls)
    Path(output).write_text(json.dumps(result))


def measure(case: Case, network: str, build: Path, amount: float) -> dict[str, Any]:
    """Run server and client with the network between them; the client's results and the counts."""
    with tempfile.TemporaryDirectory() as folder:
        key = Path(folder, "key")
        key.write_text("bench:" + os.urandom(32).hex() + "\n")
        key.chmod(0o600)
        output, counts = Path(folder, "client.json"), Path(folder, "relay.json")
        name = f"board:tcp:10.77.0.2:{PORT},psk={key},queue_timeout=60"
        if case.device:
            name += "," + case.device
        server = [str(build / "libgdr/gdr"), "serve", "--socket", f"{folder}/board", "--engine", "native"]
        server += ["--listen", f"10.77.0.2:{PORT}", "--psk", str(key), "--log", f"{folder}/log"]
        if case.measure == "transfer":
            own = [str(build / "bench/bench_remote_transfer"), name, str(amount)]
        else:
            own = [sys.executable, __file__, "--client", name, str(int(amount)), str(output)]
        command = [str(build / "libgdr/gdr"), "relay", *shlex.split(network)]
        command += [*shlex.split(case.relay), "--json", str(counts)]
        command += ["--port", str(PORT), "--server", shlex.join(server), "--client", shlex.join(own)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{case.name}: {done.stderr}")
        # The server prints to the same output.
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        text = lines[-1] if case.measure == "transfer" else output.read_text()
        return {**json.loads(text), "relay": json.loads(counts.read_text())}


def on_this_host(gdr_program: str, calls: int) -> float:
    """The time of gravity on the Unix socket of a server."""
    with tempfile.TemporaryDirectory() as folder:
        output, socket = Path(folder, "client.json"), f"{folder}/board"
        command = [gdr_program, "serve", "--socket", socket, "--engine", "native"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
            assert server.stdout is not None
            server.stdout.readline()
            client(f"board:unix:{socket}", calls, str(output))
            server.terminate()
        return float(json.loads(output.read_text())["seconds"])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("build", type=Path, help="build directory")
    parser.add_argument("--only", default="", help="rows whose name has this word")
    parser.add_argument("--rate", default="1G", help="rate of the network (default 1G)")
    parser.add_argument("--rtt", default="200ms", help="round trip time (default 200ms)")
    parser.add_argument("--loss", default="1e-5", help="probability of losses (default 1e-5)")
    parser.add_argument("--seed", default="1", help="seed of the losses (default 1)")
    parser.add_argument("--seconds", type=float, default=30, help="time of a transfer (default 30)")
    parser.add_argument("--calls", type=int, default=4, help="calls of gravity (default 4)")
    options = parser.parse_args()
    network = f"--rate {options.rate} --rtt {options.rtt} --queue 32M --seed {options.seed}"
    rate = float(options.rate.replace("G", "e9").replace("M", "e6"))
    print(f"network: {network}\n")
    print(f"{'':52} {'second half':>12} {'whole':>12}")
    here: list[float] = []
    for case in cases(options.loss):
        if options.only not in case.name:
            continue
        if case.measure == "transfer":
            r = measure(case, network, options.build, options.seconds)
            print(
                f"{case.name:52} {r['bits_per_second'] / rate:12.3f} {r['whole'] / rate:12.3f}"
                "  of the rate",
                flush=True,
            )
        else:
            here = here or [on_this_host(str(options.build / "libgdr/gdr"), options.calls)]
            r = measure(case, network, options.build, options.calls)
            print(
                f"{case.name:52} {here[0] / r['seconds']:12.3f} {'':12}"
                f"  of the Unix socket ({r['seconds']:.3f} s, {here[0]:.3f} s)",
                flush=True,
            )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--client"]:
        client(sys.argv[2], int(sys.argv[3]), sys.argv[4])
    else:
        main()
