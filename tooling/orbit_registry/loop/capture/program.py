"""Asks the project's own program what a session teaches: JSON in, JSON out, a short answer; it believes none of it.

What it answers has read what tools and the web said, so it only ever waits for a person.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from orbit_registry.errors import ProgramError
from orbit_registry.loop.capture.patterns import Finding
from orbit_registry.loop.capture.turns import Turn
from orbit_registry.loop.programs import run_program
from orbit_registry.push.caps import tokens
from orbit_registry.store.workspace import Workspace
from orbit_registry.text.inert import inert_line
from orbit_registry.text.secrets import without_secrets

MOST_TOKENS = 600
MOST_TURNS, MOST_STEPS, MOST_ANSWERED = 50, 40, 5
_FORM = 'print {"candidates": [{"summary": …, "body": …, "paths": […], "inputs": […]}]}'


@dataclass(slots=True)
class Digest:
    """The last turns of a session as the program is given them: what was asked and done, nothing that was printed."""

    turns: deque[dict[str, object]] = field(default_factory=lambda: deque(maxlen=MOST_TURNS))

    def take(self, turn: Turn) -> None:
        """Take in one turn."""
        steps = [
            {"action": step.action, "command": _safe(step.command), "paths": list(step.paths), "failed": step.failed}
            for step in turn.steps[-MOST_STEPS:]
        ]
        self.turns.append(
            {"asked": _safe(turn.asked), "answer": _safe(turn.answer), "rejected": turn.rejected, "steps": steps}
        )


def _safe(text: str) -> str:
    return inert_line(without_secrets(text))


def ask(workspace: Workspace, digest: Digest, found: Sequence[Finding], session: str) -> list[Finding]:
    """Return what the program `capture.command` finds; nothing where there is none.

    Raises:
        ProgramError: it is not allowed, failed, said more than 600 tokens, or what it said has not the form.
    """
    words = workspace.config.setting("capture", "command")
    if not words or not digest.turns:
        return []
    given = {"session": session, "max_tokens": MOST_TOKENS, "turns": list(digest.turns),
             "found": [{"summary": one.summary, "pattern": one.pattern} for one in found]}  # fmt: skip
    seconds = float(workspace.config.setting("capture", "timeout_seconds"))
    text = run_program(workspace, "capture.command", seconds, json.dumps(given)).text
    name = f"`{words[0]}`"
    count = tokens(text)
    if count > MOST_TOKENS:
        said = f"{name}: it answered {count} tokens, where {MOST_TOKENS} are the most"
        raise ProgramError(said, hint="let it say less", fault="it said too much")
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        raise ProgramError(
            f"{name}: what it printed is no JSON", hint=_FORM, fault="what it printed is no JSON"
        ) from None
    listed = answer.get("candidates") if isinstance(answer, Mapping) else None
    if not isinstance(listed, list) or not all(
        isinstance(one, Mapping) and isinstance(one.get("summary"), str) for one in listed
    ):
        raise ProgramError(f"{name}: its answer has another form", hint=_FORM, fault="its answer has another form")
    return [_finding(one) for one in listed[:MOST_ANSWERED] if one["summary"].strip()]


def _finding(said: Mapping[str, object]) -> Finding:
    summary = inert_line(str(said["summary"]))  # one with a secret in it is left out as a whole
    body = said.get("body")
    return Finding(
        "command", f"said:{summary[:200]}", summary, inert_line(body) if isinstance(body, str) else "", 1,
        paths=_words(said.get("paths")), inputs=_words(said.get("inputs")), procedural=said.get("procedural") is True,
    )  # fmt: skip


def _words(value: object) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str) and one)[:10] if isinstance(value, list) else ()
