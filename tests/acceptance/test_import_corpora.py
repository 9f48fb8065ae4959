"""Real collections taken over whole: every document accounted for, nothing invented,
nothing changed, nothing lost.
"""

import posixpath
import re
import shutil
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from orbit_registry.doors.cli.main import run
from orbit_registry.errors import AmbiguousIdError
from orbit_registry.exchange.importers.importer import import_from
from orbit_registry.formats.adr.reader import read_document
from orbit_registry.formats.yaml import load
from orbit_registry.model.diagnostic import Severity
from orbit_registry.model.record import Record
from orbit_registry.operations.import_report import TakeoverReport
from orbit_registry.registry import Registry

COLLECTIONS = (
    "JabRef__jabref",
    "adr__madr",
    "joshrotenberg__adrs",
    "kamp-us__phoenix",
    "microsoft__agent-framework",
    "npryce__adr-tools",
    "structurizr__java",
    "thomvaill__log4brains",
)
Git = Callable[..., str]


def copied(source: Path, target: Path) -> Path:
    """Copy a collection so that it can be written to; its `dot_orbit` becomes `.orbit`."""
    shutil.copytree(source, target, copy_function=shutil.copyfile)
    for folder in (target, *(path for path in target.rglob("*") if path.is_dir())):
        folder.chmod(0o755)
    if (target / "dot_orbit").exists():
        (target / "dot_orbit").rename(target / ".orbit")
    return target


def committed(root: Path, git: Git) -> Path:
    git(root, "init", "-q")
    git(root, "add", "-A", "-f")
    git(root, "commit", "-q", "-m", "As it was")
    return root


@pytest.fixture
def foreign(corpora: Path, tmp_path: Path, git: Git) -> Path:
    """Return a repository whose `.orbit/` another tool wrote."""
    return committed(copied(corpora / "orbit-2026-07", tmp_path / "project"), git)


@dataclass(frozen=True)
class Imported:
    """A project after its import."""

    name: str
    root: Path
    before: dict[str, bytes]
    """Its documents before."""
    dry_run: TakeoverReport
    report: TakeoverReport
    git: Git

    @property
    def registry(self) -> Registry:
        return Registry.open(self.root)

    def changes_of_a_second_import(self) -> tuple[TakeoverReport, str]:
        self.git(self.root, "add", "-A")
        self.git(self.root, "commit", "-q", "--allow-empty", "-m", "Imported")
        return import_from(self.root, start=self.root), self.git(self.root, "status", "--short")


def imported_copy(name: str, source: Path, folder: Path, git: Git) -> Imported:
    root = copied(source, folder / "project")
    if (
        name == "structurizr__java"
    ):  # all its decisions are data of tests, which an import of the whole leaves out
        for number, resources in enumerate(sorted(root.glob("*/src/test/resources"))):
            resources.rename(root / f"part-{number}")
    committed(root, git)
    if not (root / ".orbit").exists():
        Registry.init(root)
    before = documents(root)
    dry_run = import_from(root, start=root, dry_run=True)
    return Imported(name, root, before, dry_run, import_from(root, start=root), git)


@pytest.fixture(scope="module")
def migrated(corpora: Path, tmp_path_factory: pytest.TempPathFactory, git: Git) -> Imported:
    """Return the other tool's `.orbit/` after its import."""
    return imported_copy("orbit", corpora / "orbit-2026-07", tmp_path_factory.mktemp("orbit"), git)


@pytest.fixture(scope="module", params=COLLECTIONS)
def adopted(
    request: pytest.FixtureRequest,
    corpora: Path,
    tmp_path_factory: pytest.TempPathFactory,
    git: Git,
) -> Imported:
    return imported_copy(
        request.param, corpora / "adr" / request.param, tmp_path_factory.mktemp("adr"), git
    )


def documents(root: Path) -> dict[str, bytes]:
    """Return the Markdown documents outside `.orbit/`, by path."""
    paths = (path for path in root.rglob("*.md") if ".orbit" not in path.relative_to(root).parts)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}


def squeezed(text: str) -> list[str]:
    """Return a text's words, without its status line, link targets and rules."""
    bare = re.sub(r"\A\s*(?:[-*]\s+)?\W*Status\W*:.*", "", text, count=1)
    return re.findall(r"\w+", re.sub(r"\]\([^()\s]*\)", "]", bare).casefold())


def test_every_record_of_the_other_system_arrives(migrated: Imported) -> None:
    registry, report = migrated.registry, migrated.report
    assert registry.collection.problems == ()
    assert (len(registry.records.of_kind("adr")), len(registry.records.of_kind("learning"))) == (
        140,
        50,
    )
    assert (len(report.records), report.of("left")) == (190, [])
    second = registry.records.get("agent-families/ADR-0167")
    assert second.id != "ADR-0167"
    assert "ADR-0167" in second.legacy_ids
    assert registry.records.get("user-interface/ADR-0167").id == "ADR-0167"
    assert [note for note in report.notes if note.startswith("ADR-0167 named 2 things")]


