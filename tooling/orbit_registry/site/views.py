"""Template values of records: words, addresses, lists, and the previews of cited records."""

import re
from collections.abc import Container, Sequence
from html import escape, unescape
from typing import Any, TypedDict

from orbit_registry.lifecycle.built import Built, State
from orbit_registry.lifecycle.review_due import Due
from orbit_registry.model.freshness import expires_at, freshness_fields
from orbit_registry.model.record import Record
from orbit_registry.model.schema import shared_fields
from orbit_registry.site.arcs import RELATES, SUPERSEDES, is_sketched
from orbit_registry.site.check import resolved
from orbit_registry.site.events import history_of
from orbit_registry.site.explorer import glob_link
from orbit_registry.site.groups import Groups
from orbit_registry.site.language import fact, labels_of, status_word, word
from orbit_registry.site.mentions import Citers
from orbit_registry.site.prose import card_id
from orbit_registry.site.relations import Relations
from orbit_registry.site.sanitize import headline
from orbit_registry.site.sitemap import SiteMap, task_url, url_of
from orbit_registry.site.twins import twin_path
from orbit_registry.site.urls import relative
from orbit_registry.site.words import (
    built_word,
    chip,
    date_of,
    date_source,
    day_of,
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
    day = f" <small>{escape(day_of(record))}</small>"

    return (
        f'<div class="orbit-card" id="{card_id(url)}"><b>{escape(record.id)} '
        f"{headline(record.title)}</b>"
        f"<span>{chip(record)}{day}</span>{text}</div>"
    )


SHORT = 90  # longest field in the margin; longer ones are sections below the prose
_ELSEWHERE = frozenset({"source", "status_raw"})  # fields that every kind's page has


class Ref(TypedDict):
    """A record named on another's page; `url` is None where it has no page."""

    id: str
    title: str
    word: str
    url: str | None


def freshness_words(record: Record) -> str:
    """Return when a live record was verified and when it ends; "" if it says neither."""
    if record.phase != "live":
        return ""
    dates = freshness_fields(record)
    verified_at, by = (str(dates.get(name) or "") for name in ("verified_at", "verified_by"))
    end = expires_at(record)
    parts = []
    if verified_at:
        person = f" {word('record.by', name=by)}" if by else ""
        parts.append(f"{word('record.on', day=verified_at[:10])}{person}")
    if end:
        parts.append(word("record.until", day=f"{end:%Y-%m-%d}"))

    return ", ".join(parts)


def record_view(
    record: Record, page: str, relations: Relations, site: SiteMap, groups: Groups
) -> dict[str, Any]:
    """Return everything a record's page shows but its prose; addresses are relative to `page`."""
    return {
        **_identity(record, page),
        **_state(record, relations),
        **_life(record, relations),
        **_words_of(record, page, groups),
        **_addresses(record, page, site),
        **_joined(record, page, relations, site),
        **_around(record, page, relations),
        **_fields(record),
        "scope": _scope(record, page, relations, site),
    }


def _identity(record: Record, page: str) -> dict[str, Any]:
    return {
        "id": record.id,
        "origin": record.origin,
        "title": record.title,
        "kind_labels": labels_of(record.kind),
        "index_url": relative(page, f"{record.kind.plural}/"),
        "legacy_ids": list(record.legacy_ids),
        "date": day_of(record),
        "updated": (record.text("updated_at") or "")[:10],
    }


def _state(record: Record, relations: Relations) -> dict[str, Any]:
    is_live = record.phase == "live"
    since = record.approval.get("approved_at", "")[:10]
    raw = record.text("status_raw") or ""
    if restates(raw, record):
        raw = ""

    return {
        "sentence": relations.sentence(record),
        "status_word": status_word(record.status),
        "status_class": status_css(record.status),
        "status_raw": raw,
        "is_live": is_live,
        "since": since if is_live else "",
    }


def _life(record: Record, relations: Relations) -> dict[str, Any]:
    """Return what became of a record: whether it still holds, and what happened to it."""
    events = history_of(record, relations)
    history = [{"day": each.day, "verb": each.verb, "person": each.person} for each in events]
    return {
        "doubts": relations.doubts(record),
        "review_due": _review(relations.due.get(record.path)),
        "built": _built(relations.built.get(record.path)),
        "freshness": freshness_words(record),
        "votes": relations.votes(record),
        "checks": relations.checks.get(record.path),
        "history": history,
    }


def _review(due: Due | None) -> dict[str, Any] | None:
    """Return since when a record is to be looked at again, and why."""
    if due is None:
        return None

    return {"since": due.since, "mark": fact(due.mark), "reasons": [*map(fact, due.reasons)]}


def _built(built: Built | None) -> dict[str, Any] | None:
    """Return whether the code follows a decision, and what shows it; None if that can't be said.

    Of what is built, the evidence alone says why.
    """
    if built is None or built.state is State.UNKNOWN:
        return None

    why = [] if built.state is State.BUILT and built.evidence else [built.why]
    facts = [fact(text) for text in (*why, *built.evidence)]
    return {"words": fact(built.words), "differs": built.differs, "facts": facts}


def _words_of(record: Record, page: str, groups: Groups) -> dict[str, Any]:
    columns = own_columns(record.kind)
    return {
        "tags": [{"word": tag, "url": groups.tag_link(tag, page)} for tag in tags_of(record)],
        "own": {column: groups.column_words(record, column, page) for column in columns},
        "tasks": [task_link(task, page) for task in record.words("tasks")],
    }


def _addresses(record: Record, page: str, site: SiteMap) -> dict[str, Any]:
    """Return where a record and its text are; the text is edited where it is, and not twice."""
    file, source = _file(record.path, page, site), None
    text_path = record.path
    if record.source:
        text_path = record.source.path
        source = _file(text_path, page, site)
        file["edit"] = None

    return {
        "file": file,
        "source": source,
        "edit": site.forge.edit(text_path),
        "read": site.forge.view(text_path),
        "markdown": relative(page, twin_path(page)),
    }


def _joined(record: Record, page: str, relations: Relations, site: SiteMap) -> dict[str, Any]:
    """Return the records that a record is joined with, and what cites it besides."""

    def references(ids: Sequence[str]) -> list[Ref]:
        return [reference(any_id, page, relations, site) for any_id in ids]

    links = relations.links(record)
    replaces, replaced_by = relations.replaces(record), relations.replaced_by(record)
    related = {*replaces, *replaced_by}
    for _, ids in links:
        related.update(ids)

    earlier = [{**ref, "word": ""} for ref in references(replaces)]
    today = references(relations.successors_today(record))
    return {
        "replaced_by": references(replaced_by),
        "today": today,
        "replaces": earlier,
        "links": [(label, references(ids)) for label, ids in links],
        "evidence": [_evidence(*each, page, relations, site) for each in record.evidence],
        "cited_by": cited_by(page, relations.citers, site, without=related),
    }


def _around(record: Record, page: str, relations: Relations) -> dict[str, Any]:
    """Return the drawing of what a record is joined with, and its neighbours in lists."""
    neighbours = relations.neighbours(record)
    drawn = _related(record, relations)
    return {
        "related": drawn,
        "is_sketched": is_sketched(drawn),
        "log": [in_log(other, page) for other in relations.log_around(record)],
        "neighbours": [link_to(each, page) if each else None for each in neighbours],
    }


def _scope(record: Record, page: str, relations: Relations, site: SiteMap) -> dict[str, Any]:
    scope = record.scope
    return {
        "paths": [_glob(glob, record, page, relations, site) for glob in scope.paths],
        "agents": list(scope.agents),
        "tasks": [task_link(task, page) for task in scope.tasks],
        "symbols": list(scope.symbols),
        "uses": list(scope.uses),
    }


def _fields(record: Record) -> dict[str, Any]:
    """Return the fields of a kind: the short ones for the margin, the others for below the prose,
    and all as data, for a kind that brings a template.
    """
    margin: list[tuple[str, list[str]]] = []
    sections: list[tuple[str, list[str]]] = []
    for name, texts in extra_fields(record):
        longest = max(map(len, texts))
        (margin if longest <= SHORT else sections).append((name, texts))

    left_out = ("uid", record.kind.prose)
    data = {name: value for name, value in record.data.items() if name not in left_out}
    return {"fields": margin, "sections": sections, "data": data}


def _glob(
    glob: str, record: Record, page: str, relations: Relations, site: SiteMap
) -> dict[str, Any]:
    """Return how a page shows a glob: the number of files that it matches,
    and the first of them.
    """
    matches = relations.matches.get(record.path, {}).get(glob)
    count, files = matches or (0, ())
    if files == [glob]:
        shown = []
    else:
        shown = [{"path": path, "url": _file_url(path, page, site)} for path in files]

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
    words: dict[str, str] = {}
    for _, ids in relations.links(record):
        words |= dict.fromkeys(ids, RELATES)

    words |= dict.fromkeys(relations.replaces(record), SUPERSEDES)
    words |= dict.fromkeys(relations.replaced_by(record), SUPERSEDES)
    words[record.id] = ""
    known = [relations.by_id[name] for name in words if name in relations.by_id]
    known.sort(key=lambda other: relations.ages[other.path])
    return [(status_css(other.status), words[other.id]) for other in known]


def in_log(record: Record, page: str) -> dict[str, str]:
    """Return how the log next to the page of a decision names one; itself without an address."""
    url = url_of(record)
    is_live = record.phase == "live"
    return {
        "id": record.id,
        "title": title_of(record),
        "year": date_of(record)[:4],
        "css": "orbit-live" if is_live else status_css(record.status),
        "word": "" if is_live else status_word(record.status),
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
    word = "" if record.phase == "live" else status_word(record.status)
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
    if mirrored:
        return relative(page, mirrored)

    return site.forge.view(path)


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
    built, due = relations.built.get(record.path), relations.due.get(record.path)
    columns = own_columns(kind)
    row: dict[str, object] = {
        "id": record.id,
        "kind": kind.name,
        "title": record.title,
        "sentence": relations.sentence(record),
        "status": record.status.name,
        "word": record.status.word,
        "phase": record.phase,
        "date": date_of(record) or record.first_commit,
        "date_source": date_source(record),
        "url": url_of(record),
    }
    row["scope"] = {"paths": list(scope.paths), "tags": list(scope.tags)}
    row["tags"] = tags_of(record)
    row["fields"] = {column: ", ".join(texts_of([record], column)) for column in columns}
    row["built"] = built_word(built)
    row["differs"] = built is not None and built.differs
    row["review_due"] = due.since if due else None
    row["replaced_by"] = relations.replaced_by(record)
    row["successors"] = [successor.id for successor in relations.successors(record)]
    row["cited_by"] = relations.citers.count(url_of(record))
    row["legacy_ids"] = list(record.legacy_ids)
    row["updated_at"] = record.text("updated_at")
    row["votes"] = relations.votes(record)
    return row
