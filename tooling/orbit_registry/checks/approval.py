"""Proof of approvals: which commit made a record live, and whether a key or a merge of a person
vouches for it.

What is required, the list of keys and the code owners are read from the state before that commit,
so a change can't approve itself. Everything comes from the repository: the same clone gives the
same answer without a network.
"""

from __future__ import annotations

import posixpath
import re
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import chain
from pathlib import Path

from orbit_registry.formats.codeowners import OWNER_FILES, OwnerLine, owner_lines, owners_of_file
from orbit_registry.model.record import Record
from orbit_registry.repository.codec import data_in, mapping_in
from orbit_registry.workspace.config import config_of
from orbit_registry.workspace.git import Commit, Git, commits_touching
from orbit_registry.workspace.workspace import CONFIG, ORBIT

_APPROVAL = re.compile(r"(?im)^(?:approved|reviewed)-by:[ \t]*(\S.*)$")
_CO_AUTHOR = re.compile(r"(?im)^co-authored-by:[ \t]*(\S.*)$")
_ADDRESS = re.compile(r"<([^<>\s]+@[^<>\s]+)>|^([^<>\s@]+@[^<>\s]+)$")
_ACCOUNT = re.compile(r"(?:^|\s)(@[\w-]+(?:/[\w.-]+)?)")
_FORGE_ADDRESS = re.compile(r"(?:\d+[+-])?([\w-]+)@users\.noreply\.\S+")


@dataclass(frozen=True, slots=True)
class Unproved:
    """A live record whose approval is not proved;
    `is_open` if a later commit may still prove it.
    """

    record: Record
    message: str
    is_open: bool


def unproved(
    git: Git,
    records: Iterable[Record],
    base: str | None,
    changed: Collection[str],
    *,
    is_branch_only: bool = False,
) -> Iterator[Unproved]:
    """Yield live records without the required proof; commits after `base` change no requirement."""
    reviewed = [record for record in records if _is_reviewed(record)]
    edited = [record for record in reviewed if base is None or record.path in changed]
    setters = _setters(git, edited, commits_touching(git, ORBIT, "HEAD")) if edited else []
    if base is not None and not is_branch_only:
        others = [record for record in reviewed if record.path not in changed]
        setters += _setters(git, others, commits_touching(git, ORBIT, base))

    branch: frozenset[str] = frozenset()
    if base:
        branch = frozenset(git.run("rev-list", "--first-parent", f"{base}..HEAD").decode().split())

    proofs = _Proofs(git, branch, base)
    required = [
        (record, setter)
        for record, setter in setters
        if setter is None or not proofs.is_free(setter)
    ]
    proofs.verify([(record, setter) for record, setter in required if setter is not None])
    uncommitted = {
        *git.run_names("diff", "--name-only", "-z", "--relative", "HEAD"),
        *git.untracked(),
    }

    for record, setter in required:
        if setter is not None:
            if not is_branch_only or setter.name in branch:
                yield from proofs.unproved(record, setter)
        elif proofs.state(base or "HEAD").require != "none":
            is_open = record.path in uncommitted
            lacks = "became live in no commit that git can show"
            if is_open:
                lacks = "is live in no commit yet"
            yield Unproved(record, f"{record.id} {lacks}, so no approval is proved", is_open)


def _is_reviewed(record: Record) -> bool:
    """Say whether a record is live, and of a kind in which what an agent writes is not."""
    first = record.kind.status(record.kind.initial["agent"])
    return record.stated_status.phase == "live" and first.phase == "pending"


def _setters(
    git: Git, records: Sequence[Record], commits: Iterable[Commit]
) -> list[tuple[Record, Commit | None]]:
    """Return the commit that made each record live; None where no commit did.

    Commits are given newest first.
    """
    names = {posixpath.basename(record.path) for record in records}
    history: dict[str, list[tuple[Commit, str]]] = {}
    for commit in commits:
        for path, blob in commit.changes:
            if posixpath.basename(path) in names:
                history.setdefault(path, []).append((commit, blob))

    versions = chain.from_iterable(history.get(record.path, ()) for record in records)
    blobs = git.blobs(blob for _, blob in versions if blob)
    return [(record, _setter(git, record, history, blobs)) for record in records]


