"""Tries the MCP server with the protocol's own judges: the inspector calls every tool, the suite
runs its scenarios.

They come from npm, into the folder given; what they need beside it is Node 20.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from orbit_registry.registry import Registry
from orbit_registry.workspace.author import Author

CASES = Path(__file__).parents[1] / "cases" / "mcp"
SERVER = [sys.executable, "-m", "orbit_registry.doors.cli.main", "mcp", "serve", "--root"]
SECONDS = 300


def data(name: str) -> Any:
    return json.loads((CASES / name).read_text("utf-8"))


def installed(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text((CASES / "package.json").read_text("utf-8"), "utf-8")
    subprocess.run(
        ["npm", "install", "--no-audit", "--no-fund", "--silent"], cwd=folder, check=True
    )
    return folder / "node_modules"


@contextmanager
def workspace() -> Iterator[tuple[Path, str]]:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve()
        subprocess.run(["git", "init", "--quiet", str(root)], check=True)
        Registry.init(root)
        fields = {
            "summary": "Uploads are retried with a fresh token",
            "scope": {"paths": ["src/**"]},
        }
        yield root, Registry.open(root).add("learning", fields, Author("Ada Example", "human")).id


def inspected(modules: Path, root: Path, method: str, *arguments: str) -> Any:
    command = [
        "node",
        str(modules / ".bin/mcp-inspector"),
        "--cli",
        *SERVER,
        str(root),
        "--method",
        method,
    ]
    done = subprocess.run(
        [*command, *arguments], capture_output=True, text=True, timeout=SECONDS, check=False
    )
    if done.returncode:
        raise SystemExit(f"{method} {arguments}: {done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def call_every_tool(modules: Path) -> list[str]:
    """Call each tool that is listed once, as the case file says, and return what went wrong."""
    wrong = []
    with workspace() as (root, live):
        existing = {"LIVE": live}
        listed = {tool["name"] for tool in inspected(modules, root, "tools/list")["tools"]}
        calls = data("calls.json")["calls"]
        wrong += [f"{name} is not called" for name in sorted(listed - {name for name, _ in calls})]
        for name, arguments in calls:
            values = {
                key: existing.get(value, value) if isinstance(value, str) else value
                for key, value in arguments.items()
            }
            pairs = [
                f"{key}={value if isinstance(value, str) else json.dumps(value)}"
                for key, value in values.items()
            ]
            flags = [word for pair in pairs for word in ("--tool-arg", pair)]
            result = inspected(modules, root, "tools/call", "--tool-name", name, *flags)
            if result.get("isError"):
                wrong.append(f"{name}: {result['content'][0]['text']}")
            if name == "add":
                existing["WAITS"] = result["structuredContent"]["data"]["id"]
            print(f"{'failed' if result.get('isError') else 'called'} {name}", flush=True)
    return wrong


def run_scenarios(modules: Path) -> int:
    """Run every server scenario, and return the suite's exit code:
    those that do not apply are expected to fail.
    """
    suite = [
        str(modules / ".bin/bun"),
        str(modules / "@modelcontextprotocol/conformance/dist/index.js"),
        "server",
    ]
    with workspace() as (root, _):
        expected = root / "expected.yaml"
        expected.write_text(
            json.dumps({"server": list(data("inapplicable.json")["scenarios"])}), "utf-8"
        )
        serve = [sys.executable, str(Path(__file__).with_name("unguarded.py")), str(root)]
        with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            try:
                address = server.stdout.readline().strip()
                arguments = [
                    "--url",
                    address,
                    "--suite",
                    "all",
                    "--expected-failures",
                    str(expected),
                ]
                return subprocess.run([*suite, *arguments], timeout=SECONDS, check=False).returncode
            finally:
                server.terminate()


def main(folder: Path) -> int:
    os.environ["ORBIT_ACTOR"] = "human"  # who starts the server does not matter
    modules = installed(folder)
    wrong = call_every_tool(modules)
    print("\n".join(wrong))
    return run_scenarios(modules) or (1 if wrong else 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
