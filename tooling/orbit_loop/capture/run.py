"""Capture: read transcripts once, and leave what they teach for review.

The project may name its own program. It read what tools and the web said, so its lessons are always
pending.
"""

import hashlib
import json
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orbit_loop.capture.candidates import Candidate, Provenance, propose
from orbit_loop.capture.findings import Lesson, Observer
from orbit_loop.capture.project import Project
from orbit_loop.capture.turns import Session, Turn, turns
from orbit_registry.agents.agent import newest_first, open_transcript, transcript_readers
from orbit_registry.agents.transcripts import Progress, entries_in
from orbit_registry.errors import ProgramError, UnreadableFileError, UsageError, plural
from orbit_registry.formats.secrets import without_secrets
from orbit_registry.formats.untrusted import inert_line
from orbit_registry.hook.events import CAPTURED
from orbit_registry.hook.session import tokens
from orbit_registry.model.record import Record
from orbit_registry.workspace.event_log import write_event
from orbit_registry.workspace.files import resolved
from orbit_registry.workspace.trusted_commands import run_program
from orbit_registry.workspace.workspace import Workspace

MOST_TOKENS = 600
MOST_TURNS, MOST_STEPS, MOST_ANSWERED = 50, 40, 5
_FORM = 'print {"candidates": [{"summary": …, "body": …, "paths": […], "inputs": […]}]}'


TurnData = Mapping[str, object]


def _turn_data(turn: Turn) -> TurnData:
    steps = [
        {
            "action": step.action,
            "command": _safe(step.command),
            "paths": list(step.paths),
            "failed": step.failed,
        }
        for step in turn.steps[-MOST_STEPS:]
    ]

    return {
        "asked": _safe(turn.prompt),
        "answer": _safe(turn.answer),
        "rejected": turn.rejected,
        "steps": steps,
    }


def _safe(text: str) -> str:
    return inert_line(without_secrets(text))


def _ask_program(
    workspace: Workspace, turns_data: Sequence[TurnData], lessons: Sequence[Lesson], session: str
) -> list[Lesson]:
    words = workspace.config.setting("capture", "command")
    if not words or not turns_data:
        return []

    request = {
        "session": session,
        "max_tokens": MOST_TOKENS,
        "turns": list(turns_data),
        "found": [{"summary": lesson.summary, "pattern": lesson.pattern} for lesson in lessons],
    }

    seconds = float(workspace.config.setting("capture", "timeout_seconds"))
    text = run_program(workspace, "capture.command", seconds, json.dumps(request))
    name = f"`{words[0]}`"
    count = tokens(text)

    if count > MOST_TOKENS:
        message = f"{name}: it answered {plural(count, 'token')}, where {MOST_TOKENS} are the most"
        raise ProgramError(message, hint="let it say less", fault="it said too much")

    fault = "its answer has another form"
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        answer, fault = None, "what it printed is not JSON"

    candidates = answer.get("candidates") if isinstance(answer, Mapping) else None
    listed: list[Any] = candidates if isinstance(candidates, list) else [None]
    if not all(
        isinstance(entry, Mapping) and isinstance(entry.get("summary"), str) for entry in listed
    ):
        raise ProgramError(f"{name}: {fault}", hint=_FORM, fault=fault)

    return [
        _lesson(candidate) for candidate in listed[:MOST_ANSWERED] if candidate["summary"].strip()
    ]


def _lesson(candidate: Mapping[str, object]) -> Lesson:
    summary = inert_line(str(candidate["summary"]))  # with a secret, the lesson is dropped later
    body = inert_line(text) if isinstance(text := candidate.get("body"), str) else ""
    paths, inputs = _words(candidate.get("paths")), _words(candidate.get("inputs"))
    is_procedural = candidate.get("procedural") is True
    subject = f"said:{summary[:200]}"
    return Lesson(
        "command", subject, summary, body, 1, paths=paths, inputs=inputs, procedural=is_procedural
    )


def _words(value: object) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(word for word in value if isinstance(word, str) and word)[:10]

    return ()


OnProgress = Callable[[int], None]
READERS = transcript_readers("entries")
EVENTS = "events"
UNREAD = (
    "Cursor's sessions are not read, since its transcripts have no results of commands; "
    "OpenCode's are not, since it keeps them in a database"
)
"""Agents with the hook, and why nothing is learned from their sessions."""
SourcedLesson = tuple[Lesson, Provenance]
_SESSION = re.compile(r"[\w.:@-]{1,200}", re.ASCII)
"""Session ids that a record may hold: a transcript may contain anything."""


@dataclass(slots=True)
class SessionRead:
    """Transcript that was read, and its session."""

    agent: str
    path: Path
    session: Session
    size: int = 0
    lines: int = 0
    broken: int = 0
    skipped: str = ""  # why nothing was learned from it

    def as_data(self) -> dict[str, object]:
        """Return it for JSON."""
        return {
            "agent": self.agent,
            "path": str(self.path),
            "session": self.session.id or None,
            "bytes": self.size,
            "lines": self.lines,
            "broken": self.broken,
            "turns": self.session.turns,
            "from_web": self.session.is_foreign,
            "skipped": self.skipped or None,
        }


