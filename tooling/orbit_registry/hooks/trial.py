"""Runs an installed hook as its agent would, with a recorded payload, and says whether the agent would take the reply.

It changes no settings and no record; the session it makes up is forgotten afterwards.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orbit_registry.errors import GitError
from orbit_registry.hooks.agent import PATH, ROOT, SESSION, Agent
from orbit_registry.kinds.schema import compile_document
from orbit_registry.push.ledger import Ledger
from orbit_registry.push.reader import BROAD, Index, NoIndex
from orbit_registry.snapshot.matches import current_index
from orbit_registry.store.workspace import Workspace

TIMEOUT_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Trial:
    """What one run of the installed command gave: problems (none: the agent takes it), the text it would see."""

    command: str
    path: str | None
    problems: tuple[str, ...]
    text: str
    milliseconds: float

    def as_data(self) -> dict[str, object]:
        """Return the trial as JSON shows it."""
        return {
            "command": self.command,
            "path": self.path,
            "problems": list(self.problems),
            "text": self.text,
            "ms": round(self.milliseconds, 1),
        }


def try_hook(workspace: Workspace, agent: Agent, command: str) -> Trial:
    """Run a command with the payload of an edit of a tracked file for which a record is pushed, where there is one.

    The push index is brought up to date first.

    Raises:
        SnapshotError: the index can't be made.
    """
    path = _matched(workspace, current_index(workspace))
    session = f"trial-{secrets.token_hex(6)}"
    words = {
        ROOT: str(workspace.root), PATH: str(workspace.root / (path or "no/record/applies/here")), SESSION: session,
    }  # fmt: skip
    begun = time.monotonic()
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            input=json.dumps(filled(agent.payload, words)).encode(),
            capture_output=True,
            cwd=workspace.root,
            env={**os.environ, **{name: words.get(said, said) for name, said in agent.environment.items()}},
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Trial(command, path, (f"it ran for more than {TIMEOUT_SECONDS} s",), "", TIMEOUT_SECONDS * 1000.0)
    took = (time.monotonic() - begun) * 1000
    (workspace.state / "log/sessions" / Ledger(str(workspace.root), session).name).unlink(missing_ok=True)
    problems, text = judged(agent, agent.event, done.returncode, done.stdout)
    if path is not None and not text and not problems:
        problems = (f"it said nothing about {path}, for which a record is pushed",)
    return Trial(command, path, problems, text, took)


def filled(payload: Any, words: Mapping[str, str]) -> Any:
    """Return a recorded payload with what stands for the folder, the file and the session filled in."""
    if isinstance(payload, str):
        for word, meant in words.items():
            payload = payload.replace(word, meant)
        return payload
    if isinstance(payload, Mapping):
        return {key: filled(value, words) for key, value in payload.items()}
    return [filled(value, words) for value in payload] if isinstance(payload, list | tuple) else payload


def judged(agent: Agent, event: str, code: int, output: bytes) -> tuple[tuple[str, ...], str]:
    """Return what an agent would find wrong with a reply to an event, and the text that its model would see."""
    problems = [f"exit code {code}; the agent may take it as a refusal"] if code else []
    if not output:
        return tuple(problems), ""
    try:
        reply: Any = json.loads(output)
    except ValueError:
        return (*problems, "what it printed is no JSON"), ""
    schema = agent.replies.get(event)
    if schema is None:
        return (*problems, f"{agent.title} takes no answer to {event}"), ""
    for one in compile_document(dict(schema), Path(agent.name)).problems(reply):
        problems.append(f"{'.'.join(map(str, one.pointer)) or 'the reply'}: {one.message}")
    found = (_at(reply, way) for way in agent.texts)
    return tuple(problems), next((text for text in found if isinstance(text, str)), "")


def _at(reply: Any, way: tuple[str, ...]) -> Any:
    for key in way:
        reply = reply.get(key) if isinstance(reply, dict) else None
    return reply


def _matched(workspace: Workspace, index: Index | NoIndex) -> str | None:
    """Return a tracked file for which a record is pushed at an edit."""
    if not isinstance(index, Index):
        return None
    try:
        files = workspace.git.tracked() or []
    except GitError:
        return None
    for file in files:
        for hit in index.match(file):
            row = index.row(hit >> 32)
            if row is not None and not row.flags & BROAD and index.is_current(row) and not row.is_expired(time.time()):
                return file
    return None
