"""The learnings of an agent in a program's templates: which, how many, from which memory, how soon a change shows."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jinja2
import pytest

from orbit_registry.cli.main import run
from orbit_registry.injection import AgentRegistry, AgentRenderer, LearningsCache, LearningsContextInjector
from orbit_registry.push.caps import tokens
from orbit_registry.registry import Registry

Learn = Callable[..., str]


@pytest.fixture
def project(git_repo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a workspace that one stands in."""
    Registry.init(git_repo)
    monkeypatch.chdir(git_repo)
    return git_repo


@pytest.fixture
def learn(project: Path) -> Learn:
    """Return what adds a learning of a category that is in force, and returns its id."""

    def add(summary: str, category: str | None = None, **more: object) -> str:
        stated = {} if category is None else {"category": category}
        return Registry.open(project).add("learning", {"summary": summary, **stated, **more}).id

    return add


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Opened:
    """How many files of records were opened, and how many indexes, since it was last asked."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.on = False
        sys.addaudithook(self.watch)

    def watch(self, event: str, details: tuple[object, ...]) -> None:
        if self.on and event == "open" and ".orbit/" in str(details[0]) and "/log/" not in str(details[0]):
            self.paths.append(str(details[0]))


@pytest.fixture(scope="module")
def watcher() -> Opened:
    """Return the one hook of this file: none can be taken away again."""
    return Opened()


@pytest.fixture
def opened(watcher: Opened) -> Iterator[Opened]:
    """Return what counts opened files, from here on."""
    watcher.on, watcher.paths = True, []
    yield watcher
    watcher.on = False


def last_event(root: Path) -> dict[str, Any]:
    """Return the newest line of the event log."""
    return dict(json.loads((root / ".orbit/state/log/events.jsonl").read_text("utf-8").splitlines()[-1]))


# ---------------------------------------------------------------------------------------------------------- the cache


def test_an_entry_as_old_as_its_time_is_expired() -> None:
    """A moment before it is there; absent is None."""
    clock = Clock()
    cache: LearningsCache[list[str]] = LearningsCache(300, clock)
    assert cache.get("git") is None
    cache.set("git", ["a"])
    clock.now += 299.999
    assert cache.get("git") == ["a"]
    clock.now += 0.001
    assert cache.get("git") is None


def test_a_time_of_nothing_keeps_nothing() -> None:
    """0 switches it off."""
    cache: LearningsCache[str] = LearningsCache(ttl_seconds=0, clock=Clock())
    cache.set("git", "a")
    assert cache.get("git") is None


def test_another_content_is_another_entry() -> None:
    """What was read of something else is not there any more, and neither after it was cleared."""
    cache: LearningsCache[str] = LearningsCache(clock=Clock())
    cache.set("git", "a", "one")
    assert cache.get("git", "two") is None
    assert cache.get("git", "one") is None
    cache.set("git", "a")
    cache.clear()
    assert (cache.get("git"), cache.ttl_seconds) == (None, 300)


# -------------------------------------------------------------------------------------------------------- what is given


def test_an_agent_gets_its_categories(learn: Learn, project: Path) -> None:
    """The engineer nothing of security, the tester nothing of architecture, both what has no category."""
    made = {name: learn(f"About {name} alone", name) for name in ("git", "security", "architecture", "testing")}
    general = learn("Ask before you guess")
    injector = LearningsContextInjector(project)
    assert injector.get_categories_for_agent("engineer") == ("azure-devops", "git", "pytest", "general")
    assert {one.id for one in injector.learnings_for("engineer")} == {made["git"], general}
    assert {one.id for one in injector.learnings_for("tester")} == {made["testing"], general}
    assert {one.id for one in injector.fetch_learnings(["security"])} == {made["security"]}
    assert {one.category for one in injector.fetch_learnings(["security", "general"])} == {"security", "general"}


def test_an_unknown_agent_gets_general_and_the_log_a_warning(
    learn: Learn, project: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It is no error, and the event has it too."""
    general = learn("Ask before you guess")
    learn("Sign each commit", "git")
    with caplog.at_level(logging.WARNING):
        found = LearningsContextInjector(project).learnings_for("zeppelin-pilot")
    assert [one.id for one in found] == [general]
    assert "zeppelin-pilot" in caplog.text
    event = last_event(project)
    assert event["surface"] == "inject"
    assert (event["agent"], event["categories"]) == ("zeppelin-pilot", ["general"])
    assert event["notes"]


