"""Imports of optional packages."""

from __future__ import annotations

import importlib
from typing import Any


def require(module: str, feature: str) -> Any:
    """Import a module; an ImportError says which feature needs it and how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = {"PIL": "pillow"}.get(module.split(".")[0], module.split(".")[0])
        raise ImportError(
            f"{feature} needs {package}, which cannot be imported ({error}): pip install {package}"
        ) from None
