"""Table of the MCP tools: `tools.yaml` has their texts and arguments,
this what each runs and names for one kind.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any, cast

from orbit_registry.doors.answers.agent_fields import fields_of_any, own_fields, required_fields
from orbit_registry.doors.answers.scripts import may_run
from orbit_registry.doors.mcp.operations import operations_with_tools, run_of, tool_of
from orbit_registry.doors.mcp.tool import Tool
from orbit_registry.doors.render.records import ORDERS
from orbit_registry.formats import yaml
from orbit_registry.hook.events import NOTE_SKIPS
from orbit_registry.hook.task_class import CLASSES
from orbit_registry.model.ids import DIRECTIONS
from orbit_registry.model.kind import PHASES, Kind, KindTable, load_kinds
from orbit_registry.seams import add, tool_files
from orbit_registry.search.query import BUDGETS
from orbit_registry.workspace.workspace import Workspace

PREFIX = "orbit."
LISTED = ("search", "show", "match", "brief", "add", "vote")
"""The tools that a client lists; a call may name any other too."""
OF_THE_LOOP = ("note", "fail", "retro", "queue")
"""The tools that it lists too where `loop.enabled` is set."""
ALIASES: Mapping[str, tuple[str, ...]] = {
    "adr": ("add", "list"),
    "learning": ("add", "list", "show", "search", "update", "supersede", "vote"),
}
"""Kind → the tools that have a name for it alone: `orbit.learning.add`.

Those of `orbit.` alone serve every kind.
"""


def tools(kinds: KindTable, *, running: bool = False) -> dict[str, Tool]:
    """Return the tools that can be called by name, general ones first; `running` includes `run`."""
    table = _table()
    relations = kinds["adr"].schema.document["properties"]["links"]["items"]["properties"]["rel"][
        "enum"
    ]
    lists = {
        "kinds": [kind.name for kind in kinds],
        "writable_kinds": [kind.name for kind in kinds if not kind.in_file],
        "relations": relations,
        "phases": PHASES,
        "orders": ORDERS,
        "budgets": BUDGETS,
        "directions": DIRECTIONS,
        "task_classes": CLASSES,
        "note_skips": NOTE_SKIPS,
    }

    shared = {**table["shared"], "FIELDS": fields_of_any(kinds)}
    everything = {}
    for name, row in table["tools"].items():
        forms = row["arguments"].items()
        properties = {argument: _filled(form, shared, lists) for argument, form in forms}
        everything[name] = _tool(name, row, properties)

    for name, entry in operations_with_tools().items():
        if name not in everything:
            everything[name] = tool_of(entry.load())

    if not running:
        del everything["run"]

    search = everything["search"]
    name = f"{PREFIX}search"
    everything[name] = replace(search, name=name, description="The same as `search`.")
    for kind, verbs in ALIASES.items():
        for verb in verbs if kind in kinds else ():
            alias = _alias(everything[verb], kinds[kind])
            everything[alias.name] = alias

    return everything


@cache
def _table() -> Mapping[str, Any]:
    """Return the words of the tools, those of extras last."""
    table = yaml.table_of(__file__, "tools.yaml")
    tools = dict(table["tools"])
    for file in tool_files():
        added = cast(Mapping[str, Any], yaml.load(file.read_text("utf-8")))
        add(tools, added["tools"], "tool", str(file))

    return {**table, "tools": tools}


def _tool(name: str, row: Mapping[str, Any], properties: Mapping[str, Any]) -> Tool:
    return Tool(
        name,
        row["title"],
        row["description"],
        properties,
        run_of(operations_with_tools()[name].load()),
        row.get("required", ()),
        reads_only=not row.get("writes", False),
        carries=row.get("adds_records", True),
        unlisted=row.get("unlisted", ()),
    )


def _filled(form: Any, shared: Mapping[str, Any], lists: Mapping[str, Any]) -> Any:
    """Return a schema with names replaced by what they mean."""
    if isinstance(form, str):
        return shared[form]

    filled = dict(form)
    if isinstance(form.get("enum"), str):
        filled["enum"] = list(lists[form["enum"]])
    if "enum" in form.get("items", {}):
        filled["items"] = _filled(form["items"], shared, lists)

    return filled


def _alias(tool: Tool, kind: Kind) -> Tool:
    properties = {name: form for name, form in tool.properties.items() if name != "kind"}
    required = [name for name in tool.required if name != "kind"]
    if tool.name == "add":
        del properties["fields"], properties["id"]
        properties = {**own_fields(kind, new=True), **properties}
        required = required_fields(kind)
    elif "fields" in properties:
        properties["fields"] = {
            "type": "object",
            "description": f"Fields as `{PREFIX}{kind.name}.add` takes them.",
        }

    return replace(
        tool,
        name=f"{PREFIX}{kind.name}.{tool.name}",
        title=f"{kind.labels}: {tool.name}",
        properties=properties,
        description=f"`{tool.name}` for {kind.labels.lower()} alone.",
        required=required,
        fixed={"kind": kind.name},
    )


def available_tools(workspace: Workspace | None = None) -> dict[str, Tool]:
    """Return the tools for a project's kinds, or for the shipped kinds without a project."""
    if workspace is None:
        return tools(load_kinds())
    return tools(workspace.kinds, running=may_run(workspace))


def listed_tools(*, aliases: bool = False, workspace: Workspace | None = None) -> list[Tool]:
    """Return the tools that a client lists, with `aliases` those for one kind too."""
    names = {*LISTED, "run"}
    if workspace is not None and workspace.config.setting("loop", "enabled"):
        names.update(OF_THE_LOOP)

    available = available_tools(workspace).items()
    return [
        tool for name, tool in available if name in names or (aliases and name.startswith(PREFIX))
    ]
