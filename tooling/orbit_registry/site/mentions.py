"""Citations between records, documents and code, and the tasks that records name."""

import re
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePosixPath
from urllib.parse import quote

from orbit_registry.formats.citations import IdForms
from orbit_registry.formats.globs import match_any, readable_globs
from orbit_registry.formats.links import is_markdown
from orbit_registry.model.record import Record
from orbit_registry.site.documents import ProseLoader, RecordText
from orbit_registry.site.filling import html_part
from orbit_registry.site.language import status_word, word
from orbit_registry.site.prose import parsed
from orbit_registry.site.sitemap import SiteMap, task_url, url_of
from orbit_registry.site.urls import TASKS
from orbit_registry.snapshot.references import References, references_in_text


def references_by(text: RecordText, forms: IdForms, sentence: str) -> References:
    """Return what a record's prose names, with its sentence; lines count from the start of
    `text.document`.
    """
    references = _references_in(text.document or text.text, text.path, forms)
    if text.document:
        lines = range(text.first_line, text.first_line + text.text.count("\n") + 1)
        ids = tuple(name for name in references.ids if name[1] in lines)
        links = tuple(name for name in references.links if name[1] in lines)
        references = References(ids, links)

    return References(references.ids, references.links, sentence, text.entry)


@lru_cache(maxsize=8)  # records of one log follow each other
def _references_in(text: str, path: str, forms: IdForms) -> References:
    name = path if is_markdown(path) else f"{path}.md"
    return references_in_text(text, name, forms, parsed(text).structure)


_NAME = re.compile(r"\w[\w.-]*\w")
_LISTS = frozenset({"readme", "index", "_index", "summary"})
"""Names of files that list all decisions, and so say nothing of one."""


@dataclass(frozen=True, slots=True)
class CitingFile:
    """A file that cites, with its lines; `page` is where the site shows it, if it does."""

    path: str
    lines: tuple[int, ...]
    page: str | None


@dataclass
class Citers:
    """By the site URL of what is cited: the records and the files that cite it,
    each once, in order.
    """

    records: dict[str, list[Record]] = field(default_factory=lambda: defaultdict(list))
    files: dict[str, list[CitingFile]] = field(default_factory=lambda: defaultdict(list))
    titles: Mapping[str, str] = field(
        default_factory=dict
    )  # of the documents that are pages, by path
    applying: Mapping[str, Sequence[Record]] = field(default_factory=dict)
    """The live records whose scope matches a document that is a page, by path."""

    def count(self, url: str) -> int:
        """Return how many records and files cite what a page shows."""
        return len(self.records.get(url, ())) + len(self.files.get(url, ()))


def citers_of(
    records: Sequence[Record],
    references_of: Callable[[Record], References],
    files: Mapping[str, References],
    site: SiteMap,
    titles: Mapping[str, str],
) -> Citers:
    """Return who cites each record and each mirrored document, without citations of itself.

    A citation in a decision's entry of a document counts for the decision, not for the document. A
    README or an index cites nothing: it lists what there is.
    """
    citers = Citers(titles=titles, applying=_applying_to(records, site.mirrored))
    entries: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for record in records:
        names = references_of(record)
        if names.entry and record.source:
            entries[record.source.path].append(names.entry)
        if not names.ids and not names.links:
            continue

        home = record.body_path if record.kind.in_document else record.path
        origin = record.source.path if names.entry and record.source else home
        for url in dict.fromkeys(url for url, _ in _named(names, origin, site)):
            if url != url_of(record):
                citers.records[url].append(record)

    for path, names in files.items():
        if PurePosixPath(path).stem.lower() in _LISTS:
            continue

        lines: dict[str, dict[int, None]] = defaultdict(dict)
        page = site.mirrored.get(path) or site.curated.get(path)
        for url, line in _named(names, path, site):
            if url != page and not any(
                first <= line <= last for first, last in entries.get(path, ())
            ):
                lines[url][line] = None

        for url, numbers in lines.items():
            citers.files[url].append(CitingFile(path, tuple(numbers), page))

    return citers


