"""What tests of the hook say and read: an edit of one file, and the ids that a reply shows."""

from pathlib import Path
from typing import Any


def ids_in(text: str) -> list[str]:
    return [
        line.split("]")[0].removeprefix("- [")
        for line in text.splitlines()
        if line.startswith("- [")
    ]


def ids(reply: dict[str, Any]) -> list[str]:
    return ids_in(reply.get("hookSpecificOutput", {}).get("additionalContext", ""))


def edit(root: Path) -> dict[str, object]:
    """Return the fields of an edit of `src/a.py`."""
    return {"tool_name": "Edit", "tool_input": {"file_path": f"{root}/src/a.py"}}
