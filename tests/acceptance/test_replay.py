"""A history replayed through the command: only records of then, only the one chooser, and counts that add up."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from orbit_registry.cli.main import run
from orbit_registry.formats.globs import Glob, matches, parse_glob
from orbit_registry.importers.importer import import_from
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
        """Change files, commit them with all that waits, and return the commit."""
        for file in files:
            path = self.root / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{path.read_text('utf-8') if path.exists() else ''}{message}\n", "utf-8")
        self.git(self.root, "add", "-A")
        self.git(self.root, "commit", "-q", "-m", message)
        return self.git(self.root, "rev-parse", "HEAD").strip()

    def replayed(self, *arguments: str) -> dict[str, Any]:
        """Return the data of a replay, which its schema describes."""
        self.capture.readouterr()
        assert run(["replay", "--repo", str(self.root), *arguments, "--format", "json"]) == 0
        whole = json.loads(self.capture.readouterr().out)
        assert list(SCHEMA.iter_errors(whole)) == []
        data: dict[str, Any] = whole["data"]
        return data


@pytest.fixture
def project(git_repo: Path, git: Git, capsys: Capture) -> Project:
    """Return a workspace with one commit after its first."""
    Registry.init(git_repo)
    made = Project(git_repo, git, capsys)
    made.commit("Begin a registry")
    return made


def top(data: dict[str, Any]) -> dict[str, int]:
    """Return in how many commits each record was shown."""
    return {one["id"]: one["commits"] for one in data["records"]["top"]}


def test_a_record_counts_from_the_commit_after_the_one_that_adds_it_until_the_one_after_its_end(
    project: Project,
) -> None:
    """Neither the past, nor the commit that adds or retires a record, nor what comes after its end is shown wrongly."""
    begun = project.commit("Before there was anything", "src/a.py")
    known = project.learn("Retries need a key", "src/**")
    project.commit(f"Note {known}", "src/a.py")
    project.commit("Use it", "src/a.py")
    assert run(["-C", str(project.root), "learning", "retire", known]) == 0
    project.commit("Retire it", "src/b.py")
    project.commit("Go on without", "src/a.py")
    data = project.replayed("--since", begun)

    assert data["records_by"] == "git history of the records"
    assert top(data) == {known: 2}
    assert (data["commits"]["with_files"], data["commits"]["silent"]) == (4, 2)
    assert data["citations"]["not_yet"] == 1
    assert data["shown"]["by_count"] == {"0": 2, "1": 2}


def test_records_that_are_never_shown_do_not_stand_in_the_way(project: Project) -> None:
    """One that can be shown after many that can't is not yet there in a commit before any stood."""
    early = project.commit("Before there was anything", "src/a.py")
    for number in range(20):
        project.learn(f"Number {number} was turned down", status="rejected")
    known = project.learn("Retries need a key", "src/**")
    project.commit("Note them")
    project.commit("Use it", "src/a.py")

    assert top(project.replayed("--since", f"{early}~1")) == {known: 1}


def test_the_scope_and_the_text_of_then_count(project: Project) -> None:
    """A glob that a record got later leads nowhere before."""
    known = project.learn("Retries need a key", "lib/**")
    project.commit("Note it")
    project.commit("Touch what it does not name yet", "src/a.py")
    assert run(["-C", str(project.root), "learning", "update", known, "--add-path", "src/**"]) == 0
    project.commit("Widen it")
    project.commit("Touch it", "src/a.py")

    assert top(project.replayed()) == {known: 1}


def test_a_record_of_another_branch_is_not_there_before_its_merge(project: Project) -> None:
    """What stood before a commit is what its own parents held, however the log is ordered."""
    git, root = project.git, project.root
    git(root, "checkout", "-q", "-b", "side")
    known = project.learn("Retries need a key", "src/**")
    project.commit("Note it")
    project.commit("Use it on the side", "src/side.py")
    git(root, "checkout", "-q", "main")
    project.commit("Know nothing of it", "src/a.py")
    project.commit("Nor here", "src/b.py")
    git(root, "merge", "-q", "--no-ff", "-m", "Merge", "side")
    project.commit("Know it now", "src/c.py")
    data = project.replayed()

    assert top(data) == {known: 2}


@pytest.mark.parametrize(
    ("message", "by_id"), [("See {id}", 1), ("Go on [T-77]", 0), ("see L20260517-2", 1), ("as {id}/T-77 says", 1)]
)
def test_what_a_commit_speaks_of_is_found_by_id_earlier_id_and_task(project: Project, message: str, by_id: int) -> None:
    """Precision and recall count a record that the message names, by whatever name it goes, once."""
    task = {"evidence": [{"kind": "task", "reference": "T-77"}], "legacy_ids": ["L20260517-2"]}
    known = project.learn("Retries need a key", "src/**", **task)
    project.learn("Say what failed", "src/**")
    project.learn("Nowhere to be seen")
    project.commit("Note them")
    project.commit(message.format(id=known), "src/a.py")
    cited = project.replayed()["citations"]

    assert (cited["commits"], cited["shown"], cited["shown_by_id"]) == (1, 1, by_id)
    assert (cited["precision"], cited["recall"], cited["precision_by_chance"]) == (0.5, 1.0, 0.5)


