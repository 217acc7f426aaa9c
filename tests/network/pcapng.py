"""Reads files of the format pcapng: a reader of its own, to test what `gdr relay` writes."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Interface:
    """An interface: its type of link, and its name."""

    link_type: int
    snap: int
    options: dict[int, bytes] = field(default_factory=dict)


@dataclass
class Packet:
    """A packet: its interface, time in units of the interface, original length, and bytes."""

    interface: int
    time: int
    length: int
    data: bytes


def options_of(data: bytes, order: str) -> dict[int, bytes]:
    options, at = {}, 0
    while at + 4 <= len(data):
        code, size = struct.unpack_from(order + "HH", data, at)
        if code == 0:
            break
        options[code] = data[at + 4 : at + 4 + size]
        at += 4 + (size + 3) // 4 * 4
    return options


def read(path: Path) -> tuple[list[Interface], list[Packet]]:
    """All interfaces and packets of a file of one section; raises ValueError for a wrong block."""
    data, at = path.read_bytes(), 0
    interfaces: list[Interface] = []
    packets: list[Packet] = []
    if data[:4] != b"\n\r\r\n":
        raise ValueError("no section header")
    order = "<" if data[8:12] == b"\x4d\x3c\x2b\x1a" else ">"
    while at < len(data):
        kind, size = struct.unpack_from(order + "II", data, at)
        if size % 4 or size < 12 or struct.unpack_from(order + "I", data, at + size - 4)[0] != size:
            raise ValueError(f"block of {size} bytes at {at}")
        body = data[at + 8 : at + size - 4]
        if kind == 1:
            link_type, _, snap = struct.unpack_from(order + "HHI", body)
            interfaces.append(Interface(link_type, snap, options_of(body[8:], order)))
        elif kind == 6:
            interface, high, low, kept, length = struct.unpack_from(order + "IIIII", body)
            packets.append(Packet(interface, high << 32 | low, length, body[20 : 20 + kept]))
        at += size
    return interfaces, packets
