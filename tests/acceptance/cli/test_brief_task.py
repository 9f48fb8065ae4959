"""`orbit brief` for an agent and a task: categories, task files, the project's programs, and what the event keeps."""

from __future__ import annotations

import io
import json
import os
import select
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

pytestmark = pytest.mark.usefixtures("programs_on")
SCHEMA = Draft202012Validator(json.loads((Path(__file__).parents[3] / "docs/schemas/brief.schema.json").read_text()))
Learn = Callable[..., str]


@pytest.fixture
def learn(shell: Any) -> Learn:
    """Return what adds a learning that is in force, of a category, and returns its id."""

    def add(summary: str, category: str = "general", *more: str) -> str:
        code, whole = shell.json("learning", "add", "--summary", summary, "--category", category, "--yes", *more)
        assert code == 0
        return str(whole["data"]["id"])

    return add


def briefed(shell: Any, *arguments: str) -> dict[str, Any]:
    """Return the data of a brief, which its published schema admits."""
    code, whole = shell.json("brief", *arguments)
    assert (code, whole.get("error")) == (0, None)
    assert list(SCHEMA.iter_errors(whole)) == []
    return dict(whole["data"])


def ids(data: dict[str, Any]) -> set[str]:
    """Return the ids that are shown."""
    return {one["id"] for one in data["matches"]}


def last_event(root: Path) -> dict[str, Any]:
    """Return the newest line of the event log."""
    lines = (root / ".orbit/state/log/events.jsonl").read_text("utf-8").splitlines()
    return dict(json.loads(lines[-1]))


def configure(root: Path, text: str) -> None:
    """Add settings to the configuration."""
    file = root / ".orbit/config.yaml"
    file.write_text(f"{file.read_text('utf-8')}\n{text}\n", "utf-8")


def program(root: Path, name: str, source: str) -> str:
    """Write a Python program of the project's and return it as a list of words in YAML."""
    (root / name).write_text(source, "utf-8")
    return f"[{json.dumps(sys.executable)}, {json.dumps(str(root / name))}]"


def fed(monkeypatch: pytest.MonkeyPatch, content: str) -> None:
    """Put a text on standard input."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode()), "utf-8"))


# ---------------------------------------------------------------------------------------------------------- categories


def test_each_agent_gets_its_own_categories_and_all_get_general(shell: Any, learn: Learn) -> None:
    """An engineer gets nothing of security, a tester nothing of architecture, and both what is for everybody."""
    made = {
        name: learn(f"About {name} alone", name) for name in ("git", "security", "architecture", "testing", "general")
    }
    engineer = briefed(shell, "--agent", "engineer")
    tester = briefed(shell, "--agent", "Tester")
    assert ids(engineer) - {shell.learning} == {made["git"], made["general"]}
    assert ids(tester) - {shell.learning} == {made["testing"], made["general"]}
    assert {"category": "git"} in next(one["matched_by"] for one in engineer["matches"] if one["id"] == made["git"])
    assert tester["agent"] == {"name": "tester", "known": True, "categories": ["pytest", "testing", "general"]}


def test_an_unknown_agent_gets_general_with_a_warning(shell: Any, learn: Learn) -> None:
    """It is no error: the warning stands beside the text, in the JSON and in the event."""
    special, general = learn("Sign each commit", "git"), learn("Ask before you guess")
    code, out, err = shell("brief", "--agent", "zeppelin-pilot")
    assert (code, general in out, special in out) == (0, True, False)
    assert "zeppelin-pilot" in err.splitlines()[0]
    assert briefed(shell, "--agent", "zeppelin-pilot")["agent"]["known"] is False
    event = last_event(shell.root)
    assert (event["agent"], event["categories"]) == ("zeppelin-pilot", ["general"])
    assert "zeppelin-pilot" in event["notes"][0]


# --------------------------------------------------------------------------------------------------------------- tasks


@pytest.mark.parametrize(
    "text",
    [
        '{"id": "T-7", "title": "Fill the zeppelins", "text": "With helium.", "context_files": ["lib/a.py"]}',
        "id: T-7\ntitle: Fill the zeppelins\ncontext_files: [lib/a.py]\ntext: |\n  With helium.\nnumber: 3\n",
    ],
)
def test_a_task_file_leads_by_its_words_and_its_files(shell: Any, learn: Learn, text: str) -> None:
    """JSON or YAML: title and text are searched for, the files are paths, the id narrows; other keys don't matter."""
    by_word, by_path = learn("Zeppelins want helium"), learn("Libraries want care", "sql", "--path", "lib/**")
    other = learn("Say it twice", "sql", "--set", "scope={tasks: [T-8], paths: ['lib/**']}")
    Path("task.yaml").write_text(text, "utf-8")
    data = briefed(shell, "--task-file", "task.yaml")
    assert {by_word, by_path} <= ids(data)
    assert {"id": other, "reason": "task"}.items() <= data["dropped"][0].items()
    assert data["task"] == {"id": "T-7", "title": "Fill the zeppelins"}
    event = last_event(shell.root)
    assert (event["task"], event["query"]) == ("T-7", ["lib/a.py"])


