"""Renumbering outside a merge: what follows a record to its new number, what stays, and what is refused."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.files import commit

from orbit_registry.errors import RecordNotFoundError, RefusedError
from orbit_registry.operations.adr import NewAdr
from orbit_registry.registry import Registry
from orbit_registry.repository.documents import Documents, read_documents

Git = Callable[..., str]
BODY = "## Context\n\nSome.\n\n## Decision\n\nYes.\n\n## Consequences\n\n- Cost: some.\n"


def documents_of(registry: Registry) -> Documents:
    return read_documents(registry.workspace, registry.collection.records)


def add(folder: Path, title: str, style: str = "file", feature: str | None = None) -> str:
    body = BODY if style == "file" else BODY.replace("## ", "### ")
    return Registry.open(folder).add_adr(NewAdr(title, style=style, feature=feature, body=body)).record.id


def findings(folder: Path) -> list[str]:
    result = Registry.open(folder).check(everything=True).diagnostics
    return [f"{item.location} {item.code} {item.message}" for item in result if item.severity.value != "note"]


@pytest.fixture
def project(git_repo: Path, git: Git) -> Path:
    Registry.init(git_repo)
    add(git_repo, "Keep prose in one place")
    add(git_repo, "Write a snapshot")
    add(git_repo, "Store records as YAML", "log", "registry")
    add(git_repo, "Number decisions alone", "log", "registry")
    commit(git_repo, "Set up")
    return git_repo


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("docs/a.md", "ADR-0001 and ADR-00010, xADR-0001, ADR-0001.", "ADR-0005 and ADR-00010, xADR-0001, ADR-0005."),
        ("docs/a.md", "[ADR-0001](adr/0001-keep-prose-in-one-place.md#adr-0001)",
         "[ADR-0005](adr/0005-keep-prose-in-one-place.md#adr-0005)"),
        ("docs/a.md", "[x][y]\n\n[y]: adr/0001-keep-prose-in-one-place.md\n",
         "[x][y]\n\n[y]: adr/0005-keep-prose-in-one-place.md\n"),
        ("docs/a.md", "ADR 0001 and ADRs 0001, 0002", "ADR 0005 and ADRs 0005, 0002"),
        ("docs/a.md", "feature/ADR-0001 stays", "feature/ADR-0001 stays"),
        ("docs/a.md", "```\norbit show ADR-0001\n```\n", "```\norbit show ADR-0005\n```\n"),
        ("docs/a.md", "\ufeffADR-0001\r\nADR-0002\r\n", "\ufeffADR-0005\r\nADR-0002\r\n"),
        ("docs/a.md", ".orbit/adrs/ADR-0001/adr.yaml", ".orbit/adrs/ADR-0005/adr.yaml"),
        ("src/a.py", "x = 1  # ADR-0001: one home", "x = 1  # ADR-0005: one home"),
        ("src/a.c", "/* see docs/adr/0001-keep-prose-in-one-place.md */",
         "/* see docs/adr/0005-keep-prose-in-one-place.md */"),
        ("mkdocs.yml", "nav:\n  - adr/0001-keep-prose-in-one-place.md\n",
         "nav:\n  - adr/0005-keep-prose-in-one-place.md\n"),
        ("docs/a.md", "10001-keep-prose-in-one-place.md", "10001-keep-prose-in-one-place.md"),
    ],
)  # fmt: skip
def test_what_names_the_record_follows_it(project: Path, path: str, before: str, after: str) -> None:
    file = project / path
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(before.encode())
    report = Registry.open(project).renumber("ADR-0001")
    assert report.record.new == "ADR-0005"
    assert file.read_bytes().decode() == after
    assert report.unclear == ()


def test_folder_document_and_old_names_go_along(project: Path) -> None:
    folder = project / ".orbit/adrs/ADR-0001"
    (folder / "notes.md").write_text("Once ADR-0001.\n", "utf-8")
    report = Registry.open(project).renumber("ADR-0001")
    registry = Registry.open(project)
    record = registry.get("ADR-0005")
    assert not folder.exists()
    assert (project / record.folder / "notes.md").read_text("utf-8") == "Once ADR-0005.\n"
    assert record.source is not None
    assert record.source.path == "docs/adr/0005-keep-prose-in-one-place.md"
    assert (project / record.source.path).read_text("utf-8").startswith("# ADR-0005 — Keep prose in one place\n")
    assert report.record.aliases == ("keep-prose-in-one-place/ADR-0001", "ADR-0001")
    assert {registry.get(name).id for name in report.record.aliases} == {"ADR-0005"}
    moved = {file.path: file.was for file in report.files}
    assert moved[record.source.path] == "docs/adr/0001-keep-prose-in-one-place.md"
    assert findings(project) == []


def test_an_entry_of_a_log_moves_to_its_place(project: Path) -> None:
    Registry.open(project).renumber("ADR-0003")
    registry = Registry.open(project)
    text = (project / "docs/design/registry/4_decisions.md").read_text("utf-8")
    assert text.index("## ADR-0004 — Number") < text.index("## ADR-0005 — Store")
    assert "ADR-0003" not in text
    assert documents_of(registry).of(registry.get("ADR-0005")) is not None
    assert findings(project) == []


def test_a_log_keeps_its_name(project: Path) -> None:
    Registry.open(project).renumber("ADR-0004")
    record = Registry.open(project).get("ADR-0005")
    assert record.source is not None
    assert (record.source.path, record.source.heading) == ("docs/design/registry/4_decisions.md", "ADR-0005")
    assert findings(project) == []


def test_links_and_supersession_of_other_records_follow(project: Path) -> None:
    registry = Registry.open(project)
    registry.supersede("ADR-0001", "ADR-0002")
    legacy = {"legacy_ids": ["old/ADR-0001"], "links": [{"rel": "extends", "to": "ADR-0001"}]}
    registry.update("ADR-0003", lambda data: {**data, **legacy})
    before = Registry.open(project).get("ADR-0003").data
    Registry.open(project).renumber("ADR-0001")
    registry = Registry.open(project)
    assert registry.get("ADR-0002").supersedes == ("ADR-0005",)
    assert registry.get("ADR-0005").superseded_by == ("ADR-0002",)
    assert registry.get("ADR-0003").data == {**before, "links": [{"rel": "extends", "to": "ADR-0005"}]}


def test_a_number_can_be_asked_for_and_taken_back(project: Path) -> None:
    registry = Registry.open(project)
    assert registry.renumber("ADR-0001", 40).record.new == "ADR-0040"
    assert add(project, "Ship a wheel") == "ADR-0041"
    assert registry.renumber("ADR-0040", 1).record.new == "ADR-0001"
    assert Registry.open(project).get("ADR-0001").legacy_ids == (
        "keep-prose-in-one-place/ADR-0001",
        "keep-prose-in-one-place/ADR-0040",
        "ADR-0040",
    )


@pytest.mark.parametrize("number", [1, 2, 4])
def test_a_number_that_is_taken_is_refused(project: Path, number: int) -> None:
    before = sorted(path.name for path in (project / ".orbit/adrs").iterdir())
    with pytest.raises(RefusedError):
        Registry.open(project).renumber("ADR-0001", number)
    assert sorted(path.name for path in (project / ".orbit/adrs").iterdir()) == before


def test_a_number_on_another_branch_is_taken(project: Path, git: Git) -> None:
    git(project, "switch", "-q", "-c", "side")
    Registry.open(project).renumber("ADR-0002", 30)
    commit(project, "Move")
    git(project, "switch", "-q", "main")
    with pytest.raises(RefusedError, match="side"):
        Registry.open(project).renumber("ADR-0001", 30)


def test_another_width_of_the_number_is_left_for_a_person(project: Path) -> None:
    (project / "docs/a.md").write_text("As ADR-1 says.\n", "utf-8")
    report = Registry.open(project).renumber("ADR-0001")
    assert [(item.path, item.position.line, item.position.column, item.id) for item in report.unclear] == [
        ("docs/a.md", 1, 4, "ADR-1")
    ]
    assert (project / "docs/a.md").read_text("utf-8") == "As ADR-1 says.\n"


def test_a_record_is_found_by_path_and_uid(project: Path) -> None:
    uid = Registry.open(project).get("ADR-0001").uid
    assert Registry.open(project).renumber(".orbit/adrs/ADR-0001/adr.yaml", dry_run=True).record.uid == uid
    assert Registry.open(project).renumber(".orbit/adrs/ADR-0001/", dry_run=True).record.uid == uid
    assert Registry.open(project).renumber(uid, dry_run=True).record.uid == uid
    with pytest.raises(RecordNotFoundError):
        Registry.open(project).renumber(".orbit/adrs/ADR-0099")


def test_bytes_that_are_no_text_pass_through(project: Path) -> None:
    (project / "latin.txt").write_bytes(b"\xe9t\xe9 ADR-0001 \xff\n")
    Registry.open(project).renumber("ADR-0001")
    assert (project / "latin.txt").read_bytes() == b"\xe9t\xe9 ADR-0005 \xff\n"


def test_a_document_that_states_a_bare_number_is_renumbered(git_repo: Path) -> None:
    Registry.init(git_repo)
    folder = git_repo / "docs/adr"
    folder.mkdir(parents=True)
    text = f"# 1. Keep prose in one place\n\nDate: 2026-05-17\n\n## Status\n\nAccepted\n\n{BODY}"
    (folder / "0001-keep-prose.md").write_text(text, "utf-8")
    Registry.open(git_repo).backfill()
    Registry.open(git_repo).renumber("ADR-0001", 12)
    assert (folder / "0012-keep-prose.md").read_text("utf-8") == text.replace("# 1.", "# 12.")
    assert findings(git_repo) == []
