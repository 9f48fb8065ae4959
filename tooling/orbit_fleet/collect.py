"""Collection: the records of many repositories into one lake, without a change in any of them."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from urllib.parse import urlsplit

from orbit_fleet.checkout import EMPTY, FAILED, WRITTEN, Collected
from orbit_fleet.forges import Forge, host_of, token_of
from orbit_fleet.lake import Lake, Repository
from orbit_fleet.names import public, without_prompts
from orbit_fleet.push import UNCHANGED
from orbit_fleet.sources import READABLE, Problem, Source, Sources
from orbit_registry.errors import GitError, plural
from orbit_registry.workspace.git import Git, git_settings
from orbit_registry.workspace.workspace import user_cache

OUTCOMES = {
    WRITTEN: "read",
    UNCHANGED: "unchanged",
    EMPTY: "without decisions",
    FAILED: "failed",
}
SECONDS = 900.0
"""How long one repository may take."""
LONGEST_ERROR = 500
_VERSION = version("orbit-registry")


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
            "older": 0,  # of 0.1.0
            **{outcome: self.count(outcome) for outcome in OUTCOMES},
        }

    def text(self) -> str:
        """Return the collection for people: what needs a look, then how many became what."""
        lines = [f"{each.where}: {each.message}" for each in self.problems]
        for each in self.repositories:
            lines += each.lines()

        lines += [f"{name}: no source names it any more; its records stay" for name in self.missing]
        counts = []
        for outcome, text in OUTCOMES.items():
            if count := self.count(outcome):
                counts.append(f"{count} {text}")

        total = plural(len(self.repositories), "repository", "repositories")
        return "\n".join([*lines, f"{total}: {', '.join(counts) or 'none'}"])


@dataclass(frozen=True, slots=True)
class _Run:
    """What the collection of each repository needs."""

    lake: Lake
    cache: Path
    known: Mapping[str, Repository]
    former: Mapping[tuple[str, str], Repository]
    """Repositories that no source names now, by host and the forge's number."""
    force: bool
    code: bool
    dry_run: bool


def collect(
    lake: Lake,
    sources: Sources,
    *,
    cache: Path,
    jobs: int = 0,
    force: bool = False,
    code: bool = False,
    dry_run: bool = False,
    on_step: Callable[[str, int, int], None] = lambda name, done, count: None,
) -> Collection:
    """Read each repository whose newest commit the lake does not have.

    A repository that fails keeps its records in the lake, and its row says why. A killed run is
    continued by the next: what was written counts. A repository that a list, folder or account
    named before, and that none names now, is missing. With `code` all files are fetched, for what
    they cite and import.

    Raises:
        LakeError: the lake can't be written.
    """
    lake.make(dry_run=dry_run)
    known = {each.repository: each for each in lake.repositories()}
    names = {source.name for source in sources.repositories}
    former = {
        (_host(each.origin), each.forge_id): each
        for each in known.values()
        if each.forge_id and each.repository not in names
    }
    run = _Run(lake, cache, known, former, force, code, dry_run)

    by_name: dict[str, Collected] = {}
    pool = ThreadPoolExecutor(jobs or os.cpu_count() or 1)
    try:
        waiting = [pool.submit(_one, run, source) for source in sources.repositories]
        for done, future in enumerate(as_completed(waiting), 1):
            result = future.result()
            by_name[result.repository] = result
            on_step(result.repository, done, len(waiting))
    finally:
        # Who stops the collection, or has no lake to write to, does not wait for those to come.
        pool.shutdown(cancel_futures=True)

    results = tuple(by_name[source.name] for source in sources.repositories)
    renamed = {each.renamed_from for each in results}
    missing = [
        each
        for each in known.values()
        if each.is_expected and each.source in sources.origins
        if each.repository not in names | renamed
    ]
    for each in missing:
        if not dry_run:
            lake.note(replace(each, is_expected=False))

    lost = tuple(sorted(each.repository for each in missing))
    return Collection(results, tuple(sources.problems), lost)


def _host(origin: str) -> str:
    return origin.partition("/")[0]


def _one(run: _Run, source: Source) -> Collected:
    """Collect one repository, and note in the lake that it was seen."""
    before = run.known.get(source.name)
    result = _collected(run, source, before)
    if result.outcome == FAILED:
        return _failed(run, source, before, result)

    former = run.former.get((_host(source.origin), source.forge_id))
    if former is not None and not run.dry_run:
        row = run.lake.repository(source.name)
        if row is not None:
            seen_at = former.first_seen_at
            run.lake.note(replace(row, renamed_from=former.repository, first_seen_at=seen_at))
            run.lake.remove(former.repository)

    return replace(result, renamed_from=former.repository if former else "")


