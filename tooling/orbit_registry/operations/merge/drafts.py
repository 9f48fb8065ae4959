"""Drafts of the files of a merge: each side's files under the names and ids that they have
afterwards, merged.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from orbit_registry.errors import OrbitError
from orbit_registry.formats.adr.reader import read_document
from orbit_registry.formats.markdown import is_markdown
from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.yaml_edit import rewrite
from orbit_registry.model.record_set import RecordSet
from orbit_registry.operations.citation_rewrite import (
    CitationMap,
    DocumentMoves,
    Unclear,
    kind_of,
    lines_at,
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
    ContestedError,
    merge_logs,
    merge_records,
    merge_votes,
)
from orbit_registry.operations.renumber import in_order, renumbered_data, renumbered_document
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
Texts = Mapping[Side, str | None]


class SideFiles:
    """Files of one side: where each is after the merge,
    and its text with the ids that the records then have.
    """

    def __init__(
        self, workspace: Workspace, state: MergeState, subjects: MergedRecords, side: Side
    ) -> None:
        self._workspace, self._state, self._side = workspace, state, side
        self._by_folder = {
            subject.folder(side): subject for subject in subjects.all if side in subject.paths
        }
        self._by_document: dict[str, list[MergedRecord]] = defaultdict(list)
        self._documents: dict[str, str] = {}  # documents that move

        for subject in self._by_folder.values():
            document, final = subject.document(side), subject.final_document(side)
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
        paths = {
            *self._documents,
            *(subject.paths[self._side] for subject in self._by_folder.values()),
        }
        for folder, subject in self._by_folder.items():
            if folder != subject.final_folder:
                paths |= {*self._state.files_below(self._side, folder)}

        if self._renames:
            patterns = search_patterns(frozenset(self._renames), self._moves)
            paths |= lines_at(self._state.git, self._state.commits[self._side], patterns).keys()
            paths |= {document for document in self._by_document if document}

        return paths

    def text(self, path: str, base: str | None) -> tuple[str | None, int]:
        """Return a file's text with the ids of afterwards, and how many citations changed."""
        text, side = self._state.text(self._side, path), self._side
        if text is None or not self._renames:
            return text, 0

        for subject in self._by_document.get(path, ()):
            heading = subject.source_on(side).get("heading")
            heading = None if heading is None else str(heading)
            text = renumbered_document(
                text, path, heading, subject.title, subject.ids[side], subject.final
            )

        ids = frozenset(self._renames)
        result = rewrite_file(self._workspace, path, text, ids, self._meaning(base), self._moves)
        text, own = result.text, self._by_folder.get(path.rpartition("/")[0])
        if own is not None and own.ids[side] != own.final and path == own.paths[side]:
            document = own.final_document(side)
            data = renumbered_data(
                data_in(text) or {}, own.ids[side], own.final, own.aliases, document
            )
            text = rewrite(text, data, order=own.kind.schema.properties)

        if path in self._by_document:
            text = in_order(text, path, *sorted(self._renames.values()))

        return text, result.count

    def _meaning(self, base: str | None) -> CitationMap:
        """Return what citations in this side's version of a file become;
        what stood there before both sides stays.
        """
        inherited = (
            {line.rstrip("\r") for line in (base or "").split("\n")}
            if self._side != "base"
            else set()
        )

        def meaning(path: str, line: str, cited: str) -> str:
            del path
            is_inherited = cited not in self._base_ids and line.rstrip("\r") in inherited
            return cited if is_inherited else self._renames.get(cited, cited)

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
    settled: set[str] = field(
        default_factory=set
    )  # paths whose text is right afterwards: a killed run left some so
    done: dict[str, str] = field(default_factory=dict)  # path → what was done with it, in words
    citations: Counter[str] = field(default_factory=Counter)  # path → how many citations changed
    by_hand: set[str] = field(
        default_factory=set
    )  # files with citations that nothing can put right

    @cached_property
    def dirty(self) -> frozenset[str]:
        """Files that differ from the index."""
        options = ("--name-only", "-z", "--relative", "--no-renames", "--no-ext-diff")
        return frozenset(self.state.git.run_names("diff", *options))

    def draft_files(self) -> None:
        """Draft each file that conflicts, moves or cites an id that changes,
        merged anew from its versions.
        """
        sides = {side: SideFiles(self.workspace, self.state, self.subjects, side) for side in SIDES}
        paths = {*self.state.unmerged}.union(*(files.affected() for files in sides.values()))
        paths |= {files.final_path(path) for files in sides.values() for path in paths}
        originals: dict[str, dict[Side, str]] = {path: {} for path in sorted(paths)}

        for side, files in sides.items():
            for path in sorted(paths):
                if self.state.text(side, path) is not None:
                    originals[files.final_path(path)][side] = path

        self.reasons |= self.subjects.unreadable

        for path, versions in originals.items():
            if path in self.subjects.unreadable:
                continue

            if path in self.state.unmerged and not self.state.unmerged[path]:
                if kind_of(self.workspace, path):
                    self.reasons[path] = "it is not a regular file on one side"
                continue

            try:
                self._draft_file(path, versions, sides)
            except (OrbitError, ContestedError, YamlProblemError) as error:
                if self._is_plain(path):
                    self.by_hand.add(path)
                else:
                    conflict = next(
                        (
                            each
                            for each in (path, *versions.values())
                            if each in self.state.unmerged
                        ),
                        path,
                    )
                    self.reasons[conflict] = str(error)

    def _draft_file(
        self, path: str, versions: Mapping[Side, str], sides: Mapping[Side, SideFiles]
    ) -> None:
        raw = {side: self.state.text(side, original) for side, original in versions.items()}
        texts: dict[Side, str | None] = dict.fromkeys(SIDES)
        for side, original in versions.items():
            texts[side], count = sides[side].text(original, raw.get("base"))
            self.citations[path] = max(self.citations[path], count)

        is_plain = self._is_plain(path)
        is_moved = versions != {
            side: path for side in SIDES if self.state.text(side, path) is not None
        }
        if is_plain and not is_moved and all(texts[side] == text for side, text in raw.items()):
            return
        if any(len(text or "") > DOCUMENT_LIMIT for text in texts.values()):
            raise ContestedError(f"one side is larger than {DOCUMENT_LIMIT:,} bytes")

        text, contested = self._merged(path, texts)
        if contested and is_plain and path not in self.state.unmerged:
            self.by_hand.add(path)  # both sides wrote the line
            return

        if not self._may_replace(path, raw, text):
            if path in self.state.unmerged and not is_plain:
                self.reasons[path] = _BY_HAND
            elif text is not None:
                self.by_hand.add(path)
            return

        self.draft.put(path, text)
        moved_from = next((original for original in versions.values() if original != path), None)
        if moved_from is not None and text is not None:
            self.draft.came_from[path] = moved_from

        if contested and not is_plain:
            self.reasons[path] = f"changed on both sides: {', '.join(contested)}"
        elif not contested:
            self.settled.add(path)

        if path in self.state.unmerged and not contested:
            self.resolved.add(path)
            self.done[path] = "moved" if text is None else self.done.get(path, "merged")

    def _merged(self, path: str, texts: Texts) -> tuple[str | None, Sequence[str]]:
        base, ours, theirs = (texts[side] for side in SIDES)
        kind = kind_of(self.workspace, path)
        if kind is not None:
            uids = {
                uid
                for text in (ours, theirs)
                if text is not None and (uid := (data_in(text) or {}).get("uid"))
            }
            if len(uids) > 1:
                record_id = path.split("/")[-2]
                raise ContestedError(
                    f"two records took the code {record_id}; give one of them another by hand"
                )

        if ours is None or theirs is None:
            text = ours if theirs is None else theirs
            if base is not None and text is not None and text != base:
                remover, keeper = ("ours", "theirs") if ours is None else ("theirs", "ours")
                raise ContestedError(f"{remover} removed it, {keeper} changed it")

            text = None if base is not None else text
            if kind is not None and text is not None:
                validated(text, kind, path)

            return text, ()

        if kind is not None:
            return merge_records(base, ours, theirs, kind, path), ()
        if _is_votes(path):
            self.done[path] = "both sides' votes"
            return merge_votes(ours, theirs), ()

        if self._is_log(path):
            self.done[path] = "merged by entry"
            merged = merge_logs(base or "", ours, theirs)
            return merged.text, merged.contested

        text, is_contested = merge_lines(base or "", ours, theirs)
        return text, ("lines",) if is_contested else ()

    def _is_plain(self, path: str) -> bool:
        """Say whether a file is merged by line: no record, no votes and no log."""
        return (
            kind_of(self.workspace, path) is None and not _is_votes(path) and not self._is_log(path)
        )

    def _is_log(self, path: str) -> bool:
        if path.rpartition("/")[2] == LOG_NAME:
            return True
        if not is_markdown(path) or path.startswith(f"{ORBIT}/"):
            return False

        is_source = any(path == subject.source.get("path") for subject in self.subjects.all)
        texts = (
            [self.state.text(side, path) for side in SIDES]
            if is_source or path in self.state.unmerged
            else []
        )
        return any(
            text and len(text) <= DOCUMENT_LIMIT and read_document(text, path).format == "log"
            for text in texts
        )

    def _may_replace(self, path: str, raw: Mapping[Side, str | None], text: str | None) -> bool:
        """Say whether the work tree holds what git left there:
        no new line, no conflict settled by hand.
        """
        current = self.draft.on_disk(path)
        if current is None or current == text:
            return True

        here = (self.state.text(side, path) for side in SIDES)
        texts = [each for each in (*here, *raw.values()) if each is not None]
        lines = {line.rstrip("\r") for each in (*texts, text or "") for line in each.split("\n")}
        is_left = all(line.rstrip("\r") in lines for line in _MARKER.sub("", current).split("\n"))

        if path in self.state.unmerged:
            return current in texts or (is_left and _OPEN.search(current) is not None)

        return is_left and path not in self.dirty

    def unclear(self, records: RecordSet) -> tuple[Unclear, ...]:
        """Return the citations that are left as they are,
        because nothing tells which record they mean.
        """
        ids = frozenset(old for side in SIDES for old in self.subjects.renames(side))
        if not ids:
            return ()

        untracked = {*self.workspace.git.untracked()}
        mentioned = {
            *mentioning_files(self.workspace, search_patterns(ids, DocumentMoves()))
        } & untracked
        open_files = self.by_hand | mentioned

        def meaning(path: str, line: str, cited: str) -> str | None:
            del line
            is_settled = path not in open_files if cited in ids else bool(records.candidates(cited))
            return cited if is_settled else None

        forms = self.workspace.kinds.id_forms
        paths = sorted(open_files.union(path for path, count in self.citations.items() if count))
        texts = ((path, text) for path in paths if (text := self.draft.readable(path)) is not None)
        results = (
            rewrite_mentions(text, path, forms, ids, meaning, DocumentMoves())
            for path, text in texts
        )
        return tuple(mention for result in results for mention in result.unclear)


def _is_votes(path: str) -> bool:
    return path.startswith(f"{ORBIT}/") and path.endswith(f"/{VOTES}")
