"""Examination of a workspace, its hooks and its setup."""

import importlib.metadata
import platform
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from orbit_registry.agents.install import install as installation
from orbit_registry.agents.install import trial
from orbit_registry.agents.install.install import HookState
from orbit_registry.agents.install.trial import Cost, HookTrial
from orbit_registry.agents.transcripts import (
    DELIVERY_READERS,
    Delivery,
    deliveries,
    events_by_session,
    without_event,
)
from orbit_registry.checks.review.review import approval_command, by_evidence, queue, without_status
from orbit_registry.doors.doctor.log_counts import LogCounts, counts_of
from orbit_registry.doors.render.records import unread_text
from orbit_registry.errors import GitError, GitStoppedError, OrbitError, listed, plural
from orbit_registry.hook.events import FAULTS
from orbit_registry.hook.project import index_file, private_folder
from orbit_registry.matching.index import MISSING, Index, NoIndex, open_index
from orbit_registry.matching.pack import is_whole
from orbit_registry.operations.init import DRIVER, attributes, has_logs, project_files
from orbit_registry.repository.reader import read_collection
from orbit_registry.repository.votes import BROKEN
from orbit_registry.snapshot.sync import sync
from orbit_registry.workspace.author import UNKNOWN, current_author
from orbit_registry.workspace.event_log import LoggedEvent, LogScan, log_files, logged_events
from orbit_registry.workspace.journal import unfinished_steps
from orbit_registry.workspace.workspace import (
    CONFIG,
    ORBIT,
    Workspace,
    find_workspace,
    is_writable,
)

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
        return {
            "level": self.level,
            "topic": self.topic,
            "what": self.what,
            "where": self.where or None,
            "next": self.next_step or None,
        }

    def lines(self) -> list[str]:
        """Return the finding as text."""
        where = f" ({self.where})" if self.where else ""
        lines = [f"{self.level:<8} {self.topic:<{WIDTH}} {self.what}{where}"]
        if self.next_step:
            lines.append(f"{'':<{9 + WIDTH}} next: {self.next_step}")

        return lines