def test_without_a_name_nothing_is_narrowed(learn: Learn, project: Path) -> None:
    """Every category that a record has is asked for."""
    made = {learn("Sign each commit", "git"), learn("Rotate the keys", "keys"), learn("Ask before you guess")}
    injector = LearningsContextInjector(Registry.open(project))
    assert injector.get_categories_for_agent("") == ("git", "keys", "general")
    assert {one.id for one in injector.learnings_for("")} == made


def test_records_for_other_agents_make_room_for_the_next(learn: Learn, project: Path) -> None:
    """What is kept of a category is kept for all agents; who may see it is asked each time."""
    plain = [learn(f"Count the {word}", "testing") for word in ("cups", "hats", "maps", "keys", "bells")]
    for word in ("ropes", "lamps"):
        learn(f"Hang the {word}", "testing", scope={"agents": ["judge"]}, priority=200)
    injector = LearningsContextInjector(project)
    assert {one.id for one in injector.learnings_for("tester")} == set(plain)
    assert len(injector.learnings_for("judge")) == 5
    assert {one.id for one in injector.learnings_for("judge")} != set(plain)


def test_forty_long_learnings_fit_and_the_rest_is_counted(learn: Learn, project: Path) -> None:
    """At most 1,000 tokens, whole records alone, five of a category; the block says how many are omitted."""
    names = ("azure-devops", "git", "pytest", "general")
    letters = "abcdefghijklmnopqrstuvwxyz"
    for number in range(40):
        words = " ".join(letters[(number * 7 + step * 3) % 26] * (4 + step % 5) + str(number) for step in range(24))
        learn(words[:270], names[number % 4])
    found = LearningsContextInjector(project).learnings_for("engineer")
    assert tokens(str(found)) <= 1000
    assert 0 < len(found) < 20
    assert f"omitted: {40 - len(found)}" in str(found).splitlines()
    assert found.omitted == 40 - len(found)
    texts = {record.id: record.title for record in Registry.open(project).records}
    assert [one.id for one in found if f"- [{one.id}] {texts[one.id]}" not in str(found).splitlines()] == []


def test_a_session_is_not_told_twice(learn: Learn, project: Path) -> None:
    """Without one, every call is the first."""
    learn("Ask before you guess")
    injector = LearningsContextInjector(project)
    assert (len(injector.learnings_for("judge", session="s")), len(injector.learnings_for("judge", session="s"))) == (
        1,
        0,
    )
    assert len(injector.learnings_for("judge")) == 1
    assert run(["brief", "--agent", "judge", "--session", "s", "--format", "json"]) == 0


# ---------------------------------------------------------------------------------------------------------- the memory


def test_two_renders_read_the_store_once(learn: Learn, project: Path, opened: Opened) -> None:
    """Within the time no file is opened for the second, nor for another agent with the same categories; then again."""
    learn("Sign each commit", "git")
    clock = Clock()
    injector = LearningsContextInjector(project, LearningsCache(300, clock))
    first = injector.learnings_for("engineer")
    assert opened.paths
    opened.paths.clear()
    clock.now += 299
    assert injector.learnings_for("engineer") == first
    assert injector.fetch_learnings(["git", "general"])
    assert opened.paths == []
    clock.now += 1
    assert injector.learnings_for("engineer") == first
    assert opened.paths


def test_the_configuration_says_how_long(learn: Learn, project: Path, opened: Opened) -> None:
    """0 reads each time."""
    learn("Sign each commit", "git")
    with (project / ".orbit/config.yaml").open("a", encoding="utf-8") as file:
        file.write("\nlearnings_config: {cache_ttl_seconds: 0}\n")
    injector = LearningsContextInjector(project)
    injector.learnings_for("engineer")
    opened.paths.clear()
    injector.learnings_for("engineer")
    assert opened.paths


