"""Real collections taken over whole: every document accounted for, nothing invented, nothing changed, nothing lost."""

from __future__ import annotations

import posixpath
import re
import shutil
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from orbit_registry.cli.main import run
from orbit_registry.errors import AmbiguousIdError
from orbit_registry.formats.adr.reader import read_document
from orbit_registry.formats.yaml import load
from orbit_registry.importers.importer import import_from
from orbit_registry.model.record import Record
from orbit_registry.registry import Registry

COLLECTIONS = (
    "JabRef__jabref", "adr__madr", "alphagov__govuk-infrastructure", "arachne-framework__architecture",
    "cometbft__cometbft", "curie-eng__curie", "joshrotenberg__adrs", "kamp-us__phoenix", "mbeacom__adrkit",
    "microsoft__agent-framework", "npryce__adr-tools", "opinionated-digital-center__pyadr", "structurizr__java",
    "thomvaill__log4brains",
)  # fmt: skip
each_collection = pytest.mark.parametrize("name", COLLECTIONS)
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
    """Make a folder a repository with all of it in one commit."""
    git(root, "init", "-q")
    git(root, "add", "-A", "-f")
    git(root, "commit", "-q", "-m", "As it was")
    return root


@pytest.fixture
def rust(corpora: Path, tmp_path: Path, git: Git) -> Path:
    """Return a repository whose `.orbit/` another tool wrote."""
    return committed(copied(corpora / "orbit-2026-07", tmp_path / "project"), git)


@pytest.fixture
def collection(corpora: Path, tmp_path: Path, git: Git) -> Callable[[str], Path]:
    """Make a workspace of one of the collections."""

    def make(name: str) -> Path:
        root = committed(copied(corpora / "adr" / name, tmp_path / "project"), git)
        Registry.init(root)
        return root

    return make


def documents(root: Path) -> dict[str, bytes]:
    """Return the Markdown documents outside `.orbit/`, by path."""
    found = (path for path in root.rglob("*.md") if ".orbit" not in path.relative_to(root).parts)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def squeezed(text: str) -> list[str]:
    """Return a text's words, without its status line, link targets and rules."""
    bare = re.sub(r"\A\s*(?:[-*]\s+)?\W*Status\W*:.*", "", text, count=1)
    return re.findall(r"\w+", re.sub(r"\]\([^()\s]*\)", "]", bare).casefold())


# --- the system before


def test_every_record_of_the_other_system_arrives(rust: Path) -> None:
    """140 decisions and 50 learnings come over, none is left, and both decisions that share an id are kept."""
    report = import_from(rust, start=rust)
    registry = Registry.open(rust)
    assert registry.collection.problems == ()
    assert (len(registry.records.of_kind("adr")), len(registry.records.of_kind("learning"))) == (140, 50)
    assert (len(report.records), report.of("left")) == (190, [])
    second = registry.records.get("agent-families/ADR-0167")
    assert second.id != "ADR-0167"
    assert "ADR-0167" in second.legacy_ids
    assert registry.records.get("user-interface/ADR-0167").id == "ADR-0167"
    assert [note for note in report.notes if note.startswith("ADR-0167 named 2 things")]


def test_every_text_of_the_other_system_is_kept(corpora: Path, rust: Path) -> None:
    """Each body is its record's prose, stands beside it, or says what the record's document says."""
    import_from(rust, start=rust)
    registry = Registry.open(rust)
    beside = 0
    for file in sorted((corpora / "orbit-2026-07/dot_orbit/adrs").rglob("adr.yaml")):
        data, body = load(file.read_text("utf-8")), (file.parent / "body.md").read_text("utf-8")
        assert isinstance(data, dict)
        [record] = [one for one in registry.records.of_kind("adr") if one.data["created_at"] == data["created_at"]]
        kept = rust / record.folder / ("imported-body.md" if record.source else "body.md")
        if kept.exists():
            assert kept.read_text("utf-8") == body
            beside += record.source is None
        else:
            assert squeezed(record.prose) == squeezed(body)
    assert beside == 88


