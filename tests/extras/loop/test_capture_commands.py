"""Commands that capture recognises in a command line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from orbit_loop.capture.command_line import read_command
from orbit_registry.hook.purpose import SCRIPTS
from orbit_registry.hook.shell import paths_in_command

CASES: list[dict[str, Any]] = YAML(typ="safe").load(
    Path(__file__).parents[2] / "cases/shell_commands.yaml"
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["text"])
def test_capture_quotes_what_was_typed(case: dict[str, Any]) -> None:
    ways = read_command(case["text"]).ways
    assert [f"{way.purpose} {way.words}" for way in ways] == case["ways"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["text"])
def test_the_hook_reads_the_same_commands(case: dict[str, Any]) -> None:
    read = paths_in_command(case["text"])
    assert " ".join(read.purposes) == case["purposes"]
    if "paths" in case:
        assert read.paths == case["paths"]
    if "candidates" in case:
        assert read.candidate_paths == case["candidates"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["text"])
def test_no_word_is_moved_or_added(case: dict[str, Any]) -> None:
    typed = iter(re.sub(r"=\S*", "=", re.sub(r"['\"\\\n;()]", " ", case["text"])).split())
    for way in read_command(case["text"]).ways:
        words = re.sub(r"=\S*", "=", way.words.replace("\\", " ").replace(";", " ")).split()
        for word in words[-1:] if way.words.startswith(("export", "source")) else words:
            assert word in typed, f"{word} is not behind the words before it"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("npm --prefix /home/u/app/web run test", "npm --prefix web run test"),
        ("make -C /home/u/app test", "make test"),
        ("npm --prefix=./web test", "npm --prefix=web test"),
        ("make -Cweb test", "make -Cweb test"),
        ("npm --workspace=web run test", "npm --workspace=web run test"),
        ("yarn --cwd web test", "yarn --cwd web test"),
        ("uv run --directory=/home/u/app/web pytest", "uv run --directory=web pytest"),
    ],
)
def test_a_folder_of_the_project_is_named_from_its_root(text: str, words: str) -> None:
    assert [way.words for way in read_command(text, "/home/u/app").ways] == [words]


def test_a_piped_line_is_marked() -> None:
    assert read_command("pytest | tail -3").is_piped
    assert not read_command("pytest 2>&1 > out").is_piped


@given(st.text(alphabet=" pytesnmru-=|&;()<>'\"$`\\\n/.~", max_size=60))
def test_any_line_gives_short_plain_commands(text: str) -> None:
    """Nothing that a shell or a reader would act on."""
    for way in read_command(text).ways:
        assert way.purpose in SCRIPTS.values() or way.purpose == f"{way.tool} {way.script}".strip()
        assert len(way.words) < 200
        words = re.sub(r"^(?:(?:source|\.) \.env(?:;| &&) )+", "", way.words)
        assert not set(re.sub(r"(?<=\w)\\(?=\w)", "/", words)) & set("|&;()<>'\"$`\\\n")
