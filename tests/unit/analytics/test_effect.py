"""What showing records did, estimated from logs of which all is known: effects are found, and none is made up."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orbit_registry.analytics.effect import NOT_ENOUGH, RecordTitle, Report, newcombe, report, wilson
from orbit_registry.analytics.stats import Pair, mark_reverted, pairs_of
from orbit_registry.review.consolidate import Usage
from orbit_registry.workspace.event_log import LoggedEvent
from orbit_registry.workspace.git import Git

RECORD = "L-7k3fq"
TOLD = {RECORD: RecordTitle("Retries need a key", 1, True), "L-8m2xd": RecordTitle("Another", 0, True)}


CALL = LoggedEvent(0, "retrieval", "hook:PreToolUse", "s", "", (), (), (), 0, "", "", 1.0, None)


def said(at: float, session: str = "s", **fields: Any) -> LoggedEvent:
    """Return an event of a tool's call."""
    return replace(CALL, at=at, session=session, **fields)


def log(
    seed: int, sessions: int, fails_shown: float, fails_withheld: float, share: float = 0.3
) -> Iterator[LoggedEvent]:
    """Yield the events of sessions in which a record came due, and which failed afterwards as often as is said."""
    chance = random.Random(seed)
    for number in range(sessions):
        name, withheld = f"s{number}", chance.random() < share
        fails = chance.random() < (fails_withheld if withheld else fails_shown)
        ids, tokens = (RECORD,), None if withheld else 40
        yield said(number, name, withheld=ids if withheld else (), shown=() if withheld else ids, tokens=tokens)
        yield said(number + 0.1, name, command="c1", tests=True)
        for _ in range(2 if fails else 0):
            yield said(number + 0.2, name, command="c1", tests=True, is_failure=True, failed=(RECORD,))
            yield said(number + 0.3, name, command="c1", tests=True)


def measured(seed: int, sessions: int, *shares: float) -> Report:
    """Return the report of such a log."""
    return report(pairs_of(log(seed, sessions, *shares)), TOLD)


def rows(found: Report) -> list[dict[str, Any]]:
    """Return what JSON shows of the records."""
    held: Any = found.as_data()["records"]
    return list(held)


@pytest.mark.parametrize("seed", range(8))
def test_a_known_effect_is_found_within_its_interval(seed: int) -> None:
    """Failures of 10 % where shown and 40 % where withheld: the interval holds the truth, and nothing does not fit."""
    found = measured(seed, 1000, 0.1, 0.4)
    for effect in (found.overall, found.records[RECORD]):
        failures, retries, tokens = (effect.estimates[name] for name in ("failures", "retries", "tokens"))
        assert (failures.low or 0) < -0.3 < (failures.high or 0) < 0
        assert (retries.low or 0) < -0.6 < (retries.high or 0) < 0
        assert tokens.difference == pytest.approx(40)
        assert effect.avoided is not None
        assert effect.avoided[1] < 0.3 * effect.shown < effect.avoided[2]


def test_failures_are_avoided_by_records_that_describe_them_alone() -> None:
    """A record beside it, of which no failure is known, adds none to what was avoided in all; and it is not proven."""
    beside = [replace(one, shown=(*one.shown, "ADR-0001")) for one in log(1, 1000, 0.1, 0.4) if one.shown]
    whole = report(pairs_of([*log(1, 1000, 0.1, 0.4), *beside]), TOLD)
    assert whole.overall.avoided is not None
    assert whole.overall.avoided[0] == pytest.approx((whole.records[RECORD].avoided or (0,))[0])
    assert whole.records["ADR-0001"].avoided is None
    assert Usage.from_report(whole).scores[RECORD] == 1


def test_where_there_is_no_effect_nineteen_of_twenty_intervals_hold_nothing() -> None:
    """Of a hundred histories in which showing changes nothing, about five look as if it did."""
    estimates = [measured(seed, 150, 0.2, 0.2).records[RECORD].estimates for seed in range(100)]
    for name in ("failures", "retries"):
        held = [(one[name].low or 0) <= 0 <= (one[name].high or 0) for one in estimates]
        assert 90 <= sum(held) <= 99


def test_little_data_is_said_to_be_little() -> None:
    """Without a hold-out, or with a few sessions, no number is given for an effect."""
    none, few = measured(1, 200, 0.1, 0.4, 0.0), measured(1, 30, 0.1, 0.4)
    assert (none.reason, few.reason) == ("nothing was withheld: experiment.holdout is 0", "each arm needs 20 sessions")
    for found in (none, few, report([], TOLD)):
        assert not found.enough
        assert found.overall.avoided is None
        assert {one["effect"]["failures"]["difference"] for one in rows(found)} <= {None}
        assert NOT_ENOUGH in found.text()
    assert report([], TOLD).reason == "no record came due in a session"


def test_intervals_are_those_of_the_literature() -> None:
    """Wilson's interval of 81 in 263, and Newcombe's of 56 in 70 less 48 in 80, are the published ones."""
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert newcombe(56, 70, 48, 80) == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)
    assert wilson(0, 20)[0] == 0
    assert wilson(20, 20)[1] == pytest.approx(1)


