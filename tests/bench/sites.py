"""Measures the site beside other generators, on the same decisions in one run, for
`docs/explanation/benchmarks.md`.

`python -m tests.bench sites`: peers that are not installed are named as such. Zensical and
log4brains are looked for on the PATH; log4brains comes from npm.
"""

import argparse
import math
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

from tests.bench.bench import PAGE, run
from tests.bench.measurements import ORBIT
from tests.bench.report import SITES
from tests.bench.synthetic import make_foreign

SIZES = (100, 1000)
DOCUMENTS = "docs/decisions"
CONFIG = (
    "site_name: Bench\ntheme: {{name: material, font: false, variant: classic}}\nplugins: "
    "[search]\n{nav}"
)
EXTENDED = """\
markdown_extensions:
  - admonition
  - attr_list
  - def_list
  - tables
  - toc: {permalink: true}
  - pymdownx.highlight: {anchor_linenums: false}
  - pymdownx.superfences
"""
"""What most sites made with Material turn on, and what pages of records have: a bare one has
neither highlighted code nor links at headings.
"""
ALONE = "nav: [index.md]\n"
PROJECT = "project:\n  name: Bench\n  tz: UTC\n  adrFolder: ./docs/decisions\n"


@dataclass(frozen=True)
class Generator:
    """One way to a site: what it needs beside the documents, its commands,
    where the pages of decisions lie.
    """

    name: str
    files: Mapping[str, str]
    build: Sequence[str]
    site: str
    pages: str
    """A glob of the pages of decisions, in the site."""
    program: str = ""
    """What has to be installed; empty: it is."""
    largest: int = 1_000_000
    prepare: Sequence[Sequence[str]] = ()


@dataclass(frozen=True)
class Cost:
    """What one generator cost at one size: CPU seconds, peak memory,
    a page in KB and all files in MB.
    """

    name: str
    size: int
    cold: float
    again: float
    edited: float
    memory: float
    page: float
    total: float


MKDOCS = (sys.executable, "-m", "mkdocs", "build", "--quiet")
GENERATORS: tuple[Generator, ...] = (
    Generator(
        "Orbit",
        {},
        (*ORBIT, "site", "build"),
        "site",
        "adrs/ADR-*/index.html",
        prepare=((*ORBIT, "init", "--yes"), (*ORBIT, "adr", "backfill")),
    ),
    Generator(
        "MkDocs Material, decisions outside the navigation",
        {"mkdocs.yml": CONFIG.format(nav=ALONE)},
        MKDOCS,
        "site",
        "decisions/*/index.html",
    ),
    Generator(
        "MkDocs Material with extensions, decisions outside the navigation",
        {"mkdocs.yml": CONFIG.format(nav=ALONE) + EXTENDED},
        MKDOCS,
        "site",
        "decisions/*/index.html",
    ),
    Generator(
        "MkDocs Material, decisions in the navigation",
        {"mkdocs.yml": CONFIG.format(nav="")},
        MKDOCS,
        "site",
        "decisions/*/index.html",
        largest=1000,
    ),
    Generator(
        "Zensical, decisions outside the navigation",
        {"mkdocs.yml": CONFIG.format(nav=ALONE)},
        ("zensical", "build"),
        "site",
        "decisions/*/index.html",
        "zensical",
    ),
    Generator(
        "log4brains",
        {".log4brains.yml": PROJECT},
        ("log4brains", "build"),
        ".log4brains/out",
        "adr/*/index.html",
        "log4brains",
        largest=100,
    ),
)


def cost(generator: Generator, size: int, root: Path) -> Cost:
    """Return what a generator costs in a new repository: built, built again, and after one edit."""
    make_foreign(root, size)
    (root / "docs/index.md").write_text("# Bench\n", "utf-8")
    for name, text in generator.files.items():
        (root / name).write_text(text, "utf-8")
    for command in generator.prepare:
        run(command, root, (0, 1))
    built = run(generator.build, root)
    site = root / generator.site
    pages = [path.stat().st_size for path in site.glob(generator.pages)]
    if len(pages) != size:
        raise RuntimeError(f"{generator.name} made {len(pages)} pages of {size} decisions")
    total = sum(path.stat().st_size for path in site.rglob("*") if path.is_file())
    again = run(generator.build, root)
    document = root / DOCUMENTS / "0001-decision.md"
    document.write_text(document.read_text("utf-8") + "\nOne more word.\n", "utf-8")
    edited = run(generator.build, root)
    memory = max(each.memory for each in (built, again, edited))
    return Cost(
        generator.name,
        size,
        built.cpu,
        again.cpu,
        edited.cpu,
        memory,
        statistics.median(pages) / 1e3,
        total / 1e6,
    )


