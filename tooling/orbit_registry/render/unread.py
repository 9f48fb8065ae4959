"""Files that were left out because they hold no record, as every answer counts and names them; it prints nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from orbit_registry.model.diagnostic import Diagnostic
from orbit_registry.repository.codec import HIDING, hides_record
from orbit_registry.workspace.workspace import Workspace


def unread_files(problems: Iterable[Diagnostic]) -> list[str]:
    """Return the paths of files that hold no record; one whose votes are torn holds them, as does an older layout."""
    return sorted({problem.location.path for problem in problems if hides_record(problem)})


def unread_text(files: Sequence[str]) -> str:
    """Return how many there are, in words."""
    return f"{len(files)} file{' holds' if len(files) == 1 else 's hold'} no record that can be read"


def check_command(workspace: Workspace, files: Sequence[str]) -> str:
    """Return the command that says why files hold no record: one that lists the baseline too where that names them."""
    from orbit_registry.repository.baseline import read_baseline  # nearly always every file holds one

    baseline, _ = read_baseline(workspace)
    is_baselined = any(finding.code in HIDING and finding.path in files for finding in baseline.counts)
    return "orbit check --all" if is_baselined else "orbit check"
