"""Drafts of the files of a merge: each side's files under the names and ids that they have
afterwards, merged.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from orbit_registry.errors import OrbitError
from orbit_registry.formats.adr.reader import read_document
from orbit_registry.formats.links import is_markdown
from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.yaml_edit import rewrite
from orbit_registry.model.kind import Kind
from orbit_registry.model.record_set import RecordSet
from orbit_registry.operations.citation_rewrite import (
    CitationMap,
    DocumentMoves,
    Unclear,
    mentioning_files,
    rewrite_file,
    rewrite_mentions,
    search_patterns,
    unique_names,
)
from orbit_registry.operations.merge.conflicts import (
    SIDES,
    MergedRecord,
    MergedRecords,
    MergeState,
    Side,
)
from orbit_registry.operations.merge.texts import (
    OF_DOCUMENT,
    ContestedError,
    merge_logs,
    merge_records,
    merge_votes,
)
from orbit_registry.operations.renumber import in_order, renumbered_data, renumbered_document
from orbit_registry.repository.codec import data_in, mapping_in
from orbit_registry.repository.documents import LOG_NAME
from orbit_registry.repository.record_path import kind_of_file
from orbit_registry.repository.votes import NAME as VOTES
from orbit_registry.repository.writer import ChangeSet, validated
from orbit_registry.workspace.files import DOCUMENT_LIMIT
from orbit_registry.workspace.git import merge_lines
from orbit_registry.workspace.workspace import ORBIT, Workspace

_MARKER = re.compile(r"(?m)^(?:<{7,}|\|{7,}|={7,}|>{7,})(?:[ \t].*)?$")
_OPEN = re.compile(r"(?m)^<{7,} ")
_BY_HAND = "it was edited by hand since; if it is right, `git add` it"
Texts = Mapping[Side, str | None]


class SideFiles:
    """Files of one side: where each is after the merge,
    and its text with the ids that the records then have.
    """

    def __init__(
        self,
        workspace: Workspace,
        state: MergeState,
        subjects: MergedRecords,
        side: Side,
    ) -> None:
        self._workspace, self._state, self._side = workspace, state, side
        self._by_folder: dict[str, MergedRecord] = {}
        self._by_document: dict[str, list[MergedRecord]] = defaultdict(list)
        self._documents: dict[str, str] = {}  # documents that move

        for subject in subjects.all:
            here = subject.on.get(side)
            if here is None:
                continue

            document, final = here.document, subject.final_document(side)
            self._by_folder[here.folder] = subject
            self._by_document[document].append(subject)
            if document != final:
                self._documents[document] = final

        self._base_ids = subjects.ids("base")
        self._moves = DocumentMoves(self._documents, unique_names(workspace, self._documents))
        self._renames = subjects.renames(side)

    def final_path(self, path: str) -> str:
        """Return where a file of this side is after the merge."""
        folder = path.rpartition("/")[0]
        while folder and folder not in self._by_folder:
            folder = folder.rpartition("/")[0]

        if folder:
            return f"{self._by_folder[folder].final_folder}{path[len(folder) :]}"

        return self._documents.get(path, path)

    def affected(self) -> set[str]:
        """Return the files that move or mention an id that changes."""
        state, side = self._state, self._side
        paths = set(self._documents)
        for folder, subject in self._by_folder.items():
            paths.add(subject.on[side].path)
            if folder != subject.final_folder:
                paths.update(state.files_below(side, folder))

        if self._renames:
            patterns = search_patterns(frozenset(self._renames), self._moves)
            commit = state.commits[side] or "--cached"
            paths.update(mentioning_files(self._workspace, patterns, commit))
            paths.update(filter(None, self._by_document))

        return paths

    def text(self, path: str, base: str | None) -> tuple[str | None, int]:
        """Return a file's text with the ids of afterwards, and how many citations changed."""
        side = self._side
        text = self._state.text(side, path)
        if text is None or not self._renames:
            return text, 0

        for subject in self._by_document.get(path, ()):
            here = subject.on[side]
            heading = here.source.get("heading")
            heading = None if heading is None else str(heading)
            text = renumbered_document(text, path, heading, subject.title, here.id, subject.final)

        ids = frozenset(self._renames)
        result = rewrite_file(self._workspace, path, text, ids, self._meaning(base), self._moves)
        text = self._with_new_id(path, result.text)
        if path in self._by_document:
            text = in_order(text, path, *sorted(self._renames.values()))

        return text, result.count

    def _with_new_id(self, path: str, text: str) -> str:
        side = self._side
        subject = self._by_folder.get(path.rpartition("/")[0])
        if subject is None or path != subject.on[side].path:
            return text

        old, new = subject.on[side].id, subject.final
        if old == new:
            return text

        document = subject.final_document(side)
        data = renumbered_data(data_in(text) or {}, old, new, subject.aliases, document)
        return rewrite(text, data, order=subject.kind.schema.properties)

    def _meaning(self, base: str | None) -> CitationMap:
        """Return what citations in this side's version of a file become;
        what stood there before both sides stays.
        """
        inherited: set[str] = set()
        if self._side != "base":
            inherited.update(line.rstrip("\r") for line in (base or "").split("\n"))

        def meaning(path: str, line: str, cited: str) -> str:
            del path
            is_inherited = cited not in self._base_ids and line.rstrip("\r") in inherited
            if is_inherited:
                return cited

            return self._renames.get(cited, cited)

        return meaning


