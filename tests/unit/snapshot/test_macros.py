"""What the views and macros in the file answer,
beside what the Python answers to the same question.
"""

import json
import math
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.files import write_record

from orbit_measure.pairs import PRIOR, Pair, pairs_of
from orbit_registry.errors import AmbiguousIdError, RecordNotFoundError
from orbit_registry.formats.yaml import load
from orbit_registry.model.votes import Vote, format_time, tally
from orbit_registry.repository.reader import read_collection
from orbit_registry.snapshot import export
from orbit_registry.snapshot.export import fill_events, write_database
from orbit_registry.snapshot.rows import rows_of
from orbit_registry.workspace.event_log import LoggedEvent, read_line

CASES = Path(__file__).parents[2] / "cases" / "globs.yaml"
VECTORS: Any = load(CASES.read_text("utf-8"))


def scoped(project: Any, scopes: list[list[str]]) -> dict[str, list[str]]:
    result = {}
    for number, globs in enumerate(scopes):
        project.learning(f"{number:05d}", scope={"paths": list(dict.fromkeys(globs))})
        result[f"L-{number:05d}"] = globs
    return result


def test_scope_match_agrees_with_the_vectors(project: Any) -> None:
    globs = scoped(
        project, [[glob] for glob in dict.fromkeys(glob for glob, _, _ in VECTORS["cases"])]
    )
    ids = {listed[0]: name for name, listed in globs.items()}
    wrong = []
    with duckdb.connect(str(project.build().path), read_only=True) as connection:
        for path in dict.fromkeys(path for _, path, _ in VECTORS["cases"]):
            matched = {
                row[0]
                for row in connection.execute("SELECT id FROM scope_match(?)", [path]).fetchall()
            }
            wrong += [
                (glob, path)
                for glob, requests, expected in VECTORS["cases"]
                if requests == path
                and not glob.startswith("!")
                and (ids[glob] in matched) != expected
            ]
    assert wrong == []


def test_scope_match_agrees_on_whole_scopes(project: Any) -> None:
    cases = VECTORS["scopes"]
    scoped(project, [globs for globs, _, _ in cases])
    with duckdb.connect(str(project.build().path), read_only=True) as connection:
        for number, (globs, path, expected) in enumerate(cases):
            rows = connection.execute(
                "SELECT pattern FROM scope_match(?) WHERE id = ?", [path, f"L-{number:05d}"]
            ).fetchall()
            assert rows == ([] if expected is None else [(expected,)]), (globs, path)


def test_scope_match_ignores_a_glob_that_cannot_be_read(project: Any) -> None:
    project.learning("aaaaa", scope={"paths": ["src/[", "src/**"]})
    assert project.ask("SELECT id, pattern FROM scope_match('src/a.py')") == [("L-aaaaa", "src/**")]


NOW = datetime.now(UTC)
vote_times = st.lists(
    st.integers(-4000, 0).map(lambda days: NOW + timedelta(days=days)), max_size=4
)


def test_votes_by_month_are_those_of_the_tally(tmp_path: Path) -> None:
    days = [
        "2026-01-31T23:59:59",
        "2026-02-01T00:00:00",
        "2026-02-28T00:00:00",
        "2025-02-01T00:00:00",
    ]
    times = [datetime.fromisoformat(f"{day}+00:00") for day in days]
    write_database(
        tmp_path / "x.duckdb",
        rows_of([record_with(0, times), record_with(1, [])]),
        {"half_life_days": "0"},
    )
    with duckdb.connect(str(tmp_path / "x.duckdb"), read_only=True) as connection:
        rows = connection.execute(
            "SELECT strftime(month, '%Y-%m'), month_votes, votes, score, last_voted_at FROM "
            "vote_history"
        ).fetchall()

    last = datetime(2026, 2, 28)
    assert rows == [
        (month, n, 4, 4.0, last) for month, n in (("2025-02", 1), ("2026-01", 1), ("2026-02", 2))
    ]


