"""The Python blocks of docs/guides/gradients.md run."""

import re
import subprocess
import sys

import pytest
from conftest import ROOT


def test_blocks_of_the_page_run(tmp_path):
    pytest.importorskip("jax", reason="the package jax is not installed")
    pytest.importorskip("torch", reason="the package torch is not installed")
    text = (ROOT / "docs" / "guides" / "gradients.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    assert len(blocks) == 3
    program = tmp_path / "page.py"
    checks = (
        "assert x.grad.shape == (50, 3) and depth.grad.shape == ()\n"
        "assert np.allclose(slopes[0], x.grad) and np.allclose(slopes[1], depth.grad)\n"
        "assert widths.shape == (3,) and abs(curvature) < 1e-9\n"
    )
    program.write_text("\n".join(blocks[:2] + [checks] + blocks[2:]))
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("example", "options", "package", "printed"),
    [
        ("hidden_masses", ("--places", "400", "--steps", "20"), "torch", "mass 2: found 1.99"),
        ("steering", ("--bodies", "6", "--steps", "8", "--iterations", "9"), "jax", "gradients"),
    ],
)
def test_examples_with_gradients_run(tmp_path, example, options, package, printed):
    pytest.importorskip(package, reason=f"the package {package} is not installed")
    pytest.importorskip("matplotlib")
    pytest.importorskip("scipy")
    program = ROOT / "examples" / "python" / f"{example}.py"
    done = subprocess.run(
        [sys.executable, program, *options, "--out", tmp_path], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert printed in done.stdout and (tmp_path / f"{example}.png").stat().st_size > 10000


@pytest.mark.parametrize("name", ["jax", "torch"])
def test_a_missing_package_is_named(name):
    blocked = f"import sys; sys.modules[{name!r}] = None; import gdr.{name}"
    done = subprocess.run([sys.executable, "-c", blocked], capture_output=True, text=True)
    assert done.returncode != 0 and f"ImportError: gdr.{name} needs" in done.stderr
