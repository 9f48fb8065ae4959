"""Prints what a call of the hook costs as a process, in times of an interpreter that does nothing.

The payload is an agent's; the hook reads it as JSON, asks the index, keeps the session's ledger,
writes the reply and the event. Both are run in turn, without site or environment, and percentiles
of their CPU times are compared; run beside `hook_rows`. The argument is the percentile.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

TIMES = 200
LAUNCH = Path(__file__).resolve().parents[3] / "tooling/orbit_registry/hook/launch.py"


def cpu(arguments: list[str], payload: str) -> float:
    """Return the CPU seconds of a child that gets a file as its standard input."""
    bare = [sys.executable, "-I", "-S", "-E", *arguments]
    files = [
        (os.POSIX_SPAWN_OPEN, 0, payload, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
    ]
    child = os.posix_spawn(
        sys.executable, bare, {"ORBIT_HOOK_DEADLINE_MS": "60000"}, file_actions=files
    )
    _, status, used = os.wait4(child, 0)
    if status:
        sys.exit(f"exit {status}")
    return used.ru_utime + used.ru_stime


share = int(sys.argv[1]) / 100
here = Path.cwd()
paths = json.loads((here / "paths.json").read_text("utf-8"))
costs: tuple[list[float], list[float]] = ([], [])
with tempfile.TemporaryDirectory() as folder:
    payload = Path(folder) / "payload.json"
    for number in range(TIMES + 1):
        edit = {
            "file_path": str(here / paths[number % len(paths)]),
            "old_string": "a" * 500,
            "new_string": "b" * 500,
        }
        call = {
            "hook_event_name": "PreToolUse",
            "session_id": f"s{os.getpid()}-{number}",
            "cwd": str(here),
        }
        payload.write_text(json.dumps({**call, "tool_name": "Edit", "tool_input": edit}), "utf-8")
        ours, floor = cpu([str(LAUNCH), "claude"], str(payload)), cpu(["-c", "pass"], str(payload))
        if number:  # the first writes the cached modules
            costs[0].append(ours)
            costs[1].append(floor)
events = (here / ".orbit/state/log/events.jsonl").read_text("utf-8").splitlines()[-TIMES:]
if not any(json.loads(line)["count"] for line in events):
    sys.exit("the hook showed nothing")
ours, floor = (sorted(values)[min(TIMES - 1, int(TIMES * share))] for values in costs)
print(ours / sorted(costs[1])[TIMES // 2] if share > 0.9 else ours / floor)
