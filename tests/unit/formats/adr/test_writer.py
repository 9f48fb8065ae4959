"""Edits of ADR documents change nothing but what they are asked to."""

import json
from pathlib import Path
from typing import Any

import pytest

from orbit_registry.errors import RefusedError
from orbit_registry.formats.adr.model import AdrDocument
from orbit_registry.formats.adr.reader import read_document
from orbit_registry.formats.adr.vocabulary import Language, languages
from orbit_registry.formats.adr.writer import (
    add_amendment,
    add_entry,
    begins_block,
    insert_entry,
    nest_headings,
    remove_entry,
    set_date,
    set_number,
    set_status,
    set_title,
)

CASES = Path(__file__).parents[3] / "cases" / "adr_documents"


def case(name: str) -> tuple[str, str]:
    path = json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))["path"]
    return (CASES / f"{name}.md").read_bytes().decode("utf-8"), path


def only(text: str, path: str = "docs/adr/0001-x.md") -> AdrDocument:
    (entry,) = read_document(text, path).entries
    return entry


@pytest.mark.parametrize(
    ("name", "status", "old", "new"),
    [
        (
            "nygard",
            "superseded by [ADR-9](9.md)",
            "\nAccepted\n",
            "\nSuperseded by [ADR-9](9.md)\n",
        ),
        ("madr_bullets", "Rejected", "* Status: accepted\n", "* Status: rejected\n"),
        ("madr_bold_bullets", "accepted", "Rejected in favour of ADR 111\n", "Accepted\n"),
        ("madr_front_matter", "Accepted", '"superseded by ADR-0057"', '"accepted"'),
        ("front_matter_rest_of_status", "deprecated", '"accepted; s', '"deprecated; s'),
        (
            "front_matter_crlf_bom",
            "Superseded by [ADR-1]: all",
            ": accepted\r\n",
            ': "superseded by [ADR-1]: all"\r\n',
        ),
        ("lines", "deprecated", "Status: Accepted\n\n", "Status: Deprecated\n\n"),
        ("table_rows", "superseded by a|b", "| Accepted |", "| Superseded by a\\|b |"),
        (
            "status_twice",
            "rejected",
            "status: accepted\n---\n\n# 4. Use one queue\n\n## Status\n\nProposed",
            "status: rejected\n---\n\n# 4. Use one queue\n\n## Status\n\nRejected",
        ),
        (
            "badge",
            "superseded by ADR-2",
            "status-accepted-bright",
            "status-superseded_by_ADR--2-bright",
        ),
        (
            "status_section_empty",
            "accepted",
            "## Status\n\n## Con",
            "## Status\n\nAccepted\n\n## Con",
        ),
        ("html_comment_header", "rejected", "Status: Accepted", "Status: Rejected"),
        (
            "front_matter_navigation_only",
            "Accepted",
            "nav_order: 15\n",
            "nav_order: 15\nstatus: accepted\n",
        ),
        ("no_title", "accepted", "- Deciders", "- Status: Accepted\n- Deciders"),
        ("nothing_stated", "accepted", "## Context", "## Status\n\nAccepted\n\n## Context"),
    ],
)
def test_a_new_status_keeps_the_style_of_the_old(
    name: str, status: str, old: str, new: str
) -> None:
    text, path = case(name)
    assert text.count(old) == 1

    assert set_status(text, read_document(text, path).entries[0], status) == text.replace(old, new)


@pytest.mark.parametrize(
    "history", ["- Proposed\n- Accepted", "Proposed on 2021-01-01, accepted on 2021-02-01"]
)
def test_a_history_of_statuses_stays(history: str) -> None:
    text = case("status_twice")[0].replace("\nProposed\n", f"\n{history}\n")

    assert set_status(text, only(text), "rejected") == text.replace(
        "status: accepted", "status: rejected"
    )
    assert "adr-status-twice" not in [problem.code for problem in only(text).problems]


