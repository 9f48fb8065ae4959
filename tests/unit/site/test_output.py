"""A folder of output: only changes are written, and only what we wrote is ever removed."""

import json
import subprocess
from pathlib import Path

import pytest

from orbit_registry.errors import RefusedError, UnsafePathError, WriteError
from orbit_registry.site.output import JOURNAL, MANIFEST, TEMPORARY, open_output, refuse_links


def build(folder: Path, files: dict[str, str]) -> tuple[int, int, int]:
    """Write files as one build would; return how many were written, unchanged and removed."""
    out = open_output(folder)
    out.begin()
    for path, text in files.items():
        out.write(path, text)
    removed = out.finish()
    return out.written, out.unchanged, removed


def test_what_is_stale_goes_and_what_is_not_ours_stays(tmp_path: Path) -> None:
    build(tmp_path / "o", {"a/x.html": "1", "b/y.html": "1"})
    (tmp_path / "o/b/CNAME").write_text("mine", "utf-8")
    assert build(tmp_path / "o", {}) == (0, 0, 2)
    assert not (tmp_path / "o/a").exists()
    assert sorted(path.name for path in (tmp_path / "o").rglob("*")) == [MANIFEST, "CNAME", "b"]


def test_a_folder_of_someone_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "keep.txt").write_text("mine", "utf-8")
    with pytest.raises(RefusedError, match="no site build wrote"):
        open_output(tmp_path)


@pytest.mark.parametrize(
    "manifest",
    [
        "",
        "[]",
        '{"files": 3}',
        '{"files": {"../x": "1"}}',
        '{"files": {"": "1"}}',
        '{"files": {"/etc/passwd": "1"}}',
    ],
)
def test_a_damaged_manifest_is_refused(tmp_path: Path, manifest: str) -> None:
    (tmp_path / MANIFEST).write_text(manifest, "utf-8")
    with pytest.raises(RefusedError):
        open_output(tmp_path)


def test_a_build_cut_short_can_be_repeated(tmp_path: Path) -> None:
    out = open_output(tmp_path / "o")
    out.begin()
    out.write("a.html", "1")
    assert build(tmp_path / "o", {"a.html": "2"}) == (1, 0, 0)


def test_a_cut_builds_missing_files_are_removed(tmp_path: Path) -> None:
    assert build(tmp_path / "o", {"a.html": "1", "b.html": "1", "c/d.html": "1"}) == (3, 0, 0)
    out = open_output(tmp_path / "o")
    out.begin()
    out.write("a.html", "2")
    again = open_output(tmp_path / "o")
    assert not again.keep("a.html")
    assert build(tmp_path / "o", {"a.html": "1", "b.html": "1"}) == (2, 0, 1)
    assert (tmp_path / "o/a.html").read_text("utf-8") == "1"
    assert not (tmp_path / "o/c").exists()


def test_a_cut_builds_new_files_are_removed(tmp_path: Path) -> None:
    build(tmp_path / "o", {"kept.html": "1"})
    out = open_output(tmp_path / "o")
    out.begin()
    out.write("new/page.html", "1")
    out.write("more.html", "1")
    with (tmp_path / "o" / JOURNAL).open("a") as journal:
        journal.write('"CNA')
    (tmp_path / "o/CNAME").write_text("mine", "utf-8")

    assert build(tmp_path / "o", {"kept.html": "1", "more.html": "1"})[2] == 1
    assert sorted(path.name for path in (tmp_path / "o").rglob("*")) == [
        MANIFEST,
        "CNAME",
        "kept.html",
        "more.html",
    ]


def test_what_a_build_cut_short_left_half_written_goes(tmp_path: Path) -> None:
    (tmp_path / "o").mkdir()
    (tmp_path / f"o/{TEMPORARY}77").write_text("{", "utf-8")
    build(tmp_path / "o", {"a/x.html": "1"})
    assert sorted(path.name for path in (tmp_path / "o").iterdir()) == [MANIFEST, "a"]


