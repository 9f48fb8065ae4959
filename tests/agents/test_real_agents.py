"""What real agents do with our hook: each is started as a person starts it,
and its model says what reached it.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.agents.model import Model, Tool, listening

from orbit_registry.agents.agent import Scope, load_agent

ORBIT = (sys.executable, "-m", "orbit_registry.doors.cli.main")
FOLDER = os.environ.get("ORBIT_AGENTS", "")
"""Where the agents' programs are: a folder `node_modules/.bin`."""
SUMMARY = "Uploads retry three times"
CHANGE = "Finish the function"
"""A prompt that shares no word with the record."""
ABOUT = "Make uploads retry"
PAGE, OVER_HTTP = (
    (Path(__file__).parents[2] / "docs/reference/mcp.md").read_text("utf-8").split("## Over HTTP")
)
ASKED = {"query": "uploads"}
PATCH = (
    "*** Begin Patch\n*** Update File: src/upload.py\n@@\n-def up(): pass\n+def up(): "
    "return 3\n*** End Patch"
)


@dataclass(frozen=True)
class Driver:
    """How one agent is started, and how its model asks it to read and to change `src/upload.py`.

    `{root}` stands for the project's folder in what its tools are called with, and in its settings.
    """

    command: Callable[[Model, str], Sequence[str]]
    environment: Callable[[Model], Mapping[str, str]]
    read: Tool
    change: Tool
    search: Sequence[Tool]
    """How its model asks our server for records: the last of these tools;
    one before it waits for the server.
    """
    settings: Mapping[str, str]
    """Files of the agent's own settings, by path from the home, that were there before our hook."""


def claude(model: Model, prompt: str) -> Sequence[str]:
    """Return the command of Claude Code without a person, who would have to allow each command."""
    allowed = ("--permission-mode", "bypassPermissions")
    return ("claude", "-p", prompt, *allowed, "--model", "claude-sonnet-4-5")


def codex(model: Model, prompt: str) -> Sequence[str]:
    """Return the command of Codex without a person, who would have to trust the hook first."""
    provider = {
        "name": "here",
        "base_url": f"{model.url}/v1",
        "wire_api": "responses",
        "env_key": "OPENAI_API_KEY",
    }
    options = [f"model_providers.here.{key}={value}" for key, value in provider.items()]
    trust = ("--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox")
    flags = [part for option in ("model_provider=here", *options) for part in ("-c", option)]
    return ("codex", "exec", *trust, "-m", "gpt-5-codex", *flags, prompt)


def gemini(model: Model, prompt: str) -> Sequence[str]:
    """Return the command of Gemini CLI without a person."""
    return ("gemini", "-m", "gemini-2.5-flash", "--approval-mode", "yolo", "-p", prompt)


def opencode(model: Model, prompt: str) -> Sequence[str]:
    """Return the command of OpenCode without a person."""
    return ("opencode", "run", prompt)


def opencode_settings(model: Model) -> str:
    provider = {"options": {"baseURL": f"{model.url}/v1", "apiKey": "none"}}
    name = "anthropic/claude-sonnet-4-5"
    allowed = {"edit": "allow", "bash": "allow"}
    return json.dumps(
        {
            "model": name,
            "small_model": name,
            "permission": allowed,
            "provider": {"anthropic": provider},
        }
    )


def copilot(model: Model, prompt: str) -> Sequence[str]:
    """Return the command of Copilot CLI without a person,
    who would have to trust the folder first.
    """
    return ("copilot", "-p", prompt, "--allow-all-tools")


