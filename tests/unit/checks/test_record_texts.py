"""Texts of a record: what it refers to, and the prompts of templates, which are not text."""

from pathlib import Path

import pytest
from tests.files import write

from orbit_registry.checks.duplicates import wording
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Record
from orbit_registry.operations.adr import NewAdr
from orbit_registry.operations.citations import MOST_REFERENCES, references_of
from orbit_registry.registry import Registry
from orbit_registry.repository.documents import is_prompt

KINDS = load_kinds()


def referred(prose: str, home: str | None = None, **fields: object) -> tuple[str, ...]:
    """Return what a learning with some text refers to;
    `home` is the document that holds the text.
    """
    data = {"id": "L-a1b2c", "uid": "0" * 32, "status": "active", "summary": "Look twice", **fields}
    record = Record(KINDS["learning"], data, ".orbit/learnings/L-a1b2c/learning.yaml", prose)
    return references_of(record, KINDS.id_forms, home)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See [it](docs/a.md).", ("docs/a.md",)),
        ("[a](docs/a.md#x) and [b](/docs/b.md) and [c](docs/a.md#x)", ("docs/a.md#x", "docs/b.md")),
        ('[a](docs/a.md "Title") ![picture](docs/p.png)', ("docs/a.md",)),
        (
            "[beside](../L-x7y8z/learning.yaml) [up](../../../../out.md)",
            (".orbit/learnings/L-x7y8z/learning.yaml",),
        ),
        ("[web](https://example.org/a.md) [here](#part) [mail](mailto:a@b.c) [folder](docs/)", ()),
        (
            "ADR-0001, [ADR-0002](docs/adr/0002-x.md), L-a1b2c itself",
            ("ADR-0001", "ADR-0002", "docs/adr/0002-x.md"),
        ),
        ("L-shaped, R-rated, P-2048", ()),
        ("", ()),
    ],
)
def test_what_a_text_refers_to(text: str, expected: tuple[str, ...]) -> None:
    assert referred(text) == expected
    assert referred(f"{text}\n\n`code`") == expected
    home = (
        f"# ADR-0007: [above](docs/no.md)\n\n```\nADR-0008\n```\n\n{text}\n\n## "
        f"ADR-0009\n\n[below](docs/no.md)\n"
    )
    assert referred(text, home) == expected


def test_examples_refer_to_nothing() -> None:
    example = "```\nADR-0001 [x](docs/a.md)\n```\n"
    assert referred(example) == referred(example, f"# One\n\n{example}\nADR-0002\n") == ()
    assert referred("", summary="As ADR-0003 says") == ("ADR-0003",)


def test_there_is_an_end_to_it() -> None:
    assert (
        len(referred(" ".join(f"ADR-{number:04d}" for number in range(1, 2000)))) == MOST_REFERENCES
    )


MADR = (
    "---\nstatus: accepted\ndate: 2026-01-01\n---\n\n# Use X\n\n## Context and Problem "
    "Statement\n\nA place.\n\n"
    "## Decision Drivers\n\n* Speed\n\n## Considered Options\n\n* X\n* Y\n\n## Decision "
    "Outcome\n\nWe choose X.\n\n"
    "### Consequences\n\n* Good, because fast.\n* Bad, because of memory.\n\n### Confirmation\n"
    "\nA test tells.\n\n"
    "## Pros and Cons of the Options\n\n* Good, because it works\n\n## More Information\n\n"
    "Nothing.\n"
)
NYGARD = (
    "# 1. Use X\n\nDate: 2026-01-01\n\n## Status\n\nAccepted\n\n## Context\n\nWe need a place "
    "for data.\n\n"
    "## Decision\n\nX.\n\n## Consequences\n\n### Positive\n\nFast.\n\n### Negative\n\nMemory.\n"
    "\n### Neutral\n\nNone.\n"
)


@pytest.mark.parametrize("neighbour", ["", MADR, NYGARD], ids=["own", "madr", "nygard"])
@pytest.mark.parametrize("style", ["file", "log"])
def test_two_new_decisions_are_no_duplicates(workspace: Path, neighbour: str, style: str) -> None:
    if neighbour:
        write(workspace, "docs/adr/0001-use-x.md", neighbour)
        Registry.open(workspace).adr_backfill()
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
    assert [
        diagnostic for diagnostic in outcome.diagnostics if diagnostic.code in ("ORB601", "ORB602")
    ] == []
    assert {
        diagnostic.record for diagnostic in outcome.diagnostics if diagnostic.code == "ORB403"
    } == set(ids)


KNOWN = frozenset({"What is it about?", "Kurz gesagt …"})
SAID = (
    *KNOWN,
    "{name the option}",
    "[short title of it]",
    "[Describe why]",
    "TBD",
    "TODO:",
    "Plain words.",
    "TODO: shrink the log next year",
    "",
)
DRESSES = ("{}", "> {}", "\t{}", "- {}", "> 12) {}", "{} ", "{}\r")


@pytest.mark.parametrize("dress", DRESSES, ids=ascii)
def test_a_prompt_is_known_however_it_is_dressed(dress: str) -> None:
    prompts = {text for text in SAID if is_prompt(dress.format(text), KNOWN)}

    assert prompts == set(SAID) - {"Plain words.", "TODO: shrink the log next year", ""}
    assert not is_prompt(f"## {SAID[0]}", KNOWN)
    assert not is_prompt(f"{SAID[0]} more", KNOWN)
