"""Types of the MCP tools: a tool, its schema, its call and its result."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from orbit_registry.errors import OrbitError
from orbit_registry.hook.events import OPENED, Event, append
from orbit_registry.hook.project import session_of_process
from orbit_registry.hook.select import LINKED
from orbit_registry.hook.session import SessionLog
from orbit_registry.hook.sidecar import Sidecar
from orbit_registry.hook.sidecar import records_for_paths as chosen
from orbit_registry.matching.match import current_index
from orbit_registry.model.kind import Kind, KindTable
from orbit_registry.model.record_set import RecordSet
from orbit_registry.registry import Registry
from orbit_registry.repository.writer import FIXED
from orbit_registry.workspace.author import Author
from orbit_registry.workspace.workspace import Workspace

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
        process_session = session_of_process(root) if self.hosted else None
        return process_session or ((self.session, "") if self.session else None)

    def ledger(self, root: str) -> SessionLog | None:
        """Return what counts what it was shown; None where nobody can."""
        name = self.session_at(root)
        return SessionLog(root, *name) if name is not None else None

    def author(self, model: str | None = None) -> Author:
        """Return it as records name who wrote them; never a person."""
        return Author(self.name, "agent", model)


@dataclass(frozen=True, slots=True)
class ToolCall:
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
        return [str(word) for word in value] if isinstance(value, list) else []

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
class ToolResult:
    """What a tool answers: data for programs and the same as text; `next` are calls that make sense now.

    `paths` are files it speaks of, from the root; `shown` are ids of records whose text it holds. `rendered` says that
    the text is a block of `push.render`, whose records can't end it and whose own marks are to stay.
    """

    data: object
    text: str
    next: Sequence[str] = ()
    paths: Sequence[str] = ()
    record_ids: Sequence[str] = ()
    rendered: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: what it is called, what it says of itself, which arguments it takes, and what answers.

    `fixed` are arguments that an alias gives by itself. `carries` says whether records that apply to the paths of a
    call come along with its answer.
    """

    name: str
    title: str
    description: str
    properties: Mapping[str, Schema]
    run: Callable[[ToolCall], ToolResult]
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


LONGEST = 200_000
"""Characters of all arguments of a call together."""
OF_A_DOCUMENT = ("title", "date", "tasks", "feature", "deciders", "summary", "labels", "legacy_ids", "scope")
"""Fields that a new decision takes; the others are given by `update`, once it has a document."""
WITHHELD = FIXED | {"freshness", "status_raw"}
"""Fields that no agent gives: they say who, when and in which state."""


def text(description: str, *examples: str, longest: int = 2_000) -> Schema:
    """Return the form of a text."""
    return {
        "type": "string",
        "minLength": 1,
        "maxLength": longest,
        "description": description,
        "examples": list(examples),
    }


def words(description: str, *examples: str, most: int = 50) -> Schema:
    """Return the form of a list of short texts."""
    entry = {"type": "string", "minLength": 1, "maxLength": 500}
    return {"type": "array", "items": entry, "maxItems": most, "description": description, "examples": [list(examples)]}


def number(description: str, default: int | None, most: int, least: int = 1) -> Schema:
    """Return the form of a whole number."""
    usual = {} if default is None else {"default": default}
    return {"type": "integer", "minimum": least, "maximum": most, **usual, "description": description}


def truth(description: str) -> Schema:
    """Return the form of a yes or no that is no unless given."""
    return {"type": "boolean", "default": False, "description": description}


def choice(description: str, *names: str) -> Schema:
    """Return the form of one of some names."""
    return {"type": "string", "enum": list(names), "description": description}


ID = text("A record's id, or an earlier name of it.", "L-7k3fq", "ADR-0012", longest=300)
PATHS = words("Files from the project's root; they need not exist.", "src/app.py")
TAGS = words("Tags (scope.tags).", "network")
TASK = text("The task at hand.", "TASK-12", longest=200)


def kind_choice(kinds: Iterable[Kind], description: str) -> Schema:
    """Return the form of a kind's name."""
    return choice(description, *(kind.name for kind in kinds))


def own_fields(kind: Kind, *, new: bool = False) -> dict[str, Schema]:
    """Return the forms of the fields that an agent may give to a record of a kind, the headline first.

    A new decision takes its document's text as `body` beside some of them.
    """
    document = kind.schema.document
    shared: Mapping[str, Any] = document["$defs"]
    names = [name for name in kind.schema.properties if name not in WITHHELD | kind.schema.managed]
    if kind.headline != "title" and "title" in names:
        names.remove("title")
    forms = {name: _inlined(document["properties"][name], shared) for name in _headline_first(kind, names)}
    if kind.in_document and new:
        forms = {name: form for name, form in forms.items() if name in OF_A_DOCUMENT}
        forms["scope"] = _of_axes(forms["scope"], ("paths", "tags"))
        forms["body"] = text("Context, Decision and Consequences as Markdown; name at least one cost.", longest=100_000)
    return forms


