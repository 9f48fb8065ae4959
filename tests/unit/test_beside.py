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
from orbit_registry.beside import beside, is_wanted
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
    """Each pipe is closed by both sides, where one of our own streams is closed too."""
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


def test_a_result_is_told_once() -> None:
    """Whoever asks again does the work, and touches no file that may be another's by now."""
    code = """
result = beside(lambda: os.getpid() == first)
print(result(), result(), result())
"""
    assert said(code) == ["False True True"]


def test_a_refused_copy_leaves_nothing_open() -> None:
    """Where no further process is allowed the caller is told so."""
    code = """
def opened(): return sorted(os.listdir("/proc/self/fd"))
before = opened()
if os.getuid() == 0: os.setuid(65534)  # the superuser may always have another
resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
print(beside(lambda: 1), opened() == before)
"""
    assert said(code) == ["None True"]


def test_a_work_that_nobody_asked_for_ends_with_us(tmp_path: Path) -> None:
    """What it would do later it does not; neither does a work that only a killed process wanted."""
    begun, gate, done = tmp_path / "begun", tmp_path / "gate", tmp_path / "done"
    os.mkfifo(begun)
    os.mkfifo(gate)
    os.mkfifo(done)
    work = f"""
def work():
    pathlib.Path({str(begun)!r}).write_text(str(os.getpid()))
    pathlib.Path({str(gate)!r}).read_text()
    pathlib.Path({str(done)!r}).write_text(str(is_wanted()))
    return None
print(is_wanted())
result = beside(work)
copy = int(pathlib.Path({str(begun)!r}).read_text())
"""
    [wanted, copy] = said(f"{work}print(copy)")
    assert wanted == "True"
    assert not Path("/proc", copy).exists()

    code = f"{HEAD}{work}os.kill(first, signal.SIGKILL)"
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, timeout=60)
    gate.write_text("go")
    assert done.read_text() == "False"


def test_a_work_is_wanted_while_we_are_there() -> None:
    """In the copy as in the process that it was made of."""
    assert said("print(beside(is_wanted)(), is_wanted())") == ["True True"]


def test_whoever_reads_our_output_waits_for_us_alone() -> None:
    """The second process has none of our files, so that a reader learns of our end where nobody ends it."""
    code = """
reading, writing = os.pipe()
beside(lambda: os.read(reading, 1))
print("ended", flush=True)
os.kill(first, signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", HEAD + code], capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == "ended\n"


def test_what_it_prints_is_nobodys(tmp_path: Path) -> None:
    """Neither its own words nor ours that were not yet written."""
    code = """
print("once", end=" ")
beside(lambda: print("not seen", flush=True) or print("nor this", file=sys.stderr, flush=True))()
print("said")
"""
    assert said(code) == ["once said"]
