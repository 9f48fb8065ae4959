"""The learnings of an agent in a program's templates:
which, how many, from which memory, how soon a change shows.
"""

import logging
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2
import pytest
from tests.files import events

from orbit_registry.doors.cli.main import run
from orbit_registry.injection import (
    AgentRegistry,
    AgentRenderer,
    LearningsCache,
    LearningsContextInjector,
)
from orbit_registry.registry import Registry

Learn = Callable[..., str]


@pytest.fixture
def project(git_repo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    Registry.init(git_repo)
    monkeypatch.chdir(git_repo)
    return git_repo


@pytest.fixture
def learn(project: Path) -> Learn:
    """Return what adds a live learning of a category, and returns its id."""

    def add(summary: str, category: str | None = None, **more: object) -> str:
        declared = {} if category is None else {"category": category}
        return Registry.open(project).add("learning", {"summary": summary, **declared, **more}).id

    return add


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_an_unknown_agent_gets_general_and_the_log_a_warning(
    learn: Learn, project: Path, caplog: pytest.LogCaptureFixture
) -> None:
    general = learn("Ask before you guess")
    learn("Sign each commit", "git")
    with caplog.at_level(logging.WARNING):
        result = LearningsContextInjector(project).learnings_for("zeppelin-pilot")
    assert [entry.id for entry in result] == [general]
    assert "zeppelin-pilot" in caplog.text
    event = events(project)[-1]
    assert event["surface"] == "inject"
    assert (event["agent"], event["categories"]) == ("zeppelin-pilot", ["general"])
    assert event["notes"]


def test_without_a_name_nothing_is_narrowed(learn: Learn, project: Path) -> None:
    created = {
        learn("Sign each commit", "git"),
        learn("Rotate the keys", "keys"),
        learn("Ask before you guess"),
    }
    injector = LearningsContextInjector(Registry.open(project))
    assert injector.get_categories_for_agent("") == ("git", "keys", "general")
    assert {entry.id for entry in injector.learnings_for("")} == created


def test_records_for_other_agents_make_room_for_the_next(learn: Learn, project: Path) -> None:
    plain = [
        learn(f"Count the {word}", "testing") for word in ("cups", "hats", "maps", "keys", "bells")
    ]
    for word in ("ropes", "lamps"):
        learn(f"Hang the {word}", "testing", scope={"agents": ["judge"]}, priority=200)
    injector = LearningsContextInjector(project)
    assert {entry.id for entry in injector.learnings_for("tester")} == set(plain)
    assert len(injector.learnings_for("judge")) == 5
    assert {entry.id for entry in injector.learnings_for("judge")} != set(plain)


def test_a_session_is_not_told_twice(learn: Learn, project: Path) -> None:
    learn("Ask before you guess")
    injector = LearningsContextInjector(project)
    assert [len(injector.learnings_for("judge", session="s")) for _ in range(2)] == [1, 0]
    assert len(injector.learnings_for("judge")) == 1
    assert run(["brief", "--agent", "judge", "--session", "s", "--format", "json"]) == 0


@pytest.mark.parametrize("change", ["add", "edit", "retire", "vote", "remove", "in place"])
def test_a_change_is_seen_within_the_time(learn: Learn, project: Path, change: str) -> None:
    first, second = learn("Sign each commit", "git", priority=1), learn("Tag each release", "git")
    injector = LearningsContextInjector(project, LearningsCache(300, Clock()))
    before = injector.learnings_for("engineer")
    assert [entry.id for entry in before] == [first, second]
    file = project / f".orbit/learnings/{second}/learning.yaml"
    if change == "add":
        assert (
            run(["learning", "add", "--summary", "Push no secrets", "--category", "git", "--yes"])
            == 0
        )
    elif change == "edit":
        assert run(["learning", "update", second, "--summary", "Tag every release"]) == 0
    elif change == "retire":
        assert run(["learning", "retire", first]) == 0
    elif change == "vote":
        assert run(["learning", "vote", second, "--task", "T-1"]) == 0
    elif change == "remove":
        file.unlink()
    else:
        file.write_text(file.read_text("utf-8").replace("category: git", "category: sql"), "utf-8")
    after = injector.learnings_for("engineer")
    ids = {
        "add": lambda: len(after) == 3,
        "edit": lambda: "Tag every release" in str(after),
        "retire": lambda: [entry.id for entry in after] == [second],
        "vote": lambda: [entry.id for entry in after] == [second, first],
    }
    assert ids.get(change, lambda: [entry.id for entry in after] == [first])()


def test_what_expires_meanwhile_is_not_shown(learn: Learn, project: Path) -> None:
    soon = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 1))
    learn("Use the old door", "git", freshness={"expires_at": soon})
    injector = LearningsContextInjector(project, LearningsCache(300, Clock()))
    end = time.monotonic() + 20
    while injector.learnings_for("engineer") and time.monotonic() < end:
        continue
    assert list(injector.learnings_for("engineer")) == []


