"""Personal records: shown in every project, and never published."""

from pathlib import Path

import duckdb
import pytest
from tests.extras.loop.conftest import SESSION, Project

from orbit_registry.errors import WorkspaceNotFoundError
from orbit_registry.hook.project import project_root
from orbit_registry.matching.personal import personal_workspace
from orbit_registry.registry import Registry
from orbit_registry.workspace.workspace import find_workspace


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    Registry.init(folder)
    return folder


def learn(folder: Path, summary: str, **more: object) -> str:
    return (
        Registry.open(folder)
        .add("learning", {"summary": summary, "scope": {"paths": ["src/**"]}, **more})
        .id
    )


def shown(project: Project, session: str = SESSION) -> str:
    edit = {"tool_name": "Edit", "tool_input": {"file_path": f"{project.root}/src/shop/cart.py"}}
    return project.hook("PreToolUse", session, **edit)


def test_a_personal_record_is_shown_in_every_project(project: Project, home: Path) -> None:
    before = shown(project, "before")
    name = learn(home, "Keep lines short", body="I read on a small screen.")
    assert (name in before, name in shown(project)) == (False, True)
    (match,) = [
        entry
        for entry in project.json("match", "src/shop/cart.py")["matches"]
        if entry["id"] == name
    ]
    assert (project.root / match["record"]).resolve() == (
        home / f".orbit/learnings/{name}/learning.yaml"
    ).resolve()
    assert match["more"] == f"~/.orbit/learnings/{name}/learning.yaml"
    assert project.json("list") == []
    assert "0 records" in project.orbit("check") or "nothing found" in project.orbit("check")
    assert name not in project.orbit("query", "SELECT id FROM records", "--format", "json")
    assert [(entry["id"], entry["scope_of"]) for entry in project.json("lessons", "list")] == [
        (name, "personal")
    ]
    assert project.json("lessons", "rm", "keep-lines")[0]["status"] == "retired"
    assert name not in shown(project, "after")


def test_search_finds_and_marks_personal_records(project: Project, home: Path) -> None:
    mine, other = learn(home, "Keep lines short"), learn(home, "Round half to even")
    learn(project.root, "Round half to even")
    (hit,) = project.json("search", "keep lines")["hits"]
    assert (hit["id"], hit["title"]) == (mine, "(personal) Keep lines short")
    assert f"orbit -C ~ show {mine}" in project.orbit("search", "keep lines", "--format", "json")
    assert other not in project.orbit("search", "round half")


def test_search_by_a_path_finds_the_personal_records_that_are_shown_there(
    project: Project, home: Path
) -> None:
    mine = learn(home, "Keep lines short")
    hits = project.json("search", "keep lines", "--path", "src/shop/cart.py")["hits"]
    assert [hit["id"] for hit in hits] == [mine]
    assert project.json("search", "keep lines", "--path", "docs/a.md")["hits"] == []


def test_a_plan_has_no_personal_records(project: Project, home: Path) -> None:
    mine, project_id = learn(home, "Keep lines short"), learn(project.root, "Round half to even")
    result = project.json("brief", "--for", "plan", "--path", "src/shop/cart.py")
    assert [entry["id"] for entry in result["related_learnings"]] == [project_id]
    assert mine not in str(result)


def test_personal_records_are_never_published(project: Project, home: Path) -> None:
    mine = learn(home, "Zebras read my diary", body="My zebra.")
    learn(project.root, "Round half to even", body="Prices.")
    assert f"- [{mine}] (personal) Zebras read my diary" in shown(project)
    for words in (("match", "src/shop/cart.py"), ("brief", "--path", "src/shop/cart.py")):
        assert "(personal) Zebras" in project.orbit(*words)
        assert [
            entry["personal"] for entry in project.json(*words)["matches"] if entry["id"] == mine
        ] == [True]
    current = project.json("coverage")
    assert mine not in str(current)
    for words in (
        ("export", "rules", "--agent", "claude", "--agent", "agents-md"),
        ("snapshot", "export", "all.duckdb", "--unfiltered"),
        ("site", "build", "--out", "site"),
    ):
        project.orbit(*words)
    state = project.root / ".orbit/state"
    derived = (state / "cache", project.root / ".git/orbit")
    paths = [path for path in project.root.rglob("*") if not any(map(path.is_relative_to, derived))]
    files = [path for path in paths if path.is_file()]
    assert state / "log/events.jsonl" in files
    assert len(list(project.root.glob(".claude/rules/orbit/*.md"))) == 1
    assert [str(entry) for entry in files if b"zebra" in entry.read_bytes().lower()] == []
    with duckdb.connect(str(project.root / "all.duckdb"), read_only=True) as snapshot:
        tables = [
            str(name)
            for (name,) in snapshot.execute("SELECT table_name FROM duckdb_tables()").fetchall()
        ]
        rows = [row for name in tables for row in snapshot.execute(f'FROM "{name}"').fetchall()]
    assert ("Round half" in str(rows), "ebra" in str(rows), mine in str(rows)) == (
        True,
        False,
        False,
    )


@pytest.mark.parametrize("how", ["the same words", "a link"])
def test_a_projects_record_overrides_a_personal_one(project: Project, home: Path, how: str) -> None:
    mine = learn(home, "Use tabs")
    if how == "the same words":
        project_id = learn(project.root, "Use  TABS")
    else:
        project_id = learn(
            project.root, "Use spaces here", links=[{"rel": "contradicts", "to": mine}]
        )
    verdicts = {
        entry["id"]: entry for entry in project.json("explain", "src/shop/cart.py")["verdicts"]
    }
    assert (verdicts[project_id]["why"], verdicts[mine]["why"]) == ("pushed", "overridden")
    assert "overrides" in verdicts[mine]["said"]
    text = shown(project)
    assert project_id in text
    assert f"[{mine}]" not in text


def test_the_home_folder_is_no_parent_project(home: Path) -> None:
    below = home / "notes"
    below.mkdir()
    with pytest.raises(WorkspaceNotFoundError):
        find_workspace(below)
    assert project_root(str(below)) is None
    assert find_workspace(home).root == home
    assert project_root(str(home)) == str(home)


def test_a_broken_personal_workspace_is_ignored(project: Project, home: Path) -> None:
    (home / ".orbit/config.yaml").write_text("format: another\n", "utf-8")
    project_id = learn(project.root, "Round to cents")
    assert project_id in shown(project)


def test_a_home_that_cannot_be_read_has_no_personal_records(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/" + "a" * 300)  # no system can look into it

    assert personal_workspace(Registry.open(project.root).workspace) is None
