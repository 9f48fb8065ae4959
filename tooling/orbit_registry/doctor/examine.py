"""Examination of a workspace, its hooks and its setup."""

import importlib.metadata
import platform
import shlex
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from orbit_registry.analytics.stats import EventCounter, Tally
from orbit_registry.capture.transcripts import (
    DELIVERY_READERS,
    Delivery,
    deliveries,
    events_by_session,
    without_event,
)
from orbit_registry.errors import GitStoppedError, OrbitError, listed, plural
from orbit_registry.hook.index import MISSING, Index
from orbit_registry.hook.project import index_file
from orbit_registry.install import install as installation
from orbit_registry.install import trial
from orbit_registry.install.install import HookState
from orbit_registry.install.trial import Cost, HookTrial
from orbit_registry.matching.pack import is_whole
from orbit_registry.matching.sync import open_index
from orbit_registry.operations.init import DRIVER, attributes, has_logs, project_files
from orbit_registry.render.records import unread_text
from orbit_registry.repository.reader import read_collection
from orbit_registry.repository.votes import BROKEN
from orbit_registry.review.review import approval_command, queue, without_status
from orbit_registry.snapshot.sync import sync
from orbit_registry.workspace.author import UNKNOWN, current_author
from orbit_registry.workspace.event_log import LoggedEvent, LogScan, log_files, logged_events
from orbit_registry.workspace.journal import unfinished_steps
from orbit_registry.workspace.workspace import Workspace, find_workspace, is_writable

Level = Literal["ok", "warning", "problem"]
LEVELS: tuple[Level, ...] = ("ok", "warning", "problem")
WIDTH = 15  # characters of the longest topic, `derived-missing`


@dataclass(frozen=True, slots=True)
class Finding:
    """Finding with its level; `where` (a path) and `next_step` (a command or hint) may be empty."""

    level: Level
    topic: str
    what: str
    where: str = ""
    next_step: str = ""

    def as_data(self) -> dict[str, object]:
        """Return the finding as JSON shows it."""
        where, step = self.where or None, self.next_step or None
        return {
            "level": self.level,
            "topic": self.topic,
            "what": self.what,
            "where": where,
            "next": step,
        }

    def lines(self) -> list[str]:
        """Return the finding as text."""
        where = f" ({self.where})" if self.where else ""
        lines = [f"{self.level:<8} {self.topic:<{WIDTH}} {self.what}{where}"]
        return [*lines, f"{'':<{9 + WIDTH}} next: {self.next_step}"] if self.next_step else lines