@pytest.mark.parametrize("change", ["add", "edit", "retire", "vote", "remove", "in place"])
def test_a_change_is_seen_within_the_time(learn: Learn, project: Path, change: str) -> None:
    """Whatever a command or an editor does to a record, the next render shows, though the clock stands still."""
    first, second = learn("Sign each commit", "git", priority=1), learn("Tag each release", "git")
    injector = LearningsContextInjector(project, LearningsCache(300, Clock()))
    before = injector.learnings_for("engineer")
    assert [one.id for one in before] == [first, second]
    file = project / f".orbit/learnings/{second}/learning.yaml"
    if change == "add":
        assert run(["learning", "add", "--summary", "Push no secrets", "--category", "git", "--yes"]) == 0
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
        "retire": lambda: [one.id for one in after] == [second],
        "vote": lambda: [one.id for one in after] == [second, first],
    }
    assert ids.get(change, lambda: [one.id for one in after] == [first])()


def test_what_may_be_out_of_date_is_pointed_at(learn: Learn, project: Path) -> None:
    """The memory keeps what the index knows of it: the record says it as the block does."""
    made = learn("Keep the old door", "git", scope={"paths": ["gone/**"]})
    found = LearningsContextInjector(project).learnings_for("engineer")
    assert [one.text for one in found] == [
        f"- [{made}] may be out of date (anchor): .orbit/learnings/{made}/learning.yaml"
    ]
    assert found[0].text in str(found).splitlines()


def test_another_mapping_is_seen_too(learn: Learn, project: Path) -> None:
    """A program need not be started again for it."""
    made = learn("Rotate the keys", "keys")
    injector = LearningsContextInjector(project)
    assert list(injector.learnings_for("engineer")) == []
    with (project / ".orbit/config.yaml").open("a", encoding="utf-8") as file:
        file.write("\nlearnings_config: {agent_category_mapping: {engineer: [keys]}}\n")
    assert [one.id for one in injector.learnings_for("engineer")] == [made]


def test_what_expires_meanwhile_is_not_shown(learn: Learn, project: Path) -> None:
    """What is kept is judged by the time of each call."""
    soon = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 1))
    learn("Use the old door", "git", freshness={"expires_at": soon})
    injector = LearningsContextInjector(project, LearningsCache(300, Clock()))
    end = time.monotonic() + 20
    while injector.learnings_for("engineer") and time.monotonic() < end:
        continue
    assert list(injector.learnings_for("engineer")) == []


def test_nothing_sensitive_is_kept(learn: Learn, project: Path) -> None:
    """A token and a home stand neither in the memory nor in the block."""
    token = "ghp_" + "k3J9sLw0QxZ7vB2nM5tR8yU1iO4pA6dF0gHq"
    made = learn("Look before you leap", "git")
    file = project / f".orbit/learnings/{made}/learning.yaml"
    text = file.read_text("utf-8").replace("Look before", f"Give {token} from /home/ada/keys before")
    file.write_text(text, "utf-8")
    injector = LearningsContextInjector(project)
    found = injector.learnings_for("engineer")
    kept = repr(
        [vars(cache_entry) if hasattr(cache_entry, "__dict__") else cache_entry for cache_entry in held(injector)]
    )
    for said in (str(found), kept):
        assert token not in said
        assert "/home/ada" not in said
    assert made in kept


def held(injector: LearningsContextInjector) -> list[list[str]]:
    """Return every value of every row that is kept."""
    answers = (injector.cache.get(name, stamp) for name, (_, stamp, _) in dict(injector.cache._entries).items())
    return [row.values for answer in answers if answer is not None for row in answer.rows.values()]


