"""Client of the hook: a payload on standard input, a reply or nothing on standard output.

Its exit code is always 0. It must never hold the agent's tool up: it imports built-in modules
only, ends at its deadline, and leaves without the interpreter's shutdown.
"""

import posix
from sys import exc_info
from time import monotonic, time

from orbit_registry.hook.context import Context, working_project
from orbit_registry.hook.environment import variable
from orbit_registry.hook.events import Event, append
from orbit_registry.hook.index import DAMAGE, FORBIDDEN, OPTIONS, NoIndex, open_index
from orbit_registry.hook.payload import parse_json
from orbit_registry.hook.project import (
    HOSTS,
    note_host_session,
    pending_count,
    project_paths,
    project_root,
    prune,
)
from orbit_registry.hook.render import render
from orbit_registry.hook.select import error_matches, select
from orbit_registry.hook.session import FAILED, FOLDER, LATE, SessionLog, tokens
from orbit_registry.model.reach import CODE, SESSION, TOOL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from signal import ITIMER_REAL, SIGALRM, setitimer, signal
    from types import ModuleType

    from orbit_registry.hook.call import Call
    from orbit_registry.hook.context import Match
    from orbit_registry.hook.index import Index
else:
    try:
        # The other module makes enumerations at its import.
        from _signal import ITIMER_REAL, SIGALRM, setitimer, signal
    except ImportError:
        from signal import ITIMER_REAL, SIGALRM, setitimer, signal

LARGEST = 5_000_000  # most bytes of a payload
DEADLINE_MS = 150
MOST_FAILED = 20
AFTERWARDS = 600  # seconds between two events about one compaction
DEADLINE = b"ORBIT_HOOK_DEADLINE_MS"


def main(arguments: list[str]) -> None:
    """Answer one call of an agent's hook, and end the process."""
    try:
        dispatch = HookCall(arguments[0])
        try:
            dispatch.run()
        finally:  # whatever a broken payload, a damaged index or a full disk raised
            dispatch.close(exc_info()[1])
    finally:
        posix._exit(0)


