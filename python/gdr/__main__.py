"""``python -m gdr demo`` draws a merger of two clusters; ``show`` draws snapshots. Options such as
``--prefix`` print where the C++ library is installed."""

from __future__ import annotations

import argparse
import sys

from . import Error, __version__, _installation
from .demo import demo, draw_snapshots

#: Options that print a directory, and its meaning.
_DIRECTORIES = {
    "--prefix": (_installation.get_prefix, "prefix of the C++ library"),
    "--include-dir": (_installation.get_include, "directory of its headers"),
    "--library-dir": (_installation.get_library_dir, "directory of its shared libraries"),
    "--cmake-dir": (_installation.get_cmake_dir, "directory of its CMake package"),
    "--pkgconfig-dir": (_installation.get_pkgconfig_dir, "directory of gdr.pc"),
}


def main() -> int:
    """Run the command line; returns 0 for success, 1 for an error, 2 for wrong usage."""
    parser = argparse.ArgumentParser(prog="python -m gdr", description=__doc__)
    parser.add_argument("--version", action="version", version=__version__)
    directories = parser.add_mutually_exclusive_group()
    for option, (directory, meaning) in _DIRECTORIES.items():
        directories.add_argument(
            option,
            dest="directory",
            action="store_const",
            const=directory,
            help=f"print the {meaning}",
        )
    commands = parser.add_subparsers(dest="command")
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
    if arguments.command is None and arguments.directory is None:
        parser.error("a command is required: demo or show")
    try:
        if arguments.directory is not None:
            print(arguments.directory())
            return 0
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
