"""Records that are added to the result of a tool, for our MCP server and the proxy."""

from time import monotonic, time

from orbit_registry.hook.call import Call, path_words
from orbit_registry.hook.context import Context, Selection, working_project
from orbit_registry.hook.events import Event, append
from orbit_registry.hook.index import NoIndex, open_index
from orbit_registry.hook.payload import take_tool
from orbit_registry.hook.project import project_paths
from orbit_registry.hook.render import render
from orbit_registry.hook.select import select
from orbit_registry.hook.session import tokens
from orbit_registry.model.fields import KIND, PATH
from orbit_registry.model.reach import TOOL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from orbit_registry.hook.index import Index
    from orbit_registry.hook.session import SessionLog

SURFACE = "mcp:sidecar"
MOST_FILES = 20  # most files of a result that are looked up


class Sidecar:
    """Records for a result: `text` for the model, `learnings` as data for its host."""

    def __init__(self, text: str, learnings: "list[dict[str, str]]") -> None:
        self.text, self.learnings = text, learnings


def call_from_arguments(tool: str, arguments: "Mapping[str, object]", folder: str) -> Call:
    """Return the call of a tool; `folder` is where relative paths count from."""
    call = Call("tools/call", TOOL)
    call.folder = folder
    take_tool(call, f"mcp_{tool}", arguments)
    return call


def records_for_result(
    root: str, call: Call, output: str, session_log: "SessionLog | None"
) -> "tuple[Sidecar | None, list[str]]":
    """Return the records for a call and its output, and in what the index is behind the files.

    Of the output's words those count that are files of the project.
    """
    started = monotonic()
    paths, loggable = project_paths(root, call.folder, call)
    spoken = Call(call.event, TOOL)
    spoken.paths_are_heuristic = True
    spoken.candidate_paths = path_words(output)

    more, _ = project_paths(root, root, spoken)
    more = [path for path in more if path not in paths and path[-1:] != "/"][:MOST_FILES]
    paths = paths + more
    loggable = loggable + more
    if not paths:
        return None, []

    index = open_index(root)
    if isinstance(index, NoIndex):
        event = Event(SURFACE, time())
        event.query = loggable
        event.skip_reason = "no index"
        if session_log is not None:
            event.session = session_log.name

        append(root, event)
        return None, [index.reason]

    result = records_for_paths(root, index, paths, session_log, loggable=loggable, started=started)
    return result, index.behind()


def records_for_paths(
    root: str,
    index: "Index",
    paths: "Sequence[str]",
    session_log: "SessionLog | None",
    *,
    loggable: "Sequence[str] | None" = None,
    shown_ids: "Collection[str]" = (),
    returned: "Mapping[str, Sequence[str]] | None" = None,
    agent: str = "",
    started: float | None = None,
) -> Sidecar | None:
    """Return the records for the paths (from the root) of a result, and log the event.

    `loggable` are the paths that may be logged (all, if not given), `shown_ids` those that the
    result already holds, `returned` those of them that are linked, each with its targets; `started`
    is by the monotonic clock.
    """
    if started is None:
        started = monotonic()

    event = Event(SURFACE, time())
    event.query = paths if loggable is None else loggable
    event.agent = agent
    if session_log is not None:
        event.session = session_log.name

    context = Context(TOOL, event.at, paths=paths, returned=returned, project=working_project())
    selection = select(index, context, session_log)
    remaining = [match for match in selection.matches if match.row.id not in shown_ids]
    reason = selection.skip_reason
    if not (reason or remaining or selection.named):
        reason = "already shown"

    displayed = Selection(remaining, selection.omitted, [], reason)
    displayed.is_introduced = selection.is_introduced
    displayed.named = [match for match in selection.named if match.row.id not in shown_ids]
    displayed.withheld = [
        record_id for record_id in selection.withheld if record_id not in shown_ids
    ]

    text = render(displayed)
    event.set_selection(displayed, tokens(text))
    event.ms = (monotonic() - started) * 1000
    append(root, event)
    if not text:
        return None

    learnings = []
    for match in remaining:
        row = match.row
        kind, path = row.values[KIND], row.values[PATH]
        learnings.append({"id": row.id, "kind": kind, "record": path, "text": row.teaser})

    return Sidecar(text, learnings)
