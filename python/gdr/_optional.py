"""Packages that parts of this one use, and what to say where they are missing."""

from __future__ import annotations

import importlib
from typing import Any


def need(module: str, what: str) -> Any:
    """Import a module; an ImportError says what it is needed for and how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = {"PIL": "pillow"}.get(module.split(".")[0], module.split(".")[0])
        raise ImportError(
            f"{what} needs {package}, which cannot be imported ({error}): pip install {package}"
        ) from None
