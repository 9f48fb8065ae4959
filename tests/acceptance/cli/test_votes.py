"""Votes at the command line: none is lost, none is counted twice, and the record shows what they come to."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

PROCESSES = 12


def test_votes_of_many_processes_at_once_are_all_kept(shell: Any) -> None:
    """Twelve real processes that vote for one learning, each for its own task, leave twelve whole lines."""
    base = [sys.executable, "-m", "orbit_registry.cli.main", "learning", "vote", shell.learning, "--model", "m"]
    voters = [
        subprocess.Popen([*base, "--task", f"T-{number}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for number in range(PROCESSES)
    ]
    ended = [(voter.communicate(), voter.returncode) for voter in voters]

    assert [code for _, code in ended] == [0] * PROCESSES, ended
    rows = [json.loads(line) for line in _file(shell).read_text("utf-8").splitlines()]
    assert sorted(row["task_id"] for row in rows) == sorted(f"T-{number}" for number in range(PROCESSES))
    assert shell.json("show", shell.learning)[1]["data"]["votes"]["count"] == PROCESSES


def test_a_vote_after_a_torn_line_loses_nothing(shell: Any) -> None:
    """A line that a crash cut short is reported with its place; votes before and after it count."""
    shell("learning", "vote", shell.learning, "--task", "T-1", "--model", "m")
    file = _file(shell)
    file.write_bytes(file.read_bytes() + b'{"learning_id": "' + shell.learning.encode() + b'", "voter_mo')

    assert shell("learning", "vote", shell.learning, "--task", "T-2", "--model", "m")[0] == 0

    assert shell.json("show", shell.learning)[1]["data"]["votes"]["tasks"] == {"T-1": 1, "T-2": 1}
    found = [one for one in shell.json("check")[1]["diagnostics"] if one["path"].endswith("votes.jsonl")]
    assert [(one["code"], one["line"]) for one in found] == [("ORB107", 2)]
    assert shell.json("check")[1]["data"]["checked"] == len(shell.json("list", "--all")[1]["data"])
    assert shell("list")[2] == ""


def test_a_list_by_votes_shows_them(shell: Any) -> None:
    """Whoever sorts by votes sees how many, and what they weigh where that is less; other lists stay as they are."""
    for task in ("T-1", "T-2"):
        shell("learning", "vote", shell.learning, "--task", task, "--model", "m")

    head, row, *_ = shell("learning", "list", "--sort", "votes")[1].splitlines()
    assert head.split() == ["ID", "STATUS", "CATEGORY", "VOTES", "SUMMARY"]
    assert row.split()[:3] == [shell.learning, "active", "2"]
    assert "VOTES" not in shell("learning", "list")[1]

    file = _file(shell)
    file.write_text(file.read_text("utf-8").replace('"voted_at": "20', '"voted_at": "19'), "utf-8")
    assert shell("learning", "list", "--sort", "votes")[1].splitlines()[1].split()[2:4] == ["2", "(0.00)"]


def test_show_says_what_the_votes_come_to(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Count, weight, last one, and how many each task has; none is said to be none; a half-life of 0 counts."""
    assert shell.json("learning", "show", shell.learning)[1]["data"]["votes"] == {
        "count": 0, "score": 0.0, "last": None, "tasks": {},
    }  # fmt: skip
    assert "votes         none" in shell("learning", "show", shell.learning)[1]
    for model, task in (("m", "T-1"), ("n", "T-1"), ("m", "T-2"), ("m", "T-2")):
        shell("learning", "vote", shell.learning, "--task", task, "--model", model)

    assert "3 (weighing 3.00 now), last " in shell("show", shell.learning)[1]
    assert "in T-1 2, T-2" in shell("show", shell.learning)[1]
    file = _file(shell)
    file.write_text(file.read_text("utf-8").replace('"voted_at": "20', '"voted_at": "19'), "utf-8")
    assert shell.json("show", shell.learning)[1]["data"]["votes"]["score"] == 0.0
    monkeypatch.setenv("ORBIT_LEARNING_VOTE_HALF_LIFE_DAYS", "0")
    assert shell.json("show", shell.learning)[1]["data"]["votes"]["score"] == 3.0


def test_a_half_life_that_is_none_is_one_clear_error(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A vote, the record and the snapshot say the same of it, and no vote is written."""
    monkeypatch.setenv("ORBIT_LEARNING_VOTE_HALF_LIFE_DAYS", "soon")

    for command in (["learning", "vote", shell.learning, "--task", "T-1"], ["show", shell.learning], ["sync"]):
        code, _, err = shell(*command)
        assert code == 2
        assert "ORBIT_LEARNING_VOTE_HALF_LIFE_DAYS is 'soon'" in err
    assert not _file(shell).exists()


def test_what_does_not_hold_gets_no_vote(shell: Any) -> None:
    """Closed, replaced and unknown learnings and decisions are refused, each with what to do instead."""
    new = shell.json("learning", "add", "--summary", "Measure twice, cut once")[1]["data"]["id"]
    shell("learning", "supersede", shell.learning, "--with", new)

    for any_id, words in (
        (shell.learning, f"vote for what replaced it: {new}"),
        ("L-nnnnn", "no record has the id"),
        ("ADR-0001", "is a decision"),
    ):
        code, _, err = shell("learning", "vote", any_id, "--task", "T-1")
        assert code in (1, 2)
        assert words in err
    shell("learning", "retire", new)
    assert "orbit learning list --phase live" in shell("learning", "vote", new, "--task", "T-1")[2]


def test_sync_names_each_bad_line_and_rewrites_none(shell: Any) -> None:
    """Torn, foreign and future lines, each with file and line; the others count, in the snapshot too."""
    shell("learning", "vote", shell.learning, "--task", "T-1", "--model", "m")
    good = _file(shell).read_text("utf-8")
    torn, foreign = good[:30] + "\n", good.replace(shell.learning, "L-00000")
    _file(shell).write_text(torn + good + foreign + good.replace('"20', '"29'), "utf-8")
    before = _file(shell).read_bytes()

    code, whole = shell.json("learning", "sync")

    assert (code, whole["ok"], _file(shell).read_bytes()) == (0, True, before)
    assert (whole["data"]["votes"], whole["data"]["skipped"]) == (1, 3)
    path = f".orbit/learnings/{shell.learning}/votes.jsonl"
    found = [(one["code"], one["path"], one["line"]) for one in whole["diagnostics"]]
    assert found == [("ORB107", path, 1), ("ORB107", path, 3), ("ORB107", path, 4)]
    assert f"{path}:3" in shell("learning", "sync")[2]
    assert shell.json("query", "SELECT count(*) AS n FROM votes")[1]["data"] == [{"n": 1}]


def test_sync_fails_where_a_learning_can_not_be_read(shell: Any) -> None:
    """It says which, and brings the snapshot up to date with the others."""
    folder = shell.root / ".orbit/learnings/L-00000"
    folder.mkdir()
    (folder / "learning.yaml").write_text("id: [\n", "utf-8")

    code, whole = shell.json("learning", "sync")

    assert (code, whole["ok"]) == (1, False)
    assert [one["path"] for one in whole["diagnostics"]] == [".orbit/learnings/L-00000/learning.yaml"]
    assert whole["data"]["snapshot"]


def _file(shell: Any) -> Any:
    return shell.root / f".orbit/learnings/{shell.learning}/votes.jsonl"
