"""State of git and disk that checks need; what git can't tell is recorded, not raised."""

import contextlib
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from orbit_registry.errors import GitError, GitStoppedError, OrbitError, plural
from orbit_registry.formats.globs import GlobIndex, readable_globs
from orbit_registry.repository.codec import data_in
from orbit_registry.repository.reader import Reading, RecordFolder
from orbit_registry.workspace.files import (
    RECORD_LIMIT,
    missing_files,
    read_text,
    walk,
    without_sites,
)
from orbit_registry.workspace.git import REFUSED, Git, how_to_allow
from orbit_registry.workspace.git_log import commits
from orbit_registry.workspace.journal import unfinished_steps
from orbit_registry.workspace.workspace import INHERITED, RESERVED_NAMES, Workspace

IMPORTED_BODY = "imported-body.md"
_MOST_FILES = 200_000
_SLIP = 0.75  # likeness of a folder's name to that of a kind


@dataclass(frozen=True, slots=True)
class UnavailableInfo:
    """Something that git can't tell here: why, and what would help."""

    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class EarlierRecord:
    """A record in another commit."""

    uid: str
    status: str
    path: str


@dataclass(frozen=True, slots=True)
class VcsState:
    """What git and disk say about a workspace."""

    tracked: tuple[str, ...] | None = None  # tracked files from the root, sorted; None outside git
    untracked: tuple[str, ...] = ()  # untracked files that are not ignored, sorted
    head: str | None = None  # the commit checked out
    base: str | None = None  # the base of `changed`, in words
    base_commit: str | None = None
    changed: frozenset[str] | None = None
    """Paths that differ from the base; None where git can't tell."""
    submodules: tuple[str, ...] = ()
    """Those of them that are submodules now, sorted."""
    before: Mapping[str, EarlierRecord] = field(default_factory=dict)
    """Changed records at the base, by id."""
    authors: Mapping[str, str] = field(default_factory=dict)
    """Author of the last commit of records that are new or were pending at the base, by id."""
    texts_before: Mapping[str, str] = field(default_factory=dict)
    """Texts of changed documents at the base, by path."""
    against: str | None = None  # the requested revision
    is_unanswered: bool = False  # whether git can't compare with the requested revision
    at_against: Mapping[str, EarlierRecord] = field(default_factory=dict)
    """Changed records at that revision, by id."""
    unavailable: tuple[UnavailableInfo, ...] = ()
    citing: tuple[str, ...] = ()
    """Files that may cite records, sorted: documents and, where configured, code."""
    journals: tuple[str, ...] = ()  # names of unfinished journal steps
    body_files: frozenset[str] = frozenset()
    """Body files in folders of decisions: `body.md`, `imported-body.md`."""
    documents_gone: frozenset[str] = frozenset()  # missing documents of records
    not_checked_out: frozenset[str] = frozenset()
    """Those of them that a sparse checkout leaves out: they are in git."""
    unknown_folders: Mapping[str, str] = field(default_factory=dict)
    """Folders in `.orbit/` of no kind that have records, with the folder of the records' kind."""
    unread_folders: Mapping[str, str] = field(default_factory=dict)
    """Folders in `.orbit/` that the configuration leaves out, with what brings them in."""
    no_folders: tuple[str, ...] = ()
    """Folders of decisions that the configuration names and that are not there."""


def collect_vcs_state(
    workspace: Workspace,
    reading: Reading,
    documents: Collection[str],
    against: str | None = None,
) -> VcsState:
    """Return the state; `documents` are those of records,
    `against` is the revision that the work is merged into.
    """
    entries = reading.entries
    unavailable: list[UnavailableInfo] = []
    files: Iterable[str]
    tracked = _tracked(workspace.git, unavailable)

    if tracked is None:
        state = VcsState(is_unanswered=against is not None)
        files = islice(walk(workspace.root, hidden=False), _MOST_FILES)
    else:
        state = _compared(workspace, entries, documents, tracked, against, unavailable)
        files = (*tracked, *state.untracked)

    documents_gone = frozenset(missing_files(workspace.root, documents))
    not_checked_out = documents_gone and documents_gone & workspace.git.not_checked_out
    if not_checked_out:
        count = plural(len(not_checked_out), "document")
        message = f"a sparse checkout leaves out {count} of records, so their texts are unknown"
        hint = "`git sparse-checkout disable` brings all files back"
        unavailable.append(UnavailableInfo(message, hint))

    journals = tuple(path.name for path in unfinished_steps(workspace))
    return replace(
        state,
        unavailable=tuple(unavailable),
        citing=tuple(citing_files(workspace, files)),
        journals=journals,
        body_files=frozenset(_body_files(workspace.root, entries)),
        documents_gone=documents_gone,
        not_checked_out=not_checked_out,
        unknown_folders=unknown_folders(workspace),
        unread_folders=unread_folders(workspace),
        no_folders=tuple(_no_folders(workspace)),
    )