def test_every_field_of_the_other_system_is_kept(corpora: Path, rust: Path) -> None:
    """Ids, legacy ids, supersessions, tasks, scopes, times and learnings' texts are those of the origin."""
    import_from(rust, start=rust)
    by_time = {(one.kind.name, one.data["created_at"]): one for one in Registry.open(rust).collection.records}
    for kind in ("adr", "learning"):
        for file in (corpora / "orbit-2026-07/dot_orbit").rglob(f"{kind}.yaml"):
            data = load(file.read_text("utf-8"))
            assert isinstance(data, dict)
            record = by_time[kind, data["created_at"]]
            assert set(data.get("legacy_ids") or []) <= set(record.legacy_ids)
            assert data["id"] in (record.id, *record.legacy_ids)
            assert record.data["updated_at"] == data["last_updated" if kind == "adr" else "updated_at"]
            assert record.data["status"] == data["status"]
            scope = data["scope"] if kind == "learning" else data
            assert (list(record.scope.paths), list(record.scope.tags)) == (scope["paths"], scope["tags"])
            if kind == "adr":
                assert list(record.words("tasks")) == data["related_tasks"]
                assert list(record.supersedes) == data["supersedes"]
                assert list(record.superseded_by) == [data[name] for name in ("superseded_by",) if name in data]
            else:
                assert (record.data["summary"], record.data.get("body", "")) == (data["summary"], data["body"])
                assert [{"kind": kind_, "reference": one} for kind_, one in record.evidence] == data["evidence"]


def test_a_second_import_of_the_other_system_changes_nothing(rust: Path, git: Git) -> None:
    """After a commit, another run leaves nothing for git to see and says that all of it is here."""
    documents_before = documents(rust)
    dry = import_from(rust, start=rust, dry_run=True)
    assert git(rust, "status", "--short") == ""
    first = import_from(rust, start=rust)
    assert first.outcomes == dry.outcomes
    assert documents(rust) == documents_before
    git(rust, "add", "-A")
    git(rust, "commit", "-q", "-m", "Imported")
    again = import_from(rust, start=rust)
    assert git(rust, "status", "--short") == ""
    assert (again.records, again.of("changed"), len(again.of("present"))) == ((), [], 190)


def test_older_ids_become_codes_that_the_old_ones_lead_to(corpora: Path, tmp_path: Path) -> None:
    """The six learnings with dates for ids arrive under short codes, and their old ids resolve."""
    root = copied(corpora / "orbit-legacy-date-ids", tmp_path / "project")
    import_from(root, start=root)
    records = Registry.open(root).collection.records
    assert len(records) == 6
    for number in range(1, 7):
        assert re.fullmatch(r"L-[0-9a-z]{5}", records.get(f"L20260517-{number}").id)


def test_entries_that_are_still_without_a_record_can_be_backfilled(rust: Path) -> None:
    """What the logs hold beside the imported records gets records of its own, once, and local names resolve."""
    import_from(rust, start=rust)
    before = documents(rust)
    report = Registry.open(rust).backfill()
    assert (len(report.records), len(Registry.open(rust).collection.records)) == (48, 238)
    assert documents(rust) == before
    registry = Registry.open(rust)
    assert registry.backfill().records == ()
    assert registry.records.get("knowledge-graph/ADR-001").source is not None


def test_a_killed_import_is_finished_by_the_next(rust: Path, tmp_path: Path, run_killed: Any) -> None:
    """Killed at points spread over its run, an import loses nothing: the next run ends where an unharmed one ends."""
    whole = Path(shutil.copytree(rust, tmp_path / "whole"))
    assert not run_killed(partial(run, ["import", ".", "--format", "json"]), 10**9, whole, (0,))
    wanted = records_and_files(whole)
    for nth in (9, 641, 643, 1100):
        root = Path(shutil.copytree(rust, tmp_path / f"killed-{nth}"))
        assert run_killed(partial(run, ["import", "."]), nth, root), nth
        assert not run_killed(partial(run, ["import", "."]), 10**9, root, (0,))
        assert records_and_files(root) == wanted
        shutil.rmtree(root)


def records_and_files(root: Path) -> tuple[dict[str, object], dict[str, str]]:
    """Return records and texts by id; which of two free numbers a record got may differ after a kill."""
    registry = Registry.open(root)
    assert registry.collection.problems == ()
    data = {record.uid: {**record.data, "id": ""} for record in registry.collection.records}
    texts = {}
    for record in registry.collection.records:
        for file in sorted((root / record.folder).iterdir()):
            if not file.name.endswith(".yaml"):
                texts[f"{record.uid}/{file.name}"] = file.read_text("utf-8")
    return dict(data), texts


# --- the collections of documents


@each_collection
def test_all_that_is_left_says_what_to_do(collection: Callable[[str], Path], name: str) -> None:
    """After the reason comes a step; of what is not Markdown, and of what agents are to know, a note says it."""
    root = collection(name)
    report = import_from(root, start=root, dry_run=True)
    noted = tuple(re.findall(r"not Markdown \(\.\w+\)", "".join(report.notes)))
    assert [one for one in report.of("left") if "; " not in one.reason and one.reason not in noted] == []


