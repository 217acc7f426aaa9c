#!/usr/bin/env python3
"""Checks the relay with real transfers: rate, delay, loss, merged streams, cuts, the end of a run.

usage: relay_transfers.py GDR

Status 77 where network namespaces or TUN devices are not available. The commands of README.md in
this folder are run, too.
"""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pcapng

SKIPPED = 77
FOLDER = Path(__file__).resolve().parent
GDR = str(Path(sys.argv[1]).resolve())
RELAY = [GDR, "relay"]
BULK = f"{shlex.quote(sys.executable)} {shlex.quote(str(FOLDER / 'bulk.py'))}"
ENDS = f"{shlex.quote(sys.executable)} {shlex.quote(str(FOLDER / 'ends.py'))}"

problems: list[str] = []
ATTEMPTS = 3  # of checks of times, which other processes may delay


def check(condition: bool, text: str) -> None:
    print(f"{'ok' if condition else 'FAILED'}: {text}", flush=True)
    if not condition:
        problems.append(text)


def run_relay(
    options: str, server: str, client: str, **more: Any
) -> subprocess.CompletedProcess[str]:
    """A run that may fail."""
    command = [*RELAY, *shlex.split(options), "--server", server, "--client", client]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=100, stdin=subprocess.DEVNULL,
        **more,
    )  # fmt: skip


