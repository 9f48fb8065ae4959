"""Skills and plugin for agents: pages that say which command to run when."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path

from orbit_registry.errors import RefusedError
from orbit_registry.exchange.exporters.rules import Change, current_files, differences
from orbit_registry.repository.skills import MARK, PAGE
from orbit_registry.workspace.files import DOCUMENT_LIMIT, inside, read_bytes

_TOPS = {"claude": ".claude", "codex": ".agents", "copilot": ".github", "gemini": ".gemini"}
FOLDERS: Mapping[str, str] = {agent: f"{top}/skills" for agent, top in _TOPS.items()}
"""Where each agent looks for the skills of a project."""
NAMES = ("orbit-adr", "orbit-brief", "orbit-learnings")
_SHIPPED = Path(__file__).parent / "skills"


@cache
def skill_files() -> Mapping[str, bytes]:
    """Return each skill's page by its path in a folder of skills; the mark is below the front
    matter.
    """
    pages = {}
    for name in NAMES:
        head, end, text = (_SHIPPED / name / PAGE).read_text("utf-8").partition("\n---\n")
        pages[f"{name}/{PAGE}"] = f"{head}{end}\n{MARK}{text}".encode()
    return pages


def skill_changes(root: Path, agent: str) -> list[Change]:
    """Return the changes that put the skills of a project where an agent looks for them."""
    expected: dict[str, bytes | None] = {
        f"{FOLDERS[agent]}/{path}": page for path, page in skill_files().items()
    }
    current = current_files(root, expected)
    for path, content in current.items():
        if content and MARK.encode() not in content:
            raise RefusedError(
                f"{path} is not our skill", hint="move it away, then run the command again"
            )

    return differences(current, expected)


NAME = "orbit"
PROGRAM = "orbit-registry"  # what the plugin calls: another `orbit` may be on the `PATH`
SAID = "What this project has decided and learned, in front of the agent at the moment it acts."
MANIFEST, LAUNCHER = ".claude-plugin/plugin.json", "hooks/hook.sh"
TIMEOUT = 5  # seconds that an agent waits for a hook at most; the hook gives up much sooner


def plugin_files(events: Mapping[str, str], launcher: str) -> dict[str, bytes]:
    """Return the plugin's files.

    `events` are those of the hook with their matchers, `launcher` is its shell script.
    """
    number = version("orbit-registry")
    manifest = {"name": NAME, "version": number, "description": SAID, "license": "MIT"}
    market = {
        "name": NAME,
        "owner": {"name": "Orbit maintainers"},
        "plugins": [{"name": NAME, "source": "./"}],
    }

    command = f'sh "${{CLAUDE_PLUGIN_ROOT}}/{LAUNCHER}" claude 2>/dev/null || :'
    handler = {"type": "command", "command": command, "timeout": TIMEOUT}
    hooks: dict[str, object] = {}
    for event, matcher in events.items():
        group = {"matcher": matcher} if matcher else {}
        hooks[event] = [{**group, "hooks": [handler]}]

    server = {"command": PROGRAM, "args": ["mcp", "serve"]}

    return {
        MANIFEST: _json(manifest),
        ".claude-plugin/marketplace.json": _json(market),
        ".mcp.json": _json({"mcpServers": {NAME: server}}),
        "hooks/hooks.json": _json({"description": SAID, "hooks": hooks}),
        LAUNCHER: launcher.encode(),
        **{f"skills/{path}": page for path, page in skill_files().items()},
    }


def plugin_changes(folder: Path, expected: Mapping[str, bytes]) -> list[Change]:
    """Return the changes that make a folder the plugin; other files in it stay."""
    if folder.is_dir():
        is_usable = not any(folder.iterdir()) or _is_ours(folder)
    else:
        is_usable = not folder.exists()

    if not is_usable:
        raise RefusedError(
            f"{folder} holds something else", hint="name a new folder, or one with our plugin"
        )

    return differences(current_files(folder, expected), expected)


def _is_ours(folder: Path) -> bool:
    file = inside(folder, MANIFEST)
    if not file.exists():
        return False

    try:
        manifest = json.loads(read_bytes(file, limit=DOCUMENT_LIMIT))
    except ValueError:
        return False

    return isinstance(manifest, dict) and manifest.get("name") == NAME


def _json(data: object) -> bytes:
    return f"{json.dumps(data, indent=2)}\n".encode()
