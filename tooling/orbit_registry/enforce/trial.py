"""Trial of checks over the whole tree: those of a record, or of a file that is not part of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from orbit_registry.enforce.run import enforce
from orbit_registry.enforce.spec import KINDS_PAGE, checks_named
from orbit_registry.errors import InvalidRecordError, UsageError
from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.yaml import load
from orbit_registry.model.diagnostic import Diagnostic
from orbit_registry.model.record import Record
from orbit_registry.workspace.files import inside, read_text
from orbit_registry.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class CheckTrial:
    """The checks that were tried, and what they found."""

    names: Sequence[str]
    diagnostics: Sequence[Diagnostic]


def try_checks(workspace: Workspace, record: Record, name: str = "") -> CheckTrial:
    """Run the checks of a live or proposed record, or one by its id."""
    checks = checks_named(record, name)
    if record.phase == "closed":
        message = f"{record.id} is {record.status.name}, so its checks never run"
        raise UsageError(message, hint="`orbit enforce try --file` tries them from a YAML file")
    full_name = f"{record.id}/{name}" if name else ""
    rows = enforce(workspace, [record], *workspace.git.files(), proposed=True, name=full_name)
    findings = sorted((row for row in rows if row.code != "ORB1007"), key=lambda row: row.sort_key)
    return CheckTrial([check.name for check in checks], findings)


def record_of_file(workspace: Workspace, path: str) -> Record:
    """Return a decision, which is nowhere, with the checks of a YAML file."""
    try:
        value: Any = load(read_text(inside(workspace.root, path)))
    except YamlProblemError as error:
        hint = f"correct the YAML; {KINDS_PAGE}"
        raise InvalidRecordError(f"{path}: {error.problem.message}", hint=hint) from None
    kind = next(kind for kind in workspace.kinds if kind.in_document)
    status = next(name for name, status in kind.statuses.items() if status.phase == "live")
    moment = "2000-01-01T00:00:00Z"
    data = {"schema_version": 1, "id": f"{kind.prefix}0000", "uid": "0" * 32, "title": path, "status": status,
            "created_at": moment, "updated_at": moment, **(value if isinstance(value, dict) else {})}  # fmt: skip
    for problem in kind.schema.problems(data):
        raise InvalidRecordError(f"{path}: {problem.message}", hint=problem.hint or KINDS_PAGE)
    return Record(kind, data, path)