def test_a_task_comes_from_the_input_too(shell: Any, learn: Learn, monkeypatch: pytest.MonkeyPatch) -> None:
    """`-` reads it there, and `--text` adds words to it."""
    made = [learn("Zeppelins want helium"), learn("Submarines want ballast")]
    fed(monkeypatch, '{"title": "Fill the zeppelins"}')
    Path("words.txt").write_text("and the submarines", "utf-8")
    assert set(made) <= ids(briefed(shell, "--task-file", "-", "--text", "words.txt"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1, 2]", "this is no task"),
        ("just words", "this is no task"),
        ("{", "task.json"),
        ("id: T-1", "task.json:1"),
        ("title: [a]", "task.json:1:1"),
        ("title: a\ncontext_files: src/a.py", "task.json:2:1"),
        ("title: a\ncontext_files: [../../etc/passwd]", "does not stay inside"),
        ("title: !!python/object:os.system a", "tag"),
        ("title: a\ntext: " + "x" * 100_001, "task.json:2"),
        ("title: a\ntext: " + "x" * 1_100_000, "at most 1,000,000 bytes"),
    ],
)
def test_what_is_no_task_is_refused(shell: Any, text: str, said: str) -> None:
    """The error names the file with line and column where it can, and nothing is written."""
    Path("task.json").write_text(text, "utf-8")
    code, out, err = shell("brief", "--task-file", "task.json")
    assert (code, out) == (2, "")
    assert said in err
    assert "hint:" in err


def test_words_that_are_no_utf_8_are_refused(shell: Any) -> None:
    """Neither a task nor a text is guessed at."""
    Path("raw").write_bytes(b"title: \xff")
    assert shell("brief", "--task-file", "raw")[0] == 2
    assert shell("brief", "--text", "raw")[0] == 2


def test_the_end_of_a_long_text_is_left_out(shell: Any, learn: Learn) -> None:
    """A hundred thousand characters are read, whatever they are made of."""
    made = [learn("Zeppelins want helium"), learn("Submarines want ballast")]
    Path("long.txt").write_text("zeppelins " + "語" * 120_000 + " submarines", "utf-8")
    assert ids(briefed(shell, "--text", "long.txt")) & set(made) == {made[0]}


def test_the_project_s_program_finds_a_task(shell: Any, learn: Learn) -> None:
    """It gets the id as one word, and what it prints is the task."""
    made = learn("Zeppelins want helium")
    words = program(
        shell.root, "find.py", "import json, sys\nprint(json.dumps({'title': 'Zeppelins', 'text': sys.argv[1]}))"
    )
    configure(shell.root, f"tasks: {{command: [{words[1:-1]}, 'id={{id}}']}}")
    data = briefed(shell, "--task", "T 7; touch gone")
    assert made in ids(data)
    assert data["task"] == {"id": "T 7; touch gone", "title": "Zeppelins"}
    assert not (shell.root / "gone").exists()


