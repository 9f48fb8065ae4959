"""Shared project with an agent's hook, and transcripts made call by call."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from tests.files import commit, write

from orbit_registry.doors.cli.main import run
from orbit_registry.hook import client
from orbit_registry.registry import Registry
from orbit_registry.snapshot.sync import sync

SCHEMA = Draft202012Validator(
    json.loads((Path(__file__).parents[3] / "docs/schemas/capture.schema.json").read_text("utf-8"))
)
Git = Callable[..., str]
CASES = Path(__file__).parents[2] / "cases/transcripts"
RECORDED = "/home/ada/project"
SESSION = "5b0c1f1e-6a0e-4c55-9a38-0d4d6f7b2a11"
FILES = {
    "src/shop/cart.py": "def total(prices):\n    return sum(prices)\n",
    "src/shop/tax.py": "class TaxRate:\n    pass\n",
    "tests/test_cart.py": "from shop.cart import total\n",
    "pyproject.toml": (
        '[project]\nname = "shop"\n\n[tool.pytest.ini_options]\ntestpaths = ["tests"]\n'
    ),
    "noxfile.py": 'import nox\n\n\n@nox.session\ndef tests(session):\n    session.run("pytest")\n',
    "package.json": '{"scripts": {"test:unit": "mocha", "build": "tsc"}}\n',
    "web/cart.ts": "export const a = 1\n",
}
HOOK = [sys.executable, "-I", "-S", "-E", str(Path(client.__file__).with_name("launch.py"))]


class Project:
    """A workspace with a few files, `orbit` and the hook of an agent in it."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self.capsys = capsys

    def orbit(self, *arguments: str, code: int = 0) -> str:
        self.capsys.readouterr()
        ended = run(["-C", str(self.root), *arguments])
        printed = self.capsys.readouterr()
        assert ended == code, printed.err
        return printed.out if code == 0 else printed.err

    def json(self, *arguments: str) -> Any:
        return json.loads(self.orbit(*arguments, "--format", "json"))["data"]

    def recorded(self, name: str) -> Path:
        """Return a recorded transcript, as if it had been recorded here."""
        file = self.root.parent / name
        file.write_text(
            (CASES / name).read_text("utf-8").replace(RECORDED, str(self.root)), "utf-8"
        )
        return file

    def transcript(self, rows: Iterable[dict[str, Any]], name: str = "made.jsonl") -> Path:
        file = self.root.parent / name
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        return file

    def capture(self, path: Path, agent: str = "claude", *more: str) -> Any:
        envelope = json.loads(
            self.orbit("capture", "--from", agent, str(path), *more, "--format", "json")
        )
        assert list(SCHEMA.iter_errors(envelope)) == []
        return envelope["data"]

    def hook(self, event: str, session: str, agent: str = "claude", **fields: object) -> str:
        """Return the text that an agent is shown for an event of its session; empty for none."""
        sync(Registry.open(self.root).workspace)
        payload = {"cwd": str(self.root), "session_id": session, "hook_event_name": event, **fields}
        environment = {
            **os.environ,
            "ORBIT_HOOK_DEADLINE_MS": "60000",
            "CLAUDE_PROJECT_DIR": str(self.root),
        }
        done = subprocess.run(
            [*HOOK, agent],
            input=json.dumps(payload).encode(),
            capture_output=True,
            cwd=self.root,
            env=environment,
            check=True,
            timeout=60,
        )
        message = json.loads(done.stdout) if done.stdout else {}
        return str(message.get("hookSpecificOutput", {}).get("additionalContext", ""))

    def learnings(self) -> list[dict[str, Any]]:
        result: list[dict[str, Any]] = self.json("learning", "list", "--all")
        return result


@pytest.fixture(scope="session")
def _shop(_first_commit: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make one workspace with a few files, for `project` to copy."""
    root = Path(shutil.copytree(_first_commit, tmp_path_factory.mktemp("shop") / "repo"))
    for name, text in FILES.items():
        write(root, name, text)
    Registry.init(root)
    commit(root, "Shop")
    return root


@pytest.fixture
def project(
    _shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Project:
    root = Path(shutil.copytree(_shop, tmp_path / "repo"))
    monkeypatch.chdir(root)
    return Project(root, capsys)


class Talk:
    """Makes the rows of a session of Claude Code, call by call."""

    def __init__(self, root: Path, session: str = SESSION) -> None:
        self.rows: list[dict[str, Any]] = []
        self._root, self._session = str(root), session

    def _row(self, kind: str, content: object) -> None:
        number = len(self.rows)
        self.rows.append(
            {
                "type": kind,
                "uuid": str(number),
                "parentUuid": str(number - 1) if number else None,
                "cwd": self._root,
                "sessionId": self._session,
                "isSidechain": False,
                "message": {"role": kind, "content": content},
            }
        )

    def ask(self, text: str) -> Talk:
        self._row("user", text)
        return self

    def call(
        self, tool: str, stdin_text: dict[str, Any], answer: str = "", failed: bool = False
    ) -> Talk:
        name = f"toolu_{len(self.rows)}"
        self._row(
            "assistant", [{"type": "tool_use", "id": name, "name": tool, "input": stdin_text}]
        )
        self._row(
            "user",
            [{"type": "tool_result", "tool_use_id": name, "content": answer, "is_error": failed}],
        )
        return self

    def bash(self, command: str, answer: str = "", failed: bool = False) -> Talk:
        return self.call("Bash", {"command": command}, answer, failed)

    def edit(self, path: str) -> Talk:
        return self.call(
            "Edit",
            {"file_path": f"{self._root}/{path}", "old_string": "a", "new_string": "b"},
            "updated",
        )


def stumble(root: Path, session: str = SESSION) -> Talk:
    talk = Talk(root, session).ask("Round the prices.")
    talk.bash(
        "pytest tests/test_cart.py", "E   ModuleNotFoundError: No module named 'shop'", failed=True
    )
    return talk.bash("nox -s tests -- tests/test_cart.py", "1 passed in 0.02s")