def test_every_text_of_the_other_system_is_kept(corpora: Path, migrated: Imported) -> None:
    by_time = {
        record.data["created_at"]: record for record in migrated.registry.records.of_kind("adr")
    }
    body_files = size = 0
    for file in sorted((corpora / "orbit-2026-07/dot_orbit/adrs").rglob("adr.yaml")):
        data, body = load(file.read_text("utf-8")), (file.parent / "body.md").read_text("utf-8")
        assert isinstance(data, dict)
        record = by_time[data["created_at"]]
        copy = migrated.root / record.folder / ("imported-body.md" if record.source else "body.md")
        if copy.exists():
            assert copy.read_text("utf-8") == body
            body_files += record.source is None
        else:
            assert squeezed(record.prose) == squeezed(body)
        size += len(body)
        assert len(squeezed(record.prose)) >= 0.4 * len(squeezed(body)), (
            f"{record.id} is read as a pointer to its text"
        )
    assert body_files == 89, (
        "88 without an entry in a log, and one whose entry says where the full text is"
    )
    assert size > 200_000
    assert [
        note
        for note in migrated.dry_run.notes
        if note.startswith("1 entry of a decision log only points to a body.md: 2,499")
    ]


def test_every_field_of_the_other_system_is_kept(corpora: Path, migrated: Imported) -> None:
    records = migrated.registry.collection.records
    by_time = {(record.kind.name, record.data["created_at"]): record for record in records}
    for kind in ("adr", "learning"):
        for file in (corpora / "orbit-2026-07/dot_orbit").rglob(f"{kind}.yaml"):
            data = load(file.read_text("utf-8"))
            assert isinstance(data, dict)
            record = by_time[kind, data["created_at"]]
            assert set(data.get("legacy_ids") or []) <= set(record.legacy_ids)
            assert data["id"] in (record.id, *record.legacy_ids)
            assert (
                record.data["updated_at"] == data["last_updated" if kind == "adr" else "updated_at"]
            )
            assert record.data["status"] == data["status"]
            scope = data["scope"] if kind == "learning" else data
            assert (list(record.scope.paths), list(record.scope.tags)) == (
                scope["paths"],
                scope["tags"],
            )
            if kind == "adr":
                assert list(record.words("tasks")) == data["related_tasks"]
                assert list(record.supersedes) == data["supersedes"]
                assert list(record.superseded_by) == [
                    data[name] for name in ("superseded_by",) if name in data
                ]
            else:
                assert (record.data["summary"], record.data.get("body", "")) == (
                    data["summary"],
                    data["body"],
                )
                assert [
                    {"kind": kind_, "reference": reference} for kind_, reference in record.evidence
                ] == data["evidence"]


def test_a_second_import_of_the_other_system_changes_nothing(migrated: Imported) -> None:
    assert migrated.report.outcomes == migrated.dry_run.outcomes
    assert documents(migrated.root) == migrated.before
    again, status = migrated.changes_of_a_second_import()
    assert (again.records, again.of("changed"), len(again.of("present")), status) == (
        (),
        [],
        190,
        "",
    )


def test_older_ids_become_codes_and_still_resolve(corpora: Path, tmp_path: Path) -> None:
    root = copied(corpora / "orbit-legacy-date-ids", tmp_path / "project")
    import_from(root, start=root)
    records = Registry.open(root).collection.records
    assert len(records) == 6
    for number in range(1, 7):
        assert re.fullmatch(r"L-[0-9a-z]{5}", records.get(f"L20260517-{number}").id)


def test_log_entries_without_records_can_be_backfilled(foreign: Path) -> None:
    import_from(foreign, start=foreign)
    before = documents(foreign)
    report = Registry.open(foreign).adr_backfill().data
    assert (len(report.records), len(Registry.open(foreign).collection.records)) == (48, 238)
    assert documents(foreign) == before
    registry = Registry.open(foreign)
    assert registry.adr_backfill().data.records == ()
    assert registry.records.get("knowledge-graph/ADR-001").source is not None


def test_a_killed_import_is_finished_by_the_next(
    foreign: Path, tmp_path: Path, run_killed: Any
) -> None:
    folders = sorted(file.parent for file in foreign.rglob(".orbit/**/*.yaml"))
    for folder in (folder for number, folder in enumerate(folders) if number % 10):
        shutil.rmtree(folder)
    unharmed = Path(shutil.copytree(foreign, tmp_path / "unharmed"))
    assert not run_killed(partial(run, ["import", ".", "--format", "json"]), 10**9, unharmed, (0,))
    expected = records_and_files(unharmed)
    for nth in (9, 45):
        root = Path(shutil.copytree(foreign, tmp_path / f"killed-{nth}"))
        assert run_killed(partial(run, ["import", "."]), nth, root), nth
        assert not run_killed(partial(run, ["import", "."]), 10**9, root, (0,))
        assert records_and_files(root) == expected
        shutil.rmtree(root)


