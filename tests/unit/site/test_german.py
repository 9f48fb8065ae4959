"""Pages in German: no text of a page reads the same in both languages, data and commands apart."""

import re
from collections.abc import Callable, Iterator
from datetime import date
from html import unescape
from typing import Any

import pytest

from orbit_registry.matching.visibility import Reason, Visibility, summaries
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Record
from orbit_registry.site import language
from orbit_registry.site.edits import Edit
from orbit_registry.site.explorer import page_html, unshown
from orbit_registry.site.health import folders, health_html
from orbit_registry.site.home import lately as lately_events
from orbit_registry.site.home import lately_html
from orbit_registry.site.map import map_html
from orbit_registry.site.redirects import redirect_pages
from orbit_registry.site.relations import Relations

KINDS = load_kinds()
DAY = "2026-05-04T10:00:00Z"
DATA = re.compile(
    r"ADR-\d+|L-\d+|[TZ]\d|Ada|src/(?:app.py)?|\d+|Atom|JSON|Feeds|DuckDB|SQL|Ctrl|Enter|Id|in|Status"
)
"""What a page has of the records, and words that both languages have."""


def _record(number: int, kind: str = "adr", **data: Any) -> Record:
    values = {
        "id": f"{'ADR' if kind == 'adr' else 'L'}-{number:04}",
        "title": f"T{number}",
        "status": "accepted" if kind == "adr" else "active",
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": DAY,
    }
    return Record(KINDS[kind], values | data, f".orbit/{kind}/{number}/record.yaml")


RECORDS = [
    _record(1, status="superseded", superseded_by=["ADR-0002"]),
    _record(2, supersedes=["ADR-0001"], approval={"approved_at": DAY, "approved_by": "Ada"}),
    _record(6),
    _record(3, links=[{"rel": "related_to", "to": "ADR-0002"}]),
    _record(4, status="proposed", scope={"paths": ["src/a/**", "src/b/**"]}),
    _record(5, "learning", created_at=DAY, scope={"paths": ["src/a/**"]}),
]
EDITS = {RECORDS[1].path: Edit("2026-06-01", "Ada", "T1")}


def lately() -> str:
    return lately_html(*lately_events(RECORDS, Relations(RECORDS), EDITS), "")


def judged(records: list[Record]) -> dict[str, Visibility]:
    reason = Reason("no path", "T1", ("orbit explain T1",))
    return {record.path: Visibility((), reason) for record in records}


def unshown_in(records: list[Record]) -> str:
    several, alone = unshown(records, judged(records)), unshown(records[4:5], judged(records))
    return "; ".join([*several, *alone])


def wellbeing() -> str:
    waiting = [_record(number, status="proposed") for number in range(10, 25)]
    none = [_record(9, status="unknown")]
    records = [*RECORDS, *waiting, *none]
    problem = Diagnostic("ORB102", Severity.ERROR, "T1", Location(".orbit/adrs/T1/adr.yaml"))
    counts = folders([f"src{number}/T1" for number in range(30)], [("src1/**",)])
    few = health_html([], (), {}, date(2026, 6, 1))
    judgements = judged(records)
    full = health_html(records, (problem,), {}, date(2026, 6, 1), counts, judgements)
    return few + full


def earlier_names() -> str:
    records = [_record(1, legacy_ids=["Z1", "Z2"]), _record(2, legacy_ids=["Z2"])]
    return "".join(redirect_pages(records, None).values())


PAGES = {
    "lately": lately,
    "map": lambda: map_html(RECORDS, Relations(RECORDS)),
    "lone map": lambda: map_html(RECORDS[4:], Relations(RECORDS[4:])),
    "paths": lambda: page_html(RECORDS, unshown_in(RECORDS)),
    "no paths": lambda: page_html(RECORDS[:1]) + page_html(RECORDS[:3]),
    "health": wellbeing,
    "earlier names": earlier_names,
}


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    yield
    language.choose(language.ENGLISH)


def texts(html: str) -> set[str]:
    bare = re.sub(r"(?s)<(code|script|time)\b.*?</\1>", " ", html)
    found = re.findall(r">([^<>]+)<", f">{bare}<")
    found += re.findall(r'\b(?:aria-label|alt|placeholder|title)="([^"]*)"', bare)
    words = (DATA.sub(" ", unescape(text)) for text in found)
    return {text.strip() for text in words if re.search(r"[^\W\d_]{2,}", text)}


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_a_page_has_no_english_words_in_german(page: Callable[[], str]) -> None:
    language.choose("en")
    english = texts(page())
    language.choose("de")
    assert english
    assert english & texts(page()) == set()


@pytest.mark.parametrize("records", [RECORDS, RECORDS[4:], RECORDS[1:2]])
def test_the_site_counts_what_no_edit_shows_as_the_commands_do(records: list[Record]) -> None:
    assert unshown(records, judged(records)) == summaries(records, judged(records)) != []
