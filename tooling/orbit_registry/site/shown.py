"""Knows what the records of one build show to each other, and whether that is what they showed in the last one.

An edit that shows nothing new to others makes its own page, and the lines of its record in files of data. Everything
here is worked out when a page that is made asks for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from functools import cached_property
from typing import Any

from orbit_registry.records.record import BODY, Record
from orbit_registry.site.citers import citers_of, said_beside, said_by
from orbit_registry.site.documents import neighbours
from orbit_registry.site.groups import Groups, groups_of
from orbit_registry.site.listing import Index
from orbit_registry.site.memo import Memo, key_of
from orbit_registry.site.previews import Previews
from orbit_registry.site.shelf import Shelf
from orbit_registry.site.sitemap import url_of
from orbit_registry.site.stage import Prepared
from orbit_registry.site.views import Relations, what_a_page_shows
from orbit_registry.snapshot.edges import Said, said_from
from orbit_registry.store.votes import NAME as VOTES

UNSEEN = frozenset({"priority", "updated_at"})
"""Fields that pages show on the record's own alone: how it ranks files of data say, and when it changed dated lists."""
ITS_OWN = frozenset({"title", "summary", "status", *UNSEEN})
"""Fields by which a record names no other, and that no line of data but its own is made of."""


class Shown:
    """What pages show of other records than their own, and the key by which that is compared."""

    def __init__(self, prepared: Prepared, memo: Memo) -> None:
        publication, sources = prepared.sources.publication, prepared.sources
        self._prepared, self._memo = prepared, memo
        self.records, self.site = prepared.records, sources.site
        # Of a file that can't be read nobody knows whether it may be named.
        self.problems = () if publication.is_active else prepared.problems
        self.shelf = Shelf(publication, prepared.registry.reading.states)
        self.by_url = {url_of(record): record for record in self.records}
        self.previews = Previews(self.by_url, self.lead)
        self.site.preview = self.previews.token
        self._keys: dict[str, str] = {}
        self.is_near = False
        """Whether there are the records that there were, and nothing changed but files of their own."""
        self.is_alike = False
        """Whether, besides, each names what it did: of files of data and the database, other lines are as they were."""

    def is_as_before(self, look: str, changed: Set[str] | None) -> bool:
        """Say whether each record shows to others what it did, and all else is as it was.

        `look` is a digest of what all pages share; `changed` are the files and folders, from the root, that are not as
        the last build found them, None where nobody knows.
        """
        for record in self.records:
            self._noted(record)
        doubts = [[path, held.state.value, str(held.reasons)] for path, held in self._prepared.freshness.items()]
        rest = key_of(look, sorted(doubts), [str(one) for one in self.problems])
        known, self._memo.rest = self._memo.rest == rest, rest
        notes, before = self._memo.notes, self._memo.notes_before
        # All else that a page rests on is a file, or a place where none was.
        self.is_near = changed is not None and before.keys() == notes.keys() and self._own.issuperset(changed)
        if not (self.is_near and self._prepared.citing.keys().isdisjoint((changed or set()) - self._homes)):
            return False
        was, now = ([held[record.path] for record in self.touched] for held in (before, notes))
        self.is_alike = [names for *_, names in was] == [names for *_, names in now]
        return known and [shown for _, shown, *_ in was] == [shown for _, shown, *_ in now]

    @cached_property
    def _own(self) -> frozenset[str]:
        """The files and folders that are a record's own."""
        folders = {record.folder for record in self.records}
        beside = {f"{folder}/{name}" for folder in folders for name in (VOTES, BODY)}
        return frozenset((*folders, *beside, *self._memo.notes, *self._homes))

    @cached_property
    def _homes(self) -> Set[str]:
        """The documents that hold one record each, and are no pages: what others show of them is noted with it."""
        held = Counter(record.source.path for record in self._prepared.collection.records if record.source)
        own = {record.source.path for record in self.records if record.source and held[record.source.path] == 1}
        return own - self.site.mirrored.keys() - self.site.curated.keys()

    @cached_property
    def touched(self) -> Sequence[Record]:
        """The records that say something else than in the last build, be it for their own page alone."""
        notes, before = self._memo.notes, self._memo.notes_before
        return [record for record in self.records if before.get(record.path) is not notes[record.path]]

    def _noted(self, record: Record) -> list[Any]:
        """Return a digest of what other pages show of a record, what its text names, and a digest of what all names."""

        def look() -> list[Any]:
            text = self.shelf.text(record)
            file = self._prepared.citing.get(text.path) if text.as_written else None
            said = said_by(text, self.site.forms, file)
            names = _stated(record, {record.kind.prose, *ITS_OWN})
            home = record.source.path if record.source else text.path
            beside = said_beside(self._prepared.citing.get(home), said.entry)
            shown = key_of(_shown(record), said.ids, said.links, said.lead, beside)
            return [shown, said.as_row(), key_of(names, said.ids, said.links, beside)]

        return self._memo.noted(record.path, self.shelf.stamp(record), look)

    def said(self, record: Record) -> Said:
        """Return what a record's text names."""
        return said_from(self._noted(record)[1])

    def lead(self, record: Record) -> str:
        """Return how a record's text begins."""
        return self.said(record).lead

    def key(self, record: Record) -> str:
        """Return what changes when anything that a page shows of a record does."""
        if record.path not in self._keys:
            about = what_a_page_shows(record, self.relations, self.site, self.groups)
            self._keys[record.path] = key_of(about, self.shelf.stamp(record))
        return self._keys[record.path]

    def keys(self, records: Sequence[Record], *more: str) -> list[object]:
        """Return what a list of records depends on, with what it says `more`."""
        return [*more, *map(self.key, records)]

    @cached_property
    def dates(self) -> str:
        """A digest of when records were changed: what dated lists show."""
        return key_of([record.text("updated_at") for record in self.records])

    @cached_property
    def relations(self) -> Relations:
        """Who names whom."""
        citers = citers_of(self.records, self.said, self._prepared.citing, self.site, self._prepared.staged.titles)
        return Relations(self.records, self._prepared.freshness, citers=citers)

    @cached_property
    def groups(self) -> Groups:
        """Which words have a page."""
        return groups_of(self.records)

    @cached_property
    def indexes(self) -> Mapping[str, Index]:
        """The indexes, by kind."""
        held: dict[str, list[Record]] = {kind.name: [] for kind in self._prepared.sources.kinds}
        for record in self.records:
            held[record.kind.name].append(record)
        return {kind.name: Index(kind, held[kind.name]) for kind in self._prepared.sources.kinds}

    @cached_property
    def beside(self) -> Mapping[str, tuple[str, str]]:
        """Of each document's page, the documents before and after it."""
        return neighbours(self._prepared.sources.documents, self._prepared.staged.titles)


def _shown(record: Record) -> list[object]:
    """Return all that other pages can show of a record, or depend on: what it states, but for its long text."""
    kind = record.kind
    return _stated(record, {kind.prose, *UNSEEN}.difference(kind.columns, (kind.headline, "summary")))


def _stated(record: Record, without: Set[str]) -> list[object]:
    fields = {name: it for name, it in record.data.items() if name not in without}
    return [record.kind.name, record.path, record.page, fields]
