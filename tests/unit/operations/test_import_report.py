"""The report of an import, as a person reads it."""

from orbit_registry.operations.import_report import UNKNOWN, Outcome, TakeoverReport, status_notes

TAKEN = tuple(Outcome("taken", f"adr/{number:04}.md", f"ADR-{number:04}", "") for number in range(12))
QUESTIONS = (
    *(Outcome("changed", entry.source, entry.record, f"it states none, {UNKNOWN}") for entry in TAKEN[:3]),
    Outcome("changed", "adr/0003.md", "ADR-0003", f"the status `moot` is not recognised, {UNKNOWN}"),
    *(Outcome("changed", f"adr/{number:04}.md", f"ADR-{number:04}", f"reason {number}") for number in range(7)),
)
LEFT = tuple(Outcome("left", f"adr/{name}.md", None, "a template") for name in "abcdefgh")
OUTCOMES = (*TAKEN, *QUESTIONS, *LEFT, Outcome("changed", ".gitignore", None, "written for this tool"))


def test_a_report_fits_a_screen() -> None:
    """Each part has five lines; outcomes of one reason share a line, and unknown statuses too."""
    lines = TakeoverReport("madr", "adr", False, OUTCOMES, tuple(status_notes(OUTCOMES))).text().splitlines()

    assert lines[0] == "adr (madr): 12 taken; 11 with a question; 8 left; 1 changed elsewhere"
    assert lines[2:9] == ["Taken:", *(f"  {e.source} → {e.record}" for e in TAKEN[:5]), "  and 7 more: --verbose"]
    assert lines[10:12] == ["Taken, with a question:", "  4 × no status stated"]
    assert lines[16] == "  and 3 more: --verbose"
    assert lines[18:20] == ["Left:", "  8 × a template (adr/a.md, …)"]
    assert "no status stated for 4 decisions: `orbit adr accept --status unknown`" in lines[-3]
    assert lines[-1] == "next: `orbit adr accept --status unknown`, if you follow them all"
    assert len(lines) < 30


def test_a_verbose_report_names_every_document() -> None:
    text = TakeoverReport("madr", "adr", False, OUTCOMES).text(verbose=True)

    assert "more:" not in text
    assert all(outcome.source in text and outcome.reason in text for outcome in OUTCOMES)


def test_a_report_says_what_comes_next() -> None:
    assert TakeoverReport("madr", "adr", True, TAKEN).text().endswith("\nnext: the same command without `--dry-run`")
    assert TakeoverReport("madr", "adr", False, TAKEN).text().endswith("\nnext: `orbit check`, then `orbit list`")
    assert TakeoverReport("madr", "adr", True, ()).text() == "adr (madr): nothing to take\n\nnext: `orbit list`"
