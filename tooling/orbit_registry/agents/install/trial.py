"""Trial of an installed hook: run it as its agent would, judge the reply,
measure the cost of a silent call.
"""

import contextlib
import json
import os
import resource
import secrets
import shlex
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orbit_registry.agents.agent import PATH, ROOT, SESSION, Agent
from orbit_registry.hook.context import Context, working_project
from orbit_registry.hook.select import cited, select
from orbit_registry.hook.session import SessionLog
from orbit_registry.matching.explain import explain
from orbit_registry.matching.index import Index
from orbit_registry.matching.match import current_index
from orbit_registry.matching.visibility import surroundings_of, visibilities
from orbit_registry.model.reach import CODE, TOOL
from orbit_registry.model.schema import RecordSchema
from orbit_registry.workspace.workspace import Workspace, is_writable

TIMEOUT_SECONDS = 30
RUNS = 7
NOWHERE = "no/record/applies/here"
WAITS = "it waits for a person to accept it: `orbit review`"
NOTHING = f"{shlex.join([sys.executable, '-I', '-S', '-E', '-c', 'pass'])} 2>/dev/null || :"


@dataclass(frozen=True, slots=True)
class HookTrial:
    """Result of one run: problems (none: the agent accepts it),
    and the text that its model would see.
    """

    command: str
    path: str | None
    problems: tuple[str, ...]
    text: str
    milliseconds: float
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Where no record is shown at any file, or at the one that was asked for: why, by id."""

    def as_data(self) -> dict[str, object]:
        """Return the trial as JSON shows it."""
        return {
            "command": self.command,
            "path": self.path,
            "problems": list(self.problems),
            "text": self.text,
            "ms": round(self.milliseconds, 1),
            "not_shown": [
                {"id": record_id, "why": reason} for record_id, reason in self.reasons.items()
            ],
        }


@dataclass(frozen=True, slots=True)
class Cost:
    """Medians of CPU time of the whole process, in milliseconds, the shell included."""

    runs: int
    hook: float
    nothing: float

    @property
    def ratio(self) -> float:
        """How many times the cost of an empty interpreter."""
        return self.hook / max(self.nothing, 0.001)

    def as_data(self) -> dict[str, object]:
        """Return the measurement as JSON shows it."""
        return {
            "runs": self.runs,
            "hook_ms": round(self.hook, 2),
            "nothing_ms": round(self.nothing, 2),
            "ratio": round(self.ratio, 2),
        }


class _Call:
    def __init__(self, workspace: Workspace, agent: Agent, path: str) -> None:
        self._root = workspace.root
        root = str(workspace.root)
        session = f"trial-{secrets.token_hex(6)}"
        self._ledger = workspace.state / "log/sessions" / SessionLog(root, session).name

        words = {ROOT: root, PATH: str(workspace.root / path), SESSION: session}
        self._content = json.dumps(filled(agent.payload, words)).encode()
        self._environment = dict(os.environ)
        for name, word in agent.environment.items():
            self._environment[name] = words.get(word, word)

    def run(self, command: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            ["/bin/sh", "-c", command],
            input=self._content,
            capture_output=True,
            cwd=self._root,
            env=self._environment,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )

    def forget(self) -> None:
        with contextlib.suppress(OSError):  # on a read-only disk also a file that is not there
            self._ledger.unlink()


def try_hook(workspace: Workspace, agent: Agent, command: str, file: str = "") -> HookTrial:
    """Run a command with the payload of an edit of a file.

    Unless the file is given, it is one at which a record is shown, if there is one.
    """
    index = current_index(workspace)
    path: str | None = file
    if not file:
        tracked, untracked = workspace.git.files()
        path = _shown_at(index, [*(tracked or []), *untracked])

    is_expected = path is not None and _is_shown(index, path)
    reasons: Mapping[str, str] = {}
    if not is_expected:
        reasons = _reasons_at(workspace, file) if file else _reasons(workspace)

    call = _Call(workspace, agent, path or NOWHERE)
    started = time.monotonic()
    try:
        done = call.run(command)
        took = (time.monotonic() - started) * 1000
    except subprocess.TimeoutExpired:
        problem = f"it ran for more than {TIMEOUT_SECONDS} s"
        return HookTrial(command, path, (problem,), "", TIMEOUT_SECONDS * 1000.0, reasons)
    finally:
        call.forget()

    problems, text = judged(agent, agent.event, done.returncode, done.stdout)
    if is_expected and not text and not problems:
        problem = f"it said nothing about {path}, for which a record is pushed"
        if not is_writable(workspace.state / "log"):
            problem = (
                f"it says nothing: {workspace.state}, where it keeps what a session saw, can't "
                f"be written"
            )
        problems = (problem,)

    return HookTrial(command, path, problems, text, took, reasons)


def silent_cost(workspace: Workspace, agent: Agent, command: str) -> Cost | None:
    """Return the cost of a silent call of an installed command; None on a timeout."""
    call = _Call(workspace, agent, NOWHERE)
    hook: list[float] = []
    nothing: list[float] = []
    try:
        for _ in range(RUNS + 1):
            hook.append(_spent(lambda: call.run(command)))
            nothing.append(_spent(lambda: call.run(NOTHING)))
    except subprocess.TimeoutExpired:
        return None
    finally:
        call.forget()

    # The first one warms the disk's cache.
    return Cost(RUNS, statistics.median(hook[1:]), statistics.median(nothing[1:]))


def filled(payload: Any, words: Mapping[str, str]) -> Any:
    """Return a recorded payload with the placeholders filled in."""
    if isinstance(payload, str):
        for word, replacement in words.items():
            payload = payload.replace(word, replacement)
        return payload

    if isinstance(payload, Mapping):
        return {key: filled(value, words) for key, value in payload.items()}

    if isinstance(payload, list | tuple):
        return [filled(value, words) for value in payload]

    return payload


def judged(agent: Agent, event: str, code: int, output: bytes) -> tuple[tuple[str, ...], str]:
    """Return the problems of a reply to an event, and the text that the model would see."""
    problems = []
    if code:
        problems.append(f"exit code {code}; the agent may take it as a refusal")
    if not output:
        return tuple(problems), ""

    try:
        reply: Any = json.loads(output)
    except ValueError:
        return (*problems, "what it printed is not JSON"), ""

    schema = agent.replies.get(event)
    if schema is None:
        return (*problems, f"{agent.title} takes no answer to {event}"), ""

    for problem in RecordSchema(schema, Path(agent.name)).problems(reply):
        member = ".".join(map(str, problem.pointer)) or "the reply"
        problems.append(f"{member}: {problem.message}")

    texts = (_at(reply, way) for way in agent.texts)
    return tuple(problems), next((text for text in texts if isinstance(text, str)), "")


def _at(reply: Any, way: tuple[str, ...]) -> Any:
    for key in way:
        reply = reply.get(key) if isinstance(reply, dict) else None
    return reply


def _shown_at(index: Index, files: Iterable[str]) -> str | None:
    """Return the first file at whose edit a record is shown: by a glob, an import or a citation."""
    for file in files:
        is_led_to = index.match(file) or any(cited(index, file))
        if is_led_to and _is_shown(index, file):
            return file

    return None


def _is_shown(index: Index, file: str) -> bool:
    project = working_project()
    context = Context(TOOL, time.time(), paths=(file,), task_class=CODE, project=project)
    return bool(select(index, context).matches)


def _reasons(workspace: Workspace) -> dict[str, str]:
    """Return why no edit shows each record that is not closed."""
    around = surroundings_of(workspace)
    records = [record for record in around.records if record.phase != "closed"]
    judged = visibilities(records, around)

    reasons: dict[str, str] = {}
    for record in records:
        visibility = judged[record.path]
        if visibility.waits:
            reasons[record.id] = WAITS
        elif visibility.reason is not None:
            reasons[record.id] = visibility.reason.text

    return reasons


def _reasons_at(workspace: Workspace, file: str) -> dict[str, str]:
    """Return why the edit of a file does not show each record that is related to it."""
    verdicts = explain(workspace, file)
    return {entry.row.id: f"{entry.way}: {entry.text}" for entry in verdicts}


def _spent(work: Callable[[], object]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
