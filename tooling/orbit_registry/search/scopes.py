"""Gathers what speaks of both a record and files (text, citations, commits) and asks for globs; it writes nothing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from orbit_registry.formats.citations import find_citations
from orbit_registry.model.record import Record
from orbit_registry.operations.citing_files import mentioning_files
from orbit_registry.repository.documents import decision_paths
from orbit_registry.search.suggestion import LIKELY, SURE, Clue, Proposal, Tree, clues_in_text, propose
from orbit_registry.workspace.files import document_text
from orbit_registry.workspace.git import Commit, newest_commits
from orbit_registry.workspace.workspace import ORBIT, SITE_MANIFEST, Workspace

MOST_FILES = 25
"""A commit that touches more files says little of any two of them."""
FEW_FILES = 8
"""A commit that names a record and touches no more files is about the record in each of them."""
_MEDIA = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|drawio|pdf|excalidraw)$", re.IGNORECASE)
"""Illustrations: no code that a decision applies to."""
PROSE = (".md", ".txt", ".rst", ".adoc")
"""What is changed along with much else."""


def suggestions(workspace: Workspace, records: Sequence[Record]) -> Mapping[str, list[Proposal]]:
    """Return for each record's path the globs that its scope may want; the records have their prose."""
    tracked = workspace.git.tracked() or []
    documents = {record.source.path for record in records if record.source is not None}
    sites = tuple(path.removesuffix(SITE_MANIFEST) for path in tracked if path.endswith(f"/{SITE_MANIFEST}"))
    pages = (path for path in tracked if sites and path.startswith(sites))
    tree = Tree(tracked, frozenset({*documents, *decision_paths(workspace), *filter(_MEDIA.search, tracked), *pages}))
    history = [commit for commit in newest_commits(workspace.git) if len(commit.files) <= MOST_FILES]
    cited = _citing(workspace, records, tree)
    found = {}
    for record in records:
        clues = [
            *clues_in_text(f"{record.title}\n{record.prose}", tree),
            *(Clue(path, "citation", f"`{path}` cites it", SURE) for path in cited.get(record.id, ())),
            *_from_history(record, history, tree),
        ]
        found[record.path] = propose(clues, tree)
    return found


def _citing(workspace: Workspace, records: Sequence[Record], tree: Tree) -> Mapping[str, list[str]]:
    """Return for each id the tracked files that cite it."""
    ids = {_plain(record.id): record.id for record in records}
    wanted: defaultdict[str, list[str]] = defaultdict(list)
    forms = workspace.kinds.id_forms
    code = "[0-9a-hjkmnp-tv-z]"
    patterns = [*(f"{prefix}[0-9]" for prefix in forms.numbered), *(f"{prefix}{code}{{5}}" for prefix in forms.coded)]
    for path in mentioning_files(workspace, patterns):
        text = document_text(workspace.root, path) if path in tree.files else None
        for cited in dict.fromkeys(_plain(one.id) for one in find_citations(text or "", forms)):
            if cited in ids:
                wanted[ids[cited]].append(path)
    return wanted


def _plain(record_id: str) -> str:
    """Return an id without the zeros before its number: `ADR 12` cites ADR-0012."""
    word, dash, rest = record_id.partition("-")
    return f"{word}{dash}{int(rest)}" if rest.isdecimal() else record_id


def _from_history(record: Record, history: Sequence[Commit], tree: Tree) -> Iterator[Clue]:
    """Yield the files of commits that touched the record or its document, or name it or one of its tasks."""
    own = {record.path, *([record.source.path] if record.source else [])}
    names = (record.id, *record.words("tasks"), *record.scope.tasks)
    for commit in history:
        touches = not own.isdisjoint(commit.files)
        named = next((name for name in names if _says(commit.message, name)), None)
        if not touches and named is None:
            continue
        words = f"commit {commit.short} names {named}" if named else f"commit {commit.short} touched both"
        for path in commit.files:
            if path in tree.files and not path.startswith(f"{ORBIT}/"):
                small = named is not None and len(commit.files) <= FEW_FILES and not path.endswith(PROSE)
                yield Clue(path, "named" if named else "commit", words, SURE if small else LIKELY)


def _says(message: str, name: str) -> bool:
    """Say whether a message names an id as a word of its own."""
    at = message.find(name)
    if at < 0:
        return False
    before, after = message[at - 1 : at], message[at + len(name) : at + len(name) + 1]
    return not (before.isalnum() or after.isalnum())
