"""Folds what a transcript tells into turns: what was asked, what was done and how it went; it draws no conclusion.

A turn begins with a person's prompt. What was put into a prompt is no part of it. All that is held is bounded: so many
calls that wait for their result, so many steps of a turn, so many characters of each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from orbit_registry.capture.transcripts import Entry, injected_in, without_injected
from orbit_registry.hook.call import Call, in_project
from orbit_registry.hook.dialects import READING, WRITING, take_tool
from orbit_registry.hook.tools import SEARCHES, SHELLS, WRITES

MOST_WAITING, MOST_STEPS, MOST_CALLS = 200, 400, 20_000
MOST_PATHS = 20
LONGEST_COMMAND, LONGEST_PROMPT, LONGEST_PATTERN = 2_000, 1_000, 200
MOST_RECALLED = 200
Action = Literal["run", "write", "read", "search", "foreign", "other"]
_FOREIGN = re.compile(r"(?i)\A(?:mcp[_:]|.*(?:web|browser|fetch|url|http))")
_OWN_MCP = re.compile(r"(?i)\Amcp_{1,2}orbit")
_DOWNLOAD = re.compile(r"\b(?:curl|wget|lynx|httpie|https?://)")
_REJECTION = re.compile(
    r"(?i)\A\W*(?:no(?!\w| problem| worries| need)|nope|wrong|incorrect|stop|undo|revert|roll ?back|nein|falsch"
    r"|that(?:'s|’s| is) (?:not|wrong|incorrect)|not what|don['’]?t|do not|you (?:broke|shouldn)"
    r"|this (?:is wrong|broke))\b"
)


@dataclass(frozen=True, slots=True)
class Step:
    """One call of a tool: `paths` are the project's, from its root; `said` is what a command answered."""

    action: Action
    command: str = ""
    paths: tuple[str, ...] = ()
    pattern: str = ""
    failed: bool = False
    said: str = ""


@dataclass(slots=True)
class Turn:
    """What was asked and done; `rejected` once the person broke it off or turned it down."""

    asked: str = ""
    answer: str = ""
    steps: list[Step] = field(default_factory=list)
    rejected: bool = False


@dataclass(slots=True)
class Session:
    """What is known of a session once it was read: whose it is, where it ran, and what came into it from outside."""

    id: str = ""
    folder: str = ""
    turns: int = 0
    rejected: bool = False
    """The last turn in which something was done was broken off or turned down."""
    is_foreign: bool = False
    """It read the web or a foreign server: what it says may be anybody's."""
    recalled: dict[str, None] = field(default_factory=dict)
    """Lines that were put before the model, the first so many: they are known, and nothing that it found out."""
    peak: int = 0
    """The most calls and steps that were held at once."""


def turns(entries: Iterable[Entry], root: str, session: Session) -> Iterator[Turn]:
    """Yield the turns of one context of a session, each when it is over; `session` is filled in on the way."""
    waiting: dict[str, tuple[str, object]] = {}
    known: dict[str, None] = {}
    turn = Turn()
    for one in entries:
        if one.what == "prompt":
            asked = without_injected(one.text)
            _recall(session, injected_in(one.text))
            if not asked:
                continue
            turn.rejected = turn.rejected or bool(_REJECTION.match(asked))
            yield _over(turn, session)
            turn = Turn(asked[:LONGEST_PROMPT])
        elif one.what == "answer":
            turn.answer = without_injected(one.text)[-LONGEST_PROMPT:]
        elif one.what == "stopped":
            turn.rejected = True
        elif one.what == "injected":
            _recall(session, [one.text])
        elif one.what == "session" and not session.id:
            session.id = one.text[:200]
            cwd = one.given.get("cwd") if isinstance(one.given, Mapping) else None
            session.folder = cwd if isinstance(cwd, str) else ""
        elif one.what == "call" and one.call not in known:
            known[one.call], waiting[one.call] = None, (one.tool, one.given)
            if len(waiting) > MOST_WAITING:
                del waiting[next(iter(waiting))]
            if len(known) > MOST_CALLS:
                del known[next(iter(known))]
        elif one.what == "result" and one.call in waiting:
            step = _step(*waiting.pop(one.call), one, root, session)
            if step.action == "foreign":
                session.is_foreign = True
            turn.steps.append(step)
            session.peak = max(session.peak, len(waiting) + len(turn.steps))
            if len(turn.steps) > MOST_STEPS:
                del turn.steps[: MOST_STEPS // 2]
    yield _over(turn, session)


def _over(turn: Turn, session: Session) -> Turn:
    if turn.steps:
        session.turns += 1
        session.rejected = turn.rejected
    return turn


def _recall(session: Session, texts: Iterable[str]) -> None:
    for text in texts:
        for line in text.splitlines():
            if len(session.recalled) < MOST_RECALLED and len(said := line.strip("- \t")) > 20:
                session.recalled[said[:LONGEST_PROMPT]] = None


def _step(tool: str, given: object, result: Entry, root: str, session: Session) -> Step:
    """Return the step that a call and its result are."""
    name = tool.casefold()
    asked = given if isinstance(given, dict) else {}
    if _FOREIGN.match(tool):
        return Step("other" if _OWN_MCP.match(tool) else "foreign")
    if name in SHELLS or name == "local_shell_call":
        command = _command(given)
        if _DOWNLOAD.search(command):
            return Step("foreign", command[:LONGEST_COMMAND], failed=result.failed)
        call = _call(name, {**asked, "command": command[:LONGEST_COMMAND]}, session)
        action: Action = "write" if call.task_class == "code" else "run"
        return Step(action, command[:LONGEST_COMMAND], _paths(call, root), failed=result.failed, said=result.text)
    call = _call(name, given, session)
    pattern = next((one for key in ("pattern", "query", "regex") if isinstance(one := asked.get(key), str)), "")
    if name in SEARCHES:
        return Step("search", paths=_paths(call, root), pattern=pattern[:LONGEST_PATTERN], failed=result.failed)
    if name in WRITES or name in WRITING or call.task_class == "code":
        return Step("write", paths=_paths(call, root), failed=result.failed)
    action = "read" if name in READING or call.reads else "other"
    return Step(action, paths=_paths(call, root), failed=result.failed)


def _command(given: object) -> str:
    """Return what a shell was given to run, as one text."""
    if isinstance(given, str):
        return given
    held = given if isinstance(given, Mapping) else {}
    said = next((one for key in ("command", "cmd", "script") if (one := held.get(key))), "")
    if isinstance(said, list):
        words = [word for word in said if isinstance(word, str)]
        shell = len(words) > 2 and words[0].rpartition("/")[2] in ("bash", "sh", "zsh") and words[1].startswith("-")
        return words[2] if shell else " ".join(words)
    return said if isinstance(said, str) else ""


def _call(name: str, given: object, session: Session) -> Call:
    call = Call("transcript", "")
    call.folder = session.folder
    take_tool(call, "bash" if name == "local_shell_call" else name, given)
    return call


def _paths(call: Call, root: str) -> tuple[str, ...]:
    found = (in_project(root, call.folder or root, said) for said in call.paths[:MOST_PATHS])
    return tuple(dict.fromkeys(path for path in found if path))
