"""Says what goes beside the result of a tool: the records for the files it was asked about, or speaks of.

A server's own tools and whoever stands between a server and its client ask here; `push.select` chooses. The event it
writes holds no word of a result but those that name a file of the project. Built-in modules only.
"""

from time import monotonic, time

from orbit_registry.hook.call import Call
from orbit_registry.hook.caps import tokens
from orbit_registry.hook.context import TOOL, Context, Selection, working_project
from orbit_registry.hook.dialects import take_tool
from orbit_registry.hook.events import Event, append
from orbit_registry.hook.index import ID, KIND, PATH, NoIndex, open_index
from orbit_registry.hook.project import project_paths
from orbit_registry.hook.render import render
from orbit_registry.hook.select import select
from orbit_registry.hook.words import words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from orbit_registry.hook.index import Index
    from orbit_registry.hook.session import Ledger

SURFACE = "mcp:sidecar"
MOST_FILES = 20
"""Files that a result speaks of; those beyond are not asked about."""


class Sidecar:
    """Records beside a result: `text` for the model (a block of notes), `learnings` as data for its host."""

    __slots__ = ("learnings", "text")

    def __init__(self, text: str, learnings: "list[dict[str, str]]") -> None:
        self.text, self.learnings = text, learnings


def asked_of(tool: str, arguments: "Mapping[str, object]", folder: str) -> Call:
    """Return what a tool is called with, its paths as they were written; `folder` is where relative ones count from."""
    call = Call("tools/call", TOOL)
    call.folder = folder
    take_tool(call, f"mcp_{tool}", arguments)
    return call


def for_result(root: str, call: Call, output: str, ledger: "Ledger | None") -> "tuple[Sidecar | None, list[str]]":
    """Return what goes beside the result of a call, and in what the index is behind the files.

    `output` is the result's text: of its words those count that are files of the project.

    Raises:
        OSError: what the session was shown can't be kept; nothing may be shown then.
    """
    begun = monotonic()
    paths, written = project_paths(root, call.folder, call)
    spoken = Call(call.event, TOOL)
    spoken.guessed = True
    spoken.maybe = words_of(output)
    more, _ = project_paths(root, root, spoken)
    more = [path for path in more if path not in paths and path[-1:] != "/"][:MOST_FILES]
    paths, written = paths + more, written + more
    if not paths:
        return None, []
    index = open_index(root)
    if isinstance(index, NoIndex):
        event = Event(SURFACE, time())
        event.query, event.skip_reason = written, "no index"
        event.session = ledger.name if ledger is not None else ""
        append(root, event)
        return None, [index.reason]
    found = beside(root, index, paths, ledger, written=written, begun=begun)
    return found, index.behind()


def beside(
    root: str,
    index: "Index",
    paths: "Sequence[str]",
    ledger: "Ledger | None",
    *,
    written: "Sequence[str] | None" = None,
    shown: "Collection[str]" = (),
    returned: "Mapping[str, Sequence[str]] | None" = None,
    agent: str = "",
    begun: float | None = None,
) -> Sidecar | None:
    """Return what goes beside a result that has to do with paths (from the root), and write the event.

    `written` are those of the paths that may be written down; all, if not given. `shown` are ids that the result holds
    already, `returned` those of them that are linked, each with what to; `agent` is the program that asks, where it is
    known; `begun` is when the work began, by the monotonic clock.

    Raises:
        OSError: as `for_result`.
    """
    start = monotonic() if begun is None else begun
    event = Event(SURFACE, time())
    event.query = paths if written is None else written
    event.session = ledger.name if ledger is not None else ""
    event.agent = agent
    found = select(index, Context(TOOL, event.at, paths=paths, returned=returned, project=working_project()), ledger)
    kept = [one for one in found.matches if one.row.values[ID] not in shown]
    told = Selection(kept, found.omitted, [], found.skip_reason or ("" if kept else "already shown"))
    told.withheld = [one for one in found.withheld if one not in shown]
    text = render(told)
    event.answered(told, tokens(text))
    event.ms = (monotonic() - start) * 1000
    append(root, event)
    if not kept:
        return None
    learnings = [
        {"id": row.values[ID], "kind": row.values[KIND], "record": row.values[PATH], "text": row.teaser}
        for row in (one.row for one in kept)
    ]
    return Sidecar(text, learnings)
