"""What a page shows of a record without a template of its own."""

from __future__ import annotations

import re

import pytest

from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Record
from orbit_registry.site.groups import groups_of
from orbit_registry.site.lists import recent_html
from orbit_registry.site.page import about, article
from orbit_registry.site.sitemap import SiteMap, url_of
from orbit_registry.site.views import Relations, extra_fields, record_view
from orbit_registry.site.words import date_of


def test_only_a_kinds_own_fields_are_shown_as_such() -> None:
    kind = load_kinds()["failure"]
    data: dict[str, object] = dict.fromkeys(kind.schema.properties, "x") | {
        "attempts": 3,
        "target": {"type": "story", "id": "S-1"},
    }
    fields = [label for label, _ in extra_fields(Record(kind, data, ".orbit/failures/F-1/failure.yaml"))]
    assert fields == ["Target", "Attempts", "Ttl days"]


def _decision(number: int, *later: int) -> Record:
    ids = [f"ADR-{record:04}" for record in later]
    status = "superseded" if later else "accepted"
    data: dict[str, object] = {"id": f"ADR-{number:04}", "title": "T", "status": status, "superseded_by": ids}
    data["updated_at"] = "2026-05-04T00:00:00Z"
    return Record(load_kinds()["adr"], data, f".orbit/adrs/ADR-{number:04}/adr.yaml")


@pytest.mark.parametrize(
    ("chain", "of_today"),
    [
        ({1: [2], 2: []}, []),
        ({1: [2], 2: [3], 3: [4], 4: []}, ["ADR-0004"]),
        ({1: [2, 3], 2: [4], 3: [], 4: []}, ["ADR-0004"]),
        ({1: [2], 2: [3], 3: [1]}, []),
        ({1: [2], 2: [9]}, []),
    ],
    ids=["one step", "three steps", "a fork", "a circle", "one that is not here"],
)
def test_what_replaced_a_replaced_decision_is_known_to_its_end(
    chain: dict[int, list[int]], of_today: list[str]
) -> None:
    records = [_decision(number, *later) for number, later in chain.items()]
    assert Relations(records).successors_today(records[0]) == of_today


def test_each_replaced_decision_has_an_arrow(site: SiteMap) -> None:
    records = [_decision(1, 3), _decision(2, 3), _decision(3), _decision(4, 5), _decision(5)]
    pages = {}
    for record in records:
        view = record_view(record, url_of(record), Relations(records), site, groups_of(records))
        pages[record.id] = re.findall(r'<ol class="orbit-chain".*?</ol>', article(record.kind, view, ""), re.DOTALL)[0]
    several = re.findall(r'<li class="orbit-several">(<ul>.*?</ul>)</li>', pages["ADR-0003"])
    assert [re.findall("ADR-....</a>", items) for items in several] == [["ADR-0001</a>", "ADR-0002</a>"]]
    assert all("orbit-several" not in pages[name] for name in ("ADR-0001", "ADR-0004", "ADR-0005"))


def test_a_title_reads_the_same_wherever_a_page_names_it() -> None:
    beside = [{"id": "ADR-0001", "title": "Run `orbit check` in <b>CI</b>", "url": "../ADR-0001/"}, None]
    assert "Run <code>orbit check</code> in &lt;b&gt;CI&lt;/b&gt;</a>" in about(
        {"records": [], "files": []}, beside, []
    )


def test_the_start_page_keeps_a_month_of_changes_folded() -> None:
    records = [_decision(number) for number in range(1, 13)]
    html = recent_html(records, "", ())
    assert html.index("ADR-0005") < html.index("<summary>4 more, back to 2026-05-04<") < html.index("ADR-0004")
    assert "<summary>" not in recent_html(records[:8], "", ())


def test_a_decision_is_not_from_the_day_of_its_adoption() -> None:
    data: dict[str, object] = {"id": "X-1", "created_at": "2026-05-04T00:00:00Z"}
    days = [date_of(Record(load_kinds()[kind], data, "x/x.yaml")) for kind in ("adr", "learning")]
    assert days == ["", "2026-05-04"]
