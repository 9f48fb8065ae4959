"""Drafts of the files of a merge: records, documents, logs and votes under the ids that they have afterwards."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from orbit_registry.errors import InvalidRecordError, OrbitError
from orbit_registry.formats.adr.reader import read_document
from orbit_registry.formats.markdown import is_markdown
from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.yaml_edit import rewrite
from orbit_registry.operations.citation_rewrite import (
    CitationMap,
    DocumentMoves,
    kind_of,
    rewrite_file,
    rewrite_mentions,
)
from orbit_registry.operations.merge.conflicts import SIDES, MergedRecord, MergedRecords, MergeState, Side, other_side
from orbit_registry.operations.merge.texts import ContestedError, merge_logs, merge_records, merge_votes
from orbit_registry.operations.renumber import (
    in_order,
    moved_document,
    renamed_votes,
    renumbered_data,
    renumbered_document,
)
from orbit_registry.repository.codec import data_in
from orbit_registry.repository.documents import LOG_NAME
from orbit_registry.repository.votes import NAME as VOTES
from orbit_registry.repository.writer import ChangeSet, validated
from orbit_registry.workspace.files import DOCUMENT_LIMIT
from orbit_registry.workspace.git import merge_lines
from orbit_registry.workspace.workspace import ORBIT, Workspace

_MARKER = re.compile(r"(?m)^(?:<{7,}|\|{7,}|={7,}|>{7,})(?:[ \t].*)?$")
_OPEN = re.compile(r"(?m)^<{7,} ")
_BY_HAND = "it was edited by hand since; if it is right, `git add` it"


@dataclass(slots=True)
class Resolution:
    """A merge being resolved: its state, and the files drafted so far."""

    workspace: Workspace
    state: MergeState
    subjects: MergedRecords
    draft: ChangeSet
    resolved: set[str] = field(default_factory=set)  # unmerged paths that are settled
    reasons: dict[str, str] = field(default_factory=dict)  # unmerged paths that need a person → why
    created: set[str] = field(default_factory=set)  # paths that the merge brings into being or moves
    drafted: set[str] = field(default_factory=set)  # uids of the records that were drafted
    documents: dict[str, str] = field(default_factory=dict)  # uid → where the record's document is afterwards
    moves: dict[str, str] = field(default_factory=dict)  # documents that move: old path → new path
    owners: dict[str, Mapping[str, str]] = field(default_factory=dict)
    """Document of one record → what an id in a link to it becomes; a log, which both sides share, tells nothing."""
    came_from: dict[str, str] = field(default_factory=dict)  # new path → the path it has on its side
    belongs: dict[str, Side] = field(default_factory=dict)  # files that are one side's alone
    translated: set[str] = field(default_factory=set)
    """Files that were merged from versions whose citations were put right before."""
    done: dict[str, str] = field(default_factory=dict)  # path → what was done with it, in words

    def settle(self, path: str, text: str | None, what: str) -> bool:
        """Draft the text of an unmerged path, unless a person has worked on it; says whether it was drafted."""
        try:
            if not self.may_replace(path, text):
                if path in self.state.unmerged:
                    self.reasons[path] = _BY_HAND
                return False
            self.draft.put(path, text)
        except OrbitError as error:
            self.reasons[path] = error.message
            return False
        if path in self.state.unmerged:
            self.resolved.add(path)
        self.done[path] = what
        return True

    def may_replace(self, path: str, text: str | None) -> bool:
        """Say whether the work tree holds what git left there: no new line, no conflict settled by hand."""
        current = self.draft.on_disk(path)
        sides = [side_text for side in SIDES if (side_text := self.state.text(side, path)) is not None]
        if current is None or current == text:
            return True
        if path not in self.state.unmerged:
            return current == self.state.text("ours", path) or (len(sides) == 3 and current == merge_lines(*sides)[0])
        if current in sides:
            return True
        if not _OPEN.search(current):
            return False
        side_lines = {line.rstrip("\r") for side_text in (*sides, text or "") for line in side_text.split("\n")}
        return all(line.rstrip("\r") in side_lines for line in _MARKER.sub("", current).split("\n"))


def write_records(resolution: Resolution) -> None:
    """Draft each record under the id it has afterwards, with the files of its folder."""
    state = resolution.state
    record_files = [path for path in state.unmerged if kind_of(resolution.workspace, path)]
    resolution.reasons |= resolution.subjects.unreadable
    for path in record_files:
        if not state.unmerged[path]:
            resolution.reasons[path] = "it is not a regular file on one side"
    finals = Counter(subject.final_path for subject in resolution.subjects.all)
    for subject in resolution.subjects.all:
        path = subject.final_path
        if finals[path] > 1:
            reason = f"two records took the code {subject.final}; give one of them another by hand"
            resolution.reasons[subject.unmerged_path(state)] = reason
            continue
        text = _record_text(resolution, subject, path)
        if text is None:
            continue
        resolution.translated.add(path)
        if resolution.settle(path, text, "merged"):
            resolution.drafted.add(subject.uid)
            if path not in state.unmerged:
                resolution.created.add(path)
        if subject.is_renumbered:
            _move_folder(resolution, subject, path)
    for path in record_files:
        if path not in finals and path not in resolution.reasons:
            resolution.settle(path, None, "moved")


def _record_text(resolution: Resolution, subject: MergedRecord, path: str) -> str | None:
    unmerged_path = subject.unmerged_path(resolution.state)
    try:
        texts = {side: _with_final_ids(resolution, subject, side) for side in subject.texts}
        ours, theirs, base = texts.get("ours"), texts.get("theirs"), texts.get("base")
        if ours is not None and theirs is not None:
            return merge_records(base, ours, theirs, subject.kind, path)
        if base is not None and (ours or theirs) != base:
            keeper, remover = ("ours", "theirs") if ours is not None else ("theirs", "ours")
            resolution.reasons[unmerged_path] = f"{remover} removed {subject.ids.get('base')}, {keeper} changed it"
            return None
        text = ours if ours is not None else theirs
        if text is not None:
            validated(text, subject.kind, path)
        return text
    except YamlProblemError as error:
        resolution.reasons[unmerged_path] = f"{subject.final}: {error.problem.message}"
    except (InvalidRecordError, ContestedError) as error:
        resolution.reasons[unmerged_path] = str(error)
    return None


def _meaning_on(resolution: Resolution, side: Side, base: str | None) -> CitationMap:
    """Return what citations in one side's version of a file become; what stood there before both sides stays."""
    renames = resolution.subjects.renames(side)
    inherited = {line.rstrip("\r") for line in (base or "").split("\n")}
    base_ids = resolution.subjects.ids("base")

    def meaning(path: str, line: str, cited: str) -> str:
        del path
        if side != "base" and cited not in base_ids and line.rstrip("\r") in inherited:
            return cited
        return renames.get(cited, cited)

    return meaning


