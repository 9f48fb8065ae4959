"""`outcome_scores` of the snapshot: what became of records says the same in SQL as in `orbit stats --effect`."""

import json
from collections import defaultdict
from pathlib import Path

import duckdb
from hypothesis import given, settings
from hypothesis import strategies as st

from orbit_registry.analytics.stats import PRIOR, Pair, pairs_of
from orbit_registry.snapshot import export
from orbit_registry.snapshot.export import fill_events
from orbit_registry.workspace.event_log import LoggedEvent, read_line

IDS, FILES = ("L-aaaaa", "L-bbbbb", "R-ccccc"), ("src/a.py", "src/b.py", "#tag")
DATABASE = duckdb.connect()
for _file in ("tables.sql", "macros.sql"):
    DATABASE.execute(Path(export.__file__).with_name(_file).read_text("utf-8"))
SIGNALS = ("opened", "turned_green", "edited", "failed_again")


def some(of: tuple[str, ...]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(of), unique=True, max_size=2)


EVENTS = st.lists(
    st.fixed_dictionaries(
        {"event": st.sampled_from(["retrieval"] * 4 + ["opened", "stop"]),
         "session": st.sampled_from(["s-1", "s-1.sub", "s-2", "trial-1", None])},
        optional={"hits": some(IDS), "withheld": some(IDS), "ids": some(IDS), "failed": some(IDS),
                  "query": some(FILES[:2]), "writes": st.just(True), "command": st.sampled_from(["a", "b"]),
                  "result": st.sampled_from(["failed", "failed", "passed"])},
    ),
    max_size=25,
)  # fmt: skip


def by_python(events: list[LoggedEvent]) -> dict[str, tuple[object, ...]]:
    displayed: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs_of(events):
        if not pair.withheld:
            displayed[pair.record].append(pair)
    return {
        record: (len(pairs), *(sum(bool(getattr(pair, name)) for pair in pairs) for name in SIGNALS),
                 round(sum(pair.worth for pair in pairs) / (len(pairs) + PRIOR), 9))
        for record, pairs in displayed.items()
    }  # fmt: skip


@settings(derandomize=True, deadline=None)
@given(EVENTS)
def test_the_view_agrees_with_the_report(logged: list[dict[str, object]]) -> None:
    lines = []
    for position, row in enumerate(logged):
        full_text = {
            "at": "2026-11-22T08:00:00Z",
            "surface": "hook",
            **row,
            "tests": row.get("command") == "a",
            "n": position,
        }
        if row["event"] != "retrieval":
            full_text = {name: value for name, value in full_text.items() if name not in ("hits", "withheld")}
        lines.append(json.dumps(full_text))
    events = [result[0] for line in lines if not isinstance(result := read_line(line.encode()), str)]
    DATABASE.execute("DELETE FROM events")
    fill_events(DATABASE, "events", lines)
    rows = DATABASE.execute(
        f"SELECT id, sessions, {', '.join(SIGNALS)}, round(score, 9) FROM outcome_scores"
    ).fetchall()
    assert {row[0]: row[1:] for row in rows} == by_python(events)
