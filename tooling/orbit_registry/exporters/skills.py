"""The skills that come with the package: short pages that tell an agent which of our commands to run when."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from orbit_registry.errors import RefusedError
from orbit_registry.exporters.placing import Change, compared
from orbit_registry.store.files import DOCUMENT_LIMIT, inside, read_bytes
from orbit_registry.store.skills import MARK, PAGE

FOLDERS: Mapping[str, str] = {
    "claude": ".claude/skills",
    "codex": ".agents/skills",
    "copilot": ".github/skills",
    "gemini": ".gemini/skills",
}
"""Where each agent looks for the skills of a project."""
NAMES = ("orbit-adr", "orbit-brief", "orbit-learnings")
_SHIPPED = Path(__file__).parent / "skills"


@cache
def skill_files() -> Mapping[str, bytes]:
    """Return each skill's page, by its path below a folder of skills; the mark stands below the front matter."""
    found = {}
    for name in NAMES:
        head, end, text = (_SHIPPED / name / PAGE).read_text("utf-8").partition("\n---\n")
        found[f"{name}/{PAGE}"] = f"{head}{end}\n{MARK}{text}".encode()
    return found


def skill_changes(root: Path, agent: str) -> list[Change]:
    """Return what is to change so that a project has the skills where an agent looks for them.

    Raises:
        RefusedError: somebody else's skill has the name of one of ours.
        UnsafePathError: a folder on the way is a link.
    """
    wanted: dict[str, bytes | None] = {f"{FOLDERS[agent]}/{path}": page for path, page in skill_files().items()}
    held: dict[str, bytes | None] = {}
    for path in wanted:
        file = inside(root, path)
        held[path] = read_bytes(file, limit=DOCUMENT_LIMIT) if file.exists() else None
        if MARK.encode() not in (held[path] or MARK.encode()):
            raise RefusedError(f"{path} is not a skill of ours", hint="move it away, then run the command again")
    return compared(held, wanted)
