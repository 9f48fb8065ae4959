"""Ids in texts: those of every kind at hand, and nothing that only looks like one."""

import pytest

from orbit_registry.formats.citations import Citation, IdForms, find_citations
from orbit_registry.formats.markdown import parse_markdown
from orbit_registry.model.kind import load_kinds

FORMS = IdForms(("ADR-", "REQ-"), ("L-", "R-", "RES-", "F-", "P-"))


def cited(text: str) -> tuple[Citation, ...]:
    return find_citations(text, FORMS, parse_markdown(text).code)


def test_ids_are_cited_in_prose_but_not_in_code() -> None:
    text = (
        "ADR-0012, [ADR-0013] and `feature/ADR-001`; L-7k3fq.\n"
        "See docs/ADR-0099/x.md, ADR-0098-slug, xADR-0097, https://x.org/ADR-0096\n"
        "```\nADR-0095\n```\n"
        "RES-0a1b2 (ADR-14), REQ-0003\n"
    )

    citations = cited(text)

    assert [citation.id for citation in citations] == [
        "ADR-0012",
        "ADR-0013",
        "feature/ADR-001",
        "L-7k3fq",
        "RES-0a1b2",
        "ADR-14",
        "REQ-0003",
    ]
    assert not any(citation.weak for citation in citations)
    assert [citation.number.of(text) for citation in citations] == [
        "0012",
        "0013",
        "001",
        "7k3fq",
        "0a1b2",
        "14",
        "0003",
    ]
    assert (citations[-2].position.line, citations[-2].position.column) == (6, 12)


def test_prose_mentions_are_weak() -> None:
    text = "ADR 012 and ADRs 60, 61 and 62; an L-shaped room; 3 ADRs; ADR 5.2; REQ 3"

    assert [(citation.id, citation.weak) for citation in cited(text)] == [
        ("ADR-012", True),
        ("ADR-60", True),
        ("ADR-61", True),
        ("ADR-62", True),
        ("L-shaped", True),
        ("REQ-3", True),
    ]


@pytest.mark.parametrize(
    "word",
    [
        "R-squared",
        "F-16",
        "P-256",
        "P-384",
        "P-2048",
        "F-14000",
        "R-0.5",
        "R-values",
        "L-shaped",
        "R-134a",
        "F-zz9zzzzzzz",
        "HDR-zz9zz",
        "R_R-zz9zz",
        "R-zz9zz_x",
        "R-zz9zz-beta",
        "R-zz9zz.md",
        "#R-zz9zz",
        "a/b-R-zz9zz",
        "r-zz9zz",
        "R-zz9zzé",
    ],
)
def test_a_short_prefix_makes_no_id(word: str) -> None:
    assert not [citation.id for citation in cited(f"The {word} of it.") if not citation.weak]


@pytest.mark.parametrize("name", ["R-zz9zz", "F-7k3fq2", "L-0042", "L-00042", "f/R-zz9zz"])
def test_a_code_is_an_id(name: str) -> None:
    assert [(citation.id, citation.weak) for citation in cited(f"See ({name}).")] == [(name, False)]


def test_the_kinds_say_what_can_be_cited() -> None:
    assert not find_citations("X-zz9zz", load_kinds().id_forms)
    assert load_kinds().id_forms == IdForms(("ADR-",), ("F-", "L-", "P-", "RES-", "RT-", "R-"))
    assert [citation.id for citation in find_citations("L-zz9zz ADR-1", IdForms((), ("L-",)))] == [
        "L-zz9zz"
    ]
    assert not find_citations("L-zz9zz ADR-1 ADR 2", IdForms(()))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see org:ADR-0007", "org:ADR-0007"),
        ("closes:ADR-0007", "ADR-0007"),
        ("x/org:ADR-0007", "ADR-0007"),
    ],
)
def test_an_inherited_id_is_cited_with_the_name_of_its_source(text: str, expected: str) -> None:
    assert [citation.id for citation in find_citations(text, IdForms(("ADR-",), (), ("org",)))] == [
        expected
    ]
