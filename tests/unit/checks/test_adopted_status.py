"""An adopted record follows its document: its status, its successors,
and a number that two documents have.
"""

from pathlib import Path
from typing import Any

import pytest

from orbit_registry.checks.inputs import Files
from orbit_registry.errors import RefusedError
from orbit_registry.formats.yaml import load
from orbit_registry.registry import Registry

CASES: Any = load(
    (Path(__file__).parents[2] / "cases" / "adopted_statuses.yaml").read_text("utf-8")
)


def document(root: Path, record_id: str) -> Path:
    return root / f"docs/adr/{record_id[-4:]}-choice.md"


def state(root: Path, record_id: str, status: str) -> None:
    file = document(root, record_id)
    number = int(record_id[-4:])
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        f"# {number}. Choice number {number}\n\nStatus: {status}\n\n## Context\n\nReason "
        f"{number * 7919}.\n\n"
        f"## Decision\n\nWe take way {number * 104729}.\n\n## Consequences\n\n- Bad, because of "
        f"{number * 1299709}.\n",
        "utf-8",
    )


def adopted(root: Path, statuses: dict[str, str]) -> Registry:
    for record_id, status in statuses.items():
        state(root, record_id, status)
    registry = Registry.open(root)
    registry.adr_backfill()
    return registry


def set_by_hand(registry: Registry, record_id: str, status: str) -> None:
    record = registry.get(record_id)
    file = registry.workspace.root / record.path
    file.write_text(
        file.read_text("utf-8").replace(f"\nstatus: {record.status.name}", f"\nstatus: {status}"),
        "utf-8",
    )
    registry.refresh()


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_fix_follows_the_document(workspace: Path, case: dict[str, Any]) -> None:
    registry = adopted(workspace, case["first"])
    for record_id, status in case.get("then", {}).items():
        state(workspace, record_id, status)
    for record_id, status in case.get("record", {}).items():
        set_by_hand(registry, record_id, status)
    texts = {path: path.read_bytes() for path in (workspace / "docs").rglob("*.md")}

    outcome = Registry.open(workspace).check(fix=True)

    records = {record.id: record for record in Registry.open(workspace).records}
    assert {
        record_id: records[record_id].stated_status.name for record_id in case["status"]
    } == case["status"]
    for field in ("superseded_by", "supersedes"):
        expected = case.get(field, {})
        assert {
            record_id: list(records[record_id].words(field)) for record_id in expected
        } == expected
    codes = ("ORB302", "ORB303", "ORB304", "ORB701")
    hints = {
        finding.code: finding.hint or "" for finding in outcome.diagnostics if finding.code in codes
    }
    remaining = case.get("left", {})
    assert hints.keys() == remaining.keys()
    assert all(words in hints[code] for code, words in remaining.items())
    assert {path: path.read_bytes() for path in texts} == texts
    assert Registry.open(workspace).check(fix=True).fixed == ()


@pytest.mark.parametrize(
    ("first", "verb"),
    [
        ("Proposed", "accepted"),
        ("Proposed", "rejected"),
        ("Accepted", "deprecated"),
        ("Accepted", "superseded"),
    ],
)
def test_our_verbs_keep_record_and_document_in_step(workspace: Path, first: str, verb: str) -> None:
    registry = adopted(workspace, {"ADR-0001": first, "ADR-0007": "Accepted"})
    before = document(workspace, "ADR-0001").read_text("utf-8").splitlines()
    if verb == "superseded":
        registry.supersede("ADR-0001", "ADR-0007")
    else:
        registry.transition("ADR-0001", verb)
    after = document(workspace, "ADR-0001").read_text("utf-8").splitlines()
    assert [line for line, old in zip(after, before, strict=True) if line != old] == [after[2]]
    assert verb in after[2].lower()

    outcome = Registry.open(workspace).check(fix=True)

    assert {"ORB304", "ORB701"}.isdisjoint(
        finding.code for finding in (*outcome.diagnostics, *outcome.fixed)
    )
    record = Registry.open(workspace).get("ADR-0001")
    assert (record.status.name, record.text("status_raw")) == (
        verb,
        after[2].removeprefix("Status: "),
    )


@pytest.mark.parametrize(
    ("side", "status", "line"),
    [("record", "accepted", "Accepted"), ("document", "proposed", "Proposed")],
)
def test_a_fix_follows_the_side_that_was_named(
    workspace: Path, side: str, status: str, line: str
) -> None:
    """Said which, record and document agree on it,
    also where the document alone would not have been followed.
    """
    adopted(workspace, {"ADR-0001": "Accepted"})
    state(workspace, "ADR-0001", "Proposed")
    assert Registry.open(workspace).check(fix=True).fixed == ()

    outcome = Registry.open(workspace).check(fix=side)

    assert [finding.code for finding in outcome.fixed] == ["ORB701"]
    assert Registry.open(workspace).get("ADR-0001").status.name == status
    assert f"\nStatus: {line}\n" in document(workspace, "ADR-0001").read_text("utf-8")
    assert "ORB701" not in {
        finding.code for finding in Registry.open(workspace).check().diagnostics
    }


