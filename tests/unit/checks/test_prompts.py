"""What a template asks is no text: neither left unseen, nor compared with another decision's."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.files import write

from orbit_registry.checks.texts import wording
from orbit_registry.operations.adr import NewAdr
from orbit_registry.registry import Registry
from orbit_registry.repository.documents import is_prompt, may_hold_prompts

MADR = (
    "---\nstatus: accepted\ndate: 2026-01-01\n---\n\n# Use X\n\n## Context and Problem Statement\n\nA place.\n\n"
    "## Decision Drivers\n\n* Speed\n\n## Considered Options\n\n* X\n* Y\n\n## Decision Outcome\n\nWe choose X.\n\n"
    "### Consequences\n\n* Good, because fast.\n* Bad, because of memory.\n\n### Confirmation\n\nA test tells.\n\n"
    "## Pros and Cons of the Options\n\n* Good, because it works\n\n## More Information\n\nNothing.\n"
)
NYGARD = (
    "# 1. Use X\n\nDate: 2026-01-01\n\n## Status\n\nAccepted\n\n## Context\n\nWe need a place for data.\n\n"
    "## Decision\n\nX.\n\n## Consequences\n\n### Positive\n\nFast.\n\n### Negative\n\nMemory.\n\n### Neutral\n\nNone.\n"
)


@pytest.mark.parametrize("neighbour", ["", MADR, NYGARD], ids=["own", "madr", "nygard"])
@pytest.mark.parametrize("style", ["file", "log"])
def test_two_new_decisions_are_no_duplicates(workspace: Path, neighbour: str, style: str) -> None:
    if neighbour:
        write(workspace, "docs/adr/0001-use-x.md", neighbour)
        Registry.open(workspace).backfill()
    registry = Registry.open(workspace)
    ids = [
        registry.add_adr(NewAdr(title, feature="core", style=style)).record.id
        for title in ("Cache in SQLite", "Rotate the signing keys")
    ]

    outcome = Registry.open(workspace).check()

    records = Registry.open(workspace).records
    for record_id in ids:
        record = records.get(record_id)
        assert [line for line in wording(record).split("\n") if line.strip()] == [record.title]
    assert [diagnostic for diagnostic in outcome.diagnostics if diagnostic.code in ("ORB601", "ORB602")] == []
    assert {diagnostic.record for diagnostic in outcome.diagnostics if diagnostic.code == "ORB403"} == set(ids)


KNOWN = frozenset({"What is it about?", "Kurz gesagt …"})
SAID = (
    *KNOWN,
    "{name the option}",
    "[short title of it]",
    "[Describe why]",
    "TBD",
    "TODO: say why",
    "Plain words.",
    "",
)
DRESSES = ("", "> ", "\t", "- ", "> 12) ", "-", "## ")
ENDS = ("", " ", "\r", "\x0b", "\u2028", " more")
LINES = st.tuples(*map(st.sampled_from, (DRESSES, SAID, ENDS)))


@given(st.lists(LINES.map("".join), max_size=4))
def test_a_text_said_to_hold_no_prompt_holds_none(lines: list[str]) -> None:
    assert may_hold_prompts("\n".join(lines), KNOWN) or not any(is_prompt(line, KNOWN) for line in lines)