def test_a_second_status_in_a_sentence_stays() -> None:
    text = case("status_twice")[0].replace("\nProposed\n", "\nProposed, as drafted by Ada.\n")

    assert set_status(text, only(text), "rejected") == text.replace(
        "status: accepted", "status: rejected"
    )


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("2020-04-22 proposed", "2020-04-22 accepted"),
        ("Proposed (2020-04-22)", "Accepted (2020-04-22)"),
        ("Proposed on 2020-04-22", "Accepted on 2020-04-22"),
        ("Proposed\n2020-04-22", "Accepted\n2020-04-22"),
        ("Proposed on 2020-04-22 by the board", "Accepted\n\nProposed on 2020-04-22 by the board"),
        (
            "Proposed 2020-01-01\nRejected 2020-01-02",
            "Accepted\n\nProposed 2020-01-01\nRejected 2020-01-02",
        ),
        (
            "Proposed 2020-01-01\nAccepted 2020-01-02",
            "Proposed 2020-01-01\nAccepted 2020-01-02",
        ),
        (
            "* Proposed 2020-01-01\n* Rejected 2020-01-02",
            "* Accepted\n* Proposed 2020-01-01\n* Rejected 2020-01-02",
        ),
    ],
)
def test_a_date_beside_a_status_stays(line: str, after: str) -> None:
    text = f"# 1. Use it\n\n## Status\n\n{line}\n\n## Decision\n\nWe do.\n"

    assert set_status(
        text, read_document(text, "docs/adr/0001-use-it.md").entries[0], "accepted"
    ) == text.replace(line, after)


@pytest.mark.parametrize(
    ("lines", "after"),
    [
        ("Proposed\n\nAccepted", "Accepted"),
        ("- Proposed\n- Accepted", "- Accepted"),
        (
            "- [x] Proposed\n- [ ] Accepted\n- [ ] Rejected",
            "- [ ] Proposed\n- [x] Accepted\n- [ ] Rejected",
        ),
        ("- [ ] proposed\n- [ ] accepted", "- [ ] proposed\n- [x] accepted"),
        ("* [x] Proposed\n* [ ] Rejected", "* [ ] Proposed\n* [x] Accepted\n* [ ] Rejected"),
        (
            "Proposed\r\n\r\n**Accepted**\r\n\r\nAccepted by Ada.",
            "Accepted\r\n\r\nAccepted by Ada.",
        ),
        (
            "Proposed\n\nHistory:\n\n- Proposed\n- Accepted",
            "Accepted\n\nHistory:\n\n- Proposed\n- Accepted",
        ),
        (
            "Proposed\n\n- Accepted\n- Reopened in 2020",
            "Accepted\n\n- Accepted\n- Reopened in 2020",
        ),
    ],
)
def test_a_section_states_the_new_status_once(lines: str, after: str) -> None:
    text = f"# 1. Use it\n\n## Status\n\n{lines}\n\n## Decision\n\nAccepted\n"

    assert set_status(text, only(text), "accepted") == text.replace(lines, after)


def test_a_log_entry_without_a_status_gets_a_line() -> None:
    text, path = case("log_superseded_line")
    entry = read_document(text, path).entries[2]

    changed = set_status(text, entry, "accepted")

    assert changed == text.replace(
        "### ADR-021 — Use it twice\n", "### ADR-021 — Use it twice\n\nStatus: Accepted\n"
    )


def test_a_live_status_removes_superseding_lines() -> None:
    """Otherwise the document would go on saying that it is superseded."""
    text, path = case("log_superseded_line")

    changed = set_status(text, read_document(text, path).entries[0], "accepted")

    assert changed == text.replace("\n\n**Superseded by:** ADR-029 / [T20260506-11].", "")
    assert read_document(changed, path).entries[0].status == "accepted"


def test_a_title_is_replaced_wherever_it_stands() -> None:
    text, path = case("front_matter_relations")

    changed = set_title(text, read_document(text, path).entries[0], "Fail:  first\n then pass")

    assert 'title: "Fail: first then pass"\n' in changed
    assert "# ADR-0016: Fail: first then pass\n" in changed
    assert len(changed.splitlines()) == len(text.splitlines())


