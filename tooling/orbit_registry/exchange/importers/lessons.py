"""Import of the lessons that other tools keep: the stores `.claude/learnings/*.yaml` and
`.reasonix/lessons/*.md`, and files such as `tasks/lessons.md` that list several. Each lesson
becomes a learning; the files stay as they were.
"""

import posixpath
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from textwrap import dedent

from orbit_registry.errors import InvalidRecordError, OrbitError, UsageError, plural
from orbit_registry.formats import yaml
from orbit_registry.formats.adr.front_matter import Data, read_front_matter, read_toml
from orbit_registry.formats.adr.headings import toml_span
from orbit_registry.formats.adr.log import dated_headings, log_headings, numbered_lessons
from orbit_registry.formats.adr.vocabulary import read_date
from orbit_registry.formats.common_markdown import outside_fences
from orbit_registry.formats.globs import Glob, parse_glob
from orbit_registry.formats.links import is_markdown
from orbit_registry.formats.markdown import Document, parse_markdown
from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.secrets import find_secrets
from orbit_registry.formats.sentences import paragraphs, sentences
from orbit_registry.model.ids import code_id
from orbit_registry.model.record_set import RecordSet
from orbit_registry.operations.adoption import importer
from orbit_registry.operations.adr_style import slug
from orbit_registry.operations.document_facts import cut_line, stable_uid, words
from orbit_registry.operations.import_notes import OF_LESSONS, STORES
from orbit_registry.operations.import_report import Outcome, TakeoverReport, reason_of_error
from orbit_registry.repository.guard import refuse_for_agent, write_step
from orbit_registry.repository.reader import read_collection
from orbit_registry.repository.writer import new_data, record_path, render, validated, writing
from orbit_registry.workspace.author import Author, acting_role
from orbit_registry.workspace.files import DOCUMENT_LIMIT, inside, read_text, walk
from orbit_registry.workspace.journal import FileChange
from orbit_registry.workspace.workspace import Workspace, find_workspace

