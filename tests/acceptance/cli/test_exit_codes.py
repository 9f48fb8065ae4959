"""One rule for the exit code of a command that can't do what it was asked for."""

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

CASES = yaml.safe_load((Path(__file__).parents[2] / "cases/exit_codes.yaml").read_text("utf-8"))


@pytest.mark.parametrize(
    ("code", "words", "message"), CASES["cases"], ids=[" ".join(row[1]) for row in CASES["cases"]]
)
def test_what_is_missing_or_empty_ends_by_the_rule(
    shell: Any, code: int, words: list[str], message: str
) -> None:
    (shell.root / "src").mkdir(exist_ok=True)
    (shell.root / "plain.txt").write_text("Mine\n", "utf-8")

    ended, out, err = shell(*words)

    assert err.startswith(f"error: {message}"), out + err
    assert "  hint: " in err
    assert ended == code
    assert (shell.root / "plain.txt").read_text("utf-8") == "Mine\n"


def test_a_pipe_is_not_replaced_by_an_export(shell: Any) -> None:
    pipe = shell.root / "pipe"
    os.mkfifo(pipe)

    code, _, err = shell("snapshot", "export", "pipe")

    assert (code, stat.S_ISFIFO(pipe.stat().st_mode)) == (1, True)
    assert err.startswith("error: pipe exists and is not a DuckDB file")


@pytest.mark.parametrize("closed", ["<&-", "<&- >&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_fault(shell: Any, closed: str) -> None:
    program = [sys.executable, "-m", "orbit_registry", "list"]
    line = f'"$@" {closed}'

    ended = subprocess.run(["sh", "-c", line, "sh", *program], cwd=shell.root, capture_output=True)

    assert ended.returncode == 0, ended.stderr
    assert b"Traceback" not in ended.stderr


@pytest.mark.parametrize(
    "words",
    [["search"], ["match", "--tag"], ["show"], ["list", "--kind"], ["adr", "new", "--tag"]],
    ids=" ".join,
)
def test_a_huge_word_is_not_repeated(shell: Any, words: list[str]) -> None:
    code, out, err = shell(*words, "x" * 100_000)

    assert code < 3
    assert len(out + err) < 2_000
