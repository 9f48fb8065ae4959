"""Documents of the repository: mirrored pages, pages that show a record,
and the prose of records.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache, partial
from html import escape
from pathlib import Path

from markupsafe import Markup

from orbit_registry.errors import UnsafePathError
from orbit_registry.formats.globs import match_any, readable_globs
from orbit_registry.formats.links import is_markdown
from orbit_registry.formats.markdown import Heading as TextHeading
from orbit_registry.formats.markdown import parse_markdown
from orbit_registry.formats.position import text_lines
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.model.record import Record
from orbit_registry.repository.documents import (
    Document,
    Documents,
    load_document,
    prose_in,
    with_prose,
)
from orbit_registry.repository.votes import NAME as VOTES
from orbit_registry.site.code import emoji
from orbit_registry.site.filling import macros
from orbit_registry.site.language import word
from orbit_registry.site.markdown_words import escaped, inline, link
from orbit_registry.site.memo import key_of
from orbit_registry.site.prose import Prose, TextOrigin, TextPart, parsed, part_of, render
from orbit_registry.site.sanitize import clean
from orbit_registry.site.sitemap import OVERVIEW, SiteMap, folder_anchor
from orbit_registry.site.urls import document_url, relative
from orbit_registry.site.words import tags_of, without_restated
from orbit_registry.snapshot.publication import Publication
from orbit_registry.workspace.cache import FileValue
from orbit_registry.workspace.files import (
    SKIPPED_FOLDERS,
    document_text,
    inside,
    walk,
)
from orbit_registry.workspace.git_log import dates_of
from orbit_registry.workspace.workspace import Workspace

UNREADABLE = "SITE392"
LEADS_OUT = "put the files themselves inside the repository"
_BUILT = frozenset({"build", "dist"})
UNSEARCHED = SKIPPED_FOLDERS | _BUILT  # names of folders in which no document is searched
_WILD = re.compile(r"[*?\[{]")


@dataclass(frozen=True, slots=True)
class MirroredDocument:
    """A document of the repository that is mirrored, and its page."""

    path: str
    url: str
    stamp: str  # time, size and inode of the file

    @property
    def staged(self) -> str:
        """The file in the source tree that becomes its page."""
        name = self.path.rpartition("/")[2].lower()
        stem = self.url.removesuffix(".html").rstrip("/")
        if name.startswith(("index.", "readme.")):
            return f"{self.url}index.md"

        return f"{stem}.md"


def mirrored_documents(
    workspace: Workspace, docs: str | None, reserved: Sequence[str], directories: bool = True
) -> tuple[list[Path], list[MirroredDocument], list[Diagnostic]]:
    """Return the folders searched, in them the design documents and what `site.mirror` names, and
    what was skipped.

    `reserved` are the URLs that generated pages have; a document with one of these gets a page
    below `documents/`.
    """
    config = workspace.config
    globs = [f"{config.design}/**", *config.site.get("mirror", ())]
    chosen = readable_globs(globs)
    documents = []
    used = set(reserved)

    folders, skipped = _folders(workspace.root, globs)
    files: dict[str, Path] = {}
    for top in folders:
        files.update(_walk(workspace.root, top))

    for path, file in sorted(files.items()):
        if match_any(chosen, path) is None:
            continue

        url = document_url(path, docs, directories)
        if url in used or not url:
            url = document_url(f"documents/{path}", None, directories)

        used.add(url)
        info = file.stat()
        documents.append(
            MirroredDocument(path, url, f"{info.st_mtime_ns}-{info.st_size}-{info.st_ino}")
        )

    return folders, documents, skipped


def _folders(root: Path, globs: Sequence[str]) -> tuple[list[Path], list[Diagnostic]]:
    """Return the folders that globs begin with, so that only they are searched;
    one that leads out is a finding.
    """
    tops = {
        _WILD.split(glob, maxsplit=1)[0].rpartition("/")[0]
        for glob in globs
        if not glob.startswith("!")
    }

    folders, skipped = [], []
    for top in sorted(tops):
        try:
            folders.append(inside(root, top) if top else root)
        except UnsafePathError as error:
            message = f"no document of {top} is shown: {error.message}"
            skipped.append(
                Diagnostic(UNREADABLE, Severity.WARNING, message, Location(top), LEADS_OUT)
            )

    return folders, skipped


def _walk(root: Path, top: Path) -> Iterator[tuple[str, Path]]:
    for path in walk(root, top, without=_BUILT, hidden=False):
        file = root / path
        if is_markdown(path) and not file.is_symlink():
            yield path, file


def title_of(headings: Iterable[TextHeading], path: str) -> str:
    """Return a document's title: its first heading of the first level,
    else its file's name in words.
    """
    for heading in headings:
        if heading.level == 1 and heading.text.strip():
            return emoji(heading.text.strip())

    stem = path.rpartition("/")[2].rpartition(".")[0]
    words = stem.lstrip("0123456789").strip("_-. ").replace("_", " ").replace("-", " ")
    return (words or stem).capitalize()


def document_prose(document: MirroredDocument, part: TextPart, site: SiteMap) -> Prose:
    """Return the text of a document as HTML, which has not passed the sanitiser yet."""
    return render(part, TextOrigin(document.path, 1, document.url), site)


def document_html(document: MirroredDocument, prose: Prose, title: str, site: SiteMap) -> str:
    """Return a document as safe HTML: where it is listed, its text, and where it comes from."""
    folder = document.path.rpartition("/")[0]
    has_title = any(entry.level == 1 for entry in prose.headings)
    filled = macros("around.html").document(
        path=document.path,
        edit=site.forge.edit(document.path),
        folder=folder,
        shelf=f"{relative(document.url, OVERVIEW)}#{folder_anchor(folder)}",
        title="" if has_title else title,
        text=Markup(prose.html),
    )
    return clean(str(filled))


def document_markdown(
    document: MirroredDocument, prose: Prose, words: str, title: str, site: SiteMap
) -> str:
    """Return a document as Markdown, of which `words` is the text, and where it comes from."""
    edit = site.forge.edit(document.path)
    source = inline(word("document.mirrored", path=document.path))
    if edit:
        source = f"{source} {link(word('document.edit'), edit)}"

    has_title = any(entry.level == 1 for entry in prose.headings)
    heading = "" if has_title else f"# {escaped(title)}"
    return "\n\n".join(filter(None, [heading, words, source]))


def slot(name: str) -> str:
    """Return the marker that expand replaces."""
    return f'<div data-orbit-slot="{name}"></div>'


def adjacent_documents(
    documents: Sequence[MirroredDocument], titles: Mapping[str, str]
) -> dict[str, tuple[str, str]]:
    """Return by URL the paths of the documents before and after each in their list, "" for none."""
    listed = [document for document in documents if document.path in titles]
    paths = ["", *(document.path for document in listed), ""]
    return {document.url: (paths[at], paths[at + 2]) for at, document in enumerate(listed)}


def with_front_matter(front: Mapping[str, object], body: str) -> str:
    """Return a page's source: front matter (as JSON, which is YAML) and body."""
    lines = [f"{name}: {json.dumps(value, ensure_ascii=True)}" for name, value in front.items()]
    return "\n".join(["---", *lines, "---", "", body, ""])


