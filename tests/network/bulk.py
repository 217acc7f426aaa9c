#!/usr/bin/env python3
"""Sends bytes through TCP streams, and prints as JSON how many arrived when.

usage: bulk.py receive PORT
       bulk.py send HOST PORT --seconds S [--streams N] [--congestion NAME] [--pacing BIT/S]
                              [--buffer BYTES] [--interval S] [--skip S]
       bulk.py rtt HOST PORT
       bulk.py trip HOST PORT

The receiver counts the bytes of each stream in intervals since the stream's first byte, and
returns the counts when the sender has ended the stream. The sender prints, for each stream and for
their sum, the payload in bit/s from --skip seconds to the end of the sending time, and the counts.
`rtt` prints the shortest time of ten connections in seconds: the handshake takes one round trip.
`trip` prints the shortest time of ten answers over open connections, for connections that are forwarded.
"""

from __future__ import annotations

import argparse
import json
import selectors
import socket
import struct
import sys
import threading
import time

BLOCK = 1 << 20  # bytes of a call
# From linux/tcp.h and asm-generic/socket.h: Python has only the first, and only on Linux.
TCP_CONGESTION, SO_MAX_PACING_RATE = 13, 47
HEADER = struct.Struct("!d")  # the interval


def receive_stream(connection: socket.socket) -> None:
    """Counts a stream's bytes and answers with the counts of each interval."""
    with connection:
        header = connection.recv(HEADER.size, socket.MSG_WAITALL)
        if len(header) < HEADER.size:
            return
        (interval,) = HEADER.unpack(header)
        buffer = bytearray(BLOCK)
        counts: list[int] = []
        start = time.monotonic()
        while size := connection.recv_into(buffer):
            index = int((time.monotonic() - start) / interval)
            counts.extend([0] * (index + 1 - len(counts)))
            counts[index] += size
        connection.sendall(json.dumps(counts).encode())


def receive(options: argparse.Namespace) -> None:
    with socket.create_server(("", options.port), backlog=128) as listener:
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=receive_stream, args=(connection,), daemon=True).start()


def connect(options: argparse.Namespace) -> socket.socket:
    stream = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if options.congestion:
        stream.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, options.congestion.encode())
    if options.pacing:
        rate = struct.pack("@Q", int(options.pacing / 8))
        stream.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, rate)
    if options.buffer:
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, options.buffer)
    stream.connect((options.host, options.port))
    stream.sendall(HEADER.pack(options.interval))
    return stream


def send_for(streams: list[socket.socket], seconds: float) -> None:
    """Keeps the send buffers of all streams full for some time."""
    block = memoryview(bytes(BLOCK))
    end = time.monotonic() + seconds
    with selectors.DefaultSelector() as ready:
        for stream in streams:
            stream.setblocking(False)
            ready.register(stream, selectors.EVENT_WRITE, stream)
        while (left := end - time.monotonic()) > 0:
            for key, _ in ready.select(left):
                try:
                    key.data.send(block)
                except BlockingIOError:
                    pass
    for stream in streams:
        stream.setblocking(True)
        stream.shutdown(socket.SHUT_WR)


def counts_of(stream: socket.socket) -> list[int]:
    with stream:
        text = b""
        while part := stream.recv(BLOCK):
            text += part
    counts: list[int] = json.loads(text)
    return counts


def rate(counts: list[int], options: argparse.Namespace) -> float:
    """Bits per second from --skip to the end of the sending time."""
    interval = options.interval
    first = round(options.skip / interval)
    last = round(options.seconds / interval)
    result: float = 8 * sum(counts[first:last]) / ((last - first) * interval)
    return result


def send(options: argparse.Namespace) -> None:
    streams = [connect(options) for _ in range(options.streams)]
    send_for(streams, options.seconds)
    counts = [counts_of(stream) for stream in streams]
    rates = [rate(c, options) for c in counts]
    result = {"bits_per_second": sum(rates), "streams": rates}
    print(json.dumps({**result, "interval": options.interval, "counts": counts}))


def rtt(options: argparse.Namespace) -> None:
    times = []
    for _ in range(10):
        start = time.monotonic()
        with socket.create_connection((options.host, options.port)):
            times.append(time.monotonic() - start)
    print(min(times))


def trip(options: argparse.Namespace) -> None:
    times = []
    for _ in range(10):
        with socket.create_connection((options.host, options.port)) as stream:
            stream.sendall(HEADER.pack(1))
            time.sleep(0.2)  # the whole way is open
            start = time.monotonic()
            stream.shutdown(socket.SHUT_WR)
            while stream.recv(BLOCK):
                pass
            times.append(time.monotonic() - start)
    print(min(times))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    roles = parser.add_subparsers(required=True)
    receiver = roles.add_parser("receive")
    receiver.add_argument("port", type=int)
    receiver.set_defaults(role=receive)
    for name, role in {"send": send, "rtt": rtt, "trip": trip}.items():
        sender = roles.add_parser(name)
        sender.add_argument("host")
        sender.add_argument("port", type=int)
        sender.set_defaults(role=role)
        if role is not send:
            continue
        sender.add_argument("--seconds", type=float, required=True)
        sender.add_argument("--streams", type=int, default=1)
        sender.add_argument("--congestion", help="reno, cubic, bbr; default: the system's")
        sender.add_argument("--pacing", type=float, help="bit/s of each stream")
        sender.add_argument("--buffer", type=int, help="SO_SNDBUF; default: chosen by the kernel")
        sender.add_argument("--interval", type=float, default=0.1)
        sender.add_argument("--skip", type=float, default=0, help="seconds that do not count")
    options = parser.parse_args()
    options.role(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
