"""Client of the hook: a payload on standard input, a reply or nothing on standard output, always
exit code 0.

It must never hold the agent's tool up: it imports built-in modules only, ends at its deadline, and
leaves without the interpreter's shutdown.
"""

import posix
from sys import exc_info
from time import monotonic, time

from orbit_registry.hook.context import CODE, SESSION, TOOL, Context, working_project
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
from orbit_registry.hook.session import FAILED, FOLDER, SessionLog, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from signal import ITIMER_REAL, SIGALRM, setitimer, signal
    from types import ModuleType

    from orbit_registry.hook.call import Call
else:
    try:
        from _signal import (
            ITIMER_REAL,
            SIGALRM,
            setitimer,
            signal,
        )  # the other one makes enumerations at its import
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
        """Read the payload, print the reply, log the event,
        and start a sync if the index is stale.
        """
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
        here = call.folder if call is not None and call.folder.startswith("/") else posix.getcwd()
        root = self.root = project_root(here) or _named_root()

        if call is None or root is None:
            self.is_noted = True  # an event that we don't handle, or no project
            return

        event.surface = f"hook:{call.event}"
        event.command, event.tests, event.has_failed = (
            call.command,
            "test" in call.purposes,
            bool(call.error),
        )

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
        if call.session and (
            call.paths_are_heuristic or call.surface != TOOL
        ):  # it may start our commands
            note_host_session(root, call.session, call.agent_id)

        if call.surface == SESSION:
            for folder in (FOLDER, HOSTS):
                prune(root, self.event.at, "log", folder)

        if call.transcript:
            from orbit_registry.hook.refresh import capture  # a session ends once

            capture(root, self.event.agent, call.transcript)

        if behind:
            from orbit_registry.hook.refresh import (
                refresh,
            )  # most calls find an index that is not behind

            refresh(root, behind)

    def close(self, error: BaseException | None) -> None:
        """Log what was not logged yet, and the kind of an error;
        never its text, which may be private.
        """
        if not self.is_noted:
            if error is not None:
                self.event.fault = self.event.fault or type(error).__name__
            self._note()

    def _answer(self, root: str, call: "Call", paths: list[str]) -> list[str]:
        """Print the reply; return in what the index is behind the files."""
        event, session_log, behind = self.event, self.session_log, list[str]()
        try:
            if session_log is not None and call.context_was_compacted:
                session_log.forget(AFTERWARDS if call.compaction_may_repeat else 0)
            if session_log is not None and call.error:
                session_log.mark(FAILED)

            if call.log_only_event:
                from orbit_registry.hook.observe import observe

                text = observe(root, call, event, session_log)
                self.is_noted = bool(
                    call.instruction_file and not event.opened
                )  # not one of our rule files
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
            call.message = (
                f"{number} record{' awaits' if number == 1 else 's await'} review: orbit review"
            )

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
            return "", [index.reason]

        if call.can_show_message and index.unread:
            text = (
                f"{index.unread} record{'' if index.unread == 1 else 's'} could not be read: "
                f"run orbit check"
            )
            call.message = f"{call.message}\n{text}" if call.message else text

        context = context_of(call, paths, event.at)
        edit = (call.arguments, paths[0] if paths else "", root, call.folder or root)
        if call.arguments and index.lookup(OPTIONS)[0]:
            from orbit_registry.hook.rejected_options import (
                added_names,
            )  # only where decisions reject something

            context.names = added_names(*edit)

        if call.arguments and index.lookup(FORBIDDEN)[1]:
            from orbit_registry.hook.forbidden_words import (
                forbidden,
            )  # only where checks forbid words

            context.breaks = forbidden(index, *edit)

        selection = select(index, context, self.session_log)

        if call.error:
            event.failed = [index.row(number).id for number, _ in error_matches(index, call.error)][
                :MOST_FAILED
            ]

        text = render(selection)
        event.set_selection(selection, tokens(text))
        return text, index.behind()

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
    return project_root(
        posix.environ.get(b"CLAUDE_PROJECT_DIR", b"").decode("utf-8", "surrogateescape")
    )


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
    return (
        min(int(setting), 60_000) / 1000
        if setting.isdigit() and len(setting) < 9
        else DEADLINE_MS / 1000
    )
