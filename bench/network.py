#!/usr/bin/env python3
"""TCP transfers over 1 Gbit/s and 200 ms, through gdr relay, as a table.

usage: network.py GDR [--only WORD] [--short]

The payload of tests/network/bulk.py in Mbit/s: from the first byte to the end of the sending time,
and in its second half, for which the least and the greatest rate of a stream are given, too.
Headers use 0.6 % of the rate with packets of 9000 bytes. Losses are random, of the given seed. Of
"default sockets" the buffers have Linux's usual limits (6 MiB to receive, 4 MiB to send), "64 KiB
windows" are those of TCP without window scaling; "tuned" buffers may grow to 128 MB. Pacing is
SO_MAX_PACING_RATE. "late ms" and "not read" are deviations of the relay from its model, "CPU" is
its CPU time by the sending time.
--short takes a tenth of the time, for a test.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

BULK = Path(__file__).resolve().parent.parent / "tests/network/bulk.py"
NETWORK = "--rate 1G --rtt 200ms"
TUNED = "--buffers 128M"
USUAL = (
    "--sysctl 'net.ipv4.tcp_rmem=4096 131072 6291456' "
    "--sysctl 'net.ipv4.tcp_wmem=4096 16384 4194304'"
)
SMALL = "--sysctl net.ipv4.tcp_window_scaling=0"


@dataclass(frozen=True)
class Case:
    """A row of the table."""

    name: str
    relay: str  # options
    sender: str  # options
    seconds: int = 30


def cases() -> list[Case]:
    rows = [
        Case("64 KiB windows, cubic", SMALL, "--congestion cubic", 10),
        Case("default sockets, cubic", USUAL, "--congestion cubic"),
        Case("default sockets, MTU 1500, cubic", f"{USUAL} --mtu 1500", "--congestion cubic"),
    ]
    for control in ("reno", "cubic", "bbr"):
        rows.append(Case(f"tuned, {control}", TUNED, f"--congestion {control}"))
    for control in ("reno", "cubic", "bbr"):
        paced = f"--congestion {control} --pacing 990e6"
        rows.append(Case(f"tuned, {control}, paced to 990 Mbit/s", TUNED, paced))
    rows.append(
        Case(
            "four streams merged round-robin, reno",
            f"{TUNED} --merge round-robin --queue 128M",
            "--congestion reno --streams 4",
        )
    )
    for mtu in (1500, 9000):
        for control in ("reno", "cubic", "bbr"):
            for streams, seeds in ((1, (1, 2, 3)), (8, (1,))):
                for seed in seeds:
                    rows.append(
                        Case(
                            f"loss 1e-5, MTU {mtu}, {control}, streams: {streams}, seed {seed}",
                            f"{TUNED} --mtu {mtu} --loss 1e-5,0 --seed {seed}",
                            f"--congestion {control} --streams {streams}",
                            90,
                        )
                    )
    return rows


def measure(gdr: str, case: Case, short: bool) -> str:
    """The row of a case."""
    seconds = max(2, case.seconds // 10) if short else case.seconds
    python = shlex.quote(sys.executable)
    bulk = f"{python} {shlex.quote(str(BULK))}"
    sender = f"{bulk} send $RELAY_SERVER 5000 --seconds {seconds} --skip {seconds / 2}"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "counts.json"
        command = [
            gdr, "relay", *shlex.split(f"{NETWORK} {case.relay} --quiet --json {file}"),
            "--server", f"{bulk} receive 5000", "--client", f"{sender} {case.sender}",
        ]  # fmt: skip
        run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if run.returncode != 0:
            sys.exit(run.returncode)
        sent, counts = json.loads(run.stdout), json.loads(file.read_text(encoding="utf-8"))
    whole = round(seconds / sent["interval"])
    total = sum(sum(stream[:whole]) for stream in sent["counts"]) * 8 / seconds
    link, itself = counts["to_server"], counts["relay"]
    columns = [
        case.name,
        f"{total * 1e-6:.1f}",
        f"{sent['bits_per_second'] * 1e-6:.1f}",
        f"{min(sent['streams']) * 1e-6:.1f}-{max(sent['streams']) * 1e-6:.1f}",
        f"{link['queue_max_bytes'] * 1e-6:.1f}",
        str(link["lost"]["packets"]),
        str(link["overflowed"]["packets"]),
        f"{itself['latest_seconds'] * 1e3:.1f}",
        str(itself["packets_not_read"]),
        f"{itself['cpu_seconds'] / seconds:.2f}",
    ]
    return "| " + " | ".join(columns) + " |"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("gdr")
    parser.add_argument("--only", default="", help="only cases whose name contains this")
    parser.add_argument("--short", action="store_true")
    options = parser.parse_args()
    print(f"{os.cpu_count()} CPUs, Linux {os.uname().release}, {NETWORK}")
    titles = "transfer|Mbit/s|second half|each stream|queue MB|lost|overflowed|late ms|not read|CPU"
    print("| " + " | ".join(titles.split("|")) + " |")
    print("|---" * (titles.count("|") + 1) + "|", flush=True)
    for case in cases():
        if options.only in case.name:
            print(measure(options.gdr, case, options.short), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
