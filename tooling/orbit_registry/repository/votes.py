"""Votes in `votes.jsonl`: one line each, appended under a lock and never rewritten."""

import errno
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from orbit_registry.errors import RefusedError, UsageError, plural
from orbit_registry.formats.position import Position
from orbit_registry.judgements.is_moment import is_moment
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.model.freshness import AHEAD
from orbit_registry.model.votes import (
    HALF_LIFE_DAYS,
    Vote,
    distinct_votes,
    format_time,
    parse_time,
    tally,
)
from orbit_registry.workspace.config import number_in
from orbit_registry.workspace.files import DOCUMENT_LIMIT, read_text, write_error
from orbit_registry.workspace.lock import locked

BROKEN = "ORB107"
NAME = "votes.jsonl"
FIELDS = ("learning_id", "voter_model", "voted_at", "task_id")
MOST_PROBLEMS = 50  # most diagnostics of one file
LONGEST_HALF_LIFE = 1_000_000.0
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
"""Lone surrogates, which JSON can spell but UTF-8 can't."""
HALF_LIFE = "ORBIT_LEARNING_VOTE_HALF_LIFE_DAYS"


def half_life_days(environment: Mapping[str, str] | None = None) -> float:
    """Return the half-life of a vote in days, which the environment may set;
    0 disables the decay.
    """
    if environment is None:
        environment = os.environ

    value = environment.get(HALF_LIFE, "").strip()
    days = number_in(value, LONGEST_HALF_LIFE) if value else HALF_LIFE_DAYS
    if days is None:
        hint = (
            "set it to a number of days such as 180, to 0 to count votes as they are, or not at all"
        )
        raise UsageError(f"{HALF_LIFE} is {value!r}, which is not a number of days", hint=hint)

    return days


def parse_votes(
    text: str,
    path: str,
    record_id: str,
    now: datetime,
) -> tuple[list[Vote], list[Diagnostic]]:
    """Return the votes in a text; each invalid line becomes a diagnostic."""
    votes: list[Vote] = []
    problems: list[Diagnostic] = []
    more, hint = 0, "remove the line; a vote given again is counted once"
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue

        vote = vote_in(line)
        problem = vote if isinstance(vote, str) else _problem_of(vote, record_id, now)
        if isinstance(vote, Vote) and not problem:
            votes.append(vote)
        elif len(problems) < MOST_PROBLEMS:
            where = Location(path, Position(number))
            problems.append(Diagnostic(BROKEN, Severity.WARNING, problem, where, hint, record_id))
        else:
            more += 1

    if more:
        message = f"{plural(more, 'more line is no vote', 'more lines are not votes')}"
        where, hint = Location(path), hint.replace("line", "lines")
        problems.append(Diagnostic(BROKEN, Severity.WARNING, message, where, hint, record_id))

    return votes, problems


def _problem_of(vote: Vote, record_id: str, now: datetime) -> str:
    if vote.learning_id != record_id:
        return f"the vote is for {vote.learning_id!r}, but the file belongs to {record_id}"

    if vote.voted_at - now > AHEAD:
        return f"the vote is dated {format_time(vote.voted_at)}, in the future; it is not counted"

    return ""


def vote_in(line: str) -> Vote | str:
    """Return the vote in a line, or why it is none."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return "the line is torn or not JSON; it is skipped"

    if not isinstance(row, dict) or set(row) != set(FIELDS):
        return f"a vote has exactly the fields {', '.join(FIELDS)}"
    if not all(isinstance(row[name], str) and row[name].strip() for name in FIELDS):
        return "each field of a vote is a text that is not empty"
    if any(_HALF_CHARACTER.search(row[name]) for name in FIELDS):
        return "a field of a vote holds half a character"

    if not is_moment(row["voted_at"]):
        return f"voted_at is {row['voted_at']!r}, not a time such as 2026-05-17T12:00:00Z"

    at = parse_time(row["voted_at"])
    return Vote(row["learning_id"], row["voter_model"], at, row["task_id"])


def append_vote(folder: Path, lock: Path, vote: Vote, existing: Iterable[Vote]) -> bool:
    """Append a vote to a record's file; False where the same voter and task voted already."""
    if not vote.task_id.strip() or not vote.voter_model.strip():
        raise UsageError(
            "a vote needs a task and a voter",
            hint="`orbit vote ID --task T --model M`",
        )

    if _HALF_CHARACTER.search(vote.task_id + vote.voter_model):
        raise RefusedError(
            "task and voter of a vote have to be text",
            hint="name the task in UTF-8",
        )

    path = folder / NAME
    values = (vote.learning_id, vote.voter_model, format_time(vote.voted_at), vote.task_id)
    row = dict(zip(FIELDS, values, strict=True))
    line = json.dumps(row, ensure_ascii=False).encode() + b"\n"
    with locked(lock):
        text = read_text(path, limit=DOCUMENT_LIMIT) if path.exists() else ""
        votes = (*existing, *parse_votes(text, "", vote.learning_id, datetime.now(UTC))[0])
        if any(other.key == vote.key for other in votes):
            return False

        try:
            handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o666)
            try:
                _append(handle, line)
            finally:
                os.close(handle)
        except OSError as error:
            if path.exists() and not path.stat().st_size:
                path.unlink()
            raise write_error(path, error) from None

    return True


def _append(handle: int, line: bytes) -> None:
    """Append one line completely or not at all; a torn last line is ended first."""
    size = os.fstat(handle).st_size
    is_torn = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
    if is_torn:
        line = b"\n" + line

    try:
        if os.write(handle, line) < len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(handle)
    except OSError:
        os.ftruncate(handle, size)
        raise


def vote_data(votes: Sequence[Vote]) -> dict[str, object]:
    """Return count, current score, last time (None without votes) and count per task."""
    result = tally(votes, datetime.now(UTC), half_life_days())
    tasks = Counter(vote.task_id for vote in distinct_votes(votes))
    return {
        "count": result.count,
        "score": round(result.score, 6),
        "last": format_time(result.last) if result.last else None,
        "tasks": dict(sorted(tasks.items())),
    }
