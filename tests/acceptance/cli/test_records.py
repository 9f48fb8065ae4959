"""Records at the command line: found by any name, narrowed, fed from files and pipes, and decided by people."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def test_a_reader_that_leaves_early_is_no_error(shell: Any) -> None:
    program = [sys.executable, "-m", "orbit_registry.cli.main", "list"]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(program, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)

    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only a device that is always full refuses output")
def test_output_that_a_full_disk_refuses_is_no_bug(shell: Any) -> None:
    program = [sys.executable, "-m", "orbit_registry.cli.main"]
    for words in (["list"], ["learning", "add", "--summary", "Printed nowhere", "--yes"]):
        with Path("/dev/full").open("w", encoding="utf-8") as full:
            done = subprocess.run([*program, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert (done.returncode, "can't be written" in done.stderr, "Traceback" in done.stderr) == (1, True, False)
    assert "Printed nowhere" in shell("list")[1]