def names_another(records: Sequence[Record], loader: ProseLoader) -> bool:
    """Say whether the text of a record has the id or the file of another one."""
    owners: dict[str, str] = {}
    for record in records:
        owners[record.id] = record.path
        if record.source is not None and record.source.heading is None:
            owners[PurePosixPath(record.source.path).name] = record.path

    for record in records:
        words = set(_NAME.findall(loader.text(record).text))
        if any(owners.get(name, record.path) != record.path for name in words):
            return True

    return False


def _applying_to(records: Iterable[Record], paths: Iterable[str]) -> Mapping[str, Sequence[Record]]:
    live = [record for record in records if record.phase == "live"]
    scopes = [(record, readable_globs(record.globs)) for record in live]
    applying = {}
    for path in paths:
        matches = [record for record, globs in scopes if match_any(globs, path)]
        if matches:
            applying[path] = matches

    return applying


def _named(names: References, origin: str, site: SiteMap) -> Iterator[tuple[str, int]]:
    for name, line in names.ids:
        url = site.cited(name, origin)
        if url is not None:
            yield url, line
    for target, line in names.links:
        destination = site.target(origin, target)
        if destination.url is not None and not destination.outside:
            yield destination.url.partition("#")[0], line


_NUMBERS = re.compile(r"([0-9]+)")
_NAMING = frozenset({"tasks", "scope", "evidence"})


@dataclass(frozen=True, slots=True)
class TaskLookup:
    """Configured ways to look up a task; `{id}` is replaced by the task in each."""

    url: str
    files: tuple[str, ...]
    command: tuple[str, ...]
    leaves_out: Callable[[str], bool]  # says of which files not even the name may be read

    def address(self, task: str) -> str | None:
        """Return where a browser finds a task."""
        if self.url:
            return self.url.replace("{id}", quote(task, safe=""))

        return None

    def file(self, task: str, site: SiteMap) -> tuple[str, str | None] | None:
        """Return the file of the repository that holds a task, with its address or site URL."""
        for pattern in self.files:
            path = pattern.replace("{id}", task)
            if self.leaves_out(path):
                continue
            destination = site.target("", f"/{path}")
            if not destination.broken:
                return path, destination.address(TASKS)

        return None


@dataclass(frozen=True, slots=True)
class Tasks:
    """The tasks in their natural order, each with the records that name it and what for;
    and where tasks are.
    """

    by_name: Mapping[str, Sequence[tuple[Record, str]]]
    lookup: TaskLookup


def tasks_of(records: Iterable[Record], lookup: TaskLookup) -> Tasks:
    """Return the tasks that records name."""
    by_task: dict[str, dict[str, tuple[Record, str]]] = {}
    ways = ("", word("task.only"), word("task.evidence"))
    for record in records:
        if _NAMING.isdisjoint(record.data):
            continue

        scope = record.data.get("scope")
        scoped = record.scope.tasks if isinstance(scope, dict) and "tasks" in scope else ()
        evidence = (
            [text for kind, text in record.evidence if kind == "task"]
            if "evidence" in record.data
            else ()
        )
        for way, tasks in zip(ways, (record.words("tasks"), scoped, evidence), strict=True):
            for task in tasks:
                by_task.setdefault(task, {}).setdefault(record.path, (record, way))

    return Tasks(
        {task: list(by_task[task].values()) for task in sorted(by_task, key=_natural)}, lookup
    )


def _natural(task: str) -> tuple[list[tuple[int, str]], str]:
    parts = _NUMBERS.split(task.lower())
    return [
        (int(part) if at % 2 else 0, "" if at % 2 else part) for at, part in enumerate(parts)
    ], task


def tasks_html(tasks: Tasks, site: SiteMap) -> str:
    """Return the list of tasks: the ways to look one up, then a row each."""
    lookup = tasks.lookup
    rows = []
    for task, citing in tasks.by_name.items():
        notes = [(record, _note(record, way)) for record, way in citing]
        anchor = task_url(task).partition("#")[2]
        rows.append((task, anchor, lookup.address(task), lookup.file(task, site), notes))

    parts = ("{id}" if part == "{id}" else shlex.quote(part) for part in lookup.command)
    values = {"lookup": lookup, "command": " ".join(parts), "page": TASKS}
    return html_part("tasks.html", tasks=rows, **values)


def _note(record: Record, way: str) -> str:
    status = "" if record.phase == "live" else status_word(record.status)
    return ", ".join(filter(None, [way, status]))