def records_and_files(root: Path) -> tuple[dict[str, object], dict[str, str]]:
    """Return records and texts by id; which of two free numbers a record got may differ after a
    kill.
    """
    registry = Registry.open(root)
    assert registry.collection.problems == ()
    data = {record.uid: {**record.data, "id": ""} for record in registry.collection.records}
    texts = {}
    for record in registry.collection.records:
        for file in sorted((root / record.folder).iterdir()):
            if not file.name.endswith(".yaml"):
                texts[f"{record.uid}/{file.name}"] = file.read_text("utf-8")
    return dict(data), texts


def test_all_that_is_left_says_what_to_do(adopted: Imported) -> None:
    report = adopted.dry_run
    noted = tuple(re.findall(r"not Markdown \(\.\w+\)", "".join(report.notes)))
    reasons = [outcome.reason for outcome in report.of("left")]
    assert [reason for reason in reasons if "; " not in reason and reason not in noted] == []


def test_every_document_is_a_record_or_has_a_reason(adopted: Imported) -> None:
    assert adopted.registry.collection.problems == ()
    sources = {
        record.source.path for record in adopted.registry.records if record.source is not None
    }
    reasons = {
        outcome.source: outcome.reason
        for outcome in adopted.report.of("left")
        if outcome.record is None
    }
    assert set(adopted.before) == sources | {path for path in reasons if path.endswith(".md")}
    assert sources & set(reasons) == set()
    assert all(reasons.values())
    assert documents(adopted.root) == adopted.before


def test_what_was_adopted_has_no_errors(adopted: Imported) -> None:
    diagnostics = adopted.registry.check(everything=True).diagnostics
    assert [
        str(finding.location) for finding in diagnostics if finding.severity is Severity.ERROR
    ] == []


def test_no_status_is_made_up(adopted: Imported) -> None:
    for record in adopted.registry.records:
        assert record.source is not None
        path = record.source.path
        [entry] = read_document((adopted.root / path).read_text("utf-8"), path).entries
        assert (record.status.name, record.text("status_raw") or "") == (
            entry.status,
            entry.status_raw.strip(),
        )
        assert record.status.name == "unknown" or entry.status_raw.strip()
        assert record.text("date") == entry.date


def test_links_between_decisions_survive(adopted: Imported) -> None:
    records = list(adopted.registry.records)
    ids = {record.id for record in records}
    edges = {record.id: targets_of(record) for record in records}
    inverse: dict[str, set[str]] = defaultdict(set)
    for record in records:
        assert edges[record.id] <= ids
        for other in edges[record.id]:
            inverse[other].add(record.id)
    by_path = {record.source.path: record.id for record in records if record.source is not None}
    links = 0
    for path, record_id in by_path.items():
        [entry] = read_document((adopted.root / path).read_text("utf-8"), path).entries
        for relation in entry.relations:
            target = posixpath.normpath(
                posixpath.join(posixpath.dirname(path), relation.target_raw.partition("#")[0])
            )
            other = by_path.get(target)
            if other is not None and other != record_id:
                links += 1
                assert other in edges[record_id] | inverse[record_id], (path, relation.target_raw)
    assert links or not any(edges.values())


def targets_of(record: Record) -> set[str]:
    return {*(link.to for link in record.links), *record.supersedes, *record.superseded_by}


AMBIGUOUS = {
    "microsoft__agent-framework": {"0016": 2, "0021": 2, "0024": 2, "0029": 2, "0032": 2},
    "structurizr__java": {"0010": 3},
}


def test_a_shared_number_is_ambiguous(adopted: Imported) -> None:
    registry = adopted.registry
    assert len({record.id for record in registry.records}) == len(registry.records)
    for number, count in AMBIGUOUS.get(adopted.name, {}).items():
        with pytest.raises(AmbiguousIdError) as raised:
            registry.get(number)
        assert len(raised.value.candidates) == count
        assert all(candidate in raised.value.message for candidate in raised.value.candidates)


def test_a_supersession_is_on_both_records(adopted: Imported) -> None:
    records = adopted.registry.records
    pairs = {(old, record.id) for record in records for old in record.supersedes}
    assert pairs == {(record.id, new) for record in records for new in record.superseded_by}
    if adopted.name == "kamp-us__phoenix":
        assert len(pairs) == 42


def test_a_date_is_no_number(adopted: Imported) -> None:
    if adopted.name == "thomvaill__log4brains":
        record = adopted.registry.get("20200924-use-markdown-architectural-decision-records")
        assert re.fullmatch(r"ADR-\d{4}", record.id)
        assert record.data["date"] == "2020-09-24"


def test_a_second_adoption_changes_nothing(adopted: Imported) -> None:
    assert adopted.report.outcomes == adopted.dry_run.outcomes
    again, status = adopted.changes_of_a_second_import()
    assert (again.of("taken"), again.of("changed"), status) == ([], [], "")
    assert len(again.of("present")) == len(adopted.report.of("taken"))