def _with_final_ids(resolution: Resolution, subject: MergedRecord, side: Side) -> str:
    text = subject.texts[side]
    ids = frozenset(resolution.subjects.renames(side))
    if ids:
        meaning = _meaning_on(resolution, side, subject.texts.get("base"))
        text = rewrite_file(resolution.workspace, subject.paths[side], text, ids, meaning, DocumentMoves()).text
    old = subject.ids.get(side) or subject.final
    if old == subject.final:
        return text
    document = moved_document(subject.source, old, subject.final) if subject.is_renumbered else None
    data = renumbered_data(data_in(text) or {}, old, subject.final, subject.aliases, document)
    return rewrite(text, data, order=subject.kind.schema.properties)


def _move_folder(resolution: Resolution, subject: MergedRecord, path: str) -> None:
    state, side = resolution.state, subject.side
    old_folder, new_folder = subject.paths[side].rpartition("/")[0], path.rpartition("/")[0]
    other = other_side(side)
    resolution.came_from[path] = resolution.draft.came_from[path] = subject.paths[side]
    resolution.belongs[path] = side
    for name in state.files_below(side, old_folder):
        text = state.text(side, name)
        target = f"{new_folder}{name.removeprefix(old_folder)}"
        if text is None or name == subject.paths[side]:
            continue
        if name.endswith(f"/{VOTES}"):
            text = renamed_votes(text, subject.ids.get(side) or "", subject.final)
        resolution.draft.put(target, text)
        resolution.created.add(target)
        resolution.came_from[target] = resolution.draft.came_from[target] = name
        resolution.belongs[target] = side
        other_text = state.text(other, name)
        if other_text is None or name in state.unmerged:
            resolution.settle(name, other_text, "moved" if other_text is None else "merged")
            resolution.created.add(name)


def merge_documents(resolution: Resolution) -> None:
    """Draft the documents of renumbered records: the number in the text, and the new name."""
    state = resolution.state
    for subject in resolution.subjects.all:
        path = str(subject.source.get("path") or "")
        if not path or subject.uid not in resolution.drafted:
            continue
        side, old = subject.side, subject.ids.get(subject.side) or ""
        if not subject.is_renumbered:
            if not _is_log(resolution, path):
                resolution.owners.setdefault(path, {name: name for name in resolution.subjects.ids(side)})
            continue
        target = moved_document(subject.source, old, subject.final) or path
        resolution.documents[subject.uid] = target
        if _is_log(resolution, path):
            if path not in state.unmerged:
                _number_in(resolution, subject, path, path)
            continue
        if path in state.unmerged and len(state.unmerged[path]) > 1:
            _separate_documents(resolution, subject, path, target)
            continue
        if target != path:
            resolution.moves[path] = target
            resolution.came_from[target] = path
            resolution.created |= {path, target}
        resolution.owners[path] = resolution.owners[target] = {old: subject.final}
        _number_in(resolution, subject, path, target)


