"""`show` and `sync` say all there is to say of one record, and of one sync."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize("command", [["show"], ["learning", "show"]])
def test_a_record_that_holds_is_fresh(shell: Any, command: list[str]) -> None:
    """The JSON says so; the text has no line for it."""
    code, whole = shell.json(*command, shell.learning)

    assert (code, whole["data"]["freshness_state"], whole["data"]["freshness_reasons"]) == (0, "fresh", [])
    assert whole["next"] == []
    assert "fresh" not in shell(*command, shell.learning)[1]


@pytest.mark.parametrize("command", [["show"], ["learning", "show"]])
def test_a_record_that_may_no_longer_hold_says_why(shell: Any, command: list[str]) -> None:
    """Each reason stands in text and JSON, and what can be done about it comes next."""
    added = shell.json(
        "learning", "add", "--summary", "Mind the app", "--path", "lib/**", "--fingerprint", "src/app.py"
    )
    record_id = added[1]["data"]["id"]
    (shell.root / "src/app.py").write_text("x = 2\n", "utf-8")

    data = shell.json(*command, record_id)[1]
    assert data["data"]["freshness_state"] == "stale"
    assert [one["cause"] for one in data["data"]["freshness_reasons"]] == ["fingerprint", "anchor"]
    assert f"orbit learning retire {record_id}" in data["next"]
    shown = shell(*command, record_id)[1].splitlines()
    at = shown.index("  stale         `src/app.py` has changed")
    assert shown[at + 1] == "                its scope matches no tracked file any more"


def test_a_closed_record_is_not_judged(shell: Any) -> None:
    """Whether it still holds is no question any more."""
    shell("learning", "retire", shell.learning)

    assert shell.json("show", shell.learning)[1]["data"]["freshness_state"] is None


def test_votes_are_summed_up(shell: Any) -> None:
    """Count, weight now, last and how many each task has; nothing but a count of 0 without a vote."""
    none = {"count": 0, "score": 0.0, "last": None, "tasks": {}}
    assert shell.json("show", shell.learning)[1]["data"]["votes"] == none
    for task, model in (("T-1", "a"), ("T-1", "b"), ("T-2", "a")):
        shell("learning", "vote", shell.learning, "--task", task, "--model", model)

    votes = shell.json("show", shell.learning)[1]["data"]["votes"]
    assert (votes["count"], votes["tasks"]) == (3, {"T-1": 2, "T-2": 1})
    assert votes["score"] == pytest.approx(3, abs=0.01)
    assert votes["last"].startswith("20")
    assert f"3 (weighing 3.00 now), last {votes['last']}, in T-1 2, T-2" in shell("show", shell.learning)[1]


def test_a_sync_says_what_became_of_both_files(shell: Any) -> None:
    """One line for the snapshot, one for the push index; the JSON has the numbers."""
    snapshot, index = shell("sync")[1].splitlines()
    assert snapshot.startswith("Built snapshot-000001.duckdb: 3 records")
    assert index.endswith(".idx: 3 records")
    assert shell("sync")[1].splitlines()[1] == "Push index as it was: 3 records"

    shell("learning", "vote", shell.learning, "--task", "T-1")
    data = shell.json("learning", "sync")[1]["data"]["snapshot"]["push_index"]
    assert (data["built"], data["records"], data["compiled"]) == (False, 3, 0), "the vote did it"
    assert shell("learning", "sync")[1].splitlines()[-1] == "Push index as it was: 3 records"


def test_the_facade_takes_paths_from_the_root(shell: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """Wherever the process stands; what is no path from the root is refused. The commands go by where one stands."""
    from orbit_registry.errors import UsageError
    from orbit_registry.registry import Registry

    registry = Registry.open(shell.root)
    monkeypatch.chdir(tmp_path)
    assert [one.as_data()["id"] for one in registry.match(["src/app.py", "./src//x.py"])] == ["ADR-0001"]
    assert [one.as_data()["id"] for one in registry.explain("src/app.py")] == ["ADR-0001"]
    for path in ("/src/app.py", "../src/app.py", "src/../../x"):
        with pytest.raises(UsageError):
            registry.match([path])

    monkeypatch.chdir(shell.root / "src")
    for command in (["match"], ["explain"]):
        assert "ADR-0001" in shell(*command, "app.py")[1]
        assert shell(*command, "../../app.py")[0] == 2
    assert shell("check", "../src/")[0] == 0
    assert shell("check", "../..")[0] == 2


def test_what_fills_lines_of_its_own_is_shown_below_the_text(shell: Any) -> None:
    """A retro says of which run it is and what came of each target; a failure says of what, and until when."""
    outcome = "story:shop:S-1=failed,attempts=3,tool=codex,reason=no browser"
    flags = ["--outcome", outcome, "--summary", "One failed", "--recommend", "Ask for a browser"]
    done = shell.json("retro", "--loop", "L-1", *flags)[1]["data"]
    retro = shell("show", done["retro"]["id"])[1]
    assert "\n  trigger       loop:L-1\n" in retro
    assert "\n  summary       One failed\n" in retro
    assert "Outcomes\n\n- story:shop:S-1, result failed, attempts 3, tools codex, reason no browser\n" in retro
    assert retro.endswith("Recommendations\n\n- Ask for a browser\n")
    failure = shell("show", done["opened"][0]["id"])[1]
    assert "\n  target        story:shop:S-1\n" in failure
    assert "\n  holds until   20" in failure
