"""The start page: what was decided, and what happened to each record last."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from orbit_registry.lifecycle.built import Built, State
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Record
from orbit_registry.site.edits import Edit
from orbit_registry.site.home import (
    built_html,
    decided,
    decided_html,
    event_of,
    lately,
    lately_html,
    made_decisions,
)
from orbit_registry.site.lists import Index
from orbit_registry.site.mentions import citers_of
from orbit_registry.site.relations import LOG, Relations
from orbit_registry.site.sitemap import SiteMap
from orbit_registry.snapshot.references import References

KINDS = load_kinds()
DAY = "2026-05-04T10:00:00Z"


def _record(number: int = 1, kind: str = "adr", **data: Any) -> Record:
    prefix = KINDS[kind].prefix
    values: dict[str, object] = {
        "id": f"{prefix}{number:04}" if prefix.endswith("-") else f"{prefix}-{number:04}",
        "title": f"Title {number}",
        "status": "accepted" if kind == "adr" else "active",
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": DAY,
    }
    return Record(KINDS[kind], values | data, f".orbit/{kind}/{number}/record.yaml")


@pytest.mark.parametrize(
    ("data", "event"),
    [
        ({}, ("2026-05-04", "edited", "")),
        (
            {"approval": {"approved_at": DAY, "approved_by": "Ada"}},
            ("2026-05-04", "accepted", "Ada"),
        ),
        (
            {"approval": {"approved_at": "2026-02-01T00:00:00Z", "approved_by": "Ada"}},
            ("2026-05-04", "edited", ""),
        ),
        (
            {
                "status": "proposed",
                "created_at": DAY,
                "created_by": {"name": "Bo", "role": "human"},
            },
            ("2026-05-04", "proposed", "Bo"),
        ),
        ({"status": "rejected"}, ("2026-05-04", "rejected", "")),
        (
            {"status": "superseded", "superseded_by": ["ADR-0007"]},
            ("2026-05-04", "superseded by ADR-0007", ""),
        ),
        (
            {"date": "2024-03-02", "created_by": {"name": "Ada", "role": "import"}},
            ("2024-03-02", "accepted", ""),
        ),
        (
            {
                "date": "2024-03-02",
                "created_by": {"name": "Ada", "role": "import"},
                "status": "superseded",
                "superseded_by": ["ADR-0008"],
            },
            ("2025-01-05", "superseded by ADR-0008", ""),
        ),
    ],
)
def test_an_event_has_a_day_a_verb_and_a_person(
    data: dict[str, object], event: tuple[str, str, str]
) -> None:
    record, successor = _record(**data), _record(8, date="2025-01-05")
    assert event_of(record, Relations([record, successor]))[:3] == event


ADOPTED: dict[str, Any] = {"created_by": {"name": "Ada", "role": "import"}, "created_at": DAY}


def _undated(number: int, folder: str = "docs/adr", first_commit: str = "2026-11-30") -> Record:
    source = {"path": f"{folder}/{number:04}-x.md", "format": "nygard"}
    return replace(_record(number, **ADOPTED, source=source), first_commit=first_commit)


def test_a_decision_without_a_date_was_added_when_its_document_came_into_git() -> None:
    record = _undated(1)
    assert event_of(record, Relations([record]))[:3] == ("2026-11-30", "added", "")
    html = decided_html(decided([record]), [record], Relations([record]), "")
    assert '<time datetime="2026-11-30">first committed 2026-11-30</time>' in html


@pytest.mark.parametrize(
    ("dates", "order"),
    [
        # An old one without a date follows the one before it, whenever it was committed.
        (["2020-01-01", "", "2021-01-01"], [3, 2, 1]),
        (["", "2020-01-01", "2021-01-01"], [3, 2, 1]),
        # The newest one may state no date.
        (["2020-01-01", "2021-01-01", ""], [3, 2, 1]),
        (["2022-01-01", "2021-01-01", ""], [1, 3, 2]),
        (["", "", ""], [3, 2, 1]),
    ],
)
def test_a_decision_without_a_date_is_no_newer_than_its_number(
    dates: list[str], order: list[int]
) -> None:
    records = [_undated(number) for number in range(1, len(dates) + 1)]
    for record, date in zip(records, dates, strict=True):
        record.data["date"] = date

    assert [int(record.id[-4:]) for record in made_decisions(records)] == order


def test_another_folder_without_dates_comes_last() -> None:
    dated = [_record(number, date=f"2020-01-0{number}") for number in (1, 2)]
    old = [_undated(3, "legacy"), _undated(4, "legacy")]
    ids = [record.id[-1] for record in made_decisions([*dated, *old])]
    assert ids == ["2", "1", "4", "3"]


def test_a_learning_is_added() -> None:
    record = _record(kind="learning", created_at=DAY)
    assert event_of(record, Relations([record])).verb == "added"


def test_edits_are_folded_below_what_was_decided() -> None:
    records = [_record(number) for number in (1, 2)]
    records += [_record(3, created_at="2024-01-01T00:00:00Z", status="rejected")]
    html = lately_html(*lately(records, Relations(records), {}), "")
    assert html.index("ADR-0003") < html.index("<summary>2 edits") < html.index("ADR-0002")


def test_of_edits_alone_the_newest_are_on_the_page() -> None:
    records = [_record(number) for number in range(1, 13)]
    html = lately_html(*lately(records, Relations(records), {}), "")
    assert html.index("ADR-0006") < html.index("<summary>5 edits") < html.index("ADR-0005")


def test_an_edit_says_who_made_it_and_what_it_is_called() -> None:
    adopted = {"date": "2024-03-02", "created_by": {"name": "Ada", "role": "import"}}
    records = [_record(1, **adopted), _record(2)]
    edits = {record.path: Edit("2026-09-01", "Bo", "Fix the <table>") for record in records}
    html = lately_html(*lately(records, Relations(records), edits), "")
    assert html.index("accepted") < html.index("<summary>2 edits") < html.index("edited")
    assert html.count("by Bo") == html.count("Fix the &lt;table&gt;") == 2


def test_a_site_says_what_it_was_built_from() -> None:
    commit = "92dd87e" + "0" * 33
    address = f"https://example.org/{commit}"
    linked = built_html(commit, "2026-11-29", address)
    assert f'Built from <a href="{address}"><code>92dd87e</code></a> of 2026-11-29.' in linked
    assert "<code>92dd87e</code> of 2026-11-29." in built_html(commit, "2026-11-29", None)
    assert built_html("", "", None) == ""


def test_a_decision_that_is_in_the_code_was_built() -> None:
    records = [_record(1, created_at=DAY)]
    built = {records[0].path: Built(State.BUILT, "its files came with it")}
    assert event_of(records[0], Relations(records, built=built)).verb == "accepted, built"


def test_decisions_are_listed_by_area() -> None:
    records = [_record(number, date=f"2026-01-0{number}") for number in range(1, 8)]
    for number, record in enumerate(records):
        record.data["scope"] = {"tags": [f"t<{number % 3}>"]}

    html = decided_html(decided(records), records, Relations(records), "")
    headings = re.findall(r'<h3 class="orbit-area"><a href="([^"]*)">([^<]*)</a>', html)
    assert [name for _, name in headings] == ["t&lt;1&gt;", "t&lt;0&gt;", "t&lt;2&gt;"]
    assert headings[1][0] == "adrs/?tag=t%3C0%3E"
    assert re.findall(r"ADR-(\d+)</span>", html) == [
        *["0007", "0006"],  # the newest, whatever their area
        *["0005", "0002"],
        *["0004", "0001"],
        "0003",
    ]
    assert '<a href="adrs/?tag=t%3C0%3E">t&lt;0&gt;</a> <small>3</small>' in html


def test_the_newest_decisions_come_first_also_without_an_area() -> None:
    records = [_record(number, date=f"2026-01-0{number}") for number in range(1, 8)]
    for record in records[:5]:
        record.data["scope"] = {"tags": ["a" if record.id < "ADR-0003" else "b"]}

    html = decided_html(decided(records), records, Relations(records), "")
    first, *areas = html.split('<h3 class="orbit-area">')
    assert "ADR-0007" in first
    assert "ADR-0006" in first
    assert len(areas) == 2


@pytest.mark.parametrize(("count", "events"), [(2, 2), (3, 1), (40, 1)])
def test_decisions_that_came_together_without_a_status_are_one_event(
    count: int, events: int
) -> None:
    adopted = {"status": "unknown", "date": "2024-03-02", "created_by": {"role": "import"}}
    records = [_record(number, **adopted) for number in range(1, count + 1)]
    shown, others = lately(records, Relations(records), {})
    assert len(shown) == events
    assert others == []
    html = lately_html(shown, others, "")
    assert (f"with {count - 1} more" in html) == (events == 1)
    assert html.count('<time datetime="2024-03-02">') == events


def test_the_newest_live_decisions_stand_with_their_sentences() -> None:
    records = [_record(number, date=f"2026-01-0{number}") for number in range(1, 9)]
    records.append(_record(9, date="2026-02-01", status="proposed"))
    sentences = {record.path: f"We do <{record.id}>." for record in records}
    html = decided_html(decided(records), records, Relations(records, sentences=sentences), "")
    assert "We do &lt;ADR-0008&gt;." in html
    assert "ADR-0009" not in html
    assert "ADR-0002" not in html
    assert "9 decisions, 8 accepted" in html


def test_of_decisions_of_a_month_the_last_number_comes_first() -> None:
    records = [_record(1, date="2026-07-04"), _record(2, date="2026-07")]
    html = decided_html(decided(records), records, Relations(records), "")
    assert html.index("ADR-0002") < html.index("ADR-0001")


def test_a_decision_without_a_status_is_among_those_that_were_made() -> None:
    records = [_record(1, status="unknown"), _record(2, status="proposed")]
    html = decided_html(decided(records), records, Relations(records), "")
    assert "ADR-0001" in html
    assert "ADR-0002" not in html


@pytest.mark.parametrize(("number", "newest", "oldest"), [(1, 13, 1), (10, 16, 4), (20, 20, 8)])
def test_the_log_next_to_a_decision_has_those_around_it(
    number: int, newest: int, oldest: int
) -> None:
    records = [_record(at) for at in range(1, 21)]
    log = Relations(records).log_around(records[number - 1])
    assert len(log) == LOG
    assert [log[0].id, log[-1].id] == [f"ADR-{newest:04}", f"ADR-{oldest:04}"]
    assert records[number - 1] in log


def test_a_column_in_which_all_records_say_the_same_is_left_out() -> None:
    records = [_record(number, feature="core") for number in range(1, 7)]
    assert "feature" in Index(KINDS["adr"], records).constant
    assert "feature" not in Index(KINDS["adr"], [*records, _record(7, feature="web")]).constant


def test_a_list_of_decisions_does_not_cite_them(site: SiteMap) -> None:
    paths = (
        "docs/adr/README.md",
        "docs/index.md",
        "docs/SUMMARY.md",
        "src/readme_parser.py",
        "a.md",
    )
    files = {path: References((("ADR-0002", 1),)) for path in paths}
    citers = citers_of([], lambda _: References(), files, site, {})
    assert [file.path for file in citers.files["adrs/ADR-0002/"]] == [
        "src/readme_parser.py",
        "a.md",
    ]
    assert citers.count("adrs/ADR-0002/") == 2


def test_the_index_says_once_that_the_code_has_no_trace_of_a_decision(site: SiteMap) -> None:
    records = [_record(1)]
    built = {records[0].path: Built(State.NO_TRACE, "no file has its words")}
    html = Index(KINDS["adr"], records).html("adrs/", Relations(records, built=built))
    assert html.count("no trace in the code") == 1
    assert '<span class="orbit-chip orbit-doubt">no trace in the code</span>' in html
