"""What a check is: a code, words about it, a function from the context to diagnostics, perhaps a fix; it runs none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic, Location, Severity
from orbit_registry.records.record import Record
from orbit_registry.store.journal import Change

DOCS = "docs/reference/checks.md"

Run = Callable[[CheckContext], Iterable[Diagnostic]]
"""Yields findings."""

Fix = Callable[[CheckContext, Diagnostic], Sequence[Change]]
"""Returns the files a finding's fix changes, each with the text it was made for; the gate writes them as one step."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check of the gate."""

    code: str
    name: str
    severity: Severity
    """The heaviest it gives; single findings may weigh less."""
    summary: str
    """What a finding means, in one sentence."""
    hint: str
    """What to do, where a finding has no hint of its own."""
    run: Run
    fix: Fix | None = None

    @property
    def docs(self) -> str:
        """Where the check is explained, from the repository's root."""
        return f"{DOCS}#{self.code.lower()}"

    def at(
        self,
        location: Location,
        message: str,
        *,
        severity: Severity | None = None,
        hint: str | None = None,
        record: Record | str | None = None,
        related: Sequence[Location] = (),
        fixable: bool | None = None,
    ) -> Diagnostic:
        """Return a finding of this check."""
        return Diagnostic(
            code=self.code,
            severity=severity or self.severity,
            message=message,
            location=location,
            hint=hint or self.hint,
            record=record.id if isinstance(record, Record) else record,
            related=tuple(related),
            fixable=self.fix is not None if fixable is None else fixable,
        )


def check(
    code: str, name: str, severity: Severity, summary: str, hint: str, *, fix: Fix | None = None
) -> Callable[[Run], Check]:
    """Return what makes a check of the function below it, by whose name the check is known from then on."""
    return lambda run: Check(code, name, severity, summary, hint, run, fix)
