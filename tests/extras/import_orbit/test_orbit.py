"""Taking over the `.orbit/` of danieljhkim/orbit:
in place, into another workspace, with what git hides.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from orbit_registry.errors import RefusedError, WorkspaceNotFoundError
from orbit_registry.exchange.importers.importer import import_from
from orbit_registry.formats.yaml_nodes import has_comment
from orbit_registry.model.kind import load_kinds
from orbit_registry.operations.init import setup_workspace
from orbit_registry.repository.reader import read_collection
from orbit_registry.workspace.workspace import open_workspace

CASES = Path(__file__).resolve().parents[2] / "cases" / "importers"
Git = Callable[..., str]


@pytest.fixture
def foreign(git_repo: Path) -> Path:
    """Return a repository with the learnings of the case, as the other tool left them."""
    shutil.copytree(CASES / "orbit-learnings/tree/dot_orbit", git_repo / ".orbit")
    return git_repo


def test_records_are_copied_into_another_workspace(foreign: Path, tmp_path: Path) -> None:
    ours = tmp_path / "ours"
    ours.mkdir()
    setup_workspace(ours, load_kinds())
    before = {path: path.read_bytes() for path in foreign.rglob("*") if path.is_file()}
    report = import_from(foreign, "orbit", start=ours)
    assert len(report.records) == 6
    records = read_collection(open_workspace(ours)).records
    assert (len(records), len(records.get("L20260301-1").votes)) == (6, 1)
    assert {path: path.read_bytes() for path in foreign.rglob("*") if path.is_file()} == before
    again = import_from(foreign, "orbit", start=ours)
    assert (len(again.of("taken")), len(again.of("present"))) == (0, 6)


def test_an_agent_takes_over_nothing_in_force(
    foreign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {path: path.read_bytes() for path in foreign.rglob("*") if path.is_file()}
    monkeypatch.setenv("ORBIT_ACTOR", "agent")
    with pytest.raises(RefusedError) as caught:
        import_from(foreign)
    assert "a person runs this" in str(caught.value.hint)
    assert import_from(foreign, dry_run=True).records
    assert {path: path.read_bytes() for path in foreign.rglob("*") if path.is_file()} == before


def test_an_id_that_is_taken_here_becomes_a_legacy_id(foreign: Path, tmp_path: Path) -> None:
    ours = tmp_path / "ours"
    shutil.copytree(foreign, ours)
    file = ours / ".orbit/learnings/L-0001/learning.yaml"
    file.write_text(file.read_text().replace("created_at: 2026-03-01", "created_at: 2025-01-01"))
    import_from(ours, "orbit", start=ours)
    report = import_from(foreign, "orbit", start=ours)
    assert [outcome.source for outcome in report.of("taken")] == [
        ".orbit/learnings/L-0001/learning.yaml"
    ]
    records = read_collection(open_workspace(ours)).records
    newcomer = records.get(report.records[0])
    assert newcomer.legacy_ids == ("L-0001",)
    assert [vote.learning_id for vote in newcomer.votes] == [newcomer.id]
    assert import_from(foreign, "orbit", start=ours).records == ()


def test_two_clones_that_import_have_the_same_records(foreign: Path, tmp_path: Path) -> None:
    """Ids and uids come from the origin, so that an import made twice merges without a conflict."""
    other = Path(shutil.copytree(foreign, tmp_path / "clone"))
    import_from(foreign, "orbit", start=foreign)
    import_from(other, "orbit", start=other)
    names = [
        path.relative_to(foreign)
        for path in (foreign / ".orbit/learnings").rglob("*")
        if path.is_file()
    ]
    assert len(names) > 5
    assert all((other / name).read_bytes() == (foreign / name).read_bytes() for name in names)


def test_files_that_git_ignores_are_let_in(foreign: Path, git: Git) -> None:
    (foreign / ".gitignore").write_text(".orbit/*\n!.orbit/adrs/\n!.orbit/learnings/")
    report = import_from(foreign, "orbit", start=foreign)
    assert [
        outcome
        for outcome in report.of("changed")
        if outcome.source == ".gitignore" and "config.yaml" in outcome.reason
    ]
    git(foreign, "add", "-A")
    tracked = git(foreign, "ls-files").splitlines()
    assert {".orbit/config.yaml", ".orbit/learnings/L-0001/votes.jsonl"} <= set(tracked)
    assert [name for name in tracked if name.startswith(".orbit/state/")] == []


def test_a_corrected_record_is_imported_next_time(git_repo: Path) -> None:
    shutil.copytree(CASES / "orbit-odd-records/tree/dot_orbit", git_repo / ".orbit")
    import_from(git_repo, "auto", start=git_repo)
    torn = git_repo / ".orbit/adrs/accepted/ADR-0010/adr.yaml"
    torn.write_text(torn.read_text().replace('title: ""', "title: Now it has one"))
    assert import_from(git_repo, "auto", start=git_repo).records == ("ADR-0010",)
    assert (git_repo / ".orbit/adrs/ADR-0010/body.md").is_file()
    assert not torn.exists()


def test_a_broken_own_record_is_not_foreign(git_repo: Path) -> None:
    setup_workspace(git_repo, load_kinds())
    broken = git_repo / ".orbit/learnings/L-7k3fq/learning.yaml"
    broken.parent.mkdir(parents=True)
    broken.write_text("id: [torn\n")
    (git_repo / "adr").mkdir()
    (git_repo / "adr/0001-first.md").write_text(
        "# First\n\n## Status\n\nAccepted\n\n## Decision\n\nYes.\n"
    )
    report = import_from(git_repo, "auto", start=git_repo)
    assert (report.format, report.records) == ("nygard", ("ADR-0001",))
    assert broken.read_text() == "id: [torn\n"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title", "[1, {a: b}]"),
        ("tags", "1"),
        ("paths", "{a: 1}"),
        ("created_at", "[]"),
        ("legacy_ids", "[a b, a-b]"),
        ("supersedes", "[[1]]"),
        ("x-own", "&a [1, *a]"),
        ("status", "9"),
        ("related_features", "[../x, ok]"),
        ("owner", '"\\u202e"'),
        ("id", "ADR-0001/../../x"),
        ("id", '""'),
        ("zzz", "!!python/name:os.system x"),
    ],
)
def test_a_field_of_any_type_is_imported_or_refused(git_repo: Path, field: str, value: str) -> None:
    old = git_repo / ".orbit/adrs/accepted/ADR-0001/adr.yaml"
    old.parent.mkdir(parents=True)
    times = "created_at: 2026-05-11T02:06:39Z\nlast_updated: 2026-05-17T06:07:29Z\n"
    lines = f"schema_version: 2\nid: ADR-0001\ntitle: T\nstatus: accepted\n{times}".splitlines()
    other_lines = [line for line in lines if not line.startswith(f"{field}:")]
    old.write_text("\n".join([*other_lines, f"{field}: {value}", ""]))
    before = old.read_bytes()
    report = import_from(git_repo, "orbit", start=git_repo)
    collection = read_collection(open_workspace(git_repo))
    if report.records:
        assert ([record.id for record in collection.records], collection.problems) == (
            list(report.records),
            (),
        )
        assert not old.exists()
    else:
        assert [outcome.source for outcome in report.of("left")] == [
            ".orbit/adrs/accepted/ADR-0001/adr.yaml"
        ]
        assert all(outcome.reason for outcome in report.of("left"))
        assert old.read_bytes() == before


def test_a_folder_of_another_name_needs_a_workspace(foreign: Path, tmp_path: Path) -> None:
    shutil.move(foreign / ".orbit", tmp_path / "kept")
    with pytest.raises(WorkspaceNotFoundError, match="can only be copied into a workspace"):
        import_from(tmp_path / "kept", "orbit", start=tmp_path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id: a\n# said\n", True),
        ("id: a # said\n", True),
        ("list:\n  - a\n  # said\n", True),
        ("body: |-\n  # a heading\n\n  more # here\nid: a\n", False),
        ("- body: |\n    # a heading\n  id: a # said\n", True),
        ("id: '# no'\n", False),
        ('id: "a # no"\n', False),
        ("id: a#b\n", False),
        ("body: >2\n    # folded\n# said\n", True),
    ],
)
def test_a_comment_is_told_from_text(text: str, expected: bool) -> None:
    assert has_comment(text) is expected
