"""Site map: what each id, path and link of the repository leads to on the site."""

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from orbit_registry.formats.citations import IdForms, find_citations
from orbit_registry.formats.hosting import Forge
from orbit_registry.formats.markdown import slug
from orbit_registry.model.ids import as_written_here
from orbit_registry.model.record import Record
from orbit_registry.site.destinations import Destination, image_of, target_of
from orbit_registry.site.language import status_word
from orbit_registry.site.sanitize import unmarked
from orbit_registry.site.urls import TASKS, record_url, safe_segment
from orbit_registry.snapshot.references import by_version

OVERVIEW = "documents/"
_ENTRY = re.compile(r"adr-0*([0-9]{1,9})(?:-|\Z)", re.IGNORECASE)
"""The anchor of a decision in a log, as forges make it of `ADR-0108 — Title`."""
_TITLE_NUMBER = re.compile(r"^(?:[a-z]{1,8}-{0,2})?\d[\d-]{0,20}-+")
"""What an anchor has before the words of a title: `adr-0108--`, `12-`, `2026-04-01-`."""
_LONGEST_ID = 40  # characters of a commit's whole id


Question = Sequence[str]  # a method of the site map and what it is asked
QUESTIONS = frozenset({"by_name", "change", "cited", "titled", "entry", "target", "image"})


