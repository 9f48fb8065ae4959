"""Template values of records: words, addresses, lists, and the previews of cited records."""

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from html import escape, unescape
from itertools import pairwise
from types import MappingProxyType
from typing import Any, TypedDict

from orbit_registry.lifecycle.built import Built
from orbit_registry.lifecycle.review_due import Due
from orbit_registry.model.freshness import Freshness, State, expires_at, freshness_fields
from orbit_registry.model.ids import INVERSES
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.model.schema import shared_fields
from orbit_registry.model.votes import by_month, distinct_votes, format_time
from orbit_registry.operations.glob_counts import FilesByGlob
from orbit_registry.site.arcs import RELATES, SUPERSEDES, is_sketched
from orbit_registry.site.check import resolved
from orbit_registry.site.events import history_of
from orbit_registry.site.explorer import glob_link
from orbit_registry.site.groups import Groups
from orbit_registry.site.mentions import Citers
from orbit_registry.site.prose import card_id
from orbit_registry.site.sanitize import headline
from orbit_registry.site.sitemap import SiteMap, task_url, url_of
from orbit_registry.site.twins import twin_path
from orbit_registry.site.urls import relative
from orbit_registry.site.words import (
    built_chip,
    built_word,
    chip,
    date_of,
    date_source,
    own_columns,
    restates,
    status_css,
    tags_of,
    texts_of,
    title_of,
    words_in,
)

_LINK = re.compile(r'<a class="orbit-cite" href="([^"]*)"')


def cited_urls(html: str, page: str) -> list[str]:
    """Return the URLs that the links of a page cite, each once, in order."""
    urls = (resolved(page, unescape(href)) for href in _LINK.findall(html))
    return list(dict.fromkeys(url for url in urls if url is not None))


def card_html(record: Record, url: str, sentence: str) -> str:
    """Return the preview of the record at a URL, with its sentence."""
    line = record.text("summary") or sentence
    text = f"<span>{headline(line)}</span>" if line and line != record.title else ""
    day = f" <small>{escape(date_of(record))}</small>"

    return (
        f'<div class="orbit-card" id="{card_id(url)}"><b>{escape(record.id)} '
        f"{headline(record.title)}</b>"
        f"<span>{chip(record)}{day}</span>{text}</div>"
    )


RELATIONS: Mapping[str, str] = {
    **{name: name.replace("_", " ").capitalize() for pair in INVERSES.items() for name in pair},
    "has_script": "Script",
    "has_doc": "Document",
    "references": "Refers to",
    "referenced_by": "Referred to by",
}
"""How each relation reads as a label."""

SHORT = 90  # longest field in the margin; longer ones are sections below the prose
LOG = 13  # decisions that the page of one names next to it
MONTHS = 24  # how far back votes are counted month by month
_ELSEWHERE = frozenset({"source", "status_raw"})  # fields that every kind's page has


class Ref(TypedDict):
    """A record named on another's page; `url` is None where it has no page."""

    id: str
    title: str
    word: str
    url: str | None


