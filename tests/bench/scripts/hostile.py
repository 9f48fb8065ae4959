"""Prints how much more than four times as much four times a hostile text costs, at worst; 1 is
linear, 4 the square.

Every shape of `tests/cases/hostile_texts.json` is read at both sizes; the least of several runs
counts.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

from orbit_registry.formats.adr.reader import read_document
from orbit_registry.formats.citations import IdForms, find_citations
from orbit_registry.formats.secrets import find_secrets

RUNS = 4
FLOOR = 0.002
"""Seconds that hide the clock's steps."""
TEXTS = json.loads(
    (Path(__file__).resolve().parents[2] / "cases" / "hostile_texts.json").read_text("utf-8")
)
FORMS = IdForms(("ADR-",), ("L-", "R-"))


def read(text: str) -> object:
    """Read a document and its citations."""
    return read_document(text, "docs/adr/4_decisions.md"), find_citations(text, FORMS)


def cost(work: Callable[[str], object], text: str) -> float:
    """Return the least CPU seconds; each run has a text of its own,
    as one that was read before costs nothing.
    """
    figures = []
    for run in range(RUNS):
        hostile = text + "." * run
        began = time.process_time()
        work(hostile)
        figures.append(time.process_time() - began)
    return max(min(figures), FLOOR)


def secrets(text: str) -> object:
    """Look for secrets."""
    return list(find_secrets(text))


worst = ("", 0.0)
for work, shapes in ((read, TEXTS["documents"]), (secrets, TEXTS["secrets"])):
    for name, (before, part, times, after) in shapes.items():
        text = before + part * times + after
        growth = cost(work, text * 4) / cost(work, text) / 4
        print(f"{name}: {growth:.2f}", file=sys.stderr)
        worst = max(worst, (name, growth), key=lambda pair: pair[1])
print(worst[0], worst[1])
