"""Records at the command line: found by any name, narrowed, fed from files and pipes, and decided by people."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def test_a_legacy_id_finds_its_record(shell: Any) -> None:
    """By list and by show; what several records once were called is answered with all of them."""
    assert [row["id"] for row in shell.json("adr", "list", "--legacy-id=project-learnings/ADR-006")[1]["data"]] == [
        "ADR-0001"
    ]
    assert shell.json("show", "project-learnings/ADR-006")[1]["data"]["id"] == "ADR-0001"
    assert shell.json("adr", "show", "site/ADR-006")[1]["data"]["id"] == "ADR-0002"
    assert shell.json("adr", "list", "--legacy-id=nobody/ADR-006")[1]["data"] == []

    code, _, err = shell("show", "ADR-006")

    assert code == 1
    for words in ("ADR-0001  Use SQLite", "ADR-0002  Use Postgres instead", "name one by its own id"):
        assert words in err


def test_list_shows_what_holds_by_kind(shell: Any) -> None:
    """Closed records come with `--all`; an unknown kind is answered with the known ones."""
    shell("adr", "deprecate", "ADR-0001")

    assert [row["id"] for row in shell.json("list", "adr")[1]["data"]] == ["ADR-0002"]
    assert [row["id"] for row in shell.json("list", "adr", "--all")[1]["data"]] == ["ADR-0001", "ADR-0002"]
    assert [row["id"] for row in shell.json("list", "learning")[1]["data"]] == [shell.learning]
    code, _, err = shell("list", "decisions")
    assert code == 2
    assert "known kinds: adr, " in err


def test_lists_are_narrowed_by_what_is_asked(shell: Any) -> None:
    """Status, tag, label, feature, task and number of rows."""
    shell(
        "adr",
        "add",
        "--title",
        "Third",
        "--feature",
        "f",
        "--task",
        "T-7",
        "--tag",
        "db",
        "--label",
        "big",
        "--pending",
    )

    def ids(*arguments: str) -> list[str]:
        return [row["id"] for row in shell.json("adr", "list", *arguments)[1]["data"]]

    for narrowed in (
        ["--feature", "f"],
        ["--task", "T-7"],
        ["--tag", "db"],
        ["--label", "big"],
        ["--status", "proposed"],
    ):
        assert ids(*narrowed) == ["ADR-0003"]
    assert ids("--limit", "1") == ["ADR-0001"]
    assert ids("--tag", "db", "--limit", "1") == ["ADR-0003"]
    assert ids("--tag", "nothing") == []
    assert "no records" in shell("adr", "list", "--tag", "nothing")[1]


def test_a_learning_is_shown_with_its_votes(shell: Any) -> None:
    """Count and weight, in text and JSON."""
    shell("learning", "vote", shell.learning, "--task", "T-1", "--model", "m")

    assert "1 (weighing 1.00 now)" in shell("show", shell.learning)[1]
    assert shell.json("show", shell.learning)[1]["data"]["votes"]["count"] == 1


def test_a_body_comes_from_a_file_or_the_standard_input(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """`-` reads what is piped in; both end up as the record's long text."""
    (shell.root / "body.md").write_text("From a file.\n", "utf-8")
    record = shell.json("learning", "add", "--summary", "Leap", "--body-file", "body.md")[1]["data"]
    assert record["body"] == "From a file.\n"
    assert "Why." in shell("show", "ADR-0002")[1]

    done = subprocess.run(
        [sys.executable, "-m", "orbit_registry.cli.main", "learning", "update", record["id"], "--body-file", "-"],
        input=b"Piped \xe2\x9c\x93\n", capture_output=True, check=True,
    )  # fmt: skip

    assert done.returncode == 0
    assert shell.json("show", record["id"])[1]["data"]["body"] == "Piped ✓\n"


def test_a_piped_body_that_is_no_text_is_refused(shell: Any) -> None:
    """Bytes that are not UTF-8 are said to be, and nothing is written."""
    done = subprocess.run(
        [sys.executable, "-m", "orbit_registry.cli.main", "learning", "add", "--summary", "X", "--body-file", "-"],
        input=b"\xff\xfe", capture_output=True, check=False,
    )  # fmt: skip

    assert done.returncode in (1, 2)
    assert b"UTF-8" in done.stderr
    assert len(shell.json("list", "learning")[1]["data"]) == 1


