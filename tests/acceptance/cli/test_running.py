"""Running scripts: which are run, what they see, how they end, and what is written down of it."""

import shutil
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.acceptance.cli.conftest import Shell
from tests.conftest import Git
from tests.files import commit, events

from orbit_registry.doors.answers.call import Caller
from orbit_registry.doors.mcp.dispatch import reply
from orbit_registry.doors.mcp.tools import available_tools
from orbit_registry.errors import RefusedError
from orbit_registry.exchange.resources.intake import raw_digest
from orbit_registry.exchange.resources.run import RunOptions, run
from orbit_registry.model.kind import SHIPPED
from orbit_registry.registry import Registry

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


def running_processes() -> list[str]:
    """Return the states of processes of the group that a script wrote into `pid`."""
    listed = subprocess.run(
        ["ps", "-A", "-o", "pgid=,stat="], capture_output=True, text=True, check=True
    ).stdout
    group = Path("pid").read_text("utf-8").strip()
    states = [state for pgid, state in map(str.split, listed.splitlines()) if pgid == group]
    return [state for state in states if not state.startswith("Z")]


def is_ended() -> bool:
    """Say whether no process of the group is left;
    a killed one ends when a busy machine next gives it a turn.
    """
    deadline = time.monotonic() + 20
    while is_running := bool(running_processes()):
        if time.monotonic() > deadline:
            break
    return not is_running


def test_a_script_that_takes_too_long_is_ended(shell: Shell, git: Git) -> None:
    Path("slow.sh").write_text(
        "echo $$ > pid\n(trap '' TERM; sleep 60) &\nsleep 60 & sleep 60\n", "utf-8"
    )
    commit(shell.root, "Slow")
    slow = taken(shell, git, "slow.sh")

    code, answer = shell.json("run", slow, "--timeout", "0.3")

    assert code == 124
    assert answer["data"]["timed_out"] is True
    assert events(shell.root, "run")[0]["exit_code"] == 124
    assert not Path("pid").exists() or is_ended()  # a slow machine may end it before it writes


def test_what_a_script_leaves_running_ends_with_it(shell: Shell, git: Git) -> None:
    Path("left.sh").write_text("echo $$ > pid\n(trap '' TERM; exec sleep 60) &\nexit 4\n", "utf-8")
    commit(shell.root, "Leave one")

    assert shell.json("run", taken(shell, git, "left.sh"))[0] == 4

    assert is_ended()


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
def test_the_first_line_or_the_name_says_what_runs_it(
    shell: Shell, git: Git, name: str, text: str, code: int
) -> None:
    Path(name).write_text(text, "utf-8")
    commit(shell.root, "One")

    result = shell.json("run", taken(shell, git, name))

    assert result[0] == code


def test_a_record_that_differs_from_its_file_is_refused(
    shell: Shell, script: str, git: Git
) -> None:
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
    assert (
        run(registry.workspace, record, registry.author(), RunOptions(captured=True)).exit_code == 3
    )


def test_a_private_copy_of_the_checked_script_is_run(shell: Shell, git: Git) -> None:
    Path("tools").mkdir()
    text = (
        "import os, sys\n"
        "folder = os.path.dirname(__file__)\n"
        "print(__file__, os.environ['ORBIT_RESOURCE_PATH'], os.getcwd(), sep='\\n')\n"
        "print(oct(os.stat(folder).st_mode & 0o777), oct(os.stat(__file__).st_mode & 0o777), "
        "os.listdir(folder))\n"
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
    event = events(shell.root, "run")[0]
    assert (event["role"], event["surface"]) == ("agent", "mcp:run")
    for name, value in (("trust", True), ("passed", ["HOME"])):
        assert reply("run", {**arguments, name: value}, caller, Registry.open).is_error

    monkeypatch.setenv("ORBIT_PROGRAMS", "off")
    assert not offered()
