"""A decision whose template is not filled in waits, and is not put into force."""

from __future__ import annotations

import pytest

from orbit_registry.errors import RefusedError
from orbit_registry.operations.adr import NewAdr
from orbit_registry.registry import Registry

BODY = "## Context\n\nWhy.\n\n## Decision\n\nWhat.\n\n## Consequences\n\n- Cost: time.\n"


@pytest.mark.parametrize(("body", "status"), [(None, "proposed"), (f"{BODY}\nTODO\n", "proposed"), (BODY, "accepted")])
def test_a_decision_waits_while_its_prompts_stand(registry: Registry, body: str | None, status: str) -> None:
    """Where no status is asked for, one whose text is still to be written is proposed."""
    assert registry.add_adr(NewAdr("Use SQLite", body=body)).record.status.name == status


@pytest.mark.parametrize(("body", "line"), [(None, "_Why is a decision"), (f"TBD\n\n{BODY}", "line 1 of the text")])
def test_a_decision_with_a_prompt_is_not_added_as_accepted(registry: Registry, body: str | None, line: str) -> None:
    """The refusal names what to fill in, and nothing is written."""
    with pytest.raises(RefusedError, match=line):
        registry.add_adr(NewAdr("Use SQLite", status="accepted", body=body))
    assert list(registry.workspace.orbit.glob("adrs/*")) == []


@pytest.mark.parametrize("style", ["file", "log"])
def test_a_decision_is_not_accepted_while_a_prompt_stands(registry: Registry, style: str) -> None:
    """The refusal names the line; once nothing is left to fill in, it is accepted."""
    registry.add_adr(NewAdr("Filled", feature="core", style=style, body=BODY))
    added = registry.add_adr(NewAdr("Use the thing", feature="core", style=style))
    document = registry.workspace.root / added.document
    text = document.read_text("utf-8")
    line = text[: text.index("_Why is a decision needed here")].count("\n") + 1
    with pytest.raises(RefusedError, match=rf"can't become accepted: {added.document}:{line} is a prompt"):
        registry.transition(added.record.id, "accepted")

    document.write_text("".join(row for row in text.splitlines(keepends=True) if "_" not in row), "utf-8")
    registry.refresh()

    assert registry.transition(added.record.id, "accepted").status.name == "accepted"
