"""Values of a build: its result and its progress."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from orbit_registry.model.diagnostic import Diagnostic, Severity

Progress = Callable[[str, int, int], None]  # called with the step's name, how much of it is done, and how much there is


def silent(step: str, done: int, of: int) -> None:
    """Report no progress."""


@dataclass(frozen=True, slots=True)
class SiteResult:
    """Counts of files, the findings, and whether the build counts as good."""

    out: Path
    pages: int  # HTML files that the site has now
    written: int
    unchanged: int
    removed: int
    diagnostics: tuple[Diagnostic, ...]
    seconds: float
    config: str | None  # the repository's own configuration file that was used, or None
    ok: bool = True  # false where the build was strict and a finding is more than a note
    stamps: Mapping[str, str] | None = None
    """Stamps of inputs and outputs by path; None if one may have changed during the build."""

    def as_data(self) -> dict[str, object]:
        """Return the result as the JSON output shows it, without the diagnostics."""
        return {
            "out": str(self.out),
            "pages": self.pages,
            "written": self.written,
            "unchanged": self.unchanged,
            "removed": self.removed,
            "seconds": round(self.seconds, 3),
            "config": self.config,
        }


def heavier_than_notes(diagnostics: Sequence[Diagnostic]) -> bool:
    """Say whether a strict build fails for these findings."""
    return any(diagnostic.severity is not Severity.NOTE for diagnostic in diagnostics)
