"""The globs of a scope, and what counts as broad; shared by the checks of this family."""

from __future__ import annotations

from collections.abc import Sequence

from orbit_registry.checks.matching import parsed
from orbit_registry.text.glob_syntax import Glob

FEWEST_FILES = 20
"""In a smaller project a share of the files says nothing."""
SHARE = 0.2


def valid_globs(paths: Sequence[str]) -> list[tuple[int, Glob]]:
    """Return the globs of a scope that can be read, with their places in its list."""
    return [(index, glob) for index, text in enumerate(paths) if isinstance(glob := parsed(text), Glob)]
