"""Proof of approvals: which commit gave a protected thing its state, and whether a key or a merge
of a person vouches for that state.

What is required, the list of keys and the code owners are read from the state before that commit,
so a change can't approve itself. Everything comes from the repository: the same clone gives the
same answer without a network.
"""

from __future__ import annotations

import posixpath
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path

from orbit_registry.checks.protected import (
    Change,
    Contents,
    Subject,
    is_reviewed,
    record_state,
    record_subject,
    state_of,
)
from orbit_registry.formats.codeowners import OWNER_FILES, OwnerGroup
from orbit_registry.model.kind import KindTable
from orbit_registry.model.record import Record
from orbit_registry.repository.policy import Policy, record_at
from orbit_registry.workspace.git import Git
from orbit_registry.workspace.git_log import Commit, commits_touching
from orbit_registry.workspace.workspace import CONFIG, ORBIT

_APPROVAL = re.compile(r"(?im)^(?:approved|reviewed)-by:[ \t]*(\S.*)$")
_CO_AUTHOR = re.compile(r"(?im)^co-authored-by:[ \t]*(\S.*)$")
_SEVERAL = re.compile(r"[ \t]*[,;][ \t]*|[ \t]+(?:and|&|und|et|y)[ \t]+")
_ADDRESS = re.compile(
    r"<([^<>\s]+@[^<>\s]+)>|[(\[]([^()\[\]\s@]+@[^()\[\]\s]+)[)\]]$"
    r"|(?:^|\s)([^<>()\s@]+@[^<>()\s@]+)$"
)
_ACCOUNT = re.compile(r"(?:^|[\s(\[])(@[\w-]+(?:/[\w.-]+)?)")
_FORGE_ADDRESS = re.compile(r"(?:\d+[+-])?([\w-]+)@users\.noreply\.\S+")

_NO_COMMIT = "in no commit yet, so no approval is proved"


@dataclass(frozen=True, slots=True)
class Judged:
    """A change of something protected, and why its approval is not proved: empty where it is, or
    where none is required; `is_open` if a later commit may still prove it.
    """

    change: Change
    problem: str = ""
    is_open: bool = False


def judged(git: Git, policy: Policy, changes: Sequence[Change]) -> Iterator[Judged]:
    """Yield the changes of a branch since its base, each with what its approval lacks."""
    if policy.require == "none":
        for change in changes:
            yield Judged(change)
        return

    subjects = [change.subject for change in changes]
    history = History(git, f"{policy.commit}..HEAD", [*_paths(subjects)])
    history.load(subjects)
    proofs = _Proofs(git, policy)
    head = [subject.state(history.contents("HEAD", subject)) for subject in subjects]
    setters = [
        history.setter(subject, state)[0] for subject, state in zip(subjects, head, strict=True)
    ]
    proofs.verify(history, zip(subjects, setters, head, strict=True))
    uncommitted = frozenset(git.unlike_head())

    for change, state, setter in zip(changes, head, setters, strict=True):
        if change.is_light:
            yield Judged(change)
        elif change.subject.unprovable:
            yield Judged(change, change.subject.unprovable)
        elif setter is None or not uncommitted.isdisjoint(change.subject.paths):
            is_open = not uncommitted.isdisjoint(change.subject.paths)
            yield Judged(change, _NO_COMMIT, is_open)
        else:
            problem, is_open = proofs.problem(history, change.subject, setter, state)
            yield Judged(change, problem, is_open)


def unproved(
    git: Git, kinds: KindTable, records: Iterable[Record], base: str | None
) -> Iterator[Judged]:
    """Yield accepted records whose present state has not the proof that was required when a commit
    gave it to them.
    """
    since = _required_since(git)
    if since is None:
        return

    reviewed = [record for record in records if is_reviewed(record) and not record.origin]
    subjects = [record_subject(kinds, record) for record in reviewed]
    folders = {posixpath.dirname(path) for path in _paths(subjects) if _is_document(path)}
    history = History(git, since, [ORBIT, *sorted(folders)])
    history.load(subjects)
    proofs = _Proofs(git, Policy(git, base) if base else None)
    uncommitted = frozenset(git.unlike_head())
    states: list[_Found] = []

    for record, subject in zip(reviewed, subjects, strict=True):
        state = record_state(record)
        setter, before, known = history.record_setter(kinds, record, subject, state)
        states.append(_Found(record, known, state, setter, before))

    required = [row for row in states if row.setter is not None and not proofs.is_free(row.setter)]
    proofs.verify(history, ((row.subject, row.setter, row.state) for row in required))

    for row in states:
        is_edited = not uncommitted.isdisjoint(row.subject.paths)
        if is_edited and row.state != history.head_state(row.subject):
            if proofs.policy("HEAD").require != "none":
                yield Judged(row.change, _NO_COMMIT, is_open=True)
        elif row in required and row.setter is not None:
            problem, is_open = proofs.problem(history, row.subject, row.setter, row.state)
            if problem:
                yield Judged(row.change, problem, is_open)


