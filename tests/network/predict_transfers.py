#!/usr/bin/env python3
"""Compares `gdr predict network` with transfers through `gdr relay` of the same configuration.

usage: predict_transfers.py GDR

Six settings at reduced rates, side by side: throughputs agree within a tenth. The rates are so low that a relay that
other processes delay by milliseconds forwards as many bytes. A setting that does not agree is repeated, since a pause
of the whole host changes one transfer; no setting is excused. Status 77 where network namespaces or TUN devices are not
available.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

SKIPPED = 77
FOLDER = Path(__file__).resolve().parent
GDR = str(Path(sys.argv[1]).resolve())
BULK = f"{shlex.quote(sys.executable)} {shlex.quote(str(FOLDER / 'bulk.py'))}"
MTU = 1500
FRAME, HEADERS, STAMPED_HEADERS = 38, 40, 52  # bytes: Ethernet; IPv4 and TCP, with timestamps
AGREEMENT = 0.1
ATTEMPTS = 4
AT_ONCE = 6


@dataclass(frozen=True)
class Setting:
    """A path of `rate` bit/s and `rtt` s with a queue of bytes, and its streams."""

    name: str
    rate: float
    rtt: float
    queue: float
    period: int = 0  # each packet with a multiple of this number is lost
    streams: int = 1
    congestion: str = "reno"
    pace: float = 0  # bit/s
    merge: str = "fifo"
    seconds: float = 12
    skip: float = 4


SETTINGS = (
    Setting("a stream that fills the line", 20e6, 0.06, 300e3),
    Setting("a queue of one window", 8e6, 0.1, 100e3, seconds=16, skip=6),
    Setting("pacing", 20e6, 0.06, 300e3, congestion="paced", pace=8e6),
    Setting("each 500th packet is lost", 12e6, 0.15, 400e3, 500, seconds=24, skip=7),
    Setting("four streams in one queue", 12e6, 0.08, 200e3, streams=4),
    Setting("two streams merged in turn", 16e6, 0.04, 400e3, streams=2, merge="round-robin"),
)  # fmt: skip


def predicted(s: Setting) -> float:
    """Bits of IP packets a second."""
    line = s.rate / 8 * (MTU + FRAME) / MTU
    packets = s.queue / MTU * (s.streams if s.merge == "round-robin" else 1)
    command = f"""{GDR} predict network --json --rate {line} --rtt {s.rtt} --mtu {MTU} --streams {s.streams}
        --queue {packets} --congestion {s.congestion} --seconds {10 * s.seconds} --warm-up {s.skip}"""
    if s.period:
        command += f" --loss {1 / s.period} --periodic-loss"
    if s.pace:
        command += f" --pace {s.pace / 8 * (MTU - HEADERS) / MTU}"
    if s.merge == "round-robin":
        command += " --round-robin"
    run = subprocess.run(shlex.split(command), capture_output=True, text=True, check=True)
    rate: float = json.loads(run.stdout)["bytes_per_second"]
    return 8 * rate * MTU / (MTU - HEADERS)


def measured(s: Setting) -> tuple[float, float]:
    """The same of a transfer, and the longest delay of the relay by other processes, in seconds."""
    client = f"{BULK} send $RELAY_SERVER 5000 --seconds {s.seconds} --skip {s.skip} --streams {s.streams}"
    client += f" --pacing {s.pace}" if s.pace else ""
    client += f" --congestion {'reno' if s.pace else s.congestion}"
    options = f"""--rate {s.rate:.0f} --rtt {s.rtt * 1e3:g}ms --mtu {MTU} --queue {s.queue:.0f} --buffers 8M
        --loss-period {s.period},0 --merge {s.merge} --quiet --server-wait 90s --time-limit 90s"""
    with tempfile.TemporaryDirectory() as folder:
        counts = Path(folder) / "counts.json"
        command = [GDR, "relay", *shlex.split(options), "--json", str(counts)]
        command += ["--server", f"{BULK} receive 5000", "--client", client]
        run = subprocess.run(
            command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )
        if run.returncode:
            sys.exit(f"{s.name}: status {run.returncode}\n{run.stderr}")
        relay = json.loads(counts.read_text(encoding="utf-8"))["relay"]
    rate: float = json.loads(run.stdout)["bits_per_second"]
    return rate * MTU / (MTU - STAMPED_HEADERS), relay["latest_seconds"]


def main() -> int:
    available = subprocess.run([GDR, "relay", "--check"], capture_output=True, text=True, check=False)
    if available.returncode == SKIPPED:
        print(f"skipped: {available.stderr.strip()}")
        return SKIPPED
    left = list(SETTINGS)
    for _ in range(ATTEMPTS):
        with ThreadPoolExecutor(AT_ONCE) as pool:
            transfers = list(pool.map(measured, left))
        different = []
        for setting, (transfer, late) in zip(left, transfers, strict=True):
            prediction = predicted(setting)
            deviation = transfer / prediction - 1
            good = abs(deviation) < AGREEMENT
            print(
                f"{'ok' if good else 'different'}: {setting.name}: measured {transfer * 1e-6:.2f} Mbit/s, "
                f"predicted {prediction * 1e-6:.2f}, {100 * deviation:+.1f} %; packets up to {late * 1e3:.1f} ms late",
                flush=True,
            )
            if not good:
                different.append(setting)
        left = different
        if not left:
            return 0
    print(f"FAILED in {ATTEMPTS} attempts: {', '.join(setting.name for setting in left)}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
