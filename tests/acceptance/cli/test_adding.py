"""Adding what is known already: a vote strengthens the record that there is, another copy weakens both."""

import os
import pty
import re
import select
import subprocess
import sys
from typing import Any

import pytest

ORBIT = [sys.executable, "-m", "orbit_registry.cli.main"]


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)


def on_terminal(folder: Any, arguments: list[str], answers: list[tuple[str, str]]) -> tuple[int, str]:
    """Run `orbit` on a terminal, answer each question when it is asked, and return code and what was shown."""
    leader, follower = pty.openpty()
    child = subprocess.Popen([*ORBIT, *arguments], cwd=folder, stdin=follower, stdout=follower, stderr=follower)
    os.close(follower)
    output, waiting = "", list(answers)
    while select.select([leader], [], [], 60)[0]:
        try:
            text = os.read(leader, 4096)
        except OSError:  # Linux says so when the child is gone
            break
        if not text:
            break
        output += text.decode()
        if waiting and waiting[0][0] in output:
            os.write(leader, f"{waiting.pop(0)[1]}\n".encode())
    os.close(leader)
    return child.wait(60), output


def known(shell: Any) -> list[str]:
    return [row["id"] for row in shell.data("learning", "list")]


@pytest.mark.parametrize("more", [[], ["--yes"], ["--dry-run"], ["--pending"]])
def test_the_same_words_again_are_refused(shell: Any, more: list[str]) -> None:
    arguments = ["learning", "add", "--summary", "look before you LEAP!", *more]

    code, out, err = shell(*arguments)
    assert (code, out) == (1, "")
    assert f"this is known already: {shell.learning} (the same, word for word): Look before you leap" in err
    assert f"`orbit learning vote {shell.learning} --task TASK` strengthens it" in err
    assert f"--distinct-from {shell.learning}" in err

    code, answer = shell.json(*arguments, "--task", "T-9")
    assert (code, answer["ok"], answer["data"]) == (1, False, None)
    assert answer["next"] == [f"orbit learning vote {shell.learning} --task T-9", f"orbit show {shell.learning}"]
    assert known(shell) == [shell.learning]
    assert shell(*answer["next"][0].split()[1:])[0] == 0


def test_a_neighbour_is_named_and_no_hindrance(shell: Any) -> None:
    code, out, err = shell("learning", "add", "--summary", "Don't look before you leap")

    assert code == 0
    assert f"near: {shell.learning} (100% alike; but only one of them says `not`): Look before you leap" in err
    assert "near" not in out
    answer = shell.json("learning", "add", "--summary", "Look before you jump or leap")[1]
    assert {entry["id"] for entry in answer["data"]["neighbours"]} >= {shell.learning}
    assert f"orbit show {shell.learning}" in answer["next"]


def test_a_dry_run_says_what_writing_would(shell: Any) -> None:
    arguments = ["learning", "add", "--summary", "Don't look before you leap", "--path", "nowhere/**"]
    tried, stored = shell(*arguments, "--dry-run")[2], shell(*arguments)[2]

    assert f"near: {shell.learning} (100% alike" in tried
    assert "note: `nowhere/**` matches no file" in tried
    assert tried == stored


@pytest.mark.parametrize(
    ("arguments", "answers"),
    [([], [("or stop (s)", "1"), ("In which task", "T-4")]), (["--task", "T-4"], [("or stop (s)", "1")])],
)
def test_a_person_may_vote_instead(shell: Any, arguments: list[str], answers: list[tuple[str, str]]) -> None:
    code, output = on_terminal(
        shell.root, ["learning", "add", "--summary", "Look before you leap", *arguments], answers
    )

    assert code == 0, output
    assert f"1  {shell.learning} (the same, word for word): Look before you leap" in output
    assert shell.data("show", shell.learning)["votes"]["tasks"] == {"T-4": 1}
    assert known(shell) == [shell.learning]


def test_a_person_may_stop_or_add_it_all_the_same(shell: Any) -> None:
    arguments = ["learning", "add", "--summary", "Look before you leap"]

    assert on_terminal(shell.root, arguments, [("or stop (s)", "")])[0] == 1
    assert known(shell) == [shell.learning]
    assert on_terminal(shell.root, arguments, [("or stop (s)", "a")])[0] == 0
    (new,) = set(known(shell)) - {shell.learning}
    assert shell.data("show", new)["distinct_from"] == [shell.learning]


