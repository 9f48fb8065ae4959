"""One order everywhere: Python, push index and SQL sort records alike,
and no clock changes that order.
"""

import hashlib
import itertools
import math
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
from hypothesis import example, given, settings
from hypothesis import strategies as st

from orbit_registry.hook.index import NoIndex, read_index
from orbit_registry.matching.compile import Origin, order_in, part_of
from orbit_registry.matching.pack import pack
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.rank import EPOCH, rank_order, vote_key
from orbit_registry.model.record import Record
from orbit_registry.model.votes import Vote, tally
from orbit_registry.repository.codec import record_of
from orbit_registry.snapshot.export import write_database
from orbit_registry.snapshot.rows import rows_of

KIND = load_kinds()["learning"]
HALF_LIVES = st.sampled_from([0.0, 1e-6, 0.01, 1.0, 7.5, 180.0, 1e6])
# Whole half-lives of 180 days and of one day, so that sums are often equal as numbers.
TIMES = st.one_of(
    st.integers(0, 12).map(lambda number: EPOCH + timedelta(days=180 * number)),
    st.integers(0, 30).map(lambda number: EPOCH + timedelta(days=2000 + number)),
    st.datetimes(datetime(2019, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)),
)
DATES = st.sampled_from(
    [
        "2026-01-01T00:00:00Z",
        "2026-01-01T01:00:00+01:00",
        "2026-02-30T00:00:00Z",
        "2025-12-31T23:59:59.5Z",
    ]
)
STORES = st.lists(
    st.tuples(st.sampled_from([0, 0, 5, 255]), DATES, st.lists(TIMES, max_size=5)), max_size=8
)


def records_of(store: list[tuple[int, str, list[datetime]]]) -> list[Record]:
    records = []
    for number, (priority, updated, times) in enumerate(store):
        name = f"L-{number:05d}"
        path = f".orbit/learnings/{name}/learning.yaml"
        data = {
            "schema_version": 1,
            "id": name,
            "uid": hashlib.sha256(path.encode()).hexdigest()[:32],
            "status": "active",
            "summary": "S",
            "priority": priority,
            "created_at": "2026-01-01T00:00:00Z",
            "updated_at": updated,
        }
        learning = record_of(data, KIND, path)
        votes = tuple(Vote(name, "m", at, f"T-{task}") for task, at in enumerate(times))
        records.append(Record(learning.kind, learning.data, learning.path, learning.prose, votes))
    return records


def in_index(records: list[Record], half_life: float) -> list[str]:
    parts = [part_of(record, Origin(1, 1), half_life) for record in records]
    content = pack(sorted(parts, key=order_in))
    index = read_index(content, "/")
    assert not isinstance(index, NoIndex)
    return [index.row(number).id for number in range(index.records)]


def in_sql(records: list[Record], half_life: float) -> list[str]:
    """Return the ids as `ranked()` lists them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.duckdb"
        write_database(
            path, rows_of(records, half_life_days=half_life), {"half_life_days": str(half_life)}
        )
        with duckdb.connect(str(path), read_only=True) as connection:
            return [
                name
                for (name,) in connection.execute(
                    "SELECT id FROM ranked() ORDER BY rank"
                ).fetchall()
            ]


@settings(max_examples=settings().max_examples // 2)
@given(store=STORES, half_life=HALF_LIVES)
def test_python_index_and_sql_have_one_order(
    store: list[tuple[int, str, list[datetime]]], half_life: float
) -> None:
    records = records_of(store)
    expected = [
        record.id for record in sorted(records, key=lambda record: rank_order(record, half_life))
    ]
    assert in_index(records, half_life) == expected
    assert in_sql(records, half_life) == expected


@given(store=STORES, half_life=st.sampled_from([7.5, 180.0, 1e6]), days=st.integers(0, 20_000))
def test_no_clock_changes_the_order(
    store: list[tuple[int, str, list[datetime]]], half_life: float, days: int
) -> None:
    records = sorted(records_of(store), key=lambda record: rank_order(record, half_life))
    now = max(
        (vote.voted_at for record in records for vote in record.votes), default=EPOCH
    ) + timedelta(days=days)
    scores = [tally(record.votes, now, half_life).score for record in records]
    for earlier, later in itertools.pairwise(scores):
        assert earlier >= later or math.isclose(earlier, later, rel_tol=1e-9)


def votes(*days: float) -> list[Vote]:
    return [
        Vote("L-1", "m", EPOCH + timedelta(days=day), f"T-{number}")
        for number, day in enumerate(days)
    ]


@example(days=[0.125, 0.25, 0.375], half_life=1e-6, again=3)
@given(
    days=st.lists(st.integers(0, 32_000).map(lambda number: number / 8), min_size=1, max_size=6),
    half_life=st.sampled_from([1e-6, 0.25, 1.0, 7.5, 180.0]),
    again=st.integers(1, 6),
)
def test_equal_weights_have_one_key(days: list[float], half_life: float, again: int) -> None:
    split = list(days)
    for index in range(again):
        day = split.pop(index % len(split))
        split += [day - half_life, day - half_life]
    assert vote_key(votes(*split), half_life) == vote_key(votes(*days), half_life)


def test_votes_are_counted_where_nothing_decays() -> None:
    assert vote_key([], 180) is None
    for half_life in (0.0, -1.0, math.inf, math.nan):
        assert vote_key(votes(1, 2, 3, 4), half_life) == 2.0
