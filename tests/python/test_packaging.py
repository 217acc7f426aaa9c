"""The source archive excludes only build and output directories at the top."""

import fnmatch
import re

from conftest import ROOT

EXCLUDED = re.compile(r"^sdist\.exclude = \[(.*)\]$", re.MULTILINE)


def test_no_source_file_matches_an_exclude_pattern():
    """The pattern build* once excluded kernels/compiler/front/builder.hpp."""
    found = EXCLUDED.search((ROOT / "pyproject.toml").read_text())
    patterns = re.findall(r'"([^"]+)"', found.group(1))
    assert patterns and all(p.startswith("/") for p in patterns)
    directories = ["emulator", "kernels", "libgdr", "python", "examples", "tests", "cmake", "docs", "bench"]
    names = [d for d in directories if (ROOT / d).is_dir()]
    names += [p.name for p in ROOT.iterdir() if p.is_file()]
    assert len(names) > 12
    for name in names:
        assert not any(fnmatch.fnmatch("/" + name, pattern) for pattern in patterns), name
