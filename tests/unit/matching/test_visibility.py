"""Where agents are shown a record, worked out from values: tests/cases/visibility.yaml."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from orbit_registry.formats.yaml import load
from orbit_registry.matching.pack import Citation
from orbit_registry.matching.visibility import Surroundings, overlooked, summary, visibilities
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.workspace.config import default_mapping

CASES: Any = load((Path(__file__).parents[2] / "cases" / "visibility.yaml").read_text("utf-8"))
KINDS = load_kinds()
LIVE = {"adr": "accepted", "learning": "active", "rule": "approved", "failure": "open"}
NOW = 1_770_000_000.0
WHEN = "2026-01-01T00:00:00Z"
APPROVAL = {"suggested_by": "Ada", "approved_by": "Ada", "approved_at": WHEN}


def files_of(case: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts of a case's tracked files."""
    texts: dict[str, str] = {}
    for name, text in case["files"].items():
        if isinstance(text, int):
            texts |= {name.format(number): "" for number in range(text)}
        else:
            texts[name] = text

    return texts


def fields_of(case: Mapping[str, Any]) -> Iterator[tuple[str, bool, dict[str, Any]]]:
    """Yield kind, whether it waits in the inbox, and fields of each record, first the one that is
    asked about.
    """
    number = 0
    for entry in (case["record"], *case.get("others", ())):
        for _ in range(entry.get("times", 1)):
            number += 1
            fields = {name: value for name, value in entry.items() if name != "times"}
            kind = fields.pop("kind", "learning")
            waits = fields.pop("pending", False)
            prefix = KINDS[kind].prefix
            code = f"{number:04d}" if kind == "adr" else f"{number:05d}"
            status = "candidate" if waits else LIVE[kind]
            if kind == "rule":
                fields["approval"] = APPROVAL

            yield kind, waits, {"id": f"{prefix}{code}", "status": status, **fields}


def records_of(case: Mapping[str, Any]) -> list[Record]:
    records = []
    for name, waits, fields in fields_of(case):
        kind = KINDS[name]
        folder = ".orbit/state/inbox" if waits else ".orbit"
        path = f"{folder}/{kind.plural}/{fields['id']}/{name}.yaml"
        data = {"created_at": WHEN, "updated_at": WHEN, **fields}
        records.append(Record(kind, data, path))

    return records


def surroundings_of_case(case: Mapping[str, Any], records: list[Record]) -> Surroundings:
    texts, existing = files_of(case), RecordSet(records)
    cited: dict[str, list[Citation]] = {}
    imported: dict[str, list[str]] = {}
    for file, text in texts.items():
        if not file.endswith(".py"):
            continue

        for name in re.findall(r"ADR-\d{4}", text):
            record = existing.get(name)
            successors = existing.live_successors(record)
            led_to = [Citation(record.path)] if record.phase != "closed" else []
            led_to += [Citation(later.path, record.path) for later in successors]
            cited.setdefault(file, []).extend(led_to)

        packages = re.findall(r"^(?:import|from) (\w+)", text, re.MULTILINE)
        imported[file] = [name for name in packages if name == "redis"]

    config: Any = load(case.get("config", "{}"))
    agents = dict(default_mapping())
    agents |= config.get("learnings_config", {}).get("agent_category_mapping", {})
    return Surroundings(
        records,
        [*texts],
        [*texts],
        cited,
        imported,
        agents=agents,
        local=frozenset(record.path for record in records if "/inbox/" in record.path),
        now=NOW,
    )


def check(case: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
    """Hold the judgement, as JSON shows it, to the case."""
    said = " ".join(answer["said"])
    assert answer["files"] == case["files_shown"], said
    assert [moment["moment"] for moment in answer["moments"]] == case["moments"], said
    assert answer["cause"] == case.get("cause"), said
    assert answer["withheld"] == case.get("withheld", 0)
    assert answer["after_acceptance"] is case.get("waits", False)
    assert case.get("said", "") in said


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["name"]))
def test_a_record_is_shown_where_the_case_says(case: Mapping[str, Any]) -> None:
    records = records_of(case)
    judged = visibilities(records, surroundings_of_case(case, records))
    visibility = judged[records[0].path]

    check(case, visibility.as_data())
    assert visibility.undecided == case.get("undecided", 0)
    assert (records[0] in overlooked(records, judged)) is case.get("overlooked", False)


def test_a_summary_counts_the_records_in_force_of_a_kind() -> None:
    case = {
        "files": {"src/a.py": ""},
        "record": {"kind": "adr", "title": "One"},
        "others": [
            {"kind": "adr", "title": "Two"},
            {"kind": "adr", "title": "Three", "scope": {"paths": ["src/**"]}},
            {"kind": "adr", "title": "Four", "status": "rejected"},
        ],
    }
    records = records_of(case)
    judged = visibilities(records, surroundings_of_case(case, records))
    assert summary(records, judged) == "2 of 3 accepted decisions are shown at no edit"
    assert summary(records[2:], judged) == ""
    assert summary(records[:1], judged) == "the only accepted decision is shown at no edit"