def test_a_number_is_replaced_in_heading_and_front_matter() -> None:
    text, path = case("front_matter_relations")
    entry = read_document(text, path).entries[0]

    assert 'id: "0122"' in set_number(text, entry, "122")
    assert "# ADR-0122: Observe" in set_number(text, entry, "ADR-0122")
    log, log_path = case("log")
    entries = read_document(log, log_path).entries
    assert "\n## ADR-0108 — Push" in set_number(log, entries[0], "ADR-0108")
    assert "\n## ADR-0210: Worktree-local bodies {#adr-0210}\n" in set_number(
        log, entries[2], "ADR-0210"
    )


def test_a_status_takes_the_place_of_a_superseding_line() -> None:
    text = "# Log\n\n## ADR-0001 — A\n\nSuperseded by ADR-0002\n\n**Decision.** x\n"
    entry = read_document(text, "4_decisions.md").entries[0]
    assert (entry.status, entry.targets("superseded_by")) == ("superseded", ("ADR-0002",))

    changed = set_status(text, entry, "accepted")

    assert changed == text.replace("Superseded by ADR-0002", "Status: Accepted")


def test_a_date_is_replaced_or_added() -> None:
    log, path = case("log")
    nygard, nygard_path = case("badge")

    assert set_date(log, read_document(log, path).entries[2], "2026-08") == log.replace(
        "2026-06 (rollup", "2026-08 (rollup"
    )
    added = set_date(nygard, read_document(nygard, nygard_path).entries[0], "2024-08-03")
    assert read_document(added, nygard_path).entries[0].date == "2024-08-03"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_an_amendment_stands_at_the_end_of_its_entry(newline: str) -> None:
    text, path = case("log")
    text = text.replace("\n", newline)

    once = add_amendment(
        text,
        read_document(text, path).entries[0],
        "2026-07-01",
        "ORB-7",
        "Also pull.\n\nSometimes.",
    )
    twice = add_amendment(
        once, read_document(once, path).entries[0], "2026-08-01", "", "Never pull."
    )

    expected = [
        "- Cost: a query on each call.",
        "",
        "### Amendments",
        "",
        "**2026-07-01** [ORB-7]: Also pull.",
        "",
        "Sometimes.",
        "",
        "**2026-08-01**: Never pull.",
        "",
        "---",
        "",
        "## ADR-0109 - Plain files",
    ]
    assert newline.join(expected) in twice
    assert text == twice.replace(newline.join(expected[1:9]) + newline, "")
    assert ("\r" in twice) == (newline == "\r\n")


def test_an_amendment_to_a_file_uses_the_files_own_level() -> None:
    text, path = case("no_trailing_newline")

    changed = add_amendment(
        text, read_document(text, path).entries[0], "2026-07-01", "T-1", "They mind."
    )

    assert changed == text + "\n\n## Amendments\n\n**2026-07-01** [T-1]: They mind.\n"


ENTRY = "## ADR-0110 — Middle\n\nStatus: Proposed\n\nText."


def test_a_rule_between_entries_is_used_again() -> None:
    text, _ = case("log")
    entry = ENTRY.replace("0110", "0050")

    changed = insert_entry(text, entry, "ADR-0050")

    assert f"- Cost: a query on each call.\n\n---\n\n{entry}\n\n---\n\n## ADR-0109" in changed


def test_the_highest_entry_goes_before_trailing_sections() -> None:
    text, _ = case("log")
    entry = ENTRY.replace("0110", "0200")

    assert insert_entry(text, entry, "ADR-0200") == text.replace(
        "## Task Ref", f"{entry}\n\n## Task Ref"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", f"{ENTRY}\n"),
        ("# Log\n", f"# Log\n\n{ENTRY}\n"),
        ("# Log", f"# Log\n\n{ENTRY}\n"),
        ("---\ntitle: x\n---\n", f"---\ntitle: x\n---\n\n{ENTRY}\n"),
        (
            "# Log\n\nHow.\n\n## Task References\n\n- x\n",
            f"# Log\n\nHow.\n\n{ENTRY}\n\n## Task References\n\n- x\n",
        ),
        ("\ufeff# Log\r\n", "\ufeff# Log\r\n\r\n" + ENTRY.replace("\n", "\r\n") + "\r\n"),
        ("## ADR-0200 — Later\n\nx", f"{ENTRY}\n\n## ADR-0200 — Later\n\nx"),
        ("## ADR-0002 — Sooner\n\nx", f"## ADR-0002 — Sooner\n\nx\n\n{ENTRY}\n"),
    ],
)
def test_an_entry_finds_its_place_in_any_log(text: str, expected: str) -> None:
    assert insert_entry(text, ENTRY, "ADR-0110") == expected