@dataclass(slots=True)
class CaptureResult:
    """Result of a capture."""

    reads: list[SessionRead] = field(default_factory=list)
    candidates: list[Candidate] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    unknown: list[str] = field(default_factory=list)
    """Programs that failed and later worked, of which nothing can be told."""
    warnings: list[str] = field(default_factory=list)


def transcripts_of(
    workspace: Workspace, agent: str, path: Path | None, sessions: Iterable[str] = ()
) -> list[tuple[str, Path]]:
    """Return the transcripts to read: a given one, the newest,
    or those of `sessions` for `events`.
    """
    if path is not None and agent != EVENTS:
        owner = agent or next(
            (name for name, reader in READERS.items() if reader.is_transcript(path)), ""
        )
        if not owner:
            raise UsageError(
                f"{path} may be any agent's", hint=f"--from {'|'.join(READERS)} says whose it is"
            )

        return [(owner, path)]

    names = [agent] if agent in READERS else list(READERS)
    listed: list[tuple[str, Path]] = []
    for name in names:
        listed += [(name, transcript) for transcript in READERS[name].sessions(workspace.root)]

    if agent == EVENTS:
        ids = set(filter(None, sessions))
        return [
            (name, transcript)
            for name, transcript in listed
            if any(map(f"{transcript.parent.name}/{transcript.name}".__contains__, ids))
        ]

    if not listed:
        where = ", ".join(names)
        hint = f"name its file: orbit capture SESSION.jsonl --from {names[0]}. {UNREAD}"
        raise UsageError(f"no transcript of this project is found for {where}", hint=hint)

    newest = newest_first(transcript for _, transcript in listed)[0]
    return [entry for entry in listed if entry[1] == newest][:1]


def _digest(path: Path) -> str:
    with open_transcript(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def capture(
    workspace: Workspace,
    records: Sequence[Record],
    transcripts: Sequence[tuple[str, Path]],
    *,
    dry_run: bool = False,
    on_progress: OnProgress | None = None,
) -> CaptureResult:
    """Read transcripts and write what they teach as pending learnings;
    `records` are the learnings, with prose.
    """
    done = CaptureResult()
    project = Project(workspace)
    for agent, path in transcripts:
        read, observer, lessons = read_session(
            workspace, project, agent, path, done.warnings, on_progress
        )
        done.reads.append(read)
        news = [] if read.skipped else observer.unknown
        done.unknown += [program for program in news if program not in done.unknown]
        existing = [*records, *(candidate.record for candidate in done.candidates)]
        result = propose(workspace, existing, lessons, read.session.recalled, dry_run=dry_run)
        done.candidates += result.candidates

        done.skipped += result.skipped

        if not dry_run and not read.skipped:
            transcript = lessons[0][1].transcript if lessons else None
            details = {"agent": agent, "transcript": transcript, "turns": read.session.turns}
            write_event(
                workspace,
                CAPTURED,
                [candidate.record.id for candidate in result.candidates],
                details,
            )

    return done


def read_session(
    workspace: Workspace,
    project: Project,
    agent: str,
    path: Path,
    warnings: list[str],
    on_progress: OnProgress | None = None,
) -> tuple[SessionRead, Observer, list[SourcedLesson]]:
    """Return what a session's transcript and those of its subagents teach;
    an unreadable subagent is a warning.
    """
    reader, session = READERS[agent], Session()
    read, observer = SessionRead(agent, path, session), Observer(project)
    latest: deque[TurnData] = deque(maxlen=MOST_TURNS)
    digest = ""

    for transcript_path in (path, *reader.subagents(path)):
        progress = Progress()
        entries = entries_in(transcript_path, reader.entries, progress, on_progress)
        try:
            digest = digest or _digest(transcript_path)
            session.is_agents |= transcript_path != path
            for turn in turns(entries, str(workspace.root), session):
                observer.learn(turn)
                if turn.prompt or turn.steps:
                    latest.append(_turn_data(turn))
        except OSError as error:
            message = f"{transcript_path} can't be read: {(error.strerror or str(error)).lower()}"
            if transcript_path != path:  # the session's own transcript is enough
                warnings.append(message)
                continue
            raise UnreadableFileError(message, hint="name a transcript, a plain file") from None

        read.size += progress.done
        read.lines += progress.lines
        read.broken += progress.broken

    names = (session.id, path.name.partition(".")[0])
    session.id = next((name for name in names if _SESSION.fullmatch(name)), "")

    if session.folder and not resolved(Path(session.folder)).is_relative_to(
        workspace.root.resolve()
    ):
        read.skipped = "the session was in another folder"
    elif not session.turns:
        read.skipped = "no call of a tool is in it; --from says which agent wrote it"

    if read.skipped:
        return read, observer, []

    lessons = observer.lessons()
    try:
        lessons += _ask_program(workspace, latest, lessons, session.id)
    except ProgramError as error:
        warnings.append(error.message)

    source = "web" if session.is_foreign else "test"
    where = Provenance(
        source, agent, session.id, f"sha256:{digest}", workspace.git.commit("HEAD") or ""
    )
    return read, observer, [(lesson, where) for lesson in lessons]
