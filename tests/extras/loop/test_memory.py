"""Memory and progress of capture."""

import contextlib
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

from tests.bench.synthetic import make_session

MOST_MB, NOISE_MB = 200, 12
PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
"""Started by itself: what a process is said to have held at most begins with what its parent held
when it forked.
"""


def read(root: Path, megabytes: int) -> tuple[float, str]:
    """Capture a session of so many megabytes; return the most memory it took,
    and what a terminal showed meanwhile.
    """
    make_session(root, megabytes)
    command = [
        sys.executable,
        "-m",
        "orbit_registry.doors.cli.main",
        "capture",
        "--from",
        "claude",
        "t.jsonl",
        "--dry-run",
    ]
    # Where CI runs, no bar is drawn.
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    watched, terminal = os.openpty()
    chunks: list[bytes] = []

    def drain() -> None:
        with contextlib.suppress(OSError):  # Linux says so when the terminal is closed
            while chunk := os.read(watched, 65_536):
                chunks.append(chunk)

    reader = threading.Thread(target=drain)
    reader.start()
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", PEAK, *command],
            cwd=root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=terminal,
            check=True,
        )
    finally:
        os.close(terminal)
        reader.join()
        os.close(watched)
    return int(done.stdout) / 1024, b"".join(chunks).decode()


def test_memory_is_constant_and_progress_is_shown(tmp_path: Path) -> None:
    few, _ = read(tmp_path / "few", 2)
    many, displayed = read(tmp_path / "many", 24)
    assert many < few + NOISE_MB < MOST_MB
    counted = [int(done) for done in re.findall(r"MB read.* (\d+)/24\b", displayed)]
    assert counted
    assert counted == sorted(counted)
