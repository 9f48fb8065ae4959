"""`orbit prove`: each measure on a repository whose right answers are known."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from orbit_measure import prove as proving
from orbit_measure.names import NameResolver
from orbit_measure.prove import WAYS, Proof, prove
from orbit_measure.without_orbit import FullText, GitLog
from orbit_registry.doors.cli.main import run
from orbit_registry.errors import UsageError
from orbit_registry.model.reach import WIDE_PLACES
from orbit_registry.registry import Registry
from orbit_registry.workspace.git_log import Commit, FileStep

Git = Callable[..., str]
SCHEMA = Draft202012Validator(
    json.loads((Path(__file__).parents[3] / "docs/schemas/prove.schema.json").read_text("utf-8"))
)


@pytest.fixture
def project(git_repo: Path, git: Git, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with a learning that replaces another, one with a task, and commits."""
    Registry.init(git_repo)
    registry = Registry.open(git_repo)
    for name in ("src/invoice.py", "src/upload.py", "lib/clock.py", "lib/queue.py"):
        (git_repo / name).parent.mkdir(exist_ok=True)
        (git_repo / name).write_text("", "utf-8")
    bills = {"scope": {"paths": ["src/invoice.py"]}}
    before = registry.add("learning", {"summary": "Keep invoices in files", **bills}).id
    after = registry.add("learning", {"summary": "Keep bills inside a database", **bills}).id
    registry.supersede(before, after)
    task = [{"kind": "task", "reference": "T-77"}]
    registry.add(
        "learning",
        {
            "summary": "Uploads need an idempotency key",
            "evidence": task,
            "scope": {"paths": ["src/upload.py", "lib/clock.py"]},
        },
    )
    git(git_repo, "add", "-A")
    git(git_repo, "commit", "-q", "-m", "Begin")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2099-01-01T00:00:00Z")
    for message in (
        f"Bills move into the database, see {after}",
        "[T-77] Repeat an upload with its idempotency key",
    ):
        git(git_repo, "commit", "-q", "--allow-empty", "-m", message)
    (git_repo / "lib/clock.py").write_text("tick", "utf-8")
    git(git_repo, "commit", "-q", "-a", "-m", "T-77: tick")
    monkeypatch.chdir(git_repo)
    return git_repo


def proof_of(root: Path, commits: int = 300) -> Proof:
    registry = Registry.open(root)
    return prove(registry.workspace, registry.records, registry.searcher, commits)


def counts(proof: Proof, name: str) -> tuple[tuple[int, int], ...]:
    """Return what one measure counted: Orbit, git log, FTS5."""
    shares = [proof.share(name, way) for way in WAYS]
    return tuple((share.count, share.of) for share in shares)


def test_each_measure_counts_what_it_says(project: Path) -> None:
    proof = proof_of(project)
    assert (proof.records, proof.live, proof.commits) == (3, 2, 5)
    assert counts(proof, "delivery") == ((3, 3), (1, 3), (1, 3))
    assert counts(proof, "related")[0] == (2, 3)
    assert counts(proof, "prompt")[0] == (2, 3)
    assert counts(proof, "silence")[0] == (30, 30)
    assert counts(proof, "superseded") == ((0, 1), (1, 1), (1, 1))
    assert counts(proof, "successor")[2] == (1, 1)
    assert counts(proof, "retired") == ((0, 3), (0, 1), (1, 2))
    assert len(proof.tokens["orbit"]) == 3
    assert min(proof.tokens["orbit"]) > 20


def test_records_of_wide_globs_count_like_others(project: Path, git: Git) -> None:
    for number in range(40):
        (project / f"more{number}.txt").touch()
    git(project, "add", "-A")
    registry = Registry.open(project)
    for number in range(WIDE_PLACES + 1):
        summary = chr(ord("a") + number) * 9
        registry.add("learning", {"summary": summary, "scope": {"paths": ["*.txt"]}})
    proof = proof_of(project)
    assert counts(proof, "delivery")[0] == (403, 443)
    assert proof.missed == {"broad": 40}
    assert "  40 × only wide globs lead to it" in proof.text()


def test_a_prompt_of_several_sentences_is_a_case_of_its_own(project: Path, git: Git) -> None:
    record = next(record for record in Registry.open(project).records if "Uploads" in record.title)
    body = "An idempotency key makes uploads safe.\n\nSigned-off-by: T <t@example.org>"
    message = f"Repeat an upload with its key ({record.id})\n\n{body}"
    git(project, "commit", "-q", "--allow-empty", "-m", message)
    proof = proof_of(project)
    assert counts(proof, "prompt")[0][1] == 4
    assert counts(proof, "paragraph")[0] == (1, 1)


def test_the_files_of_a_commit_are_a_case_of_their_own(project: Path, git: Git) -> None:
    """Of the commits that name a record only one changes a file, and the record is about it."""
    assert counts(proof_of(project), "files") == ((1, 1), (0, 1), (0, 1))
    (project / "lib/queue.py").write_text("put", "utf-8")
    git(project, "commit", "-q", "-a", "-m", "T-77: put")
    assert counts(proof_of(project), "files")[0] == (1, 2)


