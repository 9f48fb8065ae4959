"""Import from other tools: the importers by name, choosing one,
and the baseline of the imported findings.
"""

import os
import pkgutil
import posixpath
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

import orbit_registry.exchange.importers
from orbit_registry.checks import engine
from orbit_registry.errors import UsageError, did_you_mean, plural
from orbit_registry.exchange.importers.documents import DOCUMENTS
from orbit_registry.matching.suggest import note_on_scopes
from orbit_registry.matching.visibility import overlooked, surroundings_of, visibilities
from orbit_registry.model.diagnostic import Diagnostic
from orbit_registry.operations.adoption import OnStep
from orbit_registry.operations.import_report import TakeoverReport
from orbit_registry.repository.reader import Reading, read_collection
from orbit_registry.seams import add, extras, load
from orbit_registry.workspace.workspace import Workspace, find_workspace

STATUS_AND_SUCCESSOR = "ORB304"
_FORMER = {"madr": DOCUMENTS.name, "nygard": DOCUMENTS.name}
"""Names that the importer of documents had for two styles; it reads them all."""


class Importer(Protocol):
    """Importer of one format."""

    @property
    def name(self) -> str:
        """The name for `orbit import --from`."""

    def detects(self, path: Path) -> bool:
        """Say whether the path has this format."""

    def run(self, path: Path, start: Path, *, assume: str | None, dry_run: bool) -> TakeoverReport:
        """Import what is at `path` for the workspace at or above `start`;
        a second call changes nothing.
        """


def importers() -> Mapping[str, Importer]:
    """Return the importers in the `IMPORTERS` of this package's modules and of the extras',
    decision documents last.
    """
    names = sorted(
        module.name for module in pkgutil.iter_modules(orbit_registry.exchange.importers.__path__)
    )
    names.sort(key=lambda name: name == "documents")
    of_core = [f"orbit_registry.exchange.importers.{name}" for name in names]
    of_extras = chain.from_iterable(extra.importers for extra in extras())
    by_name: dict[str, Importer] = {}
    for name in (*of_extras, *of_core):
        of_module = getattr(load(name), "IMPORTERS", ())
        add(by_name, {importer.name: importer for importer in of_module}, "importer", name)

    return by_name


def import_from(
    path: Path,
    source: str = "auto",
    *,
    start: Path | None = None,
    assume: str | None = None,
    dry_run: bool = False,
    on_step: OnStep = lambda step, done, of: None,
    remembered: Mapping[str, str] = MappingProxyType({}),
) -> TakeoverReport:
    """Import what another tool wrote at `path` in the format `source`.

    `remembered` has the ids that decisions had in an earlier import, by uid and by path.
    """
    formats = importers()
    source = _FORMER.get(source, source)
    if source != "auto" and source not in formats:
        raise UsageError(
            f"there is no import format {source!r}", hint=f"one of auto, {', '.join(formats)}"
        )

    folder = (start or Path.cwd()).resolve()
    target = Path(os.path.realpath(folder / path))
    if not target.exists():
        missing = next(part for part in (target, *target.parents) if part.parent.is_dir())
        near = did_you_mean(
            missing.name, sorted(file.name for file in missing.parent.glob("*")), "`"
        )
        raise UsageError(
            f"{path} is not there",
            hint=f"{near}name a folder or a document, or `.` for the whole repository",
        )

    if source == "auto":
        detected = (importer for importer in formats.values() if importer.detects(target))
        importer = next(detected, DOCUMENTS)
    else:
        importer = formats[source]

    if importer is DOCUMENTS:
        importer = replace(DOCUMENTS, on_step=on_step, remembered=remembered)

    return importer.run(target, folder, assume=assume, dry_run=dry_run)


def import_and_baseline(
    path: Path,
    source: str,
    *,
    assume: str | None = None,
    dry_run: bool,
    on_step: OnStep = lambda step, done, of: None,
) -> TakeoverReport:
    """Import from a path and accept the older findings; the report says how many."""
    target = Path(os.path.realpath(path))
    folders = dict.fromkeys((Path.cwd(), target if target.is_dir() else target.parent))

    on_step("reading the documents", 0, 1)
    report = import_from(path, source, assume=assume, dry_run=dry_run, on_step=on_step)
    if dry_run or not report.records:
        return report

    on_step("checking the new records", 0, 1)
    roots: set[Path] = set()
    count = 0
    for folder in folders:
        workspace = _workspace_at(folder)
        if workspace is not None and workspace.root not in roots:
            roots.add(workspace.root)
            findings = _without_questions(workspace)
            before = [finding for finding in findings if not _is_about(finding, report)]
            count += engine.take_into_baseline(workspace, before, findings)

    notes: list[str] = []
    if count:
        older = plural(count, "older finding is baselined", "older findings are baselined")
        notes.append(f"{older}: `orbit check --all` lists them")

    ids: list[str] = []
    written = _workspace_at(target if target.is_dir() else target.parent)
    here = _workspace_at(Path.cwd())
    if written is not None and here is not None and written.root != here.root:
        roots = {written.root}
        notes.insert(0, f"the records are in {written.root}, not in the workspace here")

    on_step("working out where agents are shown them", 0, 1)
    for root in roots:
        workspace = find_workspace(root)
        reading = Reading(workspace)
        records = [*reading.prose.filled(reading.collection.records)]
        judged = visibilities(records, surroundings_of(workspace))
        notes.append(note_on_scopes(workspace, records, judged))
        ids += (record.id for record in overlooked(records, judged))

    made = tuple(record_id for record_id in ids if record_id in report.records)
    return replace(report, notes=(*report.notes, *filter(None, notes)), overlooked=made)


def _is_about(finding: Diagnostic, report: TakeoverReport) -> bool:
    """Say whether a finding came with an import: it is about a record that was made, or about a
    document in a folder that the configuration did not name before.
    """
    records = set(report.records)
    places = {finding.location.path, *(location.path for location in finding.related)}
    names = {*chain.from_iterable(path.split("/") for path in places)}
    if finding.record in records or not names.isdisjoint(records):
        return True

    changed = (outcome.source for outcome in report.of("changed") if outcome.record is None)
    if not any(source.endswith("config.yaml") for source in changed):
        return False

    sources = (outcome.source.partition(" · ")[0] for outcome in report.of("taken"))
    folders = {posixpath.dirname(source) for source in sources}
    return posixpath.dirname(finding.location.path) in folders


def _without_questions(workspace: Workspace) -> list[Diagnostic]:
    """Return the findings, but for those that the report asks about: a replaced decision whose
    document says that it is accepted stays a finding until a person answers.
    """
    records = read_collection(workspace).records
    in_question = {record.id for record in records if record.is_replaced}
    findings = engine.run(workspace).diagnostics
    return [
        finding
        for finding in findings
        if finding.code != STATUS_AND_SUCCESSOR or finding.record not in in_question
    ]


def _workspace_at(folder: Path) -> Workspace | None:
    try:
        return find_workspace(folder)
    except UsageError:
        return None
