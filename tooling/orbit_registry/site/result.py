"""What a build of the site did, as a value; it prints nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from orbit_registry.records.diagnostic import Diagnostic


@dataclass(frozen=True, slots=True)
class SiteResult:
    """Counts of files, the findings, and whether the build counts as good."""

    out: Path
    pages: int
    """HTML files that the site has now."""
    written: int
    unchanged: int
    removed: int
    diagnostics: tuple[Diagnostic, ...]
    seconds: float
    config: str | None
    """The repository's own configuration file that was used, or None."""
    ok: bool = True
    """False where the build was strict and a finding is more than a note."""

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
