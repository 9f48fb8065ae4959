"""Votes at the command line: none is lost, none is counted twice, and the record shows what they come to."""

from typing import Any

import pytest


def test_a_list_by_votes_shows_them(shell: Any) -> None:
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
    assert shell.data("learning", "show", shell.learning)["votes"] == {
        "count": 0, "score": 0.0, "last": None, "tasks": {},
    }  # fmt: skip
    assert "votes         none" in shell("learning", "show", shell.learning)[1]
    for model, task in (("m", "T-1"), ("n", "T-1"), ("m", "T-2"), ("m", "T-2")):
        shell("learning", "vote", shell.learning, "--task", task, "--model", model)

    assert "3 (weighing 3.00 now), last " in shell("show", shell.learning)[1]
    assert "in T-1 2, T-2" in shell("show", shell.learning)[1]
    file = _file(shell)
    file.write_text(file.read_text("utf-8").replace('"voted_at": "20', '"voted_at": "19'), "utf-8")
    assert shell.data("show", shell.learning)["votes"]["score"] == 0.0
    monkeypatch.setenv("ORBIT_LEARNING_VOTE_HALF_LIFE_DAYS", "0")
    assert shell.data("show", shell.learning)["votes"]["score"] == 3.0


def test_sync_names_each_bad_line_and_rewrites_none(shell: Any) -> None:
    shell("learning", "vote", shell.learning, "--task", "T-1", "--model", "m")
    good = _file(shell).read_text("utf-8")
    torn, foreign = good[:30] + "\n", good.replace(shell.learning, "L-00000")
    _file(shell).write_text(torn + good + foreign + good.replace('"20', '"29'), "utf-8")
    before = _file(shell).read_bytes()

    code, answer = shell.json("learning", "sync")

    assert (code, answer["ok"], _file(shell).read_bytes()) == (0, True, before)
    assert (answer["data"]["votes"], answer["data"]["skipped"]) == (1, 3)
    path = f".orbit/learnings/{shell.learning}/votes.jsonl"
    result = [(entry["code"], entry["path"], entry["line"]) for entry in answer["diagnostics"]]
    assert result == [("ORB107", path, 1), ("ORB107", path, 3), ("ORB107", path, 4)]
    assert f"{path}:3" in shell("learning", "sync")[2]
    assert shell.data("query", "SELECT count(*) AS n FROM votes") == [{"n": 1}]


def test_sync_fails_where_a_learning_can_not_be_read(shell: Any) -> None:
    folder = shell.root / ".orbit/learnings/L-00000"
    folder.mkdir()
    (folder / "learning.yaml").write_text("id: [\n", "utf-8")

    code, answer = shell.json("learning", "sync")

    assert (code, answer["ok"]) == (1, False)
    assert [entry["path"] for entry in answer["diagnostics"]] == [".orbit/learnings/L-00000/learning.yaml"]
    assert answer["data"]["snapshot"]


def _file(shell: Any) -> Any:
    return shell.root / f".orbit/learnings/{shell.learning}/votes.jsonl"
