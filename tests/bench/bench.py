"""Measures what `measurements` lists in child processes, and hands the figures to `report`;
it judges nothing.
"""

import argparse
import contextlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bench.measurements import MEASUREMENTS, RATIOS, Measurement, Ratio
from tests.bench.report import RECALL, Figure, Outcome, machine, render

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/explanation/benchmarks.md"
SIZES = (1000, 3000, 10_000)
ONCE = 100_000
"""Records from which on a figure is that of one run: `--sizes 100000`."""


@dataclass(frozen=True)
class Run:
    """What one child process cost: CPU and wall seconds, peak memory in megabytes,
    and what it printed.
    """

    cpu: float
    wall: float
    memory: float
    printed: str


def read_all(folder: Path) -> None:
    """Read every file below a folder, so that no run pays for the disk: some machines drop what
    nobody has read for a few seconds, and to read 10,000 small files again is a tenth of a check of
    them.
    """
    for parent, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError), open(os.path.join(parent, name), "rb") as file:  # noqa: PTH118, PTH123
                while file.read(1 << 20):
                    pass


def run(
    command: Sequence[str], folder: Path, codes: tuple[int, ...] = (0,), **variables: str
) -> Run:
    """Run a command, with further variables in its environment, and return its cost, its children's
    included.

    Raises:
        RuntimeError: it ended with another code; the message holds the end of what it said.
    """
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ORBIT_", "PYTHONDONT"))
    }
    environment |= {"NO_COLOR": "1", **variables}
    read_all(folder)
    with tempfile.TemporaryFile() as out:
        began = time.perf_counter()
        child = subprocess.Popen(
            command,
            cwd=folder,
            stdout=out,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env=environment,
        )
        _, status, used = os.wait4(child.pid, 0)
        wall = time.perf_counter() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read().decode("utf-8", "replace")
    if child.returncode not in codes:
        raise RuntimeError(f"{' '.join(command[-4:])}: exit {child.returncode}: {text[-800:]}")
    return Run(used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024, text)


class Repositories:
    """Made-up repositories, each made once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: dict[tuple[str, int], Path] = {}

    def get(self, measurement: Measurement, size: int) -> Path:
        """Return the repository a measurement runs in."""
        key = (measurement.make.__name__, size)
        if key not in self._made:
            self._made[key] = self._folder / f"{key[0]}-{size}"
            measurement.make(self._made[key], size)
        return self._made[key]


def figure_of(measurement: Measurement, cost: Run) -> float:
    """Return the figure of one run: its CPU seconds, or the number that it printed."""
    return float(cost.printed.split()[-1]) if measurement.printed else cost.cpu


def measure(measurement: Measurement, sizes: Sequence[int], repositories: Repositories) -> Outcome:
    """Return the median figure at each size; one warm-up run goes before what is not cold."""
    figures = []
    for size in sizes:
        root = repositories.get(measurement, size)
        command = measurement.command(root, size)
        if not measurement.cold:
            run(command, root, measurement.codes)
        runs = []
        for _ in range(1 if size >= ONCE else measurement.repeats):
            if measurement.prepare is not None:
                measurement.prepare(root, size)
            runs.append(run(command, root, measurement.codes))
        values = [figure_of(measurement, entry) for entry in runs]
        figures.append(
            Figure(
                size,
                statistics.median(values),
                min(values),
                max(values),
                max(entry.memory for entry in runs),
            )
        )
        print(f"{measurement.name} at {size}: {figures[-1].median:.4g}", flush=True)
    return Outcome(
        measurement.name,
        measurement.words,
        measurement.printed or "s",
        measurement.targets,
        measurement.growth,
        tuple(figures),
    )


def compare(ratio: Ratio, repositories: Repositories) -> tuple[str, str, float, float | str]:
    """Return name, words and target of a ratio, and the ratio, or why there is none."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    if shutil.which(ratio.program, path=path) is None:
        return ratio.name, ratio.words, ratio.target, f"{ratio.program} is not installed here"
    root = repositories.get(MEASUREMENTS[0], ratio.size)
    first, *arguments = ratio.peer(root, ratio.size)
    peer = [shutil.which(first, path=path) or first, *arguments]
    pairs = []
    for _ in range(ratio.rounds):
        pair = []
        for command, codes in ((ratio.ours(root, ratio.size), (0, 1)), (peer, (0,))):
            if ratio.prepare is not None:
                ratio.prepare(root, ratio.size)
            cost = run(command, root, codes)
            pair.append(cost.wall if ratio.on_clock else cost.cpu)
        pairs.append((pair[0], pair[1]))
    print(
        f"{ratio.name}: {', '.join(f'{theirs:.3g} s / {ours:.3g} s' for ours, theirs in pairs)}",
        flush=True,
    )
    return (
        ratio.name,
        ratio.words,
        ratio.target,
        statistics.median(theirs / ours for ours, theirs in pairs),
    )


def main() -> int:
    """Measure, and write the page, unless asked only to print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument(
        "--sizes", type=lambda text: tuple(map(int, text.split(","))), default=SIZES
    )
    parser.add_argument("--only", help="measure only what has this in its name")
    parser.add_argument("--print", action="store_true", help="print the page instead of writing it")
    arguments = parser.parse_args()
    measurements = [
        entry for entry in MEASUREMENTS if arguments.only is None or arguments.only in entry.name
    ]
    failures: list[str] = []
    outcomes: list[Outcome] = []
    before = os.getloadavg()
    with tempfile.TemporaryDirectory(prefix="orbit-bench-") as folder:
        repositories = Repositories(Path(folder))
        for measurement in measurements:
            try:
                outcomes.append(
                    measure(measurement, measurement.sizes or arguments.sizes, repositories)
                )
            except (RuntimeError, ValueError, subprocess.CalledProcessError) as error:
                failures.append(f"{measurement.name}: {error}")
                print(failures[-1], file=sys.stderr)
        ratios = [
            entry for entry in RATIOS if arguments.only is None or arguments.only in entry.name
        ]
        compared = [compare(ratio, repositories) for ratio in ratios]
    page = render(
        outcomes,
        compared,
        machine(before, os.getloadavg()),
        [entry.partition(":")[0] for entry in failures],
    )
    if arguments.print or arguments.only:
        print(page)
    else:
        _, title, recall = PAGE.read_text("utf-8").partition(f"\n{RECALL}\n")
        PAGE.write_text(page + title + recall, encoding="utf-8")
        print(f"wrote {PAGE.relative_to(ROOT)}")
    return 1 if failures else 0
