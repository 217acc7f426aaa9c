#!/usr/bin/env python3
"""Copies of a file to a server and back through gdr relay, without cuts and with some, as a table.

usage: file_copies.py GDR [--bytes N] [--rate R] [--rtt T] [--streams N] [--pacing R] [--cuts N] [--seed N]

"of the rate" is the file's bits by the time of the copy, from the first request to the answer that the file
is complete on the disk, relative to the rate of the network; the session is open by then, TCP's slow start is included.
Headers of packets and of TLS take 0.8 % of the
rate. Each copy is compared with the file. Cuts are spread over the copy: each connection is cut after a
random number of bytes.
"""

from __future__ import annotations

import argparse
import json
import random
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path


def same(a: Path, b: Path) -> bool:
    with a.open("rb") as first, b.open("rb") as second:
        while True:
            x, y = first.read(1 << 24), second.read(1 << 24)
            if x != y:
                return False
            if not x:
                return True


def number(text: str) -> float:
    return float(text[:-1]) * {"k": 1e3, "M": 1e6, "G": 1e9}[text[-1]] if text[-1].isalpha() else float(text)


def copy(args: argparse.Namespace, folder: Path, cuts: int, back: bool) -> str:
    """A row of the table."""
    offered, key, counts = folder / "offered", folder / "key", folder / "counts.json"
    offered.mkdir(exist_ok=True)
    there, here = folder / "source", folder / "back"
    device = f"board:tcp:10.77.0.2:7326,psk={key},bandwidth={number(args.rate):g},streams={args.streams},resume=60"
    if args.pacing:
        device += f",pacing={number(args.pacing):g}"
    names = f"server:/source {here}" if back else f"{there} server:/"
    relay = f"--rate {args.rate} --rtt {args.rtt} --queue 32M --buffers 64M --seed {args.seed} --port 7326 --quiet"
    if cuts:
        # More often than needed, because a stream carries a part of the file only; they end after their number.
        mean = int(args.bytes / (3 * cuts))
        relay += f" --cut-bytes {mean} --cuts {cuts}"
    client = f"{args.gdr} copy {names} --json --device {device}"
    run = subprocess.run(
        [args.gdr, "relay", *shlex.split(relay), "--json", str(counts), "--server",
         f"{args.gdr} serve --quiet --socket {folder}/socket --listen 10.77.0.2:7326 --psk {key} "
         f"--files {offered} --files-writable", "--client", client],
        capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if run.returncode:
        sys.exit(run.stderr)
    result, seen = json.loads(run.stdout), json.loads(counts.read_text(encoding="utf-8"))
    right = same(there, here if back else offered / "source")
    late = seen["relay"]["latest_seconds"]
    return (
        f"| {'from' if back else 'to'} the server, {seen['cuts']} cuts | {result['seconds']:.2f} | "
        f"{result['bits_per_second'] / number(args.rate):.3f} | "
        f"{'equal' if right else 'DIFFERENT'} | {late * 1e3:.1f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("gdr")
    parser.add_argument("--bytes", type=int, default=1_000_000_000)
    parser.add_argument("--rate", default="1G")
    parser.add_argument("--rtt", default="200ms")
    parser.add_argument("--streams", type=int, default=16)
    parser.add_argument("--pacing", default="", help="rate of all streams together")
    parser.add_argument("--cuts", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=["to", "from"], help="one direction")
    args = parser.parse_args()
    args.gdr = str(Path(args.gdr).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "key").write_text("bench:" + "5a" * 32 + "\n")
        (folder / "key").chmod(0o600)
        block = random.Random(1).randbytes(1 << 20)
        with (folder / "source").open("wb") as file:
            for k in range(0, args.bytes, 1 << 20):
                file.write(k.to_bytes(8, "little") + block[8 : min(1 << 20, args.bytes - k)])
        if args.only == "from":  # otherwise the copies to the server have put it there
            (folder / "offered").mkdir()
            (folder / "offered" / "source").hardlink_to(folder / "source")
        print(f"{args.bytes} bytes, {args.streams} streams, {args.rate}bit/s, RTT {args.rtt}")
        print("| copy | seconds | of the rate | bytes | relay late, ms |\n|---|---|---|---|---|")
        for back in (False, True):
            if args.only and back != (args.only == "from"):
                continue
            for cuts in (0, args.cuts):
                print(copy(args, folder, cuts, back), flush=True)


if __name__ == "__main__":
    main()