def relay(options: str, server: str, client: str) -> tuple[Any, Any]:
    """What the client of a run printed, and what the relay counted."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "counts.json"
        run = run_relay(f"{options} --time-limit 60s --quiet --json {file}", server, client)
        if run.returncode != 0:
            output = run.stdout[-2000:] + run.stderr[-2000:]
            sys.exit(f"{options}: status {run.returncode}\n{output}")
        return json.loads(run.stdout), json.loads(file.read_text(encoding="utf-8"))


def check_rate_and_delay() -> None:
    rtt = f"{BULK} rtt $RELAY_SERVER 5000"
    seconds, _ = relay("--rate 100M --rtt 60ms", f"{BULK} receive 5000", rtt)
    check(0.06 <= seconds < 0.1, f"a connection over 60 ms takes {seconds * 1e3:.2f} ms")
    for rate, mtu in ((100e6, 9000), (20e6, 1500)):
        sent, counts = relay(
            f"--rate {rate} --rtt 60ms --buffers 4M --queue 20M --mtu {mtu}",
            f"{BULK} receive 5000",
            f"{BULK} send $RELAY_SERVER 5000 --seconds 2.5 --skip 1 --congestion reno",
        )
        fraction = sent["bits_per_second"] / (rate * (mtu - 52) / mtu)  # headers with timestamps
        check(fraction > 0.9, f"a stream has {fraction:.3f} of {rate / 1e6} Mbit/s")
        (stream,) = sent["counts"]
        mean = 8 * sum(stream) / (len(stream) * sent["interval"]) / rate
        check(mean < 1.01, f"from its first byte to the last it has {mean:.3f}")
        waiting = counts["to_server"]["queue_max_bytes"]
        check(1e5 < waiting < 4e6, f"at most {waiting} bytes wait, limited by the buffers")
        check(counts["relay"]["packets_not_read"] == 0, "the relay read all packets in time")


def check_loss() -> None:
    loss = 0.04
    missing = []
    for seed in (1, 1, 2):
        numbers, counts = relay(
            f"--rtt 2ms --loss {loss},0 --seed {seed}",
            f"{ENDS} datagrams-server 5000",
            f"{ENDS} datagrams-client $RELAY_SERVER 5000",
        )
        missing.append(numbers)
        datagrams = next(flow for flow in counts["flows"] if flow["protocol"] == 17)["to_server"]
        check(datagrams["lost"]["packets"] == len(numbers), f"{len(numbers)} datagrams are lost, as counted")
        sent = datagrams["offered"]["packets"]
        deviation = math.sqrt(sent * loss * (1 - loss))
        check(abs(len(numbers) - sent * loss) < 5 * deviation, f"that is near {loss} of {sent}")
    check(missing[0] == missing[1], "the same seed loses the same datagrams")
    check(missing[0] != missing[2], "another seed loses others")


def check_merge() -> None:
    sent, _ = relay(
        "--rate 200M --rtt 30ms --merge round-robin --queue 16M --buffers 16M",
        f"{BULK} receive 5000",
        f"{BULK} send $RELAY_SERVER 5000 --seconds 3.5 --skip 1.5 --streams 4 --congestion reno",
    )
    total = sent["bits_per_second"]
    shares = [stream / total for stream in sent["streams"]]
    text = ", ".join(f"{share:.3f}" for share in shares)
    check(all(abs(share - 0.25) < 0.025 for share in shares), f"four merged streams: {text}")
    check(total > 0.9 * 200e6, f"their sum is {total / 1e6:.1f} of 200 Mbit/s")


def check_cuts() -> None:
    for cuts in ("--cut-time 30ms", "--cut-bytes 300k", "--cut-time 30ms --cut-reset 50ms"):
        result, counts = relay(
            f"--rate 100M --rtt 5ms {cuts} --cuts 20",
            f"{ENDS} requests-server 5000",
            f"{ENDS} requests-client $RELAY_SERVER 5000 20",
        )
        check(counts["cuts"] == 20, f"{cuts}: the client has 20 resets, of 20 cuts")
        # A connection that is cut before its handshake ends does not exist for the server: for it,
        # the client's second packet has to arrive, or data if the first one was repeated.
        arrived = [flow["to_server"]["delivered"] for flow in counts["flows"] if flow["cut"]]
        connected = sum(flow["packets"] > 1 for flow in arrived)
        with_data = sum(flow["bytes"] > 1000 for flow in arrived)
        seen = result["resets_of_server"]
        check(
            with_data <= seen <= connected,
            f"the server has {seen}, of {connected} connections, {with_data} of which brought data",
        )
        check(result["wrong"] == 0, f"all of {result['answered']} answers are right")


def check_errors() -> None:
    """Errors of files and ports have status 125, and the counts are written all the same."""
    with tempfile.TemporaryDirectory() as folder:
        counts = Path(folder) / "counts.json"
        run = run_relay(
            f"--quiet --json {counts} --capture /dev/full",
            f"{ENDS} requests-server 5000",
            f"{ENDS} requests-client $RELAY_SERVER 5000 0",
        )
        failed = run.returncode == 125 and "/dev/full" in run.stderr
        check(failed, f"a log that cannot be written: {run.returncode}, {run.stderr.strip()}")
        check("flows" in json.loads(counts.read_text(encoding="utf-8")), "the counts are written")
        run = run_relay(f"--config {folder}", "true", "true")
        check(run.returncode == 125 and "cannot read" in run.stderr, "a folder is no configuration")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        used = f"127.0.0.1:{listener.getsockname()[1]}"
        for forward, status, word in (
            (f"{used}=127.0.0.1:1", 125, "in use"),
            ("127.0.0.1:70000=127.0.0.1:1", 2, "65535"),
            ("127.0.0.1:1=127.0.0.1:0", 2, "65535"),
        ):
            run = subprocess.run(
                [*RELAY, "--forward", forward, "--time-limit", "1s"],
                capture_output=True, text=True, check=False, timeout=100,
            )  # fmt: skip
            seen = run.returncode == status and word in run.stderr
            check(seen, f"--forward {forward}: {run.returncode}, {run.stderr.strip()}")


def sleeping(seconds: str) -> list[str]:
    """Processes `sleep SECONDS`."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if line.strip() == f"sleep {seconds}":
            found.append(path.parent.name)
    return found