_LISTS = frozenset({"index", "readme", "_index", "memory"})
"""Files of a store that list the others."""
_SUMMARY = 280
_BODY = ("content", "solution", "resolution", "fix", "prevention", "context", "description")
_TITLES = ("title", "summary", "heading")
_WORDS = ("prevention", "lesson", "learning", "what", "error_pattern", "name")
_SUMMARIES = (*_TITLES, "solution", "content", "description", "resolution", "fix", *_WORDS)
_PATTERNS = ("error_pattern", "pattern", "error", "symptom")
_PATHS = ("paths", "files", "globs", "applies_to")
_MOMENTS = ("created_at", "captured_at", "created", "date", "timestamp")
_WRAPPERS = ("learnings", "lessons", "entries", "items", "learning", "lesson")
"""Keys that hold the lesson, or several."""
_NESTED = (dict, list)
_OTHERS = ("id", "name", "category", "tags", "applicable_agents", "fingerprint", "task")
_NOT_IN_BODY = frozenset((*_BODY, *_TITLES, *_PATTERNS, *_PATHS, *_MOMENTS, *_OTHERS))
_WORKED_OUT = ("hash", "sha", "sha1", "sha256", "digest", "checksum", "algorithm", "version")
_FEWEST = 2
"""Lessons of a file that lists several."""
_ITEM = re.compile(r"(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_HASH = re.compile(r"(?:\w{2,8}[:-])?[0-9a-fA-F]{6,64}")
"""A fingerprint that is no file: what the tool worked out from some."""


@dataclass(frozen=True, slots=True)
class _Lesson:
    """One lesson of a file."""

    path: str
    name: str
    """What tells it from the others of its file; empty for the only one."""
    data: Mapping[str, object]
    body: str

    @property
    def uid(self) -> str:
        return stable_uid("lesson", self.path + self.name)

    @property
    def label(self) -> str:
        if self.name:
            return f"{self.path} · {self.name}"

        return self.path


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
    return next((store for store in STORES if f"/{store}/" in f"{folder.as_posix()}/"), None)


def _files(workspace: Workspace, within: str) -> list[str]:
    """Return the lessons of the store at a path, or of all stores below it; of a folder without
    one, the files whose names say that they list lessons.
    """
    store = _store_of(workspace.root / within)
    base = "" if within == "." else f"{within}/"
    folders = [within] if store is not None else [f"{base}{name}" for name in STORES]
    files = [*chain.from_iterable(_files_of(workspace, folder) for folder in folders)]
    if files or within == ".":
        return files

    return [name for name in walk(workspace.root, within) if OF_LESSONS.match(name)]


def _files_of(workspace: Workspace, folder: str) -> Iterator[str]:
    path = workspace.root / folder
    store = _store_of(path) if path.is_dir() else None
    for name in walk(workspace.root, folder) if store is not None else ():
        stem, suffix = posixpath.splitext(posixpath.basename(name))
        if suffix.lower() in STORES[store or ""] and stem.lower() not in _LISTS:
            yield name


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
    here = {str(record.data.get("uid")): record.id for record in records}
    used = {record.id for record in records}
    author = importer(workspace)
    outcomes: list[Outcome] = []
    changes: list[FileChange] = []

    for path in files:
        whole = here.get(stable_uid("lesson", path))  # of a file that was read as one lesson
        if whole is not None:
            outcomes.append(Outcome("present", path, whole, ""))
            continue

        try:
            lessons = _lessons_in(workspace, path)
        except OrbitError as error:
            reason = reason_of_error(error, path, f"{workspace.root}/")
            outcomes.append(Outcome("left", path, None, reason))
            continue

        for lesson in lessons:
            if lesson.uid in here:
                outcomes.append(Outcome("present", lesson.label, here[lesson.uid], ""))
                continue

            try:
                fields = _fields(lesson)
                record_id, change = _change(workspace, lesson, fields, author, used)
            except OrbitError as error:
                reason = reason_of_error(error, path, f"{workspace.root}/")
                if isinstance(error, InvalidRecordError):
                    reason = f"its record would be invalid: {error.message}"

                outcomes.append(Outcome("left", lesson.label, None, reason))
                continue

            used.add(record_id)
            changes.append(change)
            outcomes.append(Outcome("taken", lesson.label, record_id, ""))
            if fields.get("freshness"):
                outcomes.append(Outcome("changed", lesson.label, record_id, _UNVERIFIED))

    return outcomes, changes


def _change(
    workspace: Workspace,
    lesson: _Lesson,
    fields: Mapping[str, object],
    author: Author,
    used: Collection[str],
) -> tuple[str, FileChange]:
    """Return the id of a lesson's learning, and the file to write."""
    kind = workspace.kinds["learning"]
    length = 5  # of a code that is the same in every import
    while (record_id := code_id(kind.prefix, lesson.uid, length)) in used:
        length += 1

    data = {**new_data(kind, record_id, lesson.uid, author, fields), "status": "active"}
    target = record_path(workspace, kind, record_id)
    text = render(workspace, kind, data, target)
    validated(text, kind, target)

    if next(iter(find_secrets(text)), None) is not None:
        hint = "take it out, revoke it, then import again"
        raise UsageError("it holds a secret", hint=hint)

    return record_id, FileChange(target, None, text)


def _lessons_in(workspace: Workspace, path: str) -> list[_Lesson]:
    """Return the lessons of a file: the only one, or each of a list."""
    text = read_text(inside(workspace.root, path), limit=DOCUMENT_LIMIT)
    if is_markdown(path):
        listed = [*_listed(path, text)] if _store_of(workspace.root / path) is None else []
        data, body = _of_markdown(text)
        if len(listed) >= _FEWEST:
            return listed

        return [_Lesson(path, "", data, body)]

    items = _of_yaml(text)
    names = [f"#{number}" for number in range(1, len(items) + 1)] if len(items) > 1 else [""]
    return [_Lesson(path, name, data, "") for name, data in zip(names, items, strict=True)]


def _listed(path: str, text: str) -> Iterator[_Lesson]:
    """Yield the lessons of a file that lists several: one below each heading with a day, a code
    or a number, else one in each item of a list.
    """
    document = parse_markdown(text)
    entries = dated_headings(document) or log_headings(document, in_log=True)
    entries = entries or numbered_lessons(document)
    names: Counter[str] = Counter()
    sections = (
        ({"heading": parts.title, "date": parts.date}, heading.body.of(text).strip())
        for heading, parts in entries
    )
    for data, body in sections if entries else _items(document):
        name = slug(str(data["heading"])) if entries else slug(body)
        names[name] += 1
        again = f"-{names[name]}" if names[name] > 1 else ""
        yield _Lesson(path, f"#{name}{again}", data, body)


def _items(document: Document) -> Iterator[tuple[Mapping[str, object], str]]:
    """Yield the items of a text that is a list, each with the heading above it as its category;
    none of a text that says most in other words.
    """
    items: list[tuple[str, list[str]]] = []
    category = ""
    others = 0
    lines = document.text[document.content_start :].splitlines()
    prose = {number for number, _ in outside_fences(lines)}
    for number, line in enumerate(lines):
        mark = _ITEM.match(line) if number in prose else None
        if number in prose and line.startswith("#"):
            category = "" if line.startswith("# ") else line.strip("# ")
        elif mark is not None and line[mark.end() :].strip():
            items.append((category, [line[mark.end() :]]))
        elif items and line[:1] in (" ", "\t"):
            items[-1][1].append(line)
        else:
            others += len(line)

    listed = sum(len("".join(parts)) for _, parts in items)
    if len(items) < _FEWEST or others * 2 > listed:
        return

    for category, parts in items:
        yield {"category": category}, dedent("\n".join(parts)).strip()


def _fields(lesson: _Lesson) -> dict[str, object]:
    """Return what a lesson states, as the fields of a learning."""
    data = lesson.data
    stem = posixpath.splitext(posixpath.basename(lesson.path))[0]
    titles = [_first(_text(data.get(name))) for name in _SUMMARIES]
    if is_markdown(lesson.path):  # its name is that of the file
        titles.insert(0, _first(_text(data.get("description"))))

    body = lesson.body or "\n\n".join(dict.fromkeys(_parts(data)))
    summary = next(filter(None, (*titles, _first(body))), "")
    if not summary:
        raise UsageError("it says nothing", hint="write what was learned, then import again")

    names = [str(data[name]) for name in ("id", "name") if data.get(name)]
    former = ("-".join(name.split())[:300] for name in (*names, f"{stem}{lesson.name}"))
    fields: dict[str, object] = {
        "summary": cut_line(summary, _SUMMARY),
        "body": "" if body == summary else body,
        "category": cut_line(", ".join(_list(data.get("category"))), 100),
        "procedural": True if is_markdown(lesson.path) and not lesson.name else None,
    }
    pattern = next((data[name] for name in _PATTERNS if data.get(name)), None)
    fields["error_pattern"] = next(iter(_lines(pattern)), "").strip()
    fields["scope"] = _scope(data)
    fields["legacy_ids"] = list(dict.fromkeys(former))
    moments = (_moment(data.get(name)) for name in _MOMENTS)
    fields["created_at"] = next(filter(None, moments), None)
    task = data.get("work_item_id") or data.get("task")
    if task:
        fields["evidence"] = [{"kind": "task", "reference": cut_line(str(task), 200)}]

    inputs = [each for each in _list(data.get("fingerprint")) if not _HASH.fullmatch(each)]
    if inputs:
        fields["freshness"] = {"fingerprint": [{"input": each} for each in inputs]}

    return fields


def _scope(data: Mapping[str, object]) -> dict[str, list[str]]:
    paths = [*chain.from_iterable(_list(data.get(name)) for name in _PATHS)]
    scope = {
        "paths": [glob for glob in paths if isinstance(parse_glob(glob), Glob)],
        "tags": words(_list(data.get("tags"))),
        "agents": words(_list(data.get("applicable_agents"))),
    }
    return {axis: entries for axis, entries in scope.items() if entries}


def _parts(data: Mapping[str, object]) -> Iterator[str]:
    """Yield what a lesson says, in the order of a learning; then what else it has as sentences,
    which would be lost.
    """
    yield from filter(None, (_text(data.get(name)) for name in _BODY))

    for name, value in data.items():
        text = _text(value)
        if name in _PATTERNS and len(_lines(value)) > 1:  # the field has one
            yield text

        if name not in _NOT_IN_BODY and (" " in text or "\n" in text):
            yield f"{name.replace('_', ' ').capitalize()}: {text}"


def _text(value: object) -> str:
    if isinstance(value, list):
        return "\n".join(f"- {line}" for line in _lines(value))

    if isinstance(value, str):
        return value.strip()

    return ""


def _lines(value: object) -> list[str]:
    if isinstance(value, list):
        return [str(item).strip() for item in value if item]

    if value:
        return [str(value)]

    return []


def _of_yaml(text: str) -> list[Mapping[str, object]]:
    try:
        data = yaml.load(text)
    except YamlProblemError as error:
        raise UsageError(error.problem.message, hint="correct it, then import again") from None

    if isinstance(data, dict):
        inner = next(
            (data[name] for name in _WRAPPERS if isinstance(data.get(name), _NESTED)), data
        )
        data = inner if isinstance(inner, list) else [inner]

    if not isinstance(data, list) or not data or not all(isinstance(each, dict) for each in data):
        raise UsageError("it is no mapping of fields", hint="correct it, then import again")

    return [dict(zip(map(_key, each), each.values(), strict=True)) for each in data]


def _key(name: object) -> str:
    return re.sub(r"[- ]", "_", str(name).lower())


def _of_markdown(text: str) -> tuple[Mapping[str, object], str]:
    document = parse_markdown(text)
    body = text[document.content_start :].strip()
    title = document.headings[0].text if document.headings else ""
    fenced = document.front_matter
    fields = read_front_matter(text, fenced).fields if fenced is not None else ()
    toml = toml_span(document)
    if toml is not None:
        fields = read_toml(text, toml).fields

    data: dict[str, object] = {"heading": title}
    for field in fields:
        is_text = isinstance(field.data, str)
        data[_key(field.key)] = field.value if is_text else [*_texts(field.data)]

    return data, body


def _texts(data: Data) -> Iterator[str]:
    """Yield the texts of a value, but for what a tool worked out from them."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, list):
        yield from chain.from_iterable(map(_texts, data))
    else:
        values = (value for name, value in data.items() if _key(name) not in _WORKED_OUT)
        yield from chain.from_iterable(map(_texts, values))


def _first(text: str) -> str:
    """Return the first sentence of a text, without Markdown."""
    paragraph = next(iter(paragraphs(text)), text)
    first = next(iter(sentences(paragraph)), paragraph)
    return " ".join(first.split())


def _list(value: object) -> list[str]:
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]

    if isinstance(value, list):
        return [str(item) for item in value if item]

    return []


def _moment(value: object) -> str | None:
    """Return a moment as records state it; a time without a zone is of the tool's machine."""
    text = str(value or "")
    day = read_date(text)
    if day is None or len(day) != len("2026-04-01"):
        return None

    clock = re.search(r"[T ](\d\d:\d\d:\d\d)", text)
    return f"{day}T{clock[1] if clock else '00:00:00'}Z"