@settings(
    max_examples=settings().max_examples // 3,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    votes=st.lists(vote_times, min_size=1, max_size=6),
    half_life=st.sampled_from([0.0, 0.01, 1.0, 30.0, 180.0, 100_000.0]),
)
def test_ranked_agrees_with_the_tally(
    tmp_path_factory: Any, votes: list[list[datetime]], half_life: float
) -> None:
    records = [record_with(number, times) for number, times in enumerate(votes)]
    path = tmp_path_factory.mktemp("ranked") / "x.duckdb"
    write_database(path, rows_of(records), {"half_life_days": "180"})
    with duckdb.connect(str(path), read_only=True) as connection:
        result = connection.execute(
            "SELECT id, votes, score FROM ranked(half_life := ?)", [half_life]
        ).fetchall()
    expected = {record.id: tally(record.votes, datetime.now(UTC), half_life) for record in records}
    for name, count, score in result:
        assert count == expected[name].count
        assert math.isclose(score, expected[name].score, rel_tol=1e-2, abs_tol=1e-290)
    for (first, *_), (second, *_) in pairwise(result):
        record, other = by_id(records, first), by_id(records, second)
        assert exact_log(record, half_life) >= exact_log(other, half_life) - 1e-6
        if sorted(vote.voted_at for vote in record.votes) == sorted(
            vote.voted_at for vote in other.votes
        ):
            assert first < second


def by_id(records: list[Any], name: str) -> Any:
    return next(record for record in records if record.id == name)


def exact_log(record: Any, half_life: float) -> float:
    ages = [(vote.voted_at - NOW).total_seconds() / 86400 for vote in record.votes]
    if not ages:
        return -math.inf
    exponents = [age / half_life if half_life else 0.0 for age in ages]
    top = max(exponents)
    return top + math.log2(math.fsum(2 ** (exponent - top) for exponent in exponents))


def record_with(number: int, times: list[datetime]) -> Any:
    from orbit_registry.model.kind import load_kinds
    from orbit_registry.repository.codec import record_of

    name = f"L-{number:05d}"
    data = {
        "schema_version": 1,
        "id": name,
        "uid": f"{number:032x}",
        "status": "active",
        "summary": "S",
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z",
    }
    record = record_of(data, load_kinds()["learning"], f".orbit/learnings/{name}/learning.yaml")
    votes = tuple(Vote(name, "m", at, f"T-{task}") for task, at in enumerate(times))
    return type(record)(record.kind, record.data, record.path, record.prose, votes)


def test_ranked_narrows_by_tag_and_breaks_ties(project: Any) -> None:
    project.learning("aaaaa", priority=1, scope={"tags": ["x"]})
    project.learning("bbbbb", priority=9)
    project.learning("ccccc", priority=1, updated_at="2026-06-01T00:00:00Z", scope={"tags": ["x"]})
    project.learning("ddddd", status="retired", scope={"tags": ["x"]})
    project.votes("aaaaa", ("m", "T-1", "2020-01-01T00:00:00Z"))
    assert [row[0] for row in project.ask("SELECT id FROM ranked()")] == [
        "L-aaaaa",
        "L-bbbbb",
        "L-ccccc",
    ]
    assert [row[0] for row in project.ask("SELECT id FROM ranked(tag := 'x')")] == [
        "L-aaaaa",
        "L-ccccc",
    ]
    assert project.ask("SELECT id FROM ranked(tag := 'none')") == []
    assert project.ask("SELECT rank, id, votes FROM vote_ranking") == [(1, "L-aaaaa", 1)]


