"""A finding as a value: how it is ordered, known again, and shown."""

from __future__ import annotations

from orbit_registry.records.diagnostic import Diagnostic, Location, Severity, from_problem
from orbit_registry.text.position import Position, Problem, Span, position_at


def finding(
    path: str = "a.yaml", line: int | None = 1, severity: Severity = Severity.ERROR, **more: object
) -> Diagnostic:
    """Return a finding at a place."""
    place = None if line is None else Position(line, 3)
    message, record = str(more.get("message", "wrong")), more.get("record")
    return Diagnostic(
        "ORB101", severity, message, Location(path, place), record=None if record is None else str(record)
    )


def test_findings_are_ordered_as_files_are_read() -> None:
    """By file, then line; what concerns the whole file comes first."""
    mixed = [finding("b", 2), finding("a", 10), finding("a", None), finding("a", 1)]

    ordered = sorted(mixed, key=lambda one: one.sort_key)

    assert [str(one.location) for one in ordered] == ["a", "a:1:3", "a:10:3", "b:2:3"]


def test_the_baseline_knows_a_finding_whose_line_moved() -> None:
    """The line is no part of the fingerprint; file, record, words and code are."""
    assert finding(line=1).fingerprint == finding(line=99).fingerprint
    others = [finding("b.yaml"), finding(record="ADR-0001"), finding(message="worse")]
    assert len({finding().fingerprint, *(other.fingerprint for other in others)}) == 4


def test_a_finding_is_shown_with_path_line_and_column() -> None:
    """The form that editors and terminals make a link of."""
    assert str(finding().location) == "a.yaml:1:3"
    assert str(finding(line=None).location) == "a.yaml"
    shown = finding().as_dict()
    assert (shown["path"], shown["line"], shown["column"], shown["severity"]) == ("a.yaml", 1, 3, "error")


def test_what_a_text_reader_found_becomes_a_finding() -> None:
    """Code, words, place and hint are the reader's; the file is added."""
    found = from_problem(Problem("ORB102", "not valid", Position(2, 5), "mend it"), "x.yaml")

    assert (found.code, found.message, str(found.location), found.hint) == (
        "ORB102",
        "not valid",
        "x.yaml:2:5",
        "mend it",
    )


def test_positions_count_from_one_in_characters() -> None:
    """Lines and columns as editors show them; a span covers its start and not its end."""
    text = "é😀x\nab\r\nc"

    assert [position_at(text, text.index(one)) for one in "xac"] == [Position(1, 3), Position(2, 1), Position(3, 1)]
    assert position_at(text, len(text)) == Position(3, 2)
    assert Span(2, 3).of(text) == "x"
