"""The values between the protocol and the registry: a tool, a call of it, its answer; nothing here is done or sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from orbit_registry.hook.hosts import session_of_process
from orbit_registry.hook.session import Ledger
from orbit_registry.registry import Registry
from orbit_registry.workspace.author import Author

Schema = Mapping[str, object]
Arguments = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Caller:
    """The agent at the other end: its host's name, and the session whose ledger counts what it was shown.

    `hosted` says that this process was started by the agent's host, whose session is then known from its hooks.
    """

    name: str
    session: str
    hosted: bool = False

    def session_at(self, root: str) -> tuple[str, str] | None:
        """Return the session of the host, else of the connection, and its agent; None where there is none."""
        found = session_of_process(root) if self.hosted else None
        return found or ((self.session, "") if self.session else None)

    def ledger(self, root: str) -> Ledger | None:
        """Return what counts what it was shown; None where nobody can."""
        found = self.session_at(root)
        return Ledger(root, *found) if found is not None else None

    def author(self, model: str | None = None) -> Author:
        """Return it as records name who wrote them; never a person."""
        return Author(self.name, "agent", model)


@dataclass(frozen=True, slots=True)
class Asked:
    """One call: the project it is about, who calls, and arguments that fit the tool's schema."""

    registry: Registry
    caller: Caller
    arguments: Arguments

    def text(self, name: str, default: str = "") -> str:
        """Return an argument that is a text."""
        value = self.arguments.get(name)
        return value if isinstance(value, str) else default

    def words(self, name: str) -> list[str]:
        """Return an argument that is a list of texts."""
        value = self.arguments.get(name)
        return [str(one) for one in value] if isinstance(value, list) else []

    def number(self, name: str, default: int) -> int:
        """Return an argument that is a whole number."""
        value = self.arguments.get(name)
        return value if isinstance(value, int) else default

    def is_set(self, name: str) -> bool:
        """Say whether an argument is true."""
        return self.arguments.get(name) is True

    def fields(self, name: str) -> dict[str, object]:
        """Return an argument that is an object."""
        value = self.arguments.get(name)
        return dict(value) if isinstance(value, Mapping) else {}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool answers: data for programs and the same as text; `next` are calls that make sense now.

    `paths` are files it speaks of, from the root; `shown` are ids of records whose text it holds. `rendered` says that
    the text is a block of `push.render`, whose records can't end it and whose own marks are to stay.
    """

    data: object
    text: str
    next: Sequence[str] = ()
    paths: Sequence[str] = ()
    shown: Sequence[str] = ()
    rendered: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: what it is called, what it says of itself, which arguments it takes, and what answers.

    `fixed` are arguments that an alias gives by itself. `carries` says whether records that apply to the paths of a
    call come along with its answer.
    """

    name: str
    title: str
    said: str
    properties: Mapping[str, Schema]
    run: Callable[[Asked], Answer]
    required: Sequence[str] = ()
    reads_only: bool = True
    fixed: Mapping[str, object] = field(default_factory=dict)
    carries: bool = True

    def schema(self) -> dict[str, object]:
        """Return the JSON Schema of its arguments."""
        return {
            "type": "object",
            "properties": {name: dict(form) for name, form in self.properties.items()},
            "required": list(self.required),
            "additionalProperties": False,
        }
