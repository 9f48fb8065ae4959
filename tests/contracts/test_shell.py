"""The README, CONTRIBUTING and the CI script name what is really there;
what commands do is tested elsewhere.
"""

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SESSIONS = {
    "tests",
    "ducklake",
    "lint",
    "check",
    "build-site",
    "serve-site",
    "adr-add",
    "agents",
    "fleet",
    "proof",
    "reference",
    "snapshot",
    "bench",
    "build",
    "mcp-conformance",
    "lock",
    "minimums",
    "newest",
    "zensical",
    "properdocs",
    "materialx",
}


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def sessions() -> set[str]:
    """Return the names of the nox sessions, read without nox:
    the test environment does not need it.
    """
    result = set()
    for node in ast.parse(read("noxfile.py")).body:
        for decorator in getattr(node, "decorator_list", ()):
            if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "nox.session":
                names = {word.arg: ast.literal_eval(word.value) for word in decorator.keywords}
                result.add(names.get("name", getattr(node, "name", "")))
    return result


def test_the_sessions_have_their_promised_names() -> None:
    assert sessions() == SESSIONS


@pytest.mark.parametrize(
    "name", ["README.md", "CONTRIBUTING.md", ".ci/run", ".pre-commit-config.yaml"]
)
def test_every_session_that_is_named_exists(name: str) -> None:
    names = {
        word
        for line in re.findall(r"\bnox -s ((?:[a-z][a-z-]+ ?)+)", read(name))
        for word in line.split()
    }
    assert names
    assert names <= SESSIONS


def test_the_readme_names_every_session() -> None:
    (row,) = re.findall(r"(?m)^\| `noxfile\.py` \|(.*)", read("README.md"))
    assert set(re.findall(r"`([a-z-]+)`", row)) == SESSIONS
    table = re.findall(r"(?m)^\| (`python3 -m nox .*?) \|", read("CONTRIBUTING.md"))
    assert {
        name for text in table for name in re.findall(r"(?:nox -s |, `)([a-z-]+)", text)
    } == SESSIONS


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_every_place_of_the_repository_that_is_named_is_there(name: str) -> None:
    rooms = (
        r"(?<![\w/.-])((?:tests|tooling|docs|changelog\.d|site-overrides|\.ci|\.github)/[\w./-]*)"
    )
    names = {path for path in re.findall(rooms, read(name)) if not path.startswith("docs/adr")}
    assert names
    assert [path for path in sorted(names) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize(
    "command",
    ["python3 -m pip install nox && python3 -m nox -s build-site", "python3 -m nox -s tests"],
)
def test_the_readme_gives_the_two_commands(command: str) -> None:
    assert command in read("README.md").splitlines()


def test_ci_runs_the_tests_as_the_readme_says() -> None:
    """The CI script runs the README's line, so that a green build says the README works."""
    assert re.search(r"(?m)^python3 -m nox -s tests( \|\||$)", read(".ci/run"))
    assert "nox -s fleet " in read(".ci/run"), "the lake is no longer asked through Spark"


def test_ci_tries_the_newest_releases_at_each_change_and_each_week() -> None:
    assert re.search(r"(?m)^ .* -m nox -s newest \|\|", read(".ci/run"))
    assert re.search(
        r"(?m)^  schedule: \[\{cron: \"\d+ \d+ \* \* \d\"\}\]$", read(".github/workflows/ci.yml")
    )


def test_every_extra_in_the_readme_exists() -> None:
    extras = tomllib.loads(read("pyproject.toml"))["project"]["optional-dependencies"]
    assert set(re.findall(r"orbit-registry\[(\w+)\]", read("README.md"))) <= set(extras)


def test_ci_looks_for_every_python_that_we_name() -> None:
    names = re.findall(r"Python :: (3\.\d+)", read("pyproject.toml"))
    assert re.findall(r"(?m)^for version in (.*); do$", read(".ci/run")) == [" ".join(names)]


def test_no_page_installs_from_an_index_that_has_no_release() -> None:
    pages = [
        ROOT / "README.md",
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "docs/examples").rglob("*.yml"),
    ]
    lines = [line for page in pages for line in page.read_text("utf-8").splitlines()]
    assert [
        line
        for line in lines
        if re.search(r"pip install ['\"]?orbit-registry(?!\S* @ git\+)", line)
    ] == []


def test_every_extra_brings_what_the_package_imports() -> None:
    extras = tomllib.loads(read("pyproject.toml"))["project"]["optional-dependencies"]
    sources = "".join(file.read_text("utf-8") for file in (ROOT / "tooling").rglob("*.py"))
    names = [
        re.split(r"[^\w-]", requirement)[0] for extra in extras.values() for requirement in extra
    ]
    names.remove("pandas")  # Spark's client imports it, and can't use its version 3 yet
    # A module has the name of its package, or the first or last word of it.
    modules = {
        name: f"(?:{name.replace('-', '_')}|{name.split('-')[0]}|{name.split('-')[-1]})"
        for name in names
    }
    assert [
        name
        for name, module in modules.items()
        if not re.search(
            rf"(?m)^\s*(?:import|from) {module}\b|import_module\(\"{module}\b", sources
        )
    ] == []


def test_no_requirement_is_open_downwards() -> None:
    project = tomllib.loads(read("pyproject.toml"))["project"]
    everything = [
        *project["dependencies"],
        *(r for extra in project["optional-dependencies"].values() for r in extra),
    ]
    assert [requirement for requirement in everything if not re.search(r"[>=]=", requirement)] == []