@dataclass(frozen=True, slots=True)
class _Found:
    """An accepted record, and the commit that gave it its present state."""

    record: Record
    subject: Subject
    state: str
    setter: Commit | None
    before: str
    """Its state before that commit; empty if it was not accepted."""

    @property
    def change(self) -> Change:
        what = "was changed" if self.before else f"became {self.record.stated_status.name}"
        return Change(f"{self.record.id} {what}", self.subject, self.record, ("status",))


def _paths(subjects: Iterable[Subject]) -> Iterator[str]:
    for subject in subjects:
        yield from subject.paths


def _is_document(path: str) -> bool:
    return not path.startswith(f"{ORBIT}/")


def _required_since(git: Git) -> str | None:
    """Return the commits in which an approval may have been required; None where it never was.

    What is older than the first requirement needs no proof.
    """
    first: Commit | None = None
    for commit in commits_touching(git, [CONFIG], "HEAD"):
        if Policy(git, commit.name).require != "none":
            first = commit

    if first is None:
        return None
    if first.parents:
        return f"{first.parents[0]}..HEAD"

    return "HEAD"


@dataclass
class History:
    """The commits of some revisions that touch some files, newest first, a merge as one step."""

    git: Git
    revisions: str
    paths: Sequence[str]
    is_first_parent: bool = True
    _blobs: dict[str, bytes] = field(default_factory=dict)
    _asked: set[str] = field(default_factory=set)

    @cached_property
    def commits(self) -> list[Commit]:
        """The commits, with names of files from the repository's top."""
        names = [self.git.prefix + path for path in dict.fromkeys(self.paths)]
        top = Git(self.git.top or self.git.folder)
        inside = [posixpath.normpath(name) for name in names]
        return list(
            commits_touching(top, inside, self.revisions, is_first_parent=self.is_first_parent)
        )

    @cached_property
    def _by_path(self) -> dict[str, list[int]]:
        by_path: dict[str, list[int]] = {}
        for position, commit in enumerate(self.commits):
            for path, _ in commit.changes:
                by_path.setdefault(path, []).append(position)

        return by_path

    def touching(self, subject: Subject) -> list[Commit]:
        """Return the commits that touch a subject, newest first."""
        positions: set[int] = set()
        for path in subject.paths:
            positions.update(self._by_path.get(self._full(path), ()))

        return [self.commits[position] for position in sorted(positions)]

    def _full(self, path: str) -> str:
        return posixpath.normpath(self.git.prefix + path)

    def load(self, subjects: Iterable[Subject]) -> None:
        """Read the files of subjects in all their commits at once."""
        names: list[str] = []
        for subject in subjects:
            touching = self.touching(subject)
            revisions = ["HEAD", *(commit.name for commit in touching)]
            revisions += touching[-1].parents[:1] if touching else ()
            for revision in revisions:
                names += (f"{revision}:{self._full(path)}" for path in subject.paths)

        self._read(names)

    def _read(self, names: Iterable[str]) -> None:
        unread = [name for name in dict.fromkeys(names) if name not in self._asked]
        self._asked.update(unread)
        self._blobs |= self.git.blobs(unread, check=False)

    def contents(self, revision: str, subject: Subject) -> Contents:
        """Return the files of a subject in a commit."""
        names = {f"{revision}:{self._full(path)}": path for path in subject.paths}
        self._read(names)
        return {path: self._blobs[name] for name, path in names.items() if name in self._blobs}

    def head_state(self, subject: Subject) -> str:
        """Return the state of a subject in the commit checked out."""
        return subject.state(self.contents("HEAD", subject))

    def setter(self, subject: Subject, state: str) -> tuple[Commit | None, str]:
        """Return the commit that gave a subject its state, and its state before that; none where
        it had it all along.
        """
        setter: Commit | None = None
        for commit in self.touching(subject):
            earlier = subject.state(self.contents(commit.name, subject))
            if earlier != state:
                return setter, earlier
            setter = commit

        if setter is None or not setter.parents:
            return setter, ""

        before = subject.state(self.contents(setter.parents[0], subject))
        if before == state:
            return (None, before)

        return (setter, before)

    def record_setter(
        self, kinds: KindTable, record: Record, subject: Subject, state: str
    ) -> tuple[Commit | None, str, Subject]:
        """Return the same of a record, which may have had other numbers, and all its files."""
        while True:
            setter, before = self.setter(subject, state)
            earlier = self._renumbered(kinds, record, subject, setter) if setter else None
            if earlier is None or before:
                return setter, before, subject

            new = record_subject(kinds, earlier, record)
            paths = tuple(dict.fromkeys([*subject.paths, *new.paths]))
            subject = Subject(subject.path, paths, state_of(kinds, record.uid, paths))

    def _renumbered(
        self, kinds: KindTable, record: Record, subject: Subject, setter: Commit
    ) -> Record | None:
        """Return a record as it was under another number, if a commit moved it."""
        name = posixpath.basename(record.path)
        prefix = self.git.prefix
        gone = [
            path.removeprefix(prefix)
            for path, blob in setter.changes
            if not blob and path.startswith(prefix) and posixpath.basename(path) == name
        ]
        for path in gone if setter.parents else ():
            content = self.git.read(setter.parents[0], path)
            earlier = record_at(kinds, path, content or b"")
            if earlier and earlier.uid == record.uid and path not in subject.paths:
                return earlier

        return None


