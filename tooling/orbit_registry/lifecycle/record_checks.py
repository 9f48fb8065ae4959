"""The checks that records state under `checks:`. A package runs them; see `seams.Extra`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.seams import load, targets

if TYPE_CHECKING:
    from orbit_registry.formats.globs import Glob
    from orbit_registry.model.record import Record
    from orbit_registry.workspace.workspace import Workspace

FIELD = "checks"


class ForbiddenWords(NamedTuple):
    """Words that a check forbids."""

    words: Sequence[str]
    where: str
    """`code`, or `any`: in comments and strings too."""
    in_any_case: bool


class StatedCheck(Protocol):
    """One check of a record."""

    @property
    def id(self) -> str:
        """Its id in the record."""

    @property
    def name(self) -> str:
        """Its name in reports: `ADR-0016/no-mysql`."""

    @property
    def say(self) -> str:
        """What it asks for, in one line."""

    @property
    def level(self) -> str:
        """`advice`, `warning` or `error`."""

    @property
    def globs(self) -> Sequence[Glob]:
        """The globs of its files."""

    @property
    def forbidden(self) -> ForbiddenWords | None:
        """The words that it forbids in code, if that is all that it does."""

    def reads(self, path: str) -> bool:
        """Say whether it looks at a file."""


class Runner(Protocol):
    """What a package has that runs checks."""

    def checks_of(self, record: Record) -> Sequence[StatedCheck]:
        """Return the checks of a record, valid or not."""

    def enforce(
        self,
        workspace: Workspace,
        records: Iterable[Record],
        tracked: Sequence[str] | None,
        untracked: Sequence[str],
        *,
        against: str | None = None,
        before: Sequence[Record] = (),
        proposed: bool = False,
        definitions_only: bool = False,
    ) -> tuple[Diagnostic, ...]:
        """Return what the checks of live records find, and what is wrong with them."""

    def check_text(
        self, workspace: Workspace, records: Iterable[Record], path: str, text: str
    ) -> tuple[Diagnostic, ...]:
        """Return what a text breaks as the content of a file."""

    def enforcement(self, workspace: Workspace, records: Iterable[Record]) -> Enforcement:
        """Return how far each live decision is enforced."""


class Enforcement(Protocol):
    """How far each live decision is enforced."""

    def as_data(self) -> dict[str, object]:
        """Return it as JSON shows it."""

    def text(self) -> str:
        """Return it as people read it."""


def runner() -> Runner | None:
    """Return what runs the checks of records; None where no such package is installed."""
    for module in targets("record_checks"):
        return cast("Runner", load(module))

    return None


def stated(records: Iterable[Record]) -> list[Record]:
    """Return the records that state checks."""
    return [record for record in records if FIELD in record.data]


def not_run(records: Iterable[Record]) -> tuple[Diagnostic, ...]:
    """Return that the checks of live records are not run, as no package is installed that does."""
    message = "its checks are not run: no installed package runs the checks of records"
    hint = "install one, such as `orbit_enforce`"
    live = [record for record in stated(records) if record.phase == "live"]
    return tuple(
        Diagnostic(
            "ORB1004",
            Severity.WARNING,
            f"{record.id}: {message}",
            Location(record.path),
            hint,
            record.id,
        )
        for record in live
    )


def checks_of(records: Iterable[Record]) -> list[StatedCheck]:
    """Return the checks that records state; none if no package runs them."""
    checked = stated(records)  # most projects have none
    running = runner() if checked else None
    if running is None:
        return []

    checks: list[StatedCheck] = []
    for record in checked:
        checks += running.checks_of(record)

    return checks
