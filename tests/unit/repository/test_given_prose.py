"""Text given for a decision, in any form, leaves the decision and its neighbours readable;
where prose is.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.errors import RefusedError
from orbit_registry.operations.adr import NewAdr
from orbit_registry.registry import Registry
from orbit_registry.repository.documents import Document, Documents, entry_span, read_documents

CASES = Path(__file__).parents[2] / "cases" / "given_prose"
STYLES = ("log", "file")


def documents_of(registry: Registry) -> Documents:
    return read_documents(registry.workspace, registry.collection.records)


def cases(name: str) -> list[Any]:
    return [
        pytest.param(case, id=case["name"])
        for case in json.loads((CASES / f"{name}.json").read_text("utf-8"))
    ]


def add(registry: Registry, title: str, style: str, body: str | None = None) -> str:
    return registry.add_adr(NewAdr(title, feature="f", style=style, body=body)).record.id


def heads(registry: Registry) -> list[tuple[str, str, str]]:
    """Return what the documents state: number, title and status of each entry;
    the gate finds no document at fault.
    """
    fresh = Registry.open(registry.workspace.root)
    problems = [problem for problem in fresh.check().diagnostics if problem.code.startswith("ORB7")]
    assert [f"{problem.location} {problem.code} {problem.message}" for problem in problems] == []
    entries = [
        entry
        for document in documents_of(fresh).by_path.values()
        for entry in document.file.entries
    ]
    return sorted((str(entry.number), entry.title, entry.status) for entry in entries)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("case", cases("fitted"))
def test_a_body_stays_inside_its_decision(
    registry: Registry, case: dict[str, Any], style: str
) -> None:
    add(registry, "Before", style)
    record_id = add(registry, "Given", style, case["text"])
    add(registry, "After", style)

    expected = [
        ("Before", "proposed"),
        ("Given", case.get("status", "proposed")),
        ("After", "proposed"),
    ]
    assert [head[1:] for head in heads(registry)] == expected
    prose = Registry.open(registry.workspace.root).get(record_id).prose
    words = [word for word in case["text"].split() if word.strip("#=-\ufeff").isalpha()]
    assert [word for word in words if word not in prose] == []
    assert ("_Why is a decision" in prose) is False


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("case", cases("fitted"))
def test_an_amendment_stays_inside_its_decision(
    registry: Registry, case: dict[str, Any], style: str
) -> None:
    amended = add(registry, "Amended", style)
    add(registry, "After", style)
    before = heads(registry)

    registry.adr_amend(amended, "T-1", case["text"])
    registry.adr_amend(amended, "T-2", "And more.")

    assert heads(registry) == before
    prose = Registry.open(registry.workspace.root).get(amended).prose
    assert prose.count("# Amendments") == 1
    assert prose.rstrip().endswith("[T-2]: And more.")


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("case", cases("refused"))
def test_a_text_that_breaks_a_document_is_refused(
    registry: Registry, case: dict[str, Any], style: str
) -> None:
    existing = add(registry, "Known", style)
    before = heads(registry)

    with pytest.raises(RefusedError) as raised:
        add(registry, "Given", style, case["text"])
    assert case["refused"] in raised.value.message
    with pytest.raises(RefusedError):
        registry.adr_amend(existing, "T-1", case["text"])

    assert heads(registry) == before
    assert add(registry, "Next", style) == "ADR-0002"


@pytest.mark.parametrize("case", cases("restated"))
def test_a_text_that_states_what_the_head_states_is_refused(
    registry: Registry, case: dict[str, Any]
) -> None:
    """A second status or date would win over the one that the command was given;
    no number is taken.
    """
    for style in STYLES:
        if style in case["styles"]:
            with pytest.raises(RefusedError) as raised:
                add(registry, "Given", style, case["text"])
            assert case["refused"] in raised.value.message
            assert case.get("hint", "") in (raised.value.hint or "")
    assert heads(registry) == []
    assert add(registry, "Next", "log") == "ADR-0001"


def test_a_new_entry_takes_the_level_of_a_logs_entries(registry: Registry) -> None:
    log = registry.workspace.root / "docs/design/f/4_decisions.md"
    log.parent.mkdir(parents=True)
    log.write_text(
        "# F\n\n## Decisions\n\n### ADR-0001 — Old\n\nStatus: Accepted · 2026-01\n\n"
        "**Decision.** x\n",
        "utf-8",
    )
    registry.adr_backfill()

    add(registry, "New", "log", "## Context\n\nWhy.")
    add(registry, "Newer", "log")

    assert [title for _, title, _ in heads(registry)] == ["Old", "New", "Newer"]
    text = log.read_text("utf-8")
    assert "\n### ADR-0002 — New\n" in text
    assert "\n#### Context\n\nWhy.\n" in text


def test_the_sections_of_a_body_are_found_in_a_log(registry: Registry) -> None:
    body = "## Context\n\nWhy.\n\n## Decision\n\nWhat.\n\n## Consequences\n\n- Cost: time.\n"
    for title in ("Use SQLite for tests", "Cache what is rendered"):
        add(registry, title, "log", body)

    diagnostics = Registry.open(registry.workspace.root).check().diagnostics
    assert [
        diagnostic.code
        for diagnostic in diagnostics
        if diagnostic.code.startswith(("ORB4", "ORB7"))
    ] == []
    (document,) = documents_of(Registry.open(registry.workspace.root)).by_path.values()
    keys = [[section.key for section in entry.sections] for entry in document.file.entries]
    assert keys == [["context", "decision", "consequences"]] * 2


BODY = "## Context\n\nWhy.\n\n## Decision\n\nWhat.\n\n## Consequences\n\n- Cost: time.\n"


@pytest.mark.parametrize(
    ("body", "status"), [(None, "proposed"), (f"{BODY}\nTODO\n", "proposed"), (BODY, "accepted")]
)
def test_a_decision_waits_while_its_prompts_stand(
    registry: Registry, body: str | None, status: str
) -> None:
    assert registry.add_adr(NewAdr("Use SQLite", body=body)).record.status.name == status


@pytest.mark.parametrize(
    ("body", "line"), [(None, "_Why is a decision"), (f"TBD\n\n{BODY}", "line 1 of the text")]
)
def test_a_decision_with_a_prompt_is_not_added_as_accepted(
    registry: Registry, body: str | None, line: str
) -> None:
    with pytest.raises(RefusedError, match=line):
        registry.add_adr(NewAdr("Use SQLite", status="accepted", body=body))
    assert list(registry.workspace.orbit.glob("adrs/*")) == []


@pytest.mark.parametrize("style", ["file", "log"])
def test_a_decision_is_not_accepted_while_a_prompt_stands(registry: Registry, style: str) -> None:
    registry.add_adr(NewAdr("Filled", feature="core", style=style, body=BODY))
    added = registry.add_adr(NewAdr("Use the thing", feature="core", style=style))
    document = registry.workspace.root / added.document
    text = document.read_text("utf-8")
    line = text[: text.index("_Why is a decision needed here")].count("\n") + 1
    with pytest.raises(
        RefusedError, match=rf"can't become accepted: {added.document}:{line} is a prompt"
    ):
        registry.transition(added.record.id, "accepted")

    without = "".join(row for row in text.splitlines(keepends=True) if "_" not in row)
    document.write_text(without, "utf-8")
    with pytest.raises(RefusedError, match=rf"can't become accepted: {added.document} has no text"):
        registry.transition(added.record.id, "accepted")

    document.write_text(without + "It is needed.\n\n- Cost: time.\n", "utf-8")
    registry.refresh()
    assert registry.transition(added.record.id, "accepted").status.name == "accepted"


ROOT = Path(__file__).parents[3]
PATHS = (
    "docs/decisions/0001-queues.md",
    "docs/adr.md",
    "docs/adr/README.md",
    "docs/adr/template.md",
    "adr/1.txt",
    "x",
)
LINES = (
    "---",
    "status: accepted",
    "# Title",
    "# Status",
    "# Title:",
    "# ADR",
    "Queues",
    "## Context",
    "## ADR-0001 — One",
    "## ADR-0002 — Two",
    "Status: Accepted",
    "Accepted",
    "===",
    "```",
    "> # quoted",
    "",
    "\ufeff",
)


def same(path: str, text: str) -> bool:
    document = Document(path, text)
    entry = document.entry(None)
    return document.locate(None) == (
        None if entry is None else (entry.span.start, entry_span(entry))
    )


@given(st.sampled_from(PATHS), st.lists(st.sampled_from(LINES), max_size=12).map("\n".join))
def test_prose_of_any_text_is_where_the_reader_finds_it(path: str, text: str) -> None:
    assert same(path, text)


@pytest.mark.parametrize("folder", ["docs", "tests/cases"])
def test_prose_of_our_documents_is_where_the_reader_finds_it(folder: str) -> None:
    files = list((ROOT / folder).rglob("*.md"))
    assert len(files) > 10
    for file in files:
        assert same(
            file.relative_to(ROOT).as_posix(), file.read_bytes().decode("utf-8", "replace")
        ), file