def _setter(
    git: Git,
    record: Record,
    history: Mapping[str, Sequence[tuple[Commit, str]]],
    blobs: Mapping[str, bytes],
) -> Commit | None:
    setter = None
    versions = history.get(record.path, ())
    while versions:
        for commit, blob in versions:
            if record.kind.status(str(_data(blobs.get(blob)).get("status"))).phase != "live":
                return setter
            setter = commit

        moved = [
            versions for versions in _versions_before(setter, record, history) if versions[0][1]
        ]
        blobs = git.blobs(blob for _, blob in chain.from_iterable(moved) if blob)
        same = (
            versions for versions in moved if _data(blobs[versions[0][1]]).get("uid") == record.uid
        )
        versions = next(same, ())

    return setter


def _versions_before(
    setter: Commit | None, record: Record, history: Mapping[str, Sequence[tuple[Commit, str]]]
) -> Iterator[Sequence[tuple[Commit, str]]]:
    """Yield the older versions of each file that a commit removed and that may be the record's
    under another number.
    """
    if setter is None:
        return

    name = posixpath.basename(record.path)
    for path, blob in setter.changes:
        if blob or path not in history or posixpath.basename(path) != name:
            continue

        versions = history[path]
        index = next(index for index, (commit, _) in enumerate(versions) if commit is setter)
        if versions[index + 1 :]:
            yield versions[index + 1 :]


def _data(content: bytes | None) -> Mapping[str, object]:
    return data_in((content or b"").decode("utf-8", "replace")) or {}


@dataclass(frozen=True)
class _State:
    git: Git
    commit: str

    @cached_property
    def _settings(self) -> Mapping[str, object]:
        content = self.git.read(self.commit, CONFIG)
        return mapping_in(_data(content), "approval")

    def _setting(self, name: str) -> object:
        return self._settings.get(name, config_of({}).setting("approval", name))

    @property
    def require(self) -> str:
        return str(self._setting("require"))

    @cached_property
    def keys(self) -> bytes:
        return self.git.read(self.commit, str(self._setting("allowed_signers"))) or b""

    def is_agent(self, signer: str) -> bool:
        patterns = self._setting("agents")
        return isinstance(patterns, list) and any(
            fnmatchcase(signer, str(pattern)) for pattern in patterns
        )

    @cached_property
    def owner_lines(self) -> list[OwnerLine]:
        """The lines of CODEOWNERS, which is at the repository's top."""
        top = Git(self.git.top or self.git.folder)
        content = next(filter(None, (top.read(self.commit, path) for path in OWNER_FILES)), b"")
        return owner_lines(content.decode("utf-8", "replace"))

    def owners(self, path: str) -> tuple[str, ...]:
        return owners_of_file(self.owner_lines, self.git.prefix + path)

    def requires_as(self, other: _State) -> bool:
        return self._settings == other._settings and self.owner_lines == other.owner_lines


