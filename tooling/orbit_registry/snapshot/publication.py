"""Filter of `site.publish`: what others may read of records, documents and texts.

What cannot be judged is withheld: a record that can't be read, a decision in a log that no record
claims.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.secrets import without_secrets
from orbit_registry.formats.yaml import load
from orbit_registry.model.freshness import Freshness
from orbit_registry.model.record import Record
from orbit_registry.repository.documents import Document, decision_paths, heading_of
from orbit_registry.repository.guard import redacted
from orbit_registry.repository.reader import Collection
from orbit_registry.snapshot.redact import NameMask, redact_pattern, words_of
from orbit_registry.workspace.config import PublishConfig
from orbit_registry.workspace.files import document_text
from orbit_registry.workspace.workspace import Workspace

if TYPE_CHECKING:
    from orbit_registry.formats.adr.model import AdrDocument

_REFERRING = ("links", "evidence", "supersedes", "superseded_by", "distinct_from")
"""The fields of the envelope that name other records; an entry that names a withheld one goes."""
# fewest words of a title that is redacted: a shorter one, such as `Error handling`, is common prose
_TELLING_WORDS = 3
_TELLING_FILE_WORDS = 2


_NAMING_LINE = re.compile(r"^(title|summary|uid):[ \t]+[\"']?([^\n]*?)[\"']?[ \t]*$", re.MULTILINE)
"""A line of a record that is no YAML, as far as it names the record."""


@dataclass(frozen=True)
class Publication:
    """The filter of one workspace, for the records it has now.

    `admits` is asked about the records' own facts.
    """

    workspace: Workspace
    config: PublishConfig
    everything: Sequence[Record] = ()  # all records, those that are withheld among them
    unread: Sequence[str] = ()  # the paths of files that hold no readable record
    _documents: dict[str, bool] = field(default_factory=dict)

    @property
    def is_active(self) -> bool:
        """Whether anything besides secrets is withheld or redacted."""
        return self.config.is_set

    @cached_property
    def key(self) -> str:
        """A text that changes when what may be read does:
        what was made under another is made again.
        """
        if not self.is_active:
            return "all"

        patterns = [f"{pattern.pattern}\0{pattern.flags}" for pattern in self.config.redact]
        facts = [*patterns, "\1", *sorted(self._struck), "\1", *sorted(self._kept)]
        return hashlib.blake2b(
            "\0".join(facts).encode("utf-8", "surrogateescape"), digest_size=12
        ).hexdigest()

    def admits(self, record: Record) -> bool:
        """Say whether a record may be read."""
        config = self.config
        if not config.is_set:
            return True

        source = [record.source.path] if record.source else []
        return (
            config.kinds.admits([record.kind.name])
            and config.statuses.admits([record.status.name])
            and config.tags.admits(self._tags_of(record))
            and not any(self._strikes(path) for path in (record.id, record.path, *source))
        )

    def records(self, records: Iterable[Record]) -> list[Record]:
        """Return those of some records that may be read, as they may;
        secrets are their caller's business.
        """
        if not self.is_active:
            return list(records)
        return [
            redacted(self._apart(record), self._plain) for record in records if self.admits(record)
        ]

    def text(self, text: str) -> str:
        """Return a text as it may be read: without secrets, the names of what is withheld,
        and what is struck out.
        """
        return self._plain(without_secrets(text)) if self.is_active else without_secrets(text)

    def freshness(self, by_path: Mapping[str, Freshness]) -> Mapping[str, Freshness]:
        """Return why records are not fresh, in words that may be read."""
        if not self.is_active:
            return by_path

        def plain(each: Freshness) -> Freshness:
            reasons = (
                replace(reason, message=self._plain(reason.message)) for reason in each.reasons
            )
            return replace(each, reasons=tuple(reasons))

        return {path: plain(freshness) for path, freshness in by_path.items()}

    def document(self, path: str, text: str) -> str | None:
        """Return a document as it may be read, withheld decisions as blank lines;
        None where nothing is left.
        """
        if not self.is_active:
            return without_secrets(text)
        if self.hides(path):
            return None

        if path in self._decisions:
            document = Document(path, text)
            lost = self._lost(document)
            if lost and document.file.format != "log":
                return None

            for entry in sorted(lost, key=lambda entry_lost: entry_lost.span.start, reverse=True):
                start, end = entry.span.start, entry.span.end
                text = text[:start] + "\n" * text.count("\n", start, end) + text[end:]

        return self.text(text)

    def _lost(self, document: Document) -> list[AdrDocument]:
        """Return the decisions to withhold; where records are chosen,
        also those that no published record claims.
        """

        def claimed(records: Iterable[Record]) -> set[int]:
            sources = [record.source for record in records if record.source is not None]
            return {
                id(document.entry(source.heading))
                for source in sources
                if source.path == document.path
            }

        if self._chooses:
            published = claimed(self._published)
            return [entry for entry in document.entries if id(entry) not in published]

        withheld = claimed(self._withheld)
        return [entry for entry in document.entries if id(entry) in withheld]

    def hides(self, path: str) -> bool:
        """Say whether a file's very name may not be read."""
        return self.is_active and (self._strikes(path) or self._names.masked(path) != path)

    def leaves_out(self, path: str) -> bool:
        """Say whether there is no page of a document or page of the repository:
        it is hidden, or nothing is left.
        """
        if not self.is_active:
            return False

        if path not in self._documents:
            hidden = self.hides(path)
            if not hidden and path in self._decisions:
                text = document_text(self.workspace.root, path)
                hidden = text is None or self.document(path, text) is None
            self._documents[path] = hidden

        return self._documents[path]

    def _tags_of(self, record: Record) -> list[str]:
        """Return the tags of a record by all their names:
        one that is chosen by one of them is by the others.
        """
        tags = [name.casefold() for name in (*record.tags, *record.words("labels"))]
        return [name for tag in tags for name in self._also_called.get(tag, (tag,))]

    @cached_property
    def _also_called(self) -> Mapping[str, Sequence[str]]:
        config = self.workspace.config
        aliases = config.setting("tags", "aliases").items()
        tags = {str(name) for pair in aliases for name in pair}
        return {tag.casefold(): [name.casefold() for name in config.names_of(tag)] for tag in tags}

    @property
    def _chooses(self) -> bool:
        """Whether records are withheld for what they are,
        so that what can't be judged is withheld too.
        """
        config = self.config
        return any(
            choice.only or choice.never for choice in (config.kinds, config.statuses, config.tags)
        )

    def _strikes(self, text: str) -> bool:
        return any(redact_pattern(text, pattern) != text for pattern in self.config.redact)

    def _plain(self, text: str) -> str:
        text = self._names.masked(text)
        for pattern in self.config.redact:
            text = redact_pattern(text, pattern)
        return text

    def _apart(self, record: Record) -> Record:
        data = dict(record.data)
        for name in _REFERRING:
            value = data.get(name)
            if isinstance(value, list):
                data[name] = [entry for entry in value if not self._refers(entry)]

        scope = data.get("scope")
        if isinstance(scope, dict) and isinstance(scope.get("paths"), list):
            data["scope"] = {
                **scope,
                "paths": [path for path in scope["paths"] if self._plain(str(path)) == str(path)],
            }

        return replace(record, data=data)

    def _refers(self, entry: object) -> bool:
        targets = (
            [entry.get("to"), entry.get("reference")] if isinstance(entry, Mapping) else [entry]
        )
        return any(isinstance(text, str) and self._names.masked(text) != text for text in targets)

    @cached_property
    def _withheld(self) -> list[Record]:
        return [record for record in self.everything if not self.admits(record)]

    @cached_property
    def _published(self) -> list[Record]:
        return [record for record in self.everything if self.admits(record)]

    @cached_property
    def _decisions(self) -> frozenset[str]:
        sources = {record.source.path for record in self.everything if record.source is not None}
        return frozenset({*sources, *decision_paths(self.workspace)})

    @property
    def rests_on(self) -> Iterator[str]:
        """The documents, and the folders of such, that say whose names are struck out."""
        if self.is_active and self._chooses:
            yield self.workspace.config.adr.folder
            yield from self._decisions
            yield from {path.rpartition("/")[0] for path in self._decisions}

    @cached_property
    def _names(self) -> NameMask:
        return NameMask(self._struck, self._kept)

    @cached_property
    def _struck(self) -> frozenset[str]:
        """The names of what is withheld: ids, earlier ids, titles that tell it apart,
        files that hold nothing else.
        """
        published_titles = {words_of(record.title) for record in self._published}
        claimed = {record.source.path for record in self._published if record.source is not None}
        published_names = {words_of(name) for name in self._kept}
        names, titles, files = set[str](), set[str](), set[str]()

        for record in [*self._withheld, *(self._unreadable if self._chooses else ())]:
            tails = {name.rpartition("/")[2] for name in record.legacy_ids}
            names |= {record.id, record.uid, *record.legacy_ids, *(tails - self._kept)}
            titles.add(record.title)
            if record.source is not None and record.source.heading is None:
                files.add(record.source.path)

        for document, entry in self._unclaimed if self._chooses else ():
            titles.add(entry.title)

            if document.file.format != "log":
                files.add(document.path)
            elif (
                entry.number
                and words_of(name := heading_of(entry, "log") or "") not in published_names
            ):
                names.add(name)

        telling = ((title, words_of(title)) for title in titles)
        names |= {
            title
            for title, words in telling
            if len(words) >= _TELLING_WORDS and words not in published_titles
        }
        return frozenset(names.union(*(_names_of_file(path) for path in files - claimed)))

    @cached_property
    def _unreadable(self) -> list[Record]:
        there = {record.folder for record in self.everything}
        paths = [path for path in sorted({*self.unread}) if path.rpartition("/")[0] not in there]
        return [
            record_guess for path in paths if (record_guess := self._made_out(path)) is not None
        ]

    def _made_out(self, path: str) -> Record | None:
        *_, plural, name, _ = ["", "", *path.split("/")]
        kind = self.workspace.kinds.of_plural(plural)
        if kind is None:
            return None

        text = document_text(self.workspace.root, path) or ""
        try:
            fields = load(text)
        except YamlProblemError:
            fields = {line[1]: line[2] for line in _NAMING_LINE.finditer(text)}

        data = fields if isinstance(fields, dict) else {}
        source = data.get("source")
        if not (isinstance(source, dict) and source.get("path")):
            data = {key: value for key, value in data.items() if key != "source"}

        return Record(kind, {"uid": "", **data, "id": name}, path)

    @cached_property
    def _unclaimed(self) -> list[tuple[Document, AdrDocument]]:
        claims: defaultdict[str, list[str | None]] = defaultdict(list)
        for source in (record.source for record in self.everything if record.source is not None):
            claims[source.path].append(source.heading)

        unclaimed = []
        for path in sorted(self._decisions):
            if (text := document_text(self.workspace.root, path)) is not None:
                document = Document(path, text)
                mine = {id(document.entry(heading)) for heading in claims[path]}
                unclaimed += [
                    (document, entry) for entry in document.file.entries if id(entry) not in mine
                ]

        return unclaimed

    @cached_property
    def _kept(self) -> frozenset[str]:
        """The names of what is published, of which a withheld name may be a part:
        `a/ADR-005` and `ADR-0005`.
        """
        names: set[str] = set()
        for record in self._published:
            names |= {
                record.id,
                *record.legacy_ids,
                *(name.rpartition("/")[2] for name in record.legacy_ids),
            }
            if record.source is not None:
                names.add(re.sub(r"\.[A-Za-z]+\Z", "", record.source.path.rpartition("/")[2]))

        return frozenset(names)


def _names_of_file(path: str) -> set[str]:
    stem = re.sub(r"\.[A-Za-z]+\Z", "", path.rpartition("/")[2])
    return {stem} if len(words_of(stem)) >= _TELLING_FILE_WORDS else {path}


def publication_of(workspace: Workspace, collection: Collection) -> Publication:
    """Return the filter of a workspace for the records that were read."""
    config = workspace.config.publish
    if not config.is_set:
        return Publication(workspace, config)
    unread = tuple(problem.location.path for problem in collection.problems)
    return Publication(workspace, config, tuple(collection.records), unread)
