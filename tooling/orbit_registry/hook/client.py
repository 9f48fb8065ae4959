"""Client of the hook: a payload on standard input, a reply or nothing on standard output, always exit code 0.

It must never hold the agent's tool up: it imports built-in modules only, ends at its deadline, and leaves without the
interpreter's shutdown.
"""

import posix
from sys import exc_info
from time import monotonic, time

from orbit_registry.hook.context import CODE, SESSION, TOOL, Context, working_project
from orbit_registry.hook.events import MOMENTS, Event, append
from orbit_registry.hook.index import FORBIDDEN, ID, OPTIONS, NoIndex, open_index
from orbit_registry.hook.payload import parse_json
from orbit_registry.hook.project import HOSTS, note_host_session, pending_count, project_paths, project_root, prune
from orbit_registry.hook.render import render
from orbit_registry.hook.select import error_matches, select
from orbit_registry.hook.session import FAILED, FOLDER, SessionLog, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from signal import ITIMER_REAL, SIGALRM, setitimer, signal
    from typing import Protocol

    from orbit_registry.hook.call import Call, Payload

    class AgentModule(Protocol):
        """Functions of an agent's file that the hook calls."""

        def read(self, payload: Payload) -> Call | None:
            """Return the call of a payload; None for an event that is not handled."""

        def reply(self, call: Call, text: str) -> str:
            """Return the reply with a text for the agent and `call.message` for the person; one may be empty."""
