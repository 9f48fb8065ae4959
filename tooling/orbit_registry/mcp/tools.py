"""Table of the MCP tools: names, arguments, and what each runs."""

from collections.abc import Mapping
from dataclasses import replace

from orbit_registry.briefs.task_class import CLASSES
from orbit_registry.hook.events import NOTE_SKIPS
from orbit_registry.mcp import read_tools, write_tools
from orbit_registry.mcp.tool import (
    ID,
    LONGEST,
    PATHS,
    TAGS,
    TASK,
    Tool,
    choice,
    fields_of_any,
    number,
    own_fields,
    required_fields,
    text,
    truth,
    words,
)
from orbit_registry.mcp.write_tools import may_run
from orbit_registry.model.ids import DIRECTIONS
from orbit_registry.model.kind import PHASES, Kind, KindTable, load_kinds
from orbit_registry.render.records import ORDERS
from orbit_registry.search.query import BUDGETS
from orbit_registry.workspace.workspace import Workspace

PREFIX = "orbit."
LISTED = ("search", "show", "match", "brief", "add", "vote", "note", "fail", "retro", "queue", "run")
"""The tools that a client lists; a call may name any other too."""
ALIASES: Mapping[str, tuple[str, ...]] = {
    "adr": ("add", "list"),
    "learning": ("add", "list", "show", "search", "update", "supersede", "vote"),
}
"""Kind → the tools that have a name for it alone: `orbit.learning.add`. Those of `orbit.` alone serve every kind."""
_CONFIRM = truth("Write it; without this the call shows the nearest records and writes nothing.")
_PROJECT = text("The project, if the repository has several.", 200)
_LIMIT = number("Maximum number.", 20, 100)
_ALL = truth("Also records that wait for review or are closed.")
_PURPOSE = choice("prompt: for a task; plan: for planning the next run.", "prompt", "plan")
_RELATED = Tool(
    "related", "Related records",
    "List what is related to a record: links from and to it, and what texts cite.",
    {"id": ID, "depth": number("Links away at most.", 1, 5),
     "direction": choice("Links from it, or links to it.", *DIRECTIONS)},
    read_tools.related, ["id"],
)  # fmt: skip
_MATCH = Tool(
    "match", "Records for paths",
    "List the records that apply to files or tags, with the glob that matches. Call it before you change a "
    "file; with `new_text` it also says which decisions that text breaks.",
    {"paths": PATHS, "new_text": text("The whole new text of one file.", LONGEST),
     "tags": TAGS, "task": TASK, "project": _PROJECT, "all": _ALL, "limit": _LIMIT},
    read_tools.match,
)  # fmt: skip
_CHECK_TEXT = Tool(
    "check_text", "Check a text",
    "Say which decisions a text breaks. Call it before you write the file.",
    {"path": text("The file, from the root."), "text": text("Its new text.", LONGEST)},
    read_tools.check_text, ["path", "text"],
)  # fmt: skip
_QUERY = Tool(
    "query", "Ask in SQL",
    "Ask the snapshot of all records one SQL question (DuckDB, read only). Tables: records, scope_globs, tags, links, "
    "evidence, legacy_ids, votes, freshness; views: vote_ranking, system_knowledge; macros: scope_match(path), "
    "search(text), ranked(), resolve_id(id). `DESCRIBE records` names columns.",
    {
        "sql": text("One SELECT.", 10_000),
        "limit": number("Maximum number of rows.", 100, 1_000),
        "seconds": {"type": "number", "exclusiveMinimum": 0, "maximum": read_tools.MOST_SECONDS,
                    "default": read_tools.USUAL_SECONDS, "description": "Time limit."},
    },
    read_tools.query, ["sql"], carries=False,
)  # fmt: skip
_WORK = (
    Tool(
        "note", "Note on work",
        "Note how a piece of work went, once at its end. After failed attempts it suggests what is worth keeping.",
        {"text": text("What happened, in a sentence or two.", 4_000),
         "attempts": number("How often it was tried.", 1, 1_000),
         "errors": truth("There were errors on the way."), "failed": truth("It was given up."),
         "skip_reason": choice("Why there is nothing to note.", *NOTE_SKIPS), "task": TASK, "paths": PATHS,
         "tags": TAGS},
        write_tools.note, reads_only=False,
    ),
    Tool(
        "fail", "Mark a failed target",
        "Mark a target that failed after its last attempt, so that it is not retried for a week.",
        {"target": text("type:project:id, or type:id.", 300),
         "reason": text("Why it failed.", 4_000),
         "attempts": number("Attempts so far.", None, 1_000), "paths": PATHS},
        write_tools.fail, ["target", "reason"], reads_only=False,
    ),
    Tool(
        "retro", "Retro of a run",
        "Record the outcome of a loop, a session or an incident; it waits for a person's review.",
        {"loop": text("The loop's id."), "session": text("The session's id."),
         "incident": text("The failure's id or target."), "project": _PROJECT,
         "summary": text("What happened.", 4_000),
         "worked": words("What worked."), "struggled": words("What did not work."),
         "durable_behavior": words("What will be done differently."), "recommendations": words("What should change."),
         "outcomes": {"type": "array", "maxItems": 500, "description": "Results of targets.", "items": {
             "type": "object", "additionalProperties": False, "required": ["target", "result"], "properties": {
                 "target": text("type:project:id."), "reason": text("Why."),
                 "attempts": number("Attempts.", None, 1_000),
                 "result": choice("Its result.", "completed", "failed", "skipped", "requeued"),
                 "tools": words("Tools used.")}}}},
        write_tools.retro, reads_only=False,
    ),
)  # fmt: skip
_RUN = Tool(
    "run", "Run a script",
    "Run a script that is a resource, if it is what was reviewed and committed; returns the exit code and the end of "
    "its output.",
    {
        "id": ID,
        "arguments": words("Arguments of the script."),
        "seconds": {"type": "number", "exclusiveMinimum": 0, "maximum": 600, "default": 60,
                    "description": "Time limit."},
    },
    write_tools.run_script, ["id"], reads_only=False,
)  # fmt: skip