def has_ended(number: int) -> bool:
    """Say whether a process ends soon, or has."""
    try:
        handle = os.pidfd_open(number)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], 10)[0])
    finally:
        os.close(handle)


@pytest.mark.parametrize(
    ("source", "code", "said"),
    [
        ("import sys; sys.exit('no such task here')", 1, "it ended with exit code 1; it printed: no such task here"),
        ("print('nothing of use')", 2, "this is no task"),
        ("print('x' * 2_000_000)", 1, "it printed more than 1,000,000 bytes"),
        ("import time\nwhile True: time.monotonic()", 1, "it took more than 0.3 s"),
        (
            "import os, time\nif os.fork() == 0:\n open('pid', 'w').write(str(os.getpid()))\n time.sleep(60)",
            1,
            "it took more than 0.3 s",
        ),
        ("import sys; sys.stdout.buffer.write(bytes([255]))", 1, "not valid UTF-8"),
    ],
)
def test_a_program_that_fails_is_an_error_that_says_what_it_printed(
    shell: Any, source: str, code: int, said: str
) -> None:
    """A wrong task, an error, too much and too long: each ends the command, and the program with it."""
    limit = "0.3" if "0.3" in said else "60"
    words = program(shell.root, "find.py", source)
    configure(shell.root, f"tasks: {{timeout_seconds: {limit}, command: [{words[1:-1]}, '{{id}}']}}")
    found, out, err = shell("brief", "--task", "T-7", "--tag", "care")
    assert (found, out) == (code, "")
    assert said in err
    assert "hint:" in err
    if (left := shell.root / "pid").exists():
        assert has_ended(int(left.read_text("utf-8")))


@pytest.mark.parametrize(
    ("settings", "task", "said"),
    [
        ("tasks: {command: [no-such-program-here, '{id}']}", "T-7", "can't be started"),
        ("tasks: {command: [echo]}", "T-7", "has no {id}"),
        ("tasks: {command: [echo, '{id}']}", "--help", "can't be given"),
        ("tasks: {command: [echo, '{id}']}", "a\nb", "can't be given"),
        ("x-none: 1", "T-7", "no `tasks.command` is configured"),
    ],
)
def test_a_task_that_can_t_be_asked_for_is_refused(shell: Any, settings: str, task: str, said: str) -> None:
    """An id that would be an option, a program that is not there or has no place for the id."""
    configure(shell.root, settings)
    code, out, err = shell("brief", f"--task={task}")
    assert (code != 0, out) == (True, "")
    assert said in err