def _collected(run: _Run, source: Source, before: Repository | None) -> Collected:
    """Read a repository, if the lake does not have its newest commit."""
    result = Collected(source.name, source.shown, UNCHANGED)
    head, error = _head_of(source)
    if error:
        return replace(result, outcome=FAILED, error=error)

    if before is None or run.force or not _is_read(before):
        is_current = False
    else:
        is_same = (before.commit, before.folder) == (head, source.folder)
        is_current = is_same and not before.error and before.has_code >= run.code
        if is_current:  # its file may be damaged, or of a push that was killed
            is_current = run.lake.written(source.name).digest == before.digest
        if before.error and head and before.unread_commit == source.tree(head):
            return replace(result, outcome=FAILED, error=before.error, commit=head)

    if is_current and before is not None:
        if not run.dry_run:
            run.lake.note(source.seen(before))
        return replace(
            result,
            reader=before.reader,
            commit=head,
            records=before.records,
            left_out=before.left_out,
        )

    if head:
        return _in_process(run, source, head)

    if before is not None and before.records:
        error = "it has no commit on its branch any more"
        return replace(result, outcome=FAILED, error=error)

    if not run.dry_run:
        run.lake.note(source.seen(before or Repository(source.name)))
    return replace(result, outcome=EMPTY)


def _head_of(source: Source) -> tuple[str, str]:
    """Return the newest commit of a repository, or why it is not known."""
    here = Path(source.address)
    git = Git(here if here.is_dir() else Path.cwd())
    words = ("ls-remote", "--", source.address)
    settings = ("-c", "protocol.ext.allow=never")
    ask = partial(git.run, *words, settings=settings, variables=without_prompts())
    try:
        answer = ask(source.ref) or ask("refs/heads/*")
    except GitError as error:
        return "", f"{source.shown} can't be read: {error.message}; {READABLE}"

    rows = [row.split("\t") for row in answer.decode("utf-8", "replace").splitlines()]
    commits = [commit for commit, ref in rows if ref == source.ref]
    if commits:
        return commits[0], ""

    if source.branch:
        return "", f"there is no branch {source.branch!r}"

    # HEAD may name a branch that was removed.
    return "", "its default branch is not there; name a `branch` of it" if rows else ""


def _is_read(row: Repository) -> bool:
    """Say whether this version of Orbit, or a newer one, read what the lake has."""
    is_as_new = row.orbit_version == _VERSION or _release(row.orbit_version) > _release(_VERSION)
    return is_as_new and row.is_expected


def _release(text: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", text)]


def _in_process(run: _Run, source: Source, head: str) -> Collected:
    """Return the answer of a process that reads one repository."""
    order = {
        "lake": run.lake.given,
        "source": asdict(source),
        "cache": str(run.cache.absolute()),
        "head": head,
        "force": run.force,
        "code": run.code,
        "dry_run": run.dry_run,
    }
    command = [sys.executable, "-P", "-m", "orbit_fleet.checkout"]
    failed = Collected(source.name, source.shown, FAILED)
    try:
        done = subprocess.run(
            command,
            input=json.dumps(order),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return replace(failed, error=f"reading it took more than {SECONDS:g} s")

    lines = done.stdout.strip().splitlines()
    try:
        return Collected(**json.loads(lines[-1]))
    except (IndexError, ValueError, TypeError):
        last = (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]
        hint = "please report this as a bug"
        return replace(failed, error=f"reading it failed: {last}", hint=hint)


def _failed(run: _Run, source: Source, before: Repository | None, result: Collected) -> Collected:
    """Note why a repository could not be read; the lake keeps what it has."""
    error = public(" ".join(result.error.split()))[:LONGEST_ERROR]
    row = before or Repository(source.name)
    if not run.dry_run:
        seen = replace(source.seen(row), last_seen_at=row.last_seen_at)
        run.lake.note(replace(seen, error=error, unread_commit=source.tree(result.commit)))

    return replace(
        result,
        error=error,
        reader=before.reader if before else "",
        commit=row.commit,
        records=row.records,
    )


def token_settings(sources: Iterable[Source], forge: Forge, api: str) -> dict[str, str]:
    """Return variables by which git gives a forge's token to the forge's own host, and to no other.

    A listing names addresses to clone from, and could name another host. The API may be at a host
    below that of the forge: `api.forge.example`.
    """
    token = token_of(forge)
    api_host = host_of(api or forge.api) or ""
    hosts = {host_of(source.address) for source in sources}
    trusted = sorted({api_host, api_host.removeprefix("api.")} & hosts)
    if not token or not trusted:
        return {}

    basic = b64encode(f"oauth2:{token}".encode()).decode()
    scheme = urlsplit(api or forge.api).scheme
    header = f"Authorization: Basic {basic}"
    return git_settings({f"http.{scheme}://{host}/.extraHeader": header for host in trusted})


def cache_folder() -> Path:
    """Return where fetched repositories are: below the user's folder of caches."""
    return user_cache() / "fleet"


def lake_cache(lake: Lake) -> Path:
    """Return the folder of a lake's fetched repositories."""
    return cache_folder() / hashlib.sha256(lake.address.encode()).hexdigest()[:12]