def test_an_agent_proposes_and_a_person_decides(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an agent adds waits; it may neither accept nor promote, and may not ask for a status."""
    monkeypatch.delenv("ORBIT_ACTOR")
    monkeypatch.setenv("CLAUDECODE", "1")
    decision = shell.json("adr", "add", "--title", "Third", "--body-file", shell.body)[1]["data"]
    learning = shell.json("learning", "add", "--summary", "Measure twice")[1]["data"]

    assert (decision["status"], learning["status"]) == ("proposed", "candidate")
    assert learning["path"].startswith(".orbit/state/inbox/")
    for refused in (
        ["adr", "accept", decision["id"]],
        ["learning", "promote", learning["id"]],
        ["adr", "add", "--title", "X", "--status", "accepted"],
    ):
        code, _, err = shell(*refused)
        assert code in (1, 2)
        assert "agent" in err

    monkeypatch.setenv("ORBIT_ACTOR", "human")
    assert shell("adr", "accept", decision["id"])[0] == 0
    assert shell("learning", "promote", learning["id"])[0] == 0
    assert shell.json("show", learning["id"])[1]["data"]["path"] == f".orbit/learnings/{learning['id']}/learning.yaml"


def test_several_are_moved_at_once_and_each_refusal_is_said(shell: Any) -> None:
    """The good ones are done; the others are named."""
    code, out, err = shell("adr", "deprecate", "ADR-0001", "ADR-0042", "ADR-0002", "ADR-0043")

    assert code == 1
    assert "ADR-0001 is deprecated" in out
    assert "ADR-0002 is deprecated" in out
    assert "ADR-0042" in err
    assert "ADR-0043" in err


def test_lists_are_narrowed_by_phase_and_put_in_order(shell: Any) -> None:
    """By votes, recent ones weighing more; by the last change; by id, which is the order without being asked."""
    second = shell.json("learning", "add", "--summary", "Measure twice, cut once")[1]["data"]["id"]
    closed = shell.json("learning", "add", "--summary", "Trust every clock")[1]["data"]["id"]
    shell("learning", "retire", closed)
    file = shell.root / f".orbit/learnings/{second}/learning.yaml"
    text = re.sub("updated_at: .*", "updated_at: '2020-01-01T00:00:00Z'", file.read_text("utf-8"))
    file.write_text(text, "utf-8")
    shell("learning", "vote", second, "--task", "T-1")

    def ids(*arguments: str) -> list[str]:
        return [row["id"] for row in shell.json("learning", "list", *arguments)[1]["data"]]

    assert ids("--phase", "closed") == [closed]
    assert ids("--phase", "live", "--phase", "closed") == ids("--all")
    assert set(ids("--all")) == {shell.learning, second, closed}
    assert set(ids()) == {shell.learning, second}
    assert ids("--status", "retired") == [closed]
    assert ids("--sort", "votes", "--phase", "live") == [second, shell.learning]
    assert ids("--sort", "updated", "--phase", "live") == [shell.learning, second]
    assert ids("--sort", "votes", "--limit", "1") == [second]


def test_an_unknown_id_is_answered_with_the_nearest(shell: Any) -> None:
    """A slip of one character is put right in the hint; what is like nothing leads to some that there are."""
    wrong = shell.learning[:-1] + ("x" if shell.learning[-1] != "x" else "y")

    for command in (["show", wrong], ["learning", "update", wrong, "--priority", "1"], ["learning", "retire", wrong]):
        code, _, err = shell(*command)
        assert code == 1
        assert f"did you mean {shell.learning} (Look before you leap)?" in err
    assert f"{shell.learning} (Look before you leap)" in shell("show", "nonsense")[2]


def test_a_fix_can_follow_the_document(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record that has the say follows its document where a person says --from; without --fix it is a wrong call."""
    path = shell.json("adr", "add", "--title", "Leap", "--body-file", shell.body)[1]["data"]["source"]["path"]
    file = shell.root / path
    file.write_text(
        file.read_text("utf-8").replace("— Leap", "— Look, then leap").replace("Accepted", "Deprecated"), "utf-8"
    )

    code, _, err = shell("check", "--from", "document")
    assert (code, "orbit check --fix --from document" in err) == (2, True)
    with monkeypatch.context() as agent:
        agent.setenv("ORBIT_ACTOR", "agent")
        assert "a person runs `orbit check --fix`" in shell("check", "--fix", "--from", "document")[1]
    assert shell("check", "--fix", "--from", "document")[0] == 0

    [found] = [one for one in shell.json("adr", "list", "--all")[1]["data"] if one["title"] == "Look, then leap"]
    assert found["status"] == "deprecated"
    assert "Look, then leap" in file.read_text("utf-8")


def test_a_reader_that_leaves_early_is_no_error(shell: Any) -> None:
    """`orbit list | head -0` says nothing."""
    program = [sys.executable, "-m", "orbit_registry.cli.main", "list"]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(program, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)

    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["learning", "list", "--sort", "vots"], "orbit learning list"),
        (["learning", "vote", "L-7k3fq"], "orbit learning vote"),
        (["lerning"], "orbit"),
    ],
)
def test_a_wrong_call_names_the_help_that_corrects_it(shell: Any, arguments: list[str], command: str) -> None:
    """Programs get the hint that people read as "Try …"."""
    code, whole = shell.json(*arguments)

    assert (code, whole["hint"]) == (2, f"`{command} --help` says what can be given")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only a device that is always full refuses output")
def test_output_that_a_full_disk_refuses_is_no_bug(shell: Any) -> None:
    """The line says that the output could not be written, and that what was done stands."""
    program = [sys.executable, "-m", "orbit_registry.cli.main"]
    for words in (["list"], ["learning", "add", "--summary", "Printed nowhere", "--yes"]):
        with Path("/dev/full").open("w", encoding="utf-8") as full:
            done = subprocess.run([*program, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert (done.returncode, "can't be written" in done.stderr, "Traceback" in done.stderr) == (1, True, False)
    assert "Printed nowhere" in shell("list")[1]
