"""Running scripts: which are run, what they see, how they end, and what is written down of it."""

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from tests.acceptance.cli.conftest import Shell
from tests.conftest import Git
from tests.files import commit, events

from orbit_registry.errors import RefusedError
from orbit_registry.mcp.dispatch import available_tools, reply
from orbit_registry.mcp.tools import Caller
from orbit_registry.model.kind import SHIPPED
from orbit_registry.registry import Registry
from orbit_registry.resources.intake import raw_digest
from orbit_registry.resources.run import RunOptions, run

SCRIPT = """#!/bin/sh
echo "args:$*"
env | sort | sed 's/=.*//' | tr '\\n' ' '
echo oops >&2
exit 3
"""


@pytest.fixture
def script(shell: Shell, git: Git) -> str:
    Path("tools").mkdir()
    Path("tools/job.sh").write_text(SCRIPT, "utf-8")
    commit(shell.root, "Add a script")
    return taken(shell, git, "tools/job.sh")


def taken(shell: Shell, git: Git, path: str) -> str:
    record_id = str(shell.data("import", "script", path)["id"])
    commit(shell.root)
    return record_id


def record_file(shell: Shell, script: str) -> Path:
    (file,) = (shell.root / ".orbit/resources").glob(f"*{script}*/resource.yaml")
    return file


def test_a_reviewed_script_is_run(shell: Shell, script: str) -> None:
    code, out, _ = shell("run", "--format", "json", script, "--", "a b", "--trust", "$(id)")
    answer = json.loads(out)

    assert code == 3
    assert answer["ok"] is False
    assert answer["data"]["exit_code"] == 3
    assert answer["data"]["stdout"].startswith("args:a b --trust $(id)\n")
    assert answer["data"]["stderr"] == "oops\n"
    (event,) = events(shell.root, "run")
    assert (event["id"], event["exit_code"], event["role"], event["trusted"]) == (script, 3, "human", 0)


def test_a_script_sees_little_of_the_environment(shell: Shell, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "x")
    monkeypatch.setenv("WANTED", "y")

    names = shell.data("run", script, "--env", "WANTED", "--env", "MISSING")["stdout"].split("\n")[1].split()

    assert "MY_TOKEN" not in names
    assert {"PATH", "HOME", "ORBIT_RESOURCE", "WANTED"} <= set(names)
    assert {name for name in names if name.startswith(("GIT_", "ORBIT_"))} == {
        "ORBIT_RESOURCE",
        "ORBIT_RESOURCE_PATH",
    }


def test_what_is_not_the_reviewed_script_is_refused(shell: Shell, script: str, git: Git) -> None:
    file = Path("tools/job.sh")
    file.write_text(SCRIPT + "# more\n", "utf-8")
    code, out, message = shell("run", script)
    assert (code, out) == (1, "")
    assert "has changed since it was shown" in message
    assert "not committed" in message
    assert shell.json("run", script, "--trust")[0] == 3
    assert [(event.get("refused"), event.get("trusted")) for event in events(shell.root, "run")] == [
        (1, None),
        (None, 1),
    ]

    git(shell.root, "commit", "-qam", "Change it")
    assert "has changed since it was shown" in shell("run", script)[2]
    assert shell("refresh", script)[0] == 0
    assert "the record has changes that are not committed" in shell("run", script)[2]
    commit(shell.root)
    assert shell.json("run", script)[0] == 3

    Path("tools/new.sh").write_text(SCRIPT, "utf-8")
    new = shell.data("import", "script", "tools/new.sh")["id"]
    assert "is in no commit" in shell("run", new)[2]
    assert shell("resource", "retire", script)[0] == 0
    assert "it is retired" in shell("run", script)[2]


def test_no_trust_leads_out_of_the_project(shell: Shell, script: str, tmp_path: Path) -> None:
    (tmp_path / "evil.sh").write_text("#!/bin/sh\ntouch ran\n", "utf-8")
    Path("tools/job.sh").unlink()
    Path("tools/job.sh").symlink_to(tmp_path / "evil.sh")

    code, _, message = shell("run", "--trust", script)

    assert code == 1
    assert "symbolic link" in message
    assert not Path("ran").exists()
    assert shell("run", "--trust", "ADR-0001")[0] == 2
    doc = shell.data("import", "doc", "docs/adr/0001-use-sqlite.md")["id"]
    assert shell("run", "--trust", doc)[0] == 2
    assert events(shell.root, "run") == []


