"""A star cluster with forces from the emulated chip; prints the final energies.

    python examples/python/cluster.py
"""

from __future__ import annotations

import gdr
from gdr import nbody


def main() -> None:
    with gdr.open("emulator", engine="native") as device:
        stars = nbody.plummer(256, seed=1)
        history = nbody.History()
        for state in nbody.leapfrog(stars, eps=1 / 32, dt=1 / 256, t_end=0.125, device=device):
            history.add(state)
        print(f"{len(history.time)} states, energy error {history.energy_error[-1]:.1e}")
        print(f"predicted on a board: {device.statistics.predicted_gflops:.0f} Gflops")


if __name__ == "__main__":
    main()
