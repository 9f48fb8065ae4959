"""What a decision states is read in every form in which people write it."""

from pathlib import Path
from typing import Any, cast

import pytest

from orbit_registry.formats.adr.model import AdrDocument
from orbit_registry.formats.adr.reader import read_document
from orbit_registry.formats.yaml import load

FOLDER = Path(__file__).parents[3] / "cases"
CASES: list[Any] = []
for name in ("adr_forms", "adr_forms_of_others"):
    CASES += cast("list[Any]", load((FOLDER / f"{name}.yaml").read_text("utf-8")))

BODY = "\n\n## Context\n\na\n\n## Decision\n\nb\n"


def summary(entry: AdrDocument) -> dict[str, Any]:
    """Return what is read, without what is empty and what the cases have by default."""
    quoted = f"{entry.status_raw} in {entry.status_syntax}" if entry.status_syntax else None
    relations = [relation for relation in entry.relations if not relation.weak]
    values = {
        "title": entry.title,
        "number": entry.number,
        "status": entry.status,
        "date": entry.date,
        "deciders": list(entry.deciders),
        "relations": [f"{relation.rel} {relation.target_raw}" for relation in relations],
        "codes": list(entry.legacy_ids),
        "quoted": quoted,
    }
    by_default = {"title": "T", "number": "0007"}
    return {key: value for key, value in values.items() if value and by_default.get(key) != value}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['form']}: {case['text'][:60]!r}")
def test_a_form_is_read(case: dict[str, Any]) -> None:
    text = case["text"] + (BODY if case["body"] else "")
    file = read_document(text, case["path"])
    candidates = [file.candidate] if file.candidate is not None else []
    assert [summary(entry) for entry in (*file.entries, *candidates)] == case["read"]


@pytest.mark.parametrize(
    ("value", "unread"),
    [
        ("ADR-0001 (the first), ADR-0002 (the second)", []),
        ("the queue of ADR-0003", []),
        ("in every point that matters for the queue, ADR-0003", ["ADR-0003"]),
        ("ADR-0001 once the team that runs ADR-0004 agrees", ["ADR-0004"]),
    ],
)
def test_an_id_in_the_value_of_a_key_is_never_lost_in_silence(
    value: str, unread: list[str]
) -> None:
    (entry,) = read_document(
        f"# T\n\nStatus: accepted\nSupersedes: {value}{BODY}", "docs/adr/0007-x.md"
    ).entries
    messages = [p.message for p in entry.problems if p.code == "adr-relation-unread"]
    assert [name for message in messages for name in unread if f" names {name}" in message] == (
        unread
    )
    assert len(messages) == len(unread)


COSTS: Any = load((Path(__file__).parents[3] / "cases" / "costs.yaml").read_text("utf-8"))


@pytest.mark.parametrize(
    ("line", "states"),
    [
        *((line, True) for line in COSTS["states"]),
        *((line, False) for line in COSTS["states_none"]),
    ],
)
def test_a_cost_is_read_as_people_write_it(line: str, states: bool) -> None:
    text = f"# T\n\n## Decision\n\nb\n\n## Consequences\n\n{line}\n"
    (entry,) = read_document(text, "docs/adr/0007-x.md").entries
    assert entry.has_cost is states


@pytest.mark.parametrize("title", ["Executors — Decisions", "Decisions", "Decision log", "Mail"])
def test_a_numbered_log_is_no_decision_of_that_number(title: str) -> None:
    """`4_decisions.md` is the fourth chapter of a feature, not decision 4."""
    text = f"# {title}\n\nStatus: Accepted{BODY}"
    assert read_document(text, "docs/design/mail/4_decisions.md").entries == ()


OVER = [
    ("# [DEPRECATED] Use x", True),
    ("# Use x (superseded by ADR-0009)", True),
    ("# Use x (deprecated since 2024)", True),
    ("# Handle old clients (deprecated endpoints stay)", False),
    ("# Show [removed] items", False),
    ("# Answer 410 (Retired) to old addresses", False),
    ("# T\n\n> Note: this decision is obsolete.", True),
    ("# T\n\n> 🛑 **Deprecated**: use the queue", True),
    ("# T\n\n**Note:** Deprecated in favor of the queue", True),
    ("# T\n\n> Note: rejected orders stay for 30 days.", False),
    ("# T\n\n**Note:** Deprecated fields stay readable.", False),
    ("# T\n\nWarning: obsolete clients break.", False),
    ("# T\n\n⚠️ Retired hosts must be wiped.", False),
    ("# ~~ADR-0007: Use x~~", True),
    ("# ADR-0007: ~~Use x~~", True),
    ("# ~~ADR-0007: Use x~~ (see ADR-0009)", True),
    ("# ~~Use x~~ Use y", False),
    ("# ADR-0007: Use ~~x~~ y", False),
]


STRUCK_LOGS = [
    "## ~~2024-01-02: Use x~~\n\na\n\n## 2024-02-03: Use y\n\nb\n",
    "## ~~D-1: Use x~~\n\nStatus: Accepted\n\n## D-2: Use y\n\nStatus: Accepted\n",
    "| ID | Decision | Status |\n|-|-|-|\n| D-1 | ~~Use x~~ | Accepted |\n| D-2 | y | Active |\n",
]


@pytest.mark.parametrize("log", STRUCK_LOGS)
def test_a_struck_entry_asks_whether_it_is_over(log: str) -> None:
    entries = read_document(f"# Decisions\n\n{log}", "docs/decisions.md").entries
    codes = [{problem.code for problem in entry.problems} for entry in entries]
    assert ["adr-relation-unsure" in each for each in codes] == [True, False]


@pytest.mark.parametrize(("head", "asks"), OVER)
def test_a_notice_asks_only_where_its_word_is_about_the_decision(head: str, asks: bool) -> None:
    (entry,) = read_document(f"{head}\n\nStatus: accepted{BODY}", "docs/adr/0007-x.md").entries
    codes = {problem.code for problem in entry.problems}
    assert ("adr-relation-unsure" in codes) is asks


@pytest.mark.parametrize("head", ["published: true", "published: false\ndate: 2024-05-01"])
def test_whether_a_page_is_published_is_no_unclear_date(head: str) -> None:
    text = f"---\n{head}\nstatus: accepted\n---\n# T{BODY}"
    (entry,) = read_document(text, "docs/adr/0007-x.md").entries
    assert entry.problems == ()


@pytest.mark.parametrize(
    "line",
    [
        "**Update:** Superseded by ADR-0009 was considered, and rejected.",
        "> Note: supersedes ADR-0003 only if ADR-0004 is accepted.",
    ],
)
def test_a_notice_of_what_may_be_states_no_relation(line: str) -> None:
    text = f"# T\n\nStatus: accepted\n\n{line}{BODY}"
    (entry,) = read_document(text, "docs/adr/0007-x.md").entries
    assert entry.status == "accepted"
    assert {relation.rel for relation in entry.relations} <= {"references"}
    assert "adr-relation-unsure" in {problem.code for problem in entry.problems}