HEAD, FOOT = "record-head", "record-foot"
BODY = '<div class="orbit-own"></div>'  # marks the place of the prose in a record's article
_HEAD = re.compile(rf'<div data-orbit-slot="{HEAD}" hidden>[^<]*</div>')
_FOOT = f'<div data-orbit-slot="{FOOT}"></div>'
_HEADING = re.compile(r"<h1\b.*?</h1>", re.DOTALL)
_LAST_HEADING = re.compile(r"<h1\b(?:(?!<h1\b).)*?</h1>\s*\Z", re.DOTALL)


def with_user_pages(
    records: Sequence[Record], files: Iterable[str], docs: str, directories: bool
) -> list[Record]:
    """Return the records, those whose document alone makes one of the own pages with its URL.

    `files` are the own files, from the folder `docs`; `directories` says whether a page is a
    folder.
    """
    user_files = set(files)
    claims = Counter(record.source.path for record in records if record.source is not None)

    def page(record: Record) -> str | None:
        source = record.source
        if source is None or source.format == "log" or not is_markdown(source.path):
            return None

        if set(source.path) & set(
            "#?%"
        ):  # a site URL is not an address: it can't tell these from their meaning there
            return None

        is_own_page = (
            source.path.startswith(f"{docs}/")
            and source.path.removeprefix(f"{docs}/") in user_files
        )
        if is_own_page and claims[source.path] == 1:
            return document_url(source.path, docs, directories)

        return None

    return [
        replace(record, page=url) if (url := page(record)) is not None else record
        for record in records
    ]