@dataclass
class Resolution:
    """A merge being resolved: its state, and the files drafted so far."""

    workspace: Workspace
    state: MergeState
    subjects: MergedRecords
    draft: ChangeSet
    resolved: set[str] = field(default_factory=set)  # unmerged paths that are settled
    reasons: dict[str, str] = field(default_factory=dict)  # paths that need a person → why
    settled: set[str] = field(default_factory=set)
    """Paths whose text is right afterwards: a killed run left some so."""
    done: dict[str, str] = field(default_factory=dict)  # path → what was done with it, in words
    citations: Counter[str] = field(default_factory=Counter)  # path → how many citations changed
    by_hand: set[str] = field(default_factory=set)
    """Files with citations that nothing can put right."""

    @cached_property
    def dirty(self) -> frozenset[str]:
        """Files that differ from the index."""
        return frozenset(self.state.git.differing())

    def draft_files(self) -> None:
        """Draft each file that conflicts, moves or cites an id that changes,
        merged anew from its versions.
        """
        state, unreadable = self.state, self.subjects.unreadable
        sides = {side: SideFiles(self.workspace, state, self.subjects, side) for side in SIDES}
        paths = set(state.unmerged).union(*(files.affected() for files in sides.values()))
        final_paths: set[str] = set()
        for files in sides.values():
            final_paths.update(map(files.final_path, paths))

        paths |= final_paths
        originals: dict[str, dict[Side, str]] = {path: {} for path in sorted(paths)}
        for side, files in sides.items():
            for path in sorted(paths):
                if state.text(side, path) is not None:
                    originals[files.final_path(path)][side] = path

        self.reasons |= unreadable

        for path, versions in originals.items():
            if path in unreadable:
                continue

            if path in state.unmerged and not state.unmerged[path]:
                if kind_of_file(self.workspace.kinds, path):
                    self.reasons[path] = "it is not a regular file on one side"
                continue

            try:
                self._draft_file(path, versions, sides)
            except (OrbitError, ContestedError, YamlProblemError) as error:
                if self._is_plain(path):
                    self.by_hand.add(path)
                else:
                    names = (path, *versions.values())
                    conflict = next((name for name in names if name in state.unmerged), path)
                    self.reasons[conflict] = str(error)

    def _draft_file(
        self,
        path: str,
        versions: Mapping[Side, str],
        sides: Mapping[Side, SideFiles],
    ) -> None:
        state = self.state
        raw = {side: state.text(side, original) for side, original in versions.items()}
        texts: dict[Side, str | None] = dict.fromkeys(SIDES)
        for side, original in versions.items():
            texts[side], count = sides[side].text(original, raw.get("base"))
            self.citations[path] = max(self.citations[path], count)

        is_plain = self._is_plain(path)
        in_place = {side: path for side in SIDES if state.text(side, path) is not None}
        is_same = versions == in_place and all(texts[side] == text for side, text in raw.items())
        if is_plain and is_same:
            return

        if any(len(text or "") > DOCUMENT_LIMIT for text in texts.values()):
            raise ContestedError(f"one side is larger than {DOCUMENT_LIMIT:,} bytes")

        text, contested = self._merged(path, texts)
        is_unmerged = path in state.unmerged
        if contested and is_plain and not is_unmerged:
            self.by_hand.add(path)  # both sides wrote the line
            return

        if not self._may_replace(path, raw, text):
            if is_unmerged and not is_plain:
                self.reasons[path] = _BY_HAND
            elif text is not None:
                self.by_hand.add(path)
            return

        self.draft.put(path, text)
        moved_from = next((original for original in versions.values() if original != path), None)
        if moved_from is not None and text is not None:
            self.draft.came_from[path] = moved_from

        if contested:
            if not is_plain:
                self.reasons[path] = f"changed on both sides: {', '.join(contested)}"
            return

        self.settled.add(path)
        if is_unmerged:
            self.resolved.add(path)
            self.done[path] = "moved" if text is None else self.done.get(path, "merged")

    def _merged(self, path: str, texts: Texts) -> tuple[str | None, Sequence[str]]:
        """Return the merge of a file's versions, and what both sides changed in it."""
        base, ours, theirs = (texts[side] for side in SIDES)
        kind = kind_of_file(self.workspace.kinds, path)
        if kind is not None:
            _refuse_two_records(path, ours, theirs)

        if ours is None or theirs is None:
            text = _merged_removal(base, ours, theirs)
            if kind is not None and text is not None:
                validated(text, kind, path)

            return text, ()

        if kind is not None:
            return self._merged_record((base, ours, theirs), kind, path), ()

        if _is_votes(path):
            self.done[path] = "both sides' votes"
            return merge_votes(ours, theirs), ()

        if self._is_log(path):
            self.done[path] = "merged by entry"
            merged = merge_logs(base or "", ours, theirs)
            return merged.text, merged.contested

        text, is_contested = merge_lines(base or "", ours, theirs)
        contested = ("lines",) if is_contested else ()
        return text, contested

    def _merged_record(self, texts: tuple[str | None, str, str], kind: Kind, path: str) -> str:
        """Return the merge of a record; a conflict that its document settles is none here."""
        source = mapping_in(data_in(texts[1]) or {}, "source")
        document = source.get("path") if source.get("authority") == "document" else None
        try:
            return merge_records(*texts, kind, path)
        except ContestedError as error:
            if document is None:
                raise
            if document in self.state.unmerged:
                message = f"{error}; {document} decides: merge that first, then resolve again"
                raise ContestedError(message) from None

        text = merge_records(*texts, kind, path, follows=OF_DOCUMENT)
        self.done[path] = f"merged; `orbit check --fix` copies what {document} says"
        return text

    def _is_plain(self, path: str) -> bool:
        """Say whether a file is merged by line: no record, no votes and no log."""
        if kind_of_file(self.workspace.kinds, path) is not None or _is_votes(path):
            return False

        return not self._is_log(path)

    def _is_log(self, path: str) -> bool:
        if path.rpartition("/")[2] == LOG_NAME:
            return True

        if not is_markdown(path) or path.startswith(f"{ORBIT}/"):
            return False

        sources = (subject.brought.document for subject in self.subjects.all)
        if path not in sources and path not in self.state.unmerged:
            return False

        for side in SIDES:
            text = self.state.text(side, path)
            if text and len(text) <= DOCUMENT_LIMIT and read_document(text, path).format == "log":
                return True

        return False

    def _may_replace(self, path: str, raw: Mapping[Side, str | None], text: str | None) -> bool:
        """Say whether the work tree holds what git left there:
        no new line, no conflict settled by hand.
        """
        current = self.draft.on_disk(path)
        if current is None or current == text:
            return True

        here = (self.state.text(side, path) for side in SIDES)
        texts = [version for version in (*here, *raw.values()) if version is not None]
        lines = _lines(text or "").union(*map(_lines, texts))
        is_left = _lines(_MARKER.sub("", current)) <= lines

        if path in self.state.unmerged:
            return current in texts or (is_left and _OPEN.search(current) is not None)

        return is_left and path not in self.dirty

    def unclear(self, records: RecordSet) -> tuple[Unclear, ...]:
        """Return the citations that are left as they are,
        because nothing tells which record they mean.
        """
        ids = frozenset(chain.from_iterable(map(self.subjects.renames, SIDES)))
        if not ids:
            return ()

        git, forms, no_moves = self.workspace.git, self.workspace.kinds.id_forms, DocumentMoves()
        mentioning = mentioning_files(self.workspace, search_patterns(ids, no_moves))
        open_files = self.by_hand.union(set(git.untracked()).intersection(mentioning))

        def meaning(path: str, line: str, cited: str) -> str | None:
            del line
            if cited in ids:
                if path in open_files:
                    return None

                return cited
            if records.candidates(cited):
                return cited

            return None

        unclear: list[Unclear] = []
        changed = (path for path, count in self.citations.items() if count)
        for path in sorted(open_files.union(changed)):
            text = self.draft.readable(path)
            if text is not None:
                unclear += rewrite_mentions(text, path, forms, ids, meaning, no_moves).unclear

        return tuple(unclear)


def _refuse_two_records(path: str, ours: str | None, theirs: str | None) -> None:
    uids: set[object] = set()
    for text in (ours, theirs):
        data = data_in(text) or {}
        if data.get("uid"):
            uids.add(data["uid"])

    if len(uids) > 1:
        record_id = path.split("/")[-2]
        raise ContestedError(
            f"two records took the code {record_id}; give one of them another by hand"
        )


def _merged_removal(base: str | None, ours: str | None, theirs: str | None) -> str | None:
    """Return the merge of a file that one side does not have."""
    text = ours if theirs is None else theirs
    if base is None:
        return text

    if text is not None and text != base:
        remover, keeper = ("ours", "theirs") if ours is None else ("theirs", "ours")
        raise ContestedError(f"{remover} removed it, {keeper} changed it")

    return None


def _lines(text: str) -> set[str]:
    return {line.rstrip("\r") for line in text.split("\n")}


def _is_votes(path: str) -> bool:
    return path.startswith(f"{ORBIT}/") and path.endswith(f"/{VOTES}")
