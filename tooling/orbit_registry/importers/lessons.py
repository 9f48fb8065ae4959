"""Import of the stores of lessons that other tools keep: `.claude/learnings/*.yaml` and
`.reasonix/lessons/*.md`. Each becomes a learning; the store stays as it was.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from orbit_registry.errors import InvalidRecordError, OrbitError, UsageError, plural
from orbit_registry.formats import yaml
from orbit_registry.formats.adr.front_matter import read_front_matter
from orbit_registry.formats.adr.vocabulary import read_date
from orbit_registry.formats.globs import Glob, parse_glob
from orbit_registry.formats.markdown import is_markdown, parse_markdown
from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.secrets import find_secrets
from orbit_registry.formats.sentences import paragraphs, sentences
from orbit_registry.model.ids import code_id
from orbit_registry.model.record_set import RecordSet
from orbit_registry.operations.adoption import importer
from orbit_registry.operations.document_facts import cut_line, stable_uid, words
from orbit_registry.operations.import_report import Outcome, TakeoverReport, reason_of_error
from orbit_registry.repository.guard import refuse_for_agent, write_step
from orbit_registry.repository.reader import read_collection
from orbit_registry.repository.writer import new_data, record_path, render, validated, writing
from orbit_registry.workspace.author import acting_role
from orbit_registry.workspace.files import DOCUMENT_LIMIT, inside, read_text
from orbit_registry.workspace.journal import FileChange
from orbit_registry.workspace.workspace import Workspace, find_workspace

STORES: Mapping[str, tuple[str, ...]] = {
    ".claude/learnings": (".yaml", ".yml"),
    ".reasonix/lessons": (".md", ".markdown"),
}
"""The folder of each store, and the suffixes of its files."""
_LISTS = frozenset({"index", "readme", "_index", "memory"})
"""Files of a store that list the others."""
_SUMMARY = 280
_BODY = ("content", "solution", "resolution", "fix", "prevention", "context", "description")
_SUMMARIES = ("title", "summary", "name", "solution", "content", "description", "error_pattern")


@dataclass(frozen=True, slots=True)
class LessonImporter:
    """Importer of lessons that another tool wrote."""

    name: str = "lessons"

    def detects(self, path: Path) -> bool:
        """Say whether the path is a store of lessons, or a file of one."""
        return _store_of(path) is not None

    def run(self, path: Path, start: Path, *, assume: str | None, dry_run: bool) -> TakeoverReport:
        """Make a learning of each lesson at the path that has none."""
        if assume is not None:
            raise UsageError(
                "--assume is for decision documents", hint="leave it out: lessons have no status"
            )

        workspace = find_workspace(path if path.is_dir() else path.parent)
        within = path.resolve().relative_to(workspace.root.resolve()).as_posix()
        files = [within] if path.is_file() else _files(workspace, within)

        if dry_run:
            outcomes, _ = _plan(workspace, files, read_collection(workspace).records)
        else:
            outcomes = _take(workspace, files)

        inputs = [outcome for outcome in outcomes if outcome.reason == _UNVERIFIED]
        notes = []
        if inputs:
            listed = plural(len(inputs), "lesson names files", "lessons name files")
            notes.append(f"{listed} that they rest on: `orbit verify ID` notes their state")

        return TakeoverReport("lessons", within, dry_run, tuple(outcomes), tuple(notes))


IMPORTERS = (LessonImporter(),)
_UNVERIFIED = "what it was learned from is not verified yet"


def _store_of(path: Path) -> str | None:
    folder = path.parent if path.is_file() else path
    return next((store for store in STORES if folder.as_posix().endswith(f"/{store}")), None)


def _files(workspace: Workspace, within: str) -> list[str]:
    """Return the lessons of the store at a path, or of all stores below it."""
    store = _store_of(workspace.root / within)
    base = "" if within == "." else f"{within}/"
    folders = [within] if store is not None else [f"{base}{name}" for name in STORES]
    return [*chain.from_iterable(_files_of(workspace, folder) for folder in folders)]


def _files_of(workspace: Workspace, folder: str) -> Iterator[str]:
    path = workspace.root / folder
    store = _store_of(path) if path.is_dir() else None
    for file in sorted(path.iterdir()) if store is not None else ():
        if file.suffix.lower() in STORES[store or ""] and file.stem.lower() not in _LISTS:
            yield f"{folder}/{file.name}"


def _take(workspace: Workspace, files: list[str]) -> list[Outcome]:
    with writing(workspace):
        outcomes, changes = _plan(workspace, files, read_collection(workspace).records)
        if acting_role() == "agent":
            refuse_for_agent(workspace, changes)

        if changes:
            write_step(workspace, "import", changes, taken_over=True)

    return outcomes


def _plan(
    workspace: Workspace, files: list[str], records: RecordSet
) -> tuple[list[Outcome], list[FileChange]]:
    kind = workspace.kinds["learning"]
    author = importer(workspace)
    here = {str(record.data.get("uid")): record.id for record in records}
    used = {record.id for record in records}
    outcomes: list[Outcome] = []
    changes: list[FileChange] = []

    for path in files:
        uid = stable_uid("lesson", path)
        if uid in here:
            outcomes.append(Outcome("present", path, here[uid], ""))
            continue

        length = 5  # of a code that is the same in every import
        while (record_id := code_id(kind.prefix, uid, length)) in used:
            length += 1

        used.add(record_id)
        try:
            fields = _fields(workspace, path)
            data = {**new_data(kind, record_id, uid, author, fields), "status": "active"}
            target = record_path(workspace, kind, record_id)
            text = render(workspace, kind, data, target)
            validated(text, kind, target)
        except InvalidRecordError as error:
            reason = f"its record would be invalid: {error.message}"
            outcomes.append(Outcome("left", path, None, reason))
            continue
        except OrbitError as error:
            reason = reason_of_error(error, path, f"{workspace.root}/")
            outcomes.append(Outcome("left", path, None, reason))
            continue

        secret = next(iter(find_secrets(text)), None)
        if secret is not None:
            reason = "it holds a secret; take it out, revoke it, then import again"
            outcomes.append(Outcome("left", path, None, reason))
            continue

        outcomes.append(Outcome("taken", path, record_id, ""))
        if fields.get("freshness"):
            outcomes.append(Outcome("changed", path, record_id, _UNVERIFIED))

        changes.append(FileChange(target, None, text))

    return outcomes, changes


def _fields(workspace: Workspace, path: str) -> dict[str, object]:
    """Return what a lesson states, as the fields of a learning."""
    text = read_text(inside(workspace.root, path), limit=DOCUMENT_LIMIT)
    if is_markdown(path):
        data, body = _of_markdown(text)
    else:
        data, body = _of_yaml(text), ""

    stem = posixpath.splitext(posixpath.basename(path))[0]
    summary = next(filter(None, (_first(data.get(name)) for name in _SUMMARIES)), stem)
    if is_markdown(path):  # its name is that of the file
        summary = _first(data.get("description")) or summary

    parts = [str(data[name]).strip() for name in _BODY if data.get(name)]
    parts = [part for part in parts if part != summary]
    names = [str(data[name]) for name in ("id", "name") if data.get(name)]
    tags = _list(data.get("tags"))
    paths = [*_list(data.get("paths")), *_list(data.get("files"))]
    inputs = _list(data.get("fingerprint"))
    task = data.get("work_item_id") or data.get("task")
    scope = {
        "paths": [glob for glob in paths if isinstance(parse_glob(glob), Glob)],
        "tags": words(tags),
        "agents": words(_list(data.get("applicable_agents"))),
    }

    former = ("-".join(name.split())[:300] for name in (*names, stem))
    fields: dict[str, object] = {
        "summary": cut_line(summary, _SUMMARY),
        "body": body or "\n\n".join(dict.fromkeys(parts)),
        "category": cut_line(str(data.get("category") or ""), 100),
        "procedural": True if is_markdown(path) else None,
    }
    fields["error_pattern"] = str(data.get("error_pattern") or "").strip()
    fields["scope"] = {axis: entries for axis, entries in scope.items() if entries}
    fields["legacy_ids"] = list(dict.fromkeys(former))
    fields["created_at"] = _moment(data.get("created_at") or data.get("captured-at"))
    if task:
        fields["evidence"] = [{"kind": "task", "reference": cut_line(str(task), 200)}]

    if inputs:
        fields["freshness"] = {"fingerprint": [{"input": each} for each in inputs]}

    return fields


def _of_yaml(text: str) -> Mapping[str, object]:
    try:
        data = yaml.load(text)
    except YamlProblemError as error:
        raise UsageError(error.problem.message, hint="correct it, then import again") from None

    if not isinstance(data, dict):
        raise UsageError("it is no mapping of fields", hint="correct it, then import again")

    inner = data.get("learning") or data.get("lesson")
    return inner if isinstance(inner, dict) else data


def _of_markdown(text: str) -> tuple[Mapping[str, object], str]:
    document = parse_markdown(text)
    body = text[document.content_start :].strip()
    if document.front_matter is None:
        return {"description": _first(body)}, body

    fields = read_front_matter(text, document.front_matter).fields
    data = {field.key: [*field.values] if field.is_list else field.value for field in fields}
    return data, body


def _first(value: object) -> str:
    """Return the first sentence of a text, without Markdown."""
    if not isinstance(value, str):
        return ""

    paragraph = next(iter(paragraphs(value)), value)
    first = next(iter(sentences(paragraph)), paragraph)
    return " ".join(first.split())


def _list(value: object) -> list[str]:
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]

    return [str(item) for item in value if item] if isinstance(value, list) else []


def _moment(value: object) -> str | None:
    """Return a moment as records state it; a time without a zone is of the tool's machine."""
    text = str(value or "")
    day = read_date(text)
    if day is None or len(day) != len("2026-04-01"):
        return None

    clock = re.search(r"[T ](\d\d:\d\d:\d\d)", text)
    return f"{day}T{clock[1] if clock else '00:00:00'}Z"
