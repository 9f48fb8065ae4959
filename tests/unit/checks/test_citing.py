"""What a record's texts refer to: ids and files, read alike with and without a parser."""

import pytest

from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Record
from orbit_registry.operations.citations import MOST_REFERENCES, references_of

KINDS = load_kinds()


def referred(prose: str, home: str | None = None, **fields: object) -> tuple[str, ...]:
    """Return what a learning with some text refers to; `home` is the document that holds the text."""
    data = {"id": "L-a1b2c", "uid": "0" * 32, "status": "active", "summary": "Look twice", **fields}
    record = Record(KINDS["learning"], data, ".orbit/learnings/L-a1b2c/learning.yaml", prose)
    return references_of(record, KINDS.id_forms, home)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See [it](docs/a.md).", ("docs/a.md",)),
        ("[a](docs/a.md#x) and [b](/docs/b.md) and [c](docs/a.md#x)", ("docs/a.md#x", "docs/b.md")),
        ('[a](docs/a.md "Title") ![picture](docs/p.png)', ("docs/a.md",)),
        ("[beside](../L-x7y8z/learning.yaml) [up](../../../../out.md)", (".orbit/learnings/L-x7y8z/learning.yaml",)),
        ("[web](https://example.org/a.md) [here](#part) [mail](mailto:a@b.c) [folder](docs/)", ()),
        ("ADR-0001, [ADR-0002](docs/adr/0002-x.md), L-a1b2c itself", ("ADR-0001", "ADR-0002", "docs/adr/0002-x.md")),
        ("L-shaped, R-rated, P-2048", ()),
        ("", ()),
    ],
)
def test_what_a_text_refers_to(text: str, expected: tuple[str, ...]) -> None:
    assert referred(text) == expected
    assert referred(f"{text}\n\n`code`") == expected
    home = f"# ADR-0007: [above](docs/no.md)\n\n```\nADR-0008\n```\n\n{text}\n\n## ADR-0009\n\n[below](docs/no.md)\n"
    assert referred(text, home) == expected


def test_examples_refer_to_nothing() -> None:
    example = "```\nADR-0001 [x](docs/a.md)\n```\n"
    assert referred(example) == referred(example, f"# One\n\n{example}\nADR-0002\n") == ()
    assert referred("", summary="As ADR-0003 says") == ("ADR-0003",)


def test_there_is_an_end_to_it() -> None:
    assert len(referred(" ".join(f"ADR-{number:04d}" for number in range(1, 2000)))) == MOST_REFERENCES
