"""Single files: what is read, what is refused,
and a replacement that is whole or did not happen.
"""

import os
import stat
from pathlib import Path

import pytest

from orbit_registry.errors import UnreadableFileError, UnsafePathError, WriteError
from orbit_registry.workspace.files import (
    SKIPPED_FOLDERS,
    inside,
    read_text,
    stage,
    walk,
    without_sites,
    write_atomic,
)


def refusal(path: Path, limit: int = 100) -> str:
    with pytest.raises(UnreadableFileError) as caught:
        read_text(path, limit=limit)
    assert str(path) in caught.value.message
    return caught.value.message


def test_text_is_read_as_it_stands(tmp_path: Path) -> None:
    content = "\ufeffé\r\n决定\rx\n"
    (tmp_path / "x").write_bytes(content.encode())

    assert read_text(tmp_path / "x") == content


def test_an_unreadable_file_says_why(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"x" * 101)
    (tmp_path / "exact").write_bytes(b"x" * 100)
    (tmp_path / "binary").write_bytes(b"one\ntwo \xff\n")

    assert "no such file" in refusal(tmp_path / "missing")
    assert "is not a regular file" in refusal(tmp_path)
    assert "has 101 bytes; at most 100 are read" in refusal(tmp_path / "large")
    assert len(read_text(tmp_path / "exact", limit=100)) == 100
    assert refusal(tmp_path / "binary").endswith("binary:2:5: not valid UTF-8 (byte 0xff)")


@pytest.mark.parametrize(
    ("encoding", "name"),
    [
        ("utf-16", "UTF-16"),
        ("utf-16-le", "UTF-16LE"),
        ("utf-16-be", "UTF-16BE"),
        ("utf-32", "UTF-32"),
    ],
)
def test_a_file_in_another_encoding_is_named(tmp_path: Path, encoding: str, name: str) -> None:
    (tmp_path / "x").write_bytes("# Für alle Dienste\n".encode(encoding))

    with pytest.raises(UnreadableFileError) as caught:
        read_text(tmp_path / "x")

    assert caught.value.message.endswith(f"x: it is {name}, not UTF-8")
    assert f"`iconv -f {name} -t UTF-8`" in (caught.value.hint or "")


def test_a_symbolic_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("secret", "utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "broken").symlink_to(tmp_path / "nothing")

    assert "is a symbolic link" in refusal(tmp_path / "link")
    assert "is a symbolic link" in refusal(tmp_path / "broken")


def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    """Reading a FIFO would wait for a writer for ever; a device is not a file either."""
    os.mkfifo(tmp_path / "pipe")

    assert "is not a regular file" in refusal(tmp_path / "pipe")
    assert "is not a regular file" in refusal(Path(os.devnull))


def test_a_device_is_not_replaced() -> None:
    with pytest.raises(WriteError, match="a device is no file"):
        stage(Path(os.devnull), b"content")


def test_a_forbidden_file_says_so(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    (tmp_path / "x").write_text("x", "utf-8")
    (tmp_path / "x").chmod(0)
    request.getfixturevalue("unprivileged")

    assert "permission denied" in refusal(tmp_path / "x")


OUTSIDE = [
    "",
    "..",
    "../x",
    "a/../../x",
    "/etc/passwd",
    "//x",
    "a\x00b",
    "a\\b",
    "..\\x",
    "a/..",
    "./../x",
]


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_name_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnsafePathError):
        inside(tmp_path, name)


def test_a_link_on_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")

    for name in ("link/x", "link", "loop/x"):
        with pytest.raises(UnsafePathError, match="symbolic link"):
            inside(tmp_path, name)
    assert inside(tmp_path, "real/./x") == tmp_path / "real" / "x"


def test_a_name_too_long_for_the_system_is_refused(tmp_path: Path) -> None:
    with pytest.raises((UnsafePathError, UnreadableFileError)):
        read_text(inside(tmp_path, "x" * 5000))


def test_a_new_file_gets_the_usual_rights(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        write_atomic(tmp_path / "a" / "b" / "x", "text")
    finally:
        os.umask(old)

    assert stat.S_IMODE((tmp_path / "a/b/x").stat().st_mode) == 0o640
    assert (tmp_path / "a/b/x").read_text("utf-8") == "text"


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664, 0o755])
def test_a_rewritten_file_keeps_its_rights(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "x"
    file.write_text("old", "utf-8")
    file.chmod(mode)
    old = os.umask(0o077)
    try:
        write_atomic(file, b"new")
    finally:
        os.umask(old)

    assert stat.S_IMODE(file.stat().st_mode) == mode
    assert file.read_bytes() == b"new"


def test_a_refused_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("old", "utf-8")

    with pytest.raises(
        WriteError, match=r"can't write .*folder: is a directory; nothing was changed"
    ):
        write_atomic(tmp_path / "folder", "x")
    with pytest.raises(WriteError) as caught:
        write_atomic(tmp_path / "file" / "x", "x")

    assert caught.value.hint == "a file is where a folder is needed"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]
    assert list((tmp_path / "folder").iterdir()) == []
    assert (tmp_path / "file").read_text("utf-8") == "old"


def test_a_symbolic_link_is_replaced_not_followed(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("mine", "utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "real")

    write_atomic(tmp_path / "link", "new")

    assert (tmp_path / "real").read_text("utf-8") == "mine"
    assert not (tmp_path / "link").is_symlink()


def test_walk_skips_folders_of_tools_and_links(tmp_path: Path) -> None:
    for folder in (
        "",
        "src",
        "src/deep",
        ".hidden",
        *SKIPPED_FOLDERS,
        *(f"src/{name}" for name in SKIPPED_FOLDERS),
    ):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "x.md").write_text("x", "utf-8")
    (tmp_path / "linked").symlink_to(tmp_path / "src")

    assert list(walk(tmp_path)) == ["x.md", ".hidden/x.md", "src/x.md", "src/deep/x.md"]
    assert list(walk(tmp_path, hidden=False)) == ["x.md", "src/x.md", "src/deep/x.md"]
    assert list(walk(tmp_path, "src", without=frozenset({"deep"}))) == ["src/x.md"]
    assert list(walk(tmp_path, tmp_path / "src/deep")) == ["src/deep/x.md"]
    assert not list(walk(tmp_path, "nothing"))


def test_pages_of_a_built_site_are_not_among_the_files(tmp_path: Path) -> None:
    paths = ["site.md", "site/.orbit-site.json", "site/adrs/ADR-0001/index.md", "src/a.py"]
    paths += [
        "manual/search/search_index.json",
        "manual/adr/0001-use-x/index.html",
        "manual/notes.md",
    ]
    paths += ["manual/404.html", "docs/search/search_index.json", "docs/adr/0001-use-x.md"]
    assert without_sites(paths, tmp_path) == ["site.md", "src/a.py", *paths[-2:]]


def test_the_site_that_mkdocs_names_is_a_built_one(tmp_path: Path) -> None:
    (tmp_path / "mkdocs.yml").write_text(
        "site_name: X\nsite_dir: './public'  # of pages\n", "utf-8"
    )

    assert without_sites(["public/index.html", "public/adr/0001-a.md", "a.md"], tmp_path) == [
        "a.md"
    ]
    assert without_sites(["public/adr/0001-a.md", "a.md"], tmp_path) == [
        "public/adr/0001-a.md",
        "a.md",
    ]