@pytest.mark.parametrize("language", languages(), ids=lambda language: language.superseded_by)
def test_a_status_is_written_in_the_language_of_its_document(language: Language) -> None:
    sections = "".join(f"## {heading}\n\nText.\n\n" for heading in sorted(language.headings))
    text = f"# 3. Title\n\n## Status\n\n{language.statuses['accepted'].capitalize()}\n\n{sections}"
    replaced = set_status(text, only(text), "Superseded by [ADR-0042](0042-x.md)")
    assert "Superseded" not in replaced
    assert (only(replaced).status, only(replaced).targets("superseded_by")) == (
        "superseded",
        ("0042-x.md",),
    )
    retired = set_status(replaced, only(replaced), "deprecated")
    assert only(retired).status_raw.casefold() == language.statuses["deprecated"].casefold()


@pytest.mark.parametrize(
    ("line", "status", "after"),
    [
        ("Status: Entwurf", "accepted", "Status: Akzeptiert"),
        ("**Statut :** proposée", "accepted", "**Statut :** acceptée"),
        ("**Estado:** propuesto", "Accepted", "**Estado:** aceptado"),
        (
            "Estado: Aceptada",
            "superseded by [ADR-9](9.md)",
            "Estado: Reemplazada por [ADR-9](9.md)",
        ),
        ("Stato: obsoleto", "accepted", "Stato: accettato"),
        ("Status: obsoleto", "accepted", "Status: accepted"),
        ("## Status\n\n承認済み", "deprecated", "## Status\n\n非推奨"),
        (
            "| 상태 | 초안 |\n|---|---|\n| A | B |",
            "accepted",
            "| 상태 | 승인 |\n|---|---|\n| A | B |",
        ),
        ("Status: Experimental", "accepted", "Status: Accepted"),
        ("Status: accepted", "superseded by ADR-4", "Status: superseded by ADR-4"),
    ],
)
def test_a_status_line_keeps_its_language(line: str, status: str, after: str) -> None:
    text = f"# 3. Title\n\n{line}\n\n## Context\n\nText.\n\n## Decision\n\nText.\n"

    assert set_status(text, only(text), status) == text.replace(line, after)


PROSE = Path(__file__).parents[3] / "cases" / "given_prose"


def prose_cases(name: str) -> list[Any]:
    return [
        pytest.param(case, id=case["name"])
        for case in json.loads((PROSE / f"{name}.json").read_text("utf-8"))
    ]


@pytest.mark.parametrize("case", prose_cases("fitted"))
def test_headings_stand_below_the_decisions_own(case: dict[str, Any]) -> None:
    nested = nest_headings(case["text"], case["level"])
    assert nested == case["becomes"]
    assert nest_headings(nested, case["level"]) == nested


@pytest.mark.parametrize("case", prose_cases("refused"))
def test_open_blocks_in_prose_are_refused(case: dict[str, Any]) -> None:
    with pytest.raises(RefusedError) as raised:
        nest_headings(case["text"], 2)

    assert case["refused"] in raised.value.message


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("words", False),
        ("two\nlines", False),
        ("C# is a word", False),
        ("-1 degree", False),
        ("a *b*", False),
        ("# heading", True),
        ("Heading\n===", True),
        ("- list", True),
        ("1. list", True),
        ("```\ncode\n```", True),
        ("    code", True),
        ("> quote", True),
        ("a | b\n--|--\n1 | 2", True),
        ("<!-- x -->", True),
    ],
)
def test_blocks_are_told_from_words(text: str, block: bool) -> None:
    assert begins_block(text) is block


