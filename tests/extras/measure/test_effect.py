"""Estimates of the effect of records, on logs with a known effect."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orbit_measure.effect import NOT_ENOUGH, RecordTitle, Report, report
from orbit_measure.pairs import Pair, mark_reverted, pairs_of
from orbit_measure.tables import tables
from orbit_registry.workspace.event_log import LoggedEvent
from orbit_registry.workspace.git import Git

RECORD = "L-7k3fq"
TOLD = {
    RECORD: RecordTitle("Retries need a key", 1, True),
    "L-8m2xd": RecordTitle("Another", 0, True),
}


CALL = LoggedEvent(0, "retrieval", "hook:PreToolUse", "s", "", (), (), (), 0, "", "", 1.0, None)


def event(at: float, session: str = "s", **fields: Any) -> LoggedEvent:
    return replace(CALL, at=at, session=session, **fields)


def log(
    seed: int, sessions: int, fails_shown: float, fails_withheld: float, share: float = 0.3
) -> Iterator[LoggedEvent]:
    """Yield the events of sessions in which a record came due,
    and which failed afterwards as often as is said.
    """
    chance = random.Random(seed)
    for number in range(sessions):
        name, withheld = f"s{number}", chance.random() < share
        fails = chance.random() < (fails_withheld if withheld else fails_shown)
        ids, tokens = (RECORD,), None if withheld else 40
        yield event(
            number,
            name,
            withheld=ids if withheld else (),
            shown=() if withheld else ids,
            tokens=tokens,
        )
        yield event(number + 0.1, name, command="c1", tests=True)
        for _ in range(2 if fails else 0):
            yield event(
                number + 0.2, name, command="c1", tests=True, is_failure=True, failed=(RECORD,)
            )
            yield event(number + 0.3, name, command="c1", tests=True)


def measured(seed: int, sessions: int, *shares: float) -> Report:
    return report(pairs_of(log(seed, sessions, *shares)), TOLD)


def rows(result: Report) -> list[dict[str, Any]]:
    current: Any = result.as_data()["records"]
    return list(current)


@pytest.mark.parametrize("seed", range(3))
def test_a_known_effect_is_in_its_interval(seed: int) -> None:
    result = measured(seed, 1000, 0.1, 0.4)
    for effect in (result.overall, result.records[RECORD]):
        failures, retries, tokens = (
            effect.estimates[name] for name in ("failures", "retries", "tokens")
        )
        assert (failures.low or 0) < -0.3 < (failures.high or 0) < 0
        assert (retries.low or 0) < -0.6 < (retries.high or 0) < 0
        assert tokens.difference == pytest.approx(40)
        assert effect.avoided is not None
        assert effect.avoided[1] < 0.3 * effect.shown < effect.avoided[2]


def test_only_records_that_describe_an_error_avoid_failures() -> None:
    beside = [
        replace(entry, shown=(*entry.shown, "ADR-0001"))
        for entry in log(1, 1000, 0.1, 0.4)
        if entry.shown
    ]
    envelope = report(pairs_of([*log(1, 1000, 0.1, 0.4), *beside]), TOLD)
    assert envelope.overall.avoided is not None
    assert envelope.overall.avoided[0] == pytest.approx(
        (envelope.records[RECORD].avoided or (0,))[0]
    )
    assert envelope.records["ADR-0001"].avoided is None


def test_without_effect_95_percent_of_intervals_hold_zero() -> None:
    estimates = [measured(seed, 150, 0.2, 0.2).records[RECORD].estimates for seed in range(100)]
    for name in ("failures", "retries"):
        current = [(entry[name].low or 0) <= 0 <= (entry[name].high or 0) for entry in estimates]
        assert 90 <= sum(current) <= 99


def test_little_data_gives_no_estimate() -> None:
    none, few = measured(1, 200, 0.1, 0.4, 0.0), measured(1, 30, 0.1, 0.4)
    assert (none.reason, few.reason) == (
        "nothing was withheld: experiment.holdout is 0",
        "each arm needs 20 sessions",
    )
    for result in (none, few, report([], TOLD)):
        assert not result.enough
        assert result.overall.avoided is None
        assert {entry["effect"]["failures"]["difference"] for entry in rows(result)} <= {None}
        assert NOT_ENOUGH in result.text()
    assert report([], TOLD).reason == "no record came due in a session"


def test_intervals_match_the_literature() -> None:
    intervals = """
        SELECT wilson_low(81, 263), wilson_high(81, 263), wilson_low(0, 20), wilson_high(20, 20),
            unnest(newcombe(56, 70, 48, 80))
    """
    with tables("sessions") as empty:
        (row,) = empty.connection.execute(intervals).fetchall()
    assert row[:4] == pytest.approx((0.2553, 0.3662, 0, 1), abs=5e-5)
    assert row[4:] == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)


@pytest.mark.parametrize(("displayed", "withheld"), [(0, 1), (1, 0), (0, 0.5), (1, 0.5)])
@pytest.mark.parametrize("records", [(RECORD,), (RECORD, "L-8m2xd")])
def test_an_arm_without_variance_has_an_interval(
    displayed: float, withheld: float, records: tuple[str, ...]
) -> None:
    pairs = [
        Pair(f"{arm}{number}", record, arm == "w", opened=number < 20 * share)
        for arm, share in (("s", displayed), ("w", withheld))
        for number in range(20)
        for record in records
    ]
    result = report(pairs, TOLD)
    for effect in (result.overall, *result.records.values()):
        opened = effect.estimates["opened"]
        assert (opened.high or 0) - (opened.low or 0) > 0.16
        assert (opened.low or 0) <= (opened.difference or 0) <= (opened.high or 0)


def test_many_records_of_a_session_narrow_no_interval() -> None:
    pairs = [
        Pair(f"s{number}", RECORD, number % 3 == 0, failed_calls=number % 5)
        for number in range(150)
    ]
    copies = [
        Pair(entry.session, f"L-{copy}", entry.withheld, failed_calls=entry.failed_calls)
        for entry in pairs
        for copy in range(10)
    ]
    once, often = (report(some, {}).overall.estimates["failed_calls"] for some in (pairs, copies))
    assert (often.low, often.high) == (pytest.approx(once.low), pytest.approx(once.high))


def test_only_later_events_are_credited() -> None:
    (pair,) = pairs_of(
        [
            event(1, command="c1", tests=True),
            event(1.1, command="c1", tests=True, is_failure=True, failed=(RECORD,)),
            event(2, kind="opened", opened=(RECORD,)),
            event(3, "s.subagent", shown=(RECORD,), paths=("src/a.py",), writes=True, tokens=40),
        ]
    )
    assert (pair.session, pair.at, pair.worth, pair.retries, pair.failed_calls) == ("s", 3, 0, 0, 0)
    (pair,) = pairs_of(
        [
            event(1, command="c1", tests=True),
            event(1.1, command="c1", tests=True, is_failure=True),
            event(2, withheld=(RECORD,), paths=("src/a.py",)),
            event(3, kind="opened", opened=(RECORD,)),
            event(4, paths=("src/b.py", "src/a.py"), writes=True),
            event(5, command="c1", tests=True),
            event(6, command="c2"),
            event(6.1, command="c2", is_failure=True, failed=(RECORD,)),
            event(7, command="c2"),
            event(8, tokens=30),
        ]
    )
    assert (pair.withheld, pair.opened, pair.edited, pair.turned_green) == (True, True, True, True)
    assert (pair.failed_again, pair.failed_calls, pair.retries, pair.tokens) == (1, 1, 2, 30)


def test_only_a_later_passed_run_turns_green() -> None:
    red = [
        event(1, command="c1", tests=True),
        event(1.1, command="c1", tests=True, is_failure=True),
    ]
    show, again = event(2, shown=(RECORD,)), event(2, command="c1", tests=True)
    failed = event(3.1, command="c1", tests=True, is_failure=True)
    assert [pair.turned_green for pair in pairs_of([*red, show, again])] == [True]
    assert [pair.turned_green for pair in pairs_of([*red, show, again, failed])] == [False]
    assert [pair.turned_green for pair in pairs_of([*red, again, show])] == [False]


def test_scores_rank_helpful_records_first() -> None:
    pairs = [Pair(f"a{number}", RECORD, False, opened=True) for number in range(6)]
    pairs += [Pair(f"b{number}", "L-8m2xd", False, failed_again=1) for number in range(6)]
    pairs += [Pair("c", "L-8m2xd", True, opened=True)]
    result = [(entry["id"], entry["votes"], entry["score"]) for entry in rows(report(pairs, TOLD))]
    assert result == [(RECORD, 1, 0.6), ("L-8m2xd", 0, -0.6)]


def test_a_reverted_commit_counts_against_the_record(
    git_repo: Path, git: Callable[..., str]
) -> None:
    for number, name in enumerate(("a.py", "b.py")):
        (git_repo / name).write_text(str(number), "utf-8")
        git(git_repo, "add", name)
        git(git_repo, "commit", "-q", "-m", f"Change {name}")
    git(git_repo, "revert", "--no-edit", "HEAD~1")
    at = float(Git(git_repo).ask("log", "-1", "--format=%ct", "HEAD~2") or 0)
    pairs = [Pair("s", name, False, at - 1, frozenset({name})) for name in ("a.py", "b.py", "c.py")]
    pairs.append(Pair("s", "late", False, at + 9 * 86_400, frozenset({"a.py"})))
    mark_reverted(Git(git_repo), pairs)
    assert [pair.reverted for pair in pairs] == [True, False, False, False]
