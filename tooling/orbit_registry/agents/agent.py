"""Agent for the installer and the capture of sessions: settings, replies, transcript entries.

`SURFACES` in an agent's file are the events that take context as their reply, with their surface;
`LOGGED` those that are logged and not answered. Its functions say what it has: `read` and `reply`
(hook), `agent` (installer), `sessions`, `subagents` and `entries` (capture), `transcript` and
`injected_texts` (delivery check), `usage` (effect).
"""

import importlib
import os
import pkgutil
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from io import BufferedReader
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from orbit_registry import agents

Scope = Literal["local", "project", "user"]
SCOPES: tuple[Scope, ...] = ("local", "project", "user")
ROOT, PATH, SESSION = "{root}", "{path}", "{session}"
"""Placeholders in a recorded payload: the project's folder, a file in it and the session."""


@dataclass(frozen=True, slots=True)
class JsonHooks:
    """Entries in the `hooks` member of a JSON settings file.

    `events` has the matcher for each event, empty for none. `handler` is what an entry holds
    besides the command, which is its member `key`. A `grouped` format keeps handlers in a list
    inside an entry, next to its matcher. `head` are members that the file needs besides `hooks`.
    With `comments` the agent reads JSON with comments. `off` are the keys of the member that
    switches all hooks off, and its value.
    """

    events: Mapping[str, str]
    handler: Mapping[str, object]
    key: str = "command"
    grouped: bool = True
    head: Mapping[str, object] = field(default_factory=dict)
    comments: bool = False
    off: tuple[tuple[str, ...], bool] | None = None


@dataclass(frozen=True, slots=True)
class CommandFile:
    """A file with the hook's command alone: its template in `agents/`, and its language."""

    template: str
    language: Literal["javascript", "shell"]


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A settings file, from the project's root or below `~/`.

    The variable `home` moves the first folder below `~/`.
    """

    path: str
    format: JsonHooks | CommandFile
    home: str = ""


@dataclass(frozen=True, slots=True)
class ServersFile:
    """A file in which an agent looks for MCP servers, named as a `SettingsFile` is.

    `keys` lead to the member that holds them, `ROOT` for the project's folder; without them the
    file is TOML. `more` is what an entry has next to its command. With `one_list` a command and its
    arguments are one list. With `comments` the agent reads JSON with comments.
    """

    path: str
    keys: tuple[str, ...] = ("mcpServers",)
    more: Mapping[str, object] = field(default_factory=dict)
    one_list: bool = False
    comments: bool = False
    home: str = ""


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent that can have the hook.

    `settings` and `servers` have the scopes that the agent knows, the default first. `evidence`
    says how far we know that it works. `project_folder` are shell words for the project's folder as
    the agent states it; without them the repository's top above the working folder counts.
    `payload` is what the agent sends at an edit of `PATH` in `ROOT`, `replies` the JSON Schema of
    the reply by event, closed against keys that decide about a permission, `texts` the ways to the
    text for the model in a reply.
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
    proven: bool = False  # whether a real agent was seen to show its model what the hook said
    servers: Mapping[Scope, ServersFile] = field(default_factory=dict)
    after: str = ""  # the step that a person takes once after installing

    @property
    def default_scope(self) -> Scope:
        """The scope without `--scope`."""
        return next(iter(self.settings))


TEXT: Mapping[str, Any] = {"type": "string", "minLength": 1}
SPECIFIC = ("hookSpecificOutput", "additionalContext")  # the way to the text in a nested reply


def nested(events: Iterable[str], **members: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the schema of a reply with its text in `hookSpecificOutput`, for each event."""
    schemas: dict[str, Mapping[str, Any]] = {}
    for event in events:
        output = closed(
            required=("hookEventName", "additionalContext"),
            hookEventName={"const": event},
            additionalContext=TEXT,
        )
        schemas[event] = closed(hookSpecificOutput=output, **members)

    return schemas


def flat(
    events: Iterable[str], key: str, **members: Mapping[str, Any]
) -> dict[str, Mapping[str, Any]]:
    """Return the schema of an object whose member `key` is the text, for each event."""
    return {event: closed(**{key: TEXT}, **members) for event in events}


def closed(required: Iterable[str] = (), **properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object that has these members and no other."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(required),
        "minProperties": 1,
        "properties": properties,
    }


Row = Mapping[str, Any]  # a line of a transcript
EntryKind = Literal["session", "prompt", "answer", "call", "result", "injected", "stopped"]
LONGEST_TEXT = 4_000


