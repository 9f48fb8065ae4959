"""When the snapshot is built and which file is taken;
files that are broken, foreign or in use; exports.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.files import write

from orbit_registry.errors import LockTimeoutError, RefusedError, SnapshotError, WriteError
from orbit_registry.registry import Registry
from orbit_registry.snapshot.export import STORAGE, export_snapshot
from orbit_registry.snapshot.query import query
from orbit_registry.snapshot.rows import CONTENT
from orbit_registry.snapshot.sync import sync
from orbit_registry.workspace.lock import locked
from orbit_registry.workspace.workspace import CACHE, open_workspace

COUNT = "SELECT count(*) AS n FROM records"


def counted(project: Any) -> int:
    return int(json.loads(query(project.workspace, COUNT, "json"))[0]["n"])


def test_changes_are_counted_by_record(project: Any) -> None:
    for code in ("aaaaa", "bbbbb", "ccccc", "ddddd"):
        project.learning(code)
    project.write("docs/adr/0001-x.md", "# Title 1\n\nText.\n")
    project.adr(1, source={"path": "docs/adr/0001-x.md"})
    project.sync()
    project.learning("aaaaa", priority=3)
    project.votes("bbbbb", ("m", "T-1", "2026-01-01T00:00:00Z"))
    shutil.rmtree(project.root / ".orbit/learnings/L-ccccc")
    project.learning("eeeee")
    project.write("docs/adr/0001-x.md", "# Title 1\n\nOther text.\n")
    result = project.sync()
    assert (result.added, result.changed, result.removed, result.unchanged) == (1, 3, 1, 1)
    assert result.text().startswith("5 records (1 added, 3 changed, 1 removed)")
    again = project.sync()
    assert (again.added, again.changed, again.removed, again.unchanged) == (0, 0, 0, 5)


def test_a_sync_leaves_the_snapshot_to_the_next_question(project: Any) -> None:
    project.learning("aaaaa")
    path = project.build().path
    project.learning("bbbbb")
    assert sync(project.workspace).snapshot is None
    assert list(project.workspace.cache_folder.glob("*.duckdb")) == [path]
    assert counted(project) == 2


def test_a_commit_alone_builds_anew_with_the_same_digest(git_repo: Path, git: Any) -> None:
    Registry.init(git_repo)
    registry = Registry.open(git_repo)
    registry.add("learning", {"summary": "Look first", "scope": {"paths": ["src/**"]}})
    git(git_repo, "add", "-A")
    first = registry.sync()
    git(git_repo, "commit", "-q", "-m", "Add a learning")
    assert Registry.open(git_repo).sync().digest == first.digest
    head = git(git_repo, "rev-parse", "HEAD").strip()
    assert json.loads(registry.query("SELECT value FROM meta WHERE name = 'commit'", "json")) == [
        {"value": head}
    ]


def damage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096:-4096] = os.urandom(len(content) - 8192)
    path.write_bytes(content)


def plant(path: Path) -> None:
    """Put a database of somebody else's in the snapshot's place."""
    path.unlink()
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE records AS SELECT 'planted' AS id")


@pytest.mark.parametrize(
    "harm",
    [
        Path.unlink,
        damage,
        plant,
        lambda path: path.write_bytes(b""),
        lambda path: os.truncate(path, 5000),
    ],
    ids=["deleted", "damaged", "foreign", "empty", "cut"],
)
def test_a_harmed_snapshot_is_built_anew_on_the_next_read(project: Any, harm: Any) -> None:
    project.learning("aaaaa")
    first = project.build()
    harm(first.path)
    assert counted(project) == 1
    assert project.build().path != first.path


def damage_without_a_trace(project: Any, path: Path) -> None:
    """Damage a snapshot, and let what is known of it be what it is now."""
    damage(path)
    state = project.workspace.cache_folder / "snapshot.json"
    output = json.loads(state.read_text("utf-8"))
    result = path.stat()
    output["stamp"] = [result.st_mtime_ns, result.st_ctime_ns, result.st_size, result.st_ino]
    state.write_text(json.dumps(output), "utf-8")


def test_a_file_damaged_without_a_trace_is_built_anew(project: Any) -> None:
    project.learning("aaaaa")
    first = project.build()
    damage_without_a_trace(project, first.path)
    assert project.build().path == first.path
    assert counted(project) == 1
    assert project.build().path != first.path


def test_a_snapshot_that_came_with_the_repository_is_never_opened(
    project: Any, tmp_path: Path
) -> None:
    project.learning("aaaaa")
    project.sync()
    plant(project.root / ".orbit/state/cache/snapshot-000001.duckdb")
    project.write(".orbit/state/cache/snapshot-999999.duckdb", "not ours either")
    clone = type(project)(tmp_path / "clone")
    shutil.copytree(project.root, clone.root)
    result = clone.build()
    assert result.built
    assert result.path.name == "snapshot-1000000.duckdb"
    assert clone.ask("SELECT id FROM records") == [("L-aaaaa",)]


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "null", '{"file": 1}', '{"file": "../x"}', "[" * 9000]
)
def test_a_broken_state_file_is_as_good_as_none(project: Any, content: str) -> None:
    project.learning("aaaaa")
    project.sync()
    (project.workspace.cache_folder / "snapshot.json").write_text(content, "utf-8")
    assert project.build().built
    assert not project.build().built


def test_two_snapshots_are_kept_and_a_reader_keeps_its_own(project: Any) -> None:
    project.learning("aaaaa")
    with duckdb.connect(str(project.build().path), read_only=True) as reader:
        for number in range(4):
            project.learning("aaaaa", priority=number + 1)
            project.sync()
        names = sorted(
            file.name for file in project.workspace.cache_folder.glob("snapshot-*.duckdb*")
        )
        assert names == ["snapshot-000004.duckdb", "snapshot-000005.duckdb"]
        assert reader.execute("SELECT priority FROM records").fetchall() == [(0,)]
    project.sync(rebuild=True)
    names = sorted(file.name for file in project.workspace.cache_folder.glob("snapshot-*.duckdb*"))
    assert names == ["snapshot-000005.duckdb", "snapshot-000006.duckdb"]


def contents(project: Any) -> dict[str, object]:
    """Return what each table of the current snapshot holds, without the moment it was made."""
    path = project.build().path
    with duckdb.connect(str(path), read_only=True) as reader:
        listed = reader.execute("SELECT table_name FROM duckdb_tables()").fetchall()
        tables = [name for (name,) in listed if name != "events"]
        reading = {name: reader.execute(f"SELECT * FROM {name}").fetchall() for name in tables}
    reading["meta"] = [row for row in reading["meta"] if row[0] != "built_at"]
    return {**reading, "search": project.ask("SELECT id FROM search('title')")}


def changed_priority(project: Any) -> None:
    project.learning("aaaaa", priority=7)


def changed_text(project: Any) -> None:
    project.learning("aaaaa", summary="Another title of a record")


def new_record(project: Any) -> None:
    project.learning("ccccc", scope={"paths": ["src/**"]})


def lost_record(project: Any) -> None:
    shutil.rmtree(project.root / ".orbit/learnings/L-bbbbb")


def damaged_file(project: Any) -> None:
    changed_priority(project)
    path = project.build().path
    state = path.with_name("snapshot.json")
    path.write_bytes(b"damaged" * 1000)
    status = path.stat()
    stamp = [status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino]
    state.write_text(json.dumps({**json.loads(state.read_text("utf-8")), "stamp": stamp}), "utf-8")
    project.learning("aaaaa", priority=8)


@pytest.mark.parametrize(
    "edit", [changed_priority, changed_text, new_record, lost_record, damaged_file]
)
def test_a_snapshot_made_from_the_one_before_is_what_a_rebuild_gives(
    project: Any, edit: Callable[[Any], None]
) -> None:
    project.learning("aaaaa", scope={"tags": ["logs"]})
    project.learning("bbbbb", scope={"paths": ["lib/**"]})
    project.votes("bbbbb", ("m", "T-1", "2026-01-01T00:00:00Z"))
    project.build()
    edit(project)
    updated = contents(project)
    project.sync(rebuild=True)
    assert contents(project) == updated


def test_the_file_stands_alone(project: Any) -> None:
    project.learning("aaaaa")
    path = project.build().path
    remaining = [
        file.name
        for file in project.workspace.cache_folder.iterdir()
        if file.name.startswith((".tmp", "snapshot-"))
    ]
    assert remaining == [path.name]
    assert int.from_bytes(path.read_bytes()[12:20], "little") == 65, STORAGE


def test_a_sync_waits_for_the_one_that_builds(
    project: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.learning("aaaaa")
    monkeypatch.setenv("ORBIT_LOCK_WAIT_SECONDS", "0.1")
    with (
        locked(project.workspace.cache_folder / "snapshot.lock"),
        pytest.raises(LockTimeoutError, match=f"process {os.getpid()}"),
    ):
        project.sync()
    assert project.build().built


def test_four_processes_sync_at_once(project: Any) -> None:
    for number in range(50):
        project.learning(f"{number:05d}")
    program = (
        "from pathlib import Path\n"
        "from orbit_registry.snapshot.sync import sync\n"
        "from orbit_registry.workspace.workspace import open_workspace\n"
        f"result = sync(open_workspace(Path({str(project.root)!r})), snapshot=True)\n"
        "print(result.snapshot.built, result.digest, result.snapshot.path)"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    output = [process.communicate()[0].split() for process in running]
    assert [process.returncode for process in running] == [0] * 4
    assert sorted(built for built, _, _ in output) == ["False"] * 3 + ["True"]
    assert len({tuple(others) for _, *others in output}) == 1


def test_a_state_folder_that_leads_elsewhere_is_refused(project: Any, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    project.learning("aaaaa")
    (project.root / ".orbit/state").symlink_to(elsewhere)
    with pytest.raises(Exception, match="symbolic link"):
        project.sync()
    assert list(elsewhere.iterdir()) == []


def test_a_disk_that_refuses_is_one_clear_error(project: Any) -> None:
    file = project.learning("aaaaa")
    before = file.read_bytes()
    project.write(".orbit/state", "a file in the way")
    with pytest.raises(WriteError, match=r"\.orbit/state"):
        project.sync()
    assert file.read_bytes() == before


SMALL_DISK = (
    "import resource, sys\n"
    "from orbit_registry.doors.cli.main import run\n"
    "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))\n"
    "sys.exit(run(sys.argv[1:]))"
)


@pytest.mark.parametrize(
    "words", [("sync", "--rebuild"), ("snapshot", "export", "copy.duckdb")], ids=" ".join
)
def test_a_partly_written_snapshot_is_removed(project: Any, words: tuple[str, ...]) -> None:
    project.learning("aaaaa")
    if words[0] != "sync":
        project.sync()
    done = subprocess.run(
        [sys.executable, "-c", SMALL_DISK, *words],
        cwd=project.root,
        capture_output=True,
        text=True,
        check=False,
    )
    output = (
        "File too large",
        "was not checkpointed",
    )  # DuckDB 1.5 keeps the system's reason to itself
    assert (done.returncode, done.stderr.splitlines()[0].endswith(output)) == (1, True), done.stderr
    assert [
        path
        for path in project.root.rglob("*.duckdb*")
        if "tmp-" in path.name or "copy" in path.name
    ] == []


@pytest.mark.parametrize("name", ["back\\slash", "no \udcff Unicode"], ids=ascii)
def test_a_folder_whose_files_the_database_cannot_open_is_named(project: Any, name: str) -> None:
    project.learning("aaaaa")
    root = project.root.rename(project.root.with_name(name))
    with pytest.raises(SnapshotError, match="DuckDB opens no file"):
        sync(open_workspace(root), snapshot=True)
    assert [file.name for file in (root / CACHE).iterdir() if "snapshot-" in file.name] == []


@pytest.fixture
def filled(project: Any) -> Any:
    """Return a workspace with a learning, a candidate in the inbox and a broken file."""
    project.learning("aaaaa", scope={"paths": ["src/**"], "tags": ["x"]})
    project.learning(
        "bbbbb",
        inbox=True,
        scope={"paths": ["lib/**"]},
        links=[{"rel": "related_to", "to": "L-aaaaa"}],
    )
    project.write(".orbit/learnings/L-ccccc/learning.yaml", "id: [")
    project.votes("aaaaa", ("m", "T-1", "2026-01-01T00:00:00Z"))
    return project


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compress nothing, so that bytes can be looked for."""
    monkeypatch.setattr("orbit_registry.snapshot.export.COMPRESSION", "uncompressed")