def check_end() -> None:
    receive = f"{BULK} receive 5000"
    mark = str(100000 + os.getpid())  # a time that no other process sleeps
    run = run_relay(
        "--rtt 2ms",
        f"setsid sleep {mark} & {receive}",
        f"(trap '' TERM; sleep {mark}) & echo text; exit 3",
    )
    check(run.returncode == 3 and run.stdout == "text\n", "the client's status and output are kept")
    check("relay: to server:" in run.stderr, "the counts are printed")
    check(not sleeping(mark), "no process of the commands is left")
    start = time.monotonic()
    run = run_relay("--time-limit 200ms", receive, f"sleep {mark}")
    check(run.returncode == 124 and time.monotonic() - start < 20, "the time limit ends a run")
    run = run_relay("", "exit 5", "true")
    failed = run.returncode == 125 and "status 5" in run.stderr
    check(failed, "a server that does not start is named")
    run = run_relay("--server-wait 100ms", f"sleep {mark}", "true")
    late = run.returncode == 125 and "--server-wait" in run.stderr
    check(late, "a server that does not listen is named")
    wrong = (
        "--loss 2;--rate fast;--rtt 5;--rate 1;--cut-reset soon;--merge sum;--rate 1G,2G,3G;--rate '';"
        "--step 1s;--loss-period 0.5"
    )
    for options in wrong.split(";"):
        check(run_relay(options, receive, "true").returncode == 2, f"{options} is refused")
    for setting in ("net.ipv4.no_such_setting=1", "kernel.hostname=x", "net.ipv4.tcp_rmem"):
        run = run_relay(f"--sysctl {setting}", receive, "true")
        check(run.returncode == 2 and setting.split("=")[0] in run.stderr, f"{setting} is refused")
    with subprocess.Popen(
        [*RELAY, "--server", receive, "--client", f"sleep {mark}"], stderr=subprocess.PIPE
    ) as process:
        while not sleeping(mark) and process.poll() is None:
            time.sleep(0.05)
        process.terminate()
        check(process.wait(20) == 128 + 15, "a signal ends a run")
    check(not sleeping(mark), "no process is left after a signal")


