"""`orbit brief` for an agent and a task."""

import json
import os
import select
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from tests.files import events

pytestmark = pytest.mark.usefixtures("programs_on")
SCHEMA = Draft202012Validator(json.loads((Path(__file__).parents[3] / "docs/schemas/brief.schema.json").read_text()))
Learn = Callable[..., str]


@pytest.fixture
def learn(shell: Any) -> Learn:
    """Return what adds a live learning of a category, and returns its id."""

    def add(summary: str, category: str = "general", *more: str) -> str:
        return str(shell.learn(summary, "--category", category, "--yes", *more))

    return add


def briefed(shell: Any, *arguments: str) -> dict[str, Any]:
    code, envelope = shell.json("brief", *arguments)
    assert (code, envelope.get("error")) == (0, None)
    assert list(SCHEMA.iter_errors(envelope)) == []
    return dict(envelope["data"])


def ids(data: dict[str, Any]) -> set[str]:
    return {entry["id"] for entry in data["matches"]}


def configure(root: Path, text: str) -> None:
    file = root / ".orbit/config.yaml"
    file.write_text(f"{file.read_text('utf-8')}\n{text}\n", "utf-8")


def program(root: Path, name: str, source: str) -> str:
    """Write a Python program of the project's and return it as a list of words in YAML."""
    (root / name).write_text(source, "utf-8")
    return f"[{json.dumps(sys.executable)}, {json.dumps(str(root / name))}]"


def test_each_agent_gets_its_categories(shell: Any, learn: Learn) -> None:
    names = ("git", "security", "architecture", "testing", "general")
    created = {name: learn(f"About {name} alone", name) for name in names}
    engineer, tester = briefed(shell, "--agent", "engineer"), briefed(shell, "--agent", "Tester")
    assert ids(engineer) - {shell.learning} == {created["git"], created["general"]}
    assert ids(tester) - {shell.learning} == {created["testing"], created["general"]}
    assert {"category": "git"} in {entry["id"]: entry["matched_by"] for entry in engineer["matches"]}[created["git"]]
    assert tester["agent"] == {"name": "tester", "known": True, "categories": ["pytest", "testing", "general"]}


def test_an_unknown_agent_gets_general_with_a_warning(shell: Any, learn: Learn) -> None:
    special, general = learn("Sign each commit", "git"), learn("Ask before you guess")
    code, out, err = shell("brief", "--agent", "zeppelin-pilot")
    assert (code, general in out, special in out) == (0, True, False)
    assert "zeppelin-pilot" in err.splitlines()[0]
    assert briefed(shell, "--agent", "zeppelin-pilot")["agent"]["known"] is False
    event = events(shell.root)[-1]
    assert (event["agent"], event["categories"]) == ("zeppelin-pilot", ["general"])
    assert "zeppelin-pilot" in event["notes"][0]


@pytest.mark.parametrize(
    "text",
    [
        '{"id": "T-7", "title": "Fill the zeppelins", "text": "With helium.", "context_files": ["lib/a.py"]}',
        "id: T-7\ntitle: Fill the zeppelins\ncontext_files: [lib/a.py]\ntext: |\n  With helium.\nnumber: 3\n",
    ],
)
def test_a_task_file_selects_by_words_and_files(shell: Any, learn: Learn, text: str) -> None:
    by_word, by_path = learn("Zeppelins want helium"), learn("Libraries want care", "sql", "--path", "lib/**")
    other = learn("Say it twice", "sql", "--set", "scope={tasks: [T-8], paths: ['lib/**']}")
    Path("task.yaml").write_text(text, "utf-8")
    data = briefed(shell, "--task-file", "task.yaml")
    assert {by_word, by_path} <= ids(data)
    assert {"id": other, "reason": "task"}.items() <= data["dropped"][0].items()
    assert data["task"] == {"id": "T-7", "title": "Fill the zeppelins"}
    event = events(shell.root)[-1]
    assert (event["task"], event["query"]) == ("T-7", ["lib/a.py"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("just words", "this is not a task"),
        ("id: T-1", "task.json:1"),
        ("title: a\ncontext_files: src/a.py", "task.json:2:1"),
        ("title: a\ncontext_files: [../../etc/passwd]", "does not stay inside"),
        ("title: !!python/object:os.system a", "tag"),
        ("title: a\ntext: " + "x" * 100_001, "task.json:2"),
        ("title: a\ntext: " + "x" * 1_100_000, "at most 1,000,000 bytes"),
    ],
)
def test_an_invalid_task_is_refused(shell: Any, text: str, message: str) -> None:
    Path("task.json").write_text(text, "utf-8")
    code, out, err = shell("brief", "--task-file", "task.json")
    assert (code, out) == (2, "")
    assert message in err
    assert "hint:" in err