class HookCall:
    """One run of the hook, with the event that is logged wherever the deadline ends it."""

    def __init__(self, agent: str) -> None:
        self.started = monotonic()
        self.deadline = _deadline()
        self.root: str | None = None
        self.event = Event("hook", time())
        self.is_noted = False
        self.session_log: SessionLog | None = None
        self.event.agent = agent
        self.agent = load_agent(agent)

    def run(self) -> None:
        """Read the payload, print the reply, log the event, start a sync if the index is stale."""
        signal(SIGALRM, self._late)
        setitimer(ITIMER_REAL, self.deadline, self.deadline)
        content = _input()
        event = self.event
        if content is None:
            event.skip_reason = "too large"
            return

        event.fault = "payload"
        payload = parse_json(content.decode("utf-8"))
        if not isinstance(payload, dict):
            return

        call = self.agent.read(payload)
        event.fault = ""
        if call is not None and call.folder.startswith("/"):
            here = call.folder
        else:
            here = posix.getcwd()

        root = self.root = project_root(here) or _named_root() or _root_of_files(call)
        if call is None or root is None:
            self.is_noted = True  # an event that we don't handle, or no project
            return

        event.surface = f"hook:{call.event}"
        event.command = call.command
        event.tests = "test" in call.purposes
        event.has_failed = bool(call.error)
        event.writes = call.surface == TOOL and call.task_class == CODE
        paths, event.query = project_paths(root, call.folder or here, call)

        if call.session:
            self.session_log = SessionLog(root, call.session, call.agent_id)
            event.session = self.session_log.name

        behind = self._answer(root, call, paths)
        if not self.is_noted:
            self._note()

        self._follow_up(root, call, behind)

    def _follow_up(self, root: str, call: "Call", behind: list[str]) -> None:
        """Do what can wait until the reply is printed."""
        may_start_commands = call.paths_are_heuristic or call.surface != TOOL
        if call.session and may_start_commands:
            note_host_session(root, call.session, call.agent_id)

        if call.surface == SESSION:
            for folder in (FOLDER, HOSTS):
                prune(root, self.event.at, "log", folder)

        if call.transcript:
            from orbit_registry.hook.refresh import capture  # a session ends once

            capture(root, self.event.agent, call.transcript)

        if behind:
            # Most calls find an index that is not behind.
            from orbit_registry.hook.refresh import refresh

            refresh(root, behind)

    def close(self, error: BaseException | None) -> None:
        """Log what was not logged yet, and an error by its kind: its text may be private."""
        if self.is_noted:
            return
        if error is not None and not self.event.fault:
            self.event.fault = type(error).__name__

        self._note()

    def _answer(self, root: str, call: "Call", paths: list[str]) -> list[str]:
        """Print the reply; return in what the index is behind the files."""
        event, session_log = self.event, self.session_log
        behind: list[str] = []
        try:
            if session_log is not None and call.context_was_compacted:
                session_log.forget(AFTERWARDS if call.compaction_may_repeat else 0)
            if session_log is not None and call.error:
                session_log.mark(FAILED)

            if call.log_only_event:
                from orbit_registry.hook.observe import observe

                text = observe(root, call, event, session_log)
                is_foreign_file = bool(call.instruction_file) and not event.opened
                self.is_noted = is_foreign_file  # only our rule files are logged
            else:
                text, behind = self._chosen(root, call, paths)
        except OSError:
            event.fault = "ledger"
            return []
        except DAMAGE:
            event.fault = "index"
            return ["damaged"]

        if text or call.message:
            posix.write(1, self.agent.reply(call, text).encode())

        return behind

    def _chosen(self, root: str, call: "Call", paths: list[str]) -> tuple[str, list[str]]:
        event = self.event
        if call.can_show_message and (number := pending_count(root)):
            records = "record awaits" if number == 1 else "records await"
            call.message = f"{number} {records} review: orbit review"

        is_request = paths or call.error or call.text or call.purposes or call.arguments
        if not is_request and call.surface != SESSION:
            event.skip_reason = "nothing asked"
            return "", []

        index = open_index(root)
        if call.reads:
            from orbit_registry.hook.observe import opened_ids

            event.opened = opened_ids(root, call, index, self.session_log)

        if isinstance(index, NoIndex):
            event.skip_reason = "no index"
            self._note_missed(call, paths)
            return "", [index.reason]

        if call.can_show_message and index.unread:
            records = "record" if index.unread == 1 else "records"
            text = f"{index.unread} {records} could not be read: run orbit check"
            call.message = f"{call.message}\n{text}" if call.message else text

        context = context_of(call, paths, event.at)
        if call.arguments:
            self._add_edit(root, call, index, context)

        if call.error:
            failed = [index.row(number).id for number, _ in error_matches(index, call.error)]
            event.failed = failed[:MOST_FAILED]

        contexts = [context]
        if call.surface != SESSION:
            contexts = [*self._missed(call), context]

        return self._shown(index, contexts), index.behind()

    def _shown(self, index: "Index", contexts: list[Context]) -> str:
        """Return the text for some requests, which share the caps of one reply."""
        text = ""
        shown: list[Match] = []
        for context in contexts:
            context.earlier, context.earlier_tokens = shown, tokens(text)
            selection = select(index, context, self.session_log)
            text = "\n".join(filter(None, (text, render(selection))))
            shown = [*shown, *selection.matches]
            self.event.set_selection(selection, tokens(text))

        return text

    def _note_missed(self, call: "Call", paths: list[str]) -> None:
        """Note in the session what it did not get, so that its next call shows it."""
        if self.session_log is None:
            return
        if call.surface == SESSION:
            self.session_log.mark(LATE)
        elif self.event.query:
            writes_code = context_of(call, paths, self.event.at).writes_code
            self.session_log.note_missed(self.event.query, writes_code=writes_code)

    def _missed(self, call: "Call") -> list[Context]:
        """Return, once, what the session would have asked for if there had been an index."""
        session_log = self.session_log
        if session_log is None or not session_log.is_begun():
            return []

        is_late, writes_code = session_log.take_missed()
        project, at = working_project(), self.event.at
        missed: list[Context] = []
        if is_late:
            missed.append(Context(SESSION, at, agent=call.agent, project=project))

        for task_class in (CODE, ""):
            paths = [path for path, writes in writes_code.items() if writes == bool(task_class)]
            if paths:
                request = Context(TOOL, at, paths=paths, agent=call.agent, task_class=task_class)
                request.project = project
                missed.append(request)

        return missed

    def _add_edit(self, root: str, call: "Call", index: "Index", context: Context) -> None:
        """Add what a tool that writes or installs puts into the project."""
        path = context.paths[0] if context.paths else ""
        edit = (call.arguments, path, root, call.folder or root)
        if index.has(OPTIONS):
            # Only where decisions reject something.
            from orbit_registry.hook.rejected_options import added_names

            context.names = added_names(*edit)

        if index.has(FORBIDDEN):
            # Only where checks forbid words.
            from orbit_registry.hook.forbidden_words import forbidden

            context.breaks = forbidden(index, *edit)

    def _late(self, number: int, frame: object) -> None:
        is_printing = self.session_log is not None and self.session_log.is_noting
        if is_printing and monotonic() - self.started < 2 * self.deadline:
            return  # what is noted as shown is being printed

        if not self.is_noted:
            self.event.skip_reason = "deadline"
            self._note()

        posix._exit(0)

    def _note(self) -> None:
        self.is_noted = True
        self.event.ms = (monotonic() - self.started) * 1000
        root = self.root or project_root(posix.getcwd()) or _named_root()
        if root is not None:
            append(root, self.event)


def context_of(call: "Call", paths: list[str], at: float) -> Context:
    """Return the request of a call; `at` is in seconds since 1970."""
    return Context(
        call.surface,
        at,
        paths=paths,
        agent=call.agent,
        task_class=call.task_class,
        text=call.text,
        error=call.error,
        purposes=call.purposes,
        project=working_project(),
    )


def _named_root() -> str | None:
    return project_root(variable(b"CLAUDE_PROJECT_DIR"))


def _root_of_files(call: "Call | None") -> str | None:
    """Return the project of a file that is named from the file system's root: an agent may have
    been started above it.
    """
    paths = call.paths if call is not None else []
    files = [path for path in paths if path.startswith("/")]
    roots = map(project_root, (path.rpartition("/")[0] for path in files))
    return next(filter(None, roots), None)


def load_agent(name: str) -> "ModuleType":
    """Return the file of an agent, the only one of its kind that a call loads."""
    module: ModuleType = __import__(f"orbit_registry.agents.{name}", None, None, ["read"])
    return module


def _input() -> bytes | None:
    parts: list[bytes] = []
    length = 0
    while part := posix.read(0, 1 << 16):
        parts.append(part)
        length += len(part)
        if length > LARGEST:
            return None

    return b"".join(parts)


def _deadline() -> float:
    """Return the deadline in seconds; `ORBIT_HOOK_DEADLINE_MS` is for slow machines and tests."""
    setting = posix.environ.get(DEADLINE, b"")
    if setting.isdigit() and len(setting) < 9:
        return min(int(setting), 60_000) / 1000

    return DEADLINE_MS / 1000
