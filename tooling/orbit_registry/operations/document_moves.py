"""Renamed documents and decision folders: records and configuration follow them."""

import contextlib
import json
import os
import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import PurePosixPath

from orbit_registry.errors import OrbitError, UsageError
from orbit_registry.formats.adr.file_names import (
    GENERIC_NAMES,
    home_folder,
    is_archive_folder,
    is_decision_folder,
    is_foreign_folder,
)
from orbit_registry.formats.links import is_markdown
from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.yaml import load
from orbit_registry.formats.yaml_edit import rewrite
from orbit_registry.model.record import Record
from orbit_registry.operations.document_facts import Candidate, is_of_feature
from orbit_registry.operations.import_report import (
    Outcome,
    PathMoves,
    TakeoverReport,
    reason_of_error,
)
from orbit_registry.operations.lifecycle import entry_in
from orbit_registry.repository.guard import write_step
from orbit_registry.repository.reader import read_collection
from orbit_registry.repository.writer import prepare_edit, writing
from orbit_registry.workspace.files import DOCUMENT_LIMIT, inside, read_text
from orbit_registry.workspace.journal import FileChange
from orbit_registry.workspace.workspace import ORBIT, Workspace


@dataclass(frozen=True, slots=True)
class _Move:
    old: str
    new: str

    def of(self, path: str) -> str:
        """Return what a path is called now; the same where it was not moved."""
        if path == self.old:
            return self.new
        if path.startswith(f"{self.old}/"):
            return f"{self.new}{path[len(self.old) :]}"

        return path


def follow_moves(
    workspace: Workspace, moves: PathMoves, *, dry_run: bool = False
) -> TakeoverReport:
    """Correct `source.path` of each decision whose document moved, and `adr` in the configuration,
    as one step.
    """
    with nullcontext() if dry_run else writing(workspace):
        records = [
            record for record in read_collection(workspace).records if record.source is not None
        ]
        checked = [_checked(workspace, records, old, new) for old, new in moves]
        outcomes: list[Outcome] = []
        changes = [*_record_changes(workspace, checked, records, outcomes)]
        changes += _config_changes(workspace, checked, outcomes)

        if changes and not dry_run:
            write_step(workspace, "adr-moved", changes)

    listed = ", ".join(f"{move.old} → {move.new}" for move in checked)
    return TakeoverReport("moved", listed, dry_run, tuple(outcomes))


def _checked(workspace: Workspace, records: Sequence[Record], old: str, new: str) -> _Move:
    move = _Move(*(path.removeprefix("./").rstrip("/") for path in (old, new)))
    inside(workspace.root, move.new)

    if not (workspace.root / move.new).exists():
        raise UsageError(
            f"{move.new} is not there",
            hint="name the new path of the file or folder, from the root",
        )

    sources = (record.source.path for record in records if record.source is not None)
    if not any(move.of(path) != path for path in sources) or move.old == move.new:
        raise UsageError(
            f"no decision has its text in {move.old}",
            hint="`orbit check` names the documents that are not there",
        )

    return move


def _record_changes(
    workspace: Workspace, moves: Sequence[_Move], sourced: Sequence[Record], outcomes: list[Outcome]
) -> Iterator[FileChange]:
    records = [candidate for candidate in sourced if candidate.kind.in_document]
    for record in records:
        old = record.source.path if record.source else ""
        new = next((moved for move in moves if (moved := move.of(old)) != old), old)
        if new == old:
            continue

        reason = _reason_to_leave(workspace, record, old, new, records)
        if reason:
            outcomes.append(Outcome("left", old, record.id, reason))
            continue

        def corrected(data: dict[str, object], new: str = new) -> Mapping[str, object]:
            source = data.get("source")
            if isinstance(source, dict):
                return {**data, "source": {**source, "path": new}}

            return data

        change, _ = prepare_edit(workspace, record, corrected)
        outcomes.append(Outcome("changed", old, record.id, f"its text is in {new}"))
        yield change


def _reason_to_leave(
    workspace: Workspace, record: Record, old: str, new: str, records: Sequence[Record]
) -> str:
    if _reason_not_in(workspace, record, old) is None:
        return f"{old} still has it; remove it there first, or leave it"

    reason = _reason_not_in(workspace, record, new)
    if reason:
        return reason

    text = (new, record.source.heading if record.source else None)
    there = (
        other
        for other in records
        if other.source and (other.source.path, other.source.heading) == text
    )
    same = next(there, None)
    if same:
        return f"{new} is the document of {same.id} already; give each decision its own"

    return ""


def _reason_not_in(workspace: Workspace, record: Record, path: str) -> str | None:
    try:
        text = read_text(inside(workspace.root, path), limit=DOCUMENT_LIMIT)
    except OrbitError as error:
        return f"{path}: {reason_of_error(error, path, f'{workspace.root}/')}"
    if entry_in(path, text, record) is not None:
        return None
    heading = record.source.heading if record.source and record.source.heading else "decision"
    return f"{path} holds no {heading}; correct its heading, or `source.heading` of {record.id}"


