"""Knows who cites what: records, documents and files of code; how a text is searched for ids, `checks.citing` says.

What a text names is remembered by its stamp; what that means is asked of the site map anew in every build.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from orbit_registry.checks.citing import in_text
from orbit_registry.records.record import Record
from orbit_registry.site.finder import lead
from orbit_registry.site.shelf import Text
from orbit_registry.site.sitemap import SiteMap, url_of
from orbit_registry.store.cache import MISSING, FileCache, code_stamp
from orbit_registry.store.facts import citing_files, read_citing
from orbit_registry.store.files import DOCUMENT_LIMIT
from orbit_registry.store.workspace import Workspace
from orbit_registry.text.citations import IdForms
from orbit_registry.text.globs import Glob, match_any, parse_glob
from orbit_registry.text.markdown import parse_markdown

_MARKDOWN = (".md", ".markdown")
_LOCAL = re.compile(
    r"\](?:\(|:[ \t]*)<?(?![A-Za-z][A-Za-z0-9+.-]*:|#)[^\s()<>]*(?:\.md|\.markdown|\.orbit/)", re.IGNORECASE
)
"""What a link to a document or to a record's file looks like; a text without one is not parsed."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a text names: ids as written and targets of links to documents, each with its line in the file."""

    ids: tuple[tuple[str, int], ...] = ()
    links: tuple[tuple[str, int], ...] = ()
    lead: str = ""
    """The first line that says something; of records alone."""
    entry: tuple[int, int] | None = None
    """The lines of a decision's entry in its document."""

    def as_row(self) -> list[Any]:
        """Return it as values that JSON can hold."""
        return [self.ids, self.links, self.lead, self.entry]


def said_from(row: Sequence[Any]) -> Said:
    """Return what a row holds."""
    ids, links, first, entry = row
    return Said(_pairs(ids), _pairs(links), str(first), (entry[0], entry[1]) if entry else None)


def _pairs(rows: Sequence[Sequence[Any]]) -> tuple[tuple[str, int], ...]:
    return tuple((str(name), int(line)) for name, line in rows) if rows else ()


def said_in(text: str, path: str, forms: IdForms) -> Said:
    """Return what a file's text names."""
    ids = tuple((found.id, found.position.line) for found in in_text(text, path, forms, weak=True))
    if not path.lower().endswith(_MARKDOWN) or not _LOCAL.search(text):
        return Said(ids)
    links = parse_markdown(text).links
    return Said(ids, tuple((one.target, one.position.line) for one in links if one.kind != "image"))


def said_by(text: Text, forms: IdForms) -> Said:
    """Return what a record's prose names, and how it begins; lines count from where the prose starts."""
    found = said_in(text.text, text.path if text.path.lower().endswith(_MARKDOWN) else f"{text.path}.md", forms)
    return Said(found.ids, found.links, lead(text.text), text.entry)


@dataclass(frozen=True, slots=True)
class Place:
    """A file that cites, with its lines; `page` is where the site shows it, if it does."""

    path: str
    lines: tuple[int, ...]
    page: str | None


@dataclass
class Citers:
    """By the site URL of what is cited: the records and the files that cite it, each once, in order."""

    records: dict[str, list[Record]] = field(default_factory=lambda: defaultdict(list))
    places: dict[str, list[Place]] = field(default_factory=lambda: defaultdict(list))
    titles: Mapping[str, str] = field(default_factory=dict)
    """Of the documents that are pages, by path."""
    applying: Mapping[str, Sequence[Record]] = field(default_factory=dict)
    """The records in force whose scope matches a document that is a page, by path."""

    def count(self, url: str) -> int:
        """Return how many records and files cite what a page shows."""
        return len(self.records.get(url, ())) + len(self.places.get(url, ()))


def files_that_cite(workspace: Workspace, files: Iterable[str], mirrored: Iterable[str]) -> Mapping[str, Said]:
    """Return what the files that citations are looked up in name, and the documents that are pages; all by path."""
    paths = sorted({*citing_files(workspace, files), *mirrored})
    forms = workspace.kinds.id_forms
    stamp = hashlib.sha256(f"{code_stamp()} {forms}".encode()).hexdigest()
    cache = FileCache(workspace.root, workspace.relative(workspace.cache), "site-citing", stamp)
    found: dict[str, Said] = {}
    for path in paths:
        state = cache.state(path, DOCUMENT_LIMIT)
        row = cache.value(state)
        if row is MISSING or not isinstance(row, list):
            text = read_citing(workspace, path)
            said = said_in(text, path, forms) if text is not None else Said()
            row = [list(map(list, said.ids)), list(map(list, said.links)), "", None]
            cache.keep(state, row, plain=True)
        found[path] = said_from(row)
    cache.save()
    return found


def citers_of(
    records: Sequence[Record],
    said: Callable[[Record], Said],
    files: Mapping[str, Said],
    site: SiteMap,
    titles: Mapping[str, str],
) -> Citers:
    """Return who cites each record and each mirrored document; nobody cites itself.

    What stands in a decision's entry of a document is said by the decision, not by the document too.
    """
    found = Citers(titles=titles, applying=applying_to(records, list(site.mirrored)))
    entries: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for record in records:
        names = said(record)
        if names.entry and record.source:
            entries[record.source.path].append(names.entry)
        if not names.ids and not names.links:
            continue
        origin = record.source.path if names.entry and record.source else _home(record)
        for url in dict.fromkeys(url for url, _ in _named(names, origin, site)):
            if url != url_of(record):
                found.records[url].append(record)
    for path, names in files.items():
        lines: dict[str, dict[int, None]] = defaultdict(dict)
        page = site.mirrored.get(path) or site.curated.get(path)
        for url, line in _named(names, path, site):
            if url != page and not any(first <= line <= last for first, last in entries.get(path, ())):
                lines[url][line] = None
        for url, held in lines.items():
            found.places[url].append(Place(path, tuple(held), page))
    return found


def applying_to(records: Iterable[Record], paths: Sequence[str]) -> Mapping[str, Sequence[Record]]:
    """Return the records in force whose scope matches each file; a glob that can match none of them is not read."""
    tops = tuple({path.partition("/")[0] for path in paths})
    near = (record for record in records if any(_may_match(glob, tops) for glob in record.globs))
    held = [record for record in near if record.phase == "live"]
    parsed = [(record, [glob for glob in map(parse_glob, record.globs) if isinstance(glob, Glob)]) for record in held]
    return {path: found for path in paths if (found := [one for one, globs in parsed if match_any(globs, path)])}


def _may_match(glob: str, tops: tuple[str, ...]) -> bool:
    return glob.startswith(tops) or glob[:1] in "*?[{" or "/" not in glob


def _home(record: Record) -> str:
    return record.body_path if record.kind.in_document else record.path


def _named(names: Said, origin: str, site: SiteMap) -> Iterator[tuple[str, int]]:
    """Yield the pages that a text of the file `origin` names, with the line."""
    for name, line in names.ids:
        url = site.cited(name, origin)
        if url is not None:
            yield url, line
    for target, line in names.links:
        meaning = site.target(origin, target)
        if meaning.url is not None and not meaning.outside:
            yield meaning.url.partition("#")[0], line
