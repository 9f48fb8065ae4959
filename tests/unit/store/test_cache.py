"""What the cache of files remembers, and what it never believes."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from pathlib import Path

import pytest

from orbit_registry.store.cache import MISSING, FileCache
from orbit_registry.store.sealed import replace_unsynced

LATER = 10_000_000_000
PARTS = ("manifest", "values", "seal")


def cache(root: Path, *, later: int = LATER, fingerprint: str = "") -> FileCache:
    """Open the cache of a folder, as a run would that begins some nanoseconds from now."""
    return FileCache(root, "cache", "test", fingerprint, began_ns=time.time_ns() + later)


def remembered(root: Path, name: str = "a.txt", value: object = "kept") -> None:
    """Let one run look at a file and keep a value for it."""
    first = cache(root)
    first.keep(first.state(name), value)
    first.save()


def wait_for_the_next_tick(folder: Path) -> None:
    """Return when a file written now gets a stamp that no file there shares any more."""
    probe = folder / "probe"
    end = time.time_ns() + 120_000_000
    while not probe.exists() or probe.stat().st_ctime_ns < end:
        probe.write_text("x", "utf-8")
    probe.unlink()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a folder with one file."""
    (tmp_path / "a.txt").write_text("one", "utf-8")
    return tmp_path


def test_a_file_that_did_not_change_is_not_read_again(root: Path) -> None:
    """The second run knows hash and value, and has no bytes because it did not open the file."""
    remembered(root, value={"n": [1, 2.5, None, "é"]})
    second = cache(root)
    state = second.state("a.txt")
    assert state.content is None
    assert state.sha256 == hashlib.sha256(b"one").hexdigest()
    assert second.value(state) == {"n": [1, 2.5, None, "é"]}


def test_a_note_outlives_runs_that_do_not_ask_for_it(root: Path) -> None:
    """A note is had without its value, after a run that kept another file's too; a changed file has none."""
    first = cache(root)
    first.keep(first.state("a.txt"), "kept", ["of", "a"])
    first.save()
    (root / "b.txt").write_text("two", "utf-8")
    second = cache(root)
    second.state("a.txt")
    second.keep(second.state("b.txt"), "kept", "of b")
    second.save()
    third = cache(root)
    assert [third.state(name).path for name in ("b.txt", "a.txt")] == [*third.notes]
    assert third.notes == {"b.txt": "of b", "a.txt": ["of", "a"]}
    (root / "a.txt").write_text("three", "utf-8")
    fourth = cache(root)
    assert [fourth.state(name).path for name in ("b.txt", "a.txt")] == [*fourth.notes]
    assert fourth.notes == {"b.txt": "of b", "a.txt": None}


def test_many_at_once_are_told_as_one_by_one(root: Path) -> None:
    """Of files and folders only those are known unasked that `state` and `names` would say the same of, unread."""
    (root / "b.txt").write_text("two", "utf-8")
    (root / "kept").mkdir()
    (root / "moved").mkdir()
    first = cache(root)
    said = {name: first.state(name) for name in ("a.txt", "b.txt")}
    listed = {name: first.names(name) for name in ("kept", "moved")}
    first.save()
    wait_for_the_next_tick(root)
    (root / "b.txt").unlink()
    (root / "moved/new.txt").touch()
    second = cache(root)

    assert second.unchanged(["a.txt", "b.txt", "never.txt"]) == {"a.txt": said["a.txt"]._replace(content=None)}
    assert second.unchanged_folders(["kept", "moved", "never"]) == {"kept": listed["kept"]}
    assert list(second.listed) == ["kept"]


def test_a_changed_file_has_no_value(root: Path) -> None:
    """A file with other content is read, and what was kept for it is gone."""
    remembered(root)
    (root / "a.txt").write_text("two", "utf-8")
    second = cache(root)
    state = second.state("a.txt")
    assert state.content == b"two"
    assert second.value(state) is MISSING


def test_what_was_read_before_a_file_went_back_has_no_value(root: Path) -> None:
    """The value is that of the content the file has again, not of the one that was seen between."""
    remembered(root)
    later = cache(root)
    (root / "a.txt").write_text("between", "utf-8")
    between = later.state("a.txt")
    wait_for_the_next_tick(root)
    (root / "a.txt").write_text("one", "utf-8")
    again = cache(root)
    again.state("a.txt")
    assert again.value(between) is MISSING
    assert again.values([between]) == {}
    assert again.values([again.state("a.txt")]) == {"a.txt": "kept"}


def test_an_edit_that_hides_its_time_is_seen(root: Path) -> None:
    """Same size and the old modification time do not deceive: the kernel's change time tells."""
    before = (root / "a.txt").stat()
    remembered(root)
    (root / "a.txt").write_text("two", "utf-8")
    os.utime(root / "a.txt", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert cache(root).state("a.txt").content == b"two"


def test_a_touched_file_keeps_its_value(root: Path) -> None:
    """Another time with the same content costs one read and no parsing."""
    remembered(root)
    os.utime(root / "a.txt", ns=(1, 1))
    second = cache(root)
    state = second.state("a.txt")
    assert state.content == b"one"
    assert second.value(state) == "kept"


def test_a_file_written_in_the_same_tick_is_read_again(root: Path) -> None:
    """A stamp that a later write could share is not trusted: git's rule for racy files."""
    began = (root / "a.txt").stat().st_ctime_ns
    first = FileCache(root, "cache", "test", "", began_ns=began)
    first.keep(first.state("a.txt"), "kept")
    first.save()
    second = cache(root)
    state = second.state("a.txt")
    assert state.content == b"one"
    assert second.value(state) == "kept"
    second.save()
    assert cache(root).state("a.txt").content is None


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"null", b"[]", b"[" * 100_000, b"\xff\xfe", b'{"fingerprint": 1, "files": 3}', b"\0" * 300],
    ids=["empty", "torn", "null", "list", "deep", "binary", "types", "zeros"],
)
def test_a_damaged_cache_is_as_good_as_none(root: Path, part: str, content: bytes) -> None:
    """Whatever a cache file holds, the run reads the real file and says nothing of the cache."""
    remembered(root)
    (root / f"cache/test.{part}").write_bytes(content)
    second = cache(root)
    state = second.state("a.txt")
    assert second.value(state) in (MISSING, "kept")
    assert state.sha256 == hashlib.sha256(b"one").hexdigest()
    second.keep(state, "again")
    second.save()
    third = cache(root)
    assert third.value(third.state("a.txt")) == "again"