@dataclass(frozen=True, slots=True)
class Report:
    """Findings of one run."""

    findings: Sequence[Finding]

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of findings of each level."""
        return {level: sum(finding.level == level for finding in self.findings) for level in LEVELS}

    @property
    def next_steps(self) -> list[str]:
        """Return the commands to run next, without repeats, for the gravest first."""
        grave = sorted(self.findings, key=lambda finding: -LEVELS.index(finding.level))
        steps = dict.fromkeys(finding.next_step for finding in grave if finding.level != "ok")
        return [step for step in steps if step.startswith("orbit ")]

    def failed(self, *, strict: bool = False) -> bool:
        """Return whether there is a problem, or with `strict` a warning."""
        return bool(self.counts["problem"] or (strict and self.counts["warning"]))

    def as_data(self) -> dict[str, object]:
        """Return the findings as JSON data."""
        return {"counts": self.counts, "findings": [finding.as_data() for finding in self.findings]}

    def text(self) -> str:
        """Return the findings as text."""
        return "\n".join(line for finding in self.findings for line in finding.lines())


LIBRARIES = ("duckdb", "ryaml", "jsonschema-rs", "click", "rich")


def examine_workspace(workspace: Workspace) -> Iterator[Finding]:
    """Yield findings of a workspace; the index is read before anything updates it."""
    yield from _versions()
    yield from _records(workspace)
    yield from _git(workspace)
    yield from _derived(workspace)


def _versions() -> Iterator[Finding]:
    """Yield the versions of Python, this package and its libraries."""
    parts = [f"Python {platform.python_version()}"]
    for name in ("orbit-registry", *LIBRARIES):
        try:
            parts.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            yield Finding(
                "problem",
                "versions",
                f"{name} is not installed",
                sys.prefix,
                "install orbit-registry again",
            )

    yield Finding("ok", "versions", ", ".join(parts), sys.executable)


def _records(workspace: Workspace) -> Iterator[Finding]:
    collection = read_collection(workspace)
    count, orbit = len(collection.records), str(workspace.orbit)
    live = sum(record.phase == "live" and record.status.pushed for record in collection.records)
    waiting, unknown = len(queue(collection.records)), without_status(collection.records)
    message = (
        f"{plural(count, 'record')}: {live} can be shown, {waiting} "
        f"{'waits' if waiting == 1 else 'wait'} for review, "
        f"{len(unknown)} {'has' if len(unknown) == 1 else 'have'} no status stated"
    )

    step = (
        approval_command(unknown)
        if unknown
        else ""
        if live
        else "orbit review"
        if waiting
        else 'orbit adr new "Title"'
    )
    yield Finding("ok", "workspace", message, str(workspace.root), step)

    if unread := unread_text(collection.problems):
        yield Finding("problem", "workspace", unread, orbit, "orbit check")

    torn = sorted(
        {problem.location.path for problem in collection.problems if problem.code == BROKEN}
    )
    if torn:
        yield Finding(
            "warning",
            "workspace",
            f"lines of {', '.join(torn)} are not votes",
            orbit,
            "orbit check",
        )

    if unfinished_steps(workspace):
        message, step = (
            "a change was begun and not finished",
            "any command that writes finishes or undoes it",
        )
        yield Finding("warning", "workspace", message, str(workspace.journal), step)


def _git(workspace: Workspace) -> Iterator[Finding]:
    git = workspace.git
    try:
        top = git.top
    except GitStoppedError as error:
        yield Finding("problem", "git", error.message, str(workspace.root), error.hint)
        return

    if top is None:
        message = "no git repository: nothing is reviewed, and no glob is wide"
        yield Finding("warning", "git", message, str(workspace.root), "git init")
        return

    yield Finding("ok", "git", f"{git.ask('version') or 'git'}, work tree at {top}")

    if current_author(git).name == UNKNOWN:
        message = f"git does not know your name: what you write is by `{UNKNOWN}`"
        yield Finding(
            "warning", "git", message, str(top), 'git config --global user.name "Your Name"'
        )

    try:
        lines = (workspace.root / ".gitattributes").read_text("utf-8", "replace").splitlines()
    except OSError:
        lines = []

    files, adr = project_files(workspace.root), workspace.config.adr
    missing = [line for line in attributes(files, adr) if line not in lines]
    if missing:
        yield Finding(
            "warning",
            "git",
            f"lines are missing: {'; '.join(missing)}",
            ".gitattributes",
            "orbit init",
        )

    if git.ask("check-ignore", ".orbit/state/log") is None:
        message = "git does not ignore .orbit/state/, which is this machine's own"
        yield Finding("warning", "git", message, ".gitignore", "orbit init")

    driver = git.ask("config", f"merge.{DRIVER}.driver")
    if driver is None and not has_logs(files, adr):
        yield from () if missing else [Finding("ok", "git", "attributes are set")]
    elif driver is None:
        yield Finding(
            "warning",
            "git",
            "this clone has no merge driver for decision logs",
            ".git/config",
            "orbit init",
        )
    elif not _program_exists(driver):
        message = f"the merge driver starts a program that is gone: {driver.split(' -m ')[0]}"
        yield Finding("problem", "git", message, ".git/config", "orbit init")
    elif " -P " not in driver:
        message = (
            "the merge driver imports Python files from the top of the work tree, a "
            "stranger's branch too"
        )
        yield Finding("problem", "git", message, ".git/config", "orbit init")
    elif not missing:
        yield Finding("ok", "git", "attributes and merge driver are set")


def _program_exists(command: str) -> bool:
    try:
        first = next(iter(shlex.split(command)), "")
    except ValueError:
        return False
    return not first.startswith("/") or Path(first).exists()


def _derived(workspace: Workspace) -> Iterator[Finding]:
    if not is_writable(workspace.state / "log"):
        message = (
            "a hook shows nothing here: it can't keep what a session was shown, for the "
            "folder may not be written"
        )
        yield Finding("problem", "derived", message, str(workspace.state), MAKE_WRITABLE)

    index = open_index(workspace)
    path = index_file(str(workspace.root))

    if not isinstance(index, Index):
        state, level = index.reason, "ok" if index.reason == MISSING else "warning"
    elif not is_whole(index):
        state, level = "the push index is damaged", "warning"
    elif index.behind():
        state, level = (
            f"the push index of {plural(index.records, 'record')} was behind the files",
            "ok",
        )
    else:
        state, level = f"the push index of {plural(index.records, 'record')} is current", "ok"

    try:
        done = sync(workspace, rebuild=level != "ok")
    except OrbitError as error:
        message = f"{state}; bringing it up to date failed: {error.message}"
        yield Finding("problem", "derived", message, path, error.hint)
        return

    now = "; it was made again now" if done.index is not None and done.index.built else ""
    yield Finding("ok" if level == "ok" else "warning", "derived", f"{state}{now}", path)
    action = "was built now" if done.built else "is current"
    yield Finding("ok", "derived", f"the snapshot {action}", workspace.relative(done.path))


MAKE_WRITABLE = "make the folder writable for the user who runs agents"

COSTLY = 2.0
"""A silent call that costs more than so many times an interpreter that does nothing is too dear for
each tool.
"""


@dataclass(slots=True)
class TriedHook:
    """Installed hook that was tried, with the result and the cost of a silent call."""

    state: HookState
    trial: HookTrial
    cost: Cost | None = None

    def as_data(self) -> dict[str, object]:
        """Return it as JSON data, without the text that an agent would see."""
        return {
            "agent": self.state.agent.name,
            "scope": self.state.scope,
            "path": str(self.state.path),
            "current": self.state.current,
            "asked": self.trial.path,
            "spoke": bool(self.trial.text),
            "problems": list(self.trial.problems),
            "ms": round(self.trial.milliseconds, 1),
            "cost": self.cost.as_data() if self.cost else None,
        }


def _examine_hooks(
    workspace: Workspace, agent: str | None, hooks: list[TriedHook]
) -> Iterator[Finding]:
    states = installation.status(workspace.root, (agent,) if agent else ())
    for state in (state for state in states if state.problem):
        yield Finding(
            "problem",
            "hook",
            f"{_hook_name(state)}: {state.problem}",
            str(state.path),
            "correct the file",
        )

    installed = [state for state in states if state.installed]
    if not installed:
        message = f"no hook of {agent or 'any agent'} is installed"
        yield Finding("warning", "hook", message, "", f"orbit hook install {agent or 'claude'}")

    for state in installed:
        yield from _try_hook(workspace, state, hooks)

    yield from _repeated_hooks(installed)


def _try_hook(workspace: Workspace, state: HookState, hooks: list[TriedHook]) -> Iterator[Finding]:
    again = f"orbit hook install {state.agent.name} --scope {state.scope}"

    try:
        command = installation.installed_command(workspace.root, state.agent, state.scope)
        result = None if command is None else trial.try_hook(workspace, state.agent, command)
    except OrbitError as error:
        yield Finding(
            "problem", "hook", f"{_hook_name(state)}: {error.message}", str(state.path), error.hint
        )
        return

    if result is None or command is None:
        return

    tried = TriedHook(state, result)
    hooks.append(tried)

    if result.problems:
        step = again if is_writable(workspace.state / "log") else MAKE_WRITABLE
        yield Finding(
            "problem",
            "hook",
            f"{_hook_name(state)}: {'; '.join(result.problems)}",
            str(state.path),
            step,
        )

        return

    spoke = (
        f"shows records at an edit of {result.path}"
        if result.path
        else "is silent: no record is pushed for a file here"
    )

    proven = "" if state.agent.proven else "; unproven: no real session was seen to show it"
    message = f"{_hook_name(state)}: {spoke}, and its answer is what the agent takes{proven}"
    yield Finding("ok", "hook", message, str(state.path))
    spent = trial.silent_cost(workspace, state.agent, command)

    if spent is None:
        yield Finding(
            "problem",
            "cost",
            f"{_hook_name(state)}: a silent call does not end",
            str(state.path),
            again,
        )

        return

    tried.cost = spent
    message = (
        f"{_hook_name(state)}: a silent call costs {spent.ratio:.1f} × an interpreter that does "
        f"nothing "
        f"({spent.hook:.0f} and {spent.nothing:.0f} ms CPU, medians of {spent.runs})"
    )
    if spent.ratio > COSTLY:
        yield Finding(
            "warning",
            "cost",
            message,
            "",
            "install it in scope local; or ask again when nothing else runs",
        )
    else:
        yield Finding("ok", "cost", message)


def _repeated_hooks(installed: Sequence[HookState]) -> Iterator[Finding]:
    for name in dict.fromkeys(state.agent.name for state in installed):
        scopes = [state.scope for state in installed if state.agent.name == name]
        if len(scopes) > 1:
            message = (
                f"{name} runs it {len(scopes)} times a call: it is in the settings "
                f"{', '.join(scopes)}"
            )
            yield Finding(
                "warning", "hook", message, "", f"orbit hook uninstall {name} --scope {scopes[-1]}"
            )


def _hook_name(state: HookState) -> str:
    return f"{state.agent.name}, {state.scope}"


LATE_SHARE = 0.01
NAMED = 5


def _examine_delivery(
    workspace: Workspace, agent: str | None, installed: bool, compared: list[Delivery]
) -> Iterator[Finding]:
    log = str(workspace.state / "log")
    try:
        files, now = log_files(workspace.state), time.time()
        met = LogScan()
        tally = EventCounter(None, {}, 0).add_all(logged_events(files, now, met))
        events = events_by_session(logged_events(files, now, LogScan()))
    except OrbitError as error:
        yield Finding("problem", "log", error.message, log, error.hint)
        return

    yield from _log(tally, met, log, installed)
    names = [name for name in DELIVERY_READERS if agent in (None, name)]
    compared += deliveries(workspace.root, events, names)
    yield from _transcripts(workspace.root, events, compared, tally, names)


def _log(tally: Tally, met: LogScan, log: str, installed: bool) -> Iterator[Finding]:
    total = tally.total
    if not total.calls:
        level: Level = "warning" if installed else "ok"
        step = "use the agent once, then ask again" if installed else ""
        yield Finding(level, "log", "no call is in the event log", log, step)
        return

    quiet = 100 * (total.calls - total.speaking) / total.calls
    message = (
        f"{plural(total.calls, 'call')}, {quiet:.0f} % silent, "
        f"{plural(total.shown, 'record')} shown"
    )
    yield Finding("ok", "log", message, log, "orbit stats")

    if met.skipped:
        reasons = ", ".join(f"{count} × {reason}" for reason, count in met.skipped.most_common())
        yield Finding("warning", "log", f"lines are not events: {reasons}", log)

    if total.faults:
        reasons = ", ".join(f"{count} × {fault}" for fault, count in total.faults.most_common())
        yield Finding("warning", "log", f"calls went wrong: {reasons}", log, "orbit stats")

    late = total.skips["deadline"]
    if late > LATE_SHARE * total.calls:
        message = f"{late} of {total.calls} calls ran out of time and showed nothing"
        yield Finding(
            "warning",
            "log",
            message,
            log,
            "set ORBIT_HOOK_DEADLINE_MS, or see what else the machine does",
        )

    unready = total.skips["no index"]
    if unready > LATE_SHARE * total.calls:
        yield Finding(
            "warning", "log", f"{unready} of {total.calls} calls found no index", log, "orbit sync"
        )


def _transcripts(
    root: Path,
    events: Mapping[str, Sequence[LoggedEvent]],
    compared: Sequence[Delivery],
    tally: Tally,
    names: Sequence[str],
) -> Iterator[Finding]:
    if not events:
        yield Finding(
            "ok", "transcript", "no agent has been shown a record yet, so no transcript is read"
        )
    elif not compared:
        some = (
            f"none of {len(events)} sessions that were"
            if len(events) > 1
            else "no session that was"
        )
        message = f"{some} shown something has a transcript that can be read here"
        step = f"transcripts of {' and '.join(DELIVERY_READERS)} are known"
        yield Finding("warning", "transcript", message, "", step)

    for delivery in compared:
        if delivery.broken:
            message = (
                f"session {delivery.session}: {plural(delivery.broken, 'line')} with a "
                f"block can't be read"
            )
            yield Finding("warning", "transcript", message, str(delivery.path))

        if delivery.missing:
            yield _missing_finding(delivery)

    claimed, there = (
        sum(delivery.claimed for delivery in compared),
        sum(delivery.found for delivery in compared),
    )
    if claimed == there and compared:
        more = sum(len(delivery.unclaimed) for delivery in compared)
        extra = f"; the log does not name {more} more" if more else ""
        shown = (
            f"{plural(claimed, 'record')} shown in {len(compared)} of "
            f"{plural(len(events), 'session')}"
        )
        message = f"the transcripts have {there} of {shown}"
        yield Finding("ok", "transcript", message + extra)

    if "claude" in names and tally.first is not None:
        sessions, logged = without_event(root, tally.sessions, tally.first)
        if logged < sessions:
            newest = f"the {sessions} newest sessions of Claude Code here"
            message = f"{sessions - logged} of {newest} are not in the event log"
            step = "orbit hook status claude; hooks may be switched off there"
            yield Finding("warning", "transcript", message, "", step)


def _missing_finding(delivery: Delivery) -> Finding:
    share = (
        f"its transcript has {delivery.found} of {plural(delivery.claimed, 'record')} shown in it"
    )
    missing = listed(delivery.missing, NAMED)
    message = f"session {delivery.session} ({delivery.agent}): {share}; missing {missing}"
    level: Level = "warning" if delivery.found else "problem"
    given_up = "orbit stats; the agent may have given up on a call"
    step = given_up if delivery.found else f"orbit hook test {delivery.agent}; it takes no answer"

    return Finding(level, "transcript", message, str(delivery.path), step)


@dataclass(frozen=True, slots=True)
class Examination(Report):
    """Findings, hooks tried and sessions compared."""

    hooks: Sequence[TriedHook]
    deliveries: Sequence[Delivery]

    def as_data(self) -> dict[str, object]:
        """Return the examination as JSON data."""
        hooks = [hook.as_data() for hook in self.hooks]
        transcripts = [delivery.as_data() for delivery in self.deliveries]
        return {**Report.as_data(self), "hooks": hooks, "transcripts": transcripts}

    def text(self) -> str:
        """Return the examination as text."""
        counts = self.counts.items()
        words = (
            f"{count} {level}{'s' if level != 'ok' and count != 1 else ''}"
            for level, count in counts
        )
        return f"{Report.text(self)}\n\n{', '.join(words)}"


def examine(start: Path, agent: str | None = None) -> Examination:
    """Examine the workspace at or above a folder and update what is derived;
    failures become findings.
    """
    tried: list[TriedHook] = []
    compared: list[Delivery] = []
    findings: list[Finding] = []
    try:
        workspace = find_workspace(start)
    except OrbitError as error:
        findings += _versions()
        findings.append(Finding("problem", "workspace", error.message, str(start), error.hint))
        return Examination(findings, tried, compared)

    findings += examine_workspace(workspace)
    findings += _examine_hooks(workspace, agent, tried)
    findings += _examine_delivery(workspace, agent, bool(tried), compared)
    return Examination(findings, tried, compared)