def tools(kinds: KindTable, *, running: bool = False) -> dict[str, Tool]:
    """Return the tools that can be called by name, general ones first; `running` includes `run`."""
    run = [_RUN] if running else []
    general = {tool.name: tool for tool in (*_reading_tools(kinds), *_writing_tools(kinds), *_WORK, *run)}
    named_tools = [
        _alias(general[verb], kinds[kind]) for kind, verbs in ALIASES.items() if kind in kinds for verb in verbs
    ]
    everywhere = replace(general["search"], name=f"{PREFIX}search", description="The same as `search`.")
    return {**general, **{tool.name: tool for tool in (everywhere, *named_tools)}}


def _reading_tools(kinds: KindTable) -> list[Tool]:
    of_kind = choice("Only of this kind.", *(kind.name for kind in kinds))
    return [
        Tool(
            "search", "Search records",
            "Find records by words, the best first: id, score, title, snippet. `show` has the whole text.",
            {
                "query": text("Words to look for; without it, all in scope are listed."),
                "kind": of_kind, "tags": TAGS,
                "path": text("Only records that apply to this file, a path from the root."),
                "versions": text("Only records for these versions: `2,3`."),
                "context_tags": text("Tags that weigh more: `reviewer,network=1.5`."),
                "budget": choice("How deep to look.", *BUDGETS),
                "limit": number("Maximum number.", None, 50), "all": _ALL,
            },
            read_tools.search,
        ),
        Tool(
            "list", "List records",
            "List records in short: id, kind, status and title.",
            {
                "kind": of_kind, "status": text("Only with this status.", 100),
                "phases": {"type": "array", "items": choice("A phase.", *PHASES), "maxItems": 3,
                           "description": "Pending, live or closed; without it, all but closed."},
                "tags": TAGS, "feature": text("Only of this feature."), "task": TASK,
                "legacy_id": text("Only the record that had this id before.", 300),
                "sort": choice("Most voted for, changed last, or by id.", *ORDERS),
                "limit": number("Maximum number.", 50, 200),
                "offset": number("Number of records to skip.", 0, 1_000_000, 0),
            },
            read_tools.list_records,
        ),
        Tool("show", "Show a record", "Show a record or, by `ID#CODE`, one chunk; says if it is stale.", {"id": ID},
             read_tools.show, ["id"]),
        _RELATED,
        _MATCH,
        _CHECK_TEXT,
        Tool(
            "brief", "Brief for a task",
            "Get the records for a task before you begin: at most five and 1,000 tokens, none twice in a session. "
            "Call it once a task, with the files and the words of the task.",
            {
                "paths": PATHS, "tags": TAGS,
                "text": text("The task in words.", 20_000), "task": TASK,
                "agent": text("Your role; its categories select learnings.", 100),
                "project": _PROJECT,
                "task_class": choice("The kind of work; without it, worked out from the words.", *CLASSES),
                "purpose": _PURPOSE,
            },
            read_tools.brief, carries=False,
        ),
        _QUERY,
        Tool("queue", "What waits for review", "List what waits for a person's review.", {"kind": of_kind},
             read_tools.queue),
    ]  # fmt: skip


