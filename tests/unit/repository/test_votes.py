"""The votes file: one line a vote, read line by line, appended under a lock and never rewritten."""

import json
import os
import resource
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from orbit_registry.errors import LockTimeoutError, RefusedError, UsageError, WriteError
from orbit_registry.model.votes import Vote
from orbit_registry.repository.votes import append_vote, half_life_days, parse_votes
from orbit_registry.workspace.lock import locked

NOW = datetime(2026, 5, 17, 12, tzinfo=UTC)
ROW = {
    "learning_id": "L-7k3fq",
    "voter_model": "m",
    "voted_at": "2026-05-17T12:00:00Z",
    "task_id": "T-1",
}


def line(**changes: object) -> str:
    return json.dumps({**ROW, **changes})


def problems(text: str) -> list[tuple[int, str]]:
    diagnostics = parse_votes(text, "votes.jsonl", "L-7k3fq", NOW)[1]
    assert all(
        diagnostic.record == "L-7k3fq"
        and diagnostic.location.path == "votes.jsonl"
        and diagnostic.hint
        for diagnostic in diagnostics
    )
    return [
        (
            diagnostic.location.position.line if diagnostic.location.position else 0,
            diagnostic.message,
        )
        for diagnostic in diagnostics
    ]


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (line()[:-9], "torn or not JSON"),
        ("{}", "exactly the fields"),
        ("[" * 100_000, "torn or not JSON"),
        (line(extra=1), "exactly the fields"),
        (line(learning_id="L-aaaaa"), "the vote is for 'L-aaaaa', but the file belongs to L-7k3fq"),
        (line(task_id="  "), "a text that is not empty"),
        (line(voter_model=None), "a text that is not empty"),
        (line(voter_model="\ud800"), "half a character"),
        (line(voted_at="yesterday"), "voted_at is 'yesterday'"),
        (line(voted_at="0001-01-01T00:00:00+23:59"), "not a time such as"),
        (line(voted_at="2026-05-18T12:00:01Z"), "in the future; it is not counted"),
        ("\ufeff" + line(), "torn or not JSON"),
    ],
)
def test_an_invalid_vote_is_reported_and_hides_no_other(bad: str, words: str) -> None:
    text = "\n".join([line(task_id="above"), bad, line(task_id="below")]) + "\n"

    assert [vote.task_id for vote in parse_votes(text, "x", "L-7k3fq", NOW)[0]] == [
        "above",
        "below",
    ]
    [(number, message)] = problems(text)
    assert number == 2
    assert words in message


def test_a_day_ahead_is_a_clock_that_runs_fast() -> None:
    text = f"{line(voted_at='2026-05-18T12:00:00Z')}\r\n\n  \n{line(task_id='T-2')}"

    assert len(parse_votes(text, "x", "L-7k3fq", NOW)[0]) == 2


def test_only_the_first_invalid_votes_are_named() -> None:
    messages = problems("x\n" * 100_000)

    assert len(messages) == 51
    assert messages[-1] == (0, "99,950 more lines are not votes")


def test_a_task_that_is_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="have to be text"):
        cast(tmp_path, "a\udcff")

    assert not (tmp_path / "votes.jsonl").exists()


def cast(folder: Path, task: str = "T-1", model: str = "m", at: datetime = NOW) -> bool:
    return append_vote(folder, folder / "votes.lock", Vote("L-7k3fq", model, at, task), [])


def test_a_vote_is_one_line_of_exactly_four_fields(tmp_path: Path) -> None:
    assert cast(tmp_path)

    file = tmp_path / "votes.jsonl"
    assert file.read_text("utf-8") == line() + "\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o644


def test_a_torn_line_takes_no_other_with_it(tmp_path: Path) -> None:
    file = tmp_path / "votes.jsonl"
    file.write_text(line(task_id="T-0") + "\n" + line()[:30], "utf-8")

    assert cast(tmp_path, task="T-9")

    votes, invalid = parse_votes(file.read_text("utf-8"), "x", "L-7k3fq", NOW)
    assert [vote.task_id for vote in votes] == ["T-0", "T-9"]
    assert len(invalid) == 1


@pytest.mark.parametrize("room", [0, 1, 60])
def test_a_partly_written_vote_is_removed(tmp_path: Path, room: int) -> None:
    file = tmp_path / "votes.jsonl"
    before = b"" if room == 0 else (line(task_id="T-0") + "\n").encode()
    if before:
        file.write_bytes(before)
    child = os.fork()
    if child == 0:
        status = 3
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + room, resource.RLIM_INFINITY))
            cast(tmp_path, "T-9")
        except WriteError:
            status = 0
        finally:
            os._exit(status)

    assert os.waitpid(child, 0)[1] == 0
    assert (file.read_bytes() if file.exists() else None) == (before or None)


@pytest.mark.parametrize("text", ["two\nlines", 'quote " \\ 😀', "a\u2028b", "\x00"])
def test_any_task_reads_back(tmp_path: Path, text: str) -> None:
    assert cast(tmp_path, text)

    content = (tmp_path / "votes.jsonl").read_text("utf-8")
    assert [vote.task_id for vote in parse_votes(content, "x", "L-7k3fq", NOW)[0]] == [text]
    assert content.count("\n") == 1


def test_a_vote_is_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("mine", "utf-8")
    (tmp_path / "record").mkdir()
    (tmp_path / "record/votes.jsonl").symlink_to(tmp_path / "outside")

    with pytest.raises(Exception, match=r"symbolic link|can't write") as caught:
        cast(tmp_path / "record")

    assert caught.type.__module__ == "orbit_registry.errors"
    assert (tmp_path / "outside").read_text("utf-8") == "mine"


def test_a_vote_waits_for_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two votes with one key could both count as new otherwise."""
    monkeypatch.setenv("ORBIT_LOCK_WAIT_SECONDS", "0")
    with locked(tmp_path / "votes.lock"), pytest.raises(LockTimeoutError, match=r"votes\.lock"):
        cast(tmp_path)
    assert not (tmp_path / "votes.jsonl").exists()
    assert cast(tmp_path)


@pytest.mark.parametrize(
    ("value", "days"), [(None, 180.0), (" ", 180.0), ("0", 0.0), ("0.5", 0.5), ("1e3", 1000.0)]
)
def test_the_half_life_is_the_environment_s(value: str | None, days: float) -> None:
    assert (
        half_life_days({} if value is None else {"ORBIT_LEARNING_VOTE_HALF_LIFE_DAYS": value})
        == days
    )


@pytest.mark.parametrize("value", ["never", "-1", "nan", "inf", "1e308", "1e9", "1,5", "180 days"])
def test_an_invalid_half_life_is_refused(value: str) -> None:
    with pytest.raises(UsageError, match="ORBIT_LEARNING_VOTE_HALF_LIFE_DAYS is ") as caught:
        half_life_days({"ORBIT_LEARNING_VOTE_HALF_LIFE_DAYS": value})

    assert value in caught.value.message
    assert "180" in str(caught.value.hint)
