"""What a proof asks: Orbit's hook and search, `git log`, and full-text search of the records."""

import time
from collections.abc import Mapping

from orbit_measure.history import live_since
from orbit_measure.names import NameResolver
from orbit_measure.without_orbit import FullText, GitLog
from orbit_registry.agents.transcripts import ids_in
from orbit_registry.hook.client import context_of, load_agent
from orbit_registry.hook.context import Selection
from orbit_registry.hook.project import project_paths
from orbit_registry.hook.render import render
from orbit_registry.hook.select import select
from orbit_registry.hook.session import SessionLog
from orbit_registry.matching.index import Index
from orbit_registry.matching.match import current_index
from orbit_registry.model.fields import PATH, PHASE
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.search.query import Query
from orbit_registry.search.search import Searcher
from orbit_registry.workspace.git_log import Commit, newest_commits
from orbit_registry.workspace.workspace import ORBIT, Workspace

FIRST = 5  # records of a search that count; FTS5 may give as many


class Sources:
    """Everything that is asked the same."""

    def __init__(self, workspace: Workspace, records: RecordSet, searcher: Searcher) -> None:
        self._workspace, self._searcher = workspace, searcher
        self.records = {record.uid: record for record in records}
        self.uids = {record.id: record.uid for record in records}
        self.live = {record.uid for record in records if record.phase == "live"}
        self.hook = Hook(workspace, self.uids)

        self.newest = list(newest_commits(workspace.git))
        self._names = NameResolver(records, workspace.kinds.id_forms)
        self.git = GitLog(self.newest, self._names)
        self.texts = FullText(records)

    @property
    def tracked(self) -> list[str]:
        """The files of the project, without those of the records."""
        return [file for file in self._workspace.git.tracked() or () if not is_own(file)]

    def notes(self) -> list[str]:
        """Return what is missing here."""
        notes: list[str] = []
        if not self.newest:
            notes.append(
                "there is no commit: no record can be named by one, and git log prints nothing"
            )

        if self._workspace.git.is_shallow:
            notes.append("the clone is shallow: git log has only what it holds")

        return notes

    def hits(self, text: str) -> list[str]:
        """Return the first records that a search finds."""
        return [hit.record.uid for hit in self._searcher.search(Query(text, limit=FIRST)).hits]

    def by_words(self, text: str, position: int) -> tuple[frozenset[str], list[str]]:
        """Return what `git log` and FTS5 find for words of a commit at a position."""
        of_files = self.git.of_files(self.newest[position].files, position)
        logged = {*of_files, *self.git.with_words(text, position)}
        return self.git.uids(logged), self.texts.search(text, FIRST)

    def without_ids(self, text: str) -> str:
        """Return a text without the words that name a record."""
        return " ".join(word for word in text.split() if not self._names.cited(word))

    def named_before(self, commit: Commit) -> frozenset[str]:
        """Return the live records that a commit names, which are older and which it leaves as
        they are.
        """
        uids: set[str] = set()
        for uid in self.live.intersection(self._names.cited(commit.message)):
            record = self.records[uid]
            if live_since(record) < commit.at and not _touches(commit, record):
                uids.add(uid)

        return frozenset(uids)

    def why_no_pair(self) -> str:
        """Return why no file is in the scope of a live record, should none be."""
        if not self.live:
            return "no record is live"

        live = [self.records[uid] for uid in self.live]
        if not any(record.globs or record.symbols for record in live):
            return "no live record has a path in its scope: `orbit scope suggest` proposes some"
        return "no tracked file is in the scope of a live record"


class Hook:
    """What the hook of an agent shows, by today's index."""

    def __init__(self, workspace: Workspace, uids: Mapping[str, str]) -> None:
        self._root, self._uids = str(workspace.root), uids
        self._index: Index = current_index(workspace)
        self._now = time.time()

    def edit(self, file: str, log: SessionLog | None = None) -> Selection:
        """Return what an edit of a file shows."""
        tool_input = {"file_path": f"{self._root}/{file}"}
        return self._called("PreToolUse", log, tool_name="Edit", tool_input=tool_input)

    def prompt(self, text: str) -> Selection:
        """Return what a prompt shows."""
        return self._called("UserPromptSubmit", None, prompt=text)

    def _called(self, event: str, log: SessionLog | None, **payload: object) -> Selection:
        call = load_agent("claude").read({"hook_event_name": event, "cwd": self._root, **payload})
        if call is None:
            return Selection([], 0, [])
        paths, _ = project_paths(self._root, self._root, call)
        return select(self._index, context_of(call, paths, self._now), log)

    def uids(self, selection: Selection) -> frozenset[str]:
        """Return the records that a reply names."""
        names = ids_in(render(selection))
        return frozenset(self._uids[record_id] for record_id in names if record_id in self._uids)

    def applying(self, file: str) -> frozenset[str]:
        """Return the live records of the project in whose scope a file is."""
        uids: set[str] = set()
        for hit in self._index.match(file):
            row = self._index.row(hit >> 32)
            is_ours = row.id in self._uids and not row.values[PATH].startswith("~/")
            if is_ours and row.values[PHASE] == "live":
                uids.add(self._uids[row.id])

        return frozenset(uids)


def is_own(file: str) -> bool:
    """Say whether a file is one of the records'."""
    return file.startswith(f"{ORBIT}/")


def _touches(commit: Commit, record: Record) -> bool:
    document = record.source.path if record.source else ""
    return any(path == document or path.startswith(f"{record.folder}/") for path in commit.files)