def test_an_export_holds_what_git_carries(filled: Any, tmp_path: Path) -> None:
    out = tmp_path / "new" / "folder's" / "out.duckdb"
    assert export_snapshot(filled.workspace, out) == [out]
    with duckdb.connect(str(out), read_only=True) as connection:
        ask = lambda sql: connection.execute(sql).fetchall()  # noqa: E731
        assert ask("SELECT id FROM records") == [("L-aaaaa",)]
        assert ask("SELECT id FROM scope_match('src/a.py')") == [("L-aaaaa",)]
        assert (
            ask("SELECT id FROM scope_match('lib/a.py')")
            == ask("FROM links")
            == ask("FROM diagnostics")
            == []
        )
        assert ask("SELECT path, mtime FROM sources WHERE role = 'record'") == [
            (".orbit/learnings/L-aaaaa/learning.yaml", None)
        ]
        assert ask("SELECT votes FROM vote_ranking") == [(1,)]
        assert ask("SELECT value FROM meta WHERE name = 'digest'") == [(filled.sync().digest,)]
    content = out.read_bytes()
    assert str(filled.root).encode() not in content
    assert b"L-bbbbb" not in content
    assert sorted(file.name for file in out.parent.iterdir()) == ["out.duckdb"]


def test_parquet_has_a_file_a_table(filled: Any, tmp_path: Path) -> None:
    text = export_snapshot(filled.workspace, tmp_path / "out.duckdb", tmp_path / "tables")
    assert {file.name for file in text[1:]} == {f"{table}.parquet" for table in (*CONTENT, "meta")}
    assert sorted((tmp_path / "tables").iterdir()) == sorted(text[1:])
    with duckdb.connect() as connection:
        rows = connection.execute(
            f"SELECT id, title FROM '{tmp_path}/tables/records.parquet'"
        ).fetchall()
    assert rows == [("L-aaaaa", "Summary aaaaa")]


