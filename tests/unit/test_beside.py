"""A second process does one piece of work, in processes that run one command; whatever happens to it, the work is done.

The tests run in processes of their own: the one that runs the tests has threads, and may not be copied.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux alone")

HEAD = """
import json, os, pathlib, resource, signal, sys, threading
from orbit_registry import lifetime
from orbit_registry.beside import beside
first = os.getpid()
lifetime.end_as_it_is()
"""


def said(code: str) -> list[str]:
    """Return what a program prints that may use the names of `HEAD`."""
    done = subprocess.run([sys.executable, "-c", HEAD + code], capture_output=True, text=True, check=True, timeout=60)
    assert not done.stderr
    return done.stdout.splitlines()


@pytest.fixture(autouse=True)
def _two_processors() -> None:
    if len(os.sched_getaffinity(0)) == 1:
        pytest.skip("one processor: nothing is done beside anything")


def test_the_work_is_done_by_another_process() -> None:
    """What it makes comes back as JSON holds it, and what it changes does not."""
    code = """
held = []
result = beside(lambda: held.append(1) or [os.getpid(), "\\U0001f680 \\udcff", 0.1 + 0.2, None, ("a",)])
pid, *rest = result()
print(pid != first, rest == ["\\U0001f680 \\udcff", 0.1 + 0.2, None, ["a"]], held)
try: os.waitpid(-1, 0)
except ChildProcessError: print("none is left")
"""
    assert said(code) == ["True True []", "none is left"]


def test_a_result_may_be_larger_than_a_pipe_holds() -> None:
    """It is read as it comes."""
    assert said("print(sum(beside(lambda: list(range(1_000_000)))()))") == ["499999500000"]


@pytest.mark.parametrize(
    "what", ["1 / 0", "os.kill(os.getpid(), signal.SIGKILL)", "sys.exit(3)", "os.write(3, b'[')", "object()"]
)
def test_what_fails_there_is_done_here(what: str) -> None:
    """An error, a kill, an end of the process, a result that JSON does not hold: the caller does the work itself."""
    assert said(f"print(beside(lambda: 'done here' if os.getpid() == first else {what})())") == ["done here"]


def test_an_error_is_that_of_the_work() -> None:
    """As if there had been no second process."""
    code = """
try: beside(lambda: 1 / 0)()
except ZeroDivisionError as error: print(error)
"""
    assert said(code) == ["division by zero"]


@pytest.mark.parametrize(
    "before",
    [
        "lifetime._kept = None",
        "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})",
        "threading.Thread(target=threading.Event().wait, daemon=True).start()",
        "os.close(0)",
        "resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))",
    ],
    ids=["a process that serves", "one processor", "a thread", "no input", "no file more"],
)
def test_some_processes_are_not_copied(before: str) -> None:
    """The caller is told so at once, and nothing is left open."""
    assert said(f"{before}\nprint(beside(lambda: 1))\nlifetime._kept = []") == ["None"]


def test_nothing_is_left_open(tmp_path: Path) -> None:
    """Each pipe is closed by both sides, where a process could not be made too."""
    code = """
def opened(): return sorted(os.listdir("/proc/self/fd"))
before = opened()
for _ in range(3): beside(lambda: 1)()
print(opened() == before)
os.close(0)
before = opened()
beside(lambda: 1)
print(opened() == before)
"""
    assert said(code) == ["True", "True"]


def test_ends_that_nobody_hears_of_are_no_failure() -> None:
    """A parent may have started us so that the system clears up after our children."""
    code = "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\nprint(beside(os.getpid)() != first)"
    assert said(code) == ["True"]


def test_whoever_reads_our_output_waits_for_us_alone(tmp_path: Path) -> None:
    """The second process has none of our files: a reader learns of our end while it is still at work."""
    gate, done = tmp_path / "gate", tmp_path / "done"
    os.mkfifo(gate)
    os.mkfifo(done)
    code = f"""
beside(lambda: pathlib.Path({str(gate)!r}).read_text() + str(pathlib.Path({str(done)!r}).write_text("done")))
print("ended")
"""
    assert said(code) == ["ended"]  # at the end of the output, not of the work
    gate.write_text("go")
    assert done.read_text() == "done"


def test_what_it_prints_is_nobodys(tmp_path: Path) -> None:
    """Neither its own words nor ours that were not yet written."""
    code = """
print("once", end=" ")
beside(lambda: print("not seen", flush=True) or print("nor this", file=sys.stderr, flush=True))()
print("said")
"""
    assert said(code) == ["once said"]