def check_capture() -> None:
    """The log of packets, read by a reader of its own and by tshark."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "packets.pcapng"
        _, counts = relay(
            f"--rtt 20ms --loss 0.02,0 --mtu 1500 --capture {file}",
            f"{ENDS} requests-server 5000",
            f"{ENDS} requests-client $RELAY_SERVER 5000 0",
        )
        interfaces, packets = pcapng.read(file)
        names = [i.options[2] for i in interfaces]
        check(names == [b"to server", b"to client"], "an interface for each direction")
        check(all(i.link_type == 101 and i.options[9] == b"\x09" for i in interfaces), "of IP packets")
        for k, name in enumerate(("to_server", "to_client")):
            written = [p for p in packets if p.interface == k]
            delivered = counts[name]["delivered"]
            check(
                len(written) == delivered["packets"]
                and sum(len(p.data) for p in written) == delivered["bytes"],
                f"the file has the {len(written)} packets that were delivered {name}",
            )
            check(all(p.data[0] >> 4 == 4 for p in written), "they are IPv4")
        times = [p.time for p in packets]
        check(times == sorted(times), "in the order of their times")
        check(abs(times[0] * 1e-9 - time.time()) < 100, "which are those of the clock")
        if shutil.which("tshark"):
            fields = ["frame.len", "frame.interface_name", "frame.time_epoch", "ip.src", "ip.checksum.status"]
            tshark = ["tshark", "-r", file, "-d", "tcp.port==5000,data"]  # not GSM over IP, as this port says
            run = subprocess.run(
                [*tshark, "-o", "ip.check_checksum:TRUE", "-T", "fields",
                 *(word for name in (*fields, "_ws.malformed") for word in ("-e", name))],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            rows = [line.split("\t") for line in run.stdout.splitlines()]
            check([int(r[0]) for r in rows] == [p.length for p in packets], "tshark reads the same lengths")
            sides = [("to server", "10.77.0.1"), ("to client", "10.77.0.2")]
            check([(r[1], r[3]) for r in rows] == [sides[p.interface] for p in packets], "the same interfaces")
            nanoseconds = [int(r[2].replace(".", "")) for r in rows]
            check(nanoseconds == times, "the same times, in nanoseconds")
            check(all(r[4] == "1" and not r[5] for r in rows), "right checksums, and no malformed packet")
            errors = subprocess.run(
                [*tshark, "-q", "-z", "expert,error"], capture_output=True, text=True, check=True
            )
            check("Errors (" not in errors.stdout, f"and no error: {errors.stdout.strip()}")
        else:
            print("not tested with tshark, which is not installed")
        relay(
            f"--mtu 1500 --capture {file} --capture-bytes 40",
            f"{ENDS} requests-server 5000",
            f"{ENDS} requests-client $RELAY_SERVER 5000 0",
        )
        packets = pcapng.read(file)[1]
        check(max(len(p.data) for p in packets) == 40, "--capture-bytes limits what is written")
        check(max(p.length for p in packets) == 1500, "but not the length")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def check_ports() -> None:
    """Connections of this host through two ports, which merge on a line."""
    with tempfile.TemporaryDirectory() as folder:
        target, *listen = (free_port() for _ in range(3))
        counts, config = Path(folder) / "counts.json", Path(folder) / "ports.json"
        ports = [
            {"listen": f"127.0.0.1:{listen[0]}", "forward": f"127.0.0.1:{target}", "rtt": "60ms"},
            {"listen": f"127.0.0.1:{listen[1]}", "forward": f"127.0.0.1:{target}", "rtt": "20ms"},
        ]
        text = {"buffers": "4M", "queue": "8M", "seed": 5, "ports": ports, "line": {"rate": "40M"}}
        config.write_text(json.dumps({"rate": "1G", "mtu": 1500, "json": str(counts), **text}))
        bulk = [sys.executable, str(FOLDER / "bulk.py")]
        with (
            subprocess.Popen([*bulk, "receive", str(target)]) as receiver,
            subprocess.Popen(
                [*RELAY, "--config", str(config), "--watch"], stderr=subprocess.PIPE, text=True
            ) as process,
        ):
            try:
                for _ in range(200):  # until everything listens
                    try:
                        for port in (target, *listen):
                            socket.create_connection(("127.0.0.1", port), 5).close()
                        break
                    except OSError:
                        time.sleep(0.05)
                times = [
                    float(subprocess.run([*bulk, "trip", "127.0.0.1", str(p)], capture_output=True,
                                         text=True, check=True).stdout)
                    for p in listen
                ]  # fmt: skip
                check(0.06 <= times[0] < 0.1, f"the first port has 60 ms: {times[0] * 1e3:.1f}")
                check(0.02 <= times[1] < 0.06, f"the second one 20 ms: {times[1] * 1e3:.1f}")
                send = [[*bulk, "send", "127.0.0.1", str(p), "--seconds", "5", "--skip", "2.5"] for p in listen]
                runs = [subprocess.Popen(s, stdout=subprocess.PIPE, text=True) for s in send]
                rates = [json.loads(r.communicate()[0])["bits_per_second"] for r in runs]
                share = rates[0] / sum(rates)
                check(abs(share - 0.5) < 0.06, f"merged in turn, they have shares of {share:.3f} and {1 - share:.3f}")
                check(0.85 < sum(rates) / 40e6 < 1.01, f"of the line's rate: {sum(rates) * 1e-6:.1f} of 40 Mbit/s")
            finally:
                process.terminate()
                error = process.communicate(timeout=20)[1]
                receiver.terminate()
        check(process.returncode == 0, f"a signal ends ports with status 0, not {process.returncode}")
        check("Mbit/s" in error and "to server" in error, "--watch prints a table")
        result = json.loads(counts.read_text(encoding="utf-8"))
        delivered = [p["to_server"]["delivered"]["bytes"] for p in result["ports"]]
        check(min(delivered) > 1e6, f"each port counts its bytes: {delivered}")
        check(
            abs(result["line"]["to_server"]["offered"]["bytes"] / sum(delivered) - 1) < 0.05,
            "the line has those of both",
        )
        busy = {flow["port"] for flow in result["flows"] if flow["to_server"]["delivered"]["bytes"] > 1e6}
        check(busy == {0, 1}, "and streams name their ports")


def check_rules() -> None:
    receive, trip = f"{BULK} receive 5000", f"{BULK} rtt $RELAY_SERVER 5000"
    run = run_relay("--quiet --rule 'reset to=*:5000'", receive, trip)
    check(run.returncode == 1 and "ConnectionRefused" in run.stderr, "a reset connection is refused")
    run = run_relay("--quiet --rule 'drop to=*:5000 until=300ms'", receive, trip)
    check(run.returncode == 0, "a connection whose packets are dropped for a time is tried again")
    run = run_relay("--quiet --rule 'drop from=10.9.9.9' --rule 'reset to=*:5001'", receive, trip)
    check(run.returncode == 0 and float(run.stdout) < 0.5, "rules of other addresses do not apply")
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "relay.json"
        for text, word in (
            ('{"rule": "lose to=*:1"}', "drop or reset"),
            ('{"rule": ["drop to=host"]}', "IPv4"),
            ('{"rules": 1}', "no setting"),
            ('{"rate": true}', "text or a number"),
            ('{"ports": [{"listen": "127.0.0.1:1"}]}', "listen and forward"),
            ('{"line": {"mtu": 1500}}', "no value of a line"),
            ('{"rate"', "relay.json"),
            ("[]", "object"),
        ):
            config.write_text(text)
            run = run_relay(f"--config {config}", receive, "true")
            check(run.returncode == 2 and word in run.stderr, f"{text} is refused: {run.stderr.strip()}")


def check_settings() -> None:
    names = "/proc/sys/net/ipv4/tcp_rmem /proc/sys/net/ipv4/tcp_wmem"
    host = [Path(name).read_text(encoding="ascii") for name in names.split()]
    read = f"cat {names}"
    receive = f"{BULK} receive 5000"
    run = run_relay("--quiet", receive, read)
    check(run.stdout == "".join(host), "buffers are those of the host by default")
    run = run_relay("--quiet --buffers 77M", receive, read)
    check([line.split()[2] for line in run.stdout.splitlines()] == ["77000000"] * 2, "--buffers")
    run = run_relay(
        "--quiet --sysctl 'net.ipv4.tcp_rmem=4096 5000 6000' --sysctl net.ipv4.tcp_sack=0",
        receive,
        "cat /proc/sys/net/ipv4/tcp_rmem /proc/sys/net/ipv4/tcp_sack",
    )
    check(run.stdout.split() == ["4096", "5000", "6000", "0"], "--sysctl sets values")
    after = [Path(name).read_text(encoding="ascii") for name in names.split()]
    check(after == host, "the host's are as before")


def usable_by_nobody(python: str) -> bool:
    """Whether the user nobody can run bulk.py with this interpreter."""
    try:
        command = [python, str(FOLDER / "bulk.py"), "--help"]
        run = subprocess.run(command, user="nobody", cwd="/", capture_output=True, check=False)
    except OSError:
        return False
    return run.returncode == 0


def check_unprivileged() -> None:
    """A run by a user without any rights, if this one can become another."""
    if os.geteuid() != 0:
        return
    python = next(filter(usable_by_nobody, (sys.executable, "/usr/bin/python3")), None)
    if python is None:
        print("not tested without privileges: the user nobody has no Python, or cannot read bulk.py")
        return
    bulk = f"{shlex.quote(python)} {shlex.quote(str(FOLDER / 'bulk.py'))}"
    run = subprocess.run(
        [*RELAY, "--check"], user="nobody", capture_output=True, text=True, check=False
    )
    if run.returncode == SKIPPED:
        print(f"not tested without privileges: {run.stderr.strip()}")
        return
    rtt = f"{bulk} rtt $RELAY_SERVER 5000"
    run = run_relay("--rtt 10ms --quiet", f"{bulk} receive 5000", rtt, user="nobody", cwd="/")
    check(run.returncode == 0, f"the relay runs without privileges {run.stderr}")
    check(run.returncode == 0 and float(run.stdout) > 0.01, "with the delay")


def check_readme() -> None:
    """The commands of README.md run as they are."""
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    environment = {**os.environ, "PATH": f"{Path(GDR).parent}:{os.environ['PATH']}"}
    blocks = re.findall(r"```text\n(.*?)```", text, re.S)
    check(len(blocks) >= 3, "README.md has commands")
    with tempfile.TemporaryDirectory() as folder:
        for name in ("tests", "bench"):
            (Path(folder) / name).symlink_to(FOLDER.parent.parent / name)
        for block in blocks:
            run = subprocess.run(
                ["bash", "-ec", block], cwd=folder, env=environment, capture_output=True, text=True,
                check=False, timeout=100, stdin=subprocess.DEVNULL,
            )  # fmt: skip
            output = run.stderr if run.returncode else ""
            check(run.returncode == 0, f"README.md: {block.strip()}\n{output}")


def main() -> int:
    available = subprocess.run([*RELAY, "--check"], capture_output=True, text=True, check=False)
    if available.returncode == SKIPPED:
        print(f"skipped: {available.stderr.strip()}")
        return SKIPPED
    check(available.returncode == 0, "the relay can run")
    timed = (check_rate_and_delay, check_merge, check_ports)
    for part in (check_end, check_errors, check_settings, check_rules, check_capture, check_unprivileged, check_loss,
                 *timed, check_cuts, check_readme):  # fmt: skip
        start = time.monotonic()
        before = len(problems)
        for _ in range(ATTEMPTS if part in timed else 1):
            del problems[before:]
            part()
            if len(problems) == before:
                break
        print(f"{part.__name__}: {time.monotonic() - start:.1f} s")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