@pytest.mark.parametrize("name", ["meta.parquet", "records.parquet"])
def test_an_export_that_can_not_write_one_file_changes_none(
    filled: Any, tmp_path: Path, name: str
) -> None:
    out, tables = tmp_path / "out.duckdb", tmp_path / "tables"
    export_snapshot(filled.workspace, out, tables)
    (tables / name).unlink()
    (tables / name).mkdir()
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    with pytest.raises(WriteError, match=rf"{name}: is a folder; nothing was changed"):
        export_snapshot(filled.workspace, out, tables)

    assert {path: path.read_bytes() for path in before} == before
    assert set(tables.iterdir()) == set(tables.glob("*.parquet"))
    assert set(tmp_path.glob(".tmp*")) == set()


def test_a_file_of_an_export_keeps_its_mode_and_leaves_what_a_link_leads_to(
    filled: Any, tmp_path: Path
) -> None:
    out, tables = tmp_path / "out.duckdb", tmp_path / "tables"
    export_snapshot(filled.workspace, out, tables)
    (tables / "meta.parquet").chmod(0o600)
    (tables / "links.parquet").unlink()
    (tables / "links.parquet").symlink_to(write(tmp_path, "notes.md", "mine\n"))

    export_snapshot(filled.workspace, out, tables)

    assert (tables / "meta.parquet").stat().st_mode & 0o777 == 0o600
    assert not (tables / "links.parquet").is_symlink()
    assert (tmp_path / "notes.md").read_text("utf-8") == "mine\n"


