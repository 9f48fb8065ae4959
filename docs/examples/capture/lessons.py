"""Ask an agent's command line what a session taught: `capture.command:
[python3, …/lessons.py, claude]`, or `codex`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

COMMANDS = {
    "claude": ["claude", "-p", "--tools", "", "--no-session-persistence"],
    "codex": ["codex", "exec", "--ephemeral", "--skip-git-repo-check", "--sandbox", "read-only"],
}


def main() -> int:
    """Pass the session on with the prompt, and print the JSON object of the answer."""
    prompt = Path(__file__).with_name("prompt.md").read_text("utf-8")
    with (
        tempfile.TemporaryDirectory() as folder
    ):  # the agent sees no project, and runs none of its hooks
        done = subprocess.run(
            [*COMMANDS[sys.argv[1]], prompt],
            input=sys.stdin.read(),
            cwd=folder,
            capture_output=True,
            text=True,
            env={**os.environ, "ORBIT_PROGRAMS": "off"},
        )
    answer = re.search(r"\{.*\}", done.stdout, re.DOTALL)  # a model may put it into a fence
    if done.returncode or answer is None:
        sys.stderr.write(done.stderr[-500:] or "no JSON in the answer")
        return 1
    sys.stdout.write(json.dumps(json.loads(answer[0])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