def test_an_agent_runs_what_was_reviewed_and_no_more(
    shell: Shell, script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORBIT_ACTOR", "agent")

    assert shell.json("run", script)[0] == 3
    code, _, message = shell("run", "--trust", script)
    assert (code, "an agent can't trust" in message) == (1, True)
    Path("tools/job.sh").write_text("#!/bin/sh\nexit 0\n", "utf-8")
    assert shell("run", script)[0] == 1

    digest = raw_digest(Path("tools/job.sh").read_bytes())
    assert [(event["role"], event.get("refused")) for event in events(shell.root, "run")] == [
        ("agent", None),
        *[("agent", 1)] * 2,
    ]
    assert events(shell.root, "run")[-1]["content_hash"] == digest


def running_processes() -> list[str]:
    """Return the states of processes of the group that a script wrote into `pid`."""
    listed = subprocess.run(["ps", "-A", "-o", "pgid=,stat="], capture_output=True, text=True, check=True).stdout
    group = Path("pid").read_text("utf-8").strip()
    states = [state for pgid, state in map(str.split, listed.splitlines()) if pgid == group]
    return [state for state in states if not state.startswith("Z")]


def test_a_script_that_takes_too_long_is_ended(shell: Shell, git: Git) -> None:
    Path("slow.sh").write_text("echo $$ > pid\n(trap '' TERM; sleep 60) &\nsleep 60 & sleep 60\n", "utf-8")
    commit(shell.root, "Slow")
    slow = taken(shell, git, "slow.sh")

    code, answer = shell.json("run", slow, "--timeout", "0.3")

    assert code == 124
    assert answer["data"]["timed_out"] is True
    assert events(shell.root, "run")[0]["exit_code"] == 124
    assert not Path("pid").exists() or running_processes() == []  # a slow machine may end it before it writes


def test_what_a_script_leaves_running_ends_with_it(shell: Shell, git: Git) -> None:
    Path("left.sh").write_text("echo $$ > pid\n(trap '' TERM; exec sleep 60) &\nexit 4\n", "utf-8")
    commit(shell.root, "Leave one")

    assert shell.json("run", taken(shell, git, "left.sh"))[0] == 4

    assert running_processes() == []


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("plain.py", "raise SystemExit(5)\n", 5),
        ("bang.txt", "#!/usr/bin/env sh\nexit 4\n", 4),
        ("signal.sh", "kill -TERM $$\n", 143),
        ("none.txt", "hello\n", 1),
        ("lost.sh", "#!/no/such/interpreter\n", 1),
        ("quote.sh", "#!/bin/sh 'x\n", 1),
    ],
)
def test_the_first_line_or_the_name_says_what_runs_it(shell: Shell, git: Git, name: str, text: str, code: int) -> None:
    Path(name).write_text(text, "utf-8")
    commit(shell.root, "One")

    result = shell.json("run", taken(shell, git, name))

    assert result[0] == code


def test_a_script_with_an_uncommitted_record_is_not_run(shell: Shell, git: Git) -> None:
    Path("job.sh").write_text("touch ran\n", "utf-8")
    commit(shell.root)
    new = shell.data("import", "script", "job.sh")["id"]
    assert "the record has changes that are not committed" in shell("run", new)[2]

    assert shell("resource", "retire", new)[0] == 0
    commit(shell.root)
    file = record_file(shell, new)
    file.write_text(file.read_text("utf-8").replace("status: retired", "status: active"), "utf-8")
    message = shell("run", new)[2]
    assert "the record has changes that are not committed" in message
    assert "it is retired" not in message
    assert not Path("ran").exists()