def test_nobody_is_asked_in_ci(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")

    code, output = on_terminal(shell.root, ["learning", "add", "--summary", "Look before you leap"], [])

    assert code == 1
    assert "this is known already" in output


@pytest.mark.parametrize(
    ("summary", "message"),
    [
        ("", "the summary is empty"),
        ("  ", "`summary` is blank"),
        ("a\nb", "write it as one line"),
        ("x" * 300, "by 20"),
    ],
)
def test_an_invalid_summary_is_refused_by_its_option(shell: Any, summary: str, message: str) -> None:
    code, _, err = shell("learning", "add", "--summary", summary)
    assert code in (1, 2)
    assert message in err


def test_the_command_that_settles_a_false_alarm_does_so(shell: Any) -> None:
    first = shell.data("learning", "add", "--summary", "Retry uploads with a new token after an error")["id"]
    second = shell.data("learning", "add", "--summary", "Retry uploads with a new token after a pause")["id"]

    (result,) = [entry for entry in shell.json("check")[1]["diagnostics"] if entry["code"] == "ORB602"]
    command = result["hint"].split("`")[-2]
    assert {first, second} <= set(command.split())
    assert shell(*command.split()[1:])[0] == 0
    assert "ORB602" not in shell("check")[1]


def test_an_editor_completes_what_options_began(shell: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "editor.py"

    def becomes(old: str, new: str) -> None:
        code = (
            f"import sys, pathlib; f = pathlib.Path(sys.argv[1]); f.write_text(f.read_text().replace({old!r}, {new!r}))"
        )
        script.write_text(code, "utf-8")

    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f"{sys.executable} {script}")

    becomes("nothing", "nothing")
    code, _, err = shell("learning", "add", "--editor", "--tag", "wood")
    assert code == 1
    assert ".orbit/state/edits/new-learning-" in err
    assert "remove that file to start again" in err
    assert "`summary` is empty" in err
    assert known(shell) == [shell.learning]

    becomes('summary: ""', "summary: Measure twice")
    _, out, _ = shell("learning", "add", "--editor", "--summary", "Cut once", "--dry-run")
    assert "summary: Cut once" in out
    code, answer = shell.json("learning", "add", "--editor")
    assert code == 0, answer
    assert (answer["data"]["summary"], answer["data"]["scope"]) == ("Measure twice", {"tags": ["wood"]})
    assert list((shell.root / ".orbit/state/edits").iterdir()) == []
    assert shell("learning", "add")[0] == 2


@pytest.mark.parametrize("more", [[], ["--dry-run"]])
def test_decisions_that_are_near_are_named_and_no_hindrance(shell: Any, tmp_path: Any, more: list[str]) -> None:
    body = tmp_path / "body.md"
    body.write_text("## Context\n\nWhy.\n\n## Decision\n\nWhat.\n\n## Consequences\n\n- Cost: time.\n", "utf-8")
    arguments = ["adr", "add", "--title", "Use Postgres, instead of it", "--body-file", str(body), *more]

    code, out, err = shell(*arguments)
    assert code == 0
    assert re.search(r"near: ADR-0002 \(.*\): Use Postgres instead", err)
    assert "near" not in out
    arguments[3] += ", and soon"
    code, answer = shell.json(*arguments)
    assert code == 0
    assert "ADR-0002" in [entry["id"] for entry in answer["data"]["neighbours"]]
    assert "orbit show ADR-0002" in answer["next"]
    assert shell.data("adr", "add", "--title", "Render pages ahead of time", *more)["neighbours"] == []


def test_a_decision_of_the_same_title_is_refused(shell: Any) -> None:
    stored = ("--body-file", shell.body)
    existing = shell.data("adr", "add", "--title", "Keep one queue", *stored)["id"]
    before = sorted((shell.root / ".orbit/adrs").iterdir())
    code, answer = shell.json("adr", "add", "--title", "Keep one  queue!", "--yes")
    assert (code, answer["ok"], answer["next"]) == (1, False, [f"orbit show {existing}"])
    text = shell("adr", "add", "--title", "keep one queue")[2]
    assert f"{existing} (accepted) has the same title" in text
    assert f"--distinct-from {existing}" in text
    assert sorted((shell.root / ".orbit/adrs").iterdir()) == before

    code, answer = shell.json("adr", "add", "--title", "Keep one queue!", "--distinct-from", existing, *stored)
    assert (code, answer["data"]["distinct_from"]) == (0, [existing])
    for entry in (existing, answer["data"]["id"]):
        assert shell("adr", "deprecate", entry)[0] == 0
    assert shell("adr", "add", "--title", "Keep one queue, again")[0] == 0
    assert shell("adr", "add", "--title", "Keep one queue?")[0] == 0


def test_a_body_is_read_from_a_pipe_that_is_named(shell: Any) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"Seen twice.\n")
    os.close(writing)

    code, answer = shell.json("learning", "add", "--summary", "Mind the step", "--body-file", f"/dev/fd/{reading}")
    os.close(reading)

    assert (code, answer["data"]["body"]) == (0, "Seen twice.\n")
