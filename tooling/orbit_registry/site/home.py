"""The start page: what a project is, what it has decided, and what happened lately."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import NamedTuple

from orbit_registry.errors import OrbitError
from orbit_registry.formats.markdown import content_start
from orbit_registry.formats.sentences import paragraphs, plain_text, sentences
from orbit_registry.model.record import Record
from orbit_registry.site.areas import Area, areas_of
from orbit_registry.site.edits import Edit
from orbit_registry.site.events import Event, event_of
from orbit_registry.site.feeds import ATOM, JSON_FEED
from orbit_registry.site.language import counted, digits, word
from orbit_registry.site.relations import Relations
from orbit_registry.site.urls import relative
from orbit_registry.site.words import ages_of, date_of, day_of, is_made, record_link, status_css
from orbit_registry.snapshot.publication import Publication
from orbit_registry.workspace.files import DOCUMENT_LIMIT, read_text

README = "README.md"
RECORDS = "records.json"
LONGEST_TITLE, LONGEST_ABOUT = 60, 220
DECIDED, LATELY, LATELY_FOLDED = 6, 7, 32
AREAS, IN_AREA = 3, 2
"""So many areas are on the page, with so many decisions each, below as many of any area."""
FOLDED_FROM = 3
"""So many decisions that came on one day without a status are one event."""


class Decided(NamedTuple):
    """Decisions below one heading."""

    records: Sequence[Record]
    area: Area | None = None
    total: int = 0
    """How many decisions its area has."""


class Readme(NamedTuple):
    """What a README says of its project: its heading and its first sentence, "" for none."""

    title: str = ""
    about: str = ""


def readme_of(publication: Publication) -> Readme:
    """Return what the README says, if readers may see it."""
    if publication.leaves_out(README):
        return Readme()

    try:
        text = read_text(publication.workspace.root / README, limit=DOCUMENT_LIMIT)
    except (OrbitError, OSError):
        return Readme()

    text = text[content_start(text) :]
    headings = (line[2:] for line in text.splitlines() if line.startswith("# "))
    title = plain_text(next(headings, ""))
    about = next(_sentences(text), "")
    if len(title) > LONGEST_TITLE:
        title = ""
    if len(about) > LONGEST_ABOUT:
        about = ""

    return Readme(publication.text(title), publication.text(about))


def _sentences(text: str) -> Iterator[str]:
    for paragraph in paragraphs(text):
        yield from sentences(paragraph)


def decided_html(records: Iterable[Record], relations: Relations, page: str) -> str:
    """Return the newest decisions that were made, each with its sentence."""
    decisions = [record for record in records if record.kind.in_document]
    sections = [
        f"{_heading(each, page)}{_list(each.records, relations, page)}"
        for each in decided(decisions)
    ]
    if not sections:
        return ""

    index = relative(page, f"{decisions[0].kind.plural}/")
    more = f'<p class="orbit-note"><a href="{escape(index)}">{_all(decisions)}</a></p>'
    heading = f'<h2 id="decided">{word("home.decided")}</h2>'
    return f'<section class="orbit-made">{heading}{"".join(sections)}{more}</section>'


def decided(records: Iterable[Record]) -> list[Decided]:
    """Return the newest decisions that were made, and the next ones of the areas whose decisions
    are the newest; without areas, more of the newest.
    """
    made = made_decisions(records)
    areas = areas_of(made)
    if not areas:
        return [Decided(made[:DECIDED])] if made else []

    totals = Counter(areas.values())
    by_area: dict[Area, list[Record]] = {}
    for record in made[IN_AREA:]:
        if record.path in areas:
            by_area.setdefault(areas[record.path], []).append(record)

    shown = [Decided(made[:IN_AREA])]
    for area in list(by_area)[:AREAS]:
        shown.append(Decided(by_area[area][:IN_AREA], area, totals[area]))

    return shown


def made_decisions(records: Iterable[Record]) -> list[Record]:
    """Return the decisions that readers follow, the newest first."""
    made = [record for record in records if record.kind.in_document and is_made(record)]
    ages = ages_of(made)
    return sorted(made, key=lambda record: ages[record.path], reverse=True)


def _heading(decided: Decided, page: str) -> str:
    """Return the heading of the decisions of an area; of the newest ones none."""
    area = decided.area
    if area is None:
        return ""

    name = escape(area.name)
    if area.url:
        target, mark, query = area.url.partition("?")
        href = f"{relative(page, target)}{mark}{query}"
        name = f'<a href="{escape(href)}">{name}</a>'

    return f'<h3 class="orbit-area">{name} <small>{digits(decided.total)}</small></h3>'


def _list(records: Iterable[Record], relations: Relations, page: str) -> str:
    items = "".join(_decision(record, relations, page) for record in records)
    return f'<ul class="orbit-decided">{items}</ul>'


def _all(decisions: Sequence[Record]) -> str:
    live = sum(record.phase == "live" for record in decisions)
    if live == len(decisions):
        return counted("home.all", live)

    return counted("home.some", len(decisions), live=live)


def _decision(record: Record, relations: Relations, page: str) -> str:
    sentence = relations.sentence(record)
    line = f'<p class="orbit-sentence">{escape(sentence)}</p>' if sentence else ""
    day = date_of(record) or record.first_commit
    time = f' <time datetime="{escape(day)}">{escape(day_of(record))}</time>' if day else ""
    return f"<li>{record_link(record, page)}{time}{line}</li>"


def lately(
    records: Iterable[Record], relations: Relations, edits: Mapping[str, Edit]
) -> tuple[list[Event], list[Event]]:
    """Return what happened lately, the newest first: what is shown at once, and what is folded;
    `edits` are by the record's path.
    """
    events = [event_of(record, relations) for record in records]
    events = [_with_edit(event, edits.get(event.record.path)) for event in events]
    events += list(_later_edits(events, edits))
    events.sort(key=_when, reverse=True)

    decisive = _folded(event for event in events if not event.is_edit)
    of_decisions = [event for event in decisive if event.record.kind.in_document]
    first = (of_decisions or decisive or events)[:LATELY]
    edited = [event for event in events if event.is_edit]
    others = [event for event in (*decisive, *edited) if event not in first]
    others.sort(key=_when, reverse=True)
    return first, others[:LATELY_FOLDED]


def _when(event: Event) -> tuple[str, tuple[object, ...]]:
    return event.day, event.record.sort_key


def _folded(events: Iterable[Event]) -> list[Event]:
    """Return events in their order; decisions that came without a status on one day, as those of
    a collection that a project begins with, are one event.
    """
    added = word("event.added")
    by_day: dict[tuple[str, str, str], list[Event]] = {}
    for event in events:
        came = event.record.kind.in_document and event.verb == added
        key = (event.day, event.person, "" if came else event.record.path)
        by_day.setdefault(key, []).append(event)

    folded: list[Event] = []
    for same in by_day.values():
        if len(same) < FOLDED_FROM:
            folded += same
        else:
            folded.append(same[0]._replace(others=len(same) - 1))

    return folded


def lately_html(first: Sequence[Event], others: Sequence[Event], page: str) -> str:
    """Return what happened lately, and where programs find the records."""
    if not first:
        return f"<section><p>{word('home.empty')}</p></section>"

    items = _events_html(first, page)
    if others:
        edited = sum(event.is_edit for event in others)
        name = word("home.more", n=len(others))
        if edited == len(others):
            name = counted("home.edit", edited)

        oldest = others[-1].day
        back = word("home.back", day=escape(oldest)) if oldest else ""
        summary = f"<summary>{name}{back}</summary>"
        folded = _events_html(others, page)
        items += f'<details class="orbit-more">{summary}{folded}</details>'

    feeds = (
        f'<a href="{relative(page, ATOM)}">Atom</a>, <a href="{relative(page, JSON_FEED)}">JSON</a>'
    )
    file = f'<a href="{relative(page, RECORDS)}"><code>{RECORDS}</code></a>'
    note = f'<p class="orbit-note">{word("home.feeds", feeds=feeds, files=file)}</p>'
    return f'<section><h2 id="lately">{word("home.lately")}</h2>{items}{note}</section>'


def built_html(commit: str, day: str, address: str | None) -> str:
    """Return what the site was built from, with a link to the commit if it has an address; "" for
    no commit.

    It is on this page alone: on all of them it would change each page at each commit.
    """
    if not commit:
        return ""

    name = f"<code>{escape(commit[:7])}</code>"
    if address:
        name = f'<a href="{escape(address)}">{name}</a>'

    return f'<p class="orbit-note">{word("home.built", commit=name, day=escape(day))}</p>'


def _with_edit(event: Event, edit: Edit | None) -> Event:
    """Return an event that is an edit with who made it and what it is called."""
    if not event.is_edit or edit is None:
        return event

    return event._replace(person=edit.person, about=edit.subject)


def _later_edits(events: Iterable[Event], edits: Mapping[str, Edit]) -> Iterator[Event]:
    """Yield the edits of records whose status changed before."""
    for event in events:
        edit = edits.get(event.record.path)
        if edit is not None and not event.is_edit and edit.day > event.day:
            yield Event(edit.day, word("event.edited"), edit.person, event.record, edit.subject)


def _events_html(events: Iterable[Event], page: str) -> str:
    return f'<ul class="orbit-lately">{"".join(_event(event, page) for event in events)}</ul>'


def _event(event: Event, page: str) -> str:
    record = event.record
    by = f" {word('record.by', name=escape(event.person))}" if event.person else ""
    about = f": {escape(event.about)}" if event.about else ""
    css = status_css(record.status) if not event.is_edit else ""
    day = escape(event.day)
    time = f' <time datetime="{day}">{day}</time>' if day else ""
    more = f" {word('event.more', n=digits(event.others))}" if event.others else ""
    return (
        f"<li>{record_link(record, page)}"
        f'<small><b class="{css}">{escape(event.verb)}</b>{more}{by}{time}{about}</small></li>'
    )