def _writing_tools(kinds: KindTable) -> list[Tool]:
    fields = fields_of_any(kinds)
    writable = choice("Kind of the record.", *(kind.name for kind in kinds if not kind.in_file))
    same = {"type": "object", "description": "Fields as `add` takes them, by the record's kind."}
    rels = kinds["adr"].schema.document["properties"]["links"]["items"]["properties"]["rel"]["enum"]
    twice = "The first call shows the nearest records and the vote that would strengthen one; call again to write."
    return [
        Tool(
            "add", "Propose a record",
            "Propose a new record or a change; give `kind` or `id`. With `id` a record that waits is changed, an "
            f"accepted one gets a proposed successor, a decision by its whole `body`. A person reviews it. {twice}",
            {"kind": writable, "id": text("Instead of `kind`: the record to change.", 300),
             "fields": fields, "task": TASK, "confirm": _CONFIRM,
             "distinct_from": words("Records that look alike but differ; also confirms.")},
            write_tools.add, ["fields"], reads_only=False,
        ),
        Tool(
            "update", "Change a record",
            f"Change fields of a record that waits, or propose another in place of an accepted one. {twice}",
            {"id": ID, "fields": same, "confirm": _CONFIRM},
            write_tools.update, ["id", "fields"], reads_only=False,
        ),
        Tool(
            "supersede", "Propose a replacement",
            "Propose that another record replaces an accepted one: `by` is one that waits for review, or "
            f"`fields` are those of a new one. A person closes the old one. {twice}",
            {"id": ID, "by": ID, "fields": same, "confirm": _CONFIRM},
            write_tools.supersede, ["id"], reads_only=False,
        ),
        Tool(
            "vote", "Vote for a record",
            "Say that an accepted record helped in a task; the same voter counts once a task.",
            {"id": ID, "task": TASK, "model": text("Your model's name.", 200)},
            write_tools.vote, ["id", "task"], reads_only=False,
        ),
        Tool(
            "link", "Link records",
            "Link a record that waits for review to another.",
            {"id": ID, "rel": choice("Relation to the other record.", *rels), "to": ID},
            write_tools.link, ["id", "rel", "to"], reads_only=False,
        ),
    ]  # fmt: skip


def _alias(tool: Tool, kind: Kind) -> Tool:
    properties = {name: form for name, form in tool.properties.items() if name != "kind"}
    required = [name for name in tool.required if name != "kind"]
    if tool.name == "add":
        del properties["fields"], properties["id"]
        properties = {**own_fields(kind, new=True), **properties}
        required = required_fields(kind)
    elif "fields" in properties:
        properties["fields"] = {"type": "object", "description": f"Fields as `{PREFIX}{kind.name}.add` takes them."}
    return replace(
        tool, name=f"{PREFIX}{kind.name}.{tool.name}", title=f"{kind.labels}: {tool.name}", properties=properties,
        description=f"`{tool.name}` for {kind.labels.lower()} alone.", required=required, fixed={"kind": kind.name},
    )  # fmt: skip


def available_tools(workspace: Workspace | None = None) -> dict[str, Tool]:
    """Return the tools for a project's kinds, or for the shipped kinds without a project."""
    if workspace is None:
        return tools(load_kinds())
    return tools(workspace.kinds, running=may_run(workspace))


def listed_tools(*, aliases: bool = False, workspace: Workspace | None = None) -> list[Tool]:
    """Return the tools that a client lists, with `aliases` those for one kind too."""
    available = available_tools(workspace).items()
    return [tool for name, tool in available if name in LISTED or (aliases and name.startswith(PREFIX))]