def _config_changes(
    workspace: Workspace, moves: Sequence[_Move], outcomes: list[Outcome]
) -> Iterator[FileChange]:
    path = f"{ORBIT}/config.yaml"
    text = read_text(workspace.root / path)
    data = load(text)
    adr = data.get("adr") if isinstance(data, dict) else None

    if not isinstance(data, dict) or not isinstance(adr, dict):
        return

    def now(value: object) -> object:
        if isinstance(value, list):
            return list(dict.fromkeys(str(now(entry)) for entry in value))
        return next((moved for move in moves if (moved := move.of(str(value))) != value), value)

    after = {
        key: now(value) if key in ("folder", "folders", "log") else value
        for key, value in adr.items()
    }
    if after != adr:
        changed = "; ".join(
            f"adr.{key} is {value}" for key, value in after.items() if value != adr[key]
        )
        outcomes.append(Outcome("changed", path, None, changed))
        yield FileChange(path, text, rewrite(text, {**data, "adr": after}))


_ONE_IN = (
    4  # a folder in which not even one document in four is a decision is no place for decisions
)
_MANY = 5  # folders side by side that are named one by one; of more, the folder above them is


def config_changes(
    workspace: Workspace, adopted: Sequence[Candidate], outcomes: list[Outcome]
) -> Iterator[FileChange]:
    """Yield the change of the configuration that names new folders of decision files,
    or the main log.
    """
    config = workspace.config
    folders_before = (config.adr.folder, *config.adr.folders)
    missing: list[str] = []
    for folder in _folders([candidate.path for candidate in adopted if not candidate.in_log]):
        covered = any(
            folder == other or folder.startswith(f"{other}/")
            for other in (*folders_before, *missing)
        )
        if not covered and _is_decision_folder(workspace, folder, adopted):
            missing.append(folder)

    log = _main_log(config.design, adopted)
    if not missing and not log:
        return

    path = f"{ORBIT}/config.yaml"
    try:
        text = read_text(workspace.root / path)
        data = load(text)
        if not isinstance(data, dict):
            return

        adr = data.get("adr")
        section = dict(adr) if isinstance(adr, dict) else {}
        is_free = (
            not section.keys() & {"folder", "log"}
            and not (workspace.root / config.adr.folder).exists()
        )
        log = log if is_free and "style" not in section else None
        home = _home(missing, adopted) if is_free and not log else None
        if missing:
            folders = [*config.adr.folders, *(folder for folder in missing if folder != home)]
        else:
            folders = []

        values = {"folder": home, "folders": folders, "log": log}
        settings = {key: value for key, value in values.items() if value}
        if not settings:
            return

        after = rewrite(text, {**data, "adr": {**section, **settings}})
    except (OrbitError, YamlProblemError) as error:
        names = [f"{folder} in adr.folders" for folder in missing]
        if log:
            names.append(f"{log} in adr.log")

        outcomes.append(Outcome("left", path, None, f"name {', '.join(names)} by hand: {error}"))
        return

    changes: list[str] = []
    if log:
        entries = "new decisions become entries of it; `orbit init` lets git merge them"
        changes.append(f"adr.log is {json.dumps(log)}: {entries}")

    if home:
        way = "new decisions go to the folder of the others"
        changes.append(f"adr.folder is {json.dumps(home)}: {way}")

    if folders:
        changes.append(f"adr.folders names {json.dumps(folders)}")

    outcomes.append(Outcome("changed", path, None, "; ".join(changes)))
    yield FileChange(path, text, after)


def _main_log(design: str, adopted: Sequence[Candidate]) -> str | None:
    counts = Counter(
        candidate.path
        for candidate in adopted
        if candidate.in_log and not is_of_feature(candidate.path, design)
    )
    best, count = counts.most_common(1)[0] if counts else ("", 0)
    if 2 * count > len(adopted) and best.endswith(".md") and "\\" not in best:
        return best

    return None


def _is_decision_folder(workspace: Workspace, folder: str, adopted: Sequence[Candidate]) -> bool:
    if any(map(is_decision_folder, folder.split("/"))):
        return True
    with contextlib.suppress(OSError):
        documents = sum(is_markdown(name) for name in os.listdir(workspace.root / folder))
        return _ONE_IN * sum(_is_in(candidate.path, folder) for candidate in adopted) >= documents
    return True


def _folders(paths: Iterable[str]) -> list[str]:
    units = (
        posixpath.dirname(path) if PurePosixPath(path).stem.lower() in GENERIC_NAMES else path
        for path in paths
    )
    folders = {home_folder(posixpath.dirname(unit)) for unit in units}
    siblings = Counter(map(posixpath.dirname, folders))
    many = {above for above, count in siblings.items() if above and count > _MANY}

    return sorted(
        {
            above if (above := posixpath.dirname(folder)) in many else folder or "."
            for folder in folders
        }
    )


def _is_in(path: str, folder: str) -> bool:
    if folder == ".":
        return "/" not in path

    return path.startswith(f"{folder}/")


def _home(folders: Sequence[str], adopted: Sequence[Candidate]) -> str | None:
    current = [
        folder
        for folder in folders
        if not is_foreign_folder(folder) and not any(map(is_archive_folder, folder.split("/")))
    ]
    counts: Counter[str] = Counter()
    for folder in current:
        counts[folder] = sum(_is_in(candidate.path, folder) for candidate in adopted)

    best, count = counts.most_common(1)[0] if counts else ("", 0)
    if count * 2 > len(adopted):
        return best

    return None
