"""One MCP tool: its schema, its call and its result."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.call import Caller
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
    run: Callable[[Registry, Caller, Arguments], Answer]
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
            targets = chain.from_iterable(records.with_id(link.to) for link in record.links)
            rules = [
                target.id
                for target in targets
                if target.kind.gate == LINKED and target.phase == "live"
            ]
            if rules:
                linked.setdefault(record_id, []).extend(rules)

    return linked
