"""Sources of a collection: a list of repositories, a folder of checkouts, an account of a forge."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from orbit_fleet.forges import FORGES, listing
from orbit_fleet.lake import valid_repository
from orbit_fleet.names import origin_in, path_in
from orbit_registry.errors import OrbitError, UsageError
from orbit_registry.formats.yaml import load
from orbit_registry.workspace.config import without_user
from orbit_registry.workspace.git import Git

LARGEST = 8 << 20
"""Bytes of a list of repositories."""
DEEPEST = 3
"""Folders between a folder of checkouts and a checkout."""
KEYS = ("address", "name", "branch", "folder")
LISTED = ("remote", "forge_id", "is_fork", "is_archived")
"""What a forge or a checkout says besides."""
_REFUSED = re.compile(r"-|ext::|fd::", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
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
    def shown(self) -> str:
        """The address without user and token."""
        return without_user(self.address)


@dataclass(frozen=True, slots=True)
class Problem:
    """An entry of the sources that can't be used: where it is, and why."""

    where: str
    message: str


def sources_in(arguments: Sequence[str], *, api: str = "") -> tuple[list[Source], list[Problem]]:
    """Return the repositories that arguments name, each once, and the entries that can't be used.

    An argument is a file (YAML, JSON, or an address a line), a folder with checkouts, or an account
    of a forge: `github:acme`, `gitlab:acme/platform`, `gitea:acme` with the address of its `api`.

    Raises:
        UsageError: an argument is none of these.
        LakeError: a forge does not answer.
    """
    sources: dict[str, Source] = {}
    problems: list[Problem] = []
    for argument in arguments:
        for entry in _entries(argument, api):
            if isinstance(entry, Problem):
                problems.append(entry)
                continue

            before = sources.get(entry.name)
            if before is None:
                sources[entry.name] = replace(entry, named_by=origin_name(argument, api))
            elif before.address != entry.address:
                message = f"{entry.name} is {before.shown} and {entry.shown}; give one a `name`"
                problems.append(Problem(argument, message))

    return list(sources.values()), problems


def origin_name(argument: str, api: str = "") -> str:
    """Return the name of a source in a lake: the same in each collection that reads it."""
    path = Path(argument).expanduser()
    if path.exists():
        return str(path.resolve())

    return f"{argument} {api}".strip()


def _entries(argument: str, api: str) -> Iterator[Source | Problem]:
    forge, _, account = argument.partition(":")
    path = Path(argument).expanduser()
    if forge in FORGES and account and not path.exists():
        for listed in listing(forge, account, api):
            yield _source(listed, argument)
    elif path.is_dir():
        yield from _checkouts(path)
    elif path.is_file():
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
        if (current / ".git").exists() or _is_bare(current):
            remote = Git(current).origin() or ""
            here = path_in(str(current.relative_to(root))) or current.name
            # A checkout has the name under which its repository would push itself.
            name = path_in(remote) if origin_in(remote) else here
            fields = {"address": str(current), "name": name, "remote": remote}
            yield _source(fields, str(folder))
            continue

        if depth < DEEPEST:
            waiting += [
                (each, depth + 1)
                for each in sorted(current.iterdir())
                if each.is_dir() and not each.is_symlink() and each.name != ".git"
            ]


def _is_bare(folder: Path) -> bool:
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir()


def _listed(file: Path) -> Iterator[Source | Problem]:
    """Yield the entries of a list."""
    if file.stat().st_size > LARGEST:
        raise UsageError(f"{file} has more than {LARGEST >> 20} MB", hint="split the list")

    text = file.read_text("utf-8", "replace")
    if file.suffix not in (".yaml", ".yml", ".json"):
        for number, line in enumerate(text.splitlines(), 1):
            address = line.partition(" #")[0].strip()
            if address and not address.startswith("#"):
                yield _source({"address": address}, f"{file}:{number}")
        return

    try:
        data = load(text)
    except OrbitError as error:
        raise UsageError(f"{file}: {error.message}", hint=EXAMPLE) from None

    entries = data.get("repositories") if isinstance(data, dict) else data
    if not isinstance(entries, list):
        raise UsageError(f"{file} has no list of repositories", hint=EXAMPLE)

    for number, entry in enumerate(entries, 1):
        fields = entry if isinstance(entry, dict) else {"address": entry}
        yield _source(fields, f"{file}, entry {number}")


def _source(fields: Mapping[str, object], where: str) -> Source | Problem:
    unknown = [str(key) for key in fields if key not in (*KEYS, *LISTED)]
    if unknown:
        return Problem(where, f"{unknown[0]!r} is no key; there is {', '.join(KEYS)}")

    texts = {key: fields.get(key) or "" for key in KEYS}
    wrong = [key for key, value in texts.items() if not isinstance(value, str)]
    if wrong:
        return Problem(where, f"{wrong[0]} is no text")

    address, name, branch, folder = (str(texts[key]).strip() for key in KEYS)
    if not address or _REFUSED.match(address) or _CONTROL.search(address):
        return Problem(where, f"{without_user(address)!r} is no address of a repository")

    if branch.startswith("-") or _CONTROL.search(branch):
        return Problem(where, f"{branch!r} is no branch")

    if folder.startswith("/") or ".." in folder.split("/"):
        return Problem(where, f"{folder!r} leads out of the repository")

    try:
        name = valid_repository(name or path_in(address))
    except UsageError as error:
        return Problem(where, error.message)

    return Source(
        address=address,
        name=name,
        branch=branch,
        folder=folder,
        remote=str(fields.get("remote") or ""),
        forge_id=str(fields.get("forge_id") or ""),
        is_fork=fields.get("is_fork") is True,
        is_archived=fields.get("is_archived") is True,
    )