@dataclass(frozen=True, slots=True)
class Report:
    """Findings of one run."""

    findings: Sequence[Finding]

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of findings of each level."""
        levels = [finding.level for finding in self.findings]
        return {level: levels.count(level) for level in LEVELS}

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
        lines: list[str] = []
        for finding in self.findings:
            lines += finding.lines()

        return "\n".join(lines)


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
    records, orbit = collection.records, str(workspace.orbit)
    live = sum(record.phase == "live" and record.status.pushed for record in records)
    waiting = len(queue(records))
    silent, unclear = by_evidence(without_status(records))
    wait = "waits" if waiting == 1 else "wait"
    have = "has" if len(silent) == 1 else "have"
    message = (
        f"{plural(len(records), 'record')}: {live} can be shown, {waiting} {wait} for review, "
        f"{len(silent)} {have} no status stated"
    )
    if unclear:
        message += f", {len(unclear)} with a status that is not known"

    if silent:
        step = approval_command(silent)
    elif live:
        step = ""
    else:
        step = "orbit review" if waiting else 'orbit adr new "Title"'

    yield Finding("ok", "workspace", message, str(workspace.root), step)

    if unread := unread_text(collection.problems):
        yield Finding("problem", "workspace", unread, orbit, "orbit check")

    torn = {problem.location.path for problem in collection.problems if problem.code == BROKEN}
    if torn:
        yield Finding(
            "warning",
            "workspace",
            f"lines of {', '.join(sorted(torn))} are not votes",
            orbit,
            "orbit check",
        )

    if unfinished_steps(workspace):
        message = "a change was begun and not finished"
        step = "any command that writes finishes or undoes it"
        yield Finding("warning", "workspace", message, str(workspace.journal), step)


def _git(workspace: Workspace) -> Iterator[Finding]:
    git = workspace.git
    try:
        top = git.top
    except GitStoppedError as error:
        yield Finding("problem", "git", error.message, str(workspace.root), error.hint)
        return

    if top is None:
        try:
            git.require_git()
        except GitError as error:
            yield Finding("problem", "git", error.message, str(workspace.root), error.hint)
            return

        message = "no git repository: nothing is reviewed, and no glob is wide"
        yield Finding("warning", "git", message, str(workspace.root), "git init")
        return

    yield Finding("ok", "git", f"{git.ask('version') or 'git'}, work tree at {top}")

    if current_author(git).name == UNKNOWN:
        yield Finding(
            "warning",
            "git",
            f"git does not know your name: what you write is by `{UNKNOWN}`",
            str(top),
            'git config --global user.name "Your Name"',
        )

    try:
        lines = (workspace.root / ".gitattributes").read_text("utf-8", "replace").splitlines()
    except OSError:
        lines = []

    files = project_files(workspace.root)
    adr = workspace.config.adr
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

    yield from _other_workspaces(workspace)

    driver = git.ask("config", f"merge.{DRIVER}.driver")
    if driver is not None:
        driver_fault = _driver_fault(driver)
        if driver_fault:
            yield Finding("problem", "git", driver_fault, ".git/config", "orbit init")
        elif not missing:
            yield Finding("ok", "git", "attributes and merge driver are set")
    elif has_logs(files, adr):
        yield Finding(
            "warning",
            "git",
            "this clone has no merge driver for decision logs",
            ".git/config",
            "orbit init",
        )
    elif not missing:
        yield Finding("ok", "git", "attributes are set")


def _other_workspaces(workspace: Workspace) -> Iterator[Finding]:
    """Yield the workspaces below this one: a command that starts there reads and writes those."""
    tracked = workspace.git.tracked() or ()
    others = [file.removesuffix("config.yaml") for file in tracked if file.endswith(f"/{CONFIG}")]
    if others:
        message = f"records of {listed(others, 3)} are seen only by commands and agents below them"
        step = f"to have them here too, move their folders into {ORBIT}/ of this project"
        yield Finding("ok", "workspace", message, str(workspace.root), step)


def _driver_fault(driver: str) -> str:
    """Return what is wrong with the command of the merge driver; empty if it is right."""
    if not _program_exists(driver):
        return f"the merge driver starts a program that is gone: {driver.split(' -m ')[0]}"
    if " -P " in driver:
        return ""

    return (
        "the merge driver imports Python files from the top of the work tree, a "
        "stranger's branch too"
    )


def _program_exists(command: str) -> bool:
    try:
        first = next(iter(shlex.split(command)), "")
    except ValueError:
        return False

    return not first.startswith("/") or Path(first).exists()


def _kept_elsewhere(workspace: Workspace) -> Finding:
    """Say where a hook keeps what a session was shown, if the project can't be written."""
    try:
        folder = private_folder(str(workspace.root), "log")
        is_kept = is_writable(Path(folder))
    except OSError:
        folder, is_kept = str(workspace.state), False

    if is_kept:
        message = (
            "this project can't be written: a hook keeps what a session was shown in your cache, "
            "and `orbit stats` does not count it"
        )
        return Finding("ok", "derived", message, folder)

    message = (
        "a hook shows nothing here: it can't keep what a session was shown, for neither the "
        "project nor your cache may be written"
    )
    return Finding("problem", "derived", message, folder, MAKE_WRITABLE)


def _derived(workspace: Workspace) -> Iterator[Finding]:
    if not is_writable(workspace.state / "log"):
        yield _kept_elsewhere(workspace)

    index = open_index(workspace)
    state, level = _index_state(index)
    path = index_file(str(workspace.root))

    try:
        done = sync(workspace, rebuild=level != "ok", snapshot=True)
    except OrbitError as error:
        message = f"{state}; bringing it up to date failed: {error.message}"
        yield Finding("problem", "derived", message, path, error.hint)
        return

    if done.index.built:
        state = f"{state}; it was made again now"

    yield Finding(level, "derived", state, path)

    snapshot = done.snapshot
    if snapshot is not None:
        action = "was built now" if snapshot.built else "is current"
        yield Finding("ok", "derived", f"the snapshot {action}", workspace.relative(snapshot.path))


def _index_state(index: Index | NoIndex) -> tuple[str, Level]:
    if not isinstance(index, Index):
        level: Level = "ok" if index.reason == MISSING else "warning"
        return index.reason, level
    if not is_whole(index):
        return "the push index is damaged", "warning"

    state = "was behind the files" if index.behind() else "is current"
    return f"the push index of {plural(index.records, 'record')} {state}", "ok"


MAKE_WRITABLE = "make the folder writable for the user who runs agents"

COSTLY = 2.0
"""A silent call that costs more interpreters that do nothing is too dear for each tool."""


