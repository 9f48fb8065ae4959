"""Collection: the records of many repositories into one lake, without a change in any of them."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence, Set
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from urllib.parse import urlsplit

from orbit_fleet.forges import Forge
from orbit_fleet.lake import Lake, Repository
from orbit_fleet.names import public
from orbit_fleet.sources import READABLE, Problem, Source
from orbit_registry.errors import GitError
from orbit_registry.model.votes import format_time
from orbit_registry.workspace.git import Git

WRITTEN, UNCHANGED, EMPTY, OLDER, FAILED = "written", "unchanged", "empty", "older", "failed"
OUTCOMES = (WRITTEN, UNCHANGED, EMPTY, OLDER, FAILED)
SECONDS = 900.0
"""How long one repository may take."""
LONGEST_ERROR = 500
_VERSION = version("orbit-registry")


@dataclass(frozen=True, slots=True)
class Collected:
    """What became of one repository."""

    repository: str
    address: str
    outcome: str
    reader: str = ""
    commit: str = ""
    records: int = 0
    renamed_from: str = ""
    error: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Collection:
    """What became of all repositories of the sources."""

    repositories: tuple[Collected, ...]
    problems: tuple[Problem, ...]
    missing: tuple[str, ...]  # repositories of the lake that a source had, and none has now

    @property
    def ok(self) -> bool:
        """Whether every repository could be read."""
        return not self.problems and not any(each.outcome == FAILED for each in self.repositories)

    def count(self, outcome: str) -> int:
        """Return how many repositories had an outcome."""
        return sum(each.outcome == outcome for each in self.repositories)

    def as_data(self) -> dict[str, object]:
        """Return the collection as JSON shows it."""
        return {
            "repositories": [asdict(each) for each in self.repositories],
            "problems": [asdict(each) for each in self.problems],
            "missing": list(self.missing),
            **{outcome: self.count(outcome) for outcome in OUTCOMES},
        }


def collect(
    lake: Lake,
    sources: Sequence[Source],
    problems: Sequence[Problem] = (),
    *,
    cache: Path,
    origins: Set[str] = frozenset(),
    jobs: int = 0,
    force: bool = False,
    dry_run: bool = False,
    on_step: Callable[[str, int, int], None] = lambda name, done, count: None,
) -> Collection:
    """Read each repository whose newest commit the lake does not have.

    A repository that fails keeps its records in the lake, and its row says why. A killed run is
    continued by the next: what was written counts. `origins` are the lists, folders and accounts
    that were read: a repository that one of them named before, and none names now, is missing.
    """
    lake.make(dry_run=dry_run)
    known = {each.repository: each for each in lake.repositories()}
    by_forge = {each.forge_id: each for each in known.values() if each.forge_id}
    results: list[Collected] = []

    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        waiting = {}
        for source in sources:
            before = known.get(source.name)
            former = by_forge.get(source.forge_id) if source.forge_id else None
            task = _Task(lake, source, before, cache, force, dry_run)
            waiting[pool.submit(_one, task, former)] = source

        for done, future in enumerate(as_completed(waiting), 1):
            result = future.result()
            results.append(result)
            on_step(result.repository, done, len(sources))

    expected = (each for each in known.values() if each.is_expected and each.source in origins)
    missing = _missing(lake, expected, sources, results, dry_run=dry_run)
    order = {source.name: position for position, source in enumerate(sources)}
    results.sort(key=lambda each: order[each.repository])
    return Collection(tuple(results), tuple(problems), tuple(missing))


@dataclass(frozen=True, slots=True)
class _Task:
    lake: Lake
    source: Source
    before: Repository | None
    cache: Path
    force: bool
    dry_run: bool


def _one(task: _Task, former: Repository | None) -> Collected:
    """Collect one repository, and note in the lake that it was seen."""
    source, before = task.source, task.before
    renamed_from = ""
    if before is None and former is not None:
        renamed_from = former.repository

    head, error = _head_of(task)
    if before is not None and not task.force and not error and _is_unread(before, head):
        return _failed(task, before.error, "", head)

    if not error and before is not None and not task.force and _is_current(before, source, head):
        if not task.dry_run:
            task.lake.note(_seen(before, source))
        return Collected(source.name, source.shown, UNCHANGED, before.reader, head, before.records)

    answer = {"error": error, "hint": READABLE} if error else _in_process(task)
    if answer.get("error"):
        unread = str(answer.get("commit") or "")
        return _failed(task, str(answer["error"]), str(answer.get("hint") or ""), unread)

    if renamed_from and not task.dry_run:
        _rename(task, renamed_from)

    return Collected(
        source.name,
        source.shown,
        str(answer["outcome"]),
        str(answer["reader"]),
        str(answer["commit"]),
        int(str(answer["records"])),
        renamed_from,
    )


def _head_of(task: _Task) -> tuple[str, str]:
    """Return the newest commit of a repository, or why it is not known."""
    source = task.source
    name = f"refs/heads/{source.branch}" if source.branch else "HEAD"
    here = Path(source.address)
    git = Git(here if here.is_dir() else Path.cwd())
    try:
        answer = git.run(
            "ls-remote",
            "--",
            source.address,
            name,
            settings=("-c", "protocol.ext.allow=never"),
        )
    except GitError as error:
        return "", public(f"{source.shown} can't be read: {error.message}")

    lines = answer.decode("utf-8", "replace").splitlines()
    commits = [line.split("\t")[0] for line in lines if line.endswith(f"\t{name}")]
    if not commits and source.branch:
        return "", f"there is no branch {source.branch!r}"

    return (commits[0] if commits else ""), ""


def _is_current(before: Repository, source: Source, head: str) -> bool:
    """Say whether the lake has a commit as this version of Orbit reads it."""
    is_same = before.commit == head and not before.error
    return is_same and before.orbit_version == _VERSION and before.is_expected


def _is_unread(before: Repository, head: str) -> bool:
    """Say whether this version of Orbit could not read a commit."""
    is_same = bool(head) and before.unread_commit == head
    return is_same and before.orbit_version == _VERSION and bool(before.error)


def _seen(before: Repository, source: Source) -> Repository:
    return replace(
        before,
        last_seen_at=format_time(datetime.now(UTC)),
        forge_id=source.forge_id or before.forge_id,
        is_fork=source.is_fork,
        is_archived=source.is_archived,
        is_expected=True,
        source=source.named_by,
    )


def _in_process(task: _Task) -> dict[str, object]:
    """Return the answer of a process that reads one repository."""
    order = {
        "lake": task.lake.given,
        "source": asdict(task.source),
        "cache": str(task.cache.absolute()),
        "force": task.force,
        "dry_run": task.dry_run,
    }
    command = [sys.executable, "-P", "-m", "orbit_fleet.checkout"]
    try:
        done = subprocess.run(
            command,
            input=json.dumps(order),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            cwd=task.cache if task.cache.is_dir() else None,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"error": f"reading it took more than {SECONDS:g} s"}

    lines = done.stdout.strip().splitlines()
    try:
        answer = json.loads(lines[-1])
    except (IndexError, ValueError):
        last = (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]
        return {"error": f"reading it failed: {last}", "hint": "please report this as a bug"}

    return dict(answer)


def _failed(task: _Task, error: str, hint: str, unread: str) -> Collected:
    source, before = task.source, task.before
    error = public(" ".join(error.split()))[:LONGEST_ERROR]
    if not task.dry_run:
        now = format_time(datetime.now(UTC))
        row = before or Repository(
            source.name,
            address=source.shown,
            origin=source.origin,
            first_seen_at=now,
        )
        row = replace(_seen(row, source), last_seen_at=row.last_seen_at, orbit_version=_VERSION)
        task.lake.note(replace(row, error=error, unread_commit=unread))

    return Collected(
        source.name,
        source.shown,
        FAILED,
        before.reader if before else "",
        before.commit if before else "",
        before.records if before else 0,
        error=error,
        hint=hint,
    )


def _rename(task: _Task, former: str) -> None:
    """Give a repository's row its former name, and take the former one away."""
    row = task.lake.repository(task.source.name)
    if row is not None:
        task.lake.note(replace(row, renamed_from=former))
        task.lake.remove(former)


