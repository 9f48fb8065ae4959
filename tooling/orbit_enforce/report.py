"""Findings of checks: what breaks a decision, and what is wrong with a check itself."""

from __future__ import annotations

from dataclasses import dataclass, field

from orbit_enforce.kind import FILE_LIMIT
from orbit_enforce.matches import WHOLE_FILE, Break
from orbit_enforce.spec import LEVELS, DecisionCheck
from orbit_registry.errors import OrbitError
from orbit_registry.formats.position import Pointer, Position
from orbit_registry.formats.yaml import position_of
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.model.record import Record
from orbit_registry.repository.inherited import source_of
from orbit_registry.workspace.files import inside, read_bytes
from orbit_registry.workspace.workspace import CONFIG, Workspace


@dataclass
class Report:
    """The findings of a run."""

    workspace: Workspace
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def add(
        self,
        check: DecisionCheck,
        code: str,
        message: str,
        location: Location | None = None,
        *,
        severity: Severity | None = None,
        hint: str | None = None,
        name: str | None = None,
        allowed: str | None = None,
    ) -> None:
        """Add a finding; a proposed record gets notes alone.

        A wrong inherited check is one that is not run.
        """
        if check.record.origin and code in ("ORB1001", "ORB1002", "ORB1004"):
            if code != "ORB1004":
                code, message, hint = (
                    "ORB1004",
                    f"{check.name} is not run: {message}",
                    "correct it where it comes from",
                )

            location = Location(CONFIG)

        if check.record.origin and code == "ORB1003":
            return  # what a source's check looks at may be in other repositories

        severity = severity or (
            Severity.ERROR if code in ("ORB1001", "ORB1002") else Severity.WARNING
        )
        severity = severity if check.record.phase == "live" else Severity.NOTE
        location = location or self.location(check.record, check.pointer)
        if source_of(location.path):
            location = Location(CONFIG)  # findings in the copies are left to their own repository

        row = Diagnostic(
            code, severity, message, location, hint, check.record.id, check=name, allowed=allowed
        )
        self.diagnostics.append(row)

    def location(self, record: Record, pointer: Pointer) -> Location:
        """Return the location of a field of a record."""
        try:
            text = read_bytes(inside(self.workspace.root, record.path), limit=FILE_LIMIT).decode(
                "utf-8", "replace"
            )
            return Location(record.path, position_of(text, pointer))
        except OrbitError:
            return Location(record.path, Position(1))

    def add_break(self, check: DecisionCheck, row: Break) -> None:
        """Add what breaks a decision, with the way to allow it or to challenge it."""
        if check.is_reference:
            self.add(check, "ORB1009", row.what)
            return

        record, location = check.record, Location(row.path) if row.path else None
        hint = check.kind.hint
        if row.match is not None:
            location = Location(row.path, Position(row.match.line, row.match.column))
            hint = f"write `orbit: allow {record.id} because …` if it is right here"
            if row.match == WHOLE_FILE:
                hint = f"add what it lacks, or {hint.replace(' if it', ' in the file if it')}"
        else:
            hint = hint or ("move or rename the file" if row.path else "add what is missing")
            if row.path and check.kind.has_exceptions and not record.origin:
                hint += ", leave it out with `except:`"

        hint += f", or {'override' if record.origin else 'supersede'} the decision"
        allowed, code = row.allow.reason if row.allow else None, "ORB1005"
        if allowed == "":
            allowed, code, hint = (
                None,
                "ORB1006",
                f"add the reason: `orbit: allow {record.id} because …`",
            )

        title = f" ({record.title})" if check.say != record.title else ""
        message = f"{row.what} breaks {record.id}{title}: {check.say}"
        severity = LEVELS[check.level]
        self.add(
            check,
            code,
            message,
            location,
            severity=severity,
            hint=hint,
            name=check.name,
            allowed=allowed,
        )