def _compared(
    workspace: Workspace,
    entries: Iterable[RecordFolder],
    documents: Collection[str],
    tracked: Sequence[str],
    against: str | None,
    unavailable: list[UnavailableInfo],
) -> VcsState:
    """Return what git says of the work tree, compared with the base of the work."""
    git = workspace.git
    head = git.head()
    base = _base(git, head, against, unavailable)
    edited = _edited(git, unavailable)
    untracked: tuple[str, ...] = ()
    if edited is not None:
        untracked = tuple(without_sites(git.untracked(), workspace.root))

    changed = _changed(git, base, edited, untracked, tracked, unavailable)
    moved = [entry for entry in entries if changed and entry.path in changed]
    against_commit = git.commit(against) if against is not None else None

    state = VcsState(
        tracked=tuple(tracked),
        untracked=untracked,
        head=head,
        changed=None if changed is None else frozenset(changed),
        submodules=tuple(git.submodules(changed or ())),
        is_unanswered=against is not None and changed is None,
    )
    if against_commit:
        at_against = _records_at(git, against_commit, moved)
        state = replace(state, against=against, at_against=at_against)

    if base is None:
        return state

    state = replace(state, base=base.words, base_commit=base.commit)
    if not base.commit:
        return state

    before = _records_at(git, base.commit, moved)
    authors = _authors(git, base.commit, moved, before, edited or ())
    texts_before = _texts_at(git, base.commit, (changed or set()).intersection(documents))
    return replace(state, before=before, authors=authors, texts_before=texts_before)


@dataclass(frozen=True, slots=True)
class _Base:
    commit: str | None  # none before the first commit: everything is new
    words: str
    head: str | None = None


def _tracked(git: Git, unavailable: list[UnavailableInfo]) -> list[str] | None:
    try:
        tracked = git.tracked()
        if tracked is None:
            git.run("version")  # fails where git is not installed
    except GitStoppedError:
        raise
    except GitError as error:
        unavailable.append(
            UnavailableInfo(f"git can't list the tracked files: {error.message}", error.hint)
        )
        return None

    if tracked is None:
        why, hint = "not in a git repository", "run it in a git work tree"
        if git.is_refused:
            why, hint = REFUSED, how_to_allow(git)

        message = f"{why}: can't tell which records changed, nor which globs match no tracked file"
        unavailable.append(UnavailableInfo(message, hint))

    return tracked


def _base(
    git: Git,
    head: str | None,
    against: str | None,
    unavailable: list[UnavailableInfo],
) -> _Base | None:
    requested = git.commit(against) if against is not None else None
    if against is not None and requested is None:
        if git.is_shallow:
            unavailable.append(_not_in_shallow_clone(against))
            return None

        raise git.names_no_commit(against)

    if head is None:
        return _Base(None, "nothing: there is no commit yet")

    target, tip = against, requested
    if against is None:
        target, tip = git.default_tip() or (None, None)

    if target is None and git.ask("symbolic-ref", "--quiet", "HEAD") is None:
        message = "can't tell what changed: HEAD is detached and no default branch is in this clone"
        hint = "name the branch this work goes to: `orbit check --against REF`"
        unavailable.append(UnavailableInfo(message, hint))
        return None

    if target is None or tip == head:
        return _Base(head, "HEAD: uncommitted changes", head)

    merge_base = git.merge_base(target)
    if merge_base is not None:
        return _Base(merge_base, f"{_branch(target)} at {merge_base[:10]}", head)

    reason, hint = "they share no commit", "name the branch it goes to: --against REF"
    if git.is_shallow:
        reason, hint = "the clone is shallow", "fetch the history: `git fetch --unshallow`"

    message = f"can't tell what changed since {_branch(target)}: {reason}"
    unavailable.append(UnavailableInfo(message, hint))
    return None


def _not_in_shallow_clone(against: str) -> UnavailableInfo:
    command = "git fetch --unshallow"
    if not any(mark in against for mark in "~^@:"):
        command = f"{command} origin {_branch(against)}"

    message = f"can't compare with {against}: this shallow clone doesn't hold it"
    return UnavailableInfo(message, f"fetch it: `{command}`")


def _branch(revision: str) -> str:
    for prefix in ("refs/heads/", "refs/remotes/", "origin/"):
        revision = revision.removeprefix(prefix)

    return revision


def _edited(git: Git, unavailable: list[UnavailableInfo]) -> set[str] | None:
    try:
        return set(git.unlike_head(untracked=False))
    except GitError as error:
        unavailable.append(_unknown_changes(error))
        return None


def _unknown_changes(error: GitError) -> UnavailableInfo:
    return UnavailableInfo(
        f"can't tell what changed: {error.message}",
        "check the repository with `git fsck`",
    )


def _changed(
    git: Git,
    base: _Base | None,
    edited: Iterable[str] | None,
    untracked: Iterable[str],
    tracked: Iterable[str],
    unavailable: list[UnavailableInfo],
) -> set[str] | None:
    if base is None or edited is None:
        return None
    if base.commit is None:
        return {*untracked, *tracked}

    changed = {*edited, *untracked}
    try:
        if base.commit != base.head:
            changed.update(git.differing(base.commit, "HEAD", "--"))
    except GitError as error:
        unavailable.append(_unknown_changes(error))
        return None

    return changed


