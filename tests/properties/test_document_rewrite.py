"""Reading and rewriting ADR documents holds for every text, not only for the cases."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orbit_registry.formats.adr.model import AdrDocument
from orbit_registry.formats.adr.problems import repeated_statuses
from orbit_registry.formats.adr.reader import read_document
from orbit_registry.formats.adr.writer import insert_entry, remove_entry, set_status
from orbit_registry.formats.citations import IdForms, find_citations
from orbit_registry.formats.markdown import parse_markdown

FORMS = IdForms(("ADR-",), ("L-", "R-"))
CASES = Path(__file__).parents[1] / "cases" / "adr_documents"
DOCUMENTS = sorted(CASES.glob("*.json"))
HOSTILE = json.loads((CASES.parent / "hostile_texts.json").read_text("utf-8"))["documents"]
STATUSES = {
    "accepted": "accepted",
    "Proposed": "proposed",
    "rejected": "rejected",
    "deprecated": "deprecated",
    "Superseded by ADR-0042": "superseded",
    "superseded by [ADR-0042](0042-next.md)": "superseded",
}

PIECES = st.sampled_from(
    [
        "---\n",
        "# ",
        "## ",
        "Status: ",
        "Status:",
        "## Status\n",
        "- ",
        "* Status: accepted\n",
        "**Status:** ",
        "·",
        " · ",
        "2026-05",
        "[ORB-1]",
        "ADR-0001",
        "## ADR-1 — x\n",
        "## ADR-2 — y\n",
        "\n",
        "\r\n",
        "\r",
        "\n\n",
        "```\n",
        "~~~\n",
        "| a | b |\n|---|---|\n",
        "| Status | x |\n",
        "[a](b.md)",
        "[a][b]\n\n[b]: c.md\n",
        "<!--",
        "-->",
        "\ufeff",
        "\t",
        "    ",
        "> ",
        "superseded by ",
        "accepted",
        "date: ",
        "status: ",
        'tags: [a, "b',
        "'",
        "{",
        "}",
        "|",
        "$title",
        "![Status](https://img.shields.io/badge/status-accepted-green)",
        "## Context\n",
        "\\",
        "`",
        "é\x00\u2028",
        "**Decision.** ",
        "Cost: ",
        "; ",
        "(was: ",
        "1. ",
        "0042",
        "<div>",
        "===\n",
        "and ",
        "\x1b[0m",
        "￼",
    ]
)
TEXTS = st.lists(st.one_of(PIECES, PIECES, PIECES, st.text(max_size=8)), max_size=40).map("".join)
PATHS = st.sampled_from(
    ["docs/adr/0007-x.md", "docs/design/f/4_decisions.md", "notes.md", "ADR-1/README.md", ""]
)


def check_status_round_trip(
    text: str, path: str, entry: AdrDocument, index: int, status: str
) -> None:
    """Set a status, and compare everything outside the places that state one,
    and what is read back.
    """
    changed = set_status(text, entry, status)
    winner = next((fact for fact in entry.facts if fact.span == entry.status_span), None)
    repeated = [fact.span for fact in repeated_statuses(entry.facts, winner)]
    stating = (entry.status_span, *entry.superseding_spans, *repeated)
    spans = sorted([span for span in stating if span is not None], key=lambda s: s.start)
    if entry.status_span is not None:
        old, new = (
            each.replace("- [x]", "- [ ]") for each in (text, changed)
        )  # a tick states a status too
        assert new.startswith(old[: spans[0].start])
        assert new.endswith(old[spans[-1].end :])
    again = read_document(changed, path).entries[index]
    assert again.status == STATUSES[status], (entry.status_raw, again.status_raw, again.format)
    assert again.title == entry.title
    assert again.number == entry.number
    assert [section.key for section in again.sections if section.key != "status"] == [
        section.key for section in entry.sections if section.key != "status"
    ]


@pytest.mark.parametrize("case", DOCUMENTS, ids=lambda path: path.stem)
def test_a_status_is_read_back_as_it_was_set(case: Path) -> None:
    path = json.loads(case.read_text(encoding="utf-8"))["path"]
    text = case.with_suffix(".md").read_bytes().decode("utf-8")
    for index, entry in enumerate(read_document(text, path).entries):
        for status in STATUSES:
            check_status_round_trip(text, path, entry, index, status)


WORDS = st.text(
    alphabet=st.characters(
        min_codepoint=32, max_codepoint=0x2FFF, exclude_characters="#|\\`<>*_[]"
    ),
    min_size=1,
    max_size=30,
)
STYLES = (
    "---\nstatus: {status}\n---\n# {title}\n\n",
    '---\ntitle: x\nstatus: "{status}"  # why\n---\n\n# {title}\n\n',
    "# {title}\n\n* Status: {status}\n* Date: 2026-05-01\n\n",
    "# {title}\n\n- **Status:** {status} <!-- one of -->\n\n",
    "# {title}\n\nStatus: {status}\nDate: 2026-05-01\n\n",
    "# {title}\n\n**Status:** {status} · 2026-05 · [ORB-1]\n\n",
    "# {title}\n\n## Status\n\n{status}\n\n",
    "# {title}\n\n| Status | {status} |\n|---|---|\n\n",
    "# {title}\n\n",
)


@given(
    st.sampled_from(STYLES),
    st.sampled_from(
        ["accepted", "Superseded by [ADR-7](7.md)", "whatever", "{a | b}", "Draft; amends ADR-3"]
    ),
    WORDS,
    WORDS,
    st.sampled_from(list(STATUSES)),
    st.sampled_from(["\n", "\r\n"]),
)
def test_a_generated_document_takes_every_status(
    style: str, old: str, title: str, prose: str, status: str, newline: str
) -> None:
    text = (
        style.format(status=old, title=f"T {title}")
        + f"## Context\n\nP {prose}\n\n## Decision\n\nD {prose}\n"
    )
    text = text.replace("\n", newline)
    (entry,) = read_document(text, "docs/adr/0007-x.md").entries

    check_status_round_trip(text, "docs/adr/0007-x.md", entry, 0, status)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(TEXTS, PATHS)
def test_every_text_is_read(text: str, path: str) -> None:
    file = read_document(text, path)
    document = parse_markdown(text)
    find_citations(text, FORMS, document.code)

    for entry in file.entries:
        places = [
            entry.span,
            *entry.title_spans,
            *entry.number_spans,
            *(fact.span for fact in entry.facts),
        ]
        assert all(0 <= span.start <= span.end <= len(text) for span in places)
        assert all(
            0 <= section.body.start <= section.body.end <= len(text) for section in entry.sections
        )
        for status in ("accepted", "Superseded by ADR-2"):
            read_document(set_status(text, entry, status), path)
    for link in document.links:
        assert 0 <= link.span.start < link.span.end <= len(text)
    for heading in document.headings:
        assert (
            heading.section.start <= heading.body.start <= heading.body.end == heading.section.end
        )


@given(
    st.lists(st.integers(min_value=1, max_value=60), unique=True, max_size=8),
    st.integers(min_value=1, max_value=60),
    WORDS,
)
def test_a_log_stays_in_order_whatever_is_inserted(
    numbers: list[int], number: int, prose: str
) -> None:
    text = "# Log — Decisions\n"
    for other in numbers:
        text = insert_entry(
            text, f"## ADR-{other:04} — T\n\nStatus: Accepted\n\nP {prose}", f"ADR-{other:04}"
        )
    entries = read_document(text, "4_decisions.md").entries
    assert [entry.number for entry in entries] == [f"{other:04}" for other in sorted(numbers)]
    if number in numbers:
        return

    changed = insert_entry(text, f"## ADR-{number:04} — N", f"ADR-{number:04}")
    inserted = next(e for e in read_document(changed, "4_decisions.md").entries if e.title == "N")

    assert remove_entry(changed, inserted) == text


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_is_read(name: str) -> None:
    before, part, times, after = HOSTILE[name]
    text = (before + part * times + after) * 4
    assert read_document(text, "docs/adr/4_decisions.md").format in {"log", "file", "none"}
    assert all(citation.span.end <= len(text) for citation in find_citations(text, FORMS))
