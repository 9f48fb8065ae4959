"""Knows who cites what: records, documents and files of code; what each of them names, `snapshot.edges` reads.

What that means is asked of the site map anew in every build.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from orbit_registry.records.record import Record
from orbit_registry.site.finder import lead
from orbit_registry.site.shelf import Text
from orbit_registry.site.sitemap import SiteMap, url_of
from orbit_registry.snapshot.edges import Said, said_in
from orbit_registry.text import is_markdown
from orbit_registry.text.citations import IdForms
from orbit_registry.text.globs import Glob, match_any, parse_glob


def said_by(text: Text, forms: IdForms, file: Said | None = None) -> Said:
    """Return what a record's prose names, and how it begins; lines count from where the prose starts.

    `file` is what the whole file names that the prose stands in, if that was read as it is shown.
    """
    if file is None:
        found = said_in(text.text, text.path if is_markdown(text.path) else f"{text.path}.md", forms)
    else:
        first, last = text.first_line, text.first_line + text.text.count("\n")
        ids, links = (
            tuple((name, line - first + 1) for name, line in held if first <= line <= last)
            for held in (file.ids, file.links)
        )
        found = Said(ids, links)
    return Said(found.ids, found.links, lead(text.text), text.entry)


def said_beside(file: Said | None, entry: tuple[int, int] | None) -> list[tuple[str, int]]:
    """Return what a document names outside the lines of a decision's `entry`."""
    if file is None:
        return []
    first, last = entry or (0, 0)
    return [(name, line) for name, line in (*file.ids, *file.links) if not first <= line <= last]


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
    shown: Sequence[Record] = ()
    pages: Sequence[str] = ()
    """The documents that are pages."""

    @cached_property
    def applying(self) -> Mapping[str, Sequence[Record]]:
        """The records in force whose scope matches a document that is a page, by path."""
        return applying_to(self.shown, self.pages)

    def count(self, url: str) -> int:
        """Return how many records and files cite what a page shows."""
        return len(self.records.get(url, ())) + len(self.places.get(url, ()))


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
    found = Citers(titles=titles, shown=records, pages=list(site.mirrored))
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
    scopes = [(record, [glob for glob in map(parse_glob, record.globs) if isinstance(glob, Glob)]) for record in held]
    return {path: found for path in paths if (found := [one for one, globs in scopes if match_any(globs, path)])}


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