def _records_at(git: Git, commit: str, entries: Sequence[RecordFolder]) -> dict[str, EarlierRecord]:
    ids: dict[str, str] = {}
    for entry in entries:
        file = entry.kind.file_of(entry.record_id)
        ids[f".orbit/{file}"] = entry.record_id
        ids[f".orbit/inbox/{file}"] = entry.record_id

    texts = _texts_at(git, commit, ids)
    by_id: dict[str, EarlierRecord] = {}
    for path, record_id in ids.items():
        data = data_in(texts.get(path))
        if record_id not in by_id and data is not None and "uid" in data:
            uid, status = str(data["uid"]), str(data.get("status", ""))
            by_id[record_id] = EarlierRecord(uid, status, path)

    return by_id


def _authors(
    git: Git,
    commit: str,
    entries: Sequence[RecordFolder],
    before: Mapping[str, EarlierRecord],
    edited: Collection[str],
) -> dict[str, str]:
    def waited(entry: RecordFolder) -> bool:
        earlier = before.get(entry.record_id)
        return earlier is None or entry.kind.status(earlier.status).phase == "pending"

    committed = (entry for entry in entries if entry.path not in edited)
    ids_by_path = {entry.path: entry.record_id for entry in committed if waited(entry)}
    if not ids_by_path:
        return {}

    authors: dict[str, str] = {}
    for each in commits(git, f"{commit}..HEAD", "--", ".orbit", check=True):
        name_of_author = each.author.rpartition(" <")[0]
        for path in each.files:
            if path in ids_by_path:
                authors.setdefault(ids_by_path[path], name_of_author)

    return authors


def _texts_at(git: Git, commit: str, paths: Iterable[str]) -> dict[str, str]:
    contents = git.contents(commit, paths)
    return {path: content.decode("utf-8", "replace") for path, content in contents.items()}


def citing_files(workspace: Workspace, files: Iterable[str]) -> Iterator[str]:
    """Yield the files that match the configured citation globs, those of `.orbit/` left out."""
    globs = readable_globs((*workspace.config.citations, *workspace.config.code))
    index = GlobIndex([("citing", globs)])
    for path in sorted(files):
        if not path.startswith(".orbit/") and index.match(path):
            yield path


def _body_files(root: Path, entries: Iterable[RecordFolder]) -> Iterator[str]:
    for entry in entries:
        if entry.kind.in_document:
            if entry.has_body:
                yield entry.body_path
            if os.path.lexists(f"{root}/{entry.folder}/{IMPORTED_BODY}"):
                yield f"{entry.folder}/{IMPORTED_BODY}"


def unknown_folders(workspace: Workspace) -> dict[str, str]:
    """Return folders in `.orbit/` of no kind that have records, or nearly the name of one, with the
    folder of that kind, which may be of a package that is not installed: empty.
    """
    try:
        names = {entry.name for entry in os.scandir(workspace.orbit) if entry.is_dir()}
    except OSError:
        return {}

    folders: dict[str, str] = {}
    plurals = {kind.plural for kind in workspace.kinds}
    for name in sorted(names - RESERVED_NAMES - plurals):
        near = _near(name, plurals)
        if near:
            folders[name] = near

        elif _has_record(workspace.orbit / name):
            folders[name] = ""

        for kind in workspace.kinds:
            if any((workspace.orbit / name).glob(f"{kind.prefix}*/{kind.name}.yaml")):
                folders[name] = kind.plural

    return folders


def unread_folders(workspace: Workspace) -> dict[str, str]:
    """Return folders in `.orbit/` with records that the configuration leaves out, each with what
    makes it read them.
    """
    folders: dict[str, str] = {}
    inbox = workspace.orbit / "inbox"
    if inbox != workspace.inbox and any(map(_has_record, inbox.glob("*/"))):
        folders["inbox"] = "set `inbox: committed` in .orbit/config.yaml"

    sources = {source.name for source in workspace.config.extends}
    for folder in sorted(workspace.root.glob(f"{INHERITED}/*/")):
        if folder.name not in sources and any(map(_has_record, folder.glob("*/"))):
            folders[f"inherited/{folder.name}"] = "name its source in `extends`, or delete it"

    return folders


def _has_record(folder: Path) -> bool:
    """Say whether a folder has a record, as each has a `uid`."""
    for file in folder.glob("*/*.yaml"):
        with contextlib.suppress(OrbitError):
            return "\nuid: " in read_text(file, limit=RECORD_LIMIT)

    return False


def _near(name: str, plurals: Iterable[str]) -> str:
    """Return the folder of a kind that a name is a slip of; empty for none."""
    from difflib import get_close_matches  # few projects have other folders

    return next(iter(get_close_matches(name, sorted(plurals), n=1, cutoff=_SLIP)), "")


def _no_folders(workspace: Workspace) -> Iterator[str]:
    """Yield the configured folders of decisions that are none;
    the one for new decisions may be missing.
    """
    root, adr = workspace.root, workspace.config.adr
    for folder in adr.folders:
        if not (root / folder).is_dir():
            yield folder

    if (root / adr.folder).is_file():
        yield adr.folder