DRIVERS = {
    "claude": Driver(
        claude,
        lambda model: {
            "ANTHROPIC_BASE_URL": model.url,
            "ANTHROPIC_API_KEY": "none",
            "IS_SANDBOX": "1",
            "MCP_CONNECTION_NONBLOCKING": "0",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
        ("Read", {"file_path": "src/upload.py"}),
        ("Edit", {"file_path": "src/upload.py", "old_string": "pass", "new_string": "return 3"}),
        [("mcp__orbit__search", ASKED)],
        {},
    ),
    "codex": Driver(
        codex,
        lambda _: {"OPENAI_API_KEY": "none"},
        ("exec_command", {"cmd": "cat src/upload.py"}),
        ("exec_command", {"cmd": f"apply_patch <<'EOF'\n{PATCH}\nEOF\n"}),
        [("list_mcp_resource_templates", {"server": "orbit"}), ("mcp__orbit/search", ASKED)],
        {".codex/config.toml": '[projects."{root}"]\ntrust_level = "trusted"\n'},
    ),
    "gemini": Driver(
        gemini,
        lambda model: {
            "GOOGLE_GEMINI_BASE_URL": model.url,
            "GEMINI_API_KEY": "none",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_TELEMETRY_ENABLED": "false",
        },
        ("read_file", {"file_path": "src/upload.py"}),
        (
            "replace",
            {
                "file_path": "src/upload.py",
                "old_string": "pass",
                "new_string": "return 3",
                "instruction": "x",
            },
        ),
        [("mcp_orbit_search", ASKED)],
        {
            ".gemini/settings.json": json.dumps(
                {"security": {"auth": {"selectedType": "gemini-api-key"}}}
            )
        },
    ),
    "opencode": Driver(
        opencode,
        lambda model: {
            "OPENCODE_CONFIG_CONTENT": opencode_settings(model),
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
        },
        ("read", {"filePath": "{root}/src/upload.py"}),
        (
            "edit",
            {"filePath": "{root}/src/upload.py", "oldString": "pass", "newString": "return 3"},
        ),
        [("orbit_search", ASKED)],
        {},
    ),
    "copilot": Driver(
        copilot,
        lambda model: {
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_TYPE": "anthropic",
            "COPILOT_PROVIDER_BASE_URL": model.url,
            "COPILOT_PROVIDER_API_KEY": "none",
            "COPILOT_MODEL": "claude-sonnet-4.5",
        },
        ("view", {"path": "{root}/src/upload.py"}),
        ("edit", {"path": "{root}/src/upload.py", "old_str": "pass", "new_str": "return 3"}),
        [("orbit-search", ASKED)],
        {".copilot/config.json": json.dumps({"trustedFolders": ["{root}"]})},
    ),
}


@dataclass
class Project:
    """A project with one learning on `src/upload*`, and a home of its own."""

    root: Path
    home: Path

    def environment(self, **more: str) -> dict[str, str]:
        inherited = {
            name: value for name, value in os.environ.items() if name in ("LANG", "TMPDIR")
        }
        inherited["PATH"] = os.pathsep.join(
            (str(Path(sys.executable).parent), FOLDER, os.environ.get("PATH", ""))
        )
        return {**inherited, "HOME": str(self.home), "ORBIT_HOOK_DEADLINE_MS": "60000", **more}

    def named(self, text: str) -> str:
        return text.replace("{root}", str(self.root))

    def orbit(self, *words: str) -> str:
        environment = self.environment(ORBIT_ACTOR="human")
        done = subprocess.run(
            [*ORBIT, *words],
            cwd=self.root,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def work(self, name: str, *tools: Tool, prompt: str = CHANGE) -> Model:
        """Let an agent work on what its model asks for; return the model."""
        driver = DRIVERS[name]
        with listening(
            [(tool, json.loads(self.named(json.dumps(arguments)))) for tool, arguments in tools]
        ) as model:
            program, *words = driver.command(model, prompt)
            done = subprocess.run(
                [str(Path(FOLDER) / program), *words],
                cwd=self.root,
                env=self.environment(**driver.environment(model)),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
                timeout=300,
            )
        assert done.returncode == 0, done.stderr[-2000:]
        return model

    def events(self) -> list[dict[str, Any]]:
        log = self.root / ".orbit/state/log/events.jsonl"
        lines = (
            [json.loads(line) for line in log.read_text("utf-8").splitlines()]
            if log.exists()
            else []
        )
        return [event for event in lines if str(event["surface"]).startswith("hook:")]


@pytest.fixture(params=DRIVERS)
def agent(request: pytest.FixtureRequest) -> str:
    name = str(request.param)
    if shutil.which(name, path=FOLDER or None) is None or not FOLDER:
        pytest.skip(f"needs real agents: `nox -s agents` brings {load_agent(name).title}")
    return name


@pytest.fixture
def bare(agent: str, tmp_path: Path) -> Project:
    created = Project(tmp_path / "project", tmp_path / "home")
    (created.root / "src").mkdir(parents=True)
    (created.root / "src/upload.py").write_text("def up(): pass\n", "utf-8")
    (created.root / "src/other.py").write_text("x = 1\n", "utf-8")
    for path, text in DRIVERS[agent].settings.items():
        (created.home / path).parent.mkdir(parents=True)
        (created.home / path).write_text(created.named(text), "utf-8")
    created.home.mkdir(exist_ok=True)
    for words in (
        ("init", "-q"),
        ("add", "-A"),
        ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"),
    ):
        subprocess.run(["git", *words], cwd=created.root, check=True)
    created.orbit("init", "--yes")
    created.orbit(
        "learning",
        "add",
        "--summary",
        SUMMARY,
        "--path",
        "src/upload*",
        "--evidence",
        "task:T-1",
        "--yes",
    )
    created.orbit("sync")
    return created


@pytest.fixture
def project(agent: str, bare: Project) -> Project:
    bare.orbit("hook", "install", agent)
    return bare


def registrations(page: str) -> list[tuple[str, str, str]]:
    """Return what a part of the server's page says for each installed agent:
    a command, or a file and its content.
    """
    rows = []
    for name in DRIVERS:
        table = page[page.index(" | command | or ") :]
        row = re.search(
            rf"^\| {load_agent(name).title} \| (.*) \| (.*) \| (.*) \|$", table, re.MULTILINE
        )
        assert row is not None, name
        command, file, content = (cell.strip("` ") for cell in row.groups())
        rows += [
            (name, target, text) for target, text in ((command, ""), (file, content)) if target
        ]
    return rows


def test_an_edit_shows_its_record_to_the_model_once(agent: str, project: Project) -> None:
    driver = DRIVERS[agent]
    model = project.work(agent, driver.read, driver.change)
    assert (project.root / "src/upload.py").read_text("utf-8") == "def up(): return 3\n"
    assert [text.count(SUMMARY) for text in model.told] == [0, 1, 1]
    rows = [event for event in project.events() if event["event"] == "retrieval" and event["query"]]
    assert [(len(event["hits"]), event["skip_reason"]) for event in rows] == [
        (1, None),
        (0, "already shown"),
    ]
    assert {(event["agent"], event["fault"]) for event in project.events()} == {(agent, None)}


def test_a_prompt_shows_the_record_of_its_words_once(agent: str, project: Project) -> None:
    if agent == "copilot":
        pytest.skip("Copilot CLI takes no context from a hook at a prompt")
    driver = DRIVERS[agent]
    model = project.work(agent, driver.read, driver.change, prompt=ABOUT)
    assert [text.count(SUMMARY) for text in model.told] == [1, 1, 1]


def test_another_file_shows_no_record(agent: str, project: Project) -> None:
    driver = DRIVERS[agent]
    elsewhere = json.loads(json.dumps(driver.read[1]).replace("src/upload.py", "src/other.py"))
    model = project.work(agent, (driver.read[0], elsewhere))
    assert len(model.told) == 2
    assert [
        text
        for text in model.told
        if "project-notes" in text or "project notes" in text or SUMMARY in text
    ] == []


def test_an_agent_without_the_hook_is_told_nothing(agent: str, project: Project) -> None:
    project.orbit("hook", "uninstall", agent)
    model = project.work(agent, DRIVERS[agent].read)
    assert SUMMARY not in "".join(model.told)
    assert project.events() == []


@pytest.mark.parametrize("agent", ["claude"], indirect=True)
def test_a_failed_call_shows_what_is_known_of_its_error(agent: str, project: Project) -> None:
    fact = "The mirror is down on Sundays"
    evidence = ("--evidence", "task:T-2", "--error-pattern", "Connection refused by mirror")
    project.orbit("learning", "add", "--summary", fact, "--tag", "net", *evidence, "--yes")
    project.orbit("sync")
    broken = {"command": "echo 'Connection refused by mirror' >&2; exit 3", "description": "fetch"}
    model = project.work(agent, ("Bash", broken))
    assert [text.count(fact) for text in model.told] == [0, 1]


@pytest.mark.parametrize("agent", ["claude"], indirect=True)
def test_a_troubled_session_is_asked_once_for_a_note(agent: str, project: Project) -> None:
    config = project.root / ".orbit/config.yaml"
    config.write_text(
        f"{config.read_text('utf-8')}\nloop: {{enabled: true, ask_at_stop: true}}\n", "utf-8"
    )
    project.orbit("sync")
    model = project.work(agent, ("Bash", {"command": "cat nothing/here", "description": "look"}))
    assert [text.count("orbit note") for text in model.told] == [0, 0, 1]


@pytest.mark.parametrize("agent", ["claude", "codex"], indirect=True)
def test_the_transcript_proves_what_arrived(agent: str, project: Project) -> None:
    project.work(agent, DRIVERS[agent].read)
    findings = json.loads(project.orbit("doctor", "--agent", agent, "--format", "json"))["data"][
        "findings"
    ]
    (transcript,) = [event for event in findings if event["topic"] == "transcript"]
    assert (transcript["level"], "have 1 of 1 record " in transcript["what"]) == ("ok", True), (
        transcript
    )
    captured = json.loads(
        project.orbit("capture", "--from", agent, "--dry-run", "--format", "json")
    )["data"]
    assert captured["candidates"] == []


def register(agent: str, bare: Project, target: str, content: str) -> None:
    """Register the server by a command or by a file;
    the model is offered its tools, and is told what it asks for.
    """
    if content:
        file = bare.home / target[2:] if target.startswith("~/") else bare.root / target
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{content}\n", "utf-8")
    else:
        words = shlex.split(target)
        subprocess.run(
            words, cwd=bare.root, env=bare.environment(), stdin=subprocess.DEVNULL, check=True
        )
    asks_and_is_told(agent, bare)


def asks_and_is_told(agent: str, bare: Project) -> None:
    model = bare.work(agent, *DRIVERS[agent].search)
    assert [text.count(SUMMARY) > 0 for text in model.told[-2:]] == [False, True]


@pytest.mark.parametrize(("agent", "target", "content"), registrations(PAGE), indirect=["agent"])
def test_a_server_registered_as_its_page_says_answers(
    agent: str, bare: Project, target: str, content: str
) -> None:
    register(agent, bare, target, content)


@pytest.mark.parametrize(
    ("agent", "scope"),
    [(name, scope) for name in DRIVERS for scope in load_agent(name).servers],
    indirect=["agent"],
)
def test_a_server_that_orbit_registers_answers(agent: str, bare: Project, scope: Scope) -> None:
    bare.orbit("mcp", "install", agent, "--scope", scope)
    asks_and_is_told(agent, bare)


@pytest.mark.parametrize(
    ("agent", "target", "content"), registrations(OVER_HTTP), indirect=["agent"]
)
def test_a_server_that_runs_already_answers_over_http(
    agent: str, bare: Project, target: str, content: str
) -> None:
    token = "tried-by-a-test-alone"
    serving = [*ORBIT, "mcp", "serve", "--http"]
    env = bare.environment(ORBIT_MCP_TOKEN=token)
    with subprocess.Popen(
        serving, cwd=bare.root, env=env, stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stderr is not None
            address = server.stderr.readline().split()[-1]
            for old, new in (("http://127.0.0.1:8765/mcp", address), ("TOKEN", token)):
                target, content = target.replace(old, new), content.replace(old, new)
            register(agent, bare, target, content)
        finally:
            server.terminate()