class _Proofs:
    def __init__(self, git: Git, policy: Policy | None) -> None:
        self._git, self._base = git, policy
        self._policies: dict[str, Policy] = {}
        self._signers: dict[tuple[bytes, str], tuple[str, str]] = {}

    def policy(self, commit: str) -> Policy:
        return self._policies.setdefault(commit, Policy(self._git, commit))

    @cached_property
    def _branch(self) -> frozenset[str]:
        if self._base is None:
            return frozenset()

        between = f"{self._base.commit}..HEAD"
        return frozenset(self._git.run("rev-list", "--first-parent", between).decode().split())

    def before(self, setter: Commit) -> Policy:
        """Return what was required when a commit was made;
        the branch of a change has no say in it.
        """
        if self._base and setter.name in self._branch:
            return self._base
        return self.policy(setter.parents[0] if setter.parents else setter.name)

    @cached_property
    def _detour(self) -> str | None:
        """The commit of the branch that asks for another approval than the base;
        merged alone, it would count.
        """
        if self._base is None:
            return None

        files = [f":(top){self._git.prefix}{CONFIG}", *(f":(top){path}" for path in OWNER_FILES)]
        between = f"{self._base.commit}..HEAD"
        answer = self._git.run("rev-list", "--full-history", between, "--", *files)
        for name in answer.decode().split():
            if not self.policy(name).requires_as(self._base):
                return name

        return None

    def is_free(self, setter: Commit) -> bool:
        """Say whether nothing was required then; a shallow clone can't tell that of its oldest
        commits.
        """
        is_first = not setter.parents and not self._git.is_shallow
        return is_first or self.before(setter).require == "none"

    def _commits(
        self, history: History, subject: Subject, setter: Commit, state: str
    ) -> list[Commit]:
        """Return the commit of the main line, and the one of the merged branch that gave a subject
        its state.
        """
        if len(setter.parents) < 2:
            return [setter]

        between = f"{setter.parents[0]}..{setter.name}"
        inner = History(self._git, between, subject.paths, is_first_parent=False)
        inner.commits[:] = [commit for commit in inner.commits if len(commit.parents) < 2]
        own, _ = inner.setter(subject, state)
        if own is None:
            return [setter]

        return [setter, own]

    def verify(self, history: History, rows: Iterable[tuple[Subject, Commit | None, str]]) -> None:
        """Ask git at once about the signatures of all commits that may prove something."""
        by_keys: dict[bytes, dict[str, None]] = {}
        for subject, setter, state in rows:
            if setter is None or self.before(setter).require != "signed":
                continue

            names = by_keys.setdefault(self.before(setter).keys, {})
            for commit in self._commits(history, subject, setter, state):
                names[commit.name] = None

        for keys, names in by_keys.items():
            with tempfile.TemporaryDirectory(prefix="orbit-keys-") as folder:
                file = Path(folder) / "allowed_signers"
                file.write_bytes(keys)
                for name, result, signer in self._git.signatures(list(names), file):
                    self._signers[keys, name] = (result, signer)

    def problem(
        self, history: History, subject: Subject, setter: Commit, state: str
    ) -> tuple[str, bool]:
        """Return what the approval of a state lacks, and whether a merge may still prove it."""
        problem = self._problem(history, subject, setter, state)
        if not problem:
            return "", False

        problem = f"in {setter.name[:10]}, {problem}"
        is_open = setter.name in self._branch and self.before(setter).require == "code-owner"
        if is_open and self._detour:
            problem = (
                f"in {setter.name[:10]}, and {self._detour[:10]} of the same change alters what "
                "an approval needs"
            )
            is_open = False

        return problem, is_open

    def _problem(self, history: History, subject: Subject, setter: Commit, state: str) -> str:
        policy = self.before(setter)
        commits = self._commits(history, subject, setter, state)
        if not setter.parents:
            return "or earlier: this clone is shallow, so that nothing proves it"
        if policy.require == "code-owner":
            return self._owner_problem(subject.path, commits, policy)

        results = [self._signers.get((policy.keys, commit.name), ("", "")) for commit in commits]
        valid = [signer for result, signer in results if result == "G"]
        if any(not policy.is_agent(signer) for signer in valid):
            return ""
        if valid:
            return f"which the key of an agent signed: {', '.join(valid)}"

        if {result for result, _ in results} <= {"N", ""}:
            return "which is not signed"
        return "signed by no allowed key"

    def _owner_problem(self, path: str, commits: Sequence[Commit], policy: Policy) -> str:
        groups = policy.owners(path)
        if not groups:
            return f"and no line of CODEOWNERS names an owner of {path}"

        setter, inner = commits[0], commits[1:]
        authors = [commit.author for commit in inner or [setter]]
        for commit in commits:
            authors += _CO_AUTHOR.findall(commit.message)

        words = ("interpret-trailers", "--parse", "--no-divider")
        stdout = self._git.run(*words, stdin=setter.message.encode("utf-8", "surrogateescape"))
        trailers = stdout.decode("utf-8", "replace")
        approvers = [*chain.from_iterable(map(persons, _APPROVAL.findall(trailers)))]
        known = [*map(person, authors)]
        problems = (_group_problem(group, approvers, known) for group in groups)
        return next(filter(None, problems), "")