def test_a_cache_that_came_with_the_repository_is_not_believed(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A cache copied byte for byte, with the right hashes in it, gives no value: its seal names another inode."""
    remembered(root, value="planted")
    clone = tmp_path_factory.mktemp("clone") / "root"
    shutil.copytree(root, clone)
    second = cache(clone)
    state = second.state("a.txt")
    assert state.content == b"one"
    assert second.value(state) is MISSING


def test_the_cache_is_not_written_through_a_link(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A folder of the cache that is a symbolic link gets nothing: a repository can't make us write elsewhere."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (root / "cache").symlink_to(elsewhere)
    remembered(root)
    assert list(elsewhere.iterdir()) == []


def test_a_cache_that_cannot_be_written_is_let_be(root: Path) -> None:
    """A file where the cache's folder should be hinders no reading."""
    (root / "cache").write_text("in the way", "utf-8")
    remembered(root)
    assert cache(root).state("a.txt").content == b"one"


@pytest.mark.parametrize("value", [{1: "a"}, float("nan"), ("a",), {"a": {2: 3}}], ids=repr)
def test_a_value_that_json_would_change_is_not_kept(root: Path, value: object) -> None:
    """What comes back is what was kept, or nothing."""
    remembered(root, value=value)
    second = cache(root)
    assert second.value(second.state("a.txt")) is MISSING


def test_another_fingerprint_voids_the_cache(root: Path) -> None:
    """When a kind's schema changes, no value of the old one is used."""
    remembered(root)
    second = cache(root, fingerprint="other")
    assert second.value(second.state("a.txt")) is MISSING


def test_what_an_older_version_kept_in_another_form_is_left(root: Path) -> None:
    """A sealed manifest of one line, as it once was, holds nothing for this version; the next run replaces it."""
    remembered(root)
    manifest = b'{"fingerprint":"1 older","files":{"a.txt":[[1,2,3,4],"0f",0,6,"note"]},"folders":{}}'
    seal = json.loads((root / "cache/test.seal").read_bytes())
    stamp = replace_unsynced(root / "cache", "test.manifest", manifest)
    sealed = [hashlib.sha256(manifest).hexdigest(), seal[1], stamp]
    (root / "cache/test.seal").write_text(json.dumps(sealed), "utf-8")

    second = cache(root)
    second.keep(second.state("a.txt"), "anew", "its note")
    second.save()
    third = cache(root)
    assert third.value(third.state("a.txt")) == "anew"
    assert third.notes == {"a.txt": "its note"}


def test_a_mark_is_had_without_its_value_as_long_as_the_content_is_the_same(root: Path) -> None:
    """A later run has the word that was kept with a value; of a file that holds something else it has none."""
    first = cache(root)
    first.keep(first.state("a.txt"), "value", mark="where it stands")
    assert first.mark("a.txt") == "where it stands"
    first.save()
    second = cache(root)
    assert second.mark("a.txt") == ""  # nobody asked about the file yet
    second.unchanged(["a.txt"])
    assert second.mark("a.txt") == "where it stands"
    (root / "a.txt").write_text("something else", "utf-8")
    third = cache(root)
    third.state("a.txt")
    assert third.mark("a.txt") == ""


def test_one_missing_file_hides_none_of_those_that_have_not_changed(root: Path) -> None:
    """Files asked about in one sweep are each told as if they had been asked about alone."""
    for name in "bcd":
        (root / f"{name}.txt").write_text(name, "utf-8")
    first = cache(root)
    for name in "abc":
        first.keep(first.state(f"{name}.txt"), name)
    first.state("d.txt")
    first.save()
    (root / "b.txt").unlink()
    (root / "c.txt").write_text("C", "utf-8")
    paths = [f"{name}.txt" for name in "abcde"]
    assert list(cache(root).unchanged(paths)) == ["a.txt", "d.txt"]
    assert list(cache(root).unchanged(paths, valued=True)) == ["a.txt"]


def test_a_file_that_is_gone_is_forgotten(root: Path) -> None:
    """A manifest holds the files of the last run alone, so that it does not grow for ever."""
    remembered(root)
    (root / "a.txt").unlink()
    (root / "b.txt").write_text("b", "utf-8")
    remembered(root, "b.txt")
    assert json.loads((root / "cache/test.manifest").read_bytes().partition(b"\n")[0])["files"] == ["b.txt"]


def test_a_missing_file_is_an_error_with_its_path(root: Path) -> None:
    """A state without a hash says why."""
    state = cache(root).state("none.txt")
    assert state.sha256 == ""
    assert state.error is not None
    assert "none.txt" in state.error.message
