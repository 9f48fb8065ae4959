"""Estimates of the effect of showing records, from sessions of which some had them withheld.

Shares of one record are compared by Newcombe's interval (method 10, from Wilson's); means, and all
records together, by sums over sessions, whose pairs are not independent. Turns and tokens used are
compared by their logarithms, as a few sessions use most of all: the difference is a part of what
was used without the record. All intervals are of 95 %.
"""

import math
import statistics
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from orbit_measure.figures import Z, mean, newcombe, rounded
from orbit_measure.stats import PRIOR, WEIGHTS, Pair
from orbit_registry.errors import plural

FEWEST = 20  # sessions that each arm needs
FEWEST_CASES = 5  # pairs with and without an outcome that a share of all records needs
FEWEST_SPREAD = 10  # sessions that the number of needed ones is worked out from, at least
DETECTED, POWERED = 0.2, 0.8416212335729143
"""Part of a value that a difference of it is to be seen,
and the standard deviations for 8 of 10 tries.
"""
WEIGHED = ("failures", "turns", "used_tokens")
LISTED = 10
LOT = "hold-out"  # origin of the arms
NOT_ENOUGH = "not enough data"
WITHOUT = "withheld"
SHARES = ("failures", "opened", "edited", "turned_green", "reverted")
"""Outcomes that a pair has or has not; the others are counts."""
USED = ("turns", "used_tokens")  # outcomes that a transcript tells; pairs without one are left out
LABELS: Mapping[str, str] = {
    "failures": "a failure that the record describes",
    "opened": "opened",
    "edited": "its file written afterwards",
    "turned_green": "tests turned green",
    "reverted": "the commit reverted",
    "failed_calls": "calls that failed",
    "retries": "commands run again",
    "tokens": "tokens pushed",
    "turns": "turns afterwards",
    "used_tokens": "tokens used afterwards",
}
"""Words for each outcome."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Value of both arms, the difference shown − withheld, and its interval; None without enough
    data.

    A difference of means has no interval where all values of each arm are equal. Of what is used
    the values are geometric means, and difference and interval are parts of the withheld arm's.
    """

    shown: float | None
    withheld: float | None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    needed: int | None = None
    """Sessions in each arm with which a difference of `DETECTED` is seen in 8 of 10 tries;
    None if unknown.
    """
    is_relative: bool = False

    def as_data(self) -> dict[str, object]:
        """Return the estimate for JSON."""
        names = ("shown", "withheld", "difference", "low", "high", "needed")
        data: dict[str, object] = {"enough": self.difference is not None}
        for name in names:
            data[name] = rounded(getattr(self, name))

        return data

    def text(self, without: str) -> str:
        """Return the estimate in words; `without` names the other arm."""
        if self.difference is None:
            return NOT_ENOUGH

        means = (
            f"{_short(self.shown)} shown, {_short(self.withheld)} {without}: "
            f"{self._signed(self.difference)}"
        )
        if self.low is None or self.high is None:
            return f"{means} (nothing varies: no interval)"

        sure = "" if self.low * self.high > 0 else ", so it may be nothing"
        return f"{means} ({self._signed(self.low)} to {self._signed(self.high)}){sure}"

    def _signed(self, value: float) -> str:
        return f"{100 * value:+.0f} %" if self.is_relative else f"{value:+.3g}"


@dataclass(frozen=True, slots=True)
class Effect:
    """Estimates of some pairs, by name, with the size of both arms."""

    shown: int
    withheld: int
    estimates: Mapping[str, Estimate]
    described: int = (
        0  # shown pairs whose record describes an error; failures are known for these only
    )

    @property
    def avoided(self) -> tuple[float, float, float] | None:
        """Failures avoided, with the least and the most; None if unknown."""
        estimate = self.estimates["failures"]
        if estimate.difference is None or estimate.low is None or estimate.high is None:
            return None

        count = self.described
        return (
            0.0 - estimate.difference * count,
            0.0 - estimate.high * count,
            0.0 - estimate.low * count,
        )

    def as_data(self) -> dict[str, object]:
        """Return the effect for JSON."""
        rounded = (round(value, 1) for value in self.avoided or ())
        avoided = dict(zip(("count", "low", "high"), rounded, strict=False)) or None
        estimates = {name: estimate.as_data() for name, estimate in self.estimates.items()}

        return {
            "shown": self.shown,
            "withheld": self.withheld,
            "failures_avoided": avoided,
            **estimates,
        }


@dataclass(frozen=True, slots=True)
class RecordTitle:
    """Title of a record, its votes, and whether it describes an error."""

    title: str
    votes: int
    has_pattern: bool


