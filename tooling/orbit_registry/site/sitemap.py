"""Site map: what each id, path and link of the repository leads to on the site."""

import os
import posixpath
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from orbit_registry.errors import UnsafePathError
from orbit_registry.formats.citations import IdForms
from orbit_registry.formats.hosting import Forge
from orbit_registry.formats.markdown import is_markdown, slug
from orbit_registry.model.record import Record
from orbit_registry.site.sanitize import unmarked
from orbit_registry.site.urls import TASKS, record_url, relative, safe_segment
from orbit_registry.snapshot.redact import is_masked
from orbit_registry.snapshot.references import by_version
from orbit_registry.workspace.files import inside

IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".svg")
ASSETS = "files/"
OVERVIEW = "documents/"
HEADING_PREFIX = "s-"
"""Precedes the id of every heading we render,
so that no text can take an id that the theme or a form uses.
"""
_NUMBERED = re.compile(r"([A-Z][A-Z0-9]*-)0*([0-9]{1,9})\Z")
_ENTRY = re.compile(r"adr-0*([0-9]{1,9})(?:-|\Z)", re.IGNORECASE)
"""The anchor of a decision in a log, as forges make it of `ADR-0108 — Title`."""
_TITLE_NUMBER = re.compile(r"^(?:[a-z]{1,8}-{0,2})?\d[\d-]{0,20}-+")
"""What an anchor has before the words of a title: `adr-0108--`, `12-`, `2026-04-01-`."""
_LONGEST_ID = 40  # characters of a commit's whole id
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


Question = Sequence[str]  # a method of the site map and what it is asked
QUESTIONS = frozenset({"by_name", "change", "cited", "titled", "entry", "target", "image"})


def anchor_of(fragment: str) -> str:
    """Return the anchor of a heading that a link names:
    forges write `user-content-x`, browsers letters as `%C3%BC`.
    """
    return unquote(fragment).removeprefix("user-content-")


