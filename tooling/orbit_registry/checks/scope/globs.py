"""The globs of a scope; shared by the checks of this family."""

from __future__ import annotations

from collections.abc import Sequence

from orbit_registry.checks.matching import parsed
from orbit_registry.text.glob_syntax import Glob


def valid_globs(paths: Sequence[str]) -> list[tuple[int, Glob]]:
    """Return the globs of a scope that can be read, with their places in its list."""
    return [(index, glob) for index, text in enumerate(paths) if isinstance(glob := parsed(text), Glob)]