@dataclass
class SiteMap:
    """The shown records and documents of one build, and where they are on the site."""

    root: Path
    forge: Forge
    forms: IdForms  # the ids that texts can cite
    records: Mapping[str, str]  # record id → site URL; an id that two records share is absent
    legacy: Mapping[str, str]  # legacy id, or its last part where that is unambiguous → site URL
    documents: Mapping[
        str, str
    ]  # repository path of a document → site URL of the page that shows its text
    mirrored: Mapping[str, str] = field(default_factory=dict)
    """Those of `documents` that are pages of their own, not part of a record's page."""
    curated: Mapping[str, str] = field(default_factory=dict)
    """Repository path of a page that the generator renders itself → its site URL."""
    shared: frozenset[str] = frozenset()
    """Last parts of legacy ids that several records have: alone they mean none of them."""
    local: frozenset[int] = frozenset()
    """How long the last parts of legacy ids are:
    in a feature's documents such an id is that feature's own.
    """
    design: str = "docs/design"
    entries: Mapping[tuple[str, int], str] = field(default_factory=dict)
    """Path of a log of decisions and a number in it → site URL of that record."""
    titles: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Path of a document and the anchor of a decision's title in it → site URL of that record."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Site URL of a record → its title and status, as a link to it says them."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Names in no form of an id, of tasks and of earlier tools → site URL."""
    preview: Callable[[str], str] = field(default=lambda _: "")
    """What tells the preview of the record at a site URL from its earlier ones;
    set when pages are made.
    """
    folders: Mapping[str, str] = field(default_factory=dict)
    """Repository path of a folder with mirrored documents → where the overview lists them."""
    homes: Mapping[str, str] = field(default_factory=dict)
    """A record's file, or its `body.md` → the folder of its feature's design documents."""
    generated: frozenset[str] = frozenset()
    """Paths, as if they stood among the repository's own pages,
    of the pages that we write the source of.
    """
    listed: Sequence[str] | None = (
        None  # the files that git tracks or would add, sorted; None if unknown
    )
    assets: set[str] = field(default_factory=set)
    """Repository paths of images that pages show, which are copied."""
    probed: set[str] = field(default_factory=set)
    """Repository paths that were looked for because a link leads there."""
    commit_of: Callable[[str], str | None] = field(default=lambda _: None)
    """Gives the commit that a part of its id means, if the repository has it."""
    changes: dict[str, str | None] = field(default_factory=dict)
    """Addresses of commits, by the parts of ids that mean them."""
    destinations: dict[tuple[str, str], Destination] = field(default_factory=dict)
    """Destinations of links, by their file and target."""
    questions: dict[tuple[str, ...], None] = field(default_factory=dict)
    """Questions since the last clear: what a page depends on, apart from its own text."""

    def answer(self, question: Question) -> str:
        """Return a text that changes when the answer does,
        or how a link to the page that it names looks.
        """
        name, *words = question
        answer: str | Destination | None = (
            getattr(self, name)(*words) if name in QUESTIONS else None
        )
        url = (answer.url if isinstance(answer, Destination) else answer) or ""

        if url in self.labels:
            return f"{answer}|{self.labels[url]}|{self.preview(url)}"

        return str(answer)

    def by_name(self, name: str) -> str | None:
        """Return the page of a task or of an earlier tool's record by a name in no form of
        an id.
        """
        self.questions["by_name", name] = None
        return self.names.get(name)

    def cited(self, any_id: str, origin: str) -> str | None:
        """Return the page of the one record that an id means in the document `origin`."""
        self.questions["cited", any_id, origin] = None

        if any_id in self.records:
            return self.records[any_id]

        home = self.homes.get(origin) or posixpath.dirname(origin)
        for folder in reversed(home.split("/")):
            if f"{folder}/{any_id}" in self.legacy:
                return self.legacy[f"{folder}/{any_id}"]

        if any_id in self.shared or (
            len(any_id) in self.local and home.startswith(f"{self.design}/")
        ):
            return None

        if any_id in self.legacy:
            return self.legacy[any_id]

        return self.records.get(as_written_here(any_id))

    def named(self, name: str, origin: str) -> str | None:
        """Return the one page that a name means as `[[name]]` does: an id in any form, the name of
        a task, or a document's file wherever it is.
        """
        ids = [each.id for each in find_citations(name, self.forms) if each.span.of(name) == name]
        for each in (*ids, name):
            if page := self.cited(each, origin):
                return page

        return self.by_name(name) or self._files.get(name.lower().removesuffix(".md"))

    @cached_property
    def _files(self) -> Mapping[str, str]:
        """The pages of documents by the ends of their paths, without the ending of the name."""
        urls: dict[str, set[str]] = defaultdict(set)
        for path, url in {**self.documents, **self.curated}.items():
            folders = posixpath.splitext(path.lower())[0].split("/")
            for number in range(len(folders)):
                urls["/".join(folders[number:])].add(url)

        return _unambiguous(urls)

    def change(self, name: str) -> str | None:
        """Return where the commit can be read that an id of it means; of a part of an id only if
        the repository has that commit.
        """
        self.questions["change", name] = None
        if len(name) == _LONGEST_ID:
            return self.forge.change(name)

        if name not in self.changes:
            commit = self.commit_of(name)
            self.changes[name] = self.forge.change(commit) if commit else None

        return self.changes[name]

    def titled(self, path: str, fragment: str) -> str | None:
        """Return the page of the decision whose title an anchor in a document means;
        pages show titles of their own.
        """
        self.questions["titled", path, fragment] = None
        lowered = fragment.lower()
        for anchor in (lowered, _TITLE_NUMBER.sub("", lowered)):
            if anchor and (path, anchor) in self.titles:
                return self.titles[path, anchor]

        return self.entry(path, fragment)

    def entry(self, path: str, anchor: str) -> str | None:
        """Return the page of the record at an anchor of a log, as forges make it of a heading."""
        numbered = _ENTRY.match(anchor)
        if numbered is None:
            return None
        self.questions["entry", path, anchor] = None
        return self.entries.get((path, int(numbered[1])))

    def target(self, origin: str, href: str) -> Destination:
        """Return what a link written in the repository's file `origin` leads to."""
        self.questions["target", origin, href] = None
        destination = self.destinations.get((origin, href))
        if destination is None:
            destination = self.destinations[origin, href] = target_of(self, origin, href)
        return destination

    def image(self, origin: str, href: str) -> Destination:
        """Return the URL of a picture in the file `origin`."""
        self.questions["image", origin, href] = None
        return image_of(self, origin, href)


