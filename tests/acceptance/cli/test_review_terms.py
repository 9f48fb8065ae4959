"""When to look again, as people mistype it: the commands refuse it, and the gate names it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.acceptance.conftest import orbit
from tests.conftest import Git
from tests.files import commit, make_workspace, write, write_record

from orbit_registry.doors.cli.main import run

DOCUMENT = "docs/adr/0001-keep-one-log.md"
LINE_END = "\n"
RECORD = ".orbit/adrs/ADR-0001/adr.yaml"
BODY = "## Context\n\nTwo.\n\n## Decision\n\nOne.\n\n## Consequences\n\n- Cost: it grows.\n"
YEAR = datetime.now(UTC).year
TYPE = "write a month or a day of the calendar, such as 2027-03 or 2027-03-31"
REFUSED = {
    ("--review-by", "soon"): TYPE,
    ("--review-by", "next spring"): TYPE,
    ("--review-by", "2027-Q1"): TYPE,
    ("--review-by", "2027-13"): TYPE,
    ("--review-by", "9999-12"): "write a month within 10 years",
    ("--review-by", f"{YEAR + 11}-01"): "write a month within 10 years",
    ("--set", "review_by=9999-12-31"): "write a month within 10 years",
    ("--revisit-when", "paths: src"): "did you mean `path: src`?",
    ("--revisit-when", "use: redis"): "did you mean `uses: redis`?",
    ("--revisit-when", "path:"): "did you mean `path: src/**`?",
    ("--set", "revisit_when=[{paths: src}]"): "did you mean `path: src`?",
}
FINDINGS = {  # what it says, and whether it is an error
    "review_by: next spring": (TYPE, True),
    "revisit_when: [{use: redis}]": ("did you mean `uses: redis`?", True),
    "revisit_when: ['paths: src']": ("did you mean `path: src`?", False),
}
HEADERS = {
    "Review by: next spring": "write a month, a day or a quarter there",
    "Revisit when: paths: src": "did you mean `path: src`?",
}


@pytest.fixture
def root(tmp_path: Path, git: Git) -> Path:
    git(tmp_path, "init", "-q")
    make_workspace(tmp_path)
    source = {"path": DOCUMENT, "format": "file", "authority": "record"}
    write_record(tmp_path, RECORD, title="Keep one log", status="accepted", source=source)
    write_document(tmp_path, "")
    commit(tmp_path)
    return tmp_path


def write_document(root: Path, header: str) -> None:
    text = f"# ADR-0001 — Keep one log\n\nStatus: Accepted\n{header}\n\n{BODY}"
    write(root, DOCUMENT, text)


@pytest.mark.parametrize("options", REFUSED, ids=" ".join)
def test_an_update_refuses_it(root: Path, options: tuple[str, str]) -> None:
    before = (root / RECORD).read_text("utf-8")
    assert REFUSED[options] in orbit(root, "adr", "update", "ADR-0001", *options, code=1)
    assert (root / RECORD).read_text("utf-8") == before


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--review-by", "soon"), 2),
        (("--review-by", "9999-12"), 1),
        (("--revisit-when", "paths: src"), 1),
    ],
)
def test_a_new_decision_refuses_it(root: Path, options: tuple[str, str], code: int) -> None:
    assert REFUSED[options] in orbit(root, "adr", "new", "Use Redis", *options, code=code)


def test_what_is_there_does_not_stop_another_change(root: Path) -> None:
    text = (root / RECORD).read_text("utf-8")
    (root / RECORD).write_text(f"{text}review_by: 9999-12\nrevisit_when: ['use: redis']\n", "utf-8")
    orbit(root, "adr", "update", "ADR-0001", "--label", "storage")


@pytest.mark.parametrize("line", FINDINGS)
def test_the_gate_names_it_in_a_record(root: Path, line: str) -> None:
    text = (root / RECORD).read_text("utf-8")
    (root / RECORD).write_text(f"{text}{line}\n", "utf-8")
    message, is_error = FINDINGS[line]
    answer = orbit(root, "check", code=int(is_error))
    assert message in answer
    assert f"{RECORD}:{text.count(LINE_END) + 1}:" in answer


@pytest.mark.parametrize("line", HEADERS)
def test_the_gate_names_it_in_a_document(root: Path, line: str) -> None:
    write_document(root, line)
    answer = orbit(root, "check")
    assert f"{DOCUMENT}:4:" in answer
    assert HEADERS[line] in answer


@pytest.mark.parametrize("command", ["update", "amend"])
def test_a_past_month_gets_a_remark(
    root: Path, command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    more = ("--task", "T-1", "--text", "It holds.") if command == "amend" else ()
    follows = "someone has looked at it since" if command == "amend" else "due for a review at once"

    assert run(["adr", command, "ADR-0001", "--review-by", "2020-03", *more]) == 0
    message = capsys.readouterr().err
    assert "2020-03 has come already" in message
    assert follows in message

    assert run(["adr", command, "ADR-0001", "--review-by", f"{YEAR + 2}-03", *more]) == 0
    assert "has come already" not in capsys.readouterr().err
