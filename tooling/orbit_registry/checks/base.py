"""The base of a change, as the change finds it: its records with their texts there, and what the
change does to what it protects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

from orbit_registry.checks.approval import Judged, judged
from orbit_registry.checks.inputs import Inputs
from orbit_registry.checks.protected import (
    Change,
    Sides,
    changed_files,
    changed_publication,
    changed_records,
    changed_settings,
    changed_submodules,
    text_paths,
    with_text,
)
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.repository.codec import hides_record
from orbit_registry.repository.documents import filled_from
from orbit_registry.repository.policy import Policy


@dataclass(frozen=True)
class Base:
    """What the commit says that a change starts from."""

    inputs: Inputs
    policy: Policy
    records: RecordSet
    """The records now, with their long texts."""

    @cached_property
    def _now(self) -> Mapping[str, Record]:
        return {record.uid: record for record in self.records}

    @cached_property
    def _touched(self) -> Sequence[Record]:
        """The records whose status the change alters, or one of whose files."""
        changed = self.inputs.facts.changed or frozenset()
        touched: list[Record] = []
        for record in self.inputs.before:
            current = self._now.get(record.uid)
            is_same = current is not None and current.status.name == record.status.name
            if not is_same or not changed.isdisjoint((record.path, *text_paths(record))):
                touched.append(record)

        return touched

    @cached_property
    def _contents(self) -> Mapping[str, bytes]:
        """The files that may hold the long texts of those, as the base has them."""
        paths = chain.from_iterable(map(text_paths, self._touched))
        return self.policy.git.contents(self.policy.commit, paths)

    def filled(self) -> list[Record]:
        """Return the records with their prose there."""
        now = {record.uid: record for record in self.inputs.reading.filled}
        touched = {record.uid for record in self._touched}
        same: list[Record] = []
        for record in self.inputs.before:
            if record.uid not in touched:
                current = now[record.uid]
                filled = replace(record, prose=current.prose, suggested=current.suggested)
                same.append(filled)

        contents = self._contents.items()
        texts = {path: content.decode("utf-8", "replace") for path, content in contents}
        return [*same, *filled_from(self._touched, texts.get)]

    def judged(self) -> Sequence[Judged]:
        """Return what the change does, each with the proof that it lacks."""
        return tuple(judged(self.policy.git, self.policy, self._changes()))

    def _changes(self) -> list[Change]:
        inputs, policy, records = self.inputs, self.policy, [*self.records]
        workspace, now = inputs.workspace, self._now
        changed = inputs.facts.changed or frozenset()
        before = {record.uid: with_text(record, self._contents) for record in self._touched}
        problems = filter(hides_record, inputs.reading.collection.problems)
        sides = Sides(
            before,
            {uid: row for uid, row in now.items() if uid in before or row.path in changed},
            workspace.kinds,
            frozenset(problem.location.path for problem in problems),
        )

        changes = [*changed_records(sides), *changed_settings(policy, workspace.config)]
        changes += changed_publication(policy, sides)
        head = Policy(workspace.git, "HEAD")
        plurals = frozenset(kind.plural for kind in workspace.kinds)
        changes += changed_files(policy, head, changed, records, plurals)
        texts = chain.from_iterable(map(text_paths, [*inputs.before, *records]))
        submodules = inputs.facts.submodules
        changes += changed_submodules(submodules, {*texts, policy.keys_path})
        return changes
