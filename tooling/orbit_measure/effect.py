"""Estimates of the effect of showing records, from sessions of which some had them withheld.

`reports/effect.sql` compares the two arms. All intervals are of 95 %.
"""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from orbit_measure.figures import rounded
from orbit_measure.pairs import DAY, Pair, mark_reverted, pairs_of, signals
from orbit_measure.tables import tables
from orbit_measure.transcripts import usage_of
from orbit_registry.errors import plural
from orbit_registry.formats.secrets import without_secrets
from orbit_registry.model.votes import distinct_votes
from orbit_registry.repository.reader import read_collection
from orbit_registry.workspace.event_log import log_files, logged_events
from orbit_registry.workspace.workspace import Workspace

FEWEST = 20  # sessions that each arm needs
DETECTED = 0.2  # part of a value that a difference of it is to be seen
LIMITS: Mapping[str, float] = {
    "fewest": FEWEST,
    "fewest_cases": 5,  # pairs with and without an outcome that a share of all records needs
    "fewest_spread": 10,  # sessions that the number of needed ones is worked out from, at least
    "detected": DETECTED,
    "powered": 0.8416212335729143,  # standard deviations for 8 of 10 tries
}
WEIGHED = ("failures", "turns", "used_tokens")
LISTED = 10
LOT = "hold-out"  # origin of the arms
NOT_ENOUGH = "not enough data"
WITHOUT = "withheld"
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
_values = attrgetter(
    "session",
    "record",
    "withheld",
    "opened",
    "edited",
    "turned_green",
    "failed_again",
    "reverted",
    "failed_calls",
    "retries",
    "tokens",
    "turns",
    "used_tokens",
)


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
        if self.is_relative:
            return f"{100 * value:+.0f} %"

        return f"{value:+.3g}"


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


def effect(workspace: Workspace, days: int | None = None) -> Report:
    """Estimate the effect of showing records, from the events of the last days, from git and from
    the transcripts of the sessions.
    """
    now = time.time()
    since = 0.0 if days is None else now - days * DAY
    scanned = logged_events(log_files(workspace.state), now)
    events = [event for event in scanned if event.at >= since]
    pairs = pairs_of(events)
    mark_reverted(workspace.git, pairs)

    usages = usage_of(workspace, list(dict.fromkeys(pair.session for pair in pairs)))
    for pair in pairs:
        if pair.session in usages:
            pair.turns, pair.used_tokens = usages[pair.session].since(pair.at)

    times = [event.at for event in events] or [0.0]
    return replace(report(pairs, record_titles(workspace)), days=(max(times) - min(times)) / DAY)


def record_titles(workspace: Workspace) -> dict[str, RecordTitle]:
    """Return the titles of today's records, by id."""
    return {
        record.id: RecordTitle(
            without_secrets(record.title),
            len(distinct_votes(record.votes)),
            bool(record.text("error_pattern")),
        )
        for record in read_collection(workspace).records
    }


def report(pairs: Sequence[Pair], titles: Mapping[str, RecordTitle]) -> Report:
    """Return the report on some pairs; failures are counted for records that describe an error."""
    by_record: dict[str, list[Pair]] = {}
    for pair in pairs:
        by_record.setdefault(pair.record, []).append(pair)

    described = {name for name, title in titles.items() if title.has_pattern}
    described |= {pair.record for pair in pairs if pair.failed_again}
    estimates = _estimates(pairs, described)
    records = {
        name: _effect(mine, described, estimates.get(name, {})) for name, mine in by_record.items()
    }
    overall = _effect(pairs, described, estimates.get("", {}))

    result = Report(
        sessions=len({pair.session for pair in pairs}),
        overall=overall,
        records=records,
        signals={name: signals(mine) for name, mine in by_record.items()},
        titles=titles,
        transcripts=len({pair.session for pair in pairs if pair.turns is not None}),
    )
    if result.enough:
        return result

    return replace(result, reason=_why(overall))


def _estimates(
    pairs: Sequence[Pair], described: Collection[str]
) -> Mapping[str, Mapping[str, Estimate]]:
    """Return the estimates of each record by outcome; those of all records have an empty name."""
    with tables("sessions") as database:
        database.fill("pairs", ((*_values(pair), pair.record in described) for pair in pairs))
        rows = database.ask("effect", **LIMITS)

    estimates: dict[str, dict[str, Estimate]] = {}
    for row in rows:
        name = row.pop("name")
        of_record = estimates.setdefault(row.pop("record"), {})
        of_record[name] = Estimate(**row, is_relative=name in USED)

    return estimates


def _effect(
    pairs: Sequence[Pair], described: Collection[str], estimates: Mapping[str, Estimate]
) -> Effect:
    withheld = sum(pair.withheld for pair in pairs)
    can_fail = sum(pair.record in described for pair in pairs if not pair.withheld)
    by_name = {name: estimates.get(name, Estimate(None, None)) for name in LABELS}
    return Effect(len(pairs) - withheld, withheld, by_name, can_fail)


def _why(overall: Effect) -> str:
    if not overall.shown and not overall.withheld:
        return "no record came due in a session"

    if not overall.withheld:
        return "nothing was withheld: experiment.holdout is 0"

    return f"each arm needs {FEWEST} sessions"


def _short(value: float | None) -> str:
    if value is None:
        return "-"

    return f"{value:.3g}"
