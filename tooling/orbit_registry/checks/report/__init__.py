"""Reports of the gate, one module a format: each has `render(outcome) -> str`."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

from orbit_registry.checks.engine import CheckOutcome
from orbit_registry.errors import UsageError

Render = Callable[[CheckOutcome], str]


def formats() -> tuple[str, ...]:
    """Return the names of the formats."""
    return tuple(sorted(file.stem for file in Path(__file__).parent.glob("[a-z]*.py")))


def render(name: str, outcome: CheckOutcome) -> str:
    """Return the outcome in a format, with a line break at its end.

    Raises:
        UsageError: there is no such format.
    """
    if name not in formats():
        raise UsageError(f"there is no format {name!r}", hint=f"formats: {', '.join(formats())}")
    module = importlib.import_module(f"{__name__}.{name}")
    render_format: Render = module.render
    return render_format(outcome).encode("utf-8", "backslashreplace").decode("utf-8")  # file names need not be UTF-8
