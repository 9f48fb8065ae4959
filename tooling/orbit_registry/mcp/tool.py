"""One MCP tool: its schema, its call and its result."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from orbit_registry.answers.call import Caller
from orbit_registry.errors import OrbitError
from orbit_registry.hook.sidecar import Sidecar
from orbit_registry.hook.sidecar import records_for_paths as chosen
from orbit_registry.matching.match import current_index
from orbit_registry.model.reach import LINKED
from orbit_registry.model.record_set import RecordSet
from orbit_registry.registry import Registry
from orbit_registry.workspace.workspace import Workspace

Schema = Mapping[str, object]
Arguments = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call: the project, the caller, and arguments that fit the tool's schema."""

    registry: Registry
    caller: Caller
    arguments: Arguments

    def text(self, name: str, default: str = "") -> str:
        """Return a text argument."""
        value = self.arguments.get(name)
        return value if isinstance(value, str) else default

    def words(self, name: str) -> list[str]:
        """Return a list argument."""
        value = self.arguments.get(name)
        return [str(word) for word in value] if isinstance(value, list) else []

    def paths(self) -> list[str]:
        """Return the paths of the call, one of which may be given alone."""
        single = self.text("path")
        return [*self.words("paths"), *([single] if single else [])]

    def number(self, name: str, default: int) -> int:
        """Return a whole-number argument."""
        value = self.arguments.get(name)
        return value if isinstance(value, int) else default

    def is_set(self, name: str) -> bool:
        """Return whether an argument is true."""
        return self.arguments.get(name) is True

    def fields(self, name: str) -> dict[str, object]:
        """Return an object argument."""
        value = self.arguments.get(name)
        return dict(value) if isinstance(value, Mapping) else {}


@dataclass(frozen=True, slots=True)
class ToolResult:
    """Result of a tool: data, the same as text, and in `next` the calls that make sense now.

    `paths` are files it is about, from the root; `record_ids` are records whose text it has.
    `rendered`: the text is a block of `hook.render`, already safe, whose marks must stay.
    """

    data: object
    text: str
    next: Sequence[str] = ()
    paths: Sequence[str] = ()
    record_ids: Sequence[str] = ()
    rendered: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """Name, description, arguments and function of a tool.

    `fixed` are the arguments that an alias sets. `carries`: records for the paths of a call are
    added to its result. `unlisted` are arguments that a call may give and that no list shows: each
    costs every session its description.
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
    unlisted: Sequence[str] = ()

    def listed_schema(self) -> dict[str, object]:
        """Return the JSON Schema that a client lists."""
        shown = {name: form for name, form in self.properties.items() if name not in self.unlisted}
        return {**self.schema(), "properties": {name: dict(form) for name, form in shown.items()}}

    def schema(self) -> dict[str, object]:
        """Return the JSON Schema of its arguments."""
        return {
            "type": "object",
            "properties": {name: dict(form) for name, form in self.properties.items()},
            "required": list(self.required),
            "additionalProperties": False,
        }


LONGEST = 200_000  # characters of all arguments of a call together


def sidecar_for(
    workspace: Workspace,
    records: RecordSet,
    paths: Sequence[str],
    record_ids: Collection[str],
    caller: Caller,
) -> Sidecar | None:
    """Return the records for some paths, and the rules linked with the records shown; all are
    logged as shown.

    Records that the result has already are left out. None if they can't be read: the result matters
    more.
    """
    returned = _linked(records, record_ids)
    if not (paths or returned):
        return None

    root = str(workspace.root)
    try:
        index = current_index(workspace)
        return chosen(
            root,
            index,
            paths,
            caller.ledger(root),
            shown_ids=record_ids,
            returned=returned,
            agent=caller.name,
        )
    except (OrbitError, OSError):
        return None


def _linked(records: RecordSet, record_ids: Collection[str]) -> Mapping[str, Sequence[str]]:
    linked: dict[str, list[str]] = {}
    for record in records:
        if record.kind.gate == LINKED and record.phase == "live":
            for link in record.links:
                if link.to in record_ids:
                    linked.setdefault(link.to, []).append(record.id)

    for record_id in record_ids:
        for record in records.with_id(record_id):
            targets = (target for link in record.links for target in records.with_id(link.to))
            rules = [
                target.id
                for target in targets
                if target.kind.gate == LINKED and target.phase == "live"
            ]
            if rules:
                linked.setdefault(record_id, []).extend(rules)

    return linked