else:
    try:
        from _signal import ITIMER_REAL, SIGALRM, setitimer, signal  # the other one makes enumerations at its import
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
        self.noted = self.printing = self.printed = False
        self.event.agent = agent
        self.agent = load_agent(agent)

    def run(self) -> None:
        """Read the payload, print the reply, log the event, and start a sync if the index is stale."""
        signal(SIGALRM, self._late)
        setitimer(ITIMER_REAL, self.deadline, self.deadline)
        content = _input()
        event = self.event
        if content is None:
            event.skip_reason = "too large"
            return
        event.fault = "payload"
        call = self.agent.read(_parsed(content))
        event.fault = ""
        if call is None:
            self.noted = True  # an event that we don't handle
            return
        here = call.folder if call.folder.startswith("/") else posix.getcwd()
        root = self.root = project_root(here) or _named_root()
        if root is None:
            self.noted = True
            return
        event.surface = f"hook:{call.event}"
        event.command, event.tests, event.has_failed = call.command, "test" in call.purposes, bool(call.error)
        event.writes = call.surface == TOOL and call.task_class == CODE
        paths, event.query = project_paths(root, call.folder or here, call)
        session_log = _PrintingSessionLog(root, call.session, call.agent_id, self) if call.session else None
        if session_log is not None:
            event.session = session_log.name
        behind = self._answer(root, call, paths, session_log)
        if not self.noted:
            self._note()
        if session_log is not None and (call.paths_are_heuristic or call.surface != TOOL):  # it may start our commands
            note_host_session(root, call.session, call.agent_id)
        if call.surface == SESSION:
            for folder in (FOLDER, HOSTS):
                prune(root, self.event.at, "log", folder)
        if call.transcript:
            from orbit_registry.hook.refresh import capture  # a session ends once

            capture(root, event.agent, call.transcript)
        if behind:
            from orbit_registry.hook.refresh import refresh  # most calls find an index that is not behind

            refresh(root, behind)

    def close(self, error: BaseException | None) -> None:
        """Log what was not logged yet, and the kind of an error; never its text, which may be private."""
        if not self.noted:
            if error is not None:
                self.event.fault = self.event.fault or type(error).__name__
            self._note()

    def _answer(
        self, root: str, call: "Call", paths: list[str], session_log: "_PrintingSessionLog | None"
    ) -> list[str]:
        """Print the reply; return in what the index is behind the files."""
        event = self.event
        try:
            if session_log is not None and call.context_was_compacted:
                session_log.forget(AFTERWARDS if call.compaction_may_repeat else 0)
            if call.log_only_event:
                event.name = call.log_only_event
                if call.log_only_event == MOMENTS[0] and session_log is not None:
                    from orbit_registry.hook.observe import note_turn

                    note_turn(root, event)
                if call.instruction_file:
                    from orbit_registry.hook.observe import note_loaded

                    event.opened = note_loaded(root, call.instruction_file, session_log)
                    self.noted = not event.opened  # not one of our rule files
                if call.is_stop and session_log is not None and not call.agent_id:
                    from orbit_registry.hook.observe import stop_question  # a session stops seldom

                    text = stop_question(root, session_log)
                    if text:
                        self._print(self.agent.reply(call, text))
                return []
            if call.error and session_log is not None:
                session_log.mark(FAILED)
            if call.can_show_message and (number := pending_count(root)):
                waiting = "1 record awaits" if number == 1 else f"{number} records await"
                call.message = f"{waiting} review: orbit review"
            is_request = paths or call.error or call.text or call.purposes or call.arguments
            if is_request or call.surface == SESSION:
                text, behind = self._chosen(root, call, paths, session_log)
            else:
                event.skip_reason, text, behind = "nothing asked", "", []
        except OSError:
            event.fault = "ledger"
            return []
        if text or call.message:
            self._print(self.agent.reply(call, text))
        return behind

    def _print(self, reply: str) -> None:
        self.printed = True
        posix.write(1, reply.encode())

    def _chosen(
        self, root: str, call: "Call", paths: list[str], session_log: "_PrintingSessionLog | None"
    ) -> tuple[str, list[str]]:
        event = self.event
        index = open_index(root)
        if call.reads:
            from orbit_registry.hook.observe import opened_ids

            event.opened = opened_ids(root, call, index, session_log)
        if isinstance(index, NoIndex):
            event.skip_reason = "no index"
            return "", [index.reason]
        if call.can_show_message and index.unread:
            text = f"{index.unread} record{'' if index.unread == 1 else 's'} could not be read: run orbit check"
            call.message = f"{call.message}\n{text}" if call.message else text
        context = context_of(call, paths, event.at)
        edit = (call.arguments, paths[0] if paths else "", root, call.folder or root)
        if call.arguments and index.lookup(OPTIONS)[0]:
            from orbit_registry.hook.rejected_options import added_names  # only where decisions reject something

            context.names = added_names(*edit)
        if call.arguments and index.lookup(FORBIDDEN)[1]:
            from orbit_registry.hook.forbidden_words import forbidden  # only where checks forbid words

            context.breaks = forbidden(index, *edit)
        chosen = select(index, context, session_log)
        if call.error:
            rows = (index.row(number) for number, _ in error_matches(index, call.error))
            event.failed = [row.values[ID] for row in rows if row is not None][:MOST_FAILED]
        if index.damaged:
            event.fault = "index"
        text, cost = render(chosen), 0
        if text:
            cost = tokens(text)
        event.set_selection(chosen, cost)
        return text, index.behind()

    def _late(self, number: int, frame: object) -> None:
        if self.printing and monotonic() - self.started < 2 * self.deadline:
            return  # what is noted as shown is being printed
        if not self.noted:
            self.event.skip_reason = "deadline"
            self._note()
        posix._exit(0)

    def _note(self) -> None:
        self.noted = True
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
    return project_root(posix.environ.get(b"CLAUDE_PROJECT_DIR", b"").decode("utf-8", "surrogateescape"))


def load_agent(name: str) -> "AgentModule":
    """Return the file of an agent, the only one of its kind that a call loads."""
    module: AgentModule = __import__(f"orbit_registry.agents.{name}", None, None, ["read"])
    return module


class _PrintingSessionLog(SessionLog):
    """Session log that keeps the deadline from ending the process between noting and printing."""

    def __init__(self, root: str, session: str, agent: str, dispatch: HookCall) -> None:
        super().__init__(root, session, agent)
        self._dispatch = dispatch

    def add(self, ids: list[str], titled: "Sequence[str]" = ()) -> None:
        self._dispatch.printing = True
        super().add(ids, titled)


def _parsed(content: bytes) -> "dict[str, object]":
    payload = parse_json(content.decode("utf-8"))
    if not isinstance(payload, dict):
        raise ValueError("no object")
    return payload


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
    return min(int(setting), 60_000) / 1000 if setting.isdigit() and len(setting) < 9 else DEADLINE_MS / 1000