def without_case(root: Path) -> dict[str, str]:
    proof = proof_of(root)
    assert all(f"no case: {reason}" in proof.text() for reason in proof.without_case.values())
    return proof.without_case


def test_a_measure_without_a_case_says_why(project: Path, git: Git) -> None:
    assert without_case(project) == {"paragraph": "none of these commits has a body"}


def test_why_there_is_no_case_in_a_new_project(
    git_repo: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(git_repo)
    Registry.init(git_repo)
    registry = Registry.open(git_repo)
    learning = registry.add("learning", {"summary": "Look before you leap"})
    git(git_repo, "add", "-A")
    git(git_repo, "commit", "-q", "-m", "Begin")
    reasons = without_case(git_repo)
    assert reasons["delivery"].startswith("no live record has a path in its scope")
    assert reasons["retired"] == "no edit shows a record"
    for name in ("related", "prompt", "paragraph", "files"):
        assert reasons[name] == "no commit names a live record that is older than it"
    assert reasons["superseded"] == "no superseded record has a live successor"

    assert run(["learning", "update", learning.id, "--path", "nowhere/**"]) == 0
    assert "no tracked file is in the scope" in without_case(git_repo)["delivery"]
    assert run(["learning", "retire", learning.id]) == 0
    assert without_case(git_repo)["delivery"] == "no record is live"


def test_fewer_commits_are_asked_about(project: Path) -> None:
    assert counts(proof_of(project, 1), "related")[0] == (0, 1)


def test_a_commit_from_before_a_record_is_no_question(
    project: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It named the task first."""
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2001-01-01T00:00:00Z")
    git(
        project,
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "[T-77] Repeat an upload with its idempotency key",
    )
    assert counts(proof_of(project), "related")[0] == (2, 3)


def test_a_commit_that_writes_the_record_is_no_question(project: Path, git: Git) -> None:
    """Its subject would be about the record itself."""
    record = next(record for record in Registry.open(project).records if "Uploads" in record.title)
    (project / record.folder / "body.md").write_text("More.\n", "utf-8")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", f"Idempotency key of uploads: {record.id}")
    assert counts(proof_of(project), "related")[0] == (2, 3)


def test_a_sample_is_drawn_and_said(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proving, "MOST_FILES", 2)
    first, second = proof_of(project), proof_of(project)
    assert first.samples["files"] == (2, 3)
    assert first.notes == ["2 of 3 files were asked about, drawn at random"]
    assert first.text() == second.text()


def test_json_fits_its_schema(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["prove", "--format", "json"]) == 0
    output = capsys.readouterr()
    assert list(SCHEMA.iter_errors(json.loads(output.out))) == []
    assert output.err == ""
    assert run(["prove"]) == 0
    assert "delivery" in capsys.readouterr().out


def test_without_a_commit_it_says_so(tmp_path: Path, git: Git) -> None:
    git(tmp_path, "init", "-q")
    Registry.init(tmp_path)
    (tmp_path / "a.py").write_text("", "utf-8")
    (tmp_path / "b.py").write_text("", "utf-8")
    Registry.open(tmp_path).add(
        "learning", {"summary": "Look before you leap", "scope": {"paths": ["a.py"]}}
    )
    git(tmp_path, "add", "-A")
    proof = proof_of(tmp_path)
    assert proof.notes == [
        "there is no commit: no record can be named by one, and git log prints nothing"
    ]
    assert counts(proof, "delivery") == ((1, 1), (0, 1), (0, 1))
    assert "no case" in proof.text()
    assert (
        list(
            SCHEMA.iter_errors({"ok": True, "data": proof.as_data(), "diagnostics": [], "next": []})
        )
        == []
    )


def test_without_records_or_git_it_is_refused(git_repo: Path) -> None:
    Registry.init(git_repo)
    with pytest.raises(UsageError, match="no record"):
        proof_of(git_repo)
    Registry.open(git_repo).add("learning", {"summary": "Look before you leap"})
    shutil.rmtree(git_repo / ".git")
    with pytest.raises(UsageError, match="not a git repository"):
        proof_of(git_repo)


def test_git_log_prints_older_commits(project: Path) -> None:
    commits = [
        Commit(
            str(number), "", (), -number, f"Word{number % 2} T-77", [FileStep("", "a.py", "", "")]
        )
        for number in range(50)
    ]
    log = GitLog(
        commits,
        NameResolver(
            Registry.open(project).records, Registry.open(project).workspace.kinds.id_forms
        ),
    )
    assert log.of_files(["a.py", "b.py"]) == list(range(20))
    assert log.of_files(["a.py"], 40) == list(range(41, 50))
    assert log.with_words("about word1", 3) == list(range(5, 45, 2))
    assert log.with_words("is it") == []
    assert len(log.uids([0])) == 1


def test_full_text_takes_any_question(project: Path) -> None:
    text = FullText(Registry.open(project).records)
    assert text.search('NOT "; OR * ( near:', 5) == []
    assert text.search("???", 5) == []
    assert len(text.search("invoices uploads", 5)) == 2
    assert len(text.of_file("src/UploadQueue.py", 5)) == 1