def _missing(
    lake: Lake,
    expected: Iterable[Repository],
    sources: Sequence[Source],
    results: Sequence[Collected],
    *,
    dry_run: bool,
) -> list[str]:
    """Return the expected repositories that no source has now, and note that of each."""
    names = {source.name for source in sources} | {each.renamed_from for each in results}
    gone = [each for each in expected if each.repository not in names]
    for each in gone:
        if not dry_run:
            lake.note(replace(each, is_expected=False))

    return sorted(each.repository for each in gone)


def token_settings(sources: Iterable[Source], forge: Forge, api: str) -> dict[str, str]:
    """Return variables by which git gives a forge's token to the forge's own host, and to no other.

    A listing names addresses to clone from, and could name another host.
    """
    token = os.environ.get(forge.variable, "").strip()
    api_host = urlsplit(api or forge.api).netloc
    hosts = {urlsplit(source.address).netloc for source in sources}
    trusted = sorted(host for host in hosts if host and f".{api_host}".endswith(f".{host}"))
    if not token or not trusted:
        return {}

    basic = b64encode(f"oauth2:{token}".encode()).decode()
    scheme = urlsplit(api or forge.api).scheme
    first = int(os.environ.get("GIT_CONFIG_COUNT") or 0)
    settings = {"GIT_CONFIG_COUNT": str(first + len(trusted))}
    for number, host in enumerate(trusted, first):
        settings[f"GIT_CONFIG_KEY_{number}"] = f"http.{scheme}://{host}/.extraHeader"
        settings[f"GIT_CONFIG_VALUE_{number}"] = f"Authorization: Basic {basic}"

    return settings


def cache_folder() -> Path:
    """Return where fetched repositories are: below the user's folder of caches."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "orbit" / "fleet"


def lake_cache(lake: Lake) -> Path:
    """Return the folder of a lake's fetched repositories."""
    return cache_folder() / hashlib.sha256(lake.address.encode()).hexdigest()[:12]