@dataclass(slots=True)
class TriedHook:
    """Installed hook that was tried, with the result and the cost of a silent call."""

    state: HookState
    trial: HookTrial
    cost: Cost | None = None

    def as_data(self) -> dict[str, object]:
        """Return it as JSON data, without the text that an agent would see."""
        cost = self.cost.as_data() if self.cost else None
        return {
            "agent": self.state.agent.name,
            "scope": self.state.scope,
            "path": str(self.state.path),
            "current": self.state.current,
            "asked": self.trial.path,
            "spoke": bool(self.trial.text),
            "problems": list(self.trial.problems),
            "ms": round(self.trial.milliseconds, 1),
            "cost": cost,
        }


def _examine_hooks(
    workspace: Workspace, agent: str | None, hooks: list[TriedHook]
) -> Iterator[Finding]:
    agents = (agent,) if agent else ()
    states = installation.status(workspace.root, agents)
    for state in states:
        if state.problem:
            yield Finding(
                "problem",
                "hook",
                f"{_hook_name(state)}: {state.problem}",
                str(state.path),
                "correct the file",
            )
        elif state.off:
            message = f"{state.agent.title} runs no hook: {state.off} is in its settings"
            yield Finding("problem", "hook", message, str(state.path), f"remove {state.off} there")

    installed = [state for state in states if state.installed]
    if not installed:
        message = f"no hook of {agent or 'any agent'} is installed"
        yield Finding("warning", "hook", message, "", f"orbit hook install {agent or 'claude'}")

    for state in installed:
        yield from _try_hook(workspace, state, hooks)

    yield from _repeated_hooks(installed)


