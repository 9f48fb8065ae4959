"""What a template asks is not text: neither left unseen, nor compared with another decision's."""

from pathlib import Path

import pytest
from tests.files import write

from orbit_registry.checks.duplicates import wording
from orbit_registry.operations.adr import NewAdr
from orbit_registry.registry import Registry
from orbit_registry.repository.documents import is_prompt

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
DRESSES = ("{}", "> {}", "\t{}", "- {}", "> 12) {}", "{} ", "{}\r")


@pytest.mark.parametrize("dress", DRESSES, ids=ascii)
def test_a_prompt_is_known_however_it_is_dressed(dress: str) -> None:
    prompts = {text for text in SAID if is_prompt(dress.format(text), KNOWN)}

    assert prompts == set(SAID) - {"Plain words.", ""}
    assert not is_prompt(f"## {SAID[0]}", KNOWN)
    assert not is_prompt(f"{SAID[0]} more", KNOWN)
