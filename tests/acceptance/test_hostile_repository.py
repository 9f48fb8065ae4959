"""A stranger's repository is data: reading it runs nothing of it,
and nothing outside it is written or shown.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.files import commit, write, write_learning

from orbit_registry.doors.cli.main import run
from orbit_registry.errors import OrbitError
from orbit_registry.hook.index import open_index
from orbit_registry.operations.adr import NewAdr
from orbit_registry.operations.citation_rewrite import mentioning_files
from orbit_registry.registry import Registry
from orbit_registry.workspace.files import inside
from orbit_registry.workspace.git_log import newest_commits

Git = Callable[..., str]
BODY = "## Context\n\nWhy.\n\n## Decision\n\nWhat.\n\n## Consequences\n\n- Cost: time.\n"


@pytest.fixture
def repo(git_repo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    Registry.init(git_repo)
    Registry.open(git_repo).add_adr(NewAdr("First", body=BODY))
    monkeypatch.chdir(git_repo)
    return git_repo


def test_a_journal_that_came_with_a_clone_is_not_believed(repo: Path) -> None:
    config = (repo / ".git/config").read_text("utf-8")
    planted = repo / ".orbit/state/journal/adr-add-1.json"
    planted.parent.mkdir(parents=True)
    rows = [
        {
            "path": ".git/config",
            "before": config,
            "after": config + "[core]\n\tfsmonitor = touch owned\n",
        },
        {
            "path": "README.md",
            "before": (repo / "README.md").read_text("utf-8"),
            "after": "owned\n",
        },
    ]
    planted.write_text(json.dumps({"step": "adr-add", "changes": rows}), "utf-8")

    for arguments in (["adr", "list"], ["check"], ["adr", "add", "--title", "Second", "--yes"]):
        assert run(arguments) == 0

    assert (repo / ".git/config").read_text("utf-8") == config
    assert (repo / "README.md").read_text("utf-8") != "owned\n"


@pytest.mark.parametrize("path", [".git/config", ".GIT/hooks/pre-commit", "sub/.git/config"])
def test_no_name_leads_into_gits_own_folder(repo: Path, path: str) -> None:
    with pytest.raises(OrbitError, match="git's own"):
        inside(repo, path)


@pytest.mark.parametrize(
    "key",
    [
        "core.fsmonitor",
        "filter.evil.clean",
        "filter.evil.process",
        "core.sshCommand",
        "remote.far.uploadpack",
    ],
)
def test_no_program_of_the_repositorys_configuration_is_run(repo: Path, git: Git, key: str) -> None:
    record = ".orbit/adrs/ADR-0001/adr.yaml"
    (repo / ".gitattributes").write_text("* filter=evil\n", "utf-8")
    git(repo, "add", "-A")
    git(repo, "commit", "-m", "First")
    blob = git(repo, "rev-parse", f"HEAD:{record}").strip()
    (repo / ".git/objects" / blob[:2] / blob[2:]).unlink()
    (repo / record).write_bytes((repo / record).read_bytes() + b"\n")
    address = str(repo) if key.startswith("remote") else "ssh://there.example/x"
    settings = {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "far",
        "remote.far.promisor": "true",
        "remote.far.url": address,
        key: f"touch {repo}/owned; false",
    }
    for name, value in settings.items():
        git(repo, "config", name, value)

    for arguments in (["check"], ["check", "--against", "HEAD"], ["replay"], ["stale"]):
        run(arguments)
    mentioning_files(Registry.open(repo).workspace, ["ADR-0001"], "HEAD")

    assert not (repo / "owned").exists()


@pytest.mark.parametrize("link", [".orbit/state", ".orbit/state/write.holder", ".orbit/schemas"])
def test_nothing_is_written_through_a_planted_link(repo: Path, tmp_path: Path, link: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("mine", "utf-8")
    target = repo / link
    if target.is_dir():
        for file in sorted(target.rglob("*"), reverse=True):
            file.rmdir() if file.is_dir() else file.unlink()
        target.rmdir()
    else:
        target.unlink(missing_ok=True)
    target.parent.mkdir(exist_ok=True)
    target.symlink_to(outside / "kept" if link.endswith("holder") else outside)

    run(["learning", "add", "--summary", "Something", "--yes"])
    run(["init", "--yes"])

    assert [file.name for file in outside.iterdir()] == ["kept"]
    assert (outside / "kept").read_text("utf-8") == "mine"


@pytest.mark.parametrize("name", [".gitignore", ".gitattributes"])
def test_init_does_not_copy_the_target_of_a_planted_link(
    repo: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = tmp_path / "id_rsa"
    secret.write_text("a key", "utf-8")
    (repo / name).unlink()
    (repo / name).symlink_to(secret)
    shutil.rmtree(repo / ".orbit")

    assert run(["init", "--yes"]) == 1

    assert f"passes through a symbolic link at {name}" in capsys.readouterr().err
    assert (repo / name).is_symlink()
    assert secret.read_text("utf-8") == "a key"
    assert not (repo / ".orbit").exists()


def test_a_record_does_not_steer_the_readers_terminal(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_learning(repo, 1, summary="clear \x1b[2J\x1b]52;c;eA==\x07 all")

    for arguments in (["list"], ["show", "L-00001"], ["learning", "list"]):
        assert run(arguments) == 0

    printed = capsys.readouterr()
    assert "\x1b" not in printed.out + printed.err
    assert "\\x1b[2J" in printed.out


def test_a_heading_does_not_push_the_sequence_out_of_reach(repo: Path) -> None:
    (repo / "docs/adr/notes.md").write_text("# ADR-999999999: x\n\n## Decision\n\nNo.\n", "utf-8")
    (repo / ".git/orbit/adr.json").write_text('{"highest": 1e400, "root": "x", "at": 1}', "utf-8")

    assert Registry.open(repo).add_adr(NewAdr("Second")).record.id == "ADR-0002"


def a_learning(repo: Path, **fields: object) -> str:
    return Registry.open(repo).add("learning", {"summary": "Something", **fields}).id


def test_no_commit_message_breaks_the_reading_of_the_history(repo: Path, git: Git) -> None:
    record = a_learning(repo)
    for number, message in enumerate(
        (f"{record} one", f"{record} \x1e\x1f\x1b[2J two", "\n", f"{record} three")
    ):
        (repo / f"{number}.py").write_text("x", "utf-8")
        git(repo, "add", "-A")
        git(repo, "commit", "-q", "--allow-empty-message", "-m", message)

    files = [commit.files for commit in newest_commits(Registry.open(repo).workspace.git)]

    assert files[:3] == [("3.py",), ("2.py",), ("1.py",)]
    assert run(["scope", "suggest", record]) == 0


def test_a_file_name_adds_nothing_to_the_printed_diff(
    repo: Path, git: Git, capsys: pytest.CaptureFixture[str]
) -> None:
    record = a_learning(repo)
    evil = "src/x\n--- a\n+++ b\n@@ -1 +1 @@\n-mine\n+owned\n.py"
    write(repo, "a", "mine\n")
    for name in ("src/1.py", "src/2.py", evil):
        write(repo, name, f"# see {record}")

    for number in range(20):
        (repo / f"other{number}.py").touch()
    commit(repo, "all")
    capsys.readouterr()

    assert run(["scope", "suggest", record]) == 0

    output = capsys.readouterr().out
    assert "src/**" in output
    assert [line for line in output.splitlines() if line.startswith("--- ")] == [
        f"--- a/.orbit/learnings/{record}/learning.yaml"
    ]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("a.json", "[1e9999999999999999999999]"),
        ("a.toml", "x = 0x" + "f" * 6000),
        ("a.toml", ".".join("a" * 3000) + "=1"),
    ],
)
def test_an_input_that_blows_up_stops_nothing(repo: Path, file: str, text: str) -> None:
    entry = {"input": file, "hash": "sha256:" + "0" * 64}
    a_learning(repo, freshness={"fingerprint": [entry]})
    (repo / file).write_text(text, "utf-8")

    assert run(["stale"]) == 0
    assert run(["check"]) in (0, 1)


def test_a_move_to_a_non_utf8_name_stops_nothing(repo: Path, git: Git) -> None:
    for name in ("evil.py", "good.py"):
        (repo / name).write_text(f"the text of {name}\n" * 9, "utf-8")
    records = [a_learning(repo, scope={"paths": [name]}) for name in ("evil.py", "good.py")]
    commit(repo, "all")
    git(repo, "mv", "good.py", "better.py")
    git(repo, "mv", "evil.py", os.fsdecode(b"evil\xff.py"))
    git(repo, "commit", "-q", "-m", "move")

    assert run(["learning", "prune", "--fix-renames", "--confirm"]) == 0

    registry = Registry.open(repo)
    assert [registry.get(record).scope.paths for record in records] == [
        ("evil.py",),
        ("better.py",),
    ]


def test_pages_that_came_with_a_clone_are_not_published(repo: Path) -> None:
    assert run(["site", "build"]) == 0
    page = next((repo / ".orbit/state/cache/site/generated").rglob("index.html"))
    page.write_text(
        page.read_text("utf-8").replace("</body>", "<script>owned()</script></body>"), "utf-8"
    )
    for stamp in (repo / ".orbit/state/cache/site").glob("*.json"):
        stamp.unlink()

    assert run(["site", "build"]) == 0

    assert [
        file for file in (repo / "site").rglob("*.html") if "owned()" in file.read_text("utf-8")
    ] == []


def test_a_pipe_in_place_of_the_index_blocks_no_reader(repo: Path) -> None:
    a_learning(repo, scope={"paths": ["src/**"]})
    assert run(["sync"]) == 0
    (repo / ".git/orbit/hook-18.idx").unlink()
    os.mkfifo(repo / ".git/orbit/hook-18.idx")

    code = (
        "import sys; from orbit_registry.hook.index import open_index; "
        "sys.exit(bool(open_index(sys.argv[1])))"
    )
    subprocess.run([sys.executable, "-c", code, str(repo)], timeout=30, check=True)
    assert run(["match", "src/app.py"]) == 0
    assert open_index(str(repo))


def test_a_pipe_in_place_of_the_lock_blocks_no_writer(repo: Path) -> None:
    holder = repo / ".orbit/state/write.holder"
    holder.unlink(missing_ok=True)
    os.mkfifo(holder)

    command = [
        sys.executable,
        "-m",
        "orbit_registry.doors.cli.main",
        "learning",
        "add",
        "--summary",
        "Look twice",
        "--yes",
    ]
    subprocess.run(command, timeout=30, check=True, stdin=subprocess.DEVNULL, capture_output=True)


@pytest.mark.parametrize(
    ("name", "code"), [(".orbit/state/log/events.jsonl", 0), (".orbit/kinds/note/kind.yaml", 2)]
)
def test_a_pipe_in_place_of_a_file_blocks_no_reader(repo: Path, name: str, code: int) -> None:
    pipe = repo / name
    pipe.parent.mkdir(parents=True, exist_ok=True)
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)

    done = subprocess.run(
        [sys.executable, "-m", "orbit_registry.doors.cli.main", "sync"],
        timeout=30,
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == code
    assert code == 0 or f"{name}: not a regular file" in done.stderr
