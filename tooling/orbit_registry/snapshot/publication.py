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
from orbit_registry.lifecycle.built import Built
from orbit_registry.lifecycle.review_due import Due
from orbit_registry.model.freshness import Freshness
from orbit_registry.model.record import Record, Source
from orbit_registry.repository.documents import Document, decision_paths, heading_of
from orbit_registry.repository.guard import redacted
from orbit_registry.repository.reader import Collection
from orbit_registry.repository.record_path import record_path
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
        """A text that changes when what may be read does: what was made under another is made
        again.
        """
        if not self.is_active:
            return "all"

        patterns = [f"{pattern.pattern}\0{pattern.flags}" for pattern in self.config.redact]
        facts = [*patterns, "\1", *sorted(self._struck), "\1", *sorted(self._kept)]
        text = "\0".join(facts).encode("utf-8", "surrogateescape")
        return hashlib.blake2b(text, digest_size=12).hexdigest()

    def admits(self, record: Record) -> bool:
        """Say whether a record may be read."""
        config = self.config
        if not config.is_set:
            return True

        names = [record.id, record.path]
        if record.source:
            names.append(record.source.path)

        tags = (*record.tags, *record.words("labels"))
        is_chosen = self.workspace.config.publishes(record.kind.name, record.status.name, tags)
        return is_chosen and not any(map(self._strikes, names))

    def records(self, records: Iterable[Record]) -> list[Record]:
        """Return those of some records that may be read, as they may.

        Secrets are the caller's business.
        """
        if not self.is_active:
            return list(records)

        admitted = filter(self.admits, records)
        return [redacted(self._apart(record), self._plain) for record in admitted]

    def text(self, text: str) -> str:
        """Return a text as it may be read: without secrets, names of what is withheld, and what is
        struck out.
        """
        text = without_secrets(text)
        if self.is_active:
            text = self._plain(text)

        return text

    def freshness(self, by_path: Mapping[str, Freshness]) -> Mapping[str, Freshness]:
        """Return why records are not fresh, in words that may be read."""
        if not self.is_active:
            return by_path

        published: dict[str, Freshness] = {}
        for path, freshness in by_path.items():
            reasons = [
                replace(reason, message=self._plain(reason.message)) for reason in freshness.reasons
            ]
            published[path] = replace(freshness, reasons=tuple(reasons))

        return published

    def reviews(self, by_path: Mapping[str, Due]) -> Mapping[str, Due]:
        """Return why records are to be looked at again, in words that may be read."""
        return {
            path: replace(due, reasons=tuple(map(self.text, due.reasons)))
            for path, due in by_path.items()
        }

    def built(self, by_path: Mapping[str, Built]) -> Mapping[str, Built]:
        """Return whether decisions are built, in words that may be read."""
        shown: dict[str, Built] = {}
        for path, built in by_path.items():
            evidence = tuple(map(self.text, built.evidence))
            shown[path] = replace(built, why=self.text(built.why), evidence=evidence)

        return shown

    def document(self, path: str, text: str) -> str | None:
        """Return a document as it may be read, withheld decisions as blank lines.

        Return None where nothing is left.
        """
        if not self.is_active:
            return without_secrets(text)
        if self.hides(path):
            return None
        if path not in self._decisions:
            return self.text(text)

        document = Document(path, text)
        lost = self._lost(document)
        if lost and document.file.format != "log":
            return None

        # From the end, so that the offsets of earlier entries stay what they are.
        for span in sorted((entry.span for entry in lost), key=lambda span: -span.start):
            lines = text.count("\n", span.start, span.end)
            text = text[: span.start] + "\n" * lines + text[span.end :]

        return self.text(text)

    def _lost(self, document: Document) -> list[AdrDocument]:
        """Return the decisions to withhold; where records are chosen, also those that no published
        record claims.
        """
        if self._chooses:
            published = _claimed_in(document, self._published)
            return [entry for entry in document.entries if id(entry) not in published]

        withheld = _claimed_in(document, self._withheld)
        return [entry for entry in document.entries if id(entry) in withheld]

    def hides(self, path: str) -> bool:
        """Say whether a file's very name may not be read."""
        return self.is_active and (self._strikes(path) or self._names.masked(path) != path)

    def leaves_out(self, path: str) -> bool:
        """Say whether a document or a page of the repository has no page: it is hidden, or nothing
        is left.
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

    @property
    def _chooses(self) -> bool:
        """Whether records are withheld for what they are, so that what can't be judged is withheld
        too.
        """
        config = self.config
        choices = (config.kinds, config.statuses, config.tags)
        return any(choice.only or choice.never for choice in choices)

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
        targets = [entry]
        if isinstance(entry, Mapping):
            targets = [entry.get("to"), entry.get("reference")]

        return any(isinstance(text, str) and self._names.masked(text) != text for text in targets)

    @cached_property
    def _withheld(self) -> list[Record]:
        return [record for record in self.everything if not self.admits(record)]

    @cached_property
    def _published(self) -> list[Record]:
        return [record for record in self.everything if self.admits(record)]

    @cached_property
    def _decisions(self) -> frozenset[str]:
        paths = {source.path for source in _sources(self.everything)}
        return frozenset({*paths, *decision_paths(self.workspace)})

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
        """The names of what is withheld: ids, earlier ids, titles that tell it apart, files that
        hold nothing else.
        """
        published_titles = {words_of(record.title) for record in self._published}
        claimed = {source.path for source in _sources(self._published)}
        published_names = {words_of(name) for name in self._kept}
        names, titles, files = set[str](), set[str](), set[str]()

        withheld = list(self._withheld)
        unclaimed: Sequence[tuple[Document, AdrDocument]] = ()
        if self._chooses:
            withheld += self._unreadable
            unclaimed = self._unclaimed

        for record in withheld:
            tails = {name.rpartition("/")[2] for name in record.legacy_ids}
            names |= {record.id, record.uid, *record.legacy_ids, *(tails - self._kept)}
            titles.add(record.title)
            if record.source is not None and record.source.heading is None:
                files.add(record.source.path)

        for document, entry in unclaimed:
            titles.add(entry.title)
            if document.file.format != "log":
                files.add(document.path)
            elif entry.number:
                name = heading_of(entry, "log") or ""
                if words_of(name) not in published_names:
                    names.add(name)

        for title in titles:
            words = words_of(title)
            if len(words) >= _TELLING_WORDS and words not in published_titles:
                names.add(title)

        return frozenset(names.union(*map(_names_of_file, files - claimed)))

    @cached_property
    def _unreadable(self) -> list[Record]:
        there = {record.folder for record in self.everything}
        paths = [path for path in sorted({*self.unread}) if path.rpartition("/")[0] not in there]
        return [record for record in map(self._made_out, paths) if record is not None]

    def _made_out(self, path: str) -> Record | None:
        at = record_path(self.workspace.kinds, path)
        if at is None:
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

        return Record(at.kind, {"uid": "", **data, "id": at.id}, path)

    @cached_property
    def _unclaimed(self) -> list[tuple[Document, AdrDocument]]:
        claims: defaultdict[str, list[str | None]] = defaultdict(list)
        for source in _sources(self.everything):
            claims[source.path].append(source.heading)

        unclaimed = []
        for path in sorted(self._decisions):
            text = document_text(self.workspace.root, path)
            if text is None:
                continue

            document = Document(path, text)
            mine = {id(document.entry(heading)) for heading in claims[path]}
            for entry in document.file.entries:
                if id(entry) not in mine:
                    unclaimed.append((document, entry))

        return unclaimed

    @cached_property
    def _kept(self) -> frozenset[str]:
        """The names of what is published, of which a withheld name may be a part: `a/ADR-005` and
        `ADR-0005`.
        """
        names: set[str] = set()
        for record in self._published:
            names.update((record.id, *record.legacy_ids))
            names.update(name.rpartition("/")[2] for name in record.legacy_ids)

        names.update(_stem(source.path) for source in _sources(self._published))
        return frozenset(names)


def _claimed_in(document: Document, records: Iterable[Record]) -> set[int]:
    """Return which entries of a document records claim, by the entries' identities."""
    sources = [source for source in _sources(records) if source.path == document.path]
    return {id(document.entry(source.heading)) for source in sources}


def _sources(records: Iterable[Record]) -> list[Source]:
    return [record.source for record in records if record.source is not None]


def _stem(path: str) -> str:
    return re.sub(r"\.[A-Za-z]+\Z", "", path.rpartition("/")[2])


def _names_of_file(path: str) -> set[str]:
    stem = _stem(path)
    if len(words_of(stem)) >= _TELLING_FILE_WORDS:
        return {stem}

    return {path}


def publication_of(workspace: Workspace, collection: Collection) -> Publication:
    """Return the filter of a workspace for the records that were read."""
    config = workspace.config.publish
    if not config.is_set:
        return Publication(workspace, config)
    unread = tuple(problem.location.path for problem in collection.problems)
    return Publication(workspace, config, tuple(collection.records), unread)