def test_programs_can_be_switched_off(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a stranger's repository nothing of theirs is run; the class is told by our rules."""
    words = program(shell.root, "run.py", "open('ran', 'w')")
    configure(shell.root, f"tasks: {{classifier: {words}, command: [{words[1:-1]}, '{{id}}']}}")
    monkeypatch.setenv("ORBIT_PROGRAMS", "off")
    Path("t.txt").write_text("Fix the parser", "utf-8")
    assert briefed(shell, "--task", "T-7", "--text", "t.txt")["task_class"]["by"] == "rules"
    assert "ORBIT_PROGRAMS is off" in shell("brief", "--task", "T-7")[2]
    assert not (shell.root / "ran").exists()


# --------------------------------------------------------------------------------------------------------------- class


@pytest.mark.parametrize(
    ("words", "name", "shown"),
    [
        ("Fix the crash in src/app.py", "code-gen", True),
        ("Where is the crash in src/app.py? Don't change anything.", "exploration", False),
        ("What is the difference between a list and a tuple?", "qa", False),
        ("Draft the release announcement", "other", False),
        ("the app", "other", False),
    ],
)
def test_procedural_learnings_come_with_work_on_code_alone(
    shell: Any, learn: Learn, words: str, name: str, shown: bool
) -> None:
    """Decision, confidence and reasons stand in the JSON and in the event; unsure, the text is left out."""
    made = learn("Run nox, not pytest", "general", "--procedural", "--path", "src/**")
    Path("t.txt").write_text(words, "utf-8")
    data = briefed(shell, "--path", "src/app.py", "--text", "t.txt")
    assert (made in ids(data)) is shown
    assert data["task_class"]["class"] == name
    assert data["task_class"]["reasons"]
    event = last_event(shell.root)
    assert event["task_class"] == data["task_class"]


def test_a_program_may_tell_the_class(shell: Any, learn: Learn) -> None:
    """It gets the task as JSON; of its answer the event keeps all but the reasons, which may quote the task."""
    made = learn("Run nox, not pytest", "general", "--procedural", "--path", "src/**")
    source = (
        "import json, sys\ntask = json.load(sys.stdin)\n"
        "print(json.dumps({'class': 'code-gen', 'confidence': 0.9, 'reasons': sorted(task) + [task['title']]}))"
    )
    configure(shell.root, f"tasks: {{classifier: {program(shell.root, 'classify.py', source)}}}")
    Path("task.json").write_text('{"title": "Where is it?", "context_files": ["src/app.py"]}', "utf-8")
    data = briefed(shell, "--task-file", "task.json")
    assert made in ids(data)
    assert data["task_class"]["reasons"] == ["context_files", "id", "text", "title", "Where is it?"]
    event = last_event(shell.root)
    assert event["task_class"] == {**data["task_class"], "reasons": []}


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("import sys; sys.exit('a secret word')", "it ended with exit code 1"),
        ("print('code-gen')", "what it printed is no JSON"),
        ("print('[' * 100_000)", "nested too deeply"),
        ("print('[]')", "what it printed is no object"),
        ('print(\'{"class": "coding"}\')', "its `class` is none of"),
        ('print(\'{"class": "code-gen", "confidence": 2}\')', "its `confidence`"),
        ('print(\'{"class": "code-gen", "confidence": NaN}\')', "its `confidence`"),
        ('print(\'{"class": "code-gen", "reasons": [1]}\')', "its `reasons`"),
        ("import time\nwhile True: time.monotonic()", "it took more than 0.3 s"),
    ],
)
def test_a_classifier_that_fails_means_other(shell: Any, learn: Learn, source: str, fault: str) -> None:
    """The brief is made all the same; the fault is a warning and stands in the event, without what was printed."""
    made = learn("Run nox, not pytest", "general", "--procedural", "--path", "src/**")
    limit = "0.3" if "0.3" in fault else "60"
    words = program(shell.root, "classify.py", source)
    configure(shell.root, f"tasks: {{timeout_seconds: {limit}, classifier: {words}}}")
    Path("t.txt").write_text("Fix the crash in src/app.py", "utf-8")
    data = briefed(shell, "--path", "src/app.py", "--text", "t.txt")
    assert (data["task_class"]["class"], made in ids(data)) == ("other", False)
    assert fault in data["task_class"]["fault"]
    event = last_event(shell.root)
    assert fault in event["task_class"]["fault"]
    assert fault in event["notes"][0]
    assert "secret" not in json.dumps(event)


def test_an_event_keeps_no_word_of_the_task(shell: Any) -> None:
    """Neither text nor title, nor a name of code that stands in them."""
    Path("task.json").write_text(
        '{"id": "T-7", "title": "Fix tk_live_51Habc in parse_mysecret()", "text": "Rename zanzibar_token in it"}',
        "utf-8",
    )
    assert briefed(shell, "--task-file", "task.json")["task_class"]["class"] == "code-gen"
    line = json.dumps(last_event(shell.root))
    assert [word for word in ("tk_live", "mysecret", "zanzibar") if word in line] == []
    assert "asks to `fix` code" in line


def test_words_in_the_place_of_a_file_are_told_how(shell: Any) -> None:
    """Whoever gives the words themselves learns how words come in; nothing is chosen for them."""
    code, out, err = shell("brief", "--text", "UTC timestamps")
    assert (code, out) == (2, "")
    assert "'UTC timestamps'" in err
    assert "| orbit brief --text -" in err
