"""Trial of checks over the whole tree or over the history: those of a record, or of a file that is not part of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from orbit_registry.enforce.evidence import write_replay
from orbit_registry.enforce.kind import Finder, InvalidCheckError, Match, NotRunError, Survey, Tree
from orbit_registry.enforce.replay import MOST_COMMITS, Replay, era_of, replay
from orbit_registry.enforce.run import enforce
from orbit_registry.enforce.spec import KINDS_PAGE, DecisionCheck, checks_of
from orbit_registry.errors import InvalidRecordError, RecordNotFoundError, UsageError
from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.yaml import load
from orbit_registry.model.diagnostic import Diagnostic
from orbit_registry.model.record import Record
from orbit_registry.workspace.files import inside, read_text
from orbit_registry.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Trial:
    """The checks that were tried, and what they found."""

    names: Sequence[str]
    diagnostics: Sequence[Diagnostic]


def try_checks(workspace: Workspace, record: Record, name: str = "") -> Trial:
    """Run the checks of a live or proposed record, or one by its id."""
    tracked, untracked = workspace.git.files()
    full_name = f"{record.id}/{name}" if name else ""
    names = [check.name for check in checks_of(record) if full_name in ("", check.name)]
    if not names:
        hint = f"write it under `checks:`; {KINDS_PAGE}"
        raise RecordNotFoundError(f"{record.id} has no check{f' `{name}`' if name else ''}", hint=hint)
    if record.phase == "closed":
        message = f"{record.id} is {record.status.name}, so its checks never run"
        raise UsageError(message, hint="`orbit enforce try --file` tries them from a YAML file")
    rows = enforce(workspace, [record], tracked, untracked, proposed=True, name=full_name)
    return Trial(names, sorted((row for row in rows if row.code != "ORB1007"), key=lambda row: row.sort_key))


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
        raise InvalidRecordError(
            f"{path}: {problem.message}",
            hint=problem.hint or KINDS_PAGE,
        )
    return Record(kind, data, path)


def replay_check(workspace: Workspace, check: DecisionCheck, most: int = MOST_COMMITS, since: str = "") -> Replay:
    """Replay a check and write the result into the evidence; labels of matches that are still there stay."""
    try:
        finder = check.finder()
    except (InvalidCheckError, NotRunError) as error:
        raise UsageError(f"{check.name} can't be replayed: {error}", hint=f"`orbit enforce try {check.name}`") from None
    if isinstance(finder, Survey) and check.kind is not None and check.kind.name == "path":
        finder = _by_file(finder)
    if not isinstance(finder, Finder) or check.must != "not":
        hint = "raise the level in the record, in a change that people review"
        raise UsageError(
            f"{check.name} can't be replayed: it does not look for what a file alone must not have", hint=hint
        )
    start = since or era_of(check)
    if since and not _is_date(since):
        raise UsageError(f"`{since[:40]}` is not a date", hint="write it as 2025-01-31")
    if workspace.git.is_shallow:
        raise UsageError("the clone is shallow, so its history says too little", hint="`git fetch --unshallow`")
    result = replay(workspace.git, check, finder, most, start)
    if not result.commits:
        raise UsageError(
            f"no commit to replay {check.name} over{f' since {start}' if start else ''}",
            hint="name an earlier day: `--since`",
        )
    rows = enforce(workspace, [check.record], *workspace.git.files(), name=check.name)
    allowed = sum(bool(row.allowed) for row in rows)
    data = {**result.as_data(), **({"allowed": allowed} if allowed else {})}
    write_replay(workspace, check.name, data, {entry.key for entry in result.introductions})
    return result


def _by_file(survey: Survey) -> Finder:
    """Return what finds the names of files one by one, as a replay asks; a moved file keeps its last name."""

    def find(path: str, text: str) -> Iterator[Match]:
        if any(True for _ in survey.find(Tree([path], lambda _: None), [path])):
            yield Match(1, 1, 1, path, path.rpartition("/")[2])

    return Finder(find)


def _is_date(text: str) -> bool:
    try:
        return f"{date.fromisoformat(text)}" == text < "2100"  # git reads no later year
    except ValueError:
        return False