def test_a_program_finds_a_task(shell: Any, learn: Learn) -> None:
    created = learn("Zeppelins want helium")
    source = "import json, sys\nprint(json.dumps({'title': 'Zeppelins want helium', 'text': sys.argv[1]}))"
    words = program(shell.root, "find.py", source)
    configure(shell.root, f"tasks: {{command: [{words[1:-1]}, 'id={{id}}']}}")
    data = briefed(shell, "--task", "T 7; touch gone")
    assert created in ids(data)
    assert data["task"] == {"id": "T 7; touch gone", "title": "Zeppelins want helium"}
    assert not (shell.root / "gone").exists()


def has_ended(number: int) -> bool:
    try:
        handle = os.pidfd_open(number)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], 10)[0])
    finally:
        os.close(handle)


@pytest.mark.parametrize(
    ("source", "code", "message"),
    [
        ("import sys; sys.exit('no such task here')", 1, "it ended with exit code 1; it printed: no such task here"),
        ("print('nothing of use')", 2, "this is not a task"),
        ("print('x' * 2_000_000)", 1, "it printed more than 1,000,000 bytes"),
        ("import time\nwhile True: time.monotonic()", 1, "it took more than 0.3 s"),
        ("import os, time\nif os.fork() == 0:\n open('pid', 'w').write(str(os.getpid()))\n time.sleep(60)", 1,
         "it took more than 0.3 s"),
        ("import sys; sys.stdout.buffer.write(bytes([255]))", 1, "not valid UTF-8"),
    ],
)  # fmt: skip
def test_a_failing_program_is_an_error(shell: Any, source: str, code: int, message: str) -> None:
    limit = "0.3" if "0.3" in message else "60"
    words = program(shell.root, "find.py", source)
    configure(shell.root, f"tasks: {{timeout_seconds: {limit}, command: [{words[1:-1]}, '{{id}}']}}")
    result, out, err = shell("brief", "--task", "T-7", "--tag", "care")
    assert (result, out) == (code, "")
    assert message in err
    assert "hint:" in err
    if (remaining := shell.root / "pid").exists():
        assert has_ended(int(remaining.read_text("utf-8")))


@pytest.mark.parametrize(
    ("settings", "task", "message"),
    [
        ("tasks: {command: [no-such-program-here, '{id}']}", "T-7", "can't be started"),
        ("tasks: {command: [echo]}", "T-7", "has no {id}"),
        ("tasks: {command: [echo, '{id}']}", "--help", "can't be given"),
        ("tasks: {command: [echo, '{id}']}", "a\nb", "can't be given"),
        ("x-none: 1", "T-7", "no `tasks.command` is configured"),
    ],
)
def test_an_unusable_program_or_id_is_refused(shell: Any, settings: str, task: str, message: str) -> None:
    configure(shell.root, settings)
    code, out, err = shell("brief", f"--task={task}")
    assert (code != 0, out) == (True, "")
    assert message in err


