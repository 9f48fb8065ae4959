"""The benchmark's own parts: a made-up repository that is valid, and a page that says what was measured."""

from __future__ import annotations

import csv
import hashlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from orbit_registry.registry import Registry

ROOT = Path(__file__).parents[3]


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Import the benchmark's modules from the repository's root, as `python -m tests.bench` does."""
    import importlib

    monkeypatch.syspath_prepend(str(ROOT))
    for name in [name for name in sys.modules if name == "tests" or name.startswith("tests.")]:
        monkeypatch.delitem(sys.modules, name)
    yield lambda name: importlib.import_module(f"tests.bench.{name}")
    for name in [name for name in sys.modules if name == "tests" or name.startswith("tests.bench")]:
        del sys.modules[name]


def tree(root: Path) -> dict[str, str]:
    """Return the hash of every file that is not git's."""
    files = [file for file in root.rglob("*") if file.is_file() and ".git" not in file.relative_to(root).parts]
    return {str(file.relative_to(root)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def test_a_made_up_repository_is_valid_and_always_the_same(bench: Any, tmp_path: Path) -> None:
    synthetic = bench("synthetic")
    for name in ("a", "b"):
        synthetic.make_repository(tmp_path / name, 60)
    assert tree(tmp_path / "a") == tree(tmp_path / "b")
    registry = Registry.open(tmp_path / "a")
    assert len(registry.records) == 60
    assert all(record.prose for record in registry.records)
    assert [entry for entry in registry.check().diagnostics if entry.severity == "error"] == []
    assert (tmp_path / "a" / synthetic.paths(60)[0]).parent.is_dir()


def test_made_up_documents_have_the_measures_of_real_ones(bench: Any, tmp_path: Path) -> None:
    synthetic = bench("synthetic")
    synthetic.make_foreign(tmp_path, 65)
    texts = [file.read_text("utf-8") for file in sorted(tmp_path.glob("docs/decisions/*.md"))]
    with synthetic.SHAPES.open(encoding="utf-8", newline="") as file:
        shapes = list(csv.DictReader(file))
    measured = {
        "items": sum(text.count("\n* ") for text in texts),
        "fences": sum(text.count("\n```") for text in texts) // 2,
        "links": sum(text.count("](https:") for text in texts),
        "characters": sum(len(re.sub("```.*?```", "", text, flags=re.DOTALL)) for text in texts),
    }
    for measure, number in measured.items():
        assert number == pytest.approx(sum(int(entry[measure]) for entry in shapes), rel=0.2), measure


@pytest.mark.parametrize(("power", "expected"), [(0, 0.0), (1, 1.0), (2, 2.0)])
def test_the_slope_is_the_power(bench: Any, power: int, expected: float) -> None:
    report = bench("report")
    figures = [report.Figure(size, 3.0 * size**power, 0, 0, 0) for size in (10, 100, 1000)]
    assert report.slope(figures) == pytest.approx(expected)
    assert report.slope(figures[:1]) is None


def test_the_page_puts_targets_beside_figures(bench: Any) -> None:
    report = bench("report")
    figures = (report.Figure(1000, 0.25, 0.2, 0.3, 40.0), report.Figure(10_000, 2.5, 2.0, 3.0, 80.0))
    outcome = report.Outcome("sync", "words", "s", {10_000: 1.0}, 1.1, figures)
    page = report.render(
        [outcome], [("schema", "w", 20.0, "none here"), ("gate", "w", 7.0, 8.0)], [("Python", "3")], []
    )
    assert "| sync | 10,000 | ≤ 1 s | 2.50 s | **no** |" in page
    assert "| sync | ≤ 1.1 | 1.00 | yes |" in page
    assert "not measured: none here" in page
    assert "| gate: w | ≥ 7 × less | 8.0 × | yes |" in page


def test_the_part_that_the_benchmark_rewrites_holds_its_own_figures_alone(bench: Any) -> None:
    names = {entry.name for entry in bench("measurements").MEASUREMENTS}
    figures, _, by_hand = (ROOT / "docs/benchmarks.md").read_text("utf-8").partition(f"\n{bench('report').RECALL}\n")
    costs = figures.partition("\n## Costs\n")[2].partition("\n## ")[0]

    assert {row.split("|")[1].strip() for row in costs.splitlines()[4:] if row} <= names
    assert "\n## Measured by hand\n" in by_hand


def test_a_command_that_fails_is_no_figure(bench: Any, tmp_path: Path) -> None:
    runner = bench("bench")
    done = runner.run([sys.executable, "-c", "print(7); sum(range(10**6))"], tmp_path)
    assert done.printed.strip() == "7"
    assert done.cpu > 0
    with pytest.raises(RuntimeError, match="exit 3: broken"):
        runner.run([sys.executable, "-c", "print('broken'); raise SystemExit(3)"], tmp_path)
