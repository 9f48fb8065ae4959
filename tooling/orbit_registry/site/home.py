"""The start page: what a project is, what it has decided, and what happened lately."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from orbit_registry.errors import OrbitError
from orbit_registry.formats.markdown import content_start
from orbit_registry.formats.sentences import paragraphs, plain_text, sentences
from orbit_registry.model.record import Record
from orbit_registry.site.areas import Area, areas_of
from orbit_registry.site.edits import Edit
from orbit_registry.site.events import Event, event_of
from orbit_registry.site.feeds import ATOM, JSON_FEED
from orbit_registry.site.filling import macros
from orbit_registry.site.language import counted, word
from orbit_registry.site.relations import Relations
from orbit_registry.site.urls import relative
from orbit_registry.site.words import ages_of, date_of, day_of, is_made
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


class Home(NamedTuple):
    """What the start page says, as HTML and as Markdown."""

    decided: Sequence[Decided]
    first: Sequence[Event]
    """What happened lately: what is shown at once."""
    others: Sequence[Event]


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


def home_of(records: Sequence[Record], relations: Relations, edits: Mapping[str, Edit]) -> Home:
    """Return what the start page says of records; `edits` are by the record's path."""
    return Home(decided(records), *lately(records, relations, edits))


def decided_html(
    made: Iterable[Decided], records: Iterable[Record], relations: Relations, page: str
) -> str:
    """Return the newest decisions that were made, each with its sentence, and how many of all
    records are decisions.
    """
    decisions = [record for record in records if record.kind.in_document]
    sections = []
    for each in made:
        rows = [_row(record, relations) for record in each.records]
        sections.append((each.area, _address(each.area, page), each.total, rows))

    if not sections:
        return ""

    index = relative(page, f"{decisions[0].kind.plural}/")
    return str(macros("home.html").decided(sections, page, index, _all(decisions)))


def _row(record: Record, relations: Relations) -> tuple[Record, str, str, str]:
    """Return a decision as its line shows it: itself, its day, that in words, its sentence."""
    day = date_of(record) or record.first_commit
    return record, day, day_of(record), relations.sentence(record)


def _address(area: Area | None, page: str) -> str:
    """Return where the name of an area leads; "" for nowhere."""
    if area is None or not area.url:
        return ""

    target, mark, query = area.url.partition("?")
    return f"{relative(page, target)}{mark}{query}"


def decided(records: Iterable[Record]) -> list[Decided]:
    """Return the newest decisions that were made, and the next ones of the areas whose decisions
    are the newest; without areas, more of the newest.
    """
    made = made_decisions(records)
    areas = areas_of(made)
    if not areas:
        if made:
            return [Decided(made[:DECIDED])]

        return []

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


def _all(decisions: Sequence[Record]) -> str:
    live = sum(record.phase == "live" for record in decisions)
    if live == len(decisions):
        return counted("home.all", live)

    return counted("home.some", len(decisions), live=live)


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
    files = {"atom": ATOM, "json": JSON_FEED, "records": RECORDS}
    files = {name: relative(page, file) for name, file in files.items()}
    return str(macros("home.html").lately(first, others, page, files))


def built_html(commit: str, day: str, address: str | None) -> str:
    """Return what the site was built from, with a link to the commit if it has an address; "" for
    no commit.

    It is on this page alone: on all of them it would change each page at each commit.
    """
    if commit:
        return str(macros("home.html").built(commit, day, address))

    return ""


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
