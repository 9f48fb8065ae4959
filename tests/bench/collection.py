"""Cost of a collection and of its site: `python -m tests.bench collection --repositories 300`.

Makes repositories of ten kinds and collects them twice. Collects some of them once more, killed
several times, and by two processes at once, and compares what the lakes have. Builds the site of a
lake of 340 repositories of 250 decisions twice. Prints a table in Markdown.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.acceptance.browsing import chromium, served, tab
from tests.bench.fleet import ORBIT, cost, make_lake, print_row, size_of
from tests.bench.synthetic import make_repository
from tests.files import commit, make_workspace, write, write_record

LARGE = 3_000
PART = 10
"""Repositories that are collected by a process that is killed, and by two at once."""
KILLS = 8
STATE = (
    "SELECT repository, count(*) AS n, count(DISTINCT id) AS ids, "
    "bit_xor(hash(id, title, body)) AS h FROM records GROUP BY repository ORDER BY repository"
)
MEMBERS, RECORDS = 340, 250
"""Of the lake whose site is built."""


def plain(root: Path) -> None:
    """Make a repository with twelve documents in MADR's form."""
    for number in range(1, 13):
        title = f"Use tool {number} in {root.name}"
        text = f"---\nstatus: accepted\ndate: 2026-01-{number:02d}\n---\n# {title}\n"
        outcome = f"\n## Decision Outcome\n\nChosen option: tool {number}, because it is there.\n"
        write(root, f"docs/decisions/{number:04d}-tool.md", text + outcome)


def broken(root: Path) -> None:
    """Make a repository whose record can't be read."""
    make_workspace(root)
    write(root, ".orbit/adrs/ADR-0001/adr.yaml", "title: [\n")


def newer(root: Path) -> None:
    """Make a repository of a newer version."""
    make_workspace(root)
    write(root, ".orbit/config.yaml", "format: orbit-registry\nschema_version: 99\n")


def twice(root: Path) -> None:
    """Make a repository with two records of one id."""
    make_workspace(root)
    for name in ("ADR-0001", "ADR-0002"):
        fields = {"id": "ADR-0001", "title": name, "status": "accepted"}
        write_record(root, f".orbit/adrs/{name}/adr.yaml", **fields)


def secret(root: Path) -> None:
    """Make a repository with a key in a decision."""
    key = "AKIA" + "IOSFODNN7EXAMPLQ"
    write(root, "docs/adr/0001-key.md", f"# 1. Use {key}\n\nStatus: Accepted\n\nWe do.\n")


def empty(root: Path) -> None:
    """Make a repository without a decision."""
    write(root, "src/app.py", "pass\n")


MADE = (plain, broken, newer, twice, secret, empty)


def make_members(folder: Path, count: int) -> Path:
    """Make a folder of checkouts: of each ten one is made as each of ten kinds."""
    large = folder / "large"
    make_repository(large, LARGE)
    shutil.rmtree(large / ".git", ignore_errors=True)
    roots = folder / "checkouts"
    for number in range(count):
        kind, lot = number % 10, number // 10
        root = roots / f"acme/r{number:04d}"
        first = roots / f"acme/r{lot * 10:04d}"
        if kind == 7:
            subprocess.run(["git", "clone", "-q", str(first), str(root)], check=True)
        elif kind == 8:
            depth = ("--depth=1", f"file://{first}")
            subprocess.run(["git", "clone", "-q", *depth, str(root)], check=True)
        else:
            root.mkdir(parents=True)
            if kind == 6:
                shutil.copytree(large, root, dirs_exist_ok=True)
            else:
                MADE[kind if kind < 6 else 0](root)

            write(root, "README.md", f"# {root.name}\n")
            subprocess.run(["git", "init", "-q"], cwd=root, check=True)
            commit(root)

        if kind != 9:  # which has no remote
            address = f"https://forge.example/acme/r{number:04d}.git"
            subprocess.run(["git", "config", "remote.origin.url", address], cwd=root, check=True)

    return roots


def state_of(lake: Path) -> str:
    """Return what a lake has of each repository."""
    command = [*ORBIT, "fleet", "query", STATE, "--lake", str(lake), "--format", "csv"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def start(sources: Path, lake: Path) -> "subprocess.Popen[bytes]":
    """Start a collection, in a group of processes of its own."""
    command = [*ORBIT, "fleet", "collect", str(sources), "--lake", str(lake), "--jobs", "2"]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, start_new_session=True, stdout=quiet, stderr=quiet)


