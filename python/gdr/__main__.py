"""``python -m gdr demo`` draws a merger of two clusters; ``show`` draws snapshots."""

from __future__ import annotations

import argparse
import sys

from . import Error, __version__
from .demo import demo, draw_snapshots


def main() -> int:
    """Run the command line; returns 0 for success, 1 for an error, 2 for wrong usage."""
    parser = argparse.ArgumentParser(prog="python -m gdr", description=__doc__)
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("demo", help="merger of two star clusters: picture and animation")
    one.add_argument("--stars", type=int, default=1024, help="number of stars (default 1024)")
    one.add_argument("--t-end", type=float, default=14.0, help="end time (default 14)")
    one.add_argument("--out", default="out/demo", help="output directory (default out/demo)")
    one.add_argument("--device", default="", help="device name, as for gdr.open")
    one.add_argument("--quiet", action="store_true", help="no progress bar")
    show = commands.add_parser("show", help="draw snapshots side by side")
    show.add_argument("files", nargs="+", metavar="FILE", help="snapshots: GADGET HDF5 or text")
    show.add_argument("-o", "--output", default="stars.png", help="picture (default stars.png)")
    arguments = parser.parse_args()
    try:
        if arguments.command == "show":
            print(draw_snapshots(arguments.files, arguments.output))
            return 0
        for path in demo(
            stars=arguments.stars,
            t_end=arguments.t_end,
            out=arguments.out,
            device_name=arguments.device,
            progress=not arguments.quiet,
        ):
            print(path)
    except (Error, ValueError, OSError, ImportError) as error:
        print(f"python -m gdr: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
