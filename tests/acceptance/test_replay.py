"""`orbit replay` on real histories."""

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from orbit_registry.cli.main import run
from orbit_registry.registry import Registry

Git = Callable[..., str]
Capture = pytest.CaptureFixture[str]
SCHEMA = Draft202012Validator(
    json.loads((Path(__file__).parents[2] / "docs/schemas/replay.schema.json").read_text("utf-8"))
)


class Project:
    """A repository whose history is written commit by commit."""

    def __init__(self, root: Path, git: Git, capture: Capture) -> None:
        self.root, self.git, self.capture = root, git, capture

    def learn(self, summary: str, *globs: str, **fields: object) -> str:
        """Add a learning without committing it, and return its id."""
        scope = {"scope": {"paths": list(globs)}} if globs else {}
        return Registry.open(self.root).add("learning", {"summary": summary, **scope, **fields}).id

    def commit(self, message: str, *files: str) -> str:
        for file in files:
            path = self.root / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{path.read_text('utf-8') if path.exists() else ''}{message}\n", "utf-8")
        self.git(self.root, "add", "-A")
        self.git(self.root, "commit", "-q", "-m", message)
        return self.git(self.root, "rev-parse", "HEAD").strip()

    def replayed(self, *arguments: str) -> dict[str, Any]:
        self.capture.readouterr()
        assert run(["replay", "--repo", str(self.root), *arguments, "--format", "json"]) == 0
        envelope = json.loads(self.capture.readouterr().out)
        assert list(SCHEMA.iter_errors(envelope)) == []
        data: dict[str, Any] = envelope["data"]
        return data


@pytest.fixture
def project(git_repo: Path, git: Git, capsys: Capture) -> Project:
    Registry.init(git_repo)
    created = Project(git_repo, git, capsys)
    created.commit("Begin a registry")
    return created


def top(data: dict[str, Any]) -> dict[str, int]:
    return {entry["id"]: entry["commits"] for entry in data["records"]["top"]}


def test_a_record_counts_between_its_commits(project: Project) -> None:
    started = project.commit("Before there was anything", "src/a.py")
    record_id = project.learn("Retries need a key", "src/**")
    project.commit(f"Note {record_id}", "src/a.py")
    project.commit("Use it", "src/a.py")
    assert run(["-C", str(project.root), "learning", "retire", record_id]) == 0
    project.commit("Retire it", "src/b.py")
    project.commit("Go on without", "src/a.py")
    data = project.replayed("--since", started)

    assert data["records_by"] == "git history of the records"
    assert top(data) == {record_id: 2}
    assert (data["commits"]["with_files"], data["commits"]["silent"]) == (4, 2)
    assert data["citations"]["not_yet"] == 1
    assert data["shown"]["by_count"] == {"0": 2, "1": 2}


def test_the_scope_of_then_counts(project: Project) -> None:
    record_id = project.learn("Retries need a key", "lib/**")
    project.commit("Note it")
    project.commit("Touch what it does not name yet", "src/a.py")
    assert run(["-C", str(project.root), "learning", "update", record_id, "--add-path", "src/**"]) == 0
    project.commit("Widen it")
    project.commit("Touch it", "src/a.py")

    assert top(project.replayed()) == {record_id: 1}


def test_a_branch_counts_after_its_merge(project: Project) -> None:
    git, root = project.git, project.root
    git(root, "checkout", "-q", "-b", "side")
    record_id = project.learn("Retries need a key", "src/**")
    project.commit("Note it")
    project.commit("Use it on the side", "src/side.py")
    git(root, "checkout", "-q", "main")
    project.commit("Know nothing of it", "src/a.py")
    project.commit("Nor here", "src/b.py")
    git(root, "merge", "-q", "--no-ff", "-m", "Merge", "side")
    project.commit("Know it now", "src/c.py")
    data = project.replayed()

    assert top(data) == {record_id: 2}


@pytest.mark.parametrize(
    ("message", "by_id"), [("See {id}", 1), ("Go on [T-77]", 0), ("see L20260517-2", 1), ("as {id}/T-77 says", 1)]
)
def test_citations_are_found_by_id_and_task(project: Project, message: str, by_id: int) -> None:
    task = {"evidence": [{"kind": "task", "reference": "T-77"}], "legacy_ids": ["L20260517-2"]}
    record_id = project.learn("Retries need a key", "src/**", **task)
    project.learn("Say what failed", "src/**")
    project.learn("Nowhere to be seen")
    project.commit("Note them")
    project.commit(message.format(id=record_id), "src/a.py")
    cited = project.replayed()["citations"]

    assert (cited["commits"], cited["shown"], cited["shown_by_id"]) == (1, 1, by_id)
    assert (cited["precision"], cited["recall"], cited["precision_by_chance"]) == (0.5, 1.0, 0.5)


