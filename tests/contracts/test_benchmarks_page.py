"""The page of benchmarks: what a bench writes names its measurements, and what is measured by hand stays."""

from pathlib import Path

from tests.bench.measurements import MEASUREMENTS
from tests.bench.report import RECALL

PAGE = Path(__file__).parents[2] / "docs/explanation/benchmarks.md"


def test_the_table_of_costs_has_measurements_alone() -> None:
    figures, _, by_hand = PAGE.read_text("utf-8").partition(f"\n{RECALL}\n")
    costs = figures.partition("\n## Costs\n")[2].partition("\n## ")[0]
    names = {measurement.name for measurement in MEASUREMENTS}
    assert {row.split("|")[1].strip() for row in costs.splitlines()[4:] if row} <= names
    assert "\n## Measured by hand\n" in by_hand