@pytest.mark.parametrize(
    ("words", "name", "due"),
    [
        ("Fix the crash in src/app.py", "code-gen", True),
        ("Where is the crash in src/app.py? Don't change anything.", "exploration", False),
        ("the app", "other", False),
    ],
)
def test_procedural_learnings_need_work_on_code(shell: Any, learn: Learn, words: str, name: str, due: bool) -> None:
    created = learn("Run nox, not pytest", "general", "--procedural", "--path", "src/**")
    Path("t.txt").write_text(words, "utf-8")
    data = briefed(shell, "--path", "src/app.py", "--text", "t.txt")
    assert (created in ids(data)) is due
    assert data["task_class"]["class"] == name
    assert data["task_class"]["reasons"]
    event = events(shell.root)[-1]
    assert event["task_class"] == data["task_class"]


def test_a_program_may_classify_the_task(shell: Any, learn: Learn) -> None:
    created = learn("Run nox, not pytest", "general", "--procedural", "--path", "src/**")
    source = (
        "import json, sys\ntask = json.load(sys.stdin)\n"
        "print(json.dumps({'class': 'code-gen', 'confidence': 0.9, 'reasons': sorted(task) + [task['title']]}))"
    )
    configure(shell.root, f"tasks: {{classifier: {program(shell.root, 'classify.py', source)}}}")
    Path("task.json").write_text('{"title": "Where is it?", "context_files": ["src/app.py"]}', "utf-8")
    data = briefed(shell, "--task-file", "task.json")
    assert created in ids(data)
    assert data["task_class"]["reasons"] == ["context_files", "id", "text", "title", "Where is it?"]
    event = events(shell.root)[-1]
    assert event["task_class"] == {**data["task_class"], "reasons": []}


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("import sys; sys.exit('a secret word')", "it ended with exit code 1"),
        ("print('code-gen')", "what it printed is not JSON"),
        ("print('[' * 100_000)", "nested too deeply"),
        ('print(\'{"class": "coding"}\')', "its `class` is none of"),
        ('print(\'{"class": "code-gen", "confidence": NaN}\')', "its `confidence`"),
        ("import time\nwhile True: time.monotonic()", "it took more than 0.3 s"),
    ],
)
def test_a_failing_classifier_means_other(shell: Any, learn: Learn, source: str, fault: str) -> None:
    created = learn("Run nox, not pytest", "general", "--procedural", "--path", "src/**")
    limit = "0.3" if "0.3" in fault else "60"
    words = program(shell.root, "classify.py", source)
    configure(shell.root, f"tasks: {{timeout_seconds: {limit}, classifier: {words}}}")
    Path("t.txt").write_text("Fix the crash in src/app.py", "utf-8")
    data = briefed(shell, "--path", "src/app.py", "--text", "t.txt")
    assert (data["task_class"]["class"], created in ids(data)) == ("other", False)
    assert fault in data["task_class"]["fault"]
    event = events(shell.root)[-1]
    assert fault in event["task_class"]["fault"]
    assert fault in event["notes"][0]
    assert "secret" not in json.dumps(event)


def test_the_event_has_no_word_of_the_task(shell: Any) -> None:
    task = {"id": "T-7", "title": "Fix tk_live_51Habc in parse_mysecret()", "text": "Rename zanzibar_token in it"}
    Path("task.json").write_text(json.dumps(task), "utf-8")
    assert briefed(shell, "--task-file", "task.json")["task_class"]["class"] == "code-gen"
    line = json.dumps(events(shell.root)[-1])
    assert [word for word in ("tk_live", "mysecret", "zanzibar") if word in line] == []
    assert "asks to `fix` code" in line


@pytest.mark.parametrize("arguments", [[], ["--path", "../out"], ["--text", "missing.txt"]])
def test_a_brief_about_nothing_is_refused(shell: Any, arguments: list[str]) -> None:
    assert shell("brief", *arguments)[0] == 2
