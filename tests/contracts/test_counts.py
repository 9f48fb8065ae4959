"""A count in a text has its noun from `plural`: `1 record`, never `1 records`."""

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "tooling/orbit_registry"
NOUNS = (
    "calls|changes|chunks|commits|decisions|dispatches|documents|edits|entries|errors"
    "|events|files|findings|folders|globs|hits|hours|learnings|lessons|lines|links|matches|minutes|notes|pages"
    "|parts|paths|pushes|questions|records|repositories|resources|retrievals|rows|rules|sessions|steps"
    "|subjects|tasks|things|times|tokens|tools|turns|values|versions|votes|warnings|words"
)
ADJECTIVES = "further|live|more|newest|older|smaller|tracked"
COUNTED = re.compile(rf" (?:(?:{ADJECTIVES}) )?(?:{NOUNS})\b(?! of (?:its|the)\b)")
LARGE = re.compile(r"[_A-Z.a-z]*\b_?[A-Z][A-Z_]+\b")
"""A limit: a constant of the program that is never one."""
SEVERAL = {
    "health.py": {"len(days)", "total", "total.files"},
    "explorer.py": {"len(made)"},
    "import_report.py": {"len(paths)"},
    "pitch.py": {"state['attempts']"},
    "proposals.py": {"len(texts)"},
    "records.py": {"len(first)"},
    "replay_report.py": {"commits", "records", "tokens"},
    "breadth.py": {"covered"},
}
"""Counts that are more than one where they are printed, or that have their noun."""
NO_COUNTS = ("volatility", "name", "words", "target", "path", "file.path", "record.path")


def _bare_counts(file: Path) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if not isinstance(node, ast.JoinedStr):
            continue
        for value, after in zip(node.values, node.values[1:], strict=False):
            if not (isinstance(value, ast.FormattedValue) and isinstance(after, ast.Constant)):
                continue
            said = ast.unparse(value.value)
            if not COUNTED.match(str(after.value)) or LARGE.fullmatch(said):
                continue
            if said.startswith("plural(") or said in (*NO_COUNTS, *SEVERAL.get(file.name, ())):
                continue
            found.append(f"{file.name}:{node.lineno}: {{{said}}}{str(after.value)[:30]}")

    return found


@pytest.mark.parametrize(
    "file", sorted(PACKAGE.rglob("*.py")), ids=lambda file: str(file.relative_to(PACKAGE))
)
def test_every_count_goes_through_plural(file: Path) -> None:
    assert _bare_counts(file) == []