@pytest.mark.parametrize("path", ["../x", "/x", "a/../../x"])
def test_no_path_leads_out(tmp_path: Path, path: str) -> None:
    with pytest.raises(UnsafePathError):
        open_output(tmp_path / "o").write(path, "x")


def test_a_disk_that_refuses_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "o").mkdir()
    out = open_output(tmp_path / "o")
    out.write("a", "1")
    with pytest.raises(WriteError, match="can't write"):
        out.write("a/b.html", "1")


def planted(folder: Path, files: list[str]) -> Path:
    """Make an output folder whose manifest names files, with a link out of it;
    return the folder it leads to.
    """
    elsewhere = folder.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine.txt").write_text("mine", "utf-8")
    folder.mkdir()
    (folder / "a.html").write_text("1", "utf-8")
    (folder / "link").symlink_to(elsewhere)
    (folder / "file.html").symlink_to(elsewhere / "mine.txt")
    (folder / MANIFEST).write_text(json.dumps({"files": dict.fromkeys(files, "1")}), "utf-8")
    return elsewhere


@pytest.mark.parametrize("path", ["link/mine.txt", "file.html", "link/new/page.html"])
def test_a_link_is_never_followed(tmp_path: Path, path: str) -> None:
    elsewhere = planted(tmp_path / "o", ["a.html", path])
    with pytest.raises(RefusedError, match="symbolic link"):
        open_output(tmp_path / "o").finish()
    with pytest.raises(RefusedError, match="symbolic link"):
        open_output(tmp_path / "o").write(path, "x")
    with pytest.raises(RefusedError, match="symbolic link") as refused:
        open_output(tmp_path / "o").keep(path)
    assert refused.value.hint
    assert (tmp_path / "o/a.html").is_file()
    assert [(file.name, file.read_text("utf-8")) for file in elsewhere.iterdir()] == [
        ("mine.txt", "mine")
    ]


def test_a_manifest_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text('{"files": {}}', "utf-8")
    (tmp_path / "o").mkdir()
    (tmp_path / "o" / MANIFEST).symlink_to(tmp_path / "other.json")
    with pytest.raises(RefusedError, match="symbolic link"):
        open_output(tmp_path / "o")


def test_a_manifest_that_git_tracks_removes_nothing(tmp_path: Path) -> None:
    build(tmp_path / "o", {"a.html": "1"})
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    subprocess.run(["git", "-C", str(tmp_path), "add", "-f", f"o/{MANIFEST}"], check=True)
    assert build(tmp_path / "o", {"b.html": "1"}) == (1, 0, 0)
    assert (tmp_path / "o/a.html").is_file()


@pytest.mark.parametrize("path", ["link/site", "link", "a/b"])
def test_a_way_through_a_link_is_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "a/b/c").mkdir(parents=True)
    (tmp_path / "a/b/c/d").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RefusedError, match="symbolic link"):
        refuse_links(tmp_path, tmp_path / path, below=True)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Use \x1b[31ma queue\x07\x00\x7f", "Use [31ma queue"),
        ("Use \x9b31ma queue", "Use 31ma queue"),
        ("Use \u202ea\u2067 queue", "Use a queue"),
        ("Use\U000e0061\U000e0062 a queue", "Use a queue"),
        ("a\tb\r\nc\x85d\n", "a\tb\r\nc\x85d\n"),
        ("Ünïcode — “quoted” 👩‍💻 日本語", "Ünïcode — “quoted” 👩‍💻 日本語"),
    ],
    ids=["controls", "eight bits", "direction", "tags", "layout", "scripts"],
)
def test_no_text_has_characters_that_only_programs_see(
    tmp_path: Path, text: str, written: str
) -> None:
    build(tmp_path / "o", {"llms.txt": text})
    assert (tmp_path / "o/llms.txt").read_bytes().decode() == written


def test_bytes_are_written_unchanged(tmp_path: Path) -> None:
    out = open_output(tmp_path / "o")
    out.begin()
    out.write("a.png", b"\x00\x1b")
    out.finish()
    assert (tmp_path / "o/a.png").read_bytes() == b"\x00\x1b"
