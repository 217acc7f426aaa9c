"""Small calculations must not pay for calls through the table of exported functions: the library
calls its own functions directly.

Usage: direct_calls.py READELF LIBRARY
"""

import subprocess
import sys


def main(readelf, library):
    text = subprocess.run([readelf, "-rW", library], check=True, capture_output=True, text=True).stdout
    table = [line.split()[4] for line in text.splitlines() if "JUMP_SL" in line]  # names are cut
    if not table:
        sys.exit(f"{library} calls no function of another library: is this the right file?")
    own = [name for name in table if name.startswith(("_ZN3gdr", "_ZNK3gdr", "gdr_"))]
    if own:
        sys.exit(f"{len(own)} functions of {library} are called through its table, for example {own[0]}: "
                 "link it with -Bsymbolic-functions")


main(*sys.argv[1:])
