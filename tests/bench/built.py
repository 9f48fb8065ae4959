"""Draw decisions by lot and print whether each is built, for a person to compare with the code.

`python -m tests.bench built FOLDER… --draw 8` reads projects with records (`orbit init`, `orbit
import .`). The same seed draws the same decisions.
"""

import argparse
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from orbit_registry.model.record import Record
from orbit_registry.registry import Registry

SEED = 48


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--draw", type=int, default=8, help="so many decisions of each project")
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args(arguments)

    total: Counter[str] = Counter()
    for folder in options.folders:
        registry = Registry.open(folder)
        built = registry.built()
        records = drawn(registry, options.draw, options.seed)
        counts = Counter(verdict.words for verdict in built.values())
        print(f"\n{folder.name}: {dict(counts)}")
        for record in records:
            verdict = built[record.path]
            total[verdict.words] += 1
            print(f"  {record.id} [{record.status.name}] {record.title}")
            print("".join(f"    {line}\n" for line in verdict.lines()), end="")

    print(f"\ndrawn: {dict(total)}")
    return 0


def drawn(registry: Registry, count: int, seed: int) -> list[Record]:
    """Return decisions that are not closed, drawn by lot, in the order of their ids."""
    records = [
        record
        for record in registry.collection.records
        if record.kind.in_document and record.phase != "closed"
    ]
    records.sort(key=lambda record: record.sort_key)
    chosen = random.Random(seed).sample(records, min(count, len(records)))
    return sorted(chosen, key=lambda record: record.sort_key)
