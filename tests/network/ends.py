#!/usr/bin/env python3
"""Servers and clients for the test of the relay: numbered datagrams, and connections that are cut.

usage: ends.py datagrams-server PORT
       ends.py datagrams-client HOST PORT  prints the numbers that did not come back, as JSON
       ends.py requests-server PORT
       ends.py requests-client HOST PORT COUNT
           repeats requests until its connections were reset so many times; prints the number of
           requests that were answered, of wrong answers, and of connections that were reset for
           the server, as JSON
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Callable

DATAGRAMS, GROUP = 1000, 100
REQUEST = 20000  # bytes
HOW_MANY_RESETS = b"\xff" * REQUEST
RESETS = (ConnectionResetError, BrokenPipeError)


def whole(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            break
        data += part
    return data


def datagrams_server(port: str) -> None:
    """Returns every datagram. The relay waits until the TCP port is open; it is not used."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as numbers:
        numbers.bind(("", int(port)))
        with socket.create_server(("", int(port))):
            while True:
                numbers.sendto(*numbers.recvfrom(100))


def datagrams_client(host: str, port: str) -> None:
    missing = set(range(DATAGRAMS))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as numbers:

        def collect(quiet: float, last: int) -> None:
            numbers.settimeout(quiet)
            try:
                while any(number <= last for number in missing):
                    missing.discard(int(numbers.recv(100)))
            except TimeoutError:
                pass

        # A group fits into the receiver's buffer, however late it reads.
        for number in range(DATAGRAMS):
            numbers.sendto(str(number).encode(), (host, int(port)))
            if number % GROUP == GROUP - 1:
                collect(0.1, number)
        collect(1, DATAGRAMS)
    print(json.dumps(sorted(missing)))


def requests_server(port: str) -> None:
    """Returns requests with their bytes reversed, and the number of reset connections if asked."""
    resets = 0
    lock = threading.Lock()
    threads: list[threading.Thread] = []

    def answer(connection: socket.socket, earlier: list[threading.Thread]) -> None:
        nonlocal resets
        with connection:
            try:
                while len(request := whole(connection, REQUEST)) == REQUEST:
                    if request == HOW_MANY_RESETS:
                        # However late this process is: all connections before this one were reset.
                        for thread in earlier:
                            thread.join()
                        connection.sendall(resets.to_bytes(8, "big"))
                    else:
                        connection.sendall(request[::-1])
            except RESETS:
                with lock:
                    resets += 1

    with socket.create_server(("", int(port)), backlog=128) as listener:
        while True:
            connection, _ = listener.accept()
            earlier = list(threads)
            threads.append(threading.Thread(target=answer, args=(connection, earlier), daemon=True))
            threads[-1].start()


def requests_client(host: str, port: str, count: str) -> None:
    resets = answered = wrong = 0
    while resets < int(count):
        try:
            with socket.create_connection((host, int(port))) as connection:
                while True:
                    request = answered.to_bytes(8, "big") * (REQUEST // 8)
                    connection.sendall(request)
                    wrong += whole(connection, REQUEST) != request[::-1]
                    answered += 1
        except (*RESETS, ConnectionRefusedError):
            resets += 1
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(HOW_MANY_RESETS)
        server = int.from_bytes(whole(connection, 8), "big")
    print(json.dumps({"answered": answered, "wrong": wrong, "resets_of_server": server}))


ROLES: dict[str, Callable[..., None]] = {
    "datagrams-server": datagrams_server,
    "datagrams-client": datagrams_client,
    "requests-server": requests_server,
    "requests-client": requests_client,
}

if __name__ == "__main__":
    ROLES[sys.argv[1]](*sys.argv[2:])
