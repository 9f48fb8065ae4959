"""`orbit init`: what it finds, what it writes,
and that it keeps everything that is somebody else's.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.files import write

from orbit_registry.errors import (
    ConfigError,
    ForeignWorkspaceError,
    UnreadableFileError,
)
from orbit_registry.model.kind import load_kinds
from orbit_registry.operations.init import (
    DRIVER,
    GITATTRIBUTES,
    GITIGNORE,
    ProjectFiles,
    SetupReport,
    attributes,
    project_files,
    schema_texts,
    setup_workspace,
)
from orbit_registry.registry import Registry
from orbit_registry.workspace.config import AdrConfig
from orbit_registry.workspace.workspace import open_workspace

Git = Callable[..., str]
LINES = {".gitignore": GITIGNORE, ".gitattributes": GITATTRIBUTES}


def setup(folder: Path, **options: Any) -> SetupReport:
    return setup_workspace(folder, load_kinds(), **options)


def tree(root: Path) -> dict[str, bytes]:
    files = [path for path in root.rglob("*") if path.is_file() and ".git" not in path.parts]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize(
    "text", ["", "*.pyc\n", "*.pyc", "*.pyc\r\n# mine\r\n", "a\n\n\n", "\udcff\n", "a\r"]
)
def test_what_stands_in_gits_files_stays(git_repo: Path, name: str, text: str) -> None:
    before = text.encode("utf-8", "surrogateescape")
    (git_repo / name).write_bytes(before)

    report = setup(git_repo)

    after = (git_repo / name).read_bytes()
    assert after.startswith(before)
    assert name in report.changed
    newline = b"\r\n" if b"\r\n" in before else b"\n"
    added = after[len(before) :].removeprefix(newline)
    assert added == b"".join(line.encode() + newline for line in LINES[name])


def test_only_names_of_tracked_files_are_looked_at(git_repo: Path, git: Git) -> None:
    write(git_repo, "docs/adr/0001-x.md", "# X\n")
    untracked = project_files(git_repo)
    for name in (
        "lib/adr/0001-x.md",
        "lib/adr/0002-y.md",
        ".github/workflows/ci.yml",
        "mkdocs.yml",
        "choices/0001-z.md",
        "posts/2024-01-02-z.md",
    ):
        write(git_repo, name, "# X\n")
    git(git_repo, "add", "-A")
    (git_repo / "lib/adr/0002-y.md").unlink()

    files = project_files(git_repo)

    assert untracked == ProjectFiles({})
    assert (dict(files.folders), files.tools, files.elsewhere) == (
        {"lib/adr": 2, "docs/adr": 1},
        (".github/workflows/ci.yml", "mkdocs.yml"),
        1,
    )
    assert setup(git_repo, adr_folder="docs/adr/").detected == AdrConfig(
        "file", "docs/adr", ("lib/adr",)
    )
    assert open_workspace(git_repo).config.adr.folder == "docs/adr"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ([], AdrConfig("file", "docs/adr")),
        (["docs/adr/0001-x.md"], AdrConfig("file", "docs/adr")),
        (["doc/adr/0001-x.md"], AdrConfig("file", "doc/adr")),
        (["docs/decisions/0001-x.md"], AdrConfig("file", "docs/decisions")),
        ([".decisions/ADR-001-x.md"], AdrConfig("file", ".decisions")),
        (
            ["docs/architecture/decisions/0001-x.md"],
            AdrConfig("file", "docs/architecture/decisions"),
        ),
        (["adr/20240101-x.md"], AdrConfig("file", "adr")),
        (
            ["team/architecture-decision-records/OPS-ADR-0001-x.md"],
            AdrConfig("file", "team/architecture-decision-records"),
        ),
        (
            ["docs/entscheidungen/0001-x.md", "src/test/decisions/0001-x.md"],
            AdrConfig("file", "docs/entscheidungen"),
        ),
        (
            ["docs/decisions/2024-03/0001-x.md", "docs/decisions/2024/04/0002-y.md"],
            AdrConfig("file", "docs/decisions"),
        ),
        (["src/tests/resources/decisions/0001-x.md"], AdrConfig("file", "docs/adr")),
        (
            ["doc/adr/rejected/0001-x.md", "doc/archive/decisions/0002-y.md"],
            AdrConfig("file", "doc/adr"),
        ),
        (["lib/adr/archive/0001-x.md", "lib/archive/adr/0002-y.md"], AdrConfig("file", "lib/adr")),
        (
            ["versioned_docs/version-1/adr/0001-x.md", "wiki/adr/0001-x.md"],
            AdrConfig("file", "wiki/adr"),
        ),
        (["docs/adr/README.md", "docs/adr/template.md"], AdrConfig("file", "docs/adr")),
        (["docs/design/search/4_decisions.md"], AdrConfig("log", "docs/adr")),
        (
            ["docs/design/search/4_decisions.md", "docs/adr/0001-x.md"],
            AdrConfig("file", "docs/adr"),
        ),
        (
            ["doc/adr/0001-x.md", "adr/0001-x.md", "adr/0002-y.md"],
            AdrConfig("file", "adr", ("doc/adr",)),
        ),
        (
            ["docs/adr/0001-a.md", "core/integration-tests/docs/adr/0001-a.md"],
            AdrConfig("file", "docs/adr"),
        ),
    ],
)
def test_the_style_of_a_repository_is_found(
    git_repo: Path, git: Git, files: list[str], expected: AdrConfig
) -> None:
    for name in files:
        write(git_repo, name, "# X\n")
    git(git_repo, "add", "-A")

    assert project_files(git_repo).adr == expected


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("docs/decisions.md", 1),
        ("DECISIONS.md", 1),
        ("doc/adr-log.markdown", 1),
        ("docs/design/search/4_decisions.md", 0),
        ("vendor/lib/DECISIONS.md", 0),
        ("docs/adr/decisions.md", 0),
        ("docs/decided.md", 0),
        ("src/decisions.py", 0),
    ],
)
def test_a_log_of_another_name_is_left_to_an_import(
    git_repo: Path, git: Git, name: str, number: int
) -> None:
    write(git_repo, "docs/adr/0001-x.md", "# X\n")
    write(git_repo, name, "# X\n")
    git(git_repo, "add", "-A")

    assert project_files(git_repo).elsewhere == number


@pytest.mark.parametrize(
    ("log", "other"),
    [
        ("docs/decisions.md", "docs/other.md"),
        ("DECISIONS.md", "docs/DECISIONS.md"),
        ("docs/my decisions.md", "docs/my/decisions.md"),
        ("docs/[log] *.md", "docs/log.md"),
        ('docs/the "log".md', "docs/the log.md"),
        ("docs/решения.md", "docs/decisions.md"),
        ("!log.md", "log.md"),
    ],
)
def test_git_merges_the_one_log_by_entry_whatever_its_name(
    git_repo: Path, git: Git, log: str, other: str
) -> None:
    lines = attributes(ProjectFiles({}), AdrConfig("file", "docs/adr", log=log))
    write(git_repo, ".gitattributes", "".join(f"{line}\n" for line in lines))

    answers = git(git_repo, "check-attr", "-z", "merge", "--", log, other).split("\0")

    assert (answers[2], answers[5]) == (DRIVER, "unspecified")


@pytest.mark.parametrize(
    ("text", "folder"),
    [
        ("architecture/log", "architecture/log"),
        ("./architecture/log/\n", "architecture/log"),
        ("../outside", "docs/adr"),
        ("a/../../outside", "docs/adr"),
        ("/srv/outside", "docs/adr"),
        ("", "docs/adr"),
        ("a\nb", "docs/adr"),
        ("\x00", "docs/adr"),
        ("x" * 5000, "docs/adr"),
        ("\udcff", "docs/adr"),
    ],
)
def test_a_folder_that_adr_tools_was_told_is_heeded(
    tmp_path: Path, git: Git, text: str, folder: str
) -> None:
    root = tmp_path / "project"
    for name in ("architecture/log", "../outside"):
        (root / name).mkdir(parents=True, exist_ok=True)
        (root / name / "0001-x.md").write_text("# X\n", "utf-8")
    (root / ".adr-dir").write_bytes(text.encode("utf-8", "surrogateescape"))
    git(root, "init", "-q")
    git(root, "add", "-A")

    assert setup(root).detected == AdrConfig("file", folder)
    assert open_workspace(root).config.adr.folder == folder


def test_a_home_outside_git_gets_personal_records_and_no_decisions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    write(tmp_path, "project/adr/0001-x.md", "# X\n")

    assert Registry.init(tmp_path).detected == AdrConfig("file", "docs/adr")


def test_a_configuration_names_no_more_folders_than_it_may(git_repo: Path, git: Git) -> None:
    """Of more folders those with the most decisions are taken,
    so that the configuration can be read.
    """
    for number in range(503):
        folder = git_repo / f"part{number:03}/adr"
        folder.mkdir(parents=True)
        for copy in range(2 if number >= 100 else 1):
            (folder / f"{copy + 1:04}-x.md").write_text("# X\n", "utf-8")
    git(git_repo, "add", "-A")

    result = setup(git_repo).detected

    assert result is not None
    assert (result.folder, len(result.folders)) == ("part100/adr", 500)
    assert {"part502/adr", "part000/adr"} <= {*result.folders}
    assert open_workspace(git_repo).config.adr == result


@pytest.mark.parametrize("late", [False, True])
def test_a_failure_leaves_nothing(git_repo: Path, late: bool) -> None:
    (git_repo / ".gitignore").write_text("x", "utf-8")
    if late:
        (git_repo / ".orbit").mkdir()
        (git_repo / ".orbit/state").symlink_to(git_repo)
    else:
        (git_repo / ".gitattributes").mkdir()
    before = sorted(git_repo.rglob("*"))
    contents, configured = tree(git_repo), (git_repo / ".git/config").read_bytes()

    with pytest.raises(ForeignWorkspaceError if late else UnreadableFileError):
        Registry.init(git_repo)

    assert sorted(git_repo.rglob("*")) == before
    assert tree(git_repo) == contents
    assert (git_repo / ".git/config").read_bytes() == configured


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_folder_with_a_line_break_is_refused(tmp_path: Path, git: Git, dry_run: bool) -> None:
    folder = tmp_path / "two\nlines"
    folder.mkdir()
    git(folder, "init", "-q")

    with pytest.raises(ConfigError, match="has a line break"):
        setup(folder, dry_run=dry_run)

    assert tree(folder) == {}


def test_a_later_repository_ignores_local_state(tmp_path: Path, git: Git) -> None:
    setup(tmp_path)
    ignore = tmp_path / ".orbit/.gitignore"
    ignore.write_text(f"{ignore.read_text()}/mine/\n")
    assert setup(tmp_path).changed == []
    for name in ("state/cache/x", "adrs/ADR-0001/.tmp-1", "mine/y", "adrs/ADR-0001/adr.yaml"):
        file = tmp_path / ".orbit" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    current = git(tmp_path, "ls-files", ".orbit").split()
    assert ".orbit/adrs/ADR-0001/adr.yaml" in current
    assert [name for name in current if "state" in name or ".tmp-" in name or "mine" in name] == []


def test_the_published_schemas_are_the_packages() -> None:
    published = Path(__file__).parents[3] / "docs" / "schemas"

    for name, text in schema_texts(load_kinds()).items():
        assert (published / name).read_text("utf-8") == text
