"""Files as an editor leaves them: texts, configurations and records below a root,
and commits of all there is.
"""

import json
import subprocess
from pathlib import Path
from typing import Any

CONFIG = "format: orbit-registry\nschema_version: 1\n"
WHEN = "2026-01-01T00:00:00Z"


def write(root: Path, path: str, text: str = "") -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8", newline="")
    return file


def make_workspace(root: Path, settings: str = "") -> Path:
    write(root, ".orbit/config.yaml", CONFIG + settings)
    write(root, ".gitignore", ".orbit/state/\n")
    return root


def write_record(root: Path, path: str, /, **fields: object) -> Path:
    """Write a record, whose id is the name of its folder: JSON is YAML."""
    name = path.split("/")[-2]
    uid = f"{int.from_bytes(name.encode(), 'big'):032x}"[-32:]
    data = {
        "schema_version": 1,
        "id": name,
        "uid": uid,
        "created_at": WHEN,
        "updated_at": WHEN,
        **fields,
    }
    lines = (f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in data.items())
    return write(root, path, "".join(lines))


def write_learning(root: Path, code: str | int, *, pending: bool = False, **fields: object) -> Path:
    """Write a learning for `src/**` that holds, or waits in the inbox;
    a number is a code of five digits.
    """
    folder, status = (".orbit/state/inbox", "candidate") if pending else (".orbit", "active")
    name = code if isinstance(code, str) else f"{code:05d}"
    data = {
        "status": status,
        "summary": f"Learning {name}",
        "scope": {"paths": ["src/**"]},
        **fields,
    }
    return write_record(root, f"{folder}/learnings/L-{name}/learning.yaml", **data)


def commit(folder: Path, message: str = "Change") -> None:
    for words in (("add", "-A"), ("commit", "-q", "--allow-empty", "-m", message)):
        subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


def events(root: Path, *names: str) -> list[dict[str, Any]]:
    """Return the rows of the event log, those of some names where any are given."""
    log = root / ".orbit/state/log/events.jsonl"
    rows = (
        [json.loads(line) for line in log.read_text("utf-8").splitlines() if line]
        if log.exists()
        else []
    )
    return [row for row in rows if not names or row["event"] in names]


def configure(root: Path, settings: str) -> None:
    with (root / ".orbit/config.yaml").open("a", encoding="utf-8") as file:
        file.write(settings)
