"""Which records of a repository are due: what its commits and imports say."""

import os
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.files import make_workspace, write, write_record

from orbit_registry.lifecycle.review_facts import due_reviews
from orbit_registry.repository.reader import Reading
from orbit_registry.workspace.workspace import open_workspace

NOW = datetime(2026, 6, 15, tzinfo=UTC)
USES = {"revisit_when": [{"uses": "kafka"}]}


def record(root: Path, number: int, **fields: object) -> None:
    write_record(
        root,
        f".orbit/adrs/ADR-{number:04d}/adr.yaml",
        title=f"Keep thing {number}",
        status="accepted",
        created_at="2026-01-10T00:00:00Z",
        **fields,
    )


def commit_on(root: Path, day: str, message: str) -> None:
    moment = f"{day}T12:00:00Z"
    dates = {"GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment}
    subprocess.run(["git", "add", "-A"], cwd=root, check=True)
    command = ["git", "commit", "-q", "-m", message]
    subprocess.run(command, cwd=root, check=True, env={**os.environ, **dates})


def due_in(root: Path) -> Iterator[tuple[str, str]]:
    workspace = open_workspace(root)
    for path, due in due_reviews(workspace, Reading(workspace).filled, NOW).items():
        yield path.split("/")[2], due.since


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = make_workspace(tmp_path)
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    return root


def test_a_package_that_was_used_at_the_last_look_is_no_news(root: Path) -> None:
    record(root, 1, **USES)
    record(root, 2, reviewed_at="2026-04-01T00:00:00Z", **USES)
    write(root, "src/send.py", "import json\n")
    commit_on(root, "2026-02-01", "Start")
    write(root, "src/send.py", "import kafka\n")
    commit_on(root, "2026-03-01", "Send")
    write(root, "src/send.py", "import kafka\n\nX = 1\n")
    commit_on(root, "2026-05-01", "Change")

    assert dict(due_in(root)) == {"ADR-0001": "2026-03-01"}


def test_documents_and_records_say_it_alike(root: Path) -> None:
    record(root, 1, review_by="2026-03")
    record(root, 2, source={"path": "docs/adr/0002-a.md"})
    record(root, 3, source={"path": "docs/adr/0003-b.md"}, review_by="2026-09")
    write(root, "docs/adr/0002-a.md", "# 2. A\n\nReview by: May 2026\n\n## Context\n\nX.\n")
    write(root, "docs/adr/0003-b.md", "# 3. B\n\nReview by: May 2026\n\n## Context\n\nX.\n")
    commit_on(root, "2026-02-01", "Start")

    assert dict(due_in(root)) == {"ADR-0001": "2026-03", "ADR-0002": "2026-05"}


def test_words_and_paths_of_commits_count_in_a_folder_of_a_repository(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    root = make_workspace(tmp_path / "shop")
    record(root, 1, revisit_when=["path: src/cluster"])
    record(root, 2, revisit_when=["kafka leaves beta"])
    commit_on(tmp_path, "2026-02-01", "Start")
    write(root, "src/cluster/a.py", "")
    write(tmp_path, "src/other.py", "")
    commit_on(tmp_path, "2026-03-01", "Add a cluster, as Kafka leaves beta")

    assert dict(due_in(root)) == {"ADR-0001": "2026-03-01", "ADR-0002": "2026-03-01"}


def test_without_git_what_is_there_counts_until_someone_looks(tmp_path: Path) -> None:
    root = make_workspace(tmp_path)
    record(root, 1, revisit_when=["path: src/cluster"], review_by="2026-03")
    record(root, 2, revisit_when=["kafka"])

    assert dict(due_in(root)) == {"ADR-0001": "2026-03"}