BODY = "\n\n## Context\n\nA.\n\n## Decision\n\nB.\n"
OTHER = "[ADR-2](0002-x.md)"


@pytest.mark.parametrize(
    ("notice", "successor"),
    [
        (f"> [!NOTE]\n> Superseded by {OTHER}", "0002-x.md"),
        (f"> [!WARNING]\n> This ADR has been superseded by {OTHER}.", "0002-x.md"),
        ('!!! warning "Superseded by ADR-0002"', "ADR-0002"),
        (f"!!! warning\n    This ADR has been superseded by {OTHER}", "0002-x.md"),
        (f":::warning\nThe decision was replaced by {OTHER}\n:::", "0002-x.md"),
        ("## Status\n\n> [!WARNING]\n> Superseded by ADR-0002", "ADR-0002"),
        (f"Status: accepted\n\n> [!NOTE]\n> This ADR has been superseded by {OTHER}", "0002-x.md"),
        ("> [!NOTE]\n> This may be superseded by ADR-0002.", None),
        ("> [!NOTE]\n> This ADR is superseded by ADR-0002 for mobile clients only.", None),
    ],
)
def test_a_notice_names_the_successor(notice: str, successor: str | None) -> None:
    entry = read_document(f"# Use X\n\n{notice}{BODY}", "docs/adr/0001-x.md").entries[0]
    target = next(
        (relation.target_raw for relation in entry.relations if relation.rel == "superseded_by"),
        None,
    )
    assert (entry.title, entry.status, target) == (
        "Use X",
        "superseded" if successor else "unknown",
        successor,
    )


def test_a_remark_goes_with_the_mark_of_its_notice() -> None:
    text = f"# Use X\n\nStatus: accepted\n\n> [!WARNING]\n> Superseded by {OTHER}{BODY}"
    entry = read_document(text, "docs/adr/0001-x.md").entries[0]
    assert set_status(text, entry, "accepted") == f"# Use X\n\nStatus: accepted{BODY}"


@pytest.mark.parametrize(
    "lines",
    [
        "Supersedes [1. A](0001-a.md)",
        "Supercedes [1. A](0001-a.md)",
        "Amends [1. A](0001-a.md)",
        "Clarifies [1. A](0001-a.md)",
        "- Supersedes ADR-0001",
        "Extends ADR-0003\n\nSupersedes ADR-0001",
    ],
)
@pytest.mark.parametrize("status", ["accepted", "Superseded by [ADR-0007](0007-c.md)"])
def test_a_line_about_another_decision_survives_a_new_status(lines: str, status: str) -> None:
    text = f"# 2. B\n\n## Status\n\n{lines}\n\n## Context\n\na\n\n## Decision\n\nb\n"
    (before,) = read_document(text, "docs/adr/0002-b.md").entries
    assert before.status == "unknown"

    after = set_status(text, before, status)
    (entry,) = read_document(after, "docs/adr/0002-b.md").entries
    assert entry.status == status.split()[0].lower()
    assert all(line in after for line in lines.split("\n"))
    assert {(r.rel, r.target_raw) for r in before.relations} <= {
        (r.rel, r.target_raw) for r in entry.relations
    }


ROWS = """# Decisions

| ID | Decision | Status |
|---|---|---|
| D-1 | Use one queue | Proposed |
| D-2 | Use one cache | Accepted |
"""


def test_the_status_of_a_row_is_written_and_nothing_else() -> None:
    first, _ = read_document(ROWS, "DECISIONS.md").entries
    assert set_status(ROWS, first, "accepted") == ROWS.replace("Proposed", "Accepted")

    for edit in (
        lambda: set_title(ROWS, first, "Use two"),
        lambda: set_number(ROWS, first, "ADR-0009"),
        lambda: add_amendment(ROWS, first, "2026-05-02", "", "More."),
        lambda: remove_entry(ROWS, first),
        lambda: insert_entry(ROWS, "## ADR-0009 — T", "ADR-0009"),
        lambda: add_entry(ROWS, "DECISIONS.md", "## ADR-0009 — T"),
    ):
        with pytest.raises(RefusedError, match="row of a table"):
            edit()