def test_a_fix_from_the_document_revives_no_decision(workspace: Path) -> None:
    adopted(workspace, {"ADR-0001": "Superseded by ADR-7", "ADR-0007": "Accepted"})
    state(workspace, "ADR-0001", "Accepted")
    assert Registry.open(workspace).check(fix="document").fixed == ()
    assert Registry.open(workspace).get("ADR-0001").status.name == "superseded"


def test_a_document_that_moves_on_after_a_verb_is_followed(workspace: Path) -> None:
    adopted(workspace, {"ADR-0001": "Proposed"}).transition("ADR-0001", "accepted")
    state(workspace, "ADR-0001", "Deprecated")
    Registry.open(workspace).check(fix=True)
    assert Registry.open(workspace).get("ADR-0001").status.name == "deprecated"


@pytest.mark.parametrize("verb", ["accepted", "superseded"])
def test_a_verb_refuses_where_the_document_is_gone(workspace: Path, verb: str) -> None:
    registry = adopted(workspace, {"ADR-0001": "Proposed", "ADR-0007": "Accepted"})
    document(workspace, "ADR-0001").unlink()
    before = {path: path.read_bytes() for path in (workspace / ".orbit/adrs").rglob("*.yaml")}
    with pytest.raises(RefusedError, match=r"docs/adr/0001-choice\.md"):
        registry.transition("ADR-0001", verb) if verb == "accepted" else registry.supersede(
            "ADR-0001", "ADR-0007"
        )
    assert {path: path.read_bytes() for path in before} == before


TEXT = (
    "# 1. {title}\n\nStatus: Accepted\n\n## Context\n\n{title}?\n\n"
    "## Decision\n\n{title}.\n\n## Consequences\n\n- Bad, because.\n"
)


def test_the_second_document_of_a_number_is_renumbered(workspace: Path) -> None:
    folder = workspace / "docs/adr"
    folder.mkdir(parents=True)
    (folder / "0001-use-sqlite.md").write_text(TEXT.format(title="Use SQLite"), "utf-8")
    Registry.open(workspace).adr_backfill()
    first = (workspace / ".orbit/adrs/ADR-0001/adr.yaml").read_bytes()
    (folder / "0001-rotate-keys.md").write_text(TEXT.format(title="Rotate keys"), "utf-8")

    (finding,) = (
        entry for entry in Registry.open(workspace).check().diagnostics if entry.code == "ORB702"
    )

    assert (
        finding.message
        == "`Rotate keys` has no record, and its number is that of ADR-0001 (Use SQLite)"
    )
    assert "a new number" in (finding.hint or "")
    assert [location.path for location in finding.related] == ["docs/adr/0001-use-sqlite.md"]
    assert "ORB702" in {
        diagnostic.code for diagnostic in Registry.open(workspace).check(fix=True).fixed
    }
    records = {record.id: record for record in Registry.open(workspace).records}
    titles = {record_id: record.title for record_id, record in records.items()}
    assert titles == {"ADR-0001": "Use SQLite", "ADR-0002": "Rotate keys"}
    assert records["ADR-0002"].source is not None
    assert records["ADR-0002"].source.path == "docs/adr/0001-rotate-keys.md"
    assert (workspace / ".orbit/adrs/ADR-0001/adr.yaml").read_bytes() == first


def test_a_link_tells_two_files_of_one_number_apart(workspace: Path) -> None:
    """`Supersedes` names both files, and both records are replaced;
    a bare number would have meant either.
    """
    folder = workspace / "docs/adr"
    folder.mkdir(parents=True)
    for name, title in (("0001-use-sqlite", "Use SQLite"), ("0001-rotate-keys", "Rotate keys")):
        (folder / f"{name}.md").write_text(TEXT.format(title=title), "utf-8")
    both = "Status: Accepted\n\nSupersedes [a](0001-use-sqlite.md), [b](0001-rotate-keys.md)."
    text = TEXT.format(title="Do all").replace("# 1.", "# 2.").replace("Status: Accepted", both)
    (folder / "0002-do-all.md").write_text(text, "utf-8")
    registry = Registry.open(workspace)
    registry.adr_backfill()
    registry.refresh()
    new = next(record for record in registry.records if record.title == "Do all")
    assert sorted(registry.get(old).title for old in new.supersedes) == [
        "Rotate keys",
        "Use SQLite",
    ]


def test_unreadable_records_are_read_once_for_all_their_documents(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"ADR-{number:04}" for number in range(1, 31)]
    adopted(workspace, dict.fromkeys(names, "Accepted"))
    paths = [workspace / f".orbit/adrs/{name}/adr.yaml" for name in names]
    for path in paths:
        path.write_text(f"{path.read_text('utf-8')}status: [\n", "utf-8")

    reads: list[str] = []
    read = Files.__call__

    def counted(files: Files, path: str) -> str | None:
        reads.append(path)
        return read(files, path)

    monkeypatch.setattr(Files, "__call__", counted)
    codes = [entry.code for entry in Registry.open(workspace).check().diagnostics]

    assert "ORB702" not in codes
    assert sum(path.endswith("adr.yaml") for path in reads) < 4 * len(names)