def collect_in_trouble(folder: Path, roots: Path) -> None:
    """Collect some repositories killed, then two processes at once; say whether all is there."""
    sources = folder / "part.txt"
    addresses = sorted((roots / "acme").iterdir())[:PART]
    sources.write_text("".join(f"{address}\n" for address in addresses), "utf-8")
    lakes = [folder / name for name in ("calm", "killed", "twice")]
    start(sources, lakes[0]).wait()

    shutil.rmtree(folder / "caches")
    chance = random.Random(7)
    kills = 0
    for _ in range(KILLS):
        process = start(sources, lakes[1])
        try:
            process.wait(chance.uniform(1, 12))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            kills += 1

    start(sources, lakes[1]).wait()

    shutil.rmtree(folder / "caches")
    for process in [start(sources, lakes[2]) for _ in range(2)]:
        process.wait()

    calm, killed, twice_at_once = map(state_of, lakes)
    doubled = [row for row in calm.splitlines()[1:] if row.split(",")[1] != row.split(",")[2]]
    print(
        f"\n{calm.count(chr(10)) - 1} of {PART} repositories have records, {len(doubled)} doubled"
    )
    print(f"killed {kills} times: {'the same' if killed == calm else 'OTHER'} records")
    print(f"two at once: {'the same' if twice_at_once == calm else 'OTHER'} records\n")


def measure_collection(folder: Path, repositories: int) -> None:
    """Collect made-up repositories twice, then some of them in trouble."""
    roots = make_members(folder, repositories)
    collect = ["fleet", "collect", str(roots), "--lake", str(folder / "lake"), "--jobs", "2"]
    print_row(f"collect {repositories} repositories", cost(collect, folder, codes=(0, 1)))
    print_row("again, nothing changed", cost(collect, folder, codes=(0, 1)))
    collect_in_trouble(folder, roots)
    shutil.rmtree(roots)


def measure_site(folder: Path, members: int) -> None:
    """Build the site of a lake of decisions twice, and open it in a browser."""
    lake, site = folder / "made", folder / "site"
    make_lake(lake, members, RECORDS, every=1)
    build = ["fleet", "site", str(site), "--lake", str(lake)]
    print_row(f"site of {members * RECORDS:,} decisions", cost(build, folder))
    print_row("again, nothing changed", cost(build, folder))
    parts = list((site / "search/parts").iterdir())
    sizes = sorted(file.stat().st_size for file in parts)
    largest = f"the largest {sizes[-1] / 1e3:.0f} kB"
    files, size = size_of(site)
    print(f"\nsite: {files:,} files, {size:,.0f} MB")
    print(f"search: {len(parts)} files, {sum(sizes) / 1e6:.0f} MB, {largest}")
    home = (site / "index.html").stat().st_size
    print(f"home: {home / 1e3:.0f} kB")
    print(open_site(site))


def open_site(site: Path) -> str:
    """Return what a browser says of a page and of a search there."""
    with chromium() as browser, served(site) as address, tab(browser) as opened:
        page = opened.go(f"{address}repositories/acme/r1/adrs/R-1/")
        title = page.locator("h1").first.inner_text()
        began = time.perf_counter()
        page.locator(".md-search__input").fill(title)
        hit = page.locator("a.orbit-hit").first.inner_text().splitlines()[0]
        seconds = time.perf_counter() - began
        console = opened.console or "a quiet console"
        return f"page: {title}; search: {hit} after {seconds:.1f} s; {console}"


def main(arguments: Sequence[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="tests.bench collection", description=__doc__)
    parser.add_argument("--repositories", type=int, default=300)
    parser.add_argument("--members", type=int, default=MEMBERS, help="0 builds no site")
    options = parser.parse_args(arguments)
    print("| what | seconds | CPU seconds | peak memory |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["XDG_CACHE_HOME"] = str(folder / "caches")
        if options.repositories:
            measure_collection(folder, options.repositories)

        if options.members:
            measure_site(folder, options.members)

    print(json.dumps({"load average": os.getloadavg()}))
    return 0
