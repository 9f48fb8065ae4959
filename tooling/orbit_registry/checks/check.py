"""Checks: their declaration, the catalogue, and a run of them over a context."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from orbit_registry.checks import rules
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.model.record import Record
from orbit_registry.repository.baseline import PROTECTED, UNPROVED
from orbit_registry.repository.codec import HIDING, hides_record
from orbit_registry.repository.inherited import source_of
from orbit_registry.seams import add, extras, load
from orbit_registry.workspace.journal import FileChange

if TYPE_CHECKING:
    from orbit_registry.checks.context import CheckContext

DOCS = "docs/reference/checks"

Run = Callable[["CheckContext"], Iterable[Diagnostic]]
"""Yields findings."""

Fix = Callable[["CheckContext", Diagnostic], Sequence[FileChange]]
"""Returns the file changes that fix a finding; the gate writes them as one step."""

Announce = Callable[[Diagnostic, Sequence[FileChange]], None]
"""Takes a finding and the changes that fix it, before they are made."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check of the gate."""

    code: str
    name: str
    severity: Severity
    """The highest; single findings may have a lower one."""
    summary: str
    """What a finding means, in one sentence."""
    hint: str
    """What to do, if a finding has no hint."""
    run: Run
    fix: Fix | None = None

    @property
    def docs(self) -> str:
        """Where the check is explained, from the repository's root."""
        return f"{DOCS}/{self.run.__module__.rpartition('.')[2]}.md#{self.code.lower()}"

    def at(
        self,
        location: Location,
        message: str,
        record: Record | str | None = None,
        *,
        severity: Severity | None = None,
        hint: str | None = None,
        related: Sequence[Location] = (),
        fixable: bool | None = None,
    ) -> Diagnostic:
        """Return a finding of this check."""
        if isinstance(record, Record):
            record = record.id
        if fixable is None:
            fixable = self.fix is not None

        return Diagnostic(
            code=self.code,
            severity=severity or self.severity,
            message=message,
            location=location,
            hint=hint or self.hint,
            record=record,
            related=tuple(related),
            fixable=fixable,
        )


def check(
    code: str, severity: Severity, hint: str, *, fix: Fix | None = None
) -> Callable[[Run], Check]:
    """Make a check of the decorated function: its name is the check's,
    its docstring says what a finding means.
    """

    def make(run: Run) -> Check:
        name = run.__name__.replace("_", "-")
        summary = " ".join(str(run.__doc__).split())
        return Check(code, name, severity, summary, hint, run, fix)

    return make


def passed_on(
    code: str,
    name: str,
    severity: Severity,
    summary: str,
    hint: str,
    diagnostics: Callable[[CheckContext], Iterable[Diagnostic]],
    fix: Fix | None = None,
) -> Check:
    """Make a check that passes on those of some findings that have its code."""

    def run(context: CheckContext) -> Iterable[Diagnostic]:
        return (
            replace(row, hint=row.hint or hint) for row in diagnostics(context) if row.code == code
        )

    run.__module__ = diagnostics.__module__  # where the check is documented
    return Check(code, name, severity, summary, hint, run, fix)


@cache
def all_checks() -> tuple[Check, ...]:
    """Return every check, in the order of codes."""
    checks: dict[str, Check] = {}
    names = [f"{rules.__name__}.{name}" for _, name, _ in pkgutil.iter_modules(rules.__path__)]
    for extra in extras():
        names += extra.checks

    for name in names:
        of_module: list[Check] = []
        for value in vars(load(name)).values():
            members = value if isinstance(value, tuple) else (value,)
            of_module += [member for member in members if isinstance(member, Check)]

        add(checks, {check.code: check for check in of_module}, "check", name)

    return tuple(sorted(checks.values(), key=lambda check: (len(check.code), check.code)))


def check_of(code: str) -> Check | None:
    """Return the check with a code."""
    return next((check for check in all_checks() if check.code == code), None)


def run_checks(context: CheckContext, checks: Iterable[Check] | None = None) -> list[Diagnostic]:
    """Return findings by place without ignored codes,
    but unreadable records and unproved approvals.
    """
    ignored = frozenset(context.config.setting("checks", "ignore")) - {UNPROVED}
    if checks is None:
        checks = all_checks()

    remaining: set[Diagnostic] = set()
    for check in checks:
        if check.code in ignored - HIDING:
            continue
        for diagnostic in check.run(context):
            is_ignored = diagnostic.code in ignored and not hides_record(diagnostic)
            if not is_ignored and not _is_elsewhere(diagnostic):
                remaining.add(diagnostic)

    return sorted(remaining, key=lambda diagnostic: diagnostic.sort_key)


def _is_elsewhere(diagnostic: Diagnostic) -> bool:
    """Say whether a finding is about the text of an inherited record,
    which is corrected in its own repository.
    """
    is_about_change = diagnostic.code in (UNPROVED, PROTECTED)
    return bool(source_of(diagnostic.location.path)) and not is_about_change
