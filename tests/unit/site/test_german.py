"""Pages in German: no text of a page reads the same in both languages, data and commands apart."""

import re
from collections.abc import Callable, Iterator
from datetime import date
from html import unescape
from typing import Any

import pytest

from orbit_registry.lifecycle.built import Built, State
from orbit_registry.lifecycle.review_due import Due
from orbit_registry.matching.visibility import Reason, Visibility, summaries
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.model.freshness import Cause, Freshness
from orbit_registry.model.freshness import Reason as Doubt
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Record
from orbit_registry.site import language
from orbit_registry.site.edits import Edit
from orbit_registry.site.explorer import page_html, unshown
from orbit_registry.site.groups import groups_of
from orbit_registry.site.health import folders, health_html
from orbit_registry.site.home import lately as lately_events
from orbit_registry.site.home import lately_html
from orbit_registry.site.map import map_html
from orbit_registry.site.redirects import redirect_pages
from orbit_registry.site.relations import Relations
from orbit_registry.site.sitemap import SiteMap
from orbit_registry.site.views import record_view

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
    return "".join(page.html for page in redirect_pages(records, None).values())


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
def english_again() -> Iterator[None]:
    language.choose(language.ENGLISH)
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


@pytest.mark.parametrize("state", State)
def test_what_became_of_a_decision_is_said_in_german(site: SiteMap, state: State) -> None:
    language.choose("en")
    english = life(site, state)
    language.choose("de")
    assert english
    assert set(english) & set(life(site, state)) == set()


def life(site: SiteMap, state: State) -> list[str]:
    """Return what a page says of a decision that is in doubt and due for a review."""
    record = _record(7, freshness={"verified_at": DAY, "verified_by": "Ada"})
    age = "last verified on 2026-01-01; fast records hold for 9 days"
    why = "it is proposed, but the code has it"
    evidence = ("src/app.py:3 cites it", "commit T1 names it and changed src/app.py and 3 more")
    relations = Relations(
        [record],
        {record.path: Freshness((Doubt(Cause.AGE, "fast", age),))},
        due={record.path: Due("2026-05-04", ("its date, 2026-05-04, has come",))},
        built={record.path: Built(state, why, evidence)},
    )

    view = record_view(record, "", relations, site, groups_of([record]))
    review, built = view["review_due"], view["built"]
    texts = [review["mark"], *review["reasons"], view["doubts"], view["freshness"]]
    if built is not None:
        texts += [built["words"], *built["facts"]]

    return [*texts, view["status_word"]]


@pytest.mark.parametrize(
    ("english", "german"),
    [
        ("no trace in the code", "im Code nicht zu finden"),
        (
            "commit 1a2b3c4 names it and changed a.py and 3 more",
            "Commit 1a2b3c4 nennt sie und änderte a.py und 3 weitere",
        ),
        (
            "no file has `a` or `b`, and no commit names the decision",
            "keine Datei hat `a` oder `b`, und kein Commit nennt die Entscheidung",
        ),
        (
            "it names no path, no file cites it, and it is linked with no record that is shown",
            "er nennt keinen Pfad, keine Datei zitiert ihn, "
            "und er ist mit keinem Eintrag verbunden, der gezeigt wird",
        ),
        ("a commit says `x` (1a2b3c4: Fix (a))", "ein Commit enthält `x` (1a2b3c4: Fix (a))"),
        ("`src/**` matches no file", "`src/**` passt zu keiner Datei"),
        ("what a later version of the core says", "what a later version of the core says"),
    ],
)
def test_a_sentence_of_the_core_is_said_in_german(english: str, german: str) -> None:
    language.choose("en")
    assert language.fact(english) == english
    language.choose("de")
    assert language.fact(english) == german


@pytest.mark.parametrize("records", [RECORDS, RECORDS[4:], RECORDS[1:2]])
def test_the_site_counts_what_no_edit_shows_as_the_commands_do(records: list[Record]) -> None:
    language.choose("en")
    assert unshown(records, judged(records)) == summaries(records, judged(records)) != []