@dataclass(frozen=True, slots=True)
class TranscriptEntry:
    """One event of a transcript.

    `session`: `text` is its id, `arguments` may hold its `cwd` · `prompt`, `answer`: what a person
    and the model wrote · `call`: a tool called with `arguments` · `result`: what it answered, and
    whether it failed · `injected`: what hosts and hooks put before the model · `stopped`: a person
    broke the turn off, or took it back.
    """

    kind: EntryKind
    text: str = ""
    call: str = ""  # id that pairs a call with its result
    tool: str = ""
    arguments: object = None
    failed: bool = False
    folder: str = ""  # where a call runs, if the agent's shell keeps its folder


class Usage(NamedTuple):
    """Tokens of one answer that were in no cache.

    An answer may be written several times, its tokens growing.
    """

    answer: str
    timestamp: str
    tokens: int


class TranscriptReader(Protocol):
    """Functions of an agent's file that read its transcripts.

    Those after `is_transcript` are some agents' alone.
    """

    def entries(self, row: Row) -> Iterator[TranscriptEntry]: ...  # noqa: D102
    def subagents(self, path: Path) -> list[Path]: ...  # noqa: D102
    def sessions(self, root: Path) -> list[Path]: ...  # noqa: D102
    def is_transcript(self, path: Path) -> bool: ...  # noqa: D102
    def transcript(self, root: Path, session: str, agent: str = "") -> Path | None: ...  # noqa: D102
    def injected_texts(self, row: Row) -> Iterator[str]: ...  # noqa: D102
    def usage(self, row: Row) -> Iterator[Usage]: ...  # noqa: D102


def token_sum(counts: object, added: Iterable[str], subtracted: Iterable[str] = ()) -> int:
    """Return the sum of some counts of an object less others; what is no count is 0."""

    def count(name: str) -> int:
        value = counts.get(name) if isinstance(counts, Mapping) else None
        if isinstance(value, int) and 0 <= value < 10**12:
            return value

        return 0

    return max(sum(map(count, added)) - sum(map(count, subtracted)), 0)


def clipped(text: str) -> str:
    """Return a text, of a long one its beginning and its end."""
    if len(text) <= LONGEST_TEXT:
        return text
    return f"{text[: LONGEST_TEXT // 2]}\n…\n{text[-LONGEST_TEXT // 2 :]}"


def texts_of(value: object) -> Iterator[str]:
    """Yield the texts of a value: a text, a list of texts, or of parts that have a `text`."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from texts_of(part.get("text") if isinstance(part, dict) else part)


def newest_first(paths: Iterable[Path]) -> list[Path]:
    """Return the existing files, the one that was written last first.

    In a home of another user there are none.
    """
    dated: list[tuple[float, Path]] = []
    with suppress(OSError):
        for path in paths:
            if path.is_file():
                dated.append((path.stat().st_mtime, path))

    return [path for _, path in sorted(dated, reverse=True)]


def open_transcript(path: Path) -> BufferedReader:
    """Open a plain file, never a link to one."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(f"{path} is not a file")

    return os.fdopen(handle, "rb")


def first_line(path: Path) -> bytes:
    """Return the first line of a transcript, at most 20,000 bytes; empty if it can't be read."""
    try:
        with open_transcript(path) as file:
            return file.readline(20_000)
    except OSError:
        return b""


def agent_home(variable: str, folder: str) -> Path:
    """Return the folder of an agent's own files.

    It is in the environment variable, or below the user's home.
    """
    from orbit_registry.workspace.workspace import user_home  # `orbit hook` needs the names alone

    moved = os.environ.get(variable, "")
    if moved:
        return Path(moved)

    return user_home() / folder


def folder_name(root: Path) -> str:
    """Return the name that some agents give the folder of a project's sessions."""
    return re.sub("[^A-Za-z0-9]", "-", str(root))


def hook_agents() -> tuple[str, ...]:
    """Return the names of the agents that can have the hook."""
    return _names_with("agent")


def load_agent(name: str) -> Agent:
    """Return one of `hook_agents`; only its own file is loaded."""
    create: Callable[[], Agent] = _file_of(name).agent
    return create()


def transcript_readers(
    function: Literal["entries", "injected_texts", "usage"],
) -> dict[str, TranscriptReader]:
    """Return the agents whose file has a function, by name.

    Their transcripts can be captured, tell what hooks added, or what a session used.
    """
    return {name: _file_of(name) for name in _names_with(function)}


def _file_of(name: str) -> Any:
    return importlib.import_module(f"{agents.__name__}.{name}")


@cache
def _names_with(function: str) -> tuple[str, ...]:
    names = [module.name for module in pkgutil.iter_modules(agents.__path__)]
    names.remove("agent")
    return tuple(name for name in sorted(names) if hasattr(_file_of(name), function))