def _of_axes(scope: Mapping[str, Any], axes: tuple[str, ...]) -> Schema:
    return {**scope, "properties": {axis: scope["properties"][axis] for axis in axes}}


def required_fields(kind: Kind) -> list[str]:
    """Return the fields without which there is no record of a kind."""
    withheld = WITHHELD | kind.schema.managed
    return [name for name in kind.schema.document["required"] if name not in withheld]


def fields_of_any(kinds: KindTable) -> Schema:
    """Return the form of the fields of whichever kind, its description naming those of each."""
    fields_by_kind = [(kind, list(own_fields(kind, new=True))) for kind in kinds]
    plain = [names for kind, names in fields_by_kind if not kind.in_document]
    shared = [name for name in plain[0] if all(name in names for names in plain)] if plain else []
    lines = []
    for kind, names in fields_by_kind:
        needed = required_fields(kind)
        optional = [name for name in names if name not in needed and (kind.in_document or name not in shared)]
        lines.append(f"{kind.name}: {', '.join(needed)} (needed){'; ' if optional else ''}{', '.join(optional)}")
    lines.append(f"All but decisions take {', '.join(shared)} too")
    example = {"summary": "Retries need an idempotency key", "scope": {"paths": ["src/**"]}}
    description = "The record's fields, by its kind. " + ". ".join(lines) + "."
    return {"type": "object", "description": description, "examples": [example]}


def _headline_first(kind: Kind, names: list[str]) -> list[str]:
    return sorted(names, key=lambda name: name != kind.headline)


_LEFT_OUT = frozenset(("$ref", "patternProperties", "pattern", "uniqueItems", "maxItems", "minLength"))
"""What a tool's schema does not repeat of a kind's: not every client follows references, a model reads none of the
rest, and the record's own schema holds it to all of them when it is written."""


def _inlined(form: Any, shared: Mapping[str, Any]) -> Any:
    """Return a schema as one piece, without what stands in the kind's alone."""
    if isinstance(form, list):
        return [_inlined(entry, shared) for entry in form]
    if not isinstance(form, Mapping):
        return form
    parts = {name: _inlined(part, shared) for name, part in form.items() if name not in _LEFT_OUT}
    if "$ref" in form:
        parts = {**_inlined(shared[str(form["$ref"]).rpartition("/")[2]], shared), **parts}
    return parts


SHOW = "mcp:show"


def beside(
    workspace: Workspace, records: RecordSet, paths: Sequence[str], record_ids: Collection[str], caller: Caller
) -> Sidecar | None:
    """Return the records that apply to paths, and the rules that shown records are linked with; all noted as shown.

    None of them the answer holds already. Where they can't be had the answer goes without them: it is what was asked
    for.
    """
    returned = _linked(records, record_ids)
    if not (paths or returned):
        return None
    root = str(workspace.root)
    try:
        index = current_index(workspace)
        return chosen(
            root, index, paths, caller.ledger(root), shown_ids=record_ids, returned=returned, agent=caller.name
        )
    except (OrbitError, OSError):
        return None


def _linked(records: RecordSet, record_ids: Collection[str]) -> Mapping[str, Sequence[str]]:
    """Return those of the shown records that a link joins with a rule, whichever of the two states it."""
    linked: dict[str, list[str]] = {}
    for record in records:
        if record.kind.gate == LINKED and record.phase == "live":
            for link in record.links:
                if link.to in record_ids:
                    linked.setdefault(link.to, []).append(record.id)
    for record_id in record_ids:
        for record in records.with_id(record_id):
            targets = (target for link in record.links for target in records.with_id(link.to))
            rules = [target.id for target in targets if target.kind.gate == LINKED and target.phase == "live"]
            if rules:
                linked.setdefault(record_id, []).extend(rules)
    return linked


def note_opened(workspace: Workspace, record_id: str, caller: Caller) -> None:
    """Write the event of a record that was shown whole."""
    root = str(workspace.root)
    ledger = caller.ledger(root)
    event = Event(SHOW, time.time())
    event.name, event.opened, event.session = OPENED, [record_id], ledger.name if ledger is not None else ""
    append(root, event)
