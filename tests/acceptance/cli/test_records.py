"""Records at the command line: shown, updated and named by any id; streams that end early;
what an agent may not do.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.files import write

from orbit_registry.errors import RefusedError
from orbit_registry.model.kind import Kind, load_kinds
from orbit_registry.operations.edits import change_fields
from orbit_registry.operations.lifecycle import supersede
from orbit_registry.registry import Registry
from orbit_registry.workspace.author import Author
from orbit_registry.workspace.workspace import open_workspace


def test_a_reader_that_leaves_early_is_no_error(shell: Any) -> None:
    program = [sys.executable, "-m", "orbit_registry.doors.cli.main", "list"]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(program, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)

    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


def test_a_step_that_was_interrupted_is_said_to_be_finished(shell: Any) -> None:
    workspace = open_workspace(Path())
    workspace.journal.mkdir(parents=True, exist_ok=True)
    changes = [{"path": f"{name}.md", "before": None, "after": name} for name in "ab"]
    entry = json.dumps({"step": "adr-add", "changes": changes})
    (workspace.journal / "1.json").write_text(entry, "utf-8")

    _, _, err = shell("list")

    assert "an earlier command was interrupted: finished adr-add (a.md, b.md)" in err
    assert "interrupted" not in shell("list")[2]


def test_a_search_says_that_only_closed_records_match(shell: Any) -> None:
    shell("learning", "add", "--summary", "Quokkas sleep at noon", "--path", "src/**", "--yes")
    code, out, err = shell("search", "quokkas")
    assert (code, "Quokkas" in out, "--all" in err) == (0, True, False)

    record_id = next(word for word in out.split() if word.startswith("L-"))
    shell("retire", record_id, "--reason", "no more", "--yes")
    code, out, err = shell("search", "quokkas noon")

    assert (code, "nothing found" in out) == (0, True)
    assert "1 record that waits or holds no longer matches: add `--all`" in err
    assert "--all" not in shell("search", "zebra")[2]


@pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="only a device that is always full refuses output"
)
def test_output_that_a_full_disk_refuses_is_no_bug(shell: Any) -> None:
    program = [sys.executable, "-m", "orbit_registry.doors.cli.main"]
    for words in (["list"], ["learning", "add", "--summary", "Printed nowhere", "--yes"]):
        with Path("/dev/full").open("w", encoding="utf-8") as full:
            done = subprocess.run(
                [*program, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        assert (done.returncode, "can't be written" in done.stderr, "Traceback" in done.stderr) == (
            1,
            True,
            False,
        )
    assert "Printed nowhere" in shell("list")[1]


def test_the_facade_takes_paths_from_the_root(
    shell: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    from orbit_registry.errors import UsageError
    from orbit_registry.registry import Registry

    registry = Registry.open(shell.root)
    monkeypatch.chdir(tmp_path)
    assert [entry.as_data()["id"] for entry in registry.match(["src/app.py", "./src//x.py"])] == [
        "ADR-0001"
    ]
    assert [entry.as_data()["id"] for entry in registry.explain("src/app.py")] == ["ADR-0001"]
    for path in ("/src/app.py", "../src/app.py", "src/../../x"):
        with pytest.raises(UsageError):
            registry.match([path])

    monkeypatch.chdir(shell.root / "src")
    for command in (["match"], ["explain"]):
        assert "ADR-0001" in shell(*command, "app.py")[1]
        assert shell(*command, "../../app.py")[0] == 2
    assert shell("check", "../src/")[0] == 0
    assert shell("check", "../..")[0] == 2


@pytest.fixture
def file(shell: Any) -> Path:
    """Return the learning's file, with a comment and a field that only a person knows."""
    result = Path(shell.root) / f".orbit/learnings/{shell.learning}/learning.yaml"
    result.write_text(result.read_text("utf-8") + "x-own: 1 # mine\n", "utf-8")
    return result


def test_a_dry_run_is_a_diff_that_git_applies(shell: Any, file: Path) -> None:
    """It changes nothing, and says what would."""
    before = file.read_bytes()

    code, out, _ = shell(
        "learning", "update", shell.learning, "--summary", "Look twice", "--dry-run"
    )

    assert (code, file.read_bytes()) == (0, before)
    assert "-summary: Look before you leap\n+summary: Look twice\n" in out
    subprocess.run(["git", "apply"], input=out, cwd=shell.root, text=True, check=True)
    assert "summary: Look twice\n" in file.read_text("utf-8")


@pytest.mark.parametrize("kind", list(load_kinds()), ids=lambda kind: kind.name)
def test_every_command_that_is_named_for_a_status_is_one(shell: Any, kind: Kind) -> None:
    """Whatever a record is, the commands that would change it can be asked for help."""
    ways = " ".join(kind.transitions_help(status, "ID") for status in kind.statuses.values())
    names = sorted(set(re.findall(r"`orbit ([a-z]+ [a-z]+) ID(?: --with NEW)?`", ways)))
    assert ways.count("`") == 2 * len(re.findall(r"`orbit [a-z]+ [a-z]+ ID(?: --with NEW)?`", ways))
    assert names
    assert [command for command in names if shell(*command.split(), "--help")[0]] == []


def files(root: Path) -> dict[str, bytes]:
    """Return every file that git would see."""
    result = (
        path
        for path in root.rglob("*")
        if path.is_file() and not {".git", "state"} & set(path.parts)
    )
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in result}


def test_an_agent_may_make_a_workspace(git_repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORBIT_ACTOR", "agent")
    write(
        git_repo,
        "docs/adr/0008-choice.md",
        "# 8. Choice\n\n## Status\n\nAccepted\n\n## Decision\n\nThat.\n",
    )
    monkeypatch.chdir(git_repo)
    assert Registry.init(git_repo).created
    assert list((git_repo / ".orbit").glob("adrs/*")) == []


def test_no_door_of_the_store_leads_around_the_rule(shell: Any) -> None:
    agent = Author("bot", "agent")
    workspace = Registry.open(shell.root).workspace
    before = files(shell.root)
    with pytest.raises(RefusedError, match="is accepted"):
        supersede(workspace, "ADR-0001", "ADR-0002", author=agent)
    with pytest.raises(RefusedError, match="is active"):
        change_fields(
            workspace, shell.learning, lambda data: {**data, "summary": "Other"}, author=agent
        )
    assert files(shell.root) == before
