"""Turns figures into the page `docs/explanation/benchmarks.md`: targets, growth, the machine;
measures nothing.
"""

import math
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

LIBRARIES = (
    "orbit-registry",
    "duckdb",
    "jsonschema-rs",
    "ryaml",
    "markdown-it-py",
    "mkdocs-material",
    "check-jsonschema",
)


RECALL = "## Recall"
"""The part of the page that the benchmark of recall writes, and the others keep,
with what follows it.
"""
SITES = "## Compared with other site generators"
"""The part that the benchmark of sites writes, below that of recall."""


@dataclass(frozen=True)
class Figure:
    """What was measured at one size: the median of several runs, the least, the most,
    and the peak memory in MB.
    """

    size: int
    median: float
    least: float
    most: float
    memory: float


@dataclass(frozen=True)
class Outcome:
    """The figures of one measurement."""

    name: str
    words: str
    unit: str
    targets: Mapping[int, float]
    growth: float | None
    figures: tuple[Figure, ...]


def slope(figures: Sequence[Figure]) -> float | None:
    """Return the least-squares slope of log(cost) over log(size); None for fewer than two sizes."""
    points = [(math.log(figure.size), math.log(max(figure.median, 1e-9))) for figure in figures]
    if len({x for x, _ in points}) < 2:
        return None
    mean_x = math.fsum(x for x, _ in points) / len(points)
    mean_y = math.fsum(y for _, y in points) / len(points)
    return math.fsum((x - mean_x) * (y - mean_y) for x, y in points) / math.fsum(
        (x - mean_x) ** 2 for x, _ in points
    )


def machine(
    before: tuple[float, float, float], after: tuple[float, float, float]
) -> list[tuple[str, str]]:
    """Describe what the figures were taken on."""
    return [
        ("date", f"{datetime.now(UTC):%Y-%m-%d}"),
        ("processor", f"{_processor()}, {os.cpu_count()} logical"),
        ("memory", f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.1f} GiB"),
        ("system", f"{platform.system()} {platform.release()}"),
        ("Python", f"{platform.python_implementation()} {platform.python_version()}"),
        (
            "libraries",
            ", ".join(f"{name} {version}" for name in LIBRARIES if (version := _version(name))),
        ),
        ("load average", f"{before[0]:.1f} before, {after[0]:.1f} after"),
    ]


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text("utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def render(
    outcomes: Sequence[Outcome],
    ratios: Sequence[tuple[str, str, float, float | str]],
    described: Sequence[tuple[str, str]],
    failures: Sequence[str],
) -> str:
    """Return the page."""
    lines = [
        "# Benchmarks",
        "",
        (
            "`python3 -m nox -s bench` writes this page down to Recall. Other benches write Recall "
            "and the part"
        ),
        (
            "on other site generators. The sections after those are written by hand, and no bench "
            "changes them."
        ),
        (
            "Costs are CPU seconds of a whole process, with its start and its children: the median "
            "of the runs,"
        ),
        (
            "before each of which all files are read. The repositories are made up "
            "(`tests/bench/synthetic.py`):"
        ),
        (
            "records of about 1.3 kB, three globs each, one in ten a decision with a document, one "
            "in five with"
        ),
        (
            "votes. Machines differ and are never quite idle: ratios and growth are similar on "
            "other machines,"
        ),
        "seconds are not.",
        "",
        "## Machine",
        "",
        "| | |",
        "|---|---|",
        *(f"| {name} | {value} |" for name, value in described),
        "",
        "## Costs",
        "",
        "| what | records | target | figure | met | least to most | peak memory |",
        "|---|---|---|---|---|---|---|",
    ]
    for outcome in outcomes:
        lines += [_row(outcome, figure) for figure in outcome.figures]
    grown = [
        (outcome, growth) for outcome in outcomes if (growth := slope(outcome.figures)) is not None
    ]
    if grown:
        lines += ["", "## Growth", "", "The slope of log(cost) over log(records): 1 is linear.", ""]
        lines += ["| what | target | slope | met |", "|---|---|---|---|"]
        for outcome, growth in grown:
            target = "" if outcome.growth is None else f"≤ {outcome.growth:g}"
            lines.append(
                f"| {outcome.name} | {target} | {growth:.2f} | {_met(growth, outcome.growth)} |"
            )
    if ratios:
        lines += [
            "",
            "## Compared with other tools",
            "",
            "| what | target | figure | met |",
            "|---|---|---|---|",
        ]
        for name, words, target, factor in ratios:
            if isinstance(factor, str):
                lines.append(
                    f"| {name}: {words} | ≥ {target:g} × less | not measured: {factor} | |"
                )
            else:
                met = "yes" if factor >= target else "**no**"
                lines.append(f"| {name}: {words} | ≥ {target:g} × less | {factor:.1f} × | {met} |")
    lines += [
        "",
        "## What was measured",
        "",
        *(f"- **{outcome.name}**: {outcome.words}" for outcome in outcomes),
    ]
    if failures:
        lines += ["", f"Not measured, because the command failed: {', '.join(failures)}."]
    return "\n".join(lines) + "\n"


def _row(outcome: Outcome, figure: Figure) -> str:
    target = outcome.targets.get(figure.size)
    limit = "" if target is None else f"≤ {target:g} {outcome.unit}"
    return (
        f"| {outcome.name} | {figure.size:,} | {limit} | {_number(figure.median)} {outcome.unit} | "
        f"{_met(figure.median, target)} | {_number(figure.least)} to {_number(figure.most)} | "
        f"{figure.memory:.0f} MB |"
    )


def _met(value: float, target: float | None) -> str:
    if target is None:
        return ""
    return "yes" if value <= target else "**no**"


def _number(value: float) -> str:
    return f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 10 else f"{value:.1f}"