def folder_anchor(folder: str) -> str:
    """Return the anchor of a folder in the overview of documents."""
    return "in-" + re.sub(r"[^A-Za-z0-9_-]", "-", folder)


def site_map(
    root: Path,
    forge: Forge,
    forms: IdForms,
    records: Sequence[Record],
    mirrored: Mapping[str, str],
    curated: Mapping[str, str],
    generated: Iterable[str],
    design: str,
    tasks: Iterable[str],
    listed: Sequence[str] | None,
) -> SiteMap:
    """Return the map of a build: the records that are shown, the pages of documents by their path,
    tasks by name.
    """
    by_id: dict[str, set[str]] = defaultdict(set)
    by_legacy: dict[str, set[str]] = defaultdict(set)
    by_tail: dict[str, set[str]] = defaultdict(set)
    by_document: dict[str, set[str]] = defaultdict(set)
    for record in records:
        url = url_of(record)
        by_id[record.id].add(url)
        for name in record.legacy_ids:
            by_legacy[name].add(url)
            if "/" in name:
                by_tail[name.rpartition("/")[2]].add(url)

        source = record.source
        if source is not None:
            by_document[source.path].add(url)
        elif record.kind.in_document:
            by_document[record.body_path].add(url)

    folders = {
        posixpath.dirname(path): f"{OVERVIEW}#{folder_anchor(posixpath.dirname(path))}"
        for path in mirrored
    }
    tails = {name: urls for name, urls in by_tail.items() if name not in by_legacy}
    shared = frozenset(name for name, urls in tails.items() if len(urls) > 1)
    legacy = {**_unambiguous(tails), **_unambiguous(by_legacy)}
    documents = {**_imported(records), **_unambiguous(by_document), **mirrored}
    names = {task: task_url(task) for task in tasks} | legacy

    entries, titles = _headings(records)
    return SiteMap(
        root,
        forge,
        forms,
        _unambiguous(by_id),
        legacy,
        documents,
        mirrored,
        curated,
        shared,
        frozenset(map(len, by_tail)),
        design,
        entries,
        titles,
        _labels(records),
        names,
        folders=folders,
        homes=_homes(records, design),
        generated=frozenset(generated),
        listed=listed,
    )


def _labels(records: Iterable[Record]) -> dict[str, str]:
    return {
        url_of(record): f"{unmarked(record.title)} ({status_word(record.status)})"
        for record in records
    }


def _homes(records: Iterable[Record], design: str) -> dict[str, str]:
    homes: dict[str, str] = {}
    for record in records:
        feature = record.text("feature")
        if feature:
            homes[record.path] = homes[record.body_path] = f"{design}/{feature}"

    return homes


def _headings(
    records: Iterable[Record],
) -> tuple[dict[tuple[str, int], str], dict[tuple[str, str], str]]:
    """Return where the entries of logs lead, by number, and the titles of decisions."""
    entries: dict[tuple[str, int], str] = {}
    titles: dict[tuple[str, str], str] = {}
    for record in records:
        source, url = record.source, url_of(record)
        if source is None:
            continue

        titles.setdefault((source.path, slug(record.title)), url)
        if numbered := _ENTRY.match(source.heading or ""):
            entries[source.path, int(numbered[1])] = url

    return entries, titles


def _unambiguous(urls_by_name: Mapping[str, set[str]]) -> dict[str, str]:
    return {name: next(iter(urls)) for name, urls in urls_by_name.items() if len(urls) == 1}


def _imported(records: Sequence[Record]) -> dict[str, str]:
    """Return by the path of each file that was taken over the page of its record,
    of several as other links mean it.
    """
    by_file: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        if record.kind.in_file and (file := record.text("path")):
            by_file[file].append(record)
    return {file: url_of(by_version(copies, ())[0]) for file, copies in by_file.items()}


def task_url(task: str) -> str:
    """Return the site URL of a task in the list of those that records name."""
    return f"{TASKS}#task-{safe_segment(task)}"


def url_of(record: Record) -> str:
    """Return the site URL of a record's page."""
    return record.page or record_url(record.kind.plural, record.id)
