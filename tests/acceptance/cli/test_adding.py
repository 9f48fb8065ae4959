"""Adding what is known already: a vote strengthens the record that there is,
another copy weakens both.
"""

import os
import pty
import select
import subprocess
import sys
from typing import Any

import pytest

ORBIT = [sys.executable, "-m", "orbit_registry.doors.cli.main"]


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)


def on_terminal(
    folder: Any, arguments: list[str], answers: list[tuple[str, str]]
) -> tuple[int, str]:
    """Run `orbit` on a terminal, answer each question when it is asked,
    and return code and what was shown.
    """
    leader, follower = pty.openpty()
    child = subprocess.Popen(
        [*ORBIT, *arguments], cwd=folder, stdin=follower, stdout=follower, stderr=follower
    )
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


@pytest.mark.parametrize(
    ("arguments", "answers"),
    [
        ([], [("or stop (s)", "1"), ("In which task", "T-4")]),
        (["--task", "T-4"], [("or stop (s)", "1")]),
    ],
)
def test_a_person_may_vote_instead(
    shell: Any, arguments: list[str], answers: list[tuple[str, str]]
) -> None:
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

    code, output = on_terminal(
        shell.root, ["learning", "add", "--summary", "Look before you leap"], []
    )

    assert code == 1
    assert "this is known already" in output


def test_an_editor_completes_what_options_began(
    shell: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "editor.py"

    def becomes(old: str, new: str) -> None:
        code = (
            f"import sys, pathlib; f = pathlib.Path(sys.argv[1]); "
            f"f.write_text(f.read_text().replace({old!r}, {new!r}))"
        )
        script.write_text(code, "utf-8")

    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f"{sys.executable} {script}")

    becomes("nothing", "nothing")
    code, _, err = shell("learning", "add", "--editor", "--tag", "wood")
    assert code == 1
    assert ".orbit/state/edits/new-learning.yaml" in err
    assert "remove that file to start again" in err
    assert "`summary` is empty" in err
    assert known(shell) == [shell.learning]

    becomes('summary: ""', "summary: Measure twice")
    code, answer = shell.json("learning", "add", "--editor")
    assert code == 0, answer
    assert (answer["data"]["summary"], answer["data"]["scope"]) == (
        "Measure twice",
        {"tags": ["wood"]},
    )
    assert list((shell.root / ".orbit/state/edits").iterdir()) == []
    assert shell("learning", "add")[0] == 2


def test_a_body_is_read_from_a_pipe_that_is_named(shell: Any) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"Seen twice.\n")
    os.close(writing)

    code, answer = shell.json(
        "learning", "add", "--summary", "Mind the step", "--body-file", f"/dev/fd/{reading}"
    )
    os.close(reading)

    assert (code, answer["data"]["body"]) == (0, "Seen twice.\n")


def test_a_misspelt_feature_makes_no_folder(shell: Any) -> None:
    (shell.root / "docs/design/registry").mkdir(parents=True)
    code, _, message = shell("adr", "add", "--title", "Try it", "--feature", "regsitry")
    assert code == 2
    assert "did you mean `registry`?" in message
    assert [path.name for path in (shell.root / "docs/design").iterdir()] == ["registry"]

    (shell.root / "docs/design/regsitry").mkdir()
    assert shell("adr", "add", "--title", "Try it", "--feature", "regsitry")[0] == 0
    assert shell("adr", "add", "--title", "Look away", "--feature", "billing")[0] == 0