def _number_in(resolution: Resolution, subject: MergedRecord, path: str, target: str) -> None:
    text = resolution.draft.readable(path)
    if text is None:
        return
    old = subject.ids.get(subject.side) or ""
    heading = str(subject.source["heading"]) if "heading" in subject.source else None
    numbered = renumbered_document(text, path, heading, subject.title, old, subject.final)
    try:
        resolution.draft.put(path, numbered)
        resolution.draft.move(path, target)
    except OrbitError as error:
        resolution.reasons[path] = error.message


def _separate_documents(resolution: Resolution, subject: MergedRecord, path: str, target: str) -> None:
    side = subject.side
    other = other_side(side)
    mine, other_text = resolution.state.text(side, path), resolution.state.text(other, path)
    old = subject.ids.get(side) or ""
    if target == path or mine is None or other_text is None:
        resolution.reasons[path] = f"two decisions have one name; move {subject.final}'s away by hand"
        return
    if not resolution.settle(path, other_text, "merged"):
        return
    numbered = renumbered_document(mine, path, None, subject.title, old, subject.final)
    forms = resolution.workspace.kinds.id_forms

    def meaning(_path: str, _line: str, cited: str) -> str:
        return subject.final if cited == old else cited

    result = rewrite_mentions(numbered, target, forms, frozenset((old,)), meaning, DocumentMoves())
    resolution.draft.put(target, result.text)
    resolution.created.add(target)
    resolution.belongs[target] = side
    resolution.belongs[path] = other


def _is_log(resolution: Resolution, path: str) -> bool:
    if path.rpartition("/")[2] == LOG_NAME:
        return True
    texts = [resolution.state.text(side, path) for side in SIDES]
    return any(text and read_document(text, path).format == "log" for text in texts)


def merge_logs_of(resolution: Resolution) -> None:
    """Draft each unmerged log by entry; what both sides changed stays a conflict around that entry alone."""
    state = resolution.state
    for path, stages in state.unmerged.items():
        if not is_markdown(path) or path in resolution.resolved or len(stages) < 2 or path.startswith(f"{ORBIT}/"):
            continue
        if state.is_oversized(path):
            if path.rpartition("/")[2] == LOG_NAME:
                resolution.reasons[path] = f"one side is larger than {DOCUMENT_LIMIT:,} bytes"
            continue
        if not _is_log(resolution, path):
            continue
        if "ours" not in stages or "theirs" not in stages:
            resolution.reasons[path] = "one side removed the log, the other changed it"
            continue
        texts = [_log_text(resolution, side, path) for side in SIDES]
        try:
            merged = merge_logs(texts[0], texts[1], texts[2])
        except OrbitError as error:
            resolution.reasons[path] = error.message
            continue
        resolution.translated.add(path)
        if resolution.settle(path, merged.text, "merged by entry") and merged.contested:
            resolution.resolved.discard(path)
            resolution.reasons[path] = f"changed on both sides: {', '.join(merged.contested)}"


def _log_text(resolution: Resolution, side: Side, path: str) -> str:
    text = resolution.state.text(side, path) or ""
    renames = resolution.subjects.renames(side)
    if not renames or not text:
        return text
    meaning = _meaning_on(resolution, side, resolution.state.text("base", path))
    for subject in resolution.subjects.all:
        old = subject.ids.get(side)
        if old in renames and subject.source.get("path") == path:
            text = renumbered_document(text, path, old, subject.title, old or "", subject.final)
    forms = resolution.workspace.kinds.id_forms
    text = rewrite_mentions(text, path, forms, frozenset(renames), meaning, DocumentMoves()).text
    return in_order(text, path, *sorted(renames.values()))


def merge_votes_of(resolution: Resolution) -> None:
    """Draft each unmerged file of votes: those of both sides."""
    state = resolution.state
    for path, stages in state.unmerged.items():
        is_votes = path.startswith(f"{ORBIT}/") and path.endswith(f"/{VOTES}")
        if is_votes and stages and path not in resolution.resolved and path not in resolution.reasons:
            ours, theirs = state.text("ours", path) or "", state.text("theirs", path) or ""
            resolution.settle(path, merge_votes(ours, theirs), "both sides' votes")