def _group_problem(group: OwnerGroup, approvers: Iterable[Person], authors: list[Person]) -> str:
    """Return what an approval by one group of code owners lacks."""
    by_owner = [person for person in approvers if not person.known.isdisjoint(group.owners)]
    if not by_owner:
        return "which names no code owner as the one who approved it"

    others: list[Person] = []
    for approver in by_owner:
        if not _may_be_author(approver, authors, group.owners):
            others += [] if any(map(approver.may_be, others)) else [approver]

    if not others:
        return "which names only its author as the one who approved it"
    if len(others) < group.needed:
        return f"which names {len(others)} of {group.needed} code owners who have to approve it"

    return ""


@dataclass(frozen=True, slots=True)
class Person:
    """How a commit or a trailer names a person."""

    known: frozenset[str]
    """Account and address."""
    words: frozenset[str]
    """What two names of one person have in common: the full name, and the word before the `@`."""

    def may_be(self, other: Person) -> bool:
        """Say whether both may be one person, by a name that they have in common."""
        return bool(self.known & other.known or self.words & other.words)

    @property
    def has_address(self) -> bool:
        """Say whether an address is known, and not only an account."""
        return any(not name.startswith("@") for name in self.known)


def persons(text: str) -> list[Person]:
    """Return the persons that a trailer names: `Ada <ada@example.org>, @grace`."""
    parts = _SEVERAL.split(text.strip())
    if not all("@" in part for part in parts):
        parts = [text]  # `Lovelace, Ada <ada@example.org>`

    return [*map(person, parts)]


def person(text: str) -> Person:
    """Return how a person is known, from `Ada <ada@example.org>`, `Ada (@ada)`,
    `@ada` or an address of a forge.
    """
    accounts = [account.casefold() for account in _ACCOUNT.findall(text)]
    known = set(accounts)
    words = {account.removeprefix("@") for account in accounts}
    address = _ADDRESS.search(text.strip())
    if address is not None:
        mail = next(filter(None, address.groups())).casefold()
        known.add(mail)
        forge = _FORGE_ADDRESS.fullmatch(mail)
        if forge:
            known.add(f"@{forge[1]}")
        words.add(forge[1] if forge else mail.partition("@")[0])

    name = " ".join(re.split(r"[<(\[]", text, maxsplit=1)[0].split()).casefold()
    if name and "@" not in name:
        words.add(name)

    return Person(frozenset(known), frozenset(words))


def _may_be_author(approver: Person, authors: Iterable[Person], owners: Set[str]) -> bool:
    """Say whether the one who approved may be an author: by a name that both have, or because one
    owner alone is left without the author, and is named by an account or an address alone.
    """
    for author in authors:
        if approver.may_be(author):
            return True

        left = owners - author.known
        is_comparable = approver.has_address == author.has_address
        if len(left) < len(owners) and len(left) < 2 and not is_comparable:
            return True

    return False
