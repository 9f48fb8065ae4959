"""`orbit resolve`: a merge by record, entry and vote;
the index comes last, so the next run finishes a killed one.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

from orbit_registry.formats.citations import find_citations
from orbit_registry.operations import citation_rewrite as citing
from orbit_registry.operations.merge.conflicts import (
    MergedRecords,
    assign_ids,
    find_records,
    read_merge,
    rebased_tip,
)
from orbit_registry.operations.merge.drafts import Resolution
from orbit_registry.operations.renumber import Renumbered, unclear_lines
from orbit_registry.repository.reader import read_collection
from orbit_registry.repository.writer import ChangeSet, writing
from orbit_registry.workspace.journal import apply_step
from orbit_registry.workspace.workspace import ORBIT, Workspace


@dataclass(frozen=True, slots=True)
class ResolveReport:
    """What `resolve` did, or with `dry_run` would do. Paths are from the root."""

    operation: str | None  # merge, rebase, cherry-pick or revert; None where git names none
    renumbered: tuple[Renumbered, ...] = ()
    files: tuple[citing.ChangedFile, ...] = ()  # files that changed, were merged or moved
    unresolved: Mapping[str, str] = field(default_factory=dict)
    """Records, logs and votes that need a person, and why."""
    others: tuple[str, ...] = ()  # files in conflict that are none of the registry's
    unclear: tuple[citing.Unclear, ...] = ()
    later: tuple[citing.Unclear, ...] = ()
    """Citations that later steps of a rebase will bring,
    under a number that another record has by then.
    """
    dry_run: bool = False
    next_commands: ClassVar = ("git diff --cached", "orbit check")

    @property
    def ok(self) -> bool:
        """Say whether nothing is left for a person."""
        return not self.unresolved

    @property
    def is_empty(self) -> bool:
        """Say whether there was nothing to do."""
        return not (self.renumbered or self.files or self.unresolved)

    def as_data(self) -> dict[str, object]:
        """Return the report as JSON shows it."""
        unresolved = [{"path": path, "reason": text} for path, text in self.unresolved.items()]
        unclear = [mention.as_dict() for mention in self.unclear]
        later = [mention.as_dict() for mention in self.later]

        return {
            "operation": self.operation,
            "dry_run": self.dry_run,
            "renumbered": [record.as_dict() for record in self.renumbered],
            "files": [file.as_dict() for file in self.files],
            "unresolved": unresolved,
            "others": list(self.others),
            "unclear": unclear,
            "unstaged": [],
            "later": later,
        }

    def text(self) -> str:
        """Return the report for people."""
        lines = ["nothing to resolve"] if self.is_empty else []
        for record in self.renumbered:
            lines += record.lines(dry_run=self.dry_run, because=f", because {record.reason}")

        lines += [f"  {file}" for file in self.files]
        lines += unclear_lines(self.unclear)

        if self.unresolved:
            lines += ["", "still in conflict; choose in the file, then `git add` it:"]
            lines += [f"  {path}: {reason}" for path, reason in self.unresolved.items()]

        if self.others:
            lines += ["", "not the registry's; merge them by hand:"]
            lines += [f"  {path}" for path in self.others]

        if self.later:
            lines += [
                "",
                "later steps of this rebase cite the old number; look at these lines when it is "
                "done:",
            ]
            lines += [f"  {mention.path}: {mention.line}" for mention in self.later]

        return "\n".join(lines).lstrip("\n")


def resolve(workspace: Workspace, *, dry_run: bool = False) -> ResolveReport:
    """Resolve the merge, rebase or cherry-pick under way:
    resolved files go into the index, nothing is committed.
    """
    if dry_run:
        return _plan(workspace, claim=False)[0]

    with writing(workspace):
        report, resolution = _plan(workspace, claim=True)
        # What it writes was on one of the two branches, so the rule about agents held there or is a
        # reviewer's to see.
        apply_step(workspace, "resolve", resolution.draft.changes)

        if resolution.settled:
            listed = "".join(f"{path}\0" for path in sorted(resolution.settled))
            names = listed.encode("utf-8", "surrogateescape")
            workspace.git.run("update-index", "--add", "--remove", "-z", "--stdin", stdin=names)

        return report


def _plan(workspace: Workspace, *, claim: bool) -> tuple[ResolveReport, Resolution]:
    state = read_merge(workspace)
    draft = ChangeSet(workspace)
    if not state.unmerged and state.operation is None:
        nothing = Resolution(workspace, state, MergedRecords((), {}), draft)
        return ResolveReport(state.operation, dry_run=not claim), nothing

    records = read_collection(workspace).records
    subjects = find_records(workspace, state)
    assign_ids(workspace, state, subjects, records, claim=claim)
    resolution = Resolution(workspace, state, subjects, draft)
    resolution.draft_files()

    files = citing.changed_files(draft, resolution.citations)
    listed = {file.path: file for file in files}
    for path in resolution.resolved:
        what = resolution.done.get(path, "merged")
        if what != "moved":
            listed[path] = replace(listed.get(path, citing.ChangedFile(path)), what=what)

    reasons = resolution.reasons
    others = state.unmerged.keys() - resolution.resolved - reasons.keys()
    report = ResolveReport(
        state.operation,
        tuple(_renumbered(resolution)),
        tuple(listed[path] for path in sorted(listed)),
        dict(sorted(reasons.items())),
        tuple(sorted(others)),
        resolution.unclear(records),
        later=tuple(_later_citations(resolution)),
        dry_run=not claim,
    )
    return report, resolution


def _renumbered(resolution: Resolution) -> Iterable[Renumbered]:
    changed = {change.path for change in resolution.draft.changes}
    for subject in resolution.subjects.all:
        path = f"{subject.final_folder}/{subject.kind.name}.yaml"
        if subject.is_renumbered and path in changed:
            names = (subject.title, subject.brought.id, subject.final, subject.aliases)
            document = subject.final_document(subject.side) or None
            yield Renumbered(subject.uid, *names, path, document, subject.reason)


def _later_citations(resolution: Resolution) -> Iterator[citing.Unclear]:
    state = resolution.state
    renames = resolution.subjects.renames("theirs")
    if state.operation != "rebase" or not renames:
        return

    tip = rebased_tip(state.git)
    if tip is None:
        return

    forms = resolution.workspace.kinds.id_forms
    patterns = citing.search_patterns(frozenset(renames), citing.DocumentMoves())
    paths = citing.mentioning_files(resolution.workspace, patterns, tip)
    later = state.git.contents(tip, paths)
    now = state.git.contents(str(state.commits["theirs"]), paths)

    for path in [path for path in paths if not path.startswith(f"{ORBIT}/")]:
        present = {*_lines(now.get(path, b""))}
        for line in dict.fromkeys(_lines(later[path])):
            for cited in find_citations(line, forms) if line not in present else ():
                if cited.id in renames:
                    yield citing.Unclear(path, cited.position, cited.id, line.strip()[:200])


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8", "surrogateescape").replace("\r\n", "\n").split("\n")
