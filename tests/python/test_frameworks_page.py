"""The Python blocks of docs/guides/frameworks.md run, by section, where its package is installed."""

import os
import re
import subprocess
import sys
import textwrap

import pytest
from conftest import ROOT

TEXT = (ROOT / "docs" / "guides" / "frameworks.md").read_text()
SECTIONS = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", TEXT, re.M | re.S))


def blocks(section):
    found = re.findall(r"^( *)```python\n(.*?)^ *```", SECTIONS[section], re.M | re.S)
    return [textwrap.dedent(text) for _, text in found]


@pytest.mark.parametrize("section", [s for s in SECTIONS if blocks(s)])
def test_the_blocks_of_a_section_run(section, tmp_path):
    pytest.importorskip(section.lower(), reason=f"the package {section.lower()} is not installed")
    program = tmp_path / "page.py"
    program.write_text("\n".join(blocks(section)))
    done = subprocess.run(
        [sys.executable, program],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_page_has_blocks_for_ase():
    assert len(blocks("ASE")) == 2
