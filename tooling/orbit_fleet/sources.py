"""Sources of a collection: a list of repositories, a folder of checkouts, an account of a forge."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from types import MappingProxyType

from orbit_fleet.forges import FORGES, listing
from orbit_fleet.lake import Repository, valid_repository
from orbit_fleet.names import origin_in, path_in, public
from orbit_fleet.store import mode_of
from orbit_registry.errors import LakeError, UsageError
from orbit_registry.formats.hosting import FORMS
from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.yaml import load
from orbit_registry.model.votes import format_time
from orbit_registry.workspace.files import from_home
from orbit_registry.workspace.git import Git
from orbit_registry.workspace.workspace import refuse_empty_path

LARGEST = 8 << 20
"""Bytes of a list of repositories."""
DEEPEST = 3
"""Folders between a folder of checkouts and a checkout."""
KEYS = ("address", "name", "branch", "folder", "forge")
LISTED = ("remote", "forge_id", "is_fork", "is_archived")
"""What a forge or a checkout says besides."""
_REFUSED = re.compile(r"-|ext::|fd::", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
"""What no lake takes; a byte of a name that is no UTF-8 is one of the last."""
_NOT_IN_ADDRESS = re.compile(r"[\s?#\"'<>]")
"""What no address on a host has: a branch behind a blank or a `#`, a token behind a `?`."""
_PART = re.compile(r"(?:^|/)(?:\.git|\.\.)(?:/|$)", re.IGNORECASE)
"""A part of a path that leads to what is no file of a repository."""
READABLE = "see that the address is right and that you may read it: `git ls-remote ADDRESS`"
"""What to do where a repository can't be read."""
EXAMPLE = (
    "a line `https://forge.example/acme/shop`, or `{address: …, name: …, branch: …, folder: …}`"
)


@dataclass(frozen=True, slots=True)
class Source:
    """A repository that is expected in a lake."""

    address: str  # what `git clone` takes
    name: str  # its name in the lake
    branch: str = ""  # "" for its default branch
    folder: str = ""  # of its decisions, if the importer would not look there
    forge: str = ""  # `gitlab`, where the host does not tell
    remote: str = ""  # of a checkout: where it was cloned from
    forge_id: str = ""
    is_fork: bool = False
    is_archived: bool = False
    named_by: str = ""  # the list, the folder, or the account of a forge

    @property
    def origin(self) -> str:
        """Host and path of the repository; "" if it has no host."""
        return origin_in(self.remote or self.address)

    @property
    def ref(self) -> str:
        """Its branch as git names it; `HEAD` is the default branch."""
        if self.branch:
            return f"refs/heads/{self.branch}"

        return "HEAD"

    @property
    def shown(self) -> str:
        """The address without user and token."""
        return public(self.address)

    def tree(self, commit: str) -> str:
        """Return what is read of a commit, as git names it: all, or a folder."""
        if commit and self.folder:
            return f"{commit}:{self.folder}"

        return commit

    def seen(self, row: Repository) -> Repository:
        """Return what a lake knows of the repository, with what this source says of it now."""
        now = format_time(datetime.now(UTC))
        return replace(
            row,
            address=self.shown,
            origin=self.origin,
            forge=self.forge or row.forge,
            first_seen_at=row.first_seen_at or now,
            last_seen_at=now,
            orbit_version=version("orbit-registry"),
            forge_id=self.forge_id or row.forge_id,
            is_fork=self.is_fork,
            is_archived=self.is_archived,
            is_expected=True,
            source=self.named_by,
        )


@dataclass(frozen=True, slots=True)
class Problem:
    """An entry of the sources that can't be used: where it is, and why."""

    where: str
    message: str


@dataclass(slots=True)
class Sources:
    """The repositories that arguments name, each once."""

    repositories: list[Source] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    origins: set[str] = field(default_factory=set)
    """The lists, folders and accounts that were read."""


def sources_in(
    arguments: Sequence[str], *, apis: Mapping[str, str] = MappingProxyType({})
) -> Sources:
    """Return the repositories that arguments name, and the entries that can't be used.

    An argument is a file (YAML, JSON, or an address a line), a folder with checkouts, or an account
    of a forge: `github:acme`, `gitlab:acme/platform`, `gitea:acme`; `apis` has their addresses.
    A forge that does not answer is a problem, and the other arguments are read.

    Raises:
        UsageError: an argument is none of these.
    """
    result = Sources()
    by_name: dict[str, Source] = {}
    for argument in arguments:
        api = apis.get(argument.partition(":")[0], "")
        origin = origin_name(argument, api)
        try:
            entries = list(_entries(argument, api))
        except LakeError as error:
            result.problems.append(Problem(argument, f"{error.message}; {error.hint}"))
            continue

        result.origins.add(origin)
        for entry in entries:
            if isinstance(entry, Problem):
                result.problems.append(entry)
                continue

            # A file system may take names that differ in case for one.
            before = by_name.setdefault(entry.name.casefold(), replace(entry, named_by=origin))
            if not _is_same(before, entry):
                message = f"{entry.name} is {before.shown} and {entry.shown}; give one a `name`"
                result.problems.append(Problem(argument, message))

    result.repositories = list(by_name.values())
    return result


def _is_same(first: Source, second: Source) -> bool:
    """Say whether two entries with one name mean the same state of one repository."""
    if (first.branch, first.folder) != (second.branch, second.folder):
        return False

    host = origin_in(first.address)
    return first.address == second.address or (bool(host) and host == origin_in(second.address))