@pytest.mark.parametrize(("shown", "withheld"), [(0, 1), (1, 0), (0, 0.5), (1, 0.5)])
@pytest.mark.parametrize("records", [(RECORD,), (RECORD, "L-8m2xd")])
def test_an_arm_of_which_all_or_none_had_it_has_an_interval(
    shown: float, withheld: float, records: tuple[str, ...]
) -> None:
    """Twenty sessions that are alike prove no certainty: the interval is as wide as Wilson's of twenty, at least."""
    pairs = [
        Pair(f"{arm}{number}", record, arm == "w", opened=number < 20 * share)
        for arm, share in (("s", shown), ("w", withheld)) for number in range(20) for record in records
    ]  # fmt: skip
    found = report(pairs, TOLD)
    for effect in (found.overall, *found.records.values()):
        opened = effect.estimates["opened"]
        assert (opened.high or 0) - (opened.low or 0) > 0.16
        assert (opened.low or 0) <= (opened.difference or 0) <= (opened.high or 0)


def test_means_of_values_that_are_all_alike_have_no_interval() -> None:
    """The difference is said, and that nothing varies; no interval without width is."""
    pairs = [Pair(f"s{number}", RECORD, number % 2 == 0, tokens=number % 2 * 40) for number in range(80)]
    tokens = report(pairs, TOLD).overall.estimates["tokens"]
    assert (tokens.difference, tokens.low, tokens.high) == (40, None, None)
    assert tokens.text("withheld") == "40 shown, 0 withheld: +40 (nothing varies: no interval)"


def test_a_session_of_many_records_counts_once() -> None:
    """Records of one session share its fate: their number narrows no interval."""
    pairs = [Pair(f"s{number}", RECORD, number % 3 == 0, failed_calls=number % 5) for number in range(150)]
    copies = [Pair(one.session, f"L-{copy}", one.withheld, failed_calls=one.failed_calls)
              for one in pairs for copy in range(10)]  # fmt: skip
    once, often = (report(some, {}).overall.estimates["failed_calls"] for some in (pairs, copies))
    assert (often.low, often.high) == (pytest.approx(once.low), pytest.approx(once.high))


def test_what_came_after_a_record_is_credited_and_what_came_before_is_not() -> None:
    """Opened, edited, tests turned green, failed again and run again, by the order of the events."""
    (pair,) = pairs_of([
        said(1, command="c1", tests=True), said(1.1, command="c1", tests=True, is_failure=True, failed=(RECORD,)),
        said(2, kind="opened", opened=(RECORD,)),
        said(3, "s.subagent", shown=(RECORD,), paths=("src/a.py",), writes=True, tokens=40),
    ])  # fmt: skip
    assert (pair.session, pair.at, pair.worth, pair.retries, pair.failed_calls) == ("s", 3, 0, 0, 0)
    (pair,) = pairs_of([
        said(1, command="c1", tests=True), said(1.1, command="c1", tests=True, is_failure=True),
        said(2, withheld=(RECORD,), paths=("src/a.py",)),
        said(3, kind="opened", opened=(RECORD,)),
        said(4, paths=("src/b.py", "src/a.py"), writes=True),
        said(5, command="c1", tests=True),
        said(6, command="c2"), said(6.1, command="c2", is_failure=True, failed=(RECORD,)), said(7, command="c2"),
        said(8, tokens=30),
    ])  # fmt: skip
    assert (pair.withheld, pair.opened, pair.edited, pair.turned_green) == (True, True, True, True)
    assert (pair.failed_again, pair.failed_calls, pair.retries, pair.tokens) == (1, 1, 2, 30)


def test_a_run_that_began_before_a_record_or_failed_turns_nothing_green() -> None:
    """Green is a run of tests that began after the record was shown, and of which no failure came."""
    red = [said(1, command="c1", tests=True), said(1.1, command="c1", tests=True, is_failure=True)]
    show, again = said(2, shown=(RECORD,)), said(2, command="c1", tests=True)
    failed = said(3.1, command="c1", tests=True, is_failure=True)
    assert [pair.turned_green for pair in pairs_of([*red, show, again])] == [True]
    assert [pair.turned_green for pair in pairs_of([*red, show, again, failed])] == [False]
    assert [pair.turned_green for pair in pairs_of([*red, again, show])] == [False]


def test_events_of_no_session_and_of_trials_are_no_pairs() -> None:
    """Nothing can be said of them."""
    assert pairs_of([said(1, "", shown=(RECORD,)), said(1, "trial-1", shown=(RECORD,))]) == []


def test_scores_rank_what_helped_above_what_did_not() -> None:
    """A score rests on sessions that were shown the record, stands beside its votes, and changes none of them."""
    pairs = [Pair(f"a{number}", RECORD, False, opened=True) for number in range(6)]
    pairs += [Pair(f"b{number}", "L-8m2xd", False, failed_again=1) for number in range(6)]
    pairs += [Pair("c", "L-8m2xd", True, opened=True)]
    found = [(one["id"], one["votes"], one["score"]) for one in rows(report(pairs, TOLD))]
    assert found == [(RECORD, 1, 0.6), ("L-8m2xd", 0, -0.6)]


def test_a_commit_that_was_reverted_is_held_against_what_led_to_it(git_repo: Path, git: Callable[..., str]) -> None:
    """The next commit of the same file counts, one that was never reverted or touches another does not."""
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
