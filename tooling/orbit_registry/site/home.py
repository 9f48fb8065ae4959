"""The start page: what a project is, what it has decided, and what happened lately."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import NamedTuple

from orbit_registry.errors import OrbitError, plural
from orbit_registry.formats.markdown import content_start
from orbit_registry.formats.sentences import paragraphs, plain_text, sentences
from orbit_registry.model.record import Record
from orbit_registry.site.feeds import ATOM, JSON_FEED
from orbit_registry.site.sanitize import headline
from orbit_registry.site.sitemap import url_of
from orbit_registry.site.urls import relative
from orbit_registry.site.views import Relations
from orbit_registry.site.words import date_of, status_css
from orbit_registry.snapshot.publication import Publication
from orbit_registry.workspace.files import DOCUMENT_LIMIT, read_text

README = "README.md"
LONGEST_TITLE, LONGEST_ABOUT = 60, 220
DECIDED, LATELY, LATELY_FOLDED = 6, 8, 32
EDITED = "edited"


class Readme(NamedTuple):
    """What a README says of its project: its heading and its first sentence, "" for none."""

    title: str = ""
    about: str = ""


class Event(NamedTuple):
    """What happened to a record last: a day, a verb, and who did it ("" if no person is named)."""

    day: str
    verb: str
    person: str
    record: Record


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
    made = [record for record in decisions if is_made(record)]
    if not made:
        return ""

    made.sort(key=lambda record: (date_of(record), record.sort_key), reverse=True)
    items = "".join(_decision(record, relations, page) for record in made[:DECIDED])
    index = relative(page, f"{made[0].kind.plural}/")
    more = f'<p class="orbit-note"><a href="{escape(index)}">{_all(decisions)}</a></p>'
    listed = f'<ul class="orbit-decided">{items}</ul>'
    return f'<section><h2 id="decided">Decided</h2>{listed}{more}</section>'


def is_made(record: Record) -> bool:
    """Say whether a decision was made: one that states no status counts, one that waits does not
    yet.
    """
    return record.phase == "live" or (record.phase == "pending" and not record.status.waits)


def _all(decisions: Sequence[Record]) -> str:
    total = plural(len(decisions), "decision")
    live = sum(record.phase == "live" for record in decisions)
    if live == len(decisions):
        return f"All {total}" if live > 1 else total

    return f"{total}, {live:,} of them live"


def _decision(record: Record, relations: Relations, page: str) -> str:
    sentence = relations.sentence(record)
    line = f'<p class="orbit-sentence">{escape(sentence)}</p>' if sentence else ""
    day = date_of(record)
    time = f' <time datetime="{escape(day)}">{escape(day)}</time>' if day else ""
    name = f'<span class="orbit-name">{headline(record.title)}</span>'
    link = (
        f'<a href="{escape(relative(page, url_of(record)))}">'
        f'<span class="orbit-id">{escape(record.id)}</span> {name}</a>'
    )
    return f"<li>{link}{time}{line}</li>"


def event_of(record: Record, relations: Relations) -> Event:
    """Return what happened to a record last, as its fields tell it.

    Of a decision that was adopted unchanged, the day is the one that its document states.
    """
    created, updated = (_day(record, name) for name in ("created_at", "updated_at"))
    status = record.status.word
    if record.phase == "closed" and (later := relations.replaced_by(record)):
        return Event(
            _replaced_on(record, relations), f"superseded by {', '.join(later)}", "", record
        )
    if (approved := _day_of(record.approval.get("approved_at"))) and approved == updated:
        return Event(updated, status, str(record.approval.get("approved_by") or ""), record)
    if _is_adopted(record):
        return Event(date_of(record)[:10], status, "", record)
    if created == updated:
        return Event(
            updated, status if record.kind.in_document else "added", _author(record), record
        )
    if record.phase == "closed":
        return Event(updated, status, "", record)

    return Event(updated, EDITED, "", record)


def _replaced_on(record: Record, relations: Relations) -> str:
    if not _is_adopted(record):
        return _day(record, "updated_at")

    later = (relations.by_id.get(any_id) for any_id in relations.replaced_by(record))
    days = [date_of(successor)[:10] for successor in later if successor is not None]
    return max([date_of(record)[:10], *days])


def _is_adopted(record: Record) -> bool:
    author = record.data.get("created_by")
    return isinstance(author, dict) and author.get("role") == "import"


def _day(record: Record, name: str) -> str:
    return _day_of(record.text(name))


def _day_of(moment: object) -> str:
    return str(moment or "")[:10]


def _author(record: Record) -> str:
    author = record.data.get("created_by")
    return str(author.get("name") or "") if isinstance(author, dict) else ""


def lately_html(
    records: Iterable[Record], relations: Relations, page: str, files: Sequence[str]
) -> str:
    """Return what happened lately, edits folded below; `files` have all records for programs."""
    events = [event_of(record, relations) for record in records]
    events = [event for event in events if event.day]
    events.sort(key=lambda event: (event.day, event.record.sort_key), reverse=True)
    if not events:
        return "<section><p>There are no records yet.</p></section>"

    decisive = [event for event in events if event.verb != EDITED]
    first = (decisive or events)[:LATELY]
    shown = {event.record.path for event in first}
    others = [event for event in events if event.record.path not in shown][:LATELY_FOLDED]

    items = _events_html(first, page)
    if others:
        summary = f"<summary>{len(others)} more, back to {escape(others[-1].day)}</summary>"
        folded = _events_html(others, page)
        items += f'<details class="orbit-more">{summary}{folded}</details>'

    feeds = (
        f'<a href="{relative(page, ATOM)}">Atom</a>, <a href="{relative(page, JSON_FEED)}">JSON</a>'
    )
    downloads = ", ".join(f'<a href="{relative(page, name)}">{name}</a>' for name in files)
    note = f'<p class="orbit-note">Feeds: {feeds}. For programs: {downloads}</p>'
    return f'<section><h2 id="lately">Lately</h2>{items}{note}</section>'


def _events_html(events: Iterable[Event], page: str) -> str:
    return f'<ul class="orbit-lately">{"".join(_event(event, page) for event in events)}</ul>'


def _event(event: Event, page: str) -> str:
    record = event.record
    by = f" by {escape(event.person)}" if event.person else ""
    css = status_css(record.status) if event.verb != EDITED else ""
    return (
        f'<li><a href="{escape(relative(page, url_of(record)))}">'
        f'<span class="orbit-id">{escape(record.id)}</span> '
        f'<span class="orbit-name">{headline(record.title)}</span></a>'
        f'<small><span class="{css}">{escape(event.verb)}</span>{by} '
        f'<time datetime="{escape(event.day)}">{escape(event.day)}</time></small></li>'
    )
