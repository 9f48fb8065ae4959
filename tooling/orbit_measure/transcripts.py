"""Turns and tokens that sessions used, read from agents' transcripts."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from orbit_registry.agents.agent import TranscriptReader, transcript_readers
from orbit_registry.agents.transcripts import Progress, entries_in
from orbit_registry.hook.session import safe_name
from orbit_registry.model.votes import parse_time
from orbit_registry.workspace.workspace import Workspace

MOST_SESSIONS = 500  # sessions whose transcripts are looked for, the newest
READERS = transcript_readers("usage")


@dataclass(frozen=True, slots=True)
class SessionUsage:
    """Answers of the model in one session and its subagents, by time in seconds since 1970,
    each with its tokens.
    """

    answers: Sequence[tuple[float, int]]

    def since(self, at: float) -> tuple[int, int]:
        """Return the turns and tokens from a time on."""
        start = bisect_left(self.answers, (at, 0))
        return len(self.answers) - start, sum(tokens for _, tokens in self.answers[start:])


def usage_of(workspace: Workspace, sessions: Sequence[str]) -> Mapping[str, SessionUsage]:
    """Return the usage of the sessions that have a transcript with any, the newest of them;
    `sessions` are in order.
    """
    usages: dict[str, SessionUsage] = {}
    for session in sessions[-MOST_SESSIONS:]:
        if safe_name(session) != session:
            continue  # unsafe as part of a path

        for name, agent in READERS.items():
            path = agent.transcript(workspace.root, session)
            if path is None:
                continue

            answers: list[tuple[float, int]] = []
            for file in (path, *agent.subagents(path)):
                answers += _answers(workspace, name, agent, file)

            if answers:
                usages[session] = SessionUsage(sorted(answers))
            break

    return usages


def _answers(
    workspace: Workspace, agent: str, reader: TranscriptReader, path: Path
) -> Iterable[tuple[float, int]]:
    try:
        status = path.stat()
    except OSError:
        return []
    key = f"{status.st_size} {status.st_mtime_ns}"
    rows = workspace.cache.memo(f"usage {agent} {path}", key, lambda: _read(path, reader))
    return [(float(timestamp), int(tokens)) for timestamp, tokens in rows]


def _read(path: Path, reader: TranscriptReader) -> list[list[float]]:
    """Return when each answer of a transcript began, and its tokens;
    one that is written again counts with the most.
    """
    answers: dict[str, list[float]] = {}
    try:
        for usage in entries_in(path, reader.usage, Progress()):
            try:
                timestamp = parse_time(usage.timestamp).timestamp()
            except (ValueError, OverflowError):
                continue

            if not usage.tokens:
                continue  # the agent's own message about an error

            first, tokens = answers.get(usage.answer, (timestamp, 0.0))
            answers[usage.answer] = [first, max(tokens, float(usage.tokens))]
    except OSError:
        return []

    return list(answers.values())