@dataclass(frozen=True, slots=True)
class Destination:
    """What a link's target is: a site URL, an address elsewhere, or nothing, and then why."""

    url: str | None
    outside: bool = False
    problem: str | None = None
    broken: bool = False  # the target does not exist; otherwise it only has no place on the site

    def address(self, page: str) -> str | None:
        """Return the target as a link on a page names it."""
        return self.url if self.outside or self.url is None else relative(page, self.url)


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
    assets: set[str] = field(
        default_factory=set
    )  # repository paths of images that pages show; expand copies them
    probed: set[str] = field(
        default_factory=set
    )  # repository paths that were looked for because a link leads there
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

        return (
            f"{answer}|{self.labels[url]}|{self.preview(url)}"
            if url in self.labels
            else str(answer)
        )

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

        numbered = _NUMBERED.match(any_id)
        return self.records.get(f"{numbered[1]}{int(numbered[2]):04d}") if numbered else None

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
            destination = self.destinations[origin, href] = self._target(origin, href)
        return destination

    def _target(self, origin: str, href: str) -> Destination:
        if is_masked(unquote(href)):
            return Destination(None)
        if _SCHEME.match(href) or href.startswith("//"):
            return Destination(href, outside=True)

        parts = urlsplit(href)
        fragment = anchor_of(parts.fragment)
        if not parts.path:
            return Destination(f"#{fragment}")

        destination = Destination(
            None, problem=f"the link `{href}` leads out of the repository", broken=True
        )
        for path in self._paths(origin, unquote(parts.path)):
            destination = self._destination_of(path, fragment, href)
            if not destination.broken:
                break

        return destination

    def image(self, origin: str, href: str) -> Destination:
        """Return the URL of a picture in the file `origin`."""
        self.questions["image", origin, href] = None

        if is_masked(unquote(href)):
            return Destination(None)
        if _SCHEME.match(href) or href.startswith("//"):
            return Destination(href, outside=True)

        path = self._path(origin, unquote(urlsplit(href).path))
        if path is None or not self._is_file(path):
            return Destination(None, problem=f"the picture `{href}` does not exist", broken=True)

        if not path.lower().endswith(IMAGES) or any(
            part.startswith(".") for part in path.split("/")
        ):
            return Destination(
                None, problem=f"the picture `{href}` is of no kind that a page can show"
            )

        self.assets.add(path)
        return Destination(ASSETS + path)

    def _destination_of(self, path: str, fragment: str, href: str) -> Destination:
        if fragment and path not in self.mirrored and (titled := self.titled(path, fragment)):
            return Destination(titled)
        if fragment and (entry := self.entry(path, fragment)):
            return Destination(entry)

        for candidate in (path, f"{path}/README.md", f"{path}/index.md"):
            if candidate in self.documents:
                mark = (
                    f"#{HEADING_PREFIX}{fragment.lower()}"
                    if fragment and is_markdown(candidate)
                    else ""
                )
                return Destination(self.documents[candidate] + mark)

            if candidate in self.curated:
                return Destination(self.curated[candidate] + (f"#{fragment}" if fragment else ""))

        parts = path.split("/")
        if len(parts) >= 3 and parts[0] == ".orbit" and parts[2] in self.records:
            return Destination(self.records[parts[2]])
        if path in self.folders:
            return Destination(self.folders[path])

        full = self.root / path
        self.probed.add(path)

        if not os.path.lexists(full):
            return Destination(None, problem=f"the link `{href}` leads to nothing", broken=True)

        if not self._is_in_git(path):
            return Destination(
                None,
                problem=f"the link `{href}` leads to what git does not hold: {path}",
                broken=True,
            )

        address = self.forge.linked(path, fragment, folder=full.is_dir())
        if address is None:
            return Destination(
                None, problem=f"the link `{href}` leads to a file that is no page: {path}"
            )

        return Destination(address, outside=True)

    def _paths(self, origin: str, target: str) -> Iterator[str]:
        origins = [origin]
        # In a record people write paths from the root; text out of a design document still names
        # its neighbours there.
        if origin.startswith(".orbit/"):
            origins += ["", *([f"{self.homes[origin]}/"] if origin in self.homes else [])]

        for base in origins:
            path = self._path(base, target)
            if path is not None:
                yield path

        if (
            target.startswith("/") and self.forge.folder
        ):  # people mean the root of the repository, too
            above = "../" * self.forge.folder.rstrip("/").count("/") + ".."
            yield posixpath.normpath(f"{above}{target}")

    def _path(self, origin: str, target: str) -> str | None:
        if target.startswith("/"):
            joined = posixpath.normpath(target.lstrip("/") or ".")
        else:
            joined = posixpath.normpath(posixpath.join(posixpath.dirname(origin), target))
        return joined if self.forge.holds(joined) and "\x00" not in joined else None

    def _is_in_git(self, path: str) -> bool:
        """Say whether git holds a file or folder, or would:
        not what it ignores, nor what is in a submodule.
        """
        if self.listed is None or path == "." or path.startswith(".."):
            return True

        index = bisect_left(self.listed, path)
        if self.listed[index : index + 1] == [path]:
            return True

        below = f"{path}/"
        index = bisect_left(self.listed, below)
        return any(candidate.startswith(below) for candidate in self.listed[index : index + 1])

    def _is_file(self, path: str) -> bool:
        self.probed.add(path)
        try:
            return inside(self.root, path).is_file()
        except UnsafePathError:
            return False


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
    homes, labels = dict[str, str](), dict[str, str]()

    entries, titles = dict[tuple[str, int], str](), dict[tuple[str, str], str]()
    for record in records:
        url = url_of(record)
        labels[url] = f"{unmarked(record.title)} ({record.status.word})"

        if feature := record.text("feature"):
            homes |= {record.path: f"{design}/{feature}", record.body_path: f"{design}/{feature}"}

        by_id[record.id].add(url)

        for name in record.legacy_ids:
            by_legacy[name].add(url)
            if "/" in name:
                by_tail[name.rpartition("/")[2]].add(url)

        if (source := record.source) is not None:
            by_document[source.path].add(url)
            titles.setdefault((source.path, slug(record.title)), url)
            if numbered := _ENTRY.match(source.heading or ""):
                entries[source.path, int(numbered[1])] = url
        elif record.kind.in_document:
            by_document[record.body_path].add(url)

    folders = {
        posixpath.dirname(path): f"{OVERVIEW}#{folder_anchor(posixpath.dirname(path))}"
        for path in mirrored
    }
    tails = {name: urls for name, urls in by_tail.items() if name not in by_legacy}
    shared = frozenset(name for name, urls in tails.items() if len(urls) > 1)
    legacy = {**_unambiguous(tails), **_unambiguous(by_legacy)}

    return SiteMap(
        root,
        forge,
        forms,
        _unambiguous(by_id),
        legacy,
        {**_imported(records), **_unambiguous(by_document), **mirrored},
        mirrored,
        curated,
        shared,
        frozenset(map(len, by_tail)),
        design,
        entries,
        titles,
        labels,
        {**{task: task_url(task) for task in tasks}, **legacy},
        folders=folders,
        homes=homes,
        generated=frozenset(generated),
        listed=listed,
    )


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
