"""What the installer has to know about one agent: values that its file in `hooks/agents` fills in; it reads no file.

The schemas of what an agent takes as an answer hold the least of it that we use, closed against everything else: no key
that decides about a permission or changes a tool's input, so that an answer of ours which had one would not pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Scope = Literal["local", "project", "user"]
SCOPES: tuple[Scope, ...] = ("local", "project", "user")
MARK = "# orbit hook"
"""How our command ends, for a shell a comment: by this it is found again."""
ROOT, PATH, SESSION = "{root}", "{path}", "{session}"
"""What stands in a recorded payload for the project's folder, a file in it and the session."""


class SettingsFormat(Protocol):
    """How our entries stand in a settings file. Every method raises RefusedError for a text that is no settings;
    `what` names the file in it."""

    def with_entries(self, text: str | None, command: str, what: str) -> str:
        """Return the settings with our entries, and none of an earlier version; None stands for no file."""

    def without_entries(self, text: str, what: str) -> str | None:
        """Return the settings without our entries; None where nothing else was in the file, so that it is ours."""

    def commands(self, text: str, what: str) -> list[str]:
        """Return our commands in the settings; empty where we are not installed."""

    def is_current(self, text: str, command: str, what: str) -> bool:
        """Say whether our entries are those that would be put in today."""


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """One place of an agent's settings: a path from the project's root, or below `~/` for the user's own.

    `home` names the environment variable that moves the first folder of such a path, empty where there is none.
    """

    path: str
    format: SettingsFormat
    home: str = ""


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent.

    `settings` has the scopes that the agent knows, the one that is taken by itself first. `evidence` says in words
    how far we know that it works. `project_folder` are shell words for the project's folder as the agent states it;
    without them the repository's top above the working folder counts. `payload` is what the agent sends after or before
    an edit of `PATH` in `ROOT`, `replies` the JSON Schema of what it takes as an answer by event, `texts` the ways
    to the text for the model in such an answer.
    """

    name: str
    title: str
    evidence: str
    settings: Mapping[Scope, SettingsFile]
    payload: Mapping[str, Any]
    event: str
    replies: Mapping[str, Mapping[str, Any]]
    texts: tuple[tuple[str, ...], ...]
    project_folder: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    proven: bool = False
    """Whether a real agent was seen to show its model what the hook said."""
    after: str = ""
    """What a person has to do once after installing, where the agent asks for it."""

    @property
    def default_scope(self) -> Scope:
        """The scope that is taken where none is named."""
        return next(iter(self.settings))


TEXT: Mapping[str, Any] = {"type": "string", "minLength": 1}
SPECIFIC = ("hookSpecificOutput", "additionalContext")
"""The way to the text in a nested answer."""


def nested(events: Iterable[str], **further: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the schema of `{"hookSpecificOutput": {"hookEventName", "additionalContext"}}` for each event."""
    return {
        event: closed(
            hookSpecificOutput=closed(
                required=("hookEventName", "additionalContext"), hookEventName={"const": event}, additionalContext=TEXT
            ),
            **further,
        )
        for event in events
    }


def flat(events: Iterable[str], key: str, **further: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the schema of an object whose member `key` is the text, for each event."""
    return {event: closed(**{key: TEXT}, **further) for event in events}


def closed(required: Iterable[str] = (), **properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object that has these members and no other."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(required),
        "minProperties": 1,
        "properties": properties,
    }