@each_collection
def test_every_document_is_a_record_or_has_a_reason(collection: Callable[[str], Path], name: str) -> None:
    """Each Markdown document of a collection is a record's source, or the report says why not; and none changes."""
    root = collection(name)
    before = documents(root)
    report = import_from(root, start=root)
    registry = Registry.open(root)
    assert registry.collection.problems == ()
    sources = {record.source.path for record in registry.records if record.source is not None}
    reasons = {outcome.source: outcome.reason for outcome in report.of("left") if outcome.record is None}
    assert set(before) == sources | {path for path in reasons if path.endswith(".md")}
    assert sources & set(reasons) == set()
    assert all(reasons.values())
    assert documents(root) == before


@each_collection
def test_no_status_is_made_up(collection: Callable[[str], Path], name: str) -> None:
    """A record has the status that its document states; where the document states none, it is unknown."""
    root = collection(name)
    import_from(root, start=root)
    for record in Registry.open(root).records:
        assert record.source is not None
        path = record.source.path
        [entry] = read_document((root / path).read_text("utf-8"), path).entries
        assert (record.status.name, record.text("status_raw") or "") == (entry.status, entry.status_raw.strip())
        assert record.status.name == "unknown" or entry.status_raw.strip()
        assert record.text("date") == entry.date


@each_collection
def test_a_second_adoption_changes_nothing(collection: Callable[[str], Path], git: Git, name: str) -> None:
    """A dry run says what the real one does; after it, nothing is left to do."""
    root = collection(name)
    dry = import_from(root, start=root, dry_run=True)
    report = import_from(root, start=root)
    assert report.outcomes == dry.outcomes
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Adopted")
    again = import_from(root, start=root)
    assert git(root, "status", "--short") == ""
    assert (again.of("taken"), again.of("changed")) == ([], [])
    assert len(again.of("present")) == len(report.of("taken"))


@each_collection
def test_links_between_decisions_survive(collection: Callable[[str], Path], name: str) -> None:
    """Each link from one decision's text to another's file is an edge between their records; no edge leads nowhere."""
    root = collection(name)
    import_from(root, start=root)
    records = list(Registry.open(root).records)
    ids = {record.id for record in records}
    edges = {record.id: around(record) for record in records}
    inverse: dict[str, set[str]] = defaultdict(set)
    for record in records:
        assert edges[record.id] <= ids
        for other in edges[record.id]:
            inverse[other].add(record.id)
    by_path = {record.source.path: record.id for record in records if record.source is not None}
    seen = 0
    for path, record_id in by_path.items():
        [entry] = read_document((root / path).read_text("utf-8"), path).entries
        for relation in entry.relations:
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), relation.target_raw.partition("#")[0]))
            other = by_path.get(target)
            if other is not None and other != record_id:
                seen += 1
                assert other in edges[record_id] | inverse[record_id], (path, relation.target_raw)
    assert seen or name in ("opinionated-digital-center__pyadr",) or not any(edges.values())


def around(record: Record) -> set[str]:
    """Return every record that a record points at."""
    return {*(link.to for link in record.links), *record.supersedes, *record.superseded_by}


@pytest.mark.parametrize(
    ("name", "number", "held"),
    [
        ("microsoft__agent-framework", "0016", 2),
        ("microsoft__agent-framework", "0021", 2),
        ("microsoft__agent-framework", "0024", 2),
        ("microsoft__agent-framework", "0029", 2),
        ("microsoft__agent-framework", "0032", 2),
        ("structurizr__java", "0010", 3),
    ],
)
def test_a_number_that_several_have_is_ambiguous(
    collection: Callable[[str], Path], name: str, number: str, held: int
) -> None:
    """Each decision has an id of its own; asking for the number they share names them all."""
    root = collection(name)
    import_from(root, start=root)
    registry = Registry.open(root)
    assert len({record.id for record in registry.records}) == len(registry.records)
    with pytest.raises(AmbiguousIdError) as raised:
        registry.get(number)
    assert len(raised.value.candidates) == held
    assert all(candidate in raised.value.message for candidate in raised.value.candidates)


def test_a_supersession_stands_at_both_ends(collection: Callable[[str], Path]) -> None:
    """Where one document says that it is replaced, both records say so, and the report tells which one was silent."""
    root = collection("kamp-us__phoenix")
    report = import_from(root, start=root)
    records = Registry.open(root).records
    pairs = {(old, record.id) for record in records for old in record.supersedes}
    assert pairs == {(record.id, new) for record in records for new in record.superseded_by}
    assert len(pairs) == 42
    assert [one for one in report.of("changed") if "says `superseded by" in one.reason]


def test_a_date_is_no_number(collection: Callable[[str], Path]) -> None:
    """A file that is named by its day gets a running number, keeps its day as date and its name as legacy id."""
    root = collection("thomvaill__log4brains")
    import_from(root, start=root)
    record = Registry.open(root).get("20200924-use-markdown-architectural-decision-records")
    assert re.fullmatch(r"ADR-\d{4}", record.id)
    assert record.data["date"] == "2020-09-24"