class _Proofs:
    def __init__(self, git: Git, branch: frozenset[str], base: str | None) -> None:
        self._git, self._branch, self._base = git, branch, base
        self._states: dict[str, _State] = {}
        self._inner: dict[str, list[Commit]] = {}
        self._signers: dict[tuple[bytes, str], tuple[str, str]] = {}

    def state(self, commit: str) -> _State:
        return self._states.setdefault(commit, _State(self._git, commit))

    def before(self, setter: Commit) -> _State:
        """Return what was required when a commit was made;
        the branch of a change has no say in it.
        """
        if self._base and setter.name in self._branch:
            return self.state(self._base)
        return self.state(setter.parents[0] if setter.parents else setter.name)

    @cached_property
    def changer(self) -> str | None:
        """The commit of the branch with another requirement or other code owners;
        merged alone, it would count.
        """
        if self._base is None:
            return None

        files = [f":(top){self._git.prefix}{CONFIG}", *(f":(top){path}" for path in OWNER_FILES)]
        between = f"{self._base}..HEAD"
        answer = self._git.run("rev-list", "--full-history", between, "--", *files)
        commits = answer.decode().split()
        base = self.state(self._base)
        return next(
            (commit for commit in commits if not self.state(commit).requires_as(base)), None
        )

    def is_free(self, setter: Commit) -> bool:
        """Say whether nothing was required then; a shallow clone can't tell that of its oldest
        commits.
        """
        is_first = not setter.parents and not self._git.is_shallow
        return is_first or self.before(setter).require == "none"

    def _commits(self, record: Record, setter: Commit) -> list[Commit]:
        """Return the commit of the main line, and the one of the merged branch that made the record
        live.
        """
        if len(setter.parents) < 2:
            return [setter]

        if setter.name not in self._inner:
            between = f"{setter.parents[0]}..{setter.name}"
            self._inner[setter.name] = list(
                commits_touching(self._git, ORBIT, between, is_first_parent=False)
            )

        inner = [commit for commit in self._inner[setter.name] if len(commit.parents) < 2]
        setters = _setters(self._git, [record], inner)
        return [setter, *(commit for _, commit in setters if commit is not None)]

    def verify(self, pairs: Iterable[tuple[Record, Commit]]) -> None:
        by_keys: dict[bytes, dict[str, None]] = {}
        for record, setter in pairs:
            state = self.before(setter)
            if state.require == "signed":
                names = by_keys.setdefault(state.keys, {})
                names.update(dict.fromkeys(commit.name for commit in self._commits(record, setter)))

        for keys, names in by_keys.items():
            with tempfile.TemporaryDirectory(prefix="orbit-keys-") as folder:
                file = Path(folder) / "allowed_signers"
                file.write_bytes(keys)
                for name, result, signer in self._git.signatures(list(names), file):
                    self._signers[keys, name] = (result, signer)

    def unproved(self, record: Record, setter: Commit) -> Iterator[Unproved]:
        problem = self._problem(record, setter)
        if not problem:
            return

        is_open = setter.name in self._branch and self.before(setter).require == "code-owner"
        if is_open and (changer := self.changer):
            is_open = False
            problem = f"and {changer[:10]} of the same change alters what an approval needs"

        message = f"{record.id} became {record.stated_status.name} in {setter.name[:10]}, {problem}"
        yield Unproved(record, message, is_open)

    def _problem(self, record: Record, setter: Commit) -> str:
        state = self.before(setter)
        if not setter.parents:
            return "or earlier: this clone is shallow, so that nothing proves it"
        if state.require == "code-owner":
            return self._owner_problem(record, setter, state)

        results = [
            self._signers.get((state.keys, commit.name), ("", ""))
            for commit in self._commits(record, setter)
        ]
        valid = [signer for result, signer in results if result == "G"]
        if any(not state.is_agent(signer) for signer in valid):
            return ""
        if valid:
            return f"which the key of an agent signed: {', '.join(valid)}"

        if {result for result, _ in results} <= {"N", ""}:
            return "which is not signed"
        return "signed by no allowed key"

    def _owner_problem(self, record: Record, setter: Commit, state: _State) -> str:
        owners = {owner.casefold() for owner in state.owners(record.path)}
        if not owners:
            return f"and no line of CODEOWNERS names an owner of {record.path}"

        inner = self._commits(record, setter)[1:]
        authors = [commit.author for commit in inner or [setter]]
        for commit in (setter, *inner):
            authors += _CO_AUTHOR.findall(commit.message)

        words = ("interpret-trailers", "--parse", "--no-divider")
        stdout = self._git.run(*words, stdin=setter.message.encode("utf-8", "surrogateescape"))
        trailers = stdout.decode("utf-8", "replace")
        approvers = map(identities, _APPROVAL.findall(trailers))
        by_owner = [approver for approver in approvers if not approver.isdisjoint(owners)]
        if not by_owner:
            return "which names no code owner as the one who approved it"

        of_authors = frozenset[str]().union(*map(identities, authors))
        if all(approver & of_authors for approver in by_owner):
            return "which names only its author as the one who approved it"

        return ""


def identities(text: str) -> frozenset[str]:
    """Return how a person is known, from `Ada <ada@example.org>`,
    `@ada` or an address of a forge.
    """
    known = {account.casefold() for account in _ACCOUNT.findall(text)}
    address = _ADDRESS.search(text.strip())
    if address is not None:
        mail = (address[1] or address[2]).casefold()
        known.add(mail)
        if forge := _FORGE_ADDRESS.fullmatch(mail):
            known.add(f"@{forge[1]}")

    return frozenset(known)
