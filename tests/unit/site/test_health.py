"""What the page on health says: what wants attention, with what sees to it,
and nothing where nothing does.
"""

import re
from datetime import date
from typing import Any

from orbit_registry.matching.visibility import Surroundings, visibilities
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.model.freshness import Cause, Freshness, Reason
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Record
from orbit_registry.site.health import MOST_LISTED, health_html

TODAY = date(2026, 6, 1)
KINDS = load_kinds()


def record(number: int, kind: str = "learning", **fields: Any) -> Record:
    data = {
        "id": f"{KINDS[kind].prefix}-{number:04d}",
        "status": "active" if kind == "learning" else "accepted",
        KINDS[kind].headline: f"Thing <{number}>",
        "scope": {"paths": ["src/**"]},
        "created_at": "2026-05-20T09:00:00Z",
        "updated_at": "2026-05-20T09:00:00Z",
        **fields,
    }
    return Record(KINDS[kind], data, f".orbit/{KINDS[kind].plural}/{data['id']}/{kind}.yaml")


def page(records: list[Record], freshness: dict[str, Freshness] | None = None) -> str:
    judged = visibilities(records, Surroundings(records))
    return health_html(records, (), freshness or {}, TODAY, judged=judged)


def test_a_healthy_collection_is_said_so_in_one_line() -> None:
    html = page([record(1), record(2, "adr")])
    assert "Nothing needs attention" in html
    assert re.findall(r'href="#(\w+)"', html) == []


def test_a_folder_of_another_program_is_no_unreadable_record() -> None:
    problems = [
        Diagnostic(
            "ORB102", Severity.ERROR, "no YAML", Location(".orbit/learnings/L-0001/learning.yaml")
        ),
        Diagnostic(
            "ORB105", Severity.WARNING, "holds no record", Location(".orbit/learnings/executors")
        ),
    ]
    html = "".join(health_html([], problems, {}, TODAY))
    assert "L-0001/learning.yaml" in html
    assert "executors" not in html


def test_each_concern_leads_to_its_records_and_their_command() -> None:
    expired = record(1)
    stale = record(2)
    old = record(3, "adr", status="proposed", created_at="2026-04-01T09:00:00Z")
    young = record(4, "adr", status="proposed")
    bare = record(5, scope={})
    reasons = {
        expired.path: Freshness(
            (Reason(Cause.EXPIRED, "expires_at", "its time was over on 2026-05-01"),)
        ),
        stale.path: Freshness((Reason(Cause.AGE, "verified_at", "nobody looked for 400 days"),)),
    }

    html = page([expired, stale, old, young, bare], reasons)

    assert re.findall(r'<h2 id="(\w+)"', html)[:4] == ["expired", "stale", "waiting", "unscoped"]
    for anchor, doubtful, reason, command in (
        ("expired", expired, "its time was over on 2026-05-01", "orbit learning retire"),
        ("stale", stale, "nobody looked for 400 days", "orbit verify"),
        ("waiting", old, "61 days", "orbit adr accept"),
        ("unscoped", bare, "", "orbit scope suggest"),
    ):
        part = html.partition(f'<h2 id="{anchor}"')[2].partition("<h2")[0]
        assert re.findall(r'<span class="orbit-id">([^<]+)', part) == [doubtful.id]
        assert reason in part
        assert f"<code>{command} {doubtful.id}</code>" in part
        assert "&lt;" in part


def test_a_status_that_is_not_stated_is_counted_apart() -> None:
    html = page(
        [
            record(1, "adr", status="unknown"),
            record(2, "adr", status="unknown", status_raw="experimental"),
        ]
    )
    part = html.partition('<h2 id="unknown"')[2].partition("<h2")[0]
    assert re.findall(r'<span class="orbit-id">([^<]+)', part) == ["ADR--0001", "ADR--0002"]
    assert all(
        words in part
        for words in ("no status stated", "experimental", "--status unknown --dry-run")
    )
    assert 'id="waiting"' not in html


def test_long_lists_are_cut_and_counted() -> None:
    html = page([record(number, scope={}) for number in range(1, 251)])
    assert html.count('<span class="orbit-id">') == MOST_LISTED
    assert "150 more are not listed" in html
    assert ">250<" in html
