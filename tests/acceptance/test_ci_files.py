"""GitHub's action and GitLab's component: valid by their published schemas,
and their scripts do what they say.
"""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator
from ruamel.yaml import YAML
from tests.conftest import ROOT, Git
from tests.files import commit, make_workspace, write, write_learning

Run = Callable[..., "subprocess.CompletedProcess[str]"]
INSTALL = "Install Orbit"
ACTION = YAML(typ="safe").load((ROOT / "action.yml").read_text("utf-8"))
HEAD, COMPONENT = YAML(typ="safe").load_all((ROOT / "templates/orbit.yml").read_text("utf-8"))


def published(name: str) -> Draft7Validator:
    pytest.importorskip("check_jsonschema", reason="it has the published schemas")
    text = (
        files("check_jsonschema").joinpath(f"builtin_schemas/vendor/{name}.json").read_text("utf-8")
    )
    return Draft7Validator(json.loads(text))


@pytest.fixture
def project(tmp_path: Path, git: Git) -> Path:
    """Return a clone on a branch that adds an invalid learning for a file that it edits."""
    origin = make_workspace(tmp_path / "origin")
    git(origin, "init", "-q")
    write_learning(origin, 1)
    write(origin, "src/a.py", "x = 1\n")
    commit(origin)
    root = tmp_path / "project"
    git(tmp_path, "clone", "-q", str(origin), str(root))
    git(root, "checkout", "-qb", "work")
    write(root, "src/a.py", "x = 2\n")
    write_learning(root, 2, summary="")
    commit(root)
    return root


def bash(script: str, folder: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run a script as GitHub does, with orbit's programs on the path."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    env = {**os.environ, "PATH": path, **variables}
    return subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)


@pytest.fixture
def step(project: Path, tmp_path: Path) -> Run:
    """Run the script of one step of the action."""
    (tmp_path / "orbit").mkdir()
    (tmp_path / "orbit/bin").symlink_to(Path(sys.executable).parent)
    variables = {
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_EVENT_NAME": "push",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        "BASE": "main",
        "STRICT": "false",
        "COMMENT": "true",
    }

    def run(name: str, **more: str) -> "subprocess.CompletedProcess[str]":
        script = next(
            step["run"]
            for step in ACTION["runs"]["steps"]
            if step.get("id", step.get("name")) == name
        )
        return bash(script, project, **{**variables, **more})

    return run


def test_the_action_is_valid() -> None:
    assert list(published("github-actions").iter_errors(ACTION)) == []


def test_the_component_is_valid() -> None:
    assert list(published("gitlab-ci").iter_errors(COMPONENT)) == []
    assert set(HEAD) == {"spec"}


def test_no_script_of_the_action_holds_an_expression() -> None:
    """An input inside a script would be run as a part of it."""
    assert [step["name"] for step in ACTION["runs"]["steps"] if "${{" in step.get("run", "")] == []


def test_every_action_that_is_used_is_pinned() -> None:
    used = [step["uses"] for step in ACTION["runs"]["steps"] if "uses" in step]
    assert [name for name in used if len(name.partition("@")[2]) != 40] == []


def test_the_check_of_the_action_writes_sarif_and_annotations(step: Run, tmp_path: Path) -> None:
    done = step("check")

    assert done.returncode == 0, done.stderr  # so that the next steps run
    assert "::error file=.orbit/learnings/L-00002/learning.yaml" in done.stdout
    sarif = json.loads((tmp_path / "orbit.sarif").read_text("utf-8"))
    assert sarif["version"] == "2.1.0"
    outputs = dict(
        line.split("=") for line in (tmp_path / "output").read_text("utf-8").splitlines()
    )
    assert outputs["code"] == "1"
    assert step("Fail on errors", CODE=outputs["code"]).returncode == 1


def test_the_action_checks_everything_outside_of_a_pull_request(step: Run, tmp_path: Path) -> None:
    assert step("check", BASE="").returncode == 0
    assert "code=1" in (tmp_path / "output").read_text("utf-8")


@pytest.mark.parametrize("event", ["push", "pull_request"])
def test_the_summary_of_the_run_has_what_changed_even_if_the_comment_fails(
    step: Run, tmp_path: Path, event: str
) -> None:
    done = step("diff", GITHUB_EVENT_NAME=event)  # there is no token

    assert done.returncode == 0, done.stderr
    assert ("::warning title=Orbit::" in done.stdout) is (event == "pull_request")
    assert "L-00001" in (tmp_path / "summary").read_text("utf-8")


def test_the_job_of_the_component_reports_and_fails(project: Path) -> None:
    variables: dict[str, Any] = COMPONENT["orbit"]["variables"]
    script = [line for line in COMPONENT["orbit"]["script"] if "pip install" not in line]

    done = bash(
        "\n".join(script),
        project,
        CI_MERGE_REQUEST_TARGET_BRANCH_NAME="main",
        **{name: "" if "[[" in value else value for name, value in variables.items()},
    )

    assert done.returncode == 1
    assert "Records that apply to these files:" in done.stdout
    report = json.loads((project / "gl-code-quality-report.json").read_text("utf-8"))
    assert ".orbit/learnings/L-00002/learning.yaml" in {
        finding["location"]["path"] for finding in report
    }


def _pins(name: str) -> dict[str, str]:
    """Return the packages of a lock, each with its pin and hashes."""
    text = (ROOT / name).read_text("utf-8")
    pins = re.findall(r"(?m)^([a-z0-9][\w.-]*)(==.*\n(?: .*\n)*)", text)
    return dict(pins)


@pytest.mark.parametrize(
    ("lock", "extras"),
    [
        ("requirements-action.txt", ("enforce",)),
        ("requirements-action-site.txt", ("enforce", "site")),
    ],
)
def test_the_action_installs_what_its_lock_names_by_hash(
    lock: str, extras: tuple[str, ...]
) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needs = [*project["dependencies"]]
    for extra in extras:
        needs += project["optional-dependencies"][extra]

    names = {re.split(r"[<>=\[ ]", need)[0].replace(".", "-") for need in [*needs, "hatchling"]}
    pins, developed = _pins(lock), _pins("requirements-dev.txt")
    assert names - pins.keys() == set()
    assert [name for name, pin in pins.items() if "--hash=sha256:" not in pin] == []

    versions = {name: pin.split()[0] for name, pin in pins.items()}
    tested = {name: pin.split()[0] for name, pin in developed.items()}
    assert {name: tested.get(name) for name in versions} == versions

    script = next(row["run"] for row in ACTION["runs"]["steps"] if row.get("name") == INSTALL)
    assert lock in script
    assert re.findall(r"--require-hashes|--no-deps", script) == ["--require-hashes", "--no-deps"]


def test_no_module_of_a_change_runs_in_place_of_pythons() -> None:
    # `python -m venv` runs the `venv/` of the folder that it starts in, which is the change's.
    scripts = [row.get("run", "") for row in ACTION["runs"]["steps"]]
    scripts += [file.read_text("utf-8") for file in (ROOT / "templates").glob("*.yml")]

    started = re.findall(r"(?:\$PYTHON\"|python3?)((?: -\w)* -m \w+)", "\n".join(scripts))
    assert set(started) == {" -I -m venv", " -P -m pip"}
