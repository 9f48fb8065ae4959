"""A status in a file next to a silent document is quoted, whatever that file is called."""

from collections.abc import Callable
from pathlib import Path

import pytest

from orbit_registry.registry import Registry

BODY = "\n\n## Context\n\na\n\n## Decision\n\nWe will use b.\n"
LIST = "adrs:\n  - {id: 11, status: rejected}\n  - {id: 12, file: 0012-x.md, status: accepted}\n"


def quoted(root: Path, git: Callable[..., str], document: str, files: dict[str, str]) -> list[str]:
    """Return what an import says of the statuses of a document with these files."""
    for path, text in {document: f"# Use b{BODY}", **files}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")

    git(root, "init", "-q")
    Registry.init(root)
    report = Registry.import_from(root, dry_run=True)
    return [outcome.reason for outcome in report.of("changed") if outcome.record is not None]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("docs/adr/0012-x.yaml", "status: accepted\n"),
        ("docs/adr/0012-x.json", '{"status": "accepted"}'),
        ("docs/adr/0012-x.toml", 'status = "accepted"\n'),
        ("docs/adr/0012-x.meta.yml", "state: accepted\n"),
        ("docs/adr/0012-x.md.yaml", "Status: accepted\n"),
        ("docs/adr/.0012-x.yaml", "status: accepted\n"),
        ("docs/adr/meta/0012-x.yaml", "status: accepted\n"),
        ("docs/adr/0012.yaml", "status: accepted\n"),
        ("docs/adr/adr-0012.yml", "status: accepted\n"),
        ("docs/adr/index.yaml", LIST),
        ("docs/adr/adrs.json", '{"0012-x.md": {"status": "accepted"}}'),
        ("docs/adr/status.yaml", "0012-x: accepted\n0013-y: rejected\n"),
        ("docs/adr/index.yml", "- {path: docs/adr/0012-x.md, state: accepted}\n"),
    ],
)
def test_a_status_next_to_the_document_is_quoted(
    tmp_path: Path, git: Callable[..., str], path: str, text: str
) -> None:
    reasons = quoted(tmp_path, git, "docs/adr/0012-x.md", {path: text})
    name = path.rpartition("/")[2]
    assert any(f"the status `accepted` is in the file {name}" in reason for reason in reasons)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("docs/adr/0013-y.yaml", "status: accepted\n"),
        ("docs/adr/index.yaml", "version: 12\nstatus: accepted\n"),
        ("docs/adr/index.yaml", "adrs:\n  - {id: 13, status: accepted}\n"),
        ("docs/adr/0012-x.yaml", "- status: accepted\n"),
        ("docs/adr/0012-x.yaml", ""),
    ],
)
def test_a_file_about_something_else_states_nothing(
    tmp_path: Path, git: Callable[..., str], path: str, text: str
) -> None:
    reasons = quoted(tmp_path, git, "docs/adr/0012-x.md", {path: text})
    assert any("states no status" in reason for reason in reasons)


def test_a_decision_in_its_folder_has_its_metadata_there(
    tmp_path: Path, git: Callable[..., str]
) -> None:
    files = {"docs/adr/0012-x/meta.yaml": "status: accepted\n"}
    reasons = quoted(tmp_path, git, "docs/adr/0012-x/index.md", files)
    assert any("is in the file meta.yaml" in reason for reason in reasons)
