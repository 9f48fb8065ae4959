"""Cost of a collection and of its site: `python -m tests.bench collection --repositories 300`.

Makes repositories of ten kinds, collects them twice, and builds the site of a lake of 340
repositories of 250 records twice. Prints a table in Markdown.
"""

import argparse
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.bench.fleet import cost, make_lake, print_row
from tests.bench.synthetic import make_repository
from tests.files import commit, make_workspace, write, write_record

LARGE = 3_000
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


def main(arguments: Sequence[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="tests.bench collection", description=__doc__)
    parser.add_argument("--repositories", type=int, default=300)
    parser.add_argument("--members", type=int, default=MEMBERS)
    options = parser.parse_args(arguments)
    print("| what | seconds | CPU seconds | peak memory |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["XDG_CACHE_HOME"] = str(folder / "caches")
        roots = make_members(folder, options.repositories)
        collect = ["fleet", "collect", str(roots), "--lake", str(folder / "lake"), "--jobs", "2"]
        print_row(
            f"collect {options.repositories} repositories", cost(collect, folder, codes=(0, 1))
        )
        print_row("again, nothing changed", cost(collect, folder, codes=(0, 1)))
        shutil.rmtree(roots)

        lake = folder / "made"
        make_lake(lake, options.members, RECORDS)
        site = ["fleet", "site", str(folder / "site"), "--lake", str(lake)]
        print_row(f"site of {options.members * RECORDS:,} records", cost(site, folder))
        print_row("again, nothing changed", cost(site, folder))
        parts = list((folder / "site/search/parts").iterdir())
        sizes = sorted(file.stat().st_size for file in parts)
        largest = f"the largest {sizes[-1] / 1e3:.0f} kB"
        print(f"\nsearch: {len(parts)} files, {sum(sizes) / 1e6:.0f} MB, {largest}")
        home = (folder / "site/index.html").stat().st_size
        print(f"home: {home / 1e3:.0f} kB")

    print(json.dumps({"load average": os.getloadavg()}))
    return 0
