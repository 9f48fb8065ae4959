"""Files that were left out because they hold no record, as every answer counts and names them; it prints nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from orbit_registry.records.diagnostic import Diagnostic
from orbit_registry.store.old_layout import OLD_LAYOUT


def unread_files(problems: Iterable[Diagnostic]) -> list[str]:
    """Return the paths of files that hold no record; one whose votes are torn holds them, as does an older layout."""
    from orbit_registry.store.votes import BROKEN  # a lock comes with it, which most commands do without

    return sorted({problem.location.path for problem in problems if problem.code not in (OLD_LAYOUT, BROKEN)})


def unread_text(files: Sequence[str]) -> str:
    """Return how many there are, in words."""
    return f"{len(files)} file{' holds' if len(files) == 1 else 's hold'} no record that can be read"
