"""What goes into an archive of the sources: everything, but builds and outputs at the top."""

import fnmatch
import re

from conftest import ROOT

EXCLUDED = re.compile(r"^sdist\.exclude = \[(.*)\]$", re.MULTILINE)


def test_no_source_is_left_out_for_its_name():
    """kernels/compiler/front/builder.hpp was once missing for the pattern build*."""
    found = EXCLUDED.search((ROOT / "pyproject.toml").read_text())
    patterns = re.findall(r'"([^"]+)"', found.group(1))
    assert patterns and all(p.startswith("/") for p in patterns)
    rooms = ["emulator", "kernels", "libgdr", "python", "examples", "tests", "cmake", "docs", "bench"]
    at_the_top = [r for r in rooms if (ROOT / r).is_dir()]
    at_the_top += [p.name for p in ROOT.iterdir() if p.is_file()]
    assert len(at_the_top) > 12
    for name in at_the_top:
        assert not any(fnmatch.fnmatch("/" + name, pattern) for pattern in patterns), name