def measured(
    sizes: Sequence[int], rounds: int, say: Callable[[str], None]
) -> tuple[list[Cost], list[str]]:
    """Return the median costs of so many rounds, and what could not be measured and why.

    A round takes the generators in turn, so that a slower hour of the machine slows them all.
    """
    costs: dict[tuple[str, int], list[Cost]] = {}
    absent: dict[str, None] = {}
    for number, generator, size in _turns(sizes, rounds):
        if generator.program and shutil.which(generator.program) is None:
            absent[f"{generator.name}: {generator.program} is not installed here"] = None
            continue
        with tempfile.TemporaryDirectory(prefix="orbit-sites-") as folder:
            try:
                result = cost(generator, size, Path(folder) / "repo")
            except RuntimeError as error:
                absent[f"{generator.name} at {size:,}: {' '.join(str(error).split())[:200]}"] = None
                continue
        costs.setdefault((generator.name, size), []).append(result)
        say(
            f"{number + 1} {generator.name} at {size}: {result.cold:.3g} {result.again:.3g} "
            f"{result.edited:.3g} s"
        )
    return [_median(rounds) for rounds in costs.values()], list(absent)


def _turns(sizes: Sequence[int], rounds: int) -> Iterator[tuple[int, Generator, int]]:
    for number in range(rounds):
        for generator in GENERATORS:
            for size in sizes:
                if size <= generator.largest:
                    yield number, generator, size


def _median(costs: Sequence[Cost]) -> Cost:
    name, size = costs[0].name, costs[0].size
    numbers = zip(*(astuple(row)[2:] for row in costs), strict=True)
    return Cost(name, size, *map(statistics.median, numbers))


def table(costs: Sequence[Cost], absent: Sequence[str]) -> list[str]:
    """Return the section's lines: costs, ratios to ours, growth."""
    ours = {row.size: row for row in costs if row.name == GENERATORS[0].name}
    lines = [
        "| generator | decisions | from nothing | × ours | nothing changed | one changed | × "
        "ours | peak memory "
        "| a decision's page | whole site |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in costs:
        base = ours.get(row.size)
        lines.append(
            f"| {row.name} | {row.size:,} | {row.cold:.3g} s | "
            f"{_times(row.cold, base and base.cold)} "
            f"| {row.again:.3g} s | {row.edited:.3g} s | "
            f"{_times(row.edited, base and base.edited)} "
            f"| {row.memory:.0f} MB | {row.page:.1f} KB | {row.total:.1f} MB |"
        )
    growth = []
    for name in dict.fromkeys(row.name for row in costs):
        some = sorted((row.size, row.cold) for row in costs if row.name == name)
        if len(some) > 1:
            (small, low), (large, high) = some[0], some[-1]
            growth.append(f"{name} {math.log(high / low) / math.log(large / small):.2f}")
    lines += [
        "",
        f"Growth from the smallest to the largest, as a power of the number: {'; '.join(growth)}.",
    ] * bool(growth)
    lines += ["", *(f"Not measured: {reason}." for reason in absent)] * bool(absent)
    return lines


def _times(cost: float, base: float | None) -> str:
    return f"{cost / base:.1f}" if base else ""


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and write the section of the page."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench sites", description=__doc__)
    parser.add_argument(
        "--sizes", type=lambda text: tuple(map(int, text.split(","))), default=SIZES
    )
    parser.add_argument("--page", type=Path, default=PAGE, help="the page whose section is written")
    parser.add_argument(
        "--rounds", type=int, default=3, help="how often each is measured; the medians count"
    )
    options = parser.parse_args(arguments)
    if not options.page.is_file():
        parser.error(f"{options.page} is no page: make an empty file, or copy {PAGE}")
    before = os.getloadavg()
    costs, absent = measured(options.sizes, options.rounds, lambda line: print(line, flush=True))
    lines = [
        (
            "By `python -m tests.bench sites`: made-up decisions (MADR), one file each, with the "
            "sizes, tables,"
        ),
        (
            "code, links and citations of 65 real ones (`tests/bench/shapes.csv`; 5.6 kB in the "
            "mean). All"
        ),
        (
            "generators get the same files and run with their default settings. CPU seconds of "
            "whole processes"
        ),
        "and their children, one by one and in turns,",
        f"the medians of {options.rounds} rounds.",
        (
            "Orbit also writes indexes, timeline, health, path explorer, feeds, redirects and the "
            "data of the search box."
        ),
        f"Load average {before[0]:.1f} before, {os.getloadavg()[0]:.1f} after.",
        "",
        *table(costs, absent),
        "",
        "A page is the median.",
    ]
    print("\n".join(lines))
    above, _, below = options.page.read_text("utf-8").partition(f"\n{SITES}\n")
    _, heading, later = below.partition(
        "\n##"
    )  # the next section, or the subsection written by hand
    tail = f"{heading}{later}" if heading else ""
    options.page.write_text(
        f"{above.rstrip()}\n\n{SITES}\n\n" + "\n".join(lines) + f"\n{tail}", "utf-8"
    )
    return 0