def _try_hook(workspace: Workspace, state: HookState, hooks: list[TriedHook]) -> Iterator[Finding]:
    name, where = _hook_name(state), str(state.path)
    try:
        command = installation.installed_command(workspace.root, state.agent, state.scope)
        if command is None:
            return

        result = trial.try_hook(workspace, state.agent, command)
    except OrbitError as error:
        yield Finding("problem", "hook", f"{name}: {error.message}", where, error.hint)
        return

    tried = TriedHook(state, result)
    hooks.append(tried)

    again = f"orbit hook install {state.agent.name} --scope {state.scope}"
    if result.problems:
        step = again if is_writable(workspace.state / "log") else MAKE_WRITABLE
        yield Finding("problem", "hook", f"{name}: {'; '.join(result.problems)}", where, step)
        return

    spoke = "is silent: no record is pushed for a file here"
    if result.path:
        spoke = f"shows records at an edit of {result.path}"

    message = f"{name}: {spoke}, and its answer is what the agent takes"
    if not state.agent.proven:
        message += "; unproven: no real session was seen to show it"

    yield Finding("ok", "hook", message, where)

    spent = trial.silent_cost(workspace, state.agent, command)
    if spent is None:
        yield Finding("problem", "cost", f"{name}: a silent call does not end", where, again)
        return

    tried.cost = spent
    message = (
        f"{name}: a silent call costs {spent.ratio:.1f} × an interpreter that does nothing "
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
            settings = ", ".join(scopes)
            yield Finding(
                "warning",
                "hook",
                f"{name} runs it {plural(len(scopes), 'time')} a call: "
                f"it is in the settings {settings}",
                "",
                f"orbit hook uninstall {name} --scope {scopes[-1]}",
            )


def _hook_name(state: HookState) -> str:
    return f"{state.agent.name}, {state.scope}"


LATE_SHARE = 0.01
UNREADY = 3
"""Calls in a row without an index: a session may begin with one or two before the first sync ends.
"""
NAMED = 5


def _examine_delivery(
    workspace: Workspace, agent: str | None, installed: bool, compared: list[Delivery]
) -> Iterator[Finding]:
    log = str(workspace.state / "log")
    try:
        met = LogScan()
        logged = list(logged_events(log_files(workspace.state), scan=met))
        counts = counts_of(logged)
        events = events_by_session(logged)
    except OrbitError as error:
        yield Finding("problem", "log", error.message, log, error.hint)
        return

    yield from _log(counts, met, log, installed)
    names = [name for name in DELIVERY_READERS if agent in (None, name)]
    compared += deliveries(workspace.root, events, names)
    yield from _transcripts(workspace.root, events, compared, counts, names)


def _log(counts: LogCounts, met: LogScan, log: str, installed: bool) -> Iterator[Finding]:
    if not counts.calls:
        message = "no call is in the event log"
        if installed:
            yield Finding("warning", "log", message, log, "use the agent once, then ask again")
        else:
            yield Finding("ok", "log", message, log)

        return

    quiet = 100 * (counts.calls - counts.speaking) / counts.calls
    records = plural(counts.records, "record")
    message = f"{plural(counts.calls, 'call')}, {quiet:.0f} % silent, {records} shown"
    yield Finding("ok", "log", message, log, "orbit stats")

    if met.skipped:
        reasons = ", ".join(f"{count} × {reason}" for reason, count in met.skipped.most_common())
        yield Finding("warning", "log", f"lines are not events: {reasons}", log)

    if counts.faults:
        faults = [
            f"{count} × {FAULTS.get(fault, fault)}" for fault, count in counts.faults.most_common()
        ]
        message = f"calls went wrong: {'; '.join(faults)}"
        yield Finding("warning", "log", message, log, "orbit stats")

    late = counts.skips["deadline"]
    if late > LATE_SHARE * counts.calls:
        yield Finding(
            "warning",
            "log",
            f"{late} of {plural(counts.calls, 'call')} ran out of time and showed nothing",
            log,
            "set ORBIT_HOOK_DEADLINE_MS, or see what else the machine does",
        )

    unready = counts.skips["no index"]
    if counts.without_index >= UNREADY:
        message = (
            f"the newest {plural(counts.without_index, 'call')} found no index: the sync that each "
            "starts in the background may fail"
        )
        yield Finding("warning", "log", message, log, "`orbit sync` makes it, or says why not")
    elif unready > LATE_SHARE * counts.calls:
        message = (
            f"{unready} of {plural(counts.calls, 'call')} found no index, as in a new clone or "
            "work tree; the next call of such a session shows what they missed"
        )
        yield Finding("ok", "log", message, log)


def _transcripts(
    root: Path,
    events: Mapping[str, Sequence[LoggedEvent]],
    compared: Sequence[Delivery],
    counts: LogCounts,
    names: Sequence[str],
) -> Iterator[Finding]:
    if not events:
        yield Finding(
            "ok",
            "transcript",
            "no agent has been shown a record yet, so no transcript is read",
        )
    elif not compared:
        some = "no session that was"
        if len(events) > 1:
            some = f"none of {plural(len(events), 'session that was', 'sessions that were')}"

        message = f"{some} shown something has a transcript that can be read here"
        step = f"transcripts of {' and '.join(DELIVERY_READERS)} are known"
        yield Finding("warning", "transcript", message, "", step)

    for delivery in compared:
        if delivery.broken:
            lines = f"{plural(delivery.broken, 'line')} with a block can't be read"
            message = f"session {delivery.session}: {lines}"
            yield Finding("warning", "transcript", message, str(delivery.path))

        if delivery.missing:
            yield _missing_finding(delivery)

    claimed = sum(delivery.claimed for delivery in compared)
    there = sum(delivery.found for delivery in compared)
    if claimed == there and compared:
        more = sum(len(delivery.unclaimed) for delivery in compared)
        message = (
            f"the transcripts have {there} of {plural(claimed, 'record')} shown in "
            f"{len(compared)} of {plural(len(events), 'session')}"
        )
        if more:
            message += f"; the log does not name {more} more"

        yield Finding("ok", "transcript", message)

    if "claude" in names and counts.first is not None:
        sessions, logged = without_event(root, counts.sessions, counts.first)
        if logged < sessions:
            newest = f"the {plural(sessions, 'newest session')} of Claude Code here"
            message = f"{sessions - logged} of {newest} are not in the event log"
            step = "orbit hook status claude; hooks may be switched off there"
            yield Finding("warning", "transcript", message, "", step)


def _missing_finding(delivery: Delivery) -> Finding:
    records = plural(delivery.claimed, "record")
    share = f"its transcript has {delivery.found} of {records} shown in it"
    missing = listed(delivery.missing, NAMED)
    message = f"session {delivery.session} ({delivery.agent}): {share}; missing {missing}"

    level: Level = "problem"
    step = f"orbit hook test {delivery.agent}; it takes no answer"
    if delivery.found:
        level = "warning"
        step = "orbit stats; the agent may have given up on a call"

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
        words = []
        for level, count in self.counts.items():
            end = "s" if level != "ok" and count != 1 else ""
            words.append(f"{count} {level}{end}")

        return f"{Report.text(self)}\n\n{', '.join(words)}"


def examine(start: Path, agent: str | None = None) -> Examination:
    """Examine the workspace at or above a folder and update what is derived.

    Failures become findings.
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
