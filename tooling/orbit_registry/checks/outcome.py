"""What the gate says, as a value; it renders and prints nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from orbit_registry.records.diagnostic import Diagnostic, Severity
from orbit_registry.store.baseline import Known
from orbit_registry.store.journal import Change

Fix = bool | str
"""Whether to mend; `record` or `document`: that decides where the two differ, in place of each one's own authority."""

Announce = Callable[[Diagnostic, Sequence[Change]], None]
"""Takes a finding and the changes that mend it, before they are made."""


@dataclass(frozen=True, slots=True)
class Result:
    """What the checks found, every finding in order."""

    diagnostics: tuple[Diagnostic, ...]
    checked_count: int
    base: str | None


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """What the gate says."""

    diagnostics: tuple[Diagnostic, ...]
    """New findings; with `everything`, every finding."""
    baselined: tuple[Diagnostic, ...] = ()
    fixed: tuple[Diagnostic, ...] = ()
    checked_count: int = 0
    """How many records were looked at, the unreadable ones among them; how many events, where `subject` says so."""
    gone: tuple[Known, ...] = ()
    """Findings of the baseline that no longer are."""
    base: str | None = None
    """What "changed" compares with."""
    paths: tuple[str, ...] = ()
    subject: str = "record"

    @property
    def ok(self) -> bool:
        """Say whether no error is among the diagnostics: exit 0 or 1."""
        return not any(diagnostic.severity is Severity.ERROR for diagnostic in self.diagnostics)
