"""New documents come from a template, and a template can be taken from a document."""

import json
from pathlib import Path

import pytest

from orbit_registry.formats.adr.reader import read_document
from orbit_registry.formats.adr.templates import new_document, template_from

CASES = Path(__file__).parents[3] / "cases" / "adr_documents"
FIELDS = {
    "id": "ADR-0061",
    "title": "Keep: it $small",
    "status": "Proposed",
    "date": "2026-09-01",
    "deciders": "Ada",
    "tags": "one, two",
    "tasks": "[T-1]",
}


def test_names_are_replaced_and_unknown_ones_stay() -> None:
    template = "# $number. $title\r\n\r\n$what costs $$5\r\n"

    text = new_document(template, {"id": "ADR-0007", "title": "T", "body": "a"})

    assert text == "# 0007. T\r\n\r\n$what costs $5\r\n"


def test_an_empty_value_takes_its_separator_along() -> None:
    template = "Status: $status · $date · $tasks\n"

    assert (
        new_document(template, {"status": "Proposed", "date": "2026-05", "tasks": ""})
        == "Status: Proposed · 2026-05\n"
    )


def test_a_front_matter_stays_yaml_whatever_the_title() -> None:
    template = (
        '---\nid: $number\nnumber: "$number"\ntitle: $title\ndate: $date\ntags: [$tags]\n'
        "---\n# $title\n"
    )

    text = new_document(template, FIELDS | {"title": 'Say "no": 5'})

    assert text == (
        '---\nid: 0061\nnumber: "0061"\ntitle: "Say \\"no\\": 5"\n'
        'date: 2026-09-01\ntags: [one, two]\n---\n# Say "no": 5\n'
    )


def test_a_template_states_the_status_in_front_matter_alone() -> None:
    head = (
        "---\nstatus: accepted\n---\n\n# 1. Use one store\n\n> **Status: accepted.** Applies "
        "since May.\n"
    )
    text = f"{head}\n## Decision\n\nOne.\n"
    template = template_from(text, "docs/adr/0001-use-one-store.md")
    assert template is not None
    assert (template.count("$status"), "accepted" in template) == (1, False)


def test_a_template_keeps_the_dress_and_drops_the_prose() -> None:
    text = (CASES / "log.md").read_text(encoding="utf-8")

    assert template_from(text, "docs/design/learnings/4_decisions.md") == (
        "## ADR-$number: $title\n\n**Status:** $status · $date · $tasks\n\n"
        "### Context\n\n_Why is a decision needed here?_\n\n"
        "### Decision\n\n_What is decided?_\n\n"
        "### Consequences\n\n#### Negative\n\n- Cost: _what does this make harder?_\n"
    )


ONE_ALONE_IS_NONE = {"log_of_numbers", "log_with_pictures"}
"""Bare numbers name decisions where they are a list: a single one is none."""


@pytest.mark.parametrize(
    "case", sorted({path.stem for path in CASES.glob("*.json")} - ONE_ALONE_IS_NONE)
)
def test_what_a_template_gives_is_read_as_what_went_in(case: str) -> None:
    path = json.loads((CASES / f"{case}.json").read_text(encoding="utf-8"))["path"]
    text = (CASES / f"{case}.md").read_bytes().decode("utf-8")
    template = template_from(text, path)
    old = read_document(text, path)
    if template is None:
        assert old.entries == ()
        return

    document = new_document(template, FIELDS)
    path = path.replace(old.entries[-1].number or "\n", "0061") if old.format == "file" else path
    (entry,) = read_document(document, path).entries

    assert entry.title == FIELDS["title"]
    if old.entries[-1].format not in ("none", "badge"):
        assert entry.status == "proposed"
        assert entry.format == old.entries[-1].format
    if old.entries[-1].date_span is not None:
        assert entry.date == FIELDS["date"]
    if old.entries[-1].number_spans:
        assert [int(span.of(document).strip("\"'")) for span in entry.number_spans] == [61] * len(
            entry.number_spans
        )
    assert "superseded" not in document.lower()
    assert ("\r\n" in document) == ("\r\n" in text)
