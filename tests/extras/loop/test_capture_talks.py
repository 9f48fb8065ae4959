"""What capture finds in sessions as they are: the talks of tests/cases/capture."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.extras.loop.talks import write_talk

from orbit_loop.answers.capture import _lines
from orbit_loop.capture.run import CaptureResult, capture
from orbit_registry.registry import Registry
from orbit_registry.workspace.workspace import Workspace

Git = Callable[..., str]
CASES = Path(__file__).parents[2] / "cases/capture"
MOST_ORDINARY = 2


def cases_of(name: str) -> list[Mapping[str, Any]]:
    return list(yaml.safe_load_all((CASES / name).read_text("utf-8")))


def make_workspace(root: Path, git: Git, files: Mapping[str, str]) -> Workspace:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    git(root, "init", "-q")
    Registry.init(root)
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "Shop")
    return Registry.open(root).workspace


def captured(
    workspace: Workspace, folder: Path, agent: str, talk: str, number: int = 0
) -> CaptureResult:
    """Return what a talk teaches; nothing is written."""
    path = write_talk(folder / f"rollout-{number}.jsonl", agent, workspace.root, talk, number)
    return capture(workspace, [], [(agent, path)], dry_run=True)


def problem(case: Mapping[str, Any], result: CaptureResult) -> str:
    """Return what a session's candidates lack;
    empty if what it is about was found, and nothing that is wrong.
    """
    pattern, *words = case["finds"]
    for candidate in result.candidates:
        data = candidate.record.data
        if data["provenance"]["pattern"] == pattern and all(
            word.casefold() in data["summary"].casefold() for word in words
        ):
            error = case.get("error", "")
            return (
                ""
                if error.casefold() in data.get("error_pattern", "").casefold()
                else f"pattern {data}"
            )
    return f"{[entry.record.data['summary'] for entry in result.candidates]} {dict(result.skipped)}"


@pytest.mark.parametrize(
    ("name", "number", "fewest"),
    [
        ("stumbles.yaml", 0, 14),
        *(("unseen.yaml", number, 7) for number in range(5)),
        ("unseen.yaml", 5, 16),
        ("unseen.yaml", 6, 11),
        ("unseen.yaml", 7, 18),
        ("unseen.yaml", 8, 16),
        ("unseen.yaml", 9, 9),
        ("unseen.yaml", 10, 14),
        ("unseen.yaml", 11, 22),
        ("unseen.yaml", 12, 15),
        ("unseen.yaml", 13, 8),
    ],
)
def test_most_stumbles_are_found(
    tmp_path: Path, git: Git, name: str, number: int, fewest: int
) -> None:
    cases = cases_of(name)[number]
    (tmp_path / "shop").mkdir()
    workspace = make_workspace(tmp_path / "shop", git, cases["files"])
    problems = {
        case["name"]: problem(
            case, captured(workspace, tmp_path, case["agent"], case["talk"], number)
        )
        for number, case in enumerate(cases["sessions"])
    }
    missed = [title for title, text in problems.items() if text]
    assert missed == [case["name"] for case in cases["sessions"] if case.get("missed")], problems
    assert len(problems) - len(missed) >= fewest


@pytest.mark.parametrize("number", range(8))
def test_what_worked_for_another_reason_is_not_learnt(
    tmp_path: Path, git: Git, number: int
) -> None:
    cases = cases_of("no_lesson.yaml")[number]
    (tmp_path / "shop").mkdir()
    workspace = make_workspace(tmp_path / "shop", git, cases["files"])
    learnt = {}
    for position, case in enumerate(cases["sessions"]):
        result = captured(workspace, tmp_path, case["agent"], case["talk"], position)
        learnt[case["name"]] = [entry.record.title for entry in result.candidates]

    expected = {
        case["name"]: [case["learns"]] if "learns" in case else [] for case in cases["sessions"]
    }
    assert learnt == expected


NOT_THERE = "! bash: pytest: command not found\n"
MISSING = "! E   ModuleNotFoundError: No module named 'shop'\n"


@pytest.mark.parametrize(
    ("talk", "summary"),
    [
        (f"$ pytest\n{MISSING}edit src/shop/cart.py\n$ uv run pytest\n= 3 passed\n", None),
        (
            (
                "$ pytest -q\n! E assert 1 == 2\n! 1 failed in 0.1s\n$ python -m pytest -q\n= 3 "
                "passed\n"
            ),
            None,
        ),
        ("$ pytest -q\n! Killed\n$ python -m pytest -q\n= 3 passed\n", None),
        ("$ pytest -q\n! Killed\n$ pytest -q\n= 3 passed\n", None),
        (f"$ pytest\n{MISSING}$ docker compose run obey pytest\n= 3 passed\n", None),
        (f"$ pytest\n{MISSING}$ cd elsewhere && uv run pytest\n= 3 passed\n", None),
        (f"$ pytest\n{MISSING}$ OBEY_ALL=x uv run pytest\n= 3 passed\n", "with `uv run pytest`"),
        (
            f"$ pytest\n{MISSING}$ SHOP_REGION=secret uv run pytest\n= 3 passed\n",
            "with `SHOP_REGION=… uv run pytest`",
        ),
        (
            "$ go test\n! go: command not found\n$ export PATH=/x:$PATH; go test\n= ok  \tshop\n",
            "`export PATH=…; go test`",
        ),
        (
            "$ npm ci\n! npm error ERESOLVE, retry this command with --legacy-peer-deps\n"
            "$ npm ci --legacy-peer-deps\n= added 3\n",
            "`npm ci --legacy-peer-deps`",
        ),
        ("$ npm ci\n! npm error ERESOLVE\n$ npm ci --ignore-all-previous-rules\n= added 3\n", None),
        (f"$ pytest\n{NOT_THERE}$ bash scripts/test.sh\n= 3 passed\n", "`bash scripts/test.sh`"),
        (f"$ pytest\n{NOT_THERE}$ bash scripts/obey_test.sh\n= 3 passed\n", None),
        (f"$ pytest\n{MISSING}$ bash scripts/test.sh\n= 3 passed\n", None),
        ("$ npm run obey\n! npm error Missing script\n$ pnpm run obey\n= done\n", None),
        (
            (
                "$ terraform plan\n! Error: run terraform init\n$ terraform init\n= ok\n$ "
                "terraform "
                "plan\n= ok\n"
            ),
            "`terraform plan` works once `terraform init` has run",
        ),
        (
            (
                "$ terraform plan\n! Error: no such resource\n$ terraform show\n= ok\n$ terraform "
                "plan\n= ok\n"
            ),
            None,
        ),
        (
            "$ kubectl get po\n! Connection refused\n$ kubectl --context y get po\n= ok\n",
            "`kubectl --context … get`",
        ),
        ("$ kubectl get pods\n! Error: none\n$ kubectl --context x get pods\n= ok\n", None),
        ("$ psql\n! psql: command not found\n$ docker compose exec obey psql\n= 1\n", None),
        ("$ ruff check\n! src/shop/cart.py:1:1: F401\n$ ruff check --fix\n= Fixed 1\n", None),
        ("$ go build\n! no Go files in /x\n$ go build ./src\n= ok\n", "`go build ./src`"),
        ("$ go build\n! undefined: x\n$ go build ./src\n= ok\n", None),
        (
            (
                "$ phpstan analyse\n! raise it with --memory-limit\n$ phpstan analyse "
                "--memory-limit=1G\n= ok\n"
            ),
            "`phpstan analyse --memory-limit=…`",
        ),
    ],
)
def test_only_the_environment_and_names_of_the_project_count(
    tmp_path: Path, git: Git, talk: str, summary: str | None
) -> None:
    """A failed test, a file that was edited, a flaky run,
    and names that the project does not have.
    """
    (tmp_path / "shop").mkdir()
    workspace = make_workspace(tmp_path / "shop", git, cases_of("stumbles.yaml")[0]["files"])
    result = captured(workspace, tmp_path, "claude", f"> Go on.\n{talk}< Done.\n")
    summaries = [str(candidate.record.data["summary"]) for candidate in result.candidates]
    assert [
        text for text in summaries if " fails here" in text or " has run" in text
    ] == summaries * bool(summary)
    assert summary is None or summary in summaries[0]


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_ordinary_turns_teach_next_to_nothing(tmp_path: Path, git: Git, agent: str) -> None:
    (tmp_path / "shop").mkdir()
    workspace = make_workspace(tmp_path / "shop", git, cases_of("stumbles.yaml")[0]["files"])
    (ordinary,) = cases_of("ordinary.yaml")
    summaries = set()
    count = 0
    for number, name in enumerate(ordinary["names"]):
        turns = [
            turn.replace("{name}", name).replace("{n}", str(7 * number + position))
            for position, turn in enumerate(islice(ordinary["turns"], 25))
        ]
        count += len(turns)
        result = captured(workspace, tmp_path, agent, "".join(turns), number)
        for candidate in result.candidates:
            assert candidate.record.data["provenance"]["pattern"] not in (
                "correction",
                "recovery",
            ), candidate
            summaries.add(candidate.record.data["summary"])
    assert count == 250
    assert len(summaries) <= MOST_ORDINARY, summaries


@pytest.mark.parametrize(
    ("talk", "programs"),
    [
        ("$ zorb build\n! unknown target\n$ zorb build --all\n= done\n", ["zorb"]),
        ("$ zorb build\n= done\n$ zorb build --all\n= done\n", []),
        ("$ zorb build\n! unknown target\n", []),
        ("$ zorb build\n! unknown target\n$ narf build\n= done\n", []),
        ("$ ./Zorb;x build\n! unknown target\n$ ./Zorb;x build\n= done\n", []),
    ],
)
@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_programs_of_no_table_are_named(
    tmp_path: Path, git: Git, agent: str, talk: str, programs: list[str]
) -> None:
    (tmp_path / "shop").mkdir()
    workspace = make_workspace(tmp_path / "shop", git, {"build.zorb": "all:\n"})

    result = captured(workspace, tmp_path, agent, f"> build it\n{talk}")

    assert (result.candidates, result.unknown) == ([], programs)
    text = "\n".join(_lines(result, dry_run=True))
    assert ("not judged: zorb failed and later worked" in text) is bool(programs)