class Relations:
    """Relations of records, read from both ends, their freshness and their order.

    `records` are in the order of lists. `freshness`, `matches`, `checks`, `due`, `sentences` and
    `built` are by the record's path; a record that is left out is fresh. `today` ends the months of
    votes.
    """

    def __init__(
        self,
        records: Iterable[Record],
        freshness: Mapping[str, Freshness] = MappingProxyType({}),
        today: date | None = None,
        citers: Citers | None = None,
        matches: Mapping[str, FilesByGlob] = MappingProxyType({}),
        checks: Mapping[str, dict[str, Any]] = MappingProxyType({}),
        sentences: Mapping[str, str] = MappingProxyType({}),
        due: Mapping[str, Due] = MappingProxyType({}),
        built: Mapping[str, Built] = MappingProxyType({}),
    ) -> None:
        self._freshness, self.due, self.built = freshness, due, built
        self.citers, self.matches, self.checks = citers or Citers(), matches, checks
        self.sentences = sentences
        self.today = today or datetime.now(UTC).date()
        in_order = list(records)
        self.records = RecordSet(in_order)

        often = Counter(record.id for record in in_order)
        self.by_id = {record.id: record for record in in_order if often[record.id] == 1}
        by_kind: dict[str, list[Record]] = defaultdict(list)
        for record in in_order:
            by_kind[record.kind.name].append(record)

        self._logs = {name: same for name, same in by_kind.items() if same[0].kind.in_document}
        self._places = {
            record.path: place for same in self._logs.values() for place, record in enumerate(same)
        }
        pairs = [pair for same in by_kind.values() for pair in pairwise(same)]
        self._before = {later.path: earlier for earlier, later in pairs}
        self._after = {earlier.path: later for earlier, later in pairs}
        self._replaces: dict[str, list[str]] = defaultdict(list)
        self._inverse: dict[str, list[tuple[str, str]]] = defaultdict(list)

        for record in self.by_id.values():
            for other in record.superseded_by:
                self._replaces[other].append(record.id)
            for link in record.links:
                self._inverse[link.to].append((INVERSES.get(link.rel, "referenced_by"), record.id))

    def neighbours(self, record: Record) -> tuple[Record | None, Record | None]:
        """Return the records of its kind before and after it in lists."""
        return self._before.get(record.path), self._after.get(record.path)

    def sentence(self, record: Record) -> str:
        """Return a decision in one sentence, "" without one and for other records."""
        if not record.kind.in_document:
            return ""

        sentence = self.sentences.get(record.path, "")
        return "" if sentence == record.title else sentence

    def log_around(self, record: Record) -> Sequence[Record]:
        """Return the decisions around one, the newest first, itself among them; none for records
        of other kinds.
        """
        log = self._logs.get(record.kind.name, [])
        if len(log) < 2:
            return ()

        place = self._places[record.path]
        first = max(0, min(place - LOG // 2, len(log) - LOG))
        return log[first : first + LOG][::-1]

    def doubts(self, record: Record) -> str:
        """Return why a live record may hold no longer, "" without a reason."""
        freshness = self._freshness.get(record.path) if record.phase == "live" else None
        if freshness is None:
            return ""
        words = "No longer holds" if freshness.state is State.EXPIRED else "May no longer hold"
        return f"{words}: {'; '.join(reason.message for reason in freshness.reasons)}"

    def votes(self, record: Record) -> dict[str, Any] | None:
        """Return count, day of the last one, and how many each of the last months had;
        None where there is none.
        """
        votes = distinct_votes(record.votes)
        if not votes:
            return None

        months = by_month(votes, self.today, MONTHS)
        return {
            "count": len(votes),
            "last": format_time(votes[-1].voted_at)[:10],
            "months": list(months),
            "until": f"{self.today:%Y-%m}",
        }

    def replaces(self, record: Record) -> list[str]:
        """Return the ids this record replaces, as either end says."""
        return list(dict.fromkeys([*record.supersedes, *self._replaces.get(record.id, ())]))

    def replaced_by(self, record: Record) -> list[str]:
        """Return the ids that replace this record, as either end says."""
        return self.records.replaced_by(record)

    def successors(self, record: Record) -> Sequence[Record]:
        """Return the live records that took the place of a closed one."""
        return self.records.live_successors(record) if record.phase == "closed" else ()

    def successors_today(self, record: Record) -> list[str]:
        """Return the ids of these without its direct successors."""
        direct = self.replaced_by(record)
        return [successor.id for successor in self.successors(record) if successor.id not in direct]

    def links(self, record: Record) -> list[tuple[str, list[str]]]:
        """Return labels and ids of the links from and to this record."""
        by_label: dict[str, list[str]] = defaultdict(list)
        for link in record.links:
            by_label[RELATIONS.get(link.rel, link.rel)].append(link.to)
        for rel, other in self._inverse.get(record.id, ()):
            by_label[RELATIONS[rel]].append(other)
        return [(label, list(dict.fromkeys(ids))) for label, ids in by_label.items()]


def freshness_words(record: Record) -> str:
    """Return when a live record was verified and when it ends; "" if it says neither."""
    if record.phase != "live":
        return ""
    dates = freshness_fields(record)
    verified_at, by = (str(dates.get(name) or "") for name in ("verified_at", "verified_by"))
    end = expires_at(record)
    verified = f"on {verified_at[:10]}{f' by {by}' if by else ''}" if verified_at else ""
    return ", ".join(filter(None, [verified, f"until {end:%Y-%m-%d}" if end else ""]))


def record_view(
    record: Record, page: str, relations: Relations, site: SiteMap, groups: Groups
) -> dict[str, Any]:
    """Return everything a record's page shows but its prose; addresses are relative to `page`."""
    kind, scope, fields = record.kind, record.scope, extra_fields(record)

    def references(ids: Sequence[str]) -> list[Ref]:
        return [reference(any_id, page, relations, site) for any_id in ids]

    text_path = record.source.path if record.source else record.path
    related = {any_id for _, ids in relations.links(record) for any_id in ids}
    related |= {*relations.replaces(record), *relations.replaced_by(record)}
    joined = _related(record, relations)
    return {
        "id": record.id,
        "origin": record.origin,
        "title": record.title,
        "sentence": relations.sentence(record),
        "kind_labels": kind.labels,
        "index_url": relative(page, f"{kind.plural}/"),
        "status_word": record.status.word,
        "status_class": status_css(record.status),
        "is_live": record.phase == "live",
        "since": record.approval.get("approved_at", "")[:10] if record.phase == "live" else "",
        "date": date_of(record),
        "date_source": date_source(record),
        "status_raw": raw
        if (raw := record.text("status_raw")) and not restates(raw, record)
        else "",
        "doubts": relations.doubts(record),
        "review_due": relations.due.get(record.path),
        "built": relations.built.get(record.path),
        "freshness": freshness_words(record),
        "legacy_ids": list(record.legacy_ids),
        "tags": [{"word": tag, "url": groups.tag_link(tag, page)} for tag in tags_of(record)],
        "own": {column: groups.column_words(record, column, page) for column in own_columns(kind)},
        "source": _file(record.source.path, page, site) if record.source else None,
        "file": _file(record.path, page, site) | ({"edit": None} if record.source else {}),
        "edit": site.forge.edit(text_path),
        "read": site.forge.view(text_path),
        "markdown": relative(page, twin_path(page)),
        "replaced_by": references(relations.replaced_by(record)),
        "today": references(relations.successors_today(record)),
        "scope": {
            "paths": [_glob(glob, record, page, relations, site) for glob in scope.paths],
            "agents": list(scope.agents),
            "tasks": [task_link(task, page) for task in scope.tasks],
            "symbols": list(scope.symbols),
            "uses": list(scope.uses),
        },
        "links": [(label, references(ids)) for label, ids in relations.links(record)],
        "replaces": [{**ref, "word": ""} for ref in references(relations.replaces(record))],
        "evidence": [
            _evidence(kind_, text, page, relations, site) for kind_, text in record.evidence
        ],
        "votes": relations.votes(record),
        "checks": relations.checks.get(record.path),
        "history": [
            {"day": event.day, "verb": event.verb, "person": event.person}
            for event in history_of(record, relations)
        ],
        "related": joined,
        "is_sketched": is_sketched(joined),
        "log": [_in_log(other, page) for other in relations.log_around(record)],
        "neighbours": [
            link_to(neighbour, page) if neighbour else None
            for neighbour in relations.neighbours(record)
        ],
        "cited_by": cited_by(page, relations.citers, site, without=related),
        "tasks": [task_link(task, page) for task in record.words("tasks")],
        "updated": (record.text("updated_at") or "")[:10],
        "fields": [(name, texts) for name, texts in fields if max(map(len, texts)) <= SHORT],
        "sections": [(name, texts) for name, texts in fields if max(map(len, texts)) > SHORT],
        "data": {
            name: value for name, value in record.data.items() if name not in ("uid", kind.prose)
        },
    }


def _glob(
    glob: str, record: Record, page: str, relations: Relations, site: SiteMap
) -> dict[str, Any]:
    """Return how a page shows a glob: the number of files that it matches,
    and the first of them.
    """
    matches = relations.matches.get(record.path, {}).get(glob)
    count, files = matches or (0, ())
    shown = (
        []
        if files == [glob]
        else [{"path": path, "url": _file_url(path, page, site)} for path in files]
    )

    return {
        "glob": glob,
        "url": glob_link(page, glob),
        "count": count if shown else 0,
        "files": shown,
    }


def _related(record: Record, relations: Relations) -> list[tuple[str, str]]:
    """Return what a record supersedes, is superseded by and is linked with, itself among them, by
    age: each with the class of its dot, and what joins it with the record, "" for itself.
    """
    words = dict.fromkeys((any_id for _, ids in relations.links(record) for any_id in ids), RELATES)
    words |= dict.fromkeys(relations.replaces(record), SUPERSEDES)
    words |= dict.fromkeys(relations.replaced_by(record), SUPERSEDES)
    words[record.id] = ""
    known = [relations.by_id[name] for name in words if name in relations.by_id]
    known.sort(key=lambda other: (date_of(other), other.sort_key))
    return [(status_css(other.status), words[other.id]) for other in known]


def _in_log(record: Record, page: str) -> dict[str, str]:
    url = url_of(record)
    return {
        "id": record.id,
        "title": title_of(record),
        "year": date_of(record)[:4],
        "css": status_css(record.status),
        "word": record.status.word,
        "url": "" if url == page else relative(page, url),
    }


def reference(any_id: str, page: str, relations: Relations, site: SiteMap) -> Ref:
    """Return how a page names another record; one that is not on the site is named without
    a link.
    """
    record = relations.by_id.get(any_id)
    if record is None:
        url = site.cited(any_id, "")
        return {"id": any_id, "title": "", "word": "", "url": relative(page, url) if url else None}
    return link_to(record, page)


def link_to(record: Record, page: str) -> Ref:
    """Return how a page names a record of the site."""
    word = "" if record.phase == "live" else record.status.word
    return {
        "id": record.id,
        "title": record.title,
        "word": word,
        "url": relative(page, url_of(record)),
    }


def task_link(task: str, page: str) -> dict[str, str]:
    """Return how a page names a task: a link to the list of tasks."""
    return {"word": task, "url": relative(page, task_url(task))}


def cited_by(
    page: str, citers: Citers, site: SiteMap, without: Container[str] = ()
) -> dict[str, Any]:
    """Return the records, `without` some ids, and the files with their lines that cite what a page
    shows.
    """
    files = []
    for file in citers.files.get(page, ()):
        url = relative(page, file.page) if file.page else site.forge.built(file.path)
        lines = [
            {"number": line, "url": site.forge.built(file.path, line=line)} for line in file.lines
        ]
        files.append(
            {"path": file.path, "title": citers.titles.get(file.path), "url": url, "lines": lines}
        )

    records = [record for record in citers.records.get(page, ()) if record.id not in without]
    return {"records": [link_to(record, page) for record in records], "files": files}


def document_view(
    path: str, page: str, neighbours: Sequence[str], relations: Relations, site: SiteMap
) -> tuple[Any, ...]:
    """Return the values below a document: who cites it,
    the documents before and after ("" for none), what applies.
    """
    citers = relations.citers
    refs = [
        {"id": "", "title": citers.titles[path], "url": relative(page, site.mirrored[path])}
        if path
        else None
        for path in neighbours
    ]

    return (
        cited_by(page, citers, site),
        refs,
        [link_to(record, page) for record in citers.applying.get(path, ())],
    )


def extra_fields(record: Record) -> list[tuple[str, list[str]]]:
    """Return a kind's own fields as label and texts, for a kind whose page has no own template."""
    fields = []
    elsewhere = shared_fields() | _ELSEWHERE | {record.kind.headline, record.kind.prose}
    for name in record.kind.schema.properties:
        if name in elsewhere or name not in record.data:
            continue
        texts = words_in(record.data[name])
        if texts:
            fields.append((name.replace("_", " ").capitalize(), texts))

    return fields


def _file_url(path: str, page: str, site: SiteMap) -> str | None:
    mirrored = site.mirrored.get(path)
    return relative(page, mirrored) if mirrored else site.forge.view(path)


def _file(path: str, page: str, site: SiteMap) -> dict[str, str | None]:
    return {"path": path, "url": _file_url(path, page, site), "edit": site.forge.edit(path)}


def _evidence(
    kind: str, text: str, page: str, relations: Relations, site: SiteMap
) -> dict[str, str | None]:
    url: str | None = None
    if kind == "record":
        url = reference(text, page, relations, site)["url"]
    elif kind == "task":
        url = relative(page, task_url(text))
    elif kind == "file":
        url = site.target("", text).address(page)
    elif kind == "commit" and text.isalnum():
        url = site.forge.change(text)
    elif kind in ("external", "issue", "pr") and text.startswith(("https://", "http://")):
        url = text
    elif kind in ("issue", "pr") and text.lstrip("#!").isdecimal():
        number = text.lstrip("#!")
        url = site.forge.issue(number) if kind == "issue" else site.forge.pull(number)

    return {"kind": kind, "text": text, "url": url}


def listing(record: Record, relations: Relations) -> dict[str, object]:
    """Return a record as `records.json` lists it."""
    scope, kind = record.scope, record.kind
    return {
        "id": record.id,
        "kind": kind.name,
        "title": record.title,
        "sentence": relations.sentence(record),
        "status": record.status.name,
        "word": record.status.word,
        "phase": record.phase,
        "date": date_of(record),
        "date_source": date_source(record),
        "url": url_of(record),
        "scope": {"paths": list(scope.paths), "tags": list(scope.tags)},
        "tags": tags_of(record),
        "fields": {column: ", ".join(texts_of([record], column)) for column in own_columns(kind)},
        "built": built_word(relations.built.get(record.path)),
        "differs": bool(built_chip(relations.built.get(record.path))),
        "review_due": due.since if (due := relations.due.get(record.path)) else None,
        "replaced_by": relations.replaced_by(record),
        "successors": [successor.id for successor in relations.successors(record)],
        "cited_by": relations.citers.count(url_of(record)),
        "legacy_ids": list(record.legacy_ids),
        "updated_at": record.text("updated_at"),
        "votes": relations.votes(record),
    }