def test_an_export_replaces_an_older_one(filled: Any, tmp_path: Path) -> None:
    out = tmp_path / "out.duckdb"
    out.touch()
    for _ in ("an empty file", "an export"):
        export_snapshot(filled.workspace, out)
    with duckdb.connect(str(out), read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM records").fetchall() == [(1,)]


def test_an_export_replaces_no_other_file(filled: Any, tmp_path: Path) -> None:
    for content in (b"hi\n", b"12345678", b"# A longer text\n"):
        (tmp_path / "notes.md").write_bytes(content)
        with pytest.raises(RefusedError, match=r"notes\.md exists and is not a DuckDB file"):
            export_snapshot(filled.workspace, tmp_path / "notes.md")
        assert (tmp_path / "notes.md").read_bytes() == content


def test_an_export_into_a_closed_folder_names_the_permissions(
    filled: Any, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    (tmp_path / "closed").mkdir(mode=0o555)
    request.getfixturevalue("unprivileged")
    with pytest.raises(WriteError, match="permission denied") as raised:
        export_snapshot(filled.workspace, tmp_path / "closed" / "out.duckdb")
    assert raised.value.hint == "check the owner and the permissions of the folder"


def test_an_export_that_cannot_be_written_leaves_nothing(filled: Any, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x", "utf-8")
    for out in (tmp_path / "folder", tmp_path / "file" / "out.duckdb"):
        with pytest.raises(WriteError, match=out.name):
            export_snapshot(filled.workspace, out)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file", "folder", "project"]