def test_the_half_life_of_the_environment_is_in_the_file(
    project: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.learning("aaaaa")
    at = datetime.now(UTC) - timedelta(days=10)
    project.votes("aaaaa", ("m", "T-1", format_time(at)), ("m", "T-2", format_time(at)))
    for days, score in (("10", 1.0), ("0", 2.0), ("", 2 * 2 ** (-10 / 180))):
        monkeypatch.setenv("ORBIT_LEARNING_VOTE_HALF_LIFE_DAYS", days)
        ((result,),) = project.ask("SELECT score FROM vote_ranking")
        assert math.isclose(result, score, rel_tol=1e-3)


@pytest.mark.parametrize(
    "name",
    [
        "ADR-0001",
        "p/ADR-006",
        "q/ADR-006",
        "ADR-006",
        "r/ADR-001",
        "ADR-001",
        "nothing",
        "",
        "'",
        "006",
    ],
)
def test_resolve_id_agrees_with_the_record_set(project: Any, name: str) -> None:
    project.adr(1, legacy_ids=["p/ADR-006", "r/ADR-001"])
    project.adr(2, legacy_ids=["q/ADR-006"])
    records = read_collection(project.workspace).records
    try:
        expected = [records.get(name).id]
    except AmbiguousIdError as error:
        expected = list(error.candidates)
    except RecordNotFoundError:
        expected = []
    assert [row[0] for row in project.ask("SELECT id FROM resolve_id(?)", name)] == expected


def test_system_knowledge_is_what_holds(project: Any) -> None:
    project.learning("aaaaa", scope={"paths": ["src/{a,b}.py", "lib/**"], "tags": ["y", "x"]})
    project.learning("bbbbb", status="retired")
    project.adr(1, status="proposed")
    project.votes("aaaaa", ("m", "T-1", "2026-01-01T00:00:00Z"))
    assert project.ask("SELECT id, tags, globs, votes FROM system_knowledge") == [
        ("L-aaaaa", "x, y", "src/{a,b}.py, lib/**", 1)
    ]


def test_system_knowledge_says_from_which_run_something_comes(project: Any) -> None:
    trigger = {"type": "loop", "project": "shop", "id": "L-17"}
    retro = {"title": "A run", "status": "recorded", "date": "2026-05-17T12:00:00Z"}
    path = ".orbit/retros/RT-aaaaa/retro.yaml"
    write_record(project.root, path, trigger=trigger, file="retro.md", **retro)
    project.write(".orbit/retros/RT-aaaaa/retro.md", "# A run\n")
    link = {"rel": "derived_from", "to": "RT-aaaaa"}
    project.learning(
        "aaaaa", links=[link], provenance={"source": "test", "pattern": "fact", "subject": "x"}
    )
    project.learning("bbbbb", project="shop")
    rows = project.ask("SELECT id, project, loop_id FROM system_knowledge ORDER BY id")
    assert rows == [
        ("L-aaaaa", None, "L-17"),
        ("L-bbbbb", "shop", None),
        ("RT-aaaaa", "shop", "L-17"),
    ]
    sources = "SELECT source FROM system_knowledge WHERE created_at IS NOT NULL ORDER BY id"
    assert project.ask(sources)[0] == ("test",)


IDS, FILES = ("L-aaaaa", "L-bbbbb", "R-ccccc"), ("src/a.py", "src/b.py", "#tag")
DATABASE = duckdb.connect()
for _file in ("tables.sql", "macros.sql"):
    DATABASE.execute(Path(export.__file__).with_name(_file).read_text("utf-8"))
SIGNALS = ("opened", "turned_green", "edited", "failed_again")


def some(of: tuple[str, ...]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(of), unique=True, max_size=2)


EVENTS = st.lists(
    st.fixed_dictionaries(
        {
            "event": st.sampled_from(["retrieval"] * 4 + ["opened", "stop"]),
            "session": st.sampled_from(["s-1", "s-1.sub", "s-2", "trial-1", None]),
        },
        optional={
            "hits": some(IDS),
            "withheld": some(IDS),
            "ids": some(IDS),
            "failed": some(IDS),
            "query": some(FILES[:2]),
            "writes": st.just(True),
            "command": st.sampled_from(["a", "b"]),
            "result": st.sampled_from(["failed", "failed", "passed"]),
        },
    ),
    max_size=25,
)


def by_python(events: list[LoggedEvent]) -> dict[str, tuple[object, ...]]:
    displayed: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs_of(events):
        if not pair.withheld:
            displayed[pair.record].append(pair)
    return {
        record: (
            len(pairs),
            *(sum(bool(getattr(pair, name)) for pair in pairs) for name in SIGNALS),
            round(sum(pair.worth for pair in pairs) / (len(pairs) + PRIOR), 9),
        )
        for record, pairs in displayed.items()
    }


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
            full_text = {
                name: value for name, value in full_text.items() if name not in ("hits", "withheld")
            }
        lines.append(json.dumps(full_text))
    events = [result for line in lines if not isinstance(result := read_line(line.encode()), str)]
    DATABASE.execute("DELETE FROM events")
    fill_events(DATABASE, "events", lines)
    rows = DATABASE.execute(
        f"SELECT id, sessions, {', '.join(SIGNALS)}, round(score, 9) FROM outcome_scores"
    ).fetchall()
    assert {row[0]: row[1:] for row in rows} == by_python(events)
