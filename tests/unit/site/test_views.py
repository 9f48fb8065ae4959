"""What a page shows of a record without a template of its own."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from orbit_registry.formats.hosting import FORMS
from orbit_registry.lifecycle.built import Built, State
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Record
from orbit_registry.operations.glob_counts import files_of_scopes
from orbit_registry.site.groups import groups_of
from orbit_registry.site.record_page import about, article
from orbit_registry.site.relations import Relations
from orbit_registry.site.sitemap import SiteMap, url_of
from orbit_registry.site.views import extra_fields, record_view
from orbit_registry.site.words import date_of, without_restated


def test_only_a_kinds_own_fields_are_shown_as_such() -> None:
    kind = load_kinds()["failure"]
    data: dict[str, object] = dict.fromkeys(kind.schema.properties, "x") | {
        "attempts": 3,
        "target": {"type": "story", "id": "S-1"},
    }
    fields = [
        label for label, _ in extra_fields(Record(kind, data, ".orbit/failures/F-1/failure.yaml"))
    ]
    assert fields == ["Target", "Attempts", "Ttl days"]


def _decision(number: int, *later: int) -> Record:
    ids = [f"ADR-{record:04}" for record in later]
    status = "superseded" if later else "accepted"
    data: dict[str, object] = {
        "id": f"ADR-{number:04}",
        "title": "T",
        "status": status,
        "superseded_by": ids,
    }
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


def _article(record: Record, records: list[Record], site: SiteMap, prose: str = "") -> str:
    view = record_view(record, url_of(record), Relations(records), site, groups_of(records))
    return article(record.kind, view, prose)


def test_the_status_is_in_one_line_and_the_successor_in_one_banner(site: SiteMap) -> None:
    records = [_decision(1, 2), _decision(2)]
    html = _article(records[0], records, site)
    assert re.findall(r"<[a-z][^>]*>[^<]*superseded[^<]*", html, re.IGNORECASE) == [
        '<span class="orbit-chip orbit-closed orbit-status-superseded">superseded',
        "<p>Superseded by ",
    ]
    assert html.count('href="../ADR-0002/"') == 2, "the banner, and the next page"


@pytest.mark.parametrize(
    ("prose", "rest"),
    [
        ("**Status:** Superseded by [ADR-0002](0002-b.md)\n\n**Context.** A", "**Context.** A"),
        (
            "Date: 2026-05-04\n\n## Status\n\nSuperseded by ADR-0002\n\n## Context\n\nA",
            "## Context\n\nA",
        ),
        (
            (
                "## Status\n\nAccepted\n\nSuperceded by [2. Use files](0002-use-files.md)\n\n## "
                "Context\n\nA"
            ),
            (
                "## Status\n\nAccepted\n\nSuperceded by [2. Use files](0002-use-files.md)\n\n## "
                "Context\n\nA"
            ),
        ),
        (
            "## Status\n\nSuperceded by [2. Use files](0002-use-files.md)\n\n## Context\n\nA",
            "## Context\n\nA",
        ),
        (
            "* Status: superseded\n* Deciders: Ann\n\nA",
            "* Status: superseded\n* Deciders: Ann\n\nA",
        ),
        ("**Status:** Accepted\n\nA", "**Status:** Accepted\n\nA"),
        (
            "## Status\n\nSuperseded\n\nIt never worked.\n\n## Context",
            "## Status\n\nSuperseded\n\nIt never worked.\n\n## Context",
        ),
    ],
    ids=[
        "line",
        "section",
        "an earlier status",
        "adr-tools",
        "says who",
        "says otherwise",
        "says more",
    ],
)
def test_prose_does_not_repeat_the_facts_above_it(prose: str, rest: str) -> None:
    record = _decision(1, 2)
    assert (
        without_restated(prose, replace(record, data={**record.data, "date": "2026-05-04"})) == rest
    )


def test_a_glob_has_the_files_that_its_scope_matches(site: SiteMap) -> None:
    record = _decision(1)
    record = replace(
        record, data={**record.data, "scope": {"paths": ["src/**", "!src/b.py", "README.md"]}}
    )
    files = files_of_scopes(
        {record.path: record.globs}, ["README.md", "src/a.py", "src/b.py", "src/c.py"], most=1
    )
    relations = Relations([record], matches=files)
    paths = record_view(record, url_of(record), relations, site, groups_of([record]))["scope"][
        "paths"
    ]
    assert [
        (path["glob"], path["count"], [file["path"] for file in path["files"]]) for path in paths
    ] == [
        ("src/**", 2, ["src/a.py"]),
        ("!src/b.py", 0, []),
        ("README.md", 0, []),  # its name is the file's
    ]


def test_a_title_reads_the_same_wherever_a_page_names_it() -> None:
    neighbours = [
        {"id": "ADR-0001", "title": "Run `orbit check` in <b>CI</b>", "url": "../ADR-0001/"},
        None,
    ]
    html = about({"records": [], "files": []}, neighbours, [])
    assert "Run <code>orbit check</code> in &lt;b&gt;CI&lt;/b&gt;</a>" in html


def test_what_shows_that_a_decision_is_built_has_its_code_marked(site: SiteMap) -> None:
    record = _decision(2)
    shown = Built(State.BUILT, "", ("src/__init__.py:3 has `a<b`",))
    relations = Relations([record], built={record.path: shown})
    html = article(
        record.kind, record_view(record, url_of(record), relations, site, groups_of([record])), ""
    )
    assert "<dd>src/__init__.py:3 has <code>a&lt;b</code></dd>" in html


def test_a_decision_is_accepted_since_its_approval(site: SiteMap) -> None:
    record = _decision(2)
    assert "since" not in _article(record, [record], site)
    approved = replace(
        record, data={**record.data, "approval": {"approved_at": "2026-06-01T09:00:00Z"}}
    )
    assert "<li>since <time>2026-06-01</time></li>" in _article(approved, [approved], site)


def test_a_decision_is_not_from_the_day_of_its_adoption() -> None:
    data: dict[str, object] = {"id": "X-1", "created_at": "2026-05-04T00:00:00Z"}
    days = [date_of(Record(load_kinds()[kind], data, "x/x.yaml")) for kind in ("adr", "learning")]
    assert days == ["", "2026-05-04"]


@pytest.mark.parametrize(
    ("kind", "text", "forge", "url"),
    [
        ("issue", "12", "github", "/issues/12"),
        ("issue", "#12", "gitlab", "/-/issues/12"),
        ("pr", "3", "github", "/pull/3"),
        ("pr", "!3", "gitlab", "/-/merge_requests/3"),
        ("pr", "#3", "forgejo", "/pulls/3"),
        ("pr", "3", "bitbucket", "/pull-requests/3"),
        ("issue", "PROJ-7", "github", None),
        ("issue", "https://tracker.example/7", "github", "https://tracker.example/7"),
    ],
)
def test_evidence_leads_to_the_issue_or_the_change(
    site: SiteMap, kind: str, text: str, forge: str, url: str | None
) -> None:
    hosted = replace(site, forge=replace(site.forge, form=FORMS[forge]))
    record = _decision(1)
    data = {**record.data, "evidence": [{"kind": kind, "reference": text}]}
    view = record_view(
        Record(record.kind, data, record.path), "", Relations([]), hosted, groups_of([])
    )
    address = f"https://github.com/acme/demo{url}" if url and url.startswith("/") else url
    assert view["evidence"] == [{"kind": kind, "text": text, "url": address}]
