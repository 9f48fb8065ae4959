"""What a command is for, behind the programs that start it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.hook.purpose import SCRIPTS, TOOLS, WRAPPERS, program_at, purpose_of, purposes_in
from orbit_registry.hook.shell import paths_in_command


@pytest.mark.parametrize(
    ("command", "purposes"),
    [
        ("pytest -q tests/a.py", "test"), ("cd web && npm run test:unit", "test"),
        ("source .venv/bin/activate && python3.12 -m pytest", "test"), ("uv run --group test pytest -x", "test"),
        ("docker compose -f dev.yml exec -T web pytest", "test"), ("docker run --rm -e A=b image pytest", "test"),
        ("go test ./...", "test"), ("go vet ./...", "lint"), ("cargo nextest run -p core", "test"),
        ("make -C web lint", "lint"), ("nox -s tests -- -k x", "test"), ("tox -e py311", "test"),
        ("uv pip install -e .", "install"), ("npx --yes tsc --noEmit", "types"), ("env FOO=1 pytest; echo ok", "test"),
        ("timeout 60 ruff check . && mypy", "lint types"), ("uv tool run ruff format .", "format"),
        ("python manage.py test", "test"), ("bash -lc 'npm ci && npm run build'", "install build"),
        ("ls tests", ""), ("git commit -m 'fix the tests'", ""), ("cat tests/lint", ""), ("mkdir build", ""),
        ("grep -rn pytest .", ""), ("echo pytest", ""),
    ],
)  # fmt: skip
def test_a_command_has_the_purpose_of_its_programs(command: str, purposes: str) -> None:
    assert " ".join(paths_in_command(command).purposes) == purposes


@pytest.mark.parametrize(
    ("headline", "purposes"),
    [
        ("Tests run with `nox -s tests`; `pytest` fails here: a module is missing.", ["test"]),
        ("After a change of code `ruff check`, then `uv run pytest` are run.", ["lint", "test"]),
        ("Dependencies are installed with `pnpm install`.", ["install"]),
        ("A new file in `src/tests/` is registered in `src/build/index.ts`.", []),
        ("Prices are rounded half to even.", []),
    ],
)
def test_a_headline_is_about_its_commands_and_nouns(headline: str, purposes: list[str]) -> None:
    assert purposes_in(headline) == purposes


WORDS = st.sampled_from([*" ".join(WRAPPERS).split(), *TOOLS, "-e", "--rm", "A=b", "web", ".", "", "x/python3.1"])


@given(st.lists(WORDS, max_size=12))
def test_any_words_have_a_purpose_or_none(words: list[str]) -> None:
    assert 0 <= program_at(words) <= len(words) + 2
    assert purpose_of(words) in {"", *SCRIPTS.values()}