def origin_name(argument: str, api: str = "") -> str:
    """Return the name of a source in a lake: the same in each collection that reads it."""
    path = from_home(Path(argument))
    if mode_of(path):
        return str(path.resolve())

    return public(f"{argument} {api}".strip())


def _entries(argument: str, api: str) -> Iterator[Source | Problem]:
    refuse_empty_path(argument)
    forge, _, account = argument.partition(":")
    path = from_home(Path(argument))
    if forge in FORGES and account and not mode_of(path):
        for listed in listing(forge, account, api):
            yield _source({**listed, "forge": forge}, argument)
    elif S_ISDIR(mode_of(path)):
        yield from _checkouts(path)
    elif S_ISREG(mode_of(path)):
        yield from _listed(path)
    else:
        hint = f"a file with {EXAMPLE}; a folder of checkouts; or `github:acme`"
        raise UsageError(f"{argument} is not there", hint=hint)


def _checkouts(folder: Path) -> Iterator[Source | Problem]:
    """Yield the repositories below a folder, or the folder itself."""
    root = folder.resolve()
    waiting = [(root, 0)]
    while waiting:
        current, depth = waiting.pop(0)
        try:
            entries = {entry.name: entry for entry in sorted(current.iterdir())}
        except OSError as error:
            yield Problem(str(current), f"it can't be read: {error.strerror}")
            continue

        if ".git" in entries or {"HEAD", "objects", "refs"} <= entries.keys():
            remote = Git(current).origin() or ""
            here = path_in(str(current.relative_to(root))) or path_in(current.name)
            # A checkout has the name under which its repository would push itself.
            name = path_in(remote) if origin_in(remote) else here
            fields = {"address": str(current), "name": name, "remote": remote}
            yield _source(fields, str(folder))
            continue

        if depth < DEEPEST:
            waiting += [
                (entry, depth + 1)
                for entry in entries.values()
                if entry.is_dir() and not entry.is_symlink()
            ]


def _listed(file: Path) -> Iterator[Source | Problem]:
    """Yield the entries of a list."""
    if file.stat().st_size > LARGEST:
        raise UsageError(f"{file} has more than {LARGEST >> 20} MB", hint="split the list")

    text = file.read_text("utf-8-sig", "replace")
    if "\0" in text:
        raise UsageError(f"{file} is no text in UTF-8", hint=f"write {EXAMPLE}")

    folder = file.absolute().parent
    if file.suffix not in (".yaml", ".yml", ".json"):
        for number, line in enumerate(text.split("\n"), 1):
            address = line.partition(" #")[0].strip()
            if address and not address.startswith("#"):
                yield _source({"address": address}, f"{file}:{number}", folder)
        return

    try:
        data = load(text)
    except YamlProblemError as error:
        raise UsageError(f"{file}: {error}", hint=EXAMPLE) from None

    entries = data.get("repositories") if isinstance(data, dict) else data
    if not isinstance(entries, list):
        raise UsageError(f"{file} has no list of repositories", hint=EXAMPLE)

    for number, entry in enumerate(entries, 1):
        fields = entry if isinstance(entry, dict) else {"address": entry}
        yield _source(fields, f"{file}, entry {number}", folder)


def _source(
    fields: Mapping[str, object], where: str, folder_of_list: Path | None = None
) -> Source | Problem:
    unknown = [str(key) for key in fields if key not in (*KEYS, *LISTED)]
    if unknown:
        return Problem(where, f"{unknown[0]!r} is no key; there is {', '.join(KEYS)}")

    texts = {key: fields.get(key) or "" for key in KEYS}
    wrong = [key for key, value in texts.items() if not isinstance(value, str)]
    if wrong:
        return Problem(where, f"{wrong[0]} is no text")

    address, name, branch, folder, forge = (str(texts[key]).strip() for key in KEYS)
    problem = _problem_of(address, branch, folder, forge)
    if problem:
        return Problem(where, problem)

    try:
        name = valid_repository(name or path_in(address))
    except UsageError as error:
        return Problem(where, f"{public(error.message)}; give it a `name`")

    if folder_of_list is not None and "://" not in address and not origin_in(address):
        address = str(folder_of_list / from_home(Path(address)))

    return Source(
        address=address,
        name=name,
        branch=branch,
        folder=folder.strip("/"),
        forge=forge,
        remote=str(fields.get("remote") or ""),
        forge_id=str(fields.get("forge_id") or ""),
        is_fork=fields.get("is_fork") is True,
        is_archived=fields.get("is_archived") is True,
    )


def _problem_of(address: str, branch: str, folder: str, forge: str) -> str:
    """Return why the fields of an entry can't be used; no message has what may be a secret."""
    if not address or _REFUSED.match(address) or _CONTROL.search(address):
        return f"{public(address)!r} is no address of a repository"

    odd = _NOT_IN_ADDRESS.search(public(address))
    if odd and origin_in(address):
        return f"an address has no {odd[0]!r}; a branch has a key: {EXAMPLE}"

    if branch.startswith("-") or _CONTROL.search(branch):
        return f"{branch!r} is no branch"

    if folder.startswith("/") or _PART.search(folder) or _CONTROL.search(folder):
        return f"{folder!r} is no folder of a repository"

    if forge and forge not in FORMS:
        return f"{forge!r} is no forge; there is {', '.join(FORMS)}"

    return ""