def test_limits_and_sessions_apply_as_in_the_hook(project: Project) -> None:
    record_id = [project.learn(f"Word{number} alone", "src/**") for number in range(7)]
    project.commit("Note them")
    project.commit("One file", "src/a.py")
    project.commit("Two files", "src/a.py", "src/b.py")
    data = project.replayed()

    assert data["shown"]["by_count"] == {"0": 3, "5": 1, "7": 1}
    assert data["left_out"] == {"call cap": 2}
    assert sum(top(data).values()) == 12
    assert [entry["shown"] for entry in data["sessions"]] == [12, 7, 7]
    assert set(top(data)) == set(record_id)


def test_each_unshown_record_has_a_reason(project: Project) -> None:
    for number in range(30):
        (project.root / f"file{number}.txt").write_text("x", "utf-8")
    reasons = {
        project.learn("Without a scope"): "no path",
        project.learn("Elsewhere", "lib/**"): "never touched",
        project.learn("For nearly everything", "*.txt"): "too broad",
    }
    project.commit("Note them")
    project.commit("Touch one", "file1.txt")
    data = project.replayed()

    assert {entry["id"]: entry["why"] for entry in data["records"]["never_shown"]} == reasons
    assert data["left_out"] == {"broad": 1}
    assert (data["silent_share"], data["calls"]["silent_share"]) == (1.0, 1.0)


def written(path: Path, lines: Iterable[object]) -> Path:
    """Write lines of a file of commits: texts as they are, others as JSON."""
    path.write_text("\n".join(entry if isinstance(entry, str) else json.dumps(entry) for entry in lines), "utf-8")
    return path


def test_bad_lines_of_a_commit_file_are_skipped(project: Project, tmp_path: Path) -> None:
    lines: list[object] = [
        {"commit": "a1", "date": "2026-01-01", "subject": "Good", "files": ["src/a.py"]},
        "{torn", "[]", '{"commit": 1}',
        {"commit": "b", "date": "yesterday", "subject": "x", "files": []},
        {"commit": "b", "date": "2026-01-01T00:00:00", "subject": "x", "files": []},
        {"commit": "b", "date": "2026-01-01", "subject": "x", "files": [1]},
        "[" * 100_000,
        {"commit": "c3", "date": "2026-01-02T10:00:00+02:00", "subject": "Good", "files": []},
    ]  # fmt: skip
    data = project.replayed("--commits", str(written(tmp_path / "commits.jsonl", lines)))

    assert (data["commits"]["with_files"], data["commits"]["without_files"]) == (1, 1)
    assert data["skipped"]["count"] == 7
    assert [entry["line"] for entry in data["skipped"]["lines"]] == list(range(2, 9))


def test_a_missing_file_or_commit_is_refused(project: Project, tmp_path: Path) -> None:
    file = written(tmp_path / "commits.jsonl", [{"commit": "a1", "date": "2026-01-01", "subject": "x", "files": []}])
    for arguments in (["--commits", "none.jsonl"], ["--commits", str(file), "--since", "zz"], ["--since", "zz"]):
        assert run(["replay", "--repo", str(project.root), *arguments]) != 0
        assert "hint:" in project.capture.readouterr().err


def test_a_bare_day_begins_before_its_records(project: Project, tmp_path: Path) -> None:
    old = project.learn("Retries need a key", "src/**")
    new = project.learn("Retries need two keys", "src/**")
    assert run(["-C", str(project.root), "learning", "supersede", old, "--with", new]) == 0
    for record_id, created in ((old, "2026-01-10T09:00:00Z"), (new, "2026-01-20T09:00:00Z")):
        file = project.root / f".orbit/learnings/{record_id}/learning.yaml"
        text = re.sub(r"(?m)^created_at: .*$", f'created_at: "{created}"', file.read_text("utf-8"))
        file.write_text(text, "utf-8")
    days = ["2026-01-10", "2026-01-11", "2026-01-20", "2026-01-20T09:00:01Z", "2026-01-21"]
    lines = [{"commit": day, "date": day, "subject": "x", "files": ["src/a.py"]} for day in days]
    data = project.replayed("--commits", str(written(tmp_path / "commits.jsonl", lines)))

    assert data["records_by"] == "dates in the records"
    assert top(data) == {old: 2, new: 2}
    assert data["shown"]["by_count"] == {"0": 1, "1": 4}