def test_a_thousand_learnings_cost_little(project: Path) -> None:
    """A render from memory takes less than 0.1 s of this process at 1,000 records, and shows no more for it."""
    text = (
        "schema_version: 1\nid: L-{id}\nuid: a{uid:031x}\nstatus: active\nsummary: Number {id} is known as {uid}\n"
        "category: {category}\ncreated_at: 2026-05-01T09:00:00Z\nupdated_at: 2026-05-01T09:00:00Z\n"
    )
    names = ("git", "general", "testing", "pytest")
    for number in range(1000):
        folder = project / f".orbit/learnings/L-{number:04d}"
        folder.mkdir(parents=True)
        content = text.format(id=f"{number:04d}", uid=number + 1, category=names[number % 4])
        (folder / "learning.yaml").write_text(content, "utf-8")
    injector = LearningsContextInjector(project)
    first = injector.learnings_for("engineer")
    assert (len(first), first.omitted) == (15, 735)
    begun = time.process_time()
    again = [injector.learnings_for("engineer") for _ in range(5)]
    assert (time.process_time() - begun) / 5 < 0.5
    assert again == [first] * 5


# -------------------------------------------------------------------------------------------------------- the templates


TEMPLATE = "You are {{ role }}.\n{% if learnings %}\n{{ learnings }}\n{% endif %}{{ learnings | length }}"


@pytest.fixture
def engine() -> jinja2.Environment:
    """Return Jinja with the template of one agent."""
    return jinja2.Environment(loader=jinja2.DictLoader({"engineer.j2": TEMPLATE}), undefined=jinja2.StrictUndefined)


def test_learnings_land_in_a_jinja_template(learn: Learn, project: Path, engine: jinja2.Environment) -> None:
    """The variable prints as the block and counts as a list."""
    made = learn("Sign each commit", "git")
    text = AgentRenderer(engine, LearningsContextInjector(project), context={"role": "an engineer"}).render_agent(
        "engineer"
    )
    assert text.startswith("You are an engineer.\n\n<project-notes>\n")
    assert f"- [{made}] Sign each commit" in text.splitlines()
    assert text.endswith("</project-notes>\n1")


def test_the_caller_s_context_wins(learn: Learn, project: Path, engine: jinja2.Environment) -> None:
    """What it gives stands in the place of what would be injected, which then does not count as shown."""
    learn("Sign each commit", "git")
    renderer = AgentRenderer(engine, LearningsContextInjector(project), context={"role": "an engineer"})
    assert renderer.render_agent("engineer", {"learnings": "mine", "role": "X"}) == "You are X.\n\nmine\n4"
    assert not (project / ".orbit/state/log/events.jsonl").exists()


def test_nothing_is_injected_where_nobody_wants_it(learn: Learn, project: Path, engine: jinja2.Environment) -> None:
    """The block is empty, and the variable is there."""
    learn("Sign each commit", "git")
    renderer = AgentRenderer(engine, LearningsContextInjector(project), context={"role": "X"})
    assert renderer.render_agent("engineer", inject_learnings=False) == "You are X.\n0"


def test_a_plain_function_is_a_template_too(learn: Learn, project: Path) -> None:
    """It gets the agent's name and the whole context."""
    made = learn("Sign each commit", "git")

    def template(name: str, context: dict[str, Any]) -> str:
        return f"{name}: {', '.join(one.id for one in context['learnings'])}; {sorted(context)}"

    renderer = AgentRenderer(template, LearningsContextInjector(project))
    assert renderer.render_agent("engineer", {"more": 1}) == f"engineer: {made}; ['learnings', 'more']"


def test_the_names_of_the_contract_are_there(project: Path) -> None:
    """A registry of agents renders by `agent_name`, and a cache says its `ttl`."""
    registry = AgentRegistry(lambda name, _: name, LearningsContextInjector(project))
    assert registry.render_agent(agent_name="engineer", inject_learnings=False) == "engineer"
    assert LearningsCache(ttl_seconds=7).ttl == 7


def test_no_template_engine_is_needed() -> None:
    """The module can be imported where none is."""
    program = "import sys; sys.modules['jinja2'] = None; import orbit_registry.injection"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
