"""Measures the project and an earlier commit of itself, in turns; writes no page.

`python -m tests.bench compare REF --only NAME`: a machine that is busy, or slower than yesterday,
slows both alike, so that the ratio holds where seconds do not.
"""

import argparse
import contextlib
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.bench.bench import ROOT, SIZES, Repositories, figure_of, run
from tests.bench.measurements import MEASUREMENTS, Measurement

ROUNDS = 5
"""Fewer say little on a machine that others use."""


@contextlib.contextmanager
def checked_out(ref: str) -> Iterator[Path]:
    """Check a commit out into a folder next to the work tree, and remove it at the end.

    Raises:
        RuntimeError: there is no such commit.
    """
    with tempfile.TemporaryDirectory(prefix="orbit-compare-") as folder:
        tree = Path(folder) / "tree"
        done = subprocess.run(
            ["git", "worktree", "add", "--detach", str(tree), ref],
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(f"git can't check out {ref}: {done.stderr.strip()[-300:]}")
        try:
            yield tree
        finally:
            subprocess.run(
                ["git", "worktree", "remove", "--force", str(tree)], cwd=ROOT, capture_output=True
            )


def pair(
    measurement: Measurement, size: int, repositories: Repositories, trees: Sequence[Path]
) -> list[list[float]]:
    """Return what each tree's code costs in a repository of its own, a value a round, in turns.

    Which goes first changes with the round; one round that is not counted goes before.
    """
    source = repositories.get(measurement, size)
    values: list[list[float]] = [[] for _ in trees]
    with tempfile.TemporaryDirectory(prefix="orbit-compare-") as folder:
        roots = []
        for index in range(len(trees)):
            roots.append(Path(folder) / str(index) / source.name)
            shutil.copytree(source, roots[-1], symlinks=True)
        for turn in range(1 + max(ROUNDS, measurement.repeats)):
            for index in (0, 1) if turn % 2 else (1, 0):
                root = roots[index]
                if measurement.prepare is not None and (turn or measurement.cold):
                    measurement.prepare(root, size)
                cost = run(
                    measurement.command(root, size),
                    root,
                    measurement.codes,
                    PYTHONPATH=str(trees[index] / "tooling"),
                )
                if turn:
                    values[index].append(figure_of(measurement, cost))
    return values


def compare(ref: str, measurements: Sequence[Measurement], sizes: Sequence[int]) -> None:
    """Measure this work tree and a commit, and print each line of a table as it is known."""
    with checked_out(ref) as tree, tempfile.TemporaryDirectory(prefix="orbit-bench-") as folder:
        print(
            f"| what | records | {ref} | here | medians | minimums |\n|---|---|---|---|---|---|",
            flush=True,
        )
        repositories = Repositories(Path(folder))
        for measurement in measurements:
            for size in measurement.sizes or sizes:
                old, new = pair(measurement, size, repositories, (tree, ROOT))
                median = statistics.median(new) / statistics.median(old)
                print(
                    f"| {measurement.name} | {size:,} | {min(old):.3g} to {max(old):.3g} "
                    f"| {min(new):.3g} to {max(new):.3g} | {median:.2f} | "
                    f"{min(new) / min(old):.2f} |",
                    flush=True,
                )


def main(arguments: Sequence[str]) -> int:
    """Measure and print; 2 where there is no such commit or measurement."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench compare", description=__doc__)
    parser.add_argument("ref", help="the earlier commit: HEAD~5, v0.1.0, main")
    parser.add_argument(
        "--sizes", type=lambda text: tuple(map(int, text.split(","))), default=SIZES
    )
    parser.add_argument("--only", default="", help="measure only what has this in its name")
    options = parser.parse_args(arguments)
    measurements = [entry for entry in MEASUREMENTS if options.only in entry.name]
    try:
        if not measurements:
            raise RuntimeError(f"no measurement has {options.only!r} in its name")
        compare(options.ref, measurements, options.sizes)
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 2
    return 0
