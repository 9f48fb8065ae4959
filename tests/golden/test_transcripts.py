"""Transcripts of a shell: each holds commands and all that they print, in one repository, from its
first line on.

They have the form of cram's tests: a line `  $ …` is a command, lines `  > …` below it are its
standard input, what it prints is indented too, and lines that are not indented say what to look at.
`orbit` runs in this process, and `orbit … | EXPRESSION` asks for JSON and prints what the
expression makes of its `data`, a row a line. `ORBIT_UPDATE_GOLDEN=1` writes the files anew; `git
diff` then shows what changed.
"""

import io
import itertools
import json
import os
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from datetime import UTC, datetime, timedelta, tzinfo
from difflib import unified_diff
from pathlib import Path
from textwrap import indent
from typing import Self

import pytest
from tests.golden.test_golden import UPDATE, check_envelope, normalised

from orbit_registry.doors.cli.main import run
from orbit_registry.model.ids import CROCKFORD
from orbit_registry.operations import lifecycle, votes
from orbit_registry.repository import writer

TRANSCRIPTS = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))
VARIABLE = re.compile(r"([A-Z_]+)=(.*)")


class Clock(datetime):
    """A second passes between two stamps, so that records have an order,
    and a change of one a new stamp.
    """

    ticks, start = itertools.count(), datetime.now(UTC) - timedelta(hours=1)

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        """Return the next moment."""
        return cls.fromtimestamp((cls.start + timedelta(seconds=next(cls.ticks))).timestamp(), tz)


class Shell:
    """Runs commands in a repository; codes of new records are numbered as they are printed first:
    `01new`, `02new`.
    """

    def __init__(self, root: Path, patch: pytest.MonkeyPatch) -> None:
        self.root, self.codes, self.commits = root, dict[str, str](), dict[str, str]()
        numbers, urandom = itertools.count(1), os.urandom

        def counted(size: int) -> bytes:
            if sys._getframe(1).f_code.co_name != "new_uid":
                return urandom(size)
            # later records have higher codes, so that lists of them stay in order
            code = f"{next(numbers):03}nw"
            return sum(
                CROCKFORD.index(sign) * 32**place for place, sign in enumerate(code)
            ).to_bytes(size, "big")

        patch.setattr(os, "urandom", counted)
        for module in (writer, lifecycle, votes):
            patch.setattr(module, "datetime", Clock)

    def __call__(self, line: str, stdin: str) -> str:
        """Return what a command prints, with its exit code if that is not 0."""
        real = {shown: code for code, shown in self.codes.items()}
        line, stdin = (
            re.sub(r"\d\dnew", lambda code: real.get(code[0], code[0]), text)
            for text in (line, stdin)
        )
        if line.startswith("cd "):
            os.chdir(line[3:])
            return ""
        if re.match(r"([A-Z_]+=('[^']*'|\S*) )*orbit ", line):
            code, text = orbit(line, stdin)
        else:
            done = subprocess.run(
                ["bash", "-c", line], input=stdin.encode(), capture_output=True, check=False
            )
            code, text = done.returncode, (done.stdout + done.stderr).decode(errors="replace")
        text = re.sub(
            r"(?<=[A-Z]-)\d{3}nw",
            self.shown,
            normalised(text, self.root).replace(str(self.root.parent), "ABOVE"),
        )
        text = re.sub(r"(?<=until )20[\d-]+T[\d:]+Z", "WHEN", text)
        text = re.sub(
            r"\b(?=[a-f]*\d)[0-9a-f]{12}\b|(?<=commit )[0-9a-f]{7,8}\b", self.commit, text
        )
        return text + "\n" * (text[-1:] not in ("", "\n")) + f"[{code}]\n" * bool(code)

    def commit(self, name: re.Match[str]) -> str:
        return self.commits.setdefault(name[0], f"commit{len(self.commits) + 1}")

    def shown(self, code: re.Match[str]) -> str:
        return self.codes.setdefault(code[0], f"{len(self.codes) + 1:02}new")


def split(line: str) -> list[str]:
    """Return the words of a command as a shell reads them."""
    if "$(" not in line:
        return shlex.split(line)
    done = subprocess.run(
        ["bash", "-c", f"printf '%s\\0' {line}"], capture_output=True, text=True, check=True
    )
    return done.stdout.split("\0")[:-1]


def orbit(line: str, stdin: str) -> tuple[int, str]:
    """Return the exit code of `orbit`, and what it prints or what an expression makes of
    its data.
    """
    call, _, expression = line.rpartition(" | ") if " | " in line else (line, "", "")
    words, out, err = split(call), io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        while assignment := VARIABLE.fullmatch(words[0]):
            patch.setenv(assignment[1], assignment[2])
            words = words[1:]
        patch.chdir(".")  # and back, whatever `-C` says
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), "utf-8"))
        code = run([*words[1:], "--format", "json"] if expression else words[1:])
    if not expression:
        return code, out.getvalue() + err.getvalue()
    check_envelope(words[1:], out.getvalue())
    envelope = json.loads(out.getvalue())
    if envelope["data"] is None:
        return code, f"error: {envelope['error']}\n"
    try:
        result = eval(expression, {"data": envelope["data"], "envelope": envelope})
    except LookupError as error:
        result = repr(error)
    rows = result if isinstance(result, list) else [result]
    return code, "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)


@pytest.mark.parametrize("file", TRANSCRIPTS, ids=lambda file: file.stem)
def test_a_transcript_is_as_it_was_read(
    file: Path, git_repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = file.read_text("utf-8")
    monkeypatch.chdir(git_repo)
    monkeypatch.delenv("CI", raising=False)
    shell = Shell(git_repo, monkeypatch)
    actual = ""
    for comment, command, stdin in re.findall(
        r"(?m)^(\S.*\n|\n)|^  \$ (.*)\n((?:  >.*\n)*)", expected
    ):
        output = shell(command, re.sub(r"(?m)^  > ?", "", stdin)) if command else ""
        actual += comment or f"  $ {command}\n{stdin}{indent(output, '  ', lambda _: True)}"
    if UPDATE:
        file.write_text(actual, "utf-8")
    differences = unified_diff(
        expected.splitlines(), actual.splitlines(), "expected", "now", lineterm="", n=4
    )
    assert UPDATE or expected == actual, "\n".join(differences)
