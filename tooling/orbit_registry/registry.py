"""Facade of the package: one workspace and a method for each verb; those of the table of
operations come from `verbs`.

Each method imports what it needs, so that `orbit list` starts without the gate, importers and site.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from orbit_registry.errors import UsageError
from orbit_registry.model.kind import Kind, load_kinds
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.repository.reader import Collection, Reading
from orbit_registry.verbs import Verbs
from orbit_registry.workspace.author import Author, Review, current_author
from orbit_registry.workspace.files import resolved
from orbit_registry.workspace.journal import WRITTEN_ROOTS, unfinished_steps
from orbit_registry.workspace.workspace import Workspace, find_workspace

if TYPE_CHECKING:
    from orbit_registry.checks.check import Announce
    from orbit_registry.checks.duplicates import Neighbour
    from orbit_registry.checks.engine import CheckOutcome, Fix
    from orbit_registry.lifecycle.built import Built
    from orbit_registry.lifecycle.review_due import Due
    from orbit_registry.lifecycle.touches import Touch
    from orbit_registry.matching import match as matches
    from orbit_registry.matching.brief import Brief
    from orbit_registry.matching.explain import Verdict
    from orbit_registry.matching.sync import Inputs
    from orbit_registry.matching.visibility import Visibility
    from orbit_registry.model.freshness import Freshness
    from orbit_registry.model.scope import Task
    from orbit_registry.operations import adr as adrs
    from orbit_registry.operations.explain_import import Explanation
    from orbit_registry.operations.freshness import verify as verification
    from orbit_registry.operations.import_report import TakeoverReport
    from orbit_registry.operations.init import SetupReport
    from orbit_registry.repository.writer import Edit, PreWriteHook
    from orbit_registry.search.query import Query
    from orbit_registry.search.search import Searcher, SearchResult
    from orbit_registry.search.vectors import Vectors
    from orbit_registry.snapshot.sync import SyncResult


class Registry(Verbs):
    """One workspace and the verbs on it; values are cached until `refresh`."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace

    @classmethod
    def open(cls, path: str | Path = ".") -> Registry:
        """Return the registry of the workspace at or above a path.

        Raises:
            WorkspaceNotFoundError: there is none.
            ConfigError: its configuration can't be used.
        """
        return cls(find_workspace(Path(path)))

    @classmethod
    def import_from(
        cls,
        path: str | Path,
        source: str = "auto",
        *,
        assume: str | None = None,
        dry_run: bool = False,
        on_step: Callable[[str], None] = lambda step: None,
        on_progress: Callable[[str, int, int], None] = lambda step, done, of: None,
    ) -> TakeoverReport:
        """Import another tool's records from a path; what the gate finds goes into the baseline.

        Records go into the workspace here, or into a new one if the path is another tool's
        repository. `on_step` gets what is done next; `on_progress` also how much of it is done, of
        how much.
        """
        from orbit_registry.exchange.importers.importer import import_and_baseline

        steps: list[str] = []

        def report(step: str, done: int, of: int) -> None:
            if steps[-1:] != [step]:
                steps.append(step)
                on_step(step)

            on_progress(step, done, of)

        return import_and_baseline(
            Path(path), source, assume=assume, dry_run=dry_run, on_step=report
        )

    @classmethod
    def explain_import(cls, path: str | Path) -> Explanation:
        """Return what each step of an import makes of one document; nothing is written."""
        from orbit_registry.operations.explain_import import explain

        file = resolved(Path(path))
        if not file.is_file():
            raise UsageError(f"{path} is no file", hint="name one document")

        workspace = find_workspace(file.parent)
        return explain(workspace, workspace.relative(file))

    def refresh(self) -> Workspace:
        """Drop the cached values; return the workspace."""
        for name in ("reading", "_inputs", "collection", "records", "searcher"):
            self.__dict__.pop(name, None)

        return self.workspace

    @cached_property
    def collection(self) -> Collection:
        """Records as their files state them, and unreadable files."""
        return self.reading.collection

    @cached_property
    def reading(self) -> Reading:
        """One pass over all record files."""
        return Reading(self.workspace)

    @cached_property
    def records(self) -> RecordSet:
        """Records with their prose."""
        return self.reading.filled

    def get(self, any_id: str) -> Record:
        """Return a record by id or legacy id.

        Raises:
            RecordNotFoundError: no record has that id, or its file can't be read.
            AmbiguousIdError: several records have it.
        """
        return self.whole([self._found(any_id)])[0]

    def part(self, any_id: str) -> tuple[Record, str]:
        """Return a record and the chunk name after `#`, if there is one; see `get`."""
        start, _, name = any_id.rpartition("#")
        if not start or self.collection.records.candidates(any_id):
            return self.get(any_id), ""
        return self.get(start), name

    def whole(self, records: Sequence[Record]) -> list[Record]:
        """Return records with their prose, reading only their documents."""
        from orbit_registry.repository.documents import whole

        return whole(self.workspace, records)

    def _found(self, any_id: str) -> Record:
        return self.collection.records.get(any_id)

    @classmethod
    def init(
        cls,
        path: str | Path = ".",
        *,
        adr_folder: str = "",
        schemas: bool = False,
        dry_run: bool = False,
    ) -> SetupReport:
        """Make the repository around a path a workspace; older findings go into the baseline.

        Documents without a record do not: `import` makes their records.

        New decisions go to `adr_folder`, by default to the folder with the most. `schemas` are for
        editors.
        """
        from orbit_registry.operations.init import (
            refuse_outside_git,
            setup_workspace,
            undone_on_failure,
        )

        refuse_outside_git(Path(path))
        report = setup_workspace(
            Path(path), load_kinds(), adr_folder=adr_folder, schemas=schemas, dry_run=dry_run
        )
        if report.detected is not None and not dry_run:
            from orbit_registry.checks import engine
            from orbit_registry.checks.autofix import UNRECORDED

            with undone_on_failure(report):
                workspace = cls.open(report.root).workspace
                findings = engine.run(workspace).diagnostics
                # An import makes the records of documents that have none.
                older = [
                    entry for entry in findings if entry.code != UNRECORDED or not entry.fixable
                ]
                report.unrecorded = len(findings) - len(older)
                report.baselined = engine.take_into_baseline(workspace, (), older)

        return report

    def author(self, model: str | None = None) -> Author:
        """Return the person or agent who runs this."""
        return current_author(self.workspace.git, model=model)

    def recover(self) -> list[str]:
        """Finish or undo interrupted writes, unless another process is writing now; return what was
        done, in words.
        """
        if not unfinished_steps(self.workspace):
            return []

        from orbit_registry.repository.writer import finish_steps

        done = finish_steps(self.workspace)
        self.refresh()
        return done

    def add_adr(
        self, decision: adrs.NewAdr, *, admit: PreWriteHook | None = None, dry_run: bool = False
    ) -> adrs.AddResult:
        """Add a decision: record and document in one step."""
        from orbit_registry.operations import adr as adrs
        from orbit_registry.operations import lifecycle

        added = adrs.add_adr(self.refresh(), decision, self.author(), admit, dry_run=dry_run)
        record = added.record
        if dry_run or record.phase != "live":
            return added

        for old in decision.supersedes:
            _, record = lifecycle.supersede(self.refresh(), old, record.id, author=self.author())

        return dataclasses.replace(added, record=record)

    def due_reviews(self, records: Sequence[Record] | None = None) -> Mapping[str, Due]:
        """Return why records (default: all) are to be looked at again, by path."""
        from orbit_registry.lifecycle.review_facts import due_reviews

        return due_reviews(self.workspace, self.records if records is None else records)

    def add(
        self,
        kind: str,
        fields: Mapping[str, object],
        author: Author | None = None,
        admit: PreWriteHook | None = None,
    ) -> Record:
        """Add a record of a kind with code ids."""
        from orbit_registry.repository.writer import create_record

        return create_record(
            self.refresh(), self.workspace.kinds[kind], author or self.author(), fields, admit
        )

    def draft(
        self, kind: str, fields: Mapping[str, object], author: Author | None = None
    ) -> tuple[str, Record]:
        """Return the file text and record that `add` would write."""
        from orbit_registry.repository.writer import draft_record

        return draft_record(
            self.workspace, self.workspace.kinds[kind], author or self.author(), fields
        )

    def neighbours(self, new: Record) -> list[Neighbour]:
        """Return the records similar to a new one."""
        from orbit_registry.checks.duplicates import near_duplicates

        return near_duplicates(self.workspace, self._with_prose(new.kind.name), new)

    def touches(self, new: Record) -> list[Touch]:
        """Return the decisions on the same question as a new one, the nearest first."""
        from orbit_registry.checks.review.touched import touched_by

        return touched_by(self.workspace, self.reading.filled, [new])[0]

    def search(self, query: Query) -> SearchResult:
        """Search records of one kind or all."""
        if query.kind not in (None, "skill"):
            self.workspace.kinds[query.kind]
        return self.searcher.search(query)

    @cached_property
    def searcher(self) -> Searcher:
        """Searcher of records, skills and personal records."""
        from orbit_registry.matching.match import applying_to
        from orbit_registry.matching.words import Words
        from orbit_registry.search import vectors
        from orbit_registry.search.search import Searcher

        words = Words(self.workspace, self.records)
        embedder = vectors.configured(self.workspace)
        # Nothing that a searcher keeps leads back to the registry: both would stay in memory.
        applies = partial(applying_to, self.workspace)
        return Searcher(self.workspace, words.records, applies, embedder, words.index)

    def _with_prose(self, kind: str) -> list[Record]:
        return (
            self.records if self.workspace.kinds[kind].in_document else self.collection.records
        ).of_kind(kind)

    def update(
        self, any_id: str, edit: Edit, *, title: str | None = None, kind: Kind | None = None
    ) -> Record:
        """Change a record's fields; a decision's title and date change in its document too.

        A record of another `kind` is refused.
        """
        from orbit_registry.operations.edits import change_fields

        return change_fields(self.workspace, any_id, edit, title, kind=kind)

    def transition(
        self, any_id: str, to: str, review: Review | None = None, *, dry_run: bool = False
    ) -> Record:
        """Set a record's status, as its kind allows; `review` is the decision on a pending one."""
        from orbit_registry.checks.review.review import transition

        return transition(
            self.refresh(), self._found(any_id), to, self.author(), review, dry_run=dry_run
        )

    def supersede(
        self, old_id: str, new_id: str, *, dry_run: bool = False
    ) -> tuple[Record, Record]:
        """Replace one record by another, writing both ends or neither."""
        from orbit_registry.operations import lifecycle

        return lifecycle.supersede(self.refresh(), old_id, new_id, dry_run=dry_run)

    def freshness(self, records: Sequence[Record] | None = None) -> Mapping[str, Freshness]:
        """Return the freshness of records (default: all) by path;
        fresh and closed ones are left out.
        """
        from orbit_registry.operations.freshness import evaluate

        if (
            records is not None
        ):  # the few globs of a few records are matched sooner than a memory of all is read
            return evaluate.evaluate_freshness(self.workspace, records).freshness

        return evaluate.evaluate_freshness(self.workspace, tuple(self.collection.records)).freshness

    def verify(
        self, any_id: str, statement: verification.Verification, *, dry_run: bool = False
    ) -> verification.VerifyResult:
        """State that a record still holds."""
        from orbit_registry.operations.freshness import verify as verification

        workspace, author = self.refresh(), self.author()
        return verification.verify(workspace, any_id, statement, author, dry_run=dry_run)

    def check(
        self,
        paths: Sequence[str] = (),
        *,
        against: str | None = None,
        fix: Fix = False,
        everything: bool = False,
        announce: Announce = lambda _diagnostic, _changes: None,
        dry_run: bool = False,
        proposed: bool = False,
    ) -> CheckOutcome:
        """Run the gate."""
        from orbit_registry.checks import engine

        def read() -> Reading:
            self.refresh()
            return self.reading

        return engine.gate(
            self.workspace,
            read,
            paths=paths,
            against=against,
            fix=fix,
            everything=everything,
            announce=announce,
            dry_run=dry_run,
            proposed=proposed,
        )

    def sync(self, *, rebuild: bool = False, snapshot: bool = True) -> SyncResult:
        """Update the push index and, unless it is not wanted, the snapshot."""
        from orbit_registry.snapshot.sync import sync

        result = sync(self.workspace, rebuild=rebuild, snapshot=snapshot)
        self.reading = result.reading
        return result

    def match(
        self,
        paths: Sequence[str] = (),
        tags: Sequence[str] = (),
        *,
        task: str | None = None,
        everything: bool = False,
        project: str = "",
    ) -> list[matches.Match]:
        """Return the records that apply to paths (from the root) or tags."""
        from orbit_registry.matching import match as matches

        return matches.match(
            self.workspace,
            paths,
            tags,
            task=task,
            everything=everything,
            project=project,
            inputs=self._read_anew(),
        )

    @cached_property
    def _inputs(self) -> Inputs:
        """What the push index is made from."""
        from orbit_registry.matching.match import inputs_after_writing

        return inputs_after_writing(self.workspace)

    def _read_anew(self) -> Inputs:
        """Read what the push index is made from, for all that follows."""
        self.refresh()
        self.reading = self._inputs.reading
        return self._inputs

    def brief(
        self,
        *,
        agent: str = "",
        task: str | Task = "",
        text: str = "",
        paths: Sequence[str] = (),
        tags: Sequence[str] = (),
        task_class: str = "",
        session: str = "",
        project: str = "",
    ) -> Brief:
        """Return what an agent needs before it starts; logged as shown."""
        from orbit_registry.matching import brief

        self.refresh()
        request = brief.BriefRequest(paths, tags, agent, task, task_class, text, session, project)
        return brief.brief(self.workspace, request)

    def explain(self, path: str, *, project: str = "") -> list[Verdict]:
        """Return for each record around a path (from the root) why it is pushed or not."""
        from orbit_registry.matching.explain import explain

        return explain(self.workspace, path, project=project, inputs=self._read_anew())

    def visibility(self, records: Sequence[Record]) -> Mapping[str, Visibility]:
        """Return where agents are shown each record, and why not elsewhere, by its path.

        A record that is not written yet counts as if it were.
        """
        from orbit_registry.matching.visibility import surroundings_of, visibilities

        if self.workspace.root in WRITTEN_ROOTS:  # what was read before is no longer so
            self.__dict__.pop("_inputs", None)

        around = surroundings_of(self.workspace, self._inputs)
        known = {record.path for record in around.records}
        drafts = [record for record in records if record.path not in known]
        return visibilities(records, around.with_records(drafts))

    def built(self) -> Mapping[str, Built]:
        """Return whether each open decision is built, by the record's path."""
        from orbit_registry.lifecycle.verdicts import verdicts

        return verdicts(self.workspace, self.reading)

    def query(self, sql: str, form: str = "table", seconds: float = 30.0) -> str:
        """Query the snapshot, for so many seconds at most; return a table, JSON or CSV."""
        from orbit_registry.snapshot.query import query

        workspace = self.refresh()
        return query(
            workspace, sql, form, vectors=self.vectors, reading=self.reading, seconds=seconds
        )

    def vectors(self, texts: Sequence[str] = ()) -> Vectors | None:
        """Return the vectors of the records and of some texts."""
        return self.searcher.vectors(texts)
