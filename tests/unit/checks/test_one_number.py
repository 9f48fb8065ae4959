"""Two documents with one number, one of which has no record: what is said of it, and what a fix makes of it."""

from pathlib import Path

from orbit_registry.registry import Registry

TEXT = (
    "# 1. {title}\n\nStatus: Accepted\n\n## Context\n\n{title}?\n\n"
    "## Decision\n\n{title}.\n\n## Consequences\n\n- Bad, because.\n"
)


def test_the_second_document_of_a_number_is_renumbered(workspace: Path) -> None:
    folder = workspace / "docs/adr"
    folder.mkdir(parents=True)
    (folder / "0001-use-sqlite.md").write_text(TEXT.format(title="Use SQLite"), "utf-8")
    Registry.open(workspace).backfill()
    first = (workspace / ".orbit/adrs/ADR-0001/adr.yaml").read_bytes()
    (folder / "0001-rotate-keys.md").write_text(TEXT.format(title="Rotate keys"), "utf-8")

    (finding,) = (entry for entry in Registry.open(workspace).check().diagnostics if entry.code == "ORB702")

    assert finding.message == "`Rotate keys` has no record, and its number is that of ADR-0001 (Use SQLite)"
    assert "a new number" in (finding.hint or "")
    assert [location.path for location in finding.related] == ["docs/adr/0001-use-sqlite.md"]
    assert "ORB702" in {diagnostic.code for diagnostic in Registry.open(workspace).check(fix=True).fixed}
    records = {record.id: record for record in Registry.open(workspace).records}
    titles = {record_id: record.title for record_id, record in records.items()}
    assert titles == {"ADR-0001": "Use SQLite", "ADR-0002": "Rotate keys"}
    assert records["ADR-0002"].source is not None
    assert records["ADR-0002"].source.path == "docs/adr/0001-rotate-keys.md"
    assert (workspace / ".orbit/adrs/ADR-0001/adr.yaml").read_bytes() == first


def test_a_link_tells_two_files_of_one_number_apart(workspace: Path) -> None:
    """`Supersedes` names both files, and both records are replaced; a bare number would have meant either."""
    folder = workspace / "docs/adr"
    folder.mkdir(parents=True)
    for name, title in (("0001-use-sqlite", "Use SQLite"), ("0001-rotate-keys", "Rotate keys")):
        (folder / f"{name}.md").write_text(TEXT.format(title=title), "utf-8")
    both = "Status: Accepted\n\nSupersedes [a](0001-use-sqlite.md), [b](0001-rotate-keys.md)."
    text = TEXT.format(title="Do all").replace("# 1.", "# 2.").replace("Status: Accepted", both)
    (folder / "0002-do-all.md").write_text(text, "utf-8")
    registry = Registry.open(workspace)
    registry.backfill()
    registry.refresh()
    new = next(record for record in registry.records if record.title == "Do all")
    assert sorted(registry.get(old).title for old in new.supersedes) == ["Rotate keys", "Use SQLite"]