@dataclass(frozen=True, slots=True)
class Report:
    """Effect of all records and of each; `reason` says why there is no estimate."""

    sessions: int
    overall: Effect
    records: Mapping[str, Effect]
    signals: Mapping[
        str, Mapping[str, float]
    ]  # by record: sessions with each signal among those shown, and the score
    titles: Mapping[str, RecordTitle]
    reason: str = ""
    days: float = 0.0  # days between the first and the last event
    transcripts: int = 0  # sessions whose transcript tells what they used

    def as_data(self) -> dict[str, object]:
        """Return the report for JSON; the schema is docs/schemas/effect.schema.json."""
        return {
            "by": LOT,
            "sessions": self.sessions,
            "enough": self.enough,
            "why": self.reason or None,
            "transcripts": self.transcripts,
            "overall": self.overall.as_data(),
            "records": list(map(self._record, self.ranked)),
        }

    def _record(self, record_id: str) -> dict[str, object]:
        title = self.titles.get(record_id)
        row: dict[str, object] = {"id": record_id, "title": title.title if title else None}
        row["votes"] = title.votes if title else 0
        for name, value in self.signals[record_id].items():
            row[name] = rounded(value)

        row["effect"] = self.records[record_id].as_data()
        return row

    @property
    def enough(self) -> bool:
        """Whether there is an estimate for all records together."""
        return any(estimate.difference is not None for estimate in self.overall.estimates.values())

    @property
    def ranked(self) -> list[str]:
        """Ids of the records, the best score first."""

        def rank(record_id: str) -> tuple[float, int, str]:
            return -self.signals[record_id]["score"], -self.records[record_id].shown, record_id

        return sorted(self.records, key=rank)

    def text(self) -> str:
        """Return the report as text."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        overall = self.overall
        shown = plural(overall.shown, "time")
        withheld = plural(overall.withheld, "time")
        yield f"shown {shown}, {WITHOUT} {withheld}, in {self.sessions} sessions; by {LOT}"

        if self.reason:
            yield f"{NOT_ENOUGH}: {self.reason}"

        if self.enough:
            yield ""
            for name, estimate in overall.estimates.items():
                yield f"  {LABELS[name]:<36} {estimate.text(WITHOUT)}"
            yield from _avoided(overall)

        yield (
            f"  transcripts that tell turns and tokens: of {self.transcripts:,} of "
            f"{plural(self.sessions, 'session')}"
        )
        yield from _power(overall)

        if self.records:
            yield ""
            yield "score  shown   without  votes"

        for record_id in self.ranked[:LISTED]:
            title, effect = self.titles.get(record_id), self.records[record_id]
            head = (
                f"{self.signals[record_id]['score']:>5.2f}  {effect.shown:>5}  {effect.withheld:>8}"
            )
            yield (
                f"{head}  {title.votes if title else 0:>5}  {record_id}  "
                f"{title.title[:60] if title else '(gone)'}"
            )
            yield from (f"       {line.strip()}" for line in _avoided(effect))


def _power(overall: Effect) -> Iterator[str]:
    estimates = (
        (name, overall.estimates[name].needed) for name in WEIGHED if name in overall.estimates
    )
    needed = [f"{count:,} for {LABELS[name]}" for name, count in estimates if count]
    if needed:
        yield (
            f"  a difference of {100 * DETECTED:.0f} % is seen in 8 of 10 tries with about so "
            f"many sessions an arm:"
        )
        yield f"    {', '.join(needed)}"


def _avoided(effect: Effect) -> Iterator[str]:
    if effect.avoided is not None:
        count, low, high = effect.avoided
        yield f"  failures avoided: {count:.1f}, between {low:.1f} and {high:.1f}"


def report(pairs: Sequence[Pair], titles: Mapping[str, RecordTitle]) -> Report:
    """Return the report on some pairs; failures are counted for records that describe an error."""
    by_record: dict[str, list[Pair]] = {}
    for pair in pairs:
        by_record.setdefault(pair.record, []).append(pair)

    patterned = {record_id for record_id, title in titles.items() if title.has_pattern}
    patterned |= {pair.record for pair in pairs if pair.failed_again}
    sessions = len({pair.session for pair in pairs})
    transcripts = len({pair.session for pair in pairs if pair.turns is not None})
    records = {
        record_id: _effect(mine, patterned, _of_one_record) for record_id, mine in by_record.items()
    }
    signals_by_record = {record_id: signals(mine) for record_id, mine in by_record.items()}

    overall = _effect(pairs, patterned, _of_all)
    result = Report(sessions, overall, records, signals_by_record, titles, transcripts=transcripts)
    return result if result.enough else replace(result, reason=_why(overall))


def _why(overall: Effect) -> str:
    if not overall.shown and not overall.withheld:
        return "no record came due in a session"

    if not overall.withheld:
        return "nothing was withheld: experiment.holdout is 0"

    return f"each arm needs {FEWEST} sessions"


def signals(pairs: Iterable[Pair]) -> dict[str, float]:
    """Count the pairs with each signal among those shown, and score them from -1 to 1."""
    shown_pairs = [pair for pair in pairs if not pair.withheld]
    counts: dict[str, float] = {}
    for name in WEIGHTS:
        counts[name] = sum(bool(getattr(pair, name)) for pair in shown_pairs)

    worth = sum(pair.worth for pair in shown_pairs)
    counts["score"] = worth / (len(shown_pairs) + PRIOR)
    return counts


Value = Callable[[Pair], float]
Estimator = Callable[[Sequence[Pair], Value, bool], Estimate]


def _value_of(name: str) -> Value:
    value = attrgetter("failed_again" if name == "failures" else name)
    return (lambda pair: bool(value(pair))) if name in SHARES else value


def _effect(pairs: Sequence[Pair], patterned: Collection[str], estimate: Estimator) -> Effect:
    withheld = sum(pair.withheld for pair in pairs)
    described = [pair for pair in pairs if pair.record in patterned]
    estimates: dict[str, Estimate] = {}
    for name in LABELS:
        cases, value = described if name == "failures" else pairs, _value_of(name)
        if name in USED:
            estimates[name] = _of_usage([pair for pair in cases if value(pair) is not None], value)
            continue

        needed = needed_sessions(
            cases, value, DETECTED * (mean([value(pair) for pair in cases]) or 0.0)
        )
        estimates[name] = replace(estimate(cases, value, name in SHARES), needed=needed)

    shown_count = sum(not pair.withheld for pair in described)
    return Effect(len(pairs) - withheld, withheld, estimates, shown_count)


def _of_one_record(pairs: Sequence[Pair], value: Value, is_share: bool) -> Estimate:
    if not is_share:
        return _clustered(pairs, value)

    shown = [bool(value(pair)) for pair in pairs if not pair.withheld]
    withheld = [bool(value(pair)) for pair in pairs if pair.withheld]
    means = (mean(shown), mean(withheld))
    if min(len(shown), len(withheld)) < FEWEST:
        return Estimate(*means)

    return Estimate(*means, *newcombe(sum(shown), len(shown), sum(withheld), len(withheld)))


def _of_all(pairs: Sequence[Pair], value: Value, is_share: bool) -> Estimate:
    estimate = _clustered(pairs, value)
    having = sum(bool(value(pair)) for pair in pairs)
    if is_share and min(having, len(pairs) - having) < FEWEST_CASES:
        return Estimate(estimate.shown, estimate.withheld)

    if (
        is_share
        and estimate.difference is not None
        and not {estimate.shown, estimate.withheld}.isdisjoint((0, 1))
    ):
        # All or none of an arm: sums don't vary, so each session counts as one trial.
        shown, withheld = map(_sessions, _arms(pairs))
        having_arms = ((estimate.shown or 0.0) * shown, (estimate.withheld or 0.0) * withheld)
        interval = newcombe(having_arms[0], shown, having_arms[1], withheld)
        return Estimate(estimate.shown, estimate.withheld, *interval)

    return estimate


def _of_usage(pairs: Sequence[Pair], value: Value) -> Estimate:
    def logarithm(pair: Pair) -> float:
        return math.log(max(value(pair), 1))

    estimate = _clustered(pairs, logarithm)
    values = (estimate.shown, estimate.withheld, estimate.difference, estimate.low, estimate.high)
    shown, withheld, *parts = (None if number is None else math.exp(number) for number in values)
    difference, low, high = (None if part is None else part - 1 for part in parts)
    needed = needed_sessions(pairs, logarithm, math.log1p(DETECTED))

    return Estimate(shown, withheld, difference, low, high, needed, is_relative=True)


def needed_sessions(pairs: Iterable[Pair], value: Value, difference: float) -> int | None:
    """Return how many sessions each arm needs to see a difference, from how sessions vary;
    None if too few tell.
    """
    by_session: dict[str, list[float]] = {}
    for pair in pairs:
        by_session.setdefault(pair.session, []).append(value(pair))

    means = [math.fsum(values) / len(values) for values in by_session.values()]
    if len(means) < FEWEST_SPREAD or not difference or not (spread := statistics.variance(means)):
        return None

    return math.ceil(2 * spread * ((Z + POWERED) / difference) ** 2)


def _arms(pairs: Sequence[Pair]) -> tuple[list[Pair], list[Pair]]:
    """Return the pairs that were shown, and those that were withheld."""
    shown = [pair for pair in pairs if not pair.withheld]
    withheld = [pair for pair in pairs if pair.withheld]
    return shown, withheld


def _sessions(pairs: Sequence[Pair]) -> int:
    return len({pair.session for pair in pairs})


def _clustered(pairs: Sequence[Pair], value: Value) -> Estimate:
    arms = _arms(pairs)
    shown_mean = mean([value(pair) for pair in arms[0]])
    means = (shown_mean, mean([value(pair) for pair in arms[1]]))
    if min(map(_sessions, arms)) < FEWEST:
        return Estimate(*means)

    pulls: dict[str, list[float]] = {}
    for arm, average, sign in zip(arms, means, (1, -1), strict=True):
        for pair in arm:
            pulls.setdefault(pair.session, []).append(
                sign * (value(pair) - (average or 0.0)) / len(arm)
            )

    sums = [math.fsum(pull) for pull in pulls.values()]
    half = Z * math.sqrt(math.fsum(total * total for total in sums) * len(sums) / (len(sums) - 1))
    difference = (means[0] or 0.0) - (means[1] or 0.0)

    if not half:
        return Estimate(*means, difference)

    return Estimate(*means, difference, difference - half, difference + half)


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"