def with_first_commits(records: Sequence[Record], workspace: Workspace) -> list[Record]:
    """Return the records, decisions without a date with the day of the first commit of their
    document.
    """
    documents = {
        record.path: record.source.path
        for record in records
        if record.kind.in_document
        and record.source
        and record.source.format != "log"
        and not record.text("date")
    }
    paths = sorted(set(documents.values()))

    def days() -> dict[str, str]:
        times = dates_of(workspace.git, paths)
        return {
            path: f"{datetime.fromtimestamp(first, UTC):%Y-%m-%d}"
            for path, (first, _) in times.items()
        }

    if paths:
        by_path = workspace.cache.memo("first commits", repr((workspace.git.head(), paths)), days)
    else:
        by_path = {}

    return [
        replace(record, first_commit=by_path.get(documents.get(record.path, ""), ""))
        for record in records
    ]


def search_words(record: Record) -> str:
    """Return the words that a record is looked up by:
    the generator's search finds its page by them.
    """
    return " ".join([record.id, *record.legacy_ids, record.status.word, *tags_of(record)])


def with_record_slots(text: str, record: Record) -> str:
    """Return a document's Markdown with the places that the record is put into;
    the first holds its `search_words`.
    """
    parsed = parse_markdown(text)
    first = parsed.headings[0] if parsed.headings else None
    position = first.body.start if first is not None and first.level == 1 else parsed.content_start
    head = f'<div data-orbit-slot="{HEAD}" hidden>{escape(search_words(record))}</div>'

    return f"{text[:position].rstrip()}\n\n{head}\n\n{text[position:].strip()}\n\n{_FOOT}\n".lstrip(
        "\n"
    )


def around_prose(html: str, article: str) -> str:
    """Return a page with the record's article around the text between the two places;
    the page's own heading stays.
    """
    above, _, below = article.partition(BODY)
    head = _HEAD.search(html)
    if head is None:
        return html

    before, after = html[: head.start()], html[head.end() :]
    start = before.rfind("<h1")
    if start >= 0 and _LAST_HEADING.match(before, start):
        heading = before[start:].strip()
        before, above = before[:start], _HEADING.sub(lambda _: heading, above, count=1)

    return f"{before}{above}{after.replace(_FOOT, below, 1)}"


_TICKS = re.compile(r"`{3,}")
_TITLE = re.compile(r"#[ \t]+([^\n]*\S)[ \t]*(?:\n\s*|\Z)")
_STATUS = re.compile(r"Status:[^\n]*(?:\n\s*(?=\S)|\n*\Z)")
"""The status line of a document: the page has it above the text."""


@dataclass(frozen=True, slots=True)
class RecordText:
    """A record's prose, its file, and its first line there."""

    text: str
    path: str
    first_line: int
    entry: tuple[int, int] | None = (
        None  # first and last line of its entry in a document, the heading's line included
    )
    document: str = ""  # the full text of that document

    @property
    def part(self) -> TextPart:
        """The prose as it was parsed with its document."""
        return part_of(self.text, self.document, self.first_line - 1)


class _DocumentCache(Mapping[str, Document]):
    """Documents by path, each parsed when it is first asked for;
    one that can't be read is absent.
    """

    def __init__(self, publication: Publication) -> None:
        self._publication = publication
        self._documents: dict[str, Document | None] = {}
        self.problems: dict[str, Diagnostic] = {}
        """Documents that exist and can't be read, by path."""

    def __getitem__(self, path: str) -> Document:
        if path not in self._documents:
            document = load_document(self._publication.workspace, path)
            if isinstance(document, Diagnostic):
                self.problems[path] = replace(document, code=UNREADABLE)

            if isinstance(document, Document):
                text = self._publication.document(path, document.text)
            else:
                text = None

            if text is None:
                self._documents[path] = None
            else:
                self._documents[path] = Document(path, text, structure=parsed(text).structure)

        document = self._documents[path]
        if document is None:
            raise KeyError(path)

        return document

    def __iter__(self) -> Iterator[str]:
        return (path for path, document in self._documents.items() if document is not None)

    def __len__(self) -> int:
        return len([*self])