def test_a_record_that_differs_from_its_file_is_refused(shell: Shell, script: str, git: Git) -> None:
    other = Path("other.sh")
    other.write_text("touch ran\n", "utf-8")
    commit(shell.root)
    registry = Registry.open()
    record = registry.get(script)
    data = {**record.data, "path": "other.sh", "content_hash": raw_digest(other.read_bytes())}

    with pytest.raises(RefusedError, match="the record has changes that are not committed"):
        run(registry.workspace, replace(record, data=data), registry.author(), RunOptions())

    assert not Path("ran").exists()


def test_an_uncommitted_kind_is_refused(shell: Shell, script: str, git: Git) -> None:
    registry = Registry.open()
    record = registry.get(script)
    folder = shutil.copytree(SHIPPED / "resource", shell.root / ".orbit/kinds/own")
    record = replace(record, kind=replace(record.kind, folder=folder))
    with pytest.raises(RefusedError, match="the record has changes that are not committed"):
        run(registry.workspace, record, registry.author(), RunOptions())

    commit(shell.root)
    assert run(registry.workspace, record, registry.author(), RunOptions(captured=True)).exit_code == 3


def test_trust_in_the_default_branch_refuses_other_scripts(shell: Shell, script: str, git: Git) -> None:
    config = Path(".orbit/config.yaml")
    config.write_text(config.read_text("utf-8") + "push: {trust: default-branch}\n", "utf-8")
    git(shell.root, "branch", "-M", "strange")
    commit(shell.root)
    message = shell("run", script)[2]
    assert "tools/job.sh is in no commit of the default branch" in message
    assert "the record has changes that are not committed" in message

    git(shell.root, "branch", "main")
    assert shell.json("run", script)[0] == 3

    Path("tools/job.sh").write_text(SCRIPT + "# more\n", "utf-8")
    commit(shell.root)
    assert shell("refresh", script)[0] == 0
    commit(shell.root)
    message = shell("run", script)[2]
    assert "tools/job.sh is not as in the last commit of the default branch" in message
    assert "the record has changes that are not committed" in message
    config.write_text(config.read_text("utf-8").replace("push: {trust: default-branch}\n", ""), "utf-8")
    commit(shell.root)
    assert "of the default branch" in shell("run", script)[2]

    git(shell.root, "branch", "-f", "main")
    assert shell.json("run", script)[0] == 3


def test_a_private_copy_of_the_checked_script_is_run(shell: Shell, git: Git) -> None:
    Path("tools").mkdir()
    text = (
        "import os, sys\n"
        "folder = os.path.dirname(__file__)\n"
        "print(__file__, os.environ['ORBIT_RESOURCE_PATH'], os.getcwd(), sep='\\n')\n"
        "print(oct(os.stat(folder).st_mode & 0o777), oct(os.stat(__file__).st_mode & 0o777), os.listdir(folder))\n"
        "import planted\n"
    )
    Path("tools/job.py").write_text(text, "utf-8")
    commit(shell.root)
    job = taken(shell, git, "tools/job.py")
    Path("tools/planted.py").write_text("print('planted')\n", "utf-8")

    code, answer = shell.json("run", job)
    started, path, here, modes = answer["data"]["stdout"].splitlines()

    assert code == 1
    assert "No module named 'planted'" in answer["data"]["stderr"]
    assert Path(started).name == "job.py"
    assert Path(path) == shell.root / "tools/job.py"
    assert Path(here) == shell.root
    assert modes == "0o700 0o700 ['job.py']"
    assert not Path(started).parent.exists()


def test_agents_are_offered_it_only_where_both_allow_it(
    shell: Shell, script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = {"id": script, "arguments": ["one"]}
    caller = Caller("agent", "")
    config = Path(".orbit/config.yaml")

    def offered() -> bool:
        return "run" in available_tools(workspace=Registry.open().workspace)

    monkeypatch.setenv("ORBIT_PROGRAMS", "on")
    assert not offered()
    config.write_text(config.read_text("utf-8") + "mcp: {run: true}\n", "utf-8")
    assert offered()
    answer = reply("run", arguments, caller, Registry.open)
    assert "exit code 3" in answer.text
    assert "args:one" in answer.text
    assert events(shell.root, "run")[0]["role"] == "agent"
    monkeypatch.setenv("ORBIT_PROGRAMS", "off")
    assert not offered()
