"""The site is a function of its files: whoever builds it, beside whom,
after whatever ended an earlier build.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.acceptance.conftest import RunKilled
from tests.acceptance.site_cases import copied, with_every_kind
from tests.acceptance.test_site_build import build, digest
from tests.conftest import Git

from orbit_registry.errors import RefusedError, WriteError
from orbit_registry.site.output import JOURNAL, MANIFEST, TEMPORARY

ORBIT = (sys.executable, "-m", "orbit_registry.doors.cli.main")
DATABASE = ("snapshot.duckdb", MANIFEST)
"""The file that says when it was made, and the one that holds its digest."""
RECORD = ".orbit/adrs/ADR-0003/adr.yaml"
ELSEWHERE = {
    "PYTHONHASHSEED": "7",
    "TZ": "Pacific/Kiritimati",
    "LC_ALL": "C",
    "LANG": "tr_TR.UTF-8",
    "COLUMNS": "20",
    "FORCE_COLOR": "1",
    "USER": "other",
    "SOURCE_DATE_EPOCH": "1",
    "ORBIT_ACTOR": "agent",
}


def retitle(root: Path, title: str) -> None:
    file = root / RECORD
    file.write_text(re.sub(r"(?m)^title: .*", f"title: {title}", file.read_text("utf-8")), "utf-8")


def clean(root: Path) -> dict[str, bytes]:
    """Return the files of a site that is built of copies of a repository's files and
    nothing else.
    """
    top = root.parent / "clean"
    shutil.copytree(root, top / "repo", ignore=shutil.ignore_patterns("state", "site"))
    build(top / "repo", top / "site")
    files = digest(top / "site")
    shutil.rmtree(top)
    return files


def test_two_machines_make_the_same_bytes(tmp_path: Path, git: Git) -> None:
    source = with_every_kind(copied("demo", tmp_path / "source"))
    git(source, "init", "--quiet")
    git(source, "add", "--all")
    git(source, "commit", "--quiet", "--message", "All")
    sites = []
    for folder, variables, mask, stand in (
        ("a", {"PYTHONHASHSEED": "1"}, 0o022, "."),
        ("ü b/c", ELSEWHERE, 0o077, "docs"),
    ):
        root = tmp_path / folder / "clone"
        git(tmp_path, "clone", "--quiet", str(source), str(root))
        for number, file in enumerate(
            sorted(root.glob("docs/**/*.md"), reverse=variables is ELSEWHERE)
        ):
            text = file.read_bytes()
            file.unlink()  # the folder lists its files in another order then
            file.write_bytes(text)
            os.utime(file, (10**9 + number, 10**9 + number))
        out = tmp_path / folder / "site"
        words = [*ORBIT, "site", "build", "--out", str(out)]
        subprocess.run(
            words,
            cwd=root / stand,
            env={**os.environ, **variables},
            umask=mask,
            check=True,
            timeout=300,
        )
        sites.append({path: data for path, data in digest(out).items() if path not in DATABASE})
    assert sites[0] == sites[1]


def test_two_clones_build_into_one_folder_in_turn(tmp_path: Path) -> None:
    clones, out = (
        [copied("demo", tmp_path / name / "repo") for name in ("one", "two")],
        tmp_path / "site",
    )
    retitle(clones[1], "Only there")
    sites = []
    for root in (*clones, clones[0]):
        build(root, out)
        sites.append(digest(out))
    assert sites[0] == sites[2] != sites[1]


def test_builds_at_once_leave_the_site_of_the_last_files(tmp_path: Path) -> None:
    root, out = copied("demo", tmp_path / "repo"), tmp_path / "site"
    words = [*ORBIT, "site", "build", "--out", str(out)]
    running = []
    for number in range(2):
        retitle(root, f"Title {number}")
        (root / f"docs/design/core/{number}_new.md").write_text(f"# New {number}\n", "utf-8")
        (root / f"docs/design/core/{number - 2}_new.md").unlink(missing_ok=True)
        running.append(
            subprocess.Popen(
                words, cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            )
        )
    for process in running:
        assert process.communicate(timeout=300)[1] == "" or process.returncode == 0
        assert process.returncode == 0
    assert "Title 1" in (out / "adrs/ADR-0003/index.html").read_text("utf-8"), (
        "the last one read before it waited"
    )
    build(root, out)
    assert digest(out) == clean(root)


def test_a_build_after_a_killed_one_is_complete(tmp_path: Path, run_killed: RunKilled) -> None:
    root, out = copied("demo", tmp_path / "repo"), tmp_path / "site"
    document = root / "docs/design/core/9_more.md"

    def work() -> int:
        build(root, out)
        return 0

    build(root, out)
    retitle(root, "Before")
    document.write_text("# More\n\nSee ADR-0003 and [gone](gone.md).\n", "utf-8")
    assert run_killed(work, 70, root, below=out), "in the middle of writing pages"
    document.unlink()
    build(root, out)
    assert digest(out) == clean(root)
    assert [
        file for file in out.rglob("*") if file.name.startswith(TEMPORARY) or file.name == JOURNAL
    ] == []


@pytest.mark.parametrize("out", ["docs/site", ".orbit/adrs/site"])
def test_a_folder_that_the_site_is_made_from_is_refused(tmp_path: Path, out: str) -> None:
    """Among the own pages or the records the next build would publish the site itself;
    nothing is written there.
    """
    root = copied("demo", tmp_path / "repo")
    (root / "mkdocs.yml").write_text("site_name: x\ntheme: material\n", "utf-8")
    with pytest.raises(RefusedError, match="which the site is made from"):
        build(root, root / out)
    assert not (root / out).exists()


def test_the_built_site_is_no_document_of_itself(tmp_path: Path) -> None:
    root = copied("demo", tmp_path / "repo")
    config = root / ".orbit/config.yaml"
    config.write_text(
        config.read_text("utf-8").replace("\nsite:\n", "\nsite:\n  mirror: ['*.md']\n"), "utf-8"
    )
    (root / "NEWS.md").write_text("# News\n", "utf-8")
    build(root, root / "site")
    retitle(root, "Other words")
    os.utime(root / RECORD, (10**9, 10**9))
    assert build(root, root / "site").stamps is not None, "a watcher would build again and again"
    assert digest(root / "site") == clean(root)


def test_a_disk_that_fills_up_is_one_clear_error(tmp_path: Path, small_disk: Path) -> None:
    root, out = copied("demo", tmp_path / "repo"), small_disk / "site"
    (small_disk / "filler").write_bytes(b"x" * 1024 * 1024)
    with pytest.raises(WriteError, match="no space left"):
        build(root, out)
    subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
    build(root, out)
    assert digest(out) == clean(root)


def test_a_read_only_folder_is_one_clear_error(tmp_path: Path, small_disk: Path) -> None:
    root, out = copied("demo", tmp_path / "repo"), small_disk / "site"
    subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
    build(root, out)
    before = digest(out)
    retitle(root, "Not written")
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    try:
        with pytest.raises(WriteError, match="read-only"):
            build(root, out)
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    assert digest(out) == before