@dataclass
class ProseLoader:
    """The prose of a workspace's records."""

    publication: Publication
    states: Mapping[str, FileValue]  # the records' files and those of their votes, by path
    _record_stamps: dict[str, str] = field(default_factory=dict)  # the stamps of records, by path

    def __post_init__(self) -> None:
        self.root = self.publication.workspace.root
        by_path = _DocumentCache(self.publication)
        self.documents, self._problems = Documents(by_path), by_path.problems
        self._stamp = cache(self._stamp_of)  # records of one log share a file

    def digest(self, record: Record, text: RecordText) -> str:
        """Return a hash of all that a record says, `text` as its page has it; where that is in its
        file does not count.
        """
        part, whole = text.part, self.with_full_prose(record).prose
        html = [block.html for block in part.blocks]
        problems = map(str, self.findings(record, ()))
        return key_of(self._own_stamp(record), whole, text.text, text.path, html, *problems)

    def _own_stamp(self, record: Record) -> str:
        votes = self.states.get(f"{record.folder}/{VOTES}") if record.votes else None
        voted = votes.sha256 if votes else ""
        return f"{self.states[record.path].sha256} {voted} {len(record.votes)}"

    def stamp(self, record: Record) -> str:
        """Return a text that changes when anything that a record says does, or its file:
        its fields, its votes, its prose.
        """
        if record.path in self._record_stamps:
            return self._record_stamps[record.path]

        stamp = self._own_stamp(record)
        if not record.kind.in_record:
            source = record.source
            stamp = (
                f"{stamp} {self._stamp(record.body_path)} "
                f"{self._stamp(source.path) if source else ''}"
            )

        self._record_stamps[record.path] = stamp
        return stamp

    def text(self, record: Record) -> RecordText:
        """Return a record's prose and its place in a file."""
        if record.kind.in_record:
            return RecordText(record.prose, record.path, 1)
        if record.kind.in_file:
            return self._file_text(record)

        source = record.source
        document = self.documents.by_path.get(source.path) if source else None
        span = document.locate(source.heading) if document and source else None
        if document is None or span is None:
            text = self._body(record)
            start = len(status[0]) if record.origin and (status := _STATUS.match(text)) else 0
            return RecordText(text[start:], record.body_path, 1 + text.count("\n", 0, start))

        text, begins = document.prose(span), span[0]
        start = document.text.find(text, begins) if text else begins
        lines = text_lines(document.text)
        first = lines.position(max(start, 0)).line
        heading = lines.position(begins).line
        end = first + text.count("\n")

        if record.source and record.source.authority == "record":
            status = _STATUS.match(text)
        else:
            status = None

        text_below = text[len(status[0]) :] if status else without_restated(text, record)
        above = text[: len(text) - len(text_below)]

        return RecordText(
            text_below, document.path, first + above.count("\n"), (heading, end), document.text
        )

    def _file_text(self, record: Record) -> RecordText:
        """Return a file as text: links lead from where it was taken,
        and what is no Markdown is a block of code.
        """
        text = self.publication.text(self._with_prose(record).prose)
        path = record.text("path") or (record.source.path if record.source else record.path)
        if not text or is_markdown(path):
            head = _TITLE.match(text)  # the page has its title already
            above = head[0] if head is not None and head[1] == record.title else ""
            return RecordText(text[len(above) :], path, 1 + above.count("\n"))

        code = text.removesuffix("\n")
        fence = "`" * (max(map(len, _TICKS.findall(text)), default=2) + 1)
        return RecordText(f"{fence}\n{code}\n{fence}\n", path, 0)

    def with_full_prose(self, record: Record) -> Record:
        """Return a record with its full prose, as searches read it."""
        if record.kind.in_record:
            return record
        prose = self.documents.prose_of(record) if record.kind.in_document else None
        return replace(record, prose=self._body(record) if prose is None else prose)

    def _with_prose(self, record: Record) -> Record:
        text_of = partial(document_text, self.root)
        return with_prose(record, prose_in(self.documents, text_of), text_of)

    def _body(self, record: Record) -> str:
        """Return a record's own text; its stored prose if a symbolic link leads to the file."""
        try:
            inside(self.root, record.body_path)
        except UnsafePathError:
            return record.prose
        return self.publication.text(self._with_prose(record).prose)

    def findings(self, record: Record, diagnostics: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
        """Return what is wrong with a record's text: that its file can't be read, and the findings
        in its prose.

        Findings in a field's text have the record's file alone: its lines are not those of the
        text.
        """
        path = record.source.path if record.source else record.body_path
        if record.kind.in_document:
            self.documents.by_path.get(path)  # reads it, where it is a body file
        if unreadable := self._problems.get(path):
            return (unreadable, *diagnostics)
        if not record.kind.in_record:
            return tuple(diagnostics)

        return tuple(replace(problem, location=Location(record.path)) for problem in diagnostics)

    def _stamp_of(self, path: str) -> str:
        try:
            info = os.stat(f"{self.root}/{path}")
            return f"{info.st_mtime_ns}-{info.st_size}-{info.st_ino};"
        except (OSError, ValueError):
            return "absent;"