def test_nothing_sensitive_is_kept(learn: Learn, project: Path) -> None:
    token = "ghp_" + "k3J9sLw0QxZ7vB2nM5tR8yU1iO4pA6dF0gHq"
    created = learn("Look before you leap", "git")
    file = project / f".orbit/learnings/{created}/learning.yaml"
    text = file.read_text("utf-8").replace(
        "Look before", f"Give {token} from /home/ada/keys before"
    )
    file.write_text(text, "utf-8")
    injector = LearningsContextInjector(project)
    result = injector.learnings_for("engineer")
    indexes = [index for _, _, index in injector.cache._entries.values()]
    cached = repr(
        [
            row.values
            for index in indexes
            for number in range(index.records)
            if (row := index.row(number))
        ]
    )
    for printed in (str(result), cached):
        assert token not in printed
        assert "/home/ada" not in printed
    assert created in cached


TEMPLATE = (
    "You are {{ role }}.\n{% if learnings %}\n{{ learnings }}\n{% endif %}{{ learnings | length }}"
)


@pytest.fixture
def engine() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.DictLoader({"engineer.j2": TEMPLATE}), undefined=jinja2.StrictUndefined
    )


def test_learnings_land_in_a_jinja_template(
    learn: Learn, project: Path, engine: jinja2.Environment
) -> None:
    created = learn("Sign each commit", "git")
    renderer = AgentRenderer(
        engine, LearningsContextInjector(project), context={"role": "an engineer"}
    )
    text = renderer.render_agent("engineer")
    assert text.startswith("You are an engineer.\n\n<project-notes>\n")
    assert f"- [{created}] Sign each commit" in text.splitlines()
    assert text.endswith("</project-notes>\n1")


def test_the_caller_s_context_wins(learn: Learn, project: Path, engine: jinja2.Environment) -> None:
    """What it gives stands in the place of what would be injected,
    which then does not count as shown.
    """
    learn("Sign each commit", "git")
    renderer = AgentRenderer(
        engine, LearningsContextInjector(project), context={"role": "an engineer"}
    )
    assert (
        renderer.render_agent("engineer", {"learnings": "mine", "role": "X"})
        == "You are X.\n\nmine\n4"
    )
    assert renderer.render_agent("engineer", inject_learnings=False) == "You are an engineer.\n0"
    assert not (project / ".orbit/state/log/events.jsonl").exists()


def test_a_plain_function_is_a_template_too(learn: Learn, project: Path) -> None:
    created = learn("Sign each commit", "git")

    def template(name: str, context: dict[str, Any]) -> str:
        return f"{name}: {', '.join(entry.id for entry in context['learnings'])}; {sorted(context)}"

    renderer = AgentRenderer(template, LearningsContextInjector(project))
    assert (
        renderer.render_agent("engineer", {"more": 1})
        == f"engineer: {created}; ['learnings', 'more']"
    )


def test_the_names_of_the_contract_are_there(project: Path) -> None:
    registry = AgentRegistry(lambda name, _: name, LearningsContextInjector(project))
    assert registry.render_agent(agent_name="engineer", inject_learnings=False) == "engineer"
    assert LearningsCache(ttl_seconds=7).ttl == 7


def test_no_template_engine_is_needed() -> None:
    program = "import sys; sys.modules['jinja2'] = None; import orbit_registry.injection"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
