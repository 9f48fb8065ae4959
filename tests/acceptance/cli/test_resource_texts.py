"""Texts that people have: what is taken over as it is, and what is refused before anything is written."""

import contextlib
import subprocess
import sys
from pathlib import Path

import pytest
from tests.acceptance.cli.conftest import Shell
from tests.acceptance.cli.test_resources import TOKEN, files

__all__ = ["files"]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("big.md", b"x" * 1_000_001, "at most 1,000,000"),
        ("binary.md", b"ab\x00cd", "is not text"),
        ("latin.md", "café".encode("latin-1"), "not valid UTF-8"),
        ("empty.md", b" \n", "is empty"),
        ("secret.md", f"a\nb {TOKEN}\n".encode(), "secret.md:2 holds a secret: GitHub token"),
    ],
)
@pytest.mark.parametrize("type_", ["doc", "script"])
def test_what_is_no_text_to_keep_is_refused(files: Shell, type_: str, name: str, content: bytes, reason: str) -> None:
    Path(name).write_bytes(content)

    code, _, output = files("import", type_, name)

    assert code == 1
    assert reason in output
    assert TOKEN not in output
    assert not Path(".orbit/resources").exists()


def test_a_byte_order_mark_is_no_hidden_character(files: Shell) -> None:
    Path("docs/bom.md").write_bytes(b"\xef\xbb\xbf# Marked\r\n\r\nThe wombat.\r\n")

    data = files.data("import", "doc", "docs/bom.md")

    assert data["title"] == "Marked"
    assert Path(data["text"]["path"]).read_bytes() == Path("docs/bom.md").read_bytes()
    assert files("check")[0] == 0
    Path("docs/bom.md").write_bytes(b"\xef\xbb\xbf# Marked\n\nThe \xef\xbb\xbfwombat.\n")
    assert files("refresh", data["id"])[0] == 0
    code, output, _ = files("check")
    assert (code, output.count("U+FEFF")) == (1, 1)
    assert "3:5: error ORB405" in output


@pytest.mark.parametrize(
    "command",
    [
        "import doc - --title T",
        "learning add --summary S --path x.py --body-file -",
        "learning add --summary S --path x.py --body-file /dev/stdin",
    ],
)
def test_an_input_without_an_end_is_not_read_to_it(files: Shell, command: str) -> None:
    ours = [sys.executable, "-m", "orbit_registry.cli.main", *command.split()]
    with subprocess.Popen(ours, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(b"x" * 2_000_000)
        try:  # the pipe is still open
            code = process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        output = process.stderr.read().decode()
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()

    assert code == 1, output
    assert "more than 1,000,000 bytes" in output
    assert not Path(".orbit/resources").exists()


def test_a_part_of_a_text_without_headings_is_named_once(files: Shell) -> None:
    Path("plain.md").write_text("word " * 1500, "utf-8")

    output = files("import", "doc", "plain.md", "--preview", "--chunks", "headers")[1]

    assert [line.count("(part ") for line in output.splitlines()[1:]] == [1] * 4


def test_no_path_leads_out_of_the_project(files: Shell, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("# Out\n", "utf-8")
    Path("link.md").symlink_to(tmp_path / "outside.md")
    Path("folder").symlink_to(tmp_path)

    for path in (str(tmp_path / "outside.md"), "link.md", "folder/outside.md", ".orbit/config.yaml", "docs", "none.md"):
        code, _, output = files("import", "doc", path)
        assert code in (1, 2), path
        assert output.startswith("error: "), output
    assert files("import", "script", "-")[0] != 0
    assert not Path(".orbit/resources").exists()