def test_caps_and_the_session_hold_as_they_do_for_an_agent(project: Project) -> None:
    """Seven records for one file give five, the others at the next file, none twice; a longer session repeats none."""
    known = [project.learn(f"Word{number} alone", "src/**") for number in range(7)]
    project.commit("Note them")
    project.commit("One file", "src/a.py")
    project.commit("Two files", "src/a.py", "src/b.py")
    data = project.replayed()

    assert data["shown"]["by_count"] == {"0": 3, "5": 1, "7": 1}
    assert data["left_out"] == {"call cap": 2}
    assert sum(top(data).values()) == 12
    assert [one["shown"] for one in data["sessions"]] == [12, 7, 7]
    assert set(top(data)) == set(known)


def test_each_record_that_was_never_shown_has_a_reason(project: Project) -> None:
    """No path, never touched, or too broad: each is told apart."""
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

    assert {one["id"]: one["why"] for one in data["records"]["never_shown"]} == reasons
    assert data["left_out"] == {"broad": 1}
    assert (data["silent_share"], data["calls"]["silent_share"]) == (1.0, 1.0)


def written(path: Path, lines: Iterable[object]) -> Path:
    """Write lines of a file of commits: texts as they are, others as JSON."""
    path.write_text("\n".join(one if isinstance(one, str) else json.dumps(one) for one in lines), "utf-8")
    return path


def test_a_file_of_commits_is_read_past_its_bad_lines(project: Project, tmp_path: Path) -> None:
    """A line that is no commit is skipped, named and counted; the others are walked."""
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
    assert [one["line"] for one in data["skipped"]["lines"]] == list(range(2, 9))


def test_a_file_that_is_missing_or_a_commit_that_is_unknown_is_refused(project: Project, tmp_path: Path) -> None:
    """Each refusal says what was looked for."""
    file = written(tmp_path / "commits.jsonl", [{"commit": "a1", "date": "2026-01-01", "subject": "x", "files": []}])
    for arguments in (["--commits", "none.jsonl"], ["--commits", str(file), "--since", "zz"], ["--since", "zz"]):
        assert run(["replay", "--repo", str(project.root), *arguments]) != 0
        assert "hint:" in project.capture.readouterr().err


def test_by_dates_a_record_counts_from_the_day_after(project: Project, tmp_path: Path) -> None:
    """A commit of which only the day is known begins with it, so that nothing of that day is foreseen."""
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


def test_a_real_history_agrees_with_brute_force(corpora: Path, tmp_path: Path, git: Git, capsys: Capture) -> None:
    """Of 1,762 commits exactly those are silent for which no record of then has a glob; it takes seconds."""
    root = tmp_path / "project"
    shutil.copytree(corpora / "orbit-2026-07", root, copy_function=shutil.copyfile)
    for folder in (root, *(path for path in root.rglob("*") if path.is_dir())):
        folder.chmod(0o755)
    (root / "dot_orbit").rename(root / ".orbit")
    git(root, "init", "-q")
    git(root, "add", "-A", "-f")
    git(root, "commit", "-q", "-m", "As it was")
    import_from(root, start=root)
    file = corpora / "orbit-2026-07/commits.jsonl"
    data = Project(root, git, capsys).replayed("--commits", str(file))

    commits = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    records = [one for one in Registry.open(root).collection.records if one.phase != "pending" and one.globs]
    assert all(one.phase == "live" for one in records if one.kind.name == "learning")
    globs = {text: glob for one in records for text in one.globs if isinstance(glob := parse_glob(text), Glob)}
    speaking = 0
    for commit in commits:
        at = datetime.fromisoformat(commit["date"]).replace(tzinfo=UTC)
        there = [one for one in records if one.phase == "live" and _begin(one.data) < at]
        found = {text for one in there for text in one.globs if text in globs}
        speaking += any(matches(globs[text], path) for path in commit["files"] for text in found)
    assert len(commits) == data["commits"]["with_files"] + data["commits"]["without_files"] == 1762
    assert data["commits"]["with_files"] - data["commits"]["silent"] == speaking
    assert data["seconds"] < 60


def _begin(data: Any) -> datetime:
    return datetime.fromisoformat(str(data.get("x-accepted_at") or data["created_at"]).replace("Z", "+00:00"))


def test_where_nothing_is_shown_no_number_is_made_up(project: Project, tmp_path: Path) -> None:
    """A silent history and a file without commits are said in words."""
    project.commit("Work", "src/app.py")
    (tmp_path / "none.jsonl").write_text("", "utf-8")
    for arguments in ([], ["--commits", str(tmp_path / "none.jsonl")]):
        project.capture.readouterr()
        assert run(["replay", "--repo", str(project.root), *arguments]) in (0, 2)
        assert "None" not in project.capture.readouterr().out
